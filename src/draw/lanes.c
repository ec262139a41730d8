/*
 * lanes.c - the centres, a lane a column: each column on a scale in its own units, each centre on a
 * line of its own within it, with a bar for the noise.  Read along a lane to compare centres, down
 * the page to follow one: parallel coordinates, laid down, so that names are read as they stand.
 */
#include "draw/draw.h"
#include <math.h>
#include <stdio.h>

static const double WIDTH = 420, LEFT = 30, RIGHT = 406, STEP = 11;
static const double NAME = 17, TICKS = 20, MOST_HEIGHT = 1000;

static double lane_height(size_t count)
{
    return NAME + STEP * (double)count + TICKS + 6;
}

bool clo_i_lanes_fit(size_t rows, size_t count)
{
    return count <= 12 && (double)rows * lane_height(count) <= MOST_HEIGHT;
}

/* Noise is followed out to the range of the centres, and cut there. */
static clo_scale lane_scale(const clo_lanes *lanes, size_t row)
{
    const double *const at = lanes->at + row * lanes->count;
    double low = INFINITY, high = -INFINITY;
    for (size_t c = 0; c < lanes->count; c++)
        if (isfinite(at[c])) {
            low = fmin(low, at[c]);
            high = fmax(high, at[c]);
        }
    const double range = high - low;
    for (size_t c = 0; lanes->noise && c < lanes->count; c++) {
        const double noise = lanes->noise[row * lanes->count + c];
        if (!isfinite(at[c]) || !isfinite(noise)) continue;
        const double reach = range > 0 ? fmin(noise, range) : noise;
        low = fmin(low, at[c] - reach);
        high = fmax(high, at[c] + reach);
    }
    const double room = 0.03 * (high - low);
    return clo_i_scale(low - room, high + room, LEFT, RIGHT, 5, true);
}

static double cut(double place)
{
    return fmin(fmax(place, LEFT), RIGHT);
}

static clo_number number_of(const clo_lanes *lanes, size_t row, double value, clo_number plain)
{
    clo_number text = plain;
    if (lanes->call &&
        !lanes->call(lanes->user, lanes->numbers[row], value, text.text, sizeof text.text))
        text = plain;
    return text;
}

static void draw_centre(clo_picture *p, const clo_lanes *lanes, const clo_scale *s, size_t row,
                        size_t c, double y)
{
    const double at = lanes->at[row * lanes->count + c], x = clo_i_place(s, at);
    const double noise = lanes->noise ? lanes->noise[row * lanes->count + c] : NAN;
    char data[96], told[200], kind[32];
    clo_i_draw_text(p, "u", 'e', LEFT - 8, y + 3.5, 24, lanes->labels[c]);
    if (!isfinite(at)) return;
    snprintf(data, sizeof data, "data-at=\"%zu %zu\"", lanes->numbers[row], c);
    clo_i_group_open(p, data);
    snprintf(told, sizeof told, "%.40s: %s%s%s", lanes->labels[c],
             number_of(lanes, row, at, clo_i_short(at, 5)).text, isnan(noise) ? "" : " ± ",
             isnan(noise) ? "" : clo_i_short(noise, 2).text);
    clo_i_group_title(p, told);
    snprintf(kind, sizeof kind, "noise c%zu", lanes->kinds[c] % CLO_COLOURS);
    const bool lost = noise > s->high - s->low; /* across the whole lane */
    if (!isnan(noise) && !lost)
        clo_i_draw_line(p, kind, cut(clo_i_place(s, at - noise)), y,
                        cut(clo_i_place(s, at + noise)), y);
    (lost ? clo_i_draw_open_mark : clo_i_draw_mark)(p, lanes->kinds[c], x, y, 4);
    clo_i_group_close(p);
}

/* Numbers under a lane that do not touch. */
static void draw_ticks(clo_picture *p, const clo_lanes *lanes, const clo_scale *s, size_t row,
                       double top, double bottom)
{
    const size_t column = lanes->numbers[row];
    char data[48];
    double end = -1e9;
    snprintf(data, sizeof data, "data-axis=\"%zu\"", column);
    clo_i_group_open(p, data);
    for (size_t i = 0; i < s->tick_count; i++) {
        const clo_number number = number_of(lanes, row, s->ticks[i], clo_i_tick(s->ticks[i]));
        const double at = clo_i_place(s, s->ticks[i]);
        const double half = clo_i_text_width(number.text, 11) / 2;
        clo_i_draw_line(p, "grid", at, top, at, bottom);
        if (at - half < end + 6 || at + half > WIDTH) continue;
        clo_i_draw_text(p, "s", 'm', at, bottom + 13, 1e9, number.text);
        end = at + half;
    }
    clo_i_draw_line(p, "axis", LEFT, bottom, RIGHT, bottom);
    clo_i_group_close(p);
}

static void draw_lane(clo_picture *p, const clo_lanes *lanes, size_t row, double top)
{
    const clo_scale s = lane_scale(lanes, row);
    const double bottom = top + NAME + STEP * (double)lanes->count;
    clo_i_draw_text(p, "", 's', 6, top + 12, WIDTH - 12, lanes->names[row]);
    draw_ticks(p, lanes, &s, row, top + NAME, bottom);
    for (size_t c = 0; c < lanes->count; c++)
        draw_centre(p, lanes, &s, row, c, top + NAME + STEP * ((double)c + 0.5));
}

void clo_i_draw_lanes(clo_writer *w, const clo_caption *caption, const clo_lanes *lanes)
{
    clo_picture p;
    const double each = lane_height(lanes->count);
    clo_i_picture_open(&p, w, caption, WIDTH, each * (double)lanes->rows + 2);
    for (size_t row = 0; row < lanes->rows; row++)
        draw_lane(&p, lanes, row, 2 + each * (double)row);
    clo_i_picture_close(&p);
}
