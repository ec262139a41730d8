# Methods that were retired

An earlier cloister had them. Nothing new is made with them, and their releases (../golden/retired)
are read as all others.

## Are named, with what to do instead

  $ cloister plan kmeans/tree --clusters 3 --epsilon 1 --norm 1 --cols 2
  ! cloister: kmeans/tree was retired in 0.2: leave the method out, and cloister chooses a more accurate one
  ! try: cloister methods
  [exit 2]
  $ cloister run kmeans/moments sample.csv --clusters 3 --epsilon 1 --norm 1
  ! cloister: kmeans/moments was retired in 0.2: leave the method out, and cloister chooses a more accurate one
  ! try: cloister methods
  [exit 2]
  $ cloister methods kmeans/variates
  ! cloister: kmeans/variates was retired in 0.2: leave the method out, and cloister chooses a more accurate one
  ! try: cloister methods
  [exit 2]
  $ cloister audit kmeans/tree --epsilon 1
  ! cloister: kmeans/tree was retired in 0.2: leave the method out, and cloister chooses a more accurate one
  ! try: cloister methods
  [exit 2]

## Have releases that are shown

  $ cloister report "$HERE/../golden/retired/kmeans_tree.json"
  kmeans/tree with clusters 3, start "points", passes 3, rounds 1, share 0.1
  charge     1 of the ledger a1231033..., on 'people'; signed, and unchanged since
  privacy    epsilon 3, delta 1e-6, replace one record
  cost       epsilon 3 by gaussian-exact accounting; charged to a ledger with a cap
  guarantee  exact; exactly rounded Gaussian; ChaCha20 keyed by the operating system

    Had one record been replaced by any other, any outcome of this release would
    have been as likely up to a factor of 20.09 (e to the epsilon 3), apart from
    a probability of 1e-6.

  centers (3 x 2)
                   x1           x2
       0     -0.16839     -0.41976
       1      0.27872      0.38429
       2       0.4268       0.3139

  sizes (3)
                    0            1            2
               682.68      1024.31       292.99

  center noise (3 x 2)
                   x1           x2
       0   0.00904589   0.00904589
       1   0.00602889   0.00602889
       2    0.0210773    0.0210773
    Typical error that noise added to each center in the last round (a standard
    deviation, in the units of each column).  Earlier rounds may have added more.
  $ cloister report "$HERE/../golden/retired/kmeans_moments.json" | sed -n '/^centers/,$p'
  centers (3 x 2)
                   x1           x2
       0       0.3762       0.2894
       1        0.265       0.4399
       2      -0.1673      -0.4004

  sizes (3)
                    0            1            2
               664.08        654.6        681.3

  center noise (3 x 2)
                   x1           x2
       0    0.0157186    0.0157186
       1    0.0159462    0.0159462
       2    0.0153213    0.0153213
    Typical error that noise added to each center in the last round (a standard
    deviation, in the units of each column).  Earlier rounds may have added more.
  $ cloister report "$HERE/../golden/retired/kmeans_variates.json" | sed -n '/^centers/,$p'
  centers (3 x 2)
                   x1           x2
       0      -0.1938      -0.3998
       1       0.3739       0.3007
       2       0.2982       0.4593

  sizes (3)
                    0            1            2
                667.8        772.1        545.9

  center noise (3 x 2)
                   x1           x2
       0    0.0214644    0.0214644
       1    0.0185649    0.0185649
       2    0.0262574    0.0262574
    Typical error that noise added to each center in the last round (a standard
    deviation, in the units of each column).  Earlier rounds may have added more.
  $ for method in tree moments variates; do
  >     cloister report "$HERE/../golden/retired/kmeans_$method.json" -o $method.html
  >     grep -c '<svg' $method.html
  > done
  3
  3
  3

## Have releases that are checked

  $ cp "$HERE/../golden/retired/"* .
  $ for method in tree moments variates; do
  >     cloister ledger check kmeans_$method.json --key steward.pub
  > done
  kmeans_tree.json: genuine, and unchanged since it was signed
  charge 1 of the ledger a12310335e8d1b55064b1f69708fe684: kmeans/tree on 'people', epsilon 3, delta 1e-6, 2026-11-19T23:38:31Z, by cloister 0.2.0
  kmeans_moments.json: genuine, and unchanged since it was signed
  charge 2 of the ledger a12310335e8d1b55064b1f69708fe684: kmeans/moments on 'people', epsilon 3, delta 1e-6, 2026-11-19T23:38:31Z, by cloister 0.2.0
  kmeans_variates.json: genuine, and unchanged since it was signed
  charge 3 of the ledger a12310335e8d1b55064b1f69708fe684: kmeans/variates on 'people', epsilon 3, delta 1e-6, 2026-11-19T23:38:31Z, by cloister 0.2.0
  $ sed 's/"sizes": \[/&1/' kmeans_tree.json > other.json
  $ cloister ledger check other.json --key steward.pub
  ! cloister: the release was changed after it was signed: its signature is wrong
  [exit 9]

## Have releases that assign, evaluate and draw rows

  $ printf 'x1,x2\n-0.2,-0.4\n0.4,0.4\n' > rows.csv
  $ for method in tree moments variates; do
  >     release=$HERE/../golden/retired/kmeans_$method.json
  >     cloister assign "$release" rows.csv 2> /dev/null | tail -n 2
  >     cloister evaluate "$release" rows.csv 2> /dev/null
  >     cloister generate --from "$release" --rows 4 --seed 1 --spread 0.1 | wc -l
  > done
  0
  2
  cost        0.00476055    mean squared distance of the rows to what was released, columns by half their width
  raw cost    0.00476055    the same, in the units of the data
  5
  2
  0
  cost        0.00693412    mean squared distance of the rows to what was released, columns by half their width
  raw cost    0.00693413    the same, in the units of the data
  5
  0
  1
  cost        0.00529009    mean squared distance of the rows to what was released, columns by half their width
  raw cost    0.00529009    the same, in the units of the data
  5
