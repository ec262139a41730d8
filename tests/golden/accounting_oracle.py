#!/usr/bin/env python3
"""Makes accounting.csv: what lists of events cost, by programs that share no code with cloister.

Run it by hand with the packages named in README.md; the tests only read the table.
"""
import csv
import pathlib

import mpmath as mp
from dp_accounting import NeighboringRelation, dp_event
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.pld.common import DifferentialPrivacyParameters
from dp_accounting.rdp import rdp_privacy_accountant as rdp

mp.mp.dps = 50
ROWS = []


def row(events, delta, epsilon, side, tolerance, oracle):
    text = ";".join(f"{kind}:{p!r}:{d!r}:{n}" for kind, p, d, n in events)
    ROWS.append([text, delta, mp.nstr(mp.mpf(epsilon), 25), side, tolerance, oracle])


# ---- Gaussian: the profile at 50 digits, solved for epsilon ----------------

def gaussian_delta(epsilon, mu):
    tail = lambda x: mp.erfc(x / mp.sqrt(2)) / 2
    return tail(epsilon / mu - mu / 2) - mp.exp(epsilon) * tail(epsilon / mu + mu / 2)


def falling_root(f, target, high):
    """Where a falling f meets target, by bisection."""
    low = mp.mpf(0)
    if f(low) <= target:
        return low
    while f(high) > target:
        high *= 2
    for _ in range(500):
        middle = (low + high) / 2
        low, high = (middle, high) if f(middle) > target else (low, middle)
    return high


def gaussian(parts, delta):
    with mp.workdps(160):
        mu = mp.sqrt(mp.fsum(n * mp.mpf(m) ** 2 for m, n in parts))
        return falling_root(lambda e: gaussian_delta(e, mu), mp.mpf(delta), mu * 8 + mu ** 2)


for parts, delta in [
    ([(1.0, 1)], 1e-6), ([(1.0, 1)], 1e-12), ([(0.1, 30)], 1e-6), ([(0.01, 1000)], 1e-6),
    ([(0.3233, 1)], 1.4476e-4), ([(0.05, 10), (0.2, 3), (0.5, 1)], 1e-5), ([(3.0, 4)], 1e-9),
    ([(30.0, 1)], 1e-6), ([(1e-3, 1)], 1e-5), ([(1e-6, 1)], 1e-8), ([(2.0, 1)], 0.5),
    ([(1e-4, 10000)], 1e-300), ([(0.7, 123456789)], 1e-10), ([(1e-60, 1)], 1e-62),
]:
    row([("gaussian", m, 0, n) for m, n in parts], delta, gaussian(parts, delta), "true", 1e-12,
        "mpmath: Gaussian profile")


def pld_epsilon(parts, delta, pessimistic):
    total = None
    for kind, p, d, n in parts:
        if kind == "gaussian":
            one = pld.from_gaussian_mechanism(1 / p, pessimistic_estimate=pessimistic,
                                              use_connect_dots=pessimistic)
        elif kind == "pure":
            one = pld.from_randomized_response(float(2 / (1 + mp.exp(p))), 2,
                                               pessimistic_estimate=pessimistic)
        else:
            one = pld.from_privacy_parameters(DifferentialPrivacyParameters(p, d))
        one = one.self_compose(n)
        total = one if total is None else total.compose(one)
    return total.get_epsilon_for_delta(delta)


for events, delta in [([("gaussian", 0.1, 0, 30)], 1e-6), ([("gaussian", 0.5, 0, 4)], 1e-5)]:
    row(events, delta, pld_epsilon(events, delta, True), "near", 5e-3,
        "dp_accounting: PLD pessimistic")

# ---- pure: k-fold randomised response, the worst of all, exactly -----------

def response_delta(epsilon, e, n):
    p = mp.exp(e) / (1 + mp.exp(e))
    return mp.fsum(mp.binomial(n, i) * max(mp.mpf(0), p ** (n - i) * (1 - p) ** i
                   - mp.exp(epsilon) * p ** i * (1 - p) ** (n - i)) for i in range(n + 1))


for e, n, delta, slack in [(1.0, 1, 1e-6, 1e-5), (0.1, 100, 1e-6, 1e-5), (0.5, 20, 1e-5, 1e-5),
                           (0.01, 1000, 1e-6, 1e-5), (2.0, 3, 1e-6, 1e-5), (5.0, 2, 1e-3, 1e-5)]:
    epsilon = falling_root(lambda x: response_delta(x, mp.mpf(e), n), mp.mpf(delta), mp.mpf(n * e))
    row([("pure", e, 0, n)], delta, epsilon, "true", slack, "mpmath: randomised response")

for e, n, delta in [(0.1, 100, 1e-6), (0.5, 20, 1e-5)]:
    account = rdp.RdpAccountant([1 + x / 20 for x in range(1, 1200)],
                                NeighboringRelation.REPLACE_ONE)
    account.compose(dp_event.RandomizedResponseDpEvent(float(2 / (1 + mp.exp(e))), 2), n)
    row([("pure", e, 0, n)], delta, account.get_epsilon(delta), "near", 1e-3,
        "dp_accounting: RDP randomised response")

# ---- exponential: bounded range, worst offset found numerically ------------

def range_divergence(alpha, e):
    """The largest Renyi divergence over offsets of two-point pairs, by search, not by formula."""
    def negative(t):
        q = (1 - mp.exp(t - e)) / (mp.exp(t) - mp.exp(t - e))
        return -mp.log(q * mp.exp(alpha * t) + (1 - q) * mp.exp(alpha * (t - e))) / (alpha - 1)
    return -minimum(negative, mp.mpf(0), mp.mpf(e))


def minimum(f, low, high, steps=90):
    golden = (mp.sqrt(5) - 1) / 2
    for _ in range(steps):
        left, right = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, right) if f(left) < f(right) else (left, high)
    return f((low + high) / 2)


def converted(divergence, delta):
    def at(s):
        alpha = 1 + mp.exp(s)
        return (divergence(alpha) + mp.log(1 - 1 / alpha)
                - (mp.log(delta) + mp.log(alpha)) / (alpha - 1))
    return minimum(at, mp.mpf(-4), mp.mpf(9), 60)


mp.mp.dps = 30
for e, n, delta in [(0.1, 100, 1.45e-4), (1.0, 100, 1e-6), (0.5, 20, 1e-5), (3.0, 40, 1e-6)]:
    row([("exponential", e, 0, n)], delta,
        converted(lambda a: n * range_divergence(a, mp.mpf(e)), mp.mpf(delta)), "near", 1e-9,
        "mpmath: Renyi of the worst offset")
row([("exponential", 1.5, 0, 2)], 0.0, 3, "true", 0, "sum")

# The zCDP line lies above the curve, so it may only be missed from below, and by little.
for e, n, delta in [(0.1, 100, 1.45e-4), (0.02, 500, 1e-6)]:
    account = rdp.RdpAccountant(orders=[1 + x / 20 for x in range(1, 4000)])
    account.compose(dp_event.ZCDpEvent(n * e * e / 8))
    row([("exponential", e, 0, n)], delta, account.get_epsilon(delta), "near", 1e-2,
        "dp_accounting: zCDP of epsilon^2/8")

# ---- mixed and approximate ------------------------------------------------

for events, delta, slack in [
    ([("gaussian", 0.3, 0, 1), ("pure", 0.05, 0, 1)], 1e-6, 1e-3),
    ([("gaussian", 0.1, 0, 30), ("pure", 0.02, 0, 10)], 1e-6, 1e-3),
    ([("gaussian", 0.5, 0, 2), ("pure", 0.5, 0, 4)], 1e-5, 2e-3),
]:
    row(events, delta, pld_epsilon(events, delta, False), "true", slack,
        "dp_accounting: PLD optimistic")
for events, delta, slack in [
    ([("gaussian", 0.1, 0, 10), ("approximate", 0.1, 1e-8, 10)], 1e-6, 1e-3),
    ([("approximate", 0.5, 1e-7, 4)], 1e-6, 1e-3),
    ([("approximate", 0.1, 1e-8, 60)], 1e-6, 1e-3),
]:
    row(events, delta, pld_epsilon(events, delta, True), "near", slack,
        "dp_accounting: PLD pessimistic")

with open(pathlib.Path(__file__).with_name("accounting.csv"), "w", newline="") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["events", "delta", "epsilon", "side", "tolerance", "oracle"])
    writer.writerows(ROWS)
