/*
 * solution.c - the answer of a non-private solver, as its owner sees it.
 */
#include "not_private/solution.h"
#include <string.h>

void clo_solution_free(clo_solution *solution)
{
    if (!solution) return;
    for (size_t c = 0; solution->bases && c < solution->partition.clusters; c++)
        clo_i_free(solution->bases[c]);
    clo_i_free(solution->bases);
    for (size_t j = 0; solution->names && j < solution->partition.cols; j++)
        clo_i_free(solution->names[j]);
    clo_i_free(solution->names);
    clo_i_free(solution->lower);
    clo_i_free(solution->upper);
    clo_i_partition_free(&solution->partition);
    clo_i_free(solution->values);
    clo_i_free(solution->solver);
    clo_i_free(solution);
}

/* A solver pads its bases to one width; whoever asks for one gets its own columns alone. */
static clo_status part_bases(clo_solution *solution, clo_error *err)
{
    const clo_partition *const p = &solution->partition;
    if (p->width == 0) return CLO_OK;
    CLO_TRY(clo_i_alloc(p->clusters, sizeof *solution->bases, &solution->bases, err));
    for (size_t c = 0; c < p->clusters; c++) {
        const size_t q = p->dims[c];
        if (q == 0) continue;
        CLO_TRY(clo_i_alloc(p->cols * q, sizeof(double), &solution->bases[c], err));
        for (size_t j = 0; j < p->cols; j++)
            memcpy(solution->bases[c] + j * q, p->bases + (c * p->cols + j) * p->width,
                   q * sizeof(double));
    }
    return CLO_OK;
}

clo_status clo_i_solution_new(const char *solver, clo_partition *partition, clo_solution **out,
                              clo_error *err)
{
    clo_solution *made = NULL;
    CLO_TRY(clo_i_alloc(1, sizeof *made, &made, err));
    made->partition = *partition;
    made->raw_cost = partition->cost;
    clo_status status = clo_i_copy_text(solver, &made->solver, err);
    if (!status) status = part_bases(made, err);
    if (status) {
        for (size_t c = 0; made->bases && c < partition->clusters; c++) clo_i_free(made->bases[c]);
        clo_i_free(made->bases);
        clo_i_free(made->solver);
        clo_i_free(made);
        return status;
    }
    memset(partition, 0, sizeof *partition);
    *out = made;
    return CLO_OK;
}

static clo_status keep_numbers(const double *from, size_t count, double **out, clo_error *err)
{
    CLO_TRY(clo_i_alloc(count, sizeof **out, out, err));
    memcpy(*out, from, count * sizeof **out);
    return CLO_OK;
}

clo_status clo_i_solution_keep_columns(clo_solution *solution, char *const *names,
                                       const double *lower, const double *upper, clo_error *err)
{
    const size_t cols = solution->partition.cols;
    if (names) CLO_TRY(clo_i_alloc(cols, sizeof *solution->names, &solution->names, err));
    for (size_t j = 0; names && j < cols; j++)
        CLO_TRY(clo_i_copy_text(names[j], &solution->names[j], err));
    if (!lower || !upper) return CLO_OK;
    CLO_TRY(keep_numbers(lower, cols, &solution->lower, err));
    return keep_numbers(upper, cols, &solution->upper, err);
}

const char *clo_solution_solver(const clo_solution *solution)
{
    return solution->solver;
}

size_t clo_solution_clusters(const clo_solution *solution)
{
    return solution->partition.clusters;
}

size_t clo_solution_rows(const clo_solution *solution)
{
    return solution->partition.labels ? solution->partition.count : 0;
}

size_t clo_solution_cols(const clo_solution *solution)
{
    return solution->partition.cols;
}

size_t clo_solution_dim(const clo_solution *solution, size_t cluster)
{
    return cluster < solution->partition.clusters ? solution->partition.dims[cluster] : 0;
}

double clo_solution_cost(const clo_solution *solution)
{
    return solution->partition.cost;
}

double clo_solution_raw_cost(const clo_solution *solution)
{
    return solution->raw_cost;
}

bool clo_solution_is_scaled(const clo_solution *solution)
{
    return solution->lower != NULL;
}

clo_matrix clo_solution_basis(const clo_solution *solution, size_t cluster)
{
    const size_t dim = clo_solution_dim(solution, cluster);
    if (dim == 0) return (clo_matrix){ NULL, 0, 0, 0 };
    return (clo_matrix){ solution->bases[cluster], solution->partition.cols, dim, dim };
}

clo_matrix clo_solution_offsets(const clo_solution *solution)
{
    const clo_partition *const p = &solution->partition;
    if (!p->offsets) return (clo_matrix){ NULL, 0, 0, 0 };
    return (clo_matrix){ p->offsets, p->clusters, p->cols, p->cols };
}

const uint32_t *clo_solution_labels(const clo_solution *solution)
{
    return solution->partition.labels;
}
