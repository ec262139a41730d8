/*
 * center_fit.c - k centres from a tensor of moments, by least squares from many starts.
 *
 * Least squares alone would use a centre for the noise: far out, with few records.  Two terms,
 * weighed by the noise, speak against that: centres have about as many records each (the logarithm
 * of an arithmetic mean over a geometric one), and lie in the ball.  Without noise they vanish.
 *
 * A start is random points, or the places where the tensor is largest, one after the other, by
 * power iterations on what is left of it.  A constant makes all centres alike, so these see it
 * smaller than it is.  Where the descent ends, centres that lie together are put to where the
 * residual is largest, and the descent goes on, as long as that pays: what no start gets right at
 * once, repairs do.
 */
#include "solver/centers/center_fit.h"
#include "linalg/linalg.h"
#include "solver/centers/center_tensor.h"
#include "solver/lbfgs.h"
#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum {
    MOST_STEPS = 300,
    REPAIR_STEPS = 80,
    REPAIRS = 24,
    IN_VAIN = 3,
    CANDIDATES = 16,
    POWER_STEPS = 12
};
static const double ALIKE_SIZES = 30, IN_THE_BALL = 1000, INSIDE = 0.9, FIRST_SPREAD = 0.003;

/* What all starts share. */
typedef struct problem {
    const clo_center_job *job;
    clo_center_shape shape;
    size_t own;     /* columns but the constant */
    double *target; /* the tensor over unit */
    double unit;    /* about how many records there are */
    double lean;    /* the variance of the noise, in these units */
} problem;

/* What one start works with. */
typedef struct start {
    const problem *p;
    clo_center_bench bench;
    double *z, *by_z;            /* clusters x cols */
    double *weights, *by_weight; /* clusters */
    double *trial, *slope;       /* variables */
    double *places;              /* clusters x own */
    double *descent;
} start;

static size_t variables(const problem *p)
{
    return p->shape.clusters * (p->own + 1) + 1;
}

static size_t start_room(const problem *p)
{
    const clo_center_shape *const s = &p->shape;
    const size_t greedy = CANDIDATES * (2 * s->cols + s->pairs + s->rows);
    return clo_i_center_bench_size(s) + 2 * s->clusters * (s->cols + 1) + 2 * variables(p) +
           s->clusters * p->own + clo_i_descend_scratch(variables(p)) + greedy;
}

static start lay_out(const problem *p, double *room)
{
    const size_t k = p->shape.clusters, d = p->shape.cols;
    start s = { .p = p, .bench = clo_i_center_bench(&p->shape, room) };
    s.z = room + clo_i_center_bench_size(&p->shape);
    s.by_z = s.z + k * d;
    s.weights = s.by_z + k * d;
    s.by_weight = s.weights + k;
    s.trial = s.by_weight + k;
    s.slope = s.trial + variables(p);
    s.places = s.slope + variables(p);
    s.descent = s.places + k * p->own;
    return s;
}

/* ---- the objective ----------------------------------------------------------------------- */

/* x is the centres, the roots of their weights and the root of the variance. */
static clo_center_point read_point(const start *s, const double *x)
{
    const problem *const p = s->p;
    const size_t k = p->shape.clusters, own = p->own;
    for (size_t l = 0; l < k; l++) {
        memcpy(s->z + l * (own + 1), x + l * own, own * sizeof *x);
        s->z[l * (own + 1) + own] = p->job->constant;
        s->weights[l] = x[k * own + l] * x[k * own + l];
    }
    const double root = x[k * (own + 1)];
    return (clo_center_point){ .z = s->z, .weights = s->weights, .variance = root * root };
}

static double lean_to_alike_sizes(const start *s, double *by_weight)
{
    const size_t k = s->p->shape.clusters;
    const double strength = ALIKE_SIZES * s->p->lean;
    double total = 0, logarithms = 0;
    for (size_t l = 0; l < k; l++) {
        total += s->weights[l];
        logarithms += log(fmax(s->weights[l], 1e-300));
    }
    for (size_t l = 0; l < k; l++)
        by_weight[l] += strength * ((double)k / total - 1 / fmax(s->weights[l], 1e-300));
    return strength * ((double)k * log(total / (double)k) - logarithms);
}

static double lean_into_ball(const problem *p, const double *center, double *gradient)
{
    const double area = p->job->radius * p->job->radius;
    double square = 0;
    for (size_t i = 0; i < p->own; i++) square += center[i] * center[i] / area;
    const double excess = fmax(square - INSIDE, 0), strength = IN_THE_BALL * p->lean;
    for (size_t i = 0; i < p->own; i++) gradient[i] += strength * 4 * excess * center[i] / area;
    return strength * excess * excess;
}

static double objective(void *user, const double *x, double *gradient)
{
    start *const s = user;
    const problem *const p = s->p;
    const size_t k = p->shape.clusters, own = p->own;
    const clo_center_point point = read_point(s, x);
    double by_variance, value = clo_i_center_loss(&p->shape, p->target, point, &s->bench, s->by_z,
                                                  s->by_weight, &by_variance);
    value += lean_to_alike_sizes(s, s->by_weight);
    for (size_t l = 0; l < k; l++) {
        memcpy(gradient + l * own, s->by_z + l * (own + 1), own * sizeof *gradient);
        value += lean_into_ball(p, x + l * own, gradient + l * own);
        gradient[k * own + l] = 2 * x[k * own + l] * s->by_weight[l];
    }
    gradient[k * (own + 1)] = 2 * x[k * (own + 1)] * by_variance;
    return isfinite(value) ? value : INFINITY;
}

static double descend(start *s, double *x, size_t most_steps)
{
    /* Far below the noise there is nothing to be won. */
    const clo_i_descent how = { .most_steps = most_steps,
                                .tolerance = fmax(1e-3 * s->p->lean, 1e-13) };
    return clo_i_descend(objective, s, variables(s->p), x, how, s->descent);
}

/* ---- starts ------------------------------------------------------------------------------ */

static void draw_point(const problem *p, clo_stream *stream, double *center)
{
    double square = 0;
    for (size_t i = 0; i < p->own; i++) {
        center[i] = clo_i_random_normal(stream);
        square += center[i] * center[i];
    }
    const double length = p->job->radius * cbrt(clo_i_random_unit(stream)) / sqrt(square);
    for (size_t i = 0; i < p->own; i++) center[i] *= length;
}

/* The point of the ball, with its constant, on the line of z; z becomes of length 1. */
static void onto_ball(const problem *p, double constant, double *z)
{
    const size_t own = p->own;
    const double radius = p->job->radius;
    double square = 0;
    const double last = fmax(z[own], 0);
    for (size_t i = 0; i < own; i++) square += z[i] * z[i];
    /* (z / last) constant, unless that is longer than the radius */
    const bool outside = last * radius < constant * sqrt(square);
    const double scale = outside ? radius / sqrt(square) : constant / fmax(last, 1e-300);
    const double length = sqrt(square * scale * scale + constant * constant);
    for (size_t i = 0; i < own; i++) z[i] *= scale / length;
    z[own] = constant / length;
}

static double value_at(const double *z, const double *image, size_t d)
{
    double sum = 0;
    for (size_t i = 0; i < d; i++) sum += z[i] * image[i];
    return sum;
}

/* Power iterations from random points; the place with the largest value, of length 1. */
static size_t climb(start *s, clo_stream *stream, double constant, double *z, double *images,
                    double *lifted, double *products)
{
    const problem *const p = s->p;
    const size_t d = p->shape.cols;
    size_t best = 0;
    for (size_t c = 0; c < CANDIDATES; c++) {
        draw_point(p, stream, z + c * d);
        z[c * d + p->own] = constant;
        onto_ball(p, constant, z + c * d);
    }
    for (int step = 0;; step++) {
        clo_i_center_apply(&p->shape, s->bench.residual, z, CANDIDATES, lifted, products, images);
        if (step == POWER_STEPS) break;
        memcpy(z, images, CANDIDATES * d * sizeof *z);
        for (size_t c = 0; c < CANDIDATES; c++) onto_ball(p, constant, z + c * d);
    }
    for (size_t c = 1; c < CANDIDATES; c++)
        if (value_at(z + c * d, images + c * d, d) > value_at(z + best * d, images + best * d, d))
            best = c;
    return best;
}

/* Writes `count` places, one after the other, where what is left in bench.residual is largest, and
 * takes each off; factor: how the constant is seen. */
static void pursue(start *s, clo_stream *stream, double factor, size_t count, double *centers)
{
    const problem *const p = s->p;
    const clo_center_shape *const shape = &p->shape;
    const size_t d = shape->cols, own = p->own;
    const double constant = factor * p->job->constant;
    double *const z = s->descent + clo_i_descend_scratch(variables(p));
    double *const images = z + CANDIDATES * d, *const lifted = images + CANDIDATES * d;
    double *const products = lifted + CANDIDATES * shape->pairs;
    clo_i_center_rescale(shape, factor, s->bench.residual);
    for (size_t l = 0; l < count; l++) {
        const size_t best = climb(s, stream, constant, z, images, lifted, products);
        const double *const found = z + best * d, *const pairs = lifted + best * shape->pairs;
        const double *const other = shape->order == 3 ? found : pairs;
        const double weight = -fmax(value_at(found, images + best * d, d), 0);
        for (size_t i = 0; i < own; i++) centers[l * own + i] = found[i] / found[own] * constant;
        for (size_t e = 0; e < shape->rows; e++) s->bench.trace[e] = weight * other[e];
        clo_i_cross_add(s->bench.trace, shape->rows, pairs, shape->pairs, 1, s->bench.residual);
    }
}

static void draw_start(start *s, size_t number, clo_stream *stream, double *x)
{
    const problem *const p = s->p;
    const size_t k = p->shape.clusters, own = p->own;
    if (number % 2 == 0) {
        memcpy(s->bench.residual, p->target, p->shape.rows * p->shape.pairs * sizeof(double));
        pursue(s, stream, 0.2 + 0.6 * clo_i_random_unit(stream), k, x);
    } else {
        for (size_t l = 0; l < k; l++) draw_point(p, stream, x + l * own);
    }
    for (size_t l = 0; l < k; l++) x[k * own + l] = sqrt(1 / (double)k);
    x[k * (own + 1)] = sqrt(FIRST_SPREAD);
}

/* ---- repairs ----------------------------------------------------------------------------- */

/* What it costs to make one centre of two, in squared distance times records. */
static double cost_of_merging(const problem *p, const double *x, size_t a, size_t b)
{
    const size_t k = p->shape.clusters, own = p->own;
    const double wa = x[k * own + a] * x[k * own + a], wb = x[k * own + b] * x[k * own + b];
    double square = 0;
    for (size_t i = 0; i < own; i++)
        square += (x[a * own + i] - x[b * own + i]) * (x[a * own + i] - x[b * own + i]);
    return square * wa * wb / fmax(wa + wb, 1e-300);
}

/* Makes one of the two centres that it costs least to merge, and gives the number of the other,
 * which is free then: its weight is 0. */
static size_t merge_two(const problem *p, double *x)
{
    const size_t k = p->shape.clusters, own = p->own;
    size_t keep = 0, spare = 1;
    double least = INFINITY;
    for (size_t a = 0; a < k; a++)
        for (size_t b = a + 1; b < k; b++) {
            if (x[k * own + a] == 0 || x[k * own + b] == 0) continue;
            const double cost = cost_of_merging(p, x, a, b);
            if (cost >= least) continue;
            least = cost;
            keep = a;
            spare = b;
        }
    double *const weights = x + k * own;
    const double wa = weights[keep] * weights[keep], wb = weights[spare] * weights[spare];
    for (size_t i = 0; i < own && wa + wb > 0; i++)
        x[keep * own + i] = (wa * x[keep * own + i] + wb * x[spare * own + i]) / (wa + wb);
    weights[keep] = sqrt(wa + wb);
    weights[spare] = 0;
    return spare;
}

/* Puts `count` centres to where the residual is largest, and goes on from there. */
static double repair(start *s, clo_stream *stream, size_t count, double *x)
{
    const problem *const p = s->p;
    const size_t k = p->shape.clusters, own = p->own;
    double *const places = s->places;
    (void)objective(s, x, s->slope); /* for its residual */
    pursue(s, stream, clo_i_random_unit(stream), count, places);
    for (size_t c = 0; c < count; c++) {
        const size_t spare = merge_two(p, x);
        memcpy(x + spare * own, places + c * own, own * sizeof *x);
    }
    for (size_t l = 0; l < k; l++)
        if (x[k * own + l] == 0) x[k * own + l] = sqrt(0.5 / (double)k);
    return descend(s, x, REPAIR_STEPS);
}

static double repair_while_it_pays(start *s, clo_stream *stream, double loss, double *x)
{
    const size_t k = s->p->shape.clusters, count = variables(s->p);
    size_t many = 1 + k / 8;
    for (int turn = 0, vain = 0; k > 1 && turn < REPAIRS && vain < IN_VAIN; turn++) {
        memcpy(s->trial, x, count * sizeof *x);
        const double now = repair(s, stream, many, s->trial);
        if (now < loss - 0.01 * s->p->lean) {
            memcpy(x, s->trial, count * sizeof *x);
            loss = now;
            vain = 0;
        } else if (many > 1) {
            many /= 2;
        } else {
            vain++;
        }
    }
    return descend(s, x, MOST_STEPS);
}

static clo_status try_start(const problem *p, size_t number, double *x, double *loss)
{
    double *room = NULL;
    CLO_TRY(clo_i_alloc(start_room(p), sizeof *room, &room, NULL));
    const int before = clo_i_blas_serial_begin();
    start s = lay_out(p, room);
    clo_stream *stream = NULL;
    clo_status status = clo_i_stream_open(p->job->rng, p->job->ask, number, &stream, NULL);
    if (!status) {
        draw_start(&s, number, stream, x);
        *loss = repair_while_it_pays(&s, stream, descend(&s, x, MOST_STEPS), x);
        status = clo_i_stream_check(stream, NULL);
    }
    clo_i_stream_close(stream);
    clo_i_blas_serial_end(before);
    clo_i_free(room);
    return status;
}

/* ---- the fit ----------------------------------------------------------------------------- */

/* The tensor's last entry counts the records, whatever they are; no smaller than the noise, so that
 * a tensor of nothing but noise is one, too. */
static clo_status prepare(const clo_center_job *job, problem *p, clo_error *err)
{
    *p = (problem){ .job = job,
                    .shape = clo_i_center_shape(job->order, job->cols, job->clusters),
                    .own = job->cols - 1 };
    const double whole = pow(job->constant, job->order);
    const double last = job->moments[clo_i_center_entries(&p->shape) - 1];
    p->unit = fmax(fmax(last, job->noise), 1e-300) / whole;
    p->lean = fmax(job->noise / p->unit * (job->noise / p->unit), 1e-14);
    CLO_TRY(clo_i_alloc(p->shape.rows * p->shape.pairs, sizeof *p->target, &p->target, err));
    clo_i_center_spread_out(&p->shape, job->moments, p->unit, p->target);
    return CLO_OK;
}

static void put(const problem *p, const double *x, double loss, clo_center_model *out)
{
    const size_t k = p->shape.clusters, own = p->own;
    const double root = x[k * (own + 1)];
    memcpy(out->centers, x, k * own * sizeof *x);
    for (size_t l = 0; l < k; l++) out->weights[l] = p->unit * x[k * own + l] * x[k * own + l];
    out->spread = root * root;
    out->loss = loss;
}

clo_status clo_i_center_fit(const clo_center_job *job, clo_center_model *out, clo_error *err)
{
    problem p;
    double *points = NULL, *losses = NULL;
    size_t best = 0;
    _Atomic int failure = CLO_OK;
    CLO_TRY(prepare(job, &p, err));
    const size_t count = variables(&p);
    clo_status status = clo_i_alloc(job->starts * count, sizeof *points, &points, err);
    if (!status) status = clo_i_alloc(job->starts, sizeof *losses, &losses, err);
    if (status) goto done;
#pragma omp parallel for num_threads(job->threads) schedule(dynamic)
    for (size_t number = 0; number < job->starts; number++) {
        const clo_status mine = try_start(&p, number, points + number * count, losses + number);
        if (mine) atomic_store(&failure, (int)mine);
    }
    status = (clo_status)atomic_load(&failure);
    if (status) {
        status = clo_i_fail(err, status, "the starts of the fit could not be made");
        goto done;
    }
    for (size_t number = 1; number < job->starts; number++)
        if (losses[number] < losses[best]) best = number;
    put(&p, points + best * count, losses[best], out);
done:
    clo_i_free(p.target);
    clo_i_free(points);
    clo_i_free(losses);
    return status;
}

static void take_point(const problem *p, const clo_center_model *model, double *x)
{
    const size_t k = p->shape.clusters, own = p->own;
    memcpy(x, model->centers, k * own * sizeof *x);
    for (size_t l = 0; l < k; l++) x[k * own + l] = sqrt(fmax(model->weights[l] / p->unit, 1e-12));
    x[k * (own + 1)] = sqrt(model->spread);
}

clo_status clo_i_center_refit(const clo_center_job *job, clo_center_model *model, clo_error *err)
{
    problem p;
    double *room = NULL;
    CLO_TRY(prepare(job, &p, err));
    const clo_status status = clo_i_alloc(variables(&p) + start_room(&p), sizeof *room, &room, err);
    if (!status) {
        const int before = clo_i_blas_serial_begin();
        start s = lay_out(&p, room + variables(&p));
        take_point(&p, model, room);
        put(&p, room, descend(&s, room, MOST_STEPS), model);
        clo_i_blas_serial_end(before);
    }
    clo_i_free(p.target);
    clo_i_free(room);
    return status;
}

clo_status clo_i_center_moments(const clo_center_job *job, const clo_center_model *model,
                                double *moments, clo_error *err)
{
    problem p = { .job = job,
                  .shape = clo_i_center_shape(job->order, job->cols, job->clusters),
                  .own = job->cols - 1,
                  .unit = 1 };
    const size_t all = p.shape.rows * p.shape.pairs;
    double *room = NULL;
    CLO_TRY(clo_i_alloc(all + variables(&p) + start_room(&p), sizeof *room, &room, err));
    double *const x = room + all;
    start s = lay_out(&p, x + variables(&p));
    const int before = clo_i_blas_serial_begin();
    take_point(&p, model, x);
    clo_i_center_residual(&p.shape, room, read_point(&s, x), &s.bench); /* of a target of zeros */
    clo_i_center_gather(&p.shape, s.bench.residual, -1, moments);
    clo_i_blas_serial_end(before);
    clo_i_free(room);
    return CLO_OK;
}
