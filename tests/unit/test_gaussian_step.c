/* gaussian_step: the sensitivity of gaussian_step.T1 by random search, in exact integers, through
 * the query itself (gaussian_step.T2); and the pull of a cluster is what its definition says. */
#include "quiet_asking.h"
#include "ask/assign.h"
#include "query/gaussian_step.h"

enum { D = 3, K = 2, ENTRIES = K * (D + 2), TINY = 1 };

/* The answer in integer units: pulls and stiffness and sizes of each cluster. */
static void value_of(asking *a, const double *records, size_t rows, const double *centers,
                     double width, clo_relation relation, double *out)
{
    const clo_domain domain = ball(D, 1, relation);
    clo_bounded *const data = bounded_from(records, rows, &domain);
    const size_t mark = clo_i_workspace_mark(a->context.workspace);
    double pulls[K * D], stiffness[K], sizes[K];
    clo_steps steps = { pulls, stiffness, sizes };
    clo_assign rule;
    clo_error err;
    assert_ok(clo_i_assign_centers(a->context.workspace, centers, K, D, a->line.bits, &rule, &err),
              err);
    assert_ok(clo_i_ask_gaussian_step(&a->context, 0, data, &rule, width, &steps, &err), err);
    for (size_t c = 0; c < K; c++) {
        for (size_t j = 0; j < D; j++) out[c * (D + 2) + j] = ldexp(pulls[c * D + j], a->line.bits);
        out[c * (D + 2) + D] = stiffness[c] * (double)a->line.count_unit;
        out[c * (D + 2) + D + 1] = sizes[c] * (double)a->line.count_unit;
    }
    clo_i_workspace_release(a->context.workspace, mark);
    clo_bounded_free(data);
}

/* gaussian_step.T1, gaussian_step.T2 */
static void no_record_moves_the_answer_further_than_planned(void **state)
{
    clo_error err;
    clo_rng *rng;
    clo_stream *const stream = start_search(&rng);
    (void)state;
    for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++) {
        const clo_domain domain = ball(D, 1, (clo_relation)relation);
        clo_line line;
        double widest = 0;
        asking a;
        assert_ok(clo_i_plan_gaussian_step(&domain, K, 1, 1, "", &line, &err), err);
        start(&a, line);
        for (int trial = 0; trial < 600; trial++) {
            const double width = trial % 3 ? 0.25 : 0.01;
            double pair[2][D], centers[K * D], one[ENTRIES], other[ENTRIES];
            draw_vector(stream, trial % 2, D, centers);
            draw_vector(stream, clo_i_random_unit(stream), D, centers + D);
            draw_vector(stream, 2 * clo_i_random_unit(stream), D, pair[0]);
            draw_vector(stream, 2 * clo_i_random_unit(stream), D, pair[1]);
            if (trial % 5 == 0) /* on both sides of a centre, or on it to the width */
                for (size_t j = 0; j < D; j++) {
                    pair[0][j] = centers[j] + (j == 0 ? width : 0);
                    pair[1][j] = centers[j] - (j == 0 ? (trial % 2 ? width : 0.9) : 0);
                }
            value_of(&a, pair[0], 1, centers, width, (clo_relation)relation, one);
            value_of(&a, pair[1], relation == CLO_REPLACE, centers, width, (clo_relation)relation,
                     other);
            const double change = distance_between(one, other, ENTRIES);
            assert_true(change <= (double)line.sensitivity + 40 * TINY);
            widest = fmax(widest, change);
        }
        assert_true(widest > 0.97 * (double)line.sensitivity);
        stop(&a);
    }
    stop_search(stream, rng);
}

static void a_pull_is_what_its_definition_says(void **state)
{
    const double records[3 * D] = { 0.5, 0, 0, 0, 0.05, 0, -0.5, 0, 0.5 };
    const double centers[K * D] = { 0, 0, 0, -0.5, 0, 0.75 };
    const clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    const double unit = 1 << 20;
    double value[ENTRIES];
    clo_error err;
    clo_line line;
    asking a;
    (void)state;
    assert_ok(clo_i_plan_gaussian_step(&domain, K, 1, 1, "", &line, &err), err);
    start(&a, line);
    value_of(&a, records, 3, centers, 0.1, CLO_ADD_REMOVE, value);
    assert_close(value[0], unit, 20);             /* 0.5 away: a unit vector */
    assert_close(value[1], unit / 2, 20);         /* half of the width away */
    assert_close(value[D], unit / 4 * 1.2, 20);   /* 0.1 / 0.5, and 1 */
    assert_close(value[D + 1], unit / 4 * 2, 20); /* two records */
    assert_close(value[D + 2 + 2], -unit, 20);
    assert_close(value[D + 2 + D], unit / 4 * 0.4, 20);
    stop(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_record_moves_the_answer_further_than_planned),
        cmocka_unit_test(a_pull_is_what_its_definition_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
