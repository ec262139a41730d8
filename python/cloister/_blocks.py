"""Blocks of rows on workers: what aggregate and histogram ask of rows that lie in parts (fold.T7).

The driver draws the number of each row's block, as one process would.  Blocks go in groups, one
task per group.  There are two ways for rows to come to their group:

- *read*: a task reads all parts and keeps the rows of its own blocks.  No row travels; so it is for
  whatever only maps, where parts are recipes that any worker can read.
- *dealt*: each part is read once and gives a message for every group, under a pad (pad.T4), which
  the engine carries to the task that solves it: Dask and Spark, which carry results from worker to
  worker.

What comes of the blocks is added up by the driver, with the hash of the rows that were in them.
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

BlockNumbers = np.ndarray[Any, np.dtype[Any]]

#: What comes of group i has this number, and i more: none that a message with rows has.
ANSWERS = 1 << 63
CHANGED = "the rows have changed between two passes over them"  # as the library says it


@dataclass(frozen=True)
class BlockGroup:
    """What a task must know to deal rows, or to solve the blocks of group `number`."""

    work: _Work
    key: bytes = field(repr=False)  # of this pass's pads; b"": nothing is masked
    of: int  # how many groups there are
    number: int = 0


@dataclass(frozen=True)
class Answer:
    """What came of a group, under the pad of its tag."""

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


def _deal(worker: _Worker, task: Task, block_of: BlockNumbers, first: int, count: int,
          groups: int) -> list[Vector]:
    """The packets of some groups; block_of: of this worker's rows."""
    mine = np.ascontiguousarray(block_of, dtype=np.uint32)
    out = ffi.new("clo_packet[]", count)
    call(lib.clo_worker_deal, worker.pointer, task.words, task.bytes,
         ffi.cast("uint32_t *", mine.ctypes.data), len(mine), first, count, groups, out)
    packets = []
    for i in range(count):
        packets.append(np.frombuffer(ffi.buffer(out[i].words, 8 * out[i].count),
                                     np.uint64).copy())
        lib.clo_packet_free(ffi.addressof(out, i))
    return packets


def _deal_parts(group: BlockGroup, parts: Iterable[tuple[int, Any]], block_of: BlockNumbers,
                first: int, count: int) -> list[list[Vector]]:
    """Of each of some groups, the packets of all pieces of the parts; block_of: of these parts."""
    from .distributed import workers_of

    settle_threads()
    task, at = Task(group.work.task), 0
    dealt: list[list[Vector]] = [[] for _ in range(count)]
    for number, part in parts:
        for worker in workers_of(group.work, number, part):
            slots = worker.slots()
            if slots > len(block_of) - at:
                raise ReadError(CHANGED)
            own = block_of[at:at + slots]
            for mine, packet in zip(dealt, _deal(worker, task, own, first, count, group.of)):
                mine.append(packet)
            at += slots
    return dealt


def _solve(group: BlockGroup, packets: list[Vector]) -> Answer:
    """Of packets in the order of the parts.  Whoever solves needs no row of its own."""
    from .distributed import worker_without_rows

    settle_threads()
    task, nobody = Task(group.work.task), worker_without_rows(group.work)
    given = ffi.new("clo_packet[]", max(1, len(packets)))
    for i, packet in enumerate(packets):
        given[i].words = ffi.cast("uint64_t *", packet.ctypes.data)
        given[i].count = len(packet)
    totals: Vector = np.zeros(task.numbers, dtype=np.uint64)
    try:
        call(lib.clo_worker_solve, nobody.pointer, task.words, task.bytes, group.number, group.of,
             given, len(packets), integers(totals), len(totals))
    finally:
        nobody.free()
    return Answer(masked(group.key, ANSWERS + group.number, totals), totals.tobytes())


def read_and_solve(group: BlockGroup, parts: list[Any], block_of: BlockNumbers) -> Answer:
    """The way without messages."""
    (packets,) = _deal_parts(group, enumerate(parts), block_of, group.number, 1)
    return _solve(group, packets)


def slots_of(work: _Work, key: bytes, number: int, part: Any) -> bytes:
    """How many block numbers the rows of a part have, under a pad: it may be a secret."""
    from .distributed import workers_of

    settle_threads()
    slots = sum(worker.slots() for worker in workers_of(work, number, part))
    return sealed(key, number, [np.array([slots], dtype=np.uint64)])


def deal_pieces(group: BlockGroup, number: int, block_of: BlockNumbers,
                pieces: Iterable[tuple[int, Any]]) -> list[bytes]:
    """The messages of part `number`, one for each group."""
    dealt = _deal_parts(group, pieces, block_of, 0, group.of)
    return [sealed(group.key, number * group.of + i, packets) for i, packets in enumerate(dealt)]


def deal(group: BlockGroup, number: int, block_of: BlockNumbers, part: Any) -> list[bytes]:
    return deal_pieces(group, number, block_of, [(number, part)])


def pick(messages: list[bytes], group: int) -> bytes:
    """One of them: so that the others need not travel with it."""
    return messages[group]


def solve_numbered(group: BlockGroup, messages: Iterable[tuple[int, bytes]]) -> Answer:
    """Of the messages of all parts, in their order."""
    return _solve(group, [packet for number, message in messages
                           for packet in opened(group.key, number * group.of + group.number,
                                                message)])


def solve(group: BlockGroup, *messages: bytes) -> Answer:
    return solve_numbered(group, enumerate(messages))


# ---- on the driver ----------------------------------------------------------------------------

def narrow(block_of: BlockNumbers) -> BlockNumbers:
    """Two bytes a row where that is enough."""
    fits = len(block_of) == 0 or block_of.max() < 1 << 16
    return block_of.astype(np.uint16) if fits else block_of


def filled(block_of: BlockNumbers) -> BlockNumbers:
    """With more behind them, which are nobody's: how many there are may be a secret."""
    more = room_for(len(block_of)) - len(block_of)
    return np.concatenate([block_of, np.zeros(more, block_of.dtype)])


def added(key: bytes, answers: Iterable[Answer]) -> Vector:
    """The sum over all groups, with its pads taken off."""
    total: Vector | None = None
    tags = []
    for answer in answers:
        vector = np.frombuffer(answer.totals, np.uint64)
        total = vector.copy() if total is None else total + vector
        tags.append(answer.tag)
    assert total is not None
    unmask(key, b"".join(tags), total)
    return total


def groups_of(work: _Work, key: bytes, count: int) -> list[BlockGroup]:
    first = BlockGroup(work, key, count)
    return [replace(first, number=i) for i in range(count)]


def shares(slots: list[int], block_of: BlockNumbers) -> list[BlockNumbers]:
    """The block numbers of each part."""
    ends = np.cumsum([0, *slots])
    if ends[-1] != len(block_of):
        raise ReadError(CHANGED)
    return [filled(block_of[a:b]) for a, b in zip(ends, ends[1:])]


def deal_and_solve(submit: Callable[..., Any], gather: Callable[[list[Any]], list[Any]],
                   parts: list[Any], work: _Work, block_of: BlockNumbers, groups: int,
                   mask: bool) -> Vector:
    """The way with messages.  submit: a function and its arguments, of which some may be what it
    returned before; gather: what came of some."""
    key = new_key(mask)
    told = gather([submit(slots_of, work, key, i, part) for i, part in enumerate(parts)])
    slots = [int(opened(key, i, message)[0][0]) for i, message in enumerate(told)]
    tasks = groups_of(work, new_key(mask), groups)
    dealt = [submit(deal, tasks[0], i, mine, part)
             for i, (mine, part) in enumerate(zip(shares(slots, narrow(block_of)), parts))]
    return added(tasks[0].key, gather(
        [submit(solve, task, *[submit(pick, messages, task.number) for messages in dealt])
         for task in tasks]))
