/*
 * leak.c - the control of the information-flow test: a program that does what the library must
 * never do.  It reads a table and writes, without noise, one of its values as bytes ("raw") or as
 * text ("text"), or an entry of the Gram matrix of the bounded records ("gram"), to show that the
 * mark survives clipping, the grid and BLAS; or, to show that the test does not cry at everything,
 * only how many columns there are ("public").
 *
 * usage: leak raw|text|gram|public FILE
 */
#include "bound/bound.h"
#include "data/data.h"
#include "linalg/linalg.h"
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

static bool leak_gram(const clo_table *table)
{
    static double values[ROWS * COLS];
    double gram[COLS * COLS] = { 0 };
    clo_domain domain = clo_domain_default();
    clo_bounded *data = NULL;
    clo_error err;
    size_t rows;
    domain.relation = CLO_REPLACE;
    domain.cols = COLS;
    domain.rows = clo_table_rows(table);
    domain.norm = 1;
    if (clo_bound(table, &domain, &data, &err)) return false;
    const bool loaded = !clo_i_block_load(data, 0, ROWS, BITS, values, &rows, &err);
    if (loaded) clo_i_gram_add(values, rows, COLS, gram);
    clo_bounded_free(data);
    return loaded && put(gram, sizeof *gram);
}

static bool leak(const char *how, const clo_table *table)
{
    char text[64];
    if (strcmp(how, "raw") == 0) return leak_value(table, false);
    if (strcmp(how, "text") == 0) return leak_value(table, true);
    if (strcmp(how, "gram") == 0) return leak_gram(table);
    const int length = snprintf(text, sizeof text, "%zu columns\n", clo_table_cols(table));
    return put(text, (size_t)length);
}

int main(int count, char **words)
{
    clo_read_options options = clo_read_options_default();
    clo_table *table = NULL;
    clo_error err;
    if (count != 3) return 2;
    options.cols = strstr(words[2], ".svm") ? COLS : 0;
    options.columns = strstr(words[2], ".csv") ? "2-4" : NULL;
    if (clo_table_read(words[2], &options, &table, &err)) {
        fprintf(stderr, "%s\n", err.message);
        return 3;
    }
    const bool done = clo_table_cols(table) == COLS && leak(words[1], table);
    clo_table_free(table);
    return done ? 0 : 4;
}
