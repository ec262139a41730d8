/* density_internal.h - for the files of this folder alone. */
#ifndef CLO_DENSITY_INTERNAL_H
#define CLO_DENSITY_INTERNAL_H

#include "density/density.h"

/* Kinds of answers. */
enum { CLO_DENSITY_SUM, CLO_DENSITY_SHELLS, CLO_DENSITY_GRAM, CLO_DENSITY_CELLS };

/* Numbers that a group of such an answer has. */
size_t clo_i_density_features(int kind, size_t cols);
CLO_CHECK clo_status clo_i_density_take_answers(clo_workspace *space,
                                                const clo_density_shape *shape,
                                                clo_density *density, clo_error *err);

/* Room for the points, and for one answer more. */
CLO_CHECK clo_status clo_i_density_take_points(clo_workspace *space, size_t points, size_t cols,
                                               clo_density *density, clo_error *err);
CLO_CHECK clo_status clo_i_density_take_answer(clo_workspace *space, clo_density *density, int kind,
                                               size_t groups, clo_error *err);
/* The kind of that name; -1: there is none. */
int clo_i_density_kind(const char *name);
/* Tells the next answer, of which there is room. */
void clo_i_density_retell(clo_density *density, const clo_density_kept *kept);
/* The features of one answer. */
void clo_i_density_see_answer(clo_density *density, clo_density_answer *answer);

#endif
