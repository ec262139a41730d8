/* text_report.c - a release for a person who reads it in a terminal. */
#include "report/report.h"
#include <cloister/output.h>
#include <math.h>
#include <string.h>

enum { SHOWN_ROWS = 24, SHOWN_COLUMNS = 8, SHOWN_ENTRIES = 5, LINE = 78 };

/* Breaks a paragraph at blanks, indented by two. */
static void write_wrapped(clo_writer *w, const char *text)
{
    size_t column = 0;
    while (*text) {
        const size_t word = strcspn(text, " ");
        if (column && column + 1 + word > LINE - 2) {
            clo_writer_text(w, "\n");
            column = 0;
        }
        clo_writer_text(w, column ? " " : "  ");
        clo_i_writer_format(w, "%.*s", (int)word, text);
        column += word + (column ? 1 : 0);
        text += word;
        text += strspn(text, " ");
    }
    clo_writer_text(w, "\n");
}

static void write_privacy(clo_writer *w, const clo_facts *facts)
{
    char epsilon[32], delta[32];
    clo_number_text(facts->loss.epsilon, epsilon);
    clo_number_text(facts->loss.delta, delta);
    clo_i_writer_format(w, "privacy    epsilon %s, delta %s, %s one %s\n", epsilon, delta,
                        facts->relation == CLO_REPLACE ? "replace" : "add or remove",
                        facts->unit ? facts->unit : "record");
    clo_i_writer_format(w, "cost       %g of epsilon by %s accounting; %s\n",
                        facts->price.loss.epsilon, facts->accounting,
                        !facts->metered  ? "not metered"
                        : !facts->capped ? "metered, no cap set"
                                         : "metered against a cap");
    clo_i_writer_format(w, "guarantee  %s; %s\n", facts->guarantee, facts->sampler);
    if (facts->seen_cols)
        clo_i_writer_format(w,
                            "projected  on the %zu directions of the release %.16s, whose loss is "
                            "its own\n",
                            facts->seen_cols, facts->seen_in);
    if (facts->seen_guarantee)
        clo_i_writer_format(w, "together   with that release, which is %s: %s\n",
                            facts->seen_guarantee,
                            clo_guarantee_name(clo_i_facts_guarantee_together(facts)));
    clo_writer_text(w, "\n");
    write_wrapped(w, facts->statement);
}

/* Whether the last dimension of this array runs over the columns of the data. */
static bool runs_over_columns(const char *name)
{
    static const char *const names[] = { "centers", "center", "offsets", "lower", "upper" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

static void write_header(clo_writer *w, const clo_facts *facts, const clo_array *array, size_t cols)
{
    const bool named = facts->column_names && facts->cols == cols && runs_over_columns(array->name);
    clo_writer_text(w, "      ");
    for (size_t j = 0; j < cols && j < SHOWN_COLUMNS; j++) {
        if (named)
            clo_i_writer_format(w, " %12.12s", facts->column_names[j]);
        else
            clo_i_writer_format(w, " %12zu", j + 1);
    }
    clo_writer_text(w, cols > SHOWN_COLUMNS ? " …\n" : "\n");
}

/* Of an array of three dimensions the rows are those of one slice, a column of the data each. */
static void write_rows(clo_writer *w, const clo_facts *facts, const clo_array *array, size_t slice,
                       size_t rows, size_t cols)
{
    const double *const data = array->data + slice * rows * cols;
    const bool named = array->dimensions > 2 && facts->column_names && facts->cols == rows;
    for (size_t i = 0; i < rows && i < SHOWN_ROWS; i++) {
        if (named)
            clo_i_writer_format(w, "%6.6s", facts->column_names[i]);
        else
            clo_i_writer_format(w, "%6zu", i + 1);
        for (size_t j = 0; j < cols && j < SHOWN_COLUMNS; j++)
            clo_i_writer_format(w, " %12.6g", data[i * cols + j]);
        clo_writer_text(w, cols > SHOWN_COLUMNS ? " …\n" : "\n");
    }
    if (rows > SHOWN_ROWS) clo_i_writer_format(w, "     … and %zu rows more\n", rows - SHOWN_ROWS);
}

static void write_array(clo_writer *w, const clo_facts *facts, const clo_array *array)
{
    const size_t cols = array->shape[array->dimensions - 1];
    const size_t rows = array->dimensions > 1 ? array->shape[array->dimensions - 2] : 1;
    const size_t slices = array->dimensions > 2 ? array->shape[0] : 1;
    clo_i_writer_format(w, "\n%s (", array->name);
    for (size_t i = 0; i < array->dimensions; i++)
        clo_i_writer_format(w, "%s%zu", i ? " x " : "", array->shape[i]);
    clo_writer_text(w, ")\n");
    for (size_t s = 0; s < slices && s < SHOWN_ROWS; s++) {
        if (slices > 1) clo_i_writer_format(w, "  of %zu\n", s + 1);
        write_header(w, facts, array, cols);
        write_rows(w, facts, array, s, rows, cols);
    }
    if (slices > SHOWN_ROWS) clo_i_writer_format(w, "     … and %zu more\n", slices - SHOWN_ROWS);
}

/* ---- centres that are lists of entries ---------------------------------------------------- */

typedef struct lists {
    clo_array starts, columns, values;
} lists;

static bool find_lists(const clo_release *release, lists *l)
{
    return clo_release_find(release, "centers_starts", &l->starts) &&
           clo_release_find(release, "centers_columns", &l->columns) &&
           clo_release_find(release, "centers_values", &l->values) && l->starts.dimensions == 1 &&
           l->columns.dimensions == 1 && l->values.dimensions == 1 &&
           l->columns.shape[0] == l->values.shape[0];
}

/* Of the entries first ... end - 1 the largest that comes after `last` in the order of magnitude;
 * end where there is none. */
static size_t next_largest(const double *values, size_t first, size_t end, size_t last)
{
    size_t best = end;
    for (size_t e = first; e < end; e++) {
        const bool after = last == end || fabs(values[e]) < fabs(values[last]) ||
                           (fabs(values[e]) == fabs(values[last]) && e > last);
        if (after && (best == end || fabs(values[e]) > fabs(values[best]))) best = e;
    }
    return best;
}

/* A centre a line: its largest entries, column and value, columns counted from 1. */
static void write_lists(clo_writer *w, const lists *l)
{
    const size_t k = l->starts.shape[0] - 1, all = l->values.shape[0];
    clo_i_writer_format(w, "\ncenters (%zu, by their largest entries, of %zu in all)\n", k, all);
    for (size_t c = 0; c < k && c < SHOWN_ROWS; c++) {
        const double from = l->starts.data[c], to = l->starts.data[c + 1];
        const bool fits =
            from >= 0 && from <= to && to <= (double)all; /* files come from anywhere */
        const size_t first = fits ? (size_t)from : 0, end = fits ? (size_t)to : 0;
        size_t shown = 0, at = end;
        clo_i_writer_format(w, "%6zu", c + 1);
        while (shown < SHOWN_ENTRIES && (at = next_largest(l->values.data, first, end, at)) < end) {
            clo_i_writer_format(w, "  %.0f:%.4g", l->columns.data[at] + 1, l->values.data[at]);
            shown++;
        }
        clo_writer_text(w, end - first > shown ? " …\n" : "\n");
    }
    if (k > SHOWN_ROWS) clo_i_writer_format(w, "     … and %zu rows more\n", k - SHOWN_ROWS);
}

static bool is_list(const char *name)
{
    return strncmp(name, "centers_", 8) == 0;
}

void clo_i_report_text(const clo_release *release, clo_writer *w)
{
    const clo_facts *const facts = &release->facts;
    lists l;
    clo_i_writer_format(w, "%s/%s", facts->family, facts->method);
    for (size_t i = 0; i < facts->parameter_count; i++)
        clo_i_writer_format(w, "%s %s %s", i ? "," : " with", facts->parameter_names[i],
                            facts->parameter_values[i]);
    clo_writer_text(w, "\n");
    if (!facts->is_private) clo_writer_text(w, "NOT PRIVATE\n");
    write_privacy(w, facts);
    const bool listed = find_lists(release, &l);
    if (listed) write_lists(w, &l);
    for (size_t i = 0; i < release->count; i++)
        if (!listed || !is_list(release->arrays[i].name))
            write_array(w, facts, &release->arrays[i]);
}
