/*
 * noisy_sums.h - answers that are sums: of records, of their products, of ones.  A few records, so
 * that some numbers have a truth beside zero.
 */
#ifndef CLO_TEST_NOISY_SUMS_H
#define CLO_TEST_NOISY_SUMS_H

#include "noisy_form.h"
#include "query/cluster_sum.h"

/* ---- sums and sizes -------------------------------------------------------------------------- */

enum { SUM_ROWS = 4 };

/* The line is there; its noise has one scale. */
static inline void prepare_sums(noisy *n)
{
    const size_t d = n->domain.cols, width = d + 1;
    const double unit = ldexp(1, n->line.bits), off = 0.25;
    noisy_room(n, n->line.groups * width, n->form->asks, SUM_ROWS);
    noisy_clusters(n, off);
    noisy_by_cluster(n, width, 1);
    for (size_t i = 0; i < n->rows; i++) {
        double *const truth = n->truth + i % CLUSTERS * width;
        truth[i % CLUSTERS] += 0.5 * unit;
        truth[d - 1] += off * unit;
        truth[d] += (double)n->line.count_unit;
    }
    n->scales[0] = n->scales[1] = (double)n->line.scale;
}

static inline void residual_sums(const noisy *n, double *residual)
{
    const size_t d = n->domain.cols, width = d + 1;
    for (size_t i = 0; i < n->numbers; i++) {
        const size_t c = i / width, j = i % width;
        residual[i] = (j < d ? ldexp(n->sums[c * d + j], n->line.bits)
                             : n->sizes[c] * (double)n->line.count_unit) -
                      n->truth[i];
    }
}

static inline void ask_cluster_sum(noisy *n, double *residual)
{
    clo_error err;
    assert_ok(
        clo_i_ask_cluster_sum(&n->a.context, n->number, n->data, &n->rule, n->sums, n->sizes, &err),
        err);
    residual_sums(n, residual);
}

/* ---- moments --------------------------------------------------------------------------------- */

static inline void classes_of_moments(noisy *n, const unsigned *multiplicities, size_t classes,
                                      unsigned multiplicity, size_t at)
{
    size_t c = 0;
    while (multiplicities[c] != multiplicity) c++;
    assert_true(c < classes);
    n->class_of[at] = (uint8_t)c;
    n->scales[c] = ceil((double)n->line.scale / sqrt(multiplicity));
}

#endif
