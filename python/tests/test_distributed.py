"""Rows in several parts: the bytes of one process, one charge, nothing readable on the way."""
import os
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from block_methods import BALL, BLOCKS, LOUD, cells

import cloister
from cloister import _pads, _pieces, _spark, distributed
from cloister._table import as_table
from cloister.distributed import Part

METHODS = {
    "kmeans/lloyd": {"clusters": 2, "rounds": 3},
    "kmeans/local": {"clusters": 2},
    "kmeans/density": {"clusters": 2},
    "kmedian/density": {"clusters": 2},
    "kmeans/highdim": {"clusters": 2},
    "subspaces/moments": {"clusters": 2, "dim": 1},
    "subspaces/sulq": {"clusters": 2, "dim": 1, "rounds": 2},
    "subspace/gaussian": {"dim": 2},
    "bounds/quantile": {"quantile": 0.9},
}



def some_rows(first, count):
    """A part as a function: the same rows whenever it is called."""
    generator = np.random.default_rng(7)
    rows = np.vstack([generator.normal(m, 0.1, size=(1500, 3)) for m in (-0.5, 0.5)]).clip(-1, 1)
    return rows[first:first + count]


def recipes(count=3):
    ends = [3000 * i // count for i in range(count + 1)]
    return [partial(some_rows, a, b - a) for a, b in zip(ends, ends[1:])]


def alone(method, data, **settings):
    return cloister.run(method, table=as_table(data), **{**BALL, **settings})


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2) as pool:
        yield pool


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    distributed_ = pytest.importorskip("distributed")
    with distributed_.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None,
            local_directory=tmp_path_factory.mktemp("dask")) as cluster, \
            distributed_.Client(cluster) as connected:
        yield connected


# ---- the same bytes ---------------------------------------------------------------------------

@pytest.mark.parametrize("method", METHODS)
def test_parts_give_the_bytes_of_one_process(method, rows, processes):
    expected = alone(method, rows, **METHODS[method]).to_json()
    for executor, parts in ((None, recipes(1)), (processes, recipes(5))):
        made = distributed.run(method, parts, executor=executor, **BALL, **METHODS[method])
        assert made.to_json() == expected


def wide_rows(first, count):
    """Two clusters in 20 columns: kmeans/density looks at them through a lens."""
    generator = np.random.default_rng(8)
    made = np.vstack([generator.normal(m, 0.05, size=(1500, 20)) for m in (-0.2, 0.2)])
    return made[first:first + count]


def test_many_columns_give_the_bytes_of_one_process(processes):
    settings = {"clusters": 2, "rounds": 2, "rows": 3000}
    expected = alone("kmeans/density", wide_rows(0, 3000), **settings).to_json()
    parts = [partial(wide_rows, 0, 1100), partial(wide_rows, 1100, 0),
             partial(wide_rows, 1100, 1900)]
    for executor in (None, processes):
        made = distributed.run("kmeans/density", parts, executor=executor, **BALL, **settings)
        assert made.to_json() == expected


def test_hidden_rows_a_learnt_centre_and_kept_parts_give_the_same_bytes(rows):
    settings = {"clusters": 2, "rounds": 2, "center": "private", "relation": "add-remove",
                "norm": 20, "rows": 3000}
    expected = alone("kmeans/lloyd", rows, **settings).to_json()
    with ThreadPoolExecutor(1) as threads:
        for executor in (None, threads):
            made = distributed.run("kmeans/lloyd", recipes(4), executor=executor, keep=True,
                                   **{**BALL, **settings})
            assert made.to_json() == expected
    distributed._kept.clear()


def test_runs_beside_each_other_may_keep_their_rows(rows):
    settings = {**BALL, **METHODS["kmeans/lloyd"]}
    expected = alone("kmeans/lloyd", rows, **settings).to_json()

    def fit(_):
        with ThreadPoolExecutor(3) as threads:
            return distributed.run("kmeans/lloyd", recipes(4), executor=threads, keep=True,
                                   **settings).to_json()

    with ThreadPoolExecutor(4) as callers:
        assert set(callers.map(fit, range(24))) == {expected}
    distributed._kept.clear()


def test_files_and_ranges_of_rows_are_parts(rows, tmp_path):
    import pyarrow
    import pyarrow.parquet

    np.save(tmp_path / "all.npy", rows)
    frame = pyarrow.table({name: rows[:, j] for j, name in enumerate("abc")})
    pyarrow.parquet.write_table(frame.slice(0, 1000), tmp_path / "0.parquet")
    pyarrow.parquet.write_table(frame.slice(1000), tmp_path / "1.parquet")
    plain = alone("kmeans/lloyd", rows, clusters=2)
    named = alone("kmeans/lloyd", frame, clusters=2)
    run = partial(distributed.run, "kmeans/lloyd", clusters=2, **BALL)
    assert run(distributed.split(tmp_path / "all.npy", 3)).to_json() == plain.to_json()
    assert run([tmp_path / "0.parquet", tmp_path / "1.parquet"]).to_json() == named.to_json()
    ranged = [tmp_path / "0.parquet", Part(str(tmp_path / "1.parquet"), 0, 500),
              Part(str(tmp_path / "1.parquet"), 500)]
    assert run(ranged).to_json() == named.to_json()


def test_dask_gives_the_same_bytes(rows, client):
    expected = alone("kmeans/local", rows, clusters=2).to_json()
    made = distributed.run("kmeans/local", recipes(5), executor=client, clusters=2, **BALL)
    assert made.to_json() == expected


# ---- blocks (fold.T7) --------------------------------------------------------------------------

@pytest.mark.parametrize("method", BLOCKS)
def test_blocks_on_workers_give_the_bytes_of_one_process(method, rows, processes, client):
    array = pytest.importorskip("dask.array")
    settings = {**LOUD, **BLOCKS[method]}
    expected = alone(method, rows, **settings).to_json()
    parts = array.from_array(rows, chunks=(700, 2))
    for executor, given in ((None, recipes(3)), (processes, recipes(5)), (client, recipes(4)),
                            (None, parts)):
        made = distributed.run(method, given, executor=executor, **settings)
        assert made.to_json() == expected


@pytest.mark.parametrize("mask", (False, True))
def test_blocks_of_hidden_rows_from_a_learnt_centre_give_the_same_bytes(rows, mask, small_pieces):
    settings = {**LOUD, **BLOCKS["kmeans/aggregate"], "center": "private", "norm": 20,
                "relation": "add-remove", "rows": 3000}
    expected = alone("kmeans/aggregate", rows, **settings).to_json()
    with ThreadPoolExecutor(3) as threads:
        for executor, keep in ((None, True), (threads, False), (threads, True), (Client(), False)):
            made = distributed.run("kmeans/aggregate", recipes(4), executor=executor, keep=keep,
                                   mask=mask, **settings)
            assert made.to_json() == expected
    distributed._kept.clear()


class Done:
    """What is there already, as a future; all that was is in `made`."""

    made = []

    def __init__(self, value):
        self.value = pickle.loads(pickle.dumps(value))
        Done.made.append(pickle.dumps(value))

    def result(self):
        return self.value


class Client:
    """As Dask's client is used, in this process: what is submitted later gets what came before."""

    def map(self, function, values, **_):
        return [Done(function(value)) for value in values]

    def submit(self, function, *given, pure):
        assert pure is False
        return Done(function(*[one.value if isinstance(one, Done) else one for one in given]))

    def gather(self, futures):
        return [future.value for future in futures]


def test_persons_in_blocks_give_the_bytes_of_one_process(client):
    settings = {**LOUD, **BLOCKS["kmeans/aggregate"], "unit": "who", "rows_per_unit": 4}
    parts = visits()
    held = as_table(pyarrow_concat([part() for part in parts]), unit="who")
    expected = cloister.run("kmeans/aggregate", table=held, **settings).to_json()
    for executor in (None, client):
        made = distributed.run("kmeans/aggregate", parts, executor=executor, **settings)
        assert made.to_json() == expected


def pyarrow_concat(tables):
    import pyarrow

    return pyarrow.concat_tables(tables)


@pytest.mark.filterwarnings("ignore::cloister.NotPrivateWarning")
def test_an_estimator_takes_dask_arrays_and_frames(rows, client):
    array = pytest.importorskip("dask.array")
    frames = pytest.importorskip("dask.dataframe")
    import pandas

    make = partial(cloister.PrivateKMeans, 2, epsilon=1, norm=2, random_state=3)
    plain = make(method="lloyd").fit(rows)
    fitted = make(method="lloyd").fit(array.from_array(rows, chunks=(700, 2)))
    assert fitted.release_.to_json() == plain.release_.to_json()
    assert fitted.n_features_in_ == 3
    assert (fitted.predict(rows) == plain.predict(rows)).all()
    frame = pandas.DataFrame(rows, columns=["a", "b", "c"])
    named = make(method="lloyd").fit(frame)
    fitted = make(method="lloyd").fit(frames.from_pandas(frame, npartitions=4))
    assert fitted.release_.to_json() == named.release_.to_json()
    assert list(fitted.feature_names_in_) == ["a", "b", "c"]
    assert set(vars(fitted)) == set(vars(named))
    with pytest.raises(cloister.UnsupportedError, match="bounds"):
        cloister.PrivateKMeans(2, epsilon=1, bounds="private", norm_at_most=5).fit(
            array.from_array(rows))


def test_the_choice_is_among_what_can_be_spread(rows):
    made = distributed.run("kmeans", recipes(2), clusters=2, **BALL)
    assert f"kmeans/{made.info['method']}" in METHODS or made.info["method"] == "grid"


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


def of_other_columns():
    return np.zeros((10, 2))


def that_fails():
    raise OSError("this machine has no such file")


def test_what_cannot_be_spread_costs_nothing(ledger, rows, tmp_path):
    import pyarrow
    import pyarrow.parquet

    with pytest.raises(cloister.UnsupportedError, match="subspace/gaussian"):
        distributed.run("subspace/exact", recipes(), dim=1, **paid(ledger))
    with pytest.raises(cloister.UnsupportedError, match="which these workers cannot solve"):
        file = tmp_path / "rows.parquet"
        pyarrow.parquet.write_table(pyarrow.table({"a": rows[:, 0], "b": rows[:, 1]}), file)
        cloister.run("kmeans/aggregate", file, memory="1G", clusters=2, accept="idealized",
                     **paid(ledger))
    with pytest.raises(cloister.UnsupportedError, match="name of a column"):
        distributed.run("kmeans/lloyd", recipes(), clusters=2, unit=np.zeros(3000),
                        rows_per_unit=2, **paid(ledger))
    with pytest.raises(cloister.DomainError, match="different columns"):
        distributed.run("kmeans/lloyd", [*recipes(), of_other_columns], clusters=2,
                        **paid(ledger))
    with pytest.raises(OSError, match="no such file"):
        distributed.run("kmeans/lloyd", [*recipes(), that_fails], clusters=2, **paid(ledger))
    with pytest.raises(cloister.ArgumentError, match="a function that returns rows"):
        distributed.run("kmeans/lloyd", [np.zeros((3, 3))], clusters=2, **paid(ledger))
    assert charges(ledger) == 0


def test_a_run_is_charged_once(ledger, processes):
    made = distributed.run("kmeans/lloyd", recipes(4), executor=processes, clusters=2,
                           **paid(ledger))
    assert made.privacy["private"]
    assert charges(ledger) == 1


class Changing:
    """Rows that are other ones in a later pass, as a lineage without an order gives them."""

    def __init__(self, how):
        self.calls, self.how = 0, how

    def __call__(self):
        rows = some_rows(0, 1000)
        self.calls += 1
        if self.calls < 3:  # one call before the charge, one for the first pass
            return rows
        return rows[::-1] if self.how == "order" else rows[:-1] if self.how == "count" else \
            np.vstack([rows[:-1], rows[:1]])


def test_rows_that_change_between_passes_end_the_run(ledger):
    hidden = {"relation": "add-remove", "clusters": 2, "rounds": 3}
    distributed.run("kmeans/lloyd", [Changing("order")], **hidden, **paid(ledger))
    for times, how in enumerate(("count", "value"), 2):
        with pytest.raises(cloister.ReadError, match="changed between two passes") as raised:
            distributed.run("kmeans/lloyd", [Changing(how)], **hidden, **paid(ledger))
        assert "spent" in "".join(raised.value.__notes__)
        assert charges(ledger) == times


class Turning:
    """Rows in another order each time they are read, once they have been marked."""

    def __init__(self):
        self.calls = 0

    def __call__(self):
        self.calls += 1
        rows = some_rows(0, 1000)
        return rows if self.calls < 3 else np.roll(rows, self.calls, axis=0)


class Threes:
    """Maps, and nothing else, on three workers."""

    _max_workers = 3

    def map(self, function, values):
        return map(function, values)


def test_a_row_in_two_blocks_ends_the_run(ledger):
    settings = {**BLOCKS["kmeans/aggregate"], **paid(ledger), "relation": "add-remove",
                "anyway": True}
    with pytest.raises(cloister.ReadError, match="changed between two passes") as raised:
        distributed.run("kmeans/aggregate", [Turning()], executor=Threes(), **settings)
    assert "spent" in "".join(raised.value.__notes__)
    assert charges(ledger) == 1
    distributed.run("kmeans/aggregate", [Turning()], executor=Client(), **settings)
    assert charges(ledger) == 2  # dealt once, in whatever order: each row is in one block


class Failing:
    def __init__(self, at):
        self.calls, self.at = 0, at

    def __call__(self):
        self.calls += 1
        if self.calls == self.at:
            raise OSError("the disk is gone")
        return some_rows(0, 500)


def test_a_part_that_fails_in_mid_pass_ends_the_run_which_stays_charged(ledger):
    with pytest.raises(OSError, match="the disk is gone") as raised:
        distributed.run("kmeans/lloyd", [Failing(3)], clusters=2, rounds=3, **paid(ledger))
    assert "spent" in "".join(raised.value.__notes__)
    assert charges(ledger) == 1


def test_the_number_of_hidden_rows_is_not_counted():
    for relation, counted in (("replace", True), ("add-remove", False)):
        told = distributed._Reading("null", None, "refuse", relation == "replace").survey(
            recipes(1)[0])
        assert (told[2] == 3000) is counted


# ---- persons (fold.T5) -------------------------------------------------------------------------

OF_PERSONS = {"clusters": 2, "unit": "who", "rows_per_unit": 4}
NAMES = {"text": [f"p{i:03}" for i in range(200)], "numbers": list(range(200))}


def some_visits(named_by="numbers", low=0, high=200, astray=False):
    """The visits of some persons, 15 each, in an order of their own."""
    import pyarrow

    who = np.random.default_rng(3).permutation(np.repeat(np.arange(200), 15))
    mine = (who >= low) & (who < high)
    if astray:  # one row of somebody else's
        mine[np.flatnonzero(~mine)[0]] = True
    rows = some_rows(0, 3000)[mine]
    return pyarrow.table({"who": [NAMES[named_by][i] for i in who[mine]],
                          **{name: rows[:, j] for j, name in enumerate("abc")}})


def visits(named_by="numbers", count=3, **astray):
    ends = [200 * i // count for i in range(count + 1)]
    return [partial(some_visits, named_by, low, high, **(astray if high == 200 else {}))
            for low, high in zip(ends, ends[1:])]


def one_process(named_by, method="kmeans/lloyd", **more):
    return cloister.run(method, table=as_table(some_visits(named_by), unit="who"),
                        **{**BALL, **OF_PERSONS, **more}).to_json()


@pytest.mark.parametrize("named_by", NAMES)
def test_persons_that_are_in_one_part_each_give_the_bytes_of_one_process(named_by, processes):
    expected = one_process(named_by)
    for executor, count in ((None, 1), (None, 4), (processes, 3)):
        made = distributed.run("kmeans/lloyd", visits(named_by, count), executor=executor, **BALL,
                               **OF_PERSONS)
        assert made.to_json() == expected
    hidden = {"relation": "add-remove", "center": "private", "norm": 20}
    made = distributed.run("kmeans/lloyd", visits(named_by, 2), **{**BALL, **OF_PERSONS, **hidden})
    assert made.to_json() == one_process(named_by, **hidden)


def test_persons_of_a_dask_frame_give_the_bytes_of_one_process(client):
    frames = pytest.importorskip("dask.dataframe")
    import pandas

    frame = some_visits("text").to_pandas()
    parts = frames.from_pandas(frame, npartitions=5).shuffle("who", npartitions=3)
    made = distributed.run("kmeans/lloyd", parts, **BALL, **OF_PERSONS)
    assert made.to_json() == one_process("text")
    with pytest.raises(cloister.DomainError, match="two parts"):
        distributed.run("kmeans/lloyd", frames.from_pandas(frame, npartitions=5), **BALL,
                        **OF_PERSONS)
    assert isinstance(frame, pandas.DataFrame)


def test_files_by_person_are_parts(tmp_path):
    import pyarrow.csv
    import pyarrow.parquet

    first, second = (part() for part in visits("text", 2))
    pyarrow.parquet.write_table(first, tmp_path / "0.parquet", row_group_size=100)
    pyarrow.csv.write_csv(second, tmp_path / "1.csv")
    made = distributed.run("kmeans/lloyd", [tmp_path / "0.parquet", tmp_path / "1.csv"], **BALL,
                           **OF_PERSONS)
    assert made.to_json() == one_process("text")


def test_a_person_in_two_parts_costs_nothing(ledger, processes):
    for executor in (None, processes):
        with pytest.raises(cloister.DomainError, match="rows in two parts") as raised:
            distributed.run("kmeans/lloyd", visits("text", 3, astray=True), executor=executor,
                            **OF_PERSONS, **paid(ledger))
        assert not any(name in str(raised.value) for name in NAMES["text"])
    with pytest.raises(cloister.DomainError, match="numbers in one part and text"):
        distributed.run("kmeans/lloyd", [visits("text", 2)[0], visits("numbers", 2)[1]],
                        **OF_PERSONS, **paid(ledger))
    assert charges(ledger) == 0


class Moving:
    """Parts by person when they are compared, and otherwise afterwards."""

    def __init__(self, *parts):
        self.calls, self.parts = 0, parts

    def __call__(self):
        self.calls += 1
        return self.parts[min(self.calls, len(self.parts)) - 1]()


def test_persons_that_are_dealt_out_anew_end_the_run(ledger):
    first, second = visits("numbers", 2)
    astray = visits("numbers", 2, astray=True)[1]
    with pytest.raises(cloister.ReadError, match="persons in the parts have changed") as raised:
        distributed.run("kmeans/lloyd", [first, Moving(second, astray)], **OF_PERSONS,
                        **paid(ledger))
    assert "spent" in "".join(raised.value.__notes__)
    assert charges(ledger) == 1


def test_no_person_is_found_in_what_an_engine_writes(tmp_path, monkeypatch):
    listed = []
    compare = distributed.compare_persons
    monkeypatch.setattr(distributed, "compare_persons",
                        lambda hashes: (listed.append(bytes(hashes)), compare(hashes))[1])
    for mask in (False, True):
        folder = tmp_path / f"shuffle-{mask}"
        folder.mkdir()
        distributed.run("kmeans/lloyd", visits("text", 2), executor=Shuffling(folder), mask=mask,
                        **BALL, **OF_PERSONS)
        hashes = [listed[-1][i:i + 16] for i in range(0, len(listed[-1]), 16)]
        known = [one for one in hashes if any(one)]
        assert len(known) == 200 and len(hashes) == 256  # 100 persons a part look like 128
        hits = sum(found(folder, canary) for canary in known)
        assert (hits > 0) is not mask  # without pads the test finds them
        assert not found(folder, b"p001")


# ---- what travels ------------------------------------------------------------------------------

class Shuffling:
    """An executor that writes all results to files before it gives them back, as engines do."""

    def __init__(self, folder):
        self.folder = folder

    def map(self, function, *arguments):
        for number, given in enumerate(zip(*arguments)):
            place = self.folder / f"{len(os.listdir(self.folder))}-{number}"
            place.write_bytes(pickle.dumps(function(*given)))
            yield pickle.loads(place.read_bytes())


def found(folder, canary):
    return sum(canary in file.read_bytes() for file in folder.iterdir())


def canary_of(rows):
    """The exact size of one cluster of everything, as the sum of a first pass holds it."""
    seen = []

    class Spy(distributed._Mapping):
        def fold(self, works):
            vector = super().fold(works)
            seen.append(vector)
            return vector

    engine = Spy(None, [lambda: rows])
    distributed.release(engine, {"mechanism": "kmeans/lloyd", "clusters": 1, "rounds": 1,
                                 "no-ledger": True, **BALL}, mask=False)
    values = np.frombuffer(seen[0], np.uint64)[:-1]
    return [value.tobytes() for value in values if value > 1000]


def test_no_exact_sum_is_found_in_what_an_engine_writes(rows, tmp_path):
    canaries = canary_of(rows)
    assert len(canaries) >= 3  # sums of the columns, and the number of rows
    for mask in (False, True):
        folder = tmp_path / f"shuffle-{mask}"
        folder.mkdir()
        distributed.run("kmeans/lloyd", [partial(some_rows, 0, 3000)], executor=Shuffling(folder),
                        mask=mask, clusters=1, rounds=1, relation="add-remove",
                        **BALL)
        hits = sum(found(folder, canary) for canary in canaries)
        assert (hits > 0) is not mask  # without pads the test finds them


def test_no_row_is_found_in_what_an_engine_carries(rows):
    """pad.T4."""
    canaries = cells(rows[:50])
    for mask in (False, True):
        Done.made.clear()
        distributed.run("kmeans/aggregate", recipes(3), executor=Client(), mask=mask,
                        relation="add-remove", **LOUD, **BLOCKS["kmeans/aggregate"])
        carried = b"".join(Done.made)
        assert (sum(canary in carried for canary in canaries) > 0) is not mask


def test_a_message_is_the_one_that_was_sent_and_tells_little_of_its_length():
    vectors = [np.arange(n, dtype=np.uint64) for n in (0, 3, 50)]
    key = bytes(32)
    for given in (b"", key):
        message = _pads.sealed(given, 7, vectors)
        assert message == _pads.sealed(given, 7, vectors)
        assert [v.tolist() for v in _pads.opened(given, 7, message)] == \
            [v.tolist() for v in vectors]
    assert len(_pads.sealed(key, 7, vectors[:1])) == len(_pads.sealed(key, 7, vectors[:2]))
    for wrong in (message[:40] + bytes([message[40] ^ 1]) + message[41:],
                  bytes([message[0] ^ 1]) + message[1:]):
        with pytest.raises(cloister.DomainError, match="changed on their way"):
            _pads.opened(key, 7, wrong)
    with pytest.raises(cloister.DomainError, match="changed on their way"):
        _pads.opened(key, 8, message)
    for words in (1, 64, 65, 1000, 123_456):
        assert words <= _pads.room_for(words) <= max(64, words * 9 // 8 + 8)
    assert len({_pads.room_for(words) for words in range(1 << 12, 1 << 13)}) <= 9


def test_pads_differ_between_tasks_and_passes():
    keys = {_pads.part_key(bytes([p]) * 32, i) for p in range(3) for i in range(5)}
    assert len(keys) == 15
    assert all(len(key) == _pads.PAD_BYTES for key in keys)


def test_a_worker_gets_neither_ledger_nor_seed(ledger):
    seen = []

    class Spy:
        def map(self, function, *arguments):
            for given in zip(*arguments):
                seen.append(pickle.dumps(given))
                yield function(*given)

    distributed.run("kmeans/lloyd", recipes(2), executor=Spy(), clusters=2, token="our-token",
                    purpose="our-purpose", **paid(ledger))
    distributed.run("kmeans/lloyd", recipes(2), executor=Spy(), clusters=2,
                    **{**BALL, "seed": "our-seed"})
    sent = b"".join(seen)
    for secret in (b"our-seed", b"our-token", b"our-purpose", os.fspath(ledger).encode()):
        assert secret not in sent


# ---- pads of Spark's parts (pad.T2); the rest of it is in python/tests/spark ---------------------

def test_a_part_has_the_same_pad_as_long_as_its_sums_are_the_same():
    key, other = bytes(32), bytes(31) + b"1"
    made = set()
    for pass_key in (key, other):
        for part in (0, 1):
            for value in (5, 6):
                vector = np.full(4, value, dtype=np.uint64)
                again = vector.copy()
                tag = _spark.masked(pass_key, part, vector)
                assert _spark.masked(pass_key, part, again) == tag
                assert (again == vector).all()  # a task that is run again gives the same bytes
                made |= {tag, (vector - np.uint64(value)).tobytes()}
    assert len(made) == 16  # tags and pads, all of them different


def test_the_pads_of_all_tags_come_off_a_sum():
    vectors = [np.arange(5, dtype=np.uint64) + np.uint64(i) for i in range(3)]
    expected = sum(vectors)
    tags = [_spark.masked(bytes(32), part, vector) for part, vector in enumerate(vectors)]
    total = sum(vectors)
    assert (total != expected).all()
    _spark.unmask(bytes(32), b"".join(tags), total)
    assert (total == expected).all()
    with pytest.raises(cloister.DomainError, match="twice"):
        _spark.unmask(bytes(32), tags[0] + tags[0], total)


def test_sums_are_added_up_on_workers_and_what_one_refuses_is_passed_on():
    vectors = [np.arange(3, dtype=np.uint64), np.full(3, 2**64 - 1, dtype=np.uint64)]
    batches = [_spark._row(i, bytes([i]) * 32, v.tobytes(), None) for i, v in enumerate(vectors)]
    (added,) = [batch.to_pylist()[0] for batch in _spark.add_up(batches)]
    assert np.frombuffer(added["totals"], np.uint64).tolist() == [2**64 - 1, 0, 1]
    assert added["tags"] == bytes(32) + b"\1" * 32
    refused = _spark._row(2, b"", b"", "DomainError\nno such column")
    (added,) = [batch.to_pylist()[0] for batch in _spark.add_up([*batches, refused])]
    assert added["error"] == "DomainError\nno such column" and added["totals"] == b""
    with pytest.raises(cloister.DomainError, match="no such column"):
        _spark._raise(added["error"])
    assert list(_spark.add_up([])) == []


# ---- rows that are not held --------------------------------------------------------------------

@pytest.fixture
def small_pieces(monkeypatch):
    """So that some thousand rows are many pieces."""
    monkeypatch.setattr(_pieces, "PIECE_BYTES", 10_000)
    monkeypatch.setattr(_pieces, "BATCH_ROWS", 100)


def test_streams_and_arrays_are_cut_into_pieces(rows, small_pieces):
    import pyarrow

    frame = pyarrow.table({name: rows[:, j] for j, name in enumerate("abc")})
    stream = pyarrow.RecordBatchReader.from_batches(frame.schema, frame.to_batches(100))
    cut = list(_pieces.pieces(stream))
    assert [len(piece) for piece in cut] == [500] * 6
    assert pyarrow.concat_tables(cut).equals(frame)
    assert (np.vstack(list(_pieces.pieces(rows))) == rows).all()
    assert max(len(piece) for piece in _pieces.pieces(rows)) <= 417
    empty = pyarrow.RecordBatchReader.from_batches(frame.schema, [])
    assert [len(piece) for piece in _pieces.pieces(empty)] == [0]


def test_a_parquet_file_gives_the_same_bytes_in_pieces_and_in_parts(rows, tmp_path, small_pieces,
                                                                    run_command):
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet

    frame = pyarrow.table({name: rows[:, j] for j, name in enumerate("abc")})
    place, text = tmp_path / "rows.parquet", tmp_path / "rows.csv"
    pyarrow.parquet.write_table(frame, place, row_group_size=700)
    pyarrow.csv.write_csv(frame, text)
    expected = alone("kmeans/lloyd", frame, clusters=2)
    run = partial(distributed.run, "kmeans/lloyd", clusters=2, **BALL)
    split = distributed.split(place, 3)
    assert [(part.first, part.count) for part in split] == [(0, 700), (700, 1400), (2100, 900)]
    assert len(distributed.split(place, 50)) == 5  # no more than there are groups
    for parts in ([place], split, [Part(str(place), 0, 750), Part(str(place), 750)]):
        assert run(parts).to_json() == expected.to_json()
    assert run([partial(_pieces.parquet_stream, str(place))]).to_json() == expected.to_json()
    assert run([place], keep=True).to_json() == expected.to_json()
    distributed._kept.clear()
    assert cloister.run("kmeans/lloyd", text, clusters=2, **BALL).to_json() == expected.to_json()


def test_a_range_of_a_parquet_file_is_that_range(rows, tmp_path, small_pieces):
    import pyarrow
    import pyarrow.parquet

    frame = pyarrow.table({name: rows[:, j] for j, name in enumerate("abc")})
    place = str(tmp_path / "rows.parquet")
    pyarrow.parquet.write_table(frame, place, row_group_size=700)
    ranges = ((0, None), (0, 0), (10, 5), (699, 2), (650, 1000), (2900, None), (5, 9999))
    for first, count in ranges:
        expected = frame.slice(first, count)
        assert _pieces.parquet_stream(place, first, count).read_all().equals(expected)
    assert _pieces.parquet_stream(place, columns=["c", "a"]).read_all().equals(
        frame.select(["c", "a"]))


def test_a_run_takes_a_parquet_file_held_or_not(rows, tmp_path):
    import pyarrow
    import pyarrow.parquet

    frame = pyarrow.table({name: rows[:, j] for j, name in enumerate("abc")})
    place = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(frame, place, row_group_size=700)
    run = partial(cloister.run, "kmeans/lloyd", place, clusters=2, **BALL)
    expected = alone("kmeans/lloyd", frame, clusters=2).to_json()
    assert run().to_json() == expected
    assert run(memory="1G").to_json() == expected
    assert run(columns="a,c").to_json() == alone("kmeans/lloyd", frame.select(["a", "c"]),
                                                 clusters=2).to_json()
    for wrong in ("64M", "much", "-1G"):
        with pytest.raises(cloister.ArgumentError, match="memory"):
            run(memory=wrong)
    with pytest.raises(cloister.UnsupportedError, match="unit with a Parquet file"):
        run(memory="1G", unit="a", rows_per_unit=1)
    with pytest.raises(cloister.UnsupportedError, match="cache"):
        run(memory="1G", cache=tmp_path)
