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
  ! cloister: d.csv: columns 'cut' and 'the color' are text: choose the columns, or leave them out (columns -cut,-3)
  ! try: --columns -cut,-3
  [exit 3]
  $ refused cloister run kmeans d.csv --clusters 2 --epsilon 1 --norm 1 --ledger l.db \
  >     --dataset sample.csv -o out.json --columns carat,cut
  ! cloister: d.csv: column 'cut' is text: choose the columns, or leave it out (columns -cut)
  ! try: --columns carat,cut,-cut
  [exit 3]
  $ refused cloister run kmeans d.csv --clusters 2 --epsilon 1 --norm 1 --ledger l.db \
  >     --dataset sample.csv -o out.json --columns cut,3
  ! cloister: d.csv: columns 'cut' and 'the color' are text, and no other is left: a run needs columns of numbers
  [exit 3]
  $ cloister run kmeans d.csv --clusters 2 --epsilon 1 --norm 1 --no-ledger -q -o ok.json \
  >     --columns -cut,-3
  ! warning: noise hides 2 clusters in 3 rows at epsilon 1: that needs epsilon 8.4, or 26 rows
  $ cloister run kmeans d.csv --clusters 2 --epsilon 1 --norm 1 --no-ledger -q -o ok.json \
  >     --text-columns missing
  ! warning: noise hides 2 clusters in 3 rows at epsilon 1: that needs epsilon 94, or 130 rows

## A decimal comma

  $ sample; ledger
  $ printf 'a;b\n1,5;2\n2,5;3\n' > german.csv
  $ refused cloister run kmeans german.csv --clusters 2 --epsilon 1 --norm 1 --ledger l.db \
  >     --dataset sample.csv -o out.json
  ! cloister: german.csv, column 'a': numbers with a decimal comma: say so (decimal ,)
  ! try: --decimal ,
  [exit 3]
  $ refused cloister run kmeans german.csv --clusters 2 --epsilon 1 --norm 1 --ledger l.db \
  >     --dataset sample.csv -o out.json --decimal , --delimiter ,
  ! cloister: the comma cannot be both the decimal mark and the delimiter
  [exit 2]
  $ cloister run kmeans german.csv --clusters 2 --epsilon 1 --norm 1 --no-ledger -q -o ok.json \
  >     --decimal ,
  ! warning: noise hides 2 clusters in 2 rows at epsilon 1: that needs epsilon 13, or 26 rows

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
  ! cloister: either.csv, column 'price': a comma before three digits, which may separate thousands or be a decimal mark: save the numbers without it, or say that it is one (decimal ,)
  ! try: --decimal ,
  ! cloister: signs.csv, column 'share': numbers with a sign of percent or currency, a long minus or brackets: save plain numbers, such as -5
  ! cloister: empty.csv: column 'b' is empty in every row: choose the columns, or leave it out (columns -b)
  ! try: --columns -b
  ! cloister: gaps.csv: more than nine in ten rows have a missing cell in the columns that would be used, and count for nothing: leave out columns with many gaps (columns), take it so (text-columns missing), or fill the cells (missing fill)
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
  ! cloister: r.csv, line 2: 2 cells were expected, as on the first line, and 3 found: if the header lacks a name, as where R writes the names of rows, put one in front of it; if lines end with a delimiter too many, take that out
  ! cloister: remark.csv: the first line begins with #, so that it may be a remark: take it out, or say that it is the header (header yes)
  ! try: --header yes
  ! cloister: wide.csv holds bytes that no text has (UTF-16, or another program's format); save one table of it as CSV in UTF-8, or as NPY
  ! cloister: years.csv: the first line is partly numbers and partly text, so that it may be a header or a record: say which (header yes or no)
  ! try: --header yes or no
  ! cloister: title.csv, line 2: 2 cells were expected, as on the first line, and 4 found: if the first line is neither a header nor a record, but a title, take it out
  ! cloister: comma.csv, line 3: 2 cells were expected, as on the first line, and 3 found: a cell that holds the delimiter must be in quotes
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
  ! cloister: values to fill in need the rule for missing cells that fills (missing fill)
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
  ! cloister: a.csv.gz ends within its compressed bytes
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
  ! cloister: book is not a plain file, so it cannot be a ledger: name another place
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
  ! cloister: ragged.csv, line 3: 2 cells were expected, as on the first line, and 1 found
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
  ! cloister: objects.npy holds Python objects, which are never unpacked: save it as float64
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
