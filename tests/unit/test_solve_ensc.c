/*
 * test_solve_ensc.c - elastic net codes against the conditions that make them the best, and whole
 * runs.
 */
#include "solve_codes.h"
#include <cloister/solve.h>

enum { N = 200, D = 8 };
static const clo_ensc_options USUAL = { .mixing = 0.9, .gamma = 50, .tolerance = 1e-4 };

static clo_codes codes_of(const double *rows, size_t n, size_t d, clo_ensc_options options,
                          int threads)
{
    clo_error err;
    clo_codes codes = { 0 };
    clo_solver_input job = job_of(rows, n, d, NULL);
    job.threads = threads;
    assert_ok(clo_i_ensc_codes(&job, &options, &codes, &err), err);
    return codes;
}

static void assert_optimal(const double *unit, size_t i, clo_ensc_options options, const double *c)
{
    const double lambda = options.mixing;
    double rest[D], most = 0;
    for (size_t j = 0; j < N; j++)
        if (j != i) most = fmax(most, fabs(codes_dot(unit + i * D, unit + j * D, D)));
    const double gamma = options.gamma * lambda / most;
    codes_rest(unit + i * D, unit, c, N, D, rest);
    for (size_t j = 0; j < N; j++) {
        const double slope = gamma * codes_dot(unit + j * D, rest, D) - (1 - lambda) * c[j];
        if (j == i)
            assert_true(c[j] == 0);
        else if (c[j] != 0)
            assert_close(slope, copysign(lambda, c[j]), 1e-6);
        else
            assert_true(fabs(slope) <= lambda + 1e-6);
    }
}

/* 200 rows in 8 dimensions: the active set has to grow more than once. */
static void the_codes_meet_the_conditions_of_the_best(void **state)
{
    const double mixings[] = { 0.3, 0.9, 1 }, gammas[] = { 5, 50, 500 };
    double *const rows = flats_rows((flats_data){ N, D, 3, 2, 0.05, 0 }, 6, NULL);
    double *const unit = codes_unit_rows(rows, N, D);
    for (size_t a = 0; a < 9; a++) {
        const clo_ensc_options options = { .mixing = mixings[a / 3],
                                           .gamma = gammas[a % 3],
                                           .tolerance = 1e-9 };
        clo_codes codes = codes_of(rows, N, D, options, 1);
        for (size_t i = 0; i < N; i++) {
            double c[N];
            codes_row(&codes, i, c);
            assert_optimal(unit, i, options, c);
        }
        clo_i_codes_free(&codes);
    }
    free(unit);
    free(rows);
}

static void bears_duplicates_zeros_and_few_rows(void **state)
{
    const double rows[] = { 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 2, 0 };
    for (size_t n = 1; n <= 6; n++) {
        clo_codes codes = codes_of(rows, n, 3, USUAL, 1);
        for (size_t at = 0; at < codes.starts[n]; at++) assert_true(isfinite(codes.values[at]));
        /* gamma = 45, and (gamma - .9) / (gamma + .1) */
        if (n == 2) assert_close(codes.values[0], 44.1 / 45.1, 1e-4);
        if (n > 3) assert_int_equal(codes.starts[4], codes.starts[3]);
        clo_i_codes_free(&codes);
    }
}

static void the_same_codes_on_any_number_of_threads(void **state)
{
    double *const rows = flats_rows((flats_data){ 300, 12, 3, 2, 0.05, 0 }, 9, NULL);
    clo_codes one = codes_of(rows, 300, 12, USUAL, 1);
    clo_codes two = codes_of(rows, 300, 12, USUAL, 2);
    assert_same_codes(&one, &two);
    clo_i_codes_free(&one);
    clo_i_codes_free(&two);
    free(rows);
}

static void finds_the_subspaces(void **state)
{
    clo_error err;
    uint32_t truth[200];
    double *const rows = flats_rows((flats_data){ 200, 20, 4, 3, 0.01, 0 }, 17, truth);
    clo_rng *const rng = job_rng("ensc");
    const clo_solver_input job = job_of(rows, 200, 20, rng);
    clo_partition out = { 0 };
    assert_ok(job_solve(&clo_i_solver_ensc, &job, (double[]){ 4, 3 }, 2, &out, &err), err);
    assert_true(job_same_partition(out.labels, truth, 200));
    clo_i_partition_free(&out);
    clo_rng_free(rng);
    free(rows);
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
    assert_fails(job_solve(&clo_i_solver_ensc, &job, (double[]){ 2, 2 }, 2, &out, &err),
                 CLO_CANCELLED, err, "stopped");
    assert_true(out.cost == -1 && !out.labels);
    job.progress = NULL;
    job_survives_failing_allocations(&clo_i_solver_ensc, &job, (double[]){ 2, 2 }, 2);
    clo_rng_free(rng);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_codes_meet_the_conditions_of_the_best),
        cmocka_unit_test(bears_duplicates_zeros_and_few_rows),
        cmocka_unit_test(the_same_codes_on_any_number_of_threads),
        cmocka_unit_test(finds_the_subspaces),
        cmocka_unit_test(it_can_be_stopped_and_failing_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
