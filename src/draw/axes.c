/* axes.c - two axes about a box: lines, ticks with numbers that do not touch, names. */
#include "draw/draw.h"
#include <math.h>

enum { TICK_SIZE = 11 };

/* Every so many ticks has a number, so that none touches the next. */
static size_t numbered(const clo_scale *x)
{
    for (size_t step = 1; step < x->tick_count; step++) {
        double end = -1e9;
        bool clear = true;
        for (size_t i = 0; i < x->tick_count && clear; i += step) {
            const double half = clo_i_text_width(clo_i_tick(x->ticks[i]).text, TICK_SIZE) / 2;
            const double at = clo_i_place(x, x->ticks[i]);
            clear = at - half > end + 6;
            end = at + half;
        }
        if (clear) return step;
    }
    return x->tick_count ? x->tick_count : 1;
}

void clo_i_draw_axes(clo_picture *p, const clo_scale *x, const clo_scale *y, const char *x_name,
                     const char *y_name)
{
    const double left = fmin(x->from, x->to), right = fmax(x->from, x->to);
    const double top = fmin(y->from, y->to), bottom = fmax(y->from, y->to);
    const size_t step = numbered(x);
    clo_i_group_open(p, "data-axis=\"x\"");
    for (size_t i = 0; i < x->tick_count; i++) {
        const double at = clo_i_place(x, x->ticks[i]);
        clo_i_draw_line(p, "grid", at, top, at, bottom);
        if (i % step == 0)
            clo_i_draw_text(p, "s", 'm', at, bottom + 15, 1e9, clo_i_tick(x->ticks[i]).text);
    }
    clo_i_group_close(p);
    clo_i_group_open(p, "data-axis=\"y\"");
    for (size_t i = 0; i < y->tick_count; i++) {
        const double at = clo_i_place(y, y->ticks[i]);
        clo_i_draw_line(p, "grid", left, at, right, at);
        clo_i_draw_text(p, "s", 'e', left - 5, at + 4, 1e9, clo_i_tick(y->ticks[i]).text);
    }
    clo_i_group_close(p);
    clo_i_draw_box(p, "axis", left, top, right - left, bottom - top);
    const double middle = (left + right) / 2;
    clo_i_draw_text(p, "", 'm', middle, bottom + 34, 2 * fmin(middle - 4, p->width - 4 - middle),
                    x_name);
    /* Above the axis, not turned: a turned name is slow to read, and this has more room. */
    clo_i_draw_text(p, "", 's', 6, top - 9, right - 6, y_name);
}
