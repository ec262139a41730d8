/*
 * generate.h - synthetic data with a known truth, for trying things out.
 *
 * A model starts from its default.  With a seeded generator the same model gives the same data, on
 * any number of threads.
 */
#ifndef CLOISTER_GENERATE_H
#define CLOISTER_GENERATE_H

#include <cloister/data.h>
#include <cloister/random.h>
#include <cloister/release.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Records around k subspaces (wang2015): x = U y + N(0, noise^2 I), y uniform on the unit sphere
 * of R^dim, the subspace of each record drawn at random.  The defaults are the paper's section 5
 * with random subspaces (its fully random model); given makes it the semi-random one, noise_whole
 * its section 3.3. */
typedef struct clo_subspace_model {
    size_t struct_size;
    size_t rows, cols, clusters, dim;
    double noise;         /* standard deviation of each coordinate */
    bool noise_whole;     /* noise is the whole vector's: each coordinate has noise / sqrt(cols) */
    double decay;         /* anisotropy: before y is brought to its length, the standard deviation
                             along each direction is this share of the one before; 1: all alike */
    double shortest;      /* the lengths of y are uniform in shortest ... 1; 1: unit vectors */
    double spread;        /* affine: each subspace goes through a point of the ball of this radius,
                             uniformly drawn; 0: all go through the origin */
    double outliers;      /* the share of records that belong to no subspace: uniform on the unit
                             sphere, or in the ball of radius spread + 1 where that is not 0; they
                             get noise like all others, and the label `clusters` */
    const double *shares; /* clusters numbers: how the records are shared out, in proportion;
                             NULL: evenly.  Which record goes where is random either way */
    const size_t *dims;   /* clusters numbers from 1 to dim: the dimension of each; NULL: dim */
    const double *given;  /* the subspaces, as `bases` below; need not be orthonormal; NULL: random,
                             uniformly distributed */
} clo_subspace_model;

/* Records around k centres, which are uniform in the ball of radius spread. */
typedef struct clo_mixture_model {
    size_t struct_size;
    size_t rows, cols, clusters;
    double noise; /* standard deviation of each coordinate */
    double spread;
    double inner;    /* ... less the ball of this radius; 0: the whole ball */
    double outliers; /* the share of records that are uniform in the ball of radius spread, with
                             noise; their label is `clusters` */
    const double *shares; /* as above */
    const double *given;  /* the centres, clusters x cols; NULL: random */
} clo_mixture_model;

/* The same in very many columns, of which each centre has `entries` that are not zero, in random
 * places: as a point of R^entries it is uniform in the ball of radius spread.  A record has the
 * places of its centre, and noise there alone, and `stray` further ones, at random, that hold
 * nothing but noise.  An outlier has all its places at random. */
typedef struct clo_sparse_model {
    size_t struct_size;
    size_t rows, cols, clusters, entries, stray;
    double noise, spread, outliers;
    const double *shares;
} clo_sparse_model;

/* The presets; see "Structs that may grow" in cloister.h. */
CLO_API void clo_subspace_model_init(clo_subspace_model *model, size_t size);
static inline clo_subspace_model clo_subspace_model_default(void)
{
    clo_subspace_model model;
    clo_subspace_model_init(&model, sizeof model);
    return model;
}
CLO_API void clo_mixture_model_init(clo_mixture_model *model, size_t size);
static inline clo_mixture_model clo_mixture_model_default(void)
{
    clo_mixture_model model;
    clo_mixture_model_init(&model, sizeof model);
    return model;
}
CLO_API void clo_sparse_model_init(clo_sparse_model *model, size_t size);
static inline clo_sparse_model clo_sparse_model_default(void)
{
    clo_sparse_model model;
    clo_sparse_model_init(&model, sizeof model);
    return model;
}

/* records: rows x cols.  labels[i] says which cluster record i is from.  bases: clusters x cols x
 * dim, row-major, orthonormal; columns beyond a subspace's own dimension are zero.  offsets:
 * clusters x cols, a point of each.  All but records may be NULL.  CLO_ARGUMENT for a model that
 * cannot be; after CLO_ENTROPY or CLO_MEMORY records and labels may be partly written, here and in
 * the functions below. */
CLO_API CLO_CHECK clo_status clo_generate_flats(const clo_subspace_model *model, clo_rng *rng,
                                                double *records, uint32_t *labels, double *bases,
                                                double *offsets, clo_error *err);
/* The same where no one asks for the offsets. */
CLO_API CLO_CHECK clo_status clo_generate_subspaces(const clo_subspace_model *model, clo_rng *rng,
                                                    double *records, uint32_t *labels,
                                                    double *bases, clo_error *err);
CLO_API CLO_CHECK clo_status clo_generate_mixture(const clo_mixture_model *model, clo_rng *rng,
                                                  double *records, uint32_t *labels,
                                                  double *centers, clo_error *err);

/* Fills the memory of records (rows x (entries + stray)) and of centers (clusters x entries), whose
 * sizes must be set to that; labels and centers may be NULL. */
CLO_API CLO_CHECK clo_status clo_generate_sparse(const clo_sparse_model *model, clo_rng *rng,
                                                 clo_sparse_rows *records, uint32_t *labels,
                                                 clo_sparse_rows *centers, clo_error *err);

/* Private synthetic data: records from the model that a release of kmeans, kmedian, subspace or
 * subspaces describes.  It sees the release alone, so that the records are as private as it is,
 * however many are drawn.  A cluster is picked by the released sizes (evenly where there are
 * none); within it a record has the released energies (in a linear subspace on an ellipsoid, as in
 * wang2015; otherwise Gaussian).  Where the number of rows is not public, energies count in
 * proportion, up to the public norm.  noise: a standard deviation that is added to every
 * coordinate, in the data's own units: without it records of centres are copies of those
 * (clo_generate_like has a spread in units of each column).  Records are moved
 * into the public domain.  records: rows x clo_release_cols; labels may be NULL.  CLO_UNSUPPORTED
 * where the release does not say how records spread, CLO_FORMAT where its arrays do not fit
 * together. */
CLO_API CLO_CHECK clo_status clo_generate_from_release(const clo_release *release, size_t rows,
                                                       double noise, clo_rng *rng, double *records,
                                                       uint32_t *labels, clo_error *err);

/* How records are drawn from a release; from clo_draw_options_default. */
typedef struct clo_draw_options {
    size_t struct_size;
    double noise;  /* as in clo_generate_from_release; preset 0 */
    double spread; /* of centres: the standard deviation of every column around its centre, in the
                      coordinates of the release: with column bounds in units of half their width,
                      otherwise in the data's own.  It must be public: a guess, or what an earlier
                      release tells.  Below 0 (preset): what the release tells, if it does, as
                      one of kmeans/local */
} clo_draw_options;

/* The presets; see "Structs that may grow" in cloister.h. */
CLO_API void clo_draw_options_init(clo_draw_options *options, size_t size);
static inline clo_draw_options clo_draw_options_default(void)
{
    clo_draw_options options;
    clo_draw_options_init(&options, sizeof options);
    return options;
}

/* The same, with options (NULL: the presets).  CLO_ARGUMENT for a spread of flats, which tell their
 * own; CLO_UNSUPPORTED for centres that tell none where neither spread nor noise is stated: the
 * records would be copies of the centres. */
CLO_API CLO_CHECK clo_status clo_generate_like(const clo_release *release, size_t rows,
                                               const clo_draw_options *options, clo_rng *rng,
                                               double *records, uint32_t *labels, clo_error *err);

#ifdef __cplusplus
}
#endif
#endif
