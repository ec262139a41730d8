/* local_sum: the sensitivity of local_sum.T1 by random search, in exact integers, through the query
 * itself (local_sum.T2), with records far from all centres and views of all sizes; what it answers
 * is what its definition says; and an ask that is not one of its line is refused. */
#include "quiet_asking.h"
#include "ask/assign.h"
#include "query/queries.h"
#include "ask/fold.h"
#include "query/local_sum.h"

enum { D = 3, K = 2, ENTRIES = K * (D + 2) };

static clo_line planned(clo_relation relation, clo_event_kind kind)
{
    const clo_domain domain = ball(D, 1, relation);
    clo_error err;
    clo_line line;
    assert_ok(clo_i_plan_local_sum(&domain, K, kind, 1, 1, "", &line, &err), err);
    return line;
}

/* The answer in integer units: sums, squares and size of each cluster. */
static void value_of(asking *a, const double *records, size_t rows, const double *centers,
                     const clo_local_view *views, clo_relation relation, double *out)
{
    const clo_domain domain = ball(D, 1, relation);
    clo_bounded *const data = bounded_from(records, rows, &domain);
    const size_t mark = clo_i_workspace_mark(a->context.workspace);
    const double square_unit = (double)clo_i_local_sum_fields(&a->line).square_unit;
    double sums[K * D], squares[K], sizes[K];
    clo_local_sums answer = { sums, squares, sizes };
    clo_assign rule;
    clo_error err;
    assert_ok(clo_i_assign_centers(a->context.workspace, centers, K, D, a->line.bits, &rule, &err),
              err);
    assert_ok(clo_i_ask_local_sum(&a->context, 0, data, &rule, views, &answer, &err), err);
    for (size_t c = 0; c < K; c++) {
        for (size_t j = 0; j < D; j++) out[c * (D + 2) + j] = ldexp(sums[c * D + j], a->line.bits);
        out[c * (D + 2) + D] = squares[c] * square_unit;
        out[c * (D + 2) + D + 1] = sizes[c] * (double)a->line.count_unit;
    }
    clo_i_workspace_release(a->context.workspace, mark);
    clo_bounded_free(data);
}

/* Centres in the ball and out of it, records anywhere, or as far apart as a rule allows. */
static void draw_case(clo_stream *stream, int trial, double *centers, clo_local_view *views,
                      double pair[2][D])
{
    static const double sizes[] = { 0x1p-20, 0x1p-12, 0.01, 0.25, 1, 4 };
    for (size_t c = 0; c < K; c++) {
        draw_vector(stream, trial % 7 == 0 ? 0.999 : clo_i_random_unit(stream), D, centers + c * D);
        views[c].width = sizes[(size_t)trial % 6];
        views[c].reach = sizes[(size_t)trial / 6 % 6];
        draw_vector(stream, 2 * clo_i_random_unit(stream), D, pair[c]);
    }
    if (trial % 5) return;
    for (size_t j = 0; j < D; j++) { /* the ends of the ball; in one cluster or in two */
        centers[j] = trial % 2 ? 0 : j == 0;
        centers[D + j] = j == 0 ? (trial % 2 ? -1 : -0.5) : 0;
        pair[0][j] = j == 0 ? 1 : 0;
        pair[1][j] = j == 0 ? (trial % 3 ? -1 : -0x1p-3) : 0;
    }
}

static double norm_of_change(const double *one, const double *other, bool pure)
{
    double total = 0;
    for (size_t e = 0; e < ENTRIES; e++) total += fabs(one[e] - other[e]);
    return pure ? total : distance_between(one, other, ENTRIES);
}

static double widest_change(clo_relation relation, clo_event_kind kind)
{
    clo_rng *rng;
    clo_stream *const stream = start_search(&rng);
    const clo_line line = planned(relation, kind);
    double widest = 0;
    asking a;
    start(&a, line);
    for (int trial = 0; trial < 1200; trial++) {
        clo_local_view views[K];
        double pair[2][D], centers[K * D], one[ENTRIES], other[ENTRIES];
        draw_case(stream, trial, centers, views, pair);
        value_of(&a, pair[0], 1, centers, views, relation, one);
        value_of(&a, pair[1], relation == CLO_REPLACE, centers, views, relation, other);
        const double change = norm_of_change(one, other, kind == CLO_EVENT_PURE);
        assert_true(change <= (double)line.sensitivity + (kind == CLO_EVENT_PURE ? 400 : 40));
        widest = fmax(widest, change);
    }
    stop(&a);
    stop_search(stream, rng);
    return widest / (double)line.sensitivity;
}

/* local_sum.T1, local_sum.T2 */
static void no_record_moves_the_answer_further_than_planned(void **state)
{
    (void)state;
    for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++) {
        assert_true(widest_change((clo_relation)relation, CLO_EVENT_GAUSSIAN) > 0.97);
        assert_true(widest_change((clo_relation)relation, CLO_EVENT_PURE) > 0.8);
    }
}

static void a_local_sum_is_what_its_definition_says(void **state)
{
    const double records[4 * D] = { 0.5, 0, 0, 0, 0.05, 0, -0.5, 0, 0.5, -0.5, 0, 0.75 };
    const double centers[K * D] = { 0, 0, 0, -0.5, 0, 0.75 };
    const clo_local_view views[K] = { { 0.1, 0.2 }, { 0.5, 0.5 } };
    const clo_line line = planned(CLO_ADD_REMOVE, CLO_EVENT_GAUSSIAN);
    const double unit = 1 << 20, size = (double)line.count_unit;
    double value[ENTRIES];
    asking a;
    (void)state;
    start(&a, line);
    value_of(&a, records, 4, centers, views, CLO_ADD_REMOVE, value);
    assert_close(value[0], unit, 20);                      /* 0.5 away: cut to the width */
    assert_close(value[1], unit / 2, 20);                  /* half of the width away */
    assert_close(value[D], unit / 4 * (1 + 1.0 / 16), 20); /* beyond the reach; a quarter of it */
    assert_close(value[D + 1], 2 * size, 20);              /* two records */
    assert_close(value[D + 2 + 2], -unit / 2, 20);         /* 0.25 away, and on the centre */
    assert_close(value[D + 2 + D], unit / 4 * (1.0 / 4), 20);
    assert_close(value[D + 2 + D + 1], 2 * size, 20);
    stop(&a);
}

/* Edges of shells are squared lengths in squared widths, 2^(j / 2 - 3), which belong to the farther
 * one. */
static void a_length_is_in_the_shell_that_its_edges_say(void **state)
{
    (void)state;
    assert_int_equal(clo_i_local_shell(0), 0);
    assert_int_equal(clo_i_local_shell(0x1p-44), 0);
    assert_int_equal(clo_i_local_shell(INFINITY), CLO_LOCAL_SHELLS - 1);
    assert_int_equal(clo_i_local_shell(0x1p44), CLO_LOCAL_SHELLS - 1);
    for (int j = 1; j < CLO_LOCAL_SHELLS; j++) {
        const double edge = exp2((double)j / 2 - 3);
        assert_int_equal(clo_i_local_shell(edge * (1 + 1e-15)), j);
        assert_int_equal(clo_i_local_shell(edge * (1 - 1e-15)), j - 1);
    }
    assert_int_equal(clo_i_local_shell(1), 6);
}

/* Three records of two clusters: one at its centre, and two at two and four widths of their own. */
static void shells_count_the_records_of_all_clusters(void **state)
{
    const double records[3 * D] = { 0, 0, 0, 0.25, 0, 0, -0.5, 0, 0.25 };
    const double centers[K * D] = { 0, 0, 0, -0.5, 0, 0.75 };
    const clo_local_view views[K] = { { 0.0625, 0.2 }, { 0.25, 0.5 } };
    const clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    double sums[K * D], squares[K], sizes[K], shells[CLO_LOCAL_SHELLS];
    clo_local_sums answer = { sums, squares, sizes };
    clo_assign rule;
    clo_error err;
    clo_line line;
    asking a;
    (void)state;
    assert_ok(clo_i_plan_local_shells(&domain, K, 1, 4, "", &line, &err), err);
    start(&a, line);
    clo_bounded *const data = bounded_from(records, 3, &domain);
    const size_t mark = clo_i_workspace_mark(a.context.workspace);
    assert_ok(clo_i_assign_centers(a.context.workspace, centers, K, D, 20, &rule, &err), err);
    assert_ok(clo_i_ask_local_shells(&a.context, 0, data, &rule, views, &answer, shells, &err),
              err);
    for (int j = 0; j < CLO_LOCAL_SHELLS; j++)
        assert_true(fabs(shells[j] - (j == 0 || j == 10 || j == 14)) < 0.01);
    assert_true(fabs(sizes[0] - 2) < 0.01 && fabs(sizes[1] - 1) < 0.01);
    assert_int_equal(clo_i_ask_local_sum(&a.context, 0, data, &rule, views, &answer, &err),
                     CLO_INTERNAL);
    clo_i_workspace_release(a.context.workspace, mark);
    clo_bounded_free(data);
    stop(&a);
}

/* As far apart as T2 allows: below 2^44, in any number of columns. */
static void a_squared_distance_is_exact(void **state)
{
    enum { MOST = 150 };
    double record[MOST], center[MOST];
    (void)state;
    for (size_t cols = 1; cols <= MOST; cols++) {
        uint64_t sum = 0;
        const int64_t most = (int64_t)ldexp(1 / sqrt((double)cols), 20);
        for (size_t j = 0; j < cols; j++) {
            const int64_t r = most - (int64_t)(j * j % 11), c = (j % 3 ? -2 : 2) * r + (int64_t)j;
            record[j] = (double)r;
            center[j] = (double)c;
            sum += (uint64_t)((r - c) * (r - c));
        }
        assert_true(clo_i_square_apart(record, center, cols) == (double)sum);
    }
}

static clo_status checked(const clo_assign *rule, const uint64_t *words, size_t count)
{
    const clo_line line = planned(CLO_REPLACE, CLO_EVENT_GAUSSIAN);
    clo_error err;
    const clo_ask ask = {
        .line = &line, .rules = rule, .rule_count = 1, .words = words, .word_count = count
    };
    return clo_i_query_local_sum.sum.check(&ask, D, &err);
}

/* What the arithmetic of local_sum.T2 stands on. */
static void refuses_an_ask_that_is_out_of_range(void **state)
{
    static const double points[K * D] = { 0.5, 0, 0, 0.5, 1, 1 };
    const uint64_t most = (uint64_t)CLO_LOCAL_WIDEST << 20;
    uint64_t words[2 * K + 1] = { 1, most, 1, most, 1 };
    clo_workspace *space = NULL;
    clo_error err;
    clo_assign rule;
    (void)state;
    assert_ok(clo_workspace_new(1 << 12, &space, &err), err);
    assert_ok(clo_i_assign_centers(space, points, K, D, 20, &rule, &err), err);
    assert_int_equal(checked(&rule, words, 2 * K), CLO_OK);
    assert_int_equal(checked(&rule, words, 2 * K + 1), CLO_INTERNAL);
    assert_int_equal(checked(&rule, words, 2 * K - 1), CLO_INTERNAL);
    for (size_t i = 0; i < 2 * K; i++) { /* widths, then reaches */
        const uint64_t right = words[i];
        words[i] = 0;
        assert_int_equal(checked(&rule, words, 2 * K), CLO_INTERNAL);
        words[i] = most + 1;
        assert_int_equal(checked(&rule, words, 2 * K), CLO_INTERNAL);
        words[i] = right;
    }
    double offsets[K] = { 0x1p42, 0x1p42 };
    rule.offsets = offsets;
    assert_int_equal(checked(&rule, words, 2 * K), CLO_OK);
    offsets[1] = 0x1p42 + 1;
    assert_int_equal(checked(&rule, words, 2 * K), CLO_INTERNAL);
    rule.kind = CLO_ASSIGN_ONE;
    assert_int_equal(checked(&rule, words, 2 * K), CLO_INTERNAL);
    clo_workspace_free(space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_record_moves_the_answer_further_than_planned),
        cmocka_unit_test(a_local_sum_is_what_its_definition_says),
        cmocka_unit_test(a_squared_distance_is_exact),
        cmocka_unit_test(a_length_is_in_the_shell_that_its_edges_say),
        cmocka_unit_test(shells_count_the_records_of_all_clusters),
        cmocka_unit_test(refuses_an_ask_that_is_out_of_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
