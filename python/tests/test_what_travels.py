"""What an engine carries is under pads, unless somebody says otherwise, each with its own key."""
import hashlib
import pickle
import secrets
from collections import Counter, defaultdict
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from block_methods import BALL, BLOCKS, LOUD

import cloister
from cloister import _blocks, _learn, _pads, _spark, distributed
from cloister._native import SETTINGS, lib
from cloister._table import as_table


def some_rows(first, count):
    return np.random.default_rng(7).uniform(-0.5, 0.5, size=(1000, 3))[first:first + count]


#: As a partition by diagnosis would have it.
SIZES = (862, 138)
PARTS = [partial(some_rows, 0, SIZES[0]), partial(some_rows, *SIZES)]


class Writing:
    """An executor that keeps the bytes of all that comes back."""

    def __init__(self):
        self.results = []

    def map(self, function, *arguments):
        for given in zip(*arguments):
            self.results.append(pickle.dumps(function(*given)))
            yield pickle.loads(self.results[-1])


def tells(results, number):
    """Whether a count is in the bytes of some result, as Python or as NumPy writes one."""
    forms = {pickle.dumps(number)[2:-1], np.uint64(number).tobytes()}
    return any(form in result for result in results for form in forms)


@pytest.mark.parametrize("mask", [True, False])
def test_no_number_of_rows_of_a_part_travels_in_the_open(mask):
    executor = Writing()
    distributed.run("kmeans/lloyd", PARTS, executor=executor, clusters=2, rounds=1, mask=mask,
                    **BALL)
    surveys = executor.results[:2]
    assert [tells(surveys, size) for size in SIZES] == [not mask] * 2
    assert len({len(survey) for survey in surveys}) == 1


def test_no_number_of_rows_of_a_dask_partition_travels_in_the_open(monkeypatch):
    array = pytest.importorskip("dask.array")
    results = []
    compute = distributed._Collection._compute

    def spy(self, values):
        found = compute(self, values)
        results.extend(map(pickle.dumps, found))
        return found

    monkeypatch.setattr(distributed._Collection, "_compute", spy)
    made = distributed.run("kmeans/lloyd", array.from_array(some_rows(0, 1000), chunks=(SIZES, 3)),
                           clusters=2, rounds=1, **BALL)
    assert made.info["domain"]["rows"] == 1000
    assert not any(tells(results, size) for size in SIZES)


def test_dask_keeps_the_sizes_that_the_page_says():
    """docs/security/several-machines.md: those of parts, exactly; of ours, one for all parts."""
    array = pytest.importorskip("dask.array")
    dask = pytest.importorskip("distributed")
    sizes = defaultdict(set)

    class Watching(dask.diagnostics.plugin.SchedulerPlugin):
        def transition(self, key, start, finish, *args, **more):
            if finish == "memory":
                name = key[0] if isinstance(key, tuple) else key
                sizes[name.split("-")[0]].add(more["nbytes"])

    rows = array.from_array(some_rows(0, 1000), chunks=(SIZES, 3))
    with dask.LocalCluster(n_workers=1, threads_per_worker=1, processes=False,
                           dashboard_address=":0") as cluster, dask.Client(cluster):
        cluster.scheduler.add_plugin(Watching(), name="watching")
        distributed.run("kmeans/lloyd", rows, clusters=2, rounds=1, **BALL)
        distributed.run("kmeans/aggregate", rows, **LOUD, **BLOCKS["kmeans/aggregate"])
    assert sizes.pop("array") == {24 * size for size in SIZES}
    follow = {name for name, found in sizes.items() if len(found) > 2}  # of two runs
    assert {"sealed_survey", "_fold", "slots_of", "solve", "deal"} <= set(sizes)
    assert follow <= {"deal", "pick"}
    assert len(sizes["sealed_survey"]) == len(sizes["slots_of"]) == len(sizes["solve"]) == 1


@pytest.mark.filterwarnings("ignore::cloister.NotPrivateWarning")
def test_sums_are_under_pads_unless_somebody_says_otherwise(monkeypatch):
    array = pytest.importorskip("dask.array")
    masks = []
    total = distributed._Engine.total

    def spy(self, work, mask):
        masks.append((mask, bool(work.pad)))
        return total(self, work, mask)

    folded = distributed.fold_parts
    pads = []

    def fold(work, parts):
        pads.append(work.pad)
        return folded(work, parts)

    monkeypatch.setattr(distributed._Engine, "total", spy)
    monkeypatch.setattr(distributed, "fold_parts", fold)
    distributed.run("kmeans/lloyd", PARTS, clusters=2, rounds=1, **BALL)
    engine = distributed._Mapping(None, PARTS)
    distributed.release(engine, {"mechanism": "kmeans/lloyd", "clusters": 2, "rounds": 1,
                                 "no-ledger": True, **BALL})
    rows = array.from_array(some_rows(0, 1000), chunks=(500, 3))
    cloister.PrivateKMeans(2, epsilon=1, norm=2, method="lloyd", random_state=1).fit(rows)
    assert masks and all(mask for mask, _ in masks)
    assert all(len(pad) == _pads.PAD_BYTES for pad in pads) and len(set(pads)) == len(pads)
    assert distributed.Crew(engine, None).mask is True


class Done:
    def __init__(self, value):
        self.value = value

    def result(self):
        return self.value


class Client:
    """As Dask's, in this process."""

    def map(self, function, values, *, pure):
        assert pure is False
        return [Done(function(value)) for value in values]

    def submit(self, function, *given, pure):
        assert pure is False
        return Done(function(*[one.value if isinstance(one, Done) else one for one in given]))

    def gather(self, futures):
        return [future.value for future in futures]


def visits(low, high):
    import pyarrow

    who = np.arange(1000) % 100
    mine = (who >= low) & (who < high)
    rows = some_rows(0, 1000)[mine]
    return pyarrow.table({"who": who[mine], **{name: rows[:, j] for j, name in enumerate("abc")}})


PERSONS = [partial(visits, 0, 40), partial(visits, 40, 100)]
RUNS = {
    "sums": ("kmeans/lloyd", PARTS, Writing, {"clusters": 2, "rounds": 3, **BALL}),
    "blocks": ("kmeans/aggregate", PARTS, Client, {**LOUD, **BLOCKS["kmeans/aggregate"]}),
    "blocks read": ("kmeans/aggregate", PARTS, Writing, {**LOUD, **BLOCKS["kmeans/aggregate"]}),
    "persons": ("kmeans/lloyd", PERSONS, Writing,
                {"clusters": 2, "rounds": 2, "unit": "who", "rows_per_unit": 4, **BALL}),
}


class Keys:
    """Every key that was drawn, and everything that one was used for."""

    def __init__(self, monkeypatch):
        self.drawn, self.vectors = [], defaultdict(set)
        self.numbers = defaultdict(Counter)
        self.persons_under = set()
        draw, keyed = secrets.token_bytes, hashlib.blake2b

        def token_bytes(count):
            self.drawn.append(draw(count))
            return self.drawn[-1]

        def blake2b(data, *, key, digest_size, person=b""):
            if person == b"tag":
                self.vectors[key, data[:8]].add(data[8:])
            elif not person:
                self.numbers[key][data] += 1
            return keyed(data, key=key, digest_size=digest_size, person=person)

        monkeypatch.setattr(secrets, "token_bytes", token_bytes)
        monkeypatch.setattr(_pads, "hashlib", SimpleNamespace(blake2b=blake2b))
        persons_of = distributed._Reading.table

        def table(reading, rows):
            self.persons_under.add(reading.unit_key)
            return persons_of(reading, rows)

        monkeypatch.setattr(distributed._Reading, "table", table)


@pytest.mark.parametrize("run", RUNS)
def test_every_key_is_drawn_fresh_whole_and_used_once(run, monkeypatch):
    method, parts, executor, settings = RUNS[run]
    keys = Keys(monkeypatch)
    for _ in range(2):  # two runs have no key in common
        distributed.run(method, parts, executor=executor(), **settings)
    of_sums, of_messages = set(keys.numbers), {key for key, _ in keys.vectors}
    used = [*of_sums, *of_messages, *filter(None, keys.persons_under)]
    assert len(set(keys.drawn)) == len(keys.drawn)
    assert set(used) <= set(keys.drawn) and all(len(key) == 32 for key in used)
    assert len(set(used)) == len(used)  # none is for two purposes
    for key, numbers in keys.numbers.items():  # of a pass: each part has a pad of its own
        assert set(numbers) == {i.to_bytes(8, "little") for i in range(len(parts))}
        assert set(numbers.values()) == {1}, "two passes, or two parts, have one pad"
    for seen in keys.vectors.values():
        assert len(seen) == 1, "one pad hides two vectors"
    assert len(of_messages) >= 2 and len(of_sums) >= 2  # of each run: a survey, and passes
    if run == "persons":
        assert len(keys.persons_under - {b""}) == 2


def test_no_key_is_in_what_a_log_says_of_a_task():
    """Engines log what failed, and some of them its arguments."""
    key = b"key." * (_pads.PAD_BYTES // 4)
    reading = distributed._Reading("null", None, "", True, "who", unit_key=key, pass_key=key)
    work = distributed._Work({}, reading, 3, None, 9, pad=key)
    for part in (reading, work, _blocks.BlockGroup(work, key, 2), _spark.Keys(key, key)):
        assert key.decode() not in repr(part) and type(part).__name__ in repr(part)


def test_no_key_goes_with_what_spark_may_broadcast():
    reading = distributed._Reading("null", None, "", True, "who", unit_key=bytes(32))
    work = distributed._Work({}, reading, 3, None, 9)
    group = _blocks.BlockGroup(work, b"", 2)
    for sent in ((reading, ["a"]), work, group, (group, {})):
        assert bytes(32) in pickle.dumps(sent)
        bare = _spark.Frame._sent(SimpleNamespace(remote=True), sent)
        assert bytes(32) not in pickle.dumps(bare)
        assert _spark.taken(bare, _spark.Keys(b"", bytes(32))) == sent


def test_a_block_method_counts_beyond_32_bits():
    """32,768 partitions, and twice as many groups: the number of a message has 32 bits and one."""
    number = (1 << 15) * (1 << 16) + 5
    (told,) = _spark._row(number, b"", b"", None).to_pylist()
    assert told["part"] == number
    assert "part bigint" in _spark.SCHEMA
    message = _pads.sealed(bytes(32), number, [np.arange(3, dtype=np.uint64)])
    assert _pads.opened(bytes(32), number, message)[0].tolist() == [0, 1, 2]


# ---- two releases in one budget ----

def told(epsilon, delta, private):
    return SimpleNamespace(privacy={"epsilon": epsilon, "delta": delta, "private": private,
                                    "epsilon_used": epsilon, "statement": "One."})


def test_two_releases_cost_their_sum_and_are_private_only_if_both_are():
    both = _learn.together(told(0.25, 3e-7, True), told(0.5, 4e-7, True))
    assert (both["epsilon"], both["delta"], both["epsilon_used"]) == (0.75, 7e-7, 0.75)
    assert both["private"] is True
    for first, second in ((True, False), (False, True), (False, False)):
        assert _learn.together(told(1, 0, first), told(1, 0, second))["private"] is False


#: What bounds and fit are told each for itself; of all else the two must not differ.
THEIR_OWN = {"norm", "bounds", "center", "norm-at-most", "norm-quantile", "share-norm",
             "share-center", "epsilon", "delta", "token", "project", "clusters-at-most", "schema"}


def both_runs(data, **given):
    """The settings of the two runs of a fit with private bounds."""
    settings = {"mechanism": "kmeans", "relation": "replace", "epsilon": 1.0, "norm-at-most": 3.0,
                **given}
    return _learn.split(settings, as_table(data))


def test_both_runs_of_private_bounds_are_told_the_same():
    names = {row.name for row in SETTINGS if row.python} - THEIR_OWN | {"seed", "no-ledger"}
    assert {"relation", "unit", "rows-per-unit", "missing", "ledger", "dataset"} <= names
    given = {name: 7 if name == "rows" else f"<{name}>" for name in names}
    for run in both_runs(some_rows(0, 20), **given):
        assert {name: run.get(name) for name in names} == given
    with pytest.raises(cloister.ArgumentError, match="excludes a schema"):
        both_runs(some_rows(0, 20), schema="people.json")
    first, second = both_runs(some_rows(0, 20), token="once")
    assert first["token"] and first["token"] != second["token"] == "once"


def test_the_parts_of_both_runs_are_the_budget_and_its_default_is_public():
    many = np.zeros((20000, 1))
    first, second = both_runs(many, delta=4e-7, **{"share-norm": 0.25})
    assert (first["epsilon"], second["epsilon"]) == (0.25, 0.75)
    assert first["delta"] + second["delta"] == pytest.approx(4e-7) and first["delta"] > 0
    public = {"replace": 1, "add-remove": 0}
    for relation, counted in public.items():
        for unit in (None, "who"):
            runs = both_runs(many, relation=relation, unit=unit)
            rows = len(many) if counted and unit is None else 0
            assert sum(run["delta"] for run in runs) == \
                pytest.approx(lib.clo_default_delta(rows), rel=1e-12)
    assert lib.clo_default_delta(len(many)) < lib.clo_default_delta(0) == 1e-6


@pytest.mark.filterwarnings("ignore::cloister.NotPrivateWarning")
def test_what_a_fit_with_private_bounds_says_is_the_sum_of_its_releases():
    rows = some_rows(0, 1000)
    made = cloister.PrivateKMeans(2, epsilon=8, delta=1e-6, bounds="private", norm_at_most=100,
                                  method="lloyd", random_state=1).fit(rows)
    parts = [made.bounds_release_.privacy, made.release_.privacy]
    assert made.privacy_["delta"] == parts[0]["delta"] + parts[1]["delta"] <= 1e-6
    assert made.privacy_["epsilon"] == parts[0]["epsilon"] + parts[1]["epsilon"]
    assert made.privacy_["private"] is False
