# cloister schema, and runs with a schema

What a schema file may say, unit_schema tries one by one.  Here: what a user types and sees.

## Drafts names and types, and leaves facts to the owner

  $ cat > people.csv <<'END'
  > id,sex,age,born,smoker,month
  > 1,f,40,1980-01-01,true,3
  > 2,m,,1970-05-01,false,4
  > END
  $ cloister schema draft people.csv
  {
   "$schema": "https://datapackage.org/profiles/2.0/tableschema.json",
   "fields": [
    {
     "name": "id",
     "type": "integer",
     "cloister": {
      "use": false
     }
    },
    {
     "name": "sex",
     "type": "string",
     "categories": null,
     "cloister": {
      "source": null
     }
    },
    {
     "name": "age",
     "type": "integer",
     "constraints": {
      "minimum": null,
      "maximum": null
     },
     "cloister": {
      "source": null
     }
    },
    {
     "name": "born",
     "type": "date",
     "constraints": {
      "minimum": null,
      "maximum": null
     },
     "cloister": {
      "source": null
     }
    },
    {
     "name": "smoker",
     "type": "boolean"
    },
    {
     "name": "month",
     "type": "integer",
     "constraints": {
      "minimum": null,
      "maximum": null
     },
     "cloister": {
      "cyclic": true,
      "source": null
     }
    }
   ],
   "missingValues": [
    "",
    "NA"
   ]
  }
  ! next: state what is null from public knowledge, then: cloister schema check SCHEMA.json people.csv

## Marks what it has read from the data

  $ printf 'sex,age\nf,40\nm,30\n' > people.csv
  $ cloister schema draft people.csv --from-data -o people.json
  ! warning: bounds and levels come from the data: use this schema only if the data are public
  $ cloister schema check people.json
  2 columns in 2 coordinates, digest 53f774a5cc60b342273a51e539281b0e5e0b6377afc1a35621aafc1c5bd9ae5c
  ! warning: bounds or levels come from the data: a release is private only for anyone who knows them already
  $ cloister plan kmeans --schema people.json --rows 5000 --clusters 2 --epsilon 1 |
  >     grep -E 'data  |column'
    data        2 columns of the schema 53f774a5cc60b342..., in 2 coordinates, 5000 rows
    as a share of the norm. In each column: sex ± 0.45 points, age ± 0.015.
  $ cloister run kmeans people.csv --schema people.json --clusters 1 --epsilon 1 --no-ledger \
  >     --seed a -o out.json
  ! warning: --seed: this release is reproducible, not private
  ! kmeans/density on 'people.csv': epsilon 1, delta 1e-6, hides the values of a record
  ! warning: the schema has bounds or levels that come from the data: the release is private only for anyone who knows them already
  ! wrote 'out.json'; no ledger was charged

## Counts what does not fit, for the operator

  $ printf 'sex,age,day\nf,40,2020-01-01\nq,300,never\n,,\n' > people.csv
  $ cat > people.json <<'END'
  > {"fields": [{"name": "sex", "type": "string", "categories": ["f", "m"]},
  >   {"name": "age", "type": "number", "constraints": {"minimum": 0, "maximum": 100}},
  >   {"name": "day", "type": "date",
  >    "constraints": {"minimum": "2019-01-01", "maximum": "2021-01-01"}}]}
  > END
  $ cloister schema check people.json people.csv
  column                      missing    outside     unread
  sex                          33.3 %     33.3 %       none
  age                          33.3 %     33.3 %       none
  day                          33.3 %       none     33.3 %

  outside: beyond the bounds, or in no list.  unread: text where a number, a date or a truth value
  should be.  Do not tune bounds by these shares: a bound that follows the data is not public.
  ! warning: not private: for the operator only
  $ cloister schema check people.json people.csv --json | head -12
  {
    "schema": "cloister.schema-check/1",
    "private": false,
    "notice": "not private: for the operator only",
    "rows": 3,
    "columns": [
      {
        "name": "sex",
        "missing": 1,
        "outside": 1,
        "unread": 0
      },
  ! warning: not private: for the operator only

## Refuses a schema that a run cannot use, and a file without its columns

  $ printf 'sex,age\nf,40\n' > people.csv
  $ echo '{"fields": [{"name": "sex", "type": "string", "categories": null}]}' > draft.json
  $ cloister run kmeans people.csv --schema draft.json --clusters 1 --epsilon 1 \
  >     --no-ledger -o out.json
  ! cloister: draft.json, field 'sex': a run needs the list of its levels: state "categories", or leave the column out ("cloister": {"use": false})
  [exit 3]
  $ echo '{"fields": [{"name": "size", "type": "boolean"}]}' > other.json
  $ cloister run kmeans people.csv --schema other.json --clusters 1 --epsilon 1 \
  >     --no-ledger -o out.json
  ! cloister: people.csv has no column 'size', which the schema uses: choose other columns (--columns), or change the schema
  [exit 2]
  $ echo '{"fields": [{"name": "sex", "type": "boolean", "color": 1}]}' > odd.json
  $ cloister schema check odd.json
  ! cloister: odd.json, field 'sex': the key "color" is unknown to cloister
  [exit 3]
  $ cloister schema check none.json
  ! cloister: the schema 'none.json' cannot be read: No such file or directory
  [exit 2]
  $ cloister schema weigh odd.json
  ! cloister: 'schema' has no verb 'weigh'
  ! try: cloister schema --help
  [exit 2]
  $ cloister schema draft people.csv --json
  ! cloister: 'schema draft' has no option --json
  [exit 2]

## States each thing once

  $ printf 'sex,age\nf,40\n' > people.csv
  $ cat > s.json <<'END'
  > {"fields": [{"name": "sex", "type": "string", "categories": ["f", "m"]}],
  >  "cloister": {"relation": "add-remove"}}
  > END
  $ cloister run kmeans people.csv --schema s.json --norm 1 --clusters 1 --epsilon 1 \
  >     --no-ledger -o out.json
  ! cloister: --norm and --schema exclude each other: state it in the schema
  [exit 2]
  $ cloister run kmeans people.csv --schema s.json --relation replace --clusters 1 --epsilon 1 \
  >     --no-ledger -o out.json
  ! cloister: --relation is not the schema's, which is add-remove
  [exit 2]
  $ cloister run subspace people.csv --schema s.json --dim 1 --epsilon 1 --no-ledger -o out.json
  ! cloister: subspace/gaussian does not work with a schema: use kmeans or kmedian, or give bounds and columns of numbers
  [exit 2]
  $ cloister bounds people.csv --schema s.json --norm 1 --epsilon 1
  ! cloister: 'bounds' has no option '--schema'
  ! try: cloister bounds --help
  [exit 2]

## Makes the same release from one file, several, in pieces, and with any number of threads

  $ awk 'BEGIN { print "sex,age,day,month"; for (i = 0; i < 600; i++)
  >   printf "%s,%d,20%02d-01-15,%d\n", i % 3 ? "f" : i % 2 ? "m" : "", i * 7 % 90, i % 20,
  >     i % 12 + 1 }' > people.csv
  $ (head -1 people.csv; tail -n +302 people.csv) > second.csv
  $ head -301 people.csv > first.csv
  $ cat > people.json <<'END'
  > {"fields": [{"name": "sex", "type": "string", "categories": ["f", "m"],
  >    "cloister": {"missing": "level"}},
  >   {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 100}},
  >   {"name": "day", "type": "date",
  >    "constraints": {"minimum": "2000-01-01", "maximum": "2020-12-31"}},
  >   {"name": "month", "type": "integer", "constraints": {"minimum": 1, "maximum": 12},
  >    "cloister": {"cyclic": true}}]}
  > END
  $ run() {
  >     cloister run kmeans "$@" --schema people.json --clusters 2 --epsilon 8 --no-ledger \
  >         --seed a -q 2> /dev/null
  > }
  $ run people.csv -o one.json
  $ run people.csv --threads 3 -o threads.json; cmp one.json threads.json
  $ run first.csv second.csv -o two.json; cmp one.json two.json
  $ run people.csv --memory 64M -o pieces.json; cmp one.json pieces.json
  $ run first.csv second.csv --memory 64M --cache . -o cached.json; cmp one.json cached.json
  $ cloister report one.json | head -24
  kmeans/density with clusters 2
  NOT PRIVATE
  privacy    epsilon 8, delta 1e-6, replace one record
  cost       epsilon 8 by gaussian-exact accounting; not charged to a ledger
  guarantee  exact; exactly rounded Gaussian; ChaCha20 from a seed

    Reproducible, not private: it was made from a seed, and whoever knows the
    seed can take the noise away.

  centers (2 x 7)
                sex=f        sex=m  sex=missing          age          day    month=cos    month=sin
       0         68 %         16 %         16 %       44.405   2009-10-04       0.6185       0.1666
       1         66 %         16 %         18 %        43.37   2009-02-20      -0.6275      -0.1744

  sizes (2)
                    0            1
               303.02       296.97

  radii (2), in half-ranges of the schema
                    0            1
               1.4421       1.4169

    2 of 2 clusters stand out from the noise.
  {{}}

## Reads, measures and draws by the schema that the release holds

  $ awk 'BEGIN { print "sex,age,day"; for (i = 0; i < 600; i++)
  >   printf "%s,%d,20%02d-01-15\n", i % 3 ? "f" : "m", i % 3 ? 20 : 80, i % 20 }' > people.csv
  $ cat > people.json <<'END'
  > {"fields": [{"name": "day", "type": "date",
  >    "constraints": {"minimum": "2000-01-01", "maximum": "2020-12-31"}},
  >   {"name": "sex", "type": "string", "categories": ["f", "m"]},
  >   {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 100}}]}
  > END
  $ cloister run kmeans people.csv --schema people.json --clusters 2 --epsilon 8 --no-ledger \
  >     --seed a -q -o out.json
  ! warning: --seed: this release is reproducible, not private
  $ cloister assign out.json people.csv | head -4
  cluster
  1
  0
  0
  ! warning: not private: for the operator only
  $ cloister evaluate out.json people.csv
  cost        0.301645      mean squared distance of the rows to what was released, columns by half their width
  ! warning: not private: for the operator only
  $ cloister generate --from out.json --rows 4 --seed 1
  day,sex,age
  2014-08-31,f,21
  2002-06-10,f,19
  2002-08-11,m,86
  2010-12-01,f,18
  ! warning: the release is not private, and neither are rows that are made from it
  $ cloister generate --from out.json --rows 400 --seed 1 -o drawn.csv 2> warnings
  $ cloister schema check people.json drawn.csv
  column                      missing    outside     unread
  day                            none       none       none
  sex                            none       none       none
  age                            none       none       none

  outside: beyond the bounds, or in no list.  unread: text where a number, a date or a truth value
  should be.  Do not tune bounds by these shares: a bound that follows the data is not public.
  ! warning: not private: for the operator only
  $ cloister cut out.json --clusters 3 -q -o cut.json
  $ cloister report cut.json | sed -n '/^centers/,/^$/p'
  centers (3 x 4)
                  day        sex=f        sex=m          age
       0   2004-08-05        100 %          0 %       19.686
       1   2009-06-22        0.4 %        100 %      80.0425
       2   2014-05-23         98 %        1.6 %      19.9065
  {{}}
