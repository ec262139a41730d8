/* charts.c - the charts of a release: which there are, and one of them alone. */
#include "report/charts.h"
#include <string.h>

static const clo_chart *const charts[] = {
    &clo_i_chart_map,      &clo_i_chart_centers,  &clo_i_chart_shares, &clo_i_chart_curve,
    &clo_i_chart_loadings, &clo_i_chart_spectrum, &clo_i_chart_angles, &clo_i_chart_ranges,
};
enum { CHART_COUNT = sizeof charts / sizeof *charts };

const clo_chart *clo_i_chart_at(const clo_release *release, size_t i)
{
    for (size_t c = 0; c < CHART_COUNT; c++)
        if (charts[c]->applies(release) && i-- == 0) return charts[c];
    return NULL;
}

bool clo_i_all_have_noise(const clo_asked *view)
{
    bool all = clo_release_center_noise(view->release, NULL);
    for (size_t i = 0; i < view->options->other_count; i++)
        all = all && clo_release_center_noise(view->options->others[i], NULL);
    return all;
}

bool clo_i_all_have(const clo_asked *view, const char *array)
{
    clo_array found;
    bool all = clo_release_find(view->release, array, &found);
    for (size_t i = 0; i < view->options->other_count; i++)
        all = all && clo_release_find(view->options->others[i], array, &found);
    return all;
}

const char *clo_release_chart_at(const clo_release *release, size_t i)
{
    const clo_chart *const chart = clo_i_chart_at(release, i);
    return chart ? chart->name : NULL;
}

clo_status clo_i_chart_draw(const clo_chart *chart, const clo_asked *view, clo_writer *w,
                            clo_error *err)
{
    char text[1200];
    chart->describe(view, text, sizeof text);
    const clo_caption caption = { chart->name, chart->title, text, view->alone };
    return chart->draw(view, &caption, w, err);
}

void clo_page_options_init(clo_page_options *options, size_t size)
{
    const clo_page_options presets = { .struct_size = size };
    clo_i_give_presets(options, size, &presets, sizeof presets);
}

/* The names of those that there are, for a message. */
static void list_charts(const clo_release *release, char *text, size_t size)
{
    text[0] = 0;
    for (size_t i = 0; clo_i_chart_at(release, i); i++) {
        strncat(text, i ? ", " : "", size - strlen(text) - 1);
        strncat(text, clo_i_chart_at(release, i)->name, size - strlen(text) - 1);
    }
}

static clo_status find_chart(const clo_release *release, const char *name, const clo_chart **out,
                             clo_error *err)
{
    char known[200];
    const clo_chart *chart = clo_i_chart_at(release, 0);
    for (size_t i = 0; name && chart && strcmp(chart->name, name) != 0;)
        chart = clo_i_chart_at(release, ++i);
    if (chart) {
        *out = chart;
        return CLO_OK;
    }
    list_charts(release, known, sizeof known);
    if (!known[0]) return clo_i_fail(err, CLO_ARGUMENT, "there is nothing to draw in this release");
    return clo_i_fail(err, CLO_ARGUMENT, "this release has no chart '%.40s'; it has %s", name,
                      known);
}

clo_status clo_release_svg(const clo_release *release, const clo_page_options *options,
                           clo_write *write, void *user, clo_error *err)
{
    clo_page_options taken = clo_page_options_default();
    clo_writer writer = { .write = write, .user = user };
    const clo_chart *chart = NULL;
    CLO_TRY(clo_i_take_options("clo_page_options", options, &taken, sizeof taken, err));
    CLO_TRY(find_chart(release, taken.chart, &chart, err));
    const clo_asked view = { release, &taken, true };
    CLO_TRY(clo_i_chart_draw(chart, &view, &writer, err));
    if (writer.failed) return clo_i_fail(err, CLO_IO, "the chart could not be written");
    return CLO_OK;
}

clo_status clo_release_vega(const clo_release *release, const clo_page_options *options,
                            clo_write *write, void *user, clo_error *err)
{
    clo_page_options taken = clo_page_options_default();
    clo_writer writer = { .write = write, .user = user };
    const clo_chart *chart = NULL;
    CLO_TRY(clo_i_take_options("clo_page_options", options, &taken, sizeof taken, err));
    CLO_TRY(find_chart(release, taken.chart, &chart, err));
    const clo_asked view = { release, &taken, true };
    clo_json_open(&writer, NULL, '{');
    CLO_TRY(chart->vega(&view, &writer, err));
    clo_json_close(&writer, '}');
    clo_writer_text(&writer, "\n");
    if (writer.failed) return clo_i_fail(err, CLO_IO, "the chart could not be written");
    return CLO_OK;
}
