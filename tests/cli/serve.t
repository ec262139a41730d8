# Serve: a broker between data and analysts

Several users at once, hostile clients and brokers that are killed: tests/cli/broker.py.

## Answers an analyst, and charges both caps

  $ sample; ledger
  $ cat > policy <<END
  > # who may ask what
  > [broker]
  > ledger = $PWD/l.db
  > tick = 0.2
  > [dataset sample.csv]
  > data = $PWD/sample.csv
  > families = kmeans
  > norm = 2
  > cols = 2
  > epsilon-at-most = 0.9
  > [analyst $(me)]
  > sample.csv = 1:1e-5
  > END
  $ cloister serve --policy policy --check
  policy: 1 data set, 1 analyst; answers every 0.2 s, 2 runs at once, 2 of one analyst, each at most 6 s
  $ cloister serve --socket s --policy policy 2> log &
  $ broker=$!; ask="--via s --dataset sample.csv --clusters 3 --purpose test"
  $ waits $broker grep -qs serves log
  $ cloister run kmeans/lloyd $ask --epsilon 0.8 --token may -o may.json
  $ cloister ledger check may.json l.db > /dev/null
  $ cloister run kmeans/lloyd $ask --epsilon 0.8 --token may -o again.json
  $ cmp may.json again.json
  $ cloister run kmeans/lloyd $ask --epsilon 0.8
  ! cloister: not enough budget is left on 'sample.csv@{{[^ ,]+}} this run needs epsilon 0.8, and at most 0.550215 is left for a run with Gaussian noise; nothing was spent
  [exit 5]
  $ cloister ledger history l.db --csv | cut -d, -f 3,4,6,8,10
  dataset,mechanism,epsilon,user,purpose
  sample.csv,kmeans/lloyd,0.8,{{[^ ,]+}},test
  sample.csv@{{[^ ,]+}},kmeans/lloyd,0.8,{{[^ ,]+}},test
  $ cloister run kmeans/lloyd $ask --epsilon 0.95
  ! cloister: a run on 'sample.csv' may have at most epsilon 0.9
  [exit 5]
  $ cloister run kmeans/lloyd --via s --dataset sample.csv --clusters 3 --epsilon 0.5
  ! cloister: give purpose: what the release is for
  [exit 2]
  $ cloister run kmeans/lloyd --via s --dataset other --clusters 3 --epsilon 0.5 --purpose test
  ! cloister: there is no data set 'other' that you may run on
  [exit 2]
  $ cloister run subspace --via s --dataset sample.csv --dim 1 --epsilon 0.5 --purpose test
  ! cloister: on 'sample.csv' you may run: kmeans
  [exit 2]
  $ cloister run kmeans $ask --epsilon 0.5 --seed 1
  ! cloister: 'seed' is set by the steward: leave it out
  [exit 2]
  $ cloister run kmeans $ask --epsilon 0.5 --norm 9
  ! cloister: 'norm' is set by the steward: leave it out
  [exit 2]
  $ cloister run kmeans $ask --epsilon 0.5 --no-ledger
  ! cloister: 'no-ledger' is set by the steward: leave it out
  [exit 2]
  $ cloister run kmeans --via s --dataset sample.csv --clusters 3000 --epsilon 0.5 --purpose test
  ! cloister: clusters must be between 1 and 1024, not 3000
  [exit 2]
  $ cloister run kmeans --via s sample.csv --dataset sample.csv --clusters 3 --epsilon 0.5
  ! cloister: 'run' does not expect 'sample.csv': put it in quotes if it is part of an option's value
  ! try: cloister run --help
  [exit 2]
  $ kill $broker; wait $broker
  $ ls s
  ! ls: cannot access 's': No such file or directory
  [exit 2]
  $ sed -E 's/^[^ ]+ //; s/^[^ ]+ asked/U asked/; s/; took.*//; s/@[^ ]+/@U/' log
  serves s
  U asked kmeans/lloyd on sample.csv: no error
  U asked kmeans/lloyd on sample.csv: no error
  U asked kmeans/lloyd on sample.csv: the budget does not cover this run: not enough budget is left on 'sample.csv@U this run needs epsilon 0.8, and at most 0.550215 is left for a run with Gaussian noise; nothing was spent
  U asked kmeans/lloyd on ?: the budget does not cover this run: a run on 'sample.csv' may have at most epsilon 0.9
  U asked kmeans/lloyd on ?: an argument is not valid: give purpose: what the release is for
  U asked kmeans/lloyd on ?: an argument is not valid: there is no data set 'other' that you may run on
  U asked subspace on ?: an argument is not valid: on 'sample.csv' you may run: kmeans
  U asked kmeans on ?: an argument is not valid: 'seed' is set by the steward: leave it out
  U asked kmeans on ?: an argument is not valid: 'norm' is set by the steward: leave it out
  U asked kmeans on ?: an argument is not valid: 'no-ledger' is set by the steward: leave it out
  U asked kmeans on sample.csv: an argument is not valid: clusters must be between 1 and 1024, not 3000
  stops when its runs have ended

## Says one fixed sentence where the data are at fault

  $ sample; ledger
  $ printf '[broker]\nledger = %s/l.db\ntick = 0.1\n[dataset sample.csv]\ndata = %s/sample.csv\n' \
  >     "$PWD" "$PWD" > policy
  $ printf 'families = kmeans\nnorm = 2\n[analyst %s]\nsample.csv = 1:1e-5\n' "$(me)" >> policy
  $ cloister serve --socket s --policy policy 2> log &
  $ broker=$!; ask="--via s --dataset sample.csv --clusters 3 --purpose test"
  $ waits $broker grep -qs serves log
  $ echo "1,2,3,4" >> sample.csv
  $ cloister run kmeans/lloyd $ask --epsilon 0.8
  ! cloister: the run could not be prepared, because a column does not exist or the data cannot be read; the steward's log has the cause; nothing was spent
  [exit 3]
  $ cloister run kmeans/lloyd $ask --epsilon 0.8 --columns nothing
  ! cloister: the run could not be prepared, because a column does not exist or the data cannot be read; the steward's log has the cause; nothing was spent
  [exit 3]
  $ kill $broker; wait $broker
  $ grep -c "line 302" log
  1

## Has an exit code for a question too many

The first question's file is a pipe: its run lasts until somebody writes to it.

  $ ledger; mkfifo slow
  $ cloister ledger init l.db --dataset slow --epsilon 2 > /dev/null
  $ printf '[broker]\nledger = %s/l.db\ntick = 0.1\nwaiting = 1\n' "$PWD" > policy
  $ printf '[dataset slow]\ndata = %s/slow\n' "$PWD" >> policy
  $ printf 'families = kmeans\nnorm = 2\ncols = 2\n' >> policy
  $ printf '[analyst %s]\nslow = 1:1e-6\n' "$(me)" >> policy
  $ ln -s elsewhere s
  $ cloister serve --socket s --policy policy
  ! cloister: s is not a socket: choose another --socket
  [exit 4]
  $ rm s; umask 077
  $ cloister serve --socket s --policy policy 2> log &
  $ broker=$!; ask="--via s --dataset slow --clusters 3 --epsilon 0.8 --purpose test"
  $ waits $broker grep -qs serves log
  $ cloister run kmeans/lloyd $ask -o first.json &
  $ first=$!; exec 3> slow
  $ stat -c %a s
  666
  $ cloister run kmeans/lloyd $ask
  ! cloister: you have as many open requests as you may: wait until one is answered
  [exit 11]
  $ seq 1 400 | sed 's/.*/0.&,-0.&/' >&3; exec 3>&-
  $ wait $first; kill $broker; wait $broker
  $ cloister report first.json | grep -c charge
  2

## Refuses a policy that is not one

  $ printf '[broker]\nledger = /l.db\n[dataset d]\ndata = /d\n' > policy
  $ printf 'families = kmeans\nnorm = 1\n' >> policy
  $ cloister serve --policy policy --check
  ! cloister: the policy needs at least one [dataset NAME] and one [analyst NAME]
  [exit 3]
  $ printf '[analyst a]\nd = 1\nd = 2\n' >> policy
  $ cloister serve --policy policy --check
  ! cloister: line 9 of the policy: said twice: 'd'
  [exit 3]
  $ sed -i '$d' policy; echo 'seed = 1' >> policy
  $ cloister serve --policy policy --check
  ! cloister: [analyst a] names 'seed', but there is no such [dataset]
  [exit 3]
  $ sed -i '$d' policy; printf '[dataset e]\nseed = 1\n' >> policy
  $ cloister serve --policy policy --check
  ! cloister: line 10 of the policy: [dataset] has no setting 'seed'
  [exit 3]
  $ sed -i '$d' policy; sed -i '$d' policy
  $ sed -i '/^d = 2/d' policy; printf '[analyst b]\nd = 1\n' >> policy
  $ cloister serve --policy policy --check
  policy: 1 data set, 2 analysts; answers every 2 s, 2 runs at once, 1 of one analyst, each at most 60 s
  $ sed -i 's/^.broker.$/&\nworkers = 1/' policy
  $ cloister serve --policy policy --check
  ! cloister: with one worker an analyst could block all others: write 'workers = 2' or more under [broker]
  [exit 3]
  $ sed -i 's/^workers.*/workers = 3\nshare = 3/' policy
  $ cloister serve --policy policy --check
  ! cloister: the share of one analyst must be less than all 3 workers: write 'share = 2' or less under [broker]
  [exit 3]
  $ chmod 666 policy
  $ cloister serve --policy policy --check
  ! cloister: other users can write the policy policy: run chmod go-w on it, as its owner
  [exit 4]
  $ cloister serve --policy nowhere --check
  ! cloister: the policy nowhere cannot be read: No such file or directory
  [exit 4]
  $ cloister serve --socket s
  ! cloister: give --policy FILE: who may run what
  [exit 2]

## Gives nobody more than before, and less where the policy says so

  $ sample; ledger
  $ write_policy() {
  >     printf '[broker]\nledger = %s/l.db\n' "$PWD"
  >     printf '[dataset sample.csv]\ndata = %s/sample.csv\n' "$PWD"
  >     printf 'families = kmeans\nnorm = 2\n[analyst a]\nsample.csv = %s\n' "$1"
  > } > policy
  $ serve_once() {
  >     rm -f log; cloister serve --socket s --policy policy 2> log & broker=$!
  >     waits $broker grep -qs serves log > /dev/null && kill $broker
  >     wait $broker; code=$?
  >     grep -v stops log | sed 's/^[^ ]*Z //'
  >     return $code
  > }
  $ write_policy 1:1e-6; serve_once
  serves s
  $ write_policy 0.5:1e-6; serve_once
  serves s
  $ write_policy 1:1e-6; serve_once
  cloister: the policy gives 'a' more of 'sample.csv' than before (epsilon 0.5, delta 1e-06), but a cap cannot be raised
  [exit 6]
  $ cloister ledger show l.db
  data set      cap             spent             left              charges  last charge
  sample.csv    (2, 1e-5)       (0, 0)            (2, 1e-5)               0  -
  sample.csv@a  (1, 1e-6)       (0, 0)            (0.5, 1e-6)             0  -
                lowered to (0.5, 1e-6)

## Keeps names with @ for the accounts of analysts

  $ cloister ledger init l.db --dataset people@alice --epsilon 1
  ! cloister: 'people@alice' has an '@', and such names are the accounts of a broker's analysts: choose a name without it
  [exit 2]
