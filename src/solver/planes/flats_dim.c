/*
 * flats_dim.c - how many dimensions a cluster has, by the eigenvalues of its second moment.
 *
 * Where rows lie on flats but for a little noise, the eigenvalues say so: they fall steeply after
 * the last dimension, and what is left is little, or is spread as noise is spread.  Such a gap is
 * plain.  Of several steep ones the last counts: motions have two large directions, the mean place
 * among them, and one or two small ones that tell them apart.
 *
 * The eigenvalues of pictures have no plain gap.  They fall from the first on, whose direction is
 * little more than the mean picture, and the largest gap is after it; but flats of one dimension
 * tell no two faces apart.  There a cluster has as many dimensions as leave a hundredth of its
 * energy, up to sixteen and to a quarter of its rows: a flat goes through any rows that are as few
 * as its dimensions.
 */
#include "solver/planes/flats.h"
#include <math.h>

static const double STEEP = 20;    /* the least gap that is plain where little is left */
static const double LITTLE = 0.05; /* of the energy */
static const double DETAIL = 0.01; /* what pictures may leave */
static const double CRUMBS = 1e-5; /* of the mean: no gap comes from less */
static const double NOISE_SLACK = 1.5;

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t clo_i_eigengap(const double *values, size_t count, double mean, double *sharpness)
{
    size_t best = 1;
    double largest = 0;
    for (size_t j = 1; j < count; j++) {
        const double left = fmax(values[j], 0) + 0.001 * mean;
        const double gap = left > 0 ? (values[j - 1] - values[j]) / left : 0;
        if (gap > largest) {
            largest = gap;
            best = j;
        }
    }
    if (sharpness) *sharpness = largest;
    return best;
}

/* Could the eigenvalues after the first q be those of equal noise in the other columns?  Of so few
 * rows the largest is (1 + sqrt(columns / rows))^2 times the mean (Marchenko and Pastur). */
static bool is_noise(const clo_eigenvalues *of, size_t q, double left)
{
    const double others = (double)(of->cols - q);
    if (others < 2 && of->cols > 3) return false; /* one value is spread in no way */
    const double edge = 1 + sqrt(others / (double)of->rows);
    return of->values[q] <= NOISE_SLACK * edge * edge * left / others;
}

/* The fewest that leave little; what is not known is left. */
static size_t by_energy(const clo_eigenvalues *of, size_t most)
{
    double left = of->total;
    size_t q = 0;
    while (q < most && left > DETAIL * of->total) left -= fmax(of->values[q++], 0);
    return q ? q : 1;
}

clo_dim_choice clo_i_choose_dim(const clo_eigenvalues *of)
{
    const double mean = of->total / (double)of->cols;
    clo_dim_choice choice = { .dim = 0 };
    double left = of->total, left_then = 0;
    const size_t widest = clo_i_eigengap(of->values, of->count, mean, &choice.gap);
    for (size_t q = 1; q < of->count; q++) {
        const double rest = fmax(of->values[q], 0) + CRUMBS * mean;
        const double gap = rest > 0 ? (of->values[q - 1] - of->values[q]) / rest : 0;
        left -= fmax(of->values[q - 1], 0);
        if (q == widest) left_then = left;
        if (gap < STEEP || left > LITTLE * of->total) continue;
        choice = (clo_dim_choice){ .dim = q, .gap = gap, .plain = true };
    }
    if (choice.plain) return choice;
    choice.dim = widest;
    choice.plain = of->count < 2 || widest >= of->cols || is_noise(of, widest, left_then);
    if (choice.plain) return choice;
    const size_t quarter = of->rows / 4;
    choice.dim = by_energy(of, smaller(smaller(of->count, CLO_MOST_DIMS), quarter));
    return choice;
}
