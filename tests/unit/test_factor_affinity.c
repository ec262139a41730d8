/*
 * test_factor_affinity.c - affinities of inner products, whole and thinned, against the definition.
 */
#include "solve_flats.h"
#include "solver/affinity/lowrank.h"

enum { N = 150, WIDTH = 4 };

static double entry(const clo_factor *f, size_t i, size_t j)
{
    double sum = 0;
    for (size_t c = 0; c < f->width; c++)
        sum += f->rows[i * f->width + c] * f->rows[j * f->width + c];
    const double weight = f->scale ? (f->scale[i] + f->scale[j]) / 2 : 1;
    return i == j ? 0 : pow(fabs(sum), f->power) * weight;
}

static clo_factor random_factor(uint64_t seed, double *rows, double *scale, unsigned power)
{
    for (size_t i = 0; i < N * WIDTH; i++) rows[i] = job_normal(&seed);
    for (size_t i = 0; i < N; i++) scale[i] = 1 + fabs(job_uniform(&seed));
    return (clo_factor){ N, WIDTH, rows, scale, power };
}

static clo_affinity make(const clo_factor *f, size_t neighbours, int threads)
{
    clo_error err;
    clo_solver_input job = job_of(NULL, N, 0, NULL);
    clo_affinity out = { 0 };
    job.threads = threads;
    assert_ok(clo_i_factor_affinity(&job, f, neighbours, &out, &err), err);
    return out;
}

static void the_whole_is_as_defined_and_symmetric(void **state)
{
    double rows[N * WIDTH], scale[N];
    for (unsigned power = 1; power <= 6; power++) {
        clo_factor f = random_factor(power, rows, scale, power);
        if (power % 2) f.scale = NULL;
        clo_affinity one = make(&f, 0, 1), two = make(&f, 0, 3);
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < N; j++) {
                const double expected = entry(&f, i, j);
                assert_close(one.dense[i * N + j], expected, 1e-12 * (1 + expected));
                assert_true(one.dense[i * N + j] == one.dense[j * N + i]);
            }
        assert_same_doubles(two.dense, one.dense, N * N);
        clo_i_affinity_free(&one);
        clo_i_affinity_free(&two);
    }
}

/* How many entries of row i are larger than the one at j. */
static size_t larger(const clo_factor *f, size_t i, size_t j)
{
    size_t count = 0;
    for (size_t c = 0; c < N; c++) count += c != i && entry(f, i, c) > entry(f, i, j);
    return count;
}

static void the_thinned_one_has_the_largest_of_each_row(void **state)
{
    enum { KEPT = 7 };
    double rows[N * WIDTH], scale[N];
    const clo_factor f = random_factor(5, rows, scale, 2);
    clo_affinity one = make(&f, KEPT, 1), two = make(&f, KEPT, 3);
    assert_null(one.dense);
    for (size_t i = 0; i < N; i++) {
        bool there[N] = { false };
        for (size_t at = one.starts[i]; at < one.starts[i + 1]; at++) there[one.columns[at]] = true;
        for (size_t j = 0; j < N; j++) {
            const bool wanted = i != j && (larger(&f, i, j) < KEPT || larger(&f, j, i) < KEPT);
            assert_int_equal(there[j], wanted);
        }
    }
    assert_int_equal(two.starts[N], one.starts[N]);
    assert_same_doubles(two.weights, one.weights, one.starts[N]);
    clo_i_affinity_free(&one);
    clo_i_affinity_free(&two);
}

static void equal_entries_go_to_the_lower_index(void **state)
{
    double rows[N];
    for (size_t i = 0; i < N; i++) rows[i] = 1;
    const clo_factor f = { N, 1, rows, NULL, 2 };
    clo_affinity thin = make(&f, 3, 1);
    /* Each row keeps rows 0, 1, 2 (or 3, where it is one of them); the first have all as
     * neighbours. */
    assert_int_equal(thin.starts[1] - thin.starts[0], N - 1);
    assert_int_equal(thin.starts[N] - thin.starts[N - 1], 3);
    for (size_t j = 0; j < 3; j++) assert_int_equal(thin.columns[thin.starts[N - 1] + j], j);
    clo_i_affinity_free(&thin);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole_is_as_defined_and_symmetric),
        cmocka_unit_test(the_thinned_one_has_the_largest_of_each_row),
        cmocka_unit_test(equal_entries_go_to_the_lower_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
