/*
 * release.h (internal) - what a release is made of.
 */
#ifndef CLO_RELEASE_INTERNAL_H
#define CLO_RELEASE_INTERNAL_H

#include "base/base.h"
#include "schema/schema.h"
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
    clo_schema *schema;             /* of the data's columns, and cols are its outputs; or NULL */
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

/* One answer of the run as its density was told it, in whole numbers, so that it is told the same
 * again: what was asked, in steps of the grid of places, and what was answered, in steps of a share
 * of the noise's deviation (density/density.h, docs/release-format.md).  The memory is its own. */
typedef struct clo_i_kept_answer {
    char kind[16];       /* "sum", "shells", "gram", "cells" */
    size_t cols, groups; /* columns of a place; groups of equal answers */
    double noise[3];     /* deviations of the noise, in the units of the query */
    size_t noise_count;
    int64_t *asked, *answered;
    size_t asked_count, answered_count;
} clo_i_kept_answer;

/* What a release is made from that was made from another one alone; all texts "" and there false:
 * it is a run's own. */
typedef struct clo_i_derived {
    bool there;
    char how[16];                  /* "cut" */
    char release[CLO_DIGEST_SIZE]; /* the digest of that one */
    char ledger[33];               /* and which charge that one is; "": none */
    uint64_t charge;
} clo_i_derived;

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

/* Of the JSON of a release (docs/release-format.md).  One that was read in the first is written in
 * it again, so that its bytes, its digest and its signature stay. */
enum { CLO_SCHEMA_FIRST = 1, CLO_SCHEMA = 2 };

struct clo_release {
    int schema;
    clo_i_certified certified;
    clo_facts facts;
    clo_array *arrays; /* names and data are the release's own */
    size_t count;
    clo_i_kept_answer *answers;
    size_t answer_count;
    clo_i_derived derived;
};

/* How many root mean square distances of its records wide a cluster is looked at by local sums,
 * where noise moves its mean by so many widths: the better it is fed, the wider, so that fewer
 * records are cut. */
double clo_i_widths_a_spread(double noise);

/* Whether the release tells radii, of kmeans; out (clusters; may be NULL) is then the standard
 * deviation of a column about each centre, as the last round has taken it to be: in units of half
 * the width of each column where there are bounds, and otherwise in the data's own. */
bool clo_i_release_spreads(const clo_release *release, double *out);

/* An array's name in this library, from that in a file of this schema, and back. */
const char *clo_i_name_from_schema(int schema, const char *name);
const char *clo_i_name_in_schema(int schema, const char *name);

CLO_CHECK clo_status clo_i_release_new(clo_release **out, clo_error *err);
/* Of the release and of what it was projected on: the weaker.  0: unknown. */
clo_guarantee clo_i_facts_guarantee_together(const clo_facts *facts);
/* Of a column: what a length of the ball's coordinates is in its units, the deviation that noise of
 * 1 in them has there, and the middle of what it can be. */
double clo_i_facts_unit(const clo_facts *facts, size_t column);
double clo_i_facts_spread(const clo_facts *facts, size_t column);
double clo_i_facts_middle(const clo_facts *facts, size_t column);
/* Of the ball: one a column, but under a schema. */
size_t clo_i_facts_coordinates(const clo_facts *facts);
/* Whether lengths are in half-widths of bounds, or half-ranges of a schema, and not in the units of
 * the data. */
bool clo_i_facts_are_scaled(const clo_facts *facts);
/* The number that a parameter of this name has; 0: there is none. */
double clo_i_facts_parameter(const clo_facts *facts, const char *name);
/* The value with the digits that noise of this standard deviation leaves: cut two digits below the
 * first one of the deviation, toward the center, so that it stays in what is convex about it.
 * All digits where the deviation is 0 or not known (public_fit.T3). */
double clo_i_cut_digits(double value, double deviation, double center);
/* Copies an array into the release. */
CLO_CHECK clo_status clo_i_release_put(clo_release *release, const char *name, const double *data,
                                       size_t dimensions, const size_t *shape, clo_error *err);
/* Copies an answer into the release. */
CLO_CHECK clo_status clo_i_release_put_answer(clo_release *release, const clo_i_kept_answer *answer,
                                              clo_error *err);
void clo_i_release_free_answers(clo_release *release);
/* Drops every array: for a release that gets others. */
void clo_i_release_drop_arrays(clo_release *release);
/* Another value of a parameter, as JSON, if there is one of that name. */
CLO_CHECK clo_status clo_i_release_set_parameter(clo_release *release, const char *name,
                                                 const char *text, clo_error *err);

#endif
