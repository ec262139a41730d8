#!/bin/sh
# Installs what is missing, and says nothing where nothing is.
#
# usage: tools/deps.sh GROUP...      groups of tools/packages-{apt,pip,npm}.txt: build test …
#
# Debian packages go into the system (through sudo where we are not root), Python packages into
# build/venv, npm packages into build/node_modules: nothing of the user's own is touched.
#
# A list is words without blanks, one a line, so unquoted expansions of it are meant:
# shellcheck disable=SC2086
set -eu
tools=$(dirname "$0")
build=$tools/../build

# The names in the sections of these groups.
listed() { # file group...
    file=$1
    shift
    for group in "$@"; do
        sed -n "/^\[$group\]/,/^\[/{/^[^#[]/p}" "$file"
    done
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        echo "deps: to install packages, run this as root or install sudo: $*" >&2
        exit 1
    fi
}

apt_part() {
    wanted=$(listed "$tools/packages-apt.txt" "$@")
    if ! command -v apt-get >/dev/null; then
        echo "deps: this system has no apt-get; its own packages must give:" $wanted >&2
        return
    fi
    missing=
    for package in $wanted; do
        state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
        # A Node.js from elsewhere brings its own npm, and Debian's does not go with it.
        [ "$package" = npm ] && command -v npm >/dev/null && continue
        [ "$state" = installed ] || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    echo "deps: installing$missing" >&2
    # A new machine may still be at its own updates: five minutes are enough for those.
    waits=DPkg::Lock::Timeout=300
    as_root apt-get update -qq -o $waits
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq -o $waits -o Dpkg::Use-Pty=0 --no-install-recommends $missing >&2
}

# A stamp beside the environment says which list it was made from.
pip_part() {
    wanted=$(listed "$tools/packages-pip.txt" "$@")
    [ -n "$wanted" ] || return 0
    stamp=$build/venv/packages
    [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && return 0
    echo "deps: installing into build/venv:" $wanted >&2
    mkdir -p "$build"
    [ -x "$build/venv/bin/pip" ] || python3 -m venv "$build/venv"
    "$build/venv/bin/pip" install --quiet --disable-pip-version-check $wanted >&2
    printf '%s\n' "$wanted" >"$stamp"
}

npm_part() {
    wanted=$(listed "$tools/packages-npm.txt" "$@")
    [ -n "$wanted" ] || return 0
    stamp=$build/node_modules/.packages
    [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && return 0
    echo "deps: installing into build/node_modules:" $wanted >&2
    mkdir -p "$build"
    npm install --silent --no-save --prefix "$build" $wanted >&2
    printf '%s\n' "$wanted" >"$stamp"
}

[ $# -gt 0 ] || { echo "usage: tools/deps.sh GROUP..." >&2; exit 2; }
apt_part "$@"
pip_part "$@"
npm_part "$@"
