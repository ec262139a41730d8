/*
 * audit_internal.h - what the files of this folder share.
 *
 * This folder runs mechanisms as a stranger would, through the public headers alone.
 */
#ifndef CLO_AUDIT_INTERNAL_H
#define CLO_AUDIT_INTERNAL_H

#include "base/base.h"
#include <cloister/audit.h>

/* ---- confidence.c ---------------------------------------------------------------------------- */

/* One-sided Clopper-Pearson bounds, at level alpha each, rounded outwards. */
double clo_i_probability_at_least(uint64_t hits, uint64_t trials, double alpha);
double clo_i_probability_at_most(uint64_t hits, uint64_t trials, double alpha);
double clo_i_normal_quantile(double p);

/* The loss that the event shows: it happens with probability p or more in one world and q or less
 * in the other.  Never below 0. */
double clo_i_shown_loss(clo_audit_unit unit, double delta, double p, double q);

/* ---- score.c --------------------------------------------------------------------------------- */

/* Turns an answer into one number, larger in world 0 than in world 1; learnt from examples. */
typedef struct clo_i_score clo_i_score;

CLO_CHECK clo_status clo_i_score_new(size_t outputs, bool categorical, clo_i_score **out,
                                     clo_error *err);
void clo_i_score_free(clo_i_score *score);
/* Examples of one world, row by row. */
void clo_i_score_learn(clo_i_score *score, int world, const double *answers, size_t count);
CLO_CHECK clo_status clo_i_score_settle(clo_i_score *score, clo_error *err);
double clo_i_score_of(const clo_i_score *score, const double *answer);

/* ---- pairs.c --------------------------------------------------------------------------------- */

enum { CLO_AUDIT_ROWS = 128, CLO_AUDIT_COLS = 16, CLO_AUDIT_OUTPUTS = 512 };

/* A pair of worlds that is hard on a mechanism. */
typedef struct clo_i_pair {
    size_t place; /* of its row, a part of its seeds */
    const char *family, *method, *name, *what;
    const char *settings; /* "clusters=1 rounds=3"; rows=60: so many, or about, are public; mixed:
                              records have levels (clo_i_pair_schema) */
    size_t cols;
    bool categorical;
    bool twice;        /* a second release, of world 1 in both worlds, with the same generator */
    unsigned per_unit; /* rows of each person who differs, and of anybody at most; 0: no persons */
    /* Writes world 0 or 1 under the relation, `group` records of difference; how many rows.  Those
     * that differ come first. */
    size_t (*rows)(clo_relation relation, unsigned group, int world, double *out);
} clo_i_pair;

size_t clo_i_pair_count(void);
const clo_i_pair *clo_i_pair_at(size_t i);

/* ---- audit.c --------------------------------------------------------------------------------- */

/* The settings of a pair that are parameters of its mechanism. */
const char *clo_i_pair_parameters(const clo_i_pair *pair);
/* The schema of both worlds, for the caller to free, or NULL: they are of numbers. */
CLO_CHECK clo_status clo_i_pair_schema(const clo_i_pair *pair, clo_schema **out, clo_error *err);
/* What is public of both worlds of a pair, and the plan that an audit of it runs. */
clo_domain clo_i_pair_domain(const clo_i_pair *pair, const clo_schema *schema,
                             clo_relation relation);
CLO_CHECK clo_status clo_i_pair_plan(const clo_i_pair *pair, const clo_mechanism *mechanism,
                                     const clo_domain *domain, clo_loss budget, clo_plan **out,
                                     clo_error *err);

#endif
