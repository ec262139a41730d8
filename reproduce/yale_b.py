#!/usr/bin/env python3
"""The Extended Yale B subset of Wang, Wang and Singh (2015), section 5, from the images.

    python yale_b.py IMAGES.npy PEOPLE.npy OUTPUT_FOLDER [option ...]

IMAGES.npy: one image a row, its pixels as the columns (or images x height x width), any numeric
type; PEOPLE.npy: who is on each, one whole number an image.  The database itself is not part of
this project and is not fetched: it is free for research from its makers (Georghiades, Belhumeur and
Kriegman, 2001; Lee, Ho and Kriegman, 2005), cropped, and is commonly resized to 48 x 42 or 32 x 32.

What is done, in this order:

 1. people are drawn at random, of those with at least --images images; of each the first --images
    are taken (64: every light);
 2. the images of each person are projected on the best affine subspace of --dim dimensions (PCA;
    --flats linear: through the origin, without the mean), and stay in pixel space;
 3. all of them go through one Gaussian matrix to --cols dimensions;
 4. everything is divided by the largest norm: the rows lie in the unit ball.

Step 2 looks at the data and at who is on them, step 4 at the data, and neither pays for it: this is
NON-PRIVATE preprocessing.  What a private mechanism does afterwards is private for the table that
is written here, not for the photographs.  It is done because the paper did it, to compare with it.

Written to OUTPUT_FOLDER:  X.npy (rows x cols), labels.npy (rows, from 0), bases.npy (people x cols
x dim: the best linear subspace of each person's rows, orthonormal columns) and yale_b.json (how it
was made).  The same input, options and seed give the same files.
"""
import argparse
import json
import os
import sys

import numpy as np


def read_images(images_path, people_path):
    images, people = np.load(images_path), np.load(people_path).ravel()
    if images.ndim < 2 or len(images) != len(people):
        sys.exit(f"{images_path} must have one image a row and {people_path} one number an image; "
                 f"their shapes are {images.shape} and {people.shape}")
    return images.reshape(len(images), -1).astype(np.float64), people


def choose(people, count, images, rng):
    """The row numbers of `images` images each of `count` people, person by person."""
    names, numbers = np.unique(people, return_counts=True)
    enough = names[numbers >= images]
    if len(enough) < count:
        sys.exit(f"only {len(enough)} people have {images} images; {count} were asked for")
    chosen = np.sort(rng.choice(enough, size=count, replace=False))
    return chosen, [np.flatnonzero(people == name)[:images] for name in chosen]


def project_on_flat(rows, dim, affine):
    """The rows on their best subspace of that dimension."""
    center = rows.mean(axis=0) if affine else np.zeros(rows.shape[1])
    _, _, axes = np.linalg.svd(rows - center, full_matrices=False)
    return center + (rows - center) @ axes[:dim].T @ axes[:dim]


def best_basis(rows, dim):
    _, _, axes = np.linalg.svd(rows, full_matrices=False)
    return axes[:dim].T


def preprocess(images, people, options):
    rng = np.random.default_rng(options.seed)
    chosen, groups = choose(people, options.people, options.images, rng)
    if options.dim >= options.images or options.dim > options.cols:
        sys.exit("--dim must be less than --images and at most --cols")
    flat = np.concatenate([project_on_flat(images[group], options.dim, options.flats == "affine")
                           for group in groups])
    gaussian = rng.normal(size=(images.shape[1], options.cols)) / np.sqrt(options.cols)
    rows = flat @ gaussian
    rows /= np.linalg.norm(rows, axis=1).max()
    labels = np.repeat(np.arange(options.people), options.images)
    bases = np.stack([best_basis(rows[labels == p], options.dim) for p in range(options.people)])
    return chosen, rows, labels, bases


def describe(rows, labels, bases):
    """How much of each person's rows their linear basis leaves out: 0 for linear flats."""
    for person, basis in enumerate(bases):
        own = rows[labels == person]
        left = np.linalg.norm(own - own @ basis @ basis.T) ** 2 / np.linalg.norm(own) ** 2
        centered = own - own.mean(axis=0)
        spread = np.linalg.svd(centered, compute_uv=False)
        rank = int((spread > 1e-9 * spread[0]).sum())
        print(f"person {person}: {len(own)} rows, affine dimension {rank}, "
              f"{left:.2e} of their squares outside the linear basis")


def parse(arguments):
    parser = argparse.ArgumentParser(description="Extended Yale B as in wang2015, section 5")
    parser.add_argument("images")
    parser.add_argument("labels")
    parser.add_argument("output")
    parser.add_argument("--people", type=int, default=5)
    parser.add_argument("--images", dest="each", type=int, default=64, help="of each person")
    parser.add_argument("--dim", type=int, default=9)
    parser.add_argument("--flats", choices=["affine", "linear"], default="affine")
    parser.add_argument("--cols", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(arguments)


def main():
    given = parse(sys.argv[1:])
    images, people = read_images(given.images, given.labels)
    options = argparse.Namespace(people=given.people, images=given.each, dim=given.dim,
                                 flats=given.flats, cols=given.cols, seed=given.seed)
    chosen, rows, labels, bases = preprocess(images, people, options)
    os.makedirs(given.output, exist_ok=True)
    for name, array in (("X", rows), ("labels", labels), ("bases", bases)):
        np.save(os.path.join(given.output, name + ".npy"), array)
    made = dict(vars(options), chosen=[int(name) for name in chosen], private=False)
    with open(os.path.join(given.output, "yale_b.json"), "w", encoding="utf-8") as file:
        json.dump(made, file, indent=2)
        file.write("\n")
    describe(rows, labels, bases)
    print("not private: this preprocessing used the images and who is on them")


if __name__ == "__main__":
    main()
