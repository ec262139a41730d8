/*
 * domain.h (internal) - public knowledge about the data: checks, copies, coordinates.  It sees no
 * data, so that planning and post-processing may use it.
 */
#ifndef CLO_DOMAIN_INTERNAL_H
#define CLO_DOMAIN_INTERNAL_H

#include "base/base.h"
#include <cloister/domain.h>

double clo_i_domain_radius(const clo_domain *domain); /* of the ball, in ball coordinates */
/* From the data's own units into ball coordinates: x -> (x - center) / scale, per column. */
void clo_i_domain_map(const clo_domain *domain, double *scale, double *center);
/* A point of the unit ball (grid units / 2^bits) back to the data's own units, in place. */
void clo_i_domain_unmap_point(const clo_domain *domain, double *point);
/* How many columns its table has. */
size_t clo_i_domain_table_cols(const clo_domain *domain);
/* The same domain as another: what a plan and its data must agree on. */
bool clo_i_domain_equal(const clo_domain *a, const clo_domain *b);
/* Deep copy with its own arrays; freed by the other. */
CLO_CHECK clo_status clo_i_domain_copy(const clo_domain *domain, clo_domain *out, clo_error *err);
void clo_i_domain_clear(clo_domain *domain);

#endif
