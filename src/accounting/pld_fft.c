/*
 * pld_fft.c - the discrete Fourier transform, radix 2, in double.
 *
 * A transform of our own, because its error is charged to delta and so has to be proved
 * (accounting.T17): one product and two sums in each butterfly, roots of unity straight from the
 * library's sine and cosine, nothing clever.
 */
#include "accounting/pld.h"
#include <math.h>

void clo_i_fft_roots(clo_i_complex *roots, size_t size)
{
    const double turn = -6.283185307179586 / (double)size;
    for (size_t k = 0; k < size / 2; k++)
        roots[k] = (clo_i_complex){ cos(turn * (double)k), sin(turn * (double)k) };
}

static void reverse_bits(clo_i_complex *x, size_t size)
{
    for (size_t i = 1, j = 0; i < size; i++) {
        size_t bit = size >> 1;
        for (; j & bit; bit >>= 1) j ^= bit;
        j |= bit;
        if (i >= j) continue;
        const clo_i_complex kept = x[i];
        x[i] = x[j];
        x[j] = kept;
    }
}

void clo_i_fft(clo_i_complex *x, const clo_i_complex *roots, size_t size)
{
    reverse_bits(x, size);
    for (size_t half = 1; half < size; half *= 2) {
        const size_t stride = size / (2 * half);
        for (size_t block = 0; block < size; block += 2 * half) {
            for (size_t k = 0; k < half; k++) {
                clo_i_complex *const a = &x[block + k], *const b = a + half;
                const clo_i_complex w = roots[k * stride];
                const double re = w.re * b->re - w.im * b->im, im = w.re * b->im + w.im * b->re;
                *b = (clo_i_complex){ a->re - re, a->im - im };
                *a = (clo_i_complex){ a->re + re, a->im + im };
            }
        }
    }
}

double clo_i_fft_error(size_t size)
{
    double stages = 0;
    for (; size > 1; size /= 2) stages++;
    return 13 * stages * CLO_I_ROUNDING;
}
