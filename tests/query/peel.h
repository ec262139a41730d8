/* peel.h - what tests of every query know of it (query_kinds.h). */
#include "query/peel.h"

#ifdef QUERY_LAW /* the forms in which its noise is looked at */

/* Every column is told in the end; the records are as for sums. */
static inline void prepare_peel(noisy *n)
{
    clo_error err;
    n->domain = ball(n->form->cols, 1, CLO_REPLACE);
    assert_ok(clo_i_plan_peel(&n->domain, n->form->cols, n->form->clusters, 0, n->form->cols,
                              0x1p-18, "", &n->line, &err),
              err);
    prepare_sums(n);
    /* line.scale is the whole number above the scale of a value's noise. */
    n->scales[0] = n->scales[1] = (double)n->line.rate_denominator /
                                  (double)n->line.rate_numerator /
                                  (double)clo_i_peel_fields(&n->line).weight;
}

static inline void ask_peel(noisy *n, double *residual)
{
    const size_t d = n->domain.cols, width = d + 1;
    size_t *const columns = calloc(n->numbers, sizeof *columns);
    clo_error err;
    assert_ok(clo_i_ask_peel(&n->a.context, n->number, n->data, &n->rule, columns, n->sums,
                             n->sizes, &err),
              err);
    for (size_t i = 0; i < n->numbers; i++) {
        const size_t c = i / width, t = i % width;
        const double told = t < d ? ldexp(n->sums[c * d + t], n->line.bits)
                                  : n->sizes[c] * (double)n->line.count_unit;
        residual[i] = told - n->truth[c * width + (t < d ? columns[c * d + t] : d)];
    }
    free(columns);
}

/* No records, and one column of each cluster is told: any. */
static inline void prepare_peel_choice(noisy *n)
{
    clo_error err;
    n->domain = ball(CANDIDATES, 1, CLO_ADD_REMOVE);
    assert_ok(clo_i_plan_peel(&n->domain, CANDIDATES, CLUSTERS, 0, 1, 1, "", &n->line, &err), err);
    noisy_room(n, CHOICES / CLUSTERS * CLUSTERS, n->form->asks, 0);
    n->centers = calloc(CLUSTERS * CANDIDATES, sizeof *n->centers);
    for (size_t i = 0; i < n->numbers; i++) n->cluster_of[i] = (uint16_t)(i % CLUSTERS);
    n->scales[0] = 1;
}

static inline void ask_peel_choice(noisy *n, double *residual)
{
    clo_error err;
    for (size_t i = 0; i < n->numbers; i += CLUSTERS) {
        size_t columns[CLUSTERS];
        assert_ok(clo_i_ask_peel(&n->a.context, n->number, n->data, &n->rule, columns, n->sums,
                                 n->sizes, &err),
                  err);
        for (size_t c = 0; c < CLUSTERS; c++)
            residual[i + c] = laplace_of_choice(n, columns[c], CANDIDATES);
    }
}

static const noisy_form forms_peel[] = {
    { "values", prepare_peel, ask_peel, LAPLACE, 16, 3, 2776, NULL },
    { "clusters", prepare_peel, ask_peel, LAPLACE, 40, 683, 11, NULL },
    { "choices", prepare_peel_choice, ask_peel_choice, LAPLACE | COARSE | SINGLY, 4, 3, 0, NULL },
    { 0 },
};

#endif

#ifdef QUERY_ORACLE /* what its lines must be, by the proof */

/* (1 + w) |x|_1 + T |x|_inf + w u is largest where one entry is as large, beside s - 1 equal ones,
 * as Cauchy and Schwarz say; and M rows come or go, or both. */
static inline void line_peel(const held *l)
{
    const clo_line *const s = l->line;
    const u128 R = power_of_two(s->bits), T = clo_i_peel_fields(s).rounds,
               w = clo_i_peel_fields(s).weight;
    const u128 first = T + 1 + w, others = (u128)(entries_of(l) - 1) * (1 + w) * (1 + w);
    const u128 one = least_root((first * first + others) * R * R) + w * s->count_unit;
    HOLDS(l, clo_i_peel_fields(s).rounds >= 1 && clo_i_peel_fields(s).rounds <= l->cols);
    HOLDS(l, w >= 1);
    HOLDS(l, s->count_unit == R);
    HOLDS(l, s->sensitivity == (replaces(l) ? 2 : 1) * l->rows * one);
    priced_by_rate(l, CLO_EVENT_PURE, s->sensitivity);
    /* What is told of the noise of a value: its rate is w times that of a choice. */
    const long double scale = (long double)s->rate_denominator / (long double)s->rate_numerator;
    HOLDS(l, fabsl((long double)s->scale - scale / (long double)w) <= 1 + 1e-12L * scale);
}

#endif

#ifdef QUERY_LINES /* lines of it, by the number of a variant */

static bool make_peel(const clo_domain *domain, size_t variant, clo_line *out, double *asked)
{
    const size_t entries[] = { 0, 1, 3 }, rounds[] = { 1, 2, 9 };
    clo_error err;
    if (variant >= 27 || domain->rows_per_unit > 7) return false; /* so many rows are refused */
    *asked = epsilons[variant / 9];
    made(clo_i_plan_peel(domain, 2, 3, entries[variant / 3 % 3], rounds[variant % 3], *asked, "",
                         out, &err),
         &err);
    assert_int_equal(out->event.count, 1);
    out->event.count = TIMES; /* it is asked once; as the others are checked */
    return true;
}

#endif

#ifdef QUERY_REACH /* how far the worst rows of a unit move its answer */

/* So large a budget that the order of the columns is that of their sums. */
static clo_status reach_line_peel(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_peel(domain, D, 2, 0, ROUNDS, 1e4, "", out, err);
}

static clo_status reach_ask_peel(const question *q)
{
    const clo_assign rule = two_sides(q, 20);
    size_t columns[2 * ROUNDS];
    double values[2 * ROUNDS], counts[2];
    return clo_i_ask_peel(q->context, 0, q->data, &rule, columns, values, counts, q->err);
}

/* peel.T1: (1 + w) |x|_1 + T |x|_inf + w u, of each cluster.  All choices are told first. */
static double of_peel(const clo_line *s, const double *x)
{
    const clo_peel_fields how = clo_i_peel_fields(s);
    const double w = (double)how.weight, T = (double)how.rounds;
    double total = 0;
    x += 2 * ROUNDS;
    for (size_t c = 0; c < 2; c++) {
        double largest = 0;
        for (size_t t = 0; t < ROUNDS; t++) largest = fmax(largest, fabs(x[c * ROUNDS + t]));
        total += (1 + w) * lengths(x + c * ROUNDS, ROUNDS, 0x1p20) + T * largest * 0x1p20 +
                 w * lengths(x + 2 * ROUNDS + c, 1, (double)s->count_unit);
    }
    return total;
}

/* (T + 1 + w, 1 + w, 1 + w) with T = 3 and w = 1, of length 1 */
static const reach reach_peel = {
    .plan = reach_line_peel,
    .ask = reach_ask_peel,
    .length = of_peel,
    .least = 0.9999,
    .old = { 0.87038828, 0.34815531, 0.34815531 },
    .other = { -0.87038828, -0.34815531, -0.34815531 },
};

#endif

#ifdef QUERY_CHANGE /* a search among small data for the largest change */

static bool change_line_peel(const clo_domain *domain, size_t v, clo_line *out)
{
    clo_error err;
    const size_t rounds = v % 2 ? domain->cols : 1;
    return v < 4 &&
           made(clo_i_plan_peel(domain, domain->cols, 2, v / 2, rounds, 1, "", out, &err), &err);
}

static clo_status change_ask_peel(const question *q)
{
    size_t columns[2 * COLS];
    double values[2 * COLS], counts[2];
    const clo_assign rule = two_centers(q, 2);
    return clo_i_ask_peel(q->context, 0, q->data, &rule, columns, values, counts, q->err);
}

PROBE(peel, 0.5, false);

#endif

#ifdef QUERY_SUMS /* asks of it, for what travels as bytes */

static inline void add_peel(sum_asks *a)
{
    ADD(clo_i_plan_peel(&a->domain, ASK_COLS, 2, 3, 2, 1, "", &line, &err), 0, &a->centers, 1, NULL,
        0);
}

#endif

#ifdef QUERY_UNIT /* which power of the radius its noise is told in; -1: it has no unit */

enum { unit_peel = 1 };

#endif
