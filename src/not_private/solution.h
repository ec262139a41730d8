/*
 * solution.h - what a solution is inside: a partition, and which solver made it with which
 * settings.
 */
#ifndef CLO_SOLUTION_H
#define CLO_SOLUTION_H

#include "solver/solver.h"

struct clo_solution {
    char *solver;
    clo_partition partition; /* without labels after clo_solution_read */
    double **bases;          /* clusters of them, cols x dims[c]; NULL where all are centres */
    const clo_param *params; /* of the solver, NULL after clo_solution_read */
    size_t param_count;
    double *values;
    char **names;          /* of the columns, or NULL */
    double *lower, *upper; /* the public bounds that it was scaled by, or NULL */
    double raw_cost;       /* the cost in the data's own units */
};

/* Copies what is known of the columns; each may be NULL. */
CLO_CHECK clo_status clo_i_solution_keep_columns(clo_solution *solution, char *const *names,
                                                 const double *lower, const double *upper,
                                                 clo_error *err);

/* Takes the partition over, on success alone. */
CLO_CHECK clo_status clo_i_solution_new(const char *solver, clo_partition *partition,
                                        clo_solution **out, clo_error *err);

#endif
