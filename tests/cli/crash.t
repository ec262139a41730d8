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
  l.db: unchanged; 1 charge, and every hash is correct
  $ cloister run kmeans big.npy --clusters 8 --epsilon 1 --delta 1e-6 --norm 2 --ledger l.db -q
  ! cloister: no budget is left on 'big.npy'; nothing was spent
  ! try: cloister ledger show l.db
  [exit 5]

## A stopped run ends in order and has spent

  $ cloister generate mixture --rows 200000 --cols 10 --clusters 4 --seed t -o big.npy
  $ cloister ledger init l.db --dataset big.npy --epsilon 1 > /dev/null
  $ cloister run kmeans big.npy --clusters 256 --rounds 100 --epsilon 1 --delta 1e-6 --norm 2 \
  >     --ledger l.db -q -o out.json 2> said &
  $ run=$!
  $ wait_for_charge $run
  $ stops $run
  [exit 143]
  $ tail -n 1 said; rm said
  cloister: stopped before there was a release; its charge stays: epsilon 1, delta 1e-6 on 'big.npy'
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

## Waiting for its input, a run ends at the first signal

That is a FIFO that nobody opens, one that says nothing, and a pipe on standard input.

  $ sample; ledger; mkfifo pipe
  $ run() { exec cloister run kmeans "$1" --clusters 3 --epsilon 1 --norm 2 --ledger l.db \
  >     --dataset sample.csv -o out.json; }
  $ stopped() { waits $1 catches_signals $1; kill -$2 $1; wait $1; }
  $ run pipe & stopped $! TERM
  ! cloister: stopped while 'pipe' was read: nothing was spent
  [exit 143]
  $ sleep 600 > pipe & silent=$!
  $ run pipe & stopped $! TERM
  ! cloister: stopped while 'pipe' was read: nothing was spent
  [exit 143]
  $ run - < pipe & stopped $! HUP
  ! cloister: stopped while '-' was read: nothing was spent
  [exit 129]
  $ cloister inspect pipe & stopped $! TERM
  ! cloister: stopped while pipe was read
  [exit 143]
  $ kill $silent; wait $silent 2> /dev/null
  [exit 143]
  $ charges; ls out.json
  0
  ! ls: cannot access 'out.json': No such file or directory
  [exit 2]

## A reader who is gone does not lose what was paid for

  $ sample; ledger
  $ code() { cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db -q \
  >     --token t; echo "exit code $?" >&2; }
  $ code | true
  ! cloister: cannot write to standard output: Broken pipe; the ledger has the release, and fetching it is free
  ! try: cloister ledger fetch l.db --token t
  ! exit code 10
  $ cloister ledger fetch l.db --token t > /dev/null

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
