/*
 * gapmax.c - the subspace that more than half of the records lie in, exactly, or nothing
 * (singhal2021, Algorithm 1, repaired).
 *
 * Printed, the algorithm takes the largest of the noisy scores of all spans of records: one that
 * a single record makes possible is released with a probability far above delta.  Here one number
 * is noised, how far the only subspace that can win is ahead; it wins where that passes the bound
 * of the noise, which no subspace without a score does (gapmax.T1, gapmax.T2).  That subspace is
 * looked for among the spans of random records, and the chance to miss it is paid for in delta
 * (gapmax.T3).
 */
#include "query/gapmax_internal.h"
#include "query/queries.h"
#include "ask/fold.h"
#include "base/planted.h"
#include "bound/bound.h"
#include "domain/domain.h"
#include "query/gapmax.h"
#include <math.h>
#include <string.h>

enum { SENSITIVITY = 2, PRINTED_SPANS = 64, REMEMBERED = 16 };
static const uint64_t PARTS = (uint64_t)1 << 30; /* of an epsilon */
static const uint64_t MOST_NOISE = (uint64_t)1 << 40;
static const double LEAST_EPSILON = 1e-6, LARGEST_EPSILON = 100, LEAST_DELTA = 1e-100;
static const double LARGEST_MINOR = 0x1p30, LARGEST_STEPS = 0x1p28;

/* ---- the plan -------------------------------------------------------------------------------- */

/* The longest record that the domain allows, squared, in steps of the lattice. */
static double longest_square(const clo_domain *domain, const clo_gapmax *how)
{
    double square = 0, off = 0;
    for (size_t j = 0; j < domain->cols; j++) {
        if (domain->lower) square += pow(fmax(fabs(domain->lower[j]), fabs(domain->upper[j])), 2);
        if (domain->center) off += domain->center[j] * domain->center[j];
    }
    if (!domain->lower) square = pow(clo_i_domain_radius(domain) + sqrt(off), 2);
    return floor(square * how->scale * how->scale * (1 + 1e-9)) + how->affine;
}

/* The widest column of the grid, in steps of the lattice. */
static double widest_column(const clo_domain *domain, const clo_gapmax *how)
{
    double widest = 1;
    for (size_t j = 0; j < domain->cols && domain->lower; j++) {
        const double half = domain->upper[j] / 2 - domain->lower[j] / 2;
        widest = j == 0 ? half : fmax(widest, half);
    }
    return widest * clo_i_domain_radius(domain) * how->scale;
}

/* The smallest bound A with P[A - 2 < noise <= A] <= delta, for noise of e^(-rate |x|) on
 * |x| <= A (gapmax.T2). */
static uint64_t noise_bound(double rate, double delta)
{
    uint64_t low = 1, high = MOST_NOISE;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        const double bound = (double)middle, step = -expm1(-rate);
        const double sum = 1 + 2 * exp(-rate) * -expm1(-rate * bound) / step;
        if ((exp(-rate * (bound - 1)) + exp(-rate * bound)) * (1 + 1e-9) > delta * sum)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static clo_status check(const clo_domain *domain, const clo_gapmax *how, clo_loss loss,
                        clo_error *err)
{
    const size_t width = domain->cols + how->affine;
    const double longest = longest_square(domain, how);
    if (how->dim < 1 || how->dim > CLO_GAPMAX_DIM || how->dim > width || width > CLO_GAPMAX_COLS)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "an exact subspace has 1 to %d dimensions, affine ones less one, and no "
                          "more than the columns, of which there are at most %d",
                          (int)CLO_GAPMAX_DIM, (int)CLO_GAPMAX_COLS - 1);
    if (domain->unit)
        return clo_i_fail(err, CLO_UNSUPPORTED,
                          "an exact subspace is private for a row, not for a unit of several: its "
                          "score's sensitivity is proved for one row");
    if (!(loss.epsilon >= LEAST_EPSILON) || !(loss.epsilon <= LARGEST_EPSILON))
        return clo_i_fail(err, CLO_ARGUMENT, "epsilon must be between %g and %g, not %g",
                          LEAST_EPSILON, LARGEST_EPSILON, loss.epsilon);
    if (!(loss.delta >= LEAST_DELTA))
        return clo_i_fail(err, CLO_ARGUMENT, "an exact subspace needs a delta of at least %g",
                          LEAST_DELTA);
    if (!(pow(longest, (double)how->dim / 2) < LARGEST_MINOR) ||
        !(widest_column(domain, how) <= LARGEST_STEPS))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "rows of up to %.4g steps of 1/scale are too long for exact arithmetic "
                          "in %zu dimensions, which takes up to %.4g: give a smaller norm or scale",
                          sqrt(longest), how->dim, floor(pow(2, 30.0 / (double)how->dim)) - 1);
    return CLO_OK;
}

clo_status clo_i_plan_gapmax(const clo_domain *domain, const clo_gapmax *how, clo_loss loss,
                             const char *label, clo_line *out, clo_error *err)
{
    CLO_TRY(check(domain, how, loss, err));
    const uint64_t parts = (uint64_t)(loss.epsilon * (double)PARTS);
    const double epsilon = (double)parts / (double)PARTS;
    /* (1 + e^epsilon) beta is the share; half of beta for each of the two searches. */
    const double beta = how->share * loss.delta / (1 + exp(epsilon)) * (1 - 1e-9);
    const double noise_delta = loss.delta * (1 - how->share);
    const double candidates = ceil(pow(4, (double)how->dim) * log(2 / beta));
    *out = (clo_line){ .query = &clo_i_query_gapmax,
                       .label = label,
                       .event = { .kind = CLO_EVENT_APPROXIMATE,
                                  .parameter = epsilon,
                                  .delta = loss.delta,
                                  .count = 1 },
                       .bits = CLO_GRID_BITS,
                       .cols = domain->cols + how->affine,
                       .groups = (size_t)candidates,
                       .sensitivity = SENSITIVITY,
                       .scale = noise_bound(epsilon / SENSITIVITY, noise_delta),
                       .rate_numerator = parts,
                       .rate_denominator = SENSITIVITY * PARTS,
                       .noise = SENSITIVITY * sqrt(2) / epsilon };
    clo_i_gapmax_set_fields(out, (clo_gapmax_fields){ .dim = how->dim, .beta = beta });
    return CLO_OK;
}

/* ---- records on the lattice ------------------------------------------------------------------ */

typedef struct work {
    clo_lattice lattice;
    const clo_gapmax *how;
    size_t columns, block_rows;
    double radius, longest;
    double *widths, *centers; /* columns: of the domain's map */
    uint64_t *order;          /* count x cols, for sorting */
    int32_t *coordinates;     /* count x dim */
    uint64_t *keys;           /* count */
    uint64_t *losers;         /* REMEMBERED x dim x cols: spans that hold many records and lost */
} work;

/* A function of the record alone. */
static clo_status to_lattice(void *user, int thread, size_t block, const double *values,
                             size_t rows)
{
    const work *const w = user;
    const size_t d = w->columns;
    (void)thread;
    for (size_t i = 0; i < rows; i++) {
        uint64_t *const to = w->lattice.records + (block * w->block_rows + i) * w->lattice.cols;
        double square = w->how->affine;
        for (size_t j = 0; j < d; j++) {
            const double share = ldexp(values[i * d + j], -CLO_GRID_BITS) * w->radius;
            const double step = round((w->centers[j] + w->widths[j] * share) * w->how->scale);
            square += step * step;
            to[j] = clo_i_field_from((int64_t)step);
        }
        if (w->how->affine) to[d] = 1;
        if (square > w->longest) memset(to, 0, w->lattice.cols * sizeof *to);
    }
    return CLO_OK;
}

static int compare(const uint64_t *a, const uint64_t *b, size_t cols)
{
    for (size_t j = 0; j < cols; j++)
        if (a[j] != b[j]) return a[j] < b[j] ? -1 : 1;
    return 0;
}

/* Merges runs that double: with the records in order, a seed's answer does not depend on theirs. */
static void sort_records(const work *w)
{
    const size_t cols = w->lattice.cols, count = w->lattice.count, row = cols * sizeof(uint64_t);
    uint64_t *from = w->lattice.records, *to = w->order;
    for (size_t run = 1; run < count; run *= 2) {
        for (size_t start = 0; start < count; start += 2 * run) {
            const size_t middle = start + run < count ? start + run : count;
            const size_t end = middle + run < count ? middle + run : count;
            for (size_t a = start, b = middle, i = start; i < end; i++) {
                const bool left = b == end || (a < middle && compare(from + a * cols,
                                                                     from + b * cols, cols) <= 0);
                memcpy(to + i * cols, from + (left ? a++ : b++) * cols, row);
            }
        }
        uint64_t *const held = from;
        from = to;
        to = held;
    }
    if (from != w->lattice.records) memcpy(w->lattice.records, from, count * row);
}

static clo_status take_records(clo_workspace *space, size_t dim, work *w, clo_error *err)
{
    const size_t cells = w->lattice.count * w->lattice.cols;
    CLO_TRY(clo_i_take(space, cells, sizeof(uint64_t), &w->lattice.records, err));
    CLO_TRY(clo_i_take(space, cells, sizeof(uint64_t), &w->order, err));
    CLO_TRY(clo_i_take(space, w->lattice.count * dim, sizeof(int32_t), &w->coordinates, err));
    return clo_i_take(space, w->lattice.count, sizeof(uint64_t), &w->keys, err);
}

/* What follows the public facts alone. */
static clo_status take_rest(clo_workspace *space, size_t dim, work *w, clo_error *err)
{
    CLO_TRY(
        clo_i_take(space, REMEMBERED * dim * w->lattice.cols, sizeof(uint64_t), &w->losers, err));
    CLO_TRY(clo_i_take(space, w->columns, sizeof(double), &w->widths, err));
    return clo_i_take(space, w->columns, sizeof(double), &w->centers, err);
}

static clo_status load(clo_context *context, const clo_bounded *data, work *w, clo_error *err)
{
    double *scratch = NULL;
    CLO_TRY(take_records(context->workspace, w->how->dim, w, err));
    CLO_TRY(take_rest(context->workspace, w->how->dim, w, err));
    CLO_TRY(clo_i_take(context->workspace, clo_i_pass_scratch(context, data, context->threads),
                       sizeof *scratch, &scratch, err));
    clo_i_domain_map(clo_i_bounded_domain(data), w->widths, w->centers);
    CLO_TRY(
        clo_i_pass(context, data, CLO_GRID_BITS, context->threads, scratch, to_lattice, w, err));
    sort_records(w);
    return CLO_OK;
}

/* ---- the search ------------------------------------------------------------------------------ */

/* The span of dim random records; false where they are dependent. */
static bool draw_span(clo_stream *stream, const work *w, clo_span *span)
{
    const size_t cols = w->lattice.cols;
    span->dim = w->how->dim;
    span->cols = cols;
    for (size_t e = 0; e < span->dim; e++) {
        const size_t i = (size_t)clo_i_random_below(stream, w->lattice.count);
        memcpy(span->rows + e * cols, w->lattice.records + i * cols, cols * sizeof *span->rows);
    }
    return clo_i_field_reduce(span->rows, span->dim, cols, span->pivots) == span->dim;
}

/* A span that holds many records is drawn again and again; that it has no score need be found once.
 * The last few such are remembered, `count` in all so far. */
static bool has_lost(const work *w, const clo_span *span, size_t count)
{
    const size_t cells = span->dim * span->cols;
    for (size_t i = 0; i < count && i < REMEMBERED; i++)
        if (memcmp(w->losers + i * cells, span->rows, cells * sizeof *span->rows) == 0) return true;
    return false;
}

static void remember(const work *w, const clo_span *span, size_t count)
{
    const size_t cells = span->dim * span->cols;
    memcpy(w->losers + count % REMEMBERED * cells, span->rows, cells * sizeof *span->rows);
}

/* The one subspace with a score above 0, where it is found, and that score; otherwise 0. */
static int64_t search(clo_stream *stream, const clo_line *line, const work *w, clo_span *span)
{
    const size_t count = w->lattice.count;
    const int64_t cap = 2 * (int64_t)line->scale + 1; /* more than this is released anyway */
    const double misses = log(2 * (double)line->groups / clo_i_gapmax_fields(line).beta);
    size_t lost = 0;
    for (size_t c = 0; c < line->groups && count > 0; c++) {
        if (!draw_span(stream, w, span) || has_lost(w, span, lost)) continue;
        const size_t members =
            clo_i_span_members(&w->lattice, span, (count - 1) / 2, w->coordinates);
        if (members == 0) continue;
        const int64_t score = clo_i_gapmax_value(stream, w->coordinates, count, members, span->dim,
                                                 cap, misses, w->keys);
        if (score > 0) return score;
        remember(w, span, lost++);
    }
    return 0;
}

static int64_t draw_noise(clo_stream *stream, const clo_line *line)
{
    return clo_i_truncated_laplace(stream, line->rate_numerator, line->rate_denominator,
                                   line->scale);
}

/* Whether the span is not yet among the `count` that were met. */
static bool is_new(const clo_span *span, uint64_t *met, size_t count)
{
    uint64_t key = 0;
    for (size_t i = 0; i < span->dim * span->cols; i++)
        key = clo_i_field_multiply(key, 1000003) + span->rows[i];
    met[count] = key;
    for (size_t i = 0; i < count; i++)
        if (met[i] == key) return false;
    return true;
}

/* The first step towards what is printed: the two largest counts of members, where no subspace at
 * all counts as one with 2A + 1. */
static void two_largest(clo_stream *stream, const work *w, int64_t *first, int64_t *second)
{
    clo_span span;
    uint64_t met[PRINTED_SPANS];
    size_t count = 0;
    for (size_t c = 0; c < PRINTED_SPANS && w->lattice.count > 0; c++) {
        if (!draw_span(stream, w, &span) || !is_new(&span, met, count)) continue;
        const size_t all = w->lattice.count;
        const int64_t u = (int64_t)clo_i_span_members(&w->lattice, &span, all, w->coordinates);
        count++;
        if (u > *first) {
            *second = *first;
            *first = u;
        } else if (u > *second) {
            *second = u;
        }
    }
}

/* What is printed, for the audit to refuse: every span that records make gets its own noise, and
 * the largest wins. */
static bool printed(clo_stream *stream, const clo_line *line, const work *w, clo_span *won)
{
    const int64_t none = 2 * (int64_t)line->scale + 1;
    int64_t first = none, second = 0;
    bool any = false;
    clo_span span;
    uint64_t met[PRINTED_SPANS];
    size_t count = 0;
    two_largest(stream, w, &first, &second);
    const int64_t lead = first - second - 1 > 0 ? first - second - 1 : 0;
    int64_t best = (first == none ? lead : 0) + draw_noise(stream, line);
    for (size_t c = 0; c < PRINTED_SPANS && w->lattice.count > 0; c++) {
        if (!draw_span(stream, w, &span) || !is_new(&span, met, count)) continue;
        const size_t all = w->lattice.count;
        const int64_t u = (int64_t)clo_i_span_members(&w->lattice, &span, all, w->coordinates);
        const int64_t noisy = (u == first ? lead : 0) + draw_noise(stream, line);
        count++;
        if (noisy <= best) continue;
        best = noisy;
        *won = span;
        any = true;
    }
    return any;
}

static clo_status decide(clo_context *context, const clo_line *line, const work *w, bool *found,
                         clo_span *span, clo_error *err)
{
    clo_stream *stream = NULL;
    CLO_TRY(clo_i_stream_open(context->rng, clo_i_rng_next_ask(context->rng), 0, &stream, err));
    if (clo_i_planted(CLO_FAULT_PRINTED_ARGMAX)) {
        *found = printed(stream, line, w, span);
    } else {
        const int64_t score = search(stream, line, w, span);
        *found = score + draw_noise(stream, line) > (int64_t)line->scale;
    }
    const clo_status status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    return status;
}

/* ---- the answer ------------------------------------------------------------------------------ */

static clo_status publish(clo_context *context, const clo_line *line, bool found, clo_span *span,
                          int64_t *numerators, int64_t *denominators, clo_error *err)
{
    const size_t cells = clo_i_gapmax_fields(line).dim * line->cols;
    double *told = NULL;
    CLO_I_DECLASSIFY(&found, sizeof found);
    CLO_TRY(clo_i_alloc(cells + 1, sizeof *told, &told, err));
    told[0] = found;
    for (size_t i = 0; i < cells && found; i++) {
        CLO_I_DECLASSIFY(&span->rows[i], sizeof span->rows[i]);
        clo_i_field_fraction(span->rows[i], &numerators[i], &denominators[i]);
        told[1 + i] = (double)numerators[i] / (double)denominators[i];
    }
    clo_i_tell_answer(context, line, told, cells + 1, 0);
    clo_i_free(told);
    return CLO_OK;
}

clo_status clo_i_ask_gapmax(clo_context *context, size_t number, const clo_bounded *data,
                            const clo_gapmax *how, bool *found, int64_t *numerators,
                            int64_t *denominators, clo_error *err)
{
    const clo_domain *const domain = clo_i_bounded_domain(data);
    const size_t mark = clo_i_workspace_begin_ask(context->workspace);
    const clo_line *line;
    clo_span *span = NULL;
    bool any = false;
    CLO_TRY(clo_i_meter_charge(context, number, &clo_i_query_gapmax, &line, err));
    work w = { .lattice = { .count = clo_i_bounded_rows(data), .cols = line->cols },
               .how = how,
               .columns = domain->cols,
               .block_rows = clo_i_pass_block_rows(context, data),
               .radius = clo_i_domain_radius(domain),
               .longest = longest_square(domain, how) };
    clo_status status = clo_i_alloc(1, sizeof *span, &span, err);
    if (!status) status = load(context, data, &w, err);
    if (!status) status = decide(context, line, &w, &any, span, err);
    clo_i_workspace_release(context->workspace, mark);
    if (!status) status = publish(context, line, any, span, numerators, denominators, err);
    if (!status) *found = any;
    clo_i_wipe_free(span, sizeof *span);
    return status;
}

static clo_status lay_out(clo_fold *fold, clo_workspace *space, clo_error *err)
{
    work unused = { .lattice = { .cols = fold->line->cols }, .columns = fold->cols };
    return take_rest(space, clo_i_gapmax_fields(fold->line).dim, &unused, err);
}

static clo_status lay_out_rows(const clo_line *line, size_t rows, clo_workspace *space,
                               clo_error *err)
{
    work unused = { .lattice = { .count = rows, .cols = line->cols } };
    return take_records(space, clo_i_gapmax_fields(line).dim, &unused, err);
}

const clo_query clo_i_query_gapmax = {
    .name = "gapmax",
    .reading = CLO_READING_WHOLE,
    .numbers = clo_i_numbers_drawn,
    .sampler = "exact truncated discrete Laplace",
    .lay_out = lay_out,
    .lay_out_rows = lay_out_rows,
};
