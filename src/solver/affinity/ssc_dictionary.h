/*
 * ssc_dictionary.h - what the points of sparse subspace clustering are expressed by, and the two
 * kinds of steps that share it: ADMM's (ssc_admm.c) and Newton's (ssc_newton.c).
 */
#ifndef CLO_SSC_DICTIONARY_H
#define CLO_SSC_DICTIONARY_H

#include "solver/affinity/self_expression.h"

/* P and its eigenvectors, P'P = V S V', as many as P has rank. */
typedef struct clo_ssc_dictionary {
    const clo_ssc_options *options;
    size_t points, cols;
    double *rows;       /* points x cols */
    size_t rank, width; /* width: rank, and 1 where affine */
    double *v;          /* points x width; where affine, the last column is 1 */
    double *strengths;  /* rank: lambda s */
    double *roots;      /* rank: of the strengths */
    double *ones;       /* rank: V'1 */
    double *gram;       /* points x points: lambda P'P; NULL where that is much larger than v */
} clo_ssc_dictionary;

CLO_CHECK clo_status clo_i_ssc_dictionary_new(const clo_solver_input *job,
                                              const clo_ssc_options *options,
                                              clo_ssc_dictionary *out, clo_error *err);
void clo_i_ssc_dictionary_free(clo_ssc_dictionary *p);
/* The smallest over the points of the largest |x_j'x_i|, j != i: below its inverse, lambda gives
 * some point the code 0.  Points that nothing is correlated with do not count; infinite where that
 * are all. */
CLO_CHECK clo_status clo_i_least_correlation(const double *rows, size_t points, size_t cols,
                                             double *out, clo_error *err);
/* The codes where there is a sparse error (ssc_robust.c). */
CLO_CHECK clo_status clo_i_ssc_robust_codes(const clo_solver_input *job,
                                            const clo_ssc_options *options, clo_codes *out,
                                            clo_error *err);

/* A code under way: the atoms that it uses, and with what sign. */
typedef struct clo_ssc_guess {
    size_t count, room;
    bool arrived;      /* it is the best for its atoms and signs */
    uint32_t *columns; /* room: in no order */
    double *signs;     /* room */
    double *values;    /* room: of that sign, or 0 for an atom that has just come in */
    double *slopes;    /* width: V times this are the slopes, lambda P'(x - Pc) - nu 1 */
} clo_ssc_guess;

/* What one move needs and no later one: one for a thread, whatever the number of codes under way.
 * It grows with the codes, which are far shorter than they could be. */
typedef struct clo_ssc_desk {
    size_t room;
    double *atoms; /* room x their length */
    double *gram;  /* twice room x room */
    double *sides; /* 3 x room: of the system, and its two solutions */
} clo_ssc_desk;

void clo_i_ssc_desk_free(clo_ssc_desk *desk);
/* Room for so many atoms of that length; what was on it is lost where it has to grow. */
CLO_CHECK clo_status clo_i_ssc_desk_reserve(size_t count, size_t length, clo_ssc_desk *desk,
                                            clo_error *err);
/* From the values of a guess to the best code with its atoms and signs, less those that come to 0
 * on the way, by the desk's system: gram (upper triangle) and sides, those of the quadratic part
 * less the signs.  nu: the slope of the sum, where it is to be 1.  Returns multiplications. */
double clo_i_ssc_settle(bool affine, clo_ssc_guess *guess, clo_ssc_desk *desk, double *nu);

/* room: for so many atoms; width: of the slopes. */
CLO_CHECK clo_status clo_i_ssc_guess_new(size_t room, size_t width, clo_ssc_guess *out,
                                         clo_error *err);
void clo_i_ssc_guess_free(clo_ssc_guess *guess);
/* Adds an atom, where there is room; where there is none, in the place of the smallest if that is
 * smaller. */
void clo_i_ssc_guess_add(clo_ssc_guess *guess, size_t column, double sign, double value);
/* What is not 0, by its columns: how many there are. */
size_t clo_i_ssc_guess_sorted(const clo_ssc_guess *guess, uint32_t *columns, double *values);
/* Moves to the best code with these atoms and signs, less the atoms that come to 0 on the way.
 * work: what it took, in multiplications, is added. */
CLO_CHECK clo_status clo_i_ssc_newton(const clo_ssc_dictionary *p, size_t point,
                                      clo_ssc_guess *guess, clo_ssc_desk *desk, double *work,
                                      clo_error *err);

#endif
