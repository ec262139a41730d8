/*
 * Every line of every plan under (M, relation): M rows of a unit move an answer M times as far as
 * one, a replaced unit as far as the proofs say, and sensitivity, noise, threshold and price agree
 * on it (bound.T3 and the T1 of each query).  The oracle is tests/support/line_oracle.h.
 *
 * One table has a row for each query and a second takes the mechanisms as they are listed, so that
 * neither a new query nor a new mechanism is left out.
 */
#include "every_mechanism.h"
#include "query/aggregate.h"
#include "query/cell_counts.h"
#include "query/choose_centers.h"
#include "query/choose_flats.h"
#include "query/count.h"
#include "query/gapmax.h"
#include "query/gaussian_gram.h"
#include "query/gaussian_moment.h"
#include "query/gaussian_moment3.h"
#include "query/gaussian_step.h"
#include "query/gaussian_sum.h"
#include "query/gibbs.h"
#include "query/histogram.h"
#include "query/laplace_sum.h"
#include "query/cross_moment.h"
#include "query/local_gram.h"
#include "query/local_sum.h"
#include "query/lens.h"
#include "query/partition.h"
#include "query/partition_parts.h"
#include "query/peel.h"
#include "query/quantile.h"
#include "query/seed.h"
#include "query/sparse_sum.h"
#include "line_oracle.h"
#include "query_kinds.h"
#include "plan/mechanism.h"

static const uint64_t unit_rows[] = { 1, 2, 3, 7, 5000 };
static const size_t widths[] = { 1, 2, 3, 5, 8 };
static const double mus[] = { 0.01, 0.7, 5 }, epsilons[] = { 0.03, 0.7, 4 };
enum { TIMES = 3 };
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- a line of each query, by the number of a variant ---------------------------------------- */

/* Makes the line of that variant, and says what was asked of one ask; false: there are no more, or
 * none for this domain. */
typedef bool make_line(const clo_domain *domain, size_t variant, clo_line *out, double *asked);

static bool made(clo_status status, const clo_error *err)
{
    if (status) print_error("%s\n", err->message);
    assert_int_equal(status, CLO_OK);
    return true;
}

static bool make_gaussian_sum(const clo_domain *domain, size_t variant, clo_line *out,
                              double *asked)
{
    const size_t clusters[] = { 1, 4 };
    clo_error err;
    if (variant >= 6) return false;
    *asked = mus[variant / 2];
    return made(
        clo_i_plan_gaussian_sum(domain, clusters[variant % 2], *asked, TIMES, "", out, &err), &err);
}

static bool make_laplace_sum(const clo_domain *domain, size_t variant, clo_line *out, double *asked)
{
    const size_t clusters[] = { 1, 4 };
    clo_error err;
    if (variant >= 6) return false;
    *asked = epsilons[variant / 2];
    return made(clo_i_plan_laplace_sum(domain, clusters[variant % 2], *asked, TIMES, "", out, &err),
                &err);
}

static bool make_sparse_sum(const clo_domain *domain, size_t variant, clo_line *out, double *asked)
{
    const size_t entries[] = { 0, 1, 2, 100 };
    clo_error err;
    if (variant >= 24) return false;
    const bool pure = variant % 2;
    *asked = (pure ? epsilons : mus)[variant / 8];
    return made(clo_i_plan_sparse_sum(domain, 2, 3, entries[variant / 2 % 4],
                                      pure ? CLO_EVENT_PURE : CLO_EVENT_GAUSSIAN, *asked, "", out,
                                      &err),
                &err);
}

static bool make_peel(const clo_domain *domain, size_t variant, clo_line *out, double *asked)
{
    const size_t entries[] = { 0, 1, 3 }, rounds[] = { 1, 2, 9 };
    clo_error err;
    if (variant >= 27 || domain->rows_per_unit > 7) return false; /* so many rows are refused */
    *asked = epsilons[variant / 9];
    return made(clo_i_plan_peel(domain, 2, 3, entries[variant / 3 % 3], rounds[variant % 3], *asked,
                                "", out, &err),
                &err);
}

static bool make_gaussian_step(const clo_domain *domain, size_t variant, clo_line *out,
                               double *asked)
{
    clo_error err;
    if (variant >= 3) return false;
    *asked = mus[variant];
    return made(clo_i_plan_gaussian_step(domain, 3, *asked, TIMES, "", out, &err), &err);
}

static bool make_local_sum(const clo_domain *domain, size_t variant, clo_line *out, double *asked)
{
    clo_error err;
    if (variant >= 12) return false;
    const bool pure = variant % 2;
    *asked = (pure ? epsilons : mus)[variant / 4];
    return made(clo_i_plan_local_sum(domain, 1 + 3 * (variant / 2 % 2),
                                     pure ? CLO_EVENT_PURE : CLO_EVENT_GAUSSIAN, *asked, TIMES, "",
                                     out, &err),
                &err);
}

static bool make_cross_moment(const clo_domain *domain, size_t variant, clo_line *out,
                              double *asked)
{
    clo_error err;
    if (variant >= 12) return false;
    *asked = mus[variant / 4];
    return made(clo_i_plan_cross_moment(domain, 1 + 3 * (variant / 2 % 2),
                                        variant % 2 ? domain->cols : 1, *asked, TIMES, "", out,
                                        &err),
                &err);
}

static bool make_gaussian_gram(const clo_domain *domain, size_t variant, clo_line *out,
                               double *asked)
{
    clo_error err;
    if (variant >= 6) return false;
    *asked = mus[variant / 2];
    return made(
        clo_i_plan_gaussian_gram(domain, 1 + 3 * (variant % 2), *asked, TIMES, "", out, &err),
        &err);
}

static bool make_local_gram(const clo_domain *domain, size_t variant, clo_line *out, double *asked)
{
    clo_error err;
    if (variant >= 3) return false;
    *asked = mus[variant];
    return made(clo_i_plan_local_gram(domain, *asked, TIMES, "", out, &err), &err);
}

static bool make_gaussian_moment(const clo_domain *domain, size_t variant, clo_line *out,
                                 double *asked)
{
    const double shares[] = { 0, 0.3, 0.5, 0.6 };
    clo_error err;
    if (variant >= 12) return false;
    *asked = mus[variant / 4];
    return made(variant % 4 ? clo_i_plan_even_moment(domain, shares[variant % 4], *asked, TIMES, "",
                                                     out, &err)
                            : clo_i_plan_gaussian_moment(domain, *asked, TIMES, "", out, &err),
                &err);
}

static bool make_gaussian_moment3(const clo_domain *domain, size_t variant, clo_line *out,
                                  double *asked)
{
    const double heights[] = { 0, 0.3, 1 };
    clo_error err;
    if (variant >= 9) return false;
    *asked = mus[variant / 3];
    return made(
        clo_i_plan_gaussian_moment3(domain, heights[variant % 3], *asked, TIMES, "", out, &err),
        &err);
}

static bool make_count(const clo_domain *domain, size_t variant, clo_line *out, double *asked)
{
    clo_error err;
    if (variant >= 3) return false;
    *asked = mus[variant];
    return made(clo_i_plan_count(domain, *asked, TIMES, "", out, &err), &err);
}

static bool make_cell_counts(const clo_domain *domain, size_t variant, clo_line *out, double *asked)
{
    clo_error err;
    if (variant >= 6) return false;
    const bool pure = variant % 2;
    *asked = (pure ? epsilons : mus)[variant / 2];
    return made(clo_i_plan_cell_counts(domain, 3, pure ? CLO_EVENT_PURE : CLO_EVENT_GAUSSIAN,
                                       *asked, TIMES, "", out, &err),
                &err);
}

static bool make_choose_flats(const clo_domain *domain, size_t variant, clo_line *out,
                              double *asked)
{
    clo_error err;
    if (variant >= 3) return false;
    *asked = epsilons[variant];
    return made(clo_i_plan_choose_flats(domain, 4, 6, *asked, TIMES, "", out, &err), &err);
}

static bool make_seed(const clo_domain *domain, size_t variant, clo_line *out, double *asked)
{
    clo_error err;
    if (variant >= 3) return false;
    *asked = epsilons[variant];
    return made(clo_i_plan_seed(domain, 9, 2, *asked, TIMES, "", out, &err), &err);
}

static bool make_choose_centers(const clo_domain *domain, size_t variant, clo_line *out,
                                double *asked)
{
    const clo_center_choice how = { .candidates = 9,
                                    .clusters = 2,
                                    .sets = variant % 2 ? 3 : 0,
                                    .loss = variant / 2 % 2 ? CLO_LOSS_SQUARED : CLO_LOSS_DISTANCE,
                                    .reach = variant / 4 % 2 ? 2 : 0.1 };
    clo_error err;
    if (variant >= 24) return false;
    *asked = epsilons[variant / 8];
    return made(clo_i_plan_choose_centers(domain, &how, *asked, TIMES, "", out, &err), &err);
}

static bool make_partition(const clo_domain *domain, size_t variant, clo_line *out, double *asked)
{
    const clo_cube_tree how = {
        .levels = 1 + variant % 2, .trees = TIMES, .most = 9, .threshold = variant / 2 % 2 ? 8 : 0
    };
    clo_error err;
    if (variant >= 12) return false;
    *asked = epsilons[variant / 4];
    made(clo_i_plan_partition(domain, &how, *asked, "", out, &err), &err);
    assert_int_equal(out->event.count, TIMES * how.levels);
    out->event.count /= how.levels; /* as the others are checked */
    change_part(partition, out, levels = 1);
    const uint64_t tau = clo_i_partition_part(out).threshold;
    /* The least threshold, but where a higher one is asked for. */
    const long double a = (long double)out->rate_numerator / (long double)out->rate_denominator;
    assert_true((double)tau >= how.threshold / (double)a);
    assert_true(how.threshold > 0 || tau == 1 ||
                !tau_is_enough(a, (long double)tau - 1, out->cols));
    return true;
}

/* Its calibration takes a while, and does not look at the domain: two columns are enough. */
static bool make_aggregate(const clo_domain *domain, size_t variant, clo_line *out, double *asked)
{
    const size_t blocks[] = { 121, 2000 };
    const clo_loss loss = { 4, 1e-6 };
    clo_error err;
    if (variant >= COUNT(blocks) || domain->cols != 2 || domain->lower || domain->rows_per_unit > 7)
        return false;
    *asked = loss.epsilon;
    made(variant ? clo_i_plan_aggregate(domain, 1, 1, blocks[variant], loss, "", out, &err)
                 : clo_i_plan_aggregate_centers(domain, 1, blocks[variant], loss, "", out, &err),
         &err);
    out->event.count = TIMES; /* it is asked once; as the others are checked */
    assert_true(out->event.parameter == loss.epsilon && out->event.delta == loss.delta);
    return true;
}

static bool make_histogram(const clo_domain *domain, size_t variant, clo_line *out, double *asked)
{
    clo_error err;
    if (variant >= 12 || domain->rows_per_unit > 7) return false; /* the oracle tries all ways */
    *asked = epsilons[variant / 4];
    const clo_loss loss = { *asked, variant % 2 ? 1e-6 : 0.01 };
    made(clo_i_plan_histogram(domain, 2, 1 + variant / 2 % 2, 9, loss, "", out, &err), &err);
    assert_int_equal(out->event.count, 1);
    out->event.count = TIMES;
    assert_true(out->event.delta == loss.delta);
    return true;
}

static bool make_quantile(const clo_domain *domain, size_t variant, clo_line *out, double *asked)
{
    static const double shares[] = { 0.5, 0.95, 0.75, 0.99999, 7 / 9.0 };
    clo_error err;
    if (variant >= 30) return false;
    const clo_quantile how = { 7, 1 + variant / 15, shares[variant % 5] };
    *asked = epsilons[variant / 5 % 3];
    return made(clo_i_plan_quantile(domain, &how, *asked, TIMES, "", out, &err), &err);
}

static bool make_gibbs(const clo_domain *domain, size_t variant, clo_line *out, double *asked)
{
    const clo_gibbs how = { .clusters = 2, .dim = 1, .sweeps = 3, .steps = true };
    clo_error err;
    if (variant >= 3) return false;
    *asked = epsilons[variant];
    return made(clo_i_plan_gibbs(domain, &how, *asked, TIMES, "", out, &err), &err);
}

/* Proved for rows; refused for units, even of one row. */
static bool make_gapmax(const clo_domain *domain, size_t variant, clo_line *out, double *asked)
{
    const double shares[] = { 0.1, 0.5 };
    const clo_gapmax how = { .dim = 1, .scale = 4, .share = shares[variant / 4 % 2] };
    const clo_loss loss = { epsilons[1 + variant % 2], variant / 2 % 2 ? 1e-6 : 0.01 };
    clo_error err;
    const clo_status status = clo_i_plan_gapmax(domain, &how, loss, "", out, &err);
    if (domain->unit) assert_fails(status, CLO_UNSUPPORTED, err, "not for a unit");
    if (variant >= 8 || domain->unit) return false;
    assert_int_equal(out->event.count, 1);
    out->event.count = TIMES;
    assert_true(out->event.delta == loss.delta);
    *asked = loss.epsilon;
    return made(status, &err);
}

static make_line *const lines[KINDS] = {
#define QUERY(name) [KIND_##name] = make_##name,
#include "query/table.def"
#undef QUERY
};

/* ---- every query ----------------------------------------------------------------------------- */

/* Of a domain with column bounds, a norm, or what a lens makes of one. */
static clo_domain domain_like(int shape, size_t cols, clo_relation relation, uint64_t rows)
{
    static const double low[] = { -1, -1, -1, -1, -1, -1, -1, -1 };
    static const double high[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    clo_domain domain = ball(cols, shape == 1 ? 0 : 2.5, relation);
    domain.rows_per_unit = rows;
    domain.unit = shape == 0 && rows == 1 ? NULL : "person";
    if (shape == 1) {
        domain.lower = low;
        domain.upper = high;
    }
    if (shape < 2) return domain;
    domain.cols = 40;
    return clo_i_lens_domain(&domain, cols);
}

/* The noise that people are told of grows with the rows of a unit, as the noise itself does. */
static void noise_follows_the_unit(const held *l, const clo_line *of_one)
{
    HOLDS(l, fabs(l->line->noise / of_one->noise / (double)l->rows - 1) < 1e-3);
}

static size_t check_query(size_t query, const clo_domain *domain)
{
    size_t variant = 0;
    clo_line line, one;
    double asked;
    clo_domain of_one = *domain;
    of_one.rows_per_unit = 1;
    for (; lines[query](domain, variant, &line, &asked); variant++) {
        const held l = { &line, domain->relation, domain->rows_per_unit, domain->cols, asked };
        HOLDS(&l, kind_of(line.query) == (query_kind)query);
        HOLDS(&l, line.event.count == TIMES || query == KIND_sparse_sum || query == KIND_peel);
        check_line(&l);
        if (line.noise == 0 || l.rows == 1) continue; /* there is none to tell of */
        assert_true(lines[query](&of_one, variant, &one, &asked));
        noise_follows_the_unit(&l, &one);
    }
    return variant;
}

static void every_query_plans_for_all_rows_of_a_unit(void **state)
{
    (void)state;
    for (size_t query = 0; query < KINDS; query++) {
        size_t checked = 0;
        for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++)
            for (size_t w = 0; w < COUNT(widths); w++)
                for (size_t m = 0; m < COUNT(unit_rows); m++)
                    for (int shape = 0; shape < 3; shape++) {
                        const clo_domain domain =
                            domain_like(shape, widths[w], (clo_relation)relation, unit_rows[m]);
                        assert_int_equal(domain.rows_per_unit, unit_rows[m]); /* a lens keeps it */
                        assert_int_equal(domain.relation, relation);
                        checked += check_query(query, &domain);
                    }
        assert_true(checked >= 32);
    }
}

/* ---- two oracles by trying everything -------------------------------------------------------- */

/* quantile.T1, with so much budget that a few records tell something: every way in which up to four
 * records can fall on three thresholds, and every other one that differs from it by a unit. */
enum { THRESHOLDS = 3, MOST_PLACES = 2 * THRESHOLDS + 1, MOST_WORLDS = 256, FEW = 4 };

typedef struct counted {
    int64_t counts[MOST_PLACES];
} counted;

/* No record lies beyond the last threshold, nor, with two ends, before the first. */
static size_t fill_worlds(size_t first, size_t places, int64_t left, counted now, counted *out)
{
    size_t count = 0;
    if (first == places) {
        *out = now;
        return 1;
    }
    for (now.counts[first] = 0; now.counts[first] <= left; now.counts[first]++)
        count += fill_worlds(first + 1, places, left - now.counts[first], now, out + count);
    return count;
}

static bool differ_by_a_unit(const counted *a, const counted *b, clo_relation relation,
                             int64_t rows)
{
    int64_t gone = 0, come = 0;
    for (size_t i = 0; i < MOST_PLACES; i++) {
        const int64_t more = b->counts[i] - a->counts[i];
        if (more > 0) come += more;
        if (more < 0) gone -= more;
    }
    return gone <= rows && come <= (relation == CLO_REPLACE ? rows : 0);
}

static int64_t farthest_score(const clo_line *line, clo_relation relation, int64_t rows)
{
    static counted worlds[MOST_WORLDS];
    static int64_t scores[MOST_WORLDS][64];
    const size_t ends = clo_i_quantile_part(line).ends;
    const size_t count = fill_worlds(ends - 1, ends == 2 ? MOST_PLACES - 1 : THRESHOLDS, FEW,
                                     (counted){ { 0 } }, worlds);
    const size_t candidates = clo_i_quantile_candidates(line);
    int64_t farthest = 0;
    assert_true(count <= MOST_WORLDS && candidates + 2 * THRESHOLDS <= 64);
    for (size_t w = 0; w < count; w++) clo_i_quantile_scores(line, worlds[w].counts, scores[w]);
    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b < count; b++) {
            if (!differ_by_a_unit(&worlds[a], &worlds[b], relation, rows)) continue;
            for (size_t c = 0; c < candidates; c++)
                if (llabs(scores[a][c] - scores[b][c]) > farthest)
                    farthest = llabs(scores[a][c] - scores[b][c]);
        }
    return farthest;
}

static void no_unit_moves_a_quantile_score_further_than_planned(void **state)
{
    static const double shares[] = { 0.5, 0.95 };
    (void)state;
    for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++)
        for (uint64_t rows = 1; rows <= 3; rows++)
            for (size_t variant = 0; variant < 4; variant++) {
                const clo_quantile how = { THRESHOLDS, 1 + variant / 2, shares[variant % 2] };
                const clo_domain domain = domain_like(0, 1, (clo_relation)relation, rows);
                clo_line line;
                clo_error err;
                assert_ok(clo_i_plan_quantile(&domain, &how, 300, 1, "", &line, &err), err);
                const int64_t farthest =
                    farthest_score(&line, (clo_relation)relation, (int64_t)rows);
                assert_true(farthest <= (int64_t)line.sensitivity);
                assert_true(2 * farthest >= (int64_t)line.sensitivity);
            }
}

/* partition.T1 for two children: the chance that each of the four sets is active. */
typedef struct level {
    const clo_line *line;
    long double below[512]; /* of the noise, by how many records it needs at most */
} level;

static void fill_level(level *of, const clo_line *line)
{
    const long double a = (long double)line->rate_numerator / (long double)line->rate_denominator;
    const int64_t tau = (int64_t)clo_i_partition_part(line).threshold;
    long double all = 1 / -expm1l(-a), sum = 0;
    assert_true(tau < 200);
    for (int64_t x = 1 - tau; x < 0; x++) all += expl(a * (long double)x);
    of->line = line;
    of->below[0] = 0;
    for (int64_t records = 1; records < (int64_t)COUNT(of->below); records++) {
        sum += expl(-a * fabsl((long double)(records - tau))) / all;
        of->below[records] = sum;
    }
}

static long double chance_of(const level *of, unsigned active, size_t left, size_t right)
{
    const long double x = 1.0L / (1 << CLO_PHANTOM_BITS);
    const long double phantoms[4] = { 1 - x, x * (1 - x) / 2, x * (1 - x) / 2, x * x };
    const long double lift[2] = { of->below[left], of->below[right] };
    long double total = 0;
    for (unsigned drawn = 0; drawn < 4; drawn++) {
        long double term = drawn & ~active ? 0 : phantoms[drawn];
        for (unsigned c = 0; c < 2; c++)
            if (!(drawn >> c & 1)) term *= active >> c & 1 ? lift[c] : 1 - lift[c];
        /* a phantom is active, lifted or not */
        total += term;
    }
    return total;
}

/* M rows in the left child, or in the right one, or nowhere, beside l and r others. */
static long double worst_loss(const level *of, size_t rows, bool replace)
{
    const size_t tau = clo_i_partition_part(of->line).threshold, others[] = { 0, 1, tau, 2 * tau };
    long double worst = 0;
    for (size_t i = 0; i < COUNT(others) * COUNT(others); i++)
        for (unsigned active = 0; active < 4; active++) {
            const size_t l = others[i / COUNT(others)], r = others[i % COUNT(others)];
            const long double with = chance_of(of, active, l + rows, r);
            const long double without = chance_of(of, active, l, replace ? r + rows : r);
            worst = fmaxl(worst, fabsl(logl(with / without)));
        }
    return worst;
}

static void no_unit_loses_more_in_a_level_of_cubes_than_planned(void **state)
{
    static level of;
    (void)state;
    for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++)
        for (uint64_t rows = 1; rows <= 3; rows++) {
            const clo_domain domain = domain_like(0, 1, (clo_relation)relation, rows);
            const clo_cube_tree how = { .levels = 1, .trees = 1, .most = 2 };
            clo_error err;
            clo_line line;
            assert_ok(clo_i_plan_partition(&domain, &how, 1, "", &line, &err), err);
            fill_level(&of, &line);
            const long double loss = worst_loss(&of, rows, relation == CLO_REPLACE);
            assert_true(loss <= line.event.parameter * (1 + 1e-12));
            assert_true(loss > 0.9 * line.event.parameter);
        }
}

/* ---- every mechanism ------------------------------------------------------------------------- */

/* How many of a plan's lines were held to the oracle. */
static size_t check_plan(const clo_plan *plan)
{
    const clo_domain *const domain = &plan->domain;
    for (size_t i = 0; i < plan->line_count; i++) {
        const held l = { &plan->lines[i], domain->relation, domain->rows_per_unit, domain->cols,
                         NAN };
        check_line(&l);
    }
    return plan->line_count;
}

/* With the norm and the centre learnt first, where this mechanism can. */
static size_t check_learning(const clo_params *params, const clo_domain *domain, clo_loss budget,
                             clo_guarantee accept)
{
    clo_learning learning = clo_learning_default();
    clo_plan *plan = NULL;
    clo_loss rest;
    clo_error err;
    size_t lines_checked = 0;
    learning.norm = learning.center = true;
    assert_ok(clo_learning_rest(&learning, budget, &rest, &err), err);
    if (clo_plan_new(params, domain, rest, accept, &plan, &err)) return 0;
    if (!clo_plan_learn(plan, &learning, budget, &err)) lines_checked = check_plan(plan);
    clo_plan_free(plan);
    return lines_checked;
}

typedef struct tally {
    size_t plans, lines, learning;
} tally;

/* settings NULL: the presets. */
static void check_mechanism(const clo_mechanism *mechanism, const char *settings, size_t cols,
                            uint64_t rows, clo_relation relation, tally *of)
{
    static const clo_loss budgets[] = { { 2, 1e-6 }, { 2, 0 } };
    const clo_guarantee accept = clo_mechanism_guarantee(mechanism);
    char name[128];
    name_of(mechanism, name);
    clo_domain domain = ball(cols, 1, relation);
    domain.rows_per_unit = rows;
    domain.unit = rows > 1 ? "person" : NULL;
    clo_params *const params = params_for(name, settings ? settings : "");
    clo_error err;
    /* What has no preset, because only the caller can know it. */
    if (!settings && (strstr(name, "/approx") || strstr(name, "/boosted")))
        assert_ok(clo_params_set(params, "gamma", 1e-3, &err), err);
    for (size_t b = 0; b < COUNT(budgets); b++) {
        clo_plan *plan = NULL;
        if (clo_plan_new(params, &domain, budgets[b], accept, &plan, &err)) continue;
        of->lines += check_plan(plan);
        of->plans++;
        if (!settings && b == 0)
            of->learning += check_learning(params, &domain, budgets[b], accept);
        clo_plan_free(plan);
    }
    clo_params_free(params);
}

/* With its presets in five columns; for units of three rows with its audits' settings, too. */
static tally check_settings(const clo_mechanism *mechanism, uint64_t rows, clo_relation relation)
{
    tally of = { 0 };
    check_mechanism(mechanism, NULL, 5, rows, relation, &of);
    for (size_t i = 0; i < clo_i_pair_count(); i++) {
        const clo_i_pair *const pair = clo_i_pair_at(i);
        if (is_pair_of(pair, mechanism) && rows == 3)
            check_mechanism(mechanism, clo_i_pair_parameters(pair), pair->cols, rows, relation,
                            &of);
    }
    return of;
}

static void every_line_of_every_mechanism_is_for_all_rows_of_a_unit(void **state)
{
    size_t learning = 0;
    (void)state;
    for (size_t i = 0; i < clo_mechanism_count(); i++) {
        const clo_mechanism *const mechanism = clo_mechanism_at(i);
        for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++)
            for (uint64_t rows = 1; rows <= 3; rows += 2) {
                const tally of = check_settings(mechanism, rows, (clo_relation)relation);
                learning += of.learning;
                if (rows > 1 && !takes_units(mechanism))
                    assert_int_equal(of.plans, 0);
                else
                    assert_true(of.plans >= 1 && of.lines >= of.plans);
            }
    }
    assert_true(learning >= 50); /* lines of plans that learn first */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_query_plans_for_all_rows_of_a_unit),
        cmocka_unit_test(no_unit_moves_a_quantile_score_further_than_planned),
        cmocka_unit_test(no_unit_loses_more_in_a_level_of_cubes_than_planned),
        cmocka_unit_test(every_line_of_every_mechanism_is_for_all_rows_of_a_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
