/* test_table.c - tables as such: wrapped memory, which format a file is taken for, and what is said
 * of a path that cannot be read. */
#include "check.h"
#include "bytes_file.h"
#include "data/data.h"
#include <fcntl.h>
#include <sys/stat.h>

static clo_error err;
static char folder[64];

static int make_folder(void **state)
{
    strcpy(folder, "/tmp/cloister-table-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    return rmdir(folder);
}

static const char *file_with(const char *name, const char *text)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

/* ---- wrapping -------------------------------------------------------------------------------- */

static void wraps_memory_with_a_stride(void **state)
{
    const double cells[] = { 1, 2, -7, 3, 4, -7, 5, 6, -7 };
    const double expected[] = { 1, 2, 3, 4, 5, 6 };
    double got[6];
    clo_table *table = NULL;
    assert_ok(clo_table_wrap((clo_matrix){ cells, 3, 2, 3 }, CLO_MISSING_REFUSE, &table, &err),
              err);
    assert_int_equal(clo_table_rows(table), 3);
    assert_int_equal(clo_table_cols(table), 2);
    assert_false(clo_table_has_unit(table));
    assert_null(clo_table_column_name(table, 0));
    assert_null(clo_i_table_unit(table, 0));
    clo_i_table_rows(table, 0, 3, got);
    assert_same_doubles(got, expected, 6);
    clo_i_table_rows(table, 1, 1, got);
    assert_same_doubles(got, expected + 2, 2);
    clo_i_table_forget(table, 0, 3);
    clo_table_free(table);
}

static void many_rows_with_a_stride_come_out_in_order(void **state)
{
    enum { ROWS = 1000, COLS = 3, STRIDE = 5 };
    double *const cells = calloc(ROWS * STRIDE, sizeof *cells), got[ROWS * COLS];
    clo_table *table = NULL;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLS; j++) cells[i * STRIDE + j] = (double)(i * COLS + j);
    assert_ok(
        clo_table_wrap((clo_matrix){ cells, ROWS, COLS, STRIDE }, CLO_MISSING_NULL, &table, &err),
        err);
    clo_i_table_rows(table, 0, ROWS, got);
    for (size_t i = 0; i < ROWS * COLS; i++) assert_true(got[i] == (double)i);
    clo_table_free(table);
    free(cells);
}

static void bad_cells_of_wrapped_memory_are_nan_or_refused(void **state)
{
    const double cells[] = { 1, INFINITY, NAN, 4 };
    double got[4];
    clo_table *table = NULL;
    const clo_matrix matrix = { cells, 2, 2, 2 };
    assert_ok(clo_table_wrap(matrix, CLO_MISSING_NULL, &table, &err), err);
    clo_i_table_rows(table, 0, 2, got);
    assert_true(got[0] == 1 && isnan(got[1]) && isnan(got[2]) && got[3] == 4);
    clo_table_free(table);
    table = NULL;
    assert_fails(clo_table_wrap(matrix, CLO_MISSING_REFUSE, &table, &err), CLO_FORMAT, err,
                 "row 1, column 2");
    assert_null(table);
}

static void memory_that_is_no_matrix_is_refused(void **state)
{
    const double cell = 1;
    clo_table *table = NULL;
    assert_fails(clo_table_wrap((clo_matrix){ &cell, 1, 0, 1 }, CLO_MISSING_NULL, &table, &err),
                 CLO_ARGUMENT, err, "columns");
    assert_fails(clo_table_wrap((clo_matrix){ &cell, 1, 2, 1 }, CLO_MISSING_NULL, &table, &err),
                 CLO_ARGUMENT, err, "stride");
    assert_fails(clo_table_wrap((clo_matrix){ NULL, 1, 1, 1 }, CLO_MISSING_NULL, &table, &err),
                 CLO_ARGUMENT, err, "no data");
    assert_fails(clo_table_wrap((clo_matrix){ &cell, (size_t)1 << 31, 1, SIZE_MAX / 4 },
                                CLO_MISSING_NULL, &table, &err),
                 CLO_ARGUMENT, err, "larger than this machine's memory");
    assert_fails(clo_table_wrap((clo_matrix){ &cell, 1, 1, 1 }, (clo_missing)9, &table, &err),
                 CLO_ARGUMENT, err, "missing must be");
    assert_null(table);
}

static void no_rows_can_be_wrapped(void **state)
{
    clo_table *table = NULL;
    assert_ok(clo_table_wrap((clo_matrix){ NULL, 0, 3, 3 }, CLO_MISSING_REFUSE, &table, &err), err);
    assert_int_equal(clo_table_rows(table), 0);
    assert_int_equal(clo_table_cols(table), 3);
    clo_table_free(table);
}

static bool same_unit(const clo_table *table, size_t a, size_t b)
{
    return memcmp(clo_i_table_unit(table, a), clo_i_table_unit(table, b), CLO_UNIT_BYTES) == 0;
}

static void wrapped_rows_can_belong_to_units(void **state)
{
    const double cells[] = { 1, 2, 3, 4 };
    const uint64_t units[] = { 7, 0, 7, UINT64_MAX };
    clo_table *table = NULL;
    assert_ok(clo_table_wrap_units((clo_matrix){ cells, 4, 1, 1 }, units, CLO_MISSING_REFUSE,
                                   &table, &err),
              err);
    assert_true(clo_table_has_unit(table));
    assert_true(same_unit(table, 0, 2));
    assert_false(same_unit(table, 0, 1));
    assert_false(same_unit(table, 1, 3));
    const uint8_t nobody[CLO_UNIT_BYTES] = { 0 }; /* a unit of number 0 is somebody */
    assert_memory_not_equal(clo_i_table_unit(table, 1), nobody, sizeof nobody);
    clo_table_free(table);
    table = NULL;
    assert_ok(
        clo_table_wrap_units((clo_matrix){ NULL, 0, 3, 3 }, NULL, CLO_MISSING_NULL, &table, &err),
        err);
    assert_true(clo_table_has_unit(table)); /* without rows, too: the domain must fit */
    clo_table_free(table);
    table = NULL;
    assert_fails(
        clo_table_wrap_units((clo_matrix){ cells, 1, 2, 1 }, units, CLO_MISSING_NULL, &table, &err),
        CLO_ARGUMENT, err, "stride");
    assert_null(table);
}

static void freeing_nothing_is_fine(void **state)
{
    clo_table_free(NULL);
}

/* ---- which format it is ---------------------------------------------------------------------- */

static void expect_kind(const char *name, const char *text, bool sparse, size_t cols)
{
    const char *const path = file_with(name, text);
    clo_table *table = NULL;
    clo_read_options options = clo_read_options_default();
    if (sparse) options.cols = cols;
    assert_ok(clo_table_read(path, &options, &table, &err), err);
    assert_int_equal(clo_i_table_is_sparse(table), sparse);
    assert_int_equal(clo_table_cols(table), cols);
    clo_table_free(table);
    unlink(path);
}

static void the_format_is_found_by_content_then_by_name(void **state)
{
    expect_kind("a.dat", "1 1:2 3:4\n", true, 3);
    expect_kind("a.dat", "# made by hand\n1 1:2 3:4", true, 3);
    expect_kind("a.dat", "1 2 3\n", false, 3);
    expect_kind("a.CSV", "1;2\n", false, 2);
    expect_kind("a", "1,2\n", false, 2);
    /* The first line has a label alone: only the name tells. */
    expect_kind("a.svmlight", "1\n1 2:3\n", true, 2);
    expect_kind("a.txt", "1\n2\n", false, 1);
}

static void an_array_is_found_by_its_first_bytes(void **state)
{
    clo_table *table = NULL;
    const char bytes[] = "\x93NUMPY\x01\x00\x43\x00{'descr': '|u1', 'fortran_order': False, "
                         "'shape': (2, 1), }       \n\x05\x06";
    const bytes_file file = bytes_file_open(bytes, sizeof bytes - 1);
    double got[2];
    assert_ok(clo_table_read(file.path, NULL, &table, &err), err);
    clo_i_table_rows(table, 0, 2, got);
    assert_true(got[0] == 5 && got[1] == 6);
    clo_table_free(table);
    bytes_file_close(file);
}

static void a_format_that_is_given_wins(void **state)
{
    clo_table *table = NULL;
    clo_read_options options = clo_read_options_default();
    const char *const path = file_with("a.svm", "1 2\n");
    options.format = "CSV";
    assert_ok(clo_table_read(path, &options, &table, &err), err);
    assert_false(clo_i_table_is_sparse(table));
    clo_table_free(table);
    table = NULL;
    options.format = "npy";
    assert_fails(clo_table_read(path, &options, &table, &err), CLO_FORMAT, err,
                 "is not an NPY file");
    unlink(path);
}

static void an_unknown_format_is_refused_with_the_known_ones(void **state)
{
    clo_table *table = NULL;
    clo_read_options options = clo_read_options_default();
    options.format = "xlsx";
    assert_fails(clo_table_read("/nowhere", &options, &table, &err), CLO_ARGUMENT, err,
                 "format must be npy, libsvm or csv, not 'xlsx'");
}

static void foreign_files_are_told_apart(void **state)
{
    static const char *const starts[][2] = { { "\xfd\x37zXZ", "xz" },
                                             { "PK\x03\x04", "zip" },
                                             { "PAR1", "Parquet" },
                                             { "ARROW1", "Feather" },
                                             { " \n[1, 2]", "JSON" },
                                             { "<table>", "HTML" },
                                             { "\x89HDF", "HDF5" },
                                             { "\xff\xfe"
                                               "1",
                                               "UTF-16" } };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        clo_table *table = NULL;
        const char *const path = file_with("a.csv", starts[i][0]);
        assert_fails(clo_table_read(path, NULL, &table, &err), CLO_FORMAT, err, starts[i][1]);
        unlink(path);
    }
}

/* ---- paths that cannot be read --------------------------------------------------------------- */

static void a_path_that_cannot_be_read_is_named_with_the_reason(void **state)
{
    clo_table *table = NULL;
    assert_fails(clo_table_read("/nowhere/at.csv", NULL, &table, &err), CLO_IO, err,
                 "/nowhere/at.csv cannot be read: No such file or directory");
    assert_fails(clo_table_read(folder, NULL, &table, &err), CLO_IO, err,
                 "cannot be read: Is a directory");
    assert_fails(clo_table_read(NULL, NULL, &table, &err), CLO_ARGUMENT, err, "no file");
    if (geteuid() != 0) {
        const char *const path = file_with("locked.csv", "1\n");
        chmod(path, 0);
        assert_fails(clo_table_read(path, NULL, &table, &err), CLO_IO, err, "Permission denied");
        unlink(path);
    }
    assert_null(table);
}

static void the_end_of_a_long_path_is_shown(void **state)
{
    clo_table *table = NULL;
    char path[2048];
    memset(path, 'x', sizeof path);
    strcpy(path + sizeof path - 12, "/the_end.cs");
    assert_fails(clo_table_read(path, NULL, &table, &err), CLO_IO, err,
                 "/the_end.cs cannot be read: ");
}

static void an_error_struct_is_not_needed(void **state)
{
    clo_table *table = NULL;
    assert_int_equal(clo_table_read("/nowhere", NULL, &table, NULL), CLO_IO);
    assert_null(table);
}

static void options_of_an_older_caller_are_taken(void **state)
{
    clo_table *table = NULL;
    clo_read_options options = clo_read_options_default();
    const char *const path = file_with("a.csv", "a,b\n1,2\n");
    options.columns = "b";
    options.struct_size = offsetof(clo_read_options, unit);
    options.missing = (clo_missing)77; /* behind what that caller knew */
    assert_ok(clo_table_read(path, &options, &table, &err), err);
    assert_int_equal(clo_table_cols(table), 1);
    clo_table_free(table);
    table = NULL;
    options.struct_size = 0;
    assert_fails(clo_table_read(path, &options, &table, &err), CLO_ARGUMENT, err,
                 "clo_read_options_default");
    options = clo_read_options_default();
    options.missing = (clo_missing)0;
    assert_fails(clo_table_read(path, &options, &table, &err), CLO_ARGUMENT, err,
                 "missing must be");
    options = clo_read_options_default();
    options.header = (clo_header)9;
    assert_fails(clo_table_read(path, &options, &table, &err), CLO_ARGUMENT, err, "header must be");
    unlink(path);
}

static void standard_input_is_read(void **state)
{
    clo_table *table = NULL;
    int ends[2];
    const int kept = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "a,b\n1,2\n", 8), 8);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    const clo_status status = clo_table_read("-", NULL, &table, &err);
    clo_table *none = NULL;
    const clo_status again = clo_table_read("-", NULL, &none, NULL);
    dup2(kept, STDIN_FILENO);
    close(kept);
    assert_ok(status, err);
    assert_int_equal(clo_table_rows(table), 1);
    assert_int_equal(again, CLO_FORMAT); /* still open, and empty now */
    clo_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wraps_memory_with_a_stride),
        cmocka_unit_test(many_rows_with_a_stride_come_out_in_order),
        cmocka_unit_test(bad_cells_of_wrapped_memory_are_nan_or_refused),
        cmocka_unit_test(memory_that_is_no_matrix_is_refused),
        cmocka_unit_test(no_rows_can_be_wrapped),
        cmocka_unit_test(wrapped_rows_can_belong_to_units),
        cmocka_unit_test(freeing_nothing_is_fine),
        cmocka_unit_test(the_format_is_found_by_content_then_by_name),
        cmocka_unit_test(an_array_is_found_by_its_first_bytes),
        cmocka_unit_test(a_format_that_is_given_wins),
        cmocka_unit_test(an_unknown_format_is_refused_with_the_known_ones),
        cmocka_unit_test(foreign_files_are_told_apart),
        cmocka_unit_test(a_path_that_cannot_be_read_is_named_with_the_reason),
        cmocka_unit_test(the_end_of_a_long_path_is_shown),
        cmocka_unit_test(an_error_struct_is_not_needed),
        cmocka_unit_test(options_of_an_older_caller_are_taken),
        cmocka_unit_test(standard_input_is_read),
    };
    return cmocka_run_group_tests_name("table", tests, make_folder, remove_folder);
}
