/*
 * bingham: a coordinate has its law for every k and a (bingham.T5); a column has the law of a
 * vector in the complement (bingham.T1, bingham.T2); a sweep leaves the law of frames as it is
 * (bingham.T3, bingham.T4).
 *
 * Power.  A grid of 50 cells, 20,000 draws each, at 4e-10 a cell: a radius of .024.  wang2015's
 * sampler for a > 0, planted, is off by .08 to .3 where a is not large.
 */
#include "check.h"
#include "statistical.h"
#include "bingham/bingham.h"
#include "linalg/linalg.h"
#include <stdlib.h>

enum { DRAWS = 20000, CELLS = 4096, FRAMES = 30000 };

static int64_t sample[2 * FRAMES];
static double drawn[DRAWS];

static clo_rng *stat_rng(void)
{
    clo_error err;
    clo_rng *rng = NULL;
    assert_ok(clo_rng_new_seeded(stat_seed(), &rng, &err), err);
    return rng;
}

/* ---- one coordinate ---------------------------------------------------------------------- */

/* With x = sin^2 t the density is cos^(2k+1) t exp(a sin^2 t): smooth, for Simpson's rule. */
static long double below[CELLS + 1];
static const long double RIGHT = 1.57079632679489661923132169163975144L;

static long double density(long double t, double k, double a)
{
    const long double x = sinl(t) * sinl(t);
    return powl(cosl(t), 2 * k + 1) * expl(a * x - (a > 0 ? a : 0));
}

static void tabulate(double k, double a)
{
    const long double step = RIGHT / CELLS;
    below[0] = 0;
    for (size_t i = 0; i < CELLS; i++) {
        const long double t = step * (long double)i;
        below[i + 1] = below[i] + density(t, k, a) + 4 * density(t + step / 2, k, a) +
                       density(fminl(t + step, RIGHT), k, a);
    }
    for (size_t i = 1; i <= CELLS; i++) below[i] /= below[CELLS];
}

static long double coordinate_law(int64_t cell, const void *unused)
{
    (void)unused;
    return cell < 0 ? 0 : cell >= CELLS ? 1 : below[cell + 1];
}

static bool coordinates_follow(const double *x, double alpha)
{
    for (size_t i = 0; i < DRAWS; i++) {
        const double t = asin(sqrt(x[i])) / (double)RIGHT * CELLS;
        sample[i] = (int64_t)fmin(floor(t), CELLS - 1);
    }
    return stat_follows(sample, DRAWS, coordinate_law, NULL, alpha);
}

/* Planted: the sampler as printed, for whole or half k + 1: a gamma variate is a sum of squares. */
static double printed_sampler(clo_stream *stream, double k, double a)
{
    const double beta = tgamma(0.5) * tgamma(k + 1) / tgamma(k + 1.5);
    const double m = fmax(2 * sqrt(a), exp(1) * beta);
    for (;;) {
        double z = 0;
        for (int i = 0; i < (int)(2 * k + 2.5); i++) z += pow(clo_i_random_normal(stream), 2) / 2;
        const double x = 1 - z / a;
        if (x <= 0) continue;
        const double mix = pow(x, -0.5) * pow(1 - x, k) / beta;
        if (clo_i_random_unit(stream) < pow(x, -0.5) / (m * (1 + exp(-a * x) * mix))) return x;
    }
}

static void a_coordinate_has_its_law(void **state)
{
    static const double ks[] = { -0.5, 0, 0.5, 2.5, 19.5 };
    static const double as[] = { -1000, -50, -5, -1, 0, 1, 5, 20, 50, 1000 };
    const double alpha = stat_alpha(STAT_bingham_coordinate, 50);
    clo_rng *const rng = stat_rng();
    clo_error err;
    (void)state;
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 10; j++) {
            tabulate(ks[i], as[j]);
            assert_ok(clo_bingham_coordinate(ks[i], as[j], rng, DRAWS, drawn, &err), err);
            assert_true(coordinates_follow(drawn, alpha));
        }
    clo_rng_free(rng);
    clo_stream *const stream = stat_stream(1, 0);
    const double faulty[][2] = { { 0, 1 }, { 0.5, 2 }, { 2.5, 5 }, { 19.5, 20 } };
    for (size_t i = 0; i < 4; i++) {
        tabulate(faulty[i][0], faulty[i][1]);
        for (size_t s = 0; s < DRAWS; s++)
            drawn[s] = printed_sampler(stream, faulty[i][0], faulty[i][1]);
        assert_false(coordinates_follow(drawn, alpha));
    }
    stat_close(stream);
}

/* ---- one column -------------------------------------------------------------------------- */

enum { D = 6, OTHERS = 3, M = D - OTHERS };

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The largest distance between the steps of two samples; sorts them. */
static double step_distance(int64_t *a, int64_t *b, size_t n)
{
    double largest = 0;
    qsort(a, n, sizeof *a, by_value);
    qsort(b, n, sizeof *b, by_value);
    for (size_t i = 0, j = 0; i < n && j < n;) {
        const int64_t at = a[i] < b[j] ? a[i] : b[j];
        while (i < n && a[i] == at) i++;
        while (j < n && b[j] == at) j++;
        largest = fmax(largest, fabs((double)i - (double)j) / (double)n);
    }
    return largest;
}

/* Column draws past the given vectors, in coordinates of the complement's own eigenbasis, against
 * plain vector draws there.  planted: the energies of the law that is drawn from are scaled. */
static double column_distance(clo_stream *stream, const double *energies, double planted)
{
    double vectors[D * D], compressed[M * M] = { 0 }, values[M], axes[M * M], scratch[2048];
    double columns[OTHERS * D], space[2048], plain[M], x[D], scaled[D];
    const double *normal[OTHERS];
    clo_i_envelope around, free;
    clo_error err;
    assert_ok(clo_i_bingham_uniform(stream, D, D, vectors, &err), err);
    for (size_t j = 0; j < OTHERS; j++) {
        normal[j] = columns + j * D;
        for (size_t i = 0; i < D; i++) columns[j * D + i] = vectors[i * D + j];
    }
    for (size_t a = 0; a < M; a++)
        for (size_t b = 0; b < M; b++)
            for (size_t i = 0; i < D; i++)
                compressed[a * M + b] +=
                    energies[i] * vectors[i * D + OTHERS + a] * vectors[i * D + OTHERS + b];
    assert_ok(clo_i_eigen_top(compressed, M, M, values, axes, scratch, &err), err);
    clo_i_envelope_init(&around, D, OTHERS, space);
    clo_i_envelope_init(&free, M, 0, space + clo_i_envelope_scratch(D, OTHERS));
    for (size_t i = 0; i < D; i++) scaled[i] = planted * energies[i];
    clo_i_envelope_fit(&around, scaled, normal, 0);
    clo_i_envelope_fit(&free, values, NULL, 0);
    for (size_t s = 0; s < FRAMES; s++) {
        double along[M] = { 0 };
        assert_true(clo_i_envelope_draw(&around, stream, x));
        for (size_t a = 0; a < M; a++)
            for (size_t i = 0; i < D; i++)
                for (size_t b = 0; b < M; b++)
                    along[b] += x[i] * vectors[i * D + OTHERS + a] * axes[a * M + b];
        assert_true(clo_i_envelope_draw(&free, stream, plain));
        /* The angle in the plane of the two least energies: they compete. */
        sample[s] = (int64_t)floor(1e6 * atan2(along[M - 1], along[M - 2]));
        sample[FRAMES + s] = (int64_t)floor(1e6 * atan2(plain[M - 1], plain[M - 2]));
        const double fold = 3141592;
        sample[s] = (int64_t)fmin(fabs((double)sample[s]), fold - fabs((double)sample[s]));
        sample[FRAMES + s] = (int64_t)fmin(fabs((double)sample[FRAMES + s]),
                                           fold - fabs((double)sample[FRAMES + s]));
    }
    return step_distance(sample, sample + FRAMES, FRAMES);
}

static void a_column_has_the_law_of_a_vector_in_the_complement(void **state)
{
    /* Nearly uniform; spread; with soft directions below those of the complement. */
    static const double energies[][D] = { { 0, 0.1, 0.2, 0.3, 0.4, 0.5 },
                                          { 0, 1, 2, 4, 8, 16 },
                                          { -80, -40, -2, 0, 1, 3 },
                                          { -900, -500, -400, 0, 2, 30 } };
    const double alpha = stat_alpha(STAT_bingham_column, 16);
    /* Each sample is within its radius of the one law. */
    const double radius = 2 * stat_radius(FRAMES, alpha);
    clo_stream *const stream = stat_stream(2, 0);
    (void)state;
    for (size_t c = 0; c < 4; c++)
        for (int again = 0; again < 2; again++)
            assert_true(column_distance(stream, energies[c], 1) <= radius);
    assert_true(column_distance(stream, energies[1], 2.5) > radius); /* planted */
    stat_close(stream);
}

/* ---- frames ------------------------------------------------------------------------------ */

/* E v_i^2 of the vector law exp(-sum e_i v_i^2) in three dimensions, by the midpoint rule. */
static void vector_means(const double e[3], double mean[3])
{
    enum { STEPS = 400 };
    double all = 0, sum[3] = { 0, 0, 0 };
    for (int i = 0; i < STEPS; i++)
        for (int j = 0; j < STEPS; j++) {
            const double z = (i + 0.5) / STEPS, t = 1.5707963267948966 * (j + 0.5) / STEPS;
            const double v[3] = { (1 - z * z) * cos(t) * cos(t), (1 - z * z) * sin(t) * sin(t),
                                  z * z };
            const double weight = exp(-e[0] * v[0] - e[1] * v[1] - e[2] * v[2]);
            all += weight;
            for (int a = 0; a < 3; a++) sum[a] += weight * v[a];
        }
    for (int a = 0; a < 3; a++) mean[a] = sum[a] / all;
}

static void a_vector_has_its_means(void **state)
{
    const double gram[9] = { 0, 0, 0, 0, 5, 0, 0, 0, 8 }, one = 1;
    const double printed[3] = { .0687, .1992, .7320 }, energies[3] = { 0, -5, -8 };
    const double radius = stat_radius(FRAMES, stat_alpha(STAT_bingham_frames, 16)); /* Hoeffding */
    double u[3] = { 1, 0, 0 }, mean[3] = { 0, 0, 0 }, right[3];
    clo_bingham *b = NULL;
    clo_rng *const rng = stat_rng();
    clo_error err;
    (void)state;
    vector_means(energies, right);
    assert_ok(clo_bingham_new((clo_matrix){ gram, 3, 3, 3 }, &one, 1, &b, &err), err);
    for (size_t s = 0; s < FRAMES; s++) {
        assert_ok(clo_bingham_sweep(b, rng, 1, u, &err), err);
        for (size_t i = 0; i < 3; i++) mean[i] += u[i] * u[i] / FRAMES;
    }
    for (size_t i = 0; i < 3; i++) {
        assert_close(right[i], printed[i], 6e-5);
        assert_close(mean[i], right[i], radius);
    }
    clo_bingham_free(b);
    clo_rng_free(rng);
}

/* Two columns of three dimensions: what is left over is a vector with the opposite energies.  An
 * exact draw has that law, and a sweep from it must keep it. */
static void exact_draws_have_the_law_and_sweeps_keep_it(void **state)
{
    const double grams[2][9] = { { 0, 0, 0, 0, 2, 0, 0, 0, 3 }, { 0, 0, 0, 0, 40, 0, 0, 0, 44 } };
    const double radius = stat_radius(FRAMES, stat_alpha(STAT_bingham_frames, 32));
    clo_rng *const rng = stat_rng();
    clo_error err;
    (void)state;
    for (int which = 0; which < 2; which++)
        for (int planted = 0; planted < 2; planted++) {
            const double *const gram = grams[which], weights[2] = { 1, planted ? 0.1 : 1 };
            const double energies[3] = { gram[0], gram[4], gram[8] };
            double u[6], right[3], first[3] = { 0, 0, 0 }, second[3] = { 0, 0, 0 };
            clo_bingham *exact = NULL, *swept = NULL;
            const clo_matrix a = { gram, 3, 3, 3 };
            vector_means(energies, right);
            assert_ok(clo_bingham_new(a, (const double[]){ 1, 1 }, 2, &exact, &err), err);
            assert_ok(clo_bingham_new(a, weights, 2, &swept, &err), err);
            for (size_t s = 0; s < FRAMES; s++) {
                assert_ok(clo_bingham_exact(exact, rng, 1000000, u, NULL, &err), err);
                for (size_t i = 0; i < 3; i++)
                    first[i] += (1 - u[2 * i] * u[2 * i] - u[2 * i + 1] * u[2 * i + 1]) / FRAMES;
                assert_ok(clo_bingham_sweep(swept, rng, 1, u, &err), err);
                for (size_t i = 0; i < 3; i++)
                    second[i] += (1 - u[2 * i] * u[2 * i] - u[2 * i + 1] * u[2 * i + 1]) / FRAMES;
            }
            bool kept = true;
            for (size_t i = 0; i < 3; i++) {
                assert_close(first[i], right[i], radius);
                kept = kept && fabs(second[i] - right[i]) <= radius;
            }
            assert_true(kept == !planted);
            clo_bingham_free(exact);
            clo_bingham_free(swept);
        }
    clo_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_coordinate_has_its_law),
        cmocka_unit_test(a_column_has_the_law_of_a_vector_in_the_complement),
        cmocka_unit_test(a_vector_has_its_means),
        cmocka_unit_test(exact_draws_have_the_law_and_sweeps_keep_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
