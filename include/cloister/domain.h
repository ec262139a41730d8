/*
 * domain.h - step two: bound.  What is publicly known of the data turns a table
 * into clo_bounded: integer records inside a ball, the only form that a query sees.
 */
#ifndef CLOISTER_DOMAIN_H
#define CLOISTER_DOMAIN_H

#include <cloister/data.h>
#include <cloister/privacy.h>

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

/* The coordinates of a public subspace: an orthonormal basis, an origin, where they come from. */
typedef struct clo_frame clo_frame;

/* A frame of the caller's own, copied: basis has a row for each column of the table and orthonormal
 * columns; origin one entry a row, or NULL: zero.  CLO_DOMAIN where the basis is none.  It must be
 * public; clo_frame_of_release makes one from a release, and remembers what that one hides. */
CLO_API CLO_CHECK clo_status clo_frame_new(clo_matrix basis, const double *origin, clo_frame **out,
                                           clo_error *err);
CLO_API void clo_frame_free(clo_frame *frame);
CLO_API size_t clo_frame_rows(const clo_frame *frame);          /* columns of the table */
CLO_API size_t clo_frame_cols(const clo_frame *frame);          /* coordinates that are left */
CLO_API const double *clo_frame_basis(const clo_frame *frame);  /* rows x cols; borrowed */
CLO_API const double *clo_frame_origin(const clo_frame *frame); /* one a row, or NULL; borrowed */
/* Of the release that it comes from (clo_release_digest); "" for a frame of the caller's own. */
CLO_API const char *clo_frame_digest(const clo_frame *frame);
/* That release's, with all that it was projected on in turn; 0: not known. */
CLO_API clo_guarantee clo_frame_guarantee(const clo_frame *frame);

/* What is known of the data without looking at it.  There is no function that
 * makes one from a table: bounds taken from the data are not private.
 *
 * Coordinates.  Without column bounds a record x becomes x - center, clipped to
 * the ball of radius norm.  With them, column j is clipped to [lower_j, upper_j]
 * and mapped to [-1, 1]; the norm then counts in those units, and 0 means
 * sqrt(cols), the ball that holds the whole box.  With a frame of basis U and
 * origin o (and then with neither bounds nor centre) x becomes U' (x - o), cols
 * counts those coordinates, and the norm is theirs.  Results come back in the data's own
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
    const clo_frame *frame; /* the coordinates to look at records in; NULL: as they are; borrowed,
                               and cols must be the frame's (clo_domain_project) */
    const clo_schema *schema; /* of the table's columns; NULL: they are numbers; borrowed, and cols
                                 and norm must be the schema's (clo_domain_describe) */
} clo_domain;

/* Records inside of a domain, on an integer grid: sensitive, and all that a mechanism sees. */
typedef struct clo_bounded clo_bounded;

/* Replace, one row a unit; cols and a norm, or column bounds, are still to be set.  See "Structs
 * that may grow" in cloister.h. */
CLO_API void clo_domain_init(clo_domain *domain, size_t size);
static inline clo_domain clo_domain_default(void)
{
    clo_domain domain;
    clo_domain_init(&domain, sizeof domain);
    return domain;
}
/* CLO_DOMAIN, with what is wrong, where it cannot be used. */
CLO_API CLO_CHECK clo_status clo_domain_check(const clo_domain *domain, clo_error *err);
/* Sets frame and cols, so that records are looked at in the frame's coordinates: fewer columns,
 * less noise.  The frame is borrowed.  The loss of the release that it comes from is its own: both
 * count, and so both must hide the same: CLO_DOMAIN for a relation or a unit that differs, here
 * where the norm is set, or when a plan is made.  What is not private may be projected on; the
 * release that comes of it then says that it is not private either. */
CLO_API CLO_CHECK clo_status clo_domain_project(clo_domain *domain, const clo_frame *frame,
                                                clo_error *err);
/* Sets schema, cols and norm, so that records are looked at in the schema's coordinates and centers
 * come back as numbers in their own units and shares of levels.  The schema is of the table's
 * columns, in their order (clo_schema_select, clo_table_schema); it is borrowed.  Neither bounds, a
 * centre nor a frame go with it: CLO_DOMAIN. */
CLO_API CLO_CHECK clo_status clo_domain_describe(clo_domain *domain, const clo_schema *schema,
                                                 clo_error *err);
/* Makes the bounded data, a copy of both: table and domain may go afterwards.  CLO_DOMAIN where the
 * domain cannot be used or is not the table's (columns, unit, rows); CLO_UNSUPPORTED where this
 * process does not round to nearest. */
CLO_API CLO_CHECK clo_status clo_bound(const clo_table *table, const clo_domain *domain,
                                       clo_bounded **out, clo_error *err);
/* Whether rows of a scan lie in a cache (clo_read_options.cache).  False, too, where it could not
 * be written, the disk being full, say: then the files are read again. */
CLO_API bool clo_bounded_is_cached(const clo_bounded *data);
CLO_API void clo_bounded_free(clo_bounded *data); /* wipes it */

/* How many columns a release in this domain has: the data's own, or the outputs of its schema. */
CLO_API size_t clo_domain_columns(const clo_domain *domain);
CLO_API const char *clo_relation_name(clo_relation relation); /* "replace", "add-remove"; "?" */

#ifdef __cplusplus
}
#endif
#endif
