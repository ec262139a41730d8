#!/usr/bin/env python3
"""The command on several ranks of MPI: the bytes of one process, one charge, and an end for all.

A seeded release is the same on 1, 2 and 4 ranks with 1 and 2 threads each, whether the ranks share
one file or have one each; what cannot be spread, and what one rank cannot read, is refused with the
ledger as it was; a rank that is killed ends the run, which stays charged and gives nothing.

usage: ranks.py CLOISTER MPIRUN LIBRARY_FOLDER
"""
import array
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROWS, COLS = 1501, 4
BALL = ["--epsilon", "1", "--norm", "1"]
# Every family, and every query that is a sum.
SAME = {
    "kmeans/lloyd": ["--clusters", "3", "--rounds", "3"],
    "kmeans/highdim": ["--clusters", "3"],
    "kmedian/highdim": ["--clusters", "3", "--directions", "2"],
    "kmeans/local": ["--clusters", "3"],
    "kmeans/density": ["--clusters", "3"],
    "kmeans/grid": ["--clusters", "3", "--side", "4"],
    "kmeans/sparse": ["--clusters", "2"],
    "kmedian/local": ["--clusters", "3"],
    "kmedian/density": ["--clusters", "3"],
    "subspaces/moments": ["--clusters", "2", "--dim", "1"],
    "subspaces/sulq": ["--clusters", "2", "--dim", "1", "--rounds", "3"],
    "subspace/gaussian": ["--dim", "2"],
    "bounds/quantile": ["--quantile", "0.9", "--of", "columns"],
}
# Every method that asks in blocks: rows near a line, some of them null.
BLOCKS = {
    "kmeans/aggregate": ["--clusters", "2", "--blocks", "40"],
    "subspaces/aggregate": ["--clusters", "2", "--dim", "1", "--blocks", "30"],
    "subspace/approx": ["--dim", "1", "--gamma", "0.05"],
    "subspace/boosted": ["--dim", "1", "--gamma", "0.05", "--parts", "3"],
}
LOOSE = ["--epsilon", "50", "--accept", "idealized"]
LONG = 600  # seconds after which something hangs, on a slow and busy machine too
END_WITHIN = 10  # seconds, of a run whose rank was killed, on a machine that is not busy
START_WITHIN = 2  # seconds, that such a machine takes to start ranks and end them


class Failed(Exception):
    pass


def demand(true, *what):
    if not true:
        raise Failed(" ".join(str(part) for part in what))


class Place:
    """A folder with data, a ledger of its own, and the command there."""

    def __init__(self, folder, command, mpirun):
        self.folder, self.command, self.mpirun = Path(folder), command, mpirun
        self.environment = {
            **os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
            "XDG_CONFIG_HOME": str(self.folder / "config"), "HOME": str(self.folder),
            # Rank after rank on whatever there is, also as root: both are right for a test.
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
            "OMPI_MCA_mpi_yield_when_idle": "1",  # a rank that waits lets others have the core
            "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
        for rank in range(2):  # the same rows in two files
            rows = self.rows()[rank * 700:None if rank else 700]
            self.write(f"part-{rank}.csv", rows)
        self.write("all.csv", self.rows())
        near = self.rows_near_a_line()
        self.write("near.csv", near)
        for rank in range(3):
            self.write(f"near-{rank}.csv", near[rank * 400:None if rank == 2 else rank * 400 + 400])
        self.alone("generate", "mixture", "--rows", "400000", "--cols", "8", "--clusters", "3",
                   "--seed", "1", "-o", "large.npy")

    def rows(self):
        return [[((7 * i + 3 * j) % 11 / 11 - 0.5) * (0.9 if i % 3 else -0.8)
                 for j in range(COLS)] for i in range(ROWS)]

    def rows_near_a_line(self):
        return [[None if i % 97 == 5 and j == 2 else
                 (0.6, -0.5, 0.4, 0.3)[j] * math.cos(1.7 * i) + 0.005 * math.sin(3.1 * i + j)
                 for j in range(COLS)] for i in range(ROWS)]

    def write(self, name, rows):
        lines = ["a,b,c,d"] + [",".join("" if value is None else f"{value:.6f}" for value in row)
                               for row in rows]
        (self.folder / name).write_text("\n".join(lines) + "\n")

    def call(self, words, **more):
        return subprocess.run(words, cwd=self.folder, env={**self.environment, **more.pop(
            "extra", {})}, capture_output=True, timeout=LONG, check=False, **more)

    def alone(self, *words):
        ended = self.call([self.command, *words])
        demand(ended.returncode == 0, "alone:", words, ended.stderr.decode())
        return ended.stdout

    def ranks(self, count, *words, extra=None):
        return self.call([self.mpirun, "-n", str(count), self.command, *words], extra=extra or {})

    def end_within(self):
        """What END_WITHIN is on this machine now: it may be busy with other tests."""
        started = time.monotonic()
        self.ranks(3, "version")
        return END_WITHIN * max(1, (time.monotonic() - started) / START_WITHIN)

    def ledger(self, name, dataset="people", epsilon="5"):
        self.alone("ledger", "init", name, "--dataset", dataset, "--epsilon", epsilon)
        return ["--ledger", name, "--dataset", dataset]

    def charges(self, name):
        return len(json.loads(self.alone("ledger", "history", name, "--json"))["charges"])


def words_for(method, options, path, *more):
    ball = BALL[2:] if "--epsilon" in more else BALL
    return ["run", method, path, *ball, *options, "--seed", "ranks", "--no-ledger", "--json",
            "--quiet", *more]


def same(place, method, options, count, threads, path="all.csv", ranks_path=None, more=()):
    expected = place.alone(*words_for(method, options, path, *more))
    ended = place.ranks(count, *words_for(method, options, ranks_path or path, *more),
                        "--threads", str(threads))
    demand(ended.returncode == 0, method, ended.stderr.decode())
    demand(ended.stdout == expected, method, "has other bytes on", count, "ranks")


# ---- the tests ----------------------------------------------------------------------------------

def ranks_and_threads_give_the_bytes_of_one_process(place):
    for count in (1, 2, 4):
        for threads in (1, 2):
            same(place, "kmeans/local", SAME["kmeans/local"], count, threads)


def every_method_that_sums_gives_the_bytes_of_one_process(place):
    for number, (method, options) in enumerate(SAME.items()):
        same(place, method, options, 2 + number % 2, 1 + number % 2)


def many_columns_give_the_bytes_of_one_process(place):
    place.alone("generate", "mixture", "--rows", "1501", "--cols", "20", "--clusters", "3",
                "--seed", "1", "-o", "wide.npy")
    for relation in ("replace", "add-remove"):
        same(place, "kmeans/density", SAME["kmeans/density"], 3, 1, path="wide.npy",
             more=["--rows", "1501", "--relation", relation])


def ranks_with_a_file_each_give_the_bytes_of_one_file(place):
    for more in ([], ["--relation", "add-remove"]):
        same(place, "kmeans/lloyd", SAME["kmeans/lloyd"], 2, 1, ranks_path="part-{rank}.csv",
             more=more)


def blocks_are_solved_to_the_bytes_of_one_process(place):
    for number, (method, options) in enumerate(BLOCKS.items()):
        for relation in ("replace", "add-remove"):
            more = [*LOOSE, "--relation", relation]
            expected = place.alone(*words_for(method, options, "near.csv", *more))
            demand(json.loads(expected)["values"].get("found", [1]) == [1], method, "finds nothing")
            every = [(count, threads) for count in (1, 2, 4) for threads in (1, 2)]
            for count, threads in every if number == 0 else [(2 + number % 2, 2), (4, 1)]:
                same(place, method, options, count, threads, path="near.csv", more=more)


def blocks_of_a_file_each_and_of_learnt_places_are_the_same(place):
    for method in ("kmeans/aggregate", "subspace/approx"):
        same(place, method, BLOCKS[method], 3, 1, path="near.csv", ranks_path="near-{rank}.csv",
             more=LOOSE)
    same(place, "kmeans/aggregate", BLOCKS["kmeans/aggregate"], 2, 2, path="near.csv",
         more=[*LOOSE, "--center", "private"])
    same(place, "subspaces/aggregate", BLOCKS["subspaces/aggregate"], 2, 1, path="near.csv",
         more=[*LOOSE, "--flats", "affine"])


def a_mapped_file_and_a_learnt_centre_give_the_same_bytes(place):
    same(place, "subspace/gaussian", SAME["subspace/gaussian"], 3, 1, path="large.npy")
    same(place, "kmeans/lloyd", SAME["kmeans/lloyd"], 2, 1,
         more=["--center", "private"])


def ranks_that_hold_no_rows_give_the_same_bytes(place):
    limit = ["--memory", "64M"]
    for count in (2, 3):
        same(place, "kmeans/local", SAME["kmeans/local"], count, 1, path="large.npy", more=limit)
    for path in (None, "part-{rank}.csv"):
        same(place, "kmeans/lloyd", SAME["kmeans/lloyd"], 2, 2, ranks_path=path, more=limit)


def the_choice_is_among_what_ranks_can_do(place):
    options = ["--clusters", "3", *BALL, "--no-ledger", "--json", "--quiet", "--seed", "1"]
    ended = place.ranks(2, "run", "kmeans", "all.csv", *options)
    demand(ended.returncode == 0, ended.stderr.decode())
    demand(f"kmeans/{json.loads(ended.stdout)['method']}" in SAME, "not a sum")
    # Of all methods only aggregate has blocks: ranks may choose it, rows that are not held may not.
    only = ["run", "kmeans", "all.csv", *options, "--accept", "idealized", "--blocks", "20"]
    ended = place.ranks(2, *only)
    demand(ended.returncode == 0, ended.stderr.decode())
    demand(json.loads(ended.stdout)["method"] == "aggregate", "not in blocks")
    ended = place.ranks(2, *only, "--memory", "64M")
    demand(ended.returncode != 0 and b"with sums only" in ended.stderr, ended.stderr.decode())


def a_run_is_charged_once_and_fetched_by_its_token(place):
    books = place.ledger("once.ledger")
    run = ["run", "kmeans/lloyd", "all.csv", *BALL, "--clusters", "2", *books, "--token", "t"]
    first = place.ranks(4, *run, "-o", "once.json")
    demand(first.returncode == 0, first.stderr.decode())
    demand(place.charges("once.ledger") == 1, "charged", place.charges("once.ledger"), "times")
    again = place.ranks(2, *run, "-o", "again.json")
    demand(again.returncode == 0 and b"nothing was spent" in again.stderr, again.stderr.decode())
    demand((place.folder / "once.json").read_bytes() == (place.folder / "again.json").read_bytes())
    demand(place.charges("once.ledger") == 1, "charged again")
    # One file a rank: the parts are known again under another name.
    place.alone("ledger", "init", "once.ledger", "--dataset", "parts", "--epsilon", "5",
                "--data", "part-1.csv")
    ended = place.ranks(2, "run", "kmeans/lloyd", "part-{rank}.csv", *BALL, "--clusters", "2",
                        *books)
    demand(ended.returncode == 2 and b"knows these data as 'parts'" in ended.stderr,
           ended.stderr.decode())


def refused(place, count, words, *what):
    books = place.ledger(f"refused-{len(list(place.folder.glob('refused-*')))}.ledger")
    ended = place.ranks(count, *words, *books)
    demand(ended.returncode != 0, "was not refused:", words)
    for text in what:
        demand(text.encode() in ended.stderr, words, "does not say", text, ended.stderr.decode())
    demand(ended.stderr.count(b"cloister: ") == 1, "said more than once:", ended.stderr.decode())
    demand(place.charges(books[1]) == 0, "was charged:", words)


def what_cannot_be_spread_costs_nothing(place):
    refused(place, 2, ["run", "subspace/exact", "all.csv", *BALL, "--dim", "1"],
            "needs all rows in one process", "subspace/gaussian")
    blocks = ["run", "kmeans/aggregate", "all.csv", *BALL, "--clusters", "2", "--accept",
              "idealized"]
    refused(place, 2, [*blocks, "--memory", "64M"], "query aggregate", "kmeans/lloyd")
    refused(place, 2, [*blocks, *PERSONS[:1], "a", *PERSONS[2:]], "query aggregate",
            "run on one rank", "kmeans/lloyd")


PERSONS = ["--unit", "who", "--rows-per-unit", "3"]


def write_visits(place, name, keep):
    rows = [(f"p{i % 50}", row) for i, row in enumerate(place.rows())]
    lines = ["who,a,b,c,d"] + [",".join([who, *(f"{value:.6f}" for value in row)])
                               for number, (who, row) in enumerate(rows) if keep(number, who)]
    (place.folder / name).write_text("\n".join(lines) + "\n")


def persons_are_on_one_rank_each(place):
    write_visits(place, "visits.csv", lambda number, who: True)
    for rank in range(2):
        write_visits(place, f"visits-{rank}.csv",
                     lambda number, who, mine=rank: int(who[1:]) % 2 == mine)
        write_visits(place, f"mixed-{rank}.csv", lambda number, who, mine=rank: number % 3 == mine)
    for count in (2, 4):
        for limit in ([], ["--memory", "64M"]):
            same(place, "kmeans/lloyd", SAME["kmeans/lloyd"], count, 1, path="visits.csv",
                 more=[*PERSONS, *limit])
    same(place, "kmeans/lloyd", SAME["kmeans/lloyd"], 2, 1, path="visits.csv",
         ranks_path="visits-{rank}.csv", more=PERSONS)
    refused(place, 2, ["run", "kmeans/lloyd", "mixed-{rank}.csv", *BALL, "--clusters", "2",
                       *PERSONS], "a person has rows in two parts")
    refused(place, 2, ["run", "kmeans/lloyd", "visits-{rank}.csv", *BALL, "--clusters", "2",
                       *PERSONS, "--memory", "64M"], "need one file that all ranks read")


def write_array(path, rows):
    """As NumPy writes it: a header of 128 bytes, then doubles, row after row."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(rows)}, {COLS}), }}"
    cells = array.array("d", [value for row in rows for value in row])
    path.write_bytes(b"\x93NUMPY\1\0" + (118).to_bytes(2, "little")
                     + header.ljust(117).encode() + b"\n" + cells.tobytes())


def of_an_array_each_rank_looks_at_its_share(place):
    rows = place.rows()
    write_array(place.folder / "all.npy", rows)
    rows[1400][2] = math.nan
    write_array(place.folder / "gap.npy", rows)
    limit, lloyd = ["--memory", "64M"], ["--clusters", "3", "--rounds", "2"]
    for path in ("all.npy", "gap.npy"):
        same(place, "kmeans/lloyd", lloyd, 3, 1, path=path, more=limit)
    run = ["run", "kmeans/lloyd", "gap.npy", *BALL, *lloyd, *limit]
    refused(place, 2, [*run, "--missing", "refuse"], "rank 1: gap.npy, row 1401, column 3")
    books = place.ledger("shares.ledger")  # the whole file is known again by its content
    place.alone("ledger", "init", "shares.ledger", "--dataset", "array", "--epsilon", "5",
                "--data", "gap.npy")
    (place.folder / "copy.npy").write_bytes((place.folder / "gap.npy").read_bytes())
    ended = place.ranks(2, "run", "kmeans/lloyd", "copy.npy", *BALL, *lloyd, *limit, *books)
    demand(ended.returncode == 2 and b"knows these data as 'array'" in ended.stderr,
           ended.stderr.decode())
    demand(place.charges("shares.ledger") == 0, "was charged")


def what_one_rank_cannot_read_costs_nothing(place):
    (place.folder / "two-0.csv").write_text("a,b\n0.1,0.2\n")
    refused(place, 2, ["run", "kmeans/lloyd", "two-{rank}.csv", *BALL, "--clusters", "2"],
            "rank 1: two-1.csv cannot be read")
    (place.folder / "two-1.csv").write_text("b,a\n0.1,0.2\n")
    refused(place, 2, ["run", "kmeans/lloyd", "two-{rank}.csv", *BALL, "--clusters", "2"],
            "rank 1:", "different plans or columns")
    refused(place, 2, ["run", "kmeans/lloyd", "-", *BALL, "--clusters", "2"], "standard input")
    refused(place, 3, ["run", "kmeans/lloyd", "all.csv", *BALL, "--clusters", "2", "-o",
                       "nowhere/x.json"], "cannot be written")


def ranks_with_other_settings_are_refused(place):
    books = place.ledger("other.ledger")
    run = ["run", "kmeans/lloyd", "all.csv", *BALL, *books]
    ended = place.call([place.mpirun, "-n", "1", place.command, *run, "--clusters", "2", ":",
                        "-n", "1", place.command, *run, "--clusters", "3"])
    demand(ended.returncode != 0 and b"different plans" in ended.stderr, ended.stderr.decode())
    ended = place.call([place.mpirun, "-n", "1", place.command, *run, "--clusters", "2", ":",
                        "-n", "1", place.command, *run, "--clusters", "2", "--nothing"])
    demand(ended.returncode != 0 and b"rank 1: cloister:" in ended.stderr, ended.stderr.decode())
    demand(place.charges("other.ledger") == 0, "was charged")


def without_its_twin_the_command_refuses_to_be_many(place, libraries):
    lonely = place.folder / "lonely"
    lonely.mkdir()
    shutil.copy(place.command, lonely / "cloister")
    ended = place.call([place.mpirun, "-n", "2", lonely / "cloister", "version"],
                       extra={"LD_LIBRARY_PATH": libraries})
    demand(ended.returncode != 0 and b"each rank would charge the ledger" in ended.stderr,
           ended.stderr.decode())


def only_rank_0_speaks(place):
    demand(place.ranks(3, "version").stdout.count(b"cloister") == 1, "several versions")
    demand(place.ranks(2, "run", "--help").stdout.count(b"usage:") == 1, "several helps")
    ended = place.ranks(2, "run", "kmeans/lloyd", "all.csv", *BALL, "--clusters", "2",
                        "--no-ledger", "--dry-run")
    demand(ended.returncode == 0 and ended.stdout.count(b"Would charge no ledger") == 1,
           ended.stderr.decode())


def ranks_of(mpirun):
    """The processes that this mpirun has started, by rank."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            variables = (folder / "environ").read_bytes().split(b"\0")
        except (OSError, ValueError):
            continue
        if parent == mpirun:
            for variable in variables:
                if variable.startswith(b"OMPI_COMM_WORLD_RANK="):
                    found[int(variable.partition(b"=")[2])] = int(folder.name)
    return found


ASKED = {  # for long enough to be killed
    "sums": ["kmeans/lloyd", "--clusters", "64", "--rounds", "100", "--yes"],
    "blocks": ["kmeans/aggregate", "--clusters", "8", "--restarts", "1000", *LOOSE[2:]],
}


def killed(place, rank, asked="sums", last_word=1):
    """What a run says one of whose ranks is killed; others have so many seconds for that."""
    books = place.ledger(f"killed-{asked}-{rank}.ledger")
    output = place.folder / f"killed-{asked}-{rank}.json"
    with subprocess.Popen(
            [place.mpirun, "-n", "3", place.command, "run", *ASKED[asked], "large.npy", *BALL,
             *books, "-o", output.name],
            cwd=place.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**place.environment, "OMPI_MCA_odls_base_sigkill_timeout": str(last_word)}) as run:
        while place.charges(books[1]) == 0:
            if run.poll() is not None:
                raise Failed(f"ended too early: {run.stderr.read().decode()}")
            time.sleep(0.05)
        os.kill(ranks_of(run.pid)[rank], signal.SIGKILL)
        started = time.monotonic()
        out, err = run.communicate(timeout=LONG)
    took = time.monotonic() - started
    demand(took < END_WITHIN or took < place.end_within(), "took", took)
    demand(run.returncode != 0 and out == b"", "went on")
    demand(not output.exists() and place.charges(books[1]) == 1, "a release, or no charge")
    return err.decode()


def a_killed_rank_ends_the_run_which_stays_charged(place):
    said = killed(place, 2, last_word=3)
    demand("its charge stays" in said, said)
    killed(place, 0)
    for rank in (1, 0):
        killed(place, rank, "blocks")


def main():
    command, mpirun, libraries = sys.argv[1:4]
    tests = [(name, test) for name, test in globals().items()
             if callable(test) and getattr(test, "__code__", None)
             and test.__code__.co_varnames[:1] == ("place",)
             and test.__code__.co_argcount <= 2 and name not in ("killed", "same", "refused")]
    failed = False
    print(f"1..{len(tests)}")
    with tempfile.TemporaryDirectory() as folder:
        place = Place(folder, os.path.abspath(command), mpirun)
        for number, (name, test) in enumerate(tests, 1):
            trouble = ""
            try:
                test(*([place, libraries] if test.__code__.co_argcount == 2 else [place]))
            except (Failed, subprocess.TimeoutExpired, KeyError, ValueError) as error:
                trouble = str(error)
            failed = failed or bool(trouble)
            print(f"{'not ok' if trouble else 'ok'} {number} - {name.replace('_', ' ')}",
                  flush=True)
            for line in trouble.splitlines():
                print(f"# {line}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
