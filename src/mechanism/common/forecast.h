/*
 * forecast.h - what mechanisms can say of their results before they run: how far centres will be
 * off, and from which error on noise hides what is looked for.  Public numbers alone.
 */
#ifndef CLO_FORECAST_H
#define CLO_FORECAST_H

#include "plan/mechanism.h"

/* The error to expect of a released centre, as a share of the norm: by noise, which moves a centre
 * of an average cluster by so much, and by what the search leaves undone.  `unsettled` says how
 * much that is of one cluster; all factors were measured on real data (bench/bench_real.py). */
double clo_i_center_forecast(double noise, size_t clusters, double unsettled);
/* The same of sums with noise at the width of each cluster; noise: what the mean of an average
 * cluster would have of it in the ball, in all columns, if all asks were one.  times: how much
 * larger the error is than usual.  hidden: the rows cannot tell the clusters apart.  Then, and at
 * most, it is the error from which on noise hides centres: such a method falls back on one mean,
 * and does no worse. */
double clo_i_local_forecast(double noise, double times, size_t cols, size_t clusters, bool hidden);
/* Of the medians of a density, with that noise; hidden: as above. */
double clo_i_median_forecast(double noise, size_t clusters, bool hidden);
/* Where it was on most real files: how wide the clusters are is what no public number says. */
clo_between clo_i_local_forecast_between(double noise, double times, size_t cols, size_t clusters,
                                         bool hidden);
/* The worst that can be expected, when a guess is as good; and the error from which on noise hides
 * the centres, moving them by half of the norm if it could. */
double clo_i_center_forecast_worst(void);
double clo_i_centers_hidden_from(const clo_plan *plan);
/* The same of subspaces: an error of so much of that of random ones. */
double clo_i_frames_hidden_from(const clo_plan *plan);

#endif
