/* cross_moment: the law of its noise and the worst neighbours (cross_moment.T1), as viewed_law.h
 * says. */
#include "ask/assign.h"
#include "query/cross_moment.h"
#include "viewed_law.h"

/* A line along the first axis, and one along the second. */
static const double bases[K * D] = { 1, 0, 0, 1 };
static const clo_cross_view views[K] = { { 0.25, 0.375 }, { 0.125, 0.25 } };
#define H 0.70710678 /* halfway between the lines: the first has it */

static clo_line planned(clo_relation relation, double mu)
{
    const clo_domain domain = ball(D, 1, relation);
    clo_error err;
    clo_line line;
    assert_ok(clo_i_plan_cross_moment(&domain, K, 1, mu, 1, "", &line, &err), err);
    return line;
}

static void ask(asking *a, const clo_bounded *data, viewed_answer *out)
{
    const size_t mark = clo_i_workspace_mark(a->context.workspace);
    clo_cross_moments moments = { out->sums, out->squares, out->sizes };
    clo_error err;
    clo_assign rule;
    assert_ok(
        clo_i_assign_subspaces(a->context.workspace, bases, K, D, 1, a->line.bits, &rule, &err),
        err);
    assert_ok(clo_i_ask_cross_moment(&a->context, 0, data, &rule, views, &moments, &err), err);
    clo_i_workspace_release(a->context.workspace, mark);
}

static double square_unit(const clo_line *line)
{
    return (double)clo_i_cross_moment_fields(line).square_unit;
}

/* Of the record that is near, the moment is cut to the width, and its square is 4/9 of the reach's.
 */
static const viewed_query tested = { .planned = planned,
                                     .ask = ask,
                                     .square_unit = square_unit,
                                     .far = { H, H },
                                     .near = { 0.96824584, -0.25819889 },
                                     .entry = 1,
                                     .reached = { 1, 4.0 / 9 },
                                     .cut = { H, H },
                                     .law = STAT_cross_moment_law,
                                     .privacy = STAT_cross_moment_privacy,
                                     .replace = STAT_cross_moment_replace };

int main(void)
{
    return cmocka_run_group_tests(viewed_tests, NULL, NULL);
}
