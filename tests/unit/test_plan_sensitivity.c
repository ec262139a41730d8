/*
 * Every line of every plan under (M, relation): M rows of a unit move an answer M times as far as
 * one, a replaced unit as far as the proofs say, and sensitivity, noise, threshold and price agree
 * on it (bound.T3 and the T1 of each query).  The oracle is tests/support/line_oracle.h.
 *
 * One table has a row for each query and a second takes the mechanisms as they are listed, so that
 * neither a new query nor a new mechanism is left out.
 */
#include "every_mechanism.h"
#include "ask/lens.h"
#include "query/partition_internal.h"
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

#define QUERY_LINES
#include "every_query.h"
#undef QUERY_LINES

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
        HOLDS(&l, line.event.count == TIMES);
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

/* Sums over very many columns: no record is planned shorter than its columns allow, on either side
 * of a number of entries that is usual somewhere. */
static void sums_over_many_columns_are_as_long_as_they_allow(void **state)
{
    static const query_kind kinds[] = { KIND_gaussian_sum, KIND_laplace_sum,   KIND_local_sum,
                                        KIND_look,         KIND_gaussian_step, KIND_sparse_sum };
    static const size_t cols[] = { 31, 63, 64, 65, 129, 1025, 20000 };
    (void)state;
    for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++)
        for (size_t k = 0; k < COUNT(kinds); k++)
            for (size_t w = 0; w < COUNT(cols); w++) {
                const clo_domain domain = domain_like(0, cols[w], (clo_relation)relation, 3);
                assert_true(check_query(kinds[k], &domain) > 0);
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
    const size_t ends = clo_i_quantile_fields(line).ends;
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
    const int64_t tau = (int64_t)clo_i_partition_fields(line).threshold;
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
    const size_t tau = clo_i_partition_fields(of->line).threshold,
                 others[] = { 0, 1, tau, 2 * tau };
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
        cmocka_unit_test(sums_over_many_columns_are_as_long_as_they_allow),
        cmocka_unit_test(no_unit_moves_a_quantile_score_further_than_planned),
        cmocka_unit_test(no_unit_loses_more_in_a_level_of_cubes_than_planned),
        cmocka_unit_test(every_line_of_every_mechanism_is_for_all_rows_of_a_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
