# shellcheck shell=sh
# words.sh - words that the transcripts share; their runner reads them first.

# A small sample: three clusters in the plane, 300 rows, and a ledger l.db that caps it.
sample() {
    cloister generate mixture --rows 300 --cols 2 --clusters 3 --noise 0.05 --spread 1 \
        --seed sample -o sample.csv --truth truth.csv
}
ledger() {
    cloister ledger init l.db --dataset sample.csv --epsilon 2 --delta 1e-5 > /dev/null
}

# An open ledger, in which sample.csv has no cap.
open_ledger() {
    cloister ledger init l.db --open --dataset another --epsilon 1 > /dev/null
}

# Who runs this, as a broker and a ledger call them: by number where, in a container, nobody has
# given them a name, which id complains of.
me() {
    id -un 2> /dev/null || true
}

# How many charges the ledger l.db holds.
charges() {
    if [ -f l.db ]; then
        cloister ledger history l.db --json | grep -c '"sequence"' || true
    else
        echo 0
    fi
}

# Runs a command that must fail, shows that it neither cost nor left anything, and ends with its
# code.
refused() {
    before=$(charges)
    code=0
    "$@" || code=$?
    after=$(charges)
    [ "$before" = "$after" ] || echo "charges went from $before to $after"
    [ ! -e out.json ] || echo "out.json was left behind"
    [ "$code" -ne 0 ] || echo "it was not refused"
    return "$code"
}

# waits PROCESS CONDITION ...: until the condition holds.  How long that takes is the machine's
# matter; but nothing comes of a process that has ended.
waits() {
    of=$1
    shift
    until "$@"; do
        ! ended "$of" || { echo "it ended too early"; return 1; }
        sleep 0.05
    done
}

ended() {
    ! grep -qs ') [^ZX] ' "/proc/$1/stat"
}

# Whether a process catches SIGTERM by now.
catches_signals() {
    grep -q 'SigCgt:.*[4-7c-f]...$' "/proc/$1/status"
}

# Until the ledger l.db holds a charge of this process; its run is then past its spend.
wait_for_charge() {
    waits "$1" is_charged
}
is_charged() {
    [ "$(charges 2> /dev/null)" = 1 ]
}

# Stops a run that was just charged.  A stop that comes while the charge is being made is forgiven,
# with a warning, and a second one is meant.
stops() {
    kill -TERM "$1"
    until ended "$1" || grep -qs 'the run goes on' said; do sleep 0.05; done
    kill -TERM "$1" 2> /dev/null
    wait "$1"
}

# Until a process in the background, whose data are `pipe`, has begun to read them: it is fed
# sample.csv again and again, which is more than a pipe holds.  fd 3 stays open, and it waits for
# more; `feeds_on` gives it that, if it still wants it.
feeds_much() {
    exec 3> pipe
    cat sample.csv >&3
    for _ in $(seq 200); do tail -n +2 sample.csv; done >&3
}
feeds_on() {
    tail -n +2 sample.csv >&3
    exec 3>&-
}

# starts_run OPTION ...: a run whose data come later, begun in the background.  It has opened its
# ledger, named last, when this returns, and goes on with `feeds`, which waits for its end and says
# how that was.
starts_run() {
    for word; do file=$word; done
    mkfifo pipe
    cloister run kmeans - --clusters 3 --norm 2 -q "$@" < pipe > late.json 2> late.txt &
    late=$!
    exec 3> pipe
    waits "$late" has_open "$late" "$file"
}
has_open() {
    find "/proc/$1/fd" -lname "*/$2" 2> /dev/null | grep -q .
}
feeds() {
    cat "$1" >&3
    exec 3>&-
    code=0
    wait "$late" || code=$?
    echo "the late run ended with $code and $(wc -c < late.json) bytes: $(cat late.txt)"
}

# on_terminal ANSWER COMMAND ...: as a person at a terminal would see it.
on_terminal() {
    python3 "$HERE/terminal.py" "$@"
}

# Points about three planes in six dimensions: 120 rows, and the plane of each.
flats() {
    cloister generate subspaces --rows 120 --cols 6 --clusters 3 --dim 2 --noise 0.01 \
        --seed flats -o flats.csv --labels flats_labels.csv
}

# Two clusters in four columns: 100 rows.
wide() {
    cloister generate mixture --rows 100 --cols 4 --clusters 2 --noise 0.05 --spread 1 \
        --seed wide -o wide.csv
}

# secret_rows KIND OPTION ...: under these options the number of rows is a secret.  Two files that
# differ in it get the same plan, byte for byte, from the dry run of every method, also where it
# learns its norm and centre first; and no release says it.  KIND -who: a column says whose row it
# is, two rows a person.
secret_rows() {
    kind=$1
    shift
    cloister generate mixture --rows 307 --cols 3 --clusters 2 --noise 0.05 --spread 1 \
        --seed rows -o few.csv
    awk -F, 'NR == 1 { print "who," $0; next } { print "p" int(NR / 2) "," $0 }' few.csv \
        > few-who.csv
    { cat "few$kind.csv"; tail -n 1 "few$kind.csv" | sed 's/p[0-9]*,/p999,/'; } > "many$kind.csv"
    for name in $(cloister methods | sed -n 's|^\([a-z]*/[a-z]*\) .*|\1|p') kmeans subspaces; do
        case $name in # the last two: the method is chosen
        kmeans* | kmedian* | subspaces*) same_plans "$@" --clusters 3 --norm 2 ;;
        */approx | */boosted) same_plans "$@" --norm 2 --gamma 0.001 ;;
        bounds/*) same_plans "$@" --norm 2 --delta 0 ;;
        subspace/exact) [ "$kind" ] || same_plans "$@" --norm 2 ;; # for rows alone
        *) same_plans "$@" --norm 2 ;;
        esac
    done
    name=kmeans/lloyd
    same_plans "$@" --clusters 2 --norm private --center private --norm-at-most 9
    for norm in "2" "private --norm-at-most 9"; do
        # shellcheck disable=SC2086
        cloister run $name "few$kind.csv" --clusters 2 --epsilon 1 "$@" --norm $norm --no-ledger \
            --seed rows -o out.json 2> run.said > run.out
        no_rows out.json run.said run.out
    done
}

same_plans() {
    for file in few many; do
        cp "$file$kind.csv" data.csv
        cloister run "$name" data.csv --epsilon 1 --accept asymptotic "$@" \
            --no-ledger --dry-run --json \
            > $file.plan 2> $file.said || echo "$name: no plan with $*"
    done
    cmp few.plan many.plan && cmp few.said many.said
    no_rows few.plan many.plan few.said many.said
}

no_rows() {
    grep -lE '(^|[^0-9.])(307|308)([^0-9.]|$)' "$@" \
        | sed "s|\$|: $name says how many rows there are|"
}
