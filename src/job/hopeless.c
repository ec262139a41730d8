/*
 * hopeless.c - refuses, before anything is spent, a run of which public numbers say that it cannot
 * find the bounds that it asks for: it would answer with the widest ones and have cost the budget.
 */
#include "job/job.h"

clo_status clo_i_job_refuse_hopeless(clo_job *job, clo_error *err)
{
    clo_outlook seen;
    if (clo_i_job_says(job, "yes", "yes") || !clo_plan_outlook_get(job->plan, &seen, sizeof seen) ||
        !(seen.rows > 0) || seen.told)
        return CLO_OK;
    const bool share = seen.share_needed > 0;
    const char *const setting = share ? "share-norm" : "epsilon";
    const double value = share ? seen.share_needed : seen.epsilon_needed;
    clo_i_job_advise(job, CLO_ADVICE_SET, "%s %.6g", setting, value);
    return clo_i_job_fail(job, err, CLO_ARGUMENT,
                          "%.0f rows at epsilon %.3g cannot tell %s, which needs %.0f: the widest "
                          "would be taken; give %s, raise @%s to %.6g, or say @yes",
                          seen.rows, seen.epsilon,
                          seen.columns ? "the bounds of a column" : "a radius", seen.rows_needed,
                          seen.columns ? "them" : "one", setting, value);
}
