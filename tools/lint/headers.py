#!/usr/bin/env python3
"""Every header compiles by itself: the public ones as C11, C17 and C++17 without a warning, the
internal ones as the library is compiled.  Each public declaration has a comment that is about it.
No function gives a struct that may grow by value, since a library that is newer than its caller
would then write past the caller's; cloister.h lists the structs that never grow; and job.h tells of
every setting and its choices.

usage: headers.py [SOURCE_ROOT]
"""
import re
import subprocess
import sys
from pathlib import Path

import common

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import manual3  # noqa: E402  (it lies one folder up)

STRICT = ["-fsyntax-only", "-Wall", "-Wextra", "-pedantic", "-Werror"]
PUBLIC = [
    ["gcc", "-std=c11", "-xc", *STRICT],
    ["gcc", "-std=c17", "-xc", *STRICT],
    ["clang", "-std=c11", "-xc", *STRICT],
    ["g++", "-std=c++17", "-xc++", *STRICT],
    ["clang++", "-std=c++17", "-xc++", *STRICT],
]
INTERNAL = [["gcc", "-std=gnu11", "-xc", "-fopenmp", "-D_GNU_SOURCE", "-fsyntax-only", "-Wall",
             "-Wextra", "-Werror", "-Wno-unused-parameter"]]


def compiles(command, folders, header):
    """Includes the header twice: it must also guard itself."""
    program = f'#include "{header}"\n#include "{header}"\nint nothing;\n'
    paths = [f"-I{folder}" for folder in folders]
    result = subprocess.run([*command, *paths, "-"], input=program, text=True,
                            stderr=subprocess.PIPE, check=False)
    return None if result.returncode == 0 else result.stderr.strip().splitlines()[-5:]


STRUCT = re.compile(r"typedef struct (clo_\w+) \{\n\s*(size_t struct_size;)?")
GIVEN = re.compile(r"^CLO_API (?:CLO_CHECK )?(clo_\w+) (clo_\w+)\(", re.M)
FROZEN = re.compile(r"All other structs are frozen: they never change \(([^)]*)\)")
SETTING = re.compile(r'^    \{ "([\w-]+)", (?:NULL|"([^"]*)") \},$', re.M)


def growing(root):
    """What is wrong about structs that may grow, and about the list of those that may not."""
    findings, sized, frozen = [], set(), set()
    texts = {path: path.read_text(encoding="utf-8")
             for path in common.files(root, ["include"], "*.h")}
    for text in texts.values():
        for name, size in STRUCT.findall(text):
            (sized if size else frozen).add(name)
    for path, text in texts.items():
        findings += [(path, f"{function} gives a {kind} by value, which may grow: let {kind}_init "
                            "fill the caller's, inside an inline function")
                     for kind, function in GIVEN.findall(text) if kind in sized]
    front = root / "include" / "cloister" / "cloister.h"
    if front in texts:
        listed = FROZEN.search(texts[front].replace("\n *", ""))
        told = set(re.findall(r"clo_\w+", listed.group(1))) if listed else set()
        findings += [(front, f"{name} is frozen in one of list and header alone")
                     for name in sorted(told ^ frozen)]
    return findings


def settings(root):
    """Settings of a job that job.h does not tell of, or not with all that they may be."""
    table, header = root / "src/job/settings.c", root / "include/cloister/job.h"
    if not table.exists():
        return []
    told = header.read_text(encoding="utf-8")
    words = set(re.findall(r"[\w-]+", told[told.index("Settings are texts"):]))
    findings = []
    for name, choices in SETTING.findall(table.read_text(encoding="utf-8")):
        wanted = [name, *(word for word in choices.split("|") if re.fullmatch(r"[\w-]+", word))]
        findings += [(header, f"does not tell of '{word}' of the setting '{name}'")
                     for word in wanted if word not in words]
    return findings


def check(root):
    findings = growing(root) + settings(root)
    folders = [root / "include", root / "src"]
    for folder, commands in (("include", PUBLIC), ("src", INTERNAL)):
        for path in common.files(root, [folder], "*.h"):
            for command in commands:
                said = compiles(command, folders, path)
                if said:
                    sentence = f"does not compile alone with {' '.join(command[:2])}:"
                    findings.append((path, "\n    ".join([sentence, *said])))
    for path in common.files(root, ["include"], "*.h"):
        findings += [(path, f"{name} has no comment: what it does, who owns what, when it fails")
                     for name in manual3.silent(path)]
    return findings


if __name__ == "__main__":
    common.main(check)
