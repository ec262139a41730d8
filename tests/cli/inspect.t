# Inspect: what a file holds, and what a run would take of it

Its answers are not private, and it says so each time.  It never says how large a number is.

## Says what the columns are

  $ printf 'id,carat,cut,price\n1,0.2,Fair,300\n2,,Good,NA\n3,0.5,,900\n' > diamonds.csv
  $ cloister inspect diamonds.csv
  diamonds.csv: csv, cells separated by a comma, a header, 3 rows, 4 columns

          column  holds          missing  a run
       1  id      numbers           none  uses it
       2  carat   numbers         33.3 %  uses it
       3  cut     text            33.3 %  refuses it
       4  price   numbers         33.3 %  uses it

  A run with these options would be refused, before anything is spent:
  diamonds.csv: column 'cut' is text: leave it out (columns -cut)

  What next:
  - Look again with: --columns -cut
  - To use categories and dates, state them in a schema:
    cloister schema draft diamonds.csv
  - By the name, 'id' holds row numbers or names. Leave it out: --columns
    -cut,-id. If a column names the person of a row, pass it to --unit.
  ! warning: not private: for the operator only

## Leaves columns out of those that were chosen

An option to copy stands on one line; where no column is left, there is none to try.

  $ printf 'identifier,the first name,second,third\n1,x,y,z\n2,x,y,z\n' > words.csv
  $ cloister inspect words.csv 2> /dev/null | sed -n '/What next/,$p'
  What next:
  - Look again with: --columns -2,-second,-third
  - To use categories and dates, state them in a schema:
    cloister schema draft words.csv
  - By the name, 'identifier' holds row numbers or names. Leave it out: --columns
    -2,-second,-third,-identifier. If a column names the person of a row, pass it
    to --unit.
  $ cloister inspect words.csv --columns 1,second 2> /dev/null | grep again
  - Look again with: --columns 1,second,-second
  $ cloister inspect words.csv --columns 2-4 2> /dev/null | grep 'no other column'
  words.csv: columns 'the first name', 'second' and 'third' are text, and there is no other column: a run needs columns of numbers
  $ printf 'a_long_name_of_a_column,another_long_name_of_a_column,a_third_name,x\na,b,c,1\n' > l.csv
  $ cloister inspect l.csv 2> /dev/null | grep -A 1 'Look again'
  - Look again with:
    --columns -a_long_name_of_a_column,-another_long_name_of_a_column,-a_third_name

## Says what a run would use

  $ printf 'id,carat,cut,price\n1,0.2,Fair,300\n2,,Good,NA\n3,0.5,,900\n' > diamonds.csv
  $ cloister inspect diamonds.csv --columns -id,-cut
  diamonds.csv: csv, cells separated by a comma, a header, 3 rows, 4 columns

          column  holds          missing  a run
       1  id      numbers           none  leaves it out
       2  carat   numbers         33.3 %  uses it
       3  cut     text            33.3 %  leaves it out
       4  price   numbers         33.3 %  uses it

  A run with these options uses 2 of 4 columns.  Rows with a missing cell in them: 1 of 3, which are ignored.

  What next:
  - Rows with a missing cell count for nothing. To keep them, leave out the
    columns with the missing cells, or fill these cells with a public value:
    --missing fill --fill COLUMN=VALUE.
  - Write a file of bounds, from general knowledge and never from this file: a
    line name,lower,upper per column, such as 'age,0,120'. 'cloister plan' then
    shows the cost and the expected error of a run.
  ! warning: not private: for the operator only
  $ cloister inspect diamonds.csv --columns price --unit id --missing fill
  diamonds.csv: csv, cells separated by a comma, a header, 3 rows, 4 columns

          column  holds          missing  a run
       1  id      unit              none  uses it as the person
       2  carat   numbers         33.3 %  leaves it out
       3  cut     text            33.3 %  leaves it out
       4  price   numbers         33.3 %  uses it

  A run with these options uses 1 of 4 columns.  Rows with a missing cell in them: 1 of 3, filled with public values.

  What next:
  - Write a file of bounds, from general knowledge and never from this file: a
    line name,lower,upper per column, such as 'age,0,120'. 'cloister plan' then
    shows the cost and the expected error of a run.
  ! warning: not private: for the operator only
  $ cloister inspect diamonds.csv --columns price --missing refuse 2> /dev/null | tail -n 2
  A run with these options would be refused, before anything is spent:
  some cells are missing, and missing is refuse

## Knows a decimal comma, and a file that is compressed

  $ printf 'a;b\n1,5;2\n2,5;3\n' | gzip > german.csv.gz
  $ cloister inspect german.csv.gz 2> /dev/null
  german.csv.gz: csv, compressed with gzip, cells separated by a semicolon, a header, 2 rows, 2 columns

          column  holds          missing  a run
       1  a       decimal mark   100.0 %  refuses it
       2  b       numbers           none  uses it

  A run with these options would be refused, before anything is spent:
  german.csv.gz, column 'a': numbers with a decimal comma: state it (decimal ,)

  What next:
  - Look again with: --decimal ,
  $ cloister inspect german.csv.gz --decimal , 2> /dev/null
  german.csv.gz: csv, compressed with gzip, cells separated by a semicolon, a header, 2 rows, 2 columns

          column  holds          missing  a run
       1  a       numbers           none  uses it
       2  b       numbers           none  uses it

  A run with these options uses 2 of 2 columns.  Rows with a missing cell in them: 0 of 2.

  What next:
  - Write a file of bounds, from general knowledge and never from this file: a
    line name,lower,upper per column, such as 'age,0,120'. 'cloister plan' then
    shows the cost and the expected error of a run.

## Finds columns that are nearly empty

  $ printf 'seats,speed\n1,2\n' > planes.csv
  $ for i in 1 2 3 4 5 6 7 8 9 10 11; do echo $i,; done >> planes.csv
  $ cloister inspect planes.csv 2> /dev/null | tail -n 6
  {{}}
  A run with these options would be refused, before anything is spent:
  planes.csv: more than nine in ten rows have a missing cell and would be ignored: leave out the columns with missing cells (columns), or fill them (missing fill)

  What next:
  - Look again without the columns that are missing in most rows: --columns -speed

## Reads other formats

  $ printf '1 1:2 3:nan\n-1 2:1\n' > words.svm
  $ cloister inspect words.svm --cols 3 2> /dev/null
  words.svm: libsvm, 2 rows, 3 columns

          column  holds          missing  a run
       1          numbers           none  uses it
       2          numbers           none  uses it
       3          numbers           none  uses it

  A run with these options uses 3 of 3 columns.  Rows with a missing cell in them: 1 of 2, which are ignored.

  What next:
  - Rows with a missing cell count for nothing. To keep them, leave out the
    columns with the missing cells, or fill these cells with a public value:
    --missing fill --fill COLUMN=VALUE.
  - Write a file of bounds, from general knowledge and never from this file: a
    line name,lower,upper per column, such as 'age,0,120'. 'cloister plan' then
    shows the cost and the expected error of a run.
  $ cloister generate mixture --rows 30 --cols 2 --clusters 2 --seed 1 -o made.npy
  $ cloister inspect made.npy 2> /dev/null
  made.npy: npy, 30 rows, 2 columns

          column  holds          missing  a run
       1          numbers           none  uses it
       2          numbers           none  uses it

  A run with these options uses 2 of 2 columns.  Rows with a missing cell in them: 0 of 30.

  What next:
  - Write a file of bounds, from general knowledge and never from this file: a
    line name,lower,upper per column, such as 'age,0,120'. 'cloister plan' then
    shows the cost and the expected error of a run.

## Writes JSON

  $ printf 'x,cut\n1,Fair\n2,Good\n' > d.csv
  $ cloister inspect d.csv --json
  {
    "schema": "cloister.inspection/1",
    "private": false,
    "notice": "not private: for the operator only",
    "format": "csv",
    "delimiter": ",",
    "header": true,
    "rows": 2,
    "null_rows": 2,
    "taken": 2,
    "refusal": "d.csv: column 'cut' is text: leave it out (columns -cut)",
    "columns": [
      {
        "name": "x",
        "holds": "numbers",
        "missing": 0,
        "taken": true
      },
      {
        "name": "cut",
        "holds": "text",
        "missing": 0,
        "taken": true
      }
    ]
  }
  ! warning: not private: for the operator only

## Refuses what a run refuses

  $ printf 'a,b\n1\n' > ragged.csv
  $ cloister inspect ragged.csv
  ! cloister: ragged.csv, line 2: 1 cell instead of 2, as on the first line
  [exit 3]
  $ cloister inspect nowhere.csv
  ! cloister: nowhere.csv cannot be read: No such file or directory
  [exit 4]
  $ cloister inspect
  ! cloister: 'inspect' needs a file
  ! try: cloister inspect --help
  [exit 2]
