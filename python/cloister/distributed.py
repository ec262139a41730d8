"""Runs whose rows are in other processes or on other machines: the same bytes, one charge.

A part is a recipe, not data: a file with a range of rows, or a function that returns rows.  One
process drives: it plans, charges the ledger, draws the noise and has the release.  For each ask it
maps a pure function over the parts, which reads the rows, bounds them and adds up integers; the sum
of all parts comes back.  Whatever maps will do: an executor of ``concurrent.futures``, Dask's
client, ``mpi4py.futures``; tasks may be repeated, moved or done twice.  Dask's collections and
Spark's data frames (_spark.py) are taken as they are: a partition is a part.

Sums are not noised before they reach the driver, so they travel under one-time pads
(proofs/pad.md): what an engine spills, shuffles or logs of results is uniform noise.  So do rows,
where an engine carries them to whoever solves the block that they are in (_blocks.py).

Persons (``unit``): all rows of a person must lie in one part.  Parts list their persons, hashed
under a key of the run, and the driver compares the lists before anything is charged, and their sum
again at every pass (fold.T5).

>>> from concurrent.futures import ProcessPoolExecutor
>>> import cloister
>>> parts = ["visits-0.parquet", "visits-1.parquet"]
>>> with ProcessPoolExecutor() as pool:                                    # doctest: +SKIP
...     release = cloister.distributed.run("kmeans", parts, executor=pool, clusters=8, epsilon=1,
...                                        norm=1, ledger="study.ledger", dataset="visits")
"""
from __future__ import annotations

import importlib
import os
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from . import _blocks
from ._job import Job
from ._native import call, called_back, ffi, lib, settings_of, settle_threads, threads_here
from ._pads import Vector, integers, new_key, opened, part_key, remove_pad, sealed
from ._pieces import is_parquet, parquet_ends, parquet_stream, pieces, whole
from ._progress import shown
from ._read import read
from ._release import Release
from ._table import (Table, TextRows, as_table, compare_persons, from_array, persons_of)
from .exceptions import ArgumentError, DomainError, UnsupportedError

__all__ = ["Part", "run", "split"]

UNIT_KEY_BYTES = int(lib.CLO_UNIT_KEY_BYTES)
#: Settings that are the driver's alone: a worker charges nothing and draws nothing.
DRIVERS_OWN = frozenset({"ledger", "dataset", "new", "no-ledger", "token", "purpose", "seed", "yes",
                         "threads", "method"})


@dataclass(frozen=True)
class Part:
    """Some rows of a file, which :func:`cloister.read` must know.  Parquet and NPY are not held
    whole: a worker reads them some megabytes at a time.  CSV is read as :func:`cloister.run` reads
    it."""

    path: str
    first: int = 0
    count: int | None = None

    def rows(self) -> Any:
        if is_parquet(self.path):
            return parquet_stream(self.path, self.first, self.count)
        if _is_csv(self.path):
            return TextRows(self.path, self.first, self.count)
        data = read(self.path)
        if self.first == 0 and self.count is None:
            return data
        end = None if self.count is None else self.first + self.count
        if isinstance(data, np.ndarray):
            return data[self.first:end]
        return data.slice(self.first, None if end is None else end - self.first)


def _is_csv(path: str) -> bool:
    return path.removesuffix(".gz").lower().endswith(".csv")


def split(path: str | os.PathLike[str], parts: int) -> list[Part]:
    """Divides a file into this many parts of about as many rows each.

    Counts the rows, so it is for data whose number of rows is public.  Parts of a Parquet file
    end where its row groups end, and there are no more than it has groups."""
    name = os.fspath(path)
    if is_parquet(name):
        groups = parquet_ends(name)
        rows = groups[-1] if groups else 0
        wanted = [rows * i // parts for i in range(1, parts)]
        ends = sorted({0, rows, *(min(groups, key=lambda end: abs(end - at)) for at in wanted)})
    else:
        rows = TextRows(name).table(text_columns="missing").rows if _is_csv(name) else \
            len(read(name))
        ends = [rows * i // parts for i in range(parts + 1)]
    return [Part(name, first, end - first) for first, end in zip(ends, ends[1:])]


# ---- on a worker ------------------------------------------------------------------------------

@dataclass(frozen=True)
class _Reading:
    """How a worker makes a table of a part's rows, and what it may tell of it."""

    missing: str
    fill: str | None
    text_columns: str  # "": not said
    counts: bool  # how many rows there are is public
    unit: str | None = None
    # Keys: an engine's log may have the task of which they are a part.
    unit_key: bytes = field(default=b"", repr=False)  # under which persons are hashed
    pass_key: bytes = field(default=b"", repr=False)  # of the pads of a survey's secrets

    def table(self, rows: Any) -> Table:
        if isinstance(rows, TextRows):
            return rows.table(missing=self.missing, fill=self.fill, unit=self.unit,
                              text_columns=self.text_columns or
                              ("refuse" if self.counts else "missing"),
                              unit_key=self.unit_key, hidden=not self.counts)
        return as_table(rows, missing=self.missing, fill=self.fill, unit=self.unit,
                        text_columns=self.text_columns or "refuse", unit_key=self.unit_key,
                        hidden=not self.counts)

    def pieces_of(self, part: Any) -> Iterator[Any]:
        """A part's rows, some of them at a time where they can be had so; with persons, all."""
        rows = part.rows() if isinstance(part, Part) else part() if callable(part) else part
        return pieces(rows) if self.unit is None else iter([whole(rows)])

    def sealed_survey(self, part: Any, number: int) -> Sealed:
        """The same for an engine to carry: what may follow from the rows of the part is under a
        pad, which follows from it (pad.T2).  How many rows a part has is as secret as what they
        say, where parts are made by what they say, even if their sum is public."""
        told = self.survey(part)
        hidden = [np.array([told.rows, told.gaps], dtype=np.uint64),
                    np.frombuffer(told.persons, np.uint64)]
        return Sealed(told.cols, told.names, told.named_by,
                      sealed(self.pass_key, number, hidden))

    def survey(self, part: Any) -> Survey:
        """What the driver must know of a part.  All that can be wrong with the part itself is
        wrong here, before anything is charged."""
        settle_threads()
        told: Survey | None = None
        for piece in self.pieces_of(part):
            here = self._look(piece)
            if told is not None and told[:2] != here[:2]:
                raise DomainError("the columns of a part change within it")
            told = here if told is None else told._replace(rows=told.rows + here.rows,
                                                           gaps=told.gaps + here.gaps)
        assert told is not None
        return told

    def _look(self, piece: Any) -> Survey:
        table = self.table(piece)
        told = Survey(table.cols, table.names)
        if self.counts:
            told = told._replace(rows=table.rows, gaps=table.gaps())
        if self.unit is not None:
            told = told._replace(named_by=_named_by(piece, self.unit),
                                 persons=rounded_up(persons_of(table)).tobytes())
        table.free()
        return told


class Survey(NamedTuple):
    """What a part tells before anything is charged."""

    cols: int
    names: list[str] | None
    rows: int = 0  # 0 where the number of all rows is not public
    named_by: str = ""  # numbers, or text
    persons: bytes = b""  # their hashes
    gaps: int = 0  # rows with a missing cell; as rows


class Sealed(NamedTuple):
    """A survey as engines see it: what is public, and a message under a pad."""

    cols: int
    names: list[str] | None
    named_by: str
    message: bytes

    def opened(self, pass_key: bytes, number: int) -> Survey:
        counts, persons = opened(pass_key, number, self.message)
        return Survey(self.cols, self.names, int(counts[0]), self.named_by, persons.tobytes(),
                      int(counts[1]))


def rounded_up(hashes: bytes) -> Vector:
    """With nobody behind them, to a power of two: how long a list is tells little (pad.T3)."""
    words: Vector = np.zeros(max(128, 1 << (len(hashes) // 8 - 1).bit_length()), dtype=np.uint64)
    words[:len(hashes) // 8] = np.frombuffer(hashes, np.uint64)
    return words


def _named_by(rows: Any, unit: str) -> str:
    """A person who is 07 as text and 7 as a number would be two: all parts must agree."""
    if isinstance(rows, TextRows):
        return "text"
    arrow = hasattr(getattr(rows, "schema", None), "field")
    kind = rows.schema.field(unit).type if arrow else rows[unit].dtype
    kind = getattr(kind, "value_type", None) or getattr(getattr(kind, "categories", None), "dtype",
                                                        kind)
    text = str(kind).lower()
    return "numbers" if any(word in text for word in ("int", "float", "double")) else "text"


@dataclass(frozen=True)
class _Work:
    """One task: what is asked, of which parts, and under which pad the answer travels."""

    settings: dict[str, Any]
    reading: _Reading
    cols: int
    names: list[str] | None
    rows: int
    task: bytes = b""
    pad: bytes = field(default=b"", repr=False)
    parts: tuple[Any, ...] = ()
    run: str = ""  # of this run alone; "": nothing is kept between passes


class _Worker:
    """Bounded rows of a piece of a part, in the library.  With persons it has all of theirs."""

    def __init__(self, work: _Work, table: Table) -> None:
        self.table = table
        if self.table.names != work.names:
            raise DomainError("the columns of a part have other names, or another order, than "
                              "those of the first part")
        self.job = Job({**work.settings, "no-ledger": True, "threads": threads_here(
            work.settings.get("threads"))}, self.table)
        out = ffi.new("clo_worker **")
        call(lib.clo_job_worker, self.job.pointer, work.rows, out)
        self.pointer = ffi.gc(out[0], lib.clo_worker_free)

    def fold(self, task: Any, bytes_: int, totals: Any, count: int) -> None:
        call(lib.clo_worker_fold, self.pointer, task, bytes_, totals, count)

    def slots(self) -> int:
        """How many block numbers its rows have in blocks."""
        return int(lib.clo_worker_slots(self.pointer))

    def free(self) -> None:
        ffi.release(self.pointer)
        ffi.release(self.job.pointer)
        self.table.free()


class _Kept:
    """Workers that stay from pass to pass.  They are freed when nobody looks at them any more:
    runs may be beside each other in the threads of one process."""

    def __init__(self, workers: list[_Worker]) -> None:
        self.workers = workers

    def __del__(self) -> None:
        for worker in self.workers:
            worker.free()


_kept: dict[tuple[str, int], _Kept] = {}
_keeping = threading.Lock()


def workers_of(work: _Work, number: int, part: Any) -> Iterator[_Worker]:
    """One for each piece of a part; it is freed when the next one is asked for, or kept."""
    if not work.run:
        for piece in work.reading.pieces_of(part):
            worker = _Worker(work, work.reading.table(piece))
            try:
                yield worker
            finally:
                worker.free()
        return
    key = (work.run, number)
    with _keeping:
        for old in [old for old in _kept if old[0] != work.run]:
            del _kept[old]  # of a run before this one, or of one beside it, which makes it anew
        kept = _kept.get(key)
    if kept is None:
        kept = _Kept([_Worker(work, work.reading.table(piece))
                      for piece in work.reading.pieces_of(part)])
        with _keeping:
            _kept[key] = kept
    yield from kept.workers


def worker_without_rows(work: _Work) -> _Worker:
    return _Worker(work, _table_without_rows(work.cols, work.names, work.reading.unit))


def fold_parts(work: _Work, parts: Iterable[tuple[int, Any]]) -> Vector:
    """The sum over numbered parts, not under a pad yet.  A pure function; a piece at a time."""
    settle_threads()
    task = _blocks.Task(work.task)
    totals = np.zeros(task.numbers, dtype=np.uint64)
    for number, part in parts:
        for worker in workers_of(work, number, part):
            worker.fold(task.words, task.bytes, integers(totals), task.numbers)
    return totals


def _fold(work: _Work, *rows: Any) -> bytes:
    """The sum over the parts of a task, under its pad."""
    totals = fold_parts(work, work.parts or enumerate(rows))
    if work.pad:
        lib.clo_pad_add(work.pad, integers(totals), len(totals))
    return totals.tobytes()


def _add(one: bytes, other: bytes) -> bytes:
    """Two sums as one, modulo 2^64; pads add up as well."""
    return (np.frombuffer(one, np.uint64) + np.frombuffer(other, np.uint64)).tobytes()


def _survey(reading: _Reading, numbered: tuple[int, Any]) -> Sealed:
    number, part = numbered
    return reading.sealed_survey(part, number)


def _without_pads(reading: _Reading, surveys: list[Sealed]) -> list[Survey]:
    return [survey.opened(reading.pass_key, number) for number, survey in enumerate(surveys)]


def _same_plan(settings: dict[str, Any], cols: int, rows: int, _: int) -> dict[str, Any]:
    """What this process would plan: workers must answer to the driver's plan."""
    more = {"rows": rows} if rows else {}
    plan = Job({**settings, **more, "cols": cols, "no-ledger": True}).plan()
    return {name: plan[name] for name in ("family", "method", "queries", "used")}


# ---- engines ----------------------------------------------------------------------------------

class _Engine:
    """Who maps."""

    tasks: int  # of a pass, and so how many pads there are

    def survey(self, reading: _Reading) -> list[Survey]:
        """Of each part, without its pad."""
        raise NotImplementedError

    def plans(self, settings: dict[str, Any], cols: int, rows: int) -> Iterable[Any]:
        raise NotImplementedError

    def fold(self, works: list[_Work]) -> bytes:
        """The sum over all of them; works[i] is task i."""
        raise NotImplementedError

    def total(self, work: _Work, mask: bool) -> Vector:
        """One pass over all parts: the sum, with its pads taken off."""
        pass_key = new_key(mask)
        keys = [part_key(pass_key, i) if mask else b"" for i in range(self.tasks)]
        total = np.frombuffer(self.fold([replace(work, pad=key) for key in keys]),
                              np.uint64).copy()
        for key in filter(None, keys):
            remove_pad(key, total)
        return total

    def try_blocks(self, rows: int) -> None:
        """Refuses, before anything is charged, blocks of so many rows that it cannot carry."""

    def blocks(self, work: _Work, block_of: _blocks.BlockNumbers, mask: bool) -> Vector:
        """What comes of all blocks; block_of: of the rows of all parts."""
        raise NotImplementedError


def _total(vectors: Iterable[bytes]) -> bytes:
    total: bytes | None = None
    for vector in vectors:
        total = vector if total is None else _add(total, vector)
    assert total is not None
    return total


class _Mapping(_Engine):
    """Anything with ``map``; None: this process.  Parts are dealt out to a few tasks, each of which
    adds up before it answers."""

    def __init__(self, executor: Any, parts: Sequence[Any]) -> None:
        self.executor, self.parts = executor, list(parts)
        workers = getattr(executor, "_max_workers", None) or getattr(executor, "num_workers", None)
        most, self.groups = len(self.parts), 1 if executor is None else min(len(self.parts), 8)
        if isinstance(workers, int):
            most, self.groups = 2 * workers, workers
        self.tasks = max(1, min(len(self.parts), most))

    def _map(self, function: Callable[[Any], Any], values: Iterable[Any]) -> list[Any]:
        if self.executor is None:
            return list(map(function, values))
        gather = getattr(self.executor, "gather", None)  # Dask's client gives futures
        if gather:  # anew each time, and under names that nothing follows from
            return list(gather(self.executor.map(function, values, pure=False)))
        return list(self.executor.map(function, values))

    def survey(self, reading: _Reading) -> list[Survey]:
        return _without_pads(reading, self._map(partial(_survey, reading),
                                                list(enumerate(self.parts))))

    def plans(self, settings: dict[str, Any], cols: int, rows: int) -> Iterable[Any]:
        return self._map(partial(_same_plan, settings, cols, rows), list(range(self.tasks)))

    def fold(self, works: list[_Work]) -> bytes:
        numbered = list(enumerate(self.parts))
        dealt = [replace(work, parts=tuple(numbered[i::self.tasks]))
                 for i, work in enumerate(works)]
        if not hasattr(self.executor, "gather"):
            return _total(self._map(_fold, dealt))
        futures = self.executor.map(_fold, dealt, pure=False)
        while len(futures) > 1:  # vectors meet on workers before they travel here
            pairs = zip(futures[0::2], futures[1::2])
            odd = futures[-1:] if len(futures) % 2 else []
            futures = [self.executor.submit(_add, *pair, pure=False) for pair in pairs] + odd
        return bytes(futures[0].result())

    def blocks(self, work: _Work, block_of: _blocks.BlockNumbers, mask: bool) -> Vector:
        if hasattr(self.executor, "gather"):  # Dask's client, which carries results to workers
            return _blocks.deal_and_solve(partial(self.executor.submit, pure=False),
                                          lambda futures: list(self.executor.gather(futures)),
                                          self.parts, work, block_of, self.tasks, mask)
        key = new_key(mask)
        read = partial(_blocks.read_and_solve, parts=self.parts,
                       block_of=_blocks.filled(_blocks.narrow(block_of)))
        # What is kept of a part is of one task at a time, and here all of them read it.
        tasks = _blocks.groups_of(replace(work, run=""), key, self.groups)
        return _blocks.added(key, self._map(read, tasks))


class _Collection(_Engine):
    """Partitions of a Dask array or data frame, wherever Dask computes."""

    def __init__(self, collection: Any) -> None:
        self.dask: Any = importlib.import_module("dask")
        if hasattr(collection, "rechunk"):
            collection = collection.rechunk({1: -1})  # whole rows
        self.parts = list(np.ravel(np.asarray(collection.to_delayed(), dtype=object)))
        self.tasks = len(self.parts)

    def _compute(self, values: list[Any]) -> list[Any]:
        return list(self.dask.compute(*values))

    def survey(self, reading: _Reading) -> list[Survey]:
        ask = self.dask.delayed(reading.sealed_survey, pure=False)
        return _without_pads(reading, self._compute([ask(part, i)
                                                     for i, part in enumerate(self.parts)]))

    def plans(self, settings: dict[str, Any], cols: int, rows: int) -> Iterable[Any]:
        ask = self.dask.delayed(_same_plan, pure=False)
        return self._compute([ask(settings, cols, rows, i) for i in range(min(self.tasks, 8))])

    def fold(self, works: list[_Work]) -> bytes:
        fold, add = (self.dask.delayed(function, pure=False) for function in (_fold, _add))
        vectors = [fold(work, part) for work, part in zip(works, self.parts)]
        while len(vectors) > 1:
            odd = vectors[-1:] if len(vectors) % 2 else []
            vectors = [add(*pair) for pair in zip(vectors[0::2], vectors[1::2])] + odd
        return bytes(self._compute(vectors)[0])

    def blocks(self, work: _Work, block_of: _blocks.BlockNumbers, mask: bool) -> Vector:
        def submit(function: Callable[..., Any], *given: Any) -> Any:
            return self.dask.delayed(function, pure=False)(*given)

        return _blocks.deal_and_solve(submit, self._compute, self.parts, work, block_of, self.tasks,
                                      mask)


# ---- the driver -------------------------------------------------------------------------------

@dataclass
class Crew:
    """The workers of one run, as the library asks them."""

    engine: _Engine
    work: _Work
    raised: BaseException | None = None
    passes: int = 0
    mask: bool = True
    solves: bool = True  # blocks, too

    def fold(self, task: bytes, count: int) -> Vector:
        """One pass over all parts."""
        self.passes += 1
        return self._checked(self.engine.total(replace(self.work, task=task), self.mask), count)

    def solve(self, task: bytes, block_of: _blocks.BlockNumbers, count: int) -> Vector:
        """What comes of all blocks (fold.T7)."""
        self.passes += 1
        return self._checked(self.engine.blocks(replace(self.work, task=task), block_of, self.mask),
                             count)

    def _checked(self, total: Vector, count: int) -> Vector:
        if len(total) != count:
            raise DomainError("a worker sent an answer of the wrong length")
        return total


def _answer(user: Any, totals: Any, ask: Callable[[Crew], Vector]) -> int:
    """What the library is told of an ask; an error goes to whoever called, once it has ended the
    run."""
    crew: Crew = ffi.from_handle(user)
    try:
        with called_back():
            total = ask(crew)
    except BaseException as raised:
        crew.raised = raised
        return int(lib.CLO_IO)
    ffi.memmove(totals, total, total.nbytes)
    return int(lib.CLO_OK)


@ffi.def_extern(error=lib.CLO_IO)
def cloister_fold(user: Any, task: Any, bytes_: int, totals: Any, count: int) -> int:
    return _answer(user, totals, lambda crew: crew.fold(ffi.buffer(task, bytes_)[:], count))


@ffi.def_extern(error=lib.CLO_IO)
def cloister_solve(user: Any, task: Any, bytes_: int, block_of: Any, slots: int, totals: Any,
                   count: int) -> int:
    told = np.frombuffer(ffi.buffer(block_of, 4 * slots)[:], np.uint32)
    return _answer(user, totals, lambda crew: crew.solve(ffi.buffer(task, bytes_)[:], told, count))


def _check_settings(settings: dict[str, Any]) -> None:
    unit = settings.get("unit")
    if unit is not None and not isinstance(unit, str):
        raise UnsupportedError("unit must be the name of a column that every part has: an array of "
                               "persons works only in one process")
    if settings.get("epsilon") is None:
        raise ArgumentError("give epsilon: the most that this run may reveal about one record")


class _Facts(NamedTuple):
    """Of all parts together."""

    cols: int
    names: list[str] | None
    rows: int
    gaps: int
    persons: Any


def _facts(engine: _Engine, reading: _Reading) -> _Facts:
    """Columns, names, the number of rows, which all parts must agree on or add up to; and what
    their persons come to, each of whom must be in one part (fold.T5)."""
    surveys = engine.survey(reading)
    cols, names = surveys[0][:2]
    if any(survey[:2] != (cols, names) for survey in surveys):
        raise DomainError("the parts have different columns: all must have the same, in the same "
                          "order")
    if len({survey.named_by for survey in surveys}) > 1:
        raise DomainError(f"the column {reading.unit!r} holds numbers in one part and text in "
                          "another: use one type in all parts")
    persons = None
    if reading.unit is not None:
        persons = compare_persons(bytearray().join(survey.persons for survey in surveys))
    return _Facts(cols, names, sum(survey.rows for survey in surveys),
                  sum(survey.gaps for survey in surveys), persons)


def _table_without_rows(cols: int, names: list[str] | None, unit: str | None) -> Table:
    """The columns, and no row."""
    nobody = None if unit is None else np.empty(0, dtype=np.uint64)
    return from_array(np.empty((0, cols)), names=names, unit=nobody)


def release(engine: _Engine, settings: dict[str, Any], progress: Any = None, *, mask: bool = True,
            keep: bool = False, threads: int = 1,
            sums: bool = False) -> tuple[Release, int, list[str] | None]:
    """The whole way, on whatever engine; the release, and the columns and names of the parts.
    sums: rows are held nowhere, not even as blocks."""
    _check_settings(settings)
    fill = settings.pop("fill", None)
    fill = ",".join(f"{name}={value}" for name, value in fill.items()) \
        if isinstance(fill, dict) else fill
    unit = settings.get("unit")
    public = settings.get("relation") in (None, "replace") and unit is None
    reading = _Reading(settings.get("missing") or "null", fill,
                       settings.pop("text-columns", None) or "", public)
    reading = replace(reading, pass_key=new_key(mask))
    if unit is not None:
        reading = replace(reading, unit=unit, unit_key=secrets.token_bytes(UNIT_KEY_BYTES))
    cols, names, rows, gaps, persons = _facts(engine, reading)
    reading = replace(reading, pass_key=b"")  # which was for one pass
    shared = {name: value for name, value in settings.items()
              if name not in DRIVERS_OWN and value is not None}
    work = _Work(shared, reading, cols, names, rows, run=secrets.token_hex(8) if keep else "")
    crew = Crew(engine, work, mask=mask, solves=not sums)
    table = _table_without_rows(cols, names, unit)
    try:
        job = Job(settings, table, crew, rows, persons, gaps)
        job.prepare()
        plan = job.plan()
        shared["mechanism"] = f"{plan['family']}/{plan['method']}"
        crew.work = replace(work, settings={**shared, "threads": threads})
        own = {name: plan[name] for name in ("family", "method", "queries", "used")}
        public_rows = plan["domain"].get("rows") or 0
        if any(theirs != own for theirs in engine.plans(shared, cols, public_rows)):
            raise DomainError("a worker makes another plan than the driver: install the same "
                              "version of cloister everywhere; nothing was spent")
        if job.asks_in_blocks():
            engine.try_blocks(public_rows)
        return job.release(progress), cols, names
    finally:
        table.free()


def run(mechanism: str, parts: Any, /, *, executor: Any = None,
        progress: Callable[[float], object] | bool | None = None, mask: bool = True,
        keep: bool = False, threads: int = 1, **settings: Any) -> Release:
    """Makes a release of rows that lie in several parts: the same bytes as from one process.

    Parameters
    ----------
    mechanism : str
        A family (``"kmeans"``), or a method that needs sums or blocks of the rows.
    parts : sequence, or a collection of Dask's or Spark's
        Each a path, a :class:`Part` (a range of rows of a file), or a function without arguments
        that returns rows, the same ones whenever it is called: an array, a data frame, sparse
        rows, or a stream of Arrow batches (``pyarrow.RecordBatchReader``), read as it goes.
        The executor must be able to send the functions.  A Dask array or data frame, or a data
        frame of Spark 4 (classic or Connect), is taken partition by partition, where it lies.
    executor : object with ``map``, optional
        ``concurrent.futures``, Dask's ``Client``, ``mpi4py.futures``.  None: this process.  A
        collection has its own.
    mask : bool
        Whether vectors are encrypted (by pads).  Use False only if they never leave this
        machine's memory.
    keep : bool
        Whether workers keep the bounded rows of their parts between passes.  Otherwise every pass
        reads them again.  For a collection use its own ``persist``.
    threads : int
        How many threads each worker uses.
    **settings
        As in :func:`cloister.run`.  ``dataset`` names the data for the ledger.

    If a method works on blocks of the rows, one worker solves each block, and the order of the
    parts matters.  Dask and Spark carry the rows there, encrypted; on any other
    executor each worker reads all parts and keeps the rows of its own blocks.

    Every part is read once before anything is charged.  Rows that change between two passes end the
    run without a release; the charge stays.

    With ``unit``, the name of a column, all rows of a person must lie in one part, which is then
    held as a whole: partition by that column first.  A person with rows in two parts is an error,
    and nothing is charged.
    """
    engine = engine_of(parts) if is_collection(parts) else _Mapping(executor, _listed(parts))
    return _run(mechanism, engine, progress, settings_of(settings), mask=mask,
                keep=keep and not is_collection(parts), threads=threads)


def run_pieces(mechanism: str, path: str, progress: Callable[[float], object] | bool | None,
               threads: int, named: dict[str, Any]) -> Release:
    """Of a file that this process does not hold: a piece at a time, for each sum."""
    return _run(mechanism, _Mapping(None, [Part(path)]), progress, named, mask=False,
                threads=threads, sums=True)


def _run(mechanism: str, engine: _Engine, progress: Callable[[float], object] | bool | None,
         named: dict[str, Any], **how: Any) -> Release:
    if named.get("ledger") is None:
        named["no-ledger"] = True
    with shown(progress, mechanism) as watch:
        return release(engine, {"mechanism": mechanism, **named}, watch, **how)[0]


def _listed(parts: Sequence[Any]) -> list[Any]:
    listed = [Part(os.fspath(part)) if isinstance(part, (str, os.PathLike)) else part
              for part in parts]
    if not listed:
        raise ArgumentError("give at least one part")
    for part in listed:
        if not isinstance(part, Part) and not callable(part):
            raise ArgumentError("a part must be a path, a Part or a function that returns rows, "
                                f"not {type(part).__name__}")
    return listed


def is_collection(data: Any) -> bool:
    """Whether it is a Dask array or data frame, or a data frame of Spark's."""
    return _of_dask(data) or _of_spark(data)


def engine_of(collection: Any) -> _Engine:
    """Who maps over the partitions of a collection."""
    if _of_dask(collection):
        return _Collection(collection)
    from ._spark import Frame  # which needs what is above

    return Frame(collection)


def _of_dask(data: Any) -> bool:
    return type(data).__module__.partition(".")[0] in ("dask", "dask_expr") and \
        hasattr(data, "to_delayed")


def _of_spark(data: Any) -> bool:
    """Classic, or of Connect."""
    return type(data).__module__.startswith("pyspark.sql.") and hasattr(data, "mapInArrow")
