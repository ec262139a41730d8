/*
 * test_generate_variants.c - each departure from the plain models is what its setting says, and a
 * setting at its default changes nothing.  Seeds are fixed; bounds are wide enough for nearly any.
 */
#include "check.h"
#include <cloister/generate.h>
#include <stdlib.h>

enum { N = 20000, D = 6, K = 3, Q = 3 };

typedef struct sample {
    double *records, bases[K * D * Q], offsets[K * D];
    uint32_t *labels;
} sample;

static clo_rng *seeded(const char *text)
{
    uint8_t seed[32];
    clo_rng *rng = NULL;
    clo_seed_from_text(text, seed);
    assert_int_equal(clo_rng_new_seeded(seed, &rng, NULL), CLO_OK);
    return rng;
}

static clo_subspace_model quiet_model(void)
{
    clo_subspace_model model = clo_subspace_model_default();
    model.rows = N;
    model.cols = D;
    model.noise = 0;
    return model;
}

static sample draw(const clo_subspace_model *model)
{
    sample s;
    clo_rng *rng = seeded("variants");
    clo_error err;
    s.records = calloc(N * D, sizeof *s.records);
    s.labels = calloc(N, sizeof *s.labels);
    assert_true(s.records && s.labels);
    assert_ok(clo_generate_flats(model, rng, s.records, s.labels, s.bases, s.offsets, &err), err);
    clo_rng_free(rng);
    return s;
}

static void drop(sample *s)
{
    free(s->records), free(s->labels);
}

/* The record in its own subspace's basis; what is left of its square outside. */
static double coordinates(const sample *s, size_t i, double y[Q])
{
    const size_t k = s->labels[i];
    double rest[D], square = 0;
    for (size_t c = 0; c < D; c++) rest[c] = s->records[i * D + c] - s->offsets[k * D + c];
    for (size_t l = 0; l < Q; l++) {
        y[l] = 0;
        for (size_t c = 0; c < D; c++) y[l] += s->bases[(k * D + c) * Q + l] * rest[c];
        for (size_t c = 0; c < D; c++) rest[c] -= y[l] * s->bases[(k * D + c) * Q + l];
    }
    for (size_t c = 0; c < D; c++) square += rest[c] * rest[c];
    return square;
}

static void a_model_of_an_older_caller_gives_the_same_data(void **state)
{
    clo_subspace_model model = quiet_model();
    sample new = draw(&model);
    model.struct_size = offsetof(clo_subspace_model, noise_whole);
    model.decay = model.shortest = NAN; /* beyond what that caller knows */
    sample old = draw(&model);
    (void)state;
    assert_same_doubles(old.records, new.records, N * D);
    drop(&old), drop(&new);
}

static void affine_subspaces_go_through_their_offsets(void **state)
{
    clo_subspace_model model = quiet_model();
    model.spread = 5;
    sample s = draw(&model);
    (void)state;
    for (size_t i = 0; i < N; i++) {
        double y[Q];
        assert_close(coordinates(&s, i, y), 0, 1e-26);
        assert_close(y[0] * y[0] + y[1] * y[1] + y[2] * y[2], 1, 1e-13);
    }
    for (size_t k = 0; k < K; k++) {
        double square = 0;
        for (size_t c = 0; c < D; c++) square += s.offsets[k * D + c] * s.offsets[k * D + c];
        assert_true(square > 0 && square <= 25);
    }
    drop(&s);
}

static void linear_subspaces_report_offsets_of_zero(void **state)
{
    clo_subspace_model model = quiet_model();
    sample s = draw(&model);
    (void)state;
    for (size_t i = 0; i < K * D; i++) assert_true(s.offsets[i] == 0);
    drop(&s);
}

static void unequal_dimensions_leave_the_further_columns_zero(void **state)
{
    const size_t dims[K] = { 3, 1, 2 };
    clo_subspace_model model = quiet_model();
    model.dims = dims;
    sample s = draw(&model);
    (void)state;
    for (size_t k = 0; k < K; k++)
        for (size_t l = 0; l < Q; l++) {
            double square = 0;
            for (size_t c = 0; c < D; c++)
                square += s.bases[(k * D + c) * Q + l] * s.bases[(k * D + c) * Q + l];
            assert_close(square, l < dims[k], 1e-14);
        }
    for (size_t i = 0; i < N; i++) {
        double y[Q];
        assert_close(coordinates(&s, i, y), 0, 1e-28);
    }
    drop(&s);
}

/* For decay f the ratio of the second moments lies strictly between f^2 and 1, in this order. */
static void decay_orders_the_directions(void **state)
{
    clo_subspace_model model = quiet_model();
    model.decay = 0.5;
    sample s = draw(&model);
    double second[Q] = { 0 };
    (void)state;
    for (size_t i = 0; i < N; i++) {
        double y[Q];
        coordinates(&s, i, y);
        for (size_t l = 0; l < Q; l++) second[l] += y[l] * y[l] / N;
    }
    for (size_t l = 1; l < Q; l++)
        assert_true(second[l] < 0.7 * second[l - 1] && second[l] > 0.2 * second[l - 1]);
    assert_close(second[0] + second[1] + second[2], 1, 1e-12);
    drop(&s);
}

static void lengths_are_uniform_from_the_shortest_on(void **state)
{
    clo_subspace_model model = quiet_model();
    model.shortest = 0.2;
    sample s = draw(&model);
    double mean = 0, square = 0;
    (void)state;
    for (size_t i = 0; i < N; i++) {
        double y[Q];
        coordinates(&s, i, y);
        const double length = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]);
        assert_true(length > 0.2 - 1e-12 && length < 1 + 1e-12);
        mean += length / N;
        square += length * length / N;
    }
    assert_close(mean, 0.6, 5 * 0.8 / sqrt(12.0 * N));
    assert_close(square - mean * mean, 0.64 / 12, 0.002);
    drop(&s);
}

static void noise_of_the_whole_record_is_shared_out_among_its_columns(void **state)
{
    clo_subspace_model model = quiet_model();
    model.noise = 0.3;
    model.noise_whole = true;
    sample s = draw(&model);
    double mean = 0;
    (void)state;
    for (size_t i = 0; i < N; i++) {
        double y[Q];
        mean += coordinates(&s, i, y) / N;
    }
    assert_close(mean, 0.09 * (D - Q) / D, 5 * 0.09 / D * sqrt(2.0 * (D - Q) / N));
    drop(&s);
}

static void records_are_shared_out_as_asked(void **state)
{
    const double shares[K] = { 6, 3, 2 };
    size_t members[K + 1] = { 0 };
    clo_subspace_model model = quiet_model();
    model.shares = shares;
    model.outliers = 0.25;
    sample s = draw(&model);
    (void)state;
    for (size_t i = 0; i < N; i++) members[s.labels[i]]++;
    assert_close((double)members[K] / N, 0.25, 0.02);
    for (size_t k = 0; k < K; k++)
        assert_close((double)members[k] / (double)(N - members[K]), shares[k] / 11, 0.02);
    drop(&s);
}

/* Uniform on the sphere of R^6: every second moment is 1/6. */
static void outliers_are_spread_over_the_whole_sphere(void **state)
{
    clo_subspace_model model = quiet_model();
    model.outliers = 1;
    sample s = draw(&model);
    double second[D] = { 0 };
    (void)state;
    for (size_t i = 0; i < N; i++) {
        double length = 0;
        assert_int_equal(s.labels[i], K);
        for (size_t c = 0; c < D; c++) {
            const double square = s.records[i * D + c] * s.records[i * D + c];
            second[c] += square / N;
            length += square;
        }
        assert_close(length, 1, 1e-13);
    }
    for (size_t c = 0; c < D; c++) assert_close(second[c], 1.0 / D, 0.01);
    drop(&s);
}

/* Twice the basis of the first draw, which spans the same. */
static void given_subspaces_are_kept_and_made_orthonormal(void **state)
{
    double twice[K * D * Q];
    clo_subspace_model model = quiet_model();
    sample first = draw(&model);
    for (size_t i = 0; i < K * D * Q; i++) twice[i] = 2 * first.bases[i];
    model.given = twice;
    sample second = draw(&model);
    (void)state;
    for (size_t i = 0; i < K * D * Q; i++) assert_close(second.bases[i], first.bases[i], 1e-14);
    drop(&first), drop(&second);
}

static void centres_of_a_shell_keep_away_from_the_origin(void **state)
{
    enum { CENTERS = 500 };
    clo_mixture_model model = clo_mixture_model_default();
    double record[2], centers[CENTERS * 2];
    clo_rng *rng = seeded("shell");
    clo_error err;
    (void)state;
    model.rows = 1;
    model.clusters = CENTERS;
    model.spread = 2;
    model.inner = 1.5;
    assert_ok(clo_generate_mixture(&model, rng, record, NULL, centers, &err), err);
    for (size_t k = 0; k < CENTERS; k++) {
        const double radius = hypot(centers[2 * k], centers[2 * k + 1]);
        assert_true(radius >= 1.5 - 1e-12 && radius <= 2 + 1e-12);
    }
    clo_rng_free(rng);
}

static void wrong_settings_get_their_sentences(void **state)
{
    const size_t dims[K] = { 3, 4, 1 };
    const double shares[K] = { 1, -1, 3 }, given[K * D * Q] = { NAN };
    const clo_subspace_model good = quiet_model();
    clo_subspace_model m = good;
    clo_error err;
    clo_rng *rng = seeded("wrong");
    double record = 7;
    (void)state;
    m.dims = dims;
    assert_fails(clo_generate_subspaces(&m, rng, &record, NULL, NULL, &err), CLO_ARGUMENT, err,
                 "the dimension of each subspace must be between 1 and dim, which is 3, not 4");
    m = good, m.shares = shares;
    assert_fails(clo_generate_subspaces(&m, rng, &record, NULL, NULL, &err), CLO_ARGUMENT, err,
                 "shares must be finite numbers of at least 0");
    m = good, m.given = given;
    assert_fails(clo_generate_subspaces(&m, rng, &record, NULL, NULL, &err), CLO_ARGUMENT, err,
                 "the given truth must consist of finite numbers");
    m = good, m.outliers = NAN;
    assert_fails(clo_generate_subspaces(&m, rng, &record, NULL, NULL, &err), CLO_ARGUMENT, err,
                 "outliers must be a share between 0 and 1, not nan");
    m = good, m.decay = 1.5;
    assert_fails(clo_generate_subspaces(&m, rng, &record, NULL, NULL, &err), CLO_ARGUMENT, err,
                 "decay must be above 0 and at most 1, not 1.5");
    assert_true(record == 7);
    clo_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_of_an_older_caller_gives_the_same_data),
        cmocka_unit_test(affine_subspaces_go_through_their_offsets),
        cmocka_unit_test(linear_subspaces_report_offsets_of_zero),
        cmocka_unit_test(unequal_dimensions_leave_the_further_columns_zero),
        cmocka_unit_test(decay_orders_the_directions),
        cmocka_unit_test(lengths_are_uniform_from_the_shortest_on),
        cmocka_unit_test(noise_of_the_whole_record_is_shared_out_among_its_columns),
        cmocka_unit_test(records_are_shared_out_as_asked),
        cmocka_unit_test(outliers_are_spread_over_the_whole_sphere),
        cmocka_unit_test(given_subspaces_are_kept_and_made_orthonormal),
        cmocka_unit_test(centres_of_a_shell_keep_away_from_the_origin),
        cmocka_unit_test(wrong_settings_get_their_sentences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
