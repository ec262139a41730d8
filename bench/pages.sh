#!/bin/sh
# Measures all that README.md and docs/ state, into bench/results, and fills the pages from it.
#
# usage: bench/pages.sh BUILD_FOLDER PYTHON [DATA_FOLDER]
#
# The tree coreset, which cloister had up to 0.1, stays as it was measured then.
# PYTHON has what tools/packages-pip.txt lists for [bench].  DATA_FOLDER has MNIST as its .gz files;
# without it the rows of MNIST stay as they are.  What needs the Python package is measured where
# there is a wheel (make wheel), in an environment of its own.  It takes about half an hour.  With
# ENGINES=1 and what `make spark` leaves (and dask-ml in it) k-means of the engines is measured as
# well, on 50,000,000 rows: half an hour more, 14 GB of disk, and 16 GB of memory.
set -eu
usage='usage: bench/pages.sh BUILD_FOLDER PYTHON [DATA_FOLDER]'
build=${1:?$usage}
python=${2:?$usage}
data=${3:-}
cd "$(dirname "$0")/.."
cloister=$build/cli/cloister
results=bench/results

ninja -C "$build" --quiet bench/bench_lloyd bench/bench_read bench/bench_samplers bench/bench_ledger

# Seeds on which nothing was ever chosen.  With many columns a run takes a minute: fewer of them.
centers() {
    "$python" bench/bench_centers.py "$cloister" "$@" -o $results/centers.json
}
centers --data gaussians10 gaussians3 --peer diffprivlib --seeds 3000 3009
centers --data gaussians10 --delta 0 --seeds 3000 3009
centers --data gaussians100 --clusters 64 --restarts 4 --peer diffprivlib --seeds 3000 3002
if [ -n "$data" ]; then
    centers --data mnist --mnist "$data" --mnist-norm 10 --restarts 2 --peer diffprivlib \
        --seeds 3000 3002
fi
"$python" bench/bench_places.py "$cloister"
"$python" bench/bench_peers.py "$cloister" --runs 3 -o $results/peers.json --page bench/PEERS.md
"$python" bench/bench_bingham_peers.py --draws 500 -o $results/bingham_peers.json \
    --page bench/BINGHAM.md
"$python" bench/bench_lloyd.py "$build/bench/bench_lloyd" -o $results/lloyd.json
"$python" bench/bench_solvers.py "$cloister" --parts peers -o $results/solvers.json
"$python" bench/bench_read.py "$build/bench/bench_read" -o $results/read.json
"$python" bench/bench_samplers.py "$build/bench/bench_samplers" -o $results/samplers.json
"$python" bench/bench_ledger.py "$build/bench/bench_ledger" -o $results/ledger.json

wheel=$(find build/wheel -name '*.whl' 2>/dev/null | head -n 1)
if [ -n "$wheel" ]; then
    [ -d build/python/bench ] || python3 -m venv build/python/bench
    build/python/bench/bin/pip install --quiet "$wheel" pyarrow
    build/python/bench/bin/pip install --quiet --force-reinstall --no-deps "$wheel"
    build/python/bench/bin/python3 bench/bench_python.py -o $results/python.json
    build/python/bench/bin/python3 bench/bench_parquet.py -o $results/parquet.json
else
    echo "bench/pages.sh: no wheel in build/wheel: what Python takes stays as it is" >&2
fi
if [ -n "${ENGINES:-}" ]; then
    build/python/spark/bin/python bench/bench_engines.py "$cloister" --rows 5e7 --folder build \
        --spark-memory 12g -o $results/engines.json
fi
tools/pictures.py
tools/measured.py
