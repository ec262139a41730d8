#!/usr/bin/env python3
"""The Extended Yale B subset of wang2015, section 5: five people's faces as near-flat clusters.

usage: yale5.py IMAGES.npy LABELS.npy OUTPUT_FOLDER [--linear] [--people 5] [--dim 9] [--cols 50]
                [--seed 20151207]

IMAGES.npy holds one image a row (2414 x 1024 for the cropped images at 32 x 32), LABELS.npy the
number of the person on each.  What is done, in this order:

1. As many people as --people says are drawn, out of those with the most images.
2. Each person's images are projected onto their own --dim dimensional subspace by PCA: an affine
   one about the person's mean, or with --linear one through the origin.
3. All are projected to --cols columns by one Gaussian matrix with entries N(0, 1 / cols).
4. All are divided by the largest norm, so that they lie in the unit ball.

The paper does not say which people it drew, nor with which matrix: the numbers depend on both, a
little.

THIS PREPROCESSING IS NOT PRIVATE.  Steps 2 and 4 use the images and the labels outside of any
mechanism; step 2 even hands the true clusters to whatever comes after.  It is fit to compare
methods with the paper, and for nothing that is to be released.

Written into the folder, for 'cloister solve' and 'cloister evaluate': data.npy (rows x cols),
labels.csv (from 0), truth.npy (the true bases on top of each other) and offsets.npy (a point of
each).
"""
import argparse
from pathlib import Path

import numpy as np


def choose_people(labels, count, generator):
    """The labels of `count` people, out of those with the most images."""
    people, images = np.unique(labels, return_counts=True)
    full = people[images == images.max()]
    if len(full) < count:
        raise SystemExit(f"only {len(full)} people have {images.max()} images, not {count}")
    return np.sort(generator.choice(full, size=count, replace=False))


def flatten(rows, dim, linear):
    """The rows on their own PCA subspace, its basis and a point of it."""
    point = np.zeros(rows.shape[1]) if linear else rows.mean(axis=0)
    _, _, directions = np.linalg.svd(rows - point, full_matrices=False)
    basis = directions[:dim].T
    return point + (rows - point) @ basis @ basis.T, basis, point


def main():
    """Reads the arguments, makes the data and writes them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("images")
    parser.add_argument("labels")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--linear", action="store_true")
    parser.add_argument("--people", type=int, default=5)
    parser.add_argument("--dim", type=int, default=9)
    parser.add_argument("--cols", type=int, default=50)
    parser.add_argument("--seed", type=int, default=20151207)
    args = parser.parse_args()

    generator = np.random.default_rng(args.seed)
    images = np.load(args.images).astype(float)
    labels = np.load(args.labels).ravel()
    chosen = choose_people(labels, args.people, generator)
    projection = generator.standard_normal((images.shape[1], args.cols)) / np.sqrt(args.cols)

    parts, bases, points = zip(*(flatten(images[labels == person], args.dim, args.linear)
                                 for person in chosen))
    rows = np.vstack(parts) @ projection
    radius = np.linalg.norm(rows, axis=1).max()
    args.folder.mkdir(parents=True, exist_ok=True)
    np.save(args.folder / "data.npy", rows / radius)
    np.save(args.folder / "truth.npy",
            np.vstack([np.linalg.qr(projection.T @ basis)[0] for basis in bases]))
    np.save(args.folder / "offsets.npy", np.array(points) @ projection / radius)
    sizes = [len(part) for part in parts]
    np.savetxt(args.folder / "labels.csv", np.repeat(np.arange(args.people), sizes), fmt="%d",
               header="cluster", comments="")
    print(f"{sum(sizes)} rows, {args.cols} columns, {args.people} people: not private")


if __name__ == "__main__":
    main()
