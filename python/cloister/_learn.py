"""``bounds="private"``: bounds of the columns first, then the fit, within one budget.

Two releases and two charges, a share of epsilon and delta each: what the pair costs is their sum
(basic composition), which is the budget of the fit.  Whatever can be refused is, before the first
of them spends.
"""
from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from ._job import Job, setting_text
from ._native import lib
from ._release import Release
from ._table import Table
from .exceptions import ArgumentError, BudgetError

SHARE, QUANTILE = 0.2, 0.98
#: What both runs are told.
_COMMON = ("relation", "accept", "rows", "rows-per-unit", "unit", "missing", "fill", "ledger",
           "dataset", "no-ledger", "new", "yes", "threads", "seed")
_EPSILON = re.compile(r"raise epsilon to ([0-9.]+(?:e[-+]?[0-9]+)?)")
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
        raise ArgumentError("PrivateBounds finds bounds: it takes none, but a norm to look under")
    if settings.get("norm") is not None or settings.get("center") is not None:
        raise ArgumentError("bounds='private' takes no norm and no center beside it")
    if settings.get("norm-at-most") is None:
        raise ArgumentError("bounds='private' needs norm_at_most: a public number that no cell "
                            "exceeds in size, however generous")
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
        raise BudgetError(f"the cap leaves epsilon {left:.3g}, and bounds and fit together cost "
                          f"{wanted:.3g}: nothing was spent")


def _usable(release: Release) -> tuple[Any, Any]:
    """Bounds of the release; a column that they make a single point of is given some width."""
    lower, upper = release["lower"], release["upper"]
    least = 1e-9 * np.maximum(1.0, np.abs(lower))
    narrow = upper - lower < least
    return np.where(narrow, lower - least, lower), np.where(narrow, upper + least, upper)


def _in_terms_of_the_fit(message: str, first: dict[str, Any], settings: dict[str, Any]) -> str:
    """What the run for the bounds says of its own epsilon, said of the share of the whole."""
    whole = _number(settings, "epsilon", 0)
    asked = _EPSILON.search(message)
    if not asked:
        return message
    share, needed = first["epsilon"] / whole, float(asked.group(1))
    # Rounded up.  Half is left for the fit, or the whole must grow.
    more = math.ceil(1000 * needed / whole) / 1000
    advice = f"raise share_norm to {more:g}" if more <= 0.5 else \
        f"raise epsilon to {math.ceil(100 * needed / share) / 100:g}"
    return message.replace(asked.group(0), advice)


def learn_bounds(settings: dict[str, Any], table: Table) -> tuple[Release, dict[str, Any]]:
    """The release with the bounds, and the settings of the fit with them."""
    first, second = split(settings, table)
    _refuse_before(first, second, table)
    try:
        release = Job(first, table).release()
    except ArgumentError as refused:
        said = _in_terms_of_the_fit(str(refused), first, settings)
        raise ArgumentError(f"{said} (the bounds have {first['epsilon']:g} of epsilon "
                            f"{_number(settings, 'epsilon', 0):g})") from None
    return release, {**second, "bounds": _usable(release)}


def together(first: Release, second: Release) -> dict[str, Any]:
    """What both releases cost."""
    parts = [first.privacy, second.privacy]
    epsilon, delta = (sum(part[name] for part in parts) for name in ("epsilon", "delta"))
    return {**parts[1], "epsilon": epsilon, "delta": delta, "price": sum(p["price"] for p in parts),
            "private": all(part["private"] for part in parts), "parts": parts,
            "statement": f"Two releases, of bounds and of what was fitted within them: together "
                         f"epsilon {epsilon:.6g}, delta {delta:.3g}.  {parts[1]['statement']}"}
