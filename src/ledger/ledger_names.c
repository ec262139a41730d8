/*
 * ledger_names.c - when two names of data sets look alike.
 *
 * A cap is a name's, so a name that only looks like another one is a second cap on the same data.
 * A closed ledger takes names that people can tell apart, by a rule that is short enough to check
 * by eye (ledger.T13):
 *
 *   - what a name is made of: ASCII letters and digits, the Latin letters of U+00C0 to U+017E in
 *     one piece, and - _ . + @ and blanks between them.  No other script has letters here, so that
 *     no Cyrillic a stands for a Latin one, and nothing is left for Unicode to normalise;
 *   - two such names are alike where they are the same without blanks at their ends, in one case,
 *     with - _ and blanks taken for one, and 0 for o, 1 and I for l.
 *
 * Who needs names of another script makes an open ledger.
 */
#include "ledger/ledger_internal.h"
#include <string.h>

/* U+0080 and beyond, of two bytes; 0 where it is longer or none. */
static uint32_t two_bytes(const unsigned char *s)
{
    return (s[0] & 0xe0) == 0xc0 ? (uint32_t)(s[0] & 0x1f) << 6 | (s[1] & 0x3f) : 0;
}

/* Letters that are written in one way alone: not the multiplication and division signs among
 * them, nor the dotless i, the long s, the ligatures and digraphs that stand for two letters. */
static bool is_latin(uint32_t c)
{
    static const uint32_t not [] = { 0xd7,  0xf7,  0x130, 0x131, 0x132,
                                     0x133, 0x138, 0x13f, 0x140, 0x149 };
    if (c < 0xc0 || c > 0x17e) return false;
    for (size_t i = 0; i < sizeof not / sizeof *not ; i++)
        if (c == not [i]) return false;
    return true;
}

/* The lower case of such a letter.  In Latin Extended-A capitals are even, or odd from U+0139 to
 * U+0148 and from U+0179 on, and the small letter comes next. */
static uint32_t lower(uint32_t c)
{
    if (c < 0x100) return c < 0xe0 && c != 0xdf ? c + 0x20 : c;
    if (c == 0x178) return 0xff; /* Y with two dots */
    const bool odd = (c >= 0x139 && c <= 0x148) || c >= 0x179;
    return (c % 2 == 1) == odd ? c + 1 : c;
}

static bool is_plain(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           strchr("-_.+@ ", c);
}

clo_status clo_i_name_check(const char *name, clo_error *err)
{
    const size_t length = strlen(name);
    bool right = length > 0 && name[0] != ' ' && name[length - 1] != ' ';
    for (const unsigned char *s = (const unsigned char *)name; right && *s;) {
        const uint32_t wide = two_bytes(s);
        right = wide ? is_latin(wide) : *s < 0x80 && is_plain(*s);
        s += wide ? 2 : 1;
    }
    if (right) return CLO_OK;
    return clo_i_fail(err, CLO_ARGUMENT,
                      "'%.120s' cannot be the name of a data set: use Latin letters, digits, - _ "
                      ". + and blanks between them",
                      name);
}

/* One character of what the name looks like; moves on. */
static uint32_t next_look(const unsigned char **at)
{
    const unsigned char *const s = *at;
    const uint32_t wide = two_bytes(s);
    *at += wide ? 2 : 1;
    if (wide) return is_latin(wide) ? lower(wide) : wide;
    if (*s >= 'A' && *s <= 'Z' && *s != 'I') return *s == 'O' ? 'o' : *s + 32u;
    if (*s == '0') return 'o';
    if (*s == '1' || *s == 'I') return 'l';
    return *s == '_' || *s == ' ' ? '-' : *s;
}

static const unsigned char *skip_blanks(const char *name)
{
    return (const unsigned char *)name + strspn(name, " ");
}

static bool rest_is_blank(const unsigned char *s)
{
    return s[strspn((const char *)s, " ")] == 0;
}

/* strict: capital I is an i, as in lower case; otherwise the l that it looks like. */
static bool same_look(const char *a, const char *b, bool strict)
{
    const unsigned char *s = skip_blanks(a), *t = skip_blanks(b);
    while (!rest_is_blank(s) && !rest_is_blank(t)) {
        const uint32_t x = strict && *s == 'I' ? (s++, 'i') : next_look(&s);
        const uint32_t y = strict && *t == 'I' ? (t++, 'i') : next_look(&t);
        if (x != y) return false;
    }
    return rest_is_blank(s) && rest_is_blank(t);
}

bool clo_i_names_alike(const char *a, const char *b)
{
    return same_look(a, b, true) || same_look(a, b, false);
}

clo_status clo_i_name_find_alike(clo_ledger *ledger, const char *name, char out[LEDGER_TEXT + 1],
                                 clo_error *err)
{
    out[0] = 0;
    clo_i_sql sql = clo_i_sql_start(ledger, "SELECT name FROM dataset ORDER BY id");
    while (!out[0] && clo_i_sql_row(&sql)) {
        char other[LEDGER_TEXT + 1];
        clo_i_sql_get_text(&sql, 0, other);
        if (strcmp(other, name) != 0 && clo_i_names_alike(other, name))
            memcpy(out, other, sizeof other);
    }
    return clo_i_sql_finish(&sql, err);
}
