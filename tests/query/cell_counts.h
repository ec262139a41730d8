/* cell_counts.h - what tests of every query know of it (query_kinds.h). */
#include "query/cell_counts.h"

#ifdef QUERY_LAW /* the forms in which its noise is looked at */

/* A record in the middle of the middle cell, one in the next; all others are empty. */
static inline void prepare_cells(noisy *n, clo_event_kind kind, double parameter, double scale)
{
    const size_t side = n->form->clusters, middle = side / 2 * side + side / 2;
    clo_error err;
    n->domain = ball(2, 1, CLO_REPLACE);
    assert_ok(clo_i_plan_cell_counts(&n->domain, side, kind, parameter, 1, "", &n->line, &err),
              err);
    noisy_room(n, side * side, n->form->asks, 2);
    for (size_t r = 0; r < n->rows; r++) {
        clo_i_cell_center(&n->line, middle + r, n->records + 2 * r);
        n->truth[middle + r] = (double)n->line.count_unit;
    }
    n->scales[0] = scale > 0 ? scale : (double)n->line.scale;
}

static inline void prepare_gaussian_cells(noisy *n)
{
    prepare_cells(n, CLO_EVENT_GAUSSIAN, 0x1p20 / WIDE, 0);
}

/* As wide as can be: 2^30 parts of an epsilon, over a sensitivity of 2. */
static inline void prepare_laplace_cells(noisy *n)
{
    prepare_cells(n, CLO_EVENT_PURE, 0x1p-30, 0x1p31);
}

static inline void ask_cells(noisy *n, double *residual)
{
    clo_error err;
    assert_ok(clo_i_ask_cell_counts(&n->a.context, n->number, n->data, n->sums, &err), err);
    for (size_t i = 0; i < n->numbers; i++)
        residual[i] = n->sums[i] * (double)n->line.count_unit - n->truth[i];
}

static const noisy_form forms_cell_counts[] = {
    { "normal", prepare_gaussian_cells, ask_cells, 0, 40, 91, 2, NULL },
    { "Laplace", prepare_laplace_cells, ask_cells, LAPLACE, 40, 91, 2, NULL },
    { 0 },
};

#endif

#ifdef QUERY_ORACLE /* what its lines must be, by the proof */

/* M rows leave one cell, and under replace M come to another. */
static inline void line_cell_counts(const held *l)
{
    const clo_line *const s = l->line;
    size_t cells = 1;
    for (size_t j = 0; j < s->cols; j++) cells *= clo_i_cell_counts_fields(s).side;
    HOLDS(l, s->groups == cells);
    if (s->event.kind == CLO_EVENT_PURE) {
        HOLDS(l, s->count_unit == 1);
        HOLDS(l, s->sensitivity == (replaces(l) ? 2 : 1) * l->rows);
        priced_by_rate(l, CLO_EVENT_PURE, s->sensitivity);
    } else {
        const u128 u = s->count_unit;
        HOLDS(l, u == 1 << 20);
        moves(l, (replaces(l) ? 2 : 1) * u * u);
        priced_by_scale(l, CLO_EVENT_GAUSSIAN);
    }
}

#endif

#ifdef QUERY_LINES /* lines of it, by the number of a variant */

static bool make_cell_counts(const clo_domain *domain, size_t variant, clo_line *out, double *asked)
{
    clo_error err;
    if (variant >= 6) return false;
    const bool pure = variant % 2;
    *asked = (pure ? epsilons : mus)[variant / 2];
    return made(clo_i_plan_cell_counts(domain, 3, pure ? CLO_EVENT_PURE : CLO_EVENT_GAUSSIAN,
                                       *asked, TIMES, "", out, &err),
                &err);
}

#endif

#ifdef QUERY_REACH /* how far the worst rows of a unit move its answer */

static clo_status reach_line_cell_counts(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_cell_counts(domain, 2, CLO_EVENT_GAUSSIAN, 1, 1, "", out, err);
}

static clo_status reach_ask_cell_counts(const question *q)
{
    double counts[1 << D];
    return clo_i_ask_cell_counts(q->context, 0, q->data, counts, q->err);
}

static double of_cells(const clo_line *s, const double *x)
{
    return sqrt(squares(x, 1 << D, (double)s->count_unit));
}

static const reach reach_cell_counts = {
    .plan = reach_line_cell_counts,
    .ask = reach_ask_cell_counts,
    .length = of_cells,
    .least = 0.999999,
    .old = { 0.5, 0.5, 0.5 },
    .other = { -0.5, 0.5, 0.5 },
};

#endif

#ifdef QUERY_CHANGE /* a search among small data for the largest change */

static bool change_line_cell_counts(const clo_domain *domain, size_t v, clo_line *out)
{
    clo_error err;
    return v < 4 && made(clo_i_plan_cell_counts(domain, 2 + v / 2,
                                                v % 2 ? CLO_EVENT_PURE : CLO_EVENT_GAUSSIAN, 1, 1,
                                                "", out, &err),
                         &err);
}

static clo_status change_ask_cell_counts(const question *q)
{
    double counts[27];
    return clo_i_ask_cell_counts(q->context, 0, q->data, counts, q->err);
}

PROBE(cell_counts, 0.999, false);

#endif

#ifdef QUERY_SUMS /* asks of it, for what travels as bytes */

static inline void add_cell_counts(sum_asks *a)
{
    ADD(clo_i_plan_cell_counts(&a->domain, 3, CLO_EVENT_PURE, 1, 1, "", &line, &err), 0, NULL, 0,
        NULL, 0);
}

#endif

#ifdef QUERY_UNIT /* which power of the radius its noise is told in; -1: it has no unit */

enum { unit_cell_counts = 0 };

#endif
