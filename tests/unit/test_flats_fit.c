/* test_flats_fit.c - the best flats for given labels, held against what makes them best. */
#include "check.h"
#include "linalg/linalg.h"
#include "solver/planes/flats.h"
#include <stdlib.h>

enum { ROWS = 90, COLS = 6, CLUSTERS = 3 };

typedef struct fixture {
    double rows[ROWS * COLS];
    uint32_t labels[ROWS];
    clo_rng *rng;
    clo_stream *stream;
    clo_solver_input job;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    uint8_t seed[32];
    clo_error err;
    clo_seed_from_text("flats", seed);
    assert_ok(clo_rng_new_seeded(seed, &f.rng, &err), err);
    assert_ok(clo_i_stream_open(f.rng, 1, 0, &f.stream, &err), err);
    for (size_t i = 0; i < ROWS; i++) {
        f.labels[i] = (uint32_t)(i % CLUSTERS);
        for (size_t c = 0; c < COLS; c++)
            f.rows[i * COLS + c] =
                clo_i_random_normal(f.stream) * (double)(c + 1) + (double)(i % 3);
    }
    f.job = (clo_solver_input){
        .rows = f.rows, .count = ROWS, .cols = COLS, .rng = f.rng, .threads = 1, .progress_to = 1
    };
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *const f = *state;
    clo_i_stream_close(f->stream);
    clo_rng_free(f->rng);
    return 0;
}

/* The mean squared distance to the own flat, from nothing but the definition. */
static double cost_of(const fixture *f, const clo_partition *p)
{
    double sum = 0;
    for (size_t i = 0; i < ROWS; i++) {
        const size_t l = p->labels[i];
        double rest[COLS];
        for (size_t c = 0; c < COLS; c++)
            rest[c] = f->rows[i * COLS + c] - (p->offsets ? p->offsets[l * COLS + c] : 0);
        double length = 0, inside = 0;
        for (size_t c = 0; c < COLS; c++) length += rest[c] * rest[c];
        for (size_t j = 0; j < p->dims[l]; j++) {
            double score = 0;
            for (size_t c = 0; c < COLS; c++)
                score += rest[c] * p->bases[(l * COLS + c) * p->width + j];
            inside += score * score;
        }
        sum += length - inside;
    }
    return sum / ROWS;
}

static void assert_orthonormal(const clo_partition *p)
{
    for (size_t l = 0; l < p->clusters; l++)
        for (size_t i = 0; i < p->width; i++)
            for (size_t j = 0; j < p->width; j++) {
                double product = 0;
                for (size_t c = 0; c < p->cols; c++)
                    product += p->bases[(l * p->cols + c) * p->width + i] *
                               p->bases[(l * p->cols + c) * p->width + j];
                assert_close(product, i == j && i < p->dims[l] ? 1.0 : 0.0, 1e-13);
            }
}

static void costs_what_the_trailing_eigenvalues_sum_to(void **state)
{
    fixture *const f = *state;
    double expected = 0;
    for (size_t l = 0; l < CLUSTERS; l++) {
        double moment[COLS * COLS] = { 0 }, values[COLS], vectors[COLS * COLS];
        double *const scratch = calloc(clo_i_eigen_scratch(COLS, COLS), sizeof *scratch);
        clo_error err;
        for (size_t i = l; i < ROWS; i += CLUSTERS)
            clo_i_gram_add(f->rows + i * COLS, 1, COLS, moment);
        assert_ok(clo_i_eigen_top(moment, COLS, COLS, values, vectors, scratch, &err), err);
        for (size_t j = 2; j < COLS; j++) expected += values[j] / ROWS;
        free(scratch);
    }
    const clo_flat_shape shape = { .clusters = CLUSTERS, .dim = 2 };
    clo_partition p = { 0 };
    clo_error err;
    assert_ok(clo_i_fit_flats(&f->job, f->labels, &shape, &p, &err), err);
    assert_relatively_close(p.cost, expected, 1e-12);
    assert_relatively_close(cost_of(f, &p), expected, 1e-12);
    assert_null(p.offsets);
    assert_memory_equal(p.labels, f->labels, sizeof f->labels);
    assert_orthonormal(&p);
    clo_i_partition_free(&p);
}

static void costs_less_than_any_flats_nearby(void **state)
{
    fixture *const f = *state;
    for (int affine = 0; affine < 2; affine++) {
        const size_t dims[CLUSTERS] = { 1, 3, 2 };
        const clo_flat_shape shape = { .clusters = CLUSTERS, .dims = dims, .affine = affine };
        clo_partition p = { 0 };
        clo_error err;
        assert_ok(clo_i_fit_flats(&f->job, f->labels, &shape, &p, &err), err);
        assert_int_equal(p.width, 3);
        assert_orthonormal(&p);
        const double best = cost_of(f, &p);
        assert_relatively_close(p.cost, best, 1e-12);
        for (int trial = 0; trial < 60; trial++) {
            const size_t l = (size_t)trial % CLUSTERS;
            double basis[COLS * 3], saved[COLS * 3], point[COLS];
            memcpy(saved, p.bases + l * COLS * p.width, sizeof saved);
            for (size_t c = 0; c < COLS; c++)
                for (size_t j = 0; j < dims[l]; j++)
                    basis[c * dims[l] + j] =
                        saved[c * p.width + j] + 0.05 * clo_i_random_normal(f->stream);
            assert_ok(clo_i_orthonormalize(basis, COLS, dims[l], &err), err);
            for (size_t c = 0; c < COLS; c++)
                for (size_t j = 0; j < dims[l]; j++)
                    p.bases[(l * COLS + c) * p.width + j] = basis[c * dims[l] + j];
            assert_true(cost_of(f, &p) > best);
            memcpy(p.bases + l * COLS * p.width, saved, sizeof saved);
            if (!affine) continue;
            memcpy(point, p.offsets + l * COLS, sizeof point);
            for (size_t c = 0; c < COLS; c++)
                p.offsets[l * COLS + c] += 0.05 * clo_i_random_normal(f->stream);
            assert_true(cost_of(f, &p) > best);
            memcpy(p.offsets + l * COLS, point, sizeof point);
        }
        clo_i_partition_free(&p);
    }
}

static void keeps_its_precision_far_from_the_origin(void **state)
{
    fixture *const f = *state;
    const clo_flat_shape shape = { .clusters = CLUSTERS, .dim = 2, .affine = true };
    double *const far = malloc(sizeof f->rows);
    clo_partition near_by = { 0 }, far_off = { 0 };
    clo_error err;
    for (size_t i = 0; i < ROWS * COLS; i++) far[i] = f->rows[i] + 1e6;
    clo_solver_input job = f->job;
    job.rows = far;
    assert_ok(clo_i_fit_flats(&f->job, f->labels, &shape, &near_by, &err), err);
    assert_ok(clo_i_fit_flats(&job, f->labels, &shape, &far_off, &err), err);
    assert_relatively_close(far_off.cost, near_by.cost, 1e-8);
    clo_i_partition_free(&near_by);
    clo_i_partition_free(&far_off);
    free(far);
}

/* Fewer rows than columns, and than dimensions: the basis is completed. */
static void fits_clusters_of_fewer_rows_than_columns(void **state)
{
    fixture *const f = *state;
    clo_solver_input job = f->job;
    const uint32_t labels[] = { 0, 0, 0, 0, 1, 1, 2 };
    const clo_flat_shape shape = { .clusters = 3, .dim = 3 };
    clo_partition p = { 0 };
    clo_error err;
    job.count = 7;
    assert_ok(clo_i_fit_flats(&job, labels, &shape, &p, &err), err);
    assert_orthonormal(&p);
    double moment[COLS * COLS] = { 0 }, values[COLS], vectors[COLS * COLS];
    double *const scratch = calloc(clo_i_eigen_scratch(COLS, COLS), sizeof *scratch);
    clo_i_gram_add(f->rows, 4, COLS, moment);
    assert_ok(clo_i_eigen_top(moment, COLS, COLS, values, vectors, scratch, &err), err);
    assert_relatively_close(p.cost, values[3] / 7, 1e-9);
    free(scratch);
    clo_i_partition_free(&p);
}

static void gives_an_empty_cluster_the_rows_explained_least(void **state)
{
    fixture *const f = *state;
    double rows[40 * 3] = { 0 };
    uint32_t labels[40] = { 0 };
    const clo_flat_shape shape = { .clusters = 2, .dim = 1 };
    clo_solver_input job = f->job;
    clo_partition p = { 0 };
    clo_error err;
    for (size_t i = 0; i < 40; i++) rows[i * 3 + (i < 38 ? 0 : 2)] = (double)(i % 5) + 2;
    job.rows = rows;
    job.count = 40;
    job.cols = 3;
    assert_ok(clo_i_fit_flats(&job, labels, &shape, &p, &err), err);
    assert_close(fabs(p.bases[0]), 1, 1e-12);
    assert_close(fabs(p.bases[3 + 2]), 1, 1e-12);
    clo_i_partition_free(&p);
}

static void fits_rows_of_zeros(void **state)
{
    fixture *const f = *state;
    double rows[8 * COLS] = { 0 };
    uint32_t labels[8] = { 0 };
    clo_solver_input job = f->job;
    job.rows = rows;
    job.count = 8;
    for (size_t dim = 0; dim < 3; dim++)
        for (int affine = 0; affine < 2; affine++) {
            const clo_flat_shape shape = { .clusters = 2, .dim = dim, .affine = affine };
            clo_partition p = { 0 };
            clo_error err;
            assert_ok(clo_i_fit_flats(&job, labels, &shape, &p, &err), err);
            assert_true(p.cost == 0);
            assert_orthonormal(&p);
            clo_i_partition_free(&p);
        }
}

/* What the clusters of real tables have for eigenvalues, in round numbers. */
static void tells_plain_gaps_from_pictures(void **state)
{
    double picture[64], noise[10] = { 1, 1, 1, .012, .011, .01, .01, .01, .009, .008 };
    const double motion[] = { 760, 239.6, .39, .008, .001, .0001, .0001, .0001 };
    const double hyperplane[] = { 1, .9, .8, .7, .3 };
    clo_eigenvalues of = { .values = picture, .count = 64, .rows = 64, .cols = 1024 };
    for (size_t j = 0; j < 64; j++) /* the mean picture, then a long slope */
        of.total += picture[j] = j == 0 ? 80 : 10 / (double)(j * j + j);
    clo_dim_choice choice = clo_i_choose_dim(&of);
    assert_false(choice.plain);
    assert_true(choice.dim >= 8 && choice.dim <= CLO_MOST_DIMS);
    of.rows = 20; /* of which a quarter is 5 */
    assert_int_equal(clo_i_choose_dim(&of).dim, 5);
    of = (clo_eigenvalues){ .values = noise, .count = 10, .rows = 300, .cols = 10, .total = 3.07 };
    choice = clo_i_choose_dim(&of);
    assert_true(choice.plain && choice.dim == 3);
    of = (clo_eigenvalues){ .values = motion, .count = 8, .rows = 90, .cols = 58, .total = 1000 };
    choice = clo_i_choose_dim(&of);
    assert_true(choice.plain && choice.dim == 3);
    of = (clo_eigenvalues){ .values = hyperplane, .count = 5, .rows = 99, .cols = 5, .total = 3.7 };
    assert_false(clo_i_choose_dim(&of).plain);
}

static void chooses_the_dimension_before_the_largest_drop(void **state)
{
    fixture *const f = *state;
    const double drop[] = { 5, 4.5, 4.2, 0.3, 0.2 }, flat[] = { 1, 1, 1 }, one[] = { 3 };
    const double steps[] = { 64, 16, 4, 1, 0, 0 }, crumbs[] = { 9, 8, 1e-9, 1e-12, 0 };
    double sharpness = 0;
    assert_int_equal(clo_i_eigengap(drop, 5, 2.84, &sharpness), 3);
    assert_relatively_close(sharpness, 3.9 / 0.30284, 1e-12);
    assert_int_equal(clo_i_eigengap(flat, 3, 1, NULL), 1);
    assert_int_equal(clo_i_eigengap(one, 1, 3, NULL), 1);
    assert_int_equal(clo_i_eigengap(steps, 6, 85.0 / 6, NULL), 4);
    assert_int_equal(clo_i_eigengap(crumbs, 5, 17.0 / 5, NULL), 2);
    double rows[ROWS * COLS];
    for (size_t i = 0; i < ROWS; i++)
        for (size_t c = 0; c < COLS; c++)
            rows[i * COLS + c] = clo_i_random_normal(f->stream) * (c <= i % CLUSTERS ? 1 : 0.01);
    clo_solver_input job = f->job;
    job.rows = rows;
    const clo_flat_shape shape = { .clusters = CLUSTERS, .dim = 0 };
    clo_partition p = { 0 };
    clo_error err;
    assert_ok(clo_i_fit_flats(&job, f->labels, &shape, &p, &err), err);
    for (size_t l = 0; l < CLUSTERS; l++) assert_int_equal(p.dims[l], l + 1);
    clo_i_partition_free(&p);
}

/* Fewer rows than columns: the gap is looked for among as many eigenvalues as there are rows. */
static void chooses_the_dimension_of_few_rows(void **state)
{
    fixture *const f = *state;
    double rows[5 * 40] = { 0 };
    const uint32_t labels[5] = { 0 };
    const clo_flat_shape shape = { .clusters = 1, .dim = 0 };
    clo_solver_input job = f->job;
    clo_partition p = { 0 };
    clo_error err;
    for (size_t i = 0; i < 5; i++) rows[i * 40 + 7 * i] = i < 2 ? 3 : 0.1;
    job.rows = rows;
    job.count = 5;
    job.cols = 40;
    assert_ok(clo_i_fit_flats(&job, labels, &shape, &p, &err), err);
    assert_int_equal(p.dims[0], 2);
    assert_relatively_close(p.cost, 0.03 / 5, 1e-12);
    clo_i_partition_free(&p);
}

static void is_the_same_on_any_number_of_threads(void **state)
{
    fixture *const f = *state;
    const clo_flat_shape shape = { .clusters = CLUSTERS, .dim = 2, .affine = true };
    clo_partition one = { 0 }, two = { 0 };
    clo_solver_input job = f->job;
    clo_error err;
    assert_ok(clo_i_fit_flats(&job, f->labels, &shape, &one, &err), err);
    job.threads = 2;
    assert_ok(clo_i_fit_flats(&job, f->labels, &shape, &two, &err), err);
    assert_same_doubles(two.bases, one.bases, CLUSTERS * COLS * 2);
    assert_same_doubles(&two.cost, &one.cost, 1);
    clo_i_partition_free(&one);
    clo_i_partition_free(&two);
}

static void refuses_what_the_rows_cannot_have(void **state)
{
    fixture *const f = *state;
    clo_solver_input job = f->job;
    clo_partition p = { 0 };
    clo_error err;
    clo_flat_shape shape = { .clusters = 2, .dim = 1 };
    assert_fails(clo_i_fit_flats(&job, f->labels, &shape, &p, &err), CLO_ARGUMENT, err, "label");
    shape = (clo_flat_shape){ .clusters = CLUSTERS, .dim = COLS + 1 };
    assert_fails(clo_i_fit_flats(&job, f->labels, &shape, &p, &err), CLO_ARGUMENT, err, "columns");
    shape = (clo_flat_shape){ .clusters = ROWS + 1, .dim = 1 };
    assert_fails(clo_i_fit_flats(&job, f->labels, &shape, &p, &err), CLO_ARGUMENT, err, "rows");
    shape.clusters = 0;
    assert_fails(clo_i_fit_flats(&job, f->labels, &shape, &p, &err), CLO_ARGUMENT, err, "clusters");
    job.count = 0;
    assert_fails(clo_i_fit_flats(&job, f->labels, &shape, &p, &err), CLO_ARGUMENT, err, "empty");
    assert_null(p.labels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_what_the_trailing_eigenvalues_sum_to),
        cmocka_unit_test(costs_less_than_any_flats_nearby),
        cmocka_unit_test(keeps_its_precision_far_from_the_origin),
        cmocka_unit_test(fits_clusters_of_fewer_rows_than_columns),
        cmocka_unit_test(gives_an_empty_cluster_the_rows_explained_least),
        cmocka_unit_test(fits_rows_of_zeros),
        cmocka_unit_test(tells_plain_gaps_from_pictures),
        cmocka_unit_test(chooses_the_dimension_before_the_largest_drop),
        cmocka_unit_test(chooses_the_dimension_of_few_rows),
        cmocka_unit_test(is_the_same_on_any_number_of_threads),
        cmocka_unit_test(refuses_what_the_rows_cannot_have),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
