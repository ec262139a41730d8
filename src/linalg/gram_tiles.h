/* gram_tiles.h - Gram matrices of small integers with a processor's matrix unit: gram_short.c asks
 * for them. */
#ifndef CLO_GRAM_TILES_H
#define CLO_GRAM_TILES_H

#include "linalg/linalg.h"

/* Whether this processor has the unit and the system lets this process have it; without, nothing
 * below may be called. */
bool clo_i_tiles_allowed(void);
/* A block as clo_i_short_pair has laid it, into the unit's format; the last tile is filled up. */
void clo_i_tiles_convert(int16_t *a, size_t pairs, size_t panels);
/* C += of the panels first and first + 1 (where there is one) their products with themselves and
 * with all behind them. */
void clo_i_tiles_add(const int16_t *a, size_t pairs, size_t first, size_t panels, int32_t *c);

#endif
