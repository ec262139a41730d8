#!/usr/bin/env python3
"""Plants faults into the code, one after another, and demands that a test notices each.

A row of a table (NAME.toml beside this file) is one fault written by hand: the file, the text that
is there once, what it becomes, which claim that breaks, and the test programs that must notice.
With --generated the faults are made from the syntax tree (generate.py), and the programs are those
that enter the function (reach.py); what changes nothing that a release or a message could show is
listed in equivalent.toml, each with its reason.

Each fault is built in a copy of the tree (workshop.py), and its programs are run until one fails.
A fault that all of them pass has survived: that is an error, and so is a row whose text is no
longer there.  Results are kept under build/mutants: a run that was stopped goes on where it was,
and what was noticed is not planted again until the sources or the test that noticed it change.

usage: tests/mutants/run.py [OPTION]... [PATTERN]...
  --generated N  the first N of the generated faults; 0: all of them
  --fast         the rows that say fast = true: one a query, as TAP
  --build DIR    plant into what is built in DIR instead of a copy (it stays as it is)
  --jobs N       at a time; as many as there are cores
  --again        forget earlier results
  --reach        measure anew which programs enter which function
  --list         only say what there is
  --check        only see whether every edit can be made, every test program is there and every
                 query has a fast row
  PATTERN        faults whose name or file contains it
"""
import argparse
import collections
import hashlib
import json
import os
import re
import resource
import sys
import threading
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import reach
from workshop import Workshop

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
HOME = ROOT / "build" / "mutants"
FIELDS = {"name", "file", "find", "replace", "breaks", "noticed_by"}
SHARE = 15  # seconds of programs that are shown a generated fault first
SURE = 45   # and, if these do not notice it, of all

# ---- rows ---------------------------------------------------------------------------------------


def hand_rows():
    """All rows of all tables, each checked for its form, and those that need not be written."""
    found, names = [], set()
    for table in sorted(HERE.glob("*.toml")):
        for row in tomllib.loads(table.read_text(encoding="utf-8")).get("mutant", []):
            missing = FIELDS - row.keys()
            unknown = row.keys() - FIELDS - {"fast"}
            if missing or unknown:
                sys.exit(f"{table.name}: {row.get('name', row)}: missing {sorted(missing)}, "
                         f"unknown {sorted(unknown)}")
            if row["name"] in names:
                sys.exit(f"{table.name}: two rows are called '{row['name']}'")
            names.add(row["name"])
            found.append(row)
    return found + own_rows(names)


def queries():
    return re.findall(r"^QUERY\((\w+)\)", (ROOT / "src/query/table.def").read_text(), re.M)


def own_rows(names):
    """Of every query that plans for all rows of a unit in one place, the fault that it does not."""
    factor = " * domain->rows_per_unit"
    return [{"name": f"{name}: M dropped", "file": f"src/query/{name}.c", "find": factor,
             "replace": "", "breaks": f"{name}.T1", "noticed_by": ["unit_plan_sensitivity"],
             "fast": True}
            for name in queries() if f"{name}: M dropped" not in names
            and (ROOT / f"src/query/{name}.c").read_text(encoding="utf-8").count(factor) == 1]


def stale(row):
    """Why the edit cannot be made, or None."""
    path = ROOT / row["file"]
    if not path.exists():
        return f"{row['file']} is not there"
    times = path.read_text(encoding="utf-8").count(row["find"])
    if times != 1:
        return f"its text is {times} times in {row['file']}, not once"
    for program in row["noticed_by"]:
        if not test_source(program).exists():
            return f"there is no test program {program}"
    return None


def control():
    """An edit that changes nothing: were it noticed, everything would be."""
    return {"name": "an edit that changes nothing survives", "file": "src/ask/meter.c",
            "find": "meter->asked[line]++;", "replace": "meter->asked[line] += 1;", "breaks": "",
            "noticed_by": ["unit_meter"]}


def without_fast_row(rows):
    """Queries that no fault of the fast subset is planted into."""
    fast = [row["file"] for row in rows if row.get("fast")]
    return [name for name in queries() if f"src/query/{name}.c" not in fast]


def all_generated(shop):
    """What generate.py finds, which takes a while, or found before in the same sources."""
    digest = digest_of([HERE / "generate.py"]) + sources_digest(shop.tree)
    store = HOME / "rows.json"
    known = json.loads(store.read_text()) if store.exists() else {}
    if known.get("digest") != digest:
        import generate  # it needs libclang, and the rest does not
        known = {"digest": digest, "rows": generate.rows(shop)}
        store.write_text(json.dumps(known), encoding="utf-8")
    return known["rows"]


def generated_rows(shop, wanted, patterns):
    """Generated faults in the form of the others; what is equivalent is left out and counted."""
    equivalent = tomllib.loads((HERE / "equivalent.toml").read_text(encoding="utf-8"))
    whole = {(row["file"], row["function"]) for row in equivalent.get("function", [])}
    single = {(row["file"], row["function"], row["from"], row["to"])
              for row in equivalent.get("fault", [])}
    used, rows, sorted_out = set(), [], 0
    for row in all_generated(shop):
        known = tuple(row[part] for part in ("file", "function", "from", "to"))
        if known in single or known[:2] in whole:
            used |= {known, known[:2]}
            sorted_out += not wanted or len(rows) < wanted
            continue
        if wanted and len(rows) >= wanted:
            continue
        again = f" ({row['number']})" if row["number"] > 1 else ""
        named = {**row, "name": f"{row['class']}: {row['file']}, {row['function']}: "
                                f"{row['from']}  ->  {row['to']}{again}"}
        if matches(named, patterns):
            rows.append(named)
    for known in sorted((single | whole) - used):
        print(f"equivalent.toml: there is no such fault any more: {' | '.join(known)}")
    return rows, sorted_out


def test_source(program, tree=ROOT):
    suite, _, name = program.partition("_")
    return tree / "tests" / suite / f"test_{name}.c"


def edited(shop, row):
    """The file with its fault."""
    text = (shop.tree / row["file"]).read_bytes()
    if "find" in row:
        return text.decode().replace(row["find"], row["replace"])
    return (text[:row["start"]] + row["text"].encode() + text[row["end"]:]).decode()


# ---- who can notice -----------------------------------------------------------------------------


def near(program, row):
    """Whether a program is named for the file: then it is the first to be asked."""
    stem = Path(row["file"]).stem
    name = program.partition("_")[2]
    return name == stem or name.startswith(stem + "_") or stem.startswith(name + "_")


def choose_programs(row, mine, seconds, breadth):
    """Of the programs that enter the function, those of its file first and then those that enter
    the fewest others; then the quick ones among the rest, as many as there is time for."""
    chosen, total = [], 0.0
    for program in sorted(mine, key=lambda p: (not near(p, row), breadth[p], seconds.get(p, 0))):
        taken = seconds.get(program, 0)
        if not chosen or total + taken <= SHARE:
            chosen.append(program)
            total += taken
    chosen.sort(key=lambda p: seconds.get(p, 0) > SHARE / 3)  # what is long, last
    for program in sorted(set(mine) - set(chosen), key=lambda p: (seconds.get(p, 0), p)):
        total += seconds.get(program, 0)
        if total <= SURE:
            chosen.append(program)
    return chosen


# ---- results ------------------------------------------------------------------------------------


def digest_of(paths):
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:24]


def sources_digest(tree):
    return digest_of(sorted(path for folder in ("src", "include")
                            for path in (tree / folder).rglob("*.[chd]*") if path.is_file()))


class Results:
    """What came of each fault, kept on disk."""

    def __init__(self, again, store, tree):
        self.store, self.tree, self.sources = store, tree, sources_digest(tree)
        self.known = {} if again or not store.exists() else json.loads(store.read_text())

    def of(self, row):
        """What is known and still true."""
        result = self.known.get(self.key(row), {})
        if "by" in result and result.get("test") != self.of_test(result["by"]):
            return {}
        return result

    def of_test(self, name):
        source = test_source(name, self.tree)
        return digest_of([source]) if source.exists() else ""

    def of_program(self, name):
        return self.sources + self.of_test(name)

    def key(self, row):
        bare = {k: v for k, v in row.items() if k not in ("start", "end", "noticed_by")}
        text = self.sources + json.dumps(bare, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    def put(self, row, result):
        if "by" in result:
            result["test"] = self.of_test(result["by"])
        self.known[self.key(row)] = result
        new = self.store.with_suffix(".new")
        new.write_text(json.dumps(self.known, indent=1), encoding="utf-8")
        new.replace(self.store)


def work(shop, todo, results, jobs, say):
    """Plants what is left to do, some at a time."""
    lock, benches = threading.Lock(), [HOME / f"bench{os.getpid()}_{n}" for n in range(jobs)]

    def one(row):
        with lock:
            bench = benches.pop()
        begin = time.monotonic()
        try:
            result = shop.plant(bench, row["file"], edited(shop, row), row["noticed_by"])
        finally:
            with lock:
                benches.append(bench)
        result["seconds"] = round(time.monotonic() - begin, 1)
        with lock:
            results.put(row, result)
            say(row, result)

    with ThreadPoolExecutor(jobs) as pool:
        for done in as_completed([pool.submit(one, row) for row in todo]):
            done.result()


# ---- the command --------------------------------------------------------------------------------


def taken(begin):
    """How long it took, by the clock and of the cores."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (f"{time.monotonic() - begin:.0f} seconds, "
            f"{children.ru_utime + children.ru_stime:.0f} of a core")


def say_line(row, result):
    who = f" by {result['by']}" if "by" in result else ""
    print(f"{result['end']}{who} ({result['seconds']} s): {row['name']}", flush=True)


def plant_by_hand(arguments, rows):
    """The rows of the tables: each must be noticed."""
    shop = Workshop(ROOT, arguments.build) if arguments.build else Workshop.of_copy(ROOT, HOME)
    wanted = {row["name"]: "noticed" for row in rows}
    if not arguments.patterns:
        rows = [*rows, control()]
    shop.make(sorted({name for row in rows for name in row["noticed_by"]}))
    store = HOME / ("fast.json" if arguments.fast else "results.json")
    results, begin = Results(arguments.again or arguments.fast, store, shop.tree), time.monotonic()
    if not arguments.build:
        shop.remember(HOME / "sound.json", results.of_program)
    todo = [row for row in rows if results.of(row).get("end") != "noticed"]
    good = lambda row, result: result["end"] == wanted.get(row["name"], "survived")
    work(shop, todo, results, arguments.jobs, (lambda row, result: None) if arguments.fast
         else say_line)
    ends = [(row, results.of(row)) for row in rows]
    bad = [(row, result) for row, result in ends if not good(row, result)]
    if arguments.fast:
        print(f"1..{len(ends)}")
        for number, (row, result) in enumerate(ends, 1):
            print("ok" if good(row, result) else "not ok", number, "-", row["name"])
    for row, result in bad:
        print(f"# {result['end']}: {row['name']}: {row['breaks']}\n{result.get('said', '')}")
    noticed = sum(result["end"] == "noticed" for _, result in ends)
    print(f"# {noticed} of {len(wanted)} faults noticed, {len(todo)} of them planted now; "
          f"{taken(begin)}")
    return 1 if bad else 0


def plant_generated(arguments):
    """The generated ones: how many are noticed, and which are not."""
    shop = Workshop.of_copy(ROOT, HOME)
    names = reach.programs_of(ROOT)
    shop.make(names)
    store = HOME / "reach.json"
    if arguments.reach or not store.exists():
        reach.measure(shop, HOME)
    known = json.loads(store.read_text())
    rows, sorted_out = generated_rows(shop, arguments.generated, arguments.patterns)
    breadth = collections.Counter(p for programs in known["entered"].values() for p in programs)
    of_file = {}  # for constants outside of functions: who enters any function that it names
    for file in {row["file"] for row in rows if not row["function"]}:
        words = set(re.findall(r"\b(\w+)\(", (shop.tree / file).read_text(encoding="utf-8")))
        of_file[file] = {program for word in words for program in known["entered"].get(word, [])}
    for row in rows:
        mine = known["entered"].get(row["function"], []) if row["function"] else \
            of_file[row["file"]]
        row["noticed_by"] = choose_programs(row, mine, known["seconds"], breadth)
    results = Results(arguments.again, HOME / "generated.json", shop.tree)
    begin = time.monotonic()
    shop.remember(HOME / "sound.json", results.of_program)
    work(shop, [row for row in rows if results.of(row).get("end") not in
                ("noticed", "does not build")], results, arguments.jobs, say_line)
    ends = [(row, results.of(row)) for row in rows]
    count = {end: sum(result["end"] == end for _, result in ends)
             for end in ("noticed", "survived", "does not build")}
    print("\nsurvivors:")
    for row, result in ends:
        if result["end"] == "survived":
            print(f"  {row['name']}\n      shown to: {', '.join(row['noticed_by']) or 'nobody'}")
    planted = count["noticed"] + count["survived"]
    print(f"\n{count['noticed']} of {planted} generated faults noticed "
          f"({100 * count['noticed'] / max(1, planted):.1f} %), {count['survived']} survived, "
          f"{sorted_out} known as equivalent, {count['does not build']} do not build; "
          f"{taken(begin)}")
    return 1 if count["survived"] else 0


def matches(row, patterns):
    return not patterns or any(p in row["name"] or p in row["file"] for p in patterns)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    for option in ("--fast", "--again", "--list", "--check", "--reach"):
        parser.add_argument(option, action="store_true")
    parser.add_argument("--generated", type=int)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--build", type=lambda path: Path(path).resolve())
    parser.add_argument("patterns", nargs="*")
    arguments = parser.parse_args()
    HOME.mkdir(parents=True, exist_ok=True)
    if arguments.generated is not None:
        return plant_generated(arguments)
    table = hand_rows()
    if arguments.check and (bare := without_fast_row(table)):
        print(f"no fast row has a fault of: {', '.join(bare)}")
        return 1
    table = [row for row in table if matches(row, arguments.patterns)
             and (row.get("fast") or not arguments.fast)]
    if arguments.list:
        for row in table:
            print(f"{row['name']}: {row['breaks']} ({', '.join(row['noticed_by'])})")
        return 0
    wrong = [f"{row['name']}: {why}" for row in table if (why := stale(row))]
    if wrong:
        print("\n".join(wrong))
        print(f"{len(wrong)} rows no longer apply")
        return 1
    if arguments.check:
        print(f"{len(table)} faults can be planted")
        return 0
    return plant_by_hand(arguments, table)


if __name__ == "__main__":
    sys.exit(main())
