#!/bin/sh
# Runs every libFuzzer target for a while, starting from its corpus.  What it finds lands in
# build/fuzz/found/NAME: a crash is a fault to fix, and its input a file for tests/fuzz/corpus/NAME.
#
# usage: tools/fuzz.sh SECONDS [TARGET]...
set -eu
seconds=${1:?usage: tools/fuzz.sh SECONDS [TARGET]...}
shift
cd "$(dirname "$0")/.."
mkdir -p build

# The library itself must be instrumented, or the fuzzer is blind inside it.
[ -f build/fuzz/build.ninja ] || CC=clang meson setup build/fuzz . -Dfuzz=true \
    -Db_sanitize=address,undefined -Db_lundef=false \
    -Dc_args=-fsanitize=fuzzer-no-link >build/fuzz.log
meson setup --reconfigure build/fuzz . >build/fuzz.log
ninja -C build/fuzz --quiet

[ $# -gt 0 ] || set -- tests/fuzz/fuzz_*.c
for target in "$@"; do
    name=$(basename "$target" .c)
    name=${name#fuzz_}
    found=build/fuzz/found/$name
    mkdir -p "$found" "build/fuzz/corpus/$name"
    echo "fuzz: $name, $seconds seconds"
    build/fuzz/tests/fuzz/fuzz_"$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
        -print_final_stats=1 -artifact_prefix="$found/" \
        "build/fuzz/corpus/$name" "tests/fuzz/corpus/$name" 2>"build/fuzz/$name.log" || {
        tail -40 "build/fuzz/$name.log"
        echo "fuzz: $name found something; see $found"
        exit 1
    }
    grep -E 'number_of_executed_units|new_units_added' "build/fuzz/$name.log"
done
