"""Rows that are read a piece at a time: sums do not mind, and memory is bounded.

A stream of Arrow batches, whoever gives it, is cut into tables of some megabytes.  Parquet is read
row group by row group; rows that a part leaves out are not decoded where a whole group is left out.
"""
from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ._read import readable

#: Of a piece, as Arrow or NumPy has it; a fold needs about twice as much beside it.
PIECE_BYTES = 32 << 20
#: Rows that pyarrow decodes at once.
BATCH_ROWS = 1 << 16


def gathered(batches: Iterable[Any]) -> Iterator[Any]:
    """Batches put together to tables that are worth a fold, and no larger."""
    import pyarrow

    held, size = [], 0
    for batch in batches:
        if batch.num_rows:
            held.append(batch)
            size += batch.nbytes
        if size >= PIECE_BYTES:
            yield pyarrow.Table.from_batches(held)
            held, size = [], 0
    if held:
        yield pyarrow.Table.from_batches(held)


def whole(rows: Any) -> Any:
    """All of them as one piece: a person's rows must be seen together."""
    return rows.read_all() if hasattr(rows, "read_next_batch") else rows


def pieces(rows: Any) -> Iterator[Any]:
    """Rows as tables or arrays that are not too large: a stream is cut, an array looked at through
    slices; anything else is one piece.  There is one piece at least."""
    if hasattr(rows, "read_next_batch"):  # pyarrow's RecordBatchReader
        some = False
        for some_rows in gathered(rows):
            some = True
            yield some_rows
        if not some:
            yield rows.schema.empty_table()
    elif isinstance(rows, np.ndarray) and rows.nbytes > PIECE_BYTES:
        step = max(1, PIECE_BYTES * len(rows) // rows.nbytes)
        for first in range(0, len(rows), step):
            yield rows[first:first + step]
    else:
        yield rows


# ---- Parquet -----------------------------------------------------------------------------------

def is_parquet(path: str | os.PathLike[str]) -> bool:
    return os.fspath(path).lower().endswith(".parquet")


def parquet_ends(path: str) -> list[int]:
    """Behind which row each group ends; what the file says of itself, no row is read."""
    import pyarrow.parquet

    about = readable(path, "PARQUET", lambda: pyarrow.parquet.read_metadata(path))
    sizes = [about.row_group(i).num_rows for i in range(about.num_row_groups)]
    return [int(end) for end in np.cumsum(sizes)]


def parquet_stream(path: str, first: int = 0, count: int | None = None,
                   columns: list[str] | None = None) -> Any:
    """Some rows of a file as a stream of batches, which reads as it goes."""
    import pyarrow.parquet

    ends = parquet_ends(path)
    stop = (ends[-1] if ends else 0) if count is None else first + count
    starts = [0, *ends[:-1]]
    groups = [i for i, (start, end) in enumerate(zip(starts, ends)) if start < stop and first < end]

    def batches() -> Iterator[Any]:
        # Without a buffer ahead: pyarrow would hold whole groups, and those of large files.
        with pyarrow.parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20) as file:
            for group in groups:
                at, stream = starts[group], file.iter_batches(BATCH_ROWS, [group], columns)
                take = partial(next, stream, None)
                while (batch := readable(path, "PARQUET", take)) is not None:
                    low, high = max(first - at, 0), min(stop - at, batch.num_rows)
                    at += batch.num_rows
                    if low < high:
                        yield batch.slice(low, high - low)

    with pyarrow.parquet.ParquetFile(path) as file:
        schema = file.schema_arrow
    if columns is not None:
        schema = pyarrow.schema([schema.field(name) for name in columns])
    return pyarrow.RecordBatchReader.from_batches(schema, batches())
