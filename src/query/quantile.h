/* quantile.h - a bound that holds most records: a radius, or both ends of a column, chosen among
 * public thresholds so that it cannot collapse. */
#ifndef CLO_QUERY_QUANTILE_H
#define CLO_QUERY_QUANTILE_H

#include "ask/query.h"

/* One end: a record is inside at or below the threshold.  Two: between two thresholds, both of them
 * included; the answer is a pair. */
enum { CLO_QUANTILE_PARTS = 100000 }; /* a share is a whole number of these */

typedef struct clo_quantile {
    size_t thresholds;
    size_t ends;  /* 1 or 2 */
    double share; /* of the records that the bound should hold, 1/2 … 0.99999 */
} clo_quantile;

/* In units of 1/record: what one record counts in a score. */
typedef struct clo_quantile_fields {
    uint64_t ends, record;
    uint64_t left_out; /* of each record, how much an end should leave out */
    uint64_t most_out; /* ... how much both ends must not leave out (quantile.T2) */
    uint64_t floor;    /* an end is asked to leave out no less than this */
    uint64_t lead;     /* what the widest answer is ahead of all that leave out more */
} clo_quantile_fields;
CLO_LINE_FIELDS(quantile, clo_quantile_fields)

/* quantile.T1.  A budget so small that no number of rows could tell anything is CLO_BUDGET. */
CLO_CHECK clo_status clo_i_plan_quantile(const clo_domain *domain, const clo_quantile *how,
                                         double epsilon, uint64_t times, const char *label,
                                         clo_line *out, clo_error *err);
/* Of the record norms (column SIZE_MAX) or of one column, among increasing public thresholds of
 * squared norms or of column values on the full grid of bound.h.  No record may lie beyond the last
 * (or, with two ends, before the first).  chosen: of each end, the lower one first, the index of a
 * threshold. */
CLO_CHECK clo_status clo_i_ask_quantile(clo_context *context, size_t line, const clo_bounded *data,
                                        size_t column, const int64_t *thresholds, size_t *chosen,
                                        clo_error *err);

/* ---- what can be said of an ask beforehand, from public numbers alone --------------------- */

/* The rows from which on the right answer is ahead of the widest one by so much; below 0 the answer
 * is as good as surely the widest one.  INFINITY: there are none. */
double clo_i_quantile_rows(const clo_line *line, double nats);
/* With probability 1 - doubt, all asks of the line together, an answer leaves out no more than a
 * share of the rows (the one that was asked for) and so many rows (quantile.T3).  rows 0: they are
 * not known, and the number is right for any. */
double clo_i_quantile_beyond(const clo_line *line, double rows, double doubt);

/* ---- scores, for quantile.c and tests ------------------------------------------------------ */

size_t clo_i_quantile_candidates(const clo_line *line);
size_t clo_i_quantile_buckets(const clo_line *line); /* one more than the thresholds counted at */
/* counts: by the first of the counted thresholds that is not below. */
void clo_i_quantile_scores(const clo_line *line, const int64_t *counts, int64_t *scores);
/* The thresholds of a candidate. */
void clo_i_quantile_unpack(const clo_line *line, size_t candidate, size_t *chosen);

#endif
