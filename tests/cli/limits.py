#!/usr/bin/env python3
"""Limits end a command at once; a run that has paid asks the system for nothing.

OpenBLAS tries a refused mapping again without end, and a run that lacks memory after its charge has
spent for nothing.  So under every limit the command and a run must end in time, with a release or
uncharged; and between the commit of the charge and the release being stored there must be no call
that could be refused: no memory, no thread, no random bytes.

usage: limits.py CLOISTER
"""
import json
import os
import random
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

SECONDS = 10           # in which a command must have ended
STEPS = range(50, 2050, 50)  # MB
UNLOADED = 127         # the loader itself had no room for the libraries
NO_MEMORY = 8
LEDGER = 6
NOBODY = 61234         # a user who has no processes
KIB = 1024
NORM = ["--epsilon", "1", "--norm", "1", "--clusters", "2"]
REFUSABLE = re.compile(r"\b(mmap|brk|getrandom|clone3?|mremap)\(")


class Failed(Exception):
    pass


class Shell:
    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        self.env = {**os.environ, "XDG_CONFIG_HOME": str(folder / "config"),
                    "XDG_STATE_HOME": str(folder / "state"), "LC_ALL": "C"}
        draw = random.Random(1)
        rows = ["%f,%f,%f" % tuple(draw.uniform(0, .5) for _ in range(3)) for _ in range(2000)]
        (folder / "d.csv").write_text("\n".join(["a,b,c", *rows]) + "\n")
        self.must("ledger", "init", "l.db", "--dataset", "d.csv", "--epsilon", "1000",
                  "--delta", "0.01")

    def __call__(self, *words, megabytes=None, before=(), limits=()):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            if megabytes:
                resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
            for kind, value in limits:
                resource.setrlimit(kind, (value, value))
                if kind == resource.RLIMIT_NPROC and os.geteuid() == 0:
                    os.setresuid(NOBODY, NOBODY, NOBODY)  # root has as many as it likes
        try:
            return subprocess.run([*before, self.binary, *words], cwd=self.folder, env=self.env,
                                  capture_output=True, text=True, timeout=SECONDS,
                                  preexec_fn=limit)
        except subprocess.TimeoutExpired:
            raise Failed(f"{' '.join(words)} with {megabytes} MB has not ended") from None

    def must(self, *words, **how):
        done = self(*words, **how)
        if done.returncode:
            raise Failed(f"{' '.join(words)}: {done.returncode}: {done.stderr}")
        return done

    def charges(self):
        return len(json.loads(self.must("ledger", "history", "l.db", "--json").stdout)["charges"])

    def run(self, *words, **how):
        return self("run", *words, "--ledger", "l.db", "-o", "o.json", "--overwrite", **how)


def ended_well(done, megabytes, what):
    """Done, or refused in one sentence."""
    if done.returncode not in (0, NO_MEMORY, UNLOADED):
        raise Failed(f"{what} with {megabytes} MB: {done.returncode}: {done.stderr}")
    if done.returncode == NO_MEMORY and ("memory" not in done.stderr
                                         and "address space" not in done.stderr):
        raise Failed(f"{what} with {megabytes} MB does not say why: {done.stderr}")
    return done.returncode == 0


def every_limit_ends_a_run_at_once_charged_only_with_a_release(shell):
    released = 0
    for megabytes in STEPS:
        ended_well(shell("--version", megabytes=megabytes), megabytes, "--version")
        done = shell.run("kmeans/lloyd", "d.csv", *NORM, megabytes=megabytes)
        there = (shell.folder / "o.json").exists()
        if ended_well(done, megabytes, "run") != there:
            raise Failed(f"with {megabytes} MB: {done.returncode}, release: {there}")
        if released and not there:
            raise Failed(f"a run that fits into less is refused with {megabytes} MB")
        released += there
        (shell.folder / "o.json").unlink(missing_ok=True)
    if shell.charges() != released or not 0 < released < len(STEPS):
        raise Failed(f"{released} releases, {shell.charges()} charges")


def limits_of_files_stacks_and_threads_cost_nothing_without_a_release(shell):
    """With the limit's value, the exit codes that a run may end with."""
    files = [(resource.RLIMIT_FSIZE, KIB * size, {0, 4, LEDGER}) for size in range(0, 400, 16)]
    numbers = [(resource.RLIMIT_NOFILE, count, {0, 2, 4, LEDGER, UNLOADED}) for count in range(12)]
    stacks = [(resource.RLIMIT_STACK, KIB * size, {NO_MEMORY, UNLOADED})
              for size in (32, 64, 128, 512, 1024, 2047)]
    stacks += [(resource.RLIMIT_STACK, 2048 * KIB, {0})]
    large = [*NORM[:4], "--clusters", "500", "--rounds", "1", "--yes", "-q"]
    ends = {kind: set() for kind, _, _ in [*files, *numbers, *stacks]}
    for kind, value, codes in [*files, *numbers, *stacks]:
        before = shell.charges()
        token = f"{kind}-{value}"
        done = shell.run("kmeans/lloyd", "d.csv", *large, "--token", token, limits=[(kind, value)])
        there = shell.folder / "o.json"
        if done.returncode not in codes:
            raise Failed(f"limit {kind} at {value}: {done.returncode}: {done.stderr}")
        if shell.charges() - before != there.exists() or there.exists() != (done.returncode == 0):
            raise Failed(f"limit {kind} at {value}: {done.returncode}, release: {there.exists()}, "
                         f"charges: {shell.charges() - before}")
        ends[kind].add(there.exists())
        there.unlink(missing_ok=True)
    if any(released != {False, True} for released in ends.values()):
        raise Failed(f"a limit that ends no run, or each: {ends}")


def a_limit_of_threads_leaves_fewer(shell):
    shell.must("run", "kmeans/lloyd", "d.csv", *NORM, "--seed", "s", "--threads", "1",
               "--no-ledger", "-o", "1.json")
    os.chmod(shell.folder, 0o755)
    for count in (1, 2, 5):
        done = shell("run", "kmeans/lloyd", "d.csv", *NORM, "--seed", "s", "--threads", "8",
                     "--no-ledger", "--json", limits=[(resource.RLIMIT_NPROC, count)])
        if done.returncode or done.stdout != (shell.folder / "1.json").read_text():
            raise Failed(f"{count} threads: {done.returncode}: {done.stderr}")


def other_commands_end_at_once_too(shell):
    shell.run("kmeans/lloyd", "d.csv", *NORM)
    commands = [["solve", "kmeans", "d.csv", "--clusters", "3"], ["evaluate", "o.json", "d.csv"],
                ["assign", "o.json", "d.csv"], ["inspect", "d.csv"], ["report", "o.json"],
                ["generate", "mixture", "-o", "g.csv", "--rows", "100", "--cols", "3",
                 "--clusters", "2"],
                ["plan", "subspace", "--cols", "3", "--dim", "1", "--epsilon", "1", "--norm", "1"]]
    for megabytes in (100, 250, 300, 350, 450):
        for words in commands:
            done = shell(*words, megabytes=megabytes)
            if done.returncode == 2:
                raise Failed(f"{' '.join(words)}: {done.stderr}")
            ended_well(done, megabytes, " ".join(words))


def nothing_is_asked_of_the_system_once_a_run_has_paid(shell):
    runs = [["kmeans/lloyd", *NORM], ["kmeans/local", *NORM], ["kmeans/grid", *NORM],
            ["kmeans/aggregate", *NORM, "--accept", "idealized"], ["kmedian/local", *NORM],
            ["subspace/gaussian", "--dim", "1", "--epsilon", "1", "--norm", "1"],
            ["subspaces/moments", *NORM, "--dim", "1"]]
    for method, *words in runs:
        trace = ["strace", "-f", "-qq", "-o", "trace", "-e",
                 "trace=mmap,mremap,brk,getrandom,clone,clone3,unlink"]
        done = shell.run(method, "d.csv", *words, "--threads", "2", before=trace)
        if done.returncode:
            raise Failed(f"{method}: {done.returncode}: {done.stderr}")
        calls = (shell.folder / "trace").read_text().splitlines()
        ends = [i for i, call in enumerate(calls) if "l.db-journal" in call]
        # The last two transactions are the charge and the storing of the release.
        asked = [call for call in calls[ends[-2]:ends[-1]] if REFUSABLE.search(call)]
        if len(ends) < 2 or asked:
            raise Failed(f"{method} asks after the charge: {asked[:3]}")
        if not any(REFUSABLE.search(call) for call in calls[:ends[-2]]):
            raise Failed("nothing was traced")


def peak(shell, *words):
    """The most memory a command has held, in MB, beside what it has written."""
    child = subprocess.Popen([shell.binary, *words], cwd=shell.folder, env=shell.env,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = child.stderr.read().decode()
    _, ended, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(ended)
    if child.returncode:
        raise Failed(f"{' '.join(words)}: {child.returncode}: {said}")
    return used.ru_maxrss // 1024


def a_million_columns_take_a_few_times_what_they_are(shell):
    count = 1_000_000  # and two rows: 16 MB
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': (2, {count}), }}".ljust(117) + "\n"
    draw = random.Random(2)
    with open(shell.folder / "wide.npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        for _ in range(2):
            file.write(struct.pack(f"<{count}d", *(draw.random() / 1000 for _ in range(count))))
    charged = ["wide.npy", "--epsilon", "1", "--norm", "1", "--no-ledger", "--yes", "--threads",
               "2", "-o", "w.json", "--overwrite"]
    runs = {("inspect", "wide.npy"): 90, ("run", "bounds", *charged): 180,
            ("run", "kmeans", *charged, "--clusters", "2"): 560,
            ("run", "kmeans/lloyd", *charged, "--clusters", "2", "--rounds", "1"): 640,
            ("run", "kmeans", *charged, "--clusters", "2", "--dry-run"): 180,
            ("plan", "kmeans", "--cols", str(count), "--rows", "2", "--clusters", "2",
             "--epsilon", "1", "--norm", "1"): 90}
    for words, most in runs.items():
        took = peak(shell, *words)
        if took > most:
            raise Failed(f"{' '.join(words)} took {took} MB, more than {most}")


def what_cannot_be_had_is_said_and_refused_before_the_charge(shell):
    cols = 20_000
    rows = [",".join(["0.0001"] * cols)] * 2
    (shell.folder / "w.csv").write_text("\n".join(rows) + "\n")
    shell.must("ledger", "init", "l.db", "--dataset", "w.csv", "--epsilon", "9", "--delta", "0.01")
    many = ["--epsilon", "1", "--norm", "1", "--clusters", "1024", "--threads", "1"]
    before = shell.charges()
    done = shell("run", "kmeans/lloyd", "w.csv", *many, "--ledger", "l.db", "--yes", "-o", "w.json",
                 megabytes=900)
    said = re.search(r"this run needs ([0-9.]+) GiB of memory besides its rows, and ([0-9.]+) GiB "
                     r"are free: use fewer columns, clusters or threads; nothing was spent",
                     done.stderr)
    if done.returncode != NO_MEMORY or not said or float(said[1]) <= float(said[2]):
        raise Failed(f"not refused in these words: {done.returncode}: {done.stderr}")
    if shell.charges() != before or (shell.folder / "w.json").exists():
        raise Failed("it was charged")
    plan = ["plan", "kmeans/lloyd", "--rows", "2", *many[:-2], "--cols"]
    large = shell.must(*plan, "1000000").stdout
    if not re.search(r"^  memory      about [0-9.]+ GiB, beside the rows$", large, re.M):
        raise Failed(f"a plan does not say what it takes: {large}")
    if "memory" in shell.must(*plan, "100").stdout:
        raise Failed("a plan speaks of memory where it is little")
    dry = shell("run", "kmeans/lloyd", "w.csv", *many, "--ledger", "l.db", "--yes", "--dry-run")
    if not re.search("  memory      about [0-9.]+ GiB, beside the rows", dry.stdout):
        raise Failed(f"a dry run does not say what it takes: {dry.stdout}")


CASES = [what_cannot_be_had_is_said_and_refused_before_the_charge,
         a_million_columns_take_a_few_times_what_they_are,
         every_limit_ends_a_run_at_once_charged_only_with_a_release,
         limits_of_files_stacks_and_threads_cost_nothing_without_a_release,
         a_limit_of_threads_leaves_fewer,
         other_commands_end_at_once_too,
         nothing_is_asked_of_the_system_once_a_run_has_paid]


def main():
    failed = 0
    print(f"1..{len(CASES)}", flush=True)
    for number, check in enumerate(CASES, 1):
        title = check.__name__.replace("_", " ")
        with tempfile.TemporaryDirectory(prefix="cloister-") as folder:
            try:
                check(Shell(str(Path(sys.argv[1]).resolve()), Path(folder)))
                print(f"ok {number} - {title}", flush=True)
            except Failed as failure:
                failed += 1
                print(f"not ok {number} - {title}", flush=True)
                print(f"{title}: {failure}", file=sys.stderr, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip().splitlines()[-1])
    sys.exit(main())
