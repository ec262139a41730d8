/*
 * moment_tensor.c - what the two moment queries share: a record as a matrix of integers, and the
 * noise of symmetric tensors.
 */
#include "base/planted.h"
#include "bound/bound.h"
#include "query/moment_internal.h"

enum { WIDE = 512, READ_BITS = CLO_LIFT_READ_BITS, BITS = CLO_LIFT_BITS };

/* Entry by entry: each product is exact, and so is the shift. */
void clo_i_moment_lift(const double *values, size_t rows, size_t cols, double taken,
                       double *matrices)
{
    const double shift = 1.0 / (1 << (2 * READ_BITS - BITS));
    for (size_t row = 0; row < rows; row++) {
        const double *const r = values + row * cols;
        double square = 0; /* an integer: exact */
        for (size_t i = 0; taken > 0 && i < cols; i++) square += r[i] * r[i];
        const double off = taken * (square * shift);
        for (size_t i = 0; i < cols; i++) {
            const double scaled = r[i] * shift;
            const size_t rest = cols - i;
#pragma omp simd
            for (size_t j = 0; j < rest; j++) matrices[j] = (double)(int32_t)(scaled * r[i + j]);
            if (taken > 0) matrices[0] = (double)(int32_t)(scaled * r[i] - off);
            matrices += rest;
        }
    }
}

int clo_i_moment_threads(const clo_line *line, int threads)
{
    return clo_i_triangle(line->cols) >= WIDE ? 1 : threads;
}

/* ---- noise --------------------------------------------------------------------------------- */

uint64_t clo_i_moment_class_scale(uint64_t scale, unsigned m)
{
    const unsigned __int128 square = (unsigned __int128)scale * scale;
    /* The mean of m draws of the right scale has one that is smaller by sqrt m again. */
    if (clo_i_planted(CLO_FAULT_SYMMETRIC_TWICE)) return clo_i_root_up(square / m / m);
    return clo_i_root_up((square + m - 1) / m);
}

clo_status clo_i_answer_tensor(clo_sum *sum, uint8_t *classes, const unsigned *multiplicities,
                               size_t count, double *entries, clo_error *err)
{
    const double unit = (double)(3 * CLO_LIFT_SQUARE);
    const size_t all = sum->fold.entries;
    clo_noise noise = { .count = all, .classes = count, .class_of = classes };
    for (size_t class = 0; class < count; class ++)
        noise.laws[class] =
            clo_i_gaussian_law(clo_i_moment_class_scale(sum->line->scale, multiplicities[class]));
    for (size_t e = 0; e < all; e++) {
        uint8_t class = 0;
        while (multiplicities[class] != classes[e]) class ++;
        classes[e] = class;
    }
    CLO_TRY(clo_i_answer(sum->context, sum->line, &noise, sum->fold.totals, err));
    for (size_t e = 0; e < all; e++) entries[e] = (double)sum->fold.totals[e] / unit;
    clo_i_tell_answer(sum->context, sum->line, entries, all, unit);
    return CLO_OK;
}
