# Sweep: many runs, each measured

Everything that a row says is known from its key, but for the seconds: `cut` leaves them out.

## Writes a row for each method, epsilon and seed

  $ cloister sweep mixture:rows=2000 kmeans/lloyd 'kmeans/local:rounds=0|1' solve/kmeans \
  >     --set clusters=5 --epsilon 0.5,2 --seeds 1-3 --norm 1 -o rows.csv
  ! warning: not private: seeded runs, measured without noise; for experiments only
  ! 21 rows added, 0 there before
  $ head -n 1 rows.csv
  data,method,settings,epsilon,seed,taken,delta,cost,reference,ratio,distance,angle,captured,accuracy,nmi,ari,seconds,problem
  $ cut -d, -f 2-6 rows.csv | sed -n 2,8p
  kmeans/lloyd,clusters=5 norm=1,0.5,1,kmeans/lloyd
  kmeans/lloyd,clusters=5 norm=1,2,1,kmeans/lloyd
  kmeans/local,clusters=5 rounds=0 norm=1,0.5,1,kmeans/local
  kmeans/local,clusters=5 rounds=0 norm=1,2,1,kmeans/local
  kmeans/local,clusters=5 rounds=1 norm=1,0.5,1,kmeans/local
  kmeans/local,clusters=5 rounds=1 norm=1,2,1,kmeans/local
  solve/kmeans,clusters=5,,1,solve/kmeans

The cost of the ordinary solver, which is the reference of all others, is a row of its own; the
ratio is that of the two numbers.

  $ awk -F, 'NR > 1 && $2 != "solve/kmeans" { if (($8 / $9 - $10) ^ 2 > 1e-20) print }' rows.csv
  $ awk -F, '$5 == 2 { print $2 == "solve/kmeans" ? $8 : $9 }' rows.csv | sort -u | wc -l
  1

## Measures what run and evaluate do

  $ cloister sweep mixture:rows=2000,cols=3 kmeans/lloyd --set clusters=4 --epsilon 1 --seeds 7 \
  >     --norm 1 -o rows.csv -q
  ! warning: not private: seeded runs, measured without noise; for experiments only
  $ cloister generate mixture --rows 2000 --cols 3 --seed 7 -o data.npy --truth truth.npy \
  >     --labels labels.npy
  $ cloister run kmeans/lloyd data.npy --clusters 4 --epsilon 1 --norm 1 --no-ledger -q \
  >     --seed '"mixture:rows=2000,cols=3",kmeans/lloyd,clusters=4 norm=1,1,7' -o out.json
  ! warning: --seed: this release is reproducible, not private
  $ test $(cloister evaluate out.json data.npy --json 2> /dev/null | grep '"cost"' |
  >     tr -dc 0-9.) = $(tail -n 1 rows.csv | cut -d, -f 9) && echo the same
  the same

## Goes on where it was stopped

  $ cloister sweep mixture:rows=500 kmeans/lloyd --set clusters=2 --epsilon 1,2,3 --seeds 1-4 \
  >     --norm 1 -o whole.csv -q
  ! warning: not private: seeded runs, measured without noise; for experiments only

A killed program may leave half a line.

  $ head -c $(($(head -n 8 whole.csv | wc -c) - 9)) whole.csv > half.csv
  $ cloister sweep mixture:rows=500 kmeans/lloyd --set clusters=2 --epsilon 1,2,3 --seeds 1-4 \
  >     --norm 1 -o half.csv
  ! warning: not private: seeded runs, measured without noise; for experiments only
  ! 6 rows added, 6 there before
  $ cut -d, -f 1-16 whole.csv > a; cut -d, -f 1-16 half.csv > b; cmp a b

Two parts at the same time make the same rows.

  $ for part in 1/2 2/2; do
  >     cloister sweep mixture:rows=500 kmeans/lloyd --set clusters=2 --epsilon 1,2,3 --seeds 1-4 \
  >         --norm 1 -o parts.csv -q --part $part 2> /dev/null &
  > done; wait
  $ cut -d, -f 1-16 parts.csv | sort > c; sort a | cmp - c

## Takes a file with labels and a truth, and the bounds of its columns

  $ cloister generate mixture --rows 800 --clusters 3 --seed own -o own.csv --truth truth.csv \
  >     --labels labels.csv
  $ cloister sweep own.csv kmeans solve/kmeans --set clusters=3 --epsilon 5 --bounds -1,1 \
  >     --truth truth.csv --labels labels.csv -q -o rows.csv
  ! warning: not private: seeded runs, measured without noise; for experiments only
  $ awk -F, 'NR > 1 { n = NF; print ($(n - 7) < 0.2), ($(n - 4) > 0.8), ($n == "") }' rows.csv
  1 1 1
  1 1 1

With another number of clusters there is nothing to match the truth with.

  $ cloister sweep own.csv solve/kmeans:clusters=2 --truth truth.csv -q | cut -d, -f 2,3,11,18
  method,settings,distance,problem
  solve/kmeans,clusters=2,,
  ! warning: not private: seeded runs, measured without noise; for experiments only

## Says in the row why a run could not be made

  $ cloister sweep mixture:rows=300,cols=30 kmeans/grid kmeans/lloyd --set clusters=2 --epsilon 1 \
  >     --norm 1 -o rows.csv
  ! warning: not private: seeded runs, measured without noise; for experiments only
  ! 2 rows added, 0 there before
  ! 1 of them could not be measured: see the column 'problem'
  $ grep kmeans/grid rows.csv | sed 's/.*,,,,,,//'
  …

## Refuses before the first run

  $ cloister sweep mixture kmeans/lloyd:roundz=3 --set clusters=2 --epsilon 1 --norm 1
  ! cloister: there is no setting 'roundz'
  [exit 2]
  $ cloister sweep mixture kmeans/lloyd:rounds --set clusters=2 --epsilon 1 --norm 1
  ! cloister: 'rounds' must be SETTING=VALUE, or SETTING=VALUE|VALUE for several
  [exit 2]
  $ cloister sweep mixture:dim=3 kmeans/lloyd --set clusters=2 --epsilon 1 --norm 1
  ! cloister: the model 'mixture' has no setting 'dim'
  [exit 2]
  $ cloister sweep mixture:rows=-3 kmeans/lloyd --set clusters=2 --epsilon 1 --norm 1
  ! …
  [exit 2]
  $ cloister sweep mixture kmeans/lloyd --set clusters=2 --norm 1
  ! cloister: give --epsilon: the epsilons to try, as in 0.1,1,10
  [exit 2]
  $ cloister sweep mixture kmeans/lloyd --set clusters=2 --epsilon 1,x --norm 1
  ! …
  [exit 2]
  $ cloister sweep mixture kmeans/lloyd --set clusters=2 --epsilon 1
  ! …
  [exit 2]
  $ cloister sweep mixture kmeans/lloyd --set clusters=2 --epsilon 1 --norm 1 --seeds 9-1
  ! cloister: --seeds must be numbers or ranges such as 1-10, not '9-1'
  [exit 2]
  $ cloister sweep mixture kmeans/lloyd --set clusters=2 --epsilon 1 --norm 1 --part 3/2
  ! cloister: --part must be I/N with I from 1 to N, as in 2/4, not '3/2'
  [exit 2]
  $ cloister sweep mixture kmeans/lloyd --set clusters=2 --epsilon 1 --norm 1 --reference kmeanz
  ! …
  [exit 2]
  $ cloister sweep mixture solve/kmeans --set clusters=2 --truth t.csv
  ! cloister: leave out --truth and --labels: they are for a file, and a model has its own
  [exit 2]
  $ cloister sweep nothing.csv kmeans/lloyd --set clusters=2 --epsilon 1 --norm 1
  ! cloister: nothing.csv cannot be read: No such file or directory
  [exit 4]
  $ cloister sweep mixture
  ! cloister: 'sweep' needs data and at least one method
  ! try: cloister sweep --help
  [exit 2]

A file that is something else is left as it is.

  $ echo 'my notes' > notes.csv
  $ cloister sweep mixture solve/kmeans --set clusters=2 -o notes.csv
  ! cloister: 'notes.csv' is not a file of this command: choose another -o
  [exit 3]
  $ cat notes.csv
  my notes
  $ ls -l rows.csv 2> /dev/null
  [exit 2]
