/*
 * noisy_blocks.h - answers of disjoint blocks of records, all of which agree, so that the truth is
 * known.
 */
#ifndef CLO_TEST_NOISY_BLOCKS_H
#define CLO_TEST_NOISY_BLOCKS_H

#include "noisy_draws.h"
#include "query/aggregate.h"
#include "query/histogram.h"

/* ---- blocks ---------------------------------------------------------------------------------- */

enum { BLOCKS = 9 };

/* All blocks agree: t_0 = 6, and the first t beyond nine blocks is 10 = t_0 + 4, after three steps;
 * so that the noise has this deviation, of a coordinate (as in test_aggregate.c). */
static inline int noised_bits(const noisy *n)
{
    return (int)clo_i_aggregate_part(&n->line).grid_bits;
}

static inline void set_deviation(noisy *n, double diameter, double deviation)
{
    const double beta = 1.5;
    change_part(aggregate, &n->line, beta = beta);
    change_part(aggregate, &n->line, alpha = 2 * diameter * exp(-beta * 3 / 2) / deviation);
    n->scales[0] = ldexp(deviation, noised_bits(n)) + 0x1p24;
}

static inline clo_status known_centers(void *user, const clo_block *block, double *centers,
                                       clo_error *err)
{
    for (size_t c = 0; c < CLUSTERS; c++)
        for (size_t j = 0; j < block->cols; j++)
            centers[c * block->cols + j] = j == 0 ? 0.5 * (double)c - 0.5 : 0;
    return CLO_OK;
}

/* In the order of their first columns, which noise does not change; and all inside of the ball. */
static inline void prepare_centers(noisy *n)
{
    clo_error err;
    n->domain = ball(n->form->cols, 1, CLO_REPLACE);
    assert_ok(clo_i_plan_aggregate_centers(&n->domain, CLUSTERS, BLOCKS, (clo_loss){ 12, 1e-5 }, "",
                                           &n->line, &err),
              err);
    noisy_room(n, CLUSTERS * n->form->cols, n->form->asks, BLOCKS);
    noisy_by_cluster(n, n->form->cols, 0);
    set_deviation(n, 2 * sqrt(CLUSTERS), 0x1p-8);
    for (size_t c = 0; c < CLUSTERS; c++)
        n->truth[c * n->form->cols] = ldexp(0.5 * (double)c - 0.5, noised_bits(n));
}

static inline void ask_centers(noisy *n, double *residual)
{
    clo_error err;
    assert_ok(
        clo_i_ask_aggregate(&n->a.context, n->number, n->data, known_centers, NULL, n->sums, &err),
        err);
    for (size_t i = 0; i < n->numbers; i++)
        residual[i] = ldexp(n->sums[i], noised_bits(n)) - n->truth[i];
}

enum { LINE_COLS = 24 };

static inline clo_status known_lines(void *user, const clo_block *block, double *bases,
                                     clo_error *err)
{
    for (size_t c = 0; c < CLUSTERS; c++)
        for (size_t j = 0; j < LINE_COLS; j++) bases[c * LINE_COLS + j] = j == c * 8;
    return CLO_OK;
}

/* Lines along axes: of the noise, what lies across a line can be seen of it, all but exactly. */
static inline void prepare_lines(noisy *n)
{
    clo_error err;
    n->domain = ball(LINE_COLS, 1, CLO_REPLACE);
    assert_ok(clo_i_plan_aggregate(&n->domain, CLUSTERS, 1, BLOCKS, (clo_loss){ 12, 1e-5 }, "",
                                   &n->line, &err),
              err);
    noisy_room(n, CLUSTERS * (LINE_COLS - 1), n->form->asks, BLOCKS);
    noisy_by_cluster(n, LINE_COLS - 1, 0);
    set_deviation(n, sqrt(2 * CLUSTERS), 0x1p-12);
}

static inline void ask_lines(noisy *n, double *residual)
{
    clo_error err;
    assert_ok(
        clo_i_ask_aggregate(&n->a.context, n->number, n->data, known_lines, NULL, n->sums, &err),
        err);
    for (size_t c = 0; c < CLUSTERS; c++) {
        const size_t axis = c * 8;
        size_t at = c * (LINE_COLS - 1), told = 0;
        while (fabs(n->sums[told * LINE_COLS + axis]) < 0.9) told++;
        assert_true(told < CLUSTERS);
        for (size_t j = 0; j < LINE_COLS; j++)
            if (j != axis)
                residual[at++] =
                    ldexp(n->sums[told * LINE_COLS + j] / n->sums[told * LINE_COLS + axis],
                          noised_bits(n));
    }
}

enum { HISTOGRAM_PARTS = 256, HISTOGRAM_BLOCKS = 64 };

/* Half of a part's blocks name one cell, half the other; user: how many have named one so far, a
 * part each. */
static inline clo_status either_cell(void *user, size_t part, const clo_block *block,
                                     int64_t *place, clo_error *err)
{
    _Atomic unsigned *const named = user;
    *place = named[part]++ % 2;
    return CLO_OK;
}

/* Both far above the threshold. */
static inline void prepare_histogram(noisy *n)
{
    clo_error err;
    n->domain = ball(1, 1, CLO_REPLACE);
    assert_ok(clo_i_plan_histogram(&n->domain, 1, HISTOGRAM_PARTS, HISTOGRAM_BLOCKS,
                                   (clo_loss){ 1, .05 }, "", &n->line, &err),
              err);
    noisy_room(n, HISTOGRAM_PARTS, n->form->asks, 1);
    n->scales[0] = 1;
}

/* P[two draws of the discrete Laplace law of this rate <= x]. */
static inline double larger_of_two(double rate, double x)
{
    const double both = 1 + exp(-rate);
    const double one = x < 0 ? exp(rate * x) / both : 1 - exp(-rate * (x + 1)) / both;
    return one * one;
}

static inline void ask_histogram(noisy *n, double *residual)
{
    const double rate = 0.5; /* epsilon 1 over 2 */
    _Atomic unsigned named[HISTOGRAM_PARTS] = { 0 };
    clo_cell cells[HISTOGRAM_PARTS];
    int64_t places[HISTOGRAM_PARTS];
    clo_error err;
    for (size_t p = 0; p < HISTOGRAM_PARTS; p++) cells[p] = (clo_cell){ .place = &places[p] };
    assert_ok(clo_i_ask_histogram(&n->a.context, n->number, n->data, either_cell, named, NULL, 0,
                                  cells, &err),
              err);
    for (size_t p = 0; p < HISTOGRAM_PARTS; p++) {
        const double x = (double)(cells[p].size - HISTOGRAM_BLOCKS / 2);
        assert_true(cells[p].found);
        residual[p] = laplace_within(n, larger_of_two(rate, x - 1), larger_of_two(rate, x));
    }
}

#endif
