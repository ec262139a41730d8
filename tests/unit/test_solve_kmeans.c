/*
 * test_solve_kmeans.c - k-means against all partitions of a few points, its three kinds of step
 * against each other, and weights against repeated rows.
 */
#include "solve_job.h"
#include "solver/centers/kmeans.h"

typedef struct answer {
    double *centers, cost;
    uint32_t *labels;
} answer;

static answer solve(const clo_solver_input *job, const clo_kmeans_options *options)
{
    clo_error err;
    answer a = { job_need(options->clusters * job->cols, sizeof(double)), -1,
                 job_need(job->count, sizeof(uint32_t)) };
    assert_ok(clo_i_kmeans(job, options, a.centers, a.labels, &a.cost, &err), err);
    return a;
}

static void drop(answer a)
{
    free(a.centers);
    free(a.labels);
}

static double cost_of(const clo_solver_input *job, const uint32_t *labels, size_t k)
{
    const size_t d = job->cols;
    double cost = 0, *const sums = job_need(k * (d + 1), sizeof *sums);
    for (size_t i = 0; i < job->count; i++) {
        for (size_t j = 0; j < d; j++) sums[labels[i] * (d + 1) + j] += job->rows[i * d + j];
        sums[labels[i] * (d + 1) + d]++;
    }
    for (size_t i = 0; i < job->count; i++)
        for (size_t j = 0; j < d; j++) {
            const double *const sum = sums + labels[i] * (d + 1);
            cost += pow(job->rows[i * d + j] - sum[j] / sum[d], 2);
        }
    free(sums);
    return cost / (double)job->count;
}

static void finds_the_best_of_all_partitions(void **state)
{
    (void)state;
    for (size_t round = 0; round < 12; round++) {
        const size_t n = 4 + round % 7, k = 1 + round % 3;
        double *const rows = job_blobs(n, 2, k + 1, 0.3, 77 + round, NULL);
        clo_rng *const rng = job_rng("small");
        const clo_solver_input job = job_of(rows, n, 2, rng);
        clo_kmeans_options options = clo_i_kmeans_default(k);
        uint32_t labels[10] = { 0 };
        double best = INFINITY;
        size_t codes = 1;
        for (size_t i = 0; i < n; i++) codes *= k;
        for (size_t code = 0; code < codes; code++) {
            for (size_t i = 0, left = code; i < n; i++, left /= k) labels[i] = (uint32_t)(left % k);
            best = fmin(best, cost_of(&job, labels, k));
        }
        options.restarts = 30;
        options.tolerance = 0;
        const answer found = solve(&job, &options);
        assert_close(found.cost, best, 1e-12);
        assert_close(cost_of(&job, found.labels, k), best, 1e-12);
        drop(found);
        clo_rng_free(rng);
        free(rows);
    }
}

/* From the same start, with the rows `repeat` times over. */
static void compare_steps(size_t n, size_t d, size_t k, double noise, size_t repeat, uint64_t seed)
{
    double *const rows = job_blobs(n, d, k + 2, noise, seed, NULL);
    for (size_t i = 0; i < n; i++) /* duplicates */
        if (repeat > 1) memcpy(rows + i * d, rows + i / repeat * repeat * d, d * sizeof *rows);
    clo_rng *const rng = job_rng("steps");
    const clo_solver_input job = job_of(rows, n, d, rng);
    clo_kmeans_options options = clo_i_kmeans_default(k);
    options.restarts = 0;
    options.start = rows; /* the first rows: a poor start, so that there is some way to go */
    options.tolerance = 0;
    options.bounds = CLO_KMEANS_LLOYD;
    const answer lloyd = solve(&job, &options);
    for (int bounds = CLO_KMEANS_HAMERLY; bounds <= CLO_KMEANS_ELKAN; bounds++) {
        options.bounds = (clo_kmeans_bounds)bounds;
        const answer other = solve(&job, &options);
        assert_memory_equal(lloyd.labels, other.labels, n * sizeof(uint32_t));
        assert_relatively_close(other.cost, lloyd.cost, 1e-12);
        drop(other);
    }
    drop(lloyd);
    clo_rng_free(rng);
    free(rows);
}

static void all_kinds_of_step_give_the_same_labels(void **state)
{
    (void)state;
    compare_steps(3000, 3, 7, 0.5, 1, 1);
    compare_steps(3000, 40, 12, 0.9, 1, 2);
    compare_steps(500, 2, 30, 0.5, 1, 3);
    compare_steps(600, 5, 4, 1.0, 3, 4);
    compare_steps(9000, 8, 2, 1.0, 1, 5);
    compare_steps(9000, 1, 5, 1.0, 1, 6);
}

static void each_step_lowers_the_cost(void **state)
{
    (void)state;
    const size_t n = 2000, d = 6, k = 9;
    double *const rows = job_blobs(n, d, 12, 0.8, 5, NULL), before = INFINITY;
    clo_error err;
    for (int bounds = CLO_KMEANS_LLOYD; bounds <= CLO_KMEANS_ELKAN; bounds++) {
        const clo_solver_input job = job_of(rows, n, d, NULL);
        clo_points points = { 0 };
        clo_kmeans_run run = { 0 };
        before = INFINITY;
        assert_ok(clo_i_points_new(&job, NULL, k, &points, &err), err);
        assert_ok(clo_i_kmeans_run_new(&points, k, (clo_kmeans_bounds)bounds, 1, &run, &err), err);
        for (size_t c = 0; c < k * d; c++) run.centers[c] = rows[c] - points.mean[c % d];
        clo_i_kmeans_begin(&run);
        for (int step = 0; step < 25; step++) {
            const size_t changed = clo_i_kmeans_assign(&run);
            const double assigned = clo_i_kmeans_cost(&run);
            assert_true(assigned <= before * (1 + 1e-14));
            (void)clo_i_kmeans_update(&run);
            before = clo_i_kmeans_cost(&run);
            assert_true(before <= assigned * (1 + 1e-14));
            if (changed == 0) assert_close(before, assigned, 1e-14);
        }
        clo_i_kmeans_run_free(&run);
        clo_i_points_free(&points);
    }
    free(rows);
}

static void data_far_from_the_origin_lose_little(void **state)
{
    (void)state;
    const size_t n = 900, d = 4;
    uint32_t *const truth = job_need(n, sizeof *truth);
    double *const rows = job_blobs(n, d, 3, 0.05, 9, truth);
    for (size_t i = 0; i < n * d; i++) rows[i] += 1e7;
    clo_rng *const rng = job_rng("far");
    const clo_solver_input job = job_of(rows, n, d, rng);
    clo_kmeans_options options = clo_i_kmeans_default(3);
    for (int bounds = CLO_KMEANS_AUTO; bounds <= CLO_KMEANS_ELKAN; bounds++) {
        options.bounds = (clo_kmeans_bounds)bounds;
        const answer found = solve(&job, &options);
        assert_true(job_same_partition(found.labels, truth, n));
        assert_relatively_close(found.cost, cost_of(&job, truth, 3), 1e-6);
        drop(found);
    }
    clo_rng_free(rng);
    free(truth);
    free(rows);
}

static void weights_count_like_repeated_rows(void **state)
{
    (void)state;
    enum { N = 60, D = 3, K = 4 };
    double *const rows = job_blobs(N, D, K, 0.4, 3, NULL), weights[N];
    double *const repeated = job_need(N * 3 * D, sizeof *repeated);
    size_t total = 0;
    for (size_t i = 0; i < N; i++) {
        weights[i] = (double)(i % 4);
        for (size_t r = 0; r < i % 4; r++)
            memcpy(repeated + total++ * D, rows + i * D, D * sizeof *rows);
    }
    clo_rng *const rng = job_rng("weights");
    const clo_solver_input light = job_of(rows, N, D, rng), heavy = job_of(repeated, total, D, rng);
    clo_kmeans_options options = clo_i_kmeans_default(K);
    options.restarts = 0;
    options.tolerance = 0;
    options.start = rows;
    const answer right = solve(&heavy, &options);
    options.weights = weights;
    const answer left = solve(&light, &options);
    assert_close(left.cost, right.cost, 1e-12);
    for (size_t i = 0; i < (size_t)K * D; i++)
        assert_close(left.centers[i], right.centers[i], 1e-12);
    drop(left);
    drop(right);
    clo_rng_free(rng);
    free(rows);
    free(repeated);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    const size_t n = 9001, d = 5;
    double *const rows = job_blobs(n, d, 9, 0.7, 8, NULL);
    for (size_t restarts = 1; restarts < 6; restarts += 2)
        for (int bounds = CLO_KMEANS_LLOYD; bounds <= CLO_KMEANS_ELKAN; bounds++) {
            answer found[2];
            for (int threads = 1; threads <= 2; threads++) {
                clo_rng *const rng = job_rng("threads");
                clo_solver_input job = job_of(rows, n, d, rng);
                clo_kmeans_options options = clo_i_kmeans_default(6);
                options.restarts = restarts;
                options.bounds = (clo_kmeans_bounds)bounds;
                job.threads = threads;
                found[threads - 1] = solve(&job, &options);
                clo_rng_free(rng);
            }
            assert_memory_equal(found[0].labels, found[1].labels, n * sizeof(uint32_t));
            assert_same_doubles(found[0].centers, found[1].centers, 6 * d);
            assert_same_doubles(&found[0].cost, &found[1].cost, 1);
            drop(found[0]);
            drop(found[1]);
        }
    free(rows);
}

static void as_many_clusters_as_rows_cost_nothing(void **state)
{
    (void)state;
    double *const rows = job_blobs(17, 2, 17, 0.1, 4, NULL);
    clo_rng *const rng = job_rng("all");
    const clo_solver_input job = job_of(rows, 17, 2, rng);
    clo_kmeans_options options = clo_i_kmeans_default(17);
    answer found = solve(&job, &options);
    assert_close(found.cost, 0, 1e-20);
    drop(found);
    options = clo_i_kmeans_default(1);
    found = solve(&job, &options);
    const uint32_t one[17] = { 0 };
    assert_close(found.cost, cost_of(&job, one, 1), 1e-12);
    drop(found);
    clo_rng_free(rng);
    free(rows);
}

static void constant_data_and_few_distinct_rows_are_no_trouble(void **state)
{
    (void)state;
    double rows[40];
    clo_rng *const rng = job_rng("constant");
    const clo_solver_input job = job_of(rows, 20, 2, rng);
    for (size_t distinct = 1; distinct <= 3; distinct++) {
        for (size_t i = 0; i < 40; i++) rows[i] = 0.1 * (double)(i / 2 % distinct);
        for (int bounds = CLO_KMEANS_LLOYD; bounds <= CLO_KMEANS_ELKAN; bounds++) {
            clo_kmeans_options options = clo_i_kmeans_default(5);
            options.bounds = (clo_kmeans_bounds)bounds;
            const answer found = solve(&job, &options);
            assert_close(found.cost, 0, 1e-25);
            for (size_t i = 0; i < 20; i++)
                assert_true(found.labels[i] == found.labels[i % distinct]);
            drop(found);
        }
    }
    clo_rng_free(rng);
}

static void an_empty_cluster_gets_the_row_that_is_worst_off(void **state)
{
    (void)state;
    /* Two of the three given centres are so far away that nobody is theirs. */
    const double rows[] = { 0, 0.1, 0.2, 5, 5.1, 9 }, start[] = { 1, 1000, -1000 };
    clo_rng *const rng = job_rng("empty");
    const clo_solver_input job = job_of(rows, 6, 1, rng);
    for (int bounds = CLO_KMEANS_LLOYD; bounds <= CLO_KMEANS_ELKAN; bounds++) {
        clo_kmeans_options options = clo_i_kmeans_default(3);
        options.bounds = (clo_kmeans_bounds)bounds;
        options.restarts = 0;
        options.start = start;
        options.tolerance = 0;
        const answer found = solve(&job, &options);
        assert_close(found.cost, (0.01 + 0.01 + 0.0025 + 0.0025) / 6, 1e-12);
        drop(found);
    }
    clo_rng_free(rng);
}

static void a_given_start_is_one_start_more(void **state)
{
    (void)state;
    const clo_solver *const solver = clo_solver_find("kmeans");
    double *const rows = job_blobs(300, 2, 5, 0.2, 31, NULL);
    clo_rng *const rng = job_rng("warm");
    clo_solver_input job = job_of(rows, 300, 2, rng);
    clo_partition cold = { 0 }, warm = { 0 };
    clo_error err;
    assert_ok(job_solve(solver, &job, (double[]){ 5, 20 }, 2, &cold, &err), err);
    job.start = &cold;
    assert_ok(job_solve(solver, &job, (double[]){ 5, 1 }, 2, &warm, &err), err);
    assert_true(warm.cost <= cold.cost * (1 + 1e-12));
    assert_true(warm.width == 0 && warm.dims[0] == 0 && !warm.bases && warm.offsets);
    clo_i_partition_free(&warm);
    assert_fails(job_solve(solver, &job, (double[]){ 4, 1 }, 2, &warm, &err), CLO_ARGUMENT, err,
                 "must have 4 centers");
    clo_i_partition_free(&cold);
    clo_rng_free(rng);
    free(rows);
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    double rows[] = { 0, 1, 2, 1e200 }, centers[4] = { 7 }, cost = 7, weights[] = { 1, -1, 1, 1 };
    uint32_t labels[4] = { 7 };
    clo_rng *const rng = job_rng("bad");
    const clo_solver_input job = job_of(rows, 4, 1, rng);
    clo_error err;
    clo_kmeans_options options = clo_i_kmeans_default(5);
    assert_fails(clo_i_kmeans(&job, &options, centers, labels, &cost, &err), CLO_ARGUMENT, err,
                 "fewer than the 5 clusters");
    options = clo_i_kmeans_default(2);
    assert_fails(clo_i_kmeans(&job, &options, centers, labels, &cost, &err), CLO_ARGUMENT, err,
                 "too large");
    rows[3] = 3;
    options.weights = weights;
    assert_fails(clo_i_kmeans(&job, &options, centers, labels, &cost, &err), CLO_ARGUMENT, err,
                 "not negative");
    memset(weights, 0, sizeof weights);
    assert_fails(clo_i_kmeans(&job, &options, centers, labels, &cost, &err), CLO_ARGUMENT, err,
                 "above 0");
    assert_true(centers[0] == 7 && cost == 7 && labels[0] == 7);
    clo_rng_free(rng);
}

static void it_can_be_stopped(void **state)
{
    (void)state;
    double *const rows = job_blobs(500, 3, 5, 0.9, 6, NULL);
    clo_rng *const rng = job_rng("stop");
    clo_solver_input job = job_of(rows, 500, 3, rng);
    clo_partition out = { .cost = -1 };
    clo_error err;
    for (int threads = 1; threads <= 2; threads++)
        for (int after = 1; after < 20; after += 6) {
            int left = after;
            job.threads = threads;
            job.progress = job_countdown;
            job.user = &left;
            assert_fails(job_solve(clo_solver_find("kmeans"), &job, (double[]){ 8 }, 1, &out, &err),
                         CLO_CANCELLED, err, NULL);
            assert_true(out.cost == -1 && !out.labels);
        }
    clo_rng_free(rng);
    free(rows);
}

static void failing_allocations_leak_nothing(void **state)
{
    (void)state;
    double *const rows = job_blobs(50, 3, 5, 0.9, 6, NULL);
    clo_rng *const rng = job_rng("memory");
    const clo_solver_input job = job_of(rows, 50, 3, rng);
    for (int bounds = 1; bounds <= 3; bounds++)
        job_survives_failing_allocations(clo_solver_find("kmeans"), &job,
                                         (double[]){ 4, 2, 100, 1e-4, bounds }, 5);
    clo_rng_free(rng);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_best_of_all_partitions),
        cmocka_unit_test(all_kinds_of_step_give_the_same_labels),
        cmocka_unit_test(each_step_lowers_the_cost),
        cmocka_unit_test(data_far_from_the_origin_lose_little),
        cmocka_unit_test(weights_count_like_repeated_rows),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(as_many_clusters_as_rows_cost_nothing),
        cmocka_unit_test(constant_data_and_few_distinct_rows_are_no_trouble),
        cmocka_unit_test(an_empty_cluster_gets_the_row_that_is_worst_off),
        cmocka_unit_test(a_given_start_is_one_start_more),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(it_can_be_stopped),
        cmocka_unit_test(failing_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
