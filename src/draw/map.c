/*
 * map.c - centres on a plane: where each is, how far noise may have moved it, how far its records
 * reach and how many they are.  Numbers stand beside marks where they touch nothing.
 */
#include "draw/draw.h"
#include <math.h>
#include <stdio.h>

static const double WIDTH = 420, TOP = 30, RIGHT = 404, MOST_HEIGHT = 380;
static const double LEAST_MARK = 3.5, MOST_MARK = 11;
enum { LABEL_SIZE = 11, PLACES = 8 };

typedef struct box {
    double left, top, right, bottom;
} box;

typedef struct frame {
    const clo_map *map;
    clo_scale x, y;
    double heaviest;
    box *taken; /* marks, then labels */
    size_t taken_count;
} frame;

static double finite_or(double value, double otherwise)
{
    return isfinite(value) ? value : otherwise;
}

/* What belongs to a centre is in the picture in full; noise that reaches further than the centres
 * lie apart is not followed. */
static void find_range(const double *at, const double *noise, const double *width, size_t count,
                       double range[2])
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(at[i])) continue;
        low = fmin(low, at[i]);
        high = fmax(high, at[i]);
    }
    const double most = high > low ? 0.6 * (high - low) : INFINITY;
    range[0] = low;
    range[1] = high;
    for (size_t i = 0; i < count; i++) {
        const double moved = noise && noise[i] <= most ? noise[i] : 0;
        const double reach = fmax(moved, width ? finite_or(width[i], 0) : 0);
        if (!isfinite(at[i])) continue;
        range[0] = fmin(range[0], at[i] - reach);
        range[1] = fmax(range[1], at[i] + reach);
    }
    const double room = 0.06 * (range[1] - range[0]);
    range[0] -= room;
    range[1] += room;
}

static double widest_tick(const clo_scale *s)
{
    double width = 0;
    for (size_t i = 0; i < s->tick_count; i++)
        width = fmax(width, clo_i_text_width(clo_i_tick(s->ticks[i]).text, 11));
    return width;
}

/* Where both axes have one unit, the shorter range is widened until their units are as long. */
static double lay_out(frame *f)
{
    const clo_map *const map = f->map;
    double x[2], y[2], height = 300;
    find_range(map->x, map->x_noise, map->x_width, map->count, x);
    find_range(map->y, map->y_noise, map->y_width, map->count, y);
    const clo_scale rough = clo_i_scale(y[0], y[1], height, 0, 5, true);
    const double left = 14 + widest_tick(&rough), width = RIGHT - left;
    if (map->square && isfinite(x[1] - x[0]) && isfinite(y[1] - y[0]) && x[1] > x[0]) {
        const double unit = width / (x[1] - x[0]);
        double least = 170 / unit;
        if ((y[1] - y[0]) * unit > MOST_HEIGHT) {
            const double wider = (y[1] - y[0]) * width / MOST_HEIGHT;
            const double more = (wider - (x[1] - x[0])) / 2;
            x[0] -= more;
            x[1] += more;
            least = 0;
        }
        const double more = (least - (y[1] - y[0])) / 2;
        if (more > 0) {
            y[0] -= more;
            y[1] += more;
        }
        height = (y[1] - y[0]) * width / (x[1] - x[0]);
        if (!(height >= 100 && height <= MOST_HEIGHT + 1)) height = MOST_HEIGHT;
    }
    f->x = clo_i_scale(x[0], x[1], left, RIGHT, 6, true);
    f->y = clo_i_scale(y[0], y[1], TOP + height, TOP, 5, true);
    return TOP + height + 44;
}

/* Areas are as the weights. */
static double radius(const frame *f, size_t i)
{
    if (!f->map->weights || !(f->heaviest > 0)) return 6;
    const double share = f->map->weights[i] / f->heaviest;
    return share > 0 ? fmax(LEAST_MARK, MOST_MARK * sqrt(fmin(share, 1))) : LEAST_MARK;
}

static double inside(const clo_scale *s, double place)
{
    return fmin(fmax(place, fmin(s->from, s->to)), fmax(s->from, s->to));
}

static size_t kind_of(const frame *f, size_t i)
{
    return f->map->kinds ? f->map->kinds[i] : i;
}

/* Whatever reaches out of the box is drawn in full and cut off by it. */
static void draw_area(clo_picture *p, const frame *f, size_t i)
{
    const clo_map *const map = f->map;
    char kind[32];
    snprintf(kind, sizeof kind, "area c%zu", kind_of(f, i) % CLO_COLOURS);
    const double x = clo_i_place(&f->x, map->x[i]), y = clo_i_place(&f->y, map->y[i]);
    const double rx = fabs(clo_i_place(&f->x, map->x[i] + map->x_width[i]) - x);
    const double ry = fabs(clo_i_place(&f->y, map->y[i] + map->y_width[i]) - y);
    if (isfinite(rx) && isfinite(ry) && rx < 1e5 && ry < 1e5)
        clo_i_draw_ellipse(p, kind, x, y, rx, ry);
}

/* Whether noise may have moved it across half of the picture: then it has an open mark, no bars. */
static bool is_lost(const frame *f, size_t i)
{
    const clo_map *const map = f->map;
    return (map->x_noise && map->x_noise[i] > (f->x.high - f->x.low) / 2) ||
           (map->y_noise && map->y_noise[i] > (f->y.high - f->y.low) / 2);
}

static void draw_noise(clo_picture *p, const frame *f, size_t i)
{
    const clo_map *const map = f->map;
    char kind[32];
    snprintf(kind, sizeof kind, "noise c%zu", kind_of(f, i) % CLO_COLOURS);
    const double x = clo_i_place(&f->x, map->x[i]), y = clo_i_place(&f->y, map->y[i]);
    if (is_lost(f, i)) return;
    if (map->x_noise && !isnan(map->x_noise[i]))
        clo_i_draw_line(p, kind, inside(&f->x, clo_i_place(&f->x, map->x[i] - map->x_noise[i])), y,
                        inside(&f->x, clo_i_place(&f->x, map->x[i] + map->x_noise[i])), y);
    if (map->y_noise && !isnan(map->y_noise[i]))
        clo_i_draw_line(p, kind, x, inside(&f->y, clo_i_place(&f->y, map->y[i] - map->y_noise[i])),
                        x, inside(&f->y, clo_i_place(&f->y, map->y[i] + map->y_noise[i])));
}

/* ---- labels ---------------------------------------------------------------------------------- */

static bool is_free(const frame *f, const box *b, size_t but)
{
    if (b->left < f->x.from + 1 || b->right > f->x.to - 1 || b->top < f->y.to + 1 ||
        b->bottom > f->y.from - 1)
        return false;
    for (size_t i = 0; i < f->taken_count; i++) {
        const box *const t = &f->taken[i];
        if (i != but && b->left < t->right && t->left < b->right && b->top < t->bottom &&
            t->top < b->bottom)
            return false;
    }
    return true;
}

/* Beside its mark, at the first of eight places that touches nothing; nowhere where none does. */
static void draw_label(clo_picture *p, frame *f, size_t i)
{
    static const double dx[PLACES] = { .8, .8, -.8, -.8, 0, 0, 1.1, -1.1 };
    static const double dy[PLACES] = { -.8, .8, -.8, .8, -1.1, 1.1, 0, 0 };
    char number[24];
    snprintf(number, sizeof number, "%zu", i);
    const char *const text = f->map->labels ? f->map->labels[i] : number;
    const double width = fmin(clo_i_text_width(text, LABEL_SIZE), 130), height = 0.8 * LABEL_SIZE;
    const double x = clo_i_place(&f->x, f->map->x[i]), y = clo_i_place(&f->y, f->map->y[i]);
    const double away = radius(f, i) + 3;
    for (size_t at = 0; at < PLACES; at++) {
        const double middle_x = x + dx[at] * away +
                                (dx[at] > 0   ? .5
                                 : dx[at] < 0 ? -.5
                                              : 0) *
                                    width;
        const double middle_y = y + dy[at] * away +
                                (dy[at] > 0   ? .5
                                 : dy[at] < 0 ? -.5
                                              : 0) *
                                    height;
        const box b = { middle_x - width / 2 - 1, middle_y - height / 2 - 1,
                        middle_x + width / 2 + 1, middle_y + height / 2 + 1 };
        if (!is_free(f, &b, i)) continue;
        f->taken[f->taken_count++] = b;
        clo_i_draw_text(p, "n", 's', b.left + 1, b.bottom - 1, 131, text);
        return;
    }
}

static void draw_centre(clo_picture *p, const frame *f, size_t i)
{
    const clo_map *const map = f->map;
    char data[64], told[400];
    int used;
    if (!isfinite(map->x[i]) || !isfinite(map->y[i])) return;
    snprintf(data, sizeof data, "data-center=\"%zu\"", i);
    clo_i_group_open(p, data);
    used = map->labels ? snprintf(told, sizeof told, "%.80s: ", map->labels[i])
                       : snprintf(told, sizeof told, "cluster %zu: ", i);
    used += snprintf(told + used, sizeof told - (size_t)used, "%s", clo_i_short(map->x[i], 4).text);
    if (map->x_noise)
        used += snprintf(told + used, sizeof told - (size_t)used, " ± %s",
                         clo_i_short(map->x_noise[i], 2).text);
    used +=
        snprintf(told + used, sizeof told - (size_t)used, ", %s", clo_i_short(map->y[i], 4).text);
    if (map->y_noise)
        used += snprintf(told + used, sizeof told - (size_t)used, " ± %s",
                         clo_i_short(map->y_noise[i], 2).text);
    if (map->weights)
        snprintf(told + used, sizeof told - (size_t)used, "; about %.0f records",
                 fmin(fmax(map->weights[i], 0), 1e18));
    clo_i_group_title(p, told);
    (is_lost(f, i) ? clo_i_draw_open_mark
                   : clo_i_draw_mark)(p, kind_of(f, i), clo_i_place(&f->x, map->x[i]),
                                      clo_i_place(&f->y, map->y[i]), radius(f, i));
    clo_i_group_close(p);
}

static void draw_all(clo_picture *p, frame *f)
{
    const clo_map *const map = f->map;
    clo_i_draw_axes(p, &f->x, &f->y, map->x_name, map->y_name);
    if (map->box) {
        const double left = inside(&f->x, clo_i_place(&f->x, map->box[0]));
        const double right = inside(&f->x, clo_i_place(&f->x, map->box[1]));
        const double bottom = inside(&f->y, clo_i_place(&f->y, map->box[2]));
        const double top = inside(&f->y, clo_i_place(&f->y, map->box[3]));
        clo_i_draw_box(p, "edge", left, top, right - left, bottom - top);
    }
    clo_i_writer_format(p->w, "<svg ");
    clo_writer_text(p->w, "x=\"");
    clo_i_coordinate(p->w, f->x.from);
    clo_writer_text(p->w, "\" y=\"");
    clo_i_coordinate(p->w, f->y.to);
    clo_writer_text(p->w, "\" width=\"");
    clo_i_coordinate(p->w, f->x.to - f->x.from);
    clo_writer_text(p->w, "\" height=\"");
    clo_i_coordinate(p->w, f->y.from - f->y.to);
    clo_writer_text(p->w, "\" viewBox=\"");
    clo_i_coordinate(p->w, f->x.from);
    clo_writer_text(p->w, " ");
    clo_i_coordinate(p->w, f->y.to);
    clo_writer_text(p->w, " ");
    clo_i_coordinate(p->w, f->x.to - f->x.from);
    clo_writer_text(p->w, " ");
    clo_i_coordinate(p->w, f->y.from - f->y.to);
    clo_writer_text(p->w, "\">\n");
    for (size_t i = 0; map->x_width && map->y_width && i < map->count; i++) draw_area(p, f, i);
    clo_writer_text(p->w, "</svg>\n");
    for (size_t i = 0; i < map->count; i++) draw_noise(p, f, i);
    for (size_t i = 0; i < map->count; i++) draw_centre(p, f, i);
    for (size_t i = 0; i < map->count; i++) {
        const double x = clo_i_place(&f->x, map->x[i]), y = clo_i_place(&f->y, map->y[i]);
        const double r = radius(f, i);
        f->taken[f->taken_count++] = (box){ x - r, y - r, x + r, y + r };
    }
    for (size_t i = 0; i < map->count; i++) draw_label(p, f, i);
}

clo_status clo_i_draw_map(clo_writer *w, const clo_caption *caption, const clo_map *map,
                          clo_error *err)
{
    clo_picture p;
    frame f = { .map = map };
    CLO_TRY(clo_i_alloc(2 * map->count + 1, sizeof *f.taken, &f.taken, err));
    for (size_t i = 0; map->weights && i < map->count; i++)
        if (map->weights[i] > f.heaviest && isfinite(map->weights[i])) f.heaviest = map->weights[i];
    const double height = lay_out(&f);
    clo_i_picture_open(&p, w, caption, WIDTH, height);
    draw_all(&p, &f);
    clo_i_picture_close(&p);
    clo_i_free(f.taken);
    return CLO_OK;
}
