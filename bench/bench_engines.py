#!/usr/bin/env python3
"""Private k-means of ours beside the engines' own, which are not private, on the same rows.

    python bench_engines.py PATH/TO/cloister [--rows N] [--cols D] [--clusters K] [--epsilon E]
                            [--folder DIR] [--keep] [--only NAME ...] [--spark-memory 3g]
                            [--spark-master local[2]] [-o FILE.json]

Makes N x D records of K clusters in the folder as Parquet (row groups of 500,000) and as NPY
(removed afterwards, unless --keep), and finds K centres with each of:

    cloister, 2 threads   the command on the NPY file, auto, --memory 1G
    cloister, 2 ranks     the same with mpirun, a thread each
    cloister on Spark     PrivateKMeans on a data frame of local[2], or of --spark-master:
                          "local-cluster[2,1,2048]" has two workers that are processes
    Spark MLlib           pyspark.ml.clustering.KMeans at its presets (k-means||, 20 steps) on it
    cloister on Dask      PrivateKMeans on a Dask array, two worker processes
    dask-ml               dask_ml.cluster.KMeans at its presets on it

Each is a process of its own.  Shown are seconds by the clock, start and end included; CPU seconds
of the process and all that it has waited for, and the peak of the largest of these (Spark's Java is
not among them); and the loss: the mean squared distance of all rows to the nearest centre, over
that of the centres that made the data.  Both engines read the
files anew as often as they like: nothing is cached but what they cache themselves.

Needs numpy and pyarrow; pyspark, dask, distributed and dask-ml where they are asked for (the
environment that `make spark` leaves in build/python/spark, and `pip install dask-ml` into it).
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import record

PIECE = 500_000


def made_centres(cols, clusters):
    import numpy as np

    centres = np.random.default_rng(7).normal(size=(clusters, cols))
    return centres * (0.6 / np.linalg.norm(centres, axis=1, keepdims=True))


def pieces(rows, cols, clusters):
    import numpy as np

    random, centres = np.random.default_rng(8), made_centres(cols, clusters)
    for first in range(0, rows, PIECE):
        count = min(PIECE, rows - first)
        noise = random.standard_normal((count, cols), dtype=np.float32)
        yield centres[random.integers(0, clusters, count)] + 0.08 * noise


def make(options):
    import numpy as np
    import pyarrow
    import pyarrow.parquet

    names = [f"x{j}" for j in range(options.cols)]
    schema = pyarrow.schema([(name, pyarrow.float64()) for name in names])
    with open(options.npy, "wb") as out, \
            pyarrow.parquet.ParquetWriter(options.parquet, schema, compression="none") as parquet:
        np.lib.format.write_array_header_1_0(
            out, {"descr": "<f8", "fortran_order": False, "shape": (options.rows, options.cols)})
        for piece in pieces(options.rows, options.cols, options.clusters):
            piece.astype("<f8").tofile(out)
            parquet.write_table(pyarrow.table(dict(zip(names, piece.T)), schema=schema))


def loss(options, centres):
    """Of all rows, over that of the centres that they were made around."""
    import numpy as np

    rows = np.load(options.npy, mmap_mode="r")
    totals = []
    for found in (np.asarray(centres), made_centres(options.cols, options.clusters)):
        total = 0.0
        for first in range(0, len(rows), PIECE):
            x = np.asarray(rows[first:first + PIECE])
            near = (x * x).sum(1)[:, None] - 2 * x @ found.T + (found * found).sum(1)
            total += near.min(1).sum()
        totals.append(total)
    return totals[0] / totals[1]


# ---- each prints its centres as JSON on its last line -------------------------------------------

SETTINGS = "epsilon={epsilon}, norm=1.5, relation='add-remove', ledger=None, random_state=1"
SPARK = """
from pyspark.sql import SparkSession
spark = (SparkSession.builder.master({spark_master!r})
         .config("spark.driver.memory", {spark_memory!r})
         .config("spark.ui.enabled", "false").getOrCreate())
frame = spark.read.parquet({parquet!r})
"""
DASK = """
import dask
import dask.array as da
from distributed import Client
import numpy as np

def read(first, count):  # by a worker, whenever it is wanted
    return np.array(np.load({npy!r}, mmap_mode="r")[first:first + count])

def made():
    pieces = [(first, min({piece}, {rows} - first)) for first in range(0, {rows}, {piece})]
    return da.concatenate([da.from_delayed(dask.delayed(read)(first, count), (count, {cols}), float)
                           for first, count in pieces])
"""
CODE = {
    "Spark MLlib": SPARK + """
from pyspark.ml.clustering import KMeans
from pyspark.ml.feature import VectorAssembler
rows = VectorAssembler(inputCols=frame.columns, outputCol="features").transform(frame)
found = KMeans(k={clusters}, seed=1).fit(rows).clusterCenters()
print(json.dumps([list(map(float, c)) for c in found]))
""",
    "cloister on Spark": SPARK + """
import cloister
found = cloister.PrivateKMeans({clusters}, """ + SETTINGS + """).fit(frame)
print(json.dumps(found.cluster_centers_.tolist()))
""",
    "dask-ml": DASK + """
from dask_ml.cluster import KMeans
if __name__ == "__main__":
    client = Client(n_workers=2, threads_per_worker=1, dashboard_address=None)
    found = KMeans({clusters}, random_state=1).fit(made())
    print(json.dumps(found.cluster_centers_.tolist()))
""",
    "cloister on Dask": DASK + """
import cloister
if __name__ == "__main__":
    client = Client(n_workers=2, threads_per_worker=1, dashboard_address=None)
    found = cloister.PrivateKMeans({clusters}, """ + SETTINGS + """).fit(made())
    print(json.dumps(found.cluster_centers_.tolist()))
""",
}


def command(options, threads, *before):
    return [*before, options.cloister, "run", "kmeans", options.npy, "--clusters",
            str(options.clusters), "--epsilon", str(options.epsilon), "--norm", "1.5",
            "--relation", "add-remove", "--memory", "1G", "--threads", str(threads), "--no-ledger",
            "--seed", "1", "--json", "--quiet"]


def ways(options, folder):
    """What to call, and how to read its centres."""
    yield ("cloister, 2 threads", command(options, 2),
           lambda text: json.loads(text)["values"]["centers"])
    yield ("cloister, 2 ranks", command(options, 1, "mpirun", "--allow-run-as-root", "-n", "2"),
           lambda text: json.loads(text)["values"]["centers"])
    for name, code in CODE.items():
        path = folder / (name.replace(" ", "_") + ".py")
        path.write_text("import json\n" + code.format(
            parquet=str(options.parquet), npy=str(options.npy), rows=options.rows,
            cols=options.cols, piece=PIECE, clusters=options.clusters, epsilon=options.epsilon,
            spark_memory=options.spark_memory, spark_master=options.spark_master))
        yield name, [sys.executable, path], lambda text: json.loads(text.splitlines()[-1])


def measured(words):
    """What it prints, seconds by the clock, CPU seconds of all that it starts, its peak in MiB."""
    meter = ("import json, resource, subprocess, sys; "
             "d = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.PIPE); "
             "u = resource.getrusage(resource.RUSAGE_CHILDREN); "
             "sys.stdout.buffer.write(d.stdout); "
             "sys.stderr.buffer.write(d.stderr[-3000:] if d.returncode else b''); "
             "print('\\n' + json.dumps([u.ru_utime + u.ru_stime, u.ru_maxrss / 1024])); "
             "sys.exit(d.returncode)")
    begin = time.monotonic()
    ended = subprocess.run([sys.executable, "-c", meter, *map(str, words)],
                           stdout=subprocess.PIPE, check=False)
    seconds = time.monotonic() - begin
    text, _, used = ended.stdout.decode().strip().rpartition("\n")
    cpu, peak = json.loads(used)
    return ended.returncode, text, seconds, cpu, peak


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cloister")
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=5_000_000)
    parser.add_argument("--cols", type=int, default=16)
    parser.add_argument("--clusters", type=int, default=8)
    parser.add_argument("--epsilon", type=float, default=1)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--only", nargs="+", default=[""], help="names, or beginnings of them")
    parser.add_argument("--spark-memory", default="3g", help="of Spark's Java, which keeps rows")
    parser.add_argument("--spark-master", default="local[2]")
    parser.add_argument("-o", metavar="FILE.json")
    options = parser.parse_args()
    stem = options.folder / f"engines-{options.rows}x{options.cols}x{options.clusters}"
    options.npy, options.parquet = Path(f"{stem}.npy"), Path(f"{stem}.parquet")
    os.environ.update(OMP_WAIT_POLICY="passive", OMPI_ALLOW_RUN_AS_ROOT="1",
                      OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", PYSPARK_PYTHON=sys.executable)
    found = {"rows": options.rows, "cols": options.cols, "clusters": options.clusters,
             "epsilon": options.epsilon, "gigabytes": options.rows * options.cols * 8 / 1e9,
             "ways": {}}
    try:
        if not options.npy.exists() or not options.parquet.exists():
            make(options)
        print(f"{options.rows} x {options.cols}, {options.clusters} clusters, epsilon "
              f"{options.epsilon:g} where private; {os.cpu_count()} cores", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            for name, words, centres in ways(options, Path(folder)):
                if not name.startswith(tuple(options.only)):
                    continue
                code, text, seconds, cpu, peak = measured(words)
                excess = None if code else loss(options, centres(text))
                result = "failed" if code else f"loss {excess:.4f}"
                print(f"{name:20} {seconds:8.1f} s  {cpu:8.1f} CPU s  {peak:7.0f} MiB  {result}",
                      flush=True)
                found["ways"][name] = {"seconds": round(seconds, 1), "cpu_s": round(cpu, 1),
                                       "peak_mib": round(peak), "loss": excess}
        record.write(options.o, found, **record.versions(
            "pyspark", "dask", "dask-ml", "numpy", "pyarrow", cloister=options.cloister))
    finally:
        if not options.keep:
            options.npy.unlink(missing_ok=True)
            options.parquet.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
