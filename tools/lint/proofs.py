#!/usr/bin/env python3
"""Ties theorems to code and tests.

A theorem is a heading `## name.T1` in proofs/name.md.  Each must be named in a comment of src/ or
of python/cloister, where it is relied on, and in tests/ or python/tests, where it is held; and
whatever they name must be there.  proofs/README.md lists every file of the folder.

usage: proofs.py [SOURCE_ROOT]
"""
import re

import common

HEADING = re.compile(r"^#{2,3} ([a-z][a-z0-9_]*\.T[0-9]+)\b")
MENTION = re.compile(r"\b([a-z][a-z0-9_]*\.T[0-9]+)\b")


def theorems(root):
    """{theorem: its file}, and findings about headings that stand in the wrong file or twice."""
    found, findings = {}, []
    for path in common.files(root, ["proofs"], "*.md"):
        for line in common.lines(path):
            heading = HEADING.match(line)
            if not heading:
                continue
            name = heading.group(1)
            if name in found:
                findings.append((path, f"{name} is stated a second time"))
            if name.split(".")[0] != path.stem:
                findings.append((path, f"{name} belongs into {name.split('.')[0]}.md"))
            found[name] = path
    return found, findings


def mentions(root, *folders):
    named = {}
    for path in common.files(root, folders, "*.c", "*.h", "*.py", "*.def"):
        if path.parent.name == "lint":
            continue  # planted faults
        for number, line in enumerate(common.lines(path), 1):
            for name in MENTION.findall(line):
                named.setdefault(name, (path, number))
    return named


def check(root):
    proven, findings = theorems(root)
    if not proven:
        findings.append((root / "proofs", "there is no theorem here"))
    in_code = mentions(root, "src", "python/cloister")
    in_tests = mentions(root, "tests", "python/tests")
    for name, path in sorted(proven.items()):
        if name not in in_code:
            findings.append((path, f"{name} is named nowhere in the code"))
        if name not in in_tests:
            findings.append((path, f"{name} is named in no test"))
    for named in (in_code, in_tests):
        for name, (path, number) in sorted(named.items()):
            if name not in proven:
                findings.append((path, f"line {number}: {name} is not in proofs/"))
    readme = root / "proofs" / "README.md"
    listed = readme.read_text(encoding="utf-8") if readme.exists() else ""
    for path in common.files(root, ["proofs"], "*.md"):
        if listed and path != readme and f"`{path.stem}`" not in listed:
            findings.append((readme, f"{path.stem} is not in the reading order"))
    return findings


if __name__ == "__main__":
    common.main(check)
