/*
 * evaluate.h - how good a release is on the operator's own data.  What comes out of
 * here is NOT private: it is for the operator's eyes, and no release holds it.
 */
#ifndef CLOISTER_EVALUATE_H
#define CLOISTER_EVALUATE_H

#include <cloister/data.h>
#include <cloister/release.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clo_evaluation {
    size_t struct_size;
    double cost;       /* mean squared distance of the rows to what was released */
    double truth_cost; /* the same for the truth; NaN without one */
    double distance;   /* from the truth: ||sin Theta||_F for a subspace, root mean square distance
                          of the best matching of centres for k-means; NaN without a truth */
} clo_evaluation;

/* truth: k x d centres for k-means, d x q basis for a subspace; rows 0: none.
 * Rows with a bad cell are left out. */
CLO_API CLO_CHECK clo_status clo_evaluate(const clo_release *release, const clo_table *table,
                                          clo_matrix truth, clo_evaluation *out, clo_error *err);
/* Reads a small dense file (a truth) as a matrix that the caller frees with clo_matrix_free. */
CLO_API CLO_CHECK clo_status clo_matrix_read(const char *path, clo_matrix *out, clo_error *err);
CLO_API void clo_matrix_free(clo_matrix matrix);

#ifdef __cplusplus
}
#endif
#endif
