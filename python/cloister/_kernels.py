"""Which kernels OpenBLAS takes.

OpenBLAS looks at the processor when it is loaded, and one that is newer than the library gets the
kernels of the oldest one of its line: a quarter of the speed.  The command starts itself once more
then, with better ones named in the environment (cli/process.c); a package cannot.  So the library
is loaded twice: to see what it takes, and, where that is too old, once more with a better name
beside it.  With the same kernels the package also gives the last digits that the command gives.
"""
from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_VARIABLE = "OPENBLAS_CORETYPE"
_OLDEST = {"Prescott", "Core2", "Generic"}  # as clo_blas_better_kernel has them
_NEWER = {"SkylakeX": {"avx512f", "avx512vl", "avx512bw", "avx512dq"}, "Haswell": {"avx2", "fma"}}


def better(taken: str, able: set[str]) -> str | None:
    """A better name than `taken` for a processor that is able to do that; None: there is none."""
    if taken not in _OLDEST:
        return None
    return next((name for name, needed in _NEWER.items() if needed <= able), None)


def _abilities() -> set[str]:
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
        return next((set(line.split()) for line in lines if line.startswith("flags")), set())


def _taken(path: str) -> str:
    """The kernels that the extension's OpenBLAS takes; it is loaded for that, and let go again."""
    import _ctypes

    loaded = ctypes.CDLL(path)
    try:
        ask = loaded.openblas_get_corename
        ask.restype = ctypes.c_char_p
        return (ask() or b"").decode()
    finally:
        _ctypes.dlclose(loaded._handle)


def _name(extension: str) -> str | None:
    spec = importlib.util.find_spec(extension)
    if _VARIABLE in os.environ or not sys.platform.startswith("linux") or not spec:
        return None
    if not spec.origin or not Path(spec.origin).is_file():
        return None
    with suppress(AttributeError, ImportError, OSError):  # then the slow ones do as well
        return better(_taken(spec.origin), _abilities())
    return None


@contextmanager
def fitting(extension: str) -> Iterator[None]:
    """While it is loaded inside, the extension's OpenBLAS takes kernels that fit the processor."""
    name = None if extension in sys.modules else _name(extension)
    if name is None:
        yield
        return
    os.environ[_VARIABLE] = name
    try:
        yield
    finally:
        del os.environ[_VARIABLE]
