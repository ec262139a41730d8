/*
 * digits.c - comparing real numbers by as many of their digits as it takes.
 *
 * The samplers are exact because no decision is made on a rounded number: a uniform real is a
 * string of 64-bit digits that are drawn only when a comparison has come to them, and a constant
 * such as exp(-1) is a pair of bounds that are brought closer until both lie on the same side.  One
 * digit is nearly always enough, so this file is where the time is not spent.
 */
#include "random/stream.h"
#include <string.h>

bool clo_i_lazy_append(clo_stream *stream, lazy_uniform *number)
{
    if (number->count == LAZY_DIGITS) clo_i_stream_fail(stream);
    const uint64_t digit = next_word(stream);
    if (stream->failed) return false;
    number->digit[number->count++] = digit;
    return true;
}

bool clo_i_lazy_below(clo_stream *stream, lazy_uniform *fresh, lazy_uniform *other)
{
    fresh->count = 0;
    for (unsigned i = 0;; i++) {
        if (i == other->count && !clo_i_lazy_append(stream, other)) return false;
        if (!clo_i_lazy_append(stream, fresh)) return false;
        if (fresh->digit[i] != other->digit[i]) return fresh->digit[i] < other->digit[i];
    }
}

/* ---- bounds of factor exp(-numerator/denominator) ------------------------ */

/* A number not below zero in fixed point: one word before the point, the others after it, the last
 * of them a guard that takes up the rounding. */
enum { FIXED_WORDS = 1 + LAZY_DIGITS + 1 };
typedef struct fixed_point {
    unsigned count;
    uint64_t word[FIXED_WORDS];
} fixed_point;

static void multiply(fixed_point *a, uint64_t by)
{
    clo_u128 carry = 0;
    for (unsigned i = a->count; i-- > 0;) {
        carry += (clo_u128)a->word[i] * by;
        a->word[i] = (uint64_t)carry;
        carry >>= 64;
    }
}

/* Rounds down. */
static void divide(fixed_point *a, uint64_t by)
{
    clo_u128 rest = 0;
    for (unsigned i = 0; i < a->count; i++) {
        rest = rest << 64 | a->word[i];
        a->word[i] = (uint64_t)(rest / by);
        rest %= by;
    }
}

static void add(fixed_point *a, const fixed_point *b)
{
    clo_u128 carry = 0;
    for (unsigned i = a->count; i-- > 0;) {
        carry += (clo_u128)a->word[i] + b->word[i];
        a->word[i] = (uint64_t)carry;
        carry >>= 64;
    }
}

static void subtract(fixed_point *a, const fixed_point *b)
{
    uint64_t borrow = 0;
    for (unsigned i = a->count; i-- > 0;) {
        const clo_u128 difference = (clo_u128)a->word[i] - b->word[i] - borrow;
        a->word[i] = (uint64_t)difference;
        borrow = (uint64_t)(difference >> 64) & 1;
    }
}

static bool is_below(const fixed_point *a, const fixed_point *b)
{
    for (unsigned i = 0; i < a->count; i++)
        if (a->word[i] != b->word[i]) return a->word[i] < b->word[i];
    return false;
}

static bool is_zero(const fixed_point *a)
{
    for (unsigned i = 0; i < a->count; i++)
        if (a->word[i]) return false;
    return true;
}

/* a becomes a exp(-numerator/denominator), numerator <= denominator: the terms of the
 * alternating series, each made from the one before.  A term loses less than 2 units of the last
 * place and there are fewer than 300, so the sum is off by less than 2^10 (samplers.L2). */
static void times_exp(fixed_point *a, uint64_t numerator, uint64_t denominator)
{
    fixed_point term = *a;
    for (uint64_t i = 1;; i++) {
        multiply(&term, numerator);
        divide(&term, denominator * i);
        if (is_zero(&term)) return;
        if (i % 2)
            subtract(a, &term);
        else
            add(a, &term);
    }
}

/* low <= factor exp(-numerator/denominator) <= high.  Fewer than 2^20 steps, each off by less than
 * 2^10 units and none making an earlier error larger. */
static void exp_bounds(fixed_point *low, fixed_point *high, unsigned count, uint64_t factor,
                       uint64_t numerator, uint64_t denominator)
{
    const uint64_t steps = (numerator + denominator - 1) / denominator;
    fixed_point margin = { .count = count };
    margin.word[count - 1] = UINT64_C(1) << 31;
    *low = (fixed_point){ .count = count };
    low->word[0] = factor;
    for (uint64_t i = 0; i < steps; i++) times_exp(low, numerator, denominator * steps);
    *high = *low;
    add(high, &margin);
    if (is_below(low, &margin))
        *low = (fixed_point){ .count = count };
    else
        subtract(low, &margin);
}

/* The sign of whole.digits - bound, over as many words as there are digits. */
static int compare(uint64_t whole, const lazy_uniform *number, const fixed_point *bound)
{
    if (whole != bound->word[0]) return whole < bound->word[0] ? -1 : 1;
    for (unsigned i = 0; i + 2 < bound->count; i++)
        if (number->digit[i] != bound->word[i + 1])
            return number->digit[i] < bound->word[i + 1] ? -1 : 1;
    return 0;
}

bool clo_i_uniform_below_exp(clo_stream *stream, const scaled_exp *bound)
{
    const uint64_t digit = next_word(stream);
    if (stream->failed) return false;
    if (digit != bound->digit) return digit < bound->digit;
    lazy_uniform number = { .count = 1, .digit = { digit } };
    return clo_i_lazy_below_exp(stream, &number, bound->whole, bound->factor, bound->numerator,
                                bound->denominator);
}

bool clo_i_lazy_below_exp(clo_stream *stream, lazy_uniform *number, uint64_t whole, uint64_t factor,
                          uint64_t numerator, uint64_t denominator)
{
    fixed_point low, high;
    for (unsigned digits = 1;; digits++) {
        while (number->count < digits)
            if (!clo_i_lazy_append(stream, number)) return false;
        exp_bounds(&low, &high, digits + 2, factor, numerator, denominator);
        /* The digits that are not drawn yet raise the left side by less than one unit of the last
         * digit, which is why "less" is certain here where the digits alone are less. */
        if (compare(whole, number, &low) < 0) return true;
        if (compare(whole, number, &high) > 0) return false;
    }
}
