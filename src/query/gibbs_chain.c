/* gibbs_chain.c - a chain's memory, its data, its projections and its labels. */
#include "query/gibbs_internal.h"
#include "bound/bound.h"
#include "linalg/linalg.h"
#include "query/gibbs.h"
#include <math.h>
#include <string.h>

enum { TILE = 256 }; /* records that are projected together: their sums stay in the cache */

/* ---- memory and data --------------------------------------------------------------------- */

typedef struct filling {
    clo_i_gibbs_chain *chain;
    const clo_bounded *data;
    size_t block_rows;
    double unit; /* what a step of the grid is in the ball */
} filling;

static clo_status fill(void *user, int thread, size_t block, const double *values, size_t rows)
{
    const filling *const f = user;
    const size_t d = f->chain->d, n = f->chain->n, first = block * f->block_rows;
    (void)thread;
    for (size_t i = 0; i < rows; i++) {
        const size_t to = f->chain->slotted ? clo_i_bounded_slot(f->data, first + i) : first + i;
        memcpy(f->chain->rows + to * d, values + i * d, d * sizeof *values);
        for (size_t j = 0; j < d; j++) f->chain->across[j * n + to] = values[i * d + j] * f->unit;
    }
    return CLO_OK;
}

static clo_status load(clo_context *context, const clo_bounded *data, const clo_line *line,
                       clo_i_gibbs_chain *chain, clo_error *err)
{
    const size_t mark = clo_i_workspace_mark(context->workspace);
    filling f = { chain, data, clo_i_pass_block_rows(context, data), ldexp(1, -line->bits) };
    double *scratch = NULL;
    clo_status status = clo_i_take(context->workspace, clo_i_pass_scratch(context, data, 1),
                                   sizeof *scratch, &scratch, err);
    if (!status) status = clo_i_pass(context, data, line->bits, 1, scratch, fill, &f, err);
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

/* All that is as long as the data, which was there before anything was asked. */
static clo_status take(clo_workspace *space, clo_i_gibbs_chain *c, clo_error *err)
{
    const size_t n = c->n, d = c->d;
    CLO_TRY(clo_i_take(space, n * d, sizeof(double), &c->rows, err));
    CLO_TRY(clo_i_take(space, n * d, sizeof(double), &c->across, err));
    CLO_TRY(clo_i_take(space, n * d, sizeof(double), &c->gathered, err));
    CLO_TRY(clo_i_take(space, n * (c->k + 1), sizeof(double), &c->energies, err));
    CLO_TRY(clo_i_take(space, n, sizeof(uint32_t), &c->labels, err));
    return CLO_OK;
}

clo_status clo_i_gibbs_lay_out_rows(const clo_line *line, size_t rows, clo_workspace *space,
                                    clo_error *err)
{
    clo_i_gibbs_chain unused = { .n = rows, .d = line->cols, .k = line->groups };
    return take(space, &unused, err);
}

static size_t frame_cells(const clo_i_gibbs_chain *c)
{
    return c->k * c->d * c->q + c->d * c->d + c->d * c->q;
}

static clo_status allocate(clo_i_gibbs_chain *c, clo_error *err)
{
    CLO_TRY(clo_i_alloc(frame_cells(c), sizeof(double), &c->frames, err));
    c->gram = c->frames + c->k * c->d * c->q;
    c->proposal = c->gram + c->d * c->d;
    return CLO_OK;
}

void clo_i_gibbs_free(clo_i_gibbs_chain *c)
{
    clo_i_wipe_free(c->frames, frame_cells(c) * sizeof(double));
    clo_bingham_free(c->bingham);
    clo_i_stream_close(c->stream);
    *c = (clo_i_gibbs_chain){ 0 };
}

clo_status clo_i_gibbs_new(clo_context *context, const clo_bounded *data, const clo_line *line,
                           const clo_gibbs *how, clo_i_gibbs_chain *out, clo_error *err)
{
    clo_i_gibbs_chain c = { .n = how->labels ? clo_i_bounded_slots(data) : clo_i_bounded_rows(data),
                            .slotted = how->labels,
                            .d = clo_i_pass_cols(context, data),
                            .k = how->clusters,
                            .q = how->dim,
                            .rate = (double)line->rate_numerator / (double)line->rate_denominator };
    const uint64_t ask = clo_i_rng_next_ask(context->rng);
    double *weights = NULL;
    clo_status status = take(context->workspace, &c, err);
    if (!status) c.trial = c.energies + c.k * c.n;
    if (!status) status = allocate(&c, err);
    if (!status) status = clo_i_alloc(c.q, sizeof *weights, &weights, err);
    if (!status) {
        for (size_t r = 0; r < c.q; r++) weights[r] = c.rate;
        status = clo_i_bingham_new(c.d, c.q, weights, &c.bingham, err);
    }
    if (!status) status = clo_i_stream_open(context->rng, ask, 0, &c.stream, err);
    if (!status) status = load(context, data, line, &c, err);
    clo_i_free(weights);
    if (status)
        clo_i_gibbs_free(&c);
    else
        *out = c;
    return status;
}

clo_status clo_i_gibbs_progress(const clo_context *context, uint64_t done, uint64_t all,
                                clo_error *err)
{
    return clo_i_tell_progress(context, (double)done / (double)all, err);
}

/* ---- projections ------------------------------------------------------------------------- */

/* Adds (column' x_i)^2 for the records of one tile. */
static void add_square(const clo_i_gibbs_chain *c, const double *frame, size_t r, size_t first,
                       size_t count, double *energies)
{
    double sums[TILE] = { 0 };
    for (size_t j = 0; j < c->d; j++) {
        const double entry = frame[j * c->q + r], *const column = c->across + j * c->n + first;
#pragma omp simd
        for (size_t i = 0; i < count; i++) sums[i] += entry * column[i];
    }
#pragma omp simd
    for (size_t i = 0; i < count; i++) energies[i] += sums[i] * sums[i];
}

void clo_i_gibbs_project(const clo_i_gibbs_chain *c, const double *frame, double *energies)
{
    memset(energies, 0, c->n * sizeof *energies);
    for (size_t first = 0; first < c->n; first += TILE) {
        const size_t count = c->n - first < TILE ? c->n - first : TILE;
        for (size_t r = 0; r < c->q; r++) add_square(c, frame, r, first, count, energies + first);
    }
}

void clo_i_gibbs_project_all(const clo_i_gibbs_chain *c)
{
    for (size_t l = 0; l < c->k; l++)
        clo_i_gibbs_project(c, c->frames + l * c->d * c->q, c->energies + l * c->n);
}

/* ---- labels ------------------------------------------------------------------------------ */

/* One uniform number a record, however many clusters there are. */
void clo_i_gibbs_draw_labels(clo_i_gibbs_chain *c, double rate)
{
    const size_t n = c->n, k = c->k;
    double weights[CLO_MAX_CLUSTERS];
    for (size_t i = 0; i < n; i++) {
        const double *const energy = c->energies + i;
        double largest = energy[0], sum = 0;
        size_t label = 0;
        for (size_t l = 1; l < k; l++) largest = fmax(largest, energy[l * n]);
        for (size_t l = 0; l < k; l++) sum += weights[l] = exp(rate * (energy[l * n] - largest));
        double left = sum * clo_i_random_unit(c->stream);
        while (label + 1 < k && (left -= weights[label]) > 0) label++;
        c->labels[i] = (uint32_t)label;
    }
}

void clo_i_gibbs_nearest_labels(clo_i_gibbs_chain *c)
{
    for (size_t i = 0; i < c->n; i++) {
        size_t best = 0;
        for (size_t l = 1; l < c->k; l++)
            if (c->energies[l * c->n + i] > c->energies[best * c->n + i]) best = l;
        c->labels[i] = (uint32_t)best;
    }
}

/* ---- the law of a frame ------------------------------------------------------------------ */

/* Sums of products of integers, exact up to 2^22 rows: no order of the rows shows in them. */
clo_status clo_i_gibbs_set_law(clo_i_gibbs_chain *c, size_t l, clo_error *err)
{
    const size_t d = c->d;
    const double unit = ldexp(1, -2 * CLO_GIBBS_BITS);
    size_t count = 0;
    memset(c->gram, 0, d * d * sizeof *c->gram);
    for (size_t i = 0; i < c->n; i++)
        if (c->labels[i] == l)
            memcpy(c->gathered + count++ * d, c->rows + i * d, d * sizeof *c->rows);
    clo_i_gram_add(c->gathered, count, d, c->gram);
    for (size_t i = 0; i < d; i++)
        for (size_t j = i; j < d; j++)
            c->gram[j * d + i] = c->gram[i * d + j] = c->gram[i * d + j] * unit;
    return clo_i_bingham_set(c->bingham, c->gram, err);
}
