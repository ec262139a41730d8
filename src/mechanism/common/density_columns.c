/*
 * density_columns.c - kmeans/density in many columns (kmeans_density.T1).
 *
 * A Gram matrix about the centre tells in which directions the records differ; in these the density
 * is made, by cells that are seen through a lens, as it is made in few columns.  Then clusters are
 * asked about in all columns (density_columns_rounds.c), where the density does not know its points
 * but by their clusters' means and by how far they lie from them.
 *
 * Cells get little of the budget: they only tell the clusters apart, and noise of the last sums is
 * nearly all that is lost in many columns.  With many clusters telling them apart is the harder
 * part, and cells get more.
 */
#include "mechanism/common/density_columns.h"
#include "domain/domain.h"
#include "linalg/linalg.h"
#include "mechanism/common/centers_common.h"
#include "ask/assign.h"
#include "ask/lens.h"
#include "query/local_gram.h"
#include "solver/solver.h"
#include <math.h>
#include <string.h>

/* ---- the plan -------------------------------------------------------------------------------- */

enum {
    LOOKS = 3,
    ROUNDS = 6,
    ROUNDS_OF_FEW = 4, /* clusters; more of either is no better */
    PASSES_OF_FEW = 2,
    LEAST_DIRECTIONS = 2,
    MOST_DIRECTIONS = 32,
    FEW_CLUSTERS = 8
};
enum { DIRECTIONS_OF_FEW = 16, DIRECTIONS_A_CLUSTER = 3 };
enum { LEAST_POINTS = 6000, POINTS_A_CLUSTER = 60, POINTS_A_CELL = 8 };
enum { FEWEST_CELLS = 4, USUAL_CELLS = 128, MANY_CELLS_A_CLUSTER = 4, MANY_CLUSTERS = 20 };
static const double CELLS_A_CLUSTER = 1.05; /* at least, of a density */
static const double NEAR = 0.07;            /* in radii, the first look's centre */
static const double STRENGTH = 3;           /* of the fit */
static const double GROWTH = 1.3;           /* of a round's share over the one before */
/* Of the Gram matrix: it takes more where less is known of the directions. */
static const double GRAM = 7.2, LEAST_GRAM = 0.07, MOST_GRAM = 0.2;
/* Of the cells, a cluster. */
static const double IN_CELLS = 0.02, LEAST_IN_CELLS = 0.2, MOST_IN_CELLS = 0.5;
/* Rows over their noise where it is next to none: then many clusters are told by more passes. */
static const double CLEAR = 1350, CLEARER = 2700;
/* Cells that the rows feed, a cluster, if the records differ in about so many directions. */
static const double FED = 1.2, DIRECTIONS_EXPECTED = 8, ROWS_A_CELL = 3;

static double between(double least, double x, double most)
{
    return fmin(fmax(x, least), most);
}

static size_t directions_of(size_t clusters, size_t cols)
{
    const size_t wanted =
        clusters < FEW_CLUSTERS ? DIRECTIONS_OF_FEW : DIRECTIONS_A_CLUSTER * clusters;
    const size_t most = wanted < MOST_DIRECTIONS ? wanted : MOST_DIRECTIONS;
    return most < cols ? most : cols;
}

/* Cells that so many rows feed, at this noise. */
static double fed_by(double rows, double directions, double noise)
{
    return ceil(rows / (ROWS_A_CELL * sqrt(directions) * noise));
}

static clo_status plan_cells(const clo_draft *draft, double mu, const clo_density_plan *plan,
                             size_t cells, clo_line *out, clo_error *err)
{
    const clo_domain through = clo_i_lens_domain(draft->domain, plan->frame);
    CLO_TRY(clo_i_plan_local_sum(&through, cells, CLO_EVENT_GAUSSIAN, mu, plan->passes,
                                 "local sums, squares and sizes of the cells, one query per pass",
                                 out, err));
    out->lens = CLO_LENS;
    return CLO_OK;
}

/* Passes over cells about random points; or, where the rows feed too few of these to tell the
 * clusters, one over cells of what the Gram matrix tells. */
static clo_status choose_way(const clo_draft *draft, double whole, double share,
                             clo_density_plan *plan, double *noise, clo_error *err)
{
    const double told = clo_i_density_told(plan, plan->rows), k = (double)plan->clusters;
    const bool many = plan->clusters >= MANY_CLUSTERS;
    clo_line line;
    plan->way = CLO_DENSITY_FED;
    plan->passes = !many ? PASSES_OF_FEW : told < CLEAR ? 3 : told < CLEARER ? 4 : 5;
    CLO_TRY(
        plan_cells(draft, clo_i_density_of_each(whole, share, plan->passes), plan, 1, &line, err));
    *noise = clo_i_local_deviation(&line);
    const double fed = fed_by(plan->rows, DIRECTIONS_EXPECTED, *noise);
    if (many || fed >= FED * k) return CLO_OK;
    plan->way = CLO_DENSITY_POORLY_FED;
    *noise /= sqrt((double)plan->passes);
    plan->passes = 1;
    return CLO_OK;
}

size_t clo_i_columns_fewest_cells(const clo_density_plan *plan)
{
    const double k = (double)plan->clusters;
    if (plan->way == CLO_DENSITY_POORLY_FED) return (size_t)ceil(CELLS_A_CLUSTER * k);
    return plan->clusters >= MANY_CLUSTERS ? plan->clusters : FEWEST_CELLS;
}

static clo_status add_cells(clo_draft *draft, double whole, double share, clo_density_plan *plan,
                            clo_error *err)
{
    const double most = fmax(USUAL_CELLS, MANY_CELLS_A_CLUSTER * (double)plan->clusters);
    double noise;
    clo_line line;
    CLO_TRY(choose_way(draft, whole, share, plan, &noise, err));
    const double fed = plan->rows_known ? fed_by(plan->rows, LEAST_DIRECTIONS, noise) : most;
    const double cells = between((double)clo_i_columns_fewest_cells(plan), fed, most);
    const double wanted = plan->cells ? fmin((double)plan->cells, cells) : cells;
    plan->cells = (size_t)fmin(wanted, CLO_MAX_CLUSTERS);
    CLO_TRY(plan_cells(draft, clo_i_density_of_each(whole, share, plan->passes), plan, plan->cells,
                       &line, err));
    return clo_i_draft_add(draft, &line, err);
}

/* A line each: their shares grow. */
static clo_status add_rounds(clo_draft *draft, double whole, double share,
                             const clo_density_plan *plan, clo_error *err)
{
    double all = 0;
    for (uint64_t round = 0; round < plan->rounds; round++) all += pow(GROWTH, (double)round);
    for (uint64_t round = 0; round < plan->rounds; round++) {
        const double mu = whole * sqrt(share * pow(GROWTH, (double)round) / all);
        clo_line line;
        CLO_TRY(clo_i_plan_local_shells(draft->domain, plan->clusters, mu, 1,
                                        "local sums, squares and sizes of the clusters, and shells "
                                        "of all lengths: a round",
                                        &line, err));
        CLO_TRY(clo_i_draft_add(draft, &line, err));
    }
    return CLO_OK;
}

static void count_points(clo_density_plan *plan)
{
    const size_t groups = plan->cells > plan->clusters ? plan->cells : plan->clusters;
    const size_t of_clusters = POINTS_A_CLUSTER * plan->clusters;
    const size_t usual = of_clusters > LEAST_POINTS ? of_clusters : LEAST_POINTS;
    const size_t least = plan->points ? groups : POINTS_A_CELL * groups;
    if (!plan->points) plan->points = usual;
    if (plan->points < least) plan->points = least;
    plan->points += plan->points % 2; /* they are drawn in pairs */
}

clo_status clo_i_columns_add_lines(clo_draft *draft, double whole, clo_density_plan *plan,
                                   clo_error *err)
{
    const double k = (double)plan->clusters, told = clo_i_density_told(plan, plan->rows);
    double share;
    plan->frame = directions_of(plan->clusters, plan->cols);
    plan->looks = LOOKS;
    plan->strength = STRENGTH;
    if (!plan->rounds) plan->rounds = plan->clusters < MANY_CLUSTERS ? ROUNDS_OF_FEW : ROUNDS;
    CLO_TRY(clo_i_density_add_looks(draft, whole, NEAR, plan, &share, err));
    const double gram = between(LEAST_GRAM, GRAM / told, MOST_GRAM);
    CLO_TRY(clo_i_density_add_gram(draft, whole, gram, &share, err));
    const double in_cells = (1 - share) * between(LEAST_IN_CELLS, IN_CELLS * k, MOST_IN_CELLS);
    CLO_TRY(add_cells(draft, whole, in_cells, plan, err));
    CLO_TRY(add_rounds(draft, whole, 1 - share - in_cells, plan, err));
    count_points(plan);
    return CLO_OK;
}

/* Where a mean of all records stands so little above its noise, or of many clusters one of each
 * does, kmeans/local is as good, or better. */
static const double PAYS = 16.3, PAYS_A_CLUSTER = 0.9;

bool clo_i_columns_pay(const clo_density_plan *plan)
{
    const double told = clo_i_density_told(plan, plan->rows), k = (double)plan->clusters;
    return plan->clusters > 1 && told >= PAYS &&
           (plan->clusters < MANY_CLUSTERS || told >= PAYS_A_CLUSTER * k);
}

/* ---- room ------------------------------------------------------------------------------------ */

/* Of the Gram matrix, and what its eigenvectors take. */
typedef struct directions {
    double *gram;   /* cols x cols */
    double *values; /* frame */
    double *scratch;
} directions;

static clo_status take_directions(const clo_density_plan *plan, clo_workspace *space, directions *f,
                                  clo_error *err)
{
    const size_t d = plan->cols, r = plan->frame;
    CLO_TRY(clo_i_take(space, d * d, sizeof(double), &f->gram, err));
    CLO_TRY(clo_i_take(space, r, sizeof(double), &f->values, err));
    return clo_i_take(space, clo_i_eigen_scratch(d, r), sizeof(double), &f->scratch, err);
}

/* Starts of k-means of the cells, and the best of them. */
enum { CELL_STARTS = 16, BEST_STARTS = 3 };

typedef struct starts {
    double *points, *weights; /* cells and clusters: x frame, and one each */
    uint32_t *labels;
    double *centers; /* clusters x frame */
    double *best[BEST_STARTS];
    double costs[BEST_STARTS];
    size_t count;
} starts;

static clo_status take_starts(const clo_density_plan *plan, clo_workspace *space, starts *s,
                              clo_error *err)
{
    const size_t r = plan->frame, k = plan->clusters, most = plan->cells + k;
    CLO_TRY(clo_i_take(space, most * r, sizeof(double), &s->points, err));
    CLO_TRY(clo_i_take(space, most, sizeof(double), &s->weights, err));
    CLO_TRY(clo_i_take(space, most, sizeof *s->labels, &s->labels, err));
    CLO_TRY(clo_i_take(space, k * r, sizeof(double), &s->centers, err));
    for (size_t i = 0; i < BEST_STARTS; i++)
        CLO_TRY(clo_i_take(space, k * r, sizeof(double), &s->best[i], err));
    return CLO_OK;
}

/* The plan of the density in its frame. */
static clo_density_plan inside(const clo_density_plan *plan, size_t used)
{
    clo_density_plan of_frame = *plan;
    of_frame.cols = used;
    return of_frame;
}

static clo_status take_columns(const clo_density_plan *plan, clo_workspace *space, clo_columns *c,
                               clo_density_state *s, clo_error *err)
{
    const size_t d = plan->cols, r = plan->frame;
    const clo_density_plan of_frame = inside(plan, r);
    memset(c, 0, sizeof *c);
    CLO_TRY(clo_i_take(space, d, sizeof(double), &c->start.center, err));
    CLO_TRY(clo_i_take(space, d * r, sizeof(double), &c->frame, err));
    CLO_TRY(clo_i_take(space, r, sizeof(double), &c->spread, err));
    CLO_TRY(clo_i_columns_take_rounds(plan, space, c, err));
    return clo_i_density_take_state(&of_frame, space, s, err);
}

clo_status clo_i_columns_room(const clo_density_plan *plan, clo_workspace *space, clo_error *err)
{
    const clo_density_plan of_frame = inside(plan, plan->frame);
    clo_columns unused;
    clo_density_state none;
    directions matrix;
    starts first;
    CLO_TRY(take_columns(plan, space, &unused, &none, err));
    const size_t mark = clo_i_workspace_mark(space);
    CLO_TRY(clo_i_density_look_room(plan, space, err));
    CLO_TRY(take_directions(plan, space, &matrix, err));
    clo_i_workspace_release(space, mark);
    CLO_TRY(clo_i_assign_room(space, CLO_ASSIGN_CENTERS, plan->clusters, plan->cols, 0, err));
    clo_i_workspace_release(space, mark);
    CLO_TRY(take_starts(plan, space, &first, err));
    clo_i_workspace_release(space, mark);
    CLO_TRY(clo_i_lens_room(space, plan->cols, plan->frame, 0, err));
    CLO_TRY(clo_i_density_steps_room(&of_frame, space, err));
    clo_i_workspace_release(space, mark);
    return CLO_OK;
}

/* ---- the frame ------------------------------------------------------------------------------- */

static const double LEAST_TRACE = 0.2, LEAST_OUTSIDE = 0.02, MOST_INSIDE = 0.95;
static const double LEAST_VALUE = 0.02, HIDDEN_VALUE = 0.3; /* of the largest, and of the edge */

/* An eigenvalue beyond the edge of noise, less what noise adds. */
static double without_noise(double value, double edge)
{
    return value > edge ? (value + sqrt(fmax(value * value - edge * edge, 0))) / 2 : 0;
}

/* How far the records spread in the directions that stand out of noise, how many these are, and how
 * far they spread outside. */
static void read_spreads(const clo_density_plan *plan, const double *values, double edge,
                         double trace, clo_columns *c)
{
    const double radius = c->start.radius, largest = without_noise(values[0], edge);
    double sum = 0;
    c->directions = LEAST_DIRECTIONS;
    while (c->directions < plan->frame && values[c->directions] > edge) c->directions++;
    for (size_t i = 0; i < c->directions; i++) {
        const double least = largest > 0 ? LEAST_VALUE * largest : HIDDEN_VALUE * edge;
        const double value = fmax(without_noise(values[i], edge), least);
        c->spread[i] = sqrt(value);
        sum += value;
    }
    c->total = fmax(trace, LEAST_TRACE * radius * radius);
    const double in_frame = fmin(sum, MOST_INSIDE * c->total);
    c->outside =
        c->directions < plan->cols ? fmax(c->total - in_frame, LEAST_OUTSIDE * c->total) : 0;
}

static clo_status find_frame(clo_context *context, const clo_density_plan *plan,
                             const clo_bounded *data, clo_columns *c, clo_error *err)
{
    const clo_line *const line = &context->meter->lines[1];
    const size_t d = plan->cols, r = plan->frame, mark = clo_i_workspace_mark(context->workspace);
    const double radius = c->start.radius, scale = radius * radius / c->start.rows;
    const double edge = clo_i_local_gram_deviation(line) * sqrt(2 * (double)d) * scale;
    directions f;
    double trace = 0;
    clo_i_density_progress(context, plan, plan->looks);
    CLO_TRY(take_directions(plan, context->workspace, &f, err));
    clo_status status =
        clo_i_ask_local_gram(context, 1, data, c->start.center, radius, f.gram, err);
    for (size_t j = 0; !status && j < d; j++) trace += f.gram[j * d + j] * scale;
    if (!status) status = clo_i_eigen_top(f.gram, d, r, f.values, c->frame, f.scratch, err);
    for (size_t i = 0; !status && i < r; i++) f.values[i] *= scale;
    if (!status) read_spreads(plan, f.values, edge, trace, c);
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

/* The start as the lens shows it. */
static void see_start(const clo_columns *c, clo_density_state *s)
{
    const size_t r = c->directions;
    double *const center = s->start.center, square = 0;
    for (size_t i = 0; i < r; i++) {
        center[i] = 0;
        for (size_t j = 0; j < c->cols; j++) center[i] += c->frame[j * r + i] * c->start.center[j];
        center[i] *= c->scale;
        square += c->spread[i] * c->spread[i];
    }
    s->start.radius = sqrt(fmin(square, MOST_INSIDE * c->total));
    s->start.rows = c->start.rows;
    s->start.doubt = c->start.doubt;
    s->start.center_doubt = c->start.center_doubt;
    s->spread = c->spread;
}

/* The points of the density, in the frame. */
static clo_status make_density(clo_context *context, const clo_density_plan *plan,
                               const clo_bounded *data, clo_columns *c, clo_density_state *s,
                               clo_error *err)
{
    const size_t d = plan->cols, most = plan->frame, used = c->directions;
    const size_t mark = clo_i_workspace_mark(context->workspace);
    const clo_density_plan of_frame = inside(plan, used);
    clo_lens lens;
    for (size_t j = 0; j < d; j++)
        for (size_t i = used; i < most; i++) c->frame[j * most + i] = 0; /* nothing is seen there */
    CLO_TRY(clo_i_lens_make(context->workspace, c->frame, d, most, 0, &lens, err));
    clo_i_local_restride(c->frame, d, most, used);
    c->scale = lens.scale;
    see_start(c, s);
    clo_i_density_narrow(&s->density, used);
    context->lens = &lens;
    const clo_status status =
        (plan->way == CLO_DENSITY_FED ? clo_i_density_find_cells
                                      : clo_i_density_find_shape)(context, &of_frame, data, s, err);
    context->lens = NULL;
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

/* ---- the first centres ----------------------------------------------------------------------- */

static const double NEXT_TO_NOTHING = 1e-9; /* records */

static double cost_of(const clo_density_groups *g)
{
    double cost = 0;
    for (size_t c = 0; c < g->used; c++) cost += g->sizes[c] * g->squares[c];
    return cost;
}

static void add_point(const double *point, size_t r, double weight, starts *to)
{
    memcpy(to->points + to->count * r, point, r * sizeof(double));
    to->weights[to->count++] = weight;
}

/* The cells that hold more than noise, and the centres that there are already, which weigh next to
 * nothing: so there are enough of them whatever was answered. */
static void choose_cells(const clo_density_state *s, size_t r, starts *from)
{
    const clo_i_local_cells *const cells = &s->cells;
    from->count = 0;
    for (size_t i = 0; i < cells->used; i++)
        if (cells->strong[i]) add_point(cells->places + i * r, r, cells->counted[i], from);
    for (size_t c = 0; c < s->clusters; c++)
        add_point(s->groups.places + c * r, r, NEXT_TO_NOTHING, from);
}

/* The best few of many starts of k-means of the cells. */
static clo_status start_from_cells(clo_context *context, size_t k, size_t r, starts *s,
                                   clo_error *err)
{
    const clo_solver_input job = { .rows = s->points,
                                   .count = s->count,
                                   .cols = r,
                                   .rng = context->rng,
                                   .threads = context->threads };
    clo_kmeans_options options = clo_i_kmeans_default(k);
    options.restarts = 1;
    options.weights = s->weights;
    for (size_t b = 0; b < BEST_STARTS; b++) s->costs[b] = INFINITY;
    for (int start = 0; start < CELL_STARTS; start++) {
        double cost;
        size_t worst = 0;
        CLO_TRY(clo_i_kmeans(&job, &options, s->centers, s->labels, &cost, err));
        for (size_t b = 1; b < BEST_STARTS; b++)
            if (s->costs[b] > s->costs[worst]) worst = b;
        if (!(cost < s->costs[worst])) continue;
        s->costs[worst] = cost;
        memcpy(s->best[worst], s->centers, k * r * sizeof(double));
    }
    return CLO_OK;
}

/* k-means of the points has many poor ends where there are many directions and many clusters; of
 * the cells, which are fewer, it has not.  The best on the density is taken. */
static clo_status try_cells(clo_context *context, const clo_density_plan *plan,
                            clo_density_state *s, starts *from, clo_error *err)
{
    const size_t k = s->clusters, r = plan->cols;
    const clo_density_solver how = { context->rng, context->threads, 0, false };
    clo_density_groups *const g = &s->groups;
    double least = cost_of(g);
    choose_cells(s, r, from);
    CLO_TRY(start_from_cells(context, k, r, from, err));
    memcpy(from->centers, g->places, k * r * sizeof(double));
    for (size_t b = 0; b < BEST_STARTS; b++) {
        memcpy(g->places, from->best[b], k * r * sizeof(double));
        CLO_TRY(clo_i_density_centers(&s->density, &how, k, g->places, g->sizes, g->squares, err));
        if (!(cost_of(g) < least)) continue;
        least = cost_of(g);
        memcpy(from->centers, g->places, k * r * sizeof(double));
    }
    memcpy(g->places, from->centers, k * r * sizeof(double));
    return CLO_OK;
}

static clo_status find_first(clo_context *context, const clo_density_plan *plan,
                             const clo_columns *c, clo_density_state *s, clo_error *err)
{
    const size_t mark = clo_i_workspace_mark(context->workspace);
    const clo_density_plan of_frame = inside(plan, c->directions);
    starts from;
    CLO_TRY(clo_i_density_find_centers(context, &of_frame, s, err));
    if (plan->way != CLO_DENSITY_FED) return CLO_OK;
    CLO_TRY(take_starts(plan, context->workspace, &from, err));
    const clo_status status = try_cells(context, &of_frame, s, &from, err);
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

/* ---- the run --------------------------------------------------------------------------------- */

static clo_status look(clo_context *context, const clo_density_plan *plan, const clo_bounded *data,
                       clo_columns *c, clo_density_state *s, clo_error *err)
{
    clo_density_state of_all = { .start = c->start };
    CLO_TRY(clo_i_density_look(context, plan, data, &of_all, err));
    c->start = of_all.start;
    c->cols = plan->cols;
    c->points = plan->points;
    c->clusters = s->clusters = of_all.clusters;
    return CLO_OK;
}

clo_status clo_i_columns_run(const clo_density_plan *plan, const clo_domain *domain,
                             const clo_bounded *data, clo_context *context, clo_release *out,
                             clo_error *err)
{
    const size_t first = clo_i_density_cells_line(plan) + 1;
    clo_density_state s;
    clo_columns c;
    CLO_TRY(take_columns(plan, context->workspace, &c, &s, err));
    CLO_TRY(look(context, plan, data, &c, &s, err));
    CLO_TRY(find_frame(context, plan, data, &c, err));
    CLO_TRY(make_density(context, plan, data, &c, &s, err));
    CLO_TRY(find_first(context, plan, &c, &s, err));
    CLO_TRY(clo_i_columns_begin_rounds(context, &s, &c, err));
    for (uint64_t round = 0; round < plan->rounds; round++) {
        clo_i_density_progress(context, plan, plan->looks + 1 + plan->passes + round);
        CLO_TRY(clo_i_columns_go_round(context, first + round, data, &s, &c, err));
    }
    clo_i_columns_place(&s, &c);
    c.all.used = c.clusters;
    return clo_i_density_release(domain, &context->meter->lines[first + plan->rounds - 1], &c.all,
                                 out, err);
}
