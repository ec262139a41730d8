/*
 * test_solve_ssc.c - sparse codes against the conditions that make them the best and against plain
 * proximal gradients, and whole runs.
 */
#include "solve_codes.h"
#include <cloister/solve.h>

enum { N = 30, D = 6 };

static clo_ssc_options tight(void)
{
    clo_ssc_options options = clo_i_ssc_default();
    options.tolerance = 1e-9;
    options.iterations = 100000;
    return options;
}

static clo_codes codes_of(const double *rows, size_t n, size_t d, clo_ssc_options options)
{
    clo_error err;
    clo_codes codes = { 0 };
    const clo_solver_input job = job_of(rows, n, d, NULL);
    assert_ok(clo_i_ssc_codes(&job, &options, &codes, &err), err);
    return codes;
}

/* alpha over the smallest of the points' largest inner products. */
static double lambda_of(const double *unit, double alpha)
{
    double least = INFINITY;
    for (size_t i = 0; i < N; i++) {
        double most = 0;
        for (size_t j = 0; j < N; j++)
            if (j != i) most = fmax(most, fabs(codes_dot(unit + i * D, unit + j * D, D)));
        least = fmin(least, most);
    }
    return alpha / least;
}

/* |c|_1 + lambda/2 |x_i - Xc|^2 by accelerated proximal gradients: nothing in common with ADMM. */
static void descend(const double *unit, size_t i, double lambda, double *c)
{
    const double step = 1 / (lambda * N);
    double ahead[N] = { 0 }, rest[D], weight = 1;
    memset(c, 0, N * sizeof *c);
    for (int n = 0; n < 60000; n++) {
        const double next = (1 + sqrt(1 + 4 * weight * weight)) / 2;
        codes_rest(unit + i * D, unit, ahead, N, D, rest);
        for (size_t j = 0; j < N; j++) {
            const double to = ahead[j] + step * lambda * codes_dot(unit + j * D, rest, D);
            const double size = fmax(fabs(to) - step, 0), old = c[j];
            c[j] = j == i ? 0 : copysign(size, to);
            ahead[j] = c[j] + (weight - 1) / next * (c[j] - old);
        }
        weight = next;
    }
}

static double objective(const double *unit, size_t i, double lambda, const double *c)
{
    double rest[D], sum = 0;
    codes_rest(unit + i * D, unit, c, N, D, rest);
    for (size_t j = 0; j < N; j++) sum += fabs(c[j]);
    return sum + lambda / 2 * codes_dot(rest, rest, D);
}

static void the_codes_are_those_of_a_plain_convex_solver(void **state)
{
    double *const rows = flats_rows((flats_data){ N, D, 3, 2, 0.05, 0 }, 5, NULL);
    double *const unit = codes_unit_rows(rows, N, D);
    const double lambda = lambda_of(unit, 20);
    clo_codes codes = codes_of(rows, N, D, tight());
    for (size_t i = 0; i < N; i += 7) {
        double c[N], other[N];
        codes_row(&codes, i, c);
        descend(unit, i, lambda, other);
        const double best = objective(unit, i, lambda, other);
        assert_true(objective(unit, i, lambda, c) <= best * (1 + 1e-6));
        for (size_t j = 0; j < N; j++) assert_close(c[j], other[j], 1e-3);
    }
    clo_i_codes_free(&codes);
    free(unit);
    free(rows);
}

/* Slopes are 1 with the sign of the code, at most 1 where it is 0; nu is the slope of the sum.
 * Beyond the knee an entry of the rest pulls no more than at it. */
static void assert_best(const double *points, size_t i, double lambda, double knee, const double *c,
                        bool affine)
{
    double rest[D], nu = 0, sum = 0;
    size_t used = 0;
    codes_rest(points + i * D, points, c, N, D, rest);
    for (size_t k = 0; k < D; k++) rest[k] = fmax(fmin(rest[k], knee), -knee);
    for (size_t j = 0; affine && j < N; j++) {
        sum += c[j];
        if (c[j] == 0) continue;
        nu += lambda * codes_dot(points + j * D, rest, D) - copysign(1, c[j]);
        used++;
    }
    if (affine) assert_close(sum, 1, 1e-6);
    nu = used ? nu / (double)used : 0;
    for (size_t j = 0; j < N; j++) {
        const double slope = lambda * codes_dot(points + j * D, rest, D) - nu;
        if (j == i)
            assert_true(c[j] == 0);
        else if (c[j] != 0)
            assert_close(slope, copysign(1, c[j]), 1e-6);
        else
            assert_true(fabs(slope) <= 1 + 1e-6);
    }
}

static void assert_optimal(const double *points, size_t i, double lambda, const double *c,
                           bool affine)
{
    assert_best(points, i, lambda, INFINITY, c, affine);
}

static void the_codes_meet_the_conditions_of_the_best(void **state)
{
    const double alphas[] = { 2, 20, 800 };
    double *const rows = flats_rows((flats_data){ N, D, 3, 2, 0.05, 0 }, 6, NULL);
    double *const unit = codes_unit_rows(rows, N, D);
    for (size_t a = 0; a < 3; a++) {
        clo_ssc_options options = tight();
        options.alpha = alphas[a];
        clo_codes codes = codes_of(rows, N, D, options);
        for (size_t i = 0; i < N; i++) {
            double c[N];
            codes_row(&codes, i, c);
            assert_optimal(unit, i, lambda_of(unit, alphas[a]), c, false);
        }
        clo_i_codes_free(&codes);
    }
    free(unit);
    free(rows);
}

static void affine_codes_sum_to_one_and_are_the_best(void **state)
{
    double *const rows = flats_rows((flats_data){ N, D, 3, 2, 0.05, 1 }, 7, NULL);
    clo_ssc_options options = tight();
    double largest = 0;
    options.affine = true;
    clo_codes codes = codes_of(rows, N, D, options);
    for (size_t i = 0; i < N * D; i++) largest = fmax(largest, fabs(rows[i]));
    for (size_t i = 0; i < N * D; i++) rows[i] /= largest; /* as the solver does */
    for (size_t i = 0; i < N; i++) {
        double c[N];
        codes_row(&codes, i, c);
        assert_optimal(rows, i, lambda_of(rows, options.alpha), c, true);
    }
    clo_i_codes_free(&codes);
    free(rows);
}

/* Of 60 rows on two planes of R^20, every fifth has one entry that is far off: what the others do
 * not express of it should be that entry, and nothing else. */
static void the_outlier_term_finds_wrong_entries(void **state)
{
    enum { ROWS = 60, COLS = 20 };
    double *const rows = flats_rows((flats_data){ ROWS, COLS, 2, 2, 0, 0 }, 8, NULL);
    clo_ssc_options options = clo_i_ssc_default();
    for (size_t i = 0; i < ROWS; i += 5) rows[i * COLS + i / 5] += 1.5;
    options.alpha = 200;
    options.outliers = 6;
    clo_codes codes = codes_of(rows, ROWS, COLS, options);
    for (size_t i = 0; i < ROWS; i += 5) {
        double c[ROWS], rest[COLS], others = 0;
        codes_row(&codes, i, c);
        codes_rest(rows + i * COLS, rows, c, ROWS, COLS, rest);
        for (size_t k = 0; k < COLS; k++) others += k == i / 5 ? 0 : fabs(rest[k]);
        assert_true(fabs(rest[i / 5]) > 0.3);
        assert_true(others < 0.2 * fabs(rest[i / 5]));
    }
    clo_i_codes_free(&codes);
    free(rows);
}

/* The model with a sparse error, on rows as they are: by the knee of Huber's function the error is
 * gone, and the slopes are those of the rest, clipped. */
static void codes_with_outliers_are_the_best(void **state)
{
    const double alphas[] = { 20, 20, 800 }, weights[] = { 20, 5, 5 };
    for (size_t s = 0; s < 6; s++) {
        double *const rows =
            flats_rows((flats_data){ N, D, 3, 2, 0.05, (int)s % 2 }, 40 + (int)s, NULL);
        clo_ssc_options options = tight();
        double largest = 0, norm = 0;
        options.alpha = alphas[s / 2];
        options.outliers = weights[s / 2];
        options.affine = s % 2;
        for (size_t i = 0; i < N; i += 4) rows[i * D + i % D] += 2; /* wrong entries */
        for (size_t c = 0; c < D; c++) rows[3 * D + c] *= 0.05;     /* a dark row */
        for (size_t i = 0; i < N * D; i++) largest = fmax(largest, fabs(rows[i]));
        clo_codes codes = codes_of(rows, N, D, options);
        for (size_t i = 0; i < N * D; i++) rows[i] /= largest; /* as the solver does */
        for (size_t i = 0; i < N; i++) {
            double sum = 0;
            for (size_t c = 0; c < D; c++) sum += fabs(rows[i * D + c]);
            norm = fmax(norm, sum);
        }
        const double lambda = lambda_of(rows, options.alpha);
        for (size_t i = 0; i < N; i++) {
            double c[N];
            codes_row(&codes, i, c);
            assert_best(rows, i, lambda, options.outliers / norm / lambda, c, options.affine);
        }
        clo_i_codes_free(&codes);
        free(rows);
    }
}

#ifdef CLO_FAULT_INJECTION /* which lets allocations be watched */

/* What a thread holds follows the rows and the codes, not the square of the rank for each row of a
 * block: that was 1.3 GB for 640 pictures. */
static size_t asked_for;
static void count_bytes(size_t bytes)
{
    asked_for += bytes;
}

static void memory_follows_the_data(void **state)
{
    enum { ROWS = 128, COLS = 300 };
    for (int outliers = 0; outliers < 2; outliers++) {
        double *const rows = flats_rows((flats_data){ ROWS, COLS, 4, 5, 0.05, 0 }, 71, NULL);
        clo_ssc_options options = clo_i_ssc_default();
        options.outliers = outliers ? 20 : 0;
        asked_for = 0;
        clo_i_watch_allocations(count_bytes);
        clo_codes codes = codes_of(rows, ROWS, COLS, options);
        clo_i_watch_allocations(NULL);
        assert_true(asked_for < 20 * ROWS * COLS * sizeof(double));
        clo_i_codes_free(&codes);
        free(rows);
    }
}

#endif

/* A heavy weight asks for codes as long as there are rows.  That ends, and long before its end a
 * stop is heard, within the one block that there is. */
static void a_heavy_weight_ends_and_a_stop_is_heard_within_a_block(void **state)
{
    enum { ROWS = 48, COLS = 60 };
    clo_error err;
    double *const rows = flats_rows((flats_data){ ROWS, COLS, 2, 5, 0.2, 0 }, 72, NULL);
    for (int outliers = 0; outliers < 2; outliers++) {
        clo_ssc_options options = clo_i_ssc_default();
        clo_solver_input job = job_of(rows, ROWS, COLS, NULL);
        clo_codes codes = { 0 };
        int left = 30;
        options.alpha = 1e6;
        options.outliers = outliers ? 1e3 : 0;
        options.iterations = 100;
        assert_ok(clo_i_ssc_codes(&job, &options, &codes, &err), err);
        clo_i_codes_free(&codes);
        job.progress = job_countdown;
        job.user = &left;
        assert_fails(clo_i_ssc_codes(&job, &options, &codes, &err), CLO_CANCELLED, err, "stopped");
    }
    free(rows);
}

static void the_same_codes_on_any_number_of_threads(void **state)
{
    clo_error err;
    double *const rows = flats_rows((flats_data){ 300, 12, 3, 2, 0.05, 0 }, 9, NULL);
    const clo_ssc_options options = clo_i_ssc_default();
    clo_codes codes[2] = { { 0 }, { 0 } };
    for (int t = 0; t < 2; t++) {
        clo_solver_input job = job_of(rows, 300, 12, NULL);
        job.threads = t + 1;
        assert_ok(clo_i_ssc_codes(&job, &options, &codes[t], &err), err);
    }
    assert_same_codes(&codes[0], &codes[1]);
    for (int t = 0; t < 2; t++) clo_i_codes_free(&codes[t]);
    free(rows);
}

static void bears_duplicates_zeros_and_few_rows(void **state)
{
    const double rows[] = { 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 2, 0 };
    for (size_t n = 1; n <= 6; n++)
        for (int affine = 0; affine < 2; affine++) {
            clo_ssc_options options = clo_i_ssc_default();
            options.affine = affine;
            clo_codes codes = codes_of(rows, n, 3, options);
            for (size_t at = 0; at < codes.starts[n]; at++) assert_true(isfinite(codes.values[at]));
            if (!affine && n > 3) assert_int_equal(codes.starts[4], codes.starts[3]);
            if (!affine && n == 2) assert_close(codes.values[0], 0.95, 1e-9);
            clo_i_codes_free(&codes);
        }
}

static void finds_the_subspaces(void **state)
{
    clo_error err;
    const flats_data shapes[] = { { 200, 20, 4, 3, 0.01, 0 }, { 200, 20, 4, 3, 0.01, 2 } };
    for (size_t s = 0; s < 2; s++) {
        uint32_t truth[200];
        double *const rows = flats_rows(shapes[s], 17, truth);
        clo_rng *const rng = job_rng("ssc");
        const clo_solver_input job = job_of(rows, 200, 20, rng);
        clo_partition out = { 0 };
        assert_ok(job_solve(&clo_i_solver_ssc, &job, (double[]){ 4, 3, s > 0 }, 3, &out, &err),
                  err);
        assert_true(job_same_partition(out.labels, truth, 200));
        clo_i_partition_free(&out);
        clo_rng_free(rng);
        free(rows);
    }
}

static void it_can_be_stopped_and_failing_allocations_leak_nothing(void **state)
{
    clo_error err;
    clo_rng *const rng = job_rng("stop");
    double *const rows = flats_rows((flats_data){ 60, 8, 2, 2, 0.05, 0 }, 61, NULL);
    clo_solver_input job = job_of(rows, 60, 8, rng);
    clo_partition out = { .cost = -1 };
    int left = 1;
    job.progress = job_countdown;
    job.user = &left;
    assert_fails(job_solve(&clo_i_solver_ssc, &job, (double[]){ 2, 2 }, 2, &out, &err),
                 CLO_CANCELLED, err, "stopped");
    assert_true(out.cost == -1 && !out.labels);
    job.progress = NULL;
    job_survives_failing_allocations(&clo_i_solver_ssc, &job, (double[]){ 2, 2 }, 2);
    job_survives_failing_allocations(&clo_i_solver_ssc, &job, (double[]){ 2, 2, 0, 20, 20 }, 5);
    clo_rng_free(rng);
    free(rows);
}

static void refuses_a_weight_that_would_express_nothing(void **state)
{
    clo_error err;
    clo_params *params = NULL;
    assert_ok(clo_solver_params_new(clo_solver_find("ssc"), &params, &err), err);
    assert_fails(clo_params_set(params, "alpha", 0.5, &err), CLO_ARGUMENT, err, "alpha");
    clo_params_free(params);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_codes_are_those_of_a_plain_convex_solver),
        cmocka_unit_test(the_codes_meet_the_conditions_of_the_best),
        cmocka_unit_test(affine_codes_sum_to_one_and_are_the_best),
        cmocka_unit_test(the_outlier_term_finds_wrong_entries),
        cmocka_unit_test(codes_with_outliers_are_the_best),
#ifdef CLO_FAULT_INJECTION
        cmocka_unit_test(memory_follows_the_data),
#endif
        cmocka_unit_test(a_heavy_weight_ends_and_a_stop_is_heard_within_a_block),
        cmocka_unit_test(the_same_codes_on_any_number_of_threads),
        cmocka_unit_test(bears_duplicates_zeros_and_few_rows),
        cmocka_unit_test(finds_the_subspaces),
        cmocka_unit_test(it_can_be_stopped_and_failing_allocations_leak_nothing),
        cmocka_unit_test(refuses_a_weight_that_would_express_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
