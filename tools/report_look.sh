#!/bin/sh
# Makes pages of releases of every kind, of plans and of a ledger, and has a browser look at them:
# tests/look/look.mjs says what it looks for.  Pictures and PDFs are left in FOLDER/seen.
#
# usage: tools/report_look.sh CLOISTER FOLDER
set -eu
cloister=$(realpath "${1:?usage: tools/report_look.sh CLOISTER FOLDER}")
root=$(realpath "$(dirname "$0")/..")
folder=${2:?usage: tools/report_look.sh CLOISTER FOLDER}
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
export XDG_STATE_HOME="$PWD/state" XDG_CONFIG_HOME="$PWD/config"

made() { # name family option...: a private release and its page
    name=$1 family=$2
    shift 2
    "$cloister" run "$family" "$data" --no-ledger -q -o "$name.json" "$@"
    "$cloister" report "$name.json" -o "$name.html"
}

data=four.csv
"$cloister" generate mixture --rows 4000 --cols 4 --clusters 3 --seed 1 -o "$data"
made centers kmeans --clusters 3 --epsilon 2 --norm 2
made auto kmeans --clusters auto --epsilon 4 --norm 2
made single kmeans --clusters 1 --epsilon 1 --norm 2
made kmedian kmedian --clusters 3 --epsilon 4 --norm 2
made subspace subspace --dim 2 --epsilon 4 --norm 2
"$cloister" run kmeans "$data" --clusters 3 --epsilon 1 --norm 2 --no-ledger --seed 1 -q \
    -o seeded.json 2>/dev/null
"$cloister" report seeded.json -o seeded.html
for of in columns norm; do
    "$cloister" bounds "$data" --of "$of" --epsilon 2 --norm 9 --no-ledger -q --json >"$of.json"
    "$cloister" report "$of.json" -o "$of.html"
done
"$cloister" report --compare centers.json kmedian.json -o compared.html

data=many.csv
"$cloister" generate mixture --rows 8000 --cols 6 --clusters 64 --seed 1 -o "$data"
made many kmeans/lloyd --clusters 64 --epsilon 8 --norm 2
data=fifty.csv
"$cloister" generate mixture --rows 4000 --cols 50 --clusters 10 --seed 1 -o "$data"
made fifty kmeans/lloyd --clusters 10 --epsilon 8 --norm 2
data=wide.csv
"$cloister" generate mixture --rows 300 --cols 10000 --clusters 10 --seed 1 -o "$data"
made wide kmeans/lloyd --clusters 10 --epsilon 8 --norm 2
data=flats.csv
"$cloister" generate subspaces --rows 4000 --cols 12 --clusters 4 --dim 2 --seed 1 -o "$data"
made subspaces subspaces --clusters 4 --dim 2 --epsilon 8 --norm 2

# Names that would do harm, in the place of the four that there are.
python3 - <<'END'
import json
release = json.load(open("centers.json", encoding="utf-8"))
release["domain"]["columns"] = ["</svg><script>alert(1)</script>", "\" onload=\"x' & <b>",
                                "\u202eevil\u200f \u0001 \u05e9\u05dc\u05d5\u05dd", "N" * 10000]
json.dump(release, open("hostile.json", "w", encoding="utf-8"))
END
"$cloister" report hostile.json -o hostile.html

"$cloister" ledger init books.db --dataset four --epsilon 3 --delta 1e-5 >/dev/null
for epsilon in 0.3 0.5 0.2; do
    "$cloister" run kmeans four.csv --clusters 3 --epsilon "$epsilon" --norm 2 --ledger books.db \
        --dataset four -q -y -o paid.json --purpose "a study of four columns, no. $epsilon"
done
"$cloister" ledger lower books.db --dataset four --epsilon 2.5 --delta 1e-5 \
    --note "decision of the board, 3 May" >/dev/null
"$cloister" ledger expire books.db --dataset four --on 2099-12-31 \
    --note "end of the study" >/dev/null
"$cloister" ledger report books.db -o books.html
"$cloister" report paid.json -o paid.html --ledger books.db --dataset four
"$cloister" plan kmeans --clusters 4 --epsilon 1 --rows 5000 --cols 10 --norm 1 -o plan.html
"$cloister" plan kmeans --clusters 40 --epsilon 0.1 --rows 500 --cols 10 --norm 1 -o hidden.html

node "$root/tests/look/look.mjs" "$root/build/node_modules" seen ./*.html
