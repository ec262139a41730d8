"""Rows that lie in files of their own."""
import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

PARTITIONS = 6


@pytest.fixture(scope="session")
def frame(rows):
    """The rows, with names."""
    return pyarrow.table({name: rows[:, j] for j, name in enumerate("abc")})


@pytest.fixture(scope="session")
def files(frame, tmp_path_factory):
    """A folder with the rows in some order, a file a partition."""
    folder = tmp_path_factory.mktemp("rows")
    mixed = frame.take(np.random.default_rng(1).permutation(len(frame)))
    ends = [len(mixed) * i // PARTITIONS for i in range(PARTITIONS + 1)]
    for i, (first, end) in enumerate(zip(ends, ends[1:])):
        pyarrow.parquet.write_table(mixed.slice(first, end - first), folder / f"{i}.parquet")
    return folder
