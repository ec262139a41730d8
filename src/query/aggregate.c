/*
 * aggregate.c - sample and aggregate: an ordinary solver runs on each of m random disjoint blocks
 * of the records, and what is released is one of the solutions plus Gaussian noise, in proportion
 * to how far apart the solutions lie (Nissim, Raskhodnikova and Smith 2007; wang2015, Algorithm 1,
 * repaired).
 *
 * A record is in one block, so that one solution changes.  The released one has more than half of
 * the others within a small radius of it; S is a smooth upper bound of how far it can move
 * (aggregate.T1).  What a solution is, how far two are apart and what may be published of one is
 * the business of its space (aggregate_space.h): sets of subspaces (aggregate.T4) or of centres
 * (aggregate.T5).  The scale of the noise is a secret.  The solutions themselves are in floating
 * point, so the guarantee is that of real numbers.
 */
#include "ask/query_steps.h"
#include "query/queries.h"
#include "parallel/parallel.h"
#include "accounting/smooth.h"
#include "query/aggregate.h"
#include "query/aggregate_space.h"
#include "ask/blocks.h"
#include "ask/fold.h"
#include "query/smooth_bound.h"
#include "random/random.h"
#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <string.h>

enum { BITS = 20, MOST_BLOCKS = 4096, GRID_BITS = 40, FLOOR_BITS = 24, SCALE_BITS = 54 };
/* Beyond it the sampler's end at 32 standard deviations would show (proofs/gaussian.md). */
static const double LARGEST_EPSILON = 300;
/* What the rounding of the scale may cost in beta, since the scale is at least 2^24. */
static const double SCALE_ROUNDING = 1.0 / (1 << 23);

/* The finest grid on which the largest scale stays within what the sampler draws exactly. */
static int grid_for(double diameter, double alpha)
{
    int bits = GRID_BITS;
    while (bits > 0 && ldexp(diameter / alpha, bits) > ldexp(1, SCALE_BITS)) bits--;
    return bits;
}

/* Where there are too few blocks to average over, S is the diameter, whatever the data: then the
 * scale tells nothing, and all of the budget goes into the shift (aggregate.T3). */
static clo_status calibrate(clo_loss loss, size_t dimension, size_t blocks, size_t changed,
                            clo_smooth *out, clo_error *err)
{
    const clo_event once = { .kind = CLO_EVENT_GAUSSIAN, .parameter = 1, .count = 1 };
    CLO_TRY(clo_i_smooth_calibrate(loss.epsilon, loss.delta, dimension, out, err));
    out->beta -= SCALE_ROUNDING;
    if (!clo_i_smooth_is_constant(blocks, changed, out->beta)) return CLO_OK;
    out->beta = 0;
    return clo_calibrate(&once, 1, loss, &out->alpha, err);
}

static clo_status plan(const clo_domain *domain, const clo_space *space, size_t blocks,
                       clo_loss loss, const char *label, clo_line *out, clo_error *err)
{
    clo_smooth smooth;
    if (loss.epsilon > LARGEST_EPSILON)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "epsilon must be at most %g with Gaussian noise, not %g", LARGEST_EPSILON,
                          loss.epsilon);
    if (blocks < 3 || blocks > MOST_BLOCKS)
        return clo_i_fail(err, CLO_ARGUMENT, "blocks must be between 3 and %d, not %zu",
                          (int)MOST_BLOCKS, blocks);
    CLO_TRY(calibrate(loss, space->length, blocks, domain->rows_per_unit, &smooth, err));
    if (smooth.alpha * (1 << FLOOR_BITS) < sqrt((double)space->length))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "epsilon %g is too small for so many coordinates: raise it, or choose "
                          "another method",
                          loss.epsilon);
    *out = (clo_line){ .query = &clo_i_query_aggregate,
                       .label = label,
                       .event = { .kind = CLO_EVENT_APPROXIMATE,
                                  .parameter = loss.epsilon,
                                  .delta = loss.delta,
                                  .count = 1 },
                       .bits = BITS,
                       .cols = space->cols,
                       .groups = space->clusters,
                       .sensitivity = domain->rows_per_unit };
    clo_i_aggregate_set_fields(
        out, (clo_aggregate_fields){ .dim = space->dim,
                                     .blocks = blocks,
                                     .alpha = smooth.alpha,
                                     .beta = smooth.beta,
                                     .grid_bits = grid_for(space->diameter, smooth.alpha) });
    return CLO_OK;
}

clo_status clo_i_plan_aggregate(const clo_domain *domain, size_t clusters, size_t dim,
                                size_t blocks, clo_loss loss, const char *label, clo_line *out,
                                clo_error *err)
{
    clo_space space;
    CLO_TRY(clo_i_check_clusters(clusters, CLO_MAX_CLUSTERS, err));
    if (dim < 1 || dim >= domain->cols)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "dim must be at least 1 and less than the number of columns, %zu",
                          domain->cols);
    clo_i_subspace_space(clusters, domain->cols, dim, &space);
    return plan(domain, &space, blocks, loss, label, out, err);
}

clo_status clo_i_plan_aggregate_centers(const clo_domain *domain, size_t clusters, size_t blocks,
                                        clo_loss loss, const char *label, clo_line *out,
                                        clo_error *err)
{
    clo_space space;
    CLO_TRY(clo_i_check_clusters(clusters, CLO_MAX_CLUSTERS, err));
    clo_i_center_space(clusters, domain->cols, &space);
    return plan(domain, &space, blocks, loss, label, out, err);
}

/* ---- solutions -------------------------------------------------------------------------- */

/* The solution of every block, as the coordinates that are noised. */
typedef struct solutions {
    clo_space space;
    size_t blocks;
    double *coordinates; /* blocks x space.length */
} solutions;

bool clo_i_all_finite(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i])) return false;
    return true;
}

typedef struct solving {
    const solutions *solutions;
    clo_block_solve *solve;
    void *user;
    double *scratch; /* one solution a thread */
} solving;

/* A failure of the solver, or numbers that are no solution, are a matter of the block's records and
 * told to nobody: the block gets the fixed solution. */
static clo_status solve_one(void *user, int thread, size_t b, const clo_block *block)
{
    const solving *const given = user;
    const clo_space *const space = &given->solutions->space;
    double *const found = given->scratch + (size_t)thread * space->given;
    double *const coordinates = given->solutions->coordinates + b * space->length;
    clo_error unseen;
    space->fix(space, found); /* a solver that writes nothing must not be left another's answer */
    clo_status status = given->solve(given->user, block, found, &unseen);
    if (!status && !clo_i_all_finite(found, space->given)) status = CLO_FORMAT;
    if (!status) status = space->settle(space, found, coordinates);
    if (!status || status == CLO_MEMORY || status == CLO_CANCELLED) return status;
    space->fix(space, found);
    return space->settle(space, found, coordinates);
}

static size_t coordinate_count(const solutions *s)
{
    return s->blocks * s->space.length;
}

static void forget(solutions *s)
{
    clo_i_wipe_free(s->coordinates, coordinate_count(s) * sizeof *s->coordinates);
}

/* The solutions of all blocks, by this process or by all ranks; to be forgotten, also where it
 * fails.  ready: whether there is a solver. */
static clo_status solve_blocks(clo_context *context, const clo_line *line, const clo_bounded *data,
                               clo_block_solve *solve, void *user, clo_status ready, solutions *out,
                               clo_error *err)
{
    const clo_aggregate_fields how = clo_i_aggregate_fields(line);
    solutions *const s = out;
    solving given = { .solutions = s, .solve = solve, .user = user };
    *s = (solutions){ .blocks = how.blocks };
    if (how.dim == 0)
        clo_i_center_space(line->groups, line->cols, &s->space);
    else
        clo_i_subspace_space(line->groups, line->cols, how.dim, &s->space);
    const size_t scratch = (size_t)context->threads * s->space.given;
    if (!ready) ready = clo_i_alloc(coordinate_count(s), sizeof(double), &s->coordinates, err);
    if (!ready) ready = clo_i_alloc(scratch, sizeof(double), &given.scratch, err);
    const clo_each_block each = { .line = line,
                                  .blocks = how.blocks,
                                  .visit = solve_one,
                                  .user = &given,
                                  .results = s->coordinates,
                                  .each = s->space.length * sizeof *s->coordinates };
    const clo_status status = clo_i_each_block(context, &each, data, ready, err);
    clo_i_wipe_free(given.scratch, scratch * sizeof(double));
    return status;
}

/* ---- how far apart they are ------------------------------------------------------------- */

static clo_status measure_row(const solutions *s, size_t i, size_t *partner, double *scratch,
                              double *distances)
{
    const clo_space *const space = &s->space;
    for (size_t j = i + 1; j < s->blocks; j++) {
        double distance = 0;
        CLO_TRY(space->distance(space, s->coordinates + i * space->length,
                                s->coordinates + j * space->length, partner, scratch, &distance));
        distances[i * s->blocks + j] = distances[j * s->blocks + i] = distance;
    }
    return CLO_OK;
}

/* distances: blocks x blocks; afterwards row i holds r_i(1) <= r_i(2) <= ..., with itself first. */
static clo_status measure_all(const clo_context *context, const solutions *s, double *distances,
                              clo_error *err)
{
    const size_t room = s->space.room, clusters = s->space.clusters;
    const size_t threads = (size_t)context->threads;
    _Atomic int failure = CLO_OK;
    double *scratch = NULL;
    size_t *partners = NULL;
    clo_status status = clo_i_alloc(threads * room, sizeof *scratch, &scratch, err);
    if (!status) status = clo_i_alloc(threads * clusters, sizeof *partners, &partners, err);
    if (!status) {
#pragma omp parallel for schedule(dynamic) num_threads(context->threads)
        for (size_t i = 0; i < s->blocks; i++) {
            const size_t thread = (size_t)omp_get_thread_num();
            if (atomic_load(&failure)) continue;
            clo_status mine =
                measure_row(s, i, partners + thread * clusters, scratch + thread * room, distances);
            if (!mine && thread == 0) mine = clo_i_tell_progress(context, 1, NULL);
            if (mine) atomic_store(&failure, (int)mine);
        }
        status = (clo_status)atomic_load(&failure);
        if (status == CLO_CANCELLED)
            clo_i_fail(err, status, "the run was stopped on request");
        else if (status)
            clo_i_fail(err, status, "the solutions could not be compared");
    }
    for (size_t i = 0; i < s->blocks && !status; i++)
        clo_i_sort(distances + i * s->blocks, s->blocks);
    clo_i_free(partners);
    clo_i_free(scratch);
    return status;
}

/* ---- the answer ------------------------------------------------------------------------- */

/* The chosen solution on a public grid, with noise of a scale that follows S (aggregate.T4). */
static clo_status add_noise(clo_context *context, const clo_line *line, const double *solution,
                            size_t length, double bound, double *noisy, clo_error *err)
{
    const clo_aggregate_fields how = clo_i_aggregate_fields(line);
    const double grid = ldexp(1, (int)how.grid_bits);
    const uint64_t scale = ((uint64_t)1 << FLOOR_BITS) + (uint64_t)ceil(bound / how.alpha * grid);
    const clo_noise noise = { .count = length, .laws = { clo_i_gaussian_law(scale) } };
    int64_t *numbers = NULL;
    CLO_TRY(clo_i_alloc(length, sizeof *numbers, &numbers, err));
    for (size_t i = 0; i < length; i++) numbers[i] = (int64_t)nearbyint(solution[i] * grid);
    const clo_status status = clo_i_answer(context, line, &noise, numbers, err);
    for (size_t i = 0; i < length && !status; i++) noisy[i] = (double)numbers[i] / grid;
    clo_i_wipe_free(numbers, length * sizeof *numbers);
    return status;
}

static clo_status answer(clo_context *context, const clo_line *line, const solutions *s,
                         double *out, clo_error *err)
{
    const size_t blocks = s->blocks, length = s->space.length;
    double *distances = NULL, *scratch = NULL, *noisy = NULL, bound = 0;
    size_t center = 0;
    clo_status status = clo_i_alloc(blocks * blocks, sizeof *distances, &distances, err);
    if (!status) status = clo_i_alloc(blocks, sizeof *scratch, &scratch, err);
    if (!status) status = clo_i_alloc(length, sizeof *noisy, &noisy, err);
    if (!status) status = measure_all(context, s, distances, err);
    if (!status) {
        bound = clo_i_smooth_bound(distances, blocks, (size_t)line->sensitivity,
                                   clo_i_aggregate_fields(line).beta, s->space.diameter, &center,
                                   scratch);
        status =
            add_noise(context, line, s->coordinates + center * length, length, bound, noisy, err);
    }
    if (!status) status = s->space.publish(&s->space, noisy, out, err);
    clo_i_wipe_free(noisy, length * sizeof *noisy);
    clo_i_wipe_free(scratch, blocks * sizeof *scratch);
    clo_i_wipe_free(distances, blocks * blocks * sizeof *distances);
    clo_i_wipe(&bound, sizeof bound);
    return status;
}

clo_status clo_i_ask_aggregate(clo_context *context, size_t number, const clo_bounded *data,
                               clo_block_solve *solve, void *user, double *out, clo_error *err)
{
    const size_t mark = clo_i_workspace_begin_ask(context->workspace);
    const clo_line *line;
    solutions s;
    CLO_TRY(clo_i_meter_charge(context, number, &clo_i_query_aggregate, &line, err));
    clo_status status = solve_blocks(context, line, data, solve, user, CLO_OK, &s, err);
    clo_i_workspace_release(context->workspace, mark);
    if (!status) status = answer(context, line, &s, out, err);
    if (!status) clo_i_tell_answer(context, line, out, s.space.given, 0);
    forget(&s);
    return status;
}

/* Another rank solves its blocks, and forgets all of them. */
static clo_status help(clo_context *context, const clo_ask *ask, const clo_bounded *data,
                       clo_error *err)
{
    clo_block_work work = { .solve = NULL };
    solutions s;
    clo_status status = clo_i_open_blocks(context, ask, data, &work, err);
    if (!status && !work.solve) status = clo_i_fail(err, CLO_FORMAT, "this plan solves no blocks");
    status = solve_blocks(context, ask->line, data, work.solve, work.user, status, &s, err);
    forget(&s);
    return status;
}

/* A basis of many columns is known by that of its complement. */
static clo_numbers numbers_of(const clo_line *line)
{
    const size_t k = line->groups, d = line->cols, q = clo_i_aggregate_fields(line).dim;
    const size_t small = q < d - q ? q : d - q;
    if (q == 0) return (clo_numbers){ k * d, k * d };
    return (clo_numbers){ k * d * small, k * d * q };
}

/* The rest of its room follows the number of rows, which no plan knows. */
static clo_status lay_out(clo_fold *fold, clo_workspace *space, clo_error *err)
{
    (void)fold, (void)space, (void)err;
    return CLO_OK;
}

static size_t count_blocks(const clo_line *line)
{
    return clo_i_aggregate_fields(line).blocks;
}

const clo_query clo_i_query_aggregate = {
    .name = "aggregate",
    .reading = CLO_READING_BLOCKS,
    .numbers = numbers_of,
    .sampler = "exactly rounded Gaussian",
    .lay_out = lay_out,
    .blocks = {
        .count = count_blocks,
        .help = help,
    },
};
