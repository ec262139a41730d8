/*
 * test_solve_ssc_omp.c - orthogonal matching pursuit against the textbook's, which solves the
 * normal equations anew at each step, and whole runs.
 */
#include "solve_codes.h"
#include "linalg/linalg.h"
#include <cloister/solve.h>

enum { N = 40, D = 8, MOST = 5 };

static clo_codes codes_of(const double *rows, size_t n, size_t d, size_t sparsity, int threads)
{
    clo_error err;
    clo_codes codes = { 0 };
    clo_solver_input job = job_of(rows, n, d, NULL);
    job.threads = threads;
    const clo_omp_options options = { .sparsity = sparsity, .tolerance = 1e-6 };
    assert_ok(clo_i_ssc_omp_codes(&job, &options, &codes, &err), err);
    return codes;
}

static void fit(const double *unit, size_t i, const size_t *taken, size_t count, double *c)
{
    double system[MOST * MOST], right[MOST];
    clo_error err;
    for (size_t a = 0; a < count; a++) {
        for (size_t b = 0; b < count; b++)
            system[a * count + b] = codes_dot(unit + taken[a] * D, unit + taken[b] * D, D);
        right[a] = codes_dot(unit + taken[a] * D, unit + i * D, D);
    }
    assert_ok(clo_i_solve_positive(system, count, right, &err), err);
    memset(c, 0, N * sizeof *c);
    for (size_t a = 0; a < count; a++) c[taken[a]] = right[a];
}

static void textbook(const double *unit, size_t i, double *c)
{
    size_t taken[MOST];
    double rest[D];
    memset(c, 0, N * sizeof *c);
    for (size_t count = 0; count < MOST;) {
        double most = -1;
        codes_rest(unit + i * D, unit, c, N, D, rest);
        if (codes_dot(rest, rest, D) <= 1e-12) return;
        for (size_t j = 0; j < N; j++) {
            const double size = fabs(codes_dot(unit + j * D, rest, D));
            if (j == i || c[j] != 0 || size <= most) continue;
            most = size;
            taken[count] = j;
        }
        fit(unit, i, taken, ++count, c);
    }
}

static void the_codes_are_the_textbooks(void **state)
{
    const double noises[] = { 0, 0.1 };
    for (size_t s = 0; s < 2; s++) {
        double *const rows = flats_rows((flats_data){ N, D, 3, 2, noises[s], 0 }, 5 + s, NULL);
        double *const unit = codes_unit_rows(rows, N, D);
        clo_codes codes = codes_of(rows, N, D, MOST, 1);
        for (size_t i = 0; i < N; i++) {
            double c[N], other[N];
            codes_row(&codes, i, c);
            textbook(unit, i, other);
            for (size_t j = 0; j < N; j++) assert_close(c[j], other[j], 1e-8);
        }
        clo_i_codes_free(&codes);
        free(unit);
        free(rows);
    }
}

static void takes_no_more_than_it_needs(void **state)
{
    double *const rows = flats_rows((flats_data){ N, D, 3, 2, 0, 0 }, 7, NULL);
    clo_codes codes = codes_of(rows, N, D, MOST, 1);
    for (size_t i = 0; i < N; i++) assert_true(codes.starts[i + 1] - codes.starts[i] <= 2);
    clo_i_codes_free(&codes);
    free(rows);
}

static void bears_duplicates_zeros_and_fewer_rows_than_its_sparsity(void **state)
{
    const double rows[] = { 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 2, 0 };
    for (size_t n = 1; n <= 6; n++) {
        clo_codes codes = codes_of(rows, n, 3, 10, 1);
        if (n == 2) assert_close(codes.values[0], 1, 1e-15);
        if (n > 3) assert_int_equal(codes.starts[4], codes.starts[3]);
        if (n == 6) assert_int_equal(codes.starts[6] - codes.starts[5], 1);
        clo_i_codes_free(&codes);
    }
}

static void the_same_codes_on_any_number_of_threads(void **state)
{
    double *const rows = flats_rows((flats_data){ 300, 12, 3, 2, 0.05, 0 }, 9, NULL);
    clo_codes one = codes_of(rows, 300, 12, 5, 1), two = codes_of(rows, 300, 12, 5, 2);
    assert_same_codes(&one, &two);
    clo_i_codes_free(&one);
    clo_i_codes_free(&two);
    free(rows);
}

/* Little noise, for a reason.  What a pursuit finds first is a near neighbour, and it gets nearly
 * all of the weight, so that the graph of a subspace hangs together by light threads; and once the
 * subspace is used up it goes on with the noise, for which the best row may be of any subspace.  At
 * a noise of .01 the textbook's codes with scikit-learn's spectral clustering do no better than
 * ours: both put .74 to 1 of the rows right (eight draws, 3 rows a code), and fewer with more. */
static void finds_the_subspaces(void **state)
{
    clo_error err;
    uint32_t truth[300];
    double *const rows = flats_rows((flats_data){ 300, 30, 3, 4, 0.001, 0 }, 17, truth);
    clo_rng *const rng = job_rng("omp");
    const clo_solver_input job = job_of(rows, 300, 30, rng);
    clo_partition out = { 0 };
    assert_ok(job_solve(&clo_i_solver_ssc_omp, &job, (double[]){ 3, 4, 0, 4 }, 4, &out, &err), err);
    assert_true(job_same_partition(out.labels, truth, 300));
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
    assert_fails(job_solve(&clo_i_solver_ssc_omp, &job, (double[]){ 2, 2 }, 2, &out, &err),
                 CLO_CANCELLED, err, "stopped");
    assert_true(out.cost == -1 && !out.labels);
    job.progress = NULL;
    job_survives_failing_allocations(&clo_i_solver_ssc_omp, &job, (double[]){ 2, 2 }, 2);
    clo_rng_free(rng);
    free(rows);
}

/* An easy draw, with so many rows that the nearest one leaves nothing but noise: in one group, as
 * it was, half of the rows or more were in the wrong cluster. */
static void many_rows_are_no_harder_than_few(void **state)
{
    enum { ROWS = 1500, COLS = 8 };
    clo_error err;
    uint32_t truth[ROWS];
    double *const rows = flats_rows((flats_data){ ROWS, COLS, 3, 2, 0.02, 0 }, 21, truth);
    clo_rng *const rng = job_rng("many");
    const clo_solver_input job = job_of(rows, ROWS, COLS, rng);
    clo_partition out = { 0 };
    size_t wrong = 0, votes[3][3] = { { 0 } };
    assert_ok(job_solve(&clo_i_solver_ssc_omp, &job, (double[]){ 3, 2 }, 2, &out, &err), err);
    for (size_t i = 0; i < ROWS; i++) votes[truth[i]][out.labels[i]]++;
    for (size_t l = 0; l < 3; l++) {
        const size_t *const v = votes[l];
        const size_t most = v[0] > v[1] ? (v[0] > v[2] ? v[0] : v[2]) : v[1] > v[2] ? v[1] : v[2];
        wrong += v[0] + v[1] + v[2] - most;
    }
    assert_true(wrong < ROWS / 50);
    clo_i_partition_free(&out);
    clo_rng_free(rng);
    free(rows);
}

static void presets_follow_the_dimension(void **state)
{
    const clo_solver_input job = { .count = 1500 };
    assert_int_equal(clo_i_ssc_omp_for(&job, 3, 2).sparsity, 2);
    assert_int_equal(clo_i_ssc_omp_for(&job, 3, 2).groups, 25);
    assert_int_equal(clo_i_ssc_omp_for(&job, 3, 9).sparsity, 5); /* more would fit noise */
    assert_int_equal(clo_i_ssc_omp_for(&job, 3, 0).sparsity, 5);
}

/* Two groups: the codes of each are those of the pursuit in that group alone. */
static void every_group_expresses_every_row(void **state)
{
    clo_error err;
    clo_codes codes = { 0 };
    double *const rows = flats_rows((flats_data){ N, D, 3, 2, 0.1, 0 }, 31, NULL);
    const clo_solver_input job = job_of(rows, N, D, NULL);
    const clo_omp_options options = { .sparsity = 2, .tolerance = 1e-6, .groups = 2 };
    assert_ok(clo_i_ssc_omp_codes(&job, &options, &codes, &err), err);
    for (size_t i = 0; i < N; i++) {
        size_t largest = 0;
        assert_int_equal(codes.starts[i + 1] - codes.starts[i], 4);
        for (size_t at = codes.starts[i]; at < codes.starts[i + 1]; at++) {
            assert_true(codes.columns[at] != i);
            largest += fabs(codes.values[at]) > 1 - 1e-12;
        }
        assert_int_equal(largest, 2);
    }
    clo_i_codes_free(&codes);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_rows_are_no_harder_than_few),
        cmocka_unit_test(presets_follow_the_dimension),
        cmocka_unit_test(every_group_expresses_every_row),
        cmocka_unit_test(the_codes_are_the_textbooks),
        cmocka_unit_test(takes_no_more_than_it_needs),
        cmocka_unit_test(bears_duplicates_zeros_and_fewer_rows_than_its_sparsity),
        cmocka_unit_test(the_same_codes_on_any_number_of_threads),
        cmocka_unit_test(finds_the_subspaces),
        cmocka_unit_test(it_can_be_stopped_and_failing_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
