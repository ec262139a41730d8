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
             "whether to bound the norm of a row or each column" },
    [QUANTILE] = { "quantile", CLO_PARAM_REAL, 0.5, 0.99999, 0.95, NULL,
                   "share of the rows that the bound should hold" },
    [STEPS] = { "steps", CLO_PARAM_INT, 1, CLO_QUANTILE_MOST_STEPS, 8, NULL,
                "thresholds between a radius and its double" },
};

typedef struct quantile_plan {
    bool columns;
    size_t steps;
    size_t thresholds;
} quantile_plan;

static clo_status make_plan(clo_draft *draft, void *state, clo_error *err)
{
    quantile_plan *const plan = state;
    clo_line line;
    double epsilon;
    plan->columns = draft->values[OF] == OF_COLUMNS;
    plan->steps = (size_t)draft->values[STEPS];
    plan->thresholds = plan->columns ? 2 * OCTAVES * plan->steps + 1 : OCTAVES * plan->steps + 1;
    if (draft->domain->lower)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "bounds are what is being asked for: give a norm that no row can exceed");
    const clo_event asks = { .kind = CLO_EVENT_EXPONENTIAL,
                             .parameter = 1,
                             .count = plan->columns ? draft->domain->cols : 1 };
    const clo_quantile how = { plan->thresholds, plan->columns ? 2 : 1, draft->values[QUANTILE] };
    CLO_TRY(clo_calibrate(&asks, 1, draft->budget, &epsilon, err));
    CLO_TRY(clo_i_plan_quantile(
        draft->domain, &how, epsilon, asks.count,
        plan->columns ? "both ends of each column" : "quantile of the row norms", &line, err));
    draft->workspace = clo_i_take_size(plan->thresholds, sizeof(int64_t)) +
                       2 * clo_i_take_size(draft->domain->cols, sizeof(double));
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

/* A column may be constant; bounds need a width. */
static double apart(const quantile_plan *plan, double radius, double low, double high)
{
    const double least = radius * clo_i_threshold_share(plan->steps, OCTAVES * plan->steps - 1);
    return high - low < least ? low + least : high;
}

static clo_status bound_columns(const quantile_plan *plan, const clo_domain *domain,
                                const clo_bounded *data, clo_context *context, clo_release *out,
                                clo_error *err)
{
    const size_t d = domain->cols;
    const double radius = clo_i_domain_radius(domain);
    int64_t *thresholds = NULL;
    double *lower = NULL, *upper = NULL;
    CLO_TRY(clo_i_take(context->workspace, plan->thresholds, sizeof *thresholds, &thresholds, err));
    CLO_TRY(clo_i_take(context->workspace, d, sizeof(double), &lower, err));
    CLO_TRY(clo_i_take(context->workspace, d, sizeof(double), &upper, err));
    column_thresholds(plan, thresholds);
    for (size_t j = 0; j < d; j++) {
        const double middle = domain->center ? domain->center[j] : 0;
        size_t ends[2];
        context->progress_from = (double)j / (double)d;
        context->progress_to = (double)(j + 1) / (double)d;
        CLO_TRY(clo_i_ask_quantile(context, 0, data, j, thresholds, ends, err));
        lower[j] = middle + radius * column_share(plan, ends[0]);
        upper[j] = apart(plan, radius, lower[j], middle + radius * column_share(plan, ends[1]));
    }
    CLO_TRY(clo_i_release_put(out, "lower", lower, 1, (size_t[]){ d }, err));
    return clo_i_release_put(out, "upper", upper, 1, (size_t[]){ d }, err);
}

static clo_status run(const void *state, const clo_domain *domain, const clo_bounded *data,
                      clo_context *context, clo_release *out, clo_error *err)
{
    const quantile_plan *const plan = state;
    if (plan->columns) return bound_columns(plan, domain, data, context, out, err);
    return bound_norm(plan, domain, data, context, out, err);
}

extern const clo_mechanism clo_i_mechanism_bounds_quantile;
const clo_mechanism clo_i_mechanism_bounds_quantile = {
    .family = "bounds",
    .method = "quantile",
    .summary = "a private radius or private column bounds, by private quantiles",
    .proof = "proofs/bounds_quantile.md",
    .guarantee = CLO_EXACT,
    .params = params,
    .param_count = PARAM_COUNT,
    .plan_size = sizeof(quantile_plan),
    .plan = make_plan,
    .run = run,
};
