/*
 * lattice.c - the nearest point of the Barnes-Wall lattice (Conway and Sloane, Sphere Packings,
 * Lattices and Groups, chapters 4 and 20): the integer vectors that are, modulo 2, a codeword of
 * the Reed-Muller code of length 16 with 32 words, and whose coordinates add up to a multiple of 4.
 *
 * Every codeword has a weight that 8 divides.  So the lattice is the union over the codewords c of
 * c + 2 z, z integer with an even sum, and the nearest point of each of these 32 is found by
 * rounding and, where the sum comes out odd, by rounding the one coordinate the other way that
 * minds least.
 */
#include "mechanism/subspace/lattice.h"
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { DIM = CLO_LATTICE_DIM, WORDS = 32 };
static const double FARTHEST = 0x1p50;

/* Affine functions of the four bits of i; the fifth bit of a word is the constant. */
static unsigned bit_of(unsigned word, unsigned i)
{
    unsigned bits = word & (i | DIM);
    bits ^= bits >> 4;
    bits ^= bits >> 2;
    return (bits ^ bits >> 1) & 1;
}

/* One coordinate rounded to an even number (0) and to an odd one (1): half of it, and the rest. */
typedef struct rounded {
    int64_t half[2];
    double rest[2];
} rounded;

static rounded round_both_ways(double value)
{
    const double y = fmax(fmin(value, FARTHEST), -FARTHEST);
    rounded r;
    for (int odd = 0; odd < 2; odd++) {
        const double half = nearbyint((y - odd) / 2);
        r.half[odd] = (int64_t)half;
        r.rest[odd] = y - odd - 2 * half;
    }
    return r;
}

/* The squared distance to the nearest point of c + 2 z.  turned: the coordinate that was rounded
 * the other way; DIM: none. */
static double distance_to(const rounded *r, unsigned word, size_t *turned)
{
    double total = 0, most = -1;
    int64_t sum = 0;
    size_t worst = 0;
    for (unsigned i = 0; i < DIM; i++) {
        const unsigned odd = bit_of(word, i);
        const double rest = fabs(r[i].rest[odd]);
        total += rest * rest;
        sum ^= r[i].half[odd];
        if (rest > most) {
            most = rest;
            worst = i;
        }
    }
    *turned = sum & 1 ? worst : DIM;
    return sum & 1 ? total + 4 - 4 * most : total;
}

void clo_i_lattice_nearest(const double point[DIM], int64_t nearest[DIM])
{
    rounded r[DIM];
    unsigned best_word = 0;
    size_t best_turned = DIM;
    double best = INFINITY;
    for (size_t i = 0; i < DIM; i++) r[i] = round_both_ways(point[i]);
    for (unsigned word = 0; word < WORDS; word++) {
        size_t turned;
        const double distance = distance_to(r, word, &turned);
        if (!(distance < best)) continue;
        best = distance;
        best_word = word;
        best_turned = turned;
    }
    for (unsigned i = 0; i < DIM; i++) {
        const unsigned odd = bit_of(best_word, i);
        nearest[i] = 2 * r[i].half[odd] + (int64_t)odd;
        if (i == best_turned) nearest[i] += r[i].rest[odd] < 0 ? -2 : 2;
    }
}

size_t clo_i_lattice_padded(size_t count)
{
    return (count + DIM - 1) / DIM * DIM;
}
