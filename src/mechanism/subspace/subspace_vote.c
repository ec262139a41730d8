/*
 * subspace_vote.c - a vote among subspaces (singhal2021, Algorithm 3, with the test of closeness
 * that it forgets): which of them most agree with, and the mean of those.
 */
#include "mechanism/subspace/subspace_vote.h"
#include "linalg/linalg.h"
#include "mechanism/subspace/subspace_cells.h"
#include <string.h>

/* near: count x count.  ||P_i - P_j|| is the sine of the largest angle.  sines: dim. */
static clo_status compare_all(const clo_vote *v, double *sines, bool *near, clo_error *err)
{
    const size_t cells = v->cols * v->dim, n = v->count;
    for (size_t i = 0; i < n; i++) {
        near[i * n + i] = true;
        for (size_t j = i + 1; j < n; j++) {
            CLO_TRY(clo_i_sin_angles(v->bases + i * cells, v->bases + j * cells, v->cols, v->dim,
                                     sines, err));
            near[i * n + j] = near[j * n + i] = sines[0] <= 2 * v->alpha;
        }
    }
    return CLO_OK;
}

/* The first on a tie. */
static size_t most_agreed(const bool *near, size_t count, size_t *most)
{
    size_t best = 0;
    *most = 0;
    for (size_t i = 0; i < count; i++) {
        size_t agreeing = 0;
        for (size_t j = 0; j < count; j++) agreeing += near[i * count + j];
        if (agreeing <= *most) continue;
        *most = agreeing;
        best = i;
    }
    return best;
}

/* The subspace that is nearest to the mean of the projections that are near: the top directions of
 * all their bases together (subspace_boosted.T4).  columns: as large as all bases. */
static clo_status take_mean(const clo_vote *v, const bool *near, size_t agreeing, double *columns,
                            double *basis, clo_error *err)
{
    const size_t d = v->cols, k = v->dim, width = agreeing * k;
    size_t next = 0;
    for (size_t i = 0; i < v->count; i++) {
        if (!near[i]) continue;
        for (size_t j = 0; j < d; j++)
            memcpy(columns + j * width + next, v->bases + (i * d + j) * k, k * sizeof *basis);
        next += k;
    }
    return clo_i_top_directions(columns, d, width, k, basis, err);
}

typedef struct scratch {
    double *sines;   /* dim */
    double *columns; /* cols x dim, count times */
    bool *near;      /* count x count */
} scratch;

static clo_status take_scratch(clo_workspace *space, size_t count, size_t cols, size_t dim,
                               scratch *s, clo_error *err)
{
    CLO_TRY(clo_i_take(space, dim, sizeof *s->sines, &s->sines, err));
    CLO_TRY(clo_i_take(space, count * cols * dim, sizeof *s->columns, &s->columns, err));
    return clo_i_take(space, count * count, sizeof *s->near, &s->near, err);
}

clo_status clo_i_subspace_vote_room(clo_workspace *space, size_t count, size_t cols, size_t dim,
                                    clo_error *err)
{
    const size_t mark = clo_i_workspace_mark(space);
    scratch unused;
    CLO_TRY(take_scratch(space, count, cols, dim, &unused, err));
    clo_i_workspace_release(space, mark);
    return CLO_OK;
}

clo_status clo_i_subspace_vote(clo_workspace *workspace, const clo_vote *v, double *basis,
                               size_t *agreeing, clo_error *err)
{
    const size_t cells = v->cols * v->dim, mark = clo_i_workspace_mark(workspace);
    scratch s;
    CLO_TRY(take_scratch(workspace, v->count, v->cols, v->dim, &s, err));
    clo_status status = compare_all(v, s.sines, s.near, err);
    if (!status) {
        const size_t chosen = most_agreed(s.near, v->count, agreeing);
        const bool found = 2 * *agreeing > v->count; /* none of none is no majority */
        if (found) memcpy(basis, v->bases + chosen * cells, cells * sizeof *basis);
        if (found && v->mean)
            status = take_mean(v, s.near + chosen * v->count, *agreeing, s.columns, basis, err);
    }
    clo_i_workspace_release(workspace, mark);
    return status == CLO_FORMAT || status == CLO_ARGUMENT ? CLO_OK : status; /* the one stays */
}
