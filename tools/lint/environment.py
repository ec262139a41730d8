#!/usr/bin/env python3
"""Every variable of the environment that the program looks at is told of, in the man page
(ENVIRONMENT) and in docs/security/environment.md; and none is told of that nobody looks at.

A variable is what a file of src/, cli/, mpi/ or python/ that asks the environment has as a string
in capitals.  Those that libraries below read are listed here, each with who does.

usage: environment.py [SOURCE_ROOT]
"""
import re

import common

ASKS = re.compile(r"\b(?:secure_)?getenv\s*\(|\bsetenv\s*\(|\bos\.(?:environ|getenv)\b")
VARIABLE = re.compile(r"""["']([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|LANG|TERM)["']""")
DIRECT = re.compile(r"""(?:getenv\s*\(|environ\[|environ\.get\()\s*["'](\w+)["']""")
OUR_OWN = re.compile(r"""["']((?:CLOISTER|OMP|OPENBLAS|XDG)_[A-Z0-9_]+)["']""")
BY_LIBRARIES = {
    "OPENBLAS_NUM_THREADS": "OpenBLAS",
    "LD_LIBRARY_PATH": "the loader",
    "LD_PRELOAD": "the loader",
    "SQLITE_TMPDIR": "SQLite",
}


PAGE = "docs/security/environment.md"

def used(root):
    """variable -> the first file that asks for it"""
    found = {}
    for path in common.files(root, ["src", "cli", "mpi", "python"], "*.c", "*.h", "*.py"):
        if "tests" in path.relative_to(root).parts:
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        for pattern in [DIRECT, OUR_OWN] + ([VARIABLE] if ASKS.search(text) else []):
            for name in pattern.findall(text):
                found.setdefault(name, path)
    return found


def in_manual(root):
    """The variables of the section ENVIRONMENT: the words in capitals behind .B and .BR."""
    path, names, inside = root / "docs/man/cloister.1.in", set(), False
    for line in common.lines(path) if path.exists() else []:
        if line.startswith(".SH"):
            inside = line == ".SH ENVIRONMENT"
        elif inside and line.startswith((".B ", ".BR ")):
            names |= set(re.findall(r"\b[A-Z][A-Z0-9_]{3,}\b", line))
    return names


def in_promise(root):
    """The variables in the first column of the table under "The environment"."""
    path, names, inside = root / PAGE, set(), False
    for line in common.lines(path) if path.exists() else []:
        if line.startswith("## "):
            inside = line == "## The environment"
        elif inside and line.startswith("|"):
            names |= set(re.findall(r"`([A-Z][A-Z0-9_]+)`", line.split("|")[1]))
    return names


def check(root):
    asked = used(root)
    told = {"docs/man/cloister.1.in": in_manual(root), PAGE: in_promise(root)}
    findings = []
    for page, names in told.items():
        findings += [(path, f"{name} is not told of in {page}")
                     for name, path in sorted(asked.items()) if name not in names]
        findings += [(page, f"{name} is read by nobody")
                     for name in sorted(names - set(asked) - set(BY_LIBRARIES))]
    for name in sorted(told[PAGE] ^ told["docs/man/cloister.1.in"]):
        if name not in asked:
            findings.append((PAGE, f"{name} must stand in the man page and here"))
    return findings


if __name__ == "__main__":
    common.main(check)
