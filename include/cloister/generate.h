/*
 * generate.h - synthetic data with a known truth, for trying things out.
 */
#ifndef CLOISTER_GENERATE_H
#define CLOISTER_GENERATE_H

#include <cloister/random.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Records around k subspaces (wang2015, section 5): x = U y + N(0, noise^2 I), y uniform on
 * the unit sphere of R^dim, the subspace of each record drawn uniformly.  labels[i] says which
 * subspace record i is from; bases is clusters x cols x dim, row-major; both may be NULL.  After
 * CLO_ENTROPY or CLO_MEMORY records and labels may be partly written. */
typedef struct clo_subspace_model {
    size_t struct_size;
    size_t rows, cols, clusters, dim;
    double noise; /* standard deviation of each coordinate */
} clo_subspace_model;

/* Records around k centres, which are uniform in the ball of radius spread. */
typedef struct clo_mixture_model {
    size_t struct_size;
    size_t rows, cols, clusters;
    double noise;
    double spread;
} clo_mixture_model;

CLO_API clo_subspace_model clo_subspace_model_default(void);
CLO_API clo_mixture_model clo_mixture_model_default(void);
CLO_API CLO_CHECK clo_status clo_generate_subspaces(const clo_subspace_model *model, clo_rng *rng,
                                                    double *records, uint32_t *labels,
                                                    double *bases, clo_error *err);
CLO_API CLO_CHECK clo_status clo_generate_mixture(const clo_mixture_model *model, clo_rng *rng,
                                                  double *records, uint32_t *labels,
                                                  double *centers, clo_error *err);

#ifdef __cplusplus
}
#endif
#endif
