"""What the tests of all kinds of sessions share."""
import cloister
from cloister._table import as_table

BALL = {"epsilon": 1, "norm": 2, "seed": "parts"}
METHODS = {
    "kmeans/tree": {"clusters": 2},
    "kmeans/lloyd": {"clusters": 2, "rounds": 3},
    "kmeans/moments": {"clusters": 2},
    "subspaces/moments": {"clusters": 2, "dim": 1},
    "subspaces/sulq": {"clusters": 2, "dim": 1, "rounds": 2},
    "subspace/gaussian": {"dim": 2},
    "bounds/quantile": {"quantile": 0.9},
}


def alone(method, data, **settings):
    """The release of one process."""
    return cloister.run(method, table=as_table(data), **{**BALL, **settings}).to_json()
