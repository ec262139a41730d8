/* matrix.c - one number for each pair: the lower half of a matrix, a cell a pair, with its number
 * in it where there is room. */
#include "draw/draw.h"
#include <math.h>
#include <stdio.h>

static const double LEFT = 34, TOP = 10, MOST_CELL = 52, LEAST_CELL = 12, ROOM = 376, LEAST = 420;

static void draw_cell(clo_picture *p, const clo_halves *m, size_t i, size_t j, double side)
{
    const double at = m->at[i * m->count + j], x = LEFT + side * (double)j;
    const double y = TOP + side * ((double)i - 1);
    char data[96], kind[8], text[128];
    if (!isfinite(at)) return;
    const int shade = (int)fmin(fmax(at / m->most, 0) * CLO_SHADES, CLO_SHADES - 1);
    snprintf(data, sizeof data, "data-pair=\"%zu %zu\"", i, j);
    clo_i_group_open(p, data);
    snprintf(text, sizeof text, "%zu and %zu: %s%s", j, i, clo_i_short(at, 3).text, m->unit);
    clo_i_group_title(p, text);
    snprintf(kind, sizeof kind, "h%d", shade);
    clo_i_draw_box(p, kind, x, y, side - 1, side - 1);
    snprintf(text, sizeof text, "%s%s", clo_i_short(at, side < 40 ? 2 : 3).text, m->unit);
    if (clo_i_text_width(text, 10) < side - 4)
        clo_i_draw_text(p, shade > 4 ? "o" : "u", 'm', x + side / 2, y + side / 2 + 4, side, text);
    clo_i_group_close(p);
}

void clo_i_draw_matrix(clo_writer *w, const clo_caption *caption, const clo_halves *m)
{
    clo_picture p;
    char number[24];
    const double cells = (double)m->count - 1;
    const double side = fmin(fmax(ROOM / cells, LEAST_CELL), MOST_CELL);
    clo_i_picture_open(&p, w, caption, fmax(LEAST, LEFT + side * cells + 10),
                       TOP + side * cells + 24);
    const size_t step = side < 18 ? 2 : 1;
    for (size_t i = 0; i < m->count; i++) {
        snprintf(number, sizeof number, "%zu", i);
        if (i % step) continue;
        if (i > 0)
            clo_i_draw_text(&p, "n", 'e', LEFT - 6, TOP + side * ((double)i - 0.5) + 4, 30, number);
        if (i + 1 < m->count)
            clo_i_draw_text(&p, "n", 'm', LEFT + side * ((double)i + 0.5), TOP + side * cells + 15,
                            30, number);
    }
    for (size_t i = 1; i < m->count; i++)
        for (size_t j = 0; j < i; j++) draw_cell(&p, m, i, j, side);
    clo_i_picture_close(&p);
}
