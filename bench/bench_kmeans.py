"""k-means against scikit-learn's KMeans: processor time on one thread at equal loss, same run.

    OMP_NUM_THREADS=1 python bench_kmeans.py PATH/TO/bench_clustering [SHAPE …]

A shape is rows,cols,clusters,noise[,starts[,seeds]], with 10 starts and 1 seed where it does not
say.  With many centres the loss of one run says little: the best of ten starts still varies by a
hundredth, so compare means over seeds.  Both sides:
greedy k-means++, tol 1e-4, 300 steps at most; data in double precision, a Gaussian mixture.  An
OpenBLAS that is older than the processor falls back to its slowest kernels; cloister's is told to
use those that scikit-learn's own uses (OPENBLAS_CORETYPE), unless that is set already.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_info

SHAPES = ["20000,10,8,1.0", "100000,20,16,1.0", "10000,64,64,1.0,10,8", "70000,784,10,2.0,3"]


def environment():
    kernels = [pool["architecture"] for pool in threadpool_info() if pool.get("architecture")]
    return {"OPENBLAS_CORETYPE": kernels[0].upper(), **os.environ} if kernels else os.environ


def mixture(rows, cols, clusters, noise):
    rng = np.random.default_rng(1)
    centers = rng.normal(size=(clusters, cols))
    return centers[rng.integers(clusters, size=rows)] + noise * rng.normal(size=(rows, cols))


def ours(program, path, cols, clusters, starts, bounds, seed):
    out = subprocess.run([program, "kmeans", path, str(cols), "1", str(seed), "-",
                          f"clusters={clusters}",
                          f"restarts={starts}", f"bounds={bounds}"],
                         capture_output=True, text=True, check=True, env=environment()).stdout
    result = json.loads(out)
    return result["cpu_s"], result["cost"]


def theirs(data, clusters, starts, algorithm, seed):
    model = KMeans(clusters, n_init=starts, algorithm=algorithm, random_state=seed)
    start = time.process_time()
    model.fit(data)
    return time.process_time() - start, model.inertia_ / len(data)


def over_seeds(measure, seeds):
    """Mean seconds, and the mean cost with its standard error."""
    seconds, costs = zip(*[measure(seed) for seed in range(1, seeds + 1)])
    shown = f"{np.mean(costs):.8g}"
    if seeds > 1:
        shown += f" ± {np.std(costs, ddof=1) / np.sqrt(seeds):.2g}"
    return np.mean(seconds), shown


def main():
    program = sys.argv[1]
    for shape in sys.argv[2:] or SHAPES:
        given = shape.split(",")
        rows, cols, clusters, noise, starts, seeds = given + ["10", "1"][len(given) - 4:]
        cols, clusters, starts, seeds = int(cols), int(clusters), int(starts), int(seeds)
        data = mixture(int(rows), cols, clusters, float(noise))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "data")
            data.tofile(path)
            times = {}
            for bounds in ("auto", "lloyd", "hamerly", "elkan"):
                times[bounds], cost = over_seeds(
                    lambda seed: ours(program, path, cols, clusters, starts, bounds, seed), seeds)
                print(f"{shape}: cloister {bounds}: {times[bounds]:.3f} s, cost {cost}", flush=True)
            for algorithm in ("lloyd", "elkan"):
                seconds, cost = over_seeds(
                    lambda seed: theirs(data, clusters, starts, algorithm, seed), seeds)
                print(f"{shape}: scikit-learn {algorithm}: {seconds:.3f} s, cost {cost}; "
                      f"{seconds / times['auto']:.2f} x auto, "
                      f"{seconds / times[algorithm]:.2f} x {algorithm}", flush=True)


if __name__ == "__main__":
    main()
