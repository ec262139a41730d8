/*
 * domain.h (internal) - public knowledge about the data: checks, copies, coordinates.  It sees no
 * data, so that planning and post-processing may use it.
 */
#ifndef CLO_DOMAIN_INTERNAL_H
#define CLO_DOMAIN_INTERNAL_H

#include "base/base.h"
#include "schema/schema.h"
#include <cloister/domain.h>

enum { CLO_MOST_COLUMNS = 1 << 20 };

struct clo_frame {
    size_t rows, cols;
    double *basis;  /* rows x cols */
    double *origin; /* or NULL */
    /* Of the release that it comes from.  What that one hides must be what a run in this frame
     * hides: the two losses add up only where they are for the same thing. */
    char digest[CLO_DIGEST_SIZE]; /* "": a frame of the caller's own */
    clo_relation relation;        /* 0: not known, and then the unit is not compared either */
    char *unit;                   /* NULL: a row */
    clo_guarantee guarantee;      /* 0: not known */
    bool not_private;             /* and then what comes of it is not, either */
};

CLO_CHECK clo_status clo_i_frame_copy(const clo_frame *from, const clo_frame **out, clo_error *err);

/* What a private norm or centre takes of the budget, and how many of the records a private norm
 * holds, unless a run says otherwise. */
#define CLO_I_LEARNT_SHARE    0.1
#define CLO_I_LEARNT_QUANTILE 0.98

/* What a caller gave, over the presets; not checked otherwise. */
CLO_CHECK clo_status clo_i_domain_take(const clo_domain *given, clo_domain *out, clo_error *err);
double clo_i_domain_radius(const clo_domain *domain); /* of the ball, in ball coordinates */
/* From the data's own units into ball coordinates: x -> (x - center) / scale, per column. */
typedef struct clo_i_axis {
    double scale, center;
} clo_i_axis;
clo_i_axis clo_i_domain_axis(const clo_domain *domain, size_t column);
void clo_i_domain_map(const clo_domain *domain, double *scale, double *center);
/* A point of the unit ball (grid units / 2^bits) back to the data's own units, in place. */
void clo_i_domain_unmap_point(const clo_domain *domain, double *point);
/* How many columns its table has. */
size_t clo_i_domain_table_cols(const clo_domain *domain);
/* The same domain as another: what a plan and its data must agree on. */
bool clo_i_domain_equal(const clo_domain *a, const clo_domain *b);
/* Deep copy with its own arrays; freed by the other. */
CLO_CHECK clo_status clo_i_domain_copy(const clo_domain *domain, clo_domain *out, clo_error *err);
void clo_i_domain_clear(clo_domain *domain);

#endif
