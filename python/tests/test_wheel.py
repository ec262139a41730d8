"""The wheel that `make wheel` makes: whole, licensed, and with an MPFR that can be replaced."""
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.long
ROOT = Path(__file__).resolve().parents[2]
FIT = """
import sys
sys.path.insert(0, {folder!r})
import numpy as np, cloister
assert cloister.__file__.startswith({folder!r})
rows = np.random.default_rng(0).random((1000, 3))
cloister.PrivateKMeans(2, epsilon=1, bounds=(0, 1)).fit(rows)
print(*sorted({{line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}}))
"""


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    found = list((ROOT / "build" / "wheel").glob("*manylinux*.whl"))
    assert found, "run make wheel first"
    folder = tmp_path_factory.mktemp("wheel")
    with zipfile.ZipFile(found[0]) as wheel:
        wheel.extractall(folder)
    return folder


def fit(folder):
    return subprocess.run([sys.executable, "-c", FIT.format(folder=str(folder))],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


def test_every_library_but_the_systems_is_its_own(unpacked):
    ended = fit(unpacked)
    assert ended.returncode == 0, ended.stderr
    for name in ("mpfr", "gmp", "openblas", "sodium", "sqlite3", "jansson", "gomp"):
        own = rf"/cloister\.libs/lib{name}[-.p]"
        assert any(re.search(own, place) for place in ended.stdout.split()), name


def test_every_library_has_its_licence(unpacked):
    texts = list(unpacked.glob("*.dist-info/licenses/*.txt"))
    assert len(texts) >= 8 and any("mpfr" in text.name for text in texts)
    record = next(unpacked.glob("*.dist-info/RECORD")).read_text()
    assert all(text.name in record for text in texts)


def test_mpfr_can_be_replaced(unpacked, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(unpacked, folder)
    mpfr = next((folder / "cloister.libs").glob("libmpfr-*"))
    whole = mpfr.read_bytes()
    mpfr.write_bytes(b"no library")
    assert fit(folder).returncode != 0  # it is this one that is used
    system = next(Path("/usr/lib").glob("*/libmpfr.so.6"))
    mpfr.write_bytes(system.read_bytes())
    assert fit(folder).returncode == 0
    mpfr.write_bytes(whole)
    assert fit(folder).returncode == 0
