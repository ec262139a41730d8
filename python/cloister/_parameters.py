"""Constructors made from the library's rows, so that a new method or parameter needs nothing here.

scikit-learn reads the parameters of an estimator off the signature of ``__init__``; so does help().
"""
from __future__ import annotations

import keyword
import re
from collections.abc import Callable
from typing import Any

from ._native import SETTINGS, Setting
from ._rows import Parameter, family_parameters, solver_parameters

#: How a value is given in Python, where that is not plain from what a setting is.
FORMS = {
    "bounds": "(lower, upper), numbers or arrays; or {column: (lower, upper)}; or the path of a "
              "bounds file; or 'private': a release of its own finds them first, within the same "
              "budget, for which norm_at_most must be given",
    "delta": "None: the default",
    "fill": "{column: value}",
    "ledger": "None: nothing is charged, and the release says so",
    "project": "a release, or its file",
    "schema": "a path, or a dict in the form of a Table Schema; frames then hold categories and "
              "dates as they are",
    "unit": "for arrays see fit",
}
#: What an estimator takes that is no setting of a run: name, default, what it is.
OWN: tuple[tuple[str, Any, str], ...] = (
    ("progress", None, "True: a bar, where tqdm is installed; or a function of the share done"),
)

Renaming = dict[str, str]


def _as_written_here(found: re.Match[str]) -> str:
    named = {row.name: row.python for row in SETTINGS}
    return named.get(found.group(1)) or found.group(1).replace("-", "_")


def _documentation(row: Setting) -> str:
    form = FORMS.get(row.name)
    text = re.sub("@([a-z-]*[a-z])", _as_written_here, row.help)
    usual = f" (default {row.default})" if row.default and not row.choice else ""
    return text + usual + (f": {form}" if form else "")


def _all_settings() -> list[tuple[str, Any, str]]:
    """Name, default and documentation of each argument that every private estimator has."""
    taken = [(row.python, False if row.flag else row.default if row.choice else None,
              _documentation(row)) for row in SETTINGS if row.python]
    return [*taken, *OWN]


def python_name(name: str, renamed: Renaming) -> str:
    """A parameter's name here.  No underscore goes to its end: that is for what is fitted."""
    plain = name.replace("-", "_")
    return renamed.get(name, f"{plain}_value" if keyword.iskeyword(plain) else plain)


def make_init(place: str | None, required: list[str],
              presets: dict[str, Any]) -> Callable[..., None]:
    """An ``__init__`` that keeps its arguments, which is all that scikit-learn wants of one.

    place: the one argument that may be given by its place; None: all are given by name.
    """
    preset = f"={presets[place]!r}" if place in presets else ""
    others = {name: value for name, value in presets.items() if name != place}
    head = ", ".join(["self", *([place + preset] if place else []), "*",
                      *(name for name in required if name != place),
                      *(f"{name}={value!r}" for name, value in others.items())])
    names = dict.fromkeys([*([place] if place else []), *required, *others])
    body = "".join(f"\n    self.{name} = {name}" for name in names)
    scope: dict[str, Any] = {}
    exec(f"def __init__({head}) -> None:{body}\n", scope)  # as dataclasses do
    init: Callable[..., None] = scope["__init__"]
    return init


def _entry(name: str, what: str, preset: str, help_text: str) -> str:
    return f"    {name} : {what}{preset}\n        {help_text}.\n"


def _row_entry(name: str, row: Parameter, preset: str) -> str:
    what = "{" + ", ".join(repr(c) for c in row.choices) + "}" if row.choices else \
        {"int": "int", "real": "float"}[row.kind]
    return _entry(name, what, preset, row.help[:1].upper() + row.help[1:])


def describe(first: str, parameters: dict[str, Parameter], renamed: Renaming,
             required: set[str]) -> str:
    """The section on parameters of a class's documentation."""
    lines = ["\n\n    Parameters\n    ----------\n"]
    rows = {python_name(name, renamed): row for name, row in parameters.items()}
    lines += [_row_entry(name, row, "") for name, row in rows.items() if name in required]
    if first == "private":
        lines.append(_entry("epsilon", "float", "", "The budget of one fit; there is no default"))
        lines.append(_entry("method", "str", ", default='auto'",
                            "That method which promises the least error, or one by name"))
        lines += [_entry(name, "optional", f", default={preset!r}", text[:1].upper() + text[1:])
                  for name, preset, text in _all_settings()]
    lines += [_row_entry(name, row, ", default=None (the method's own)")
              for name, row in rows.items() if name not in required]
    if first == "private":
        lines.append(_entry("random_state", "int, optional", ", default=None",
                            "None is secure; a number makes the release reproducible, so it is NOT "
                            "private, and warns"))
    return "".join(lines)


def _out_of_the_way(kind: type, parameters: dict[str, Parameter], renamed: Renaming) -> Renaming:
    """Names for parameters that are called as a method or a setting of the estimator is."""
    taken = {name for name, *_ in _all_settings()} | {"epsilon", "method", "random_state"}
    return {name: f"method_{python_name(name, {})}" for name in parameters
            if name not in renamed and (hasattr(kind, python_name(name, {}))
                                        or python_name(name, {}) in taken)}


def private_class(family: str, renamed: Renaming, place: str | None = None,
                  required: tuple[str, ...] = ()) -> Any:
    """Gives an estimator of a family its constructor and the rest of its documentation."""
    def decorate(kind: type) -> type:
        parameters = family_parameters(family)
        renamed.update(_out_of_the_way(kind, parameters, renamed))
        names = [python_name(name, renamed) for name in parameters]
        presets = {"method": "auto", **{name: preset for name, preset, _ in _all_settings()},
                   **{name: None for name in names if name not in required}, "random_state": None}
        setattr(kind, "__init__", make_init(place, [*required, "epsilon"], presets))
        setattr(kind, "_family", family)
        setattr(kind, "_renamed", renamed)
        kind.__doc__ = (kind.__doc__ or "") + describe("private", parameters, renamed,
                                                       set(required))
        return kind
    return decorate


def solver_class(solver: str, renamed: Renaming) -> Any:
    """The same for a solver: every parameter has the library's own preset."""
    def decorate(kind: type) -> type:
        parameters = solver_parameters(solver)
        presets = {python_name(name, renamed): row.preset for name, row in parameters.items()}
        init = make_init(next(iter(presets)), [], {**presets, "random_state": None})
        setattr(kind, "__init__", init)
        setattr(kind, "_solver", solver)
        setattr(kind, "_renamed", renamed)
        kind.__doc__ = (kind.__doc__ or "") + describe("solver", parameters, renamed, set())
        return kind
    return decorate
