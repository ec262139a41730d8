/*
 * subspace_cells.c - cells of subspaces: how wide they are, which one a block of records is in, and
 * what subspace its centre spans (singhal2021, Algorithm 2, with its constants put right).
 *
 * The paper rounds to cubes.  Here the coordinates are rounded by sixteens to a lattice whose cells
 * have less wall, so that smaller cells are agreed on as often (lattice.h).
 */
#include "mechanism/subspace/subspace_cells.h"
#include "mechanism/subspace/lattice.h"
#include "mechanism/subspace/subspace_units.h"
#include "linalg/linalg.h"
#include "random/random.h"
#include "query/histogram.h"
#include <math.h>
#include <string.h>

enum { REFERENCES = 3, FEWEST_BLOCKS = 8, MOST_PRESET_BLOCKS = 4096 };
/* So many thresholds of blocks: a cell that a fifth of them name is then found. */
static const double BLOCKS_A_THRESHOLD = 5.7;
/* A cell that so many thresholds of blocks name is nearly always found. */
static const double ENOUGH = 1.15;
/* A block's, as a multiple of dim, where the number of all rows is not public; and how many times
 * more than there are is too many to count on. */
static const double USUAL_ROWS = 4, TOO_FEW = 1.5;
/* Of the width of a cell, by measurement (bench/bench_subspace_approx.c). */
static const double WIDTH_FACTOR = 5.4;

static size_t coordinates(const clo_cells_plan *plan, size_t cols)
{
    return clo_i_lattice_padded(plan->references * cols);
}

/* ---- the plan ---------------------------------------------------------------------------- */

/* As many as the threshold asks for, as long as each has records enough for a subspace. */
static size_t good_blocks(const clo_cells_plan *plan, uint64_t rows, uint64_t threshold)
{
    const double wanted = ceil(BLOCKS_A_THRESHOLD * (double)threshold);
    const double most = (double)rows / (2 * (double)plan->dim * (double)plan->parts);
    const double possible = rows > 0 ? floor(most) : wanted;
    return (size_t)fmax(fmin(fmin(wanted, possible), MOST_PRESET_BLOCKS), FEWEST_BLOCKS);
}

/* Each of the dim * cols coordinates of a block spreads by about gamma sqrt(dim / rows), less where
 * few columns are left across the subspace, and the chance that all are in the fullest cell falls
 * exponentially with their spreads over its width; so where more of the blocks must agree, it is
 * wider. */
static double cell_width(const clo_cells_plan *plan, size_t cols, double gamma, uint64_t threshold)
{
    const double d = (double)cols, k = (double)plan->dim;
    const double spreads = k * sqrt(d * fmax(d - k, 1)) * gamma * sqrt(k / fmax(plan->rows - k, 1));
    const double agree = fmin(ENOUGH * (double)threshold / (double)plan->blocks, .97);
    return WIDTH_FACTOR / -log(agree) * spreads;
}

clo_status clo_i_cells_plan(clo_draft *draft, double gamma, double narrow, clo_cells_plan *plan,
                            clo_error *err)
{
    const clo_domain *const domain = draft->domain;
    const size_t d = domain->cols;
    clo_line line;
    plan->references = REFERENCES * plan->dim;
    if (plan->dim > d)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "dim must be at most the number of columns, %zu, not %zu", d, plan->dim);
    CLO_TRY(clo_i_check_gamma(gamma, err));
    if (gamma == 0)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "gamma must be above 0; if the records lie in the subspace exactly, "
                          "choose subspace/exact");
    if (!(gamma > 0))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "give gamma: the largest spread across the subspace as a share of the "
                          "smallest along it, above 0 and at most 1");
    const size_t width = coordinates(plan, d);
    CLO_TRY(clo_i_plan_histogram(domain, width, 1, 1, draft->budget, "", &line, err));
    if (plan->blocks == 0)
        plan->blocks = good_blocks(plan, domain->rows, clo_i_histogram_fields(&line).threshold);
    CLO_TRY(clo_i_plan_histogram(domain, width, plan->parts, plan->blocks, draft->budget,
                                 "cells that the subspaces of the blocks are in", &line, err));
    plan->rows = domain->rows > 0
                     ? (double)domain->rows / (double)clo_i_histogram_fields(&line).blocks
                     : USUAL_ROWS * (double)plan->dim;
    plan->unit = narrow * cell_width(plan, d, gamma, clo_i_histogram_fields(&line).threshold) /
                 CLO_LATTICE_WIDTH;
    return clo_i_draft_add(draft, &line, err);
}

/* The centre of a cell is off in every coordinate by what a uniform point of the cell is: to first
 * order, the subspace turns by that error times the inverse of the reference points' coordinates in
 * it, of which subspace_approx.T2 bounds the worst and this is the root of the mean square. */
double clo_i_cells_error(const clo_cells_plan *plan, const clo_domain *domain,
                         const clo_line *lines, double rows)
{
    const double k = (double)plan->dim, d = (double)domain->cols, q = (double)plan->references;
    const double all = sqrt(fmin(k, d - k)), width = plan->unit * CLO_LATTICE_WIDTH;
    const double block = rows / ((double)plan->blocks * (double)plan->parts);
    const double blocks = fmin((double)plan->blocks, rows / (k * (double)plan->parts));
    if (blocks < ENOUGH * (double)clo_i_histogram_fields(&lines[0]).threshold) return all;
    /* Blocks that have fewer rows than was counted on agree too seldom. */
    if (TOO_FEW * fmax(block - k, 1) < fmax(plan->rows - k, 1)) return all;
    return fmin(width * sqrt((d - k) * CLO_LATTICE_MOMENT * k / (q - k)), all);
}

/* ---- a block's cell ---------------------------------------------------------------------- */

/* A matrix of lower rank has no such subspace. */
clo_status clo_i_top_directions(double *columns, size_t cols, size_t count, size_t dim,
                                double *basis, clo_error *err)
{
    const size_t rank = cols < count ? cols : count;
    double *values = NULL, *left = NULL;
    if (rank < dim) return clo_i_fail(err, CLO_FORMAT, "there are too few vectors");
    clo_status status = clo_i_alloc(rank, sizeof *values, &values, err);
    if (!status) status = clo_i_alloc(cols * rank, sizeof *left, &left, err);
    if (!status) status = clo_i_thin_svd(columns, cols, count, values, left, err);
    if (!status && !(values[dim - 1] > 0))
        status = clo_i_fail(err, CLO_FORMAT, "the vectors span too little");
    for (size_t i = 0; i < cols && !status; i++)
        memcpy(basis + i * dim, left + i * rank, dim * sizeof *basis);
    clo_i_wipe_free(left, cols * rank * sizeof *left);
    clo_i_wipe_free(values, rank * sizeof *values);
    return status;
}

/* Where the reference points are projected to on the range of the basis, on the scale of the
 * lattice and off by the offsets.  along: dim. */
static void project_points(const clo_cells *c, const double *basis, double *along, double *images)
{
    const size_t d = c->cols, k = c->dim;
    for (size_t r = 0; r < c->references; r++) {
        const double *const point = c->points + r * d;
        memset(along, 0, k * sizeof *along);
        for (size_t j = 0; j < d; j++)
            for (size_t e = 0; e < k; e++) along[e] += basis[j * k + e] * point[j];
        for (size_t j = 0; j < d; j++) {
            double image = 0;
            for (size_t e = 0; e < k; e++) image += basis[j * k + e] * along[e];
            images[r * d + j] = image / c->unit + c->offsets[r * d + j];
        }
    }
}

/* The last sixteen may have coordinates that no point has: there the offsets alone say where the
 * lattice is cut. */
static void name_cell(const clo_cells *c, const double *basis, double *scratch, int64_t *place)
{
    const size_t used = c->references * c->cols, width = clo_i_lattice_padded(used);
    double *const images = scratch, *const along = scratch + width;
    project_points(c, basis, along, images);
    memcpy(images + used, c->offsets + used, (width - used) * sizeof *images);
    for (size_t i = 0; i < width; i += CLO_LATTICE_DIM)
        clo_i_lattice_nearest(images + i, place + i);
}

/* histogram.T2: a function of the rows alone.  They are copied to memory that is aligned as any
 * other block's copy is, so that where they lay cannot show in the last bit. */
static clo_status locate(void *user, size_t part, const clo_block *block, int64_t *place,
                         clo_error *err)
{
    const clo_cells *const c = (const clo_cells *)user + part;
    const size_t d = block->cols, m = block->count;
    const size_t scratch = clo_i_lattice_padded(c->references * d) + c->dim;
    double *columns = NULL, *basis = NULL;
    if (m < c->dim) return clo_i_fail(err, CLO_FORMAT, "the block has too few records");
    clo_status status = clo_i_alloc(d * m, sizeof *columns, &columns, err);
    if (!status) status = clo_i_alloc(d * c->dim + scratch, sizeof *basis, &basis, err);
    if (!status) {
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < d; j++) columns[j * m + i] = block->rows[i * d + j];
        status = clo_i_top_directions(columns, d, m, c->dim, basis, err);
    }
    if (!status) name_cell(c, basis, basis + d * c->dim, place);
    clo_i_wipe_free(basis, (d * c->dim + scratch) * sizeof *basis);
    clo_i_wipe_free(columns, d * m * sizeof *columns);
    return status;
}

/* ---- the run ----------------------------------------------------------------------------- */

/* Reference points at right angles to each other, as far as there are columns for it, of length
 * sqrt(cols): their projections then span every subspace about equally well.  A point and its
 * opposite say the same; of the two it is the one whose first coordinate is not negative, so that
 * the numbers of a cell mean something to who reads them without the points, as an audit does.
 * columns: cols x references of scratch. */
static clo_status spread_points(const clo_cells *c, double *columns, clo_error *err)
{
    const size_t d = c->cols;
    for (size_t first = 0; first < c->references; first += d) {
        const size_t rest = c->references - first, count = rest < d ? rest : d;
        double *const points = c->points + first * d;
        for (size_t r = 0; r < count; r++)
            for (size_t j = 0; j < d; j++) columns[j * count + r] = points[r * d + j];
        CLO_TRY(clo_i_orthonormalize(columns, d, count, err));
        for (size_t r = 0; r < count; r++) {
            const double length = columns[r] < 0 ? -sqrt((double)d) : sqrt((double)d);
            for (size_t j = 0; j < d; j++) points[r * d + j] = columns[j * count + r] * length;
        }
    }
    return CLO_OK;
}

/* The reference points or their images, one a column. */
static clo_status take_columns(clo_workspace *space, size_t references, size_t cols,
                               double **columns, clo_error *err)
{
    return clo_i_take(space, references * cols, sizeof **columns, columns, err);
}

/* The memory of one part. */
static clo_status take_part(clo_workspace *space, const clo_cells_plan *plan, size_t cols,
                            clo_cells *c, clo_cell *found, clo_error *err)
{
    const size_t points = plan->references * cols, width = clo_i_lattice_padded(points);
    CLO_TRY(clo_i_take(space, points, sizeof *c->points, &c->points, err));
    CLO_TRY(clo_i_take(space, width, sizeof *c->offsets, &c->offsets, err));
    return clo_i_take(space, width, sizeof *found->place, &found->place, err);
}

static clo_status take_parts(clo_workspace *space, const clo_cells_plan *plan, clo_cells_found *out,
                             clo_error *err)
{
    CLO_TRY(clo_i_take(space, plan->parts, sizeof *out->cells, &out->cells, err));
    return clo_i_take(space, plan->parts, sizeof *out->found, &out->found, err);
}

static size_t word_count(const clo_cells_plan *plan, size_t cols)
{
    const size_t points = plan->references * cols;
    return plan->parts * (points + clo_i_lattice_padded(points));
}

static clo_status take_words(clo_workspace *space, const clo_cells_plan *plan, size_t cols,
                             uint64_t **words, clo_error *err)
{
    return clo_i_take(space, word_count(plan, cols), sizeof **words, words, err);
}

clo_status clo_i_cells_room(const clo_cells_plan *plan, size_t cols, clo_workspace *space,
                            clo_error *err)
{
    clo_cells_found parts;
    clo_cells cells;
    clo_cell found;
    double *columns;
    uint64_t *words;
    CLO_TRY(take_parts(space, plan, &parts, err));
    for (size_t p = 0; p < plan->parts; p++)
        CLO_TRY(take_part(space, plan, cols, &cells, &found, err));
    const size_t mark = clo_i_workspace_mark(space);
    CLO_TRY(take_columns(space, plan->references, cols, &columns, err));
    clo_i_workspace_release(space, mark);
    CLO_TRY(take_words(space, plan, cols, &words, err));
    clo_i_workspace_release(space, mark);
    return CLO_OK;
}

static clo_status draw_cells(clo_context *context, const clo_cells *c, clo_error *err)
{
    const size_t points = c->references * c->cols, width = clo_i_lattice_padded(points);
    const size_t mark = clo_i_workspace_mark(context->workspace);
    clo_stream *stream = NULL;
    double *columns = NULL;
    CLO_TRY(take_columns(context->workspace, c->references, c->cols, &columns, err));
    CLO_TRY(clo_i_stream_open(context->rng, clo_i_rng_next_ask(context->rng), 0, &stream, err));
    for (size_t i = 0; i < points; i++) c->points[i] = clo_i_random_normal(stream);
    for (size_t i = 0; i < width; i++)
        c->offsets[i] = CLO_LATTICE_PERIOD * clo_i_random_unit(stream);
    clo_status status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    if (!status) status = spread_points(c, columns, err);
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

/* What another rank must be told to name the same cells: the points and offsets of each part, which
 * were drawn without the records. */
static void write_words(const clo_cells *cells, size_t parts, uint64_t *words)
{
    const size_t points = cells->references * cells->cols, width = clo_i_lattice_padded(points);
    for (size_t p = 0; p < parts; p++, words += points + width) {
        memcpy(words, cells[p].points, points * sizeof *words);
        memcpy(words + points, cells[p].offsets, width * sizeof *words);
    }
}

static clo_status read_reals(const uint64_t *words, size_t count, double *out, clo_error *err)
{
    memcpy(out, words, count * sizeof *out);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(out[i]))
            return clo_i_fail(err, CLO_FORMAT, "these bytes are no ask of this plan");
    return CLO_OK;
}

static clo_cells cells_for(const clo_cells_plan *plan, size_t cols)
{
    return (clo_cells){
        .dim = plan->dim, .cols = cols, .references = plan->references, .unit = plan->unit
    };
}

clo_status clo_i_cells_open(const clo_cells_plan *plan, size_t cols, clo_context *context,
                            const uint64_t *words, size_t count, clo_block_work *out,
                            clo_error *err)
{
    const size_t points = plan->references * cols, width = clo_i_lattice_padded(points);
    clo_cells_found parts;
    if (count != word_count(plan, cols))
        return clo_i_fail(err, CLO_FORMAT, "these bytes are no ask of this plan");
    CLO_TRY(take_parts(context->workspace, plan, &parts, err));
    for (size_t p = 0; p < plan->parts; p++, words += points + width) {
        clo_cells *const c = &parts.cells[p];
        *c = cells_for(plan, cols);
        CLO_TRY(take_part(context->workspace, plan, cols, c, &parts.found[p], err));
        CLO_TRY(read_reals(words, points, c->points, err));
        CLO_TRY(read_reals(words + points, width, c->offsets, err));
    }
    *out = (clo_block_work){ .locate = locate, .user = parts.cells };
    return CLO_OK;
}

clo_status clo_i_cells_ask(clo_context *context, const clo_cells_plan *plan,
                           const clo_bounded *data, size_t cols, clo_cells_found *out,
                           clo_error *err)
{
    const size_t count = word_count(plan, cols);
    uint64_t *words = NULL;
    CLO_TRY(take_parts(context->workspace, plan, out, err));
    for (size_t p = 0; p < plan->parts; p++) {
        clo_cells *const c = &out->cells[p];
        *c = cells_for(plan, cols);
        CLO_TRY(take_part(context->workspace, plan, cols, c, &out->found[p], err));
        CLO_TRY(draw_cells(context, c, err));
    }
    const size_t mark = clo_i_workspace_mark(context->workspace);
    CLO_TRY(take_words(context->workspace, plan, cols, &words, err));
    write_words(out->cells, plan->parts, words);
    const clo_status status =
        clo_i_ask_histogram(context, 0, data, locate, out->cells, words, count, out->found, err);
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

/* The centre, as projections of the reference points, may span too little: then the rest of the
 * basis is arbitrary. */
clo_status clo_i_cells_span(clo_context *context, const clo_cells *c, const int64_t *place,
                            double *basis, clo_error *err)
{
    const size_t d = c->cols, q = c->references;
    const size_t mark = clo_i_workspace_mark(context->workspace);
    double *columns = NULL;
    CLO_TRY(take_columns(context->workspace, q, d, &columns, err));
    for (size_t r = 0; r < q; r++)
        for (size_t j = 0; j < d; j++)
            columns[j * q + r] = ((double)place[r * d + j] - c->offsets[r * d + j]) * c->unit;
    clo_status status = clo_i_top_directions(columns, d, q, c->dim, basis, err);
    clo_i_workspace_release(context->workspace, mark);
    if (status == CLO_MEMORY || status == CLO_OK) return status;
    memset(basis, 0, d * c->dim * sizeof *basis);
    return clo_i_orthonormalize(basis, d, c->dim, err);
}
