# Operations: what the steward of a ledger does

Each of them is on the page docs/guides/operations.md.

## Brings a lost ledger back and charges what was spent since

  $ sample; ledger
  $ cloister ledger backup l.db -o night.db
  night.db: a whole copy of l.db, and every hash fits
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 0.8 --norm 2 --ledger l.db -q \
  >     > /dev/null
  $ rm l.db
  $ cloister ledger init l.db --dataset sample.csv --epsilon 9
  ! cloister: at l.db there was a ledger that ended at charge 1 and declaration 4, and it is gone: bring it back, or restore it from a backup with cloister ledger restore, or name another file
  [exit 6]
  $ cloister ledger restore l.db --from night.db --note "disk failed" --dry-run
  'sample.csv': epsilon 0.8, delta 1e-6 charged, which the anchor knows was spent since
  l.db: nothing was changed
  $ ls l.db
  ! ls: cannot access 'l.db': No such file or directory
  [exit 2]
  $ cloister ledger restore l.db --from night.db --note "disk failed"
  'sample.csv': epsilon 0.8, delta 1e-6 charged, which the anchor knows was spent since
  l.db is restored
  $ cloister ledger show l.db
  data set    cap           composed         plain sum       left            charges  last charge
  sample.csv  (2, 1e-5)     (0.7615, 1e-5)   (0.8, 1e-6)     (1.657, 1e-5)         1  {{[-0-9T:Z]+}}
              counted by rho (zcdp): runs that are only approximately so are refused
  $ cloister ledger acts l.db
  number  time                  act      data set          what and why
       1  {{[-0-9T:Z]+}}  closed   -{{                 }}
       3  {{[-0-9T:Z]+}}  gap      -                 charge 0, declaration 2 of 1, 4: disk failed
  $ cloister ledger verify l.db
  l.db: sound; 1 charge, and every hash fits

## Charges the whole cap where nobody knows

  $ sample; ledger
  $ cp l.db night.db
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 0.8 --norm 2 --ledger l.db -q \
  >     > /dev/null
  $ cp night.db l.db; rm "$XDG_CONFIG_HOME"/cloister/anchors/*
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 0.8 --norm 2 --ledger l.db -q
  ! cloister: the anchor FOLDER/home/config/cloister/anchors/{{[0-9a-f]+}} of the ledger l.db is not there, so nobody knows whether this is an old copy: bring it back, or, if it is lost, run cloister ledger restore, which charges what may be missing
  [exit 6]
  $ cloister ledger restore l.db --note "disk and home failed"
  'sample.csv': nobody knows what was spent since: all that was left is charged
  l.db is restored
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 0.8 --norm 2 --ledger l.db -q
  ! cloister: the cap on the data set sample.csv does not cover this run: it asks for epsilon 0.8 and delta 1e-6, and of its epsilon 2 and delta 1e-5 only epsilon 0 and delta 0 are left: no further run fits
  ! try: cloister ledger show l.db
  [exit 5]

## Takes the steward's word where nobody knows

  $ ledger
  $ cp l.db night.db; rm l.db "$XDG_CONFIG_HOME"/cloister/anchors/*
  $ cloister ledger restore l.db --from night.db --lost sample.csv=0.5:1e-6 \
  >     --note "one release since, of May: see the minutes"
  'sample.csv': epsilon 0.5, delta 1e-6 charged, which you answer for
  l.db is restored
  $ cloister ledger show l.db
  data set    cap           composed         plain sum       left            charges  last charge
  sample.csv  (2, 1e-5)     (0.5, 1e-6)      (0.5, 1e-6)     (1.5, 9e-6)           1  {{[-0-9T:Z]+}}

## Restores nothing that is not lost, and nothing twice

  $ sample; ledger
  $ cloister ledger restore l.db --note "a drill"
  ! cloister: the ledger l.db is not an old copy: there is nothing to restore
  [exit 6]
  $ cloister ledger backup l.db -o night.db
  night.db: a whole copy of l.db, and every hash fits
  $ cloister ledger backup l.db -o night.db
  ! cloister: night.db cannot be written: File exists
  [exit 6]
  $ cloister ledger restore l.db --from night.db --note "a drill"
  ! cloister: there is a file at l.db: put it aside first, and keep it
  [exit 6]
  $ mv l.db aside.db
  $ cloister ledger restore l.db --from night.db --note "a drill"
  'sample.csv': nothing was lost
  l.db is restored
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 0.8 --norm 2 --ledger aside.db -q
  ! cloister: the ledger aside.db is an older copy or was cut short: it ends at charge 0 and declaration 2, and there were 0 and 3; bring the newer file back, or, if it is lost, run cloister ledger restore, which charges what is missing
  [exit 6]

## A drill does not lock the ledger out

  $ sample; ledger
  $ cloister ledger backup l.db -o night.db > /dev/null
  $ run() { cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 0.8 --norm 2 -q "$@"; }
  $ run --ledger l.db > /dev/null
  $ cloister ledger restore drill.db --from night.db --note "a drill"
  ! cloister: this ledger is not lost: it is at FOLDER/here/l.db, with all that the anchor knows, and would be an old copy from here on; go on with it, or move it; a drill is a dry run
  [exit 6]
  $ cloister ledger restore drill.db --from night.db --note "a drill" --dry-run
  'sample.csv': epsilon 0.8, delta 1e-6 charged, which the anchor knows was spent since
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
  ! cloister: the hashes of the ledger l.db cannot be checked: they were made with the key {{[0-9a-f]+}}, which is not at FOLDER/home/config/cloister/ledger.key; bring it back
  [exit 6]
  $ rm l.db
  $ cloister ledger init l.db --dataset sample.csv --epsilon 2
  ! cloister: at l.db there was a ledger under another key (the anchor {{[0-9a-f]+}}...), and it is gone: bring it and its key back, or name another file and adopt what was spent in the old one
  [exit 6]

## Lowers, expires and closes

  $ sample; ledger
  $ cloister ledger lower l.db --dataset sample.csv --epsilon 1 --note "new rule of the office"
  'sample.csv' in l.db: from here on at most epsilon 1, delta 1e-5, with what was spent
  $ cloister ledger lower l.db --dataset sample.csv --epsilon 1.5 --note "back again"
  ! cloister: a cap can only be lowered: its epsilon must be above 0, and neither may be above what it is now
  [exit 2]
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 1.5 --norm 2 --ledger l.db -q
  ! cloister: the cap on the data set sample.csv was lowered to epsilon 1 and delta 1e-5, of which epsilon 1 and delta 1e-5 are left: that does not cover this run
  ! try: cloister ledger show l.db
  [exit 5]
  $ cloister ledger expire l.db --dataset sample.csv --on 2001-01-01 --note "retention is over"
  'sample.csv' in l.db: nothing is charged on it from 2001-01-01T00:00:00Z on
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 0.8 --norm 2 --ledger l.db -q
  ! cloister: the budget of the data set sample.csv has expired: nothing more is charged on it
  ! try: cloister ledger show l.db
  [exit 5]
  $ cloister ledger close l.db --dataset sample.csv --note "consent withdrawn"
  'sample.csv' in l.db is closed: nothing more is charged on it
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 0.8 --norm 2 --ledger l.db -q
  ! cloister: the data set sample.csv was closed by its steward: nothing more is charged on it
  ! try: cloister ledger show l.db
  [exit 5]
  $ cloister ledger show l.db
  data set    cap           composed         plain sum       left            charges  last charge
  sample.csv  (2, 1e-5)     (0, 0)           (0, 0)          (0, 0)                0  -
              lowered to (1, 1e-5)
              expires 2001-01-01T00:00:00Z
              closed
  $ cloister ledger close l.db --dataset sample.csv
  ! cloister: --note must be given: why, for who reads the books
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
  'sample.csv' in l.db: whatever is charged on it is charged to 'panel', too
  $ cloister ledger group l.db --dataset wave2.csv --in panel --note "the same persons"
  'wave2.csv' in l.db: whatever is charged on it is charged to 'panel', too
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 0.6 --delta 0 --norm 2 --ledger l.db -q \
  >     > /dev/null
  $ cloister run kmeans wave2.csv --clusters 3 --epsilon 0.6 --delta 0 --norm 2 --ledger l.db -q
  ! cloister: the cap on the data set panel does not cover this run: it asks for epsilon 0.6 and delta 0, and of its epsilon 1 and delta 1e-6 only epsilon 0.4 and delta 1e-6 are left: ask for epsilon 0.4 or less
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
  'sample.csv' in l.db: that is more than was left, so all that was left is charged
  $ cloister ledger show l.db
  data set    cap           composed         plain sum       left            charges  last charge
  sample.csv  (2, 1e-5)     (2, 1e-5)        (2, 1e-5)       (0, 0)                2  {{[-0-9T:Z]+}}

## Moves to another place, and to another machine

  $ sample; ledger
  $ mkdir books
  $ cloister ledger move l.db --to books/l.db
  l.db is at books/l.db now
  $ cloister ledger verify books/l.db
  books/l.db: sound; 0 charges, and every hash fits
  $ cloister ledger move books/l.db --away parcel
  books/l.db is in parcel, with its key and its anchor: guard it as the key, and unpack it once; what is here is not charged any more
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 0.8 --norm 2 --ledger books/l.db -q
  ! cloister: the ledger books/l.db was moved to another machine, and goes on there: what is here is a copy, which is not charged any more
  [exit 6]
  $ XDG_CONFIG_HOME=$PWD/other cloister ledger move there.db --from parcel
  there.db is here; remove parcel
  $ XDG_CONFIG_HOME=$PWD/other cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 0.8 \
  >     --norm 2 --ledger there.db -q > /dev/null
  $ XDG_CONFIG_HOME=$PWD/other cloister ledger move again.db --from parcel
  ! cloister: this machine knows the ledger already: a second copy of it is not received; if the file here is lost, run cloister ledger restore
  [exit 6]
  $ XDG_CONFIG_HOME=$PWD/other cloister ledger verify there.db
  there.db: sound; 1 charge, and every hash fits

## Changes its key

  $ sample; ledger
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 0.8 --norm 2 --ledger l.db -q \
  >     --token may -o may.json
  $ cloister ledger key l.db > old.pub
  $ cloister ledger rekey l.db --note "an assistant has left"
  l.db has a new key; tell who checks releases the new public one ('cloister ledger key')
  $ cloister ledger verify l.db
  l.db: sound; 1 charge, and every hash fits
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
  l.db is closed: only data sets that are declared in it are charged
  'sample.csv' in l.db: at most epsilon 2, delta 1e-6 may ever be spent on it
  charges with a delta: their rhos are added (zcdp)
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db \
  >     --dry-run | tail -n 1
    Would charge 'sample.csv' in l.db (epsilon 2 is left at delta 1e-6; rhos are added (zcdp)); nothing was spent.
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 3 --norm 2 --ledger l.db \
  >     --dry-run > /dev/null
  ! cloister: a run would be refused: the cap on the data set sample.csv does not cover this run: it asks for epsilon 3 and delta 1e-6, and of its epsilon 2 and delta 1e-6 only epsilon 2 and delta 1e-6 are left, for a run with Gaussian noise: ask for epsilon 2 or less
  ! try: cloister ledger show l.db
  [exit 5]
  $ cloister run subspace/approx sample.csv --dim 1 --gamma 0.5 --epsilon 1 --norm 2 --ledger l.db \
  >     --dry-run --yes | grep composition
  ! cloister: a run would be refused: the cap on the data set sample.csv does not cover this run: its charges are counted as zero-concentrated privacy, and this run is only approximately so; choose another method
  ! try: cloister ledger show l.db
    composition its losses are added; a cap that counts by rho (zcdp) refuses it
  $ cloister ledger init m.db --dataset sample.csv --epsilon 2 --rule basic | tail -n 1
  charges with a delta: their epsilons and deltas are added (basic)
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger m.db -q \
  >     > /dev/null
  $ cloister ledger show m.db --json | grep rule
        "rule": "basic",
  $ cloister ledger verify m.db
  m.db: sound; 1 charge, and every hash fits
