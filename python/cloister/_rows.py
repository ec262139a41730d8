"""What the library says of its mechanisms and solvers: one row a parameter."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ._native import ffi, lib, text


@dataclass(frozen=True)
class Parameter:
    """One row: everything that there is to say about a parameter."""

    name: str
    kind: str  # "int", "real" or "choice"
    lower: float
    upper: float
    preset: Any
    choices: tuple[str, ...]
    help: str


def _rows(pointer: Any, count: int) -> tuple[Parameter, ...]:
    kinds = {lib.CLO_PARAM_INT: "int", lib.CLO_PARAM_REAL: "real", lib.CLO_PARAM_CHOICE: "choice"}
    found = []
    for i in range(count):
        row = pointer[i]
        kind = kinds[row.type]
        choices = tuple((text(row.choices) or "").split("|")) if row.choices else ()
        preset: Any = row.preset
        if kind == "choice":
            preset = choices[int(row.preset)]
        elif kind == "int":
            preset = int(row.preset)
        found.append(Parameter(text(row.name) or "", kind, row.lower, row.upper, preset, choices,
                               text(row.help) or ""))
    return tuple(found)


def methods(family: str | None = None) -> Iterator[tuple[str, str, tuple[Parameter, ...]]]:
    """Family, method and parameters of every mechanism, or of those of one family."""
    count = ffi.new("size_t *")
    for i in range(lib.clo_mechanism_count()):
        mechanism = lib.clo_mechanism_at(i)
        own = text(lib.clo_mechanism_family(mechanism)) or ""
        if family in (None, own):
            rows = _rows(lib.clo_mechanism_params(mechanism, count), count[0])
            yield own, text(lib.clo_mechanism_method(mechanism)) or "", rows


def family_parameters(family: str) -> dict[str, Parameter]:
    """Every parameter that a method of the family has, by name, in the order of the rows."""
    found: dict[str, Parameter] = {}
    for _, _, rows in methods(family):
        for row in rows:
            found.setdefault(row.name, row)
    return found


def solver_parameters(name: str) -> dict[str, Parameter]:
    """Every parameter of a solver."""
    count = ffi.new("size_t *")
    rows = lib.clo_solver_params(lib.clo_solver_find(name.encode()), count)
    return {row.name: row for row in _rows(rows, count[0])}


def solvers() -> list[str]:
    """Their names."""
    return [text(lib.clo_solver_name(lib.clo_solver_at(i))) or ""
            for i in range(lib.clo_solver_count())]
