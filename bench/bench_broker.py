#!/usr/bin/env python3
"""Do answers through the broker tell two neighbouring data sets apart by their time?

    bench_broker.py CLOISTER [ASKS]

Two data sets that differ in one record are served by one broker and asked in turn, ASKS times each
(preset 300), with a mechanism whose own run time shows the difference well (a record that is far
away changes how long k-means iterates).  Each answer's time is measured by the asker.  Three tests
at level 0.001: difference of means (Welch), of distributions (Kolmogorov-Smirnov), and of
interquartile means by 2,000 permutations.  The power is that of the same tests on the same times
with 1 ms added to one side.  Prints the p-values, and the smallest shift that is found.
"""
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "cli"))
import broker  # noqa: E402


def welch(a, b):
    import math
    mean = [sum(x) / len(x) for x in (a, b)]
    var = [sum((v - m) ** 2 for v in x) / (len(x) - 1) for x, m in zip((a, b), mean)]
    z = (mean[0] - mean[1]) / math.sqrt(var[0] / len(a) + var[1] / len(b))
    return math.erfc(abs(z) / math.sqrt(2))


def smirnov(a, b):
    import math
    a, b = sorted(a), sorted(b)
    i = j = 0
    largest = 0.0
    while i < len(a) and j < len(b):
        if a[i] <= b[j]:
            i += 1
        else:
            j += 1
        largest = max(largest, abs(i / len(a) - j / len(b)))
    n = math.sqrt(len(a) * len(b) / (len(a) + len(b)))
    t = (n + 0.12 + 0.11 / n) * largest
    return min(1.0, 2 * sum((-1) ** (k - 1) * math.exp(-2 * k * k * t * t) for k in range(1, 50)))


def middle(x):
    x = sorted(x)
    x = x[len(x) // 4:3 * len(x) // 4]
    return sum(x) / len(x)


def permuted(a, b, rounds=2000):
    draw, seen, both = random.Random(1), abs(middle(a) - middle(b)), list(a) + list(b)
    more = 0
    for _ in range(rounds):
        draw.shuffle(both)
        more += abs(middle(both[:len(a)]) - middle(both[len(a):])) >= seen
    return (more + 1) / (rounds + 1)


def make_place(cloister):
    place = broker.Place(cloister, 1, cap="9000", tick=0.25, workers=1)
    rows = place.data.read_text()
    for name, last in (("near", "0.01,0.01\n"), ("far", "0.99,-0.99\n")):
        (place.secret / name).write_text(rows + last)
        place.command("ledger", "init", place.ledger, "--dataset", name, "--epsilon", "9000")
    text = f"[broker]\nledger = {place.ledger}\ntick = 0.25\nworkers = 1\n"
    for name in ("near", "far"):
        text += (f"[dataset {name}]\ndata = {place.secret / name}\nfamilies = kmeans\n"
                 "bounds = -1,1\ncols = 2\n")
    text += f"[analyst {os.geteuid()}]\nnear = 9000\nfar = 9000\n"
    place.policy.write_text(text)
    return place


def measure(place, asks):
    times = {"near": [], "far": []}
    for i in range(2 * asks):
        name = ("near", "far")[random.Random(i).randrange(2)]
        if len(times[name]) >= asks:
            name = "near" if name == "far" else "far"
        question = broker.question(epsilon=0.5, dataset=name)
        begun = time.perf_counter()
        status, _ = broker.exchange(place.socket, broker.frame(question))
        times[name].append(time.perf_counter() - begun)
        assert status == broker.OK
    return times["near"], times["far"]


def main():
    asks = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    place = make_place(sys.argv[1])
    place.start()
    try:
        near, far = measure(place, asks)
        log = (place.folder / "log").read_text()
    finally:
        place.stop()
        place.remove()
    def tests(a, b):
        return welch(a, b), smirnov(a, b), permuted(a, b, 500)
    print(f"{asks} asks each; longer than a tick: {log.count('longer than a tick')}")
    print("                         Welch      Kolmogorov-Smirnov  permuted")
    for shift in (0, 0.0001, 0.0002, 0.0005, 0.001):
        p = tests(near, [t + shift for t in far])
        print(f"{1000 * shift:4.1f} ms added: p = " + "  ".join(f"{v:12.3g}" for v in p))


if __name__ == "__main__":
    main()
