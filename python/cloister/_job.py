"""A run as one call: settings as text, a table, a release.

The order of the steps and the meaning of every setting are the library's (cloister/job.h).
"""
from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ._native import (SETTINGS, SPELLING, Watcher, call, encoded, ffi, lib, make, settings_of,
                      settle_threads, text, threads_here, written_json)
from ._pieces import is_parquet
from ._progress import shown
from ._read import read
from ._release import Release
from ._schema import Schema, schema_text
from ._table import Table, as_table
from .exceptions import ArgumentError, CloisterError, HiddenByNoiseWarning, UnsupportedError


def number_text(value: Any) -> str:
    """The shortest text that reads back as the same number."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return str(int(value))
    number = float(value)
    return repr(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def setting_text(value: Any) -> str:
    """A value of Python as the text of a setting."""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return ",".join(f"{name}={number_text(item)}" for name, item in value.items())
    if np.ndim(value) == 1:
        return ",".join(number_text(item) for item in np.asarray(value, dtype=float))
    if np.ndim(value) == 0 and not isinstance(value, (bytes, complex)):
        try:
            return number_text(value)
        except (TypeError, ValueError):
            pass
    raise ArgumentError(f"a setting cannot be {type(value).__name__}")


def _quoted(name: Any) -> str:
    return '"' + str(name).replace('"', '""') + '"'


def bounds_text(bounds: Any) -> str:
    """Bounds as the setting has them: one pair for all columns, or a line for each.

    They are a pair ``(lower, upper)`` of numbers or of arrays with an entry a column, a mapping
    from names of columns to pairs, or the path of a bounds file.
    """
    if isinstance(bounds, str):
        if bounds == "private":
            raise ArgumentError("bounds='private' is only for estimators: find bounds first with "
                                "PrivateBounds, or run('bounds', of='columns', ...)")
        return bounds
    if isinstance(bounds, os.PathLike):
        return os.fspath(bounds)
    if isinstance(bounds, Mapping):
        lines = [f"{_quoted(name)},{number_text(low)},{number_text(high)}\n"
                 for name, (low, high) in bounds.items()]
        return "".join(lines)
    try:
        lower, upper = bounds
        if np.ndim(lower) == 0 and np.ndim(upper) == 0:
            return f"{number_text(lower)},{number_text(upper)}"
        lows, highs = np.broadcast_arrays(np.asarray(lower, float), np.asarray(upper, float))
        if lows.ndim != 1:
            raise ValueError
    except (TypeError, ValueError):
        raise ArgumentError("bounds must be (lower, upper), with numbers or one entry per "
                            "column, or a mapping from columns to such pairs") from None
    return "".join(f"{number_text(low)},{number_text(high)}\n"
                   for low, high in zip(lows, highs))


class Job:
    """Settings, and how far a run has come."""

    def __init__(self, settings: Mapping[str, Any], table: Table | None = None,
                 crew: Any = None, rows: int = 0, persons: Any = None, gaps: int = 0) -> None:
        self.pointer = ffi.gc(make("clo_job", lib.clo_job_new), lib.clo_job_free)
        lib.clo_job_spell(self.pointer, SPELLING.encode())
        self._table = table
        self._watcher = Watcher()
        self._prepared = False
        self._cached = settings.get("cache") is not None
        self._tries = settings.get("seed") is not None or bool(settings.get("yes"))
        # A schema states some of what has a preset here, and each thing is stated once.
        usual = {row.name: row.default for row in SETTINGS if row.choice} \
            if settings.get("schema") is not None else {}
        for name, value in settings.items():
            if value is None or (name in usual and usual[name] == value):
                continue
            value = threads_here(value) if name == "threads" else value
            value = bounds_text(value) if name == "bounds" else \
                schema_text(value) if name == "schema" else setting_text(value)
            call(lib.clo_job_set, self.pointer, encoded(name, "a setting"), encoded(value, name))
        if table is not None:
            call(lib.clo_job_set_table, self.pointer, table.pointer)
        options = ffi.new("clo_run_options *")
        lib.clo_run_options_init(options, ffi.sizeof("clo_run_options"))
        options.progress, options.user = lib.cloister_progress, self._watcher.handle
        self._crew = crew
        if crew is not None:  # others hold the rows, of which there are so many (distributed.py)
            self._crew_handle = ffi.new_handle(crew)
            workers = ffi.new("clo_workers *")
            lib.clo_workers_init(workers, ffi.sizeof("clo_workers"))
            workers.rows, workers.gaps, workers.fold = rows, gaps, lib.cloister_fold
            if crew.solves:
                workers.solve = lib.cloister_solve
            workers.user = self._crew_handle
            options.workers = workers
            if persons is not None:
                options.persons = persons
        call(lib.clo_job_set_run_options, self.pointer, options)
        lib.clo_job_set_reading(self.pointer, lib.cloister_progress, self._watcher.handle)

    def plan(self) -> dict[str, Any]:
        """What a run would ask and cost, as JSON says it; no data are read."""
        out = ffi.new("const clo_plan **")
        settle_threads()
        call(lib.clo_job_plan, self.pointer, out)
        plan: dict[str, Any] = written_json(lib.clo_plan_json, out[0])
        return plan

    def asks_in_blocks(self) -> bool:
        """Whether the plan works on blocks of the rows, and not on sums alone."""
        out = ffi.new("const clo_plan **")
        call(lib.clo_job_plan, self.pointer, out)
        return bool(lib.clo_plan_reading(out[0]) == lib.CLO_READING_BLOCKS)

    def release(self, progress: Callable[[float], object] | None = None) -> Release:
        """Every step.  Ctrl-C stops it; what was spent stays spent, and a release that was made is
        stored or returned."""
        self._watcher.progress = progress
        signals = self._watcher.signals
        with signals.waiting():
            self._watcher.note = "it was stopped before the charge: nothing was spent"
            with self._watcher.watching():
                self.prepare()
                charged = text(lib.clo_job_ledger_path(self.pointer))
                if not (charged or self._tries):
                    self._warn_of_noise()
                self._end(charged)
            length = ffi.new("size_t *")
            stored = lib.clo_job_json(self.pointer, length)
            made = Release(ffi.buffer(stored, length[0])[:])
            try:
                signals.stored()
            except BaseException as raised:
                if charged and self.token is None:  # it is nowhere else
                    warnings.warn(f"{raised!r} came when the release was made, which {charged} "
                                  "could not store: here it is", RuntimeWarning, stacklevel=3)
                    return made
                if charged:
                    raised.add_note(f"the release is stored in {charged}: "
                                    f"Ledger({charged!r}).fetch({self.token!r}) is free")
                raise
            return made

    def _spend(self, charged: str | None) -> None:
        """Up to the charge.  Until then a stop costs nothing."""
        found = ffi.new("bool *")
        call(lib.clo_job_fetch, self.pointer, found)
        if found[0]:
            return
        call(lib.clo_job_spend, self.pointer)
        if charged:
            self._watcher.signals.charged()
        self._watcher.note = "it was stopped while it ran: " + (
            f"its budget is spent in {charged}" if charged else "no ledger was charged")

    def _end(self, charged: str | None) -> None:
        """The run; what a worker raised takes the place of 'the workers could not fold'."""
        try:
            self._spend(charged)
            call(lib.clo_job_release, self.pointer, ffi.new("const clo_release **"))
        except CloisterError as failed:
            advice = ffi.new("const char **")
            if lib.clo_job_advice(self.pointer, advice) == lib.CLO_ADVICE_SET \
                    and text(advice[0]) == "yes":
                failed.add_note("anyway=True runs it anyway")
            raised = getattr(self._crew, "raised", None)
            if self._crew is None:
                raise
            told = failed if raised is None else raised
            if charged and self._crew.passes:
                told.add_note(f"its budget is spent in {charged}")
            if raised is None:
                raise
            raise raised from failed

    def prepare(self) -> None:
        """Everything that can fail before anything is spent."""
        if not self._prepared:
            settle_threads()
            call(lib.clo_job_prepare, self.pointer)
            self._prepared = True
            if self._cached and not lib.clo_job_is_cached(self.pointer):
                warnings.warn("the cache could not be written, so the files are read again: "
                              "is the disk full?", RuntimeWarning, stacklevel=4)

    def _warn_of_noise(self) -> None:
        """Where a ledger is charged such a run is refused; one that costs nothing may try."""
        plan, why = ffi.new("const clo_plan **"), ffi.new("char[512]")
        call(lib.clo_job_plan, self.pointer, plan)
        if lib.clo_plan_hidden_text(plan[0], why, len(why)):
            warnings.warn(text(why) or "", HiddenByNoiseWarning, stacklevel=4)

    def left(self) -> float | None:
        """The epsilon that the ledger's cap leaves; None without a cap."""
        account = ffi.new("clo_account *")
        known = lib.clo_job_account(self.pointer, account, ffi.sizeof("clo_account"))
        return float(account.left.epsilon) if known and account.capped else None

    @property
    def token(self) -> str | None:
        """Under which the ledger keeps the release."""
        return text(lib.clo_job_token(self.pointer))


#: What Python, pyarrow and a piece of 32 MiB on its way take, with some room (_pieces.py).
LEAST_MEMORY = 512 << 20


def _memory_bytes(size: Any) -> float:
    """As the command reads it: a number, or one with K, M, G or T behind it."""
    text_ = setting_text(size).strip().upper()
    unit = "KMGT".find(text_[-1:]) + 1 if text_[-1:] else 0
    try:
        return float(text_[:-1] if unit else text_) * 1024.0 ** unit
    except ValueError:
        raise ArgumentError("memory must be a number of bytes, such as 512M or 2G") from None


def _parquet_table(path: Any, settings: dict[str, Any]) -> Table:
    """The whole file."""
    if settings.get("schema") is not None:
        schema = Schema(settings["schema"])
        return schema.table(read(path, None), settings.get("unit"))
    columns = settings.pop("columns", None)
    how = {name.replace("-", "_"): settings[name] for name in ("unit", "missing", "fill",
           "text-columns") if settings.get(name) is not None}
    settings.pop("text-columns", None)
    return as_table(read(path, columns.split(",") if isinstance(columns, str) else columns), **how)


def _parquet_pieces(mechanism: str, path: Any, progress: Any, settings: dict[str, Any]) -> Release:
    """The file again at every pass, a piece at a time."""
    from .distributed import run_pieces  # which needs what is above

    if settings.get("unit") is not None:
        raise UnsupportedError("unit with a Parquet file needs memory for all rows: leave out "
                               "memory, save the rows as CSV or NPY, or give parts to "
                               "cloister.distributed.run, each with all rows of its persons")
    if settings.get("cache") is not None:
        raise UnsupportedError("cache is only for CSV, NPY and LIBSVM files: leave it out")
    if settings.pop("columns", None) is not None:
        raise ArgumentError("columns and memory exclude each other for Parquet: give a function "
                            "that reads the columns to cloister.distributed.run")
    if _memory_bytes(settings.pop("memory")) < LEAST_MEMORY:
        raise ArgumentError("memory must be at least 512M for a Parquet file, because Python and "
                            "pyarrow need most of it")
    threads = settings.pop("threads", None)
    return run_pieces(mechanism, os.fspath(path), progress,
                      threads_here(threads) if threads is not None else 1, settings)


def run(mechanism: str, data: Any = None, *,
        progress: Callable[[float], object] | bool | None = None,
        table: Table | None = None, **settings: Any) -> Release:
    """Makes a release, as ``cloister run`` does.

    Parameters
    ----------
    mechanism : str
        A family (``"kmeans"``) or a method of one (``"kmeans/lloyd"``).
    data : path
        The file to read: CSV, NPY or LIBSVM, compressed or not; Parquet, if pyarrow is
        installed.
    progress : callable or bool, optional
        Called now and then with the share that is done; True: a bar, if tqdm is installed.
    **settings
        Whatever ``cloister run`` takes, with underscores: ``epsilon=1, norm=1, clusters=8``.
        Without ``ledger`` nothing is charged, and the release says so.  With ``memory`` the rows
        are read again for each query, in pieces of 32 MiB.  With ``cache``, a folder, they are then
        read from an encrypted copy there (not those of Parquet).
    """
    if data is not None and not isinstance(data, (str, os.PathLike)):
        raise ArgumentError(f"data must be the path of a file, not {type(data).__name__}: give "
                            "rows in memory to an estimator, such as "
                            "cloister.PrivateKMeans(...).fit(X)")
    named = settings_of(settings)
    if named.get("ledger") is None:
        named["no-ledger"] = True
    if data is not None and is_parquet(data):
        if named.get("memory") is not None:
            return _parquet_pieces(mechanism, data, progress, named)
        table = _parquet_table(data, named)
    elif data is not None:
        named["data"] = os.fspath(data)
    with shown(progress, mechanism) as watch:
        return Job({"mechanism": mechanism, **named}, table).release(watch)
