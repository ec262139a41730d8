/*
 * schema.h - what an institution states of its data once: a file beside the data, in the form of
 * the Table Schema standard, with the names, types, bounds and lists of levels of its columns.
 *
 * A category, an ordered category, a date or an angle becomes coordinates of the ball by a public
 * function of its own record (bound.T7), so that all mechanisms work on mixed records.
 */
#ifndef CLOISTER_SCHEMA_H
#define CLOISTER_SCHEMA_H

#include <cloister/output.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is publicly stated of the columns of a table: it never changes once it is made. */
typedef struct clo_schema clo_schema;

/* What a column is to a run. */
typedef enum clo_field_kind {
    CLO_FIELD_NUMBER = 1,   /* a number within its bounds */
    CLO_FIELD_RANK = 2,     /* an ordered category: the rank of its level, from 1 */
    CLO_FIELD_LEVELS = 3,   /* a category or a boolean */
    CLO_FIELD_CYCLIC = 4,   /* a number on a circle: an hour, a month, an angle */
    CLO_FIELD_DATE = 5,     /* days since 1970-01-01 */
    CLO_FIELD_DATETIME = 6, /* seconds since 1970-01-01T00:00:00Z */
    CLO_FIELD_UNUSED = 7    /* a key, the person's name, or left out */
} clo_field_kind;

/* What a missing cell means. */
typedef enum clo_cell_rule {
    CLO_CELL_IGNORE = 1, /* the record counts, and says nothing in this column */
    CLO_CELL_LEVEL = 2,  /* it is a level of its own, "missing" */
    CLO_CELL_FILL = 3,   /* it takes a public value */
    CLO_CELL_DROP = 4    /* its record counts for nothing (bound.T6) */
} clo_cell_rule;

/* A column of the schema.  Texts are borrowed.  The library fills it (see cloister.h). */
typedef struct clo_field {
    size_t struct_size; /* the caller's */
    const char *name, *type;
    clo_field_kind kind;
    double lower, upper; /* of numbers, ranks and dates; otherwise 0 */
    double weight;       /* as stated: 1 unless the schema says otherwise */
    double period;       /* of what is cyclic; otherwise 0 */
    clo_cell_rule missing;
    const char *source, *unit, *group; /* as stated, or NULL */
    size_t levels;                     /* how many there are, with "missing" and "other" */
} clo_field;

/* Reads a schema from a file, "-" for standard input, or from the JSON itself where the text begins
 * with '{'.  CLO_IO where it cannot be read; CLO_FORMAT, with the column and what is wrong, where it
 * is no schema that a run can use: a key that is not known, bounds upside down, an empty list, a
 * level that is there twice. */
CLO_API CLO_CHECK clo_status clo_schema_read(const char *path, clo_schema **out, clo_error *err);
CLO_API void clo_schema_free(clo_schema *schema);
/* All columns, and the i-th of them; false where there is none. */
CLO_API size_t clo_schema_field_count(const clo_schema *schema);
CLO_API bool clo_schema_field(const clo_schema *schema, size_t i, clo_field *out);
/* The l-th level of a column, or NULL; borrowed. */
CLO_API const char *clo_schema_level(const clo_schema *schema, size_t i, size_t l);
/* BLAKE2b-256 of its canonical form, as 64 hexadecimal digits: of the whole file, also where a run
 * uses some of its columns only. */
CLO_API const char *clo_schema_digest(const clo_schema *schema);
/* Coordinates of the ball, and columns of a release: one a number, one a level ("sex=f"), two of
 * what is cyclic ("month=cos", "month=sin").  Only columns in use count. */
CLO_API size_t clo_schema_coordinates(const clo_schema *schema);
CLO_API size_t clo_schema_outputs(const clo_schema *schema);
CLO_API const char *clo_schema_output_name(const clo_schema *schema, size_t output);
/* The length of the longest record that the schema allows, in half-ranges: the public radius. */
CLO_API double clo_schema_radius(const clo_schema *schema);
/* What it says of the whole table; NULL and 0 where it says nothing. */
CLO_API const char *clo_schema_person(const clo_schema *schema);
CLO_API uint64_t clo_schema_rows_per_person(const clo_schema *schema);
CLO_API uint64_t clo_schema_rows(const clo_schema *schema);
CLO_API const char *clo_schema_relation(const clo_schema *schema); /* "replace", "add-remove" */
/* Whether a bound or a list was read from the data ("source": "the data"): then it is not private,
 * and neither is what it is used for. */
CLO_API bool clo_schema_is_from_data(const clo_schema *schema);
/* The schema of these columns, in this order, found by name; names NULL: of all columns in use,
 * which must be as many.  CLO_ARGUMENT where it has no such column, or one that is not in use. */
CLO_API CLO_CHECK clo_status clo_schema_select(const clo_schema *schema, const char *const *names,
                                               size_t count, clo_schema **out, clo_error *err);
/* The canonical form, as JSON. */
CLO_API CLO_CHECK clo_status clo_schema_write(const clo_schema *schema, clo_write *write,
                                              void *user, clo_error *err);
/* A cell of column i as text, for people and files: "2019-03-01", a level, a number. */
CLO_API void clo_schema_cell_text(const clo_schema *schema, size_t i, double cell, char *text,
                                  size_t size);

#ifdef __cplusplus
}
#endif
#endif
