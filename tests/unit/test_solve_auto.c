/* test_solve_auto.c - the default solver: good where k-planes alone is, and
 * where it is stuck. */
#include "planted_flats.h"
#include "solve_job.h"
#include <math.h>

enum { CLUSTERS, DIM, FLATS, RESTARTS, ITERATIONS, VALUES };

static clo_partition solve(const clo_solver_input *job, size_t clusters, size_t dim, bool affine)
{
    const double values[VALUES] = { (double)clusters, (double)dim, affine, 5, 100 };
    clo_partition found = { 0 };
    clo_error err;
    assert_ok(clo_i_solver_auto.solve(job, values, &found, &err), err);
    return found;
}

static void is_the_first_of_the_table(void **state)
{
    size_t count = 0;
    const clo_param *const params = clo_solver_params(&clo_i_solver_auto, &count);
    assert_ptr_equal(clo_solver_at(0), &clo_i_solver_auto);
    assert_int_equal(count, VALUES);
    assert_string_equal(params[CLUSTERS].name, "clusters");
    assert_string_equal(params[ITERATIONS].name, "iterations");
}

static void finds_planted_subspaces(void **state)
{
    const size_t dims[] = { 2, 2, 2 };
    for (int affine = 0; affine < 2; affine++) {
        planted p = plant("auto", 150, 8, 3, dims, 0.02, affine ? 2 : 0);
        clo_partition found = solve(&p.job, 3, 2, affine);
        assert_true(accuracy(&p, &found) >= 0.98);
        assert_int_equal(found.offsets != NULL, affine);
        clo_i_partition_free(&found);
        uproot(&p);
    }
}

/* Rows as faces are: each subspace has 8 dimensions, most of them weak, and all
 * share a strong one. k-planes alone ends with a cost some times that of the
 * truth. */
static void finds_subspaces_that_lie_close_together(void **state)
{
    enum { EACH = 40, K = 4, COLS = 40, Q = 8, COUNT = K * EACH };
    const size_t dims[K] = { Q, Q, Q, Q };
    planted p = plant("faces", COUNT, COLS, K, dims, 0, 0);
    clo_stream *stream = NULL;
    clo_error err;
    double *const bases = calloc(K * Q * COLS, sizeof *bases), common[COLS];
    assert_ok(clo_i_stream_open(p.rng, clo_i_rng_next_ask(p.rng), 0, &stream, &err), err);
    for (size_t c = 0; c < COLS; c++) common[c] = clo_i_random_normal(stream);
    for (size_t i = 0; i < K * Q * COLS; i++) bases[i] = clo_i_random_normal(stream);
    for (size_t l = 0; l < K; l++)
        for (size_t c = 0; c < COLS; c++)
            bases[l * Q * COLS + c] = common[c] + 0.2 * bases[l * Q * COLS + c];
    for (size_t i = 0; i < COUNT; i++) {
        double *const row = p.rows + i * COLS;
        memset(row, 0, COLS * sizeof *row);
        for (size_t j = 0; j < Q; j++) {
            const double weight =
                (j ? clo_i_random_normal(stream) : 2 + clo_i_random_unit(stream)) / (double)(j + 1);
            for (size_t c = 0; c < COLS; c++)
                row[c] += weight * bases[(p.labels[i] * Q + j) * COLS + c];
        }
    }
    clo_partition found = solve(&p.job, K, Q, false);
    assert_true(accuracy(&p, &found) >= 1);
    assert_close(found.cost, 0, 1e-20);
    clo_i_partition_free(&found);
    clo_i_stream_close(stream);
    free(bases);
    uproot(&p);
}

static void gives_unequal_dimensions_to_the_right_clusters(void **state)
{
    const size_t dims[] = { 4, 1, 2 };
    planted p = plant("auto unequal", 150, 9, 3, dims, 0.01, 0);
    p.job.dims = dims;
    clo_partition found = solve(&p.job, 3, 0, false);
    for (size_t l = 0; l < 3; l++) assert_int_equal(found.dims[l], dims[l]);
    assert_true(accuracy(&p, &found) >= 0.98);
    clo_i_partition_free(&found);
    uproot(&p);
}

static void chooses_the_dimensions_itself(void **state)
{
    const size_t dims[] = { 2, 2, 2 };
    planted p = plant("auto eigengap", 180, 8, 3, dims, 0.02, 0);
    clo_partition found = solve(&p.job, 3, 0, false);
    for (size_t l = 0; l < 3; l++) assert_int_equal(found.dims[l], 2);
    assert_true(accuracy(&p, &found) >= 0.98);
    clo_i_partition_free(&found);
    uproot(&p);
}

/* Beyond the rows that self-expressive starts are for, sparse or at all. */
static void takes_many_rows(void **state)
{
    const size_t dims[] = { 1, 1 };
    const size_t counts[] = { 2600, 20500 };
    for (size_t i = 0; i < 2; i++) {
        planted p = plant("auto many", counts[i], 4, 2, dims, 0.01, 0);
        clo_partition found = solve(&p.job, 2, 1, false);
        assert_true(accuracy(&p, &found) >= 0.95);
        clo_i_partition_free(&found);
        uproot(&p);
    }
}

static void takes_one_cluster_and_one_row(void **state)
{
    const size_t dims[] = { 2 };
    planted p = plant("auto one", 30, 5, 1, dims, 0, 0);
    clo_partition found = solve(&p.job, 1, 2, false);
    assert_close(found.cost, 0, 1e-20);
    clo_i_partition_free(&found);
    p.job.count = 1;
    found = solve(&p.job, 1, 2, false);
    assert_close(found.cost, 0, 1e-20);
    clo_i_partition_free(&found);
    uproot(&p);
}

static void is_the_same_on_any_number_of_threads(void **state)
{
    const size_t dims[] = { 2, 2, 2 };
    planted p = plant("auto threads", 120, 8, 3, dims, 0.1, 0);
    clo_partition found[2];
    for (int threads = 1; threads <= 2; threads++) {
        clo_solver_input job = p.job;
        job.rng = rng_of("the same");
        job.threads = threads;
        found[threads - 1] = solve(&job, 3, 2, false);
        clo_rng_free(job.rng);
    }
    assert_memory_equal(found[1].labels, found[0].labels, 120 * sizeof(uint32_t));
    assert_same_doubles(found[1].bases, found[0].bases, 3 * 8 * 2);
    clo_i_partition_free(&found[0]);
    clo_i_partition_free(&found[1]);
    uproot(&p);
}

typedef struct caller {
    int asked, stop_at;
    double last;
} caller;

static bool hear(void *user, double done)
{
    caller *const c = user;
    assert_true(done >= c->last - 1e-12 && done <= 1);
    c->last = done;
    return ++c->asked != c->stop_at;
}

static void reports_and_stops_when_told(void **state)
{
    const size_t dims[] = { 2, 2 };
    const double values[VALUES] = { 2, 2, 0, 3, 50 };
    planted p = plant("auto cancel", 60, 6, 2, dims, 0.1, 0);
    caller c = { 0 };
    p.job.progress = hear;
    p.job.user = &c;
    clo_partition found = solve(&p.job, 2, 2, false);
    clo_i_partition_free(&found);
    const int whole = c.asked;
    assert_true(whole > 4);
    for (int at = 1; at < whole; at += 1 + whole / 6) {
        clo_error err;
        c = (caller){ .stop_at = at };
        assert_fails(clo_i_solver_auto.solve(&p.job, values, &found, &err), CLO_CANCELLED, err,
                     NULL);
        assert_null(found.labels);
    }
    uproot(&p);
}

static void refuses_what_cannot_be(void **state)
{
    const size_t dims[] = { 2, 2 };
    const double many[VALUES] = { 61, 2, 0, 3, 50 }, wide[VALUES] = { 2, 7, 0, 3, 50 };
    planted p = plant("auto refusal", 60, 6, 2, dims, 0.1, 0);
    clo_partition found = { 0 };
    clo_error err;
    assert_fails(clo_i_solver_auto.solve(&p.job, many, &found, &err), CLO_ARGUMENT, err, "rows");
    assert_fails(clo_i_solver_auto.solve(&p.job, wide, &found, &err), CLO_ARGUMENT, err, "columns");
    assert_null(found.labels);
    uproot(&p);
}

#ifdef CLO_FAULT_INJECTION
static void leaves_nothing_behind_where_memory_ends(void **state)
{
    const size_t dims[] = { 1, 1 };
    const double values[VALUES] = { 2, 1, 0, 1, 5 };
    planted p = plant("auto memory", 24, 4, 2, dims, 0.1, 0);
    for (uint64_t n = 1;; n += 3) {
        clo_partition found = { 0 };
        clo_error err;
        clo_i_fail_allocation(n);
        const clo_status status = clo_i_solver_auto.solve(&p.job, values, &found, &err);
        clo_i_fail_allocation(0);
        if (status == CLO_OK) {
            clo_i_partition_free(&found);
            break;
        }
        assert_int_equal(status, CLO_MEMORY);
        assert_null(found.labels);
    }
    uproot(&p);
}
#endif

/* Rows as pictures of turning things are: six closed curves with harmonics that fade, each about a
 * mean of its own, which differs from 1 by `apart` in every column. */
enum { CURVES = 6, CURVE_COLS = 60, MOST_WAVES = 12 };

static planted curves(size_t each, size_t waves, double apart)
{
    const size_t dims[CURVES] = { 1, 1, 1, 1, 1, 1 };
    planted p = plant("curves", CURVES * each, CURVE_COLS, CURVES, dims, 0, 0);
    uint64_t draw = 77;
    for (size_t l = 0; l < CURVES; l++) {
        double mean[CURVE_COLS], waving[MOST_WAVES][2][CURVE_COLS];
        for (size_t c = 0; c < CURVE_COLS; c++) mean[c] = 1 + apart * job_normal(&draw);
        for (size_t w = 0; w < waves; w++)
            for (size_t c = 0; c < CURVE_COLS; c++) {
                waving[w][0][c] = job_normal(&draw) / (double)(w + 2);
                waving[w][1][c] = job_normal(&draw) / (double)(w + 2);
            }
        for (size_t i = l * each; i < (l + 1) * each; i++) {
            double *const row = p.rows + i * CURVE_COLS;
            const double turn = 6.283185307179586 * (double)i / (double)each;
            p.labels[i] = (uint32_t)l;
            for (size_t c = 0; c < CURVE_COLS; c++) row[c] = mean[c];
            for (size_t w = 0; w < waves; w++)
                for (size_t c = 0; c < CURVE_COLS; c++)
                    row[c] += waving[w][0][c] * sin((double)(w + 1) * turn) +
                              waving[w][1][c] * cos((double)(w + 1) * turn);
        }
    }
    return p;
}

/* Their eigenvalues have no plain gap, and the largest is after the mean: with one dimension the
 * accuracy is .29. */
static void finds_curves_without_being_told_a_dimension(void **state)
{
    planted p = curves(24, 8, 0.2);
    clo_partition found = solve(&p.job, CURVES, 0, false);
    assert_true(accuracy(&p, &found) >= 0.95);
    clo_i_partition_free(&found);
    uproot(&p);
}

/* Where flats have as many dimensions as a cluster has rows, wrong ones cost as little as right
 * ones, and of many random starts one costs less: the accuracy was .40. */
static void random_starts_must_do_better_than_by_chance(void **state)
{
    const double values[VALUES] = { CURVES, 15, 0, 40, 100 };
    planted p = curves(12, 12, 1);
    clo_partition found = { 0 };
    clo_error err;
    assert_ok(clo_i_solver_auto.solve(&p.job, values, &found, &err), err);
    assert_true(accuracy(&p, &found) >= 0.95);
    clo_i_partition_free(&found);
    uproot(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_the_first_of_the_table),
        cmocka_unit_test(finds_planted_subspaces),
        cmocka_unit_test(finds_subspaces_that_lie_close_together),
        cmocka_unit_test(gives_unequal_dimensions_to_the_right_clusters),
        cmocka_unit_test(chooses_the_dimensions_itself),
        cmocka_unit_test(finds_curves_without_being_told_a_dimension),
        cmocka_unit_test(random_starts_must_do_better_than_by_chance),
        cmocka_unit_test(takes_many_rows),
        cmocka_unit_test(takes_one_cluster_and_one_row),
        cmocka_unit_test(is_the_same_on_any_number_of_threads),
        cmocka_unit_test(reports_and_stops_when_told),
        cmocka_unit_test(refuses_what_cannot_be),
#ifdef CLO_FAULT_INJECTION
        cmocka_unit_test(leaves_nothing_behind_where_memory_ends),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
