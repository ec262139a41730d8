#!/bin/sh
# Installs the wheel of build/wheel into a bare Debian without network, and fits there: it brings
# all that it needs.  Needs root (a root of its own is made by debootstrap, in build/bare).
#
# usage: tools/wheel_bare.sh SUITE PYTHON        bookworm 3.11, trixie 3.13, sid 3.14
set -eu
suite=$1
python=$2
here=$(cd "$(dirname "$0")/.." && pwd)
root=$here/build/bare/$suite
pip=$here/build/python/build/bin/pip

if [ ! -e "$root/made" ]; then
    rm -rf "$root"
    mkdir -p "$root"
    debootstrap --variant=minbase --include=python3,python3-venv "$suite" "$root" \
        >"$root.log" 2>&1 || { tail "$root.log"; exit 1; }
    touch "$root/made"
fi
rm -rf "$root/wheels" "$root/environment"
"$pip" download --quiet --disable-pip-version-check --only-binary=:all: --python-version "$python" \
    -d "$root/wheels" 'cffi>=2.1' numpy scipy scikit-learn
cp "$here"/build/wheel/*manylinux*.whl "$root/wheels"
cat >"$root/fit.py" <<'END'
import sys
import numpy as np
import cloister
rows = np.random.default_rng(0).random((10000, 5))
fitted = cloister.PrivateKMeans(3, epsilon=1, bounds=(0, 1)).fit(rows)
assert fitted.privacy_["private"] and fitted.cluster_centers_.shape == (3, 5)
print("fitted with cloister", cloister.__version__, "on Python", sys.version.split()[0])
END
cat >"$root/go.sh" <<'END'
set -eu
export PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/root
unset PIP_FIND_LINKS PIP_INDEX_URL PIP_CONFIG_FILE || true
mount -t proc proc /proc
if dpkg -l | grep -E '^ii +lib(mpfr|openblas|sodium|jansson|popt)'; then
    echo "the root is not bare" >&2
    exit 1
fi
python3 -m venv /environment
/environment/bin/pip install --quiet --no-index --find-links /wheels cloister
/environment/bin/python /fit.py
/environment/bin/cloister version
END
unshare --net --mount chroot "$root" sh /go.sh
