/*
 * test_solve_tsc.c - thresholding: planted subspaces, the affinity against its definition, rows
 * without a direction, more neighbours than there are.
 */
#include "solve_job.h"
#include "linalg/linalg.h"

/* Row i lies near subspace i % k, of dimension q. */
static double *planted(size_t n, size_t d, size_t k, size_t q, double noise, uint64_t seed)
{
    double *const bases = job_need(k * d * q, sizeof *bases);
    double *const rows = job_need(n * d, sizeof *rows);
    for (size_t i = 0; i < k * d * q; i++) bases[i] = job_normal(&seed);
    for (size_t c = 0; c < k; c++)
        assert_int_equal(clo_i_orthonormalize(bases + c * d * q, d, q, NULL), CLO_OK);
    for (size_t i = 0; i < n; i++)
        for (size_t e = 0; e < q; e++) {
            const double along = job_normal(&seed);
            for (size_t j = 0; j < d; j++)
                rows[i * d + j] += along * bases[(i % k * d + j) * q + e] +
                                   (e == 0 ? noise * job_normal(&seed) : 0);
        }
    free(bases);
    return rows;
}

static void recovers_planted_subspaces(void **state)
{
    (void)state;
    const size_t n = 600, d = 20, k = 4, q = 3;
    double *const rows = planted(n, d, k, q, 0.02, 5);
    uint32_t *const truth = job_need(n, sizeof *truth);
    for (size_t i = 0; i < n; i++) truth[i] = (uint32_t)(i % k);
    for (int threads = 1; threads <= 2; threads++) {
        clo_rng *const rng = job_rng("planted");
        clo_solver_input job = job_of(rows, n, d, rng);
        clo_partition out = { 0 };
        clo_error err;
        job.threads = threads;
        assert_ok(job_solve(clo_solver_find("tsc"), &job, (double[]){ k, q }, 2, &out, &err), err);
        assert_true(job_same_partition(out.labels, truth, n));
        assert_close(out.cost, 0.0004 * (double)(d - q), 0.001);
        assert_true(out.width == q && out.bases && !out.offsets);
        clo_i_partition_free(&out);
        clo_rng_free(rng);
    }
    free(rows);
    free(truth);
}

static int falling(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return a > b ? -1 : a < b;
}

static void the_affinity_is_what_its_definition_says(void **state)
{
    (void)state;
    enum { N = 150, D = 4, S = 6 }; /* the logarithm of N, rounded up */
    double *const rows = planted(N, D, 2, 2, 0.3, 9), *const expected = job_need(N * N, 8);
    double products[N], sorted[N];
    clo_affinity affinity = { 0 };
    clo_error err;
    const clo_solver_input job = job_of(rows, N, D, NULL);
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < N; j++) {
            double dot = 0, a = 0, b = 0;
            for (size_t e = 0; e < D; e++) {
                dot += rows[i * D + e] * rows[j * D + e];
                a += rows[i * D + e] * rows[i * D + e];
                b += rows[j * D + e] * rows[j * D + e];
            }
            products[j] = i == j ? -1 : fabs(dot) / sqrt(a * b);
        }
        memcpy(sorted, products, sizeof sorted);
        qsort(sorted, N, sizeof *sorted, falling);
        for (size_t j = 0; j < N; j++)
            if (products[j] >= sorted[S - 1]) {
                expected[i * N + j] += exp(-2 * acos(fmin(products[j], 1)));
                expected[j * N + i] += exp(-2 * acos(fmin(products[j], 1)));
            }
    }
    assert_ok(clo_i_tsc_affinity(&job, 1, &affinity, &err), err);
    for (size_t i = 0; i < N; i++)
        for (size_t e = affinity.starts[i]; e < affinity.starts[i + 1]; e++) {
            assert_close(affinity.weights[e], expected[i * N + affinity.columns[e]], 1e-7);
            expected[i * N + affinity.columns[e]] = 0;
        }
    for (size_t i = 0; i < N * N; i++) assert_true(expected[i] == 0);
    clo_i_affinity_free(&affinity);
    free(rows);
    free(expected);
}

static void equal_rows_zero_rows_and_too_many_neighbours_are_no_trouble(void **state)
{
    (void)state;
    const size_t n = 30;
    double *const rows = job_need(n * 3, sizeof *rows);
    for (size_t i = 0; i < n; i++) /* two lines, many times the same row, and five zeros */
        if (i % 6) rows[i * 3 + i % 2] = i < 20 ? 2 : -1e-300;
    clo_rng *const rng = job_rng("odd");
    const clo_solver_input job = job_of(rows, n, 3, rng);
    for (double neighbours = 1; neighbours <= 1e6; neighbours *= 10) {
        clo_partition out = { 0 };
        clo_error err;
        assert_ok(job_solve(clo_solver_find("tsc"), &job, (double[]){ 2, 1, 0, neighbours }, 4,
                            &out, &err),
                  err);
        for (size_t i = 0; i < n; i++) assert_true(out.labels[i] < 2);
        if (neighbours > 1) {
            assert_close(out.cost, 0, 1e-20);
            for (size_t i = 0; i < n; i++)
                if (i % 6) assert_int_equal(out.labels[i], out.labels[i % 2 ? 1 : 2]);
        }
        clo_i_partition_free(&out);
    }
    memset(rows, 0, n * 3 * sizeof *rows);
    clo_partition out = { 0 };
    clo_error err;
    assert_ok(job_solve(clo_solver_find("tsc"), &job, (double[]){ 2, 1 }, 2, &out, &err), err);
    assert_true(out.cost == 0);
    clo_i_partition_free(&out);
    clo_rng_free(rng);
    free(rows);
}

static void it_can_be_stopped_and_failing_allocations_leak_nothing(void **state)
{
    (void)state;
    const clo_solver *const solver = clo_solver_find("tsc");
    double *const rows = planted(60, 6, 2, 2, 0.1, 3);
    clo_rng *const rng = job_rng("stop");
    clo_solver_input job = job_of(rows, 60, 6, rng);
    clo_partition out = { .cost = -1 };
    clo_error err;
    job_survives_failing_allocations(solver, &job, (double[]){ 2, 2 }, 2);
    assert_fails(job_solve(solver, &job, (double[]){ 61 }, 1, &out, &err), CLO_ARGUMENT, err,
                 "fewer than the 61 clusters");
    for (int after = 1; after < 4; after++) {
        int left = after;
        job.progress = job_countdown;
        job.user = &left;
        assert_fails(job_solve(solver, &job, (double[]){ 2 }, 1, &out, &err), CLO_CANCELLED, err,
                     NULL);
    }
    assert_true(out.cost == -1 && !out.labels);
    clo_rng_free(rng);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recovers_planted_subspaces),
        cmocka_unit_test(the_affinity_is_what_its_definition_says),
        cmocka_unit_test(equal_rows_zero_rows_and_too_many_neighbours_are_no_trouble),
        cmocka_unit_test(it_can_be_stopped_and_failing_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
