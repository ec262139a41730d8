#!/usr/bin/env python3
"""No byte of the data leaves the process but through noise.

The library of this build tells valgrind that the table's memory is undefined, and that an answer is
defined once its noise is in it.  So are where each sparse row begins, and how many rows there are
where that is a secret: under add-remove, and with units.  Memcheck carries the mark through every
computation and reports a system call that is handed a marked byte.  So: run the command as people
do, and look at everything it writes: stdout, stderr, the release's file, the ledger.

Branches on marked values are reported too, and are expected (which centre is nearest?  is there
another row?): memcheck follows data, not control.  What a program may learn from a branch alone is
for the proofs.  One kind of them is a leak: printf finds the digits of a whole number in a table,
so that the text holds no mark.  Whatever marked number is printed at all is therefore counted.

usage: information_flow.py CASES CLOISTER      the program that runs cases (cases.c); the command
"""
import gzip
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from small_runs import small_runs  # noqa: E402  (it lies beside)

ROWS, COLS = 60, 3
WRITES = ("write(", "writev(", "pwrite", "sendto(", "sendmsg(", "msync(", "mq_send", "ioctl(")
PRINTS = ("printf", "_itoa_word", "strfrom")  # in a function's name
# Before the first case and without a thread: what most cases call is translated once.
WARM_UP = ["cloister", "run", "kmeans/lloyd", "data.csv", "--columns", "age,income,height",
           "--clusters", "2", "--rounds", "1", "--epsilon", "1", "--norm", "1", "--no-ledger",
           "--relation", "add-remove", "--threads", "1", "--json"]


def make_data(folder):
    """The same records as CSV (with a header and a person), as NPY and as LIBSVM."""
    source = random.Random(1)
    records = [[round(source.uniform(-0.5, 0.5), 6) for _ in range(COLS)] for _ in range(ROWS)]
    with open(folder / "data.csv", "w", encoding="utf-8") as out:
        out.write("person,age,income,height\n")
        for i, record in enumerate(records):
            out.write(f"p{i // 2}," + ",".join(map(str, record)) + "\n")
    with open(folder / "bare.csv", "w", encoding="utf-8") as out:
        for record in records:
            out.write(",".join(map(str, record)) + "\n")
    with open(folder / "broken.csv", "w", encoding="utf-8") as out:
        out.write("age,income,height\n0.125,secret,0.25\n")
    with open(folder / "holes.csv", "w", encoding="utf-8") as out:
        out.write("age,income,height\n")
        for i, record in enumerate(records):
            out.write(f"{record[0]},{'secret' if i % 5 == 0 else record[1]},{record[2]}\n")
    (folder / "text.csv").write_text("age,sex,height\n" + "0.5,secret,0.25\n" * 9,
                                     encoding="utf-8")
    (folder / "packed.csv.gz").write_bytes(gzip.compress((folder / "holes.csv").read_bytes()))
    with open(folder / "data.svm", "w", encoding="utf-8") as out:
        for record in records:
            out.write("1 " + " ".join(f"{j}:{v}" for j, v in enumerate(record, 1)) + "\n")
    shape = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({ROWS}, {COLS}), }}"
    header = shape.ljust(117) + "\n"
    with open(folder / "data.npy", "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        for record in records:
            out.write(struct.pack(f"<{COLS}d", *record))


def environment_of(folder):
    """All that a command keeps, its key and its state, lies in the folder."""
    return {**os.environ, "HOME": str(folder),
            "XDG_STATE_HOME": str(folder / "state"), "XDG_CONFIG_HOME": str(folder / "config"),
            # The command replaces no process (cli/prepare_process.c).
            "CLOISTER_STARTED_AGAIN": "1"}


def make_ledger(folder, cloister):
    subprocess.run([cloister, "ledger", "init", "l.db", "--dataset", "people", "--epsilon", "3"],
                   cwd=folder, env=environment_of(folder), stdout=subprocess.DEVNULL, check=True)


def run_cases(folder, cases, commands):
    """Runs commands under one memcheck: how each ended, what it said, where it wrote marked bytes.
    """
    place, listed = tempfile.mkstemp(suffix=".cases", dir=folder)
    with open(place, "w", encoding="utf-8") as out:
        out.writelines("\t".join(command) + "\n" for command in [WARM_UP, *commands])
    valgrind = ["valgrind", "--tool=memcheck", "--xml=yes", "--xml-file=%p.xml",
                "--num-callers=25", "--error-limit=no", "--leak-check=no",
                "--read-inline-info=no"]  # a fifth of the time; libc's functions are not inlined
    with subprocess.Popen([*valgrind, cases, listed], cwd=folder, env=environment_of(folder),
                          stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as started:
        for line in started.stdout:
            process, code = line.split()
            said = (folder / f"{process}.err").read_text(encoding="utf-8", errors="replace")
            yield int(code), said, marked_writes(folder / f"{process}.xml")
    if started.returncode != 0:
        sys.exit(f"the program that runs the cases ended with {started.returncode}")


def marked_writes(report):
    """Where a process wrote marked bytes, by memcheck's report of it."""
    found = []
    for error in ElementTree.parse(report).getroot().iter("error"):
        what = error.findtext("what") or error.findtext("xwhat/text") or ""
        frames = [frame.findtext("fn") or "?" for frame in error.iter("frame")]
        written = error.findtext("kind") == "SyscallParam" and any(name in what for name in WRITES)
        printed = error.findtext("kind") in ("UninitValue", "UninitCondition") and \
            any(name in frame for frame in frames for name in PRINTS)
        if written or printed:
            found.append(f"{what}\n        " + " < ".join(frames[:12]))
    return found


def must_be_clean(code, said, found, expected=0):
    if code != expected:
        return f"ended with {code}, not {expected}: {said}"
    return "data reached a write:\n    " + "\n    ".join(found) if found else None


def must_be_caught(code, said, found):
    if code != 0:
        return f"ended with {code}: {said}"
    return None if found else "a planted leak was not noticed"


def planted_cases():
    """Leaks that must be found: (name, check, command, further arguments of the check)"""
    yield "a leak of raw bytes is caught", must_be_caught, ["leak", "raw", "data.csv"]
    yield "a leak of text is caught", must_be_caught, ["leak", "text", "data.csv"]
    yield "a leak from a mapped file is caught", must_be_caught, ["leak", "raw", "data.npy"]
    yield "a leak from a sparse file is caught", must_be_caught, ["leak", "raw", "data.svm"]
    yield "a leak of an exact sum is caught", must_be_caught, ["leak", "gram", "data.csv"]
    yield "a leak of the number of rows is caught", must_be_caught, ["leak", "rows", "data.csv"]
    yield ("a leak of the number of sparse rows is caught", must_be_caught,
           ["leak", "rows", "data.svm"])
    yield ("a leak of the number of rows of units is caught", must_be_caught,
           ["leak", "units", "data.csv"])
    yield ("a leak of how many of a public number of rows count is caught", must_be_caught,
           ["leak", "counted", "holes.csv"])
    yield ("a leak of the number of slots, where rows are hidden, is caught", must_be_caught,
           ["leak", "slots", "data.csv"])
    yield ("a leak of the number of rows in an error is caught", must_be_caught,
           ["leak", "error", "data.csv"])
    yield ("a leak of the number of rows in a release is caught", must_be_caught,
           ["leak", "release", "data.csv"])
    yield ("a leak of the memory that rows need is caught", must_be_caught,
           ["leak", "room", "data.csv"])
    yield ("a leak of where sparse rows begin is caught", must_be_caught,
           ["leak", "entries", "data.svm"])
    yield "a public fact is not caught", must_be_clean, ["leak", "public", "data.csv"]
    yield "a public number of rows is not caught", must_be_clean, ["leak", "known", "data.csv"]


def cases():
    """What people do, and must be clean, in the same form."""
    run = ["cloister", "run"]
    known = ["--epsilon", "1", "--norm", "1", "--no-ledger", "--threads", "2"]
    norm = [*known, "--relation", "add-remove"]  # so that the number of rows is marked, too
    csv = ["data.csv", "--columns", "age,income,height"]
    kmeans = ["--clusters", "3", "--rounds", "3"]
    yield "run kmeans, as text", must_be_clean, [*run, "kmeans", *csv, *kmeans, *norm]
    yield "run kmeans, as JSON", must_be_clean, [*run, "kmeans", *csv, *kmeans, *norm, "--json"]
    yield ("run kmeans where the number of rows is public", must_be_clean,
           [*run, "kmeans", *csv, *kmeans, *known, "--json"])
    yield ("run kmeans from NPY, into a file", must_be_clean,
           [*run, "kmeans", "data.npy", *kmeans, *norm, "-o", "npy.json"])
    yield ("run kmeans from LIBSVM", must_be_clean,
           [*run, "kmeans", "data.svm", "--cols", "3", *kmeans, *norm, "-o", "svm.json"])
    flowing = [*kmeans, *norm, "--memory", "64M"]
    yield ("run kmeans over rows that are not held, from CSV", must_be_clean,
           [*run, "kmeans/lloyd", *csv, *flowing, "--json"])
    yield ("run kmeans over rows that are not held, from NPY", must_be_clean,
           [*run, "kmeans/lloyd", "data.npy", *flowing, "-o", "flowing.json"])
    yield ("run kmeans over rows that are not held, from LIBSVM", must_be_clean,
           [*run, "kmeans/lloyd", "data.svm", "--cols", "3", *flowing, "-o", "flow.json"])
    yield ("run kmeans over packed rows with missing cells that are not held", must_be_clean,
           [*run, "kmeans/lloyd", "packed.csv.gz", *flowing, "--json"])
    yield ("run kmeans per person over rows that are not held", must_be_clean,
           [*run, "kmeans/lloyd", *csv, *flowing, "--unit", "person", "--rows-per-unit", "1",
            "-o", "flowing-person.json"])
    yield ("run kmeans over rows in a cache", must_be_clean,
           [*run, "kmeans/lloyd", *csv, *flowing, "--cache", ".", "-o", "cached.json"])
    yield ("run kmeans over several files", must_be_clean,
           [*run, "kmeans/lloyd", "data.npy", "data.npy", *kmeans, *norm, "--json"])
    yield ("run kmeans over several files that are not held, about a private centre", must_be_clean,
           [*run, "kmeans/lloyd", "data.npy", "data.npy", *kmeans, "--epsilon", "1", "--center",
            "private", "--norm", "private", "--norm-at-most", "2", "--relation", "add-remove",
            "--yes", "--no-ledger", "--memory", "64M", "--json"])
    sparse = [*run, "kmeans/sparse", "data.svm", "--cols", "3", "--clusters", "2", *norm]
    yield "run kmeans of sparse records", must_be_clean, [*sparse, "-o", "sparse.json"]
    yield ("run kmeans of sparse records without a delta, entry by entry", must_be_clean,
           [*sparse, "--delta", "0", "--recover", "peel", "--json"])
    wide = [*run, "kmeans/sparse", "data.svm", "--cols", "100000", "--clusters", "2", *norm]
    yield "run kmeans in a sketch", must_be_clean, [*wide, "-o", "wide.json"]
    yield ("run kmeans per person, under add-remove", must_be_clean,
           [*run, "kmeans", *csv, *kmeans, *norm, "--unit", "person", "--rows-per-unit", "2",
            "-o", "person.json"])
    yield ("run kmeans per person, under replace", must_be_clean,
           [*run, "kmeans", *csv, *kmeans, *known, "--unit", "person", "--rows-per-unit", "2",
            "-o", "people.json"])
    yield ("run subspace, metered", must_be_clean,
           [*run, "subspace", *csv, "--dim", "2", "--epsilon", "1", "--norm", "1", "--yes",
            "--relation", "add-remove", "--ledger", "l.db", "--dataset", "people", "-o",
            "subspace.json"])
    yield ("run subspace with bounds of columns", must_be_clean,
           [*run, "subspace", *csv, "--dim", "1", "--epsilon", "1", "--bounds=-1,1", "--no-ledger",
            "--json"])
    yield ("run subspace about a private centre", must_be_clean,
           [*run, "subspace/gaussian", *csv, "--dim", "1", "--epsilon", "1", "--center", "private",
            "--norm", "private", "--norm-at-most", "2", "--relation", "add-remove", "--yes",
            "--no-ledger", "-o",
            "centre.json"])
    bingham = [*run, "subspace/bingham", *csv, "--dim", "1", "--accept", "idealized", *norm]
    yield "draw a subspace", must_be_clean, [*bingham, "-o", "drawn.json"]
    yield "draw a frame by rejection", must_be_clean, [*bingham, "--draw", "matrix", "--json"]
    sulq = [*run, "subspaces/sulq", *csv, "--clusters", "2", "--dim", "1", "--rounds", "4", *norm]
    yield ("run subspaces from starts that are chosen", must_be_clean,
           [*sulq, "--restarts", "2", "--json"])
    yield ("run affine subspaces", must_be_clean,
           [*sulq, "--restarts", "2", "--flats", "affine", "-o", "flats.json"])
    yield ("run subspaces in directions of their own", must_be_clean,
           [*sulq, "--restarts", "2", "--reduce", "2", "-o", "kept.json"])
    gibbs = [*run, "subspaces/gibbs", *csv, "--clusters", "2", "--dim", "1", "--sweeps", "3",
             "--accept", "asymptotic"]
    yield ("run a chain and release its labels", must_be_clean,
           [*gibbs, *known, "--labels", "yes", "--json"])
    gibbs += norm
    yield ("run a chain step by step", must_be_clean,
           [*gibbs, "--mode", "steps", "--flats", "affine", "-o", "steps.json"])
    yield ("run a chain from a solver's answer", must_be_clean,
           [*gibbs, "--score", "min", "--start", "kplanes", "-o", "min.json"])
    yield ("run kmeans in directions of its own", must_be_clean,
           [*run, "kmeans", *csv, *kmeans, *norm, "--reduce", "2", "-o", "reduced.json"])
    yield ("run kmeans without a delta", must_be_clean,
           [*run, "kmeans/lloyd", *csv, *kmeans, *norm, "--delta", "0", "-o", "pure.json"])
    learning = ["--epsilon", "1", "--norm", "private", "--norm-at-most", "9", "--no-ledger",
                "--relation", "add-remove"]
    yield ("run kmeans, learning its centre and norm first", must_be_clean,
           [*run, "kmeans/lloyd", *csv, *kmeans, *learning, "--center", "private", "--json"])
    yield ("run kmeans from LIBSVM, learning its norm first", must_be_clean,
           [*run, "kmeans/lloyd", "data.svm", "--cols", "3", *kmeans, *learning, "-o", "l.json"])
    yield ("bring the centres of blocks together", must_be_clean,
           [*run, "kmeans/aggregate", *csv, "--clusters", "2", "--blocks", "5", "--accept",
            "idealized", *norm, "--json"])
    yield ("run kmeans on the counts of a grid", must_be_clean,
           [*run, "kmeans/grid", *csv, "--clusters", "3", *norm, "--json"])
    local = [*run, "kmeans/local", *csv, "--clusters", "3", *norm]
    yield ("run kmeans on cells without a delta", must_be_clean,
           [*local, "--delta", "0", "-o", "local0.json"])
    yield ("run kmeans on cells in directions of its own", must_be_clean,
           [*local, "--reduce", "2", "--rounds", "2", "-o", "local.json"])
    highdim = ["--clusters", "3", "--trees", "2", "--levels", "3", "--swaps", "3", *norm]
    yield ("find centres among cubes", must_be_clean,
           [*run, "kmeans/highdim", *csv, *highdim, "--json"])
    yield ("find centres among cubes in directions, with the paper's constants", must_be_clean,
           [*run, "kmeans/highdim", *csv, *highdim, "--directions", "2", "--preset", "theory",
            "-o", "cubes.json"])
    yield ("find medians among cubes", must_be_clean,
           [*run, "kmedian", *csv, *highdim, "-o", "medians.json"])
    moments = [*run, "subspaces/moments", *csv, "--clusters", "2", "--dim", "1", *norm]
    yield "run moments and rounds", must_be_clean, [*moments, "--rounds", "1", "--json"]
    yield ("run moments and passes at the width of residuals", must_be_clean,
           [*moments, "--sharpen", "2", "--json"])
    yield ("run moments in fewer directions", must_be_clean,
           [*moments, "--reduce", "2", "-o", "moments.json"])
    yield ("bring blocks together", must_be_clean,
           [*run, "subspaces/aggregate", *csv, "--clusters", "1", "--dim", "1", "--blocks", "5",
            "--accept", "idealized", *norm, "-o", "blocks.json"])
    yield ("find a cell of subspaces, or none", must_be_clean,
           [*run, "subspace/approx", *csv, "--dim", "1", "--gamma", "0.01", *norm, "--json"])
    yield ("let parts vote on a subspace, or none", must_be_clean,
           [*run, "subspace/boosted", *csv, "--dim", "1", "--gamma", "0.5", "--parts", "3",
            "--blocks", "4", "--epsilon", "60", *norm[2:], "--json"])
    yield ("find an exact subspace, or none", must_be_clean,
           [*run, "subspace/exact", *csv, "--dim", "1", "--scale", "10", *norm, "--json"])
    bounds = ["cloister", "bounds", *csv, "--epsilon", "1", "--norm", "10", "--no-ledger",
              "--relation", "add-remove"]
    yield "bounds", must_be_clean, bounds
    yield "bounds of columns", must_be_clean, [*bounds, "--of", "columns", "-o", "bounds.csv"]
    yield "bounds, as JSON", must_be_clean, [*bounds, "--json"]
    yield ("a number of columns that is missing", must_be_clean,
           [*run, "kmeans", "bare.csv", *kmeans, *norm], 2)
    yield ("a number of rows that does not fit", must_be_clean,
           [*run, "kmeans", *csv, *kmeans, *known, "--rows", "7"], 2)
    yield ("null records, where the number of rows is public", must_be_clean,
           [*run, "kmeans/lloyd", "holes.csv", *kmeans, *known, "--json"])
    yield ("null records in an even division into blocks", must_be_clean,
           [*run, "subspace/approx", "holes.csv", "--dim", "1", "--gamma", "0.01", *known,
            "--json"])
    yield ("null records that have labels", must_be_clean,
           [*run, "subspaces/gibbs", "holes.csv", "--clusters", "2", "--dim", "1", "--sweeps", "2",
            "--labels", "yes", "--accept", "asymptotic", *known, "--json"])
    yield ("missing cells that are filled", must_be_clean,
           [*run, "kmeans/lloyd", "holes.csv", "--missing", "fill", "--fill", "1=0.5", *kmeans,
            *known, "-o", "filled.json"])
    yield ("a packed file", must_be_clean,
           [*run, "kmeans/lloyd", "packed.csv.gz", *kmeans, *norm, "--json"])
    yield ("a column of text that is refused", must_be_clean,
           [*run, "kmeans/lloyd", "text.csv", "--text-columns", "refuse", *kmeans, *norm], 3)
    yield ("a broken cell that is refused", must_be_clean,
           [*run, "kmeans", "broken.csv", "--missing", "refuse", *kmeans, *norm], 3)


def small_cases(listed):
    """The short run of each mechanism that no case above names."""
    named = {word for case in listed for word in case[2]}
    data = ["data.csv", "--columns", "age,income,height", "--epsilon", "1", "--norm", "1",
            "--relation", "add-remove", "--no-ledger", "--threads", "2", "--json"]
    for mechanism, options in small_runs().items():
        if mechanism not in named and not mechanism.startswith("bounds/"):
            yield (f"a short run of {mechanism}", must_be_clean,
                   ["cloister", "run", mechanism, *options, *data])


def all_cases():
    """Planted leaks stand among the others: what one case does must not hide another's."""
    listed = list(cases())
    listed += small_cases(listed)
    planted = list(planted_cases())
    step = len(listed) // len(planted)
    for number, leak in enumerate(planted):
        listed.insert(number * (step + 1), leak)
    return listed


def outcomes(folder, program, share):
    """(case, what is wrong with it) of those that one start of valgrind runs."""
    ends = run_cases(folder, program, [case[2] for case in share])
    return [(case, case[1](*end, *case[3:])) for case, end in zip(share, ends, strict=True)]


def main():
    program, cloister = (str(Path(word).resolve()) for word in sys.argv[1:3])
    if not shutil.which("valgrind"):
        sys.exit("the taint suite needs valgrind")
    listed, failed = all_cases(), 0
    print(f"1..{len(listed)}", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_data(folder)
        make_ledger(folder, cloister)
        # Valgrind runs one thread of a program at a time, so that a start of it takes one core.
        starts = len(os.sched_getaffinity(0))
        with ThreadPoolExecutor(starts) as pool:
            shares = pool.map(lambda first: outcomes(folder, program, listed[first::starts]),
                              range(starts))
            for number, (case, failure) in enumerate((end for share in shares for end in share), 1):
                failed += failure is not None
                print(f"{'not ok' if failure else 'ok'} {number} - {case[0]}", flush=True)
                if failure:
                    print(f"{case[0]}: {failure}", file=sys.stderr, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip().splitlines()[-1])
    sys.exit(main())
