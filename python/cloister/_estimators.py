"""Private estimators with the ways of scikit-learn.

What a fit keeps is its release, and what follows from that: noised values and public facts,
whatever is pickled, printed or shown.  ``predict``, ``transform``, ``score`` and ``fit_predict``
look at rows that the caller has; what they return is the caller's own and as private as those rows
are.
"""
from __future__ import annotations

import importlib.util
import numbers
import os
import tempfile
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse
from sklearn.base import (BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin,
                          TransformerMixin)
from sklearn.utils.validation import check_is_fitted

from . import _names
from ._job import Job
from ._learn import learn_bounds, together
from ._native import SETTINGS
from ._parameters import private_class, python_name
from ._progress import shown
from ._release import Release
from ._rows import family_parameters
from ._schema import Schema
from ._table import Table, as_table, gives_arrow
from ._validate import check_plain, number_columns, refuse_objects, validated
from .distributed import engine_of, is_collection, release as spread_release
from .exceptions import ArgumentError, NotPrivateWarning, UnsupportedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PLAIN_FRAMES = ("pandas", "polars")


def _is_frame(data: Any) -> bool:
    """A frame that scikit-learn knows the names of."""
    return type(data).__module__.partition(".")[0] in _PLAIN_FRAMES and hasattr(data, "columns")


def _is_column(data: Any) -> bool:
    """A Series of pandas or polars: one column, and no frame of it."""
    return hasattr(data, "to_frame") and not hasattr(data, "columns")


def _by_arrow(data: Any) -> bool:
    if not gives_arrow(data):
        return False
    return type(data).__module__.partition(".")[0] != "pandas" or \
        importlib.util.find_spec("pyarrow") is not None


def seed_text(random_state: Any) -> str | None:
    """The seed of a run, with a warning; None is secure."""
    if random_state is None:
        return None
    warnings.warn("random_state makes the release reproducible, so it is NOT private: anyone who "
                  "knows the seed can remove the noise", NotPrivateWarning, stacklevel=3)
    if isinstance(random_state, numbers.Integral):
        return str(int(random_state))
    if isinstance(random_state, np.random.RandomState):
        return str(int(random_state.randint(2**31)))
    raise ArgumentError("random_state must be None, a whole number or a RandomState")


class PrivateEstimator(BaseEstimator):
    """What all of them share."""

    _family: str
    _renamed: dict[str, str]
    epsilon: Any
    random_state: Any
    method: Any
    unit: Any
    progress: Any

    # ---- data ----

    def _named_features(self, X: Any) -> Any:
        """A frame without the column of the persons, which is no feature."""
        if isinstance(self.unit, str) and self.unit in list(X.columns):
            return X.drop(columns=[self.unit]) if hasattr(X, "iloc") else X.drop(self.unit)
        return X

    def _check_stream(self, table: Table, reset: bool) -> None:
        """The same as scikit-learn's own checks, for what it does not know."""
        names = table.names or []
        if reset:
            self.n_features_in_ = len(names)
            self.feature_names_in_ = np.asarray(names, dtype=object)
        elif not set(getattr(self, "feature_names_in_", names)) <= set(names):
            raise ArgumentError("the columns must be those of the fit: "
                                + ", ".join(self.feature_names_in_))

    def _by_schema(self, X: Any, unit: Any, reset: bool) -> Table:
        """Rows as the schema means them: that of the release, once there is one."""
        released = None if reset else self.release_.schema
        schema = released or Schema(self.schema)
        person = unit if unit is not None else self.unit if reset else None
        table = schema.table(X, person)
        if reset:
            self.n_features_in_ = table.cols
            self.feature_names_in_ = np.asarray(schema.names, dtype=object)
        return table

    def _table(self, X: Any, unit: Any = None, *, reset: bool) -> Table:
        if getattr(self, "schema", None) is not None:
            return self._by_schema(X, unit, reset)
        check_plain(X)
        text_columns = "refuse" if reset else "later"
        missing = getattr(self, "missing", "null")
        fill = getattr(self, "fill", None)
        fill = ",".join(f"{name}={value}" for name, value in fill.items()) \
            if isinstance(fill, dict) else fill
        if _is_column(X):
            raise ArgumentError("Expected 2D array, got 1D array instead.  One column goes in as a "
                                "frame: X.to_frame()")
        if _is_frame(X) and len(set(X.columns)) < len(X.columns):
            raise ArgumentError("two columns of the frame have the same name: rename one")
        person = unit if unit is not None else self.unit if reset else None
        if person is not None and not isinstance(person, str) and unit is None:
            raise ArgumentError("unit must be the name of a column: pass an array of persons to "
                                "fit(X, unit=...), which does not store it")
        hidden = reset and self._hides_rows(person)
        if _by_arrow(X):
            if _is_frame(X):
                validated(self, self._named_features(X), reset=reset, skip_check_array=True)
            table = as_table(X, unit=person, missing=missing, fill=fill,
                             text_columns=text_columns, hidden=hidden)
            if not _is_frame(X):
                self._check_stream(table, reset)
            return table
        if hidden:
            refuse_objects(X, person)
            if getattr(X, "shape", ())[1:] == (0,):
                raise ArgumentError("the data have no columns")
        if _is_frame(X):
            number_columns(X)
        array = self._array(X, reset=reset, ensure_min_samples=0 if hidden else 1)
        names = getattr(self, "feature_names_in_", None) if _is_frame(X) else None
        return as_table(array, unit=person, names=names, missing=missing, fill=fill)

    def _hides_rows(self, person: Any) -> bool:
        """Whether nothing may depend on how many rows there are."""
        return person is not None or getattr(self, "relation", "replace") not in (None, "replace")

    def _array(self, X: Any, *, reset: bool, dtype: Any = "numeric",
               ensure_min_samples: int = 1) -> Any:
        X = self._named_features(X) if _is_frame(X) else X
        return validated(self, X, reset=reset, accept_sparse="csr", dtype=dtype,
                         ensure_all_finite=False, ensure_min_samples=ensure_min_samples)

    # ---- the run ----

    def _settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = {"mechanism": self._family, "epsilon": self.epsilon}
        for row in SETTINGS:
            if row.python:
                settings[row.name] = getattr(self, row.python)
        settings["method"] = None if self.method == "auto" else self.method
        settings["no-ledger"] = settings["ledger"] is None
        for name in family_parameters(self._family):
            settings[name] = getattr(self, python_name(name, self._renamed))
        return settings

    def fit(self, X: Any, y: Any = None, *, unit: Any = None) -> Any:
        """Makes a release, and charges the ledger if one is named.

        Parameters
        ----------
        X : array, memory map, sparse rows, or anything that gives an Arrow C stream
            The records.  Numbers are used without a copy.  A Dask array or
            data frame, or a data frame of Spark 4, stays where it is: its partitions are summed up
            there, and blocks of its rows are solved there; what travels is under pads.
        y : ignored
        unit : array of persons, optional
            The person of each row; the guarantee is then for a person.  It is not stored.
        """
        if self.epsilon is None:
            raise ArgumentError("give epsilon: the most that this run may reveal about one record")
        seed = seed_text(self.random_state)
        if is_collection(X):
            return self._fit_collection(X, unit, seed)
        table = self._table(X, unit, reset=True)
        settings = {**self._settings(), "seed": seed}
        if unit is not None and not isinstance(unit, str):
            settings["unit"] = self.unit if isinstance(self.unit, str) else "unit"
        learnt = None
        try:
            with _projection(settings):
                if isinstance(settings["bounds"], str) and settings["bounds"] == "private":
                    learnt, settings = learn_bounds(settings, table)
                with shown(self.progress, self._family) as progress:
                    release = Job(settings, table).release(progress)
        finally:
            table.free()
        self.release_ = release
        self.privacy_ = release.privacy
        if learnt is not None:
            self.bounds_release_ = learnt
            self.privacy_ = together(learnt, release)
        elif hasattr(self, "bounds_release_"):
            del self.bounds_release_  # of an earlier fit
        self._take(release)
        return self

    def _fit_collection(self, X: Any, unit: Any, seed: str | None) -> Any:
        """The rows stay where Dask or Spark has them; what comes here are sums, or what was made
        of blocks (distributed.py)."""
        settings = {**self._settings(), "seed": seed}
        if settings.get("schema") is not None:
            raise UnsupportedError("a schema needs the rows in one process: give a data frame of "
                                   "pandas, polars or pyarrow, or a CSV file to cloister.run")
        threads = settings.pop("threads", None)
        if isinstance(settings["bounds"], str) and settings["bounds"] == "private":
            raise UnsupportedError("bounds='private' needs all rows in one process: find bounds "
                                   "first, with cloister.distributed.run('bounds', ...)")
        if unit is not None:
            settings["unit"] = "unit"
        with _projection(settings), shown(self.progress, self._family) as progress:
            made, cols, names = spread_release(engine_of(X), settings, progress,
                                               threads=threads or 1)
        self.n_features_in_ = cols
        if names is not None:
            self.feature_names_in_ = np.asarray(names, dtype=object)
        self.release_, self.privacy_ = made, made.privacy
        if hasattr(self, "bounds_release_"):
            del self.bounds_release_
        self._take(made)
        return self

    def _take(self, release: Release) -> None:
        """Sets what is fitted, out of the release alone."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True  # a row with a missing cell counts for nothing
        tags.input_tags.sparse = True
        tags.non_deterministic = False
        return tags

    # ---- the caller's own rows ----

    def _scaled(self, X: Any) -> tuple[NDArray[np.float64], Any, Any]:
        """Dense rows on the scale of the run, and what took them there: middle and half width."""
        check_is_fitted(self)
        if getattr(self, "schema", None) is not None:
            raise UnsupportedError("under a schema rows are no plain numbers: use predict, or "
                                   "release_.assign for distances")
        rows = self._array(X, reset=False, dtype=np.float64)
        rows = rows.toarray() if scipy.sparse.issparse(rows) else np.asarray(rows)
        domain = self.release_.info["domain"]
        middle, half = 0.0, 1.0
        if "lower" in domain:
            lower, upper = np.asarray(domain["lower"]), np.asarray(domain["upper"])
            middle, half = (lower + upper) / 2, (upper - lower) / 2
        rows = np.where(np.isfinite(rows), rows, np.nan)
        return (rows - middle) / half, middle, half


class _Scored(PrivateEstimator):
    """Those whose release says how far a row is."""

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the mean squared distance of your own rows (k-median: mean distance), on
        the scale of the run: with bounds, in units of half their width.  Not private."""
        check_is_fitted(self)
        return -self.release_.cost(self._table(X, reset=False))


class _projection:
    """A release to project on, as the file that the library reads."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings, self.path = settings, ""

    def __enter__(self) -> None:
        release = self.settings.get("project")
        if isinstance(release, Release):
            handle, self.path = tempfile.mkstemp(suffix=".json")
            os.close(handle)
            release.to_json(self.path)
            self.settings["project"] = self.path

    def __exit__(self, *raised: Any) -> None:
        if self.path:
            os.unlink(self.path)


class _Clusters(ClusterMixin, _Scored):
    """Those that have clusters."""

    sizes_: Any

    @property
    def weights_(self) -> Any:
        """The old name of ``sizes_``."""
        _names.warn("weights_", "sizes_")
        return self.sizes_

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The released cluster of each of your own rows; -1 with a missing cell.  Not
        private."""
        check_is_fitted(self)
        labels, _ = self.release_.assign(self._table(X, reset=False))
        return labels

    def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> NDArray[np.int64]:
        """Fits, and then returns the cluster of each of your own rows: not private."""
        return self.fit(X, y, **kwargs).predict(X)

    def fit_transform(self, X: Any, y: Any = None, **kwargs: Any) -> NDArray[np.float64]:
        """Fits, and then returns ``transform`` of your own rows.  Not private."""
        return self.fit(X, y, **kwargs).transform(X)

    @property
    def _n_features_out(self) -> int:
        return len(self.sizes_)


class _Centers(TransformerMixin, ClassNamePrefixFeaturesOutMixin, _Clusters):
    def _take(self, release: Release) -> None:
        lists = release.center_lists
        self.cluster_centers_: Any
        if lists is None:
            self.cluster_centers_ = release["centers"]
        else:
            starts, columns, values = lists
            self.cluster_centers_ = scipy.sparse.csr_array(
                (values, columns.astype(np.int64), starts.astype(np.int64)),
                shape=(len(starts) - 1, release.info["domain"]["cols"]))
        self.sizes_ = release["sizes"]

    def transform(self, X: Any) -> NDArray[np.float64]:
        """The distance of your own rows from each center, on the scale of the run.  Not
        private."""
        rows, middle, half = self._scaled(X)
        centers = self.cluster_centers_
        centers = centers.toarray() if scipy.sparse.issparse(centers) else centers
        centers = (centers - middle) / half
        return np.stack([np.linalg.norm(rows - center, axis=1) for center in centers], axis=1)


@private_class("kmeans", {"clusters": "n_clusters"}, "n_clusters", ("n_clusters",))
class PrivateKMeans(_Centers):
    """k-means with differential privacy: k centers with a small mean squared distance.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
        The centers, with noise.  Very long ones are a sparse matrix (CSR).
    sizes_ : array of shape (n_clusters,)
        The numbers of records, with noise.
    release_ : Release
        All that was released, and its cost.
    bounds_release_ : Release
        Only with ``bounds="private"``: the release of the bounds that were found first.
    privacy_ : dict
        epsilon, delta, relation, guarantee, and whether the release is private.  With two releases
        it is about both together.

    There is no ``labels_`` and no ``inertia_``, because they would show the data without noise.
    """

    if TYPE_CHECKING:  # the rest is made from the library's rows
        def __init__(self, n_clusters: int | str, *, epsilon: float, method: str = "auto",
                     random_state: int | None = None, **settings: Any) -> None: ...


@private_class("kmedian", {"clusters": "n_clusters"}, "n_clusters", ("n_clusters",))
class PrivateKMedian(_Centers):
    """k-median with differential privacy: k centers with a small mean distance.

    Attributes are those of :class:`PrivateKMeans`.
    """

    if TYPE_CHECKING:  # the rest is made from the library's rows
        def __init__(self, n_clusters: int | str, *, epsilon: float, method: str = "auto",
                     random_state: int | None = None, **settings: Any) -> None: ...


@private_class("subspaces", {"clusters": "n_clusters"}, "n_clusters", ("n_clusters",))
class PrivateSubspaceClustering(TransformerMixin, ClassNamePrefixFeaturesOutMixin,
                                _Clusters):
    """Subspace clustering with differential privacy: k subspaces, linear or affine.

    Attributes
    ----------
    bases_ : array of shape (n_clusters, n_features, dim)
        Orthonormal directions of each subspace, with noise.
    offsets_ : array of shape (n_clusters, n_features)
        A point of each subspace; zero for linear ones.
    sizes_ : array of shape (n_clusters,)
        The numbers of records, with noise.
    release_, privacy_
        As in :class:`PrivateKMeans`.
    """

    if TYPE_CHECKING:  # the rest is made from the library's rows
        def __init__(self, n_clusters: int | str, *, epsilon: float, method: str = "auto",
                     random_state: int | None = None, **settings: Any) -> None: ...

    def _take(self, release: Release) -> None:
        self.bases_ = release["bases"]
        self.offsets_ = release.get("offsets", np.zeros(self.bases_.shape[:2]))
        self.sizes_ = release.get("sizes", np.full(len(self.bases_), np.nan))

    def transform(self, X: Any) -> NDArray[np.float64]:
        """The distance of your own rows from each subspace, on the scale of the run.  Not
        private."""
        rows, middle, half = self._scaled(X)
        found = []
        for basis, offset in zip(self.bases_, self.offsets_):
            frame, _ = np.linalg.qr(basis / np.reshape(half, (-1, 1)))
            away = rows - (offset - middle) / half
            found.append(np.linalg.norm(away - away @ frame @ frame.T, axis=1))
        return np.stack(found, axis=1)


@private_class("subspace", {"dim": "n_components"}, "n_components")
class PrivatePCA(TransformerMixin, ClassNamePrefixFeaturesOutMixin,
                 _Scored):
    """PCA with differential privacy: the leading directions of the records (family ``subspace``).

    ``n_components="auto"`` takes all directions that stand out from the noise (method
    ``gaussian``), and at least one.  A direction of pure noise stands out with a probability of at
    most 0.001.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        Orthonormal rows, with noise.
    mean_ : array of shape (n_features,)
        A point of the subspace; zero for methods that release none.
    explained_variance_ : array, or None
        The noisy energy along each direction divided by the public number of rows.  None if the
        method releases no energy, the number of rows is secret, or bounds have different widths.
    release_, privacy_
        As in :class:`PrivateKMeans`.
    """

    if TYPE_CHECKING:  # the rest is made from the library's rows
        def __init__(self, n_components: int | str | None = None, *, epsilon: float,
                     method: str = "auto", random_state: int | None = None,
                     **settings: Any) -> None: ...

    def _take(self, release: Release) -> None:
        if "basis" not in release:
            raise ArgumentError("the run found no subspace, and its budget is spent: try another "
                                "method, more rows or a larger epsilon")
        self.components_ = np.ascontiguousarray(release["basis"].T)
        self.n_components_ = len(self.components_)
        self.mean_ = release.get("center", np.zeros(self.components_.shape[1]))
        self.explained_variance_ = self._variance(release)

    @staticmethod
    def _variance(release: Release) -> NDArray[np.float64] | None:
        """Energies are on the scale of the run, which is that of the data up to one factor only
        where all bounds are equally wide."""
        domain, energy = release.info["domain"], release.get("energy")
        if energy is None or not domain.get("rows"):
            return None
        widths = np.subtract(domain.get("upper", [1]), domain.get("lower", [-1])) / 2
        return energy * widths[0] ** 2 / domain["rows"] if np.ptp(widths) == 0 else None

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Your own rows along the released directions.  Not private."""
        check_is_fitted(self)
        rows = self._array(X, reset=False, dtype=np.float64)
        rows = rows.toarray() if scipy.sparse.issparse(rows) else rows
        return (rows - self.mean_) @ self.components_.T

    def inverse_transform(self, X: Any) -> NDArray[np.float64]:
        """Back into the columns of the data."""
        check_is_fitted(self)
        return np.asarray(X) @ self.components_ + self.mean_

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


@private_class("bounds", {})
class PrivateBounds(PrivateEstimator):
    """A radius, or bounds of the columns, found privately, for the other estimators.

    Attributes
    ----------
    norm_ : float, or None
        With ``of='norm'``: a radius that holds most records.
    bounds_ : (lower, upper), or None
        With ``of='columns'``: give them as ``bounds`` to the next estimator, which has its own
        epsilon in addition.
    release_, privacy_
        As in :class:`PrivateKMeans`.
    """

    if TYPE_CHECKING:  # the rest is made from the library's rows
        def __init__(self, *, epsilon: float, method: str = "auto",
                     random_state: int | None = None, **settings: Any) -> None: ...

    def _take(self, release: Release) -> None:
        self.norm_ = float(release["radius"][0]) if "radius" in release else None
        self.bounds_ = (release["lower"], release["upper"]) if "lower" in release else None
