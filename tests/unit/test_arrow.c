/* test_arrow.c - tables from Arrow streams: types, nulls, offsets, batches, persons by number, text
 * and dictionary, what is refused; and everything that was handed over is released once. */
#include "check.h"
#include "data/data.h"
#include "made_stream.h"
#include <cloister/cloister.h>

static clo_error err;

static const double reals[] = { 0.5, 1.5, 2.5, 3.5, 4.5, 5.5 };
static const int32_t wholes[] = { 0, 10, 20, 30, 40, 50 };
static const uint8_t bits[] = { 0x2a };  /* 0 1 0 1 0 1 */
static const uint8_t valid[] = { 0x37 }; /* the fourth is missing */
static const char letters[] = "annbobanncidannbob";
static const int32_t places4[] = { 0, 3, 6, 9, 12, 15, 18 };
static const int64_t places8[] = { 0, 3, 6, 9, 12, 15, 18 };

/* Short texts lie in their views; a long one is in the buffer. */
static const char heap[] = "a name that is long";
static uint8_t views[6][16];

static void make_views(void)
{
    for (size_t i = 0; i < 6; i++) {
        const int32_t length = i == 1 || i == 5 ? (int32_t)strlen(heap) : 3;
        memset(views[i], 0, 16);
        memcpy(views[i], &length, sizeof length);
        memcpy(views[i] + 4, length == 3 ? letters + 3 * i : heap, length == 3 ? 3 : 4);
    }
}

/* A table of the stream; both must be freed of everything at its end. */
static clo_table *table_of(made_stream *s, const clo_read_options *options)
{
    struct ArrowArrayStream stream = open_made_stream(s);
    clo_table *table = NULL;
    assert_ok(clo_table_from_arrow(&stream, options, &table, &err), err);
    assert_true(s->released);
    assert_int_equal(s->schemas_out, 0);
    return table;
}

static void free_table(clo_table *table, const made_stream *s)
{
    clo_table_free(table);
    assert_int_equal(s->batches_out, 0);
}

static void refused(made_stream *s, const clo_read_options *options, clo_status status,
                    const char *text)
{
    struct ArrowArrayStream stream = open_made_stream(s);
    clo_table *table = NULL;
    assert_fails(clo_table_from_arrow(&stream, options, &table, &err), status, err, text);
    assert_null(table);
    assert_true(s->released);
    assert_int_equal(s->schemas_out, 0);
    assert_int_equal(s->batches_out, 0);
}

/* ---- cells ----------------------------------------------------------------------------------- */

static void columns_of_different_types_are_rows(void **state)
{
    const made_column columns[] = { { .name = "x", .format = "g", .buffers = { NULL, reals } },
                                    { .name = "n", .format = "i", .buffers = { valid, wholes } },
                                    { .name = "yes", .format = "b", .buffers = { NULL, bits } },
                                    { .name = "none", .format = "n", .buffers = { NULL } } };
    made_stream s = { .columns = columns, .column_count = 4, .rows = { 6 }, .batches = 1 };
    clo_table *const table = table_of(&s, NULL);
    double got[24];
    assert_int_equal(clo_table_rows(table), 6);
    assert_int_equal(clo_table_cols(table), 4);
    assert_string_equal(clo_table_column_name(table, 2), "yes");
    clo_i_table_rows(table, 0, 6, got);
    for (size_t i = 0; i < 6; i++) {
        assert_true(got[4 * i] == reals[i]);
        assert_true(i == 3 ? isnan(got[4 * i + 1]) : got[4 * i + 1] == wholes[i]);
        assert_true(got[4 * i + 2] == (double)(i % 2));
        assert_true(isnan(got[4 * i + 3]));
    }
    clo_i_table_rows(table, 5, 1, got);
    assert_true(got[0] == 5.5 && got[1] == 50 && got[2] == 1);
    free_table(table, &s);
}

static void batches_follow_each_other_and_offsets_add_up(void **state)
{
    const made_column columns[] = {
        { .name = "x", .format = "g", .buffers = { NULL, reals } },
        { .name = "n", .format = "i", .buffers = { valid, wholes }, .offset = 1 }
    };
    made_stream s = { .columns = columns,
                      .column_count = 2,
                      .rows = { 2, 0, 3 },
                      .offsets = { 0, 0, 2 },
                      .batches = 3 };
    clo_table *const table = table_of(&s, NULL);
    const double expected[] = { 0.5, 10, 1.5, 20, 2.5, NAN, 3.5, 40, 4.5, 50 };
    double got[10];
    assert_int_equal(clo_table_rows(table), 5);
    assert_int_equal(s.batches_out, 2); /* the empty one is gone, the others are looked at */
    clo_i_table_rows(table, 0, 5, got);
    for (size_t i = 0; i < 10; i++)
        assert_true(isnan(expected[i]) ? isnan(got[i]) : got[i] == expected[i]);
    free_table(table, &s);
}

static void rows_that_are_null_miss_every_cell(void **state)
{
    const made_column columns[] = { { .name = "x", .format = "g", .buffers = { NULL, reals } } };
    made_stream s = { .columns = columns,
                      .column_count = 1,
                      .rows = { 4 },
                      .offsets = { 2 },
                      .batches = 1,
                      .row_valid = valid };
    clo_table *const table = table_of(&s, NULL);
    double got[4];
    clo_i_table_rows(table, 0, 4, got);
    assert_true(got[0] == 2.5 && isnan(got[1]) && got[2] == 4.5 && got[3] == 5.5);
    free_table(table, &s);
}

static void columns_are_chosen_by_name_and_filled(void **state)
{
    const made_column columns[] = {
        { .name = "x", .format = "g", .buffers = { NULL, reals } },
        { .name = "who", .format = "u", .buffers = { NULL, places4, letters }, .n_buffers = 3 },
        { .name = "n", .format = "i", .buffers = { valid, wholes } }
    };
    made_stream s = { .columns = columns, .column_count = 3, .rows = { 6 }, .batches = 1 };
    clo_read_options options = clo_read_options_default();
    options.columns = "n,x";
    options.missing = CLO_MISSING_FILL;
    options.fill = "n=7";
    clo_table *const table = table_of(&s, &options);
    double got[12];
    assert_string_equal(clo_table_column_name(table, 0), "n");
    assert_int_equal(clo_table_file_cols(table), 3);
    clo_i_table_rows(table, 0, 6, got);
    assert_true(got[2] == 10 && got[3] == 1.5);
    assert_true(clo_i_table_fill(table)[0] == 7 && isnan(clo_i_table_fill(table)[1]));
    free_table(table, &s);
}

/* ---- persons --------------------------------------------------------------------------------- */

static bool same(const clo_table *table, size_t a, size_t b)
{
    return memcmp(clo_i_table_unit(table, a), clo_i_table_unit(table, b), CLO_UNIT_BYTES) == 0;
}

static bool nobody(const clo_table *table, size_t row)
{
    const uint8_t zero[CLO_UNIT_BYTES] = { 0 };
    return memcmp(clo_i_table_unit(table, row), zero, sizeof zero) == 0;
}

/* ann bob ann cid ann bob, where the fourth names nobody. */
static void assert_persons(const made_column *who)
{
    const made_column columns[] = { { .name = "x", .format = "g", .buffers = { NULL, reals } },
                                    *who };
    made_stream s = { .columns = columns, .column_count = 2, .rows = { 6 }, .batches = 1 };
    clo_read_options options = clo_read_options_default();
    options.unit = "who";
    clo_table *const table = table_of(&s, &options);
    assert_true(clo_table_has_unit(table));
    assert_int_equal(clo_table_cols(table), 1);
    assert_true(same(table, 0, 2) && same(table, 0, 4) && same(table, 1, 5));
    assert_false(same(table, 0, 1));
    assert_true(nobody(table, 3));
    assert_false(nobody(table, 0));
    free_table(table, &s);
    options.missing = CLO_MISSING_REFUSE;
    refused(&s, &options, CLO_FORMAT, "row 4 of the table names no person");
}

static void persons_are_numbers_or_text(void **state)
{
    static const int64_t numbers[] = { 7, -1, 7, 0, 7, -1 };
    static const double floats[] = { 0.0, 2, -0.0, NAN, 0, 2 };
    static const int8_t indices[] = { 1, 0, 1, 2, 1, 0 };
    static const made_column words = { .name = "",
                                       .format = "u",
                                       .buffers = { NULL, places4, letters },
                                       .n_buffers = 3,
                                       .length = 3 };
    make_views();
    const made_column kinds[] = {
        { .name = "who", .format = "l", .buffers = { valid, numbers } },
        { .name = "who", .format = "g", .buffers = { NULL, floats } },
        { .name = "who", .format = "u", .buffers = { valid, places4, letters }, .n_buffers = 3 },
        { .name = "who", .format = "Z", .buffers = { valid, places8, letters }, .n_buffers = 3 },
        { .name = "who", .format = "vu", .buffers = { valid, views, heap }, .n_buffers = 3 },
        { .name = "who", .format = "c", .buffers = { valid, indices }, .dictionary = &words },
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) assert_persons(&kinds[i]);
}

static void an_index_beyond_its_dictionary_names_nobody(void **state)
{
    static const int8_t indices[] = { 1, 0, 1, 9, 1, 0 };
    static const made_column words = { .name = "",
                                       .format = "u",
                                       .buffers = { NULL, places4, letters },
                                       .n_buffers = 3,
                                       .length = 3 };
    const made_column who = {
        .name = "who", .format = "c", .buffers = { NULL, indices }, .dictionary = &words
    };
    assert_persons(&who);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void all_columns_of_text_are_named_at_once(void **state)
{
    made_column columns[7];
    const char *const names[7] = { "a", "b", "c", "d", "e", "f", "g" };
    (void)state;
    for (size_t j = 0; j < 7; j++)
        columns[j] = (made_column){
            .name = names[j], .format = "u", .buffers = { NULL, places4, letters }, .n_buffers = 3
        };
    made_stream s = { .columns = columns, .column_count = 3, .rows = { 6 }, .batches = 1 };
    refused(
        &s, NULL, CLO_FORMAT,
        "the column 'a' does not hold numbers (it holds text), and neither does 'b', 'c': leave "
        "them out");
    s = (made_stream){ .columns = columns, .column_count = 7, .rows = { 6 }, .batches = 1 };
    refused(&s, NULL, CLO_FORMAT, "neither does 'b', 'c', 'd', 'e' and 2 more: leave them out");
}

static void text_is_refused_missing_or_left_for_later(void **state)
{
    const made_column columns[] = {
        { .name = "x", .format = "g", .buffers = { NULL, reals } },
        { .name = "who", .format = "u", .buffers = { NULL, places4, letters }, .n_buffers = 3 }
    };
    made_stream s = { .columns = columns, .column_count = 2, .rows = { 6 }, .batches = 1 };
    clo_read_options options = clo_read_options_default();
    double got[12];
    refused(&s, NULL, CLO_FORMAT, "the column 'who' does not hold numbers");
    options.text = CLO_TEXT_MISSING;
    clo_table *table = table_of(&s, &options);
    clo_i_table_rows(table, 0, 6, got);
    assert_true(got[0] == 0.5 && isnan(got[1]));
    free_table(table, &s);
    options.text = CLO_TEXT_LATER;
    table = table_of(&s, &options);
    assert_int_equal(clo_i_table_kind(table, 0), CLO_KIND_NUMBERS);
    assert_int_equal(clo_i_table_kind(table, 1), CLO_KIND_TEXT);
    assert_fails(clo_i_table_refuse_text(table, NULL, "release", &err), CLO_FORMAT, err, "'who'");
    free_table(table, &s);
}

static void other_types_are_refused_by_name(void **state)
{
    static const char *const formats[] = { "tdD", "d:19,2", "e", "+l", "tsu:" };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const made_column columns[] = {
            { .name = "when", .format = formats[i], .buffers = { NULL, reals } }
        };
        made_stream s = { .columns = columns, .column_count = 1, .rows = { 6 }, .batches = 1 };
        refused(&s, NULL, CLO_FORMAT, "'when'");
    }
}

/* It is none of the columns that are read: wherever it stands, it is the one that is named. */
static void a_type_that_names_nobody_is_refused_by_name(void **state)
{
    static const char *const formats[] = { "b", "tdD", "tsu:", "d:19,2", "e", "+l", "w:4" };
    clo_read_options options = clo_read_options_default();
    options.unit = "who";
    for (size_t i = 0; i < 2 * sizeof formats / sizeof *formats; i++) {
        const made_column x = { .name = "x", .format = "g", .buffers = { NULL, reals } };
        const made_column who = { .name = "who",
                                  .format = formats[i / 2],
                                  .buffers = { NULL, reals } };
        const made_column columns[] = { i % 2 ? x : who, i % 2 ? who : x };
        made_stream s = { .columns = columns, .column_count = 2, .rows = { 6 }, .batches = 1 };
        refused(&s, &options, CLO_FORMAT, "the column 'who' cannot name persons (it is of ");
    }
}

static void streams_that_are_none_are_refused(void **state)
{
    const made_column columns[] = { { .name = "x", .format = "g", .buffers = { NULL, reals } } };
    const made_stream good = { .columns = columns, .column_count = 1, .rows = { 6 }, .batches = 1 };
    clo_read_options options = clo_read_options_default();
    made_stream s = good;
    s.no_schema = true;
    refused(&s, NULL, CLO_IO, "does not state its columns");
    s = good;
    s.breaks = true;
    refused(&s, NULL, CLO_IO, "ended too early");
    s = good;
    s.format = "g";
    refused(&s, NULL, CLO_FORMAT, "not one of rows");
    s = good;
    s.column_count = 0;
    refused(&s, NULL, CLO_FORMAT, "0 columns");
    s = good;
    options.columns = "y";
    refused(&s, &options, CLO_ARGUMENT, "y");
    options.columns = NULL;
    options.missing = (clo_missing)9;
    refused(&s, &options, CLO_ARGUMENT, "missing must be");
    const made_column few[] = {
        { .name = "x", .format = "g", .buffers = { NULL, reals }, .length = 5 }
    };
    s.columns = few;
    refused(&s, NULL, CLO_FORMAT, "shorter than its batch");
    const made_column bare[] = {
        { .name = "x", .format = "g", .buffers = { NULL }, .n_buffers = 1 }
    };
    s.columns = bare;
    refused(&s, NULL, CLO_FORMAT, "no numbers in it");
    const made_column empty[] = {
        { .name = "x", .format = "g", .buffers = { NULL, NULL } },
    };
    s.columns = empty;
    refused(&s, NULL, CLO_FORMAT, "no numbers in it");
    const made_column back[] = {
        { .name = "x", .format = "g", .buffers = { NULL, reals }, .offset = -1 }
    };
    s.columns = back;
    refused(&s, NULL, CLO_FORMAT, "shorter than its batch");
    const made_column holes[] = { { .name = "x", .format = "g", .buffers = { valid, reals } } };
    s.columns = holes;
    options.missing = CLO_MISSING_REFUSE;
    refused(&s, &options, CLO_FORMAT, "row 4, column 1 of the table");
}

/* Nothing is read of a buffer that is not there. */
static void persons_without_names_are_refused(void **state)
{
    const made_column words[] = {
        { .format = "u", .buffers = { NULL, NULL, letters }, .length = 2 }
    };
    const made_column persons[] = {
        { .name = "who", .format = "u", .buffers = { NULL, NULL, letters } },
        { .name = "who", .format = "u", .buffers = { NULL, places4 }, .n_buffers = 2 },
        { .name = "who", .format = "g", .buffers = { NULL, NULL } },
        { .name = "who", .format = "i", .buffers = { NULL, wholes }, .dictionary = words },
        { .name = "who", .format = "u", .buffers = { NULL, places4, letters }, .offset = -1 },
    };
    clo_read_options options = clo_read_options_default();
    options.unit = "who";
    for (size_t i = 0; i < sizeof persons / sizeof *persons; i++) {
        const made_column columns[] = { { .name = "x", .format = "g", .buffers = { NULL, reals } },
                                        persons[i] };
        made_stream s = { .columns = columns, .column_count = 2, .rows = { 6 }, .batches = 1 };
        refused(&s, &options, CLO_FORMAT, i == 4 ? "shorter than its batch" : "no names in it");
    }
    made_stream s = { .columns = persons, .column_count = 1, .rows = { -3 }, .batches = 1 };
    refused(&s, NULL, CLO_FORMAT, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_of_different_types_are_rows),
        cmocka_unit_test(batches_follow_each_other_and_offsets_add_up),
        cmocka_unit_test(rows_that_are_null_miss_every_cell),
        cmocka_unit_test(columns_are_chosen_by_name_and_filled),
        cmocka_unit_test(persons_are_numbers_or_text),
        cmocka_unit_test(an_index_beyond_its_dictionary_names_nobody),
        cmocka_unit_test(all_columns_of_text_are_named_at_once),
        cmocka_unit_test(text_is_refused_missing_or_left_for_later),
        cmocka_unit_test(other_types_are_refused_by_name),
        cmocka_unit_test(a_type_that_names_nobody_is_refused_by_name),
        cmocka_unit_test(streams_that_are_none_are_refused),
        cmocka_unit_test(persons_without_names_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
