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

  Differentially private clustering and subspace learning: what comes out says
  little about any one record, and how little is proven.

  Commands
    methods     list the methods, with their parameters, guarantees and proofs
    inspect     show what a file holds and what a run would use of it (not private)
    plan        show what a run would ask, cost and deliver; reads no data
    run         make a private release from a file
    bounds      find a radius or column bounds for your data, privately
    ledger      show what was spent on each data set, and what is left
    serve       answer analysts of this machine, as the account that owns the data
    solve       ordinary, non-private clustering and subspace clustering
    generate    make synthetic data whose truth is known
    evaluate    measure how good a release is on your own data (not private)
    assign      find the released cluster of each of your own rows (not private)
    audit       try to refute a privacy claim, ours or that of any program
    sweep       run many methods on many seeds, measured (not private)
    draw        draw curves with error bars from a JSON file
    report      show a release: text, a page, pictures
    version     print the version
    completion  print a completion script for bash, zsh or fish
    help        explain a command

  Examples
    What a run would cost:
        cloister plan kmeans --clusters 3 --epsilon 1 --rows 5000 --cols 10 \
            --norm 1
    A ledger, once, and the most that may ever be spent:
        cloister ledger init --dataset patients.csv --epsilon 3
    A private release, charged to it:
        cloister run kmeans patients.csv --clusters 3 --epsilon 1 --norm 1

  'cloister help COMMAND' says more; 'man cloister' says all.

## Keeps to eighty columns

  $ for command in methods plan run bounds ledger solve generate evaluate assign audit sweep draw \
  >     report version completion help; do
  >     cloister help $command | grep -v '^usage:\|^       cloister' \
  >         | awk -v c=$command 'length($0) > 80 { print c ": " $0 }'
  > done

## Refuses an option before the command

  $ cloister --json version
  ! cloister: '--json' stands before a command; options come after one
  ! try: cloister help
  [exit 2]

## Shows the parameters of a mechanism

  $ cloister help run kmeans/lloyd | sed -n "/^Parameters/,/^$/p"
  Parameters of kmeans/lloyd
    --clusters N            how many centres to find (1 to 1024; must be given)
    --rounds N              passes over the data, each with its share of the
                            budget (1 to 100, preset 5)
    --reduce N              directions to keep before the rounds; 0: all, -1: what
                            pays (-1 to 1024, preset 0)
    --share X               of the budget, for choosing the directions to keep
                            (0.01 to 0.95, preset 0.5)
    --noise WORD            of sums and sizes; auto: what errs less, which is
                            laplace without a delta (auto, gaussian or laplace,
                            preset auto)
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
  ! Differentially private clustering and subspace learning: what comes out says
  ! little about any one record, and how little is proven.
  !
  ! Commands
  !   methods     list the methods, with their parameters, guarantees and proofs
  !   inspect     show what a file holds and what a run would use of it (not private)
  !   plan        show what a run would ask, cost and deliver; reads no data
  !   run         make a private release from a file
  !   bounds      find a radius or column bounds for your data, privately
  !   ledger      show what was spent on each data set, and what is left
  !   serve       answer analysts of this machine, as the account that owns the data
  !   solve       ordinary, non-private clustering and subspace clustering
  !   generate    make synthetic data whose truth is known
  !   evaluate    measure how good a release is on your own data (not private)
  !   assign      find the released cluster of each of your own rows (not private)
  !   audit       try to refute a privacy claim, ours or that of any program
  !   sweep       run many methods on many seeds, measured (not private)
  !   draw        draw curves with error bars from a JSON file
  !   report      show a release: text, a page, pictures
  !   version     print the version
  !   completion  print a completion script for bash, zsh or fish
  !   help        explain a command
  !
  ! Examples
  !   What a run would cost:
  !       cloister plan kmeans --clusters 3 --epsilon 1 --rows 5000 --cols 10 \
  !           --norm 1
  !   A ledger, once, and the most that may ever be spent:
  !       cloister ledger init --dataset patients.csv --epsilon 3
  !   A private release, charged to it:
  !       cloister run kmeans patients.csv --clusters 3 --epsilon 1 --norm 1
  !
  ! 'cloister help COMMAND' says more; 'man cloister' says all.
  [exit 2]
