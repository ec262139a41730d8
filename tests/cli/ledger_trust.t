# Ledger: when it can be trusted

Keys, changed and older files, and other processes.

## Can be shown and not checked without its key

  $ ledger
  $ rm "$XDG_CONFIG_HOME/cloister/ledger.key"
  $ cloister ledger show l.db
  data set    cap             spent             left              charges  last charge
  sample.csv  (2, 1e-5)       (0, 0)            (2, 1e-5)               0  -
  $ cloister ledger verify l.db
  ! cloister: the ledger l.db cannot be checked: its key {{[0-9a-f]+}} is not at FOLDER/home/config/cloister/ledger.key; bring the key {{[0-9a-f]+}}k
  [exit 6]
  $ cloister ledger init l.db --dataset other --epsilon 1
  ! cloister: the ledger l.db cannot be checked: its key {{[0-9a-f]+}} is not at FOLDER/home/config/cloister/ledger.key; bring the key {{[0-9a-f]+}}k
  [exit 6]

## Names another key

  $ ledger
  $ rm -r "$XDG_CONFIG_HOME/cloister"
  $ cloister ledger init other.db --dataset other --epsilon 1 > /dev/null
  $ cloister ledger verify l.db
  ! cloister: the ledger l.db cannot be checked: its key is {{[0-9a-f]+}}, but the key {{[0-9a-f]+}}t FOLDER/home/config/cloister/ledger.key is {{[0-9a-f]+}}; put the right key there
  [exit 6]

## Notices a changed charge

  $ sample; ledger
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db -q \
  >     > /dev/null
  $ sed -i 's|kmeans/lloyd|kmeans/loyal|' l.db
  $ cloister ledger verify l.db --json > answer.json
  ! cloister: …
  [exit 6]
  $ grep -o '"sound": [a-z]*' answer.json
  "sound": false

## Notices a removed ledger

  $ ledger
  $ rm l.db
  $ cloister ledger init l.db --dataset sample.csv --epsilon 9
  ! cloister: at l.db there was a ledger with 0 charges and 2 declarations, and it is gone: bring it back, or run cloister ledger restore, or name another file
  [exit 6]

## Notices an old copy

  $ sample; ledger
  $ cp l.db old.db
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db -q > /dev/null
  $ cp old.db l.db
  $ cloister ledger verify l.db --json 2> /dev/null | grep -o '"sound": [a-z]*'
  "sound": false
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db -q
  ! cloister: the ledger l.db is an older copy: it ends at charge 0 and declaration {{[0-9]+}}, but there were 1 and {{[0-9]+}}; bring the newer file back, or, if it is lost, run cloister ledger restore, which charges what is missing
  [exit 6]

## Refuses a file that is no ledger

  $ echo hello > l.db
  $ cloister ledger show l.db
  ! cloister: l.db is not a ledger: name another file, or, if it was one, restore it from a backup
  [exit 6]

## Refuses a key that others can read

  $ ledger
  $ chmod 644 "$XDG_CONFIG_HOME/cloister/ledger.key"
  $ cloister ledger init l.db --dataset other --epsilon 1
  ! cloister: other users can read or write the ledger's key FOLDER/home/config/cloister/ledger.key: run chmod 600 'FOLDER/home/config/cloister/ledger.key'
  [exit 6]

## Says that another process holds it

  $ ledger
  $ python3 - <<'END' &
  > import sqlite3, time
  > db = sqlite3.connect("l.db")
  > db.execute("BEGIN EXCLUSIVE")
  > open("held", "w").close()
  > time.sleep(600)
  > END
  $ holder=$!
  $ waits $holder [ -e held ]
  $ cloister ledger init l.db --dataset other --epsilon 1 2>&1 | sed "s/($holder)/(that one)/"
  cloister: another process (that one) has used the ledger l.db for more than 5 seconds, so nothing was done: try again later
  $ kill $holder

## Ends in bounded time where a reader stays, and nothing is spent

  $ sample; ledger
  $ python3 - <<'END' &
  > import sqlite3, time
  > db = sqlite3.connect("l.db")
  > db.execute("BEGIN")
  > db.execute("SELECT * FROM dataset").fetchall()
  > open("held", "w").close()
  > time.sleep(600)
  > END
  $ holder=$!
  $ waits $holder [ -e held ]
  $ timeout 60 cloister run kmeans sample.csv --clusters 2 --epsilon 0.5 --norm 2 --ledger l.db -q \
  >     -o release.json 2> said
  [exit 6]
  $ sed "s/($holder)/(that one)/" said
  cloister: another process (that one) has used the ledger l.db for more than 5 seconds, so nothing was done: try again later
  $ ls release.json 2> /dev/null
  [exit 2]
  $ cloister ledger show l.db
  data set    cap             spent             left              charges  last charge
  sample.csv  (2, 1e-5)       (0, 0)            (2, 1e-5)               0  -
  $ kill $holder; wait $holder 2> /dev/null
  [exit 143]
  $ cloister run kmeans sample.csv --clusters 2 --epsilon 0.5 --norm 2 --ledger l.db -q \
  >     -o release.json
  $ cloister ledger verify l.db
  l.db: unchanged; 1 charge, and every hash is correct

## Says that it is damaged

  $ ledger
  $ dd if=/dev/zero of=l.db bs=4096 seek=1 count=2 conv=notrunc 2> /dev/null
  $ cloister ledger show l.db
  ! cloister: the ledger l.db is damaged (database disk image is malformed): keep the file, restore a backup and run cloister ledger verify
  [exit 6]

## Takes a moved ledger along

  $ ledger
  $ mkdir elsewhere
  $ mv l.db elsewhere/m.db
  $ cloister ledger init elsewhere/m.db --dataset other --epsilon 9 > /dev/null
  $ cloister ledger verify elsewhere/m.db
  elsewhere/m.db: unchanged; 0 charges, and every hash is correct
  $ ledger
  ! cloister: the ledger that was at l.db is at FOLDER/here/elsewhere/m.db now, with its caps: use that one, or allow a second ledger with caps of its own (--new)
  [exit 6]
  $ cloister ledger init l.db --dataset sample.csv --epsilon 2 --new > /dev/null
  $ cloister ledger verify l.db
  l.db: unchanged; 0 charges, and every hash is correct
