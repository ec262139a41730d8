"""Spark 4 as an engine of distributed.py: a partition of a data frame is a part.

The DataFrame API alone is used, so that a session may be a classic one or Spark Connect:
mapInArrow(fold), a shuffle to a few tasks, mapInArrow(add), collect.  A shuffle and not coalesce(),
which has no stage of its own: it would leave the folding, too, to those few tasks.

What Spark stores are rows of SCHEMA: padded vectors and the tags that their pads belong to.  Keys
(of a pass, of the persons) travel in the function alone.
"""
from __future__ import annotations

import importlib
import json
import math
import pickle
import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from . import exceptions
from ._blocks import (Answer, BlockGroup, BlockNumbers, added, deal_pieces, narrow, shares,
                      solve_numbered)
from ._pads import Vector, masked, new_key, room_for, unmask
from ._pieces import gathered
from .distributed import (Survey, _Engine, _Reading, _same_plan, _Work, fold_parts, rounded_up,
                          workers_of)
from .exceptions import CloisterError, DomainError, InternalError, UnsupportedError

SCHEMA = "part bigint, tags binary, totals binary, error string"
#: With more vectors than this, they are added up on workers before they travel.
FEW = 4
#: Functions above 1 MiB are written to files by classic sessions; ours hold a key, so stay below.
LARGE = 1 << 19
#: How many tasks are asked for their plan.
PLANNERS = 8
#: With more tasks than this, that solve blocks, a message for each of them would be the most of it.
MOST_SOLVERS = 1 << 10
#: Of the messages that one task solves: Arrow holds 2 GiB in one column of a batch.
MOST_BYTES = 256 << 20
NO_BLOCK_NUMBERS: BlockNumbers = np.zeros(0, dtype=np.uint16)


@dataclass(frozen=True)
class Keys:
    """Of a pass and of the persons: what never stands in a broadcast, which Spark stores."""

    of_pass: bytes = field(repr=False)
    of_persons: bytes = field(repr=False)


def with_key(work: Any, key: bytes) -> Any:
    """The same with another key of the persons; b"": none."""
    if isinstance(work, tuple):
        return (with_key(work[0], key), *work[1:])
    if isinstance(work, BlockGroup):
        return replace(work, work=with_key(work.work, key))
    if isinstance(work, _Work):
        return replace(work, reading=with_key(work.reading, key))
    return replace(work, unit_key=key)


# ---- on a worker ------------------------------------------------------------------------------

def taken(sent: Any, keys: Keys) -> Any:
    """What goes with a function: in it, or beside it as a broadcast."""
    return with_key(getattr(sent, "value", sent), keys.of_persons)


def rows_of(reading: _Reading, batches: Iterable[Any]) -> Iterator[Any]:
    """The rows of a partition: with persons as one piece, otherwise as some."""
    import pyarrow

    if reading.unit is None:
        return gathered(batches)
    held = list(batches)
    return iter([pyarrow.Table.from_batches(held)] if held else [])


def _look(survey: tuple[_Reading, list[str]], batches: Iterable[Any]) -> list[Survey]:
    reading, names = survey
    told = [reading.survey(piece) for piece in rows_of(reading, batches)]
    if any(piece.names != names for piece in told):
        raise DomainError("a partition has other columns than its data frame")
    return told


def count_rows(survey: tuple[_Reading, list[str]], batches: Iterable[Any]) -> Vector:
    """How many rows there are, and how many of them have a missing cell, where that is public;
    and otherwise whether they can be read."""
    told = _look(survey, batches)
    return np.array([sum(piece.rows for piece in told), sum(piece.gaps for piece in told)],
                    dtype=np.uint64)


def list_persons(survey: tuple[_Reading, list[str]], batches: Iterable[Any]) -> Vector:
    """Hashes of the persons of a partition."""
    told = _look(survey, batches)
    return np.frombuffer(told[0].persons, np.uint64).copy() if told else rounded_up(b"")


def fold_rows(work: _Work, batches: Iterable[Any]) -> Vector:
    return fold_parts(work, enumerate(rows_of(work.reading, batches)))


def count_slots(work: _Work, batches: Iterable[Any]) -> Vector:
    """How many block numbers the rows of a partition have."""
    slots = sum(worker.slots() for number, piece in enumerate(rows_of(work.reading, batches))
                for worker in workers_of(work, number, piece))
    return np.array([slots], dtype=np.uint64)


def _row(part: int, tags: bytes, totals: bytes, error: str | None) -> Any:
    import pyarrow

    arrays = [pyarrow.array([part], pyarrow.int64()), pyarrow.array([tags], pyarrow.binary()),
              pyarrow.array([totals], pyarrow.binary()), pyarrow.array([error], pyarrow.string())]
    return pyarrow.RecordBatch.from_arrays(arrays, ["part", "tags", "totals", "error"])


def each_part(keys: Keys, function: Callable[[Any, Any], Vector], sent: Any,
              batches: Iterable[Any]) -> Iterator[Any]:
    """One row for a partition.  What the library refuses is told, not raised: Spark would try it
    again, and say it in its own words."""
    part = importlib.import_module("pyspark").TaskContext.get().partitionId()
    try:
        vector = function(taken(sent, keys), batches)
    except CloisterError as raised:
        yield _row(part, b"", b"", f"{type(raised).__name__}\n{raised}")
        return
    tag = masked(keys.of_pass, part, vector)
    yield _row(part, tag, vector.tobytes(), None)


def deal_rows(keys: Keys, sent: Any, batches: Iterable[Any]) -> Iterator[Any]:
    """One row for a partition and a group: its message, and their number (fold.T7)."""
    part = importlib.import_module("pyspark").TaskContext.get().partitionId()
    group, block_of = taken(sent, keys)
    group = replace(group, key=keys.of_pass)
    try:
        messages = deal_pieces(group, part, block_of.get(part, NO_BLOCK_NUMBERS),
                               enumerate(rows_of(group.work.reading, batches)))
    except CloisterError as raised:
        yield _row(part, b"", b"", f"{type(raised).__name__}\n{raised}")
        return
    for i, message in enumerate(messages):
        yield _row(part * group.of + i, b"", message, None)


def solve_rows(keys: Keys, sent: Any, batches: Iterable[Any]) -> Iterator[Any]:
    """One row for a group: what came of its blocks."""
    group = replace(taken(sent, keys), key=keys.of_pass)
    found: dict[int, dict[int, bytes]] = {}
    for batch in batches:
        for row in batch.to_pylist():
            if row["error"] is not None:
                yield _row(0, b"", b"", row["error"])
                return
            part, number = divmod(row["part"], group.of)
            found.setdefault(number, {})[part] = row["totals"]
    for number, messages in found.items():
        try:
            answer = solve_numbered(replace(group, number=number), sorted(messages.items()))
        except CloisterError as raised:
            yield _row(0, b"", b"", f"{type(raised).__name__}\n{raised}")
            return
        yield _row(number, answer.tag, answer.totals, None)


def add_up(batches: Iterable[Any]) -> Iterator[Any]:
    """All rows as one; pads add up as well."""
    tags: list[bytes] = []
    total: Vector = np.zeros(0, dtype=np.uint64)
    for batch in batches:
        for row in batch.to_pylist():
            if row["error"] is not None:
                yield _row(0, b"", b"", row["error"])
                return
            vector = np.frombuffer(row["totals"], np.uint64)
            total = total + vector if tags else vector
            tags.append(row["tags"])
    if tags:
        yield _row(0, b"".join(tags), total.tobytes(), None)


def make_plans(settings: dict[str, Any], cols: int, rows: int,
               batches: Iterable[Any]) -> Iterator[Any]:
    """What this worker would plan, as JSON; its version if it cannot."""
    import pyarrow

    for _ in batches:
        pass
    try:
        plan = json.dumps(_same_plan(settings, cols, rows, 0))
    except CloisterError as raised:
        plan = json.dumps(str(raised))
    yield pyarrow.RecordBatch.from_arrays([pyarrow.array([plan])], ["plan"])


def read_nothing(_: Any, batches: Iterable[Any]) -> Iterator[Any]:
    """What is sent with it has come, and that is all."""
    for _batch in batches:
        pass
    return iter(())


# ---- on the driver ----------------------------------------------------------------------------

def _raise(error: str) -> None:
    name, _, message = error.partition("\n")
    kind = getattr(exceptions, name, InternalError)
    raise kind(message)


class Frame(_Engine):
    """A data frame of Spark's, wherever Spark computes it: anew at every pass, unless it is
    cached."""

    tasks = 1
    unit_key = b""  # of the persons of this run

    def __init__(self, frame: Any) -> None:
        self.frame, self.session = frame, frame.sparkSession
        self.remote = ".connect." in type(frame).__module__
        self.names = list(frame.columns)

    def _sent(self, work: Any) -> Any:
        """What goes into the function beside the keys, or where it is found."""
        work = with_key(work, b"")
        if self.remote or len(pickle.dumps(work)) < LARGE:
            return work
        return self.session.sparkContext.broadcast(work)

    def _keys(self, pass_key: bytes) -> Keys:
        return Keys(pass_key, self.unit_key)

    def _rows(self, function: Callable[[Any, Any], Vector], work: Any, pass_key: bytes,
              adders: int = 0) -> list[Any]:
        """What the function gives of each partition, under pads; added up by some tasks."""
        sent = self._sent(work)
        rows = self.frame.mapInArrow(partial(each_part, self._keys(pass_key), function, sent),
                                     SCHEMA)
        if adders:
            rows = rows.repartition(adders, "part").mapInArrow(add_up, SCHEMA)
        found = self._collected(rows, [sent])
        self.tasks = max(self.tasks, len(found))
        return found

    def _collected(self, rows: Any, broadcasts: list[Any]) -> list[Any]:
        found = rows.collect()
        for sent in broadcasts:
            if hasattr(sent, "unpersist"):
                sent.unpersist()
        for row in found:
            if row["error"] is not None:
                _raise(row["error"])
        if not found:
            raise DomainError("the data frame has no partition")
        return list(found)

    def _sum(self, function: Callable[[Any, Any], Vector], work: Any, mask: bool) -> Vector:
        pass_key = new_key(mask)
        adders = math.ceil(math.sqrt(self.tasks)) if self.tasks > FEW else 0
        found = self._rows(function, work, pass_key, adders)
        total: Vector = np.zeros(len(found[0]["totals"]) // 8, dtype=np.uint64)
        for row in found:
            total += np.frombuffer(row["totals"], np.uint64)
        unmask(pass_key, b"".join(bytes(row["tags"]) for row in found), total)
        return total

    def survey(self, reading: _Reading) -> list[Survey]:
        if reading.unit is None:
            work = (replace(reading, pass_key=b""), self.names)
            rows, gaps = (int(n) for n in self._sum(count_rows, work, bool(reading.pass_key)))
            return [Survey(len(self.names), self.names, rows, gaps=gaps)]
        if reading.unit not in self.names:
            raise DomainError(f"the data frame has no column {reading.unit!r}")
        self.unit_key = reading.unit_key
        others = [name for name in self.names if name != reading.unit]
        survey = Survey(len(others), others, 0)
        lists = self._persons(replace(reading, pass_key=b""), others, bool(reading.pass_key))
        return [survey._replace(persons=listed) for listed in lists]

    def _persons(self, reading: _Reading, names: list[str], mask: bool) -> list[bytes]:
        """The list of each partition; what Spark stores of them is under pads (pad.T3)."""
        pass_key = new_key(mask)
        lists = []
        for row in self._rows(list_persons, (reading, names), pass_key):
            listed = np.frombuffer(row["totals"], np.uint64).copy()
            unmask(pass_key, bytes(row["tags"]), listed)
            lists.append(listed.tobytes())
        return lists

    def plans(self, settings: dict[str, Any], cols: int, rows: int) -> Iterable[Any]:
        some = self.session.range(0, PLANNERS, 1, min(self.tasks, PLANNERS))
        made = some.mapInArrow(partial(make_plans, settings, cols, rows), "plan string").collect()
        return [json.loads(row["plan"]) for row in made]

    def total(self, work: _Work, mask: bool) -> Vector:
        return self._sum(fold_rows, work, mask)

    def _block_numbers(self, work: _Work, block_of: BlockNumbers,
                       mask: bool) -> dict[int, BlockNumbers]:
        """Those of the rows of each partition, which are the data in the order of their numbers."""
        key, slots = new_key(mask), {}
        for row in self._rows(count_slots, work, key):
            told = np.frombuffer(row["totals"], np.uint64).copy()
            unmask(key, bytes(row["tags"]), told)
            slots[int(row["part"])] = int(told[0])
        parts = sorted(slots)
        return dict(zip(parts, shares([slots[part] for part in parts], narrow(block_of))))

    def try_blocks(self, rows: int) -> None:
        """On Connect the block numbers of all rows are in one message, whose size both ends limit,
        and some versions compress it first: so one as large, of nothing, is sent."""
        size = 2 * room_for(rows)
        if not self.remote or size < LARGE:
            return
        as_large = secrets.token_bytes(size)
        try:
            self.session.range(1).mapInArrow(partial(read_nothing, as_large), SCHEMA).collect()
        except Exception as raised:
            raise UnsupportedError(
                f"blocks of {rows} rows need a message of {size / 2 ** 20:.1f} MiB, which "
                "this session of Spark Connect does not accept: raise "
                "spark.connect.grpc.maxInboundMessageSize at the start of the server, or choose a "
                "method that needs only sums; nothing was spent") from raised

    def blocks(self, work: _Work, block_of: BlockNumbers, mask: bool) -> Vector:
        """mapInArrow(deal), a shuffle of messages to their groups, mapInArrow(solve), collect."""
        key = new_key(mask)
        mine = self._block_numbers(work, block_of, mask)
        solvers = max(min(self.tasks, MOST_SOLVERS),
                      math.ceil(len(block_of) * work.cols * 4 / MOST_BYTES))
        group = BlockGroup(work, b"", 2 * solvers)
        dealt, solved = self._sent((group, mine)), self._sent(group)
        messages = self.frame.mapInArrow(partial(deal_rows, self._keys(key), dealt), SCHEMA)
        answers = messages.repartition(solvers, messages["part"] % group.of).mapInArrow(
            partial(solve_rows, self._keys(key), solved), SCHEMA)
        found = self._collected(answers, [dealt, solved])
        return added(key, [Answer(bytes(row["tags"]), bytes(row["totals"])) for row in found])
