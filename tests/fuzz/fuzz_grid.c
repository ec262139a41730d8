/* fuzz_grid.c - record to integer on any doubles: inside the ball (bound.T1), a bad cell gives
 * zeros, and an oracle in long double agrees to a step of the grid where nothing overflows it. */
#include "bound/bound.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check(const double *x, size_t d, double norm, const int32_t *r)
{
    unsigned __int128 square = 0;
    long double length = 0;
    bool finite = true;
    for (size_t j = 0; j < d; j++) {
        square += (unsigned __int128)((int64_t)r[j] * r[j]);
        finite &= isfinite(x[j]) != 0;
        length = hypotl(length, (long double)x[j]);
    }
    if (square > (unsigned __int128)1 << 60) abort();
    if (!finite && square != 0) abort();
    if (!finite) return;
    const long double divisor = length > norm ? length : (long double)norm;
    /* truncation and, on the sphere, bound.T1's step in: less than two steps */
    for (size_t j = 0; j < d; j++)
        if (fabsl((long double)x[j] / divisor * 0x1p30L - r[j]) > 2.001L) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    double x[32], norm;
    int32_t r[32];
    const size_t d = size / sizeof *x;
    if (d < 2 || d > 32) return 0;
    memcpy(x, bytes, d * sizeof *x);
    norm = fabs(x[d - 1]);
    if (!(norm >= 1e-150) || !isfinite(norm)) norm = 1;
    clo_i_to_grid(x, d - 1, norm, r);
    check(x, d - 1, norm, r);
    return 0;
}
