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

## Agrees with evaluate about who belongs where

Income would decide alone in the units of the data; with bounds both columns count.  Columns are
found by name: the second file has them in another order, and two more.

  $ printf 'name,lower,upper\nage,0,100\nincome,0,100000\n' > bounds.csv
  $ awk -v OFS=, 'BEGIN { print "age,income"
  >     for (i = 0; i < 400; i++) print (i % 2 ? 20 : 80) + i % 7, 40000 + 5000 * (i % 5) }' \
  >     > people.csv
  $ cloister run kmeans/lloyd people.csv --clusters 2 --bounds bounds.csv --epsilon 50 --no-ledger \
  >     --seed 1 -q -o out.json 2> /dev/null
  $ awk -F, 'NR == 1 { print "income,town,age,id"; next } { print $2 ",north," $1 "," NR }' \
  >     people.csv > other.csv
  $ cloister assign out.json people.csv -o one.csv 2> /dev/null
  $ cloister assign out.json other.csv -o two.csv 2> /dev/null
  $ cmp one.csv two.csv && sort one.csv | uniq -c | awk '{ print $1, $2 }'
  200 0
  200 1
  1 cluster
  $ cloister evaluate out.json other.csv --labels one.csv
  cost        0.0216437     mean squared distance of the rows to what was released, columns by half their width
  raw cost    50084300      the same, in the units of the data
  accuracy    1             the share of rows in the right cluster
  nmi         1             normalized mutual information with the true clusters
  ari         1             adjusted Rand index
  ! warning: not private: for the operator only
  $ cut -d , -f 1,2 other.csv > fewer.csv
  $ cloister assign out.json fewer.csv
  ! cloister: the release needs the column 'age', which the data do not have
  [exit 2]
  $ awk -F, 'NR > 1 { $3 = "old" } 1' OFS=, other.csv > words.csv
  $ cloister assign out.json words.csv
  ! cloister: words.csv: column 'age' is text, but the release needs numbers there
  [exit 3]
  $ sed 1d people.csv > bare.csv
  $ cloister assign out.json bare.csv 2> /dev/null | cmp - one.csv

## Counts a row with a bad cell out

  $ sample
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 5 --norm 2 --no-ledger --seed 7 -q \
  >     -o out.json 2> /dev/null
  $ printf "x1,x2\nnan,0\n" > bad.csv
  $ cloister assign out.json bad.csv
  cluster
  -1
  ! warning: not private: for the operator only
  ! warning: 1 row with a missing cell is in no cluster: -1; a run ignores such rows, unless --missing is fill

## Fills a missing cell in as a run would

  $ sample
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 5 --bounds -2,2 --no-ledger --seed 7 -q \
  >     -o out.json 2> /dev/null
  $ printf "x1,x2\nnan,0.5\n0,0.5\n1,0.5\n" > bad.csv
  $ cloister assign out.json bad.csv --distance --missing fill 2> /dev/null | sort -u | wc -l
  3
  $ cloister assign out.json bad.csv --distance --missing fill --fill x1=1 2> /dev/null | sort -u |
  >     wc -l
  3
  $ cloister assign out.json bad.csv --missing fill --fill x3=1
  ! cloister: bad.csv has no column 'x3'; did you mean 'x1'?
  [exit 2]
  $ cloister evaluate out.json bad.csv --json 2> /dev/null | grep rows
    "rows": 2,
    "rows_left_out": 1,
  $ cloister evaluate out.json bad.csv --missing fill --json 2> /dev/null | grep rows
    "rows": 3,
    "rows_left_out": 0,

## Refuses a release without clusters

  $ sample
  $ cloister run bounds/quantile sample.csv --epsilon 1 --norm 8 --no-ledger --seed 7 -q \
  >     -o out.json 2> /dev/null
  $ cloister assign out.json sample.csv
  ! cloister: a release of the family "bounds" has no clusters: use one of kmeans, kmedian, subspace or subspaces
  [exit 2]

## Refuses data of another width

  $ sample
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 5 --norm 2 --no-ledger --seed 7 -q \
  >     -o out.json 2> /dev/null
  $ cloister assign out.json sample.csv --columns x1
  ! cloister: the release needs the column 'x2', which the data do not have
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
