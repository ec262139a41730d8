#!/usr/bin/env python3
"""Shell scripts by shellcheck, Python scripts by the compiler.

usage: scripts.py [SOURCE_ROOT]
"""
import re
import subprocess

import common


def is_shell(path):
    with open(path, "rb") as file:
        return re.match(rb"#!.*\b(sh|bash)\b", file.readline()) is not None


def output_of(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            check=False)
    said = result.stdout.splitlines() if result.returncode else []
    return [line for line in said if line.strip()]


def check_shell(root):
    paths = [p for p in common.files(root, ["tools", "tests", ".ci", "bench"], "*") if is_shell(p)]
    for path in paths:
        for line in output_of("shellcheck", "-f", "gcc", str(path)):
            yield path, line.split(":", 1)[1]


def check_python(root):
    for path in common.files(root, ["tools", "tests", "bench", "python"], "*.py"):
        try:
            compile(path.read_text(encoding="utf-8"), str(path), "exec")
        except SyntaxError as error:
            yield path, f"line {error.lineno}: {error.msg}"


def check(root):
    return list(check_shell(root)) + list(check_python(root))


if __name__ == "__main__":
    common.main(check)
