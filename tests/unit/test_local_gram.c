/* local_gram: the sensitivity of local_gram.T1 by random search, through the query itself
 * (local_gram.T2), with records far from the centre and widths of all sizes; what it answers is
 * what its definition says, to the last integer however many rows there are (local_gram.T3); and an
 * ask that is not one of its line is refused. */
#include "quiet_asking.h"
#include "ask/assign.h"
#include "query/queries.h"
#include "ask/fold.h"
#include "query/local_gram.h"
#include "query/local_sum.h"

enum { D = 3 };
static const double UNIT = 0x1p16, NOISE = 12; /* of an answer; more than noise of scale 1 */

static clo_line planned(size_t cols, clo_relation relation)
{
    const clo_domain domain = ball(cols, 1, relation);
    clo_error err;
    clo_line line;
    assert_ok(clo_i_plan_local_gram(&domain, 1, 1, "", &line, &err), err);
    return line;
}

/* With room for more columns than others ask of. */
static void start_wide(asking *a, clo_line line, int threads)
{
    clo_error err;
    start(a, line);
    clo_workspace_free(a->context.workspace);
    assert_ok(clo_workspace_new(1 << 22, &a->context.workspace, &err), err);
    a->context.threads = threads;
}

static void value_of(asking *a, const double *records, size_t rows, const double *center,
                     double width, double *gram)
{
    const clo_domain domain = ball(a->line.cols, 1, CLO_REPLACE);
    clo_bounded *const data = bounded_from(records, rows, &domain);
    clo_error err;
    assert_ok(clo_i_ask_local_gram(&a->context, 0, data, center, width, gram, &err), err);
    for (size_t i = 0; i < a->line.cols * a->line.cols; i++) gram[i] *= UNIT;
    clo_bounded_free(data);
}

static double widest_change(clo_relation relation)
{
    static const double widths[] = { 0x1p-20, 0x1p-12, 0.01, 0.25, 1, 4 };
    const clo_line line = planned(D, relation);
    clo_rng *rng;
    clo_stream *const stream = start_search(&rng);
    double widest = 0;
    asking a;
    start(&a, line);
    for (int trial = 0; trial < 2400; trial++) {
        const double width = widths[trial % 6];
        double center[D], pair[2][D], one[D * D], other[D * D];
        draw_vector(stream, trial % 7 ? clo_i_random_unit(stream) : 0.999, D, center);
        for (size_t r = 0; r < 2; r++)
            draw_vector(stream, 2 * clo_i_random_unit(stream), D, pair[r]);
        value_of(&a, pair[0], 1, center, width, one);
        value_of(&a, pair[1], relation == CLO_REPLACE, center, width, other);
        const double change = distance_between(one, other, D * D);
        assert_true(change <= (double)line.sensitivity + 3 * NOISE);
        widest = fmax(widest, change);
    }
    stop(&a);
    stop_search(stream, rng);
    return widest / (double)line.sensitivity;
}

static void no_record_moves_the_matrix_further_than_planned(void **state)
{
    (void)state;
    assert_true(widest_change(CLO_REPLACE) > 0.99);
    assert_true(widest_change(CLO_ADD_REMOVE) > 0.99);
}

static void a_local_gram_is_what_its_definition_says(void **state)
{
    const double center[D] = { 0.25, 0, -0.25 };
    const double records[4 * D] = {
        0.25, 0, -0.25, 0.25, 0.0625, -0.25, 0.25, 0.5, -0.25, 1, 0, -1
    };
    double gram[D * D];
    asking a;
    (void)state;
    start(&a, planned(D, CLO_REPLACE));
    value_of(&a, records, 1, center, 0.125, gram); /* on the centre */
    for (size_t e = 0; e < D * D; e++) assert_close(gram[e], 0, NOISE);
    value_of(&a, records + D, 1, center, 0.125, gram); /* half of the width away */
    assert_close(gram[D + 1], UNIT / 4, NOISE);
    value_of(&a, records + D, 2, center, 0.125, gram); /* and one that is cut to it */
    assert_close(gram[D + 1], UNIT / 4 + UNIT, NOISE);
    assert_close(gram[0], 0, NOISE);
    value_of(&a, records + 3 * D, 1, center, 0.125, gram); /* across */
    assert_close(gram[2], -UNIT / 2, 0.01 * UNIT);
    assert_close(gram[0], UNIT / 2, 0.01 * UNIT);
    stop(&a);
}

/* Differences of whole steps of the width, which need no rounding: integers k, and the sum of k k'
 * in integers.  In more columns than a panel has, on one thread and on two. */
static void its_sums_are_exact(void **state)
{
    enum { COLS = 130, ROWS = 700 };
    static double records[ROWS * COLS], gram[COLS * COLS];
    static int64_t sums[COLS * COLS];
    static const double origin[COLS];
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        int64_t steps[COLS];
        for (size_t j = 0; j < COLS; j++) {
            steps[j] = (int64_t)((i * 31 + j * j * 17 + i * j) % 41) - 20;
            records[i * COLS + j] = ldexp((double)steps[j], -10); /* a width of 1/4: 2^8 steps */
        }
        for (size_t j = 0; j < COLS * COLS; j++) sums[j] += steps[j / COLS] * steps[j % COLS];
    }
    for (int threads = 1; threads <= 2; threads++) {
        asking a;
        start_wide(&a, planned(COLS, CLO_REPLACE), threads);
        value_of(&a, records, ROWS, origin, 0.25, gram);
        for (size_t e = 0; e < COLS * COLS; e++) assert_close(gram[e], (double)sums[e], NOISE);
        stop(&a);
    }
}

/* Rounding of many columns leaves the ball by many steps, and the record is back in it to the last:
 * its squares add up to 2^16 at most. */
static void a_record_of_many_columns_stays_in_the_ball(void **state)
{
    enum { COLS = 100, ROWS = 300 };
    static double records[ROWS * COLS], gram[COLS * COLS];
    static const double origin[COLS];
    clo_rng *rng;
    clo_stream *const stream = start_search(&rng);
    double trace = 0;
    asking a;
    (void)state;
    for (size_t i = 0; i < ROWS; i++) { /* of entries of 25.6 steps or so, which all round up */
        const double size = 0.9 / sqrt(COLS);
        for (size_t j = 0; j < COLS; j++)
            records[i * COLS + j] =
                (i + j) % 2 ? size * (0.998 + 0.004 * clo_i_random_unit(stream)) : -size;
    }
    start_wide(&a, planned(COLS, CLO_REPLACE), 1);
    value_of(&a, records, ROWS, origin, 0.25, gram);
    for (size_t j = 0; j < COLS; j++) trace += gram[j * COLS + j];
    assert_true(trace <= ROWS * UNIT + NOISE * sqrt(COLS));
    assert_true(trace > 0.97 * ROWS * UNIT);
    stop(&a);
    stop_search(stream, rng);
}

/* As many records as fill blocks, or one more, or one fewer: all of them count. */
static void no_record_of_a_block_is_left_out(void **state)
{
    static double records[1025 * D];
    static const double origin[D];
    double gram[D * D];
    asking a;
    (void)state;
    for (size_t i = 0; i < 1025; i++) records[i * D] = 0.25;
    for (size_t block = 2; block <= 1024; block *= 2)
        for (size_t rows = block - 1; rows <= block + 1; rows++) {
            start(&a, planned(D, CLO_REPLACE));
            value_of(&a, records, rows, origin, 0.25, gram);
            assert_close(gram[0], (double)rows * UNIT, NOISE);
            stop(&a);
        }
}

/* 70,001 times 2^16 is more than 32 bits hold: sums are moved on in time. */
static void sums_at_the_bound_are_exact(void **state)
{
    enum { ROWS = 70001 };
    static double records[ROWS * D];
    static const double origin[D];
    double gram[D * D];
    asking a;
    (void)state;
    for (size_t i = 0; i < ROWS; i++) records[i * D] = 0.25;
    start(&a, planned(D, CLO_REPLACE));
    value_of(&a, records, ROWS, origin, 0.25, gram);
    assert_close(gram[0], 70001.0 * UNIT, NOISE);
    stop(&a);
}

static clo_status checked(const clo_assign *rule, const uint64_t *words, size_t count)
{
    const clo_line line = planned(D, CLO_REPLACE);
    clo_error err;
    const clo_ask ask = {
        .line = &line, .rules = rule, .rule_count = 1, .words = words, .word_count = count
    };
    return clo_i_query_local_gram.sum.check(&ask, D, &err);
}

/* What the arithmetic of local_gram.T2 stands on. */
static void refuses_an_ask_that_is_out_of_range(void **state)
{
    static const double points[2 * D] = { 0.5, 0, 0, 0, 0.5, 0 };
    uint64_t words[2] = { (uint64_t)CLO_LOCAL_WIDEST << 20, 1 };
    clo_workspace *space = NULL;
    clo_error err;
    clo_assign rule, two;
    (void)state;
    assert_ok(clo_workspace_new(1 << 12, &space, &err), err);
    assert_ok(clo_i_assign_centers(space, points, 1, D, 20, &rule, &err), err);
    assert_ok(clo_i_assign_centers(space, points, 2, D, 20, &two, &err), err);
    assert_int_equal(checked(&rule, words, 1), CLO_OK);
    assert_int_equal(checked(&rule, words, 2), CLO_INTERNAL);
    assert_int_equal(checked(&rule, words, 0), CLO_INTERNAL);
    assert_int_equal(checked(&two, words, 1), CLO_INTERNAL);
    words[0]++;
    assert_int_equal(checked(&rule, words, 1), CLO_INTERNAL);
    words[0] = 0;
    assert_int_equal(checked(&rule, words, 1), CLO_INTERNAL);
    words[0] = 1;
    double offsets[1] = { 0x1p42 };
    rule.offsets = offsets;
    assert_int_equal(checked(&rule, words, 1), CLO_OK);
    offsets[0] = 0x1p42 + 1;
    assert_int_equal(checked(&rule, words, 1), CLO_INTERNAL);
    rule.kind = CLO_ASSIGN_ONE;
    assert_int_equal(checked(&rule, words, 1), CLO_INTERNAL);
    clo_workspace_free(space);
}

static void refuses_more_columns_than_it_can_hold(void **state)
{
    const clo_domain domain = ball(4097, 1, CLO_REPLACE);
    clo_line line;
    clo_error err;
    (void)state;
    assert_fails(clo_i_plan_local_gram(&domain, 1, 1, "", &line, &err), CLO_ARGUMENT, err,
                 "a Gram matrix takes at most 4096 columns, not 4097: choose fewer of them");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_record_moves_the_matrix_further_than_planned),
        cmocka_unit_test(a_local_gram_is_what_its_definition_says),
        cmocka_unit_test(its_sums_are_exact),
        cmocka_unit_test(sums_at_the_bound_are_exact),
        cmocka_unit_test(no_record_of_a_block_is_left_out),
        cmocka_unit_test(a_record_of_many_columns_stays_in_the_ball),
        cmocka_unit_test(refuses_an_ask_that_is_out_of_range),
        cmocka_unit_test(refuses_more_columns_than_it_can_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
