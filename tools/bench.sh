#!/bin/sh
# Builds and runs the programs in bench/ one after the other.  bench_NAME.c measures this library
# alone; where there is a bench_NAME.py, that drives it, and measures peers beside it.
#
# usage: tools/bench.sh BUILD_FOLDER PYTHON [NAME]...
set -eu
usage='usage: tools/bench.sh BUILD_FOLDER PYTHON [NAME]...'
build=${1:?$usage}
python=${2:?$usage}
shift 2
cd "$(dirname "$0")/.."

[ $# -gt 0 ] || set -- bench/bench_*.c
for source in "$@"; do
    name=$(basename "$source" .c)
    name=bench_${name#bench_}
    ninja -C "$build" --quiet "bench/$name"
    echo "== $name"
    if [ -f "bench/$name.py" ]; then
        "$python" "bench/$name.py" "$build/bench/$name"
    else
        "$build/bench/$name"
    fi
done
