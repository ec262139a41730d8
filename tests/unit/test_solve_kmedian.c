/*
 * test_solve_kmedian.c - k-median against a grid search, against the condition that a median meets,
 * and on rows that are themselves the median.
 */
#include "solve_job.h"

static clo_partition solve(const clo_solver_input *job, double k, double restarts, double tolerance)
{
    clo_partition out = { 0 };
    clo_error err;
    assert_ok(job_solve(clo_solver_find("kmedian"), job, (double[]){ k, restarts, 1000, tolerance },
                        4, &out, &err),
              err);
    return out;
}

static double distance(const double *a, const double *b, size_t d)
{
    double square = 0;
    for (size_t j = 0; j < d; j++) square += (a[j] - b[j]) * (a[j] - b[j]);
    return sqrt(square);
}

/* The mean distance to the nearest of k centres. */
static double cost_of(const clo_solver_input *job, const double *centers, size_t k)
{
    double sum = 0;
    for (size_t i = 0; i < job->count; i++) {
        double least = INFINITY;
        for (size_t c = 0; c < k; c++)
            least = fmin(least,
                         distance(job->rows + i * job->cols, centers + c * job->cols, job->cols));
        sum += least;
    }
    return sum / (double)job->count;
}

/* At a median the unit vectors to its rows cancel, up to the rows that sit on it. */
static void check_medians(const clo_solver_input *job, const clo_partition *p, double tolerance)
{
    const size_t d = job->cols;
    double pull[8];
    assert_true(d <= 8);
    for (size_t c = 0; c < p->clusters; c++) {
        double held = 0, force = 0;
        memset(pull, 0, sizeof pull);
        for (size_t i = 0; i < job->count; i++) {
            if (p->labels[i] != c) continue;
            const double *const x = job->rows + i * d, *const at = p->offsets + c * d;
            const double apart = distance(x, at, d);
            if (apart < 1e-9) held++;
            for (size_t j = 0; j < d && apart >= 1e-9; j++) pull[j] += (x[j] - at[j]) / apart;
        }
        for (size_t j = 0; j < d; j++) force += pull[j] * pull[j];
        assert_true(sqrt(force) <= held + tolerance);
    }
}

static void one_median_is_where_a_fine_grid_finds_it(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 6; seed++) {
        double *const rows = job_blobs(15, 2, 4, 0.2, seed, NULL), best = INFINITY;
        clo_rng *const rng = job_rng("grid");
        const clo_solver_input job = job_of(rows, 15, 2, rng);
        clo_partition p = solve(&job, 1, 1, 0);
        for (int i = -200; i <= 200; i++)
            for (int j = -200; j <= 200; j++) {
                const double at[] = { p.offsets[0] + i * 0.005, p.offsets[1] + j * 0.005 };
                best = fmin(best, cost_of(&job, at, 1));
            }
        assert_true(p.cost <= best + 1e-12);
        assert_close(p.cost, cost_of(&job, p.offsets, 1), 1e-12);
        check_medians(&job, &p, 1e-6);
        clo_i_partition_free(&p);
        clo_rng_free(rng);
        free(rows);
    }
}

static void several_medians_meet_their_condition_and_nobody_is_nearer_to_another(void **state)
{
    (void)state;
    for (size_t d = 1; d <= 8; d += 3) {
        double *const rows = job_blobs(400, d, 5, 0.4, 10 + d, NULL);
        clo_rng *const rng = job_rng("several");
        const clo_solver_input job = job_of(rows, 400, d, rng);
        clo_partition p = solve(&job, 5, 4, 0);
        check_medians(&job, &p, d == 1 ? 1.001 : 1e-4);
        assert_close(p.cost, cost_of(&job, p.offsets, 5), 1e-12);
        clo_i_partition_free(&p);
        clo_rng_free(rng);
        free(rows);
    }
}

static void a_row_that_is_the_median_is_found_exactly(void **state)
{
    (void)state;
    /* A heavy row in the middle of a cross, off the mean; and five equal rows against four. */
    const double cross[] = { 0, 0, 1, 0, -1, 0, 0, 1, 0, -7 };
    const double heap[] = { 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 9, 9, 8, 9, 9, 8, 5, 5 };
    clo_rng *const rng = job_rng("row");
    clo_solver_input job = job_of(cross, 5, 2, rng);
    clo_partition p = solve(&job, 1, 1, 0);
    assert_close(p.offsets[0], 0, 1e-15);
    assert_close(p.offsets[1], 0, 1e-15);
    assert_close(p.cost, 2, 1e-14);
    clo_i_partition_free(&p);
    job = job_of(heap, 9, 2, rng);
    p = solve(&job, 1, 1, 0);
    assert_close(p.offsets[0], 3, 1e-14);
    assert_close(p.offsets[1], 1, 1e-14);
    clo_i_partition_free(&p);
    clo_rng_free(rng);
}

static void an_outlier_moves_the_median_little(void **state)
{
    (void)state;
    const double rows[] = { 0, 0.1, 0.2, 0.3, 1e6 };
    clo_rng *const rng = job_rng("outlier");
    const clo_solver_input job = job_of(rows, 5, 1, rng);
    clo_partition p = solve(&job, 1, 1, 0);
    assert_close(p.offsets[0], 0.2, 1e-6);
    clo_i_partition_free(&p);
    clo_rng_free(rng);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    double *const rows = job_blobs(5000, 3, 6, 0.5, 8, NULL);
    for (double restarts = 1; restarts < 4; restarts += 2) {
        clo_partition found[2];
        for (int threads = 1; threads <= 2; threads++) {
            clo_rng *const rng = job_rng("threads");
            clo_solver_input job = job_of(rows, 5000, 3, rng);
            job.threads = threads;
            found[threads - 1] = solve(&job, 6, restarts, 1e-4);
            clo_rng_free(rng);
        }
        assert_memory_equal(found[0].labels, found[1].labels, 5000 * sizeof(uint32_t));
        assert_same_doubles(found[0].offsets, found[1].offsets, 18);
        assert_same_doubles(&found[0].cost, &found[1].cost, 1);
        clo_i_partition_free(&found[0]);
        clo_i_partition_free(&found[1]);
    }
    free(rows);
}

static void it_can_be_stopped_and_failing_allocations_leak_nothing(void **state)
{
    (void)state;
    const clo_solver *const solver = clo_solver_find("kmedian");
    double *const rows = job_blobs(60, 2, 6, 0.5, 8, NULL);
    clo_rng *const rng = job_rng("stop");
    clo_solver_input job = job_of(rows, 60, 2, rng);
    clo_partition out = { .cost = -1 };
    clo_error err;
    int left = 3;
    job_survives_failing_allocations(solver, &job, (double[]){ 3, 2 }, 2);
    assert_fails(job_solve(solver, &job, (double[]){ 61 }, 1, &out, &err), CLO_ARGUMENT, err,
                 "fewer than the 61 clusters");
    job.progress = job_countdown;
    job.user = &left;
    assert_fails(job_solve(solver, &job, (double[]){ 3 }, 1, &out, &err), CLO_CANCELLED, err, NULL);
    assert_true(out.cost == -1 && !out.labels);
    clo_rng_free(rng);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_median_is_where_a_fine_grid_finds_it),
        cmocka_unit_test(several_medians_meet_their_condition_and_nobody_is_nearer_to_another),
        cmocka_unit_test(a_row_that_is_the_median_is_found_exactly),
        cmocka_unit_test(an_outlier_moves_the_median_little),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(it_can_be_stopped_and_failing_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
