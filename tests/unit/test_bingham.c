/* The Bingham samplers give orthonormal frames, keep to their arguments, and come to the means that
 * an independent implementation found (bingham.T3); the laws themselves are tests/statistical. */
#include "pipeline.h"
#include "bingham/bingham.h"
#include "linalg/linalg.h"

enum { MOST = 50 * 50 };

/* n points near a q-dimensional subspace; to length 1, or into the unit ball. */
static void make_gram(clo_rng *rng, size_t n, size_t d, size_t q, double noise, bool to_sphere,
                      double *gram, double *basis)
{
    clo_subspace_model model = clo_subspace_model_default();
    double *const x = calloc(n * d, sizeof *x);
    clo_error err;
    model.rows = n;
    model.cols = d;
    model.clusters = 1;
    model.dim = q;
    model.noise = noise;
    assert_ok(clo_generate_subspaces(&model, rng, x, NULL, basis, &err), err);
    memset(gram, 0, d * d * sizeof *gram);
    for (size_t i = 0; i < n; i++) {
        double square = 0;
        for (size_t j = 0; j < d; j++) square += x[i * d + j] * x[i * d + j];
        if (!to_sphere && square < 1) square = 1;
        for (size_t a = 0; a < d; a++)
            for (size_t b = 0; b < d; b++) gram[a * d + b] += x[i * d + a] * x[i * d + b] / square;
    }
    free(x);
}

static clo_bingham *law(const double *gram, size_t d, size_t q, double weight)
{
    double weights[16];
    clo_bingham *made = NULL;
    clo_error err;
    for (size_t r = 0; r < q; r++) weights[r] = weight;
    assert_ok(clo_bingham_new((clo_matrix){ gram, d, d, d }, weights, q, &made, &err), err);
    return made;
}

static double energy(const double *gram, size_t d, size_t q, const double *u)
{
    double sum = 0;
    for (size_t r = 0; r < q; r++)
        for (size_t a = 0; a < d; a++)
            for (size_t b = 0; b < d; b++) sum += gram[a * d + b] * u[a * q + r] * u[b * q + r];
    return sum;
}

static double disorder(const double *u, size_t d, size_t q)
{
    double worst = 0;
    for (size_t r = 0; r < q; r++)
        for (size_t s = 0; s <= r; s++) {
            double sum = r == s ? -1 : 0;
            for (size_t i = 0; i < d; i++) sum += u[i * q + r] * u[i * q + s];
            worst = fmax(worst, fabs(sum));
        }
    return worst;
}

static void frames_stay_orthonormal(void **state)
{
    static const struct {
        size_t d, q;
        double weight;
    } cases[] = { { 1, 1, 1 },    { 4, 4, 10 },   { 10, 3, 0.05 }, { 10, 9, 5 },
                  { 10, 3, 1e3 }, { 10, 3, 1e6 }, { 50, 9, 5 },    { 10, 5, -50 } };
    double gram[MOST], u[MOST];
    clo_error err;
    clo_rng *const rng = seeded("frames");
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const size_t d = cases[c].d, q = cases[c].q;
        make_gram(rng, 300, d, q < 3 ? q : 3, 0.05, true, gram, NULL);
        clo_bingham *const b = law(gram, d, q, cases[c].weight);
        assert_ok(clo_bingham_uniform(d, q, rng, u, &err), err);
        assert_true(disorder(u, d, q) < 1e-12);
        for (int i = 0; i < 20; i++) {
            assert_ok(clo_bingham_sweep(b, rng, 10, u, &err), err);
            assert_true(disorder(u, d, q) < 1e-12);
        }
        if (d <= 4) {
            assert_ok(clo_bingham_exact(b, rng, 100000, u, NULL, &err), err);
            assert_true(disorder(u, d, q) < 1e-12);
        }
        clo_bingham_free(b);
    }
    clo_rng_free(rng);
}

/* Reference: mean tr U'AU over its largest value at epsilon = .1, 1, 10, 100, density
 * exp((epsilon/2) tr U'AU).  They are of one data set each, and another one: the tolerance is three
 * standard errors of the difference, as our data sets show it, and half a unit of the last printed
 * digit. */
static void the_means_are_those_of_another_implementation(void **state)
{
    static const struct {
        size_t d, q, n;
        int sets, sweeps;
        double mean[4];
    } cases[] = { { 10, 3, 333, 8, 2000, { .4683, .9353, .9936, .9994 } },
                  { 50, 9, 320, 4, 150, { .2050, .2944, .8727, .9873 } } };
    static const double epsilons[] = { 0.1, 1, 10, 100 };
    double gram[MOST], copy[MOST], u[MOST], values[50], vectors[MOST];
    double scratch[50 * 140 + 50 * 50];
    clo_error err;
    clo_rng *const rng = seeded("means");
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (size_t e = 0; e < 4; e++) {
            const size_t d = cases[c].d, q = cases[c].q;
            double sum = 0, square = 0;
            for (int set = 0; set < cases[c].sets; set++) {
                double mean = 0, best = 0;
                make_gram(rng, cases[c].n, d, q, 0.05, true, gram, NULL);
                memcpy(copy, gram, d * d * sizeof *copy);
                assert_true(clo_i_eigen_scratch(d, q) <= sizeof scratch / sizeof *scratch);
                assert_ok(clo_i_eigen_top(copy, d, q, values, vectors, scratch, &err), err);
                for (size_t r = 0; r < q; r++) best += values[r];
                clo_bingham *const b = law(gram, d, q, epsilons[e] / 2);
                assert_ok(clo_bingham_uniform(d, q, rng, u, &err), err);
                assert_ok(clo_bingham_sweep(b, rng, 100, u, &err), err);
                for (int sweep = 0; sweep < cases[c].sweeps; sweep++) {
                    assert_ok(clo_bingham_sweep(b, rng, 1, u, &err), err);
                    mean += energy(gram, d, q, u) / best / cases[c].sweeps;
                }
                sum += mean;
                square += mean * mean;
                clo_bingham_free(b);
            }
            const double sets = cases[c].sets, mean = sum / sets;
            const double spread = sqrt(fmax(square - sets * mean * mean, 0) / (sets - 1));
            assert_close(mean, cases[c].mean[e], 3 * spread * sqrt(1 + 1 / sets) + 5e-5);
            assert_true(spread < 0.01); /* or it could not fail */
        }
    clo_rng_free(rng);
}

/* Reference: mean ||sin Theta||_F from the true subspace for one private subspace (weight
 * epsilon/2), data in the unit ball. */
static void single_subspaces_are_as_far_as_the_reference_says(void **state)
{
    static const struct {
        size_t d, q, n;
        double noise, epsilon, distance;
    } cases[] = { { 5, 3, 1667, .01, .1, .314 }, { 5, 3, 1667, .01, 1, .099 },
                  { 5, 3, 1667, .01, 10, .032 }, { 10, 3, 333, .1, .1, 1.280 },
                  { 10, 3, 333, .1, 1, .463 },   { 10, 3, 333, .1, 10, .149 } };
    enum { SETS = 10, DRAWS = 200 };
    double gram[MOST], truth[MOST], u[MOST], sines[16];
    clo_error err;
    clo_rng *const rng = seeded("single");
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const size_t d = cases[c].d, q = cases[c].q;
        double sum = 0, square = 0;
        for (int set = 0; set < SETS; set++) {
            double mean = 0;
            make_gram(rng, cases[c].n, d, q, cases[c].noise, false, gram, truth);
            clo_bingham *const b = law(gram, d, q, cases[c].epsilon / 2);
            assert_ok(clo_bingham_uniform(d, q, rng, u, &err), err);
            assert_ok(clo_bingham_sweep(b, rng, 100, u, &err), err);
            for (int i = 0; i < DRAWS; i++) {
                double total = 0;
                assert_ok(clo_bingham_sweep(b, rng, 5, u, &err), err);
                assert_ok(clo_i_sin_angles(u, truth, d, q, sines, &err), err);
                for (size_t j = 0; j < q; j++) total += sines[j] * sines[j];
                mean += sqrt(total) / DRAWS;
            }
            sum += mean;
            square += mean * mean;
            clo_bingham_free(b);
        }
        const double mean = sum / SETS;
        const double spread = sqrt(fmax(square / SETS - mean * mean, 0) / (SETS - 1));
        /* Theirs is a mean of few draws, too. */
        assert_close(mean, cases[c].distance, 3 * spread + 0.04 * cases[c].distance);
    }
    clo_rng_free(rng);
}

static void weights_of_their_own_put_the_columns_in_order(void **state)
{
    const double gram[9] = { 9, 0, 0, 0, 5, 0, 0, 0, 1 }, weights[2] = { 400, -400 };
    double u[6];
    clo_bingham *b = NULL;
    clo_error err;
    clo_rng *const rng = seeded("weights");
    (void)state;
    assert_ok(clo_bingham_new((clo_matrix){ gram, 3, 3, 3 }, weights, 2, &b, &err), err);
    assert_ok(clo_bingham_uniform(3, 2, rng, u, &err), err);
    assert_ok(clo_bingham_sweep(b, rng, 50, u, &err), err);
    assert_true(fabs(u[0]) > 0.95 && fabs(u[5]) > 0.95); /* the largest, and the smallest */
    assert_fails(clo_bingham_exact(b, rng, 10, u, NULL, &err), CLO_UNSUPPORTED, err, "equal");
    clo_bingham_free(b);
    clo_rng_free(rng);
}

static void the_same_seed_gives_the_same_frame(void **state)
{
    double gram[100], u[2][30];
    clo_error err;
    (void)state;
    for (int i = 0; i < 2; i++) {
        clo_rng *const rng = seeded("same");
        make_gram(rng, 50, 10, 3, 0.1, true, gram, NULL);
        clo_bingham *const b = law(gram, 10, 3, 2);
        assert_ok(clo_bingham_uniform(10, 3, rng, u[i], &err), err);
        assert_ok(clo_bingham_sweep(b, rng, 20, u[i], &err), err);
        clo_bingham_free(b);
        clo_rng_free(rng);
    }
    assert_same_doubles(u[0], u[1], 30);
}

static void what_makes_no_sense_is_refused(void **state)
{
    double gram[4] = { 1, 0, 0, 1 }, weights[3] = { 1, 1, 1 }, u[4] = { 1, 1, 0, 1 }, x[1];
    const clo_matrix a = { gram, 2, 2, 2 };
    clo_bingham *b = NULL;
    clo_error err;
    clo_rng *const rng = seeded("refused");
    (void)state;
    assert_fails(clo_bingham_new(a, weights, 3, &b, &err), CLO_ARGUMENT, err, "between 1 and d");
    assert_fails(clo_bingham_new(a, weights, 0, &b, &err), CLO_ARGUMENT, err, "between 1 and d");
    assert_fails(clo_bingham_new((clo_matrix){ gram, 2, 1, 2 }, weights, 1, &b, &err), CLO_ARGUMENT,
                 err, "square");
    gram[2] = NAN;
    assert_fails(clo_bingham_new(a, weights, 1, &b, &err), CLO_ARGUMENT, err, "finite");
    gram[2] = 0;
    weights[1] = INFINITY;
    assert_fails(clo_bingham_new(a, weights, 2, &b, &err), CLO_ARGUMENT, err, "weight");
    weights[1] = 1;
    assert_null(b);
    assert_ok(clo_bingham_new(a, weights, 2, &b, &err), err);
    assert_fails(clo_bingham_sweep(b, rng, 1, u, &err), CLO_ARGUMENT, err, "orthonormal");
    assert_true(u[1] == 1 && u[3] == 1);
    clo_bingham_free(b);
    clo_bingham_free(NULL);
    assert_fails(clo_bingham_uniform(2, 3, rng, u, &err), CLO_ARGUMENT, err, "columns");
    assert_fails(clo_bingham_coordinate(-0.6, 1, rng, 1, x, &err), CLO_ARGUMENT, err, "k must");
    assert_fails(clo_bingham_coordinate(0, INFINITY, rng, 1, x, &err), CLO_ARGUMENT, err, "a must");
    clo_rng_free(rng);
}

/* Where it is not practical, an exact draw says so; where it is, its bound holds (bingham.T4). */
static void exact_draws_know_their_limits(void **state)
{
    double gram[MOST], u[MOST], bound;
    uint64_t tries = 0, all = 0;
    clo_error err;
    clo_rng *const rng = seeded("limits");
    (void)state;
    make_gram(rng, 320, 50, 9, 0.05, true, gram, NULL);
    clo_bingham *const wide = law(gram, 50, 9, 5);
    assert_fails(clo_bingham_exact(wide, rng, 100, u, &tries, &err), CLO_UNSUPPORTED, err,
                 "not practical");
    clo_bingham_free(wide);
    make_gram(rng, 30, 10, 3, 0.05, true, gram, NULL);
    clo_bingham *const narrow = law(gram, 10, 3, 0.05);
    assert_ok(clo_bingham_acceptance(narrow, &bound, &err), err);
    for (int i = 0; i < 400; i++) {
        assert_ok(clo_bingham_exact(narrow, rng, 100000, u, &tries, &err), err);
        all += tries;
    }
    assert_true(bound > 0.3 && bound <= 1);
    assert_true(400.0 / (double)all > 0.9 * bound);
    clo_bingham_free(narrow);
    /* One dimension less than all: a vector, and always practical. */
    make_gram(rng, 300, 10, 9, 0.05, true, gram, NULL);
    clo_bingham *const normal = law(gram, 10, 9, 1e4);
    assert_ok(clo_bingham_exact(normal, rng, 200, u, &tries, &err), err);
    clo_bingham_free(normal);
    clo_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_stay_orthonormal),
        cmocka_unit_test(the_means_are_those_of_another_implementation),
        cmocka_unit_test(single_subspaces_are_as_far_as_the_reference_says),
        cmocka_unit_test(weights_of_their_own_put_the_columns_in_order),
        cmocka_unit_test(the_same_seed_gives_the_same_frame),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(exact_draws_know_their_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
