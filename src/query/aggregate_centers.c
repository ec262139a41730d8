/*
 * aggregate_centers.c - sets of k points of the unit ball as sample and aggregate sees them
 * (aggregate.T5): a list of points, at the Euclidean distance of two lists in the best order.
 * Independent noise has the same law in every order, and what is published is put in an order of
 * its own.
 */
#include "query/aggregate_space.h"
#include "measure/measure.h"
#include <math.h>
#include <string.h>

static void fix(const clo_space *s, double *centers)
{
    memset(centers, 0, s->given * sizeof *centers);
}

/* What lies outside of the ball is pulled into it; brought to a size first whose squares cannot
 * overflow. */
static void pull_into_ball(double *center, size_t d)
{
    double largest = 0, square = 0;
    for (size_t j = 0; j < d; j++) largest = fmax(largest, fabs(center[j]));
    for (size_t j = 0; j < d && largest > 1; j++) center[j] /= largest;
    for (size_t j = 0; j < d; j++) square += center[j] * center[j];
    const double norm = sqrt(square), length = largest > 1 ? norm * largest : norm;
    for (size_t j = 0; j < d && length > 1; j++) center[j] /= norm;
}

static clo_status settle(const clo_space *s, double *centers, double *coordinates)
{
    for (size_t c = 0; c < s->clusters; c++) pull_into_ball(centers + c * s->cols, s->cols);
    memcpy(coordinates, centers, s->length * sizeof *coordinates);
    return CLO_OK;
}

static clo_status distance(const clo_space *s, const double *a, const double *b, size_t *partner,
                           double *cost, double *out)
{
    const size_t k = s->clusters, d = s->cols;
    double total = 0;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++) {
            double square = 0;
            for (size_t e = 0; e < d; e++) {
                const double apart = a[i * d + e] - b[j * d + e];
                square += apart * apart;
            }
            cost[i * k + j] = square;
        }
    CLO_TRY(clo_i_match(cost, k, partner, NULL));
    for (size_t i = 0; i < k; i++) total += cost[i * k + partner[i]];
    *out = sqrt(total);
    return CLO_OK;
}

/* Whether a comes before b: by the first column in which they differ. */
static bool before(const double *a, const double *b, size_t d)
{
    for (size_t j = 0; j < d; j++)
        if (a[j] != b[j]) return a[j] < b[j];
    return false;
}

static clo_status publish(const clo_space *s, double *noisy, double *centers, clo_error *err)
{
    const size_t k = s->clusters, d = s->cols;
    (void)err;
    for (size_t c = 0; c < k; c++) {
        size_t place = 0;
        for (size_t other = 0; other < k; other++)
            place += before(noisy + other * d, noisy + c * d, d) ||
                     (other < c && !before(noisy + c * d, noisy + other * d, d));
        memcpy(centers + place * d, noisy + c * d, d * sizeof *centers);
    }
    for (size_t c = 0; c < k; c++) pull_into_ball(centers + c * d, d);
    return CLO_OK;
}

void clo_i_center_space(size_t clusters, size_t cols, clo_space *out)
{
    *out = (clo_space){ .clusters = clusters,
                        .cols = cols,
                        .given = clusters * cols,
                        .length = clusters * cols,
                        .room = clusters * clusters,
                        .diameter = 2 * sqrt((double)clusters),
                        .fix = fix,
                        .settle = settle,
                        .distance = distance,
                        .publish = publish };
}
