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

/* Where clusters are looked at, at their own widths: those are narrower the less noise there is.
 * Fitted to all files of bench_real.py, so not yet tried on any other. */
static const double LOCAL_NOISE = 0.15, LOCAL_POWER = 0.65, LOCAL_UNSETTLED = 0.0007;
static const double WIDEST = 0.5; /* of usual clusters, as a share of the norm */
static const double HIDING = 0.5; /* of the norm */

double clo_i_local_forecast(double noise, size_t clusters, bool hidden)
{
    const double undone = LOCAL_UNSETTLED * pow((double)clusters, 0.75);
    const double local = fmin(LOCAL_NOISE * pow(noise, LOCAL_POWER), WIDEST * noise);
    const double most = held_back(HIDING);
    return hidden ? most : fmin(hypot(local, undone), most);
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
