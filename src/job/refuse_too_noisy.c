/*
 * refuse_too_noisy.c - refuses, before anything is spent, a run of which public numbers say that it
 * cannot work: that the rows cannot tell the bounds that it asks for, so that it would answer with
 * the widest ones; or that noise hides what it looks for.  Either would have cost the budget.  So
 * would a run on rows of which nearly all have a missing cell: that is no public number, and is
 * looked at only where the number of rows is public.
 */
#include "job/job.h"

/* Where a little more of the budget would do, that is what to try; never an epsilon that protects
 * hardly anybody. */
static clo_status refuse_bounds(clo_job *job, const clo_outlook *seen, clo_error *err)
{
    const bool share = seen->share_needed > 0;
    const char *const setting = share ? "share-norm" : "epsilon";
    const double value = share ? seen->share_needed : seen->epsilon_needed;
    const bool helps = share || value <= 10;
    if (helps) clo_i_job_advise(job, CLO_ADVICE_SET, "%s %.6g", setting, value);
    (void)clo_i_job_fail(job, err, CLO_ARGUMENT,
                         "too few rows to find %s privately: %.0f rows, and at epsilon %.3g it "
                         "needs %.0f; give @%s yourself, or use more rows",
                         seen->columns ? "bounds of a column" : "a radius", seen->rows,
                         seen->epsilon, seen->rows_needed, seen->columns ? "bounds" : "norm");
    return helps ? clo_i_advise(err, CLO_ARGUMENT, "%s %.6g", setting, value) : CLO_ARGUMENT;
}

/* A budget that would buy noise is spent on somebody's word alone, whatever the cap.  Runs that
 * charge nothing, and seeded ones, which are experiments, may try. */
static clo_status refuse_hidden(clo_job *job, clo_error *err)
{
    char why[512];
    if (!job->metered || clo_i_job_value(job, CLO_SET_SEED) ||
        !clo_plan_hidden_text(job->plan, why, sizeof why))
        return CLO_OK;
    if (job->anyway && job->anyway(job->anyway_user, why)) return CLO_OK;
    clo_i_job_advise(job, CLO_ADVICE_SET, "yes");
    return clo_i_fail(err, CLO_BUDGET, "%s; nothing was spent", why);
}

clo_status clo_i_job_refuse_hopeless(clo_job *job, clo_error *err)
{
    clo_outlook seen;
    if (clo_i_job_says(job, CLO_SET_YES, "yes")) return CLO_OK;
    if (clo_plan_outlook_get(job->plan, &seen, sizeof seen) && seen.rows > 0 && !seen.told)
        return refuse_bounds(job, &seen, err);
    return refuse_hidden(job, err);
}

/* Rows with a missing cell on all ranks, or in all parts. */
static clo_status count_gaps(const clo_job *job, const clo_table *table, uint64_t *out,
                             clo_error *err)
{
    uint64_t gaps = job->workers.gaps;
    if (!job->options.workers) {
        CLO_TRY(clo_i_job_agree(job, clo_table_gaps(table, &gaps, err), err));
        int64_t sum = (int64_t)gaps;
        if (clo_i_job_ranks(job) > 1) CLO_TRY(clo_i_job_sum(job, &sum, 1, err));
        gaps = (uint64_t)sum;
    }
    *out = gaps;
    return CLO_OK;
}

clo_status clo_i_job_refuse_gaps(const clo_job *job, const clo_table *table, clo_error *err)
{
    uint64_t gaps = 0;
    if (job->spec.relation != CLO_REPLACE || clo_table_has_unit(table) || job->is_part ||
        clo_i_job_says(job, CLO_SET_YES, "yes") ||
        clo_i_job_says(job, CLO_SET_TEXT_COLUMNS, "missing"))
        return CLO_OK;
    CLO_TRY(count_gaps(job, table, &gaps, err));
    if (!clo_gaps_hide_all(job->all_rows, gaps)) return CLO_OK;
    return clo_i_job_fail(job, err, CLO_FORMAT,
                          "%s: more than nine in ten rows have a missing cell and would be "
                          "ignored: leave out the columns with missing cells, fill them (@missing "
                          "fill), or pass @yes",
                          job->table ? "the table" : clo_i_job_value(job, CLO_SET_DATA));
}
