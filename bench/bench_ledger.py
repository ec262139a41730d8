"""Durable charges a second beside bare SQLite: bench_ledger, and its ratio as JSON.

    python bench_ledger.py PATH/TO/bench_ledger [--folder FOLDER] [--rounds N] [-o FILE.json]

The two alternate block by block; the ratio is the median of neighbouring blocks, with quartiles.
"""
import argparse
import re
import subprocess
import tempfile

import record


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--folder", default=tempfile.gettempdir())
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("-o", metavar="FILE.json")
    asked = parser.parse_args()
    said = subprocess.run([asked.program, asked.folder, str(asked.rounds)], capture_output=True,
                          text=True, check=True).stdout
    print(said, end="")
    told = re.search(r"ratio\s+([\d.]+), quartiles ([\d.]+) and ([\d.]+)", said)
    rates = re.findall(r"([\d.]+) (?:transactions|signed charges)/s", said)
    record.write(asked.o, {
        "rounds": asked.rounds, "bare_a_second": float(rates[0]), "ours_a_second": float(rates[1]),
        "ratio": {"median": float(told[1]), "lower_quartile": float(told[2]),
                  "upper_quartile": float(told[3])}})


if __name__ == "__main__":
    main()
