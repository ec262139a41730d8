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
    size_t points, atoms, cols; /* atoms: the points, and cols unit vectors where there are outliers
                                 */
    double *rows;               /* atoms x cols */
    size_t rank, width;         /* width: rank, and 1 where affine */
    double *v;         /* atoms x width; where affine, the last column is 1 for the points */
    double *strengths; /* rank: lambda s */
    double *roots;     /* rank: of the strengths */
    double *ones;      /* rank: V'1 over the points */
} clo_ssc_dictionary;

CLO_CHECK clo_status clo_i_ssc_dictionary_new(const clo_job *job, const clo_ssc_options *options,
                                              clo_ssc_dictionary *out, clo_error *err);
void clo_i_ssc_dictionary_free(clo_ssc_dictionary *p);

/* A code under way: the atoms that it uses, and with what sign. */
typedef struct clo_ssc_guess {
    size_t count, room;
    bool arrived;      /* it is the best for its atoms and signs */
    uint32_t *columns; /* room: in no order */
    double *signs;     /* room */
    double *values;    /* room: of that sign, or 0 for an atom that has just come in */
    double *slopes;    /* width: V times this are the slopes, lambda P'(x - Pc) - nu 1 */
    double *atoms;     /* room x rank */
    double *gram;      /* twice room x room */
    double *sides;     /* 3 x room: of the system, and its two solutions */
} clo_ssc_guess;

CLO_CHECK clo_status clo_i_ssc_guess_new(const clo_ssc_dictionary *p, clo_ssc_guess *out,
                                         clo_error *err);
void clo_i_ssc_guess_free(clo_ssc_guess *guess);
/* Adds an atom, where there is room; where there is none, in the place of the smallest if that is
 * smaller. */
void clo_i_ssc_guess_add(clo_ssc_guess *guess, size_t column, double sign, double value);
/* Moves to the best code with these atoms and signs, less the atoms that come to 0 on the way. */
void clo_i_ssc_newton(const clo_ssc_dictionary *p, size_t point, clo_ssc_guess *guess);

#endif
