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
  policy: 1 data set, 1 analyst; answers every 0.2 s, 2 runs at once
  $ cloister serve --socket s --policy policy 2> log &
  $ broker=$!; ask="--via s --dataset sample.csv --clusters 3 --purpose test"
  $ waits $broker grep -qs serves log
  $ cloister run kmeans/lloyd $ask --epsilon 0.8 --token may -o may.json
  $ cloister ledger check may.json l.db > /dev/null
  $ cloister run kmeans/lloyd $ask --epsilon 0.8 --token may -o again.json
  $ cmp may.json again.json
  $ cloister run kmeans/lloyd $ask --epsilon 0.8
  ! cloister: the cap on the data set sample.csv@{{[^ ,]+}} does not cover this run: it asks for epsilon 0.8 and delta 1e-6, and of its epsilon 1 and delta 1e-5 only epsilon 0.550215 and delta 1e-5 are left, for a run with Gaussian noise: ask for epsilon 0.550215 or less
  [exit 5]
  $ cloister ledger history l.db --csv | cut -d, -f 3,4,6,8,10
  dataset,mechanism,epsilon,user,purpose
  sample.csv,kmeans/lloyd,0.8,{{[^ ,]+}},test
  sample.csv@{{[^ ,]+}},kmeans/lloyd,0.8,{{[^ ,]+}},test
  $ cloister run kmeans/lloyd $ask --epsilon 0.95
  ! cloister: one run on 'sample.csv' may have epsilon 0.9 at most
  [exit 5]
  $ cloister run kmeans/lloyd --via s --dataset sample.csv --clusters 3 --epsilon 0.5
  ! cloister: purpose must be given: what the release is for
  [exit 2]
  $ cloister run kmeans/lloyd --via s --dataset other --clusters 3 --epsilon 0.5 --purpose test
  ! cloister: there is no data set 'other' that you may ask
  [exit 2]
  $ cloister run subspace --via s --dataset sample.csv --dim 1 --epsilon 0.5 --purpose test
  ! cloister: of the data set 'sample.csv' may be asked: kmeans
  [exit 2]
  $ cloister run kmeans $ask --epsilon 0.5 --seed 1
  ! cloister: 'seed' is the steward's to say: leave it out
  [exit 2]
  $ cloister run kmeans $ask --epsilon 0.5 --norm 9
  ! cloister: 'norm' is the steward's to say: leave it out
  [exit 2]
  $ cloister run kmeans $ask --epsilon 0.5 --no-ledger
  ! cloister: 'no-ledger' is the steward's to say: leave it out
  [exit 2]
  $ cloister run kmeans --via s --dataset sample.csv --clusters 3000 --epsilon 0.5 --purpose test
  ! cloister: clusters must be between 1 and 1024, not 3000
  [exit 2]
  $ cloister run kmeans --via s sample.csv --dataset sample.csv --clusters 3 --epsilon 0.5
  ! cloister: 'run' does not know what to do with 'sample.csv'
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
  U asked kmeans/lloyd on sample.csv: the budget does not cover this run: the cap on the data set sample.csv@U does not cover this run: it asks for epsilon 0.8 and delta 1e-6, and of its epsilon 1 and delta 1e-5 only epsilon 0.550215 and delta 1e-5 are left, for a run with Gaussian noise: ask for epsilon 0.550215 or less
  U asked kmeans/lloyd on ?: the budget does not cover this run: one run on 'sample.csv' may have epsilon 0.9 at most
  U asked kmeans/lloyd on ?: an argument is not valid: purpose must be given: what the release is for
  U asked kmeans/lloyd on ?: an argument is not valid: there is no data set 'other' that you may ask
  U asked subspace on ?: an argument is not valid: of the data set 'sample.csv' may be asked: kmeans
  U asked kmeans on ?: an argument is not valid: 'seed' is the steward's to say: leave it out
  U asked kmeans on ?: an argument is not valid: 'norm' is the steward's to say: leave it out
  U asked kmeans on ?: an argument is not valid: 'no-ledger' is the steward's to say: leave it out
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
  ! cloister: the run could not be prepared: a column that these data have not, or data that cannot be read; the steward's log says which; nothing was spent
  [exit 3]
  $ cloister run kmeans/lloyd $ask --epsilon 0.8 --columns nothing
  ! cloister: the run could not be prepared: a column that these data have not, or data that cannot be read; the steward's log says which; nothing was spent
  [exit 3]
  $ kill $broker; wait $broker
  $ grep -c "line 302" log
  1

## Refuses a policy that is not one

  $ printf '[broker]\nledger = /l.db\n[dataset d]\ndata = /d\n' > policy
  $ printf 'families = kmeans\nnorm = 1\n' >> policy
  $ cloister serve --policy policy --check
  ! cloister: the policy names no data set, or no analyst
  [exit 3]
  $ printf '[analyst a]\nd = 1\nd = 2\n' >> policy
  $ cloister serve --policy policy --check
  ! cloister: line 9 of the policy: said twice: 'd'
  [exit 3]
  $ sed -i '$d' policy; echo 'seed = 1' >> policy
  $ cloister serve --policy policy --check
  ! cloister: there is no data set 'seed', which 'a' may ask
  [exit 3]
  $ sed -i '$d' policy; printf '[dataset e]\nseed = 1\n' >> policy
  $ cloister serve --policy policy --check
  ! cloister: line 10 of the policy: a data set has no 'seed'
  [exit 3]
  $ chmod 666 policy
  $ cloister serve --policy policy --check
  ! cloister: the policy policy can be written by others: run chmod go-w, as its owner
  [exit 4]
  $ cloister serve --policy nowhere --check
  ! cloister: the policy nowhere cannot be read: No such file or directory
  [exit 4]
  $ cloister serve --socket s
  ! cloister: --policy FILE must be given: who may ask what
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
  cloister: the policy gives 'a' more of 'sample.csv' than was declared before (epsilon 0.5, delta 1e-06), and a cap does not grow
  [exit 6]
  $ cloister ledger show l.db
  data set      cap           composed         plain sum       left            charges  last charge
  sample.csv    (2, 1e-5)     (0, 0)           (0, 0)          (2, 1e-5)             0  -
  sample.csv@a  (1, 1e-6)     (0, 0)           (0, 0)          (0.5, 1e-6)           0  -
                lowered to (0.5, 1e-6)
