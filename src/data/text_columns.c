/*
 * text_columns.c - columns that are not numbers, refused before anything is spent.
 *
 * A record with a missing cell counts for nothing, so that a column of text would leave no record
 * that counts, and a run would spend its budget on noise.  The rule is public and looks at shares,
 * not at single cells: one cell that is no number is a missing cell and ends nothing.  Numbers that
 * are written for people ("1,234", "12 %") are few where most are small, so that one in a hundred
 * is enough to say what they are.  What the refusal tells, and whom, is in SECURITY.md;
 * CLO_TEXT_MISSING does without.
 */
#include "data/formats.h"
#include <stdio.h>
#include <string.h>

enum { SHOWN = 4, LIST_BYTES = 200, DRESSED_IN = 100 };

typedef enum trouble { NO_TROUBLE, IS_TEXT, IS_DRESSED, IS_EMPTY } trouble;

void clo_i_tally_add(clo_i_tally *to, const clo_i_tally *from, size_t columns)
{
    for (size_t j = 0; j < columns; j++) {
        to[j].missing += from[j].missing;
        to[j].text += from[j].text;
        for (size_t i = 0; i < CLO_DRESSES; i++) to[j].dressed[i] += from[j].dressed[i];
    }
}

/* How the column's numbers are dressed: what most of them are, but that "1,234" is what the others
 * of the column say it is. */
static clo_i_dress dress_of(const clo_i_tally *tally)
{
    clo_i_dress best = CLO_DRESS_OTHER_MARK;
    if (tally->dressed[CLO_DRESS_THOUSANDS] > tally->dressed[best]) best = CLO_DRESS_THOUSANDS;
    if (tally->dressed[CLO_DRESS_SIGN] > tally->dressed[best]) best = CLO_DRESS_SIGN;
    return tally->dressed[best] ? best : CLO_DRESS_EITHER;
}

/* One in a hundred is a number for people alone; more than half of what is said is text; or nothing
 * is said, and no record would count. */
static trouble trouble_of(const clo_table *table, size_t column)
{
    const clo_i_tally *const tally = &table->tallies[column];
    const uint64_t said = table->rows - tally->missing;
    uint64_t dressed = 0;
    for (size_t i = CLO_DRESS_NONE + 1; i < CLO_DRESSES; i++) dressed += tally->dressed[i];
    if (dressed && dressed >= said / DRESSED_IN + (said % DRESSED_IN != 0)) return IS_DRESSED;
    if (said == 0 && table->rows && table->missing != CLO_MISSING_FILL) return IS_EMPTY;
    return tally->text > said - tally->text ? IS_TEXT : NO_TROUBLE;
}

static clo_i_column_kind dressed_kind(const clo_i_tally *tally)
{
    switch (dress_of(tally)) {
    case CLO_DRESS_OTHER_MARK:
        return CLO_KIND_OTHER_MARK;
    case CLO_DRESS_SIGN:
        return CLO_KIND_SIGNS;
    default:
        return CLO_KIND_THOUSANDS;
    }
}

clo_i_column_kind clo_i_table_kind(const clo_table *table, size_t column)
{
    if (!table->tallies) return table->rows ? CLO_KIND_NUMBERS : CLO_KIND_EMPTY;
    if (table->tallies[column].missing == table->rows) return CLO_KIND_EMPTY;
    switch (trouble_of(table, column)) {
    case IS_TEXT:
        return CLO_KIND_TEXT;
    case IS_DRESSED:
        return dressed_kind(&table->tallies[column]);
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

/* What is wrong with numbers of that dress, and what to do.  The digits of no cell are in it. */
static const char *dressed_words(const clo_table *table, clo_i_dress dress)
{
    const bool between = table->delimiter == ',';
    switch (dress) {
    case CLO_DRESS_OTHER_MARK:
        return table->comma ? "numbers with a decimal point, but you stated a decimal comma: "
                              "leave that out"
               : between ? "numbers with a decimal comma, in a file with commas between its cells: "
                           "save it with semicolons between them, or with a decimal point"
                         : "numbers with a decimal comma: state it (decimal ,)";
    case CLO_DRESS_THOUSANDS:
        return "numbers with separated thousands: save them without the separators";
    case CLO_DRESS_SIGN:
        return "numbers with a sign of percent or currency, a long minus or brackets: save plain "
               "numbers, such as -5";
    default:
        return table->comma ? "a point before three digits, which may separate thousands: save "
                              "the numbers without it"
               : between    ? "a comma before three digits, which may separate thousands: save the "
                              "numbers without it"
                            : "a comma before three digits, which may separate thousands or be a "
                              "decimal mark: save the numbers without it, or state that it is one "
                              "(decimal ,)";
    }
}

static clo_status refuse_dressed(const clo_table *table, size_t column, clo_error *err)
{
    char shown[CLO_SHOWN_BYTES];
    show(table, column, shown);
    const clo_i_dress dress = dress_of(&table->tallies[column]);
    (void)clo_i_fail(err, CLO_FORMAT, "%s, column '%s': %s", table->file, shown,
                     dressed_words(table, dress));
    const bool comma = dress == CLO_DRESS_OTHER_MARK || dress == CLO_DRESS_EITHER;
    return clo_i_advise(err, CLO_FORMAT, "%s",
                        comma && !table->comma && table->delimiter != ',' ? "decimal ," : "");
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

/* Columns of text, or empty ones: `all` of them. */
static clo_status refuse_columns(const clo_table *table, const bool *columns, const char *needed_by,
                                 trouble what, size_t all, clo_error *err)
{
    const char *const word = what == IS_TEXT ? "text" : "empty or not finite in every row";
    listing l = { 0 };
    size_t asked = 0;
    for (size_t j = 0; j < table->cols; j++) {
        if (columns && !columns[j]) continue;
        asked++;
        if (trouble_of(table, j) == what) list(table, j, all, &l);
    }
    if (all > SHOWN)
        snprintf(l.names + l.names_used, sizeof l.names - l.names_used, " and %zu more",
                 all - SHOWN);
    if (needed_by)
        return clo_i_fail(err, CLO_FORMAT, "%s: column%s %s %s %s, but the %s needs numbers there",
                          table->file, all > 1 ? "s" : "", l.names, all > 1 ? "are" : "is", word,
                          needed_by);
    if (all == asked)
        return clo_i_fail(err, CLO_FORMAT,
                          "%s: column%s %s %s %s, and there is no other column: a run needs "
                          "columns of numbers",
                          table->file, all > 1 ? "s" : "", l.names, all > 1 ? "are" : "is", word);
    if (l.out_used >= sizeof l.out)
        return clo_i_fail(err, CLO_FORMAT,
                          "%s: columns %s are %s: choose the columns of numbers (columns)",
                          table->file, l.names, word);
    (void)clo_i_fail(err, CLO_FORMAT, "%s: column%s %s %s %s: leave %s out (columns %s)",
                     table->file, all > 1 ? "s" : "", l.names, all > 1 ? "are" : "is", word,
                     all > 1 ? "them" : "it", l.out);
    return clo_i_advise(err, CLO_FORMAT, "columns %s", l.out);
}

clo_status clo_i_table_refuse_gaps(const clo_table *table, uint64_t rows_with_gaps, clo_error *err)
{
    if (table->missing == CLO_MISSING_FILL || !clo_gaps_hide_all(table->rows, rows_with_gaps))
        return CLO_OK;
    (void)clo_i_fail(err, CLO_FORMAT,
                     "%s: more than nine in ten rows have a missing cell and would be ignored: "
                     "leave out the columns with missing cells (columns), or fill them (missing "
                     "fill)",
                     table->file);
    return clo_i_advise(err, CLO_FORMAT, "missing fill");
}

/* Under a schema it is not the column that is wrong, but what is stated of it. */
static clo_status refuse_misfit(const clo_table *table, size_t column, clo_error *err)
{
    char shown[CLO_SHOWN_BYTES];
    show(table, column, shown);
    return clo_i_fail(err, CLO_FORMAT,
                      "%s: more than half of the cells of '%s' do not fit the schema: check the "
                      "schema (cloister schema check), or leave the column out",
                      table->file, shown);
}

clo_status clo_i_table_refuse_text(const clo_table *table, const bool *columns,
                                   const char *needed_by, clo_error *err)
{
    size_t text = 0, empty = 0;
    for (size_t j = 0; table->tallies && j < table->cols; j++) {
        const trouble found = !columns || columns[j] ? trouble_of(table, j) : NO_TROUBLE;
        if (found == IS_DRESSED) return refuse_dressed(table, j, err);
        if (found == IS_TEXT && table->schema) return refuse_misfit(table, j, err);
        text += found == IS_TEXT;
        empty += found == IS_EMPTY;
    }
    if (text) return refuse_columns(table, columns, needed_by, IS_TEXT, text, err);
    if (needed_by) return CLO_OK; /* nothing is spent there */
    if (empty) return refuse_columns(table, columns, NULL, IS_EMPTY, empty, err);
    return columns ? CLO_OK : clo_i_table_refuse_gaps(table, table->bad_rows, err);
}
