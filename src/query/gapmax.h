/* gapmax.h - the subspace that most records lie in exactly, by how far it is ahead. */
#ifndef CLO_QUERY_GAPMAX_H
#define CLO_QUERY_GAPMAX_H

#include "ask/query.h"

/* The subspace that more than half of the records lie in, exactly, or nothing.  gapmax.T2.  Records
 * are rounded to multiples of 1/scale in each column, in the data's own units; one that is then
 * longer than the domain allows, or zero, lies in no subspace. */
enum { CLO_GAPMAX_DIM = 3, CLO_GAPMAX_COLS = 1024 };

typedef struct clo_gapmax {
    size_t dim;   /* of a linear subspace of what is seen: with affine, one more than the flat's */
    bool affine;  /* a constant 1 / scale is appended to each record */
    double scale; /* public: column values times this are integers */
    double share; /* of delta that pays for the search (gapmax.T3) */
} clo_gapmax;

typedef struct clo_gapmax_fields {
    size_t dim;
    double beta; /* the chance that the search misses (gapmax.T3) */
} clo_gapmax_fields;
CLO_LINE_FIELDS(gapmax, clo_gapmax_fields)

CLO_CHECK clo_status clo_i_plan_gapmax(const clo_domain *domain, const clo_gapmax *how,
                                       clo_loss loss, const char *label, clo_line *out,
                                       clo_error *err);
/* found: whether there is an answer; numerators, denominators: dim x (cols + affine), the reduced
 * row echelon form of the subspace; untouched where there is none. */
CLO_CHECK clo_status clo_i_ask_gapmax(clo_context *context, size_t line, const clo_bounded *data,
                                      const clo_gapmax *how, bool *found, int64_t *numerators,
                                      int64_t *denominators, clo_error *err);

#endif
