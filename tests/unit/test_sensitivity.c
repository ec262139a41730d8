/*
 * The sensitivities of gaussian_sum.T1, laplace_sum.T1 and gaussian_gram.T1 by random
 * and by worst-case search: on the integer grid itself, in exact integers, no neighbour moves an
 * answer further than the plan's sensitivity; and the worst case is attained, so that the bound is
 * not merely large.
 */
#include "pipeline.h"
#include "ask/query.h"
#include "bound/bound.h"
#include "random/random.h"
#include "query/gaussian_gram.h"
#include "query/gaussian_sum.h"
#include "query/aggregate.h"
#include "query/gibbs.h"
#include "query/histogram.h"
#include "query/laplace_sum.h"
#include "query/peel.h"
#include "query/quantile.h"
#include "ask/query_steps.h"

enum { D = 4, K = 3 };
typedef unsigned __int128 u128;

static clo_stream *stream_of(clo_rng *rng)
{
    clo_error err;
    clo_stream *stream = NULL;
    assert_ok(clo_i_stream_open(rng, clo_i_rng_next_ask(rng), 0, &stream, &err), err);
    return stream;
}

/* A random record on the grid of `bits`, often on the sphere, often along an axis. */
static void draw_record(clo_stream *stream, int bits, int64_t *r)
{
    double x[D];
    int32_t grid[D];
    const bool axis = clo_i_random_below(stream, 4) == 0;
    const size_t which = clo_i_random_below(stream, D);
    for (size_t j = 0; j < D; j++) x[j] = axis && j != which ? 0 : 3 * clo_i_random_normal(stream);
    clo_i_to_grid(x, D, 1, grid);
    for (size_t j = 0; j < D; j++) r[j] = grid[j] / (1 << (CLO_GRID_BITS - bits));
}

static void add_sum(const int64_t *r, size_t cluster, int64_t unit, int64_t sign, int64_t *value)
{
    for (size_t j = 0; j < D; j++) value[cluster * (D + 1) + j] += sign * r[j];
    value[cluster * (D + 1) + D] += sign * unit;
}

static void add_gram(const int64_t *r, size_t cluster, int64_t sign, int64_t *value)
{
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++) value[(cluster * D + i) * D + j] += sign * r[i] * r[j];
}

static u128 square(const int64_t *value, size_t count)
{
    u128 total = 0;
    for (size_t i = 0; i < count; i++) total += (u128)((__int128)value[i] * value[i]);
    return total;
}

/* gaussian_sum.T1 and gaussian_gram.T1 */
static void no_neighbour_moves_an_answer_further_than_planned(void **state)
{
    clo_error err;
    clo_rng *const rng = seeded("sensitivity");
    clo_stream *const stream = stream_of(rng);
    (void)state;
    for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++) {
        for (uint64_t rows = 1; rows <= 3; rows++) {
            clo_domain domain = ball(D, 1, (clo_relation)relation);
            clo_line sum, gram;
            double farthest_sum = 0, farthest_gram = 0;
            domain.rows_per_unit = rows;
            domain.unit = "person";
            assert_ok(clo_i_plan_gaussian_sum(&domain, K, 1, 1, "", &sum, &err), err);
            assert_ok(clo_i_plan_gaussian_gram(&domain, K, 1, 1, "", &gram, &err), err);
            for (int trial = 0; trial < 20000; trial++) {
                int64_t sums[K * (D + 1)] = { 0 }, grams[K * D * D] = { 0 }, r[D], first[D];
                const size_t out =
                    relation == CLO_REPLACE ? clo_i_random_below(stream, rows + 1) : 0;
                const size_t in = clo_i_random_below(stream, rows + 1);
                const bool same = clo_i_random_bit(stream), opposite = clo_i_random_bit(stream);
                for (size_t i = 0; i < in + out; i++) {
                    const int64_t sign = i < in ? 1 : -1;
                    const size_t cluster = same ? 0 : clo_i_random_below(stream, K);
                    draw_record(stream, sum.bits, r);
                    if (opposite && i == 0) memcpy(first, r, sizeof r);
                    if (opposite && i > 0)
                        for (size_t j = 0; j < D; j++) r[j] = i < in ? first[j] : -first[j];
                    add_sum(r, cluster, (int64_t)sum.count_unit, sign, sums);
                    for (size_t j = 0; j < D; j++) r[j] /= 1 << (sum.bits - gram.bits);
                    add_gram(r, cluster, sign, grams);
                }
                const u128 s = square(sums, K * (D + 1)), g = square(grams, K * D * D);
                assert_true(s <= (u128)sum.sensitivity * sum.sensitivity);
                assert_true(g <= (u128)gram.sensitivity * gram.sensitivity);
                farthest_sum = fmax(farthest_sum, sqrt((double)s) / (double)sum.sensitivity);
                farthest_gram = fmax(farthest_gram, sqrt((double)g) / (double)gram.sensitivity);
            }
            assert_true(farthest_sum > 0.995); /* the bound is attained */
            assert_true(farthest_gram > 0.95);
        }
    }
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

static int64_t length(const int64_t *value, size_t count)
{
    int64_t total = 0;
    for (size_t i = 0; i < count; i++) total += llabs(value[i]);
    return total;
}

/* A record as long as the grid allows, in L1: along a diagonal. */
static void draw_diagonal(clo_stream *stream, int bits, int64_t *r)
{
    double x[D];
    int32_t grid[D];
    for (size_t j = 0; j < D; j++) x[j] = clo_i_random_bit(stream) ? 2 : -2;
    clo_i_to_grid(x, D, 1, grid);
    for (size_t j = 0; j < D; j++) r[j] = grid[j] / (1 << (CLO_GRID_BITS - bits));
}

/* laplace_sum.T1 */
static void no_neighbour_moves_an_answer_further_in_l1_than_planned(void **state)
{
    clo_error err;
    clo_rng *const rng = seeded("lengths");
    clo_stream *const stream = stream_of(rng);
    (void)state;
    for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++) {
        for (uint64_t rows = 1; rows <= 3; rows++) {
            clo_domain domain = ball(D, 1, (clo_relation)relation);
            clo_line line;
            int64_t farthest = 0;
            domain.rows_per_unit = rows;
            domain.unit = "person";
            assert_ok(clo_i_plan_laplace_sum(&domain, K, 1, 1, "", &line, &err), err);
            for (int trial = 0; trial < 20000; trial++) {
                int64_t sums[K * (D + 1)] = { 0 }, r[D];
                const size_t out =
                    relation == CLO_REPLACE ? clo_i_random_below(stream, rows + 1) : 0;
                const size_t in = clo_i_random_below(stream, rows + 1);
                const bool diagonal = clo_i_random_bit(stream), same = clo_i_random_bit(stream);
                draw_diagonal(stream, line.bits, r);
                for (size_t i = 0; i < in + out; i++) {
                    if (!diagonal) draw_record(stream, line.bits, r);
                    const size_t cluster = same ? i >= in : clo_i_random_below(stream, K);
                    add_sum(r, cluster, (int64_t)line.count_unit, i < in ? 1 : -1, sums);
                }
                const int64_t far = length(sums, K * (D + 1));
                assert_true(far <= (int64_t)line.sensitivity);
                if (far > farthest) farthest = far;
            }
            assert_true((double)farthest > 0.9999 * (double)line.sensitivity); /* attained */
        }
    }
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

/* A sensitivity is the root of a sum of squares, rounded up: to the unit, on both sides of every
 * square, far beyond what a double holds. */
static void a_root_is_rounded_up_to_the_unit(void **state)
{
    (void)state;
    assert_true(clo_i_root_up(0) == 0);
    for (int bit = 0; bit < 63; bit++)
        for (int64_t beside = -3; beside <= 3; beside++) {
            const int64_t root = (INT64_C(1) << bit) + beside;
            if (root < 1) continue;
            const u128 square = (u128)root * (u128)root;
            assert_true(clo_i_root_up(square) == (uint64_t)root);
            assert_true(clo_i_root_up(square + 1) == (uint64_t)root + 1);
            assert_true(clo_i_root_up(square - 1) == (uint64_t)(root - (root == 1)));
        }
}

/* What a line costs is that of its noise, rounded up, and by no more than rounding takes: the
 * accountant is told no less than sensitivity over scale (gaussian.T1, samplers.T2). */
static void the_price_of_noise_is_rounded_up(void **state)
{
    clo_rng *const rng = seeded("price");
    clo_stream *const stream = stream_of(rng);
    (void)state;
    for (int i = 0; i < 4000; i++) {
        const uint64_t sensitivity = 1 + clo_i_random_below(stream, UINT64_C(1) << (1 + i % 36));
        const double asked = ldexp(1 + clo_i_random_unit(stream), i % 14 - 10);
        clo_line line;
        clo_error err;
        assert_ok(
            (i % 2 ? clo_i_plan_laplace : clo_i_plan_gaussian)(sensitivity, asked, 1, &line, &err),
            err);
        const double scale = (double)line.scale, price = line.event.parameter;
        assert_true(line.scale < UINT64_C(1) << 53 && line.sensitivity == sensitivity);
        assert_true(fma(price, scale, -(double)sensitivity) >=
                    0); /* rounded once: the right sign */
        assert_true(price * (1 - 0x1p-49) <= (double)sensitivity / scale);
        assert_true(price <= asked * (1 + 0x1p-50));
    }
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

/* peel.T1, in integers: the least that is no less than R sqrt((T + 1 + w)^2 + (s - 1) (1 + w)^2) +
 * w u, for few rounds and for so many that the values weigh more than the choices. */
static void a_peel_plans_for_its_rounds_its_values_and_its_count(void **state)
{
    enum { COLS = 4096 };
    const u128 R = 1 << 20;
    (void)state;
    for (size_t entries = 1; entries <= 121; entries = entries * 3 + 1)
        for (size_t rounds = 1; rounds <= 400; rounds = rounds * 3 + 1)
            for (uint64_t of_unit = 1; of_unit <= 3; of_unit++)
                for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++) {
                    clo_domain domain = ball(COLS, 1, (clo_relation)relation);
                    clo_error err;
                    clo_line line;
                    domain.rows_per_unit = of_unit;
                    assert_ok(
                        clo_i_plan_peel(&domain, COLS, 1, entries, rounds, 1, "", &line, &err),
                        err);
                    const uint64_t rows = of_unit * (relation == CLO_REPLACE ? 2 : 1);
                    const u128 w = (u128)fmax(1, floor((double)rounds / sqrt((double)entries) / 2));
                    const u128 one = line.sensitivity / rows, alone = one - w * R;
                    const u128 square =
                        R * R *
                        ((rounds + 1 + w) * (rounds + 1 + w) + (entries - 1) * (1 + w) * (1 + w));
                    assert_int_equal(line.sensitivity % rows, 0);
                    assert_true(alone * alone >= square && (alone - 1) * (alone - 1) < square);
                }
}

/* ---- how far the proofs reach ---------------------------------------------------------------- */

static clo_status plan_of(size_t what, double parameter, clo_line *line, clo_error *err)
{
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    const clo_gibbs chain = { .clusters = 2, .dim = 1, .sweeps = 1 };
    const clo_quantile bounds = { 3, 1, 0.9 };
    const clo_loss loss = { parameter, 1e-6 };
    switch (what) {
    case 0:
        return clo_i_plan_gaussian(1000, parameter, 1, line, err);
    case 1:
        return clo_i_plan_laplace(1000, parameter, 1, line, err);
    case 2:
        return clo_i_plan_exponential(1000, parameter, 1, line, err);
    case 3:
        return clo_i_plan_aggregate_centers(&domain, 1, 200, loss, "", line, err);
    case 4:
        return clo_i_plan_peel(&domain, D, 1, 2, 2, parameter, "", line, err);
    case 5:
        return clo_i_plan_gibbs(&domain, &chain, parameter, 1, "", line, err);
    case 6:
        return clo_i_plan_histogram(&domain, 1, 1, 50, loss, "", line, err);
    default:
        return clo_i_plan_quantile(&domain, &bounds, parameter, 1, "", line, err);
    }
}

/* The proof of a tail, or the integers of a draw, end at a parameter: there a plan is made, and at
 * the next number none is. */
static void no_noise_is_planned_beyond_its_proof(void **state)
{
    static const double largest[] = { 30, 300, 1e6, 300, 1e6, 1e6, 1e6, 1e6 };
    (void)state;
    for (size_t i = 0; i < sizeof largest / sizeof *largest; i++) {
        clo_line line;
        clo_error err;
        assert_ok(plan_of(i, largest[i], &line, &err), err);
        if (plan_of(i, nextafter(largest[i], INFINITY), &line, &err) != CLO_ARGUMENT)
            fail_msg("plan %zu is made beyond %g", i, largest[i]);
        assert_int_equal(plan_of(i, NAN, &line, &err) == CLO_OK, false);
        assert_int_equal(plan_of(i, 0, &line, &err) == CLO_OK, false);
        assert_int_equal(plan_of(i, -1, &line, &err) == CLO_OK, false);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_neighbour_moves_an_answer_further_than_planned),
        cmocka_unit_test(no_neighbour_moves_an_answer_further_in_l1_than_planned),
        cmocka_unit_test(a_root_is_rounded_up_to_the_unit),
        cmocka_unit_test(the_price_of_noise_is_rounded_up),
        cmocka_unit_test(a_peel_plans_for_its_rounds_its_values_and_its_count),
        cmocka_unit_test(no_noise_is_planned_beyond_its_proof),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
