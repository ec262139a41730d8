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

static clo_status refuse_mark(const clo_table *table, const char *file, size_t column, bool comma,
                              clo_error *err)
{
    char shown[CLO_SHOWN_BYTES];
    show(table, column, shown);
    return clo_i_fail(err, CLO_FORMAT,
                      comma ? "%s, column '%s': numbers with a decimal point, "
                              "where --decimal , says comma: leave it out"
                            : "%s, column '%s': numbers with a decimal comma: say "
                              "so with --decimal ,",
                      file, shown);
}

clo_status clo_i_refuse_text(const clo_table *table, const char *file, bool comma, clo_error *err)
{
    char shown[CLO_SHOWN_BYTES], names[SHOWN * (CLO_SHOWN_BYTES + 4) + 32] = "",
                                                                       out[LIST_BYTES] = "";
    size_t count = 0, all = 0, named = 0, used = 0;
    for (size_t j = 0; table->tallies && j < table->cols; j++) {
        const trouble found = trouble_of(table, j);
        if (found == HAS_OTHER_MARK) return refuse_mark(table, file, j, comma, err);
        all += found == IS_TEXT;
    }
    for (size_t j = 0; count < all; j++) {
        if (trouble_of(table, j) != IS_TEXT) continue;
        show(table, j, shown);
        if (count < SHOWN)
            named += (size_t)snprintf(names + named, sizeof names - named, "%s'%s'",
                                      count == 0         ? ""
                                      : count + 1 == all ? " and "
                                                         : ", ",
                                      shown);
        call(table, j, shown);
        if (used + CLO_SHOWN_BYTES + 2 < sizeof out)
            used +=
                (size_t)snprintf(out + used, sizeof out - used, "%s-%s", count ? "," : "", shown);
        else
            used = sizeof out; /* no list is better than a part of one */
        count++;
    }
    if (all == 0) return CLO_OK;
    if (all > SHOWN) snprintf(names + named, sizeof names - named, " and %zu more", all - SHOWN);
    if (used >= sizeof out)
        return clo_i_fail(err, CLO_FORMAT,
                          "%s: columns %s are text: choose those that are numbers with --columns",
                          file, names);
    return clo_i_fail(err, CLO_FORMAT,
                      "%s: column%s %s %s text: choose columns with --columns, or leave %s out "
                      "with --columns %s",
                      file, all > 1 ? "s" : "", names, all > 1 ? "are" : "is",
                      all > 1 ? "them" : "it", out);
}
