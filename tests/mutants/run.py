#!/usr/bin/env python3
"""Plants faults into the code, one after another, and demands that a test notices each.

A row of a table (NAME.toml beside this file) is one fault: the file, the text that is there once,
what it becomes, which claim that breaks, and the test programs that must notice.  Each fault is
built in a copy of the tree, and its programs are run until one fails.  A fault that all of them
pass has survived: that is an error, and so is a row whose text is no longer there.

Results are kept under build/mutants, so that a run that was stopped goes on where it was, as long
as nothing in src, include, cli or tests has changed.

usage: tests/mutants/run.py [--fast] [--again] [--list | --check] [PATTERN ...]
  --fast    the rows that say fast = true: one a query
  --again   forget earlier results
  --list    only say what there is
  --check   only see whether every edit can be made and every test program is there
  PATTERN   rows whose name or file contains it
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "build" / "mutants"
COPIED = ["src", "include", "cli", "tests", "bench", "docs", "proofs", "python", "tools",
          "meson.build", "meson_options.txt", "pyproject.toml", "README.md", "LICENSE"]
LIMIT = 600  # seconds for a program: a fault may make it run for ever, which is noticed too
FIELDS = {"name", "file", "find", "replace", "breaks", "noticed_by"}


def rows():
    """All rows of all tables, each checked for its form."""
    found, names = [], set()
    for table in sorted(Path(__file__).parent.glob("*.toml")):
        for row in tomllib.loads(table.read_text(encoding="utf-8"))["mutant"]:
            missing = FIELDS - row.keys()
            unknown = row.keys() - FIELDS - {"fast", "setting"}
            if missing or unknown:
                sys.exit(f"{table.name}: {row.get('name', row)}: missing {sorted(missing)}, "
                         f"unknown {sorted(unknown)}")
            if row["name"] in names:
                sys.exit(f"{table.name}: two rows are called '{row['name']}'")
            names.add(row["name"])
            found.append(row)
    return found


def stale(row):
    """Why the edit cannot be made, or None."""
    path = ROOT / row["file"]
    if not path.exists():
        return f"{row['file']} is not there"
    times = path.read_text(encoding="utf-8").count(row["find"])
    if times != 1:
        return f"its text is {times} times in {row['file']}, not once"
    for program in row["noticed_by"]:
        suite, _, name = program.partition("_")
        if not (ROOT / "tests" / suite / f"test_{name}.c").exists():
            return f"there is no test program {program}"
    return None


def tree_digest():
    """Of all that a result depends on."""
    digest = hashlib.sha256()
    for folder in ("src", "include", "cli", "tests"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".toml":
                digest.update(str(path.relative_to(ROOT)).encode() + b"\0")
                digest.update(path.read_bytes())
    return digest.hexdigest()


def renew(source, target):
    """Copies a file where it has changed, so that ninja builds again only what it must."""
    if not target.exists() or target.read_bytes() != source.read_bytes():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
        shutil.copymode(source, target)


def mirror(source, target):
    wanted = {path.relative_to(source) for path in source.rglob("*")
              if path.is_file() and "__pycache__" not in path.parts}
    for path in wanted:
        renew(source / path, target / path)
    for path in list(target.rglob("*")):
        if path.is_file() and path.relative_to(target) not in wanted:
            path.unlink()


class Workshop:
    """A copy of the tree with a build folder of its own."""

    def __init__(self, number):
        self.folder = HOME / f"copy{number}"
        self.build = self.folder / "build" / "mutants"
        self.passes = set()

    def prepare(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        for name in COPIED:
            source, target = ROOT / name, self.folder / name
            if not source.exists():
                continue
            if source.is_dir():
                mirror(source, target)
            else:
                renew(source, target)
        if not (self.build / "build.ninja").exists():
            # Warnings are allowed: a fault may leave a variable without use.
            self.quietly(["meson", "setup", str(self.build), str(self.folder),
                          "-Dfault_injection=true", "-Dwerror=false"], "configure")

    def quietly(self, command, what):
        done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{what} failed:\n{done.stdout[-3000:]}")

    def compile(self, programs):
        done = subprocess.run(["ninja", "-C", str(self.build), "-j1",
                               *(f"tests/{name}" for name in programs)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode == 0, done.stdout

    def notices(self, program):
        """Whether the program fails."""
        environment = {**os.environ, "OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "2"}
        try:
            done = subprocess.run([str(self.build / "tests" / program)], cwd=self.folder,
                                  env=environment, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, timeout=LIMIT, check=False)
        except subprocess.TimeoutExpired:
            return True
        return done.returncode != 0

    def sound(self, programs):
        """Without a fault every program must pass, or it would notice anything."""
        for name in programs:
            if name in self.passes:
                continue
            built, said = self.compile([name])
            if not built:
                raise RuntimeError(f"{name} does not build:\n{said[-2000:]}")
            if self.notices(name):
                raise RuntimeError(f"{name} fails without any fault")
            self.passes.add(name)

    def plant(self, row):
        """What came of a fault: how it ended, and who noticed."""
        self.sound(row["noticed_by"])
        path = self.folder / row["file"]
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(row["find"], row["replace"]), encoding="utf-8")
        try:
            for program in row["noticed_by"]:
                built, said = self.compile([program])
                if not built:
                    return {"end": "does not build", "said": said[-1500:]}
                if self.notices(program):
                    return {"end": "noticed", "by": program}
            return {"end": "survived"}
        finally:
            path.write_text(text, encoding="utf-8")


def chosen(arguments):
    found = rows()
    if arguments.fast:
        found = [row for row in found if row.get("fast")]
    if arguments.patterns:
        found = [row for row in found
                 if any(p in row["name"] or p in row["file"] for p in arguments.patterns)]
    return found


def key_of(row, tree):
    return hashlib.sha256((tree + json.dumps(row, sort_keys=True)).encode()).hexdigest()[:24]


def work(todo, known, tree):
    """Plants what is left to do, on as many copies as there are cores."""
    lock, free = threading.Lock(), []
    for number in range(min(len(todo), len(os.sched_getaffinity(0)))):
        shop = Workshop(number)
        shop.prepare()
        free.append(shop)

    def one(row):
        with lock:
            shop = free.pop()
        begin = time.monotonic()
        try:
            result = shop.plant(row)
        finally:
            with lock:
                free.append(shop)
        result["seconds"] = round(time.monotonic() - begin, 1)
        with lock:
            known[key_of(row, tree)] = result
            (HOME / "results.json").write_text(json.dumps(known, indent=1), encoding="utf-8")
            who = f" by {result['by']}" if "by" in result else ""
            print(f"{result['end']}{who}: {row['name']} ({result['seconds']} s)", flush=True)

    with concurrent.futures.ThreadPoolExecutor(len(free) or 1) as pool:
        for done in concurrent.futures.as_completed([pool.submit(one, row) for row in todo]):
            done.result()


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    for option in ("--fast", "--again", "--list", "--check"):
        parser.add_argument(option, action="store_true")
    parser.add_argument("patterns", nargs="*")
    arguments = parser.parse_args()
    table = chosen(arguments)
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
    HOME.mkdir(parents=True, exist_ok=True)
    tree, store = tree_digest(), HOME / "results.json"
    known = {} if arguments.again or not store.exists() else json.loads(store.read_text())
    todo = [row for row in table if known.get(key_of(row, tree), {}).get("end") != "noticed"]
    begin = time.monotonic()
    if todo:
        work(todo, known, tree)
    ends = [(row, known[key_of(row, tree)]) for row in table]
    bad = [(row, result) for row, result in ends if result["end"] != "noticed"]
    for row, result in bad:
        print(f"\n{result['end']}: {row['name']}: {row['breaks']}\n{result.get('said', '')}")
    print(f"\n{len(ends) - len(bad)} of {len(ends)} faults noticed, "
          f"{time.monotonic() - begin:.0f} seconds")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
