#!/usr/bin/env python3
"""How files look: C by clang-format, and every code file within 100 columns, without tabs, without
blanks at a line's end, and with a newline at the file's.  What a transcript expects a command to
print is as wide as that is.  Another clang-format than Debian 12's is not asked.

usage: layout.py [SOURCE_ROOT]
"""
import re
import subprocess

import common

COLUMNS = 100


def may_be_wide(path, line):
    return path.suffix == ".t" and re.match(r"  (?![$>] )", line) is not None


def check_text(path):
    text = path.read_text(encoding="utf-8")
    if text and not text.endswith("\n"):
        yield path, "the last line has no end"
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > COLUMNS and not may_be_wide(path, line):
            yield path, f"line {number} has {len(line)} columns; {COLUMNS} are allowed"
        if "\t" in line:
            yield path, f"line {number} has a tab"
        if "\0" in line:
            yield path, f"line {number} has a byte that is zero"
        if line != line.rstrip():
            yield path, f"line {number} ends in a blank"


def check_format(root, paths):
    if not paths or not common.is_of_debian_12("clang-format"):
        return
    style = f"--style=file:{root / '.clang-format'}"
    result = subprocess.run(["clang-format", style, "--dry-run", *map(str, paths)],
                            stderr=subprocess.PIPE, text=True, check=False)
    for name, line in re.findall(r"^(\S+):(\d+):\d+: .*clang-format", result.stderr, re.M):
        place = name.replace(str(root) + "/", "")
        yield place, f"line {line}: clang-format would lay this out otherwise"


def check(root):
    c_files = common.files(root, common.CODE_FOLDERS, "*.c", "*.h")
    others = common.files(root, ["tools", "tests", "bench", "python"], "*.py", "*.sh", "*.t")
    findings = [finding for path in c_files + others for finding in check_text(path)]
    return findings + list(check_format(root, c_files))


if __name__ == "__main__":
    common.main(check)
