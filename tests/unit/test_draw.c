/* The drawing layer: texts made harmless, numbers and ticks, scales. */
#include "check.h"
#include "draw/draw.h"
#include <locale.h>
#include <stdlib.h>

static char written[1 << 16];
static size_t length;

static bool keep(void *user, const char *bytes, size_t count)
{
    (void)user;
    assert_true(length + count < sizeof written);
    memcpy(written + length, bytes, count);
    length += count;
    written[length] = 0;
    return true;
}

static clo_writer fresh(void)
{
    length = 0;
    written[0] = 0;
    return (clo_writer){ .write = keep };
}

static const char *escaped(const char *text, size_t most)
{
    clo_writer w = fresh();
    clo_i_escape(&w, text, most);
    return written;
}

static void what_ends_a_tag_or_an_attribute_does_not(void **state)
{
    (void)state;
    assert_string_equal(escaped("</svg><script>alert('1' && \"2\")", 100),
                        "&lt;/svg&gt;&lt;script&gt;alert(&#39;1&#39; &amp;&amp; &quot;2&quot;)");
    assert_string_equal(escaped("größe µ 身長", 100), "größe µ 身長");
}

static void what_is_no_text_becomes_a_sign_that_says_so(void **state)
{
    static const char *const bad[] = {
        "\xff",         "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x01",
        "\x7f",         "\xc2\x85", "\xe2\x80\xae", "\xe2\x81\xa6",     "\xef\xbf\xbf",
        "\xe2\x80\x8f", "\n",       "\xe2\x80\xa8",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *const seen = escaped(bad[i], 100);
        assert_int_equal(strncmp(seen, "\xEF\xBF\xBD", 3), 0);
        assert_null(strpbrk(seen, "\x01\x7f\n\xff"));
    }
    /* Half a character at the end of a text does not read beyond it. */
    assert_string_equal(escaped("a\xe2\x80", 100), "a\xEF\xBF\xBD\xEF\xBF\xBD");
}

static void long_texts_are_cut_between_characters(void **state)
{
    (void)state;
    assert_string_equal(escaped("äöüß", 3), "äö…");
    assert_string_equal(escaped("äöü", 3), "äöü");
    assert_string_equal(escaped("", 3), "");
}

static void a_text_that_is_said_to_fit_is_no_wider_than_its_room(void **state)
{
    static const char text[] = "Wide names, MMM, of columns";
    (void)state;
    assert_true(clo_i_text_fit(text, 12, 1e9) == SIZE_MAX);
    for (double room = 20; room < 150; room += 7) {
        const size_t fits = clo_i_text_fit(text, 12, room);
        assert_true(fits != SIZE_MAX && fits >= 1);
        char start[sizeof text] = "";
        memcpy(start, text, fits - 1);
        assert_true(clo_i_text_width(start, 12) + 12 <= room);
    }
}

static void numbers_are_short_and_have_a_point_in_every_locale(void **state)
{
    (void)state;
    (void)setlocale(LC_ALL, "de_DE.UTF-8"); /* where there is one */
    assert_string_equal(clo_i_short(1234.5678, 4).text, "1235");
    assert_string_equal(clo_i_short(-0.00012345, 2).text, "-0.00012");
    assert_string_equal(clo_i_short(INFINITY, 2).text, "∞");
    assert_string_equal(clo_i_tick(0.3).text, "0.3");
    assert_string_equal(clo_i_tick(2e9).text, "2e9");
    (void)setlocale(LC_ALL, "C");
}

static void ticks_are_round_and_within_the_scale(void **state)
{
    static const double ends[][2] = { { 0, 1 },       { -3, 17.2 },     { 1e-7, 2e-7 },
                                      { 5, 5 },       { -1e12, 3 },     { 0, 0 },
                                      { 0.1, 0.7 },   { 1e300, 1e300 }, { -2.5, 2.5 },
                                      { 99.9, 100.1 } };
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        for (int tight = 0; tight < 2; tight++) {
            const clo_scale s = clo_i_scale(ends[i][0], ends[i][1], 300, 20, 5, tight);
            assert_true(s.low <= ends[i][0] && s.high >= ends[i][1] && s.low < s.high);
            assert_true(s.tick_count >= 2 && s.tick_count <= CLO_MAX_TICKS);
            for (size_t t = 0; t < s.tick_count; t++) {
                const double at = clo_i_place(&s, s.ticks[t]);
                assert_true(at <= 300 + 1e-6 && at >= 20 - 1e-6);
                assert_true(t == 0 || s.ticks[t] > s.ticks[t - 1]);
                assert_true(strlen(clo_i_tick(s.ticks[t]).text) <= 12);
            }
        }
}

static void a_logarithmic_scale_has_ticks_at_one_two_and_five(void **state)
{
    (void)state;
    const clo_scale s = clo_i_scale_log(0.1, 10, 0, 200);
    assert_int_equal(s.tick_count, 7);
    assert_close(clo_i_place(&s, 1), 100, 1e-9);
    assert_close(s.ticks[1], 0.2, 0);
    const clo_scale wide = clo_i_scale_log(1e-30, 1e30, 0, 200);
    assert_true(wide.tick_count > 2 && wide.tick_count <= CLO_MAX_TICKS);
}

static void what_is_not_finite_is_no_scale_and_no_place(void **state)
{
    (void)state;
    const clo_scale s = clo_i_scale(NAN, INFINITY, 0, 100, 5, true);
    assert_true(isfinite(s.low) && isfinite(s.high) && s.low < s.high);
    clo_writer w = fresh();
    clo_i_coordinate(&w, NAN);
    assert_string_equal(written, "0");
}

static void a_bar_is_as_long_as_its_share(void **state)
{
    char text[64];
    (void)state;
    assert_int_equal(clo_bar_text(0.5, 8, true, text, sizeof text), 4);
    assert_string_equal(text, "####");
    assert_int_equal(clo_bar_text(0.5, 5, false, text, sizeof text), 3);
    assert_string_equal(text, "██▌");
    assert_int_equal(clo_bar_text(7, 2, false, text, sizeof text), 2);
    assert_string_equal(text, "██");
    assert_int_equal(clo_bar_text(NAN, 2, true, text, sizeof text), 0);
    assert_int_equal(clo_bar_text(-1, 2, true, text, sizeof text), 0);
    assert_int_equal(clo_bar_text(1, 8, false, text, 8), 2); /* whole characters alone */
    assert_string_equal(text, "██");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_ends_a_tag_or_an_attribute_does_not),
        cmocka_unit_test(what_is_no_text_becomes_a_sign_that_says_so),
        cmocka_unit_test(long_texts_are_cut_between_characters),
        cmocka_unit_test(a_text_that_is_said_to_fit_is_no_wider_than_its_room),
        cmocka_unit_test(numbers_are_short_and_have_a_point_in_every_locale),
        cmocka_unit_test(ticks_are_round_and_within_the_scale),
        cmocka_unit_test(a_logarithmic_scale_has_ticks_at_one_two_and_five),
        cmocka_unit_test(what_is_not_finite_is_no_scale_and_no_place),
        cmocka_unit_test(a_bar_is_as_long_as_its_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
