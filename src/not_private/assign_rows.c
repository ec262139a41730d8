/*
 * assign_rows.c - which released cluster each of the operator's own rows is in: a plain function of
 * the data, without noise, and so never for the world.
 */
#include <cloister/assign.h>
#include "not_private/scale.h"
#include "not_private/solution.h"
#include "release/release.h"
#include "parallel/parallel.h"
#include <math.h>

clo_i_columns_known clo_i_columns_of_release(const clo_release *release)
{
    const clo_facts *const facts = &release->facts;
    return (clo_i_columns_known){ .what = "release",
                                  .cols = facts->cols,
                                  .names = facts->column_names,
                                  .lower = facts->lower,
                                  .upper = facts->upper,
                                  .center = facts->center,
                                  .schema = facts->schema };
}

clo_i_columns_known clo_i_columns_of_solution(const clo_solution *solution)
{
    return (clo_i_columns_known){ .what = "solution",
                                  .cols = solution->partition.cols,
                                  .names = solution->names,
                                  .lower = solution->lower,
                                  .upper = solution->upper };
}

static clo_status assign(const clo_target *target, clo_i_pass *pass, uint32_t *clusters,
                         double *distances, clo_error *err)
{
    double *squared = NULL;
    uint32_t *nearest = NULL;
    clo_status status = clo_i_alloc(pass->most, sizeof *squared, &squared, err);
    if (!status) status = clo_i_alloc(pass->most, sizeof *nearest, &nearest, err);
    while (!status && clo_i_pass_next(pass)) {
        status = clo_i_pass_nearest(pass, target, squared, nearest, err);
        for (size_t i = 0; i < pass->count && !status; i++) {
            if (clusters) clusters[pass->first + i] = nearest[i];
            if (distances) distances[pass->first + i] = sqrt(squared[i]);
        }
    }
    clo_i_wipe_free(squared, squared ? pass->most * sizeof *squared : 0);
    clo_i_wipe_free(nearest, nearest ? pass->most * sizeof *nearest : 0);
    return status;
}

clo_status clo_assign_rows(const clo_release *release, const clo_table *table, uint32_t *clusters,
                           double *distances, clo_error *err)
{
    clo_target target = { .sum = 0 };
    clo_i_scale scale = { 0 };
    clo_i_pass pass = { .room = NULL };
    if (!release || !table)
        return clo_i_fail(err, CLO_ARGUMENT, "a release and a table must be given");
    CLO_TRY(clo_i_threads_fit(err));
    clo_i_columns_known known = clo_i_columns_of_release(release);
    clo_status status = clo_i_target_of_release(release, &target, err);
    if (!status) status = clo_i_known_fits(&known, &target, err);
    if (!status) status = clo_i_scale_fit(&known, table, &scale, err);
    if (!status) status = clo_i_target_to_scale(&target, &scale, err);
    if (!status) status = clo_i_pass_new(table, &scale, &target, &pass, err);
    if (!status) status = assign(&target, &pass, clusters, distances, err);
    clo_i_pass_clear(&pass);
    clo_i_scale_clear(&scale);
    clo_i_target_free(&target);
    return status;
}
