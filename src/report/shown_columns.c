/* shown_columns.c - which columns are shown of many, and what they are called. */
#include "report/charts.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 1024 }; /* of a name: beyond, the rest is in no chart */

void clo_i_column_text(const clo_release *release, size_t column, char *text, size_t size)
{
    const char *const name = clo_release_column_name(release, column);
    if (name && name[0])
        clo_i_harmless(name, text, size);
    else
        snprintf(text, size, "column %zu", column + 1);
}

clo_status clo_i_column_named(const clo_release *release, const char *name, size_t *column,
                              clo_error *err)
{
    const size_t cols = release->facts.cols;
    for (size_t j = 0; release->facts.column_names && j < cols; j++)
        if (strcmp(release->facts.column_names[j], name) == 0) {
            *column = j;
            return CLO_OK;
        }
    char *end;
    const unsigned long number = strtoul(name, &end, 10);
    if (end != name && !*end && number >= 1 && number <= cols) {
        *column = number - 1;
        return CLO_OK;
    }
    return clo_i_fail(err, CLO_ARGUMENT, "the release has no column '%.100s'", name);
}

/* ---- of many, some --------------------------------------------------------------------------- */

typedef struct scored {
    double score;
    size_t column;
} scored;

/* The largest first, and of equals the first. */
static int by_score(const void *a, const void *b)
{
    const scored *const x = a, *const y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return x->column < y->column ? -1 : x->column > y->column;
}

/* Shares of levels have a chart of their own. */
static bool is_number(const clo_release *release, size_t column)
{
    const clo_schema *const schema = release->facts.schema;
    return !schema || clo_i_schema_of_output(schema, column, NULL)->kind != CLO_FIELD_LEVELS;
}

size_t clo_i_number_columns(const clo_release *release)
{
    size_t count = 0;
    for (size_t j = 0; j < release->facts.cols; j++) count += is_number(release, j);
    return count;
}

static clo_status choose_columns(const clo_release *release, const double *score, clo_shown *out,
                                 clo_error *err)
{
    const size_t cols = release->facts.cols;
    scored *all = NULL;
    if (out->count == clo_i_number_columns(release)) {
        for (size_t j = 0, at = 0; j < cols; j++)
            if (is_number(release, j)) out->columns[at++] = j;
        return CLO_OK;
    }
    CLO_TRY(clo_i_alloc(cols, sizeof *all, &all, err));
    for (size_t j = 0; j < cols; j++)
        all[j] = (scored){ !is_number(release, j) ? -2 : isfinite(score[j]) ? score[j] : -1, j };
    qsort(all, cols, sizeof *all, by_score);
    for (size_t j = 0; j < out->count; j++) out->columns[j] = all[j].column;
    clo_i_free(all);
    return CLO_OK;
}

clo_status clo_i_shown_new(const clo_release *release, const double *score, size_t most,
                           clo_shown *out, clo_error *err)
{
    const size_t cols = clo_i_number_columns(release);
    clo_shown s = { .count = cols < most ? cols : most };
    clo_status status;
    if ((status = clo_i_alloc(s.count, sizeof *s.columns, &s.columns, err)) ||
        (status = clo_i_alloc(s.count, sizeof *s.names, &s.names, err)) ||
        (status = clo_i_alloc(s.count, NAME_BYTES, &s.bytes, err)) ||
        (status = choose_columns(release, score, &s, err))) {
        clo_i_shown_free(&s);
        return status;
    }
    for (size_t j = 0; j < s.count; j++) {
        clo_i_column_text(release, s.columns[j], s.bytes + j * NAME_BYTES, NAME_BYTES);
        s.names[j] = s.bytes + j * NAME_BYTES;
    }
    *out = s;
    return CLO_OK;
}

void clo_i_shown_free(clo_shown *s)
{
    clo_i_free(s->columns);
    clo_i_free(s->names);
    clo_i_free(s->bytes);
}
