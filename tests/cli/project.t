# Project: a run in the coordinates of an earlier release

## Refuses a release for another unit

  $ wide
  $ cloister run subspace wide.csv --dim 2 --epsilon 3 --norm 2 --no-ledger -q -o s.json
  $ awk -F, 'NR == 1 { print "person," $0 } NR > 1 { print NR % 50 "," $0 }' wide.csv > people.csv
  $ cloister run kmeans people.csv --clusters 2 --epsilon 1 --norm 1 --unit person \
  >     --rows-per-unit 4 --no-ledger --project s.json
  ! cloister: the subspace to project on protects a row, and this run would protect a 'person': use the same unit for both
  [exit 2]

## Refuses a release of another family

  $ wide
  $ cloister run kmeans wide.csv --clusters 2 --epsilon 3 --norm 2 --no-ledger -q -o s.json
  $ cloister run kmeans wide.csv --clusters 8 --epsilon 1 --norm 1 --no-ledger --project s.json
  ! cloister: --project needs a release of the family subspace, but 's.json' is one of kmeans
  [exit 2]

## Refuses what is no release

  $ wide
  $ cloister run kmeans wide.csv --clusters 8 --epsilon 1 --norm 1 --no-ledger --project wide.csv
  ! cloister: wide.csv: this is not JSON (line 1, column 1)
  [exit 3]
  $ cloister run kmeans wide.csv --clusters 8 --epsilon 1 --norm 1 --no-ledger --project none.json
  ! cloister: none.json cannot be read: No such file or directory
  [exit 4]

## Refuses a release about other columns

  $ wide
  $ cloister run subspace wide.csv --dim 2 --epsilon 3 --norm 2 --no-ledger -q -o s.json
  $ cut -d, -f1-3 wide.csv > three.csv
  $ sed 1s/x1,/e,/ wide.csv > renamed.csv
  $ cloister run kmeans three.csv --clusters 8 --epsilon 1 --norm 1 --no-ledger --project s.json
  ! cloister: --project: 's.json' is a subspace of 4 columns, but the data have 3
  [exit 2]
  $ cloister run kmeans renamed.csv --clusters 8 --epsilon 1 --norm 1 --no-ledger --project s.json
  ! cloister: --project: column 1 of 's.json' is 'x1', but that of the data is 'e'
  [exit 2]

## Refuses a release that is not private

  $ wide
  $ cloister run subspace wide.csv --dim 2 --epsilon 3 --norm 2 --no-ledger -q --seed 1 -o s.json \
  >     2> /dev/null
  $ cloister run kmeans wide.csv --clusters 8 --epsilon 1 --norm 1 --no-ledger --project s.json
  ! cloister: --project: 's.json' is not private, so this run would not be private either
  [exit 2]

## Refuses a release under another relation

  $ wide
  $ cloister run subspace wide.csv --dim 2 --epsilon 3 --norm 2 --no-ledger -q -o s.json
  $ cloister run kmeans wide.csv --clusters 2 --epsilon 1 --norm 1 --relation add-remove \
  >     --project s.json
  ! cloister: --project: 's.json' was released under replace, and this run would be under add-remove: use the same --relation for both
  [exit 2]
  $ find "$XDG_STATE_HOME" -name '*.db' 2> /dev/null | wc -l | tr -d ' '
  0

## Refuses bounds beside a projection

  $ wide
  $ cloister run subspace wide.csv --dim 2 --epsilon 3 --norm 2 --no-ledger -q -o s.json
  $ cloister run kmeans wide.csv --clusters 8 --epsilon 1 --bounds 0,1 --no-ledger --project s.json
  ! cloister: --project excludes --bounds and --center: give --norm R, a public radius within the subspace
  [exit 2]

## Plans in a released subspace

  $ wide
  $ cloister run subspace wide.csv --dim 2 --epsilon 3 --norm 2 --no-ledger -q -o s.json
  $ cloister plan kmeans --clusters 8 --epsilon 1 --norm 1 --rows 100 --project s.json | grep data
    data        4 columns, in 2 directions of the release {{[0-9a-f]+}}, records farther than 1 from the origin are moved to distance 1, 100 rows
  $ cloister plan kmeans --clusters 8 --epsilon 1 --norm 1 --rows 100 --cols 5 --project s.json
  ! cloister: --project: 's.json' is a subspace of 4 columns, but the data have 5
  [exit 2]

## Projects on a released subspace

  $ wide
  $ cloister run subspace wide.csv --dim 2 --epsilon 3 --norm 2 --no-ledger -q -o s.json
  $ cloister run kmeans wide.csv --clusters 2 --epsilon 3 --norm 2 --no-ledger -q --project s.json \
  >     -o k.json
  $ cloister run subspaces wide.csv --clusters 2 --dim 1 --epsilon 3 --norm 2 --no-ledger -q \
  >     --project s.json -o f.json
  $ python3 - << 'END'
  > import json
  > k, f, s = (json.load(open(name + ".json")) for name in "kfs")
  > u = s["values"]["basis"]
  > for d in k["domain"], f["domain"]:
  >     print(d["cols"], d["projection"]["dim"], len(d["projection"]["release"]))
  > def outside(v):
  >     part = [sum(u[j][i] * v[j] for j in range(4)) for i in range(2)]
  >     return sum((v[j] - sum(u[j][i] * part[i] for i in range(2))) ** 2 for j in range(4))
  > print(all(outside(c) < 1e-18 for c in k["values"]["centers"]))
  > print(all(outside([row[0] for row in b]) < 1e-18 for b in f["values"]["bases"]))
  > END
  4 2 64
  4 2 64
  True
  True
  $ cloister report k.json | grep -A1 projected
  projected  on the 2 directions of the release {{[0-9a-f]+}}, which cost its own epsilon
  together   with that release, which is exact: exact
  $ cloister assign k.json wide.csv 2> /dev/null | wc -l
  {{ *}}101
