/*
 * near_subspace.h - records near a random plane, and how far a release is from it: for the tests of
 * subspace/approx and subspace/boosted.
 */
#ifndef CLO_TEST_NEAR_SUBSPACE_H
#define CLO_TEST_NEAR_SUBSPACE_H

#include "pipeline.h"
#include "linalg/linalg.h"
#include "random/random.h"

enum { K = 2 };

/* Spread 1 along a random subspace and gamma across it, times `size`. */
typedef struct sample {
    size_t rows, cols;
    double *values, *basis;
} sample;

static inline sample near_subspace(size_t rows, size_t cols, double gamma, double size,
                                   const char *seed)
{
    sample s = { rows, cols, calloc(rows * cols, sizeof(double)),
                 calloc(cols * K, sizeof(double)) };
    clo_rng *const rng = seeded(seed);
    clo_stream *stream = NULL;
    clo_error err;
    assert_non_null(s.values);
    assert_non_null(s.basis);
    assert_ok(clo_i_stream_open(rng, 0, 0, &stream, &err), err);
    for (size_t i = 0; i < cols * K; i++) s.basis[i] = clo_i_random_normal(stream);
    assert_ok(clo_i_orthonormalize(s.basis, cols, K, &err), err);
    for (size_t i = 0; i < rows; i++) {
        const double along[K] = { clo_i_random_normal(stream), clo_i_random_normal(stream) };
        for (size_t j = 0; j < cols; j++)
            s.values[i * cols + j] =
                size * (along[0] * s.basis[j * K] + along[1] * s.basis[j * K + 1] +
                        gamma * clo_i_random_normal(stream));
    }
    clo_i_stream_close(stream);
    clo_rng_free(rng);
    return s;
}

static inline void free_sample(sample *s)
{
    free(s->values);
    free(s->basis);
}

/* The sine of the largest angle to the truth; -1 where nothing was found. */
static inline double error_of(const clo_release *release, const sample *s)
{
    clo_array found, basis;
    double sines[K];
    clo_error err;
    assert_true(clo_release_find(release, "found", &found));
    assert_true(clo_release_find(release, "basis", &basis) == (found.data[0] > 0));
    if (!(found.data[0] > 0)) return -1;
    assert_ok(clo_i_sin_angles(basis.data, s->basis, s->cols, K, sines, &err), err);
    return sines[0];
}

#endif
