#!/usr/bin/env python3
"""Runs a command on a terminal of its own, answers its question, prints what a person would see.

usage: terminal.py ANSWER COMMAND [WORD ...]
Escape sequences are written as <...>; the exit code is the command's.
"""
import os
import pty
import re
import sys


def main():
    answer, words = sys.argv[1], sys.argv[2:]
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm"
        os.execvp(words[0], words)
    seen, asked = b"", False
    while True:
        try:
            more = os.read(terminal, 4096)
        except OSError:  # the other end is closed
            break
        if not more:
            break
        seen += more
        if not asked and b"[y/N]" in seen:
            asked = True
            os.write(terminal, answer.encode() + b"\n")
    text = seen.decode("utf-8", "replace").replace("\r\n", "\n")
    sys.stdout.write(re.sub(r"\x1b\[([0-9;]*[A-Za-z])", r"<\1>", text))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    sys.exit(main())
