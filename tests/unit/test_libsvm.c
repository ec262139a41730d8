/* test_libsvm.c - the reader of LIBSVM text, which keeps records sparse. */
#include "check.h"
#include "bytes_file.h"
#include "data/formats.h"

static clo_error err;

static clo_status read_text(const char *text, const clo_read_options *options, clo_table **out)
{
    const bytes_file file = bytes_file_open(text, strlen(text));
    clo_read_options libsvm = options ? *options : clo_read_options_default();
    if (!options) libsvm.cols = 9;
    libsvm.format = "libsvm";
    const clo_status status = clo_table_read(file.path, &libsvm, out, &err);
    bytes_file_close(file);
    return status;
}

static void expect(const char *text, const clo_read_options *options, size_t rows, size_t cols,
                   const double *values)
{
    clo_table *table = NULL;
    double got[64];
    clo_read_options declared = clo_read_options_default();
    declared.cols = cols;
    assert_ok(read_text(text, options ? options : &declared, &table), err);
    assert_true(clo_i_table_is_sparse(table));
    assert_int_equal(clo_table_rows(table), rows);
    assert_int_equal(clo_table_cols(table), cols);
    clo_i_table_rows(table, 0, rows, got);
    for (size_t i = 0; i < rows * cols; i++)
        if (!isnan(values[i]) || !isnan(got[i])) assert_same_doubles(&got[i], &values[i], 1);
    clo_table_free(table);
}

static void refuse(const char *text, const clo_read_options *options, clo_status status,
                   const char *message)
{
    clo_table *table = NULL;
    assert_fails(read_text(text, options, &table), status, err, message);
    assert_null(table);
}

#define VALUES(...)                                                                                \
    (const double[])                                                                               \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static clo_read_options options_of(size_t cols, clo_missing missing)
{
    clo_read_options options = clo_read_options_default();
    options.cols = cols;
    options.missing = missing;
    return options;
}

static void what_is_not_named_is_zero(void **state)
{
    expect("+1 1:0.5 3:2\n-1 2:-1e3\n0\n", NULL, 3, 3, VALUES(.5, 0, 2, 0, -1000, 0, 0, 0, 0));
}

static void comments_blanks_and_qid_are_skipped(void **state)
{
    expect("# made by hand\n\n  1   qid:7 1:1\t3:3  # note 5:5\r\n2#\n3 2:2", NULL, 3, 3,
           VALUES(1, 0, 3, 0, 0, 0, 0, 2, 0));
    expect("\xef\xbb\xbf"
           "1,4 1:1\n",
           NULL, 1, 1, VALUES(1));
}

static void the_number_of_columns_may_be_given(void **state)
{
    const clo_read_options options = options_of(5, CLO_MISSING_NULL);
    expect("1 1:1 3:3\n", &options, 1, 5, VALUES(1, 0, 3, 0, 0));
    expect("# no records\n", &options, 0, 5, NULL);
}

static void rows_without_any_entry_are_zero_records(void **state)
{
    expect("1\n2\n", NULL, 2, 2, VALUES(0, 0, 0, 0));
}

static void rows_are_given_as_they_are_stored(void **state)
{
    clo_table *table = NULL;
    const uint32_t *columns;
    const double *values;
    size_t count;
    const clo_read_options options = options_of(30, CLO_MISSING_NULL);
    assert_ok(read_text("1 1:0.5 30:2\n2\n3 7:0\n", &options, &table), err);
    assert_int_equal(clo_i_table_entries(table), 3);
    clo_i_table_sparse_row(table, 0, &columns, &values, &count);
    assert_int_equal(count, 2);
    assert_true(columns[0] == 0 && columns[1] == 29 && values[0] == .5 && values[1] == 2);
    clo_i_table_sparse_row(table, 1, &columns, &values, &count);
    assert_int_equal(count, 0);
    clo_i_table_sparse_row(table, 2, &columns, &values, &count);
    assert_true(count == 1 && columns[0] == 6 && values[0] == 0);
    assert_null(clo_i_table_unit(table, 0));
    clo_table_free(table);
}

static void a_bad_cell_makes_the_record_one_nan(void **state)
{
    static const char *const bad[] = {
        "1:x", "1:1 2:nan", "1:inf", "1:", "2:1e999", "1:1 4:1", "4:x", "2:1 99999999999999999999:1"
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[80];
        clo_table *table = NULL;
        const uint32_t *columns;
        const double *values;
        size_t count;
        clo_read_options options = options_of(3, CLO_MISSING_NULL);
        snprintf(text, sizeof text, "1 1:7\n1 %s\n1 2:8\n", bad[i]);
        assert_ok(read_text(text, &options, &table), err);
        assert_int_equal(clo_table_rows(table), 3);
        clo_i_table_sparse_row(table, 1, &columns, &values, &count);
        assert_true(count == 1 && columns[0] == 0 && isnan(values[0]));
        clo_i_table_sparse_row(table, 2, &columns, &values, &count);
        assert_true(count == 1 && columns[0] == 1 && values[0] == 8);
        clo_table_free(table);
        options.missing = CLO_MISSING_REFUSE;
        refuse(text, &options, CLO_FORMAT, "line 2, index ");
    }
}

static void lines_of_another_form_are_refused(void **state)
{
    refuse("1 1:1\n1 5\n", NULL, CLO_FORMAT, "line 2: every entry must be index:value");
    refuse("1 a:1\n", NULL, CLO_FORMAT, "line 1: every entry must be");
    refuse("1 1:1\n\n1 2:1 2:2\n", NULL, CLO_FORMAT, "line 3: the indices must increase");
    refuse("1 3:1 2:2\n", NULL, CLO_FORMAT, "must increase");
    refuse("1 0:1\n", NULL, CLO_FORMAT, "start at 1");
    refuse("1:1 2:2\n", NULL, CLO_FORMAT, "a label must come before");
    expect("", NULL, 0, 3, VALUES(0)); /* no records are data, too */
}

static void columns_are_chosen_by_number(void **state)
{
    clo_read_options options = options_of(4, CLO_MISSING_REFUSE);
    options.columns = "2,4";
    expect("1 1:x 2:2 3:3\n2 4:4\n", &options, 2, 2, VALUES(2, 0, 0, 4));
    options.columns = "4,1-2";
    expect("1 1:1 2:2 3:3 4:4\n", &options, 1, 3, VALUES(4, 1, 2));
    clo_table *table = NULL;
    const uint32_t *columns;
    const double *values;
    size_t count;
    assert_ok(read_text("1 1:1 2:2 4:4\n", &options, &table), err);
    clo_i_table_sparse_row(table, 0, &columns, &values, &count);
    assert_true(count == 3 && columns[0] == 0 && columns[1] == 1 && columns[2] == 2);
    clo_table_free(table);
}

static void options_that_do_not_apply_are_refused(void **state)
{
    clo_read_options options = clo_read_options_default();
    refuse("1 1:1\n", &options, CLO_ARGUMENT, "does not state its number of columns");
    options = options_of(3, CLO_MISSING_NULL);
    options.columns = "4";
    refuse("1 1:1\n", &options, CLO_ARGUMENT, "has no column 4");
    options = clo_read_options_default();
    options.unit = "1";
    refuse("1 1:1\n", &options, CLO_ARGUMENT, "no column of persons");
    options = options_of((size_t)1 << 40, CLO_MISSING_NULL);
    refuse("1 1:1\n", &options, CLO_ARGUMENT, "cols must be at most");
}

static void large_files_come_in_several_blocks(void **state)
{
    enum { ROWS = 200000 };
    char *const text = malloc((size_t)ROWS * 48);
    size_t used = 0;
    clo_table *table = NULL;
    for (int i = 0; i < ROWS; i++)
        used += (size_t)sprintf(text + used, "%d %d:%d %d:0.25\n", i % 2, i % 5 + 1, i, 7 + i % 3);
    assert_ok(read_text(text, NULL, &table), err);
    assert_int_equal(clo_table_rows(table), ROWS);
    assert_int_equal(clo_table_cols(table), 9);
    assert_int_equal(clo_i_table_entries(table), 2 * ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        const uint32_t *columns;
        const double *values;
        size_t count;
        clo_i_table_sparse_row(table, i, &columns, &values, &count);
        if (count != 2 || columns[0] != i % 5 || values[0] != (double)i || columns[1] != 6 + i % 3)
            fail_msg("row %zu is wrong", i);
    }
    clo_table_free(table);
    free(text);
}

static void a_line_is_recognized_by_its_form(void **state)
{
    static const struct {
        const char *line;
        bool is;
    } lines[] = { { "1 1:2", true },        { "-1.5 3:0.25 7:1e-3", true },
                  { "1 1:2 # note", true }, { "1 1:2 ", true },
                  { "1", false },           { "1 2", false },
                  { "1 1:2 x", false },     { "ann 12:30", false },
                  { "1 2:1 1:2", false },   { "1,2 1:3", false },
                  { "1 1:2 2:", false },    { "", false } };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char padded[128] = "";
        snprintf(padded, sizeof padded, "%s\n", lines[i].line);
        if (clo_i_is_libsvm_line(padded, strlen(lines[i].line)) != lines[i].is)
            fail_msg("'%s' is taken for what it is not", lines[i].line);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_named_is_zero),
        cmocka_unit_test(comments_blanks_and_qid_are_skipped),
        cmocka_unit_test(the_number_of_columns_may_be_given),
        cmocka_unit_test(rows_without_any_entry_are_zero_records),
        cmocka_unit_test(rows_are_given_as_they_are_stored),
        cmocka_unit_test(a_bad_cell_makes_the_record_one_nan),
        cmocka_unit_test(lines_of_another_form_are_refused),
        cmocka_unit_test(columns_are_chosen_by_number),
        cmocka_unit_test(options_that_do_not_apply_are_refused),
        cmocka_unit_test(large_files_come_in_several_blocks),
        cmocka_unit_test(a_line_is_recognized_by_its_form),
    };
    return cmocka_run_group_tests_name("libsvm", tests, NULL, NULL);
}
