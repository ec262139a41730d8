# Report: show a release

## Shows a release as text

  $ sample
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 5 --norm 2 --no-ledger --seed 7 -q \
  >     -o out.json 2> /dev/null
  $ cloister report out.json
  kmeans/lloyd with clusters 3, rounds 5, share 0.5
  NOT PRIVATE
  privacy    epsilon 5, delta 1e-6, replace one record
  cost       epsilon 5 by gaussian-exact accounting; not charged to a ledger
  guarantee  exact; exactly rounded Gaussian; ChaCha20 from a seed

    Reproducible, not private: it was made from a seed, and whoever knows the
    seed can take the noise away.

  centers (3 x 2)
                   x1           x2
       0 {{[-0-9. e]+}}
       1 {{[-0-9. e]+}}
       2 {{[-0-9. e]+}}

  sizes (3)
  …

## Cuts no name short

  $ sample
  $ sed -i '1s/.*/weight,Culmen Length (mm)/' sample.csv
  $ cloister run kmeans/lloyd sample.csv --clusters 2 --epsilon 5 --norm 2 --no-ledger --seed 7 \
  >     -q -o out.json 2> /dev/null
  $ cloister report out.json | grep -A 3 '^centers'
  centers (2 x 2)
                                      0            1
                    weight       -0.148       0.7043
        Culmen Length (mm)      -0.9288      -0.3816

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

## Shows every column of a wide release

More than eight columns are shown a column a line; of more than a hundred, `--wide` shows all.

  $ cloister generate mixture --rows 200 --cols 12 --clusters 2 --seed 1 -o d.csv
  $ cloister run kmeans/lloyd d.csv --clusters 2 --epsilon 4 --norm 2 --no-ledger --seed 1 -q \
  >     -o out.json 2> /dev/null
  $ cloister report out.json | sed -n '/^centers/,$p' | sed 's/  *-\{0,1\}[0-9]*\.[-0-9e]*/ N/g'
  centers (2 x 12)
                                      0            1
                        x1 N N
                        x2 N N
                        x3 N N
                        x4 N N
                        x5 N N
                        x6 N N
                        x7 N N
                        x8 N N
                        x9 N N
                       x10 N N
                       x11 N N
                       x12 N N

  sizes (2)
                    0            1
   N N

  center noise (2 x 12)
                                      0            1
                        x1 N N
                        x2 N N
                        x3 N N
                        x4 N N
                        x5 N N
                        x6 N N
                        x7 N N
                        x8 N N
                        x9 N N
                       x10 N N
                       x11 N N
                       x12 N N
    Typical error that noise added to each center in the last round (a standard
    deviation, in the units of each column).  Earlier rounds may have added more.
  $ cloister generate mixture --rows 200 --cols 130 --clusters 2 --seed 1 -o w.csv
  $ cloister run kmeans/lloyd w.csv --clusters 2 --epsilon 4 --norm 2 --no-ledger --seed 1 -q \
  >     -o w.json 2> /dev/null
  $ cloister report w.json | grep more
       {{…}} and 30 columns more: a wide report shows all
       {{…}} and 30 columns more: a wide report shows all
    deviation, in the units of each column).  Earlier rounds may have added more.
  $ cloister report w.json --wide | grep -c '^ *x[0-9]* '
  260

## Draws the centres

The name of the file says that it is to be a picture; the same release gives the same bytes.

  $ sample
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 5 --norm 2 --no-ledger --seed 7 -q \
  >     -o out.json 2> /dev/null
  $ cloister report out.json -o out.svg
  $ cloister report out.json --format svg --chart map | cmp - out.svg
  $ cloister report out.json --axes x2,1 --format svg | grep -c 'data-center'
  3
  $ cloister report out.json --format svg --chart pie
  ! cloister: this release has no chart 'pie'; it has map, centers
  [exit 2]
  $ cloister report out.json --format svg --axes x1,x9
  ! cloister: the release has no column 'x9'
  [exit 2]
  $ cloister report out.json --format svg --axes x1
  ! cloister: --axes must be two columns, as in age,income, not 'x1'
  [exit 2]
  $ cloister report out.json --axes x1,x2
  ! cloister: --axes and --compare need --format html or --format svg
  [exit 2]
  $ cloister report out.json -o out.json
  ! cloister: -o out.json would overwrite the release
  [exit 2]

## Writes a page

One file, without a script and with nothing to fetch; the same release gives the same bytes.

  $ sample
  $ cloister run kmeans/lloyd sample.csv --clusters 3 --epsilon 5 --norm 2 --no-ledger --seed 7 -q \
  >     -o out.json 2> /dev/null
  $ cloister report out.json -o out.html
  $ cloister report out.json --format html | cmp - out.html
  $ grep -c -i '<script\|src=\|href=\|url(' out.html
  0
  [exit 1]
  $ grep -o 'Not private\.' out.html
  Not private.
  $ cloister report --compare out.json out.json -o two.html
  $ grep -o '<h1>.*</h1>' two.html
  <h1>2 releases compared; the first: 3 cluster centers in 2 columns</h1>
  $ cloister report out.json out.json -o two.html
  ! cloister: 'report' does not expect 'out.json': put it in quotes if it is part of an option's value
  ! try: cloister report --compare A.json B.json -o both.html
  [exit 2]
  $ cloister report out.json --format vega-lite --chart centers | grep -c '"cluster"'
  8
  $ cloister report out.json --chart map
  ! cloister: --chart needs --format svg or --format vega-lite
  [exit 2]
  $ cloister report out.json --format svg --wide
  ! cloister: --wide is only for text: leave it out
  [exit 2]
  $ cloister report out.json --ledger l.db
  ! cloister: --ledger and --open need a page: add -o PAGE.html
  [exit 2]
  $ cloister report out.json -o out.html --dataset x
  ! cloister: --dataset names a data set of a ledger: add --ledger
  [exit 2]
  $ cloister report out.json --format html --open
  ! cloister: --open needs a file: add -o PAGE.html
  [exit 2]

## Draws bars at a terminal

With blocks where the terminal takes UTF-8, otherwise with plain characters; to a pipe nothing is
drawn.

  $ printf 'x,y\n0.1,0.2\n' > d.csv
  $ for i in $(seq 400); do printf '0.1,0.2\n0.5,0.6\n-0.4,0.3\n'; done >> d.csv
  $ cloister run kmeans/lloyd d.csv --clusters 3 --epsilon 200 --norm 1 --no-ledger --seed 7 -q \
  >     -o out.json 2> /dev/null
  $ LC_ALL=C.UTF-8 on_terminal n cloister report out.json | sed -n '/^centers/,$p'
  centers (3 x 2)

                       0                     1                     2
  x              0.09964 ± 0.0003 ██▎   0.5003 ± 0.0003 ████ -0.3999 ± 0.0003{{ }}
  y               0.1997 ± 0.0003       0.6002 ± 0.0003 ████  0.2997 ± 0.0003 █
  records            401          ████     400          ████     400          ████

    A bar goes from the lowest value of its row to the highest.  The number
    after +- is the standard deviation of the noise, in the units of the column.
  $ LC_ALL=C on_terminal n cloister report out.json | sed -n '/^centers/,$p' | tail -9 | head -3
  centers (3 x 2)
  {{}}
                       0                     1                     2
  $ LC_ALL=C.UTF-8 cloister report out.json | grep -c '█'
  0
  [exit 1]

## Shows names of any alphabet below each other, and publishes UTF-8

  $ printf 'gr\366\337e,\200 je Monat\n1,2\n3,4\n' > latin.csv
  $ printf '\357\273\277größe,0,9\n€ je Monat,0,9\n' > bounds.csv
  $ cloister run kmeans latin.csv --clusters 1 --epsilon 1 --bounds bounds.csv --no-ledger \
  >     --seed 1 -q -o latin.json
  ! warning: --seed: this release is reproducible, not private
  $ grep -A 4 '"columns"' latin.json
      "columns": ["größe", "€ je Monat"],
      "norm_scaled": 1.4142135623730951,
      "length_unit": "half-width",
      "lower": [0, 0],
      "upper": [9, 9],
  $ cloister report latin.json | grep -A 2 ^centers
  centers (1 x 2)
                größe   € je Monat
       0         0.39            0
  $ printf '年齢,e\314\201ge\033[2J\n1,2\n3,4\n' > wide.csv
  $ cloister run kmeans wide.csv --clusters 1 --epsilon 30 --bounds 0,9 --no-ledger --seed 1 \
  >     -o wide.json 2>&1 | grep expects
    expects centers off by about 年齢 ± 0.16, ége?[2J ± 0.16
  $ cloister report wide.json | grep -A 2 ^centers
  centers (1 x 2)
                 年齢      ége?[2J
       0       2.4989       3.4995

## A page says what the rings are measured in, and what the dotted box is

  $ cloister generate mixture --rows 2000 --cols 2 --clusters 3 --seed 1 -o two.csv
  $ cloister run kmeans two.csv --clusters 3 --epsilon 2 --bounds -1,1 --no-ledger --seed 1 -q \
  >     -o out.json
  ! warning: --seed: this release is reproducible, not private
  $ cloister report out.json -o out.html
  $ grep -o "ring radius (half-widths of the bounds)" out.html | sort -u
  ring radius (half-widths of the bounds)
  $ grep -o "Dotted box: the public bounds" out.html | sort -u
  Dotted box: the public bounds
  $ cloister run kmeans two.csv --clusters 3 --epsilon 2 --norm 2 --no-ledger --seed 1 -q \
  >     -o ball.json
  ! warning: --seed: this release is reproducible, not private
  $ cloister report ball.json -o ball.html
  $ grep -c "half-widths" ball.html
  0
  [exit 1]
  $ grep -c "Dotted box" ball.html
  0
  [exit 1]
