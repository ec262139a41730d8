# Help

## Colours nothing but a terminal

  $ cloister nothing
  ! cloister: there is no command 'nothing'
  ! try: cloister help
  [exit 2]
  $ on_terminal n cloister nothing
  <1;31m>cloister:<0m> there is no command 'nothing'
  <1m>try:<0m> cloister help
  [exit 2]
  $ NO_COLOR=1 on_terminal n cloister nothing
  cloister: there is no command 'nothing'
  try: cloister help
  [exit 2]

## Explains every command

  $ for command in methods plan run bounds ledger solve generate evaluate assign audit sweep draw \
  >     report version completion help; do
  >     cloister help $command > one.txt
  >     cloister $command --help > two.txt
  >     cmp one.txt two.txt || echo "$command: two different texts"
  >     grep -q '^usage: cloister '$command one.txt || echo "$command: no usage"
  >     grep -q '^Examples' one.txt || echo "$command: no examples"
  > done

## Fills the manual page

  $ printf '.TH X\n.\\"@exit-codes@\n.\\"@methods@\n.\\"@commands@\n' > page.in
  $ cloister help manual-page page.in > page.1
  $ for word in 'SS kmeans/lloyd' 'SS cloister run' 'fB130' 'rows' 'out of memory'; do
  >     grep -q "$word" page.1 || echo "$word is missing"
  > done

## Gives an overview

  $ cloister help
  usage: cloister COMMAND [word or option ...]

  Finds clusters and subspaces in personal data with differential privacy: epsilon
  limits how much a result can reveal about any one person.

  Release
    run         make a private release from a file
    plan        show the queries, cost and expected error of a run; reads no data
    bounds      find a radius or column bounds for your data, privately
    report      show a release: text, a page, pictures
    cut         read another number of clusters from a release, without spending budget
    methods     list the methods, with their parameters, guarantees and proofs

  Budget
    ledger      create a budget, show what was spent and what is left
    serve       let other users make releases of data that they cannot read

  Your own data (not private)
    schema      draft a schema of a file, or check one against it
    inspect     show what is in a file, and what a run would use
    assign      find the released cluster of each row
    evaluate    measure how good a release is on your data
    solve       cluster without privacy: k-means, subspace clustering and more

  Research
    generate    make synthetic data, from a model or from a release
    sweep       run many methods with many seeds and measure them
    audit       try to refute the privacy claim of a method or any program
    draw        draw curves with error bars from a JSON file

  About the command
    version     print the version
    completion  print a completion script for bash, zsh or fish
    help        explain a command

  Examples
    What a run would cost:
        cloister plan kmeans --clusters 3 --epsilon 1 --rows 5000 \
            --bounds people-bounds.csv
    Once: a ledger, and the most that may ever be spent:
        cloister ledger init --dataset people.csv --epsilon 3
    A private release, charged to it:
        cloister run kmeans people.csv --clusters 3 --epsilon 1 \
            --bounds people-bounds.csv

  'cloister COMMAND --help' explains a command. 'man cloister' explains all, with
  the exit codes.

## Keeps to eighty columns

  $ for command in methods plan run bounds ledger solve generate evaluate assign audit sweep draw \
  >     report version completion help; do
  >     cloister help $command | grep -v '^usage:\|^       cloister' \
  >         | awk -v c=$command 'length($0) > 80 { print c ": " $0 }'
  > done

## Refuses an option before the command

  $ cloister --json version
  ! cloister: '--json' comes before the command: put options after it, as in cloister run --help
  ! try: cloister help
  [exit 2]

## Shows the parameters of a mechanism

  $ cloister help run kmeans/lloyd | sed -n "/^Parameters/,/^$/p"
  Parameters of kmeans/lloyd
    --clusters N            how many centers to find, or auto (1 to 1024; must be
                            given)
    --rounds N              passes over the data; they share the budget (1 to 100,
                            default 5)
    --reduce N              number of directions to keep before the rounds; 0:
                            all; -1: chosen from the public facts (-1 to 1024,
                            default 0)
    --share X               share of the budget for choosing the directions (0.01
                            to 0.95, default 0.5)
    --noise WORD            noise of sums and sizes; auto: the smaller error,
                            which is laplace without a delta (auto, gaussian or
                            laplace, default auto)
  {{}}

## Suggests a command

  $ cloister help runn
  ! cloister: there is no command 'runn'; did you mean 'run'?
  ! try: cloister help
  [exit 2]

## Suggests a command for a misspelt one

  $ cloister legder show
  ! cloister: there is no command 'legder'; did you mean 'ledger'?
  ! try: cloister help
  [exit 2]

## Without a command explains itself on stderr

  $ cloister
  ! usage: cloister COMMAND [word or option ...]
  !
  ! Finds clusters and subspaces in personal data with differential privacy: epsilon
  ! limits how much a result can reveal about any one person.
  !
  ! Release
  !   run         make a private release from a file
  !   plan        show the queries, cost and expected error of a run; reads no data
  !   bounds      find a radius or column bounds for your data, privately
  !   report      show a release: text, a page, pictures
  !   cut         read another number of clusters from a release, without spending budget
  !   methods     list the methods, with their parameters, guarantees and proofs
  !
  ! Budget
  !   ledger      create a budget, show what was spent and what is left
  !   serve       let other users make releases of data that they cannot read
  !
  ! Your own data (not private)
  !   schema      draft a schema of a file, or check one against it
  !   inspect     show what is in a file, and what a run would use
  !   assign      find the released cluster of each row
  !   evaluate    measure how good a release is on your data
  !   solve       cluster without privacy: k-means, subspace clustering and more
  !
  ! Research
  !   generate    make synthetic data, from a model or from a release
  !   sweep       run many methods with many seeds and measure them
  !   audit       try to refute the privacy claim of a method or any program
  !   draw        draw curves with error bars from a JSON file
  !
  ! About the command
  !   version     print the version
  !   completion  print a completion script for bash, zsh or fish
  !   help        explain a command
  !
  ! Examples
  !   What a run would cost:
  !       cloister plan kmeans --clusters 3 --epsilon 1 --rows 5000 \
  !           --bounds people-bounds.csv
  !   Once: a ledger, and the most that may ever be spent:
  !       cloister ledger init --dataset people.csv --epsilon 3
  !   A private release, charged to it:
  !       cloister run kmeans people.csv --clusters 3 --epsilon 1 \
  !           --bounds people-bounds.csv
  !
  ! 'cloister COMMAND --help' explains a command. 'man cloister' explains all, with
  ! the exit codes.
  [exit 2]

## Shows what most people need, and the rest if asked

  $ cloister run --help > few.txt; cloister run --help=all > all.txt
  $ test $(wc -l < few.txt) -le 66 || wc -l < few.txt
  68
  $ grep -c -- '^  --clusters\|^  --epsilon\|^  --bounds\|^  -o' few.txt
  4
  $ grep -e '--norm-quantile' few.txt
  [exit 1]
  $ grep -e '--norm-quantile' all.txt
    --norm-quantile P       the share of the records that a private norm should
  $ cloister run kmeans --help | grep '^Parameters'
  Parameters of kmeans/density, the method that cloister usually chooses
  $ cloister run --help=most
  ! cloister: --help takes nothing after it, or =all
  [exit 2]

## Explains a verb with its own options

  $ cloister ledger lower --help > one.txt
  $ cloister help ledger lower > two.txt
  $ cmp one.txt two.txt
  $ cat one.txt
  usage: cloister ledger lower [LEDGER] --dataset NAME --epsilon E [--delta D] --note TEXT

  Lower a cap; no cap can be raised.

  This gives back nothing that was spent. 'acts' lists the change, with the note.

  Options
    --dataset NAME          the name of the data set
    --epsilon E             the new, smaller cap
    --delta D               the new delta, by default unchanged
    --note TEXT             the reason, which the ledger keeps
    -h, --help              show this text; --help=all: every option

  Examples
    From 3 to 2:
        cloister ledger lower --dataset patients.csv --epsilon 2 \
            --note 'decision of May 4'
