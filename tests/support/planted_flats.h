/*
 * planted_flats.h - rows around flats that are known, for the tests of solvers that look for them.
 */
#ifndef CLO_TEST_PLANTED_FLATS_H
#define CLO_TEST_PLANTED_FLATS_H

#include "check.h"
#include "linalg/linalg.h"
#include "measure/measure.h"
#include "random/random.h"
#include "solver/solver.h"
#include <stdlib.h>

/* Rows around planted flats. */
typedef struct planted {
    double *rows;
    uint32_t *labels;
    size_t count, cols, clusters;
    clo_rng *rng;
    clo_solver_input job;
} planted;

static inline clo_rng *rng_of(const char *text)
{
    clo_rng *rng = NULL;
    clo_error err;
    uint8_t seed[32];
    clo_seed_from_text(text, seed);
    assert_ok(clo_rng_new_seeded(seed, &rng, &err), err);
    return rng;
}

/* x = c + U y + noise, y normal; spread: how far the offsets c are. */
static inline planted plant(const char *seed, size_t count, size_t cols, size_t clusters,
                            const size_t *dims, double noise, double spread)
{
    planted p = { .count = count, .cols = cols, .clusters = clusters, .rng = rng_of(seed) };
    clo_stream *stream = NULL;
    clo_error err;
    double *const bases = calloc(clusters * cols * cols, sizeof *bases);
    double *const offsets = calloc(clusters * cols, sizeof *offsets);
    p.rows = calloc(count * cols, sizeof *p.rows);
    p.labels = calloc(count, sizeof *p.labels);
    assert_ok(clo_i_stream_open(p.rng, clo_i_rng_next_ask(p.rng), 0, &stream, &err), err);
    for (size_t l = 0; l < clusters; l++) {
        double *const basis = bases + l * cols * cols;
        for (size_t i = 0; i < cols * dims[l]; i++) basis[i] = clo_i_random_normal(stream);
        assert_ok(clo_i_orthonormalize(basis, cols, dims[l], &err), err);
        for (size_t c = 0; c < cols; c++)
            offsets[l * cols + c] = spread * clo_i_random_normal(stream);
    }
    for (size_t i = 0; i < count; i++) {
        const size_t l = clo_i_random_below(stream, clusters);
        double *const row = p.rows + i * cols;
        p.labels[i] = (uint32_t)l;
        for (size_t c = 0; c < cols; c++)
            row[c] = offsets[l * cols + c] + noise * clo_i_random_normal(stream);
        for (size_t j = 0; j < dims[l]; j++) {
            const double weight = clo_i_random_normal(stream);
            for (size_t c = 0; c < cols; c++)
                row[c] += weight * bases[l * cols * cols + c * dims[l] + j];
        }
    }
    clo_i_stream_close(stream);
    free(bases);
    free(offsets);
    p.job = (clo_solver_input){
        .rows = p.rows, .count = count, .cols = cols, .rng = p.rng, .threads = 1, .progress_to = 1
    };
    return p;
}

static inline void uproot(planted *p)
{
    clo_rng_free(p->rng);
    free(p->rows);
    free(p->labels);
}

static inline double accuracy(const planted *p, const clo_partition *found)
{
    const size_t k = p->clusters;
    double *const table = calloc(k * k, sizeof *table), right = 0;
    size_t *const partner = calloc(k, sizeof *partner);
    clo_error err;
    for (size_t i = 0; i < p->count; i++) table[p->labels[i] * k + found->labels[i]] -= 1;
    assert_ok(clo_i_match(table, k, partner, &err), err);
    for (size_t l = 0; l < k; l++) right -= table[l * k + partner[l]];
    free(table);
    free(partner);
    return right / (double)p->count;
}

#endif
