#!/usr/bin/env python3
"""Holds the pages "claim by claim" (docs/papers/) to the tree.

Whatever file, theorem or page they name must be there, and every row of a table of claims must end
with one of the verdicts that README.md explains.

usage: papers.py [SOURCE_ROOT]
"""
import re

import common
import proofs

NAMED = re.compile(r"`([a-z]+/[\w./-]+\.\w+)`")
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")
VERDICTS = ("holds", "corrected", "cannot hold", "not used")


def check_row(cells):
    if len(cells) != 4:
        return f"a row has {len(cells)} cells and not 4"
    if not cells[3].startswith(VERDICTS):
        return f"'{cells[3][:30]}' is none of the verdicts: {', '.join(VERDICTS)}"
    return None


def check_line(root, path, line, proven):
    found = [f"there is no {name}" for name in NAMED.findall(line) if not (root / name).exists()]
    found += [f"{name} is not in proofs/" for name in proofs.MENTION.findall(line)
              if name not in proven]
    found += [f"there is no page {link}" for link in LINK.findall(line)
              if not (path.parent / link).exists()]
    return found


def check(root):
    proven, _ = proofs.theorems(root)
    findings = []
    for path in common.files(root, ["docs/papers"], "*.md"):
        for number, line in enumerate(common.lines(path), 1):
            found = check_line(root, path, line, proven)
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            rows = path.name != "README.md" and cells and cells[0] != "claim" \
                and not set(line) <= set("|-")
            wrong = check_row(cells) if rows else None
            findings += [(path, f"line {number}: {what}") for what in found + [wrong] if what]
    return findings


if __name__ == "__main__":
    common.main(check)
