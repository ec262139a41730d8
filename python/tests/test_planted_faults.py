"""Each fault of planted_faults.toml is planted into a copy of the package; a test notices it."""
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import cloister

HERE = Path(__file__).resolve().parent
FAULTS = tomllib.loads((HERE / "planted_faults.toml").read_text(encoding="utf-8"))["mutant"]


def copy_of_the_package(folder):
    """The sources copied, the module that is compiled linked to."""
    package = folder / "cloister"
    package.mkdir()
    for file in Path(cloister.__file__).parent.iterdir():
        if file.suffix in (".py", ".pyi"):
            (package / file.name).write_bytes(file.read_bytes())
        elif file.is_file():
            (package / file.name).symlink_to(file)
    return package


def outcome(folder, tests):
    """0: they passed; 1: some failed."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-c",
               str(HERE.parents[1] / "pyproject.toml"), "--rootdir", str(HERE.parents[1]),
               *[str(HERE / test) for test in tests]]
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    ended = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, check=False, timeout=300)
    assert ended.returncode in (0, 1), ended.stdout
    return ended.returncode


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault["name"])
def test_a_planted_fault_is_noticed(fault, tmp_path):
    file = copy_of_the_package(tmp_path) / fault["file"]
    text = file.read_text(encoding="utf-8")
    assert text.count(fault["find"]) == 1, "its text is no longer there, or more than once"
    file.write_text(text.replace(fault["find"], fault["replace"]), encoding="utf-8")
    assert outcome(tmp_path, fault["noticed_by"]) == 1, f"it survived: {fault['breaks']} is broken"


def test_a_copy_without_a_fault_passes(tmp_path):
    copy_of_the_package(tmp_path)
    tests = {test for fault in FAULTS for test in fault["noticed_by"]}
    assert outcome(tmp_path, sorted(tests)) == 0
