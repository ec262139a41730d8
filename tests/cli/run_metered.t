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
  ! cloister: the ledger l.db has no data set 'smaple.csv': use a name that it has, or declare this one with cloister ledger init
  ! try: cloister ledger init l.db --dataset smaple.csv --epsilon E
  ! cloister: the ledger l.db has no data set 'Sample.csv'; did you mean 'sample.csv'?: use a name that it has, or declare this one with cloister ledger init
  ! try: cloister ledger init l.db --dataset Sample.csv --epsilon E
  ! cloister: the ledger l.db has no data set 'sample.csv '; did you mean 'sample.csv'?: use a name that it has, or declare this one with cloister ledger init
  ! try: cloister ledger init l.db --dataset 'sample.csv ' --epsilon E
  ! cloister: the ledger l.db has no data set 'sаmple.csv': use a name that it has, or declare this one with cloister ledger init
  ! try: cloister ledger init l.db --dataset 'sаmple.csv' --epsilon E
  [exit 2]
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db --new -q
  ! cloister: the ledger l.db is closed, so a run cannot add names: leave --new out
  [exit 2]
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db -q > /dev/null
  $ charges
  1

## A closed ledger notices declared data under another name

  $ sample; mkdir in; cp sample.csv in/other.csv; gzip -k sample.csv; echo 9,9 >> in/other.csv
  $ cloister ledger init l.db --dataset people --epsilon 3 --data sample.csv --folder in
  l.db is closed: it refuses runs on data sets that are not declared in it
  'people' in l.db: at most epsilon 3, delta 1e-6 may ever be spent on it
  $ cloister ledger init l.db --dataset second --epsilon 3 > /dev/null
  $ for file in sample.csv sample.csv.gz in/other.csv; do
  >     refused cloister run kmeans $file --clusters 3 --epsilon 1 --norm 2 --ledger l.db \
  >         --dataset second -q -o out.json || echo $?
  > done 2>&1 | grep -v '^try' | cut -c 1-60
  cloister: this ledger knows these data as 'people', not as '
  2
  cloister: this ledger knows these data as 'people', not as '
  2
  cloister: this ledger knows these data as 'people', not as '
  2
  $ cloister ledger init l.db --dataset third --epsilon 3 --data sample.csv.gz
  ! cloister: these data are already the data set 'people' of the ledger l.db: use that name, or allow a second cap on them
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
  ! warning: epsilon 100 hides hardly anything about a person; 1 is usual: see docs/guides/choose-epsilon.md
  ! cloister: 'sample.csv' has no cap, and nobody can be asked without a terminal: declare a cap, or pass --yes; nothing was spent
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
  sample.csv  none            (1, 1e-6)         -                       1  {{[-0-9T:]+Z}}

## Keeps the token of a run whose output fails

  $ sample; ledger
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db --token may -q \
  >     --json > /dev/full
  ! cloister: cannot write to standard output: No space left on device; the ledger has the release, and fetching it is free
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
  cloister: /dev/full cannot be written: No space left on device; the ledger has the release, and fetching it is free
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
  ! cloister: this ledger knows these data as 'people', not as 's.csv': pass --dataset people, or, for a second account with a cap of its own, --dataset s.csv and --new; nothing was spent
  ! try: --dataset people
  ! cloister: this ledger knows these data as 'people', not as 's.csv.gz': pass --dataset people, or, for a second account with a cap of its own, --dataset s.csv.gz and --new; nothing was spent
  ! try: --dataset people
  [exit 2]
  $ cat s.csv | refused cloister run kmeans - --clusters 3 --epsilon 1 --norm 2 --ledger l.db \
  >     --dataset x --columns x1 -q -o out.json
  ! cloister: this ledger knows these data as 'people', not as 'x': pass --dataset people, or, for a second account with a cap of its own, --dataset x and --new; nothing was spent
  ! try: --dataset people
  [exit 2]
  $ cloister run kmeans s.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db --dry-run | tail -1
    Would not charge 's.csv' in l.db, where there is no cap; nothing was spent.
  ! cloister: a run would be refused: this ledger knows these data as 'people', not as 's.csv': pass --dataset people, or, for a second account with a cap of its own, --dataset s.csv and --new; nothing was spent
  ! try: --dataset people
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
  ! kmeans/lloyd on 'sample.csv': epsilon 3, delta 1e-6, hides the values of a record
  ! cloister: not enough budget is left on 'sample.csv': this run needs epsilon 3, and at most {{[-0-9.e]+}} is left; nothing was spent
  ! try: --epsilon 2
  [exit 5]

## Refuses a token beside no ledger

  $ sample
  $ refused cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --no-ledger \
  >     --token may -q -o out.json
  ! cloister: --no-ledger and --token exclude each other: a token is kept in a ledger
  [exit 2]

## Refuses a token of another data set

  $ sample; ledger; cloister ledger init l.db --dataset x --epsilon 1 > /dev/null
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db --token may -q \
  >     > /dev/null
  $ refused cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db \
  >     --dataset x --token may -q -o out.json
  ! cloister: the token may belongs to a run on the data set sample.csv: use another token for this run
  [exit 2]

## Refuses a token of another plan

  $ sample; ledger
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db --token may -q \
  >     > /dev/null
  $ refused cloister run kmeans sample.csv --clusters 4 --epsilon 1 --norm 2 --ledger l.db \
  >     --token may -q -o out.json
  ! cloister: the token may belongs to a run with other settings (charge 1): repeat that run exactly, or use another token
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
  ! cloister: the token may was charged (charge 1) and has no release, because its run died or still runs: the charge stays, and a new run needs another token
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
  ! cloister: no budget is left on 'sample.csv'; nothing was spent
  ! try: cloister ledger show l.db
  [exit 5]

## Refuses to spend on what noise would hide, but on the operator's word

  $ sample; ledger
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 0.1 --norm 2 --ledger l.db -q
  ! cloister: noise hides 3 clusters in 300 rows at epsilon 0.1: that needs epsilon 0.13, or 380 rows, or at most 2 clusters; nothing was spent
  ! try: --yes, which runs it anyway
  [exit 5]
  $ cloister ledger show l.db
  data set    cap             spent             left              charges  last charge
  sample.csv  (2, 1e-5)       (0, 0)            (2, 1e-5)               0  -
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 0.1 --norm 2 --ledger l.db -q --yes \
  >     > /dev/null
  $ cloister ledger show l.db
  data set    cap             spent             left              charges  last charge
  sample.csv  (2, 1e-5)       (0.1, 0)          (1.9, 1e-5)             1  {{[-0-9T:]+Z}}
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 0.1 --norm 2 --no-ledger -q > /dev/null
  ! warning: noise hides 3 clusters in 300 rows at epsilon 0.1: that needs epsilon 0.13, or 380 rows, or at most 2 clusters

## Refuses to spend on subspaces that noise would hide

  $ cloister generate subspaces --rows 320 --cols 50 --clusters 5 --dim 9 --spread 0.5 \
  >     --seed faces -o faces.csv
  $ cloister ledger init l.db --dataset faces.csv --epsilon 2 --delta 1e-3 > /dev/null
  $ cloister run subspaces faces.csv --clusters 5 --dim 9 --flats affine --epsilon 1 --norm 1 \
  >     --ledger l.db -q
  ! cloister: noise hides 5 clusters of 9 directions in 320 rows at epsilon 1: that needs 3400 rows, or at most 2 clusters; nothing was spent
  ! try: --yes, which runs it anyway
  [exit 5]
  $ cloister run subspaces faces.csv --clusters 5 --dim 9 --epsilon 1 --norm 1 --ledger l.db -q
  ! cloister: noise hides 5 clusters of 9 directions in 320 rows at epsilon 1: that needs 2800 rows, or at most 2 clusters; nothing was spent
  ! try: --yes, which runs it anyway
  [exit 5]
  $ cloister run subspaces faces.csv --clusters 5 --dim 9 --epsilon 1 --norm 1 --center private \
  >     --ledger l.db -q
  ! cloister: noise hides 5 clusters of 9 directions in 320 rows at epsilon 1: that needs 2800 rows, or at most 2 clusters; nothing was spent
  ! try: --yes, which runs it anyway
  [exit 5]
  $ cloister run subspace faces.csv --dim 9 --epsilon 1 --norm 1 --ledger l.db -q
  ! cloister: noise hides 9 directions in 320 rows at epsilon 1: that needs 2800 rows; nothing was spent
  ! try: --yes, which runs it anyway
  [exit 5]
  $ cloister ledger show l.db
  data set   cap             spent             left              charges  last charge
  faces.csv  (2, 0.001)      (0, 0)            (2, 0.001)              0  -
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
  kmeans/lloyd: k centers, by Lloyd's method on noisy sums and sizes

    charged     epsilon 1, delta 1e-6
    accounting  gaussian-exact
    parameters  clusters 3
    hides       replace: one row replaced by any other
    data        2 columns, records farther than 2 from the origin are moved to distance 2, 300 rows
    guarantee   exact, proof in proofs/kmeans_lloyd.md

    query         what                                                  times      noise   share
    gaussian_sum  sums and sizes of the clusters, one query per round       5      {{[-0-9.e]+}}    100%
    (noise: standard deviation, in the units of the answer)

    With 300 rows, expect an error of about {{[-0-9.e]+}}: typical (root mean square)
    distance of a released center from the exact mean of its cluster, as a share
    of the norm. In each column: x1 ± 0.17, x2 ± 0.17.

    Would charge 'sample.csv' in l.db, where epsilon 2 of 2 is left; nothing was spent.
  $ charges
  0
  $ ls -A
  l.db
  sample.csv
  truth.csv

## Says when it is not metered

  $ sample
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 1 --norm 2 --no-ledger -o out.json
  ! kmeans/lloyd on 'sample.csv': epsilon 1, delta 1e-6, hides the values of a record
  !   expects centers off by about ± 0.17 in each column; moves records farther than 2 from the origin to distance 2
  ! wrote 'out.json'; no ledger was charged
  $ grep charged_to_ledger out.json
      "charged_to_ledger": false,
  $ ls -A "$HOME"

## Takes a yes from a person or an option

  $ sample; open_ledger
  $ on_terminal y cloister run kmeans sample.csv --clusters 2 --epsilon 1 --norm 1 --ledger l.db \
  >     -o out.json | tail -2
  'sample.csv' has no cap.  Spend epsilon 1, delta 1e-6 on it for good? [y/N] y
  wrote 'out.json'; spent epsilon 1, delta 1e-6 on 'sample.csv': there is no cap
  $ on_terminal n cloister run kmeans sample.csv --clusters 2 --epsilon 1 --norm 1 --ledger l.db \
  >     -o again.json --yes | tail -2
    expects centers off by about ± 0.016 in each column; moves records farther than 1 from the origin to distance 1
  wrote 'again.json'; spent epsilon 1, delta 1e-6 on 'sample.csv': there is no cap
  $ charges
  2

## Tells two files of one name apart

  $ sample; ledger
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 0.5 --norm 2 --ledger l.db -q > /dev/null
  $ mkdir elsewhere
  $ cp sample.csv elsewhere
  $ cloister run kmeans elsewhere/sample.csv --clusters 3 --epsilon 0.5 --norm 2 --ledger l.db -q \
  >     > /dev/null
  ! cloister: the ledger l.db has another file under the name sample.csv, FOLDER/here/sample.csv: give this one another name, or, if both are the same data, that name
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
  ! cloister: data from standard input have no name for the ledger: give --dataset NAME
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
  ! warning: the clock of this machine ({{[-0-9T:]+Z}}) is before the last charge (2100-01-01T00:00:00Z): go by the numbers of charges, not by their times

## Writes neither through a stranger's link nor over key, anchor or ledger

  $ sample; ledger; cloister ledger init other.db --dataset x --epsilon 1 > /dev/null
  $ how="run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db -q"
  $ ln -s "$XDG_CONFIG_HOME/cloister/ledger.key" out
  $ cloister $how -o out
  ! cloister: out cannot be written: the key and the anchors of the ledger are in this folder
  [exit 4]
  $ cloister $how -o "$(ls -d "$XDG_CONFIG_HOME"/cloister/anchors/* | head -1)" 2>&1 |
  >     grep -c "key and the anchors"
  1
  $ cloister $how -o "$XDG_CONFIG_HOME/cloister/new.json" 2>&1 | grep -c "key and the anchors"
  1
  $ ln -sf other.db out; cloister $how -o out
  ! cloister: out cannot be written: it is a ledger
  [exit 4]
  $ cloister generate mixture --rows 9 --cols 2 --clusters 2 -o other.db
  ! cloister: other.db cannot be written: it is a ledger
  [exit 4]
  $ cloister ledger verify other.db
  other.db: unchanged; 0 charges, and every hash is correct
  $ if [ "$(id -u)" = 0 ]; then ln -s ok.json out2; chown -h 12345 out2; cloister $how -o out2
  > else # only root can plant one for this test
  >     echo "cloister: out2 cannot be written: it is a link that another user has put there" >&2
  >     (exit 4)
  > fi
  ! cloister: out2 cannot be written: it is a link that belongs to another user
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
  ! cloister: the token may belongs to a run on other data (charge 1), because the data have changed: use another token, or get its release with cloister ledger fetch
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
