/* density_cloud.h - the law of the density that a release's answers tell, to draw records from. */
#ifndef CLO_GENERATE_CLOUD_H
#define CLO_GENERATE_CLOUD_H

#include "cut/cut.h"
#include "generate/generate.h"

typedef struct clo_cloud {
    clo_cut_density open;
    clo_domain domain;
    uint32_t *points; /* those of the first cell first */
    double *sums;     /* of the weights, in that order */
    size_t *starts;   /* cells + 1: where each begins */
    double *means;    /* cells x cols */
    const clo_density_answer *cells;
    size_t clusters; /* released ones; 0: there are none that fit */
    double *centers; /* clusters x cols, in ball coordinates */
} clo_cloud;

/* To be closed, whatever comes of it. */
CLO_CHECK clo_status clo_i_cloud_open(const clo_release *release, clo_cloud *out, clo_error *err);
void clo_i_cloud_close(clo_cloud *cloud);
/* A record in the data's own units. */
void clo_i_cloud_draw(const clo_cloud *cloud, clo_stream *stream, double *record);

#endif
