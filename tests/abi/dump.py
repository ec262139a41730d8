#!/usr/bin/env python3
"""Compares the ABI of the library with the one kept in cloister.abi: every exported function
with its version and its types, and every public struct with the places of its fields (libabigail).
src/cloister.map has every function that the headers declare, and no other.

The dump is made of a stand-in that has each public function with an empty body, compiled with the
public headers alone: so no private type is in it, whatever file a function moves to, and no
compiler's option matters.  That the library itself has these functions with these types is the
compiler's word (it sees the same headers); that it exports them, in these versions, is checked.

usage: dump.py [--update] SOURCE_ROOT SHARED_LIBRARY
       --update writes cloister.abi anew: a change of the ABI is on purpose and named in the commit
"""
import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

KEPT = Path(__file__).resolve().parent / "cloister.abi"
sys.dont_write_bytecode = True
sys.path.insert(0, str(KEPT.parents[2] / "tools"))
import manual3  # noqa: E402  (it reads headers)

SKIPPED = 77
CHANGED = """The ABI has changed.  A new function, and a new field at the end of a struct that
begins with struct_size, harm nobody; all else breaks programs that were built before, which is a
fault where that version is out.  If it is on purpose, write it down and name it in the commit:
    tests/abi/dump.py --update {root} {library}
"""
FORM = ["--drop-undefined-syms", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs",
        "--no-elf-needed", "--no-architecture", "--no-write-default-sizes", "--no-parameter-names",
        "--type-id-style", "hash"]


def stand_in(root):
    """C that defines what the headers declare."""
    lines = ["#include <cloister/cloister.h>"]
    for header in sorted((root / "include" / "cloister").glob("*.h")):
        _, found = manual3.entries(header.read_text(encoding="utf-8"))
        for code in (code for entry in found for code in entry.codes):
            if code.startswith("CLO_API"):
                lines.append(" ".join(manual3.prototype(code)).rstrip(";") + " { for (;;) {} }")
    return "\n".join(lines) + "\n"


def dumped(root, folder, soname):
    (folder / "public.c").write_text(stand_in(root), encoding="utf-8")
    subprocess.run(["gcc", "-std=c11", "-g", "-O0", "-shared", "-fPIC", f"-I{root / 'include'}",
                    f"-Wl,--version-script={root / 'src' / 'cloister.map'},-soname={soname}",
                    "public.c", "-o", "public.so"], cwd=folder, check=True)
    result = subprocess.run(["abidw", *FORM, "public.so"], cwd=folder, stdout=subprocess.PIPE,
                            text=True, check=True)
    return result.stdout


def exported(library):
    said = subprocess.run(["nm", "-D", "--defined-only", library], stdout=subprocess.PIPE,
                          text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in said.splitlines() if " T " in line}


def listed(root):
    """The names in the symbol map."""
    return set(re.findall(r"^\s+(clo_\w+);", (root / "src" / "cloister.map").read_text(), re.M))


def soname_of(library):
    said = subprocess.run(["objdump", "-p", library], stdout=subprocess.PIPE, text=True,
                          check=True).stdout
    return re.search(r"SONAME\s+(\S+)", said).group(1)


def compared(now):
    """What abidiff says of the kept ABI and this one: its status and its words."""
    with tempfile.NamedTemporaryFile("w", suffix=".abi", encoding="utf-8") as made:
        made.write(now)
        made.flush()
        result = subprocess.run(["abidiff", "--harmless", str(KEPT), made.name],
                                stdout=subprocess.PIPE, text=True, check=False)
    return result.returncode, result.stdout


def main():
    parser = argparse.ArgumentParser(usage=__doc__.strip().split("usage: ")[1].splitlines()[0])
    parser.add_argument("--update", action="store_true")
    parser.add_argument("root", type=Path)
    parser.add_argument("library")
    arguments = parser.parse_args()
    if not shutil.which("abidw") or not shutil.which("abidiff"):
        print("abidw and abidiff are not installed (Debian: abigail-tools)")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        now = dumped(arguments.root.resolve(), Path(folder), soname_of(arguments.library))
    declared = set(re.findall(r"^.*?\b(clo_\w+)\(", stand_in(arguments.root), re.M))
    shown, in_map = exported(arguments.library), listed(arguments.root)
    for names, fault in ((declared - in_map, "are declared, and missing in src/cloister.map"),
                         (in_map - declared, "stand in src/cloister.map, and in no header"),
                         (shown ^ declared, "are either declared or exported, not both")):
        if names:
            print("these functions", fault + ":", *sorted(names))
            return 1
    if arguments.update:
        KEPT.write_text(now, encoding="utf-8")
        return 0
    status, words = compared(now)
    if status == 0:
        return 0
    print(words + CHANGED.format(root=arguments.root, library=arguments.library))
    return 1


if __name__ == "__main__":
    sys.exit(main())
