/* subspaces/gibbs finds subspaces and flats, says how far its guarantee reaches
 * (subspaces_gibbs.T1, subspaces_gibbs.T2), and refuses what would not be private. */
#include "pipeline.h"
#include "plan/mechanism.h"
#include "measure/measure.h"
#include "linalg/linalg.h"
#include "random/random.h"

enum { ROWS = 600, D = 5, K = 2, Q = 2 };

static double values[ROWS * D], truth[K * D * Q];

static void generate(const char *seed)
{
    clo_error err;
    clo_subspace_model model = clo_subspace_model_default();
    clo_rng *const rng = seeded(seed);
    model.rows = ROWS;
    model.cols = D;
    model.clusters = K;
    model.dim = Q;
    model.noise = 0.02;
    assert_ok(clo_generate_subspaces(&model, rng, values, NULL, truth, &err), err);
    clo_rng_free(rng);
}

static clo_domain domain_of(clo_relation relation)
{
    clo_domain domain = ball(D, 1, relation);
    if (relation == CLO_REPLACE) domain.rows = ROWS;
    return domain;
}

static clo_status try_plan(const char *settings, const clo_domain *domain, double epsilon,
                           double delta, clo_guarantee accept, clo_plan **plan, clo_error *err)
{
    clo_params *const params = params_for("subspaces/gibbs", settings);
    const clo_status status =
        clo_plan_new(params, domain, (clo_loss){ epsilon, delta }, accept, plan, err);
    clo_params_free(params);
    return status;
}

static clo_plan *plan_it(const char *settings, const clo_domain *domain, double epsilon,
                         double delta)
{
    clo_plan *plan = NULL;
    clo_error err;
    assert_ok(try_plan(settings, domain, epsilon, delta, CLO_ASYMPTOTIC, &plan, &err), err);
    return plan;
}

static double distance_of(const clo_release *release)
{
    clo_array bases;
    double distance;
    clo_error err;
    assert_true(clo_release_find(release, "bases", &bases));
    assert_int_equal(bases.dimensions, 3);
    assert_ok(clo_i_subspaces_distance(bases.data, truth, K, D, Q, &distance, &err), err);
    return distance;
}

static double run_for_distance(const char *settings, const clo_domain *domain, double epsilon,
                               double delta)
{
    clo_plan *const plan = plan_it(settings, domain, epsilon, delta);
    clo_bounded *const data = bounded_from(values, ROWS, domain);
    clo_release *const release = run_seeded(plan, data, "run", NULL);
    const double distance = distance_of(release);
    clo_release_free(release);
    clo_bounded_free(data);
    clo_plan_free(plan);
    return distance;
}

static void subspaces_are_found_in_every_mode(void **state)
{
    (void)state;
    generate("modes");
    for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++) {
        const clo_domain domain = domain_of((clo_relation)relation);
        assert_true(run_for_distance("clusters=2 dim=2 sweeps=300", &domain, 20, 0) < 0.4);
        assert_true(run_for_distance("clusters=2 dim=2 score=min sweeps=600", &domain, 10, 0) <
                    0.4);
        assert_true(run_for_distance("clusters=2 dim=2 mode=steps sweeps=8", &domain, 100, 1e-6) <
                    0.6);
        assert_true(run_for_distance("clusters=2 dim=2 mode=steps draw=columns sweeps=8", &domain,
                                     100, 1e-6) < 0.6);
    }
    /* More budget is better: a factor of three at least, from 1 to 50. */
    const clo_domain domain = domain_of(CLO_REPLACE);
    assert_true(run_for_distance("clusters=2 dim=2 score=min sweeps=600", &domain, 1, 0) >
                3 * run_for_distance("clusters=2 dim=2 score=min sweeps=600", &domain, 50, 0));
}

static void a_solver_can_start_the_limit(void **state)
{
    const clo_domain domain = domain_of(CLO_REPLACE);
    (void)state;
    if (!clo_solver_find("kplanes")) skip();
    generate("solver");
    assert_true(run_for_distance("clusters=2 dim=2 start=kplanes sweeps=20", &domain, 50, 0) < 0.3);
}

/* Two parallel-less flats off the origin. */
static void affine_flats_are_found(void **state)
{
    enum { FLAT_ROWS = 1500 };
    static double rows[FLAT_ROWS * 3];
    clo_domain domain = ball(3, 1, CLO_REPLACE);
    clo_rng *const rng = seeded("flats");
    clo_array bases, offsets;
    clo_stream *stream = NULL;
    clo_error err;
    double cost;
    (void)state;
    assert_ok(clo_i_stream_open(rng, 0, 0, &stream, &err), err);
    for (size_t i = 0; i < FLAT_ROWS; i++) {
        const double t = 0.8 * (2 * clo_i_random_unit(stream) - 1);
        const double point[2][3] = { { t, 0.5, 0 }, { -0.3, -0.4, t } };
        for (size_t j = 0; j < 3; j++) rows[i * 3 + j] = point[i % 2][j];
    }
    clo_i_stream_close(stream);
    clo_rng_free(rng);
    domain.rows = FLAT_ROWS;
    clo_plan *const plan =
        plan_it("clusters=2 dim=1 flats=affine score=min sweeps=800", &domain, 50, 0);
    clo_bounded *const data = bounded_from(rows, FLAT_ROWS, &domain);
    clo_release *const release = run_seeded(plan, data, "run", NULL);
    assert_true(clo_release_find(release, "bases", &bases));
    assert_true(clo_release_find(release, "offsets", &offsets));
    assert_int_equal(bases.shape[2], 1);
    const clo_flats flats = { 2, 3, 1, offsets.data, bases.data };
    assert_ok(clo_i_flat_cost(&flats, rows, FLAT_ROWS, &cost, &err), err);
    assert_true(cost < 0.01); /* of lines through the origin, .1 at the least */
    clo_release_free(release);
    clo_bounded_free(data);
    clo_plan_free(plan);
}

static void the_guarantee_is_that_of_the_mode(void **state)
{
    const clo_domain domain = domain_of(CLO_REPLACE);
    clo_plan *plan = NULL;
    clo_error err;
    (void)state;
    assert_fails(try_plan("", &domain, 1, 0, CLO_IDEALIZED, &plan, &err), CLO_ARGUMENT, err,
                 "asymptotic");
    assert_fails(try_plan("mode=steps", &domain, 1, 0, CLO_EXACT, &plan, &err), CLO_ARGUMENT, err,
                 "idealized");
    assert_ok(try_plan("mode=steps", &domain, 1, 0, CLO_IDEALIZED, &plan, &err), err);
    assert_int_equal(clo_plan_guarantee(plan), CLO_IDEALIZED);
    clo_plan_free(plan);
    plan = plan_it("", &domain, 1, 0);
    assert_int_equal(clo_plan_guarantee(plan), CLO_ASYMPTOTIC);
    assert_int_equal(clo_mechanism_guarantee(clo_plan_mechanism(plan)), CLO_ASYMPTOTIC);
    clo_plan_free(plan);
}

/* gibbs.T1: one draw at the whole epsilon; gibbs.T2: min(q, d - q) or q draws a sweep. */
static void every_draw_is_in_the_plan(void **state)
{
    static const struct {
        const char *settings;
        uint64_t draws;
    } cases[] = { { "clusters=3 dim=2", 1 },
                  { "clusters=3 dim=2 labels=yes", 1 },
                  { "clusters=3 dim=2 mode=steps sweeps=7", 14 },
                  { "clusters=3 dim=4 mode=steps sweeps=7", 7 },
                  { "clusters=3 dim=5 mode=steps sweeps=7", 7 },
                  { "clusters=3 dim=4 mode=steps sweeps=7 draw=columns", 28 },
                  { "clusters=3 dim=4 mode=steps sweeps=7 labels=yes", 8 },
                  { "clusters=3 dim=2 mode=steps sweeps=7 flats=affine", 21 } };
    const clo_domain domain = domain_of(CLO_REPLACE);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        clo_plan *const plan = plan_it(cases[i].settings, &domain, 2, 0);
        assert_int_equal(plan->line_count, 1);
        assert_int_equal(plan->lines[0].event.kind, CLO_EVENT_EXPONENTIAL);
        assert_int_equal(plan->lines[0].event.count, cases[i].draws);
        assert_close(plan->lines[0].event.parameter * (double)cases[i].draws, 2, 1e-6);
        clo_plan_free(plan);
    }
    /* The rate in the exponent: epsilon/2 where a record is replaced, epsilon where it comes. */
    for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++) {
        const clo_domain seen = domain_of((clo_relation)relation);
        clo_plan *const plan = plan_it("", &seen, 2, 0);
        const clo_line *const line = &plan->lines[0];
        assert_close((double)line->rate_numerator / (double)line->rate_denominator,
                     relation == CLO_REPLACE ? 1 : 2, 1e-8);
        clo_plan_free(plan);
    }
}

static void what_would_not_be_private_is_refused(void **state)
{
    const clo_domain replace = domain_of(CLO_REPLACE), other = domain_of(CLO_ADD_REMOVE);
    clo_plan *plan = NULL;
    clo_error err;
    (void)state;
    assert_fails(try_plan("labels=yes", &other, 1, 0, CLO_ASYMPTOTIC, &plan, &err), CLO_ARGUMENT,
                 err, "replace");
    const clo_domain undeclared = ball(D, 1, CLO_REPLACE);
    assert_fails(try_plan("labels=yes", &undeclared, 1, 0, CLO_ASYMPTOTIC, &plan, &err),
                 CLO_ARGUMENT, err, "number of rows");
    assert_fails(try_plan("labels=yes score=min", &replace, 1, 0, CLO_ASYMPTOTIC, &plan, &err),
                 CLO_ARGUMENT, err, "no labels");
    assert_fails(try_plan("mode=steps start=kplanes", &replace, 1, 0, CLO_ASYMPTOTIC, &plan, &err),
                 CLO_ARGUMENT, err, "start=uniform");
    assert_fails(try_plan("mode=steps score=min", &replace, 1, 0, CLO_ASYMPTOTIC, &plan, &err),
                 CLO_ARGUMENT, err, "mode=limit");
    assert_fails(try_plan("dim=6", &replace, 1, 0, CLO_ASYMPTOTIC, &plan, &err), CLO_ARGUMENT, err,
                 "columns");
    assert_null(plan);
}

static void labels_come_where_they_are_asked_for(void **state)
{
    const clo_domain domain = domain_of(CLO_REPLACE);
    clo_array labels;
    (void)state;
    generate("labels");
    clo_plan *const plan = plan_it("clusters=2 dim=2 labels=yes sweeps=50", &domain, 20, 0);
    clo_bounded *const data = bounded_from(values, ROWS, &domain);
    clo_release *const release = run_seeded(plan, data, "run", NULL);
    assert_true(clo_release_find(release, "labels", &labels));
    assert_int_equal(labels.shape[0], ROWS);
    for (size_t i = 0; i < ROWS; i++) assert_true(labels.data[i] == 0 || labels.data[i] == 1);
    clo_release_free(release);
    clo_bounded_free(data);
    clo_plan_free(plan);
}

/* A record far outside counts as the one on the ball: bit for bit. */
static void a_record_is_clipped(void **state)
{
    const clo_domain domain = domain_of(CLO_REPLACE);
    static const char *const settings[] = { "clusters=2 dim=2 sweeps=20",
                                            "clusters=2 dim=2 score=min sweeps=20",
                                            "clusters=2 dim=2 mode=steps sweeps=3" };
    clo_array first, second;
    (void)state;
    generate("clip");
    for (size_t s = 0; s < 3; s++) {
        clo_plan *const plan = plan_it(settings[s], &domain, 5, 1e-6);
        memset(values, 0, D * sizeof *values);
        values[1] = 1e6;
        clo_bounded *const far = bounded_from(values, ROWS, &domain);
        values[1] = 1;
        clo_bounded *const near = bounded_from(values, ROWS, &domain);
        clo_release *const a = run_seeded(plan, far, "run", NULL);
        clo_release *const b = run_seeded(plan, near, "run", NULL);
        assert_true(clo_release_find(a, "bases", &first) && clo_release_find(b, "bases", &second));
        assert_same_doubles(first.data, second.data, K * D * Q);
        clo_release_free(a);
        clo_release_free(b);
        clo_bounded_free(far);
        clo_bounded_free(near);
        clo_plan_free(plan);
    }
}

static void threads_and_blocks_do_not_show(void **state)
{
    const clo_domain domain = domain_of(CLO_REPLACE);
    clo_run_options options[2] = { clo_run_options_default(), clo_run_options_default() };
    clo_array arrays[2];
    clo_release *releases[2];
    (void)state;
    generate("threads");
    options[0].threads = 1;
    options[1].threads = 3;
    options[1].block_rows = 7;
    clo_plan *const plan = plan_it("clusters=2 dim=2 sweeps=20 labels=yes", &domain, 5, 0);
    clo_bounded *const data = bounded_from(values, ROWS, &domain);
    for (int i = 0; i < 2; i++) {
        releases[i] = run_seeded(plan, data, "run", &options[i]);
        assert_true(clo_release_find(releases[i], "bases", &arrays[i]));
    }
    assert_same_doubles(arrays[0].data, arrays[1].data, K * D * Q);
    for (int i = 0; i < 2; i++) clo_release_free(releases[i]);
    clo_bounded_free(data);
    clo_plan_free(plan);
}

/* No records, one, and many of the zero record: a run succeeds on all of them. */
static void it_succeeds_on_whatever_data_there_are(void **state)
{
    static const char *const settings[] = { "clusters=3 dim=2 sweeps=5",
                                            "clusters=3 dim=2 score=min sweeps=5",
                                            "clusters=3 dim=5 mode=steps sweeps=3",
                                            "clusters=3 dim=2 flats=affine sweeps=5",
                                            "clusters=3 dim=2 mode=steps draw=columns sweeps=3",
                                            "clusters=3 dim=2 start=kplanes sweeps=3" };
    const clo_domain domain = domain_of(CLO_ADD_REMOVE);
    static const size_t counts[] = { 0, 1, 4, 100 };
    (void)state;
    memset(values, 0, sizeof values);
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++) {
        if (s == 5 && !clo_solver_find("kplanes")) continue;
        clo_plan *const plan = plan_it(settings[s], &domain, 300, 0);
        for (size_t c = 0; c < 4; c++) {
            clo_bounded *const data = bounded_from(values, counts[c], &domain);
            clo_release_free(run_seeded(plan, data, "run", NULL));
            clo_bounded_free(data);
        }
        clo_plan_free(plan);
    }
}

static void mixed_units_come_back(void **state)
{
    double lower[D], upper[D];
    clo_domain domain = clo_domain_default();
    clo_array bases;
    double distance;
    clo_error err;
    (void)state;
    generate("units");
    for (size_t j = 0; j < D; j++) {
        const double unit = pow(10, (double)j - 2);
        lower[j] = -1.2 * unit;
        upper[j] = 1.2 * unit;
        for (size_t i = 0; i < ROWS; i++) values[i * D + j] *= unit;
    }
    domain.cols = D;
    domain.lower = lower;
    domain.upper = upper;
    clo_plan *const plan = plan_it("clusters=2 dim=2 score=min sweeps=600", &domain, 200, 0);
    clo_bounded *const data = bounded_from(values, ROWS, &domain);
    clo_release *const release = run_seeded(plan, data, "run", NULL);
    assert_true(clo_release_find(release, "bases", &bases));
    static double back[K * D * Q];
    memcpy(back, bases.data, sizeof back);
    for (size_t l = 0; l < K; l++) {
        for (size_t j = 0; j < D; j++)
            for (size_t r = 0; r < Q; r++) back[(l * D + j) * Q + r] /= pow(10, (double)j - 2);
        assert_ok(clo_i_orthonormalize(back + l * D * Q, D, Q, &err), err);
    }
    assert_ok(clo_i_subspaces_distance(back, truth, K, D, Q, &distance, &err), err);
    assert_true(distance < 0.3);
    clo_release_free(release);
    clo_bounded_free(data);
    clo_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(subspaces_are_found_in_every_mode),
        cmocka_unit_test(a_solver_can_start_the_limit),
        cmocka_unit_test(affine_flats_are_found),
        cmocka_unit_test(the_guarantee_is_that_of_the_mode),
        cmocka_unit_test(every_draw_is_in_the_plan),
        cmocka_unit_test(what_would_not_be_private_is_refused),
        cmocka_unit_test(labels_come_where_they_are_asked_for),
        cmocka_unit_test(a_record_is_clipped),
        cmocka_unit_test(threads_and_blocks_do_not_show),
        cmocka_unit_test(it_succeeds_on_whatever_data_there_are),
        cmocka_unit_test(mixed_units_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
