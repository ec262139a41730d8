/*
 * kmeans.c - k-means from several starts, the best kept.  k-median is the same with another rule
 * for where a centre goes.
 *
 * Each start draws from the stream of its own number.  Where there are as many starts as threads,
 * the threads share the starts; otherwise they share the rows of one start after the other.
 * Either way each start does the same arithmetic.
 */
#include "solver/centers/kmeans.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

enum { CLUSTERS, RESTARTS, ITERATIONS, TOLERANCE, BOUNDS, PARAM_COUNT };

static const clo_param params[PARAM_COUNT] = {
    [CLUSTERS] = CLO_SOLVER_ROW_CLUSTERS,
    [RESTARTS] = CLO_SOLVER_ROW_RESTARTS(10),
    [ITERATIONS] = CLO_SOLVER_ROW_ITERATIONS(300),
    [TOLERANCE] = { "tolerance", CLO_PARAM_REAL, 0, 1, 1e-4, NULL,
                    "stop when the centers' summed squared moves are below this share of the "
                    "columns' mean variance" },
    [BOUNDS] = { "bounds", CLO_PARAM_CHOICE, 0, 3, 0, "auto|lloyd|hamerly|elkan",
                 "which distances to skip; the result is the same" },
};

clo_kmeans_options clo_i_kmeans_default(size_t clusters)
{
    return (clo_kmeans_options){ .clusters = clusters,
                                 .restarts = (size_t)params[RESTARTS].preset,
                                 .iterations = (size_t)params[ITERATIONS].preset,
                                 .tolerance = params[TOLERANCE].preset };
}

/* What all starts of one call share. */
typedef struct session {
    const clo_solver_input *job;
    const clo_kmeans_options *options;
    const clo_center_rule *rule;
    clo_points points;
    clo_kmeans_bounds bounds;
    uint64_t ask;
    size_t starts;    /* restarts, and the given one */
    size_t finished;  /* of them */
    int teams, inner; /* threads over the starts, and inside each */
    clo_kmeans_run best;
    size_t best_start;
    clo_status status;
    clo_error *err;
} session;

/* Bounds cost a few operations a row and step, and pay where a row's scores cost more.  Elkan's won
 * on none of the first three shapes of bench/bench_kmeans.py: it has to be asked for. */
static clo_kmeans_bounds choose_bounds(const clo_kmeans_options *options, size_t cols)
{
    enum { WORTH = 128 };
    if (options->bounds != CLO_KMEANS_AUTO) return options->bounds;
    if (options->clusters < 2 || options->clusters * cols < WORTH) return CLO_KMEANS_LLOYD;
    return CLO_KMEANS_HAMERLY;
}

/* True where the run must end: somebody failed, or the caller wants no more. */
static bool must_stop(session *s, size_t iteration)
{
    bool stop;
#pragma omp critical
    {
        const double within = (double)iteration / (double)s->options->iterations;
        const double done =
            ((double)s->finished + (s->teams == 1 ? within : 0)) / (double)s->starts;
        if (!s->status) s->status = clo_i_job_progress(s->job, fmin(done, 1), s->err);
        stop = s->status != CLO_OK;
    }
    return stop;
}

static void fail_with(session *s, clo_status status, const clo_error *err)
{
#pragma omp critical
    if (!s->status) {
        s->status = status;
        if (s->err) *s->err = *err;
    }
}

/* The centres of start number `start`; the given one comes last. */
static clo_status place(session *s, size_t start, clo_kmeans_run *run, clo_error *err)
{
    const clo_points *const p = &s->points;
    const size_t k = s->options->clusters, d = p->cols;
    const bool given = start == s->options->restarts || s->options->restarts == 0;
    size_t *chosen = NULL;
    clo_stream *stream = NULL;
    clo_status status = CLO_OK;
    if (!given) {
        status = clo_i_alloc(k, sizeof *chosen, &chosen, err);
        if (!status) status = clo_i_stream_open(s->job->rng, s->ask, start, &stream, err);
        if (!status) status = clo_i_seed_rows(p, k, s->rule->power, stream, s->inner, chosen, err);
    }
    for (size_t c = 0; c < k && !status; c++) {
        const double *const from = given ? s->options->start + c * d : p->rows + chosen[c] * d;
        for (size_t j = 0; j < d; j++) run->centers[c * d + j] = from[j] - p->mean[j];
    }
    clo_i_stream_close(stream);
    clo_i_free(chosen);
    return status;
}

/* Steps until nothing changes, or little; false where it was stopped on the way. */
static bool descend(session *s, clo_kmeans_run *run)
{
    const double enough = s->options->tolerance * s->points.variance;
    bool settled = false;
    clo_i_kmeans_begin(run);
    for (size_t step = 0; step < s->options->iterations; step++) {
        if (must_stop(s, step)) return false;
        settled = clo_i_kmeans_assign(run) == 0;
        if (settled) break;
        if (s->rule->update(run) <= enough) break;
    }
    /* The labels are those of the centres that are handed out. */
    if (!settled) (void)clo_i_kmeans_assign(run);
    run->cost = s->rule->cost(run);
    return true;
}

/* Keeps the better of two runs, of equals the earlier start; the other's memory is used again. */
static void offer(session *s, clo_kmeans_run *run, size_t start)
{
#pragma omp critical
    {
        const bool first = s->best.labels == NULL;
        const bool better = !first && (run->cost < s->best.cost ||
                                       (run->cost == s->best.cost && start < s->best_start));
        if (first || better) {
            const clo_kmeans_run old = s->best;
            s->best = *run;
            s->best_start = start;
            *run = old;
        }
        s->finished++;
    }
}

static void run_start(session *s, size_t start, clo_kmeans_run *run)
{
    clo_error err = { 0 };
    clo_status status = CLO_OK;
    if (must_stop(s, 0)) return;
    if (!run->labels)
        status =
            clo_i_kmeans_run_new(&s->points, s->options->clusters, s->bounds, s->inner, run, &err);
    if (!status) status = place(s, start, run, &err);
    if (status) {
        fail_with(s, status, &err);
        return;
    }
    if (descend(s, run)) offer(s, run, start);
}

static void run_starts(session *s)
{
#pragma omp parallel num_threads(s->teams)
    {
        clo_kmeans_run run = { 0 };
        const int before = clo_i_blas_serial_begin();
#pragma omp for schedule(dynamic, 1)
        for (size_t start = 0; start < s->starts; start++) run_start(s, start, &run);
        clo_i_blas_serial_end(before);
        clo_i_kmeans_run_free(&run);
    }
}

static clo_status check(const clo_solver_input *job, const clo_kmeans_options *options,
                        clo_error *err)
{
    const size_t k = options->clusters;
    size_t cells = 0;
    CLO_TRY(clo_i_check_clusters(k, CLO_SOLVER_CLUSTERS, err));
    if (job->count < k)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "there are %zu rows, fewer than the %zu clusters to find", job->count, k);
    if (job->cols < 1 || job->cols > INT32_MAX || !clo_i_multiply(k * 64, job->cols, &cells))
        return clo_i_fail(err, CLO_ARGUMENT, "rows of %zu columns cannot be clustered", job->cols);
    if (options->restarts == 0 && !options->start)
        return clo_i_fail(err, CLO_ARGUMENT, "restarts must be at least 1, not 0");
    if (options->iterations == 0)
        return clo_i_fail(err, CLO_ARGUMENT, "iterations must be at least 1, not 0");
    if (!(options->tolerance >= 0))
        return clo_i_fail(err, CLO_ARGUMENT, "tolerance must be at least 0, not %g",
                          options->tolerance);
    return CLO_OK;
}

clo_status clo_i_centers(const clo_solver_input *job, const clo_kmeans_options *options,
                         const clo_center_rule *rule, double *centers, uint32_t *labels,
                         double *cost, clo_error *err)
{
    CLO_TRY(check(job, options, err));
    session s = { .job = job, .options = options, .rule = rule, .err = err };
    s.starts = options->restarts + (options->start ? 1 : 0);
    s.bounds = choose_bounds(options, job->cols);
    s.teams = s.starts >= (size_t)job->threads ? job->threads : 1;
    s.inner = s.teams == 1 ? job->threads : 1;
    s.ask = clo_i_rng_next_ask(job->rng);
    s.status = clo_i_points_new(job, options->weights, options->clusters, &s.points, err);
    if (!s.status) run_starts(&s);
    if (!s.status) s.status = clo_i_job_progress(job, 1, err);
    if (!s.status) {
        const size_t d = job->cols;
        memcpy(labels, s.best.labels, job->count * sizeof *labels);
        for (size_t c = 0; c < options->clusters; c++)
            for (size_t j = 0; j < d; j++)
                centers[c * d + j] = s.best.centers[c * d + j] + s.points.mean[j];
        *cost = s.best.cost;
    }
    clo_i_kmeans_run_free(&s.best);
    clo_i_points_free(&s.points);
    return s.status;
}

/* ---- k-means ------------------------------------------------------------------------------- */

static const clo_center_rule means = { .power = 2,
                                       .update = clo_i_kmeans_update,
                                       .cost = clo_i_kmeans_cost };

clo_status clo_i_kmeans(const clo_solver_input *job, const clo_kmeans_options *options,
                        double *centers, uint32_t *labels, double *cost, clo_error *err)
{
    return clo_i_centers(job, options, &means, centers, labels, cost, err);
}

clo_status clo_i_centers_solve(const clo_solver_input *job, clo_kmeans_options options,
                               const clo_center_rule *rule, clo_partition *out, clo_error *err)
{
    clo_partition made = { 0 };
    if (job->start) {
        if (job->start->clusters != options.clusters || job->start->cols != job->cols ||
            !job->start->offsets)
            return clo_i_fail(err, CLO_ARGUMENT, "the start must have %zu centers of %zu columns",
                              options.clusters, job->cols);
        options.start = job->start->offsets;
    }
    CLO_TRY(clo_i_partition_new(job->count, options.clusters, job->cols, 0, true, &made, err));
    const clo_status status =
        clo_i_centers(job, &options, rule, made.offsets, made.labels, &made.cost, err);
    if (status)
        clo_i_partition_free(&made);
    else
        *out = made;
    return status;
}

static clo_status solve(const clo_solver_input *job, const double *values, clo_partition *out,
                        clo_error *err)
{
    clo_kmeans_options options = clo_i_kmeans_default((size_t)values[CLUSTERS]);
    options.restarts = (size_t)values[RESTARTS];
    options.iterations = (size_t)values[ITERATIONS];
    options.tolerance = values[TOLERANCE];
    options.bounds = (clo_kmeans_bounds)values[BOUNDS];
    return clo_i_centers_solve(job, options, &means, out, err);
}

const clo_solver clo_i_solver_kmeans = {
    .name = "kmeans",
    .summary = "k-means: centers with the smallest mean squared distance",
    .params = params,
    .param_count = PARAM_COUNT,
    .warm = true,
    .solve = solve,
};
