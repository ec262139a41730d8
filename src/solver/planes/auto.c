/*
 * auto.c - the default: subspaces from several kinds of starts, the lowest cost kept.
 *
 * Random starts of k-planes find subspaces that are spread out, however noisy, and get stuck where
 * subspaces lie close together, as those of faces do.  Solvers that express each row by the others
 * are the other way round.  So both begin, k-planes ends every start, and since all ends then have
 * flats of the same shape, their costs can be compared.
 *
 * Where the dimension is not given, all are compared at one common dimension, that of the start
 * whose eigenvalues say it most plainly (flats_dim.c), and only the best takes dimensions of its
 * own, where the gap is plain: with more dimensions a worse partition would cost less.
 *
 * What a self-expressive start takes in time and memory grows with the square of the rows or
 * worse.  Up to DENSE_ROWS rows the thorough ones begin, up to SPARSE_ROWS those that look at few
 * neighbours, and beyond k-planes begins alone.
 */
#include "solver/planes/kplanes.h"
#include <string.h>

enum { DENSE_ROWS = 2500, SPARSE_ROWS = 20000, SPECTRAL_RESTARTS = 10, OPEN_WIDTH = 8 };

enum { CLUSTERS, DIM, FLATS, RESTARTS, ITERATIONS };

static const clo_param params[] = {
    [CLUSTERS] = CLO_SOLVER_ROW_CLUSTERS,
    [DIM] = CLO_SOLVER_ROW_DIM,
    [FLATS] = CLO_SOLVER_ROW_FLATS,
    [RESTARTS] = { "restarts", CLO_PARAM_INT, 1, 1e6, 10, NULL,
                   "how many random starts to try, besides those of other solvers; the best "
                   "answer is kept" },
    [ITERATIONS] = CLO_SOLVER_ROW_ITERATIONS(200),
};

/* ---- self-expressive starts ----------------------------------------------------------------- */

/* The widest flat that is looked for, or, where that is open, a width that most flats have. */
static size_t widest(const clo_flat_shape *shape)
{
    size_t width = 0;
    for (size_t l = 0; l < shape->clusters; l++) {
        const size_t dim = clo_i_shape_dim(shape, l);
        if (dim > width) width = dim;
    }
    return width ? width : OPEN_WIDTH;
}

static clo_status by_ssc(const clo_solver_input *job, const clo_flat_shape *shape,
                         clo_affinity *out, clo_error *err)
{
    return clo_i_ssc_affinity(job, shape->affine, out, err);
}

/* What all flats together span has that rank at most; an affine one counts its offset. */
static clo_status by_lrr(const clo_solver_input *job, const clo_flat_shape *shape,
                         clo_affinity *out, clo_error *err)
{
    size_t rank = 0;
    for (size_t l = 0; l < shape->clusters; l++) {
        const size_t dim = clo_i_shape_dim(shape, l);
        if (dim == 0) return clo_i_lrr_affinity(job, 0, out, err);
        rank += dim + (shape->affine ? 1 : 0);
    }
    const size_t most = job->count < job->cols ? job->count : job->cols;
    return clo_i_lrr_affinity(job, rank < most ? rank : most, out, err);
}

/* An affine flat counts its offset. */
static clo_status by_ssc_omp(const clo_solver_input *job, const clo_flat_shape *shape,
                             clo_affinity *out, clo_error *err)
{
    return clo_i_ssc_omp_affinity(job, shape->clusters, widest(shape) + (shape->affine ? 1 : 0),
                                  out, err);
}

static clo_status by_tsc(const clo_solver_input *job, const clo_flat_shape *shape,
                         clo_affinity *out, clo_error *err)
{
    return clo_i_tsc_affinity(job, shape->clusters, out, err);
}

typedef struct expression {
    size_t least, most; /* of rows */
    clo_status (*make)(const clo_solver_input *job, const clo_flat_shape *shape, clo_affinity *out,
                       clo_error *err);
} expression;

static const expression expressions[] = {
    { 2, DENSE_ROWS, by_ssc },
    { 2, DENSE_ROWS, by_lrr },
    { DENSE_ROWS + 1, SPARSE_ROWS, by_ssc_omp },
    { 2, SPARSE_ROWS, by_tsc },
};

enum { EXPRESSIONS = sizeof expressions / sizeof *expressions };

static bool begins(const expression *e, const clo_solver_input *job, const clo_flat_shape *shape)
{
    return shape->clusters > 1 && job->count >= e->least && job->count <= e->most;
}

/* ---- labels for flats of unequal dimensions -------------------------------------------------- */

/* The numbers 0 … count - 1 by increasing value; of equals the lower first. */
static void rank_by(const size_t *values, size_t count, size_t *order)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = i;
        for (; at > 0 && values[order[at - 1]] > values[i]; at--) order[at] = order[at - 1];
        order[at] = i;
    }
}

/* A partition by affinity does not know which flat is to be the wide one: the clusters that have
 * more dimensions by their eigenvalues get the numbers of the wider flats. */
static clo_status number_by_width(const clo_solver_input *job, const clo_flat_shape *shape,
                                  uint32_t *labels, clo_error *err)
{
    const size_t k = shape->clusters;
    const clo_flat_shape open = { .clusters = k, .dim = 0, .affine = shape->affine };
    clo_partition fitted = { 0 };
    size_t *order = NULL; /* of the clusters, of the flats; then the flat of each cluster */
    if (!shape->dims) return CLO_OK;
    clo_status status = clo_i_fit_flats(job, labels, &open, &fitted, err);
    if (!status) status = clo_i_alloc(3 * k, sizeof *order, &order, err);
    if (!status) {
        rank_by(fitted.dims, k, order);
        rank_by(shape->dims, k, order + k);
        for (size_t i = 0; i < k; i++) order[2 * k + order[i]] = order[k + i];
        for (size_t i = 0; i < job->count; i++) labels[i] = (uint32_t)order[2 * k + labels[i]];
    }
    clo_i_partition_free(&fitted);
    clo_i_free(order);
    return status;
}

/* ---- the best of all ------------------------------------------------------------------------- */

/* Takes `other` over if it costs less, by more than that share; of equals the earlier stays. */
static void keep_better(clo_partition *best, clo_partition *other, double share)
{
    if (!best->labels || other->cost < (1 - share) * best->cost) {
        const clo_partition worse = *best;
        *best = *other;
        *other = worse;
    }
    clo_i_partition_free(other);
}

/* labels: a row each. */
static clo_status express(const clo_solver_input *job, const expression *e,
                          const clo_flat_shape *shape, uint32_t *labels, clo_error *err)
{
    const clo_solver_input first = clo_i_job_part(job, 0, 0.8),
                           second = clo_i_job_part(job, 0.8, 1);
    const clo_spectral_options spectral = { shape->clusters, SPECTRAL_RESTARTS };
    clo_affinity affinity = { 0 };
    clo_status status = e->make(&first, shape, &affinity, err);
    if (!status) status = clo_i_spectral(&second, &affinity, &spectral, labels, err);
    clo_i_affinity_free(&affinity);
    return status;
}

static clo_status from_expression(const clo_solver_input *job, const expression *e,
                                  const clo_kplanes_options *options, clo_partition *out,
                                  clo_error *err)
{
    const clo_solver_input first = clo_i_job_part(job, 0, 0.9);
    clo_solver_input second = clo_i_job_part(job, 0.9, 1);
    clo_kplanes_options polish = *options;
    uint32_t *labels = NULL;
    CLO_TRY(clo_i_alloc(job->count, sizeof *labels, &labels, err));
    clo_status status = express(&first, e, &options->shape, labels, err);
    if (!status) status = number_by_width(job, &options->shape, labels, err);
    second.start = NULL;
    polish.restarts = 0;
    polish.start_labels = labels;
    if (!status) status = clo_i_kplanes(&second, &polish, out, err);
    clo_i_free(labels);
    return status;
}

/* A kind of start may have nothing to say about such rows (all of them 0, say): others have. */
static bool has_no_answer(clo_status status)
{
    return status == CLO_ARGUMENT || status == CLO_INTERNAL;
}

/* What a search among random starts may cost less by chance: a flat goes through any rows that are
 * as few as its dimensions. */
static double chance(const clo_solver_input *job, const clo_flat_shape *shape)
{
    double free_rows = 0;
    for (size_t l = 0; l < shape->clusters; l++)
        free_rows += (double)clo_i_shape_dim(shape, l) + (shape->affine ? 1 : 0);
    return free_rows < (double)job->count ? free_rows / (double)job->count : 1;
}

/* At given dimensions: a turn for each kind of start.  Random ones must do better than by chance
 * where others have an answer: those know more of the rows than a cost says. */
static clo_status try_all(const clo_solver_input *job, const clo_kplanes_options *options,
                          clo_partition *out, clo_error *err)
{
    const double turns = EXPRESSIONS + 1;
    const clo_solver_input last = clo_i_job_part(job, EXPRESSIONS / turns, 1);
    clo_partition best = { 0 }, found = { 0 };
    clo_status status = CLO_OK;
    for (size_t i = 0; i < EXPRESSIONS && !status; i++) {
        const clo_solver_input turn =
            clo_i_job_part(job, (double)i / turns, (double)(i + 1) / turns);
        if (!begins(&expressions[i], job, &options->shape)) continue;
        status = from_expression(&turn, &expressions[i], options, &found, err);
        if (!status) keep_better(&best, &found, 0);
        if (has_no_answer(status)) status = CLO_OK;
    }
    if (!status) status = clo_i_kplanes(&last, options, &found, err);
    if (!status) keep_better(&best, &found, job->start ? 0 : chance(job, &options->shape));
    if (status)
        clo_i_partition_free(&best);
    else
        *out = best;
    return status;
}

/* The dimension that is said most plainly, among those of random starts and of each
 * self-expressive one. */
static clo_status plainest_dim(const clo_solver_input *job, const clo_kplanes_options *options,
                               clo_common_dim *plainest, clo_error *err)
{
    const double turns = EXPRESSIONS + 1;
    const clo_solver_input last = clo_i_job_part(job, EXPRESSIONS / turns, 1);
    clo_dim_costs costs = { .last = 0 };
    uint32_t *labels = NULL;
    CLO_TRY(clo_i_alloc(job->count, sizeof *labels, &labels, err));
    clo_status status = CLO_OK;
    for (size_t i = 0; i <= EXPRESSIONS && !status; i++) {
        const clo_solver_input turn =
            clo_i_job_part(job, (double)i / turns, (double)(i + 1) / turns);
        clo_common_dim found = { .left = 0 };
        if (i < EXPRESSIONS && !begins(&expressions[i], job, &options->shape)) continue;
        if (i == EXPRESSIONS) {
            status = clo_i_common_dim_of(&last, options, &found, &costs, err);
        } else {
            status = express(&turn, &expressions[i], &options->shape, labels, err);
            if (!status) status = clo_i_dim_of_labels(job, options, labels, &found, err);
        }
        /* without a plain gap random starts would win, and only by chance */
        const bool counts = i < EXPRESSIONS || found.choice.plain || plainest->choice.dim == 0;
        if (!status && counts && clo_i_plainer(&found, plainest)) *plainest = found;
        if (has_no_answer(status)) status = CLO_OK;
    }
    clo_i_widen_dim(&costs, plainest);
    clo_i_free(labels);
    return status;
}

/* The dimensions to compare at: as given, and the common one for those that are 0. */
static clo_status open_dims(const clo_solver_input *job, const clo_kplanes_options *options,
                            clo_partition *out, clo_error *err)
{
    const clo_solver_input first = clo_i_job_part(job, 0, 0.4),
                           second = clo_i_job_part(job, 0.4, 0.9);
    const clo_solver_input third = clo_i_job_part(job, 0.9, 1);
    const clo_flat_shape *const shape = &options->shape;
    clo_kplanes_options at = *options;
    clo_partition found = { 0 };
    clo_common_dim common = { .left = 0 };
    size_t *dims = NULL;
    clo_status status = plainest_dim(&first, options, &common, err);
    at.shape.dim = common.choice.dim;
    if (!status && shape->dims) status = clo_i_alloc(shape->clusters, sizeof *dims, &dims, err);
    if (status) return status;
    for (size_t l = 0; l < shape->clusters && dims; l++)
        dims[l] = shape->dims[l] ? shape->dims[l] : common.choice.dim;
    at.shape.dims = dims;
    status = try_all(&second, &at, &found, err);
    if (!status) status = clo_i_settle_dims(&third, options, found.labels, &common, out, err);
    clo_i_partition_free(&found);
    clo_i_free(dims);
    return status;
}

static clo_status solve(const clo_solver_input *job, const double *values, clo_partition *out,
                        clo_error *err)
{
    const clo_kplanes_options options = { .shape = { .clusters = (size_t)values[CLUSTERS],
                                                     .dim = (size_t)values[DIM],
                                                     .dims = job->dims,
                                                     .affine = values[FLATS] > 0 },
                                          .restarts = (size_t)values[RESTARTS],
                                          .iterations = (size_t)values[ITERATIONS] };
    CLO_TRY(clo_i_check_shape(job, &options.shape, err));
    for (size_t l = 0; l < options.shape.clusters; l++)
        if (clo_i_shape_dim(&options.shape, l) == 0) return open_dims(job, &options, out, err);
    return try_all(job, &options, out, err);
}

const clo_solver clo_i_solver_auto = {
    .name = "auto",
    .summary = "tries several solvers and random starts, ends each with k-planes, keeps the best",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .warm = true,
    .unequal = true,
    .solve = solve,
};
