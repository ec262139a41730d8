# Run: charges, caps and tokens

## No run makes a ledger

  $ sample
  $ refused cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger ledgr.db \
  >     -o out.json
  ! cloister: there is no ledger at ledgr.db: make one with cloister ledger init
  ! try: cloister ledger init ledgr.db --dataset sample.csv --epsilon E
  [exit 6]
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --dry-run
  ! cloister: there is no ledger at FOLDER/home/state/cloister/ledger.db: make one with cloister ledger init
  ! try: cloister ledger init --dataset sample.csv --epsilon E
  [exit 6]
  $ ls -A
  sample.csv
  truth.csv
  $ ls -A "$HOME"

## A closed ledger charges what was declared

  $ sample; ledger
  $ for name in smaple.csv Sample.csv 'sample.csv ' "s$(printf '\320\260')mple.csv"; do
  >     refused cloister run kmeans sample.csv --clusters 3 --epsilon 100 --norm 2 --ledger l.db \
  >         --dataset "$name" --yes -o out.json < /dev/null
  > done
  ! cloister: the ledger l.db is closed and has no data set 'smaple.csv': say the name of one that it has, or have this one declared with cloister ledger init
  ! try: cloister ledger init l.db --dataset smaple.csv --epsilon E
  ! cloister: the ledger l.db is closed and has no data set 'Sample.csv'; it has 'sample.csv', which looks alike: say the name of one that it has, or have this one declared with cloister ledger init
  ! try: cloister ledger init l.db --dataset Sample.csv --epsilon E
  ! cloister: the ledger l.db is closed and has no data set 'sample.csv '; it has 'sample.csv', which looks alike: say the name of one that it has, or have this one declared with cloister ledger init
  ! try: cloister ledger init l.db --dataset 'sample.csv ' --epsilon E
  ! cloister: the ledger l.db is closed and has no data set 'sаmple.csv': say the name of one that it has, or have this one declared with cloister ledger init
  ! try: cloister ledger init l.db --dataset 'sаmple.csv' --epsilon E
  [exit 2]
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db --new -q
  ! cloister: the ledger l.db is closed: which names its data have is not for a run to say; leave --new out
  [exit 2]
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db -q > /dev/null
  $ charges
  1

## A closed ledger notices declared data under another name

  $ sample; mkdir in; cp sample.csv in/other.csv; gzip -k sample.csv; echo 9,9 >> in/other.csv
  $ cloister ledger init l.db --dataset people --epsilon 3 --data sample.csv --folder in
  l.db is closed: only data sets that are declared in it are charged
  'people' in l.db: at most epsilon 3, delta 1e-6 may ever be spent on it
  $ cloister ledger init l.db --dataset second --epsilon 3 > /dev/null
  $ for file in sample.csv sample.csv.gz in/other.csv; do
  >     refused cloister run kmeans $file --clusters 3 --epsilon 1 --norm 2 --ledger l.db \
  >         --dataset second -q -o out.json || echo $?
  > done 2>&1 | grep -v '^try' | cut -c 1-60
  cloister: these data are 'people' in this ledger, and 'secon
  2
  cloister: these data are 'people' in this ledger, and 'secon
  2
  cloister: these data are 'people' in this ledger, and 'secon
  2
  $ cloister ledger init l.db --dataset third --epsilon 3 --data sample.csv.gz
  ! cloister: these data are the data set 'people' of the ledger l.db already: charge them under that name, or say that a second cap on them is meant
  ! try: --new
  [exit 2]
  $ cloister ledger init l.db --dataset third --epsilon 3 --data sample.csv.gz --new
  'third' in l.db: at most epsilon 3, delta 1e-6 may ever be spent on it
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db --dataset third \
  >     -q > /dev/null
  $ charges
  1

## Spends nothing without a cap where nobody can be asked

  $ sample; open_ledger
  $ refused cloister run kmeans sample.csv --clusters 3 --epsilon 100 --norm 2 --ledger l.db \
  >     -o out.json -q < /dev/null
  ! cloister: 'sample.csv' has no cap, and there is no terminal to ask at: give it one, or say --yes; nothing was spent
  ! try: cloister ledger init l.db --dataset sample.csv --epsilon E
  [exit 5]
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db --yes -q \
  >     > /dev/null
  $ charges
  1

## Asks a person before a spend without a cap

  $ sample; open_ledger
  $ on_terminal n cloister run kmeans/lloyd sample.csv --clusters 2 --epsilon 1 --norm 1 \
  >     --ledger l.db -o out.json
  kmeans/lloyd on 'sample.csv': epsilon 1, delta 1e-6, replace
  …
  'sample.csv' has no cap.  Spend epsilon 1, delta 1e-6 on it for good? [y/N] n
  <1;31m>cloister:<0m> stopped before the spend: nothing was spent
  [exit 130]
  $ charges
  0
  $ ls -A
  l.db
  sample.csv
  truth.csv

## Does not ask where there is a cap

  $ sample; ledger
  $ on_terminal n cloister run kmeans sample.csv --clusters 2 --epsilon 1 --norm 1 --ledger l.db \
  >     -o out.json > /dev/null
  $ charges
  1

## Gives a lost release back by its random token

  $ sample; ledger
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db -q --json \
  >     > lost.json
  $ token=$(cloister ledger history l.db --json | python3 -c "
  > import json, sys
  > print(json.load(sys.stdin)['charges'][0]['token'])")
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db -q --json \
  >     --token "$token" | cmp - lost.json
  $ charges
  1

## Is metered in the user's own ledger

  $ sample
  $ cloister ledger init --open --dataset another --epsilon 1 > /dev/null
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --yes -q -o out.json
  $ ls "$XDG_STATE_HOME/cloister"
  ledger.db
  $ cloister ledger show
  data set…
  another…
  sample.csv  none          (1, 0)           (1, 0)          -                     1  {{....-..-..T..:..:..Z}}

## Keeps the token of a run whose output fails

  $ sample; ledger
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db --token may -q \
  >     --json > /dev/full
  ! cloister: cannot write to standard output: No space left on device; the release is safe in the ledger, and to fetch it costs nothing
  ! try: cloister ledger fetch l.db --token may
  [exit 10]
  $ cloister ledger fetch l.db --token may > fetched.json
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db --token may -q \
  >     --json | cmp - fetched.json
  $ charges
  1

## Says how to fetch a release that a full disk had no room for

  $ sample; ledger
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 0.5 --norm 2 --ledger l.db -q \
  >     -o /dev/full 2> said; echo $?
  10
  $ cat said
  cloister: /dev/full cannot be written: No space left on device; the release is safe in the ledger, and to fetch it costs nothing
  try: cloister ledger fetch l.db --token {{[0-9a-f]{32}}}
  $ sh -c "$(sed -n 's/^try: //p' said)" | cloister report - | head -1
  kmeans…
  $ cloister bounds sample.csv --epsilon 0.7 --norm 9 --ledger l.db -q > /dev/full 2> said; echo $?
  10
  $ sh -c "$(sed -n 's/^try: //p' said)" | cloister report - | head -1
  bounds…
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 0.5 --norm 2 --no-ledger -q > /dev/full
  ! cloister: cannot write to standard output: No space left on device
  [exit 4]
  $ charges
  2

## Notices data that the ledger knows under another name

  $ sample; open_ledger
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db --yes \
  >     --dataset people -q > /dev/null
  $ cp sample.csv s.csv; gzip -kc sample.csv > s.csv.gz
  $ for file in s.csv s.csv.gz; do
  >     refused cloister run kmeans $file --clusters 3 --epsilon 1 --norm 2 --ledger l.db -q \
  >         -o out.json
  > done
  ! cloister: these data are 'people' in this ledger, and 's.csv' would be charged for them: say --dataset people, or, to give them a second account with a cap of its own, --dataset s.csv and --new; nothing was spent
  ! try: --dataset people
  ! cloister: these data are 'people' in this ledger, and 's.csv.gz' would be charged for them: say --dataset people, or, to give them a second account with a cap of its own, --dataset s.csv.gz and --new; nothing was spent
  ! try: --dataset people
  [exit 2]
  $ cat s.csv | refused cloister run kmeans - --clusters 3 --epsilon 1 --norm 2 --ledger l.db \
  >     --dataset x --columns x1 -q -o out.json
  ! cloister: these data are 'people' in this ledger, and 'x' would be charged for them: say --dataset people, or, to give them a second account with a cap of its own, --dataset x and --new; nothing was spent
  ! try: --dataset people
  [exit 2]
  $ cloister run kmeans s.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db --dry-run | tail -1
  ! cloister: a run would be refused: these data are 'people' in this ledger, and 's.csv' would be charged for them: say --dataset people, or, to give them a second account with a cap of its own, --dataset s.csv and --new; nothing was spent
  ! try: --dataset people
    Would not charge 's.csv' in l.db (no cap set); nothing was spent.
  $ charges
  1
  $ cloister run kmeans s.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db --dataset people -q \
  >     --yes > /dev/null
  $ cloister run kmeans s.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db --new -q --yes \
  >     > /dev/null
  $ cloister run kmeans s.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db -q --yes > /dev/null
  $ echo 0.1,0.1 >> s.csv
  $ cloister run kmeans s.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db --dataset grown -q \
  >     --yes > /dev/null
  $ charges
  5

## Refuses a private norm that would exceed the cap

  $ sample; ledger
  $ refused cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 3 --norm private \
  >     --share-norm 0.2 --norm-at-most 100 --ledger l.db -o out.json
  ! kmeans/lloyd on 'sample.csv': epsilon 3, delta 1e-6, replace
  !   asks quantile (quantile of the row norms, to learn the norm) once
  !   asks gaussian_sum (sums and sizes of the clusters, one ask a round) 5 times, noise at most {{[-0-9.e]+}}
  ! cloister: the cap on the data set sample.csv does not cover this run: it asks for epsilon 3 and delta 1e-6, and of its epsilon 2 and delta 1e-5 only epsilon 2 and delta 1e-5 are left: ask for epsilon 2 or less
  ! try: cloister ledger show l.db
  [exit 5]

## Refuses a token beside no ledger

  $ sample
  $ refused cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --no-ledger \
  >     --token may -q -o out.json
  ! cloister: --no-ledger excludes --token, which is kept in the ledger
  [exit 2]

## Refuses a token of another data set

  $ sample; ledger; cloister ledger init l.db --dataset x --epsilon 1 > /dev/null
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db --token may -q \
  >     > /dev/null
  $ refused cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db \
  >     --dataset x --token may -q -o out.json
  ! cloister: the token may belongs to a run on the data set sample.csv: a token is good for one run, so use another one for this
  [exit 2]

## Refuses a token of another plan

  $ sample; ledger
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db --token may -q \
  >     > /dev/null
  $ refused cloister run kmeans sample.csv --clusters 4 --epsilon 1 --norm 2 --ledger l.db \
  >     --token may -q -o out.json
  ! cloister: the token may belongs to another plan (charge 1): repeat that run exactly as it was, or use another token for this one
  [exit 2]

## Refuses a token whose run died

  $ cloister generate mixture --rows 200000 --cols 10 --clusters 4 --seed t -o big.npy
  $ cloister ledger init l.db --dataset big.npy --epsilon 1 > /dev/null
  $ how="run kmeans big.npy --clusters 256 --rounds 100 --epsilon 1 --delta 1e-6 --norm 2"
  $ cloister $how --ledger l.db --token may -q --yes > /dev/null & run=$!
  $ wait_for_charge $run
  $ { kill -9 $run; wait $run; } 2> /dev/null
  [exit 137]
  $ refused cloister $how --ledger l.db --token may -q --yes -o out.json
  ! cloister: the token may was charged (charge 1) and has no result: its run died, or is still under way; what it spent stays spent, and another try needs another token
  [exit 6]

## Refuses ledger options beside no ledger

  $ cloister run kmeans a.csv --clusters 8 --epsilon 1 --norm 1 --no-ledger --ledger l.db
  ! cloister: --no-ledger excludes --ledger, --dataset and --new
  [exit 2]

## Refuses what the cap does not cover

  $ sample; ledger
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 2 --delta 1e-5 --norm 2 --ledger l.db -q \
  >     > /dev/null
  $ refused cloister run kmeans sample.csv --clusters 3 --epsilon 0.5 --norm 2 --ledger l.db -q \
  >     -o out.json
  ! cloister: the cap on the data set sample.csv does not cover this run: it asks for epsilon 0.5 and delta 0, and of its epsilon 2 and delta 1e-5 only epsilon 0 and delta 0 are left: no further run fits
  ! try: cloister ledger show l.db
  [exit 5]

## Refuses to spend on what noise would hide, but on the operator's word

  $ sample; ledger
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 0.1 --norm 2 --ledger l.db -q
  ! cloister: noise hides 3 clusters in 300 rows at epsilon 0.1: that needs epsilon 0.13, or 380 rows, or at most 2 clusters; nothing was spent
  ! try: the same with --yes, which runs it anyway
  [exit 5]
  $ cloister ledger show l.db
  data set    cap           composed         plain sum       left            charges  last charge
  sample.csv  (2, 1e-5)     (0, 0)           (0, 0)          (2, 1e-5)             0  -
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 0.1 --norm 2 --ledger l.db -q --yes \
  >     > /dev/null
  $ cloister ledger show l.db
  data set    cap           composed         plain sum       left            charges  last charge
  sample.csv  (2, 1e-5)     (0.1, 0)         (0.1, 0)        (1.9, 1e-5)           1  {{[-0-9T:]+Z}}
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 0.1 --norm 2 --no-ledger -q > /dev/null
  ! warning: noise hides 3 clusters in 300 rows at epsilon 0.1: that needs epsilon 0.13, or 380 rows, or at most 2 clusters

## Refuses to spend on subspaces that noise would hide

  $ cloister generate subspaces --rows 320 --cols 50 --clusters 5 --dim 9 --spread 0.5 \
  >     --seed faces -o faces.csv
  $ cloister ledger init l.db --dataset faces.csv --epsilon 2 --delta 1e-3 > /dev/null
  $ cloister run subspaces faces.csv --clusters 5 --dim 9 --flats affine --epsilon 1 --norm 1 \
  >     --ledger l.db -q
  ! cloister: noise hides 5 clusters of 9 directions in 320 rows at epsilon 1: that needs epsilon 15, or 3400 rows, or at most 2 clusters; nothing was spent
  ! try: the same with --yes, which runs it anyway
  [exit 5]
  $ cloister run subspaces faces.csv --clusters 5 --dim 9 --epsilon 1 --norm 1 --ledger l.db -q
  ! cloister: noise hides 5 clusters of 9 directions in 320 rows at epsilon 1: that needs epsilon 12, or 2800 rows, or at most 2 clusters; nothing was spent
  ! try: the same with --yes, which runs it anyway
  [exit 5]
  $ cloister run subspaces faces.csv --clusters 5 --dim 9 --epsilon 1 --norm 1 --center private \
  >     --ledger l.db -q
  ! cloister: noise hides 5 clusters of 9 directions in 320 rows at epsilon 1: that needs epsilon 12, or 2800 rows, or at most 2 clusters; nothing was spent
  ! try: the same with --yes, which runs it anyway
  [exit 5]
  $ cloister run subspace faces.csv --dim 9 --epsilon 1 --norm 1 --ledger l.db -q
  ! cloister: noise hides 9 directions in 320 rows at epsilon 1: that needs epsilon 12, or 2800 rows; nothing was spent
  ! try: the same with --yes, which runs it anyway
  [exit 5]
  $ cloister ledger show l.db
  data set   cap           composed         plain sum       left            charges  last charge
  faces.csv  (2, 0.001)    (0, 0)           (0, 0)          (2, 0.001)            0  -
  $ cloister run subspace faces.csv --dim 9 --epsilon 1 --norm 1 --ledger l.db -q --yes > /dev/null

## Repeats a run with its token for nothing

  $ sample; ledger
  $ for i in 1 2 3; do
  >     cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db --token may \
  >         -q -o $i.json
  > done
  $ cmp 1.json 2.json && cmp 1.json 3.json
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db --token may \
  >     --json | cmp - 1.json
  ! token 'may': this is the release that was stored for it; nothing was spent
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db --token may -q \
  >     > text
  $ cloister report 1.json | cmp - text
  $ charges
  1

## Says what it would spend

  $ sample; ledger
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db --dry-run \
  >     -o out.json
  kmeans/lloyd: k centres, by Lloyd's rounds on noisy sums and sizes

    charged     epsilon 1, delta 1e-6
    accounting  gaussian-exact
    parameters  clusters 3, rounds 5, reduce 0, share 0.5, noise auto
    hides       replace: one row replaced by any other
    data        2 columns, norm at most 2, 300 rows
    guarantee   exact, proof in proofs/kmeans_lloyd.md

    query         what                                              times      noise   share
    gaussian_sum  sums and sizes of the clusters, one ask a round       5      {{[-0-9.e]+}}    100%
    (noise: standard deviation, in the units of what is asked)

    With 300 rows, expect an error of about {{[-0-9.e]+}}: root mean square distance of a
    released centre from the exact mean of its cluster, as a share of the norm. In
    each column: x1 ± 0.17, x2 ± 0.17.

    Would charge 'sample.csv' in l.db (epsilon 2 is left at delta 1e-5); nothing was spent.
  $ charges
  0
  $ ls -A
  l.db
  sample.csv
  truth.csv

## Says when it is not metered

  $ sample
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 1 --norm 2 --no-ledger -o out.json
  ! kmeans/lloyd on 'sample.csv': epsilon 1, delta 1e-6, replace
  !   asks gaussian_sum (sums and sizes of the clusters, one ask a round) 5 times, noise {{[-0-9.e]+}}
  !   expects centres off by about ± 0.17 in each column (one norm for all: where units differ, --bounds serves better)
  ! release written to 'out.json'
  ! not metered: no ledger knows of this release
  $ grep metered out.json
      "metered": false,
  $ ls -A "$HOME"

## Takes a yes from a person or an option

  $ sample; open_ledger
  $ on_terminal y cloister run kmeans sample.csv --clusters 2 --epsilon 1 --norm 1 --ledger l.db \
  >     -o out.json | tail -2
  release written to 'out.json'
  spent epsilon 1, delta 1e-6 on 'sample.csv': no cap set
  $ on_terminal n cloister run kmeans sample.csv --clusters 2 --epsilon 1 --norm 1 --ledger l.db \
  >     -o again.json --yes | tail -2
  release written to 'again.json'
  spent epsilon 1, delta 1e-6 on 'sample.csv': no cap set
  $ charges
  2

## Tells two files of one name apart

  $ sample; ledger
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 0.5 --norm 2 --ledger l.db -q > /dev/null
  $ mkdir elsewhere
  $ cp sample.csv elsewhere
  $ cloister run kmeans elsewhere/sample.csv --clusters 3 --epsilon 0.5 --norm 2 --ledger l.db -q \
  >     > /dev/null
  ! cloister: the data set sample.csv in the ledger l.db is another file of that name, FOLDER/here/sample.csv: give this one a name of its own, or say by that name that they are the same
  ! try: --dataset NAME
  [exit 2]
  $ charges
  1
  $ cloister run kmeans elsewhere/sample.csv --dataset sample.csv --clusters 3 --epsilon 0.5 \
  >     --norm 2 --ledger l.db -q > /dev/null
  $ charges
  2

## Wants a name for standard input

  $ cloister run kmeans - --clusters 3 --epsilon 1 --norm 2 < /dev/null
  ! cloister: data from standard input have no name to charge: give --dataset NAME
  [exit 2]

## Warns of a clock that went backwards

  $ sample; ledger
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 0.5 --norm 2 --ledger l.db -q > /dev/null

As if that had been in the year 2100, and the clock was set right since.

  $ python3 - <<'END'
  > import sqlite3
  > db = sqlite3.connect("l.db")
  > db.execute("UPDATE dataset SET last_charge = 4102444800")
  > db.commit()
  > END
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 0.5 --norm 2 --ledger l.db -q > /dev/null
  ! warning: the clock says {{....-..-..T..:..:..Z}}, which is before the last charge (2100-01-01T00:00:00Z): the history is in the order of its numbers, not of its times

## Writes neither through a stranger's link nor over key, anchor or ledger

  $ sample; ledger; cloister ledger init other.db --dataset x --epsilon 1 > /dev/null
  $ how="run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db -q"
  $ ln -s "$XDG_CONFIG_HOME/cloister/ledger.key" out
  $ cloister $how -o out
  ! cloister: out cannot be written: it is where the ledger's key and anchors are
  [exit 4]
  $ cloister $how -o "$(ls -d "$XDG_CONFIG_HOME"/cloister/anchors/* | head -1)" 2>&1 | grep -c where
  1
  $ cloister $how -o "$XDG_CONFIG_HOME/cloister/new.json" 2>&1 | grep -c where
  1
  $ ln -sf other.db out; cloister $how -o out
  ! cloister: out cannot be written: it is a ledger
  [exit 4]
  $ cloister generate mixture --rows 9 --cols 2 --clusters 2 -o other.db
  ! cloister: other.db cannot be written: it is a ledger
  [exit 4]
  $ cloister ledger verify other.db
  other.db: sound; 0 charges, and every hash fits
  $ if [ "$(id -u)" = 0 ]; then ln -s ok.json out2; chown -h 12345 out2; cloister $how -o out2
  > else # only root can plant one for this test
  >     echo "cloister: out2 cannot be written: it is a link that another user has put there" >&2
  >     (exit 4)
  > fi
  ! cloister: out2 cannot be written: it is a link that another user has put there
  [exit 4]
  $ charges
  0

## What is not private is for its owner's eyes

  $ sample
  $ umask 022; how="run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --no-ledger -q"
  $ cloister $how -o a.json; cloister $how --seed 1 -o b.json 2> /dev/null
  $ cloister assign a.json sample.csv -o labels.csv 2> /dev/null
  $ stat -c '%a %n' a.json b.json labels.csv
  644 a.json
  600 b.json
  600 labels.csv

## Refuses a token on data that were changed

  $ sample; ledger
  $ how="run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --rows 300 --ledger l.db -q"
  $ cloister $how --token may > /dev/null
  $ sed -i '5s/.*/0.1,0.1/' sample.csv
  $ refused cloister $how --token may -o out.json
  ! cloister: the token may belongs to a run on other data (charge 1): these were changed since; use another token, or fetch its release by the token alone
  [exit 2]
  $ rm sample.csv; cloister ledger fetch l.db --token may | cloister report - | head -1
  kmeans…

## A failed init leaves nothing

  $ cloister ledger init l.db --dataset 'a/b' --epsilon 1 2> /dev/null
  [exit 2]
  $ cloister ledger init l.db --dataset x --epsilon 1e9 2> /dev/null
  [exit 2]
  $ cloister ledger init l.db --dataset x --epsilon 1 --data nowhere.csv 2> /dev/null
  [exit 4]
  $ ls -A; ls -A "$XDG_CONFIG_HOME/cloister/anchors"
