/* kmeans/density in many columns asks what its plan says, within the budget (kmeans_density.T1);
 * finds centres nearer than kmeans/local does, whatever scale the data have; explains rounds whose
 * clusters were others than today's; and its bytes are the same on any number of threads. */
#include "found_centers.h"
#include "mechanism/common/density_columns.h"
#include "query/local_gram.h"
#include "query/queries.h"

static clo_plan *plan_of_rows(size_t d, uint64_t rows, double epsilon, const char *settings)
{
    clo_domain domain = ball(d, 1, CLO_ADD_REMOVE);
    domain.rows = rows;
    return plan_for("kmeans/density", settings, &domain, epsilon, 1e-6);
}

/* What a plan asks between the looks and the rounds, and how many rounds. */
typedef struct asked {
    size_t cols;
    uint64_t rows;
    const char *settings;
    size_t directions, cells;
    uint64_t passes, rounds;
} asked;

static void holds(const asked *a)
{
    clo_plan *const plan = plan_of_rows(a->cols, a->rows, 1, a->settings);
    const clo_line *const line = plan->lines;
    assert_int_equal(plan->line_count, 3 + a->rounds);
    assert_int_equal(line[0].query, &clo_i_query_look);
    assert_int_equal(line[0].event.count, 3);
    assert_int_equal(line[1].query, &clo_i_query_local_gram);
    assert_int_equal(line[1].event.count, 1);
    assert_int_equal(line[2].query, &clo_i_query_local_sum);
    assert_int_equal(line[2].lens, CLO_LENS);
    assert_int_equal(line[2].cols, a->directions);
    assert_int_equal(line[2].groups, a->cells);
    assert_int_equal(line[2].event.count, a->passes);
    for (size_t r = 3; r < plan->line_count; r++) {
        assert_int_equal(line[r].query, &clo_i_query_local_sum);
        assert_int_equal(line[r].lens, CLO_NO_LENS);
        assert_int_equal(line[r].cols, a->cols);
        assert_int_equal(line[r].event.count, 1);
        assert_true(clo_i_local_sum_fields(&line[r]).shell_unit > 0);
        if (r > 3) assert_true(line[r].event.parameter > 1.1 * line[r - 1].event.parameter);
    }
    assert_true(plan->price.loss.epsilon <= 1 && plan->price.loss.epsilon > 0.99);
    clo_plan_free(plan);
}

/* kmeans_density.T1: by the public number of rows alone. */
static void each_way_asks_what_its_plan_says_within_the_budget(void **state)
{
    static const asked ways[] = {
        { 100, 20000, "clusters=4", 16, 128, 2, 4 },
        { 13, 20000, "clusters=4", 13, 128, 2, 4 },
        { 100, 500000, "clusters=9", 27, 128, 2, 4 },
        { 100, 500000, "clusters=20", 32, 128, 5, 6 },
        { 100, 50000, "clusters=100", 32, 400, 3, 6 },
        { 60, 1500, "clusters=10 rounds=3", 30, 28, 1, 3 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) holds(&ways[i]);
}

/* ---- runs ------------------------------------------------------------------------------------ */

enum { K = 5 };

typedef struct heaps {
    const char *method;
    size_t rows, cols;
    double scale, epsilon;
    bool told; /* the number of rows is public */
} heaps;

static clo_release *run_on(const heaps *h, int threads, double *truth)
{
    clo_domain domain = ball(h->cols, 1, CLO_ADD_REMOVE);
    if (h->told) domain.rows = h->rows;
    double *const values = scattered_mixture(h->rows, h->cols, K, 0.04, truth);
    for (size_t i = 0; i < h->rows * h->cols; i++) values[i] *= h->scale;
    for (size_t i = 0; i < K * h->cols; i++) truth[i] *= h->scale;
    clo_plan *const plan = plan_for(h->method, "clusters=5", &domain, h->epsilon, 1e-6);
    clo_bounded *const data = bounded_from(values, h->rows, &domain);
    clo_run_options options = clo_run_options_default();
    options.threads = threads;
    clo_release *const release = run_seeded(plan, data, "columns", &options);
    clo_bounded_free(data);
    clo_plan_free(plan);
    free(values);
    return release;
}

static double miss_of(heaps h)
{
    double *const truth = calloc(K * h.cols, sizeof *truth);
    assert_non_null(truth);
    clo_release *const release = run_on(&h, 1, truth);
    const double miss = worst_miss(release, truth, NULL, K, h.cols) / h.scale;
    clo_release_free(release);
    free(truth);
    return miss;
}

static void centres_are_found_nearer_than_by_the_last_answers_alone(void **state)
{
    (void)state;
    const double here = miss_of((heaps){ "kmeans/density", 8000, 60, 1, 0.5, true });
    const double there = miss_of((heaps){ "kmeans/local", 8000, 60, 1, 0.5, true });
    assert_true(here < 0.8 * there && here < 0.1);
}

static void data_far_smaller_than_their_bounds_are_found_as_well(void **state)
{
    (void)state;
    assert_true(miss_of((heaps){ "kmeans/density", 8000, 30, 0.01, 1, true }) < 0.05);
    assert_true(miss_of((heaps){ "kmeans/density", 8000, 30, 0.01, 1, false }) < 0.05);
}

static void few_rows_find_their_heaps_by_the_gram_matrix(void **state)
{
    (void)state;
    clo_plan *const plan = plan_of_rows(20, 700, 1, "clusters=5");
    assert_int_equal(plan->lines[2].event.count, 1); /* the poorly fed way */
    clo_plan_free(plan);
    assert_true(miss_of((heaps){ "kmeans/density", 700, 20, 1, 1, true }) < 0.5);
}

static bool same_array(const clo_release *one, const clo_release *other, const char *name,
                       size_t count)
{
    clo_array a, b;
    assert_true(clo_release_find(one, name, &a));
    assert_true(clo_release_find(other, name, &b));
    return memcmp(a.data, b.data, count * sizeof(double)) == 0;
}

static void threads_do_not_change_a_release(void **state)
{
    static const heaps all[] = { { "kmeans/density", 3000, 40, 1, 1, true },
                                 { "kmeans/density", 700, 20, 1, 1, false } };
    double truth[K * 40];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        clo_release *const one = run_on(&all[i], 1, truth), *const three =
                                                                run_on(&all[i], 3, truth);
        clo_array sizes;
        assert_true(clo_release_find(one, "sizes", &sizes));
        const size_t found = sizes.shape[0];
        assert_true(same_array(one, three, "centers", found * all[i].cols));
        assert_true(same_array(one, three, "sizes", found));
        assert_true(same_array(one, three, "radii", found));
        clo_release_free(one);
        clo_release_free(three);
    }
}

static void where_noise_hides_every_cluster_the_one_mean_is_told(void **state)
{
    const heaps h = { "kmeans/density", 120, 30, 1, 1, true };
    double truth[K * 30];
    clo_array centers;
    (void)state;
    clo_plan *const plan = plan_of_rows(30, 120, 1, "clusters=5");
    assert_int_equal(plan->line_count, 1);
    assert_int_equal(plan->lines[0].event.count, 3);
    clo_plan_free(plan);
    clo_release *const release = run_on(&h, 1, truth);
    assert_true(clo_release_find(release, "centers", &centers));
    assert_int_equal(centers.shape[0], 1);
    clo_release_free(release);
}

/* ---- outside of the frame -------------------------------------------------------------------- */

enum { POINTS = 60, COLS = 40, TWO = 2 };

/* Two clusters of today.  The first round had mixed them, two to one and one to two; the second had
 * them as they are.  Nothing was cut, and there is next to no noise. */
static void rounds_of_other_clusters_tell_of_those_of_today(void **state)
{
    static const double places[TWO] = { 0.3, -0.2 }; /* of the clusters, in their own column */
    double weights[POINTS], mixed[2][TWO][TWO] = { { { 2, 1 }, { 1, 2 } }, { { 3, 0 }, { 0, 3 } } };
    const clo_density_plan plan = {
        .clusters = TWO, .cols = COLS, .points = POINTS, .frame = 2, .rounds = 2
    };
    clo_workspace *space = NULL;
    clo_columns c = { 0 };
    clo_error err;
    (void)state;
    assert_ok(clo_workspace_new((size_t)1 << 20, &space, &err), err);
    assert_ok(clo_i_columns_take_rounds(&plan, space, &c, &err), err);
    c.cols = COLS, c.directions = 2, c.clusters = TWO, c.points = POINTS, c.rounds = 2;
    c.start.center_doubt = 1;
    for (size_t i = 0; i < POINTS; i++) {
        weights[i] = 100;
        c.labels[i] = i % 2;
        c.round[0].labels[i] = i % 3 == 2 ? 1 - i % 2 : i % 2;
        c.round[1].labels[i] = i % 2;
        c.round[0].uncut[i] = c.round[1].uncut[i] = 1;
    }
    for (size_t r = 0; r < 2; r++) {
        memset(c.round[r].places, 0, TWO * COLS * sizeof(double));
        memset(c.round[r].sums, 0, TWO * COLS * sizeof(double));
        c.round[r].noise = 1e-3;
        c.round[r].least = 1;
        for (size_t own = 0; own < TWO; own++) {
            c.round[r].widths[own] = 0.5;
            for (size_t j = 0; j < TWO; j++) /* of its 3000 records so many are of cluster j */
                c.round[r].sums[own * COLS + 5 + j] = 1000 * mixed[r][own][j] * places[j] / 0.5;
        }
    }
    assert_ok(clo_i_columns_find_means(weights, &c, &err), err);
    for (size_t own = 0; own < TWO; own++)
        for (size_t j = 0; j < COLS; j++)
            assert_true(fabs(c.means[own * COLS + j] - (j == 5 + own ? places[own] : 0)) < 1e-3);
    assert_int_equal(c.extra, 2);
    for (size_t r = 0; r < 2; r++) c.round[r].noise = 1e6; /* and now nothing but noise */
    assert_ok(clo_i_columns_find_means(weights, &c, &err), err);
    for (size_t i = 0; i < TWO * COLS; i++) assert_true(fabs(c.means[i]) < 1e-3);
    clo_workspace_free(space);
}

static void refuses_what_it_cannot_do(void **state)
{
    const clo_domain wide = ball(100, 1, CLO_REPLACE), widest = ball(5000, 1, CLO_REPLACE);
    clo_plan *plan = NULL;
    clo_error err;
    (void)state;
    clo_params *const two = params_for("kmeans/density", "clusters=2");
    clo_params *const many = params_for("kmeans/density", "clusters=129");
    clo_params *const choice = params_for("kmeans/density", "clusters=5 choose=elbow");
    assert_fails(clo_plan_new(two, &widest, (clo_loss){ 1, 1e-6 }, CLO_EXACT, &plan, &err),
                 CLO_UNSUPPORTED, err,
                 "kmeans/density takes at most 4096 columns, not 5000: choose kmeans/local");
    assert_fails(clo_plan_new(many, &wide, (clo_loss){ 1, 1e-6 }, CLO_EXACT, &plan, &err),
                 CLO_UNSUPPORTED, err,
                 "kmeans/density takes at most 64 columns with more than 128 clusters, not 100: "
                 "choose kmeans/local");
    assert_fails(clo_plan_new(choice, &wide, (clo_loss){ 1, 1e-6 }, CLO_EXACT, &plan, &err),
                 CLO_UNSUPPORTED, err,
                 "kmeans/density takes at most 64 columns where it chooses the clusters, not 100: "
                 "choose kmeans/local");
    clo_params_free(two);
    clo_params_free(many);
    clo_params_free(choice);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_way_asks_what_its_plan_says_within_the_budget),
        cmocka_unit_test(centres_are_found_nearer_than_by_the_last_answers_alone),
        cmocka_unit_test(data_far_smaller_than_their_bounds_are_found_as_well),
        cmocka_unit_test(few_rows_find_their_heaps_by_the_gram_matrix),
        cmocka_unit_test(threads_do_not_change_a_release),
        cmocka_unit_test(where_noise_hides_every_cluster_the_one_mean_is_told),
        cmocka_unit_test(rounds_of_other_clusters_tell_of_those_of_today),
        cmocka_unit_test(refuses_what_it_cannot_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
