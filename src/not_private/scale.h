/*
 * scale.h - in which coordinates rows are compared with a result, and which columns of a table they
 * are.  assign, evaluate and solve all go this way, so that they agree about who belongs where.
 *
 * With public bounds a column counts in units of its half width, as it did for the mechanism: in
 * the data's own units a column of large numbers would decide alone.  Rows are not clipped.
 */
#ifndef CLO_SCALE_H
#define CLO_SCALE_H

#include "data/data.h"
#include "schema/schema.h"
#include "not_private/evaluate.h"

/* What a result says of its columns; borrowed. */
typedef struct clo_i_columns_known {
    const char *what; /* for messages: "release" or "solution" */
    size_t cols;
    char *const *names;          /* or NULL */
    const double *lower, *upper; /* the public bounds, or NULL */
    const double *center;        /* the public centre, or NULL */
    const clo_schema *schema; /* then cols are its outputs, and a table has its columns; or NULL */
} clo_i_columns_known;

clo_i_columns_known clo_i_columns_of_release(const clo_release *release);
clo_i_columns_known clo_i_columns_of_solution(const clo_solution *solution);
/* CLO_FORMAT where names or bounds are not of the columns that its flats have: files come from
 * anywhere. */
CLO_CHECK clo_status clo_i_known_fits(clo_i_columns_known *known, const clo_target *target,
                                      clo_error *err);

typedef struct clo_i_scale {
    size_t cols;
    double *half;   /* what each column is divided by; NULL: by nothing */
    double *middle; /* of the public bounds, or NULL */
    size_t *places; /* where each column is in the table; NULL: where it is in the result */
    double *fill;   /* what a missing cell takes; NULL: its row counts for nothing */
    double *wide;   /* room for a row of the table, where there are places */
    size_t wide_cols;
    const clo_schema *schema; /* rows of the table become its outputs; or NULL; borrowed */
    double *cells;            /* room: the schema's columns of a row */
} clo_i_scale;

/* Finds the columns in the table: by name where both have names, and further ones are ignored;
 * otherwise by place, and there must be as many.  CLO_ARGUMENT with the name of one that is not
 * there; CLO_FORMAT where one of them is text, or the bounds are none.  For clo_i_scale_clear,
 * after a failure too. */
CLO_CHECK clo_status clo_i_scale_fit(const clo_i_columns_known *known, const clo_table *table,
                                     clo_i_scale *out, clo_error *err);
void clo_i_scale_clear(clo_i_scale *scale);

/* Rows first … first + count - 1 in the data's units; from one thread at a time. */
void clo_i_scale_load(clo_i_scale *scale, const clo_table *table, size_t first, size_t count,
                      double *rows);

/* ---- a result in both coordinates --------------------------------------------------------- */

/* Divides the rows of a d x q basis by what each is worth and makes its columns orthonormal again,
 * those that are its own: what is orthonormal in one unit is not in another. */
CLO_CHECK clo_status clo_i_scale_basis(double *basis, const double *half, size_t d, size_t q,
                                       clo_error *err);
/* Puts the flats of the target on the scale, and keeps them in the data's units as raw. */
CLO_CHECK clo_status clo_i_target_to_scale(clo_target *target, const clo_i_scale *scale,
                                           clo_error *err);

/* ---- the pass over the rows --------------------------------------------------------------- */

/* A table, block by block. */
typedef struct clo_i_pass {
    const clo_table *table;
    clo_i_scale *scale;
    bool sparse;         /* rows are not written out */
    size_t most;         /* rows of a block */
    size_t first, count; /* the block that is loaded */
    double *raw, *rows;  /* it, in the data's units and on the scale; the same without one */
    double *own;         /* room: a distance a row */
    double *room;
    size_t room_size;
} clo_i_pass;

CLO_CHECK clo_status clo_i_pass_new(const clo_table *table, clo_i_scale *scale,
                                    const clo_target *target, clo_i_pass *out, clo_error *err);
void clo_i_pass_clear(clo_i_pass *pass);
/* The next block; false: there is none. */
bool clo_i_pass_next(clo_i_pass *pass);
/* Of each row of the block the nearest flat and the squared distance from it, on the scale.  A row
 * that counts for nothing has the distance NaN and the flat CLO_NO_CLUSTER. */
CLO_CHECK clo_status clo_i_pass_nearest(const clo_i_pass *pass, const clo_target *target,
                                        double *squared, uint32_t *nearest, clo_error *err);
/* The squared distance of each row from the flat that it was put in, in the data's units. */
CLO_CHECK clo_status clo_i_pass_raw(const clo_i_pass *pass, const clo_target *target,
                                    const uint32_t *flat, double *squared, clo_error *err);

#endif
