#!/usr/bin/env python3
"""Elhamifar and Vidal's model with a sparse error, by an ADMM of its own: what `cloister solve ssc
--outliers` is held against.

    python ssc_outlier_oracle.py PATH/TO/cloister --data DIR [--set faces] [--alpha 20]
        [--steps 300] [--exact]

    Y = Y C + E + Z,   min |C|_1 + lambda_e |E|_1 + lambda_z/2 |Z|^2,   diag C = 0,

lambda_e = alpha / (the largest 1-norm of a column), lambda_z = alpha / (the smallest over the
columns of the largest inner product with another), columns as they are.  The affinity is
|C| + |C|' with each column divided by its largest entry, the labels are those of normalised
spectral clustering.  Nothing here is shared with the library: all points step together, and E has
variables of its own.  --exact: no Z, as in the authors' program.

Prints the accuracy of both.
"""
import argparse
import os
import subprocess
import sys
import tempfile

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
import numpy as np
from bench_solvers_real import CLUSTERS, accuracy, load


def weights(columns, alpha):
    products = np.abs(columns.T @ columns)
    np.fill_diagonal(products, 0)
    return alpha / np.abs(columns).sum(0).max(), alpha / products.max(0).min()


def admm(columns, alpha, steps, exact):
    """The coefficients: points x points, column i expresses point i."""
    rows, points = columns.shape
    of_error, of_noise = weights(columns, alpha)
    left, singular, _ = np.linalg.svd(columns, full_matrices=True)
    squares = np.zeros(rows)
    squares[:len(singular)] = singular ** 2
    # (of_noise P'P + alpha I)^-1 by Woodbury, P = [columns, I / of_error]
    inner = (left / (squares + of_error ** -2 + alpha / of_noise)) @ left.T
    code, dual = np.zeros((points + rows, points)), np.zeros((points + rows, points))
    noise = np.zeros((rows, points))
    own = np.arange(points)

    def forward(x):
        return columns @ x[:points] + x[points:] / of_error

    def back(x):
        return np.vstack([columns.T @ x, x / of_error])

    for _ in range(steps):
        side = back(of_noise * columns + noise) + alpha * code - dual
        other = (side - back(inner @ forward(side))) / alpha
        other[own, own] = 0
        moved = other + dual / alpha
        code = np.sign(moved) * np.maximum(np.abs(moved) - 1 / alpha, 0)
        code[own, own] = 0
        dual += alpha * (other - code)
        if exact:
            noise += of_noise * (columns - forward(other))
    return code[:points]


def spectral(code, clusters):
    from sklearn.cluster import KMeans

    size = np.abs(code)
    size = size / np.maximum(size.max(0), 1e-300)
    affinity = size + size.T
    scale = 1 / np.sqrt(np.maximum(affinity.sum(0), 1e-300))
    vectors = np.linalg.eigh(scale[:, None] * affinity * scale)[1][:, -clusters:]
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)
    return KMeans(clusters, n_init=20, random_state=0).fit_predict(vectors)


def ours(cloister, rows, clusters, alpha):
    with tempfile.TemporaryDirectory() as folder:
        data, labels = os.path.join(folder, "rows.npy"), os.path.join(folder, "labels.npy")
        np.save(data, rows)
        subprocess.run([cloister, "solve", "ssc", data, "--clusters", str(clusters), "-q",
                        "--alpha", str(alpha), "--outliers", str(alpha), "--labels", labels],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return np.load(labels).ravel()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cloister")
    parser.add_argument("--data", required=True)
    parser.add_argument("--set", default="faces", choices=CLUSTERS)
    parser.add_argument("--alpha", type=float, default=20)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--exact", action="store_true")
    given = parser.parse_args()
    rows, true = load(given.set, given.data)
    k = CLUSTERS[given.set]
    code = admm(rows.T.copy(), given.alpha, given.steps, given.exact)
    print("%s: the oracle %.3f, %g steps; cloister %.3f" % (
        given.set, accuracy(spectral(code, k), true), given.steps,
        accuracy(ours(given.cloister, rows, k, given.alpha), true)))


if __name__ == "__main__":
    sys.exit(main())
