#!/usr/bin/env python3
"""The papers' experiments again: figures as files of curves, out of `cloister sweep`.

    python reproduce/run.py CLOISTER [FIGURE ...] [--size quick|normal|full] [--data FOLDER]
                            [--work FOLDER] [--results FOLDER] [--jobs N]

FIGURE: wang2015_figure2 wang2015_figure3 balcan2017_figure2 singhal2021_claims; all without one.
quick is a smoke test of minutes, normal takes under 40 minutes on two cores, full has the papers'
sizes.  --data holds MNIST as its four .gz files and the Yale subset that yale_b.py makes; what is
not there is generated, and the file says so.  Rows that are in the work folder are not run again.

Nothing here is private: the runs are seeded, and measured without noise.
"""
import argparse
import importlib
import json
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import common  # noqa: E402

FIGURES = ("wang2015_figure2", "wang2015_figure3", "balcan2017_figure2", "singhal2021_claims")


def write(path, title, run, panels):
    version = subprocess.run([run.cloister, "version"], capture_output=True, text=True, check=True)
    found = {"schema": "cloister.curves/1", "private": False, "title": title, "size": run.size,
             "data": dict(sorted(run.files.items())), "version": version.stdout.split()[1],
             "machine": common.machine(), "panels": panels}
    if run.seconds:  # of all runs of cloister, also those of an earlier call
        found["cpu_seconds"] = round(sum(run.seconds.values()))
    text = json.dumps(found, indent=1, ensure_ascii=False)
    path.write_text(common.on_lines(text) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cloister")
    parser.add_argument("figure", nargs="*", choices=[*FIGURES, []])
    parser.add_argument("--size", choices=["quick", "normal", "full"], default="normal")
    parser.add_argument("--data")
    parser.add_argument("--work", default="build/reproduce")
    parser.add_argument("--results", default=str(common.RESULTS))
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    Path(asked.results).mkdir(parents=True, exist_ok=True)
    for name in asked.figure or FIGURES:
        run = common.Run(asked.cloister, asked.work, asked.size, asked.data, asked.jobs)
        module = importlib.import_module(name)
        start = time.monotonic()
        panels = module.make(run)
        seconds = time.monotonic() - start
        file = Path(asked.results) / f"{name}.json"
        write(file, module.TITLE, run, panels)
        print(f"{name}: {len(panels)} panels in {seconds:.0f} s, {file}", flush=True)


if __name__ == "__main__":
    main()
