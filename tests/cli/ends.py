#!/usr/bin/env python3
"""Every command that can take long ends soon after a SIGTERM, whatever it does just then.

    ends.py CLOISTER

Each is stopped at a random moment of its processor time, several times with CLOISTER_LONG in the
environment, and must not take more than two seconds of the processor from there to its end, nor
leave a file.  A run that has asked its last question before the stop finishes its release, for
which it has ten.  Prints TAP.
"""
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

MOST, MOST_OF_A_RELEASE = 2.0, 10.0  # seconds of the processor
MOMENTS = 4.0  # seconds of the processor within which a command is stopped
TIMES = 5 if os.environ.get("CLOISTER_LONG") else 1
RUN = "--epsilon 1 --norm 2 --no-ledger --yes -q -o out"
COMMANDS = {
    "the bend of a curve":
        f"run kmeans/local flat.npy --clusters 1024 --choose elbow --cells 1024 {RUN}",
    "swaps of centres": f"run kmeans/highdim flat.npy --clusters 1024 {RUN}",
    "rounds": f"run kmeans/lloyd flat.npy --clusters 1024 --rounds 100 {RUN}",
    "blocks": f"run subspaces/aggregate wide.npy --clusters 2 --dim 3 --accept idealized {RUN}",
    "a chain": "run subspaces/gibbs wide.npy --clusters 2 --dim 3 --accept asymptotic "
               f"--delta 1e-6 {RUN}",
    "a large matrix": f"run subspace/gaussian wide.npy --dim 700 {RUN}",
    "bounds of many columns": "bounds wide.npy --epsilon 1 --norm 9 --of columns --no-ledger --yes "
                              "-q -o out",
    "a solver": "solve ssc wide.npy --clusters 2 -q --threads 1 -o out",
    "generating": "generate mixture --rows 20000000 --cols 20 --clusters 9 --seed s -o out",
    "an audit": "audit kmeans/lloyd --epsilon 1 --trials 10000000 -q",
    "inspecting": "inspect flat.csv",
}


def seconds_of(process):
    words = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def stopped(words, folder, moment):
    """Seconds of the processor from the signal to the end, and the exit code."""
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        spent = 0.0
        while process.poll() is None and spent < moment:
            time.sleep(0.01)
            spent = seconds_of(process)
        if process.returncode is not None:
            return 0.0, process.returncode
        process.send_signal(signal.SIGTERM)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return usage.ru_utime + usage.ru_stime - spent, process.returncode


def main():
    cloister = os.path.abspath(sys.argv[1])
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    failed = False
    print(f"1..{len(COMMANDS)}")
    with tempfile.TemporaryDirectory(prefix="cloister-ends-") as name:
        for file, rows, cols in (("flat.npy", 200000, 2), ("flat.csv", 200000, 2),
                                 ("wide.npy", 2000, 1000)):
            subprocess.run([cloister, "generate", "mixture", "--rows", str(rows), "--cols",
                            str(cols), "--clusters", "9", "--seed", "s", "-o", file], cwd=name,
                           check=True)
        for number, (what, command) in enumerate(COMMANDS.items()):
            worst, codes, late = 0.0, set(), False
            for _ in range(TIMES):
                took, code = stopped([cloister, *command.split()], name,
                                     random.uniform(0.2, MOMENTS))
                worst = max(worst, took)
                late = late or took > (MOST_OF_A_RELEASE if code == 0 else MOST)
                codes.add(code)
                left = [at.name for at in pathlib.Path(name).iterdir() if "part" in at.name]
            wrong = late or not codes <= {0, 143, -15} or left
            print(f"{'not ok' if wrong else 'ok'} {number + 1} - {what}: {worst:.2f} s, exit codes "
                  f"{sorted(codes)}")
            sys.stdout.flush()
            failed = failed or bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
