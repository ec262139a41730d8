/*
 * text_columns.c - columns that are not numbers, refused before anything is spent.
 *
 * A record with a missing cell counts for nothing, so that a column of text would leave no record
 * that counts, and a run would spend its budget on noise.  The rule is public and looks at shares,
 * not at single cells: one cell that is no number is a missing cell and ends nothing.  What the
 * refusal tells, and whom, is in SECURITY.md; CLO_TEXT_MISSING does without.
 */
#include "data/formats.h"
#include <stdio.h>
#include <string.h>

enum { SHOWN = 4, LIST_BYTES = 200, MARKS_IN = 100 };

typedef enum trouble { NO_TROUBLE, IS_TEXT, HAS_OTHER_MARK } trouble;

/* More than half of what is said is text; or one in a hundred has the other decimal mark. */
static trouble trouble_of(const clo_table *table, size_t column)
{
    const clo_i_tally *const tally = &table->tallies[column];
    const uint64_t said = table->rows - tally->missing;
    if (tally->other_mark && tally->other_mark >= said / MARKS_IN + (said % MARKS_IN != 0))
        return HAS_OTHER_MARK;
    return tally->text > said - tally->text ? IS_TEXT : NO_TROUBLE;
}

clo_i_column_kind clo_i_table_kind(const clo_table *table, size_t column)
{
    if (!table->tallies) return table->rows ? CLO_KIND_NUMBERS : CLO_KIND_EMPTY;
    if (table->tallies[column].missing == table->rows) return CLO_KIND_EMPTY;
    switch (trouble_of(table, column)) {
    case IS_TEXT:
        return CLO_KIND_TEXT;
    case HAS_OTHER_MARK:
        return CLO_KIND_OTHER_MARK;
    default:
        return CLO_KIND_NUMBERS;
    }
}

uint64_t clo_i_table_empty_cells(const clo_table *table, size_t column)
{
    return table->tallies ? table->tallies[column].missing : 0;
}

/* A name that a list of columns can hold as it is. */
static bool is_plain(const char *name)
{
    return name[0] && name[0] != '-' && !strpbrk(name, ",\"= \t") &&
           !clo_i_is_column_number(name) && strlen(name) < CLO_SHOWN_BYTES;
}

/* How a column is called in a list: by its name, or by its number in the file. */
static void call(const clo_table *table, size_t column, char out[CLO_SHOWN_BYTES])
{
    const char *const name = clo_table_column_name(table, column);
    if (name && is_plain(name))
        clo_i_show_name(name, out);
    else
        snprintf(out, CLO_SHOWN_BYTES, "%u", table->file_columns[column] + 1);
}

/* And for people: by its name, if it has one. */
static void show(const clo_table *table, size_t column, char out[CLO_SHOWN_BYTES])
{
    const char *const name = clo_table_column_name(table, column);
    if (name && name[0])
        clo_i_show_name(name, out);
    else
        call(table, column, out);
}

static clo_status refuse_mark(const clo_table *table, size_t column, clo_error *err)
{
    char shown[CLO_SHOWN_BYTES];
    show(table, column, shown);
    return clo_i_fail(
        err, CLO_FORMAT,
        table->comma
            ? "%s, column '%s': numbers with a decimal point, where a decimal comma was announced"
            : "%s, column '%s': numbers with a decimal comma: say so (decimal ,)",
        table->file, shown);
}

/* The columns of text as people read them, and as a list that leaves them out. */
typedef struct listing {
    size_t count;
    char names[SHOWN * (CLO_SHOWN_BYTES + 8) + 32];
    size_t names_used;
    char out[LIST_BYTES];
    size_t out_used; /* at its size: there was no room for all, and a part would mislead */
} listing;

static void list(const clo_table *table, size_t column, size_t all, listing *l)
{
    char shown[CLO_SHOWN_BYTES];
    const char *const join = l->count == 0 ? "" : l->count + 1 == all ? " and " : ", ";
    show(table, column, shown);
    if (l->count < SHOWN)
        l->names_used += (size_t)snprintf(l->names + l->names_used, sizeof l->names - l->names_used,
                                          "%s'%s'", join, shown);
    call(table, column, shown);
    if (l->out_used + CLO_SHOWN_BYTES + 2 < sizeof l->out)
        l->out_used += (size_t)snprintf(l->out + l->out_used, sizeof l->out - l->out_used, "%s-%s",
                                        l->count ? "," : "", shown);
    else
        l->out_used = sizeof l->out;
    l->count++;
}

clo_status clo_i_table_refuse_text(const clo_table *table, const bool *columns,
                                   const char *needed_by, clo_error *err)
{
    listing l = { 0 };
    size_t all = 0;
    for (size_t j = 0; table->tallies && j < table->cols; j++) {
        const trouble found = !columns || columns[j] ? trouble_of(table, j) : NO_TROUBLE;
        if (found == HAS_OTHER_MARK) return refuse_mark(table, j, err);
        all += found == IS_TEXT;
    }
    if (all == 0) return CLO_OK;
    for (size_t j = 0; l.count < all; j++)
        if ((!columns || columns[j]) && trouble_of(table, j) == IS_TEXT) list(table, j, all, &l);
    if (all > SHOWN)
        snprintf(l.names + l.names_used, sizeof l.names - l.names_used, " and %zu more",
                 all - SHOWN);
    if (needed_by)
        return clo_i_fail(err, CLO_FORMAT,
                          "%s: column%s %s %s text, and the %s needs numbers there", table->file,
                          all > 1 ? "s" : "", l.names, all > 1 ? "are" : "is", needed_by);
    if (l.out_used >= sizeof l.out)
        return clo_i_fail(err, CLO_FORMAT,
                          "%s: columns %s are text: choose those that are numbers (columns)",
                          table->file, l.names);
    return clo_i_fail(err, CLO_FORMAT,
                      "%s: column%s %s %s text: choose the columns, or leave %s out (columns %s)",
                      table->file, all > 1 ? "s" : "", l.names, all > 1 ? "are" : "is",
                      all > 1 ? "them" : "it", l.out);
}
