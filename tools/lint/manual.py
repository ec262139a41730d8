#!/usr/bin/env python3
"""The manual pages, that of the command and those of the headers, read by mandoc.

The pages have no date on purpose: the same sources make the same page, whenever it is built.

usage: manual.py SOURCE_ROOT PAGE...
"""
import subprocess
from pathlib import Path

import common

MEANT = "missing date"


def read_one(page):
    result = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", str(page)],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            check=False)
    said = [line.split(f"{page}:")[-1].strip() for line in result.stdout.splitlines()]
    return [(f"manual page {Path(page).name}", line)
            for line in said if line and MEANT not in line]


def check(root, *pages):
    return [finding for page in pages for finding in read_one(page)]


if __name__ == "__main__":
    common.main(check)
