/* ranges.c - from where to where each column reaches: one scale for all, and the numbers beside. */
#include "draw/draw.h"
#include <math.h>
#include <stdio.h>

static const double WIDTH = 420, NAMES = 112, ROW = 19, TOP = 8, RIGHT = 300;

static clo_scale scale_of(const clo_ranges *r)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < r->rows; i++) {
        if (isfinite(r->low[i])) low = fmin(low, r->low[i]);
        if (isfinite(r->high[i])) high = fmax(high, r->high[i]);
    }
    return clo_i_scale(low, high, NAMES, RIGHT, 4, true);
}

void clo_i_draw_ranges(clo_writer *w, const clo_caption *caption, const clo_ranges *r)
{
    const clo_scale s = scale_of(r);
    const double bottom = TOP + ROW * (double)r->rows;
    clo_picture p;
    char data[64], text[96];
    double end = -1e9;
    clo_i_picture_open(&p, w, caption, WIDTH, bottom + 24);
    clo_i_group_open(&p, "data-axis=\"x\"");
    for (size_t i = 0; i < s.tick_count; i++) {
        const clo_number number = clo_i_tick(s.ticks[i]);
        const double at = clo_i_place(&s, s.ticks[i]);
        const double half = clo_i_text_width(number.text, 11) / 2;
        clo_i_draw_line(&p, "grid", at, TOP, at, bottom);
        if (at - half < end + 6) continue;
        clo_i_draw_text(&p, "s", 'm', at, bottom + 15, 1e9, number.text);
        end = at + half;
    }
    clo_i_group_close(&p);
    for (size_t i = 0; i < r->rows; i++) {
        const double y = TOP + ROW * (double)i;
        clo_i_draw_text(&p, "s", 'e', NAMES - 8, y + 13, NAMES - 12, r->names[i]);
        if (!isfinite(r->low[i]) || !isfinite(r->high[i])) continue;
        const double from = clo_i_place(&s, r->low[i]), to = clo_i_place(&s, r->high[i]);
        snprintf(data, sizeof data, "data-at=\"%zu\"", r->numbers[i]);
        clo_i_group_open(&p, data);
        clo_i_draw_box(&p, "bar c0", from, y + 5, fmax(to - from, 2), ROW - 10);
        clo_i_group_close(&p);
        snprintf(text, sizeof text, "%s … %s", clo_i_short(r->low[i], 4).text,
                 clo_i_short(r->high[i], 4).text);
        clo_i_draw_text(&p, "s", 's', RIGHT + 8, y + 13, WIDTH - RIGHT - 10, text);
    }
    clo_i_picture_close(&p);
}
