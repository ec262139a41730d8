/* test_table_keep.c - some rows of a table and no others, whatever the table is made of. */
#include "bytes_file.h"
#include "check.h"
#include "data/formats.h"
#include <math.h>

enum { ROWS = 60000, COLS = 3 }; /* more text than one piece of a reader */
static clo_error err;

static double cell(size_t row, size_t col)
{
    return (double)((row * 7 + col * 3) % 1000) / 8;
}

static bytes_file write_rows(bool sparse)
{
    char *text = NULL;
    size_t length = 0;
    FILE *const out = open_memstream(&text, &length);
    assert_non_null(out);
    for (size_t i = 0; i < ROWS; i++) {
        if (sparse) fprintf(out, "0");
        for (size_t j = 0; j < COLS; j++)
            if (!sparse)
                fprintf(out, "%s%.17g", j ? "," : "", cell(i, j));
            else if (j != i % COLS) /* rows have other columns, so that entries are not in step */
                fprintf(out, " %zu:%.17g", j + 1, cell(i, j));
        fputc('\n', out);
    }
    fclose(out);
    const bytes_file file = bytes_file_open(text, length);
    free(text);
    return file;
}

static void assert_rows(const clo_table *table, size_t first, size_t count, bool sparse)
{
    double *const got = calloc(count * COLS + 1, sizeof *got);
    assert_int_equal(clo_table_rows(table), count);
    clo_i_table_rows(table, 0, count, got);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < COLS; j++) {
            const bool left_out = sparse && j == (first + i) % COLS;
            assert_true(got[i * COLS + j] == (left_out ? 0 : cell(first + i, j)));
        }
    free(got);
}

static void keep_each_share(const char *path, const clo_read_options *options, bool sparse)
{
    static const size_t shares[][2] = {
        { 0, ROWS },     { 0, 1 },        { 0, 20000 },           { 19999, 20002 },
        { 1, ROWS - 2 }, { ROWS - 1, 1 }, { ROWS / 2, ROWS / 2 }, { 5, 0 },
        { ROWS, 0 }
    };
    for (size_t s = 0; s < sizeof shares / sizeof *shares; s++) {
        clo_table *table = NULL;
        assert_ok(clo_table_read(path, options, &table, &err), err);
        assert_ok(clo_table_keep(table, shares[s][0], shares[s][1], &err), err);
        assert_rows(table, shares[s][0], shares[s][1], sparse);
        if (sparse) assert_int_equal(clo_i_table_entries(table), shares[s][1] * (COLS - 1));
        clo_table_free(table);
    }
}

static void a_part_of_a_text_file_has_its_rows_and_no_others(void **state)
{
    clo_read_options options = clo_read_options_default();
    (void)state;
    const bytes_file dense = write_rows(false), sparse = write_rows(true);
    keep_each_share(dense.path, NULL, false);
    options.format = "libsvm";
    options.cols = COLS;
    keep_each_share(sparse.path, &options, true);
    bytes_file_close(dense);
    bytes_file_close(sparse);
}

static void a_part_keeps_the_units_of_its_rows(void **state)
{
    static double values[4] = { 1, 2, 3, 4 };
    static const uint64_t units[4] = { 9, 8, 8, 7 };
    clo_table *all = NULL, *part = NULL;
    (void)state;
    const clo_matrix matrix = { .data = values, .rows = 4, .cols = 1, .stride = 1 };
    assert_ok(clo_table_wrap_units(matrix, units, CLO_MISSING_NULL, &all, &err), err);
    assert_ok(clo_table_wrap_units(matrix, units, CLO_MISSING_NULL, &part, &err), err);
    assert_ok(clo_table_keep(part, 1, 2, &err), err);
    assert_memory_equal(clo_i_table_unit(part, 0), clo_i_table_unit(part, 1), CLO_UNIT_BYTES);
    double got[2];
    clo_i_table_rows(part, 0, 2, got);
    assert_true(got[0] == 2 && got[1] == 3);
    clo_table_free(part);
    clo_table_free(all);
}

static void rows_that_are_not_there_are_refused(void **state)
{
    static double values[4];
    clo_table *table = NULL;
    (void)state;
    assert_ok(clo_table_wrap((clo_matrix){ .data = values, .rows = 4, .cols = 1, .stride = 1 },
                             CLO_MISSING_NULL, &table, &err),
              err);
    assert_fails(clo_table_keep(table, 5, 0, &err), CLO_ARGUMENT, err, "no such rows");
    assert_fails(clo_table_keep(table, 1, SIZE_MAX, &err), CLO_ARGUMENT, err, "no such rows");
    assert_int_equal(clo_table_rows(table), 4);
    clo_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_of_a_text_file_has_its_rows_and_no_others),
        cmocka_unit_test(a_part_keeps_the_units_of_its_rows),
        cmocka_unit_test(rows_that_are_not_there_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
