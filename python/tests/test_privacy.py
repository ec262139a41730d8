"""Nothing un-noised is kept: not on the object, not in its pickle, not in what is shown."""
import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import cloister

PUBLIC = {"epsilon": 1.0, "bounds": (-1.0, 1.0)}
FITTED = {
    cloister.PrivateKMeans: {"cluster_centers_", "sizes_"},
    cloister.PrivateKMedian: {"cluster_centers_", "sizes_"},
    cloister.PrivateSubspaceClustering: {"bases_", "offsets_", "sizes_"},
    cloister.PrivatePCA: {"components_", "mean_", "n_components_", "explained_variance_"},
    cloister.PrivateBounds: {"norm_", "bounds_"},
}


def made(kind, **more):
    settings = {**PUBLIC, **more}
    if kind is cloister.PrivateBounds:
        settings.pop("bounds")
        return kind(norm=10.0, **settings)
    if kind is cloister.PrivatePCA:
        return kind(1, **settings)
    return kind(2, **settings)


@pytest.mark.parametrize("kind", FITTED)
def test_only_what_is_listed_is_kept(kind, rows):
    estimator = made(kind).fit(rows)
    allowed = set(estimator.get_params()) | FITTED[kind] | {"n_features_in_", "release_",
                                                            "privacy_"}
    assert set(vars(estimator)) == allowed
    for name in ("labels_", "inertia_", "n_iter_"):
        assert not hasattr(estimator, name)


def without_release(estimator):
    """Everything of it that does not follow from the release."""
    state = dict(vars(estimator))
    for name in FITTED[type(estimator)] | {"release_", "privacy_"}:
        state.pop(name)
    return pickle.dumps(state)


@pytest.mark.parametrize("kind", FITTED)
def test_neighbours_differ_in_the_release_alone(kind, rows):
    other = rows.copy()
    other[17] = 0.987654321
    a, b = made(kind).fit(rows), made(kind).fit(other)
    assert without_release(a) == without_release(b)
    for text in (repr(b), b._repr_html_(), str(pickle.dumps(b)), b.release_.to_json()):
        assert "987654321" not in text
    assert np.float64(0.987654321).tobytes() not in pickle.dumps(b)


def test_a_pickle_comes_back_whole(rows):
    estimator = made(cloister.PrivateKMeans).fit(rows)
    again = pickle.loads(pickle.dumps(estimator))
    assert again.release_ == estimator.release_
    assert (again.predict(rows) == estimator.predict(rows)).all()


def test_secure_fits_differ_and_seeded_ones_do_not(rows):
    secure = [made(cloister.PrivateKMeans).fit(rows).cluster_centers_ for _ in range(2)]
    assert not (secure[0] == secure[1]).any()
    with pytest.warns(cloister.NotPrivateWarning):
        seeded = [made(cloister.PrivateKMeans, random_state=3).fit(rows) for _ in range(2)]
    assert seeded[0].release_ == seeded[1].release_
    assert not seeded[0].privacy_["private"] and "NOT PRIVATE" in repr(seeded[0].release_)


def test_epsilon_has_no_default():
    for kind in FITTED:
        with pytest.raises(TypeError, match="epsilon"):
            kind(2) if kind not in (cloister.PrivateBounds, cloister.PrivatePCA) else kind()


def test_parameters_are_those_of_the_library():
    from cloister._native import SETTINGS
    from cloister._rows import family_parameters

    taken = {row.python for row in SETTINGS if row.python}
    assert len(taken) >= 20
    for kind in FITTED:
        names = set(made(kind).get_params())
        for name in family_parameters(kind._family):
            assert kind._renamed.get(name, name.replace("-", "_")) in names
        assert taken <= names
        assert all(f"    {name} : " in kind.__doc__ and "@" not in kind.__doc__ for name in taken)
        assert not names & {"fit", "predict", "transform", "score"}


def ledger_charges(path):
    return sum(account["charges"] for account in cloister.Ledger(path).accounts())


def test_five_folds_are_five_charges(rows, tmp_path):
    ledger = str(tmp_path / "ledger.db")
    cloister.Ledger(ledger, create=True).declare("people", epsilon=100, delta=1e-3)
    estimator = made(cloister.PrivateKMeans, ledger=ledger, dataset="people", threads=1)
    cross_val_score(estimator, rows, cv=5, n_jobs=2, error_score="raise")
    assert ledger_charges(ledger) == 5
    clone(estimator).fit(rows)
    assert ledger_charges(ledger) == 6


def test_a_cap_stops_what_would_exceed_it(rows, tmp_path):
    ledger = cloister.Ledger(tmp_path / "ledger.db", create=True)
    ledger.declare("people", epsilon=1.05, delta=1e-5)
    estimator = made(cloister.PrivateKMeans, ledger=str(tmp_path / "ledger.db"), dataset="people")
    estimator.fit(rows)
    before = estimator.release_
    with pytest.raises(cloister.BudgetError):
        estimator.fit(rows)
    assert estimator.release_ is before and ledger.accounts()[0]["charges"] == 1
    estimator.set_params(random_state=1, epsilon=0.1)
    with pytest.warns(cloister.NotPrivateWarning), \
            pytest.raises(cloister.ArgumentError, match="has a cap"):
        estimator.fit(rows)
    assert ledger.accounts()[0]["charges"] == 1


def test_what_noise_hides_is_not_paid_for(rows, tmp_path):
    """Public numbers say that it cannot work: refused where a ledger pays, and else said."""
    ledger = cloister.Ledger(tmp_path / "ledger.db", create=True)
    ledger.declare("people", epsilon=9, delta=1e-3)
    few = made(cloister.PrivateKMeans, ledger=str(tmp_path / "ledger.db"), dataset="people",
               epsilon=0.001)
    with pytest.raises(cloister.BudgetError, match="noise hides .* nothing was spent"):
        few.fit(rows)
    assert ledger.accounts()[0]["charges"] == 0
    few.set_params(anyway=True).fit(rows)
    assert ledger.accounts()[0]["charges"] == 1
    few.set_params(anyway=False, ledger=None, dataset=None)
    with pytest.warns(cloister.HiddenByNoiseWarning, match="that needs epsilon"):
        few.fit(rows)


def test_no_fit_makes_a_ledger_or_a_data_set(rows, tmp_path):
    path = tmp_path / "ledger.db"
    estimator = made(cloister.PrivateKMeans, ledger=str(path), dataset="people")
    with pytest.raises(cloister.LedgerError, match="there is no ledger"):
        estimator.fit(rows)
    assert not path.exists()
    cloister.Ledger(path, create=True).declare("panel", epsilon=1)
    with pytest.raises(cloister.ArgumentError, match="has no data set"):
        estimator.fit(rows)
    open_one = str(tmp_path / "open.db")
    cloister.Ledger(open_one, create=True, closed=False)
    estimator.set_params(ledger=open_one)
    with pytest.raises(cloister.BudgetError, match="has no cap"):
        estimator.fit(rows)
    estimator.set_params(anyway=True).fit(rows)
    assert ledger_charges(open_one) == 1


def test_a_token_is_paid_once(rows, tmp_path):
    cloister.Ledger(tmp_path / "ledger.db", create=True).declare("people", epsilon=9, delta=1e-3)
    estimator = made(cloister.PrivateKMeans, ledger=str(tmp_path / "ledger.db"), dataset="people",
                     token="may")
    first = estimator.fit(rows).release_
    assert estimator.fit(rows).release_ == first
    assert ledger_charges(tmp_path / "ledger.db") == 1


@pytest.mark.filterwarnings("ignore::cloister.NotPrivateWarning")
def test_pipelines_and_searches_work(rows):
    pipeline = make_pipeline(FunctionTransformer(lambda x: x / 2),
                             made(cloister.PrivateKMeans, random_state=1))
    assert set(pipeline.fit_predict(rows)) == {0, 1}
    search = GridSearchCV(made(cloister.PrivateKMeans, random_state=1, method="lloyd"),
                          {"n_clusters": [1, 2]}, cv=2).fit(rows)
    assert search.best_params_ == {"n_clusters": 2}


def test_persons_of_arrays_go_to_fit(rows):
    estimator = made(cloister.PrivateKMeans, epsilon=4.0, rows_per_unit=2, rows=1500)
    estimator.fit(rows, unit=np.arange(len(rows)) // 2)
    assert estimator.privacy_["rows_per_unit"] == 2
    assert "unit" in estimator.release_.info["domain"] or "unit" in estimator.privacy_
    with pytest.raises(cloister.ArgumentError, match="for each row"):
        estimator.fit(rows, unit=[1, 2])


# ---- bounds that are found first ----

def test_private_bounds_are_two_charges_within_one_budget(rows, tmp_path):
    ledger = str(tmp_path / "ledger.db")
    cloister.Ledger(ledger, create=True).declare("people", epsilon=9, delta=1e-3)
    estimator = made(cloister.PrivateKMeans, bounds="private", norm_at_most=1000.0, epsilon=2.0,
                     ledger=ledger, dataset="people").fit(rows)
    parts = estimator.privacy_["parts"]
    assert [part["epsilon"] for part in parts] == [0.4, 1.6]
    assert estimator.privacy_["epsilon"] == 2 and estimator.privacy_["delta"] <= 1e-6
    account, = cloister.Ledger(ledger).accounts()
    assert account["charges"] == 2 and account["spent"]["epsilon"] == pytest.approx(2)
    domain = estimator.release_.info["domain"]
    assert domain["lower"] == list(estimator.bounds_release_["lower"])
    assert (np.abs(domain["upper"]) < 10).all()
    assert set(vars(estimator)) - set(estimator.get_params()) == {
        "n_features_in_", "release_", "bounds_release_", "privacy_", "cluster_centers_", "sizes_"}
    estimator.set_params(bounds=(-1, 1), norm_at_most=None).fit(rows)
    assert not hasattr(estimator, "bounds_release_")


@pytest.mark.parametrize("change, kind, message", [
    ({"norm_at_most": None}, cloister.ArgumentError, "needs norm_at_most"),
    ({"norm": 3}, cloister.ArgumentError, "excludes norm and center"),
    ({"share_norm": 1}, cloister.ArgumentError, "share_norm must be between"),
    ({"n_clusters": 0}, cloister.ArgumentError, "clusters"),
    ({"epsilon": 4}, cloister.BudgetError, "bounds and fit need epsilon 4"),
    ({"epsilon": 0.1}, cloister.ArgumentError, "too few to find bounds"),
])
def test_private_bounds_that_cannot_be_cost_nothing(rows, tmp_path, change, kind, message):
    ledger = cloister.Ledger(tmp_path / "ledger.db", create=True)
    ledger.declare("people", epsilon=3, delta=1e-5)
    settings = {"n_clusters": 2, "epsilon": 2, "bounds": "private", "norm_at_most": 100,
                "ledger": ledger.path, "dataset": "people", **change}
    with pytest.raises(kind, match=message):
        cloister.PrivateKMeans(**settings).fit(rows)
    assert ledger.accounts()[0]["charges"] == 0


def test_persons_of_sparse_rows_go_to_fit(rows):
    sparse = scipy.sparse.csr_array(np.where(np.abs(rows) < 0.3, 0, rows))
    estimator = made(cloister.PrivateKMeans, bounds=None, norm=2.0, epsilon=4.0, rows_per_unit=2,
                     rows=1500)
    estimator.fit(sparse, unit=np.arange(len(rows)) // 2)
    assert estimator.privacy_["rows_per_unit"] == 2 and estimator.privacy_["unit"] == "unit"
