# Methods: what there is

## Explains a family

  $ cloister methods kmeans
  kmeans/density
    k centers, by fitting a density to every noisy answer of the run
    guarantee: exact; proof: proofs/kmeans_density.md
    --clusters        how many centers to find, or auto (1 to 1024; must be given)
    --choose          given: find that many clusters; elbow: find at most that
                      many, where the curve of the loss bends (given or elbow,
                      default given)
    --explain         with clusters auto: the share of the spread that the
                      clusters must explain; 0: the bend of the curve decides (0
                      to 1, default 0)
    --smallest        with clusters auto: the least number of records of a cluster
                      (0 to 1000000000000, default 0)
    --cells           the most cells to divide the data into; 0: chosen from the
                      public facts (0 to 1024, default 0)
    --rounds          rounds that refine the clusters; 0: chosen from the public
                      facts (0 to 12, default 0)
    --points          number of points of the density; 0: chosen from the public
                      facts (0 to 100000, default 0)

  kmeans/local
    k centers, with noise as small as each cluster is wide
    guarantee: exact; proof: proofs/kmeans_local.md
    --clusters        how many centers to find, or auto (1 to 1024; must be given)
    --choose          given: find that many clusters; elbow: find at most that
                      many, where the curve of the loss bends (given or elbow,
                      default given)
    --cells           the most cells to divide the data into; 0: chosen from the
                      public facts (0 to 1024, default 0)
    --passes          passes over the cells, each with the widths of the pass
                      before; 0: chosen from the public facts (0 to 20, default 0)
    --rounds          rounds that refine the clusters in all columns; -1: chosen
                      from the public facts (-1 to 100, default -1)
    --reduce          number of directions to make cells in; 0: all columns; -1:
                      chosen from the public facts (-1 to 1024, default -1)
    --share           share of the budget for choosing the directions (0.01 to
                      0.95, default 0.2)

  kmeans/highdim
    k centers, by private trees of cubes, a private local search and noisy steps
    guarantee: exact; proof: proofs/kmeans_highdim.md
    --clusters        how many centers to find, or auto (1 to 1024; must be given)
    --preset          theory: the constants of the paper (balcan2017), which need
                      far more data than anybody has (practical or theory, default
                      practical)
    --directions      number of random directions to look for centers in; 0: all
                      columns; -1: as preset says (-1 to 124, default -1)
    --trees           number of randomly placed trees of cubes that give
                      candidates; 0: as preset says (0 to 1000000, default 0)
    --levels          how often cubes are halved; 0: as preset says (0 to 20,
                      default 0)
    --swaps           steps that choose centers among the candidates; 0: as preset
                      says (0 to 10000000, default 0)
    --rounds          passes that refine the centers; -1: as preset says, none
                      without a delta (-1 to 100, default -1)

  kmeans/grid
    k centers, by k-means on noisy counts of a grid; for few columns
    guarantee: exact; proof: proofs/kmeans_grid.md
    --clusters        how many centers to find, or auto (1 to 1024; must be given)
    --side            cells along each column; 0: chosen from the public facts (0
                      to 65536, default 0)

  kmeans/lloyd
    k centers, by Lloyd's method on noisy sums and sizes
    guarantee: exact; proof: proofs/kmeans_lloyd.md
    --clusters        how many centers to find, or auto (1 to 1024; must be given)
    --rounds          passes over the data; they share the budget (1 to 100,
                      default 5)
    --reduce          number of directions to keep before the rounds; 0: all; -1:
                      chosen from the public facts (-1 to 1024, default 0)
    --share           share of the budget for choosing the directions (0.01 to
                      0.95, default 0.5)
    --noise           noise of sums and sizes; auto: the smaller error, which is
                      laplace without a delta (auto, gaussian or laplace, default
                      auto)

  kmeans/sparse
    k centers of sparse records in very many columns
    guarantee: exact; proof: proofs/kmeans_sparse.md
    --clusters        how many centers to find, or auto (1 to 1024; must be given)
    --sparsity        how many of the largest entries of a record count; 0: all (0
                      to 65536, default 0)
    --recover         sums: noisy sums of all columns; peel: the largest entries
                      one by one (sums or peel, default sums)
    --eta             with recover=peel: each center gets 2 * sparsity / eta
                      entries (0.01 to 2, default 1)
    --sketch          number of random directions to look for centers in, a
                      multiple of 4; 0: chosen from the public facts (0 to 1024,
                      default 0)
    --cells           number of cells of the first, coarse answer; 0: chosen from
                      the public facts (0 to 1024, default 0)
    --rounds          rounds of Lloyd's method that refine the first answer (0 to
                      100, default 2)
    --noise           noise of sums and sizes; auto: the smaller error, which is
                      laplace without a delta (auto, gaussian or laplace, default
                      auto)
    --picture         share of the budget for the first, coarse answer (0.01 to
                      0.95, default 0.2)
    --recovery        share of the budget for the sums in all columns (0.01 to
                      0.95, default 0.6)

  kmeans/aggregate
    k centers, by ordinary k-means on disjoint blocks of the records
    guarantee: idealized; proof: proofs/kmeans_aggregate.md
    --clusters        how many centers to find, or auto (1 to 1024; must be given)
    --blocks          number of blocks that the records are divided into; 0:
                      chosen from the public facts (0 to 4096, default 0)
    --restarts        starts of k-means per block; the best one is kept (1 to
                      1000, default 3)

## Explains a method

  $ cloister methods subspace/gaussian
  subspace/gaussian
    one subspace (private PCA), from a noisy Gram matrix
    guarantee: exact; proof: proofs/subspace_gaussian.md
    --dim             dimension of the subspace; 0: as many directions as stand
                      out from the noise (0 to 4096, default 2)
    --gamma           only for the prediction: the largest spread of the records
                      across the subspace, as a share of the smallest spread along
                      it; -1: not stated (-1 to 1, default -1)
    --reach           public knowledge, never from the data: the mean square of
                      the records along the weakest direction of the subspace,
                      times dim, as a share of the squared norm; only for the
                      prediction; 0: not stated, and the prediction is a range (0
                      to 1, default 0)

## Lists what people need

  $ cloister methods
  kmeans/density              k centers, by fitting a density to every noisy
                              answer of the run
  kmeans/local                k centers, with noise as small as each cluster is
                              wide
  kmeans/grid                 k centers, by k-means on noisy counts of a grid; for
                              few columns
  kmeans/sparse               k centers of sparse records in very many columns
  kmedian/local               k medians, with noise as small as each cluster is
                              wide
  kmedian/density             k medians, by fitting a density to every noisy
                              answer of the run
  subspace/gaussian           one subspace (private PCA), from a noisy Gram matrix
  subspace-clusters/moments   k subspaces, from one noisy tensor of fourth moments
  bounds/quantile             a radius or bounds of columns, by private quantiles

  Name only a family, such as kmeans, and cloister chooses the method.
  pca is another name of the family subspace, subspaces of subspace-clusters.
  'cloister methods --all' also lists the research methods.

## Lists all methods

  $ cloister methods --all | grep -c "^[a-z-]*/"
  20
  $ cloister methods --all | grep -A 2 "^Research"
  Research methods, to compare with
  kmeans/highdim              k centers, by private trees of cubes, a private
                              local search and noisy steps
  $ cloister methods --json | grep -c '"method"'
  20

## Says when there is no such thing

  $ cloister methods astrology
  ! cloister: there is no method 'astrology'
  ! try: cloister methods
  [exit 2]

## Suggests a name

  $ cloister methods kmeens
  ! cloister: there is no method 'kmeens'; did you mean 'kmeans'?
  ! try: cloister methods
  [exit 2]

## Writes JSON

  $ cloister methods kmeans --json | python3 -c "
  > import json, sys
  > for m in json.load(sys.stdin)['methods']:
  >     print(m['family'], m['method'], m['guarantee'], [p['name'] for p in m['parameters']])"
  kmeans density exact ['clusters', 'choose', 'explain', 'smallest', 'cells', 'rounds', 'points']
  kmeans local exact ['clusters', 'choose', 'cells', 'passes', 'rounds', 'reduce', 'share']
  kmeans highdim exact ['clusters', 'preset', 'directions', 'trees', 'levels', 'swaps', 'rounds']
  kmeans grid exact ['clusters', 'side']
  kmeans lloyd exact ['clusters', 'rounds', 'reduce', 'share', 'noise']
  kmeans sparse exact ['clusters', 'sparsity', 'recover', 'eta', 'sketch', 'cells', 'rounds', 'noise', 'picture', 'recovery']
  kmeans aggregate idealized ['clusters', 'blocks', 'restarts']
