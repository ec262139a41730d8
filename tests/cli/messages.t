# Messages that newcomers meet

A message says what is wrong with what was given, and then what to type.

## Names the columns of text and the option that leaves them out

  $ printf 'name,age\nbob,31\nann,42\n' > people.csv
  $ cloister run kmeans people.csv --clusters 2 --epsilon 1 --norm 100 --no-ledger
  ! cloister: people.csv: column 'name' is text: leave it out
  ! try: --columns -name
  [exit 3]

## Asks for bounds, epsilon, clusters and columns one at a time

  $ printf 'x,y\n0.1,0.2\n0.3,0.4\n' > two.csv
  $ cloister run kmeans two.csv --clusters 2 --epsilon 1 --no-ledger
  ! cloister: give --bounds or --norm: the range that values can have, from public knowledge and never from the data; it decides how much noise is needed
  ! try: --bounds FILE, with a line name,lower,upper per column; or 'cloister bounds', which finds bounds privately
  [exit 2]
  $ cloister run kmeans two.csv --clusters 2 --bounds 0,1 --no-ledger
  ! cloister: give --epsilon: the most that this run may reveal about one record
  ! try: --epsilon 1
  [exit 2]
  $ cloister run kmeans two.csv --epsilon 1 --bounds 0,1 --no-ledger
  ! cloister: give --clusters, the number of clusters to find, or --clusters auto
  ! try: --clusters 5
  [exit 2]
  $ cloister plan kmeans --clusters 2 --epsilon 1 --norm 1
  ! cloister: give --cols D, the number of columns: a plan reads no data, so it cannot count them
  [exit 2]
  $ cloister run kmeans two.csv --clusters 2 --epsilon 1 --bounds 0,1 --unit x --no-ledger
  ! cloister: --unit needs --rows-per-unit M: the most rows of one person that count, which decides how much noise is needed
  ! try: --rows-per-unit 1
  [exit 2]
  $ cloister run kmeans two.csv --clusters 2 --epsilon 1 --bounds 1,0 --no-ledger
  ! cloister: --bounds 1,0: the lower bound must be below the upper one
  [exit 2]

## Finds a name that was mistyped

  $ cloister runn kmeans
  ! cloister: there is no command 'runn'; did you mean 'run'?
  ! try: cloister help
  [exit 2]
  $ cloister run kmean two.csv
  ! cloister: there is no method 'kmean'; did you mean 'kmeans'?
  ! try: cloister methods
  [exit 2]
  $ cloister run kmeans two.csv --cluster 2
  ! cloister: there is no option '--cluster'; did you mean '--clusters'?
  ! try: cloister run --help
  [exit 2]
  $ cloister ledger shwo
  ! cloister: 'ledger' has no verb 'shwo'; did you mean 'show'?
  ! try: cloister ledger --help
  [exit 2]
  $ cloister solve kmaens two.csv
  ! cloister: there is no solver 'kmaens'; did you mean 'kmeans'?
  ! try: cloister solve --help
  [exit 2]

## Never advises an epsilon that protects nobody

  $ printf 'x,y\n0.1,0.2\n0.3,0.4\n' > two.csv
  $ cloister run kmeans two.csv --clusters 2 --epsilon 1 --norm private --norm-at-most 100 \
  >     --no-ledger
  ! kmeans/grid on 'two.csv': epsilon 1, delta 0, hides the values of a record
  ! warning: noise hides 2 clusters in 2 rows at epsilon 1: that needs 28 rows
  ! cloister: too few rows to find a radius privately: 2 rows, and at epsilon 0.1 it needs 1301; give --norm yourself, or use more rows
  [exit 2]
  $ cloister ledger init l.db --dataset two.csv --epsilon 100
  l.db is closed: it refuses runs on data sets that are not declared in it
  'two.csv' in l.db: at most epsilon 100, delta 1e-6 may ever be spent on it
  $ cloister run kmeans two.csv --clusters 2 --epsilon 1 --bounds 0,1 --ledger l.db
  ! kmeans/grid on 'two.csv': epsilon 1, delta 0, hides the values of a record
  ! cloister: noise hides 2 clusters in 2 rows at epsilon 1: that needs 26 rows; nothing was spent
  ! try: --yes, which runs it anyway
  [exit 5]
  $ cloister plan kmeans --clusters 8 --epsilon 0.1 --bounds 0,1 --cols 2 --rows 20 | tail -n 1
    1100 rows.
  $ cloister run kmeans two.csv --clusters 1 --epsilon 20 --bounds 0,1 --no-ledger -q -o out.json
  ! warning: epsilon 20 hides hardly anything about a person; 1 is usual: see docs/guides/choose-epsilon.md

## Says how much is left, and how to use it

  $ cloister generate mixture --rows 300 --cols 2 --clusters 3 --seed demo -o sample.csv
  $ cloister ledger init l.db --dataset sample.csv --epsilon 0.5
  l.db is closed: it refuses runs on data sets that are not declared in it
  'sample.csv' in l.db: at most epsilon 0.5, delta 1e-6 may ever be spent on it
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --bounds -1,1 --ledger l.db -q --yes
  ! cloister: not enough budget is left on 'sample.csv': this run needs epsilon 1, and at most 0.5 is left; nothing was spent
  ! try: --epsilon 0.5
  [exit 5]
  $ cloister ledger init l.db --dataset sample.csv --epsilon 3
  ! cloister: the data set 'sample.csv' already has a cap, which cannot be raised: 'cloister ledger lower' can lower it
  [exit 6]
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --bounds -1,1 --ledger l.db \
  >     --dataset smaple.csv -q
  ! cloister: the ledger l.db has no data set 'smaple.csv': use a name that it has, or declare this one with cloister ledger init
  ! try: cloister ledger init l.db --dataset smaple.csv --epsilon E
  [exit 2]

## Looks at a release before it looks for a ledger

  $ printf 'x,y\n0.1,0.2\n0.3,0.4\n' > two.csv
  $ cloister run kmeans two.csv --clusters 1 --epsilon 2 --bounds 0,1 --no-ledger -q -o out.json
  ! warning: noise hides 1 cluster in 2 rows at epsilon 2: that needs epsilon 7.2, or 8 rows
  $ cloister ledger check out.json
  ! cloister: the release is not signed, because no ledger was charged for it: nobody can check whether it was changed
  [exit 9]

## Says how to accept a weaker guarantee

  $ printf 'x,y\n0.1,0.2\n0.3,0.4\n' > two.csv
  $ cloister run subspace/bingham two.csv --dim 1 --epsilon 1 --norm 1 --no-ledger
  ! cloister: subspace/bingham has the guarantee idealized, which is weaker than exact: choose another method, or accept it
  ! try: --accept idealized
  [exit 2]

## Moves far records, and says so

  $ printf 'longitude,latitude\n-100,40\n-80,30\n' > map.csv
  $ cloister run kmeans/lloyd map.csv --clusters 1 --epsilon 5 --norm 1 --no-ledger -o out.json
  ! kmeans/lloyd on 'map.csv': epsilon 5, delta 1e-6, hides the values of a record
  ! warning: noise hides 1 cluster in 2 rows at epsilon 5: that needs 15 rows
  ! wrote 'out.json'; no ledger was charged
