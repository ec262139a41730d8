"""Rules of the package's own code: types, imports, examples."""
import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cloister

ROOT = Path(__file__).resolve().parents[2]


def test_types_hold():
    pytest.importorskip("mypy")
    ended = subprocess.run([sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml",
                            "--cache-dir=/dev/null", ROOT / "python" / "cloister"],
                           stdout=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 0, ended.stdout


@pytest.mark.long
def test_types_hold_for_pyright_too():
    """basedpyright is pyright with its own Node inside, so that nothing is fetched to run it."""
    pytest.importorskip("basedpyright")
    ended = subprocess.run([sys.executable, "-m", "basedpyright", "--project",
                            ROOT / "pyproject.toml", "--pythonpath", sys.executable],
                           stdout=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 0, ended.stdout


def test_nothing_private_of_scikit_learn_is_imported():
    for path in (ROOT / "python" / "cloister").glob("*.py"):
        assert not re.search(r"sklearn[\w.]*\._|from sklearn[\w.]* import .*\b_", path.read_text())


@pytest.mark.parametrize("name", sorted(m.name for m in pkgutil.iter_modules(cloister.__path__)
                                        if m.name != "_cloister") + [""])
def test_examples_run(name):
    module = importlib.import_module(f"cloister.{name}".rstrip("."))
    assert doctest.testmod(module).failed == 0


def test_everything_public_is_documented():
    for name in cloister.__all__:
        assert getattr(cloister, name).__doc__, name


PAGES = ["README.md", "docs/python.md", "docs/from-diffprivlib.md"]


@pytest.mark.filterwarnings("ignore::cloister.NotPrivateWarning")
@pytest.mark.parametrize("page", PAGES)
def test_pages_run(page, tmp_path, monkeypatch):
    """Every example of a page, in order, in one session, with what it prints."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    text = (ROOT / page).read_text()
    assert text.count(">>> ") >= 5
    plain = re.sub(r"^```.*$", "", text, flags=re.M)  # a fence is no output
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    failures = []
    runner.run(doctest.DocTestParser().get_doctest(plain, {}, page, page, 0), out=failures.append)
    assert runner.failures == 0, "".join(failures)


def test_the_version_is_the_librarys():
    from importlib.metadata import version

    assert cloister.__version__ == version("cloister")


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "examples").glob("*.py")),
                         ids=lambda path: path.name)
def test_scripts_run(path, tmp_path):
    """From real data to a report, in an empty folder."""
    ended = subprocess.run([sys.executable, path], cwd=tmp_path, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    ratio = float(re.search(r"the loss is ([0-9.]+) times", ended.stdout)[1])
    assert 0.99 < ratio < 1.2 and "spent epsilon 0.5, left 0." in ended.stdout
    made = {file.name for file in tmp_path.iterdir()}
    assert made >= {"release.json", "report.txt", "centers.png", "error.png", "budget.png"}
    assert cloister.Release.read(tmp_path / "release.json").privacy["private"]
    assert "longitude" in (tmp_path / "report.txt").read_text()
