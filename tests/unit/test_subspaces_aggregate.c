/* subspaces/aggregate (subspaces_aggregate.T1): every solver finds subspaces where there is budget
 * enough, the order and the turns of a block's bases do not show (aggregate.T4), and every input
 * succeeds. */
#include "pipeline.h"
#include "plan/mechanism.h"
#include "measure/measure.h"
#include "query/aggregate.h"
#include "query/aggregate_space.h"
#include <math.h>
#include <time.h>

enum { ROWS = 2000, D = 5, K = 2, Q = 2 };

static clo_plan *plan_with(const char *settings, const clo_domain *domain, double epsilon)
{
    clo_error err;
    clo_params *const params = params_for("subspaces/aggregate", settings);
    clo_plan *plan = NULL;
    assert_int_equal(
        clo_plan_new(params, domain, (clo_loss){ epsilon, 1e-5 }, CLO_EXACT, &plan, &err),
        CLO_ARGUMENT); /* idealized, and to be accepted by name */
    assert_ok(clo_plan_new(params, domain, (clo_loss){ epsilon, 1e-5 }, CLO_IDEALIZED, &plan, &err),
              err);
    clo_params_free(params);
    return plan;
}

static void make_planes(double *rows, double *bases)
{
    clo_error err;
    clo_rng *const rng = seeded("planes");
    clo_subspace_model model = clo_subspace_model_default();
    model.rows = ROWS;
    model.cols = D;
    model.clusters = K;
    model.dim = Q;
    model.noise = .005;
    assert_ok(clo_generate_subspaces(&model, rng, rows, NULL, bases, &err), err);
    clo_rng_free(rng);
}

static void every_solver_finds_the_planes(void **state)
{
    static const char *const solvers[] = { "kplanes", "tsc", "ssc", "lrr" };
    static double rows[ROWS * D], truth[K * D * Q];
    clo_domain domain = ball(D, 1, CLO_REPLACE);
    (void)state;
    make_planes(rows, truth);
    domain.rows = ROWS;
    clo_bounded *const data = bounded_from(rows, ROWS, &domain);
    for (size_t i = 0; i < sizeof solvers / sizeof *solvers; i++) {
        char settings[96];
        clo_array bases;
        double distance = -1;
        clo_error err;
        snprintf(settings, sizeof settings, "clusters=2 dim=2 blocks=60 solver=%s", solvers[i]);
        clo_plan *const plan = plan_with(settings, &domain, 200);
        clo_release *const release = run_seeded(plan, data, "solve", NULL);
        assert_true(clo_release_find(release, "bases", &bases));
        assert_false(clo_release_find(release, "sizes", &(clo_array){ 0 }));
        assert_ok(clo_i_subspaces_distance(bases.data, truth, K, D, Q, &distance, &err), err);
        assert_true(distance < .3);
        clo_release_free(release);
        clo_plan_free(plan);
    }
    clo_bounded_free(data);
}

/* ---- a solver of the caller's ---------------------------------------------------------------- */

typedef struct caller {
    bool swapped; /* the two planes in the other order, each basis turned */
    bool fails;
    _Atomic int calls;
} caller;

static clo_status constant(void *user, const clo_block *block, double *bases, clo_error *err)
{
    caller *const c = user;
    (void)err;
    c->calls++;
    if (c->fails) return CLO_INTERNAL;
    memset(bases, 0, K * block->cols * Q * sizeof *bases);
    for (size_t k = 0; k < K; k++) {
        double *const basis = bases + (c->swapped ? 1 - k : k) * block->cols * Q;
        const double cosine = c->swapped ? .6 : 1, sine = c->swapped ? .8 : 0;
        basis[(2 * k) * Q] = cosine;
        basis[(2 * k) * Q + 1] = -sine;
        basis[(2 * k + 1) * Q] = sine;
        basis[(2 * k + 1) * Q + 1] = cosine;
    }
    return CLO_OK;
}

static clo_release *run_caller(caller *c, double epsilon, const char *seed)
{
    static double rows[ROWS * D], truth[K * D * Q];
    clo_run_options options = clo_run_options_default();
    const clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    make_planes(rows, truth);
    options.solve_block = constant;
    options.solve_user = c;
    clo_plan *const plan = plan_with("clusters=2 dim=2 blocks=41 solver=caller", &domain, epsilon);
    clo_bounded *const data = bounded_from(rows, ROWS, &domain);
    clo_release *const release = run_seeded(plan, data, seed, &options);
    clo_bounded_free(data);
    clo_plan_free(plan);
    return release;
}

/* aggregate.T4: what is published is the set of ranges, in a form that depends on it alone.  At
 * next to no noise the two releases are the same numbers, whatever order and bases came in. */
static void order_and_turns_do_not_show(void **state)
{
    caller plain = { .swapped = false }, other = { .swapped = true };
    clo_array a, b;
    (void)state;
    clo_release *const first = run_caller(&plain, 290, "same");
    clo_release *const second = run_caller(&other, 290, "same");
    assert_int_equal(plain.calls, 41);
    assert_true(clo_release_find(first, "bases", &a) && clo_release_find(second, "bases", &b));
    for (size_t i = 0; i < K * D * Q; i++) assert_close(a.data[i], b.data[i], .02);
    clo_release_free(first);
    clo_release_free(second);
}

/* aggregate.T4: the basis that is published spans the range that came in, whichever axes are in it,
 * and where the coordinates are those of the complement. */
static void the_published_basis_spans_its_range(void **state)
{
    (void)state;
    for (size_t dim = 1; dim < D; dim++)
        for (unsigned axes = 0; axes < 1u << D; axes++) {
            clo_space space;
            double coordinates[D * D] = { 0 }, basis[D * D];
            size_t in = 0;
            clo_error err;
            clo_i_subspace_space(1, D, dim, &space);
            if ((size_t)__builtin_popcount(axes) != space.small) continue;
            for (size_t i = 0; i < D; i++)
                if (axes >> i & 1) coordinates[i * space.small + in++] = -3;
            assert_ok(space.publish(&space, coordinates, basis, &err), err);
            for (size_t i = 0; i < D; i++) { /* how much of each axis is in it: all, or nothing */
                const bool inside = (axes >> i & 1) == (space.small == dim);
                double length = 0;
                for (size_t e = 0; e < dim; e++) length += pow(basis[i * dim + e], 2);
                assert_close(length, inside, 1e-12);
            }
        }
}

/* A solver has the numbers that it writes to itself, however many work beside it. */
static clo_status slow(void *user, const clo_block *block, double *bases, clo_error *err)
{
    _Atomic int *const disturbed = user;
    static _Atomic int calls;
    const int mine = calls++;
    (void)err;
    for (size_t i = 0; i < K * block->cols * Q; i++) bases[i] = mine;
    nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
    for (size_t i = 0; i < K * block->cols * Q; i++) *disturbed += bases[i] != mine;
    return CLO_INTERNAL;
}

static void solvers_side_by_side_do_not_meet(void **state)
{
    static double rows[ROWS * D], truth[K * D * Q];
    clo_run_options options = clo_run_options_default();
    const clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    _Atomic int disturbed = 0;
    (void)state;
    make_planes(rows, truth);
    options.threads = 4;
    options.solve_block = slow;
    options.solve_user = &disturbed;
    clo_plan *const plan = plan_with("clusters=2 dim=2 blocks=41 solver=caller", &domain, 5);
    clo_bounded *const data = bounded_from(rows, ROWS, &domain);
    clo_release_free(run_seeded(plan, data, "beside", &options));
    assert_int_equal(disturbed, 0);
    clo_bounded_free(data);
    clo_plan_free(plan);
}

/* A failure would tell something of the records of a block. */
static void a_solver_that_fails_is_not_heard_of(void **state)
{
    caller c = { .fails = true };
    (void)state;
    clo_release *const release = run_caller(&c, 5, "fails");
    assert_int_equal(c.calls, 41);
    clo_release_free(release);
}

/* ---- what a review found ------------------------------------------------------------------ */

static clo_status silent(void *user, const clo_block *block, double *bases, clo_error *err)
{
    (void)err;
    if (user && block->count > 0 && block->rows[0] > .9)
        for (size_t i = 0; i < K * block->cols * Q; i++) bases[i] = i % 2 ? 1.5e308 : -1.5e308;
    return CLO_OK; /* and nothing written */
}

/* A solver that writes nothing gives the fixed solution, not what another block left behind; and
 * numbers whose squares overflow do not become a point that is near to all others. */
static void what_is_no_basis_is_the_fixed_solution(void **state)
{
    static double rows[ROWS * D];
    static int marker;
    clo_run_options options = clo_run_options_default();
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_array a, b;
    (void)state;
    for (size_t i = 0; i < ROWS; i++) rows[i * D] = i < 20 ? 1 : .1;
    clo_plan *const plan = plan_with("clusters=2 dim=2 blocks=101 solver=caller", &domain, 290);
    clo_bounded *const data = bounded_from(rows, ROWS, &domain);
    options.threads = 1;
    options.solve_block = silent;
    clo_release *const quiet = run_seeded(plan, data, "quiet", &options);
    options.solve_user = &marker;
    clo_release *const loud = run_seeded(plan, data, "quiet", &options);
    assert_true(clo_release_find(quiet, "bases", &a) && clo_release_find(loud, "bases", &b));
    for (size_t i = 0; i < K * D * Q; i++) {
        assert_true(isfinite(b.data[i]));
        /* A fifth of the blocks disagree with the fixed solution, too few to be the middle one. */
        assert_close(a.data[i], b.data[i], .2);
    }
    clo_release_free(quiet);
    clo_release_free(loud);
    clo_bounded_free(data);
    clo_plan_free(plan);
}

typedef struct sizes {
    _Atomic size_t least, most;
} sizes;

static clo_status note_size(void *user, const clo_block *block, double *bases, clo_error *err)
{
    sizes *const s = user;
    (void)bases;
    (void)err;
    if (block->count < s->least) s->least = block->count;
    if (block->count > s->most) s->most = block->count;
    return CLO_OK;
}

static sizes sizes_of(const clo_domain *domain)
{
    static const double rows[ROWS * D];
    sizes seen = { SIZE_MAX, 0 };
    clo_run_options options = clo_run_options_default();
    clo_error err;
    clo_table *table = NULL;
    clo_bounded *data = NULL;
    options.threads = 1;
    options.solve_block = note_size;
    options.solve_user = &seen;
    clo_plan *const plan = plan_with("clusters=2 dim=2 blocks=101 solver=caller", domain, 1);
    const clo_matrix view = { rows, ROWS, D, D };
    assert_ok(clo_table_wrap(view, CLO_MISSING_NULL, &table, &err), err);
    assert_ok(clo_bound(table, domain, &data, &err), err);
    clo_release_free(run_seeded(plan, data, "sizes", &options));
    clo_bounded_free(data);
    clo_table_free(table);
    clo_plan_free(plan);
    return seen;
}

/* aggregate.T4: an even division needs a public number of rows. */
static void blocks_are_even_only_where_the_number_of_rows_is_public(void **state)
{
    (void)state;
    const clo_domain replace = ball(D, 1, CLO_REPLACE), other = ball(D, 1, CLO_ADD_REMOVE);
    const sizes even = sizes_of(&replace), uneven = sizes_of(&other);
    assert_true(even.most - even.least <= 1);
    assert_true(uneven.most - uneven.least > 1);
}

/* Too large for the sampler's tail, and so small that a scale would not fit: refused, or served on
 * a coarser grid. */
static void extreme_budgets_are_refused_or_served(void **state)
{
    static const double epsilons[] = { 1e-5, 1e-4, 1e-3, 300 };
    const double row[D] = { 1 };
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_bounded *const data = bounded_from(row, 1, &domain);
    clo_error err;
    clo_plan *plan = NULL;
    (void)state;
    clo_params *const params = params_for("subspaces/aggregate", "clusters=2 dim=2 blocks=9");
    assert_int_equal(
        clo_plan_new(params, &domain, (clo_loss){ 301, 1e-5 }, CLO_IDEALIZED, &plan, &err),
        CLO_ARGUMENT);
    assert_int_equal(
        clo_plan_new(params, &domain, (clo_loss){ 750, 1e-5 }, CLO_IDEALIZED, &plan, &err),
        CLO_ARGUMENT);
    clo_params_free(params);
    for (size_t i = 0; i < sizeof epsilons / sizeof *epsilons; i++) {
        clo_plan *const fine = plan_with("clusters=2 dim=2 blocks=9", &domain, epsilons[i]);
        clo_release_free(run_seeded(fine, data, "extreme", NULL));
        clo_plan_free(fine);
    }
    clo_bounded_free(data);
}

/* The audited pair is one where the noise does follow the data. */
static void the_audited_plan_is_not_the_constant_one(void **state)
{
    const clo_domain domain = ball(2, 1, CLO_REPLACE);
    (void)state;
    clo_plan *const plan = plan_with("clusters=1 dim=1 blocks=121", &domain, 2);
    assert_true(clo_i_aggregate_fields(&plan->lines[0]).beta > 0);
    clo_plan_free(plan);
}

static void a_missing_function_is_named(void **state)
{
    clo_error err;
    clo_grant *grant = NULL;
    clo_release *release = NULL;
    const double row[D] = { 1 };
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    (void)state;
    clo_plan *const plan = plan_with("clusters=2 dim=2 blocks=9 solver=caller", &domain, 1);
    clo_bounded *const data = bounded_from(row, 1, &domain);
    clo_rng *const rng = seeded("none");
    assert_ok(clo_grant_unmetered(plan, &grant, &err), err);
    assert_int_equal(clo_run(plan, grant, data, rng, NULL, &release, &err), CLO_ARGUMENT);
    assert_null(release);
    clo_grant_free(grant);
    clo_rng_free(rng);
    clo_bounded_free(data);
    clo_plan_free(plan);
}

static void runs_are_total_and_the_same_on_any_threads(void **state)
{
    static const char *const settings[] = { "clusters=3 dim=1 blocks=5",
                                            "clusters=1 dim=2 blocks=8 flats=affine",
                                            "clusters=2 dim=2 blocks=12 solver=tsc" };
    const double values[] = {
        0, 0, 0, 1, 0, 0, 1e300, -1e300, 5, NAN, 0, 0, .1, .2, .3, .3, .2, .1
    };
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        for (size_t rows = 0; rows <= 6; rows += 3)
            for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++) {
                const clo_domain domain = ball(3, 1, (clo_relation)relation);
                clo_plan *const plan = plan_with(settings[i], &domain, 1);
                clo_bounded *const data = bounded_from(values, rows, &domain);
                assert_same_on_any_threads(plan, data);
                clo_bounded_free(data);
                clo_plan_free(plan);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_solver_finds_the_planes),
        cmocka_unit_test(order_and_turns_do_not_show),
        cmocka_unit_test(the_published_basis_spans_its_range),
        cmocka_unit_test(solvers_side_by_side_do_not_meet),
        cmocka_unit_test(a_solver_that_fails_is_not_heard_of),
        cmocka_unit_test(what_is_no_basis_is_the_fixed_solution),
        cmocka_unit_test(blocks_are_even_only_where_the_number_of_rows_is_public),
        cmocka_unit_test(extreme_budgets_are_refused_or_served),
        cmocka_unit_test(the_audited_plan_is_not_the_constant_one),
        cmocka_unit_test(a_missing_function_is_named),
        cmocka_unit_test(runs_are_total_and_the_same_on_any_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
