/* gaussian_gram.h - what tests of every query know of it (query_kinds.h). */
#include "query/gaussian_gram.h"

#ifdef QUERY_LAW /* the forms in which its noise is looked at */

static inline void prepare_gram(noisy *n)
{
    const size_t k = n->form->clusters, d = n->form->cols;
    const double square = ldexp(1, 2 * 15);
    clo_error err;
    n->domain = ball(d, 1, CLO_REPLACE);
    assert_ok(clo_i_plan_gaussian_gram(&n->domain, k, square / WIDE, 1, "", &n->line, &err), err);
    noisy_room(n, k * (d * (d + 1) / 2), n->form->asks, 4);
    if (k > 1) noisy_clusters(n, 0.25);
    size_t at = 0;
    for (size_t c = 0; c < k; c++)
        for (size_t i = 0; i < d; i++)
            for (size_t j = i; j < d; j++, at++) {
                n->class_of[at] = i != j;
                n->cluster_of[at] = (uint16_t)c;
                for (size_t r = 0; r < n->rows; r++)
                    if (r % CLUSTERS == c)
                        n->truth[at] += n->records[r * d + i] * n->records[r * d + j] * square;
            }
    n->scales[0] = (double)n->line.scale;
    n->scales[1] = ceil((double)n->line.scale / sqrt(2));
}

static inline void ask_gram(noisy *n, double *residual)
{
    const size_t d = n->domain.cols;
    clo_error err;
    double *const grams = n->sums; /* clusters x d x d: fewer than twice the triangles */
    assert_ok(clo_i_ask_gaussian_gram(&n->a.context, n->number, n->data, &n->rule, grams, &err),
              err);
    size_t at = 0;
    for (size_t c = 0; c < n->line.groups; c++)
        for (size_t i = 0; i < d; i++)
            for (size_t j = i; j < d; j++, at++) {
                const double entry = grams[(c * d + i) * d + j];
                assert_true(entry == grams[(c * d + j) * d + i]);
                residual[at] = ldexp(entry, 2 * n->line.bits) - n->truth[at];
            }
}

static const noisy_form forms_gaussian_gram[] = {
    { "columns", prepare_gram, ask_gram, 0, 40, 3, 80, NULL },
    { "clusters", prepare_gram, ask_gram, 0, 40, 80, 15, NULL },
    { "wide", prepare_gram, ask_gram, 0, 24, 1, 130, NULL },
    { "lens", prepare_gram, ask_gram, LENS, 24, 3, 80, NULL },
    { 0 },
};

#endif

#ifdef QUERY_ORACLE /* what its lines must be, by the proof */

/* |rr'| = |r|^2; two such matrices are at an angle of 90 degrees at most. */
static inline void line_gaussian_gram(const held *l)
{
    const u128 R = power_of_two(l->line->bits);
    moves(l, (replaces(l) ? 2 : 1) * R * R * R * R);
    priced_by_scale(l, CLO_EVENT_GAUSSIAN);
}

#endif

#ifdef QUERY_LINES /* lines of it, by the number of a variant */

static bool make_gaussian_gram(const clo_domain *domain, size_t variant, clo_line *out,
                               double *asked)
{
    clo_error err;
    if (variant >= 6) return false;
    *asked = mus[variant / 2];
    return made(
        clo_i_plan_gaussian_gram(domain, 1 + 3 * (variant % 2), *asked, TIMES, "", out, &err),
        &err);
}

#endif

#ifdef QUERY_REACH /* how far the worst rows of a unit move its answer */

static clo_status reach_line_gaussian_gram(const clo_domain *domain, clo_line *out, clo_error *err)
{
    return clo_i_plan_gaussian_gram(domain, 1, 1, 1, "", out, err);
}

static clo_status reach_ask_gaussian_gram(const question *q)
{
    double gram[D * D];
    return clo_i_ask_gaussian_gram(q->context, 0, q->data, &everyone, gram, q->err);
}

static double of_gram(const clo_line *s, const double *x)
{
    (void)s;
    return sqrt(squares(x, D * D, 0x1p30));
}

static const reach reach_gaussian_gram = {
    .plan = reach_line_gaussian_gram,
    .ask = reach_ask_gaussian_gram,
    .length = of_gram,
    .least = 0.999999,
    .old = { 1, 0, 0 },
    .other = { 0, 1, 0 },
};

#endif

#ifdef QUERY_CHANGE /* a search among small data for the largest change */

static bool change_line_gaussian_gram(const clo_domain *domain, size_t v, clo_line *out)
{
    clo_error err;
    return v < 2 && made(clo_i_plan_gaussian_gram(domain, v + 1, 1, 1, "", out, &err), &err);
}

static clo_status change_ask_gaussian_gram(const question *q)
{
    double gram[2 * COLS * COLS];
    const clo_assign rule = q->variant ? two_centers(q, 2) : everyone;
    return clo_i_ask_gaussian_gram(q->context, 0, q->data, &rule, gram, q->err);
}

PROBE(gaussian_gram, 0.999, false);

#endif

#ifdef QUERY_SUMS /* asks of it, for what travels as bytes */

static inline void add_gaussian_gram(sum_asks *a)
{
    ADD(clo_i_plan_gaussian_gram(&a->domain, 2, 1, 1, "", &line, &err), 0, &a->flats[1], 1, NULL,
        0);
    ADD(clo_i_plan_gaussian_gram(&a->through, 1, 1, 1, "", &line, &err), CLO_LENS, &a->one, 1, NULL,
        0);
}

#endif

#ifdef QUERY_UNIT /* which power of the radius its noise is told in; -1: it has no unit */

enum { unit_gaussian_gram = 2 };

#endif
