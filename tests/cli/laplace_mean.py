#!/usr/bin/env python3
"""A resident program to be audited: the mean of the first column, in [-1, 1], with Laplace noise.

usage: laplace_mean.py EPSILON SEED
For each line "INPUT<tab>OUTPUT" it writes the noisy mean to OUTPUT and says "done".  It is private
at its EPSILON, so a claim of a third of that is a false one: noise three times too small.
"""
import random
import sys

epsilon, rng = float(sys.argv[1]), random.Random(sys.argv[2])
known = {}  # what is read once need not be read again


def values(path):
    if path not in known:
        with open(path, encoding="ascii") as rows:
            known[path] = [min(1.0, max(-1.0, float(row.split(",")[0]))) for row in rows]
    return known[path]


for line in sys.stdin:
    source, target = line.rstrip("\n").split("\t")
    column = values(source)
    scale = 2 / (len(column) * epsilon)
    noise = scale * (rng.expovariate(1) - rng.expovariate(1))
    with open(target, "w", encoding="ascii") as out:
        print(f'{{"mean": {sum(column) / len(column) + noise!r}}}', file=out)
    print("done", flush=True)
