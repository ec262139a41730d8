/*
 * asking.h - what the tests of the queries share: a context around one planned line, data of a few
 * records, and a small audit of a Gaussian claim.
 *
 * A fault is planted in the line, where a query takes its noise from: the event, which is the
 * claim, stays as it was.
 */
#ifndef CLO_TEST_ASKING_H
#define CLO_TEST_ASKING_H

#include "pipeline.h"
#include "statistical.h"
#include "ask/query.h"
#include "parallel/parallel.h"

typedef struct asking {
    clo_line line;
    clo_meter meter;
    clo_context context;
} asking;

/* The rng's asks go on counting from test to test, so that no two tests share their noise. */
static inline void start_asking(asking *a, clo_line line, clo_rng *rng)
{
    clo_error err;
    *a = (asking){ .line = line };
    a->line.event.count = UINT64_MAX;
    a->context =
        (clo_context){ .rng = rng, .comm = clo_i_comm_self(), .threads = 1, .progress_to = 1 };
    assert_ok(clo_workspace_new(1 << 22, &a->context.workspace, &err), err);
    a->meter = (clo_meter){ .lines = &a->line, .count = 1 };
    a->context.meter = &a->meter;
}

static inline void stop_asking(asking *a)
{
    clo_workspace_free(a->context.workspace);
}

static inline clo_rng *stat_rng(void)
{
    clo_error err;
    clo_rng *rng = NULL;
    assert_ok(clo_rng_new_seeded(stat_seed(), &rng, &err), err);
    return rng;
}

/* Fills the residuals: answers less the truth, in integer units, with the noise of this line. */
typedef void residuals_filler(clo_line line, clo_rng *rng, int64_t *residuals);

/* The residuals of a line follow the planned law; those of noise that is 5 % small (planted) do
 * not. */
static inline void noise_follows(clo_line line, residuals_filler *fill, int64_t *residuals,
                                 size_t count, stat_law *law, double alpha)
{
    const double scale = (double)line.scale;
    clo_rng *const rng = stat_rng();
    fill(line, rng, residuals);
    assert_true(stat_follows(residuals, count, law, &scale, alpha));
    line.scale = line.scale * 19 / 20;
    fill(line, rng, residuals);
    assert_false(stat_follows(residuals, count, law, &scale, alpha));
    clo_rng_free(rng);
}

/* How many of the trials in one world are above the threshold. */
typedef double statistic(asking *a, const clo_bounded *data);

/* The largest mu that the evidence supports: with TRIALS runs in each of two neighbouring worlds
 * and the event {statistic > threshold}, Phi^-1(P) - Phi^-1(P') at Clopper-Pearson's bounds.  The
 * claim mu is refuted where this is larger.  threshold is fixed beforehand, so that the rate is
 * alpha. */
static inline double supported_mu(asking *a, statistic *measure, const clo_bounded *with,
                                  const clo_bounded *without, double threshold, int trials,
                                  double alpha)
{
    uint64_t hits[2] = { 0, 0 };
    for (int i = 0; i < trials; i++) {
        hits[0] += measure(a, with) > threshold;
        hits[1] += measure(a, without) > threshold;
    }
    const double often = stat_lower_bound(hits[0], (uint64_t)trials, alpha / 2);
    const double seldom = stat_upper_bound(hits[1], (uint64_t)trials, alpha / 2);
    return stat_normal_quantile(often) - stat_normal_quantile(seldom);
}

/* Two neighbours of one record each, or of one and none: the claim of the line is not refuted, and
 * nearly reached, so that the test has power; and half of the noise is caught. */
typedef struct neighbours {
    size_t cols;
    const double *left, *right;  /* NULL: there is none, under add-remove */
    const struct clo_lens *lens; /* NULL: none */
    int trials;
    double least;     /* of the claimed mu, that the evidence must support */
    double threshold; /* midway between the two, of the statistic */
} neighbours;

static inline void are_told_apart_as_planned(const neighbours *pair, clo_line line,
                                             statistic *measure, stat_test row)
{
    const double alpha = stat_alpha(row, 1), claim = line.event.parameter;
    const clo_domain domain = ball(pair->cols, 1, pair->right ? CLO_REPLACE : CLO_ADD_REMOVE);
    clo_bounded *const left = bounded_from(pair->left, 1, &domain);
    clo_bounded *const right =
        bounded_from(pair->right ? pair->right : pair->left, pair->right ? 1 : 0, &domain);
    clo_rng *const rng = stat_rng();
    asking a;
    start_asking(&a, line, rng);
    a.context.lens = pair->lens;
    a.context.block_rows = 1; /* all of a world */
    const double at = pair->threshold;
    const double mu = supported_mu(&a, measure, left, right, at, pair->trials, alpha);
    assert_true(mu <= claim);
    assert_true(mu > pair->least * claim);
    a.line.scale /= 2; /* planted: the sensitivity was taken half as large */
    assert_true(supported_mu(&a, measure, left, right, at, pair->trials, alpha) > claim);
    stop_asking(&a);
    clo_bounded_free(left);
    clo_bounded_free(right);
    clo_rng_free(rng);
}

#endif
