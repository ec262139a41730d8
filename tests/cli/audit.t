# Audit: mechanisms

An audit of one of our own mechanisms needs no data: each has pairs that are hard on it.

## Refuses a pair that is not there

  $ cloister audit kmeans --epsilon 1 --pair nonsense --seed a
  ! cloister: this mechanism has no such pair to audit
  [exit 2]

## Refutes no mechanism

  $ cloister audit bounds/quantile --epsilon 1 --trials 2e4 --seed a --threads 2
  bounds/quantile claims epsilon 1, delta 0 under replace

  pair       group  unit       claim  evidence  verdict       trials  seconds
  choice         1  epsilon        1{{ +[0-9.]+}}  not refuted    20000{{ +[0-9.]+}}
  ends           1  epsilon        1{{ +[-0-9.e]+}}  not refuted    20000{{ +[0-9.]+}}
  few            1  epsilon        1{{ +[-0-9.e]+}}  not refuted    20000{{ +[0-9.]+}}
  person         1  epsilon        1{{ +[0-9.]+}}  not refuted    20000{{ +[0-9.]+}}

  …

## Repeats itself with a seed

  $ for threads in 1 2; do
  >     cloister audit kmeans/lloyd --epsilon 4 --trials 4000 --pair sums --group all --seed a \
  >         --threads $threads --json | grep -v seconds > $threads.json
  > done
  $ cmp 1.json 2.json
  $ grep -c '"pair": "sums"' 1.json
  3

## Shows the seed that it drew

  $ cloister audit bounds --epsilon 1 --trials 2000 --json > first.json
  ! seed {{[0-9a-f]+}}: --seed {{[0-9a-f]+}} repeats this audit
  $ seed=$(sed -n 's/.*"seed": "\(.*\)".*/\1/p' first.json)
  $ cloister audit bounds --epsilon 1 --trials 2000 --json --seed "$seed" > second.json
  $ grep -v seconds first.json > a
  $ grep -v seconds second.json > b
  $ cmp a b

## Suggests a mechanism

  $ cloister audit kmeens --epsilon 1
  ! cloister: there is no method 'kmeens'; did you mean 'kmeans'?
  ! try: cloister methods
  [exit 2]

## Wants an epsilon

  $ cloister audit kmeans --trials 1000
  ! cloister: give --epsilon: the most that this run may reveal about one record
  ! try: --epsilon 1
  [exit 2]

## Wants enough trials

  $ cloister audit kmeans --epsilon 1 --trials 5
  ! cloister: --trials must be between 100 and 1000000000000, not 5
  [exit 2]

## Wants something to audit

  $ cloister audit --epsilon 1
  ! cloister: 'audit' needs a mechanism, or a program by --command
  ! try: cloister audit --help
  [exit 2]

## Writes JSON

  $ cloister audit bounds --epsilon 1 --trials 2000 --relation both --group all --seed a --json \
  >     | python3 -c "
  > import json, sys
  > a = json.load(sys.stdin)
  > print(*(a[key] for key in 'schema mechanism command claim alpha seed refuted'.split()))
  > for f in a['findings']:
  >     print(*(f[key] for key in 'relation pair group unit claim delta refuted trials'.split()))"
  cloister.audit/1 bounds/quantile None {'epsilon': 1, 'delta': 0} 1e-06 a False
  replace choice 1 epsilon 1 0 False 2000
  replace choice 2 epsilon 2 0 False 2000
  replace choice 4 epsilon 4 0 False 2000
  replace ends 1 epsilon 1 0 False 2000
  replace ends 2 epsilon 2 0 False 2000
  replace ends 4 epsilon 4 0 False 2000
  replace few 1 epsilon 1 0 False 2000
  replace few 2 epsilon 2 0 False 2000
  replace few 4 epsilon 4 0 False 2000
  replace person 1 epsilon 1 0 False 2000
  replace person 2 epsilon 2 0 False 2000
  replace person 4 epsilon 4 0 False 2000
  add-remove choice 1 epsilon 1 0 False 2000
  add-remove choice 2 epsilon 2 0 False 2000
  add-remove choice 4 epsilon 4 0 False 2000
  add-remove ends 1 epsilon 1 0 False 2000
  add-remove ends 2 epsilon 2 0 False 2000
  add-remove ends 4 epsilon 4 0 False 2000
  add-remove few 1 epsilon 1 0 False 2000
  add-remove few 2 epsilon 2 0 False 2000
  add-remove few 4 epsilon 4 0 False 2000
  add-remove person 1 epsilon 1 0 False 2000
  add-remove person 2 epsilon 2 0 False 2000
  add-remove person 4 epsilon 4 0 False 2000
