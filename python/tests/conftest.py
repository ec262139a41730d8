"""What the tests share: a home of their own for ledgers, and data with a known shape."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    """Keys and ledgers of the tests are nobody's: each test has a home of its own."""
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    (tmp_path / "home").mkdir()


@pytest.fixture(scope="session")
def rows():
    """Two clusters in three columns, within (-1, 1)."""
    generator = np.random.default_rng(7)
    parts = [generator.normal(m, 0.1, size=(1500, 3)) for m in (-0.5, 0.5)]
    return np.vstack(parts).clip(-1, 1)


@pytest.fixture(scope="session")
def command():
    """The command of this very installation."""
    beside = Path(sys.executable).parent / "cloister"
    return str(beside) if beside.exists() else shutil.which("cloister")


@pytest.fixture
def run_command(command, tmp_path):
    def run(*words):
        environment = {**os.environ, "OMP_NUM_THREADS": "2"}
        return subprocess.run([command, *map(str, words)], capture_output=True, check=True,
                              env=environment).stdout
    return run
