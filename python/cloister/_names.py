"""What the fields of a release and of a plan are called now, and were called in the first schema.

A release of the first schema is read under the names of today.  The old names still work, with a
warning, in what is read from either schema.
"""
from __future__ import annotations

import json
import warnings
from collections.abc import Iterable
from typing import Any

ARRAYS = {"weights": "sizes", "widths": "radii", "told_apart": "distinct_clusters"}
# The first of these that an object has.  A plan has all of its loss, a release an epsilon.
_FIELDS: dict[str, tuple[str, ...]] = {
    **{old: (new,) for old, new in ARRAYS.items()},
    "price": ("epsilon_used", "used"), "metered": ("charged_to_ledger",),
    "capped": ("budget_limited",), "norm": ("norm_scaled",),
    "event": ("loss_kind",), "parameter": ("mu", "epsilon"),
}
# These went without saying where they are left out, each of an object that has the other field.
_LEFT_OUT = {"rows_per_unit": ("relation", 1), "delta": ("loss_kind", 0)}


def warn(old: str, new: str) -> None:
    """Says that a name is an old one, to whoever uses it."""
    warnings.warn(f"{old!r} is an old name: use {new!r}", DeprecationWarning, stacklevel=3)


class Fields(dict[str, Any]):
    """An object of the JSON, which also knows its fields by their old names."""

    def __missing__(self, key: str) -> Any:
        for new in _FIELDS.get(key, ()):
            if new in self:
                warn(key, new)
                return self[new]
        beside, value = _LEFT_OUT.get(key, (None, None))
        if beside in self:
            return value
        raise KeyError(key)


def _of_today(pairs: Iterable[tuple[str, Any]]) -> Fields:
    """An object of the first schema, by the names of today."""
    found = dict(pairs)
    if "event" in found:
        kind = found.pop("event")
        parameter, delta = found.pop("parameter"), found.pop("delta")
        found["loss_kind"] = kind
        found["mu" if kind == "gaussian" else "epsilon"] = parameter
        if kind == "approximate":
            found["delta"] = delta
    if "price" in found:
        found["epsilon_used"] = found.pop("price")
        found["charged_to_ledger"] = found.pop("metered")
        found["budget_limited"] = found.pop("capped")
    if "cols" in found and "norm" in found:
        found["length_unit"] = "half-width" if "lower" in found else "column"
        if "lower" in found:
            found["norm_scaled"] = found.pop("norm")
    return Fields(found)


def release_fields(json_bytes: bytes) -> dict[str, Any]:
    """All that a release says, by the names of today, whichever schema it is in."""
    info: dict[str, Any] = json.loads(json_bytes, object_hook=Fields)
    if info["schema"] != "cloister.release/1":
        return info
    info = json.loads(json_bytes, object_pairs_hook=_of_today)
    values = info["values"]
    info["values"] = Fields((ARRAYS.get(name, name), value) for name, value in values.items())
    return info


def plan_fields(info: dict[str, Any]) -> dict[str, Any]:
    """A plan that knows its fields by their old names."""
    found: dict[str, Any] = json.loads(json.dumps(info), object_hook=Fields)
    return found
