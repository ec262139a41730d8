#!/usr/bin/env python3
"""Every header compiles by itself: the public ones as C11, C17 and C++17 without a warning, the
internal ones as the library is compiled.  Each public declaration has a comment that is about it.

usage: headers.py [SOURCE_ROOT]
"""
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
INTERNAL = [["gcc", "-std=gnu11", "-xc", "-D_GNU_SOURCE", "-fsyntax-only", "-Wall", "-Wextra",
             "-Werror", "-Wno-unused-parameter"]]


def compiles(command, folders, header):
    """Includes the header twice: it must also guard itself."""
    program = f'#include "{header}"\n#include "{header}"\nint nothing;\n'
    paths = [f"-I{folder}" for folder in folders]
    result = subprocess.run([*command, *paths, "-"], input=program, text=True,
                            stderr=subprocess.PIPE, check=False)
    return None if result.returncode == 0 else result.stderr.strip().splitlines()[-5:]


def check(root):
    findings = []
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
