/* solve_codes.h - codes of points as tests look at them. */
#ifndef CLO_TEST_SOLVE_CODES_H
#define CLO_TEST_SOLVE_CODES_H

#include "solve_flats.h"
#include "solver/affinity/self_expression.h"

/* Row i as a dense vector; columns must increase, and the point itself must not be among them. */
static inline void codes_row(const clo_codes *codes, size_t i, double *out)
{
    memset(out, 0, codes->count * sizeof *out);
    for (size_t at = codes->starts[i]; at < codes->starts[i + 1]; at++) {
        assert_true(codes->columns[at] < codes->count && codes->columns[at] != i);
        if (at > codes->starts[i]) assert_true(codes->columns[at] > codes->columns[at - 1]);
        out[codes->columns[at]] = codes->values[at];
    }
}

static inline double *codes_unit_rows(const double *rows, size_t n, size_t d)
{
    double *const unit = job_need(n * d, sizeof *unit);
    for (size_t i = 0; i < n; i++) {
        double square = 0;
        for (size_t c = 0; c < d; c++) square += rows[i * d + c] * rows[i * d + c];
        for (size_t c = 0; c < d && square > 0; c++)
            unit[i * d + c] = rows[i * d + c] / sqrt(square);
    }
    return unit;
}

static inline double codes_dot(const double *a, const double *b, size_t d)
{
    double sum = 0;
    for (size_t c = 0; c < d; c++) sum += a[c] * b[c];
    return sum;
}

/* x - Xc */
static inline void codes_rest(const double *x, const double *rows, const double *c, size_t n,
                              size_t d, double *rest)
{
    memcpy(rest, x, d * sizeof *rest);
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k < d; k++) rest[k] -= c[j] * rows[j * d + k];
}

static inline void assert_same_codes(const clo_codes *a, const clo_codes *b)
{
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->starts, b->starts, (a->count + 1) * sizeof *a->starts);
    assert_memory_equal(a->columns, b->columns, a->starts[a->count] * sizeof *a->columns);
    assert_memory_equal(a->values, b->values, a->starts[a->count] * sizeof *a->values);
}

#endif
