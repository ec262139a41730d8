# Operations: what the steward of a ledger does

Each of them is on the page docs/guides/operations.md.

## Brings a lost ledger back and charges what was spent since

  $ sample; ledger
  $ cloister ledger backup l.db -o night.db
  night.db: a complete copy of l.db, and every hash is correct
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 0.8 --norm 2 --ledger l.db -q \
  >     > /dev/null
  $ rm l.db
  $ cloister ledger init l.db --dataset sample.csv --epsilon 9
  ! cloister: at l.db there was a ledger with 1 charges and 4 declarations, and it is gone: bring it back, or run cloister ledger restore, or name another file
  [exit 6]
  $ cloister ledger restore l.db --from night.db --note "disk failed" --dry-run
  'sample.csv': epsilon 0.8, delta 1e-6 charged, which was spent since the backup, as the anchor records
  l.db: nothing was changed
  $ ls l.db
  ! ls: cannot access 'l.db': No such file or directory
  [exit 2]
  $ cloister ledger restore l.db --from night.db --note "disk failed"
  'sample.csv': epsilon 0.8, delta 1e-6 charged, which was spent since the backup, as the anchor records
  l.db is restored
  $ cloister ledger show l.db
  data set    cap             spent             left              charges  last charge
  sample.csv  (2, 1e-5)       (0.7615, 1e-5)    (1.657, 1e-5)           1  {{[-0-9T:]+Z}}
  Several runs cost less together than the sum of their epsilons.
  Charges add up by zCDP: the methods aggregate, approx, boosted and exact are refused.
  $ cloister ledger acts l.db
  number  time                  act      data set          what, and why
       1  {{[-0-9T:Z]+}}  closed   -{{                 }}
       3  {{[-0-9T:Z]+}}  gap      -                 charge 0, declaration 2 of 1, 4: disk failed
  $ cloister ledger verify l.db
  l.db: unchanged; 1 charge, and every hash is correct

## Charges the whole cap where nobody knows

  $ sample; ledger
  $ cp l.db night.db
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 0.8 --norm 2 --ledger l.db -q \
  >     > /dev/null
  $ cp night.db l.db; rm "$XDG_CONFIG_HOME"/cloister/anchors/*
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 0.8 --norm 2 --ledger l.db -q
  ! cloister: the anchor FOLDER/home/config/cloister/anchors/{{[0-9a-f]+}} of the ledger l.db is missing, so this may be an old copy: bring the anchor back, or, if it is lost, run cloister ledger restore, which charges what may be missing
  [exit 6]
  $ cloister ledger restore l.db --note "disk and home failed"
  'sample.csv': nobody knows what was spent since the backup, so all that was left is charged
  l.db is restored
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 0.8 --norm 2 --ledger l.db -q
  ! cloister: no budget is left on 'sample.csv'; nothing was spent
  ! try: cloister ledger show l.db
  [exit 5]

## Takes the steward's word where nobody knows

  $ ledger
  $ cp l.db night.db; rm l.db "$XDG_CONFIG_HOME"/cloister/anchors/*
  $ cloister ledger restore l.db --from night.db --lost sample.csv=0.5:1e-6 \
  >     --note "one release since, of May: see the minutes"
  'sample.csv': epsilon 0.5, delta 1e-6 charged, on your word
  l.db is restored
  $ cloister ledger show l.db
  data set    cap             spent             left              charges  last charge
  sample.csv  (2, 1e-5)       (0.5, 1e-6)       (1.5, 9e-6)             1  {{[-0-9T:]+Z}}

## Restores nothing that is not lost, and nothing twice

  $ sample; ledger
  $ cloister ledger restore l.db --note "a drill"
  ! cloister: the ledger l.db is not an old copy: there is nothing to restore
  [exit 6]
  $ cloister ledger backup l.db -o night.db
  night.db: a complete copy of l.db, and every hash is correct
  $ cloister ledger backup l.db -o night.db
  ! cloister: night.db cannot be written: File exists
  [exit 6]
  $ cloister ledger restore l.db --from night.db --note "a drill"
  ! cloister: there is a file at l.db: move it away first, and keep it
  [exit 6]
  $ mv l.db aside.db
  $ cloister ledger restore l.db --from night.db --note "a drill"
  'sample.csv': nothing was lost
  l.db is restored
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 0.8 --norm 2 --ledger aside.db -q
  ! cloister: the ledger aside.db is an older copy: it ends at charge 0 and declaration 2, but there were 0 and 3; bring the newer file back, or, if it is lost, run cloister ledger restore, which charges what is missing
  [exit 6]

## A drill does not lock the ledger out

  $ sample; ledger
  $ cloister ledger backup l.db -o night.db > /dev/null
  $ run() { cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 0.8 --norm 2 -q "$@"; }
  $ run --ledger l.db > /dev/null
  $ cloister ledger restore drill.db --from night.db --note "a drill"
  ! cloister: this ledger is not lost: it is at FOLDER/here/l.db and is complete; use it, or move it; to practise, rehearse the restoration
  [exit 6]
  $ cloister ledger restore drill.db --from night.db --note "a drill" --dry-run
  'sample.csv': epsilon 0.8, delta 1e-6 charged, which was spent since the backup, as the anchor records
  drill.db: nothing was changed
  $ ls drill.db* 2> /dev/null
  [exit 2]
  $ run --ledger l.db > /dev/null
  $ charges
  2

## A lost key does not begin a cap anew

  $ sample; ledger
  $ rm "$XDG_CONFIG_HOME/cloister/ledger.key"
  $ cloister ledger init l.db --dataset sample.csv --epsilon 2
  ! cloister: the ledger l.db cannot be checked: its key {{[0-9a-f]+}} is not at FOLDER/home/config/cloister/ledger.key; bring the key {{[0-9a-f]+}}k
  [exit 6]
  $ rm l.db
  $ cloister ledger init l.db --dataset sample.csv --epsilon 2
  ! cloister: at l.db there was a ledger with another key (the anchor {{[0-9a-f]+}}...): bring it and its key back, or name another file and adopt what was spent in the old one
  [exit 6]

## Lowers, expires and closes

  $ sample; ledger
  $ cloister ledger lower l.db --dataset sample.csv --epsilon 1 --note "new rule of the office"
  'sample.csv' in l.db: from now on at most epsilon 1, delta 1e-5, including what was spent
  $ cloister ledger lower l.db --dataset sample.csv --epsilon 1.5 --note "back again"
  ! cloister: a cap can only be lowered: give an epsilon above 0 and at most the present one, and a delta of at most the present one
  [exit 2]
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 1.5 --norm 2 --ledger l.db -q
  ! cloister: not enough budget is left on the data set sample.csv: its cap was lowered to epsilon 1 and delta 1e-5, of which epsilon 1 and delta 1e-5 are left
  ! try: --epsilon 1
  [exit 5]
  $ cloister ledger expire l.db --dataset sample.csv --on 2001-01-01 --note "retention is over"
  'sample.csv' in l.db: nothing is charged on it from 2001-01-01T00:00:00Z on
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 0.8 --norm 2 --ledger l.db -q
  ! cloister: the budget of the data set sample.csv has expired: no more runs are possible
  ! try: cloister ledger show l.db
  [exit 5]
  $ cloister ledger close l.db --dataset sample.csv --note "consent withdrawn"
  'sample.csv' in l.db is closed: no more charges on it
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 0.8 --norm 2 --ledger l.db -q
  ! cloister: the data set sample.csv was closed by its steward: no more runs are possible
  ! try: cloister ledger show l.db
  [exit 5]
  $ cloister ledger show l.db
  data set    cap             spent             left              charges  last charge
  sample.csv  (2, 1e-5)       (0, 0)            (0, 0)                  0  -
              lowered to (1, 1e-5)
              expires 2001-01-01T00:00:00Z
              closed
  $ cloister ledger close l.db --dataset sample.csv
  ! cloister: give --note: the reason, which the ledger keeps
  [exit 2]
  $ cloister ledger expire l.db --dataset sample.csv --on tomorrow --note "soon"
  ! cloister: --on must be a day as 2027-01-31, not 'tomorrow'
  [exit 2]

## Charges a group along with its members

  $ sample
  $ cp sample.csv wave2.csv; echo "0.1,0.1" >> wave2.csv
  $ cloister ledger init l.db --dataset panel --epsilon 1 > /dev/null
  $ cloister ledger init l.db --dataset sample.csv --epsilon 1 > /dev/null
  $ cloister ledger init l.db --dataset wave2.csv --epsilon 1 > /dev/null
  $ cloister ledger group l.db --dataset sample.csv --in panel --note "the same persons"
  'sample.csv' in l.db: every charge on it is also charged to 'panel'
  $ cloister ledger group l.db --dataset wave2.csv --in panel --note "the same persons"
  'wave2.csv' in l.db: every charge on it is also charged to 'panel'
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 0.6 --delta 0 --norm 2 --ledger l.db -q \
  >     > /dev/null
  $ cloister run kmeans wave2.csv --clusters 3 --epsilon 0.6 --delta 0 --norm 2 --ledger l.db -q
  ! cloister: not enough budget is left on 'panel': this run needs epsilon 0.6, and at most 0.4 is left; nothing was spent
  ! try: cloister ledger show l.db
  [exit 5]
  $ cloister ledger history l.db
  number  time                  data set    mechanism           relation    loss
       1  {{[-0-9T:Z]+}}  sample.csv  kmeans/grid         replace     (0.6, 0)
       2  {{[-0-9T:Z]+}}  panel       kmeans/grid         replace     (0.6, 0)

## Adopts what was released elsewhere

  $ ledger
  $ cloister ledger adopt l.db --dataset sample.csv --epsilon 0.5 --note "a mean, 2019, by hand"
  'sample.csv' in l.db: epsilon 0.5, delta 0 charged for what was released elsewhere
  $ cloister ledger adopt l.db --dataset sample.csv --epsilon 7 --note "an old system"
  'sample.csv' in l.db: this is more than was left, so all that was left is charged
  $ cloister ledger show l.db
  data set    cap             spent             left              charges  last charge
  sample.csv  (2, 1e-5)       (2, 1e-5)         (0, 0)                  2  {{[-0-9T:]+Z}}

## Moves to another place, and to another machine

  $ sample; ledger
  $ mkdir books
  $ cloister ledger move l.db --to books/l.db
  l.db is at books/l.db now
  $ cloister ledger verify books/l.db
  books/l.db: unchanged; 0 charges, and every hash is correct
  $ cloister ledger move books/l.db --away parcel
  ! cloister: give --for: the code that 'cloister ledger move --code' prints on the new machine
  [exit 2]
  $ code=$(XDG_CONFIG_HOME=$PWD/other cloister ledger move --code)
  $ XDG_CONFIG_HOME=$PWD/third cloister ledger move --code | grep -Ec '^[0-9a-f]{72}$'
  1
  $ cloister ledger move books/l.db --away parcel --for ${code}0
  ! cloister: this is not a code of a machine, or a digit is wrong: copy all 72 digits from the new machine
  [exit 2]
  $ cloister ledger move books/l.db --for $code
  ! cloister: give one of --to, --code, --away and --from: 'cloister ledger move --help' explains them
  [exit 2]
  $ cloister ledger move books/l.db --from parcel --for $code
  ! cloister: --for belongs to --away, on the machine that has the ledger now
  [exit 2]
  $ cloister ledger move books/l.db --away parcel --for $code
  books/l.db is in parcel, for the machine that made the code; the file here takes no more charges
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 0.8 --norm 2 --ledger books/l.db -q
  ! cloister: the ledger books/l.db was moved to another machine: the file here is a copy, which takes no more charges
  [exit 6]
  $ XDG_CONFIG_HOME=$PWD/third cloister ledger move second.db --from parcel
  ! cloister: the folder parcel was made for another machine, or was already unpacked: only the machine that made the code can unpack it, once
  [exit 6]
  $ XDG_CONFIG_HOME=$PWD/other cloister ledger move there.db --from parcel
  there.db is here; remove parcel
  $ XDG_CONFIG_HOME=$PWD/other cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 0.8 \
  >     --norm 2 --ledger there.db -q > /dev/null
  $ XDG_CONFIG_HOME=$PWD/other cloister ledger move again.db --from parcel
  ! cloister: the folder parcel was made for another machine, or was already unpacked: only the machine that made the code can unpack it, once
  [exit 6]
  $ XDG_CONFIG_HOME=$PWD/other cloister ledger verify there.db
  there.db: unchanged; 1 charge, and every hash is correct

## Refuses a second ledger where one was that was moved

  $ sample; ledger
  $ cloister ledger move l.db --to elsewhere.db
  l.db is at elsewhere.db now
  $ cloister ledger init l.db --dataset sample.csv --epsilon 2
  ! cloister: the ledger that was at l.db is at FOLDER/here/elsewhere.db now, with its caps: use that one, or allow a second ledger with caps of its own (--new)
  [exit 6]
  $ ls l.db
  ! ls: cannot access 'l.db': No such file or directory
  [exit 2]
  $ mv elsewhere.db third.db
  $ cloister ledger lower third.db --dataset sample.csv --epsilon 1.5 --note "board"
  'sample.csv' in third.db: from now on at most epsilon 1.5, delta 1e-5, including what was spent
  $ cloister ledger init elsewhere.db --dataset sample.csv --epsilon 2
  ! cloister: the ledger that was at elsewhere.db is at FOLDER/here/third.db now, with its caps: use that one, or allow a second ledger with caps of its own (--new)
  [exit 6]
  $ cloister ledger init l.db --dataset sample.csv --epsilon 2
  ! cloister: the ledger that was at l.db is at FOLDER/here/third.db now, with its caps: use that one, or allow a second ledger with caps of its own (--new)
  [exit 6]
  $ cloister ledger init l.db --dataset sample.csv --epsilon 2 --new
  l.db is closed: it refuses runs on data sets that are not declared in it
  'sample.csv' in l.db: at most epsilon 2, delta 1e-6 may ever be spent on it
  $ cloister ledger verify l.db
  l.db: unchanged; 0 charges, and every hash is correct
  $ code=$(XDG_CONFIG_HOME=$PWD/other cloister ledger move --code)
  $ cloister ledger move third.db --away parcel --for $code
  third.db is in parcel, for the machine that made the code; the file here takes no more charges
  $ cloister ledger init third.db --dataset sample.csv --epsilon 2
  ! cloister: the ledger third.db was moved to another machine: the file here is a copy, which takes no more charges
  [exit 6]
  $ rm third.db
  $ cloister ledger init third.db --dataset sample.csv --epsilon 2
  ! cloister: the ledger that was at third.db was moved to another machine, with its caps: use it there, or allow a second ledger with caps of its own (--new)
  [exit 6]
  $ cloister ledger init elsewhere.db --dataset sample.csv --epsilon 2
  ! cloister: the ledger that was at elsewhere.db was moved to another machine, with its caps: use it there, or allow a second ledger with caps of its own (--new)
  [exit 6]
  $ cloister ledger init third.db --dataset sample.csv --epsilon 2 --new
  third.db is closed: it refuses runs on data sets that are not declared in it
  'sample.csv' in third.db: at most epsilon 2, delta 1e-6 may ever be spent on it

## Makes no ledger whose journal could have no name

  $ sample; ledger; cloister ledger backup l.db -o b.db > /dev/null
  $ name=$(printf 'n%.0s' $(seq 231))
  $ cloister ledger init $name --dataset sample.csv --epsilon 1
  ! cloister: the name of a ledger must have at most 230 bytes: its journal lies beside it under a longer one
  [exit 2]
  $ cloister ledger move l.db --to $name
  ! cloister: the name of a ledger must have at most 230 bytes: its journal lies beside it under a longer one
  [exit 2]
  $ cloister ledger restore $name --from b.db --note "a drill"
  ! cloister: the name of a ledger must have at most 230 bytes: its journal lies beside it under a longer one
  [exit 2]
  $ cloister ledger move $name --from parcel
  ! cloister: the name of a ledger must have at most 230 bytes: its journal lies beside it under a longer one
  [exit 2]
  $ name=$(printf 'n%.0s' $(seq 230))
  $ cloister ledger move l.db --to $name | tr -s n n
  l.db is at n now
  $ cloister ledger adopt $name --dataset sample.csv --epsilon 1 --note "by hand" | tr -s n n
  'sample.csv' in n: epsilon 1, delta 0 charged for what was released elsewhere
  $ cloister report ''
  ! cloister: no file was given: the name is empty
  [exit 2]

## Says that it was done where that cannot be written

  $ sample; ledger
  $ cloister ledger adopt l.db --dataset sample.csv --epsilon 0.5 --note "by hand" > /dev/full
  ! cloister: cannot write to standard output: No space left on device; 'ledger adopt' was carried out
  [exit 4]
  $ cloister ledger show l.db --json | grep -c '"charges": 1'
  1
  $ cloister ledger rekey l.db --note "a year" >&-
  ! cloister: cannot write to standard output: Bad file descriptor; 'ledger rekey' was carried out
  [exit 4]

## Changes its key

  $ sample; ledger
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 0.8 --norm 2 --ledger l.db -q \
  >     --token may -o may.json
  $ cloister ledger key l.db > old.pub
  $ cloister ledger rekey l.db --note "an assistant has left"
  l.db has a new key; give the new public key ('cloister ledger key') to everyone who checks releases
  $ cloister ledger verify l.db
  l.db: unchanged; 1 charge, and every hash is correct
  $ cloister ledger check may.json --key old.pub > /dev/null
  $ cloister ledger key l.db | cmp -s old.pub -
  [exit 1]
  $ cloister ledger fetch l.db --token may | cmp - may.json
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 0.8 --norm 2 --ledger l.db -q \
  >     -o june.json
  $ cloister ledger check june.json l.db > /dev/null

## Says how charges are counted, and what a run would hear

  $ sample
  $ cloister ledger init l.db --dataset sample.csv --epsilon 2 --rule zcdp
  l.db is closed: it refuses runs on data sets that are not declared in it
  'sample.csv' in l.db: at most epsilon 2, delta 1e-6 may ever be spent on it
  charges with a delta: they add up by zCDP
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db \
  >     --dry-run | tail -n 1
    Would charge 'sample.csv' in l.db, where epsilon 2 of 2 is left; nothing was spent.
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 3 --norm 2 --ledger l.db \
  >     --dry-run > /dev/null
  ! cloister: a run would be refused: not enough budget is left on 'sample.csv': this run needs epsilon 3, and at most 2 is left for a run with Gaussian noise; nothing was spent
  ! try: --epsilon 2
  [exit 5]
  $ cloister run subspace/approx sample.csv --dim 1 --gamma 0.5 --epsilon 1 --norm 2 --ledger l.db \
  >     --dry-run --yes | grep zCDP
    note        a data set that counts by zCDP refuses this method
  ! cloister: a run would be refused: the data set 'sample.csv' counts its charges by zCDP, which this method does not have: choose another method
  ! try: cloister ledger show l.db
  $ cloister ledger init m.db --dataset sample.csv --epsilon 2 --rule basic | tail -n 1
  charges with a delta: their epsilons and deltas are added
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger m.db -q \
  >     > /dev/null
  $ cloister ledger show m.db --json | grep rule
        "rule": "basic",
  $ cloister ledger verify m.db
  m.db: unchanged; 1 charge, and every hash is correct
