/*
 * test_lanczos.c - the Lanczos iteration on matrices whose eigenvalues were planted: apart, close
 * together, the same, nought, in number up to all of them, from any start and at any scale.
 */
#include "linalg/linalg.h"
#include "solve_job.h"
#include "solver/affinity/lanczos.h"
#include <math.h>
#include <string.h>

/* A = R diag(values) R', R a chain of random reflections: nothing of it is by LAPACK. */
typedef struct planted {
    size_t n;
    double *a, *values; /* the values as they were planted, largest first */
} planted;

static int larger_first(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a < b) - (a > b);
}

/* Both sides times 1 - 2 u u' for a random unit vector u. */
static void reflect(double *a, size_t n, uint64_t *seed)
{
    double *const u = job_need(n, sizeof *u), *const p = job_need(n, sizeof *p), norm = 0, both = 0;
    for (size_t i = 0; i < n; i++) u[i] = job_normal(seed);
    for (size_t i = 0; i < n; i++) norm += u[i] * u[i];
    for (size_t i = 0; i < n; i++) u[i] /= sqrt(norm);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) p[i] += a[i * n + j] * u[j];
    for (size_t i = 0; i < n; i++) both += u[i] * p[i];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            a[i * n + j] += 4 * both * u[i] * u[j] - 2 * (u[i] * p[j] + p[i] * u[j]);
    free(u);
    free(p);
}

/* The values of the first `given`, and the others within (low, high). */
static planted plant(size_t n, const double *first, size_t given, double low, double high,
                     int reflections)
{
    planted out = { n, job_need(n * n, sizeof(double)), job_need(n, sizeof(double)) };
    uint64_t seed = 7 + n + given;
    for (size_t i = 0; i < n; i++)
        out.values[i] = i < given ? first[i] : low + (high - low) * (job_uniform(&seed) + 1) / 2;
    for (size_t i = 0; i < n; i++) out.a[i * n + i] = out.values[i];
    for (int i = 0; i < reflections; i++) reflect(out.a, n, &seed);
    qsort(out.values, n, sizeof *out.values, larger_first);
    return out;
}

static void uproot(planted *p)
{
    free(p->a);
    free(p->values);
}

static void product(const void *matrix, const double *x, double *y)
{
    const planted *const p = matrix;
    for (size_t i = 0; i < p->n; i++) {
        y[i] = 0;
        for (size_t j = 0; j < p->n; j++) y[i] += p->a[i * p->n + j] * x[j];
    }
}

/* Largest first, right, orthonormal, and eigenvectors. */
static void check_pairs(const planted *p, const clo_lanczos *l)
{
    const size_t n = p->n;
    const double scale = fmax(fabs(p->values[0]), fabs(p->values[n - 1]));
    double *const image = job_need(n, sizeof *image);
    for (size_t k = 0; k < l->wanted; k++) {
        const double *const v = l->basis + k * n;
        double rest = 0;
        assert_close(l->values[k], p->values[k], 1e-10 * scale);
        product(p, v, image);
        for (size_t i = 0; i < n; i++) rest += pow((image[i] - l->values[k] * v[i]) / scale, 2);
        assert_true(scale == 0 || sqrt(rest) < 1e-8);
        for (size_t other = 0; other <= k; other++) {
            double inner = 0;
            for (size_t i = 0; i < n; i++) inner += v[i] * l->basis[other * n + i];
            assert_close(inner, other == k, 1e-12);
        }
    }
    free(image);
}

/* How many products it took.  start: NULL, or the vector to begin with. */
static int check(const planted *p, size_t wanted, size_t size, const double *start)
{
    clo_error err;
    clo_rng *const rng = job_rng("lanczos");
    clo_stream *stream = NULL;
    const clo_solver_input job = job_of(NULL, p->n, 0, rng);
    bool found = false;
    assert_ok(clo_i_stream_open(rng, 0, 0, &stream, &err), err);
    clo_lanczos l = { .count = p->n,
                      .wanted = wanted,
                      .room = size,
                      .multiply = product,
                      .matrix = p,
                      .stream = stream,
                      .job = &job };
    assert_ok(clo_i_lanczos_new(&l, &err), err);
    if (start) memcpy(l.basis, start, p->n * sizeof *start);
    assert_ok(clo_i_lanczos_run(&l, size, 1e-9, &found, &err), err);
    assert_true(found);
    check_pairs(p, &l);
    const int products = l.products;
    clo_i_lanczos_free(&l);
    clo_i_stream_close(stream);
    clo_rng_free(rng);
    return products;
}

static void check_planted(size_t n, const double *first, size_t given, size_t wanted, size_t size)
{
    planted p = plant(n, first, given, -0.5, 0.5, 3);
    check(&p, wanted, size, NULL);
    uproot(&p);
}

static void values_apart_are_found(void **state)
{
    (void)state;
    check_planted(150, NULL, 0, 1, 20);
    check_planted(150, NULL, 0, 5, 20);
    check_planted(400, (double[]){ 1, 0.9, 0.8, 0.7 }, 4, 4, 20);
    /* the largest by magnitude are not the largest */
    check_planted(150, (double[]){ -9, -8, -7, -6, 1, 0.9 }, 6, 3, 20);
    /* none is above nought */
    planted below = plant(100, NULL, 0, -3, -2, 3);
    check(&below, 4, 20, NULL);
    uproot(&below);
}

static void values_close_together_are_told_apart(void **state)
{
    (void)state;
    check_planted(150, (double[]){ 1, 1 - 1e-4, 1 - 2e-4, 1 - 3e-4 }, 4, 4, 20);
    check_planted(150, (double[]){ 1, 1 - 1e-8, 1 - 2e-8, 0.9, 0.9 - 1e-8 }, 5, 5, 20);
    /* closer than can be told: as vectors they are still three */
    check_planted(300, (double[]){ 1, 1 - 1e-13, 1 - 2e-13 }, 3, 3, 20);
}

static void each_of_a_value_that_comes_often_is_found(void **state)
{
    (void)state;
    check_planted(200, (double[]){ 1, 1 }, 2, 2, 20);
    check_planted(200, (double[]){ 1, 1, 1, 1, 0.9, 0.9 }, 6, 6, 20);
    check_planted(200, (double[]){ 1, 0.9, 0.9, 0.9, 0.9 }, 5, 3, 20); /* some of them */
    check_planted(200, (double[]){ 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 }, 12, 12, 25);
    planted same = plant(60, NULL, 0, 2, 2, 0); /* all the same */
    check(&same, 5, 20, NULL);
    uproot(&same);
}

static void noughts_are_found(void **state)
{
    (void)state;
    planted rank_three = plant(120, (double[]){ 3, 2, 1 }, 3, 0, 0, 4);
    planted negative = plant(120, (double[]){ -3, -2, -1 }, 3, 0, 0, 4);
    planted nothing = plant(50, NULL, 0, 0, 0, 0);
    check(&rank_three, 8, 20, NULL);
    check(&negative, 8, 20, NULL);
    check(&nothing, 3, 20, NULL);
    uproot(&rank_three);
    uproot(&negative);
    uproot(&nothing);
}

static void all_or_all_but_one_are_found(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 40; n = n < 6 ? n + 1 : 2 * n) {
        planted apart = plant(n, NULL, 0, -1, 1, 2);
        planted pairs = plant(n, (double[]){ 0.5, 0.5, 0.5 }, n < 3 ? n : 3, 0, 0, 2);
        check(&apart, n, n, NULL);
        check(&pairs, n, n, NULL);
        if (n > 1) check(&apart, n - 1, n, NULL);
        if (n > 1) check(&pairs, n - 1, n, NULL);
        uproot(&apart);
        uproot(&pairs);
    }
    planted wide = plant(60, NULL, 0, -1, 1, 3); /* a basis that has no room for all */
    check(&wide, 40, 50, NULL);
    check(&wide, 40, 41, NULL);
    uproot(&wide);
}

static void a_start_within_an_invariant_subspace_leads_out_of_it(void **state)
{
    (void)state;
    const size_t n = 100;
    planted diagonal = plant(n, (double[]){ -1, -0.9, 1, 0.9, 0.8 }, 5, -0.5, 0.5, 0);
    double *const start = job_need(n, sizeof *start);
    start[0] = 1; /* an eigenvector, and the least */
    check(&diagonal, 3, 20, start);
    start[0] = start[1] = M_SQRT1_2; /* two dimensions */
    check(&diagonal, 3, 20, start);
    memset(start, 0, n * sizeof *start);
    for (size_t i = 5; i < n; i++) start[i] = 1 / sqrt((double)(n - 5)); /* all but the wanted */
    check(&diagonal, 3, 20, start);
    memset(start, 0, n * sizeof *start);
    start[2] = 1; /* the first that is wanted: all of it is there at once */
    check(&diagonal, 1, 20, start);
    free(start);
    uproot(&diagonal);
}

/* The same steps, whatever unit the matrix is in. */
static void the_scale_changes_nothing(void **state)
{
    (void)state;
    planted p = plant(150, (double[]){ 1, 1, 0.75 }, 3, -0.5, 0.5, 3);
    const int products = check(&p, 4, 20, NULL);
    for (int power = -300; power <= 300; power += 600) {
        planted scaled = plant(150, (double[]){ 1, 1, 0.75 }, 3, -0.5, 0.5, 3);
        for (size_t i = 0; i < p.n * p.n; i++) scaled.a[i] = ldexp(p.a[i], power);
        for (size_t i = 0; i < p.n; i++) scaled.values[i] = ldexp(p.values[i], power);
        assert_int_equal(check(&scaled, 4, 20, NULL), products);
        uproot(&scaled);
    }
    uproot(&p);
}

/* A path: its eigenvalues cos(pi j / (n + 1)) are too close at the top for so few restarts.  What
 * was not found is said, and a larger basis goes on from there. */
static void path(const void *matrix, const double *x, double *y)
{
    const size_t n = *(const size_t *)matrix;
    for (size_t i = 0; i < n; i++) y[i] = ((i > 0 ? x[i - 1] : 0) + (i + 1 < n ? x[i + 1] : 0)) / 2;
}

static void what_is_not_found_is_said_and_can_be_gone_on_with(void **state)
{
    (void)state;
    enum { N = 3000, Q = 3 };
    clo_error err;
    clo_rng *const rng = job_rng("path");
    clo_stream *stream = NULL;
    const size_t n = N;
    const clo_solver_input job = job_of(NULL, N, 0, rng);
    bool found = true;
    assert_ok(clo_i_stream_open(rng, 0, 0, &stream, &err), err);
    clo_lanczos l = { .count = N,
                      .wanted = Q,
                      .room = 160,
                      .multiply = path,
                      .matrix = &n,
                      .stream = stream,
                      .job = &job };
    assert_ok(clo_i_lanczos_new(&l, &err), err);
    assert_ok(clo_i_lanczos_run(&l, 6, 1e-9, &found, &err), err);
    assert_false(found);
    assert_ok(clo_i_lanczos_run(&l, 160, 1e-9, &found, &err), err);
    assert_true(found);
    for (size_t j = 0; j < Q; j++)
        assert_close(l.values[j], cos(M_PI * (double)(j + 1) / (N + 1)), 1e-10);
    clo_i_lanczos_free(&l);
    clo_i_stream_close(stream);
    clo_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_apart_are_found),
        cmocka_unit_test(values_close_together_are_told_apart),
        cmocka_unit_test(each_of_a_value_that_comes_often_is_found),
        cmocka_unit_test(noughts_are_found),
        cmocka_unit_test(all_or_all_but_one_are_found),
        cmocka_unit_test(a_start_within_an_invariant_subspace_leads_out_of_it),
        cmocka_unit_test(the_scale_changes_nothing),
        cmocka_unit_test(what_is_not_found_is_said_and_can_be_gone_on_with),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
