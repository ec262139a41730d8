/*
 * subspace_approx.c - one subspace of data that nearly lie on one (singhal2021, Algorithm 2, with
 * its constants put right): how many records it takes depends on the subspace's dimension, not on
 * that of the data.
 *
 * The records are divided into many blocks, and each block finds its own subspace.  What it says of
 * it is where it projects a few public reference points to, rounded to a grid with a random offset:
 * a cell.  Where the data are as near to a subspace as gamma says, many blocks name the same cell,
 * and a histogram finds it (histogram.T2); the subspace of that cell's centre is released
 * (subspace_approx.T1).  Where they are not, no cell is found, and the release says so.
 */
#include "mechanism/subspace_units.h"
#include "domain/domain.h"
#include "linalg/linalg.h"
#include "random/random.h"
#include <math.h>
#include <string.h>

enum { DIM, GAMMA, BLOCKS, PARAM_COUNT };
enum { REFERENCES = 3, FEWEST_BLOCKS = 8, MOST_PRESET_BLOCKS = 4096 };
/* So many thresholds of blocks: a cell that a fifth of them name is then found. */
static const double BLOCKS_A_THRESHOLD = 5.7;
/* Of the width of a cell, by measurement (bench/bench_subspace_approx.c). */
static const double WIDTH_FACTOR = 6.1;

static const clo_param params[PARAM_COUNT] = {
    [DIM] = { "dim", CLO_PARAM_INT, 1, 4096, 2, NULL, "dimension of the subspace" },
    [GAMMA] = { CLO_SUBSPACE_GAMMA, NULL,
                "how near the records are to it: the most spread across it, as a share of the "
                "least along it; to be stated, and not from the data" },
    [BLOCKS] = { "blocks", CLO_PARAM_INT, 0, 65536, 0, NULL,
                 "into how many blocks the records are divided; 0: by the public facts" },
};

typedef struct approx_plan {
    size_t dim, blocks, references;
    double cell; /* its width */
} approx_plan;

/* As many as the threshold asks for, as long as each has records enough for a subspace. */
static size_t good_blocks(size_t dim, uint64_t rows, uint64_t threshold)
{
    const double wanted = ceil(BLOCKS_A_THRESHOLD * (double)threshold);
    const double possible = rows > 0 ? floor((double)rows / (2 * (double)dim)) : wanted;
    return (size_t)fmax(fmin(fmin(wanted, possible), MOST_PRESET_BLOCKS), FEWEST_BLOCKS);
}

/* Each of the dim * cols coordinates of a block spreads by about gamma sqrt(dim / rows), and the
 * chance that all are in the fullest cell falls exponentially with their spreads over its width; so
 * where more of the blocks must agree, it is wider. */
static double cell_width(const approx_plan *plan, const clo_domain *domain, double gamma,
                         uint64_t threshold)
{
    const double d = (double)domain->cols, k = (double)plan->dim, t = (double)plan->blocks;
    const double rows = domain->rows > 0 ? (double)domain->rows / t : 4 * k;
    const double agree = fmin(1.15 * (double)threshold / t, .97);
    return WIDTH_FACTOR / -log(agree) * gamma * d * k * sqrt(k / fmax(rows - k, 1));
}

static clo_status make_plan(clo_draft *draft, void *state, clo_error *err)
{
    approx_plan *const plan = state;
    const clo_domain *const domain = draft->domain;
    const size_t d = domain->cols;
    const double gamma = draft->values[GAMMA];
    clo_slot slot;
    *plan =
        (approx_plan){ .dim = (size_t)draft->values[DIM], .blocks = (size_t)draft->values[BLOCKS] };
    plan->references = REFERENCES * plan->dim;
    const size_t width = plan->references * d;
    if (plan->dim > d)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "dim must be at most the number of columns, %zu, not %zu", d, plan->dim);
    CLO_TRY(clo_i_check_gamma(gamma, err));
    if (gamma == 0)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "gamma must be above 0: records that lie in the subspace exactly are for "
                          "subspace/exact");
    if (!(gamma > 0))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "gamma must be stated: how near the records are to the subspace, above "
                          "0 and at most 1");
    CLO_TRY(clo_i_plan_histogram(domain, width, 1, draft->budget, "", &slot, err));
    if (plan->blocks == 0) plan->blocks = good_blocks(plan->dim, domain->rows, slot.threshold);
    CLO_TRY(clo_i_plan_histogram(domain, width, plan->blocks, draft->budget,
                                 "cells of the blocks' subspaces", &slot, err));
    plan->cell = cell_width(plan, domain, gamma, slot.threshold);
    draft->workspace =
        3 * clo_i_take_size(width, sizeof(double)) + clo_i_take_size(width, sizeof(int64_t)) +
        clo_i_take_size(d * plan->dim, sizeof(double)) + 2 * clo_i_take_size(d, sizeof(double));
    return clo_i_draft_add(draft, &slot, err);
}

/* ---- a block's cell ---------------------------------------------------------------------- */

/* All public: drawn before the records are looked at. */
typedef struct frame {
    size_t dim, cols, references;
    double cell;
    double *points;  /* references x cols */
    double *offsets; /* of the grid, the same */
} frame;

/* The top `dim` directions, cols x dim, of `count` vectors, the columns of cols x count.  A matrix
 * of lower rank has no such subspace. */
static clo_status top_directions(double *columns, size_t cols, size_t count, size_t dim,
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

/* place = floor(P p / width + offset), where P projects on the range of the basis.  along: dim. */
static void name_cell(const frame *f, const double *basis, double *along, int64_t *place)
{
    const size_t d = f->cols, k = f->dim;
    for (size_t r = 0; r < f->references; r++) {
        const double *const point = f->points + r * d;
        memset(along, 0, k * sizeof *along);
        for (size_t j = 0; j < d; j++)
            for (size_t e = 0; e < k; e++) along[e] += basis[j * k + e] * point[j];
        for (size_t j = 0; j < d; j++) {
            double image = 0;
            for (size_t e = 0; e < k; e++) image += basis[j * k + e] * along[e];
            const double cell = floor(image / f->cell + f->offsets[r * d + j]);
            place[r * d + j] = (int64_t)fmax(fmin(cell, 0x1p62), -0x1p62);
        }
    }
}

/* histogram.T2: a function of the rows alone.  They are copied to memory that is aligned as any
 * other block's copy is, so that where they lay cannot show in the last bit. */
static clo_status locate(void *user, const clo_block *block, int64_t *place, clo_error *err)
{
    const frame *const f = user;
    const size_t d = block->cols, m = block->count;
    double *columns = NULL, *basis = NULL;
    if (m < f->dim) return clo_i_fail(err, CLO_FORMAT, "the block has too few records");
    clo_status status = clo_i_alloc(d * m, sizeof *columns, &columns, err);
    if (!status) status = clo_i_alloc((d + 1) * f->dim, sizeof *basis, &basis, err);
    if (!status) {
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < d; j++) columns[j * m + i] = block->rows[i * d + j];
        status = top_directions(columns, d, m, f->dim, basis, err);
    }
    if (!status) name_cell(f, basis, basis + d * f->dim, place);
    clo_i_wipe_free(basis, (d + 1) * f->dim * sizeof *basis);
    clo_i_wipe_free(columns, d * m * sizeof *columns);
    return status;
}

/* ---- the run ----------------------------------------------------------------------------- */

/* Reference points at right angles to each other, as far as there are columns for it, of length
 * sqrt(cols): their projections then span every subspace about equally well.  columns: cols x
 * references of scratch. */
static clo_status spread_points(const frame *f, double *columns, clo_error *err)
{
    const size_t d = f->cols;
    for (size_t first = 0; first < f->references; first += d) {
        const size_t rest = f->references - first, count = rest < d ? rest : d;
        double *const points = f->points + first * d;
        for (size_t r = 0; r < count; r++)
            for (size_t j = 0; j < d; j++) columns[j * count + r] = points[r * d + j];
        CLO_TRY(clo_i_orthonormalize(columns, d, count, err));
        for (size_t r = 0; r < count; r++)
            for (size_t j = 0; j < d; j++)
                points[r * d + j] = columns[j * count + r] * sqrt((double)d);
    }
    return CLO_OK;
}

static clo_status draw_frame(clo_context *context, const frame *f, double *columns, clo_error *err)
{
    const size_t width = f->references * f->cols;
    clo_stream *stream = NULL;
    CLO_TRY(clo_i_stream_open(context->rng, clo_i_rng_next_ask(context->rng), 0, &stream, err));
    for (size_t i = 0; i < width; i++) f->points[i] = clo_i_random_normal(stream);
    for (size_t i = 0; i < width; i++) f->offsets[i] = clo_i_random_unit(stream);
    const clo_status status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    return status ? status : spread_points(f, columns, err);
}

/* The subspace that the centre of the cell, as projections of the reference points, spans best.  A
 * centre may span too little: then the rest of the basis is arbitrary. */
static clo_status span_center(const frame *f, const int64_t *place, double *columns, double *basis,
                              clo_error *err)
{
    const size_t d = f->cols, q = f->references;
    for (size_t r = 0; r < q; r++)
        for (size_t j = 0; j < d; j++)
            columns[j * q + r] = ((double)place[r * d + j] + .5 - f->offsets[r * d + j]) * f->cell;
    const clo_status status = top_directions(columns, d, q, f->dim, basis, err);
    if (status == CLO_MEMORY || status == CLO_OK) return status;
    memset(basis, 0, d * f->dim * sizeof *basis);
    return clo_i_orthonormalize(basis, d, f->dim, err);
}

/* From ball coordinates to the data's own: columns of different units stretch the subspace, and a
 * centre shifts it. */
static clo_status put_basis(clo_context *context, const clo_domain *domain, size_t dim,
                            double *basis, clo_release *out, clo_error *err)
{
    const size_t d = domain->cols;
    double *scale = NULL, *center = NULL;
    CLO_TRY(clo_i_take(context->workspace, d, sizeof *scale, &scale, err));
    CLO_TRY(clo_i_take(context->workspace, d, sizeof *center, &center, err));
    clo_i_domain_map(domain, scale, center);
    if (domain->lower) {
        for (size_t j = 0; j < d; j++)
            for (size_t i = 0; i < dim; i++) basis[j * dim + i] *= scale[j];
        CLO_TRY(clo_i_orthonormalize(basis, d, dim, err));
    }
    CLO_TRY(clo_i_release_put(out, "basis", basis, 2, (size_t[]){ d, dim }, err));
    if (domain->lower || domain->center)
        CLO_TRY(clo_i_release_put(out, "center", center, 1, (size_t[]){ d }, err));
    return CLO_OK;
}

static clo_status run(const void *state, const clo_domain *domain, const clo_bounded *data,
                      clo_context *context, clo_release *out, clo_error *err)
{
    const approx_plan *const plan = state;
    const size_t d = domain->cols, width = plan->references * d;
    frame f = { .dim = plan->dim, .cols = d, .references = plan->references, .cell = plan->cell };
    clo_cell found = { .found = false };
    double *columns = NULL, *basis = NULL;
    CLO_TRY(clo_i_take(context->workspace, width, sizeof *f.points, &f.points, err));
    CLO_TRY(clo_i_take(context->workspace, width, sizeof *f.offsets, &f.offsets, err));
    CLO_TRY(clo_i_take(context->workspace, width, sizeof *columns, &columns, err));
    CLO_TRY(clo_i_take(context->workspace, width, sizeof *found.place, &found.place, err));
    CLO_TRY(clo_i_take(context->workspace, d * plan->dim, sizeof *basis, &basis, err));
    CLO_TRY(draw_frame(context, &f, columns, err));
    CLO_TRY(clo_i_ask_histogram(context, 0, data, locate, &f, &found, err));
    CLO_TRY(clo_i_release_put(out, "found", &(double){ found.found }, 1, (size_t[]){ 1 }, err));
    if (!found.found) return CLO_OK;
    CLO_TRY(span_center(&f, found.place, columns, basis, err));
    return put_basis(context, domain, plan->dim, basis, out, err);
}

/* The centre of a cell is off by a uniform error in every coordinate: to first order, the subspace
 * turns by that error times the inverse of the reference points' coordinates in it, of which
 * subspace_approx.T2 bounds the worst and this is the root of the mean square. */
static double predict(const void *state, const clo_domain *domain, const clo_slot *slots,
                      double rows)
{
    const approx_plan *const plan = state;
    const double k = (double)plan->dim, d = (double)domain->cols, q = (double)plan->references;
    const double all = sqrt(fmin(k, d - k));
    const double blocks = fmin((double)plan->blocks, rows / k);
    if (blocks < 1.15 * (double)slots[0].threshold) return all;
    return fmin(plan->cell * sqrt((d - k) / 12 * k / (q - k)), all);
}

extern const clo_mechanism clo_i_mechanism_subspace_approx;
const clo_mechanism clo_i_mechanism_subspace_approx = {
    .family = "subspace",
    .method = "approx",
    .summary = "one subspace that the records nearly lie on, whatever the number of columns",
    .proof = "proofs/subspace_approx.md",
    .guarantee = CLO_EXACT,
    .params = params,
    .param_count = PARAM_COUNT,
    .plan_size = sizeof(approx_plan),
    .plan = make_plan,
    .run = run,
    .predict = predict,
    .prediction = "distance ||sin Theta||_F between the released and the true subspace, where the "
                  "records are as near to one as gamma says",
};
