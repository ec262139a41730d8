/* One record onto the integer grid, and onto coarser ones: bound.T1 and bound.T2 against plain
 * twins and exact arithmetic, and at the edges. */
#include "check.h"
#include "bound/bound.h"
#include "random/random.h"
#include <float.h>
#include <stdlib.h>

static const double GRID = 1073741824.0;

static unsigned __int128 squared_norm(const int32_t *r, size_t d)
{
    unsigned __int128 total = 0;
    for (size_t j = 0; j < d; j++) total += (unsigned __int128)((int64_t)r[j] * r[j]);
    return total;
}

static void a_record_inside_the_ball_keeps_its_place(void **state)
{
    const double x[3] = { 0.5, -0.25, 0.125 };
    int32_t r[3];
    (void)state;
    clo_i_to_grid(x, 3, 1, r);
    assert_int_equal(r[0], 1 << 29);
    assert_int_equal(r[1], -(1 << 28));
    assert_int_equal(r[2], 1 << 27);
}

static void a_record_outside_is_the_one_on_the_sphere(void **state)
{
    const double far_out[3] = { 600000, 0, -800000 }, clipped[3] = { 0.6, 0, -0.8 };
    const double axis[3] = { 1e6, 0, 0 };
    int32_t a[3], b[3];
    (void)state;
    clo_i_to_grid(far_out, 3, 1, a);
    clo_i_to_grid(clipped, 3, 1, b);
    assert_memory_equal(a, b, sizeof a);
    clo_i_to_grid(axis, 3, 1, a);
    assert_int_equal(a[0], 1 << 30);
    assert_int_equal(a[1], 0);
}

static void a_bad_cell_gives_the_zero_record(void **state)
{
    const double bad[] = { NAN, INFINITY, -INFINITY };
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        double x[3] = { 0.5, bad[i], 0.5 };
        int32_t r[3] = { 1, 1, 1 };
        clo_i_to_grid(x, 3, 1, r);
        assert_int_equal(r[0], 0);
        assert_int_equal(r[1], 0);
        assert_int_equal(r[2], 0);
    }
}

/* A square that rounding swallows: the record keeps its length, and the ball holds it. */
static void a_record_along_an_axis_but_for_a_trace_is_not_shrunk(void **state)
{
    double x[40] = { 0 };
    int32_t r[40];
    (void)state;
    for (size_t d = 2; d <= 40; d++)
        for (size_t j = 0; j < d; j++) {
            const size_t trace = (j + 1) % d;
            x[j] = 1e6, x[trace] = 0.005;
            clo_i_to_grid(x, d, 1, r);
            assert_true(squared_norm(r, d) <= (unsigned __int128)1 << 60);
            assert_int_equal(r[j], (1 << 30) - 1);
            assert_int_equal(r[trace], 5);
            x[j] = x[trace] = 0;
        }
}

/* bound.T1 on hostile magnitudes: from denormals to the largest double, norms alike. */
static void the_norm_is_an_integer_fact(void **state)
{
    clo_rng *rng = NULL;
    clo_stream *stream = NULL;
    uint8_t seed[32];
    double x[40];
    int32_t r[40];
    clo_error err;
    (void)state;
    clo_seed_from_text("grid", seed);
    assert_ok(clo_rng_new_seeded(seed, &rng, &err), err);
    assert_ok(clo_i_stream_open(rng, 1, 0, &stream, &err), err);
    for (int trial = 0; trial < 50000; trial++) {
        const size_t d = 1 + clo_i_random_below(stream, 40);
        const int span = (int)clo_i_random_below(stream, 40),
                  about = (int)clo_i_random_below(stream, 2000) - 1000;
        const double norm =
            ldexp(1 + clo_i_random_unit(stream), (int)clo_i_random_below(stream, 1800) - 900);
        for (size_t j = 0; j < d; j++)
            x[j] = ldexp(clo_i_random_normal(stream),
                         about + (span ? (int)clo_i_random_below(stream, (uint64_t)span) : 0));
        clo_i_to_grid(x, d, norm, r);
        assert_true(squared_norm(r, d) <= (unsigned __int128)1 << 60);
    }
    const double largest[2] = { DBL_MAX, -DBL_MAX }, least[2] = { DBL_TRUE_MIN, DBL_TRUE_MIN };
    clo_i_to_grid(largest, 2, 1, r);
    assert_true(squared_norm(r, 2) <= (unsigned __int128)1 << 60);
    assert_true(r[0] > 1 << 29 && r[1] == -r[0]);
    clo_i_to_grid(least, 2, 1e-280, r);
    assert_true(squared_norm(r, 2) <= (unsigned __int128)1 << 60);
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

/* The clipped record is never far from the real one: truncation costs less than a step. */
static void clipping_is_accurate(void **state)
{
    const double x[4] = { 3, -1, 4, -1.5 };
    const double norm = sqrt(9 + 1 + 16 + 2.25);
    int32_t r[4];
    (void)state;
    clo_i_to_grid(x, 4, 2, r);
    for (size_t j = 0; j < 4; j++) assert_close(r[j], x[j] / norm * GRID, 1.0);
    clo_i_to_grid(x, 4, 20, r);
    for (size_t j = 0; j < 4; j++) assert_close(r[j], x[j] / 20 * GRID, 1.0);
}

/* ---- every direction of rounding, against exact arithmetic ---------------------------------- */

/* A plain quotient cut toward zero, by magnitude and sign. */
static int64_t toward_zero(int64_t numerator, int64_t denominator)
{
    const int64_t magnitude = (numerator < 0 ? -numerator : numerator) / denominator;
    return numerator < 0 ? -magnitude : magnitude;
}

/* Inside a ball whose norm is a power of two nothing is rounded before the cut, which is then
 * exact: on the grid, beside it, between (a tie) and next to the tie, on both sides of zero. */
static void inside_the_ball_every_cell_is_cut_toward_zero(void **state)
{
    (void)state;
    for (int exponent = -40; exponent <= 40; exponent += 8)
        for (int power = 0; power < CLO_GRID_BITS - 1; power++)
            for (int64_t eighths = -12; eighths <= 12; eighths++) { /* of a step, about a power */
                const int64_t numerators[2] = { ((int64_t)8 << power) + eighths,
                                                -((int64_t)8 << power) + eighths };
                double x[2];
                int32_t r[2];
                for (size_t j = 0; j < 2; j++)
                    x[j] = ldexp((double)numerators[j], exponent - CLO_GRID_BITS - 3);
                clo_i_to_grid(x, 2, ldexp(1, exponent), r);
                for (size_t j = 0; j < 2; j++)
                    assert_int_equal(r[j], toward_zero(numerators[j], 8));
            }
}

/* Outside the ball a cell lies no farther out than x / |x|, but for a millionth of a step, and less
 * than two steps farther in: one of the cut, one of the step that puts the record inside.  Squares
 * of integers, so that nothing of this is rounded. */
static void outside_the_ball_no_cell_is_farther_out_than_on_the_sphere(void **state)
{
    typedef unsigned __int128 u128;
    enum { PART = 20 };
    (void)state;
    for (int64_t a = -31; a <= 31; a++)
        for (int64_t b = -29; b <= 29; b += 2)
            for (int64_t c = -13; c <= 13; c += 13) {
                const int64_t cells[3] = { a, b, c };
                const double x[3] = { (double)a, (double)b, (double)c };
                const u128 square = (u128)(a * a + b * b + c * c);
                int32_t r[3];
                clo_i_to_grid(x, 3, 0.5, r);
                assert_true(squared_norm(r, 3) <= (u128)1 << 60);
                for (size_t j = 0; j < 3; j++) {
                    const u128 own = (u128)(cells[j] < 0 ? -cells[j] : cells[j]);
                    const u128 seen = (u128)llabs(r[j]);
                    const u128 true_square = own * own << (2 * (CLO_GRID_BITS + PART));
                    const u128 less = seen ? (seen << PART) - 1 : 0, more = (seen + 2) << PART;
                    assert_true(r[j] == 0 || (r[j] < 0) == (cells[j] < 0));
                    assert_true(less * less * square <= true_square);
                    assert_true(more * more * square > true_square);
                }
            }
}

/* bound.T2: at every shift, for both signs, on, beside and between the multiples, and at the ends.
 */
static void a_coarser_grid_cuts_toward_zero(void **state)
{
    const int32_t end = 1 << CLO_GRID_BITS;
    (void)state;
    for (int shift = 0; shift < CLO_GRID_BITS; shift++) {
        const int64_t step = (int64_t)1 << shift, half = step / 2;
        const int64_t offsets[] = { 0, 1, half - 1, half, half + 1, step - 1 };
        for (int64_t many = end / step; many > 0; many /= 2)
            for (int64_t multiple = many - 2; multiple <= many + 2; multiple++)
                for (size_t o = 0; o < sizeof offsets / sizeof *offsets; o++)
                    for (int sign = -1; sign <= 1; sign += 2) {
                        const int64_t r = sign * (multiple * step + offsets[o]);
                        if (r > end || r < -end) continue;
                        assert_int_equal(clo_i_coarser((int32_t)r, shift), toward_zero(r, step));
                    }
        assert_int_equal(clo_i_coarser(end, shift), end >> shift);
        assert_int_equal(clo_i_coarser(-end, shift), -(end >> shift));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_inside_the_ball_keeps_its_place),
        cmocka_unit_test(a_record_outside_is_the_one_on_the_sphere),
        cmocka_unit_test(a_bad_cell_gives_the_zero_record),
        cmocka_unit_test(a_record_along_an_axis_but_for_a_trace_is_not_shrunk),
        cmocka_unit_test(the_norm_is_an_integer_fact),
        cmocka_unit_test(clipping_is_accurate),
        cmocka_unit_test(inside_the_ball_every_cell_is_cut_toward_zero),
        cmocka_unit_test(outside_the_ball_no_cell_is_farther_out_than_on_the_sphere),
        cmocka_unit_test(a_coarser_grid_cuts_toward_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
