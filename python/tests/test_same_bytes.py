"""One seed, one release: from the command, from C's one call, and from Python over every kind of
input."""
from functools import partial

import numpy as np
import pytest
import scipy.sparse

import cloister

pytestmark = pytest.mark.filterwarnings("ignore::cloister.NotPrivateWarning")
SETTINGS = {"epsilon": 1.0, "bounds": (-1.0, 1.0), "random_state": 42}
WORDS = ["--epsilon", "1", "--bounds", "-1,1", "--seed", "42", "--no-ledger", "--json", "-q"]


@pytest.fixture(scope="module")
def exact(rows):
    """Numbers that float32 holds exactly, so that every kind of input has the same ones."""
    return np.round(rows[:1200] * 64) / 64


@pytest.fixture(scope="module")
def columns(exact):
    return {name: exact[:, j].copy() for j, name in enumerate(["age", "pay", "size"])}


def fitted(data, **more):
    return cloister.PrivateKMeans(2, **{**SETTINGS, **more}).fit(data).release_.to_json().encode()


def by_command(run_command, path, *more):
    return run_command("run", "kmeans", path, "--clusters", "2", *WORDS, *more)


def test_arrays_give_the_bytes_of_the_command(exact, run_command, tmp_path):
    np.save(tmp_path / "rows.npy", exact)
    expected = by_command(run_command, tmp_path / "rows.npy")
    assert b'"method"' in expected
    kinds = {
        "C order": exact,
        "F order": np.asfortranarray(exact),
        "float32": exact.astype("f4"),
        "strided": np.repeat(exact, 2, axis=1)[:, ::2],
        "memory map": np.load(tmp_path / "rows.npy", mmap_mode="r"),
        "sparse": scipy.sparse.csr_array(exact),
    }
    for kind, data in kinds.items():
        assert fitted(data) == expected, kind
    file = cloister.run("kmeans", tmp_path / "rows.npy", clusters=2, epsilon=1, bounds=(-1, 1),
                        seed=42)  # the one call of C, on the file
    assert file.to_json().encode() == expected


def test_integers_give_the_bytes_of_the_command(exact, run_command, tmp_path):
    whole = np.round(exact * 64).astype("i4")
    np.save(tmp_path / "whole.npy", whole)
    expected = run_command("run", "kmeans", tmp_path / "whole.npy", "--clusters", "2", "--epsilon",
                           "1", "--bounds", "-64,64", "--seed", "42", "--no-ledger", "--json", "-q")
    for kind in "i1 i2 i4 i8 f4 f8".split():
        assert fitted(whole.astype(kind), bounds=(-64, 64)) == expected, kind


def csv(path, columns, holes=()):
    names = list(columns)
    with open(path, "w", encoding="utf-8") as file:
        print(",".join(names), file=file)
        for i, row in enumerate(zip(*columns.values())):
            cells = ["" if (i, name) in holes else repr(float(value))
                     for name, value in zip(names, row)]
            print(",".join(cells), file=file)


def test_persons_keep_the_same_rows_held_or_not(columns, tmp_path):
    path, people = tmp_path / "visits.csv", np.arange(1200) ** 2 % 251
    csv(path, {"who": people, **columns}, holes={(i, "who") for i in range(0, 1200, 17)})
    run = partial(cloister.run, "kmeans/lloyd", path, clusters=2, epsilon=1, bounds=(-1, 1),
                  unit="who", rows_per_unit=2, seed=42)
    expected = run().to_json()
    assert run(memory="64M").to_json() == expected
    assert run(memory="64M", cache=tmp_path).to_json() == expected
    assert run(rows_per_unit=1, memory="64M").to_json() != expected


def test_frames_give_the_bytes_of_the_command(columns, run_command, tmp_path):
    pandas, polars, pyarrow, duckdb = map(pytest.importorskip,
                                          ["pandas", "polars", "pyarrow", "duckdb"])
    csv(tmp_path / "rows.csv", columns)
    expected = by_command(run_command, tmp_path / "rows.csv")
    frame = pandas.DataFrame(columns)
    kinds = {
        "pandas": frame,
        "pandas of mixed types": frame.astype({"age": "f4"}),
        "polars": polars.DataFrame(columns),
        "pyarrow": pyarrow.table(columns),
        "pyarrow in pieces": pyarrow.concat_tables([pyarrow.table(columns).slice(0, 500),
                                                    pyarrow.table(columns).slice(500)]),
        "DuckDB": duckdb.connect().from_arrow(pyarrow.table(columns)),
    }
    for kind, data in kinds.items():
        assert fitted(data) == expected, kind


def test_nulls_are_missing_cells_everywhere(columns, run_command, tmp_path):
    pandas, polars, pyarrow = map(pytest.importorskip, ["pandas", "polars", "pyarrow"])
    holes = {(3, "age"), (10, "pay"), (700, "size")}
    csv(tmp_path / "holes.csv", columns, holes)
    expected = by_command(run_command, tmp_path / "holes.csv")
    with_none = {name: [None if (i, name) in holes else float(value)
                        for i, value in enumerate(column)] for name, column in columns.items()}
    frames = [pandas.DataFrame(with_none), pandas.DataFrame(with_none).convert_dtypes(),
              polars.DataFrame(with_none), pyarrow.table(with_none)]
    for frame in frames:
        assert fitted(frame) == expected, type(frame)


def test_bounds_by_column_and_persons_by_name(columns, run_command, tmp_path):
    pandas = pytest.importorskip("pandas")
    people = [f"p{i % 400}" for i in range(1200)]
    frame = pandas.DataFrame({**columns, "who": people})
    frame.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "bounds.csv").write_text("age,-1,1\npay,-2,2\nsize,-1,1.5\n")
    expected = run_command("run", "kmeans", tmp_path / "people.csv", "--clusters", "2", "--epsilon",
                           "4", "--bounds", tmp_path / "bounds.csv", "--unit", "who",
                           "--rows-per-unit", "2", "--rows", "800", "--seed", "42", "--no-ledger",
                           "--json", "-q")
    settings = {"epsilon": 4, "rows_per_unit": 2, "rows": 800,
                "bounds": {"size": (-1, 1.5), "age": (-1, 1), "pay": (-2, 2)}}
    assert fitted(frame, unit="who", **settings) == expected
    assert b'"unit": "who"' in expected


def test_any_number_of_threads_gives_the_same_bytes(exact):
    assert fitted(exact, threads=1) == fitted(exact, threads=2)
