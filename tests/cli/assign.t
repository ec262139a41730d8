# Assign: which released cluster each of the operator's own rows is in

Its answers are not private, and it says so each time.

## Adds the distance

  $ cloister generate subspaces --rows 400 --cols 4 --clusters 2 --dim 1 --noise 0 --seed 3 \
  >     -o lines.csv --labels labels.csv
  $ cloister run subspaces/sulq lines.csv --clusters 2 --dim 1 --epsilon 50 --norm 1 --no-ledger \
  >     --seed 1 -q -o out.json 2> /dev/null
  $ cloister assign out.json lines.csv --distance -o rows.csv
  ! warning: not private: for the operator only
  $ head -n 1 rows.csv
  cluster,distance
  $ awk -F, 'NR > 1 && ($2 > 0.2 || $2 < 0) { far++ } END { print far + 0, NR - 1 }' rows.csv
  0 400

Two clusters in both, and the headings.

  $ cloister assign out.json lines.csv 2> /dev/null | paste -d , - labels.csv | sort -u | wc -l
  3

## Counts a row with a bad cell out

  $ sample
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 5 --norm 2 --no-ledger --seed 7 -q \
  >     -o out.json 2> /dev/null
  $ printf "x1,x2\nnan,0\n" > bad.csv
  $ cloister assign out.json bad.csv
  cluster
  -1
  ! warning: not private: for the operator only

## Refuses a release without clusters

  $ sample
  $ cloister run bounds/quantile sample.csv --epsilon 1 --norm 8 --no-ledger --seed 7 -q \
  >     -o out.json 2> /dev/null
  $ cloister assign out.json sample.csv
  ! cloister: a release of the family "bounds" has nothing to measure rows by: kmeans, kmedian, subspace and subspaces have
  [exit 2]

## Refuses data of another width

  $ sample
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 5 --norm 2 --no-ledger --seed 7 -q \
  >     -o out.json 2> /dev/null
  $ cloister assign out.json sample.csv --columns x1
  ! cloister: the release is about 2 columns, and the table has 1: choose the columns it was made from
  [exit 2]

## Refuses what is no release

  $ sample
  $ cloister assign sample.csv sample.csv
  ! cloister: sample.csv: this is not JSON (line 1, column 1)
  [exit 3]

## Says the cluster of each row

  $ sample
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 5 --norm 2 --no-ledger --seed 7 -q \
  >     -o out.json 2> /dev/null
  $ cloister assign out.json sample.csv | sort | uniq -c | awk '{ print $2 }'
  0
  1
  2
  cluster
  ! warning: not private: for the operator only

## Wants two words

  $ cloister assign out.json
  ! cloister: 'assign' needs a release and a file of data
  ! try: cloister assign --help
  [exit 2]
