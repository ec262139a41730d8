#!/usr/bin/env python3
"""How Markdown looks: within 100 columns but for code and tables, as tools/wrap_markdown.py wraps
it; no tab, no single blank at a line's end, and a newline at the file's.  No entry has fallen out
of its list, no link leads to a file that is not there, and docs/index.md lists every page of docs/.
Every file that ARCHITECTURE.md and CONTRIBUTING.md name is there, but for those with a word in
capitals in them (NAME.c).

usage: markdown.py [SOURCE_ROOT]
"""
import re
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


LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)(?:#[^)\s]*)?\)")


TEMPLATES = {"pages", "site"}


def check_entries(path, text):
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\*\*[^*]+\*\* : ", line):
            yield path, f"line {number} has fallen out of its list: it should begin with '- '"


def check_links(path, text):
    if path.parent.name in TEMPLATES:  # links are right where its page will be
        return
    code = re.sub(r"^```.*?^```|`[^`\n]*`", "", text, flags=re.M | re.S)
    for target in LINK.findall(code):
        if not (path.parent / target).exists():
            yield path, f"links to {target}, which is not there"


PLACE = re.compile(r"`((?:bench|cli|docs|include|mpi|proofs|python|reproduce|src|tests|tools)"
                   r"/[^` ]*)`")


def check_places(root):
    for page in ("ARCHITECTURE.md", "CONTRIBUTING.md"):
        text = (root / page).read_text(encoding="utf-8") if (root / page).exists() else ""
        for place in PLACE.findall(text):
            if not re.search(r"[A-Z]{4}", place) and not list(root.glob(place.rstrip("/"))):
                yield root / page, f"names {place}, which is not there"


def check_contents(root):
    """The site is made from the lists of docs/index.md: a page that is in none is not found."""
    index = root / "docs" / "index.md"
    listed = {(index.parent / target).resolve()
              for target in LINK.findall(index.read_text(encoding="utf-8"))}
    for path in sorted((root / "docs").rglob("*.md")):
        if path != index and not {"site", "examples"} & set(path.relative_to(root).parts) \
                and path.resolve() not in listed:
            yield path, "is not listed in docs/index.md"


def check(root):
    findings = list(check_contents(root)) if (root / "docs" / "index.md").exists() else []
    findings += check_places(root)
    for path in wrap_markdown.files(root):
        text = path.read_text(encoding="utf-8")
        for rule in (check_wrapping, check_lines, check_entries, check_links):
            findings += rule(path, text)
    return findings


if __name__ == "__main__":
    common.main(check)
