/*
 * center_doubt.c - how far to trust the centres of kmeans/moments: the noise is public, so a run
 * can be imagined again, with what was released in the place of the truth.  Post-processing.
 */
#include "mechanism/kmeans/center_moments.h"
#include "random/random.h"
#include "query/gaussian_moment.h"
#include "query/gaussian_moment3.h"
#include <math.h>
#include <string.h>

/* Adds fresh noise of the law that the answer's had. */
static void add_noise(const clo_i_center_plan *plan, clo_stream *stream, double *moments)
{
    const size_t d = plan->own + 1;
    double *at = moments;
    for (size_t i = 0; i < d; i++)
        for (size_t j = i; j < d; j++)
            for (size_t k = j; k < d; k++) {
                if (plan->order == 3)
                    *at++ += plan->tensor_noise * clo_i_random_normal(stream) /
                             sqrt((double)clo_i_moment3_multiplicity(i, j, k));
                for (size_t l = k; plan->order == 4 && l < d; l++)
                    *at++ += plan->tensor_noise * clo_i_random_normal(stream) /
                             sqrt((double)clo_i_moment_multiplicity(i, j, k, l));
            }
}

/* The rounds that would have followed, on clusters whose means are the released centres. */
static void refine(const clo_i_center_plan *plan, const clo_line *line, clo_stream *stream,
                   const double *truth, double size, double *sum, double *center)
{
    const double noise = ldexp((double)line->scale, -line->bits);
    const double noise_of_size = (double)line->scale / (double)line->count_unit;
    double variance = INFINITY;
    for (uint64_t round = 0; round < plan->rounds; round++) {
        for (size_t j = 0; j < plan->own; j++)
            sum[j] = size * truth[j] + noise * clo_i_random_normal(stream);
        clo_i_center_step(line, plan->own, sum, size + noise_of_size * clo_i_random_normal(stream),
                          center, &variance);
    }
}

/* What one imagined run works with. */
typedef struct imagined {
    double *clean, *moments; /* of the model, and with noise */
    double *sum;             /* own */
    clo_center_model again;
} imagined;

static clo_status imagine(const clo_i_center_plan *plan, const clo_center_job *job,
                          const clo_center_model *model, const clo_line *rounds,
                          const double *centers, const double *sizes, size_t entries,
                          clo_stream *stream, imagined *work, double *moves, clo_error *err)
{
    const size_t k = plan->clusters, own = plan->own;
    const double back = sqrt(1 + plan->height * plan->height);
    memcpy(work->moments, work->clean, entries * sizeof *work->moments);
    memcpy(work->again.centers, model->centers, k * own * sizeof(double));
    memcpy(work->again.weights, model->weights, k * sizeof(double));
    work->again.spread = model->spread;
    add_noise(plan, stream, work->moments);
    CLO_TRY(clo_i_center_refit(job, &work->again, err));
    for (size_t l = 0; l < k; l++) {
        double *const center = work->again.centers + l * own;
        const double *const truth = centers + l * own;
        for (size_t j = 0; j < own; j++)
            center[j] = truth[j] + (center[j] - model->centers[l * own + j]) * back;
        if (rounds) refine(plan, rounds, stream, truth, sizes[l], work->sum, center);
        for (size_t j = 0; j < own; j++)
            moves[l * own + j] += (center[j] - truth[j]) * (center[j] - truth[j]);
    }
    return CLO_OK;
}

clo_status clo_i_center_doubt(const clo_i_center_plan *plan, const clo_center_job *job,
                              const clo_center_model *model, const clo_line *rounds,
                              const double *centers, const double *sizes, double *moves,
                              clo_error *err)
{
    const size_t k = plan->clusters, own = plan->own, d = own + 1;
    const size_t entries = plan->order == 3 ? clo_i_moment3_size(d) : clo_i_moment_size(d);
    double *room = NULL;
    clo_stream *stream = NULL;
    clo_status status = clo_i_alloc(2 * entries + k * (own + 1) + own, sizeof *room, &room, err);
    if (status) return status;
    imagined work = { .clean = room, .moments = room + entries };
    work.again.centers = work.moments + entries;
    work.again.weights = work.again.centers + k * own;
    work.sum = work.again.weights + k;
    clo_center_job job_again = *job;
    job_again.moments = work.moments;
    memset(moves, 0, k * own * sizeof *moves);
    status = clo_i_center_moments(job, model, work.clean, err);
    if (!status)
        status = clo_i_stream_open(job->rng, clo_i_rng_next_ask(job->rng), 0, &stream, err);
    for (size_t turn = 0; !status && turn < plan->doubts; turn++)
        status = imagine(plan, &job_again, model, rounds, centers, sizes, entries, stream, &work,
                         moves, err);
    if (!status) status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    clo_i_free(room);
    for (size_t e = 0; e < k * own; e++) moves[e] = sqrt(moves[e] / (double)plan->doubts);
    return status;
}
