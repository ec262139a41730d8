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
    ({"epsilon": None}, cloister.ArgumentError, "epsilon must be given"),
    ({"epsilon": -1}, cloister.ArgumentError, "epsilon"),
    ({"bounds": None}, cloister.DomainError, "norm R or bounds LO,HI must be given"),
    ({"bounds": (1, -1)}, cloister.DomainError, "lower end must be below"),
    ({"bounds": ([0, 0], [1, 1])}, cloister.DomainError, "bounds for 2 columns"),
    ({"bounds": {"x": (0, 1)}}, cloister.DomainError, "bounds for 1 columns"),
    ({"bounds": "private"}, cloister.ArgumentError, "needs norm_at_most"),
    ({"bounds": 3}, cloister.ArgumentError, "bounds must be"),
    ({"n_clusters": 0}, cloister.ArgumentError, "clusters"),
    ({"n_clusters": "many"}, cloister.ArgumentError, "clusters"),
    ({"method": "nothing"}, cloister.ArgumentError, "nothing"),
    ({"method": "lloyd", "side": 3}, cloister.ArgumentError, "side"),
    ({"relation": "other"}, cloister.ArgumentError, "relation must be one of"),
    ({"unit": np.arange(3)}, cloister.ArgumentError, "kept nowhere"),
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
