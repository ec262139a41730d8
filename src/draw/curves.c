/*
 * curves.c - lines over one variable: what an epsilon buys, a loss over the number of clusters, a
 * spectrum beside the edge of its noise, a budget over time.
 */
#include "draw/draw.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const double WIDTH = 420, RIGHT = 404, HEIGHT = 220, LEGEND = 17;
/* Seconds: no axis of dates is shorter, and up to which it says them. */
static const double SHORTEST = 10, TO_THE_SECOND = 600;

typedef struct frame {
    const clo_curves *curves;
    clo_scale x, y;
    double top;
} frame;

static void widen(const double *numbers, size_t count, bool log, double range[2])
{
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(numbers[i]) || (log && !(numbers[i] > 0))) continue;
        range[0] = fmin(range[0], numbers[i]);
        range[1] = fmax(range[1], numbers[i]);
    }
}

/* With the ends of the bars; on a scale of logarithms those at or below 0 are cut off. */
static void widen_by_error(const clo_line_of *line, bool log, double range[2])
{
    for (size_t i = 0; line->error && i < line->count; i++) {
        const double ends[2] = { line->y[i] - line->error[i], line->y[i] + line->error[i] };
        widen(ends, 2, log, range);
    }
}

static double widest(const clo_scale *s)
{
    double width = 0;
    for (size_t i = 0; i < s->tick_count; i++)
        width = fmax(width, clo_i_text_width(clo_i_tick(s->ticks[i]).text, 11));
    return width;
}

static clo_scale y_scale(const clo_curves *curves, double range[2], double from, double to)
{
    /* Powers of ten are no ticks for numbers that are nearly the same. */
    if (curves->y_log && range[1] > 3 * range[0])
        return clo_i_scale_log(range[0] * 0.85, range[1] * 1.15, from, to);
    const double room = 0.05 * (range[1] - range[0]);
    const double low = curves->y_zero ? fmin(0, range[0]) : range[0] - room;
    return clo_i_scale(low, range[1] + room, from, to, 5, true);
}

/* Ticks at whole numbers; of dates, at both ends. */
static void mend_x(const clo_curves *curves, clo_scale *x)
{
    size_t kept = 0;
    if (curves->dates) {
        x->ticks[0] = x->low;
        x->ticks[1] = x->high;
        x->tick_count = 2;
    }
    if (!curves->x_whole) return;
    for (size_t i = 0; i < x->tick_count; i++)
        if (x->ticks[i] == floor(x->ticks[i])) x->ticks[kept++] = x->ticks[i];
    x->tick_count = kept;
}

static bool is_named(const clo_line_of *line)
{
    for (size_t i = 0; line->name && i < line->count; i++)
        if (isfinite(line->x[i]) && isfinite(line->y[i])) return true;
    return false;
}

/* How many need a name: none where the first is alone. */
static size_t named_lines(const clo_curves *curves)
{
    size_t count = 0;
    for (size_t i = 0; i < curves->count; i++) count += is_named(&curves->lines[i]);
    return count == 1 && is_named(&curves->lines[0]) ? 0 : count;
}

static void lay_out(frame *f)
{
    const clo_curves *const curves = f->curves;
    double x[2] = { INFINITY, -INFINITY }, y[2] = { INFINITY, -INFINITY };
    for (size_t i = 0; i < curves->count; i++) {
        widen(curves->lines[i].x, curves->lines[i].count, curves->x_log, x);
        widen(curves->lines[i].y, curves->lines[i].count, curves->y_log, y);
        widen_by_error(&curves->lines[i], curves->y_log, y);
    }
    if (curves->dates && x[1] - x[0] < SHORTEST) {
        const double more = (SHORTEST - (x[1] - x[0])) / 2;
        x[0] -= more;
        x[1] += more;
    }
    if (!isnan(curves->limit)) widen(&curves->limit, 1, curves->y_log, y);
    if (!isnan(curves->here)) widen(&curves->here, 1, curves->x_log, x);
    f->top = 28 + LEGEND * (double)named_lines(curves);
    const clo_scale rough = y_scale(curves, y, f->top + HEIGHT, f->top);
    const double left = 14 + widest(&rough), room = curves->dates ? 0 : 0.03 * (x[1] - x[0]);
    f->y = rough;
    f->x = curves->x_log ? clo_i_scale_log(x[0] / 1.1, x[1] * 1.1, left, RIGHT)
                         : clo_i_scale(x[0] - room, x[1] + room, left, RIGHT, 7, true);
    mend_x(curves, &f->x);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* The bar of one point, in the colour of its line. */
static void draw_error(clo_picture *p, const frame *f, size_t index, size_t i)
{
    const clo_line_of *const line = &f->curves->lines[index];
    const double x = clo_i_place(&f->x, line->x[i]);
    const double low = line->y[i] - line->error[i], high = line->y[i] + line->error[i];
    if (!(line->error[i] > 0)) return;
    const double bottom =
        f->curves->y_log && !(low > 0) ? f->y.from : fmin(clo_i_place(&f->y, low), f->y.from);
    char kind[24];
    snprintf(kind, sizeof kind, "noise c%zu", index % CLO_COLOURS);
    clo_i_draw_line(p, kind, x, bottom, x, clo_i_place(&f->y, high));
}

static clo_status draw_line(clo_picture *p, const frame *f, size_t index, clo_error *err)
{
    const clo_line_of *const line = &f->curves->lines[index];
    double *places = NULL;
    size_t count = 0;
    char data[80], told[120];
    CLO_TRY(clo_i_alloc(4 * line->count + 1, sizeof *places, &places, err));
    double *const ys = places + 2 * line->count;
    for (size_t i = 0; i < line->count; i++) {
        const double x = clo_i_place(&f->x, line->x[i]), y = clo_i_place(&f->y, line->y[i]);
        if (f->curves->steps && count) {
            places[count] = x;
            ys[count] = ys[count - 1];
            count++;
        }
        places[count] = x;
        ys[count++] = y;
    }
    if (!line->points) clo_i_draw_path(p, index, places, ys, count);
    for (size_t i = 0; line->count <= 100 && i < line->count; i++) {
        if (!isfinite(line->x[i]) || !isfinite(clo_i_place(&f->y, line->y[i]))) continue;
        snprintf(data, sizeof data, "data-line=\"%zu\" data-point=\"%zu\"", index, i);
        clo_i_group_open(p, data);
        snprintf(told, sizeof told, "%s: %s%s%s", clo_i_short(line->x[i], 4).text,
                 clo_i_short(line->y[i], 3).text, line->error ? " ± " : "",
                 line->error ? clo_i_short(line->error[i], 2).text : "");
        if (!f->curves->dates) clo_i_group_title(p, told);
        if (line->error) draw_error(p, f, index, i);
        clo_i_draw_mark(p, index, clo_i_place(&f->x, line->x[i]), clo_i_place(&f->y, line->y[i]),
                        line->points ? 5 : 3.2);
        clo_i_group_close(p);
    }
    clo_i_free(places);
    return CLO_OK;
}

static void draw_legend(clo_picture *p, const frame *f)
{
    double y = 12;
    if (named_lines(f->curves) == 0) return;
    for (size_t i = 0; i < f->curves->count; i++) {
        const clo_line_of *const line = &f->curves->lines[i];
        if (!is_named(line)) continue;
        const double x[2] = { 8, 36 }, ys[2] = { y - 4, y - 4 };
        if (!line->points) clo_i_draw_path(p, i, x, ys, 2);
        clo_i_draw_mark(p, i, 22, y - 4, line->points ? 5 : 3.2);
        clo_i_draw_text(p, "", 's', 42, y, WIDTH - 48, line->name);
        y += LEGEND;
    }
}

static void draw_limits(clo_picture *p, const frame *f)
{
    const clo_curves *const c = f->curves;
    if (!isnan(c->limit)) {
        const double y = clo_i_place(&f->y, c->limit);
        clo_i_group_open(p, "data-limit=\"y\"");
        clo_i_draw_line(p, "limit", f->x.from, y, f->x.to, y);
        const bool above = y > f->top + 18;
        clo_i_draw_text(p, "s", 's', f->x.from + 6, above ? y - 5 : y + 14, f->x.to - f->x.from - 8,
                        c->limit_name);
        clo_i_group_close(p);
    }
    if (!isnan(c->here)) {
        const double x = clo_i_place(&f->x, c->here);
        const bool left = x > (f->x.from + f->x.to) / 2;
        clo_i_draw_line(p, "limit", x, f->y.to, x, f->y.from);
        clo_i_draw_text(p, "s", left ? 'e' : 's', left ? x - 5 : x + 5, f->y.from - 7,
                        (left ? x - f->x.from : f->x.to - x) - 8, c->here_name);
    }
}

/* Dates stand at both ends of their axis; with seconds, where minutes would not tell them apart. */
static void draw_dates(clo_picture *p, const frame *f)
{
    const char *const layout =
        f->x.high - f->x.low < TO_THE_SECOND ? "%Y-%m-%d %H:%M:%S" : "%Y-%m-%d %H:%M";
    for (int i = 0; i < 2; i++) {
        const time_t at = (time_t)(i ? f->x.high : f->x.low);
        struct tm utc;
        char text[64] = "";
        if (gmtime_r(&at, &utc)) strftime(text, sizeof text, layout, &utc);
        clo_i_draw_text(p, "s", i ? 'e' : 's', i ? f->x.to : f->x.from, f->y.from + 15, 200, text);
    }
}

clo_status clo_i_draw_curves(clo_writer *w, const clo_caption *caption, const clo_curves *curves,
                             clo_error *err)
{
    clo_picture p;
    frame f = { .curves = curves };
    clo_status status = CLO_OK;
    lay_out(&f);
    clo_i_picture_open(&p, w, caption, WIDTH, f.top + HEIGHT + 44);
    draw_legend(&p, &f);
    clo_scale x = f.x;
    if (curves->dates) x.tick_count = 0;
    clo_i_draw_axes(&p, &x, &f.y, curves->x_name, curves->y_name);
    if (curves->dates) draw_dates(&p, &f);
    draw_limits(&p, &f);
    for (size_t i = 0; i < curves->count && !status; i++) status = draw_line(&p, &f, i, err);
    clo_i_picture_close(&p);
    return status;
}
