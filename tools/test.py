#!/usr/bin/env python3
"""Builds the project three ways, runs every suite, and says at the end `N passed, N failed`.

  dev    gcc, warnings are errors, allocations and keys can be made to fail, noise is witnessed
  asan   clang with AddressSanitizer and UBSan, leaks included
  taint  sensitive memory is marked for valgrind; the library is otherwise as it is installed, so
         its symbols are read here

and, where it is asked for by name (it takes long):

  tsan   clang with ThreadSanitizer, which is told by LLVM's OpenMP runtime what that does with
         threads: its tool archer (libarcher.so, of libomp) is loaded by itself where TSan is.
         With another runtime, or without archer, every end of a parallel region looks like a race;
         the suite tsan holds that a right program is clean here and that a race is found

Some programs run in one of dev and asan alone (only_in of tests/meson.build); where one build is
asked for by name, it runs all of its own.

Each function of a cmocka program counts as one test, and so does each script.  A test that runs in
two builds counts twice.  A program that dies, leaks or stops early fails, whatever it printed.

usage: tools/test.py [--build NAME]... [SUITE]...     three builds and all suites without arguments
"""
import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

BUILDS = {
    "dev": {
        "cc": "gcc",
        "options": ["-Dfault_injection=true"],
        "suites": ["lint", "unit", "abi", "golden", "fault", "statistical", "mutants", "fuzz",
                   "cli", "docs", "python", "spark"],
    },
    "asan": {
        "cc": "clang",
        "options": ["-Dfault_injection=true", "-Db_sanitize=address,undefined", "-Db_lundef=false"],
        "suites": ["unit", "abi", "golden", "fault", "fuzz", "cli"],
    },
    "taint": {
        "cc": "gcc",
        "options": ["-Dtaint=true"],
        "suites": ["symbols", "taint"],
    },
    "tsan": {
        "cc": "clang",
        "options": ["-Dfault_injection=true", "-Db_sanitize=thread", "-Db_lundef=false"],
        "suites": ["tsan", "unit", "fault"],
        "if asked": True,
    },
}

# Folders whose files are found by pattern: a change in one, or in one below src, asks for a new
# configuration.
FOUND = ["include/cloister", "src", "cli", "tests", "tests/unit", "tests/abi", "tests/golden",
         "tests/golden/releases", "tests/statistical", "tests/fault", "tests/fuzz", "tests/cli",
         "tests/docs", "tests/lint", "tests/taint", "tests/tsan", "bench",
         "proofs"]

# Threads that wait must not spin: two test programs share two cores here.
TEST_ENVIRONMENT = {
    "OMP_WAIT_POLICY": "passive",
    "ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    # What the runtime, BLAS and SQLite do among themselves is not compiled with TSan, which would
    # misread what it sees of it: calls that it intercepts, such as mutexes of OpenMP's own.
    "TSAN_OPTIONS": "ignore_noninstrumented_modules=1",
}


class Tally:
    """Counts, and what to show of the failures."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def __str__(self):
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


def newest_folder():
    found = [ROOT / folder for folder in FOUND] + list((ROOT / "src").rglob("*"))
    return max(folder.stat().st_mtime for folder in found if folder.is_dir())


def configure(folder, build):
    """Sets the build folder up, or again where a folder whose files are found has changed."""
    ninja_file = folder / "build.ninja"
    if ninja_file.exists():
        if newest_folder() <= ninja_file.stat().st_mtime:
            return None
        command = ["meson", "setup", "--reconfigure", str(folder), str(ROOT)]
    else:
        command = ["meson", "setup", str(folder), str(ROOT), "-Dwerror=true", *build["options"]]
    return command


def run_logged(command, log, environment):
    """Runs a step whose output only matters when it fails; true when it went well."""
    with open(log, "w", encoding="utf-8") as out:
        code = subprocess.run(command, cwd=ROOT, env=environment, stdout=out,
                              stderr=subprocess.STDOUT, check=False).returncode
    if code:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        shown = [i for i, line in enumerate(lines) if re.search(r"error|ERROR|FAILED", line)]
        start = max(0, (shown[0] if shown else len(lines)) - 3)
        print("\n".join(lines[start:start + 60]))
        print(f"failed: {' '.join(command)}")
    return code == 0


def compiled(name, build):
    folder = ROOT / "build" / name
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "CC": build["cc"]}
    setup = configure(folder, build)
    log = ROOT / "build" / f"{name}.log"
    if setup and not run_logged(setup, log, environment):
        return False
    return run_logged(["ninja", "-C", str(folder)], log, environment)


def count_tap(text, code):
    """Counts TAP lines.  cmocka writes a skipped test as `not ok N # SKIP`."""
    tally, failures = Tally(), []
    plan = re.search(r"^1\.\.(\d+)", text, re.M)
    for state, rest in re.findall(r"^(ok|not ok)\b(.*)$", text, re.M):
        if "# SKIP" in rest:
            tally.skipped += 1
        elif state == "ok":
            tally.passed += 1
        else:
            tally.failed += 1
            failures.append(rest.strip(" -0123456789"))
    unseen = int(plan.group(1)) - tally.passed - tally.failed - tally.skipped
    if unseen > 0:
        tally.failed += unseen
        failures.append(f"{unseen} tests did not run")
    elif code and not tally.failed:
        tally.failed += 1
        failures.append(f"the program ended with status {code}")
    return tally, failures


def count_entry(entry):
    """One line of meson's JSON log."""
    if re.search(r"^1\.\.\d+", entry.get("stdout") or "", re.M):
        return count_tap(entry["stdout"], entry["returncode"])
    tally = Tally()
    if entry["result"] in ("OK", "EXPECTEDFAIL"):
        tally.passed = 1
        return tally, []
    if entry["result"] == "SKIP" and entry["returncode"] == 77:
        tally.skipped = 1
        return tally, []
    tally.failed = 1
    return tally, [f"{entry['result'].lower()}, status {entry['returncode']}"]


def show_failure(build, entry, failures):
    print(f"\n---- {build}: {entry['name']}: {'; '.join(failures)}")
    kept = []
    for stream in ("stdout", "stderr"):
        lines = (entry.get(stream) or "").splitlines()
        kept += [line for line in lines if not re.match(r"(ok \d|1\.\.)", line)]
    if len(kept) > 80:
        kept = kept[:60] + [f"… {len(kept) - 80} lines …"] + kept[-20:]
    print("\n".join("     " + line for line in kept))


def run_suites(name, suites, all_builds):
    """Runs suites of a built folder and counts what its log says."""
    folder = ROOT / "build" / name
    log = folder / "meson-logs" / "testlog.json"
    log.unlink(missing_ok=True)
    command = ["meson", "test", "-C", str(folder), "--no-rebuild"]
    for suite in suites:
        command += ["--suite", suite]
    if all_builds:  # what another build runs need not run here
        for other in BUILDS.keys() - {name}:
            command += ["--no-suite", f"only-{other}"]
    environment = {**os.environ, **TEST_ENVIRONMENT}
    result = subprocess.run(command, env=environment, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, check=False)
    total, by_suite = Tally(), {}
    if not log.exists():
        total.failed = 1
        print(result.stdout)
        return total
    with open(log, encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            tally, failures = count_entry(entry)
            suite = re.split(r"[:+]", entry["name"].split(" / ")[0])[1]
            seen = by_suite.setdefault(suite, [Tally(), 0.0])
            seen[0].add(tally)
            seen[1] += entry.get("duration") or 0
            total.add(tally)
            if tally.failed:
                show_failure(name, entry, failures)
            for reason in sorted(set(re.findall(r"# SKIP (\S.*)", entry.get("stdout") or ""))):
                print(f"  {name:6} {suite:12} skipped: {reason}", flush=True)
    for suite in suites:
        if suite in by_suite:
            tally, seconds = by_suite[suite]
            print(f"  {name:6} {suite:12} {tally!s:28} {seconds:6.1f} s", flush=True)
    return total


def main():
    parser = argparse.ArgumentParser(usage=__doc__.strip().splitlines()[-1].split("usage: ")[1])
    parser.add_argument("--build", action="append", choices=BUILDS)
    parser.add_argument("suites", nargs="*")
    arguments = parser.parse_args()
    known = {suite for build in BUILDS.values() for suite in build["suites"]}
    for suite in arguments.suites:
        if suite not in known:
            parser.error(f"there is no suite {suite}; there are {', '.join(sorted(known))}")

    total, begin = Tally(), time.monotonic()
    for name in arguments.build or [name for name in BUILDS if "if asked" not in BUILDS[name]]:
        build = BUILDS[name]
        suites = [s for s in build["suites"] if not arguments.suites or s in arguments.suites]
        if not suites:
            continue
        start = time.monotonic()
        if not compiled(name, build):
            print(f"  {name:6} does not build")
            total.failed += 1
            continue
        print(f"  {name:6} built {time.monotonic() - start:34.1f} s", flush=True)
        total.add(run_suites(name, suites, not arguments.build))
    print(f"\n{time.monotonic() - begin:.0f} seconds"
          + (f", {total.skipped} skipped" if total.skipped else ""))
    if total.passed + total.failed == 0:
        total.failed = 1
        print("no test ran")
    result = f"{total.passed} passed, {total.failed} failed"
    (ROOT / "build" / "result").write_text(result + "\n", encoding="utf-8")
    print(result, flush=True)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
