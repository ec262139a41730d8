#!/usr/bin/env python3
"""Wraps Markdown at 100 columns: a paragraph or list item with a longer line is filled anew, all
else stays as it is.

Left alone are code, tables and headings, and every paragraph that fits.  A line is never broken
where what follows would mean something at the start of one (a dash, a number with a dot), nor
within a short code span.  Wrapping twice changes nothing more.

usage: wrap_markdown.py [FILE ...]     without files: all Markdown of the tree
"""
import os
import re
import sys
from pathlib import Path

COLUMNS = 100
LONGEST_SPAN = 60  # a code span up to here is not broken

FENCE = re.compile(r"\s*(```|~~~)")
ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+(?=\S)")
TABLE_RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$")
# Headings, rules, quotes and HTML end a paragraph and are not filled.
APART = re.compile(r"\s{0,3}(#{1,6}(\s|$)|>|<[A-Za-z/!?])|\s*([-*_=])(\s*\3)*\s*$")
LINK = re.compile(r"\s{0,3}\[[^\]]+\]:\s")  # where a paragraph could start, it is none
# What would be read otherwise at the start of a line.
NOT_FIRST = re.compile(r"([-+*=_]+|#{1,6}|\d{1,9}[.)]|[>|].*|<[A-Za-z/!?].*|```.*|~~~.*)$")
WORD = re.compile(r"(?:(`+)(?!`).+?(?<!`)\1(?!`)|\S)+")


def words(text):
    """What may stand at the start of a line, each with what must follow it on the same one."""
    found = []
    for match in WORD.finditer(text):
        word = match.group()
        pieces = word.split() if len(word) > LONGEST_SPAN else [word]
        for piece in pieces:
            if found and (NOT_FIRST.match(piece) or found[-1].endswith("\\")):
                found[-1] += " " + piece
            else:
                found.append(piece)
    return found


def fill(text, first, rest):
    """Lines of at most COLUMNS, the first after one prefix and the others after another."""
    lines, line = [], first
    for word in words(text):
        if line.strip() and line not in (first, rest) and len(line) + 1 + len(word) > COLUMNS:
            lines.append(line)
            line = rest
        line += word if line in (first, rest) else " " + word
    return lines + [line]


def hard_break(line):
    return line.endswith(("  ", "\\"))


def fill_paragraph(lines, first, rest):
    """Fills anew what lies between the lines that end in a hard break."""
    filled, part = [], []
    for line in lines:
        part.append(line)
        if hard_break(line) or line is lines[-1]:
            end = "  " if line.endswith("  ") else ""
            text = " ".join(p.strip() for p in part)
            made = fill(text, first if not filled else rest, rest)
            filled += made[:-1] + [made[-1] + end]
            part = []
    return filled


def starts_apart(lines, i):
    """Whether line i cannot go on with a paragraph."""
    line = lines[i]
    return (not line.strip() or FENCE.match(line) or ITEM.match(line) or APART.match(line)
            or (i + 1 < len(lines) and "|" in line and TABLE_RULE.match(lines[i + 1])
                and "|" in lines[i + 1]))


def skip_block(lines, i, content):
    """The line after a block that is not filled, or i where a paragraph or an item starts."""
    line = lines[i]
    fence = FENCE.match(line)
    if fence:
        end = i + 1
        while end < len(lines) and not lines[end].strip().startswith(fence.group(1)):
            end += 1
        return min(end + 1, len(lines))
    if ITEM.match(line) and len(line) - len(line.lstrip()) < content + 4 and not APART.match(line):
        return i
    if (not line.strip() or APART.match(line) or LINK.match(line)
            or line.startswith(" " * (content + 4))):
        return i + 1
    if starts_apart(lines, i):  # a table
        while i < len(lines) and "|" in lines[i]:
            i += 1
    return i


def wrap(text):
    lines, out, i, content = text.split("\n"), [], 0, 0
    while i < len(lines):
        item = ITEM.match(lines[i])
        if lines[i].strip() and not item and not lines[i].startswith(" "):
            content = 0  # a list ends where something starts in the first column
        end = skip_block(lines, i, content)
        if end > i:
            out += lines[i:end]
            i = end
            continue
        indent = " " * (len(lines[i]) - len(lines[i].lstrip()))
        first = item.group() if item else indent
        rest = " " * len(first)
        content = len(first) if item else content
        end = i + 1
        while end < len(lines) and not starts_apart(lines, end):
            end += 1
        paragraph = lines[i:end]
        if any(len(line) > COLUMNS for line in paragraph):
            paragraph = fill_paragraph([lines[i][len(first):]] + lines[i + 1:end], first, rest)
        out += paragraph
        i = end
    return "\n".join(out)


def files(root):
    """The Markdown of the tree; what was built is none of it, and is not looked into."""
    hidden = {"build", ".git", "node_modules"}
    found = []
    for folder, below, names in os.walk(root):
        below[:] = [name for name in below if name not in hidden and not name.startswith("build-")]
        found += [Path(folder) / name for name in names if name.endswith(".md")]
    return sorted(found)


def main():
    root = Path(__file__).resolve().parent.parent
    for path in map(Path, sys.argv[1:]) if sys.argv[1:] else files(root):
        text = path.read_text(encoding="utf-8")
        wrapped = wrap(text)
        if wrapped != text:
            path.write_text(wrapped, encoding="utf-8")
            print(f"wrapped {path}")


if __name__ == "__main__":
    main()
