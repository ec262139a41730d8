#!/usr/bin/env python3
"""Prints the names of the files in FOLDER that fit PATTERN, sorted, one a line: the build finds
test programs by their names instead of listing them a second time.

usage: find_sources.py FOLDER PATTERN
"""
import sys
from pathlib import Path

if len(sys.argv) != 3:
    sys.exit(__doc__.strip().splitlines()[-1])
for path in sorted(Path(sys.argv[1]).glob(sys.argv[2])):
    print(path.name)
