/*
 * solve_flats.h - points on a few random subspaces, for the tests of subspace clustering.
 */
#ifndef CLO_TEST_SOLVE_FLATS_H
#define CLO_TEST_SOLVE_FLATS_H

#include "solve_job.h"

typedef struct flats_data {
    size_t count, cols, clusters, dim;
    double noise;
    double offset; /* the length, about, of each subspace's offset; 0: linear */
} flats_data;

/* Row i is on subspace i % clusters; truth (or NULL) says so. */
static inline double *flats_rows(flats_data of, uint64_t seed, uint32_t *truth)
{
    const size_t d = of.cols;
    double *const bases = job_need(of.clusters * (of.dim + 1) * d, sizeof *bases);
    double *const rows = job_need(of.count * d, sizeof *rows);
    for (size_t i = 0; i < of.clusters * (of.dim + 1) * d; i++)
        bases[i] = job_normal(&seed) / sqrt((double)d);
    for (size_t i = 0; i < of.count; i++) {
        const double *const basis = bases + i % of.clusters * (of.dim + 1) * d;
        for (size_t q = 0; q <= of.dim; q++) {
            const double weight = q < of.dim ? job_normal(&seed) : of.offset;
            for (size_t c = 0; c < d; c++) rows[i * d + c] += weight * basis[q * d + c];
        }
        for (size_t c = 0; c < d; c++) rows[i * d + c] += of.noise * job_normal(&seed);
        if (truth) truth[i] = (uint32_t)(i % of.clusters);
    }
    free(bases);
    return rows;
}

#endif
