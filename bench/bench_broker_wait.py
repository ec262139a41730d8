#!/usr/bin/env python3
"""How long does a second analyst wait while a first one keeps the broker as busy as it lets them?

    bench_broker_wait.py CLOISTER [CLOISTER ...] [--asks 10] [--limit 75] [--rows 300000]

For each build in turn: a broker with two workers, a tick of 0.5 s and four open questions per
analyst.  The hostile analyst has four questions open at any time, each a long one (kmeans/local
with 1024 clusters, choose=elbow, on so many rows), and asks again as soon as one is answered.  The
second analyst asks short questions (400 rows) one after the other.  After --limit seconds without
a release they hang up, and that wait counts as the limit.  The last line of each build has
the second analyst's median and worst wait, and that of the same asks without the first analyst.

The policy has only lines that every version knows.  Needs root, to be two users.
"""
import argparse
import pathlib
import random
import statistics
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "cli"))
import broker  # noqa: E402

HOSTILE, SECOND = broker.FIRST_USER, broker.FIRST_USER + 1
OPEN = 4


def long_question():
    return broker.frame({"mechanism": "kmeans/local", "dataset": "large", "clusters": "1024",
                         "cells": "1024", "choose": "elbow", "epsilon": "5", "delta": "1e-7",
                         "purpose": "to keep others waiting", "yes": "yes"})


def make_place(cloister, rows):
    place = broker.Place(cloister, 2)
    draw = random.Random(2)
    large = place.secret / "large.csv"
    with open(large, "w", encoding="utf-8") as file:
        file.write("x,y\n")
        file.writelines(f"{draw.uniform(-1, 1):.5f},{draw.uniform(-1, 1):.5f}\n"
                        for _ in range(rows))
    place.command("ledger", "init", place.ledger, "--dataset", "large", "--epsilon", "9000",
                  "--delta", "0.5")
    served = "families = kmeans\nbounds = -1,1\ncols = 2\n"
    place.policy.write_text(
        f"[broker]\nledger = {place.ledger}\ntick = 0.5\nworkers = 2\nwaiting = {OPEN}\n"
        f"patience = 60\n[dataset people]\ndata = {place.data}\n{served}"
        f"[dataset large]\ndata = {large}\n{served}"
        f"[analyst {HOSTILE}]\nlarge = 9000:0.5\n[analyst {SECOND}]\npeople = 90\n")
    return place


class Hostile:
    """Keeps its questions open, until it is told to go."""

    def __init__(self, path):
        self.path, self.gone, self.answers = path, False, []
        self.open = [broker.knock(path, HOSTILE, long_question()) for _ in range(OPEN)]
        self.threads = [threading.Thread(target=self.keep, args=(i,)) for i in range(OPEN)]
        for thread in self.threads:
            thread.start()

    def keep(self, i):
        while not self.gone:
            begun = time.monotonic()
            try:
                status, _ = broker.answer_of(self.open[i])
                self.answers.append((status, time.monotonic() - begun))
                if not self.gone:
                    self.open[i] = broker.knock(self.path, HOSTILE, long_question())
            except OSError:
                time.sleep(0.1)

    def go(self):
        """Once the broker is gone, nobody waits for an answer any more."""
        self.gone = True
        for thread in self.threads:
            thread.join()


def ask(path, limit):
    """How long a release takes; a question that is refused for older ones is asked again."""
    end = (begun := time.monotonic()) + limit
    while (now := time.monotonic()) < end:
        connection = broker.knock(path, SECOND, broker.frame(broker.question()))
        connection.settimeout(end - now)
        try:
            status, text = broker.answer_of(connection)
        except TimeoutError:
            connection.close()
            return limit
        if status == broker.OK:
            return time.monotonic() - begun
        assert b"as many questions open" in text, text
        time.sleep(0.5)
    return limit


def told(waits, limit):
    short = [f"{'more than ' if wait == limit else ''}{wait:.2f} s"
             for wait in (statistics.median(waits), max(waits))]
    return f"median {short[0]}, worst {short[1]}"


def measure(cloister, asks, limit, rows):
    place = make_place(cloister, rows)
    place.start()
    hostile = None
    try:
        alone = [ask(place.socket, limit) for _ in range(asks)]
        hostile = Hostile(place.socket)
        time.sleep(2)  # two of them run
        beside = []
        for i in range(asks):
            beside.append(ask(place.socket, limit))
            print(f"# ask {i + 1}: {beside[-1]:.2f} s", flush=True)
        if hostile:
            hostile.gone = True
    finally:
        place.broker.kill()
        place.broker.wait()
        if hostile:
            hostile.go()
        place.remove()
    print(f"{cloister}: {asks} asks of the second analyst, {rows} rows of the first\n"
          f"  beside the hostile one  {told(beside, limit)}\n"
          f"  without them            {told(alone, limit)}\n"
          f"  the hostile one's answers: {len(hostile.answers)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cloister", nargs="+")
    parser.add_argument("--asks", type=int, default=10)
    parser.add_argument("--limit", type=float, default=75)
    parser.add_argument("--rows", type=int, default=300000)
    given = parser.parse_args()
    for cloister in given.cloister:
        measure(cloister, given.asks, given.limit, given.rows)


if __name__ == "__main__":
    main()
