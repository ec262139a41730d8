/* local_sum: the law of its noise and the worst neighbours (local_sum.T1), as viewed_law.h says. */
#include "ask/assign.h"
#include "query/local_sum.h"
#include "viewed_law.h"

static const double centers[K * D] = { 0, 0, 0, 1 };
static const clo_local_view views[K] = { { 0.25, 0.5 }, { 0.125, 0.25 } };

static clo_line planned(clo_relation relation, double mu)
{
    const clo_domain domain = ball(D, 1, relation);
    clo_error err;
    clo_line line;
    assert_ok(clo_i_plan_local_sum(&domain, K, CLO_EVENT_GAUSSIAN, mu, 1, "", &line, &err), err);
    return line;
}

static void ask(asking *a, const clo_bounded *data, viewed_answer *out)
{
    const size_t mark = clo_i_workspace_mark(a->context.workspace);
    clo_local_sums sums = { out->sums, out->squares, out->sizes };
    clo_error err;
    clo_assign rule;
    assert_ok(clo_i_assign_centers(a->context.workspace, centers, K, D, a->line.bits, &rule, &err),
              err);
    assert_ok(clo_i_ask_local_sum(&a->context, 0, data, &rule, views, &sums, &err), err);
    clo_i_workspace_release(a->context.workspace, mark);
}

static double square_unit(const clo_line *line)
{
    return (double)clo_i_local_sum_fields(line).square_unit;
}

static const viewed_query tested = { .planned = planned,
                                     .ask = ask,
                                     .square_unit = square_unit,
                                     .far = { 1, 0 },
                                     .near = { -0.25, 0 }, /* half of the reach */
                                     .entry = 0,
                                     .reached = { 1, 0.25 },
                                     .cut = { 0.5, 0 },
                                     .law = STAT_local_sum_law,
                                     .privacy = STAT_local_sum_privacy,
                                     .replace = STAT_local_sum_replace };

int main(void)
{
    return cmocka_run_group_tests(viewed_tests, NULL, NULL);
}
