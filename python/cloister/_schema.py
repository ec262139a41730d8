"""A schema: what is publicly stated of the columns, and frames as the cells that it means.

A category of text becomes the number of its level, a boolean 0 or 1, a date its days and a time its
seconds since 1970; what is missing becomes NaN, and what is in no list -1.  What these mean to a
run (clipping, the rule of a missing cell) is the library's to say, so that a frame gives the
release that the same rows give as a CSV file.
"""
from __future__ import annotations

import datetime
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ._native import call, encoded, ffi, lib, make, written_json
from ._table import Table, from_array
from .exceptions import ArgumentError, FormatError

Cells = np.ndarray[Any, np.dtype[np.float64]]
OUTSIDE = -1.0


def schema_text(schema: Any) -> str:
    """A schema as its setting has it: a path, or JSON."""
    if isinstance(schema, Schema):
        return schema.to_json()
    if isinstance(schema, Mapping):
        return json.dumps(dict(schema))
    if isinstance(schema, (str, os.PathLike)):
        return os.fspath(schema)
    raise ArgumentError("schema must be a path or a dict in the form of a Table Schema, not "
                        f"{type(schema).__name__}")


class Schema:
    """What an institution states of its data once: names, types, bounds, levels, dates.

    Parameters
    ----------
    schema : path or dict
        A Table Schema (``docs/guides/schema.md``).
    """

    _owner: Any = None

    def __init__(self, schema: Any) -> None:
        source = encoded(schema_text(schema), "schema")
        self.pointer = ffi.gc(make("clo_schema", lib.clo_schema_read, source), lib.clo_schema_free)
        self._read()

    @classmethod
    def _of(cls, pointer: Any, owner: Any) -> Schema:
        """One that belongs to a release."""
        made = cls.__new__(cls)
        made.pointer, made._owner = pointer, owner
        made._read()
        return made

    def _read(self) -> None:
        self.info: dict[str, Any] = written_json(lib.clo_schema_write, self.pointer)

    def to_json(self) -> str:
        """The canonical form, as JSON."""
        return json.dumps(self.info)

    @property
    def digest(self) -> str:
        return bytes(ffi.string(lib.clo_schema_digest(self.pointer))).decode()

    @property
    def fields(self) -> list[dict[str, Any]]:
        """The columns that a run uses."""
        return [field for field in self.info["fields"]
                if field.get("cloister", {}).get("use", True)]

    @property
    def person(self) -> str | None:
        return self.info.get("cloister", {}).get("person")

    @property
    def names(self) -> list[str]:
        return [field["name"] for field in self.fields]

    # ---- frames ----

    def table(self, data: Any, unit: Any = None) -> Table:
        """The rows of a frame, or of an array with a column for each column in use."""
        fields = self.fields
        named = _columns_of(data)
        if named is None:
            array = np.asarray(data)
            if array.ndim != 2 or array.shape[1] != len(fields):
                raise ArgumentError(f"the schema uses {len(fields)} columns: give a frame with "
                                    "their names, or an array with as many columns")
            columns: list[Any] = [array[:, j] for j in range(len(fields))]
        else:
            if len(set(named)) < len(named):
                raise ArgumentError("two columns of the frame have the same name: rename one")
            for name in self.names:
                if name not in named:
                    raise ArgumentError(f"the schema needs the column '{name}', which the data do "
                                        "not have")
            columns = [_column(data, name) for name in self.names]
            if unit is None and self.person is not None:
                unit = self.person
            if isinstance(unit, str):
                if unit not in named:
                    raise ArgumentError(f"the data have no unit column '{unit}'")
                unit = _objects(_column(data, unit))
        cells = [self._cells(field, column) for field, column in zip(fields, columns)]
        rows = np.ascontiguousarray(np.stack(cells, axis=1)) if len(cells[0]) else \
            np.empty((0, len(cells)))
        table = from_array(rows, names=self.names, unit=unit)
        call(lib.clo_table_describe, table.pointer, self.pointer)
        return table

    def _cells(self, field: dict[str, Any], column: Any) -> Cells:
        kind, gaps = field["type"], field.get("missingValues", self.info.get("missingValues", [""]))
        if kind in ("number", "integer"):
            return _numbers(column)
        if kind in ("date", "datetime"):
            return _moments(field, column, gaps)
        if kind == "boolean":
            codes = {**dict.fromkeys(field.get("falseValues", ()), 0.0),
                     **dict.fromkeys(field.get("trueValues", ()), 1.0)}
            plain = _plain(column)
            if plain is not None and plain.dtype.kind in "biuf":
                cells = plain.astype(float)
                return np.where((cells == 0) | (cells == 1), cells, np.nan)
            return _coded(column, codes, gaps, np.nan)
        codes = {level: float(code) for code, level in enumerate(field["categories"])}
        return _coded(column, codes, gaps, OUTSIDE)


# ---- columns of whatever kind of frame -----------------------------------------------------------

def _columns_of(data: Any) -> list[str] | None:
    if hasattr(data, "column_names"):
        return list(data.column_names)
    if hasattr(data, "columns") and not isinstance(data, np.ndarray):
        return [str(name) for name in data.columns]
    return list(data) if isinstance(data, Mapping) else None


def _column(data: Any, name: str) -> Any:
    return data.column(name) if hasattr(data, "column_names") else data[name]


def _plain(column: Any) -> np.ndarray[Any, Any] | None:
    """Numbers, truth values or moments as NumPy has them; None: something else."""
    kind = getattr(column, "dtype", None)
    if isinstance(column, np.ndarray) or (hasattr(kind, "kind") and hasattr(column, "to_numpy")
                                          and not hasattr(kind, "categories")
                                          and not hasattr(kind, "na_value")):
        array = np.asarray(column)
        return array if array.dtype.kind in "biufM" else None
    return None


def _objects(column: Any) -> np.ndarray[Any, Any]:
    """Any column as Python objects, None where it is missing."""
    if hasattr(column, "to_pylist"):  # Arrow
        values: Iterable[Any] = column.to_pylist()
    elif hasattr(column, "to_list"):  # pandas and polars
        values = column.to_list()
    else:
        values = np.asarray(column).tolist()
    listed = list(values)
    out = np.empty(len(listed), dtype=object)
    for i, value in enumerate(listed):
        # NaN, NaT and pandas.NA are not equal to themselves, or do not say.
        try:
            missing = value is None or not bool(value == value)
        except TypeError:
            missing = True
        out[i] = None if missing else value
    return out


def _numbers(column: Any) -> Cells:
    plain = _plain(column)
    if plain is not None and plain.dtype.kind in "biuf":
        return plain.astype(np.float64)
    return np.fromiter((_number(value) for value in _objects(column)), np.float64)


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def _code(value: Any, codes: dict[Any, float], gaps: set[Any], outside: float) -> float:
    """Whatever a cell holds, it is no failure: that would tell of a record."""
    if isinstance(value, (bool, np.bool_)):
        value = "true" if value else "false"
    try:
        return float("nan") if value is None or value in gaps else codes.get(value, outside)
    except TypeError:  # a list, say
        return outside


def _coded(column: Any, codes: dict[Any, float], gaps: Iterable[Any], outside: float) -> Cells:
    """By the levels of the column where it has them, and not cell by cell."""
    missing = set(gaps)
    dictionary = _dictionary(column)
    if dictionary is None:
        return np.fromiter((_code(value, codes, missing, outside) for value in _objects(column)),
                           np.float64)
    levels, places = dictionary
    known = np.array([_code(level, codes, missing, outside) for level in levels] + [np.nan])
    return known[np.where(places < 0, len(levels), places)]


def _dictionary(column: Any) -> tuple[list[Any], np.ndarray[Any, Any]] | None:
    """Levels and their places, -1 where one is missing: pandas.Categorical, polars' Enum and
    Categorical, Arrow's dictionaries."""
    categories: Any = getattr(column, "cat", None)
    if hasattr(categories, "codes"):
        return list(categories.categories), np.asarray(categories.codes)
    if hasattr(categories, "get_categories") and str(column.dtype).startswith(("Cat", "Enum")):
        physical = column.to_physical().cast(int).fill_null(-1)
        return categories.get_categories().to_list(), physical.to_numpy()
    if hasattr(column, "combine_chunks") and "dictionary" in str(column.type):
        whole = column.combine_chunks() if hasattr(column, "chunks") else column
        whole = whole.chunk(0) if hasattr(whole, "chunk") else whole
        places = whole.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return whole.dictionary.to_pylist(), places
    return None


def _moments(field: dict[str, Any], column: Any, gaps: Iterable[Any]) -> Cells:
    unit = "D" if field["type"] == "date" else "us"
    scale = 1.0 if unit == "D" else 1e6
    plain = _plain(column)
    if plain is None or plain.dtype.kind != "M":
        plain = _moments_of(_objects(column), field, set(gaps), unit)
    cells = plain.astype(f"datetime64[{unit}]").astype(np.int64).astype(np.float64) / scale
    return np.where(np.isnat(plain), np.nan, cells)


def _moments_of(values: np.ndarray[Any, Any], field: dict[str, Any], gaps: set[Any],
                unit: str) -> np.ndarray[Any, Any]:
    """Of Python's dates and times, and of texts as a CSV file would have them."""
    out = np.full(len(values), np.datetime64("NaT"), dtype=f"datetime64[{unit}]")
    texts: dict[str, Any] = {}
    if field.get("format"):
        raise FormatError(f"the column '{field['name']}' has a format for texts: give dates as "
                          "datetime64 or datetime.date")
    for i, value in enumerate(values):
        if value is None or (isinstance(value, str) and value in gaps):
            continue
        if isinstance(value, str):
            if value not in texts:
                texts[value] = _moment(value)
            out[i] = texts[value]
        else:
            out[i] = _moment(value)
    return out


def _moment(value: Any) -> Any:
    """What is no moment is missing: a failure would tell of a record."""
    try:
        if isinstance(value, str):
            value = datetime.datetime.fromisoformat(value)
        if getattr(value, "tzinfo", None) is not None:
            value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        return np.datetime64(value)
    except (TypeError, ValueError, OverflowError):
        return np.datetime64("NaT")
