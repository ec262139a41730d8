/*
 * columns.c - which columns a list such as "age,income", "2-7", "1,4-6" or "-id,-4-6" means.
 *
 * An item between commas is looked up as a name first, then as a number, then as a range of
 * numbers: a header that calls a column "2" or "4-6" means that column.  A minus before an item
 * that is not a name with it leaves those columns out: of the others in the list, or, where it has
 * no others, of all.  A name that holds a comma is put in double quotes.
 */
#include "data/formats.h"
#include <math.h>
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
        return clo_i_fail(err, CLO_ARGUMENT,
                          "columns %zu-%zu are in the wrong order: write "
                          "%zu-%zu",
                          from, to, to, from);
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

/* Columns that a list has named so far. */
typedef struct choice {
    uint32_t *chosen; /* in the order of the list */
    size_t count;
    bool *seen, *left_out;
} choice;

static clo_status add_range(choice *c, size_t first, size_t last, clo_error *err)
{
    for (size_t j = first; j <= last; j++) {
        if (c->seen[j]) return clo_i_fail(err, CLO_ARGUMENT, "column %zu is chosen twice", j + 1);
        c->seen[j] = true;
        c->chosen[c->count++] = (uint32_t)j;
    }
    return CLO_OK;
}

static void leave_out(choice *c, size_t first, size_t last)
{
    for (size_t j = first; j <= last; j++) c->left_out[j] = true;
}

/* "-id", where no column has that name. */
static clo_status is_exclusion(const clo_i_columns *columns, const char *item, bool *out,
                               clo_error *err)
{
    size_t named = SIZE_MAX;
    if (item[0] == '-') CLO_TRY(find_name(columns, item, &named, err));
    *out = item[0] == '-' && item[1] && named == SIZE_MAX;
    return CLO_OK;
}

static clo_status read_list(const clo_i_columns *columns, const char *text, choice *c,
                            clo_error *err)
{
    char item[LONGEST_ITEM + 1];
    for (const char *at = text;; at++) {
        size_t first, last;
        bool out;
        at = read_item(at, item);
        if (!at)
            return clo_i_fail(err, CLO_ARGUMENT,
                              "columns must be names, numbers or ranges between commas, such as "
                              "age,4-6 or -id; this is not: %.80s",
                              text);
        CLO_TRY(is_exclusion(columns, item, &out, err));
        CLO_TRY(find_item(columns, item + out, "column", &first, &last, err));
        if (out)
            leave_out(c, first, last);
        else
            CLO_TRY(add_range(c, first, last, err));
        if (*at == 0) return CLO_OK;
    }
}

/* Without any that the list names, all but the unit; then less those that are left out. */
static clo_status settle(const clo_i_columns *columns, size_t unit, choice *c, clo_error *err)
{
    size_t kept = 0;
    for (size_t j = 0; c->count == 0 && j < columns->count; j++) c->seen[j] = j != unit;
    for (size_t j = 0, count = c->count; count == 0 && j < columns->count; j++)
        if (c->seen[j]) c->chosen[c->count++] = (uint32_t)j;
    if (c->count == 0)
        return clo_i_fail(err, CLO_ARGUMENT, "%s has no column besides that of the persons",
                          columns->file);
    for (size_t i = 0; i < c->count; i++)
        if (!c->left_out[c->chosen[i]]) c->chosen[kept++] = c->chosen[i];
    c->count = kept;
    if (kept) return CLO_OK;
    return clo_i_fail(err, CLO_ARGUMENT, "every column of %s is left out", columns->file);
}

size_t clo_i_last_column(const char *text)
{
    char item[LONGEST_ITEM + 1];
    size_t last = 0;
    for (const char *at = text;; at++) {
        size_t from, to;
        at = read_item(at, item);
        if (!at || !read_range(item, &from, &to)) return 0; /* a name, or columns left out */
        last = to > last ? to : last;
        if (*at == 0) return last;
    }
}

clo_status clo_i_choose_columns(const clo_i_columns *columns, const char *text, size_t unit,
                                uint32_t **out, size_t *out_count, clo_error *err)
{
    choice c = { 0 };
    clo_status status = clo_i_alloc(columns->count, sizeof *c.chosen, &c.chosen, err);
    if (!status) status = clo_i_alloc(2 * columns->count, sizeof *c.seen, &c.seen, err);
    if (!status) {
        c.left_out = c.seen + columns->count;
        if (text) status = read_list(columns, text, &c, err);
    }
    if (!status) status = settle(columns, unit, &c, err);
    clo_i_free(c.seen);
    if (status != CLO_OK) {
        clo_i_free(c.chosen);
        return status;
    }
    *out = c.chosen;
    *out_count = c.count;
    return CLO_OK;
}

/* ---- a public value a column ----------------------------------------------------------------- */

static clo_status bad_fill(const char *text, clo_error *err)
{
    return clo_i_fail(err, CLO_ARGUMENT,
                      "fill must be a number, or column=number between commas, such as "
                      "age=40,income=0; this is not: %.80s",
                      text);
}

static bool read_value(const char *text, double *out)
{
    const char *const end = clo_i_parse_double(text, out);
    return end && !*end && isfinite(*out);
}

static clo_status fill_item(const clo_i_columns *columns, const uint32_t *chosen, size_t count,
                            const char *text, char *item, double *fill, clo_error *err)
{
    char *const equals = strrchr(item, '=');
    size_t column, j = 0;
    double value;
    if (!equals || !read_value(equals + 1, &value)) return bad_fill(text, err);
    *equals = 0;
    CLO_TRY(clo_i_find_column(columns, item, "column", &column, err));
    while (j < count && (chosen ? chosen[j] : j) != column) j++;
    if (j == count)
        return clo_i_fail(err, CLO_ARGUMENT, "fill names column %zu, which the run does not use",
                          column + 1);
    fill[j] = value;
    return CLO_OK;
}

clo_status clo_i_read_fill(const clo_i_columns *columns, const uint32_t *chosen, size_t count,
                           const char *text, double **out, clo_error *err)
{
    char item[LONGEST_ITEM + 1];
    double *fill = NULL, all;
    CLO_TRY(clo_i_alloc(count, sizeof *fill, &fill, err));
    const bool one = read_value(text, &all);
    for (size_t j = 0; j < count; j++) fill[j] = one ? all : NAN;
    clo_status status = CLO_OK;
    for (const char *at = text; !one && !status; at++) {
        at = read_item(at, item);
        status =
            at ? fill_item(columns, chosen, count, text, item, fill, err) : bad_fill(text, err);
        if (!at || *at == 0) break;
    }
    if (status)
        clo_i_free(fill);
    else
        *out = fill;
    return status;
}
