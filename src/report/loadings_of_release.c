/* loadings_of_release.c - the chart "loadings": how much of each column is in each direction. */
#include "report/charts.h"
#include "report/bases.h"
#include <math.h>
#include <stdio.h>

enum { MOST_ROWS = 40, MOST_PANELS = 12, MOST_TABLE = 24 };

typedef struct numbers {
    clo_bases bases;
    clo_shown shown;
    size_t panels;
    double *at, *score;
    size_t *kinds;
    char (*titles)[48];
    const char **title_texts;
} numbers;

static bool applies(const clo_release *release)
{
    clo_bases bases;
    return clo_i_find_bases(release, &bases) && bases.count * bases.dim > 0;
}

static void numbers_free(numbers *n)
{
    void *const all[] = { n->at, n->score, n->kinds, n->titles, n->title_texts };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) clo_i_free(all[i]);
    clo_i_shown_free(&n->shown);
}

/* The largest loading of a column in any of the panels. */
static void score_columns(numbers *n)
{
    for (size_t j = 0; j < n->bases.cols; j++)
        for (size_t panel = 0; panel < n->panels; panel++)
            n->score[j] =
                fmax(n->score[j],
                     fabs(clo_i_loading(&n->bases, panel / n->bases.dim, j, panel % n->bases.dim)));
}

static void fill_numbers(numbers *n)
{
    const clo_bases *const b = &n->bases;
    for (size_t panel = 0; panel < n->panels; panel++) {
        const size_t flat = panel / b->dim, q = panel % b->dim;
        for (size_t row = 0; row < n->shown.count; row++)
            n->at[row * n->panels + panel] = clo_i_loading(b, flat, n->shown.columns[row], q);
        n->kinds[panel] = b->count > 1 ? flat : 0;
        if (b->count > 1)
            snprintf(n->titles[panel], sizeof n->titles[panel], "%zu · %zu", flat, q + 1);
        else
            snprintf(n->titles[panel], sizeof n->titles[panel], "%zu", q + 1);
        n->title_texts[panel] = n->titles[panel];
    }
}

static clo_status numbers_new(const clo_asked *view, size_t most, numbers *n, clo_error *err)
{
    if (!clo_i_find_bases(view->release, &n->bases))
        return clo_i_fail(err, CLO_ARGUMENT, "the release has no directions");
    const size_t all = n->bases.count * n->bases.dim;
    n->panels = all < most ? all : most;
    CLO_TRY(clo_i_alloc(n->bases.cols, sizeof *n->score, &n->score, err));
    score_columns(n);
    CLO_TRY(clo_i_shown_new(view->release, n->score, MOST_ROWS, &n->shown, err));
    CLO_TRY(clo_i_alloc(n->shown.count * n->panels, sizeof *n->at, &n->at, err));
    CLO_TRY(clo_i_alloc(n->panels, sizeof *n->kinds, &n->kinds, err));
    CLO_TRY(clo_i_alloc(n->panels, sizeof *n->titles, &n->titles, err));
    CLO_TRY(clo_i_alloc(n->panels, sizeof *n->title_texts, &n->title_texts, err));
    fill_numbers(n);
    return CLO_OK;
}

static bool is_wide(const clo_asked *view)
{
    clo_bases b;
    return clo_i_find_bases(view->release, &b) && b.count * b.dim > 6;
}

static void describe(const clo_asked *view, char *text, size_t size)
{
    clo_bases b;
    int used;
    text[0] = 0;
    if (!clo_i_find_bases(view->release, &b)) return;
    used = snprintf(text, size, "How much each column contributes to each direction.  %s",
                    b.count > 1 ? "Above a panel: the subspace and the number of its direction.  "
                                : "Above a panel: the number of the direction.  ");
    used += snprintf(text + used, size - (size_t)used,
                     "Only the space that the directions span is released, so they may be rotated "
                     "within it.");
    if (b.cols > MOST_ROWS)
        used += snprintf(text + used, size - (size_t)used,
                         "  The chart shows the %d of %zu columns with the largest loadings.",
                         (int)MOST_ROWS, b.cols);
    if (b.count * b.dim > MOST_PANELS)
        snprintf(text + used, size - (size_t)used,
                 "  The chart shows the first %d of %zu "
                 "directions.",
                 (int)MOST_PANELS, b.count * b.dim);
}

static clo_status draw(const clo_asked *view, const clo_caption *caption, clo_writer *w,
                       clo_error *err)
{
    numbers n = { .panels = 0 };
    const clo_status status = numbers_new(view, MOST_PANELS, &n, err);
    if (!status) {
        const clo_bars bars = { .rows = n.shown.count,
                                .panels = n.panels,
                                .at = n.at,
                                .names = n.shown.names,
                                .numbers = n.shown.columns,
                                .titles = n.title_texts,
                                .kinds = n.kinds };
        clo_i_draw_bars(w, caption, &bars);
    }
    numbers_free(&n);
    return status;
}

static clo_status table(const clo_asked *view, clo_writer *w, clo_error *err)
{
    numbers n = { .panels = 0 };
    const char *heads[MOST_TABLE + 1] = { "column" };
    const clo_status status = numbers_new(view, MOST_TABLE, &n, err);
    if (!status) {
        for (size_t i = 0; i < n.panels; i++) heads[i + 1] = n.titles[i];
        clo_i_table_open_broad(
            w, n.bases.count > 1 ? "Loadings, by subspace · direction" : "Loadings, by direction",
            n.panels / 2);
        clo_i_table_heads(w, heads, n.panels + 1);
        for (size_t row = 0; row < n.shown.count; row++) {
            clo_i_table_name(w, n.shown.names[row]);
            for (size_t i = 0; i < n.panels; i++)
                clo_i_table_number(w, n.at[row * n.panels + i], 3, NAN);
            clo_i_table_end_row(w);
        }
        clo_i_table_close(w);
    }
    numbers_free(&n);
    return status;
}

static clo_status vega(const clo_asked *view, clo_writer *w, clo_error *err)
{
    numbers n = { .panels = 0 };
    const clo_status status = numbers_new(view, MOST_TABLE, &n, err);
    if (!status) {
        clo_i_vega_values(w, clo_i_chart_loadings.title);
        for (size_t row = 0; row < n.shown.count; row++)
            for (size_t i = 0; i < n.panels; i++) {
                clo_json_open(w, NULL, '{');
                clo_json_text(w, "column", n.shown.names[row]);
                clo_json_text(w, "direction", n.titles[i]);
                clo_json_number(w, "loading", n.at[row * n.panels + i]);
                clo_json_close(w, '}');
            }
        clo_i_vega_values_end(w);
        clo_json_text(w, "mark", "bar");
        clo_json_open(w, "encoding", '{');
        clo_i_vega_channel(w, "column", "direction", "nominal", NULL);
        clo_i_vega_channel(w, "x", "loading", "quantitative", NULL);
        clo_i_vega_channel(w, "y", "column", "nominal", NULL);
        clo_json_close(w, '}');
    }
    numbers_free(&n);
    return status;
}

const clo_chart clo_i_chart_loadings = {
    .name = "loadings",
    .title = "Directions",
    .applies = applies,
    .describe = describe,
    .draw = draw,
    .is_wide = is_wide,
    .table = table,
    .vega = vega,
};
