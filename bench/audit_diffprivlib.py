#!/usr/bin/env python3
"""diffprivlib's KMeans as a resident program that 'cloister audit --resident' can ask.

usage: audit_diffprivlib.py [centers|reach]

Each line of standard input names an input and an output, with a tab between.  The input, a CSV file
without a header, is clustered by diffprivlib.models.KMeans with 2 clusters at epsilon 1 in the box
[-1, 1]^d.  What is written is part of the release, or computed from it alone:

    centers   the coordinates of both centres (the default)
    reach     of each centre, the largest absolute coordinate; the smaller one first

Needs diffprivlib (pip install diffprivlib).
"""
import sys
import warnings

import numpy as np
from diffprivlib.models import KMeans

STATISTICS = {
    "centers": lambda centers: centers.ravel(),
    "reach": lambda centers: np.sort(np.abs(centers).max(axis=1)),
}


def release(data):
    """The private part of a fit: its centres."""
    model = KMeans(n_clusters=2, epsilon=1, bounds=(-1, 1))
    return model.fit(data).cluster_centers_


def main():
    statistic = STATISTICS[sys.argv[1] if len(sys.argv) > 1 else "centers"]
    known = {}  # the same two files come again and again
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        source, target = line.rstrip("\n").split("\t")
        if source not in known:
            known[source] = np.loadtxt(source, delimiter=",", ndmin=2)
        np.savetxt(target, statistic(release(known[source])))
        print("done", flush=True)


if __name__ == "__main__":
    main()
