#!/usr/bin/env python3
"""The manual page that the command makes of itself, read by mandoc.

The page has no date on purpose: the same sources make the same page, whenever it is built.

usage: manual.py SOURCE_ROOT PAGE
"""
import subprocess

import common

MEANT = "missing date"


def check(root, page):
    result = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", str(page)],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            check=False)
    said = [line.split(f"{page}:")[-1].strip() for line in result.stdout.splitlines()]
    return [("manual page", line) for line in said if line and MEANT not in line]


if __name__ == "__main__":
    common.main(check)
