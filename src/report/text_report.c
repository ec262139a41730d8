/* text_report.c - a release for a person who reads it in a terminal. */
#include "report/report.h"
#include "report/charts.h"
#include <cloister/output.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHOWN_ROWS = 24,
    SHOWN_LINES = 100,
    SHOWN_COLUMNS = 8,
    SHOWN_ENTRIES = 5,
    LINE = 78,
    NAME = 40,
    TURNED = 24, /* characters before the numbers where a column is a line */
    VALUE = 12   /* characters of a number */
};

/* Who asks for all of it (wide) gets all of it. */
static size_t most(bool wide, size_t shown)
{
    return wide ? SIZE_MAX : shown;
}

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

/* Which charge it is, and what a look at its signature said. */
static void write_charge(clo_writer *w, const clo_i_certified *c)
{
    static const char *const seals[] = { "not signed", "signed, and unchanged since",
                                         "CHANGED after it was signed" };
    if (!c->there) return;
    clo_i_writer_format(w, "charge     %llu of the ledger %.8s..., on '%s'; %s\n",
                        (unsigned long long)c->charge, c->ledger, c->dataset, seals[c->seal]);
}

bool clo_i_is_automatic(const char *value)
{
    static const char *const words[] = { "0", "-1", "\"auto\"", "\"given\"" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(value, words[i]) == 0) return true;
    return false;
}

/* The method, with the parameters that say something: not those that the plan chose. */
static void write_method(clo_writer *w, const clo_facts *facts)
{
    const char *join = " with";
    clo_i_writer_format(w, "%s/%s", facts->family, facts->method);
    for (size_t i = 0; i < facts->parameter_count; i++) {
        if (clo_i_is_automatic(facts->parameter_values[i])) continue;
        clo_i_writer_format(w, "%s %s %s", join, facts->parameter_names[i],
                            facts->parameter_values[i]);
        join = ",";
    }
    clo_writer_text(w, "\n");
}

/* What was made from another release costs nothing beside it. */
static void write_cost(clo_writer *w, const clo_facts *facts, const clo_i_derived *from)
{
    if (from->there) {
        clo_i_writer_format(w, "cost       nothing more: it was cut from the release %.16s...",
                            from->release);
        if (from->ledger[0])
            clo_i_writer_format(w, ",\n           charge %llu of the ledger %.8s...",
                                (unsigned long long)from->charge, from->ledger);
        clo_writer_text(w, "; that one cost\n           ");
    } else {
        clo_writer_text(w, "cost       ");
    }
    clo_i_writer_format(w, "epsilon %g by %s accounting; %s\n", facts->price.loss.epsilon,
                        facts->accounting,
                        !facts->metered  ? "not charged to a ledger"
                        : !facts->capped ? "charged to a ledger without a cap"
                                         : "charged to a ledger with a cap");
}

static void write_privacy(clo_writer *w, const clo_facts *facts, const clo_i_derived *from)
{
    char epsilon[32], delta[32];
    clo_number_text(facts->loss.epsilon, epsilon);
    clo_number_text(facts->loss.delta, delta);
    clo_i_writer_format(w, "privacy    epsilon %s, delta %s, %s one %s\n", epsilon, delta,
                        facts->relation == CLO_REPLACE ? "replace" : "add or remove",
                        facts->unit ? facts->unit : "record");
    write_cost(w, facts, from);
    clo_i_writer_format(w, "guarantee  %s; %s\n", facts->guarantee, facts->sampler);
    if (facts->seen_cols)
        clo_i_writer_format(w,
                            "projected  on the %zu directions of the release %.16s, which cost "
                            "its own epsilon\n",
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
    static const char *const names[] = { "centers", "center", "offsets",
                                         "lower",   "upper",  "center noise" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

/* Clusters are counted from 0, as labels are (assign, solve, generate); columns and directions from
 * 1, as they are chosen. */
static bool is_one_a_cluster(const clo_array *array)
{
    static const char *const names[] = { "sizes", "residuals", "uncertainty", "radii" };
    if (array->dimensions != 1) return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(array->name, names[i]) == 0) return true;
    return false;
}

static void write_more(clo_writer *w, size_t more, const char *what)
{
    if (more)
        clo_i_writer_format(w, "     … and %zu%s%s more: a wide report shows all\n", more,
                            what[0] ? " " : "", what);
}

/* ---- as many columns as fit on a line, a row a line ------------------------------------------ */

static void write_name_over_values(clo_writer *w, const char *name)
{
    clo_writer_text(w, " ");
    clo_writer_cell(w, name, VALUE, true);
}

static bool is_named(const clo_facts *facts, const clo_array *array, size_t cols)
{
    return facts->column_names && facts->cols == cols && runs_over_columns(array->name);
}

/* Whether a name would be cut above its numbers. */
static bool has_long_names(const clo_facts *facts, const clo_array *array, size_t cols)
{
    for (size_t j = 0; j < cols && is_named(facts, array, cols); j++)
        if (clo_text_width(facts->column_names[j]) > VALUE) return true;
    return false;
}

static void write_header(clo_writer *w, const clo_facts *facts, const clo_array *array, size_t cols,
                         int width)
{
    const bool named = is_named(facts, array, cols);
    clo_i_writer_format(w, "%*s", width, "");
    for (size_t j = 0; j < cols; j++) {
        if (named)
            write_name_over_values(w, facts->column_names[j]);
        else
            clo_i_writer_format(w, " %12zu", is_one_a_cluster(array) ? j : j + 1);
    }
    clo_writer_text(w, "\n");
}

/* Whether the rows are the columns of the data: of a slice of bases, or of a basis. */
static bool has_rows_of_columns(const clo_facts *facts, const clo_array *array, size_t rows)
{
    return facts->cols == rows && (array->dimensions > 2 || strcmp(array->name, "basis") == 0);
}

/* The longest of the names, within reason, and not less than this. */
static int name_width(const clo_facts *facts, size_t count, size_t least)
{
    size_t width = least;
    for (size_t i = 0; facts->column_names && i < count; i++) {
        const size_t length = clo_text_width(facts->column_names[i]);
        if (length > width) width = length < NAME ? length : NAME;
    }
    return (int)width;
}

/* A share in percent, a date as a date: of a time its day. */
static void write_value(clo_writer *w, const clo_schema *schema, size_t column, double value)
{
    char text[64];
    if (schema && clo_i_schema_output_text(schema, column, value, text, sizeof text))
        clo_i_writer_format(w, " %12.10s", text);
    else
        clo_i_writer_format(w, " %12.6g", value);
}

static void write_rows(clo_writer *w, const clo_facts *facts, const clo_array *array, size_t slice,
                       size_t rows, size_t cols, bool wide)
{
    const double *const data = array->data + slice * rows * cols;
    const bool of_columns = has_rows_of_columns(facts, array, rows);
    const int width = of_columns ? name_width(facts, rows, 6) : 6;
    const size_t shown = most(wide, of_columns ? SHOWN_LINES : SHOWN_ROWS);
    for (size_t i = 0; i < rows && i < shown; i++) {
        if (of_columns && facts->column_names)
            clo_writer_cell(w, facts->column_names[i], (size_t)width, true);
        else if (array->dimensions == 1)
            clo_i_writer_format(w, "%*s", width, "");
        else
            clo_i_writer_format(w, "%*zu", width, of_columns ? i + 1 : i);
        for (size_t j = 0; j < cols; j++)
            write_value(w, strcmp(array->name, "centers") == 0 ? facts->schema : NULL, j,
                        data[i * cols + j]);
        clo_writer_text(w, "\n");
    }
    write_more(w, rows > shown ? rows - shown : 0, of_columns ? "columns" : "rows");
}

/* ---- more columns than that, or longer names: a column a line -------------------------------- */

/* Rows first, ... of the slice side by side, as many as fit on a line. */
static void write_turned_part(clo_writer *w, const clo_facts *facts, const clo_array *array,
                              const double *data, size_t first, size_t rows, size_t cols, bool wide)
{
    const bool named = is_named(facts, array, cols);
    const int width = named ? name_width(facts, cols, TURNED) : TURNED;
    const size_t last = rows - first > SHOWN_COLUMNS ? first + SHOWN_COLUMNS : rows;
    const size_t shown = most(wide, SHOWN_LINES);
    if (rows > 1) {
        clo_i_writer_format(w, "%*s", width, "");
        for (size_t i = first; i < last; i++) clo_i_writer_format(w, " %12zu", i);
        clo_writer_text(w, "\n");
    }
    for (size_t j = 0; j < cols && j < shown; j++) {
        if (named)
            clo_writer_cell(w, facts->column_names[j], (size_t)width, true);
        else
            clo_i_writer_format(w, "%*zu", width, is_one_a_cluster(array) ? j : j + 1);
        for (size_t i = first; i < last; i++)
            write_value(w, named && strcmp(array->name, "centers") == 0 ? facts->schema : NULL, j,
                        data[i * cols + j]);
        clo_writer_text(w, "\n");
    }
    write_more(w, cols > shown ? cols - shown : 0, named ? "columns" : "lines");
}

static void write_turned(clo_writer *w, const clo_facts *facts, const clo_array *array,
                         size_t slice, size_t rows, size_t cols, bool wide)
{
    const double *const data = array->data + slice * rows * cols;
    const size_t shown = most(wide, SHOWN_ROWS);
    const size_t here = rows < shown ? rows : shown;
    for (size_t first = 0; first < here; first += SHOWN_COLUMNS)
        write_turned_part(w, facts, array, data, first, here, cols, wide);
    write_more(w, rows - here, "rows");
}

/* Radii are lengths on the scale of the run. */
static const char *unit_of(const clo_facts *facts, const clo_array *array)
{
    if (strcmp(array->name, "radii") != 0) return "";
    return facts->schema  ? ", in half-ranges of the schema"
           : facts->lower ? ", in half-widths of the bounds"
                          : ", in the units of the data";
}

static void write_array(clo_writer *w, const clo_facts *facts, const clo_array *array, bool wide)
{
    const size_t cols = array->shape[array->dimensions - 1];
    const size_t rows = array->dimensions > 1 ? array->shape[array->dimensions - 2] : 1;
    const size_t slices = array->dimensions > 2 ? array->shape[0] : 1;
    const size_t shown = most(wide, SHOWN_ROWS);
    if (array->dimensions == 1 && cols == 1) {
        clo_i_writer_format(w, "\n%s  %.6g\n", array->name, array->data[0]);
        return;
    }
    clo_i_writer_format(w, "\n%s (", array->name);
    for (size_t i = 0; i < array->dimensions; i++)
        clo_i_writer_format(w, "%s%zu", i ? " x " : "", array->shape[i]);
    clo_i_writer_format(w, ")%s\n", unit_of(facts, array));
    for (size_t s = 0; s < slices && s < shown; s++) {
        if (slices > 1) clo_i_writer_format(w, "  of %zu\n", s);
        if (cols > SHOWN_COLUMNS || has_long_names(facts, array, cols)) {
            write_turned(w, facts, array, s, rows, cols, wide);
            continue;
        }
        const bool of_columns = has_rows_of_columns(facts, array, rows);
        write_header(w, facts, array, cols, of_columns ? name_width(facts, rows, 6) : 6);
        write_rows(w, facts, array, s, rows, cols, wide);
    }
    write_more(w, slices > shown ? slices - shown : 0, "");
}

/* ---- how many stand out ---------------------------------------------------------------------- */

/* How many clusters were taken, where their number was chosen. */
static void write_choice(clo_writer *w, const clo_release *release)
{
    char text[1024] = "";
    clo_i_say_choice(release, text, sizeof text);
    clo_writer_text(w, "\n");
    write_wrapped(w, text);
}

/* How many clusters stand out, and why there may be fewer than were asked for. */
static void write_distinct(clo_writer *w, const clo_release *release)
{
    clo_array distinct, curve, centers;
    if (clo_release_find(release, "curve", &curve)) {
        write_choice(w, release);
        return;
    }
    if (!clo_release_find(release, "distinct_clusters", &distinct) || distinct.shape[0] != 1)
        return;
    const double asked = clo_i_facts_parameter(&release->facts, "clusters"),
                 found = distinct.data[0];
    clo_i_writer_format(w, "\n  %.0f of %.0f clusters stand%s out from the noise.\n", found, asked,
                        asked == 1 ? "s" : "");
    if (!(found < asked)) return;
    clo_writer_text(w, "  The others would have no more records than noise alone can show.\n");
    if (clo_release_find(release, "centers", &centers) && (double)centers.shape[0] > found)
        clo_writer_text(w, "  The smallest centers may be noise.\n");
}

/* ---- how far to trust centres ---------------------------------------------------------------- */

static clo_status write_center_noise(clo_writer *w, const clo_release *release, bool wide,
                                     clo_error *err)
{
    clo_array centers;
    double *noise = NULL;
    if (!clo_release_center_noise(release, NULL)) return CLO_OK;
    (void)clo_release_find(release, "centers", &centers);
    CLO_TRY(clo_i_alloc(centers.shape[0] * centers.shape[1], sizeof *noise, &noise, err));
    (void)clo_release_center_noise(release, noise);
    centers.name = "center noise";
    centers.data = noise;
    write_array(w, &release->facts, &centers, wide);
    clo_writer_text(w, release->derived.there
                           ? "  Typical error that noise added to each center (a standard "
                             "deviation, in the units\n  of each column).\n"
                           : "  Typical error that noise added to each center in the last round "
                             "(a standard\n  deviation, in the units of each column).  Earlier "
                             "rounds may have added more.\n");
    clo_i_free(noise);
    return CLO_OK;
}

/* ---- signal and noise ------------------------------------------------------------------------ */

/* How many directions of all stand out, where that is another number than those released. */
static void write_beyond(clo_writer *w, const clo_array *spectrum, double edge, size_t released)
{
    size_t all = 0;
    for (size_t i = 0; i < spectrum->shape[0]; i++) all += spectrum->data[i] > edge;
    clo_i_writer_format(w, "  Noise alone seldom gives an eigenvalue above %.4g.\n", edge);
    if (all > released)
        clo_i_writer_format(w,
                            "  %zu of all %zu directions are above it: a larger dim would find "
                            "more signal.\n",
                            all, spectrum->shape[0]);
    if (all == 0)
        clo_writer_text(w, "  The released directions may be noise: use more rows or a larger "
                           "epsilon.\n");
}

static void write_signal(clo_writer *w, const clo_release *release)
{
    clo_array stands, edge, spectrum;
    size_t count = 0;
    if (!clo_release_find(release, "stands_out", &stands) || stands.dimensions != 1) return;
    for (size_t i = 0; i < stands.shape[0]; i++) count += stands.data[i] > 0;
    clo_i_writer_format(w,
                        "\n"
                        "  %zu of %zu direction%s out from the noise.  Noise alone makes one "
                        "stand out with\n"
                        "  probability 0.001 at most.  The energies do not include that of the "
                        "noise.\n",
                        count, stands.shape[0], stands.shape[0] == 1 ? " stands" : "s stand");
    if (clo_release_find(release, "noise_edge", &edge) && edge.dimensions == 1 &&
        edge.shape[0] == 1 && clo_release_find(release, "spectrum", &spectrum) &&
        spectrum.dimensions == 1)
        write_beyond(w, &spectrum, edge.data[0], stands.shape[0]);
}

/* ---- centres that are lists of entries ------------------------------------------------------- */

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

/* A centre a line: its largest entries, column and value; centres from 0, columns from 1. */
static void write_lists(clo_writer *w, const lists *l, bool wide)
{
    const size_t k = l->starts.shape[0] - 1, all = l->values.shape[0];
    const size_t lines = most(wide, SHOWN_ROWS), entries = most(wide, SHOWN_ENTRIES);
    clo_i_writer_format(w, "\ncenters (%zu, by their largest entries, of %zu in all)\n", k, all);
    for (size_t c = 0; c < k && c < lines; c++) {
        const double from = l->starts.data[c], to = l->starts.data[c + 1];
        const bool fits =
            from >= 0 && from <= to && to <= (double)all; /* files come from anywhere */
        const size_t first = fits ? (size_t)from : 0, end = fits ? (size_t)to : 0;
        size_t shown = 0, at = end;
        clo_i_writer_format(w, "%6zu", c);
        while (shown < entries && (at = next_largest(l->values.data, first, end, at)) < end) {
            clo_i_writer_format(w, "  %.0f:%.4g", l->columns.data[at] + 1, l->values.data[at]);
            shown++;
        }
        clo_writer_text(w, end - first > shown ? " …\n" : "\n");
    }
    write_more(w, k > lines ? k - lines : 0, "rows");
}

static bool is_list(const char *name)
{
    return strncmp(name, "centers_", 8) == 0;
}

/* What the table with bars has in it. */
static bool is_in_bars(const char *name)
{
    return strcmp(name, "centers") == 0 || strcmp(name, "sizes") == 0 || strcmp(name, "radii") == 0;
}

clo_status clo_i_report_text(const clo_release *release, bool wide, clo_i_bars *bars, clo_writer *w,
                             clo_error *err)
{
    const clo_facts *const facts = &release->facts;
    lists l;
    write_method(w, facts);
    if (!facts->is_private) clo_writer_text(w, "NOT PRIVATE\n");
    write_charge(w, &release->certified);
    write_privacy(w, facts, &release->derived);
    if (bars) CLO_TRY(bars(release, w, err));
    const bool listed = find_lists(release, &l);
    if (listed) write_lists(w, &l, wide);
    for (size_t i = 0; i < release->count; i++)
        if ((!listed || !is_list(release->arrays[i].name)) &&
            !(bars && is_in_bars(release->arrays[i].name)) &&
            strcmp(release->arrays[i].name, "distinct_clusters") != 0) /* in a sentence below */
            write_array(w, facts, &release->arrays[i], wide);
    write_signal(w, release);
    write_distinct(w, release);
    return bars ? CLO_OK : write_center_noise(w, release, wide, err);
}
