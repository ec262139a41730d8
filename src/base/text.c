/* text.c - numbers as text and back, the same in every locale: a release is read by machines,
 * and a program that embeds the library may have called setlocale. */
#include "base/base.h"
#include <cloister/output.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* printf and strtod follow the locale's decimal point; this is the one to swap. */
static char decimal_point(void)
{
    const char *const point = localeconv()->decimal_point;
    return point && point[0] ? point[0] : '.';
}

/* 1e-06 becomes 1e-6 and 1e+20 1e20. */
static void shorten_exponent(char *text)
{
    char *from = strchr(text, 'e'), *to = from;
    if (!from) return;
    to++;
    if (*++from == '-') to++;
    from += strspn(from, "+-0");
    memmove(to, from, strlen(from) + 1);
}

/* So many digits are needed at least.  A decimal of d digits that reads back as the value is at
 * most half a gap between doubles from it, less than 12 units in the 17th digit: so the digits
 * behind the d-th, up to the 15th, are all 0, or all 9.  That is where to begin to look.  (Gaps of
 * numbers that are tiny are wider.) */
static int least_digits(double value)
{
    enum { SURE = 15 };
    char text[40], digits[40];
    int count = 0, needed = SURE;
    if (fabs(value) < 1e-300) return 1;
    snprintf(text, sizeof text, "%.16e", fabs(value));
    for (const char *c = text; *c && *c != 'e'; c++) /* all but the decimal point */
        if (*c >= '0' && *c <= '9') digits[count++] = *c;
    const char last = digits[SURE - 1];
    if (last != '0' && last != '9') return SURE;
    while (needed > 1 && digits[needed - 1] == last) needed--;
    return needed;
}

void clo_number_text(double value, char buffer[CLO_NUMBER_SIZE])
{
    if (!isfinite(value)) {
        memcpy(buffer, "null", 5);
        return;
    }
    if (value == trunc(value) && fabs(value) < 1e15) { /* 10, and not 1e1 */
        snprintf(buffer, 32, "%.0f", value);
        return;
    }
    for (int digits = least_digits(value); digits <= 17; digits++) {
        snprintf(buffer, 32, "%.*g", digits, value);
        if (digits == 17 || strtod(buffer, NULL) == value) break;
    }
    char *const point = strchr(buffer, decimal_point());
    if (point) *point = '.';
    shorten_exponent(buffer);
}

size_t clo_bar_text(double share, size_t width, bool ascii, char *text, size_t size)
{
    static const char *const eighths[9] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█" };
    const size_t steps = ascii ? 1 : 8;
    const double all = share > 0 ? round(fmin(share, 1) * (double)(steps * width)) : 0;
    size_t used = 0, count = 0;
    for (size_t left = (size_t)all; left > 0; left -= left < steps ? left : steps, count++) {
        const char *const one = ascii ? "#" : eighths[left < 8 ? left : 8];
        if (used + strlen(one) + 1 > size) break;
        memcpy(text + used, one, strlen(one));
        used += strlen(one);
    }
    if (size) text[used] = 0;
    return count;
}

static size_t number_length(const char *text)
{
    size_t i = 0;
    while (i < 400 && text[i] && strchr("+-0123456789.eEinfaINFA", text[i])) i++;
    return i;
}

const char *clo_i_parse_double(const char *text, double *out)
{
    char copy[408];
    const size_t length = number_length(text);
    char *end;
    if (length == 0 || length >= 400) return NULL;
    memcpy(copy, text, length);
    copy[length] = 0;
    char *const point = strchr(copy, '.');
    if (point) *point = decimal_point();
    const double value = strtod(copy, &end);
    if (end == copy) return NULL;
    *out = value;
    return text + (end - copy);
}
