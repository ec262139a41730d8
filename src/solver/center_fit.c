/*
 * center_fit.c - k centres from a tensor of moments, by least squares from many starts.
 *
 * Least squares alone would use a centre for the noise: far out, with few records.  Two terms,
 * weighed by the noise, speak against that: centres have about as many records each (the logarithm
 * of an arithmetic mean over a geometric one), and lie in the ball.  Without noise they vanish.
 *
 * Half of the starts are random points.  The others take one centre after the other where the
 * tensor that is left is largest, by its power iterations, and take it off.
 */
#include "solver/center_fit.h"
#include "linalg/linalg.h"
#include "solver/center_tensor.h"
#include "solver/lbfgs.h"
#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { MOST_STEPS = 300, CANDIDATES = 16, POWER_STEPS = 12 };
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
    return clo_i_center_bench_size(s) + 2 * s->clusters * (s->cols + 1) +
           clo_i_descend_scratch(variables(p)) + greedy;
}

static start lay_out(const problem *p, double *room)
{
    const size_t k = p->shape.clusters, d = p->shape.cols;
    start s = { .p = p, .bench = clo_i_center_bench(&p->shape, room) };
    s.z = room + clo_i_center_bench_size(&p->shape);
    s.by_z = s.z + k * d;
    s.weights = s.by_z + k * d;
    s.by_weight = s.weights + k;
    s.descent = s.by_weight + k;
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

static double descend(start *s, double *x)
{
    /* Far below the noise there is nothing to be won. */
    const clo_i_descent how = { .most_steps = MOST_STEPS,
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
static void onto_ball(const problem *p, double *z)
{
    const size_t own = p->own;
    const double constant = p->job->constant, radius = p->job->radius;
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

/* One centre after the other, where what is left of the tensor is largest. */
static void pursue(start *s, clo_stream *stream, double *centers)
{
    const problem *const p = s->p;
    const clo_center_shape *const shape = &p->shape;
    const size_t d = shape->cols, own = p->own;
    const clo_center_shape one = clo_i_center_shape(shape->order, d, 1);
    double *const z = s->descent + clo_i_descend_scratch(variables(p));
    double *const images = z + CANDIDATES * d, *const lifted = images + CANDIDATES * d;
    double *const products = lifted + CANDIDATES * shape->pairs;
    memcpy(s->bench.residual, p->target, shape->rows * shape->pairs * sizeof(double));
    for (size_t l = 0; l < shape->clusters; l++) {
        size_t best = 0;
        for (size_t c = 0; c < CANDIDATES; c++) {
            draw_point(p, stream, z + c * d);
            z[c * d + own] = p->job->constant;
            onto_ball(p, z + c * d);
        }
        for (int step = 0; step <= POWER_STEPS; step++) {
            clo_i_center_apply(shape, s->bench.residual, z, CANDIDATES, lifted, products, images);
            if (step == POWER_STEPS) break;
            memcpy(z, images, CANDIDATES * d * sizeof *z);
            for (size_t c = 0; c < CANDIDATES; c++) onto_ball(p, z + c * d);
        }
        for (size_t c = 1; c < CANDIDATES; c++)
            if (value_at(z + c * d, images + c * d, d) >
                value_at(z + best * d, images + best * d, d))
                best = c;
        const double *const found = z + best * d;
        const double weight = -fmax(value_at(found, images + best * d, d), 0);
        for (size_t i = 0; i < own; i++)
            centers[l * own + i] = found[i] / found[own] * p->job->constant;
        for (size_t e = 0; e < shape->rows; e++)
            s->bench.trace[e] =
                weight * (shape->order == 3 ? found[e] : lifted[best * shape->pairs + e]);
        clo_i_cross_add(s->bench.trace, one.rows, lifted + best * shape->pairs, one.pairs, 1,
                        s->bench.residual);
    }
}

static clo_status draw_start(start *s, size_t number, double *x)
{
    const problem *const p = s->p;
    const size_t k = p->shape.clusters, own = p->own;
    clo_stream *stream = NULL;
    CLO_TRY(clo_i_stream_open(p->job->rng, p->job->ask, number, &stream, NULL));
    if (number % 2 == 0)
        pursue(s, stream, x);
    else
        for (size_t l = 0; l < k; l++) draw_point(p, stream, x + l * own);
    for (size_t l = 0; l < k; l++) x[k * own + l] = sqrt(1 / (double)k);
    x[k * (own + 1)] = sqrt(FIRST_SPREAD);
    const clo_status status = clo_i_stream_check(stream, NULL);
    clo_i_stream_close(stream);
    return status;
}

static clo_status try_start(const problem *p, size_t number, double *x, double *loss)
{
    double *room = NULL;
    CLO_TRY(clo_i_alloc(start_room(p), sizeof *room, &room, NULL));
    const int before = clo_i_blas_serial_begin();
    start s = lay_out(p, room);
    const clo_status status = draw_start(&s, number, x);
    if (!status) *loss = descend(&s, x);
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
        put(&p, room, descend(&s, room), model);
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
