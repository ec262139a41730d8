/*
 * noisy_draws.h - answers that are drawn, such as a choice, turned into numbers of the unit Laplace
 * law by the law that they should have, with a random point inside of each step: so independence is
 * checked there as elsewhere.
 */
#ifndef CLO_TEST_NOISY_DRAWS_H
#define CLO_TEST_NOISY_DRAWS_H

#include "noisy_sums.h"
#include "query/assign.h"
#include "query/choose_centers.h"
#include "query/choose_flats.h"
#include "query/partition.h"
#include "query/peel.h"
#include "query/quantile.h"
#include "query/seed.h"

/* ---- drawn answers --------------------------------------------------------------------------- */

/* A number of the unit Laplace law that is below zero in a share of one half, and so on. */
static inline double laplace_at(double share)
{
    return share < 0.5 ? log(2 * share) : -log(2 * (1 - share));
}

/* A random point of the step from `from` to `to`. */
static inline double laplace_within(noisy *n, double from, double to)
{
    const double inside = ((double)(clo_i_random_u64(n->jitter) >> 12) + 0.5) * 0x1p-52;
    return laplace_at(from + (to - from) * inside);
}

static inline double laplace_of_choice(noisy *n, size_t chosen, size_t candidates)
{
    return laplace_within(n, (double)chosen / (double)candidates,
                          (double)(chosen + 1) / (double)candidates);
}

enum { CHOICES = 4096 + 137, CANDIDATES = 64 };

/* No record says anything: every candidate is as good. */
static inline void prepare_choices(noisy *n)
{
    n->domain = ball(2, 1, CLO_ADD_REMOVE);
    noisy_room(n, CHOICES, n->form->asks, 0);
    n->scales[0] = 1;
}

static inline void prepare_choose_flats(noisy *n)
{
    clo_error err;
    prepare_choices(n);
    assert_ok(clo_i_plan_choose_flats(&n->domain, CANDIDATES, 1, 1, 1, "", &n->line, &err), err);
}

static inline void ask_choose_flats(noisy *n, double *residual)
{
    const double axis[2] = { 1, 0 };
    const size_t mark = clo_i_workspace_mark(n->a.context.workspace);
    clo_assign flats[CANDIDATES];
    clo_error err;
    assert_ok(
        clo_i_assign_subspaces(n->a.context.workspace, axis, 1, 2, 1, n->line.bits, flats, &err),
        err);
    for (size_t c = 1; c < CANDIDATES; c++) flats[c] = flats[0];
    for (size_t i = 0; i < n->numbers; i++) {
        size_t chosen;
        assert_ok(clo_i_ask_choose_flats(&n->a.context, n->number, n->data, flats, &chosen, &err),
                  err);
        residual[i] = laplace_of_choice(n, chosen, CANDIDATES);
    }
    clo_i_workspace_release(n->a.context.workspace, mark);
}

static inline void prepare_choose_centers(noisy *n)
{
    const clo_center_choice how = { CANDIDATES, 1, CANDIDATES, CLO_LOSS_SQUARED, 2 };
    clo_error err;
    prepare_choices(n);
    assert_ok(clo_i_plan_choose_centers(&n->domain, &how, 1, 1, "", &n->line, &err), err);
}

static inline void ask_choose_centers(noisy *n, double *residual)
{
    static const double points[2 * CANDIDATES];
    const clo_candidates candidates = { points, CANDIDATES };
    size_t sets[CANDIDATES];
    clo_error err;
    for (size_t c = 0; c < CANDIDATES; c++) sets[c] = c;
    for (size_t i = 0; i < n->numbers; i++) {
        size_t chosen;
        assert_ok(
            clo_i_ask_best_set(&n->a.context, n->number, n->data, &candidates, sets, &chosen, &err),
            err);
        residual[i] = laplace_of_choice(n, chosen, CANDIDATES);
    }
}

static inline void prepare_quantile(noisy *n)
{
    const clo_quantile how = { CANDIDATES, 1, 0.5 };
    clo_error err;
    prepare_choices(n);
    assert_ok(clo_i_plan_quantile(&n->domain, &how, 1, 1, "", &n->line, &err), err);
    /* Nothing is to be left out, and there is no lead: all scores are 0. */
    clo_quantile_part part = clo_i_quantile_part(&n->line);
    part.left_out = part.floor = part.lead = 0;
    clo_i_quantile_set_part(&n->line, part);
}

static inline void ask_quantile(noisy *n, double *residual)
{
    int64_t thresholds[CANDIDATES];
    clo_error err;
    for (int64_t c = 0; c < CANDIDATES; c++) thresholds[c] = c;
    for (size_t i = 0; i < n->numbers; i++) {
        size_t chosen;
        assert_ok(clo_i_ask_quantile(&n->a.context, n->number, n->data, SIZE_MAX, thresholds,
                                     &chosen, &err),
                  err);
        residual[i] = laplace_of_choice(n, chosen, CANDIDATES);
    }
}

static inline void prepare_seed(noisy *n)
{
    clo_error err;
    prepare_choices(n);
    assert_ok(clo_i_plan_seed(&n->domain, CANDIDATES, 1, 1, 1, "", &n->line, &err), err);
}

static inline void ask_seed(noisy *n, double *residual)
{
    static const double middles[2 * CANDIDATES];
    static const bool taken[CANDIDATES];
    const size_t mark = clo_i_workspace_mark(n->a.context.workspace);
    clo_assign cells;
    clo_error err;
    assert_ok(clo_i_assign_centers(n->a.context.workspace, middles, CANDIDATES, 2, n->line.bits,
                                   &cells, &err),
              err);
    for (size_t i = 0; i < n->numbers; i++) {
        size_t chosen;
        assert_ok(
            clo_i_ask_seed(&n->a.context, n->number, n->data, &cells, NULL, taken, &chosen, &err),
            err);
        residual[i] = laplace_of_choice(n, chosen, CANDIDATES);
    }
    clo_i_workspace_release(n->a.context.workspace, mark);
}

/* ---- peel: choices, then numbers ------------------------------------------------------------- */

/* Every column is told in the end; the records are as for sums. */
static inline void prepare_peel(noisy *n)
{
    clo_error err;
    n->domain = ball(n->form->cols, 1, CLO_REPLACE);
    assert_ok(clo_i_plan_peel(&n->domain, n->form->cols, n->form->clusters, 0, n->form->cols,
                              0x1p-18, "", &n->line, &err),
              err);
    prepare_sums(n);
    /* line.scale is the whole number above the scale of a value's noise. */
    n->scales[0] = n->scales[1] = (double)n->line.rate_denominator /
                                  (double)n->line.rate_numerator /
                                  (double)clo_i_peel_part(&n->line).weight;
}

static inline void ask_peel(noisy *n, double *residual)
{
    const size_t d = n->domain.cols, width = d + 1;
    size_t *const columns = calloc(n->numbers, sizeof *columns);
    clo_error err;
    assert_ok(clo_i_ask_peel(&n->a.context, n->number, n->data, &n->rule, columns, n->sums,
                             n->sizes, &err),
              err);
    for (size_t i = 0; i < n->numbers; i++) {
        const size_t c = i / width, t = i % width;
        const double told = t < d ? ldexp(n->sums[c * d + t], n->line.bits)
                                  : n->sizes[c] * (double)n->line.count_unit;
        residual[i] = told - n->truth[c * width + (t < d ? columns[c * d + t] : d)];
    }
    free(columns);
}

/* No records, and one column of each cluster is told: any. */
static inline void prepare_peel_choice(noisy *n)
{
    clo_error err;
    n->domain = ball(CANDIDATES, 1, CLO_ADD_REMOVE);
    assert_ok(clo_i_plan_peel(&n->domain, CANDIDATES, CLUSTERS, 0, 1, 1, "", &n->line, &err), err);
    noisy_room(n, CHOICES / CLUSTERS * CLUSTERS, n->form->asks, 0);
    n->centers = calloc(CLUSTERS * CANDIDATES, sizeof *n->centers);
    for (size_t i = 0; i < n->numbers; i++) n->cluster_of[i] = (uint16_t)(i % CLUSTERS);
    n->scales[0] = 1;
}

static inline void ask_peel_choice(noisy *n, double *residual)
{
    clo_error err;
    for (size_t i = 0; i < n->numbers; i += CLUSTERS) {
        size_t columns[CLUSTERS];
        assert_ok(clo_i_ask_peel(&n->a.context, n->number, n->data, &n->rule, columns, n->sums,
                                 n->sizes, &err),
                  err);
        for (size_t c = 0; c < CLUSTERS; c++)
            residual[i + c] = laplace_of_choice(n, columns[c], CANDIDATES);
    }
}

/* ---- trees of cubes -------------------------------------------------------------------------- */

enum { CORNER_RECORDS = 15, SURE_RECORDS = 200, CORNERS = 3 };

/* Four corners: one with so many records that it is always active, so that where the cube lies is
 * known; the three others with a few each. */
static inline void prepare_partition(noisy *n)
{
    const clo_cube_tree how = { .levels = 1, .trees = 1, .most = 4 };
    clo_error err;
    n->domain = ball(2, 1, CLO_ADD_REMOVE);
    assert_ok(clo_i_plan_partition(&n->domain, &how, 0.2, "", &n->line, &err), err);
    noisy_room(n, CORNERS * 1024, n->form->asks, SURE_RECORDS + CORNERS * CORNER_RECORDS);
    for (size_t r = 0; r < n->rows; r++) {
        const size_t corner = r < SURE_RECORDS ? CORNERS : r % CORNERS;
        n->records[2 * r] = corner & 1 ? 0.7 : -0.7;
        n->records[2 * r + 1] = corner & 2 ? 0.7 : -0.7;
    }
    for (size_t i = 0; i < n->numbers; i++) n->cluster_of[i] = (uint16_t)(i % CORNERS);
    n->scales[0] = 1;
}

/* partition.T1, and a phantom among four children: by the number of phantoms, j of them with chance
 * 8^-j 7/8 for j below 4. */
static inline double chance_of_corner(const clo_line *line)
{
    const double rate = (double)line->rate_numerator / (double)line->rate_denominator;
    const int64_t threshold = (int64_t)clo_i_partition_part(line).threshold;
    double all = 1 / -expm1(-rate), below = 0, phantom = 0;
    for (int64_t x = 1 - threshold; x < 0; x++) all += exp(rate * (double)x);
    for (int64_t x = 1 - threshold; x <= CORNER_RECORDS - threshold; x++)
        below += exp(-rate * fabs((double)x));
    for (int j = 1; j < 4; j++) phantom += pow(8, -j) * 7 / 8 * j / 4;
    phantom += pow(8, -4);
    return 1 - (1 - below / all) * (1 - phantom);
}

/* One tree whose cube is halved between the corners, along both axes; its active corners. */
static inline void grow_tree(noisy *n, bool active[CORNERS + 1])
{
    double centers[8];
    bool apart = false;
    while (!apart) {
        clo_cubes cubes = { .centers = centers };
        double low[2] = { INFINITY, INFINITY };
        clo_error err;
        assert_ok(clo_i_ask_partition(&n->a.context, n->number, n->data, &cubes, &err), err);
        memset(active, 0, (CORNERS + 1) * sizeof *active);
        /* The corner at (.7, .7) is always there; a child runs from its centre - 1 to + 1. */
        for (size_t c = 0; c < cubes.count; c++)
            if (fabs(centers[2 * c] - .7) <= 1 && fabs(centers[2 * c + 1] - .7) <= 1)
                low[0] = centers[2 * c] - 1, low[1] = centers[2 * c + 1] - 1;
        assert_true(isfinite(low[0]));
        apart = fabs(low[0]) < .69 && fabs(low[1]) < .69;
        for (size_t c = 0; c < cubes.count && apart; c++)
            active[(centers[2 * c] > low[0]) + 2 * (centers[2 * c + 1] > low[1])] = true;
    }
}

static inline void ask_partition(noisy *n, double *residual)
{
    const double chance = chance_of_corner(&n->line);
    for (size_t i = 0; i < n->numbers; i += CORNERS) {
        bool active[CORNERS + 1];
        grow_tree(n, active);
        for (size_t c = 0; c < CORNERS; c++)
            residual[i + c] =
                active[c] ? laplace_within(n, 1 - chance, 1) : laplace_within(n, 0, 1 - chance);
    }
}

#endif
