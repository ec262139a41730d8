/*
 * frame.h - the directions in which the records have most energy, from one noisy Gram matrix: the
 * first step of mechanisms that look at the records in fewer coordinates.
 */
#ifndef CLO_FRAME_H
#define CLO_FRAME_H

#include "plan/mechanism.h"

/* Asks the line, a gaussian_gram of one cluster, and fills the d x rank orthonormal frame. */
CLO_CHECK clo_status clo_i_find_frame(clo_context *context, size_t line, const clo_bounded *data,
                                      size_t d, size_t rank, double *frame, clo_error *err);
CLO_CHECK clo_status clo_i_find_frame_room(clo_workspace *space, size_t d, size_t rank,
                                           clo_error *err);

#endif
