/*
 * noisy_sums.h - answers that are sums: of records, of their products, of ones.  A few records, so
 * that some numbers have a truth beside zero.
 */
#ifndef CLO_TEST_NOISY_SUMS_H
#define CLO_TEST_NOISY_SUMS_H

#include "noisy_form.h"
#include "query/cell_counts.h"
#include "query/cluster_sum.h"
#include "query/count.h"
#include "query/gaussian_gram.h"
#include "query/gaussian_moment.h"
#include "query/gaussian_moment3.h"
#include "query/gaussian_step.h"
#include "query/gaussian_sum.h"
#include "query/laplace_sum.h"
#include "query/cross_moment.h"
#include "query/local_gram.h"
#include "query/local_sum.h"
#include "query/sparse_sum.h"

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

static inline void prepare_gaussian_sum(noisy *n)
{
    clo_error err;
    n->domain = ball(n->form->cols, 1, CLO_ADD_REMOVE);
    assert_ok(clo_i_plan_gaussian_sum(&n->domain, n->form->clusters, 0x1p20 / WIDE, 1, "", &n->line,
                                      &err),
              err);
    prepare_sums(n);
}

static inline void prepare_laplace_sum(noisy *n)
{
    clo_error err;
    n->domain = ball(n->form->cols, 1, CLO_REPLACE);
    assert_ok(
        clo_i_plan_laplace_sum(&n->domain, n->form->clusters, 0x1p27 / WIDE, 1, "", &n->line, &err),
        err);
    prepare_sums(n);
}

static inline void ask_cluster_sum(noisy *n, double *residual)
{
    clo_error err;
    assert_ok(
        clo_i_ask_cluster_sum(&n->a.context, n->number, n->data, &n->rule, n->sums, n->sizes, &err),
        err);
    residual_sums(n, residual);
}

static inline void prepare_sparse_sum(noisy *n, clo_event_kind kind, double parameter)
{
    clo_error err;
    n->domain = ball(n->form->cols, 1, CLO_REPLACE);
    assert_ok(clo_i_plan_sparse_sum(&n->domain, n->form->cols, n->form->clusters, 0, kind,
                                    parameter, "", &n->line, &err),
              err);
    prepare_sums(n);
}

static inline void prepare_sparse_gaussian(noisy *n)
{
    prepare_sparse_sum(n, CLO_EVENT_GAUSSIAN, 0x1p21 / WIDE);
}

static inline void prepare_sparse_laplace(noisy *n)
{
    prepare_sparse_sum(n, CLO_EVENT_PURE, 0x1p27 / WIDE);
}

static inline void ask_sparse_sum(noisy *n, double *residual)
{
    clo_error err;
    assert_ok(
        clo_i_ask_sparse_sum(&n->a.context, n->number, n->data, &n->rule, n->sums, n->sizes, &err),
        err);
    residual_sums(n, residual);
}

/* Records at their centres: no pull, and a stiffness of one each. */
static inline void prepare_gaussian_step(noisy *n)
{
    clo_error err;
    n->domain = ball(n->form->cols, 1, CLO_REPLACE);
    assert_ok(clo_i_plan_gaussian_step(&n->domain, n->form->clusters, 0x1p21 / WIDE, 1, "",
                                       &n->line, &err),
              err);
    const size_t d = n->domain.cols, width = d + 2;
    noisy_room(n, n->line.groups * width, n->form->asks, SUM_ROWS);
    noisy_clusters(n, 0);
    noisy_by_cluster(n, width, 2);
    for (size_t c = 0; c < n->line.groups; c++) n->class_of[c * width + width - 1] = 2;
    for (size_t i = 0; i < n->rows; i++) {
        n->truth[i % CLUSTERS * width + d] += (double)n->line.count_unit;
        n->truth[i % CLUSTERS * width + d + 1] += (double)n->line.count_unit;
    }
    for (size_t c = 0; c < 3; c++) n->scales[c] = (double)n->line.scale;
}

static inline void ask_gaussian_step(noisy *n, double *residual)
{
    clo_error err;
    double *const stiffness = n->sizes + n->numbers, unit = (double)n->line.count_unit;
    clo_steps steps = { n->sums, stiffness, n->sizes };
    const size_t d = n->domain.cols, width = d + 2;
    assert_ok(
        clo_i_ask_gaussian_step(&n->a.context, n->number, n->data, &n->rule, 0.25, &steps, &err),
        err);
    for (size_t i = 0; i < n->numbers; i++) {
        const size_t c = i / width, j = i % width;
        residual[i] = (j < d    ? ldexp(n->sums[c * d + j], n->line.bits)
                       : j == d ? stiffness[c] * unit
                                : n->sizes[c] * unit) -
                      n->truth[i];
    }
}

/* Records at their centres: no difference, no length, and a size of one each. */
static inline void prepare_local(noisy *n, clo_event_kind kind, double parameter)
{
    clo_error err;
    n->domain = ball(n->form->cols, 1, CLO_REPLACE);
    assert_ok(
        clo_i_plan_local_sum(&n->domain, n->form->clusters, kind, parameter, 1, "", &n->line, &err),
        err);
    const size_t d = n->domain.cols, width = d + 2;
    noisy_room(n, n->line.groups * width, n->form->asks, SUM_ROWS);
    noisy_clusters(n, 0);
    noisy_by_cluster(n, width, 2);
    for (size_t c = 0; c < n->line.groups; c++) n->class_of[c * width + width - 1] = 2;
    for (size_t i = 0; i < n->rows; i++)
        n->truth[i % CLUSTERS * width + d + 1] += (double)n->line.count_unit;
    for (size_t c = 0; c < 3; c++) n->scales[c] = (double)n->line.scale;
}

static inline void prepare_local_gaussian(noisy *n)
{
    prepare_local(n, CLO_EVENT_GAUSSIAN, 0x1p21 / WIDE);
}

static inline void prepare_local_laplace(noisy *n)
{
    prepare_local(n, CLO_EVENT_PURE, 0x1p27 / WIDE);
}

static inline void ask_local_sum(noisy *n, double *residual)
{
    clo_error err;
    double *const squares = n->sizes + n->numbers;
    const double unit = (double)n->line.count_unit;
    const double square_unit = (double)clo_i_local_sum_part(&n->line).square_unit;
    clo_local_sums sums = { n->sums, squares, n->sizes };
    clo_local_view views[CLO_MAX_CLUSTERS];
    const size_t d = n->domain.cols, width = d + 2;
    for (size_t c = 0; c < n->line.groups; c++) views[c] = (clo_local_view){ 0.25, 0.5 };
    assert_ok(clo_i_ask_local_sum(&n->a.context, n->number, n->data, &n->rule, views, &sums, &err),
              err);
    for (size_t i = 0; i < n->numbers; i++) {
        const size_t c = i / width, j = i % width;
        residual[i] = (j < d    ? ldexp(n->sums[c * d + j], n->line.bits)
                       : j == d ? squares[c] * square_unit
                                : n->sizes[c] * unit) -
                      n->truth[i];
    }
}

/* Records on their lines: no residual, no length, and a size of one each. */
static inline void prepare_cross(noisy *n)
{
    clo_error err;
    n->domain = ball(n->form->cols, 1, CLO_REPLACE);
    assert_ok(clo_i_plan_cross_moment(&n->domain, n->form->clusters, 1, 0x1p21 / WIDE, 1, "",
                                      &n->line, &err),
              err);
    const size_t d = n->domain.cols, width = d + 2;
    noisy_room(n, n->line.groups * width, n->form->asks, SUM_ROWS);
    noisy_clusters(n, 0);
    noisy_by_cluster(n, width, 2);
    for (size_t c = 0; c < n->line.groups; c++) n->class_of[c * width + width - 1] = 2;
    for (size_t i = 0; i < n->rows; i++)
        n->truth[i % CLUSTERS * width + d + 1] += (double)n->line.count_unit;
    for (size_t c = 0; c < 3; c++) n->scales[c] = (double)n->line.scale;
}

/* The lines through the centres, which are half as long as a basis vector. */
static inline void ask_cross_moment(noisy *n, double *residual)
{
    clo_workspace *const space = n->a.context.workspace;
    const size_t d = n->domain.cols, k = n->line.groups, width = d + 2;
    const size_t mark = clo_i_workspace_mark(space);
    double *const squares = n->sizes + n->numbers, *const bases = n->sums + n->numbers;
    const double square_unit = (double)clo_i_cross_moment_part(&n->line).square_unit;
    clo_cross_moments moments = { n->sums, squares, n->sizes };
    clo_cross_view views[CLO_MAX_CLUSTERS];
    clo_assign rule;
    clo_error err;
    for (size_t i = 0; i < k * d; i++) bases[i] = 2 * n->centers[i];
    for (size_t c = 0; c < k; c++) views[c] = (clo_cross_view){ 0.25, 0.5 };
    assert_ok(clo_i_assign_subspaces(space, bases, k, d, 1, n->line.bits, &rule, &err), err);
    assert_ok(
        clo_i_ask_cross_moment(&n->a.context, n->number, n->data, &rule, views, &moments, &err),
        err);
    for (size_t i = 0; i < n->numbers; i++) {
        const size_t c = i / width, j = i % width;
        residual[i] = (j < d    ? ldexp(n->sums[c * d + j], n->line.bits)
                       : j == d ? squares[c] * square_unit
                                : n->sizes[c] * (double)n->line.count_unit) -
                      n->truth[i];
    }
    clo_i_workspace_release(space, mark);
}

/* ---- moments --------------------------------------------------------------------------------- */

static inline void prepare_gram(noisy *n)
{
    const size_t k = n->form->clusters, d = n->form->cols;
    const double square = ldexp(1, 2 * 15);
    clo_error err;
    n->domain = ball(d, 1, CLO_REPLACE);
    assert_ok(clo_i_plan_gaussian_gram(&n->domain, k, square / WIDE, 1, "", &n->line, &err), err);
    noisy_room(n, k * (d * (d + 1) / 2), n->form->asks, 4);
    if (k > 1) noisy_clusters(n, 0.25);
    size_t at = 0;
    for (size_t c = 0; c < k; c++)
        for (size_t i = 0; i < d; i++)
            for (size_t j = i; j < d; j++, at++) {
                n->class_of[at] = i != j;
                n->cluster_of[at] = (uint16_t)c;
                for (size_t r = 0; r < n->rows; r++)
                    if (r % CLUSTERS == c)
                        n->truth[at] += n->records[r * d + i] * n->records[r * d + j] * square;
            }
    n->scales[0] = (double)n->line.scale;
    n->scales[1] = ceil((double)n->line.scale / sqrt(2));
}

static inline void ask_gram(noisy *n, double *residual)
{
    const size_t d = n->domain.cols;
    clo_error err;
    double *const grams = n->sums; /* clusters x d x d: fewer than twice the triangles */
    assert_ok(clo_i_ask_gaussian_gram(&n->a.context, n->number, n->data, &n->rule, grams, &err),
              err);
    size_t at = 0;
    for (size_t c = 0; c < n->line.groups; c++)
        for (size_t i = 0; i < d; i++)
            for (size_t j = i; j < d; j++, at++) {
                const double entry = grams[(c * d + i) * d + j];
                assert_true(entry == grams[(c * d + j) * d + i]);
                residual[at] = ldexp(entry, 2 * n->line.bits) - n->truth[at];
            }
}

/* Records at the centre: nothing but noise. */
static inline void prepare_local_gram(noisy *n)
{
    const size_t d = n->form->cols;
    clo_error err;
    n->domain = ball(d, 1, CLO_REPLACE);
    assert_ok(clo_i_plan_local_gram(&n->domain, 0x1p16 / WIDE, 1, "", &n->line, &err), err);
    noisy_room(n, d * (d + 1) / 2, n->form->asks, 4);
    for (size_t i = 0, at = 0; i < d; i++)
        for (size_t j = i; j < d; j++) n->class_of[at++] = i != j;
    n->scales[0] = (double)n->line.scale;
    n->scales[1] = ceil((double)n->line.scale / sqrt(2));
}

static inline void ask_local_gram(noisy *n, double *residual)
{
    const size_t d = n->domain.cols;
    double *const gram = n->sums, *const origin = n->sizes; /* which is zero */
    clo_error err;
    assert_ok(clo_i_ask_local_gram(&n->a.context, n->number, n->data, origin, 0.25, gram, &err),
              err);
    for (size_t i = 0, at = 0; i < d; i++)
        for (size_t j = i; j < d; j++, at++) {
            assert_true(gram[i * d + j] == gram[j * d + i]);
            residual[at] = gram[i * d + j] * 0x1p16 - n->truth[at];
        }
}

static inline void classes_of_moments(noisy *n, const unsigned *multiplicities, size_t classes,
                                      unsigned multiplicity, size_t at)
{
    size_t c = 0;
    while (multiplicities[c] != multiplicity) c++;
    assert_true(c < classes);
    n->class_of[at] = (uint8_t)c;
    n->scales[c] = ceil((double)n->line.scale / sqrt(multiplicity));
}

/* One record (1/2, -1/2, 0 ...): the moments on its corner are 1/16 each, up to a sign. */
static inline void prepare_moment(noisy *n, double share)
{
    static const unsigned multiplicities[] = { 1, 4, 6, 12, 24 };
    const size_t d = n->form->cols;
    const double mu = 0x1p32 / WIDE;
    clo_error err;
    n->domain = ball(d, 1, CLO_REPLACE);
    assert_ok(share > 0 ? clo_i_plan_even_moment(&n->domain, share, mu, 1, "", &n->line, &err)
                        : clo_i_plan_gaussian_moment(&n->domain, mu, 1, "", &n->line, &err),
              err);
    noisy_room(n, clo_i_moment_size(d), n->form->asks, 1);
    if (share == 0) n->records[0] = 0.5, n->records[1] = -0.5;
    size_t at = 0;
    for (size_t i = 0; i < d; i++)
        for (size_t j = i; j < d; j++)
            for (size_t k = j; k < d; k++)
                for (size_t l = k; l < d; l++, at++) {
                    const double sign = (i + j + k + l) % 2 ? -1 : 1;
                    n->truth[at] = share == 0 && l < 2 ? 3 * ldexp(sign / 16, 30) : 0;
                    classes_of_moments(n, multiplicities, 5, clo_i_moment_multiplicity(i, j, k, l),
                                       at);
                }
}

static inline void prepare_plain_moment(noisy *n)
{
    prepare_moment(n, 0);
}

static inline void prepare_even_moment(noisy *n)
{
    prepare_moment(n, 0.4);
}

static inline void keep_told(void *user, const char *query, const double *values, size_t count)
{
    noisy *const n = user;
    assert_int_equal(count, n->numbers);
    memcpy(n->sums, values, count * sizeof *values);
}

/* What is told are the moments before their traces are put back. */
static inline void ask_moment(noisy *n, double *residual)
{
    clo_error err;
    n->a.context.answer = keep_told;
    n->a.context.user = n;
    assert_ok(clo_i_ask_gaussian_moment(&n->a.context, n->number, n->data, n->sizes, &err), err);
    if (clo_i_gaussian_moment_part(&n->line).even == 0)
        assert_same_doubles(n->sizes, n->sums, n->numbers);
    for (size_t i = 0; i < n->numbers; i++)
        residual[i] = nearbyint(3 * ldexp(n->sums[i], 30)) - n->truth[i];
}

static inline void prepare_moment3(noisy *n)
{
    static const unsigned multiplicities[] = { 1, 3, 6 };
    const size_t d = n->form->cols;
    clo_error err;
    n->domain = ball(d, 1, CLO_ADD_REMOVE);
    assert_ok(clo_i_plan_gaussian_moment3(&n->domain, 0, 0x1p32 / WIDE, 1, "", &n->line, &err),
              err);
    noisy_room(n, clo_i_moment3_size(d), n->form->asks, 1);
    n->records[0] = 0.5, n->records[1] = -0.5;
    size_t at = 0;
    for (size_t i = 0; i < d; i++)
        for (size_t j = i; j < d; j++)
            for (size_t k = j; k < d; k++, at++) {
                n->truth[at] = k < 2 ? 3 * ldexp((i + j + k) % 2 ? -1.0 : 1.0, 27) : 0;
                classes_of_moments(n, multiplicities, 3, clo_i_moment3_multiplicity(i, j, k), at);
            }
}

static inline void ask_moment3(noisy *n, double *residual)
{
    clo_error err;
    assert_ok(clo_i_ask_gaussian_moment3(&n->a.context, n->number, n->data, n->sums, &err), err);
    for (size_t i = 0; i < n->numbers; i++)
        residual[i] = nearbyint(3 * ldexp(n->sums[i], 30)) - n->truth[i];
}

/* ---- counts ---------------------------------------------------------------------------------- */

static inline void prepare_count(noisy *n)
{
    clo_error err;
    n->domain = ball(1, 1, CLO_ADD_REMOVE);
    assert_ok(clo_i_plan_count(&n->domain, 0x1p20 / WIDE, 1, "", &n->line, &err), err);
    noisy_room(n, 2 * 4096 + 137, n->form->asks, 3);
    n->scales[0] = (double)n->line.scale;
}

/* A number an ask. */
static inline void ask_count(noisy *n, double *residual)
{
    clo_error err;
    for (size_t i = 0; i < n->numbers; i++) {
        double count;
        assert_ok(clo_i_ask_count(&n->a.context, n->number, n->data, &count, &err), err);
        residual[i] = (count - 3) * (double)n->line.count_unit;
    }
}

/* A record in the middle of the middle cell, one in the next; all others are empty. */
static inline void prepare_cells(noisy *n, clo_event_kind kind, double parameter, double scale)
{
    enum { SIDE = 91, MIDDLE = SIDE / 2 * SIDE + SIDE / 2 };
    clo_error err;
    n->domain = ball(2, 1, CLO_REPLACE);
    assert_ok(clo_i_plan_cell_counts(&n->domain, SIDE, kind, parameter, 1, "", &n->line, &err),
              err);
    noisy_room(n, SIDE * SIDE, n->form->asks, 2);
    for (size_t r = 0; r < n->rows; r++) {
        clo_i_cell_center(&n->line, MIDDLE + r, n->records + 2 * r);
        n->truth[MIDDLE + r] = (double)n->line.count_unit;
    }
    n->scales[0] = scale > 0 ? scale : (double)n->line.scale;
}

static inline void prepare_gaussian_cells(noisy *n)
{
    prepare_cells(n, CLO_EVENT_GAUSSIAN, 0x1p20 / WIDE, 0);
}

/* As wide as can be: 2^30 parts of an epsilon, over a sensitivity of 2. */
static inline void prepare_laplace_cells(noisy *n)
{
    prepare_cells(n, CLO_EVENT_PURE, 0x1p-30, 0x1p31);
}

static inline void ask_cells(noisy *n, double *residual)
{
    clo_error err;
    assert_ok(clo_i_ask_cell_counts(&n->a.context, n->number, n->data, n->sums, &err), err);
    for (size_t i = 0; i < n->numbers; i++)
        residual[i] = n->sums[i] * (double)n->line.count_unit - n->truth[i];
}

#endif
