#!/usr/bin/env python3
"""Writes the header that includes tests/query/NAME.h of each row of src/query/table.def.

usage: every_query.py TABLE
"""
import re
import sys
from pathlib import Path


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip().splitlines()[-1])
    table = Path(sys.argv[1]).read_text(encoding="utf-8")
    print("/* Made from src/query/table.def by tools/every_query.py. */")
    for name in re.findall(r"^QUERY\((\w+)\)", table, re.M):
        print(f'#include "{name}.h"')


if __name__ == "__main__":
    main()
