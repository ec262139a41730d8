"""scikit-learn's own checks of every estimator, with what cannot hold named and reasoned."""
import warnings

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

import cloister

# The checks fit a handful of rows and ask for the same result twice: so they get a seed, and a
# budget at which a handful can tell anything.  Nobody's data are in them.
warnings.simplefilter("ignore", cloister.NotPrivateWarning)
PUBLIC = {"epsilon": 100.0, "bounds": (-10.0, 10.0), "threads": 1}
INSTANCES = [
    cloister.PrivateKMeans(2, method="lloyd", **PUBLIC),
    cloister.PrivateKMedian(2, **PUBLIC),
    cloister.PrivateSubspaceClustering(2, dim=1, method="moments", **PUBLIC),
    cloister.PrivatePCA(1, **PUBLIC),
    cloister.PrivateBounds(epsilon=100.0, norm=100.0, threads=1, anyway=True),
]
LABELS = "it reads labels_ of the rows that were fitted, which are no private release"
EXPECTED = {
    "PrivateKMeans": {"check_clustering": LABELS},
    "PrivateKMedian": {"check_clustering": LABELS},
    "PrivateSubspaceClustering": {"check_clustering": LABELS},
}


def all_checks():
    for estimator in INSTANCES:
        for instance, check in estimator_checks_generator(estimator, mark=None):
            name = check.func.__name__
            extra = ",".join(f"{k}={v}" for k, v in (check.keywords or {}).items())
            reason = EXPECTED.get(type(instance).__name__, {}).get(name)
            marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
            yield pytest.param(instance, check, marks=marks,
                               id=f"{type(instance).__name__}-{name}({extra})")


def test_at_most_two_checks_an_estimator_are_expected_to_fail():
    assert all(len(failures) <= 2 for failures in EXPECTED.values())


@pytest.mark.filterwarnings("ignore::cloister.NotPrivateWarning")
@pytest.mark.parametrize("estimator, check", list(all_checks()))
def test_check(estimator, check):
    check(estimator)
