/*
 * schema.h (internal) - what a schema is made of, and the three shapes of a record under it.
 *
 *   cells    one a column of the table: a number, the number of a level from 0, days, seconds; NaN:
 *            missing; CLO_OUTSIDE: text that is in no list
 *   coords   of the ball: (x - middle) in half-ranges times the weight; a category's m levels in
 *            m - 1 Helmert columns, so that each level has the same length; a point on a circle
 *   outputs  of a release: numbers in their own units, one share a level, a cosine and a sine
 *
 * From coords to outputs the map is affine, and up to one factor a column an isometry: distances of
 * records from centres are the same in both.  All of it is a function of the schema and of one
 * record (bound.T7).
 */
#ifndef CLO_SCHEMA_INTERNAL_H
#define CLO_SCHEMA_INTERNAL_H

#include "base/base.h"
#include <cloister/schema.h>
#include <jansson.h>
#include <stdatomic.h>

enum {
    CLO_SCHEMA_MOST_FIELDS = 1 << 16,
    CLO_SCHEMA_MOST_LEVELS = 1 << 16,
    CLO_SCHEMA_MOST_COORDS = 1 << 20,
    CLO_SCHEMA_TEXT_BYTES = 1000, /* of a name, a level or a source at most */
    CLO_SCHEMA_FILE_BYTES = 1 << 25
};
/* A category's squared weight: .06 of the squared range of a number, which is 2 half-ranges wide. */
#define CLO_SCHEMA_LEVEL_SQUARE 0.24
/* The cell of a text that is in no list and no missing value. */
#define CLO_OUTSIDE (-1.0)

typedef enum clo_i_type {
    CLO_TYPE_NONE,
    CLO_TYPE_NUMBER,
    CLO_TYPE_INTEGER,
    CLO_TYPE_BOOLEAN,
    CLO_TYPE_STRING,
    CLO_TYPE_DATE,
    CLO_TYPE_DATETIME
} clo_i_type;

typedef enum clo_i_outside {
    CLO_OUTSIDE_CLIP,    /* of numbers */
    CLO_OUTSIDE_MISSING, /* as a missing cell */
    CLO_OUTSIDE_OTHER    /* the level "other" */
} clo_i_outside;

/* Texts to look cells up by: each has a code, the number of a level or NaN. */
typedef struct clo_i_texts {
    size_t count, slots; /* slots: a power of two, or 0 */
    struct clo_i_text {
        const char *text; /* the field's */
        uint32_t length;
        uint64_t hash;
        double code;
    } * table;
} clo_i_texts;

typedef struct clo_i_list {
    char **texts;
    size_t count;
} clo_i_list;

typedef struct clo_i_field {
    char *name, *source, *unit, *group, *format;
    clo_i_type type;
    clo_field_kind kind;
    bool has_lower, has_upper, open; /* open: a fact that a run needs is not stated */
    double lower, upper;
    double weight, period; /* period 0: not cyclic */
    double zone;           /* of datetimes without one: seconds east of UTC */
    char *zone_text;
    bool ordered;
    clo_cell_rule missing;
    clo_i_outside outside;
    double fill; /* a cell */
    char *fill_text;
    clo_i_list levels;   /* as in the list, then "other" and "missing" where rules ask for them */
    size_t stated;       /* so many of them are in the list */
    double *numbers;     /* of levels that are numbers, or NULL */
    uint32_t *by_number; /* their order, and how many */
    size_t other, gap;   /* the numbers of these two levels; SIZE_MAX: there is none */
    bool own_gaps;       /* missing values of its own */
    clo_i_list gaps, yes, no;
    double *gap_numbers; /* missing values that are numbers */
    size_t gap_count;
    clo_i_texts texts;
    clo_i_list *collects; /* for a draft alone: texts that are in no list go here; NULL */
    /* Made by clo_i_schema_settle. */
    size_t coord, coords, output, outputs;
    double unit_length; /* coordinates of a half-range, of a level, of the circle's radius */
    double half, middle;
    double *tail; /* of levels: what coordinate i - 1 has for each level below i */
} clo_i_field;

struct clo_schema {
    _Atomic size_t holders;
    clo_i_field *fields;
    size_t count;
    clo_i_list gaps;
    bool own_gaps;
    char *person, *relation;
    uint64_t rows_per_person, rows;
    bool drops; /* a missing cell may make a null record */
    bool selected;
    size_t coords, outputs;
    double radius;
    char **output_names;
    uint32_t *used; /* the fields in use */
    size_t used_count;
    char digest[65]; /* of the whole file */
    char own[65];    /* of these columns */
};

/* ---- making one (schema_object.c, schema_read.c, schema_field.c) -------------------- */

clo_schema *clo_i_schema_keep(const clo_schema *schema); /* one more holder; NULL is fine */
/* From JSON that was parsed; `name` is what messages call it.  whole: the digest of the file that it
 * is a part of, or NULL: it is the whole. */
CLO_CHECK clo_status clo_i_schema_of_json(const json_t *root, const char *name, const char *whole,
                                          clo_schema **out, clo_error *err);
/* As clo_schema_read, but for facts that are not stated yet (null): for drafts, which no run can
 * use.  clo_schema_read refuses them. */
CLO_CHECK clo_status clo_i_schema_read_draft(const char *path, clo_schema **out, clo_error *err);
CLO_CHECK clo_status clo_i_schema_check_stated(const clo_schema *schema, const char *name,
                                               clo_error *err);
/* A field from JSON: everything but what follows from the others. */
CLO_CHECK clo_status clo_i_field_read(const json_t *object, const char *where,
                                      const clo_i_list *gaps, clo_i_field *out, clo_error *err);
void clo_i_field_clear(clo_i_field *field);
CLO_CHECK clo_status clo_i_field_copy(const clo_i_field *from, clo_i_field *out, clo_error *err);
/* Its table of texts, and the numbers of its levels. */
CLO_CHECK clo_status clo_i_field_index(clo_i_field *field, const char *where, clo_error *err);
void clo_i_list_clear(clo_i_list *list);
CLO_CHECK clo_status clo_i_list_add(clo_i_list *list, const char *text, clo_error *err);
/* Coordinates, outputs, radius and digests. */
CLO_CHECK clo_status clo_i_schema_settle(clo_schema *schema, const char *whole, clo_error *err);
void clo_i_schema_json(const clo_schema *schema, struct clo_writer *writer, const char *key);

/* ---- cells (schema_cell.c, schema_dates.c) --------------------------------------------------- */

/* Whether the reader of text hands cells of this field to clo_i_field_cell: all but plain numbers. */
bool clo_i_field_is_coded(const clo_i_field *field);
enum { CLO_SCHEMA_MOST_COLLECTED = 101 };
/* What a cell of text says. */
double clo_i_field_cell(const clo_i_field *field, const char *text, size_t length);
static inline uint64_t clo_i_text_hash_step(uint64_t hash, unsigned char byte)
{
    return (hash ^ byte) * UINT64_C(0x100000001b3);
}
#define CLO_TEXT_HASH UINT64_C(0xcbf29ce484222325)
/* The code of a text whose hash is known; false: it is not there. */
bool clo_i_texts_find(const clo_i_texts *texts, const char *text, size_t length, uint64_t hash,
                      double *code);
/* A date as days, a datetime as seconds; NaN: it is none. */
double clo_i_date_cell(const char *text, size_t length, const char *format);
double clo_i_datetime_cell(const char *text, size_t length, const char *format, double zone);
void clo_i_date_text(double days, char text[32]);
void clo_i_datetime_text(double seconds, char text[40]);
/* "+01:00", "UTC", "Z"; NaN: it is none. */
double clo_i_zone_seconds(const char *text);

/* ---- records (schema_encode.c) --------------------------------------------------------------- */

/* The columns in use: those that a table has. */
size_t clo_i_schema_cells(const clo_schema *schema);
const clo_i_field *clo_i_schema_used(const clo_schema *schema, size_t column);
/* Whether the record counts for nothing: a missing cell says so, or nothing is said at all. */
bool clo_i_schema_is_null(const clo_schema *schema, const double *cells);
/* What the cell means: a number within its bounds, the number of a level, a place on the circle;
 * NaN: nothing. */
double clo_i_field_means(const clo_i_field *field, double cell);
/* Whether a cell is missing, and whether it is outside of the bounds or the list: for people. */
bool clo_i_field_lacks(const clo_i_field *field, double cell);
bool clo_i_field_excludes(const clo_i_field *field, double cell);
/* Cells to coords (bound.T7), and to outputs: a level is a share of one; a cell that says nothing is
 * the middle of all. */
void clo_i_schema_encode(const clo_schema *schema, const double *cells, double *coords);
void clo_i_schema_expand(const clo_schema *schema, const double *cells, double *outputs);
/* Coords to outputs, as they come; and to the nearest ones that can be: numbers within their bounds,
 * shares that are none below 0 and one together. */
void clo_i_schema_decode(const clo_schema *schema, const double *coords, double *outputs);
void clo_i_schema_fit(const clo_schema *schema, double *outputs);
/* Both, with the digits that a millionth of a column's range has. */
void clo_i_schema_point(const clo_schema *schema, const double *coords, double *outputs);
/* Coordinates of one unit of each output: what a distance is divided by to be one of coords. */
double clo_i_schema_unit(const clo_schema *schema, size_t output);
/* The deviation of an output where each coordinate has the deviation 1. */
double clo_i_schema_spread(const clo_schema *schema, size_t output);
double clo_i_schema_middle(const clo_schema *schema, size_t output);
/* Which field an output is of, and which of its outputs it is. */
const clo_i_field *clo_i_schema_of_output(const clo_schema *schema, size_t output, size_t *place);
/* A number of an output for people: "2019-03-01", "37 %"; false: a plain number is good enough. */
bool clo_i_schema_output_text(const clo_schema *schema, size_t output, double value, char *text,
                              size_t size);

#endif
