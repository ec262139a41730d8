/*
 * test_subspaces.c - d_W against all permutations, unequal dimensions against projectors, angles
 * against angles that were put in.
 */
#include "check.h"
#include "measure/measure.h"
#include "linalg/linalg.h"
#include <stdlib.h>

static double uniform(uint64_t *state) /* in (-1, 1); xorshift64* */
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (double)(int64_t)(*state * UINT64_C(0x2545F4914F6CDD1D)) * 0x1p-63;
}

/* k orthonormal bases; with dims, columns beyond a basis' own are zero. */
static double *random_bases(size_t k, size_t d, size_t q, const size_t *dims, uint64_t seed)
{
    double *bases = calloc(k * d * q, sizeof *bases);
    assert_non_null(bases);
    for (size_t i = 0; i < k * d * q; i++) bases[i] = uniform(&seed);
    for (size_t j = 0; j < k; j++) {
        assert_int_equal(clo_i_orthonormalize(bases + j * d * q, d, q, NULL), CLO_OK);
        for (size_t c = 0; dims && c < d; c++)
            for (size_t l = dims[j]; l < q; l++) bases[(j * d + c) * q + l] = 0;
    }
    return bases;
}

/* ||UU' - VV'||_F^2 / 2 by the projectors themselves. */
static double by_projectors(const double *u, const double *v, size_t d, size_t q)
{
    double square = 0;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            double entry = 0;
            for (size_t l = 0; l < q; l++)
                entry += u[i * q + l] * u[j * q + l] - v[i * q + l] * v[j * q + l];
            square += entry * entry / 2;
        }
    return square;
}

static double least_of_all(const double *a, const double *b, size_t k, size_t d, size_t q,
                           size_t *partner, size_t from)
{
    double least = INFINITY, sum = 0;
    if (from == k) {
        for (size_t i = 0; i < k; i++)
            sum += by_projectors(a + i * d * q, b + partner[i] * d * q, d, q);
        return sum;
    }
    for (size_t i = from; i < k; i++) {
        const size_t x = partner[from], y = partner[i];
        partner[from] = y, partner[i] = x;
        least = fmin(least, least_of_all(a, b, k, d, q, partner, from + 1));
        partner[from] = x, partner[i] = y;
    }
    return least;
}

static void the_distance_of_sets_is_the_least_over_all_permutations(void **state)
{
    const size_t dims[] = { 2, 1, 2, 1, 1, 2 }, others[] = { 1, 1, 2, 2, 1, 1 };
    (void)state;
    for (size_t k = 1; k <= 6; k++)
        for (uint64_t trial = 0; trial < (k == 6 ? 2 : 8); trial++) {
            enum { D = 4, Q = 2 };
            const bool unequal = trial % 2;
            double *a = random_bases(k, D, Q, unequal ? dims : NULL, 100 * k + trial + 1);
            double *b = random_bases(k, D, Q, unequal ? others : NULL, 5000 * k + trial + 1);
            size_t partner[6] = { 0, 1, 2, 3, 4, 5 };
            double distance = 0;
            assert_int_equal(clo_i_subspaces_distance(a, b, k, D, Q, &distance, NULL), CLO_OK);
            assert_close(distance, sqrt(least_of_all(a, b, k, D, Q, partner, 0)), 1e-13);
            free(a), free(b);
        }
}

static void subspaces_of_unequal_dimensions_are_as_far_as_their_projectors(void **state)
{
    const size_t pairs[][2] = { { 3, 1 }, { 1, 3 }, { 2, 3 }, { 3, 3 }, { 1, 1 } };
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        double *u = random_bases(1, 7, 3, &pairs[i][0], 11 + i);
        double *v = random_bases(1, 7, 3, &pairs[i][1], 31 + i), distance = 0;
        assert_int_equal(clo_i_subspaces_distance(u, v, 1, 7, 3, &distance, NULL), CLO_OK);
        assert_close(distance, sqrt(by_projectors(u, v, 7, 3)), 1e-13);
        free(u), free(v);
    }
}

/* A line in a plane is half a dimension away from it: at the root of 1/2, and at no angle. */
static void a_subspace_of_another_has_no_angle_with_it(void **state)
{
    const double plane[] = { 1, 0, 0, 1, 0, 0 }, line[] = { 0.6, 0, 0.8, 0, 0, 0 };
    double distance = 0, angle = 9;
    (void)state;
    assert_int_equal(clo_i_subspaces_compare(plane, line, 1, 3, 2, &distance, &angle, NULL),
                     CLO_OK);
    assert_close(distance, sqrt(0.5), 1e-15);
    assert_close(angle, 0, 1e-15);
}

/* Two planes, one turned by 0.3 about a common line and one by 1e-10: both digits are kept. */
static void the_largest_angle_is_that_of_the_matched_subspaces(void **state)
{
    const double turn[] = { 0.3, 1e-10 };
    double a[2 * 5 * 2] = { 0 }, b[2 * 5 * 2] = { 0 }, distance = 0, angle = 0;
    (void)state;
    for (size_t j = 0; j < 2; j++) { /* span(e0, e1) and span(e2, e3); e4 is to turn towards */
        double *u = a + j * 10, *v = b + (1 - j) * 10;
        u[2 * j * 2] = 1, u[(2 * j + 1) * 2 + 1] = 1;
        v[2 * j * 2] = 1, v[(2 * j + 1) * 2 + 1] = cos(turn[j]), v[4 * 2 + 1] = sin(turn[j]);
    }
    assert_int_equal(clo_i_subspaces_compare(a, b, 2, 5, 2, &distance, &angle, NULL), CLO_OK);
    assert_close(angle, 0.3, 1e-14);
    assert_close(distance, sin(0.3), 1e-14);
    assert_int_equal(clo_i_subspaces_compare(a + 10, b, 1, 5, 2, &distance, &angle, NULL), CLO_OK);
    assert_close(angle * 1e10, 1, 1e-10);
    assert_close(distance * 1e10, 1, 1e-10);
}

/* A hundred subspaces in another order, each in another basis. */
static void many_subspaces_find_their_partners(void **state)
{
    enum { K = 100, D = 8, Q = 2 };
    double *a = random_bases(K, D, Q, NULL, 77), distance = 9, angle = 9;
    double *b = calloc(K * D * Q, sizeof *b);
    (void)state;
    assert_non_null(b);
    for (size_t j = 0; j < K; j++)
        for (size_t c = 0; c < D; c++) {
            const double *from = a + (j * D + c) * Q;
            double *to = b + ((7 * j + 3) % K * D + c) * Q;
            to[0] = 0.6 * from[0] - 0.8 * from[1];
            to[1] = 0.8 * from[0] + 0.6 * from[1];
        }
    assert_int_equal(clo_i_subspaces_compare(a, b, K, D, Q, &distance, &angle, NULL), CLO_OK);
    assert_close(distance, 0, 1e-13);
    assert_close(angle, 0, 1e-14);
    free(a), free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_distance_of_sets_is_the_least_over_all_permutations),
        cmocka_unit_test(subspaces_of_unequal_dimensions_are_as_far_as_their_projectors),
        cmocka_unit_test(a_subspace_of_another_has_no_angle_with_it),
        cmocka_unit_test(the_largest_angle_is_that_of_the_matched_subspaces),
        cmocka_unit_test(many_subspaces_find_their_partners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
