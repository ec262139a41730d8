# Methods: what there is

## Explains a family

  $ cloister methods kmeans
  kmeans/tree
    k centres of a private coreset: noisy means and sizes of many cells
    guarantee: exact; proof: proofs/kmeans_tree.md
    --clusters        how many centres to find (1 to 1024; must be given)
    --cells           pieces of the coreset; 0: what pays (0 to 1024, preset 0)
    --start           cells about random points, or leaves of a tree of
                      hyperplanes (points or tree, preset points)
    --passes          looks at the cells, the largest of which are split in
                      between (1 to 20, preset 3)
    --rounds          Lloyd's rounds on all columns, from the centres of the
                      coreset (0 to 100, preset 1)
    --reduce          directions to make cells in; 0: all columns, -1: what pays
                      (-1 to 1024, preset -1)
    --share           of the budget, for choosing these directions (0.01 to 0.95,
                      preset 0.1)

  kmeans/local
    k centres by sums with noise at the width of each cluster
    guarantee: exact; proof: proofs/kmeans_local.md
    --clusters        how many centres to find (1 to 1024; must be given)
    --choose          as many clusters as given, or at most so many: by the elbow
                      of a curve (given or elbow, preset given)
    --cells           pieces to look at, at most; 0: what pays (0 to 1024, preset
                      0)
    --passes          looks at the cells, each at the widths of the one before; 0:
                      what pays (0 to 20, preset 0)
    --rounds          looks at the clusters themselves, in all columns; -1: what
                      pays (-1 to 100, preset -1)
    --reduce          directions to make cells in; 0: all columns, -1: what pays
                      (-1 to 1024, preset -1)
    --share           of the budget, for choosing these directions (0.01 to 0.95,
                      preset 0.2)

  kmeans/moments
    k centres, from one noisy tensor of moments and a few of Lloyd's rounds
    guarantee: exact; proof: proofs/kmeans_moments.md
    --clusters        how many centres to find (1 to 256; must be given)
    --order           of the moments; auto: what suits the columns (auto, third or
                      fourth, preset auto)
    --rounds          refining passes over the data after the tensor; -1: as many
                      as pay (-1 to 10, preset -1)
    --share           of the budget, for the refining passes; 0: what pays (0 to
                      0.95, preset 0)
    --reduce          directions to keep before the tensor; 0: all, -1: what pays
                      (-1 to 127, preset -1)
    --starts          starts of the fit, which cost time, not privacy; 0: what
                      pays (0 to 10000, preset 0)
    --doubts          imagined runs behind the uncertainty; they cost time, not
                      privacy (0 to 1000, preset 6)

  kmeans/highdim
    k centres, by private trees of cubes, a private local search and noisy steps
    to the means
    guarantee: exact; proof: proofs/kmeans_highdim.md
    --clusters        how many centres to find (1 to 1024; must be given)
    --preset          theory: the constants that balcan2017 prints, which need far
                      more data than there are (practical or theory, preset
                      practical)
    --directions      random directions to look for centres in; 0: all columns,
                      -1: by the preset (-1 to 124, preset -1)
    --trees           trees of cubes that give candidates, each at another random
                      place; 0: by the preset (0 to 1000000, preset 0)
    --levels          how often cubes are halved; 0: by the preset (0 to 20,
                      preset 0)
    --swaps           steps of choosing centres among the candidates; 0: by the
                      preset (0 to 10000000, preset 0)
    --rounds          passes that refine the centres found; -1: by the preset,
                      none without a delta (-1 to 100, preset -1)

  kmeans/grid
    k centres, by k-means on noisy counts of a uniform grid; for a few columns
    guarantee: exact; proof: proofs/kmeans_grid.md
    --clusters        how many centres to find (1 to 1024; must be given)
    --side            cells along each column; 0: by the public number of rows and
                      the budget (0 to 65536, preset 0)

  kmeans/variates
    k centres, from seeds drawn as in k-means++ and Lloyd's rounds
    guarantee: exact; proof: proofs/kmeans_variates.md
    --clusters        how many centres to find (1 to 1024; must be given)
    --cells           public cells that seeds are drawn from; 0: by the public
                      facts (0 to 1024, preset 0)
    --rounds          passes over the data after the seeds; -1: 6, or none at a
                      pure epsilon (-1 to 100, preset -1)

  kmeans/lloyd
    k centres, by Lloyd's rounds on noisy sums and sizes
    guarantee: exact; proof: proofs/kmeans_lloyd.md
    --clusters        how many centres to find (1 to 1024; must be given)
    --rounds          passes over the data, each with its share of the budget (1
                      to 100, preset 5)
    --reduce          directions to keep before the rounds; 0: all, -1: what pays
                      (-1 to 1024, preset 0)
    --share           of the budget, for choosing the directions to keep (0.01 to
                      0.95, preset 0.5)
    --noise           of sums and sizes; auto: what errs less, which is laplace
                      without a delta (auto, gaussian or laplace, preset auto)

  kmeans/sparse
    k centres of sparse records in very many columns
    guarantee: exact; proof: proofs/kmeans_sparse.md
    --clusters        how many centres to find (1 to 1024; must be given)
    --sparsity        entries of a record that count, the largest; 0: all (0 to
                      65536, preset 0)
    --recover         all columns with noise, or the largest entries one by one
                      (sums or peel, preset sums)
    --eta             peel: 2 sparsity / eta entries of a centre are told (0.01 to
                      2, preset 1)
    --sketch          coordinates in which centres are looked for, a multiple of
                      4; 0: by choice (0 to 1024, preset 0)
    --cells           cells of the first, coarse picture; 0: by choice (0 to 1024,
                      preset 0)
    --rounds          Lloyd's rounds after it (0 to 100, preset 2)
    --noise           of sums and sizes; auto: what errs less, which is laplace
                      without a delta (auto, gaussian or laplace, preset auto)
    --picture         of the budget, for the coarse picture (0.01 to 0.95, preset
                      0.2)
    --recovery        of the budget, for the recovery (0.01 to 0.95, preset 0.6)

  kmeans/aggregate
    k centres, by ordinary k-means on disjoint blocks of the records
    guarantee: idealized; proof: proofs/kmeans_aggregate.md
    --clusters        how many centres to find (1 to 1024; must be given)
    --blocks          into how many blocks the records are divided; 0: by the
                      public facts (0 to 4096, preset 0)
    --restarts        starts of k-means in a block, of which the best is kept (1
                      to 1000, preset 3)

## Explains a method

  $ cloister methods subspace/gaussian
  subspace/gaussian
    one subspace (private PCA), from a noisy Gram matrix
    guarantee: exact; proof: proofs/subspace_gaussian.md
    --dim             dimension of the subspace; 0: that of the directions that
                      stand out of the noise (0 to 4096, preset 2)
    --gamma           for the prediction alone: the most spread of the records
                      across the subspace, as a share of the least along it; -1:
                      not stated (-1 to 1, preset -1)
    --reach           how far the records reach in the subspace: their mean square
                      along its weakest direction, times dim, as a share of the
                      norm's square; to be stated, and not from the data; for the
                      prediction alone; 0: not stated, and it is a range (0 to 1,
                      preset 0)

## Lists what there is

  $ cloister methods
  …
  kmeans/lloyd        …
  …
  subspace/gaussian   …
  …
  bounds/quantile     …
  …

## Says when there is no such thing

  $ cloister methods astrology
  ! cloister: there is no mechanism 'astrology'
  ! try: cloister methods
  [exit 2]

## Suggests a name

  $ cloister methods kmeens
  ! cloister: there is no mechanism 'kmeens'; did you mean 'kmeans'?
  ! try: cloister methods
  [exit 2]

## Writes JSON

  $ cloister methods kmeans --json | python3 -c "
  > import json, sys
  > for m in json.load(sys.stdin)['methods']:
  >     print(m['family'], m['method'], m['guarantee'], [p['name'] for p in m['parameters']])"
  kmeans tree exact ['clusters', 'cells', 'start', 'passes', 'rounds', 'reduce', 'share']
  kmeans local exact ['clusters', 'choose', 'cells', 'passes', 'rounds', 'reduce', 'share']
  kmeans moments exact ['clusters', 'order', 'rounds', 'share', 'reduce', 'starts', 'doubts']
  kmeans highdim exact ['clusters', 'preset', 'directions', 'trees', 'levels', 'swaps', 'rounds']
  kmeans grid exact ['clusters', 'side']
  kmeans variates exact ['clusters', 'cells', 'rounds']
  kmeans lloyd exact ['clusters', 'rounds', 'reduce', 'share', 'noise']
  kmeans sparse exact ['clusters', 'sparsity', 'recover', 'eta', 'sketch', 'cells', 'rounds', 'noise', 'picture', 'recovery']
  kmeans aggregate idealized ['clusters', 'blocks', 'restarts']
