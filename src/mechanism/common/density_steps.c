/*
 * density_steps.c - the steps of a run before its rounds: where the records are, and the
 * first points of the density.
 *
 * Looks read the radius from the outside in: most shells are empty, and each is noise, so that sums
 * from the inside would add up the noise of all the small ones.
 */
#include "mechanism/common/density_run.h"
#include "mechanism/common/centers_common.h"
#include "ask/assign.h"
#include "query/local_gram.h"
#include "query/look.h"
#include <math.h>
#include <string.h>

/* ---- room ------------------------------------------------------------------------------------ */

static size_t most_groups(const clo_density_plan *plan)
{
    const size_t centers = plan->clusters + (plan->choose ? CLO_DENSITY_BEYOND : 0);
    return plan->cells > centers ? plan->cells : centers;
}

clo_i_local_plan clo_i_density_local_plan(const clo_density_plan *plan)
{
    return (clo_i_local_plan){ .clusters = plan->likely,
                               .cells = plan->cells,
                               .passes = plan->passes,
                               .rounds = plan->rounds,
                               .cols = plan->cols,
                               .seen = plan->cols,
                               .looks = plan->looks + (plan->frame > 0),
                               .fewest = plan->frame ? clo_i_columns_fewest_cells(plan) : 0,
                               .whole = plan->whole };
}

static clo_status take_groups(const clo_density_plan *plan, clo_workspace *space,
                              clo_density_groups *g, clo_error *err)
{
    const size_t most = most_groups(plan), d = plan->cols;
    double **const narrow[] = { &g->sizes,   &g->squares,      &g->widths,
                                &g->reaches, &g->told_squares, &g->told_sizes };
    CLO_TRY(clo_i_take(space, most * d, sizeof(double), &g->places, err));
    CLO_TRY(clo_i_take(space, most * d, sizeof(double), &g->sums, err));
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
        CLO_TRY(clo_i_take(space, most, sizeof(double), narrow[i], err));
    return clo_i_take(space, most, sizeof *g->views, &g->views, err);
}

clo_status clo_i_density_take_state(const clo_density_plan *plan, clo_workspace *space,
                                    clo_density_state *s, clo_error *err)
{
    const size_t d = plan->cols;
    const clo_i_local_plan local = clo_i_density_local_plan(plan);
    /* Of looks and of a Gram matrix in other columns than its own it is not told. */
    const clo_density_shape shape = { .points = plan->points,
                                      .cols = d,
                                      .looks = plan->frame ? 0 : plan->looks,
                                      .shells = CLO_LOOK_SHELLS,
                                      .grams = !plan->frame && clo_i_density_has_gram(plan),
                                      .passes = plan->passes,
                                      .cells = plan->cells,
                                      .rounds = plan->rounds,
                                      .clusters = plan->clusters };
    memset(s, 0, sizeof *s);
    CLO_TRY(take_groups(plan, space, &s->groups, err));
    CLO_TRY(clo_i_take(space, d, sizeof(double), &s->start.center, err));
    if (plan->way == CLO_DENSITY_HIDDEN) return CLO_OK;
    if (plan->choose)
        CLO_TRY(
            clo_i_take(space, plan->clusters + CLO_DENSITY_BEYOND, sizeof(double), &s->curve, err));
    CLO_TRY(clo_i_take(space, d * d, sizeof(double), &s->matrix, err));
    CLO_TRY(clo_i_take(space, d * d, sizeof(double), &s->root, err));
    CLO_TRY(clo_i_density_take(space, &shape, &s->density, err));
    if (plan->way != CLO_DENSITY_FED) return CLO_OK;
    CLO_TRY(clo_i_take(space, d, sizeof(double), &s->seen, err));
    CLO_TRY(clo_i_take(space, plan->cells, sizeof(double), &s->deviations, err));
    CLO_TRY(clo_i_take(space, plan->cells, sizeof(double), &s->shares, err));
    return clo_i_local_take_cells(&local, space, &s->cells, err);
}

typedef struct look {
    double *sum, *shells;
} look;

static clo_status take_look(const clo_density_plan *plan, clo_workspace *space, look *l,
                            clo_error *err)
{
    CLO_TRY(clo_i_take(space, plan->cols, sizeof(double), &l->sum, err));
    return clo_i_take(space, CLO_LOOK_SHELLS, sizeof(double), &l->shells, err);
}

clo_status clo_i_density_look_room(const clo_density_plan *plan, clo_workspace *space,
                                   clo_error *err)
{
    const size_t mark = clo_i_workspace_mark(space);
    look unused;
    CLO_TRY(take_look(plan, space, &unused, err));
    clo_i_workspace_release(space, mark);
    return CLO_OK;
}

clo_status clo_i_density_steps_room(const clo_density_plan *plan, clo_workspace *space,
                                    clo_error *err)
{
    const size_t d = plan->cols, mark = clo_i_workspace_mark(space);
    const clo_i_local_plan local = clo_i_density_local_plan(plan);
    const bool hidden = plan->way == CLO_DENSITY_HIDDEN;
    CLO_TRY(clo_i_assign_room(space, CLO_ASSIGN_CENTERS, hidden ? 1 : plan->clusters, d, 0, err));
    clo_i_workspace_release(space, mark);
    if (hidden) return CLO_OK;
    CLO_TRY(clo_i_assign_room(space, CLO_ASSIGN_CENTERS, plan->cells, d, 0, err));
    clo_i_workspace_release(space, mark);
    CLO_TRY(clo_i_density_look_room(plan, space, err));
    CLO_TRY(clo_i_density_root_room(space, d, err));
    CLO_TRY(clo_i_density_follow_room(space, plan->clusters, d, err));
    if (plan->way == CLO_DENSITY_FED) return clo_i_local_cells_room(&local, space, err);
    return clo_i_density_follow_room(space, plan->cells, d, err);
}

void clo_i_density_set_strength(const clo_density_plan *plan, size_t cells, clo_density_state *s)
{
    const size_t groups = cells > plan->likely ? cells : plan->likely;
    s->density.strength = plan->strength * (double)groups / s->start.rows;
}

/* ---- looks ----------------------------------------------------------------------------------- */

static const double OUTSIDE = 0.3;            /* of the records lie beyond the radius */
static const double ROWS_OFF = 0.1;           /* a public number of rows may be off by so much */
static const double OF_QUANTILE = 0.70710678; /* what is called the radius, of that distance */
static const double LEAST_RADIUS = 1e-5, MOST_RADIUS = 1.5;

/* The number of records: the public one, weighed against what the shells add up to. */
static void read_rows(const clo_line *line, const double *shells, clo_density_start *start)
{
    const double noise = clo_i_look_shell_deviation(line);
    const double variance = CLO_LOOK_SHELLS * noise * noise;
    double sum = 0;
    for (size_t j = 0; j < CLO_LOOK_SHELLS; j++) sum += shells[j];
    const double share = isinf(start->doubt) ? 1 : start->doubt / (start->doubt + variance);
    start->rows = fmax(start->rows + share * (sum - start->rows), 1);
    start->doubt = share * variance;
}

/* Where a shell's noise is this share of the records, counting shells finds noise.  Then the radius
 * is a mean over log-normal laws of the distances, each weighted by how well it explains all shells
 * at once.  The more noise there is, the wider it is taken: too narrow a look costs more. */
static const double COUNTED_UP_TO = 0.1, WIDER_FROM = 0.2, MOST_WIDER = 1.41421356;
static const double SPREADS[] = { 0.1, 0.3, 0.6, 1 }; /* of logarithms */
enum { STEPS_A_SHELL = 2, LAWS = CLO_LOOK_SHELLS * STEPS_A_SHELL };
static const double TO_QUANTILE = 0.524; /* of a normal law, 30 % lie beyond */

/* The share of a law's distances that are below this one. */
static double below(double distance, double middle, double spread)
{
    return erfc(log(middle / distance) / spread * sqrt(0.5)) / 2;
}

/* The squared misfit of a law, in deviations of the noise. */
static double misfit_of(const double *shells, double noise, double rows, double middle,
                        double spread)
{
    double square = 0, nearer = 1;
    for (size_t j = 0; j < CLO_LOOK_SHELLS; j++) {
        const double edge = exp2((1 - (double)j) / 2);
        const double share = j + 1 < CLO_LOOK_SHELLS ? below(edge, middle, spread) : 0;
        const double off = (shells[j] - rows * (nearer - share)) / noise;
        square += off * off;
        nearer = share;
    }
    return square;
}

static double likely_radius(const double *shells, double noise, double rows)
{
    double least = INFINITY, mean = 0, total = 0, squares[LAWS][4];
    for (size_t i = 0; i < LAWS; i++)
        for (size_t s = 0; s < 4; s++) {
            const double middle = exp2(1 - (double)i / (2 * STEPS_A_SHELL));
            squares[i][s] = misfit_of(shells, noise, rows, middle, SPREADS[s]);
            least = fmin(least, squares[i][s]);
        }
    for (size_t i = 0; i < LAWS; i++)
        for (size_t s = 0; s < 4; s++) {
            const double weight = exp((least - squares[i][s]) / 2);
            const double octaves = 1 - (double)i / (2 * STEPS_A_SHELL);
            mean += weight * (octaves * log(2) + TO_QUANTILE * SPREADS[s]);
            total += weight;
        }
    const double wider = fmin(fmax(noise / (WIDER_FROM * rows), 1), MOST_WIDER);
    return wider * OF_QUANTILE * exp(mean / total);
}

/* Where shells from the outside in hold 30 % of the records: between the edges of the shell where
 * they come to that, on a logarithmic scale. */
static double counted_radius(const double *shells, double noise, double rows)
{
    double before = 0, with = shells[0];
    size_t j = 0;
    while (j < CLO_LOOK_SHELLS - 1 && with < OUTSIDE * rows + 0.5 * noise * sqrt((double)(j + 1))) {
        before = with;
        with += shells[++j];
    }
    const double share = (OUTSIDE * rows - before) / fmax(with - before, noise);
    return OF_QUANTILE * exp2(1 - ((double)j + fmin(fmax(share, 0), 1)) / 2);
}

/* The first centre is brought nearer to the origin as far as its noise asks (James and Stein). */
static void shrink_first(size_t d, double fresh, const double *step, clo_density_start *start)
{
    double square = 0, trust = 1;
    for (size_t j = 0; j < d; j++) square += step[j] * step[j];
    if (d > 2) trust = fmax(0, 1 - ((double)d - 2) * fresh / fmax(square, 1e-300));
    for (size_t j = 0; j < d; j++) start->center[j] = trust * step[j];
    start->center_doubt =
        (trust * trust * (double)d * fresh + (1 - trust) * (1 - trust) * square) / (double)d;
}

/* Later ones are weighed: what noise does not explain of a step was off before. */
static void weigh_later(size_t d, double fresh, const double *step, clo_density_start *start)
{
    double square = 0;
    for (size_t j = 0; j < d; j++) square += step[j] * step[j];
    const double known = fmax(start->center_doubt, square / (double)d - fresh);
    const double share = known / (known + fresh);
    for (size_t j = 0; j < d; j++) start->center[j] += share * step[j];
    start->center_doubt = share * fresh;
}

static double radius_of(const clo_line *line, const double *shells, double rows)
{
    const double noise = clo_i_look_shell_deviation(line);
    return (noise > COUNTED_UP_TO * rows ? likely_radius : counted_radius)(shells, noise, rows);
}

static void tell_look(const clo_line *line, const look *l, clo_density_state *s)
{
    const clo_look_told told = { .center = s->start.center,
                                 .width = s->start.radius,
                                 .sum = l->sum,
                                 .shells = l->shells,
                                 .shell_count = CLO_LOOK_SHELLS,
                                 .noise = clo_i_look_deviation(line),
                                 .shell_noise = clo_i_look_shell_deviation(line) };
    if (s->density.count) clo_i_density_tell_look(&s->density, &told);
}

static void read_look(const clo_density_plan *plan, const clo_line *line, uint64_t number, look *l,
                      clo_density_start *start)
{
    const size_t d = plan->cols;
    read_rows(line, l->shells, start);
    const double scale = start->radius / start->rows, noise = scale * clo_i_look_deviation(line);
    const double radius = radius_of(line, l->shells, start->rows);
    for (size_t j = 0; j < d; j++) l->sum[j] *= scale;
    (number ? weigh_later : shrink_first)(d, noise * noise, l->sum, start);
    clo_i_pull_into_ball(start->center, d);
    const bool last = number + 1 == plan->looks;
    const double wider = last ? radius : radius + sqrt((double)d * start->center_doubt);
    start->radius = fmin(fmax(wider, LEAST_RADIUS), MOST_RADIUS);
}

clo_status clo_i_density_look(clo_context *context, const clo_density_plan *plan,
                              const clo_bounded *data, clo_density_state *s, clo_error *err)
{
    const clo_line *const line = &context->meter->lines[0];
    const size_t mark = clo_i_workspace_mark(context->workspace);
    const double off = ROWS_OFF * plan->rows;
    look l;
    CLO_TRY(take_look(plan, context->workspace, &l, err));
    memset(s->start.center, 0, plan->cols * sizeof(double));
    s->start.radius = 1;
    s->start.rows = plan->rows;
    s->start.doubt = plan->rows_known ? off * off : INFINITY;
    for (uint64_t number = 0; number < plan->looks; number++) {
        clo_i_density_progress(context, plan, number);
        CLO_TRY(clo_i_ask_look(context, 0, data, s->start.center, s->start.radius, l.sum, l.shells,
                               err));
        tell_look(line, &l, s);
        read_look(plan, line, number, &l, &s->start);
    }
    /* Of a guess of the rows the plan could not say it. */
    const bool hidden = clo_i_density_told(plan, s->start.rows) < clo_i_density_hidden;
    s->clusters = hidden && !plan->rows_known ? 1 : plan->clusters;
    clo_i_workspace_release(context->workspace, mark);
    return CLO_OK;
}

/* ---- one ask about groups -------------------------------------------------------------------- */

static void tell_groups(const clo_line *line, const clo_density_groups *g, clo_density *density)
{
    const clo_cells_told told = { .count = g->used,
                                  .places = g->places,
                                  .widths = g->widths,
                                  .reaches = g->reaches,
                                  .sums = g->sums,
                                  .squares = g->told_squares,
                                  .sizes = g->told_sizes,
                                  .noise = clo_i_local_deviation(line),
                                  .square_noise = clo_i_local_square_deviation(line),
                                  .size_noise = clo_i_local_size_deviation(line) };
    clo_i_density_tell_cells(density, &told);
}

/* seen: the columns that are in use, of those of the line, in which nothing is seen of the others
 * (ask_cells of local_cells.c). */
static clo_status ask_groups(clo_context *context, size_t number, const clo_bounded *data,
                             size_t seen, clo_density_groups *g, clo_error *err)
{
    const clo_line *const line = &context->meter->lines[number];
    const size_t d = line->cols, mark = clo_i_workspace_mark(context->workspace);
    clo_local_sums answer = { g->sums, g->told_squares, g->told_sizes };
    clo_assign rule;
    clo_i_local_restride(g->places, g->used, seen, d);
    for (size_t c = 0; c < line->groups; c++) {
        /* The rest lie where the first does: ties go to the smaller index, so they get no record.
         */
        const size_t own = c < g->used ? c : 0;
        if (own != c) memcpy(g->places + c * d, g->places, d * sizeof(double));
        g->views[c] = (clo_local_view){ g->widths[own], g->reaches[own] };
    }
    clo_status status = clo_i_assign_centers(context->workspace, g->places, line->groups, d,
                                             line->bits, &rule, err);
    if (!status) status = clo_i_ask_local_sum(context, number, data, &rule, g->views, &answer, err);
    clo_i_workspace_release(context->workspace, mark);
    clo_i_local_restride(g->places, g->used, d, seen);
    if (!status) clo_i_local_restride(g->sums, g->used, d, seen);
    return status;
}

clo_status clo_i_density_ask(clo_context *context, size_t number, const clo_bounded *data,
                             clo_density_state *s, clo_error *err)
{
    CLO_TRY(ask_groups(context, number, data, s->density.cols, &s->groups, err));
    tell_groups(&context->meter->lines[number], &s->groups, &s->density);
    return CLO_OK;
}

/* ---- points that explain the answers --------------------------------------------------------- */

/* Opens the stream of a new ask, for points that are drawn. */
static clo_status open_stream(clo_context *context, clo_stream **out, clo_error *err)
{
    return clo_i_stream_open(context->rng, clo_i_rng_next_ask(context->rng), 0, out, err);
}

static clo_status close_stream(clo_stream *stream, clo_status status, clo_error *err)
{
    if (!status) status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    return status;
}

static clo_status follow(clo_context *context, clo_density_state *s, clo_error *err)
{
    clo_stream *stream = NULL;
    CLO_TRY(open_stream(context, &stream, err));
    const clo_status status =
        clo_i_density_follow(&s->density, context->workspace, stream, s->start.rows, err);
    return close_stream(stream, status, err);
}

/* Beyond this mean square of what an answer's numbers are off, in deviations, no noise is to blame:
 * no weights of these points explain the answer. */
static const double MISFIT = 2;
enum { MOST_MOVES = 2 };

/* One stream, drawn from or not: what is asked of the system must not follow the answers
 * (meter.T2). */
clo_status clo_i_density_explain(clo_context *context, clo_density_state *s, clo_error *err)
{
    clo_stream *stream = NULL;
    clo_status status = CLO_OK;
    CLO_TRY(open_stream(context, &stream, err));
    clo_i_density_fit(&s->density, CLO_DENSITY_STEPS);
    for (int moves = 0; !status && moves < MOST_MOVES; moves++) {
        if (clo_i_density_misfit(&s->density) <= MISFIT) break;
        status = clo_i_density_follow(&s->density, context->workspace, stream, s->start.rows, err);
        if (!status) clo_i_density_fit(&s->density, CLO_DENSITY_STEPS);
    }
    return close_stream(stream, status, err);
}

/* ---- cells about random points --------------------------------------------------------------- */

/* Width of the first cells, in radii; of the points about them how many are twice as wide, and what
 * of their shape is round. */
static const double FIRST_WIDTH = 1.2, WIDE = 0.15;

typedef struct listener {
    const clo_line *line;
    clo_density_state *s;
} listener;

static void hear(void *user, const clo_i_local_cells *cells)
{
    const listener *const l = user;
    clo_density_groups g = l->s->groups;
    g.used = cells->used;
    g.places = cells->places;
    g.sums = cells->sums;
    g.told_squares = cells->squares;
    g.told_sizes = cells->sizes;
    for (size_t i = 0; i < cells->used; i++) {
        g.widths[i] = cells->views[i].width;
        g.reaches[i] = cells->views[i].reach;
    }
    tell_groups(l->line, &g, &l->s->density);
}

static clo_status pass_over(clo_context *context, const clo_density_plan *plan,
                            const clo_bounded *data, clo_density_state *s, clo_error *err)
{
    const size_t number = clo_i_density_cells_line(plan);
    const clo_i_local_plan local = clo_i_density_local_plan(plan);
    const clo_density_start *const found = &s->start;
    listener l = { &context->meter->lines[number], s };
    const clo_i_local_start start = { .center = found->center,
                                      .seen = s->seen,
                                      .rows = found->rows,
                                      .told = s->clusters > 1 || plan->clusters == 1
                                                  ? CLO_LOCAL_HIDDEN
                                                  : 0,
                                      .doubt = found->center_doubt,
                                      .spread = s->spread,
                                      .first = FIRST_WIDTH * found->radius,
                                      .seen_square = found->radius * found->radius };
    memcpy(s->seen, found->center, plan->cols * sizeof(double));
    s->cells.listen = hear;
    s->cells.listener = &l;
    return clo_i_local_passes(context, &local, number, data, &start, &s->cells, err);
}

/* Of each cell how many points it gets, and how far they lie from its mean; and the noise that is
 * in these means, on average. */
static double share_points(clo_density_state *s)
{
    const clo_i_local_cells *const cells = &s->cells;
    double noise = 0, total = 0;
    bool any = false;
    for (size_t i = 0; i < cells->used; i++) any = any || cells->strong[i];
    for (size_t i = 0; i < cells->used; i++) {
        const double share = !any || cells->strong[i] ? cells->counted[i] : 0;
        s->shares[i] = share;
        s->deviations[i] = sqrt(cells->variances[i]);
        noise += share * cells->deviations[i] * cells->deviations[i];
        total += share;
    }
    return noise / total;
}

clo_status clo_i_density_find_cells(clo_context *context, const clo_density_plan *plan,
                                    const clo_bounded *data, clo_density_state *s, clo_error *err)
{
    clo_stream *stream = NULL;
    CLO_TRY(pass_over(context, plan, data, s, err));
    double noise = share_points(s);
    clo_i_density_covariance(s->cells.means, s->shares, s->cells.used, plan->cols, s->matrix);
    CLO_TRY(clo_i_density_root(context->workspace, s->matrix, plan->cols,
                               clo_i_density_shape_of_cells, &noise, s->root, err));
    const clo_density_cells cells = { .count = s->cells.used,
                                      .places = s->cells.means,
                                      .shares = s->shares,
                                      .deviations = s->deviations,
                                      .root = s->root,
                                      .wide = WIDE };
    CLO_TRY(open_stream(context, &stream, err));
    clo_i_density_draw(&s->density, stream, &cells, s->start.rows);
    CLO_TRY(close_stream(stream, CLO_OK, err));
    clo_i_density_set_strength(plan, s->cells.used, s);
    clo_i_density_fit(&s->density, 2 * CLO_DENSITY_STEPS);
    return CLO_OK;
}

/* ---- cells of what a Gram matrix tells ------------------------------------------------------- */

static const double GRAM_WIDTH = 1.5, TAIL = 0.3; /* in radii; of the first points' lengths */
static const double LEAST_TRACE = 0.2;

/* The first points: normal, with the covariance that the matrix has left. */
static clo_status draw_first(clo_context *context, const clo_density_plan *plan,
                             const clo_bounded *data, clo_density_state *s, clo_error *err)
{
    const clo_line *const line = &context->meter->lines[1];
    const size_t d = plan->cols;
    const double noise = clo_i_local_gram_deviation(line), radius = s->start.radius;
    const double width = GRAM_WIDTH * radius, scale = width * width / s->start.rows;
    clo_density_edge e = { noise * sqrt(2 * (double)d) * scale, LEAST_TRACE * radius * radius };
    clo_stream *stream = NULL;
    clo_i_density_progress(context, plan, plan->looks);
    CLO_TRY(clo_i_ask_local_gram(context, 1, data, s->start.center, width, s->matrix, err));
    clo_i_density_tell_gram(&s->density,
                            &(clo_gram_told){ s->start.center, width, s->matrix, noise });
    for (size_t i = 0; i < d * d; i++) s->matrix[i] *= scale;
    CLO_TRY(clo_i_density_root(context->workspace, s->matrix, d, clo_i_density_shape_of_gram, &e,
                               s->root, err));
    CLO_TRY(open_stream(context, &stream, err));
    clo_i_density_draw_normal(&s->density, stream, s->start.center, s->root, TAIL, false,
                              s->start.rows);
    return close_stream(stream, CLO_OK, err);
}

/* The same where the matrix has told the directions and spreads that there are. */
static clo_status draw_in_frame(clo_context *context, const clo_density_plan *plan,
                                clo_density_state *s, clo_error *err)
{
    const size_t d = plan->cols;
    clo_stream *stream = NULL;
    memset(s->root, 0, d * d * sizeof *s->root);
    for (size_t j = 0; j < d; j++) s->root[j * d + j] = s->spread[j];
    CLO_TRY(open_stream(context, &stream, err));
    clo_i_density_draw_normal(&s->density, stream, s->start.center, s->root, TAIL, true,
                              s->start.rows);
    return close_stream(stream, CLO_OK, err);
}

/* As many cells as the released number of rows feeds. */
static const double ROWS_A_CELL = 3, CELLS_A_CLUSTER = 1.5;

static size_t cells_to_use(const clo_density_plan *plan, const clo_line *line, double rows)
{
    const double noise = sqrt((double)plan->cols) * clo_i_local_deviation(line);
    const double least = plan->frame ? (double)clo_i_columns_fewest_cells(plan)
                                     : ceil(CELLS_A_CLUSTER * (double)plan->likely);
    return (size_t)fmin(fmax(ceil(rows / (ROWS_A_CELL * noise)), least), (double)plan->cells);
}

/* The cells' own spread, and a little more the first time. */
static const double FIRST_WIDER = 1.2, REACH = 2, LEAST_SQUARE = 0.2;

static clo_status pass_through(clo_context *context, const clo_density_plan *plan,
                               const clo_bounded *data, uint64_t pass, clo_density_state *s,
                               clo_error *err)
{
    const size_t number = clo_i_density_cells_line(plan);
    clo_density_groups *const g = &s->groups;
    double total = 0, mean = 0;
    clo_i_density_progress(context, plan, plan->looks + 1 + pass);
    const clo_density_solver how = { context->rng, context->threads, 1, false };
    CLO_TRY(
        clo_i_density_centers(&s->density, &how, g->used, g->places, g->sizes, g->squares, err));
    for (size_t c = 0; c < g->used; c++) {
        total += g->sizes[c];
        mean += g->sizes[c] * g->squares[c];
    }
    for (size_t c = 0; c < g->used; c++) {
        const double square = fmax(g->squares[c], LEAST_SQUARE * mean / fmax(total, 1e-9));
        g->widths[c] = fmin((pass ? 1 : FIRST_WIDER) * sqrt(square), CLO_LOCAL_WIDEST / 2);
        g->reaches[c] = REACH * g->widths[c];
    }
    CLO_TRY(clo_i_density_ask(context, number, data, s, err));
    CLO_TRY(follow(context, s, err));
    clo_i_density_fit(&s->density, CLO_DENSITY_STEPS);
    return CLO_OK;
}

clo_status clo_i_density_find_shape(clo_context *context, const clo_density_plan *plan,
                                    const clo_bounded *data, clo_density_state *s, clo_error *err)
{
    const clo_line *const line = &context->meter->lines[clo_i_density_cells_line(plan)];
    CLO_TRY(plan->frame ? draw_in_frame(context, plan, s, err)
                        : draw_first(context, plan, data, s, err));
    s->groups.used = cells_to_use(plan, line, s->start.rows);
    clo_i_density_set_strength(plan, s->groups.used, s);
    clo_i_density_fit(&s->density, CLO_DENSITY_STEPS);
    for (uint64_t pass = 0; pass < plan->passes; pass++)
        CLO_TRY(pass_through(context, plan, data, pass, s, err));
    return CLO_OK;
}

/* ---- one mean -------------------------------------------------------------------------------- */

/* Later asks are at the width that those before have found; in many columns at less than that, as
 * what is cut has a direction yet. */
static const double AGAIN = 1.1, AGAIN_IN_MANY = 0.7, LEAST_MEAN_SQUARE = 1e-4;
static const double LEAST_OF_BEFORE = 0.3; /* of a mean square that was told already */

/* How far records lie from the mean that an ask has told. */
static double spread_of(const clo_density_plan *plan, const clo_line *line,
                        const clo_density_groups *g, double rows, double fresh)
{
    const double reach = g->reaches[0] * g->reaches[0];
    const double doubt = reach * clo_i_local_square_deviation(line) / rows;
    const double scale = g->widths[0] * g->widths[0] / (rows * rows);
    double square = 0;
    for (size_t j = 0; j < plan->cols; j++) square += g->sums[j] * g->sums[j];
    square = fmax(scale * square - (double)plan->cols * fresh, 0);
    const double least = fmax(0.5 * doubt, LEAST_MEAN_SQUARE);
    return fmin(fmax(reach * g->told_squares[0] / rows - square, least), 1);
}

clo_status clo_i_density_one_mean(clo_context *context, const clo_density_plan *plan,
                                  const clo_bounded *data, clo_density_state *s, clo_error *err)
{
    const clo_line *const line = &context->meter->lines[0];
    const size_t d = plan->cols;
    clo_density_groups *const g = &s->groups;
    clo_density_start *const start = &s->start;
    const double again = clo_i_density_is_wide(plan) ? AGAIN_IN_MANY : AGAIN;
    double spread = 0;
    g->used = 1;
    g->widths[0] = g->reaches[0] = 1;
    memset(g->places, 0, d * sizeof(double));
    for (uint64_t ask = 0; ask < plan->passes; ask++) {
        clo_i_density_progress(context, plan, ask);
        CLO_TRY(ask_groups(context, 0, data, d, g, err));
        const double rows = plan->rows_known ? plan->rows : fmax(g->told_sizes[0], 1);
        const double scale = g->widths[0] / rows, noise = scale * clo_i_local_deviation(line);
        const double told = spread_of(plan, line, g, rows, noise * noise);
        spread = ask ? (spread + fmax(told, LEAST_OF_BEFORE * spread)) / 2 : told;
        for (size_t j = 0; j < d; j++) g->sums[j] *= scale;
        (ask ? weigh_later : shrink_first)(d, noise * noise, g->sums, start);
        clo_i_pull_into_ball(start->center, d);
        memcpy(g->places, start->center, d * sizeof(double));
        if (ask + 1 == plan->passes) continue;
        g->widths[0] = fmin(again * sqrt(spread + (double)d * start->center_doubt), 1);
        g->reaches[0] = 2 * g->widths[0];
    }
    g->sizes[0] = fmax(g->told_sizes[0], 1);
    return CLO_OK;
}
