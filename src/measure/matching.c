/*
 * matching.c - distances between two sets whose members have no order: each is matched with its
 * partner in the other so that the whole is as near as it can be.
 */
#include "measure/measure.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

/* ---- the assignment problem ---------------------------------------------- */

/* The Hungarian method in O(k^3): rows enter one by one; each finds the cheapest alternating path
 * to a free column by Dijkstra's algorithm over reduced costs, which the prices keep nonnegative.
 * Column `k` is a stand-in that the entering row holds at first, so that its path starts there. */
typedef struct assignment {
    size_t k;
    const double *cost;
    double *row_price, *column_price; /* k, k + 1 */
    double *distance;                 /* k: from the entering row to each column */
    size_t *holder;                   /* k + 1: the row that holds each column, or FREE */
    size_t *previous;                 /* k: the column before this one on its path */
    unsigned char *reached;           /* k + 1 */
} assignment;

#define FREE SIZE_MAX

/* Settles the column at hand, shortens the paths through it and gives the nearest column next. */
static size_t step(assignment *a, size_t column)
{
    const size_t row = a->holder[column];
    size_t nearest = FREE;
    a->reached[column] = 1;
    for (size_t j = 0; j < a->k; j++) {
        if (a->reached[j]) continue;
        const double reduced = a->cost[row * a->k + j] - a->row_price[row] - a->column_price[j];
        if (reduced < a->distance[j]) {
            a->distance[j] = reduced;
            a->previous[j] = column;
        }
        if (nearest == FREE || a->distance[j] < a->distance[nearest]) nearest = j;
    }
    const double ahead = a->distance[nearest];
    for (size_t j = 0; j <= a->k; j++)
        if (a->reached[j]) {
            a->row_price[a->holder[j]] += ahead;
            a->column_price[j] -= ahead;
        } else {
            a->distance[j] -= ahead;
        }
    return nearest;
}

static void enter(assignment *a, size_t row)
{
    size_t column = a->k;
    for (size_t j = 0; j < a->k; j++) a->distance[j] = INFINITY;
    memset(a->reached, 0, a->k + 1);
    a->holder[a->k] = row;
    while (a->holder[column] != FREE) column = step(a, column);
    while (column != a->k) {
        a->holder[column] = a->holder[a->previous[column]];
        column = a->previous[column];
    }
}

clo_status clo_i_match(const double *cost, size_t k, size_t *partner, clo_error *err)
{
    assignment a = { .k = k, .cost = cost };
    clo_status status = CLO_OK;
    for (size_t i = 0; i < k * k; i++)
        if (!isfinite(cost[i]))
            return clo_i_fail(err, CLO_INTERNAL, "matching: a cost is not finite");
    if ((status = clo_i_alloc(3 * k + 1, sizeof(double), &a.row_price, err)) != CLO_OK) goto done;
    if ((status = clo_i_alloc(2 * k + 1, sizeof(size_t), &a.holder, err)) != CLO_OK) goto done;
    if ((status = clo_i_alloc(k + 1, 1, &a.reached, err)) != CLO_OK) goto done;
    a.distance = a.row_price + k;
    a.column_price = a.distance + k;
    a.previous = a.holder + k + 1;
    for (size_t j = 0; j <= k; j++) a.holder[j] = FREE;
    for (size_t row = 0; row < k; row++) enter(&a, row);
    for (size_t j = 0; j < k; j++) partner[a.holder[j]] = j;
done:
    clo_i_free(a.row_price);
    clo_i_free(a.holder);
    clo_i_free(a.reached);
    return status;
}

/* The least sum over all matchings. */
static clo_status least_sum(const double *cost, size_t k, double *sum, clo_error *err)
{
    size_t *partner = NULL;
    CLO_TRY(clo_i_alloc(k, sizeof *partner, &partner, err));
    const clo_status status = clo_i_match(cost, k, partner, err);
    if (status == CLO_OK) {
        *sum = 0;
        for (size_t i = 0; i < k; i++) *sum += cost[i * k + partner[i]];
    }
    clo_i_free(partner);
    return status;
}

/* ---- distances ----------------------------------------------------------- */

clo_status clo_i_subspace_distance(const double *a, const double *b, size_t cols, size_t dim,
                                   double *distance, clo_error *err)
{
    double *sines = NULL;
    CLO_TRY(clo_i_alloc(dim, sizeof *sines, &sines, err));
    const clo_status status = clo_i_sin_angles(a, b, cols, dim, sines, err);
    if (status == CLO_OK) {
        double square = 0;
        for (size_t j = dim; j-- > 0;) square += sines[j] * sines[j]; /* smallest first */
        *distance = sqrt(square);
    }
    clo_i_free(sines);
    return status;
}

clo_status clo_i_subspaces_distance(const double *a, const double *b, size_t k, size_t cols,
                                    size_t dim, double *distance, clo_error *err)
{
    double *cost = NULL, sum = 0;
    clo_status status = CLO_OK;
    CLO_TRY(clo_i_alloc(k * k, sizeof *cost, &cost, err));
    for (size_t i = 0; i < k * k && status == CLO_OK; i++) {
        double between = 0;
        status = clo_i_subspace_distance(a + i / k * cols * dim, b + i % k * cols * dim, cols, dim,
                                         &between, err);
        cost[i] = between * between;
    }
    if (status == CLO_OK) status = least_sum(cost, k, &sum, err);
    if (status == CLO_OK) *distance = sqrt(sum);
    clo_i_free(cost);
    return status;
}

clo_status clo_i_centers_distance(const double *a, const double *b, size_t k, size_t cols,
                                  double *distance, clo_error *err)
{
    double *cost = NULL, sum = 0;
    CLO_TRY(clo_i_alloc(k * k, sizeof *cost, &cost, err));
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++)
            for (size_t c = 0; c < cols; c++) {
                const double apart = a[i * cols + c] - b[j * cols + c];
                cost[i * k + j] += apart * apart;
            }
    const clo_status status = least_sum(cost, k, &sum, err);
    if (status == CLO_OK) *distance = sqrt(sum / (double)k);
    clo_i_free(cost);
    return status;
}
