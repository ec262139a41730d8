#!/usr/bin/env python3
"""Makes pld.csv: mixed lists of events priced by two other accountants, each with a discretised
privacy loss distribution: Google's dp_accounting (pessimistic, connect the dots) and Microsoft's
prv_accountant (certified lower and upper bounds).

Run it by hand with the packages named in README.md; the tests only read the table.
"""
import csv
import math
import pathlib

import numpy as np
from dp_accounting.pld import pld_pmf
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.pld.common import DifferentialPrivacyParameters
from prv_accountant import PRVAccountant
from prv_accountant.privacy_random_variables import (ApproximateDPMechanism, GaussianMechanism,
                                                     PrivacyRandomVariable,
                                                     PrivacyRandomVariableTruncated)

PLANS = [
    ([("gaussian", 0.3, 0, 1), ("pure", 0.05, 0, 1)], 1e-6),
    ([("gaussian", 0.1, 0, 30), ("pure", 0.02, 0, 10)], 1e-6),
    ([("gaussian", 0.5, 0, 2), ("pure", 0.5, 0, 4)], 1e-5),
    ([("gaussian", 0.05, 0, 50), ("pure", 0.1, 0, 20)], 1e-6),
    ([("gaussian", 1.0, 0, 1), ("pure", 1.0, 0, 2)], 1e-5),
    ([("gaussian", 0.2, 0, 10), ("pure", 0.03, 0, 7), ("pure", 0.11, 0, 5)], 1e-7),
    ([("pure", 0.1, 0, 100)], 1e-6),
    ([("pure", 0.37, 0, 9), ("pure", 0.05, 0, 40)], 1e-5),
    ([("exponential", 0.1, 0, 100)], 1.45e-4),
    ([("exponential", 0.5, 0, 20)], 1e-5),
    ([("exponential", 0.1, 0, 30), ("exponential", 0.03, 0, 60)], 1e-6),
    ([("gaussian", 0.3, 0, 4), ("exponential", 0.2, 0, 10)], 1e-6),
    ([("gaussian", 0.1, 0, 20), ("exponential", 0.05, 0, 40)], 1e-6),
    ([("gaussian", 0.2, 0, 5), ("exponential", 0.1, 0, 16), ("pure", 0.05, 0, 10)], 1e-6),
    ([("gaussian", 1.0, 0, 1), ("exponential", 1.0, 0, 3)], 1e-5),
    ([("exponential", 0.3, 0, 12), ("pure", 0.2, 0, 12)], 1e-5),
    ([("gaussian", 0.1, 0, 10), ("approximate", 0.1, 1e-8, 10)], 1e-6),
    ([("gaussian", 0.4, 0, 3), ("approximate", 0.3, 1e-7, 2), ("pure", 0.1, 0, 6)], 1e-5),
    ([("approximate", 0.1, 1e-8, 60)], 1e-6),
    ([("exponential", 0.2, 0, 8), ("approximate", 0.2, 1e-8, 8)], 1e-6),
    ([("gaussian", 0.05, 0, 200), ("exponential", 0.02, 0, 500)], 1e-6),
    ([("gaussian", 0.02, 0, 400), ("pure", 0.02, 0, 400)], 1e-6),
    ([("gaussian", 0.6, 0, 2), ("exponential", 0.4, 0, 2), ("approximate", 0.5, 1e-6, 1)], 1e-4),
    ([("gaussian", 0.25, 0, 4), ("pure", 0.7, 0, 1), ("exponential", 0.07, 0, 25)], 1e-5),
]


def range_profile(e, gamma):
    """The hockey stick of the worst pair of bounded range."""
    if gamma >= e:
        return 0.0
    if gamma <= -e:
        return -math.expm1(gamma)
    return math.expm1((gamma - e) / 2) ** 2 / -math.expm1(-e)


class RangeLoss(PrivacyRandomVariable):
    """The privacy loss of that pair: density proportional to e^(t/2) on [-e, e]."""

    def __init__(self, e):
        self.e = e

    def cdf(self, t):
        t = np.clip(t, -self.e, self.e)
        return np.expm1((t + self.e) / 2) / np.expm1(self.e)

    def rdp(self, alpha):
        x = (alpha - 0.5) * self.e
        return (np.log(np.sinh(x) / x) - np.log(np.sinh(self.e / 2) / (self.e / 2))) / (alpha - 1)

    def exact_mean(self):
        return self.e / math.tanh(self.e / 2) - 2


class ResponseLoss(ApproximateDPMechanism):
    """prv_accountant's own, with the mean of the two-point law in closed form."""

    def __init__(self, e, d):
        super().__init__(e, d)
        self.e = e

    def exact_mean(self):
        return self.e * math.tanh(self.e / 2)


# Its quadrature of a distribution function with jumps misses the mean, and its discretiser then
# refuses to go on; a law on [-e, e] is not truncated, and its mean is known.
QUADRATURE = PrivacyRandomVariableTruncated.mean
PrivacyRandomVariableTruncated.mean = lambda self: (
    self.prv.exact_mean() if hasattr(self.prv, "exact_mean") else QUADRATURE(self))


# ---- Google ----------------------------------------------------------------

def google_one(kind, p, d, step):
    if kind == "gaussian":
        return pld.from_gaussian_mechanism(1 / p, value_discretization_interval=step,
                                           use_connect_dots=True)
    if kind == "exponential":
        top = math.ceil(p / step)
        cells = np.arange(-top, top + 1)
        deltas = np.array([range_profile(p, k * step) for k in cells])
        return pld.PrivacyLossDistribution(
            pld_pmf.create_pmf_pessimistic_connect_dots(step, cells, deltas))
    return pld.from_privacy_parameters(DifferentialPrivacyParameters(p, d),
                                       value_discretization_interval=step)


def google(events, delta, step=1e-4):
    total = None
    for kind, p, d, n in events:
        one = google_one(kind, p, d, step).self_compose(n)
        total = one if total is None else total.compose(one)
    return total.get_epsilon_for_delta(delta)


# ---- Microsoft -------------------------------------------------------------

def microsoft_one(kind, p, d):
    if kind == "gaussian":
        return GaussianMechanism(1 / p)
    if kind == "exponential":
        return RangeLoss(p)
    return ResponseLoss(p, d)


def microsoft(events, delta, near):
    accountant = PRVAccountant([microsoft_one(k, p, d) for k, p, d, _ in events],
                               eps_error=near * 2e-3, delta_error=delta * 1e-3,
                               max_self_compositions=[n for *_, n in events])
    return accountant.compute_epsilon(delta, [n for *_, n in events])


def main():
    rows = []
    for events, delta in PLANS:
        text = ";".join(f"{kind}:{p!r}:{d!r}:{n}" for kind, p, d, n in events)
        upper = google(events, delta)
        low, estimate, high = microsoft(events, delta, upper)
        rows.append([text, delta] + [f"{x:.8g}" for x in (upper, low, estimate, high)])
        print(*rows[-1], flush=True)
    with open(pathlib.Path(__file__).with_name("pld.csv"), "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["events", "delta", "google", "microsoft_low", "microsoft_near",
                         "microsoft_high"])
        writer.writerows(rows)


main()
