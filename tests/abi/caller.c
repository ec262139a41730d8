/*
 * caller.c - a program that uses every struct with a struct_size, compiled three times: with the
 * public headers of this library, of an older and of a newer one (other_header.py).  Behind each
 * struct lies a canary; in the build with AddressSanitizer its redzones watch as well.
 */
#include CALLER_HEADER
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

enum { ROWS = 200, COLS = 4, CANARY = 128, SPOT = 0xa5 };

#define ok(call)                                                                                   \
    do {                                                                                           \
        clo_error *const err = &failure;                                                           \
        if ((call) != CLO_OK) fail_msg("%s", failure.message);                                     \
    } while (0)

static clo_error failure;
static double values[ROWS * COLS];

typedef struct canary {
    unsigned char bytes[CANARY];
} canary;

static canary fresh(void)
{
    canary made;
    memset(made.bytes, SPOT, sizeof made.bytes);
    return made;
}

static void assert_lives(const canary *bird)
{
    for (size_t i = 0; i < sizeof bird->bytes; i++) assert_int_equal(bird->bytes[i], SPOT);
}

/* ---- presets ------------------------------------------------------------------------------ */

static void presets_stay_inside_the_callers_struct(void **state)
{
    (void)state;
#define X(type)                                                                                    \
    {                                                                                              \
        struct {                                                                                   \
            type it;                                                                               \
            canary behind;                                                                         \
        } made = { .behind = fresh() };                                                            \
        const type whole = type##_default();                                                       \
        type##_init(&made.it, sizeof made.it);                                                     \
        assert_lives(&made.behind);                                                                \
        assert_int_equal(made.it.struct_size, sizeof made.it);                                     \
        assert_int_equal(whole.struct_size, sizeof whole);                                         \
    }
    CALLERS_FILL(X)
#undef X
}

/* ---- all the way ---------------------------------------------------------------------------- */

static clo_table *table(void)
{
    clo_table *made = NULL;
    ok(clo_table_wrap((clo_matrix){ values, ROWS, COLS, COLS }, CLO_MISSING_NULL, &made, err));
    return made;
}

static clo_domain domain(void)
{
    clo_domain made = clo_domain_default();
    made.cols = COLS;
    made.norm = 1;
    return made;
}

static clo_plan *plan(const clo_domain *known, double epsilon)
{
    clo_params *params = NULL;
    clo_plan *made = NULL;
    ok(clo_params_new(clo_mechanism_find("kmeans/lloyd"), &params, err));
    ok(clo_params_set(params, "clusters", 2, err));
    ok(clo_plan_new(params, known, (clo_loss){ epsilon, 1e-6 }, CLO_EXACT, &made, err));
    clo_params_free(params);
    return made;
}

/* Which of the two is older is what this test is about: see that it is so. */
static void assert_lengths(const clo_learning *of_library)
{
#if defined(CALLER_IS_OLDER)
    assert_true(of_library->struct_size > sizeof(clo_learning));
#elif defined(CALLER_IS_NEWER)
    assert_true(of_library->struct_size < sizeof(clo_learning));
#else
    assert_int_equal(of_library->struct_size, sizeof(clo_learning));
#endif
}

static clo_release *run(void)
{
    const clo_domain known = domain();
    clo_learning learning = clo_learning_default();
    clo_run_options options = clo_run_options_default();
    const uint8_t seed[32] = { 1 };
    clo_loss rest;
    clo_grant *grant = NULL;
    clo_bounded *data = NULL;
    clo_rng *rng = NULL;
    clo_release *made = NULL;
    clo_table *const rows = table();
    learning.norm = true;
    options.threads = 1;
    ok(clo_learning_rest(&learning, (clo_loss){ 4, 1e-6 }, &rest, err));
    clo_plan *const planned = plan(&known, rest.epsilon);
    ok(clo_plan_learn(planned, &learning, (clo_loss){ 4, 1e-6 }, err));
    assert_lengths(clo_plan_learning(planned));
    ok(clo_bound(rows, &known, &data, err));
    ok(clo_grant_unmetered(planned, &grant, err));
    ok(clo_rng_new_seeded(seed, &rng, err));
    ok(clo_run(planned, grant, data, rng, &options, &made, err));
    clo_rng_free(rng);
    clo_grant_free(grant);
    clo_bounded_free(data);
    clo_plan_free(planned);
    clo_table_free(rows);
    return made;
}

static void a_run_is_served_and_its_result_measured(void **state)
{
    struct {
        clo_evaluation it;
        canary behind;
    } found = { .it = { .struct_size = sizeof found.it }, .behind = fresh() };
    clo_evaluate_options options = clo_evaluate_options_default();
    clo_release *const release = run();
    clo_table *const rows = table();
    (void)state;
    ok(clo_evaluate_release(release, rows, &options, &found.it, err));
    assert_lives(&found.behind);
    assert_int_equal(found.it.struct_size, sizeof found.it);
    assert_true(found.it.cost >= 0);
    clo_release_free(release);
    clo_table_free(rows);
}

static void lines_of_a_plan_stay_inside_the_callers_struct(void **state)
{
    const clo_domain known = domain();
    clo_plan *const planned = plan(&known, 1);
    (void)state;
    for (size_t i = 0; i < clo_plan_line_count(planned); i++) {
        struct {
            clo_plan_line it;
            canary behind;
        } line = { .behind = fresh() };
        clo_plan_line_get(planned, i, &line.it, sizeof line.it);
        assert_lives(&line.behind);
        assert_string_equal(line.it.query, clo_plan_line_at(planned, i).query);
        assert_true(clo_plan_line_at(planned, i).share > 0);
    }
    clo_plan_free(planned);
}

static void files_are_read_and_solved(void **state)
{
    char path[] = "/tmp/caller_XXXXXX";
    clo_read_options reading = clo_read_options_default();
    clo_solve_options solving = clo_solve_options_default();
    clo_params *params = NULL;
    clo_solution *solution = NULL;
    clo_table *rows = NULL;
    const int file = mkstemp(path);
    (void)state;
    assert_true(file >= 0);
    close(file);
    ok(clo_matrix_write(path, (clo_matrix){ values, ROWS, COLS, COLS }, NULL, err));
    reading.columns = "1-3";
    ok(clo_table_read(path, &reading, &rows, err));
    unlink(path);
    assert_int_equal(clo_table_cols(rows), 3);
    solving.threads = 1;
    ok(clo_solver_params_new(clo_solver_find("kmeans"), &params, err));
    ok(clo_params_set(params, "clusters", 2, err));
    ok(clo_solve(params, rows, &solving, &solution, err));
    assert_int_equal(clo_solution_clusters(solution), 2);
    clo_solution_free(solution);
    clo_params_free(params);
    clo_table_free(rows);
}

static void models_are_drawn_from(void **state)
{
    clo_subspace_model flats = clo_subspace_model_default();
    clo_mixture_model mixture = clo_mixture_model_default();
    clo_sparse_model sparse = clo_sparse_model_default();
    const uint8_t seed[32] = { 2 };
    double records[ROWS * COLS];
    uint32_t columns[ROWS];
    clo_sparse_rows rows = { columns, records, ROWS, 100, 1 };
    clo_rng *rng = NULL;
    (void)state;
    ok(clo_rng_new_seeded(seed, &rng, err));
    flats.rows = mixture.rows = sparse.rows = ROWS;
    flats.cols = mixture.cols = COLS;
    ok(clo_generate_subspaces(&flats, rng, records, NULL, NULL, err));
    ok(clo_generate_mixture(&mixture, rng, records, NULL, NULL, err));
    sparse.cols = 100;
    sparse.entries = 1;
    ok(clo_generate_sparse(&sparse, rng, &rows, NULL, NULL, err));
    clo_rng_free(rng);
}

static clo_status draw(void *user, int world, uint64_t trial, double *outputs, clo_error *err)
{
    (void)user, (void)world, (void)err;
    *outputs = (double)(trial * 7919 % 101);
    return CLO_OK;
}

static void findings_stay_inside_the_callers_struct(void **state)
{
    struct {
        clo_audit_finding it;
        canary behind;
    } found = { .it = { .struct_size = sizeof found.it }, .behind = fresh() };
    clo_audit_options options = clo_audit_options_default();
    clo_audit_subject subject = clo_audit_subject_default();
    (void)state;
    options.trials = 1000;
    options.threads = 1;
    subject.pair = subject.what = "the same";
    subject.outputs = 1;
    subject.unit = CLO_AUDIT_EPSILON;
    subject.claim = 1;
    subject.draw = draw;
    ok(clo_audit_subject_run(&subject, &options, &found.it, err));
    assert_lives(&found.behind);
    assert_false(found.it.refuted);
    assert_string_equal(found.it.pair, "the same");
}

static bool has_a_size(void *user, const clo_account *account)
{
    *(bool *)user = account->struct_size > sizeof(size_t);
    return true;
}

/* Closes the ledger. */
static void spend_and_restore(clo_ledger *ledger, const char *folder, const char *path)
{
    const clo_domain known = domain();
    clo_plan *const planned = plan(&known, 0.5);
    clo_spending spending = clo_spending_default();
    clo_restoration restoration = clo_restoration_default();
    clo_grant *grant = NULL;
    char backup[64];
    snprintf(backup, sizeof backup, "%s/backup.db", folder);
    spending.dataset = "d";
    spending.plan = planned;
    ok(clo_ledger_spend_for(ledger, &spending, &grant, err));
    assert_non_null(clo_grant_token(grant));
    ok(clo_ledger_backup(ledger, backup, err));
    clo_ledger_close(ledger);
    assert_int_equal(unlink(path), 0);
    restoration.backup = backup;
    restoration.ledger = path;
    restoration.note = "the disk broke";
    ok(clo_ledger_restore(&restoration, NULL, NULL, err));
    clo_grant_free(grant);
    clo_plan_free(planned);
}

static void facts_of_a_ledger_stay_inside_the_callers_struct(void **state)
{
    struct {
        clo_ledger_facts it;
        canary behind;
    } facts = { .it = { .struct_size = sizeof facts.it }, .behind = fresh() };
    char folder[] = "/tmp/caller_XXXXXX", path[64], command[64];
    clo_ledger *ledger = NULL;
    bool sized = false;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/ledger.db", folder);
    setenv("XDG_CONFIG_HOME", folder, 1);
    ok(clo_ledger_create(path, CLO_LEDGER_OPEN, &ledger, err));
    ok(clo_ledger_declare(ledger, "d", (clo_loss){ 1, 1e-5 }, err));
    ok(clo_ledger_describe(ledger, &facts.it, err));
    ok(clo_ledger_accounts(ledger, NULL, has_a_size, &sized, err));
    spend_and_restore(ledger, folder, path);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    assert_lives(&facts.behind);
    assert_int_equal(facts.it.declarations, 1);
    assert_true(sized);
}

/* ---- what only the caller knows -------------------------------------------------------------- */

#ifdef CALLER_IS_NEWER
/* Not ignored: a caller that asks for something must not get a run without it. */
static void a_field_that_the_library_does_not_know_is_refused(void **state)
{
    clo_domain known = domain();
    clo_read_options reading = clo_read_options_default();
    clo_mixture_model model = clo_mixture_model_default();
    clo_learning learning = clo_learning_default();
    clo_table *rows = NULL;
    clo_loss rest;
    double records[1];
    (void)state;
    ok(clo_domain_check(&known, err));
    assert_true(known.only_here == 0);
    known.only_here = reading.only_here = model.only_here = learning.only_here = 1;
    assert_int_equal(clo_domain_check(&known, &failure), CLO_UNSUPPORTED);
    assert_non_null(strstr(failure.message, "the clo_domain sets a field"));
    assert_int_equal(clo_table_read("nowhere", &reading, &rows, &failure), CLO_UNSUPPORTED);
    assert_int_equal(clo_generate_mixture(&model, NULL, records, NULL, NULL, &failure),
                     CLO_UNSUPPORTED);
    assert_int_equal(clo_learning_rest(&learning, (clo_loss){ 1, 0 }, &rest, &failure),
                     CLO_UNSUPPORTED);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presets_stay_inside_the_callers_struct),
        cmocka_unit_test(a_run_is_served_and_its_result_measured),
        cmocka_unit_test(lines_of_a_plan_stay_inside_the_callers_struct),
        cmocka_unit_test(files_are_read_and_solved),
        cmocka_unit_test(models_are_drawn_from),
        cmocka_unit_test(findings_stay_inside_the_callers_struct),
        cmocka_unit_test(facts_of_a_ledger_stay_inside_the_callers_struct),
#ifdef CALLER_IS_NEWER
        cmocka_unit_test(a_field_that_the_library_does_not_know_is_refused),
#endif
    };
    for (size_t i = 0; i < ROWS * COLS; i++) values[i] = (double)(i * 7919 % 200) / 400;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
