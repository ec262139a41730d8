/*
 * test_allocations.c - what happens when there is no memory, or no randomness, at any one place.
 *
 * A scenario is a whole piece of work through the public header.  It is run once to count its
 * allocations; then once for each of them, with that one failing.  Each time the status must be
 * CLO_MEMORY with a message, the failed call must not have touched its output, and everything that
 * was made before must be freed: the same program runs under AddressSanitizer, which counts.
 * Afterwards the scenario must succeed again.
 */
#include "check.h"
#include "small_runs.h"
#include "base/base.h"
#include "base/key.h"
#include "random/random.h"
#include <cloister/cloister.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROWS = 24, COLS = 2, MOST_JSON = 1 << 16 };

typedef struct fixture {
    char folder[64];
    char csv[96], npy[96], libsvm[96], ledger[96], scratch[96];
    double values[ROWS * COLS];
    double lower[COLS], upper[COLS];
} fixture;

static fixture files;

/* ---- scenarios -------------------------------------------------------------------------- */

/* A scenario gets what it works on and returns the first status that is not CLO_OK. */
typedef clo_status scenario(const void *given, clo_error *err);

/* Goes on, or leaves with an untouched output. */
#define STEP(call, output)                                                                         \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status) {                                                                              \
            assert_null(output);                                                                   \
            goto done;                                                                             \
        }                                                                                          \
    } while (0)

typedef struct work {
    const char *path;
    const char *mechanism;
    const char *settings; /* away from the presets, "rounds=2 dim=1", or NULL */
    bool columns;         /* bounded by columns, not by the norm */
    bool learns;          /* its norm and centre, first */
    bool pure;            /* no delta, which the accountant is quickest with */
    bool secure;
} work;

typedef struct text {
    char bytes[MOST_JSON];
    size_t used;
} text;

static bool write_text(void *user, const char *bytes, size_t count)
{
    text *const out = user;
    if (count > MOST_JSON - out->used) return false;
    memcpy(out->bytes + out->used, bytes, count);
    out->used += count;
    return true;
}

static clo_domain domain_of(const work *given)
{
    clo_domain domain = clo_domain_default();
    domain.relation = CLO_REPLACE;
    domain.cols = COLS;
    domain.rows = ROWS;
    domain.norm = given->columns ? 0 : 1;
    domain.lower = given->columns ? files.lower : NULL;
    domain.upper = given->columns ? files.upper : NULL;
    return domain;
}

static clo_status new_rng(bool secure, clo_rng **out, clo_error *err)
{
    uint8_t seed[32];
    clo_seed_from_text("a fault", seed);
    return secure ? clo_rng_new(out, err) : clo_rng_new_seeded(seed, out, err);
}

static clo_status set_parameters(const char *settings, clo_params *params, clo_error *err)
{
    char copy[64], *rest = copy, *word;
    snprintf(copy, sizeof copy, "%s", settings ? settings : "");
    while ((word = strtok_r(rest, " ", &rest))) {
        char *const equals = strchr(word, '=');
        *equals = 0;
        const clo_status status = clo_params_set_text(params, word, equals + 1, err);
        if (status) return status;
    }
    return CLO_OK;
}

static clo_status make_plan(const work *given, clo_plan **out, clo_error *err)
{
    const clo_mechanism *const mechanism = clo_mechanism_find(given->mechanism);
    const clo_domain domain = domain_of(given);
    const clo_loss budget = { 1, given->pure ? 0 : 1e-6 };
    clo_loss rest = budget;
    clo_learning learning = clo_learning_default();
    clo_params *params = NULL;
    clo_plan *plan = NULL;
    clo_status status;
    learning.norm = learning.center = true;
    assert_non_null(mechanism);
    STEP(clo_params_new(mechanism, &params, err), params);
    STEP(set_parameters(given->settings, params, err), NULL);
    if (given->learns) STEP(clo_learning_rest(&learning, budget, &rest, err), NULL);
    STEP(clo_plan_new(params, &domain, rest, clo_mechanism_guarantee(mechanism), &plan, err), plan);
    if (given->learns) STEP(clo_plan_learn(plan, &learning, budget, err), NULL);
    *out = plan;
    plan = NULL;
done:
    clo_plan_free(plan);
    clo_params_free(params);
    return status;
}

static clo_status read_bounded(const work *given, clo_bounded **out, clo_error *err)
{
    clo_read_options options = clo_read_options_default();
    const clo_domain domain = domain_of(given);
    clo_table *table = NULL;
    clo_status status;
    options.cols = strstr(given->path, ".svm") ? COLS : 0;
    STEP(clo_table_read(given->path, &options, &table, err), table);
    STEP(clo_bound(table, &domain, out, err), *out);
done:
    clo_table_free(table);
    return status;
}

/* Writes the release, reads it back and writes it again: the same bytes. */
static clo_status report_and_parse(const clo_release *release, clo_error *err)
{
    static text first, second, words;
    clo_release *again = NULL;
    clo_status status;
    first.used = second.used = words.used = 0;
    STEP(clo_report(release, CLO_TEXT, write_text, &words, err), NULL);
    STEP(clo_report(release, CLO_JSON, write_text, &first, err), NULL);
    STEP(clo_release_parse(first.bytes, first.used, &again, err), again);
    STEP(clo_report(again, CLO_JSON, write_text, &second, err), NULL);
    assert_int_equal(first.used, second.used);
    assert_memory_equal(first.bytes, second.bytes, first.used);
done:
    clo_release_free(again);
    return status;
}

/* From the file to the release in JSON and back. */
static clo_status whole_run(const void *context, clo_error *err)
{
    static const char *const names[COLS] = { "age", "income" };
    const work *const given = context;
    clo_bounded *data = NULL;
    clo_plan *plan = NULL;
    clo_grant *grant = NULL;
    clo_rng *rng = NULL;
    clo_release *release = NULL;
    clo_run_options options = clo_run_options_default();
    clo_status status;
    options.threads = 2;
    STEP(read_bounded(given, &data, err), data);
    STEP(make_plan(given, &plan, err), plan);
    STEP(clo_grant_unmetered(plan, &grant, err), grant);
    STEP(new_rng(given->secure, &rng, err), rng);
    STEP(clo_run(plan, grant, data, rng, &options, &release, err), release);
    STEP(clo_release_name_columns(release, names, COLS, err), NULL);
    STEP(report_and_parse(release, err), NULL);
done:
    clo_release_free(release);
    clo_rng_free(rng);
    clo_grant_free(grant);
    clo_plan_free(plan);
    clo_bounded_free(data);
    return status;
}

static bool visit_account(void *user, const clo_account *account)
{
    return true;
}

static bool count_charge(void *user, const clo_charge *charge)
{
    ++*(uint64_t *)user;
    return true;
}

/* Opens a ledger, declares a data set of its own, spends on it and reads the books. */
static clo_status ledger_work(const void *context, clo_error *err)
{
    static unsigned number; /* a name can be declared once */
    char dataset[32];
    uint64_t charges = 0;
    clo_ledger *ledger = NULL;
    clo_plan *plan = NULL;
    clo_grant *grant = NULL;
    clo_status status;
    snprintf(dataset, sizeof dataset, "set%u", number++);
    STEP(make_plan(context, &plan, err), plan);
    STEP(clo_ledger_create(files.ledger, CLO_LEDGER_OPEN, &ledger, err), ledger);
    STEP(clo_ledger_declare(ledger, dataset, (clo_loss){ 10, 1e-5 }, err), NULL);
    STEP(clo_ledger_spend(ledger, dataset, plan, &grant, err), grant);
    STEP(clo_ledger_store(ledger, grant, "result", 6, err), NULL);
    STEP(clo_ledger_accounts(ledger, dataset, visit_account, NULL, err), NULL);
    STEP(clo_ledger_history(ledger, dataset, count_charge, &charges, err), NULL);
    STEP(clo_ledger_verify(ledger, err), NULL);
    assert_int_equal(charges, 1);
done:
    clo_grant_free(grant);
    clo_plan_free(plan);
    clo_ledger_close(ledger);
    return status;
}

static clo_status generate_and_write(const void *context, clo_error *err)
{
    clo_subspace_model subspaces = clo_subspace_model_default();
    clo_mixture_model mixture = clo_mixture_model_default();
    double records[ROWS * 3], truth[2 * 3];
    uint32_t labels[ROWS], columns[ROWS * 2];
    const double shares[2] = { 2, 1 };
    clo_sparse_model sparse = clo_sparse_model_default();
    clo_sparse_rows rows = { columns, records, ROWS, 8, 2 };
    clo_rng *rng = NULL;
    clo_status status;
    sparse.rows = ROWS;
    sparse.cols = 8;
    sparse.clusters = 2;
    sparse.entries = 2;
    subspaces.spread = 1;
    subspaces.shares = mixture.shares = sparse.shares = shares;
    subspaces.rows = mixture.rows = ROWS;
    subspaces.cols = mixture.cols = 3;
    subspaces.clusters = mixture.clusters = 2;
    subspaces.dim = 1;
    STEP(new_rng(false, &rng, err), rng);
    STEP(clo_generate_subspaces(&subspaces, rng, records, labels, truth, err), NULL);
    STEP(clo_generate_mixture(&mixture, rng, records, labels, truth, err), NULL);
    STEP(clo_matrix_write(files.scratch, (clo_matrix){ records, ROWS, 3, 3 }, NULL, err), NULL);
    STEP(clo_generate_sparse(&sparse, rng, &rows, labels, NULL, err), NULL);
    STEP(clo_sparse_write(files.scratch, &rows, labels, err), NULL);
done:
    clo_rng_free(rng);
    return status;
}

/* Opens a release that exists and measures it on the operator's own table. */
static clo_status evaluate(const void *context, clo_error *err)
{
    const text *const json = context;
    clo_release *release = NULL;
    clo_table *table = NULL;
    clo_matrix truth = { NULL, 0, 0, 0 };
    clo_evaluation evaluation = { .struct_size = sizeof evaluation };
    clo_evaluate_options options = clo_evaluate_options_default();
    const uint32_t labels[ROWS] = { 0 };
    clo_status status;
    STEP(clo_release_parse(json->bytes, json->used, &release, err), release);
    STEP(clo_table_wrap((clo_matrix){ files.values, ROWS, COLS, COLS }, CLO_MISSING_NULL, &table,
                        err),
         table);
    STEP(clo_matrix_read(files.npy, &truth, err), truth.data);
    truth.rows = 2; /* as many as there are centres */
    options.truth = truth;
    options.truth_labels = labels;
    STEP(clo_evaluate_release(release, table, &options, &evaluation, err), NULL);
done:
    clo_matrix_free(truth);
    clo_table_free(table);
    clo_release_free(release);
    return status;
}

/* The same for a solution in a file: two lines, against the two axes. */
static clo_status evaluate_solution(const void *given, clo_error *err)
{
    const double axes[] = { 1, 0, 0, 1 }, points[] = { 0, 0, 0.5, 0.5 };
    const uint32_t labels[ROWS] = { 0, 1 };
    clo_evaluation evaluation = { .struct_size = sizeof evaluation };
    clo_evaluate_options options = clo_evaluate_options_default();
    clo_solution *solution = NULL;
    clo_table *table = NULL;
    clo_status status;
    options.truth = (clo_matrix){ axes, 4, 1, 1 };
    options.truth_offsets = (clo_matrix){ points, 2, 2, 2 };
    options.truth_labels = labels;
    STEP(clo_solution_read(given, &solution, err), solution);
    STEP(clo_table_wrap((clo_matrix){ files.values, ROWS, COLS, COLS }, CLO_MISSING_NULL, &table,
                        err),
         table);
    STEP(clo_evaluate_solution(solution, table, &options, &evaluation, err), NULL);
done:
    clo_table_free(table);
    clo_solution_free(solution);
    return status;
}

/* A job from its settings to a stored release.  Once it has spent, a release that the ledger could
 * not keep is delivered all the same, and the job says so. */
static clo_status whole_job(const void *context, clo_error *err)
{
    static const clo_setting settings[] = {
        { "mechanism", "kmeans/lloyd" },
        { "clusters", "2" },
        { "rounds", "1" },
        { "epsilon", "1" },
        { "norm", "private" },
        { "yes", "yes" }, /* so few rows cannot tell one */
        { "norm-at-most", "4" },
        { "center", "private" },
        { "dataset", "a job" },
        { "seed", "a fault" },
    };
    const clo_release *release = NULL;
    const clo_plan *plan = NULL;
    clo_job *job = NULL;
    clo_status status;
    static text json;
    (void)context;
    STEP(clo_job_new(&job, err), job);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        STEP(clo_job_set(job, settings[i].name, settings[i].value, err), NULL);
    STEP(clo_job_set(job, "data", files.csv, err), NULL);
    STEP(clo_job_set(job, "ledger", files.ledger, err), NULL);
    STEP(clo_job_release(job, &release, err), release);
    if (clo_job_trouble(job)) {
        status = CLO_MEMORY;
        *err = (clo_error){ .status = status, .message = "not kept" };
        goto done;
    }
    json.used = 0;
    STEP(clo_job_plan(job, &plan, err), plan);
    STEP(clo_plan_json(plan, write_text, &json, err), NULL);
done:
    clo_job_free(job);
    return status;
}

/* A bounds file and typed settings, without a ledger. */
static clo_status job_in_memory(const void *context, clo_error *err)
{
    const clo_release *release = NULL;
    const clo_plan *plan = NULL;
    clo_table *table = NULL;
    clo_job *job = NULL;
    clo_status status;
    STEP(clo_job_new(&job, err), job);
    STEP(clo_table_wrap((clo_matrix){ files.values, ROWS, COLS, COLS }, CLO_MISSING_NULL, &table,
                        err),
         table);
    STEP(clo_job_set(job, "mechanism", "kmeans/lloyd", err), NULL);
    STEP(clo_job_set(job, "clusters", "2", err), NULL);
    STEP(clo_job_set(job, "rounds", "1", err), NULL);
    STEP(clo_job_set(job, "bounds", context, err), NULL);
    STEP(clo_job_set(job, "no-ledger", "yes", err), NULL);
    STEP(clo_job_set_budget(job, (clo_loss){ 1, 0 }, err), NULL);
    STEP(clo_job_set_table(job, table, err), NULL);
    STEP(clo_job_plan(job, &plan, err), plan);
    STEP(clo_job_release(job, &release, err), release);
done:
    clo_job_free(job);
    clo_table_free(table);
    return status;
}

/* Rows in memory, two of each person. */
static clo_status bound_units(const void *given, clo_error *err)
{
    clo_domain domain = clo_domain_default();
    uint64_t units[ROWS];
    clo_table *table = NULL;
    clo_bounded *data = NULL;
    clo_status status;
    (void)given;
    for (size_t i = 0; i < ROWS; i++) units[i] = i / 2;
    domain.cols = COLS;
    domain.norm = 1;
    domain.unit = "person";
    STEP(clo_table_wrap_units((clo_matrix){ files.values, ROWS, COLS, COLS }, units,
                              CLO_MISSING_NULL, &table, err),
         table);
    STEP(clo_bound(table, &domain, &data, err), data);
done:
    clo_bounded_free(data);
    clo_table_free(table);
    return status;
}

/* ---- making things fail -------------------------------------------------------------------- */

static void must_succeed(scenario *run, const void *given)
{
    clo_error err = { 0 };
    assert_ok(run(given, &err), err);
}

/* Of the first allocations each is made to fail, of later ones ever fewer: a mechanism of many
 * rounds fails in the same places in each.  With CLOISTER_LONG in the environment each of all. */
static uint64_t next_allocation(uint64_t n)
{
    return getenv("CLOISTER_LONG") ? n + 1 : n + 1 + n / 16;
}

/* How many of the scenario's allocations fail without its saying so. */
static uint64_t count_faults(scenario *run, const void *given, uint64_t count)
{
    uint64_t faults = 0;
    for (uint64_t n = 1; n <= count; n = next_allocation(n)) {
        clo_error err = { 0 };
        clo_i_fail_allocation(n);
        const clo_status status = run(given, &err);
        const bool reached = clo_i_allocation_count() >= n;
        clo_i_fail_allocation(0);
        if (!reached || (status == CLO_MEMORY && err.status == CLO_MEMORY && err.message[0]))
            continue;
        print_message("# allocation %u of %u: status %d, \"%s\"\n", (unsigned)n, (unsigned)count,
                      (int)status, err.message);
        faults++;
    }
    return faults;
}

static void fail_every_allocation(scenario *run, const void *given)
{
    clo_i_fail_allocation(0);
    must_succeed(run, given);
    const uint64_t count = clo_i_allocation_count();
    assert_true(count > 0);
    assert_int_equal(count_faults(run, given, count), 0);
    must_succeed(run, given);
}

/* every: all mechanisms; otherwise those without a costly plan or fit, since what differs is how
 * the file is read and its rows are bounded and added up. */
static void survives_without_memory(const char *path, bool every)
{
    for (size_t i = 0; i < SMALL_RUNS; i++) {
        const char *const name = small_runs[i].mechanism, *const few = small_runs[i].settings;
        const clo_mechanism *const mechanism = clo_mechanism_find(name);
        const bool costly = strcmp(clo_mechanism_family(mechanism), "subspaces") == 0 ||
                            strcmp(clo_mechanism_method(mechanism), "aggregate") == 0 ||
                            strcmp(clo_mechanism_method(mechanism), "moments") == 0 ||
                            strcmp(clo_mechanism_method(mechanism), "highdim") == 0;
        if (costly && !every) continue;
        const work by_norm = { .path = path, .mechanism = name, .settings = few };
        const work by_columns = {
            .path = path, .mechanism = name, .settings = few, .columns = true
        };
        fail_every_allocation(whole_run, &by_norm);
        /* A mechanism that looks for bounds is not given any; one calibration in each is enough of
         * those that take long. */
        if (strcmp(clo_mechanism_family(mechanism), "bounds") != 0 &&
            strcmp(clo_mechanism_method(mechanism), "aggregate") != 0 &&
            strcmp(clo_mechanism_method(mechanism), "highdim") != 0)
            fail_every_allocation(whole_run, &by_columns);
    }
}

/* ---- the tests ------------------------------------------------------------------------------ */

static void a_run_from_csv_survives_any_failed_allocation(void **state)
{
    survives_without_memory(files.csv, true);
}

static void a_run_from_npy_survives_any_failed_allocation(void **state)
{
    /* Once it is bounded, a file that is mapped is rows like those of CSV. */
    const work by_norm = { .path = files.npy,
                           .mechanism = "kmeans/lloyd",
                           .settings = "clusters=2" };
    work by_columns = by_norm;
    by_columns.columns = true;
    fail_every_allocation(whole_run, &by_norm);
    fail_every_allocation(whole_run, &by_columns);
}

static void a_run_from_libsvm_survives_any_failed_allocation(void **state)
{
    survives_without_memory(files.libsvm, false);
}

static void bounds_of_columns_survive_any_failed_allocation(void **state)
{
    const work given = { .path = files.csv,
                         .mechanism = "bounds/quantile",
                         .settings = "of=columns" };
    fail_every_allocation(whole_run, &given);
}

static void a_run_with_a_solver_inside_survives_any_failed_allocation(void **state)
{
    const work given = { .path = files.csv,
                         .mechanism = "kmeans/local",
                         .settings = "clusters=2 cells=4 reduce=1" };
    fail_every_allocation(whole_run, &given);
}

static void laplace_noise_survives_any_failed_allocation(void **state)
{
    const work given = { .path = files.csv,
                         .mechanism = "kmeans/lloyd",
                         .settings = "clusters=2 rounds=2",
                         .pure = true };
    fail_every_allocation(whole_run, &given);
}

static void learning_first_survives_any_failed_allocation(void **state)
{
    const work given = { .path = files.csv,
                         .mechanism = "kmeans/lloyd",
                         .settings = "clusters=2 rounds=1",
                         .learns = true,
                         .pure = true };
    fail_every_allocation(whole_run, &given);
}

static void rows_of_units_survive_any_failed_allocation(void **state)
{
    fail_every_allocation(bound_units, NULL);
}

static void a_ledger_survives_any_failed_allocation_and_its_books_still_balance(void **state)
{
    const work given = { .mechanism = "kmeans/lloyd" };
    clo_error err = { 0 };
    clo_ledger *ledger = NULL;
    fail_every_allocation(ledger_work, &given);
    assert_ok(clo_ledger_open_existing(files.ledger, &ledger, &err), err);
    assert_ok(clo_ledger_verify(ledger, &err), err);
    clo_ledger_close(ledger);
}

static void a_job_survives_any_failed_allocation(void **state)
{
    FILE *const out = fopen(files.scratch, "w");
    (void)state;
    assert_non_null(out);
    fputs("name,lower,upper\nage,-1,1\nincome,-2,2\n", out);
    assert_int_equal(fclose(out), 0);
    fail_every_allocation(whole_job, NULL);
    fail_every_allocation(job_in_memory, files.scratch);
    unlink(files.scratch);
}

static void synthetic_data_survive_any_failed_allocation(void **state)
{
    fail_every_allocation(generate_and_write, NULL);
}

static clo_status release_centers(text *json, clo_error *err)
{
    const work given = { .path = files.csv, .settings = "clusters=2", .mechanism = "kmeans/lloyd" };
    clo_bounded *data = NULL;
    clo_plan *plan = NULL;
    clo_grant *grant = NULL;
    clo_rng *rng = NULL;
    clo_release *release = NULL;
    clo_status status;
    STEP(read_bounded(&given, &data, err), data);
    STEP(make_plan(&given, &plan, err), plan);
    STEP(clo_grant_unmetered(plan, &grant, err), grant);
    STEP(new_rng(false, &rng, err), rng);
    STEP(clo_run(plan, grant, data, rng, NULL, &release, err), release);
    STEP(clo_report(release, CLO_JSON, write_text, json, err), NULL);
done:
    clo_release_free(release);
    clo_rng_free(rng);
    clo_grant_free(grant);
    clo_plan_free(plan);
    clo_bounded_free(data);
    return status;
}

static void an_evaluation_survives_any_failed_allocation(void **state)
{
    static text json;
    clo_error err = { 0 };
    json.used = 0;
    assert_ok(release_centers(&json, &err), err);
    fail_every_allocation(evaluate, &json);
}

static void the_evaluation_of_a_solution_survives_any_failed_allocation(void **state)
{
    FILE *const file = fopen(files.scratch, "w");
    assert_non_null(file);
    fputs("{\"schema\": \"cloister.solution/1\", \"solver\": \"kplanes\", \"cols\": 2, \"cost\": 0,"
          "\"values\": {\"dims\": [1, 1], \"bases\": [[[0.6], [0.8]], [[0.8], [-0.6]]],"
          "\"offsets\": [[0, 0], [0.5, 0.5]]}}",
          file);
    assert_int_equal(fclose(file), 0);
    fail_every_allocation(evaluate_solution, files.scratch);
}

/* The system's randomness may give out at any call; nothing may be released then. */
static void no_run_goes_on_without_randomness(void **state)
{
    static const char *const mechanisms[] = { "kmeans/lloyd", "kmeans/local", "subspace/gaussian",
                                              "bounds/quantile" };
    for (size_t i = 0; i < 4; i++) {
        const work given = { .path = files.csv, .mechanism = mechanisms[i], .secure = true };
        clo_status status = CLO_ENTROPY;
        uint64_t n = 0;
        clo_error err = { 0 };
        while (status == CLO_ENTROPY && ++n < 1000) {
            clo_i_fail_entropy(n);
            status = whole_run(&given, &err);
            clo_i_fail_entropy(0);
        }
        assert_ok(status, err); /* it was never reached any more */
        assert_true(n == 2);    /* the generator's own; after the charge nothing is asked for */
        must_succeed(whole_run, &given);
    }
}

/* The control of this program: two allocations, of which the second is let go in silence. */
static clo_status careless(const void *given, clo_error *err)
{
    char *first = NULL, *second = NULL;
    CLO_TRY(clo_i_alloc(1, 1, &first, err));
    if (clo_i_alloc(1, 1, &second, err) == CLO_OK) clo_i_free(second);
    clo_i_free(first);
    return CLO_OK;
}

static void a_swallowed_failure_is_noticed(void **state)
{
    assert_int_equal(count_faults(careless, NULL, 2), 1);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void name_file(char out[96], const char *name)
{
    snprintf(out, 96, "%s/%s", files.folder, name);
}

static int make_files(void **state)
{
    clo_error err = { 0 };
    strcpy(files.folder, "/tmp/cloister-fault-XXXXXX");
    if (!mkdtemp(files.folder)) return -1;
    name_file(files.csv, "data.csv");
    name_file(files.npy, "data.npy");
    name_file(files.libsvm, "data.svm");
    name_file(files.ledger, "ledger.db");
    name_file(files.scratch, "scratch.csv");
    setenv("XDG_CONFIG_HOME", files.folder, 1); /* a key of its own for the ledger */
    for (size_t j = 0; j < COLS; j++) {
        files.lower[j] = -1;
        files.upper[j] = 1;
    }
    for (size_t i = 0; i < ROWS * COLS; i++)
        files.values[i] = 0.05 * (double)(i % 13) - 0.3; /* inside the unit ball */
    const clo_matrix values = { files.values, ROWS, COLS, COLS };
    if (clo_matrix_write(files.csv, values, NULL, &err)) return -1;
    if (clo_matrix_write(files.npy, values, NULL, &err)) return -1;
    FILE *const svm = fopen(files.libsvm, "w");
    if (!svm) return -1;
    for (size_t i = 0; i < ROWS; i++)
        fprintf(svm, "%d 1:%.3f 2:%.3f\n", (int)(i % 2), files.values[i * COLS],
                files.values[i * COLS + 1]);
    return fclose(svm);
}

static int remove_files(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", files.folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_from_csv_survives_any_failed_allocation),
        cmocka_unit_test(a_run_from_npy_survives_any_failed_allocation),
        cmocka_unit_test(a_run_from_libsvm_survives_any_failed_allocation),
        cmocka_unit_test(a_run_with_a_solver_inside_survives_any_failed_allocation),
        cmocka_unit_test(bounds_of_columns_survive_any_failed_allocation),
        cmocka_unit_test(laplace_noise_survives_any_failed_allocation),
        cmocka_unit_test(learning_first_survives_any_failed_allocation),
        cmocka_unit_test(rows_of_units_survive_any_failed_allocation),
        cmocka_unit_test(a_ledger_survives_any_failed_allocation_and_its_books_still_balance),
        cmocka_unit_test(a_job_survives_any_failed_allocation),
        cmocka_unit_test(synthetic_data_survive_any_failed_allocation),
        cmocka_unit_test(an_evaluation_survives_any_failed_allocation),
        cmocka_unit_test(the_evaluation_of_a_solution_survives_any_failed_allocation),
        cmocka_unit_test(no_run_goes_on_without_randomness),
        cmocka_unit_test(a_swallowed_failure_is_noticed),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
