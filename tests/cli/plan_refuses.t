# Plan: what it does not take

## Refuses a bounds file of another width

  $ printf '0,1\n0,1\n' > bounds.csv
  $ cloister plan kmeans --clusters 8 --epsilon 1 --cols 3 --bounds bounds.csv
  ! cloister: 'bounds.csv' has bounds for 2 columns, but the data have 3
  [exit 2]

## Refuses a center of another width

  $ cloister plan kmeans --clusters 8 --epsilon 1 --norm 1 --cols 3 --center 1,2
  ! cloister: --center has 2 entries, but the data have 3 columns
  [exit 2]

## Refuses a limit that was not accepted

  $ cloister plan subspaces/gibbs --dim 3 --clusters 3 --epsilon 1 --cols 10 --norm 1
  ! cloister: subspaces/gibbs has the guarantee asymptotic, which is weaker than exact: choose another method, or accept it
  ! try: --accept asymptotic
  [exit 2]

## Refuses a misspelt first bound

  $ printf 'age,0,old\nincome,0,1\n' > bounds.csv
  $ cloister plan kmeans --clusters 8 --epsilon 1 --bounds bounds.csv
  ! cloister: bounds.csv, line 1 must be name,lower,upper or lower,upper
  [exit 3]

## Refuses a parameter of another mechanism

  $ cloister plan kmeans --clusters 8 --epsilon 1 --norm 1 --cols 2 --dim 2
  ! cloister: kmeans/density has no parameter --dim
  ! try: cloister methods kmeans/density
  [exit 2]

## Refuses a share of what is not learnt

  $ cloister plan kmeans/lloyd --clusters 8 --epsilon 1 --cols 2 --norm 1 --share-norm 0.1
  ! cloister: --share-norm needs --norm private
  [exit 2]

## Refuses an option given twice

  $ cloister plan kmeans --clusters 8 --epsilon 1 --epsilon 2 --norm 1 --cols 2
  ! cloister: --epsilon is given twice
  [exit 2]

## Refuses bounds that are not numbers

  $ printf 'name,lower,upper\nage,0,old\n' > bounds.csv
  $ cloister plan kmeans --clusters 8 --epsilon 1 --bounds bounds.csv
  ! cloister: bounds.csv, line 2 must be name,lower,upper or lower,upper
  [exit 3]

## Refuses bounds upside down

  $ cloister plan kmeans --clusters 8 --epsilon 1 --cols 2 --bounds 1,-1
  ! cloister: --bounds 1,-1: the lower bound must be below the upper one
  [exit 2]

## Refuses center beside bounds

  $ cloister plan kmeans --clusters 8 --epsilon 1 --bounds 0,1 --center 1,2
  ! cloister: --center and --bounds exclude each other: bounds already have a middle
  [exit 2]

## Refuses accountants beside a target

  $ cloister plan kmeans --clusters 3 --epsilon 1 --cols 10 --norm 1 --target 0.05 --accountants
  ! cloister: --accountants shows one plan: leave out --target
  [exit 2]

## Refuses Gaussian noise without delta

  $ cloister plan kmeans/lloyd --noise gaussian --clusters 3 --epsilon 1 --cols 10 --norm 1 \
  >     --delta 0
  ! cloister: a budget for Gaussian events needs delta above 0
  [exit 2]

## Refuses restarts in the accounting of the paper

  $ cloister plan subspaces/sulq --clusters 3 --epsilon 1 --cols 10 --norm 1 --accounting paper \
  >     --restarts 3
  ! cloister: accounting=paper and restarts exclude each other: leave out one of them
  [exit 2]

## Refuses rows beside a target

  $ cloister plan kmeans --clusters 3 --epsilon 1 --cols 10 --norm 1 --rows 10 --target 1
  ! cloister: --target finds the rows for an epsilon, or the epsilon for a number of rows: give either --epsilon or --rows
  [exit 2]

## Refuses to learn the bounds before the bounds

  $ cloister plan bounds --epsilon 1 --cols 2 --norm private --norm-at-most 100
  ! cloister: this run looks for bounds: leave out the private norm and center
  [exit 2]

## Refuses two methods

  $ cloister plan kmeans/lloyd --method moments --clusters 8 --epsilon 1 --norm 1 --cols 2
  ! cloister: 'kmeans/lloyd' and --method moments name two methods: leave out one of them
  [exit 2]

## Says each bad number

  $ for epsilon in -1 0 nan inf abc 1x 0x10 "" " 1" 1e999; do
  >     cloister plan kmeans --clusters 8 --epsilon "$epsilon" --cols 2 \
  >     --norm 1 && echo "took '$epsilon'"
  > done
  ! cloister: --epsilon must be a number greater than 0, not '-1'
  ! cloister: --epsilon must be a number greater than 0, not '0'
  ! cloister: --epsilon must be a number greater than 0, not 'nan'
  ! cloister: --epsilon must be a number greater than 0, not 'inf'
  ! cloister: --epsilon must be a number greater than 0, not 'abc'
  ! cloister: --epsilon must be a number greater than 0, not '1x'
  ! cloister: --epsilon must be a number greater than 0, not '0x10'
  ! cloister: --epsilon must be a number greater than 0, not ''
  ! cloister: --epsilon must be a number greater than 0, not ' 1'
  ! cloister: --epsilon must be a number greater than 0, not '1e999'
  [exit 2]
  $ for rows in 0 1.5 -3 1e20 ten; do
  >     cloister plan kmeans --clusters 8 --epsilon 1 --cols 2 --norm 1 \
  >     --rows $rows && echo "took $rows"
  > done
  ! cloister: --rows must be between 1 and 2147483648, not 0
  ! cloister: --rows must be a whole number, not '1.5'
  ! cloister: --rows must be between 1 and 2147483648, not -3
  ! cloister: --rows must be between 1 and 2147483648, not 1e20
  ! cloister: --rows must be a whole number, not 'ten'
  [exit 2]
  $ cloister plan kmeans --clusters 8 --epsilon 1 --cols 2 --norm 1 --delta 1
  ! cloister: --delta must be a number of at least 0 and below 1, not '1'
  [exit 2]

## Says when no number of rows is enough

  $ cloister plan kmeans --clusters 3 --epsilon 1 --cols 10 --norm 1 --target 1e-12
  ! cloister: no number of rows up to 2147483648 gives an error of 1e-12: allow a larger --epsilon or a larger error
  [exit 2]

## Suggests an option

  $ cloister plan kmeans --epsilonn 1
  ! cloister: there is no option '--epsilonn'; did you mean '--epsilon'?
  ! try: cloister plan --help
  [exit 2]

## Wants a norm or bounds

  $ cloister plan kmeans --clusters 8 --epsilon 1 --cols 2
  ! cloister: give --bounds or --norm: the range that values can have, from public knowledge and never from the data; it decides how much noise is needed
  ! try: --bounds FILE, with a line name,lower,upper per column; or 'cloister bounds', which finds bounds privately
  [exit 2]

## Wants a public radius to look under

  $ cloister plan kmeans/lloyd --clusters 8 --epsilon 1 --cols 2 --norm private
  ! cloister: --norm private needs a generous public radius that no record can exceed: give --norm-at-most MAX, or --bounds
  ! try: --norm-at-most 1000, or another radius that no record can exceed; a generous one costs little
  [exit 2]

## Wants an epsilon

  $ cloister plan kmeans --cols 2 --norm 1
  ! cloister: give --epsilon: the most that this run may reveal about one record
  ! try: --epsilon 1
  [exit 2]

## Wants the number of columns

  $ cloister plan kmeans --clusters 8 --epsilon 1 --norm 1
  ! cloister: give --cols D, the number of columns: a plan reads no data, so it cannot count them
  [exit 2]

## Refuses a choice of the number of clusters where nobody can choose

  $ cloister plan kmeans --clusters 5 --clusters-at-most 9 --epsilon 1 --norm 1 --cols 3
  ! cloister: --clusters-at-most needs --clusters auto, but --clusters is 5
  [exit 2]
  $ cloister plan kmedian/highdim --clusters auto --epsilon 1 --norm 1 --cols 3
  ! cloister: kmedian/highdim cannot choose the number of clusters: give --clusters as a number
  ! try: cloister methods kmedian/highdim
  [exit 2]
  $ cloister plan subspaces --clusters 3 --dim auto --epsilon 1 --norm 1 --cols 3
  ! cloister: subspaces/moments cannot choose the dimension: give --dim as a number
  ! try: cloister methods subspaces/moments
  [exit 2]
  $ cloister plan kmeans/lloyd --clusters auto --epsilon 1 --norm 1 --cols 3
  ! cloister: kmeans/lloyd cannot choose the number of clusters: give --clusters as a number
  ! try: cloister methods kmeans/lloyd
  [exit 2]
  $ cloister plan kmeans --clusters auto --clusters-at-most many --epsilon 1 --norm 1 --cols 3
  ! cloister: clusters must be a number, not 'many'
  [exit 2]

## A file, which it does not read

  $ cloister plan kmeans people.csv --clusters 3 --epsilon 1 --norm 1
  ! cloister: a plan reads no data, so leave out 'people.csv': give --cols (or a file of bounds) and --rows instead
  ! try: cloister run kmeans FILE ... --dry-run, which plans for a file and spends nothing
  [exit 2]
