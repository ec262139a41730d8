"""Blocks of rows on workers: what aggregate and histogram ask of rows that lie in parts (fold.T7).

The driver draws which block each row is in (its home), as one process would.  Blocks go in bundles,
a task each.  There are two ways for rows to come to their bundle:

- *read*: a task reads all parts and keeps the rows of its own blocks.  No row travels; so it is for
  whatever only maps, where parts are recipes that any worker can read.
- *dealt*: each part is read once and gives a message for every bundle, under a pad (pad.T4), which
  the engine carries to the task that solves it: Dask and Spark, which carry results from worker to
  worker.

What comes of the blocks is added up by the driver, with the mark of the rows that were in them.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ._native import call, ffi, lib, settle_threads
from ._pads import Vector, integers, masked, new_key, opened, room_for, sealed, unmask
from .exceptions import ReadError

if TYPE_CHECKING:
    from .distributed import _Work, _Worker

Homes = np.ndarray[Any, np.dtype[Any]]

#: What comes of bundle i has this number, and i more: none that a message with rows has.
ANSWERS = 1 << 63
CHANGED = "the rows have changed between two passes over them"  # as the library says it


@dataclass(frozen=True)
class Bundle:
    """What a task must know to deal rows, or to solve the blocks of bundle `number`."""

    work: _Work
    key: bytes = field(repr=False)  # of this pass's pads; b"": nothing is masked
    of: int  # how many bundles there are
    number: int = 0


@dataclass(frozen=True)
class Answer:
    """What came of a bundle, under the pad of its tag."""

    tag: bytes
    totals: bytes


# ---- on a worker ------------------------------------------------------------------------------

class Task:
    """The bytes of a task, where the library can read them."""

    def __init__(self, task: bytes) -> None:
        self.words = ffi.new("uint64_t[]", (len(task) + 7) // 8)
        self.bytes = len(task)
        ffi.memmove(self.words, task, len(task))
        self.numbers = int(lib.clo_task_numbers(self.words, self.bytes))


def _deal(worker: _Worker, task: Task, homes: Homes, first: int, count: int,
          bundles: int) -> list[Vector]:
    """The parcels of some bundles; homes: of this worker's rows."""
    mine = np.ascontiguousarray(homes, dtype=np.uint32)
    out = ffi.new("clo_parcel[]", count)
    call(lib.clo_worker_deal, worker.pointer, task.words, task.bytes,
         ffi.cast("uint32_t *", mine.ctypes.data), len(mine), first, count, bundles, out)
    parcels = []
    for i in range(count):
        parcels.append(np.frombuffer(ffi.buffer(out[i].words, 8 * out[i].count),
                                     np.uint64).copy())
        lib.clo_parcel_free(ffi.addressof(out, i))
    return parcels


def _deal_parts(bundle: Bundle, parts: Iterable[tuple[int, Any]], homes: Homes, first: int,
                count: int) -> list[list[Vector]]:
    """Of each of some bundles, the parcels of all pieces of the parts; homes: of these parts."""
    from .distributed import workers_of

    settle_threads()
    task, at = Task(bundle.work.task), 0
    dealt: list[list[Vector]] = [[] for _ in range(count)]
    for number, part in parts:
        for worker in workers_of(bundle.work, number, part):
            slots = worker.slots()
            if slots > len(homes) - at:
                raise ReadError(CHANGED)
            for mine, parcel in zip(dealt, _deal(worker, task, homes[at:at + slots], first, count,
                                                 bundle.of)):
                mine.append(parcel)
            at += slots
    return dealt


def _solve(bundle: Bundle, parcels: list[Vector]) -> Answer:
    """Of parcels in the order of the parts.  Whoever solves needs no row of its own."""
    from .distributed import worker_without_rows

    settle_threads()
    task, nobody = Task(bundle.work.task), worker_without_rows(bundle.work)
    given = ffi.new("clo_parcel[]", max(1, len(parcels)))
    for i, parcel in enumerate(parcels):
        given[i].words = ffi.cast("uint64_t *", parcel.ctypes.data)
        given[i].count = len(parcel)
    totals: Vector = np.zeros(task.numbers, dtype=np.uint64)
    try:
        call(lib.clo_worker_solve, nobody.pointer, task.words, task.bytes, bundle.number, bundle.of,
             given, len(parcels), integers(totals), len(totals))
    finally:
        nobody.free()
    return Answer(masked(bundle.key, ANSWERS + bundle.number, totals), totals.tobytes())


def read_and_solve(bundle: Bundle, parts: list[Any], homes: Homes) -> Answer:
    """The way without messages."""
    (parcels,) = _deal_parts(bundle, enumerate(parts), homes, bundle.number, 1)
    return _solve(bundle, parcels)


def slots_of(work: _Work, key: bytes, number: int, part: Any) -> bytes:
    """How many homes the rows of a part have, under a pad: it may be a secret."""
    from .distributed import workers_of

    settle_threads()
    slots = sum(worker.slots() for worker in workers_of(work, number, part))
    return sealed(key, number, [np.array([slots], dtype=np.uint64)])


def deal_pieces(bundle: Bundle, number: int, homes: Homes,
                pieces: Iterable[tuple[int, Any]]) -> list[bytes]:
    """The messages of part `number`, one for each bundle."""
    dealt = _deal_parts(bundle, pieces, homes, 0, bundle.of)
    return [sealed(bundle.key, number * bundle.of + i, parcels) for i, parcels in enumerate(dealt)]


def deal(bundle: Bundle, number: int, homes: Homes, part: Any) -> list[bytes]:
    return deal_pieces(bundle, number, homes, [(number, part)])


def pick(messages: list[bytes], bundle: int) -> bytes:
    """One of them: so that the others need not travel with it."""
    return messages[bundle]


def solve_numbered(bundle: Bundle, messages: Iterable[tuple[int, bytes]]) -> Answer:
    """Of the messages of all parts, in their order."""
    return _solve(bundle, [parcel for number, message in messages
                           for parcel in opened(bundle.key, number * bundle.of + bundle.number,
                                                message)])


def solve(bundle: Bundle, *messages: bytes) -> Answer:
    return solve_numbered(bundle, enumerate(messages))


# ---- on the driver ----------------------------------------------------------------------------

def narrow(homes: Homes) -> Homes:
    """Two bytes a row where that is enough."""
    return homes.astype(np.uint16) if len(homes) == 0 or homes.max() < 1 << 16 else homes


def filled(homes: Homes) -> Homes:
    """With more behind them, which are nobody's: how many there are may be a secret."""
    return np.concatenate([homes, np.zeros(room_for(len(homes)) - len(homes), homes.dtype)])


def added(key: bytes, answers: Iterable[Answer]) -> Vector:
    """The sum over all bundles, with its pads taken off."""
    total: Vector | None = None
    tags = []
    for answer in answers:
        vector = np.frombuffer(answer.totals, np.uint64)
        total = vector.copy() if total is None else total + vector
        tags.append(answer.tag)
    assert total is not None
    unmask(key, b"".join(tags), total)
    return total


def bundles_of(work: _Work, key: bytes, count: int) -> list[Bundle]:
    first = Bundle(work, key, count)
    return [replace(first, number=i) for i in range(count)]


def shares(slots: list[int], homes: Homes) -> list[Homes]:
    """The homes of each part."""
    ends = np.cumsum([0, *slots])
    if ends[-1] != len(homes):
        raise ReadError(CHANGED)
    return [filled(homes[a:b]) for a, b in zip(ends, ends[1:])]


def deal_and_solve(submit: Callable[..., Any], gather: Callable[[list[Any]], list[Any]],
                   parts: list[Any], work: _Work, homes: Homes, bundles: int,
                   mask: bool) -> Vector:
    """The way with messages.  submit: a function and its arguments, of which some may be what it
    returned before; gather: what came of some."""
    key = new_key(mask)
    told = gather([submit(slots_of, work, key, i, part) for i, part in enumerate(parts)])
    slots = [int(opened(key, i, message)[0][0]) for i, message in enumerate(told)]
    tasks = bundles_of(work, new_key(mask), bundles)
    dealt = [submit(deal, tasks[0], i, mine, part)
             for i, (mine, part) in enumerate(zip(shares(slots, narrow(homes)), parts))]
    return added(tasks[0].key, gather(
        [submit(solve, task, *[submit(pick, messages, task.number) for messages in dealt])
         for task in tasks]))
