/*
 * kmeans_lloyd.c - k-means by Lloyd's rounds on noisy sums and counts (SuLQ k-means).
 *
 * Each round asks one query: the sums and sizes of all clusters, whose members are decided by
 * the centres released in the round before (kmeans_lloyd.T1).  All else is post-processing: a
 * public start, a mean that is not trusted further than its noise allows, a pull back into the
 * ball.  A cluster without records gets noise like any other; nothing branches on it.
 */
#include "mechanism/mechanism.h"
#include "domain/domain.h"
#include "parallel/parallel.h"
#include "random/random.h"
#include <math.h>
#include <string.h>

enum { CLUSTERS, ROUNDS, PARAM_COUNT };
enum { CANDIDATES_A_CENTER = 8 };
static const double STEP_APART = 0.05; /* of the radius */

static const clo_param params[PARAM_COUNT] = {
    [CLUSTERS] = { "clusters", CLO_PARAM_INT, 1, CLO_MAX_CLUSTERS, 8, NULL,
                   "how many centres to find" },
    [ROUNDS] = { "rounds", CLO_PARAM_INT, 1, 100, 5, NULL,
                 "passes over the data, each with its share of the budget" },
};

typedef struct lloyd_plan {
    size_t clusters;
    uint64_t rounds;
} lloyd_plan;

static clo_status make_plan(clo_draft *draft, void *state, clo_error *err)
{
    lloyd_plan *const plan = state;
    const size_t d = draft->domain->cols;
    clo_slot slot;
    double mu;
    plan->clusters = (size_t)draft->values[CLUSTERS];
    plan->rounds = (uint64_t)draft->values[ROUNDS];
    const size_t k = plan->clusters, candidates = k * CANDIDATES_A_CENTER;
    const clo_event rounds = { .kind = CLO_EVENT_GAUSSIAN, .parameter = 1, .count = plan->rounds };
    CLO_TRY(clo_calibrate(&rounds, 1, draft->budget, &mu, err));
    CLO_TRY(clo_i_plan_gaussian_sum(draft->domain, k, mu, plan->rounds,
                                    "sums and sizes of the clusters, one ask a round", &slot, err));
    draft->workspace = 3 * clo_i_take_size(k * d, sizeof(double)) +
                       2 * clo_i_take_size(k, sizeof(double)) +
                       clo_i_take_size(candidates * d, sizeof(double)) +
                       clo_i_take_size(candidates, sizeof(double));
    return clo_i_draft_add(draft, &slot, err);
}

/* ---- a public start -------------------------------------------------------------------- */

static void draw_points(clo_stream *stream, size_t count, size_t d, double *points)
{
    /* In many dimensions a uniform point of the ball is near the sphere, and records are not. */
    const double power = 1 / fmin((double)d, 3);
    for (size_t i = 0; i < count; i++) {
        double square = 0;
        for (size_t j = 0; j < d; j++) {
            points[i * d + j] = clo_i_random_normal(stream);
            square += points[i * d + j] * points[i * d + j];
        }
        const double radius = pow(clo_i_random_unit(stream), power) / sqrt(square);
        for (size_t j = 0; j < d; j++) points[i * d + j] *= radius;
    }
}

static double squared_distance(const double *a, const double *b, size_t d)
{
    double total = 0;
    for (size_t j = 0; j < d; j++) total += (a[j] - b[j]) * (a[j] - b[j]);
    return total;
}

/* Of the candidates, k that lie far apart: the next one is always the farthest from those taken. */
static void spread_out(const double *points, size_t count, size_t k, size_t d, double *nearest,
                       double *centers)
{
    for (size_t i = 0; i < count; i++) nearest[i] = INFINITY;
    for (size_t c = 0, next = 0; c < k; c++) {
        memcpy(centers + c * d, points + next * d, d * sizeof *centers);
        const double *const taken = centers + c * d;
        next = 0;
        for (size_t i = 0; i < count; i++) {
            nearest[i] = fmin(nearest[i], squared_distance(points + i * d, taken, d));
            if (nearest[i] > nearest[next]) next = i;
        }
    }
}

static clo_status start(clo_context *context, size_t k, size_t d, double *centers, clo_error *err)
{
    const size_t count = k * CANDIDATES_A_CENTER;
    const size_t mark = clo_i_workspace_mark(context->workspace);
    const uint64_t ask = clo_i_rng_next_ask(context->rng);
    double *points = NULL, *nearest = NULL;
    clo_stream *stream = NULL;
    clo_status status = clo_i_take(context->workspace, count * d, sizeof *points, &points, err);
    if (!status) status = clo_i_take(context->workspace, count, sizeof *nearest, &nearest, err);
    if (!status) status = clo_i_stream_open(context->rng, ask, 0, &stream, err);
    if (!status) {
        draw_points(stream, count, d, points);
        spread_out(points, count, k, d, nearest, centers);
        status = clo_i_stream_check(stream, err);
        clo_i_stream_close(stream);
    }
    clo_i_workspace_release(context->workspace, mark);
    if (!status)
        status = clo_i_comm_broadcast(context->comm, centers, k * d * sizeof *centers, err);
    return status;
}

/* ---- a round --------------------------------------------------------------------------- */

static bool within_noise_of_empty(const clo_slot *slot, double size)
{
    return size <= 2 * (double)slot->scale / (double)slot->count_unit;
}

static void pull_into_ball(double *center, size_t d)
{
    double norm = 0;
    for (size_t j = 0; j < d; j++) norm += center[j] * center[j];
    if (norm > 1)
        for (size_t j = 0; j < d; j++) center[j] /= sqrt(norm);
}

/* Moves a centre toward the noisy mean, as far as the mean can be trusted: not at all where the
 * noisy size is within the noise of 0, and otherwise by the positive-part James-Stein factor. */
static void move(const clo_slot *slot, size_t d, const double *sum, double size, double *center)
{
    if (within_noise_of_empty(slot, size)) return;
    const double noise = ldexp((double)slot->scale, -slot->bits) / size;
    double step = 0, trust = 1;
    for (size_t j = 0; j < d; j++)
        step += (sum[j] / size - center[j]) * (sum[j] / size - center[j]);
    if (d > 2 && step > 0) trust = fmax(0, 1 - ((double)d - 2) * noise * noise / step);
    for (size_t j = 0; j < d; j++) center[j] += trust * (sum[j] / size - center[j]);
    pull_into_ball(center, d);
}

/* A centre that seems to have no records is better used beside the one that has the most: the two
 * step apart along a random line, and the next round tells them apart.  Noisy sizes and public
 * randomness alone decide (kmeans_lloyd.T1). */
static clo_status revive(clo_context *context, size_t k, size_t d, double *centers, double *sizes,
                         clo_error *err)
{
    const clo_slot *const slot = &context->meter->slots[0];
    const uint64_t ask = clo_i_rng_next_ask(context->rng);
    clo_stream *stream = NULL;
    CLO_TRY(clo_i_stream_open(context->rng, ask, 0, &stream, err));
    for (size_t c = 0; c < k; c++) {
        size_t largest = 0;
        double square = 0, *const weak = centers + c * d;
        if (!within_noise_of_empty(slot, sizes[c])) continue;
        for (size_t other = 1; other < k; other++)
            if (sizes[other] > sizes[largest]) largest = other;
        if (largest == c || within_noise_of_empty(slot, sizes[largest])) break;
        double *const strong = centers + largest * d;
        for (size_t j = 0; j < d; j++) {
            weak[j] = clo_i_random_normal(stream);
            square += weak[j] * weak[j];
        }
        for (size_t j = 0; j < d; j++) {
            const double step = STEP_APART * weak[j] / sqrt(square);
            weak[j] = strong[j] - step;
            strong[j] += step;
        }
        pull_into_ball(weak, d);
        pull_into_ball(strong, d);
        sizes[c] = sizes[largest] /= 2;
    }
    const clo_status status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    if (status) return status;
    return clo_i_comm_broadcast(context->comm, centers, k * d * sizeof *centers, err);
}

static clo_status one_round(clo_context *context, const clo_bounded *data, size_t k, size_t d,
                            double *centers, double *sums, double *sizes, clo_error *err)
{
    const clo_slot *const slot = &context->meter->slots[0];
    const size_t mark = clo_i_workspace_mark(context->workspace);
    clo_assign rule;
    clo_status status =
        clo_i_assign_centers(context->workspace, centers, k, d, slot->bits, &rule, err);
    if (!status) status = clo_i_ask_gaussian_sum(context, 0, data, &rule, sums, sizes, err);
    if (!status)
        for (size_t c = 0; c < k; c++) move(slot, d, sums + c * d, sizes[c], centers + c * d);
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

static clo_status run(const void *state, const clo_domain *domain, const clo_bounded *data,
                      clo_context *context, clo_release *out, clo_error *err)
{
    const lloyd_plan *const plan = state;
    const size_t k = plan->clusters, d = domain->cols;
    double *centers = NULL, *sums = NULL, *sizes = NULL;
    CLO_TRY(clo_i_take(context->workspace, k * d, sizeof *centers, &centers, err));
    CLO_TRY(clo_i_take(context->workspace, k * d, sizeof *sums, &sums, err));
    CLO_TRY(clo_i_take(context->workspace, k, sizeof *sizes, &sizes, err));
    CLO_TRY(start(context, k, d, centers, err));
    for (uint64_t round = 0; round < plan->rounds; round++) {
        context->progress_from = (double)round / (double)plan->rounds;
        context->progress_to = (double)(round + 1) / (double)plan->rounds;
        CLO_TRY(one_round(context, data, k, d, centers, sums, sizes, err));
        if (round + 2 < plan->rounds) CLO_TRY(revive(context, k, d, centers, sizes, err));
    }
    for (size_t c = 0; c < k; c++) {
        clo_i_domain_unmap_point(domain, centers + c * d);
        sizes[c] = fmax(sizes[c], 0);
    }
    CLO_TRY(clo_i_release_put(out, "centers", centers, 2, (size_t[]){ k, d }, err));
    return clo_i_release_put(out, "weights", sizes, 1, (size_t[]){ k }, err);
}

static double predict(const void *state, const clo_domain *domain, const clo_slot *slots,
                      double rows)
{
    const lloyd_plan *const plan = state;
    const double noise = ldexp((double)slots[0].scale, -slots[0].bits);
    return sqrt((double)domain->cols) * noise * (double)plan->clusters / rows;
}

extern const clo_mechanism clo_i_mechanism_kmeans_lloyd;
const clo_mechanism clo_i_mechanism_kmeans_lloyd = {
    .family = "kmeans",
    .method = "lloyd",
    .summary = "k centres, by Lloyd's rounds on noisy sums and sizes",
    .proof = "proofs/kmeans_lloyd.md",
    .guarantee = CLO_EXACT,
    .params = params,
    .param_count = PARAM_COUNT,
    .plan_size = sizeof(lloyd_plan),
    .plan = make_plan,
    .run = run,
    .predict = predict,
    .prediction = "root mean square distance of a released centre from the exact mean of its "
                  "cluster, as a share of the norm, for clusters of equal size",
};
