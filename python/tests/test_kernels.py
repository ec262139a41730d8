"""Kernels of OpenBLAS that fit the processor, also where it is newer than OpenBLAS."""
import os
import subprocess
import sys

import pytest

from cloister import _kernels

NEW = {"avx512f", "avx512vl", "avx512bw", "avx512dq", "avx2", "fma", "sse2"}


@pytest.mark.parametrize("taken, able, name", [
    ("Prescott", NEW, "SkylakeX"), ("Core2", {"avx2", "fma"}, "Haswell"), ("Prescott", set(), None),
    ("Zen", NEW, None), ("Haswell", NEW, None), ("", NEW, None)])
def test_a_processor_that_is_not_known_gets_what_it_is_able_to(taken, able, name):
    assert _kernels.better(taken, able) == name


SHOW = """
import ctypes, os
before = dict(os.environ)
import cloister
assert dict(os.environ) == before, "the environment was changed"
for path in {line.split()[-1] for line in open("/proc/self/maps") if "openblas" in line}:
    library = ctypes.CDLL(path)
    if hasattr(library, "openblas_get_corename"):
        library.openblas_get_corename.restype = ctypes.c_char_p
        print(library.openblas_get_corename().decode())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="maps are Linux's")
def test_no_process_is_left_with_the_oldest_kernels():
    clean = {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"}
    ran = subprocess.run([sys.executable, "-c", SHOW], env=clean, capture_output=True, text=True,
                         check=True)
    for kernels in ran.stdout.split():
        assert _kernels.better(kernels, _kernels._abilities()) is None
    # What is asked for stays.
    asked = {**clean, "OPENBLAS_CORETYPE": "Haswell"}
    ran = subprocess.run([sys.executable, "-c", SHOW], env=asked, capture_output=True, text=True,
                         check=True)
    assert "Haswell" in ran.stdout.split() or not ran.stdout


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]) << 20,) * 2)
from cloister import _kernels
with _kernels.fitting("cloister.not_there"):
    print("room")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits are Linux's")
@pytest.mark.parametrize("megabytes, room", [(50, False), (200, False), (4000, True)])
def test_a_limit_of_address_space_is_seen_before_openblas_is_loaded(megabytes, room):
    # The package's own __init__ would load it: the module alone is looked at.
    script = LIMITED.replace("from cloister import _kernels", "\n".join([
        "import importlib.util",
        f"spec = importlib.util.spec_from_file_location('kernels', {_kernels.__file__!r})",
        "_kernels = importlib.util.module_from_spec(spec)",
        "spec.loader.exec_module(_kernels)"])).replace("cloister.not_there", "not_there")
    ran = subprocess.run([sys.executable, "-c", script, str(megabytes)], capture_output=True,
                         text=True, timeout=20)
    assert (ran.stdout.strip() == "room") == room, ran.stderr
    assert room or "address space" in ran.stderr
