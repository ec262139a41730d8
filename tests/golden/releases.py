#!/usr/bin/env python3
"""Seeded releases and plans must stay the same, byte for byte where their digits were made.

releases/NAME.txt is a transcript: `$ cloister ...` is a case, what follows is what it must print,
and `# ...` before a case says what it is for.  The files that a case reads are made by
releases/inputs.py, or by an earlier case of the transcript that ends in `> FILE`.  Every `run` and
`bounds` gets `--no-ledger --seed golden --quiet`, and `--json` unless it has `--text` or writes a
file, and is run on one and on two threads.  Kept as printed but for three things: the version of
the program is 0.0.0, a very long line is its beginning, two sums and a digest, and so are very
many lines; noisy answers are numbers.

The answers of the queries are exact, but what is made of them is floating point.  On a machine of
reference.txt every byte is held.  Elsewhere every byte is but for numbers with a fraction in the
`values` of a release, and in rows generated from them, which may differ in their last digits
(../support/digits.py); and for what is computed from such digits: the digest of an earlier release,
and the values of a case marked `# by last digits`, where they decide which of two ways is taken;
there the shape is held.  Sums of the solvers are vectorised, in an order that is the compiler's: a
case marked `# gcc alone` is judged so in a build by another one, too.

usage: releases.py [--update] [--kernels NAME] [--other-compiler] CLOISTER [TRANSCRIPT.txt ...]
       --update writes what comes out; a change of a release is on purpose and named in the commit
       --kernels takes other kernels of OpenBLAS, to see what depends on them
       --other-compiler runs on two threads alone
"""
import argparse
import base64
import difflib
import hashlib
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import digits  # noqa: E402  (it lies beside)
from processor import has_avx2  # noqa: E402  (it lies beside)

FOLDER = Path(__file__).resolve().parent / "releases"
sys.path.insert(0, str(FOLDER))
import inputs  # noqa: E402  (it lies beside the transcripts)

PROMPT = "$ cloister "
GCC_ALONE, BY_LAST_DIGITS = "# gcc alone", "# by last digits"
SECONDS = 600  # for what hangs
LONG_LINE, KEPT_OF_LINE = 600, 200
MANY_LINES, KEPT_LINES = 300, 120


class Case:
    def __init__(self, words):
        self.text = words
        command, _, self.saved = words.partition(" > ")
        self.words = shlex.split(command)
        self.comments, self.expected = [], []

    @property
    def hangs(self):
        """Whether last digits decide which way it goes."""
        return any(line.startswith(BY_LAST_DIGITS) for line in self.comments)

    def commands(self, threads):
        """The command's words, once a number of threads where it knows of threads."""
        if self.words[0] not in ("run", "bounds"):
            return [self.words]
        form = [] if {"-o", "--text"} & set(self.words) else ["--json"]
        words = [word for word in self.words if word != "--text"]
        shared = words + ["--no-ledger", "--seed", "golden", "--quiet"] + form
        return [shared + ["--threads", count] for count in threads]


def read_transcript(path):
    """(opening comment, cases)."""
    opening, comments, cases = [], [], []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(PROMPT):
            cases.append(Case(line[len(PROMPT):]))
            cases[-1].comments, comments = comments, []
        elif line.startswith("# "):
            comments.append(line)
        elif not cases:
            opening, comments = opening + comments, []
        else:
            cases[-1].expected.append(line)
    return opening, cases


def write_transcript(path, opening, cases):
    blocks = ["\n".join(opening)]
    for case in cases:
        blocks.append("\n".join(case.comments + [PROMPT + case.text] + case.expected))
    path.write_text("\n\n".join(block.rstrip("\n") for block in blocks if block) + "\n",
                    encoding="utf-8")


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def sums(text):
    """The numbers of a text as three: how large they are, their sum, and a sum with weights, which
    tells one order of them from another."""
    numbers = [float(number) for number in digits.NUMBER.findall(text)]
    weighed = [(0.6180339887 * place) % 1 * number for place, number in enumerate(numbers)]
    found = [math.fsum(map(abs, numbers)), math.fsum(numbers), math.fsum(weighed)]
    return f"{len(numbers)} numbers, sums " + " ".join(f"{number:.15g}" for number in found)


def shortened(line):
    """A line as it is, or, where it is very long, how it begins and what is known of it."""
    if len(line) <= LONG_LINE:
        return line
    return (f"{line[:KEPT_OF_LINE]} ... {len(line)} characters, {sums(line)}, "
            f"sha256 {digest(line)}")


KEPT_NUMBERS = re.compile(r'"(asked|answered)": "([A-Za-z0-9+/=]*)"')
STEPS = {"asked": 2**20, "answered": 2**10}  # of the grid; of a deviation


def decoded(found):
    """The noisy answers of a release as numbers, whose last digits are those of a machine, too."""
    numbers, value, shift = [], 0, 0
    for byte in base64.b64decode(found[2]):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append((value >> 1) ^ -(value & 1))
            value = shift = 0
    return f'"{found[1]}": [{", ".join(f"{one / STEPS[found[1]]:.7f}" for one in numbers)}]'


def shown(text):
    """The lines of an output as a transcript keeps them."""
    whole = KEPT_NUMBERS.sub(decoded, text).splitlines()
    lines = [shortened(line) for line in whole]
    if len(lines) <= MANY_LINES:
        return lines
    values = in_values(whole)
    exact, computed = ("\n".join(line for line, inside in list(zip(whole, values))[KEPT_LINES:]
                                 if inside == wanted) for wanted in (False, True))
    rest = "\n".join(lines[KEPT_LINES:])
    return lines[:KEPT_LINES] + [f"... {len(lines) - KEPT_LINES} lines, those that are exact "
                                 f"{digest(exact)}, {sums(computed)}, sha256 {digest(rest)}"]


NUMBERS = re.compile(r"(?: +-?[0-9][-+.0-9e]*)+")  # a row of the text of a release


def in_values(lines):
    """Of each line of a release, whether it is one of its values or answers."""
    inside, found = False, []
    for line in lines:
        inside = (line.startswith(('  "values": {', '  "answers": ['))
                  or inside and not line.startswith(("  }", "  ]")))
        found.append(inside)
    return found


def trimmed(lines):
    """Without blank lines at the end, which part one case from the next."""
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines


class Runner:
    """Runs cases in a folder that holds the files they name."""

    def __init__(self, binary, folder, kernels, threads):
        self.binary, self.folder, self.threads = binary, folder, threads
        kept = ("PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS")
        self.environment = {key: os.environ[key] for key in kept if key in os.environ}
        self.environment.update(HOME=str(folder), LC_ALL="C", TZ="UTC", OMP_NUM_THREADS="2",
                                OMP_WAIT_POLICY="passive")
        if has_avx2() or kernels != "Haswell":
            self.environment["OPENBLAS_CORETYPE"] = kernels
        self.machine = digits.machine(binary.parents[1], self.environment)
        self.elsewhere = self.machine not in digits.references()
        self.other_compiler = not self.machine.startswith("gcc")
        self.saved = set()  # the files that earlier cases wrote
        self.version = self.output(["version"]).split()[1]

    def output(self, words):
        done = subprocess.run([self.binary, *words], cwd=self.folder, env=self.environment,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS,
                              check=False)
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise RuntimeError(f"exit code {done.returncode}: {said}")
        return done.stdout.decode()

    def make_inputs(self, words):
        for word in words:
            path = self.folder / word
            if word in inputs.FILES and not path.exists():
                path.write_bytes(inputs.FILES[word]())

    def run(self, case):
        """What the case prints, or writes with -o, on each number of threads."""
        self.make_inputs(case.words)
        results = []
        for words in case.commands(self.threads):
            text = self.output(words)
            if "-o" in words:
                text += (self.folder / words[words.index("-o") + 1]).read_text(encoding="utf-8")
            text = text.replace(f'"version": "{self.version}"', '"version": "0.0.0"')
            if case.saved and not results:
                (self.folder / case.saved).write_text(text, encoding="utf-8")
                self.saved.add(case.saved)
            results.append(trimmed(shown(text)))
        return results


def differences(expected, actual, name):
    """The first line that differs, and then the rest as a diff."""
    if expected == actual:
        return []
    pairs = list(zip(expected + [None], actual + [None]))
    first = next(i for i, (one, other) in enumerate(pairs) if one != other)
    said = [f"{name}: line {first + 1} of the output differs",
            f"  expected: {pairs[first][0]}", f"  actual:   {pairs[first][1]}"]
    diff = list(difflib.unified_diff(expected, actual, "expected", name, lineterm="", n=1))
    return said + diff[:40]


SHORTENED = re.compile(r"(.*?) ?\.\.\. (?:\d+ characters|(\d+ lines, .* \w+)), (\d+) numbers, "
                       r"sums (\S+) (\S+) (\S+), sha256 \w+")


def near_shortened(expected, actual):
    """As digits.near, of what is known of the same long line, or of the same lines."""
    size, *others = [[float(number) for number in pair] for pair in zip(expected[3:], actual[3:])]
    whole = digits.is_whole(expected[3]) and max(size) > 0  # labels, counts
    room = 0 if whole else digits.TOLERANCE * max(1, *size)
    begins = [text.split(",")[:-1] for text in (expected[0], actual[0])]  # the last one is cut
    count = min(map(len, begins))
    return (all(abs(one - other) <= room for one, other in [size, *others])
            and digits.near(*(",".join(begin[:count]) for begin in begins)))


def may_stand(case, expected, actual, inside):
    """Whether a line of a release may come elsewhere where another was expected."""
    long_ones = [SHORTENED.fullmatch(line) for line in (expected, actual)]
    if all(long_ones):
        one, other = (found.groups() for found in long_ones)
        alike = one[1:3] == other[1:3] and (inside or one[1] is not None)
        return alike and (case.hangs or near_shortened(one, other))
    if not inside or any(long_ones):
        return False
    if case.hangs:  # the columns of a text are as wide as their numbers
        shapes = [digits.NUMBER.sub("#", line).split() for line in (expected, actual)]
        return shapes[0] == shapes[1]
    return digits.near(expected, actual)


def settled(case, actual, saved):
    """The lines of a case, each that may stand elsewhere as the one that was expected."""
    expected = trimmed(case.expected)
    if len(expected) != len(actual):
        return actual
    of_release = re.compile(r' *"release": "[0-9a-f]{64}",?')
    lines = []
    made = case.words[0] == "generate"  # rows, computed from a release's values
    values = in_values(actual)
    if "--text" in case.words:
        values = [bool(NUMBERS.fullmatch(line)) for line in actual]
    for wanted, line, inside in zip(expected, actual, values):
        told = saved & set(case.words) and of_release.fullmatch(line)
        if told and of_release.fullmatch(wanted) or may_stand(case, wanted, line, inside or made):
            line = wanted
        lines.append(line)
    return lines


def check(runner, case, update):
    """The lines that say what is wrong; none: it is right."""
    try:
        results = runner.run(case)
    except (RuntimeError, subprocess.TimeoutExpired, OSError) as error:
        return str(error).splitlines()
    if update:
        case.expected = results[0]
        if any(line.startswith((PROMPT, "# ")) for line in results[0]):
            return ["a line of the output reads as a case or a comment"]
    wrong = []
    for result, threads in zip(results, runner.threads):
        if runner.elsewhere or GCC_ALONE in case.comments and runner.other_compiler:
            result = settled(case, result, runner.saved)
        wrong += differences(trimmed(case.expected), result, f"threads {threads}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("usage:")[0],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--kernels", default="Haswell")
    parser.add_argument("--other-compiler", action="store_true")
    parser.add_argument("cloister", type=Path)
    parser.add_argument("transcripts", type=Path, nargs="*")
    arguments = parser.parse_args()
    transcripts = [(path, *read_transcript(path))
                   for path in arguments.transcripts or sorted(FOLDER.glob("*.txt"))]
    print(f"1..{sum(len(cases) for _, _, cases in transcripts)}")
    threads = ["2"] if arguments.other_compiler else ["1", "2"]
    failed = number = 0
    for path, opening, cases in transcripts:
        with tempfile.TemporaryDirectory(prefix="cloister-") as folder:
            runner = Runner(arguments.cloister.resolve(), Path(folder), arguments.kernels, threads)
            if arguments.update and runner.elsewhere:
                sys.exit(f"no digits are kept that were made elsewhere (reference.txt): this is "
                         f"{runner.machine}")
            for number, case in enumerate(cases, number + 1):
                name = f"{number} - {path.stem}: {case.text}"
                wrong = check(runner, case, arguments.update)
                failed += bool(wrong)
                print("not ok" if wrong else "ok", name)
                for line in wrong:
                    print(f"# {line}")
                sys.stdout.flush()
        if arguments.update:
            write_transcript(path, opening, cases)
    return 1 if failed or not number else 0


if __name__ == "__main__":
    sys.exit(main())
