# A run that does not come to its end

The charge is on disk before the data are asked, so whatever happens afterwards has spent.

## A killed run has spent

  $ cloister generate mixture --rows 200000 --cols 10 --clusters 4 --seed t -o big.npy
  $ cloister ledger init l.db --dataset big.npy --epsilon 1 > /dev/null
  $ cloister run kmeans big.npy --clusters 256 --rounds 100 --epsilon 1 --delta 1e-6 --norm 2 \
  >     --ledger l.db -q -o out.json &
  $ run=$!
  $ wait_for_charge $run
  $ { kill -9 $run; wait $run; } 2> /dev/null
  [exit 137]
  $ charges
  1
  $ ls -A | grep -v '^l\.db'
  big.npy
  $ cloister ledger verify l.db
  l.db: sound; 1 charge, and every hash fits
  $ cloister run kmeans big.npy --clusters 8 --epsilon 1 --delta 1e-6 --norm 2 --ledger l.db -q
  ! cloister: the cap on the data set big.npy does not cover this run: it asks for epsilon 1 and delta 1e-6, and of its epsilon 1 and delta 1e-6 only epsilon 0 and delta 0 are left: no further run fits
  ! try: cloister ledger show l.db
  [exit 5]

## A stopped run ends in order and has spent

  $ cloister generate mixture --rows 200000 --cols 10 --clusters 4 --seed t -o big.npy
  $ cloister ledger init l.db --dataset big.npy --epsilon 1 > /dev/null
  $ cloister run kmeans big.npy --clusters 256 --rounds 100 --epsilon 1 --delta 1e-6 --norm 2 \
  >     --ledger l.db -q -o out.json &
  $ run=$!
  $ wait_for_charge $run
  $ kill -TERM $run; wait $run
  ! cloister: stopped; the budget of this run stays spent
  [exit 143]
  $ charges
  1
  $ ls -A | grep -v '^l\.db'
  big.npy

## Stopped while it reads, a run has spent nothing

  $ sample; ledger
  $ mkfifo pipe
  $ cloister run kmeans pipe --clusters 3 --epsilon 1 --norm 2 --ledger l.db --dataset sample.csv \
  >     -o out.json & pid=$!
  $ feeds_much; kill -TERM $pid; feeds_on; wait $pid
  ! cloister: stopped while 'pipe' was read: nothing was spent
  [exit 143]
  $ charges; ls out.json
  0
  ! ls: cannot access 'out.json': No such file or directory
  [exit 2]

## A run whose terminal is gone stops in order

  $ sample; ledger
  $ mkfifo pipe
  $ cloister run kmeans pipe --clusters 3 --epsilon 1 --norm 2 --ledger l.db --dataset sample.csv \
  >     -o out.json & pid=$!
  $ feeds_much; kill -HUP $pid; feeds_on; wait $pid
  ! cloister: stopped while 'pipe' was read: nothing was spent
  [exit 129]
  $ charges
  0

## No core is left, and no number of threads is too many

  $ sample
  $ (ulimit -c unlimited 2> /dev/null; mkfifo pipe; cloister run kmeans pipe --clusters 3 \
  >     --epsilon 1 --norm 2 --no-ledger -q & pid=$!; exec 3> pipe
  >     grep 'Max core' /proc/$pid/limits | tr -s ' '; exec 3>&-; wait $pid) 2> /dev/null
  Max core file size 1 1 bytes {{ *}}
  [exit 3]
  $ OMP_NUM_THREADS=99999 cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 \
  >     --no-ledger -q > /dev/null
