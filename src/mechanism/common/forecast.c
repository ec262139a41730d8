/* forecast.c - how far centres will be off, and when noise hides centres and subspaces. */
#include "mechanism/common/forecast.h"
#include <math.h>

/* Clusters are not of equal size, and the small ones take more noise than the average. */
static const double NOISIER = 1.2;
/* Noise that would move centres farther than the records are apart is held back by the methods,
 * which then trust sums less: the deviation of usual records, as a share of the norm. */
static const double SPREAD = 0.2;

static double held_back(double error)
{
    return error / (1 + error / SPREAD);
}

/* Centres of more clusters have more neighbours with whom they argue about records. */
double clo_i_center_forecast(double noise, size_t clusters, double unsettled)
{
    const double undone = unsettled * pow((double)clusters, 0.75);
    return held_back(hypot(NOISIER * noise, undone));
}

/* Where clusters are looked at, at their own widths: those are narrower the less noise there is, so
 * that the error falls more slowly than the noise of the ball, and the more of them there are; with
 * many columns they are wider.  Fitted to 85 files that are not in bench_real.py, of 3 to 196
 * columns, with bounds as loose as a guess: of 1,600 medians of their errors 89 % are within a
 * factor 2 of what this says and 97 % within 3; how wide clusters are no public number tells. */
static const double LOCAL_NOISE = 0.2, LOCAL_POWER = 0.65, LOCAL_UNSETTLED = 0.002;
static const double LOCAL_NARROWER = 0.24; /* power of the number of clusters */
static const double MANY_COLUMNS = 20, MOST_WIDER = 1.7;
static const double TWO_COLUMNS = 0.9;   /* times that, on 66 other files */
static const double LOCAL_HIDING = 0.65; /* noise of the ball, in radii, that hides clusters */
static const double HIDING = 0.5;        /* of the norm */

double clo_i_local_forecast(double noise, double times, size_t cols, size_t clusters, bool hidden)
{
    const double wider =
        cols <= 2 ? TWO_COLUMNS : fmin(fmax((double)cols / MANY_COLUMNS, 1), MOST_WIDER);
    const double width = wider * pow((double)clusters, -LOCAL_NARROWER);
    const double local = times * width * LOCAL_NOISE * pow(noise, LOCAL_POWER);
    const double most = held_back(HIDING);
    return hidden || noise >= LOCAL_HIDING ? most
                                           : fmin(hypot(local, LOCAL_UNSETTLED), 0.99 * most);
}

/* Medians of a density have less noise than means, as each record pulls at them alike.  Fitted to
 * 23 files of bench_density.py; of 23 others 93 % of the errors are within a factor 2. */
static const double MEDIAN_NOISE = 0.43, MEDIAN_POWER = 0.83, MEDIAN_NARROWER = 0.46;
static const double MEDIAN_UNSETTLED = 0.001;

double clo_i_median_forecast(double noise, size_t clusters, bool hidden)
{
    const double width = pow((double)clusters, -MEDIAN_NARROWER), most = held_back(HIDING);
    const double local = MEDIAN_NOISE * width * pow(noise, MEDIAN_POWER);
    return hidden ? most : fmin(hypot(local, MEDIAN_UNSETTLED), 0.99 * most);
}

/* Between these are 19 of 20 files.  Clusters that are narrow and far apart have less: that is no
 * promise to be broken. */
static const double AT_LEAST = 1.0 / 3, AT_MOST = 2.4;

clo_between clo_i_local_forecast_between(double noise, double times, size_t cols, size_t clusters,
                                         bool hidden)
{
    const double usual = clo_i_local_forecast(noise, times, cols, clusters, hidden);
    return (clo_between){ AT_LEAST * usual,
                          fmax(usual, fmin(AT_MOST * usual, clo_i_center_forecast_worst())) };
}

double clo_i_center_forecast_worst(void)
{
    return SPREAD;
}

double clo_i_centers_hidden_from(const clo_plan *plan)
{
    (void)plan;
    return held_back(HIDING);
}

/* A released subspace that is no nearer to the true one than this says next to nothing of it. */
static const double NEXT_TO_RANDOM = 0.7;

double clo_i_frames_hidden_from(const clo_plan *plan)
{
    const double d = (double)plan->domain.cols;
    double dim = 0, clusters = 1;
    if (clo_plan_value_of(plan, "dim", &dim, NULL) || !(dim > 0 && dim < d)) return INFINITY;
    if (clo_plan_value_of(plan, "clusters", &clusters, NULL)) clusters = 1;
    return NEXT_TO_RANDOM * sqrt(clusters * dim * (d - dim) / d);
}
