# Report: read a release aloud

## Reads a release aloud

  $ sample
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 5 --norm 2 --no-ledger --seed 7 -q \
  >     -o out.json 2> /dev/null
  $ cloister report out.json
  kmeans/lloyd with clusters 3, rounds 5, reduce 0, share 0.5, noise "auto"
  NOT PRIVATE
  privacy    epsilon 5, delta 1e-6, replace one record
  cost       5 of epsilon by gaussian-exact accounting; not metered
  guarantee  exact; exactly rounded Gaussian; ChaCha20 from a seed

    Reproducible, not private: it was made from a seed, and whoever knows the
    seed can take the noise away.

  centers (3 x 2)
                   x1           x2
       1 {{[-0-9. e]+}}
       2 {{[-0-9. e]+}}
       3 {{[-0-9. e]+}}

  weights (3)
  …

## Refuses broken JSON

  $ sample
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 5 --norm 2 --no-ledger --seed 7 -q \
  >     -o out.json 2> /dev/null
  $ head -c 200 out.json > half.json
  $ cloister report half.json
  ! cloister: half.json: this is not JSON (line 11, column 10)
  [exit 3]

## Refuses what is no release

  $ echo "{}" > x.json
  $ cloister report x.json
  ! cloister: x.json: this is not a cloister release: "schema" does not say cloister.release
  [exit 3]

## Says when there is no file

  $ cloister report nothing.json
  ! cloister: nothing.json cannot be read: No such file or directory
  [exit 4]

## Writes the same bytes again

  $ sample
  $ cloister run kmeans sample.csv --clusters 3 --epsilon 5 --norm 2 --no-ledger --seed 7 -q \
  >     -o out.json 2> /dev/null
  $ cloister report out.json --json | cmp - out.json
