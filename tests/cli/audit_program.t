# Audit: any program

A program is given two files that differ in one record, again and again.  The one that is audited
here, laplace_mean.py, is private at the epsilon that it is called with.

## Leaves nothing behind when it is stopped

  $ mkdir tmp
  $ export TMPDIR=$PWD/tmp
  $ cloister audit --command 'touch started; cat < {input} > {output}; sleep 100' --epsilon 1 \
  >     --cols 2 &
  $ audit=$!
  $ waits $audit [ -e started ]
  $ kill -TERM $audit; wait $audit
  ! cloister: the audit was stopped
  [exit 143]
  $ ls tmp

## Lets a right program pass

  $ cloister audit --command "python3 $HERE/laplace_mean.py 1 a" --resident --epsilon 1 --cols 2 \
  >     --trials 4000
  the program claims epsilon 1, delta 0 under replace

  pair       group  unit       claim  evidence  verdict       trials  seconds
  opposite       1  epsilon        1{{ +[0-9.]+}}  not refuted     4000{{ +[0-9.]+}}

  …

## Refuses files that are not neighbours

What tells two files apart that differ by more than one record was never promised to be hidden.  The
program is not started.

  $ printf '1,2\n3,4\n5,6\n' > a.csv
  $ printf '5,6\n1,2\n3,4\n' > b.csv
  $ audit() { cloister audit --resident --command 'touch started' --epsilon 1 --pair "$@"; }
  $ audit a.csv,b.csv
  ! cloister: 'a.csv' and 'b.csv' hold the same records: the files of a pair must differ in one
  [exit 2]
  $ printf '1,2\n3,5\n5,7\n' > b.csv
  $ audit a.csv,b.csv
  ! cloister: under replace the two files of a pair must differ in one record, but 'a.csv' has 2 records that 'b.csv' does not have, and 'b.csv' has 2 records that 'a.csv' does not have
  [exit 2]
  $ printf '3,4\n1,2\n' > b.csv
  $ audit a.csv,b.csv
  ! cloister: under replace the two files of a pair must differ in one record, but 'a.csv' has 1 record that 'b.csv' does not have, and 'b.csv' has 0 records that 'a.csv' does not have
  ! try: --relation add-remove
  [exit 2]
  $ printf '3,4\n1,2\n5,5\n' > b.csv
  $ audit a.csv,b.csv --relation add-remove
  ! cloister: under add-remove one file of a pair must have one record more, but 'a.csv' has 1 record that 'b.csv' does not have, and 'b.csv' has 1 record that 'a.csv' does not have
  ! try: --relation replace
  [exit 2]
  $ audit a.csv,b.csv --relation both
  ! cloister: --pair needs one relation: pass --relation replace or --relation add-remove
  [exit 2]
  $ printf 'x,y\n1,2\n3,4\n5,6\n' > b.csv
  $ audit a.csv,b.csv --relation add-remove
  ! cloister: FOLDER/here/a.csv and FOLDER/here/b.csv cannot be parts of one table: one has a header and the other has none
  [exit 3]
  $ printf 'who,x\nann,1\nann,2\nbob,3\n' > a.csv
  $ printf 'who,x\nbob,4\nann,1\n' > b.csv
  $ audit a.csv,b.csv --unit who
  ! cloister: under replace the two files of a pair must differ in one person, but 'a.csv' has 0 persons that 'b.csv' does not have, and 'b.csv' has 0 persons that 'a.csv' does not have; 2 persons are have other rows in the two files
  [exit 2]
  $ ls started
  ! ls: {{.*}}
  [exit 2]

## Refuses a seed for a program

  $ cloister audit --command 'cp {input} {output}' --epsilon 1 --cols 1 --seed a
  ! cloister: --seed has no meaning beside --command
  [exit 2]

## Refutes a program with too little noise

  $ cloister audit --command "python3 $HERE/laplace_mean.py 3 a" --resident --epsilon 1 --cols 2 \
  >     --trials 4000
  the program claims epsilon 1, delta 0 under replace

  pair       group  unit       claim  evidence  verdict       trials  seconds
  opposite       1  epsilon        1{{ +[0-9.]+}}  REFUTED         4000{{ +[0-9.]+}}

  REFUTED: the pair 'opposite' shows a loss of at least…
  …
  [exit 1]

## Runs a program anew each time

Without noise: the sum of the first column, which is the record that changes.

  $ cloister audit \
  >     --command "awk -F, '{ s += \$1 } END { print \"sum\", s }' < {input} > {output}" \
  >     --epsilon 1 --cols 3 --trials 400 --relation both
  the program claims epsilon 1, delta 0 under replace

  pair       group  unit       claim  evidence  verdict       trials  seconds
  opposite       1  epsilon        1{{ +[0-9.]+}}  REFUTED          400{{ +[0-9.]+}}

  the program claims epsilon 1, delta 0 under add-remove

  pair       group  unit       claim  evidence  verdict       trials  seconds
  absent         1  epsilon        1{{ +[0-9.]+}}  REFUTED          400{{ +[0-9.]+}}

  REFUTED: the pair 'opposite' shows a loss of at least…
  …
  [exit 1]

## Says that a program failed

  $ cloister audit --epsilon 1 --cols 2 --command 'echo no memory for {input} | wc -c >&2;
  >     echo cannot do this >&2; cat < {input} > {output}; exit 3'
  ! cloister: the program failed with exit code 3: cannot do this
  [exit 4]

## Says that a program wrote nothing

  $ cloister audit --command 'true {input} {output}' --epsilon 1 --cols 2
  ! cloister: the program ended without an error but wrote no output file
  [exit 3]

## Says that a resident program failed

  $ cloister audit --resident --command 'read files; echo error: out of paper' --epsilon 1 --cols 2
  ! cloister: the resident program says: error: out of paper
  [exit 4]
  $ cloister audit --resident --command 'read files; exit 7' --epsilon 1 --cols 2
  ! cloister: the program failed with exit code 7
  [exit 4]
  $ cloister audit --resident --command 'exit 0' --epsilon 1 --cols 2
  ! cloister: the program ended before it answered: with --resident it must read one line per run and answer each
  [exit 4]

## Says that an answer holds no number

  $ cloister audit --command 'echo col1 x2 > {output}; true {input}' --epsilon 1 --cols 2
  ! cloister: the output of the program has no number in it
  [exit 3]

## Says that answers differ in length

  $ cloister audit --command 'cat {input} > {output}' --epsilon 1 --cols 2 --relation add-remove
  ! cloister: the output of the program has 6 numbers, and its first output had 8: every run must write the same number of them
  [exit 3]

## Takes two files

  $ mkdir "it's here"
  $ printf '1\n1\n1\n' > "it's here/0.csv"
  $ printf '1\n1\n-1\n' > "it's here/1.csv"
  $ cloister audit --command "python3 $HERE/laplace_mean.py 3 b" --resident --epsilon 1 \
  >     --pair "it's here/0.csv,it's here/1.csv" --trials 3000 --json > audit.json
  [exit 1]
  $ python3 -c "
  > import json
  > a = json.load(open('audit.json'))
  > print(a['schema'], a['mechanism'], a['claim'], a['seed'], a['refuted'])
  > for f in a['findings']:
  >     print(*(f[key] for key in 'relation pair group unit claim'.split()),
  >           f['evidence'] > 1.5, f['refuted'], f['trials'])"
  cloister.audit/1 None {'epsilon': 1, 'delta': 0} None True
  replace files 1 epsilon 1 True True 3000

## Takes two files that differ by a person, or by a record more

  $ printf 'x\n1\n1\n' > a.csv
  $ printf 'x\n1\n1\n-1\n' > b.csv
  $ count() { cloister audit --command 'wc -l < {input} > {output}' --epsilon 1 --trials 100 \
  >     -q --json --pair "$@"; }
  $ count a.csv,b.csv --relation add-remove | grep -E 'relation|refuted'
    "refuted": true,
        "relation": "add-remove",
        "refuted": true,
  $ printf 'who;x\nann;1\nann;2\nbob;3\n' > a.csv
  $ printf 'who;x\nbob;3\nann;9\n' > b.csv
  $ count a.csv,b.csv --unit who | grep -E 'relation|refuted'
    "refuted": true,
        "relation": "replace",
        "refuted": true,

## Wants a place for the files

  $ cloister audit --command 'true {input}' --epsilon 1 --cols 1
  ! cloister: --command must contain {input} and {output}, which stand for the names of two files; or pass --resident
  [exit 2]

## Wants the number of columns

  $ cloister audit --command 'cp {input} {output}' --epsilon 1
  ! cloister: --cols must be given, or two files with --pair
  ! try: --cols 2
  [exit 2]
