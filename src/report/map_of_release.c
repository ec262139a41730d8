/*
 * map_of_release.c - the chart "map": centres on two columns, or on the two directions in which
 * they differ most.  Those directions are of released numbers alone.
 */
#include "linalg/linalg.h"
#include "report/charts.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 300, MOST_ROWS = 100 };

/* The points on the paper, and what the axes are. */
typedef struct view {
    double *x, *y, *x_noise, *y_noise, *x_width, *y_width;
    size_t *kinds;
    char (*labels)[64];
    const char **label_texts;
    char x_name[NAME_BYTES], y_name[NAME_BYTES];
    double box[4];
    bool boxed, square;
} view;

static void view_free(view *v)
{
    void *const all[] = { v->x,       v->y,     v->x_noise, v->y_noise,    v->x_width,
                          v->y_width, v->kinds, v->labels,  v->label_texts };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) clo_i_free(all[i]);
}

static clo_status view_alloc(view *v, size_t count, clo_error *err)
{
    double **const numbers[] = { &v->x, &v->y, &v->x_noise, &v->y_noise, &v->x_width, &v->y_width };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        CLO_TRY(clo_i_alloc(count, sizeof **numbers[i], numbers[i], err));
    CLO_TRY(clo_i_alloc(count, sizeof *v->kinds, &v->kinds, err));
    CLO_TRY(clo_i_alloc(count, sizeof *v->labels, &v->labels, err));
    return clo_i_alloc(count, sizeof *v->label_texts, &v->label_texts, err);
}

/* ---- two columns ----------------------------------------------------------------------------- */

static void put_column(const clo_release *release, const clo_places *p, size_t column, double *at,
                       double *noise, double *width, char name[NAME_BYTES], double box[2])
{
    for (size_t i = 0; i < p->count; i++) {
        at[i] = p->at[i * p->cols + column];
        noise[i] = p->noise ? p->noise[i * p->cols + column] : NAN;
        width[i] = p->width ? p->width[i] * p->unit[column] : NAN;
    }
    clo_i_column_text(release, column, name, NAME_BYTES);
    box[0] = release->facts.lower ? release->facts.lower[column] : -INFINITY;
    box[1] = release->facts.upper ? release->facts.upper[column] : INFINITY;
}

static void view_of_columns(const clo_release *release, const clo_places *p, size_t x, size_t y,
                            view *v)
{
    put_column(release, p, x, v->x, v->x_noise, v->x_width, v->x_name, v->box);
    put_column(release, p, y, v->y, v->y_noise, v->y_width, v->y_name, v->box + 2);
    v->boxed = release->facts.lower && release->facts.upper;
}

/* One column: across it, how many records. */
static void view_of_one(const clo_release *release, const clo_places *p, view *v)
{
    view_of_columns(release, p, 0, 0, v);
    for (size_t i = 0; i < p->count; i++) {
        v->y[i] = p->weight ? p->weight[i] : 0;
        v->y_noise[i] = v->x_width[i] = v->y_width[i] = NAN;
    }
    snprintf(v->y_name, sizeof v->y_name, "%s", p->weight ? "records" : "");
    v->boxed = false;
}

/* The two columns in which two points, or one and 0, differ most. */
static void most_different(const clo_places *p, size_t *x, size_t *y)
{
    double best = -1, second = -1;
    *x = 0;
    *y = 1;
    for (size_t j = 0; j < p->cols; j++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < p->count; i++) {
            low = fmin(low, p->at[i * p->cols + j]);
            high = fmax(high, p->at[i * p->cols + j]);
        }
        const double spread = (high - low) / p->unit[j];
        if (spread > best) {
            second = best;
            *y = *x;
            best = spread;
            *x = j;
        } else if (spread > second) {
            second = spread;
            *y = j;
        }
    }
    if (*x == *y) *y = *x ? 0 : 1;
}

/* ---- two directions -------------------------------------------------------------------------- */

/* "direction 1 (71 % of the spread): mostly age, income". */
static void name_direction(const clo_release *release, const clo_places *p, const double *direction,
                           size_t number, double share, char name[NAME_BYTES])
{
    size_t first = 0, second = p->cols;
    char one[80], two[80];
    for (size_t j = 1; j < p->cols; j++)
        if (fabs(direction[j]) > fabs(direction[first])) first = j;
    for (size_t j = 0; j < p->cols; j++)
        if (j != first && (second == p->cols || fabs(direction[j]) > fabs(direction[second])))
            second = j;
    clo_i_column_text(release, first, one, sizeof one);
    clo_i_column_text(release, second, two, sizeof two);
    snprintf(name, NAME_BYTES, "direction %zu (%.0f %% of spread): %s%s, %s%s", number, 100 * share,
             direction[first] < 0 ? "−" : "", one, direction[second] < 0 ? "−" : "", two);
}

static void project(const clo_places *p, const double *centred, const double *direction, double *at,
                    double *noise, double *width)
{
    for (size_t i = 0; i < p->count; i++) {
        double sum = 0, square = 0;
        for (size_t j = 0; j < p->cols; j++) {
            const double part = p->noise ? p->noise[i * p->cols + j] / p->unit[j] : NAN;
            sum += centred[i * p->cols + j] * direction[j];
            square += direction[j] * direction[j] * part * part;
        }
        at[i] = sum;
        noise[i] = sqrt(square);
        width[i] = p->width ? p->width[i] : NAN;
    }
}

/* In units of half the bounds, about the mean of all points. */
static void centre_points(const clo_places *p, double *centred)
{
    for (size_t j = 0; j < p->cols; j++) {
        double mean = 0;
        for (size_t i = 0; i < p->count; i++)
            mean += p->at[i * p->cols + j] / p->unit[j] / (double)p->count;
        for (size_t i = 0; i < p->count; i++) {
            const double value = p->at[i * p->cols + j] / p->unit[j] - mean;
            centred[i * p->cols + j] = isfinite(value) ? value : 0;
        }
    }
}

/* The directions are found in the space of the points, of which there are few. */
static clo_status find_directions(const clo_places *p, const double *centred, double *gram,
                                  double *scratch, double *directions, double share[2],
                                  clo_error *err)
{
    double values[2], *const vectors = scratch + clo_i_eigen_scratch(p->count, 2), total = 0;
    clo_i_multiply_transposed(centred, p->count, centred, p->count, p->cols, gram);
    for (size_t i = 0; i < p->count; i++) total += gram[i * p->count + i];
    CLO_TRY(clo_i_eigen_top(gram, p->count, 2, values, vectors, scratch, err));
    for (size_t q = 0; q < 2; q++) {
        double *const direction = directions + q * p->cols, length = 0;
        for (size_t i = 0; i < p->count; i++)
            for (size_t j = 0; j < p->cols; j++)
                direction[j] += vectors[2 * i + q] * centred[i * p->cols + j];
        for (size_t j = 0; j < p->cols; j++) length += direction[j] * direction[j];
        size_t largest = 0; /* which is made positive: a direction has no sign of its own */
        for (size_t j = 1; j < p->cols; j++)
            if (fabs(direction[j]) > fabs(direction[largest])) largest = j;
        length = direction[largest] < 0 ? -sqrt(length) : sqrt(length);
        for (size_t j = 0; length != 0 && j < p->cols; j++) direction[j] /= length;
        share[q] = total > 0 ? fmax(values[q], 0) / total : 0;
    }
    return CLO_OK;
}

static clo_status view_of_directions(const clo_release *release, const clo_places *p, view *v,
                                     clo_error *err)
{
    double *centred = NULL, *gram = NULL, *scratch = NULL, *directions = NULL, share[2];
    const size_t room = clo_i_eigen_scratch(p->count, 2) + 2 * p->count;
    clo_status status;
    if ((status = clo_i_alloc(p->count * p->cols, sizeof *centred, &centred, err)) ||
        (status = clo_i_alloc(p->count * p->count, sizeof *gram, &gram, err)) ||
        (status = clo_i_alloc(room, sizeof *scratch, &scratch, err)) ||
        (status = clo_i_alloc(2 * p->cols, sizeof *directions, &directions, err)))
        goto done;
    centre_points(p, centred);
    if ((status = find_directions(p, centred, gram, scratch, directions, share, err))) goto done;
    project(p, centred, directions, v->x, v->x_noise, v->x_width);
    project(p, centred, directions + p->cols, v->y, v->y_noise, v->y_width);
    name_direction(release, p, directions, 1, share[0], v->x_name);
    name_direction(release, p, directions + p->cols, 2, share[1], v->y_name);
    v->square = true;
done:
    clo_i_free(centred);
    clo_i_free(gram);
    clo_i_free(scratch);
    clo_i_free(directions);
    return status;
}

/* ---- the chart ------------------------------------------------------------------------------- */

static clo_status choose_view(const clo_release *release, const clo_page_options *options,
                              const clo_places *p, view *v, clo_error *err)
{
    size_t x = 0, y = 1;
    if (options->x_column || options->y_column) {
        if (!options->x_column || !options->y_column)
            return clo_i_fail(err, CLO_ARGUMENT, "a map needs two columns, or none");
        CLO_TRY(clo_i_column_named(release, options->x_column, &x, err));
        CLO_TRY(clo_i_column_named(release, options->y_column, &y, err));
    } else if (p->cols == 1) {
        view_of_one(release, p, v);
        return CLO_OK;
    } else if (p->cols > 2 && p->count > 2) {
        return view_of_directions(release, p, v, err);
    } else if (p->cols > 2) {
        most_different(p, &x, &y);
    }
    view_of_columns(release, p, x, y, v);
    return CLO_OK;
}

/* With others, "A 3": a letter a release, and its shape and colour. */
static void label(const clo_page_options *options, const clo_places *p, view *v)
{
    for (size_t i = 0; i < p->count; i++) {
        v->kinds[i] = options->other_count ? p->from[i] : i;
        if (options->other_count)
            snprintf(v->labels[i], sizeof v->labels[i], "%c%zu", (char)('A' + p->from[i] % 26),
                     p->index[i]);
        else
            snprintf(v->labels[i], sizeof v->labels[i], "%zu", p->index[i]);
        v->label_texts[i] = v->labels[i];
    }
}

static bool known(const double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (isnan(numbers[i])) return false;
    return true;
}

/* ---- the chart, its table and its data ------------------------------------------------------- */

static bool is_scaled(const clo_asked *asked)
{
    return asked->release->facts.lower && asked->release->facts.upper;
}

static void describe(const clo_asked *asked, char *text, size_t size)
{
    snprintf(text, size, "%s%s%s%s%s",
             asked->options->other_count ? "Each release has a shape and a color.  " : "",
             clo_i_all_have(asked, "sizes")
                 ? "The area of a symbol shows the released number of records.  "
                 : "Each symbol is a center.  ",
             clo_i_all_have_noise(asked)
                 ? "Bars: ± one standard deviation of the noise (if you see none, it is shorter "
                   "than the symbol).  Hollow symbol: the noise is so large that its place means "
                   "little.  "
                 : "",
             clo_i_all_have(asked, "radii")
                 ? "Ring: records outside it were moved onto it before counting.  "
                 : "",
             is_scaled(asked) && asked->release->facts.cols == 2 ? "Dotted box: the public bounds."
                                                                 : "");
}

static clo_status make_view(const clo_asked *asked, clo_places *p, view *v, clo_error *err)
{
    CLO_TRY(clo_i_places_new(asked->release, asked->options, p, err));
    CLO_TRY(view_alloc(v, p->count, err));
    CLO_TRY(choose_view(asked->release, asked->options, p, v, err));
    label(asked->options, p, v);
    return CLO_OK;
}

static clo_status draw(const clo_asked *asked, const clo_caption *caption, clo_writer *w,
                       clo_error *err)
{
    clo_places p = { .count = 0 };
    view v = { .boxed = false };
    clo_status status = make_view(asked, &p, &v, err);
    if (!status) {
        const clo_map map = {
            .count = p.count,
            .x = v.x,
            .y = v.y,
            .x_noise = p.noise ? v.x_noise : NULL,
            .y_noise = p.noise ? v.y_noise : NULL,
            .x_width = known(v.x_width, p.count) ? v.x_width : NULL,
            .y_width = known(v.y_width, p.count) ? v.y_width : NULL,
            .weights = p.weight,
            .x_name = v.x_name,
            .y_name = v.y_name,
            .labels = v.label_texts,
            .kinds = v.kinds,
            .box = v.boxed ? v.box : NULL,
            .square = v.square,
        };
        status = clo_i_draw_map(w, caption, &map, err);
    }
    view_free(&v);
    clo_i_places_free(&p);
    return status;
}

static clo_status table(const clo_asked *asked, clo_writer *w, clo_error *err)
{
    clo_places p = { .count = 0 };
    view v = { .boxed = false };
    const clo_status status = make_view(asked, &p, &v, err);
    if (!status) {
        const char *const ring =
            is_scaled(asked) ? "ring radius (half-widths of the bounds)" : "ring radius";
        const char *const heads[] = { "cluster", v.x_name, v.y_name, "records", ring };
        const size_t shown = p.count < MOST_ROWS ? p.count : MOST_ROWS;
        clo_i_table_open(w, "The same as numbers");
        clo_i_table_heads(w, heads, p.width ? 5 : p.weight ? 4 : 3);
        for (size_t i = 0; i < shown; i++) {
            clo_i_table_name(w, v.labels[i]);
            clo_i_table_number(w, v.x[i], 4, p.noise ? v.x_noise[i] : NAN);
            clo_i_table_number(w, v.y[i], 4, p.noise ? v.y_noise[i] : NAN);
            if (p.weight || p.width)
                clo_i_table_number(w, p.weight ? round(p.weight[i]) : NAN, 15, NAN);
            if (p.width) clo_i_table_number(w, p.width[i], 3, NAN);
            clo_i_table_end_row(w);
        }
        clo_i_table_close(w);
    }
    view_free(&v);
    clo_i_places_free(&p);
    return status;
}

static void vega_encoding(clo_writer *w, const view *v, const clo_places *p)
{
    clo_json_text(w, "mark", "point");
    clo_json_open(w, "encoding", '{');
    clo_i_vega_channel(w, "x", "x", "quantitative", v->x_name);
    clo_i_vega_channel(w, "y", "y", "quantitative", v->y_name);
    clo_i_vega_channel(w, "color", "cluster", "nominal", NULL);
    clo_i_vega_channel(w, "shape", "cluster", "nominal", NULL);
    if (p->weight) clo_i_vega_channel(w, "size", "records", "quantitative", NULL);
    clo_json_close(w, '}');
}

static clo_status vega(const clo_asked *asked, clo_writer *w, clo_error *err)
{
    clo_places p = { .count = 0 };
    view v = { .boxed = false };
    const clo_status status = make_view(asked, &p, &v, err);
    if (!status) {
        clo_i_vega_values(w, clo_i_chart_map.title);
        for (size_t i = 0; i < p.count; i++) {
            clo_json_open(w, NULL, '{');
            clo_json_text(w, "cluster", v.labels[i]);
            clo_json_number(w, "x", v.x[i]);
            clo_json_number(w, "y", v.y[i]);
            if (p.noise) clo_json_number(w, "x_noise", v.x_noise[i]);
            if (p.noise) clo_json_number(w, "y_noise", v.y_noise[i]);
            if (p.weight) clo_json_number(w, "records", p.weight[i]);
            if (p.width) clo_json_number(w, "x_width", v.x_width[i]);
            if (p.width) clo_json_number(w, "y_width", v.y_width[i]);
            clo_json_close(w, '}');
        }
        clo_i_vega_values_end(w);
        vega_encoding(w, &v, &p);
    }
    view_free(&v);
    clo_i_places_free(&p);
    return status;
}

const clo_chart clo_i_chart_map = {
    .name = "map",
    .title = "The centers on a map",
    .applies = clo_i_has_places,
    .describe = describe,
    .draw = draw,
    .table = table,
    .vega = vega,
};
