/* A run that learns its norm and centre first: one budget, one charge, and what comes out is as
 * good as if they had been known (learn.T1, bound.T5). */
#include "pipeline.h"
#include "counted.h"
#include "bytes_file.h"
#include "bound/bound.h"
#include "plan/mechanism.h"
#include "ask/lens.h"

enum { ROWS = 20000, D = 2, K = 3 };

/* Three heaps about (500, -300), within 10 of it, where up to 100,000 is thinkable. */
static const double truth[K][D] = { { 494, -300 }, { 503, -295 }, { 503, -305 } };
static const double MOST = 1e5;

static double *heaps(void)
{
    static double values[ROWS * D];
    clo_error err;
    clo_mixture_model model = clo_mixture_model_default();
    clo_rng *const rng = seeded("heaps");
    model.rows = ROWS;
    model.cols = D;
    model.clusters = 1;
    model.noise = 0.5;
    model.spread = 0;
    assert_ok(clo_generate_mixture(&model, rng, values, NULL, NULL, &err), err);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < D; j++) values[i * D + j] += truth[i % K][j];
    clo_rng_free(rng);
    return values;
}

static clo_plan *plan_learning(const clo_domain *domain, const clo_learning *learning,
                               clo_loss budget)
{
    clo_error err;
    clo_loss rest;
    assert_ok(clo_learning_rest(learning, budget, &rest, &err), err);
    clo_plan *const plan =
        plan_for("kmeans/lloyd", "clusters=3 rounds=6", domain, rest.epsilon, rest.delta);
    assert_ok(clo_plan_learn(plan, learning, budget, &err), err);
    return plan;
}

static double farthest(const clo_release *release)
{
    clo_array centers;
    double worst = 0;
    assert_true(clo_release_find(release, "centers", &centers));
    for (size_t t = 0; t < K; t++) {
        double nearest = INFINITY;
        for (size_t c = 0; c < K; c++)
            nearest = fmin(nearest, hypot(centers.data[c * D] - truth[t][0],
                                          centers.data[c * D + 1] - truth[t][1]));
        worst = fmax(worst, nearest);
    }
    return worst;
}

static void far_away_heaps_are_found_with_one_budget(void **state)
{
    (void)state;
    for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++)
        for (int pure = 0; pure < 2; pure++) {
            const clo_domain domain = ball(D, MOST, (clo_relation)relation);
            const clo_loss budget = { 4, pure ? 0 : 1e-6 };
            clo_learning learning = clo_learning_default();
            clo_array norm, center;
            int found = 0;
            learning.norm = learning.center = true;
            clo_plan *const plan = plan_learning(&domain, &learning, budget);
            clo_bounded *const data = bounded_from(heaps(), ROWS, &domain);
            assert_int_equal(clo_plan_line_count(plan), 4);
            assert_true(clo_plan_price(plan).loss.epsilon <= 4);
            assert_true(clo_plan_budget(plan).epsilon >= 4);
            for (int run = 0; run < 4; run++) {
                char seed[8];
                snprintf(seed, sizeof seed, "%d", run);
                clo_release *const release = run_seeded(plan, data, seed, NULL);
                assert_true(clo_release_find(release, "learnt_norm", &norm));
                assert_true(clo_release_find(release, "learnt_center", &center));
                assert_true(hypot(center.data[0] - 500, center.data[1] + 300) < 3);
                assert_true(norm.data[0] > 5 && norm.data[0] < 12);
                found += farthest(release) < 0.5;
                clo_release_free(release);
            }
            assert_true(found >= 3); /* the others are Lloyd's local minima */
            clo_bounded_free(data);
            clo_plan_free(plan);
        }
}

static void a_norm_alone_is_learnt_about_the_public_centre(void **state)
{
    const double middle[D] = { 500, -300 };
    clo_domain domain = ball(D, MOST, CLO_ADD_REMOVE);
    clo_learning learning = clo_learning_default();
    clo_array norm, center;
    (void)state;
    domain.center = middle;
    learning.norm = true;
    clo_plan *const plan = plan_learning(&domain, &learning, (clo_loss){ 2, 1e-6 });
    clo_bounded *const data = bounded_from(heaps(), ROWS, &domain);
    clo_release *const release = run_seeded(plan, data, "norm", NULL);
    assert_int_equal(clo_plan_line_count(plan), 2);
    assert_true(clo_release_find(release, "learnt_norm", &norm));
    assert_false(clo_release_find(release, "learnt_center", &center));
    assert_true(norm.data[0] > 5 && norm.data[0] < 12);
    clo_release_free(release);
    clo_bounded_free(data);
    clo_plan_free(plan);
}

static void a_centre_alone_keeps_the_public_norm(void **state)
{
    const clo_domain domain = ball(D, 1000, CLO_REPLACE);
    clo_learning learning = clo_learning_default();
    clo_array center;
    (void)state;
    learning.center = true;
    learning.norm_about = 10;
    clo_plan *const plan = plan_learning(&domain, &learning, (clo_loss){ 4, 1e-6 });
    clo_bounded *const data = bounded_from(heaps(), ROWS, &domain);
    clo_release *const release = run_seeded(plan, data, "center", NULL);
    assert_int_equal(clo_plan_line_count(plan), 2);
    assert_true(clo_release_find(release, "learnt_center", &center));
    assert_true(hypot(center.data[0] - 500, center.data[1] + 300) < 5);
    assert_true(farthest(release) < 6);
    clo_release_free(release);
    clo_bounded_free(data);
    clo_plan_free(plan);
}

/* bound.T5 */
static void records_are_moved_one_by_one(void **state)
{
    const double rows[] = { 3, 4, -1, 0.5, 0, 0 }, shift[] = { 1, 1 };
    const clo_domain wide = ball(D, 8, CLO_REPLACE), narrow = ball(D, 2, CLO_REPLACE);
    clo_bounded *const data = bounded_from(rows, 3, &wide);
    clo_bounded *moved = NULL;
    clo_workspace *space = NULL;
    clo_error err;
    double seen[3 * D];
    size_t count;
    (void)state;
    const size_t planned = recenter_bytes(data, true);
    assert_ok(clo_workspace_new(planned, &space, &err), err);
    assert_ok(clo_i_recenter_take(space, data, true, &moved, &err), err);
    assert_ok(clo_i_recenter(data, &narrow, shift, moved, &err), err);
    assert_ok(clo_i_block_load(moved, 0, 16, 20, seen, &count, &err), err);
    const double length = hypot(2, 3);
    const double wanted[] = { 2 / length,           3 / length, -2 / hypot(2, 0.5),
                              -0.5 / hypot(2, 0.5), -0.5,       -0.5 };
    assert_int_equal(count, 3);
    for (size_t i = 0; i < 3 * D; i++) assert_close(ldexp(seen[i], -20), wanted[i], 1e-5);
    /* The same room again, and without a shift. */
    assert_ok(clo_i_recenter(data, &wide, NULL, moved, &err), err);
    assert_ok(clo_i_block_load(moved, 0, 16, 20, seen, &count, &err), err);
    for (size_t i = 0; i < 3 * D; i++) assert_close(8 * ldexp(seen[i], -20), rows[i], 1e-4);
    assert_true(clo_i_workspace_peak(space) == planned);
    clo_bounded_free(moved);
    clo_bounded_free(data);
    clo_workspace_free(space);
}

static clo_status learn(clo_learning learning, const char *mechanism, const char *settings,
                        const clo_domain *domain, clo_error *err)
{
    clo_plan *const plan = plan_for(mechanism, settings, domain, 0.5, 1e-7);
    const clo_status status = clo_plan_learn(plan, &learning, (clo_loss){ 1, 1e-6 }, err);
    clo_plan_free(plan);
    return status;
}

static void refuses_what_cannot_be_learnt(void **state)
{
    const double lower[D] = { 0, 0 }, upper[D] = { 1, 1 };
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_domain box = clo_domain_default();
    clo_learning learning = clo_learning_default();
    clo_error err;
    (void)state;
    box.cols = D;
    box.lower = lower;
    box.upper = upper;
    assert_int_equal(learn(learning, "kmeans/lloyd", "", &domain, &err), CLO_ARGUMENT);
    learning.norm = true;
    assert_int_equal(learn(learning, "kmeans/lloyd", "", &box, &err), CLO_OK);
    assert_int_equal(learn(learning, "bounds/quantile", "", &domain, &err), CLO_UNSUPPORTED);
    learning.norm_share = 0.99; /* beside it, the plan costs too much */
    assert_int_equal(learn(learning, "kmeans/lloyd", "", &domain, &err), CLO_BUDGET);
    learning.norm_share = 1;
    assert_int_equal(learn(learning, "kmeans/lloyd", "", &domain, &err), CLO_ARGUMENT);
    learning = clo_learning_default();
    learning.center = true;
    assert_int_equal(learn(learning, "kmeans/lloyd", "", &box, &err), CLO_DOMAIN);
}

/* What a run could come to is tried when it is planned, not when it has been paid for. */
static void refuses_what_could_fail_on_the_data(void **state)
{
    const double middle[D] = { 100, 0 };
    clo_domain domain = ball(D, 1e-147, CLO_REPLACE);
    clo_learning norm = clo_learning_default(), center = clo_learning_default(), both;
    clo_error err;
    (void)state;
    norm.norm = center.center = true;
    both = norm;
    both.center = true;
    assert_fails(learn(norm, "kmeans/lloyd", "", &domain, &err), CLO_DOMAIN, err, "may come to");
    assert_int_equal(learn(center, "kmeans/lloyd", "", &domain, &err), CLO_OK);
    domain.norm = 6e149; /* about a centre, twice that */
    assert_int_equal(learn(norm, "kmeans/lloyd", "", &domain, &err), CLO_OK);
    assert_fails(learn(both, "kmeans/lloyd", "", &domain, &err), CLO_DOMAIN, err, "may come to");
    domain = ball(D, 10, CLO_REPLACE); /* a norm of 10 about (110, 0), in steps of 1/scale */
    domain.center = middle;
    char scale[64];
    snprintf(scale, sizeof scale, "dim=1 scale=%.17g", 0x1p30 / 115);
    assert_fails(learn(center, "subspace/exact", scale, &domain, &err), CLO_ARGUMENT, err,
                 "too long");
    snprintf(scale, sizeof scale, "dim=1 scale=%.17g", 0x1p30 / 121);
    assert_int_equal(learn(center, "subspace/exact", scale, &domain, &err), CLO_OK);
    center.norm_about = 1e-200;
    assert_fails(learn(center, "kmeans/lloyd", "", &domain, &err), CLO_DOMAIN, err, "may come to");
    center.norm_about = 40;
    assert_fails(learn(center, "subspace/exact", scale, &domain, &err), CLO_ARGUMENT, err,
                 "too long");
}

/* The budget of it all is held to what a plan's is, whatever the mechanism was planned for. */
static void refuses_a_budget_that_no_plan_could_have(void **state)
{
    static const clo_loss budgets[] = { { INFINITY, 1e-6 }, { NAN, 1e-6 }, { 400, 1e-6 },
                                        { 1, 1 },           { 1, 1e-30 },  { 1, NAN } };
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_learning learning = clo_learning_default();
    clo_error err;
    clo_plan *const plan = plan_for("kmeans/lloyd", "", &domain, 0.5, 1e-7);
    (void)state;
    learning.norm = true;
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
        assert_int_equal(clo_plan_learn(plan, &learning, budgets[i], &err), CLO_ARGUMENT);
        assert_null(clo_plan_learning(plan));
    }
    assert_ok(clo_plan_learn(plan, &learning, (clo_loss){ 1, 1e-6 }, &err), err);
    clo_plan_free(plan);
}

/* A token, and a grant, are for one way of learning. */
static void what_is_learnt_is_part_of_the_plan(void **state)
{
    const clo_domain domain = ball(D, MOST, CLO_REPLACE);
    clo_learning learning = clo_learning_default();
    learning.norm = true;
    clo_plan *const first = plan_learning(&domain, &learning, (clo_loss){ 1, 1e-6 });
    learning.quantile = 0.9;
    clo_plan *const second = plan_learning(&domain, &learning, (clo_loss){ 1, 1e-6 });
    (void)state;
    assert_memory_not_equal(first->id, second->id, sizeof first->id);
    assert_non_null(clo_plan_learning(first));
    clo_plan_free(first);
    clo_plan_free(second);
}

/* With learning, what the mechanism was planned for is the caller's: two plans that spend the same
 * budget may divide it in other ways. */
static void a_grant_is_for_one_division_of_the_budget(void **state)
{
    static const clo_loss rests[] = { { 0.05, 1e-7 }, { 1.8, 1e-6 } };
    const clo_domain domain = ball(D, MOST, CLO_REPLACE);
    clo_learning learning = clo_learning_default();
    clo_params *const params = params_for("kmeans/aggregate", "");
    clo_plan *plans[2];
    clo_error err;
    (void)state;
    learning.norm = true;
    for (int i = 0; i < 2; i++) {
        plans[i] = NULL;
        assert_ok(clo_plan_new(params, &domain, rests[i], CLO_IDEALIZED, &plans[i], &err), err);
        assert_ok(clo_plan_learn(plans[i], &learning, (clo_loss){ 2, 1e-6 }, &err), err);
    }
    assert_memory_not_equal(plans[0]->id, plans[1]->id, sizeof plans[0]->id);
    for (int i = 0; i < 2; i++) clo_plan_free(plans[i]);
    clo_params_free(params);
}

static clo_bounded *sparse_rows(size_t rows, const clo_domain *domain)
{
    static char bytes[8192 * 8];
    clo_read_options options = clo_read_options_default();
    clo_error err;
    clo_table *table = NULL;
    clo_bounded *data = NULL;
    options.format = "libsvm";
    options.cols = domain->cols;
    for (size_t i = 0; i < rows; i++) memcpy(bytes + 6 * i, "1 2:1\n", 6);
    const bytes_file file = bytes_file_open(bytes, 6 * rows);
    assert_ok(clo_table_read(file.path, &options, &table, &err), err);
    assert_ok(clo_bound(table, domain, &data, &err), err);
    clo_table_free(table);
    bytes_file_close(file);
    return data;
}

/* About a centre no entry is zero.  What that would take is known before anything is spent, and by
 * public facts: where the number of rows is none, it decides nothing. */
static void sparse_rows_are_not_written_out_without_bound(void **state)
{
    static const struct {
        size_t cols, rows;
        clo_relation relation;
        uint64_t told;
        clo_status status;
    } cases[] = {
        { 60000, 4000, CLO_REPLACE, 0, CLO_OK },
        { 60000, 5000, CLO_REPLACE, 0, CLO_UNSUPPORTED },
        { 60000, 5000, CLO_ADD_REMOVE, 0, CLO_OK },
        { 60000, 10, CLO_ADD_REMOVE, 5000, CLO_UNSUPPORTED },
    };
    clo_learning learning = clo_learning_default();
    clo_error err;
    (void)state;
    learning.center = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        clo_domain domain = ball(cases[i].cols, 1, cases[i].relation);
        domain.rows = cases[i].told;
        clo_plan *const plan = plan_learning(&domain, &learning, (clo_loss){ 2, 1e-6 });
        clo_bounded *const data = sparse_rows(cases[i].rows, &domain);
        assert_int_equal(clo_plan_check_data(plan, data, &err), cases[i].status);
        clo_bounded_free(data);
        clo_plan_free(plan);
    }
    const clo_domain wide = ball(70000, 1, CLO_REPLACE);
    assert_fails(learn(learning, "kmeans/lloyd", "", &wide, &err), CLO_UNSUPPORTED, err, "columns");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(far_away_heaps_are_found_with_one_budget),
        cmocka_unit_test(a_norm_alone_is_learnt_about_the_public_centre),
        cmocka_unit_test(a_centre_alone_keeps_the_public_norm),
        cmocka_unit_test(records_are_moved_one_by_one),
        cmocka_unit_test(refuses_what_cannot_be_learnt),
        cmocka_unit_test(refuses_what_could_fail_on_the_data),
        cmocka_unit_test(refuses_a_budget_that_no_plan_could_have),
        cmocka_unit_test(what_is_learnt_is_part_of_the_plan),
        cmocka_unit_test(sparse_rows_are_not_written_out_without_bound),
        cmocka_unit_test(a_grant_is_for_one_division_of_the_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
