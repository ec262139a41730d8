#!/usr/bin/env python3
"""Runs what a page tells its reader to type, and holds the page to what comes out.

Of a Markdown page, in order: a block ```c or ```python is written to the file that its first line
names; of a block ```console each line that starts with `$ ` is run in a fresh folder, with the
built command in the PATH, and the lines below it must be what a reader sees on a terminal (stdout
and stderr, in order).  A `…` stands for anything: on a line of its own for any number of lines,
within a line for any text.

usage: run_console.py BUILD_FOLDER PAGE
"""
import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def blocks(page):
    """(language, lines) of each fenced block that has a language."""
    language, lines = None, []
    for line in page.read_text(encoding="utf-8").splitlines():
        fence = re.match(r"```(\w*)\s*$", line)
        if not fence:
            if language is not None:
                lines.append(line)
        elif language is None:
            language, lines = fence.group(1), []
        else:
            yield language, lines
            language = None


def commands(lines):
    """(command, expected lines) of a console block; a command may go on after a backslash."""
    found = []
    for line in lines:
        if line.startswith("$ "):
            found.append([line[2:], []])
        elif found and found[-1][0].endswith("\\"):
            found[-1][0] = found[-1][0][:-1] + line.strip()
        elif found:
            found[-1][1].append(line)
        else:
            raise SystemExit(f"a console block starts without a command: {line}")
    return found


def pattern(expected):
    """The regular expression that the page's lines stand for."""
    parts = []
    for line in expected:
        if line.strip() == "…":
            parts.append(r"(?:.*\n)*?")
        else:
            pieces = [re.escape(piece) for piece in line.rstrip().split("…")]
            parts.append(".*".join(pieces) + r"\s*\n")
    return "".join(parts)


def environment(build, folder):
    paths = {"PATH": build / "cli", "LD_LIBRARY_PATH": build,
             "PKG_CONFIG_PATH": build / "meson-uninstalled"}
    joined = {name: os.pathsep.join(filter(None, [str(path), os.environ.get(name, "")]))
              for name, path in paths.items()}
    return {**os.environ, **joined, "HOME": str(folder), "NO_COLOR": "1", "COLUMNS": "80",
            "TERM": "dumb",
            "XDG_STATE_HOME": str(folder / "state"), "XDG_CONFIG_HOME": str(folder / "config")}


def on_a_terminal(command, folder, variables):
    """(exit status, what appeared on the terminal)"""
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, shell=True, cwd=folder, env=variables, stdout=theirs,
                          stderr=theirs, stdin=subprocess.DEVNULL) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # how Linux says that nobody has the other end open any more
                break
            if not piece:
                break
            shown += piece
    os.close(ours)
    return process.returncode, shown.decode(errors="replace").replace("\r\n", "\n")


def run(command, expected, folder, variables):
    """None where it went as the page says, else what was wrong."""
    code, shown = on_a_terminal(command, folder, variables)
    if code:
        return f"ended with {code}:\n{shown}"
    if not re.fullmatch(pattern(expected), shown):
        wanted = "\n".join(expected)
        return f"printed\n{shown}where the page has\n{wanted}"
    return None


def main():
    build, page = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    steps = []
    for language, lines in blocks(page):
        if language in ("c", "python"):
            name = re.match(r"(?:/\*|#) (\S+) -", lines[0]).group(1)
            steps.append((name, "\n".join(lines) + "\n"))
        elif language == "console":
            steps += commands(lines)
    listed = [step for step in steps if isinstance(step[1], list)]
    if not listed:
        raise SystemExit(f"{page} has no command to run")
    print(f"1..{len(listed)}", flush=True)
    number = failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        variables = environment(build, folder)
        for what, content in steps:
            if isinstance(content, str):
                (folder / what).write_text(content, encoding="utf-8")
                continue
            number += 1
            wrong = run(what, content, folder, variables)
            failed += wrong is not None
            print(f"{'not ' if wrong else ''}ok {number} - {what}", flush=True)
            if wrong:
                print(f"{what}: {wrong}", file=sys.stderr, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip().splitlines()[-1])
    sys.exit(main())
