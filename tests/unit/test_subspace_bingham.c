/* subspace/bingham finds the subspace as well as predicted, by any draw; each draw is charged
 * (subspace_bingham.T1), a limit once (subspace_bingham.T2); nothing hangs; and `auto` takes it
 * only where it is accepted and best. */
#include "pipeline.h"
#include "plan/mechanism.h"
#include "linalg/linalg.h"

enum { ROWS = 3000, D = 6, Q = 2, RUNS = 30 };

static clo_plan *accepted(const char *settings, const clo_domain *domain, clo_loss budget)
{
    clo_error err;
    clo_plan *plan = NULL;
    clo_params *const params = params_for("subspace/bingham", settings);
    assert_ok(clo_plan_new(params, domain, budget, CLO_ASYMPTOTIC, &plan, &err), err);
    clo_params_free(params);
    return plan;
}

static clo_status refused(const char *settings, const clo_domain *domain, clo_loss budget,
                          clo_guarantee accept)
{
    clo_error err;
    clo_plan *plan = NULL;
    clo_params *const params = params_for("subspace/bingham", settings);
    const clo_status status = clo_plan_new(params, domain, budget, accept, &plan, &err);
    clo_plan_free(plan);
    clo_params_free(params);
    return status;
}

static void generate(double *values, double *basis)
{
    clo_error err;
    clo_subspace_model model = clo_subspace_model_default();
    clo_rng *const rng = seeded("frame");
    model.rows = ROWS;
    model.cols = D;
    model.clusters = 1;
    model.dim = Q;
    model.noise = 0.01;
    assert_ok(clo_generate_subspaces(&model, rng, values, NULL, basis, &err), err);
    clo_rng_free(rng);
}

static double squared_distance(const double *u, const double *v, size_t d, size_t q)
{
    double total = (double)q;
    for (size_t a = 0; a < q; a++)
        for (size_t b = 0; b < q; b++) {
            double dot = 0;
            for (size_t j = 0; j < d; j++) dot += u[j * q + a] * v[j * q + b];
            total -= dot * dot;
        }
    return fmax(total, 0);
}

static double mean_distance(const clo_plan *plan, const clo_bounded *data, const double *truth)
{
    double mean = 0;
    clo_array basis;
    for (int run = 0; run < RUNS; run++) {
        char seed[8];
        snprintf(seed, sizeof seed, "%d", run);
        clo_release *const release = run_seeded(plan, data, seed, NULL);
        assert_true(clo_release_find(release, "basis", &basis));
        mean += sqrt(squared_distance(basis.data, truth, D, Q)) / RUNS;
        clo_release_free(release);
    }
    return mean;
}

static void the_subspace_is_found_as_well_as_predicted(void **state)
{
    static const char *const ways[] = { "dim=2 reach=1", "dim=2 reach=1 draw=matrix",
                                        "dim=2 reach=1 draw=sweeps" };
    static const clo_guarantee guarantees[] = { CLO_IDEALIZED, CLO_IDEALIZED, CLO_ASYMPTOTIC };
    static double values[ROWS * D], truth[D * Q];
    clo_error err;
    (void)state;
    generate(values, truth);
    for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++) {
        const clo_domain domain = ball(D, 1, (clo_relation)relation);
        clo_bounded *const data = bounded_from(values, ROWS, &domain);
        for (size_t way = 0; way < 3; way++) {
            double predicted;
            const char *meaning;
            clo_plan *const plan = accepted(ways[way], &domain, (clo_loss){ 1, 0 });
            assert_int_equal(plan->lines[0].event.count, way ? 1 : Q);
            assert_int_equal(clo_plan_guarantee(plan), guarantees[way]);
            assert_ok(clo_plan_predict(plan, ROWS, &predicted, &meaning, &err), err);
            const double mean = mean_distance(plan, data, truth);
            assert_true(mean < 1.3 * predicted && mean > predicted / 1.3);
            clo_plan_free(plan);
        }
        clo_bounded_free(data);
    }
}

/* The exponent ranges over epsilon where a record comes or goes, over half of it either way where
 * one is replaced; a complement is drawn where it is smaller; the whole space costs one draw. */
static void the_plan_prices_each_draw(void **state)
{
    const clo_loss budget = { 1, 0 };
    (void)state;
    for (size_t q = 1; q <= D; q++) {
        char settings[16];
        snprintf(settings, sizeof settings, "dim=%zu", q);
        clo_domain domain = ball(D, 1, CLO_REPLACE);
        clo_plan *const replace = accepted(settings, &domain, budget);
        domain.relation = CLO_ADD_REMOVE;
        clo_plan *const come = accepted(settings, &domain, budget);
        const clo_line *const a = replace->lines, *const b = come->lines;
        const uint64_t drawn = q == D ? 1 : q < D - q ? q : D - q;
        assert_int_equal(a->event.count, drawn);
        assert_int_equal(a->event.kind, CLO_EVENT_EXPONENTIAL);
        assert_close(a->event.parameter * (double)drawn, 1, 1e-6);
        assert_true(2 * b->rate_denominator == a->rate_denominator);
        assert_true(b->rate_numerator == a->rate_numerator);
        clo_plan_free(replace);
        clo_plan_free(come);
    }
}

static void refuses_what_cannot_be(void **state)
{
    const clo_domain domain = ball(40, 1, CLO_REPLACE);
    const clo_loss pure = { 1, 0 };
    (void)state;
    assert_int_equal(refused("dim=2", &domain, pure, CLO_EXACT), CLO_ARGUMENT);
    assert_int_equal(refused("dim=41", &domain, pure, CLO_IDEALIZED), CLO_ARGUMENT);
    assert_int_equal(refused("dim=6 draw=matrix", &domain, pure, CLO_IDEALIZED), CLO_ARGUMENT);
    assert_int_equal(refused("dim=37 draw=matrix", &domain, pure, CLO_IDEALIZED), CLO_OK);
    assert_int_equal(refused("dim=6 draw=sweeps", &domain, pure, CLO_IDEALIZED), CLO_ARGUMENT);
    assert_int_equal(refused("dim=2", &domain, (clo_loss){ 1e3, 0 }, CLO_IDEALIZED), CLO_ARGUMENT);
}

/* Data of one direction, where rejection of whole frames would never end, and a wide matrix. */
static void sequences_and_sweeps_end_whatever_the_data(void **state)
{
    enum { WIDE = 200, FEW = 50 };
    static double values[FEW * WIDE];
    const clo_domain domain = ball(WIDE, 1, CLO_REPLACE);
    clo_array basis;
    (void)state;
    for (size_t i = 0; i < FEW; i++) values[i * WIDE] = 1;
    clo_bounded *const data = bounded_from(values, FEW, &domain);
    static const struct {
        const char *settings;
        double epsilon;
    } cases[] = { { "dim=5", 0.1 },
                  { "dim=5", 1 },
                  { "dim=5", 10 },
                  { "dim=5", 100 },
                  { "dim=5 draw=sweeps", 10 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        clo_plan *const plan =
            accepted(cases[i].settings, &domain, (clo_loss){ cases[i].epsilon, 1e-6 });
        clo_release *const release = run_seeded(plan, data, "wide", NULL);
        assert_true(clo_release_find(release, "basis", &basis));
        for (size_t a = 0; a < 5; a++)
            for (size_t b = 0; b < 5; b++) {
                double dot = 0;
                for (size_t j = 0; j < WIDE; j++)
                    dot += basis.data[j * 5 + a] * basis.data[j * 5 + b];
                assert_close(dot, a == b, 1e-10);
            }
        clo_release_free(release);
        clo_plan_free(plan);
    }
    clo_bounded_free(data);
}

/* ---- the choice of a method -------------------------------------------------------------- */

static const char *method_of(clo_loss budget, clo_guarantee accept, uint64_t rows, double *error)
{
    const clo_setting settings[] = { { "dim", "1" } };
    clo_domain domain = ball(200, 1, CLO_REPLACE);
    const char *meaning, *method;
    clo_error err;
    clo_plan *plan = NULL;
    domain.rows = rows;
    assert_ok(clo_plan_auto("subspace", settings, 1, &domain, budget, accept, &plan, &err), err);
    assert_ok(clo_plan_predict(plan, (double)rows, error, &meaning, &err), err);
    method = clo_mechanism_method(clo_plan_mechanism(plan));
    clo_plan_free(plan);
    return method;
}

/* Tilts are as 1/sqrt(rows) by a draw and as 1/rows by a matrix: the draw wins where rows are few
 * or delta is tiny, and where it is 0 nothing else serves. */
static void the_better_of_what_is_accepted_is_chosen(void **state)
{
    const clo_loss loss = { 1, 1e-6 };
    double exact, best;
    (void)state;
    assert_string_equal(method_of(loss, CLO_EXACT, 10, &exact), "gaussian");
    assert_string_equal(method_of(loss, CLO_IDEALIZED, 10, &best), "bingham");
    assert_true(best < exact);
    assert_string_equal(method_of(loss, CLO_IDEALIZED, 1000000, &best), "gaussian");
    assert_string_equal(method_of((clo_loss){ 1, 0 }, CLO_IDEALIZED, 1000000, &best), "bingham");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_subspace_is_found_as_well_as_predicted),
        cmocka_unit_test(the_plan_prices_each_draw),
        cmocka_unit_test(refuses_what_cannot_be),
        cmocka_unit_test(sequences_and_sweeps_end_whatever_the_data),
        cmocka_unit_test(the_better_of_what_is_accepted_is_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
