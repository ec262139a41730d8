# Run: a private release from a file

## Takes bounds by name

  $ sample; ledger
  $ printf 'name,lower,upper\nx2,-2,2\nx1,-1,1\n' > bounds.csv
  $ cloister run kmeans sample.csv --clusters 8 --epsilon 1 --ledger l.db --bounds bounds.csv \
  >     --dry-run --json \
  >     | python3 -c "
  > import json, sys
  > d = json.load(sys.stdin)['domain']
  > print(d['lower'], d['upper'])"
  [-1, -2] [1, 2]

## Draws a subspace at pure epsilon

  $ cloister generate subspaces --rows 2000 --cols 4 --clusters 1 --dim 2 --noise 0.01 --seed s \
  >     -o plane.csv --truth truth.csv
  $ for draw in sequence matrix; do
  >     cloister run subspace/bingham plane.csv --accept idealized --draw $draw --dim 2 \
  >         --epsilon 2 --delta 0 --norm 1 --no-ledger --seed s -q -o $draw.json
  >     cloister evaluate $draw.json plane.csv --truth truth.csv 2> /dev/null | grep ^distance
  > done
  distance    {{0.0[0-9]+ +}}distance of what was released from the truth
  distance    0.096418      distance of what was released from the truth
  ! warning: --seed: this release is reproducible, not private
  ! warning: --seed: this release is reproducible, not private

## Finds subspaces

  $ cloister generate subspaces --rows 2000 --cols 4 --clusters 2 --dim 1 --noise 0.02 --seed 3 \
  >     -o lines.csv --truth truth.npy
  $ cloister run subspaces/sulq lines.csv --clusters 2 --dim 1 --epsilon 5 --norm 1 --no-ledger \
  >     --seed 1 -q -o out.json 2> /dev/null
  $ grep -E '"(bases|offsets|sizes|energies|residuals)":' out.json | sed 's/:.*//'
      "bases"
      "sizes"
      "energies"
      "residuals"
  $ cloister evaluate out.json lines.csv --truth truth.npy 2> /dev/null \
  >     | awk '/^distance/ { print ($2 < 0.1 ? "near" : "far") }'
  near

## Learns a subspace

  $ cloister generate subspaces --rows 2000 --cols 4 --clusters 1 --dim 2 --noise 0.01 --seed s \
  >     -o plane.csv --truth truth.csv
  $ cloister run subspace plane.csv --dim 2 --epsilon 2 --norm 1 --no-ledger --seed s -q -o out.json
  ! warning: --seed: this release is reproducible, not private
  $ cloister evaluate out.json plane.csv --truth truth.csv
  cost        {{[0-9.e-]+ +}}mean squared distance of the rows to what was released
  captured    0.999795      the share of the rows' variance that lies in it
  truth cost  {{[0-9.e-]+ +}}the same for the truth
  distance    {{[0-9.e-]+ +}}distance of what was released from the truth
  angle       {{[0-9.e-]+ +}}the largest between matched subspaces, in radians
  ! warning: not private: for the operator only

## Says which directions of a subspace are signal

  $ cloister generate subspaces --rows 5000 --cols 20 --clusters 1 --dim 2 --noise 0.01 --seed s \
  >     -o plane.csv
  $ awk 'NR == 1 { print; next } { gsub(/[-0-9.e]+/, "0"); print }' plane.csv > zero.csv
  $ for file in plane zero; do
  >     cloister run subspace/gaussian $file.csv --dim 4 --epsilon 1 --norm 1 --no-ledger --seed s \
  >         -q -o $file.json 2> /dev/null
  >     cloister report $file.json | grep -A 3 'out from the noise'
  >     python3 -c "
  > import json, sys
  > v = json.load(open(sys.argv[1]))['values']
  > print(v['stands_out'], v['signal_dim'], [round(e, -3) for e in v['energy']])" $file.json
  > done
    2 of 4 directions stand out from the noise.  Noise alone makes one stand out with
    probability 0.001 at most.  The energies do not include that of the noise.
    Noise alone seldom gives an eigenvalue above 59.99.
  [1, 1, 0, 0] [2] [3000.0, 2000.0, 0.0, 0.0]
    0 of 4 directions stand out from the noise.  Noise alone makes one stand out with
    probability 0.001 at most.  The energies do not include that of the noise.
    Noise alone seldom gives an eigenvalue above 59.99.
    The released directions may be noise: use more rows or a larger epsilon.
  [0, 0, 0, 0] [0] [0.0, 0.0, 0.0, 0]

## Learns its centre and norm first

  $ cloister generate mixture --rows 3000 --cols 2 --clusters 3 --noise 0.05 --spread 1 \
  >     --seed away -o raw.csv
  $ awk -F, 'NR == 1 { print; next } { printf "%.6f,%.6f\n", 700 + $1, $2 - 300 }' raw.csv \
  >     > away.csv
  $ cloister ledger init l.db --dataset away.csv --epsilon 4 --delta 1e-5 > /dev/null
  $ cloister run kmeans/lloyd away.csv --clusters 3 --epsilon 4 --delta 1e-6 --center private \
  >     --norm private --norm-at-most 1e4 --ledger l.db -o out.json
  ! kmeans/lloyd on 'away.csv': epsilon 4, delta 1e-6, hides the values of a record
  ! wrote 'out.json'; spent epsilon 4, delta 1e-6 on 'away.csv': nothing is left of epsilon 4
  $ charges
  1
  $ python3 - << 'END'
  > import json
  > r = json.load(open("out.json"))
  > v, d = r["values"], r["domain"]
  > x, y = v["learnt_center"]
  > print(abs(x - 700) < 60 and abs(y + 300) < 60, v["learnt_norm"][0] < 100)
  > print(d["norm"] == v["learnt_norm"][0], d["center"] == v["learnt_center"])
  > print(all(abs(x - 700) < 200 and abs(y + 300) < 200 for x, y in v["centers"]))
  > print(len(v["sizes"]))
  > print(r["privacy"]["epsilon"], [q["query"] for q in r["queries"]])
  > END
  True True
  True True
  True
  3
  4 ['quantile', 'laplace_sum', 'quantile', 'gaussian_sum']

## Lets parts vote on a subspace

  $ cloister generate subspaces --rows 12000 --cols 6 --clusters 1 --dim 2 --noise 1e-4 --seed s \
  >     -o plane.csv --truth truth.csv
  $ for method in approx boosted; do
  >     cloister run subspace/$method plane.csv --gamma 2e-4 --dim 2 --epsilon 1 --norm 1 \
  >         --no-ledger --seed s -q -o $method.json
  >     cloister evaluate $method.json plane.csv --truth truth.csv 2> /dev/null | grep ^distance
  > done
  distance    {{0\.000[0-9]+ +}}distance of what was released from the truth
  distance    0.00018748    distance of what was released from the truth
  ! warning: --seed: this release is reproducible, not private
  ! warning: --seed: this release is reproducible, not private

## Overwrites an older release whole

  $ sample; ledger
  $ head -c 100000 /dev/zero > out.json
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db -q \
  >     -o out.json
  $ cloister report out.json | head -1
  kmeans/lloyd with clusters 3, rounds 5, share 0.5
  $ ls -A
  l.db
  out.json
  sample.csv
  truth.csv

## Prints JSON on stdout

  $ sample; ledger
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db --quiet --json \
  >     > one.json
  $ cloister report one.json --json | cmp - one.json

## Prints text without an output file

  $ sample; ledger
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db --quiet
  kmeans/lloyd with clusters 3, rounds 5, share 0.5
  charge     1 of the ledger {{[0-9a-f]{8}}}..., on 'sample.csv'; signed, and unchanged since
  privacy    epsilon 1, delta 1e-6, replace one record
  cost       epsilon 1 by gaussian-exact accounting; charged to a ledger with a cap
  guarantee  exact; exactly rounded Gaussian; ChaCha20 keyed by the operating system

    Had one record been replaced by any other, any outcome of this release would
    have been as likely up to a factor of 2.719 (e to the epsilon 1), apart from
    a probability of 1e-6.

  centers (3 x 2)
                   x1           x2
       0 {{[-0-9. e]+}}
       1 {{[-0-9. e]+}}
       2 {{[-0-9. e]+}}

  sizes (3)
  …

## Protects a person with several rows

  $ sample
  $ awk -F, 'NR == 1 { print "person," $0; next } { print int(NR / 3) "," $0 }' sample.csv \
  >     > visits.csv
  $ cloister run kmeans visits.csv --unit person --rows-per-unit 3 --clusters 2 --epsilon 1 \
  >     --norm 2 --no-ledger -q --json | python3 -c "
  > import json, sys
  > print(json.load(sys.stdin)['privacy']['statement'])"
  Had the rows of one 'person' (3 at most) been replaced by any other, any outcome of this release would have been as likely up to a factor of 2.719 (e to the epsilon 1), apart from a probability of 1e-6.

## Reads standard input

  $ sample; ledger
  $ cloister run kmeans - --clusters 3 --epsilon 1 --norm 2 --ledger l.db --dataset sample.csv -q \
  >     -o out.json < sample.csv
  $ charges
  1

## Says when no subspace is found

  $ cloister generate mixture --rows 1000 --cols 3 --clusters 4 --seed s -o cloud.csv
  $ for method in approx "boosted --parts 3"; do
  >     cloister run subspace/$method cloud.csv --gamma 1e-3 --dim 1 --epsilon 1 --norm 1 \
  >         --no-ledger --seed s -q | sed -n '/found/,$p'
  > done
  found  0
  found  0

  votes (3)
                    1            2            3
                    3            0            0
  ! warning: --seed: this release is reproducible, not private
  ! warning: --seed: this release is reproducible, not private

## Takes columns by name and number

  $ sample
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --no-ledger --columns x2 -q \
  >     --seed 1 -o a.json 2> /dev/null
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --no-ledger --columns 2 -q \
  >     --seed 1 -o b.json 2> /dev/null
  $ for file in a b; do sed '/"certificate"/,$d' $file.json > $file.txt; done; cmp a.txt b.txt

## Takes no rows from the data under add-remove

  $ sample; ledger
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db \
  >     --relation add-remove --dry-run --json | grep '"rows"\|relation'
      "relation": "add-remove",
      "rows": null

## Warns of a seed

  $ sample
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --no-ledger --seed 42 -q \
  >     -o out.json
  ! warning: --seed: this release is reproducible, not private
  $ grep -c "Reproducible, not private" out.json
  1

## Writes a release

  $ sample; ledger
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db -o out.json
  ! kmeans/lloyd on 'sample.csv': epsilon {{[-0-9.e]+}}, delta 1e-6, hides the values of a record
  !   expects centers off by about ± 0.17 in each column; moves records farther than 2 from the origin to distance 2
  ! wrote 'out.json'; spent epsilon 1, delta 1e-6 on 'sample.csv': epsilon 1.558 of 2 is left (runs together cost less than their sum)
  $ python3 -c "
  > import json
  > r = json.load(open('out.json'))
  > print(r['schema'], r['family'], r['method'],
  >       r['privacy']['charged_to_ledger'], r['privacy']['private'])"
  cloister.release/2 kmeans lloyd True True
  $ charges
  1
  $ ls -A
  l.db
  out.json
  sample.csv
  truth.csv

## Writes into a device

  $ sample; ledger
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db -q -o /dev/null
  $ charges
  1
  $ ls -l /dev/null | cut -c1
  c

## Writes JSON to a dash

  $ sample; ledger
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db --quiet -o - \
  >     | python3 -c "import json,sys; print(json.load(sys.stdin)['schema'])"
  cloister.release/2

## Says to a person how many columns it uses

  $ printf 'who,a,b,c\nann,1,2,x\nbob,1,2,y\n' > d.csv
  $ on_terminal y cloister run kmeans/lloyd d.csv --columns -who,-c --clusters 1 --epsilon 1 \
  >     --norm 1 --no-ledger -v -o out.json | grep uses
    uses 2 of 4 columns; 2 left out by --columns
  $ on_terminal y cloister run kmeans/lloyd d.csv --columns 2-3 --unit who --rows-per-unit 1 \
  >     --clusters 1 --epsilon 1 --norm 1 --no-ledger -v -o out.json | grep uses
    uses 2 of 4 columns; 1 left out by --columns
  $ on_terminal y cloister run kmeans/lloyd d.csv --columns -c --unit who --rows-per-unit 1 \
  >     --clusters 1 --epsilon 1 --norm 1 --no-ledger -v -o out.json | grep uses
    uses 2 of 4 columns; 1 left out by --columns

## Says how many rows it takes where their number is not public

Under add-remove and with persons a run cannot refuse what too few rows make of it: it says so.

  $ sample
  $ cloister run kmeans/lloyd sample.csv --clusters 2 --epsilon 1 --norm private \
  >     --norm-at-most 100 --relation add-remove --no-ledger --seed 1 -o out.json
  ! warning: --seed: this release is reproducible, not private
  ! kmeans/lloyd on 'sample.csv': epsilon 1, delta 1e-6, hides whether a record is there
  !   the number of rows is secret, so no error can be predicted: give a rough public one with --rows N
  ! wrote 'out.json'; no ledger was charged
  $ cloister bounds sample.csv --epsilon 0.1 --norm 100 --of columns --relation add-remove \
  >     --no-ledger --seed 1 2>&1 > /dev/null | tail -n 3
  bounds/quantile on 'sample.csv': epsilon 0.1, delta 1e-6, hides whether a record is there
    the number of rows is secret, so no error can be predicted: give a rough public one with --rows N
  no ledger was charged
