#!/usr/bin/env python3
"""Runs a command on a terminal of its own, answers its question, prints what a person would see.

usage: terminal.py ANSWER COMMAND [WORD ...]
What is written over is not seen: how far a run is, is told where it takes half a second, and that
is a matter of the machine.  Other escape sequences are written as <...>; the exit code is the
command's.
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
    text = re.sub(r"[^\n]*\r\x1b\[K", "", text)
    sys.stdout.write(re.sub(r"\x1b\[([0-9;]*[A-Za-z])", r"<\1>", text))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    sys.exit(main())
