/*
 * bounds_quantile.c - where do my bounds come from?  A private radius, or private bounds of each
 * column, inside a generous public one.
 *
 * The domain's norm is the largest radius thinkable; below it lies a public grid of thresholds that
 * fall by equal factors (norm_quantile.c), and the exponential mechanism chooses one that holds
 * most records, or for a column two, its ends, at once (bounds_quantile.T1).  Where the rows are
 * too few to tell, the answer is the public radius again (quantile.T2).
 */
#include "plan/norm_quantile.h"
#include "domain/domain.h"
#include "query/quantile.h"
#include <math.h>

enum { OF, QUANTILE, STEPS, PARAM_COUNT };
enum { OF_NORM, OF_COLUMNS };
enum { OCTAVES = CLO_QUANTILE_OCTAVES, GRID = 30 };

static const clo_param params[PARAM_COUNT] = {
    [OF] = { "of", CLO_PARAM_CHOICE, 0, 1, OF_NORM, "norm|columns",
             "norm: find a radius; columns: find bounds of each column" },
    [QUANTILE] = { "quantile", CLO_PARAM_REAL, 0.5, 0.99999, 0.95, NULL,
                   "share of the rows that the bounds should hold" },
    [STEPS] = { "steps", CLO_PARAM_INT, 1, CLO_QUANTILE_MOST_STEPS, 8, NULL,
                "number of candidates between a radius and its double" },
};

typedef struct quantile_plan {
    bool columns;
    size_t steps;
    size_t thresholds;
} quantile_plan;

/* What a run for columns works with. */
typedef struct state {
    int64_t *thresholds;
    double *lower, *upper; /* cols each */
} state;

static clo_status take_state(const quantile_plan *plan, const clo_domain *domain,
                             clo_workspace *space, state *s, clo_error *err)
{
    CLO_TRY(clo_i_take(space, plan->thresholds, sizeof *s->thresholds, &s->thresholds, err));
    CLO_TRY(clo_i_take(space, domain->cols, sizeof *s->lower, &s->lower, err));
    return clo_i_take(space, domain->cols, sizeof *s->upper, &s->upper, err);
}

static clo_status make_plan(clo_draft *draft, void *plan_state, clo_error *err)
{
    quantile_plan *const plan = plan_state;
    clo_line line;
    state unused;
    double epsilon;
    plan->columns = draft->values[OF] == OF_COLUMNS;
    plan->steps = (size_t)draft->values[STEPS];
    plan->thresholds = plan->columns ? 2 * OCTAVES * plan->steps + 1 : OCTAVES * plan->steps + 1;
    if (draft->domain->lower)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "bounds cannot be given here, because this run looks for them: give a "
                          "norm that no row can exceed");
    const clo_event asks = { .kind = CLO_EVENT_EXPONENTIAL,
                             .parameter = 1,
                             .count = plan->columns ? draft->domain->cols : 1 };
    const clo_quantile how = { plan->thresholds, plan->columns ? 2 : 1, draft->values[QUANTILE] };
    CLO_TRY(clo_calibrate(&asks, 1, draft->budget, &epsilon, err));
    CLO_TRY(clo_i_plan_quantile(
        draft->domain, &how, epsilon, asks.count,
        plan->columns ? "both ends of each column" : "quantile of the row norms", &line, err));
    CLO_TRY(plan->columns ? take_state(plan, draft->domain, draft->room, &unused, err)
                          : clo_i_norm_quantile_room(draft->room, plan->steps, err));
    return clo_i_draft_add(draft, &line, err);
}

/* Column values as shares of the radius: -1 … -2^-26, 0, 2^-26 … 1. */
static double column_share(const quantile_plan *plan, size_t i)
{
    const size_t half = (plan->thresholds - 1) / 2;
    if (i == half) return 0;
    return i < half ? -clo_i_threshold_share(plan->steps, i)
                    : clo_i_threshold_share(plan->steps, plan->thresholds - 1 - i);
}

static void column_thresholds(const quantile_plan *plan, int64_t *out)
{
    for (size_t i = 0; i < plan->thresholds; i++)
        out[i] = (int64_t)ldexp(column_share(plan, i), GRID);
}

static clo_status bound_norm(const quantile_plan *plan, const clo_domain *domain,
                             const clo_bounded *data, clo_context *context, clo_release *out,
                             clo_error *err)
{
    double share;
    CLO_TRY(clo_i_ask_norm_quantile(context, 0, data, plan->steps, &share, err));
    const double radius = clo_i_domain_radius(domain) * share;
    return clo_i_release_put(out, "radius", &radius, 1, (size_t[]){ 1 }, err);
}

/* Turns two answers into bounds.  Values were truncated to the grid, toward 0: where a step of it
 * counts beside the width, both ends make room for what it hid (bounds_quantile.T2).  A column may
 * be constant; bounds need a width. */
static void set_ends(const quantile_plan *plan, double radius, const size_t ends[2], double *lower,
                     double *upper)
{
    const double least = radius * clo_i_threshold_share(plan->steps, OCTAVES * plan->steps - 1);
    const double step = ldexp(radius, -GRID);
    double low = radius * column_share(plan, ends[0]), high = radius * column_share(plan, ends[1]);
    if (high - low < least) high = low + least;
    if (high - low < 1024 * step) {
        low -= step;
        high += step;
    }
    *lower += low;
    *upper += high;
}

static clo_status bound_columns(const quantile_plan *plan, const clo_domain *domain,
                                const clo_bounded *data, clo_context *context, clo_release *out,
                                clo_error *err)
{
    const size_t d = domain->cols;
    const double radius = clo_i_domain_radius(domain);
    state s;
    CLO_TRY(take_state(plan, domain, context->workspace, &s, err));
    column_thresholds(plan, s.thresholds);
    for (size_t j = 0; j < d; j++) {
        size_t ends[2];
        context->progress_from = (double)j / (double)d;
        context->progress_to = (double)(j + 1) / (double)d;
        CLO_TRY(clo_i_ask_quantile(context, 0, data, j, s.thresholds, ends, err));
        s.lower[j] = s.upper[j] = domain->center ? domain->center[j] : 0;
        set_ends(plan, radius, ends, &s.lower[j], &s.upper[j]);
    }
    CLO_TRY(clo_i_release_put(out, "lower", s.lower, 1, (size_t[]){ d }, err));
    return clo_i_release_put(out, "upper", s.upper, 1, (size_t[]){ d }, err);
}

static clo_status run(const void *plan_state, const clo_domain *domain, const clo_bounded *data,
                      clo_context *context, clo_release *out, clo_error *err)
{
    const quantile_plan *const plan = plan_state;
    if (plan->columns) return bound_columns(plan, domain, data, context, out, err);
    return bound_norm(plan, domain, data, context, out, err);
}

extern const clo_mechanism clo_i_mechanism_bounds_quantile;
const clo_mechanism clo_i_mechanism_bounds_quantile = {
    .family = "bounds",
    .method = "quantile",
    .summary = "a radius or bounds of columns, by private quantiles",
    .proof = "proofs/bounds_quantile.md",
    .guarantee = CLO_EXACT,
    .params = params,
    .param_count = PARAM_COUNT,
    .plan_size = sizeof(quantile_plan),
    .plan = make_plan,
    .run = run,
};
