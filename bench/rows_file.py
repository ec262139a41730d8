"""A file of rows about a few centres, as large as one likes, for what measures passes over it."""
import numpy as np

PIECE = 500_000


def make_rows(path, rows, cols, clusters):
    random = np.random.default_rng(7)
    centres = random.normal(size=(clusters, cols))
    centres *= 0.6 / np.linalg.norm(centres, axis=1, keepdims=True)
    with open(path, "wb") as out:
        np.lib.format.write_array_header_1_0(
            out, {"descr": "<f8", "fortran_order": False, "shape": (rows, cols)})
        for first in range(0, rows, PIECE):
            count = min(PIECE, rows - first)
            noise = random.standard_normal((count, cols), dtype=np.float32)
            piece = centres[random.integers(0, clusters, count)] + 0.08 * noise
            piece.astype("<f8").tofile(out)
