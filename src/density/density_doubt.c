/*
 * density_doubt.c - how far noise may have moved centres that were read from a density: the answers
 * are noised once more, by as much as they were, and the density and the centres are found again.
 * How far they move then is about how far the first noise has moved them.
 */
#include "density/density.h"
#include "density/density_internal.h"
#include <math.h>
#include <string.h>

enum { DRAWS = 8, STEPS = 30 };

typedef struct imagined {
    double *told, *logs;     /* as they were */
    double *centers, *moves; /* clusters x cols; clusters: sums of squared moves */
} imagined;

static size_t numbers_of(const clo_density *density)
{
    size_t count = 0;
    for (size_t a = 0; a < density->answered; a++)
        count += density->answers[a].groups * density->answers[a].stride;
    return count;
}

/* All that was told, to or from one array. */
static void copy_told(clo_density *density, double *kept, bool back)
{
    for (size_t a = 0; a < density->answered; a++) {
        clo_density_answer *const at = &density->answers[a];
        const size_t count = at->groups * at->stride;
        memcpy(back ? at->told : kept, back ? kept : at->told, count * sizeof *kept);
        kept += count;
    }
}

static void noise_again(clo_density *density, clo_stream *stream)
{
    for (size_t a = 0; a < density->answered; a++) {
        clo_density_answer *const at = &density->answers[a];
        const size_t features = clo_i_density_features(at->kind, density->cols);
        for (size_t c = 0; c < at->groups; c++)
            for (size_t j = 0; j < features; j++)
                at->told[c * at->stride + j] += clo_i_random_normal(stream);
    }
}

static clo_status imagine(clo_density *density, clo_rng *rng, bool median, clo_stream *stream,
                          imagined *m, size_t clusters, const double *centers, clo_error *err)
{
    const clo_density_solver from_there = { rng, 1, 0, median };
    const size_t d = density->cols;
    noise_again(density, stream);
    memcpy(density->logs, m->logs, density->count * sizeof *m->logs);
    clo_i_density_fit(density, STEPS);
    memcpy(m->centers, centers, clusters * d * sizeof *centers);
    CLO_TRY(clo_i_density_centers(density, &from_there, clusters, m->centers, NULL, NULL, err));
    for (size_t e = 0; e < clusters * d; e++)
        m->moves[e / d] += (m->centers[e] - centers[e]) * (m->centers[e] - centers[e]);
    copy_told(density, m->told, true);
    return CLO_OK;
}

clo_status clo_i_density_doubt(clo_density *density, clo_workspace *space,
                               const clo_density_solver *how, size_t clusters,
                               const double *centers, double *doubts, clo_error *err)
{
    const size_t mark = clo_i_workspace_mark(space), d = density->cols;
    clo_stream *stream = NULL;
    imagined m;
    CLO_TRY(clo_i_take(space, numbers_of(density), sizeof(double), &m.told, err));
    CLO_TRY(clo_i_take(space, density->count, sizeof(double), &m.logs, err));
    CLO_TRY(clo_i_take(space, clusters * d, sizeof(double), &m.centers, err));
    CLO_TRY(clo_i_take(space, clusters, sizeof(double), &m.moves, err));
    CLO_TRY(clo_i_stream_open(how->rng, clo_i_rng_next_ask(how->rng), 0, &stream, err));
    copy_told(density, m.told, false);
    memcpy(m.logs, density->logs, density->count * sizeof *m.logs);
    clo_status status = CLO_OK;
    for (int draw = 0; draw < DRAWS && !status; draw++)
        status = imagine(density, how->rng, how->median, stream, &m, clusters, centers, err);
    if (!status) status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    memcpy(density->logs, m.logs, density->count * sizeof *m.logs);
    for (size_t i = 0; i < density->count; i++)
        density->weights[i] = density->base[i] * exp(density->logs[i]);
    for (size_t c = 0; c < clusters; c++) doubts[c] = sqrt(m.moves[c] / DRAWS);
    clo_i_workspace_release(space, mark);
    return status;
}
