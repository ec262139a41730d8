"""A server of Spark Connect that takes only small messages."""
import pytest
from block_methods import BLOCKS
from sessions import session

import cloister
from cloister import distributed

ROWS = 300_000  # whose homes are 600 kB
LIMIT = {"spark.connect.grpc.maxInboundMessageSize": str(512 << 10)}


def test_blocks_that_no_message_can_carry_cost_nothing(tmp_path):
    ledger = tmp_path / "study.ledger"
    cloister.Ledger(ledger, create=True).declare("visits", epsilon=60, delta=1e-2)
    with session(tmp_path, "local[2]", remote=True, **LIMIT) as made:
        many, few = (made.range(count).selectExpr("rand(1) as a", "rand(2) as b")
                     for count in (ROWS, 1000))
        paid = {"norm": 2, "epsilon": 50, "delta": 1e-3, "ledger": ledger, "dataset": "visits"}
        with pytest.raises(cloister.UnsupportedError, match="maxInboundMessageSize"):
            distributed.run("kmeans/aggregate", many, **BLOCKS["kmeans/aggregate"], **paid)
        assert not cloister.Ledger(ledger).history()
        distributed.run("kmeans/aggregate", few, **BLOCKS["kmeans/aggregate"], **paid)
        assert len(cloister.Ledger(ledger).history()) == 1
