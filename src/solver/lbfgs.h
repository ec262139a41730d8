/*
 * lbfgs.h - the minimum of a smooth function of many variables, by L-BFGS: nothing but values and
 * gradients are needed.
 */
#ifndef CLO_SOLVER_LBFGS_H
#define CLO_SOLVER_LBFGS_H

#include "base/base.h"

/* The value at x, and the gradient there; INFINITY where x is outside of the domain. */
typedef double clo_i_objective(void *user, const double *x, double *gradient);

typedef struct clo_i_descent {
    size_t most_steps;
    double tolerance; /* ends where a few steps in a row lower the value by no more than this */
    double first;     /* length of the first step; 0: a tenth of that of x */
} clo_i_descent;

/* Goes downhill from x, in place, and gives the value found.  The start must have a finite value.
 * scratch: clo_i_descend_scratch(n) doubles.  No randomness, no threads. */
double clo_i_descend(clo_i_objective *objective, void *user, size_t n, double *x,
                     clo_i_descent options, double *scratch);
size_t clo_i_descend_scratch(size_t n);

#endif
