/*
 * test_generate_sparse.c - sparse mixtures have the places and the values that their model says,
 * and come back from a file as they were.
 */
#include "check.h"
#include <cloister/generate.h>
#include "data/data.h"
#include <omp.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 5000, D = 20000, K = 4, S = 6, STRAY = 3, WIDTH = S + STRAY };

typedef struct sample {
    clo_sparse_rows records, centers;
    uint32_t labels[N];
} sample;

static clo_sparse_rows rows_of(size_t rows, size_t width)
{
    clo_sparse_rows out = { calloc(rows * width, sizeof(uint32_t)),
                            calloc(rows * width, sizeof(double)), rows, D, width };
    assert_true(out.columns && out.values);
    return out;
}

static clo_sparse_model model_of(double noise, double outliers)
{
    clo_sparse_model model = clo_sparse_model_default();
    model.rows = N;
    model.cols = D;
    model.clusters = K;
    model.entries = S;
    model.stray = STRAY;
    model.noise = noise;
    model.outliers = outliers;
    return model;
}

static clo_rng *seeded(const char *text)
{
    uint8_t seed[32];
    clo_rng *rng = NULL;
    clo_seed_from_text(text, seed);
    assert_int_equal(clo_rng_new_seeded(seed, &rng, NULL), CLO_OK);
    return rng;
}

static sample *draw(double noise, double outliers)
{
    const clo_sparse_model model = model_of(noise, outliers);
    sample *s = calloc(1, sizeof *s);
    clo_rng *rng = seeded("sparse");
    clo_error err;
    assert_non_null(s);
    s->records = rows_of(N, WIDTH);
    s->centers = rows_of(K, S);
    assert_ok(clo_generate_sparse(&model, rng, &s->records, s->labels, &s->centers, &err), err);
    clo_rng_free(rng);
    return s;
}

static void drop(sample *s)
{
    free(s->records.columns), free(s->records.values);
    free(s->centers.columns), free(s->centers.values);
    free(s);
}

static void assert_increasing(const clo_sparse_rows *rows)
{
    for (size_t i = 0; i < rows->rows; i++)
        for (size_t j = 0; j < rows->width; j++) {
            const uint32_t *columns = rows->columns + i * rows->width;
            assert_true(columns[j] < D && (j == 0 || columns[j] > columns[j - 1]));
        }
}

/* The value of the centre in a column, 0 where it has none. */
static double center_at(const sample *s, uint32_t label, uint32_t column)
{
    for (size_t j = 0; j < S; j++)
        if (s->centers.columns[label * S + j] == column) return s->centers.values[label * S + j];
    return 0;
}

static void without_noise_a_record_is_its_centre_and_zeros(void **state)
{
    sample *s = draw(0, 0);
    (void)state;
    assert_increasing(&s->records);
    assert_increasing(&s->centers);
    for (size_t i = 0; i < N; i++) {
        size_t shared = 0;
        for (size_t j = 0; j < WIDTH; j++) {
            const double value = s->records.values[i * WIDTH + j];
            const double center = center_at(s, s->labels[i], s->records.columns[i * WIDTH + j]);
            assert_true(value == center);
            shared += center != 0;
        }
        assert_int_equal(shared, S);
    }
    drop(s);
}

static void noise_lies_on_the_entries_alone(void **state)
{
    sample *s = draw(0.5, 0);
    double mean = 0;
    (void)state;
    for (size_t i = 0; i < N * WIDTH; i++) {
        const double apart =
            s->records.values[i] - center_at(s, s->labels[i / WIDTH], s->records.columns[i]);
        mean += apart * apart / (N * WIDTH);
    }
    assert_close(mean, 0.25, 5 * 0.25 * sqrt(2.0 / (N * WIDTH)));
    drop(s);
}

/* Places at random: their mean is that of the columns. */
static void outliers_and_strays_have_places_of_their_own(void **state)
{
    sample *s = draw(0, 1);
    double mean = 0;
    (void)state;
    assert_increasing(&s->records);
    for (size_t i = 0; i < N; i++) assert_int_equal(s->labels[i], K);
    for (size_t i = 0; i < N * WIDTH; i++) mean += s->records.columns[i] / ((double)N * WIDTH);
    assert_close(mean, D / 2.0, 5 * D / sqrt(12.0 * N * WIDTH));
    drop(s);
}

static void the_same_seed_gives_the_same_rows_on_any_number_of_threads(void **state)
{
    (void)state;
    omp_set_num_threads(1);
    sample *one = draw(0.1, 0.1);
    omp_set_num_threads(3);
    sample *three = draw(0.1, 0.1);
    assert_memory_equal(one->records.columns, three->records.columns, N * WIDTH * sizeof(uint32_t));
    assert_same_doubles(one->records.values, three->records.values, N * WIDTH);
    assert_memory_equal(one->labels, three->labels, sizeof one->labels);
    drop(one), drop(three);
}

static void what_is_written_is_read_back_to_the_last_bit(void **state)
{
    sample *s = draw(0.1, 0.1);
    char path[] = "sparse-XXXXXX";
    clo_read_options options = clo_read_options_default();
    clo_table *table = NULL;
    clo_error err;
    const int file = mkstemp(path);
    (void)state;
    assert_true(file >= 0 && close(file) == 0);
    options.format = "libsvm";
    options.cols = D;
    assert_ok(clo_sparse_write(path, &s->records, s->labels, &err), err);
    assert_ok(clo_table_read(path, &options, &table, &err), err);
    assert_int_equal(clo_table_rows(table), N);
    for (size_t i = 0; i < N; i++) {
        const uint32_t *columns;
        const double *values;
        size_t count;
        clo_i_table_sparse_row(table, i, &columns, &values, &count);
        assert_int_equal(count, WIDTH);
        assert_memory_equal(columns, s->records.columns + i * WIDTH, WIDTH * sizeof *columns);
        assert_same_doubles(values, s->records.values + i * WIDTH, WIDTH);
    }
    clo_table_free(table);
    assert_int_equal(unlink(path), 0);
    drop(s);
}

static void wrong_settings_get_their_sentences(void **state)
{
    clo_sparse_model m = model_of(0, 0);
    clo_sparse_rows few = rows_of(N, S);
    clo_error err;
    clo_rng *rng = seeded("wrong");
    (void)state;
    assert_fails(clo_generate_sparse(&m, rng, &few, NULL, NULL, &err), CLO_ARGUMENT, err,
                 "memory for the records must be given, with the sizes that the model says");
    m.cols = 10;
    assert_fails(clo_generate_sparse(&m, rng, &few, NULL, NULL, &err), CLO_ARGUMENT, err,
                 "entries and stray must be at most half of the 10 columns together, not 9");
    m.entries = 0;
    assert_fails(clo_generate_sparse(&m, rng, &few, NULL, NULL, &err), CLO_ARGUMENT, err,
                 "entries must be between 1 and 4096, not 0");
    m.struct_size = 0;
    assert_fails(clo_generate_sparse(&m, rng, &few, NULL, NULL, &err), CLO_ARGUMENT, err,
                 "a clo_sparse_model must start from clo_sparse_model_default()");
    assert_fails(clo_sparse_write(NULL, &few, NULL, &err), CLO_ARGUMENT, err, "no file was given");
    few.rows = 0;
    assert_fails(clo_sparse_write("x", &few, NULL, &err), CLO_ARGUMENT, err, "no sparse rows");
    free(few.columns), free(few.values);
    clo_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_noise_a_record_is_its_centre_and_zeros),
        cmocka_unit_test(noise_lies_on_the_entries_alone),
        cmocka_unit_test(outliers_and_strays_have_places_of_their_own),
        cmocka_unit_test(the_same_seed_gives_the_same_rows_on_any_number_of_threads),
        cmocka_unit_test(what_is_written_is_read_back_to_the_last_bit),
        cmocka_unit_test(wrong_settings_get_their_sentences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
