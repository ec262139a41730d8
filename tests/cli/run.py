#!/usr/bin/env python3
"""Runs the command as a user would and compares what comes out.

A group is a folder; a case is a folder in it that holds
    cmd      a POSIX shell script; 'cloister' is the command under test
    stdout   what it must print; missing: nothing
    stderr   the same for standard error
    exit     its exit code; missing: 0
In stdout and stderr {{...}} holds a regular expression, and a line that is just ... stands for any
lines.  Every case starts in an empty folder with a home of its own; the functions of words.sh are
there.  The report is in the TAP form.

usage: run.py [--update] CLOISTER GROUP_FOLDER [CASE ...]
       --update writes the expected files from what comes out; read them before you keep them
"""
import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SECONDS = 120


def environment(binary, home):
    env = {key: value for key, value in os.environ.items()
           if key in ("LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TMPDIR")}
    env.update(PATH=f"{binary.parent}:/usr/local/bin:/usr/bin:/bin", HERE=str(HERE),
               HOME=str(home), XDG_STATE_HOME=str(home / "state"),
               XDG_CONFIG_HOME=str(home / "config"), LC_ALL="C", TZ="UTC", OMP_NUM_THREADS="2")
    return env


def run(binary, case):
    """(stdout, stderr, exit code) of the case's script."""
    with tempfile.TemporaryDirectory(prefix="cloister-") as folder:
        home, here = Path(folder) / "home", Path(folder) / "here"
        home.mkdir()
        here.mkdir()
        script = f'. "{HERE / "words.sh"}"\n. "{case / "cmd"}"\n'
        done = subprocess.run(["sh", "-c", script], cwd=here, env=environment(binary, home),
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)
        texts = [out.decode("utf-8", "replace").replace(folder, "FOLDER")
                 for out in (done.stdout, done.stderr)]
        return texts[0], texts[1], done.returncode


def pattern(expected):
    """The expected text as one regular expression."""
    parts = []
    for line in expected.splitlines(keepends=True):
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
            continue
        for i, piece in enumerate(re.split(r"\{\{(.*?)\}\}", line)):
            parts.append(f"(?:{piece})" if i % 2 else re.escape(piece))
    return re.compile("".join(parts))


def expected_of(case, name):
    path = case / name
    return path.read_text(encoding="utf-8") if path.exists() else ""


def differences(case, name, actual):
    expected = expected_of(case, name)
    if pattern(expected).fullmatch(actual):
        return []
    return list(difflib.unified_diff(expected.splitlines(), actual.splitlines(),
                                     f"expected {name}", f"actual {name}", lineterm=""))


def check(binary, case):
    """The lines that say what is wrong; none: it is right."""
    try:
        out, err, code = run(binary, case)
    except subprocess.TimeoutExpired:
        return [f"did not end within {SECONDS} seconds"]
    wanted = int(expected_of(case, "exit").strip() or 0)
    wrong = [] if code == wanted else [f"exit code {code}, expected {wanted}"]
    return wrong + differences(case, "stdout", out) + differences(case, "stderr", err)


def update(binary, case):
    """Writes the files that do not already fit."""
    out, err, code = run(binary, case)
    for name, text in (("stdout", out), ("stderr", err), ("exit", f"{code}\n" if code else "")):
        path = case / name
        fits = name != "exit" and pattern(expected_of(case, name)).fullmatch(text)
        if fits:
            continue
        if text:
            path.write_text(text, encoding="utf-8")
        elif path.exists():
            path.unlink()


def main():
    arguments = [word for word in sys.argv[1:] if word != "--update"]
    if len(arguments) < 2:
        sys.exit(__doc__.strip())
    binary, group = Path(arguments[0]).resolve(), Path(arguments[1]).resolve()
    cases = sorted(path.parent for path in group.glob("*/cmd"))
    if arguments[2:]:
        cases = [case for case in cases if case.name in arguments[2:]]
    print(f"1..{len(cases)}")
    failed = 0
    for number, case in enumerate(cases, 1):
        if "--update" in sys.argv:
            update(binary, case)
        wrong = check(binary, case)
        failed += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {number} - {case.name.replace('_', ' ')}")
        for line in wrong:
            print(f"# {line}")
        sys.stdout.flush()
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
