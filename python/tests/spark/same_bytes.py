"""What the tests of all kinds of sessions share."""
from block_methods import BALL, BLOCKS, LOUD

import cloister
from cloister import distributed
from cloister._table import as_table

METHODS = {
    "kmeans/lloyd": {"clusters": 2, "rounds": 3},
    "kmeans/highdim": {"clusters": 2},
    "subspaces/moments": {"clusters": 2, "dim": 1},
    "subspaces/sulq": {"clusters": 2, "dim": 1, "rounds": 2},
    "subspace/gaussian": {"dim": 2},
    "bounds/quantile": {"quantile": 0.9},
}


def alone(method, data, **settings):
    """The release of one process."""
    return cloister.run(method, table=as_table(data), **{**BALL, **settings}).to_json()


def check_blocks(method, people):
    """Of blocks the order of rows counts: it is that of the partitions."""
    settings = {**LOUD, **BLOCKS[method]}
    made = distributed.run(method, people, **settings).to_json()
    assert made == alone(method, people.toArrow(), **settings)


PERSONS = {"clusters": 2, "unit": "who", "rows_per_unit": 4}


def by_person(people):
    """The same rows with a person each, who may have rows in every partition: a data frame."""
    return people.selectExpr("concat('p', cast(abs(a * 1e6) as bigint) % 97) as who", "a", "b", "c")


def check_persons(people, ledger):
    """Partitions by person give the bytes of one process; others are refused for nothing."""
    import pytest

    visits = by_person(people)
    table = as_table(visits.toArrow(), unit="who")
    expected = cloister.run("kmeans/lloyd", table=table, **BALL, **PERSONS).to_json()
    for apart in (visits.repartition(6, "who"), visits.coalesce(1)):
        assert distributed.run("kmeans/lloyd", apart, **BALL, **PERSONS).to_json() == expected
    with pytest.raises(cloister.DomainError, match="rows in two parts"):
        distributed.run("kmeans/lloyd", visits.repartition(3), epsilon=1, norm=2, ledger=ledger,
                        dataset="visits", **PERSONS)
    assert not cloister.Ledger(ledger).history()
