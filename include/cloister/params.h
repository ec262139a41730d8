/*
 * params.h - named parameters.  What only one mechanism or one solver knows is told to it by
 * name; one row says everything about a parameter.
 */
#ifndef CLOISTER_PARAMS_H
#define CLOISTER_PARAMS_H

#include <cloister/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a value may be: a whole number, a number, one of some words. */
typedef enum clo_param_type {
    CLO_PARAM_INT = 1,
    CLO_PARAM_REAL = 2,
    CLO_PARAM_CHOICE = 3
} clo_param_type;

/* One row a parameter, the only place that says anything about it: the checks,
 * --help, the man page, the completions and the report are made from it.  Frozen:
 * the library gives arrays of them. */
typedef struct clo_param {
    const char *name; /* "clusters": --clusters, clusters= */
    clo_param_type type;
    double lower, upper; /* both allowed */
    double preset;       /* of CLO_PARAM_CHOICE: the index of the choice */
    const char *choices; /* "norm|columns", or NULL */
    const char *help;    /* no capital, no full stop */
} clo_param;

/* The parameters of one mechanism (clo_params_new) or solver (clo_solver_params_new), at their
 * presets. */
typedef struct clo_params clo_params;

enum { CLO_VALUE_SIZE = 64 }; /* of a value as a text, with its end */

/* CLO_ARGUMENT where there is no such parameter, or its row does not allow the value.  A choice is
 * set by its index here and by its word as a text; names and texts are not kept. */
CLO_API CLO_CHECK clo_status clo_params_set(clo_params *params, const char *name, double value,
                                            clo_error *err);
CLO_API CLO_CHECK clo_status clo_params_set_text(clo_params *params, const char *name,
                                                 const char *value, clo_error *err);
/* What it is set to, in the same two forms; CLO_ARGUMENT where there is no such parameter. */
CLO_API CLO_CHECK clo_status clo_params_get(const clo_params *params, const char *name,
                                            double *value, clo_error *err);
CLO_API CLO_CHECK clo_status clo_params_get_text(const clo_params *params, const char *name,
                                                 char text[CLO_VALUE_SIZE], clo_error *err);
CLO_API void clo_params_free(clo_params *params);

#ifdef __cplusplus
}
#endif
#endif
