/*
 * shares.c - shares of levels: a lane a category, a row a level, and in it a bar and a number of
 * each centre, side by side.  Read along a row to compare centres, down a column to see one.
 */
#include "draw/draw.h"
#include <math.h>
#include <stdio.h>

static const double WIDTH = 420, NAMES = 122, RIGHT = 8, ROW = 17, HEAD = 20, NAME = 19, GAP = 5;

/* "37 %"; "< 1 %" where so little is there that the noise hides how little. */
static void share_text(double share, double noise, bool narrow, char *text, size_t size)
{
    const char *const sign = narrow ? "" : " %";
    const double least = isnan(noise) ? 0.005 : fmax(noise, 0.005);
    if (!isfinite(share))
        snprintf(text, size, "?");
    else if (share < least && least < 0.995)
        snprintf(text, size, "<%s%.0f%s", narrow ? "" : " ", ceil(100 * least - 1e-9), sign);
    else
        snprintf(text, size, "%.0f%s", 100 * share, sign);
}

static void draw_cell(clo_picture *p, const clo_shares *s, size_t row, size_t c, double x, double y,
                      double wide)
{
    const double share = s->at[row * s->count + c];
    const double noise = s->noise ? s->noise[row * s->count + c] : NAN;
    char text[32], kind[32], data[96], told[120];
    share_text(share, noise, wide < 62, text, sizeof text);
    snprintf(data, sizeof data, "data-at=\"%zu %zu\"", s->numbers[row], c);
    clo_i_group_open(p, data);
    if (isnan(noise))
        snprintf(told, sizeof told, "%.40s: %.1f %%", s->labels[c], 100 * share);
    else
        snprintf(told, sizeof told, "%.40s: %.1f ± %.1f points", s->labels[c], 100 * share,
                 100 * noise);
    clo_i_group_title(p, told);
    snprintf(kind, sizeof kind, "bar c%zu", s->kinds[c] % CLO_COLOURS);
    const double room = wide - 6, text_room = wide < 62 ? 18 : 34;
    if (room > text_room + 8)
        clo_i_draw_box(p, kind, x, y + 4, fmax(0.6, (room - text_room) * fmin(fmax(share, 0), 1)),
                       ROW - 8);
    clo_i_draw_text(p, "s", 'e', x + room, y + 12.5, wide, text);
    clo_i_group_close(p);
}

static double height_of(const clo_shares *s)
{
    double height = HEAD;
    for (size_t row = 0; row < s->rows; row++) height += ROW + (s->titles[row] ? NAME + GAP : 0);
    return height + 4;
}

void clo_i_draw_shares(clo_writer *w, const clo_caption *caption, const clo_shares *s)
{
    clo_picture p;
    const double wide = (WIDTH - NAMES - RIGHT) / (double)s->count;
    double y = HEAD;
    clo_i_picture_open(&p, w, caption, WIDTH, height_of(s));
    for (size_t c = 0; c < s->count; c++)
        clo_i_draw_text(&p, "n", 's', NAMES + wide * (double)c, HEAD - 6, wide, s->labels[c]);
    for (size_t row = 0; row < s->rows; row++) {
        if (s->titles[row]) {
            y += GAP;
            clo_i_draw_text(&p, "", 's', 6, y + 13, WIDTH - 12, s->titles[row]);
            y += NAME;
        }
        clo_i_draw_text(&p, "s", 'e', NAMES - 6, y + 12.5, NAMES - 14, s->names[row]);
        clo_i_draw_line(&p, "grid", NAMES, y + ROW, WIDTH - RIGHT, y + ROW);
        for (size_t c = 0; c < s->count; c++)
            draw_cell(&p, s, row, c, NAMES + wide * (double)c, y, wide);
        y += ROW;
    }
    clo_i_picture_close(&p);
}
