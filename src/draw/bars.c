/* bars.c - how much of each column is in each direction: bars to both sides of 0, side by side. */
#include "draw/draw.h"
#include <math.h>
#include <stdio.h>

static const double NAMES = 128, ROW = 17, TOP = 22, LEAST_WIDTH = 420, RIGHT = 10;
static const double LEAST_PANEL = 46, MOST_PANEL = 140, GAP = 9;

static double largest(const clo_bars *bars)
{
    double most = 0;
    for (size_t i = 0; i < bars->rows * bars->panels; i++)
        if (isfinite(bars->at[i])) most = fmax(most, fabs(bars->at[i]));
    return most > 0 ? most : 1;
}

static void draw_panel(clo_picture *p, const clo_bars *bars, size_t panel, double left, double wide,
                       double most)
{
    const double bottom = TOP + ROW * (double)bars->rows;
    const clo_scale s = { .low = -most, .high = most, .from = left + GAP, .to = left + wide - GAP };
    const double zero = clo_i_place(&s, 0);
    char kind[32], data[96];
    clo_i_draw_text(p, "n", 'm', zero, TOP - 8, wide - 2, bars->titles[panel]);
    snprintf(kind, sizeof kind, "bar c%zu", bars->kinds[panel] % CLO_COLOURS);
    for (size_t row = 0; row < bars->rows; row++) {
        const double at = bars->at[row * bars->panels + panel], end = clo_i_place(&s, at);
        if (!isfinite(at)) continue;
        snprintf(data, sizeof data, "data-at=\"%zu %zu\"", bars->numbers[row], panel);
        clo_i_group_open(p, data);
        clo_i_group_title(p, clo_i_short(at, 4).text);
        clo_i_draw_box(p, kind, fmin(zero, end), TOP + ROW * (double)row + 3, fabs(end - zero),
                       ROW - 6);
        clo_i_group_close(p);
    }
    clo_i_draw_line(p, "axis", zero, TOP, zero, bottom);
    clo_i_draw_text(p, "s", 'm', zero, bottom + 14, wide, "0");
    if (wide < 100) return;
    clo_i_draw_text(p, "s", 's', left + GAP, bottom + 14, wide, clo_i_short(-most, 2).text);
    clo_i_draw_text(p, "s", 'e', left + wide - GAP, bottom + 14, wide, clo_i_short(most, 2).text);
}

void clo_i_draw_bars(clo_writer *w, const clo_caption *caption, const clo_bars *bars)
{
    clo_picture p;
    const double count = (double)bars->panels, most = largest(bars);
    const double wide = fmin(fmax((LEAST_WIDTH - NAMES - RIGHT) / count, LEAST_PANEL), MOST_PANEL);
    const double width = fmax(LEAST_WIDTH, NAMES + wide * count + RIGHT);
    clo_i_picture_open(&p, w, caption, width, TOP + ROW * (double)bars->rows + 22);
    for (size_t row = 0; row < bars->rows; row++) {
        const double y = TOP + ROW * (double)row;
        clo_i_draw_text(&p, "s", 'e', NAMES - 6, y + 12, NAMES - 12, bars->names[row]);
        clo_i_draw_line(&p, "grid", NAMES, y + ROW, NAMES + wide * count, y + ROW);
    }
    for (size_t panel = 0; panel < bars->panels; panel++)
        draw_panel(&p, bars, panel, NAMES + wide * (double)panel, wide, most);
    clo_i_picture_close(&p);
}
