"""``bounds="private"``: bounds of the columns first, then the fit, within one budget.

Two releases and two charges, a share of epsilon and delta each: what the pair costs is their sum
(basic composition), which is the budget of the fit.  Whatever can be refused is, before the first
of them spends.
"""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ._job import Job, setting_text
from ._names import Fields
from ._native import SETTINGS, lib
from ._release import Release
from ._table import Table
from .exceptions import ArgumentError, BudgetError

SHARE = 0.2
#: The share of the cells that bounds hold, unless norm_quantile says otherwise.
QUANTILE = next(float(row.default or 0) for row in SETTINGS if row.name == "norm-quantile")
#: What both runs are told.
_COMMON = ("relation", "accept", "rows", "rows-per-unit", "unit", "missing", "fill", "ledger",
           "dataset", "no-ledger", "new", "purpose", "yes", "threads", "seed")
_OF_BOUNDS = ("norm-at-most", "norm-quantile", "share-norm")


def _number(settings: dict[str, Any], name: str, preset: float) -> float:
    value = settings.get(name)
    try:
        return preset if value is None else float(setting_text(value))
    except ValueError:
        raise ArgumentError(f"{name.replace('-', '_')} must be a number") from None


def _public_rows(settings: dict[str, Any], table: Table) -> int:
    """The number of rows where it is public; 0 where it is not."""
    if settings.get("rows") is not None:
        return int(settings["rows"])
    hidden = settings["relation"] != "replace" or settings.get("unit") is not None
    return 0 if hidden else table.rows


def split(settings: dict[str, Any], table: Table) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings of the two runs; the second has no bounds yet."""
    if settings["mechanism"] == "bounds":
        raise ArgumentError("PrivateBounds finds bounds: give norm, a generous radius, instead")
    if settings.get("norm") is not None or settings.get("center") is not None:
        raise ArgumentError("bounds='private' excludes norm and center: leave them out")
    if settings.get("schema") is not None:
        raise ArgumentError("bounds='private' excludes a schema, which states the bounds: leave "
                            "bounds out")
    if settings.get("norm-at-most") is None:
        raise ArgumentError("bounds='private' needs norm_at_most: a generous public number that "
                            "no cell exceeds")
    share = _number(settings, "share-norm", SHARE)
    if not 0.001 <= share <= 0.999:
        raise ArgumentError(f"share_norm must be between 0.001 and 0.999, not {share:g}")
    epsilon = _number(settings, "epsilon", 0)
    delta = _number(settings, "delta", lib.clo_default_delta(_public_rows(settings, table)))
    first = {name: settings.get(name) for name in _COMMON}
    first.update({"mechanism": "bounds/quantile", "of": "columns", "epsilon": share * epsilon,
                  "delta": share * delta, "norm": settings["norm-at-most"],
                  "quantile": _number(settings, "norm-quantile", QUANTILE)})
    second = {**settings, **dict.fromkeys(_OF_BOUNDS), "epsilon": epsilon - share * epsilon,
              "delta": delta - share * delta}
    if settings.get("token") is not None:
        first["token"] = f"{settings['token']}, bounds"
    return first, second


def _refuse_before(first: dict[str, Any], second: dict[str, Any], table: Table) -> None:
    """A mistake costs nothing: the fit is prepared with the widest bounds, and the cap must cover
    both runs."""
    widest = float(first["norm"])
    trial = Job({**second, "bounds": (-widest, widest)}, table)
    trial.prepare()
    left = trial.left()
    wanted = first["epsilon"] + second["epsilon"]
    if left is not None and left < wanted * (1 - 1e-9):
        raise BudgetError(f"not enough budget is left: bounds and fit need epsilon {wanted:.3g}, "
                          f"and {left:.3g} is left; nothing was spent")


def _usable(release: Release) -> tuple[Any, Any]:
    """Bounds of the release; a column that they make a single point of is given some width."""
    lower, upper = release["lower"], release["upper"]
    least = 1e-9 * np.maximum(1.0, np.abs(lower))
    narrow = upper - lower < least
    return np.where(narrow, lower - least, lower), np.where(narrow, upper + least, upper)


def _in_terms_of_the_fit(refused: ArgumentError, first: dict[str, Any], whole: float,
                         rows: int) -> str:
    """What the run for the bounds says of its own epsilon, said of the share of the whole."""
    setting, _, needed = refused.advice.partition(" ")
    if setting != "epsilon":
        return f"{refused} (the bounds have {first['epsilon']:g} of epsilon {whole:g})"
    # Rounded up.  Half is left for the fit, or the whole must grow.
    more = math.ceil(1000 * float(needed) / whole) / 1000
    advice = f"raise share_norm to {more:g}" if more <= 0.5 else \
        f"raise epsilon to {math.ceil(100 * float(needed) * whole / first['epsilon']) / 100:g}"
    return (f"{rows} rows are too few to find bounds with {first['epsilon']:g} of epsilon "
            f"{whole:g}: {advice}, or give bounds")


def learn_bounds(settings: dict[str, Any], table: Table) -> tuple[Release, dict[str, Any]]:
    """The release with the bounds, and the settings of the fit with them."""
    first, second = split(settings, table)
    _refuse_before(first, second, table)
    try:
        release = Job(first, table).release()
    except ArgumentError as refused:
        raise ArgumentError(_in_terms_of_the_fit(
            refused, first, _number(settings, "epsilon", 0), table.rows)) from None
    return release, {**second, "bounds": _usable(release)}


def together(first: Release, second: Release) -> dict[str, Any]:
    """What both releases cost."""
    parts = [first.privacy, second.privacy]
    epsilon, delta = (sum(part[name] for part in parts) for name in ("epsilon", "delta"))
    used = sum(part["epsilon_used"] for part in parts)
    return Fields({**parts[1], "epsilon": epsilon, "delta": delta, "epsilon_used": used,
                   "private": all(part["private"] for part in parts), "parts": parts,
                   "statement": f"Two releases, of bounds and of what was fitted within them: "
                                f"together epsilon {epsilon:.6g}, delta {delta:.3g}.  "
                                f"{parts[1]['statement']}"})
