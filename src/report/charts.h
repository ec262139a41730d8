/*
 * charts.h - which charts a release has, and how each is made of it.  For the files of this folder.
 */
#ifndef CLO_CHARTS_H
#define CLO_CHARTS_H

#include "draw/draw.h"
#include "release/release.h"
#include <cloister/page.h>

/* ---- centres as points (places.c) ----------------------------------------------------------- */

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
void clo_i_places_free(clo_places *points);

/* "age", or "column 3" where columns have no names: into text, cut to its size. */
void clo_i_column_text(const clo_release *release, size_t column, char *text, size_t size);
/* The column of that name, or of that number from 1. */
CLO_CHECK clo_status clo_i_column_named(const clo_release *release, const char *name,
                                        size_t *column, clo_error *err);

/* ---- the charts (charts.c) -------------------------------------------------------------------- */

typedef struct clo_chart {
    const char *name;
    bool (*applies)(const clo_release *release);
    clo_status (*draw)(const clo_release *release, const clo_page_options *options, bool alone,
                       clo_writer *w, clo_error *err);
} clo_chart;

extern const clo_chart clo_i_chart_map; /* map_of_release.c */

/* The i-th of those that apply; NULL: there are not so many. */
const clo_chart *clo_i_chart_at(const clo_release *release, size_t i);

#endif
