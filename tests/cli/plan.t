# Plan: what a run would ask, cost and deliver

A plan reads no data and charges nobody.

## Answers how many rows in one sentence

  $ cloister plan kmeans/lloyd --clusters 3 --epsilon 1 --cols 10 --norm 1 --target 0.05
  An error of at most 0.05 (typical (root mean square) distance of a released center from the exact mean of its cluster, as a share of the norm) needs about {{[0-9]+}} rows at epsilon 1, delta 1e-6.

## Explains a plan of choices

  $ cloister plan bounds --of columns --epsilon 2 --cols 20 --norm 100 --rows 5000 --delta 1e-6 \
  >     --accountants | sed -n '/same noise/,$p'
    The same noise, at delta 1e-6, by
    composition        epsilon  what it adds up
    basic               3.8957  epsilons and deltas of all queries, added up
    advanced            4.9572  the same, by advanced composition
    renyi                    2  Renyi divergences, order by order (zCDP)
    mixed               2.4823  Gaussian queries exactly, the others bounded
    pld                  2.144  the distribution of the privacy loss; at least 2.1328

    At the same epsilon, 2, naive composition would need 1.95 times the noise.

## Explains a single ask

  $ cloister plan subspace --dim 2 --epsilon 1 --cols 10 --norm 1 --accountants \
  >     --accountants | sed -n '/same noise/,$p'
    The same noise, at delta 1e-6, by
    composition        epsilon  what it adds up
    basic                    1  epsilons and deltas of all queries, added up
    advanced            6.0724  the same, by advanced composition
    renyi               1.0779  Renyi divergences, order by order (zCDP)
    pld                      1  the distribution of the privacy loss
    gaussian-exact           1  only Gaussian queries, exactly

    Naive composition would need the same noise for this plan.

## Explains as JSON

  $ cloister plan kmeans/lloyd --clusters 3 --epsilon 1 --cols 10 --norm 1 --rows 5000 \
  >     --accountants --json | python3 -c "
  > import json, sys
  > p = json.load(sys.stdin)
  > rows = {r['accounting']: r for r in p['compositions']}
  > print(sorted(rows))
  > print(round(rows['basic']['epsilon'], 3), round(rows['pld']['epsilon'], 6))
  > print(rows['pld']['lower'] <= rows['pld']['epsilon'], rows['renyi']['lower'])
  > print(round(p['naive_noise_ratio'], 2))"
  ['advanced', 'basic', 'gaussian-exact', 'pld', 'renyi']
  2.297 1.0
  True None
  2.19

## Explains what other compositions would charge

  $ cloister plan kmeans/lloyd --clusters 3 --epsilon 1 --cols 10 --norm 1 --rows 5000 \
  >     --accountants | sed -n '/same noise/,$p'
    The same noise, at delta 1e-6, by
    composition        epsilon  what it adds up
    basic               2.2969  epsilons and deltas of all queries, added up
    advanced            6.2723  the same, by advanced composition
    renyi               1.0779  Renyi divergences, order by order (zCDP)
    pld                      1  the distribution of the privacy loss
    gaussian-exact           1  only Gaussian queries, exactly

    At the same epsilon, 1, naive composition would need 2.19 times the noise.

## Finds the fewest rows

  $ rows=$(cloister plan kmeans --clusters 3 --epsilon 1 --cols 10 --norm 1 --target 0.05 --json |
  >     python3 -c "import json,sys; print(json.load(sys.stdin)['domain']['rows'])")
  $ error() {
  >     cloister plan kmeans --clusters 3 --epsilon 1 --cols 10 --norm 1 --rows $1 --json |
  >         python3 -c "import json,sys; print(json.load(sys.stdin)['prediction']['error'] <= 0.05)"
  > }
  $ error $rows
  True
  $ error $((rows - 1))
  False

## Plans without delta

  $ cloister plan kmeans/lloyd --clusters 3 --epsilon 1 --delta 0 --cols 10 --norm 1
  kmeans/lloyd: k centers, by Lloyd's method on noisy sums and sizes

    charged     epsilon 1, delta 0
    accounting  basic
    parameters  clusters 3
    hides       replace: one row replaced by any other
    data        10 columns, records farther than 1 from the origin are moved to distance 1
    guarantee   exact, proof in proofs/kmeans_lloyd.md

    query        what                                                  times      noise   share
    laplace_sum  sums and sizes of the clusters, one query per round       5      {{[-0-9.e]+}}    100%
    (noise: standard deviation, in the units of the answer)

## Reads no data and touches no ledger

  $ cloister plan kmeans --clusters 3 --epsilon 1 --cols 10 --norm 1 > /dev/null
  $ ls -A "$HOME"

## Reproduces the noise of the paper

  $ cloister plan subspaces/sulq --clusters 3 --dim 3 --epsilon 1 --delta 1.4476482730108395e-4 \
  >     --rows 1000 --cols 10 --norm 1 --accounting paper | grep -E "accounting|gaussian_gram"
    accounting  gaussian-exact, which needs only epsilon 0.03136
    parameters  clusters 3, dim 3, accounting paper
    gaussian_gram  Gram matrices of the clusters, with the paper's noise      10      282.2    100%
  $ cloister plan subspaces/sulq --clusters 3 --dim 3 --epsilon 1 --delta 1.4476482730108395e-4 \
  >     --rows 1000 --cols 10 --norm 1 --schedule even --restarts 1 --rounds 10 \
  >     | grep -E "accounting|gaussian_gram"
    accounting  gaussian-exact
    gaussian_gram  Gram matrices of the clusters, one query per round      10      13.83    100%

## Says how far the guarantee of a mode reaches

  $ for mode in limit steps; do
  >     cloister plan subspaces/gibbs --mode $mode --accept asymptotic --dim 3 --clusters 3 \
  >     --epsilon 1 \
  >         --cols 10 --norm 1 | grep guarantee
  > done
    guarantee   asymptotic, proof in proofs/subspaces_gibbs.md
    guarantee   idealized, proof in proofs/subspaces_gibbs.md

## Says that noise hides what is looked for, and what would help

  $ cloister plan kmeans --cols 64 --rows 1797 --clusters 10 --epsilon 0.3 --bounds 0,16 \
  >     | grep -e error -e Noise -A 1
    chosen      of 5 suitable methods, local has the smallest expected error
    charged     epsilon 0.3, delta 1e-6
  --
    Noise hides 10 clusters in 1797 rows at epsilon 0.3: that needs epsilon 0.58,
    or 3400 rows, or at most 1 cluster.
  $ cloister plan kmeans --cols 2 --rows 2 --clusters 3 --epsilon 1e-9 --norm 1 | tail -n 1
    Noise hides 3 clusters in 2 rows at epsilon 1e-9: that needs 7600000 rows.
  $ cloister plan kmeans --cols 64 --rows 1797 --clusters 10 --epsilon 0.3 --bounds 0,16 --json \
  >     | grep -A 4 hidden
      "hidden": true,
      "needs": {
        "epsilon": 0.58,
        "rows": 3400,
        "clusters": 1
  $ cloister plan subspace --cols 64 --rows 300 --dim 3 --epsilon 0.3 --norm 1 | tail -n 2
    Noise hides 3 directions in 300 rows at epsilon 0.3: that needs epsilon 4, or
    3200 rows.

## Says errors in the units of each column

  $ printf 'carat,0,5\nprice,0,20000\n' > bounds.csv
  $ cloister plan kmeans --rows 53940 --clusters 8 --epsilon 1 --bounds bounds.csv | tail -n 4
    With 53940 rows, expect an error of about 0.00248 (between 0.00083 and 0.0059,
    depending on how narrow the clusters are, and how far apart): typical (root
    mean square) distance of a released center from the exact mean of its cluster,
    as a share of the norm. In each column: carat ± 0.0062, price ± 25.

## Answers how much epsilon the rows need

  $ cloister plan kmeans/lloyd --clusters 3 --rows 5000 --cols 10 --norm 1 --target 0.05
  An error of at most 0.05 (typical (root mean square) distance of a released center from the exact mean of its cluster, as a share of the norm) needs about epsilon 0.627, delta 1e-6 with 5000 rows.
  $ cloister plan kmeans/lloyd --clusters 3 --rows 50 --cols 10 --norm 1 --target 1e-5
  ! cloister: no epsilon up to 100 gives an error of 1e-5: use more rows or allow a larger error
  [exit 2]

## Shows what each epsilon buys

  $ cloister plan kmeans/lloyd --clusters 4 --rows 5000 --cols 10 --norm 1 --curve
  Expected error with 5000 rows, and the method.  ! means that noise hides the clusters.

    epsilon   2 clusters            4 clusters            8 clusters
    0.1       0.11 lloyd            0.14 lloyd            0.17! lloyd
    0.2       0.078 lloyd           0.11 lloyd            0.14! lloyd
    0.5       0.043 lloyd           0.071 lloyd           0.1 lloyd
    1         0.025 lloyd           0.045 lloyd           0.073 lloyd
    2         0.015 lloyd           0.027 lloyd           0.047 lloyd
    5         0.0076 lloyd          0.014 lloyd           0.025 lloyd
    10        0.0054 lloyd          0.0097 lloyd          0.017 lloyd
  $ cloister plan subspace/gaussian --dim 2 --rows 5000 --cols 10 --norm 1 --curve --json \
  >     | head -n 9
  {
    "schema": "cloister.curve/1",
    "rows": 5000,
    "curve": [
      {
        "epsilon": 0.1,
        "method": "gaussian",
        "error": 0.5278752389278747,
        "hidden": false
  $ cloister plan kmeans --clusters 4 --cols 10 --norm 1 --curve
  ! cloister: --curve needs the number of rows: give --rows
  [exit 2]

## Says what a run would cost

  $ cloister plan kmeans/lloyd --clusters 3 --epsilon 1 --cols 10 --norm 1 --rows 5000
  kmeans/lloyd: k centers, by Lloyd's method on noisy sums and sizes

    charged     epsilon 1, delta 1e-6
    accounting  gaussian-exact
    parameters  clusters 3
    hides       replace: one row replaced by any other
    data        10 columns, records farther than 1 from the origin are moved to distance 1, 5000 rows
    guarantee   exact, proof in proofs/kmeans_lloyd.md

    query         what                                                  times      noise   share
    gaussian_sum  sums and sizes of the clusters, one query per round       5      {{[-0-9.e]+}}    100%
    (noise: standard deviation, in the units of the answer)

    With 5000 rows, expect an error of about {{[-0-9.e]+}}: typical (root mean square)
    distance of a released center from the exact mean of its cluster, as a share
    of the norm. In each column: ± 0.011.

## Shows the default delta

  $ for rows in 100 10000 1000000; do
  >     cloister plan kmeans/lloyd --clusters 8 --epsilon 1 --cols 2 --norm 1 --rows $rows |
  >         grep charged
  > done
    charged     epsilon 1, delta 1e-6
    charged     epsilon 1, delta 1e-6
    charged     epsilon 1, delta 1e-9
  $ cloister plan kmeans/lloyd --clusters 8 --epsilon 1 --cols 2 --norm 1 | grep charged
    charged     epsilon 1, delta 1e-6

## Shows what is learnt first

  $ cloister plan kmeans/lloyd --clusters 3 --epsilon 1 --delta 1e-6 --cols 2 --rows 5000 \
  >     --norm private --center private --norm-at-most 1e5
  kmeans/lloyd: k centers, by Lloyd's method on noisy sums and sizes

    charged     epsilon 1, delta 1e-6
    accounting  pld…
    parameters  clusters 3
    hides       replace: one row replaced by any other
    data        2 columns, norm at most 100000, 5000 rows; finds norm and center first, with a share of 0.2 of the epsilon
    guarantee   exact, proof in proofs/kmeans_lloyd.md

    query         what                                                   times      noise   share
    quantile      quantile of the row norms, to learn the center             1          -      1%
    laplace_sum   sum and number of the records, to learn their center       1    {{[-0-9.e]+}}     17%
    quantile      quantile of the row norms, to learn the norm               1          -      1%
    gaussian_sum  sums and sizes of the clusters, one query per round        5    {{[-0-9.e]+}}     81%
    (noise: standard deviation, in the units of the answer, for the largest norm that may be found)

    5000 rows are enough for a private radius at epsilon 0.05, which needs 2601.

    With 5000 rows, expect an error of about {{[-0-9.e]+}}: typical (root mean square)
    distance of a released center from the exact mean of its cluster, as a share
    of the norm. In each column: ± 1400.

## Spends no more than Gaussian noise may

A larger budget buys nothing, and without that noise only the worse methods would be left.

  $ cloister plan kmeans --rows 8602 --cols 4 --clusters 5 --epsilon 1e5 --norm 1 \
  >     | sed -n '1p; 3,5p'
  kmeans/density: k centers, by fitting a density to every noisy answer of the run
    chosen      of 5 suitable methods, density has the smallest expected error:
                0.00203 (local: 0.00204); only epsilon 300 is used and charged,
                because more would hardly change the result
  $ cloister plan kmeans/local --rows 8602 --cols 4 --clusters 5 --epsilon 301 --norm 1
  ! cloister: epsilon must be at most 300 with Gaussian noise, not 301
  [exit 2]

## Takes bounds from a file

  $ printf 'name,lower,upper\nage,0,120\nincome,0,1e6\n' > bounds.csv
  $ cloister plan kmeans --clusters 8 --epsilon 1 --bounds bounds.csv | grep data
    data        2 columns, each within its bounds

## Takes the better of what is accepted

  $ for accept in exact idealized; do
  >     cloister plan subspace --accept $accept --dim 1 --epsilon 1 --delta 1e-6 --cols 200 \
  >         --rows 10 --norm 1 | grep -e ^subspace -e guarantee
  > done
  subspace/gaussian: one subspace (private PCA), from a noisy Gram matrix
    guarantee   exact, proof in proofs/subspace_gaussian.md
  subspace/bingham: one subspace (private PCA), by the exponential mechanism over subspaces
    guarantee   idealized, proof in proofs/subspace_bingham.md

## Takes the vote where there are rows enough

  $ for rows in 2000 20000; do
  >     cloister plan subspace --cols 10 --rows $rows --dim 2 --gamma 1e-4 --epsilon 1 --norm 1 \
  >         | grep -A1 chosen
  > done
    chosen      of 3 suitable methods, approx has the smallest expected error:
                0.00137 (boosted: 0.0056)
    chosen      of 3 suitable methods, boosted has the smallest expected error:
                {{0\.000[0-9]+}} (approx: 0.000416)

## Takes what is stated of the data

  $ for gamma in 0 1e-6 1e-2; do
  >     cloister plan subspace --gamma $gamma --dim 2 --epsilon 1 --delta 1e-6 --cols 500 \
  >         --rows 10000 --norm 100 | grep -A1 -e chosen
  > done
    chosen      of 2 suitable methods, exact has the smallest expected error:
                3.8e-09 (gaussian: 0.262)
    chosen      of 3 suitable methods, boosted has the smallest expected error:
                0.00218 (approx: 0.00252)
    chosen      of 3 suitable methods, gaussian has the smallest expected error:
                0.262 (approx: 1.41)

## Takes whole numbers with an exponent

  $ cloister plan kmeans --clusters 8 --epsilon 1e0 --cols 2 --norm 1 --rows 1e6 | grep data
    data        2 columns, records farther than 1 from the origin are moved to distance 1, 1000000 rows

## Writes JSON

  $ cloister plan kmeans/lloyd --clusters 3 --epsilon 1 --cols 10 --norm 1 --rows 5000 --json \
  >     | python3 -c "
  > import json, sys
  > p = json.load(sys.stdin)
  > print(p['schema'], p['budget'], p['domain']['rows'], len(p['queries']))"
  cloister.plan/2 {'epsilon': 1, 'delta': 1e-06} 5000 1

## Writes the learning as JSON

  $ cloister plan kmeans/lloyd --clusters 8 --epsilon 1 --delta 0 --cols 2 --bounds 0,1 \
  >     --norm private \
  >     --share-norm 0.2 --json > plan.json
  $ python3 -c "
  > import json
  > p = json.load(open('plan.json'))
  > print(p['learning'])
  > print([(q['query'], q['loss_kind']) for q in p['queries']])
  > print(p['used']['epsilon'] <= p['budget']['epsilon'] == 1)"
  {'norm': True, 'center': False, 'share_norm': 0.2, 'share_center': 0, 'quantile': 0.98}
  [('quantile', 'exponential'), ('laplace_sum', 'pure')]
  True

## Writes a plan as a page

  $ cloister plan kmeans/lloyd --clusters 3 --epsilon 1 --rows 5000 --cols 4 --norm 1 -o plan.html
  $ grep -c '<svg' plan.html
  2
  $ grep -o '<h1>.*</h1>' plan.html
  <h1>Plan of kmeans/lloyd: k centers, by Lloyd&#39;s method on noisy sums and sizes</h1>
  $ cloister plan kmeans/lloyd --clusters 3 --rows 5000 --cols 4 --norm 1 --curve -o plan.html
  ! cloister: -o writes one plan as a page: leave out --target, --curve, --accountants and --json
  [exit 2]

## Draws the curve at a terminal

  $ LC_ALL=C.UTF-8 on_terminal n cloister plan kmeans/lloyd --clusters 4 --rows 5000 --cols 10 \
  >     --norm 1 --curve | tail -10
  {{}}
    epsilon   error with 4 clusters
    0.1       0.14    ████████████████████████████████████████████████
    0.2       0.11    ████████████████████████████████████████████▎
    0.5       0.071   ████████████████████████████████████▊
    1         0.045   █████████████████████████████▍
    2         0.027   █████████████████████▎
    5         0.014   ██████████▊
    10        0.0097  ████▊
    (the length of a bar is the logarithm of the error)
  $ LC_ALL=C.UTF-8 cloister plan kmeans/lloyd --clusters 4 --rows 5000 --cols 10 --norm 1 --curve |
  >     grep -c '█'
  0
  [exit 1]
