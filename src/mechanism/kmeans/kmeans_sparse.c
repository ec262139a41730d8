/*
 * kmeans_sparse.c - k-means of sparse records in very many columns: balcan2017, section 6.1.
 *
 * The centres are looked for in a public sketch of the records, a few coordinates in place of all
 * columns, and recovered in all columns at the end (kmeans_sparse.T1).  Nowhere is a record written
 * out, so that time and memory follow the entries that there are.
 *
 *   1. Many public points cut the sketch into cells.  One ask tells the noisy sum and size of each:
 *      a coarse picture of the data, on which k centres are found as often as one likes.
 *   2. A few of Lloyd's rounds take these to the means of their records.
 *   3. One ask recovers the clusters' sums in all columns: with noise on every column, and what
 *      noise alone may have made cut off ("sums"); or the largest entries one by one, as
 *      balcan2017's Algorithm 5 does ("peel").
 *
 * With a delta the noise is Gaussian, without one Laplace, unless the caller wants otherwise.
 */
#include "domain/domain.h"
#include "mechanism/common/centers_common.h"
#include "mechanism/common/forecast.h"
#include "mechanism/common/solver_job.h"
#include "mechanism/kmeans/sparse_centers.h"
#include "parallel/parallel.h"
#include "solver/solver.h"
#include "ask/assign.h"
#include "query/cluster_sum.h"
#include "ask/lens.h"
#include "query/peel.h"
#include "query/sparse_sum.h"
#include <math.h>
#include <string.h>

enum {
    CLUSTERS,
    SPARSITY,
    RECOVER,
    ETA,
    SKETCH,
    CELLS,
    ROUNDS,
    NOISE,
    PICTURE,
    RECOVERY,
    PARAM_COUNT
};
enum { BY_SUMS, BY_PEEL };
enum { START_ASK, ROUND_ASK };                          /* the recovery is the last */
enum { OF_START, OF_RECOVERY, OF_ROUNDS, PARTS_COUNT }; /* of the budget */
enum { MOST_SPARSITY = 1 << 16, DENSE_WITHOUT_DELTA = 1024, MOST_NUMBERS = 1 << 27 };
enum { RESTARTS = 16, CONES_FROM = 8 };
/* What the last round leaves of a centre that has not settled (clo_i_center_forecast). */
static const double UNSETTLED = 0.002;
static const double CONE_POINT = 0.3; /* of the radius */
static const double HARDLY = 1e-3;    /* the weight of a cell that seems to be empty */
static const double WEAK = 5; /* deviations of a size, up to which a centre has no records */

static const clo_param params[PARAM_COUNT] = {
    [CLUSTERS] = CLO_CENTERS_ROW_CLUSTERS,
    [SPARSITY] = { "sparsity", CLO_PARAM_INT, 0, MOST_SPARSITY, 0, NULL,
                   "how many of the largest entries of a record count; 0: all" },
    [RECOVER] = { "recover", CLO_PARAM_CHOICE, 0, 1, BY_SUMS, "sums|peel",
                  "sums: noisy sums of all columns; peel: the largest entries one by one" },
    [ETA] = { "eta", CLO_PARAM_REAL, 0.01, 2, 1, NULL,
              "with recover=peel: each center gets 2 * sparsity / eta entries" },
    [SKETCH] = { "sketch", CLO_PARAM_INT, 0, CLO_SKETCH_COLS, 0, NULL,
                 "number of random directions to look for centers in, a multiple of 4; 0: chosen "
                 "from the public facts" },
    [CELLS] = { "cells", CLO_PARAM_INT, 0, CLO_MAX_CLUSTERS, 0, NULL,
                "number of cells of the first, coarse answer; 0: chosen from the public facts" },
    [ROUNDS] = { "rounds", CLO_PARAM_INT, 0, 100, 2, NULL,
                 "rounds of Lloyd's method that refine "
                 "the first answer" },
    [NOISE] = CLO_CENTERS_ROW_NOISE,
    [PICTURE] = { "picture", CLO_PARAM_REAL, 0.01, 0.95, 0.2, NULL,
                  "share of the budget for the first, coarse answer" },
    [RECOVERY] = { "recovery", CLO_PARAM_REAL, 0.01, 0.95, 0.6, NULL,
                   "share of the budget for the sums in all columns" },
};

typedef struct sparse_plan {
    size_t clusters, cells, entries;
    uint64_t rounds;
    size_t cols; /* of the records */
    size_t seen; /* coordinates that the search sees */
    bool sketch; /* whether those are a sketch, and not the columns */
    bool peel;
    size_t told; /* peel: entries told of a centre */
} sparse_plan;

/* ---- the plan ---------------------------------------------------------------------------- */

static bool is_pure(const clo_draft *draft)
{
    const double noise = draft->values[NOISE];
    return noise == CLO_SUM_LAPLACE || (noise == CLO_SUM_AUTO && !(draft->budget.delta > 0));
}

/* Few enough that the noise of a cell, which grows with their root, stays small; enough to tell k
 * centres apart. */
static size_t usual_sketch(size_t k, bool pure)
{
    const size_t parts = (pure ? 2 : 6) + (size_t)ceil(log2((double)k) / 2);
    return parts * CLO_SKETCH_COPIES;
}

/* As many as leave a cell records enough, and several for each centre. */
static size_t usual_cells(size_t k, bool pure)
{
    const size_t cells = (pure ? 6 : 12) * k;
    return cells < CLO_MAX_CLUSTERS ? cells : CLO_MAX_CLUSTERS;
}

static clo_status choose_sizes(const clo_draft *draft, sparse_plan *plan, clo_error *err)
{
    const double *const values = draft->values;
    const bool pure = is_pure(draft);
    const size_t wanted = (size_t)values[SKETCH], cells = (size_t)values[CELLS];
    const size_t sketch = wanted ? wanted : usual_sketch(plan->clusters, pure);
    if (wanted % CLO_SKETCH_COPIES)
        return clo_i_fail(err, CLO_ARGUMENT, "sketch must be a multiple of %d, not %zu",
                          (int)CLO_SKETCH_COPIES, wanted);
    if (cells && cells < plan->clusters)
        return clo_i_fail(err, CLO_ARGUMENT, "cells must be at least clusters, %zu, not %zu",
                          plan->clusters, cells);
    if (plan->clusters * plan->cols > MOST_NUMBERS)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "%zu centers of %zu columns are too many: at most %d numbers in all",
                          plan->clusters, plan->cols, (int)MOST_NUMBERS);
    if ((pure || plan->peel) && plan->entries == 0 && plan->cols > DENSE_WITHOUT_DELTA)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "without a delta, or with recover=peel, give sparsity: the public "
                          "number of entries that a record can have");
    plan->sketch = sketch < plan->cols;
    plan->seen = plan->sketch ? sketch : plan->cols;
    plan->cells = cells ? cells : usual_cells(plan->clusters, pure);
    if (!plan->peel) return CLO_OK;
    const size_t bound = plan->entries && plan->entries < plan->cols ? plan->entries : plan->cols;
    const double told = ceil(2 * (double)bound / values[ETA]);
    plan->told = told < (double)plan->cols ? (size_t)told : plan->cols;
    return CLO_OK;
}

/* What each ask may cost: of the squares of mu where the noise is Gaussian, of epsilon where it is
 * not; all of it scaled so that together they spend the budget. */
static clo_status divide_budget(const clo_draft *draft, const sparse_plan *plan,
                                clo_event events[PARTS_COUNT], clo_error *err)
{
    const bool pure = is_pure(draft);
    const double start = draft->values[PICTURE], recover = draft->values[RECOVERY];
    const double rounds = 1 - start - recover;
    const double shares[] = { start, recover, rounds / fmax(1, (double)plan->rounds) };
    const clo_event once = { .kind = CLO_EVENT_GAUSSIAN, .parameter = 1, .count = 1 };
    double mu = 0, factor;
    if (plan->rounds && !(rounds > 0.005))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "picture and recovery must be at most 0.99 together, so that something "
                          "is left for the rounds");
    if (!pure) CLO_TRY(clo_calibrate(&once, 1, draft->budget, &mu, err));
    for (size_t i = 0; i < PARTS_COUNT; i++) {
        const bool laplace = pure || (i == OF_RECOVERY && plan->peel);
        events[i].kind = laplace ? CLO_EVENT_PURE : CLO_EVENT_GAUSSIAN;
        events[i].parameter = laplace ? shares[i] * draft->budget.epsilon : sqrt(shares[i]) * mu;
        events[i].delta = 0;
        events[i].count = i == OF_ROUNDS ? plan->rounds : 1;
    }
    CLO_TRY(clo_calibrate(events, plan->rounds ? 3 : 2, draft->budget, &factor, err));
    for (size_t i = 0; i < PARTS_COUNT; i++) events[i].parameter *= factor * (1 - 1e-9);
    return CLO_OK;
}

static clo_status add_search(clo_draft *draft, const sparse_plan *plan, const clo_event *event,
                             size_t groups, const char *label, clo_error *err)
{
    const clo_domain seen = clo_i_lens_domain(draft->domain, plan->seen);
    clo_line line;
    CLO_TRY(clo_i_plan_cluster_sum(plan->sketch ? &seen : draft->domain, groups, event->kind,
                                   event->parameter, event->count, label, &line, err));
    line.lens = plan->sketch ? CLO_SKETCH : CLO_NO_LENS;
    return clo_i_draft_add(draft, &line, err);
}

static clo_status add_recovery(clo_draft *draft, const sparse_plan *plan, const clo_event *event,
                               clo_error *err)
{
    clo_line line;
    if (plan->peel)
        CLO_TRY(clo_i_plan_peel(
            draft->domain, plan->seen, plan->clusters, plan->entries, plan->told, event->parameter,
            "the largest entries of the clusters' sums, one by one", &line, err));
    else
        CLO_TRY(clo_i_plan_sparse_sum(
            draft->domain, plan->seen, plan->clusters, plan->entries, event->kind, event->parameter,
            "sums and sizes of the clusters, in all columns", &line, err));
    line.lens = plan->sketch ? CLO_SKETCH : CLO_NO_LENS;
    return clo_i_draft_add(draft, &line, err);
}

/* What a run works with. */
typedef struct state {
    double *seen;          /* clusters x seen: the centres as the search finds them */
    double *centers;       /* clusters x cols */
    double *sizes;         /* clusters */
    double *points, *sums; /* cells x seen: of the coarse picture */
    double *cell_sizes;    /* cells */
    uint32_t *labels;      /* cells: whose each is */
    double *weights;       /* clusters: sizes during the search */
    size_t *columns;       /* clusters x told: where the entries are that peeling tells */
    double *values;        /* clusters x told */
} state;

static clo_status take_state(const sparse_plan *plan, clo_workspace *space, state *s,
                             clo_error *err)
{
    const size_t k = plan->clusters, m = plan->cells, r = plan->seen;
    CLO_TRY(clo_i_take(space, k * r, sizeof *s->seen, &s->seen, err));
    CLO_TRY(clo_i_take(space, k * plan->cols, sizeof *s->centers, &s->centers, err));
    CLO_TRY(clo_i_take(space, k, sizeof *s->sizes, &s->sizes, err));
    CLO_TRY(clo_i_take(space, m * r, sizeof *s->points, &s->points, err));
    CLO_TRY(clo_i_take(space, m * r, sizeof *s->sums, &s->sums, err));
    CLO_TRY(clo_i_take(space, m, sizeof *s->cell_sizes, &s->cell_sizes, err));
    CLO_TRY(clo_i_take(space, m, sizeof *s->labels, &s->labels, err));
    CLO_TRY(clo_i_take(space, k, sizeof *s->weights, &s->weights, err));
    CLO_TRY(clo_i_take(space, k * plan->told, sizeof *s->columns, &s->columns, err));
    return clo_i_take(space, k * plan->told, sizeof *s->values, &s->values, err);
}

static clo_status count_run(const sparse_plan *plan, clo_workspace *room, clo_error *err)
{
    const size_t k = plan->clusters, m = plan->cells, r = plan->seen;
    state unused;
    CLO_TRY(take_state(plan, room, &unused, err));
    if (plan->sketch) CLO_TRY(clo_i_sketch_room(room, plan->cols, err));
    CLO_TRY(clo_i_start_centers_room(room, m, r, err));
    CLO_TRY(clo_i_center_round_room(room, m, r, err));
    /* of the recovery, and of each round before it */
    return clo_i_assign_room(room, CLO_ASSIGN_CENTERS, k, r, 0, err);
}

static clo_status make_plan(clo_draft *draft, void *plan_state, clo_error *err)
{
    sparse_plan plan = { .clusters = (size_t)draft->values[CLUSTERS],
                         .entries = (size_t)draft->values[SPARSITY],
                         .rounds = (uint64_t)draft->values[ROUNDS],
                         .cols = draft->domain->cols,
                         .peel = (int)draft->values[RECOVER] == BY_PEEL };
    clo_event events[PARTS_COUNT];
    CLO_TRY(choose_sizes(draft, &plan, err));
    CLO_TRY(divide_budget(draft, &plan, events, err));
    CLO_TRY(add_search(draft, &plan, &events[OF_START], plan.cells,
                       "sums and sizes of the cells that public points make", err));
    if (plan.rounds)
        CLO_TRY(add_search(draft, &plan, &events[OF_ROUNDS], plan.clusters,
                           "sums and sizes of the clusters, one query per round", err));
    CLO_TRY(add_recovery(draft, &plan, &events[OF_RECOVERY], err));
    memcpy(plan_state, &plan, sizeof plan);
    return count_run(&plan, draft->room, err);
}

/* ---- the search -------------------------------------------------------------------------- */

static void show_progress(clo_context *context, const sparse_plan *plan, uint64_t pass)
{
    const double passes = (double)plan->rounds + 2;
    context->progress_from = (double)pass / passes;
    context->progress_to = (double)(pass + 1) / passes;
}

/* k centres of the cells' noisy means, and which cell is whose: post-processing.  A cell whose size
 * is within the noise of nothing hardly counts. */
static clo_status solve_cells(clo_context *context, const sparse_plan *plan, const double *means,
                              double *sizes, double *centers, uint32_t *labels, clo_error *err)
{
    const clo_line *const line = &context->meter->lines[START_ASK];
    clo_solver_input job = clo_i_solver_job(context, means, plan->cells, plan->seen);
    clo_kmeans_options options = clo_i_kmeans_default(plan->clusters);
    double cost;
    for (size_t c = 0; c < plan->cells; c++)
        if (clo_i_size_is_noise(line, sizes[c])) sizes[c] = HARDLY;
    job.threads = 1;
    options.restarts = RESTARTS;
    options.weights = sizes;
    return clo_i_kmeans(&job, &options, centers, labels, &cost, err);
}

/* From the cells to k centres and their weights, on every rank those of the first. */
static clo_status cluster_cells(clo_context *context, const sparse_plan *plan, const state *s,
                                clo_error *err)
{
    const size_t k = plan->clusters, m = plan->cells, r = plan->seen;
    if (m > k) {
        CLO_TRY(solve_cells(context, plan, s->points, s->cell_sizes, s->seen, s->labels, err));
    } else {
        memcpy(s->seen, s->points, k * r * sizeof *s->seen);
        for (size_t c = 0; c < m; c++) s->labels[c] = (uint32_t)c;
    }
    for (size_t c = 0; c < k; c++) {
        clo_i_pull_into_ball(s->seen + c * r, r);
        s->weights[c] = 0;
    }
    for (size_t c = 0; c < m; c++) s->weights[s->labels[c]] += s->cell_sizes[c];
    return CLO_OK;
}

/* In many coordinates a record is nearly at right angles to most points, and of points of several
 * lengths the shortest would be the nearest to all: so there the points are of one length, cells
 * are cones, and one more point at the origin takes the short records. */
static clo_status place_points(clo_context *context, const sparse_plan *plan, double *points,
                               clo_error *err)
{
    const size_t m = plan->cells, r = plan->seen;
    CLO_TRY(clo_i_start_centers(context, m, r, points, err));
    if (r < CONES_FROM || m == 1) return CLO_OK;
    for (size_t c = 0; c < m; c++) {
        double *const point = points + c * r;
        double square = 0;
        for (size_t j = 0; j < r; j++) square += point[j] * point[j];
        const double factor = c > 0 && square > 0 ? CONE_POINT / sqrt(square) : 0;
        for (size_t j = 0; j < r; j++) point[j] *= factor;
    }
    return CLO_OK;
}

static clo_status search(const sparse_plan *plan, const clo_bounded *data, clo_context *context,
                         const state *s, clo_error *err)
{
    const size_t k = plan->clusters, r = plan->seen;
    const clo_line *const lines = context->meter->lines;
    show_progress(context, plan, 0);
    CLO_TRY(place_points(context, plan, s->points, err));
    CLO_TRY(
        clo_i_center_round(context, START_ASK, data, r, s->points, s->sums, s->cell_sizes, err));
    CLO_TRY(cluster_cells(context, plan, s, err));
    for (uint64_t round = 0; round < plan->rounds; round++) {
        const size_t last = round ? ROUND_ASK : START_ASK;
        const double weak = WEAK * clo_i_line_count_deviation(&lines[last]);
        show_progress(context, plan, 1 + round);
        CLO_TRY(clo_i_revive_centers(context, k, r, weak, s->seen, s->weights, err));
        CLO_TRY(clo_i_center_round(context, ROUND_ASK, data, r, s->seen, s->sums, s->weights, err));
    }
    return CLO_OK;
}

/* ---- the recovery ------------------------------------------------------------------------ */

/* From a noisy sum, of which noise alone was cut off, to a mean inside the ball.  A cluster whose
 * size is within the noise of nothing has its centre at zero. */
static void make_mean(const clo_line *line, double size, size_t d, double *center)
{
    const bool nothing = size <= 2 * clo_i_sparse_count_deviation(line);
    for (size_t j = 0; j < d; j++) center[j] = nothing ? 0 : center[j] / size;
    clo_i_pull_into_ball(center, d);
}

static clo_status recover_by_sums(clo_context *context, size_t ask, const clo_bounded *data,
                                  const clo_assign *rule, size_t count, double *centers,
                                  double *sizes, clo_error *err)
{
    CLO_TRY(clo_i_ask_sparse_sum(context, ask, data, rule, centers, sizes, err));
    const double edge = clo_i_sparse_edge(&context->meter->lines[ask], (double)count + 1);
    for (size_t i = 0; i < count; i++)
        if (fabs(centers[i]) <= edge) centers[i] = 0;
    return CLO_OK;
}

static clo_status recover_by_peel(clo_context *context, size_t ask, const sparse_plan *plan,
                                  const clo_bounded *data, const clo_assign *rule, const state *s,
                                  clo_error *err)
{
    const size_t k = plan->clusters, told = plan->told;
    CLO_TRY(clo_i_ask_peel(context, ask, data, rule, s->columns, s->values, s->sizes, err));
    const double edge =
        clo_i_sparse_edge(&context->meter->lines[ask], (double)k * (double)told + 1);
    memset(s->centers, 0, k * plan->cols * sizeof *s->centers);
    for (size_t i = 0; i < k * told; i++)
        if (fabs(s->values[i]) > edge)
            s->centers[i / told * plan->cols + s->columns[i]] = s->values[i];
    return CLO_OK;
}

static clo_status recover(const sparse_plan *plan, const clo_bounded *data, clo_context *context,
                          const state *s, clo_error *err)
{
    const size_t k = plan->clusters, d = plan->cols, ask = plan->rounds ? 2 : 1;
    const clo_line *const line = &context->meter->lines[ask];
    clo_assign rule;
    show_progress(context, plan, 1 + plan->rounds);
    CLO_TRY(
        clo_i_assign_centers(context->workspace, s->seen, k, plan->seen, line->bits, &rule, err));
    if (plan->peel)
        CLO_TRY(recover_by_peel(context, ask, plan, data, &rule, s, err));
    else
        CLO_TRY(recover_by_sums(context, ask, data, &rule, k * d, s->centers, s->sizes, err));
    for (size_t c = 0; c < k; c++) make_mean(line, s->sizes[c], d, s->centers + c * d);
    return CLO_OK;
}

static clo_status run(const void *plan_state, const clo_domain *domain, const clo_bounded *data,
                      clo_context *context, clo_release *out, clo_error *err)
{
    const sparse_plan *const plan = plan_state;
    clo_lens lens;
    state s;
    CLO_TRY(take_state(plan, context->workspace, &s, err));
    if (plan->sketch) {
        CLO_TRY(clo_i_sketch_make(context, plan->cols, plan->seen, &lens, err));
        context->lens = &lens;
    }
    clo_status status = search(plan, data, context, &s, err);
    if (!status) status = recover(plan, data, context, &s, err);
    context->lens = NULL;
    if (status) return status;
    const clo_line *const line = &context->meter->lines[plan->rounds ? 2 : 1];
    const clo_i_center_noise noise = { .sum = line->noise / clo_i_domain_radius(domain),
                                       .size = clo_i_sparse_count_deviation(line) };
    return clo_i_release_sparse_centers(domain, noise, plan->clusters, s.centers, s.sizes, out,
                                        err);
}

/* How many entries a centre keeps is known where records have a public number of them. */
static double predict(const void *plan_state, const clo_domain *domain, const clo_line *lines,
                      double rows)
{
    const sparse_plan *const plan = plan_state;
    const clo_line *const line = &lines[plan->rounds ? 2 : 1];
    const size_t kept = plan->entries < plan->cols ? plan->entries : plan->cols;
    const double noise = line->noise / clo_i_domain_radius(domain);
    if (kept == 0) return NAN;
    return clo_i_center_forecast(sqrt((double)kept) * noise * (double)plan->clusters / rows,
                                 plan->clusters, UNSETTLED);
}

extern const clo_mechanism clo_i_mechanism_kmeans_sparse;
const clo_mechanism clo_i_mechanism_kmeans_sparse = {
    .family = "kmeans",
    .method = "sparse",
    .summary = "k centers of sparse records in very many columns",
    .proof = "proofs/kmeans_sparse.md",
    .guarantee = CLO_EXACT,
    .params = params,
    .param_count = PARAM_COUNT,
    .plan_size = sizeof(sparse_plan),
    .plan = make_plan,
    .run = run,
    .predict = predict,
    .prediction = "typical (root mean square) distance of a released center from the exact mean "
                  "of its cluster, as a share of the norm",
    .of_points = true,
    .hidden_from = clo_i_centers_hidden_from,
};
