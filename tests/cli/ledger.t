# Ledger: what was spent, and what is left

## Declares, shows and verifies

  $ cloister ledger init l.db --dataset patients --epsilon 3 --delta 1e-6
  l.db is closed: it refuses runs on data sets that are not declared in it
  'patients' in l.db: at most epsilon 3, delta 1e-6 may ever be spent on it
  $ cloister ledger show l.db
  data set  cap             spent             left              charges  last charge
  patients  (3, 1e-6)       (0, 0)            (3, 1e-6)               0  -
  $ cloister ledger history l.db
  l.db: nothing was spent yet
  $ cloister ledger verify l.db
  l.db: unchanged; 0 charges, and every hash is correct

## Exports all of it as JSON

  $ sample; ledger
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db -q \
  >     --token may > /dev/null
  $ cloister ledger export l.db
  {
    "schema": "cloister.ledger-export/4",
    "ledger": "l.db",
    "identity": "{{[0-9a-f]+}}",
    "key_id": "{{[0-9a-f]+}}",
    "ledger_schema": 4,
    "created": "{{....-..-..T..:..:..Z}}",
    "closed": true,
    "datasets": [
      {
        "dataset": "sample.csv",
        "cap": {
          "epsilon": 2,
          "delta": 1e-5
        },
        "composed": {
          "epsilon": {{0\.[89][0-9]+}},
          "delta": 1e-5
        },
        "plain_sum": {
          "epsilon": 1,
          "delta": 1e-6
        },
        "left": {
          "epsilon": …,
          "delta": 1e-5
        },
        "rule": "zcdp",
        "charges": 1,
        "created": "{{....-..-..T..:..:..Z}}",
        "last_charge": "{{....-..-..T..:..:..Z}}"
      }
    ],
    "declarations": [
      {
        "sequence": 2,
        "after_charge": 0,
        "time": "{{....-..-..T..:..:..Z}}",
        "dataset": "sample.csv",
        "cap": {
          "epsilon": 2,
          "delta": 1e-5
        },
        "format": 2,
        "hash": "{{[0-9a-f]+}}"
      }
    ],
    "acts": [
      {
        "sequence": 1,
        "after_charge": 0,
        "time": "{{[-0-9T:Z]+}}",
        "kind": "closed",
        "dataset": null,
        "value": null,
        "note": null
      },
      {
        "sequence": 3,
        "after_charge": 1,
        "time": "{{[-0-9T:Z]+}}",
        "kind": "key",
        "dataset": null,
        "value": "{{[0-9a-f]+}}",
        "note": null
      }
    ],
    "charges": [
      {
        "sequence": 1,
        "time": "{{....-..-..T..:..:..Z}}",
        "dataset": "sample.csv",
        "mechanism": "kmeans/lloyd",
        "relation": "replace",
        "loss": {
          "epsilon": 1,
          "delta": 1e-6
        },
        "units": {
          "epsilon": 281474976710656,
          "delta": 4611686018427,
          "rho": {{[0-9]+}},
          "rho_delta": 0
        },
        "rule": "zcdp",
        "capacity": {{[0-9]+}},
        "user": "{{.+}}",
        "host": "{{.+}}",
        "purpose": null,
        "program": "cloister {{[0-9.]+}}",
        "token": "may",
        "plan": "{{[0-9a-f]+}}",
        "stored": "{{....-..-..T..:..:..Z}}",
        "stored_bytes": {{[0-9]+}},
        "format": 2,
        "hash": "{{[0-9a-f]+}}"
      }
    ],
    "certificate": {
      "signature": "{{[0-9a-f]{128}}}",
      "public_key": "{{[0-9a-f]{64}}}",
      "program": "cloister {{[0-9.]+}}"
    }
  }

## Exports the whole ledger only

  $ ledger
  $ cloister ledger export l.db --dataset sample.csv
  ! cloister: 'ledger export' has no option --dataset, which belongs to init, show, history, report, lower, close, expire, group or adopt
  [exit 2]

## Fetches a lost release for nothing

  $ sample; ledger
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db --token may -q \
  >     -o kept.json
  $ cloister ledger fetch l.db --token may | cmp - kept.json
  $ cloister ledger fetch l.db --token may -o again.json && cmp again.json kept.json
  $ cloister ledger fetch l.db --token may | cloister report - | head -1
  kmeans…
  $ charges
  1
  $ cloister ledger fetch l.db --token may > /dev/full
  ! cloister: cannot write to standard output: No space left on device
  [exit 4]
  $ cloister ledger fetch l.db --token june
  ! cloister: the ledger l.db knows no token june
  ! try: cloister ledger history l.db --json
  [exit 2]
  $ cloister ledger fetch l.db
  ! cloister: give --token T: the token of the run, which 'cloister ledger history --json' lists
  ! try: cloister ledger history l.db --json
  [exit 2]
  $ cloister ledger fetch l.db --token may -o l.db
  ! cloister: -o l.db would overwrite the ledger
  [exit 2]
  $ cloister ledger fetch l.db --token may --dataset sample.csv
  ! cloister: 'ledger fetch' has no option --dataset, which belongs to init, show, history, report, lower, close, expire, group or adopt
  [exit 2]
  $ cloister ledger show l.db --token may
  ! cloister: 'ledger show' has no option --token, which belongs to fetch
  [exit 2]

## Keeps the cap options to init

  $ ledger
  $ cloister ledger show l.db --epsilon 1
  ! cloister: 'ledger show' has no option --epsilon, which belongs to init, lower or adopt
  [exit 2]

## Lists every charge

  $ sample; ledger
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db -q \
  >     > /dev/null
  $ cloister run subspace sample.csv --dim 1 --epsilon 0.5 --norm 2 --ledger l.db -q > /dev/null
  $ cloister ledger show l.db
  data set…
  sample.csv  (2, 1e-5)  {{ *}}(1.0{{..}}, 1e-5)     (1.473, 1e-5)           2  {{[-0-9T:]+Z}}
  Several runs cost less together than the sum of their epsilons.
  Charges add up by zCDP: the methods aggregate, approx, boosted and exact are refused.
  $ cloister ledger history l.db
  number  time…
       1  {{....-..-..T..:..:..Z}}  sample.csv  kmeans/lloyd        replace     (1, 1e-6)
       2  {{....-..-..T..:..:..Z}}  sample.csv  subspace/gaussian   replace     (0.5, 1e-6)
  $ cloister ledger history l.db --json | python3 -c "
  > import json, sys
  > for c in json.load(sys.stdin)['charges']:
  >     print(c['sequence'], c['dataset'], c['mechanism'], c['loss'])"
  1 sample.csv kmeans/lloyd {'epsilon': 1, 'delta': 1e-06}
  2 sample.csv subspace/gaussian {'epsilon': 0.5, 'delta': 1e-06}
  $ cloister ledger show l.db --json | python3 -c "
  > import json, sys
  > for d in json.load(sys.stdin)['datasets']:
  >     print(d['dataset'], d['charges'], d['cap'], d['composed'],
  >         d['plain_sum'])"
  sample.csv 2 {'epsilon': 2, 'delta': 1e-05} {'epsilon': 1.0{{[0-9]+}}, 'delta': 1e-05} {'epsilon': 1.5, 'delta': 2e-06}
  $ cloister ledger verify l.db --json
  {
    "schema": "cloister.ledger-verify/1",
    "ledger": "l.db",
    "sound": true,
    "problem": null,
    "charges": 2,
    "anchored": true,
    "clock_went_back": 0
  }

## Refuses to declare twice

  $ ledger
  $ cloister ledger init l.db --dataset sample.csv --epsilon 9
  ! cloister: the data set 'sample.csv' already has a cap, which cannot be raised: 'cloister ledger lower' can lower it
  [exit 6]

## Says when a data set is not there

  $ ledger
  $ cloister ledger show l.db --dataset nobody
  ! cloister: the ledger l.db knows no data set nobody
  ! try: cloister ledger show l.db
  [exit 2]

## Says when there is no ledger

  $ cloister ledger show nothing.db
  ! cloister: there is no ledger at nothing.db: make one with cloister ledger init
  [exit 6]
  $ ls -A

## Shows one data set

  $ ledger
  $ cloister ledger init l.db --dataset other --epsilon 1 > /dev/null
  $ cloister ledger show l.db --dataset other
  data set  cap             spent             left              charges  last charge
  other     (1, 1e-6)       (0, 0)            (1, 1e-6)               0  -

## Suggests a verb

  $ cloister ledger verfiy
  ! cloister: 'ledger' has no verb 'verfiy'; did you mean 'verify'?
  ! try: cloister ledger --help
  [exit 2]

## Wants a data set and an epsilon

  $ cloister ledger init l.db --epsilon 1
  ! cloister: give --dataset NAME: the data that the cap is for
  [exit 2]
  $ cloister ledger init l.db --dataset x
  ! cloister: give --epsilon E: the most that may ever be spent on 'x'
  [exit 2]
  $ ls -A

## Wants a verb

  $ cloister ledger
  ! cloister: 'ledger' needs a verb, such as show
  ! try: cloister ledger --help
  [exit 2]

## Draws once for a token over two copies

  $ sample
  $ cloister ledger init l.db --dataset s --epsilon 1 --delta 1e-5 > /dev/null
  $ cp l.db copy.db
  $ starts_run --dataset s --epsilon 0.4 --delta 1e-6 --token t --ledger copy.db
  $ cloister run kmeans sample.csv --clusters 3 --norm 2 --dataset s --epsilon 0.4 --delta 1e-6 \
  >     --token t --ledger l.db -q > first.txt
  $ feeds sample.csv
  the late run ended with 6 and 0 bytes: cloister: the ledger copy.db is an older copy: it ends at charge 0 and declaration {{[0-9]+}}, but there were 1 and {{[0-9]+}}; bring the newer file back, or, if it is lost, run cloister ledger restore, which charges what is missing
  $ cp l.db copy.db
  $ cloister run kmeans sample.csv --clusters 3 --norm 2 --dataset s --epsilon 0.4 --delta 1e-6 \
  >     --token t --ledger copy.db -q | cmp - first.txt
  $ cloister ledger verify copy.db
  copy.db: unchanged; 1 charge, and every hash is correct

## Spends a cap once over two copies

  $ sample
  $ cloister ledger init l.db --dataset s --epsilon 1 --delta 1e-5 > /dev/null
  $ cp l.db copy.db
  $ starts_run --dataset s --epsilon 1 --delta 1e-5 --ledger copy.db
  $ cloister run kmeans sample.csv --clusters 3 --norm 2 --dataset s --epsilon 1 --delta 1e-5 \
  >     --ledger l.db -q > first.txt
  $ feeds sample.csv
  the late run ended with 6 and 0 bytes: cloister: the ledger copy.db is an older copy: it ends at charge 0 and declaration {{[0-9]+}}, but there were 1 and {{[0-9]+}}; bring the newer file back, or, if it is lost, run cloister ledger restore, which charges what is missing
  $ cloister ledger verify l.db
  l.db: unchanged; 1 charge, and every hash is correct
  $ cloister ledger verify copy.db
  ! cloister: the ledger copy.db is an older copy: it ends at charge 0 and declaration {{[0-9]+}}, but there were 1 and {{[0-9]+}}; bring the newer file back, or, if it is lost, run cloister ledger restore, which charges what is missing
  [exit 6]

## Spends a cap once when an old file is put back under a run

  $ sample
  $ cloister ledger init l.db --dataset s --epsilon 1 --delta 1e-5 > /dev/null
  $ cp l.db old.db
  $ starts_run --dataset s --epsilon 0.9 --delta 1e-6 --ledger l.db
  $ cloister run kmeans sample.csv --clusters 3 --norm 2 --dataset s --epsilon 0.9 --delta 1e-6 \
  >     --ledger l.db -q > first.txt
  $ cp l.db new.db
  $ cp old.db l.db
  $ feeds sample.csv
  the late run ended with 6 and 0 bytes: cloister: the ledger l.db is an older copy: it ends at charge 0 and declaration {{[0-9]+}}, but there were 1 and {{[0-9]+}}; bring the newer file back, or, if it is lost, run cloister ledger restore, which charges what is missing
  $ cp new.db l.db
  $ cloister ledger verify l.db
  l.db: unchanged; 1 charge, and every hash is correct

## Writes the books as a page

  $ sample
  $ cloister ledger init l.db --dataset sample --epsilon 3
  l.db is closed: it refuses runs on data sets that are not declared in it
  'sample' in l.db: at most epsilon 3, delta 1e-6 may ever be spent on it
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db \
  >     --dataset sample -q -o out.json 2> /dev/null
  $ cloister ledger report l.db -o books.html
  $ grep -c '<svg' books.html
  1
  $ grep -o 'Every hash is correct from the first charge on' books.html
  Every hash is correct from the first charge on
  $ cloister report out.json -o out.html --ledger l.db --dataset sample
  $ grep -o 'What was spent, and what is left' out.html
  What was spent, and what is left
  $ cloister ledger report l.db --json
  ! cloister: 'ledger report' has no option --json, which belongs to init, show, history, fetch, check, verify, export, key or acts
  [exit 2]
  $ cloister ledger show l.db -o x.html
  ! cloister: 'ledger show' has no option --output, which belongs to fetch, report or backup
  [exit 2]
  $ cloister ledger report l.db -o l.db
  ! cloister: -o l.db would overwrite the ledger
  [exit 2]
  $ cloister ledger report l.db --dataset other
  ! cloister: the ledger l.db knows no data set other
  ! try: cloister ledger show l.db
  [exit 2]

## Checks a release, by the books or by the public key alone

  $ sample; ledger
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 0.7 --norm 2 --ledger l.db -q \
  >     -o out.json
  $ cloister ledger check out.json l.db
  out.json: genuine, and unchanged since it was signed
  charge 1 of the ledger {{[0-9a-f]{32}}}: kmeans/lloyd on 'sample.csv', epsilon 0.7, delta 1e-6, {{....-..-..T..:..:..Z}}, by cloister {{[0-9.]+}}
  $ cloister report out.json | grep '^charge'
  charge     1 of the ledger {{[0-9a-f]{8}}}..., on 'sample.csv'; signed, and unchanged since
  $ cloister ledger key l.db > key.pub
  $ (unset XDG_CONFIG_HOME; HOME=/nowhere cloister ledger check out.json --key key.pub) | head -1
  out.json: genuine, and unchanged since it was signed
  $ sed 's/"epsilon": 0.7,/"epsilon": 0.01,/' out.json > changed.json
  $ cloister report changed.json
  ! cloister: changed.json was changed after it was signed: do not trust its numbers
  ! try: cloister ledger fetch --token T, which writes the original again
  [exit 9]
  $ cloister ledger check changed.json l.db
  ! cloister: the release was changed after it was signed: its signature is wrong
  [exit 9]
  $ cloister ledger check changed.json --key "$(cat key.pub)" --json
  {
    "schema": "cloister.ledger-check/1",
    "release": "changed.json",
    "ledger": null,
    "genuine": false,
    "problem": "the release was changed after it was signed: its signature is wrong",
    "unchanged": false,
    "certificate": {
      "ledger": "{{[0-9a-f]{32}}}",
      "charge": 1,
      "dataset": "sample.csv",
      "time": "{{....-..-..T..:..:..Z}}",
      "program": "cloister {{[0-9.]+}}",
      "public_key": "{{[0-9a-f]{64}}}"
    }
  }
  ! cloister: the release was changed after it was signed: its signature is wrong
  [exit 9]

## Does not take another's release, or an unsigned one, for its own

  $ sample; ledger
  $ cloister ledger init other.db --dataset sample.csv --epsilon 2 > /dev/null
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger other.db -q -o o.json
  $ cloister ledger check o.json l.db
  ! cloister: the release was charged to the ledger {{[0-9a-f]+}}, and this ledger is {{[0-9a-f]+}}
  [exit 9]
  $ cloister ledger check o.json --key "$(cloister ledger key l.db)"
  ! cloister: the release was signed with the key {{[0-9a-f]+}}..., not with {{[0-9a-f]+}}...
  [exit 9]
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --no-ledger -q -o plain.json
  $ cloister ledger check plain.json l.db
  ! cloister: the release is not signed, because no ledger was charged for it: nobody can check whether it was changed
  [exit 9]
  $ cloister ledger check sample.csv l.db
  ! cloister: sample.csv: this is not JSON (line 1, column {{[0-9]}})
  [exit 3]
  $ cloister ledger check o.json --key sample.csv
  ! cloister: --key sample.csv is not a public key: it must be 64 hexadecimal digits, as 'cloister ledger key' prints them
  [exit 3]
  $ cloister ledger show l.db --key x
  ! cloister: 'ledger show' has no option --key, which belongs to check
  [exit 2]

## Misses a stored release that was deleted

  $ sample; ledger
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db -q > /dev/null
  $ python3 - <<'END'
  > import sqlite3
  > db = sqlite3.connect("l.db")
  > trigger, = db.execute("SELECT sql FROM sqlite_schema WHERE name = 'result_is_not_deleted'")
  > db.executescript(f"DROP TRIGGER result_is_not_deleted; DELETE FROM result; {trigger[0]}")
  > END
  $ cloister ledger verify l.db
  ! cloister: the ledger l.db was changed: the result of charge 1 was stored, and is gone; keep the file and restore a backup
  [exit 6]

## Says who asked, and what for

  $ sample; ledger
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 0.7 --norm 2 --ledger l.db -q \
  >     --purpose 'for "May", a draft' --token may > /dev/null
  $ cloister bounds sample.csv --epsilon 0.7 --norm 9 --ledger l.db -q \
  >     --purpose '=1+1' > /dev/null
  $ cloister ledger history l.db --csv | sed "s/,$(me),$(uname -n),/,USER,HOST,/"
  number,time,dataset,mechanism,relation,epsilon,delta,user,host,purpose,program,token,stored
  1,{{....-..-..T..:..:..Z}},sample.csv,kmeans/lloyd,replace,0.7,1e-6,USER,HOST,"for ""May"", a draft",cloister {{[0-9.]+}},may,yes
  2,{{....-..-..T..:..:..Z}},sample.csv,bounds/quantile,replace,0.7,0,USER,HOST,"'=1+1",cloister {{[0-9.]+}},{{[0-9a-f]{32}}},yes
  $ cloister ledger history l.db --json | grep purpose
        "purpose": "for \"May\", a draft",
        "purpose": "=1+1",
  $ cloister ledger history l.db --json --csv
  ! cloister: choose --csv or --json, not both
  [exit 2]
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --no-ledger --purpose x
  ! cloister: --no-ledger and --purpose exclude each other: a purpose is kept in a ledger
  [exit 2]

## An export can be checked with the public key alone

  $ sample; ledger
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db -q \
  >     --purpose may > /dev/null
  $ cloister ledger export l.db > books.json; cloister ledger key l.db > key.pub
  $ cloister ledger key l.db --pem > key.pem; rm -r l.db "$XDG_CONFIG_HOME"
  $ cloister ledger check books.json --key key.pub
  books.json: an export of a ledger, unchanged since it was signed
  $ grep -v '^    "signature": "' books.json > signed.bin
  $ sed -n 's/^    "signature": "\(.*\)",$/\1/p' books.json | xxd -r -p > signature.bin
  $ openssl pkeyutl -verify -pubin -inkey key.pem -rawin -in signed.bin -sigfile signature.bin
  Signature Verified Successfully
  $ sed 's/"purpose": "may"/"purpose": "june"/' books.json > cooked.json
  $ cloister ledger check cooked.json --key key.pub
  ! cloister: cooked.json: it was changed after it was signed, or another key has signed it
  [exit 9]
  $ cloister ledger check cooked.json --key key.pub --json 2> /dev/null | grep genuine
    "genuine": false,
