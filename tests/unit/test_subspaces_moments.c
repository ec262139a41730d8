/*
 * subspaces/moments: with a large budget it finds known flats, linear and affine, reduced or not
 * (subspaces_moments.T2); a release does not depend on threads or blocks; its plan spends the
 * budget and no more (subspaces_moments.T1), whatever is chosen; what it says of itself is about
  * right.
 */
#include "pipeline.h"
#include "linalg/linalg.h"
#include "plan/mechanism.h"
#include "measure/measure.h"
#include "random/random.h"

enum { ROWS = 4000, K = 3, Q = 2 };
static const double DELTA = 1e-5;

typedef struct sample {
    size_t cols;
    double *rows, *bases, *offsets;
    clo_bounded *data;
    clo_domain domain;
} sample;

/* Records on K random flats, off the origin by `away`, with a little noise. */
static sample make_sample(size_t cols, double away, clo_relation relation, const char *seed)
{
    clo_error err;
    clo_rng *const rng = seeded(seed);
    clo_stream *stream = NULL;
    sample s = { .cols = cols, .domain = ball(cols, 1, relation) };
    s.rows = calloc(ROWS * cols, sizeof *s.rows);
    s.bases = calloc(K * cols * Q, sizeof *s.bases);
    s.offsets = calloc(K * cols, sizeof *s.offsets);
    s.domain.rows = ROWS;
    assert_ok(clo_i_stream_open(rng, 0, 0, &stream, &err), err);
    for (size_t l = 0; l < K; l++) {
        double *const basis = s.bases + l * cols * Q, *const offset = s.offsets + l * cols;
        double wide[64 * (Q + 1)];
        for (size_t i = 0; i < cols * (Q + 1); i++) wide[i] = clo_i_random_normal(stream);
        assert_ok(clo_i_orthonormalize(wide, cols, Q + 1, &err), err);
        for (size_t j = 0; j < cols; j++) {
            for (size_t e = 0; e < Q; e++) basis[j * Q + e] = wide[j * (Q + 1) + e];
            offset[j] = away * wide[j * (Q + 1) + Q];
        }
    }
    for (size_t i = 0; i < ROWS; i++) {
        const size_t l = i % K;
        double y[Q];
        for (size_t e = 0; e < Q; e++) y[e] = 0.45 * clo_i_random_normal(stream);
        for (size_t j = 0; j < cols; j++) {
            double *const x = s.rows + i * cols + j;
            *x = s.offsets[l * cols + j] + 0.02 * clo_i_random_normal(stream);
            for (size_t e = 0; e < Q; e++) *x += s.bases[(l * cols + j) * Q + e] * y[e];
        }
    }
    clo_i_stream_close(stream);
    clo_rng_free(rng);
    s.data = bounded_from(s.rows, ROWS, &s.domain);
    return s;
}

static void drop_sample(sample *s)
{
    clo_bounded_free(s->data);
    free(s->rows);
    free(s->bases);
    free(s->offsets);
}

static double distance(const sample *s, const clo_release *release)
{
    clo_error err;
    clo_array bases;
    double d;
    assert_true(clo_release_find(release, "bases", &bases));
    assert_ok(clo_i_subspaces_distance(bases.data, s->bases, K, s->cols, Q, &d, &err), err);
    return d;
}

static double cost(const sample *s, const clo_release *release)
{
    clo_error err;
    clo_array bases, offsets;
    double mean;
    assert_true(clo_release_find(release, "bases", &bases));
    const bool affine = clo_release_find(release, "offsets", &offsets);
    const clo_flats flats = { K, s->cols, Q, affine ? offsets.data : NULL, bases.data };
    assert_ok(clo_i_flat_cost(&flats, s->rows, ROWS, &mean, &err), err);
    return mean;
}

static void known_flats_are_found(void **state)
{
    static const struct {
        size_t cols;
        double away;
        const char *settings;
        double distance;
    } cases[] = {
        { 6, 0, "clusters=3 dim=2 rounds=0", 0.1 },
        { 6, 0, "clusters=3 dim=2", 0.02 },
        { 24, 0, "clusters=3 dim=2 reduce=8", 0.15 },
        { 24, 0, "clusters=3 dim=2", 0.15 },
        { 10, 0.5, "clusters=3 dim=2 flats=affine rounds=2", 0.2 },
        { 10, 0.5, "clusters=3 dim=2 flats=affine", 0.1 },
        { 16, 0.5, "clusters=3 dim=2 flats=affine reduce=10 rounds=2", 0.2 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++) {
            sample s = make_sample(cases[i].cols, cases[i].away, (clo_relation)relation, "flats");
            clo_plan *const plan =
                plan_for("subspaces/moments", cases[i].settings, &s.domain, 20, DELTA);
            clo_release *const release = run_seeded(plan, s.data, "run", NULL);
            clo_array weights, doubt;
            const double found = distance(&s, release);
            print_message("# %s: d_W %.4f, cost %.5f\n", cases[i].settings, found,
                          cost(&s, release));
            assert_true(found < cases[i].distance);
            assert_true(cost(&s, release) < 0.02);
            assert_true(clo_release_find(release, "sizes", &weights));
            assert_true(clo_release_find(release, "uncertainty", &doubt));
            print_message("# weights %.0f %.0f %.0f\n", weights.data[0], weights.data[1],
                          weights.data[2]);
            for (size_t l = 0; l < K; l++) {
                assert_true(weights.data[l] > ROWS / 6.0 && weights.data[l] < ROWS / 2.0);
                assert_true(doubt.data[l] > 0 && doubt.data[l] < 0.3);
            }
            clo_release_free(release);
            clo_plan_free(plan);
            drop_sample(&s);
        }
}

static void a_release_does_not_depend_on_threads_or_blocks(void **state)
{
    static const char *const settings[] = { "clusters=3 dim=2 rounds=2 reduce=7",
                                            "clusters=3 dim=2 rounds=1 sharpen=2",
                                            "clusters=3 dim=2 flats=affine rounds=1" };
    sample s = make_sample(9, 0.2, CLO_REPLACE, "threads");
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        clo_plan *const plan = plan_for("subspaces/moments", settings[i], &s.domain, 2, DELTA);
        text first = { 0 };
        for (int turn = 0; turn < 4; turn++) {
            clo_run_options options = clo_run_options_default();
            options.threads = 1 + turn % 3;
            options.block_rows = turn < 2 ? 0 : 37;
            clo_release *const release = run_seeded(plan, s.data, "run", &options);
            text json = json_of(release);
            if (turn == 0)
                first = json;
            else
                assert_string_equal(json.bytes, first.bytes);
            if (turn) free(json.bytes);
            clo_release_free(release);
        }
        free(first.bytes);
        clo_plan_free(plan);
    }
    drop_sample(&s);
}

static void a_plan_spends_its_budget_and_no_more(void **state)
{
    static const double epsilons[] = { 0.1, 1, 10 };
    static const char *const settings[] = { "clusters=4 dim=2", "clusters=2 dim=3 rounds=3",
                                            "clusters=2 dim=1 flats=affine",
                                            "clusters=3 dim=2 reduce=8 rounds=0" };
    (void)state;
    for (size_t e = 0; e < 3; e++)
        for (size_t i = 0; i < 4; i++)
            for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++) {
                clo_error err;
                clo_domain domain = ball(12, 1, (clo_relation)relation);
                const char *meaning;
                double error;
                domain.rows = relation == CLO_REPLACE ? 5000 : 0;
                clo_plan *const plan =
                    plan_for("subspaces/moments", settings[i], &domain, epsilons[e], DELTA);
                const clo_price price = clo_plan_price(plan);
                assert_true(price.loss.epsilon <= epsilons[e]);
                assert_true(price.loss.epsilon > 0.999 * epsilons[e]);
                assert_ok(clo_plan_predict(plan, 5000, &error, &meaning, &err), err);
                assert_true(error > 0 && isfinite(error));
                clo_plan_free(plan);
            }
}

static clo_status try_plan(const char *settings, size_t cols, double delta, clo_error *err)
{
    clo_params *const params = params_for("subspaces/moments", settings);
    const clo_domain domain = ball(cols, 1, CLO_REPLACE);
    clo_plan *plan = NULL;
    const clo_status status =
        clo_plan_new(params, &domain, (clo_loss){ 1, delta }, CLO_EXACT, &plan, err);
    clo_plan_free(plan);
    clo_params_free(params);
    return status;
}

static void what_cannot_be_is_refused(void **state)
{
    clo_error err;
    (void)state;
    assert_fails(try_plan("clusters=2 dim=6", 5, DELTA, &err), CLO_ARGUMENT, err, "dim");
    assert_fails(try_plan("clusters=2 dim=2 reduce=9", 5, DELTA, &err), CLO_ARGUMENT, err,
                 "reduce");
    assert_fails(try_plan("clusters=2 dim=4 reduce=3", 9, DELTA, &err), CLO_ARGUMENT, err,
                 "reduce");
    assert_fails(try_plan("clusters=2 dim=2 reduce=0", 80, DELTA, &err), CLO_ARGUMENT, err,
                 "too large");
    assert_true(try_plan("clusters=2 dim=2", 5, 0, &err) != CLO_OK); /* delta must be above 0 */
    assert_non_null(strstr(err.message, "delta"));
}

/* More of the same: the spread of what is found, and what the release says of it. */
static void the_uncertainty_is_about_right(void **state)
{
    sample s = make_sample(6, 0, CLO_REPLACE, "doubt");
    clo_plan *const plan = plan_for("subspaces/moments", "clusters=3 dim=2", &s.domain, 0.5, DELTA);
    double found = 0, said = 0;
    (void)state;
    for (int turn = 0; turn < 8; turn++) {
        char seed[16];
        clo_array doubt;
        snprintf(seed, sizeof seed, "turn %d", turn);
        clo_release *const release = run_seeded(plan, s.data, seed, NULL);
        const double d = distance(&s, release);
        assert_true(clo_release_find(release, "uncertainty", &doubt));
        found += d * d / 8;
        for (size_t l = 0; l < K; l++) said += doubt.data[l] * doubt.data[l] / 8;
        clo_release_free(release);
    }
    print_message("# found %.4f, said %.4f\n", sqrt(found), sqrt(said));
    assert_true(said > found / 4 && said < found * 4);
    clo_plan_free(plan);
    drop_sample(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_flats_are_found),
        cmocka_unit_test(a_release_does_not_depend_on_threads_or_blocks),
        cmocka_unit_test(a_plan_spends_its_budget_and_no_more),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(the_uncertainty_is_about_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
