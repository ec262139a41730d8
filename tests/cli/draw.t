# Draw: curves of a JSON file

## Draws points where the numbers say, with their bars

  $ cat > curves.json <<'END'
  > {"schema": "cloister.curves/1", "machine": "any",
  >  "panels": [{"name": "loss", "title": "Loss <b>& co</b>", "x": {"name": "epsilon", "log": true},
  >              "y": {"name": "loss"},
  >              "curves": [{"name": "ours", "x": [0.1, 1, 10], "y": [3, 2, 1],
  >                          "error": [0.5, 0.1, 0]},
  >                         {"name": "theirs", "x": [0.1, 1], "y": [4, null]}]},
  >             {"name": "time", "title": "Time", "x": {"name": "rows"},
  >              "y": {"name": "s", "log": true},
  >              "curves": [{"name": "ours", "x": [1, 2], "y": [0.1, 100], "error": [1, 1]}]}]}
  > END
  $ cloister draw curves.json -o loss.svg
  $ grep -o 'data-line="[0-9]*" data-point="[0-9]*"' loss.svg
  data-line="0" data-point="0"
  data-line="0" data-point="1"
  data-line="0" data-point="2"
  data-line="1" data-point="0"
  $ grep -o 'class="noise c[0-9]"' loss.svg
  class="noise c0"
  class="noise c0"
  $ grep -o '<title>0.1: 3 ± 0.5</title>' loss.svg
  <title>0.1: 3 ± 0.5</title>
  $ grep -c '<b>' loss.svg
  0
  [exit 1]
  $ python3 -c 'import sys, xml.dom.minidom as m; m.parse("loss.svg")'

A bar that would leave a scale of logarithms ends at its foot.

  $ cloister draw curves.json --panel time | grep -o 'class="noise' | wc -l
  2
  $ cloister draw curves.json --panel time | grep -i -c 'nan\|inf'
  0
  [exit 1]

## Refuses what is no file of curves

  $ echo '{"schema": "cloister.release/1"}' > other.json
  $ cloister draw other.json -o x.svg
  ! cloister: this is not a file of curves: "schema" is not "cloister.curves/1"
  [exit 3]
  $ printf '{"schema": "cloister.curves/1", "panels": [{"name": "a", "title": "t",
  > "x": {"name": "x"}, "y": {"name": "y"},
  > "curves": [{"name": "c", "x": [1, 2], "y": [1]}]}]}' > short.json
  $ cloister draw short.json -o x.svg
  ! cloister: this is not a file of curves: the lists of a curve differ in length
  [exit 3]
  $ sed 's/\[1\]/[1, "2"]/' short.json > words.json
  $ cloister draw words.json -o x.svg
  ! cloister: this is not a file of curves: a curve holds something that is not a number
  [exit 3]
  $ sed 's/\[1\]/[1, 2]/' short.json > right.json
  $ cloister draw right.json --panel b
  ! cloister: there is no panel 'b'; the first is 'a'
  [exit 2]
  $ cloister draw right.json -o right.json
  ! cloister: -o right.json would overwrite the curves
  [exit 2]
  $ echo nonsense > bad.json
  $ cloister draw bad.json
  ! cloister: this is not JSON (line 1, column …)
  [exit 3]
  $ cloister draw nothing.json
  ! cloister: nothing.json cannot be read: No such file or directory
  [exit 4]
  $ ls x.svg 2> /dev/null
  [exit 2]
