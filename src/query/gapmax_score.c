/*
 * gapmax_score.c - how far one subspace is ahead of every other, and of its own proper subspaces
 * (gapmax.T1, gapmax.T3).
 *
 * The score falls with the number of records in the fullest proper subspace, but only from some
 * number on: a proper subspace below it need not be known.  One above it holds a fair share of the
 * records, so that a random record lies in it; and all proper subspaces through one record, of
 * three dimensions, are counted at once: modulo the record they are the lines of a plane, and two
 * records are in the same one exactly where their reduced fractions agree.
 */
#include "query/gapmax_internal.h"
#include <math.h>
#include <stdlib.h>

/* From here on more than half of the records are not enough: see gapmax.T3. */
enum { EXACT_ROWS = 1024, PENALTY_SHARE = 8 };
enum { GLIMPSES = 2 }; /* planes that are counted before any is looked for in earnest */

static int64_t min2(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t clo_i_gapmax_score(size_t count, size_t members, size_t proper, int64_t cap)
{
    const int64_t n = (int64_t)count, m = (int64_t)members, w = (int64_t)proper;
    const int64_t penalty =
        n > EXACT_ROWS ? (n - EXACT_ROWS + PENALTY_SHARE - 1) / PENALTY_SHARE : 0;
    const int64_t ahead = m + (m - w) - n - 1, spread = 2 * (m - w) - (n + 1) / 2;
    const int64_t least = min2(min2(ahead, spread), min2(2 * m - n - penalty, cap));
    return least > 0 ? least : 0;
}

/* The smallest number of records in a proper subspace that lowers the score; members + 1: none. */
static size_t first_that_counts(size_t count, size_t members, int64_t cap)
{
    const int64_t best = clo_i_gapmax_score(count, members, 0, cap);
    size_t low = 1, high = members + 1;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (clo_i_gapmax_score(count, members, middle, cap) < best)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The line through (a, b), not both zero, by one number; both fit into 31 bits. */
static uint64_t line_key(int64_t a, int64_t b)
{
    const int64_t divisor = common_divisor(llabs(a), llabs(b));
    const int64_t sign = a < 0 || (a == 0 && b < 0) ? -1 : 1;
    return (uint64_t)(uint32_t)(int32_t)(sign * a / divisor) << 32 |
           (uint32_t)(int32_t)(sign * b / divisor);
}

static int compare(const void *x, const void *y)
{
    const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return (a > b) - (a < b);
}

static size_t longest_run(uint64_t *keys, size_t count)
{
    size_t longest = 0;
    qsort(keys, count, sizeof *keys, compare);
    for (size_t i = 0, start = 0; i < count; i++) {
        if (keys[i] != keys[start]) start = i;
        if (i + 1 - start > longest) longest = i + 1 - start;
    }
    return longest;
}

/* Records in the fullest line of a plane. */
static size_t fullest_line(const int32_t *coordinates, size_t members, uint64_t *keys)
{
    for (size_t i = 0; i < members; i++)
        keys[i] = line_key(coordinates[2 * i], coordinates[2 * i + 1]);
    return longest_run(keys, members);
}

/* Records in the fullest plane through one of them, in three dimensions. */
static size_t fullest_plane(const int32_t *coordinates, size_t members, size_t through,
                            uint64_t *keys)
{
    const int32_t *const v = coordinates + 3 * through;
    const size_t j = v[0] ? 0 : v[1] ? 1 : 2, g = (j + 1) % 3, h = (j + 2) % 3;
    size_t along = 0, across = 0;
    for (size_t i = 0; i < members; i++) {
        const int32_t *const x = coordinates + 3 * i;
        const int64_t a = (int64_t)v[j] * x[g] - (int64_t)v[g] * x[j];
        const int64_t b = (int64_t)v[j] * x[h] - (int64_t)v[h] * x[j];
        if (a == 0 && b == 0)
            along++;
        else
            keys[across++] = line_key(a, b);
    }
    return along + longest_run(keys, across);
}

/* Records in the plane through two of them, in three dimensions; those that are parallel span none.
 * Records are shorter than 2^10 there (gapmax.T4), so that nothing overflows. */
static size_t in_plane(const int32_t *coordinates, size_t members, size_t one, size_t other)
{
    const int32_t *const v = coordinates + 3 * one, *const w = coordinates + 3 * other;
    int64_t normal[3];
    size_t in = 0;
    for (size_t j = 0; j < 3; j++) {
        const size_t g = (j + 1) % 3, h = (j + 2) % 3;
        normal[j] = (int64_t)v[g] * w[h] - (int64_t)v[h] * w[g];
    }
    if (!normal[0] && !normal[1] && !normal[2]) return 0;
    for (size_t i = 0; i < members; i++) {
        const int32_t *const x = coordinates + 3 * i;
        in += normal[0] * x[0] + normal[1] * x[1] + normal[2] * x[2] == 0;
    }
    return in;
}

/* A plane that holds nearly all records spoils every subspace through it, of which there are many:
 * two random records see it at once, and cheaply. */
static bool is_spoilt(clo_stream *stream, const int32_t *coordinates, size_t count, size_t members,
                      int64_t cap)
{
    for (int i = 0; i < GLIMPSES; i++) {
        const size_t one = (size_t)clo_i_random_below(stream, members);
        const size_t other = (size_t)clo_i_random_below(stream, members);
        const size_t proper = in_plane(coordinates, members, one, other);
        if (clo_i_gapmax_score(count, members, proper, cap) == 0) return true;
    }
    return false;
}

int64_t clo_i_gapmax_value(clo_stream *stream, const int32_t *coordinates, size_t count,
                           size_t members, size_t dim, int64_t cap, double misses, uint64_t *keys)
{
    const int64_t best = clo_i_gapmax_score(count, members, 0, cap);
    const size_t heavy = first_that_counts(count, members, cap);
    if (dim == 1 || best == 0 || heavy > members) return best;
    if (dim == 2)
        return clo_i_gapmax_score(count, members, fullest_line(coordinates, members, keys), cap);
    if (is_spoilt(stream, coordinates, count, members, cap)) return 0;
    const double wanted = ceil(misses * (double)members / (double)heavy);
    const bool all = wanted >= (double)members;
    const size_t looks = all ? members : (size_t)wanted;
    int64_t score = best;
    for (size_t t = 0; t < looks && score > 0; t++) {
        const size_t through = all ? t : (size_t)clo_i_random_below(stream, members);
        const size_t proper = fullest_plane(coordinates, members, through, keys);
        score = min2(score, clo_i_gapmax_score(count, members, proper, cap));
    }
    return score;
}
