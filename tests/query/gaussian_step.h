/* gaussian_step.h - what tests of every query know of it (query_kinds.h). */
#include "query/gaussian_step.h"

#ifdef QUERY_LAW /* the forms in which its noise is looked at */

/* Records at their centres: no pull, and a stiffness of one each. */
static inline void prepare_gaussian_step(noisy *n)
{
    clo_error err;
    n->domain = ball(n->form->cols, 1, CLO_REPLACE);
    assert_ok(clo_i_plan_gaussian_step(&n->domain, n->form->clusters, 0x1p21 / WIDE, 1, "",
                                       &n->line, &err),
              err);
    const size_t d = n->domain.cols, width = d + 2;
    noisy_room(n, n->line.groups * width, n->form->asks, SUM_ROWS);
    noisy_clusters(n, 0);
    noisy_by_cluster(n, width, 2);
    for (size_t c = 0; c < n->line.groups; c++) n->class_of[c * width + width - 1] = 2;
    for (size_t i = 0; i < n->rows; i++) {
        n->truth[i % CLUSTERS * width + d] += (double)n->line.count_unit;
        n->truth[i % CLUSTERS * width + d + 1] += (double)n->line.count_unit;
    }
    for (size_t c = 0; c < 3; c++) n->scales[c] = (double)n->line.scale;
}

static inline void ask_gaussian_step(noisy *n, double *residual)
{
    clo_error err;
    double *const stiffness = n->sizes + n->numbers, unit = (double)n->line.count_unit;
    clo_steps steps = { n->sums, stiffness, n->sizes };
    const size_t d = n->domain.cols, width = d + 2;
    assert_ok(
        clo_i_ask_gaussian_step(&n->a.context, n->number, n->data, &n->rule, 0.25, &steps, &err),
        err);
    for (size_t i = 0; i < n->numbers; i++) {
        const size_t c = i / width, j = i % width;
        residual[i] = (j < d    ? ldexp(n->sums[c * d + j], n->line.bits)
                       : j == d ? stiffness[c] * unit
                                : n->sizes[c] * unit) -
                      n->truth[i];
    }
}

static const noisy_form forms_gaussian_step[] = {
    { "columns", prepare_gaussian_step, ask_gaussian_step, 0, 40, 3, 2775, NULL },
    { "clusters", prepare_gaussian_step, ask_gaussian_step, 0, 40, 683, 11, NULL },
    { "lens", prepare_gaussian_step, ask_gaussian_step, LENS, 24, 683, 11, NULL },
    { 0 },
};

#endif

#ifdef QUERY_ORACLE /* what its lines must be, by the proof */

/* (v, t, u) with |v| <= R and 0 <= t <= u.  In one cluster sizes cancel and t does not; in two,
 * nothing does. */
static inline void line_gaussian_step(const held *l)
{
    const u128 R = power_of_two(l->line->bits), u = l->line->count_unit;
    const u128 gone = R * R + 2 * u * u;
    HOLDS(l, 4 * u == R);
    moves(l, replaces(l) ? larger(4 * R * R + u * u, 2 * gone) : gone);
    priced_by_scale(l, CLO_EVENT_GAUSSIAN);
}

#endif

#ifdef QUERY_LINES /* lines of it, by the number of a variant */

static bool make_gaussian_step(const clo_domain *domain, size_t variant, clo_line *out,
                               double *asked)
{
    clo_error err;
    if (variant >= 3) return false;
    *asked = mus[variant];
    return made(clo_i_plan_gaussian_step(domain, 3, *asked, TIMES, "", out, &err), &err);
}

#endif

#ifdef QUERY_REACH /* how far the worst rows of a unit move its answer */

static clo_status reach_line_gaussian_step(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_gaussian_step(domain, 1, 1, 1, "", out, err);
}

/* Sixteen steps of the grid wide. */
static clo_status reach_ask_gaussian_step(const question *q)
{
    static const double origin[D];
    double pulls[D], stiffness, size;
    clo_steps steps = { pulls, &stiffness, &size };
    clo_assign rule;
    assert_ok(clo_i_assign_centers(q->context->workspace, origin, 1, D, 20, &rule, q->err),
              *q->err);
    return clo_i_ask_gaussian_step(q->context, 0, q->data, &rule, 0x1p-16, &steps, q->err);
}

static double of_step(const clo_line *s, const double *x)
{
    return sqrt(squares(x, D, 0x1p20) + squares(x + D, 2, (double)s->count_unit));
}

/* as far as the step is wide, and as far as can be */
static const reach reach_gaussian_step = {
    .plan = reach_line_gaussian_step,
    .ask = reach_ask_gaussian_step,
    .length = of_step,
    .least = 0.9999,
    .old = { 0x1p-16, 0, 0 },
    .other = { -1, 0, 0 },
};

#endif

#ifdef QUERY_CHANGE /* a search among small data for the largest change */

static bool change_line_gaussian_step(const clo_domain *domain, size_t v, clo_line *out)
{
    clo_error err;
    return v < 6 && made(clo_i_plan_gaussian_step(domain, 1 + v % 2, 1, 1, "", out, &err), &err);
}

/* It takes no width below sixteen steps. */
static clo_status change_ask_gaussian_step(const question *q)
{
    static const double width[] = { 0x1p-16, 0x1p-14, 0x1p-2 };
    double pulls[2 * COLS], stiffness[2], sizes[2];
    clo_steps steps = { pulls, stiffness, sizes };
    const clo_assign rule = two_centers(q, 1 + q->variant % 2);
    return clo_i_ask_gaussian_step(q->context, 0, q->data, &rule, width[q->variant / 2], &steps,
                                   q->err);
}

PROBE(gaussian_step, 0.999, false);

#endif

#ifdef QUERY_SUMS /* asks of it, for what travels as bytes */

static inline void add_gaussian_step(sum_asks *a)
{
    ADD(clo_i_plan_gaussian_step(&a->domain, 2, 1, 1, "", &line, &err), 0, &a->centers, 1,
        &a->width, 1);
}

#endif

#ifdef QUERY_UNIT /* which power of the radius its noise is told in; -1: it has no unit */

enum { unit_gaussian_step = 0 };

#endif
