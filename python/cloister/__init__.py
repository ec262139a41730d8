"""Differentially private clustering and subspace learning, used like scikit-learn.

>>> import numpy as np
>>> import cloister
>>> rows = np.random.default_rng(0).normal(size=(10_000, 3)).clip(-3, 3)
>>> fitted = cloister.PrivateKMeans(2, epsilon=1.0, bounds=(-3, 3)).fit(rows)
>>> fitted.cluster_centers_.shape
(2, 3)
>>> fitted.privacy_["private"]
True
"""
from __future__ import annotations

from ._audit import audit
from ._estimators import (PrivateBounds, PrivateKMeans, PrivateKMedian, PrivatePCA,
                          PrivateSubspaceClustering)
from ._job import run
from ._ledger import Ledger, default_ledger
from ._native import lib as _lib, text as _text
from ._plan import Plan, plan
from ._read import read
from ._release import Release
from ._schema import Schema
from . import distributed, solvers
from .exceptions import (ArgumentError, BudgetError, BusyError, CancelledError, CloisterError,
                         DomainError, EntropyError, FormatError, HiddenByNoiseWarning,
                         InternalError, LedgerError, MemoryShortError, NotPrivateWarning, ReadError,
                         SignatureError, UndeliveredError, UnsupportedError)

__version__ = _text(_lib.clo_version()) or ""

__all__ = [
    "ArgumentError", "BudgetError", "BusyError", "CancelledError", "CloisterError",
    "DomainError", "EntropyError", "FormatError", "HiddenByNoiseWarning", "InternalError", "Ledger",
    "LedgerError", "MemoryShortError", "NotPrivateWarning", "Plan", "PrivateBounds",
    "PrivateKMeans", "PrivateKMedian", "PrivatePCA", "PrivateSubspaceClustering", "ReadError",
    "Release", "Schema", "SignatureError",
    "UndeliveredError", "UnsupportedError",
    "audit", "default_ledger", "distributed", "plan", "read", "run", "solvers",
]
