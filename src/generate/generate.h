/*
 * generate.h (internal) - what the models have in common: which cluster a record is from, points
 * of a ball, and records that are drawn in blocks.
 *
 * The truth comes from the generator's stream 0 and each block of records from a stream of its own:
 * a seed gives the same data on any number of threads, and the first records stay the same when
 * more are asked for.  A setting at its default draws nothing, so that a new one leaves the data
 * of old seeds as they were.
 */
#ifndef CLO_GENERATE_INTERNAL_H
#define CLO_GENERATE_INTERNAL_H

#include "random/random.h"
#include <cloister/generate.h>

enum { CLO_GENERATE_BLOCK = 1024 }; /* records */

/* How records are shared out. */
typedef struct clo_picker {
    size_t clusters;
    double outliers; /* the share of those that are from no cluster */
    double *sums;    /* of the shares up to each cluster; NULL: evenly */
} clo_picker;

/* Checks and copies; to be given back by clo_i_picker_free, filled or not. */
CLO_CHECK clo_status clo_i_picker_new(const double *shares, size_t clusters, double outliers,
                                      clo_picker *out, clo_error *err);
void clo_i_picker_free(clo_picker *picker);
/* The cluster of the next record; `clusters`: none, an outlier. */
size_t clo_i_pick(const clo_picker *picker, clo_stream *stream);

/* A point of the unit sphere.  A stream that has failed gives zeros; its owner will see that. */
void clo_i_draw_direction(clo_stream *stream, double *out, size_t count);
/* A point that is uniform in the ball of radius outer, less the ball of radius inner. */
void clo_i_draw_in_ball(clo_stream *stream, double inner, double outer, double *out, size_t count);

/* Draws records first ... end - 1 of whatever the context is. */
typedef clo_status clo_i_draw_block(const void *context, clo_stream *stream, size_t first,
                                    size_t end, clo_error *err);
/* All of them, block by block, on all threads. */
CLO_CHECK clo_status clo_i_draw_blocks(size_t rows, const clo_rng *rng, uint64_t ask,
                                       clo_i_draw_block *draw, const void *context, clo_error *err);

CLO_CHECK clo_status clo_i_check_count(const char *name, size_t value, size_t least, size_t most,
                                       clo_error *err);
CLO_CHECK clo_status clo_i_check_length(const char *name, double value, clo_error *err);

#endif
