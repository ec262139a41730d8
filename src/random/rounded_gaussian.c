/*
 * rounded_gaussian.c - round(s N), N standard normal, exactly; the noise of this library.
 * samplers.T4
 *
 * This is Karney's idea ("Sampling exactly from the normal distribution", 2016): choose the cell in
 * which |N| lies, take a place x inside it uniformly, accept or reject by comparing uniform
 * numbers, and draw only those digits of x on which something depends.  Karney's cells
 * are [k, k+1); these are an eighth as wide, which makes most decisions trivial:
 *
 *   |N| = (j + x)/8, density proportional to exp(-j^2/128) exp(-x (2j + x)/128), x in [0, 1).
 *
 * The first factor is a table look-up (gaussian_cells.h) that leaves one slot in thirty to a
 * comparison with an exactly known constant.  The second is 1 with one comparison of seven bits
 * nine times in ten.  A sample takes two words of the stream and one product, so it is as fast as
 * floating point, and no floating point is in it.
 *
 * No proposal lies beyond 32 standard deviations, where the normal law has 2^-743 of its mass.
 */
#include "random/gaussian_cells.h"
#include <assert.h>

enum { CELLS_PER_UNIT = 8, LAST_CELL = 32 * CELLS_PER_UNIT - 1 };

/* ---- the cell ------------------------------------------------------------ */

/* The cells from GAUSSIAN_CELLS = 32 on, m = 8 b + i beyond it, proposed with probability 2^-(b+4)
 * and accepted with what is missing:
 *   95 exp(-(32 + m)^2/128) 2^(b+4) = 95 16 exp(-8) (2/e)^b exp(-3b - i/2 - m^2/128). */
static bool tail_cell(clo_stream *stream, uint64_t *cell)
{
    const uint64_t word = next_word(stream);
    const uint64_t b = word ? (uint64_t)__builtin_ctzll(word) : 64, i = word >> 61, m = 8 * b + i;
    if (GAUSSIAN_CELLS + m > LAST_CELL) return false;
    if (!clo_i_uniform_below_exp(stream, &gaussian_tail_height)) return false;
    for (uint64_t step = 0; step < b; step++)
        if (!clo_i_uniform_below_exp(stream, &gaussian_tail_step)) return false;
    *cell = GAUSSIAN_CELLS + m;
    return clo_i_bernoulli_exp(stream, 384 * b + 64 * i + m * m, 128);
}

/* The slots that do not belong to one cell as a whole. */
static bool edge_cell(clo_stream *stream, uint64_t slot, uint64_t *cell)
{
    if (slot == GAUSSIAN_TAIL_SLOT) return tail_cell(stream, cell);
    if (slot > GAUSSIAN_TAIL_SLOT) return false;
    *cell = slot - GAUSSIAN_WHOLE_SLOTS;
    return clo_i_uniform_below_exp(stream, &gaussian_edge[*cell]);
}

/* ---- the place in the cell ----------------------------------------------- */

/* True with probability exp(-x (2j + x)/divisor), where 2j + x < divisor.  Von Neumann's chain:
 * go on as long as x > u1 > u2 > … and a coin of probability (2j + x)/divisor falls on heads
 * each time; the chance of at least n rounds is (x (2j + x)/divisor)^n/n!, that of an even
 * number the exponential. lot, below divisor, is the first coin: heads below 2j, tails above,
 * and at 2j a number below x. */
static bool keep_piece(clo_stream *stream, lazy_uniform *x, uint64_t cell, uint64_t divisor,
                       uint64_t lot)
{
    lazy_uniform coin, chain[2], *smallest = x;
    for (unsigned rounds = 0; !stream->failed; rounds++) {
        const bool even = rounds % 2 == 0;
        lazy_uniform *const next = &chain[rounds % 2];
        if (lot > 2 * cell) return even;
        if (lot == 2 * cell && !clo_i_lazy_below(stream, &coin, x)) return even;
        if (!clo_i_lazy_below(stream, next, smallest)) return even;
        smallest = next;
        lot = clo_i_random_below(stream, divisor);
    }
    return false;
}

/* True with probability exp(-x (2j + x)/128), given that the first coin of 128 sides was not
 * tails at once.  Beyond eight standard deviations the exponent is cut into equal pieces below
 * one. */
static bool keep_place(clo_stream *stream, lazy_uniform *x, uint64_t cell, uint64_t lot)
{
    const uint64_t pieces = cell / 64 + 1;
    if (pieces == 1) return keep_piece(stream, x, cell, 128, lot);
    for (uint64_t i = 0; i < pieces; i++) {
        lot = clo_i_random_below(stream, 128 * pieces);
        if (!keep_piece(stream, x, cell, 128 * pieces, lot)) return false;
    }
    return true;
}

/* ---- the rounding -------------------------------------------------------- */

/* floor(scale x), where fraction, the part of scale x after the point as far as its first digit
 * tells, is so large that the further ones could carry. */
static uint64_t carry(clo_stream *stream, lazy_uniform *x, uint64_t scale, uint64_t fraction)
{
    for (unsigned i = 1; fraction > 0 - scale; i++) {
        if (i == x->count && !clo_i_lazy_append(stream, x)) return 0;
        const clo_u128 product = (clo_u128)scale * x->digit[i];
        const uint64_t sum = fraction + (uint64_t)(product >> 64);
        if (sum < fraction) return 1;
        if (sum != UINT64_MAX) return 0;
        fraction = (uint64_t)product; /* all ones so far: the same question, one digit on */
    }
    return 0;
}

static inline uint64_t rounded(clo_stream *stream, lazy_uniform *x, uint64_t scale, uint64_t cell)
{
    const clo_u128 product = (clo_u128)scale * x->digit[0];
    uint64_t eighths = scale * cell + (uint64_t)(product >> 64);
    if (__builtin_expect((uint64_t)product > 0 - scale, 0))
        eighths += carry(stream, x, scale, (uint64_t)product);
    return (eighths + CELLS_PER_UNIT / 2) / CELLS_PER_UNIT;
}

static inline int64_t draw(clo_stream *stream, uint64_t scale)
{
    lazy_uniform x;
    do {
        const uint64_t word = next_word(stream);
        const uint64_t slot = word % GAUSSIAN_SLOTS, lot = (word >> 32) % 128;
        uint64_t cell;
        x.count = 1;
        x.digit[0] = next_word(stream);
        if (__builtin_expect(slot < GAUSSIAN_WHOLE_SLOTS, 1))
            cell = gaussian_slot_cell[slot];
        else if (!edge_cell(stream, slot, &cell))
            continue;
        if (__builtin_expect(lot <= 2 * cell, 0) && !keep_place(stream, &x, cell, lot)) continue;
        const int64_t magnitude = (int64_t)rounded(stream, &x, scale, cell);
        if (!stream->failed) return word >> 63 ? -magnitude : magnitude;
    } while (!stream->failed);
    return 0;
}

int64_t clo_i_rounded_gaussian(clo_stream *stream, uint64_t scale)
{
    assert(scale > 0 && scale <= UINT64_C(1) << 55);
    return draw(stream, scale);
}

void clo_i_rounded_gaussian_fill(clo_stream *stream, uint64_t scale, int64_t *out, size_t count)
{
    assert(scale > 0 && scale <= UINT64_C(1) << 55);
    for (size_t i = 0; i < count; i++) out[i] = draw(stream, scale);
}
