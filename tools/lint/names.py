#!/usr/bin/env python3
"""Names and words: a source file's name is its own, a file says first what it is, no text in the
tree is unfinished, empty or tied to one machine, and no string of the library names an option of
the command: whoever calls it from C or Python has parameters, and no command line.  An option that
the command looks up by name is one that it has.

usage: names.py [SOURCE_ROOT]
"""
import re

import common

# What must not be in any file, and what to do instead.
WORDS = [
    (re.compile(r"\b(TODO|FIXME|XXX|HACK)\b"), "is unfinished: do it, or take it out"),
    (re.compile(r"\bhelpers?\b", re.I), "says nothing: say what it does"),
    (re.compile(r"(?<![\w.])/(?:root|work)/\w"), "is a path on somebody's machine"),
    (re.compile(r"\.\./shared\b"), "is outside the project"),
    (re.compile(r"\bpragma_[a-z_]+"), "takes its argument otherwise in other versions of SQLite: "
                                      "write the PRAGMA as a statement"),
]
HOMES = [  # a test may make one up
    (re.compile(r"(?<![\w.])/(?:home|Users)/\w"), "is a path on somebody's machine"),
]
TEXT = ["*.c", "*.h", "*.def", "*.py", "*.sh", "*.t", "*.md", "*.txt", "meson.build", "*.in", "*.1"]
FOLDERS = ["include", "src", "cli", "mpi", "tests", "bench", "tools", "proofs", "docs",
           "python"]
TOP = ["*.md", "Makefile", "meson.build", "meson_options.txt"]


def check_unique(root):
    seen = {}
    for path in common.files(root, ["src", "cli"], "*.c"):
        if path.name in seen:
            yield path, f"has the name of {seen[path.name].relative_to(root)}"
        seen.setdefault(path.name, path)


def check_opening(root):
    for path in common.files(root, common.CODE_FOLDERS, "*.c", "*.h"):
        if not path.read_text(encoding="utf-8").startswith("/*"):
            yield path, "does not open with a comment that says what it is"


def check_words(root):
    paths = common.files(root, FOLDERS, *TEXT)
    paths += [path for pattern in TOP for path in sorted(root.glob(pattern))]
    for path in paths:
        if path.parent.name == "lint" or "corpus" in path.parts:
            continue  # the rules themselves and their planted faults; what a fuzzer found
        for number, line in enumerate(common.lines(path), 1):
            for pattern, sentence in WORDS + ([] if "tests" in path.parts else HOMES):
                word = pattern.search(line)
                if word:
                    yield path, f'line {number}: "{word.group(0)}" {sentence}'


STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
# But for the properties of a style sheet: "--ink:#000", "var(--ink)".
OPTION = re.compile(r"(?<![\w-])(?<!var\()--[a-z][a-z-]+\b(?!:\S)")


def check_options(root):
    for path in common.files(root, ["include", "src"], "*.c", "*.h", "*.def"):
        for number, line in enumerate(common.lines(path), 1):
            for string in STRING.findall(line):
                option = OPTION.search(string)
                if option:
                    yield path, (f'line {number}: "{option.group(0)}" is an option of the command: '
                                 "name the parameter")


# An option: of the command itself, a setting of a run, or a parameter of a method.
DECLARED = re.compile(r'(?:CLI_[A-Z]+\(|SETTING\(\w+, |\{ )\s*"([a-z][a-z-]*)"')
LOOKED_UP = re.compile(r'\bcli_(?:value|given)\([^()]*?,\s*"([^"]*)"\)')


def check_looked_up(root):
    rows = common.files(root, ["cli", "src/job", "src/mechanism", "src/solver"],
                        "*.c", "*.h", "*.def")
    known = {name for path in rows for name in DECLARED.findall(path.read_text(encoding="utf-8"))}
    for path in common.files(root, ["cli"], "*.c"):
        for name in LOOKED_UP.findall(path.read_text(encoding="utf-8")):
            if name not in known:
                yield path, f'"{name}" is looked up, and is no option'


def check(root):
    return [fault for each in (check_unique, check_opening, check_words, check_options,
                               check_looked_up)
            for fault in each(root)]


if __name__ == "__main__":
    common.main(check)
