/*
 * spectrum_of_release.c - the chart "spectrum": the energy along each released direction, beside
 * what noise alone may show (subspace_gaussian.T2).
 */
#include "report/charts.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool find(const clo_release *release, clo_array *energy, clo_array *stands)
{
    return clo_release_find(release, "energy", energy) && energy->dimensions == 1 &&
           clo_release_find(release, "stands_out", stands) && stands->dimensions == 1 &&
           stands->shape[0] == energy->shape[0] && energy->shape[0] > 0 && energy->shape[0] <= 4096;
}

static bool applies(const clo_release *release)
{
    clo_array energy, stands;
    return find(release, &energy, &stands);
}

/* Where the largest eigenvalue of noise alone stays below, but for one time in a thousand; NAN
 * where the release does not tell: its noise is that of another norm where the norm was learnt. */
static double edge(const clo_release *release)
{
    const clo_facts *const facts = &release->facts;
    const double cols = (double)(facts->seen_cols ? facts->seen_cols : facts->cols);
    clo_array learnt;
    double noise = NAN;
    if (clo_release_find(release, "learnt_norm", &learnt)) return NAN;
    for (size_t i = 0; i < facts->query_count; i++)
        if (strcmp(facts->query_names[i], "gaussian_gram") == 0) noise = facts->query_noise[i];
    return noise * (sqrt(2 * cols) + sqrt(2 * log(1000)));
}

/* Whether a scale from 0 on would hide the small ones. */
static bool spreads_far(const clo_array *energy, double limit)
{
    double low = isnan(limit) ? INFINITY : limit, high = isnan(limit) ? 0 : limit;
    for (size_t i = 0; i < energy->shape[0]; i++) {
        low = fmin(low, energy->data[i]);
        high = fmax(high, energy->data[i]);
    }
    return low > 0 && high > 20 * low;
}

static void describe(const clo_asked *view, char *text, size_t size)
{
    clo_array energy, stands;
    size_t count = 0;
    text[0] = 0;
    if (!find(view->release, &energy, &stands)) return;
    for (size_t i = 0; i < stands.shape[0]; i++) count += stands.data[i] > 0;
    snprintf(text, size,
             "The sum of squares of the records along each direction, without that of the noise.  "
             "%zu of %zu direction%s out from the noise (circles; the others are squares).  Noise "
             "alone makes one stand out with probability 0.001 at most.",
             count, stands.shape[0], stands.shape[0] == 1 ? " stands" : "s stand");
}

static clo_status draw(const clo_asked *view, const clo_caption *caption, clo_writer *w,
                       clo_error *err)
{
    clo_array energy, stands;
    double *x = NULL;
    if (!find(view->release, &energy, &stands)) return CLO_OK;
    const size_t q = energy.shape[0];
    CLO_TRY(clo_i_alloc(3 * q, sizeof *x, &x, err));
    double *const out = x + q, *const in = x + 2 * q;
    for (size_t i = 0; i < q; i++) {
        x[i] = (double)(i + 1);
        out[i] = stands.data[i] > 0 ? energy.data[i] : NAN;
        in[i] = stands.data[i] > 0 ? NAN : energy.data[i];
    }
    const double limit = edge(view->release);
    const clo_line_of lines[2] = { { x, out, q, "stands out from the noise", true, NULL },
                                   { x, in, q, "may be noise", true, NULL } };
    const clo_curves curves = { .lines = lines,
                                .count = 2,
                                .x_name = "direction",
                                .y_name = "energy, in squared units of the data",
                                .x_whole = true,
                                .y_zero = true,
                                .y_log = spreads_far(&energy, limit),
                                .limit = limit,
                                .limit_name = "the limit of noise",
                                .here = NAN };
    const clo_status status = clo_i_draw_curves(w, caption, &curves, err);
    clo_i_free(x);
    return status;
}

static clo_status table(const clo_asked *view, clo_writer *w, clo_error *err)
{
    static const char *const heads[] = { "direction", "energy", "stands out" };
    clo_array energy, stands;
    char number[24];
    (void)err;
    if (!find(view->release, &energy, &stands)) return CLO_OK;
    clo_i_table_open_words(w, "Energy along each direction");
    clo_i_table_heads(w, heads, 3);
    for (size_t i = 0; i < energy.shape[0] && i < 100; i++) {
        snprintf(number, sizeof number, "%zu", i + 1);
        clo_i_table_name(w, number);
        clo_i_table_number(w, energy.data[i], 4, NAN);
        clo_i_table_text(w, stands.data[i] > 0 ? "yes" : "no");
        clo_i_table_end_row(w);
    }
    clo_i_table_close(w);
    return CLO_OK;
}

static clo_status vega(const clo_asked *view, clo_writer *w, clo_error *err)
{
    clo_array energy, stands;
    (void)err;
    if (!find(view->release, &energy, &stands)) return CLO_OK;
    clo_i_vega_values(w, clo_i_chart_spectrum.title);
    for (size_t i = 0; i < energy.shape[0]; i++) {
        clo_json_open(w, NULL, '{');
        clo_json_count(w, "direction", i + 1);
        clo_json_number(w, "energy", energy.data[i]);
        clo_json_bool(w, "stands_out", stands.data[i] > 0);
        clo_json_close(w, '}');
    }
    clo_i_vega_values_end(w);
    clo_json_text(w, "mark", "bar");
    clo_json_open(w, "encoding", '{');
    clo_i_vega_channel(w, "x", "direction", "ordinal", NULL);
    clo_i_vega_channel(w, "y", "energy", "quantitative", NULL);
    clo_i_vega_channel(w, "color", "stands_out", "nominal", NULL);
    clo_json_close(w, '}');
    return CLO_OK;
}

const clo_chart clo_i_chart_spectrum = {
    .name = "spectrum",
    .title = "Signal and noise",
    .applies = applies,
    .describe = describe,
    .draw = draw,
    .table = table,
    .vega = vega,
};
