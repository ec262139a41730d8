# Cut: another number of clusters from a release that is there, for nothing

A release of kmeans/density holds the noisy answers of its run.  Any number of centres is read from
these; no data and no ledger is opened.

## Reads another number of clusters

  $ cloister generate mixture --rows 9000 --cols 2 --clusters 5 --noise 0.05 --seed 3 -o people.csv
  $ cloister run kmeans people.csv --clusters 8 --epsilon 1 --norm 2 --no-ledger --seed 1 -q \
  >     -o release.json
  ! warning: --seed: this release is reproducible, not private
  $ rm people.csv
  $ cloister cut release.json --clusters 5 -o five.json
  ! 5 clusters, read from the answers of the release: no data, no charge
  !   expects centers off by about ± 0.0013 in each column
  $ cloister report five.json
  kmeans/density with clusters 5
  NOT PRIVATE
  privacy    epsilon 1, delta 1e-6, replace one record
  cost       nothing more: it was cut from the release a05c6328a5c84664...; that one cost
             epsilon 1 by gaussian-exact accounting; not charged to a ledger
  guarantee  exact; exactly rounded Gaussian; ChaCha20 from a seed

    Reproducible, not private: it was made from a seed, and whoever knows the
    seed can take the noise away.

  centers (5 x 2)
                   x1           x2
       0      0.15255      0.93434
       1      0.13553     -0.88881
       2     -0.26926      0.34094
       3     0.679223     0.415053
       4     -0.23064      0.67463

  sizes (5)
                    0            1            2            3            4
               1787.3       1779.7       1783.3       1815.2       1819.3

  uncertainty (5)
                    0            1            2            3            4
              0.00142      0.00225      0.00191      0.00128      0.00217

  center noise (5 x 2)
                   x1           x2
       0   0.00100409   0.00100409
       1   0.00159099   0.00159099
       2   0.00135057   0.00135057
       3  0.000905097  0.000905097
       4   0.00153442   0.00153442
    Typical error that noise added to each center (a standard deviation, in the units
    of each column).

The same release gives the same bytes, also from what was cut from it.

  $ cloister cut five.json --clusters 5 -q --json | cmp - five.json
  $ cloister cut release.json --clusters 5 -q --json | cmp - five.json

It names the release that it comes from, and that one is not a charge of its own.

  $ grep -A 4 '"derived"' five.json | grep -c "$(b2sum -l 256 release.json | cut -d ' ' -f 1)"
  1

## Chooses the number as a run does

  $ cloister generate mixture --rows 9000 --cols 2 --clusters 5 --noise 0.05 --seed 3 -o people.csv
  $ cloister run kmeans people.csv --clusters 8 --epsilon 1 --norm 2 --no-ledger --seed 1 -q \
  >     -o release.json
  ! warning: --seed: this release is reproducible, not private
  $ cloister cut release.json --clusters auto | grep -A 1 'clusters explain'
    computed from the noisy answers. 5 clusters explain 99 % of the spread; 4
    would explain 96 %, and 6 99 %. The curve bends most at this number.
  ! 5 clusters, read from the answers of the release: no data, no charge
  !   expects centers off by about ± 0.0014 in each column
  $ cloister cut release.json --clusters auto --explain 0.5 -q | grep -A 1 'clusters explain'
    computed from the noisy answers. 2 clusters explain 68 % of the spread; 1
    would explain 0 %, and 3 88 %. No smaller number of clusters explains 50 %.
  {{}}
  $ cloister cut release.json --clusters auto --clusters-at-most 30 --smallest 1000 -q \
  >     | grep -A 1 'clusters explain'
    computed from the noisy answers. 5 clusters explain 99 % of the spread; 4
    would explain 96 %, and 6 99 %. The curve bends most at this number.

## Is taken by assign, evaluate and generate

  $ cloister generate mixture --rows 9000 --cols 2 --clusters 5 --noise 0.05 --seed 3 -o people.csv
  $ cloister run kmeans people.csv --clusters 8 --epsilon 1 --norm 2 --no-ledger --seed 1 -q \
  >     -o release.json
  ! warning: --seed: this release is reproducible, not private
  $ cloister cut release.json --clusters 4 -o four.json
  ! 4 clusters, read from the answers of the release: no data, no charge
  !   expects centers off by about ± 0.0014 in each column
  $ cloister assign four.json people.csv 2> /dev/null | sed 1d | sort -u | wc -l
  4
  $ cloister evaluate four.json people.csv 2> /dev/null | grep -c cost
  1
  $ cloister generate --from four.json --rows 500 --seed 1 -o drawn.csv --labels labels.csv
  ! warning: the release is not private, and neither are rows that are made from it
  $ cat drawn.csv | wc -l
  501
  $ sed 1d labels.csv | sort -u | wc -l
  4

## Says which charge of which ledger the answers are

  $ cloister generate mixture --rows 9000 --cols 2 --clusters 5 --noise 0.05 --seed 3 -o people.csv
  $ cloister ledger init ledger.db --dataset people --epsilon 2 > /dev/null
  $ cloister run kmeans people.csv --clusters 8 --epsilon 1 --norm 2 --ledger ledger.db \
  >     --dataset people -q -o release.json
  $ cloister cut release.json --clusters 5 -o five.json -q
  $ cloister report five.json | grep -A 3 '^cost'
  cost       nothing more: it was cut from the release {{[0-9a-f]+}}...,
             charge 1 of the ledger {{[0-9a-f]+}}...; that one cost
             epsilon 1 by gaussian-exact accounting; charged to a ledger with a cap
  guarantee  exact; exactly rounded Gaussian; ChaCha20 keyed by the operating system
  $ cloister ledger show ledger.db | grep -c '^people '
  1
  $ cloister ledger check five.json ledger.db
  ! cloister: this was cut from the release {{[0-9a-f]+}}... and has no signature: check that one, and cut it again
  [exit 9]

A release that was changed after it was signed is not cut.

  $ sed 's/"epsilon": 1,/"epsilon": 0.1,/' release.json > nicer.json
  $ cloister cut nicer.json --clusters 5
  ! cloister: nicer.json was changed after it was signed: do not trust its numbers
  ! try: cloister ledger fetch --token T, which writes the original again
  [exit 9]

## Refuses what no answers tell

  $ cloister generate mixture --rows 3000 --cols 2 --clusters 3 --seed 1 -o people.csv
  $ cloister run kmeans/lloyd people.csv --clusters 3 --epsilon 1 --norm 2 --no-ledger --seed 1 -q \
  >     -o lloyd.json 2> /dev/null
  $ cloister cut lloyd.json --clusters 2
  ! cloister: this is a release of kmeans/lloyd, which holds no answers: only releases of kmeans/density and kmedian/density can be cut
  [exit 2]
  $ cloister run kmeans/density people.csv --clusters 3 --epsilon 1 --norm 2 --no-ledger --seed 1 \
  >     -q -o release.json 2> /dev/null
  $ cloister cut release.json --clusters 2000
  ! cloister: clusters must be between 1 and 62, not 2000: this release was asked about half as many cells, and does not show more clusters
  [exit 2]
  $ cloister cut release.json --clusters 0
  ! cloister: --clusters must be between 1 and 1048576, not 0
  [exit 2]
  $ cloister cut release.json
  ! cloister: --clusters must be given
  ! try: --clusters 5, or --clusters auto
  [exit 2]
  $ cloister cut release.json --clusters 3 --explain 0.8
  ! cloister: --explain belongs to --clusters auto, not to 3 of them
  [exit 2]
  $ cloister cut release.json --clusters auto --explain 1.5
  ! cloister: --explain must be between 0 and 1, not 1.5
  [exit 2]
  $ cloister cut release.json --clusters auto --clusters-at-most 65
  ! cloister: --clusters-at-most must be between 1 and 64, not 65
  [exit 2]
  $ cloister cut --clusters 3
  ! cloister: 'cut' needs a release
  ! try: cloister cut --help
  [exit 2]
  $ cloister cut release.json --clusters 1 -q | grep -c '^centers (1 x 2)'
  1

Answers that were cut short, or left out:

  $ sed '0,/"answered": "[^"]*/s/\("answered": "[^"]*\)...."/\1"/' release.json > short.json
  $ cloister cut short.json --clusters 2
  ! cloister: short.json: this is not a cloister release: an answer was shortened or is not written as it must be
  [exit 3]
  $ sed 's/"answers": /"replies": /' release.json > none.json
  $ cloister cut none.json --clusters 2
  ! cloister: this release was made by cloister 0.2.0, whose releases hold no answers: other numbers of clusters need a new run
  [exit 2]
