"""Ordinary, NON-PRIVATE clustering: what the private estimators are measured against, and useful by
itself.

What they find is a plain function of the data, for those who may see them.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from ._job import setting_text
from ._native import Watcher, call, ffi, lib, make, settle_threads
from ._parameters import python_name, solver_class
from ._rows import solver_parameters
from ._table import from_array
from ._validate import validated

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["EnSC", "KPlanes", "LRR", "LSR", "SSC", "SSCOMP", "SpectralSubspaces", "TSC"]


def _matrix(matrix: Any) -> NDArray[np.float64]:
    """A copy of a borrowed matrix."""
    out = np.empty((matrix.rows, matrix.cols))
    for i in range(matrix.rows):
        row = ffi.buffer(matrix.data + i * matrix.stride, 8 * matrix.cols)
        out[i] = np.frombuffer(row, dtype=np.float64)
    return out


class Solver(ClusterMixin, BaseEstimator):
    """What all of them share."""

    _solver: str
    _renamed: dict[str, str]
    random_state: Any
    n_features_in_: int

    def _params(self) -> Any:
        params = make("clo_params", lib.clo_solver_params_new,
                      lib.clo_solver_find(self._solver.encode()))
        params = ffi.gc(params, lib.clo_params_free)
        for name in solver_parameters(self._solver):
            value = setting_text(getattr(self, python_name(name, self._renamed)))
            call(lib.clo_params_set_text, params, name.encode(), value.encode())
        return params

    def _rng(self) -> Any:
        """None is the preset, which is always the same."""
        if self.random_state is None:
            return ffi.NULL
        seed = ffi.new("uint8_t[32]")
        lib.clo_seed_from_text(str(self.random_state).encode(), seed)
        return ffi.gc(make("clo_rng", lib.clo_rng_new_seeded, seed), lib.clo_rng_free)

    def fit(self, X: Any, y: Any = None) -> Any:
        """Clusters the rows; of :class:`SpectralSubspaces`, by their affinities."""
        table = from_array(self._checked(X))
        options = ffi.new("clo_solve_options *")
        lib.clo_solve_options_init(options, ffi.sizeof("clo_solve_options"))
        watcher, rng = Watcher(), self._rng()
        options.progress, options.user, options.rng = lib.cloister_progress, watcher.handle, rng
        settle_threads()
        with watcher.watching():
            solution = make("clo_solution", lib.clo_solve, self._params(), table.pointer, options)
        try:
            self._take(solution)
        finally:
            lib.clo_solution_free(solution)
        return self

    def _checked(self, X: Any) -> Any:
        return validated(self, X, dtype=np.float64)

    def _take(self, solution: Any) -> None:
        rows = lib.clo_solution_rows(solution)
        labels = ffi.buffer(lib.clo_solution_labels(solution), 4 * rows)
        self.labels_ = np.frombuffer(labels, dtype=np.uint32).astype(np.int64)
        self.cost_ = float(lib.clo_solution_cost(solution))
        self._take_flats(solution)

    def _take_flats(self, solution: Any) -> None:
        count = lib.clo_solution_clusters(solution)
        self.bases_ = [_matrix(lib.clo_solution_basis(solution, i)) for i in range(count)]
        offsets = _matrix(lib.clo_solution_offsets(solution))
        self.offsets_ = offsets if len(offsets) else np.zeros((count, self.n_features_in_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = False
        return tags


class _Flats(Solver):
    def predict(self, X: Any) -> NDArray[np.int64]:
        """The nearest flat of each row."""
        check_is_fitted(self)
        rows = np.asarray(validated(self, X, reset=False, dtype=np.float64))
        away = []
        for basis, offset in zip(self.bases_, self.offsets_):
            centred = rows - offset
            away.append(np.linalg.norm(centred - centred @ basis @ basis.T, axis=1))
        return np.argmin(away, axis=0).astype(np.int64)


@solver_class("kplanes", {"clusters": "n_clusters"})
class KPlanes(_Flats):
    """k subspaces nearest to the rows, from many starts (K-subspaces).  NOT private."""


@solver_class("ssc", {"clusters": "n_clusters"})
class SSC(_Flats):
    """Sparse subspace clustering: writes each row as a sum of few others.  NOT private."""


@solver_class("ssc-omp", {"clusters": "n_clusters"})
class SSCOMP(_Flats):
    """Sparse subspace clustering by orthogonal matching pursuit, for many rows.  NOT private."""


@solver_class("tsc", {"clusters": "n_clusters"})
class TSC(_Flats):
    """Thresholding: joins each row with the rows at the smallest angles to it.  NOT private."""


@solver_class("lrr", {"clusters": "n_clusters"})
class LRR(_Flats):
    """Low-rank representation, then spectral clustering.  NOT private."""


@solver_class("lsr", {"clusters": "n_clusters"})
class LSR(_Flats):
    """Least squares representation, then spectral clustering.  NOT private."""


@solver_class("ensc", {"clusters": "n_clusters"})
class EnSC(_Flats):
    """Elastic net subspace clustering with an active set, for many rows.  NOT private."""


@solver_class("spectral", {"clusters": "n_clusters"})
class SpectralSubspaces(Solver):
    """Spectral clustering of a given (precomputed) affinity of the rows.  NOT private."""

    def _checked(self, X: Any) -> Any:
        affinity = super()._checked(X)
        if affinity.shape[0] != affinity.shape[1]:
            raise ValueError("an affinity must have a row and a column per record, not the shape "
                             f"{affinity.shape}")
        return affinity

    def _take_flats(self, solution: Any) -> None:
        """An affinity alone has none."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        return tags
