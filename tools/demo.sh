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
rm -f people.csv truth.csv kinds.csv synthetic.csv release.json second.json ledger.db*
# A home of its own: the user's remembers ledgers, and would miss the one of an earlier demo.
rm -rf home
export XDG_CONFIG_HOME="$PWD/home/config" XDG_STATE_HOME="$PWD/home/state"

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

echo "cloister, from start to end: three kinds of people, and no word about any one of them"

chapter "1. The data: 10000 made-up people, five numbers each. There are three kinds of people; in
   each, two hidden traits explain all five numbers: three planes in five dimensions."
show generate subspaces --rows 10000 --cols 5 --clusters 3 --dim 2 --noise 0.02 --seed d \
    -o people.csv --truth truth.csv --labels kinds.csv

chapter "2. A ledger: whatever is asked of these people, it may never cost more than this."
show ledger init ledger.db --dataset people.csv --epsilon 1 --delta 1e-6

chapter "3. A plan: are 10000 people enough? It reads no data and is free."
show plan subspaces --clusters 3 --dim 2 --epsilon 1 --delta 1e-6 --norm 1 --cols 5 --target 0.1

chapter "4. The run: the ledger is charged first, then the data are asked."
show run subspaces people.csv --clusters 3 --dim 2 --epsilon 1 --delta 1e-6 --norm 1 \
    --ledger ledger.db -o release.json

chapter "5. What came out, for all the world to see."
show report release.json

chapter "6. How good is it? The demo knows the truth; in real life only the owner can ask."
cloister evaluate release.json people.csv --truth truth.csv --labels kinds.csv --json \
    > evaluation.json 2> /dev/null
printf '  Mean squared distance of a person to the nearest plane: %s; to the true planes %s.\n' \
    "$(number cost)" "$(number truth_cost)"
printf '  The planes are %s from the true ones (0: the same; 2.45: as wrong as can be),\n' \
    "$(number distance)"
printf '  and a share of %s of the people fall to the right one.\n' "$(number accuracy)"
rm -f evaluation.json

chapter "7. After the release: as many synthetic people as one likes, as private as the planes are."
show generate --from release.json --rows 1000 --seed d -o synthetic.csv

chapter "8. Once more? The budget is spent, so the answer is no, and asking cost nothing."
if show run subspaces people.csv --clusters 3 --dim 2 --epsilon 1 --delta 1e-6 --norm 1 \
    --ledger ledger.db --quiet -o second.json; then
    echo "the second run should have been refused" >&2
    exit 1
fi
show ledger show ledger.db

printf '\nThe release is in %s/release.json, the ledger beside it.\n' "$2"
