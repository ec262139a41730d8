/*
 * density_points.c - the points of a density: drawn, moved to where an answer says they are, and
 * drawn anew from there.
 */
#include "density/density.h"
#include "density/density_internal.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

/* ---- drawing --------------------------------------------------------------------------------- */

static void pull_in(double *point, size_t cols)
{
    double square = 0;
    for (size_t j = 0; j < cols; j++) square += point[j] * point[j];
    if (square > 1)
        for (size_t j = 0; j < cols; j++) point[j] /= sqrt(square);
}

/* point += scale * root * N(0, 1) */
static void add_normal(clo_stream *stream, const double *root, size_t cols, double scale,
                       double *point)
{
    double drawn[CLO_DENSITY_COLUMNS];
    for (size_t j = 0; j < cols; j++) drawn[j] = clo_i_random_normal(stream);
    for (size_t i = 0; i < cols; i++) {
        double sum = 0;
        for (size_t j = 0; j < cols; j++) sum += root[i * cols + j] * drawn[j];
        point[i] += scale * sum;
    }
}

/* From `place` as far as `before` lies from it, to the other side. */
static void cross(const double *place, const double *before, size_t cols, double *point)
{
    for (size_t j = 0; j < cols; j++) point[j] = 2 * place[j] - before[j];
}

/* Which of `count` the i-th of so many draws is, by shares that are summed up: the first whose sum
 * is above.  Each draw is from a part of its own of the whole, so that each share is met up to one,
 * and draws of one are next to each other. */
static size_t choose(clo_stream *stream, size_t i, size_t draws, const double *sums, size_t count)
{
    const double at = ((double)i + clo_i_random_unit(stream)) / (double)draws * sums[count - 1];
    size_t low = 0, high = count - 1;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (sums[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void sum_up(const double *shares, size_t count, double *sums)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sums[i] = sum += fmax(shares[i], 0);
}

/* New points, in the ball: even weights, and the features of what was told before. */
static void begin(clo_density *density, double records)
{
    for (size_t i = 0; i < density->count; i++) {
        pull_in(density->points + i * density->cols, density->cols);
        density->base[i] = density->weights[i] = records / (double)density->count;
        density->logs[i] = 0;
    }
    density->drawn = true;
    clo_i_density_see(density);
}

void clo_i_density_draw(clo_density *density, clo_stream *stream, const clo_density_cells *cells,
                        double records)
{
    const size_t d = density->cols;
    double *const sums = density->scratch;
    const double *place = NULL;
    sum_up(cells->shares, cells->count, sums);
    for (size_t i = 0; i < density->count; i++) {
        double *const point = density->points + i * d;
        if (i % 2) {
            cross(place, point - d, d, point);
            continue;
        }
        const size_t cell = choose(stream, i, density->count, sums, cells->count);
        const double factor = clo_i_random_unit(stream) < cells->wide ? 2 : 1;
        place = cells->places + cell * d;
        memcpy(point, place, d * sizeof(double));
        add_normal(stream, cells->root, d, factor * cells->deviations[cell], point);
    }
    begin(density, records);
}

void clo_i_density_draw_normal(clo_density *density, clo_stream *stream, const double *center,
                               const double *root, double tail, bool paired, double records)
{
    const size_t d = density->cols;
    for (size_t i = 0; i < density->count; i++) {
        double *const point = density->points + i * d;
        if (paired && i % 2) {
            cross(center, point - d, d, point);
            continue;
        }
        const double scale = exp(tail * clo_i_random_normal(stream));
        memcpy(point, center, d * sizeof(double));
        add_normal(stream, root, d, scale, point);
    }
    begin(density, records);
}

/* ---- a root of a covariance ------------------------------------------------------------------ */

typedef struct eigen {
    double *values, *vectors, *scratch;
} eigen;

static clo_status take_eigen(clo_workspace *space, size_t cols, eigen *e, clo_error *err)
{
    CLO_TRY(clo_i_take(space, cols, sizeof(double), &e->values, err));
    CLO_TRY(clo_i_take(space, cols * cols, sizeof(double), &e->vectors, err));
    return clo_i_take(space, clo_i_eigen_scratch(cols, cols), sizeof(double), &e->scratch, err);
}

clo_status clo_i_density_root_room(clo_workspace *space, size_t cols, clo_error *err)
{
    const size_t mark = clo_i_workspace_mark(space);
    eigen unused;
    CLO_TRY(take_eigen(space, cols, &unused, err));
    clo_i_workspace_release(space, mark);
    return CLO_OK;
}

clo_status clo_i_density_root(clo_workspace *space, double *matrix, size_t cols,
                              clo_density_reshape *reshape, void *user, double *root,
                              clo_error *err)
{
    const size_t mark = clo_i_workspace_mark(space);
    eigen e;
    CLO_TRY(take_eigen(space, cols, &e, err));
    const clo_status status =
        clo_i_eigen_top(matrix, cols, cols, e.values, e.vectors, e.scratch, err);
    if (!status && reshape) reshape(user, e.values, cols);
    for (size_t i = 0; !status && i < cols; i++)
        for (size_t j = 0; j < cols; j++)
            root[i * cols + j] = e.vectors[i * cols + j] * sqrt(fmax(e.values[j], 0));
    clo_i_workspace_release(space, mark);
    return status;
}

/* ---- following an answer --------------------------------------------------------------------- */

/* How far a point goes toward a smooth copy of its cell, what of its shape is round, and how many
 * points are drawn twice as wide. */
static const double SMOOTH = 0.4, ROUND = 0.2, WIDE = 0.1;
static const double LEAST_KEPT = 0.05, LEAST_OF_MEAN = 0.02; /* of a size, and of the mean one */
static const double NEXT_TO_NOTHING = 1e-6;                  /* records of the density */

/* Of each cell: what the density has there, what the answer says, and what is made of both. */
typedef struct following {
    double *means, *sums, *steps; /* cells x cols */
    double *sizes, *squares;      /* cells: of the density */
    double *wanted;               /* cells: sizes */
    double *stretch;              /* cells */
    double *shape, *root;         /* cols x cols */
} following;

static clo_status take_following(clo_workspace *space, size_t cells, size_t cols, following *f,
                                 clo_error *err)
{
    double **const wide[] = { &f->means, &f->sums, &f->steps };
    double **const narrow[] = { &f->sizes, &f->squares, &f->wanted, &f->stretch };
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        CLO_TRY(clo_i_take(space, cells * cols, sizeof(double), wide[i], err));
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
        CLO_TRY(clo_i_take(space, cells, sizeof(double), narrow[i], err));
    CLO_TRY(clo_i_take(space, cols * cols, sizeof(double), &f->shape, err));
    return clo_i_take(space, cols * cols, sizeof(double), &f->root, err);
}

clo_status clo_i_density_follow_room(clo_workspace *space, size_t cells, size_t cols,
                                     clo_error *err)
{
    const size_t mark = clo_i_workspace_mark(space);
    following unused;
    CLO_TRY(take_following(space, cells, cols, &unused, err));
    CLO_TRY(clo_i_density_root_room(space, cols, err));
    clo_i_workspace_release(space, mark);
    return CLO_OK;
}

/* The last answer's numbers back in their own units. */
static double told(const clo_density_answer *a, size_t cell, size_t cols, size_t which)
{
    const double noise = which < cols ? a->noise[0] : a->noise[which - cols + 1];
    return a->told[cell * a->stride + which] * noise;
}

static void ask_density(const clo_density *density, const clo_density_answer *a, following *f)
{
    const size_t d = density->cols, k = a->groups;
    memset(f->means, 0, k * d * sizeof(double));
    memset(f->sums, 0, k * d * sizeof(double));
    for (size_t c = 0; c < k; c++) f->sizes[c] = f->squares[c] = 0;
    for (size_t i = 0; i < density->count; i++) {
        const size_t c = a->labels[i];
        const float *const own = a->features + i * a->stride;
        const double weight = density->weights[i];
        for (size_t j = 0; j < d; j++) {
            f->means[c * d + j] += weight * density->points[i * d + j];
            f->sums[c * d + j] += weight * (double)own[j] * a->noise[0];
        }
        f->squares[c] += weight * (double)own[d] * a->noise[1];
        f->sizes[c] += weight;
    }
    for (size_t e = 0; e < k * d; e++) f->means[e] /= fmax(f->sizes[e / d], 1e-9);
}

/* Sizes, each as far as its noise lets one trust it. */
static void weigh_sizes(const clo_density *density, const clo_density_answer *a, following *f)
{
    const size_t d = density->cols, k = a->groups;
    const double noise = a->noise[2] * a->noise[2];
    double apart = 0, mean = 0;
    for (size_t c = 0; c < k; c++) {
        const double off = told(a, c, d, d + 1) - f->sizes[c];
        apart += off * off / (double)k;
    }
    const double share = fmax(apart - noise, 0) / (fmax(apart - noise, 0) + noise);
    for (size_t c = 0; c < k; c++) {
        const double off = told(a, c, d, d + 1) - f->sizes[c];
        f->wanted[c] = fmax(f->sizes[c] + share * off, LEAST_KEPT * fmax(f->sizes[c], 1e-9));
        mean += f->wanted[c] / (double)k;
    }
    for (size_t c = 0; c < k; c++) f->wanted[c] = fmax(f->wanted[c], LEAST_OF_MEAN * mean);
}

/* Sizes to divide by. */
static double counted(const clo_density_answer *a, const following *f, size_t c)
{
    return fmax(f->wanted[c], 0.5 * a->noise[2]);
}

static double total_of(const following *f, size_t cells)
{
    double total = 0;
    for (size_t c = 0; c < cells; c++) total += f->wanted[c];
    return total;
}

static void weigh_steps(const clo_density *density, const clo_density_answer *a, following *f)
{
    const size_t d = density->cols, k = a->groups;
    const double total = total_of(f, k);
    double beyond = 0;
    for (size_t c = 0; c < k; c++) {
        const double n = counted(a, f, c), noise = a->noise[0] / n; /* in widths */
        double square = 0;
        for (size_t j = 0; j < d; j++) {
            double *const step = &f->steps[c * d + j];
            *step = told(a, c, d, j) / n - f->sums[c * d + j] / fmax(f->sizes[c], 1e-9);
            if (f->sizes[c] <= NEXT_TO_NOTHING) *step = 0;
            square += *step * *step;
        }
        beyond += f->wanted[c] / total * (square / (double)d - noise * noise);
    }
    beyond = fmax(beyond, 0);
    for (size_t c = 0; c < k; c++) {
        const double noise = a->noise[0] / counted(a, f, c);
        const double share = beyond / (beyond + noise * noise);
        for (size_t j = 0; j < d; j++) f->steps[c * d + j] *= share * a->widths[c];
    }
}

/* What the answered squares are over those of the density, less 1. */
static double stretched(const clo_density *density, const clo_density_answer *a, const following *f,
                        size_t c, double *variance)
{
    const double reach = a->reaches[c] * a->reaches[c], width = a->widths[c] * a->widths[c];
    const double n = counted(a, f, c);
    const double here = fmax(reach * f->squares[c] / fmax(f->sizes[c], 1e-9), 0.1 * width);
    const double noise = reach * a->noise[1] / n / here;
    *variance = noise * noise;
    return (reach * told(a, c, density->cols, density->cols) / n - here) / here;
}

static void weigh_stretches(const clo_density *density, const clo_density_answer *a, following *f)
{
    const size_t k = a->groups;
    const double total = total_of(f, k);
    double beyond = 0, variance;
    for (size_t c = 0; c < k; c++) {
        const double off = stretched(density, a, f, c, &variance);
        beyond += f->wanted[c] / total * (off * off - variance);
    }
    beyond = fmax(beyond, 0);
    for (size_t c = 0; c < k; c++) {
        const double off = stretched(density, a, f, c, &variance);
        const double share = beyond / (beyond + variance + 1e-300);
        f->stretch[c] =
            f->sizes[c] <= NEXT_TO_NOTHING ? 1 : sqrt(fmin(fmax(1 + share * off, 0.3), 3));
    }
}

/* The points moved, and their weights. */
static void move(clo_density *density, const clo_density_answer *a, const following *f)
{
    const size_t d = density->cols;
    for (size_t i = 0; i < density->count; i++) {
        const size_t c = a->labels[i];
        double *const point = density->points + i * d;
        for (size_t j = 0; j < d; j++) {
            const double from_mean = point[j] - f->means[c * d + j];
            point[j] += f->steps[c * d + j] + (f->stretch[c] - 1) * from_mean;
        }
        pull_in(point, d);
        density->weights[i] *= f->wanted[c] / fmax(f->sizes[c], 1e-9);
    }
}

/* Of the moved points: the mean and the mean squared distance to it of each cell, and the shape
 * that all of them have. */
static void measure(const clo_density *density, const clo_density_answer *a, following *f)
{
    const size_t d = density->cols, k = a->groups;
    double *const spread = f->squares, trace = 0;
    memset(f->means, 0, k * d * sizeof(double));
    memset(f->shape, 0, d * d * sizeof(double));
    for (size_t c = 0; c < k; c++) f->sizes[c] = 1e-12, spread[c] = 0;
    for (size_t i = 0; i < density->count; i++) {
        const size_t c = a->labels[i];
        f->sizes[c] += density->weights[i];
        for (size_t j = 0; j < d; j++)
            f->means[c * d + j] += density->weights[i] * density->points[i * d + j];
    }
    for (size_t e = 0; e < k * d; e++) f->means[e] /= f->sizes[e / d];
    for (size_t i = 0; i < density->count; i++) {
        const size_t c = a->labels[i];
        double apart[CLO_DENSITY_COLUMNS];
        for (size_t j = 0; j < d; j++) apart[j] = density->points[i * d + j] - f->means[c * d + j];
        for (size_t j = 0; j < d; j++) {
            spread[c] += density->weights[i] * apart[j] * apart[j] / f->sizes[c];
            for (size_t l = 0; l < d; l++)
                f->shape[j * d + l] += density->weights[i] * apart[j] * apart[l];
        }
    }
    for (size_t j = 0; j < d; j++) trace += f->shape[j * d + j];
    for (size_t e = 0; e < d * d; e++)
        f->shape[e] = (1 - ROUND) * f->shape[e] / fmax(trace, 1e-300) +
                      (e % (d + 1) == 0 ? ROUND / (double)d : 0);
}

static void draw_anew(clo_density *density, const clo_density_answer *a, const following *f,
                      clo_stream *stream, double records)
{
    const size_t d = density->cols;
    double *const sums = density->scratch;
    sum_up(density->weights, density->count, sums);
    for (size_t i = 0; i < density->count; i++) {
        const size_t from = choose(stream, i, density->count, sums, density->count);
        const size_t c = a->labels[from];
        const double factor = clo_i_random_unit(stream) < WIDE ? 2 : 1;
        const double *const mean = f->means + c * d;
        double off[CLO_DENSITY_COLUMNS], *const point = density->moved + i * d;
        for (size_t j = 0; j < d; j++)
            off[j] = sqrt(1 - SMOOTH * SMOOTH) * (density->points[from * d + j] - mean[j]);
        add_normal(stream, f->root, d, SMOOTH * sqrt(f->squares[c]), off);
        for (size_t j = 0; j < d; j++) point[j] = mean[j] + factor * off[j];
    }
    memcpy(density->points, density->moved, density->count * d * sizeof(double));
    begin(density, records);
}

clo_status clo_i_density_follow(clo_density *density, clo_workspace *space, clo_stream *stream,
                                double records, clo_error *err)
{
    const clo_density_answer *const a = &density->answers[density->answered - 1];
    const size_t mark = clo_i_workspace_mark(space);
    following f;
    CLO_TRY(take_following(space, a->most, density->cols, &f, err));
    ask_density(density, a, &f);
    weigh_sizes(density, a, &f);
    weigh_steps(density, a, &f);
    weigh_stretches(density, a, &f);
    move(density, a, &f);
    measure(density, a, &f);
    const clo_status status =
        clo_i_density_root(space, f.shape, density->cols, NULL, NULL, f.root, err);
    if (!status) draw_anew(density, a, &f, stream, records);
    clo_i_workspace_release(space, mark);
    return status;
}
