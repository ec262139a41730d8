/*
 * sparse.c - sparse mixtures: few entries in very many columns, and never a dense row.
 *
 * Places are drawn one by one and drawn again where they repeat.  At most half of the columns are
 * ever wanted, so that this ends soon; with few entries a plain search for repeats is the fastest.
 */
#include "generate/generate.h"
#include <math.h>
#include <string.h>

enum { MOST_COLUMNS = 1 << 24, MOST_CLUSTERS = 1 << 20, MOST_ENTRIES = 1 << 12 };

typedef struct recipe {
    clo_sparse_model model;
    clo_picker picker;
    uint32_t *columns; /* clusters x entries, increasing */
    double *values;
} recipe;

typedef struct target {
    const recipe *recipe;
    clo_sparse_rows records;
    uint32_t *labels; /* or NULL */
} target;

void clo_sparse_model_init(clo_sparse_model *model, size_t size)
{
    const clo_sparse_model presets = {
        .rows = 10000, .cols = 10000, .clusters = 5, .entries = 10, .noise = 0.05, .spread = 1
    };
    clo_i_give_presets(model, size, &presets, sizeof presets);
}

static clo_status check(const clo_sparse_model *m, clo_error *err)
{
    size_t ignored;
    CLO_TRY(clo_i_check_count("rows", m->rows, 1, SIZE_MAX / CLO_GENERATE_BLOCK, err));
    CLO_TRY(clo_i_check_count("cols", m->cols, 2, MOST_COLUMNS, err));
    CLO_TRY(clo_i_check_count("clusters", m->clusters, 1, MOST_CLUSTERS, err));
    CLO_TRY(clo_i_check_count("entries", m->entries, 1, MOST_ENTRIES, err));
    CLO_TRY(clo_i_check_count("stray", m->stray, 0, MOST_ENTRIES, err));
    CLO_TRY(clo_i_check_length("noise", m->noise, err));
    CLO_TRY(clo_i_check_length("spread", m->spread, err));
    if (m->entries + m->stray > m->cols / 2)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "entries and stray must be at most half of the %zu columns together, not "
                          "%zu",
                          m->cols, m->entries + m->stray);
    if (!clo_i_multiply(m->rows, (m->entries + m->stray) * sizeof(double), &ignored))
        return clo_i_fail(err, CLO_ARGUMENT, "rows and entries are too large together");
    return CLO_OK;
}

static bool fits(const clo_sparse_rows *given, size_t rows, size_t width, size_t cols)
{
    return given->columns && given->values && given->rows == rows && given->width == width &&
           given->cols == cols;
}

/* ---- rows ---------------------------------------------------------------- */

/* Puts an entry in its place among the `count` there are; false where its column has one. */
static bool insert(uint32_t *columns, double *values, size_t count, uint32_t column, double value)
{
    size_t at = count;
    while (at > 0 && columns[at - 1] > column) at--;
    if (at > 0 && columns[at - 1] == column) return false;
    memmove(columns + at + 1, columns + at, (count - at) * sizeof *columns);
    memmove(values + at + 1, values + at, (count - at) * sizeof *values);
    columns[at] = column;
    values[at] = value;
    return true;
}

/* Fills entries from ... to - 1 with zeros in random columns.  On a failed stream every draw is 0
 * and no draw would do, so that it is left: its owner will see that. */
static void scatter(const clo_sparse_model *m, clo_stream *stream, uint32_t *columns,
                    double *values, size_t from, size_t to)
{
    for (size_t i = from; i < to;) {
        if (insert(columns, values, i, (uint32_t)clo_i_random_below(stream, m->cols), 0))
            i++;
        else if (clo_i_stream_check(stream, NULL) != CLO_OK)
            return;
    }
}

static clo_status draw_centers(recipe *r, const clo_rng *rng, uint64_t ask, clo_error *err)
{
    const size_t s = r->model.entries;
    clo_stream *stream = NULL;
    CLO_TRY(clo_i_stream_open(rng, ask, 0, &stream, err));
    for (size_t k = 0; k < r->model.clusters; k++) {
        scatter(&r->model, stream, r->columns + k * s, r->values + k * s, 0, s);
        clo_i_draw_in_ball(stream, 0, r->model.spread, r->values + k * s, s);
    }
    const clo_status status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    return status;
}

static clo_status draw_records(const void *context, clo_stream *stream, size_t first, size_t end,
                               clo_error *err)
{
    const target *to = context;
    const recipe *r = to->recipe;
    const size_t s = r->model.entries, width = to->records.width;
    (void)err;
    for (size_t i = first; i < end; i++) {
        uint32_t *columns = to->records.columns + i * width;
        double *values = to->records.values + i * width;
        const size_t k = clo_i_pick(&r->picker, stream);
        const bool outlier = k == r->model.clusters;
        if (outlier) {
            scatter(&r->model, stream, columns, values, 0, s);
            clo_i_draw_in_ball(stream, 0, r->model.spread, values, s);
        } else {
            memcpy(columns, r->columns + k * s, s * sizeof *columns);
            memcpy(values, r->values + k * s, s * sizeof *values);
        }
        scatter(&r->model, stream, columns, values, s, width);
        for (size_t j = 0; j < width; j++)
            values[j] += r->model.noise * clo_i_random_normal(stream);
        if (to->labels) to->labels[i] = (uint32_t)k;
    }
    return CLO_OK;
}

clo_status clo_generate_sparse(const clo_sparse_model *model, clo_rng *rng,
                               clo_sparse_rows *records, uint32_t *labels, clo_sparse_rows *centers,
                               clo_error *err)
{
    recipe r = { .model = clo_sparse_model_default() };
    clo_status status;
    if (!model) return clo_i_fail(err, CLO_ARGUMENT, "a model must be given");
    CLO_TRY(clo_i_take_options("clo_sparse_model", model, &r.model, sizeof r.model, err));
    const clo_sparse_model *m = &r.model;
    CLO_TRY(check(m, err));
    if (!rng || !records || !fits(records, m->rows, m->entries + m->stray, m->cols) ||
        (centers && !fits(centers, m->clusters, m->entries, m->cols)))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a random generator and memory for the records must be given, with the "
                          "sizes that the model says");
    const size_t count = m->clusters * m->entries;
    CLO_TRY(clo_i_picker_new(m->shares, m->clusters, m->outliers, &r.picker, err));
    if ((status = clo_i_alloc(count, sizeof *r.columns, &r.columns, err)) != CLO_OK) goto done;
    if ((status = clo_i_alloc(count, sizeof *r.values, &r.values, err)) != CLO_OK) goto done;
    const uint64_t ask = clo_i_rng_next_ask(rng);
    const target to = { &r, *records, labels };
    if ((status = draw_centers(&r, rng, ask, err)) != CLO_OK) goto done;
    if ((status = clo_i_draw_blocks(m->rows, rng, ask, draw_records, &to, err)) != CLO_OK)
        goto done;
    if (centers) {
        memcpy(centers->columns, r.columns, count * sizeof *r.columns);
        memcpy(centers->values, r.values, count * sizeof *r.values);
    }
done:
    clo_i_picker_free(&r.picker);
    clo_i_free(r.columns);
    clo_i_free(r.values);
    return status;
}
