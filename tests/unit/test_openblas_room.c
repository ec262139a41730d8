/* The memory of a run is planned: every mechanism, in its main settings, takes what its plan has
 * counted, each array where it was counted.  So a step that nobody counts is seen although a larger
 * one, or a query, would have left room for it. */
#include <stdio.h>

#ifdef CLO_FAULT_INJECTION

#include "pipeline.h"
#include "counted.h"
#include "small_runs.h"
#include "accounting/accounting.h"
#include "plan/mechanism.h"

enum { ROWS = 400, D = 6 };
static const double NORM = 8;

/* What a case cannot do without; and whether its run may take less than was counted, or a query of
 * it, because what it finds in these data decides. */
enum { ANY = 0, REPLACE = 1, NO_BOUNDS = 2, PURE = 4, LESS = 8, ASKS_LESS = 16 };

typedef struct setting {
    const char *mechanism, *values;
    int needs;
} setting;

static const setting settings[] = {
    { "kmeans/local", "clusters=3 cells=9 reduce=3", ANY | LESS },
    { "kmeans/local", "clusters=3 cells=9 reduce=0 rounds=2", ANY | LESS },
    { "kmeans/local", "clusters=6 choose=elbow cells=20 reduce=0", PURE | LESS },
    { "kmeans/density", "clusters=2 cells=9 points=100", ANY | LESS },
    { "kmeans/density", "clusters=5 points=100 rounds=1", ANY | LESS },
    { "kmeans/density", "clusters=60 points=100 rounds=1", ANY | LESS },
    { "kmeans/highdim", "clusters=4 directions=0 trees=2 levels=3 swaps=3 rounds=2",
      LESS | ASKS_LESS },
    { "kmeans/highdim", "clusters=4 directions=2 trees=1 levels=3 swaps=3", LESS | ASKS_LESS },
    { "kmeans/highdim", "preset=theory clusters=2 directions=2 trees=1 levels=2 swaps=3",
      LESS | ASKS_LESS },
    { "kmeans/highdim", "clusters=3 trees=1 levels=2 swaps=2", PURE | LESS | ASKS_LESS },
    { "kmeans/grid", "clusters=3 side=2", ANY },
    { "kmeans/lloyd", "clusters=5 rounds=3", ANY },
    { "kmeans/lloyd", "clusters=5 rounds=1 reduce=3", ANY },
    { "kmeans/lloyd", "clusters=5 rounds=2", PURE },
    { "kmeans/sparse", "clusters=2 cells=40 sketch=4 rounds=1", ANY },
    { "kmeans/sparse", "clusters=9 cells=12 sketch=4 sparsity=2 rounds=0 recover=peel", ANY },
    { "kmeans/sparse", "clusters=2 sparsity=3 rounds=2", PURE },
    { "kmeans/aggregate", "clusters=2 blocks=8 restarts=1", ASKS_LESS },
    { "kmedian/highdim", "clusters=3 directions=2 trees=1 levels=2 swaps=2 rounds=1",
      LESS | ASKS_LESS },
    { "kmedian/density", "clusters=2 cells=9 points=100", ANY | LESS },
    { "kmedian/local", "clusters=3 cells=9 reduce=3", ANY | LESS },
    { "kmedian/local", "clusters=6 choose=elbow cells=20 reduce=0", PURE | LESS },
    { "subspace/gaussian", "dim=3", ANY },
    { "subspace/gaussian", "dim=0", ANY | LESS },
    { "subspace/exact", "dim=2", NO_BOUNDS },
    { "subspace/exact", "dim=2 flats=affine", NO_BOUNDS },
    { "subspace/approx", "dim=2 gamma=0.001 blocks=60", NO_BOUNDS },
    { "subspace/boosted", "dim=2 gamma=0.001 parts=3 blocks=40", NO_BOUNDS },
    { "subspace/boosted", "dim=2 gamma=0.001 parts=3 blocks=40 answer=one", NO_BOUNDS },
    { "subspace/bingham", "dim=2", ASKS_LESS },
    { "subspace/bingham", "dim=1 draw=sweeps", ASKS_LESS },
    { "subspaces/moments", "clusters=2 dim=1 rounds=1 starts=1 doubts=1 reduce=0", ASKS_LESS },
    { "subspaces/moments", "clusters=2 dim=1 flats=affine rounds=2 starts=1 reduce=4", ASKS_LESS },
    { "subspaces/moments", "clusters=2 dim=2 rounds=0 starts=1 doubts=0 reduce=5", ANY },
    { "subspaces/moments", "clusters=2 dim=2 rounds=0 sharpen=3 starts=1 doubts=1", ASKS_LESS },
    { "subspaces/moments", "clusters=2 dim=1 rounds=1 sharpen=1 starts=1 reduce=4", ASKS_LESS },
    { "subspaces/sulq", "clusters=2 dim=2 rounds=2 restarts=1", ASKS_LESS },
    { "subspaces/sulq", "clusters=2 dim=2 rounds=4 restarts=4", ASKS_LESS },
    { "subspaces/sulq", "clusters=3 dim=1 rounds=4 restarts=2 flats=affine schedule=even",
      ASKS_LESS },
    { "subspaces/sulq", "clusters=2 dim=1 rounds=4 restarts=3 flats=affine reduce=3", ASKS_LESS },
    { "subspaces/sulq", "clusters=1 dim=1 rounds=1 restarts=1 reduce=2", ANY },
    { "subspaces/gibbs", "clusters=2 dim=2 mode=steps sweeps=2", ASKS_LESS },
    { "subspaces/gibbs", "clusters=2 dim=1 sweeps=4 labels=yes", REPLACE | ASKS_LESS },
    { "subspaces/gibbs", "clusters=2 dim=1 flats=affine sweeps=4", ASKS_LESS },
    { "subspaces/aggregate", "clusters=2 dim=2 blocks=8", ASKS_LESS },
    { "subspaces/aggregate", "clusters=2 dim=1 flats=affine blocks=8", ASKS_LESS },
    { "bounds/quantile", "", NO_BOUNDS },
    { "bounds/quantile", "of=columns steps=2", NO_BOUNDS },
};
enum { SETTINGS = sizeof settings / sizeof *settings };

/* Integers in a plane, so that the methods that look for one find it, and release all they have. */
static void fill(double *values)
{
    for (size_t i = 0; i < ROWS; i++) {
        const double a = (double)(i * 7 % 5) - 2, b = (double)(i * 11 % 7) - 3;
        const double row[D] = { a, b, a + b, a - b };
        memcpy(values + i * D, row, sizeof row);
    }
}

static clo_plan *plan_of(const setting *s, const clo_domain *domain)
{
    const clo_loss budget = { 20, s->needs & PURE ? 0 : 1e-6 };
    clo_params *const params = params_for(s->mechanism, s->values);
    clo_plan *plan = NULL;
    clo_error err;
    assert_ok(clo_plan_new(params, domain, budget, CLO_ASYMPTOTIC, &plan, &err), err);
    clo_params_free(params);
    return plan;
}

/* ---- takes, as a watch saw them -------------------------------------------------------- */

enum { MOST_TAKES = 1 << 14 };
typedef struct takes {
    struct {
        size_t at, bytes;
    } of[MOST_TAKES]; /* of a mechanism: different ones only */
    size_t count;
    size_t from;  /* where the mechanism begins to take */
    size_t own;   /* the most that it had, from there */
    size_t asked; /* the most that a query had, from where it began */
} takes;

static bool among(const takes *t, size_t at, size_t bytes)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->of[i].at == at && t->of[i].bytes == bytes) return true;
    return false;
}

static void see(void *user, size_t at, size_t bytes, size_t ask)
{
    takes *const t = user;
    if (ask != SIZE_MAX) {
        if (at + bytes - ask > t->asked) t->asked = at + bytes - ask;
        return;
    }
    if (at < t->from || bytes == 0) return;
    const size_t here = at - t->from;
    if (here + bytes > t->own) t->own = here + bytes;
    if (among(t, here, bytes)) return;
    if (t->count == MOST_TAKES) fail_msg("a run has more takes than are remembered");
    t->of[t->count].at = here;
    t->of[t->count++].bytes = bytes;
}

/* What the plan takes, of a workspace that counts. */
static void count_plan(const clo_plan *plan, takes *out)
{
    static clo_draft draft;
    clo_workspace *counting = NULL;
    void *state = NULL;
    clo_error err;
    memset(out, 0, sizeof *out);
    assert_ok(clo_i_workspace_counting(&counting, &err), err);
    assert_ok(clo_i_alloc(1, plan->mechanism->plan_size, &state, &err), err);
    draft = (clo_draft){ .domain = &plan->domain,
                         .values = plan->values,
                         .budget = clo_i_loss_on_grid(plan->rest),
                         .room = counting };
    clo_i_watch_takes(counting, see, out);
    assert_ok(plan->mechanism->plan(&draft, state, &err), err);
    clo_i_workspace_release(counting, 0);
    if (plan->steps) assert_ok(clo_i_learn_room(counting, &plan->domain, &err), err);
    clo_workspace_free(counting);
    clo_i_free(state);
}

static size_t most_asked(const clo_plan *plan, const clo_bounded *data, int threads,
                         size_t block_rows)
{
    size_t most = 0;
    for (size_t i = 0; i < plan->line_count; i++) {
        const size_t bytes =
            query_bytes(&plan->lines[i], plan->domain.cols, data, block_rows, threads);
        if (bytes > most) most = bytes;
    }
    return most;
}

static void compare(const char *name, int needs, const takes *counted, const takes *run,
                    size_t asked)
{
    const bool less = needs & LESS, asks_less = needs & ASKS_LESS;
    for (size_t i = 0; i < run->count; i++)
        if (!among(counted, run->of[i].at, run->of[i].bytes))
            fail_msg("%s takes %zu bytes at %zu, which its plan has not counted", name,
                     run->of[i].bytes, run->of[i].at);
    if (less ? run->own > counted->own : run->own != counted->own)
        fail_msg("%s has %zu bytes at most, and its plan has counted %zu", name, run->own,
                 counted->own);
    if (asks_less ? run->asked > asked : run->asked != asked)
        fail_msg("a query of %s has %zu bytes at most, and %zu are counted", name, run->asked,
                 asked);
}

static void stays_within(const clo_plan *plan, int needs, const clo_bounded *data, int threads,
                         size_t block_rows)
{
    static takes counted, run;
    clo_run_options options = clo_run_options_default();
    const size_t planned = clo_i_plan_workspace(plan, data, NULL, threads, block_rows);
    char name[64];
    clo_error err;
    memset(&run, 0, sizeof run);
    snprintf(name, sizeof name, "%s/%s", plan->mechanism->family, plan->mechanism->method);
    count_plan(plan, &counted);
    options.threads = threads;
    options.block_rows = block_rows;
    assert_ok(clo_workspace_new(planned, &options.workspace, &err), err);
    run.from = kept_bytes(plan->lines, plan->line_count, data) +
               (plan->steps ? recenter_bytes(data, plan->learning.center) : 0);
    clo_i_watch_takes(options.workspace, see, &run);
    clo_release_free(run_seeded(plan, data, "room", &options));
    if (clo_i_workspace_peak(options.workspace) > planned)
        fail_msg("%s takes %zu bytes, and %zu were planned", name,
                 clo_i_workspace_peak(options.workspace), planned);
    clo_workspace_free(options.workspace);
    compare(name, needs, &counted, &run, most_asked(plan, data, threads, block_rows));
}

static void keeps_within(const setting *s, const clo_domain *domain, const double *values)
{
    clo_plan *const plan = plan_of(s, domain);
    clo_bounded *const data = bounded_from(values, ROWS, domain);
    stays_within(plan, s->needs, data, 1, 1);
    stays_within(plan, s->needs, data, 3, 0);
    clo_bounded_free(data);
    clo_plan_free(plan);
}

static void every_run_keeps_within_what_its_plan_counted(void **state)
{
    static double values[ROWS * D];
    double lower[D], upper[D];
    (void)state;
    fill(values);
    for (size_t j = 0; j < D; j++) upper[j] = -(lower[j] = -6 - (double)j);
    for (size_t i = 0; i < SETTINGS; i++) {
        clo_domain domain = ball(D, NORM, CLO_REPLACE);
        domain.rows = ROWS;
        keeps_within(&settings[i], &domain, values);
        if (!(settings[i].needs & NO_BOUNDS)) {
            domain.lower = lower;
            domain.upper = upper;
            domain.norm = 0;
            keeps_within(&settings[i], &domain, values);
        }
        domain = ball(D, NORM, CLO_ADD_REMOVE);
        if (!(settings[i].needs & REPLACE)) keeps_within(&settings[i], &domain, values);
    }
}

/* A mechanism that is new is looked at before it has a row above. */
static void so_does_a_short_run_of_every_mechanism(void **state)
{
    static double values[ROWS * D];
    (void)state;
    fill(values);
    for (size_t i = 0; i < SMALL_RUNS; i++) {
        const setting s = { small_runs[i].mechanism, small_runs[i].settings, LESS | ASKS_LESS };
        clo_domain domain = ball(D, NORM, CLO_REPLACE);
        domain.rows = ROWS;
        keeps_within(&s, &domain, values);
    }
}

/* What a run takes to learn is counted, too: bounds/quantile apart, it may be the most of it. */
static void a_run_that_learns_first_keeps_within_it(void **state)
{
    static const setting cases[] = { { "kmeans/lloyd", "clusters=1 rounds=1", ANY },
                                     { "kmeans/local", "clusters=9 cells=99 reduce=3",
                                       ANY | LESS } };
    static double values[ROWS * D];
    const clo_domain domain = ball(D, NORM, CLO_REPLACE);
    clo_learning learning = clo_learning_default();
    clo_error err;
    (void)state;
    fill(values);
    learning.norm = learning.center = true;
    clo_bounded *const data = bounded_from(values, ROWS, &domain);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        clo_plan *const plan = plan_of(&cases[i], &domain);
        const size_t before = clo_i_plan_workspace(plan, data, NULL, 1, 1);
        assert_ok(clo_plan_learn(plan, &learning, (clo_loss){ 40, 2e-6 }, &err), err);
        assert_true(clo_i_plan_workspace(plan, data, NULL, 1, 1) >= before);
        stays_within(plan, cases[i].needs, data, 1, 1);
        stays_within(plan, cases[i].needs, data, 2, 0);
        clo_plan_free(plan);
    }
    clo_bounded_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_run_keeps_within_what_its_plan_counted),
        cmocka_unit_test(so_does_a_short_run_of_every_mechanism),
        cmocka_unit_test(a_run_that_learns_first_keeps_within_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else /* takes are watched in the test build alone */

int main(void)
{
    puts("1..0 # SKIP takes are not watched in this build");
    return 0;
}

#endif
