/*
 * parts.h - what the queries share: charging, passing over the data, drawing noise.  For the
 * files of this folder only.
 */
#ifndef CLO_QUERY_PARTS_H
#define CLO_QUERY_PARTS_H

#include "query/query.h"
#include "random/random.h"

/* Counts one ask of the slot, or fails with CLO_INTERNAL before anything was looked at: the plan
 * does not list this query here, or not so often (meter.T1). */
CLO_CHECK clo_status clo_i_meter_charge(clo_context *context, size_t slot, clo_query_kind query,
                                        const clo_slot **out, clo_error *err);

/* Tells whoever listens what was answered: noised numbers, each over the unit; 0: what was made of
 * them otherwise, or drawn.  In the test build this is where a number that nobody noised, that is
 * not the one that was noised, or one too many, ends the process (witness.h). */
void clo_i_tell_answer(const clo_context *context, const clo_slot *slot, const double *values,
                       size_t count, double unit);
/* The same for which of several things was drawn. */
void clo_i_tell_choice(const clo_context *context, const clo_slot *slot, size_t chosen);

/* What each block of rows is shown to, on some thread (0 … threads-1), in no particular order. */
typedef clo_status clo_visit(void *user, int thread, size_t block, const double *values,
                             size_t rows);

/* One pass over the data on the grid of `bits` (0: values are not loaded, and the visitor gets
 * NULL), on `threads` threads.  Progress is told and a cancel obeyed.  scratch: from
 * clo_i_pass_scratch, doubles. */
CLO_CHECK clo_status clo_i_pass(clo_context *context, const clo_bounded *data, int bits,
                                int threads, double *scratch, clo_visit *visit, void *user,
                                clo_error *err);
size_t clo_i_pass_scratch(const clo_context *context, const clo_bounded *data, int threads);
size_t clo_i_pass_block_rows(const clo_context *context, const clo_bounded *data);
/* How many columns a visitor gets: those of the records, or of the lens. */
size_t clo_i_pass_cols(const clo_context *context, const clo_bounded *data);

/* ---- noise ------------------------------------------------------------------------------- */

/* What is drawn for one number: round(scale * N(0,1)); where scale is 0, the discrete Laplace law,
 * P[x] proportional to exp(-|x| rate_numerator/rate_denominator). */
typedef struct clo_law {
    uint64_t scale, rate_numerator, rate_denominator;
} clo_law;

clo_law clo_i_gaussian_law(uint64_t scale);
clo_law clo_i_laplace_law(uint64_t rate_numerator, uint64_t rate_denominator);

/* The noise of an answer: one draw for each of its numbers. */
enum { CLO_NOISE_CLASSES = 5 };
typedef struct clo_noise {
    size_t count;                    /* numbers of the answer */
    size_t classes;                  /* of numbers, each with a law of its own; 0: one */
    clo_law laws[CLO_NOISE_CLASSES]; /* a class each */
    const uint8_t *class_of;         /* count; NULL: all are of the first class */
    size_t group;                    /* numbers of a cluster, its size last; 0: there are no sizes
                                        (only planted faults look at this) */
} clo_noise;

/* From exact sums to an answer: adds to each of the totals a draw of its own, once; then the sums
 * of the other ranks, and from there on they are public (answer.T1).  There is no other way to add
 * noise to sums, and clo_i_tell_answer holds a query to it in the test build. */
CLO_CHECK clo_status clo_i_answer(clo_context *context, const clo_slot *slot,
                                  const clo_noise *noise, int64_t *totals, clo_error *err);
/* Bytes of workspace that this takes, for so many numbers. */
size_t clo_i_answer_workspace(size_t count);
/* For numbers that one process has: the same noise from a stream that goes on afterwards and is to
 * be checked then; and then, where they are an answer, the same on all ranks and public. */
void clo_i_add_noise_from(const clo_context *context, const clo_slot *slot, clo_stream *stream,
                          clo_law law, int64_t *numbers, size_t count);
CLO_CHECK clo_status clo_i_share_answer(const clo_context *context, int64_t *numbers, size_t count,
                                        clo_error *err);

/* For answer.c alone.  The number of a new ask; then its draws wave * CLO_NOISE_WAVE, ... of that
 * ask, at most CLO_NOISE_WAVE of them. */
enum { CLO_NOISE_WAVE = 64 * 4096 };
uint64_t clo_i_noise_ask(clo_context *context);
CLO_CHECK clo_status clo_i_draw_wave(clo_context *context, clo_law law, uint64_t ask, size_t wave,
                                     size_t count, int64_t *out, clo_error *err);
void clo_i_draw_from(clo_stream *stream, clo_law law, size_t count, int64_t *out);

/* ---- further parts ----------------------------------------------------------------------- */

/* The sums and sizes of the rule's clusters, with noise of that law; charged already. */
CLO_CHECK clo_status clo_i_noisy_cluster_sums(clo_context *context, const clo_slot *slot,
                                              const clo_bounded *data, const clo_assign *rule,
                                              clo_law law, double *sums, double *counts,
                                              clo_error *err);

/* Records first, first + 1, ... through a sketch, on the grid of `bits` (sketch.T1). */
void clo_i_sketch_rows(const clo_lens *lens, const clo_bounded *data, size_t first, size_t rows,
                       int bits, double *seen);

/* Adds to totals, k x (d + 1), each record of cluster c to row c, as far as slot->entries of its
 * entries go, and slot->count_unit to the last of that row, modulo 2^64 (sparse_sum.T1). */
CLO_CHECK clo_status clo_i_sparse_totals(clo_context *context, const clo_slot *slot,
                                         const clo_bounded *data, const clo_assign *rule,
                                         uint64_t *totals, clo_error *err);
size_t clo_i_sparse_totals_size(const clo_slot *slot, size_t cols, size_t rows, size_t threads);

/* Exact integer square root, rounded up. */
uint64_t clo_i_root_up(unsigned __int128 square);

/* The Gaussian line of a plan with this sensitivity and at most this mu: fills event, sensitivity
 * and scale (gaussian.T1). */
CLO_CHECK clo_status clo_i_plan_gaussian(uint64_t sensitivity, double mu, uint64_t times,
                                         clo_slot *slot, clo_error *err);

/* The same for Laplace noise: at most this epsilon (samplers.T2). */
CLO_CHECK clo_status clo_i_plan_laplace(uint64_t sensitivity, double epsilon, uint64_t times,
                                        clo_slot *slot, clo_error *err);

/* The exponential line of a plan: at most this epsilon, scores of this sensitivity. */
CLO_CHECK clo_status clo_i_plan_exponential(uint64_t sensitivity, double epsilon, uint64_t times,
                                            clo_slot *slot, clo_error *err);
/* An exact draw with weights exp(score * rate) (choose.T2), the same on all ranks. */
CLO_CHECK clo_status clo_i_draw_exponential(clo_context *context, const clo_slot *slot,
                                            const int64_t *scores, size_t count, size_t *chosen,
                                            clo_error *err);

/* Of `points` points of a metric space of that diameter, `sorted` has in row i the distances of all
 * from point i, increasing: which of them is the middle one, and a bound, smooth with beta, of how
 * far that one moves when `changed` points do (aggregate.T1).  scratch: a double a point. */
double clo_i_smooth_bound(const double *sorted, size_t points, size_t changed, double beta,
                          double diameter, size_t *center, double *scratch);
/* Whether that bound is the diameter, whatever the points. */
bool clo_i_smooth_is_constant(size_t points, size_t changed, double beta);
void clo_i_sort(double *values, size_t count); /* increasing */

/* The records, in unit-ball coordinates, divided at random into slot->blocks disjoint blocks. */
typedef struct clo_division {
    size_t count, cols, blocks;
    size_t block_rows; /* of the pass */
    double unit;
    uint32_t *home;  /* count: the block of each row */
    size_t *starts;  /* blocks + 1: where its rows begin */
    size_t *places;  /* count: where each row goes */
    double *records; /* count x cols, block after block */
} clo_division;

/* Whatever comes of it, to be freed. */
CLO_CHECK clo_status clo_i_divide(clo_context *context, const clo_slot *slot,
                                  const clo_bounded *data, clo_division *d, clo_error *err);
void clo_i_division_free(clo_division *d);
/* Shows each block, with a seed of its own, to `visit`, on some thread; BLAS is on one there. */
typedef clo_status clo_visit_block(void *user, int thread, size_t number, const clo_block *block);
CLO_CHECK clo_status clo_i_visit_blocks(clo_context *context, const clo_division *d,
                                        clo_visit_block *visit, void *user, clo_error *err);

/* Bytes of workspace that one choice of centres takes, beyond the pass. */
size_t clo_i_choose_centers_workspace(const clo_slot *slot, size_t threads);
/* Bytes of workspace that one ask for steps takes, beyond the pass. */
size_t clo_i_step_workspace(const clo_slot *slot, size_t rows, size_t threads);
/* Bytes of workspace that one tree of cubes takes, beyond the pass. */
size_t clo_i_tree_workspace(const clo_slot *slot);

/* Bytes of workspace that one ask for fourth moments takes, beyond a lens' share. */
size_t clo_i_moment_workspace(size_t cols, size_t block_rows, size_t threads);

size_t clo_i_moment3_workspace(size_t cols, size_t block_rows, size_t threads);

/* A record r on the grid of CLO_LIFT_READ_BITS bits becomes the matrix v = trunc((r r' - taken
 * |r|^2 I) / 2^25), in its cols (cols + 1) / 2 different entries: integers, and |v| is at most
 * 2^CLO_LIFT_BITS. */
enum { CLO_LIFT_READ_BITS = 20, CLO_LIFT_BITS = 15 };
void clo_i_moment_lift(const double *values, size_t rows, size_t cols, double taken,
                       double *matrices);
/* The scale of an entry that stands m times in a tensor with this scale: the least t with
 * m t^2 >= scale^2. */
uint64_t clo_i_moment_class_scale(uint64_t scale, unsigned m);

/* How far one record of norm 1 can move the fourth moments, less a share of their traces. */
double clo_i_moment_reach(size_t cols, double share, bool replace);

/* From here on these bytes are public: the information-flow test is told so.  Called on noised
 * answers only. */
#ifdef CLO_TAINT
#include <valgrind/memcheck.h>
#define CLO_I_DECLASSIFY(pointer, bytes) ((void)VALGRIND_MAKE_MEM_DEFINED(pointer, bytes))
#else
#define CLO_I_DECLASSIFY(pointer, bytes) ((void)0)
#endif

#endif
