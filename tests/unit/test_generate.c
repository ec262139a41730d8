/*
 * test_generate.c - synthetic data are what their model says. Seeds are fixed, so a bound that
 * holds today holds tomorrow; each is wide enough that one seed in a million would miss it.
 */
#include "check.h"
#include <cloister/generate.h>
#include "base/base.h"
#include <omp.h>
#include <stdlib.h>

static void *need(size_t count, size_t size)
{
    void *block = calloc(count ? count : 1, size);
    assert_non_null(block);
    return block;
}

static clo_rng *seeded(const char *text)
{
    uint8_t seed[32];
    clo_rng *rng = NULL;
    clo_seed_from_text(text, seed);
    assert_int_equal(clo_rng_new_seeded(seed, &rng, NULL), CLO_OK);
    return rng;
}

typedef struct sample {
    clo_subspace_model model;
    double *records, *bases;
    uint32_t *labels;
} sample;

static sample draw(size_t rows, double noise, const char *seed)
{
    sample s = { .model = clo_subspace_model_default() };
    s.model.rows = rows;
    s.model.noise = noise;
    s.records = need(rows * s.model.cols, sizeof *s.records);
    s.labels = need(rows, sizeof *s.labels);
    s.bases = need(s.model.clusters * s.model.cols * s.model.dim, sizeof *s.bases);
    clo_rng *rng = seeded(seed);
    assert_int_equal(clo_generate_subspaces(&s.model, rng, s.records, s.labels, s.bases, NULL),
                     CLO_OK);
    clo_rng_free(rng);
    return s;
}

static void drop(sample *s)
{
    free(s->records), free(s->labels), free(s->bases);
}

/* U'x for record i in the basis of its own subspace; what is left of |x|^2 outside of it. */
static double coordinates(const sample *s, size_t i, double *inside)
{
    const size_t d = s->model.cols, q = s->model.dim;
    const double *x = s->records + i * d, *u = s->bases + s->labels[i] * d * q;
    double rest = 0;
    for (size_t l = 0; l < q; l++) {
        inside[l] = 0;
        for (size_t c = 0; c < d; c++) inside[l] += u[c * q + l] * x[c];
    }
    for (size_t c = 0; c < d; c++) {
        double difference = x[c];
        for (size_t l = 0; l < q; l++) difference -= u[c * q + l] * inside[l];
        rest += difference * difference;
    }
    return rest;
}

/* ---- subspaces ----------------------------------------------------------- */

static void the_bases_are_orthonormal_and_differ(void **state)
{
    sample s = draw(10, 0.1, "bases");
    const size_t d = s.model.cols, q = s.model.dim, k = s.model.clusters;
    (void)state;
    for (size_t j = 0; j < k; j++)
        for (size_t l = 0; l < q; l++)
            for (size_t m = 0; m <= l; m++) {
                double sum = 0;
                for (size_t c = 0; c < d; c++)
                    sum += s.bases[(j * d + c) * q + l] * s.bases[(j * d + c) * q + m];
                assert_close(sum, l == m, 1e-14);
            }
    assert_memory_not_equal(s.bases, s.bases + d * q, d * q * sizeof *s.bases);
    drop(&s);
}

static void without_noise_a_record_is_a_unit_vector_of_its_subspace(void **state)
{
    sample s = draw(3000, 0, "quiet");
    size_t members[3] = { 0 };
    (void)state;
    for (size_t i = 0; i < s.model.rows; i++) {
        double y[3];
        assert_true(s.labels[i] < 3);
        assert_close(coordinates(&s, i, y), 0, 1e-28);
        assert_close(y[0] * y[0] + y[1] * y[1] + y[2] * y[2], 1, 1e-14);
        members[s.labels[i]]++;
    }
    for (size_t k = 0; k < 3; k++) assert_in_range(members[k], 850, 1150); /* 5.8 sd */
    drop(&s);
}

/* Uniform on the sphere of R^3: mean 0, second moments 1/3 on the diagonal and 0 off it. */
static void directions_are_spread_evenly_over_the_sphere(void **state)
{
    enum { N = 30000 };
    sample s = draw(N, 0, "sphere");
    double mean[3] = { 0 }, second[9] = { 0 };
    (void)state;
    for (size_t i = 0; i < N; i++) {
        double y[3];
        coordinates(&s, i, y);
        for (size_t l = 0; l < 3; l++) {
            mean[l] += y[l] / N;
            for (size_t m = 0; m < 3; m++) second[3 * l + m] += y[l] * y[m] / N;
        }
    }
    for (size_t l = 0; l < 3; l++) {
        assert_close(mean[l], 0, 5 * sqrt(1.0 / 3 / N));
        for (size_t m = 0; m < 3; m++)
            assert_close(second[3 * l + m], l == m ? 1.0 / 3 : 0, 5 * sqrt(4.0 / 45 / N));
    }
    drop(&s);
}

/* Outside the subspace there is only noise: d - q squares of variance noise^2. */
static void the_noise_has_the_variance_that_was_asked_for(void **state)
{
    enum { N = 20000 };
    sample s = draw(N, 0.1, "noise");
    double mean = 0;
    (void)state;
    for (size_t i = 0; i < N; i++) {
        double y[3];
        mean += coordinates(&s, i, y) / N;
    }
    assert_close(mean, 0.07, 5 * 0.01 * sqrt(2 * 7.0 / N));
    drop(&s);
}

static void the_same_seed_gives_the_same_bytes_on_any_number_of_threads(void **state)
{
    enum { N = 5000 };
    omp_set_num_threads(1);
    sample one = draw(N, 0.1, "42");
    omp_set_num_threads(3);
    sample three = draw(N, 0.1, "42"), other = draw(N, 0.1, "43"), fewer = draw(1500, 0.1, "42");
    const size_t d = one.model.cols;
    (void)state;
    assert_memory_equal(one.records, three.records, N * d * sizeof(double));
    assert_memory_equal(one.labels, three.labels, N * sizeof(uint32_t));
    assert_memory_equal(one.bases, three.bases, 3 * d * 3 * sizeof(double));
    assert_memory_equal(one.records, fewer.records, 1500 * d * sizeof(double));
    assert_memory_not_equal(one.bases, other.bases, 3 * d * 3 * sizeof(double));
    assert_memory_not_equal(one.records, other.records, N * d * sizeof(double));
    /* Blocks draw from streams of their own: none repeats another. */
    assert_memory_not_equal(one.records, one.records + 1024 * d, d * sizeof(double));
    drop(&one), drop(&three), drop(&other), drop(&fewer);
}

static void a_second_call_on_one_generator_gives_new_data(void **state)
{
    clo_mixture_model model = clo_mixture_model_default();
    double first[20], second[20];
    clo_rng *rng = seeded("twice");
    (void)state;
    model.rows = 10;
    assert_int_equal(clo_generate_mixture(&model, rng, first, NULL, NULL, NULL), CLO_OK);
    assert_int_equal(clo_generate_mixture(&model, rng, second, NULL, NULL, NULL), CLO_OK);
    assert_memory_not_equal(first, second, sizeof first);
    clo_rng_free(rng);
}

/* ---- mixtures ------------------------------------------------------------ */

static void without_noise_a_record_is_its_centre(void **state)
{
    clo_mixture_model model = clo_mixture_model_default();
    double records[2000], centers[10];
    uint32_t labels[1000];
    clo_rng *rng = seeded("centres");
    (void)state;
    model.rows = 1000;
    model.noise = 0;
    model.spread = 7;
    assert_int_equal(clo_generate_mixture(&model, rng, records, labels, centers, NULL), CLO_OK);
    for (size_t i = 0; i < 1000; i++)
        assert_memory_equal(records + 2 * i, centers + 2 * labels[i], 2 * sizeof(double));
    clo_rng_free(rng);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* (|c| / spread)^d is uniform on (0, 1); by Massart's inequality the empirical distribution of
 * 4000 strays by 0.0435 with probability below 1e-6. */
static void centres_are_uniform_in_the_ball(void **state)
{
    enum { K = 4000, D = 3 };
    clo_mixture_model model = clo_mixture_model_default();
    double *centers = need(K * D, sizeof *centers), share[K], record[D], mean[D] = { 0 };
    clo_rng *rng = seeded("ball");
    (void)state;
    model.rows = 1;
    model.cols = D;
    model.clusters = K;
    model.spread = 2.5;
    assert_int_equal(clo_generate_mixture(&model, rng, record, NULL, centers, NULL), CLO_OK);
    for (size_t k = 0; k < K; k++) {
        double square = 0;
        for (size_t c = 0; c < D; c++) {
            square += centers[k * D + c] * centers[k * D + c];
            mean[c] += centers[k * D + c] / K;
        }
        share[k] = pow(sqrt(square) / 2.5, D);
        assert_true(share[k] > 0 && share[k] < 1 + 1e-14);
    }
    qsort(share, K, sizeof *share, by_size);
    for (size_t k = 0; k < K; k++) assert_close(share[k], ((double)k + 0.5) / K, 0.0435);
    for (size_t c = 0; c < D; c++) assert_close(mean[c], 0, 5 * 2.5 * sqrt(1.0 / (D + 2) / K));
    clo_rng_free(rng);
    free(centers);
}

static void records_scatter_around_their_centre_with_the_noise_asked_for(void **state)
{
    enum { N = 20000 };
    clo_mixture_model model = clo_mixture_model_default();
    double *records = need(N * 2, sizeof *records), centers[10], mean = 0;
    uint32_t *labels = need(N, sizeof *labels);
    clo_rng *rng = seeded("scatter");
    (void)state;
    model.rows = N;
    model.noise = 0.5;
    assert_int_equal(clo_generate_mixture(&model, rng, records, labels, centers, NULL), CLO_OK);
    for (size_t i = 0; i < 2 * N; i++) {
        const double apart = records[i] - centers[2 * labels[i / 2] + i % 2];
        mean += apart * apart / (2 * N);
    }
    assert_close(mean, 0.25, 5 * 0.25 * sqrt(2.0 / (2 * N)));
    clo_rng_free(rng);
    free(records), free(labels);
}

/* ---- wrong models -------------------------------------------------------- */

static void refuse_subspaces(clo_subspace_model model, const char *message)
{
    double records[4] = { 7, 7, 7, 7 }, bases[4] = { 7, 7, 7, 7 };
    clo_error err = { .status = CLO_OK };
    clo_rng *rng = seeded("wrong");
    assert_int_equal(clo_generate_subspaces(&model, rng, records, NULL, bases, &err), CLO_ARGUMENT);
    assert_string_equal(err.message, message);
    for (size_t i = 0; i < 4; i++) assert_true(records[i] == 7 && bases[i] == 7);
    clo_rng_free(rng);
}

static void a_wrong_subspace_model_gets_its_sentence(void **state)
{
    const clo_subspace_model good = clo_subspace_model_default();
    clo_subspace_model m;
    (void)state;
    m = good, m.cols = 0;
    refuse_subspaces(m, "cols must be between 1 and 1048576, not 0");
    m = good, m.clusters = 0;
    refuse_subspaces(m, "clusters must be between 1 and 1048576, not 0");
    m = good, m.dim = 0;
    refuse_subspaces(m, "dim must be between 1 and the 10 columns there are, not 0");
    m = good, m.dim = 11;
    refuse_subspaces(m, "dim must be between 1 and the 10 columns there are, not 11");
    m = good, m.noise = -0.5;
    refuse_subspaces(m, "noise must be a finite number of at least 0, not -0.5");
    m = good, m.noise = NAN;
    refuse_subspaces(m, "noise must be a finite number of at least 0, not nan");
    m = good, m.rows = SIZE_MAX / 2048, m.cols = 1 << 20;
    refuse_subspaces(m, "rows, cols and clusters are too large together");
    m = good, m.struct_size = 0;
    refuse_subspaces(m, "a clo_subspace_model must start from clo_subspace_model_default(), which "
                        "says how long it is");
    m = good, m.rows = 0;
    clo_error err;
    double record;
    clo_rng *rng = seeded("wrong");
    assert_int_equal(clo_generate_subspaces(&m, rng, &record, NULL, NULL, &err), CLO_ARGUMENT);
    assert_non_null(strstr(err.message, "rows must be between 1 and "));
    assert_int_equal(clo_generate_subspaces(&good, rng, NULL, NULL, NULL, &err), CLO_ARGUMENT);
    assert_int_equal(clo_generate_subspaces(&good, NULL, &record, NULL, NULL, &err), CLO_ARGUMENT);
    assert_int_equal(clo_generate_subspaces(NULL, rng, &record, NULL, NULL, &err), CLO_ARGUMENT);
    clo_rng_free(rng);
}

static void a_wrong_mixture_model_gets_its_sentence(void **state)
{
    clo_mixture_model m = clo_mixture_model_default();
    clo_error err;
    double record;
    clo_rng *rng = seeded("wrong");
    (void)state;
    m.spread = INFINITY;
    assert_int_equal(clo_generate_mixture(&m, rng, &record, NULL, NULL, &err), CLO_ARGUMENT);
    assert_string_equal(err.message, "spread must be a finite number of at least 0, not inf");
    m = clo_mixture_model_default(), m.clusters = (size_t)1 << 40;
    assert_int_equal(clo_generate_mixture(&m, rng, &record, NULL, NULL, &err), CLO_ARGUMENT);
    m = clo_mixture_model_default(), m.struct_size = 8;
    assert_int_equal(clo_generate_mixture(&m, rng, &record, NULL, NULL, &err), CLO_ARGUMENT);
    assert_string_equal(err.message, "a clo_mixture_model must start from "
                                     "clo_mixture_model_default(), which says how long it is");
    clo_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bases_are_orthonormal_and_differ),
        cmocka_unit_test(without_noise_a_record_is_a_unit_vector_of_its_subspace),
        cmocka_unit_test(directions_are_spread_evenly_over_the_sphere),
        cmocka_unit_test(the_noise_has_the_variance_that_was_asked_for),
        cmocka_unit_test(the_same_seed_gives_the_same_bytes_on_any_number_of_threads),
        cmocka_unit_test(a_second_call_on_one_generator_gives_new_data),
        cmocka_unit_test(without_noise_a_record_is_its_centre),
        cmocka_unit_test(centres_are_uniform_in_the_ball),
        cmocka_unit_test(records_scatter_around_their_centre_with_the_noise_asked_for),
        cmocka_unit_test(a_wrong_subspace_model_gets_its_sentence),
        cmocka_unit_test(a_wrong_mixture_model_gets_its_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
