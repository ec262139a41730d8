"""Data of the caller's own as a table of the library, without a copy where it lies right.

Arrays: float64, float32 and integers of every size, rows or columns first, memory maps.  SciPy's
CSR.  Whatever gives an Arrow C stream: pandas, polars, pyarrow, DuckDB.

What is refused here is refused by its type, which is the same whatever the cells say, or because
it is broken.  Where the number of rows is hidden, that is all: types that follow from the cells
(lists, Python objects) are refused there even if all cells are numbers (docs/security/
what-can-end-a-run.md).
"""
from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from ._native import call, encoded, ffi, lib, make, text
from ._validate import (arrow_table, check_plain, float_cells, number_columns, person_text,
                        plain_sparse, refuse_objects)
from .exceptions import ArgumentError, FormatError

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

    def gaps(self) -> int:
        """How many rows have a missing cell: as sensitive as they are."""
        found = ffi.new("uint64_t *")
        call(lib.clo_table_gaps, self.pointer, found)
        return int(found[0])

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


def _listed(values: Any) -> np.ndarray[Any, Any]:
    """As they are: NumPy would make columns of persons that are all tuples of one length."""
    if not (hasattr(values, "__len__") and hasattr(values, "__getitem__")) or \
            isinstance(values, (bytes, dict)):
        return np.asarray(None)
    listed = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        listed[i] = value
    return listed


def unit_numbers(unit: Any, rows: int) -> tuple[np.ndarray[Any, np.dtype[np.uint64]],
                                                np.ndarray[Any, np.dtype[np.uint8]]]:
    """A number for each person, whatever names them; equality is all that counts.  And which rows
    name nobody (None, NaN, NaT, masked): they are left out, as in a file or a data frame."""
    if isinstance(unit, np.ma.MaskedArray):
        values: Any = np.ma.asarray(unit)
    elif hasattr(unit, "__array__"):
        values = np.asarray(unit)
    else:
        values = _listed(unit)
    if values.shape != (rows,):
        raise ArgumentError("unit must name a person for each row")
    nobody = np.ma.getmaskarray(values).astype(np.uint8)
    values = np.ma.getdata(values)
    if values.dtype.kind in "iu":
        return np.ascontiguousarray(values).astype(np.uint64), nobody
    texts = [person_text(value) for value in values]
    nobody |= np.fromiter((text is None for text in texts), bool, rows)
    codes = {text: code for code, text in enumerate(dict.fromkeys(texts))}
    return np.fromiter((codes[text] for text in texts), np.uint64, rows), nobody


def _native_order(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """What the library can look at: a plain type, machine order, no step backwards."""
    if array.dtype.str[1:] not in ELEMENTS:
        array = float_cells(array)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    # Of one row NumPy calls any step contiguous.
    return array.copy() if any(step < 0 for step in array.strides) else array


def _set_extras(view: Any, names: Any, unit: Any, missing: str, rows: int) -> list[Any]:
    kept: list[Any] = []
    view.missing = _choose("missing", MISSING, missing)
    if names is not None:
        texts = [ffi.new("char[]", encoded(str(name), "the name of a column")) for name in names]
        pointers = ffi.new("const char *[]", texts)  # a field of a struct does not keep it
        view.names = pointers
        kept += [texts, pointers]
    if unit is not None:
        persons, nobody = unit_numbers(unit, rows)
        view.units = ffi.cast("const uint64_t *", persons.ctypes.data)
        view.nobody = ffi.cast("const uint8_t *", nobody.ctypes.data)
        kept += [persons, nobody]
    return kept


def _new_view() -> Any:
    view = ffi.new("clo_view *")
    lib.clo_view_init(view, ffi.sizeof("clo_view"))
    return view


def from_array(array: Any, *, names: Any = None, unit: Any = None, missing: str = "null") -> Table:
    """A table over a NumPy array of two dimensions; copied only where its type or order asks."""
    check_plain(array)
    array = np.asarray(array)
    if array.ndim != 2:
        raise ArgumentError(f"the data must have two dimensions, not {array.ndim}")
    check_plain(array)
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
    rows = plain_sparse(matrix)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    values = _native_order(rows.data)
    view = _new_view()
    view.data = ffi.cast("const void *", values.ctypes.data)
    view.element = ELEMENTS[values.dtype.str[1:]]
    view.rows, view.cols = rows.shape
    view.starts = ffi.cast("const void *", rows.indptr.ctypes.data)
    view.columns = ffi.cast("const void *", rows.indices.ctypes.data)
    view.start_bytes, view.column_bytes = rows.indptr.itemsize, rows.indices.itemsize
    kept = _set_extras(view, names, unit, missing, rows.shape[0])
    return Table(make("clo_table", lib.clo_table_wrap_view, view), rows, values, kept)


def _check_buffers(data: Any, unit: str | None) -> None:
    """Whether pyarrow's buffers are as long as their columns: the library cannot see how long they
    are.  Of the persons' column every offset is looked at, too."""
    if not (type(data).__module__.startswith("pyarrow") and hasattr(data, "validate")):
        return
    import pyarrow

    broken = False
    try:
        data.validate()
        if unit is not None and unit in data.schema.names:
            data.column(unit).validate(full=True)
    except pyarrow.ArrowInvalid:  # whose words may quote a cell
        broken = True
    if broken:
        raise FormatError("the Arrow table is broken: a buffer does not fit the length of its "
                          "column; make the table again")


def _read_options(unit: str | None, missing: str, fill: str | None, text_columns: str,
                  unit_key: bytes) -> tuple[Any, list[Any]]:
    """And what they borrow.  Persons are hashed under the key, or under one that nobody knows."""
    options = ffi.new("clo_read_options *")
    lib.clo_read_options_init(options, ffi.sizeof("clo_read_options"))
    kept = [ffi.new("char[]", encoded(value, what)) if value is not None else ffi.NULL
            for value, what in ((unit, "unit"), (fill, "fill"))]
    options.unit, options.fill = kept
    if unit_key:
        kept.append(ffi.from_buffer(unit_key))
        options.unit_key = ffi.cast("const uint8_t *", kept[-1])
    options.missing = _choose("missing", MISSING, missing)
    options.text = _choose("text columns", TEXT, text_columns)
    return options, kept


def refuse_polars_objects(frame: Any) -> None:
    """Arrow has no such cells, and the oldest polars ends the process if it is asked for them."""
    for name, kind in zip(frame.columns, frame.dtypes):
        if str(kind).startswith("Object"):
            raise FormatError(f"the column '{name}' does not hold numbers (its type is Object): "
                              "leave it out, or turn it into numbers")


def from_arrow(data: Any, *, unit: str | None = None, missing: str = "null",
               fill: str | None = None, text_columns: str = "refuse",
               unit_key: bytes = b"") -> Table:
    """A table over whatever gives an Arrow C stream; ``unit`` is the name of a column."""
    if hasattr(data, "iloc"):  # pandas: a number of each row, which it would make a column of
        data = arrow_table(data, unit)
    elif hasattr(data, "columns") and hasattr(data, "dtypes"):
        refuse_polars_objects(data)
    _check_buffers(data, unit)
    capsule = data.__arrow_c_stream__()
    address = _capsule_pointer(capsule, b"arrow_array_stream")
    options, _kept = _read_options(unit, missing, fill, text_columns, unit_key)
    out = ffi.new("clo_table **")
    call(lib.clo_table_from_arrow, ffi.cast("struct ArrowArrayStream *", address), options, out)
    return Table(out[0], capsule, data)


@dataclass(frozen=True)
class TextRows:
    """Some rows of a CSV file, which the library reads: pyarrow would choose the type of a column,
    and quote a line that it cannot read, by what a record says."""

    path: str
    first: int = 0
    count: int | None = None

    def table(self, *, unit: str | None = None, missing: str = "null", fill: str | None = None,
              text_columns: str = "refuse", unit_key: bytes = b"", hidden: bool = False) -> Table:
        options, _kept = _read_options(unit, missing, fill, text_columns, unit_key)
        options.rows_are_secret = hidden
        out = ffi.new("clo_table **")
        call(lib.clo_table_read, encoded(self.path, "data"), options, out)
        table = Table(out[0])
        if self.first > 0 or self.count is not None:
            count = table.rows - self.first if self.count is None else self.count
            call(lib.clo_table_keep, table.pointer, self.first, count)
        return table


def _with_persons(data: Any, unit: Any) -> tuple[Any, str]:
    """A frame with a column more, of its persons; so that it is read the same way with them."""
    import pyarrow

    try:
        table = arrow_table(data) if hasattr(data, "iloc") else pyarrow.table(data)
    except pyarrow.ArrowInvalid:
        table = None
    if table is None:
        raise FormatError("pyarrow does not know the type of a column: leave it out, or turn it "
                          "into numbers")
    if not table.num_columns:
        raise ArgumentError("the data have no columns")
    persons, nobody = unit_numbers(unit, table.num_rows)
    name = "persons" + "_" * max((len(name) for name in table.column_names), default=0)
    return table.append_column(name, pyarrow.array(persons, mask=nobody.astype(bool))), name


def as_table(data: Any, *, names: Any = None, unit: Any = None, missing: str = "null",
             fill: str | None = None, text_columns: str = "refuse",
             unit_key: bytes = b"", hidden: bool = False) -> Table:
    """Whichever of them fits the data; ``unit`` is a column's name, or a person a row.  hidden: how
    many rows there are is no public fact."""
    check_plain(data)
    if hidden:
        refuse_objects(data, unit)
    if scipy.sparse.issparse(data):
        return from_sparse(data, names=names, unit=unit, missing=missing)
    if gives_arrow(data):
        try:
            if unit is not None and not isinstance(unit, str):
                data, unit = _with_persons(data, unit)
            return from_arrow(data, unit=unit, missing=missing, fill=fill,
                              text_columns=text_columns, unit_key=unit_key)
        except ImportError:  # pandas without pyarrow
            if isinstance(unit, str):
                raise
    if isinstance(unit, str):
        raise ArgumentError(f"unit {unit!r} names a column, but an array has no names: give a "
                            "person for each row")
    if fill is not None:
        raise ArgumentError("fill needs a data frame; missing cells of an array get the middle of "
                            "the bounds")
    if names is None and hasattr(data, "columns") and hasattr(data, "to_numpy"):
        names = list(data.columns)
        data = number_columns(data)
    return from_array(data, names=names, unit=unit, missing=missing)
