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

# Waits until the ledger l.db holds a charge; the run is then past its spend.
wait_for_charge() {
    tries=0
    while [ "$(charges 2> /dev/null)" != 1 ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 600 ] || { echo "no charge came"; exit 1; }
        sleep 0.05
    done
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
    tries=0
    until find "/proc/$late/fd" -lname "*/$file" 2> /dev/null | grep -q .; do
        tries=$((tries + 1))
        [ "$tries" -lt 600 ] || { echo "the run did not open $file"; exit 1; }
        sleep 0.05
    done
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
