/*
 * frame.h - the directions in which the records have most energy, from one noisy Gram matrix: the
 * first step of mechanisms that look at the records in fewer coordinates.
 */
#ifndef CLO_FRAME_H
#define CLO_FRAME_H

#include "plan/mechanism.h"

/* Bytes that clo_i_find_frame takes for a while, beyond the frame itself. */
size_t clo_i_frame_scratch(size_t d, size_t rank);
/* Asks the line, a gaussian_gram of one cluster, and fills the d x rank orthonormal frame. */
CLO_CHECK clo_status clo_i_find_frame(clo_context *context, size_t line, const clo_bounded *data,
                                      size_t d, size_t rank, double *frame, clo_error *err);
/* The same, and the `rank` eigenvalues of the noisy matrix, largest first. */
CLO_CHECK clo_status clo_i_find_spectrum(clo_context *context, size_t line, const clo_bounded *data,
                                         size_t d, size_t rank, double *frame, double *values,
                                         clo_error *err);

#endif
