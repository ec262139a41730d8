"""Releases of the first schema are read under the names of today; old names still work."""
import json
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest

import cloister

KEPT = Path(__file__).resolve().parents[2] / "tests" / "golden" / "schema1"


@pytest.fixture
def old():
    return cloister.Release.read(KEPT / "kmeans.json")


@pytest.fixture
def fitted(rows):
    return cloister.PrivateKMeans(2, epsilon=3, bounds=(-1, 1), random_state=1).fit(rows)


@pytest.mark.parametrize("path", sorted(KEPT.glob("*.json")), ids=lambda path: path.stem)
def test_is_written_back_to_its_own_bytes(path):
    release = cloister.Release.read(path)
    assert release.to_json().encode() == path.read_bytes()
    assert pickle.loads(pickle.dumps(release)) == release


def test_a_signature_of_then_holds(old):
    assert old.unchanged and old.check((KEPT / "steward.pub").read_text()) is None


def test_has_the_names_of_today(old):
    raw = json.loads((KEPT / "kmeans.json").read_text())
    assert list(old) == ["centers", "sizes", "radii", "distinct_clusters"]
    assert old["sizes"].tolist() == raw["values"]["weights"]
    assert old.info["values"]["radii"] == raw["values"]["widths"]
    assert old.privacy["epsilon_used"] == raw["privacy"]["price"]
    assert old.privacy["charged_to_ledger"] and old.privacy["budget_limited"]
    assert old.info["domain"]["norm_scaled"] == raw["domain"]["norm"]
    assert old.info["domain"]["length_unit"] == "half-width"
    query, before = old.info["queries"][0], raw["queries"][0]
    assert (query["loss_kind"], query["mu"]) == (before["event"], before["parameter"])


def test_both_schemas_have_the_same_fields(old, fitted):
    assert fitted.release_.info["schema"] == "cloister.release/2"
    for name in ("privacy", "domain"):
        now, before = set(fitted.release_.info[name]), set(old.info[name])
        assert now - {"columns"} == before - {"columns", "rows_per_unit"}
    assert set(fitted.release_.info["queries"][0]) == set(old.info["queries"][0])


@pytest.mark.parametrize("of", ["old", "new"])
def test_old_names_work_and_warn(of, old, fitted):
    release = old if of == "old" else fitted.release_
    query = release.info["queries"][0]
    for place, before, now in ((release, "weights", "sizes"), (release, "widths", "radii"),
                               (release, "told_apart", "distinct_clusters"),
                               (release.privacy, "price", "epsilon_used"),
                               (release.privacy, "metered", "charged_to_ledger"),
                               (release.privacy, "capped", "budget_limited"),
                               (release.info["domain"], "norm", "norm_scaled"),
                               (query, "event", "loss_kind"), (query, "parameter", "mu")):
        said = f"'{before}' is an old name: use '{now}'"
        with pytest.warns(DeprecationWarning, match=said) as seen:
            assert np.array_equal(place[before], place[now])
        assert seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert query["delta"] == 0 and release.privacy["rows_per_unit"] == 1
    for place in (release, release.privacy, query):
        with pytest.raises(KeyError):
            place["nothing"]


def test_an_estimator_has_its_old_attribute(fitted):
    with pytest.warns(DeprecationWarning, match="sizes_"):
        assert fitted.weights_ is fitted.sizes_


def test_a_plan_knows_its_old_names():
    plan = cloister.plan("kmeans", clusters=2, epsilon=1, rows=1000, cols=2, norm=1)
    with pytest.warns(DeprecationWarning, match="'price' is an old name: use 'used'"):
        assert plan.info["price"] == plan.info["used"]
    assert plan.info["domain"]["norm"] == 1
