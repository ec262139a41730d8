/* kmeans/density finds every one of many centres, also where the data are a hundred times smaller
 * than their bounds; each of its ways asks what its plan says, within the budget
 * (kmeans_density.T1); where noise hides every cluster it releases one mean; and its bytes are the
 * same on any number of threads. */
#include "found_centers.h"
#include "mechanism/common/density_run.h"
#include "query/local_gram.h"
#include "query/queries.h"

enum { RUNS = 3 };

static void every_one_of_many_centres_is_found_nearer_than_noise_of_the_ball_allows(void **state)
{
    (void)state;
    assert_int_equal(runs_within(RUNS, "kmeans/density", (clo_loss){ 1, 1e-6 }, "clusters=12",
                                 18000, 6, 12, 0.012),
                     RUNS);
}

static clo_plan *plan_of_rows(size_t d, uint64_t rows, double epsilon, const char *settings,
                              clo_relation relation)
{
    clo_domain domain = ball(d, 1, relation);
    domain.rows = rows;
    return plan_for("kmeans/density", settings, &domain, epsilon, 1e-6);
}

/* What the plan of so many rows asks: how often, of how many groups; 0: it has no such line. */
typedef struct asked {
    uint64_t rows, looks, grams, passes, cells, rounds;
} asked;

static void holds(const clo_plan *plan, asked a)
{
    size_t at = 0;
    if (a.looks) {
        assert_int_equal(plan->lines[at].query, &clo_i_query_look);
        assert_int_equal(plan->lines[at++].event.count, a.looks);
    }
    if (a.grams) {
        assert_int_equal(plan->lines[at].query, &clo_i_query_local_gram);
        assert_int_equal(plan->lines[at++].event.count, a.grams);
    }
    if (a.passes) {
        assert_int_equal(plan->lines[at].query, &clo_i_query_local_sum);
        assert_int_equal(plan->lines[at].groups, a.cells);
        assert_int_equal(plan->lines[at++].event.count, a.passes);
    }
    assert_int_equal(plan->lines[at].query, &clo_i_query_local_sum);
    assert_int_equal(plan->lines[at++].event.count, a.rounds);
    assert_int_equal(plan->line_count, at);
    assert_true(plan->price.loss.epsilon <= 1 && plan->price.loss.epsilon > 0.99);
}

/* kmeans_density.T1: by the public number of rows alone. */
static void each_way_asks_what_its_plan_says_within_the_budget(void **state)
{
    static const asked ways[] = {
        { 20000, 3, 0, 3, 128, 6 }, { 2000, 3, 0, 3, 25, 6 }, { 600, 3, 1, 2, 7, 8 },
        { 300, 3, 1, 1, 6, 6 },     { 80, 0, 0, 0, 0, 2 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        clo_plan *const plan = plan_of_rows(5, ways[i].rows, 1, "clusters=4", CLO_ADD_REMOVE);
        holds(plan, ways[i]);
        clo_plan_free(plan);
    }
}

/* Runs on four heaps of so many rows, whose places are as far from the origin as `scale`; the worst
 * centre of the run in units of that. */
typedef struct heaps {
    size_t rows;
    double scale, epsilon;
    clo_relation relation;
    bool told; /* the number of rows is public */
} heaps;

enum { D = 5, K = 4 };

static clo_release *run_on(const heaps *h, int threads, double *truth)
{
    clo_domain domain = ball(D, 1, h->relation);
    if (h->told) domain.rows = h->rows;
    double *const values = scattered_mixture(h->rows, D, K, 0.02, truth);
    for (size_t i = 0; i < h->rows * D; i++) values[i] *= h->scale;
    for (size_t i = 0; i < K * D; i++) truth[i] *= h->scale;
    clo_plan *const plan = plan_for("kmeans/density", "clusters=4", &domain, h->epsilon, 1e-6);
    clo_bounded *const data = bounded_from(values, h->rows, &domain);
    clo_run_options options = clo_run_options_default();
    options.threads = threads;
    clo_release *const release = run_seeded(plan, data, "heaps", &options);
    clo_bounded_free(data);
    clo_plan_free(plan);
    free(values);
    return release;
}

static double miss_of(heaps h)
{
    double truth[K * D];
    clo_release *const release = run_on(&h, 1, truth);
    const double miss = worst_miss(release, truth, NULL, K, D) / h.scale;
    clo_release_free(release);
    return miss;
}

static void data_far_smaller_than_their_bounds_are_found_as_well(void **state)
{
    (void)state;
    assert_true(miss_of((heaps){ 20000, 1, 0.5, CLO_ADD_REMOVE, true }) < 0.01);
    assert_true(miss_of((heaps){ 20000, 0.01, 0.5, CLO_ADD_REMOVE, true }) < 0.01);
    assert_true(miss_of((heaps){ 20000, 0.01, 0.5, CLO_ADD_REMOVE, false }) < 0.01);
}

static void few_rows_find_their_heaps_in_each_way(void **state)
{
    (void)state;
    assert_true(miss_of((heaps){ 2000, 1, 1, CLO_ADD_REMOVE, true }) < 0.05);
    assert_true(miss_of((heaps){ 600, 1, 1, CLO_ADD_REMOVE, true }) < 0.2);
    assert_true(miss_of((heaps){ 600, 1, 1, CLO_REPLACE, true }) < 0.3);
    assert_true(miss_of((heaps){ 300, 1, 1.5, CLO_ADD_REMOVE, true }) < 0.4);
}

/* How many centers a run finds in a mixture of five. */
static size_t clusters_chosen(const char *settings, uint64_t rows, double *smallest)
{
    double truth[5 * 8];
    double *const values = scattered_mixture(rows, 8, 5, 0.03, truth);
    clo_domain domain = ball(8, 1, CLO_ADD_REMOVE);
    clo_array centers, sizes;
    domain.rows = rows;
    clo_plan *const plan = plan_for("kmeans/density", settings, &domain, 1, 1e-6);
    clo_bounded *const data = bounded_from(values, rows, &domain);
    clo_release *const release = run_seeded(plan, data, "choose", NULL);
    assert_true(clo_release_find(release, "centers", &centers));
    assert_true(clo_release_find(release, "sizes", &sizes));
    const size_t found = centers.shape[0];
    *smallest = INFINITY;
    for (size_t c = 0; c < found; c++) *smallest = fmin(*smallest, sizes.data[c]);
    clo_release_free(release);
    clo_bounded_free(data);
    clo_plan_free(plan);
    free(values);
    return found;
}

static void finds_how_many_also_at_the_most_that_is_allowed(void **state)
{
    double smallest;
    (void)state;
    assert_int_equal(clusters_chosen("clusters=20 choose=elbow", 20000, &smallest), 5);
    assert_int_equal(clusters_chosen("clusters=5 choose=elbow", 20000, &smallest), 5);
    assert_int_equal(clusters_chosen("clusters=20 choose=elbow", 1500, &smallest), 5);
}

static void obeys_a_rule_of_the_users_own(void **state)
{
    double smallest;
    (void)state;
    const size_t half = clusters_chosen("clusters=20 choose=elbow explain=0.5", 20000, &smallest);
    assert_true(half >= 2 && half < 5);
    assert_true(clusters_chosen("clusters=20 choose=elbow explain=0.99", 20000, &smallest) > 5);
    const size_t fewer =
        clusters_chosen("clusters=20 choose=elbow explain=0.995 smallest=1000", 20000, &smallest);
    assert_true(fewer >= 5 && smallest > 900);
    assert_int_equal(clusters_chosen("clusters=1 choose=elbow", 2000, &smallest), 1);
}

static bool same_arrays(const clo_release *one, const clo_release *other, const char *name)
{
    clo_array a, b;
    assert_true(clo_release_find(one, name, &a));
    assert_true(clo_release_find(other, name, &b));
    const size_t cols = a.dimensions > 1 ? a.shape[1] : 1;
    return a.shape[0] == b.shape[0] &&
           memcmp(a.data, b.data, a.shape[0] * cols * sizeof(double)) == 0;
}

static void threads_do_not_change_a_release(void **state)
{
    static const uint64_t rows[] = { 3000, 600 };
    double truth[K * D];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const heaps h = { rows[i], 1, 1, CLO_ADD_REMOVE, true };
        clo_release *const one = run_on(&h, 1, truth), *const three = run_on(&h, 3, truth);
        assert_true(same_arrays(one, three, "centers") && same_arrays(one, three, "sizes"));
        clo_release_free(one);
        clo_release_free(three);
    }
}

/* By the public number of rows, or by the released one. */
static void where_noise_hides_every_cluster_the_one_mean_is_told(void **state)
{
    (void)state;
    for (int told = 0; told <= 1; told++) {
        const heaps h = { 80, 1, 1, CLO_ADD_REMOVE, told };
        double truth[K * D];
        clo_release *const release = run_on(&h, 1, truth);
        clo_array centers, apart;
        assert_true(clo_release_find(release, "centers", &centers));
        assert_true(clo_release_find(release, "distinct_clusters", &apart));
        assert_int_equal(centers.shape[0], 1);
        assert_true(apart.data[0] == 1);
        clo_release_free(release);
    }
}

/* Data twice as large, in a ball twice as large: all that is a length is twice as large, to the
 * digits that are told, and nothing else changes. */
static void a_release_is_in_the_units_of_the_norm(void **state)
{
    enum { COLS = 2, ROWS = 700 };
    static double values[ROWS * COLS], twice[ROWS * COLS];
    static const char *const lengths[] = { "centers", "radii" };
    static const char *const others[] = { "sizes", "distinct_clusters" };
    (void)state;
    for (size_t i = 0; i < ROWS * COLS; i++) {
        values[i] = (i / COLS % 2 ? 0.5 : -0.4) + 0.05 * sin((double)(i * i));
        twice[i] = 2 * values[i];
    }
    clo_release *releases[2];
    for (int larger = 0; larger < 2; larger++) {
        clo_domain domain = ball(COLS, larger ? 2 : 1, CLO_REPLACE);
        domain.rows = ROWS;
        clo_plan *const plan = plan_for("kmeans/density", "clusters=2", &domain, 1, 1e-6);
        clo_bounded *const data = bounded_from(larger ? twice : values, ROWS, &domain);
        releases[larger] = run_seeded(plan, data, "units", NULL);
        clo_bounded_free(data);
        clo_plan_free(plan);
    }
    for (size_t i = 0; i < 4; i++) {
        const char *const name = i < 2 ? lengths[i] : others[i - 2];
        clo_array one, two;
        assert_true(clo_release_find(releases[0], name, &one));
        assert_true(clo_release_find(releases[1], name, &two));
        const size_t count = one.shape[0] * (one.dimensions > 1 ? one.shape[1] : 1);
        for (size_t e = 0; e < count; e++)
            assert_close(two.data[e], one.data[e] * (i < 2 ? 2 : 1),
                         0.05 * fabs(two.data[e]) + 0.01);
    }
    clo_release_free(releases[0]);
    clo_release_free(releases[1]);
}

static void refuses_what_it_cannot_do(void **state)
{
    const clo_domain narrow = ball(2, 1, CLO_REPLACE);
    clo_params *const params = params_for("kmeans/density", "clusters=2");
    clo_plan *plan = NULL;
    clo_error err;
    (void)state;
    assert_fails(clo_plan_new(params, &narrow, (clo_loss){ 1, 0 }, CLO_EXACT, &plan, &err),
                 CLO_BUDGET, err,
                 "kmeans/density adds Gaussian noise, which needs a delta above 0: give one, or "
                 "choose kmeans/local");
    clo_params_free(params);
    clo_params *const many = params_for("kmeans/density", "clusters=65 choose=elbow");
    assert_fails(clo_plan_new(many, &narrow, (clo_loss){ 1, 1e-6 }, CLO_EXACT, &plan, &err),
                 CLO_UNSUPPORTED, err, "kmeans/density chooses among at most 64 clusters, not 65");
    clo_params_free(many);
    clo_params *const given = params_for("kmeans/density", "clusters=5 smallest=10");
    assert_fails(clo_plan_new(given, &narrow, (clo_loss){ 1, 1e-6 }, CLO_EXACT, &plan, &err),
                 CLO_ARGUMENT, err, "smallest needs clusters auto: pass that, or leave it out");
    clo_params_free(given);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_one_of_many_centres_is_found_nearer_than_noise_of_the_ball_allows),
        cmocka_unit_test(each_way_asks_what_its_plan_says_within_the_budget),
        cmocka_unit_test(data_far_smaller_than_their_bounds_are_found_as_well),
        cmocka_unit_test(few_rows_find_their_heaps_in_each_way),
        cmocka_unit_test(finds_how_many_also_at_the_most_that_is_allowed),
        cmocka_unit_test(obeys_a_rule_of_the_users_own),
        cmocka_unit_test(threads_do_not_change_a_release),
        cmocka_unit_test(where_noise_hides_every_cluster_the_one_mean_is_told),
        cmocka_unit_test(a_release_is_in_the_units_of_the_norm),
        cmocka_unit_test(refuses_what_it_cannot_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
