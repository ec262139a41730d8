/* test_page_allocations.c - pages and charts with the n-th allocation failing, n = 1, 2, ...:
 * CLO_MEMORY and nothing leaked. */
#include "shown_release.h"

/* Every form of a release: 0 a page with others, then each chart as SVG and as Vega-Lite. */
static clo_status show(const clo_release *release, size_t form, shown_text *t, clo_error *err)
{
    const clo_release *const others[1] = { release };
    clo_page_options options = clo_page_options_default();
    if (form == 0) {
        options.others = others;
        options.other_count = 1;
        return clo_release_html(release, &options, shown_append, t, err);
    }
    options.chart = clo_release_chart_at(release, (form - 1) / 2);
    return form % 2 ? clo_release_svg(release, &options, shown_append, t, err)
                    : clo_release_vega(release, &options, shown_append, t, err);
}

static void a_page_without_memory_fails_cleanly(void **state)
{
    clo_release *const releases[2] = { shown_centers(), shown_subspaces() };
    clo_error err;
    uint64_t failures = 0;
    (void)state;
    for (size_t r = 0; r < 2; r++)
        for (size_t form = 0; form == 0 || clo_release_chart_at(releases[r], (form - 1) / 2);
             form++) {
            clo_status status = CLO_MEMORY;
            for (uint64_t n = 1; status != CLO_OK; n++) {
                shown_text t = { NULL, 0 };
                clo_i_fail_allocation(n);
                status = show(releases[r], form, &t, &err);
                clo_i_fail_allocation(0);
                if (status) assert_int_equal(status, CLO_MEMORY);
                failures += status != CLO_OK;
                free(t.bytes);
                assert_true(n < 10000);
            }
        }
    assert_true(failures > 50);
    clo_release_free(releases[0]);
    clo_release_free(releases[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_page_without_memory_fails_cleanly) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
