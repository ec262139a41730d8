#!/usr/bin/env python3
"""Makes what a release consists of, in build/dist: source archive, wheel and checksums.

Both are made of the commit that is checked out, in a clone of its own; what is not committed is
left out.  They are made twice, in folders of other names, and must be the same to the byte: then
anybody can check that a published file was made from this source.

usage: tools/dist.py [--once]     --once: without the second time
"""
import gzip
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "build" / "dist"


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], stdout=subprocess.PIPE, check=True).stdout


def version():
    return (subprocess.run(["meson", "introspect", "--projectinfo", ROOT / "meson.build"],
                           stdout=subprocess.PIPE, text=True, check=True)
            .stdout.split('"version": "')[1].split('"')[0])


def source_archive(into, name):
    packed = git("archive", "--format=tar", f"--prefix={name}/", "HEAD")
    path = into / f"{name}.tar.gz"
    path.write_bytes(gzip.compress(packed, mtime=0))
    return path


def wheel(into, folder):
    """Built in a clone below the given folder, at the time of the commit."""
    clone = folder / "cloister"
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, clone], check=True)
    moment = git("log", "-1", "--format=%ct").decode().strip()
    subprocess.run([clone / "tools" / "wheel.py", "--repair"], check=True,
                   env={**os.environ, "SOURCE_DATE_EPOCH": moment}, stdout=subprocess.DEVNULL)
    made = next((clone / "build" / "wheel").glob("*.whl"))
    return Path(shutil.copy(made, into))


def make(into, folder):
    """Source archive and wheel in the folder `into`: {name: SHA-256}."""
    for path in (into, folder):
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
    made = [source_archive(into, f"cloister-{version()}"), wheel(into, folder)]
    shutil.rmtree(folder)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in made}


def main():
    sums = make(DIST, ROOT / "build" / "dist-work")
    if "--once" not in sys.argv[1:]:
        again = make(ROOT / "build" / "dist-again", ROOT / "build" / "dist-other-work" / "deeper")
        if again != sums:
            different = ", ".join(name for name in sums if again.get(name) != sums[name])
            sys.exit(f"dist: made a second time, these are other bytes: {different}")
    lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items()))
    (DIST / "SHA256SUMS").write_text(lines, encoding="utf-8")
    print(lines, end="")


if __name__ == "__main__":
    main()
