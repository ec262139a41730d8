#!/usr/bin/env python3
"""Makes the manual page (section 3) of one public header: its names, its prototypes, and its
comments, which are the only place where all of this is written.

A comment before a declaration is about all declarations up to the next blank line; one behind it,
on the same line, is about that one.  The page has no date: the same header makes the same page.

usage: manual3.py VERSION HEADER       the page goes to standard output
"""
import re
import sys
import textwrap
from pathlib import Path

WIDTH = 78
ATTRIBUTES = re.compile(r"\b(CLO_API|CLO_CHECK|static inline)\s+")


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)
    return "".join(c if ord(c) < 128 else f"\\[u{ord(c):04X}]" for c in text)


def comment_lines(comment):
    """The lines of a comment without its signs, its own indentation kept."""
    body = comment.strip()[2:-2].splitlines()
    lines = [body[0].strip()] + [re.sub(r"^\s*\* ?", "", line).rstrip() for line in body[1:]]
    return "\n".join(lines).strip("\n").splitlines()


def paragraphs(lines):
    """Runs of lines without a blank one between them."""
    run = []
    for line in [*lines, ""]:
        if line.strip():
            run.append(line)
        elif run:
            yield run
            run = []


def described(lines):
    """Plain paragraphs are filled; a list or a table stays as it was set."""
    out = []
    for run in paragraphs(lines):
        if any(line.startswith("  ") for line in run[1:]):
            out += [".PP", ".nf", *(escape(line) for line in run), ".fi"]
        else:
            out += [".PP", *escape(textwrap.fill(" ".join(run), WIDTH)).splitlines()]
    return out


def pieces(text):
    """What the header holds, in order: ("comment", text, line), ("code", text, line)."""
    position, start, depth, line = 0, None, 0, 1
    while position < len(text):
        if text.startswith("/*", position) and start is None:
            end = text.index("*/", position) + 2
            yield "comment", text[position:end], line
            line += text.count("\n", position, end)
            position = end
            continue
        if text.startswith("/*", position):  # inside of a declaration: a part of it
            end = text.index("*/", position) + 2
            line += text.count("\n", position, end)
            position = end
            continue
        char = text[position]
        if start is None and not char.isspace():
            start, first = position, line
        depth += (char == "{") - (char == "}")
        line += char == "\n"
        position += 1
        inline = start is not None and text.startswith("static inline", start)
        if start is not None and depth == 0 and (char == ";" or (inline and char == "}")):
            yield "code", text[start:position], first
            start = None


def without_preprocessor(text):
    """The statuses are rows of a macro: they are written out, with the text of each."""
    rows = re.findall(r"X\((\w+), (\d+), \d+, \"([^\"]*)\"\)", text)
    written = "".join(f"    CLO_{name} = {value}, /* {what} */\n" for name, value, what in rows)
    text = re.sub(r"#define (CLO_\w*LIST).*?[^\\]\n", "\n", text, flags=re.S)
    text = re.sub(r"#define X.*\n\s*CLO_\w*LIST\(X\)\n#undef X\n", lambda _: written, text)
    text = re.sub(r"#ifdef __cplusplus.*?#endif", "", text, flags=re.S)
    text = re.sub(r"#if defined\(__GNUC__\).*?#endif", "", text, flags=re.S)
    text = re.sub(r"^#define (CLO_\w+) (\w+)$", r"enum { \1 = \2 };", text, flags=re.M)
    return re.sub(r"^#.*$", "", text, flags=re.M)


def names_of(code):
    """What a declaration declares."""
    code = re.sub(r"/\*.*?\*/", " ", code, flags=re.S)
    if code.startswith("typedef"):
        pointer = re.match(r"typedef \w+ (clo_\w+)\(", code)
        return [pointer.group(1) if pointer else re.findall(r"\w+", code)[-1]]
    if code.startswith("struct"):
        return [re.match(r"struct (\w+)", code).group(1)]
    if code.startswith("enum"):
        return re.findall(r"\b(CLO_\w+) =", code)
    return [re.search(r"(\w+)\(", ATTRIBUTES.sub("", code)).group(1)]


def prototype(code):
    """A function as its caller sees it, on as few lines as fit."""
    code = re.sub(r"/\*.*?\*/", " ", ATTRIBUTES.sub("", code), flags=re.S)
    code = re.sub(r"\s+", " ", code.split("{")[0].rstrip(" ;\n")) + ";"
    return textwrap.wrap(code, WIDTH, subsequent_indent="    ")


def is_function(code):
    return not code.startswith(("typedef", "enum", "struct"))


class Entry:
    """Declarations that one comment is about."""

    def __init__(self, comment):
        self.comment, self.codes = comment, []

    def page(self):
        out = [".TP", ".B " + escape(", ".join(n for c in self.codes for n in names_of(c)))]
        out += described(self.comment)[1:]
        for code in self.codes:
            if not is_function(code) and "{" in code:
                out += [".IP", ".nf", *(escape(line) for line in code.splitlines()), ".fi"]
        return [".IP" if line == ".PP" else line for line in out]


def entries(text):
    """The introduction of the header, and what it declares."""
    source = without_preprocessor(text)
    rows = source.splitlines()
    found, intro, current, end = [], None, None, 0  # end: the line of what came before
    for kind, piece, line in pieces(source):
        apart = any(not row.strip() for row in rows[end:line - 1])
        if kind == "code":
            if current is None or (apart and current.codes):
                current = Entry([])
            if not current.codes:
                found.append(current)
            current.codes.append(piece)
        elif intro is None:
            intro = comment_lines(piece)
        elif piece.startswith("/* ---- "):  # the head of a section is about no declaration
            current = None
        elif line == end and current.codes[1:]:  # behind one of several: about that one
            found.append(Entry(comment_lines(piece)))
            found[-1].codes.append(current.codes.pop())
        elif line == end:
            current.comment = [*current.comment, "", *comment_lines(piece)]
        else:
            current = Entry(comment_lines(piece))
        end = line + piece.count("\n")
    return intro or [], found


def page(version, header):
    intro, found = entries(header.read_text(encoding="utf-8"))
    stem = header.stem
    title = "cloister" if stem == "cloister" else f"cloister_{stem}"
    opening = re.sub(r"^\w+\.h - ", "", intro[0])
    intro = [opening[:1].upper() + opening[1:], *intro[1:]]
    summary = " ".join([opening, *next(paragraphs(intro))[1:]]).split(". ")[0].rstrip(".")
    functions = [c for e in found for c in e.codes if is_function(c)]
    names = [title] + [n for c in functions for n in names_of(c)]
    out = [f'.TH {title.upper()} 3 "" "cloister {version}" "Library Functions Manual"', ".SH NAME",
           *escape(textwrap.fill(", ".join(names), WIDTH)).splitlines(),
           "\\- " + escape(summary), ".SH SYNOPSIS", ".nf", f".B #include <cloister/{header.name}>"]
    for code in functions:
        out += [".PP", *(escape(line) for line in prototype(code))]
    out += [".fi", ".PP", "Link with", r".BR $(pkg\-config\ \-\-libs\ cloister) .",
            ".SH DESCRIPTION"]
    out += described(intro)[1:]
    for entry in found:
        out += entry.page()
    others = sorted(h.stem for h in header.parent.glob("*.h") if h.stem != stem)
    pages = ["cloister" if other == "cloister" else f"cloister_{other}" for other in others]
    out += [".SH SEE ALSO", ".BR cloister (1),"]
    out += [f".BR {name} (3){',' if name != pages[-1] else ''}" for name in pages]
    return "\n".join(out) + "\n"


def silent(header):
    """The names of a header that no comment is about."""
    _, found = entries(header.read_text(encoding="utf-8"))
    return [name for entry in found if not entry.comment
            for code in entry.codes for name in names_of(code)]


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip().splitlines()[-1])
    sys.stdout.write(page(sys.argv[1], Path(sys.argv[2])))
