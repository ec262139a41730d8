/*
 * leak.c - the control of the information-flow test: a program that does what the library must
 * never do.  It reads a table and writes, without noise,
 *
 *   raw, text   one of its values, as bytes or as text
 *   gram        an entry of the Gram matrix of the bounded records, to show that the mark survives
 *               clipping, the grid and BLAS
 *   rows        how many rows there are, where that is a secret, as bytes
 *   error       the same as in the message of a failure: a size that follows from it
 *   release     the same as a number of a release, in JSON
 *   counted     how many records count, where how many rows there are is public
 *   units       how many rows are left of units, where no other relation hides it
 *   entries     how many entries a sparse record has
 *   room        how much memory a chain on these data needs, which follows from their number
 *   public      how many columns there are, which must not be caught: the test does not cry at
 *               everything
 *   known       how many rows there are where that is public, which must not be caught either
 *
 * words: leak HOW FILE (cases.c)
 */
#include "cases.h"
#include "counted.h"
#include "bound/bound.h"
#include "data/data.h"
#include "linalg/linalg.h"
#include "query/gibbs.h"
#include "release/release.h"
#include <cloister/cloister.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 64, COLS = 3, BITS = 15 };

static bool put(const void *bytes, size_t count)
{
    return write(STDOUT_FILENO, bytes, count) == (ssize_t)count;
}

static bool leak_value(const clo_table *table, bool as_text)
{
    double row[COLS] = { 0 };
    char text[64];
    clo_i_table_rows(table, 0, 1, row);
    if (!as_text) return put(row, sizeof *row);
    snprintf(text, sizeof text, "%.17g\n", row[0]);
    return put(text, 8); /* not up to its end, which depends on the value too */
}

static clo_bounded *bounded(const clo_table *table, clo_relation relation, bool unit)
{
    clo_domain domain = clo_domain_default();
    clo_bounded *data = NULL;
    clo_error err;
    domain.relation = relation;
    domain.cols = COLS;
    domain.norm = 1;
    domain.unit = unit ? "person" : NULL;
    domain.rows_per_unit = unit ? 2 : 1;
    if (clo_bound(table, &domain, &data, &err)) fprintf(stderr, "%s\n", err.message);
    return data;
}

static bool leak_gram(const clo_bounded *data)
{
    static double values[ROWS * COLS];
    double gram[COLS * COLS] = { 0 };
    clo_error err;
    size_t rows;
    if (clo_i_block_load(data, 0, ROWS, BITS, values, &rows, &err)) return false;
    clo_i_gram_add(values, rows, COLS, gram);
    return put(gram, sizeof *gram);
}

static bool leak_rows(const clo_bounded *data)
{
    const size_t rows = clo_i_bounded_rows(data);
    return put(&rows, sizeof rows);
}

static bool leak_slots(const clo_bounded *data)
{
    const size_t slots = clo_i_bounded_slots(data);
    return put(&slots, sizeof slots);
}

static bool leak_error(const clo_bounded *data)
{
    clo_error err;
    clo_i_fail(&err, CLO_MEMORY, "out of memory: %zu bytes could not be had",
               clo_i_bounded_rows(data) * COLS * sizeof(double));
    return put(err.message, strlen(err.message));
}

static bool write_out(void *user, const char *bytes, size_t count)
{
    (void)user;
    return put(bytes, count);
}

/* A release like any other, but for one array too many. */
static clo_status make_release(const clo_bounded *data, clo_release **out, clo_error *err)
{
    const double rows = (double)clo_i_bounded_rows(data);
    clo_params *params = NULL;
    clo_plan *plan = NULL;
    clo_grant *grant = NULL;
    clo_rng *rng = NULL;
    clo_status status = clo_params_new(clo_mechanism_find("kmeans/lloyd"), &params, err);
    if (!status)
        status = clo_plan_new(params, clo_i_bounded_domain(data), (clo_loss){ 1, 1e-6 }, CLO_EXACT,
                              &plan, err);
    if (!status) status = clo_grant_unmetered(plan, &grant, err);
    if (!status) status = clo_rng_new(&rng, err);
    if (!status) status = clo_run(plan, grant, data, rng, NULL, out, err);
    if (!status) status = clo_i_release_put(*out, "rows", &rows, 1, (size_t[]){ 1 }, err);
    clo_rng_free(rng);
    clo_grant_free(grant);
    clo_plan_free(plan);
    clo_params_free(params);
    return status;
}

static bool leak_release(const clo_bounded *data)
{
    clo_release *release = NULL;
    clo_error err;
    clo_status status = make_release(data, &release, &err);
    if (!status) status = clo_report(release, CLO_JSON, write_out, NULL, &err);
    clo_release_free(release);
    return !status;
}

static bool leak_entries(const clo_bounded *data)
{
    const size_t entries = clo_i_bounded_row(data, 0).count;
    return put(&entries, sizeof entries);
}

static bool leak_room(const clo_bounded *data)
{
    const clo_gibbs how = { .clusters = 2, .dim = 1, .sweeps = 1 };
    clo_line line;
    clo_error err;
    if (clo_i_plan_gibbs(clo_i_bounded_domain(data), &how, 1, clo_i_gibbs_charges(&how, COLS),
                         "chain", &line, &err))
        return false;
    const size_t bytes = query_bytes(&line, COLS, data, 0, 1);
    return put(&bytes, sizeof bytes);
}

typedef struct way {
    const char *name;
    bool (*leak)(const clo_bounded *data);
    clo_relation relation;
} way;

static const way ways[] = {
    { "gram", leak_gram, CLO_REPLACE },      { "rows", leak_rows, CLO_ADD_REMOVE },
    { "error", leak_error, CLO_ADD_REMOVE }, { "release", leak_release, CLO_ADD_REMOVE },
    { "units", leak_rows, CLO_REPLACE },     { "entries", leak_entries, CLO_REPLACE },
    { "room", leak_room, CLO_ADD_REMOVE },   { "known", leak_slots, CLO_REPLACE },
    { "counted", leak_rows, CLO_REPLACE },   { "slots", leak_slots, CLO_ADD_REMOVE },
};

static bool leak(const char *how, const clo_table *table)
{
    char text[64];
    if (strcmp(how, "raw") == 0) return leak_value(table, false);
    if (strcmp(how, "text") == 0) return leak_value(table, true);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(how, ways[i].name) != 0) continue;
        clo_bounded *const data = bounded(table, ways[i].relation, clo_table_has_unit(table));
        const bool done = data && ways[i].leak(data);
        clo_bounded_free(data);
        return done;
    }
    const int length = snprintf(text, sizeof text, "%zu columns\n", clo_table_cols(table));
    return put(text, (size_t)length);
}

int leak_main(int count, char **words)
{
    clo_read_options options = clo_read_options_default();
    clo_table *table = NULL;
    clo_error err;
    if (count != 3) return 2;
    options.cols = strstr(words[2], ".svm") ? COLS : 0;
    options.columns = strstr(words[2], "data.csv") ? "2-4" : NULL;
    options.unit = strcmp(words[1], "units") == 0 ? "person" : NULL;
    if (clo_table_read(words[2], &options, &table, &err)) {
        fprintf(stderr, "%s\n", err.message);
        return 3;
    }
    const bool done = clo_table_cols(table) == COLS && leak(words[1], table);
    clo_table_free(table);
    return done ? 0 : 4;
}
