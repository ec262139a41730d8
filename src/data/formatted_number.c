/*
 * formatted_number.c - numbers as they are written for people: "1,234", "1 234.50", "1'234",
 * "12 %", "$5", "(300)".
 *
 * None of them is read.  What a comma before three digits means, nothing in a file tells: 1,234 is
 * one number in London and another in Berlin.  They are known, so that the file is refused with the
 * reason, and not as text or as numbers that it does not hold.
 */
#include "data/formats.h"
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *skip_digits(const char *at, const char *to)
{
    while (at < to && is_digit(*at)) at++;
    return at;
}

/* Behind the first of these words that stands at `at`, or NULL. */
static const char *behind_word(const char *const *words, const char *at, const char *to)
{
    for (; *words; words++) {
        const size_t length = strlen(*words);
        if ((size_t)(to - at) >= length && memcmp(at, *words, length) == 0) return at + length;
    }
    return NULL;
}

/* What stands between groups of digits: blanks of a fixed or narrow width among them, in UTF-8 and
 * as a byte of Latin-1. */
static const char *const separators[] = { ",",
                                          ".",
                                          " ",
                                          "'",
                                          "_",
                                          "\xe2\x80\x99", /* ’ */
                                          "\xc2\xa0",
                                          "\xe2\x80\xaf",
                                          "\xe2\x80\x89",
                                          "\xa0",
                                          NULL };

/* "1,234", "12,34,567", "1 234,50": up to three digits, then groups of which the last has three and
 * those before it two or three, between them always the same; then perhaps decimals. */
static bool is_grouped(const char *from, const char *to)
{
    if (from < to && (*from == '-' || *from == '+')) from++;
    const char *at = skip_digits(from, to), *next;
    if (at == from || at - from > 3 || *from == '0') return false;
    const char *const first = at;
    const char *const behind = behind_word(separators, at, to);
    const size_t length = behind ? (size_t)(behind - at) : 0;
    size_t group = 0;
    while (length && (size_t)(to - at) > length && memcmp(at, first, length) == 0) {
        if (at != first && group != 2 && group != 3) return false;
        next = skip_digits(at + length, to);
        group = (size_t)(next - at) - length;
        at = next;
    }
    if (group != 3) return false;
    if (at < to && (*at == '.' || *at == ',') && *at != *first) at = skip_digits(at + 1, to);
    return at == to;
}

static bool is_plain(bool comma, const char *from, const char *to)
{
    double value;
    const char *const stop =
        comma ? clo_i_read_comma_number(from, &value) : clo_i_read_number(from, &value);
    return from < to && stop == to;
}

static const char *const signs[] = { "%",
                                     "$",
                                     "(",
                                     ")",
                                     "\xe2\x82\xac", /* € */
                                     "\xc2\xa3",     /* £ */
                                     "\xc2\xa5",     /* ¥ */
                                     "\xe2\x82\xb9", /* ₹ */
                                     "\xe2\x80\xb0", /* ‰ */
                                     "\xe2\x88\x92", /* − */

                                     "\x80",
                                     "\xa3",
                                     "\xa5",
                                     NULL };

/* Takes a sign and blanks off both ends; whether there was one. */
static bool undress(const char **from, const char **to)
{
    const char *const start = *from, *const stop = *to, *behind;
    const bool minus = start < stop && (*start == '-' || *start == '+');
    bool found = false;
    if ((behind = behind_word(signs, start + minus, stop))) {
        *from = behind;
        found = true;
    }
    for (size_t length = 1; length <= 3 && !(found && *to < stop); length++) {
        if (*to - *from <= (ptrdiff_t)length) break;
        if (behind_word(signs, *to - length, *to) == *to) {
            *to -= length;
            found = true;
            break;
        }
    }
    while (*from < *to && **from == ' ') ++*from;
    while (*from < *to && (*to)[-1] == ' ') --*to;
    return found;
}

clo_i_dress clo_i_dress_of(const char *from, const char *to, bool comma)
{
    const bool grouped = is_grouped(from, to);
    if (is_plain(!comma, from, to)) return grouped ? CLO_DRESS_EITHER : CLO_DRESS_OTHER_MARK;
    if (grouped) return CLO_DRESS_THOUSANDS;
    if (!undress(&from, &to)) return CLO_DRESS_NONE;
    return is_plain(false, from, to) || is_plain(true, from, to) || is_grouped(from, to)
               ? CLO_DRESS_SIGN
               : CLO_DRESS_NONE;
}
