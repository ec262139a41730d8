/*
 * test_solve_spectral.c - spectral clustering on affinities with known blocks, Lanczos against
 * LAPACK, and graphs whose components say more, less or as much as is asked.
 */
#include "solve_job.h"
#include "solver/affinity/spectral.h"
#include "solver/affinity/spectral_graph.h"
#include "linalg/linalg.h"

/* n x n: within i % k about `inside`, elsewhere about `outside` (0: nothing). */
static double *blocks(size_t n, size_t k, double inside, double outside, uint64_t seed)
{
    double *const a = job_need(n * n, sizeof *a);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            const double level = i % k == j % k ? inside : outside;
            a[i * n + j] = a[j * n + i] = level * (1 + job_uniform(&seed)) / 2;
        }
    return a;
}

/* The same in compressed rows. */
static clo_affinity compress(const double *a, size_t n)
{
    clo_affinity out = { .count = n };
    size_t entries = 0;
    assert_int_equal(clo_i_alloc(n + 1, sizeof *out.starts, &out.starts, NULL), CLO_OK);
    assert_int_equal(clo_i_alloc(n * n, sizeof *out.columns, &out.columns, NULL), CLO_OK);
    assert_int_equal(clo_i_alloc(n * n, sizeof *out.weights, &out.weights, NULL), CLO_OK);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++)
            if (a[i * n + j] > 0) {
                out.columns[entries] = (uint32_t)j;
                out.weights[entries++] = a[i * n + j];
            }
        out.starts[i + 1] = entries;
    }
    return out;
}

static size_t count_clusters(const clo_affinity *affinity)
{
    clo_error err;
    clo_rng *const rng = job_rng("count");
    const clo_solver_input job = job_of(NULL, affinity->count, 0, rng);
    size_t clusters = 0;
    assert_ok(clo_i_spectral_count(&job, affinity, &clusters, &err), err);
    clo_rng_free(rng);
    return clusters;
}

static void the_largest_gap_says_how_many_clusters_there_are(void **state)
{
    (void)state;
    for (size_t k = 2; k <= 12; k += 5)
        for (int apart = 0; apart < 2;
             apart++) { /* with nothing between the blocks, and a little */
            const size_t n = 40 * k;
            double *const a = blocks(n, k, 1, apart ? 0 : 0.05, k);
            const clo_affinity dense = { .count = n, .dense = a };
            clo_affinity sparse = compress(a, n);
            assert_int_equal(count_clusters(&dense), k);
            assert_int_equal(count_clusters(&sparse), k);
            clo_i_affinity_free(&sparse);
            free(a);
        }
}

/* More parts than are looked for by the gap, and points that have nothing to do with any other. */
static void many_parts_are_counted_and_strays_are_not(void **state)
{
    const size_t n = 25 * 12;
    double *const a = blocks(n, 25, 1, 0, 5);
    (void)state;
    const clo_affinity all = { .count = n, .dense = a };
    assert_int_equal(count_clusters(&all), 25);
    for (size_t i = 0; i < n; i++) /* of the parts 3 and on nothing is left */
        for (size_t j = 0; j < n; j++)
            if (i % 25 > 2 || j % 25 > 2) a[i * n + j] = 0;
    assert_int_equal(count_clusters(&all), 3);
    free(a);
}

static uint32_t *cluster(const clo_affinity *affinity, size_t k, int threads)
{
    clo_error err;
    clo_rng *const rng = job_rng("spectral");
    clo_solver_input job = job_of(NULL, affinity->count, 0, rng);
    const clo_spectral_options options = { .clusters = k, .restarts = 5 };
    uint32_t *const labels = job_need(affinity->count, sizeof *labels);
    job.threads = threads;
    assert_ok(clo_i_spectral(&job, affinity, &options, labels, &err), err);
    clo_rng_free(rng);
    return labels;
}

static void check_blocks(size_t n, size_t planted, size_t asked, double outside)
{
    double *const a = blocks(n, planted, 1, outside, 3 + n);
    const clo_affinity dense = { .count = n, .dense = a };
    clo_affinity sparse = compress(a, n);
    uint32_t *const truth = job_need(n, sizeof *truth);
    for (size_t i = 0; i < n; i++) truth[i] = (uint32_t)(i % planted);
    uint32_t *const left = cluster(&dense, asked, 1), *const right = cluster(&sparse, asked, 2);
    if (asked == planted) {
        assert_true(job_same_partition(left, truth, n));
        assert_true(job_same_partition(right, truth, n));
    }
    for (size_t i = 0; i < n; i++) {
        assert_true(left[i] < asked && right[i] < asked);
        if (asked < planted && outside == 0) assert_int_equal(left[i], left[i % planted]);
    }
    free(left);
    free(right);
    free(truth);
    free(a);
    clo_i_affinity_free(&sparse);
}

static void finds_blocks_among_noise(void **state)
{
    (void)state;
    check_blocks(60, 3, 3, 0.2);
    check_blocks(200, 7, 7, 0.1);
    check_blocks(450, 4, 4, 0.3);
}

static void graphs_of_one_of_k_and_of_more_components_all_work(void **state)
{
    (void)state;
    check_blocks(90, 3, 3, 0);  /* k components */
    check_blocks(450, 3, 3, 0); /* the same, large */
    check_blocks(90, 6, 3, 0);  /* more */
    check_blocks(90, 2, 4, 0);  /* fewer */
    check_blocks(850, 2, 4, 0);
    check_blocks(50, 1, 4, 0); /* one, and nothing to find */
    check_blocks(5, 1, 5, 1);  /* each its own */
}

static void points_without_affinity_go_to_the_largest_cluster(void **state)
{
    (void)state;
    const size_t n = 40;
    double *const a = blocks(n, 2, 1, 0.05, 1);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            if (i == 7 || j == 7 || i == 9 || j == 9 || i == 11 || j == 11) a[i * n + j] = i == j;
    const clo_affinity affinity = { .count = n, .dense = a };
    uint32_t *const labels = cluster(&affinity, 2, 1);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(labels[i], i == 7 || i == 9 || i == 11 ? labels[0] : labels[i % 2]);
    free(labels);
    memset(a, 0, n * n * sizeof *a);
    uint32_t *const none = cluster(&affinity, 3, 1);
    for (size_t i = 0; i < n; i++) assert_int_equal(none[i], i % 3);
    free(none);
    free(a);
}

static void strays_do_not_take_a_cluster(void **state)
{
    (void)state;
    const size_t n = 120; /* two blocks that touch, and three pairs apart */
    double *const a = blocks(n, 2, 1, 0.05, 1);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            if ((i < 6) != (j < 6) || (i < 6 && i / 2 != j / 2))
                a[i * n + j] = 0;
            else if (i < 6 && i != j)
                a[i * n + j] = 1;
    const clo_affinity affinity = { .count = n, .dense = a };
    uint32_t *const labels = cluster(&affinity, 2, 1);
    for (size_t i = 6; i < n; i++) assert_int_equal(labels[i], labels[6 + i % 2]);
    assert_true(labels[6] != labels[7]);
    free(labels);
    free(a);
}

static void lanczos_and_lapack_find_the_same_subspace(void **state)
{
    (void)state;
    enum { N = 300, Q = 4 };
    double *const a = blocks(N, Q, 1, 0.2, 5);
    const clo_affinity dense = { .count = N, .dense = a };
    clo_affinity sparse = compress(a, N);
    clo_graph graph = { 0 };
    clo_error err;
    clo_rng *const rng = job_rng("lanczos");
    clo_stream *stream = NULL;
    clo_solver_input job = job_of(NULL, N, 0, rng);
    double values[3][Q], *vectors[3], sines[Q];
    job.threads = 2;
    assert_ok(clo_i_graph_new(&dense, Q, &graph, &err), err);
    assert_int_equal(graph.components, 1);
    assert_ok(clo_i_stream_open(rng, 0, 0, &stream, &err), err);
    for (int i = 0; i < 3; i++) {
        const clo_graph_part part = { i == 2 ? &sparse : &dense, graph.points, N, graph.scale };
        vectors[i] = job_need((size_t)N * Q, sizeof(double));
        assert_ok(clo_i_graph_eigen(&job, &part, Q, i == 0 ? CLO_EIGEN_LAPACK : CLO_EIGEN_LANCZOS,
                                    stream, values[i], vectors[i], &err),
                  err);
        assert_close(values[i][0], 1, 1e-12);
        assert_ok(clo_i_sin_angles(vectors[0], vectors[i], N, Q, sines, &err), err);
        for (size_t j = 0; j < Q; j++) {
            assert_close(values[i][j], values[0][j], 1e-9);
            assert_close(sines[j], 0, 1e-6);
        }
    }
    for (int i = 0; i < 3; i++) free(vectors[i]);
    clo_i_stream_close(stream);
    clo_rng_free(rng);
    clo_i_graph_free(&graph);
    clo_i_affinity_free(&sparse);
    free(a);
}

/* A ring: all eigenvalues but the first come twice, and close together, so that Lanczos does not
 * get them; there must be an answer all the same, and soon. */
static void a_graph_without_clusters_gets_an_answer(void **state)
{
    (void)state;
    for (size_t n = 1000; n <= 3100; n += 2100) {
        size_t *const starts = job_need(n + 1, sizeof *starts);
        uint32_t *const columns = job_need(n, sizeof *columns);
        double *const weights = job_need(n, sizeof *weights);
        clo_affinity ring = { 0 };
        clo_error err;
        for (size_t i = 0; i < n; i++) {
            columns[i] = (uint32_t)((i + 1) % n);
            weights[i] = 1;
            starts[i + 1] = i + 1;
        }
        assert_ok(clo_i_affinity_symmetric(starts, columns, weights, n, &ring, &err), err);
        uint32_t *const labels = cluster(&ring, 4, 1);
        for (size_t i = 0; i < n; i++) assert_true(labels[i] < 4);
        free(labels);
        free(starts);
        free(columns);
        free(weights);
        clo_i_affinity_free(&ring);
    }
}

static void threads_change_nothing(void **state)
{
    (void)state;
    const size_t n = 500;
    double *const a = blocks(n, 5, 1, 0.7, 5);
    const clo_affinity dense = { .count = n, .dense = a };
    uint32_t *const one = cluster(&dense, 5, 1), *const two = cluster(&dense, 5, 2);
    assert_memory_equal(one, two, n * sizeof *one);
    free(one);
    free(two);
    free(a);
}

static void the_solver_takes_an_affinity_and_says_what_the_cut_is(void **state)
{
    (void)state;
    const clo_solver *const solver = clo_solver_find("spectral");
    double a[] = { 9, 2, 1, 0, 2, 9, 0, 0, 1, 0, 9, 3, 0, 0, 3, 9 };
    clo_rng *const rng = job_rng("solver");
    const clo_solver_input job = job_of(a, 4, 4, rng);
    clo_partition out = { 0 };
    clo_error err;
    assert_true(solver->affinity);
    assert_ok(job_solve(solver, &job, (double[]){ 2 }, 1, &out, &err), err);
    assert_true(out.labels[0] == out.labels[1] && out.labels[2] == out.labels[3]);
    assert_true(out.labels[0] != out.labels[2]);
    assert_close(out.cost, 1.0 / 5 + 1.0 / 7, 1e-15);
    assert_true(out.cols == 0 && out.width == 0 && !out.bases && !out.offsets);
    clo_i_partition_free(&out);
    clo_rng_free(rng);
}

static void bad_affinities_are_refused(void **state)
{
    (void)state;
    const clo_solver *const solver = clo_solver_find("spectral");
    double a[] = { 0, 2, 1, 2, 0, 0, 1, 0, 0 };
    clo_rng *const rng = job_rng("bad");
    clo_solver_input job = job_of(a, 3, 2, rng);
    clo_partition out = { .cost = -1 };
    clo_error err;
    assert_fails(job_solve(solver, &job, (double[]){ 2 }, 1, &out, &err), CLO_ARGUMENT, err,
                 "as many columns as rows");
    job.cols = 3;
    assert_fails(job_solve(solver, &job, (double[]){ 4 }, 1, &out, &err), CLO_ARGUMENT, err,
                 "fewer than");
    a[1] = 1.9;
    assert_fails(job_solve(solver, &job, (double[]){ 2 }, 1, &out, &err), CLO_ARGUMENT, err,
                 "symmetric");
    a[1] = -2;
    assert_fails(job_solve(solver, &job, (double[]){ 2 }, 1, &out, &err), CLO_ARGUMENT, err,
                 "negative");
    assert_true(out.cost == -1 && !out.labels);
    clo_rng_free(rng);
}

static void it_can_be_stopped_and_failing_allocations_leak_nothing(void **state)
{
    (void)state;
    const clo_solver *const solver = clo_solver_find("spectral");
    const size_t n = 410;
    double *const a = blocks(n, 3, 1, 0.5, 2);
    clo_rng *const rng = job_rng("stop");
    clo_solver_input job = job_of(a, n, n, rng);
    clo_partition out = { .cost = -1 };
    clo_error err;
    job_survives_failing_allocations(solver, &job, (double[]){ 3, 2 }, 2);
    for (int after = 1; after < 6; after++) {
        int left = after;
        job.progress = job_countdown;
        job.user = &left;
        assert_fails(job_solve(solver, &job, (double[]){ 3 }, 1, &out, &err), CLO_CANCELLED, err,
                     NULL);
        assert_true(out.cost == -1 && !out.labels);
    }
    clo_rng_free(rng);
    free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_gap_says_how_many_clusters_there_are),
        cmocka_unit_test(many_parts_are_counted_and_strays_are_not),
        cmocka_unit_test(finds_blocks_among_noise),
        cmocka_unit_test(graphs_of_one_of_k_and_of_more_components_all_work),
        cmocka_unit_test(points_without_affinity_go_to_the_largest_cluster),
        cmocka_unit_test(strays_do_not_take_a_cluster),
        cmocka_unit_test(lanczos_and_lapack_find_the_same_subspace),
        cmocka_unit_test(a_graph_without_clusters_gets_an_answer),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(the_solver_takes_an_affinity_and_says_what_the_cut_is),
        cmocka_unit_test(bad_affinities_are_refused),
        cmocka_unit_test(it_can_be_stopped_and_failing_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
