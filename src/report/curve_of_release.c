/* curve_of_release.c - the chart "curve": the loss over the number of clusters, where the number
 * was chosen by it. */
#include "report/charts.h"
#include <math.h>
#include <stdio.h>

static bool find(const clo_release *release, clo_array *curve)
{
    return clo_release_find(release, "curve", curve) && curve->dimensions == 1 &&
           curve->shape[0] > 0 && curve->shape[0] <= 1024;
}

static bool applies(const clo_release *release)
{
    clo_array curve;
    return find(release, &curve);
}

/* How many clusters noise let be told; NAN: that is not in the release. */
static double told(const clo_release *release)
{
    clo_array array;
    return clo_release_find(release, "told_apart", &array) ? array.data[0] : NAN;
}

static void describe(const clo_asked *view, char *text, size_t size)
{
    const double k = told(view->release);
    if (k > 1)
        snprintf(text, size,
                 "The loss with 1, 2, 3, … clusters over that with one, as the noisy cells tell "
                 "it.  It bends most at %.0f, which was taken.",
                 k);
    else
        snprintf(text, size,
                 "The loss with 1, 2, 3, … clusters over that with one, as the noisy cells tell "
                 "it.  It has no elbow: no number of clusters stands out, and one centre is told.");
}

static clo_status draw(const clo_asked *view, const clo_caption *caption, clo_writer *w,
                       clo_error *err)
{
    clo_array curve;
    double *x = NULL;
    if (!find(view->release, &curve)) return CLO_OK;
    CLO_TRY(clo_i_alloc(curve.shape[0], sizeof *x, &x, err));
    for (size_t i = 0; i < curve.shape[0]; i++) x[i] = (double)(i + 1);
    const clo_line_of line = { .x = x, .y = curve.data, .count = curve.shape[0] };
    const clo_curves curves = { .lines = &line,
                                .count = 1,
                                .x_name = "clusters",
                                .y_name = "loss, of that with one cluster",
                                .x_whole = true,
                                .y_zero = true,
                                .limit = NAN,
                                .here = told(view->release),
                                .here_name = "taken" };
    const clo_status status = clo_i_draw_curves(w, caption, &curves, err);
    clo_i_free(x);
    return status;
}

static clo_status table(const clo_asked *view, clo_writer *w, clo_error *err)
{
    static const char *const heads[] = { "clusters", "loss" };
    clo_array curve;
    char number[24];
    (void)err;
    if (!find(view->release, &curve)) return CLO_OK;
    clo_i_table_open(w, "Loss over the number of clusters");
    clo_i_table_heads(w, heads, 2);
    for (size_t i = 0; i < curve.shape[0] && i < 100; i++) {
        snprintf(number, sizeof number, "%zu", i + 1);
        clo_i_table_name(w, number);
        clo_i_table_number(w, curve.data[i], 4, NAN);
        clo_i_table_end_row(w);
    }
    clo_i_table_close(w);
    return CLO_OK;
}

static clo_status vega(const clo_asked *view, clo_writer *w, clo_error *err)
{
    clo_array curve;
    (void)err;
    if (!find(view->release, &curve)) return CLO_OK;
    clo_i_vega_values(w, clo_i_chart_curve.title);
    for (size_t i = 0; i < curve.shape[0]; i++) {
        clo_json_open(w, NULL, '{');
        clo_json_count(w, "clusters", i + 1);
        clo_json_number(w, "loss", curve.data[i]);
        clo_json_close(w, '}');
    }
    clo_i_vega_values_end(w);
    clo_json_open(w, "mark", '{');
    clo_json_text(w, "type", "line");
    clo_json_bool(w, "point", true);
    clo_json_close(w, '}');
    clo_json_open(w, "encoding", '{');
    clo_i_vega_channel(w, "x", "clusters", "quantitative", NULL);
    clo_i_vega_channel(w, "y", "loss", "quantitative", NULL);
    clo_json_close(w, '}');
    return CLO_OK;
}

const clo_chart clo_i_chart_curve = {
    .name = "curve",
    .title = "How the number of clusters was chosen",
    .applies = applies,
    .describe = describe,
    .draw = draw,
    .table = table,
    .vega = vega,
};
