/* Names that are published are UTF-8, whatever the file was written in, and stand below each other
 * in tables. */
#include "base/utf8.h"
#include "check.h"
#include <cloister/output.h>

static void assert_copied(const char *text, const char *expected)
{
    char *copy = NULL;
    clo_error err = { 0 };
    assert_int_equal(clo_i_copy_utf8(text, &copy, &err), CLO_OK);
    assert_string_equal(copy, expected);
    assert_true(clo_i_is_utf8(copy));
    clo_i_free(copy);
}

static void keeps_what_is_utf8(void **state)
{
    (void)state;
    assert_copied("", "");
    assert_copied("age", "age");
    assert_copied("größe", "größe");
    assert_copied("年齢", "年齢");
    assert_copied("\xf0\x9f\x90\xa7", "\xf0\x9f\x90\xa7");
}

static void takes_other_bytes_for_latin_1_as_windows_writes_it(void **state)
{
    (void)state;
    assert_copied("gr\xf6\xdf"
                  "e",
                  "größe");
    assert_copied("\x80 per day", "€ per day");
    assert_copied("l\x92\xe2ge", "l’âge");
    assert_copied("\x81", "\xef\xbf\xbd"); /* nobody's byte */
}

static void knows_what_is_not_utf8(void **state)
{
    static const char *const bad[] = {
        "\xff",            /* no such byte */
        "\x80",            /* begins in the middle */
        "\xc3",            /* ends in the middle */
        "\xe2\x82",        /* the same, of three */
        "\xc0\xaf",        /* longer than needed */
        "\xe0\x80\xaf",    /* the same */
        "\xed\xa0\x80",    /* a surrogate */
        "\xf4\x90\x80\x80" /* beyond the last */
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(clo_i_is_utf8(bad[i]));
}

typedef struct page {
    char text[256];
    size_t used;
} page;

static bool add(void *user, const char *bytes, size_t count)
{
    page *const p = user;
    memcpy(p->text + p->used, bytes, count);
    p->text[p->used += count] = 0;
    return true;
}

static void assert_json(const char *text, const char *expected)
{
    page p = { .used = 0 };
    clo_writer writer = { .write = add, .user = &p };
    clo_json_string(&writer, text);
    assert_string_equal(p.text, expected);
}

static void writes_json_that_is_utf8(void **state)
{
    (void)state;
    assert_json("größe", "\"größe\"");
    assert_json("gr\xf6"
                "e",
                "\"gröe\"");
    assert_json("a\"\\\n\x7f", "\"a\\\"\\\\\\u000a\\u007f\"");
}

static void assert_cell(const char *text, size_t width, bool right, const char *expected)
{
    page p = { .used = 0 };
    clo_writer writer = { .write = add, .user = &p };
    clo_writer_cell(&writer, text, width, right);
    assert_string_equal(p.text, expected);
    assert_int_equal(clo_text_width(p.text), width);
}

static void cells_take_the_columns_that_are_seen(void **state)
{
    (void)state;
    assert_int_equal(clo_text_width("größe"), 5);
    assert_int_equal(clo_text_width("年齢"), 4);
    assert_int_equal(clo_text_width("e\xcc\x81"), 1); /* e and an accent of its own */
    assert_cell("größe", 7, true, "  größe");
    assert_cell("größe", 7, false, "größe  ");
    assert_cell("größe", 3, true, "grö");
    assert_cell("年齢", 3, true, " 年"); /* a half is not shown */
}

static void cells_hold_no_terminal_controls(void **state)
{
    (void)state;
    assert_cell("a\x1b[2J\n", 8, false, "a?[2J?  ");
    assert_cell("\xc2\x9b"
                "2J",
                4, false, "?2J ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_what_is_utf8),
        cmocka_unit_test(takes_other_bytes_for_latin_1_as_windows_writes_it),
        cmocka_unit_test(knows_what_is_not_utf8),
        cmocka_unit_test(writes_json_that_is_utf8),
        cmocka_unit_test(cells_take_the_columns_that_are_seen),
        cmocka_unit_test(cells_hold_no_terminal_controls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
