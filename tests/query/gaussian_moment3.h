/* gaussian_moment3.h - what tests of every query know of it (query_kinds.h). */
#include "query/gaussian_moment3.h"

#ifdef QUERY_LAW /* the forms in which its noise is looked at */

static inline void prepare_moment3(noisy *n)
{
    static const unsigned multiplicities[] = { 1, 3, 6 };
    const size_t d = n->form->cols;
    clo_error err;
    n->domain = ball(d, 1, CLO_ADD_REMOVE);
    assert_ok(clo_i_plan_gaussian_moment3(&n->domain, 0, 0x1p32 / WIDE, 1, "", &n->line, &err),
              err);
    noisy_room(n, clo_i_moment3_size(d), n->form->asks, 1);
    n->records[0] = 0.5, n->records[1] = -0.5;
    size_t at = 0;
    for (size_t i = 0; i < d; i++)
        for (size_t j = i; j < d; j++)
            for (size_t k = j; k < d; k++, at++) {
                n->truth[at] = k < 2 ? 3 * ldexp((i + j + k) % 2 ? -1.0 : 1.0, 27) : 0;
                classes_of_moments(n, multiplicities, 3, clo_i_moment3_multiplicity(i, j, k), at);
            }
}

static inline void ask_moment3(noisy *n, double *residual)
{
    clo_error err;
    assert_ok(clo_i_ask_gaussian_moment3(&n->a.context, n->number, n->data, n->sums, &err), err);
    for (size_t i = 0; i < n->numbers; i++)
        residual[i] = nearbyint(3 * ldexp(n->sums[i], 30)) - n->truth[i];
}

static const noisy_form forms_gaussian_moment3[] = {
    { "tensor", prepare_moment3, ask_moment3, 0, 32, 1, 44, NULL },
    { "lens", prepare_moment3, ask_moment3, LENS, 24, 1, 36, NULL },
    { 0 },
};

#endif

#ifdef QUERY_ORACLE /* what its lines must be, by the proof */

/* |xxx - yyy|^2 for records of length 1 at most whose last coordinate is c: by trying lengths; at
 * any two lengths those are farthest apart whose other coordinates are opposite. */
static inline long double third_reach(long double c)
{
    enum { LENGTHS = 40 };
    long double most = 0;
    for (int i = 0; i <= LENGTHS; i++)
        for (int j = i; j <= LENGTHS; j++) {
            const long double a = c * c + (1 - c * c) * i / LENGTHS;
            const long double b = c * c + (1 - c * c) * j / LENGTHS;
            const long double inner = c * c - sqrtl(a - c * c) * sqrtl(b - c * c);
            most = fmaxl(most, a * a * a + b * b * b - 2 * inner * inner * inner);
        }
    return sqrtl(most);
}

static inline void line_gaussian_moment3(const held *l)
{
    const long double d = (long double)l->line->cols, square = lifted_square(l);
    const long double c =
        truncl(ldexpl(clo_i_gaussian_moment3_fields(l->line).constant, l->line->bits)) * 0x1p-20L;
    const long double off = sqrtl(square) * (d + sqrtl(d));
    if (!replaces(l))
        moves(l, 9 * (u128)square * (u128)square);
    else if (c == 0)
        moves(l, 36 * (u128)square * (u128)square);
    else {
        /* Each of the two records may be rounded; opposite ones are the farthest apart. */
        moves_between(l, 3 * fminl(square * third_reach(c) + 2 * off, 2 * square), 0.06L * off);
        HOLDS(l, (long double)l->line->sensitivity <= 6 * square * (long double)l->rows);
    }
    priced_by_scale(l, CLO_EVENT_GAUSSIAN);
}

#endif

#ifdef QUERY_LINES /* lines of it, by the number of a variant */

static bool make_gaussian_moment3(const clo_domain *domain, size_t variant, clo_line *out,
                                  double *asked)
{
    const double heights[] = { 0, 0.3, 1 };
    clo_error err;
    if (variant >= 9) return false;
    *asked = mus[variant / 3];
    return made(
        clo_i_plan_gaussian_moment3(domain, heights[variant % 3], *asked, TIMES, "", out, &err),
        &err);
}

#endif

#ifdef QUERY_REACH /* how far the worst rows of a unit move its answer */

static clo_status reach_line_gaussian_moment3(const clo_domain *domain, clo_line *out,
                                              clo_error *err)
{
    return clo_i_plan_gaussian_moment3(domain, 0, 1, 1, "", out, err);
}

static clo_status reach_ask_gaussian_moment3(const question *q)
{
    double moments[MOST_TOLD];
    return clo_i_ask_gaussian_moment3(q->context, 0, q->data, moments, q->err);
}

static double of_moment3(const clo_line *s, const double *x)
{
    double sum = 0;
    (void)s;
    for (size_t i = 0; i < D; i++)
        for (size_t j = i; j < D; j++)
            for (size_t k = j; k < D; k++, x++) {
                const double orders = i == j && j == k ? 1 : i == j || j == k ? 3 : 6;
                sum += orders * squares(x, 1, 3 * 0x1p30);
            }
    return sqrt(sum);
}

static const reach reach_gaussian_moment3 = {
    .plan = reach_line_gaussian_moment3,
    .ask = reach_ask_gaussian_moment3,
    .length = of_moment3,
    .least = 0.999999,
    .old = { 1, 0, 0 },
    .other = { -1, 0, 0 },
};

#endif

#ifdef QUERY_CHANGE /* a search among small data for the largest change */

/* As they are, and through lenses that append a constant. */
static const double heights[] = { 0, 0.3, 1 };

static bool change_line_gaussian_moment3(const clo_domain *domain, size_t v, clo_line *out)
{
    clo_error err;
    if (v >= 3) return false;
    const clo_domain raised = clo_i_lens_domain(domain, domain->cols + 1);
    assert_ok(clo_i_plan_gaussian_moment3(v ? &raised : domain, heights[v], 1, 1, "", out, &err),
              err);
    out->lens = v ? CLO_LENS : CLO_NO_LENS;
    return true;
}

static clo_status change_ask_gaussian_moment3(const question *q)
{
    const size_t d = q->domain->cols;
    double moments[MOST_NUMBERS], frame[COLS * COLS] = { 0 };
    clo_lens lens;
    for (size_t j = 0; j < d; j++) frame[j * d + j] = 1;
    if (q->variant) {
        assert_ok(
            clo_i_lens_make(q->context->workspace, frame, d, d, heights[q->variant], &lens, q->err),
            *q->err);
        q->context->lens = &lens;
    }
    return clo_i_ask_gaussian_moment3(q->context, 0, q->data, moments, q->err);
}

PROBE(gaussian_moment3, 0.99, false);

#endif

#ifdef QUERY_SUMS /* asks of it, for what travels as bytes */

static inline void add_gaussian_moment3(sum_asks *a)
{
    ADD(clo_i_plan_gaussian_moment3(&a->domain, 0, 1, 1, "", &line, &err), 0, NULL, 0, NULL, 0);
}

#endif

#ifdef QUERY_UNIT /* which power of the radius its noise is told in; -1: it has no unit */

enum { unit_gaussian_moment3 = 3 };

#endif
