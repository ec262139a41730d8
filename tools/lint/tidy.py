#!/usr/bin/env python3
"""Faults in the C of the library and the commands that a compiler lets pass: clang-tidy with the
checks of .clang-tidy, all of which look at one expression or statement at a time, so that all files
take some 15 seconds of a core.  Another clang-tidy than Debian 12's is not asked.

usage: tidy.py SOURCE_ROOT BUILD_FOLDER
"""
import json
import re
import subprocess
from pathlib import Path

import common

FOLDERS = ["src", "cli", "mpi"]


def compiled(root, build):
    """The files of FOLDERS that the build compiles, each once."""
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    paths = {(Path(command["directory"]) / command["file"]).resolve() for command in commands}
    folders = {root / folder for folder in FOLDERS}
    return sorted(path for path in paths if folders & set(path.parents))


def check(root, build):
    if not common.is_of_debian_12("clang-tidy"):
        return
    paths = compiled(root, Path(build))
    if not paths:
        yield root, "the build compiles no file of src, cli or mpi"
        return
    said = subprocess.run(["clang-tidy", "--quiet", f"--config-file={root / '.clang-tidy'}",
                           "-p", build, *map(str, paths)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    found = re.findall(r"^(\S+?:\d+):\d+: (?:warning|error): (.*)$", said.stdout, re.M)
    for place, sentence in sorted(set(found)):
        path, line = place.rsplit(":", 1)
        yield (Path(build) / path).resolve(), f"line {line}: {sentence}"
    if said.returncode and not found:
        yield root, f"clang-tidy failed: {said.stderr.strip().splitlines()[-1:]}"


if __name__ == "__main__":
    common.main(check)
