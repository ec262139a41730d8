"""Which test programs enter which function: only they can notice a fault in it.

The folders that faults are generated for are compiled with -finstrument-functions, and every test
program is run once with them, for SECONDS of its own at most: what it enters, it enters early.
Programs and functions change slowly and this takes minutes, so the answer is kept until it is asked
for anew.
"""
import json
import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from workshop import quietly, watch

FOLDERS = ("query", "accounting", "ledger", "bound", "random")
SUITES = ("unit", "golden", "fault", "statistical")
SECONDS = 8
# What asks the same code over and over, and would be the last to be shown a fault.
LEFT_OUT = re.compile(r"fault_(\w*_)?allocations|statistical_(audit_|every_number_faults)")
HERE = Path(__file__).resolve().parent


def programs_of(root):
    """The cmocka programs, by the names of their files."""
    names = [f"{suite}_{path.stem[5:]}" for suite in SUITES
             for path in sorted((root / "tests" / suite).glob("test_*.c"))]
    return [name for name in names if not LEFT_OUT.match(name)]


def symbols_of(program):
    """Offsets in the program's text, and the functions that are there."""
    found, start = [], 0
    for line in quietly(["nm", "--defined-only", str(program)], None, "nm").splitlines():
        address, kind, name = line.split()
        if name == "__executable_start":
            start = int(address, 16)
        elif kind in "tTwW":
            found.append((int(address, 16), name.split(".")[0]))
    return [(address - start, name) for address, name in found]


def entered(shop, bench, name, objects):
    """The functions that a program enters, and the seconds of a core that it takes."""
    program = shop.link(bench, name, dict(objects))
    record = bench / f"{name}.map"
    _, seconds = watch(program, shop.tree, {"REACH_FILE": str(record),
          "GOLDEN_RELEASES": str(shop.tree / "tests" / "golden" / "releases")}, SECONDS)
    places = record.read_bytes() if record.exists() else b""
    seen = {function for offset, function in symbols_of(program)
            if 0 <= offset < len(places) and places[offset]}
    program.unlink()
    return seen, seconds or SECONDS


def measure(shop, home):
    """Writes {"entered": {function: programs}, "seconds": {program: about how long it takes}};
    functions of one name in two files are taken together."""
    bench = home / "reach"
    shutil.rmtree(bench, ignore_errors=True)
    bench.mkdir(parents=True)
    objects, todo = {}, []
    for output, (source, _) in shop.commands.items():
        if "libcloister.a.p" in output and source.parts[0] == "src" and source.parts[1] in FOLDERS:
            todo.append((output, source))
    threads = len(os.sched_getaffinity(0))
    with ThreadPoolExecutor(threads) as pool:
        for (output, _), (made, said) in zip(todo, pool.map(
                lambda job: shop.compile(bench, job[0], shop.tree / job[1],
                                         ["-finstrument-functions"]), todo)):
            if said:
                raise RuntimeError(said)
            objects[output] = made
        recorder = bench / "reach.o"
        subprocess.run(["cc", "-O1", "-c", str(HERE / "reach.c"), "-o", str(recorder)], check=True)
        objects["libcloister.a.p/reach"] = recorder
        names, found, seconds = sorted(shop.links), {}, {}
        for name, (seen, taken) in zip(names, pool.map(
                lambda n: entered(shop, bench, n, objects), names)):
            seconds[name] = taken
            for function in seen:
                found.setdefault(function, []).append(name)
    shutil.rmtree(bench)
    (home / "reach.json").write_text(
        json.dumps({"entered": found, "seconds": seconds}, indent=1, sort_keys=True),
        encoding="utf-8")
