/*
 * hopeless.c - refuses, before anything is spent, a run of which public numbers say that it cannot
 * work: that the rows cannot tell the bounds that it asks for, so that it would answer with the
 * widest ones; or that noise hides what it looks for.  Either would have cost the budget.
 */
#include "job/job.h"

static clo_status refuse_bounds(clo_job *job, const clo_outlook *seen, clo_error *err)
{
    const bool share = seen->share_needed > 0;
    const char *const setting = share ? "share-norm" : "epsilon";
    const double value = share ? seen->share_needed : seen->epsilon_needed;
    clo_i_job_advise(job, CLO_ADVICE_SET, "%s %.6g", setting, value);
    return clo_i_job_fail(job, err, CLO_ARGUMENT,
                          "%.0f rows at epsilon %.3g cannot tell %s, which needs %.0f: the widest "
                          "would be taken; give %s, raise @%s to %.6g, or say @yes",
                          seen->rows, seen->epsilon,
                          seen->columns ? "the bounds of a column" : "a radius", seen->rows_needed,
                          seen->columns ? "them" : "one", setting, value);
}

/* A budget that would buy noise is spent on somebody's word alone, whatever the cap.  Runs that
 * charge nothing, and seeded ones, which are experiments, may try. */
static clo_status refuse_hidden(clo_job *job, clo_error *err)
{
    char why[512];
    if (!job->metered || clo_i_job_value(job, "seed") ||
        !clo_plan_hidden_text(job->plan, why, sizeof why))
        return CLO_OK;
    if (job->anyway && job->anyway(job->anyway_user, why)) return CLO_OK;
    clo_i_job_advise(job, CLO_ADVICE_SET, "yes");
    return clo_i_fail(err, CLO_BUDGET, "%s; nothing was spent", why);
}

clo_status clo_i_job_refuse_hopeless(clo_job *job, clo_error *err)
{
    clo_outlook seen;
    if (clo_i_job_says(job, "yes", "yes")) return CLO_OK;
    if (clo_plan_outlook_get(job->plan, &seen, sizeof seen) && seen.rows > 0 && !seen.told)
        return refuse_bounds(job, &seen, err);
    return refuse_hidden(job, err);
}
