#!/bin/sh
# Makes a Debian 13 in build/chroot/trixie, unpacks there what is committed, and runs `make demo`
# and `make test` in it.  Needs root, debootstrap and a network.
#
# usage: tools/trixie.sh [SUITE...]       unit golden …; none: all
#
# The Debian comes from where this machine has its own packages.  What was built there is kept, and
# where ccache is installed in it by hand, a second run is quick.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
root=$here/build/chroot/trixie
mirror=$(apt-get indextargets --format "\$(REPO_URI)" 'Created-By: Packages' 'Origin: Debian' \
    'Label: Debian' 2>/dev/null | head -n 1 || true)

if [ ! -e "$root/made" ]; then
    rm -rf "$root"
    mkdir -p "$root"
    debootstrap --variant=minbase --include=make,ca-certificates trixie "$root" \
        ${mirror:+"$mirror"} >"$root.log" 2>&1 || { tail "$root.log"; exit 1; }
    touch "$root/made"
fi
# Only what has changed, so that little is built again; files that went, go there, too.
rm -rf "$root/unpacked"
mkdir -p "$root/cloister" "$root/unpacked"
git -C "$here" archive HEAD | tar -x -C "$root/unpacked"
find "$root/cloister" -path "$root/cloister/build" -prune -o ! -type d -printf '%P\n' |
    while read -r file; do
        [ -e "$root/unpacked/$file" ] || [ -L "$root/unpacked/$file" ] || rm "$root/cloister/$file"
    done
(cd "$root/unpacked" && find . ! -type d) | while read -r file; do
    cmp -s "$root/unpacked/$file" "$root/cloister/$file" && continue
    mkdir -p "$(dirname "$root/cloister/$file")"
    cp -P --preserve=mode "$root/unpacked/$file" "$root/cloister/$file"
done
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
# A machine behind a proxy trusts what a new Debian does not know.
trusted=/etc/ssl/certs/ca-certificates.crt
if [ -f $trusted ]; then cp $trusted "$root/etc/ssl/certs/of-the-host.crt"; else trusted=; fi
cat >"$root/go.sh" <<'END'
set -eu
mount -t proc proc /proc
cd /cloister
make deps
make demo
make test SUITES="$*"
END
# Settings of this machine's pip name folders that are not there.
unshare --mount --pid --fork \
    sh -c "mount --rbind /dev '$root/dev' && mount --rbind /sys '$root/sys' && exec \"\$@\"" go \
    env -i PATH=/usr/lib/ccache:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    ${trusted:+PIP_CERT=/etc/ssl/certs/of-the-host.crt} chroot "$root" sh /go.sh "$@"
