/*
 * test_affinity.c - affinities from sparse coefficients, against the definition.
 */
#include "solve_job.h"

static void check_against_definition(const double *c, const double *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double left = 0, right = 0;
            for (size_t l = 0; l < n; l++) {
                left = fmax(left, fabs(c[i * n + l]));
                right = fmax(right, fabs(c[j * n + l]));
            }
            const double expected = (left > 0 ? fabs(c[i * n + j]) / left : 0) +
                                    (right > 0 ? fabs(c[j * n + i]) / right : 0);
            assert_close(a[i * n + j], expected, 1e-15);
        }
}

/* Coefficients with many zeros, a row of zeros and no diagonal. */
static double *coefficients(size_t n, uint64_t seed)
{
    double *const c = job_need(n * n, sizeof *c);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            const double value = job_uniform(&seed);
            if (i != j && i != 3 && fabs(value) > 0.6) c[i * n + j] = value * (double)(i + 1);
        }
    return c;
}

static void sparse_coefficients_give_the_same_in_any_order(void **state)
{
    (void)state;
    enum { N = 40 };
    double *const c = coefficients(N, 7), weights[N * N], dense[N * N] = { 0 };
    uint32_t columns[N * N];
    size_t starts[N + 1] = { 0 }, at = 0;
    clo_affinity affinity = { 0 };
    clo_error err;
    for (size_t i = 0; i < N; i++) {
        for (size_t j = N; j-- > 0;) { /* falling, and some zeros written out */
            if (c[i * N + j] == 0 && j % 7 != 1) continue;
            columns[at] = (uint32_t)j;
            weights[at++] = c[i * N + j];
        }
        starts[i + 1] = at;
    }
    assert_ok(clo_i_affinity_from_sparse(starts, columns, weights, N, &affinity, &err), err);
    for (size_t i = 0; i < N; i++)
        for (size_t e = affinity.starts[i]; e < affinity.starts[i + 1]; e++) {
            assert_true(e == affinity.starts[i] || affinity.columns[e - 1] < affinity.columns[e]);
            assert_true(affinity.weights[e] > 0);
            dense[i * N + affinity.columns[e]] = affinity.weights[e];
        }
    check_against_definition(c, dense, N);
    clo_i_affinity_free(&affinity);
    free(c);
}

static void failing_allocations_leak_nothing(void **state)
{
    (void)state;
#ifdef CLO_FAULT_INJECTION
    const size_t starts[] = { 0, 1, 2 };
    const uint32_t columns[] = { 1, 0 };
    const double weights[] = { -2, 3 };
    for (uint64_t n = 1;; n++) {
        clo_affinity out = { .count = 99 };
        clo_i_fail_allocation(n);
        const clo_status status =
            clo_i_affinity_from_sparse(starts, columns, weights, 2, &out, NULL);
        clo_i_fail_allocation(0);
        if (status == CLO_OK) {
            assert_close(out.weights[0], 2, 0);
            clo_i_affinity_free(&out);
            assert_true(n > 5);
            break;
        }
        assert_int_equal(status, CLO_MEMORY);
        assert_true(out.count == 99 && !out.starts);
    }
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sparse_coefficients_give_the_same_in_any_order),
        cmocka_unit_test(failing_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
