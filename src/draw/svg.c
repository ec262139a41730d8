/* svg.c - lines, boxes, marks and texts of a picture. */
#include "draw/draw.h"
#include <math.h>
#include <string.h>

void clo_i_coordinate(clo_writer *w, double value)
{
    clo_writer_number(w, isfinite(value) ? round(fmin(fmax(value, -1e6), 1e6) * 100) / 100 : 0);
}

static void attribute(clo_picture *p, const char *name, double value)
{
    clo_i_writer_format(p->w, " %s=\"", name);
    clo_i_coordinate(p->w, value);
    clo_writer_text(p->w, "\"");
}

/* A little larger on the screen than its own units, where there is room. */
static const double SHOWN = 1.2;

void clo_i_picture_open(clo_picture *p, clo_writer *w, const clo_caption *caption, double width,
                        double height)
{
    *p = (clo_picture){ .w = w, .width = width, .height = height };
    clo_writer_text(w, "<svg");
    if (caption->alone) clo_writer_text(w, " xmlns=\"http://www.w3.org/2000/svg\"");
    clo_writer_text(w, " class=\"cloister\" role=\"img\"");
    attribute(p, "width", SHOWN * width);
    attribute(p, "height", SHOWN * height);
    clo_writer_text(w, " viewBox=\"0 0 ");
    clo_i_coordinate(w, width);
    clo_writer_text(w, " ");
    clo_i_coordinate(w, height);
    clo_i_writer_format(w, "\" aria-labelledby=\"%s-title %s-text\">\n<title id=\"%s-title\">",
                        caption->name, caption->name, caption->name);
    clo_i_escape(w, caption->title, 400);
    clo_i_writer_format(w, "</title><desc id=\"%s-text\">", caption->name);
    clo_i_escape(w, caption->text, 2000);
    clo_writer_text(w, "</desc>\n");
    if (caption->alone) {
        clo_writer_text(w, "<style>\n");
        clo_i_draw_style(w);
        clo_writer_text(w, "</style>\n");
    }
    clo_i_draw_box(p, "paper", 0, 0, width, height);
}

void clo_i_picture_close(clo_picture *p)
{
    clo_writer_text(p->w, "</svg>\n");
}

void clo_i_draw_line(clo_picture *p, const char *kind, double x1, double y1, double x2, double y2)
{
    clo_i_writer_format(p->w, "<line class=\"%s\"", kind);
    attribute(p, "x1", x1);
    attribute(p, "y1", y1);
    attribute(p, "x2", x2);
    attribute(p, "y2", y2);
    clo_writer_text(p->w, "/>");
}

void clo_i_draw_box(clo_picture *p, const char *kind, double x, double y, double width,
                    double height)
{
    clo_i_writer_format(p->w, "<rect class=\"%s\"", kind);
    attribute(p, "x", x);
    attribute(p, "y", y);
    attribute(p, "width", fmax(width, 0));
    attribute(p, "height", fmax(height, 0));
    clo_writer_text(p->w, "/>");
}

void clo_i_draw_ellipse(clo_picture *p, const char *kind, double x, double y, double rx, double ry)
{
    clo_i_writer_format(p->w, "<ellipse class=\"%s\"", kind);
    attribute(p, "cx", x);
    attribute(p, "cy", y);
    attribute(p, "rx", rx);
    attribute(p, "ry", ry);
    clo_writer_text(p->w, "/>");
}

void clo_i_draw_path(clo_picture *p, size_t index, const double *x, const double *y, size_t count)
{
    bool down = false;
    clo_i_writer_format(p->w, "<path class=\"path c%zu d%zu\" d=\"", index % CLO_COLOURS,
                        index % 5);
    for (size_t i = 0; i < count; i++) {
        const bool there = isfinite(x[i]) && isfinite(y[i]);
        if (there) {
            clo_writer_text(p->w, down ? "L" : "M");
            clo_i_coordinate(p->w, x[i]);
            clo_writer_text(p->w, " ");
            clo_i_coordinate(p->w, y[i]);
        }
        down = there;
    }
    clo_writer_text(p->w, "\"/>");
}

/* ---- marks ----------------------------------------------------------------------------------- */

/* The corners of the shapes but for the first, which is a circle: about 0, as far as about 1. */
static const struct shape {
    size_t corners;
    double at[12][2];
} shapes[CLO_SHAPES] = {
    { 0, { { 0, 0 } } },
    { 4, { { -.9, -.9 }, { .9, -.9 }, { .9, .9 }, { -.9, .9 } } },
    { 3, { { 0, -1.25 }, { 1.15, .85 }, { -1.15, .85 } } },
    { 4, { { 0, -1.3 }, { 1.3, 0 }, { 0, 1.3 }, { -1.3, 0 } } },
    { 3, { { 0, 1.25 }, { 1.15, -.85 }, { -1.15, -.85 } } },
    { 12,
      { { -.4, -1.15 },
        { .4, -1.15 },
        { .4, -.4 },
        { 1.15, -.4 },
        { 1.15, .4 },
        { .4, .4 },
        { .4, 1.15 },
        { -.4, 1.15 },
        { -.4, .4 },
        { -1.15, .4 },
        { -1.15, -.4 },
        { -.4, -.4 } } },
    { 6, { { -.6, -1.04 }, { .6, -1.04 }, { 1.2, 0 }, { .6, 1.04 }, { -.6, 1.04 }, { -1.2, 0 } } },
    { 5, { { 0, -1.2 }, { 1.14, -.37 }, { .71, .97 }, { -.71, .97 }, { -1.14, -.37 } } },
};

static void draw_mark(clo_picture *p, const char *kind, size_t index, double x, double y,
                      double radius)
{
    const struct shape *const shape = &shapes[index % CLO_SHAPES];
    if (shape->corners == 0) {
        clo_i_writer_format(p->w, "<circle class=\"%s c%zu\"", kind, index % CLO_COLOURS);
        attribute(p, "cx", x);
        attribute(p, "cy", y);
        attribute(p, "r", radius);
        clo_writer_text(p->w, "/>");
        return;
    }
    clo_i_writer_format(p->w, "<path class=\"%s c%zu\" d=\"", kind, index % CLO_COLOURS);
    for (size_t i = 0; i < shape->corners; i++) {
        clo_writer_text(p->w, i ? "L" : "M");
        clo_i_coordinate(p->w, x + radius * shape->at[i][0]);
        clo_writer_text(p->w, " ");
        clo_i_coordinate(p->w, y + radius * shape->at[i][1]);
    }
    clo_writer_text(p->w, "Z\"/>");
}

void clo_i_draw_mark(clo_picture *p, size_t index, double x, double y, double radius)
{
    draw_mark(p, "mark", index, x, y, radius);
}

void clo_i_draw_open_mark(clo_picture *p, size_t index, double x, double y, double radius)
{
    draw_mark(p, "open", index, x, y, radius);
}

/* ---- texts ----------------------------------------------------------------------------------- */

static double size_of(const char *kind)
{
    return kind[0] == 'u' || kind[0] == 'o' ? 10 : kind[0] == 's' || kind[0] == 'n' ? 11 : 12;
}

void clo_i_draw_text(clo_picture *p, const char *kind, char anchor, double x, double y, double room,
                     const char *text)
{
    const size_t fits = clo_i_text_fit(text, size_of(kind), room);
    clo_writer_text(p->w, "<text");
    if (kind[0]) clo_i_writer_format(p->w, " class=\"%s\"", kind);
    attribute(p, "x", x);
    attribute(p, "y", y);
    if (anchor != 's')
        clo_i_writer_format(p->w, " text-anchor=\"%s\"", anchor == 'm' ? "middle" : "end");
    clo_writer_text(p->w, ">");
    if (fits != SIZE_MAX) clo_i_group_title(p, text);
    clo_i_escape(p->w, text, fits);
    clo_writer_text(p->w, "</text>");
}

void clo_i_group_open(clo_picture *p, const char *data)
{
    clo_i_writer_format(p->w, "<g%s%s>", data[0] ? " " : "", data);
}

void clo_i_group_title(clo_picture *p, const char *text)
{
    clo_writer_text(p->w, "<title>");
    clo_i_escape(p->w, text, CLO_NAME_TOLD);
    clo_writer_text(p->w, "</title>");
}

void clo_i_group_close(clo_picture *p)
{
    clo_writer_text(p->w, "</g>\n");
}
