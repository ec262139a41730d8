# Releases of the first schema

An earlier cloister wrote them (../golden/schema1). Every command that reads a release reads these.

## Shows one, by the names of today

  $ cloister report "$HERE/../golden/schema1/kmeans.json" | grep -E '^(cost|charge|[a-z_]* \()'
  charge     1 of the ledger 03bafee7..., on 'people'; signed, and unchanged since
  cost       epsilon 1 by gaussian-exact accounting; charged to a ledger with a cap
  centers (3 x 2)
  sizes (3)
  radii (3), in half-widths of the bounds

## Checks its signature

  $ cp "$HERE/../golden/schema1/kmeans.json" "$HERE/../golden/schema1/steward.pub" .
  $ cloister ledger check kmeans.json --key steward.pub
  kmeans.json: genuine, and unchanged since it was signed
  charge 1 of the ledger 03bafee7346de82820c5c1198cac68f7: kmeans/local on 'people', epsilon 1, delta 1e-6, 2026-11-19T16:07:07Z, by cloister 0.2.0
  $ sed 's/"widths": \[0/"widths": [1/' kmeans.json > other.json
  $ cloister ledger check other.json --key steward.pub
  ! cloister: the release was changed after it was signed: its signature is wrong
  [exit 9]
  $ sed 's/"widths"/"radii"/' kmeans.json > renamed.json
  $ cloister ledger check renamed.json --key steward.pub
  ! cloister: the release was changed after it was signed: its signature is wrong
  [exit 9]

## Draws rows from it

  $ cloister generate --from "$HERE/../golden/schema1/kmeans.json" --rows 5 --seed 1 | wc -l
  6

## Assigns rows by it, and evaluates it

  $ printf 'x1,x2\n0.8,-0.3\n0.1,0.4\n' > rows.csv
  $ cloister assign "$HERE/../golden/schema1/kmeans.json" rows.csv
  cluster
  0
  1
  ! warning: not private: for the operator only
  $ cloister evaluate "$HERE/../golden/schema1/kmeans.json" rows.csv
  cost        0.000275469   mean squared distance of the rows to what was released, columns by half their width
  raw cost    0.00110188    the same, in the units of the data
  ! warning: not private: for the operator only

## Makes a page of it

  $ cloister report "$HERE/../golden/schema1/auto.json" -o page.html
  $ grep -c '<svg' page.html
  4

## Looks along its directions, and names it by its own digest

  $ printf 'x1,x2\n0.8,-0.3\n0.1,0.4\n0.7,-0.3\n0.2,0.4\n' > rows.csv
  $ cloister run kmeans/lloyd rows.csv --clusters 2 --epsilon 9 --norm 2 --no-ledger --seed 1 -q \
  >     --yes --project "$HERE/../golden/schema1/subspace.json" --json |
  >     grep '"release"' | grep -o '[0-9a-f]\{64\}' > told
  ! warning: --seed: this release is reproducible, not private
  $ b2sum -l 256 "$HERE/../golden/schema1/subspace.json" | cut -d' ' -f1 | diff - told

