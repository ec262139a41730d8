/* plan_target.c - cloister plan --target: how many rows, or how much epsilon, an error needs. */
#include "cli.h"
#include <math.h>

static clo_status plan_with(cli_job *job, const char *setting, double value, const clo_plan **out,
                            cli_error *err)
{
    const clo_status status = cli_job_set(job, setting, cli_number(value).text, err);
    return status == CLO_OK ? cli_job_plan(job, out, err) : status;
}

static clo_status error_with(cli_job *job, const char *setting, double value, cli_prediction *out,
                             cli_error *err)
{
    const clo_plan *plan = NULL;
    const clo_status status = plan_with(job, setting, value, &plan, err);
    if (status != CLO_OK) return status;
    *out = cli_predict(plan);
    if (out->meaning) return CLO_OK;
    return clo_plan_predict(plan, out->rows, &out->error, &out->meaning, &err->error);
}

static double whole_up(double value)
{
    return ceil(value);
}

/* Three digits, upwards: what people can say. */
static double short_up(double value)
{
    const double unit = pow(10, 2 - floor(log10(value)));
    return ceil(value * unit * (1 - 1e-9)) / unit;
}

/* The least value of the setting whose predicted error is at most the target: doubling, then
 * halving, in steps that `up` makes.  A budget with which nothing can be planned is too small. */
typedef struct wanted {
    const char *setting;
    double from, most;
    double (*up)(double);
    const char *none; /* what to say where there is none */
} wanted;

static const wanted rows_wanted = {
    "rows",
    1,
    0x1p31,
    whole_up,
    "no number of rows up to 2147483648 gives an error of %s: allow a larger --epsilon or a "
    "larger error",
};
static const wanted epsilon_wanted = {
    "epsilon",
    1e-3,
    100,
    short_up,
    "no epsilon up to 100 gives an error of %s: use more rows or allow a larger error",
};

static clo_status least(cli_job *job, const wanted *w, double target, double *out, cli_error *err)
{
    double enough = w->from, too_little = 0;
    cli_prediction there;
    for (;;) {
        const clo_status status = error_with(job, w->setting, enough, &there, err);
        if (status != CLO_OK && (status != CLO_BUDGET || enough >= w->most)) return status;
        if (status == CLO_OK && there.error <= target) break;
        if (enough >= w->most) return cli_fail(err, CLO_ARGUMENT, w->none, cli_number(target).text);
        too_little = enough;
        enough = fmin(2 * enough, w->most);
    }
    for (;;) {
        const double middle = w->up(too_little + (enough - too_little) / 2);
        if (!(middle < enough) || !(middle > too_little)) break;
        const clo_status status = error_with(job, w->setting, middle, &there, err);
        if (status != CLO_OK && status != CLO_BUDGET) return status;
        if (status == CLO_OK && there.error <= target)
            enough = middle;
        else
            too_little = middle;
    }
    *out = enough;
    return CLO_OK;
}

clo_status cli_plan_target(cli_job *job, const char *text, cli_error *err)
{
    const wanted *const w = cli_given(job->args, "rows") ? &epsilon_wanted : &rows_wanted;
    double target = 0, found = 0;
    const clo_plan *plan = NULL;
    clo_status status = cli_parse_positive("--target", text, &target, err);
    if (status == CLO_OK) status = least(job, w, target, &found, err);
    if (status == CLO_OK) status = plan_with(job, w->setting, found, &plan, err);
    if (status != CLO_OK) return status;
    const clo_loss budget = clo_plan_budget(plan);
    const cli_prediction there = cli_predict(plan);
    if (cli_given(job->args, "json")) {
        clo_writer json = cli_plan_json(stdout, plan);
        clo_json_number(&json, "target", target);
        cli_json_end(&json);
    } else if (w == &rows_wanted) {
        printf("An error of at most %s (%s) needs about %s rows at epsilon %s, delta %s.\n",
               cli_number(target).text, there.meaning, cli_number(there.rows).text,
               cli_number(budget.epsilon).text, cli_rounded(budget.delta, 3).text);
    } else {
        printf("An error of at most %s (%s) needs about epsilon %s, delta %s with %s rows.\n",
               cli_number(target).text, there.meaning, cli_number(budget.epsilon).text,
               cli_rounded(budget.delta, 3).text, cli_number(there.rows).text);
    }
    return CLO_OK;
}
