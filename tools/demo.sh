#!/bin/sh
# demo.sh - a private release from start to end, on made-up data whose truth the demo knows.
# usage: demo.sh CLOISTER OUTPUT_FOLDER
set -eu

if [ $# -ne 2 ]; then
    echo "usage: demo.sh CLOISTER OUTPUT_FOLDER" >&2
    exit 2
fi
mkdir -p "$2"
command=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$2"
rm -f people.csv truth.csv release.json second.json ledger.db*

cloister() {
    "$command" "$@"
}

chapter() {
    printf '\n%s\n' "$*"
}

# Shows a command and what it says, all of it two steps in.
show() {
    printf '  $ cloister %s\n' "$*" | fold -s -w 90 | sed '2,$s/^/      /'
    code=0
    said=$(cloister "$@" 2>&1) || code=$?
    [ -z "$said" ] || printf '%s\n' "$said" | fold -s -w 94 | sed 's/^\(.\)/    \1/'
    return $code
}

# A number out of a command's JSON, to three digits.
number() {
    printf '%.3g' "$(sed -n "s/^ *\"$1\": \([-0-9.e]*\),*$/\1/p" evaluation.json)"
}

echo "cloister, from start to end: find three groups of people without telling on any of them"

chapter "1. The data: 10000 made-up people, two numbers each, around three centres."
show generate mixture --rows 10000 --cols 2 --clusters 3 --noise 0.05 --seed d \
    -o people.csv --truth truth.csv

chapter "2. A ledger: whatever is asked of these people, it may never cost more than this."
show ledger init ledger.db --dataset people.csv --epsilon 1 --delta 1e-6

chapter "3. A plan: are 10000 people enough? It reads no data and is free."
show plan kmeans --clusters 3 --epsilon 1 --delta 1e-6 --norm 1 --cols 2 --target 0.01

chapter "4. The run: the ledger is charged first, then the data are asked."
show run kmeans people.csv --clusters 3 --epsilon 1 --delta 1e-6 --norm 1 --ledger ledger.db \
    -o release.json

chapter "5. What came out, for all the world to see."
show report release.json

chapter "6. How good is it? The demo knows the truth; in real life only the owner can ask."
cloister evaluate release.json people.csv --truth truth.csv --json > evaluation.json 2> /dev/null
printf '  The centres are %s from the true ones, in a ball of radius 1.\n' \
    "$(number distance)"
printf '  Mean squared distance of a person to a centre: %s; with the true centres %s.\n' \
    "$(number cost)" "$(number truth_cost)"
rm -f evaluation.json

chapter "7. Once more? The budget is spent, so the answer is no, and asking cost nothing."
if show run kmeans people.csv --clusters 3 --epsilon 1 --delta 1e-6 --norm 1 --ledger ledger.db \
    --quiet -o second.json; then
    echo "the second run should have been refused" >&2
    exit 1
fi
show ledger show ledger.db

printf '\nThe release is in %s/release.json, the ledger beside it.\n' "$2"
