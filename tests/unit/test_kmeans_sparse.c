/*
 * kmeans/sparse finds the centres of sparse records, with a delta and without one, dense records
 * and sparse ones alike, and the release is read back without a row being written out
 * (kmeans_sparse.T1).
 */
#include "pipeline.h"
#include "bytes_file.h"
#include "plan/mechanism.h"
#include "query/peel.h"
#include "query/queries.h"

enum { ROWS = 12000, K = 4, S = 6 };

typedef struct made {
    size_t cols;
    uint32_t *columns, *center_columns;
    double *values, *center_values;
    char *bytes; /* LIBSVM */
    size_t length;
} made;

static made make(size_t rows, size_t cols)
{
    made m = { .cols = cols,
               .columns = calloc(rows * S, sizeof(uint32_t)),
               .values = calloc(rows * S, sizeof(double)),
               .center_columns = calloc((size_t)K * S, sizeof(uint32_t)),
               .center_values = calloc((size_t)K * S, sizeof(double)),
               .bytes = malloc(rows * (S * 40 + 4)) };
    clo_sparse_rows records = {
        .columns = m.columns, .values = m.values, .rows = rows, .width = S, .cols = cols
    };
    clo_sparse_rows centers = {
        .columns = m.center_columns, .values = m.center_values, .rows = K, .width = S, .cols = cols
    };
    clo_sparse_model model = clo_sparse_model_default();
    clo_rng *const rng = seeded("mixture");
    clo_error err;
    model.rows = rows;
    model.cols = cols;
    model.clusters = K;
    model.entries = S;
    model.noise = 0.03;
    assert_ok(clo_generate_sparse(&model, rng, &records, NULL, &centers, &err), err);
    for (size_t i = 0; i < rows; i++) {
        m.bytes[m.length++] = '1';
        for (size_t e = i * S; e < (i + 1) * S; e++)
            m.length +=
                (size_t)sprintf(m.bytes + m.length, " %u:%.9g", m.columns[e] + 1u, m.values[e]);
        m.bytes[m.length++] = '\n';
    }
    clo_rng_free(rng);
    return m;
}

static void unmake(made *m)
{
    free(m->columns);
    free(m->values);
    free(m->center_columns);
    free(m->center_values);
    free(m->bytes);
}

static clo_table *table_of(const made *m)
{
    clo_read_options options = clo_read_options_default();
    const bytes_file file = bytes_file_open(m->bytes, m->length);
    clo_table *table = NULL;
    clo_error err;
    options.format = "libsvm";
    options.cols = m->cols;
    assert_ok(clo_table_read(file.path, &options, &table, &err), err);
    bytes_file_close(file);
    return table;
}

static clo_bounded *bounded_of(const made *m, const clo_domain *domain)
{
    clo_table *const table = table_of(m);
    clo_bounded *data = NULL;
    clo_error err;
    assert_ok(clo_bound(table, domain, &data, &err), err);
    clo_table_free(table);
    return data;
}

/* The truth, dense, and how far the release is from it; the distance of the worst centre. */
static double distance_of(const clo_release *release, const made *m, const clo_table *table)
{
    double *const truth = calloc(K * m->cols, sizeof *truth);
    clo_evaluate_options options = clo_evaluate_options_default();
    clo_evaluation result = { .struct_size = sizeof result };
    clo_error err;
    for (size_t e = 0; e < (size_t)K * S; e++)
        truth[e / S * m->cols + m->center_columns[e]] = m->center_values[e];
    options.truth = (clo_matrix){ truth, K, m->cols, m->cols };
    assert_ok(clo_evaluate_release(release, table, &options, &result, &err), err);
    assert_true(result.cost < result.truth_cost + 0.1);
    free(truth);
    return result.distance;
}

/* In 50,000 columns, of which a sketch is seen, and lists come back. */
static void centres_of_very_many_columns_are_found(void **state)
{
    static const struct {
        clo_relation relation;
        double delta;
        const char *settings;
        double near;
    } cases[] = {
        { CLO_ADD_REMOVE, 1e-6, "clusters=4", 0.05 },
        { CLO_REPLACE, 1e-6, "clusters=4", 0.08 },
        { CLO_ADD_REMOVE, 0, "clusters=4 sparsity=6", 0.1 },
        { CLO_REPLACE, 0, "clusters=4 sparsity=6", 0.2 },
        { CLO_ADD_REMOVE, 1e-6, "clusters=4 sparsity=6 recover=peel eta=2", 0.3 },
    };
    made m = make(ROWS, 50000);
    clo_table *const table = table_of(&m);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const clo_domain domain = ball(m.cols, 1.1, cases[i].relation);
        clo_bounded *const data = bounded_of(&m, &domain);
        clo_plan *const plan =
            plan_for("kmeans/sparse", cases[i].settings, &domain, 1, cases[i].delta);
        clo_release *const release = run_seeded(plan, data, "run", NULL);
        clo_array starts, weights;
        assert_true(plan->lines[0].lens == CLO_SKETCH && plan->lines[0].cols < 100);
        assert_true(clo_plan_price(plan).loss.epsilon <= 1);
        assert_true(clo_plan_price(plan).loss.epsilon > 0.99);
        assert_true(clo_release_find(release, "centers_starts", &starts));
        assert_int_equal(starts.shape[0], K + 1);
        assert_true(starts.data[K] < 4 * K * S);
        assert_true(clo_release_find(release, "sizes", &weights));
        const double distance = distance_of(release, &m, table);
        assert_true(distance < cases[i].near);
        clo_release_free(release);
        clo_plan_free(plan);
        clo_bounded_free(data);
    }
    clo_table_free(table);
    unmake(&m);
}

/* kmeans_sparse.T1 */
static void a_plan_is_one_ask_of_cells_the_rounds_and_one_recovery(void **state)
{
    const clo_domain domain = ball(1000, 1, CLO_ADD_REMOVE);
    (void)state;
    clo_plan *plan = plan_for("kmeans/sparse", "clusters=4 rounds=3 cells=20", &domain, 1, 1e-6);
    assert_int_equal(plan->line_count, 3);
    assert_int_equal(plan->lines[0].groups, 20);
    assert_int_equal(plan->lines[1].event.count, 3);
    assert_int_equal(plan->lines[2].query, &clo_i_query_sparse_sum);
    assert_int_equal(plan->lines[2].event.kind, CLO_EVENT_GAUSSIAN);
    clo_plan_free(plan);
    plan = plan_for("kmeans/sparse", "clusters=4 rounds=0 sparsity=3 recover=peel", &domain, 1, 0);
    assert_int_equal(plan->line_count, 2);
    assert_int_equal(plan->lines[0].event.kind, CLO_EVENT_PURE);
    assert_int_equal(plan->lines[1].query, &clo_i_query_peel);
    assert_int_equal(clo_i_peel_fields(&plan->lines[1]).rounds, 6); /* 2 s / eta */
    clo_plan_free(plan);
}

static clo_status refused(const char *settings, size_t cols, double delta)
{
    const clo_domain domain = ball(cols, 1, CLO_REPLACE);
    clo_params *const params = params_for("kmeans/sparse", settings);
    clo_plan *plan = NULL;
    const clo_status status =
        clo_plan_new(params, &domain, (clo_loss){ 1, delta }, CLO_EXACT, &plan, NULL);
    clo_params_free(params);
    clo_plan_free(plan);
    return status;
}

static void what_cannot_be_is_refused_before_anything_is_spent(void **state)
{
    (void)state;
    assert_int_equal(refused("clusters=4", 5000, 0), CLO_ARGUMENT); /* no bound on the entries */
    assert_int_equal(refused("clusters=4 sparsity=20", 5000, 0), CLO_OK);
    assert_int_equal(refused("clusters=4 recover=peel", 5000, 1e-6), CLO_ARGUMENT);
    assert_int_equal(refused("clusters=4 sketch=6", 5000, 1e-6), CLO_ARGUMENT);
    assert_int_equal(refused("clusters=4 cells=3", 5000, 1e-6), CLO_ARGUMENT);
    assert_int_equal(refused("clusters=1024", 1 << 20, 1e-6), CLO_ARGUMENT);
    assert_int_equal(refused("clusters=4 picture=0.6 recovery=0.4", 50, 1e-6), CLO_ARGUMENT);
    assert_int_equal(refused("clusters=4 noise=gaussian", 50, 0), CLO_ARGUMENT);
}

/* A release whose JSON has `from` replaced by `to`, measured on the table. */
static clo_status measured(const text *json, const char *from, const char *to,
                           const clo_table *table)
{
    char *const changed = malloc(json->length + strlen(to) + 1);
    const char *const at = strstr(json->bytes, from);
    clo_evaluation result = { .struct_size = sizeof result };
    clo_release *release = NULL;
    clo_error err;
    assert_non_null(at);
    sprintf(changed, "%.*s%s%s", (int)(at - json->bytes), json->bytes, to, at + strlen(from));
    assert_ok(clo_release_parse(changed, strlen(changed), &release, &err), err);
    const clo_status status = clo_evaluate_release(release, table, NULL, &result, NULL);
    clo_release_free(release);
    free(changed);
    return status;
}

static void a_release_of_lists_is_read_back_shown_and_checked(void **state)
{
    made m = make(2000, 40000);
    const clo_domain domain = ball(m.cols, 1, CLO_REPLACE);
    clo_table *const table = table_of(&m);
    clo_bounded *const data = bounded_of(&m, &domain);
    clo_plan *const plan = plan_for("kmeans/sparse", "clusters=4", &domain, 4, 1e-6);
    clo_release *const release = run_seeded(plan, data, "lists", NULL);
    uint32_t *const clusters = calloc(2000, sizeof *clusters);
    text json = json_of(release), shown = { 0 };
    clo_error err;
    (void)state;
    assert_int_equal(measured(&json, "\"centers_starts\": [0", "\"centers_starts\": [0", table),
                     CLO_OK);
    assert_int_equal(measured(&json, "\"centers_starts\": [0", "\"centers_starts\": [1", table),
                     CLO_FORMAT);
    assert_int_equal(
        measured(&json, "\"centers_columns\": [", "\"centers_columns\": [4e9, ", table),
        CLO_FORMAT);
    assert_int_equal(measured(&json, "\"centers_values\": [", "\"centers_values\": [1, ", table),
                     CLO_FORMAT);
    assert_ok(clo_report(release, CLO_TEXT, append_text, &shown, &err), err);
    assert_non_null(strstr(shown.bytes, "centers (4, by their largest entries, of "));
    assert_null(strstr(shown.bytes, "centers_"));
    assert_ok(clo_assign_rows(release, table, clusters, NULL, &err), err);
    for (size_t i = 0; i < 2000; i++) assert_true(clusters[i] < K);
    free(clusters);
    free(json.bytes);
    free(shown.bytes);
    clo_release_free(release);
    clo_plan_free(plan);
    clo_bounded_free(data);
    clo_table_free(table);
    unmake(&m);
}

/* The same bytes from dense and from sparse records, on one thread and on two, in any blocks. */
static void a_release_does_not_depend_on_how_records_are_stored(void **state)
{
    enum { FEW = 600, WIDE = 400 };
    made m = make(FEW, WIDE);
    const clo_domain domain = ball(WIDE, 1, CLO_REPLACE);
    double *const values = calloc(FEW * WIDE, sizeof *values);
    clo_run_options options = clo_run_options_default();
    (void)state;
    clo_bounded *const sparse = bounded_of(&m, &domain);
    for (size_t e = 0; e < FEW * S; e++) {
        char digits[40]; /* those that the file has */
        snprintf(digits, sizeof digits, "%.9g", m.values[e]);
        values[e / S * WIDE + m.columns[e]] = strtod(digits, NULL);
    }
    clo_bounded *const dense = bounded_from(values, FEW, &domain);
    static const char *const settings[] = { "clusters=4", "clusters=4 sparsity=3 recover=peel" };
    for (size_t i = 0; i < 2; i++) {
        clo_plan *const plan = plan_for("kmeans/sparse", settings[i], &domain, 2, 1e-6);
        options.threads = 1;
        clo_release *const one = run_seeded(plan, sparse, "same", &options);
        options.threads = 2;
        clo_release *const two = run_seeded(plan, dense, "same", &options);
        text a = json_of(one), b = json_of(two);
        assert_string_equal(a.bytes, b.bytes);
        assert_true(clo_release_find(one, "centers", &(clo_array){ 0 })); /* short: one array */
        free(a.bytes);
        free(b.bytes);
        clo_release_free(one);
        clo_release_free(two);
        clo_plan_free(plan);
    }
    clo_bounded_free(sparse);
    clo_bounded_free(dense);
    free(values);
    unmake(&m);
}

static void no_records_and_equal_records_are_no_failure(void **state)
{
    enum { WIDE = 200 };
    static const double zeros[8 * WIDE] = { 0 };
    const clo_domain domain = ball(WIDE, 1, CLO_ADD_REMOVE);
    (void)state;
    for (size_t rows = 0; rows <= 8; rows += 8)
        for (int pure = 0; pure < 2; pure++) {
            clo_bounded *const data = bounded_from(zeros, rows, &domain);
            clo_plan *const plan =
                plan_for("kmeans/sparse", "clusters=3 sparsity=4", &domain, 1, pure ? 0 : 1e-6);
            clo_release *const release = run_seeded(plan, data, "none", NULL);
            clo_array centers;
            assert_true(clo_release_find(release, "centers", &centers));
            for (size_t i = 0; i < 3 * WIDE; i++) assert_true(isfinite(centers.data[i]));
            clo_release_free(release);
            clo_plan_free(plan);
            clo_bounded_free(data);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(centres_of_very_many_columns_are_found),
        cmocka_unit_test(a_plan_is_one_ask_of_cells_the_rounds_and_one_recovery),
        cmocka_unit_test(what_cannot_be_is_refused_before_anything_is_spent),
        cmocka_unit_test(a_release_of_lists_is_read_back_shown_and_checked),
        cmocka_unit_test(a_release_does_not_depend_on_how_records_are_stored),
        cmocka_unit_test(no_records_and_equal_records_are_no_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
