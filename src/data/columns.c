/*
 * columns.c - which columns a list such as "age,income", "2-7" or "1,4-6" means.
 *
 * An item between commas is looked up as a name first, then as a number, then as a range of
 * numbers: a header that calls a column "2" or "4-6" means that column.  A name that holds a comma
 * is put in double quotes.
 */
#include "data/formats.h"
#include <stdio.h>
#include <string.h>

enum {
    LONGEST_ITEM = 255, /* of a list; a longer one is no column's name that could be shown */
    SHOWN_NAMES = 5,
    LONGEST_COMPARED = 64 /* bytes of a name that are compared for "did you mean" */
};

/* ---- saying which columns there are ---------------------------------------------------------- */

void clo_i_show_name(const char *name, char out[CLO_SHOWN_BYTES])
{
    size_t i = 0;
    for (; name[i] && i < CLO_SHOWN_BYTES - 1; i++)
        out[i] = (unsigned char)name[i] < 32 || name[i] == 127 ? '?' : name[i];
    /* A cut may fall into a character of several bytes: drop its beginning. */
    while (name[i] && i > 0 && ((unsigned char)name[i] & 0xc0) == 0x80) i--;
    out[i] = 0;
}

static size_t least_of(size_t a, size_t b, size_t c)
{
    const size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* How many letters must be changed, added or dropped to make one name of the other. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[LONGEST_COMPARED + 1];
    const size_t rows = strnlen(a, LONGEST_COMPARED), cols = strnlen(b, LONGEST_COMPARED);
    for (size_t j = 0; j <= cols; j++) row[j] = j;
    for (size_t i = 1; i <= rows; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= cols; j++) {
            const size_t above = row[j];
            const int x = a[i - 1] | 32, y = b[j - 1] | 32; /* A and a are no change */
            row[j] = least_of(above + 1, row[j - 1] + 1, diagonal + (x != y));
            diagonal = above;
        }
    }
    return row[cols];
}

/* The closest name, where it is close enough to be what was meant. */
static const char *closest_name(const clo_i_columns *columns, const char *name)
{
    const char *best = NULL;
    size_t best_distance = strnlen(name, LONGEST_COMPARED) / 3 + 2;
    for (size_t j = 0; j < columns->count; j++) {
        const size_t distance = edit_distance(name, columns->names[j]);
        if (distance >= best_distance) continue;
        best = columns->names[j];
        best_distance = distance;
    }
    return best;
}

static clo_status no_such_column(const clo_i_columns *columns, const char *name, const char *role,
                                 clo_error *err)
{
    char shown[CLO_SHOWN_BYTES], list[SHOWN_NAMES * (CLO_SHOWN_BYTES + 4) + 16] = "";
    if (!columns->names) {
        clo_i_show_name(name, shown);
        return clo_i_fail(err, CLO_ARGUMENT,
                          "%s has no %s '%s': its columns have no names, only the numbers 1 to %zu",
                          columns->file, role, shown, columns->count);
    }
    const char *const close = closest_name(columns, name);
    if (close) {
        clo_i_show_name(close, shown);
        snprintf(list, sizeof list, "did you mean '%s'?", shown);
    } else {
        size_t used = (size_t)snprintf(list, sizeof list, "it has ");
        for (size_t j = 0; j < columns->count && j < SHOWN_NAMES; j++) {
            clo_i_show_name(columns->names[j], shown);
            used +=
                (size_t)snprintf(list + used, sizeof list - used, "%s'%s'", j ? ", " : "", shown);
        }
        if (columns->count > SHOWN_NAMES) snprintf(list + used, sizeof list - used, ", ...");
    }
    clo_i_show_name(name, shown);
    return clo_i_fail(err, CLO_ARGUMENT, "%s has no %s '%s'; %s", columns->file, role, shown, list);
}

/* ---- finding them ---------------------------------------------------------------------------- */

bool clo_i_is_column_number(const char *text)
{
    const size_t digits = strspn(text, "0123456789");
    return digits > 0 && text[digits] == 0;
}

/* Reads digits; the value stops growing at a number that no file has. */
static const char *read_index(const char *text, size_t *out)
{
    const char *at = text;
    *out = 0;
    for (; *at >= '0' && *at <= '9'; at++)
        if (*out <= UINT32_MAX) *out = *out * 10 + (size_t)(*at - '0');
    return at > text ? at : NULL;
}

/* Reads "4" or "4-6" and nothing but; false for a name. */
static bool read_range(const char *item, size_t *from, size_t *to)
{
    const char *at = read_index(item, from);
    *to = *from;
    if (at && *at == '-') at = read_index(at + 1, to);
    return at && !*at;
}

/* The column of this name, or SIZE_MAX. */
static clo_status find_name(const clo_i_columns *columns, const char *name, size_t *out,
                            clo_error *err)
{
    *out = SIZE_MAX;
    for (size_t j = 0; columns->names && j < columns->count; j++) {
        if (strcmp(columns->names[j], name) != 0) continue;
        if (*out != SIZE_MAX) {
            char shown[CLO_SHOWN_BYTES];
            clo_i_show_name(name, shown);
            return clo_i_fail(err, CLO_ARGUMENT,
                              "%s has two columns '%s', %zu and %zu: choose one by its number",
                              columns->file, shown, *out + 1, j + 1);
        }
        *out = j;
    }
    return CLO_OK;
}

static clo_status check_index(const clo_i_columns *columns, size_t number, const char *role,
                              clo_error *err)
{
    if (number >= 1 && number <= columns->count) return CLO_OK;
    return clo_i_fail(err, CLO_ARGUMENT, "%s has no %s %zu: its columns are 1 to %zu",
                      columns->file, role, number, columns->count);
}

/* One item of a list: a name, a number or a range, as columns from first to last. */
static clo_status find_item(const clo_i_columns *columns, const char *item, const char *role,
                            size_t *first, size_t *last, clo_error *err)
{
    CLO_TRY(find_name(columns, item, first, err));
    *last = *first;
    if (*first != SIZE_MAX) return CLO_OK;
    size_t from, to;
    if (!read_range(item, &from, &to)) return no_such_column(columns, item, role, err);
    CLO_TRY(check_index(columns, from, role, err));
    CLO_TRY(check_index(columns, to, role, err));
    if (from > to)
        return clo_i_fail(err, CLO_ARGUMENT, "columns %zu-%zu run backwards: write %zu-%zu", from,
                          to, to, from);
    *first = from - 1;
    *last = to - 1;
    return CLO_OK;
}

clo_status clo_i_find_column(const clo_i_columns *columns, const char *text, const char *role,
                             size_t *out, clo_error *err)
{
    size_t first, last;
    CLO_TRY(find_item(columns, text, role, &first, &last, err));
    if (first != last)
        return clo_i_fail(err, CLO_ARGUMENT, "the %s must be one column, not %zu-%zu", role,
                          first + 1, last + 1);
    *out = first;
    return CLO_OK;
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* Copies the item at text, without blanks around it or quotes; where it stops, or NULL. */
static const char *read_item(const char *text, char item[LONGEST_ITEM + 1])
{
    size_t length = 0;
    text += strspn(text, " \t");
    if (*text == '"') {
        for (text++; *text && (*text != '"' || text[1] == '"'); text++) {
            if (*text == '"') text++;
            if (length == LONGEST_ITEM) return NULL;
            item[length++] = *text;
        }
        if (*text++ != '"') return NULL;
        text += strspn(text, " \t");
    } else {
        for (; *text && *text != ','; text++) {
            if (length == LONGEST_ITEM) return NULL;
            item[length++] = *text;
        }
        while (length > 0 && (item[length - 1] == ' ' || item[length - 1] == '\t')) length--;
    }
    item[length] = 0;
    return length > 0 && (*text == 0 || *text == ',') ? text : NULL;
}

static clo_status add_range(uint32_t *chosen, bool *seen, size_t *count, size_t first, size_t last,
                            clo_error *err)
{
    for (size_t j = first; j <= last; j++) {
        if (seen[j]) return clo_i_fail(err, CLO_ARGUMENT, "column %zu is chosen twice", j + 1);
        seen[j] = true;
        chosen[(*count)++] = (uint32_t)j;
    }
    return CLO_OK;
}

static clo_status choose_listed(const clo_i_columns *columns, const char *text, uint32_t *chosen,
                                bool *seen, size_t *count, clo_error *err)
{
    char item[LONGEST_ITEM + 1];
    for (const char *at = text;; at++) {
        size_t first, last;
        at = read_item(at, item);
        if (!at)
            return clo_i_fail(err, CLO_ARGUMENT,
                              "columns must be names, numbers or ranges between commas, such as "
                              "age,4-6; this is not: %.80s",
                              text);
        CLO_TRY(find_item(columns, item, "column", &first, &last, err));
        CLO_TRY(add_range(chosen, seen, count, first, last, err));
        if (*at == 0) return CLO_OK;
    }
}

size_t clo_i_last_column(const char *text)
{
    char item[LONGEST_ITEM + 1];
    size_t last = 0;
    for (const char *at = text;; at++) {
        size_t from, to;
        at = read_item(at, item);
        if (!at || !read_range(item, &from, &to)) return 0;
        last = to > last ? to : last;
        if (*at == 0) return last;
    }
}

clo_status clo_i_choose_columns(const clo_i_columns *columns, const char *text, size_t unit,
                                uint32_t **out, size_t *out_count, clo_error *err)
{
    uint32_t *chosen = NULL;
    bool *seen = NULL;
    size_t count = 0;
    clo_status status = clo_i_alloc(columns->count, sizeof *chosen, &chosen, err);
    if (status != CLO_OK) return status;
    status = clo_i_alloc(columns->count, sizeof *seen, &seen, err);
    if (status != CLO_OK) goto done;
    if (text) {
        status = choose_listed(columns, text, chosen, seen, &count, err);
    } else {
        for (size_t j = 0; j < columns->count; j++)
            if (j != unit) chosen[count++] = (uint32_t)j;
        if (count == 0)
            status =
                clo_i_fail(err, CLO_ARGUMENT, "%s has no column besides the unit", columns->file);
    }
done:
    clo_i_free(seen);
    if (status != CLO_OK) {
        clo_i_free(chosen);
        return status;
    }
    *out = chosen;
    *out_count = count;
    return CLO_OK;
}
