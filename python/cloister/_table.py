"""Data of the caller's own as a table of the library, without a copy where it lies right.

Arrays: float64, float32 and integers of every size, rows or columns first, memory maps.  SciPy's
CSR.  Whatever gives an Arrow C stream: pandas, polars, pyarrow, DuckDB.
"""
from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import scipy.sparse

from ._native import call, ffi, lib, make, text
from ._validate import arrow_table
from .exceptions import ArgumentError

MISSING = {"null": lib.CLO_MISSING_NULL, "refuse": lib.CLO_MISSING_REFUSE,
           "fill": lib.CLO_MISSING_FILL}
TEXT = {"refuse": lib.CLO_TEXT_REFUSE, "missing": lib.CLO_TEXT_MISSING,
        "later": lib.CLO_TEXT_LATER}
ELEMENTS = {"f8": lib.CLO_FLOAT64, "f4": lib.CLO_FLOAT32, "i8": lib.CLO_INT64,
            "i4": lib.CLO_INT32, "i2": lib.CLO_INT16, "i1": lib.CLO_INT8, "u8": lib.CLO_UINT64,
            "u4": lib.CLO_UINT32, "u2": lib.CLO_UINT16, "u1": lib.CLO_UINT8, "b1": lib.CLO_UINT8}

_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def gives_arrow(data: Any) -> bool:
    return hasattr(data, "__arrow_c_stream__")


class Table:
    """A clo_table, and what it borrows."""

    def __init__(self, pointer: Any, *borrowed: Any) -> None:
        self.pointer = ffi.gc(pointer, lib.clo_table_free)
        self._borrowed = borrowed

    @property
    def rows(self) -> int:
        return int(lib.clo_table_rows(self.pointer))

    @property
    def cols(self) -> int:
        return int(lib.clo_table_cols(self.pointer))

    @property
    def names(self) -> list[str] | None:
        names = [text(lib.clo_table_column_name(self.pointer, j)) for j in range(self.cols)]
        return None if not names or names[0] is None else [name or "" for name in names]

    def free(self) -> None:
        ffi.release(self.pointer)
        self._borrowed = ()


def persons_of(table: Table) -> bytes:
    """The hashes of a table's persons, 16 bytes each: as sensitive as its rows."""
    out, count = ffi.new("uint8_t **"), ffi.new("size_t *")
    call(lib.clo_table_persons, table.pointer, out, count)
    hashes = bytes(ffi.buffer(out[0], count[0] * int(lib.CLO_PERSON_BYTES)))
    lib.clo_persons_free(out[0], count[0])
    return hashes


def compare_persons(hashes: bytearray) -> Any:
    """What the lists of all parts come to; raises where a person is in two of them."""
    found = ffi.new("clo_persons *")
    place = ffi.from_buffer("uint8_t[]", hashes, require_writable=True)
    call(lib.clo_persons_compare, place, len(hashes) // int(lib.CLO_PERSON_BYTES), found)
    return found


def _choose(kind: str, choices: dict[str, int], value: str) -> int:
    if value not in choices:
        raise ArgumentError(f"{kind} must be one of {', '.join(choices)}, not {value!r}")
    return choices[value]


def _names_nobody(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value) or \
        type(value).__name__ in ("NAType", "NaTType")


def unit_numbers(unit: Any, rows: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """A number for each person, whatever names them; equality is all that counts."""
    values = np.asarray(unit)
    if values.shape != (rows,):
        raise ArgumentError(f"unit must name a person for each of the {rows} rows")
    if values.dtype.kind in "iu":
        return np.ascontiguousarray(values).astype(np.uint64)
    if any(_names_nobody(value) for value in values.tolist()):
        raise ArgumentError("unit is missing in some rows: leave them out, or name a person")
    _, codes = np.unique(values.astype(str) if values.dtype.kind == "O" else values,
                         return_inverse=True)
    return np.ascontiguousarray(codes.reshape(rows)).astype(np.uint64)


def _native_order(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """What the library can look at: a plain type, machine order, no step backwards."""
    if array.dtype.kind == "c":
        raise ArgumentError("Complex data not supported")
    if array.dtype.str[1:] not in ELEMENTS:
        array = array.astype(np.float64)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return np.ascontiguousarray(array) if any(step < 0 for step in array.strides) else array


def _set_extras(view: Any, names: Any, unit: Any, missing: str, rows: int) -> list[Any]:
    kept: list[Any] = []
    view.missing = _choose("missing", MISSING, missing)
    if names is not None:
        texts = [ffi.new("char[]", str(name).encode()) for name in names]
        pointers = ffi.new("const char *[]", texts)  # a field of a struct does not keep it
        view.names = pointers
        kept += [texts, pointers]
    if unit is not None:
        numbers = unit_numbers(unit, rows)
        view.units = ffi.cast("const uint64_t *", numbers.ctypes.data)
        kept.append(numbers)
    return kept


def _new_view() -> Any:
    view = ffi.new("clo_view *")
    lib.clo_view_init(view, ffi.sizeof("clo_view"))
    return view


def from_array(array: Any, *, names: Any = None, unit: Any = None, missing: str = "null") -> Table:
    """A table over a NumPy array of two dimensions; copied only where its type or order asks."""
    array = np.asarray(array)
    if array.ndim != 2:
        raise ArgumentError(f"the data must have two dimensions, not {array.ndim}")
    array = _native_order(array)
    view = _new_view()
    view.data = ffi.cast("const void *", array.ctypes.data)
    view.element = ELEMENTS[array.dtype.str[1:]]
    view.rows, view.cols = array.shape
    view.row_step, view.col_step = array.strides
    kept = _set_extras(view, names, unit, missing, len(array))
    return Table(make("clo_table", lib.clo_table_wrap_view, view), array, kept)


def from_sparse(matrix: Any, *, names: Any = None, unit: Any = None,
                missing: str = "null") -> Table:
    """A table over SciPy's sparse rows."""
    rows = matrix.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    values = _native_order(rows.data)
    if rows.data.strides[0] != rows.data.dtype.itemsize:
        values = np.ascontiguousarray(values)
    view = _new_view()
    view.data = ffi.cast("const void *", values.ctypes.data)
    view.element = ELEMENTS[values.dtype.str[1:]]
    view.rows, view.cols = rows.shape
    view.starts = ffi.cast("const void *", rows.indptr.ctypes.data)
    view.columns = ffi.cast("const void *", rows.indices.ctypes.data)
    view.start_bytes, view.column_bytes = rows.indptr.itemsize, rows.indices.itemsize
    kept = _set_extras(view, names, unit, missing, rows.shape[0])
    return Table(make("clo_table", lib.clo_table_wrap_view, view), rows, values, kept)


def from_arrow(data: Any, *, unit: str | None = None, missing: str = "null",
               fill: str | None = None, text_columns: str = "refuse",
               unit_key: bytes = b"") -> Table:
    """A table over whatever gives an Arrow C stream; ``unit`` is the name of a column, whose
    persons are hashed under the key, or under one that nobody knows."""
    if hasattr(data, "iloc"):  # pandas: a number of each row, which it would make a column of
        data = arrow_table(data)
    capsule = data.__arrow_c_stream__()
    address = _capsule_pointer(capsule, b"arrow_array_stream")
    options = ffi.new("clo_read_options *")
    lib.clo_read_options_init(options, ffi.sizeof("clo_read_options"))
    kept = [ffi.new("char[]", value.encode()) if value is not None else ffi.NULL
            for value in (unit, fill)]
    options.unit, options.fill = kept
    key = ffi.from_buffer(unit_key)
    if unit_key:
        options.unit_key = ffi.cast("const uint8_t *", key)
    options.missing = _choose("missing", MISSING, missing)
    options.text = _choose("text columns", TEXT, text_columns)
    out = ffi.new("clo_table **")
    call(lib.clo_table_from_arrow, ffi.cast("struct ArrowArrayStream *", address), options, out)
    return Table(out[0], capsule, data)


def as_table(data: Any, *, names: Any = None, unit: Any = None, missing: str = "null",
             fill: str | None = None, text_columns: str = "refuse",
             unit_key: bytes = b"") -> Table:
    """Whichever of them fits the data; ``unit`` is a column's name, or a person a row."""
    if scipy.sparse.issparse(data):
        return from_sparse(data, names=names, unit=unit, missing=missing)
    named = unit is None or isinstance(unit, str)
    if gives_arrow(data) and named:
        try:
            return from_arrow(data, unit=unit, missing=missing, fill=fill,
                              text_columns=text_columns, unit_key=unit_key)
        except ImportError:  # pandas without pyarrow
            if unit is not None:
                raise
    if isinstance(unit, str):
        raise ArgumentError(f"unit {unit!r} names a column, and an array has no names: give a "
                            "person for each row")
    if fill is not None:
        raise ArgumentError("fill needs a data frame: an array's cells take the middle of the "
                            "domain")
    if names is None and hasattr(data, "columns") and hasattr(data, "to_numpy"):
        names = list(data.columns)
        data = data.to_numpy()
    return from_array(data, names=names, unit=unit, missing=missing)
