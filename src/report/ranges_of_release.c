/* ranges_of_release.c - the chart "ranges": the bounds of each column that a release tells. */
#include "report/charts.h"
#include <math.h>
#include <stdio.h>

enum { MOST_ROWS = 40, MOST_TABLE = 200 };

static bool find(const clo_release *release, clo_array *lower, clo_array *upper)
{
    return clo_release_find(release, "lower", lower) && clo_release_find(release, "upper", upper) &&
           lower->dimensions == 1 && upper->dimensions == 1 &&
           lower->shape[0] == release->facts.cols && upper->shape[0] == release->facts.cols;
}

static bool applies(const clo_release *release)
{
    clo_array lower, upper;
    return find(release, &lower, &upper);
}

/* The widest first, where not all are shown. */
static clo_status choose(const clo_asked *view, size_t most, clo_array *lower, clo_array *upper,
                         clo_shown *shown, clo_error *err)
{
    double *width = NULL;
    if (!find(view->release, lower, upper))
        return clo_i_fail(err, CLO_ARGUMENT, "the release has no bounds of columns");
    CLO_TRY(clo_i_alloc(lower->shape[0], sizeof *width, &width, err));
    for (size_t j = 0; j < lower->shape[0]; j++) width[j] = upper->data[j] - lower->data[j];
    const clo_status status = clo_i_shown_new(view->release, width, most, shown, err);
    clo_i_free(width);
    return status;
}

static void describe(const clo_asked *view, char *text, size_t size)
{
    const size_t cols = view->release->facts.cols;
    const int used = snprintf(text, size,
                              "The bounds of each column, found privately.  All columns have one "
                              "scale; the numbers are on the right.");
    if (cols > MOST_ROWS)
        snprintf(text + used, size - (size_t)used,
                 "  The chart shows the %d widest of %zu columns.", (int)MOST_ROWS, cols);
}

static clo_status draw(const clo_asked *view, const clo_caption *caption, clo_writer *w,
                       clo_error *err)
{
    clo_array lower, upper;
    clo_shown shown = { .count = 0 };
    double *ends = NULL;
    CLO_TRY(choose(view, MOST_ROWS, &lower, &upper, &shown, err));
    const clo_status status = clo_i_alloc(2 * shown.count, sizeof *ends, &ends, err);
    if (!status) {
        for (size_t i = 0; i < shown.count; i++) {
            ends[i] = lower.data[shown.columns[i]];
            ends[shown.count + i] = upper.data[shown.columns[i]];
        }
        const clo_ranges ranges = { .rows = shown.count,
                                    .low = ends,
                                    .high = ends + shown.count,
                                    .names = shown.names,
                                    .numbers = shown.columns };
        clo_i_draw_ranges(w, caption, &ranges);
    }
    clo_i_free(ends);
    clo_i_shown_free(&shown);
    return status;
}

static clo_status table(const clo_asked *view, clo_writer *w, clo_error *err)
{
    static const char *const heads[] = { "column", "lower", "upper" };
    clo_array lower, upper;
    clo_shown shown = { .count = 0 };
    CLO_TRY(choose(view, MOST_TABLE, &lower, &upper, &shown, err));
    clo_i_table_open(w, "Bounds of each column");
    clo_i_table_heads(w, heads, 3);
    for (size_t i = 0; i < shown.count; i++) {
        clo_i_table_name(w, shown.names[i]);
        clo_i_table_number(w, lower.data[shown.columns[i]], 6, NAN);
        clo_i_table_number(w, upper.data[shown.columns[i]], 6, NAN);
        clo_i_table_end_row(w);
    }
    clo_i_table_close(w);
    clo_i_shown_free(&shown);
    return CLO_OK;
}

static clo_status vega(const clo_asked *view, clo_writer *w, clo_error *err)
{
    clo_array lower, upper;
    clo_shown shown = { .count = 0 };
    CLO_TRY(choose(view, MOST_TABLE, &lower, &upper, &shown, err));
    clo_i_vega_values(w, clo_i_chart_ranges.title);
    for (size_t i = 0; i < shown.count; i++) {
        clo_json_open(w, NULL, '{');
        clo_json_text(w, "column", shown.names[i]);
        clo_json_number(w, "lower", lower.data[shown.columns[i]]);
        clo_json_number(w, "upper", upper.data[shown.columns[i]]);
        clo_json_close(w, '}');
    }
    clo_i_vega_values_end(w);
    clo_json_text(w, "mark", "bar");
    clo_json_open(w, "encoding", '{');
    clo_i_vega_channel(w, "y", "column", "nominal", NULL);
    clo_i_vega_channel(w, "x", "lower", "quantitative", NULL);
    clo_json_open(w, "x2", '{');
    clo_json_text(w, "field", "upper");
    clo_json_close(w, '}');
    clo_json_close(w, '}');
    clo_i_shown_free(&shown);
    return CLO_OK;
}

const clo_chart clo_i_chart_ranges = {
    .name = "ranges",
    .title = "Bounds of the columns",
    .applies = applies,
    .describe = describe,
    .draw = draw,
    .table = table,
    .vega = vega,
};
