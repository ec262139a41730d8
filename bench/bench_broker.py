#!/usr/bin/env python3
"""Do answers through the broker tell two neighbouring data sets apart by their time?

    bench_broker.py CLOISTER [ASKS [CLIENTS [TICK]]]

Two data sets that differ in one record (near the middle, or in a corner) are served by one broker
and asked ASKS times in all, half of them each, by CLIENTS processes at once (presets 600, 4): each
asks in a random order of its own, one question after the other, and times each answer.  There are
as many places for runs as clients, so that nobody waits for another; the tick (preset 0.5 s) should
be longer than a run.  Answers without a release (a ledger that was busy for too long) are counted
and left out.  Tests at level 0.001, two-sided:

    Welch                difference of means
    Kolmogorov-Smirnov   of distributions
    the same, in a tick  of what is left of a time after whole ticks, where small shifts show most
    rank sum             Mann and Whitney's
    long runs            share of answers that took more than one tick

The power at a shift is the share of 200 pairs of samples, drawn with replacement from all times
together, in which a test finds it once it is added to one side; without a shift that is the level.
Prints also whether the runs' own lengths, which the steward's log has, differ.
"""
import bisect
import math
import multiprocessing
import os
import pathlib
import random
import re
import resource
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "cli"))
import broker  # noqa: E402

LEVEL, DRAWS, NAMES = 0.001, 200, ("near", "far")
SHIFTS = (0, 0.0001, 0.0002, 0.0005, 0.001)


def tail(z):
    return math.erfc(abs(z) / math.sqrt(2))


def welch(a, b, _tick):
    mean = [sum(x) / len(x) for x in (a, b)]
    var = [sum((v - m) ** 2 for v in x) / (len(x) - 1) for x, m in zip((a, b), mean)]
    return tail((mean[0] - mean[1]) / math.sqrt(var[0] / len(a) + var[1] / len(b)))


def smirnov(a, b, _tick=0):
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
    if t < 0.3:
        return 1.0  # where the series does not converge
    return min(1.0, 2 * sum((-1) ** (k - 1) * math.exp(-2 * k * k * t * t) for k in range(1, 50)))


def smirnov_in_a_tick(a, b, tick):
    return smirnov([t % tick for t in a], [t % tick for t in b])


def rank_sum(a, b, _tick):
    other = sorted(b)
    wins = sum(bisect.bisect_left(other, t) + bisect.bisect_right(other, t) for t in a) / 2
    n, m = len(a), len(b)
    return tail((wins - n * m / 2) / math.sqrt(n * m * (n + m + 1) / 12))


def long_runs(a, b, tick):
    long = [sum(t >= 2 * tick for t in x) for x in (a, b)]
    share = sum(long) / (len(a) + len(b))
    if share in (0, 1):
        return 1.0
    return tail((long[0] / len(a) - long[1] / len(b))
                / math.sqrt(share * (1 - share) * (1 / len(a) + 1 / len(b))))


TESTS = {"Welch": welch, "Kolmogorov-Smirnov": smirnov, "the same, in a tick": smirnov_in_a_tick,
         "rank sum": rank_sum, "long runs": long_runs}


def make_place(cloister, clients, tick):
    place = broker.Place(cloister, 1, cap="9000", tick=tick, workers=clients)
    rows = place.data.read_text()
    for name, last in zip(NAMES, ("0.01,0.01\n", "0.99,-0.99\n")):
        (place.secret / name).write_text(rows + last)
        place.command("ledger", "init", place.ledger, "--dataset", name, "--epsilon", "9000")
    text = (f"[broker]\nledger = {place.ledger}\ntick = {tick}\nworkers = {clients}\n"
            f"waiting = {clients}\npatience = 60\n")
    for name in NAMES:
        text += (f"[dataset {name}]\ndata = {place.secret / name}\nfamilies = kmeans\n"
                 "bounds = -1,1\ncols = 2\n")
    text += f"[analyst {os.geteuid()}]\nnear = 9000\nfar = 9000\n"
    place.policy.write_text(text)
    return place


def ask(job):
    """One client: its questions in a random order, and the time of each answer."""
    path, asks, seed, tick = job
    draw, times = random.Random(seed), {name: [] for name in NAMES}
    order = [NAMES[i % 2] for i in range(asks)]
    draw.shuffle(order)
    time.sleep(draw.uniform(0, tick))  # so that they do not ask all at once
    for name in order:
        message = broker.frame(broker.question(epsilon=0.25, dataset=name))
        begun = time.perf_counter()
        status, _ = broker.exchange(path, message)
        if status == broker.OK:
            times[name].append(time.perf_counter() - begun)
    return times


def measure(place, asks, clients, tick):
    jobs = [(place.socket, asks // clients, seed, tick) for seed in range(clients)]
    with multiprocessing.Pool(clients) as pool:
        parts = pool.map(ask, jobs, chunksize=1)
    return [[t for part in parts for t in part[name]] for name in NAMES]


def power(test, times, shift, tick):
    draw, found = random.Random(1), 0
    for _ in range(DRAWS):
        a = draw.choices(times, k=len(times) // 2)
        b = [t + shift for t in draw.choices(times, k=len(times) // 2)]
        found += test(a, b, tick) < LEVEL
    return found / DRAWS


def main():
    given = sys.argv[2:] + [None] * 3
    asks, clients = int(given[0] or 600), int(given[1] or 4)
    tick = float(given[2] or 0.5)
    place = make_place(sys.argv[1], clients, tick)
    place.start()
    try:
        near, far = measure(place, asks, clients, tick)
        log = (place.folder / "log").read_text()
    finally:
        place.stop()
        place.remove()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = [[float(t) for t in re.findall(rf"on {name}: no error.*?took ([0-9.]+) s", log)]
            for name in NAMES]
    lengths = sorted(took[0] + took[1])
    print(f"{len(near)} and {len(far)} answers, {asks - len(near) - len(far)} refusals, {clients} "
          f"clients, tick {tick} s; longer than a tick: {log.count('longer than a tick')}")
    print(f"the runs themselves: median {1000 * lengths[len(lengths) // 2]:.0f} ms, "
          f"99 % below {1000 * lengths[len(lengths) * 99 // 100]:.0f} ms; "
          f"Kolmogorov-Smirnov p = {smirnov(*took):.3g}; "
          f"{1000 * (used.ru_utime + used.ru_stime) / asks:.0f} ms of processor an ask")
    print(f"{'':20}  p without a shift  power at " + " ".join(f"{1000 * s:.1f}" for s in SHIFTS)
          + " ms")
    for name, test in TESTS.items():
        shares = " ".join(f"{power(test, near + far, s, tick):.2f}" for s in SHIFTS)
        print(f"{name:20}  {test(near, far, tick):17.3g}           {shares}", flush=True)


if __name__ == "__main__":
    main()
