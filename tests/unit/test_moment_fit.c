/* moment_fit: from the tensor of known flats it finds them again, with a little noise nearly; any
 * number of threads gives the same; a refit stays near; nothing but noise is no trouble. */
#include "pipeline.h"
#include "linalg/linalg.h"
#include "measure/measure.h"
#include "random/random.h"
#include "solver/planes/moment_fit.h"

enum { D = 7, K = 3, Q = 2, THIN = K * D * Q, SIZE = D * (D + 1) * (D + 2) * (D + 3) / 24 };

typedef struct fixture {
    double truth[THIN], bases[THIN], moments[SIZE];
    clo_rng *rng;
} fixture;

static int make(void **state)
{
    clo_error err;
    static fixture f;
    clo_stream *stream = NULL;
    f.rng = seeded("moment fit");
    assert_ok(clo_i_stream_open(f.rng, 0, 0, &stream, &err), err);
    for (size_t i = 0; i < THIN; i++) f.bases[i] = clo_i_random_normal(stream);
    for (size_t l = 0; l < K; l++)
        assert_ok(clo_i_orthonormalize(f.bases + l * D * Q, D, Q, &err), err);
    for (size_t i = 0; i < THIN; i++) /* clusters and directions of different sizes */
        f.truth[i] = f.bases[i] * (1 + 0.3 * (double)(i / (D * Q))) * (i % Q ? 0.7 : 1);
    const clo_moment_model model = { .factors = f.truth, .spread = 0.05 };
    clo_i_moment_of_model(&model, D, K, Q, false, f.moments);
    clo_i_stream_close(stream);
    *state = &f;
    return 0;
}

static int drop(void **state)
{
    clo_rng_free(((fixture *)*state)->rng);
    return 0;
}

static clo_moment_job job_for(const fixture *f, const double *moments, double noise, int threads)
{
    return (clo_moment_job){ .moments = moments,
                             .noise = noise,
                             .cols = D,
                             .clusters = K,
                             .dim = Q,
                             .starts = 16,
                             .ask = 5,
                             .rng = f->rng,
                             .threads = threads };
}

static double distance(const fixture *f, double *factors)
{
    clo_error err;
    double d;
    for (size_t l = 0; l < K; l++)
        assert_ok(clo_i_orthonormalize(factors + l * D * Q, D, Q, &err), err);
    assert_ok(clo_i_subspaces_distance(factors, f->bases, K, D, Q, &d, &err), err);
    return d;
}

static void exact_moments_give_the_flats_back(void **state)
{
    clo_error err;
    const fixture *const f = *state;
    const clo_moment_job job = job_for(f, f->moments, 1e-7, 1);
    double factors[THIN];
    clo_moment_model model = { .factors = factors };
    assert_ok(clo_i_moment_fit(&job, &model, &err), err);
    assert_true(fabs(model.spread - 0.05) < 1e-3);
    assert_true(distance(f, factors) < 1e-3);
}

/* Clusters about means: the flats come back, and so do the moments.  (Mean and direction do not:
 * with two columns they may change places.) */
static void flats_about_means_are_found(void **state)
{
    clo_error err;
    const fixture *const f = *state;
    double moments[SIZE], again[SIZE], factors[THIN], worst = 0;
    const clo_moment_model truth = { .factors = (double *)f->truth, .spread = 0 };
    clo_i_moment_of_model(&truth, D, K, Q, true, moments);
    clo_moment_job job = job_for(f, moments, 1e-7, 1);
    clo_moment_model model = { .factors = factors };
    job.means = true;
    assert_ok(clo_i_moment_fit(&job, &model, &err), err);
    clo_i_moment_of_model(&model, D, K, Q, true, again);
    for (size_t i = 0; i < SIZE; i++) worst = fmax(worst, fabs(again[i] - moments[i]));
    assert_true(worst < 1e-3);
    assert_true(distance(f, factors) < 1e-2);
}

/* Ends of the fit that noise cannot tell apart: the best one first, and none twice. */
static void several_ends_come_in_the_order_of_their_losses(void **state)
{
    enum { MOST = 6 };
    clo_error err;
    const fixture *const f = *state;
    const double noise = 0.1;
    const clo_moment_job job = job_for(f, f->moments, noise, 1);
    double rooms[MOST][THIN], best[THIN];
    clo_moment_model models[MOST], one = { .factors = best };
    size_t found = 0, nearly = 0;
    for (size_t i = 0; i < MOST; i++) models[i].factors = rooms[i];
    assert_ok(clo_i_moment_fit(&job, &one, &err), err);
    assert_ok(clo_i_moment_fit_several(&job, MOST, INFINITY, models, &found, &err), err);
    assert_memory_equal(best, rooms[0], sizeof best);
    assert_in_range(found, 2, MOST);
    const double unit = 2 * noise * noise;
    for (size_t i = 1; i < found; i++)
        assert_true(models[i].loss > models[i - 1].loss + 0.01 * unit);
    const double within = (models[1].loss - models[0].loss) / unit / 2;
    assert_ok(clo_i_moment_fit_several(&job, MOST, within, models, &nearly, &err), err);
    assert_int_equal(nearly, 1);
}

static void any_number_of_threads_gives_the_same(void **state)
{
    clo_error err;
    const fixture *const f = *state;
    double first[THIN], factors[THIN];
    for (int threads = 1; threads <= 3; threads++) {
        const clo_moment_job job = job_for(f, f->moments, 0.1, threads);
        clo_moment_model model = { .factors = threads == 1 ? first : factors };
        assert_ok(clo_i_moment_fit(&job, &model, &err), err);
        if (threads > 1) assert_memory_equal(first, factors, sizeof first);
    }
}

static void noise_moves_it_a_little_and_a_refit_stays_near(void **state)
{
    clo_error err;
    const fixture *const f = *state;
    double moments[SIZE], factors[THIN], copy[THIN];
    clo_stream *stream = NULL;
    assert_ok(clo_i_stream_open(f->rng, 1, 0, &stream, &err), err);
    for (size_t i = 0; i < SIZE; i++)
        moments[i] = f->moments[i] + 0.01 * clo_i_random_normal(stream);
    const clo_moment_job job = job_for(f, moments, 0.02, 1);
    clo_moment_model model = { .factors = factors };
    assert_ok(clo_i_moment_fit(&job, &model, &err), err);
    const double loss = model.loss;
    memcpy(copy, factors, sizeof copy);
    assert_true(distance(f, copy) < 0.2);
    assert_ok(clo_i_moment_refit(&job, &model, &err), err);
    assert_true(fabs(model.loss - loss) < 1e-6 * fabs(loss));
    clo_i_stream_close(stream);
}

static void nothing_but_noise_gives_finite_flats(void **state)
{
    clo_error err;
    const fixture *const f = *state;
    double moments[SIZE], factors[THIN];
    for (int sign = -1; sign <= 1; sign++) {
        for (size_t i = 0; i < SIZE; i++) moments[i] = sign * (1 + sin((double)i));
        const clo_moment_job job = job_for(f, moments, 1, 1);
        clo_moment_model model = { .factors = factors };
        assert_ok(clo_i_moment_fit(&job, &model, &err), err);
        for (size_t i = 0; i < THIN; i++) assert_true(isfinite(factors[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_moments_give_the_flats_back),
        cmocka_unit_test(flats_about_means_are_found),
        cmocka_unit_test(several_ends_come_in_the_order_of_their_losses),
        cmocka_unit_test(any_number_of_threads_gives_the_same),
        cmocka_unit_test(noise_moves_it_a_little_and_a_refit_stays_near),
        cmocka_unit_test(nothing_but_noise_gives_finite_flats),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
