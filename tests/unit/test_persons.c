/* Persons of several parts (fold.T5): what names one, their lists, and who keeps whom. */
#include "check.h"
#include <cloister/arrow.h>
#include <cloister/persons.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint8_t shared[CLO_UNIT_KEY_BYTES] = { 1, 2, 3 };

static clo_table *read_text(const char *text, const uint8_t *key)
{
    char path[] = "/tmp/cloister-persons-XXXXXX";
    const int file = mkstemp(path);
    clo_read_options options = clo_read_options_default();
    clo_table *table = NULL;
    clo_error err;
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
    assert_int_equal(close(file), 0);
    options.unit = "who";
    options.unit_key = key;
    options.header = CLO_HEADER_FIRST_LINE;
    const clo_status status = clo_table_read(path, &options, &table, &err);
    unlink(path);
    assert_ok(status, err);
    return table;
}

static uint8_t *persons_of(const clo_table *table, size_t *count)
{
    uint8_t *list = NULL;
    clo_error err;
    assert_ok(clo_table_persons(table, &list, count, &err), err);
    return list;
}

static void a_list_has_each_person_once_and_nobody_never(void **state)
{
    clo_table *const table = read_text("who,x\nb,1\na,2\n,3\nb,4\nc,5\n", shared);
    size_t count = 0;
    (void)state;
    uint8_t *const list = persons_of(table, &count);
    assert_int_equal(count, 3);
    for (size_t i = 1; i < count; i++)
        assert_true(memcmp(list + (i - 1) * CLO_PERSON_BYTES, list + i * CLO_PERSON_BYTES,
                           CLO_PERSON_BYTES) < 0);
    clo_persons_free(list, count);
    clo_table_free(table);
}

/* Parts share a key, or nobody is ever the same. */
static void a_key_decides_who_is_the_same(void **state)
{
    clo_table *const tables[] = { read_text("who,x\na,1\n", shared),
                                  read_text("who,x\na,2\n", shared),
                                  read_text("who,x\na,3\n", NULL) };
    uint8_t *lists[3];
    size_t count = 0;
    (void)state;
    for (int i = 0; i < 3; i++) lists[i] = persons_of(tables[i], &count);
    assert_memory_equal(lists[0], lists[1], CLO_PERSON_BYTES);
    assert_memory_not_equal(lists[0], lists[2], CLO_PERSON_BYTES);
    for (int i = 0; i < 3; i++) {
        clo_persons_free(lists[i], 1);
        clo_table_free(tables[i]);
    }
}

/* One NPY file of doubles and one of 32-bit integers, with the persons of a CSV file. */
static void write_npy(const char *path, const char *type, const void *cells, size_t bytes)
{
    char header[128];
    const int length = snprintf(header, sizeof header,
                                "{'descr': '%s', 'fortran_order': False, 'shape': (2, 2), }", type);
    FILE *const out = fopen(path, "wb");
    assert_non_null(out);
    const uint16_t told = 118; /* all together 128 bytes */
    fwrite("\x93NUMPY\x01\x00", 1, 8, out);
    fwrite(&told, 2, 1, out);
    fprintf(out, "%s%*s\n", header, 117 - length, "");
    fwrite(cells, 1, bytes, out);
    assert_int_equal(fclose(out), 0);
}

static void a_number_names_the_same_person_whatever_its_type(void **state)
{
    static const double reals[] = { 7, .5, -3, .25 };
    static const int32_t wholes[] = { 7, 1, -3, 2 };
    char path[] = "/tmp/cloister-numbers-XXXXXX";
    clo_read_options options = clo_read_options_default();
    clo_table *tables[3] = { read_text("who,x\n7,1\n-3,2\n", shared) };
    uint8_t *lists[3];
    size_t count = 0;
    clo_error err;
    (void)state;
    assert_int_equal(close(mkstemp(path)), 0);
    options.unit = "1";
    options.unit_key = shared;
    write_npy(path, "<f8", reals, sizeof reals);
    assert_ok(clo_table_read(path, &options, &tables[1], &err), err);
    for (int i = 0; i < 2; i++) lists[i] = persons_of(tables[i], &count);
    clo_table_free(tables[1]); /* which is mapped */
    write_npy(path, "<i4", wholes, sizeof wholes);
    assert_ok(clo_table_read(path, &options, &tables[1], &err), err);
    lists[2] = persons_of(tables[1], &count);
    assert_int_equal(count, 2);
    assert_memory_equal(lists[0], lists[1], 2 * CLO_PERSON_BYTES);
    assert_memory_equal(lists[0], lists[2], 2 * CLO_PERSON_BYTES);
    unlink(path);
    for (int i = 0; i < 3; i++) clo_persons_free(lists[i], 2);
    for (int i = 0; i < 2; i++) clo_table_free(tables[i]);
}

static void lists_are_compared(void **state)
{
    enum { COUNT = 1000 };
    static uint8_t hashes[COUNT][CLO_PERSON_BYTES];
    clo_persons found = { 9, 9 }, again;
    clo_error err;
    (void)state;
    for (size_t i = 0; i < COUNT; i++) { /* every tenth is nobody's, as lists are filled (pad.T3) */
        memset(hashes[i], 0, CLO_PERSON_BYTES);
        if (i % 10) memcpy(hashes[i], &(uint64_t){ 1 + i * UINT64_C(0x9e3779b97f4a7c15) }, 8);
    }
    assert_ok(clo_persons_compare(hashes[0], COUNT, &found, &err), err);
    assert_int_equal(found.count, COUNT - COUNT / 10);
    assert_ok(clo_persons_compare(hashes[0], COUNT, &again, &err), err); /* in another order */
    assert_true(found.sum == again.sum);
    memcpy(hashes[COUNT - 1], hashes[COUNT / 2], CLO_PERSON_BYTES);
    assert_fails(clo_persons_compare(hashes[0], COUNT, &again, &err), CLO_DOMAIN, err,
                 "rows in two parts");
    assert_ok(clo_persons_compare(NULL, 0, &again, &err), err);
    assert_int_equal(again.count, 0);
}

static void each_person_is_kept_by_one_part(void **state)
{
    static const char text[] = "who,x\na,1\nb,2\nc,3\nd,4\na,5\ne,6\nf,7\nb,8\n";
    uint8_t all[6 * CLO_PERSON_BYTES];
    size_t sum = 0, count;
    clo_persons found;
    clo_error err;
    (void)state;
    for (size_t part = 0; part < 3; part++) {
        clo_table *const table = read_text(text, shared);
        assert_ok(clo_table_keep_persons(table, part, 3, &err), err);
        uint8_t *const list = persons_of(table, &count);
        assert_true(sum + count <= 6);
        memcpy(all + sum * CLO_PERSON_BYTES, list, count * CLO_PERSON_BYTES);
        sum += count;
        clo_persons_free(list, count);
        clo_table_free(table);
    }
    assert_int_equal(sum, 6);
    assert_ok(clo_persons_compare(all, sum, &found, &err), err);
}

static void what_has_no_persons_is_refused(void **state)
{
    const double values[] = { 1, 2 };
    clo_table *table = NULL;
    uint8_t *list = NULL;
    size_t count = 0;
    clo_error err;
    (void)state;
    assert_ok(clo_table_wrap((clo_matrix){ values, 2, 1, 1 }, CLO_MISSING_NULL, &table, &err), err);
    assert_fails(clo_table_persons(table, &list, &count, &err), CLO_ARGUMENT, err, "names persons");
    assert_fails(clo_table_keep_persons(table, 0, 2, &err), CLO_ARGUMENT, err, "names persons");
    clo_table_free(table);
    table = read_text("who,x\na,1\n", NULL);
    assert_fails(clo_table_keep_persons(table, 2, 2, &err), CLO_ARGUMENT, err, "none of them");
    clo_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_has_each_person_once_and_nobody_never),
        cmocka_unit_test(a_key_decides_who_is_the_same),
        cmocka_unit_test(a_number_names_the_same_person_whatever_its_type),
        cmocka_unit_test(lists_are_compared),
        cmocka_unit_test(each_person_is_kept_by_one_part),
        cmocka_unit_test(what_has_no_persons_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
