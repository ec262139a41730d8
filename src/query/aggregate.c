/*
 * aggregate.c - sample and aggregate: an ordinary solver runs on each of m random disjoint blocks
 * of the records, and what is released is one of the solutions plus Gaussian noise, in proportion
 * to how far apart the solutions lie (Nissim, Raskhodnikova and Smith 2007; wang2015, Algorithm 1,
 * repaired).
 *
 * A record is in one block, so that one solution changes.  The released one has more than half of
 * the others within a small radius of it; S is a smooth upper bound of how far it can move
 * (aggregate.T1).  Solutions are sets of subspaces: the distance between two is that of their bases
 * after the best turn and the best order, and only what does not depend on turn and order is
 * published (aggregate.T4).  The scale of the noise is a secret.  The solutions themselves are
 * in floating point, so the guarantee is that of real numbers.
 */
#include "query/parts.h"
#include "linalg/linalg.h"
#include "measure/measure.h"
#include "parallel/parallel.h"
#include "privacy/smooth.h"
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

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* A subspace of more than half the dimension is known by its complement, which has fewer
 * coordinates to noise. */
static size_t coordinates_dim(size_t cols, size_t dim)
{
    return min_size(dim, cols - dim);
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

clo_status clo_i_plan_aggregate(const clo_domain *domain, size_t clusters, size_t dim,
                                size_t blocks, clo_loss loss, const char *label, clo_slot *out,
                                clo_error *err)
{
    const size_t cols = domain->cols, small = dim < cols ? coordinates_dim(cols, dim) : 0;
    clo_smooth smooth;
    if (loss.epsilon > LARGEST_EPSILON)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "epsilon must be at most %g with Gaussian noise, not %g", LARGEST_EPSILON,
                          loss.epsilon);
    if (clusters < 1 || clusters > CLO_MAX_CLUSTERS)
        return clo_i_fail(err, CLO_ARGUMENT, "clusters must be between 1 and %d, not %zu",
                          (int)CLO_MAX_CLUSTERS, clusters);
    if (dim < 1 || small < 1)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "dim must be at least 1 and less than the number of columns, %zu", cols);
    if (blocks < 3 || blocks > MOST_BLOCKS)
        return clo_i_fail(err, CLO_ARGUMENT, "blocks must be between 3 and %d, not %zu",
                          (int)MOST_BLOCKS, blocks);
    CLO_TRY(calibrate(loss, clusters * cols * small, blocks, domain->rows_per_unit, &smooth, err));
    if (smooth.alpha * (1 << FLOOR_BITS) < sqrt((double)(clusters * cols * small)))
        return clo_i_fail(err, CLO_ARGUMENT, "epsilon %g is too small for so many coordinates",
                          loss.epsilon);
    *out = (clo_slot){ .query = CLO_QUERY_aggregate,
                       .label = label,
                       .event = { .kind = CLO_EVENT_APPROXIMATE,
                                  .parameter = loss.epsilon,
                                  .delta = loss.delta,
                                  .count = 1 },
                       .bits = BITS,
                       .cols = cols,
                       .groups = clusters,
                       .dim = dim,
                       .blocks = blocks,
                       .sensitivity = domain->rows_per_unit,
                       .alpha = smooth.alpha,
                       .beta = smooth.beta,
                       .grid_bits = grid_for(sqrt(2 * (double)(clusters * small)), smooth.alpha) };
    return CLO_OK;
}

/* ---- solutions -------------------------------------------------------------------------- */

/* The solution of every block, as the coordinates that are noised: k x cols x small. */
typedef struct solutions {
    size_t blocks, clusters, cols, dim, small;
    size_t length; /* of one */
    double *bases; /* blocks x length */
} solutions;

/* The basis of the orthogonal complement, cols x (cols - dim), out of a full orthonormal frame. */
static clo_status complement(const double *basis, size_t cols, size_t dim, double *out,
                             clo_error *err)
{
    double *frame = NULL;
    CLO_TRY(clo_i_alloc(cols * cols, sizeof *frame, &frame, err));
    for (size_t i = 0; i < cols; i++)
        memcpy(frame + i * cols, basis + i * dim, dim * sizeof *frame);
    const clo_status status = clo_i_orthonormalize(frame, cols, cols, err);
    for (size_t i = 0; i < cols && !status; i++)
        memcpy(out + i * (cols - dim), frame + i * cols + dim, (cols - dim) * sizeof *out);
    clo_i_free(frame);
    return status;
}

static bool all_finite(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i])) return false;
    return true;
}

/* The same for every block that has no other. */
static void fixed_solution(const solutions *s, double *bases)
{
    memset(bases, 0, s->clusters * s->cols * s->dim * sizeof *bases);
    for (size_t c = 0; c < s->clusters; c++)
        for (size_t e = 0; e < s->dim; e++)
            bases[(c * s->cols + (c + e) % s->cols) * s->dim + e] = 1;
}

/* CLO_FORMAT where numbers that a solver gave are no bases at all.  Columns are first brought to a
 * size whose squares cannot overflow. */
static clo_status make_orthonormal(const solutions *s, double *bases)
{
    const size_t cells = s->clusters * s->cols * s->dim;
    if (!all_finite(bases, cells)) return CLO_FORMAT;
    for (size_t c = 0; c < s->clusters; c++) {
        double *const basis = bases + c * s->cols * s->dim;
        for (size_t e = 0; e < s->dim; e++) {
            double largest = 0;
            for (size_t j = 0; j < s->cols; j++)
                largest = fmax(largest, fabs(basis[j * s->dim + e]));
            for (size_t j = 0; j < s->cols && largest > 0; j++) basis[j * s->dim + e] /= largest;
        }
        CLO_TRY(clo_i_orthonormalize(basis, s->cols, s->dim, NULL));
    }
    return all_finite(bases, cells) ? CLO_OK : CLO_FORMAT;
}

typedef struct solving {
    const solutions *solutions;
    clo_block_solve *solve;
    void *user;
    double *scratch; /* one solution a thread */
} solving;

static clo_status solve_one(void *user, int thread, size_t b, const clo_block *block)
{
    const solving *const given = user;
    const solutions *const s = given->solutions;
    double *const bases = given->scratch + (size_t)thread * (s->clusters * s->cols * s->dim);
    clo_error unseen;
    fixed_solution(s, bases); /* a solver that writes nothing must not be left another's answer */
    clo_status status = given->solve(given->user, block, bases, &unseen);
    if (!status) status = make_orthonormal(s, bases);
    if (status == CLO_MEMORY || status == CLO_CANCELLED) return status;
    if (status) {
        fixed_solution(s, bases);
        CLO_TRY(make_orthonormal(s, bases));
    }
    for (size_t c = 0; c < s->clusters; c++) {
        const double *const basis = bases + c * s->cols * s->dim;
        double *const to = s->bases + b * s->length + c * s->cols * s->small;
        if (s->small == s->dim)
            memcpy(to, basis, s->cols * s->dim * sizeof *to);
        else
            CLO_TRY(complement(basis, s->cols, s->dim, to, NULL));
    }
    return CLO_OK;
}

static clo_status solve_blocks(clo_context *context, const clo_division *d, const solutions *s,
                               clo_block_solve *solve, void *user, clo_error *err)
{
    const size_t cells = s->clusters * s->cols * s->dim;
    solving given = { .solutions = s, .solve = solve, .user = user };
    CLO_TRY(clo_i_alloc((size_t)context->threads * cells, sizeof(double), &given.scratch, err));
    const clo_status status = clo_i_visit_blocks(context, d, solve_one, &given, err);
    clo_i_free(given.scratch);
    return status;
}

/* ---- how far apart they are ------------------------------------------------------------- */

static clo_status measure_row(const solutions *s, size_t i, size_t *partner, double *scratch,
                              double *distances)
{
    for (size_t j = i + 1; j < s->blocks; j++) {
        double distance = 0;
        CLO_TRY(clo_i_procrustes_distance(s->bases + i * s->length, s->bases + j * s->length,
                                          s->clusters, s->cols, s->small, partner, scratch,
                                          &distance, NULL));
        distances[i * s->blocks + j] = distances[j * s->blocks + i] = distance;
    }
    return CLO_OK;
}

/* distances: blocks x blocks; afterwards row i holds r_i(1) <= r_i(2) <= ..., with itself first. */
static clo_status measure_all(const clo_context *context, const solutions *s, double *distances,
                              clo_error *err)
{
    const size_t room = clo_i_procrustes_scratch(s->clusters, s->small);
    const size_t threads = (size_t)context->threads;
    _Atomic int failure = CLO_OK;
    double *scratch = NULL;
    size_t *partners = NULL;
    clo_status status = clo_i_alloc(threads * room, sizeof *scratch, &scratch, err);
    if (!status) status = clo_i_alloc(threads * s->clusters, sizeof *partners, &partners, err);
    if (!status) {
#pragma omp parallel for schedule(dynamic) num_threads(context->threads)
        for (size_t i = 0; i < s->blocks; i++) {
            const size_t thread = (size_t)omp_get_thread_num();
            const clo_status mine = measure_row(s, i, partners + thread * s->clusters,
                                                scratch + thread * room, distances);
            if (mine) atomic_store(&failure, (int)mine);
        }
        status = (clo_status)atomic_load(&failure);
        if (status) clo_i_fail(err, status, "the solutions could not be compared");
    }
    for (size_t i = 0; i < s->blocks && !status; i++)
        clo_i_sort(distances + i * s->blocks, s->blocks);
    clo_i_free(partners);
    clo_i_free(scratch);
    return status;
}

/* ---- the answer ------------------------------------------------------------------------- */

/* The chosen solution on a public grid, with noise of a scale that follows S (aggregate.T4). */
static clo_status add_noise(clo_context *context, const clo_slot *slot, const double *solution,
                            size_t length, double bound, double *noisy, clo_error *err)
{
    const double grid = ldexp(1, slot->grid_bits);
    const uint64_t scale = ((uint64_t)1 << FLOOR_BITS) + (uint64_t)ceil(bound / slot->alpha * grid);
    int64_t *noise = NULL;
    CLO_TRY(clo_i_alloc(length, sizeof *noise, &noise, err));
    const clo_status status = clo_i_draw_gaussian(context, scale, length, noise, err);
    for (size_t i = 0; i < length && !status; i++)
        noisy[i] = (double)((int64_t)nearbyint(solution[i] * grid) + noise[i]) / grid;
    clo_i_wipe_free(noise, length * sizeof *noise);
    if (!status) CLO_I_DECLASSIFY(noisy, length * sizeof *noisy);
    return status;
}

/* A basis that is a function of the range alone: eigenvectors of P C P with a fixed diagonal C,
 * where P projects on the range (or off it, where the coordinates are those of the complement). */
static clo_status canonical_basis(double *coordinates, const solutions *s, double *square,
                                  double *values, double *scratch, double *basis, clo_error *err)
{
    const size_t d = s->cols, w = s->small;
    const double sign = w == s->dim ? 1 : -1;
    double *const projector = square + d * d;
    CLO_TRY(clo_i_orthonormalize(coordinates, d, w, err));
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            double dot = 0;
            for (size_t e = 0; e < w; e++) dot += coordinates[i * w + e] * coordinates[j * w + e];
            projector[i * d + j] = (sign < 0 && i == j) + sign * dot;
        }
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            double entry = 0;
            for (size_t e = 0; e < d; e++)
                entry += projector[i * d + e] * (2 + (double)e / (double)d) * projector[e * d + j];
            square[i * d + j] = entry;
        }
    return clo_i_eigen_top(square, d, s->dim, values, basis, scratch, err);
}

/* The order of the set: by the largest eigenvalue above, which depends on the range alone. */
static void put_in_order(const solutions *s, const double *keys, const double *found, double *bases)
{
    const size_t cells = s->cols * s->dim;
    for (size_t c = 0; c < s->clusters; c++) {
        size_t place = 0;
        for (size_t other = 0; other < s->clusters; other++)
            place += keys[other] > keys[c] || (keys[other] == keys[c] && other < c);
        memcpy(bases + place * cells, found + c * cells, cells * sizeof *bases);
    }
}

static clo_status publish(const solutions *s, double *noisy, double *bases, clo_error *err)
{
    const size_t d = s->cols, cells = d * s->dim;
    double *square = NULL, *values = NULL, *scratch = NULL, *found = NULL, *keys = NULL;
    clo_status status = clo_i_alloc(2 * d * d, sizeof *square, &square, err);
    if (!status) status = clo_i_alloc(s->dim, sizeof *values, &values, err);
    if (!status)
        status = clo_i_alloc(clo_i_eigen_scratch(d, s->dim), sizeof *scratch, &scratch, err);
    if (!status) status = clo_i_alloc(s->clusters * cells, sizeof *found, &found, err);
    if (!status) status = clo_i_alloc(s->clusters, sizeof *keys, &keys, err);
    for (size_t c = 0; c < s->clusters && !status; c++) {
        status = canonical_basis(noisy + c * d * s->small, s, square, values, scratch,
                                 found + c * cells, err);
        keys[c] = values[0];
    }
    if (!status) put_in_order(s, keys, found, bases);
    clo_i_free(keys);
    clo_i_free(found);
    clo_i_free(scratch);
    clo_i_free(values);
    clo_i_free(square);
    return status;
}

static clo_status answer(clo_context *context, const clo_slot *slot, const solutions *s,
                         double *bases, clo_error *err)
{
    const double diameter = sqrt(2 * (double)(s->clusters * s->small));
    double *distances = NULL, *scratch = NULL, *noisy = NULL, bound = 0;
    size_t center = 0;
    clo_status status = clo_i_alloc(s->blocks * s->blocks, sizeof *distances, &distances, err);
    if (!status) status = clo_i_alloc(s->blocks, sizeof *scratch, &scratch, err);
    if (!status) status = clo_i_alloc(s->length, sizeof *noisy, &noisy, err);
    if (!status) status = measure_all(context, s, distances, err);
    if (!status) {
        bound = clo_i_smooth_bound(distances, s->blocks, (size_t)slot->sensitivity, slot->beta,
                                   diameter, &center, scratch);
        status =
            add_noise(context, slot, s->bases + center * s->length, s->length, bound, noisy, err);
    }
    if (!status) status = publish(s, noisy, bases, err);
    clo_i_wipe_free(noisy, s->length * sizeof *noisy);
    clo_i_wipe_free(scratch, s->blocks * sizeof *scratch);
    clo_i_wipe_free(distances, s->blocks * s->blocks * sizeof *distances);
    clo_i_wipe(&bound, sizeof bound);
    return status;
}

clo_status clo_i_ask_aggregate(clo_context *context, size_t number, const clo_bounded *data,
                               clo_block_solve *solve, void *user, double *bases, clo_error *err)
{
    const clo_slot *slot;
    clo_division d = { .count = 0 };
    CLO_TRY(clo_i_meter_charge(context, number, CLO_QUERY_aggregate, &slot, err));
    if (context->comm->size > 1)
        return clo_i_fail(err, CLO_UNSUPPORTED,
                          "sample and aggregate runs in one process: a block's records must be "
                          "together");
    solutions s = { .blocks = slot->blocks,
                    .clusters = slot->groups,
                    .cols = slot->cols,
                    .dim = slot->dim,
                    .small = coordinates_dim(slot->cols, slot->dim) };
    s.length = s.clusters * s.cols * s.small;
    clo_status status = clo_i_alloc(s.blocks * s.length, sizeof *s.bases, &s.bases, err);
    if (!status) status = clo_i_divide(context, slot, data, &d, err);
    if (!status) status = solve_blocks(context, &d, &s, solve, user, err);
    clo_i_division_free(&d);
    if (!status) status = answer(context, slot, &s, bases, err);
    if (!status) clo_i_tell_answer(context, slot, bases, s.clusters * s.cols * s.dim);
    clo_i_wipe_free(s.bases, s.blocks * s.length * sizeof *s.bases);
    return status;
}
