/* The columns and the scale of a result (src/not_private/scale.c): assign, evaluate and solve find
 * the same columns by name, measure on the same scale, and agree about who belongs where. */
#include "bytes_file.h"
#include "made_release.h"
#include <cloister/cloister.h>
#include <math.h>

/* Age and income: in their own units income alone would decide. */
static const double lower[] = { 0, 0 }, upper[] = { 100, 100000 };
static const double two_centers[] = { 20, 50000, 80, 51000 };

static clo_release *ages(void)
{
    static const char *const names[] = { "age", "income" };
    clo_release *const release = made_release("kmeans", 2, sqrt(2), 0);
    clo_error err;
    put(release, "centers", two_centers, 2, 2, 2, 0);
    put_bounds(release, lower, upper);
    assert_ok(clo_release_name_columns(release, names, 2, &err), err);
    return release;
}

static clo_table *table_of(const char *text, clo_missing missing)
{
    clo_read_options options = clo_read_options_default();
    const bytes_file file = bytes_file_open(text, strlen(text));
    clo_table *table = NULL;
    clo_error err;
    options.text = CLO_TEXT_LATER;
    options.missing = missing;
    assert_ok(clo_table_read(file.path, &options, &table, &err), err);
    bytes_file_close(file);
    return table;
}

static void columns_are_found_by_name_and_both_agree(void **state)
{
    clo_release *const release = ages();
    clo_table *const table = table_of("town,income,age\nnorth,50100,78\nsouth,50900,22\n"
                                      "west,,20\n",
                                      CLO_MISSING_NULL);
    const double h[] = { 50, 50000 };
    clo_evaluation found = { .struct_size = sizeof found };
    clo_evaluate_options options = clo_evaluate_options_default();
    uint32_t clusters[3];
    double distances[3];
    clo_error err;
    (void)state;
    assert_ok(clo_assign_rows(release, table, clusters, distances, &err), err);
    assert_int_equal(clusters[0], 1);
    assert_int_equal(clusters[1], 0);
    assert_int_equal(clusters[2], CLO_NO_CLUSTER);
    options.truth_labels = clusters;
    assert_ok(clo_evaluate_release(release, table, &options, &found, &err), err);
    const double cost = (pow(2 / h[0], 2) + pow(900 / h[1], 2)) / 2 * 2;
    assert_true(fabs(found.cost - cost) < 1e-15);
    assert_true(fabs(found.raw_cost - (4 + 810000)) < 1e-6);
    assert_true(found.scaled && found.rows == 2 && found.rows_left_out == 1);
    assert_true(found.accuracy == 1);
    clo_table_free(table);
    clo_release_free(release);
}

/* The truth is measured on the scale of the result, in the order of its columns. */
static void a_truth_is_on_the_same_scale(void **state)
{
    clo_release *const release = ages();
    clo_table *const table = table_of("income,age\n51000,80\n50000,20\n", CLO_MISSING_NULL);
    const double truth[] = { 80, 56000, 25, 50000 };
    clo_evaluation found = { .struct_size = sizeof found };
    clo_error err;
    (void)state;
    assert_ok(clo_evaluate(release, table, (clo_matrix){ truth, 2, 2, 2 }, &found, &err), err);
    assert_true(found.cost == 0 && found.raw_cost == 0);
    assert_true(fabs(found.truth_cost - (0.01 + 0.01) / 2) < 1e-15);
    assert_true(fabs(found.raw_truth_cost - (25.0 + 25e6) / 2) < 1e-6);
    assert_true(fabs(found.distance - 0.1) < 1e-12);
    assert_true(fabs(found.raw_distance - sqrt((25.0 + 25e6) / 2)) < 1e-6);
    clo_table_free(table);
    clo_release_free(release);
}

static void refuses(const char *text, clo_status expected, const char *words)
{
    clo_release *const release = ages();
    clo_table *const table = table_of(text, CLO_MISSING_NULL);
    clo_evaluation found = { .struct_size = sizeof found };
    clo_error err;
    assert_int_equal(clo_assign_rows(release, table, NULL, NULL, &err), expected);
    assert_non_null(strstr(err.message, words));
    assert_int_equal(clo_evaluate(release, table, (clo_matrix){ 0 }, &found, &err), expected);
    assert_non_null(strstr(err.message, words));
    clo_table_free(table);
    clo_release_free(release);
}

static void what_is_not_there_is_refused_by_its_name(void **state)
{
    (void)state;
    refuses("age,wage\n1,2\n", CLO_ARGUMENT, "'income'");
    refuses("age,income,income\n1,2,3\n", CLO_ARGUMENT, "several columns 'income'");
    refuses("income,age\n1,old\n2,young\n", CLO_FORMAT, "'age' is text");
    refuses("1,2,3\n4,5,6\n", CLO_ARGUMENT, "2 columns");
}

static void without_names_columns_are_taken_by_place(void **state)
{
    clo_release *const release = ages();
    clo_table *const table = table_of("78,50100\n22,50900\n", CLO_MISSING_NULL);
    uint32_t clusters[2];
    clo_error err;
    (void)state;
    assert_ok(clo_assign_rows(release, table, clusters, NULL, &err), err);
    assert_true(clusters[0] == 1 && clusters[1] == 0);
    clo_table_free(table);
    clo_release_free(release);
}

/* The middle of the bounds stands in, as in a run. */
static void a_missing_cell_is_filled_as_a_run_would(void **state)
{
    clo_release *const release = ages();
    clo_table *const table = table_of("income,age\n,20\n", CLO_MISSING_FILL);
    uint32_t cluster;
    double distance;
    clo_error err;
    (void)state;
    assert_ok(clo_assign_rows(release, table, &cluster, &distance, &err), err);
    assert_true(cluster == 0 && distance == 0);
    clo_table_free(table);
    clo_release_free(release);
}

static void a_table_for_comparing_is_none_for_a_run(void **state)
{
    clo_table *const table = table_of("age,income\n20,50000\n", CLO_MISSING_NULL);
    clo_domain domain = clo_domain_default();
    clo_bounded *data = NULL;
    clo_error err;
    (void)state;
    domain.cols = 2;
    domain.lower = lower;
    domain.upper = upper;
    domain.rows = 1;
    assert_int_equal(clo_bound(table, &domain, &data, &err), CLO_DOMAIN);
    clo_table_free(table);
}

/* A release whose bounds are none, and one whose names are not of its values. */
static void releases_that_contradict_themselves_are_refused(void **state)
{
    clo_table *const table = table_of("age,income\n20,50000\n", CLO_MISSING_NULL);
    clo_release *release = ages();
    clo_error err;
    (void)state;
    release->facts.upper[1] = 0;
    assert_int_equal(clo_assign_rows(release, table, NULL, NULL, &err), CLO_FORMAT);
    clo_release_free(release);
    release = made_release("kmeans", 1, 1, 0);
    put(release, "centers", two_centers, 2, 2, 2, 0);
    put_bounds(release, lower, upper);
    assert_int_equal(clo_assign_rows(release, table, NULL, NULL, &err), CLO_FORMAT);
    clo_release_free(release);
    clo_table_free(table);
}

/* ---- solutions ------------------------------------------------------------------------------- */

static clo_solution *solve(const char *name, const char *dim, const clo_table *table,
                           const clo_solve_options *how)
{
    clo_params *params = NULL;
    clo_solution *solution = NULL;
    clo_error err;
    assert_ok(clo_solver_params_new(clo_solver_find(name), &params, &err), err);
    assert_ok(clo_params_set_text(params, "clusters", dim ? "1" : "2", &err), err);
    if (dim) assert_ok(clo_params_set_text(params, "dim", dim, &err), err);
    assert_ok(clo_solve(params, table, how, &solution, &err), err);
    clo_params_free(params);
    return solution;
}

static bool append(void *user, const char *bytes, size_t count)
{
    return fwrite(bytes, 1, count, user) == count;
}

static clo_solution *written_and_read(const clo_solution *solution)
{
    const bytes_file file = bytes_file_open("", 0);
    FILE *const out = fopen(file.path, "w");
    clo_solution *back = NULL;
    clo_error err;
    assert_non_null(out);
    assert_ok(clo_solution_write(solution, append, out, &err), err);
    fclose(out);
    assert_ok(clo_solution_read(file.path, &back, &err), err);
    bytes_file_close(file);
    return back;
}

static void a_solution_keeps_its_columns_and_its_scale(void **state)
{
    clo_release *const release = ages();
    clo_table *const table = table_of("town,income,age\na,40000,20\nb,60000,20\nc,40000,80\n"
                                      "d,60000,80\n",
                                      CLO_MISSING_NULL);
    clo_table *const other =
        table_of("age,income\n20,40000\n20,60000\n80,40000\n80,60000\n", CLO_MISSING_NULL);
    clo_solve_options how = clo_solve_options_default();
    clo_evaluation found = { .struct_size = sizeof found };
    clo_error err;
    (void)state;
    how.like = release;
    clo_solution *const solution = solve("kmeans", NULL, table, &how);
    assert_true(clo_solution_is_scaled(solution));
    assert_true(fabs(clo_solution_cost(solution) - 0.04) < 1e-12);
    assert_true(fabs(clo_solution_raw_cost(solution) - 1e8) < 1e-2);
    clo_solution *const back = written_and_read(solution);
    assert_ok(clo_evaluate_solution(back, other, NULL, &found, &err), err);
    assert_true(found.scaled && fabs(found.cost - 0.04) < 1e-12);
    assert_true(fabs(found.raw_cost - 1e8) < 1e-2);
    assert_true(clo_solution_raw_cost(back) == clo_solution_raw_cost(solution));
    clo_solution_free(back);
    clo_solution_free(solution);
    clo_table_free(table);
    clo_table_free(other);
    clo_release_free(release);
}

/* Rows on a line through the middle of the box: linear on the scale, and no line through the
 * origin of the data. */
static void subspaces_go_through_the_middle_of_the_bounds(void **state)
{
    clo_table *const table = table_of("age,income\n60,60000\n70,70000\n10,10000\n50,50000\n"
                                      "30,30000\n",
                                      CLO_MISSING_NULL);
    const double low[] = { 40, 0 }, high[] = { 60, 100000 };
    clo_solve_options how = clo_solve_options_default();
    clo_evaluation found = { .struct_size = sizeof found };
    clo_error err;
    (void)state;
    how.lower = low;
    how.upper = high;
    clo_solution *const solution = solve("kplanes", "1", table, &how);
    assert_true(clo_solution_cost(solution) < 1e-20);
    assert_true(clo_solution_raw_cost(solution) < 1e-12);
    const clo_matrix point = clo_solution_offsets(solution),
                     basis = clo_solution_basis(solution, 0);
    assert_true(point.data[0] == 50 && point.data[1] == 50000);
    assert_true(fabs(basis.data[1] / basis.data[0] - 1000) < 1e-6);
    assert_ok(clo_evaluate_solution(solution, table, NULL, &found, &err), err);
    assert_true(found.cost < 1e-20 && found.raw_cost < 1e-12);
    clo_solution_free(solution);
    clo_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_found_by_name_and_both_agree),
        cmocka_unit_test(a_truth_is_on_the_same_scale),
        cmocka_unit_test(what_is_not_there_is_refused_by_its_name),
        cmocka_unit_test(without_names_columns_are_taken_by_place),
        cmocka_unit_test(a_missing_cell_is_filled_as_a_run_would),
        cmocka_unit_test(a_table_for_comparing_is_none_for_a_run),
        cmocka_unit_test(releases_that_contradict_themselves_are_refused),
        cmocka_unit_test(a_solution_keeps_its_columns_and_its_scale),
        cmocka_unit_test(subspaces_go_through_the_middle_of_the_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
