# Solve: without privacy

## Clusters a given affinity

  $ printf '0,1,0,0\n1,0,0.1,0\n0,0.1,0,2\n0,0,2,0\n' > affinity.csv
  $ cloister solve spectral affinity.csv --clusters 2 --header no --labels found.csv
  spectral (not private: for those who may see the data)
  cost        0.0720093

  cluster   rows        dimension
  0         2           0
  1         2           0
  ! warning: not private: for those who may see the data
  $ cat found.csv
  cluster
  0
  0
  1
  1

## Every solver finds three planes

  $ flats
  $ cloister solve auto flats.csv --clusters 3 --dim 2 --quiet
  auto (not private: for those who may see the data)
  cost        0.000376144

  cluster   rows        dimension
  0         {{38|40|42}}          2
  1         {{38|40|42}}          2
  2         {{38|40|42}}          2
  ! warning: not private: for those who may see the data

Which plane is the first is not told by the data: rounding decides, and that differs between
processors.

  $ for solver in auto kplanes tsc ssc ensc lrr lsr; do
  >     cloister solve $solver flats.csv --clusters 3 --dim 2 --quiet > found.txt
  >     echo $solver $(awk '/^cost/ { print $2 }' found.txt) \
  >         $(awk '/^[0-9]/ { print $2 "x" $3 }' found.txt | sort)
  > done
  auto 0.000376144 38x2 40x2 42x2
  kplanes 0.000376144 38x2 40x2 42x2
  tsc 0.000376144 38x2 40x2 42x2
  ssc 0.000376144 38x2 40x2 42x2
  ensc 0.000376144 38x2 40x2 42x2
  lrr 0.000376144 38x2 40x2 42x2
  lsr 0.000376144 38x2 40x2 42x2
  ! warning: not private: for those who may see the data
  ! warning: not private: for those who may see the data
  ! warning: not private: for those who may see the data
  ! warning: not private: for those who may see the data
  ! warning: not private: for those who may see the data
  ! warning: not private: for those who may see the data
  ! warning: not private: for those who may see the data

## Guesses how many clusters there are

  $ cloister generate subspaces --rows 500 --cols 20 --clusters 5 --dim 3 --noise 0.05 --seed five \
  >     -o five.csv
  $ for solver in tsc ssc ensc lsr; do
  >     cloister solve $solver five.csv --clusters auto --quiet 2>/dev/null > found.txt
  >     echo $solver $(grep -c ^[0-9] found.txt)
  > done
  tsc 5
  ssc 5
  ensc 5
  lsr 5

  $ cloister solve kmeans five.csv --clusters auto
  ! cloister: clusters must be a number, not 'auto'
  [exit 2]

## Finds centres by means and medians

  $ sample
  $ for solver in kmeans kmedian; do
  >     cloister solve $solver sample.csv --clusters 3 --quiet
  > done
  kmeans (not private: for those who may see the data)
  cost        0.00485959

  cluster   rows        dimension
  0         102         0
  1         99          0
  2         99          0
  kmedian (not private: for those who may see the data)
  cost        0.0615735

  cluster   rows        dimension
  0         99          0
  1         102         0
  2         99          0
  ! warning: not private: for those who may see the data
  ! warning: not private: for those who may see the data

## Labels are scored by evaluate

  $ flats
  $ cloister solve auto flats.csv --clusters 3 --dim 2 -q -o found.json 2> /dev/null
  $ cloister evaluate found.json flats.csv --labels flats_labels.csv
  cost        0.000376144   mean squared distance of the rows to what was found
  captured    0.999623      the share of the rows' variance that lies in it
  accuracy    1             the share of rows in the right cluster
  nmi         1             normalized mutual information with the true clusters
  ari         1             adjusted Rand index
  ! warning: not private: for the operator only

## Pursues subspaces of many columns

  $ cloister generate subspaces --rows 200 --cols 30 --clusters 4 --dim 3 --noise 0.001 --seed omp \
  >     -o many.csv --labels truth.csv
  $ cloister solve ssc-omp many.csv --clusters 4 --dim 3 --sparsity 3 -q -o found.json
  ! warning: not private: for those who may see the data
  $ cloister evaluate found.json many.csv --labels truth.csv
  cost        2.46696e-5    mean squared distance of the rows to what was found
  captured    0.999975      the share of the rows' variance that lies in it
  accuracy    1             the share of rows in the right cluster
  nmi         1             normalized mutual information with the true clusters
  ari         1             adjusted Rand index
  ! warning: not private: for the operator only

## Stops within a second where it takes long

A second of a core, that is: on a busy machine the clock says nothing.

  $ cloister generate subspaces --rows 1500 --cols 1500 --clusters 2 --dim 400 --noise 0.1 \
  >     --seed x -o wide.npy
  $ (ulimit -t 4; timeout --preserve-status 1 cloister solve ssc wide.npy --clusters 2 --alpha 800 \
  >     -q --threads 1 -o out.json 2> /dev/null)
  [exit 143]
  $ test -e out.json
  [exit 1]

## Finds principal components, and writes them as a table

  $ printf 'a,b\n0,0\n2,4\n1,2\n3,6\n' > line.csv
  $ cloister solve pca line.csv --dim 1 --flats-file line_basis.csv -q 2> /dev/null | tail -1
  0         4           1
  $ tr -d - < line_basis.csv | cut -c 1-8
  0.447213
  0.894427
  $ cloister solve kmeans line.csv --clusters 1 --flats-file centre.csv -q > /dev/null 2>&1
  $ cat centre.csv
  1.5,3
  $ printf '0,1\n1,0\n' > affinity.csv
  $ refused cloister solve spectral affinity.csv --clusters 2 --header no --flats-file out.csv
  ! cloister: --flats-file needs rows; from an affinity 'solve' finds only labels
  [exit 2]

## Refuses a cell that is not a number

  $ printf 'a,b\n1,2\n3,nan\n5,6\n' > hole.csv
  $ refused cloister solve kmeans hole.csv --clusters 2 -o out.json
  ! cloister: hole.csv, line 3, column 2 ('b'): not a finite number, and missing cells are refused
  [exit 3]

## Refuses a dimension beyond the columns

  $ flats
  $ refused cloister solve kplanes flats.csv --clusters 3 --dim 7 -o out.json
  ! cloister: dim must be at most the 6 columns, not 7
  [exit 2]

## Refuses a file that is not there

  $ refused cloister solve kmeans nowhere.csv --clusters 2 -o out.json
  ! cloister: nowhere.csv cannot be read: No such file or directory
  [exit 4]

## Refuses a parameter of another solver

  $ sample
  $ refused cloister solve kmeans sample.csv --clusters 3 --dim 1 -o out.json
  ! cloister: kmeans has no parameter --dim
  ! try: cloister help solve kmeans
  [exit 2]

## Refuses a solver that is not there

  $ sample
  $ cloister solve kplane sample.csv --clusters 2
  ! cloister: there is no solver 'kplane'; did you mean 'kplanes'?
  ! try: cloister solve --help
  [exit 2]

## Refuses a start of another shape

  $ sample
  $ cloister solve kmeans sample.csv --clusters 2 -q -o two.json 2> /dev/null
  $ refused cloister solve kmeans sample.csv --clusters 3 --start two.json -o out.json
  ! cloister: the start has 2 clusters in 2 columns, but you asked for 3 clusters in 2 columns
  [exit 2]

## Refuses an affinity that is not square

  $ printf '0,1,0\n1,0,0\n' > affinity.csv
  $ refused cloister solve spectral affinity.csv --header no --clusters 2 -o out.json
  ! cloister: spectral takes the affinity of the rows, a square matrix, not 2 x 3
  [exit 2]

## Refuses an affinity that is not symmetric

  $ printf '0,1\n0.5,0\n' > affinity.csv
  $ refused cloister solve spectral affinity.csv --header no --clusters 2 -o out.json
  ! cloister: an affinity must be symmetric; rows 2 and 1 are not
  [exit 2]

## Refuses an output that cannot be written

  $ sample
  $ refused cloister solve kmeans sample.csv --clusters 2 -o nowhere/out.json
  ! cloister: nowhere/out.json cannot be written: No such file or directory
  [exit 4]

## Refuses dims that are not one for each cluster

  $ flats
  $ refused cloister solve kplanes flats.csv --clusters 3 --dims 1,2 -o out.json
  ! cloister: there are 2 dimensions for 3 clusters
  [exit 2]

## Refuses more clusters than rows

  $ printf '1,2\n3,4\n' > two.csv
  $ refused cloister solve kmeans two.csv --clusters 3 -o out.json
  ! cloister: clusters must be at most the number of rows, 2, not 3
  [exit 2]

## Solves on the scale of a run

In the units of the data income decides, and age is lost; on the scale of public bounds the two ages
are found.  The solution is in the units of the data all the same.

  $ printf 'name,lower,upper\nage,0,100\nincome,0,100000\n' > bounds.csv
  $ awk -v OFS=, 'BEGIN { print "age,income"
  >     for (i = 0; i < 400; i++) print (i % 2 ? 20 : 80), 40000 + 5000 * (i % 5) }' \
  >     > people.csv
  $ cloister solve kmeans people.csv --clusters 2 -q -o raw.json 2> /dev/null
  $ cloister solve kmeans people.csv --clusters 2 --bounds-file bounds.csv -q -o scaled.json \
  >     2> /dev/null
  $ grep -c '"bounds": {' raw.json scaled.json
  raw.json:0
  scaled.json:1
  $ cloister evaluate scaled.json people.csv 2> /dev/null
  cost        0.02          mean squared distance of the rows to what was found, columns by half their width
  raw cost    50000000      the same, in the units of the data
  $ python3 -c "
  > import json
  > s = json.load(open('scaled.json'))
  > print(s['columns'], [[round(x, 6) for x in c] for c in sorted(s['values']['centers'])])
  > print(round(s['cost'], 6), round(s['raw_cost'], 6))"
  ['age', 'income'] [[20.0, 50000], [80.0, 50000]]
  0.02 50000000

The same from a release, whose columns are taken by name.

  $ cloister run kmeans/lloyd people.csv --clusters 2 --bounds bounds.csv --epsilon 50 --no-ledger \
  >     --seed 1 -q -o out.json 2> /dev/null
  $ awk -F, 'NR == 1 { print "income,town,age"; next } { print $2 ",north," $1 }' people.csv \
  >     > other.csv
  $ cloister solve kmeans other.csv --clusters 2 --bounds-file out.json -q 2> /dev/null
  kmeans (not private: for those who may see the data)
  cost        0.02
  raw cost    50000000

  cluster   rows        dimension
  0         200         0
  1         200         0
  $ cloister solve kmeans people.csv --clusters 2 --bounds-file scaled.json -q
  ! cloister: scaled.json: this is not a cloister release: "schema" does not say cloister.release
  [exit 3]
  $ cloister solve kmeans people.csv --clusters 2 --bounds-file bounds.csv --start raw.json -q \
  >     2> /dev/null | grep cost
  cost        0.02
  raw cost    50000000
  $ printf '0,1\n1,0\n' > affinity.csv
  $ cloister solve spectral affinity.csv --header no --clusters 1 --bounds-file 0,1 -q
  ! cloister: spectral takes an affinity, which has no scale
  [exit 2]
  $ cloister solve kmeans people.csv --clusters 2 --bounds-file nowhere.csv -q
  ! cloister: bounds must be two numbers LO,HI or a file, but 'nowhere.csv' cannot be read: No such file or directory
  [exit 2]
  $ printf 'age,0,100\n' > fewer.csv
  $ cloister solve kmeans people.csv --clusters 2 --bounds-file fewer.csv -q
  ! cloister: 'fewer.csv' has no bounds for the column 'income': add a line for it, or use only the columns with bounds
  ! try: --columns age
  [exit 2]

## Starts where another solution ended

  $ sample
  $ cloister solve kmeans sample.csv --clusters 3 --quiet -o first.json
  ! warning: not private: for those who may see the data
  $ cloister solve kmeans sample.csv --clusters 3 --restarts 1 --iterations 1 --start first.json -q
  kmeans (not private: for those who may see the data)
  cost        0.00485959

  cluster   rows        dimension
  0         102         0
  1         99          0
  2         99          0
  ! warning: not private: for those who may see the data

## Takes a dimension for each subspace

  $ flats
  $ cloister solve kplanes flats.csv --clusters 2 --dims 2,4 --quiet
  kplanes (not private: for those who may see the data)
  cost        0.000243275

  cluster   rows        dimension
  0         38          2
  1         82          4
  ! warning: not private: for those who may see the data

## Writes the same on one and on two threads

  $ flats
  $ for threads in 1 2; do
  >     cloister solve auto flats.csv --clusters 3 --dim 2 -q --threads $threads -o $threads.json \
  >         --labels $threads.csv 2> /dev/null
  > done
  $ cmp 1.json 2.json && cmp 1.csv 2.csv && wc -l < 1.csv | tr -d ' '
  121
