/* test_solve_kplanes.c - k-planes: planted subspaces are found, and what must never happen does
 * not. */
#include "planted_flats.h"

static clo_kplanes_options options_of(const planted *p, const size_t *dims, bool affine)
{
    return (
        clo_kplanes_options){ .shape = { .clusters = p->clusters, .dims = dims, .affine = affine },
                              .restarts = 10,
                              .iterations = 200 };
}

static clo_partition solve(const clo_solver_input *job, const clo_kplanes_options *options)
{
    clo_partition found = { 0 };
    clo_error err;
    assert_ok(clo_i_kplanes(job, options, &found, &err), err);
    return found;
}

/* The cost of the planted labels, the best that can be hoped for. */
static double cost_of_truth(const planted *p, const clo_kplanes_options *options)
{
    clo_partition truth = { 0 };
    clo_error err;
    assert_ok(clo_i_fit_flats(&p->job, p->labels, &options->shape, &truth, &err), err);
    const double cost = truth.cost;
    clo_i_partition_free(&truth);
    return cost;
}

/* ---- finding -------------------------------------------------------------------------------- */

static void finds(const char *seed, size_t count, size_t cols, size_t clusters, const size_t *dims,
                  double noise, bool affine, double least)
{
    planted p = plant(seed, count, cols, clusters, dims, noise, affine ? 3 : 0);
    const clo_kplanes_options options = options_of(&p, dims, affine);
    clo_partition found = solve(&p.job, &options);
    if (least >= 1) assert_close(found.cost, cost_of_truth(&p, &options), 1e-12);
    assert_true(found.cost <= cost_of_truth(&p, &options) + 1e-12);
    assert_true(accuracy(&p, &found) >= least);
    clo_i_partition_free(&found);
    uproot(&p);
}

static void finds_linear_subspaces(void **state)
{
    const size_t dims[] = { 3, 3, 3, 3, 3 };
    finds("noiseless", 400, 12, 4, dims, 0, false, 1);
    finds("noisy", 800, 12, 4, dims, 0.05, false, 0.99);
    finds("wide", 600, 30, 5, dims, 0.05, false, 1);
    finds("many rows", 5000, 5, 3, dims, 0.01, false, 0.99);
}

static void finds_affine_subspaces(void **state)
{
    const size_t dims[] = { 2, 2, 2, 2 };
    finds("affine", 400, 8, 4, dims, 0, true, 1);
    finds("affine and noisy", 800, 25, 4, dims, 0.05, true, 1);
}

static void finds_affine_subspaces_far_from_the_origin(void **state)
{
    const size_t dims[] = { 2, 2, 2 };
    planted p = plant("far", 300, 8, 3, dims, 0.01, 3);
    for (size_t i = 0; i < 300 * 8; i++) p.rows[i] += 1e5;
    const clo_kplanes_options options = options_of(&p, dims, true);
    clo_partition found = solve(&p.job, &options);
    assert_relatively_close(found.cost, cost_of_truth(&p, &options), 1e-6);
    assert_true(accuracy(&p, &found) >= 1);
    clo_i_partition_free(&found);
    uproot(&p);
}

static void finds_subspaces_of_unequal_dimensions(void **state)
{
    const size_t dims[] = { 1, 2, 4 };
    finds("unequal", 600, 9, 3, dims, 0, false, 1);
    finds("unequal and affine", 600, 9, 3, dims, 0.02, true, 0.99);
}

static void chooses_the_dimensions_itself(void **state)
{
    const size_t dims[] = { 3, 3, 3 }, unequal[] = { 2, 3, 4 };
    for (int round = 0; round < 2; round++) {
        planted p = plant("eigengap", 600, 10, 3, round ? unequal : dims, 0.02, 0);
        clo_kplanes_options options = options_of(&p, NULL, false);
        clo_partition found = solve(&p.job, &options);
        size_t counts[11] = { 0 };
        for (size_t l = 0; l < 3; l++) counts[found.dims[l]]++;
        if (round) {
            assert_int_equal(counts[2] * counts[3] * counts[4], 1);
        } else {
            assert_int_equal(counts[3], 3);
        }
        assert_true(accuracy(&p, &found) >= 0.99);
        clo_i_partition_free(&found);
        uproot(&p);
    }
}

/* Too many columns for moments to be kept: each flat is fitted to its rows. */
static void finds_subspaces_in_more_columns_than_rows(void **state)
{
    const size_t dims[] = { 2, 2 };
    planted p = plant("columns", 60, 400, 2, dims, 0.01, 0);
    const clo_kplanes_options options = options_of(&p, dims, false);
    clo_partition found = solve(&p.job, &options);
    assert_true(accuracy(&p, &found) >= 1);
    assert_relatively_close(found.cost, cost_of_truth(&p, &options), 1e-9);
    clo_i_partition_free(&found);
    uproot(&p);
}

static void of_one_cluster_is_principal_components(void **state)
{
    const size_t dims[] = { 4, 4 }, one[] = { 2 };
    planted p = plant("one", 200, 7, 2, dims, 0.1, 1);
    for (int affine = 0; affine < 2; affine++) {
        clo_kplanes_options options = options_of(&p, one, affine);
        clo_partition found, fitted = { 0 };
        uint32_t labels[200] = { 0 };
        clo_error err;
        options.shape.clusters = 1;
        found = solve(&p.job, &options);
        assert_ok(clo_i_fit_flats(&p.job, labels, &options.shape, &fitted, &err), err);
        assert_relatively_close(found.cost, fitted.cost, 1e-12);
        clo_i_partition_free(&found);
        clo_i_partition_free(&fitted);
    }
    uproot(&p);
}

/* ---- steps ---------------------------------------------------------------------------------- */

static void never_costs_more_after_a_further_step(void **state)
{
    const size_t dims[] = { 3, 3, 3, 3, 3 };
    for (int affine = 0; affine < 2; affine++) {
        planted p = plant("monotone", 500, 24, 5, dims, 0.3, affine);
        double before = INFINITY;
        for (size_t steps = 1; steps < 25; steps++) {
            clo_kplanes_options options = options_of(&p, dims, affine);
            options.restarts = 1;
            options.iterations = steps;
            clo_solver_input job = p.job;
            job.rng = rng_of("steps");
            clo_partition found = solve(&job, &options);
            assert_true(found.cost <= before * (1 + 1e-12));
            before = found.cost;
            clo_i_partition_free(&found);
            clo_rng_free(job.rng);
        }
        uproot(&p);
    }
}

static void keeps_an_optimum_it_is_given(void **state)
{
    const size_t dims[] = { 3, 3, 3, 3 };
    for (int affine = 0; affine < 2; affine++) {
        planted p = plant("warm", 400, 25, 4, dims, 0.05, affine);
        clo_kplanes_options options = options_of(&p, dims, affine);
        clo_partition first = solve(&p.job, &options);
        clo_solver_input job = p.job;
        options.restarts = 0;
        job.start = &first;
        clo_partition again = solve(&job, &options);
        assert_relatively_close(again.cost, first.cost, 1e-12);
        assert_memory_equal(again.labels, first.labels, 400 * sizeof *first.labels);
        job.start = NULL;
        options.start_labels = first.labels;
        clo_partition labelled = solve(&job, &options);
        assert_memory_equal(labelled.labels, first.labels, 400 * sizeof *first.labels);
        clo_i_partition_free(&first);
        clo_i_partition_free(&again);
        clo_i_partition_free(&labelled);
        uproot(&p);
    }
}

/* All rows in one cluster of four: the other three must be put to use. */
static void puts_empty_clusters_to_use(void **state)
{
    const size_t dims[] = { 2, 2, 2, 2 };
    planted p = plant("empty", 400, 25, 4, dims, 0, 0);
    uint32_t *const labels = calloc(400, sizeof *labels);
    clo_kplanes_options options = options_of(&p, dims, false);
    options.restarts = 0;
    options.start_labels = labels;
    clo_partition found = solve(&p.job, &options);
    size_t sizes[4] = { 0 };
    for (size_t i = 0; i < 400; i++) sizes[found.labels[i]]++;
    for (size_t l = 0; l < 4; l++) assert_true(sizes[l] > 0);
    clo_i_partition_free(&found);
    free(labels);
    uproot(&p);
}

static void is_the_same_on_any_number_of_threads(void **state)
{
    const size_t dims[] = { 3, 3, 3, 3, 3 };
    for (int turn = 0; turn < 4; turn++) {
        const bool affine = turn % 2 == 1;
        planted p = plant("threads", 5000, 22, 5, dims, 0.2, affine);
        clo_kplanes_options options = options_of(&p, dims, affine);
        options.restarts = turn < 2 ? 1 : 6; /* threads over rows; over starts */
        options.iterations = 20;
        clo_partition found[2];
        for (int threads = 1; threads <= 2; threads++) {
            clo_solver_input job = p.job;
            job.rng = rng_of("same");
            job.threads = threads;
            found[threads - 1] = solve(&job, &options);
            clo_rng_free(job.rng);
        }
        assert_memory_equal(found[1].labels, found[0].labels, 5000 * sizeof(uint32_t));
        assert_same_doubles(found[1].bases, found[0].bases, 5 * 22 * 3);
        assert_same_doubles(&found[1].cost, &found[0].cost, 1);
        clo_i_partition_free(&found[0]);
        clo_i_partition_free(&found[1]);
        uproot(&p);
    }
}

static void bears_rows_that_are_all_the_same(void **state)
{
    const size_t dims[] = { 2, 2, 2 };
    planted p = plant("same rows", 60, 6, 3, dims, 0, 0);
    for (int zero = 0; zero < 2; zero++)
        for (int affine = 0; affine < 2; affine++) {
            for (size_t i = 0; i < 60 * 6; i++) p.rows[i] = zero ? 0 : (double)(i % 6);
            const clo_kplanes_options options = options_of(&p, dims, affine);
            clo_partition found = solve(&p.job, &options);
            assert_close(found.cost, 0, 1e-20);
            clo_i_partition_free(&found);
        }
    uproot(&p);
}

static void finds_subspaces_among_duplicates_and_zeros(void **state)
{
    const size_t dims[] = { 2, 2, 2 };
    planted p = plant("twice", 300, 8, 3, dims, 0, 0);
    memcpy(p.rows + 150 * 8, p.rows, 150 * 8 * sizeof *p.rows);
    memset(p.rows + 290 * 8, 0, 10 * 8 * sizeof *p.rows);
    const clo_kplanes_options options = options_of(&p, dims, false);
    clo_partition found = solve(&p.job, &options);
    assert_close(found.cost, 0, 1e-20);
    clo_i_partition_free(&found);
    uproot(&p);
}

/* ---- refusing ------------------------------------------------------------------------------- */

static void refuses_what_cannot_be(void **state)
{
    const size_t dims[] = { 2, 2, 2 };
    planted p = plant("refusal", 20, 4, 3, dims, 0, 0);
    clo_partition found = { 0 };
    clo_error err;
    clo_kplanes_options options = options_of(&p, NULL, false);
    options.shape.dim = 5;
    assert_fails(clo_i_kplanes(&p.job, &options, &found, &err), CLO_ARGUMENT, err, "columns");
    options.shape.dim = 1;
    options.shape.clusters = 21;
    assert_fails(clo_i_kplanes(&p.job, &options, &found, &err), CLO_ARGUMENT, err, "rows");
    options.shape.clusters = 3;
    options.restarts = 0;
    assert_fails(clo_i_kplanes(&p.job, &options, &found, &err), CLO_ARGUMENT, err, "restarts");
    const uint32_t labels[20] = { 3 };
    options.start_labels = labels;
    assert_fails(clo_i_kplanes(&p.job, &options, &found, &err), CLO_ARGUMENT, err, "label");
    assert_null(found.labels);
    uproot(&p);
}

static bool stop_at_third(void *user, double done)
{
    int *const asked = user;
    assert_true(done >= 0 && done <= 1);
    return ++*asked < 3;
}

static void stops_when_told_and_gives_nothing(void **state)
{
    const size_t dims[] = { 3, 3, 3 };
    planted p = plant("cancel", 500, 8, 3, dims, 0.2, 0);
    for (int threads = 1; threads <= 2; threads++) {
        const clo_kplanes_options options = options_of(&p, dims, false);
        clo_partition found = { 0 };
        clo_error err;
        int asked = 0;
        p.job.progress = stop_at_third;
        p.job.user = &asked;
        p.job.threads = threads;
        assert_fails(clo_i_kplanes(&p.job, &options, &found, &err), CLO_CANCELLED, err, NULL);
        assert_null(found.labels);
        assert_int_equal(asked, 3);
    }
    uproot(&p);
}

#ifdef CLO_FAULT_INJECTION
static void leaves_nothing_behind_where_memory_ends(void **state)
{
    const size_t dims[] = { 2, 2 };
    planted p = plant("memory", 40, 24, 2, dims, 0.1, 1);
    for (int kind = 0; kind < 2; kind++) {
        clo_kplanes_options options = options_of(&p, kind ? NULL : dims, true);
        options.restarts = 2;
        options.iterations = 3;
        for (uint64_t n = 1;; n += kind ? 37 : 1) {
            clo_partition found = { 0 };
            clo_error err;
            clo_i_fail_allocation(n);
            const clo_status status = clo_i_kplanes(&p.job, &options, &found, &err);
            clo_i_fail_allocation(0);
            if (status == CLO_OK) {
                clo_i_partition_free(&found);
                break;
            }
            assert_int_equal(status, CLO_MEMORY);
            assert_null(found.labels);
        }
    }
    uproot(&p);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_linear_subspaces),
        cmocka_unit_test(finds_affine_subspaces),
        cmocka_unit_test(finds_affine_subspaces_far_from_the_origin),
        cmocka_unit_test(finds_subspaces_of_unequal_dimensions),
        cmocka_unit_test(chooses_the_dimensions_itself),
        cmocka_unit_test(finds_subspaces_in_more_columns_than_rows),
        cmocka_unit_test(of_one_cluster_is_principal_components),
        cmocka_unit_test(never_costs_more_after_a_further_step),
        cmocka_unit_test(keeps_an_optimum_it_is_given),
        cmocka_unit_test(puts_empty_clusters_to_use),
        cmocka_unit_test(is_the_same_on_any_number_of_threads),
        cmocka_unit_test(bears_rows_that_are_all_the_same),
        cmocka_unit_test(finds_subspaces_among_duplicates_and_zeros),
        cmocka_unit_test(refuses_what_cannot_be),
        cmocka_unit_test(stops_when_told_and_gives_nothing),
#ifdef CLO_FAULT_INJECTION
        cmocka_unit_test(leaves_nothing_behind_where_memory_ends),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
