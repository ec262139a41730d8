/* look: the sensitivity of look.T1 by random search, in exact integers, through the query itself
 * (look.T2), with records far from the centre and widths of all sizes; what it answers is what its
 * definition says, at both sides of every edge of a shell; and an ask that is not one of its line
 * is refused. */
#include "quiet_asking.h"
#include "ask/assign.h"
#include "ask/fold.h"
#include "query/local_sum.h"
#include "query/look.h"
#include "query/queries.h"

enum { D = 3, ENTRIES = D + CLO_LOOK_SHELLS };
static const double UNIT = 0x1p20, NOISE = 12; /* of an answer; more than noise of scale 1 */

static clo_line planned(clo_relation relation)
{
    const clo_domain domain = ball(D, 1, relation);
    clo_error err;
    clo_line line;
    assert_ok(clo_i_plan_look(&domain, 1, 1, "", &line, &err), err);
    return line;
}

/* The answer in integer units. */
static void value_of(asking *a, const double *records, size_t rows, const double *center,
                     double width, double *out)
{
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_bounded *const data = bounded_from(records, rows, &domain);
    clo_error err;
    assert_ok(clo_i_ask_look(&a->context, 0, data, center, width, out, out + D, &err), err);
    for (size_t e = 0; e < ENTRIES; e++) out[e] *= e < D ? UNIT : (double)a->line.count_unit;
    clo_bounded_free(data);
}

static double widest_change(clo_relation relation)
{
    static const double widths[] = { 0x1p-20, 0x1p-12, 0.01, 0.25, 1, 4 };
    const clo_line line = planned(relation);
    clo_rng *rng;
    clo_stream *const stream = start_search(&rng);
    double widest = 0;
    asking a;
    start(&a, line);
    for (int trial = 0; trial < 2400; trial++) {
        const double width = widths[trial % 6];
        double center[D], pair[2][D], one[ENTRIES], other[ENTRIES];
        draw_vector(stream, trial % 7 ? clo_i_random_unit(stream) : 0.999, D, center);
        for (size_t r = 0; r < 2; r++)
            draw_vector(stream, 2 * clo_i_random_unit(stream), D, pair[r]);
        for (size_t j = 0; j < D && trial % 5 == 0; j++) { /* on two sides of the centre */
            center[j] /= 8;
            pair[0][j] = center[j] / 2;
            pair[1][j] = 3 * center[j];
        }
        value_of(&a, pair[0], 1, center, width, one);
        value_of(&a, pair[1], relation == CLO_REPLACE, center, width, other);
        const double change = distance_between(one, other, ENTRIES);
        assert_true(change <= (double)line.sensitivity + 3 * NOISE);
        widest = fmax(widest, change);
    }
    stop(&a);
    stop_search(stream, rng);
    return widest / (double)line.sensitivity;
}

/* look.T1, look.T2 */
static void no_record_moves_the_answer_further_than_planned(void **state)
{
    (void)state;
    assert_true(widest_change(CLO_REPLACE) > 0.999);
    assert_true(widest_change(CLO_ADD_REMOVE) > 0.999);
}

static void a_look_is_what_its_definition_says(void **state)
{
    const double center[D] = { 0.25, 0, -0.25 };
    const double records[4 * D] = { 0.25, 0,   -0.25, 0.25,  0.0625, -0.25,
                                    0.25, 0.5, -0.25, -0.75, 0,      -0.25 };
    const clo_line line = planned(CLO_ADD_REMOVE);
    const double shell = (double)line.count_unit;
    double value[ENTRIES];
    asking a;
    (void)state;
    start(&a, line);
    value_of(&a, records, 4, center, 0.125, value);
    assert_close(value[0], -UNIT, NOISE);           /* 1 away: cut to the width */
    assert_close(value[1], UNIT / 2 + UNIT, NOISE); /* half of the width away; cut to it */
    assert_close(value[2], 0, NOISE);
    for (size_t j = 0; j < CLO_LOOK_SHELLS; j++) /* distances 1, 1/2, 1/16 and 0 */
        assert_close(value[D + j], j == 2 || j == 4 || j == 10 || j == 23 ? shell : 0, NOISE);
    stop(&a);
}

/* Through the query: records on an axis, at whole powers of two of the radius and one step of the
 * grid beyond. */
static void shells_count_the_records_between_their_edges(void **state)
{
    static const double origin[D];
    const clo_line line = planned(CLO_ADD_REMOVE);
    double value[ENTRIES];
    asking a;
    (void)state;
    start(&a, line);
    for (int e = 1; e <= 10; e++) {
        const double edge = ldexp(1, -e), records[2 * D] = { edge, 0, 0, edge + 0x1p-20 };
        value_of(&a, records, 2, origin, 1, value);
        for (int j = 0; j < CLO_LOOK_SHELLS; j++) {
            const int apart = 2 + 2 * e - j;
            assert_close(value[D + j], apart == 0 || apart == 1 ? (double)line.count_unit : 0,
                         NOISE);
        }
    }
    for (int e = 0; e <= 2; e++) { /* beyond the radius: from one end of the ball to the other */
        const double end[D] = { -1 }, records[D] = { e == 2 ? 1 : e == 1 ? 0.5 : 0x1p-20 };
        value_of(&a, records, 1, end, 1, value);
        for (int j = 0; j < CLO_LOOK_SHELLS; j++)
            assert_close(value[D + j], j == (e ? 0 : 1) ? (double)line.count_unit : 0, NOISE);
    }
    stop(&a);
}

static clo_status checked(const clo_assign *rule, const uint64_t *words, size_t count)
{
    const clo_line line = planned(CLO_REPLACE);
    clo_error err;
    const clo_ask ask = {
        .line = &line, .rules = rule, .rule_count = 1, .words = words, .word_count = count
    };
    return clo_i_query_look.sum.check(&ask, D, &err);
}

/* What the arithmetic of look.T2 stands on. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_record_moves_the_answer_further_than_planned),
        cmocka_unit_test(a_look_is_what_its_definition_says),
        cmocka_unit_test(shells_count_the_records_between_their_edges),
        cmocka_unit_test(refuses_an_ask_that_is_out_of_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
