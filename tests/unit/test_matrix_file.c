/* test_matrix_file.c - matrices written and read back, bit for bit, and never half a file. */
#include "check.h"
#include <cloister/output.h>
#include <cloister/evaluate.h>
#include "data/formats.h"
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static clo_error err;
static char folder[64];

static int make_folder(void **state)
{
    strcpy(folder, "/tmp/cloister-matrix-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    return rmdir(folder);
}

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static size_t files_in_folder(void)
{
    size_t count = 0;
    DIR *const d = opendir(folder);
    for (const struct dirent *e; (e = readdir(d));) count += e->d_name[0] != '.';
    closedir(d);
    return count;
}

static void expect_text(const char *path, const char *text)
{
    char got[512] = "";
    FILE *const file = fopen(path, "rb");
    assert_non_null(file);
    got[fread(got, 1, sizeof got - 1, file)] = 0;
    fclose(file);
    assert_string_equal(got, text);
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void write_terminated(double value, char text[40])
{
    *clo_i_write_number(value, text) = 0;
}

static size_t count_digits(const char *text)
{
    size_t count = 0, zeros = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9') continue;
        if (*text != '0') {
            count += zeros + 1;
            zeros = 0;
        } else if (count) {
            zeros++;
        }
    }
    return count;
}

static void written_numbers_read_back_and_are_short(void **state)
{
    uint64_t seed = 99;
    for (int i = 0; i < 100000; i++) {
        const uint64_t bits = next_random(&seed);
        char text[40] = "", shortest[32];
        double value = (double)(int64_t)bits * 0x1p-61;
        if (i % 4 == 1) memcpy(&value, &bits, sizeof value);
        if (i % 4 == 2) value = (double)(bits % 100000) / 1000;
        if (i % 4 == 3) value = ldexp((double)(bits >> 11), (int)(bits % 64) - 66);
        if (!isfinite(value)) continue;
        write_terminated(value, text);
        const double back = strtod(text, NULL);
        if (memcmp(&back, &value, sizeof back) != 0)
            fail_msg("%.17g was written as %s", value, text);
        if (i % 8 < 4) continue;
        clo_number_text(value, shortest);
        if (count_digits(text) != count_digits(shortest))
            fail_msg("%s was written as %s", shortest, text);
    }
}

static void numbers_are_written_as_people_write_them(void **state)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = { { 0, "0" },
                  { -0.0, "-0" },
                  { 1, "1" },
                  { -1.5, "-1.5" },
                  { 0.1, "0.1" },
                  { 100, "100" },
                  { 1e14, "100000000000000" },
                  { 0.00012, "0.00012" },
                  { 123456.75, "123456.75" },
                  { 1.0 / 3, "0.3333333333333333" },
                  { 1e-5, "0.00001" },
                  { 999999999999999.9, "999999999999999.9" },
                  { 5e-324, "5e-324" },
                  { 1e300, "1e300" },
                  { NAN, "nan" },
                  { INFINITY, "inf" },
                  { -INFINITY, "-inf" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[40];
        write_terminated(cases[i].value, text);
        assert_string_equal(text, cases[i].text);
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

static void writes_csv_with_and_without_names(void **state)
{
    const double cells[] = { 1, 2.5, -7, 3, 1e-9, -7 };
    const char *const names[] = { "age", "a \"b\", c" };
    const clo_matrix matrix = { cells, 2, 2, 3 };
    const char *const path = path_of("m.csv");
    assert_ok(clo_matrix_write(path, matrix, NULL, &err), err);
    expect_text(path, "1,2.5\n3,1e-9\n");
    assert_ok(clo_matrix_write(path, matrix, names, &err), err);
    expect_text(path, "age,\"a \"\"b\"\", c\"\n1,2.5\n3,1e-9\n");
    clo_matrix back;
    assert_ok(clo_matrix_read(path, &back, &err), err);
    assert_int_equal(back.rows, 2);
    assert_int_equal(back.cols, 2);
    assert_true(back.data[back.stride] == 3 && back.data[back.stride + 1] == 1e-9);
    clo_matrix_free(back);
    unlink(path);
}

static void expect_round_trip(const char *path, clo_matrix matrix)
{
    clo_matrix back;
    assert_ok(clo_matrix_write(path, matrix, NULL, &err), err);
    assert_int_equal(files_in_folder(), 1);
    assert_ok(clo_matrix_read(path, &back, &err), err);
    assert_int_equal(back.rows, matrix.rows);
    assert_int_equal(back.cols, matrix.cols);
    for (size_t i = 0; i < back.rows; i++)
        assert_same_doubles(back.data + i * back.stride, matrix.data + i * matrix.stride,
                            back.cols);
    clo_matrix_free(back);
    unlink(path);
}

static void what_is_written_reads_back_bit_for_bit(void **state)
{
    enum { ROWS = 20000, COLS = 7, STRIDE = 9 };
    double *const cells = malloc(sizeof(double) * ROWS * STRIDE);
    uint64_t seed = 5;
    for (size_t i = 0; i < ROWS * STRIDE; i++)
        cells[i] = (double)(int64_t)next_random(&seed) * 0x1p-60;
    expect_round_trip(path_of("m.csv"), (clo_matrix){ cells, ROWS, COLS, STRIDE });
    expect_round_trip(path_of("m.npy"), (clo_matrix){ cells, ROWS, COLS, STRIDE });
    expect_round_trip(path_of("m.npy"), (clo_matrix){ cells, ROWS, STRIDE, STRIDE });
    expect_round_trip(path_of("m.npy"), (clo_matrix){ cells, 0, COLS, STRIDE });
    free(cells);
}

static void arrays_start_on_a_cache_line(void **state)
{
    const double cells[] = { 1, 2 };
    const char *const path = path_of("m.npy");
    struct stat facts;
    assert_ok(clo_matrix_write(path, (clo_matrix){ cells, 2, 1, 1 }, NULL, &err), err);
    assert_int_equal(stat(path, &facts), 0);
    assert_int_equal((facts.st_size - 16) % 64, 0);
    unlink(path);
}

static void a_failed_write_leaves_the_old_file_and_nothing_else(void **state)
{
    const double cells[] = { 1, 2 };
    const char *const path = path_of("m.csv");
    assert_fails(clo_matrix_write("/nowhere/m.csv", (clo_matrix){ cells, 2, 1, 1 }, NULL, &err),
                 CLO_IO, err, "/nowhere/m.csv cannot be written: No such file or directory");
    assert_fails(clo_matrix_write(folder, (clo_matrix){ cells, 2, 1, 1 }, NULL, &err), CLO_IO, err,
                 "Is a directory");
    assert_ok(clo_matrix_write(path, (clo_matrix){ cells, 2, 1, 1 }, NULL, &err), err);
    assert_fails(clo_matrix_write(path, (clo_matrix){ cells, 2, 0, 1 }, NULL, &err), CLO_ARGUMENT,
                 err, "columns");
    expect_text(path, "1\n2\n");
    assert_int_equal(files_in_folder(), 1);
    unlink(path);
}

static void a_full_device_is_an_error(void **state)
{
    const double cells[] = { 1, 2 };
    if (access("/dev/full", W_OK) != 0) skip();
    assert_fails(clo_matrix_write("/dev/full", (clo_matrix){ cells, 2, 1, 1 }, NULL, &err), CLO_IO,
                 err, "No space left");
}

static void a_device_stays_a_device(void **state)
{
    const double cells[] = { 1, 2 };
    struct stat facts;
    assert_ok(clo_matrix_write("/dev/null", (clo_matrix){ cells, 2, 1, 1 }, NULL, &err), err);
    assert_int_equal(stat("/dev/null", &facts), 0);
    assert_true(S_ISCHR(facts.st_mode));
}

static void a_link_stays_a_link(void **state)
{
    const double cells[] = { 1, 2 };
    char link[128], target[128];
    struct stat facts;
    snprintf(link, sizeof link, "%s", path_of("link.csv"));
    snprintf(target, sizeof target, "%s", path_of("target.csv"));
    assert_ok(clo_matrix_write(target, (clo_matrix){ cells, 1, 1, 1 }, NULL, &err), err);
    assert_int_equal(symlink("target.csv", link), 0);
    assert_ok(clo_matrix_write(link, (clo_matrix){ cells, 2, 1, 1 }, NULL, &err), err);
    assert_int_equal(lstat(link, &facts), 0);
    assert_true(S_ISLNK(facts.st_mode));
    expect_text(target, "1\n2\n");
    unlink(link);
    unlink(target);
}

static void standard_output_is_csv(void **state)
{
    const double cells[] = { 1, 2 };
    char got[16] = "";
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(stdout);
    const int kept = dup(STDOUT_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[1]);
    const clo_status status = clo_matrix_write("-", (clo_matrix){ cells, 1, 2, 2 }, NULL, &err);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    assert_ok(status, err);
    assert_int_equal(read(ends[0], got, sizeof got), 4);
    assert_string_equal(got, "1,2\n");
    close(ends[0]);
}

static void a_truth_with_a_bad_cell_is_refused(void **state)
{
    const double cells[] = { 1, NAN };
    const char *const path = path_of("m.csv");
    clo_matrix back = { 0 };
    assert_ok(clo_matrix_write(path, (clo_matrix){ cells, 2, 1, 1 }, NULL, &err), err);
    assert_fails(clo_matrix_read(path, &back, &err), CLO_FORMAT, err, "line 2, column 1");
    assert_null(back.data);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_numbers_read_back_and_are_short),
        cmocka_unit_test(numbers_are_written_as_people_write_them),
        cmocka_unit_test(writes_csv_with_and_without_names),
        cmocka_unit_test(what_is_written_reads_back_bit_for_bit),
        cmocka_unit_test(arrays_start_on_a_cache_line),
        cmocka_unit_test(a_failed_write_leaves_the_old_file_and_nothing_else),
        cmocka_unit_test(a_full_device_is_an_error),
        cmocka_unit_test(a_device_stays_a_device),
        cmocka_unit_test(a_link_stays_a_link),
        cmocka_unit_test(standard_output_is_csv),
        cmocka_unit_test(a_truth_with_a_bad_cell_is_refused),
    };
    return cmocka_run_group_tests_name("matrix_file", tests, make_folder, remove_folder);
}
