/* inspect_hints.c - what somebody does next with a file that was just looked at.  It follows from
 * names and kinds of columns and from gaps alone: no number of a cell is looked at. */
#include "cli.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_NAMED = 4, NAME_BYTES = 48, LIST_BYTES = 512 };

/* "customer_id", "rowId", "ID": a number that names something and measures nothing. */
static bool sounds_like_id(const char *name)
{
    static const char *const words[] = {
        "id",     "ids",        "uid",     "uuid",       "guid",       "key",
        "index",  "idx",        "row",     "rowid",      "row#",       "rownames",
        "rownum", "unnamed: 0", "serial",  "zip",        "zipcode",    "postcode",
        "phone",  "ssn",        "pid",     "pidnum",     "identifier", "individual",
        "person", "patient",    "subject", "respondent", "customer"
    };
    const size_t length = strlen(name);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(name, words[i]) == 0) return true;
    if (length < 3 || strcasecmp(name + length - 2, "id") != 0) return false;
    const unsigned char before = (unsigned char)name[length - 3];
    return strchr("_-. ", before) || (islower(before) && isupper((unsigned char)name[length - 2]));
}

/* A name that a list of columns takes as it is; others are called by their number. */
static bool is_plain(const char *name)
{
    if (!name || !isalpha((unsigned char)name[0]) || strlen(name) >= NAME_BYTES) return false;
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && *name != '_' && *name != '.') return false;
    return true;
}

static void call(const clo_inspection *found, size_t j, char out[NAME_BYTES])
{
    const char *const name = cli_column_at(found, j).name;
    if (is_plain(name))
        snprintf(out, NAME_BYTES, "%s", name);
    else
        snprintf(out, NAME_BYTES, "%zu", j + 1);
}

typedef struct hints {
    const cli_args *args;
    const clo_inspection *found;
    bool begun;
    char columns[2 * LIST_BYTES]; /* what --columns would be, with what was said so far */
} hints;

static void say(hints *h, const char *text)
{
    if (!h->begun) puts("\nWhat next:");
    h->begun = true;
    fputs("- ", stdout);
    cli_wrap(stdout, 2, 2, text);
}

/* The columns that were chosen so far, without these. */
static void leave_out(const hints *h, const char *more, char *out, size_t size)
{
    snprintf(out, size, "--columns %s%s%s", h->columns, h->columns[0] ? "," : "", more);
}

/* An option to copy: on a line of its own where it would be broken. */
static void say_option(hints *h, const char *words, const char *option)
{
    char text[LIST_BYTES];
    const bool fits = 3 + strlen(words) + strlen(option) <= (size_t)cli_width(stdout);
    snprintf(text, sizeof text, "%s%s%s", words, fits ? " " : "", fits ? option : "");
    say(h, text);
    if (!fits) printf("  %s\n", option);
}

static void add_item(char *list, size_t size, const char *join, const char *before,
                     const char *item, const char *behind)
{
    const size_t used = strlen(list);
    snprintf(list + used, size - used, "%s%s%s%s", used ? join : "", before, item, behind);
}

static void hint_ids(hints *h)
{
    const clo_inspection *const found = h->found;
    char names[LIST_BYTES] = "", list[LIST_BYTES] = "", name[NAME_BYTES], option[4 * LIST_BYTES],
         text[6 * LIST_BYTES];
    size_t count = 0;
    for (size_t j = 0; j < clo_inspection_cols(found) && count < MOST_NAMED; j++) {
        const clo_column column = cli_column_at(found, j);
        if (!column.taken || column.kind != CLO_COLUMN_NUMBERS || !column.name) continue;
        if (column.name[0] && !sounds_like_id(column.name)) continue;
        call(found, j, name);
        count++;
        add_item(names, sizeof names, ", ", column.name[0] ? "'" : "column ", name,
                 column.name[0] ? "'" : " (without a name)");
        add_item(list, sizeof list, ",", "-", name, "");
    }
    if (!count) return;
    leave_out(h, list, option, sizeof option);
    snprintf(text, sizeof text,
             "By the name, %s %s.  Leave %s out: %s.  If a column names the person of a row, pass "
             "it to --unit.",
             names, count > 1 ? "hold row numbers or names" : "holds row numbers or names",
             count > 1 ? "them" : "it", option);
    say(h, text);
}

static void hint_doubles(hints *h)
{
    const clo_inspection *const found = h->found;
    for (size_t j = 1; j < clo_inspection_cols(found); j++) {
        const char *const name = cli_column_at(found, j).name;
        for (size_t i = 0; name && name[0] && i < j; i++) {
            if (strcmp(cli_column_at(found, i).name, name) != 0) continue;
            say(h, "Some columns have the same name: choose columns by their numbers, and give "
                   "their bounds in order, without names.");
            return;
        }
    }
}

static void hint_gaps(hints *h)
{
    const char *const rule = cli_value(h->args, "missing");
    if (!clo_inspection_null_rows(h->found) || (rule && strcmp(rule, "null") != 0)) return;
    say(h, "Rows with a missing cell count for nothing.  To keep them, leave out the columns with "
           "the missing cells, or fill these cells with a public value: --missing fill --fill "
           "COLUMN=VALUE.");
}

/* Columns that are used and say nothing in most rows. */
static bool hint_sparse_columns(hints *h)
{
    const uint64_t rows = clo_inspection_rows(h->found);
    char list[LIST_BYTES] = "", name[NAME_BYTES], option[4 * LIST_BYTES];
    for (size_t j = 0; j < clo_inspection_cols(h->found); j++) {
        const clo_column column = cli_column_at(h->found, j);
        if (!column.taken || column.missing <= rows / 2) continue;
        call(h->found, j, name);
        add_item(list, sizeof list, ",", "-", name, "");
    }
    if (!list[0]) return false;
    leave_out(h, list, option, sizeof option);
    say_option(h, "Look again without the columns that are missing in most rows:", option);
    return true;
}

static void hint_refusal(hints *h)
{
    char option[2 * LIST_BYTES];
    cli_advised_option(h->args, clo_inspection_advice(h->found), option, sizeof option);
    if (!option[0] || (strncmp(option, "--missing ", 10) == 0 && hint_sparse_columns(h))) return;
    say_option(h, "Look again with:", option);
    if (strncmp(option, "--columns ", 10) == 0)
        snprintf(h->columns, sizeof h->columns, "%s", option + 10);
}

/* Text need not be left out. */
static void hint_schema(hints *h)
{
    char option[LIST_BYTES];
    bool text = false;
    for (size_t j = 0; j < clo_inspection_cols(h->found); j++) {
        const clo_column column = cli_column_at(h->found, j);
        text = text || (column.taken && column.kind == CLO_COLUMN_TEXT);
    }
    const char *const format = clo_inspection_format(h->found);
    if (!text || strcmp(format, "csv") != 0 || !clo_inspection_has_header(h->found)) return;
    snprintf(option, sizeof option, "cloister schema draft %s", cli_word(h->args, 0));
    say_option(h, "To use categories and dates, state them in a schema:", option);
}

static void hint_next(hints *h)
{
    if (clo_inspection_rows(h->found) == 0) return;
    say(h, "Write a file of bounds, from general knowledge and never from this file: a line "
           "name,lower,upper per column, such as 'age,0,120'.  'cloister plan' then shows the "
           "cost and the expected error of a run.");
}

void cli_inspect_hints(const cli_args *args, const clo_inspection *found)
{
    const char *const refusal = clo_inspection_refusal(found);
    const char *const chosen = cli_value(args, "columns");
    hints h = { .args = args, .found = found };
    snprintf(h.columns, sizeof h.columns, "%s", chosen ? chosen : "");
    if (refusal) hint_refusal(&h);
    if (refusal) hint_schema(&h);
    hint_ids(&h);
    hint_doubles(&h);
    if (refusal) return;
    hint_gaps(&h);
    hint_next(&h);
}
