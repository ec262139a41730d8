/*
 * local_choose.c - how many clusters there are, from the released cells: for nothing.
 *
 * Any number of centres can be tried on the cells.  What more centres would win is not to be read
 * off the same noise that chose them, so the noise is thinned: of the noisy sums S, with fresh
 * noise W of the same law, S + tW is what centres are fitted to, and S - W/t, whose noise is
 * independent of the other's where it is Gaussian, is what they are judged on.  The mean of a few
 * such draws is a curve over the number of clusters; the sharpest bend of its logarithm, of those
 * after which there is little more to win, is the number, if there is a bend at all.
 */
#include "mechanism/common/local_internal.h"
#include "mechanism/common/solver_job.h"
#include "parallel/parallel.h"
#include "random/random.h"
#include "solver/solver.h"
#include <math.h>
#include <string.h>

enum { DRAWS = 6, RESTARTS = 4 };
static const double THIN = 0.7;

typedef struct scratch {
    double *sums, *fitted, *judged; /* cells x cols: about the common mean, and thinned */
    double *noise;                  /* cells: variances of a fitted point's coordinate */
    double *centers;                /* most x cols */
    double *totals, *doubts;        /* most: sizes, and variances of sums */
    uint32_t *labels;               /* cells */
    double *middle;                 /* cols */
} scratch;

static clo_status take_scratch(clo_workspace *space, size_t cells, size_t cols, size_t most,
                               scratch *s, clo_error *err)
{
    CLO_TRY(clo_i_take(space, cells * cols, sizeof(double), &s->sums, err));
    CLO_TRY(clo_i_take(space, cells * cols, sizeof(double), &s->fitted, err));
    CLO_TRY(clo_i_take(space, cells * cols, sizeof(double), &s->judged, err));
    CLO_TRY(clo_i_take(space, cells, sizeof(double), &s->noise, err));
    CLO_TRY(clo_i_take(space, most * cols, sizeof(double), &s->centers, err));
    CLO_TRY(clo_i_take(space, most, sizeof(double), &s->totals, err));
    CLO_TRY(clo_i_take(space, most, sizeof(double), &s->doubts, err));
    CLO_TRY(clo_i_take(space, cells, sizeof(uint32_t), &s->labels, err));
    return clo_i_take(space, cols, sizeof(double), &s->middle, err);
}

clo_status clo_i_local_choose_room(clo_workspace *space, size_t cells, size_t cols, size_t most,
                                   clo_error *err)
{
    const size_t mark = clo_i_workspace_mark(space);
    scratch unused;
    CLO_TRY(take_scratch(space, cells, cols, most, &unused, err));
    CLO_TRY(clo_i_local_shrink_room(space, cells, cols, err));
    clo_i_workspace_release(space, mark);
    return CLO_OK;
}

/* The variance of a coordinate of a cell's sum. */
static double noise_of_sum(const clo_i_local_reading *r, size_t i)
{
    return r->sizes[i] * r->sizes[i] * r->noise[i];
}

/* Sums about the mean of all; and the loss of one cluster, times the number of records. */
static double center_sums(const clo_i_local_reading *r, scratch *s, double *size)
{
    const size_t d = r->cols;
    double loss = 0;
    *size = 0;
    memset(s->middle, 0, d * sizeof(double));
    for (size_t i = 0; i < r->count; i++) {
        *size += r->sizes[i];
        for (size_t j = 0; j < d; j++) s->middle[j] += r->sizes[i] * r->means[i * d + j];
    }
    for (size_t j = 0; j < d; j++) s->middle[j] /= *size;
    for (size_t i = 0; i < r->count; i++) {
        loss += r->sizes[i] * r->variances[i] - (double)d * noise_of_sum(r, i) / r->sizes[i];
        for (size_t j = 0; j < d; j++) {
            const double sum = r->sizes[i] * (r->means[i * d + j] - s->middle[j]);
            s->sums[i * d + j] = sum;
            loss += sum * sum / r->sizes[i];
        }
    }
    memset(s->middle, 0, d * sizeof(double)); /* from here on it is the origin */
    return loss;
}

static void thin(clo_stream *stream, const clo_i_local_reading *r, scratch *s)
{
    const size_t d = r->cols;
    for (size_t i = 0; i < r->count; i++) {
        const double deviation = sqrt(noise_of_sum(r, i));
        s->noise[i] = r->noise[i] * (1 + THIN * THIN);
        for (size_t j = 0; j < d; j++) {
            const double drawn = deviation * clo_i_random_normal(stream);
            s->fitted[i * d + j] = (s->sums[i * d + j] + THIN * drawn) / r->sizes[i];
            s->judged[i * d + j] = s->sums[i * d + j] - drawn / THIN;
        }
    }
}

/* What k clusters with these labels win over one, of the sum of squares, as the judges see it. */
static double won(const clo_i_local_reading *r, scratch *s, size_t k)
{
    const size_t d = r->cols;
    double gain = 0;
    memset(s->centers, 0, k * d * sizeof(double));
    for (size_t c = 0; c < k; c++) s->totals[c] = s->doubts[c] = 0;
    for (size_t i = 0; i < r->count; i++) {
        const size_t c = s->labels[i];
        s->totals[c] += r->sizes[i];
        s->doubts[c] += noise_of_sum(r, i) * (1 + 1 / (THIN * THIN));
        for (size_t j = 0; j < d; j++) s->centers[c * d + j] += s->judged[i * d + j];
    }
    for (size_t c = 0; c < k; c++) {
        double square = -(double)d * s->doubts[c];
        for (size_t j = 0; j < d; j++) square += s->centers[c * d + j] * s->centers[c * d + j];
        if (s->totals[c] > 0) gain += square / s->totals[c];
    }
    return gain;
}

static clo_status judge(clo_context *context, const clo_i_local_reading *r, scratch *s, size_t k,
                        double *gain, clo_error *err)
{
    const clo_solver_input job = clo_i_solver_job(context, s->fitted, r->count, r->cols);
    clo_kmeans_options options = clo_i_kmeans_default(k);
    double cost;
    options.weights = r->sizes;
    options.restarts = k > 1 && r->count > k ? RESTARTS : 1;
    CLO_TRY(clo_i_kmeans(&job, &options, s->centers, s->labels, &cost, err));
    *gain += won(r, s, k);
    return CLO_OK;
}

clo_status clo_i_local_choose(clo_context *context, const clo_i_local_reading *r, size_t most,
                              double *curve, clo_error *err)
{
    const size_t mark = clo_i_workspace_mark(context->workspace);
    const uint64_t ask = clo_i_rng_next_ask(context->rng);
    clo_stream *stream = NULL;
    scratch s;
    double size;
    CLO_TRY(take_scratch(context->workspace, r->cells, r->cols, r->clusters, &s, err));
    const double loss = center_sums(r, &s, &size), whole = fmax(loss, 1e-12 * size);
    for (size_t k = 0; k < most; k++) curve[k] = 0;
    CLO_TRY(clo_i_stream_open(context->rng, ask, 0, &stream, err));
    clo_status status = CLO_OK;
    for (int draw = 0; draw < DRAWS && !status; draw++) {
        thin(stream, r, &s);
        if (r->count > 1)
            status = clo_i_local_shrink(context->workspace, r->cells, s.fitted, r->count, r->cols,
                                        s.noise, s.middle, err);
        for (size_t k = 1; k <= most && !status; k++)
            status = judge(context, r, &s, k, &curve[k - 1], err);
    }
    if (!status) status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    for (size_t k = 0; k < most; k++) curve[k] = fmax(1 - curve[k] / DRAWS / whole, 0);
    clo_i_workspace_release(context->workspace, mark);
    return status;
}
