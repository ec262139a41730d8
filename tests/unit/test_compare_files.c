/* Two files are compared as bags of records, or of persons: what differs is counted exactly. */
#include "check.h"
#include "bytes_file.h"
#include <cloister/cloister.h>

static clo_error err;

static clo_status compare(const char *first, const char *second, const clo_read_options *options,
                          clo_difference *out)
{
    const bytes_file a = bytes_file_open(first, strlen(first));
    const bytes_file b = bytes_file_open(second, strlen(second));
    *out = (clo_difference){ .struct_size = sizeof *out };
    const clo_status status = clo_files_compare(a.path, b.path, options, out, &err);
    bytes_file_close(a);
    bytes_file_close(b);
    return status;
}

static void differ(const char *first, const char *second, const char *unit, uint64_t only0,
                   uint64_t only1, uint64_t changed)
{
    clo_read_options options = clo_read_options_default();
    clo_difference d;
    options.unit = unit;
    assert_ok(compare(first, second, &options, &d), err);
    assert_int_equal(d.only[0], only0);
    assert_int_equal(d.only[1], only1);
    assert_int_equal(d.changed, changed);
}

static void counts_records(void **state)
{
    clo_difference d;
    (void)state;
    differ("1,2\n3,4\n", "3,4\n1,2\n", NULL, 0, 0, 0); /* order does not matter */
    differ("1,2\n3,4\n", "3,4\n1,5\n", NULL, 1, 1, 0);
    differ("1,2\n3,4\n", "3,4\n1,2\n7,8\n", NULL, 0, 1, 0);
    differ("1,2\n1,2\n3,4\n", "1,2\n3,4\n3,4\n", NULL, 1, 1, 0); /* how often counts */
    differ("1,2\n1,2\n1,2\n", "1,2\n", NULL, 2, 0, 0);
    differ("1,2\n3,4\n", "2,1\n4,3\n", NULL, 2, 2, 0);
    differ("1.0,-0\n", "1,0\n", NULL, 0, 0, 0); /* the same numbers */
    assert_ok(compare("a,b\n1,2\n3,4\n", "a,b\n3,4\n", NULL, &d), err);
    assert_int_equal(d.rows[0], 2); /* a header is no record */
    assert_int_equal(d.rows[1], 1);
}

static void sees_text(void **state)
{
    (void)state;
    differ("x,city\n1,Rome\n2,Bonn\n", "x,city\n1,Rome\n2,Lima\n", NULL, 1, 1, 0);
    differ("x,city\n1,Rome\n2,Bonn\n", "x,city\n1,Bonn\n2,Rome\n", NULL, 2, 2, 0);
    differ("x,city\n1,Rome\n2,\"Bo,nn\"\n", "x,city\n2,\"Bo,nn\"\n1,\"Rome\"\n", NULL, 0, 0, 0);
    differ("x,y\n1,NA\n", "x,y\n1,\n", NULL, 1, 1, 0); /* both are missing, and written otherwise */
    differ("1 1:2 3:4\n-1 2:5\n", "-1 2:5\n1 1:2 3:4\n", NULL, 0, 0, 0);
    differ("1 1:2 3:4\n-1 2:5\n", "1 1:2 3:4\n1 2:5\n", NULL, 1, 1, 0); /* a label differs */
}

static void counts_persons(void **state)
{
    (void)state;
    differ("who,x\nann,1\nann,2\nbob,3\n", "who,x\nbob,3\nann,2\nann,1\n", "who", 0, 0, 0);
    differ("who,x\nann,1\nann,2\nbob,3\n", "who,x\nann,7\nbob,3\n", "who", 0, 0, 1);
    differ("who,x\nann,1\nann,2\nbob,3\n", "who,x\nbob,3\n", "who", 1, 0, 0);
    differ("who,x\nann,1\nann,2\nbob,3\n", "who,x\ncid,1\ncid,2\nbob,3\n", "who", 1, 1, 0);
    differ("who,x\nann,1\nbob,3\n", "who,x\nbob,1\nann,3\n", "who", 0, 0, 2);
    differ("who,x\n,1\n,2\nbob,3\n", "who,x\n,1\n,5\n,6\nbob,3\n", "who", 1, 2, 0); /* nobody's */
}

static void refuses_files_of_two_tables(void **state)
{
    clo_difference d = { .struct_size = 0 };
    (void)state;
    assert_int_equal(compare("a,b\n1,2\n", "1,2\n", NULL, &d), CLO_FORMAT); /* a lost header */
    assert_non_null(strstr(err.message, "header"));
    assert_int_equal(compare("a,b\n1,2\n", "a,c\n1,2\n", NULL, &d), CLO_FORMAT);
    assert_int_equal(compare("1,2\n", "1,2,3\n", NULL, &d), CLO_FORMAT);
    assert_int_equal(compare("{\"a\": 1}\n", "{\"a\": 2}\n", NULL, &d), CLO_FORMAT);
    assert_int_equal(clo_files_compare("/nowhere/a", "/nowhere/b", NULL, &d, &err), CLO_IO);
    d.struct_size = 0;
    assert_int_equal(clo_files_compare("/nowhere/a", "/nowhere/b", NULL, &d, &err), CLO_ARGUMENT);
}

enum { ROWS = 100000, LINE = 16 };

static void write_line(char *text, int place, int number, int word)
{
    char line[LINE + 1];
    assert_int_equal(snprintf(line, sizeof line, "%06d,word%04d\n", number, word), LINE);
    memcpy(text + (size_t)place * LINE, line, LINE);
}

/* So many rows are several blocks of the reader's; the other file has them backwards. */
static void compares_large_files(void **state)
{
    char *const first = calloc(ROWS + 2, LINE), *const second = calloc(ROWS + 2, LINE);
    (void)state;
    assert_non_null(first);
    assert_non_null(second);
    memcpy(first, "number,someword\n", LINE);
    memcpy(second, first, LINE);
    for (int i = 0; i < ROWS; i++) {
        write_line(first, i + 1, i, i % 100);
        write_line(second, ROWS - i, i, i == 777 ? 5 : i % 100);
    }
    differ(first, second, NULL, 1, 1, 0);
    free(first);
    free(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_records),       cmocka_unit_test(sees_text),
        cmocka_unit_test(counts_persons),       cmocka_unit_test(refuses_files_of_two_tables),
        cmocka_unit_test(compares_large_files),
    };
    return cmocka_run_group_tests_name("compare_files", tests, NULL, NULL);
}
