/*
 * heat.c - many columns or many centres: a line of cells a column.  Lightness alone carries the
 * number, so that no colour need be told from another; the size of a cell says how sure it is.
 */
#include "draw/draw.h"
#include <math.h>
#include <stdio.h>

static const double NAMES = 128, ROW = 17, TOP = 20, RANGE = 112, LEAST_WIDTH = 420;
static const double LEAST_CELL = 10, MOST_CELL = 30, LEGEND = 46;

typedef struct range {
    double low, high;
} range;

static range range_of(const clo_lanes *lanes, size_t row)
{
    range r = { INFINITY, -INFINITY };
    for (size_t c = 0; c < lanes->count; c++) {
        const double at = lanes->at[row * lanes->count + c];
        if (!isfinite(at)) continue;
        r.low = fmin(r.low, at);
        r.high = fmax(r.high, at);
    }
    return r;
}

/* 1: noise is nothing beside the range of the row; 0: noise is all of it. */
static double sureness(double noise, range r)
{
    if (isnan(noise) || !(r.high > r.low)) return 1;
    return fmax(0, 1 - noise / (r.high - r.low));
}

static void draw_cell(clo_picture *p, const clo_lanes *lanes, size_t row, size_t c, range r,
                      double x, double y, double wide)
{
    const double at = lanes->at[row * lanes->count + c];
    const double noise = lanes->noise ? lanes->noise[row * lanes->count + c] : NAN;
    const double share = r.high > r.low ? (at - r.low) / (r.high - r.low) : 0.5;
    const double size = 0.3 + 0.7 * sureness(noise, r);
    char kind[32], data[96], told[200];
    if (!isfinite(at)) return;
    snprintf(data, sizeof data, "data-at=\"%zu %zu\"", lanes->numbers[row], c);
    clo_i_group_open(p, data);
    snprintf(told, sizeof told, "%.40s: %s%s%s", lanes->labels[c], clo_i_short(at, 4).text,
             isnan(noise) ? "" : " ± ", isnan(noise) ? "" : clo_i_short(noise, 2).text);
    clo_i_group_title(p, told);
    snprintf(kind, sizeof kind, "h%d", (int)fmin(share * CLO_SHADES, CLO_SHADES - 1));
    const double w = (wide - 1) * size, h = (ROW - 1) * size;
    clo_i_draw_box(p, kind, x + (wide - w) / 2, y + (ROW - h) / 2, w, h);
    clo_i_group_close(p);
}

static void draw_row(clo_picture *p, const clo_lanes *lanes, size_t row, double wide)
{
    const double y = TOP + ROW * (double)row, end = NAMES + wide * (double)lanes->count;
    const range r = range_of(lanes, row);
    char text[96];
    clo_i_draw_text(p, "s", 'e', NAMES - 6, y + 12, NAMES - 12, lanes->names[row]);
    for (size_t c = 0; c < lanes->count; c++)
        draw_cell(p, lanes, row, c, r, NAMES + wide * (double)c, y, wide);
    for (int digits = 3; digits > 0; digits--) {
        snprintf(text, sizeof text, "%s … %s", clo_i_short(r.low, digits).text,
                 clo_i_short(r.high, digits).text);
        if (clo_i_text_width(text, 11) < RANGE - 8) break;
    }
    clo_i_draw_text(p, "s", 's', end + 6, y + 12, RANGE - 8, text);
}

/* The numbers of the centres above, as many as do not touch. */
static void draw_head(clo_picture *p, const clo_lanes *lanes, double wide)
{
    double end = -1e9;
    for (size_t c = 0; c < lanes->count; c++) {
        const double half = clo_i_text_width(lanes->labels[c], 11) / 2;
        const double at = NAMES + wide * ((double)c + 0.5);
        if (at - half < end + 3) continue;
        clo_i_draw_text(p, "n", 'm', at, TOP - 6, 60, lanes->labels[c]);
        end = at + half;
    }
}

static void draw_legend(clo_picture *p, const clo_lanes *lanes, double y)
{
    char kind[8];
    double x = 62;
    clo_i_draw_text(p, "s", 's', 6, y + 12, 60, "lowest");
    for (int i = 0; i < CLO_SHADES; i++, x += 14) {
        snprintf(kind, sizeof kind, "h%d", i);
        clo_i_draw_box(p, kind, x, y + 1, 13, 13);
    }
    clo_i_draw_text(p, "s", 's', x + 6, y + 12, 200, "highest in its row");
    if (!lanes->noise) return;
    x = 62;
    clo_i_draw_text(p, "s", 's', 6, y + 31, 60, "unsure");
    for (int i = 0; i < CLO_SHADES; i++, x += 14) {
        const double side = 13 * (0.3 + 0.7 * i / (CLO_SHADES - 1));
        clo_i_draw_box(p, "h6", x + (13 - side) / 2, y + 20 + (13 - side) / 2, side, side);
    }
    clo_i_draw_text(p, "s", 's', x + 6, y + 31, 200, "sure");
}

void clo_i_draw_heat(clo_writer *w, const clo_caption *caption, const clo_lanes *lanes)
{
    clo_picture p;
    const double count = (double)lanes->count;
    const double wide = fmin(fmax((LEAST_WIDTH - NAMES - RANGE) / count, LEAST_CELL), MOST_CELL);
    const double width = fmax(LEAST_WIDTH, NAMES + wide * count + RANGE);
    const double rows = TOP + ROW * (double)lanes->rows;
    clo_i_picture_open(&p, w, caption, width, rows + LEGEND);
    draw_head(&p, lanes, wide);
    for (size_t row = 0; row < lanes->rows; row++) draw_row(&p, lanes, row, wide);
    draw_legend(&p, lanes, rows + 8);
    clo_i_picture_close(&p);
}
