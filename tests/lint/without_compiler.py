#!/usr/bin/env python3
"""Who lacks a compiler or a library is told what to do, by `pip install .` too, which shows what
meson says.

usage: without_compiler.py MESON      its words and all
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LACKS = {"C compiler": {"CC": "/nonexistent"},
         "OpenBLAS 0.3.21 or newer": {"PKG_CONFIG_LIBDIR": "/nonexistent"}}
#: An older version than the oldest that meson.build allows, by its file for pkg-config.
OLD = {"SQLite 3.40 or newer": ("sqlite3", "3.39.4"), "popt 1.19 or newer": ("popt", "1.18"),
       "libsodium 1.0.18 or newer": ("libsodium", "1.0.17")}


def main():
    with tempfile.TemporaryDirectory() as folder:
        return main_in(folder)


def main_in(old):
    for what, (name, version) in OLD.items():
        (Path(old) / name).mkdir()
        (Path(old) / name / f"{name}.pc").write_text(
            f"Name: {name}\nDescription: of a test\nVersion: {version}\n", encoding="utf-8")
        LACKS[what] = {"PKG_CONFIG_PATH": str(Path(old) / name)}
    print(f"1..{len(LACKS)}")
    failed = False
    for number, (what, settings) in enumerate(LACKS.items(), 1):
        with tempfile.TemporaryDirectory() as folder:
            made = subprocess.run([*sys.argv[1:], "setup", folder, str(ROOT)], check=False,
                                  capture_output=True, text=True,
                                  env={**os.environ, **settings})
        said = f"here is no {what}: `make deps` installs what building needs, and `make wheel`"
        right = made.returncode != 0 and said in made.stdout
        print(f"{'ok' if right else 'not ok'} {number} - a build without: {what}")
        failed = failed or not right
    return failed


if __name__ == "__main__":
    sys.exit(main())
