/*
 * shares_of_release.c - the chart "shares": of every category, how often each cluster's records
 * have each level.
 */
#include "report/charts.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LEVELS = 12 /* of a category */, MOST_ROWS = 120, MOST_CENTRES = 12 };

typedef struct shares {
    clo_places p;
    size_t rows, count;
    double *at, *noise;
    size_t *outputs, *kinds;
    const char **names, **titles, **label_texts;
    char (*labels)[32];
} shares;

static void shares_free(shares *s)
{
    void *const all[] = { s->at,    s->noise,  s->outputs,     s->kinds,
                          s->names, s->titles, s->label_texts, s->labels };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) clo_i_free(all[i]);
    clo_i_places_free(&s->p);
}

/* How far the centres' shares of a level are apart, over what noise may have moved them by. */
static double sharpness(const clo_places *p, size_t output)
{
    double low = INFINITY, high = -INFINITY, noise = 0.005;
    for (size_t c = 0; c < p->count; c++) {
        low = fmin(low, p->at[c * p->cols + output]);
        high = fmax(high, p->at[c * p->cols + output]);
        if (p->noise) noise = fmax(noise, fmin(p->noise[c * p->cols + output], 1));
    }
    return (p->count > 1 ? high - low : high) / noise;
}

/* The levels of a field that are shown: all, or the sharpest, in their order. */
static size_t choose_levels(const clo_places *p, const clo_i_field *f, size_t *out)
{
    size_t count = 0;
    for (size_t l = 0; l < f->outputs; l++) {
        size_t sharper = 0;
        const double own = sharpness(p, f->output + l);
        for (size_t i = 0; i < f->outputs && f->outputs > MOST_LEVELS; i++) {
            const double other = sharpness(p, f->output + i);
            sharper += other > own || (other == own && i < l);
        }
        if (sharper < MOST_LEVELS) out[count++] = f->output + l;
    }
    return count;
}

static void add_field(const clo_i_field *f, shares *s)
{
    size_t levels[MOST_LEVELS];
    const size_t count = choose_levels(&s->p, f, levels);
    for (size_t i = 0; i < count && s->rows < MOST_ROWS; i++) {
        const size_t row = s->rows++, output = levels[i];
        s->outputs[row] = output;
        s->names[row] = f->levels.texts[output - f->output];
        s->titles[row] = i == 0 ? f->name : NULL;
        for (size_t c = 0; c < s->count; c++) {
            s->at[row * s->count + c] = s->p.at[c * s->p.cols + output];
            if (s->noise) s->noise[row * s->count + c] = s->p.noise[c * s->p.cols + output];
        }
    }
}

static clo_status alloc_shares(shares *s, clo_error *err)
{
    const size_t cells = MOST_ROWS * s->count;
    CLO_TRY(clo_i_alloc(cells, sizeof *s->at, &s->at, err));
    if (s->p.noise) CLO_TRY(clo_i_alloc(cells, sizeof *s->noise, &s->noise, err));
    CLO_TRY(clo_i_alloc(MOST_ROWS, sizeof *s->outputs, &s->outputs, err));
    CLO_TRY(clo_i_alloc(MOST_ROWS, sizeof *s->names, &s->names, err));
    CLO_TRY(clo_i_alloc(MOST_ROWS, sizeof *s->titles, &s->titles, err));
    CLO_TRY(clo_i_alloc(s->count, sizeof *s->kinds, &s->kinds, err));
    CLO_TRY(clo_i_alloc(s->count, sizeof *s->labels, &s->labels, err));
    return clo_i_alloc(s->count, sizeof *s->label_texts, &s->label_texts, err);
}

static clo_status shares_new(const clo_asked *view, shares *s, clo_error *err)
{
    const clo_schema *const schema = view->release->facts.schema;
    CLO_TRY(clo_i_places_new(view->release, view->options, &s->p, err));
    s->count = s->p.count < MOST_CENTRES ? s->p.count : MOST_CENTRES;
    CLO_TRY(alloc_shares(s, err));
    for (size_t c = 0; c < s->count; c++) {
        s->kinds[c] = view->options->other_count ? s->p.from[c] : c;
        if (view->options->other_count)
            snprintf(s->labels[c], sizeof s->labels[c], "%c%zu", (char)('A' + s->p.from[c] % 26),
                     s->p.index[c]);
        else
            snprintf(s->labels[c], sizeof s->labels[c], "%zu", s->p.index[c]);
        s->label_texts[c] = s->labels[c];
    }
    for (size_t j = 0; j < clo_i_schema_cells(schema); j++)
        if (clo_i_schema_used(schema, j)->kind == CLO_FIELD_LEVELS)
            add_field(clo_i_schema_used(schema, j), s);
    return CLO_OK;
}

static bool applies(const clo_release *release)
{
    const clo_schema *const schema = release->facts.schema;
    for (size_t j = 0; schema && j < clo_i_schema_cells(schema); j++)
        if (clo_i_schema_used(schema, j)->kind == CLO_FIELD_LEVELS)
            return clo_i_has_places(release);
    return false;
}

static void describe(const clo_asked *view, char *text, size_t size)
{
    const size_t all = clo_i_places_count(view->release, view->options);
    const int used = snprintf(
        text, size,
        "One panel per category and one row per level: the share of each cluster's records with "
        "that level.%s",
        clo_i_all_have_noise(view) ? "  '<' stands before a share that is below its noise." : "");
    if (all > MOST_CENTRES && used > 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, "  The chart shows the first %d of %zu centers.",
                 (int)MOST_CENTRES, all);
}

static clo_status draw(const clo_asked *view, const clo_caption *caption, clo_writer *w,
                       clo_error *err)
{
    shares s = { .rows = 0 };
    const clo_status status = shares_new(view, &s, err);
    if (!status) {
        const clo_shares picture = { .rows = s.rows,
                                     .count = s.count,
                                     .at = s.at,
                                     .noise = s.noise,
                                     .names = s.names,
                                     .titles = s.titles,
                                     .numbers = s.outputs,
                                     .labels = s.label_texts,
                                     .kinds = s.kinds };
        clo_i_draw_shares(w, caption, &picture);
    }
    shares_free(&s);
    return status;
}

static clo_status table(const clo_asked *view, clo_writer *w, clo_error *err)
{
    shares s = { .rows = 0 };
    char name[2 * CLO_SCHEMA_TEXT_BYTES + 8];
    const clo_status status = shares_new(view, &s, err);
    if (!status) {
        clo_i_table_open_broad(w, "Shares of levels, in percent", s.count);
        clo_writer_text(w, "<thead><tr><th scope=\"col\">level</th>");
        for (size_t c = 0; c < s.count; c++) {
            clo_writer_text(w, "<th scope=\"col\">");
            clo_i_escape(w, s.labels[c], 40);
            clo_writer_text(w, "</th>");
        }
        clo_writer_text(w, "</tr></thead><tbody>\n");
        for (size_t row = 0; row < s.rows; row++) {
            clo_i_column_text(view->release, s.outputs[row], name, sizeof name);
            clo_i_table_name(w, name);
            for (size_t c = 0; c < s.count; c++)
                clo_i_table_number(w, 100 * s.at[row * s.count + c], 3,
                                   s.noise ? 100 * s.noise[row * s.count + c] : NAN);
            clo_i_table_end_row(w);
        }
        clo_i_table_close(w);
    }
    shares_free(&s);
    return status;
}

static clo_status vega(const clo_asked *view, clo_writer *w, clo_error *err)
{
    shares s = { .rows = 0 };
    const char *category = "";
    const clo_status status = shares_new(view, &s, err);
    if (!status) {
        clo_i_vega_values(w, clo_i_chart_shares.title);
        for (size_t row = 0; row < s.rows; row++) {
            if (s.titles[row]) category = s.titles[row];
            for (size_t c = 0; c < s.count; c++) {
                clo_json_open(w, NULL, '{');
                clo_json_text(w, "column", category);
                clo_json_text(w, "level", s.names[row]);
                clo_json_text(w, "cluster", s.labels[c]);
                clo_json_number(w, "share", s.at[row * s.count + c]);
                if (s.noise) clo_json_number(w, "noise", s.noise[row * s.count + c]);
                clo_json_close(w, '}');
            }
        }
        clo_i_vega_values_end(w);
        clo_json_text(w, "mark", "bar");
        clo_json_open(w, "encoding", '{');
        clo_i_vega_channel(w, "row", "column", "nominal", NULL);
        clo_i_vega_channel(w, "column", "cluster", "nominal", NULL);
        clo_i_vega_channel(w, "x", "share", "quantitative", NULL);
        clo_i_vega_channel(w, "y", "level", "nominal", NULL);
        clo_json_close(w, '}');
        clo_json_open(w, "resolve", '{');
        clo_json_open(w, "scale", '{');
        clo_json_text(w, "y", "independent");
        clo_json_close(w, '}');
        clo_json_close(w, '}');
    }
    shares_free(&s);
    return status;
}

const clo_chart clo_i_chart_shares = {
    .name = "shares",
    .title = "Shares of levels in every cluster",
    .applies = applies,
    .describe = describe,
    .draw = draw,
    .table = table,
    .vega = vega,
};
