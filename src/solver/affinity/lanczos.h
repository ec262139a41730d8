/*
 * lanczos.h - the largest eigenvalues of a large symmetric matrix that is known by its products.
 */
#ifndef CLO_LANCZOS_H
#define CLO_LANCZOS_H

#include "solver/solver.h"

/* y = A x */
typedef void clo_lanczos_product(const void *matrix, const double *x, double *y);

/* An iteration, and how far it has come.  Who asks for it fills the first part. */
typedef struct clo_lanczos {
    size_t count, wanted; /* A is count x count; 1 <= wanted <= count */
    size_t room;          /* the greatest basis that will be asked for: wanted < room <= count,
                                 or all three are equal */
    clo_lanczos_product *multiply;
    const void *matrix;
    clo_stream *stream;          /* for directions that the products do not show */
    const clo_solver_input *job; /* its progress alone is used */

    double *values; /* the largest first; once they are found, `wanted` of them */
    double *basis;  /* a vector in `count` numbers after the other, in the order of the values */

    size_t have;
    int products;
    double *shadow;                          /* room x room: V'AV of the basis V */
    double *copy, *rotation, *along, *space; /* scratch */
    double residual;                         /* the norm of what A V has outside of V */
    double scale;                            /* the largest norm of a product so far */
} clo_lanczos;

/* Room for the iteration, and a start vector from the stream.  clo_i_lanczos_free gives back what
 * this took, also where it failed. */
CLO_CHECK clo_status clo_i_lanczos_new(clo_lanczos *l, clo_error *err);
void clo_i_lanczos_free(clo_lanczos *l);

/* Goes on with a basis of this size, wanted < size <= room or all of them equal, until each pair's
 * residual is below precision times its value: *found.  Without *found the restarts are used up;
 * another call goes on from there, with another size and precision if need be. */
CLO_CHECK clo_status clo_i_lanczos_run(clo_lanczos *l, size_t size, double precision, bool *found,
                                       clo_error *err);

#endif
