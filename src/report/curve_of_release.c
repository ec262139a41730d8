/* curve_of_release.c - the chart "curve": the loss over the number of clusters, where the number
 * was chosen by it. */
#include "report/charts.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    return clo_release_find(release, "distinct_clusters", &array) ? array.data[0] : NAN;
}

/* How many were taken: of a release that says where the curve bends, as many as it has centers. */
static double taken_of(const clo_release *release)
{
    clo_array elbow, centers;
    const bool counts = clo_release_find(release, "elbow", &elbow) &&
                        clo_release_find(release, "centers", &centers);
    return counts ? (double)centers.shape[0] : told(release);
}

/* ---- by which rule --------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static void add(char *text, size_t size, const char *format,
                                                      ...)
{
    const size_t used = strlen(text);
    va_list values;
    va_start(values, format);
    vsnprintf(text + used, size - used, format, values);
    va_end(values);
}

/* Percent of the spread that so many clusters explain. */
static double explained(const clo_array *curve, size_t k)
{
    return k > 0 && k <= curve->shape[0] ? 100 * (1 - curve->data[k - 1]) : NAN;
}

/* Why it is this number: what the user asked for, a bend, or that more would win little. */
static void add_rule(const clo_release *release, const clo_array *curve, size_t elbow, size_t k,
                     char *text, size_t size)
{
    const double share = 100 * clo_i_facts_parameter(&release->facts, "explain");
    const double smallest = clo_i_facts_parameter(&release->facts, "smallest");
    if (share > 0 && explained(curve, k) >= share)
        add(text, size, "  No smaller number of clusters explains %.4g %%.", share);
    else if (share == 0 && elbow == k)
        add(text, size, "  The curve bends most at this number.");
    else if (k == (size_t)clo_i_facts_parameter(&release->facts, "clusters"))
        add(text, size, "  This is the largest number that was allowed.");
    else if (smallest > 0)
        add(text, size, "  With more clusters, one would have fewer than %.6g records.", smallest);
    else
        add(text, size,
            "  The curve has no clear bend; from this number on, one more cluster "
            "gains little.");
}

static void add_choice(const clo_release *release, const clo_array *curve, size_t elbow, size_t k,
                       char *text, size_t size)
{
    add(text, size, "%zu cluster%s explain%s %.0f %% of the spread", k, k > 1 ? "s" : "",
        k > 1 ? "" : "s", explained(curve, k));
    if (k > 1) add(text, size, "; %zu would explain %.0f %%", k - 1, explained(curve, k - 1));
    add(text, size, "%s%zu %.0f %%.", k > 1 ? ", and " : "; ", k + 1, explained(curve, k + 1));
    add_rule(release, curve, elbow, k, text, size);
}

void clo_i_say_choice(const clo_release *release, char *text, size_t size)
{
    clo_array curve, elbow, centers;
    if (!find(release, &curve)) return;
    snprintf(text, size,
             "The loss with 1, 2, 3 and more clusters, as a share of that with one, computed from "
             "the noisy answers.  ");
    if (clo_release_find(release, "elbow", &elbow) &&
        clo_release_find(release, "centers", &centers))
        add_choice(release, &curve, (size_t)elbow.data[0], centers.shape[0], text, size);
    else if (told(release) > 1)
        add(text, size, "It bends most at %.0f, which was chosen.", told(release));
    else
        add(text, size,
            "It has no bend: no number of clusters stands out, so the release has one center.");
}

static void describe(const clo_asked *view, char *text, size_t size)
{
    clo_i_say_choice(view->release, text, size);
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
                                .y_name = "loss, as a share of that with one cluster",
                                .x_whole = true,
                                .y_zero = true,
                                .limit = NAN,
                                .here = taken_of(view->release),
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
    clo_i_table_open(w, "Loss for each number of clusters");
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
