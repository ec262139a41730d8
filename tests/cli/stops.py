#!/usr/bin/env python3
"""A run that is killed, stopped or failed at one of its system calls, each in turn.

    stops.py [--every] [--only KIND] CLOISTER INJECT

Of all calls that `cloister run` makes, with a ledger and -o, some are taken; with CLOISTER_LONG in
the environment, or --every, each.  Whatever happens there: no release without a charge, no charge
above the cap, no release that was paid for and can be neither delivered nor fetched (a SIGKILL
excepted), no end that says nothing of what was spent, and nothing that hangs.  Prints TAP.
"""
import argparse
import concurrent.futures
import errno
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile

SIGNALS = [signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
ERRORS = [errno.EIO, errno.ENOSPC, errno.ENOMEM]
SAMPLE = 36  # calls of a kind
SECONDS = 10  # within which a run ends; it takes a tenth of one
UNDELIVERED = 10
CAP = 3


class Place:
    """A sample and a ledger, of which each run gets a copy."""

    def __init__(self, cloister, inject, folder):
        self.cloister, self.inject, self.folder = cloister, inject, folder
        self.origin = folder / "origin"
        self.origin.mkdir()
        self.call(self.origin, "generate", "mixture", "--rows", "300", "--cols", "2",
                  "--clusters", "3", "--seed", "sample", "-o", "sample.csv")
        self.call(self.origin, "ledger", "init", "l.db", "--dataset", "sample.csv",
                  "--epsilon", str(CAP), "--delta", "1e-5")

    def environment(self, folder):
        # One thread: with several, which call is the n-th differs from run to run.
        return {**os.environ, "XDG_CONFIG_HOME": str(folder / "config"), "OMP_NUM_THREADS": "1",
                "CLOISTER_STARTED_AGAIN": "1"}

    def call(self, folder, *words):
        return subprocess.run([self.cloister, *words], cwd=folder, env=self.environment(folder),
                              capture_output=True, text=True, check=False, timeout=600)

    def run(self, at, what):
        """One run, and what is wrong with how it ended."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        shutil.copytree(self.origin, folder, dirs_exist_ok=True)
        words = [self.inject, "report", str(SECONDS), str(at), str(what), self.cloister, "run",
                 "kmeans/grid", "sample.csv", "--clusters", "3", "--epsilon", "1", "--norm", "2",
                 "--ledger", "l.db", "-q", "-o", "out.json", "--token", "t"]
        made = subprocess.run(words, cwd=folder, env=self.environment(folder), check=False,
                              capture_output=True, text=True, errors="replace",
                              timeout=600)
        calls, number, code, late = map(int, (folder / "report").read_text().split())
        end = End(self, folder, what, code, late, made.stderr)
        shutil.rmtree(folder)
        return calls, number, end


class End:
    """How a run ended, and what it left."""

    def __init__(self, place, folder, what, code, late, said):
        self.code, self.said = code, said
        self.release = self.read(folder / "out.json")
        with sqlite3.connect(folder / "l.db") as ledger:
            self.charges = ledger.execute("SELECT count(*) FROM charge").fetchone()[0]
            self.stored = ledger.execute("SELECT count(*) FROM result").fetchone()[0]
        ledger.close()
        self.faults = list(self.find(place, folder, what, late))

    @staticmethod
    def read(path):
        return json.loads(path.read_text()) if path.exists() else None

    def find(self, place, folder, what, late):
        killed = what == signal.SIGKILL
        if late:
            yield "hangs"
        if self.release and not self.charges:
            yield "uncharged"
        if self.charges > 1:
            yield "charged twice"
        if self.code == 0 and not self.release:
            yield "lost"
        ends = [0, 128 + what] if self.charges else [0, 128 + what, -what]
        if what > 0 and not killed and self.code not in ends:
            yield "another exit code"
        if self.charges and not self.release and not killed and not late:
            yield from self.find_loss(place, folder)
        verified = place.call(folder, "ledger", "verify", "l.db")
        if verified.returncode != 0:
            yield "unsound: " + verified.stderr.strip()

    def find_loss(self, place, folder):
        """Charged, and no file: the release can be fetched, or there is none, which is said."""
        if self.stored:
            fetched = place.call(folder, "ledger", "fetch", "l.db", "--token", "t")
            if fetched.returncode != 0:
                yield "lost"
        elif self.code == UNDELIVERED or self.code <= 0:
            yield "lost"
        elif not self.said.strip():
            yield "silent"


def name_of(what):
    return signal.Signals(what).name if what > 0 else errno.errorcode[-what]


def sweep(place, what, points, workers):
    """What all points of a kind came to, and the faults among them."""
    counts = {"charged": 0, "released": 0, "charged, no release": 0}
    faults = []
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for at, (_, number, end) in zip(points, pool.map(lambda at: place.run(at, what), points)):
            counts["charged"] += end.charges > 0
            counts["released"] += end.release is not None or end.stored > 0
            counts["charged, no release"] += bool(end.charges and not end.release
                                                  and not end.stored)
            for fault in end.faults:
                faults.append(f"{name_of(what)} at call {at} (number {number}), exit code "
                              f"{end.code}: {fault}: {end.said.strip()}")
    return counts, faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--only", help="SIGINT, EIO, ...")
    parser.add_argument("cloister", type=os.path.abspath)
    parser.add_argument("inject", type=os.path.abspath)
    given = parser.parse_args()
    every = given.every or bool(os.environ.get("CLOISTER_LONG"))
    if subprocess.run([given.inject], check=False).returncode == 77:
        print("1..0 # SKIP calls of the system are injected on x86-64 only")
        return 0
    kinds = [int(s) for s in SIGNALS] + [-number for number in ERRORS]
    kinds = [kind for kind in kinds if given.only in (None, name_of(kind))]
    for caught in SIGNALS[1:]:  # a program in the background may be told to ignore some
        signal.signal(caught, signal.SIG_DFL)
    with tempfile.TemporaryDirectory(prefix="cloister-stops-") as name:
        place = Place(given.cloister, given.inject, pathlib.Path(name))
        calls, _, end = place.run(0, 0)
        right = end.code == 0 and end.release and end.stored
        print(f"1..{len(kinds) + 1}")
        print(f"{'ok' if right else 'not ok'} 1 - a run that nobody disturbs: {calls} calls")
        failed = not right
        for i, what in enumerate(kinds):
            # What comes before the ledger is opened is many calls and one case.
            step = 1 if every else max(1, calls // SAMPLE)
            points = range(1 + i * step // len(kinds), calls + 1, step)
            counts, faults = sweep(place, what, points, 2 if every else 1)
            told = ", ".join(f"{count} {name}" for name, count in counts.items())
            print(f"{'not ok' if faults else 'ok'} {i + 2} - {name_of(what)} at {len(points)} of "
                  f"{calls} calls: {told}; {len(faults)} faults")
            for fault in faults[:200 if every else 20]:
                print(f"# {fault}")
            sys.stdout.flush()
            failed = failed or bool(faults)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
