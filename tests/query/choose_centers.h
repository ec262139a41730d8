/* choose_centers.h - what tests of every query know of it (query_kinds.h). */
#include "query/choose_centers.h"

#ifdef QUERY_LAW /* the forms in which its noise is looked at */

static inline void prepare_choose_centers(noisy *n)
{
    const clo_center_choice how = { CANDIDATES, 1, CANDIDATES, CLO_LOSS_SQUARED, 2 };
    clo_error err;
    prepare_choices(n);
    assert_ok(clo_i_plan_choose_centers(&n->domain, &how, 1, 1, "", &n->line, &err), err);
}

static inline void ask_choose_centers(noisy *n, double *residual)
{
    static const double points[2 * CANDIDATES];
    const clo_candidates candidates = { points, CANDIDATES };
    size_t sets[CANDIDATES];
    clo_error err;
    for (size_t c = 0; c < CANDIDATES; c++) sets[c] = c;
    for (size_t i = 0; i < n->numbers; i++) {
        size_t chosen;
        assert_ok(
            clo_i_ask_best_set(&n->a.context, n->number, n->data, &candidates, sets, &chosen, &err),
            err);
        residual[i] = laplace_of_choice(n, chosen, CANDIDATES);
    }
}

static const noisy_form forms_choose_centers[] = {
    { "choices", prepare_choose_centers, ask_choose_centers, LAPLACE | COARSE | SINGLY, 4, 0, 0,
      NULL },
    { 0 },
};

#endif

#ifdef QUERY_ORACLE /* what its lines must be, by the proof */

static inline void line_choose_centers(const held *l)
{
    priced_by_costs(l);
}

#endif

#ifdef QUERY_LINES /* lines of it, by the number of a variant */

static bool make_choose_centers(const clo_domain *domain, size_t variant, clo_line *out,
                                double *asked)
{
    const clo_center_choice how = { .candidates = 9,
                                    .clusters = 2,
                                    .sets = variant % 2 ? 3 : 0,
                                    .loss = variant / 2 % 2 ? CLO_LOSS_SQUARED : CLO_LOSS_DISTANCE,
                                    .reach = variant / 4 % 2 ? 2 : 0.1 };
    clo_error err;
    if (variant >= 24) return false;
    *asked = epsilons[variant / 8];
    return made(clo_i_plan_choose_centers(domain, &how, *asked, TIMES, "", out, &err), &err);
}

#endif

#ifdef QUERY_REACH /* how far the worst rows of a unit move its answer */

static clo_status reach_line_choose_centers(const clo_domain *domain, clo_line *out, clo_error *err)
{
    const clo_center_choice how = {
        .candidates = 2, .clusters = 1, .loss = CLO_LOSS_SQUARED, .reach = 2
    };
    return clo_i_plan_choose_centers(domain, &how, 1, 1, "", out, err);
}

static clo_status reach_ask_choose_centers(const question *q)
{
    static const double points[2 * D] = { 1, 0, 0, -1, 0, 0 };
    const clo_candidates candidates = { points, 2 };
    size_t set = 0;
    return clo_i_ask_swaps(q->context, 0, q->data, &candidates, 1, 1, &set, q->err);
}

static const reach reach_choose_centers = {
    .plan = reach_line_choose_centers,
    .ask = reach_ask_choose_centers,
    .held_by = "a choice shows no number: test_largest_change.c",
};

#endif

#ifdef QUERY_CHANGE /* a search among small data for the largest change */

static bool change_line_choose_centers(const clo_domain *domain, size_t v, clo_line *out)
{
    const clo_center_choice how = { .candidates = CANDIDATES,
                                    .clusters = 1 + v / 4 % 2,
                                    .sets = v % 2 ? 2 : 0,
                                    .loss = v / 2 % 2 ? CLO_LOSS_SQUARED : CLO_LOSS_DISTANCE,
                                    .reach = v / 8 ? 2 : 0.125 };
    clo_error err;
    return v < 16 && made(clo_i_plan_choose_centers(domain, &how, 1, 1, "", out, &err), &err);
}

/* On opposite ends, and a few steps beside one of them. */
static clo_status change_ask_choose_centers(const question *q)
{
    const size_t d = q->domain->cols, k = 1 + q->variant / 4 % 2;
    double points[CANDIDATES * COLS] = { 0 };
    const clo_candidates candidates = { points, CANDIDATES };
    size_t sets[4] = { 0, k == 2 ? 1 : 2, 1, 2 }, chosen;
    points[0] = 1;
    points[d] = -1;
    points[2 * d] = 1 - 3 * STEP;
    return q->variant % 2
               ? clo_i_ask_best_set(q->context, 0, q->data, &candidates, sets, &chosen, q->err)
               : clo_i_ask_swaps(q->context, 0, q->data, &candidates, 1, 1, sets, q->err);
}

PROBE(choose_centers, 0.99, false);

#endif

#ifdef QUERY_SUMS /* asks of it, for what travels as bytes */

static inline void add_choose_centers(sum_asks *a)
{
    const clo_center_choice swap = { 2, 2, 0, CLO_LOSS_SQUARED, 2 };
    const clo_center_choice sets = { 2, 2, 2, CLO_LOSS_DISTANCE, 2 };
    ADD(clo_i_plan_choose_centers(&a->domain, &swap, 1, 1, "", &line, &err), 0, &a->centers, 1,
        NULL, 0);
    ADD(clo_i_plan_choose_centers(&a->domain, &sets, 1, 1, "", &line, &err), 0, &a->centers, 1,
        a->sets, 4);
}

#endif

#ifdef QUERY_UNIT /* which power of the radius its noise is told in; -1: it has no unit */

enum { unit_choose_centers = -1 };

#endif
