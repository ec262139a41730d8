"""Reads transcripts: what is typed, and what is expected to come of it.

A session is what one shell does in one fresh folder; a test is a name and the steps of a session
that are judged under it; a step is a command and the lines that it must print.
"""
import re
from dataclasses import dataclass, field

INDENT = "  "


class Malformed(Exception):
    """A transcript that cannot be read; says the line."""


@dataclass
class Step:
    """A command and what is expected of it; lines are counted from 0, as in the file's list."""
    command: str
    line: int
    indent: str
    expected: list = field(default_factory=list)
    end: int = 0  # the line after the last expected one
    writes_file: bool = False  # it stands for a block of a page that shows a file
    noise: bool = False  # the page shows one draw: numbers are others each time

    def begin(self):
        return self.end - len(self.expected)


@dataclass
class Test:
    name: str
    steps: list = field(default_factory=list)


@dataclass
class Session:
    """on_terminal: the steps see a terminal, and both of their streams are one."""
    tests: list
    on_terminal: bool = False

    def steps(self):
        return [step for test in self.tests for step in test.steps]


class Block:
    """Takes the lines of a console one by one and makes steps of them."""

    def __init__(self, indent=""):
        self.indent, self.steps, self.open = indent, [], False

    def take(self, number, text):
        step = self.steps[-1] if self.open else None
        if text.startswith("$ "):
            self.steps.append(Step(text[2:], number, self.indent, end=number + 1))
            self.open = True
        elif step is None:
            raise Malformed(f"line {number + 1}: output, and no command above it")
        elif not step.expected and (text == ">" or text.startswith("> ")):
            self.go_on(step, number, text[2:])
        elif not step.expected and step.command.endswith("\\"):
            self.go_on(step, number, text)
        else:
            # Empty lines between two lines of output were printed too.
            step.expected += [""] * (number - step.end if step.expected else 0) + [text]
            step.end = number + 1

    @staticmethod
    def go_on(step, number, text):
        if number != step.end:
            raise Malformed(f"line {number}: an empty line within a command is written `>`")
        step.command += "\n" + text
        step.end = number + 1

    def close(self):
        """Prose, or the end of the block: what follows does not belong to the last command."""
        self.open = False


def transcript(lines):
    """The sessions of a .t file: each case has one of its own."""
    cases, block = [], None
    for number, line in enumerate(lines):
        if line.startswith("## "):
            block = Block(INDENT)
            cases.append((line[3:].strip(), number, block))
        elif line.startswith(INDENT) and line.strip():
            if block is None:
                raise Malformed(f"line {number + 1}: a command above the first case")
            block.take(number, line[len(INDENT):])
        elif line[:1].isspace() and line.strip():
            raise Malformed(f"line {number + 1}: neither prose nor indented by {len(INDENT)}")
        elif line.strip() and block:
            block.close()
    seen = set()
    for name, number, block in cases:
        if name in seen or not block.steps:
            why = "a second case of this name" if name in seen else "a case without a command"
            raise Malformed(f"line {number + 1}: {why}")
        seen.add(name)
    return [Session([Test(name, block.steps)]) for name, _, block in cases]


def shown_file(number, lines):
    """The step that writes a file that the page shows; its first line has the name."""
    name = re.match(r"(?:/\*|#) (\S+) -", lines[0]) if lines else None
    if not name:
        raise Malformed(f"line {number + 1}: the first line of the block must name its file")
    text = "\n".join(lines)
    end = f"end-of-{name.group(1)}"
    return Step(f"cat > {name.group(1)} << '{end}'\n{text}\n{end}", number, "", end=number,
                writes_file=True)


def page(lines):
    """The one session of a Markdown page: blocks `console` are typed, `c` and `python` are files.

    Each command is a test; a file comes into being with the command that follows it.  Below a line
    `<!-- noise -->` a block shows one draw of the noise: its words are held, its numbers are not.
    """
    steps, language, inside, noise = [], None, [], False
    for number, line in enumerate(lines):
        fence = re.match(r"```(\w*)\s*$", line)
        if not fence:
            inside.append((number, line))
        elif language is None:
            noise = number > 0 and lines[number - 1] == "<!-- noise -->"
            language, inside = fence.group(1), []
        else:
            if language in ("c", "python"):
                steps.append(shown_file(number, [text for _, text in inside]))
            elif language == "console":
                block = Block()
                for place in inside:
                    block.take(*place)
                for step in block.steps:
                    step.noise = noise
                steps += block.steps
            language = None
    tests, waiting = [], []
    for step in steps:
        waiting.append(step)
        if not step.writes_file:
            tests.append(Test(step.command.splitlines()[0], waiting))
            waiting = []
    return [Session(tests, on_terminal=True)] if tests else []
