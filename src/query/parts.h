/*
 * parts.h - what the queries share: charging, passing over the data, drawing noise.  For the
 * files of this folder only.
 */
#ifndef CLO_QUERY_PARTS_H
#define CLO_QUERY_PARTS_H

#include "query/query.h"

/* Counts one ask of the line, or fails with CLO_INTERNAL before anything was looked at: the plan
 * does not list this query here, or not so often (meter.T1). */
CLO_CHECK clo_status clo_i_meter_charge(clo_context *context, size_t line, const clo_query *query,
                                        const clo_line **out, clo_error *err);

/* Tells whoever listens what was answered: noised values, after CLO_I_DECLASSIFY. */
void clo_i_tell_answer(const clo_context *context, const clo_line *line, const double *values,
                       size_t count);

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

/* count independent draws of round(scale * N(0,1)).  Each call is a new ask of the generator. */
typedef clo_status clo_draw(clo_context *context, uint64_t scale, size_t count, int64_t *out,
                            clo_error *err);
CLO_CHECK clo_draw clo_i_draw_gaussian;
/* The same of the discrete Laplace law, P[x] proportional to exp(-|x| / scale). */
CLO_CHECK clo_draw clo_i_draw_laplace;

/* The same with independent draws of P[x] proportional to exp(-|x| numerator/denominator). */
CLO_CHECK clo_status clo_i_draw_laplace_rate(clo_context *context, uint64_t numerator,
                                             uint64_t denominator, size_t count, int64_t *out,
                                             clo_error *err);

/* Exact integer square root, rounded up. */
uint64_t clo_i_root_up(unsigned __int128 square);

/* The Gaussian line of a plan with this sensitivity and at most this mu: fills event, sensitivity
 * and scale (gaussian.T1). */
CLO_CHECK clo_status clo_i_plan_gaussian(uint64_t sensitivity, double mu, uint64_t times,
                                         clo_line *line, clo_error *err);

/* The same for Laplace noise: at most this epsilon (samplers.T2). */
CLO_CHECK clo_status clo_i_plan_laplace(uint64_t sensitivity, double epsilon, uint64_t times,
                                        clo_line *line, clo_error *err);

/* The exponential line of a plan: at most this epsilon, scores of this sensitivity. */
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
