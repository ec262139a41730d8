/*
 * kmeans_seed.c - where k-means and k-median start: rows far from each other.
 *
 * k-means++ (Arthur and Vassilvitskii) draws each further row with a probability in proportion to
 * its squared distance from those chosen; the greedy form draws a few candidates and keeps the one
 * that leaves the least cost.  k-median does the same with the distance itself.
 */
#include "solver/centers/kmeans.h"
#include <cblas.h>
#include <math.h>
#include <string.h>

enum { MOST_TRIALS = 16 };

typedef struct seeding {
    const clo_points *points;
    int power, threads;
    size_t trials;
    double *near;    /* count: the cost of each row with the rows chosen so far */
    double *trial;   /* trials x count: the same with one candidate more */
    double *shifted; /* trials x cols: the candidates, less the mean */
    double *parts;   /* slices x (trials + 1): sums over the slices */
} seeding;

static clo_status make(seeding *s, clo_error *err)
{
    const clo_points *const p = s->points;
    size_t cells = 0;
    if (!clo_i_multiply(s->trials, p->count, &cells))
        return clo_i_fail(err, CLO_MEMORY, "there is not enough memory for so many rows");
    CLO_TRY(clo_i_alloc(p->count, sizeof(double), &s->near, err));
    CLO_TRY(clo_i_alloc(cells, sizeof(double), &s->trial, err));
    CLO_TRY(clo_i_alloc(s->trials * p->cols, sizeof(double), &s->shifted, err));
    return clo_i_alloc(p->slices * s->trials, sizeof(double), &s->parts, err);
}

static void unmake(seeding *s)
{
    clo_i_free(s->near);
    clo_i_free(s->trial);
    clo_i_free(s->shifted);
    clo_i_free(s->parts);
}

/* From -2 x.y to the distance, or its square. */
static void distances(const seeding *s, size_t first, size_t count, double bias, double *cost)
{
    const double *const norms = s->points->norms;
#pragma omp simd
    for (size_t i = first; i < first + count; i++) {
        const double square = norms[i] + cost[i] + bias;
        cost[i] = square > 0 ? square : 0;
    }
    for (size_t i = first; s->power == 1 && i < first + count; i++) cost[i] = sqrt(cost[i]);
}

/* What is left where a row costs no more than it did; the weighted sum. */
static double lower(const seeding *s, size_t first, size_t count, double *cost)
{
    const double *const near = s->near, *const weights = s->points->weights;
    double sum = 0;
#pragma omp simd
    for (size_t i = first; i < first + count; i++) cost[i] = near[i] < cost[i] ? near[i] : cost[i];
#pragma omp simd reduction(+ : sum)
    for (size_t i = first; i < first + count; i++) sum += weights ? weights[i] * cost[i] : cost[i];
    return sum;
}

/* What each candidate would leave of the rows of one slice. */
static void try_slice(seeding *s, const size_t *candidates, size_t count, const double *bias,
                      size_t slice)
{
    const clo_points *const p = s->points;
    const size_t end = clo_i_slice_begin(p, slice + 1);
    for (size_t at = clo_i_slice_begin(p, slice); at < end; at += CLO_KMEANS_BLOCK) {
        const size_t rows = end - at < CLO_KMEANS_BLOCK ? end - at : CLO_KMEANS_BLOCK;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)count, (int)rows, (int)p->cols,
                    -2.0, s->shifted, (int)p->cols, p->rows + at * p->cols, (int)p->cols, 0.0,
                    s->trial + at, (int)p->count);
        for (size_t t = 0; t < count; t++) {
            double *const cost = s->trial + t * p->count;
            distances(s, at, rows, bias[t], cost);
            if (candidates[t] >= at && candidates[t] < at + rows)
                cost[candidates[t]] = 0; /* rounding aside, it is where it is */
            s->parts[slice * s->trials + t] += lower(s, at, rows, cost);
        }
    }
}

/* Keeps the candidate that leaves the least; which one that is, and what it leaves. */
static size_t keep_best(seeding *s, const size_t *candidates, size_t count, double *left)
{
    const clo_points *const p = s->points;
    double bias[MOST_TRIALS] = { 0 };
    for (size_t t = 0; t < count; t++)
        for (size_t j = 0; j < p->cols; j++) {
            const double x = p->rows[candidates[t] * p->cols + j] - p->mean[j];
            s->shifted[t * p->cols + j] = x;
            bias[t] += 2 * p->mean[j] * x + x * x;
        }
    memset(s->parts, 0, p->slices * s->trials * sizeof *s->parts);
#pragma omp parallel for num_threads(s->threads) schedule(dynamic, 1)
    for (size_t slice = 0; slice < p->slices; slice++) try_slice(s, candidates, count, bias, slice);
    size_t best = 0;
    for (size_t t = 0; t < count; t++) {
        double sum = 0;
        for (size_t slice = 0; slice < p->slices; slice++) sum += s->parts[slice * s->trials + t];
        if (t == 0 || sum < *left) {
            *left = sum;
            best = t;
        }
    }
    memcpy(s->near, s->trial + best * p->count, p->count * sizeof *s->near);
    for (size_t slice = 0; slice < p->slices; slice++)
        s->parts[slice * s->trials] = s->parts[slice * s->trials + best];
    return candidates[best];
}

/* A row, with a probability in proportion to its weight (start) or to what it costs. */
static size_t draw(const seeding *s, double total, bool start, clo_stream *stream)
{
    const clo_points *const p = s->points;
    double left = clo_i_random_unit(stream) * total;
    size_t slice = 0, last = 0;
    if (!start)
        while (slice + 1 < p->slices && left >= s->parts[slice * s->trials])
            left -= s->parts[s->trials * slice++];
    for (size_t i = clo_i_slice_begin(p, slice); i < p->count; i++) {
        const double share = clo_i_point_weight(p, i) * (start ? 1.0 : s->near[i]);
        if (share > 0) last = i;
        left -= share;
        if (share > 0 && left < 0) return i;
    }
    return last; /* rounding ate the rest */
}

clo_status clo_i_seed_rows(const clo_points *points, size_t clusters, int power, clo_stream *stream,
                           int threads, size_t *chosen, clo_error *err)
{
    seeding s = { .points = points, .power = power, .threads = threads };
    size_t candidates[MOST_TRIALS];
    double left = 0;
    s.trials = 2 + (size_t)log((double)clusters);
    if (s.trials > MOST_TRIALS) s.trials = MOST_TRIALS;
    clo_status status = make(&s, err);
    for (size_t i = 0; !status && i < points->count; i++) s.near[i] = INFINITY;
    for (size_t c = 0; !status && c < clusters; c++) {
        /* Where nothing is left to cover, any row will do. */
        const bool start = c == 0 || !(left > 0);
        const size_t count = start ? 1 : s.trials;
        for (size_t t = 0; t < count; t++)
            candidates[t] = draw(&s, start ? points->total : left, start, stream);
        chosen[c] = keep_best(&s, candidates, count, &left);
    }
    if (!status) status = clo_i_stream_check(stream, err);
    unmake(&s);
    return status;
}
