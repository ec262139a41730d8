/* Released values brought to what public facts allow (public_fit.T1, T2 and T3): never farther
 * from anything that the facts allow, and left alone where they allow it already. */
#include "check.h"
#include "domain/domain.h"
#include "release/public_fit.h"
#include "release/release.h"
#include <math.h>
#include <string.h>

enum { K = 5, TRIES = 2000 };

/* A small generator of the test's own: numbers from -1 to 1. */
static double next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(*state >> 11) / (double)(UINT64_C(1) << 52) - 1;
}

static double square_apart(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

/* public_fit.T1 */
static void points_are_moved_into_the_bounds_and_nearer_to_every_record(void **state)
{
    const double lower[] = { -1, 10, 0 }, upper[] = { 1, 20, 1e6 };
    clo_domain domain = clo_domain_default();
    uint64_t seed = 1;
    (void)state;
    domain.cols = 3;
    domain.lower = lower;
    domain.upper = upper;
    for (int t = 0; t < TRIES; t++) {
        double point[3], before[3], record[3];
        for (size_t j = 0; j < 3; j++) {
            const double half = upper[j] / 2 - lower[j] / 2, middle = lower[j] + half;
            before[j] = point[j] = middle + 2 * half * next(&seed);
            record[j] = middle + half * next(&seed);
        }
        clo_i_fit_point(&domain, point);
        for (size_t j = 0; j < 3; j++) assert_true(point[j] >= lower[j] && point[j] <= upper[j]);
        assert_true(square_apart(point, record, 3) <= square_apart(before, record, 3));
    }
    domain.lower = domain.upper = NULL;
    double far[] = { 1e9, -1e9, 0 };
    clo_i_fit_point(&domain, far);
    assert_true(far[0] == 1e9 && far[1] == -1e9);
}

/* public_fit.T3: a cut number is nearer to the center, and no farther from what it was than a tenth
 * of the noise, at any scale. */
static void a_number_keeps_the_digits_that_its_noise_leaves(void **state)
{
    static const struct {
        double value, deviation, center, cut;
    } cases[] = { { -98.10913027556379, 0.04, 0, -98.1091 },
                  { 309.51693834577287, 12, 0, 309.5 },
                  { 0.29, 0.5, 0, 0.29 },
                  { 27358.986782893433, 3000, 0, 27350 },
                  { 27358.986782893433, 3000, 50000, 27360 },
                  { 0.0004, 2, 0, 0 },
                  { 51.2251, 0.9, 51.225, 51.225 },
                  { -1e300, 1, 0, -1e300 },
                  { 1.0 / 3, 0, 0, 1.0 / 3 },
                  { 1.0 / 3, INFINITY, 0, 1.0 / 3 },
                  { 1.0 / 3, NAN, 0, 1.0 / 3 } };
    uint64_t seed = 3;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double cut = clo_i_cut_digits(cases[i].value, cases[i].deviation, cases[i].center);
        assert_true(cut == cases[i].cut);
        assert_true(clo_i_cut_digits(cut, cases[i].deviation, cases[i].center) == cut);
    }
    assert_false(signbit(clo_i_cut_digits(-0.0004, 2, 0)));
    for (int t = 0; t < TRIES; t++) {
        const double deviation = pow(10, 6 * next(&seed)), center = deviation * 20 * next(&seed);
        const double value = center + deviation * 1000 * next(&seed);
        const double cut = clo_i_cut_digits(value, deviation, center);
        assert_true(fabs(cut - center) <= fabs(value - center));
        assert_true(fabs(cut - value) <= deviation / 100);
    }
}

static void a_cut_point_stays_in_bounds_and_in_the_ball(void **state)
{
    const double lower[] = { -1.0 / 3, 10, 0 }, upper[] = { 2.0 / 3, 20.01, 1e6 / 7 };
    clo_domain domain = clo_domain_default();
    uint64_t seed = 4;
    (void)state;
    domain.cols = 3;
    for (int t = 0; t < TRIES; t++) {
        double point[3], before[3], center[3], scale[3], far = 0, was = 0;
        domain.lower = t % 2 ? lower : NULL;
        domain.upper = t % 2 ? upper : NULL;
        domain.center = t % 4 ? NULL : lower;
        domain.norm = t % 2 ? 0 : 1;
        clo_i_domain_map(&domain, scale, center);
        for (size_t j = 0; j < 3; j++)
            before[j] = point[j] = center[j] + (t % 3 ? next(&seed) : 1) * scale[j];
        clo_i_cut_point(&domain, pow(10, 3 * next(&seed)), point);
        for (size_t j = 0; j < 3; j++) {
            assert_true(t % 2 == 0 || (point[j] >= lower[j] && point[j] <= upper[j]));
            far += pow((point[j] - center[j]) / scale[j], 2);
            was += pow((before[j] - center[j]) / scale[j], 2);
        }
        assert_true(far <= was);
    }
}

static clo_domain of_rows(uint64_t rows)
{
    clo_domain domain = clo_domain_default();
    domain.cols = 1;
    domain.norm = 1;
    domain.rows = rows;
    return domain;
}

/* public_fit.T2, with any true sizes that the rows allow. */
static void sizes_fitted_to_the_rows_are_never_farther_from_the_true_ones(void **state)
{
    const clo_domain domain = of_rows(100);
    uint64_t seed = 2;
    size_t lowered = 0;
    (void)state;
    for (int t = 0; t < TRIES; t++) {
        double truth[K], sizes[K], before[K], all = 0, sum = 0, held = 0;
        for (size_t c = 0; c < K; c++) all += truth[c] = pow(fabs(next(&seed)), 3);
        for (size_t c = 0; c < K; c++) {
            truth[c] *= (t % 2 ? 100 : 93) / all;
            before[c] = sizes[c] = truth[c] + 40 * next(&seed);
            held += fmax(sizes[c], 0);
        }
        clo_i_fit_sizes(&domain, K, sizes);
        for (size_t c = 0; c < K; c++) {
            assert_true(sizes[c] >= 0);
            sum += sizes[c];
        }
        assert_true(sum <= 100 * (1 + 1e-12));
        if (held > 100) {
            assert_true(fabs(sum - 100) < 1e-9);
            lowered++;
        }
        assert_true(square_apart(sizes, truth, K) <= square_apart(before, truth, K) + 1e-9);
    }
    assert_true(lowered > TRIES / 4);
}

static void sizes_by_hand(void **state)
{
    clo_domain domain = of_rows(10);
    double sizes[] = { 9, 5, -3, 1 }, few[] = { 4, -1, 2 }, alone[] = { 12 };
    (void)state;
    clo_i_fit_sizes(&domain, 4, sizes);
    assert_true(sizes[0] == 7 && sizes[1] == 3 && sizes[2] == 0 && sizes[3] == 0);
    clo_i_fit_sizes(&domain, 3, few); /* null records may be the rest */
    assert_true(few[0] == 4 && few[1] == 0 && few[2] == 2);
    clo_i_fit_sizes(&domain, 1, alone);
    assert_true(alone[0] == 10);
}

/* Where the number of rows is a secret, or says nothing of the clusters, it is not looked at. */
static void a_number_of_rows_that_is_not_public_fits_nothing(void **state)
{
    clo_domain hidden = of_rows(10), unit = of_rows(10), none = of_rows(0);
    (void)state;
    hidden.relation = CLO_ADD_REMOVE;
    unit.unit = "person";
    const clo_domain *const domains[] = { &hidden, &unit, &none };
    for (size_t i = 0; i < 3; i++) {
        double sizes[] = { 30, -2 };
        clo_i_fit_sizes(domains[i], 2, sizes);
        assert_true(sizes[0] == 30 && sizes[1] == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_moved_into_the_bounds_and_nearer_to_every_record),
        cmocka_unit_test(a_number_keeps_the_digits_that_its_noise_leaves),
        cmocka_unit_test(a_cut_point_stays_in_bounds_and_in_the_ball),
        cmocka_unit_test(sizes_fitted_to_the_rows_are_never_farther_from_the_true_ones),
        cmocka_unit_test(sizes_by_hand),
        cmocka_unit_test(a_number_of_rows_that_is_not_public_fits_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
