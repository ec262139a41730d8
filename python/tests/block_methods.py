"""Methods that ask in blocks, with a budget that lets something be found; and their rows."""
import numpy as np

BALL = {"epsilon": 1, "norm": 2, "seed": "parts"}
LOUD = {**BALL, "epsilon": 50, "delta": 1e-3}
BLOCKS = {
    "kmeans/aggregate": {"clusters": 2, "blocks": 20, "accept": "idealized"},
    "subspaces/aggregate": {"clusters": 1, "dim": 1, "blocks": 15, "accept": "idealized"},
    "subspace/approx": {"dim": 1, "gamma": 0.05, "blocks": 50},
    "subspace/boosted": {"dim": 1, "gamma": 0.05, "blocks": 20, "parts": 3},
}


def cells(rows):
    """Of each row, its bytes on the grid of 20 bits that blocks are read on."""
    return [row.tobytes() for row in np.trunc(rows / BALL["norm"] * (1 << 20)).astype(np.int32)]
