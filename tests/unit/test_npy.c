/* test_npy.c - the reader of NPY: every layout that it takes, every lie that it refuses. */
#include "check.h"
#include "bytes_file.h"
#include "data/formats.h"

static clo_error err;

/* A file of version 1 to 3 with this dictionary and these data. */
static size_t make_npy(uint8_t *out, int version, const char *dictionary, const void *data,
                       size_t bytes)
{
    const size_t length = strlen(dictionary) + 1, start = version == 1 ? 10 : 12;
    memcpy(out, "\x93NUMPY", 6);
    out[6] = (uint8_t)version;
    out[7] = 0;
    out[8] = (uint8_t)length;
    out[9] = (uint8_t)(length >> 8);
    if (version > 1) out[10] = out[11] = 0;
    memcpy(out + start, dictionary, length - 1);
    out[start + length - 1] = '\n';
    if (bytes) memcpy(out + start + length, data, bytes);
    return start + length + bytes;
}

static clo_status read_file(const uint8_t *bytes, size_t count, const clo_read_options *options,
                            clo_table **out)
{
    const bytes_file file = bytes_file_open(bytes, count);
    const clo_status status = clo_table_read(file.path, options, out, &err);
    bytes_file_close(file);
    return status;
}

/* The same through a pipe, which cannot be mapped. */
static clo_status read_pipe(const uint8_t *bytes, size_t count, const clo_read_options *options,
                            clo_table **out)
{
    int ends[2];
    char path[40];
    if (pipe(ends) != 0 || write(ends[1], bytes, count) != (ssize_t)count) abort();
    close(ends[1]);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    const clo_status status = clo_table_read(path, options, out, &err);
    close(ends[0]);
    return status;
}

static void expect_values(clo_table *table, size_t rows, size_t cols, const double *values)
{
    double got[64];
    assert_int_equal(clo_table_rows(table), rows);
    assert_int_equal(clo_table_cols(table), cols);
    assert_false(clo_i_table_is_sparse(table));
    clo_i_table_rows(table, 0, rows, got);
    for (size_t i = 0; i < rows * cols; i++)
        if (!isnan(got[i]) || !isnan(values[i])) assert_same_doubles(&got[i], &values[i], 1);
    for (size_t i = 0; i < rows; i++) {
        double row[16];
        clo_i_table_rows(table, i, 1, row);
        assert_memory_equal(row, got + i * cols, cols * sizeof *row);
    }
    clo_i_table_forget(table, 0, rows);
    if (rows) clo_i_table_rows(table, rows - 1, 1, got);
    clo_table_free(table);
}

static void expect(int version, const char *dictionary, const void *data, size_t bytes,
                   const clo_read_options *options, size_t rows, size_t cols, const double *values)
{
    uint8_t file[1024];
    clo_table *table = NULL;
    const size_t count = make_npy(file, version, dictionary, data, bytes);
    assert_ok(read_file(file, count, options, &table), err);
    expect_values(table, rows, cols, values);
    table = NULL;
    assert_ok(read_pipe(file, count, options, &table), err);
    expect_values(table, rows, cols, values);
}

static void refuse(const char *dictionary, const void *data, size_t bytes,
                   const clo_read_options *options, clo_status status, const char *message)
{
    uint8_t file[1024];
    clo_table *table = NULL;
    const size_t count = make_npy(file, 1, dictionary, data, bytes);
    assert_fails(read_file(file, count, options, &table), status, err, message);
    assert_fails(read_pipe(file, count, options, &table), status, err, message);
    assert_null(table);
}

#define VALUES(...)                                                                                \
    (const double[])                                                                               \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define F8_2X3 "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }"

static const double six[] = { 1, 2, 3, 4, 5, 6 };

static void reads_every_version(void **state)
{
    for (int version = 1; version <= 3; version++)
        expect(version, F8_2X3, six, sizeof six, NULL, 2, 3, six);
}

static void reads_every_type(void **state)
{
    const float f4[] = { 1.5f, -2, 3, 4 };
    const int32_t i4[] = { 1, -2147483647 - 1, 3, 4 };
    const int64_t i8[] = { 1, -(INT64_C(1) << 52), 3, 4 };
    const uint8_t u1[] = { 0, 255, 3, 4 };
    expect(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)}", f4, sizeof f4, NULL, 2,
           2, VALUES(1.5, -2, 3, 4));
    expect(1, "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 2)}", i4, sizeof i4, NULL, 2,
           2, VALUES(1, -2147483648.0, 3, 4));
    expect(1, "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 2)}", i8, sizeof i8, NULL, 2,
           2, VALUES(1, -4503599627370496.0, 3, 4));
    expect(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2)}", u1, sizeof u1, NULL, 2,
           2, VALUES(0, 255, 3, 4));
    expect(1, "{'descr': '=f8', 'fortran_order': False, 'shape': (2, 3)}", six, sizeof six, NULL, 2,
           3, six);
}

static void reads_both_orders(void **state)
{
    expect(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }", six, sizeof six, NULL,
           2, 3, VALUES(1, 3, 5, 2, 4, 6));
    expect(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (6, 1), }", six, sizeof six, NULL,
           6, 1, six);
    expect(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (1, 6), }", six, sizeof six, NULL,
           1, 6, six);
}

static void a_vector_is_one_column(void **state)
{
    expect(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (6,), }", six, sizeof six, NULL, 6,
           1, six);
    expect(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (6L,), }", six, sizeof six, NULL, 6,
           1, six);
}

static void no_rows_are_allowed(void **state)
{
    expect(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3), }", NULL, 0, NULL, 0, 3,
           NULL);
}

static void the_dictionary_may_be_written_otherwise(void **state)
{
    expect(1, "{ \"shape\" :(2,3) , \"fortran_order\":False,\"descr\": \"<f8\" }   ", six,
           sizeof six, NULL, 2, 3, six);
}

static void data_that_are_not_aligned_are_read(void **state)
{
    char dictionary[128];
    for (int blanks = 0; blanks < 8; blanks++) {
        snprintf(dictionary, sizeof dictionary, "%s%*s", F8_2X3, blanks, "");
        expect(1, dictionary, six, sizeof six, NULL, 2, 3, six);
    }
}

static void columns_are_chosen_by_number(void **state)
{
    clo_read_options options = clo_read_options_default();
    options.columns = "3,1";
    expect(1, F8_2X3, six, sizeof six, &options, 2, 2, VALUES(3, 1, 6, 4));
    expect(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }", six, sizeof six,
           &options, 2, 2, VALUES(5, 1, 6, 2));
    options.columns = "4";
    refuse(F8_2X3, six, sizeof six, &options, CLO_ARGUMENT, "has no column 4");
    options.columns = "age";
    refuse(F8_2X3, six, sizeof six, &options, CLO_ARGUMENT, "columns have no names");
}

static void the_unit_is_a_column_too(void **state)
{
    const int64_t big = INT64_C(1) << 60;
    const int64_t rows[] = { big, 1, big + 1, 2, big, 3 };
    uint8_t file[512];
    clo_table *table = NULL;
    clo_read_options options = clo_read_options_default();
    options.unit = "1";
    const size_t count = make_npy(
        file, 1, "{'descr': '<i8', 'fortran_order': False, 'shape': (3, 2)}", rows, sizeof rows);
    assert_ok(read_file(file, count, &options, &table), err);
    assert_int_equal(clo_table_cols(table), 1);
    assert_true(clo_table_has_unit(table));
    /* As doubles the first two would be one person. */
    assert_memory_not_equal(clo_i_table_unit(table, 0), clo_i_table_unit(table, 1), CLO_UNIT_BYTES);
    assert_memory_equal(clo_i_table_unit(table, 0), clo_i_table_unit(table, 2), CLO_UNIT_BYTES);
    expect_values(table, 3, 1, VALUES(1, 2, 3));
}

static void zero_and_minus_zero_are_one_unit(void **state)
{
    const double rows[] = { 0.0, 1, -0.0, 2 };
    uint8_t file[512];
    clo_table *table = NULL;
    clo_read_options options = clo_read_options_default();
    options.unit = "1";
    const size_t count = make_npy(
        file, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2)}", rows, sizeof rows);
    assert_ok(read_file(file, count, &options, &table), err);
    assert_memory_equal(clo_i_table_unit(table, 0), clo_i_table_unit(table, 1), CLO_UNIT_BYTES);
    clo_table_free(table);
}

static void bad_cells_are_nan_or_refused(void **state)
{
    const double rows[] = { 1, 2, 3, 4, -INFINITY, 6 };
    clo_read_options options = clo_read_options_default();
    expect(1, F8_2X3, rows, sizeof rows, &options, 2, 3, VALUES(1, 2, 3, 4, NAN, 6));
    options.missing = CLO_MISSING_REFUSE;
    refuse(F8_2X3, rows, sizeof rows, &options, CLO_FORMAT, "row 2, column 2: not a finite number");
    options.columns = "3,1";
    expect(1, F8_2X3, rows, sizeof rows, &options, 2, 2, VALUES(3, 1, 6, 4));
}

static void a_header_that_lies_is_refused(void **state)
{
    refuse(F8_2X3, six, sizeof six - 1, NULL, CLO_FORMAT,
           "shorter than its header says: 2 x 3 cells");
    refuse(F8_2X3, six, 0, NULL, CLO_FORMAT, "shorter than its header says");
    refuse("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }", six, sizeof six, NULL,
           CLO_FORMAT, "longer than its header says");
    refuse("{'descr': '<f8', 'fortran_order': False, 'shape': (2000000000, 1000), }", six,
           sizeof six, NULL, CLO_FORMAT, "shorter");
}

static void shapes_that_cannot_be_are_refused(void **state)
{
    static const char *const shapes[][2] = {
        { "(-2, 3)", "is impossible" },   { "(99999999999999999999, 3)", "is impossible" },
        { "(2, 3.0)", "shape must be" },  { "()", "shape must be" },
        { "(1, 2, 3)", "shape must be" }, { "(2, 0)", "has 0 columns" },
        { "(2, 3000000)", "columns" },    { "(3000000000, 3)", "rows" },
        { "2, 3", "no readable shape" },  { "(2, 3", "shape must be" },
        { "(,)", "is impossible" },
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        char dictionary[128];
        snprintf(dictionary, sizeof dictionary,
                 "{'descr': '<f8', 'fortran_order': False, 'shape': %s}", shapes[i][0]);
        refuse(dictionary, six, sizeof six, NULL, CLO_FORMAT, shapes[i][1]);
    }
}

static void types_that_cannot_be_read_are_refused(void **state)
{
    static const char *const types[][2] = {
        { "'|O'", "Python objects" },
        { "'>f8'", "big-endian" },
        { "'<c16'", "'<c16'" },
        { "'<U5'", "float64, float32" },
        { "'|f8'", "float64, float32" },
        { "[('a', '<f8')]", "structured" },
        { "'f8'", "float64, float32" },
        { "8", "no readable descr" },
        { "'<f8", NULL },
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char dictionary[128];
        snprintf(dictionary, sizeof dictionary,
                 "{'descr': %s, 'fortran_order': False, 'shape': (2, 3)}", types[i][0]);
        refuse(dictionary, six, sizeof six, NULL, CLO_FORMAT, types[i][1]);
    }
}

static void dictionaries_that_do_not_fit_the_grammar_are_refused(void **state)
{
    static const char *const dictionaries[] = {
        "",
        "{}",
        "{'descr': '<f8', 'fortran_order': False}",
        "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), 'x': 1}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)} import os",
        "{'descr': '<f8', 'fortran_order': 0, 'shape': (2, 3)}",
        "{'descr': '<f8' 'fortran_order': False, 'shape': (2, 3)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)},",
    };
    for (size_t i = 0; i < sizeof dictionaries / sizeof *dictionaries; i++)
        refuse(dictionaries[i], six, sizeof six, NULL, CLO_FORMAT, NULL);
}

static void files_that_are_cut_off_are_refused(void **state)
{
    uint8_t file[512];
    clo_read_options options = clo_read_options_default();
    options.format = "npy";
    const size_t count = make_npy(file, 2, F8_2X3, six, sizeof six);
    for (size_t cut = 1; cut < count; cut++) {
        clo_table *table = NULL;
        assert_fails(read_file(file, cut, &options, &table), CLO_FORMAT, err, NULL);
        assert_fails(read_pipe(file, cut, &options, &table), CLO_FORMAT, err, NULL);
    }
}

static void other_versions_and_long_headers_are_refused(void **state)
{
    uint8_t file[512];
    clo_table *table = NULL;
    const size_t count = make_npy(file, 2, F8_2X3, six, sizeof six);
    file[10] = 2; /* 131072 bytes and more */
    assert_fails(read_file(file, count, NULL, &table), CLO_FORMAT, err,
                 "header is longer than 65536");
    file[10] = 0;
    file[6] = 4;
    assert_fails(read_file(file, count, NULL, &table), CLO_FORMAT, err, "version 4");
}

static void a_large_stream_is_read_whole(void **state)
{
    enum { ROWS = 300000 };
    const size_t bytes = ROWS * sizeof(double);
    uint8_t *const file = malloc(bytes + 256);
    double *const data = malloc(bytes), *const got = malloc(bytes);
    clo_table *table = NULL;
    int ends[2];
    char path[40], dictionary[100];
    for (size_t i = 0; i < ROWS; i++) data[i] = (double)i;
    snprintf(dictionary, sizeof dictionary,
             "{'descr': '<f8', 'fortran_order': False, 'shape': (%d,)}", ROWS);
    const size_t count = make_npy(file, 1, dictionary, data, bytes);
    assert_int_equal(pipe(ends), 0);
    if (fork() == 0) {
        for (size_t done = 0; done < count;) {
            const ssize_t put = write(ends[1], file + done, count - done);
            if (put <= 0) _exit(1);
            done += (size_t)put;
        }
        _exit(0);
    }
    close(ends[1]);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    assert_ok(clo_table_read(path, NULL, &table, &err), err);
    close(ends[0]);
    clo_i_table_rows(table, 0, ROWS, got);
    assert_memory_equal(got, data, bytes);
    clo_table_free(table);
    free(file);
    free(data);
    free(got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_version),
        cmocka_unit_test(reads_every_type),
        cmocka_unit_test(reads_both_orders),
        cmocka_unit_test(a_vector_is_one_column),
        cmocka_unit_test(no_rows_are_allowed),
        cmocka_unit_test(the_dictionary_may_be_written_otherwise),
        cmocka_unit_test(data_that_are_not_aligned_are_read),
        cmocka_unit_test(columns_are_chosen_by_number),
        cmocka_unit_test(the_unit_is_a_column_too),
        cmocka_unit_test(zero_and_minus_zero_are_one_unit),
        cmocka_unit_test(bad_cells_are_nan_or_refused),
        cmocka_unit_test(a_header_that_lies_is_refused),
        cmocka_unit_test(shapes_that_cannot_be_are_refused),
        cmocka_unit_test(types_that_cannot_be_read_are_refused),
        cmocka_unit_test(dictionaries_that_do_not_fit_the_grammar_are_refused),
        cmocka_unit_test(files_that_are_cut_off_are_refused),
        cmocka_unit_test(other_versions_and_long_headers_are_refused),
        cmocka_unit_test(a_large_stream_is_read_whole),
    };
    return cmocka_run_group_tests_name("npy", tests, NULL, NULL);
}
