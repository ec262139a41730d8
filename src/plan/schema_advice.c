/*
 * schema_advice.c - how far a plan over mixed records goes, by one public number: t = n·μ / (k·√d),
 * records over what noise leaves of them, cluster by cluster, in d coordinates.  Below 12 shares of
 * levels are off by several points, below 6 fewer clusters show more, below 3 one mean is all there
 * is to see (docs/guides/schema.md).
 */
#include "plan/mechanism.h"
#include <math.h>
#include <stdio.h>

static const double GOOD = 12, FEWER = 6, ONE = 3;

/* NaN where a query is not Gaussian: then there is no such number. */
static double mu_of(const clo_plan *plan)
{
    double square = 0;
    for (size_t i = 0; i < plan->line_count; i++) {
        const clo_event *const event = &plan->lines[i].event;
        if (event->kind != CLO_EVENT_GAUSSIAN) return NAN;
        square += (double)event->count * event->parameter * event->parameter;
    }
    return sqrt(square);
}

double clo_plan_feed(const clo_plan *plan, double rows)
{
    double clusters = 1;
    if (clo_plan_value_of(plan, "clusters", &clusters, NULL)) return NAN;
    const double each = (double)plan->domain.rows_per_unit; /* the noise of as many */
    return rows * mu_of(plan) / (each * fmax(clusters, 1) * sqrt((double)plan->domain.cols));
}

bool clo_plan_schema_text(const clo_plan *plan, char *text, size_t size)
{
    const double rows = (double)plan->domain.rows, t = clo_plan_feed(plan, rows);
    double clusters = 1;
    if (size) text[0] = 0;
    if (!plan->domain.schema || !(rows > 0) || !(t < GOOD) ||
        clo_plan_value_of(plan, "clusters", &clusters, NULL) || clusters < 2)
        return false;
    const double most = fmax(1, floor(t * clusters / GOOD));
    if (t < ONE)
        snprintf(text, size,
                 "%.0f rows are too few for %.0f clusters in %zu coordinates: ask for one cluster, "
                 "whose center is the mean and the shares of all records, or for fewer levels",
                 rows, clusters, plan->domain.cols);
    else if (t < FEWER)
        snprintf(text, size,
                 "%.0f rows are few for %.0f clusters in %zu coordinates: at most %.0f cluster%s "
                 "would be well fed",
                 rows, clusters, plan->domain.cols, most, most == 1 ? "" : "s");
    else
        snprintf(text, size,
                 "%.0f rows are just enough for %.0f clusters in %zu coordinates: shares of levels "
                 "may be off by several points",
                 rows, clusters, plan->domain.cols);
    return true;
}
