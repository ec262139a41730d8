"""The ledger: what was spent on each data set, durably."""
from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from . import _draw
from ._native import call, ffi, lib, make, text, written
from ._release import Release

Path = str | os.PathLike[str]


def default_ledger() -> str:
    """The path of your own ledger, which the command charges by default."""
    room = ffi.new("char[4096]")
    call(lib.clo_ledger_default_path, room, 4096)
    return text(room) or ""


class Ledger:
    """A ledger: a file that records the budget of each data set and what was spent of it.

    Parameters
    ----------
    path : path, optional
        The file; by default your own ledger.
    create : bool
        Make the ledger if there is none.
    closed : bool
        If the ledger is made: whether it refuses data sets that are not declared in it.
    new : bool
        If the ledger is made: whether it may be where a ledger was that was moved. The moved one
        keeps its caps, and this one gets its own.
    """

    def __init__(self, path: Path | None = None, *, create: bool = False,
                 closed: bool = True, new: bool = False) -> None:
        self.path = os.fspath(path) if path is not None else default_ledger()
        if create:
            manner = lib.CLO_LEDGER_CLOSED if closed else lib.CLO_LEDGER_OPEN
            manner |= lib.CLO_LEDGER_SECOND if new else 0
            lib.clo_ledger_close(make("clo_ledger", lib.clo_ledger_create, self.path.encode(),
                                      manner))

    def __fspath__(self) -> str:
        """So that an estimator takes it as its ``ledger``."""
        return self.path

    def _with(self, work: Callable[[Any], Any], *, write: bool = False) -> Any:
        opener = lib.clo_ledger_open if write else lib.clo_ledger_open_existing
        ledger = make("clo_ledger", opener, self.path.encode())
        try:
            return work(ledger)
        finally:
            lib.clo_ledger_close(ledger)

    def _listed(self, visit: Callable[..., int], callback: Any,
                dataset: str | None) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        handle = ffi.new_handle(found)
        name = ffi.NULL if dataset is None else ffi.new("char[]", dataset.encode())
        self._with(lambda ledger: call(visit, ledger, name, callback, handle))
        return found

    def accounts(self, dataset: str | None = None) -> list[dict[str, Any]]:
        """What was spent and what is left: one dictionary per data set."""
        return self._listed(lib.clo_ledger_accounts, lib.cloister_account, dataset)

    def history(self, dataset: str | None = None) -> list[dict[str, Any]]:
        """Every charge in order: data set, mechanism, loss, time and token."""
        return self._listed(lib.clo_ledger_history, lib.cloister_charge, dataset)

    def declare(self, dataset: str, *, epsilon: float, delta: float = 0.0) -> None:
        """Declares a data set and its cap: the most that may ever be spent on it."""
        cap = ffi.new("clo_loss *", {"epsilon": epsilon, "delta": delta})
        self._with(lambda ledger: call(lib.clo_ledger_declare, ledger, dataset.encode(), cap[0]),
                   write=True)

    def fetch(self, token: str) -> Release:
        """The release of an earlier run, free of charge."""
        def work(ledger: Any) -> Release:
            out, length = ffi.new("char **"), ffi.new("size_t *")
            call(lib.clo_ledger_result, ledger, token.encode(), out, length)
            try:
                return Release(ffi.buffer(out[0], length[0])[:])
            finally:
                lib.clo_ledger_bytes_free(out[0])
        release: Release = self._with(work, write=True)
        return release

    def public_key(self) -> str:
        """The public key that checks its releases, in hexadecimal.  It is not secret."""
        room = ffi.new("uint8_t[32]")
        self._with(lambda ledger: call(lib.clo_ledger_public_key, ledger, room))
        return bytes(ffi.buffer(room)).hex()

    def check(self, release: Release) -> None:
        """Raises :class:`SignatureError` unless the release is of this ledger and unchanged."""
        self._with(lambda ledger: call(lib.clo_ledger_check, ledger, release._pointer))

    def verify(self) -> None:
        """Raises :class:`LedgerError` if somebody changed the file, or if it is an old copy."""
        self._with(lambda ledger: call(lib.clo_ledger_verify, ledger))

    def to_frame(self) -> Any:
        """The history as a pandas data frame."""
        import pandas

        return pandas.DataFrame(self.history())

    def plot(self, dataset: str, ax: Any = None) -> Any:
        """Draws the sum of the epsilons of a data set over time, and its cap, with matplotlib.
        Returns the axes."""
        return _draw.spending(self, dataset, ax)

    def __repr__(self) -> str:
        return f"Ledger({self.path!r})"

    def to_html(self, path: Path | None = None, *, dataset: str | None = None) -> str:
        """A page for an auditor: what was spent over time, and what is left."""
        name = ffi.NULL if dataset is None else ffi.new("char[]", dataset.encode())
        made: bytes = self._with(lambda ledger: written(lib.clo_ledger_html, ledger, name))
        if path is not None:
            with open(path, "wb") as file:
                file.write(made)
        return made.decode()

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><td>{escape(str(a['dataset']))}</td><td>{a['spent']['epsilon']:g}</td>"
            f"<td>{a['cap']['epsilon']:g}</td><td>{a['charges']}</td></tr>" if a["capped"] else
            f"<tr><td>{escape(str(a['dataset']))}</td><td>{a['spent']['epsilon']:g}</td>"
            f"<td>none</td><td>{a['charges']}</td></tr>" for a in self.accounts())
        head = "".join(f"<th>{name}</th>" for name in ("data set", "epsilon spent", "cap",
                                                       "charges"))
        return f"<table><tr>{head}</tr>{rows}</table>"
