"""How far a run is: told to a function of the caller's, or drawn by tqdm where it is installed."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .exceptions import ArgumentError

Progress = Callable[[float], object]


@contextmanager
def shown(progress: Any, name: str) -> Iterator[Progress | None]:
    """What the library is to call: None where nobody looks.

    progress: None or False; a function of the share that is done; True: a bar of tqdm's, where
    that is installed.
    """
    if progress is None or progress is False:
        yield None
        return
    if callable(progress):
        yield progress
        return
    if progress is not True:
        raise ArgumentError("progress must be True, None or a function of the share that is done")
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield None
        return
    with tqdm(total=1.0, desc=name, bar_format="{desc} {percentage:3.0f}%|{bar}| {elapsed}") as bar:
        def advance(done: float) -> None:
            bar.update(max(0.0, done - bar.n))
        yield advance
        advance(1.0)
