/*
 * test_evaluate.c - a release measured on rows whose distances are known by hand, and every
 * mistake an operator can make with a truth.
 */
#include "check.h"
#include <cloister/evaluate.h>
#include "not_private/solution.h"
#include "release/release.h"
#include <omp.h>
#include <stdlib.h>

static const clo_matrix no_truth = { NULL, 0, 0, 0 };

static clo_release *release_of(const char *family)
{
    clo_release *release = NULL;
    assert_int_equal(clo_i_release_new(&release, NULL), CLO_OK);
    assert_int_equal(clo_i_copy_text(family, &release->facts.family, NULL), CLO_OK);
    return release;
}

static void put(clo_release *release, const char *name, const double *data, size_t rows,
                size_t cols)
{
    const size_t shape[] = { rows, cols };
    assert_int_equal(clo_i_release_put(release, name, data, cols ? 2 : 1, shape, NULL), CLO_OK);
}

static clo_table *table_of(const double *rows, size_t count, size_t cols)
{
    clo_table *table = NULL;
    const clo_matrix values = { rows, count, cols, cols };
    assert_int_equal(clo_table_wrap(values, CLO_MISSING_NULL, &table, NULL), CLO_OK);
    return table;
}

/* ---- k-means ------------------------------------------------------------- */

static const double two_centers[] = { 0, 0, 10, 0 };
static const double five_rows[] = { 1, 0, 0, 2, NAN, 0, 10, 3, 9, INFINITY };

static void centres_are_measured_on_the_rows_without_a_bad_cell(void **state)
{
    clo_release *release = release_of("kmeans");
    clo_table *table = table_of(five_rows, 5, 2);
    clo_evaluation out = { .struct_size = sizeof out };
    (void)state;
    put(release, "centers", two_centers, 2, 2);
    assert_int_equal(clo_evaluate(release, table, no_truth, &out, NULL), CLO_OK);
    assert_int_equal(out.struct_size, sizeof out);
    assert_close(out.cost, (1.0 + 4 + 9) / 3, 1e-14);
    assert_true(isnan(out.truth_cost) && isnan(out.distance));
    clo_table_free(table);
    clo_release_free(release);
}

static void medians_are_measured_by_distances(void **state)
{
    clo_release *release = release_of("kmedian");
    clo_table *table = table_of(five_rows, 5, 2);
    clo_evaluation out = { .struct_size = sizeof out };
    (void)state;
    put(release, "centers", two_centers, 2, 2);
    assert_int_equal(clo_evaluate(release, table, (clo_matrix){ two_centers, 2, 2, 2 }, &out, NULL),
                     CLO_OK);
    assert_close(out.cost, (1.0 + 2 + 3) / 3, 1e-14);
    assert_true(isnan(out.captured));
    assert_close(out.truth_cost, out.cost, 0);
    assert_true(out.by_distance);
    clo_table_free(table);
    clo_release_free(release);
}

/* The truth comes in another order and with a stride. */
static void a_truth_adds_its_own_cost_and_the_distance_of_the_best_matching(void **state)
{
    const double truth[] = { 10, 3, 99, 1, 0, 99 };
    const clo_matrix view = { truth, 2, 2, 3 };
    clo_release *release = release_of("kmeans");
    clo_table *table = table_of(five_rows, 5, 2);
    clo_evaluation out = { .struct_size = sizeof out };
    (void)state;
    put(release, "centers", two_centers, 2, 2);
    assert_int_equal(clo_evaluate(release, table, view, &out, NULL), CLO_OK);
    assert_close(out.cost, 14.0 / 3, 1e-14);
    assert_close(out.truth_cost, (0.0 + 5 + 0) / 3, 1e-14);
    assert_close(out.distance, sqrt((1.0 + 9) / 2), 1e-14);
    clo_table_free(table);
    clo_release_free(release);
}

/* ---- a subspace ---------------------------------------------------------- */

static void a_subspace_is_measured_through_the_origin_or_its_centre(void **state)
{
    const double basis[] = { 0.6, 0.8, 0 }, center[] = { 1, 1, 1 };
    const double rows[] = { 6, 8, 2, -0.8, 0.6, 0 }, shifted[] = { 7, 9, 3, 0.2, 1.6, 1 };
    clo_release *linear = release_of("subspace"), *affine = release_of("subspace");
    clo_table *table = table_of(rows, 2, 3), *far = table_of(shifted, 2, 3);
    clo_evaluation out = { .struct_size = sizeof out };
    (void)state;
    put(linear, "basis", basis, 3, 1);
    put(affine, "basis", basis, 3, 1);
    put(affine, "center", center, 3, 0);
    assert_int_equal(clo_evaluate(linear, table, no_truth, &out, NULL), CLO_OK);
    assert_close(out.cost, (4.0 + 1) / 2, 1e-14);
    assert_close(out.captured, 100.0 / 105, 1e-14); /* about the origin */
    assert_int_equal(clo_evaluate(affine, far, no_truth, &out, NULL), CLO_OK);
    assert_close(out.cost, (4.0 + 1) / 2, 1e-14);
    assert_close(out.captured, 1 - 5 / 52.5, 1e-14); /* about the mean */
    clo_table_free(table), clo_table_free(far);
    clo_release_free(linear), clo_release_free(affine);
}

/* Planes that share a line and open by 0.3; the truth's columns are neither unit nor orthogonal. */
static void a_true_basis_need_not_be_orthonormal(void **state)
{
    const double basis[] = { 1, 0, 0, 1, 0, 0 };
    const double truth[] = { 2, 50, 0, 7 * cos(0.3), 0, 7 * sin(0.3) };
    const double rows[] = { 5, 0, 2, -3, 0, 0 };
    clo_release *release = release_of("subspace");
    clo_table *table = table_of(rows, 2, 3);
    clo_evaluation out = { .struct_size = sizeof out };
    (void)state;
    put(release, "basis", basis, 3, 2);
    assert_int_equal(clo_evaluate(release, table, (clo_matrix){ truth, 3, 2, 2 }, &out, NULL),
                     CLO_OK);
    assert_close(out.cost, 2, 1e-14);
    assert_close(out.truth_cost, 2 * cos(0.3) * cos(0.3), 1e-13);
    assert_close(out.distance, sin(0.3), 1e-14);
    clo_table_free(table);
    clo_release_free(release);
}

/* 10000 rows are three blocks; the mean must not care, nor the threads. */
static void a_table_of_many_blocks_gives_the_same_bits_on_any_number_of_threads(void **state)
{
    enum { N = 10000 };
    double *rows = calloc(N, 2 * sizeof *rows), expected = 0;
    clo_release *release = release_of("kmeans");
    clo_evaluation one = { .struct_size = sizeof one }, three = one;
    (void)state;
    assert_non_null(rows);
    for (size_t i = 0; i < N; i++) {
        rows[2 * i] = i % 2 ? 10 : 0;
        rows[2 * i + 1] = (double)(i % 100) / 64;
        expected += rows[2 * i + 1] * rows[2 * i + 1] / N;
    }
    clo_table *table = table_of(rows, N, 2);
    put(release, "centers", two_centers, 2, 2);
    omp_set_num_threads(1);
    assert_int_equal(clo_evaluate(release, table, no_truth, &one, NULL), CLO_OK);
    omp_set_num_threads(3);
    assert_int_equal(clo_evaluate(release, table, no_truth, &three, NULL), CLO_OK);
    assert_close(one.cost, expected, 1e-12);
    assert_memory_equal(&one.cost, &three.cost, sizeof one.cost);
    clo_table_free(table);
    clo_release_free(release);
    free(rows);
}

/* ---- several subspaces --------------------------------------------------- */

static void put_bases(clo_release *release, const double *data, size_t k, size_t d, size_t q)
{
    const size_t shape[] = { k, d, q };
    assert_int_equal(clo_i_release_put(release, "bases", data, 3, shape, NULL), CLO_OK);
}

/* The plane of the first two axes and the third axis, which has a column of zeros. */
static const double plane_and_line[] = { 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0 };
static const double cross_rows[] = { 3, 4, 0.5, 0.1, 0, 7, NAN, 0, 0, 5, 0, 0 };

static void subspaces_of_unequal_dimensions_are_measured_and_matched(void **state)
{
    /* in the other order; the plane turned by 0.2 about the first axis */
    const double truth[] = { 0, 0, 0, 0, -2, 0, 3, 0, 0, cos(0.2), 0, sin(0.2) };
    clo_release *release = release_of("subspaces");
    clo_table *table = table_of(cross_rows, 4, 3);
    clo_evaluation out = { .struct_size = sizeof out };
    clo_error err;
    (void)state;
    put_bases(release, plane_and_line, 2, 3, 2);
    assert_ok(clo_evaluate(release, table, (clo_matrix){ truth, 6, 2, 2 }, &out, &err), err);
    assert_close(out.cost, (0.25 + 0.01 + 0) / 3, 1e-14);
    assert_close(out.distance, sin(0.2), 1e-14);
    assert_close(out.largest_angle, 0.2, 1e-14);
    assert_true(out.truth_cost > 0 && isnan(out.accuracy));
    clo_table_free(table);
    clo_release_free(release);
}

/* A truth of one column: the plane has a dimension more, which is half a unit of the square. */
static void a_truth_may_have_fewer_columns_than_the_release(void **state)
{
    const double truth[] = { 1, 0, 0, 0, 0, 1 };
    clo_release *release = release_of("subspaces");
    clo_table *table = table_of(cross_rows, 4, 3);
    clo_evaluation out = { .struct_size = sizeof out };
    clo_error err;
    (void)state;
    put_bases(release, plane_and_line, 2, 3, 2);
    assert_ok(clo_evaluate(release, table, (clo_matrix){ truth, 6, 1, 1 }, &out, &err), err);
    assert_close(out.distance, sqrt(0.5), 1e-14);
    assert_close(out.largest_angle, 0, 1e-14);
    clo_table_free(table);
    clo_release_free(release);
}

static void offsets_move_the_subspaces_and_their_truth(void **state)
{
    const double offsets[] = { 0, 0, 1, 0, 9, 0 }, rows[] = { 3, 4, 1, 0, 9, 5 };
    clo_release *release = release_of("subspaces");
    clo_table *table = table_of(rows, 2, 3);
    clo_evaluation out = { .struct_size = sizeof out };
    clo_evaluate_options options = clo_evaluate_options_default();
    clo_error err;
    (void)state;
    put_bases(release, plane_and_line, 2, 3, 2);
    put(release, "offsets", offsets, 2, 3);
    options.truth = (clo_matrix){ plane_and_line, 6, 2, 2 };
    assert_ok(clo_evaluate_release(release, table, &options, &out, &err), err);
    assert_close(out.cost, 0, 1e-28);
    assert_close(out.truth_cost, (1.0 + 25) / 2, 1e-13); /* through the origin */
    options.truth_offsets = (clo_matrix){ offsets, 2, 3, 3 };
    assert_ok(clo_evaluate_release(release, table, &options, &out, &err), err);
    assert_close(out.truth_cost, 0, 1e-28);
    clo_table_free(table);
    clo_release_free(release);
}

/* ---- labels -------------------------------------------------------------- */

static void labels_are_scored_without_bad_rows_and_outliers(void **state)
{
    const double rows[] = { 1, 0, 0, 2, NAN, 0, 10, 3, 9, 0, 9, 1 };
    const uint32_t truth[] = { 1, 1, 1, 0, 1, 2 }, own[] = { 0, 0, 0, 1, 0, 1 };
    clo_release *release = release_of("kmeans");
    clo_table *table = table_of(rows, 6, 2);
    clo_evaluation out = { .struct_size = sizeof out };
    clo_evaluate_options options = clo_evaluate_options_default();
    clo_error err;
    (void)state;
    put(release, "centers", two_centers, 2, 2);
    options.truth_labels = truth; /* the nearest: 0 0 - 1 1 1; row 2 is bad and row 5 an outlier */
    assert_ok(clo_evaluate_release(release, table, &options, &out, &err), err);
    assert_close(out.accuracy, 0.75, 1e-15);
    assert_true(out.nmi < 1 && out.ari < 1);
    options.truth_clusters = 3; /* and now it is not: 0 and 1 and one of 1, 2 are wrong */
    assert_ok(clo_evaluate_release(release, table, &options, &out, &err), err);
    assert_close(out.accuracy, 0.6, 1e-15);
    options.truth_clusters = 0;
    options.labels = own;
    assert_ok(clo_evaluate_release(release, table, &options, &out, &err), err);
    assert_true(out.accuracy == 1 && out.nmi == 1 && out.ari == 1);
    clo_table_free(table);
    clo_release_free(release);
}

static void labels_that_cannot_be_scored_are_refused(void **state)
{
    const uint32_t high[] = { 7, 7, 7, 7, 7 }, fine[] = { 0, 0, 0, 1, 1 };
    clo_release *release = release_of("kmeans");
    clo_table *table = table_of(five_rows, 5, 2);
    clo_evaluation out = { .struct_size = sizeof out, .cost = 7 };
    clo_evaluate_options options = clo_evaluate_options_default();
    clo_error err;
    (void)state;
    put(release, "centers", two_centers, 2, 2);
    options.truth_labels = high;
    assert_fails(clo_evaluate_release(release, table, &options, &out, &err), CLO_ARGUMENT, err,
                 "no row has a true label below 2: there is nothing to compare the clusters with");
    options.truth_labels = fine;
    options.labels = high;
    assert_fails(clo_evaluate_release(release, table, &options, &out, &err), CLO_ARGUMENT, err,
                 "the cluster of each row must be a number below 2");
    options.struct_size = 3;
    assert_fails(clo_evaluate_release(release, table, &options, &out, &err), CLO_ARGUMENT, err,
                 "a clo_evaluate_options must start from");
    assert_true(out.cost == 7);
    clo_table_free(table);
    clo_release_free(release);
}

/* ---- solutions ----------------------------------------------------------- */

/* A solution puts the last row where it is not nearest, and is believed. */
static void a_solution_is_measured_with_its_own_labels(void **state)
{
    const uint32_t labels[] = { 0, 1, 0 }, truth[] = { 1, 0, 1 };
    const double rows[] = { 3, 4, 0.5, 0.1, 0, 7, 0, 0, 2 };
    clo_partition partition = { .count = 0 };
    clo_solution *solution = NULL;
    clo_table *table = table_of(rows, 3, 3);
    clo_evaluation out = { .struct_size = sizeof out };
    clo_evaluate_options options = clo_evaluate_options_default();
    clo_error err;
    (void)state;
    assert_ok(clo_i_partition_new(3, 2, 3, 2, false, &partition, &err), err);
    memcpy(partition.labels, labels, sizeof labels);
    memcpy(partition.bases, plane_and_line, sizeof plane_and_line);
    partition.dims[0] = 2, partition.dims[1] = 1;
    assert_ok(clo_i_solution_new("kplanes", &partition, &solution, &err), err);
    options.truth = (clo_matrix){ plane_and_line, 6, 2, 2 };
    options.truth_labels = truth;
    assert_ok(clo_evaluate_solution(solution, table, &options, &out, &err), err);
    assert_close(out.cost, (0.25 + 0.01) / 3, 1e-14);
    assert_close(out.distance, 0, 1e-15);
    assert_true(out.accuracy == 1);
    options.truth = (clo_matrix){ plane_and_line, 4, 2, 2 };
    assert_fails(clo_evaluate_solution(solution, table, &options, &out, &err), CLO_ARGUMENT, err,
                 "the truth must be the bases of 2 subspaces on top of each other, as the solution "
                 "has (6 rows, at most 3 columns), not a 4 x 2 matrix");
    clo_solution_free(solution);
    clo_i_partition_free(&partition);
    clo_table_free(table);
}

static void an_older_caller_gets_the_fields_that_it_knows(void **state)
{
    clo_release *release = release_of("kmeans");
    clo_table *table = table_of(five_rows, 5, 2);
    clo_evaluation out = { .struct_size = offsetof(clo_evaluation, accuracy), .accuracy = 7 };
    clo_error err;
    (void)state;
    put(release, "centers", two_centers, 2, 2);
    assert_ok(clo_evaluate(release, table, no_truth, &out, &err), err);
    assert_close(out.cost, 14.0 / 3, 1e-14);
    assert_int_equal(out.struct_size, offsetof(clo_evaluation, accuracy));
    assert_true(out.accuracy == 7);
    out.struct_size = 0;
    assert_fails(clo_evaluate(release, table, no_truth, &out, &err), CLO_ARGUMENT, err,
                 "the struct_size of the clo_evaluation must be set to its size");
    clo_table_free(table);
    clo_release_free(release);
}

/* ---- mistakes ------------------------------------------------------------ */

static void refuse(const clo_release *release, const clo_table *table, clo_matrix truth,
                   clo_status status, const char *message)
{
    clo_evaluation out, before;
    clo_error err = { .status = CLO_OK };
    memset(&out, 7, sizeof out);
    out.struct_size = sizeof out;
    before = out;
    assert_int_equal(clo_evaluate(release, table, truth, &out, &err), status);
    assert_string_equal(err.message, message);
    assert_memory_equal(&out, &before, sizeof out);
}

static void a_truth_of_another_shape_is_refused_with_the_right_one(void **state)
{
    const double numbers[] = { 1, 2, 3, 4, 5, 6, NAN, 8 };
    clo_release *kmeans = release_of("kmeans"), *subspace = release_of("subspace");
    clo_table *table = table_of(five_rows, 5, 2);
    (void)state;
    put(kmeans, "centers", two_centers, 2, 2);
    put(subspace, "basis", two_centers + 1, 2, 1);
    refuse(kmeans, table, (clo_matrix){ numbers, 3, 2, 2 }, CLO_ARGUMENT,
           "the truth must be 2 centers of 2 columns, as the release has, not a 3 x 2 matrix");
    refuse(subspace, table, (clo_matrix){ numbers, 1, 2, 2 }, CLO_ARGUMENT,
           "the truth must be a 2 x 1 basis (columns of the data x dimension), as the release "
           "has, not a 1 x 2 matrix");
    refuse(kmeans, table, (clo_matrix){ numbers + 4, 2, 2, 2 }, CLO_ARGUMENT,
           "the truth must consist of finite numbers");
    refuse(kmeans, table, (clo_matrix){ numbers, 2, 2, 1 }, CLO_ARGUMENT,
           "the truth must have data, and a stride of at least its columns");
    clo_table_free(table);
    clo_release_free(kmeans), clo_release_free(subspace);
}

static void a_truth_that_is_no_basis_is_refused(void **state)
{
    const double basis[] = { 1, 0, 0, 1, 0, 0 };
    const double dependent[] = { 1, 3, 2, 6, 3, 9 }, zero[] = { 1, 0, 2, 0, 3, 0 };
    const double rows[] = { 1, 2, 3 };
    clo_release *release = release_of("subspace");
    clo_table *table = table_of(rows, 1, 3);
    (void)state;
    put(release, "basis", basis, 3, 2);
    refuse(release, table, (clo_matrix){ dependent, 3, 2, 2 }, CLO_ARGUMENT,
           "the 2 columns of the truth are linearly dependent: they are no basis");
    refuse(release, table, (clo_matrix){ zero, 3, 2, 2 }, CLO_ARGUMENT,
           "the 2 columns of the truth are linearly dependent: they are no basis");
    clo_table_free(table);
    clo_release_free(release);
}

static void a_table_that_does_not_fit_the_release_is_refused(void **state)
{
    const double bad[] = { NAN, 1, 2, INFINITY };
    clo_release *release = release_of("kmeans");
    clo_table *wide = table_of(two_centers, 1, 4), *empty = table_of(bad, 2, 2);
    (void)state;
    put(release, "centers", two_centers, 2, 2);
    refuse(release, wide, no_truth, CLO_ARGUMENT,
           "the release has 2 columns, but the data have 4: choose the same columns with columns");
    refuse(release, empty, no_truth, CLO_ARGUMENT,
           "every row has a missing cell: there is nothing to evaluate");
    refuse(NULL, wide, no_truth, CLO_ARGUMENT,
           "a release, a table and a place for the result must be given");
    clo_table_free(wide), clo_table_free(empty);
    clo_release_free(release);
}

static void a_release_without_its_arrays_or_of_another_family_is_refused(void **state)
{
    const double numbers[] = { 1, 2, NAN, 4 };
    clo_release *bounds = release_of("bounds"), *bare = release_of("kmeans");
    clo_release *flat = release_of("subspace"), *broken = release_of("kmeans");
    clo_release *wide = release_of("subspace"), *apart = release_of("subspace");
    clo_table *table = table_of(five_rows, 5, 2);
    (void)state;
    put(flat, "basis", numbers, 2, 0);
    put(broken, "centers", numbers, 2, 2);
    put(wide, "basis", numbers, 1, 2);
    put(apart, "basis", numbers, 2, 1);
    put(apart, "center", numbers, 1, 0);
    refuse(bounds, table, no_truth, CLO_UNSUPPORTED,
           "a release of the family \"bounds\" has no clusters: use one of kmeans, kmedian, "
           "subspace or subspaces");
    refuse(bare, table, no_truth, CLO_FORMAT,
           "the release has no array \"centers\" of 2 dimensions");
    refuse(flat, table, no_truth, CLO_FORMAT, "the release has no array \"basis\" of 2 dimensions");
    refuse(broken, table, no_truth, CLO_FORMAT,
           "the released centers must consist of finite numbers");
    refuse(wide, table, no_truth, CLO_FORMAT, "the released basis has more columns than rows");
    refuse(apart, table, no_truth, CLO_FORMAT,
           "the released center must be 2 finite numbers, as the basis has rows");
    clo_table_free(table);
    clo_release_free(bounds), clo_release_free(bare), clo_release_free(flat);
    clo_release_free(broken), clo_release_free(wide), clo_release_free(apart);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(centres_are_measured_on_the_rows_without_a_bad_cell),
        cmocka_unit_test(medians_are_measured_by_distances),
        cmocka_unit_test(a_truth_adds_its_own_cost_and_the_distance_of_the_best_matching),
        cmocka_unit_test(a_subspace_is_measured_through_the_origin_or_its_centre),
        cmocka_unit_test(a_true_basis_need_not_be_orthonormal),
        cmocka_unit_test(a_table_of_many_blocks_gives_the_same_bits_on_any_number_of_threads),
        cmocka_unit_test(subspaces_of_unequal_dimensions_are_measured_and_matched),
        cmocka_unit_test(a_truth_may_have_fewer_columns_than_the_release),
        cmocka_unit_test(offsets_move_the_subspaces_and_their_truth),
        cmocka_unit_test(labels_are_scored_without_bad_rows_and_outliers),
        cmocka_unit_test(labels_that_cannot_be_scored_are_refused),
        cmocka_unit_test(a_solution_is_measured_with_its_own_labels),
        cmocka_unit_test(an_older_caller_gets_the_fields_that_it_knows),
        cmocka_unit_test(a_truth_of_another_shape_is_refused_with_the_right_one),
        cmocka_unit_test(a_truth_that_is_no_basis_is_refused),
        cmocka_unit_test(a_table_that_does_not_fit_the_release_is_refused),
        cmocka_unit_test(a_release_without_its_arrays_or_of_another_family_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
