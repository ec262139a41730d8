#!/bin/sh
# Which lines of src/ and cli/ the tests reach: a table on the terminal, pages in build/coverage.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build/coverage
[ -f build/cov/build.ninja ] ||
    meson setup build/cov . -Db_coverage=true -Dfault_injection=true -Doptimization=0 >build/cov.log
meson setup --reconfigure build/cov . >build/cov.log
ninja -C build/cov --quiet
meson test -C build/cov --suite unit --suite golden --suite fault --suite fuzz --suite cli --quiet
gcovr --root . --object-directory build/cov --filter 'src/' --filter 'cli/' \
    --exclude-unreachable-branches --html-details build/coverage/index.html --txt
