/*
 * charts.h - which charts a release has, and how each is made of it.  For the files of this folder.
 */
#ifndef CLO_CHARTS_H
#define CLO_CHARTS_H

#include "draw/draw.h"
#include "release/release.h"
#include <cloister/page.h>

/* ---- centres as points (center_points.c) ----------------------------------------------------- */

/* The centres, or points of the flats, of a release and of those that it is compared with. */
typedef struct clo_places {
    size_t count, cols;
    double *at;     /* count x cols */
    double *noise;  /* count x cols, standard deviations; NULL: not known of all */
    double *weight; /* count; NULL: not known of all */
    double *width;  /* count, in units of half the bounds; NULL: not known of all */
    double *unit;   /* cols: half of the bounds of each column, or 1 */
    size_t *from;   /* count: 0 for the release itself, 1 ... for the others */
    size_t *index;  /* count: which of its own it is */
} clo_places;

bool clo_i_has_places(const clo_release *release);
CLO_CHECK clo_status clo_i_places_new(const clo_release *release, const clo_page_options *options,
                                      clo_places *out, clo_error *err);
/* How many there would be, without making them; 0: none. */
size_t clo_i_places_count(const clo_release *release, const clo_page_options *options);
void clo_i_places_free(clo_places *places);

/* ---- columns (shown_columns.c) --------------------------------------------------------------- */

/* "age", or "column 3" where columns have no names: into text, cut to its size. */
void clo_i_column_text(const clo_release *release, size_t column, char *text, size_t size);
/* The column of that name, or of that number from 1. */
CLO_CHECK clo_status clo_i_column_named(const clo_release *release, const char *name,
                                        size_t *column, clo_error *err);

/* The columns that are shown of many: all in their order, or, of too many, those of the largest
 * score, largest first; with their names. */
typedef struct clo_shown {
    size_t count;
    size_t *columns;
    const char **names;
    char *bytes; /* of the names */
} clo_shown;
/* How many of them are no shares of levels. */
size_t clo_i_number_columns(const clo_release *release);
CLO_CHECK clo_status clo_i_shown_new(const clo_release *release, const double *score, size_t most,
                                     clo_shown *out, clo_error *err);
void clo_i_shown_free(clo_shown *shown);

/* ---- how many clusters (curve_of_release.c) -------------------------------------------------- */

/* How their number was chosen, by which rule, and what others would explain; the text is left as it
 * is where nothing was chosen. */
void clo_i_say_choice(const clo_release *release, char *text, size_t size);

/* ---- the charts (charts.c) ------------------------------------------------------------------- */

/* A chart as it is asked for. */
typedef struct clo_asked {
    const clo_release *release;
    const clo_page_options *options;
    bool alone; /* a file of its own */
} clo_asked;

typedef struct clo_chart {
    const char *name, *title;
    bool (*applies)(const clo_release *release);
    /* What is to be seen in it, in a paragraph. */
    void (*describe)(const clo_asked *view, char *text, size_t size);
    clo_status (*draw)(const clo_asked *view, const clo_caption *caption, clo_writer *w,
                       clo_error *err);
    /* Whether it may be wider than half a page; NULL: never. */
    bool (*is_wide)(const clo_asked *view);
    /* The same numbers as a table of HTML. */
    clo_status (*table)(const clo_asked *view, clo_writer *w, clo_error *err);
    /* Members of an object of Vega-Lite: data and what to make of them. */
    clo_status (*vega)(const clo_asked *view, clo_writer *w, clo_error *err);
} clo_chart;

extern const clo_chart clo_i_chart_map;      /* map_of_release.c */
extern const clo_chart clo_i_chart_centers;  /* centers_of_release.c */
extern const clo_chart clo_i_chart_shares;   /* shares_of_release.c */
extern const clo_chart clo_i_chart_curve;    /* curve_of_release.c */
extern const clo_chart clo_i_chart_loadings; /* loadings_of_release.c */
extern const clo_chart clo_i_chart_angles;   /* angles_of_release.c */
extern const clo_chart clo_i_chart_spectrum; /* spectrum_of_release.c */
extern const clo_chart clo_i_chart_ranges;   /* ranges_of_release.c */

/* Whether this can be said of the release and of all that it is compared with. */
bool clo_i_all_have_noise(const clo_asked *view);
bool clo_i_all_have(const clo_asked *view, const char *array);
/* The i-th of those that apply; NULL: there are not so many. */
const clo_chart *clo_i_chart_at(const clo_release *release, size_t i);
CLO_CHECK clo_status clo_i_chart_draw(const clo_chart *chart, const clo_asked *view, clo_writer *w,
                                      clo_error *err);

/* ---- tables of HTML (html_tables.c) ---------------------------------------------------------- */

/* A row's beginning; a cell with a number and its ±, NAN: none; a name, which may be anything. */
void clo_i_table_open(clo_writer *w, const char *caption);
void clo_i_table_open_words(clo_writer *w, const char *caption); /* more words than numbers */
/* One with so many columns of numbers: on paper it may have no room. */
void clo_i_table_open_broad(clo_writer *w, const char *caption, size_t columns);
void clo_i_table_heads(clo_writer *w, const char *const *heads, size_t count);
void clo_i_table_name(clo_writer *w, const char *name);  /* opens the row */
void clo_i_table_label(clo_writer *w, const char *text); /* the same with a longer text */
void clo_i_table_number(clo_writer *w, double value, int digits, double noise);
void clo_i_table_text(clo_writer *w, const char *text);
void clo_i_table_end_row(clo_writer *w);
void clo_i_table_close(clo_writer *w);
void clo_i_html_name(clo_writer *w, const char *name);

/* Of Vega-Lite: "$schema", "title" and the opening of "data"; a channel of the encoding. */
void clo_i_vega_values(clo_writer *w, const char *title);
void clo_i_vega_values_end(clo_writer *w);
void clo_i_vega_channel(clo_writer *w, const char *channel, const char *field, const char *type,
                        const char *title);

#endif
