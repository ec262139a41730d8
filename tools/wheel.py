#!/usr/bin/env python3
"""Builds the Python wheel in an environment of its own (build/python/build), into build/wheel.

With --repair the libraries that it needs are put beside it (auditwheel), GMP and MPFR as shared
ones that can be replaced, and so are their licences: then it runs where none of them is installed.

usage: tools/wheel.py [--repair]
"""
import base64
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / "build" / "python"
WHEELS = ROOT / "build" / "wheel"


def packages(groups):
    """The names in sections of tools/packages-pip.txt, "one" or "one and another"."""
    found, inside = [], False
    for line in (ROOT / "tools" / "packages-pip.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            inside = line.strip("[] ") in groups.split(" and ")
        elif inside and line.strip() and not line.startswith("#"):
            found.append(line.strip())
    return found


def is_current(name, group):
    """Whether an environment is there with all packages of the group."""
    stamp = HOME / name / "packages"
    return stamp.exists() and stamp.read_text(encoding="utf-8").split("\n") == packages(group)


def environment(name, group):
    """A virtual environment with the packages of the group; a stamp says which they are."""
    folder, wanted = HOME / name, packages(group)
    HOME.mkdir(parents=True, exist_ok=True)
    with open(HOME / f"{name}.lock", "w", encoding="utf-8") as lock:  # of tests at the same time
        fcntl.flock(lock, fcntl.LOCK_EX)
        if is_current(name, group):
            return folder
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        # What is imported is compiled then; most of what comes along never is.
        subprocess.run([folder / "bin" / "pip", "install", "--quiet", "--no-compile",
                        "--disable-pip-version-check", *wanted], check=True)
        (folder / "packages").write_text("\n".join(wanted), encoding="utf-8")
    return folder


def tool_environment(folder):
    return {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}


def build(into):
    """The wheel as it comes out of the compiler, for this machine; all that is in the folder."""
    folder = environment("build", "python-build")
    shutil.rmtree(into, ignore_errors=True)
    subprocess.run([folder / "bin" / "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation",
                    "--disable-pip-version-check", "-w", into, ROOT,
                    f"-Cbuild-dir={HOME / 'release'}"], env=tool_environment(folder), check=True)
    return next(into.glob("*.whl"))


# ---- what comes with it -----------------------------------------------------------------------

def licence_of(library):
    """The package that a bundled library is from, and what it says of its licence."""
    stem = re.sub(r"-[0-9a-f]{8}(?=[.-])", "", library)
    for place in ("/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu",
                  "/usr/lib/x86_64-linux-gnu/openblas-openmp", "/usr/lib"):
        said = subprocess.run(["dpkg", "-S", f"{place}/*{stem.split('.so')[0].split('-')[0]}*.so*"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              check=False).stdout
        for line in said.splitlines():
            package = line.split(":")[0]
            text = Path("/usr/share/doc") / package / "copyright"
            if text.exists() and not package.endswith("-dev"):
                return package, text
    sys.exit(f"wheel: no licence is known of {library}")


def dated(name):
    """An entry of a wheel, as old as SOURCE_DATE_EPOCH says: so two builds are equal."""
    moment = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))
    entry = zipfile.ZipInfo(name, moment[:6])
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


def add_licences(wheel):
    """Puts the licence texts of all that is bundled into the wheel, and into its record."""
    with zipfile.ZipFile(wheel) as old:
        bundled = [Path(name).name for name in old.namelist() if ".libs/" in name and ".so" in name]
        record = next(name for name in old.namelist() if name.endswith(".dist-info/RECORD"))
    texts = dict(licence_of(library) for library in bundled)
    folder = record.removesuffix("RECORD") + "licenses/"
    lines = []
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(f"{wheel}.new", "w",
                                                        zipfile.ZIP_DEFLATED) as new:
        for item in old.infolist():
            if item.filename != record:
                new.writestr(item, old.read(item))
        for package, text in sorted(texts.items()):
            data = text.read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            new.writestr(dated(f"{folder}{package}.txt"), data)
            lines.append(f"{folder}{package}.txt,sha256={digest},{len(data)}")
        kept = old.read(record).decode().splitlines()
        new.writestr(dated(record), "\n".join([*kept[:-1], *lines, kept[-1]]) + "\n")
    Path(f"{wheel}.new").replace(wheel)
    return texts


def repair(wheel):
    folder = environment("build", "python-build")
    subprocess.run([folder / "bin" / "auditwheel", "repair", "-w", WHEELS, wheel],
                   env=tool_environment(folder), stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True)
    wheel.unlink()
    repaired = next(WHEELS.glob("*.whl"))
    print("licences of", ", ".join(sorted(add_licences(repaired))))
    return repaired


def main():
    wheel = build(WHEELS)
    if "--repair" in sys.argv[1:]:
        wheel = repair(wheel)
    print(wheel.relative_to(ROOT), f"{wheel.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
