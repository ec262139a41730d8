/* release_facts.c - parameters, domain and questions of a release, and how to use it. */
#include "report/page.h"
#include "report/report.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_COLUMNS = 60, MOST_QUERIES = 60 };

static void say_parameters(clo_writer *w, const clo_facts *facts)
{
    static const char *const heads[] = { "parameter", "value" };
    clo_i_table_open_words(w, "Parameters of the method");
    clo_i_table_heads(w, heads, 2);
    for (size_t i = 0; i < facts->parameter_count && i < 100; i++) {
        if (clo_i_is_automatic(facts->parameter_values[i])) continue;
        clo_i_table_name(w, facts->parameter_names[i]);
        clo_i_table_text(w, facts->parameter_values[i]);
        clo_i_table_end_row(w);
    }
    clo_i_table_close(w);
}

static void say_queries(clo_writer *w, const clo_facts *facts)
{
    static const char *const heads[] = { "question", "query", "times", "noise" };
    clo_i_table_open_words(w, "Queries (noise: standard deviation of each answer)");
    clo_i_table_heads(w, heads, 4);
    for (size_t i = 0; i < facts->query_count && i < MOST_QUERIES; i++) {
        clo_i_table_label(w, facts->query_labels[i]);
        clo_i_table_text(w, facts->query_names[i]);
        clo_i_table_number(w, (double)facts->query_events[i].count, 15, NAN);
        if (facts->query_noise[i] > 0)
            clo_i_table_number(w, facts->query_noise[i], 4, NAN);
        else
            clo_i_table_text(w, "");
        clo_i_table_end_row(w);
    }
    clo_i_table_close(w);
}

static void say_columns(clo_writer *w, const clo_release *release)
{
    static const char *const heads[] = { "column", "lower", "upper" };
    const clo_facts *const facts = &release->facts;
    const size_t shown = facts->cols < MOST_COLUMNS ? facts->cols : MOST_COLUMNS;
    char name[1024];
    if (!facts->lower || !facts->upper) return;
    clo_i_table_open(w, "Public bounds of the columns");
    clo_i_table_heads(w, heads, 3);
    for (size_t j = 0; j < shown; j++) {
        clo_i_column_text(release, j, name, sizeof name);
        clo_i_table_name(w, name);
        clo_i_table_number(w, facts->lower[j], 6, NAN);
        clo_i_table_number(w, facts->upper[j], 6, NAN);
        clo_i_table_end_row(w);
    }
    clo_i_table_close(w);
    if (shown < facts->cols)
        clo_i_paragraph(w,
                        "These are the first %zu of %zu columns; the file of the release has "
                        "all.",
                        shown, facts->cols);
}

/* "0 to 100 years", "3 levels". */
static void stated_text(const clo_i_field *f, char *text, size_t size)
{
    char lower[40], upper[40];
    if (f->kind == CLO_FIELD_LEVELS || f->kind == CLO_FIELD_RANK) {
        snprintf(text, size, "%zu levels%s", f->levels.count,
                 f->kind == CLO_FIELD_RANK ? ", ordered" : "");
        return;
    }
    if (f->kind == CLO_FIELD_CYCLIC) {
        snprintf(text, size, "cyclic, from %s, one turn %s", clo_i_short(f->lower, 6).text,
                 clo_i_short(f->period, 6).text);
        return;
    }
    snprintf(lower, sizeof lower, "%s", clo_i_short(f->lower, 8).text);
    snprintf(upper, sizeof upper, "%s", clo_i_short(f->upper, 8).text);
    if (f->kind == CLO_FIELD_DATE) {
        clo_i_date_text(f->lower, lower);
        clo_i_date_text(f->upper, upper);
    } else if (f->kind == CLO_FIELD_DATETIME) {
        clo_i_datetime_text(f->lower, lower);
        clo_i_datetime_text(f->upper, upper);
    }
    snprintf(text, size, "%s to %s", lower, upper);
}

static void say_schema(clo_writer *w, const clo_schema *schema)
{
    static const char *const heads[] = { "column", "stated", "unit", "a missing cell", "source" };
    static const char *const rules[] = { "", "is ignored", "is a level", "is filled",
                                         "drops the record" };
    char text[120], name[1024];
    if (!schema) return;
    if (clo_schema_is_from_data(schema))
        clo_i_paragraph(w, "Bounds or levels of this schema come from the data.  The release is "
                           "private only for anyone who knows them already.");
    clo_i_table_open_words(w, "What the schema states");
    clo_i_table_heads(w, heads, 5);
    for (size_t j = 0; j < clo_i_schema_cells(schema) && j < MOST_COLUMNS; j++) {
        const clo_i_field *const f = clo_i_schema_used(schema, j);
        clo_i_harmless(f->name, name, sizeof name);
        stated_text(f, text, sizeof text);
        clo_i_table_name(w, name);
        clo_i_table_text(w, text);
        clo_i_table_text(w, f->unit ? f->unit : "");
        clo_i_table_text(w, rules[f->missing]);
        clo_i_table_text(w, f->source ? f->source : "");
        clo_i_table_end_row(w);
    }
    clo_i_table_close(w);
}

/* Small arrays that no chart shows: numbers among the facts, lists as tables. */
static const char *const small[][2] = {
    { "radius", "radius" },
    { "uncertainty", "uncertainty of each cluster" },
    { "residuals", "residuals of each cluster" },
    { "center", "center of the subspace" },
    { "distinct_clusters", "clusters that stand out from the noise" },
    { "signal_dim", "directions that stand out from the noise" },
    { "learnt_norm", "norm, found privately" },
};
enum { SMALL_COUNT = sizeof small / sizeof *small };

static void say_single(clo_writer *w, const clo_release *release)
{
    clo_array array;
    for (size_t n = 0; n < SMALL_COUNT; n++)
        if (clo_release_find(release, small[n][0], &array) && array.dimensions == 1 &&
            array.shape[0] == 1)
            clo_i_fact(w, small[n][1], "%s", clo_i_short(array.data[0], 6).text);
}

static void say_lists(clo_writer *w, const clo_release *release)
{
    clo_array array;
    for (size_t n = 0; n < SMALL_COUNT; n++) {
        if (!clo_release_find(release, small[n][0], &array) || array.dimensions != 1 ||
            array.shape[0] < 2)
            continue;
        const size_t shown = array.shape[0] < MOST_COLUMNS ? array.shape[0] : MOST_COLUMNS;
        clo_i_table_open(w, small[n][1]);
        clo_writer_text(w, "<thead><tr>");
        for (size_t i = 0; i < shown; i++) clo_i_writer_format(w, "<th scope=\"col\">%zu</th>", i);
        clo_writer_text(w, "</tr></thead><tbody>\n<tr>");
        for (size_t i = 0; i < shown; i++) clo_i_table_number(w, array.data[i], 6, NAN);
        clo_i_table_end_row(w);
        clo_i_table_close(w);
        if (shown < array.shape[0])
            clo_i_paragraph(w, "The first %zu of %zu.", shown, array.shape[0]);
    }
}

void clo_i_say_facts(clo_writer *w, const clo_release *release)
{
    const clo_facts *const facts = &release->facts;
    clo_i_section_open(w, "How it was made");
    clo_i_facts_open(w);
    clo_i_fact(w, "columns", "%zu",
               facts->schema ? clo_i_schema_cells(facts->schema) : facts->cols);
    if (facts->rows)
        clo_i_fact(w, "records (public)", "%llu", (unsigned long long)facts->rows);
    else
        clo_i_fact(w, "records", "secret");
    if (facts->schema) {
        clo_i_fact(w, "domain", "each column as the schema states it");
        clo_i_fact(w, "schema (BLAKE2b)", "%s", clo_schema_digest(facts->schema));
    } else if (facts->lower)
        clo_i_fact(w, "domain", "each column within its public bounds");
    else
        clo_i_fact(w, "domain", "records of length at most %s", clo_i_short(facts->norm, 6).text);
    if (facts->unit)
        clo_i_fact(w, "most records per person", "%llu", (unsigned long long)facts->rows_per_unit);
    clo_i_fact(w, "epsilon that the queries use", "%s",
               clo_i_short(facts->price.loss.epsilon, 4).text);
    say_single(w, release);
    clo_i_facts_close(w);
    clo_writer_text(w, "<div class=\"pair\"><div>\n");
    say_queries(w, facts);
    clo_writer_text(w, "</div><div>\n");
    say_parameters(w, facts);
    clo_writer_text(w, "</div></div>\n");
    say_lists(w, release);
    say_columns(w, release);
    say_schema(w, facts->schema);
    clo_i_section_close(w);
}

/* ---- how to use it --------------------------------------------------------------------------- */

void clo_i_say_use(clo_writer *w, const clo_release *release, const char *digest)
{
    clo_array array;
    const bool assigns = clo_release_find(release, "centers", &array) ||
                         clo_release_find(release, "bases", &array) ||
                         clo_release_find(release, "centers_starts", &array);
    clo_i_section_open(w, "How to use it");
    clo_i_paragraph(w, "The release is a JSON file, here called release.json. You may compute "
                       "anything from it without spending more budget. Results that you compute "
                       "from your own rows are not private.");
    clo_writer_text(w, "<pre tabindex=\"0\"># on the command line\n"
                       "cloister report release.json\n");
    if (assigns)
        clo_writer_text(w, "cloister assign release.json rows.csv   # the cluster of each row\n");
    clo_writer_text(w, "\n# in Python\nimport cloister\n"
                       "release = cloister.Release.read(\"release.json\")\nrelease.to_frame()\n");
    clo_writer_text(
        w, "\n/* in C */\n#include &lt;cloister/cloister.h&gt;\nclo_release *release;\n"
           "clo_array array;\nclo_error err;\n"
           "if (clo_release_read(\"release.json\", &amp;release, &amp;err) == CLO_OK) {\n");
    clo_i_writer_format(w,
                        "    if (clo_release_find(release, \"%s\", &amp;array)) { /* array.data */ "
                        "}\n    clo_release_free(release);\n}\n</pre>\n",
                        clo_release_count(release) && strcmp(release->facts.family, "kmeans") == 0
                            ? "centers"
                        : clo_release_find(release, "bases", &array) ? "bases"
                        : clo_release_find(release, "basis", &array) ? "basis"
                        : clo_release_find(release, "lower", &array) ? "lower"
                                                                     : "centers");
    clo_writer_text(w, "<p class=\"soft\">The file that this page was made from: BLAKE2b ");
    clo_i_writer_format(w, "<code>%s</code>", digest);
    clo_writer_text(w, " (<code>b2sum -l 256 release.json</code>).</p>\n");
    clo_i_section_close(w);
}
