/* An inspection counts what a file holds; what it says of a run is what a run does. */
#include "check.h"
#include "bytes_file.h"
#include <cloister/cloister.h>

static clo_error err;

static clo_inspection *inspect(const char *text, const clo_read_options *options)
{
    const bytes_file file = bytes_file_open(text, strlen(text));
    clo_inspection *found = NULL;
    assert_ok(clo_inspect(file.path, options, &found, &err), err);
    bytes_file_close(file);
    return found;
}

static clo_column column_at(const clo_inspection *found, size_t j)
{
    clo_column column = { .struct_size = sizeof column };
    clo_inspection_column(found, j, &column);
    return column;
}

static const char *const MIXED = "who,x,cut,y,z\nann,1,Fair,,1\nbob,NA,Good,2,\"1,5\"\n"
                                 "cid,3,NA,x,\"2,5\"\n";

static void counts_what_a_file_holds(void **state)
{
    static const clo_column_kind kinds[] = { CLO_COLUMN_UNIT, CLO_COLUMN_NUMBERS, CLO_COLUMN_TEXT,
                                             CLO_COLUMN_NUMBERS, CLO_COLUMN_OTHER_DECIMAL };
    static const uint64_t missing[] = { 0, 1, 1, 2, 2 };
    clo_read_options options = clo_read_options_default();
    (void)state;
    options.unit = "who";
    clo_inspection *const found = inspect(MIXED, &options);
    assert_string_equal(clo_inspection_format(found), "csv");
    assert_null(clo_inspection_packing(found));
    assert_true(clo_inspection_has_header(found));
    assert_int_equal(clo_inspection_delimiter(found), ',');
    assert_int_equal(clo_inspection_rows(found), 3);
    assert_int_equal(clo_inspection_cols(found), 5);
    for (size_t j = 0; j < 5; j++) {
        const clo_column column = column_at(found, j);
        assert_int_equal(column.kind, kinds[j]);
        assert_int_equal(column.missing, missing[j]);
        assert_int_equal(column.taken, j > 0);
    }
    assert_string_equal(column_at(found, 3).name, "y");
    assert_non_null(strstr(clo_inspection_refusal(found), "decimal comma"));
    clo_inspection_free(found);
}

static void says_what_a_run_takes(void **state)
{
    clo_read_options options = clo_read_options_default();
    (void)state;
    options.columns = "x,y";
    clo_inspection *found = inspect(MIXED, &options);
    assert_non_null(
        strstr(clo_inspection_refusal(found), "more than nine in ten rows have a missing cell"));
    clo_inspection_free(found);
    options.missing = CLO_MISSING_FILL;
    found = inspect(MIXED, &options);
    assert_null(clo_inspection_refusal(found));
    assert_int_equal(clo_inspection_null_rows(found), 3);
    assert_true(column_at(found, 1).taken && column_at(found, 3).taken);
    assert_false(column_at(found, 0).taken || column_at(found, 4).taken);
    clo_inspection_free(found);
    options.missing = CLO_MISSING_REFUSE;
    found = inspect(MIXED, &options);
    assert_non_null(clo_inspection_refusal(found));
    clo_inspection_free(found);
    options = clo_read_options_default();
    options.text = CLO_TEXT_MISSING;
    found = inspect(MIXED, &options);
    assert_null(clo_inspection_refusal(found));
    clo_inspection_free(found);
}

static void a_caller_with_an_older_struct_gets_its_part(void **state)
{
    clo_column column = { .missing = 99 };
    (void)state;
    clo_inspection *const found = inspect(MIXED, NULL);
    column.struct_size = offsetof(clo_column, missing);
    clo_inspection_column(found, 1, &column);
    assert_int_equal(column.kind, CLO_COLUMN_NUMBERS);
    assert_int_equal(column.missing, 99);
    clo_inspection_free(found);
}

static void a_list_of_columns_that_are_not_there_is_refused(void **state)
{
    const bytes_file file = bytes_file_open("a,b\n1,2\n", 8);
    clo_read_options options = clo_read_options_default();
    clo_inspection *found = NULL;
    (void)state;
    options.columns = "-c";
    assert_fails(clo_inspect(file.path, &options, &found, &err), CLO_ARGUMENT, err, "no column");
    assert_null(found);
    bytes_file_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_what_a_file_holds),
        cmocka_unit_test(says_what_a_run_takes),
        cmocka_unit_test(a_caller_with_an_older_struct_gets_its_part),
        cmocka_unit_test(a_list_of_columns_that_are_not_there_is_refused),
    };
    return cmocka_run_group_tests_name("inspect", tests, NULL, NULL);
}
