/* gaussian_moment.h - what tests of every query know of it (query_kinds.h). */
#include "query/gaussian_moment.h"

#ifdef QUERY_LAW /* the forms in which its noise is looked at */

/* One record (1/2, -1/2, 0 ...): the moments on its corner are 1/16 each, up to a sign. */
static inline void prepare_moment(noisy *n, double share)
{
    static const unsigned multiplicities[] = { 1, 4, 6, 12, 24 };
    const size_t d = n->form->cols;
    const double mu = 0x1p32 / WIDE;
    clo_error err;
    n->domain = ball(d, 1, CLO_REPLACE);
    assert_ok(share > 0 ? clo_i_plan_even_moment(&n->domain, share, mu, 1, "", &n->line, &err)
                        : clo_i_plan_gaussian_moment(&n->domain, mu, 1, "", &n->line, &err),
              err);
    noisy_room(n, clo_i_moment_size(d), n->form->asks, 1);
    if (share == 0) n->records[0] = 0.5, n->records[1] = -0.5;
    size_t at = 0;
    for (size_t i = 0; i < d; i++)
        for (size_t j = i; j < d; j++)
            for (size_t k = j; k < d; k++)
                for (size_t l = k; l < d; l++, at++) {
                    const double sign = (i + j + k + l) % 2 ? -1 : 1;
                    n->truth[at] = share == 0 && l < 2 ? 3 * ldexp(sign / 16, 30) : 0;
                    classes_of_moments(n, multiplicities, 5, clo_i_moment_multiplicity(i, j, k, l),
                                       at);
                }
}

static inline void prepare_plain_moment(noisy *n)
{
    prepare_moment(n, 0);
}

static inline void prepare_even_moment(noisy *n)
{
    prepare_moment(n, 0.4);
}

static inline void keep_told(void *user, const char *query, const double *values, size_t count)
{
    noisy *const n = user;
    assert_int_equal(count, n->numbers);
    memcpy(n->sums, values, count * sizeof *values);
}

/* What is told are the moments before their traces are put back. */
static inline void ask_moment(noisy *n, double *residual)
{
    clo_error err;
    n->a.context.answer = keep_told;
    n->a.context.user = n;
    assert_ok(clo_i_ask_gaussian_moment(&n->a.context, n->number, n->data, n->sizes, &err), err);
    if (clo_i_gaussian_moment_fields(&n->line).even == 0)
        assert_same_doubles(n->sizes, n->sums, n->numbers);
    for (size_t i = 0; i < n->numbers; i++)
        residual[i] = nearbyint(3 * ldexp(n->sums[i], 30)) - n->truth[i];
}

static const noisy_form forms_gaussian_moment[] = {
    { "tensor", prepare_plain_moment, ask_moment, 0, 32, 1, 24, NULL },
    { "less traces", prepare_even_moment, ask_moment, 0, 32, 1, 24, NULL },
    { "lens", prepare_plain_moment, ask_moment, LENS, 16, 1, 22, NULL },
    { 0 },
};

#endif

#ifdef QUERY_ORACLE /* what its lines must be, by the proof */

enum { ORACLE_COLS = 8 };

/* tr(vu)^2 + 2 tr(vuvu), thirds, for v = xx' - t I and u = yy' - t I with x and y of length 1 at
 * this angle: the product of the two symmetrised squares, by multiplying the matrices out. */
static inline long double even_product(size_t d, long double t, long double angle)
{
    const long double x[2] = { 1, 0 }, y[2] = { cosl(angle), sinl(angle) };
    long double vu[ORACLE_COLS][ORACLE_COLS] = { { 0 } }, trace = 0, square = 0;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++)
            for (size_t k = 0; k < d; k++) {
                const long double xi = i < 2 ? x[i] : 0, xk = k < 2 ? x[k] : 0;
                const long double yk = k < 2 ? y[k] : 0, yj = j < 2 ? y[j] : 0;
                vu[i][j] += (xi * xk - (i == k ? t : 0)) * (yk * yj - (k == j ? t : 0));
            }
    for (size_t i = 0; i < d; i++) {
        trace += vu[i][i];
        for (size_t k = 0; k < d; k++) square += vu[i][k] * vu[k][i];
    }
    return (trace * trace + 2 * square) / 3;
}

/* The square of how far two records at this angle are apart, the lengths tried. */
static inline long double even_apart(size_t d, long double t, long double own, long double angle)
{
    enum { LENGTHS = 3 };
    const long double both = even_product(d, t, angle);
    long double most = own;
    for (int i = 0; i < LENGTHS * LENGTHS; i++) {
        const long double p = (long double)(i / LENGTHS) / (LENGTHS - 1);
        const long double q = (long double)(i % LENGTHS) / (LENGTHS - 1);
        most = fmaxl(most, (p * p + q * q) * own - 2 * p * q * both);
    }
    return most;
}

/* How far a record of length 1 at most moves the tensor: angles are tried, and then those about the
 * best. */
static inline long double even_reach(size_t d, long double t, bool replace)
{
    enum { ANGLES = 60 };
    const long double own = even_product(d, t, 0);
    long double most = own, from = 0, step = acosl(0) / ANGLES;
    for (int pass = 0; replace && pass < 3; pass++) {
        long double best = from;
        for (int a = 0; a <= ANGLES; a++) {
            const long double apart = even_apart(d, t, own, from + step * a);
            if (apart > most) best = from + step * a;
            most = fmaxl(most, apart);
        }
        from = best - step;
        step *= 2.0L / ANGLES;
    }
    return sqrtl(most);
}

static inline void line_gaussian_moment(const held *l)
{
    const size_t d = l->line->cols;
    const long double square = lifted_square(l), factor = replaces(l) ? 2 : 1;
    const long double off = 2 * sqrtl(square) * (long double)d + (long double)(d * d);
    const long double plain = sqrtl(factor),
                      t = 3 * clo_i_gaussian_moment_fields(l->line).even / ((long double)d + 4);
    const bool even = clo_i_gaussian_moment_fields(l->line).even > 0;
    if (!even)
        HOLDS(l,
              (u128)l->line->sensitivity * l->line->sensitivity >=
                  (u128)l->rows * l->rows * (replaces(l) ? 18 : 9) * (u128)square * (u128)square);
    if (even && d == 1) { /* no two records are at an angle, of which the plan makes no use */
        HOLDS(l, (long double)l->line->sensitivity >=
                     3 * (square * even_reach(1, t, false) + factor * off) * (long double)l->rows);
        HOLDS(l, (long double)l->line->sensitivity <=
                     3 * (plain * square + 2 * off) * (long double)l->rows);
    } else if (d <= ORACLE_COLS) {
        /* Each entry of a lifted record may be off by one, which the reach must have room for;
         * where nothing is taken off, entries are only cut. */
        const long double reach = even ? even_reach(d, t, replaces(l)) : plain;
        moves_between(l, 3 * (square * reach + (even ? factor * off : 0)),
                      3 * factor * off * (even ? 0.01L : 1));
    }
    priced_by_scale(l, CLO_EVENT_GAUSSIAN);
}

#endif

#ifdef QUERY_LINES /* lines of it, by the number of a variant */

static bool make_gaussian_moment(const clo_domain *domain, size_t variant, clo_line *out,
                                 double *asked)
{
    const double shares[] = { 0, 0.3, 0.5, 0.6 };
    clo_error err;
    if (variant >= 12) return false;
    *asked = mus[variant / 4];
    return made(variant % 4 ? clo_i_plan_even_moment(domain, shares[variant % 4], *asked, TIMES, "",
                                                     out, &err)
                            : clo_i_plan_gaussian_moment(domain, *asked, TIMES, "", out, &err),
                &err);
}

#endif

#ifdef QUERY_REACH /* how far the worst rows of a unit move its answer */

static const double SHARE = 0.5; /* of the traces that are left out of fourth moments */

static clo_status reach_line_gaussian_moment(const clo_domain *domain, clo_line *out,
                                             clo_error *err)
{
    return clo_i_plan_even_moment(domain, SHARE, 1, 1, "", out, err);
}

static clo_status reach_ask_gaussian_moment(const question *q)
{
    double moments[MOST_TOLD];
    return clo_i_ask_gaussian_moment(q->context, 0, q->data, moments, q->err);
}

/* Of each entry once, in the order of the tensor: how many orders its indices have. */
static double of_moment(const clo_line *s, const double *x)
{
    double sum = 0;
    (void)s;
    for (size_t i = 0; i < D; i++)
        for (size_t j = i; j < D; j++)
            for (size_t k = j; k < D; k++)
                for (size_t l = k; l < D; l++, x++) {
                    const size_t at[] = { i, j, k, l };
                    double orders = 24, run = 1;
                    for (size_t e = 1; e < 4; e++) {
                        run = at[e] == at[e - 1] ? run + 1 : 1;
                        orders /= run;
                    }
                    sum += orders * squares(x, 1, 3 * 0x1p30);
                }
    return sqrt(sum);
}

/* cos^2 = 3 share (2 - share) / (d + 4) = 9/28: gaussian_moment.T3 */
static const reach reach_gaussian_moment = {
    .plan = reach_line_gaussian_moment,
    .ask = reach_ask_gaussian_moment,
    .length = of_moment,
    .least = 0.998,
    .old = { 1, 0, 0 },
    .other = { 0.56694671, 0.82375447, 0 },
};

#endif

#ifdef QUERY_CHANGE /* a search among small data for the largest change */

static bool change_line_gaussian_moment(const clo_domain *domain, size_t v, clo_line *out)
{
    clo_error err;
    if (v >= 3) return false;
    return made(v ? clo_i_plan_even_moment(domain, v == 1 ? 0.3 : 0.6, 1, 1, "", out, &err)
                  : clo_i_plan_gaussian_moment(domain, 1, 1, "", out, &err),
                &err);
}

static clo_status change_ask_gaussian_moment(const question *q)
{
    double moments[MOST_NUMBERS];
    return clo_i_ask_gaussian_moment(q->context, 0, q->data, moments, q->err);
}

PROBE(gaussian_moment, 0.99, false);

#endif

#ifdef QUERY_SUMS /* asks of it, for what travels as bytes */

static inline void add_gaussian_moment(sum_asks *a)
{
    ADD(clo_i_plan_even_moment(&a->domain, .5, 1, 1, "", &line, &err), 0, NULL, 0, NULL, 0);
}

#endif

#ifdef QUERY_UNIT /* which power of the radius its noise is told in; -1: it has no unit */

enum { unit_gaussian_moment = 4 };

#endif
