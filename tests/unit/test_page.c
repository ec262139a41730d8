/* Pages and charts of a release: which there are, what they refuse, names that are no text.  What
 * stands in them is held to the release by tests/cli/pages.py. */
#include "shown_release.h"

static void charts_are_those_that_the_release_has_something_for(void **state)
{
    clo_release *const centers = shown_centers(), *const flats = shown_subspaces();
    (void)state;
    assert_string_equal(clo_release_chart_at(centers, 0), "map");
    assert_string_equal(clo_release_chart_at(centers, 1), "centers");
    assert_string_equal(clo_release_chart_at(centers, 2), "curve");
    assert_null(clo_release_chart_at(centers, 3));
    assert_string_equal(clo_release_chart_at(flats, 0), "loadings");
    assert_string_equal(clo_release_chart_at(flats, 1), "spectrum");
    assert_string_equal(clo_release_chart_at(flats, 2), "angles");
    assert_string_equal(clo_release_chart_at(flats, 3), "ranges");
    assert_null(clo_release_chart_at(flats, 4));
    clo_release_free(centers);
    clo_release_free(flats);
}

static void every_chart_is_drawn_alone(void **state)
{
    clo_release *const releases[2] = { shown_centers(), shown_subspaces() };
    clo_page_options options = clo_page_options_default();
    clo_error err;
    (void)state;
    for (size_t r = 0; r < 2; r++)
        for (size_t i = 0; (options.chart = clo_release_chart_at(releases[r], i)); i++) {
            shown_text t = { NULL, 0 };
            assert_ok(clo_release_svg(releases[r], &options, shown_append, &t, &err), err);
            assert_int_equal(strncmp(t.bytes, "<svg xmlns=", 11), 0);
            assert_non_null(strstr(t.bytes, "prefers-color-scheme:dark"));
            assert_non_null(strstr(t.bytes, "<desc"));
            assert_null(strstr(t.bytes, "NaN"));
            assert_null(strstr(t.bytes, "null"));
            t.length = 0;
            assert_ok(clo_release_vega(releases[r], &options, shown_append, &t, &err), err);
            assert_int_equal(t.bytes[0], '{');
            free(t.bytes);
        }
    clo_release_free(releases[0]);
    clo_release_free(releases[1]);
}

static void names_that_are_no_text_are_harmless(void **state)
{
    static const char *const names[3] = { "\xff\xfe<script>", "a\"b\x01", "\xe2\x80\xae\xf0\x9f" };
    clo_release *const release = shown_centers();
    shown_text t = { NULL, 0 };
    clo_error err;
    (void)state;
    assert_ok(clo_release_name_columns(release, names, 3, &err), err);
    assert_ok(clo_release_html(release, NULL, shown_append, &t, &err), err);
    assert_non_null(strstr(t.bytes, "\xEF\xBF\xBD\xEF\xBF\xBD&lt;script&gt;"));
    assert_null(strstr(t.bytes, "<script"));
    for (size_t i = 0; i < t.length; i++) {
        const unsigned char c = (unsigned char)t.bytes[i];
        assert_true(c == '\n' || (c >= 0x20 && c != 0x7f && c < 0xf0));
    }
    free(t.bytes);
    clo_release_free(release);
}

static void a_fragment_has_no_frame(void **state)
{
    clo_release *const release = shown_centers();
    clo_page_options options = clo_page_options_default();
    shown_text t = { NULL, 0 };
    clo_error err;
    (void)state;
    options.fragment = true;
    assert_ok(clo_release_html(release, &options, shown_append, &t, &err), err);
    assert_int_equal(strncmp(t.bytes, "<div class=\"cloister\">", 22), 0);
    assert_null(strstr(t.bytes, "<html"));
    assert_null(strstr(t.bytes, "<body"));
    free(t.bytes);
    clo_release_free(release);
}

static void what_cannot_be_shown_is_refused(void **state)
{
    clo_release *const release = shown_centers(), *const other = made_release("kmeans", 2, 1, 0);
    clo_release *const empty = made_release("kmeans", 2, 1, 0);
    const clo_release *const others[1] = { other };
    const double two[2] = { 1, 2 };
    clo_page_options options = clo_page_options_default();
    shown_text t = { NULL, 0 };
    clo_error err;
    (void)state;
    put_facts(other);
    put(other, "centers", two, 2, 1, 2, 0);
    options.chart = "pie";
    assert_fails(clo_release_svg(release, &options, shown_append, &t, &err), CLO_ARGUMENT, err,
                 "it has map, centers, curve");
    assert_fails(clo_release_svg(empty, NULL, shown_append, &t, &err), CLO_ARGUMENT, err,
                 "nothing to draw");
    options.chart = NULL;
    options.x_column = "1";
    assert_fails(clo_release_svg(release, &options, shown_append, &t, &err), CLO_ARGUMENT, err,
                 "two columns, or none");
    options.y_column = "4";
    assert_fails(clo_release_svg(release, &options, shown_append, &t, &err), CLO_ARGUMENT, err,
                 "no column '4'");
    options.x_column = options.y_column = NULL;
    options.others = others;
    options.other_count = 1;
    assert_fails(clo_release_html(release, &options, shown_append, &t, &err), CLO_ARGUMENT, err,
                 "of 3 and of 2 columns");
    options.struct_size = 0;
    assert_fails(clo_release_html(release, &options, shown_append, &t, &err), CLO_ARGUMENT, err,
                 "clo_page_options_default");
    free(t.bytes);
    clo_release_free(release);
    clo_release_free(other);
    clo_release_free(empty);
}

static bool refuse(void *user, const char *bytes, size_t count)
{
    (void)user, (void)bytes, (void)count;
    return false;
}

static void what_cannot_be_written_is_said(void **state)
{
    clo_release *const release = shown_centers();
    clo_error err;
    (void)state;
    assert_fails(clo_release_html(release, NULL, refuse, NULL, &err), CLO_IO, err, "written");
    assert_fails(clo_release_svg(release, NULL, refuse, NULL, &err), CLO_IO, err, "written");
    assert_fails(clo_release_vega(release, NULL, refuse, NULL, &err), CLO_IO, err, "written");
    clo_release_free(release);
}

static const char curves[] =
    "{\"schema\": \"cloister.curves/1\", \"panels\": [{\"name\": \"a\", \"title\": \"t\", "
    "\"x\": {\"name\": \"x\"}, \"y\": {\"name\": \"y\", \"log\": true}, \"curves\": "
    "[{\"name\": \"c\", \"x\": [1, 2, 3], \"y\": [0.1, null, 10], \"error\": [1, 0, 1]}]}]}";

static void curves_are_drawn_from_json(void **state)
{
    shown_text t = { NULL, 0 };
    clo_error err;
    (void)state;
    assert_ok(clo_curves_svg(curves, sizeof curves - 1, "a", shown_append, &t, &err), err);
    assert_int_equal(strncmp(t.bytes, "<svg xmlns=", 11), 0);
    assert_non_null(strstr(t.bytes, "noise c0"));
    assert_null(strcasestr(t.bytes, "nan"));
    free(t.bytes);
}

/* Cut off anywhere, it is no JSON; without any of its members it is no file of curves. */
static void half_a_file_of_curves_is_refused(void **state)
{
    shown_text t = { NULL, 0 };
    clo_error err;
    (void)state;
    for (size_t length = 0; length < sizeof curves - 1; length++)
        assert_int_equal(clo_curves_svg(curves, length, NULL, shown_append, &t, &err), CLO_FORMAT);
    for (const char *at = curves; (at = strstr(at, "\": ")); at++) {
        char changed[sizeof curves];
        memcpy(changed, curves, sizeof curves);
        changed[at - curves - 1] = '~'; /* the last letter of a key */
        const clo_status status =
            clo_curves_svg(changed, sizeof curves - 1, NULL, shown_append, &t, &err);
        const bool optional = strncmp(at - 3, "log", 3) == 0 || strncmp(at - 5, "error", 5) == 0 ||
                              at[3] == 'c' || strncmp(at + 3, "\"c\"", 3) == 0;
        assert_true(status == CLO_FORMAT || (status == CLO_OK && optional));
    }
    assert_int_equal(clo_curves_svg(curves, sizeof curves - 1, "b", shown_append, &t, &err),
                     CLO_ARGUMENT);
    free(t.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(charts_are_those_that_the_release_has_something_for),
        cmocka_unit_test(every_chart_is_drawn_alone),
        cmocka_unit_test(names_that_are_no_text_are_harmless),
        cmocka_unit_test(a_fragment_has_no_frame),
        cmocka_unit_test(what_cannot_be_shown_is_refused),
        cmocka_unit_test(what_cannot_be_written_is_said),
        cmocka_unit_test(curves_are_drawn_from_json),
        cmocka_unit_test(half_a_file_of_curves_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
