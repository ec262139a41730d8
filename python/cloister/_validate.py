"""Data as scikit-learn checks them, what is no table at all, and messages without a cell.

scikit-learn, NumPy and pyarrow quote what they could not convert; a message may end in a log that
is not as well kept as the data.
"""
from __future__ import annotations

import numbers
import re
from typing import Any

import numpy as np
import scipy.sparse

from ._native import encoded
from .exceptions import ArgumentError, FormatError

_CELLS = re.compile(r":\narray=.*?(?=Reshape your data|$)", re.DOTALL)
_COMPLEX = "Complex data not supported"


def validated(estimator: Any, X: Any, **how: Any) -> Any:
    """What ``validate_data`` gives; what it refuses is said without the data."""
    from sklearn.utils.validation import validate_data  # workers of a cluster need none

    check_plain(X)
    if scipy.sparse.issparse(X):
        X = plain_sparse(X)
    message = ""
    try:  # a TypeError names a type, as scikit-learn's own checks demand
        return validate_data(estimator, X, **how)
    except OverflowError:
        pass
    except ValueError as refused:
        message = str(refused)
    # Not within the handler: what was caught there would go along, cells and all.
    if not message:
        float_cells(np.asarray(X, dtype=object))
    if message.startswith(_COMPLEX):
        raise ArgumentError(_NO_NUMBERS["c"])
    if message.startswith("could not convert") or not message:
        raise ArgumentError(_TEXT_CELL)
    raise ArgumentError(_CELLS.sub(".  ", message))


#: Arrays whose cells are something else than numbers: what it is called, and what to type.
_NO_NUMBERS = {
    "c": "Complex data not supported: give the real and the imaginary part as two columns",
    "M": "the data are points in time (datetime64): turn them into numbers first, such as days, "
         "with X.astype('datetime64[D]').astype(float)",
    "m": "the data are durations (timedelta64): turn them into numbers first, such as hours, with "
         "X / numpy.timedelta64(1, 'h')",
    "U": "the data are text: turn them into numbers first, with X.astype(float)",
    "S": "the data are bytes of text: turn them into numbers first, with X.astype(float)",
    "T": "the data are text: turn them into numbers first, with X.astype(float)",
    "V": "the data are records with fields: turn them into columns first, with "
         "numpy.lib.recfunctions.structured_to_unstructured(X)",
}
_TEXT_CELL = "the data hold a cell that is not a number: turn columns of text into numbers, or " \
    "leave them out"


def check_plain(data: Any) -> None:
    """Refuses, by its type alone, what would be misread, or lose something on its way."""
    if isinstance(data, np.ma.MaskedArray):
        raise ArgumentError("the mask of the array would be lost: give "
                            "X.astype(float).filled(numpy.nan), so that masked cells are missing")
    if isinstance(data, np.matrix):
        raise ArgumentError("numpy.matrix is not supported: give numpy.asarray(X)")
    if type(data).__name__ == "LazyFrame" and hasattr(data, "collect"):
        raise ArgumentError("a LazyFrame holds no rows yet: give X.collect()")
    if isinstance(data, np.ndarray):
        why = _NO_NUMBERS.get(data.dtype.kind)
    else:
        why = None
        if hasattr(data, "__next__"):
            rows = "X.read_all()" if hasattr(data, "read_all") else \
                "numpy.array(list(X), dtype=float)"
            why = f"the data are an iterator, which can be read only once: give {rows}"
    if why is not None:
        raise ArgumentError(why)


def refuse_objects(data: Any, unit: Any) -> None:
    """Where the number of rows is hidden: types that one cell can change."""
    if isinstance(data, (list, tuple)):
        raise ArgumentError("the number of rows is secret here, so a list is refused: give "
                            "numpy.asarray(X, dtype=float)")
    if getattr(data, "dtype", None) == object:
        raise ArgumentError("the number of rows is secret here, so an array of Python objects is "
                            "refused: give X.astype(float)")
    if scipy.sparse.issparse(data) and data.format in ("lil", "dok"):
        raise ArgumentError("the number of rows is secret here, so a sparse matrix of lists or a "
                            "dictionary is refused: give X.tocsr()")
    if hasattr(data, "iloc") and hasattr(data, "columns"):
        for name, kind in zip(data.columns, data.dtypes):
            if kind == object and not (isinstance(unit, str) and name == unit):
                raise FormatError(f"the number of rows is secret here, so the column '{name}' of "
                                  "Python objects is refused: turn it into numbers with "
                                  "pandas.to_numeric, or leave it out")


def number_columns(frame: Any) -> Any:
    """The cells of a frame of pandas or polars, where Arrow cannot give them.  Columns that are not
    of numbers are refused by their type, as they are there."""
    objects = False
    for name, kind in zip(frame.columns, frame.dtypes):
        if hasattr(kind, "is_numeric"):  # of polars
            is_number = kind.is_numeric() or str(kind) == "Boolean"
        else:
            is_number = kind.kind in "iufb" and not hasattr(kind, "fill_value")
        objects = objects or kind == object
        if not is_number and kind != object:
            raise FormatError(f"the column '{name}' does not hold numbers (its type is {kind}): "
                              "leave it out, or turn it into numbers")
    if objects or not hasattr(frame, "iloc"):
        return frame.to_numpy()
    return frame.to_numpy(dtype=np.float64, na_value=np.nan)


def float_cells(array: Any) -> Any:
    """As doubles; what cannot be one is told without it."""
    try:
        with np.errstate(over="ignore"):  # what is too large is missing, as in a file
            return array.astype(np.float64)
    except OverflowError:
        why = "the data hold a whole number beyond the range of a double: leave its column out, " \
            "or scale it"
    except (TypeError, ValueError):
        why = _TEXT_CELL
    raise ArgumentError(why)


def _indices(array: Any, length: int | None = None) -> Any:
    """Whole numbers as sparse rows take them: one behind the other, in machine order; None where
    they are none."""
    if not (isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype.kind in "iu") or \
            (length is not None and len(array) != length):
        return None
    taken = array.dtype.isnative and array.dtype in (np.int32, np.int64)
    return np.ascontiguousarray(array, dtype=array.dtype if taken else np.int64)


def _within(array: Any, limit: int) -> bool:
    return not len(array) or (int(array.min()) >= 0 and int(array.max()) < limit)


def _values(array: Any, ndim: int = 1) -> Any:
    """Numbers that SciPy can work with; None where they are no array of so many dimensions."""
    if not isinstance(array, np.ndarray) or array.ndim != ndim:
        return None
    check_plain(array)
    if array.dtype.kind not in "fiub" or (array.dtype.kind == "f" and
                                          array.dtype.itemsize not in (4, 8)):
        array = float_cells(array)
    return np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="), copy=False))


def _compressed(matrix: Any) -> Any:
    """CSR, CSC or BSR anew; SciPy's code for them reads and writes wherever these numbers say."""
    shape, blocks = matrix.shape, matrix.format == "bsr"
    values = _values(matrix.data, 3 if blocks else 1)
    block = values.shape[1:] if blocks and values is not None else (1, 1)
    if values is None or 0 in block or any(length % size for length, size in zip(shape, block)):
        return None
    major, minor = shape if matrix.format != "csc" else shape[::-1]
    starts = _indices(matrix.indptr, major // block[0] + 1)
    places = _indices(matrix.indices, len(values))
    if starts is None or places is None or int(starts[0]) != 0 or \
            not bool((starts[1:] >= starts[:-1]).all()) or int(starts[-1]) > len(places) or \
            not _within(places, minor // block[1]):
        return None
    return type(matrix)((values, places, starts), shape=shape)


def _entries(shape: Any, values: Any, *places: Any) -> Any:
    """A matrix of single entries."""
    rows, cols = (_indices(place, len(values)) for place in places)
    if rows is None or cols is None or not _within(rows, shape[0]) or not _within(cols, shape[1]):
        return None
    return scipy.sparse.coo_array((values, (rows, cols)), shape=shape)


def _lists(matrix: Any) -> Any:
    """LIL: of each row a list of columns, and one of values."""
    rows, data = matrix.rows, matrix.data
    if not len(rows) == len(data) == matrix.shape[0] or any(map(_differ, rows, data)):
        return None
    lengths = [len(row) for row in rows]
    return _entries(matrix.shape, np.array([v for row in data for v in row], dtype=np.float64),
                    np.repeat(np.arange(len(rows)), lengths),
                    np.array([column for row in rows for column in row], dtype=np.int64))


def _differ(one: Any, other: Any) -> bool:
    return len(one) != len(other)


def _diagonals(matrix: Any) -> Any:
    """Anew: SciPy looks whether they fit when it makes such a matrix, and never again."""
    values, offsets = _values(matrix.data, 2), _indices(matrix.offsets)
    if values is None or offsets is None:
        return None
    return scipy.sparse.dia_array((values, offsets), shape=matrix.shape)


def _other_form(matrix: Any) -> Any:
    """What SciPy keeps in Python's own lists and dictionaries."""
    if matrix.format == "lil":
        return _lists(matrix)
    if matrix.format == "dia":
        return _diagonals(matrix)
    entries = matrix if matrix.format == "coo" else matrix.tocoo()
    values = _values(entries.data)
    return None if values is None else _entries(matrix.shape, values, entries.row, entries.col)


def plain_sparse(matrix: Any) -> Any:
    """A matrix of SciPy's as CSR, from parts that fit each other: SciPy itself believes them."""
    made = None
    if len(matrix.shape) != 2:
        raise ArgumentError(f"the data must have two dimensions, not {len(matrix.shape)}")
    try:
        if min(matrix.shape) >= 0:
            compressed = matrix.format in ("csr", "csc", "bsr")
            made = (_compressed(matrix) if compressed else _other_form(matrix)).tocsr()
    except ArgumentError:
        raise
    except Exception:  # whatever its parts are, or hold: SciPy's words may quote it
        pass
    if made is None:
        raise ArgumentError("the sparse matrix is broken: its index arrays do not fit its shape or "
                            f"each other; make it anew, or see X.check_format() ({matrix.format})")
    return made


def _object_column(frame: Any) -> tuple[Any, str] | None:
    """The first column of Python objects that are no numbers of Arrow's, and what they are."""
    import pyarrow

    for name in frame.columns:
        try:
            pyarrow.array(frame[name], from_pandas=True)
        except (pyarrow.ArrowException, TypeError, ValueError, OverflowError) as refused:
            return name, "whole numbers beyond 64 bits" if isinstance(refused, OverflowError) \
                or "too large" in str(refused) else "not of numbers alone"
    return None


def person_text(value: Any) -> str | None:
    """What names a person, as text: 7, 7.0 and b"7" name the same one as "7", as in a file.  None:
    nobody, as is one whom no text names: no person's name ends a run."""
    try:
        return _text_of(value)
    except Exception:  # of a class of the caller's, or a number without end
        return None


def _text_of(value: Any) -> str | None:
    if value is None or type(value).__name__ in ("NAType", "NaTType") or \
            (isinstance(value, (float, np.floating)) and value != value):
        return None
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return None if np.isnat(value) else str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, numbers.Integral):
        whole = int(value)
        return str(whole) if whole.bit_length() < 1 << 13 else hex(whole)  # which has no limit
    if isinstance(value, numbers.Real):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    return str(value).encode("utf-8", "backslashreplace").decode("utf-8")


def _with_plain_persons(frame: Any, unit: str | None) -> Any:
    """Persons of Python's objects as text: which type pyarrow would take follows from the cells."""
    import pandas
    import pyarrow

    if unit is None or unit not in frame.columns:
        return frame
    kind = getattr(frame.dtypes[unit], "categories", frame[unit]).dtype
    if kind != object and not isinstance(kind, pandas.StringDtype):
        return frame
    names = pyarrow.array([person_text(value) for value in frame[unit]], pyarrow.large_string())
    return frame.assign(**{unit: pandas.arrays.ArrowExtensionArray(names)})


def arrow_table(frame: Any, unit: str | None = None) -> Any:
    """A data frame of pandas as a table of pyarrow, without its index."""
    import pyarrow

    frame = _with_plain_persons(frame, unit)
    names = [str(name) for name in frame.columns]
    for name in names:
        encoded(name, "the name of a column")
    if len(set(names)) < len(names):
        raise ArgumentError("columns of the frame have the same name: rename them")
    try:
        table = pyarrow.Table.from_pandas(frame, preserve_index=False)
    except (pyarrow.ArrowException, TypeError, ValueError, OverflowError):
        found = _object_column(frame)
        if found is None:
            raise
    else:
        for field in table.schema:
            if isinstance(field.type, pyarrow.BaseExtensionType):
                raise FormatError(f"the column '{field.name}' is not of numbers (its type is "
                                  f"{frame.dtypes[field.name]}): leave it out, or turn it into "
                                  "numbers")
        return table
    name, what = found
    kind = frame.dtypes[name]
    if what.startswith("whole"):
        raise FormatError(f"the column '{name}' holds {what} (its type is {kind}): turn it into "
                          f"doubles with X['{name}'].astype(float), or leave it out")
    raise FormatError(f"the column '{name}' is not of numbers, or {what} (its type is {kind}): "
                      "leave it out, or turn it into numbers with pandas.to_numeric")
