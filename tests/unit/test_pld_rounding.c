/*
 * test_pld_rounding.c - what the transforms lose (accounting.T17): the bound that the accountant
 * charges, beside the theorem's own formula and beside the true error, found with more digits.
 *
 * The theorem is about any masses that sum up to at most 1, so these are made here, among them
 * those for which the bound of the norm is attained: equal masses that fill the window several
 * times over.  A pair of the accountant leaves next to nothing outside of its window and would not
 * tell a right bound from a wrong one.
 */
#include "check.h"
#include "events.h"
#include "accounting/pld.h"
#include <float.h>
#include <stdlib.h>

enum { MOST_CELLS = 8192 };

typedef enum shape { EQUAL, RANDOM, ONE, FALLING, SHAPES } shape;

static double weight(shape which, size_t j, size_t cells, uint64_t *seed)
{
    if (which == EQUAL) return 1;
    if (which == RANDOM) return draw(seed);
    if (which == ONE) return j == cells / 3;
    return pow(0.9, (double)j);
}

/* Masses of this shape that sum up to at most 1, with their norm, as grid_pair_init leaves them. */
static clo_i_grid_pair made(shape which, size_t reach, double *room, uint64_t *seed)
{
    const size_t cells = 2 * reach + 1;
    assert_true(cells <= MOST_CELLS);
    long double sum = 0, squares = 0;
    for (size_t j = 0; j < cells; j++) sum += room[j] = weight(which, j, cells, seed);
    for (size_t j = 0; j < cells; j++) {
        room[j] = (double)(room[j] / sum) * (1 - 0x1p-40);
        squares += (long double)room[j] * room[j];
    }
    return (clo_i_grid_pair){ .mass = room, .reach = reach, .norm = (double)sqrtl(squares) };
}

/* The masses modulo the window, their norm, and how many come together at most. */
static size_t laid_out(long double *cell, size_t size, const clo_i_grid_pair *pair,
                       long double *norm)
{
    size_t *const together = calloc(size, sizeof *together), most = 0;
    assert_non_null(together);
    for (size_t k = 0; k < size; k++) cell[k] = 0;
    for (size_t j = 0; j <= 2 * pair->reach; j++) {
        const long long loss = (long long)j - (long long)pair->reach, n = (long long)size;
        const size_t at = (size_t)((loss % n + n) % n);
        cell[at] += pair->mass[j];
        if (++together[at] > most) most = together[at];
    }
    *norm = 0;
    for (size_t k = 0; k < size; k++) *norm += cell[k] * cell[k];
    *norm = sqrtl(*norm);
    free(together);
    return most;
}

/* ---- the norm -------------------------------------------------------------- */

static void the_norm_covers_masses_that_share_a_cell_and_no_more(void **state)
{
    static double room[MOST_CELLS];
    static long double cell[1024];
    uint64_t seed = 11;
    int attained = 0, capped = 0;
    for (size_t size = 16; size <= 1024; size *= 4) {
        for (size_t reach = 1; 2 * reach + 1 <= MOST_CELLS; reach = reach * 3 / 2 + 1) {
            for (shape which = 0; which < SHAPES; which++) {
                const clo_i_grid_pair pair = made(which, reach, room, &seed);
                long double norm;
                const double most = (double)laid_out(cell, size, &pair, &norm);
                const double bound = clo_i_norm_in_window(&pair, size);
                const double theorem = fmin(sqrt(most) * pair.norm, 1);
                assert_true(bound >= (double)norm && bound >= theorem);
                assert_true(bound <= theorem * (1 + 1e-5));
                attained += most > 1 && theorem < (double)norm * 1.001;
                capped += theorem >= 1;
            }
        }
    }
    assert_true(attained > 10 && capped > 10); /* the cases that matter were among them */
}

/* ---- the formula ----------------------------------------------------------- */

/* accounting.T17 as it is printed, from the number of masses in a cell and their norms. */
static long double printed(const clo_i_pairs *pairs, const double *together, const double *norm,
                           size_t size)
{
    const long double u = 0x1p-53L, root = sqrtl((long double)size);
    const long double tau = 1.5L * 13 * log2l((long double)size) * u;
    long double drift = 0, sum = 0, events = 0, largest = 0;
    for (size_t i = 0; i < pairs->count; i++) {
        const long double n = (long double)pairs->pair[i].count;
        const long double tau_i = tau + 1.5L * (together[i] - 1) * u;
        drift += n * tau_i * root * norm[i];
        sum += n * tau_i * norm[i];
        events += n + 1;
        largest = fmaxl(largest, norm[i]);
    }
    if (drift > 0.1L) return INFINITY;
    return 1.25L * root * (sum + (3 * events * u + tau) * largest);
}

static void the_bound_is_the_printed_one(void **state)
{
    enum { PAIRS = 3 };
    static double room[PAIRS][MOST_CELLS];
    static long double cell[4096];
    uint64_t seed = 5;
    int beyond = 0, within = 0;
    for (int trial = 0; trial < 400; trial++) {
        const size_t size = (size_t)16 << (int)(9 * draw(&seed));
        clo_i_pairs pairs = { .count = 1 + (size_t)(PAIRS * draw(&seed)) };
        clo_i_grid_pair pair[PAIRS];
        double together[PAIRS], norm[PAIRS];
        for (size_t i = 0; i < pairs.count; i++) {
            const size_t reach = (size_t)exp(log(4000) * draw(&seed));
            long double exact;
            pairs.pair[i].count = (uint64_t)exp(log(0x1p48) * draw(&seed));
            pair[i] = made((shape)(SHAPES * draw(&seed)), reach, room[i], &seed);
            together[i] = (double)laid_out(cell, size, &pair[i], &exact);
            norm[i] = together[i] > 1 ? fmin(sqrt(together[i]) * pair[i].norm, 1) : pair[i].norm;
        }
        const double bound = clo_i_transform_error(pair, &pairs, size);
        const double theorem = (double)printed(&pairs, together, norm, size);
        assert_true(bound >= theorem);
        if (isfinite(bound)) assert_true(bound <= theorem * (1 + 1e-5));
        isfinite(bound) ? within++ : beyond++;
    }
    assert_true(within > 100 && beyond > 20);
}

/* ---- the truth -------------------------------------------------------------- */

/* product times factor, circular. */
static void convolve(long double *product, const long double *factor, size_t size)
{
    long double *const sum = calloc(size, sizeof *sum);
    assert_non_null(sum);
    for (size_t j = 0; j < size; j++)
        for (size_t k = 0; k < size; k++) sum[(j + k) % size] += product[j] * factor[k];
    for (size_t j = 0; j < size; j++) product[j] = sum[j];
    free(sum);
}

/* All masses' errors of one composition together, the accountant's against long double. */
static double true_error(const clo_i_pld *found, const clo_i_pairs *pairs)
{
    const size_t size = found->size;
    long double *const product = calloc(2 * size, sizeof *product), *const factor = product + size;
    long double error = 0, norm;
    clo_error err;
    assert_non_null(product);
    product[0] = 1;
    for (size_t i = 0; i < pairs->count; i++) {
        clo_i_grid_pair grid;
        assert_ok(clo_i_grid_pair_init(&grid, &pairs->pair[i], found->step, found->tilt, &err),
                  err);
        (void)laid_out(factor, size, &grid, &norm);
        for (uint64_t n = 0; n < pairs->pair[i].count; n++) convolve(product, factor, size);
        clo_i_grid_pair_clear(&grid);
    }
    for (size_t j = 0; j < size; j++) {
        const long long loss = found->first + (long long)j, n = (long long)size;
        error += fabsl(product[(loss % n + n) % n] - found->mass[j]);
    }
    free(product);
    return (double)error;
}

static void the_true_error_lies_below_the_bound(void **state)
{
    uint64_t seed = 29;
    double nearest = 0;
    for (int trial = 0; trial < 40; trial++) {
        clo_i_pairs pairs = { .count = 1 + (size_t)(2 * draw(&seed)) };
        clo_i_pld found;
        clo_error err;
        for (size_t i = 0; i < pairs.count; i++) {
            clo_i_pair *const pair = &pairs.pair[i];
            pair->range = draw(&seed) < 0.5;
            pair->epsilon = 0.2 + draw(&seed);
            pair->count = 1 + (uint64_t)(4 * draw(&seed));
            pairs.events += (double)pair->count;
            pairs.largest_epsilon = fmax(pairs.largest_epsilon, pair->epsilon);
        }
        assert_ok(clo_i_pld_init(&found, &pairs, 4 * draw(&seed), &err), err);
        if (found.size <= 2048) {
            const double error = true_error(&found, &pairs);
            assert_true(error <= found.error);
            nearest = fmax(nearest, error / found.error);
        }
        clo_i_pld_clear(&found);
    }
    assert_true(nearest > 1e-3); /* a bound that is far from any error would hold for anything */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_norm_covers_masses_that_share_a_cell_and_no_more),
        cmocka_unit_test(the_bound_is_the_printed_one),
        cmocka_unit_test(the_true_error_lies_below_the_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
