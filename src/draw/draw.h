/*
 * draw.h - pictures as SVG: plain numbers in, text out, no script.
 *
 * A picture is written piece by piece through the library's writer; nothing is kept.  What it looks
 * like is said by classes, and the style sheet (style.c) says what those mean in light, in dark, in
 * forced colours and on paper.  Never colour alone: marks have shapes and numbers, lines have
 * dashes, cells have sizes or texts.  Texts come from anywhere (names of columns), so there is one
 * way to write one, and it makes them harmless (escape.c).
 */
#ifndef CLO_DRAW_H
#define CLO_DRAW_H

#include "base/base.h"
#include <cloister/output.h>

/* ---- texts from anywhere (escape.c) ---------------------------------------------------------- */

/* Writes at most `most` characters of a text, for XML and HTML, inside and outside of quotes.  What
 * is no UTF-8, controls anything (also the direction of writing) or cannot stand in XML becomes
 * U+FFFD; a text that is cut ends with an ellipsis. */
void clo_i_escape(clo_writer *w, const char *text, size_t most);
/* The same without escapes: characters that stand for themselves, cut between two of them. */
void clo_i_harmless(const char *text, char *out, size_t size);
/* How wide the text is at that size of type, in the widest of the usual typefaces. */
double clo_i_text_width(const char *text, double size);
/* How many of its characters fit into that room, an ellipsis included; SIZE_MAX: all. */
size_t clo_i_text_fit(const char *text, double size, double room);
/* A number for people, with so many digits that count, whatever the locale. */
typedef struct clo_number {
    char text[CLO_NUMBER_SIZE];
} clo_number;
clo_number clo_i_short(double value, int digits);

enum { CLO_NAME_SHOWN = 60, CLO_NAME_TOLD = 240 }; /* characters of a name: shown; in a <title> */

/* ---- scales (ticks.c) ------------------------------------------------------------------------ */

enum { CLO_MAX_TICKS = 16 };

/* From numbers to a place on the paper. */
typedef struct clo_scale {
    double low, high; /* numbers, low < high */
    double from, to;  /* places of these */
    bool log;
    double ticks[CLO_MAX_TICKS];
    size_t tick_count;
} clo_scale;

/* Holds low ... high, in steps of 1, 2 or 5 times a power of ten, about so many.  tight: begins and
 * ends where the numbers do, not at a tick. */
clo_scale clo_i_scale(double low, double high, double from, double to, size_t about, bool tight);
/* The same for numbers above 0, with ticks at 1, 2 and 5 times powers of ten. */
clo_scale clo_i_scale_log(double low, double high, double from, double to);
double clo_i_place(const clo_scale *scale, double value);
clo_number clo_i_tick(double value);

/* ---- a picture (svg.c) ----------------------------------------------------------------------- */

typedef struct clo_picture {
    clo_writer *w;
    double width, height;
} clo_picture;

/* What a picture is: its name (letters, for ids), what it shows in a line and in a paragraph. */
typedef struct clo_caption {
    const char *name, *title, *text;
    bool alone; /* a file of its own, with its style; otherwise the page has that */
} clo_caption;

void clo_i_picture_open(clo_picture *p, clo_writer *w, const clo_caption *caption, double width,
                        double height);
void clo_i_picture_close(clo_picture *p);

/* kind: the classes of style.c. */
void clo_i_draw_line(clo_picture *p, const char *kind, double x1, double y1, double x2, double y2);
void clo_i_draw_box(clo_picture *p, const char *kind, double x, double y, double width,
                    double height);
void clo_i_draw_ellipse(clo_picture *p, const char *kind, double x, double y, double rx, double ry);
/* A path through the points; those that are not finite are gaps.  index: its colour and dashes. */
void clo_i_draw_path(clo_picture *p, size_t index, const double *x, const double *y, size_t count);
/* One of eight shapes and seven colours, by its index, of that radius. */
void clo_i_draw_mark(clo_picture *p, size_t index, double x, double y, double radius);
/* The same, hollow: what is not sure at all. */
void clo_i_draw_open_mark(clo_picture *p, size_t index, double x, double y, double radius);
/* anchor: 's'tart, 'm'iddle or 'e'nd at x; what does not fit into `room` is cut, and the whole of
 * it is in a <title>. */
void clo_i_draw_text(clo_picture *p, const char *kind, char anchor, double x, double y, double room,
                     const char *text);
/* A group of what belongs together; data: attributes in full, or "". */
void clo_i_group_open(clo_picture *p, const char *data);
void clo_i_group_title(clo_picture *p, const char *text); /* what a pointer is told */
void clo_i_group_close(clo_picture *p);
void clo_i_coordinate(clo_writer *w, double value); /* to a hundredth */

/* Axes about the box whose sides are where the scales lead: lines, ticks, numbers, names. */
void clo_i_draw_axes(clo_picture *p, const clo_scale *x, const clo_scale *y, const char *x_name,
                     const char *y_name);

/* ---- the style sheet (style.c) --------------------------------------------------------------- */

enum { CLO_COLOURS = 7, CLO_SHAPES = 8, CLO_SHADES = 9 };
void clo_i_draw_style(clo_writer *w);

/* ---- forms: one file each -------------------------------------------------------------------- */

/* Centres on a plane (map.c). */
typedef struct clo_map {
    size_t count;
    const double *x, *y;
    const double *x_noise, *y_noise; /* standard deviations; NULL: not known */
    const double *x_width, *y_width; /* half axes of what belongs to each; NULL: not known */
    const double *weights;           /* what the marks' areas are; NULL: all the same */
    const char *x_name, *y_name;
    const char *const *labels; /* NULL: their numbers, from 0 */
    const size_t *kinds;       /* shape and colour of each; NULL: of its own */
    const double *box;         /* the public bounds: left, right, bottom, top; NULL: none */
    bool square;               /* both axes have one unit */
} clo_map;
CLO_CHECK clo_status clo_i_draw_map(clo_writer *w, const clo_caption *caption, const clo_map *map,
                                    clo_error *err);

/* What a number of that column is called, where it is no plain number; false: it is. */
typedef bool clo_name_number(const void *user, size_t column, double value, char *text,
                             size_t size);

/* Rows of numbers, each with a scale of its own: columns of the data, and in each a number of every
 * centre.  Few of them with bars for the noise (lanes.c), many as cells (heat.c), where a cell is
 * the darker the higher its number is among those of its row, and the smaller the less sure. */
typedef struct clo_lanes {
    size_t rows, count;
    const double *at;          /* rows x count */
    const double *noise;       /* rows x count; NULL: not known */
    const char *const *names;  /* of the rows */
    const size_t *numbers;     /* which column of the data each row is */
    const char *const *labels; /* of the centres */
    const size_t *kinds;
    clo_name_number *call; /* NULL: all are plain numbers */
    const void *user;
} clo_lanes;
bool clo_i_lanes_fit(size_t rows, size_t count); /* whether the first form serves */
void clo_i_draw_lanes(clo_writer *w, const clo_caption *caption, const clo_lanes *lanes);
void clo_i_draw_heat(clo_writer *w, const clo_caption *caption, const clo_lanes *lanes);

/* Shares of levels, a bar and a number each (shares.c). */
typedef struct clo_shares {
    size_t rows, count;
    const double *at, *noise;  /* rows x count; noise NULL: not known */
    const char *const *names;  /* of the levels */
    const char *const *titles; /* of the category that begins with this row, or NULL */
    const size_t *numbers;     /* which column of the release each row is */
    const char *const *labels; /* of the centres */
    const size_t *kinds;
} clo_shares;
void clo_i_draw_shares(clo_writer *w, const clo_caption *caption, const clo_shares *shares);

/* Bars to both sides of 0, a panel beside the other (bars.c): loadings of directions. */
typedef struct clo_bars {
    size_t rows, panels;
    const double *at;          /* rows x panels */
    const char *const *names;  /* of the rows */
    const size_t *numbers;     /* which column of the data each row is */
    const char *const *titles; /* of the panels */
    const size_t *kinds;       /* of the panels */
} clo_bars;
void clo_i_draw_bars(clo_writer *w, const clo_caption *caption, const clo_bars *bars);

/* From where to where, a row each, on one scale (ranges.c). */
typedef struct clo_ranges {
    size_t rows;
    const double *low, *high;
    const char *const *names;
    const size_t *numbers; /* which column of the data each row is */
} clo_ranges;
void clo_i_draw_ranges(clo_writer *w, const clo_caption *caption, const clo_ranges *ranges);

/* The lower half of a symmetric matrix (matrix.c), count x count, from 0 to `most`. */
typedef struct clo_halves {
    size_t count;
    const double *at;
    double most;
    const char *unit; /* written behind each number */
} clo_halves;
void clo_i_draw_matrix(clo_writer *w, const clo_caption *caption, const clo_halves *matrix);

/* Lines over one variable (curves.c). */
typedef struct clo_line_of {
    const double *x, *y;
    size_t count;
    const char *name;    /* NULL: none is needed */
    bool points;         /* single numbers: a mark each */
    const double *error; /* of each y, to both sides: a bar; NULL: not known */
} clo_line_of;
typedef struct clo_curves {
    const clo_line_of *lines;
    size_t count;
    const char *x_name, *y_name;
    bool x_log, y_log;
    bool x_whole;           /* x are whole numbers, and so are its ticks */
    bool y_zero;            /* from 0 on */
    bool dates;             /* x are seconds since 1970 */
    bool steps;             /* from each number to the next by a step */
    double limit;           /* a line across; NAN: none */
    const char *limit_name; /* and what it is */
    double here;            /* a line upwards; NAN: none */
    const char *here_name;
} clo_curves;
CLO_CHECK clo_status clo_i_draw_curves(clo_writer *w, const clo_caption *caption,
                                       const clo_curves *curves, clo_error *err);

#endif
