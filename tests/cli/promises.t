# Promises of a release

What a release depends on, and what not; a seed makes it repeatable here.

## A record with a missing cell counts for nothing

Under either relation, in centres, sizes and directions; the seed makes the two runs comparable.

  $ sample
  $ for cell in nan inf -inf hello ""; do
  >     { cat sample.csv; echo "0.5,$cell"; } > missing.csv
  >     for how in "kmeans/lloyd --clusters 3" "kmeans/grid --clusters 3" "subspace --dim 1"; do
  >         # shellcheck disable=SC2086
  >         for file in missing sample; do
  >             cloister run $how $file.csv --epsilon 1 --delta 1e-6 --norm 2 --rows 300 \
  >                 --relation add-remove --no-ledger --seed 42 -q -o $file.json 2> /dev/null
  >         done
  >         cmp missing.json sample.json || echo "with '$cell': $how"
  >     done
  > done

Where the number of rows is public, it is that of the file; sums and sizes are the same.

  $ { cat sample.csv; echo "0.5,"; } > missing.csv
  $ for file in missing sample; do
  >     cloister run kmeans/lloyd $file.csv --clusters 3 --epsilon 1 --delta 1e-6 --norm 2 \
  >         --no-ledger --seed 42 -q -o $file.json 2> /dev/null
  >     cloister report $file.json | sed -n '/^centers/,$p' > $file.txt
  > done
  $ cmp missing.txt sample.txt
  $ grep '"rows"' missing.json sample.json
  missing.json:    "rows": 301
  sample.json:    "rows": 300

## A cell is filled with a public value

  $ sample
  $ { cat sample.csv; echo "0.5,"; echo ",0.25"; } > missing.csv
  $ { cat sample.csv; echo "0.5,0"; echo "0,0.25"; } > middle.csv
  $ { cat sample.csv; echo "0.5,1"; echo "0,0.25"; } > said.csv
  $ how="--clusters 3 --epsilon 1 --norm 2 --no-ledger --seed 42 -q"
  $ # shellcheck disable=SC2086
  $ for file in middle said; do cloister run kmeans $file.csv $how -o $file.json 2> /dev/null; done
  $ # shellcheck disable=SC2086
  $ cloister run kmeans missing.csv $how --missing fill -o a.json 2> /dev/null
  $ # shellcheck disable=SC2086
  $ cloister run kmeans missing.csv $how --missing fill --fill x2=1 -o b.json 2> /dev/null
  $ cmp a.json middle.json && cmp b.json said.json

## A far record counts as the clipped one

  $ sample
  $ { cat sample.csv; echo 1e6,0; } > far.csv
  $ { cat sample.csv; echo 2,0; } > near.csv
  $ for file in far near; do
  >     cloister run kmeans $file.csv --clusters 3 --epsilon 1 --norm 2 --no-ledger --seed 42 -q \
  >         -o $file.json 2> /dev/null
  >     cloister run subspace $file.csv --dim 1 --epsilon 1 --norm 2 --no-ledger --seed 42 -q \
  >         -o s-$file.json 2> /dev/null
  > done
  $ cmp far.json near.json && cmp s-far.json s-near.json

## The format of the file does not matter

  $ cloister generate mixture --rows 500 --cols 2 --clusters 3 --seed t -o data.npy
  $ cloister generate mixture --rows 500 --cols 2 --clusters 3 --seed t -o data.csv
  $ tail -n +2 data.csv > bare.csv
  $ cloister run kmeans data.npy --clusters 3 --epsilon 1 --norm 2 --no-ledger --seed 42 -q \
  >     -o npy.json 2> /dev/null
  $ cloister run kmeans bare.csv --clusters 3 --epsilon 1 --norm 2 --no-ledger --seed 42 -q \
  >     -o csv.json 2> /dev/null
  $ cmp npy.json csv.json
  $ gzip -k bare.csv data.npy
  $ for file in bare.csv.gz data.npy.gz; do
  >     cloister run kmeans $file --clusters 3 --epsilon 1 --norm 2 --no-ledger --seed 42 -q \
  >         -o $file.json 2> /dev/null
  >     cmp npy.json $file.json
  > done

## The order of the rows does not matter

  $ cloister generate mixture --rows 20000 --cols 5 --clusters 3 --seed t -o data.csv
  $ { head -1 data.csv; tail -n +2 data.csv | sort; } > sorted.csv
  $ { head -1 data.csv; tail -n +2 data.csv | sort -r -t, -k3; } > other.csv
  $ cmp -s data.csv sorted.csv
  [exit 1]
  $ for file in data sorted other; do
  >     cloister run kmeans $file.csv --clusters 3 --epsilon 1 --norm 2 --no-ledger --seed 42 -q \
  >         -o $file.json 2> /dev/null
  >     cloister run subspace $file.csv --dim 2 --epsilon 1 --norm 2 --no-ledger --seed 42 -q \
  >         -o s-$file.json 2> /dev/null
  > done
  $ cmp data.json sorted.json && cmp data.json other.json && cmp s-data.json s-sorted.json \
  >     && cmp s-data.json s-other.json

## The same seed gives the same bytes on any number of threads

  $ cloister generate mixture --rows 20000 --cols 5 --clusters 3 --seed t -o big.csv
  $ for threads in 1 2 3; do
  >     cloister run kmeans big.csv --clusters 3 --epsilon 1 --norm 2 --no-ledger --seed 42 -q \
  >         --threads $threads -o $threads.json 2> /dev/null
  >     cloister run subspace big.csv --dim 2 --epsilon 1 --norm 2 --no-ledger --seed 42 -q \
  >         --threads $threads -o s$threads.json 2> /dev/null
  > done
  $ cmp 1.json 2.json && cmp 1.json 3.json && cmp s1.json s2.json && cmp s1.json s3.json

## Two secure runs differ

  $ sample
  $ for i in 1 2; do
  >     cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --no-ledger -q -o $i.json
  > done
  $ cmp -s 1.json 2.json
  [exit 1]

## The number of rows is a secret under add remove

  $ secret_rows '' --relation add-remove

## The number of rows is a secret where persons have several

  $ secret_rows -who --relation replace --unit who --rows-per-unit 2
