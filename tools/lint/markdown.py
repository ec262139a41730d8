#!/usr/bin/env python3
"""How Markdown looks: within 100 columns but for code and tables, as tools/wrap_markdown.py wraps
it; no tab, no single blank at a line's end, and a newline at the file's.

usage: markdown.py [SOURCE_ROOT]
"""
import sys
from pathlib import Path

import common

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import wrap_markdown  # noqa: E402


def check_wrapping(path, text):
    """The first place is enough: one call of make format mends them all."""
    pairs = zip(text.split("\n"), wrap_markdown.wrap(text).split("\n"))
    for number, (line, wrapped) in enumerate(pairs, 1):
        if line != wrapped:
            yield path, f"line {number} is in a paragraph wider than 100 columns: run make format"
            return


def check_lines(path, text):
    if text and not text.endswith("\n"):
        yield path, "the last line has no end"
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#") and len(line) > wrap_markdown.COLUMNS:
            yield path, f"line {number} is a heading of {len(line)} columns; 100 are allowed"
        if "\t" in line:
            yield path, f"line {number} has a tab"
        if line != line.rstrip() and not line.endswith("  "):
            yield path, f"line {number} ends in a blank"


def check(root):
    findings = []
    for path in wrap_markdown.files(root):
        text = path.read_text(encoding="utf-8")
        findings += list(check_wrapping(path, text)) + list(check_lines(path, text))
    return findings


if __name__ == "__main__":
    common.main(check)
