"""Files of other programs, as data that an estimator takes."""
from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from .exceptions import ArgumentError, CloisterError, FormatError


def readable(path: str, kind: str, take: Callable[[], Any]) -> Any:
    """What it gives.  What pyarrow and NumPy say of a file that they cannot read may quote it: it
    is said without.  That there is no such file, or no right to it, is the system's to say."""
    try:
        return take()
    except CloisterError:
        raise
    except (ValueError, EOFError):  # pyarrow's are ValueErrors
        pass
    except OSError as refused:
        if type(refused) is not OSError or refused.errno is not None:
            raise
    # Not within the handler: what was caught there would go along.
    raise FormatError(f"{path} cannot be read as {kind}: it is damaged, or something else")


def _by_ending(path: str, ending: str, columns: list[str] | None) -> Any:
    if ending == "npy":
        return np.load(path, mmap_mode="r", allow_pickle=False)
    if ending == "parquet":
        import pyarrow.parquet

        return pyarrow.parquet.read_table(path, columns=columns)
    if ending in ("feather", "arrow"):
        import pyarrow.feather

        return pyarrow.feather.read_table(path, columns=columns)
    if ending == "csv":
        import pyarrow.csv

        return pyarrow.csv.read_csv(path)
    raise ArgumentError("cloister.read reads npy, parquet, feather, arrow and csv files, not "
                        f"{ending!r}")


def read(path: str | os.PathLike[str], columns: list[str] | None = None) -> Any:
    """The data of a file: NPY as a memory map; Parquet, Feather, Arrow IPC and CSV by pyarrow.

    pyarrow chooses the type of each column of a CSV file by its cells.  If the number of rows is
    hidden, no cell may decide that: give the path to :func:`cloister.run`.

    Parameters
    ----------
    path : path
        The file; its ending says what it is.
    columns : list of str, optional
        Only these, of what pyarrow reads.

    Returns
    -------
    array or pyarrow.Table
        What ``fit`` takes as it is.
    """
    text = os.fspath(path)
    ending = text.removesuffix(".gz").rpartition(".")[2].lower()
    data = readable(text, ending.upper(), lambda: _by_ending(text, ending, columns))
    return data.select(columns) if ending == "csv" and columns else data
