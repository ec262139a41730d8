/*
 * release.h (internal) - what a release is made of.
 */
#ifndef CLO_RELEASE_INTERNAL_H
#define CLO_RELEASE_INTERNAL_H

#include "base/base.h"
#include <cloister/release.h>

/* Where a release comes from: public facts only.  Texts and arrays are the release's own. */
typedef struct clo_facts {
    char *version, *family, *method;
    char **parameter_names; /* with their values as texts that are JSON */
    char **parameter_values;
    size_t parameter_count;
    char **column_names; /* or NULL */
    size_t cols;
    double norm;                    /* radius of the ball, in ball coordinates */
    double *lower, *upper, *center; /* or NULL */
    size_t seen_cols;               /* of the subspace that records were projected on; 0: none */
    char *seen_in;                  /* the digest of its release, or empty; NULL: none */
    char *seen_guarantee;           /* of its release; NULL: not known */
    clo_relation relation;
    uint64_t rows; /* declared; 0: not */
    uint64_t rows_per_unit;
    char *unit;      /* the column that names a person; NULL: the unit is a row */
    clo_loss loss;   /* as asked for and charged */
    clo_price price; /* accounting is a text of the release's own */
    char *accounting, *sampler, *guarantee, *statement;
    bool is_private, metered, capped;
    char **query_names, **query_labels;
    clo_event *query_events;
    double *query_noise;
    size_t query_count;
} clo_facts;

/* Which charge it is; all texts "" and there false: none. */
typedef struct clo_i_certified {
    bool there;
    char ledger[33];
    uint64_t charge;
    char dataset[201];
    int64_t time;
    char program[65];
    char values[CLO_DIGEST_SIZE];
    char public_key[2 * CLO_PUBLIC_KEY_BYTES + 1];
    char signature[2 * CLO_SIGNATURE_BYTES + 1];
    clo_seal seal;
} clo_i_certified;

struct clo_release {
    clo_i_certified certified;
    clo_facts facts;
    clo_array *arrays; /* names and data are the release's own */
    size_t count;
};

/* How many root mean square distances of its records wide a cluster is looked at by local sums,
 * where noise moves its mean by so many widths: the better it is fed, the wider, so that fewer
 * records are cut. */
double clo_i_widths_a_spread(double noise);

/* Whether the release tells widths, of kmeans; out (clusters; may be NULL) is then the standard
 * deviation of a column about each centre, as the last round has taken it to be: in units of half
 * the width of each column where there are bounds, and otherwise in the data's own. */
bool clo_i_release_spreads(const clo_release *release, double *out);

CLO_CHECK clo_status clo_i_release_new(clo_release **out, clo_error *err);
/* Of the release and of what it was projected on: the weaker.  0: unknown. */
clo_guarantee clo_i_facts_guarantee_together(const clo_facts *facts);
/* Copies an array into the release. */
CLO_CHECK clo_status clo_i_release_put(clo_release *release, const char *name, const double *data,
                                       size_t dimensions, const size_t *shape, clo_error *err);

#endif
