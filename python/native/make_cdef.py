#!/usr/bin/env python3
"""Turns the public headers into what cffi reads: declarations alone.

cffi checks each of them against the headers again when it compiles the module, so that nothing is
written down a second time and a change of a header needs no change here.

usage: make_cdef.py INCLUDE_FOLDER CALLBACKS OUTPUT COMPILER...
"""
import re
import subprocess
import sys
from pathlib import Path


def in_order(folder, name, seen):
    """The texts of a header and, before it, of those of ours that it includes."""
    if name in seen:
        return []
    seen.add(name)
    text = (folder / "cloister" / name).read_text(encoding="utf-8")
    found = []
    for other in re.findall(r"^#include <cloister/([a-z_]+\.h)>", text, re.M):
        found += in_order(folder, other, seen)
    return found + [re.sub(r"^#include .*$", "", text, flags=re.M)]


def declarations(folder, compiler):
    text = "\n".join(in_order(folder, "cloister.h", set()))
    text = re.sub(r"^#define CLO_(API|CHECK)\b.*$", "", text, flags=re.M)
    command = [*compiler, "-E", "-P", "-DCLO_API=", "-DCLO_CHECK=", "-U__cplusplus", "-x", "c", "-"]
    plain = subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True,
                           check=True).stdout
    # Functions that are compiled into their caller: of Python there is none.
    return re.sub(r"^static inline [^{;]*\{.*?^\}", "", plain, flags=re.M | re.S)


def main():
    folder, callbacks, output, *compiler = sys.argv[1:]
    text = declarations(Path(folder), compiler)
    text += "\n#define CLO_NO_CLUSTER ...\n" + Path(callbacks).read_text(encoding="utf-8")
    Path(output).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
