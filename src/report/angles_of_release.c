/* angles_of_release.c - the chart "angles": the largest principal angle between each two of the
 * released subspaces, in degrees. */
#include "linalg/linalg.h"
#include "report/charts.h"
#include "report/bases.h"
#include <math.h>
#include <stdio.h>

enum { MOST = 64 };

static bool applies(const clo_release *release)
{
    clo_bases bases;
    return clo_i_find_bases(release, &bases) && bases.count > 1 && bases.dim > 0;
}

/* Of the directions of the smaller of both, the one that lies furthest from the other: the cosines
 * are the singular values of U'V. */
static clo_status angle(const clo_bases *b, size_t i, size_t j, double *room, double *out,
                        clo_error *err)
{
    const size_t q = b->dim, p = clo_i_own_dim(b, i), r = clo_i_own_dim(b, j);
    double *const cross = room, *const square = cross + q * q, *const values = square + q * q;
    const size_t least = p < r ? p : r;
    *out = NAN;
    if (least == 0) return CLO_OK;
    for (size_t s = 0; s < q; s++)
        for (size_t t = 0; t < q; t++) {
            double sum = 0;
            for (size_t c = 0; c < b->cols; c++)
                sum += clo_i_loading(b, i, c, s) * clo_i_loading(b, j, c, t);
            if (!isfinite(sum)) return CLO_OK;
            cross[s * q + t] = sum;
        }
    for (size_t s = 0; s < q; s++)
        for (size_t t = 0; t < q; t++) {
            double sum = 0;
            for (size_t c = 0; c < q; c++) sum += cross[c * q + s] * cross[c * q + t];
            square[s * q + t] = sum;
        }
    CLO_TRY(clo_i_eigenvalues(square, q, values, values + q, err));
    *out = acos(sqrt(fmin(fmax(values[least - 1], 0), 1))) * 180 / acos(-1);
    return CLO_OK;
}

/* count x count, or as many of them as are shown. */
static clo_status find_angles(const clo_asked *view, double **out, size_t *count, clo_error *err)
{
    clo_bases b;
    double *at = NULL, *room = NULL;
    if (!clo_i_find_bases(view->release, &b))
        return clo_i_fail(err, CLO_ARGUMENT, "the release has no subspaces");
    *count = b.count < MOST ? b.count : MOST;
    CLO_TRY(clo_i_alloc(*count * *count, sizeof *at, &at, err));
    clo_status status = clo_i_alloc(2 * b.dim * b.dim + b.dim + clo_i_eigen_scratch(b.dim, 1),
                                    sizeof *room, &room, err);
    for (size_t i = 1; i < *count && !status; i++)
        for (size_t j = 0; j < i && !status; j++)
            status = angle(&b, i, j, room, &at[i * *count + j], err);
    clo_i_free(room);
    if (status)
        clo_i_free(at);
    else
        *out = at;
    return status;
}

static bool is_wide(const clo_asked *view)
{
    clo_bases b;
    return clo_i_find_bases(view->release, &b) && b.count > 32;
}

static void describe(const clo_asked *view, char *text, size_t size)
{
    clo_bases b = { .count = 0 };
    (void)clo_i_find_bases(view->release, &b);
    const int used =
        snprintf(text, size,
                 "The largest principal angle between two subspaces, in degrees.  Near 0 one "
                 "subspace lies in the other.  At 90 some direction of one is at right angles to "
                 "the whole other one.");
    if (b.count > MOST)
        snprintf(text + used, size - (size_t)used, "  The chart shows the first %d of %zu.",
                 (int)MOST, b.count);
}

static clo_status draw(const clo_asked *view, const clo_caption *caption, clo_writer *w,
                       clo_error *err)
{
    clo_halves matrix = { .most = 90, .unit = "°" };
    double *at = NULL;
    CLO_TRY(find_angles(view, &at, &matrix.count, err));
    matrix.at = at;
    clo_i_draw_matrix(w, caption, &matrix);
    clo_i_free(at);
    return CLO_OK;
}

static clo_status table(const clo_asked *view, clo_writer *w, clo_error *err)
{
    double *at = NULL;
    size_t count;
    char numbers[MOST][24];
    const char *heads[MOST] = { "subspace" };
    CLO_TRY(find_angles(view, &at, &count, err));
    for (size_t i = 0; i < count; i++) snprintf(numbers[i], sizeof numbers[i], "%zu", i);
    for (size_t i = 1; i < count; i++) heads[i] = numbers[i - 1];
    clo_i_table_open_broad(w, "Angles between subspaces, in degrees", count / 2);
    clo_i_table_heads(w, heads, count);
    for (size_t i = 1; i < count; i++) {
        clo_i_table_name(w, numbers[i]);
        for (size_t j = 0; j + 1 < count; j++)
            if (j < i)
                clo_i_table_number(w, at[i * count + j], 3, NAN);
            else
                clo_i_table_text(w, "");
        clo_i_table_end_row(w);
    }
    clo_i_table_close(w);
    clo_i_free(at);
    return CLO_OK;
}

static clo_status vega(const clo_asked *view, clo_writer *w, clo_error *err)
{
    double *at = NULL;
    size_t count;
    CLO_TRY(find_angles(view, &at, &count, err));
    clo_i_vega_values(w, clo_i_chart_angles.title);
    for (size_t i = 1; i < count; i++)
        for (size_t j = 0; j < i; j++) {
            clo_json_open(w, NULL, '{');
            clo_json_count(w, "one", i);
            clo_json_count(w, "other", j);
            clo_json_number(w, "angle", at[i * count + j]);
            clo_json_close(w, '}');
        }
    clo_i_vega_values_end(w);
    clo_json_text(w, "mark", "rect");
    clo_json_open(w, "encoding", '{');
    clo_i_vega_channel(w, "x", "other", "ordinal", NULL);
    clo_i_vega_channel(w, "y", "one", "ordinal", NULL);
    clo_i_vega_channel(w, "color", "angle", "quantitative", NULL);
    clo_json_close(w, '}');
    clo_i_free(at);
    return CLO_OK;
}

const clo_chart clo_i_chart_angles = {
    .name = "angles",
    .title = "Angles between the subspaces",
    .applies = applies,
    .describe = describe,
    .draw = draw,
    .is_wide = is_wide,
    .table = table,
    .vega = vega,
};
