"""singhal2021 has theorems and no experiments.  Its claims as curves: rows do not grow with columns
(Theorem 1.2), the exact case (Theorem 1.1), and the shape of its lower bound (Theorem C.1)."""
import math

import numpy as np

from common import curve, digits, number, panel, wanted

TITLE = "Singhal and Steinke (2021), the claims of Theorems 1.1, 1.2 and C.1"
NEAR = 0.1  # a sine: what counts as success


def success(rows):
    """1 where a subspace was found whose largest angle has at most that sine."""
    for row in rows:
        if row["problem"] and "no array" not in row["problem"]:  # not the answer "none"
            raise SystemExit(f"{row['data']}: {row['problem']}")
    return [float(not row["problem"] and math.sin(number(row["angle"])) <= NEAR) for row in rows]


def rows_against_columns(run):
    """Theorem 1.2: gamma shrinks with the columns as it asks, and the rows need not grow."""
    sizes = run.pick((320, 1280), (160, 320, 640, 1280, 2560),
                     (160, 320, 640, 1280, 2560, 5120))
    curves = []
    for cols in run.pick((10, 100), (10, 100, 1000, 10_000), (10, 100, 1000, 10_000)):
        few = {10: "1-100", 100: "1-100", 1000: "1-20", 10_000: "1-10"}
        seeds = run.pick("1-5", few[cols], "1-100")
        gamma = 0.03 / cols ** 1.5
        ways = {"approx": f"subspace/approx:gamma={gamma:.6g}"}
        if cols <= 1000:
            ways["noisy Gram matrix"] = "subspace/gaussian"
        ways = {name: way for name, way in ways.items()
                if run.chosen([f"{name}, d = {cols:,}"], "columns")}
        if not ways:
            continue
        found = {name: {} for name in ways}
        for n in sizes:
            data = (f"subspaces:rows={n},cols={cols},clusters=1,dim=2,"
                    f"noise={gamma / math.sqrt(2):.6g}")
            rows = run.sweep(f"singhal2021-{cols}", data, list(ways.values()), set="dim=2",
                             epsilon=1, delta="1e-6", norm=1, reference="none", seeds=seeds)
            for name, way in ways.items():
                found[name][n] = success(wanted(rows, data, way))
        curves += [curve(f"{name}, d = {cols:,}", groups) for name, groups in found.items()]
    return panel("columns", "Success against the number of rows, ε = 1, δ = 1e-6, dimension 2",
                 "rows", f"share within a sine of {NEAR:g}", curves, x_log=True)


def general_position(run, n, k, d):
    """Integer rows, any k of them independent, in a subspace of integer vectors."""
    file = run.work / f"exact-{n}-{k}-{d}.npy"
    if not file.exists():
        rng = np.random.default_rng([n, k, d])
        basis = rng.integers(-3, 4, size=(k, d))
        basis[:, :k] = np.eye(k, dtype=int)
        times = np.arange(1, n + 1)[:, None] ** np.arange(k)[None]  # a moment curve
        np.save(file, (times @ basis).astype(float))
        np.save(str(file).replace(".npy", "-truth.npy"), np.linalg.qr(basis.T.astype(float))[0])
    return file


def found_exactly(run, name, n, d, epsilons, delta, seeds):
    file = general_position(run, n, 2, d)
    rows = run.sweep(f"singhal2021-exact-{name}", file, ["subspace/exact"], set="dim=2",
                     epsilon=",".join(map(str, epsilons)), delta=delta, norm=30000,
                     reference="none", seeds=seeds, truth=str(file).replace(".npy", "-truth.npy"))
    return {e: success([r for r in wanted(rows, file, "subspace/exact", f"delta={delta}")
                        if number(r["epsilon"]) == e]) for e in epsilons}


def exact_case(run):
    """Theorem 1.1: the least number of rows does not ask how many columns there are."""
    curves = []
    for d in run.pick((6,), (6, 100, 1000), (6, 100, 1000, 10_000)):
        seeds = run.pick("1-20", "1-100" if d < 1000 else "1-20", "1-1000")
        groups = {e: {} for e in (1, 2) if run.chosen([f"ε = {e}, d = {d:,}"], "exact")}
        if not groups:
            continue
        for n in range(8, 65, run.pick(14, 4, 2)):
            for e, values in found_exactly(run, "rows", n, d, tuple(groups), "1e-6",
                                           seeds).items():
                groups[e][n] = values
        curves += [curve(f"ε = {e}, d = {d:,}", g) for e, g in groups.items()]
    return panel("exact", "The exact case: share of runs that name the subspace, δ = 1e-6", "rows",
                 "share", curves)


def rows_for_half(run, epsilon, delta, seeds):
    """The number of rows at which half of the runs succeed, between two that were tried, and the
    error that the shares of so many runs give it."""
    guess = 2 / epsilon * math.log1p(math.expm1(epsilon) / (2 * float(delta)))
    before = (0.0, 0.0)
    for n in sorted({max(4, round(guess * share)) for share in np.linspace(0.6, 1.5, 10)}):
        found = found_exactly(run, "bound", n, 6, (epsilon,), delta, seeds)[epsilon]
        share = float(np.mean(found))
        if share >= 0.5:
            low, below = before
            rows = (n - low) / (share - below)  # for each unit of the share
            return digits(low + rows * (0.5 - below)), digits(rows * 0.5 / math.sqrt(len(found)), 3)
        before = (n, share)
    raise SystemExit(f"half of the runs never succeed at epsilon {epsilon:g}, delta {delta}")


def lower_bound(run):
    """Theorem C.1 asks for rows in proportion to log(1/delta)/epsilon; so does what is needed."""
    curves, seeds = [], run.pick("1-20", "1-100", "1-1000")
    deltas = run.pick(("1e-4", "1e-8"), ("1e-2", "1e-4", "1e-6", "1e-8", "1e-10", "1e-12"),
                      ("1e-2", "1e-3", "1e-4", "1e-6", "1e-8", "1e-10", "1e-12"))
    for epsilon in (0.5, 1, 2):
        if not run.chosen([f"ε = {epsilon:g}"], "bound"):
            continue
        found = [rows_for_half(run, epsilon, delta, seeds) for delta in deltas]
        curves.append({"name": f"ε = {epsilon:g}", "x": [-math.log10(float(d)) for d in deltas],
                       "y": [rows for rows, _ in found], "error": [error for _, error in found]})
    return panel("bound", "The exact case: rows at which half of the runs succeed", "log10(1/δ)",
                 "rows", curves)


def make(run):
    return [rows_against_columns(run), exact_case(run), lower_bound(run)]
