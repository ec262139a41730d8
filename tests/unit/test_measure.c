/*
 * test_measure.c - costs against plain loops, matchings against all permutations, distances
 * between sets against cases whose answer is known.
 */
#include "check.h"
#include "measure/measure.h"
#include "linalg/linalg.h"
#include <omp.h>
#include <stdlib.h>

static void *need(size_t count, size_t size)
{
    void *block = calloc(count ? count : 1, size);
    assert_non_null(block);
    return block;
}

static double uniform(uint64_t *state) /* in (-1, 1); xorshift64* */
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (double)(int64_t)(*state * UINT64_C(0x2545F4914F6CDD1D)) * 0x1p-63;
}

static double *random_matrix(size_t count, uint64_t seed)
{
    double *a = need(count, sizeof *a);
    for (size_t i = 0; i < count; i++) a[i] = uniform(&seed);
    return a;
}

static double *random_bases(size_t k, size_t d, size_t q, uint64_t seed)
{
    double *bases = random_matrix(k * d * q, seed);
    for (size_t j = 0; j < k; j++)
        assert_int_equal(clo_i_orthonormalize(bases + j * d * q, d, q, NULL), CLO_OK);
    return bases;
}

/* ---- distances to flats -------------------------------------------------- */

static long double plain_distance(const clo_flats *flats, size_t j, const double *row)
{
    const size_t d = flats->cols, q = flats->dim;
    long double square = 0, *rest = need(d, sizeof *rest);
    for (size_t c = 0; c < d; c++)
        rest[c] = (long double)row[c] - (flats->offsets ? flats->offsets[j * d + c] : 0);
    for (size_t l = 0; l < q; l++) {
        long double along = 0;
        for (size_t c = 0; c < d; c++) along += rest[c] * flats->bases[(j * d + c) * q + l];
        for (size_t c = 0; c < d; c++) rest[c] -= along * flats->bases[(j * d + c) * q + l];
    }
    for (size_t c = 0; c < d; c++) square += rest[c] * rest[c];
    free(rest);
    return square;
}

static void assert_distances(const clo_flats *flats, const double *rows, size_t count,
                             double tolerance)
{
    double *squared = need(count, sizeof *squared), mean = 0;
    uint32_t *nearest = need(count, sizeof *nearest);
    long double sum = 0;
    assert_int_equal(clo_i_flat_distances(flats, rows, count, squared, nearest, NULL), CLO_OK);
    for (size_t i = 0; i < count; i++) {
        long double least = INFINITY;
        for (size_t j = 0; j < flats->count; j++)
            least = fminl(least, plain_distance(flats, j, rows + i * flats->cols));
        assert_close(squared[i], (double)least, tolerance);
        assert_close((double)plain_distance(flats, nearest[i], rows + i * flats->cols),
                     (double)least, tolerance);
        sum += least;
    }
    assert_int_equal(clo_i_flat_cost(flats, rows, count, &mean, NULL), CLO_OK);
    assert_close(mean, (double)(sum / (long double)count), tolerance);
    free(squared), free(nearest);
}

static void distances_to_centres_are_those_of_plain_loops(void **state)
{
    const size_t shapes[][3] = { { 1, 1, 1 }, { 700, 7, 5 }, { 1000, 3, 40 }, { 257, 60, 2 } };
    (void)state;
    for (size_t s = 0; s < 4; s++) {
        const size_t n = shapes[s][0], k = shapes[s][1], d = shapes[s][2];
        double *rows = random_matrix(n * d, 1 + s), *centers = random_matrix(k * d, 10 + s);
        const clo_flats flats = { .count = k, .cols = d, .offsets = centers };
        assert_distances(&flats, rows, n, 1e-13);
        free(rows), free(centers);
    }
}

static void distances_to_linear_and_affine_subspaces_are_those_of_plain_loops(void **state)
{
    const size_t shapes[][4] = {
        { 300, 1, 5, 2 }, { 600, 4, 12, 3 }, { 300, 3, 6, 6 }, { 50, 2, 3000, 2 }
    };
    (void)state;
    for (size_t s = 0; s < 4; s++) {
        const size_t n = shapes[s][0], k = shapes[s][1], d = shapes[s][2], q = shapes[s][3];
        double *rows = random_matrix(n * d, 20 + s), *offsets = random_matrix(k * d, 30 + s);
        double *bases = random_bases(k, d, q, 40 + s);
        const clo_flats linear = { .count = k, .cols = d, .dim = q, .bases = bases };
        clo_flats affine = linear;
        affine.offsets = offsets;
        assert_distances(&linear, rows, n, 1e-14 * (double)d);
        assert_distances(&affine, rows, n, 1e-14 * (double)d);
        free(rows), free(offsets), free(bases);
    }
}

/* Years around 2e9 with clusters one apart: |x|^2 - 2xc + |c|^2 would have no digit left. */
static void data_far_from_the_origin_find_their_nearest_centre(void **state)
{
    const double centers[] = { 2e9, 2e9 + 1 }, rows[] = { 2e9 + 0.25, 2e9 + 0.75, 2e9 + 1.5 };
    const clo_flats flats = { .count = 2, .cols = 1, .offsets = centers };
    double squared[3];
    uint32_t nearest[3];
    (void)state;
    assert_int_equal(clo_i_flat_distances(&flats, rows, 3, squared, nearest, NULL), CLO_OK);
    assert_close(squared[0], 0.0625, 1e-12);
    assert_close(squared[1], 0.0625, 1e-12);
    assert_close(squared[2], 0.25, 1e-12);
    assert_true(nearest[0] == 0 && nearest[1] == 1 && nearest[2] == 1);
}

/* |y|^2 - |U'y|^2 would be off by 1e-16 * |y|^2, which is a hundred times the answer. */
static void a_row_almost_in_the_subspace_keeps_the_digits_of_its_distance(void **state)
{
    const double basis[] = { 0.6, 0.8 }, rows[] = { 6 - 0.8e-9, 8 + 0.6e-9 };
    const clo_flats flats = { .count = 1, .cols = 2, .dim = 1, .bases = basis };
    double mean = 0;
    (void)state;
    assert_int_equal(clo_i_flat_cost(&flats, rows, 1, &mean, NULL), CLO_OK);
    assert_close(mean * 1e18, 1, 1e-5);
}

static void rows_with_a_nan_are_nan_and_left_out_of_the_mean(void **state)
{
    const double centers[] = { 0, 0, 10, 0 };
    const double rows[] = { 1, 0, NAN, 3, 10, 2, 0, NAN }, none[] = { NAN, 0 };
    const clo_flats flats = { .count = 2, .cols = 2, .offsets = centers };
    double squared[4], mean = 0;
    (void)state;
    assert_int_equal(clo_i_flat_distances(&flats, rows, 4, squared, NULL, NULL), CLO_OK);
    assert_true(squared[0] == 1 && isnan(squared[1]) && squared[2] == 4 && isnan(squared[3]));
    assert_int_equal(clo_i_flat_cost(&flats, rows, 4, &mean, NULL), CLO_OK);
    assert_true(mean == 2.5);
    assert_int_equal(clo_i_flat_cost(&flats, none, 1, &mean, NULL), CLO_OK);
    assert_true(isnan(mean));
}

static void a_square_beyond_the_largest_double_is_infinite_and_not_nan(void **state)
{
    const double rows[] = { 1e200, -1e200, 1.7e308, 1 }, points[] = { -1.7e308, 0 };
    const double basis[] = { 0.6, 0.8 };
    const clo_flats line = { .count = 1, .cols = 2, .dim = 1, .offsets = points, .bases = basis };
    double squared[2];
    (void)state;
    assert_int_equal(clo_i_flat_distances(&line, rows, 2, squared, NULL, NULL), CLO_OK);
    assert_true(isinf(squared[0]) && isinf(squared[1]));
}

static void distances_are_the_same_bits_on_one_two_and_three_threads(void **state)
{
    enum { N = 2000, K = 9, D = 17, Q = 3 };
    const int threads[] = { 1, 2, 3 };
    double *rows = random_matrix(N * D, 50), *offsets = random_matrix(K * D, 51);
    double *bases = random_bases(K, D, Q, 52), *squared[3];
    const clo_flats flats = { .count = K, .cols = D, .dim = Q, .offsets = offsets, .bases = bases };
    (void)state;
    for (int t = 0; t < 3; t++) {
        squared[t] = need(N, sizeof **squared);
        omp_set_num_threads(threads[t]);
        assert_int_equal(clo_i_flat_distances(&flats, rows, N, squared[t], NULL, NULL), CLO_OK);
        assert_int_equal(omp_get_max_threads(), threads[t]);
        assert_memory_equal(squared[t], squared[0], N * sizeof **squared);
    }
    for (int t = 0; t < 3; t++) free(squared[t]);
    free(rows), free(offsets), free(bases);
}

static void no_rows_are_no_trouble_and_no_flats_are_refused(void **state)
{
    const double center = 0;
    clo_flats flats = { .count = 1, .cols = 1, .offsets = &center };
    double mean = 0;
    (void)state;
    assert_int_equal(clo_i_flat_cost(&flats, NULL, 0, &mean, NULL), CLO_OK);
    assert_true(isnan(mean));
    flats.count = 0;
    assert_int_equal(clo_i_flat_cost(&flats, &center, 1, &mean, NULL), CLO_INTERNAL);
}

/* ---- matchings ----------------------------------------------------------- */

static double sum_of(const double *cost, size_t k, const size_t *partner)
{
    double sum = 0;
    for (size_t i = 0; i < k; i++) sum += cost[i * k + partner[i]];
    return sum;
}

/* The least over all permutations of partner[from …]. */
static double least_of_all(const double *cost, size_t k, size_t *partner, size_t from)
{
    if (from == k) return sum_of(cost, k, partner);
    double least = INFINITY;
    for (size_t i = from; i < k; i++) {
        const size_t a = partner[from], b = partner[i];
        partner[from] = b, partner[i] = a;
        least = fmin(least, least_of_all(cost, k, partner, from + 1));
        partner[from] = a, partner[i] = b;
    }
    return least;
}

static void assert_permutation(const size_t *partner, size_t k)
{
    unsigned char *seen = need(k, 1);
    for (size_t i = 0; i < k; i++) {
        assert_true(partner[i] < k && !seen[partner[i]]);
        seen[partner[i]] = 1;
    }
    free(seen);
}

static void a_matching_is_the_best_of_all_permutations(void **state)
{
    uint64_t seed = 60;
    (void)state;
    for (size_t k = 1; k <= 6; k++)
        for (int trial = 0; trial < 200; trial++) {
            double cost[36];
            size_t partner[6], all[6];
            for (size_t i = 0; i < k * k; i++)
                cost[i] = trial % 2 ? uniform(&seed) : floor(3 * uniform(&seed)); /* with ties */
            for (size_t i = 0; i < k; i++) all[i] = i;
            assert_int_equal(clo_i_match(cost, k, partner, NULL), CLO_OK);
            assert_permutation(partner, k);
            assert_close(sum_of(cost, k, partner), least_of_all(cost, k, all, 0), 1e-14);
        }
}

/* Prices r and c with cost r_i + c_j on a hidden permutation and more elsewhere prove it best. */
static void a_large_matching_finds_the_hidden_permutation(void **state)
{
    enum { K = 150 };
    double *cost = need(K * K, sizeof *cost), row[K], column[K];
    size_t partner[K];
    uint64_t seed = 61;
    (void)state;
    for (size_t i = 0; i < K; i++) row[i] = 5 * uniform(&seed), column[i] = 5 * uniform(&seed);
    for (size_t i = 0; i < K; i++)
        for (size_t j = 0; j < K; j++)
            cost[i * K + j] =
                row[i] + column[j] + (j == (7 * i + 3) % K ? 0 : 1e-3 + fabs(uniform(&seed)));
    assert_int_equal(clo_i_match(cost, K, partner, NULL), CLO_OK);
    for (size_t i = 0; i < K; i++) assert_int_equal(partner[i], (7 * i + 3) % K);
    free(cost);
}

static void a_cost_that_is_not_finite_is_refused(void **state)
{
    const double costs[][4] = { { 1, NAN, 0, 1 }, { 1, 0, INFINITY, 1 } };
    size_t partner[2] = { 9, 9 };
    (void)state;
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(clo_i_match(costs[i], 2, partner, NULL), CLO_INTERNAL);
    assert_true(partner[0] == 9 && partner[1] == 9);
}

/* ---- distances between sets ---------------------------------------------- */

/* Orthogonal q-subspaces are sqrt q apart; |UU' - VV'|_F is sqrt 2 times the distance. */
static void the_distance_of_subspaces_is_the_norm_of_their_sines(void **state)
{
    enum { D = 8, Q = 3 };
    double u[D * Q] = { 0 }, v[D * Q] = { 0 }, distance = 0;
    (void)state;
    for (size_t j = 0; j < Q; j++) u[j * Q + j] = 1, v[(Q + j) * Q + j] = 1;
    assert_int_equal(clo_i_subspaces_distance(u, v, 1, D, Q, &distance, NULL), CLO_OK);
    assert_close(distance, sqrt(Q), 1e-15);
    double *a = random_bases(1, D, Q, 70), *b = random_bases(1, D, Q, 71), projectors = 0;
    for (size_t i = 0; i < D; i++)
        for (size_t j = 0; j < D; j++) {
            double difference = 0;
            for (size_t l = 0; l < Q; l++)
                difference += a[i * Q + l] * a[j * Q + l] - b[i * Q + l] * b[j * Q + l];
            projectors += difference * difference;
        }
    assert_int_equal(clo_i_subspaces_distance(a, b, 1, D, Q, &distance, NULL), CLO_OK);
    assert_close(sqrt(projectors), sqrt(2) * distance, 1e-14);
    free(a), free(b);
}

/* The order of the subspaces and the basis of each say nothing: both are changed here. */
static void sets_of_subspaces_are_compared_without_order_or_basis(void **state)
{
    enum { K = 4, D = 7, Q = 2 };
    double *a = random_bases(K, D, Q, 72), *b = need(K * D * Q, sizeof *b), distance = 9;
    (void)state;
    for (size_t j = 0; j < K; j++)
        for (size_t c = 0; c < D; c++) {
            const double *from = a + (j * D + c) * Q;
            double *to = b + ((j + 1) % K * D + c) * Q;
            to[0] = 0.6 * from[0] - 0.8 * from[1];
            to[1] = 0.8 * from[0] + 0.6 * from[1];
        }
    assert_int_equal(clo_i_subspaces_distance(a, b, K, D, Q, &distance, NULL), CLO_OK);
    assert_close(distance, 0, 1e-14);
    free(a), free(b);
}

/* Lines at known angles: matched by hand, the sum of squares is over the set, not its mean. */
static void sets_of_lines_are_as_far_apart_as_their_best_matching(void **state)
{
    const double angles[] = { 0.0, 1.0 }, others[] = { 1.1, 0.2 };
    double a[4], b[4], distance = 0;
    (void)state;
    for (size_t j = 0; j < 2; j++) {
        a[2 * j] = cos(angles[j]), a[2 * j + 1] = sin(angles[j]);
        b[2 * j] = cos(others[j]), b[2 * j + 1] = sin(others[j]);
    }
    assert_int_equal(clo_i_subspaces_distance(a, b, 2, 2, 1, &distance, NULL), CLO_OK);
    assert_close(distance, sqrt(sin(0.1) * sin(0.1) + sin(0.2) * sin(0.2)), 1e-15);
}

static void centres_are_matched_before_they_are_compared(void **state)
{
    const double a[] = { 0, 0, 10, 0, 0, 10 }, b[] = { 0, 13, 1, 0, 10, 4 };
    double distance = 0;
    (void)state;
    assert_int_equal(clo_i_centers_distance(a, b, 3, 2, &distance, NULL), CLO_OK);
    assert_close(distance, sqrt((9.0 + 1 + 16) / 3), 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_to_centres_are_those_of_plain_loops),
        cmocka_unit_test(distances_to_linear_and_affine_subspaces_are_those_of_plain_loops),
        cmocka_unit_test(data_far_from_the_origin_find_their_nearest_centre),
        cmocka_unit_test(a_row_almost_in_the_subspace_keeps_the_digits_of_its_distance),
        cmocka_unit_test(rows_with_a_nan_are_nan_and_left_out_of_the_mean),
        cmocka_unit_test(a_square_beyond_the_largest_double_is_infinite_and_not_nan),
        cmocka_unit_test(distances_are_the_same_bits_on_one_two_and_three_threads),
        cmocka_unit_test(no_rows_are_no_trouble_and_no_flats_are_refused),
        cmocka_unit_test(a_matching_is_the_best_of_all_permutations),
        cmocka_unit_test(a_large_matching_finds_the_hidden_permutation),
        cmocka_unit_test(a_cost_that_is_not_finite_is_refused),
        cmocka_unit_test(the_distance_of_subspaces_is_the_norm_of_their_sines),
        cmocka_unit_test(sets_of_subspaces_are_compared_without_order_or_basis),
        cmocka_unit_test(sets_of_lines_are_as_far_apart_as_their_best_matching),
        cmocka_unit_test(centres_are_matched_before_they_are_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
