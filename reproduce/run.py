#!/usr/bin/env python3
"""The papers' experiments again: figures as files of curves, out of `cloister sweep`.

    python reproduce/run.py CLOISTER [FIGURE ...] [--size quick|normal|full] [--data FOLDER]
                            [--work FOLDER] [--results FOLDER] [--jobs N]
                            [--curve "PANEL; CURVE"]

FIGURE: wang2015_figure2 wang2015_figure3 balcan2017_figure2 singhal2021_claims; all without one.
quick is a smoke test of minutes, normal takes under 40 minutes on two cores, full has the papers'
sizes.  --data holds MNIST as its four .gz files and the Yale subset that yale_b.py makes; what is
not there is generated, and the file says so.  Rows that are in the work folder are not run again.

--curve runs one curve of one figure anew, and puts it into that figure's file of results in place
of the old one; what else is made of the same rows, such as the other measure of wang2015_figure2,
comes with it.  The file's `again` says which curves were, and when.

Nothing here is private: the runs are seeded, and measured without noise.
"""
import argparse
import importlib
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import common  # noqa: E402
import kept  # noqa: E402

FIGURES = ("wang2015_figure2", "wang2015_figure3", "balcan2017_figure2", "singhal2021_claims")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cloister")
    parser.add_argument("figure", nargs="*", choices=[*FIGURES, []])
    parser.add_argument("--size", choices=["quick", "normal", "full"], default="normal")
    parser.add_argument("--data")
    parser.add_argument("--work", default="build/reproduce")
    parser.add_argument("--results", default=str(common.RESULTS))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--curve", metavar="PANEL; CURVE")
    asked = parser.parse_args()
    only = [part.strip() for part in asked.curve.split(";", 1)] if asked.curve else None
    if only and (len(only) != 2 or len(asked.figure) != 1):
        parser.error("--curve \"PANEL; CURVE\" goes with one figure")
    Path(asked.results).mkdir(parents=True, exist_ok=True)
    for name in asked.figure or FIGURES:
        run = common.Run(asked.cloister, asked.work, asked.size, asked.data, asked.jobs, only)
        module = importlib.import_module(name)
        start = time.monotonic()
        panels = module.make(run)
        seconds = time.monotonic() - start
        file = Path(asked.results) / f"{name}.json"
        if only:
            told = ", ".join(f"'{one}'" for one in kept.renew(file, run, panels))
        else:
            kept.write(file, module.TITLE, run, panels)
            told = f"{len(panels)} panels"
        print(f"{name}: {told} in {seconds:.0f} s, {file}", flush=True)


if __name__ == "__main__":
    main()
