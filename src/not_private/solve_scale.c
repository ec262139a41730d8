/*
 * solve_scale.c - a partition on a scale, and the same in the data's own units.
 */
#include "not_private/solve_scale.h"
#include <math.h>

clo_status clo_i_start_to_scale(const clo_partition *start, const clo_i_scale *scale,
                                clo_partition *out, clo_error *err)
{
    const size_t points = start->clusters * start->cols;
    if (start->width > 0 || !start->offsets)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "with a scale the start must be centers, not subspaces");
    CLO_TRY(clo_i_partition_new(0, start->clusters, start->cols, 0, true, out, err));
    for (size_t i = 0; i < points; i++) {
        const size_t j = i % start->cols;
        out->offsets[i] = (start->offsets[i] - scale->middle[j]) / scale->half[j];
    }
    return CLO_OK;
}

clo_status clo_i_partition_to_units(clo_partition *p, const clo_i_scale *scale, clo_error *err)
{
    const size_t k = p->clusters, d = p->cols;
    double *per_unit = NULL;
    if (!scale->half) return CLO_OK;
    if (!p->offsets) CLO_TRY(clo_i_alloc(k * d, sizeof *p->offsets, &p->offsets, err));
    for (size_t i = 0; i < k * d; i++)
        p->offsets[i] = scale->middle[i % d] + scale->half[i % d] * p->offsets[i];
    if (p->width == 0) return CLO_OK;
    CLO_TRY(clo_i_alloc(d, sizeof *per_unit, &per_unit, err));
    for (size_t j = 0; j < d; j++) per_unit[j] = 1 / scale->half[j];
    clo_status status = CLO_OK;
    for (size_t c = 0; c < k && !status; c++)
        status = clo_i_scale_basis(p->bases + c * d * p->width, per_unit, d, p->width, err);
    clo_i_free(per_unit);
    return status;
}

/* The mean over the rows of the distance to the flat that each was put in. */
static clo_status raw_cost(const clo_solution *solution, clo_target *target, clo_i_pass *pass,
                           double *out, clo_error *err)
{
    const uint32_t *const labels = solution->partition.labels;
    double *squared = NULL, all = 0;
    CLO_TRY(clo_i_alloc(pass->most, sizeof *squared, &squared, err));
    clo_status status = CLO_OK;
    while (!status && clo_i_pass_next(pass)) {
        double sum = 0;
        status = clo_i_pass_raw(pass, target, labels + pass->first, squared, err);
        for (size_t i = 0; i < pass->count && !status; i++)
            sum += target->by_distance ? sqrt(squared[i]) : squared[i];
        all += sum;
    }
    clo_i_wipe_free(squared, pass->most * sizeof *squared);
    if (!status) *out = all / (double)solution->partition.count;
    return status;
}

/* The names of the result that gave the scale, or of the table. */
static clo_status keep_columns(clo_solution *solution, const clo_i_columns_known *known,
                               const clo_table *table, clo_error *err)
{
    const size_t cols = solution->partition.cols;
    char **own = NULL;
    const bool named = clo_table_column_name(table, 0) != NULL;
    if (known->names || !named || cols != clo_table_cols(table))
        return clo_i_solution_keep_columns(solution, known->names, known->lower, known->upper, err);
    CLO_TRY(clo_i_alloc(cols, sizeof *own, &own, err));
    for (size_t j = 0; j < cols; j++) own[j] = (char *)(uintptr_t)clo_table_column_name(table, j);
    const clo_status status =
        clo_i_solution_keep_columns(solution, own, known->lower, known->upper, err);
    clo_i_free(own);
    return status;
}

clo_status clo_i_solution_finish(clo_solution *solution, const clo_i_columns_known *known,
                                 const clo_table *table, clo_i_scale *scale, clo_error *err)
{
    clo_target target = { .sum = 0 };
    clo_i_pass pass = { .room = NULL };
    if (solution->partition.cols == 0) return CLO_OK; /* of an affinity */
    CLO_TRY(keep_columns(solution, known, table, err));
    if (!scale->half) return CLO_OK;
    clo_status status = clo_i_target_of_solution(solution, &target, err);
    if (!status) status = clo_i_target_to_scale(&target, scale, err);
    if (!status) status = clo_i_pass_new(table, scale, &target, &pass, err);
    if (!status) status = raw_cost(solution, &target, &pass, &solution->raw_cost, err);
    clo_i_pass_clear(&pass);
    clo_i_target_free(&target);
    return status;
}
