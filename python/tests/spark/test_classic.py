"""A classic session on this machine: the bytes of one process, one charge, nothing to be read in
what Spark writes."""
import base64
import json
import os
import secrets
from functools import partial
from itertools import combinations

import numpy as np
import pyarrow.parquet
import pytest
from block_methods import BLOCKS, LOUD, cells
from same_bytes import BALL, METHODS, PERSONS, alone, by_person, check_blocks, check_persons
from sessions import everything_in, session

import cloister
from cloister import _spark, distributed


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    return tmp_path_factory.mktemp("classic")


@pytest.fixture(scope="module")
def spark(scratch):
    with session(scratch) as made:
        yield made


@pytest.fixture
def people(spark, files):
    read = spark.read.parquet(str(files))
    assert read.rdd.getNumPartitions() > _spark.FEW  # so that vectors are shuffled
    return read


@pytest.mark.parametrize("method", METHODS)
def test_the_bytes_of_one_process(method, frame, people):
    made = distributed.run(method, people, **BALL, **METHODS[method])
    assert made.to_json() == alone(method, frame, **METHODS[method])


def test_partitions_do_not_show(frame, people):
    """One, an empty one, and as many as a hash of a column makes."""
    settings = {"clusters": 2, "rounds": 2, "relation": "add-remove", "rows": 3000}
    expected = alone("kmeans/lloyd", frame, **settings)
    for other in (people.coalesce(1), people.repartition(9, "a"), people.repartition(2).filter(
            "a < 0").union(people.filter("a >= 0")).union(people.filter("a > 9"))):
        made = distributed.run("kmeans/lloyd", other, **BALL, **settings)
        assert made.to_json() == expected


@pytest.mark.parametrize("method", BLOCKS)
def test_blocks_are_those_of_one_process(method, people):
    check_blocks(method, people)


def test_blocks_of_any_partitions(people, monkeypatch):
    """One; empty ones; and homes that are too large for a function."""
    monkeypatch.setattr(_spark, "LARGE", 100)
    for other in (people.coalesce(1), people.filter("a > 9").union(people).union(
            people.filter("a > 9"))):
        check_blocks("kmeans/aggregate", other)


def test_persons_are_in_one_partition_each(people, tmp_path):
    ledger = tmp_path / "study.ledger"
    cloister.Ledger(ledger, create=True).declare("visits", epsilon=5, delta=1e-5)
    check_persons(people, ledger)


@pytest.mark.filterwarnings("ignore::cloister.NotPrivateWarning")
def test_an_estimator_takes_a_data_frame_and_its_names(rows, frame, people):
    make = partial(cloister.PrivateKMeans, 2, epsilon=1, random_state=3, method="lloyd",
                   bounds={"c": (-1, 1), "a": (-1, 1), "b": (-2, 2)})
    fitted, plain = make().fit(people), make().fit(frame)
    assert fitted.release_.to_json() == plain.release_.to_json()
    assert list(fitted.feature_names_in_) == ["a", "b", "c"]
    assert (fitted.predict(frame) == plain.predict(frame)).all()
    assert set(vars(fitted)) == set(vars(plain))


def test_an_ask_that_is_too_large_for_a_function_is_broadcast(frame, people, monkeypatch):
    sent = []
    monkeypatch.setattr(_spark, "LARGE", 100)
    original = _spark.Frame._sent
    monkeypatch.setattr(_spark.Frame, "_sent",
                        lambda self, work: sent.append(original(self, work)) or sent[-1])
    made = distributed.run("kmeans/lloyd", people, clusters=2, rounds=2, **BALL)
    assert made.to_json() == alone("kmeans/lloyd", frame, clusters=2, rounds=2)
    assert any(type(thing).__name__ == "Broadcast" for thing in sent)


# ---- what is refused, and what it costs --------------------------------------------------------

@pytest.fixture
def ledger(tmp_path):
    path = tmp_path / "study.ledger"
    cloister.Ledger(path, create=True).declare("visits", epsilon=5, delta=1e-5)
    return path


def charges(path):
    return len(cloister.Ledger(path).history())


def paid(path):
    return {"epsilon": 1, "norm": 2, "ledger": path, "dataset": "visits"}


def test_what_cannot_be_done_costs_nothing(people, ledger):
    run = partial(distributed.run, clusters=2, **paid(ledger))
    with pytest.raises(cloister.UnsupportedError, match="subspaces/moments"):
        run("subspaces/gibbs", people, dim=1, accept="asymptotic")
    with pytest.raises(cloister.CloisterError, match="'d'"):
        run("kmeans/lloyd", people.selectExpr("*", "'text' as d"))
    with pytest.raises(cloister.CloisterError, match="missing"):
        run("kmeans/lloyd", people.selectExpr("a", "nullif(b, b) as b"), missing="refuse")
    assert charges(ledger) == 0


def some_at_random():
    """Rows that are other ones whenever they are asked for.  A function inside of one travels as it
    is; workers do not have this file."""
    def rows(batches):
        for batch in batches:
            kept = np.frombuffer(os.urandom(batch.num_rows), np.uint8) > 100
            yield batch.filter(kept)
    return rows


@pytest.mark.parametrize("method, settings", (
    ("kmeans/lloyd", {"clusters": 2, "rounds": 3}),
    ("kmeans/aggregate", {**BLOCKS["kmeans/aggregate"], "anyway": True})))
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_a_lineage_that_is_not_deterministic_ends_without_a_release(people, ledger, relation,
                                                                    method, settings):
    """The charge stays: that rows differ is seen when they are asked for."""
    changing = people.mapInArrow(some_at_random(), people.schema)
    what = "changed between two passes|number of rows in the parts has changed"
    with pytest.raises(cloister.ReadError, match=what) as raised:
        distributed.run(method, changing, relation=relation, **settings, **paid(ledger))
    assert "spent" in "".join(raised.value.__notes__)
    assert charges(ledger) == 1


# ---- what Spark writes -------------------------------------------------------------------------

class Seen:
    """Keys of passes, and all sums over some of the partitions, as they would be without pads."""

    def __init__(self, monkeypatch, files):
        self.keys, self.sums, self.files = set(), set(), files
        draw, total = _spark.secrets.token_bytes, _spark.Frame.total

        def token_bytes(count):
            key = draw(count)
            self.keys.add(key)
            return key

        def noted(engine, work, mask):
            self.note(work)
            return total(engine, work, mask)

        monkeypatch.setattr(_spark.secrets, "token_bytes", token_bytes)
        monkeypatch.setattr(_spark.Frame, "total", noted)

    def note(self, work):
        """Two sums of columns side by side, and the keyed hash, behind which persons would be
        counted: bytes that are not there by chance."""
        parts = [distributed.fold_parts(work, [(0, cloister.read(path))])
                 for path in self.files.glob("*.parquet")]
        for size in range(1, len(parts) + 1):
            for some in combinations(parts, size):
                total = sum(some)
                self.sums |= {total[:2].tobytes(), total[-3:-2].tobytes()}


def found(folder, needles):
    return sum(needle in content for _, content in everything_in(folder) for needle in needles)


def test_no_exact_sum_and_no_key_is_in_what_spark_writes(people, scratch, files, monkeypatch):
    seen = Seen(monkeypatch, files)
    run = partial(distributed.run, "kmeans/lloyd", people, clusters=1, rounds=2, **BALL)
    expected = run().to_json()
    assert len(seen.sums) >= 63 and len(seen.keys) >= 2
    shuffles = [path for path, _ in everything_in(scratch) if path.name.endswith(".data")]
    assert shuffles  # there is something to be found
    assert found(scratch, seen.sums) == 0
    assert found(scratch, seen.keys) == 0
    assert run(mask=False).to_json() == expected
    assert found(scratch, seen.sums) >= 6  # without pads the search finds them


def test_no_row_and_no_key_is_in_what_spark_writes(people, scratch, files, monkeypatch):
    """Rows travel to whoever solves their block: pad.T4."""
    seen = Seen(monkeypatch, files)
    table = people.toArrow()
    needles = cells(np.column_stack([table[name] for name in "abc"])[::50])
    run = partial(distributed.run, "kmeans/aggregate", people, **LOUD, **BLOCKS["kmeans/aggregate"])
    before = {path for path, _ in everything_in(scratch)}
    expected = run().to_json()
    assert any(path.name.endswith(".data") for path, _ in everything_in(scratch)
               if path not in before)
    assert found(scratch, needles) == 0
    assert len(seen.keys) >= 3 and found(scratch, seen.keys) == 0
    assert run(mask=False).to_json() == expected
    assert found(scratch, needles) >= 10  # without pads the search finds them


def heavy(work):
    """What makes a function larger than a megabyte; a class inside of a function travels as it
    is."""
    class Heavy:
        value, weight = work, os.urandom(2 << 20)
        unpersist = staticmethod(lambda: None)
    return Heavy()


def test_large_functions_would_leave_keys_in_files(people, scratch, files, monkeypatch):
    """Why large asks are broadcast by themselves (LARGE), and that keys are found if they are
    there."""
    seen = Seen(monkeypatch, files)
    monkeypatch.setattr(_spark.Frame, "_sent", lambda self, work: heavy(work))
    distributed.run("kmeans/lloyd", people, clusters=1, rounds=1, **BALL)
    assert found(scratch, seen.keys) >= 1


def spelled(key):
    """A key as it may stand in a file or a log."""
    return {key, key.hex().encode(), base64.b64encode(key), repr(key)[2:-1].encode()}


def test_no_key_is_in_a_broadcast(people, scratch, monkeypatch):
    """Spark keeps broadcasts in files.  Persons are hashed under a key that every pass needs."""
    keys, draw = set(), secrets.token_bytes

    def token_bytes(count):
        key = draw(count)
        keys.update(spelled(key))
        return key

    monkeypatch.setattr(_spark, "LARGE", 100)
    monkeypatch.setattr(secrets, "token_bytes", token_bytes)
    visits = by_person(people).repartition(3, "who")
    distributed.run("kmeans/lloyd", visits, rounds=1, **BALL, **PERSONS)
    distributed.run("kmeans/aggregate", people, **LOUD, **BLOCKS["kmeans/aggregate"])
    assert len(keys) > 4 * 4
    assert found(scratch, keys) == 0
    assert not any(key in repr(part).encode() for key in keys for part in (
        _spark.Keys(draw(32), draw(32)), distributed._Reading("null", None, "", True,
                                                              unit_key=min(keys))))


#: As a partition by diagnosis would have it; numbers that nothing else comes to.
SIZES = (1861, 1139)


def numbers_in(value, path=()):
    """Every number of the event log, with the name that it has there."""
    if isinstance(value, dict):
        named = (*path, value["Name"]) if value.get("Name") else path
        for name, inner in value.items():
            yield from numbers_in(inner, named if name in ("Update", "Value") else (*path, name))
    elif isinstance(value, list):
        for inner in value:
            yield from numbers_in(inner, path)
    elif path and path[-1] != "ID":  # of a metric
        yield path[-1], str(value)


def test_spark_counts_the_rows_of_a_part_where_the_page_says(spark, scratch, frame, tmp_path):
    """docs/security/several-machines.md: nothing of ours does, and what Spark does is said."""
    mixed = frame.take(np.random.default_rng(2).permutation(len(frame)))
    for part, (first, size) in enumerate(((0, SIZES[0]), SIZES)):
        pyarrow.parquet.write_table(mixed.slice(first, size), tmp_path / f"{part}.parquet")
    read = spark.read.parquet(str(tmp_path))
    distributed.run("kmeans/lloyd", read, clusters=2, rounds=1, **BALL)
    lines = [line for path, content in everything_in(scratch / "events")
             for line in content.splitlines() if b"SparkListenerTaskEnd" in line]
    told = {pair for line in lines for pair in numbers_in(json.loads(line))}
    names = {name for name, _ in told if all((name, str(size)) in told for size in SIZES)}
    assert names == {"Records Read", "internal.metrics.input.recordsRead", "number of output rows"}
