/* choose_flats.h - what tests of every query know of it (query_kinds.h). */
#include "query/choose_flats.h"

#ifdef QUERY_LAW /* the forms in which its noise is looked at */

static inline void prepare_choose_flats(noisy *n)
{
    clo_error err;
    prepare_choices(n);
    assert_ok(clo_i_plan_choose_flats(&n->domain, CANDIDATES, 1, 1, 1, "", &n->line, &err), err);
}

static inline void ask_choose_flats(noisy *n, double *residual)
{
    const double axis[2] = { 1, 0 };
    const size_t mark = clo_i_workspace_mark(n->a.context.workspace);
    clo_assign flats[CANDIDATES];
    clo_error err;
    assert_ok(
        clo_i_assign_subspaces(n->a.context.workspace, axis, 1, 2, 1, n->line.bits, flats, &err),
        err);
    for (size_t c = 1; c < CANDIDATES; c++) flats[c] = flats[0];
    for (size_t i = 0; i < n->numbers; i++) {
        size_t chosen;
        assert_ok(clo_i_ask_choose_flats(&n->a.context, n->number, n->data, flats, &chosen, &err),
                  err);
        residual[i] = laplace_of_choice(n, chosen, CANDIDATES);
    }
    clo_i_workspace_release(n->a.context.workspace, mark);
}

static const noisy_form forms_choose_flats[] = {
    { "choices", prepare_choose_flats, ask_choose_flats, LAPLACE | COARSE | SINGLY, 4, 0, 0, NULL },
    { 0 },
};

#endif

#ifdef QUERY_ORACLE /* what its lines must be, by the proof */

static inline void line_choose_flats(const held *l)
{
    priced_by_costs(l);
}

#endif

#ifdef QUERY_LINES /* lines of it, by the number of a variant */

static bool make_choose_flats(const clo_domain *domain, size_t variant, clo_line *out,
                              double *asked)
{
    clo_error err;
    if (variant >= 3) return false;
    *asked = epsilons[variant];
    return made(clo_i_plan_choose_flats(domain, 4, 6, *asked, TIMES, "", out, &err), &err);
}

#endif

#ifdef QUERY_REACH /* how far the worst rows of a unit move its answer */

static clo_status reach_line_choose_flats(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_choose_flats(domain, 2, 1, 1, 1, "", out, err);
}

static clo_status reach_ask_choose_flats(const question *q)
{
    static const double axes[2][D] = { { 1, 0, 0 }, { 0, 1, 0 } };
    clo_assign rules[2];
    size_t chosen;
    for (size_t i = 0; i < 2; i++)
        assert_ok(
            clo_i_assign_subspaces(q->context->workspace, axes[i], 1, D, 1, 15, &rules[i], q->err),
            *q->err);
    return clo_i_ask_choose_flats(q->context, 0, q->data, rules, &chosen, q->err);
}

static const reach reach_choose_flats = {
    .plan = reach_line_choose_flats,
    .ask = reach_ask_choose_flats,
    .held_by = "a choice shows no number: test_largest_change.c",
};

#endif

#ifdef QUERY_CHANGE /* a search among small data for the largest change */

/* Lines through the centre, and beside it. */
static bool change_line_choose_flats(const clo_domain *domain, size_t v, clo_line *out)
{
    clo_error err;
    return v < 2 && made(clo_i_plan_choose_flats(domain, CANDIDATES, 2, 1, 1, "", out, &err), &err);
}

static clo_status change_ask_choose_flats(const question *q)
{
    const size_t d = q->domain->cols;
    clo_assign rules[CANDIDATES];
    for (size_t c = 0; c < CANDIDATES; c++) {
        double basis[COLS] = { 0 }, point[COLS] = { 0 };
        basis[c % d] = 1;
        point[(c + 1) % d] = c == 2 ? -1 : 1; /* the last: at one end of the ball */
        assert_ok(q->variant ? clo_i_assign_flats(q->context->workspace, basis, point, 1, d, 1, 15,
                                                  &rules[c], q->err)
                             : clo_i_assign_subspaces(q->context->workspace, basis, 1, d, 1, 15,
                                                      &rules[c], q->err),
                  *q->err);
    }
    return clo_i_ask_choose_flats(q->context, 0, q->data, rules, &(size_t){ 0 }, q->err);
}

PROBE(choose_flats, 0.99, false);

#endif

#ifdef QUERY_SUMS /* asks of it, for what travels as bytes */

static inline void add_choose_flats(sum_asks *a)
{
    ADD(clo_i_plan_choose_flats(&a->domain, 2, 4, 1, 1, "", &line, &err), 0, a->flats, 2, NULL, 0);
}

#endif

#ifdef QUERY_UNIT /* which power of the radius its noise is told in; -1: it has no unit */

enum { unit_choose_flats = -1 };

#endif
