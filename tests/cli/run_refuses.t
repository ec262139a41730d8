# Run: what it does not take

## A private norm that so few rows cannot tell

  $ sample; ledger
  $ refused cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 1 --norm private \
  >     --norm-at-most 100 --ledger l.db -q
  ! cloister: too few rows to find a radius privately: 300 rows, and at epsilon 0.1 it needs 1301; give --norm yourself, or use more rows
  ! try: --share-norm 0.44
  [exit 2]
  $ refused cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 0.2 --norm private \
  >     --center private --norm-at-most 100 --ledger l.db -q
  ! cloister: too few rows to find a radius privately: 300 rows, and at epsilon 0.01 it needs 13001; give --norm yourself, or use more rows
  ! try: --epsilon 8.7
  [exit 2]
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 1 --norm private \
  >     --norm-at-most 100 --no-ledger --yes -q --seed 1 --json | grep learnt_norm
      "learnt_norm": [100],
  ! warning: --seed: this release is reproducible, not private

## Refuses a seed where the ledger guards a cap

  $ sample; ledger
  $ refused cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 1 --norm 1 --ledger l.db \
  >     --seed 1 -q -o out.json
  ! cloister: --seed makes a release that is not private, and 'sample.csv' has a cap in this ledger: leave --seed out, or pass --no-ledger; nothing was spent
  [exit 2]

## Refuses to guess how many clusters there are

  $ sample; ledger
  $ refused cloister run kmeans sample.csv --epsilon 1 --norm 1 --ledger l.db -o out.json
  ! cloister: give --clusters, the number of clusters to find, or --clusters auto
  ! try: --clusters 5
  [exit 2]
  $ refused cloister run subspaces/sulq sample.csv --dim 1 --epsilon 1 --norm 1 --no-ledger
  ! cloister: give --clusters, the number of clusters to find, or --clusters auto
  ! try: --clusters 5
  [exit 2]
  $ cloister plan kmeans --epsilon 1 --cols 2 --norm 1
  ! cloister: give --clusters, the number of clusters to find, or --clusters auto
  ! try: --clusters 5
  [exit 2]

## Does not overwrite a release that was paid for

  $ sample; ledger
  $ run() { cloister run kmeans sample.csv --clusters 2 --epsilon 0.5 --norm 2 "$@"; }
  $ run --no-ledger -q -o out.json
  $ run --ledger l.db -q --token first -o out.json
  $ cp out.json first.json
  $ run --ledger l.db -o out.json
  ! cloister: -o out.json would overwrite a release that was paid for; nothing was spent
  ! try: another name, or --overwrite
  [exit 2]
  $ cmp out.json first.json
  $ run --ledger l.db -q --token first -o out.json
  $ run --ledger l.db -q --overwrite -o out.json
  $ charges
  2
  $ cmp -s out.json first.json
  [exit 1]
  $ run --ledger l.db -q -o -  | head -n 2
  {
    "schema": "cloister.release/2",

## Does not overwrite the data or the ledger

  $ sample; ledger
  $ cp sample.csv before.csv
  $ cloister run kmeans sample.csv --clusters 2 --epsilon 1 --norm 1 --ledger l.db -o ./sample.csv
  ! cloister: -o ./sample.csv would overwrite the data
  [exit 2]
  $ cloister run kmeans sample.csv --clusters 2 --epsilon 1 --norm 1 --ledger l.db -o l.db
  ! cloister: -o l.db would overwrite the ledger
  [exit 2]
  $ cmp sample.csv before.csv
  $ charges
  0

## Refuses several files without a name to charge

  $ cloister run kmeans a.csv b.csv --clusters 8 --epsilon 1 --norm 1
  ! cloister: several files have no common name for the ledger: give --dataset NAME
  [exit 2]

## Refuses another number of rows under replace

  $ sample; ledger
  $ refused cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db \
  >     --rows 299 -o out.json
  ! cloister: --rows is 299, but 'sample.csv' has 300: under replace leave --rows out
  [exit 2]

## Refuses bounds that miss a column

  $ sample; ledger
  $ printf 'name,lower,upper\nx2,-2,2\n' > bounds.csv
  $ refused cloister run kmeans sample.csv --clusters 8 --epsilon 1 --ledger l.db \
  >     --bounds bounds.csv -o out.json
  ! cloister: 'bounds.csv' has no bounds for the column 'x1': add a line for it, or use only the columns with bounds
  ! try: --columns x2
  [exit 2]

## Suggests a mechanism

  $ cloister run kmean a.csv --epsilon 1 --norm 1
  ! cloister: there is no method 'kmean'; did you mean 'kmeans'?
  ! try: cloister methods
  [exit 2]

## Wants the rows of a unit

  $ sample; ledger
  $ refused cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db --unit x1
  ! cloister: --unit needs --rows-per-unit M: the most rows of one person that count, which decides how much noise is needed
  ! try: --rows-per-unit 1
  [exit 2]

## Wants the unit of the rows

  $ sample; ledger
  $ refused cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db \
  >     --rows-per-unit 2
  ! cloister: --rows-per-unit needs --unit COLUMN, the column that names the person of a row
  [exit 2]

## Wants the width of a LIBSVM file

  $ open_ledger
  $ printf '1 1:0.5 3:0.2\n0 2:1\n' > a.svm
  $ cloister run kmeans a.svm --clusters 2 --epsilon 1 --norm 1 --cols 3 --no-ledger -q --json \
  >     | grep '"cols"'
      "cols": 3,
  ! warning: noise hides 2 clusters in 2 rows at epsilon 1: that needs 26 rows
  $ refused cloister run kmeans a.svm --clusters 2 --epsilon 1 --norm 1 --ledger l.db -o out.json
  ! cloister: a.svm is LIBSVM, which does not state its number of columns: give the public number (--cols)
  [exit 2]

## Wants two words

  $ cloister run kmeans
  ! cloister: 'run' needs a family, such as kmeans, and a file
  ! try: cloister run --help
  [exit 2]
