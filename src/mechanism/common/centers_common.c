/*
 * centers_common.c - what the methods that release centres share: a public start, a round on noisy
 * sums and sizes, a mean that is not trusted further than its noise allows, the way back to the
 * data's own units.  All of it but the ask of a round is post-processing of released values.
 */
#include "mechanism/common/centers_common.h"
#include "release/public_fit.h"
#include "domain/domain.h"
#include "random/random.h"
#include "ask/assign.h"
#include "query/cluster_sum.h"
#include <math.h>
#include <string.h>

enum { CANDIDATES_A_CENTER = 8 };
static const double GUESSED_ROWS_A_CLUSTER = 5000;
static const double STEP_APART = 0.05; /* of the radius */

double clo_i_guessed_rows(const clo_domain *domain, size_t clusters)
{
    return domain->rows ? (double)domain->rows : GUESSED_ROWS_A_CLUSTER * (double)clusters;
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

double clo_i_squared_distance(const double *a, const double *b, size_t d)
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
            nearest[i] = fmin(nearest[i], clo_i_squared_distance(points + i * d, taken, d));
            if (nearest[i] > nearest[next]) next = i;
        }
    }
}

/* nearest: the squared distance of each to those taken. */
static clo_status take_candidates(clo_workspace *space, size_t count, size_t d, double **points,
                                  double **nearest, clo_error *err)
{
    CLO_TRY(clo_i_take(space, count * d, sizeof **points, points, err));
    return clo_i_take(space, count, sizeof **nearest, nearest, err);
}

clo_status clo_i_start_centers_room(clo_workspace *space, size_t k, size_t d, clo_error *err)
{
    const size_t mark = clo_i_workspace_mark(space);
    double *points, *nearest;
    CLO_TRY(take_candidates(space, k * CANDIDATES_A_CENTER, d, &points, &nearest, err));
    clo_i_workspace_release(space, mark);
    return CLO_OK;
}

clo_status clo_i_start_centers(clo_context *context, size_t k, size_t d, double *centers,
                               clo_error *err)
{
    const size_t count = k * CANDIDATES_A_CENTER;
    const size_t mark = clo_i_workspace_mark(context->workspace);
    const uint64_t ask = clo_i_rng_next_ask(context->rng);
    double *points = NULL, *nearest = NULL;
    clo_stream *stream = NULL;
    clo_status status = take_candidates(context->workspace, count, d, &points, &nearest, err);
    if (!status) status = clo_i_stream_open(context->rng, ask, 0, &stream, err);
    if (!status) {
        draw_points(stream, count, d, points);
        spread_out(points, count, k, d, nearest, centers);
        status = clo_i_stream_check(stream, err);
        clo_i_stream_close(stream);
    }
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

/* ---- a round --------------------------------------------------------------------------- */

/* Moves a centre toward the noisy mean, as far as the mean can be trusted: not at all where the
 * noisy size is within the noise of 0, and otherwise by the positive-part James-Stein factor. */
static void move_center(const clo_line *line, size_t d, const double *sum, double size,
                        double *center)
{
    if (clo_i_size_is_noise(line, size)) return;
    const double noise = clo_i_line_deviation(line) / size;
    double step = 0, trust = 1;
    for (size_t j = 0; j < d; j++)
        step += (sum[j] / size - center[j]) * (sum[j] / size - center[j]);
    if (d > 2 && step > 0) trust = fmax(0, 1 - ((double)d - 2) * noise * noise / step);
    for (size_t j = 0; j < d; j++) center[j] += trust * (sum[j] / size - center[j]);
    clo_i_pull_into_ball(center, d);
}

clo_status clo_i_center_round_room(clo_workspace *space, size_t k, size_t d, clo_error *err)
{
    const size_t mark = clo_i_workspace_mark(space);
    CLO_TRY(clo_i_assign_room(space, CLO_ASSIGN_CENTERS, k, d, 0, err));
    clo_i_workspace_release(space, mark);
    return CLO_OK;
}

clo_status clo_i_center_round(clo_context *context, size_t ask, const clo_bounded *data, size_t d,
                              double *centers, double *sums, double *sizes, clo_error *err)
{
    const clo_line *const line = &context->meter->lines[ask];
    const size_t k = line->groups, mark = clo_i_workspace_mark(context->workspace);
    clo_assign rule;
    clo_status status =
        clo_i_assign_centers(context->workspace, centers, k, d, line->bits, &rule, err);
    if (!status) status = clo_i_ask_cluster_sum(context, ask, data, &rule, sums, sizes, err);
    if (!status)
        for (size_t c = 0; c < k; c++)
            move_center(line, d, sums + c * d, sizes[c], centers + c * d);
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

/* Noisy sizes and public randomness alone decide. */
clo_status clo_i_revive_centers(clo_context *context, size_t k, size_t d, double weak,
                                double *centers, double *sizes, clo_error *err)
{
    const uint64_t ask = clo_i_rng_next_ask(context->rng);
    clo_stream *stream = NULL;
    CLO_TRY(clo_i_stream_open(context->rng, ask, 0, &stream, err));
    for (size_t c = 0; c < k; c++) {
        size_t largest = 0;
        double square = 0, *const idle = centers + c * d;
        if (sizes[c] > weak) continue;
        for (size_t other = 1; other < k; other++)
            if (sizes[other] > sizes[largest]) largest = other;
        if (largest == c || sizes[largest] <= weak) break;
        double *const strong = centers + largest * d;
        for (size_t j = 0; j < d; j++) {
            idle[j] = clo_i_random_normal(stream);
            square += idle[j] * idle[j];
        }
        for (size_t j = 0; j < d; j++) {
            const double step = STEP_APART * idle[j] / sqrt(square);
            idle[j] = strong[j] - step;
            strong[j] += step;
        }
        clo_i_pull_into_ball(idle, d);
        clo_i_pull_into_ball(strong, d);
        sizes[c] = sizes[largest] /= 2;
    }
    const clo_status status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    return status;
}

/* ---- the release ----------------------------------------------------------------------- */

/* From what the lens shows back to all coordinates of the ball. */
void clo_i_unfold_point(const double *frame, size_t d, size_t r, double scale, const double *seen,
                        double *whole)
{
    for (size_t j = 0; j < d; j++) {
        double sum = 0;
        for (size_t i = 0; i < r; i++) sum += frame[j * r + i] * seen[i];
        whole[j] = sum / scale;
    }
    clo_i_pull_into_ball(whole, d);
}

clo_i_center_noise clo_i_noise_of_sums(const clo_line *line)
{
    return (clo_i_center_noise){ .sum = clo_i_line_deviation(line),
                                 .size = clo_i_line_count_deviation(line) };
}

clo_status clo_i_release_centers(const clo_domain *domain, clo_i_center_noise noise, size_t k,
                                 double *centers, double *sizes, clo_release *out, clo_error *err)
{
    const size_t d = domain->cols;
    if (sizes) clo_i_fit_sizes(domain, k, sizes);
    for (size_t c = 0; c < k; c++) {
        const double width = noise.widths ? noise.widths[c] : 1;
        clo_i_domain_unmap_point(domain, centers + c * d);
        clo_i_fit_point(domain, centers + c * d);
        clo_i_cut_point(domain, noise.sum * width / (sizes ? fmax(sizes[c], 1) : 1),
                        centers + c * d);
        if (sizes) sizes[c] = clo_i_cut_digits(sizes[c], noise.size, 0);
    }
    CLO_TRY(clo_i_release_put(out, "centers", centers, 2, (size_t[]){ k, d }, err));
    return sizes ? clo_i_release_put(out, "sizes", sizes, 1, (size_t[]){ k }, err) : CLO_OK;
}
