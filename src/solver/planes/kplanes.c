/*
 * kplanes.c - k-planes (K-subspaces): k flats such that the rows are near to their nearest one.
 *
 * A search from one start ends in a local optimum, often a poor one, so there are many starts.
 * After a few steps the poor ones can be told: only the best third of the starts is taken to its
 * end.  Starts are worked at in rounds, so that their memory does not grow with their number.
 */
#include "solver/planes/kplanes.h"
#include "linalg/linalg.h"
#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <string.h>

enum {
    TRIAL = 6,  /* steps before the starts are compared */
    ROUND = 60, /* starts a round */
    LEAST_CELLS = 8
};

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- the search ----------------------------------------------------------------------------- */

static void search_free(clo_search *search)
{
    clo_i_free(search->dims);
    clo_i_free(search->firsts);
    clo_i_free(search->shift);
    clo_i_free(search->norms);
}

/* Squared lengths, and the mean that affine work is done about: far from the origin, squares of
 * what is left have more digits. */
static void measure_rows(clo_search *s)
{
    const size_t n = s->job->count, d = s->job->cols;
    for (size_t i = 0; i < n && s->shift; i++)
        for (size_t c = 0; c < d; c++) s->shift[c] += s->job->rows[i * d + c] / (double)n;
#pragma omp parallel for num_threads(s->job->threads) schedule(static)
    for (size_t i = 0; i < n; i++) {
        double square = 0;
        for (size_t c = 0; c < d; c++) {
            const double x = s->job->rows[i * d + c] - (s->shift ? s->shift[c] : 0);
            square += x * x;
        }
        s->norms[i] = square;
    }
}

/* A block and its scores fit in half a megabyte.  Moments are kept where they take little beside
 * the data; with few clusters each has several cells, for several threads to sum in. */
static void cut(clo_search *s)
{
    const size_t n = s->job->count, d = s->job->cols, wide = d + s->stack_rows;
    s->height = wide > 1024 ? 64 : smaller(65536 / wide, 2048);
    s->slices = n < 4096 ? 1 : (LEAST_CELLS + s->clusters - 1) / s->clusters;
    const double cells = (double)s->clusters * (double)s->slices * (double)d * (double)d;
    if (cells > 131072 && cells > (double)n * (double)d / 8) s->slices = 0;
    if (s->slices == 0 && s->height > CLO_FLAT_BLOCK) s->height = CLO_FLAT_BLOCK;
}

static clo_status search_new(const clo_solver_input *job, const clo_kplanes_options *options,
                             clo_search *out, clo_error *err)
{
    const clo_flat_shape *const shape = &options->shape;
    clo_search s = { .job = job,
                     .clusters = shape->clusters,
                     .affine = shape->affine,
                     .iterations = options->iterations };
    clo_status status = clo_i_alloc(s.clusters, sizeof *s.dims, &s.dims, err);
    if (!status) status = clo_i_alloc(s.clusters + 1, sizeof *s.firsts, &s.firsts, err);
    if (!status && s.affine) status = clo_i_alloc(job->cols, sizeof *s.shift, &s.shift, err);
    if (!status) status = clo_i_alloc(job->count, sizeof *s.norms, &s.norms, err);
    if (status) {
        search_free(&s);
        return status;
    }
    for (size_t l = 0; l < s.clusters; l++) {
        s.dims[l] = clo_i_shape_dim(shape, l);
        s.firsts[l + 1] = s.firsts[l] + s.dims[l];
    }
    s.stack_rows = s.firsts[s.clusters] + (s.affine ? s.clusters : 0);
    s.ask = clo_i_rng_next_ask(job->rng);
    measure_rows(&s);
    cut(&s);
    *out = s;
    return CLO_OK;
}

/* ---- starts --------------------------------------------------------------------------------- */

typedef struct campaign {
    clo_search search;
    clo_worker *workers;
    int worker_count;
    clo_start starts[ROUND];
    double *stacks; /* of the starts, and of the best */
    clo_start best;
    size_t done, whole; /* turns of starts */
    clo_status status;
    clo_error *err;
} campaign;

/* From one thread at a time; whether to go on. */
static bool report(void *user)
{
    campaign *const c = user;
    bool going;
#pragma omp critical
    {
        if (!c->status)
            c->status =
                clo_i_job_progress(c->search.job, (double)c->done / (double)c->whole, c->err);
        going = !c->status;
    }
    return going;
}

/* Takes each of the starts on, several at once where there are several workers. */
static clo_status advance_all(campaign *c, clo_start *starts, size_t count, size_t most)
{
#pragma omp parallel for num_threads(c->worker_count) schedule(dynamic) if (c->worker_count > 1)
    for (size_t i = 0; i < count; i++) {
        clo_worker *const worker = &c->workers[c->worker_count > 1 ? omp_get_thread_num() : 0];
        clo_error local;
        clo_status here = CLO_OK;
        const int blas = clo_i_blas_serial_begin();
        if (report(c) && !starts[i].converged)
            here = clo_i_advance(worker, &starts[i], most, report, c, &local);
        clo_i_blas_serial_end(blas);
#pragma omp critical
        {
            c->done++;
            if (here && !c->status) c->status = clo_i_fail(c->err, here, "%s", local.message);
        }
    }
    return c->status;
}

/* The best first; of equals the earlier. */
static void sort_starts(clo_start *starts, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const clo_start moving = starts[i];
        size_t at = i;
        for (; at > 0 && moving.cost < starts[at - 1].cost; at--) starts[at] = starts[at - 1];
        starts[at] = moving;
    }
}

static void keep_better(campaign *c, const clo_start *start)
{
    double *const stack = c->best.stack;
    if (!(start->cost < c->best.cost)) return;
    c->best = *start;
    c->best.stack = stack;
    memcpy(stack, start->stack, c->search.stack_rows * c->search.job->cols * sizeof *stack);
}

/* Some steps of each, then the best third to the end. */
static clo_status run_round(campaign *c, uint64_t first, size_t count)
{
    const size_t cells = c->search.stack_rows * c->search.job->cols;
    const size_t most = c->search.iterations, kept = (count + 2) / 3;
    for (size_t i = 0; i < count; i++)
        c->starts[i] = (clo_start){ .kind = (clo_start_kind)((first + i) % 3),
                                    .stream = first + i,
                                    .stack = c->stacks + (i + 1) * cells,
                                    .cost = INFINITY };
    CLO_TRY(advance_all(c, c->starts, count, smaller(most, TRIAL)));
    sort_starts(c->starts, count);
    CLO_TRY(advance_all(c, c->starts, kept, most));
    for (size_t i = 0; i < kept; i++) keep_better(c, &c->starts[i]);
    return CLO_OK;
}

/* From the flats of the partition where they have the shape, else from its labels. */
static clo_status warm_start(campaign *c, const clo_partition *from, clo_start *start,
                             clo_error *err)
{
    const clo_search *const s = &c->search;
    const size_t d = s->job->cols;
    bool same =
        from->clusters == s->clusters && from->cols == d && (from->offsets != NULL) == s->affine;
    for (size_t l = 0; l < s->clusters && same; l++) same = from->dims[l] == s->dims[l];
    if (!same && from->labels && from->count == s->job->count && from->clusters <= s->clusters) {
        start->kind = CLO_START_LABELS;
        start->labels = from->labels;
        return CLO_OK;
    }
    if (!same)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the start must have the same numbers of clusters, columns and "
                          "dimensions, and the same flats");
    start->kind = CLO_START_FLATS;
    for (size_t l = 0; l < s->clusters; l++) {
        double *const own = start->stack + s->firsts[l] * d;
        for (size_t j = 0; j < s->dims[l]; j++)
            for (size_t i = 0; i < d; i++)
                own[j * d + i] = from->bases[(l * d + i) * from->width + j];
        clo_i_set_flat(s, start->stack, l, own, from->offsets ? from->offsets + l * d : NULL);
    }
    return CLO_OK;
}

static clo_status run_warm(campaign *c, const clo_kplanes_options *options, clo_error *err)
{
    const clo_solver_input *const job = c->search.job;
    const size_t cells = c->search.stack_rows * job->cols;
    size_t count = 0;
    if (job->start) {
        c->starts[count] = (clo_start){ .stack = c->stacks + cells, .cost = INFINITY };
        CLO_TRY(warm_start(c, job->start, &c->starts[count++], err));
    }
    if (options->start_labels) {
        c->starts[count] = (clo_start){ .kind = CLO_START_LABELS,
                                        .labels = options->start_labels,
                                        .stack = c->stacks + 2 * cells,
                                        .cost = INFINITY };
        count++;
    }
    CLO_TRY(advance_all(c, c->starts, count, c->search.iterations));
    for (size_t i = 0; i < count; i++) keep_better(c, &c->starts[i]);
    return CLO_OK;
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* One worker a thread where each thread finds starts enough and their room is small beside the
 * data. */
static clo_status hire(campaign *c, size_t restarts, clo_error *err)
{
    const clo_search *const s = &c->search;
    const int threads = s->job->threads;
    const size_t bytes = s->job->count * s->job->cols * sizeof(double);
    const bool many = threads > 1 && restarts >= (size_t)threads &&
                      (size_t)threads * clo_i_worker_bytes(s, 1) <= (size_t)(1 << 24) + bytes / 8;
    const int count = many ? threads : 1;
    CLO_TRY(clo_i_alloc((size_t)count, sizeof *c->workers, &c->workers, err));
    for (c->worker_count = 0; c->worker_count < count; c->worker_count++)
        CLO_TRY(clo_i_worker_new(s, many ? 1 : threads, &c->workers[c->worker_count], err));
    return CLO_OK;
}

static clo_status run_campaign(campaign *c, const clo_kplanes_options *options, clo_error *err)
{
    const clo_search *const s = &c->search;
    const size_t round = smaller(options->restarts, ROUND), slots = round > 2 ? round : 2;
    size_t cells = 0;
    if (!clo_i_multiply(s->stack_rows, s->job->cols, &cells) ||
        !clo_i_multiply(cells, slots + 1, &cells))
        return clo_i_fail(err, CLO_MEMORY,
                          "there is not enough memory for so many clusters and "
                          "columns");
    CLO_TRY(clo_i_alloc(cells, sizeof *c->stacks, &c->stacks, err));
    CLO_TRY(hire(c, options->restarts, err));
    c->best = (clo_start){ .stack = c->stacks, .cost = INFINITY };
    c->whole = options->restarts + (options->restarts + 2) / 3 + options->restarts / ROUND + 3;
    c->err = err;
    CLO_TRY(run_warm(c, options, err));
    for (size_t first = 0; first < options->restarts; first += ROUND)
        CLO_TRY(run_round(c, first, smaller(ROUND, options->restarts - first)));
    return CLO_OK;
}

clo_status clo_i_search_flats(const clo_solver_input *job, const clo_kplanes_options *options,
                              clo_partition *out, clo_error *err)
{
    campaign *c = NULL;
    CLO_TRY(clo_i_alloc(1, sizeof *c, &c, err));
    clo_status status = search_new(job, options, &c->search, err);
    if (!status) status = run_campaign(c, options, err);
    if (!status) {
        const clo_flat_shape shape = { .clusters = c->search.clusters,
                                       .dims = c->search.dims,
                                       .affine = c->search.affine };
        const int blas = clo_i_blas_serial_begin();
        c->workers[0].start = &c->best;
        (void)clo_i_assign(&c->workers[0]);
        clo_i_blas_serial_end(blas);
        status = clo_i_fit_flats(job, c->workers[0].next, &shape, out, err);
    }
    for (int i = 0; i < c->worker_count; i++) clo_i_worker_free(&c->workers[i]);
    clo_i_free(c->workers);
    clo_i_free(c->stacks);
    search_free(&c->search);
    clo_i_free(c);
    return status;
}

clo_status clo_i_kplanes(const clo_solver_input *job, const clo_kplanes_options *options,
                         clo_partition *out, clo_error *err)
{
    CLO_TRY(clo_i_check_shape(job, &options->shape, err));
    if (options->restarts == 0 && !options->start_labels && !job->start)
        return clo_i_fail(err, CLO_ARGUMENT, "restarts must be at least 1 if no start is given");
    for (size_t i = 0; i < job->count && options->start_labels; i++)
        if (options->start_labels[i] >= options->shape.clusters)
            return clo_i_fail(err, CLO_ARGUMENT,
                              "a label to start from must be below the clusters");
    for (size_t l = 0; l < options->shape.clusters; l++)
        if (clo_i_shape_dim(&options->shape, l) == 0)
            return clo_i_search_dims(job, options, out, err);
    return clo_i_search_flats(job, options, out, err);
}

/* ---- the solver ----------------------------------------------------------------------------- */

enum { CLUSTERS, DIM, FLATS, RESTARTS, ITERATIONS };

static const clo_param params[] = {
    [CLUSTERS] = CLO_SOLVER_ROW_CLUSTERS,
    [DIM] = CLO_SOLVER_ROW_DIM,
    [FLATS] = CLO_SOLVER_ROW_FLATS,
    [RESTARTS] = CLO_SOLVER_ROW_RESTARTS(10),
    [ITERATIONS] = CLO_SOLVER_ROW_ITERATIONS(200),
};

static clo_status solve(const clo_solver_input *job, const double *values, clo_partition *out,
                        clo_error *err)
{
    const clo_kplanes_options options = { .shape = { .clusters = (size_t)values[CLUSTERS],
                                                     .dim = (size_t)values[DIM],
                                                     .dims = job->dims,
                                                     .affine = values[FLATS] > 0 },
                                          .restarts = (size_t)values[RESTARTS],
                                          .iterations = (size_t)values[ITERATIONS] };
    return clo_i_kplanes(job, &options, out, err);
}

const clo_solver clo_i_solver_kplanes = {
    .name = "kplanes",
    .summary = "k subspaces nearest to the rows, from many starts (K-subspaces)",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .warm = true,
    .unequal = true,
    .solve = solve,
};
