/*
 * query_steps.h - what the queries share: charging, passing over the data, drawing noise.  For the
 * files of this folder only.
 */
#ifndef CLO_QUERY_STEPS_H
#define CLO_QUERY_STEPS_H

#include "ask/query.h"
#include "random/random.h"

/* Counts one ask of the line, or fails with CLO_INTERNAL before anything was looked at: the plan
 * does not list this query here, or not so often (meter.T1). */
CLO_CHECK clo_status clo_i_meter_charge(clo_context *context, size_t line, const clo_query *query,
                                        const clo_line **out, clo_error *err);

/* Tells whoever listens what was answered: noised numbers, each over the unit; 0: what was made of
 * them otherwise, or drawn.  In the test build this is where a number that nobody noised, that is
 * not the one that was noised, or one too many, ends the process (witness.h). */
void clo_i_tell_answer(const clo_context *context, const clo_line *line, const double *values,
                       size_t count, double unit);
/* The same for which of several things was drawn. */
void clo_i_tell_choice(const clo_context *context, const clo_line *line, size_t chosen);

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

/* From exact sums to an answer: adds to each of the totals a draw of its own, once; from there
 * on they are public (answer.T1).  There is no other way to add
 * noise to sums, and clo_i_tell_answer holds a query to it in the test build. */
CLO_CHECK clo_status clo_i_answer(clo_context *context, const clo_line *line,
                                  const clo_noise *noise, int64_t *totals, clo_error *err);
/* Takes the room of an answer of so many numbers. */
CLO_CHECK clo_status clo_i_answer_lay_out(clo_workspace *space, size_t count, int64_t **drawn,
                                          clo_error *err);
/* The same noise on numbers that one process has, from a stream that goes on afterwards and is to
 * be checked then; and then, where they are an answer, let them be public. */
void clo_i_add_noise_from(const clo_context *context, const clo_line *line, clo_stream *stream,
                          clo_law law, int64_t *numbers, size_t count);
void clo_i_publish_answer(const clo_context *context, int64_t *numbers, size_t count);

/* For add_noise.c only.  The number of a new ask; then its draws wave * CLO_NOISE_WAVE, ... of that
 * ask, at most CLO_NOISE_WAVE of them. */
enum { CLO_NOISE_WAVE = 64 * 4096 };
uint64_t clo_i_noise_ask(clo_context *context);
CLO_CHECK clo_status clo_i_draw_wave(clo_context *context, clo_law law, uint64_t ask, size_t wave,
                                     size_t count, int64_t *out, clo_error *err);
void clo_i_draw_from(clo_stream *stream, clo_law law, size_t count, int64_t *out);

/* Exact integer square root, rounded up. */
uint64_t clo_i_root_up(unsigned __int128 square);

/* The Gaussian line of a plan with this sensitivity and at most this mu: fills event, sensitivity
 * and scale (gaussian.T1). */
CLO_CHECK clo_status clo_i_plan_gaussian(uint64_t sensitivity, double mu, uint64_t times,
                                         clo_line *line, clo_error *err);

/* The same for Laplace noise: at most this epsilon (samplers.T2). */
CLO_CHECK clo_status clo_i_plan_laplace(uint64_t sensitivity, double epsilon, uint64_t times,
                                        clo_line *line, clo_error *err);

/* The exponential line of a plan: at most this epsilon, scores of this sensitivity (choose.T1). */
CLO_CHECK clo_status clo_i_plan_exponential(uint64_t sensitivity, double epsilon, uint64_t times,
                                            clo_line *line, clo_error *err);
/* An exact draw with weights exp(score * rate) (choose.T2). */
CLO_CHECK clo_status clo_i_draw_exponential(clo_context *context, const clo_line *line,
                                            const int64_t *scores, size_t count, size_t *chosen,
                                            clo_error *err);

/* From here on these bytes are public: the information-flow test is told so.  Called on noised
 * answers only. */
#ifdef CLO_TAINT
#include <valgrind/memcheck.h>
#define CLO_I_DECLASSIFY(pointer, bytes) ((void)VALGRIND_MAKE_MEM_DEFINED(pointer, bytes))
#else
#define CLO_I_DECLASSIFY(pointer, bytes) ((void)0)
#endif

#endif
