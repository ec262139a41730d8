/*
 * pld.h - what the files of the privacy loss distribution share (proofs/accounting.md, T15-T20).
 *
 * Every event that is not Gaussian has a worst pair of laws whose privacy loss lies within
 * [-epsilon, epsilon] (pld_pair.c).  The pair is moved onto a grid of losses in the pessimistic
 * way and tilted, so that its mass lies where the answer is decided; the grids are composed by
 * Fourier transform (pld_fft.c, pld_compose.c); and the Gaussian events, which are one event,
 * come in exactly at the end, when a delta is summed up (pld.c).
 *
 * Vectors are double: each error has a proved bound that is charged to delta.  The few
 * numbers that scale a whole result are MPFR, rounded as everywhere in the accountant.
 */
#ifndef CLO_PLD_H
#define CLO_PLD_H

#include "accounting/accountant.h"

/* What one rounding of a double may change, relative. */
#define CLO_I_ROUNDING 0x1p-53

/* The worst pair of one kind of event, and how often it happens. */
typedef struct clo_i_pair {
    bool range; /* of bounded range; otherwise pure */
    double epsilon;
    uint64_t count;
} clo_i_pair;

/* More kinds or more events than these are left to the other methods. */
enum { CLO_I_MOST_PAIRS = 32, CLO_I_MOST_EVENTS_LOG2 = 20 };

typedef struct clo_i_pairs {
    clo_i_pair pair[CLO_I_MOST_PAIRS];
    size_t count;
    double events;          /* all counts together */
    double mu_up, mu_down;  /* of the Gaussian events, from above and from below */
    double largest_epsilon; /* of a single event */
    bool finely;            /* on a grid as fine as a bound from below needs, for more time */
} clo_i_pairs;

/* Gathers equal events.  False: nothing that a grid can hold. */
bool clo_i_pairs_of(clo_i_pairs *out, const clo_i_composition *list);
/* The cells' width: a power of two below the parameter of the weightiest pair. */
double clo_i_pairs_step(const clo_i_pairs *pairs);
/* A hint: the log of the moment of order `tilt` of one pair's loss under its first law. */
double clo_i_pair_log_moment(const clo_i_pair *pair, double tilt);

/* A pair on the grid: cells -reach .. reach, with masses tilted and scaled to at most 1 in all.
 * The true tilted mass of a cell is mass * e^log_scale, within a factor of 1 +- slack. */
typedef struct clo_i_grid_pair {
    double *mass; /* mass[reach + k] is that of the loss k * step; ours */
    size_t reach;
    double exponent, total; /* log_scale = exponent + log(total), both exact as given */
    double slack;
    double norm;           /* of the masses, Euclidean */
    double mean, variance; /* in cells, of the tilted law: hints */
    bool split;            /* the losses did not lie on the grid */
} clo_i_grid_pair;

CLO_CHECK clo_status clo_i_grid_pair_init(clo_i_grid_pair *out, const clo_i_pair *pair, double step,
                                          double tilt, clo_error *err);
void clo_i_grid_pair_clear(clo_i_grid_pair *pair);

/* ---- Fourier transform (pld_fft.c) ---------------------------------------- */

typedef struct clo_i_complex {
    double re, im;
} clo_i_complex;

/* sum_j x_j e^(-2 pi i jk/size) in place; size is a power of two, roots has size / 2 entries. */
void clo_i_fft_roots(clo_i_complex *roots, size_t size);
void clo_i_fft(clo_i_complex *x, const clo_i_complex *roots, size_t size);
/* The Euclidean error of one transform, relative to its exact result (accounting.T17). */
double clo_i_fft_error(size_t size);

/* ---- the composed distribution (pld_compose.c) ---------------------------- */

/* The loss of all events but the Gaussian ones, tilted.  The mass of a loss k * step is
 * e^scale * e^(-tilt k step) * mass[k - first]; all masses together err by at most `error`. */
typedef struct clo_i_pld {
    double step, tilt;
    int64_t first;
    size_t size;
    double *mass; /* ours */
    double error; /* of the transforms and of what lies outside of the window */
    double split; /* how many of the events were moved onto the grid */
    double mu_up, mu_down;
    mpfr_t scale_up, scale_down;
} clo_i_pld;

CLO_CHECK clo_status clo_i_pld_init(clo_i_pld *out, const clo_i_pairs *pairs, double tilt,
                                    clo_error *err);
void clo_i_pld_clear(clo_i_pld *pld);

/* The Euclidean norm, from above, of a pair's masses laid out modulo `size`: several may come
 * together in a cell, and together they are at most 1. */
double clo_i_norm_in_window(const clo_i_grid_pair *pair, size_t size);
/* The sum of the errors that rounding makes in all composed masses, from above; INFINITY where the
 * proof does not reach (accounting.T17).  `pair` has the grids of `pairs`. */
double clo_i_transform_error(const clo_i_grid_pair *pair, const clo_i_pairs *pairs, size_t size);

/* The epsilon below which no accounting of the same pairs can come, for a delta above 0; 0 where
 * nothing is known (accounting.T20).  CLO_MEMORY. */
CLO_CHECK clo_status clo_i_pld_epsilon_below(const clo_i_composition *list, mpfr_srcptr delta,
                                             double *out, clo_error *err);

#endif
