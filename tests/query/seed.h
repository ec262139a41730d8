/* seed.h - what tests of every query know of it (query_kinds.h). */
#include "query/seed.h"

#ifdef QUERY_LAW /* the forms in which its noise is looked at */

static inline void prepare_seed(noisy *n)
{
    clo_error err;
    prepare_choices(n);
    assert_ok(clo_i_plan_seed(&n->domain, CANDIDATES, 1, 1, 1, "", &n->line, &err), err);
}

static inline void ask_seed(noisy *n, double *residual)
{
    static const double middles[2 * CANDIDATES];
    static const bool taken[CANDIDATES];
    const size_t mark = clo_i_workspace_mark(n->a.context.workspace);
    clo_assign cells;
    clo_error err;
    assert_ok(clo_i_assign_centers(n->a.context.workspace, middles, CANDIDATES, 2, n->line.bits,
                                   &cells, &err),
              err);
    for (size_t i = 0; i < n->numbers; i++) {
        size_t chosen;
        assert_ok(
            clo_i_ask_seed(&n->a.context, n->number, n->data, &cells, NULL, taken, &chosen, &err),
            err);
        residual[i] = laplace_of_choice(n, chosen, CANDIDATES);
    }
    clo_i_workspace_release(n->a.context.workspace, mark);
}

static const noisy_form forms_seed[] = {
    { "choices", prepare_seed, ask_seed, LAPLACE | COARSE | SINGLY, 4, 0, 0, NULL },
    { 0 },
};

#endif

#ifdef QUERY_ORACLE /* what its lines must be, by the proof */

/* Two open cells without another record: a unit at full weight makes one 1 + U/F as likely. */
static inline void line_seed(const held *l)
{
    const clo_line *const s = l->line;
    const long double U = (long double)(l->rows * s->count_unit),
                      F = (long double)clo_i_seed_fields(s).floor;
    HOLDS(l, s->event.kind == (replaces(l) ? CLO_EVENT_PURE : CLO_EVENT_EXPONENTIAL));
    HOLDS(l, s->count_unit == 1 << 20);
    HOLDS(l, s->sensitivity == l->rows * s->count_unit);
    HOLDS(l, clo_i_seed_fields(s).floor >= 1);
    HOLDS(l, (long double)s->event.parameter >= log1pl(U / F));
    HOLDS(l, (long double)s->event.parameter <= log1pl(U / F) * (1 + 0x1p-46L));
    if (isnan(l->asked)) return;
    HOLDS(l, s->event.parameter <= l->asked);
    HOLDS(l, clo_i_seed_fields(s).floor == 1 || log1pl(U / (F - 1)) * (1 + 0x1p-46L) > l->asked);
}

#endif

#ifdef QUERY_LINES /* lines of it, by the number of a variant */

static bool make_seed(const clo_domain *domain, size_t variant, clo_line *out, double *asked)
{
    clo_error err;
    if (variant >= 3) return false;
    *asked = epsilons[variant];
    return made(clo_i_plan_seed(domain, 9, 2, *asked, TIMES, "", out, &err), &err);
}

#endif

#ifdef QUERY_REACH /* how far the worst rows of a unit move its answer */

static clo_status reach_line_seed(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_seed(domain, 2, 1, 1, 1, "", out, err);
}

static clo_status reach_ask_seed(const question *q)
{
    const clo_assign cells = two_sides(q, 20);
    const bool taken[2] = { false, false };
    size_t chosen;
    return clo_i_ask_seed(q->context, 0, q->data, &cells, NULL, taken, &chosen, q->err);
}

static void other_noise_of_seed(clo_line *line)
{
    change_fields(seed, line, floor *= 3);
}

static const reach reach_seed = {
    .plan = reach_line_seed,
    .ask = reach_ask_seed,
    .held_by = "a choice shows no number: test_largest_change.c",
    .other_noise = other_noise_of_seed,
};

#endif

#ifdef QUERY_CHANGE /* a search among small data for the largest change */

/* Before any seed, with one, and with two; cheap and dear. */
static bool change_line_seed(const clo_domain *domain, size_t v, clo_line *out)
{
    clo_error err;
    return v < 6 && made(clo_i_plan_seed(domain, 3, 2, v % 2 ? 4 : 0.1, 1, "", out, &err), &err);
}

static clo_status change_ask_seed(const question *q)
{
    const size_t seeds = q->variant / 2, d = q->domain->cols;
    const bool taken[3] = { false, seeds > 1, false };
    double points[3 * COLS] = { 0 };
    clo_assign cells, near;
    points[0] = 0.75;
    points[2 * d] = -0.75;
    assert_ok(clo_i_assign_centers(q->context->workspace, points, 3, d, 20, &cells, q->err),
              *q->err);
    assert_ok(clo_i_assign_centers(q->context->workspace, points, seeds ? seeds : 1, d, 20, &near,
                                   q->err),
              *q->err);
    return clo_i_ask_seed(q->context, 0, q->data, &cells, seeds ? &near : NULL, taken,
                          &(size_t){ 0 }, q->err);
}

PROBE(seed, 0.9, false);

#endif

#ifdef QUERY_SUMS /* asks of it, for what travels as bytes */

static inline void add_seed(sum_asks *a)
{
    ADD(clo_i_plan_seed(&a->domain, 2, 2, 1, 1, "", &line, &err), 0, a->pair, 2, NULL, 0);
}

#endif

#ifdef QUERY_UNIT /* which power of the radius its noise is told in; -1: it has no unit */

enum { unit_seed = -1 };

#endif
