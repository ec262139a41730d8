#!/usr/bin/env python3
"""Prints the files of FOLDER that fit PATTERN, from there, sorted, one a line: the build finds
sources and test programs instead of listing them a second time.

A file that comes or goes changes its folder, which is older than the build otherwise; `make build`
and tools/test.py then configure again.  A plain ninja does not look.

usage: find_sources.py FOLDER PATTERN     **/*.c: those of all folders in it, too
"""
import sys
from pathlib import Path

if len(sys.argv) != 3:
    sys.exit(__doc__.strip().splitlines()[-1])
for path in sorted(Path(sys.argv[1]).glob(sys.argv[2])):
    print(path.relative_to(sys.argv[1]).as_posix())
