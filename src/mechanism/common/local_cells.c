/*
 * local_cells.c - the cells of a local method: more of them than there are to be centres, looked at
 * in a few passes, each at the width that the pass before has found.
 *
 * The first pass knows where the records are and how far they spread, and nothing else: its cells
 * are about random points there.  From then on each cell has a mean and a width of its own, and
 * the next pass looks at differences to that mean, cut to that width: so its noise is that of a
 * small ball, and the mean gets sharper as the cell gets smaller.  A cell that holds no more than
 * noise is used to split the one with the most to lose.  Everything here but the asks is post-
 * processing.
 */
#include "mechanism/common/centers_common.h"
#include "mechanism/common/local_internal.h"
#include "mechanism/common/solver_job.h"
#include "parallel/parallel.h"
#include "ask/assign.h"
#include "random/random.h"
#include "solver/curve.h"
#include "solver/solver.h"
#include <math.h>
#include <string.h>

enum { RESTARTS = 16, FEW_COLUMNS = 16, FEWEST_CELLS = 4 };
static const double ROWS_A_CELL = 3; /* times its noise: what a cell must hold to be worth it */
/* The same where poor ones count, for up to so many a cluster. */
static const double POOR_ROWS_A_CELL = 1, CELLS_A_CLUSTER = 2;
static const double WEAK = 1.5;        /* deviations of a size that may be noise */
static const double STEP_APART = 0.3;  /* of its own deviation, when a cell is split */
static const double LEAST_SHARE = 0.1; /* of the pooled variance that a cell has at least */
/* Of the cells' variance that a cluster has at least: where it is a few cells whose noisy means
 * agree, what is taken off for their noise may be more than all of it, and a width of nothing would
 * cut everything. */
static const double NOT_LESS = 0.25;
static const double FIRST_REACH = 1.25, REACH = 2; /* of squared lengths, in widths */

clo_status clo_i_local_take_cells(const clo_i_local_plan *plan, clo_workspace *space,
                                  clo_i_local_cells *cells, clo_error *err)
{
    const size_t m = plan->cells, c = plan->seen;
    double **const wide[] = { &cells->places, &cells->means, &cells->sums };
    double **const narrow[] = { &cells->sizes, &cells->counted, &cells->variances,
                                &cells->deviations, &cells->squares };
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        CLO_TRY(clo_i_take(space, m * c, sizeof(double), wide[i], err));
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
        CLO_TRY(clo_i_take(space, m, sizeof(double), narrow[i], err));
    CLO_TRY(clo_i_take(space, c, sizeof(double), &cells->middle, err));
    CLO_TRY(clo_i_take(space, m, sizeof(bool), &cells->strong, err));
    return clo_i_take(space, m, sizeof *cells->views, &cells->views, err);
}

/* ---- the first cells ---------------------------------------------------------------------- */

/* How many cells the released number of rows can feed.  Where noise hides every cluster, one: then
 * every pass makes the one mean better, and nothing is spent on what cannot be told. */
static size_t cells_to_use(const clo_i_local_plan *plan, const clo_line *line,
                           const clo_i_local_start *start)
{
    const double noise = clo_i_local_deviation(line) * sqrt((double)plan->seen);
    const double wanted =
        clo_i_local_keeps_poor(plan) ? CELLS_A_CLUSTER * (double)plan->clusters : 0;
    const double poorly = fmin(start->rows / (POOR_ROWS_A_CELL * noise), wanted);
    const double fed = fmax(start->rows / (ROWS_A_CELL * noise), poorly);
    if (start->told < CLO_LOCAL_HIDDEN) return 1;
    const double fewest = plan->fewest ? (double)plan->fewest : FEWEST_CELLS;
    return (size_t)fmin(fmax(ceil(fed), fewest), (double)plan->cells);
}

/* About the centre: in few columns anywhere, in many at one distance, as points at different ones
 * would leave all records to the nearest; with the spread where that is known. */
static void draw_place(clo_stream *stream, const clo_i_local_plan *plan,
                       const clo_i_local_start *start, double radius, double *place)
{
    const size_t d = plan->seen;
    double square = 0, scale = 1;
    for (size_t j = 0; j < d; j++) {
        place[j] = clo_i_random_normal(stream) * (start->spread ? start->spread[j] : 1);
        square += place[j] * place[j];
    }
    if (!start->spread)
        scale = (d <= FEW_COLUMNS ? pow(clo_i_random_unit(stream), 1 / fmin((double)d, 3)) : 0.5) *
                radius / sqrt(square);
    for (size_t j = 0; j < d; j++) place[j] = start->seen[j] + scale * place[j];
    clo_i_pull_into_ball(place, d);
}

static clo_status draw_places(clo_context *context, const clo_i_local_plan *plan,
                              const clo_i_local_start *start, double radius,
                              clo_i_local_cells *cells, clo_error *err)
{
    const uint64_t ask = clo_i_rng_next_ask(context->rng);
    const size_t d = plan->seen;
    clo_stream *stream = NULL;
    CLO_TRY(clo_i_stream_open(context->rng, ask, 0, &stream, err));
    for (size_t i = 0; i < cells->used; i++)
        if (cells->used == 1)
            memcpy(cells->places, start->seen, d * sizeof(double));
        else
            draw_place(stream, plan, start, radius, cells->places + i * d);
    const clo_status status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    return status;
}

/* ---- what an answer says ------------------------------------------------------------------ */

/* Of the largest cells, up to so many a cluster, those count that hold anything at all. */
static void keep_largest(const clo_i_local_plan *plan, clo_i_local_cells *cells)
{
    const double most = CELLS_A_CLUSTER * (double)plan->clusters;
    for (size_t i = 0; i < cells->used; i++) {
        size_t larger = 0;
        for (size_t j = 0; j < cells->used; j++) larger += cells->sizes[j] > cells->sizes[i];
        if (cells->sizes[i] > 0 && (double)larger < most) cells->strong[i] = true;
    }
}

static void read_means(const clo_i_local_plan *plan, const clo_line *line, clo_i_local_cells *cells)
{
    const size_t d = plan->seen;
    const double weak = WEAK * clo_i_local_size_deviation(line);
    double total = 0;
    memset(cells->middle, 0, d * sizeof(double));
    for (size_t i = 0; i < cells->used; i++) {
        const double size = cells->sizes[i], width = cells->views[i].width;
        double *const mean = cells->means + i * d;
        cells->strong[i] = size > weak;
        cells->counted[i] = fmax(size, weak);
        cells->deviations[i] = width * clo_i_local_deviation(line) / cells->counted[i];
        for (size_t j = 0; j < d; j++) {
            mean[j] = cells->places[i * d + j] + width * cells->sums[i * d + j] / cells->counted[i];
            cells->middle[j] += fmax(size, 0) * mean[j];
        }
        total += fmax(size, 0);
    }
    for (size_t j = 0; j < d; j++) cells->middle[j] /= fmax(total, 1);
    if (clo_i_local_keeps_poor(plan)) keep_largest(plan, cells);
}

/* A cell that is alone asks for the same mean again and again: what was known of it is weighed
 * against what the answer says.  How far the two lie apart tells if more was off than noise. */
static void weigh_single(const clo_i_local_plan *plan, clo_i_local_cells *cells)
{
    const double d = (double)plan->seen, fresh = cells->deviations[0] * cells->deviations[0];
    const double square = clo_i_squared_distance(cells->means, cells->places, plan->seen) / d;
    const double known = fmax(cells->doubt, square - fresh);
    const double share = cells->strong[0] ? known / (known + fresh) : 0;
    for (size_t j = 0; j < plan->seen; j++)
        cells->means[j] = cells->places[j] + share * (cells->means[j] - cells->places[j]);
    cells->doubt = share * share * fresh + (1 - share) * (1 - share) * known;
    cells->deviations[0] = sqrt(cells->doubt);
}

/* The mean squared distance to the mean, less what noise adds. */
static double variance_of(const clo_i_local_plan *plan, const clo_line *line,
                          const clo_i_local_cells *cells, size_t i)
{
    const double n = cells->counted[i], noise = clo_i_local_deviation(line);
    const double reach = cells->views[i].reach, width = cells->views[i].width;
    double square = -(double)plan->seen * noise * noise;
    for (size_t j = 0; j < plan->seen; j++)
        square += cells->sums[i * plan->seen + j] * cells->sums[i * plan->seen + j];
    return reach * reach * cells->squares[i] / n - width * width * square / (n * n);
}

static double doubt_of_variance(const clo_line *line, const clo_i_local_cells *cells, size_t i)
{
    const double reach = cells->views[i].reach;
    const double noise = reach * reach * clo_i_local_square_deviation(line) / cells->counted[i];
    return noise * noise;
}

/* Variances of the cells, each shrunk to the pooled one as far as its known noise asks. */
static void read_variances(const clo_i_local_plan *plan, const clo_line *line, double least,
                           clo_i_local_cells *cells)
{
    double pooled = 0, doubt = 0, apart = 0, total = 0;
    for (size_t i = 0; i < cells->used; i++) {
        const double weight = fmax(cells->sizes[i], 1);
        cells->variances[i] = variance_of(plan, line, cells, i);
        pooled += weight * cells->variances[i];
        doubt += weight * weight * doubt_of_variance(line, cells, i);
        total += weight;
    }
    /* Not below its own noise: a width of nothing would cut everything. */
    pooled = fmax(fmax(pooled, sqrt(doubt)) / total, least);
    for (size_t i = 0; i < cells->used; i++) {
        const double off = cells->variances[i] - pooled;
        apart += fmax(cells->sizes[i], 1) * (off * off - doubt_of_variance(line, cells, i));
    }
    apart = fmax(apart / total, 0);
    for (size_t i = 0; i < cells->used; i++) {
        const double trust = apart / (apart + doubt_of_variance(line, cells, i) + 1e-300);
        cells->variances[i] =
            fmax(pooled + trust * (cells->variances[i] - pooled), LEAST_SHARE * pooled);
    }
}

/* Where the cells are next: their means, as far as noise lets one trust them. */
static clo_status move_places(clo_context *context, const clo_i_local_plan *plan,
                              clo_i_local_cells *cells, clo_error *err)
{
    const size_t d = plan->seen, mark = clo_i_workspace_mark(context->workspace);
    double *moved = NULL, *noise = NULL;
    CLO_TRY(clo_i_take(context->workspace, plan->cells * d, sizeof(double), &moved, err));
    CLO_TRY(clo_i_take(context->workspace, plan->cells, sizeof(double), &noise, err));
    memcpy(moved, cells->means, cells->used * d * sizeof(double));
    for (size_t i = 0; i < cells->used; i++) noise[i] = cells->deviations[i] * cells->deviations[i];
    if (cells->used > 1)
        CLO_TRY(clo_i_local_shrink(context->workspace, plan->cells, moved, cells->used, d, noise,
                                   cells->middle, err));
    for (size_t i = 0; i < cells->used; i++) {
        if (cells->strong[i]) memcpy(cells->places + i * d, moved + i * d, d * sizeof(double));
        clo_i_pull_into_ball(cells->places + i * d, d);
    }
    clo_i_workspace_release(context->workspace, mark);
    return CLO_OK;
}

/* ---- between passes ----------------------------------------------------------------------- */

/* The strong cell with the largest sum of squared distances, by its current score. */
static size_t costliest(const clo_i_local_cells *cells, const double *score)
{
    size_t best = 0;
    for (size_t i = 1; i < cells->used; i++)
        if (score[i] > score[best]) best = i;
    return best;
}

static void split(clo_stream *stream, const clo_i_local_plan *plan, const double *spread,
                  clo_i_local_cells *cells, size_t from, size_t to)
{
    const size_t d = plan->seen;
    double *const here = cells->places + from * d, *const there = cells->places + to * d,
                  square = 0;
    for (size_t j = 0; j < d; j++) {
        there[j] = clo_i_random_normal(stream) * (spread ? spread[j] : 1);
        square += there[j] * there[j];
    }
    const double step = STEP_APART * sqrt(cells->variances[from]) / sqrt(fmax(square, 1e-300));
    for (size_t j = 0; j < d; j++) {
        const double apart = step * there[j];
        there[j] = here[j] + apart;
        here[j] -= apart;
    }
    clo_i_pull_into_ball(here, d);
    clo_i_pull_into_ball(there, d);
    cells->variances[to] = cells->variances[from];
    cells->deviations[to] = cells->deviations[from];
}

/* Cells that hold nothing are used to split those that cost the most. */
static clo_status split_cells(clo_context *context, const clo_i_local_plan *plan,
                              const double *spread, clo_i_local_cells *cells, clo_error *err)
{
    const uint64_t ask = clo_i_rng_next_ask(context->rng);
    double *const score = cells->counted; /* which is read no more before the next answer */
    bool any = false;
    clo_stream *stream = NULL;
    CLO_TRY(clo_i_stream_open(context->rng, ask, 0, &stream, err));
    for (size_t i = 0; i < cells->used; i++) {
        any = any || cells->strong[i];
        score[i] = cells->strong[i] ? fmax(cells->sizes[i], 0) * cells->variances[i] : 0;
    }
    for (size_t i = 0; any && i < cells->used; i++) {
        if (cells->strong[i]) continue;
        const size_t from = costliest(cells, score);
        split(stream, plan, spread, cells, from, i);
        score[i] = score[from] /= 2.5;
    }
    const clo_status status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    return status;
}

/* ---- a pass ------------------------------------------------------------------------------- */

void clo_i_local_restride(double *points, size_t count, size_t from, size_t to)
{
    for (size_t i = 0; to < from && i < count; i++)
        memmove(points + i * to, points + i * from, to * sizeof(double));
    for (size_t i = count; to > from && i-- > 0;) {
        memmove(points + i * to, points + i * from, from * sizeof(double));
        memset(points + i * to + from, 0, (to - from) * sizeof(double));
    }
}

/* The line asks in all directions that the plan has kept.  In those that the run does not use the
 * records are at 0, as the cells are, and what is answered there is noise alone. */
static clo_status ask_cells(clo_context *context, const clo_i_local_plan *plan, size_t number,
                            const clo_bounded *data, clo_i_local_cells *cells, clo_error *err)
{
    const clo_line *const line = &context->meter->lines[number];
    const size_t d = line->cols, mark = clo_i_workspace_mark(context->workspace);
    clo_local_sums answer = { cells->sums, cells->squares, cells->sizes };
    clo_assign rule;
    clo_i_local_restride(cells->places, cells->used, plan->seen, d);
    /* The rest lie where the first does: ties go to the smaller index, so they get no record. */
    for (size_t i = cells->used; i < plan->cells; i++) {
        memcpy(cells->places + i * d, cells->places, d * sizeof(double));
        cells->views[i] = cells->views[0];
    }
    clo_status status = clo_i_assign_centers(context->workspace, cells->places, plan->cells, d,
                                             line->bits, &rule, err);
    if (!status)
        status = clo_i_ask_local_sum(context, number, data, &rule, cells->views, &answer, err);
    clo_i_workspace_release(context->workspace, mark);
    clo_i_local_restride(cells->places, cells->used, d, plan->seen);
    if (!status) clo_i_local_restride(cells->sums, cells->used, d, plan->seen);
    if (!status && cells->listen) cells->listen(cells->listener, cells);
    return status;
}

clo_status clo_i_local_passes(clo_context *context, const clo_i_local_plan *plan, size_t number,
                              const clo_bounded *data, const clo_i_local_start *start,
                              clo_i_local_cells *cells, clo_error *err)
{
    const clo_line *const line = &context->meter->lines[number];
    const double first = fmin(start->first, CLO_LOCAL_WIDEST / 2);
    cells->used = cells_to_use(plan, line, start);
    cells->doubt = start->doubt;
    CLO_TRY(draw_places(context, plan, start, first, cells, err));
    for (size_t i = 0; i < cells->used; i++)
        cells->views[i] = (clo_local_view){ first, FIRST_REACH * first };
    for (uint64_t pass = 0; pass < plan->passes; pass++) {
        clo_i_local_progress(context, plan, plan->looks + pass + (plan->frame > 0));
        if (pass) CLO_TRY(split_cells(context, plan, start->spread, cells, err));
        for (size_t i = 0; pass && i < cells->used; i++) {
            const double off = (double)plan->seen * cells->deviations[i] * cells->deviations[i];
            const double width = fmin(sqrt(cells->variances[i] + off), first);
            cells->views[i] = (clo_local_view){ width, REACH * width };
        }
        CLO_TRY(ask_cells(context, plan, number, data, cells, err));
        read_means(plan, line, cells);
        read_variances(plan, line, 1e-4 * start->seen_square, cells);
        if (cells->used == 1) weigh_single(plan, cells);
        CLO_TRY(move_places(context, plan, cells, err));
    }
    return CLO_OK;
}

/* ---- the centres of the cells -------------------------------------------------------------- */

typedef struct solution {
    double *points;   /* cells x seen: those that count, shrunk */
    double *weights;  /* cells */
    uint32_t *labels; /* cells */
    size_t *place;    /* cells: which cell it is */
    double *noise;    /* cells, or clusters: variances */
    double *spread;   /* cells: mean squared distances of their records */
    size_t count;
} solution;

static clo_status take_solution(const clo_i_local_plan *plan, clo_workspace *space, solution *s,
                                clo_error *err)
{
    const size_t m = plan->cells, more = m > plan->clusters ? m : plan->clusters;
    CLO_TRY(clo_i_take(space, m * plan->seen, sizeof(double), &s->points, err));
    CLO_TRY(clo_i_take(space, m, sizeof(double), &s->weights, err));
    CLO_TRY(clo_i_take(space, m, sizeof(uint32_t), &s->labels, err));
    CLO_TRY(clo_i_take(space, m, sizeof(size_t), &s->place, err));
    CLO_TRY(clo_i_take(space, m, sizeof(double), &s->spread, err));
    return clo_i_take(space, more, sizeof(double), &s->noise, err);
}

clo_status clo_i_local_cells_room(const clo_i_local_plan *plan, clo_workspace *space,
                                  clo_error *err)
{
    const size_t m = plan->cells, d = plan->seen, mark = clo_i_workspace_mark(space);
    double *moved;
    solution unused;
    CLO_TRY(clo_i_take(space, m * d, sizeof(double), &moved, err));
    CLO_TRY(clo_i_take(space, m, sizeof(double), &moved, err));
    CLO_TRY(clo_i_local_shrink_room(space, m, d, err));
    clo_i_workspace_release(space, mark);
    CLO_TRY(clo_i_assign_room(space, CLO_ASSIGN_CENTERS, m, d, 0, err));
    clo_i_workspace_release(space, mark);
    CLO_TRY(take_solution(plan, space, &unused, err));
    if (plan->choose) CLO_TRY(clo_i_local_choose_room(space, m, d, plan->clusters, err));
    CLO_TRY(clo_i_local_shrink_room(space, m, d, err));
    CLO_TRY(clo_i_local_shrink_room(space, plan->clusters, d, err));
    clo_i_workspace_release(space, mark);
    return CLO_OK;
}

/* Those whose size is more than noise; where none is, all, and alike. */
static void choose_cells(const clo_i_local_plan *plan, const clo_i_local_cells *cells, solution *s)
{
    const size_t d = plan->seen;
    bool any = false;
    for (size_t i = 0; i < cells->used; i++) any = any || cells->strong[i];
    s->count = 0;
    for (size_t i = 0; i < cells->used; i++) {
        if (any && !cells->strong[i]) continue;
        memcpy(s->points + s->count * d, cells->means + i * d, d * sizeof(double));
        s->weights[s->count] = any ? cells->counted[i] : 1;
        s->noise[s->count] = cells->deviations[i] * cells->deviations[i];
        s->spread[s->count] = cells->variances[i];
        s->place[s->count++] = i;
    }
}

/* Of each cluster: size, and the variance of a coordinate of its mean; a median's is about that. */
static void gather_sizes(const clo_i_local_cells *cells, const solution *s,
                         clo_i_local_centers *centers)
{
    for (size_t c = 0; c < centers->found; c++) centers->sizes[c] = centers->known[c] = 0;
    for (size_t i = 0; i < s->count; i++) {
        const double noise = s->weights[i] * cells->deviations[s->place[i]];
        centers->sizes[s->labels[i]] += s->weights[i];
        centers->known[s->labels[i]] += noise * noise;
    }
    for (size_t c = 0; c < centers->found; c++) {
        const double size = fmax(centers->sizes[c], 1e-9);
        centers->known[c] /= size * size;
    }
}

/* The mean of each cluster, from its cells as they were answered. */
static void gather_means(const clo_i_local_plan *plan, const clo_i_local_cells *cells,
                         const solution *s, double *found, const clo_i_local_centers *centers)
{
    const size_t d = plan->seen, k = centers->found;
    memset(found, 0, k * d * sizeof(double));
    for (size_t i = 0; i < s->count; i++)
        for (size_t j = 0; j < d; j++)
            found[s->labels[i] * d + j] += s->weights[i] * cells->means[s->place[i] * d + j];
    for (size_t c = 0; c < k; c++)
        for (size_t j = 0; j < d; j++) found[c * d + j] /= fmax(centers->sizes[c], 1e-9);
}

/* The mean variance of a cluster's cells. */
static double variance_inside(const solution *s, const clo_i_local_cells *cells, size_t cluster)
{
    double sum = 0, weight = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (s->labels[i] != cluster) continue;
        sum += s->weights[i] * cells->variances[s->place[i]];
        weight += s->weights[i];
    }
    return weight > 0 ? sum / weight : 0;
}

/* Of each cluster the mean squared distance of its records to its centre, in all columns: what its
 * cells say, and of the columns outside of a frame what the whole says. */
static void gather_squares(const clo_i_local_plan *plan, const clo_i_local_start *start,
                           const clo_i_local_cells *cells, const solution *s, const double *found,
                           clo_i_local_centers *centers)
{
    const size_t d = plan->seen, k = centers->found;
    double inside = 0, total = 0;
    for (size_t c = 0; c < k; c++) centers->squares[c] = 0;
    for (size_t i = 0; i < s->count; i++) {
        const size_t c = s->labels[i], from = s->place[i];
        const double noise = (double)d * cells->deviations[from] * cells->deviations[from];
        const double *const mean = cells->means + from * d;
        const double near = clo_i_squared_distance(mean, found + c * d, d) - noise;
        const double whole = clo_i_squared_distance(mean, start->seen, d) - noise;
        const double square = cells->variances[from] + near;
        centers->squares[c] += s->weights[i] * (plan->median ? sqrt(fmax(square, 0)) : square);
        inside += s->weights[i] * (cells->variances[from] + whole);
        total += s->weights[i];
    }
    const double outside =
        plan->frame ? fmax(start->square - inside / fmax(total, 1e-9), 0.05 * start->square) : 0;
    for (size_t c = 0; c < k; c++) {
        const double mean = centers->squares[c] / fmax(centers->sizes[c], 1e-9);
        const double least = NOT_LESS * variance_inside(s, cells, c);
        const double own = fmax(plan->median ? mean * mean : mean, least);
        centers->squares[c] =
            fmax(own + (double)d * centers->known[c] + outside, 1e-4 * start->square);
    }
}

/* As many as were asked for, or as the cells tell; never more than cells. */
static clo_status count_clusters(clo_context *context, const clo_i_local_plan *plan,
                                 const solution *s, clo_i_local_centers *centers, clo_error *err)
{
    const clo_i_local_reading reading = { .count = s->count,
                                          .cols = plan->seen,
                                          .cells = plan->cells,
                                          .clusters = plan->clusters,
                                          .means = s->points,
                                          .sizes = s->weights,
                                          .noise = s->noise,
                                          .variances = s->spread };
    centers->found = s->count < plan->clusters ? s->count : plan->clusters;
    centers->tried = plan->choose ? centers->found : 0;
    if (!plan->choose) return CLO_OK;
    CLO_TRY(clo_i_local_choose(context, &reading, centers->tried, centers->curve, err));
    centers->found = clo_i_curve_elbow(centers->curve, centers->tried, centers->tried);
    return CLO_OK;
}

clo_status clo_i_local_solve(clo_context *context, const clo_i_local_plan *plan,
                             const clo_i_local_start *start, const clo_i_local_cells *cells,
                             double *found, clo_i_local_centers *centers, clo_error *err)
{
    const size_t d = plan->seen, mark = clo_i_workspace_mark(context->workspace);
    solution s;
    double cost;
    CLO_TRY(take_solution(plan, context->workspace, &s, err));
    choose_cells(plan, cells, &s);
    CLO_TRY(count_clusters(context, plan, &s, centers, err));
    if (s.count > 1)
        CLO_TRY(clo_i_local_shrink(context->workspace, plan->cells, s.points, s.count, d, s.noise,
                                   cells->middle, err));
    const clo_solver_input job = clo_i_solver_job(context, s.points, s.count, d);
    clo_kmeans_options options = clo_i_kmeans_default(centers->found);
    options.weights = s.weights;
    options.restarts = centers->found > 1 && s.count > centers->found ? RESTARTS : 1;
    CLO_TRY(
        (plan->median ? clo_i_kmedian : clo_i_kmeans)(&job, &options, found, s.labels, &cost, err));
    gather_sizes(cells, &s, centers);
    if (!plan->median) gather_means(plan, cells, &s, found, centers);
    if (centers->found > 1)
        CLO_TRY(clo_i_local_shrink(context->workspace, plan->clusters, found, centers->found, d,
                                   centers->known, cells->middle, err));
    gather_squares(plan, start, cells, &s, found, centers);
    clo_i_workspace_release(context->workspace, mark);
    return CLO_OK;
}
