# Bad input

Files, places and numbers that a run cannot take.  `refused` sees to it that none of them costs
anything or leaves anything behind.

## A bad cell where it must be refused

  $ sample; ledger
  $ printf 'a,b\n1,2\n3,secret\n5,6\n' > cell.csv
  $ refused cloister run kmeans cell.csv --clusters 2 --epsilon 1 --norm 1 --ledger l.db \
  >     --dataset sample.csv -o out.json --missing refuse
  ! cloister: cell.csv, line 3, column 2 ('b'): not a finite number, and missing cells are refused
  [exit 3]

## A column of text

It would leave no record that counts, and the budget would be spent on noise.

  $ sample; ledger
  $ printf 'carat,cut,the color,price\n0.2,Fair,E,300\n0.3,Good,D,NA\n0.5,Good,x,7\n' > d.csv
  $ refused cloister run kmeans d.csv --clusters 2 --epsilon 1 --norm 1 --ledger l.db \
  >     --dataset sample.csv -o out.json
  ! cloister: d.csv: columns 'cut' and 'the color' are text: leave them out
  ! try: --columns -cut,-3
  [exit 3]
  $ refused cloister run kmeans d.csv --clusters 2 --epsilon 1 --norm 1 --ledger l.db \
  >     --dataset sample.csv -o out.json --columns carat,cut
  ! cloister: d.csv: column 'cut' is text: leave it out
  ! try: --columns carat,cut,-cut
  [exit 3]
  $ refused cloister run kmeans d.csv --clusters 2 --epsilon 1 --norm 1 --ledger l.db \
  >     --dataset sample.csv -o out.json --columns cut,3
  ! cloister: d.csv: columns 'cut' and 'the color' are text, and there is no other column: a run needs columns of numbers
  [exit 3]
  $ cloister run kmeans d.csv --clusters 2 --epsilon 1 --norm 1 --no-ledger -q -o ok.json \
  >     --columns -cut,-3
  ! warning: noise hides 2 clusters in 3 rows at epsilon 1: that needs epsilon 8.4, or 26 rows
  $ cloister run kmeans d.csv --clusters 2 --epsilon 1 --norm 1 --no-ledger -q -o ok.json \
  >     --text-columns missing
  ! warning: noise hides 2 clusters in 3 rows at epsilon 1: that needs 150 rows

## A decimal comma

  $ sample; ledger
  $ printf 'a;b\n1,5;2\n2,5;3\n' > german.csv
  $ refused cloister run kmeans german.csv --clusters 2 --epsilon 1 --norm 1 --ledger l.db \
  >     --dataset sample.csv -o out.json
  ! cloister: german.csv, column 'a': numbers with a decimal comma: state it
  ! try: --decimal ,
  [exit 3]
  $ refused cloister run kmeans german.csv --clusters 2 --epsilon 1 --norm 1 --ledger l.db \
  >     --dataset sample.csv -o out.json --decimal , --delimiter ,
  ! cloister: the comma cannot be both the decimal mark and the delimiter: choose another delimiter
  [exit 2]
  $ cloister run kmeans german.csv --clusters 2 --epsilon 1 --norm 1 --no-ledger -q -o ok.json \
  >     --decimal ,
  ! warning: noise hides 2 clusters in 2 rows at epsilon 1: that needs 26 rows

## Thousands, currency and gaps

  $ sample; ledger
  $ printf 'a,price\n1,"1,234"\n2,"2,345"\n3,999\n' > london.csv
  $ printf "a,price\n1,1'234\n2,2'345\n3,999\n" > bern.csv
  $ printf 'a;price\n1;1,234\n2;2,345\n3;999\n' > either.csv
  $ printf 'a,share\n1,12%%\n2,$3\n' > signs.csv
  $ printf 'a,b,c\n1,,3\n2,,4\n' > empty.csv
  $ printf 'a,b\n1,\n,3\n' > gaps.csv
  $ for file in london bern either signs empty gaps; do
  >     refused cloister run kmeans $file.csv --clusters 2 --epsilon 1 --norm 1 --ledger l.db \
  >         --dataset sample.csv -o out.json
  > done
  ! cloister: london.csv, column 'price': a comma before three digits, which may separate thousands: save the numbers without it
  ! cloister: bern.csv, column 'price': numbers with separated thousands: save them without the separators
  ! cloister: either.csv, column 'price': a comma before three digits, which may separate thousands or be a decimal mark: save the numbers without it, or state that it is one
  ! try: --decimal ,
  ! cloister: signs.csv, column 'share': numbers with a sign of percent or currency, a long minus or brackets: save plain numbers, such as -5
  ! cloister: empty.csv: column 'b' is empty or not finite in every row: leave it out
  ! try: --columns -b
  ! cloister: gaps.csv: more than nine in ten rows have a missing cell and would be ignored: leave out the columns with missing cells (--columns), or fill them
  ! try: --missing fill
  [exit 3]

## Files of other programs that look like CSV

  $ sample; ledger
  $ printf '"a" "b"\n"1" 1 2\n"2" 3 4\n' > r.csv
  $ printf '# prices, from the bank\ndate,a\n1,2\n' > remark.csv
  $ printf 'a,b\n1,2\n' | iconv -t UTF-16LE > wide.csv
  $ printf 'year,1960,1961\n1,2,3\n' > years.csv
  $ printf 'Prices of 2020, in euro\na,b,c,d\n1,2,3,4\n' > title.csv
  $ printf 'a,b\n1,2\n1,2,3\n' > comma.csv
  $ for file in r remark wide years title comma; do
  >     refused cloister run kmeans $file.csv --clusters 2 --epsilon 1 --norm 1 --ledger l.db \
  >         --dataset sample.csv -o out.json
  > done
  ! cloister: r.csv, line 2: 3 cells instead of 2, as on the first line: if the header lacks a name (R writes row names without one), add it in front; if lines end with one delimiter too many, remove it
  ! cloister: remark.csv: the first line begins with #, so it may be a comment: remove it, or state that it is the header
  ! try: --header yes
  ! cloister: wide.csv is UTF-16 text; save it as UTF-8
  ! cloister: years.csv: the first line has numbers and text, so it may be a header or a record: state which
  ! try: --header yes or no
  ! cloister: title.csv, line 2: 4 cells instead of 2, as on the first line: if the first line is a title, remove it
  ! cloister: comma.csv, line 3: 3 cells instead of 2, as on the first line: a cell that contains the delimiter must be in quotes
  [exit 3]
  $ printf '# a,b\n1,2\n' > numpy.csv
  $ cloister inspect numpy.csv --header yes 2> /dev/null | head -n 4
  numpy.csv: csv, cells separated by a comma, a header, 1 row, 2 columns

          column  holds          missing  a run
       1  # a     numbers           none  uses it

## A fill that means nothing

  $ sample; ledger
  $ for fill in x1 x1=a height=3 1=2,; do
  >     refused cloister run kmeans sample.csv --clusters 2 --epsilon 1 --norm 1 --ledger l.db \
  >         --dataset sample.csv -o out.json --missing fill --fill "$fill"
  > done
  ! cloister: fill must be a number, or column=number between commas, such as age=40,income=0; this is not: x1
  ! cloister: fill must be a number, or column=number between commas, such as age=40,income=0; this is not: x1=a
  ! cloister: sample.csv has no column 'height'; it has 'x1', 'x2'
  ! cloister: fill must be a number, or column=number between commas, such as age=40,income=0; this is not: 1=2,
  [exit 2]
  $ refused cloister run kmeans sample.csv --clusters 2 --epsilon 1 --norm 1 --ledger l.db \
  >     --dataset sample.csv -o out.json --fill x1=2
  ! cloister: fill values need missing=fill
  ! try: --missing fill
  [exit 2]

## Files of other programs

  $ sample; ledger
  $ echo '[{"a": 1}]' > a.json
  $ printf 'PAR1' > a.parquet
  $ printf 'ARROW1' > a.feather
  $ printf 'PK\003\004' > a.xlsx
  $ printf 'BZh91' > a.bz2
  $ gzip -c sample.csv | head -c 900 > a.csv.gz
  $ for file in a.json a.parquet a.feather a.xlsx a.bz2 a.csv.gz; do
  >     refused cloister run kmeans $file --clusters 2 --epsilon 1 --norm 1 --ledger l.db \
  >         --dataset sample.csv -o out.json
  > done
  ! cloister: a.json is JSON; save one table of it as CSV or NPY
  ! cloister: a.parquet is a Parquet file; save one table of it as CSV or NPY
  ! cloister: a.feather is an Arrow (Feather) file; save one table of it as CSV or NPY
  ! cloister: a.xlsx is a zip archive (XLSX, NPZ, ODS); save one table of it as CSV or NPY
  ! cloister: a.bz2 is compressed with bzip2; unpack it, or pack it with gzip or zstd
  ! cloister: a.csv.gz is incomplete: its compressed data end too early
  [exit 3]

## A folder for a file

  $ sample; ledger
  $ mkdir folder
  $ refused cloister run kmeans folder --clusters 2 --epsilon 1 --norm 1 --ledger l.db \
  >     --dataset sample.csv -o out.json
  ! cloister: folder cannot be read: Is a directory
  [exit 4]

## A full disk

  $ cloister methods > /dev/full
  ! cloister: cannot write to standard output: No space left on device
  [exit 4]

## A header and no rows

  $ sample; ledger
  $ echo x1,x2 > bare.csv
  $ refused cloister run kmeans bare.csv --clusters 2 --epsilon 1 --norm 1 --ledger l.db \
  >     --dataset sample.csv -o out.json
  ! cloister: bare.csv has no rows
  [exit 3]

## A ledger in no folder

  $ touch file
  $ cloister ledger init file/l.db --dataset sample.csv --epsilon 1
  ! cloister: the ledger file/l.db cannot be created: Not a directory; name another place
  [exit 6]

## A ledger that is a folder

  $ sample
  $ mkdir book
  $ refused cloister run kmeans sample.csv --clusters 2 --epsilon 1 --norm 1 --ledger book \
  >     -o out.json
  ! cloister: book is not an ordinary file, so it cannot be a ledger: choose another file
  [exit 6]

## A ledger that is something else

  $ sample
  $ echo "dear diary" > diary
  $ refused cloister run kmeans sample.csv --clusters 2 --epsilon 1 --norm 1 --ledger diary \
  >     -o out.json
  ! cloister: diary is not a ledger: name another file, or, if it was one, restore it from a backup
  [exit 6]

## A missing column

  $ sample; ledger
  $ refused cloister run kmeans sample.csv --clusters 2 --epsilon 1 --norm 1 --ledger l.db \
  >     --dataset sample.csv -o out.json --columns x1,weight
  ! cloister: sample.csv has no column 'weight'; it has 'x1', 'x2'
  [exit 2]

## A missing file

  $ sample; ledger
  $ refused cloister run kmeans nothing.csv --clusters 2 --epsilon 1 --norm 1 --ledger l.db \
  >     --dataset sample.csv -o out.json
  ! cloister: nothing.csv cannot be read: No such file or directory
  [exit 4]

## A negative epsilon

  $ sample; ledger
  $ refused cloister run kmeans sample.csv --clusters 2 --epsilon -1 --norm 1 --ledger l.db \
  >     -o out.json
  ! cloister: --epsilon must be a number greater than 0, not '-1'
  [exit 2]

## A ragged CSV

  $ sample; ledger
  $ printf 'a,b\n1,2\n3\n5,6\n' > ragged.csv
  $ refused cloister run kmeans ragged.csv --clusters 2 --epsilon 1 --norm 1 --ledger l.db \
  >     --dataset sample.csv -o out.json
  ! cloister: ragged.csv, line 3: 1 cell instead of 2, as on the first line
  [exit 3]

## An empty cell where it must be refused

  $ sample; ledger
  $ printf 'a,b\n1,2\n3,4\n,6\n' > cell.csv
  $ refused cloister run kmeans cell.csv --clusters 2 --epsilon 1 --norm 1 --ledger l.db \
  >     --dataset sample.csv -o out.json --missing refuse
  ! cloister: cell.csv, line 4, column 1 ('a'): not a finite number, and missing cells are refused
  [exit 3]

## An empty file

  $ sample; ledger
  $ : > empty.csv
  $ refused cloister run kmeans empty.csv --clusters 2 --epsilon 1 --norm 1 --ledger l.db \
  >     --dataset sample.csv -o out.json
  ! cloister: empty.csv is empty
  [exit 3]

## An NPY of objects

  $ sample; ledger
  $ {
  >     printf '\223NUMPY\001\000\166\000'
  >     printf '%-117s\n' "{'descr': '|O', 'fortran_order': False, 'shape': (1, 3), }"
  >     head -c 24 /dev/zero
  > } > objects.npy
  $ refused cloister run kmeans objects.npy --clusters 2 --epsilon 1 --norm 1 --ledger l.db \
  >     --dataset sample.csv -o out.json
  ! cloister: objects.npy holds Python objects, which cloister does not read: save it as float64
  [exit 3]

## An NPY with a lying header

  $ sample; ledger
  $ {
  >     printf '\223NUMPY\001\000\166\000'
  >     printf '%-117s\n' "{'descr': '<f8', 'fortran_order': False, 'shape': (1000, 3), }"
  >     head -c 24 /dev/zero
  > } > lying.npy
  $ refused cloister run kmeans lying.npy --clusters 2 --epsilon 1 --norm 1 --ledger l.db \
  >     --dataset sample.csv -o out.json
  ! cloister: lying.npy is shorter than its header says: 1000 x 3 cells of 8 bytes
  [exit 3]

## An output in no folder

  $ sample; ledger
  $ refused cloister run kmeans sample.csv --clusters 2 --epsilon 1 --norm 1 --ledger l.db \
  >     -o nowhere/out.json
  ! cloister: nowhere/out.json cannot be written: No such file or directory
  [exit 4]

## An output that is a folder

  $ sample; ledger
  $ mkdir release
  $ refused cloister run kmeans sample.csv --clusters 2 --epsilon 1 --norm 1 --ledger l.db \
  >     -o release
  ! cloister: release cannot be written: Is a directory
  [exit 4]

## No clusters

  $ sample; ledger
  $ refused cloister run kmeans sample.csv --clusters 0 --epsilon 1 --norm 1 --ledger l.db \
  >     -o out.json
  ! cloister: clusters must be between 1 and 1024, not 0
  [exit 2]

## Text that is not UTF-8, and old line ends

  $ sample; ledger
  $ printf 'a,b\r1,2\r3,4\r' > cr.csv
  $ printf 'a,b\n1,2\n' | iconv -f UTF-8 -t UTF-32 > wide.csv
  $ for file in cr.csv wide.csv; do refused cloister run kmeans $file --clusters 1 --epsilon 1 \
  >     --norm 1 --ledger l.db --dataset sample.csv; done
  ! cloister: cr.csv has the line ends of an old Mac (carriage returns); save it with line feeds
  ! cloister: wide.csv is UTF-32 text; save it as UTF-8
  [exit 3]
  $ gzip -k cr.csv; refused cloister run kmeans cr.csv.gz --clusters 1 --epsilon 1 --norm 1 \
  >     --ledger l.db --dataset sample.csv
  ! cloister: cr.csv.gz has the line ends of an old Mac (carriage returns); save it with line feeds
  [exit 3]
  $ refused cloister run kmeans - --clusters 1 --epsilon 1 --norm 1 --ledger l.db \
  >     --dataset sample.csv < cr.csv
  ! cloister: standard input has the line ends of an old Mac (carriage returns); save it with line feeds
  [exit 3]

## Bounds, policies and JSON that are not UTF-8, or have old line ends

  $ sample; ledger
  $ printf 'a,0,1\rb,0,1\r' > cr.csv
  $ printf 'a,0,1\nb,0,1\n' > good.csv
  $ iconv -f UTF-8 -t UTF-16 good.csv > wide.csv
  $ iconv -f UTF-8 -t UTF-16LE good.csv > unmarked.csv
  $ iconv -f UTF-8 -t UTF-32BE good.csv > wider.csv
  $ for file in cr.csv wide.csv unmarked.csv wider.csv; do refused cloister run kmeans sample.csv \
  >     --clusters 1 --epsilon 1 --bounds $file --ledger l.db; done
  ! cloister: cr.csv has the line ends of an old Mac (carriage returns); save it with line feeds
  ! cloister: wide.csv is UTF-16 text; save it as UTF-8
  ! cloister: unmarked.csv is UTF-16 text; save it as UTF-8
  ! cloister: wider.csv is UTF-32 text; save it as UTF-8
  [exit 3]
  $ cloister run kmeans/lloyd sample.csv --clusters 1 --epsilon 1 --norm 2 --ledger l.db -q \
  >     -o r.json
  $ cloister solve kmeans sample.csv --clusters 2 --seed s -q -o s.json
  ! warning: not private: for those who may see the data
  $ for file in r.json s.json; do for how in UTF-16 UTF-16BE UTF-32LE; do
  >     iconv -f UTF-8 -t $how $file > wide.json; cloister report wide.json
  >     cloister evaluate wide.json sample.csv; done; done
  ! cloister: wide.json: this is UTF-16 text; save it as UTF-8
  ! cloister: wide.json: this is UTF-16 text; save it as UTF-8
  ! cloister: wide.json: this is UTF-16 text; save it as UTF-8
  ! cloister: wide.json: this is UTF-16 text; save it as UTF-8
  ! cloister: wide.json: this is UTF-32 text; save it as UTF-8
  ! cloister: wide.json: this is UTF-32 text; save it as UTF-8
  ! cloister: wide.json: this is UTF-16 text; save it as UTF-8
  ! cloister: wide.json: this is UTF-16 text; save it as UTF-8
  ! cloister: wide.json: this is UTF-16 text; save it as UTF-8
  ! cloister: wide.json: this is UTF-16 text; save it as UTF-8
  ! cloister: wide.json: this is UTF-32 text; save it as UTF-8
  ! cloister: wide.json: this is UTF-32 text; save it as UTF-8
  [exit 3]
  $ iconv -f UTF-8 -t UTF-16LE s.json > wide.json
  $ cloister solve kmeans sample.csv --clusters 2 --start wide.json
  ! cloister: wide.json: this is UTF-16 text; save it as UTF-8
  [exit 3]
  $ (printf '\357\273\277'; cat s.json) > marked.json
  $ cloister solve kmeans sample.csv --clusters 2 --start marked.json
  ! cloister: marked.json: this begins with a byte order mark; save it as UTF-8 without one
  [exit 3]
  $ cloister draw wide.json
  ! cloister: this is UTF-16 text; save it as UTF-8
  [exit 3]
  $ cloister ledger check wide.json l.db
  ! cloister: wide.json: this is UTF-16 text; save it as UTF-8
  [exit 3]
  $ tr '\n' '\r' < s.json > cr.json
  $ cloister solve kmeans sample.csv --clusters 2 --start cr.json -q -o /dev/null
  ! warning: not private: for those who may see the data
  $ printf '[broker]\rledger = %s/l.db\r' $PWD > policy; chmod 600 policy
  $ cloister serve --policy policy --check
  ! cloister: the policy has the line ends of an old Mac (carriage returns); save it with line feeds
  [exit 3]
  $ printf '[broker]\nledger = %s/l.db\n' $PWD | iconv -f UTF-8 -t UTF-16 > policy
  $ cloister serve --policy policy --check
  ! cloister: the policy is UTF-16 text; save it as UTF-8
  [exit 3]
  $ printf '\357\273\277[broker]\nledger = %s/l.db\n' $PWD > policy
  $ cloister serve --policy policy --check
  ! cloister: the policy needs at least one [dataset NAME] and one [analyst NAME]
  [exit 3]
  $ cloister ledger export l.db > export.json; sed 's/$/\r/' export.json > changed.json
  $ cloister ledger check export.json l.db
  export.json: an export of a ledger, unchanged since it was signed
  $ cloister ledger check changed.json l.db
  ! cloister: changed.json: it was changed after it was signed, or another key has signed it
  [exit 9]

## An output that would overwrite an input

  $ sample; ledger
  $ printf -- '-2,2\n-2,2\n' > b.csv; cp b.csv kept.csv
  $ refused cloister run kmeans/grid sample.csv --clusters 1 --epsilon 1 --bounds b.csv \
  >     --ledger l.db -o ./b.csv
  ! cloister: --output ./b.csv would overwrite the file of --bounds
  [exit 2]
  $ cloister run kmeans/density sample.csv --clusters 3 --epsilon 1 --norm 2 --ledger l.db -q \
  >     -o r.json
  $ cp r.json kept.json
  $ cloister solve kmeans sample.csv --clusters 2 --seed s -q -o s.json 2> /dev/null
  $ cp s.json kept.s.json; cp sample.csv kept.sample.csv
  $ cloister solve kmeans sample.csv --clusters 2 --start s.json -o s.json
  ! cloister: --output s.json would overwrite the file of --start
  [exit 2]
  $ cloister solve kmeans sample.csv --clusters 2 -o sample.csv
  ! cloister: --output sample.csv would overwrite sample.csv, which is read here
  [exit 2]
  $ cloister solve kmeans sample.csv --clusters 2 --labels out --flats-file out
  ! cloister: --labels and --flats-file name the same file, out
  [exit 2]
  $ cloister assign r.json sample.csv -o sample.csv
  ! cloister: --output sample.csv would overwrite sample.csv, which is read here
  [exit 2]
  $ cloister assign r.json sample.csv -o r.json
  ! cloister: --output r.json would overwrite r.json, which is read here
  [exit 2]
  $ cloister cut r.json --clusters 2 -o r.json
  ! cloister: --output r.json would overwrite r.json, which is read here
  [exit 2]
  $ cloister generate --from r.json --rows 10 --seed s -o r.json
  ! cloister: --output r.json would overwrite the file of --from
  [exit 2]
  $ cloister generate mixture --rows 9 --cols 2 --clusters 3 --seed s -o out --labels out
  ! cloister: --output and --labels name the same file, out
  [exit 2]
  $ cloister sweep sample.csv kmeans/grid:clusters=2 --epsilon 1 --norm 2 --seeds 1 -o sample.csv
  ! cloister: --output sample.csv would overwrite sample.csv, which is read here
  [exit 2]
  $ cmp b.csv kept.csv; cmp r.json kept.json; cmp s.json kept.s.json; cmp sample.csv kept.sample.csv

## A column of infinite numbers

  $ sample; ledger
  $ printf 'a,b\n1,inf\n2,1e999\n3,-inf\n' > inf.csv
  $ refused cloister run kmeans inf.csv --clusters 1 --epsilon 1 --norm 1 --ledger l.db \
  >     --dataset sample.csv
  ! cloister: inf.csv: column 'b' is empty or not finite in every row: leave it out
  ! try: --columns -b
  [exit 3]

## What a message quotes is UTF-8, and moves no cursor

  $ sample; ledger
  $ name=$(printf 'x\377\302\233y\033')
  $ refused cloister run kmeans "$name" --clusters 1 --epsilon 1 --norm 1 --ledger l.db \
  >     --dataset sample.csv
  ! cloister: x???y? cannot be read: No such file or directory
  [exit 4]
  $ refused cloister run "$name" sample.csv
  ! cloister: there is no method 'x??y?'
  ! try: cloister methods
  [exit 2]
  $ cloister "$name"
  ! cloister: there is no command 'x??y?'
  ! try: cloister help
  [exit 2]
  $ cloister inspect "$name"
  ! cloister: x???y? cannot be read: No such file or directory
  [exit 4]
  $ cloister evaluate "$name" sample.csv
  ! cloister: x???y? cannot be read: No such file or directory
  [exit 4]
  $ cloister plan kmeans --epsilon "$name"
  ! cloister: --epsilon must be a number greater than 0, not 'x??y?'
  [exit 2]
  $ cloister ledger show "$name"
  ! cloister: there is no ledger at x???y?: make one with cloister ledger init
  [exit 6]
  $ cloister run kmeans sample.csv --clusters 2 --epsilon 9 --norm 1 --no-ledger -q -o "$name"
  $ cloister report "$name" -o r.html
  $ cp sample.csv "$name.csv"
  $ cloister inspect "$name.csv" 2>&1 | grep rows
  x??y?.csv: csv, cells separated by a comma, a header, 300 rows, 2 columns
  $ cloister ledger init "$name.db" --dataset sample.csv --epsilon 1
  x??y?.db is closed: it refuses runs on data sets that are not declared in it
  'sample.csv' in x??y?.db: at most epsilon 1, delta 1e-6 may ever be spent on it
  $ cloister ledger verify "$name.db"; cloister ledger backup "$name.db" -o "$name.copy"
  x??y?.db: unchanged; 0 charges, and every hash is correct
  x??y?.copy: a complete copy of x??y?.db, and every hash is correct
  $ cloister ledger move "$name.db" --to "$name.new"
  x??y?.db is at x??y?.new now

## A header of 20,000 names

  $ seq -s , -f GENE_%g 20000 > genes.csv
  $ for r in 1 2 3; do seq -s , 20000 | sed "s/[0-9]*/0.$r/g" >> genes.csv; done
  $ cloister run kmeans genes.csv --columns GENE_7,GENE_20000 --clusters 1 --epsilon 9 --norm 1 \
  >     --no-ledger -q --json | grep GENE
      "columns": ["GENE_7", "GENE_20000"],

## A name that no result can have

  $ sample; ledger; mkdir folder
  $ long=$(printf '%0256d' 0)
  $ try() { refused cloister run kmeans sample.csv --clusters 2 --epsilon 1 --norm 1 --ledger l.db \
  >     "$@"; }
  $ try -o ''
  ! cloister: no file was given: the name is empty
  [exit 2]
  $ try -o "$long" 2>&1 | sed 's/0000*/000/'
  cloister: 000 cannot be written: File name too long
  $ for end in -journal -wal -shm .rekeying .restoring; do
  >     try -o l.db$end; try -o folder/../l.db$end; done
  ! cloister: l.db-journal cannot be written: it is a part of a ledger
  ! cloister: folder/../l.db-journal cannot be written: it is a part of a ledger
  ! cloister: l.db-wal cannot be written: it is a part of a ledger
  ! cloister: folder/../l.db-wal cannot be written: it is a part of a ledger
  ! cloister: l.db-shm cannot be written: it is a part of a ledger
  ! cloister: folder/../l.db-shm cannot be written: it is a part of a ledger
  ! cloister: l.db.rekeying cannot be written: it is a part of a ledger
  ! cloister: folder/../l.db.rekeying cannot be written: it is a part of a ledger
  ! cloister: l.db.restoring cannot be written: it is a part of a ledger
  ! cloister: folder/../l.db.restoring cannot be written: it is a part of a ledger
  [exit 4]
  $ config=${XDG_CONFIG_HOME:-$HOME/.config}/cloister
  $ for to in "$config/ledger.key" "$config/new" "$config"/anchors/*; do
  >     try -o "$to"; done 2>&1 | sed "s|$config|CONFIG|; s|anchors/.* can|anchors/… can|"
  cloister: CONFIG/ledger.key cannot be written: the key and the anchors of the ledger are in this folder
  cloister: CONFIG/new cannot be written: the key and the anchors of the ledger are in this folder
  cloister: CONFIG/anchors/{{…}} cannot be written: the key and the anchors of the ledger are in this folder
  $ cloister run kmeans sample.csv --clusters 2 --epsilon 9 --norm 1 --no-ledger -q -o r.json
  $ for to in '' "$long" l.db-journal "$config/ledger.key"; do
  >     cloister report r.json -o "$to"; cloister assign r.json sample.csv -o "$to"
  >     cloister solve kmeans sample.csv --clusters 2 -o "$to"
  >     cloister plan kmeans --cols 2 --rows 9 --clusters 2 --epsilon 1 --norm 1 -o "$to"
  >     cloister generate mixture --rows 9 --cols 2 --clusters 2 -o "$to"
  >     cloister ledger report l.db -o "$to"
  > done 2>&1 | sed "s/0000*/000/; s|$config|CONFIG|" | sort | uniq -c | sed 's/^ *//'
  6 cloister: 000 cannot be written: File name too long
  6 cloister: CONFIG/ledger.key cannot be written: the key and the anchors of the ledger are in this folder
  6 cloister: l.db-journal cannot be written: it is a part of a ledger
  6 cloister: no file was given: the name is empty
  4 warning: not private: for the operator only
  $ ls
  folder
  l.db
  r.json
  sample.csv
  truth.csv

## What a killed run has left beside its result goes away with the next one

  $ sample; sleep 600 & echo $! > alive
  $ touch .r.json.999999999.cloister-part ".r.json.$(cat alive).cloister-part" .x.999999999.part
  $ cloister run kmeans sample.csv --clusters 2 --epsilon 9 --norm 1 --no-ledger -q -o r.json
  $ ls -A | sed "s/$(cat alive)/ALIVE/"; kill "$(cat alive)"
  .r.json.ALIVE.cloister-part
  .x.999999999.part
  alive
  r.json
  sample.csv
  truth.csv

## An epsilon of which not all is used

  $ cloister plan kmeans --cols 2 --rows 900 --clusters 2 --epsilon 1e300 --norm 1 |
  >     grep -A 3 chosen
    chosen      of 6 suitable methods, density has the smallest expected error:
                0.00209 (local: 0.00216); only epsilon 300 is used and charged,
                because more would hardly change the result
    charged     epsilon 300, delta 1e-6
  $ sample; cloister run kmeans sample.csv --clusters 2 --epsilon 1e300 --norm 1 --no-ledger \
  >     -o r.json
  ! warning: only 300 of epsilon 1e300 is used and charged: a larger one would hardly change the result
  ! warning: epsilon 300 hides hardly anything about a person; 1 is usual: see docs/guides/choose-epsilon.md
  ! kmeans/density on 'sample.csv': epsilon 300, delta 1e-6, hides the values of a record
  !   expects centers off by about ± 0.0017 in each column; moves records farther than 1 from the origin to distance 1
  ! wrote 'r.json'; no ledger was charged
