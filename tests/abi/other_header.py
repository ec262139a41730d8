#!/usr/bin/env python3
"""Writes the public headers as one file, as they are or as another version would have them.

  older   each struct that begins with struct_size is without its last field
  same    as they are
  newer   each of them has one more, `only_here`

CALLERS_FILL(X) is a row for each that callers fill, from clo_NAME_default().

A caller that was compiled with `older` stands to this library as one of today does to a library
whose structs have grown; one compiled with `newer` is from the future.

usage: other_header.py older|same|newer cloister.h OUTPUT
"""
import re
import sys
from pathlib import Path

SIZED = re.compile(r"(typedef struct (\w+) \{\n\s*size_t struct_size;)([^{}]*)(\} \2;)")
LEAST = 12  # so many of them there were when this was written
FILLED = re.compile(r"^static inline (clo_\w+) \1_default\(void\)", re.M)


def together(header, seen):
    """The text of a header and of those that it includes, each once, without comments."""
    if header in seen:
        return ""
    seen.add(header)
    text = re.sub(r"/\*.*?\*/", "", header.read_text(encoding="utf-8"), flags=re.S)
    return re.sub(r"#include <cloister/(\w+\.h)>\n",
                  lambda found: together(header.parent / found.group(1), seen), text)


def change(version, fields):
    declarations = fields.split(";")[:-1]
    if version == "older":
        declarations.pop()
    if version == "newer":
        declarations.append("\n    double only_here")
    return ";".join(declarations) + ";\n"


def main():
    version, header, output = sys.argv[1:]
    text = together(Path(header), set())
    changed, count = SIZED.subn(
        lambda found: found.group(1) + change(version, found.group(3)) + found.group(4), text)
    if count < LEAST or count != text.count("size_t struct_size;"):
        sys.exit(f"{count} structs with a struct_size were understood, "
                 f"and there are {text.count('size_t struct_size;')}")
    rows = " ".join(f"X({name})" for name in FILLED.findall(text))
    Path(output).write_text(f"{changed}#define CALLERS_FILL(X) {rows}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
