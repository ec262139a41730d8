/*
 * test_solve_lsr.c - least squares representation against its normal equations, and whole runs.
 */
#include "solve_flats.h"
#include "solver/affinity/lowrank.h"
#include "linalg/linalg.h"
#include <cloister/solve.h>

enum { N = 30, D = 7 };
enum { CLUSTERS, DIM, FLATS, LAMBDA, DIAGONAL, GIVEN };

/* Solves (A'A + lambda I) c = A'x_i for the points A that may express point i: all, or all others.
 * This is the definition; the solver never forms such a system. */
static void regress(const double *rows, size_t i, double lambda, bool itself, double *c)
{
    clo_error err;
    double system[N * N], right[N];
    for (size_t a = 0; a < N; a++) {
        for (size_t b = 0; b < N; b++) {
            double sum = a == b ? lambda : 0;
            for (size_t k = 0; k < D; k++) sum += rows[a * D + k] * rows[b * D + k];
            const bool out = !itself && (a == i || b == i);
            system[a * N + b] = out ? a == b : sum;
        }
        right[a] = 0;
        for (size_t k = 0; k < D; k++) right[a] += rows[a * D + k] * rows[i * D + k];
    }
    if (!itself) right[i] = 0;
    assert_ok(clo_i_solve_positive(system, N, right, &err), err);
    memcpy(c, right, sizeof right);
}

/* As the solver makes it with presets but for two. */
static clo_status affinity_of(const clo_solver_input *job, double lambda, bool itself,
                              clo_affinity *out, clo_error *err)
{
    const clo_solver *const lsr = &clo_i_solver_lsr;
    double values[16];
    size_t at;
    for (size_t i = 0; i < lsr->param_count; i++) values[i] = lsr->params[i].preset;
    assert_true(clo_i_param_find(lsr->params, lsr->param_count, "lambda", &at));
    values[at] = lambda;
    assert_true(clo_i_param_find(lsr->params, lsr->param_count, "diagonal", &at));
    values[at] = itself;
    return clo_i_lsr_affinity(job, values, out, err);
}

static void check_normal_equations(double lambda, bool itself)
{
    clo_error err;
    double *const rows = flats_rows((flats_data){ N, D, 3, 2, 0.05, 0 }, 3, NULL);
    const clo_solver_input job = job_of(rows, N, D, NULL);
    clo_affinity affinity = { 0 };
    double c[N * N];
    for (size_t i = 0; i < N; i++) regress(rows, i, lambda, itself, c + i * N);
    assert_ok(affinity_of(&job, lambda, itself, &affinity, &err), err);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            const double expected = (fabs(c[i * N + j]) + fabs(c[j * N + i])) / 2;
            assert_close(affinity.dense[i * N + j], i == j ? 0 : expected, 1e-10);
        }
    clo_i_affinity_free(&affinity);
    free(rows);
}

static void the_coefficients_solve_the_normal_equations(void **state)
{
    check_normal_equations(0.01, true);
    check_normal_equations(3, true);
}

static void without_the_point_itself_too(void **state)
{
    check_normal_equations(0.01, false);
    check_normal_equations(3, false);
}

static void finds_separate_subspaces_on_any_number_of_threads(void **state)
{
    clo_error err;
    const flats_data shapes[] = { { 300, 20, 4, 3, 0.001, 0 }, { 300, 20, 4, 3, 0.001, 2 } };
    for (size_t s = 0; s < 2; s++) {
        uint32_t truth[300];
        double *const rows = flats_rows(shapes[s], 17, truth);
        const double values[] = { 4, 3, shapes[s].offset > 0 };
        double costs[2];
        for (int threads = 1; threads <= 2; threads++) {
            clo_rng *const rng = job_rng("lsr");
            clo_solver_input job = job_of(rows, 300, 20, rng);
            clo_partition out = { 0 };
            job.threads = threads;
            assert_ok(job_solve(&clo_i_solver_lsr, &job, values, 3, &out, &err), err);
            assert_true(job_same_partition(out.labels, truth, 300));
            costs[threads - 1] = out.cost;
            clo_i_partition_free(&out);
            clo_rng_free(rng);
        }
        assert_same_doubles(&costs[1], &costs[0], 1);
        free(rows);
    }
}

static void scaling_the_data_changes_nothing(void **state)
{
    clo_error err;
    double *const rows = flats_rows((flats_data){ N, D, 3, 2, 0.05, 0 }, 3, NULL);
    const clo_solver_input job = job_of(rows, N, D, NULL);
    clo_affinity before = { 0 }, after = { 0 };
    assert_ok(affinity_of(&job, 0, false, &before, &err), err);
    for (size_t i = 0; i < N * D; i++) rows[i] *= 1e-150;
    assert_ok(affinity_of(&job, 0, false, &after, &err), err);
    for (size_t i = 0; i < N * N; i++) assert_close(after.dense[i], before.dense[i], 1e-10);
    clo_i_affinity_free(&before);
    clo_i_affinity_free(&after);
    free(rows);
}

static void it_can_be_stopped_and_failing_allocations_leak_nothing(void **state)
{
    clo_error err;
    clo_rng *const rng = job_rng("stop");
    double *const rows = flats_rows((flats_data){ 60, 8, 2, 2, 0.05, 0 }, 61, NULL);
    clo_solver_input job = job_of(rows, 60, 8, rng);
    clo_partition out = { .cost = -1 };
    job.progress = job_countdown;
    for (int calls = 1; calls <= 2; calls++) {
        int left = calls;
        job.user = &left;
        assert_fails(job_solve(&clo_i_solver_lsr, &job, (double[]){ 2, 2 }, 2, &out, &err),
                     CLO_CANCELLED, err, "stopped");
        assert_true(out.cost == -1 && !out.labels);
    }
    job.progress = NULL;
    job_survives_failing_allocations(&clo_i_solver_lsr, &job, (double[]){ 2, 2 }, 2);
    clo_rng_free(rng);
    free(rows);
}

static void refuses_what_it_cannot_do(void **state)
{
    clo_error err;
    double rows[12] = { 0 };
    const clo_solver_input job = job_of(rows, 6, 2, NULL);
    clo_affinity out = { 0 };
    clo_params *params = NULL;
    assert_fails(affinity_of(&job, 0, false, &out, &err), CLO_ARGUMENT, err, "all rows are zero");
    assert_null(out.dense);
    assert_ok(clo_solver_params_new(clo_solver_find("lsr"), &params, &err), err);
    assert_fails(clo_params_set_text(params, "diagonal", "one", &err), CLO_ARGUMENT, err,
                 "zero|free");
    assert_fails(clo_params_set(params, "lambda", -1, &err), CLO_ARGUMENT, err, "lambda");
    clo_params_free(params);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_coefficients_solve_the_normal_equations),
        cmocka_unit_test(without_the_point_itself_too),
        cmocka_unit_test(finds_separate_subspaces_on_any_number_of_threads),
        cmocka_unit_test(scaling_the_data_changes_nothing),
        cmocka_unit_test(it_can_be_stopped_and_failing_allocations_leak_nothing),
        cmocka_unit_test(refuses_what_it_cannot_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
