#!/usr/bin/env python3
"""Which folder may include which: the table in ARCHITECTURE.md against the #include lines of src/.

The arrows are not taste: "report may not see data" and "a mechanism draws no noise" are privacy
properties, and this is where they are held.  A folder in a folder (mechanism/kmeans) has a row of
its own, and nothing from those around it: who may include `mechanism` may not include what is in
its folders.

usage: arrows.py [SOURCE_ROOT]
"""
import re

import common


def table(root):
    """{folder: the set of folders it may include}, from the table with the column "may include"."""
    allowed, inside = {}, False
    for line in common.lines(root / "ARCHITECTURE.md"):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            inside = False
        elif cells[:2] == ["folder", "may include"]:
            inside = True
        elif inside and not set(line) <= set("|-: "):
            for folder in cells[0].split(", "):
                allowed[folder] = set(re.findall(r"[a-z/]+", cells[1]))
    return allowed


def check_table(root, allowed):
    """What it names has a row, and no arrows lead round in a circle."""
    place = root / "ARCHITECTURE.md"
    for folder, targets in allowed.items():
        for target in sorted(targets - set(allowed)):
            yield place, f"{folder} may include {target}, which has no row"
    left = {folder: targets & set(allowed) for folder, targets in allowed.items()}
    while left:
        ends = {folder for folder, targets in left.items() if not targets & set(left)}
        if not ends:
            yield place, f"the arrows of {', '.join(sorted(left))} lead round in a circle"
            return
        left = {folder: targets for folder, targets in left.items() if folder not in ends}


def includes(path):
    for number, line in enumerate(common.lines(path), 1):
        quoted = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
        if quoted:
            yield number, quoted.group(1)


def check_library(root, allowed):
    for path in common.files(root, ["src"], "*.c", "*.h"):
        folder = path.parent.relative_to(root / "src").as_posix()
        if folder not in allowed:
            yield path, f"the folder {folder} has no row in the table of ARCHITECTURE.md"
            continue
        for number, name in includes(path):
            target = name.rpartition("/")[0]
            if "/" not in name:
                yield path, f'line {number}: "{name}" must be written "{folder}/{name}"'
            elif not (root / "src" / name).exists():
                yield path, f'line {number}: "{name}" does not exist'
            elif target != folder and target not in allowed[folder]:
                yield path, f"line {number}: {folder} may not include {target}"


def check_command(root):
    """The command is a stranger: it sees the public headers and its own folder."""
    for path in common.files(root, ["cli"], "*.c", "*.h"):
        for number, name in includes(path):
            if "/" in name or not (path.parent / name).exists():
                yield path, f'line {number}: the command may not include "{name}"'


def check(root):
    allowed = table(root)
    if not allowed:
        return [(root / "ARCHITECTURE.md", "there is no table of what a folder may include")]
    return [*check_table(root, allowed), *check_library(root, allowed), *check_command(root)]


if __name__ == "__main__":
    common.main(check)
