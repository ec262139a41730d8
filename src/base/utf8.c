/*
 * utf8.c - names of columns come out of files of any encoding, and go into JSON, which must be
 * UTF-8, and into tables, whose columns must stay below each other.
 *
 * The C library's own functions for this follow the locale of the process, which is not ours to
 * set; what is written must not depend on it.
 */
#include "base/utf8.h"
#include <cloister/output.h>
#include <string.h>

enum { REPLACEMENT = 0xfffd };

/* The character at text and how many bytes it has; 0 where it is not well-formed: cut short, longer
 * than needed, a surrogate, or beyond the last one. */
static size_t decode(const char *text, uint32_t *out)
{
    static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char *const s = (const unsigned char *)text;
    const size_t length = s[0] < 0x80    ? 1
                          : s[0] < 0xc0  ? 0
                          : s[0] < 0xe0  ? 2
                          : s[0] < 0xf0  ? 3
                          : s[0] <= 0xf4 ? 4
                                         : 0;
    uint32_t c = length > 1 ? s[0] & (0xffU >> (length + 1)) : s[0];
    for (size_t i = 1; i < length; i++) { /* a NUL ends it, too */
        if ((s[i] & 0xc0) != 0x80) return 0;
        c = c << 6 | (s[i] & 0x3f);
    }
    if (length && (c < least[length] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))) return 0;
    *out = c;
    return length;
}

size_t clo_i_utf8_length(const char *text)
{
    uint32_t unused;
    return decode(text, &unused);
}

bool clo_i_is_utf8(const char *text)
{
    uint32_t unused;
    while (*text) {
        const size_t length = decode(text, &unused);
        if (!length) return false;
        text += length;
    }
    return true;
}

/* What Windows has where Latin-1 has controls that no header means; 0: nothing. */
static const uint16_t windows[32] = { 0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020,
                                      0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0,
                                      0x017d, 0,      0,      0x2018, 0x2019, 0x201c, 0x201d,
                                      0x2022, 0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a,
                                      0x0153, 0,      0x017e, 0x0178 };

void clo_i_utf8_of_byte(unsigned char byte, char out[CLO_UTF8_BYTES])
{
    uint32_t c = byte;
    if (byte >= 0x80 && byte < 0xa0) c = windows[byte - 0x80] ? windows[byte - 0x80] : REPLACEMENT;
    size_t length = 0;
    if (c >= 0x800) {
        out[length++] = (char)(0xe0 | c >> 12);
        out[length++] = (char)(0x80 | (c >> 6 & 0x3f));
    } else if (c >= 0x80) {
        out[length++] = (char)(0xc0 | c >> 6);
    }
    out[length++] = (char)(c >= 0x80 ? 0x80 | (c & 0x3f) : c);
    out[length] = 0;
}

clo_status clo_i_copy_utf8(const char *text, char **out, clo_error *err)
{
    if (clo_i_is_utf8(text)) return clo_i_copy_text(text, out, err);
    char *copy = NULL, *to, character[CLO_UTF8_BYTES];
    CLO_TRY(clo_i_alloc(3 * strlen(text) + 1, 1, &copy, err));
    to = copy;
    for (; *text; text++) {
        clo_i_utf8_of_byte((unsigned char)*text, character);
        const size_t length = strlen(character);
        memcpy(to, character, length);
        to += length;
    }
    *out = copy;
    return CLO_OK;
}

/* ---- room on a line -------------------------------------------------------------------------- */

typedef struct range {
    uint32_t first, last;
} range;

/* Marks that stand on the character before them, and what is not seen at all. */
static const range no_width[] = { { 0x0300, 0x036f }, { 0x0483, 0x0489 }, { 0x0591, 0x05bd },
                                  { 0x0610, 0x061a }, { 0x064b, 0x065f }, { 0x093c, 0x093c },
                                  { 0x094d, 0x094d }, { 0x0e31, 0x0e31 }, { 0x0e34, 0x0e3a },
                                  { 0x0e47, 0x0e4e }, { 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff },
                                  { 0x200b, 0x200f }, { 0x20d0, 0x20ff }, { 0xfe00, 0xfe0f },
                                  { 0xfe20, 0xfe2f }, { 0xfeff, 0xfeff }, { 0xe0100, 0xe01ef } };
/* Characters of East Asia, and pictures. */
static const range two_wide[] = { { 0x1100, 0x115f },   { 0x2e80, 0x303e },   { 0x3041, 0xa4cf },
                                  { 0xa960, 0xa97c },   { 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },
                                  { 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },   { 0xffe0, 0xffe6 },
                                  { 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff },
                                  { 0x20000, 0x3fffd } };

static bool is_in(uint32_t c, const range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (c >= ranges[i].first && c <= ranges[i].last) return true;
    return false;
}

/* Of the character at text; a byte that is none is shown as one mark, and so is a control. */
static size_t width_at(const char *text, size_t *bytes, bool *shown)
{
    uint32_t c = 0;
    const size_t length = decode(text, &c);
    *bytes = length ? length : 1;
    *shown = length && c >= 0x20 && !(c >= 0x7f && c < 0xa0);
    if (*shown && is_in(c, no_width, sizeof no_width / sizeof *no_width)) return 0;
    return 1 + (*shown && is_in(c, two_wide, sizeof two_wide / sizeof *two_wide));
}

size_t clo_text_width(const char *text)
{
    size_t width = 0, bytes;
    bool shown;
    for (; *text; text += bytes) width += width_at(text, &bytes, &shown);
    return width;
}

static void write_blanks(clo_writer *writer, size_t count)
{
    while (count-- > 0) clo_writer_text(writer, " ");
}

void clo_writer_cell(clo_writer *writer, const char *text, size_t width, bool right)
{
    size_t used = 0, bytes = 0, length = 0;
    bool shown;
    while (text[length]) {
        const size_t here = width_at(text + length, &bytes, &shown);
        if (used + here > width) break;
        used += here;
        length += bytes;
    }
    if (right) write_blanks(writer, width - used);
    for (size_t i = 0; i < length; i += bytes) {
        (void)width_at(text + i, &bytes, &shown);
        if (shown)
            clo_i_writer_format(writer, "%.*s", (int)bytes, text + i);
        else
            clo_writer_text(writer, "?");
    }
    if (!right) write_blanks(writer, width - used);
}
