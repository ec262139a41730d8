#!/usr/bin/env python3
"""Private PCA on real data: captured variance, and whether verdicts and energies are true.

    python bench_pca.py PATH/TO/cloister FOLDER_OF_MNIST [--sets mnist,digits,cancer]
                        [--dims 2,5,10] [--epsilons 0.1,0.3,1,3] [--runs 5]
                        [--first-seed 1000] [--gaps]

mnist: 60,000 x 784, pixels from 0 to 1, norm 12; digits: 1797 x 64 of scikit-learn, norm 80;
cancer: 569 x 30 of scikit-learn, bounds as a physician might state them.  `subspace/gaussian`,
replace one, delta 1e-6, two ways: as it is, about the origin or the middle of the bounds; and
centred, about a centre and within a norm that are learnt first (not with bounds).  Means over the
runs of

  captured   variance of the records about their mean, in the released subspace, as a share of all;
             best: of the subspace of non-private PCA
  stand out  directions that the release says stand out; true: of these, those that do: along the
             released direction the records have more than half of the energy that the largest
             eigenvalue of the noise has; missed: those that do and are not said to
  within     of those said to stand out, how many have an energy within a factor 1.5 of that of the
             records along the released direction
  sin Theta  distance of the released subspace from that of the records in the same ball, and the
             plan's prediction with its range

--gaps: what share of the norm's square the records have beyond the weakest direction kept, times q.
The energies are judged in the coordinates of the unit ball.  Nothing of the data is committed.
"""
import argparse
import functools
import json
import os
import subprocess
import tempfile
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402  (the variables above must be set before)
from sklearn.datasets import load_breast_cancer, load_digits  # noqa: E402

from bench_mnist_subspaces import images  # noqa: E402

DELTA = 1e-6


class Data:
    """One data set as a file, and what is publicly known of it."""

    def __init__(self, name, rows, folder, norm=None, upper=None):
        self.name, self.rows, self.norm, self.upper = name, rows, norm, upper
        self.path, self.bounds = folder / f"{name}.csv", folder / f"{name}.bounds.csv"
        if upper is None:
            self.path = folder / f"{name}.npy"
            np.save(self.path, rows)
            self.middle, self.scale = np.zeros(rows.shape[1]), np.full(rows.shape[1], norm)
        else:
            names = [f"c{j}" for j in range(rows.shape[1])]
            np.savetxt(self.path, rows, delimiter=",", header=",".join(names), comments="")
            self.bounds.write_text("".join(f"{n},0,{h}\n" for n, h in zip(names, upper)))
            self.middle, self.scale = upper / 2, upper / 2 * np.sqrt(len(upper))

    def domain(self, centred):
        if self.upper is not None:
            return [f"--bounds={self.bounds}"]
        if centred:
            return ["--center=private", "--norm=private", f"--norm-at-most={self.norm}"]
        return [f"--norm={self.norm}"]

    def in_ball(self, values, learnt):
        """The Gram matrix and an orthonormal basis in the ball that the run asked in."""
        basis = np.array(values["basis"]).reshape(self.rows.shape[1], -1)
        basis = np.linalg.qr(basis / self.scale[:, None])[0]
        if learnt is None:
            return self.gram, basis
        rows = (self.rows - np.array(values["center"]).ravel()) / learnt
        rows /= np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))
        return rows.T @ rows, basis

    @functools.cached_property
    def about_mean(self):
        rows = (self.rows - self.rows.mean(0)) / self.scale
        return rows.T @ rows

    @functools.cached_property
    def gram(self):
        rows = (self.rows - self.middle) / self.scale
        rows /= np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))
        return rows.T @ rows


def sets(names, mnist, folder):
    if "mnist" in names:
        yield Data("mnist", images(mnist, "train")[0], folder, norm=12)
    if "digits" in names:
        yield Data("digits", load_digits().data, folder, norm=80)
    if "cancer" in names:
        rows = load_breast_cancer().data
        yield Data("cancer", rows, folder,
                   upper=np.array([float(f"{2 * c.max():.0e}") for c in rows.T]))


def cloister(options, data, words, dim, epsilon, centred):
    done = subprocess.run(
        [options.cloister, words[0], "subspace/gaussian", *words[1:], f"--dim={dim}",
         f"--epsilon={epsilon}", f"--delta={DELTA}", *data.domain(centred), "--json"],
        capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def judge(data, release, truth):
    values = release["values"]
    radius = values["learnt_norm"][0] if "learnt_norm" in values else None
    gram, basis = data.in_ball(values, radius)
    # With bounds energies and noise are in half-widths, of which the ball has sqrt(d).
    unit = (radius or data.norm or np.sqrt(len(gram))) ** 2
    noise = release["queries"][-1]["noise"] / unit
    energy, stands = np.array(values["energy"]) / unit, np.array(values["stands_out"]) > 0
    along = np.einsum("ji,jk,ki->i", basis, gram, basis)
    real = along > noise * np.sqrt(2 * len(gram)) / 2
    ratios = energy[stands] / np.maximum(along[stands], 1e-300)
    best = np.linalg.eigh(gram)[1][:, -basis.shape[1]:]
    captured = np.trace(basis.T @ truth @ basis) / np.trace(truth)
    return dict(captured=captured, stands=stands.sum(), true=(stands & real).sum(),
                missed=(real & ~stands).sum(),
                sine=np.sqrt(max(basis.shape[1] - np.sum((best.T @ basis) ** 2), 0)),
                within=((ratios < 1.5) & (ratios > 1 / 1.5)).sum())


def measure(options, data, dim, epsilon, centred):
    truth = data.about_mean
    spectrum = np.linalg.eigvalsh(truth)[::-1]
    rows, cols = data.rows.shape
    said = cloister(options, data, ["plan", f"--rows={rows}", f"--cols={cols}"], dim, epsilon,
                    centred)["prediction"]
    found = []
    for run in range(options.runs):
        release = cloister(options, data,
                           ["run", str(data.path), "--no-ledger", "--quiet", "--yes", "--threads=1",
                            f"--seed={options.first_seed + run}"], dim, epsilon, centred)
        found.append(judge(data, release, truth))
    mean = {k: float(np.mean([f[k] for f in found])) for k in found[0]}
    print(f"{data.name:7} {'centred' if centred else 'as it is':8} q {dim:2} epsilon {epsilon:<4g}"
          f" captured {mean['captured']:.3f} of {spectrum[:dim].sum() / spectrum.sum():.3f}"
          f"  stand out {mean['stands']:.1f}, true {mean['true']:.1f}, missed {mean['missed']:.1f},"
          f" within 1.5 {mean['within']:.1f}  sin Theta {mean['sine']:.2f}, predicted"
          f" {said['error']:.2f} ({said['least']:.2f} to {said['most']:.2f})", flush=True)


def gaps(data, dims):
    spectrum = np.linalg.eigvalsh(data.gram)[::-1] / len(data.rows)
    for q in dims:
        apart = spectrum[:q, None] - spectrum[None, q:]
        mean = np.sqrt(apart.size / np.sum(1 / apart ** 2))
        print(f"{data.name:7} q {q:2} reach {mean * q:.4f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cloister")
    parser.add_argument("folder")
    parser.add_argument("--sets", default="mnist,digits,cancer")
    parser.add_argument("--dims", default="2,5,10")
    parser.add_argument("--epsilons", default="0.1,0.3,1,3")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=1000)
    parser.add_argument("--gaps", action="store_true")
    options = parser.parse_args()
    dims = [int(q) for q in options.dims.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        for data in sets(options.sets.split(","), Path(options.folder), Path(folder)):
            if options.gaps:
                gaps(data, dims)
                continue
            for centred in (False, True) if data.upper is None else (False,):
                for dim in dims:
                    for epsilon in map(float, options.epsilons.split(",")):
                        measure(options, data, dim, epsilon, centred)


if __name__ == "__main__":
    main()
