/* center_fit: the derivatives are those of the loss, in both orders; from the moments of known
 * round clusters it finds their centres, sizes and spread again (kmeans_moments.T2), with a little
 * noise nearly; any number of threads gives the same; nothing but noise is no trouble. */
#include "pipeline.h"
#include "random/random.h"
#include "solver/centers/center_fit.h"
#include "solver/centers/center_tensor.h"

enum { OWN = 4, D = OWN + 1, K = 3, MOST = D * (D + 1) * (D + 2) * (D + 3) / 24 };
static const double CONSTANT = 0.45, RADIUS = 0.9, SPREAD = 0.01;

static const double truth[K * OWN] = { 0.5, 0.3, 0, 0.1, -0.4, 0.2, 0.3, 0, 0, -0.5, 0.2, -0.3 };
static const double sizes[K] = { 1000, 1500, 700 };

static clo_center_job job_for(int order, const double *moments, double noise, clo_rng *rng,
                              int threads)
{
    return (clo_center_job){ .order = order,
                             .moments = moments,
                             .noise = noise,
                             .cols = D,
                             .constant = CONSTANT,
                             .radius = RADIUS,
                             .clusters = K,
                             .starts = 8,
                             .ask = 5,
                             .rng = rng,
                             .threads = threads };
}

static size_t true_moments(int order, double *moments)
{
    clo_error err;
    double centers[K * OWN], weights[K];
    const clo_center_shape shape = clo_i_center_shape(order, D, K);
    const clo_center_job job = job_for(order, NULL, 0, NULL, 1);
    memcpy(centers, truth, sizeof truth);
    memcpy(weights, sizes, sizeof sizes);
    const clo_center_model model = { .centers = centers, .weights = weights, .spread = SPREAD };
    assert_ok(clo_i_center_moments(&job, &model, moments, &err), err);
    return clo_i_center_entries(&shape);
}

/* The farthest that a true centre is from the nearest found one. */
static double farthest(const double *centers)
{
    double worst = 0;
    for (size_t t = 0; t < K; t++) {
        double nearest = INFINITY;
        for (size_t c = 0; c < K; c++) {
            double square = 0;
            for (size_t j = 0; j < OWN; j++)
                square += pow(centers[c * OWN + j] - truth[t * OWN + j], 2);
            nearest = fmin(nearest, sqrt(square));
        }
        worst = fmax(worst, nearest);
    }
    return worst;
}

/* kmeans_moments.T2: for one cluster on the axis of one column, by hand. */
static void moments_are_those_of_round_clusters(void **state)
{
    enum { TWO = 2 };
    clo_error err;
    double center = 0.5, weight = 2, third[4], fourth[5];
    clo_center_job job = { .order = 3, .cols = TWO, .constant = 0.3, .clusters = 1 };
    const clo_center_model model = { .centers = &center, .weights = &weight, .spread = 0.04 };
    (void)state;
    assert_ok(clo_i_center_moments(&job, &model, third, &err), err);
    job.order = 4;
    assert_ok(clo_i_center_moments(&job, &model, fourth, &err), err);
    const double one = 0.5, two = one * one + 0.04, h = 0.3;
    const double three = one * one * one + 3 * one * 0.04;
    const double four = pow(one, 4) + 6 * one * one * 0.04 + 3 * 0.04 * 0.04;
    const double expect3[] = { three, two * h, one * h * h, h * h * h };
    const double expect4[] = { four, three * h, two * h * h, one * pow(h, 3), pow(h, 4) };
    for (size_t e = 0; e < 4; e++) assert_true(fabs(third[e] - 2 * expect3[e]) < 1e-12);
    for (size_t e = 0; e < 5; e++) assert_true(fabs(fourth[e] - 2 * expect4[e]) < 1e-12);
}

static void derivatives_are_those_of_the_loss(void **state)
{
    (void)state;
    for (int order = 3; order <= 4; order++) {
        const clo_center_shape shape = clo_i_center_shape(order, D, K);
        double moments[MOST], z[K * D], w[K], by_z[K * D], by_w[K], by_t, spare[K * D], more, less;
        double *const room =
            calloc(clo_i_center_bench_size(&shape) + shape.rows * shape.pairs, sizeof *room);
        double *const target = room + clo_i_center_bench_size(&shape);
        clo_center_bench bench = clo_i_center_bench(&shape, room);
        true_moments(order, moments);
        clo_i_center_spread_out(&shape, moments, 1000, target);
        for (size_t e = 0; e < K * D; e++) z[e] = sin((double)(e * e + 1));
        for (size_t c = 0; c < K; c++) w[c] = 0.3 + 0.1 * (double)c;
        const clo_center_point point = { .z = z, .weights = w, .variance = 0.02 };
        clo_i_center_loss(&shape, target, point, &bench, by_z, by_w, &by_t);
        const double step = 1e-5;
        for (size_t e = 0; e < K * D + K; e++) {
            double *const at = e < K * D ? z + e : w + (e - K * D);
            const double before = *at, slope = e < K * D ? by_z[e] : by_w[e - K * D];
            *at = before + step;
            more = clo_i_center_loss(&shape, target, point, &bench, spare, spare, &by_t);
            *at = before - step;
            less = clo_i_center_loss(&shape, target, point, &bench, spare, spare, &by_t);
            *at = before;
            assert_true(fabs((more - less) / (2 * step) - slope) < 1e-5 * (1 + fabs(slope)));
        }
        clo_center_point moved = point;
        clo_i_center_loss(&shape, target, point, &bench, by_z, by_w, &by_t);
        const double slope = by_t;
        moved.variance += step;
        more = clo_i_center_loss(&shape, target, moved, &bench, by_z, by_w, &by_t);
        moved.variance -= 2 * step;
        less = clo_i_center_loss(&shape, target, moved, &bench, by_z, by_w, &by_t);
        assert_true(fabs((more - less) / (2 * step) - slope) < 1e-5 * (1 + fabs(slope)));
        free(room);
    }
}

static void finds_the_centres_of_an_exact_tensor(void **state)
{
    (void)state;
    for (int order = 3; order <= 4; order++) {
        clo_error err;
        clo_rng *const rng = seeded("center fit");
        double moments[MOST], centers[K * OWN], weights[K];
        clo_center_model model = { .centers = centers, .weights = weights };
        true_moments(order, moments);
        const clo_center_job job = job_for(order, moments, 0, rng, 2);
        assert_ok(clo_i_center_fit(&job, &model, &err), err);
        assert_true(farthest(centers) < 1e-2);
        assert_true(fabs(model.spread - SPREAD) < 1e-3);
        assert_true(fabs(weights[0] + weights[1] + weights[2] - 3200) < 30);
        clo_rng_free(rng);
    }
}

static void add_noise(clo_rng *rng, int order, double noise, size_t count, double *moments)
{
    clo_error err;
    clo_stream *stream = NULL;
    (void)order;
    assert_ok(clo_i_stream_open(rng, 1, 0, &stream, &err), err);
    for (size_t e = 0; e < count; e++) moments[e] += noise * clo_i_random_normal(stream);
    clo_i_stream_close(stream);
}

static void noise_moves_them_a_little_and_threads_do_not(void **state)
{
    (void)state;
    for (int order = 3; order <= 4; order++) {
        clo_error err;
        clo_rng *const rng = seeded("center noise");
        double moments[MOST], centers[K * OWN], weights[K], again[K * OWN];
        clo_center_model model = { .centers = centers, .weights = weights };
        add_noise(rng, order, 2, true_moments(order, moments), moments);
        clo_center_job job = job_for(order, moments, 2, rng, 1);
        assert_ok(clo_i_center_fit(&job, &model, &err), err);
        assert_true(farthest(centers) < 0.08);
        memcpy(again, centers, sizeof again);
        job.threads = 3;
        assert_ok(clo_i_center_fit(&job, &model, &err), err);
        assert_memory_equal(again, centers, sizeof again);
        assert_ok(clo_i_center_refit(&job, &model, &err), err);
        for (size_t e = 0; e < K * OWN; e++) assert_true(fabs(again[e] - centers[e]) < 0.02);
        clo_rng_free(rng);
    }
}

static void nothing_but_noise_is_no_trouble(void **state)
{
    (void)state;
    for (int order = 3; order <= 4; order++) {
        clo_error err;
        clo_rng *const rng = seeded("center nothing");
        double moments[MOST] = { 0 }, centers[K * OWN], weights[K];
        clo_center_model model = { .centers = centers, .weights = weights };
        const clo_center_shape shape = clo_i_center_shape(order, D, K);
        add_noise(rng, order, 50, clo_i_center_entries(&shape), moments);
        const clo_center_job job = job_for(order, moments, 50, rng, 1);
        assert_ok(clo_i_center_fit(&job, &model, &err), err);
        for (size_t e = 0; e < K * OWN; e++) assert_true(isfinite(centers[e]));
        for (size_t c = 0; c < K; c++) assert_true(isfinite(weights[c]) && weights[c] >= 0);
        clo_rng_free(rng);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_are_those_of_round_clusters),
        cmocka_unit_test(derivatives_are_those_of_the_loss),
        cmocka_unit_test(finds_the_centres_of_an_exact_tensor),
        cmocka_unit_test(noise_moves_them_a_little_and_threads_do_not),
        cmocka_unit_test(nothing_but_noise_is_no_trouble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
