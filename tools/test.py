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

All builds are made at once, and what is to run of them waits in one queue.  One test more than
there are cores runs at a time, for some wait for a disk or a clock; those that took longest the
last time begin first, so that no core stands idle at the end.  A limit of time is for what hangs:
it is many times what a test takes, so that none fails because a machine is slow or busy.
build/tests.json has what each program wrote and the seconds of a core that it took.

usage: tools/test.py [--build NAME]... [SUITE]...     three builds and all suites without arguments
"""
import argparse
import json
import os
import re
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

BUILDS = {
    "dev": {
        "cc": "gcc",
        "options": ["-Dfault_injection=true"],
        "suites": ["lint", "unit", "abi", "golden", "fault", "statistical", "mutants", "fuzz",
                   "cli", "docs", "python", "spark"],
        "whole": True,  # the others build no more than what they run
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

# How often the seconds that tests/meson.build grants may pass by the clock, which goes on while
# others have the cores.
PATIENCE = 5


class Tally:
    """Counts, and what to show of the failures."""

    def __init__(self, passed=0, failed=0, skipped=0):
        self.passed, self.failed, self.skipped = passed, failed, skipped

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


class Test:
    """A test of a build, as meson describes it, and what came of it."""

    def __init__(self, build, described):
        self.build, self.described = build, described
        self.suites = [suite.split(":")[1] for suite in described["suite"]]
        self.suite, self.name = self.suites[0], described["name"]
        self.alone = not described["is_parallel"]
        self.out = self.err = ""
        self.code, self.seconds, self.late = None, 0.0, False

    def run(self):
        """Runs it, for as long as it may take, with all that it starts."""
        given = {**os.environ, **TEST_ENVIRONMENT, **self.described["env"],
                 "MALLOC_PERTURB_": str(random.randint(1, 255))}  # fresh memory holds no zeros
        folder = self.described["workdir"] or ROOT / "build" / self.build
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            child = subprocess.Popen(self.described["cmd"], cwd=folder, env=given, stdout=out,
                                     stderr=err, stdin=subprocess.DEVNULL, start_new_session=True)
            limit = threading.Timer(self.limit(), self.stop, [child.pid])
            limit.start()
            _, status, usage = os.wait4(child.pid, 0)
            limit.cancel()
            child.returncode = self.code = os.waitstatus_to_exitcode(status)
            self.seconds = usage.ru_utime + usage.ru_stime
            for stream, name in ((out, "out"), (err, "err")):
                stream.seek(0)
                setattr(self, name, stream.read().decode(errors="replace"))
        return self

    def limit(self):
        return PATIENCE * self.described["timeout"]

    def stop(self, group):
        self.late = True
        os.killpg(group, signal.SIGKILL)

    def count(self):
        """What it shows, and why it failed."""
        if self.late:
            return Tally(failed=1), [f"took longer than {self.limit()} seconds"]
        if re.search(r"^1\.\.\d+", self.out, re.M):
            return count_tap(self.out, self.code)
        if self.code == 77:
            return Tally(skipped=1), []
        if self.code:
            return Tally(failed=1), [f"status {self.code}"]
        return Tally(passed=1), []


def chosen(name, suites, all_builds):
    """The tests of a configured build that are to run."""
    listed = json.loads((ROOT / "build" / name / "meson-info" / "intro-tests.json").read_text())
    found = [Test(name, described) for described in listed]
    # what another build runs need not run here
    elsewhere = {f"only-{other}" for other in BUILDS.keys() - {name}} if all_builds else set()
    return [test for test in found if test.suite in suites and not elsewhere & set(test.suites)]


def made(name, suites, all_builds):
    """Configures and builds, and gives the tests to run; None if that fails."""
    build, folder, begin = BUILDS[name], ROOT / "build" / name, time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "CC": build["cc"]}
    setup = configure(folder, build)
    log = ROOT / "build" / f"{name}.log"
    if setup and not run_logged(setup, log, environment):
        return None
    tests = chosen(name, suites, all_builds)
    targets = []
    if not build.get("whole"):
        wanted = {target for test in tests for target in test.described["depends"]}
        listed = json.loads((folder / "meson-info" / "intro-targets.json").read_text())
        targets = [str(Path(path).relative_to(folder)) for target in listed
                   if target["id"] in wanted for path in target["filename"]]
    if not run_logged(["ninja", "-C", str(folder), *targets], log, environment):
        return None
    print(f"  {name:6} built {time.monotonic() - begin:34.1f} s", flush=True)
    return tests


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


def show_failure(test, failures):
    print(f"\n---- {test.build}: {test.suite} / {test.name}: {'; '.join(failures)}")
    kept = []
    for text in (test.out, test.err):
        kept += [line for line in text.splitlines() if not re.match(r"(ok \d|1\.\.)", line)]
    if len(kept) > 80:
        kept = kept[:60] + [f"… {len(kept) - 80} lines …"] + kept[-20:]
    print("\n".join("     " + line for line in kept))


class Record:
    """Counts what has run, and tells of each suite when its last test is done."""

    def __init__(self, tests):
        self.total, self.left, self.of_suite = Tally(), {}, {}
        self.log = open(ROOT / "build" / "tests.json", "w", encoding="utf-8")
        for test in tests:
            key = (test.build, test.suite)
            self.left[key] = self.left.get(key, 0) + 1
            self.of_suite[key] = [Tally(), 0.0]

    def add(self, test):
        tally, failures = test.count()
        key = (test.build, test.suite)
        self.total.add(tally)
        self.of_suite[key][0].add(tally)
        self.of_suite[key][1] += test.seconds
        self.left[key] -= 1
        self.log.write(json.dumps({"build": test.build, "suite": test.suite, "name": test.name,
                                   "status": test.code, "seconds": round(test.seconds, 2),
                                   "stdout": test.out, "stderr": test.err}) + "\n")
        if failures:
            show_failure(test, failures)
        for reason in sorted(set(re.findall(r"# SKIP (\S.*)", test.out))):
            print(f"  {test.build:6} {test.suite:12} skipped: {reason}", flush=True)
        if self.left[key] == 0:
            tally, seconds = self.of_suite[key]
            print(f"  {test.build:6} {test.suite:12} {tally!s:28} {seconds:6.1f} s", flush=True)


def seconds_before():
    """What each test took of a core when it ran last, if the last run was of it."""
    try:
        with open(ROOT / "build" / "tests.json", encoding="utf-8") as log:
            runs = [json.loads(line) for line in log]
        return {(run["build"], run["suite"], run["name"]): run["seconds"] for run in runs}
    except (OSError, ValueError, KeyError):
        return {}


def cores():
    """Those that are ours: a container may have fewer than its machine."""
    count = len(os.sched_getaffinity(0))
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="utf-8").split()
        count = min(count, -(-int(quota) // int(period)))
    except (OSError, ValueError):  # none is set
        pass
    return count


def run_tests(tests):
    """Runs all, those first that say so, then those that take long; the count."""
    took = seconds_before()
    record = Record(tests)
    tests.sort(key=lambda test: (-test.described["priority"],
                                 -took.get((test.build, test.suite, test.name), 0)))
    with ThreadPoolExecutor(cores() + 1) as pool:
        for done in as_completed([pool.submit(test.run) for test in tests if not test.alone]):
            record.add(done.result())
    for test in tests:
        if test.alone:
            record.add(test.run())
    record.log.close()
    return record.total


def main():
    parser = argparse.ArgumentParser(usage=__doc__.strip().splitlines()[-1].split("usage: ")[1])
    parser.add_argument("--build", action="append", choices=BUILDS)
    parser.add_argument("suites", nargs="*")
    arguments = parser.parse_args()
    known = {suite for build in BUILDS.values() for suite in build["suites"]}
    for suite in arguments.suites:
        if suite not in known:
            parser.error(f"there is no suite {suite}; there are {', '.join(sorted(known))}")

    begin, tests, broken = time.monotonic(), [], 0
    names = arguments.build or [name for name in BUILDS if "if asked" not in BUILDS[name]]
    wanted = {name: [suite for suite in BUILDS[name]["suites"]
                     if not arguments.suites or suite in arguments.suites] for name in names}
    wanted = {name: suites for name, suites in wanted.items() if suites}
    with ThreadPoolExecutor(len(wanted) or 1) as pool:
        building = {name: pool.submit(made, name, suites, not arguments.build)
                    for name, suites in wanted.items()}
    for name, future in building.items():
        if future.result() is None:
            print(f"  {name:6} does not build")
            broken += 1
        tests += future.result() or []
    total = run_tests(tests)
    total.failed += broken
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
