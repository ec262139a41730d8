/* release_page.c - a release as a page: the order of its parts, and what it is compared with. */
#include "report/page.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* What one number says needs no picture. */
static void write_radius(clo_writer *w, const clo_release *release)
{
    clo_array array;
    if (!clo_release_find(release, "radius", &array) || array.shape[0] != 1) return;
    clo_i_section_open(w, "What was found");
    clo_i_facts_open(w);
    clo_i_fact(w, "radius", "%s", clo_i_short(array.data[0], 6).text);
    clo_i_facts_close(w);
    clo_i_paragraph(w, "Most records are within this radius. It was chosen to hold the share "
                       "'quantile' of them (below), as far as noise allows.");
    clo_i_section_close(w);
}

static clo_status write_charts(clo_writer *w, const clo_asked *view, clo_error *err)
{
    const clo_chart *chart;
    char text[1200];
    if (!clo_i_chart_at(view->release, 0)) {
        write_radius(w, view->release);
        return CLO_OK;
    }
    clo_i_section_open(w, "What was found");
    for (size_t i = 0; (chart = clo_i_chart_at(view->release, i)); i++) {
        chart->describe(view, text, sizeof text);
        clo_i_figure_open(w, chart->title, text, chart->is_wide && chart->is_wide(view));
        CLO_TRY(clo_i_chart_draw(chart, view, w, err));
        clo_i_figure_table(w);
        CLO_TRY(chart->table(view, w, err));
        clo_i_figure_close(w);
    }
    clo_i_section_close(w);
    return CLO_OK;
}

/* ---- several releases ------------------------------------------------------------------------ */

static void compare_row(clo_writer *w, const clo_release *release, const char *name, size_t which)
{
    char text[300];
    const clo_facts *const facts = &release->facts;
    snprintf(text, sizeof text, "%c%s%.200s", (char)('A' + which % 26), name ? ": " : "",
             name ? name : "");
    clo_i_table_name(w, text);
    snprintf(text, sizeof text, "%.60s/%.60s", facts->family, facts->method);
    clo_i_table_text(w, text);
    clo_i_released_text(release, text, sizeof text);
    clo_i_table_text(w, text);
    clo_i_table_number(w, facts->loss.epsilon, 6, NAN);
    clo_i_table_number(w, facts->loss.delta, 3, NAN);
    clo_i_table_text(w, facts->is_private ? "yes" : "NO");
    clo_i_table_end_row(w);
}

static void write_comparison(clo_writer *w, const clo_asked *view)
{
    static const char *const heads[] = {
        "release", "method", "holds", "epsilon", "delta", "private"
    };
    const clo_page_options *const o = view->options;
    if (o->other_count == 0) return;
    clo_i_section_open(w, "The releases that are compared");
    clo_i_paragraph(w, "In the charts, A3 is cluster 3 of the release A. Each release has a shape "
                       "and a color. The text below is about A.");
    clo_i_table_open_words(w, "Releases");
    clo_i_table_heads(w, heads, 6);
    compare_row(w, view->release, o->names ? o->names[0] : NULL, 0);
    for (size_t i = 0; i < o->other_count; i++)
        compare_row(w, o->others[i], o->names ? o->names[i + 1] : NULL, i + 1);
    clo_i_table_close(w);
    clo_i_section_close(w);
}

/* ---- the page -------------------------------------------------------------------------------- */

static clo_status write_page(clo_writer *w, const clo_asked *view, clo_error *err)
{
    const clo_release *const release = view->release;
    char title[300], what[200], digest[CLO_DIGEST_SIZE], foot[300];
    CLO_TRY(clo_release_digest(release, digest, err));
    clo_i_released_text(release, what, sizeof what);
    snprintf(title, sizeof title, "%s: %s",
             release->facts.is_private ? "Private release" : "Release that is not private", what);
    if (view->options->other_count)
        snprintf(title, sizeof title, "%zu releases compared; the first: %s",
                 view->options->other_count + 1, what);
    clo_i_page_open(w, title, view->options->fragment);
    clo_i_say_released(w, release);
    write_comparison(w, view);
    CLO_TRY(write_charts(w, view, err));
    if (!view->options->fragment) {
        clo_i_say_sureness(w, release);
        clo_i_say_guarantee(w, release);
        if (view->options->ledger)
            CLO_TRY(clo_i_say_budget(w, view->options->ledger, view->options->dataset, err));
        clo_i_say_facts(w, release);
        clo_i_say_use(w, release, digest);
    }
    snprintf(foot, sizeof foot,
             "Made by cloister from a release of version %.40s. This page uses only the release, "
             "not the data.",
             release->facts.version ? release->facts.version : "?");
    clo_i_page_close(w, foot, view->options->fragment);
    return CLO_OK;
}

clo_status clo_release_html(const clo_release *release, const clo_page_options *options,
                            clo_write *write, void *user, clo_error *err)
{
    clo_page_options taken = clo_page_options_default();
    clo_writer writer = { .write = write, .user = user };
    CLO_TRY(clo_i_take_options("clo_page_options", options, &taken, sizeof taken, err));
    const clo_asked view = { release, &taken, false };
    CLO_TRY(write_page(&writer, &view, err));
    if (writer.failed) return clo_i_fail(err, CLO_IO, "the page could not be written");
    return CLO_OK;
}
