/*
 * domain.h - step two: bound.  What is publicly known of the data turns a table
 * into clo_bounded: integer records inside a ball, the only form that a query sees.
 */
#ifndef CLOISTER_DOMAIN_H
#define CLOISTER_DOMAIN_H

#include <cloister/data.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which data sets are neighbours, that is, what the guarantee hides. */
typedef enum clo_relation {
    CLO_REPLACE = 1,   /* one record is replaced by any other; where a record is a row, the number
                          of rows is public */
    CLO_ADD_REMOVE = 2 /* one record is there or not; the number of rows is sensitive too */
} clo_relation;

enum { CLO_DIGEST_SIZE = 65 }; /* of a digest as a text, with its end */

/* What is known of the data without looking at it.  There is no function that
 * makes one from a table: bounds taken from the data are not private.
 *
 * Coordinates.  Without column bounds a record x becomes x - center, clipped to
 * the ball of radius norm.  With them, column j is clipped to [lower_j, upper_j]
 * and mapped to [-1, 1]; the norm then counts in those units, and 0 means
 * sqrt(cols), the ball that holds the whole box.  With a frame (and then with
 * neither bounds nor centre) x becomes frame' (x - origin), cols counts those
 * coordinates, and the norm is theirs.  Results come back in the data's own
 * columns and units. */
typedef struct clo_domain {
    size_t struct_size;
    clo_relation relation;
    size_t cols;
    double norm;         /* public radius; 0 only with column bounds */
    const double *lower; /* one a column, or NULL; both or none; borrowed */
    const double *upper;
    const double *center; /* one a column, or NULL: the origin; not with column bounds; borrowed */
    uint64_t rows;        /* public number of rows; 0: not public.  With CLO_REPLACE and without
                              a unit it must be the number of rows there are */
    uint64_t rows_per_unit; /* with a unit: at most so many rows of each are kept, by a public
                               rule, and none that names nobody; without one: 1 */
    const char *unit;       /* the column that names the person a row belongs to, and the guarantee
                               is then for a person; NULL: for a row; borrowed */
    /* The coordinates of a public subspace, most easily set by clo_domain_project. */
    const double *frame;  /* frame_rows x cols, row-major, with orthonormal columns; NULL: records
                              are looked at as they are; borrowed */
    const double *origin; /* one a row of the frame, or NULL: zero; borrowed */
    size_t frame_rows;    /* how many columns the table has, where there is a frame */
    char frame_digest[CLO_DIGEST_SIZE]; /* of the release the frame comes from; may be empty */
    /* What that release hides, which must be what this run hides: the two losses add up only where
     * they are for the same thing. */
    clo_relation frame_relation; /* 0: not known, and then the unit is not compared either */
    const char *frame_unit;      /* borrowed; NULL: a row */
    int frame_guarantee;         /* its clo_guarantee, with all that it was projected on in turn;
                                    0: not known */
    bool frame_not_private;      /* whether it is not private: what comes of it is not, either */
} clo_domain;

typedef struct clo_bounded clo_bounded;

/* Replace, one row a unit; cols and a norm, or column bounds, are still to be set. */
CLO_API clo_domain clo_domain_default(void);
/* CLO_DOMAIN, with what is wrong, where it cannot be used. */
CLO_API CLO_CHECK clo_status clo_domain_check(const clo_domain *domain, clo_error *err);
/* Makes the bounded data, a copy of both: table and domain may go afterwards.  CLO_DOMAIN where the
 * domain cannot be used or is not the table's (columns, unit, rows); CLO_UNSUPPORTED where this
 * process does not round to nearest. */
CLO_API CLO_CHECK clo_status clo_bound(const clo_table *table, const clo_domain *domain,
                                       clo_bounded **out, clo_error *err);
CLO_API void clo_bounded_free(clo_bounded *data); /* wipes it */

CLO_API const char *clo_relation_name(clo_relation relation); /* "replace", "add-remove"; "?" */

#ifdef __cplusplus
}
#endif
#endif
