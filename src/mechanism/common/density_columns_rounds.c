/*
 * density_columns_rounds.c - the rounds of kmeans/density in many columns: the clusters are asked
 * about in all columns, and the density knows most of them only as a length.
 *
 * Inside of its frame the density explains an answer as anywhere.  Outside, a point has the mean of
 * its cluster, found by one regression over all rounds (density_columns_outside.c), and a squared
 * length about it.  How long that is no Gram matrix tells, which cuts what is far away; a round's
 * histogram of lengths does.  So a record's cut, inside and outside, is known, and is no bias.
 */
#include "mechanism/common/density_columns.h"
#include "mechanism/common/centers_common.h"
#include "ask/assign.h"
#include "release/release.h"
#include "solver/solver.h"
#include <math.h>
#include <string.h>

static const double UNEVEN = 0.2; /* deviation of the logarithm of a squared length outside */

/* ---- room ------------------------------------------------------------------------------------ */

static size_t most_extra(const clo_density_plan *plan)
{
    return (plan->clusters < plan->cols ? plan->clusters : plan->cols) + 1;
}

static clo_status take_round(const clo_density_plan *plan, clo_workspace *space,
                             clo_columns_round *r, clo_error *err)
{
    const size_t k = plan->clusters, d = plan->cols;
    CLO_TRY(clo_i_take(space, plan->points, sizeof *r->labels, &r->labels, err));
    CLO_TRY(clo_i_take(space, plan->points, sizeof(double), &r->uncut, err));
    CLO_TRY(clo_i_take(space, k * d, sizeof(double), &r->places, err));
    CLO_TRY(clo_i_take(space, k * d, sizeof(double), &r->sums, err));
    return clo_i_take(space, k, sizeof(double), &r->widths, err);
}

static clo_status take_clusters(const clo_density_plan *plan, clo_workspace *space,
                                clo_density_groups *g, clo_error *err)
{
    const size_t k = plan->clusters, d = plan->cols;
    double **const narrow[] = { &g->sizes,   &g->squares,      &g->widths,
                                &g->reaches, &g->told_squares, &g->told_sizes };
    CLO_TRY(clo_i_take(space, k * d, sizeof(double), &g->places, err));
    CLO_TRY(clo_i_take(space, k * d, sizeof(double), &g->sums, err));
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
        CLO_TRY(clo_i_take(space, k, sizeof(double), narrow[i], err));
    return clo_i_take(space, k, sizeof *g->views, &g->views, err);
}

clo_status clo_i_columns_take_rounds(const clo_density_plan *plan, clo_workspace *space,
                                     clo_columns *c, clo_error *err)
{
    const size_t k = plan->clusters, d = plan->cols, n = plan->points, more = most_extra(plan);
    const size_t wide = plan->frame + more;
    c->most_extra = more;
    CLO_TRY(clo_i_take(space, n * wide, sizeof(double), &c->seen, err));
    CLO_TRY(clo_i_take(space, k * wide, sizeof(double), &c->centers, err));
    CLO_TRY(clo_i_take(space, more * d, sizeof(double), &c->basis, err));
    CLO_TRY(clo_i_take(space, k * d, sizeof(double), &c->means, err));
    CLO_TRY(clo_i_take(space, k, sizeof(double), &c->rest, err));
    CLO_TRY(clo_i_take(space, n, sizeof(double), &c->uneven, err));
    CLO_TRY(clo_i_take(space, n * more, sizeof(double), &c->normal, err));
    CLO_TRY(clo_i_take(space, n, sizeof *c->labels, &c->labels, err));
    CLO_TRY(clo_i_take(space, n, sizeof(double), &c->squares, err));
    CLO_TRY(clo_i_take(space, CLO_LOCAL_SHELLS, sizeof(double), &c->shells, err));
    CLO_TRY(clo_i_take(space, k * plan->frame, sizeof(double), &c->along, err));
    CLO_TRY(take_clusters(plan, space, &c->all, err));
    for (size_t r = 0; r < plan->rounds; r++) CLO_TRY(take_round(plan, space, &c->round[r], err));
    return clo_i_columns_take_equations(plan, space, &c->equations, err);
}

/* ---- points and clusters, in the frame and outside of it ------------------------------------- */

static size_t width_of(const clo_columns *c)
{
    return c->directions + c->extra;
}

/* What the density has in its frame, and, beside it, where a point's cluster is outside. */
static void see_points(const clo_density *density, clo_columns *c)
{
    const size_t r = c->directions, e = c->extra, wide = width_of(c);
    double rest = 0;
    for (size_t j = 0; j < c->clusters; j++) rest += c->rest[j] / (double)c->clusters;
    const double deviation = e ? sqrt(rest / (double)(c->cols - r)) : 0;
    for (size_t i = 0; i < c->points; i++) {
        double *const to = c->seen + i * wide;
        const double *const middle = c->centers + c->labels[i] * wide + r;
        memcpy(to, density->points + i * r, r * sizeof *to);
        for (size_t j = 0; j < e; j++)
            to[r + j] = middle[j] + deviation * c->normal[i * c->most_extra + j];
    }
}

/* The clusters of the points, and how far these are from the centres, as far as is seen. */
static void assign(clo_columns *c)
{
    const size_t wide = width_of(c);
    for (size_t i = 0; i < c->points; i++)
        c->labels[i] = (uint32_t)clo_i_density_nearest(c->seen + i * wide, c->centers, c->clusters,
                                                       wide, &c->squares[i]);
}

static void count(const double *weights, clo_columns *c)
{
    for (size_t j = 0; j < c->clusters; j++) c->all.sizes[j] = 0;
    for (size_t i = 0; i < c->points; i++) c->all.sizes[c->labels[i]] += weights[i];
}

clo_status clo_i_columns_begin_rounds(clo_context *context, const clo_density_state *s,
                                      clo_columns *c, clo_error *err)
{
    const size_t k = c->clusters;
    clo_stream *stream = NULL;
    double total = 0;
    CLO_TRY(clo_i_stream_open(context->rng, clo_i_rng_next_ask(context->rng), 0, &stream, err));
    for (size_t i = 0; i < c->points; i++)
        total += c->uneven[i] = exp(UNEVEN * clo_i_random_normal(stream));
    for (size_t i = 0; i < c->points; i++) c->uneven[i] *= (double)c->points / total;
    for (size_t i = 0; i < c->points * c->most_extra; i++)
        c->normal[i] = clo_i_random_normal(stream);
    const clo_status status = clo_i_stream_check(stream, err);
    clo_i_stream_close(stream);
    c->extra = c->rounds = 0;
    memset(c->means, 0, k * c->cols * sizeof *c->means);
    memset(c->labels, 0, c->points * sizeof *c->labels);
    memcpy(c->centers, s->groups.places, k * c->directions * sizeof *c->centers);
    for (size_t j = 0; j < k; j++) c->rest[j] = c->outside;
    see_points(&s->density, c);
    return status;
}

/* In all columns: about the start's centre, what is inside of the frame and what is outside. */
void clo_i_columns_place(const clo_density_state *s, clo_columns *c)
{
    const size_t d = c->cols, r = c->directions, wide = width_of(c);
    for (size_t own = 0; own < c->clusters; own++) {
        double *const place = c->all.places + own * d;
        for (size_t j = 0; j < d; j++) {
            double inside = 0;
            for (size_t i = 0; i < r; i++)
                inside += c->frame[j * r + i] * (c->centers[own * wide + i] - s->start.center[i]);
            place[j] = c->start.center[j] + inside / c->scale + c->means[own * d + j];
        }
        clo_i_pull_into_ball(place, d);
    }
    assign(c);
    count(s->density.weights, c);
}

/* Of vectors the parts along the frame, clusters x directions, which are taken off them. */
static void part(const clo_columns *c, double *vectors, double *along)
{
    const size_t d = c->cols, r = c->directions;
    memset(along, 0, c->clusters * r * sizeof *along);
    for (size_t own = 0; own < c->clusters; own++) {
        double *const vector = vectors + own * d, *const inside = along + own * r;
        for (size_t j = 0; j < d; j++)
            for (size_t i = 0; i < r; i++) inside[i] += c->frame[j * r + i] * vector[j];
        for (size_t j = 0; j < d; j++)
            for (size_t i = 0; i < r; i++) vector[j] -= c->frame[j * r + i] * inside[i];
    }
}

/* ---- one ask --------------------------------------------------------------------------------- */

/* Widths: the wider, the fewer records are cut and the more noise there is.  In many columns less
 * than a deviation may pay. */
static const double REACH = 1.5, LEAST_SQUARE = 0.1, WIDEST = 2, NARROWEST = 0.6;
static const double EVEN_NOISE = 0.3, A_DECADE = 0.3; /* where a width is one deviation */

static void choose_views(const clo_density *density, const clo_line *line, clo_columns *c)
{
    const double noise = sqrt((double)c->cols) * clo_i_local_deviation(line);
    clo_density_groups *const g = &c->all;
    double total = 0, mean = 0;
    count(density->weights, c);
    for (size_t j = 0; j < c->clusters; j++) g->squares[j] = 0;
    for (size_t i = 0; i < c->points; i++)
        g->squares[c->labels[i]] += density->weights[i] * c->squares[i];
    for (size_t j = 0; j < c->clusters; j++) {
        g->squares[j] /= fmax(g->sizes[j], 1);
        total += fmax(g->sizes[j], 1);
        mean += fmax(g->sizes[j], 1) * g->squares[j];
    }
    for (size_t j = 0; j < c->clusters; j++) {
        const double square = fmax(g->squares[j], LEAST_SQUARE * mean / total);
        const double nu = noise / fmax(g->sizes[j], 1),
                     wide = 1 + A_DECADE * log10(EVEN_NOISE / nu);
        g->widths[j] = fmin(fmin(fmax(wide, NARROWEST), WIDEST) * sqrt(square), WIDEST);
        g->reaches[j] = REACH * g->widths[j];
    }
}

static clo_status ask(clo_context *context, size_t number, const clo_bounded *data, clo_columns *c,
                      clo_error *err)
{
    const clo_line *const line = &context->meter->lines[number];
    const size_t d = c->cols, mark = clo_i_workspace_mark(context->workspace);
    clo_density_groups *const g = &c->all;
    clo_local_sums answer = { g->sums, g->told_squares, g->told_sizes };
    clo_assign rule;
    for (size_t j = 0; j < line->groups; j++) {
        /* The rest lie where the first does: ties go to the smaller index, so they get no record.
         */
        const size_t own = j < c->clusters ? j : 0;
        if (own != j) memcpy(g->places + j * d, g->places, d * sizeof(double));
        g->views[j] = (clo_local_view){ g->widths[own], g->reaches[own] };
    }
    clo_status status = clo_i_assign_centers(context->workspace, g->places, line->groups, d,
                                             line->bits, &rule, err);
    if (!status)
        status =
            clo_i_ask_local_shells(context, number, data, &rule, g->views, &answer, c->shells, err);
    clo_i_workspace_release(context->workspace, mark);
    return status;
}

/* ---- lengths outside ------------------------------------------------------------------------- */

/* Factors that are tried: from 2^-2 to 2^4 in steps of 2^(1/8).  How far off the first guess may
 * be, and a later one, in logarithms. */
enum { FACTORS = 49, A_DOUBLING = 8, HALVINGS = 2 };
static const double FIRST_OFF = 0.7, LATER_OFF = 0.2;
static const double LEAST_REST = 0.02; /* of the whole mean square */

/* How unlikely the histogram is if the lengths outside are longer by this factor. */
static double misfit(const clo_density *density, const clo_columns *c, double factor, double rows,
                     double noise)
{
    double shells[CLO_LOCAL_SHELLS] = { 0 }, total = 0, sum = 0;
    for (size_t i = 0; i < c->points; i++) {
        const size_t own = c->labels[i];
        const double outside = c->rest[own] * c->uneven[i], width = c->all.widths[own];
        const double square = c->squares[i] + (factor - 1) * outside;
        shells[clo_i_local_shell(square / (width * width))] += density->weights[i];
        total += density->weights[i];
    }
    for (size_t j = 0; j < CLO_LOCAL_SHELLS; j++) {
        const double off = (c->shells[j] - shells[j] * rows / fmax(total, 1e-300)) / noise;
        sum += off * off / 2;
    }
    return sum;
}

static void fit_lengths(const clo_line *line, const clo_density_state *s, clo_columns *c)
{
    const double noise = clo_i_local_shell_deviation(line);
    const double off = c->rounds ? LATER_OFF : FIRST_OFF;
    double best = 1, least = INFINITY;
    for (int f = 0; f < FACTORS; f++) {
        const double factor = exp2((double)f / A_DOUBLING - HALVINGS), log_off = log(factor) / off;
        const double here =
            misfit(&s->density, c, factor, c->start.rows, noise) + log_off * log_off / 2;
        if (here < least) {
            least = here;
            best = factor;
        }
    }
    for (size_t i = 0; i < c->points; i++) {
        const double now = c->rest[c->labels[i]];
        c->squares[i] += (fmax(best * now, LEAST_REST * c->total) - now) * c->uneven[i];
    }
    for (size_t j = 0; j < c->clusters; j++)
        c->rest[j] = fmax(best * c->rest[j], LEAST_REST * c->total);
}

/* ---- what an answer says --------------------------------------------------------------------- */

/* Inside of the frame to the density; outside to the equations, with how the points were cut. */
static void tell(const clo_line *line, clo_density_state *s, clo_columns *c)
{
    const size_t k = c->clusters, d = c->cols, r = c->directions, wide = width_of(c);
    clo_density_groups *const g = &c->all;
    clo_columns_round *const round = &c->round[c->rounds++];
    round->noise = clo_i_local_deviation(line);
    round->least = 1.5 * clo_i_local_size_deviation(line);
    memcpy(round->labels, c->labels, c->points * sizeof *round->labels);
    memcpy(round->widths, g->widths, k * sizeof(double));
    memcpy(round->sums, g->sums, k * d * sizeof(double));
    for (size_t i = 0; i < k * d; i++) round->places[i] = g->places[i] - c->start.center[i % d];
    part(c, round->places, c->along);
    part(c, round->sums, c->along);
    for (size_t i = 0; i < c->points; i++)
        round->uncut[i] = fmin(g->widths[c->labels[i]] / sqrt(fmax(c->squares[i], 1e-300)), 1);
    double *const places = g->places; /* which the next round finds anew */
    for (size_t j = 0; j < k; j++)
        memcpy(places + j * r, c->centers + j * wide, r * sizeof(double));
    const clo_cells_told told = { .count = k,
                                  .places = places,
                                  .widths = g->widths,
                                  .reaches = g->reaches,
                                  .sums = c->along,
                                  .squares = g->told_squares,
                                  .sizes = g->told_sizes,
                                  .noise = round->noise,
                                  .square_noise = clo_i_local_square_deviation(line),
                                  .size_noise = clo_i_local_size_deviation(line) };
    clo_i_density_tell_labelled(&s->density, &told, c->labels, c->squares);
}

/* ---- the clusters anew ----------------------------------------------------------------------- */

enum { STEPS = 200 };
static const double TIGHT = 1e-8; /* of the variance */

static clo_status converge(clo_context *context, const clo_density *density, clo_columns *c,
                           clo_error *err)
{
    const clo_solver_input job = { .rows = c->seen,
                                   .count = c->points,
                                   .cols = width_of(c),
                                   .rng = context->rng,
                                   .threads = context->threads };
    const clo_kmeans_options options = { .clusters = c->clusters,
                                         .start = c->centers,
                                         .iterations = STEPS,
                                         .tolerance = TIGHT,
                                         .weights = density->weights };
    double cost;
    return clo_i_kmeans(&job, &options, c->centers, c->labels, &cost, err);
}

/* Centres in the frame, and, after them, what the clusters' means are in the basis. */
static void restate_centers(size_t before, clo_columns *c)
{
    const size_t k = c->clusters, d = c->cols, r = c->directions, e = c->extra;
    clo_i_local_restride(c->centers, k, r + before, r);
    clo_i_local_restride(c->centers, k, r, r + e);
    for (size_t own = 0; own < k; own++)
        for (size_t i = 0; i < e; i++) {
            double along = 0;
            for (size_t j = 0; j < d; j++) along += c->means[own * d + j] * c->basis[i * d + j];
            c->centers[own * (r + e) + r + i] = along;
        }
}

/* The part of the squared lengths that the last step of the means has taken away: of what the step
 * is, twice its noise is none. */
static void shorten(clo_columns *c)
{
    const size_t d = c->cols;
    const clo_columns_equations *const e = &c->equations;
    const double *const before = c->round[c->rounds - 1].places;
    double gone = 0, all = 0;
    for (size_t own = 0; own < c->clusters; own++) {
        double square = 0;
        for (size_t j = own * d; j < (own + 1) * d; j++)
            square += (c->means[j] - before[j]) * (c->means[j] - before[j]);
        gone += e->shares[own] * (square - 2 * (double)c->extra * e->doubts[own]);
        all += e->shares[own];
    }
    gone = fmax(gone / all, 0);
    for (size_t own = 0; own < c->clusters; own++)
        c->rest[own] = fmax(c->rest[own] - gone, LEAST_REST * c->total);
}

clo_status clo_i_columns_go_round(clo_context *context, size_t number, const clo_bounded *data,
                                  clo_density_state *s, clo_columns *c, clo_error *err)
{
    const clo_line *const line = &context->meter->lines[number];
    const bool all_inside = c->directions == c->cols;
    const size_t before = c->extra;
    clo_i_columns_place(s, c);
    for (size_t i = 0; i < c->points; i++) c->squares[i] += c->rest[c->labels[i]] * c->uneven[i];
    choose_views(&s->density, line, c);
    CLO_TRY(ask(context, number, data, c, err));
    if (!all_inside) fit_lengths(line, s, c);
    tell(line, s, c);
    clo_i_density_fit(&s->density, CLO_DENSITY_STEPS);
    CLO_TRY(converge(context, &s->density, c, err));
    if (all_inside) return CLO_OK;
    assign(c);
    CLO_TRY(clo_i_columns_find_means(s->density.weights, c, err));
    restate_centers(before, c);
    shorten(c);
    see_points(&s->density, c);
    return CLO_OK;
}
