/*
 * number.c - decimal text to double and back, exact and fast.
 *
 * Reading.  A decimal is w * 10^e with an integer w.  Where w has at most 19 digits it fits in 64
 * bits, and three ways are exact and cover nearly all that files hold:
 *   - w <= 2^53 and |e| <= 22: w and 10^|e| are doubles, so that one multiplication or division,
 *     which the machine rounds correctly, is the answer (Clinger 1990);
 *   - 0 < e <= 27: 10^e = 5^e * 2^e, and w * 5^e fits in 128 bits: an exact integer to round;
 *   - -27 <= e < 0: the quotient of w by 5^-e to at least 63 bits and whether a remainder is left
 *     decide how it is rounded.
 * The rest goes to strtod, as digits and an exponent without a decimal point: that text means the
 * same in every locale.
 *
 * Writing.  A double of ordinary size times a power of ten is an exact integer of at most 128 bits
 * and a power of two, from which the nearest decimals of 15, 16 and 17 digits follow; the first one
 * that reads back as the same double is taken.
 */
#include "data/formats.h"
#include <cloister/output.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(FLT_EVAL_METHOD == 0, "a product of doubles must be rounded once");

__extension__ typedef unsigned __int128 u128;

enum {
    MOST_DIGITS = 19,      /* of a mantissa that surely fits in 64 bits */
    MOST_FIVES = 27,       /* 5^27 < 2^63 */
    DECIDING_DIGITS = 780, /* 767 digits, and whether more follow, decide how a double rounds */
    LARGEST_EXPONENT = 100000000
};

static const double tens[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                               1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                               1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };

#define FIVES_8(base)                                                                              \
    (base), (base)*5, (base)*25, (base)*125, (base)*625, (base)*3125, (base)*15625, (base)*78125
#define FIVE_8  UINT64_C(390625)
#define FIVE_16 (FIVE_8 * FIVE_8)
#define FIVE_24 (FIVE_16 * FIVE_8)
static const uint64_t fives[MOST_FIVES + 1] = { FIVES_8(UINT64_C(1)), FIVES_8(FIVE_8),
                                                FIVES_8(FIVE_16),     FIVE_24,
                                                FIVE_24 * 5,          FIVE_24 * 25,
                                                FIVE_24 * 125 };

/* ---- reading --------------------------------------------------------------------------------- */

/* m * 2^power for an m of 62 to 64 bits whose last bit stands for all that follow it: the
 * conversion to double is then the one rounding, and the scaling is exact. */
static double round_bits(uint64_t m, int power)
{
    const uint64_t bits = (uint64_t)(1023 + power + 1) << 52;
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    return (double)(int64_t)(m >> 1 | (m & 1)) * scale;
}

static double times_five(uint64_t w, int e)
{
    const u128 product = (u128)w * fives[e];
    const uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
    if (high == 0) {
        const int shift = __builtin_clzll(low);
        return round_bits(low << shift, e - shift);
    }
    const int shift = __builtin_clzll(high);
    const u128 wide = product << shift;
    return round_bits((uint64_t)(wide >> 64) | ((uint64_t)wide != 0), e + 64 - shift);
}

static double over_five(uint64_t w, int e)
{
    const int shift_w = __builtin_clzll(w), shift_d = __builtin_clzll(fives[e]);
    const u128 numerator = (u128)(w << shift_w) << 63;
    const uint64_t divisor = fives[e] << shift_d;
    /* Both have their highest bit set, so that the quotient lies between 2^62 and 2^64. */
    const uint64_t quotient = (uint64_t)(numerator / divisor);
    const bool rest = (uint64_t)numerator != quotient * divisor;
    return round_bits(quotient | rest, shift_d - shift_w - 63 - e);
}

static double by_library(const char *digits, int64_t e)
{
    char text[DECIDING_DIGITS + 32];
    snprintf(text, sizeof text, "%se%lld", digits, (long long)e);
    return strtod(text, NULL);
}

static double from_decimal(uint64_t w, int64_t e)
{
    char digits[24];
    if (w == 0) return 0.0;
    if (w <= UINT64_C(1) << 53) {
        if (e <= 0 && e >= -22) return (double)w / tens[-e];
        if (e > 0 && e <= 22) return (double)w * tens[e];
    }
    if (e >= 0 && e <= MOST_FIVES) return times_five(w, (int)e);
    if (e < 0 && e >= -MOST_FIVES) return over_five(w, (int)-e);
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)w);
    return by_library(digits, e);
}

static inline bool is_mark(char c)
{
    return c == '.' || c == ',';
}

/* More digits than fit in 64 bits: the digits from..to, a decimal mark among them perhaps, times
 * 10^e where the last digit has the exponent e. */
static double from_long_decimal(const char *from, const char *to, int64_t e)
{
    char digits[DECIDING_DIGITS + 2];
    size_t count = 0;
    bool more = false;
    for (; from < to; from++) {
        if (is_mark(*from) || (count == 0 && *from == '0')) continue;
        if (count < DECIDING_DIGITS) {
            digits[count++] = *from;
        } else {
            more = more || *from != '0';
            e++;
        }
    }
    if (more) {
        digits[count++] = '1';
        e--;
    }
    digits[count] = 0;
    return count ? by_library(digits, e) : 0.0;
}

static size_t significant_digits(const char *from, const char *to)
{
    size_t count = 0;
    for (; from < to; from++) count += !is_mark(*from) && (count || *from != '0');
    return count;
}

static inline bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* The eight digits that start at text as a number, or false.  Neighbours are joined pairwise: eight
 * digits to four numbers below 100, those to two below 10^4, those to one. */
static inline bool eight_digits(const char *text, uint64_t *out)
{
    uint64_t x;
    memcpy(&x, text, sizeof x);
    const uint64_t digits = x - UINT64_C(0x3030303030303030);
    if (((x + UINT64_C(0x4646464646464646)) | digits) & UINT64_C(0x8080808080808080)) return false;
    const uint64_t pairs = digits * 10 + (digits >> 8);
    const uint64_t odd = pairs & UINT64_C(0x000000ff000000ff);
    const uint64_t even = pairs >> 16 & UINT64_C(0x000000ff000000ff);
    *out = (odd * (100 + (UINT64_C(1000000) << 32)) + even * (1 + (UINT64_C(10000) << 32))) >> 32;
    return true;
}

static inline const char *read_digits(const char *text, uint64_t *w)
{
    uint64_t eight;
    while (eight_digits(text, &eight)) {
        *w = *w * 100000000 + eight;
        text += 8;
    }
    while (is_digit(*text)) *w = *w * 10 + (uint64_t)(*text++ - '0');
    return text;
}

/* "e-12": adds it to *e.  Where no digit follows, the e is not part of the number. */
static const char *read_exponent(const char *text, int64_t *e)
{
    const char *at = text + 1;
    const bool negative = *at == '-';
    int64_t value = 0;
    if (negative || *at == '+') at++;
    if (!is_digit(*at)) return text;
    for (; is_digit(*at); at++)
        if (value < LARGEST_EXPONENT) value = value * 10 + (*at - '0');
    *e += negative ? -value : value;
    return at;
}

/* The mark is a constant where this is called, so that each has code of its own. */
static inline const char *read_number(const char *text, char mark, double *out)
{
    const bool negative = *text == '-';
    const char *const first = text + (negative || *text == '+');
    const char *at = first;
    uint64_t w = 0;
    int64_t e = 0;
    while (is_digit(*at)) w = w * 10 + (uint64_t)(*at++ - '0'); /* mostly one to three */
    size_t digits = (size_t)(at - first);
    if (*at == mark) {
        const char *const fraction = ++at;
        at = read_digits(at, &w);
        e = fraction - at;
        digits += (size_t)(at - fraction);
    }
    if (digits == 0) return NULL;
    const char *const last = at;
    if ((*at | 32) == 'e') at = read_exponent(at, &e);
    const bool is_long = digits > MOST_DIGITS && significant_digits(first, last) > MOST_DIGITS;
    const double value = is_long ? from_long_decimal(first, last, e) : from_decimal(w, e);
    *out = negative ? -value : value;
    return at;
}

const char *clo_i_read_number(const char *text, double *out)
{
    return read_number(text, '.', out);
}

const char *clo_i_read_comma_number(const char *text, double *out)
{
    return read_number(text, ',', out);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* What lies in this range is written without an exponent, and m * 5^k below stays in 128 bits. */
static const double least_plain = 1e-5, most_plain = 1e15;

/* The first 17 digits of a positive double as an integer d, with a = d * 10^(x - 16) before
 * rounding: four times d, plus 2 where at least half a unit was cut off, plus 1 where neither
 * nothing nor exactly half was.  Rounding that to any fewer digits is exact. */
static uint64_t seventeen_digits(double a, int *x)
{
    int binary;
    const uint64_t m = (uint64_t)ldexp(frexp(a, &binary), 53);
    int exponent = ((binary - 1) * 1233) >> 12; /* log10(2) of it, rounded down: x or x - 1 */
    for (;; exponent++) {
        const int k = 16 - exponent, shift = 53 - binary - k;
        const u128 product = (u128)m * fives[k];
        const u128 half = (u128)1 << shift >> 1, rest = product & (((u128)1 << shift) - 1);
        const uint64_t whole = (uint64_t)(product >> shift);
        if (whole >= UINT64_C(100000000000000000)) continue;
        *x = exponent;
        return whole * 4 + (rest >= half ? 2 : 0) + (rest != 0 && rest != half ? 1 : 0);
    }
}

static uint64_t round_to_even(uint64_t value, uint64_t unit)
{
    const uint64_t whole = value / unit, rest = value % unit;
    return whole + (rest > unit / 2 || (rest == unit / 2 && (whole & 1)));
}

/* w * 10^e without an exponent. */
static char *write_plain(uint64_t w, int e, char *out)
{
    char digits[24];
    int count = 0;
    for (; w; w /= 10) digits[count++] = (char)('0' + w % 10);
    const int whole = count + e; /* digits before the point */
    if (whole <= 0) {
        *out++ = '0';
        *out++ = '.';
        for (int i = whole; i < 0; i++) *out++ = '0';
    }
    for (int i = 0; i < count; i++) {
        if (i == whole && whole > 0) *out++ = '.';
        *out++ = digits[count - 1 - i];
    }
    for (int i = 0; i < e; i++) *out++ = '0';
    return out;
}

static char *write_positive(double a, char *out)
{
    int x, digits = 15;
    const uint64_t all = seventeen_digits(a, &x);
    uint64_t w = round_to_even(all, 400);
    if (from_decimal(w, x - 14) != a) {
        digits = 16;
        w = round_to_even(all, 40);
        if (from_decimal(w, x - 15) != a) {
            digits = 17;
            w = round_to_even(all, 4);
        }
    }
    int e = x - digits + 1;
    for (; w % 10 == 0; e++) w /= 10;
    return write_plain(w, e, out);
}

char *clo_i_write_number(double value, char buffer[32])
{
    const double a = fabs(value);
    char *out = buffer;
    if (isnan(value)) return (char *)memcpy(out, "nan", 3) + 3;
    if (a >= least_plain && a < most_plain) {
        if (value < 0) *out++ = '-';
        return write_positive(a, out);
    }
    if (isinf(value)) {
        if (value < 0) *out++ = '-';
        return (char *)memcpy(out, "inf", 3) + 3;
    }
    clo_number_text(value, out);
    return out + strlen(out);
}
