#!/usr/bin/env python3
"""The manual pages, that of the command and those of the headers, read by mandoc.

The pages have no date on purpose: the same sources make the same page, whenever it is built.

usage: manual.py SOURCE_ROOT PAGE...
"""
import re
import shlex
import subprocess
from pathlib import Path

import common

MEANT = "missing date"
ALTERNATING = re.compile(r"\.(?:BI|BR|IB|IR|RB|RI) (.*)")
MOST_WORDS = 7
# As people read it: no name is so long, but for one of C.
LONGEST, NAME = 40, re.compile(r"[\w()*,;]+")


def read_one(page):
    result = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", str(page)],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            check=False)
    said = [line.split(f"{page}:")[-1].strip() for line in result.stdout.splitlines()]
    return [(f"manual page {Path(page).name}", line)
            for line in said if line and MEANT not in line]


def run_together(page):
    """A macro that changes fonts writes its words without blanks: a sentence is none of them."""
    for number, line in enumerate(Path(page).read_text(encoding="utf-8").splitlines(), 1):
        macro = ALTERNATING.match(line)
        if macro and len(shlex.split(macro[1].replace("'", ""))) > MOST_WORDS:
            yield f"manual page {Path(page).name}", f"line {number} writes its words without blanks"


def rendered(page):
    """A sentence on a macro's line, or a rule of dashes, is one long word on the terminal."""
    shown = subprocess.run(["mandoc", "-T", "utf8", "-O", "width=100", str(page)],
                           stdout=subprocess.PIPE, text=True, check=False).stdout
    for word in re.sub(".\x08", "", shown).split():
        if len(word) > LONGEST and not NAME.fullmatch(word):
            yield f"manual page {Path(page).name}", f"a terminal shows as one word: {word}"


def check(root, *pages):
    return [finding for page in pages
            for finding in [*read_one(page), *run_together(page), *rendered(page)]]


if __name__ == "__main__":
    common.main(check)
