# Evaluate: how good a release or a solution is

For the operator's eyes alone: the answers come from the data without noise.

## Measures a solution against the truth

  $ cloister generate subspaces --rows 600 --cols 6 --dim 2 --clusters 3 --noise 0.01 --seed a \
  >     -o d.csv --truth t.npy --labels l.csv
  $ cloister solve kplanes d.csv --clusters 3 --dim 2 --seed s -q -o s.json --labels f.csv \
  >     2> /dev/null
  $ cloister evaluate s.json d.csv --truth t.npy --labels l.csv --found f.csv
  cost        {{0\.0003[89][0-9]* +}}mean squared distance of the rows to what was found
  captured    0.999606      the share of the rows' variance that lies in it
  truth cost  {{0\.000[34][0-9]* +}}the same for the truth
  distance    {{0\.00[0-9]+ +}}distance of what was found from the truth
  angle       {{0\.00[0-9]+ +}}the largest between matched subspaces, in radians
  accuracy    1             the share of rows in the right cluster
  nmi         1             normalized mutual information with the true clusters
  ari         1             adjusted Rand index
  ! warning: not private: for the operator only

## Measures the distance to a truth

  $ sample
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 5 --norm 2 --no-ledger --seed 7 -q \
  >     -o out.json 2> /dev/null
  $ cloister evaluate out.json sample.csv --truth truth.csv --json | python3 -c "
  > import json, sys
  > e = json.load(sys.stdin)
  > print(e['private'], e['notice'])
  > print(*sorted(e))"
  False not private: for the operator only
  accuracy ari captured cost distance largest_angle nmi notice private raw_cost raw_distance raw_truth_cost rows rows_left_out scaled schema truth_cost
  ! warning: not private: for the operator only

## Refuses a file that is neither

  $ sample
  $ echo '{"schema": "cloister.evaluation/1"}' > other.json
  $ cloister evaluate other.json sample.csv
  ! cloister: other.json: this is not a cloister release: "schema" does not say cloister.release
  [exit 3]
  $ echo '{"schema": "cloister.solution/1"}' > empty.json
  $ cloister evaluate empty.json sample.csv
  ! cloister: empty.json: this is not a solution of cloister: "solver" is missing
  [exit 3]
  $ cloister evaluate nowhere.json sample.csv
  ! cloister: nowhere.json cannot be read: No such file or directory
  [exit 4]

## Refuses a truth of another shape

  $ sample
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 5 --norm 2 --no-ledger --seed 7 -q \
  >     -o out.json 2> /dev/null
  $ printf "1,2,3\n" > other.csv
  $ cloister evaluate out.json sample.csv --truth other.csv
  ! cloister: the truth must be 3 centers of 2 columns, as the release has, not a 1 x 3 matrix
  [exit 2]

## Refuses data of another width

  $ sample
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 5 --norm 2 --no-ledger --seed 7 -q \
  >     -o out.json 2> /dev/null
  $ cloister evaluate out.json sample.csv --columns x1
  ! cloister: the release needs the column 'x2', which the data do not have
  [exit 2]

## Refuses labels that do not fit

  $ sample
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 5 --norm 2 --no-ledger --seed 7 -q \
  >     -o out.json 2> /dev/null
  $ printf "cluster\n0\n1\n" > few.csv
  $ cloister evaluate out.json sample.csv --labels few.csv
  ! cloister: --labels must be one column with a label for each of the 300 rows of the data, not 2 rows of 1
  [exit 2]
  $ awk 'NR > 1 { print NR == 5 ? 0.5 : 0 }' sample.csv > half.csv
  $ cloister evaluate out.json sample.csv --labels half.csv
  ! cloister: label 4 of --labels is not a whole number of at least 0
  [exit 3]
  $ awk 'NR > 1 { print 9 }' sample.csv > high.csv
  $ cloister evaluate out.json sample.csv --labels high.csv
  ! cloister: no row has a true label below 3: there is nothing to compare the clusters with
  [exit 2]
  $ cloister evaluate out.json sample.csv --labels high.csv --clusters 0
  ! cloister: --clusters must be between 1 and 16384, not 0
  [exit 2]
  $ cloister evaluate out.json sample.csv --found high.csv
  ! cloister: --found needs --labels
  [exit 2]
  $ cloister evaluate out.json sample.csv --offsets high.csv
  ! cloister: --offsets needs --truth
  [exit 2]

## Says that it is not private

  $ sample
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 5 --norm 2 --no-ledger --seed 7 -q \
  >     -o out.json 2> /dev/null
  $ cloister evaluate out.json sample.csv
  cost        {{[0-9.e-]+ +}}mean squared distance of the rows to what was released
  ! warning: not private: for the operator only

## Scores the labels of a release

  $ cloister generate mixture --rows 300 --cols 2 --clusters 3 --noise 0.02 --outliers 0.1 \
  >     --seed sample -o sample.csv --labels l.csv
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 20 --norm 2 --no-ledger --seed 7 -q \
  >     -o out.json 2> /dev/null
  $ cloister evaluate out.json sample.csv --labels l.csv --json | python3 -c "
  > import json, sys
  > e = json.load(sys.stdin)
  > print(e['accuracy'] > 0.5, e['ari'] > 0.3, e['nmi'] > 0.3, e['largest_angle'])"
  True True True None
  ! warning: not private: for the operator only

## Wants two words

  $ cloister evaluate out.json
  ! cloister: 'evaluate' needs a release or a solution, and a file of data
  ! try: cloister evaluate --help
  [exit 2]
