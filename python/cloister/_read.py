"""Files of other programs, as data that an estimator takes."""
from __future__ import annotations

import os
from typing import Any

import numpy as np

from .exceptions import ArgumentError


def read(path: str | os.PathLike[str], columns: list[str] | None = None) -> Any:
    """The data of a file: NPY as a memory map; Parquet, Feather, Arrow IPC and CSV by pyarrow.

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
    if ending == "npy":
        return np.load(text, mmap_mode="r", allow_pickle=False)
    if ending == "parquet":
        import pyarrow.parquet

        return pyarrow.parquet.read_table(text, columns=columns)
    if ending in ("feather", "arrow"):
        import pyarrow.feather

        return pyarrow.feather.read_table(text, columns=columns)
    if ending == "csv":
        import pyarrow.csv

        table = pyarrow.csv.read_csv(text)
        return table.select(columns) if columns else table
    raise ArgumentError(f"cloister.read knows npy, parquet, feather, arrow and csv, not {ending!r}")
