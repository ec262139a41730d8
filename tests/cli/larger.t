# Larger: rows that are not held, and several files as one

## The same bytes, held or not, in one file or in several

  $ cloister generate mixture --rows 3000 --cols 3 --clusters 2 --seed 1 -o all.csv
  $ head -1001 all.csv > part-1.csv
  $ (head -1 all.csv; tail -n +1002 all.csv) > part-2.csv
  $ gzip -k part-1.csv && gzip -k part-2.csv
  $ r() { cloister run kmeans/lloyd "$@" --clusters 2 --epsilon 1 --norm 1 --no-ledger --seed 1; }
  $ r all.csv -q --json > 1.json
  ! warning: --seed: this release is reproducible, not private
  $ r all.csv -q --json --memory 64M > 2.json
  ! warning: --seed: this release is reproducible, not private
  $ r part-1.csv part-2.csv -q --json > 3.json
  ! warning: --seed: this release is reproducible, not private
  $ r 'part-*.csv' -q --json --memory 64M > 4.json
  ! warning: --seed: this release is reproducible, not private
  $ r part-1.csv.gz part-2.csv.gz -q --json --memory 64M --threads 1 > 5.json
  ! warning: --seed: this release is reproducible, not private
  $ for f in 2 3 4 5; do cmp 1.json $f.json && echo same; done
  same
  same
  same
  same

## Several files are charged under a name that is given

  $ printf 'x,y\n0.1,0.2\n' > a.csv
  $ printf 'x,y\n0.3,0.1\n' > b.csv
  $ cloister ledger init --dataset both --epsilon 5
  FOLDER/home/state/cloister/ledger.db is closed: it refuses runs on data sets that are not declared in it
  'both' in FOLDER/home/state/cloister/ledger.db: at most epsilon 5, delta 1e-6 may ever be spent on it
  $ cloister run kmeans/lloyd a.csv b.csv --clusters 1 --epsilon 1 --norm 1
  ! cloister: several files have no common name for the ledger: give --dataset NAME
  [exit 2]
  $ cloister run kmeans/lloyd a.csv b.csv --clusters 1 --epsilon 1 --norm 1 --dataset both -o a.csv
  ! cloister: -o a.csv would overwrite the data
  [exit 2]
  $ cloister run kmeans/lloyd a.csv b.csv --clusters 1 --epsilon 1 --norm 1 --dataset both \
  >     -o c.json --memory 64M --yes
  ! kmeans/lloyd on 'a.csv and 1 more': epsilon 1, delta 1e-6, hides the values of a record
  ! wrote 'c.json'; spent epsilon 1, delta 1e-6 on 'both': epsilon 4.515 of 5 is left (runs together cost less than their sum)

## Persons whose rows are not held: the same bytes

  $ cloister generate mixture --rows 3000 --cols 3 --clusters 2 --seed 1 -o all.csv
  $ awk -F, 'NR == 1 { print "who," $0; next } { print (NR % 11 ? "p" NR % 401 : "") "," $0 }' \
  >     all.csv > visits.csv
  $ head -1001 visits.csv > visits-1.csv
  $ (head -1 visits.csv; tail -n +1002 visits.csv) | gzip > visits-2.csv.gz
  $ r() { cloister run kmeans/lloyd "$@" --clusters 2 --epsilon 1 --norm 1 --no-ledger --seed 1 \
  >     --unit who --rows-per-unit 3 -q --json 2> /dev/null; }
  $ r visits.csv > 1.json
  $ r visits.csv --memory 64M > 2.json
  $ r 'visits-*' --memory 64M --threads 1 > 3.json
  $ cmp 1.json 2.json && cmp 1.json 3.json && echo same
  same
  $ grep -o '"rows_per_unit": *[0-9]*' 2.json
  "rows_per_unit": 3

## A cache: the same bytes, and nothing left behind

  $ cloister generate mixture --rows 3000 --cols 3 --clusters 2 --seed 1 -o all.csv
  $ mkdir there
  $ r() { cloister run kmeans/lloyd all.csv --clusters 2 --epsilon 1 --norm 1 --no-ledger --seed 1 \
  >     -q --json "$@"; }
  $ r > 1.json 2> /dev/null
  $ r --memory 64M --cache there > 2.json
  ! warning: --seed: this release is reproducible, not private
  $ cmp 1.json 2.json && ls -A there
  $ (ulimit -f 100; r --memory 64M --cache there) > 3.json
  ! warning: --seed: this release is reproducible, not private
  ! warning: the cache could not be written (--cache), so the files are read again: is the disk full?
  $ cmp 1.json 3.json
  $ r --cache there
  ! cloister: --cache needs --memory: give both
  [exit 2]
  $ r --memory 64M --cache nowhere
  ! cloister: nowhere cannot hold the cache: No such file or directory
  [exit 4]

## Plans that are not of sums, pipes and small limits are refused, and cost nothing

  $ printf 'x,y\n0.1,0.2\n' > a.csv
  $ cloister ledger init --dataset a.csv --epsilon 5
  FOLDER/home/state/cloister/ledger.db is closed: it refuses runs on data sets that are not declared in it
  'a.csv' in FOLDER/home/state/cloister/ledger.db: at most epsilon 5, delta 1e-6 may ever be spent on it
  $ r() { cloister run "$@" --clusters 1 --epsilon 1 --norm 1; }
  $ r kmeans/aggregate a.csv --memory 64M --accept idealized
  ! cloister: kmeans/aggregate needs all rows in memory (query aggregate): run without a limit of memory, or choose a method that needs only sums: kmeans/density, kmeans/local, kmeans/highdim, kmeans/grid, kmeans/lloyd, kmeans/sparse
  [exit 2]
  $ r kmeans/aggregate a.csv --memory 64M --accept idealized --dry-run
  ! cloister: kmeans/aggregate needs all rows in memory (query aggregate): run without a limit of memory, or choose a method that needs only sums: kmeans/density, kmeans/local, kmeans/highdim, kmeans/grid, kmeans/lloyd, kmeans/sparse
  [exit 2]
  $ r kmeans/lloyd a.csv --memory 64M --unit x --rows-per-unit 1000000 2> told || echo $?
  8
  $ sed 's/need [0-9]* MiB/need some MiB/' told
  cloister: so many rows per person need some MiB of memory, and the limit is 64 MiB: raise the limit, or lower rows-per-unit
  $ r kmeans/lloyd - --memory 64M --dataset a.csv < a.csv
  ! cloister: standard input can be read only once, and a run with a limit of memory reads its data several times: save them as a file
  [exit 2]
  $ r kmeans/lloyd a.csv --memory 10M
  ! cloister: memory must be at least 32 MiB
  [exit 2]
  $ r kmeans/lloyd a.csv --memory 64M --threads 100
  ! cloister: this run needs 350 MiB of memory on 100 threads, and the limit is 64 MiB: raise the limit, or use fewer threads
  [exit 8]
  $ r kmeans/lloyd a.csv --memory much
  ! cloister: --memory must be a number of bytes such as 512M or 2G, not 'much'
  [exit 2]
  $ cloister ledger history
  FOLDER/home/state/cloister/ledger.db: nothing was spent yet
