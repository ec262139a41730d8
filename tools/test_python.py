#!/usr/bin/env python3
"""Builds the wheel, installs it into clean environments, runs pytest there, and counts in TAP.

  newest  all tests, with the newest scikit-learn and every library that data can come from
  long    with --long alone: those tests that take minutes or gigabytes, or a second type checker
  oldest  with --long alone: all tests, with the oldest of each library that pyproject.toml allows
  spark   with --spark alone: the tests in python/tests/spark, a process for each kind of session

A test that skips fails here: what is missing is to be in tools/packages-pip.txt.

usage: tools/test_python.py [--long] [--spark [--if-installed]]
  --long          what takes minutes, gigabytes or packages of its own
  --if-installed  skip where `make spark` has not installed Spark yet (it is half a gigabyte)
"""
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import wheel

TESTS = wheel.ROOT / "python" / "tests"
# An environment: the packages in it, the tests, and which of them.
RUNS = {"newest": ("python", ["."], "not long")}
LONG = {
    "long": ("python and python-long", ["."], "long"),
    "oldest": ("python-oldest", ["."], "not long"),
}
# A process has one kind of session: Spark does not mix them.
SPARK = ("python-spark", ["spark/test_classic.py", "spark/test_cluster.py",
                          "spark/test_connect.py", "spark/test_connect_limit.py"])


def installed(name, group, built):
    folder = wheel.environment(name, group)
    subprocess.run([folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check",
                    "--force-reinstall", "--no-deps", built], check=True)
    return folder


def outcomes(report):
    """Name and trouble of every test; a strict expected failure that fails is as it should be."""
    for case in ElementTree.parse(report).iter("testcase"):
        seconds = float(case.get("time", 0))
        name = f"{case.get('classname')}.{case.get('name')}, {seconds:.1f} s"
        trouble = ""
        for kind in ("failure", "error", "skipped"):
            found = case.find(kind)
            if found is not None and found.get("type") != "pytest.xfail":
                trouble = f"{kind}: {found.get('message', '')}\n{found.text or ''}"
        yield name, trouble


def run(name, group, files, marked, built):
    folder = installed(name, group, built)
    report = wheel.HOME / f"{name}.xml"
    report.unlink(missing_ok=True)
    # Not from the root: there `cloister` would be the sources, which have no module.
    command = [folder / "bin" / "python", "-m", "pytest", "-q", "-c", wheel.ROOT / "pyproject.toml",
               "--rootdir", wheel.ROOT, f"--junitxml={report}", "-m", marked,
               *[TESTS / file for file in files]]
    if "." in files:
        command += ["--ignore", TESTS / "spark"]
    if name == "oldest":  # tests of the tests, which those of today's versions are enough for
        command += ["--ignore", TESTS / "test_planted_faults.py"]
    # scikit-learn checks arrays of other libraries only where SciPy is told beforehand.
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    ended = subprocess.run(command, cwd=wheel.HOME, env=environment, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, check=False)
    if not report.exists():
        return [(f"{name}: pytest", ended.stdout)]
    return [(f"{name}: {test}", trouble) for test, trouble in outcomes(report)]


def without_spark():
    """Why Spark's tests cannot run here; None if they can."""
    if not shutil.which("java"):
        return "Spark needs Java, which is not installed: make spark"
    if not wheel.is_current("spark", SPARK[0]):
        return "pyspark is not installed in build/python/spark: make spark"
    return None


def main():
    reason = without_spark() if "--if-installed" in sys.argv[1:] else None
    if reason:
        print(f"1..1\nok 1 - spark # SKIP {reason}")
        return 0
    built = wheel.build(wheel.HOME / "wheel")
    runs = LONG if "--long" in sys.argv[1:] else RUNS
    if "--spark" in sys.argv[1:]:
        runs = {}
    results = [found for name, asked in runs.items() for found in run(name, *asked, built)]
    if "--spark" in sys.argv[1:]:
        for file in SPARK[1]:
            results += run("spark", SPARK[0], [file], "not long", built)
    print(f"1..{len(results)}")
    for number, (name, trouble) in enumerate(results, 1):
        print(f"{'not ok' if trouble else 'ok'} {number} - {name}")
        for line in trouble.splitlines():
            print(f"# {line}")
    return 1 if any(trouble for _, trouble in results) else 0


if __name__ == "__main__":
    sys.exit(main())
