/*
 * enough_rows.c - what public numbers say beforehand about the bounds that a plan asks for: whether
 * so many rows can tell them at this epsilon, and what they leave out (quantile.T2, quantile.T3).
 */
#include "plan/mechanism.h"
#include "query/quantile.h"
#include "query/queries.h"
#include <math.h>

/* The right answer is e^3 times as likely as the widest one. */
static const double TOLD = 3;
static const double DOUBT = 0.01;
static const double MOST_SHARE = 0.5; /* what is learnt first leaves as much to the mechanism */

/* The ask that needs the most rows; NULL: no bound is asked for. */
static const clo_line *hardest(const clo_plan *plan)
{
    const clo_line *found = NULL;
    for (size_t i = 0; i < plan->line_count; i++) {
        const clo_line *const line = &plan->lines[i];
        if (line->query != &clo_i_query_quantile) continue;
        if (!found || clo_i_quantile_rows(line, TOLD) > clo_i_quantile_rows(found, TOLD))
            found = line;
    }
    return found;
}

/* Rounded up to two digits, so that people can say it and it is still enough. */
static double sayable(double needed)
{
    const double unit = pow(10, floor(log10(needed)) - 1);
    return ceil(needed / unit * (1 - 1e-9)) * unit;
}

/* The rows that are needed are in proportion to 1/epsilon of an ask.  Of what is learnt first that
 * is a share of the budget; of a plan of bounds alone, what its asks cost together. */
static void say_what_would_help(const clo_plan *plan, const clo_line *line, clo_outlook *out)
{
    const clo_learning *const learning = &plan->learning;
    const double factor = out->rows_needed / out->rows;
    clo_event asks = line->event;
    clo_price price;
    if (!(out->rows > 0)) return;
    asks.parameter *= factor;
    if (!plan->steps && !clo_price_epsilon(&asks, 1, plan->budget.delta, &price, NULL))
        out->epsilon_needed = sayable(price.loss.epsilon);
    if (!plan->steps) return;
    out->epsilon_needed = sayable(plan->budget.epsilon * factor);
    const double share = sayable(learning->norm_share * factor);
    if (share + (learning->center ? learning->center_share : 0) <= MOST_SHARE)
        out->share_needed = share;
}

bool clo_plan_outlook_get(const clo_plan *plan, clo_outlook *out, size_t size)
{
    const clo_line *const line = hardest(plan);
    clo_outlook seen = { .rows = (double)plan->domain.rows };
    if (line) {
        const clo_quantile_fields part = clo_i_quantile_fields(line);
        seen.columns = part.ends == 2;
        seen.epsilon = line->event.parameter;
        seen.rows_needed = clo_i_quantile_rows(line, TOLD);
        seen.told = seen.rows >= seen.rows_needed;
        seen.confidence = 1 - DOUBT;
        seen.share_out = (double)part.ends * (double)part.left_out / (double)part.record;
        seen.rows_out = clo_i_quantile_beyond(line, seen.rows, DOUBT);
        say_what_would_help(plan, line, &seen);
    }
    clo_i_give_presets(out, size, &seen, sizeof seen);
    return line != NULL;
}
