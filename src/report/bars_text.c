/*
 * bars_text.c - centres for a person at a terminal: a line a column, three centres side by side,
 * each number with its ± in the units of the column, and a bar from the lowest of the row to its
 * highest.
 */
#include "draw/draw.h"
#include "report/report.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME = 14, ACROSS = 3, BAR = 4, NUMBER = 7, NOISE = 6 };
enum { CELL = 1 + NUMBER + 3 + NOISE + 1 + BAR, MOST_LINES = 100, MOST_CENTRES = 24 };

typedef struct cell {
    double value, noise, share; /* noise NAN: not known */
    int digits;
    bool last;                /* of its line */
    const clo_schema *schema; /* with the column; NULL: it is a plain number */
    size_t column;
} cell;

bool clo_i_has_bars(const clo_release *release)
{
    clo_array centers;
    return clo_release_find(release, "centers", &centers) && centers.dimensions == 2 &&
           centers.shape[1] == release->facts.cols;
}

/* As many characters as so many columns of a terminal take, with blanks up to them. */
static void write_name(clo_writer *w, const char *name)
{
    char text[200];
    size_t shown = 0;
    clo_i_harmless(name, text, sizeof text);
    for (char *at = text; *at;) {
        size_t bytes = 1; /* of this character */
        while ((at[bytes] & 0xC0) == 0x80) bytes++;
        if (shown == NAME) {
            *at = 0;
            break;
        }
        shown++;
        at += bytes;
    }
    clo_writer_text(w, text);
    clo_i_writer_format(w, "%*s", (int)(NAME - shown), "");
}

/* As many digits as fit, and not more than that. */
static clo_number fitted(double value, int digits, size_t room)
{
    clo_number text = clo_i_short(value, digits);
    while (strlen(text.text) > room && digits > 1) text = clo_i_short(value, --digits);
    return text;
}

/* " 4.983 ± 0.017  ██▎ ", CELL wide but for blanks at the end of a line. */
static void write_cell(clo_writer *w, const cell *c, bool ascii)
{
    char bar[3 * BAR + 1];
    const clo_number off = fitted(c->noise, 2, NOISE);
    char own[64];
    if (c->schema && clo_i_schema_output_text(c->schema, c->column, c->value, own, sizeof own))
        clo_i_writer_format(w, " %*.*s", NUMBER, NUMBER, own); /* of a date year and month */
    else
        clo_i_writer_format(w, " %*s", NUMBER, fitted(c->value, c->digits, NUMBER).text);
    if (isnan(c->noise))
        clo_i_writer_format(w, "%*s", NOISE + 4, "");
    else
        clo_i_writer_format(w, "%s%-*s ", ascii ? " +-" : " ± ", NOISE,
                            isinf(c->noise) ? "any" : off.text);
    const size_t length = clo_bar_text(c->share, BAR, ascii, bar, sizeof bar);
    clo_writer_text(w, bar);
    if (c->last)
        clo_writer_text(w, "\n");
    else
        clo_i_writer_format(w, "%*s", (int)(BAR - length), "");
}

static void find_range(const double *first, size_t step, size_t count, double range[2])
{
    range[0] = INFINITY;
    range[1] = -INFINITY;
    for (size_t c = 0; c < count; c++) {
        range[0] = fmin(range[0], first[c * step]);
        range[1] = fmax(range[1], first[c * step]);
    }
}

/* Numbers of records: a bar from 0 to the largest. */
static void write_sizes(clo_writer *w, const clo_release *release, size_t first, size_t last,
                        size_t count, bool ascii)
{
    clo_array sizes;
    double range[2];
    if (!clo_release_find(release, "sizes", &sizes) || sizes.dimensions != 1 ||
        sizes.shape[0] != count)
        return;
    find_range(sizes.data, 1, count, range);
    write_name(w, "records");
    for (size_t c = first; c < last; c++) {
        const double share = range[1] > 0 ? sizes.data[c] / range[1] : 0;
        const cell one = { round(sizes.data[c]), NAN, share, NUMBER, c + 1 == last, NULL, 0 };
        write_cell(w, &one, ascii);
    }
}

/* A share's noise is in points of its percent. */
static double points_of(const clo_release *release, size_t j)
{
    const clo_schema *const schema = release->facts.schema;
    return schema && clo_i_schema_of_output(schema, j, NULL)->kind == CLO_FIELD_LEVELS ? 100 : 1;
}

static void write_row(clo_writer *w, const clo_release *release, const clo_array *centers,
                      const double *noise, size_t j, size_t first, size_t last, bool ascii)
{
    const size_t cols = centers->shape[1];
    const char *const name = clo_release_column_name(release, j);
    char number[32];
    double range[2];
    snprintf(number, sizeof number, "%zu", j + 1);
    find_range(centers->data + j, cols, centers->shape[0], range);
    write_name(w, name && name[0] ? name : number);
    for (size_t c = first; c < last; c++) {
        const double at = centers->data[c * cols + j];
        const double share = range[1] > range[0] ? (at - range[0]) / (range[1] - range[0]) : 0;
        const double off = noise ? noise[c * cols + j] * points_of(release, j) : NAN;
        const cell one = { at, off, share, 4, c + 1 == last, release->facts.schema, j };
        write_cell(w, &one, ascii);
    }
}

static void write_block(clo_writer *w, const clo_release *release, const clo_array *centers,
                        const double *noise, size_t first, size_t shown, bool ascii)
{
    const size_t last = shown - first > ACROSS ? first + ACROSS : shown;
    const size_t lines = centers->shape[1] < MOST_LINES ? centers->shape[1] : MOST_LINES;
    clo_writer_text(w, "\n");
    write_name(w, "");
    clo_i_writer_format(w, "%*zu", NUMBER + 1, first);
    for (size_t c = first + 1; c < last; c++) clo_i_writer_format(w, "%*zu", CELL, c);
    clo_writer_text(w, "\n");
    for (size_t j = 0; j < lines; j++) write_row(w, release, centers, noise, j, first, last, ascii);
    write_sizes(w, release, first, last, centers->shape[0], ascii);
}

static clo_status write_bars(const clo_release *release, bool ascii, clo_writer *w, clo_error *err)
{
    clo_array centers;
    double *noise = NULL;
    (void)clo_release_find(release, "centers", &centers);
    const size_t k = centers.shape[0], cols = centers.shape[1];
    const size_t shown = k < MOST_CENTRES ? k : MOST_CENTRES;
    if (clo_release_center_noise(release, NULL)) {
        CLO_TRY(clo_i_alloc(k * cols, sizeof *noise, &noise, err));
        (void)clo_release_center_noise(release, noise);
    }
    clo_i_writer_format(w, "\ncenters (%zu x %zu)\n", k, cols);
    for (size_t first = 0; first < shown; first += ACROSS)
        write_block(w, release, &centers, noise, first, shown, ascii);
    if (shown < k || cols > MOST_LINES)
        clo_writer_text(w, "  Not all are shown: a wide report shows them, and so does a page.\n");
    clo_i_writer_format(w,
                        "\n"
                        "  A bar goes from the lowest value of its row to the highest%s\n",
                        noise ? ".  The number\n"
                                "  after +- is the standard deviation of the noise, in the units "
                                "of the column."
                              : ".");
    clo_i_free(noise);
    return CLO_OK;
}

clo_status clo_i_bars_unicode(const clo_release *release, clo_writer *w, clo_error *err)
{
    return write_bars(release, false, w, err);
}

clo_status clo_i_bars_ascii(const clo_release *release, clo_writer *w, clo_error *err)
{
    return write_bars(release, true, w, err);
}
