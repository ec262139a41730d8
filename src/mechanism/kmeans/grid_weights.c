/*
 * grid_weights.c - what the cells of a noisy grid hold.
 *
 * The loss of any centres is a sum over the cells, linear in what they hold.  So the weights that
 * k-means is best told are the means of what the cells may hold, given the noisy counts.  Most
 * cells hold no record and noise alone, which clipping at 0 would turn into records all over the
 * ball; but records have neighbours, and noise has none.
 *
 * First a cell counts only where its noisy count is above what noise reaches among so many cells, a
 * public threshold; or where the sum over it and the cells around it is.  Such a count is brought
 * nearer to that of its neighbours, as far as they are alike.  Then, some times over: what is
 * expected of a cell is a smooth picture of the weights; given that and its count, an exponential
 * law and the known law of the noise have a mean; and all together are brought to the number of
 * records, by taking the same off each.  What is not there any more then was noise.
 */
#include "mechanism/kmeans/grid_internal.h"
#include "query/cell_counts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES = 10, FEW_NEIGHBOURS = 2 };
static const double AROUND = 0.8;          /* of what the noise of one in so many sums exceeds */
static const double LEAST_EXPECTED = 1e-3; /* records, of any cell */
static const double SURE = 2;              /* deviations of a sum that noise does not reach */
static const double MOSTLY_NOISE = 0.1; /* of a sum: its deviation, from which on it tells little */
static const double MOST_ASIDE = 0.3;   /* of a cell's width, from its middle to its records */

clo_status clo_i_grid_take(clo_workspace *space, size_t cells, clo_i_noisy_grid *out,
                           clo_error *err)
{
    out->cells = cells;
    CLO_TRY(clo_i_take(space, cells, sizeof *out->counts, &out->counts, err));
    CLO_TRY(clo_i_take(space, cells, sizeof *out->weights, &out->weights, err));
    CLO_TRY(clo_i_take(space, cells, sizeof *out->around, &out->around, err));
    return clo_i_take(space, cells, sizeof *out->near, &out->near, err);
}

static size_t side_of(const clo_line *line)
{
    return (size_t)clo_i_cell_counts_fields(line).side;
}

/* ---- neighbours ---------------------------------------------------------------------------- */

/* Of each cell along one column: own times it, and beside times each of the two next to it; where
 * there is none, it stands in for it if `mirror`. */
static void add_beside(double *values, size_t cells, size_t side, size_t step, double own,
                       double beside, bool mirror)
{
    for (size_t first = 0; first < cells; first++) {
        if (first / step % side) continue; /* not the first cell of a row along this column */
        double before = mirror ? values[first] : 0;
        for (size_t i = 0; i < side; i++) {
            double *const here = values + first + i * step;
            const double value = *here, after = i + 1 < side ? here[step] : mirror ? value : 0;
            *here = own * value + beside * (before + after);
            before = value;
        }
    }
}

/* A cell outside of the ball is no neighbour. */
static void look_around(const clo_line *line, const clo_i_noisy_grid *grid)
{
    const size_t side = side_of(line);
    for (size_t c = 0; c < grid->cells; c++) {
        grid->near[c] = grid->counts[c] > -INFINITY;
        grid->around[c] = grid->near[c] > 0 ? grid->counts[c] : 0;
    }
    for (size_t step = 1; side > 1 && step < grid->cells; step *= side) {
        add_beside(grid->around, grid->cells, side, step, 1, 1, false);
        add_beside(grid->near, grid->cells, side, step, 1, 1, false);
    }
}

/* Whether a cell and those around it hold more than noise. */
static bool stands_out(const clo_line *line, const clo_i_noisy_grid *grid, size_t c)
{
    const double noise = line->noise * sqrt(grid->near[c]);
    return grid->counts[c] > -INFINITY &&
           grid->around[c] >= AROUND * noise * sqrt(2 * log(fmax((double)grid->cells, 2)));
}

/* The mean squared difference of a count to that of its neighbours, less what noise makes, as a
 * share of the square of the latter: over all cells that stand out. */
static double unlikeness(const clo_line *line, const clo_i_noisy_grid *grid)
{
    double square = 0, all = 0;
    for (size_t c = 0; c < grid->cells; c++) {
        if (!stands_out(line, grid, c)) continue;
        const double mean = grid->around[c] / grid->near[c], off = grid->counts[c] - mean;
        square += off * off - line->noise * line->noise * (1 - 1 / grid->near[c]);
        all += mean * mean;
    }
    return all > 0 ? fmax(square / all, 0) : 0;
}

/* What a cell counts with at first; 0: not at all.  One that stands out with its neighbours counts
 * with what is known of it and of them; one that does by itself with its noisy count. */
static double weight_at_first(const clo_line *line, const clo_i_noisy_grid *grid, double unlike,
                              double threshold, size_t c)
{
    const double alone = grid->counts[c] >= threshold ? fmax(grid->counts[c], 1) : 0;
    if (!stands_out(line, grid, c)) return alone;
    const double mean = grid->around[c] / grid->near[c], spread = unlike * mean * mean;
    const double trust = spread / (spread + line->noise * line->noise);
    return fmax(mean + trust * (grid->counts[c] - mean), alone > 0);
}

/* ---- what is to be expected of a cell ------------------------------------------------------- */

/* Of r with the density exp(-r / mean - |count - r| / scale), r >= 0: below the count an
 * exponential that rises or falls, by which of the two is the wider, and above it one that falls.
 * Both are taken times what makes the larger of them 1. */
double clo_i_grid_given_laplace(double count, double mean, double scale)
{
    const double falls = 1 / mean + 1 / scale, rises = 1 / scale - 1 / mean;
    if (count <= 0) return 1 / falls;
    const double small = exp(-fabs(rises) * count), above = rises < 0 ? small : 1;
    double weight = count, sum = count * count / 2; /* below the count */
    if (fabs(rises) * count > 1e-4) {
        weight = (1 - small) / fabs(rises);
        sum = rises > 0 ? (count - weight) / rises
                        : (1 / rises - small * (1 / rises - count)) / rises;
    }
    return (sum + above * (count / falls + 1 / (falls * falls))) / (weight + above / falls);
}

/* A normal law, moved by the exponential one, and cut at 0. */
double clo_i_grid_given_gaussian(double count, double mean, double deviation)
{
    const double z = count / deviation - deviation / mean;
    if (z < -8) return deviation * (1 / -z + 2 / (z * z * z)); /* as far out as erfc tells little */
    return deviation * (z + exp(-z * z / 2) / sqrt(2 * acos(-1)) / (erfc(-z / sqrt(2)) / 2));
}

static double given(const clo_line *line, double count, double mean)
{
    if (line->event.kind == CLO_EVENT_GAUSSIAN)
        return clo_i_grid_given_gaussian(count, mean, line->noise);
    return clo_i_grid_given_laplace(count, mean,
                                    (double)line->rate_denominator / (double)line->rate_numerator);
}

/* ---- the number of records ------------------------------------------------------------------ */

/* How many records there are.  Where their number is public there may still be fewer that count,
 * as cells were missing: then the sum of all counts is lower than noise makes it. */
static double records_in_all(const clo_line *line, const clo_i_noisy_grid *grid, uint64_t rows)
{
    double sum = 0, kept = 0, cells = 0;
    for (size_t c = 0; c < grid->cells; c++) {
        if (!(grid->counts[c] > -INFINITY)) continue;
        sum += grid->counts[c];
        kept += grid->weights[c];
        cells++;
    }
    const double noise = line->noise * sqrt(cells);
    if (rows) return fmin((double)rows, sum + SURE * noise);
    return noise < MOSTLY_NOISE * sum ? sum : kept;
}

/* The nearest weights that are not below 0 and have this sum: the same is taken off each.  Outside
 * of the ball they stay 0. */
static void bring_to_sum(const clo_i_noisy_grid *grid, double sum)
{
    const size_t count = grid->cells;
    double off = -INFINITY, *const weights = grid->weights;
    for (size_t i = 0; i < count; i++)
        if (!(grid->counts[i] > -INFINITY)) weights[i] = -INFINITY;
    for (size_t kept = count + 1, before = 0; kept != before;) {
        double all = 0;
        before = kept;
        kept = 0;
        for (size_t i = 0; i < count; i++) {
            if (!(weights[i] > off)) continue;
            all += weights[i];
            kept++;
        }
        if (kept) off = (all - sum) / (double)kept;
    }
    for (size_t i = 0; i < count; i++) weights[i] = fmax(weights[i] - off, 0);
}

/* ---- all together --------------------------------------------------------------------------- */

static void refine(const clo_line *line, clo_i_noisy_grid *grid, double sum)
{
    const size_t side = side_of(line);
    const int smoothings = line->cols == 1 ? FEW_NEIGHBOURS : 1;
    double *const expected = grid->around; /* which is read no more */
    bring_to_sum(grid, sum);
    for (int time = 0; time < TIMES; time++) {
        memcpy(expected, grid->weights, grid->cells * sizeof *expected);
        for (size_t step = 1; side > 1 && step < grid->cells; step *= side)
            for (int i = 0; i < smoothings; i++)
                add_beside(expected, grid->cells, side, step, 0.5, 0.25, true);
        for (size_t c = 0; c < grid->cells; c++)
            grid->weights[c] = given(line, grid->counts[c], fmax(expected[c], LEAST_EXPECTED));
        bring_to_sum(grid, sum);
    }
}

static int descending(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a < b) - (a > b);
}

/* Where fewer cells than centres have a weight: those with the largest counts get one. */
static clo_status feed(clo_i_noisy_grid *grid, size_t least, clo_error *err)
{
    double *sorted = NULL;
    size_t kept = 0;
    for (size_t c = 0; c < grid->cells; c++) kept += grid->weights[c] > 0;
    if (kept >= least) return CLO_OK;
    CLO_TRY(clo_i_alloc(grid->cells, sizeof *sorted, &sorted, err));
    memcpy(sorted, grid->counts, grid->cells * sizeof *sorted);
    qsort(sorted, grid->cells, sizeof *sorted, descending);
    const double lowest = sorted[least - 1];
    clo_i_free(sorted);
    for (size_t c = 0; c < grid->cells; c++)
        if (grid->counts[c] >= lowest && !(grid->weights[c] > 0))
            grid->weights[c] = fmax(grid->counts[c], 1);
    return CLO_OK;
}

clo_status clo_i_grid_weigh(const clo_line *line, double threshold, uint64_t rows, size_t least,
                            clo_i_noisy_grid *grid, clo_error *err)
{
    look_around(line, grid);
    const double unlike = unlikeness(line, grid);
    for (size_t c = 0; c < grid->cells; c++)
        grid->weights[c] = weight_at_first(line, grid, unlike, threshold, c);
    const double sum = records_in_all(line, grid, rows);
    if (sum > 0) refine(line, grid, sum);
    return feed(grid, least, err);
}

/* As if the density were a slope from one neighbour to the other. */
void clo_i_grid_point(const clo_line *line, const clo_i_noisy_grid *grid, size_t cell,
                      double *point)
{
    const size_t side = side_of(line), d = line->cols;
    const double width =
        2 * ldexp((double)clo_i_cell_counts_fields(line).reach, -line->bits) / (double)side;
    const double own = grid->weights[cell];
    size_t step = 1;
    clo_i_cell_center(line, cell, point);
    for (size_t j = d; j-- > 0; step *= side) { /* the last column's place is the fastest */
        const size_t place = cell / step % side;
        const double before = place > 0 ? grid->weights[cell - step] : own;
        const double after = place + 1 < side ? grid->weights[cell + step] : own;
        const double aside = (after - before) / (24 * own);
        point[j] += width * fmin(fmax(aside, -MOST_ASIDE), MOST_ASIDE);
    }
}
