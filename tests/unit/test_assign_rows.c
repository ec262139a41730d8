/* clo_assign_rows: the nearest centre, subspace or flat of each row, measured as the mechanism
 * measured; and releases that do not fit are refused. */
#include "pipeline.h"
#include "made_release.h"

static clo_table *table_of(const double *values, size_t rows, size_t cols)
{
    clo_error err;
    clo_table *table = NULL;
    const clo_matrix view = { values, rows, cols, cols };
    assert_ok(clo_table_wrap(view, CLO_MISSING_NULL, &table, &err), err);
    return table;
}

static void rows_go_to_the_nearest_centre(void **state)
{
    const double centers[] = { 0, 0, 3, 4 }, values[] = { 3, 3, 0, 1, NAN, 0 };
    clo_release *const release = made_release("kmeans", 2, 10, 0);
    clo_table *const table = table_of(values, 3, 2);
    uint32_t clusters[3];
    double distances[3];
    clo_error err;
    (void)state;
    put(release, "centers", centers, 2, 2, 2, 0);
    assert_ok(clo_assign_rows(release, table, clusters, distances, &err), err);
    assert_int_equal(clusters[0], 1);
    assert_int_equal(clusters[1], 0);
    assert_int_equal(clusters[2], CLO_NO_CLUSTER);
    assert_true(distances[0] == 1 && distances[1] == 1 && isnan(distances[2]));
    assert_ok(clo_assign_rows(release, table, NULL, NULL, &err), err);
    clo_table_free(table);
    clo_release_free(release);
}

/* Age and income: in their own units income alone would decide. */
static void bounds_give_columns_equal_weight(void **state)
{
    const double lower[] = { 0, 0 }, upper[] = { 100, 100000 };
    const double centers[] = { 20, 50000, 80, 51000 }, values[] = { 78, 50100 };
    clo_release *const release = made_release("kmeans", 2, sqrt(2), 0);
    clo_table *const table = table_of(values, 1, 2);
    uint32_t cluster;
    double distance;
    clo_error err;
    (void)state;
    put(release, "centers", centers, 2, 2, 2, 0);
    put_bounds(release, lower, upper);
    assert_ok(clo_assign_rows(release, table, &cluster, &distance, &err), err);
    assert_int_equal(cluster, 1);
    assert_true(fabs(distance - hypot(2.0 / 50, 900.0 / 50000)) < 1e-12);
    clo_table_free(table);
    clo_release_free(release);
}

static void rows_go_to_the_nearest_flat(void **state)
{
    const double bases[] = { 1, 0, 0, 1 }, offsets[] = { 0, 2, 5, 0 };
    const double values[] = { -7, 2.5, 5.5, 9 };
    clo_release *const release = made_release("subspaces", 2, 10, 0);
    clo_table *const table = table_of(values, 2, 2);
    uint32_t clusters[2];
    double distances[2];
    clo_error err;
    (void)state;
    put(release, "bases", bases, 3, 2, 2, 1);
    assert_ok(clo_assign_rows(release, table, clusters, distances, &err), err);
    assert_int_equal(clusters[0], 0); /* the axes themselves */
    assert_int_equal(clusters[1], 1);
    put(release, "offsets", offsets, 2, 2, 2, 0);
    assert_ok(clo_assign_rows(release, table, clusters, distances, &err), err);
    assert_true(distances[0] == 0.5 && distances[1] == 0.5);
    clo_table_free(table);
    clo_release_free(release);
}

static void one_subspace_has_all_rows(void **state)
{
    const double basis[] = { 0.6, 0.8 }, values[] = { 3, 4, -4, 3 };
    clo_release *const release = made_release("subspace", 2, 10, 0);
    clo_table *const table = table_of(values, 2, 2);
    uint32_t clusters[2];
    double distances[2];
    clo_error err;
    (void)state;
    put(release, "basis", basis, 2, 2, 1, 0);
    assert_ok(clo_assign_rows(release, table, clusters, distances, &err), err);
    assert_true(clusters[0] == 0 && clusters[1] == 0);
    assert_true(distances[0] < 1e-7 && fabs(distances[1] - 5) < 1e-12);
    clo_table_free(table);
    clo_release_free(release);
}

static void refuses(clo_release *release, clo_status expected)
{
    const double values[] = { 1, 2 };
    clo_table *const table = table_of(values, 1, 2);
    uint32_t cluster = 7;
    clo_error err;
    assert_int_equal(clo_assign_rows(release, table, &cluster, NULL, &err), expected);
    assert_int_equal(cluster, 7);
    clo_table_free(table);
    clo_release_free(release);
}

static void releases_that_do_not_fit_are_refused(void **state)
{
    const double numbers[8] = { 1, 0, 0, 1, 0, 0, 0, 0 }, bad[2] = { NAN, 0 };
    clo_release *release;
    (void)state;
    refuses(made_release("bounds", 2, 1, 0), CLO_UNSUPPORTED);
    refuses(made_release("kmeans", 2, 1, 0), CLO_FORMAT);
    put(release = made_release("kmeans", 2, 1, 0), "centers", numbers, 1, 2, 0, 0);
    refuses(release, CLO_FORMAT);
    put(release = made_release("kmeans", 3, 1, 0), "centers", numbers, 2, 1, 3, 0);
    refuses(release, CLO_ARGUMENT);
    put(release = made_release("kmeans", 2, 1, 0), "centers", bad, 2, 1, 2, 0);
    refuses(release, CLO_FORMAT);
    put(release = made_release("subspaces", 2, 1, 0), "bases", numbers, 3, 1, 2, 3);
    refuses(release, CLO_FORMAT);
    put(release = made_release("subspaces", 2, 1, 0), "bases", numbers, 3, 2, 2, 1);
    put(release, "offsets", numbers, 2, 1, 2, 0);
    refuses(release, CLO_FORMAT);
    assert_int_equal(clo_assign_rows(NULL, NULL, NULL, NULL, NULL), CLO_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_go_to_the_nearest_centre),
        cmocka_unit_test(bounds_give_columns_equal_weight),
        cmocka_unit_test(rows_go_to_the_nearest_flat),
        cmocka_unit_test(one_subspace_has_all_rows),
        cmocka_unit_test(releases_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
