/* meter.T1: a query that the plan does not list, or not so often, fails before it looks. */
#include "pipeline.h"
#include "ask/query.h"
#include "parallel/parallel.h"
#include "ask/assign.h"
#include "query/gaussian_gram.h"
#include "query/gaussian_sum.h"

enum { D = 2 };

static void a_query_is_asked_as_often_as_planned_and_no_more(void **state)
{
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    const double record[D] = { 0.5, 0.5 };
    clo_bounded *const data = bounded_from(record, 1, &domain);
    clo_rng *const rng = seeded("meter");
    clo_workspace *space = NULL;
    clo_line lines[2];
    clo_error err;
    double sum[D], count = -1, gram[D * D] = { -1 };
    const clo_assign all = { .kind = CLO_ASSIGN_ONE, .clusters = 1 };
    (void)state;
    assert_ok(clo_workspace_new(1 << 20, &space, &err), err);
    assert_ok(clo_i_plan_gaussian_sum(&domain, 1, 1, 2, "sum", &lines[0], &err), err);
    assert_ok(clo_i_plan_gaussian_gram(&domain, 1, 1, 1, "gram", &lines[1], &err), err);
    clo_meter meter = { .lines = lines, .count = 2 };
    clo_context context = { .rng = rng,
                            .workspace = space,
                            .comm = clo_i_comm_self(),
                            .threads = 1,
                            .progress_to = 1,
                            .meter = &meter };
    assert_ok(clo_i_ask_gaussian_sum(&context, 0, data, &all, sum, &count, &err), err);
    assert_ok(clo_i_ask_gaussian_sum(&context, 0, data, &all, sum, &count, &err), err);
    count = -1;
    assert_fails(clo_i_ask_gaussian_sum(&context, 0, data, &all, sum, &count, &err), CLO_INTERNAL,
                 err, "more often");
    assert_fails(clo_i_ask_gaussian_sum(&context, 1, data, &all, sum, &count, &err), CLO_INTERNAL,
                 err, "does not list");
    assert_fails(clo_i_ask_gaussian_sum(&context, 2, data, &all, sum, &count, &err), CLO_INTERNAL,
                 err, "does not list");
    assert_true(count == -1);
    assert_fails(clo_i_ask_gaussian_gram(&context, 0, data, &all, gram, &err), CLO_INTERNAL, err,
                 "does not list");
    assert_true(gram[0] == -1);
    assert_ok(clo_i_ask_gaussian_gram(&context, 1, data, &all, gram, &err), err);
    clo_workspace_free(space);
    clo_rng_free(rng);
    clo_bounded_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(
        a_query_is_asked_as_often_as_planned_and_no_more) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
