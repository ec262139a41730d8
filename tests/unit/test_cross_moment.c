/* cross_moment: the sensitivity of cross_moment.T1 by random search, through the query itself, with
 * bases that are orthonormal and bases that are not; what it answers is what plain C makes of its
 * definition (cross_moment.T2); and an ask that is not one of its line is refused. */
#include "quiet_asking.h"
#include "linalg/linalg.h"
#include "ask/assign.h"
#include "query/queries.h"
#include "query/cross_moment.h"
#include "ask/fold.h"

enum { D = 4, Q = 2, K = 2, EACH = D * Q + 2, ENTRIES = K * EACH };

static clo_line planned(clo_relation relation)
{
    const clo_domain domain = ball(D, 1, relation);
    clo_error err;
    clo_line line;
    assert_ok(clo_i_plan_cross_moment(&domain, K, Q, 1, 1, "", &line, &err), err);
    return line;
}

/* The answer in integer units: moments, squares and size of each cluster. */
static void value_of(asking *a, const double *records, size_t rows, const double *bases,
                     const clo_cross_view *views, clo_relation relation, double *out)
{
    const clo_domain domain = ball(D, 1, relation);
    clo_bounded *const data = bounded_from(records, rows, &domain);
    const size_t mark = clo_i_workspace_mark(a->context.workspace);
    const double square_unit = (double)clo_i_cross_moment_fields(&a->line).square_unit;
    double moments[K * D * Q], squares[K], sizes[K];
    clo_cross_moments answer = { moments, squares, sizes };
    clo_assign rule;
    clo_error err;
    assert_ok(
        clo_i_assign_subspaces(a->context.workspace, bases, K, D, Q, a->line.bits, &rule, &err),
        err);
    assert_ok(clo_i_ask_cross_moment(&a->context, 0, data, &rule, views, &answer, &err), err);
    for (size_t c = 0; c < K; c++) {
        for (size_t i = 0; i < D * Q; i++)
            out[c * EACH + i] = ldexp(moments[c * D * Q + i], a->line.bits);
        out[c * EACH + D * Q] = squares[c] * square_unit;
        out[c * EACH + D * Q + 1] = sizes[c] * (double)a->line.count_unit;
    }
    clo_i_workspace_release(a->context.workspace, mark);
    clo_bounded_free(data);
}

/* Bases orthonormal, or of any entries from -1 to 1; records anywhere, or halfway between a
 * subspace and its complement, on two sides of it. */
static void draw_case(clo_stream *stream, int trial, double *bases, clo_cross_view *views,
                      double pair[2][D])
{
    static const double sizes[] = { 0x1p-20, 0x1p-12, 0.01, 0.1, 0.25, 0.5 };
    clo_error err;
    for (size_t i = 0; i < K * D * Q; i++) bases[i] = 2 * clo_i_random_unit(stream) - 1;
    for (size_t c = 0; c < K; c++) {
        if (trial % 3) assert_ok(clo_i_orthonormalize(bases + c * D * Q, D, Q, &err), err);
        views[c].width = sizes[(size_t)trial % 6];
        views[c].reach = sizes[(size_t)trial / 6 % 6];
        draw_vector(stream, 2 * clo_i_random_unit(stream), D, pair[c]);
    }
    if (trial % 5) return;
    for (size_t j = 0; j < D; j++)
        for (size_t e = 0; e < Q; e++) {
            bases[j * Q + e] = j == e;
            bases[(D + j) * Q + e] = trial % 2 ? j == e + 2 : j == e;
        }
    for (size_t j = 0; j < D; j++) {
        pair[0][j] = j == 0 || j == 2 ? 0.7071 : 0;
        pair[1][j] = j == 0 ? 0.7071 : j == 2 ? (trial % 4 ? -0.7071 : -0x1p-15) : 0;
    }
    if (trial % 2) pair[1][0] = trial % 4 == 1 ? 0.7 : 0.7071;
    if (trial % 15) return;
    /* A step of the grid along each axis of the first subspace, and the rest outside: a length
     * that is a step short shows here. */
    for (size_t c = 0; c < K; c++) {
        views[c].width = views[c].reach = 0x1p-20;
        for (size_t e = 0; e < Q; e++)
            pair[c][e] = 0x1p-20 * (1.1 + 0.8 * clo_i_random_unit(stream));
        pair[c][2] = c ? -0.99999 : 0.99999;
        pair[c][3] = 0;
    }
}

static double widest_change(clo_relation relation)
{
    clo_rng *rng;
    clo_stream *const stream = start_search(&rng);
    const clo_line line = planned(relation);
    double widest = 0;
    asking a;
    start(&a, line);
    for (int trial = 0; trial < 1800; trial++) {
        clo_cross_view views[K];
        double pair[2][D], bases[K * D * Q], one[ENTRIES], other[ENTRIES];
        draw_case(stream, trial, bases, views, pair);
        value_of(&a, pair[0], 1, bases, views, relation, one);
        value_of(&a, pair[1], relation == CLO_REPLACE, bases, views, relation, other);
        const double change = distance_between(one, other, ENTRIES);
        assert_true(change <= (double)line.sensitivity + 60); /* the noise of two answers */
        widest = fmax(widest, change);
    }
    stop(&a);
    stop_search(stream, rng);
    return widest / (double)line.sensitivity;
}

/* cross_moment.T1, cross_moment.T2 */
static void no_record_moves_the_answer_further_than_planned(void **state)
{
    (void)state;
    for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++)
        assert_true(widest_change((clo_relation)relation) > 0.97);
}

static double length_of(const double *x, size_t count)
{
    double square = 0;
    for (size_t i = 0; i < count; i++) square += x[i] * x[i];
    return sqrt(square);
}

/* What a record of the first cluster adds, by the definition, in doubles. */
static void by_definition(const double *x, const double *basis, clo_cross_view view,
                          const clo_line *line, double *out)
{
    double y[Q], r[D];
    memcpy(r, x, sizeof r);
    for (size_t e = 0; e < Q; e++) {
        y[e] = 0;
        for (size_t j = 0; j < D; j++) y[e] += basis[j * Q + e] * x[j];
        for (size_t j = 0; j < D; j++) r[j] -= basis[j * Q + e] * y[e];
    }
    const double length = length_of(y, Q) * length_of(r, D);
    const double share = fmin(length / view.reach, 1);
    for (size_t e = 0; e < Q; e++)
        for (size_t j = 0; j < D; j++)
            out[e * D + j] += 0x1p20 * r[j] * y[e] / fmax(length, view.width);
    out[D * Q] += share * share * (double)clo_i_cross_moment_fields(line).square_unit;
    out[D * Q + 1] += (double)line->count_unit;
}

static void a_cross_moment_is_what_its_definition_says(void **state)
{
    const clo_cross_view views[K] = { { 0.1, 0.3 }, { 0.2, 0.2 } };
    const clo_line line = planned(CLO_ADD_REMOVE);
    clo_rng *rng;
    clo_stream *const stream = start_search(&rng);
    double bases[K * D * Q], records[20 * D], value[ENTRIES], wanted[ENTRIES];
    clo_error err;
    asking a;
    (void)state;
    for (size_t i = 0; i < K * D * Q; i++) bases[i] = clo_i_random_normal(stream);
    for (size_t c = 0; c < K; c++)
        assert_ok(clo_i_orthonormalize(bases + c * D * Q, D, Q, &err), err);
    memset(wanted, 0, sizeof wanted);
    for (size_t i = 0; i < 20; i++) {
        double inside[K] = { 0 };
        draw_vector(stream, clo_i_random_unit(stream), D, records + i * D);
        for (size_t c = 0; c < K; c++)
            for (size_t e = 0; e < Q; e++) {
                double dot = 0;
                for (size_t j = 0; j < D; j++)
                    dot += bases[(c * D + j) * Q + e] * records[i * D + j];
                inside[c] += dot * dot;
            }
        const size_t c = inside[1] > inside[0];
        by_definition(records + i * D, bases + c * D * Q, views[c], &line, wanted + c * EACH);
    }
    start(&a, line);
    value_of(&a, records, 20, bases, views, CLO_ADD_REMOVE, value);
    for (size_t e = 0; e < ENTRIES; e++) /* steps of the grid, over the width; 20 records */
        assert_close(value[e], wanted[e], 20 * 40);
    stop(&a);
    stop_search(stream, rng);
}

static clo_status checked(const clo_assign *rule, const uint64_t *words, size_t count)
{
    const clo_line line = planned(CLO_REPLACE);
    clo_error err;
    const clo_ask ask = {
        .line = &line, .rules = rule, .rule_count = 1, .words = words, .word_count = count
    };
    return clo_i_query_cross_moment.sum.check(&ask, D, &err);
}

/* What the arithmetic of cross_moment.T2 stands on. */
static void refuses_an_ask_that_is_out_of_range(void **state)
{
    static const double bases[K * D * Q] = { 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1 };
    const uint64_t most = (uint64_t)1 << 19;
    uint64_t words[2 * K + 1] = { 1, most, 1, most, 1 };
    clo_workspace *space = NULL;
    clo_error err;
    clo_assign rule, other;
    (void)state;
    assert_ok(clo_workspace_new(1 << 14, &space, &err), err);
    assert_ok(clo_i_assign_subspaces(space, bases, K, D, Q, 20, &rule, &err), err);
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
    assert_ok(clo_i_assign_subspaces(space, bases, K, D, 1, 20, &other, &err), err);
    assert_int_equal(checked(&other, words, 2 * K), CLO_INTERNAL); /* of another dimension */
    assert_ok(clo_i_assign_subspaces(space, bases, K, D, Q, 15, &other, &err), err);
    assert_int_equal(checked(&other, words, 2 * K), CLO_INTERNAL); /* on another grid */
    other = rule;
    other.kind = CLO_ASSIGN_FLATS;
    assert_int_equal(checked(&other, words, 2 * K), CLO_INTERNAL);
    clo_workspace_free(space);
}

static void refuses_a_line_that_it_cannot_add_up(void **state)
{
    clo_domain domain = ball(1024, 1, CLO_REPLACE);
    clo_error err;
    clo_line line;
    (void)state;
    assert_ok(clo_i_plan_cross_moment(&domain, 1, 1024, 1, 1, "", &line, &err), err);
    assert_int_equal(clo_i_plan_cross_moment(&domain, 1, 1025, 1, 1, "", &line, &err),
                     CLO_ARGUMENT);
    assert_int_equal(clo_i_plan_cross_moment(&domain, 1, 0, 1, 1, "", &line, &err), CLO_ARGUMENT);
    assert_int_equal(clo_i_plan_cross_moment(&domain, 0, 1, 1, 1, "", &line, &err), CLO_ARGUMENT);
    domain.cols = 1025;
    assert_int_equal(clo_i_plan_cross_moment(&domain, 1, 1, 1, 1, "", &line, &err), CLO_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_record_moves_the_answer_further_than_planned),
        cmocka_unit_test(a_cross_moment_is_what_its_definition_says),
        cmocka_unit_test(refuses_an_ask_that_is_out_of_range),
        cmocka_unit_test(refuses_a_line_that_it_cannot_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
