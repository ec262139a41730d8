"""How a benchmark writes what it found: one JSON file, with when, how, where and of what versions.

    record.write(path, found, versions=record.versions("diffprivlib"))

`found` is a dictionary of the benchmark's own.  A measured value in it is what `measured` makes:
mean, standard error and number of runs.  tools/measured.py fills the pages from these files, so a
key that a page names must keep its name.
"""
import importlib.metadata
import json
import math
import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path

SCHEMA = "cloister.measured/1"
OWN = ("schema", "benchmark", "command", "date", "machine", "versions")  # of every file
RESULTS = Path(__file__).resolve().parent / "results"


def digits(value, count):
    return float(f"{value:.{count}g}")


def measured(values):
    """Mean, standard error, the largest and how many.  None is a run that gave nothing: those are
    counted, as `none`."""
    given = [float(value) for value in values if value is not None]
    found = {"mean": None, "se": None, "runs": len(given)}
    if given:
        mean = sum(given) / len(given)
        square = sum((value - mean)**2 for value in given)
        error = math.sqrt(square / (len(given) - 1) / len(given)) if len(given) > 1 else 0.0
        found |= {"mean": digits(mean, 6), "se": digits(error, 3), "worst": digits(max(given), 6)}
    if len(given) < len(values):
        found["none"] = len(values) - len(given)
    return found


def machine():
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {"cpu": cpu[1] if cpu else platform.machine(), "cores": os.cpu_count(),
            "memory_gib": round(memory / 2**30, 1),
            "system": platform.freedesktop_os_release()["PRETTY_NAME"],
            "python": platform.python_version()}


def versions(*packages, cloister=None):
    """Of the packages that are installed, and of the command."""
    found = {}
    if cloister:
        said = subprocess.run([cloister, "version"], capture_output=True, text=True, check=True)
        found["cloister"] = said.stdout.split()[1]
    for name in packages:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            pass
    return found


def command():
    """What was typed, without the folders of this machine."""
    words = [Path(word).name if os.path.isabs(word) or os.path.exists(word) else word
             for word in sys.argv[1:]]
    return " ".join(["python", f"bench/{Path(sys.argv[0]).name}", *words])


def header(**of):
    return {"schema": SCHEMA, "benchmark": f"bench/{Path(sys.argv[0]).name}", "command": command(),
            "date": time.strftime("%Y-%m-%d"), "machine": machine(), "versions": of}


def text(found):
    """As JSON, with short lists on one line each."""
    made = json.dumps(found, indent=1, ensure_ascii=False)
    return re.sub(r"\[\s+([-0-9.e+,\s]+?)\s+\]",
                  lambda one: "[" + ", ".join(one[1].replace(",", " ").split()) + "]", made) + "\n"


def write(path, found, **of):
    """One file for one run; `of`: the versions.  Says nothing where there is no path."""
    if not path:
        return
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = {**header(**of), **found}
    path.write_text(text(whole), encoding="utf-8")


def add(path, found, **of):
    """Puts cases beside those that a file has, each with its own command and date, for benchmarks
    whose table takes several calls."""
    if not path:
        return
    path = Path(path)
    old = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"cases": {}}
    head = header(**of)
    cases = {name: {**case, "command": head["command"], "date": head["date"]}
             for name, case in found.items()}
    head["command"] = f"python {head['benchmark']} (each case has its own)"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text({**head, "cases": {**old["cases"], **cases}}), encoding="utf-8")
