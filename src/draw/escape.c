/*
 * escape.c - texts from anywhere, made harmless; and how much room they take.
 *
 * A name of a column may be a tag, an attribute's end, half a character, ten thousand of them, or
 * turn the direction of writing round.  All that leaves here are characters that stand for
 * themselves.
 */
#include "draw/draw.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPLACEMENT = 0xFFFD };

/* The next character and how many bytes it takes; REPLACEMENT and one byte where it is no UTF-8. */
static uint32_t next_point(const unsigned char *text, size_t *length)
{
    static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char first = text[0];
    const size_t count = first < 0x80             ? 1
                         : (first & 0xE0) == 0xC0 ? 2
                         : (first & 0xF0) == 0xE0 ? 3
                         : (first & 0xF8) == 0xF0 ? 4
                                                  : 0;
    uint32_t point = count <= 1 ? first : first & (0x7Fu >> count);
    *length = 1;
    if (count == 0) return REPLACEMENT;
    for (size_t i = 1; i < count; i++) {
        if ((text[i] & 0xC0) != 0x80) return REPLACEMENT;
        point = point << 6 | (text[i] & 0x3F);
    }
    if (point < least[count] || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000))
        return REPLACEMENT;
    *length = count;
    return point;
}

/* Controls, marks that turn the writing round, what XML does not take. */
static bool is_harmful(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x61C || c == 0x200E || c == 0x200F ||
           (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF ||
           (c >= 0xFFF9 && c <= 0xFFFB) || (c & 0xFFFE) == 0xFFFE;
}

static void write_point(clo_writer *w, const unsigned char *bytes, size_t length, uint32_t point)
{
    char text[5] = "";
    switch (point) {
    case '&':
        clo_writer_text(w, "&amp;");
        return;
    case '<':
        clo_writer_text(w, "&lt;");
        return;
    case '>':
        clo_writer_text(w, "&gt;");
        return;
    case '"':
        clo_writer_text(w, "&quot;");
        return;
    case '\'':
        clo_writer_text(w, "&#39;");
        return;
    default:
        if (point == REPLACEMENT || is_harmful(point)) {
            clo_writer_text(w, "\xEF\xBF\xBD");
            return;
        }
        memcpy(text, bytes, length);
        clo_writer_text(w, text);
    }
}

void clo_i_escape(clo_writer *w, const char *text, size_t most)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t length;
    for (size_t count = 0; *at; count++) {
        const uint32_t point = next_point(at, &length);
        if (count + 1 >= most && at[length]) {
            clo_writer_text(w, "\xE2\x80\xA6");
            return;
        }
        write_point(w, at, length, point);
        at += length;
    }
}

void clo_i_harmless(const char *text, char *out, size_t size)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t length, used = 0;
    for (; *at; at += length) {
        const uint32_t point = next_point(at, &length);
        const bool bad = point == REPLACEMENT || is_harmful(point);
        const size_t bytes = bad ? 3 : length;
        if (used + bytes + 1 > size) break;
        memcpy(out + used, bad ? (const void *)"\xEF\xBF\xBD" : (const void *)at, bytes);
        used += bytes;
    }
    out[used] = 0;
}

/* ---- room ------------------------------------------------------------------------------------ */

/* In hundredths of the size, of the characters from ' ' to '~': those of DejaVu Sans and Verdana,
 * which are wider than what most systems show. */
static const unsigned char widths[95] = {
    35, 40, 46, 84, 64, 95, 78, 28, 39,  39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 53, 100, 69, 69, 70, 77, 63, 58, 78, 75, 30, 45, 66, 56, 86, 75, 79,
    60, 79, 70, 64, 61, 73, 69, 99, 69,  61, 69, 39, 34, 39, 84, 50, 50, 61, 64, 55, 64, 62, 35, 64,
    64, 28, 28, 58, 28, 98, 64, 61, 64,  64, 41, 52, 39, 64, 59, 82, 59, 59, 53, 64, 34, 64, 84
};

static double point_width(uint32_t c)
{
    if (c >= 0x20 && c < 0x7F) return widths[c - 0x20] / 100.0;
    if (c >= 0x300 && c < 0x370) return 0; /* accents that stand on the character before */
    if (c < 0x1100) return 0.8;
    return 1.05; /* of East Asia, pictures, and whatever else there is */
}

double clo_i_text_width(const char *text, double size)
{
    const unsigned char *at = (const unsigned char *)text;
    double width = 0;
    size_t length;
    for (; *at; at += length) width += point_width(next_point(at, &length));
    return width * size;
}

size_t clo_i_text_fit(const char *text, double size, double room)
{
    const unsigned char *at = (const unsigned char *)text;
    const double ellipsis = size;
    double width = 0;
    size_t length, count = 0, fits = 1;
    for (; *at; at += length, count++) {
        width += size * point_width(next_point(at, &length));
        if (width + ellipsis <= room) fits = count + 2; /* these, and the ellipsis */
        if (width > room) return fits;
    }
    return SIZE_MAX;
}

/* ---- numbers --------------------------------------------------------------------------------- */

clo_number clo_i_short(double value, int digits)
{
    clo_number out;
    char rounded[40];
    if (!isfinite(value)) {
        snprintf(out.text, sizeof out.text, "%s", isnan(value) ? "?" : value > 0 ? "∞" : "-∞");
        return out;
    }
    snprintf(rounded, sizeof rounded, "%.*g", digits, value);
    clo_number_text(strtod(rounded, NULL) + 0.0, out.text);
    return out;
}
