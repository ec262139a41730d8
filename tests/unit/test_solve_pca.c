/* test_solve_pca.c - principal components against what the rows were made of. */
#include "solve_flats.h"
#include "solver/planes/flats.h"
#include <math.h>

/* Rows about a mean, with 5, 2 and .01 along three directions that are columns. */
static double *rows_of(size_t count)
{
    double *const rows = job_need(count * 4, sizeof *rows);
    uint64_t draw = 5;
    for (size_t i = 0; i < count; i++) {
        const double wide[] = { 5 * job_uniform(&draw), 2 * job_uniform(&draw) };
        rows[4 * i] = 7 + wide[0];
        rows[4 * i + 1] = 0.01 * job_uniform(&draw);
        rows[4 * i + 2] = -3 + wide[1];
        rows[4 * i + 3] = 1;
    }
    return rows;
}

static clo_partition components(const double *rows, size_t count, double dim, double affine)
{
    clo_error err;
    clo_partition out = { 0 };
    const clo_solver_input job = job_of(rows, count, 4, NULL);
    assert_ok(clo_i_solver_pca.solve(&job, (double[]){ dim, affine }, &out, &err), err);
    return out;
}

static void finds_the_directions_of_most_variance(void **state)
{
    double *const rows = rows_of(400);
    clo_partition found = components(rows, 400, 2, 1);
    assert_int_equal(found.clusters, 1);
    assert_close(fabs(found.bases[0]), 1, 1e-2);         /* column 0, the first component */
    assert_close(fabs(found.bases[2 * 2 + 1]), 1, 1e-2); /* column 2, the second */
    assert_close(found.offsets[3], 1, 1e-12);
    assert_true(found.cost < 1e-4);
    clo_i_partition_free(&found);
    free(rows);
}

static void chooses_how_many_and_may_go_through_the_origin(void **state)
{
    double *const rows = rows_of(400);
    clo_partition open = components(rows, 400, 0, 1), linear = components(rows, 400, 1, 0);
    assert_int_equal(open.dims[0], 2);
    assert_true(linear.offsets == NULL && linear.cost > 1);
    clo_i_partition_free(&open);
    clo_i_partition_free(&linear);
    free(rows);
}

static void stops_when_told_and_leaks_nothing(void **state)
{
    clo_error err;
    double *const rows = rows_of(30);
    clo_solver_input job = job_of(rows, 30, 4, NULL);
    clo_partition out = { .cost = -1 };
    int left = 0;
    job.progress = job_countdown;
    job.user = &left;
    assert_fails(clo_i_solver_pca.solve(&job, (double[]){ 1, 1 }, &out, &err), CLO_CANCELLED, err,
                 "stopped");
    assert_true(out.cost == -1 && !out.labels);
    job.progress = NULL;
    job_survives_failing_allocations(&clo_i_solver_pca, &job, (double[]){ 1, 1 }, 2);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_directions_of_most_variance),
        cmocka_unit_test(chooses_how_many_and_may_go_through_the_origin),
        cmocka_unit_test(stops_when_told_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
