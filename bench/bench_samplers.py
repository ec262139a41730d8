"""Samples a second, ours and the peers' in the same program: bench_samplers several times.

    python bench_samplers.py PATH/TO/bench_samplers [--runs N] [-o FILE.json]

Rates by the processor's clock, in millions a second; the ratio is over Box-Muller of the same run.
"""
import argparse
import re
import subprocess

import record

LINE = re.compile(r"(.+?)\s{2,}([\d.]+)\s+([\d.]+)$")


def one_run(program):
    """{name: (rate, ratio)} of one run."""
    said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    print(said, flush=True)
    lines = [LINE.match(line) for line in said.splitlines()[1:]]
    return {line[1]: (float(line[2]), float(line[3])) for line in lines if line}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("-o", metavar="FILE.json")
    asked = parser.parse_args()
    runs = [one_run(asked.program) for _ in range(asked.runs)]
    found = {name: {"million_a_second": record.measured([run[name][0] for run in runs]),
                    "ratio": record.measured([run[name][1] for run in runs])} for name in runs[0]}
    record.write(asked.o, {"samplers": found})


if __name__ == "__main__":
    main()
