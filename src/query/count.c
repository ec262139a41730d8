/*
 * count.c - how many records there are, with Gaussian noise (count.T1).
 *
 * A record counts 2^20, so that the noise has a fine grid.  Under replace, too: the number of rows
 * is public there, but not how many of them are null and count for nothing (bound.T6).
 */
#include "query/count.h"
#include "query/queries.h"
#include "bound/bound.h"
#include "ask/fold.h"

static const uint64_t RECORD = (uint64_t)1 << 20;

clo_status clo_i_plan_count(const clo_domain *domain, double mu, uint64_t times, const char *label,
                            clo_line *out, clo_error *err)
{
    clo_line line = {
        .query = &clo_i_query_count, .label = label, .groups = 1, .count_unit = RECORD
    };
    CLO_TRY(clo_i_plan_gaussian(RECORD * domain->rows_per_unit, mu, times, &line, err));
    line.noise = (double)line.scale / (double)RECORD;
    *out = line;
    return CLO_OK;
}

/* ---- the ask ------------------------------------------------------------------------------- */

static size_t entries(const clo_line *line, size_t cols, const clo_ask *ask)
{
    (void)line, (void)cols, (void)ask;
    return 1;
}

static clo_status check(const clo_ask *ask, size_t cols, clo_error *err)
{
    (void)ask, (void)cols, (void)err; /* it takes nothing that could be wrong */
    return CLO_OK;
}

static clo_status lay_out(clo_fold *fold, clo_workspace *space, clo_error *err)
{
    (void)fold, (void)space, (void)err;
    return CLO_OK;
}

static void gather(clo_fold *fold)
{
    const uint64_t rows = (uint64_t)clo_i_bounded_rows(fold->data);
    fold->totals[0] = (int64_t)((uint64_t)fold->totals[0] + rows * RECORD);
}

clo_status clo_i_ask_count(clo_context *context, size_t number, const clo_bounded *data,
                           double *count, clo_error *err)
{
    clo_sum sum;
    CLO_TRY(clo_i_sum_begin(context, number, &clo_i_query_count, data, &(clo_ask){ 0 }, &sum, err));
    const clo_noise noise = { .count = 1, .laws = { clo_i_gaussian_law(sum.line->scale) } };
    clo_status status = clo_i_sum_fold(&sum, err);
    if (!status) status = clo_i_answer(context, sum.line, &noise, sum.fold.totals, err);
    if (!status) {
        *count = (double)sum.fold.totals[0] / (double)RECORD;
        clo_i_tell_answer(context, sum.line, count, 1, (double)RECORD);
    }
    clo_i_sum_end(&sum);
    return status;
}

static clo_numbers numbers(const clo_line *line)
{
    (void)line;
    return (clo_numbers){ 1, 1 };
}

const clo_query clo_i_query_count = {
    .name = "count",
    .reading = CLO_READING_SUM,
    .numbers = numbers,
    .lay_out = lay_out,
    .sum = {
        .reads_nothing = true,
        .check = check,
        .entries = entries,
        .gather = gather,
    },
};
