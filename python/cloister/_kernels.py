"""Which kernels OpenBLAS takes, and whether there is room for its buffers.

OpenBLAS looks at the processor when it is loaded, and one that is newer than the library gets the
kernels of the oldest one of its line: a quarter of the speed.  The command starts itself once more
then, with better ones named in the environment (cli/prepare_process.c); a package cannot.  So the
library is loaded twice: to see what it takes, and, where that is too old, once more with a better
name beside it.  With the same kernels the package also gives the last digits that the command
gives.

While it is loaded OpenBLAS maps a large buffer for each thread, and where a limit of address space
(ulimit -v, LimitAS=) refuses one, it tries again without end.  So it is loaded for as many threads
as there is room for, and not at all where there is none for one.
"""
from __future__ import annotations

import ctypes
import importlib.util
import mmap
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


_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_BUFFER = 128 << 20  # of one thread: one when OpenBLAS is loaded, one when it is called
_REST = 64 << 20     # what the package and its libraries take


def _is_limited() -> bool:
    import resource

    limits = (resource.RLIMIT_AS, resource.RLIMIT_DATA)
    return any(resource.getrlimit(limit)[0] != resource.RLIM_INFINITY for limit in limits)


def _has_room(threads: int) -> bool:
    try:
        room = mmap.mmap(-1, 2 * threads * _BUFFER + _REST,
                         flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        room.close()
    except (OSError, ValueError, OverflowError):
        return False
    return True


def _fewer_threads() -> int | None:
    """How many threads there is room for; None: for all that are asked for."""
    if not sys.platform.startswith("linux") or not _is_limited():
        return None
    asked = [int(text) for name in _THREADS if (text := os.environ.get(name, "")).isdigit()]
    most = min([number for number in asked if number > 0] + [os.cpu_count() or 1])
    threads = most
    while threads > 1 and not _has_room(threads):
        threads //= 2
    if not _has_room(threads):
        raise ImportError("the limit of address space (ulimit -v) is too low: cloister needs "
                          "400 MB, and memory for its data")
    return threads if threads < most else None


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
    if extension in sys.modules:
        yield
        return
    before = {name: os.environ.get(name) for name in (_VARIABLE, *_THREADS)}
    try:
        threads = _fewer_threads()
        if threads:
            os.environ.update(dict.fromkeys(_THREADS, str(threads)))
        name = _name(extension)
        if name:
            os.environ[_VARIABLE] = name
        yield
    finally:
        for variable, value in before.items():
            if value is None:
                os.environ.pop(variable, None)
            else:
                os.environ[variable] = value
