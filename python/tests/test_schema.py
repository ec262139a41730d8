"""A schema in Python: frames of every kind give the release that the same rows give as a CSV."""
import datetime
import json

import numpy as np
import pytest

import cloister

pandas = pytest.importorskip("pandas")

SCHEMA = {
    "fields": [
        {"name": "sex", "type": "string", "categories": ["f", "m"]},
        {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 100}},
        {"name": "grade", "type": "string", "categories": ["low", "mid", "high"],
         "categoriesOrdered": True},
        {"name": "day", "type": "date",
         "constraints": {"minimum": "2010-01-01", "maximum": "2020-12-31"}},
        {"name": "at", "type": "datetime",
         "constraints": {"minimum": "2020-01-01T00:00:00Z", "maximum": "2020-01-08T00:00:00Z"}},
        {"name": "smoker", "type": "boolean"},
        {"name": "note", "type": "string", "cloister": {"use": False}},
    ],
}


@pytest.fixture(scope="module")
def people():
    draws, rows = np.random.default_rng(1), 400
    kind = draws.integers(0, 2, rows)
    day = np.datetime64("2012-01-01") + (kind * 1500 + draws.integers(0, 300, rows))
    at = np.datetime64("2020-01-01T00:00:00") + draws.integers(0, 6 * 86400, rows)
    frame = pandas.DataFrame({
        "note": "x",
        "at": at.astype("datetime64[s]"),
        "smoker": kind.astype(bool),
        "sex": np.where(draws.random(rows) < 0.2 + 0.6 * kind, "f", "m"),
        "age": 20 + 50 * kind + draws.integers(0, 9, rows),
        "grade": np.array(["low", "mid", "high"])[kind + draws.integers(0, 2, rows)],
        "day": day.astype("datetime64[s]"),
    })
    frame.loc[3, "sex"] = None
    frame.loc[4, "sex"] = "other"
    frame.loc[5, "day"] = pandas.NaT
    frame.loc[6, "grade"] = None
    return frame


def fitted(rows, **more):
    how = {"epsilon": 3.0, "schema": SCHEMA, "random_state": 1, **more}
    with pytest.warns(cloister.NotPrivateWarning):
        return cloister.PrivateKMeans(2, **how).fit(rows)


@pytest.fixture(scope="module")
def centers(people):
    return fitted(people).cluster_centers_


def test_a_frame_is_as_its_csv(people, centers, tmp_path):
    path = tmp_path / "people.csv"
    people.to_csv(path, index=False, date_format="%Y-%m-%dT%H:%M:%S")
    text = path.read_text().replace("T00:00:00,", "T00:00:00,")
    lines = [line.split(",") for line in text.splitlines()]
    column = lines[0].index("day")
    for line in lines[1:]:
        line[column] = line[column][:10]
    path.write_text("\n".join(",".join(line) for line in lines) + "\n")
    (tmp_path / "people.json").write_text(json.dumps(SCHEMA))
    release = cloister.run("kmeans", path, schema=tmp_path / "people.json", clusters=2, epsilon=3,
                           seed="1")
    np.testing.assert_array_equal(release["centers"], centers)


def test_kinds_of_columns_mean_the_same(people, centers):
    other = people.copy()
    other["sex"] = other["sex"].astype("category")
    other["grade"] = pandas.Categorical(other["grade"], ["high", "low", "mid"], ordered=True)
    other["smoker"] = other["smoker"].astype("boolean")
    other["note"] = other["note"].astype("string")
    other["age"] = other["age"].astype("Int64")
    np.testing.assert_array_equal(fitted(other).cluster_centers_, centers)
    other["day"] = [None if value is pandas.NaT else value.date() for value in people["day"]]
    other["at"] = people["at"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")
    other["smoker"] = people["smoker"].map({True: "TRUE", False: "0"})
    np.testing.assert_array_equal(fitted(other).cluster_centers_, centers)


def test_polars_and_arrow_are_taken(people, centers):
    pyarrow, polars = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    table = pyarrow.Table.from_pandas(people, preserve_index=False)
    at = table.column_names.index("sex")
    np.testing.assert_array_equal(fitted(table).cluster_centers_, centers)
    coded = table.set_column(at, "sex", table.column("sex").dictionary_encode())
    np.testing.assert_array_equal(fitted(coded).cluster_centers_, centers)
    frame = polars.from_arrow(table)
    np.testing.assert_array_equal(fitted(frame).cluster_centers_, centers)
    typed = frame.with_columns(polars.col("grade").cast(polars.Enum(["low", "mid", "high"])),
                               polars.col("sex").cast(polars.Categorical),
                               polars.col("day").cast(polars.Date))
    np.testing.assert_array_equal(fitted(typed).cluster_centers_, centers)


def test_centers_are_shares_and_numbers(people):
    model = fitted(people)
    frame = model.release_.to_frame()
    assert list(frame.columns) == ["sex=f", "sex=m", "age", "grade", "day", "at", "smoker=false",
                                   "smoker=true"]
    np.testing.assert_allclose(frame["sex=f"] + frame["sex=m"], 1, atol=2e-6)
    assert list(model.feature_names_in_) == ["sex", "age", "grade", "day", "at", "smoker"]
    assert model.release_.schema.digest == cloister.Schema(SCHEMA).digest
    assert "%" in str(model.release_)


def test_predict_reads_by_the_schema_of_the_release(people):
    model = fitted(people)
    labels = model.predict(people)
    assert set(labels) == {0, 1}
    assert np.mean(labels == people["smoker"]) > 0.9 or np.mean(labels != people["smoker"]) > 0.9
    assert model.score(people) < 0


def test_persons_come_from_the_schema(people):
    rows = people.assign(who=np.arange(len(people)) // 4)
    schema = {**SCHEMA, "fields": SCHEMA["fields"] + [{"name": "who", "type": "integer"}],
              "cloister": {"person": "who", "rowsPerPerson": 2}}
    model = fitted(rows, schema=schema)
    assert model.privacy_["unit"] == "who"
    assert model.privacy_["rows_per_unit"] == 2


@pytest.mark.parametrize("spoil, words", [
    (lambda frame: frame.drop(columns="age"), "needs the column 'age'"),
    (lambda frame: frame.to_numpy(), "the schema uses 6 columns"),
])
def test_refuses_frames_without_the_columns(people, spoil, words):
    with pytest.raises(cloister.ArgumentError, match=words):
        cloister.PrivateKMeans(2, epsilon=1, schema=SCHEMA).fit(spoil(people))


def test_says_what_is_wrong_with_a_schema(people):
    broken = {"fields": [{"name": "age", "type": "integer", "constraints": {"minimum": 5,
                                                                           "maximum": 1}}]}
    with pytest.raises(cloister.FormatError, match="must be below"):
        cloister.PrivateKMeans(2, epsilon=1, schema=broken).fit(people)
    with pytest.raises(cloister.ArgumentError, match="must be a path or a dict"):
        cloister.PrivateKMeans(2, epsilon=1, schema=3).fit(people)
    with pytest.raises(cloister.ArgumentError, match="exclude each other"):
        cloister.PrivateKMeans(2, epsilon=1, schema=SCHEMA, bounds=(0, 1)).fit(people)


def test_texts_of_dates_are_read_as_in_a_file():
    schema = cloister.Schema({"fields": [{"name": "d", "type": "date", "constraints": {
        "minimum": "2000-01-01", "maximum": "2030-01-01"}}]})
    frame = pandas.DataFrame({"d": ["2001-02-03", "never", None, datetime.date(2001, 2, 3)]})
    cells = schema._cells(schema.fields[0], frame["d"])
    assert cells[0] == cells[3] == (datetime.date(2001, 2, 3) - datetime.date(1970, 1, 1)).days
    assert np.isnan(cells[1]) and np.isnan(cells[2])


def test_no_cell_ends_a_run():
    schema = cloister.Schema({"fields": [
        {"name": "d", "type": "date", "constraints": {"minimum": "2000-01-01",
                                                      "maximum": "2030-01-01"}},
        {"name": "c", "type": "string", "categories": ["a", "b"]},
        {"name": "n", "type": "number", "constraints": {"minimum": 0, "maximum": 1}},
        {"name": "t", "type": "boolean"}]})
    odd = [5, [1], {}, 10**400, b"x", object(), float("inf"), "", None, np.nan, pandas.NaT]
    frame = pandas.DataFrame({name: pandas.Series(odd, dtype=object) for name in "dcnt"})
    table = schema.table(frame)
    assert (table.rows, table.cols) == (len(odd), 4)
