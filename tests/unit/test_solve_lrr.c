/*
 * test_solve_lrr.c - low-rank representation: the closed forms against what defines them, the
 * augmented Lagrangian method against the paper's own on tiny cases, and whole runs.
 */
#include "solve_flats.h"
#include "solver/affinity/lowrank.h"
#include "linalg/linalg.h"
#include <cloister/solve.h>

enum { N = 24, D = 9 };
enum { CLUSTERS, DIM, FLATS, NOISE, LAMBDA, SHARE, GIVEN };
enum { NONE, GAUSSIAN, OUTLIERS };

/* ---- plain matrices, the slow way ------------------------------------------------------ */

/* out (m x n) = a (m x k) b (k x n). */
static void product(const double *a, const double *b, size_t m, size_t k, size_t n, double *out)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t l = 0; l < k; l++) sum += a[i * k + l] * b[l * n + j];
            out[i * n + j] = sum;
        }
}

static void transpose(const double *a, size_t m, size_t n, double *out)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) out[j * m + i] = a[i * n + j];
}

/* The singular values of an n x n matrix each made max(value - by, 0); their sum.  The library
 * gives left vectors alone, but they do: a = L L' a. */
static double shrink(double *a, size_t n, double by)
{
    clo_error err;
    double *const copy = job_need(n * n, sizeof *copy), *const left = job_need(n * n, sizeof *left);
    double *const turned = job_need(n * n, sizeof *turned), *values = job_need(n, sizeof *values);
    double sum = 0;
    memcpy(copy, a, n * n * sizeof *a);
    assert_ok(clo_i_thin_svd(copy, n, n, values, left, &err), err);
    transpose(left, n, n, turned);
    product(turned, a, n, n, n, copy); /* L'a */
    for (size_t j = 0; j < n; j++) {
        const double rest = fmax(values[j] - by, 0);
        for (size_t c = 0; c < n; c++) copy[j * n + c] *= rest > 0 ? rest / values[j] : 0;
        sum += rest;
    }
    product(left, copy, n, n, n, a);
    free(copy);
    free(left);
    free(turned);
    free(values);
    return sum;
}

static double nuclear_norm(const double *a, size_t n)
{
    double *const copy = job_need(n * n, sizeof *copy);
    memcpy(copy, a, n * n * sizeof *a);
    const double sum = shrink(copy, n, 0);
    free(copy);
    return sum;
}

/* C = V Z' of n points. */
static void coefficients(const clo_row_space *space, const double *z, double *c)
{
    double *const turned = job_need(space->count * space->rank, sizeof *turned);
    transpose(z, space->count, space->rank, turned);
    product(space->vectors, turned, space->count, space->rank, space->count, c);
    free(turned);
}

/* |C|_* + lambda sum_i |x_i - X c_i|, with the points as rows. */
static double objective(const double *rows, size_t n, size_t d, const double *c, double lambda)
{
    double sum = nuclear_norm(c, n);
    for (size_t i = 0; i < n; i++) {
        double square = 0;
        for (size_t k = 0; k < d; k++) {
            double rest = rows[i * d + k];
            for (size_t j = 0; j < n; j++) rest -= c[j * n + i] * rows[j * d + k];
            square += rest * rest;
        }
        sum += lambda * sqrt(square);
    }
    return sum;
}

/* ---- closed forms ------------------------------------------------------------------------- */

static void the_noiseless_answer_is_the_projector_on_the_row_space(void **state)
{
    clo_error err;
    double *const rows = flats_rows((flats_data){ N, D, 2, 2, 0, 0 }, 5, NULL);
    const clo_solver_input job = job_of(rows, N, D, NULL);
    clo_row_space space = { 0 };
    double c[N * N], square[N * N], other[N * N], trace = 0;
    assert_ok(clo_i_row_space_new(&job, (clo_row_view){ 0 }, 0, &space, &err), err);
    assert_int_equal(space.rank, 4);
    coefficients(&space, space.vectors, c);
    product(c, c, N, N, N, square);
    for (size_t i = 0; i < N * N; i++) assert_close(square[i], c[i], 1e-12);
    for (size_t i = 0; i < N; i++) trace += c[i * N + i];
    assert_close(trace, 4, 1e-12);
    assert_close(objective(rows, N, D, c, 1e9), 4, 1e-4); /* X = XC, and the norm is 4 */

    /* Whatever else expresses the points has a larger norm: C + N where XN = 0. */
    uint64_t seed = 11;
    for (int trial = 0; trial < 20; trial++) {
        double any[N * N], inside[N * N];
        for (size_t i = 0; i < N * N; i++) any[i] = 0.1 * job_normal(&seed);
        product(c, any, N, N, N, inside);
        for (size_t i = 0; i < N * N; i++) other[i] = c[i] + any[i] - inside[i];
        assert_close(objective(rows, N, D, other, 1e9) - nuclear_norm(other, N), 0, 1e-4);
        assert_true(nuclear_norm(other, N) > 4.0001);
    }
    clo_i_row_space_free(&space);
    free(rows);
}

/* min |C|_* + lambda/2 |X - XC|_F^2 by proximal gradient steps: C becomes shrink(C + t lambda
 * X'X(I - C), t), t = 1 / (lambda |X|^2). */
static void slow_gaussian(const double *rows, double lambda, double *c)
{
    double turned[D * N], gram[N * N], step[N * N], top = 0;
    transpose(rows, N, D, turned);
    product(rows, turned, N, D, N, gram);
    for (size_t i = 0; i < N; i++) top += gram[i * N + i];
    const double t = 1 / (lambda * top);
    memset(c, 0, N * N * sizeof *c);
    for (int iteration = 0; iteration < 1500; iteration++) {
        product(gram, c, N, N, N, step);
        for (size_t i = 0; i < N * N; i++) c[i] += t * lambda * (gram[i] - step[i]);
        shrink(c, N, t);
    }
}

static void the_affinity_is_a_power_of_the_cosines(void **state)
{
    clo_error err;
    clo_rng *const rng = job_rng("gaussian");
    double *const rows = flats_rows((flats_data){ N, D, 3, 2, 0.2, 0 }, 8, NULL);
    const clo_solver_input job = job_of(rows, N, D, rng);
    clo_affinity affinity = { 0 };
    double c[N * N];
    assert_ok(clo_i_lrr_affinity(&job, 4, &affinity, &err), err);
    clo_row_space space = { 0 };
    assert_ok(clo_i_row_space_new(&job, (clo_row_view){ 0 }, 4, &space, &err), err);
    assert_true(space.rank == 4 && space.noise > 0 && space.noise < space.values[3]);
    double weights[4], weighed[N * 4];
    clo_i_lrr_weights(&space, 1 / (space.noise * space.noise), weights);
    for (size_t i = 0; i < N * 4; i++) weighed[i] = space.vectors[i] * weights[i % 4];
    coefficients(&space, weighed, c);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            const double cosine = c[i * N + j] / sqrt(c[i * N + i] * c[j * N + j]);
            assert_close(affinity.dense[i * N + j], i == j ? 0 : pow(cosine, 6), 1e-12);
        }
    clo_i_affinity_free(&affinity);
    clo_i_row_space_free(&space);
    clo_rng_free(rng);
    free(rows);
}

static void the_gaussian_formula_is_the_minimiser(void **state)
{
    clo_error err;
    double *const rows = flats_rows((flats_data){ N, D, 2, 2, 0.3, 0 }, 9, NULL);
    const clo_solver_input job = job_of(rows, N, D, NULL);
    clo_row_space space = { 0 };
    double slow[N * N], fast[N * N];
    assert_ok(clo_i_row_space_new(&job, (clo_row_view){ 0 }, 0, &space, &err), err);
    assert_int_equal(space.rank, D);
    const double lambda = 1 / (space.values[3] * space.values[4]); /* four above the cut */
    slow_gaussian(rows, lambda, slow);
    double *const weighed = job_need(N * space.rank, sizeof *weighed);
    clo_i_lrr_weights(&space, lambda, weighed);
    for (size_t j = 0; j < space.rank; j++) assert_true((weighed[j] > 0) == (j < 4));
    double *const z = job_need(N * space.rank, sizeof *z);
    for (size_t i = 0; i < N * space.rank; i++) z[i] = space.vectors[i] * weighed[i % space.rank];
    coefficients(&space, z, fast);
    for (size_t i = 0; i < N * N; i++) assert_close(fast[i], slow[i], 1e-6);
    free(z);
    free(weighed);
    clo_i_row_space_free(&space);
    free(rows);
}

/* ---- the augmented Lagrangian method -------------------------------------------------------- */

/* The inexact ALM of Liu et al. on the full n x n problem, points as columns of x (D x N), at a
 * constant penalty of 1: slow and sure. */
static void slow_alm(const double *rows, double lambda, double *z)
{
    static double x[D * N], gram[N * N], inverse[N * N], j[N * N], y2[N * N], right[N * N];
    static double e[D * N], y1[D * N], fit[D * N], part[N * N], system[N * N];
    clo_error err;
    transpose(rows, N, D, x);
    product(rows, x, N, D, N, gram);
    memset(inverse, 0, sizeof inverse);
    for (size_t i = 0; i < N; i++) {
        memcpy(system, gram, sizeof gram);
        for (size_t k = 0; k < N; k++) system[k * N + k] += 1;
        inverse[i * N + i] = 1;
        assert_ok(clo_i_solve_positive(system, N, inverse + i * N, &err), err);
    }
    memset(z, 0, N * N * sizeof *z);
    memset(y1, 0, sizeof y1);
    memset(y2, 0, sizeof y2);
    memset(e, 0, sizeof e);
    for (int iteration = 0; iteration < 2000; iteration++) {
        for (size_t i = 0; i < N * N; i++) j[i] = z[i] + y2[i];
        shrink(j, N, 1);
        for (size_t i = 0; i < D * N; i++) fit[i] = x[i] - e[i] + y1[i];
        product(rows, fit, N, D, N, part);
        for (size_t i = 0; i < N * N; i++) right[i] = part[i] + j[i] - y2[i];
        product(inverse, right, N, N, N, z);
        product(x, z, D, N, N, fit);
        for (size_t c = 0; c < N; c++) {
            double square = 0;
            for (size_t k = 0; k < D; k++) {
                e[k * N + c] = x[k * N + c] - fit[k * N + c] + y1[k * N + c];
                square += e[k * N + c] * e[k * N + c];
            }
            const double scale = square > lambda * lambda ? 1 - lambda / sqrt(square) : 0;
            for (size_t k = 0; k < D; k++) e[k * N + c] *= scale;
        }
        for (size_t i = 0; i < D * N; i++) y1[i] += x[i] - fit[i] - e[i];
        for (size_t i = 0; i < N * N; i++) y2[i] += z[i] - j[i];
    }
}

static clo_lrr_fit fit_with(const clo_solver_input *job, const clo_row_space *space, double lambda,
                            double tolerance)
{
    clo_error err;
    clo_lrr_fit fit = { 0 };
    const clo_lrr_options options = { lambda, 2000, tolerance };
    assert_ok(clo_i_lrr_alm(job, space, &options, &fit, &err), err);
    return fit;
}

static void the_method_reaches_what_the_papers_own_reaches(void **state)
{
    clo_error err;
    double *const rows = flats_rows((flats_data){ N, D, 2, 2, 0.1, 0 }, 21, NULL);
    const clo_solver_input job = job_of(rows, N, D, NULL);
    clo_row_space space = { 0 };
    double slow[N * N], fast[N * N];
    for (size_t c = 0; c < D; c++) rows[7 * D + c] += 2; /* one point far out */
    assert_ok(clo_i_row_space_new(&job, (clo_row_view){ 0 }, 0, &space, &err), err);
    for (double lambda = 0.05; lambda < 5; lambda *= 4) {
        clo_lrr_fit fit = fit_with(&job, &space, lambda, 1e-7);
        coefficients(&space, fit.coefficients, fast);
        slow_alm(rows, lambda, slow);
        const double reached = objective(rows, N, D, fast, lambda);
        assert_relatively_close(fit.objective, reached, 1e-6); /* the reduction loses nothing */
        assert_true(fit.bound <= reached * (1 + 1e-9) && fit.bound >= reached * (1 - 1e-5));
        assert_relatively_close(reached, objective(rows, N, D, slow, lambda), 1e-4);
        assert_true(fit.bound <= objective(rows, N, D, slow, lambda) * (1 + 1e-9));
        clo_i_lrr_fit_free(&fit);
    }
    clo_i_row_space_free(&space);
    free(rows);
}

static void wholly_wrong_rows_are_found(void **state)
{
    enum { COUNT = 300, COLS = 30, EACH = 20 }; /* every twentieth row is wrong */
    clo_error err;
    double *const rows = flats_rows((flats_data){ COUNT, COLS, 3, 3, 0, 0 }, 31, NULL);
    const clo_solver_input job = job_of(rows, COUNT, COLS, NULL);
    clo_row_space space = { 0 };
    uint64_t seed = 5;
    for (size_t i = 0; i < COUNT; i += EACH)
        for (size_t c = 0; c < COLS; c++) rows[i * COLS + c] = job_normal(&seed);
    assert_ok(clo_i_row_space_new(&job, (clo_row_view){ 0 }, 0, &space, &err), err);
    double lambda = 0, paper = 0;
    assert_ok(clo_i_lrr_lambda(&space, 0, &lambda, &err), err);
    assert_ok(clo_i_lrr_lambda(&space, 0.25, &paper, &err), err);
    assert_relatively_close(paper, 3 / (7 * space.values[0] * sqrt(0.25 * COUNT)), 1e-14);
    clo_lrr_fit fit = fit_with(&job, &space, lambda, 1e-6);
    for (size_t i = 0; i < COUNT; i++) assert_true((fit.errors[i] > 1e-3) == (i % EACH == 0));
    clo_i_lrr_fit_free(&fit);
    clo_i_row_space_free(&space);
    free(rows);
}

static void threads_change_nothing(void **state)
{
    enum { COUNT = 900, COLS = 12 };
    clo_error err;
    double *const rows = flats_rows((flats_data){ COUNT, COLS, 3, 3, 0.1, 0 }, 41, NULL);
    clo_solver_input job = job_of(rows, COUNT, COLS, NULL);
    clo_row_space space = { 0 };
    assert_ok(clo_i_row_space_new(&job, (clo_row_view){ 0 }, 0, &space, &err), err);
    clo_lrr_fit one = fit_with(&job, &space, 0.02, 1e-4);
    job.threads = 3;
    clo_lrr_fit three = fit_with(&job, &space, 0.02, 1e-4);
    assert_same_doubles(three.coefficients, one.coefficients, COUNT * space.rank);
    assert_same_doubles(three.errors, one.errors, COUNT);
    assert_true(one.iterations == three.iterations && one.iterations < 100);
    clo_i_lrr_fit_free(&one);
    clo_i_lrr_fit_free(&three);
    clo_i_row_space_free(&space);
    free(rows);
}

/* ---- whole runs ----------------------------------------------------------------- */

static void check_labels(flats_data of, double noise, double lambda)
{
    clo_error err;
    clo_rng *const rng = job_rng("lrr");
    uint32_t *const truth = job_need(of.count, sizeof *truth);
    double *const rows = flats_rows(of, 51, truth);
    const clo_solver_input job = job_of(rows, of.count, of.cols, rng);
    const double values[GIVEN] = {
        (double)of.clusters, (double)of.dim, of.offset > 0, noise, lambda, 0.001
    };
    clo_partition out = { 0 };
    assert_ok(job_solve(&clo_i_solver_lrr, &job, values, GIVEN, &out, &err), err);
    assert_true(job_same_partition(out.labels, truth, of.count));
    assert_true(out.cost < 2 * of.noise * of.noise * (double)of.cols + 1e-20);
    clo_i_partition_free(&out);
    clo_rng_free(rng);
    free(rows);
    free(truth);
}

static void every_model_of_noise_finds_separate_subspaces(void **state)
{
    const flats_data clean = { 200, 20, 4, 3, 0, 0 }, noisy = { 200, 20, 4, 3, 0.01, 0 };
    check_labels(clean, NONE, 0);
    check_labels(clean, GAUSSIAN, 0);
    check_labels(noisy, GAUSSIAN, 0);
    check_labels(noisy, OUTLIERS, 0);
    check_labels(noisy, OUTLIERS, 1);
    check_labels((flats_data){ 200, 20, 4, 3, 0.01, 2 }, GAUSSIAN, 0);
}

static void it_can_be_stopped_and_failing_allocations_leak_nothing(void **state)
{
    clo_error err;
    clo_rng *const rng = job_rng("stop");
    double *const rows = flats_rows((flats_data){ 60, 8, 2, 2, 0.05, 0 }, 61, NULL);
    const double values[GIVEN] = { 2, 2, 0, OUTLIERS, 0, 0 };
    clo_solver_input job = job_of(rows, 60, 8, rng);
    clo_partition out = { .cost = -1 };
    job.progress = job_countdown;
    for (int calls = 1; calls <= 4; calls++) {
        int left = calls;
        job.user = &left;
        assert_fails(job_solve(&clo_i_solver_lrr, &job, values, GIVEN, &out, &err), CLO_CANCELLED,
                     err, "stopped");
        assert_true(out.cost == -1 && !out.labels);
    }
    job.progress = NULL;
    job_survives_failing_allocations(&clo_i_solver_lrr, &job, values, GIVEN);
    clo_rng_free(rng);
    free(rows);
}

static void refuses_what_it_cannot_do(void **state)
{
    clo_error err;
    clo_rng *const rng = job_rng("refuse");
    double rows[12] = { 0 };
    const clo_solver_input job = job_of(rows, 6, 2, rng);
    clo_partition out = { .cost = -1 };
    for (double noise = NONE; noise <= OUTLIERS; noise++)
        assert_fails(
            job_solve(&clo_i_solver_lrr, &job, (double[]){ 2, 1, 0, noise }, 4, &out, &err),
            CLO_ARGUMENT, err, "all rows are zero");
    assert_true(out.cost == -1);
    clo_params *params = NULL;
    assert_ok(clo_solver_params_new(clo_solver_find("lrr"), &params, &err), err);
    assert_fails(clo_params_set_text(params, "noise", "loud", &err), CLO_ARGUMENT, err,
                 "none|gaussian|outliers");
    assert_fails(clo_params_set(params, "lambda", -1, &err), CLO_ARGUMENT, err, "lambda");
    assert_fails(clo_params_set(params, "power", 0, &err), CLO_ARGUMENT, err, "power");
    clo_params_free(params);
    clo_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_noiseless_answer_is_the_projector_on_the_row_space),
        cmocka_unit_test(the_affinity_is_a_power_of_the_cosines),
        cmocka_unit_test(the_gaussian_formula_is_the_minimiser),
        cmocka_unit_test(the_method_reaches_what_the_papers_own_reaches),
        cmocka_unit_test(wholly_wrong_rows_are_found),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(every_model_of_noise_finds_separate_subspaces),
        cmocka_unit_test(it_can_be_stopped_and_failing_allocations_leak_nothing),
        cmocka_unit_test(refuses_what_it_cannot_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
