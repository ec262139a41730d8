/*
 * centers_of_release.c - the chart "centers": every centre in the units of every column, with the
 * noise; lanes where they fit, cells where not.
 */
#include "report/charts.h"
#include <math.h>
#include <stdio.h>

enum { MOST_ROWS = 60, LEAST_ROWS = 8, MOST_CELLS = 1600, MOST_CENTRES = 100 };

/* The numbers of the columns that are shown, a row a column. */
typedef struct numbers {
    clo_places p;
    clo_shown shown;
    size_t count; /* of the centres that are shown */
    double *at, *noise, *score;
    size_t *kinds;
    char (*labels)[32];
    const char **label_texts;
} numbers;

static void numbers_free(numbers *n)
{
    void *const all[] = { n->at, n->noise, n->score, n->kinds, n->labels, n->label_texts };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) clo_i_free(all[i]);
    clo_i_places_free(&n->p);
    clo_i_shown_free(&n->shown);
}

/* In how far the centres differ in a column, on the scale of the run. */
static void score_columns(numbers *n)
{
    for (size_t j = 0; j < n->p.cols; j++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t c = 0; c < n->p.count; c++) {
            low = fmin(low, n->p.at[c * n->p.cols + j]);
            high = fmax(high, n->p.at[c * n->p.cols + j]);
        }
        n->score[j] = (n->p.count > 1 ? high - low : fabs(high)) / n->p.unit[j];
    }
}

static size_t most_rows(size_t count)
{
    const size_t rows = MOST_CELLS / count;
    return rows > MOST_ROWS ? MOST_ROWS : rows < LEAST_ROWS ? LEAST_ROWS : rows;
}

static clo_status alloc_numbers(numbers *n, clo_error *err)
{
    const size_t cells = n->shown.count * n->count;
    CLO_TRY(clo_i_alloc(cells, sizeof *n->at, &n->at, err));
    if (n->p.noise) CLO_TRY(clo_i_alloc(cells, sizeof *n->noise, &n->noise, err));
    CLO_TRY(clo_i_alloc(n->count, sizeof *n->kinds, &n->kinds, err));
    CLO_TRY(clo_i_alloc(n->count, sizeof *n->labels, &n->labels, err));
    return clo_i_alloc(n->count, sizeof *n->label_texts, &n->label_texts, err);
}

static void fill_numbers(const clo_asked *view, numbers *n)
{
    const clo_places *const p = &n->p;
    for (size_t row = 0; row < n->shown.count; row++)
        for (size_t c = 0; c < n->count; c++) {
            n->at[row * n->count + c] = p->at[c * p->cols + n->shown.columns[row]];
            if (p->noise)
                n->noise[row * n->count + c] = p->noise[c * p->cols + n->shown.columns[row]];
        }
    for (size_t c = 0; c < n->count; c++) {
        n->kinds[c] = view->options->other_count ? p->from[c] : c;
        if (view->options->other_count)
            snprintf(n->labels[c], sizeof n->labels[c], "%c%zu", (char)('A' + p->from[c] % 26),
                     p->index[c]);
        else
            snprintf(n->labels[c], sizeof n->labels[c], "%zu", p->index[c]);
        n->label_texts[c] = n->labels[c];
    }
}

static clo_status numbers_new(const clo_asked *view, numbers *n, clo_error *err)
{
    CLO_TRY(clo_i_places_new(view->release, view->options, &n->p, err));
    n->count = n->p.count < MOST_CENTRES ? n->p.count : MOST_CENTRES;
    CLO_TRY(clo_i_alloc(n->p.cols, sizeof *n->score, &n->score, err));
    score_columns(n);
    CLO_TRY(clo_i_shown_new(view->release, n->score, most_rows(n->count), &n->shown, err));
    CLO_TRY(alloc_numbers(n, err));
    fill_numbers(view, n);
    return CLO_OK;
}

/* ---- the chart ------------------------------------------------------------------------------- */

/* How many of what are shown, where that is not all. */
static void say_shown(const clo_asked *view, char *text, size_t size)
{
    const size_t all = clo_i_places_count(view->release, view->options);
    const size_t cols = clo_i_number_columns(view->release),
                 count = all < MOST_CENTRES ? all : MOST_CENTRES;
    const size_t rows = count ? most_rows(count) : 0;
    const int used = rows < cols ? snprintf(text, size,
                                            "  The chart shows the %zu of %zu columns in which the "
                                            "centers differ most.",
                                            rows, cols)
                                 : 0;
    text[used] = 0;
    if (count < all)
        snprintf(text + used, size - (size_t)used,
                 "  The chart shows the first %zu of %zu "
                 "centers.",
                 count, all);
}

/* Whether all of it is in lanes. */
static bool is_small(const clo_asked *view)
{
    return clo_i_lanes_fit(clo_i_number_columns(view->release),
                           clo_i_places_count(view->release, view->options));
}

static bool is_wide(const clo_asked *view)
{
    return !is_small(view) && clo_i_places_count(view->release, view->options) > 16;
}

static void describe(const clo_asked *view, char *text, size_t size)
{
    char shown[300];
    const bool noisy = clo_i_all_have_noise(view);
    say_shown(view, shown, sizeof shown);
    if (is_small(view))
        snprintf(text, size, "One panel per column, in its own units, and one line per center.%s%s",
                 noisy ? "  Bars: ± one standard deviation of the noise.  Hollow symbol: the "
                         "noise is so large that its place means little."
                       : "",
                 shown);
    else
        snprintf(text, size,
                 "One row per column and one cell per center.  The darker a cell, the larger its "
                 "number in that row.  Beside each row are its lowest and highest number, in the "
                 "units of the column.%s%s",
                 noisy ? "  A small cell may differ from the others only by noise." : "", shown);
}

/* A date as a date. */
static bool call_by_schema(const void *user, size_t column, double value, char *text, size_t size)
{
    return clo_i_schema_output_text(user, column, value, text, size);
}

static clo_status draw(const clo_asked *view, const clo_caption *caption, clo_writer *w,
                       clo_error *err)
{
    numbers n = { .count = 0 };
    const clo_schema *const schema = view->release->facts.schema;
    const clo_status status = numbers_new(view, &n, err);
    if (!status) {
        const clo_lanes lanes = { .rows = n.shown.count,
                                  .count = n.count,
                                  .at = n.at,
                                  .noise = n.noise,
                                  .names = n.shown.names,
                                  .numbers = n.shown.columns,
                                  .labels = n.label_texts,
                                  .kinds = n.kinds,
                                  .call = schema ? call_by_schema : NULL,
                                  .user = schema };
        (is_small(view) ? clo_i_draw_lanes : clo_i_draw_heat)(w, caption, &lanes);
    }
    numbers_free(&n);
    return status;
}

static void write_heads(clo_writer *w, const numbers *n)
{
    clo_writer_text(w, "<thead><tr><th scope=\"col\">column</th>");
    for (size_t c = 0; c < n->count; c++) {
        clo_writer_text(w, "<th scope=\"col\">");
        clo_i_escape(w, n->labels[c], 40);
        clo_writer_text(w, "</th>");
    }
    clo_writer_text(w, "</tr></thead><tbody>\n");
}

static void put_number(clo_writer *w, const clo_schema *schema, size_t column, double value,
                       double noise)
{
    char text[64];
    if (schema && clo_i_schema_output_text(schema, column, value, text, sizeof text))
        clo_i_table_text(w, text);
    else
        clo_i_table_number(w, value, 4, noise);
}

static clo_status table(const clo_asked *view, clo_writer *w, clo_error *err)
{
    numbers n = { .count = 0 };
    const clo_status status = numbers_new(view, &n, err);
    if (!status) {
        clo_i_table_open_broad(w, "Centers, in the units of each column", n.count);
        write_heads(w, &n);
        for (size_t row = 0; row < n.shown.count; row++) {
            clo_i_table_name(w, n.shown.names[row]);
            for (size_t c = 0; c < n.count; c++)
                put_number(w, view->release->facts.schema, n.shown.columns[row],
                           n.at[row * n.count + c], n.noise ? n.noise[row * n.count + c] : NAN);
            clo_i_table_end_row(w);
        }
        if (n.p.weight) {
            clo_i_table_name(w, "records");
            for (size_t c = 0; c < n.count; c++)
                clo_i_table_number(w, round(n.p.weight[c]), 15, NAN);
            clo_i_table_end_row(w);
        }
        clo_i_table_close(w);
    }
    numbers_free(&n);
    return status;
}

static clo_status vega(const clo_asked *view, clo_writer *w, clo_error *err)
{
    numbers n = { .count = 0 };
    const clo_status status = numbers_new(view, &n, err);
    if (!status) {
        clo_i_vega_values(w, clo_i_chart_centers.title);
        for (size_t row = 0; row < n.shown.count; row++)
            for (size_t c = 0; c < n.count; c++) {
                clo_json_open(w, NULL, '{');
                clo_json_text(w, "column", n.shown.names[row]);
                clo_json_text(w, "cluster", n.labels[c]);
                clo_json_number(w, "value", n.at[row * n.count + c]);
                if (n.noise) clo_json_number(w, "noise", n.noise[row * n.count + c]);
                clo_json_close(w, '}');
            }
        clo_i_vega_values_end(w);
        clo_json_text(w, "mark", "point");
        clo_json_open(w, "encoding", '{');
        clo_i_vega_channel(w, "row", "column", "nominal", NULL);
        clo_i_vega_channel(w, "x", "value", "quantitative", NULL);
        clo_i_vega_channel(w, "y", "cluster", "nominal", NULL);
        clo_i_vega_channel(w, "color", "cluster", "nominal", NULL);
        clo_json_close(w, '}');
        clo_json_open(w, "resolve", '{');
        clo_json_open(w, "scale", '{');
        clo_json_text(w, "x", "independent");
        clo_json_close(w, '}');
        clo_json_close(w, '}');
    }
    numbers_free(&n);
    return status;
}

static bool has_numbers(const clo_release *release)
{
    return clo_i_number_columns(release) > 0 && clo_i_has_places(release);
}

const clo_chart clo_i_chart_centers = {
    .name = "centers",
    .title = "Every center in every column",
    .applies = has_numbers,
    .describe = describe,
    .draw = draw,
    .is_wide = is_wide,
    .table = table,
    .vega = vega,
};
