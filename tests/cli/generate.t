# Generate: data with a known truth

## Labels outliers with the number of clusters

  $ cloister generate mixture --rows 400 --clusters 3 --outliers 0.5 --shares 1/l --seed a \
  >     --labels l.csv > /dev/null
  $ tail -n +2 l.csv | sort -u
  0
  1
  2
  3

## Makes affine subspaces of unequal dimensions

  $ cloister generate subspaces --rows 40 --cols 4 --dim 2,1 --spread 3 --noise 0 --seed a \
  >     -o d.csv --truth t.csv --offsets o.csv --labels l.csv
  $ wc -l < t.csv
  8
  $ wc -l < o.csv
  2
  $ tail -4 t.csv | cut -d, -f2 | sort -u
  0
  $ cloister generate subspaces --rows 40 --cols 4 --from t.csv --seed b -o e.csv --truth u.csv
  $ tail -4 u.csv | cut -d, -f2 | sort -u
  0

## Makes private rows from a release

  $ cloister generate subspaces --rows 500 --cols 4 --clusters 2 --dim 1 --noise 0 --seed 3 \
  >     -o lines.csv
  $ cloister run subspaces/sulq lines.csv --clusters 2 --dim 1 --epsilon 50 --norm 1 --no-ledger \
  >     --seed 1 -q -o out.json 2> /dev/null
  $ cloister generate --from out.json --seed 5 -o more.csv --labels labels.csv
  ! warning: the release is not private, and neither are rows that are made from it
  $ cloister generate --from out.json --rows 7 --seed 5 2> /dev/null > few.csv
  $ head -n 8 more.csv | cmp - few.csv
  $ wc -l < more.csv
  501
  $ head -n 1 more.csv
  x1,x2,x3,x4
  $ cloister assign out.json more.csv 2> /dev/null | cmp - labels.csv

## Makes sparse rows as LIBSVM

  $ cloister generate sparse --rows 200 --cols 5000 --clusters 3 --entries 4 --stray 1 --seed a \
  >     -o d.svm --truth t.svm --labels l.csv
  $ cloister generate sparse --rows 200 --cols 5000 --clusters 3 --entries 4 --stray 1 --seed a \
  >     > again.svm
  $ cmp d.svm again.svm
  $ wc -l < d.svm
  200
  $ wc -w < d.svm
  1200
  $ wc -w < t.svm
  15
  $ cut -d' ' -f1 d.svm > labels
  $ tail -n +2 l.csv | cmp - labels

## Makes subspaces and NPY

  $ cloister generate subspaces --rows 20 --cols 5 --clusters 2 --dim 3 --seed a -o d.npy \
  >     --truth t.npy
  $ head -c 6 d.npy | tail -c 5; echo
  NUMPY
  $ grep -a -o "'shape': ([0-9]*, [0-9]*)" d.npy t.npy
  d.npy:'shape': (20, 5)
  t.npy:'shape': (10, 3)

## Makes the same data for the same seed

  $ cloister generate mixture --rows 50 --cols 3 --clusters 2 --seed a -o one.csv --truth t.csv \
  >     --labels l.csv
  $ cloister generate mixture --rows 50 --cols 3 --clusters 2 --seed a > two.csv
  $ cloister generate mixture --rows 50 --cols 3 --clusters 2 --seed b > three.csv
  $ cmp one.csv two.csv
  $ cmp -s one.csv three.csv
  [exit 1]
  $ head -1 one.csv
  x1,x2,x3
  $ wc -l < one.csv
  51
  $ wc -l < t.csv
  2
  $ head -1 l.csv
  cluster
  $ sort -u l.csv | wc -l
  3

## Draws around the centres of a release

A width is stated, in units of half the width of each column; without one rows would be copies.
kmeans/local has asked for widths, and tells them.

  $ cloister generate mixture --rows 5000 --cols 2 --clusters 3 --seed 1 -o many.csv
  $ cloister run kmeans/lloyd many.csv --clusters 3 --epsilon 5 --bounds -2,2 --no-ledger \
  >     --seed 7 -q -o out.json 2> /dev/null
  $ cloister generate --from out.json --rows 1000 --seed 5
  ! cloister: this release does not hold the distance of records from their centers: give a spread
  ! try: --spread 0.1
  [exit 2]
  $ cloister run kmeans/local many.csv --clusters 3 --epsilon 5 --bounds -2,2 --no-ledger \
  >     --seed 7 -q -o local.json 2> /dev/null
  $ cloister generate --from local.json --rows 1000 --seed 5 -o drawn.csv 2> /dev/null
  $ for file in many drawn; do
  >     cloister evaluate local.json $file.csv --json 2> /dev/null
  > done | python3 -c "
  > import json, sys
  > true, drawn = (json.loads(line + '}') for line in sys.stdin.read().split('}')[:2])
  > print(0.8 < drawn['cost'] / true['cost'] < 1.25)"
  True
  $ cloister generate --from out.json --rows 1000 --spread 0 --seed 5 2> /dev/null | sort -u | wc -l
  4
  $ cloister generate --from out.json --rows 1000 --spread 0.05 --seed 5 -o drawn.csv 2> /dev/null
  $ cloister evaluate out.json drawn.csv --json 2> /dev/null | python3 -c "
  > import json, sys
  > e = json.load(sys.stdin)
  > print(round(e['cost'] / 2 / 0.05 ** 2, 1), round(e['raw_cost'] / 2 / 0.1 ** 2, 1))"
  1.0 1.0
  $ cloister generate --from out.json --spread -1
  ! cloister: --spread must be a number of at least 0, not '-1'
  [exit 2]
  $ cloister run subspaces/sulq many.csv --clusters 1 --dim 1 --epsilon 5 --norm 2 --no-ledger \
  >     --seed 7 -q -o flats.json 2> /dev/null
  $ cloister generate --from flats.json --spread 0.1
  ! cloister: a spread is only for centers: leave it out for a release of the family "subspaces"
  [exit 2]

## Refuses a model option beside a release

  $ cloister generate --from out.json --cols 3
  ! cloister: --cols is for a model: with --from only --rows, --spread, --noise and --seed can be given
  [exit 2]

## Refuses a model that is not there

  $ cloister generate misture
  ! cloister: there is no model 'misture'; did you mean 'mixture'?
  ! try: cloister generate --help
  [exit 2]

## Refuses a place it cannot write

  $ cloister generate mixture --rows 5 -o nowhere/x.csv
  ! cloister: nowhere/x.csv cannot be written: No such file or directory
  [exit 4]

## Refuses a release that is none

  $ cloister generate --from no.json
  ! cloister: no.json cannot be read: No such file or directory
  [exit 4]

## Refuses a truth that does not fit

  $ printf "1,0\n0,1\n0,0\n" > t.csv
  $ cloister generate subspaces --cols 2 --from t.csv
  ! cloister: t.csv has 3 rows and 2 columns, which does not fit --cols, --clusters and --dim
  [exit 2]
  $ cloister generate mixture --cols 3 --from t.csv
  ! cloister: t.csv has 3 rows and 2 columns, which does not fit --cols, --clusters and --dim
  [exit 2]

## Refuses an option of the other model

  $ cloister generate mixture --dim 2
  ! cloister: --dim belongs to subspaces, not to a mixture
  [exit 2]
  $ cloister generate subspaces --entries 2
  ! cloister: --entries belongs to a sparse mixture, not to subspaces
  [exit 2]
  $ cloister generate sparse --from t.npy
  ! cloister: --from belongs to subspaces and to a mixture, not to a sparse mixture
  [exit 2]
  $ cloister generate subspaces --inner 1
  ! cloister: --inner belongs to a mixture, not to subspaces
  [exit 2]

## Refuses sparse rows as CSV

  $ cloister generate sparse --rows 20 -o d.csv
  ! cloister: sparse rows are written as LIBSVM: name the file .svm or .libsvm, not 'd.csv'
  [exit 2]

## Says each bad number

  $ cloister generate mixture --rows 0
  ! cloister: --rows must be between 1 and 2147483648, not 0
  [exit 2]
  $ cloister generate mixture --noise -1
  ! cloister: --noise must be a number of at least 0, not '-1'
  [exit 2]
  $ cloister generate mixture --clusters two
  ! cloister: --clusters must be a whole number, not 'two'
  [exit 2]
  $ cloister generate mixture --spread 0
  ! cloister: --spread must be a number greater than 0, not '0'
  [exit 2]
  $ cloister generate subspaces --dim 3,x,1
  ! cloister: entry 2 of --dim must be a finite number, not 'x'
  [exit 2]
  $ cloister generate subspaces --dim 2,1.5
  ! cloister: entry 2 of --dim must be a whole number of at least 1, not 1.5
  [exit 2]
  $ cloister generate subspaces --clusters 3 --dim 2,1
  ! cloister: --dim must be one number, or one for each of the 3 clusters, not 2
  [exit 2]
  $ cloister generate subspaces --dim 11
  ! cloister: dim must be between 1 and the 10 columns there are, not 11
  [exit 2]
  $ cloister generate subspaces --shares 1,2
  ! cloister: --shares must be 1/l, or one number for each of the 3 clusters, not 2
  [exit 2]
  $ cloister generate subspaces --shares 0,0,0
  ! cloister: shares must be finite numbers of at least 0 that are not all 0
  [exit 2]
  $ cloister generate subspaces --decay 0
  ! cloister: decay must be above 0 and at most 1, not 0
  [exit 2]
  $ cloister generate subspaces --shortest 2
  ! cloister: --shortest must be a number between 0 and 1, not '2'
  [exit 2]
  $ cloister generate mixture --outliers 1.5
  ! cloister: --outliers must be a number between 0 and 1, not '1.5'
  [exit 2]
  $ cloister generate mixture --inner 1
  ! cloister: inner must be at least 0 and less than spread, which is 1, not 1
  [exit 2]
  $ cloister generate sparse --cols 30 --entries 20
  ! cloister: entries and stray must be at most half of the 30 columns together, not 20
  [exit 2]
  $ cloister generate sparse --stray -1
  ! cloister: --stray must be between 0 and 4096, not -1
  [exit 2]
