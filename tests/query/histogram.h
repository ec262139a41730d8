/* histogram.h - what tests of every query know of it (query_kinds.h). */
#include "query/histogram.h"

#ifdef QUERY_LAW /* the forms in which its noise is looked at */

enum { HISTOGRAM_PARTS = 256, HISTOGRAM_BLOCKS = 64 };

/* Half of a part's blocks name one cell, half the other; user: how many have named one so far, a
 * part each. */
static inline clo_status either_cell(void *user, size_t part, const clo_block *block,
                                     int64_t *place, clo_error *err)
{
    _Atomic unsigned *const named = user;
    *place = named[part]++ % 2;
    return CLO_OK;
}

/* Both far above the threshold. */
static inline void prepare_histogram(noisy *n)
{
    clo_error err;
    n->domain = ball(1, 1, CLO_REPLACE);
    assert_ok(clo_i_plan_histogram(&n->domain, 1, HISTOGRAM_PARTS, HISTOGRAM_BLOCKS,
                                   (clo_loss){ 1, .05 }, "", &n->line, &err),
              err);
    noisy_room(n, HISTOGRAM_PARTS, n->form->asks, 1);
    n->scales[0] = 1;
}

/* P[two draws of the discrete Laplace law of this rate <= x]. */
static inline double larger_of_two(double rate, double x)
{
    const double both = 1 + exp(-rate);
    const double one = x < 0 ? exp(rate * x) / both : 1 - exp(-rate * (x + 1)) / both;
    return one * one;
}

static inline void ask_histogram(noisy *n, double *residual)
{
    const double rate = 0.5; /* epsilon 1 over 2 */
    _Atomic unsigned named[HISTOGRAM_PARTS] = { 0 };
    clo_cell cells[HISTOGRAM_PARTS];
    int64_t places[HISTOGRAM_PARTS];
    clo_error err;
    for (size_t p = 0; p < HISTOGRAM_PARTS; p++) cells[p] = (clo_cell){ .place = &places[p] };
    assert_ok(clo_i_ask_histogram(&n->a.context, n->number, n->data, either_cell, named, NULL, 0,
                                  cells, &err),
              err);
    for (size_t p = 0; p < HISTOGRAM_PARTS; p++) {
        const double x = (double)(cells[p].size - HISTOGRAM_BLOCKS / 2);
        assert_true(cells[p].found);
        residual[p] = laplace_within(n, larger_of_two(rate, x - 1), larger_of_two(rate, x));
    }
}

static const noisy_form forms_histogram[] = {
    { "sizes", prepare_histogram, ask_histogram, LAPLACE | COARSE, 96, 0, 0, NULL },
    { 0 },
};

#endif

#ifdef QUERY_ORACLE /* what its lines must be, by the proof */

/* The most that cells which vanish, `left` blocks in all with each cell at most `largest`, add to
 * the chance that one is told: by trying all ways to divide them. */
static inline long double vanishing(uint64_t left, uint64_t largest, long double a, long double tau)
{
    long double worst = 0;
    for (uint64_t size = 1; size <= largest && size <= left; size++)
        worst = fmaxl(worst, expl(-a * (tau - (long double)size)) / (1 + expl(-a)) +
                                 vanishing(left - size, size, a, tau));
    return worst;
}

/* A block that a row leaves or enters takes 1 from one cell and gives it to another, under both
 * relations. */
static inline void line_histogram(const held *l)
{
    const clo_line *const s = l->line;
    const long double a = (long double)s->rate_numerator / (long double)s->rate_denominator;
    const long double spared = fminl(s->event.delta, -expm1l(-a)),
                      tau = (long double)clo_i_histogram_fields(s).threshold;
    HOLDS(l, s->sensitivity == 2 * l->rows);
    HOLDS(l, clo_i_histogram_fields(s).blocks % clo_i_histogram_fields(s).parts == 0);
    HOLDS(l, clo_i_histogram_fields(s).threshold > l->rows);
    HOLDS(l, vanishing(l->rows, l->rows, a, tau) <= spared);
    HOLDS(l, vanishing(l->rows, l->rows, a, tau - 1) > spared * (1 - 1e-6L));
    priced_by_rate(l, CLO_EVENT_APPROXIMATE, 2 * (u128)l->rows);
}

#endif

#ifdef QUERY_LINES /* lines of it, by the number of a variant */

static bool make_histogram(const clo_domain *domain, size_t variant, clo_line *out, double *asked)
{
    clo_error err;
    if (variant >= 12 || domain->rows_per_unit > 7) return false; /* the oracle tries all ways */
    *asked = epsilons[variant / 4];
    const clo_loss loss = { *asked, variant % 2 ? 1e-6 : 0.01 };
    made(clo_i_plan_histogram(domain, 2, 1 + variant / 2 % 2, 9, loss, "", out, &err), &err);
    assert_int_equal(out->event.count, 1);
    out->event.count = TIMES;
    assert_true(out->event.delta == loss.delta);
    return true;
}

#endif

#ifdef QUERY_REACH /* how far the worst rows of a unit move its answer */

static clo_status name_size(void *user, size_t part, const clo_block *block, int64_t *place,
                            clo_error *err)
{
    (void)user;
    (void)part;
    (void)err;
    place[0] = block->count;
    return block->count ? CLO_OK : CLO_FORMAT; /* no rows, no cell */
}

static clo_status reach_line_histogram(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_histogram(domain, 1, 1, 40, (clo_loss){ 8, 0.01 }, "", out, err);
}

static clo_status reach_ask_histogram(const question *q)
{
    int64_t place;
    clo_cell cell = { .place = &place };
    return clo_i_ask_histogram(q->context, 0, q->data, name_size, NULL, NULL, 0, &cell, q->err);
}

static const reach reach_histogram = {
    .plan = reach_line_histogram,
    .ask = reach_ask_histogram,
    .held_by = "blocks: test_largest_change.c",
};

#endif

#ifdef QUERY_CHANGE /* a search among small data for the largest change */

static const probe probe_histogram = { .held_by = "blocks, below" };

#endif

#ifdef QUERY_SUMS /* asks of it, for what travels as bytes */

static inline void add_histogram(sum_asks *a)
{
    (void)a; /* it does not add up */
}

#endif

#ifdef QUERY_UNIT /* which power of the radius its noise is told in; -1: it has no unit */

enum { unit_histogram = 0 };

#endif
