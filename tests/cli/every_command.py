#!/usr/bin/env python3
"""Every command under what an operator's machine may do to it.

    every_command.py CLOISTER

Output that cannot be written, standard streams that are closed, inputs that never come and a signal
while they are waited for, limits of the system: a command ends soon, by no signal but the one it
was sent, says why it failed, charges nothing without a release, and leaves the ledger whole.  With
CLOISTER_LONG in the environment every command meets every signal and limit; else they take turns.
Prints TAP.
"""
import itertools
import json
import os
import pathlib
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile

LONG = bool(os.environ.get("CLOISTER_LONG"))
SECONDS = 60  # for what hangs
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM,
           signal.SIGXCPU, signal.SIGPIPE, signal.SIGUSR1, signal.SIGPROF, signal.SIGVTALRM]
LIMITS = [(resource.RLIMIT_AS, 80 << 20), (resource.RLIMIT_AS, 300 << 20),
          (resource.RLIMIT_NOFILE, 4), (resource.RLIMIT_NOFILE, 7), (resource.RLIMIT_NOFILE, 12),
          (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_FSIZE, 4096),
          (resource.RLIMIT_STACK, 64 << 10), (resource.RLIMIT_DATA, 1 << 20),
          (resource.RLIMIT_DATA, 20 << 20), (resource.RLIMIT_MEMLOCK, 0)]
UNLOADED, UNDELIVERED = 127, 10  # the loader itself had no room
REFUSED = 6  # a ledger that is no ordinary file
RUN = "--clusters 3 --epsilon 1 --ledger l.db -q --token u -o out"
COMMANDS = [
    f"run kmeans/grid d.csv --norm 2 {RUN}", f"run kmeans/grid d.csv --bounds bounds.csv {RUN}",
    "plan kmeans/grid --cols 2 --rows 300 --clusters 3 --epsilon 1 --norm 2",
    "bounds d.csv --epsilon 2 --norm 9 --of columns --ledger l.db -q", "report r.json",
    "cut r.json --clusters 2", "methods", "ledger show l.db", "ledger history l.db",
    "ledger fetch l.db --token t", "ledger check r.json l.db",
    "ledger check export.json --key k.pub", "ledger verify l.db", "ledger report l.db",
    "ledger export l.db", "ledger key l.db", "ledger acts l.db",
    "ledger lower l.db --dataset d.csv --epsilon 4 --note x", "ledger backup l.db -o n.db",
    "ledger init new.db --dataset a --epsilon 1", "ledger move --code",
    "ledger adopt l.db --dataset d.csv --epsilon 0.1 --note x",
    "ledger restore q.db --from b.db --note x --dry-run", "ledger rekey l.db --note x",
    "serve --policy policy --check", "inspect d.csv", "assign r.json d.csv",
    "evaluate r.json d.csv", "solve kmeans d.csv --clusters 2 --seed s -q",
    "solve kmeans d.csv --clusters 2 --start s.json -q",
    "generate mixture --rows 300 --cols 2 --clusters 3 --seed s",
    "generate --from r.json --rows 100 --seed s",
    "sweep d.csv kmeans/grid:clusters=2 --epsilon 1 --norm 2 --seeds 1",
    "audit kmeans/lloyd --epsilon 1 --trials 100 -q", "draw c.json", "version",
    "completion bash", "help run"]


class Place:
    """Files for all of them, of which each command gets a copy at one place."""

    def __init__(self, cloister, folder):
        self.cloister, self.here, self.origin = cloister, folder / "here", folder / "origin"
        self.here.mkdir()
        self.environment = {**os.environ, "XDG_CONFIG_HOME": str(self.here / "config"),
                            "XDG_STATE_HOME": str(self.here / "state"), "OMP_NUM_THREADS": "1"}
        for words in ("generate mixture --rows 300 --cols 2 --clusters 3 --seed s -o d.csv",
                      "ledger init l.db --dataset d.csv --epsilon 5 --delta 1e-4",
                      "run kmeans/density d.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db -q "
                      "-o r.json --token t", "ledger backup l.db -o b.db",
                      "solve kmeans d.csv --clusters 2 --seed s -q -o s.json"):
            self.call(words, check=True)
        curve = {"name": "z", "x": [1, 2], "y": [1, 2]}
        panel = {"name": "a", "title": "A", "x": {"name": "x"}, "y": {"name": "y"},
                 "curves": [curve]}
        policy = (f"[broker]\nledger = {self.here}/l.db\n[dataset d.csv]\ndata = {self.here}/d.csv"
                  "\nfamilies = kmeans\nnorm = 2\ncols = 2\n[analyst somebody]\nd.csv = 1:1e-5\n")
        texts = {"bounds.csv": "-2,2\n-2,2\n", "k.pub": self.call("ledger key l.db").stdout,
                 "export.json": self.call("ledger export l.db").stdout, "policy": policy,
                 "c.json": json.dumps({"schema": "cloister.curves/1", "panels": [panel]})}
        for name, text in texts.items():
            (self.here / name).write_text(text)
            (self.here / name).chmod(0o600)
        self.here.rename(self.origin)

    def renew(self):
        shutil.rmtree(self.here, ignore_errors=True)
        shutil.copytree(self.origin, self.here)

    def start(self, words, **how):
        given = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                 "stderr": subprocess.PIPE, **how}
        return subprocess.Popen([self.cloister, *words.split()], cwd=self.here, text=True,
                                env=self.environment, errors="replace", **given)

    def call(self, words, check=False, **how):
        process = self.start(words, **how)
        out, said = process.communicate(timeout=SECONDS)
        if check and process.returncode:
            raise RuntimeError(f"{words}: {said}")
        return subprocess.CompletedProcess(words, process.returncode, out or "", said or "")

    def charges(self):
        with sqlite3.connect(self.here / "l.db") as ledger:
            return ledger.execute("SELECT count(*) FROM charge").fetchone()[0]

    def is_whole(self):
        """What is wrong afterwards, whatever the command was."""
        verified = self.call("ledger verify l.db")
        if verified.returncode:
            yield f"unsound: {verified.stderr.strip()}"
        for left in self.here.rglob("*cloister-part*"):
            yield f"left {left.name}"

    def attempt(self, words, what, fails=False, code=lambda code: code >= 0, said=True, **how):
        """One call, and what is wrong with how it ended."""
        self.renew()
        before = self.charges()
        try:
            done = self.call(words, **how)
        except subprocess.TimeoutExpired:
            return [f"{words}, {what}: hangs"]
        wrong = list(self.is_whole())
        if not code(done.returncode) or fails and not done.returncode:
            wrong.append(f"exit code {done.returncode}")
        if done.returncode and said and not done.stderr.strip():
            wrong.append("says nothing")
        paid = done.returncode == UNDELIVERED or "adopt" in words  # which can be fetched
        if done.returncode not in (0, UNLOADED) and self.charges() > before and not paid:
            wrong.append("charged")
        return [f"{words}, {what}: {one}: {done.stderr.strip()}" for one in wrong]


def full(place):
    """Standard output, or the file, is a disk without room."""
    for words in COMMANDS:
        plain = words.replace(" -o out", "")
        with open("/dev/full", "w", encoding="utf-8") as out:
            if "move --code" not in words:
                yield from place.attempt(plain, "a full disk", fails=True, stdout=out)
        if " -o out" in words or words.startswith(("assign", "cut", "report")):
            yield from place.attempt(f"{plain} -o /dev/full", "a full file", fails=True)


def closed(place):
    """What is opened next would have the number of a standard stream, and be written into."""
    for words in COMMANDS:
        for which in ([0], [1], [2], [0, 1, 2]):
            def close(which=which):
                for number in which:
                    os.close(number)
            kept = {name: None if number in which else place_of for number, (name, place_of) in
                    enumerate([("stdin", subprocess.DEVNULL), ("stdout", subprocess.PIPE),
                               ("stderr", subprocess.PIPE)])}
            yield from place.attempt(words, f"{which} closed", said=2 not in which,
                                     preexec_fn=close, **kept)


def limited(place):
    turns = itertools.cycle(range(len(LIMITS)))
    for words in COMMANDS:
        for kind, value in LIMITS if LONG else [LIMITS[next(turns)] for _ in range(3)]:
            def limit(kind=kind, value=value):
                signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
                resource.setrlimit(kind, (value, value))
            yield from place.attempt(words, f"limit {kind} of {value}", preexec_fn=limit)


def waits(place, words, name, number):
    """The command reads a pipe into which nobody writes, and hears a signal."""
    place.renew()
    (place.here / name).unlink()
    os.mkfifo(place.here / name)
    process = place.start(words, preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
    try:
        process.wait(timeout=0.3)
    except subprocess.TimeoutExpired:
        process.send_signal(number)
    try:
        process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return [f"{words}: {name} is a pipe: {number.name} does not end it"]
    if process.returncode in (-number, 128 + number) or (
            process.returncode == REFUSED and name.endswith(".db")):
        return []
    return [f"{words}: {name} is a pipe, {number.name}: exit code {process.returncode}"]


def piped(place):
    turns = itertools.cycle(SIGNALS)
    for words in COMMANDS:
        for before, name in itertools.pairwise(words.split()):
            if before != "--dataset" and (place.origin / name).is_file():
                for number in SIGNALS if LONG else [next(turns)]:
                    yield from waits(place, words, name, number)


def main():
    parts = [(full, "says that its output could not be written"),
             (closed, "is not confused by closed streams"),
             (limited, "ends under every limit"), (piped, "can be stopped while it waits")]
    print(f"1..{len(parts)}")
    failed = False
    with tempfile.TemporaryDirectory(prefix="cloister-every-") as folder:
        place = Place(os.path.abspath(sys.argv[1]), pathlib.Path(folder))
        for number, (part, name) in enumerate(parts, 1):
            wrong = list(part(place))
            print(f"{'not ok' if wrong else 'ok'} {number} - every command {name}")
            for line in wrong:
                print("# " + line.replace("\n", " "))
            sys.stdout.flush()
            failed = failed or bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
