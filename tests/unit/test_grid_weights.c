/* What the cells of a noisy grid hold: means under the law of the noise, which add up to the number
 * of records; and where in a cell they lie. */
#include "mechanism/kmeans/grid_internal.h"
#include "found_centers.h"
#include "mechanism/common/centers_common.h"
#include "query/cell_counts.h"
#include "random/random.h"

/* ---- given a count -------------------------------------------------------------------------- */

/* The same by sums over small steps. */
static double by_sums(double count, double mean, double noise, bool gaussian)
{
    enum { STEPS = 400000 };
    const double most = fmax(count, 0) + 40 * noise, step = most / STEPS;
    double weight = 0, sum = 0, best = -INFINITY;
    for (int pass = 0; pass < 2; pass++) /* the largest exponent first, to be taken off */
        for (int i = 0; i < STEPS; i++) {
            const double r = (i + 0.5) * step, off = fabs(count - r) / noise;
            const double exponent = -r / mean - (gaussian ? off * off / 2 : off);
            if (pass == 0) {
                best = fmax(best, exponent);
            } else {
                weight += exp(exponent - best);
                sum += r * exp(exponent - best);
            }
        }
    return sum / weight;
}

static void a_cell_holds_the_mean_of_what_may_be(void **state)
{
    static const double counts[] = { -50, -3, 0, 1e-9, 0.5, 7, 9.9, 60 }, means[] = { 0.4, 10, 45 };
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (size_t j = 0; j < sizeof means / sizeof *means; j++) {
            const double laplace = by_sums(counts[i], means[j], 10, false);
            const double gaussian = by_sums(counts[i], means[j], 10, true);
            assert_close(clo_i_grid_given_laplace(counts[i], means[j], 10), laplace,
                         1e-3 * laplace);
            assert_close(clo_i_grid_given_gaussian(counts[i], means[j], 10), gaussian,
                         1e-3 * gaussian);
        }
}

static void far_out_the_mean_is_still_a_number(void **state)
{
    (void)state;
    for (double count = -1e9; count <= 1e9; count += 1e8)
        for (double mean = 1e-3; mean < 1e9; mean *= 10) {
            const double laplace = clo_i_grid_given_laplace(count, mean, 3);
            const double gaussian = clo_i_grid_given_gaussian(count, mean, 3);
            assert_true(laplace >= 0 && laplace <= fmax(count, 0) + 3);
            assert_true(gaussian >= 0 && gaussian <= fmax(count, 0) + 3);
        }
    /* where much is expected, and noise is little, the count is believed */
    assert_close(clo_i_grid_given_laplace(1000, 1e6, 3), 1000, 0.1);
    assert_close(clo_i_grid_given_gaussian(1000, 1e6, 3), 1000, 0.1);
}

/* ---- a grid --------------------------------------------------------------------------------- */

enum { SIDE = 16, CELLS = SIDE * SIDE };

typedef struct fixture {
    clo_plan *plan;
    clo_workspace *space;
    clo_i_noisy_grid grid;
} fixture;

static fixture grid_with_noise(const double *exact, const char *seed)
{
    const clo_domain domain = ball(2, 1, CLO_REPLACE);
    fixture f = { .plan = plan_for("kmeans/grid", "clusters=3 side=16", &domain, 1, 0) };
    clo_rng *const rng = seeded(seed);
    clo_stream *stream = NULL;
    clo_error err;
    assert_int_equal(f.plan->lines[0].groups, CELLS);
    assert_ok(clo_workspace_new(1 << 16, &f.space, &err), err);
    assert_ok(clo_i_grid_take(f.space, CELLS, &f.grid, &err), err);
    assert_ok(clo_i_stream_open(rng, 1, 0, &stream, &err), err);
    for (size_t c = 0; c < CELLS; c++) { /* of scale 2: a difference of two exponentials */
        const double up = -log(clo_i_random_unit(stream) + 1e-300);
        f.grid.counts[c] = exact[c] + 2 * (up + log(clo_i_random_unit(stream) + 1e-300));
    }
    clo_i_stream_close(stream);
    clo_rng_free(rng);
    return f;
}

static void fixture_free(fixture *f)
{
    clo_workspace_free(f->space);
    clo_plan_free(f->plan);
}

static double sum_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += values[i];
    return sum;
}

/* A heap of 6 x 6 cells with few records in each, and noise alone in the others. */
static void heap(double *exact)
{
    for (size_t c = 0; c < CELLS; c++) {
        const size_t row = c / SIDE, column = c % SIDE;
        exact[c] = row >= 4 && row < 10 && column >= 4 && column < 10 ? 6 : 0;
    }
}

static double square_off(const double *weights, const double *exact)
{
    double sum = 0;
    for (size_t c = 0; c < CELLS; c++) sum += (weights[c] - exact[c]) * (weights[c] - exact[c]);
    return sum;
}

static void noise_alone_is_taken_out_and_records_stay(void **state)
{
    double exact[CELLS];
    clo_error err;
    (void)state;
    heap(exact);
    fixture f = grid_with_noise(exact, "heap");
    const double before = square_off(f.grid.counts, exact);
    assert_ok(clo_i_grid_weigh(f.plan->lines, 11, 216, 3, &f.grid, &err), err);
    assert_close(sum_of(f.grid.weights, CELLS), 216, 1e-6);
    assert_true(square_off(f.grid.weights, exact) < 0.25 * before);
    double outside = 0;
    for (size_t c = 0; c < CELLS; c++) {
        assert_true(f.grid.weights[c] >= 0);
        if (exact[c] == 0) outside += f.grid.weights[c];
    }
    assert_true(outside < 0.2 * 216);
    fixture_free(&f);
}

/* A third of the rows that there are in public are missing in every cell. */
static void rows_that_do_not_count_are_not_made_up(void **state)
{
    double exact[CELLS];
    clo_error err;
    (void)state;
    heap(exact);
    for (size_t c = 0; c < CELLS; c++) exact[c] *= 20;
    fixture f = grid_with_noise(exact, "missing");
    assert_ok(clo_i_grid_weigh(f.plan->lines, 11, 6480, 3, &f.grid, &err), err);
    assert_close(sum_of(f.grid.weights, CELLS), 4320, 200);
    /* and where their number is not public, the counts tell it */
    assert_ok(clo_i_grid_weigh(f.plan->lines, 11, 0, 3, &f.grid, &err), err);
    assert_close(sum_of(f.grid.weights, CELLS), 4320, 120);
    fixture_free(&f);
}

static void cells_outside_of_the_ball_hold_nothing_and_centres_are_fed(void **state)
{
    double exact[CELLS] = { 0 };
    clo_error err;
    size_t kept = 0;
    (void)state;
    fixture f = grid_with_noise(exact, "empty");
    for (size_t c = 0; c < SIDE; c++) f.grid.counts[c] = -INFINITY;
    assert_ok(clo_i_grid_weigh(f.plan->lines, 1e9, 1, 9, &f.grid, &err), err);
    for (size_t c = 0; c < CELLS; c++) {
        assert_true(c >= SIDE || f.grid.weights[c] == 0);
        kept += f.grid.weights[c] > 0;
    }
    assert_true(kept >= 9);
    fixture_free(&f);
}

static void records_lie_toward_the_fuller_neighbour(void **state)
{
    double exact[CELLS] = { 0 }, middle[2], point[2];
    const size_t cell = 5 * SIDE + 5, corner = 0;
    (void)state;
    fixture f = grid_with_noise(exact, "slope");
    const double width = 2.0 / SIDE;
    for (size_t c = 0; c < CELLS; c++) f.grid.weights[c] = 10 + (double)(c % SIDE);
    clo_i_cell_center(f.plan->lines, cell, middle);
    clo_i_grid_point(f.plan->lines, &f.grid, cell, point);
    assert_close(point[0], middle[0], 1e-12);
    assert_close(point[1], middle[1] + width / (12 * 15), 1e-9); /* of a slope of 1 in 15 */
    f.grid.weights[cell + 1] = 1e9;
    clo_i_grid_point(f.plan->lines, &f.grid, cell, point);
    assert_close(point[1], middle[1] + 0.3 * width, 1e-9); /* no farther, and in its cell */
    f.grid.weights[corner + 1] = f.grid.weights[corner + SIDE] = f.grid.weights[corner];
    clo_i_cell_center(f.plan->lines, corner, middle);
    clo_i_grid_point(f.plan->lines, &f.grid, corner, point);
    assert_close(point[0], middle[0], 1e-12); /* what is beyond the edge is not known */
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_holds_the_mean_of_what_may_be),
        cmocka_unit_test(far_out_the_mean_is_still_a_number),
        cmocka_unit_test(noise_alone_is_taken_out_and_records_stay),
        cmocka_unit_test(rows_that_do_not_count_are_not_made_up),
        cmocka_unit_test(cells_outside_of_the_ball_hold_nothing_and_centres_are_fed),
        cmocka_unit_test(records_lie_toward_the_fuller_neighbour),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
