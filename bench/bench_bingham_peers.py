#!/usr/bin/env python3
"""What the samplers behind diffprivlib's and OpenDP's PCA draw, beside the law that they claim.

Both draw a direction u with the density exp(-u'Au), A = eps/4 (largest I - C), from proposals of an
angular central Gaussian law with the density (u'Ou)^(-d/2), O = I + 2A/b.  A proposal is to be kept
with the probability exp(-u'Au) (u'Ou)^(d/2) / M.  Both divide by the power where they should
multiply, so that they draw exp(-u'Au) (u'Ou)^(-d): a law that lies closer about the first
eigenvector, and that no proof is about.

Part one draws: the mean of 1 - u_1^2, where C has one eigenvalue that is not 0, against that of
both laws.  Part two computes: C with the eigenvalues L + 1, L, 0, ... and its neighbour in which
the first two are exchanged (one record e_1 became e_2) have the same constant, so that the loss of
privacy at e_1 is eps/4 + d log(1 + eps/(2b)), exactly, for the law that is drawn.

usage: bench_bingham_peers.py [--draws N] [-o RESULTS.json] [--page PAGE.md]
       bench_bingham_peers.py --check RESULTS.json PAGE.md
Needs diffprivlib and opendp (tools/packages-pip.txt, [bench]).
"""
import argparse
import json
import math
import sys
from pathlib import Path

import record

COLS, ENERGY, EPSILONS = 5, 100, (0.1, 0.2)
LOSS_COLS, LOSS_ENERGY, LOSS_EPSILON = (3, 5, 10, 20, 50), 1200, 1.0


def tuned(roots):
    """The b with sum 1/(b + 2 root) = 1."""
    low, high = 1.0, float(len(roots))
    for _ in range(200):
        middle = (low + high) / 2
        above = sum(1 / (middle + 2 * root) for root in roots) > 1
        low, high = (middle, high) if above else (low, middle)
    return low


def mean_off_axis(cols, rate, power):
    """The mean of s = 1 - u_1^2 under exp(-rate s) (1 + 2 rate s / b)^(-power), by quadrature."""
    import numpy as np

    b = tuned([0.0] + [rate] * (cols - 1))
    angle = (np.arange(200_000) + 0.5) * (math.pi / 2 / 200_000)
    s = np.sin(angle)**2
    logs = -rate * s - power * np.log1p(2 * rate * s / b) + (cols - 2) * np.log(np.sin(angle))
    weights = np.exp(logs - logs.max())
    return float((s * weights).sum() / weights.sum())


def diffprivlib_draw(matrix, epsilon, seed):
    from diffprivlib.mechanisms import Bingham

    return Bingham(epsilon=epsilon, random_state=seed).randomise(matrix)


def opendp_draw(matrix, epsilon, _):
    import opendp.prelude as dp
    from opendp.extras.sklearn._make_eigenvector import make_private_eigenvector
    from opendp.extras.numpy import _sscp_domain

    dp.enable_features("contrib", "idealized-numerics", "honest-but-curious")
    domain = _sscp_domain(norm=1, p=2, num_features=len(matrix), T=float)
    return make_private_eigenvector(domain, dp.symmetric_distance(), epsilon)(matrix)


def draw_means(draws):
    import numpy as np

    matrix = np.zeros((COLS, COLS))
    matrix[0, 0] = ENERGY
    for epsilon in EPSILONS:
        rate = epsilon / 4 * ENERGY
        row = {"epsilon": epsilon, "claimed": mean_off_axis(COLS, rate, 0),
               "turned_over": mean_off_axis(COLS, rate, COLS)}
        for name, draw in (("diffprivlib", diffprivlib_draw), ("opendp", opendp_draw)):
            off = [1 - float(draw(matrix, epsilon, seed)[0])**2 for seed in range(draws)]
            row[name] = [float(np.mean(off)), float(np.std(off) / math.sqrt(draws))]
        yield row


def losses():
    for cols in LOSS_COLS:
        b = tuned([LOSS_EPSILON / 4 * gap for gap in [0, 1] + [LOSS_ENERGY + 1] * (cols - 2)])
        yield {"cols": cols,
               "loss": LOSS_EPSILON / 4 + cols * math.log1p(LOSS_EPSILON / (2 * b))}


def page(found):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
    sys.dont_write_bytecode = True
    import wrap_markdown

    versions = " and ".join(f"{name} {version}" for name, version in found["versions"].items())
    lines = [
        "# The samplers behind other libraries' PCA", "",
        "<!-- made by bench/bench_bingham_peers.py -->", "",
        f"{versions} draw the directions of their private PCA by rejection sampling. In both, the "
        "quotient in the test that accepts a proposal is inverted. So they do not draw from the "
        "distribution that their guarantee is proved for, but from one that is closer to the first "
        "eigenvector. The answers look better, and the privacy loss is above the claimed ε.", "",
        f"The first table shows the mean of 1 − u₁² of {found['draws']} draws ± its standard "
        f"error, for {COLS} columns and one direction with the energy {ENERGY}.", "",
        "| ε | the claimed distribution | with the inverted quotient | diffprivlib "
        "| OpenDP |", "|---|---|---|---|---|"]
    for row in found["means"]:
        lines.append(f"| {row['epsilon']:g} | {row['claimed']:.3f} | {row['turned_over']:.3f} | "
                     + " | ".join(f"{row[name][0]:.3f} ± {row[name][1]:.3f}"
                                  for name in ("diffprivlib", "opendp")) + " |")
    lines += [
        "", "The second table shows the privacy loss of one such draw at a claimed ε = "
        f"{LOSS_EPSILON:g}. The two data sets differ in one record and have the energies "
        f"{LOSS_ENERGY + 1}, {LOSS_ENERGY}, 0, … and {LOSS_ENERGY}, {LOSS_ENERGY + 1}, 0, … A "
        "correct sampler loses at most ½ here, because both programs plan with twice the "
        "necessary loss.", "",
        "| columns | loss at a claimed ε = 1 |", "|---|---|"]
    lines += [f"| {row['cols']} | {row['loss']:.2f} |" for row in found["losses"]]
    lines += ["", "cloister's `subspace/bingham` accepts a proposal with the right probability, "
              "which `tests/unit/test_bingham.c` checks."]
    return wrap_markdown.wrap("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("-o", default="build/bench/bingham_peers.json")
    parser.add_argument("--page")
    parser.add_argument("--check", nargs=2, metavar=("JSON", "PAGE"))
    args = parser.parse_args()
    if args.check:
        file, shown = map(Path, args.check)
        if page(json.loads(file.read_text(encoding="utf-8"))) != shown.read_text(encoding="utf-8"):
            sys.exit(f"{shown} is not what {file} says")
        return
    found = {"draws": args.draws, "means": list(draw_means(args.draws)), "losses": list(losses())}
    record.write(args.o, found, **record.versions("diffprivlib", "opendp"))
    text = page(json.loads(Path(args.o).read_text(encoding="utf-8")))
    if args.page:
        Path(args.page).write_text(text, encoding="utf-8")
    print(text, end="")


if __name__ == "__main__":
    main()
