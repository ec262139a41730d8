"""Parquet that is not held: the peak of a process that runs kmeans/lloyd on a file with `memory`.

    python bench_parquet.py [--rows N] [--folder FOLDER] [-o FILE.json]   run where cloister is

N x 16 doubles in row groups of 2^20 rows, not compressed.  The peak (maximum resident set) is that
of a process of its own; before the run it has imported cloister, NumPy and pyarrow.  Needs pyarrow.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import record

COLS, GROUP, CLUSTERS, MEMORY = 16, 1 << 20, 8, "1G"
CHILD = """
import json, resource, sys, warnings
import pyarrow.parquet
import cloister
warnings.simplefilter("ignore")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
cloister.run("kmeans/lloyd", sys.argv[1], clusters=int(sys.argv[2]), rounds=2, norm=1, epsilon=1,
             memory=sys.argv[3])
after = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([before / 1024, after.ru_maxrss / 1024, after.ru_utime + after.ru_stime]))
"""


def make(path, rows):
    import numpy as np
    import pyarrow
    import pyarrow.parquet

    random = np.random.default_rng(7)
    centres = random.normal(size=(CLUSTERS, COLS))
    centres *= 0.6 / np.linalg.norm(centres, axis=1, keepdims=True)
    names = [f"x{column}" for column in range(COLS)]
    schema = pyarrow.schema([(name, pyarrow.float64()) for name in names])
    with pyarrow.parquet.ParquetWriter(path, schema, compression="none",
                                       use_dictionary=False) as out:
        for first in range(0, rows, GROUP):
            count = min(GROUP, rows - first)
            some = centres[random.integers(CLUSTERS, size=count)]
            some += 0.08 * random.normal(size=some.shape)
            out.write_table(pyarrow.table(list(some.T.copy()), schema=schema), row_group_size=GROUP)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=8_000_000)
    parser.add_argument("--folder", default=tempfile.gettempdir())
    parser.add_argument("--make", help=argparse.SUPPRESS)
    parser.add_argument("-o", metavar="FILE.json")
    asked = parser.parse_args()
    if asked.make:
        make(asked.make, asked.rows)
        return
    path = Path(asked.folder) / f"bench-{os.getpid()}.parquet"
    try:  # in a process of its own: what this one has held counts for the peak of its children
        subprocess.run([sys.executable, __file__, "--make", path, "--rows", str(asked.rows)],
                       check=True)
        said = subprocess.run([sys.executable, "-c", CHILD, path, str(CLUSTERS), MEMORY],
                              check=True, capture_output=True, text=True).stdout
        size = path.stat().st_size
    finally:
        path.unlink(missing_ok=True)
    before, peak, seconds = json.loads(said.splitlines()[-1])
    found = {"rows": asked.rows, "cols": COLS, "memory": MEMORY, "row_group": GROUP,
             "file_gib": round(size / 2**30, 2), "before_mib": round(before),
             "peak_mib": round(peak), "cpu_s": round(seconds, 1)}
    print(found)
    record.write(asked.o, found, **record.versions("cloister", "numpy", "pyarrow"))


if __name__ == "__main__":
    main()
