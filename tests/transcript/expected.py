"""What a command may print: lines, in which some parts may vary.

`…` stands for any text, and on a line of its own for any lines; {{...}} holds a regular expression.
A last line that ends in ` (no-eol)` has no end of line.
"""
import re
from dataclasses import dataclass

ANY = "…"
NO_END = " (no-eol)"
EXIT = re.compile(r"\[exit (\d+)\]")
LOOKS_LIKE_MARKUP = re.compile(r"([$>!] |[>!]$|\[exit \d+\]$)")
NEEDS_CARE = re.compile(r"\{\{|…|[\x00-\x1f\x7f]|[ \t]+$")


@dataclass
class Output:
    """What came out of a command, or may: both streams as lines, and the exit code."""
    out: list
    err: list
    code: int


def parse(lines, on_terminal):
    """The expected Output of a step, from its lines."""
    result = Output([], [], 0)
    for line in lines:
        code = EXIT.fullmatch(line)
        if code:
            result.code = int(code.group(1))
        elif not on_terminal and (line == "!" or line.startswith("! ")):
            result.err.append(line[2:])
        else:
            result.out.append(line)
    return result


def regex(line):
    """One expected line, without its end, as a regular expression."""
    parts = []
    for i, piece in enumerate(re.split(r"\{\{(.*?)\}\}(?!\})", line)):
        parts.append(f"(?:{piece})" if i % 2 else ".*".join(map(re.escape, piece.split(ANY))))
    return "".join(parts)


def loosened(lines):
    """The same lines for any draw of the noise: a word with a digit in it stands for any word, and
    bars and blanks may be longer or shorter."""
    def loose(line):
        words = [word for word in re.sub(r"\{\{ *\}\}", "", line).split() if word.strip("#")]
        parts = [r"\S+" if re.search(r"\d", word) else regex(word) for word in words]
        return "{{[ #]*" + "[ #]+".join(parts) + "[ #]*}}"
    return [line if line in ("", ANY) or EXIT.fullmatch(line) else loose(line) for line in lines]


def fits(expected, text):
    """Whether the whole text of a stream is what the lines stand for."""
    parts = []
    for line in expected:
        if line == ANY:
            parts.append(r"(?:.*\n)*?")
        elif line.endswith(NO_END):
            parts.append(regex(line[:-len(NO_END)]))
        else:
            parts.append(regex(line) + r"\n")
    return re.fullmatch("".join(parts), text) is not None


def literal(line):
    """A printed line as it must be written in a transcript to stand for itself."""
    if not line:
        return line
    start = ""
    if LOOKS_LIKE_MARKUP.match(line):
        start, line = "{{" + re.escape(line[0]) + "}}", line[1:]
    return start + NEEDS_CARE.sub(lambda found: "{{" + escape(found.group()) + "}}", line)


def escape(text):
    return "".join(c if c in " …" else f"\\x{ord(c):02x}" for c in text)


def split(text):
    """A stream as lines, the last of which may lack its end."""
    lines = text.split("\n")
    last = lines.pop()
    return [literal(line) for line in lines] + ([literal(last) + NO_END] if last else [])


def settled(expected, text):
    """The lines of the text, each as the expected line that stands for it where there is one.

    That is the shortest way from one to the other, so a difference shows only what differs, and an
    update keeps the patterns that still hold.
    """
    actual = split(text)
    plain = text.split("\n")
    rows, cols = len(expected), len(actual)
    stands = [[expected[i] != ANY and line_fits(expected[i], actual[j], plain[j])
               for j in range(cols)] for i in range(rows)]
    cost = [[0] * (cols + 1) for _ in range(rows + 1)]
    step = [[None] * (cols + 1) for _ in range(rows + 1)]
    for i in range(rows, -1, -1):
        for j in range(cols, -1, -1):
            if i == rows and j == cols:
                continue
            ways = []
            if i < rows and j < cols and stands[i][j]:
                ways.append((cost[i + 1][j + 1], 0, "keep"))
            if i < rows:
                ways.append((cost[i + 1][j] + (expected[i] != ANY), 1, "leave"))
            if j < cols:
                swallows = i < rows and expected[i] == ANY
                ways.append((cost[i][j + 1] + (not swallows), 2, "swallow" if swallows else "add"))
            cost[i][j], _, step[i][j] = min(ways)
    return walk(expected, actual, step)


def line_fits(expected, written, plain):
    if written.endswith(NO_END) != expected.endswith(NO_END):
        return False
    if expected.endswith(NO_END):
        expected = expected[:-len(NO_END)]
    return re.fullmatch(regex(expected), plain) is not None


def walk(expected, actual, step):
    """The lines along the way that settled() found."""
    i = j = 0
    lines = []
    while step[i][j]:
        way = step[i][j]
        if way == "keep":
            lines.append(expected[i])
        elif way == "add":
            lines.append(actual[j])
        elif way == "leave" and expected[i] == ANY and lines[-1:] != [ANY]:
            lines.append(ANY)
        i += way in ("keep", "leave")
        j += way != "leave"
    return lines


def render(output):
    """An Output as the lines of a transcript."""
    lines = list(output.out)
    for edge in (range(len(lines)), range(len(lines) - 1, -1, -1)):
        for i in edge:  # an empty line counts only between others
            if lines[i]:
                break
            lines[i] = "{{}}"
    lines += [f"! {line}".rstrip() for line in output.err]
    return lines + ([f"[exit {output.code}]"] if output.code else [])
