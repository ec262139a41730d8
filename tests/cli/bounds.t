# Bounds: a radius or column bounds, privately

## Finds a radius

  $ sample; ledger
  $ cloister bounds sample.csv --epsilon 1 --norm 1000 --ledger l.db
  radius {{[0-9.]+}}: with probability 0.99 it holds at least 86.5% of the 300 rows
  ! bounds/quantile on 'sample.csv': epsilon 1, delta 0, hides the values of a record
  ! next: cloister run ... --norm {{[-0-9.e]+}}
  ! spent epsilon 1, delta 0 on 'sample.csv': epsilon 1 of 2 is left
  $ charges
  1

## Keeps odd names of columns

  $ printf 'plain,"with, comma","with ""quotes"" inside"\n1,2,3\n4,5,6\n' > odd.csv
  $ cloister bounds odd.csv --epsilon 5 --norm 10 --of columns --no-ledger -q -o bounds.csv --yes
  $ cut -d, -f1 bounds.csv
  name
  plain
  "with
  "with ""quotes"" inside"
  $ cloister run kmeans odd.csv --clusters 8 --epsilon 1 --bounds bounds.csv --no-ledger \
  >     --dry-run | grep data
    data        3 columns, each within its bounds, 2 rows

## Prints the bounds

  $ sample
  $ cloister bounds sample.csv --epsilon 2 --norm 100 --of columns --no-ledger --seed 1 -q
  name,lower,upper
  x1,{{[-0-9.e]+}},{{[-0-9.e]+}}
  x2,{{[-0-9.e]+}},{{[-0-9.e]+}}
  ! warning: --seed: this release is reproducible, not private

## Refuses an output for a radius

  $ sample; ledger
  $ refused cloister bounds sample.csv --epsilon 1 --norm 9 --ledger l.db -o out.json
  ! cloister: -o writes bounds of columns: add --of columns
  [exit 2]

## Refuses what so few rows cannot tell

  $ sample; ledger
  $ refused cloister bounds sample.csv --epsilon 0.1 --norm 1000 --ledger l.db
  ! bounds/quantile on 'sample.csv': epsilon 0.1, delta 0, hides the values of a record
  ! cloister: too few rows to find a radius privately: 300 rows, and at epsilon 0.1 it needs 1301; give --norm yourself, or use more rows
  ! try: --epsilon 0.44
  [exit 2]
  $ refused cloister bounds sample.csv --epsilon 0.1 --norm 1000 --of columns --ledger l.db -q
  ! cloister: too few rows to find bounds of a column privately: 300 rows, and at epsilon 0.0521 it needs 3862; give --bounds yourself, or use more rows
  ! try: --epsilon 1.4
  [exit 2]
  $ cloister bounds sample.csv --epsilon 0.1 --norm 1000 --ledger l.db --yes -q
  radius 1000: the largest that was allowed, because noise hides all smaller ones

## Says what is left out where the rows are not public

  $ sample
  $ cloister bounds sample.csv --epsilon 2 --norm 1000 --relation add-remove --no-ledger --seed 1 -q
  radius 1.065: with probability 0.99 it leaves out at most 5% of the rows and 21 more
  ! warning: --seed: this release is reproducible, not private
  $ cloister bounds sample.csv --epsilon 2 --norm 1000 --relation add-remove --no-ledger --dry-run \
  >     | grep rows
    At epsilon 2, a private radius needs 66 rows; with fewer the widest one is

## Says what it would spend

  $ sample; ledger
  $ cloister bounds sample.csv --epsilon 1 --norm 9 --ledger l.db --dry-run
  bounds/quantile: a radius or bounds of columns, by private quantiles

    charged     epsilon 1, delta 0
    accounting  basic
    parameters  all by default
    hides       replace: one row replaced by any other
    data        2 columns, records farther than 9 from the origin are moved to distance 9, 300 rows
    guarantee   exact, proof in proofs/bounds_quantile.md

    query     what                        times      noise   share
    quantile  quantile of the row norms       1          -    100%

    300 rows are enough for a private radius at epsilon 1, which needs 131.

    Would charge 'sample.csv' in l.db, where epsilon 2 of 2 is left; nothing was spent.
  $ charges
  0

## Wants a file

  $ cloister bounds --epsilon 1 --norm 9
  ! cloister: 'bounds' needs a file
  ! try: cloister bounds --help
  [exit 2]

## Wants a generous norm

  $ sample; ledger
  $ refused cloister bounds sample.csv --epsilon 1 --ledger l.db
  ! cloister: give --norm MAX: a generous radius that no record can exceed, from public knowledge
  ! try: --norm 1000, or another radius that no record can exceed; a generous one costs little
  [exit 2]

## Writes a file that a run takes

  $ sample
  $ cloister bounds sample.csv --epsilon 2 --norm 100 --of columns --no-ledger --seed 1 \
  >     -o bounds.csv
  ! warning: --seed: this release is reproducible, not private
  ! bounds/quantile on 'sample.csv': epsilon 2, delta 1e-6, hides the values of a record
  ! next: cloister run ... --bounds bounds.csv
  ! no ledger was charged
  $ head -1 bounds.csv
  name,lower,upper
  $ wc -l < bounds.csv
  3
  $ cloister run kmeans sample.csv --clusters 8 --epsilon 1 --bounds bounds.csv --no-ledger \
  >     --dry-run | grep data
    data        2 columns, each within its bounds, 300 rows

## Writes JSON

  $ sample
  $ cloister bounds sample.csv --epsilon 2 --norm 100 --no-ledger -q --json | python3 -c "
  > import json, sys
  > r = json.load(sys.stdin)
  > print(r['family'], r['method'], r['privacy']['delta'], list(r['values']))"
  bounds quantile 0 ['radius']
