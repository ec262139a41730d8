#!/usr/bin/env python3
"""What the built library asks of the system, keeps and shows.

A library that holds other people's data does not print, does not end its caller, keeps no state of
its own, takes memory in one place, and exports its public names alone.

usage: symbols.py SOURCE_ROOT STATIC_LIBRARY SHARED_LIBRARY
"""
import re
import subprocess

import common

PRINTS_OR_ENDS = {
    "printf", "vprintf", "puts", "putchar", "perror", "stderr", "__printf_chk", "__vprintf_chk",
    "psignal", "syslog", "err", "errx", "warn", "warnx", "error",
    "exit", "_exit", "_Exit", "quick_exit", "abort", "atexit",
}
HIDDEN_STATE = {
    "rand", "srand", "random", "srandom", "drand48", "lrand48", "setlocale", "strtok", "signal",
    "sigaction", "system", "popen", "gets", "tmpnam", "setenv", "putenv", "localtime", "gmtime",
    "ctime", "asctime",
}
ALLOCATES = {"malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign", "strdup", "strndup",
             "asprintf", "vasprintf", "reallocarray"}
ALLOCATOR = "base_memory.c.o"  # the one object that may
WRITABLE = re.compile(r"^(\.data|\.bss|\.tdata|\.tbss|\*COM\*)(?!\.rel\.ro)")


def output_of(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def by_member(text):
    """Splits what nm or objdump says of an archive into (member, line)."""
    member = ""
    for line in text.splitlines():
        head = re.match(r"^(?:.*[/(:])?([^/\s():]+\.o)\)?:(?:\s+file format.*)?$", line)
        if head:
            member = head.group(1)
        elif line.strip():
            yield member, line


def check_calls(static):
    for member, line in by_member(output_of("nm", "--undefined-only", static)):
        name = line.split()[-1].split("@")[0]
        if name in PRINTS_OR_ENDS:
            yield member, f"uses {name}: a library neither prints nor ends its caller"
        elif name in HIDDEN_STATE:
            yield member, f"uses {name}, which has a state that the whole process shares"
        elif name in ALLOCATES and not member.endswith(ALLOCATOR):
            yield member, f"uses {name}: memory comes from clo_i_alloc alone"


def check_state(static):
    """Constants that hold addresses lie in .data.rel.ro and are read-only once linked."""
    for member, line in by_member(output_of("objdump", "-t", static)):
        symbol = re.match(r"^[0-9a-f]+ (.{7}) (\S+)\s+([0-9a-f]+)\s+(.*)$", line)
        if not symbol or not WRITABLE.match(symbol.group(2)) or symbol.group(1)[-1] != "O":
            continue
        yield member, f"keeps the variable {symbol.group(4).split()[-1]}: a library has no state"


def declared(root):
    """The names that the public headers promise."""
    names = set()
    for header in common.files(root, ["include"], "*.h"):
        text = re.sub(r"/\*.*?\*/", " ", header.read_text(encoding="utf-8"), flags=re.S)
        for promise in re.findall(r"^CLO_API\b([^;{]*?)\(", text, re.M):
            names.add(re.findall(r"\w+", promise)[-1])
    return names


def check_exports(root, shared):
    promised = declared(root)
    shown = [line.split() for line in output_of("nm", "-D", "--defined-only", shared).splitlines()]
    exported = {words[-1].split("@")[0] for words in shown if words[-2] != "A"}  # A: a version
    for name in sorted(exported - promised):
        yield "shared library", f"exports {name}, which no public header declares"
    for name in sorted(promised - exported):
        yield "shared library", f"does not export {name}, which a public header declares"
    for name in sorted(exported):
        if not name.startswith("clo_") or name.startswith("clo_i_"):
            yield "shared library", f"exports {name}: public names start with clo_, and not clo_i_"


def check(root, static, shared):
    return (list(check_calls(static)) + list(check_state(static))
            + list(check_exports(root, shared)))


if __name__ == "__main__":
    common.main(check)
