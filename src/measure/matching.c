/*
 * matching.c - the assignment problem: the members of two sets that have no order are matched so
 * that the whole is as near as it can be; and what is simplest of that kind, centres.
 */
#include "measure/measure.h"
#include <math.h>

/* ---- the assignment problem ---------------------------------------------- */

/* The Hungarian method in O(k^3): rows enter one by one; each finds the cheapest alternating path
 * to a free column by Dijkstra's algorithm over reduced costs, which the prices keep nonnegative.
 * The prices change once a row, when its path is known, and not once a step, so that a step looks
 * at each column that is still open once and at nothing else. */
typedef struct assignment {
    size_t k;
    const double *cost;
    double *row_price, *column_price; /* k each */
    double *distance;                 /* k: from the entering row to each column */
    size_t *holder;                   /* k: the row that holds each column, or FREE */
    size_t *held;                     /* k: the column that each row holds */
    size_t *previous;                 /* k: the row before this column on its path */
    size_t *order;                    /* k: the columns still open, and behind them those settled */
} assignment;

#define FREE SIZE_MAX

/* Shortens the paths through this row, which is `so_far` away, to the open columns; gives the place
 * among these of the nearest, a free one where several are. */
static size_t relax(assignment *a, size_t row, double so_far, size_t open)
{
    const double *cost = a->cost + row * a->k;
    const double base = so_far - a->row_price[row];
    size_t nearest = 0;
    double least = INFINITY;
    for (size_t t = 0; t < open; t++) {
        const size_t j = a->order[t];
        const double through = base + cost[j] - a->column_price[j];
        if (through < a->distance[j]) {
            a->distance[j] = through;
            a->previous[j] = row;
        }
        if (a->distance[j] < least || (a->distance[j] == least && a->holder[j] == FREE)) {
            least = a->distance[j];
            nearest = t;
        }
    }
    return nearest;
}

static void enter(assignment *a, size_t entering)
{
    size_t open = a->k, row = entering, column;
    double so_far = 0;
    for (size_t j = 0; j < a->k; j++) {
        a->distance[j] = INFINITY;
        a->order[j] = j;
    }
    do {
        const size_t at = relax(a, row, so_far, open);
        column = a->order[at];
        so_far = a->distance[column];
        a->order[at] = a->order[--open];
        a->order[open] = column;
        row = a->holder[column];
    } while (row != FREE);
    a->row_price[entering] += so_far;
    for (size_t t = open; t < a->k; t++) { /* every settled column, and the row that holds it */
        const size_t j = a->order[t];
        if (a->holder[j] != FREE) a->row_price[a->holder[j]] += so_far - a->distance[j];
        a->column_price[j] -= so_far - a->distance[j];
    }
    do { /* along the path back, each row lets go of its column and takes the one after */
        row = a->previous[column];
        const size_t before = a->held[row];
        a->holder[column] = row;
        a->held[row] = column;
        column = before;
    } while (row != entering);
}

clo_status clo_i_match(const double *cost, size_t k, size_t *partner, clo_error *err)
{
    assignment a = { .k = k, .cost = cost };
    clo_status status = CLO_OK;
    for (size_t i = 0; i < k * k; i++)
        if (!isfinite(cost[i]))
            return clo_i_fail(err, CLO_INTERNAL, "matching: a cost is not finite");
    if ((status = clo_i_alloc(3 * k, sizeof(double), &a.row_price, err)) != CLO_OK) goto done;
    if ((status = clo_i_alloc(4 * k, sizeof(size_t), &a.holder, err)) != CLO_OK) goto done;
    a.column_price = a.row_price + k;
    a.distance = a.column_price + k;
    a.held = a.holder + k;
    a.previous = a.held + k;
    a.order = a.previous + k;
    for (size_t j = 0; j < k; j++) a.holder[j] = FREE;
    for (size_t row = 0; row < k; row++) enter(&a, row);
    for (size_t row = 0; row < k; row++) partner[row] = a.held[row];
done:
    clo_i_free(a.row_price);
    clo_i_free(a.holder);
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

/* ---- centres ------------------------------------------------------------- */

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
