"""Failures are exceptions made from the list of statuses, and name no value of the data."""
import numpy as np
import pytest

import cloister
from cloister import exceptions
from cloister._native import ffi


def test_every_status_has_an_exception_of_its_own():
    statuses = {name.removeprefix("CLO_") for name in ffi.typeof("clo_status").relements} - {"OK"}
    assert {kind.status for kind in exceptions.CloisterError.__subclasses__()} == statuses
    for status in statuses:
        raised = exceptions.from_status(status, "why")
        assert raised.status == status and str(raised) == "why"
    assert type(exceptions.from_status("NEW", "why")) is cloister.CloisterError


@pytest.mark.parametrize("change, kind, message", [
    ({"epsilon": None}, cloister.ArgumentError, "give epsilon"),
    ({"epsilon": -1}, cloister.ArgumentError, "epsilon"),
    ({"bounds": None}, cloister.DomainError, "give bounds or norm: the range"),
    ({"bounds": (1, -1)}, cloister.DomainError, "lower bound must be below"),
    ({"bounds": ([0, 0], [1, 1])}, cloister.DomainError, "bounds for 2 columns"),
    ({"bounds": {"x": (0, 1)}}, cloister.DomainError, "bounds for 1 columns"),
    ({"bounds": "private"}, cloister.ArgumentError, "needs norm_at_most"),
    ({"bounds": 3}, cloister.ArgumentError, "bounds must be"),
    ({"n_clusters": 0}, cloister.ArgumentError, "clusters"),
    ({"n_clusters": "many"}, cloister.ArgumentError, "clusters"),
    ({"method": "nothing"}, cloister.ArgumentError, "nothing"),
    ({"method": "lloyd", "side": 3}, cloister.ArgumentError, "side"),
    ({"relation": "other"}, cloister.ArgumentError, "relation must be one of"),
    ({"unit": np.arange(3)}, cloister.ArgumentError, "does not store it"),
    ({"random_state": "a"}, cloister.ArgumentError, "random_state"),
    ({"missing": "refuse"}, cloister.FormatError, "row 1, column 1"),
    ({"ledger": "/dev/null/ledger.db", "dataset": "d"}, cloister.LedgerError, "ledger"),
])
@pytest.mark.filterwarnings("ignore::cloister.NotPrivateWarning")
def test_what_is_wrong_is_said(rows, change, kind, message):
    with_hole = rows.copy()
    with_hole[0, 0] = np.nan
    settings = {"n_clusters": 2, "epsilon": 1, "bounds": (-1, 1), **change}
    with pytest.raises(kind, match=message) as raised:
        cloister.PrivateKMeans(**settings).fit(with_hole)
    assert "\n" not in str(raised.value)


SECRET = "Jane Doe, 4711"


def fit_frame(data, **more):
    settings = {"epsilon": 1, "bounds": (0, 1), "random_state": 1, **more}
    return cloister.PrivateKMeans(2, **settings).fit(data)


@pytest.mark.filterwarnings("ignore::cloister.NotPrivateWarning")
@pytest.mark.parametrize("data", [
    np.array([[SECRET, 1], ["y", 2]], dtype=object),
    np.array([[SECRET, 1], ["y", 2]]),
    [[SECRET, 1], ["y", 2]],
    np.full(9, 4711.5),
    np.full((9, 2), 4711.5j),
], ids=["objects", "texts", "lists", "one dimension", "complex"])
def test_no_message_quotes_a_cell(data):
    with pytest.raises(ValueError) as raised:
        fit_frame(data)
    told = raised.value
    while told is not None:  # what was raised before goes along, and is printed, too
        assert SECRET not in str(told) and "4711" not in str(told)
        told = told.__context__


@pytest.mark.filterwarnings("ignore::cloister.NotPrivateWarning")
def test_columns_that_are_no_numbers_are_named():
    pandas = pytest.importorskip("pandas")
    many = 300
    columns = {
        "text": ([SECRET] * many, "it holds text"),
        "categories": (pandas.Categorical([SECRET] * many), "it holds categories"),
        "mixed": ([SECRET] + [1.5] * (many - 1), "not of numbers alone"),
        "times": (pandas.date_range("2020-01-01", periods=many), "it holds points in time"),
        "lengths": (pandas.to_timedelta(range(many), unit="h"), "it holds durations"),
        "periods": (pandas.period_range("2020-01-01", periods=many), "its type is period"),
    }
    for name, (cells, message) in columns.items():
        frame = pandas.DataFrame({"x": np.linspace(0, 1, many), name: cells})
        with pytest.raises(cloister.FormatError, match=message) as raised:
            fit_frame(frame)
        assert f"'{name}'" in str(raised.value) and SECRET not in str(raised.value)


def test_all_columns_that_are_no_numbers_are_named_at_once():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": ["x"], "b": [1.0], "c": ["y"], "d": ["z"]})
    with pytest.raises(cloister.FormatError,
                       match="'a' does not hold numbers .*, and neither does 'c', 'd':"):
        fit_frame(frame)


def test_columns_of_one_name_are_refused():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(cloister.ArgumentError, match="have the same name"):
        fit_frame(pandas.DataFrame(np.zeros((9, 2)), columns=["a", "a"]))


def test_private_bounds_that_cannot_be_told_ask_for_a_share_of_the_whole(rows):
    """Not for a smaller epsilon than was given; what is asked for is enough."""
    fit = {"bounds": "private", "norm_at_most": 1000, "epsilon": 2}
    with pytest.raises(cloister.ArgumentError, match="raise share_norm to 0") as raised:
        cloister.PrivateKMeans(2, **fit, share_norm=0.01).fit(rows)
    share = float(str(raised.value).partition("share_norm to ")[2].split(",")[0])
    cloister.PrivateKMeans(2, **fit, share_norm=share).fit(rows)
    with pytest.raises(cloister.ArgumentError, match="raise epsilon to") as raised:
        cloister.PrivateKMeans(2, **{**fit, "epsilon": 0.01}).fit(rows)
    epsilon = float(str(raised.value).partition("raise epsilon to ")[2].split(",")[0])
    cloister.PrivateKMeans(2, **{**fit, "epsilon": epsilon}).fit(rows)


def test_a_column_alone_is_no_frame():
    for module in ("pandas", "polars"):
        series = pytest.importorskip(module).Series([4711.5] * 9)
        with pytest.raises(cloister.ArgumentError, match=r"got 1D array .* X.to_frame\(\)"):
            fit_frame(series)


@pytest.mark.filterwarnings("ignore::cloister.NotPrivateWarning")
def test_frames_of_numbers_are_taken_whatever_their_type():
    """The index is no column; a missing cell of a nullable type is one of NaN."""
    pandas = pytest.importorskip("pandas")
    numbers = pandas.DataFrame({"a": [0.0, 1.0, np.nan] * 100, "b": [1.0, 0.0, 1.0] * 100})
    expected = fit_frame(numbers).cluster_centers_
    for same in (numbers.astype("Float64"), numbers.astype("Int8"), numbers.astype(object),
                 numbers.astype("boolean"), numbers.set_index(np.arange(300)[::-1]),
                 numbers.assign(who="me").set_index(["who"])):
        np.testing.assert_array_equal(fit_frame(same).cluster_centers_, expected)


@pytest.mark.filterwarnings("ignore::cloister.NotPrivateWarning")
def test_a_refusal_names_parameters_as_they_are_called_here(rows, tmp_path):
    path = str(tmp_path / "ledger.db")
    cloister.Ledger(path, create=True).declare("people", epsilon=9, delta=1e-3)
    with pytest.raises(cloister.ArgumentError, match="give norm yourself") as raised:
        cloister.PrivateBounds(epsilon=0.001, norm=1e6).fit(rows[:300])
    assert "\x01" not in str(raised.value)
    hidden = {"epsilon": 0.001, "bounds": (-1, 1), "ledger": path, "dataset": "people"}
    with pytest.raises(cloister.BudgetError) as raised:
        cloister.PrivateKMeans(2, **hidden).fit(rows)
    assert any("anyway=True" in note for note in raised.value.__notes__)
    np.savetxt(tmp_path / "rows.csv", rows, delimiter=",")
    settings = {"clusters": 2, "header": "no", **hidden}
    with pytest.raises(cloister.BudgetError):
        cloister.run("kmeans", tmp_path / "rows.csv", **settings)
    assert cloister.run("kmeans", tmp_path / "rows.csv", anyway=True, **settings)["centers"].size


def test_names_in_latin_1_come_out_as_text(tmp_path):
    (tmp_path / "people.csv").write_bytes("größe,alter\n1,2\n3,4\n".encode("latin-1"))
    release = cloister.run("kmeans", tmp_path / "people.csv", clusters=1, epsilon=1, norm=5)
    assert release.info["domain"]["columns"] == ["größe", "alter"]
