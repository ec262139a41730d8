/*
 * solver_job.h (internal) - what a mechanism gives a solver: released values, and the run's own way
 * to be stopped.  A solver that knows nothing of it goes on for minutes after a Ctrl-C.
 */
#ifndef CLO_SOLVER_JOB_H
#define CLO_SOLVER_JOB_H

#include "ask/query.h"
#include "solver/solver.h"

/* It shows as the end of the step that is under way. */
static inline clo_solver_input clo_i_solver_job(const clo_context *context, const double *rows,
                                                size_t count, size_t cols)
{
    return (clo_solver_input){ .rows = rows,
                               .count = count,
                               .cols = cols,
                               .rng = context->rng,
                               .threads = context->threads,
                               .progress = context->progress,
                               .user = context->user,
                               .progress_from = context->progress_to,
                               .progress_to = context->progress_to };
}

#endif
