#!/usr/bin/env python3
"""Seeded releases and plans must stay the same, byte for byte.

releases/NAME.txt is a transcript: `$ cloister ...` is a case, what follows is what it must print,
and `# ...` before a case says what it is for.  The files that a case reads are made by
releases/inputs.py, or by an earlier case of the transcript that ends in `> FILE`.  Every `run` and
`bounds` gets `--no-ledger --seed golden --quiet`, and `--json` unless it has `--text` or writes a
file, and is run on one and on two threads.  Kept as printed but for three things: the version of
the program is 0.0.0, a very long line is its beginning and a digest, and so are very many lines.

The answers of the queries are exact, but what is made of them is floating point, so the kernels of
OpenBLAS are those for AVX2 on every machine; one without AVX2 skips the suite.

Sums of the solvers are vectorised, in an order that is the compiler's: a case whose release can
tell is marked `# gcc alone`.

usage: releases.py [--update] [--kernels NAME] [--other-compiler] CLOISTER [TRANSCRIPT.txt ...]
       --update writes what comes out; a change of a release is on purpose and named in the commit
       --kernels takes other kernels of OpenBLAS, to see what depends on them
       --other-compiler skips what is marked, and runs on two threads alone
"""
import argparse
import difflib
import hashlib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from processor import has_avx2  # noqa: E402  (it lies beside)

FOLDER = Path(__file__).resolve().parent / "releases"
sys.path.insert(0, str(FOLDER))
import inputs  # noqa: E402  (it lies beside the transcripts)

PROMPT = "$ cloister "
GCC_ALONE = "# gcc alone"
SECONDS = 600  # for what hangs
LONG_LINE, KEPT_OF_LINE = 600, 200
MANY_LINES, KEPT_LINES = 300, 120


class Case:
    def __init__(self, words):
        self.text = words
        command, _, self.saved = words.partition(" > ")
        self.words = shlex.split(command)
        self.comments, self.expected = [], []

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


def shown(text):
    """The lines of an output as a transcript keeps them."""
    lines = [line if len(line) <= LONG_LINE else
             f"{line[:KEPT_OF_LINE]} ... {len(line)} characters, sha256 {digest(line)}"
             for line in text.splitlines()]
    if len(lines) > MANY_LINES:
        rest = lines[KEPT_LINES:]
        lines[KEPT_LINES:] = [f"... {len(rest)} lines, sha256 {digest(chr(10).join(rest))}"]
    return lines


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
                                OMP_WAIT_POLICY="passive", OPENBLAS_CORETYPE=kernels)
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
    if not has_avx2():
        print("1..0 # SKIP these bytes are those of a processor with AVX2")
        return 0
    transcripts = [(path, *read_transcript(path))
                   for path in arguments.transcripts or sorted(FOLDER.glob("*.txt"))]
    print(f"1..{sum(len(cases) for _, _, cases in transcripts)}")
    threads = ["2"] if arguments.other_compiler else ["1", "2"]
    failed = number = 0
    for path, opening, cases in transcripts:
        with tempfile.TemporaryDirectory(prefix="cloister-") as folder:
            runner = Runner(arguments.cloister.resolve(), Path(folder), arguments.kernels, threads)
            for number, case in enumerate(cases, number + 1):
                name = f"{number} - {path.stem}: {case.text}"
                if arguments.other_compiler and GCC_ALONE in case.comments:
                    print(f"ok {name} # SKIP gcc alone")
                    continue
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
