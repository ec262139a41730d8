/*
 * density_rounds.c - a run of a method of the density: its first steps, then rounds with the
 * clusters, each asked where the centres of the density have converged.
 */
#include "domain/domain.h"
#include "mechanism/common/centers_common.h"
#include "mechanism/common/density_columns.h"
#include <math.h>

void clo_i_density_progress(clo_context *context, const clo_density_plan *plan, uint64_t step)
{
    const double steps =
        (double)(plan->looks + clo_i_density_has_gram(plan) + plan->passes + plan->rounds);
    context->progress_from = (double)step / steps;
    context->progress_to = (double)(step + 1) / steps;
}

/* Widths for the next ask: the wider, the fewer records are cut and the more noise there is; so the
 * better a cluster is fed. */
static const double REACH = 1.5, LEAST_SQUARE = 0.1, WIDEST = 2;
/* Of a median, in root mean squares: so narrow that most records pull with their direction alone,
 * as they do at its place. */
static const double OF_MEDIAN = 0.5;

static void choose_views(const clo_density_plan *plan, const clo_line *line, clo_density_groups *g)
{
    const double noise = sqrt((double)line->cols) * clo_i_local_deviation(line);
    double total = 0, mean = 0;
    for (size_t c = 0; c < g->used; c++) {
        total += fmax(g->sizes[c], 1);
        mean += fmax(g->sizes[c], 1) * g->squares[c];
    }
    for (size_t c = 0; c < g->used; c++) {
        const double square = fmax(g->squares[c], LEAST_SQUARE * mean / total);
        const double wide = clo_i_widths_a_spread(noise / fmax(g->sizes[c], 1));
        const double width = fmin(wide * sqrt(square), WIDEST);
        g->widths[c] = plan->median ? OF_MEDIAN * sqrt(square) : width;
        g->reaches[c] = REACH * width;
    }
}

enum { MOST_STARTS = 8, LEAST_STARTS = 2, CHEAP = 1 << 11 }; /* clusters times columns */

static size_t starts_of(const clo_density_plan *plan)
{
    const size_t starts = CHEAP / (plan->clusters * plan->cols);
    return starts > MOST_STARTS ? MOST_STARTS : starts < LEAST_STARTS ? LEAST_STARTS : starts;
}

static clo_status find_centers(clo_context *context, const clo_density_plan *plan, size_t starts,
                               clo_density_state *s, clo_error *err)
{
    clo_density_groups *const g = &s->groups;
    g->used = s->clusters;
    const clo_density_solver how = { context->rng, context->threads, starts, plan->median };
    return clo_i_density_centers(&s->density, &how, g->used, g->places, g->sizes, g->squares, err);
}

clo_status clo_i_density_find_centers(clo_context *context, const clo_density_plan *plan,
                                      clo_density_state *s, clo_error *err)
{
    return find_centers(context, plan, starts_of(plan), s, err);
}

/* The first centres: of the given number of clusters, or of one that is read from the density. */
static clo_status find_first_centers(clo_context *context, const clo_density_plan *plan,
                                     clo_density_state *s, clo_error *err)
{
    const clo_density_solver how = { context->rng, context->threads, starts_of(plan),
                                     plan->median };
    const clo_density_choice choice = { plan->clusters, plan->explain, plan->smallest };
    clo_density_groups *const g = &s->groups;
    clo_density_chosen chosen = {
        .curve = s->curve, .centers = g->places, .sizes = g->sizes, .squares = g->squares
    };
    if (!plan->choose || s->clusters == 1) return clo_i_density_find_centers(context, plan, s, err);
    CLO_TRY(clo_i_density_number(&s->density, &how, &choice, &chosen, err));
    s->clusters = g->used = chosen.clusters;
    s->elbow = (double)chosen.elbow;
    return CLO_OK;
}

static clo_status go_round(clo_context *context, const clo_density_plan *plan,
                           const clo_bounded *data, uint64_t round, clo_density_state *s,
                           clo_error *err)
{
    const size_t line = clo_i_density_cells_line(plan) + 1;
    clo_i_density_progress(context, plan, plan->looks + line - 2 + plan->passes + round);
    choose_views(plan, &context->meter->lines[line], &s->groups);
    CLO_TRY(clo_i_density_ask(context, line, data, s, err));
    CLO_TRY(clo_i_density_explain(context, s, err));
    return find_centers(context, plan, 0, s, err);
}

/* Of the clusters those whose size stands out of the noise of the last ask. */
static double told_apart(const clo_line *last, const clo_density_groups *g)
{
    size_t apart = 0;
    for (size_t c = 0; c < g->used; c++) apart += clo_i_local_stands_out(last, g->sizes[c]);
    return (double)(apart ? apart : 1);
}

/* Centres and sizes; the width that each was looked at with in the last round, in units of the
 * norm, to tell its noise by; and how many of the clusters can be told apart. */
clo_status clo_i_density_release(const clo_domain *domain, const clo_line *last,
                                 clo_density_groups *g, clo_release *out, clo_error *err)
{
    const double apart = told_apart(last, g);
    CLO_TRY(clo_i_local_release(domain, last, g->used, g->places, g->sizes, g->widths, out, err));
    return clo_i_release_put(out, "distinct_clusters", &apart, 1, (size_t[]){ 1 }, err);
}

/* The curve that the number was chosen by, and where it bends. */
static clo_status release_choice(const clo_density_plan *plan, const clo_line *last,
                                 const clo_density_state *s, clo_release *out, clo_error *err)
{
    const size_t count = plan->clusters + CLO_DENSITY_BEYOND;
    if (!(s->elbow > 0)) return CLO_OK;
    CLO_TRY(clo_i_local_release_curve(last, s->groups.used, s->groups.sizes, count, s->curve, out,
                                      err));
    return clo_i_release_put(out, "elbow", &s->elbow, 1, (size_t[]){ 1 }, err);
}

clo_status clo_i_density_run(const clo_density_plan *plan, const clo_domain *domain,
                             const clo_bounded *data, clo_context *context, clo_release *out,
                             clo_error *err)
{
    const bool hidden = plan->way == CLO_DENSITY_HIDDEN;
    const size_t last = hidden ? 0 : clo_i_density_cells_line(plan) + 1;
    clo_density_state s;
    if (plan->frame) return clo_i_columns_run(plan, domain, data, context, out, err);
    CLO_TRY(clo_i_density_take_state(plan, context->workspace, &s, err));
    if (hidden) {
        CLO_TRY(clo_i_density_one_mean(context, plan, data, &s, err));
        return clo_i_density_release(domain, &context->meter->lines[last], &s.groups, out, err);
    }
    CLO_TRY(clo_i_density_look(context, plan, data, &s, err));
    CLO_TRY((clo_i_density_has_gram(plan) ? clo_i_density_find_shape : clo_i_density_find_cells)(
        context, plan, data, &s, err));
    CLO_TRY(find_first_centers(context, plan, &s, err));
    for (uint64_t round = 0; round < plan->rounds; round++)
        CLO_TRY(go_round(context, plan, data, round, &s, err));
    CLO_TRY(clo_i_density_release(domain, &context->meter->lines[last], &s.groups, out, err));
    CLO_TRY(release_choice(plan, &context->meter->lines[last], &s, out, err));
    return domain->frame ? CLO_OK : clo_i_density_release_answers(&s.density, out, err);
}
