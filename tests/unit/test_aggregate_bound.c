/*
 * The smooth bound (aggregate.T1), by searching for lists of points that break it, on a line and
 * for real; the same search breaks the formula in print.  And the Procrustes distance of sets of
 * subspaces against all orders.
 */
#include "check.h"
#include "base/planted.h"
#include "linalg/linalg.h"
#include "measure/measure.h"
#include "ask/query_steps.h"
#include "random/random.h"
#include "query/smooth_bound.h"
#include <math.h>
#include <string.h>

enum { MOST = 64 };

typedef struct search {
    size_t points, changed;
    double beta;
} search;

static double distances[MOST * MOST], scratch[MOST];

/* Points of [0, 1] with their distances. */
static void sort_distances(const double *z, size_t m)
{
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < m; j++) distances[i * m + j] = fabs(z[i] - z[j]);
        clo_i_sort(distances + i * m, m);
    }
}

static double bound_of(const search *s, const double *z, size_t *center)
{
    sort_distances(z, s->points);
    return clo_i_smooth_bound(distances, s->points, s->changed, s->beta, 1, center, scratch);
}

/* Algorithm 1 as printed: the mean of the *largest* s/beta values, decaying by e^-beta. */
static double printed_bound(const search *s, const double *z, size_t *center)
{
    const size_t m = s->points, majority = (m + s->changed + 1) / 2 + 1;
    size_t a = (size_t)((double)s->changed / s->beta);
    double bound = 0;
    if (a > m) a = m;
    *center = 0;
    sort_distances(z, m);
    for (size_t step = 0; majority + (step + 1) * s->changed <= m; step++) {
        double mean = 0;
        for (size_t i = 0; i < m; i++)
            scratch[i] = distances[i * m + majority + (step + 1) * s->changed - 1];
        clo_i_sort(scratch, m);
        for (size_t i = m - a; i < m; i++) mean += scratch[i] / (double)a;
        bound = fmax(bound, 2 * mean * exp(-s->beta * (double)step));
    }
    return bound;
}

typedef double bound_function(const search *s, const double *z, size_t *center);

/* Clusters and outliers, and then some of them moved anywhere. */
static void draw(clo_stream *stream, const search *s, double *z, double *moved)
{
    const double spread = pow(10, -3 * clo_i_random_unit(stream));
    const double outliers = clo_i_random_unit(stream) * .6;
    for (size_t i = 0; i < s->points; i++) {
        const bool out = clo_i_random_unit(stream) < outliers;
        z[i] = out ? clo_i_random_unit(stream) : .5 + spread * (clo_i_random_unit(stream) - .5);
    }
    memcpy(moved, z, s->points * sizeof *z);
    for (size_t i = 0; i < s->changed; i++)
        moved[clo_i_random_below(stream, s->points)] =
            clo_i_random_bit(stream) ? clo_i_random_unit(stream) : .5;
}

/* The largest |ln S(z)/S(z')| / beta that is found; *beyond: by how much the middle point moved
 * further than S. */
static double worst_ratio(const search *s, bound_function *bound, int tries, double *beyond)
{
    clo_error err;
    clo_rng *rng = NULL;
    clo_stream *stream = NULL;
    double z[MOST], moved[MOST], worst = 0;
    assert_ok(clo_rng_new_seeded((const uint8_t[32]){ 3 }, &rng, &err), err);
    assert_ok(clo_i_stream_open(rng, 1, 1, &stream, &err), err);
    *beyond = -1;
    for (int t = 0; t < tries; t++) {
        size_t here, there;
        draw(stream, s, z, moved);
        const double a = bound(s, z, &here), b = bound(s, moved, &there);
        worst = fmax(worst, fabs(log(a / b)) / s->beta);
        *beyond = fmax(*beyond, fabs(z[here] - moved[there]) - fmin(a, b));
    }
    clo_i_stream_close(stream);
    clo_rng_free(rng);
    return worst;
}

static void the_bound_is_smooth_and_bounds(void **state)
{
    static const search cases[] = {
        { 40, 1, .2 }, { 60, 2, .2 }, { 64, 1, .1 }, { 21, 1, .9 }, { 40, 2, .7 }, { 40, 1, 2 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double beyond;
        const double worst = worst_ratio(&cases[i], bound_of, 1000, &beyond);
        assert_true(worst <= 1 + 1e-9);
        assert_true(worst > .01); /* it does change */
        assert_true(beyond <= 1e-12);
    }
}

/* aggregate.T1's conditions as they are printed: a majority m/2 + s/2 + 1 that is among the m, and
 * a least number of values that are averaged which is no larger. */
static void the_bound_is_constant_where_its_conditions_fail(void **state)
{
    size_t constant = 0, other = 0;
    (void)state;
    for (size_t m = 2; m <= 200; m++)
        for (size_t s = 1; s <= 4; s++)
            for (double beta = .05; beta < 3; beta *= 1.3) {
                size_t majority = 1, a = 2 * s;
                while (2 * majority < m + s + 2) majority++;
                const double changed = (double)s;
                while ((double)a < 3 * changed / beta ||
                       (1 + changed / (double)a) / (1 - changed / (2 * (double)a)) > exp(beta / 2))
                    a++;
                const bool holds =
                    majority <= m && 3 * changed / (double)majority < beta && a <= majority;
                assert_int_equal(clo_i_smooth_is_constant(m, s, beta), !holds);
                *(holds ? &other : &constant) += 1;
            }
    assert_true(constant > 1000 && other > 1000);
}

static void the_printed_bound_is_not_smooth(void **state)
{
    const search s = { 40, 1, .2 };
    double beyond;
    (void)state;
    assert_true(worst_ratio(&s, printed_bound, 1000, &beyond) > 1.5);
}

static void points_that_agree_leave_a_bound(void **state)
{
    const search s = { 41, 1, .5 };
    double z[41] = { 0 };
    size_t center;
    (void)state;
    const size_t majority = 22, steps = 41 - majority; /* until t = m + 1 */
    assert_close(bound_of(&s, z, &center), 2 * exp(-.5 * (double)steps / 2), 1e-12);
    const search few = { 5, 1, .5 };
    assert_close(bound_of(&few, z, &center), 1, 0); /* too few to average over */
}

/* ---- Procrustes --------------------------------------------------------------------------- */

enum { K = 4, D = 6, W = 2 };

static void draw_set(clo_stream *stream, double *bases)
{
    for (size_t i = 0; i < K * D * W; i++) bases[i] = clo_i_random_normal(stream);
    for (size_t c = 0; c < K; c++)
        assert_int_equal(clo_i_orthonormalize(bases + c * D * W, D, W, NULL), CLO_OK);
}

static double apart(const double *a, const double *b)
{
    double room[K * K + W * W], distance = -1;
    size_t partner[K];
    clo_error err;
    assert_int_equal(clo_i_procrustes_scratch(K, W), K * K + W * W);
    assert_ok(clo_i_procrustes_distance(a, b, K, D, W, partner, room, &distance, &err), err);
    return distance;
}

/* Sum of 2 (1 - cos) over the principal angles, from the sines. */
static double one_pair(const double *a, const double *b)
{
    double sines[W], sum = 0;
    assert_int_equal(clo_i_sin_angles(a, b, D, W, sines, NULL), CLO_OK);
    for (size_t i = 0; i < W; i++) sum += 2 * (1 - sqrt(fmax(0, 1 - sines[i] * sines[i])));
    return sum;
}

static double by_all_orders(const double *a, const double *b, size_t c, unsigned used)
{
    double best = INFINITY;
    if (c == K) return 0;
    for (size_t o = 0; o < K; o++)
        if (!(used & 1u << o))
            best = fmin(best, one_pair(a + c * D * W, b + o * D * W) +
                                  by_all_orders(a, b, c + 1, used | 1u << o));
    return best;
}

static void the_distance_is_the_least_over_all_orders_and_turns(void **state)
{
    clo_error err;
    clo_rng *rng = NULL;
    clo_stream *stream = NULL;
    double a[K * D * W], b[K * D * W], turned[K * D * W];
    (void)state;
    assert_ok(clo_rng_new_seeded((const uint8_t[32]){ 5 }, &rng, &err), err);
    assert_ok(clo_i_stream_open(rng, 1, 1, &stream, &err), err);
    for (int t = 0; t < 50; t++) {
        draw_set(stream, a);
        draw_set(stream, b);
        assert_close(apart(a, b), sqrt(by_all_orders(a, b, 0, 0)), 1e-9);
        const double angle = 6 * clo_i_random_unit(stream);
        for (size_t c = 0; c < K; c++)
            for (size_t j = 0; j < D; j++) {
                const double *const from = a + ((c + 1) % K * D + j) * W;
                turned[(c * D + j) * W] = cos(angle) * from[0] - sin(angle) * from[1];
                turned[(c * D + j) * W + 1] = sin(angle) * from[0] + cos(angle) * from[1];
            }
        assert_close(apart(a, turned), 0, 1e-7);
        assert_close(apart(turned, b), apart(a, b), 1e-9);
    }
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bound_is_smooth_and_bounds),
        cmocka_unit_test(the_bound_is_constant_where_its_conditions_fail),
        cmocka_unit_test(the_printed_bound_is_not_smooth),
        cmocka_unit_test(points_that_agree_leave_a_bound),
        cmocka_unit_test(the_distance_is_the_least_over_all_orders_and_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
