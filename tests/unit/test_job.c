/*
 * test_job.c - a run is one call of the library: from settings to a stored release, nothing spent
 * before all that can fail has gone well, no step out of order.
 */
#include "ledger_place.h"
#include "job_settings.h"
#include "pipeline.h"
#include <math.h>
#include <omp.h>

enum { ROWS = 60, COLS = 2 };
static double records[ROWS * COLS];
static char csv[300];

/* An open ledger in which all names of these tests have a cap. */
static int make_ledger(const place *p)
{
    static const char *const names[] = { "people.csv", "people", "x", "memory" };
    clo_ledger *ledger = NULL;
    if (clo_ledger_create(p->ledger, CLO_LEDGER_OPEN, &ledger, NULL)) return -1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (clo_ledger_declare(ledger, names[i], (clo_loss){ 1000, 0.1 }, NULL)) return -1;
    clo_ledger_close(ledger);
    return 0;
}

static int make_files(void **state)
{
    if (make_place(state)) return -1;
    const place *const p = *state;
    if (make_ledger(p)) return -1;
    snprintf(csv, sizeof csv, "%s/people.csv", p->folder);
    FILE *const out = fopen(csv, "w");
    if (!out) return -1;
    fprintf(out, "age,income\n");
    for (size_t i = 0; i < ROWS; i++) {
        records[2 * i] = (i % 2 ? 0.5 : -0.5) + 0.001 * (double)i;
        records[2 * i + 1] = 0.25 - 0.002 * (double)i;
        fprintf(out, "%.17g,%.17g\n", records[2 * i], records[2 * i + 1]);
    }
    return fclose(out);
}

#define WITH_FILES(test) cmocka_unit_test_setup_teardown(test, make_files, remove_place)

static clo_job *job_with(const char *settings)
{
    clo_error err;
    clo_job *job = NULL;
    assert_ok(clo_job_new(&job, &err), err);
    set(job, "mechanism=kmeans/lloyd clusters=2 epsilon=1 norm=1 seed=job");
    set(job, settings);
    return job;
}

/* The rows here are so few that noise hides all. */
static bool try_anyway(void *user, const char *why)
{
    (void)user;
    return why[0] != 0;
}

/* On the file, charged to the ledger of the place; without a seed, which no cap takes. */
static clo_job *job_at(const place *p, const char *settings)
{
    clo_error err;
    clo_job *const job = job_with("");
    assert_ok(clo_job_set(job, "seed", NULL, &err), err);
    set(job, settings);
    assert_ok(clo_job_set(job, "data", csv, &err), err);
    assert_ok(clo_job_set(job, "ledger", p->ledger, &err), err);
    clo_job_set_anyway(job, try_anyway, NULL);
    return job;
}

/* The same with a seed, on a name that has no cap. */
static clo_job *seeded_at(const place *p, const char *settings)
{
    clo_job *const job = job_at(p, "dataset=free yes=yes seed=job");
    set(job, settings);
    return job;
}

/* 0 where there is no ledger yet. */
static uint64_t charges_at(const place *p)
{
    clo_ledger *ledger = NULL;
    clo_ledger_facts facts = { .struct_size = sizeof facts };
    clo_error err;
    if (access(p->ledger, F_OK) != 0) return 0;
    assert_ok(clo_ledger_open_existing(p->ledger, &ledger, &err), err);
    assert_ok(clo_ledger_describe(ledger, &facts, &err), err);
    clo_ledger_close(ledger);
    return facts.charges;
}

static void assert_same_json(const clo_job *a, const clo_job *b)
{
    size_t length[2];
    const char *const one = clo_job_json(a, &length[0]);
    const char *const other = clo_job_json(b, &length[1]);
    assert_non_null(one);
    /* Two charges have two certificates, which stand at the end. */
    const char *const end = memmem(one, length[0], "\"certificate\"", 13);
    if (!end) assert_int_equal(length[0], length[1]);
    const size_t same = end ? (size_t)(end - one) : length[0];
    assert_true(length[1] >= same);
    assert_memory_equal(one, other, same);
}

/* ---- bounds as lines ------------------------------------------------------------------- */

static void bounds_can_be_the_lines_of_a_file(void **state)
{
    static const char lines[] = "income,-1,1\nage,-2,2\n", ordered[] = "age,-2,2\nincome,-1,1\n";
    const place *const p = *state;
    char file[300];
    clo_error err;
    const clo_release *release;
    clo_job *jobs[3];
    snprintf(file, sizeof file, "%s/bounds.csv", p->folder);
    FILE *const out = fopen(file, "w");
    assert_non_null(out);
    fputs(lines, out);
    fclose(out);
    for (int i = 0; i < 3; i++) {
        jobs[i] = job_at(p, "no-ledger=yes seed=job");
        assert_ok(clo_job_set(jobs[i], "norm", NULL, &err), err);
        assert_ok(clo_job_set(jobs[i], "ledger", NULL, &err), err);
        assert_ok(clo_job_set(jobs[i], "bounds", i == 2 ? ordered : i ? lines : file, &err), err);
        assert_ok(clo_job_release(jobs[i], &release, &err), err);
    }
    assert_same_json(jobs[0], jobs[1]);
    assert_same_json(jobs[0], jobs[2]); /* by their names, in whatever order */
    for (int i = 0; i < 3; i++) clo_job_free(jobs[i]);
    clo_job *const job = job_at(p, "");
    assert_ok(clo_job_set(job, "bounds", "age,1\n", &err), err);
    assert_fails(clo_job_check(job, &err), CLO_FORMAT, err, "bounds, line 1");
    clo_job_free(job);
}

/* ---- the whole way --------------------------------------------------------------------- */

static void one_call_goes_from_a_file_to_a_stored_release(void **state)
{
    const place *const p = *state;
    clo_job *const job = job_at(p, "token=t");
    const clo_release *release = NULL;
    const clo_plan *plan = NULL;
    clo_array centers;
    clo_account account;
    clo_error err;
    char *stored = NULL;
    size_t length = 0, own = 0;
    assert_ok(clo_job_release(job, &release, &err), err);
    assert_true(release == clo_job_result(job) && clo_release_is_metered(release));
    assert_true(clo_release_find(release, "centers", &centers));
    assert_string_equal(clo_release_column_name(release, 1), "income");
    assert_null(clo_job_trouble(job));
    assert_true(clo_job_account(job, &account, sizeof account) && account.charges == 1 &&
                account.capped);
    assert_string_equal(account.dataset, "people.csv"); /* the file's name */
    assert_ok(clo_job_plan(job, &plan, &err), err);
    clo_ledger *const ledger = open_at(p->ledger);
    assert_ok(clo_ledger_fetch(ledger, "people.csv", plan, "t", &stored, &length, &err), err);
    const char *const json = clo_job_json(job, &own);
    assert_int_equal(length, own);
    assert_memory_equal(stored, json, own);
    clo_ledger_bytes_free(stored);
    clo_ledger_close(ledger);
    clo_job_free(job);
}

static void data_in_memory_and_typed_settings_give_the_same_release(void **state)
{
    const place *const p = *state;
    const clo_domain domain = ball(COLS, 1, CLO_REPLACE); /* the job counts the rows */
    clo_job *const words = seeded_at(p, ""), *memory = NULL;
    const clo_release *from_text = NULL, *from_memory = NULL;
    clo_table *table = NULL;
    clo_array one, other;
    clo_error err;
    assert_ok(clo_job_new(&memory, &err), err);
    set(memory, "mechanism=kmeans/lloyd clusters=2 seed=job dataset=free2 yes=yes "
                "new=yes threads=2");
    assert_ok(clo_job_set(memory, "ledger", p->ledger, &err), err);
    assert_ok(
        clo_table_wrap((clo_matrix){ records, ROWS, COLS, COLS }, CLO_MISSING_NULL, &table, &err),
        err);
    assert_ok(clo_job_set_table(memory, table, &err), err);
    assert_ok(clo_job_set_domain(memory, &domain, &err), err);
    assert_ok(clo_job_set_budget(memory, (clo_loss){ 1, -1 }, &err), err);
    assert_ok(clo_job_release(words, &from_text, &err), err);
    assert_ok(clo_job_release(memory, &from_memory, &err), err);
    assert_true(clo_release_find(from_text, "centers", &one));
    assert_true(clo_release_find(from_memory, "centers", &other));
    assert_same_doubles(one.data, other.data, 2 * COLS);
    assert_int_equal(clo_release_rows(from_memory), ROWS);
    assert_close(clo_release_loss(from_memory).delta, clo_default_delta(ROWS), 0);
    assert_int_equal(charges_at(p), 2);
    clo_job_free(words);
    clo_job_free(memory);
    clo_table_free(table);
}

static void a_token_fetches_the_same_bytes_for_nothing(void **state)
{
    const place *const p = *state;
    clo_job *const first = job_at(p, "token=t"), *const again = job_at(p, "token=t");
    const clo_release *release = NULL;
    clo_error err;
    bool found = false;
    assert_ok(clo_job_release(first, &release, &err), err);
    assert_ok(clo_job_prepare(again, &err), err);
    assert_ok(clo_job_fetch(again, &found, &err), err);
    assert_true(found);
    assert_same_json(first, again);
    assert_string_equal(clo_job_token(first), "t");
    assert_string_equal(clo_job_token(again), "t");
    assert_int_equal(charges_at(p), 1);
    /* Done is done: there is nothing to spend. */
    assert_fails(clo_job_spend(again, &err), CLO_ARGUMENT, err, "out of order");
    clo_job_free(first);
    clo_job_free(again);
}

/* ledger.T12, from file to refusal: nothing is spent, and the operator's word is enough. */
static void data_of_another_name_are_noticed(void **state)
{
    const place *const p = *state;
    clo_job *const first = job_at(p, "dataset=people"), *const other = job_at(p, "dataset=x");
    const clo_release *release = NULL;
    const char *advice;
    clo_error err;
    assert_ok(clo_job_release(first, &release, &err), err);
    assert_ok(clo_job_prepare(other, &err), err);
    assert_string_equal(clo_job_known_as(other), "people");
    assert_fails(clo_job_release(other, &release, &err), CLO_ARGUMENT, err,
                 "knows these data as 'people'");
    assert_int_equal(clo_job_advice(other, &advice), CLO_ADVICE_SET);
    assert_string_equal(advice, "dataset people");
    assert_int_equal(charges_at(p), 1);
    clo_job *const meant = job_at(p, "dataset=x new=yes");
    assert_ok(clo_job_release(meant, &release, &err), err);
    assert_null(clo_job_known_as(meant));
    assert_int_equal(charges_at(p), 2);
    clo_job_free(first);
    clo_job_free(other);
    clo_job_free(meant);
}

/* The text of a golden case, of which the version alone is not the program's. */
static void read_golden(const char *command, char *out, size_t room)
{
    char path[500], line[1000];
    const char *const folder = getenv("GOLDEN_RELEASES");
    bool inside = false;
    out[0] = 0;
    if (!folder) skip();
    snprintf(path, sizeof path, "%s/kmeans_lloyd.txt", folder);
    FILE *const in = fopen(path, "r");
    assert_non_null(in);
    while (fgets(line, sizeof line, in)) {
        if (line[0] == '$')
            inside = strncmp(line + 2, command, strlen(command)) == 0 &&
                     line[2 + strlen(command)] == '\n';
        else if (inside && line[0] != '\n')
            strncat(out,
                    strstr(line, "\"version\"") ? "  \"version\": \"" CLO_VERSION "\",\n" : line,
                    room - strlen(out) - 1);
    }
    fclose(in);
}

static void the_command_and_a_job_give_the_same_bytes(void **state)
{
    const place *const p = *state;
    char golden[8000], one[300];
    clo_error err;
    clo_job *job = NULL;
    const clo_release *release = NULL;
    size_t length = 0;
    read_golden("cloister run kmeans/lloyd one.csv --clusters 2 --epsilon 1 --norm 1", golden,
                sizeof golden);
    in_shell(p, "printf 'x,y\\n0.25,-0.5\\n' > '%s/one.csv'");
    snprintf(one, sizeof one, "%s/one.csv", p->folder);
    assert_ok(clo_job_new(&job, &err), err);
    set(job, "mechanism=kmeans/lloyd clusters=2 epsilon=1 norm=1 seed=golden no-ledger=yes");
    assert_ok(clo_job_set(job, "data", one, &err), err);
    assert_ok(clo_job_release(job, &release, &err), err);
    const char *const json = clo_job_json(job, &length);
    assert_int_equal(length, strlen(golden));
    assert_memory_equal(json, golden, length);
    assert_null(clo_job_ledger_path(job));
    clo_job_free(job);
}

/* ---- the order ------------------------------------------------------------------------- */

enum { STEPS = 6 };

static clo_status take(clo_job *job, int step, clo_error *err)
{
    bool found;
    switch (step) {
    case 0:
        return clo_job_check(job, err);
    case 1:
        return clo_job_prepare(job, err);
    case 2:
        return clo_job_fetch(job, &found, err);
    case 3:
        return clo_job_spend(job, err);
    case 4:
        return clo_job_run(job, err);
    default:
        return clo_job_store(job, err);
    }
}

static void a_step_out_of_order_is_refused_and_changes_nothing(void **state)
{
    const place *const p = *state;
    clo_job *const job = job_at(p, "");
    const clo_release *release = NULL;
    clo_error err;
    for (int at = 0; at <= STEPS; at++) { /* so many steps were taken */
        for (int step = 0; step < STEPS; step++) {
            if (step == at || (at == 0 && step == 1)) continue; /* prepare checks by itself */
            assert_fails(take(job, step, &err), CLO_ARGUMENT, err, "out of order");
        }
        assert_int_equal(charges_at(p), at > 3 ? 1 : 0);
        assert_true((clo_job_result(job) != NULL) == (at == STEPS)); /* only once it is stored */
        assert_true((clo_job_json(job, NULL) != NULL) == (at == STEPS));
        if (at > 1)
            assert_fails(clo_job_set(job, "epsilon", "2", &err), CLO_ARGUMENT, err,
                         "cannot change");
        if (at < STEPS) assert_ok(take(job, at, &err), err);
    }
    assert_ok(clo_job_release(job, &release, &err), err); /* which has nothing left to do */
    assert_int_equal(charges_at(p), 1);
    clo_job_free(job);
}

static void one_call_takes_the_steps_that_are_left(void **state)
{
    const place *const p = *state;
    clo_job *const whole = seeded_at(p, "no-ledger=no");
    const clo_release *release = NULL;
    clo_error err;
    assert_ok(clo_job_release(whole, &release, &err), err);
    for (int taken = 1; taken < STEPS; taken++) {
        clo_job *const job = seeded_at(p, "");
        for (int step = 0; step < taken; step++) assert_ok(take(job, step, &err), err);
        assert_ok(clo_job_release(job, &release, &err), err);
        assert_same_json(whole, job);
        clo_job_free(job);
    }
    clo_job_free(whole);
}

static void a_rehearsal_leads_nowhere(void **state)
{
    const place *const p = *state;
    clo_job *const job = job_at(p, "");
    const clo_plan *plan = NULL;
    const clo_release *release = NULL;
    clo_account account;
    clo_error err;
    assert_ok(clo_job_rehearse(job, &err), err);
    assert_ok(clo_job_plan(job, &plan, &err), err);
    assert_int_equal(clo_plan_domain(plan)->rows, ROWS);
    assert_true(clo_job_account(job, &account, sizeof account) && account.charges == 0);
    assert_string_equal(account.dataset, "people.csv");
    assert_fails(clo_job_spend(job, &err), CLO_ARGUMENT, err, "a rehearsal");
    assert_fails(clo_job_release(job, &release, &err), CLO_ARGUMENT, err, "a rehearsal");
    assert_null(release);
    clo_job_free(job);
}

/* ---- ledger.T13: no ledger and no data set comes of a mistyped name --------------------- */

static void no_job_makes_a_ledger(void **state)
{
    const place *const p = *state;
    char wrong[320];
    const char *advice = NULL;
    const clo_release *release = NULL;
    clo_error err;
    snprintf(wrong, sizeof wrong, "%s/ledgr.db", p->folder);
    for (int rehearsal = 0; rehearsal < 2; rehearsal++) {
        clo_job *const job = job_at(p, "");
        assert_ok(clo_job_set(job, "ledger", wrong, &err), err);
        assert_fails(rehearsal ? clo_job_rehearse(job, &err) : clo_job_release(job, &release, &err),
                     CLO_LEDGER, err, "there is no ledger at");
        assert_int_equal(clo_job_advice(job, &advice), CLO_ADVICE_DECLARE);
        assert_string_equal(advice, "people.csv");
        assert_int_equal(access(wrong, F_OK), -1);
        clo_job_free(job);
    }
}

static void a_closed_ledger_charges_what_was_declared(void **state)
{
    const place *const p = *state;
    const clo_release *release = NULL;
    const char *advice = NULL;
    clo_ledger *ledger = NULL;
    clo_error err;
    unlink(p->ledger);
    in_shell(p, "rm -r '%s/config'");
    assert_ok(clo_ledger_create(p->ledger, CLO_LEDGER_CLOSED, &ledger, &err), err);
    assert_ok(clo_ledger_declare(ledger, "people.csv", (clo_loss){ 10, 0.1 }, &err), err);
    clo_ledger_close(ledger);
    for (int rehearsal = 0; rehearsal < 2; rehearsal++) {
        clo_job *const other = job_at(p, "dataset=poeple.csv yes=yes");
        assert_fails(rehearsal ? clo_job_rehearse(other, &err)
                               : clo_job_release(other, &release, &err),
                     CLO_ARGUMENT, err, "has no data set 'poeple.csv'");
        assert_int_equal(clo_job_advice(other, &advice), CLO_ADVICE_DECLARE);
        clo_job_free(other);
    }
    clo_job *const again = job_at(p, "new=yes"), *const job = job_at(p, "");
    assert_fails(clo_job_release(again, &release, &err), CLO_ARGUMENT, err, "leave new out");
    assert_int_equal(charges_at(p), 0);
    assert_ok(clo_job_release(job, &release, &err), err);
    assert_int_equal(charges_at(p), 1);
    clo_job_free(again);
    clo_job_free(job);
}

static void without_a_cap_nothing_is_spent_unasked(void **state)
{
    const place *const p = *state;
    const clo_release *release = NULL;
    clo_error err;
    clo_job *const job = job_at(p, "dataset=nobody"), *const said =
                                                          job_at(p, "dataset=nobody yes=yes");
    assert_fails(clo_job_release(job, &release, &err), CLO_BUDGET, err, "'nobody' has no cap");
    assert_int_equal(charges_at(p), 0);
    assert_ok(clo_job_release(said, &release, &err), err);
    assert_int_equal(charges_at(p), 1);
    clo_job_free(job);
    clo_job_free(said);
}

/* ---- nothing is spent by mistake --------------------------------------------------------- */

static void what_fails_before_the_spend_costs_nothing(void **state)
{
    const place *const p = *state;
    static const struct {
        const char *name, *value;
        clo_status status;
        const char *words;
    } faults[] = {
        { "epsilon", "one", CLO_ARGUMENT, "epsilon must be a number greater than 0, not 'one'" },
        { "epsilon", NULL, CLO_ARGUMENT, "give epsilon" },
        { "epsilon", "0x1p3", CLO_ARGUMENT, "epsilon must be" },
        { "delta", "1", CLO_ARGUMENT, "delta must be" },
        { "norm", NULL, CLO_DOMAIN, "give bounds or norm" },
        { "norm", "-1", CLO_ARGUMENT, "norm must be a number greater than 0" },
        { "bounds", "2,1", CLO_DOMAIN, "the lower bound must be below" },
        { "bounds", "nowhere.csv", CLO_ARGUMENT, "bounds must be two numbers LO,HI or a file" },
        { "center", "1,2,3", CLO_DOMAIN, "center has 3 entries, but the data have 2 columns" },
        { "rows", "59", CLO_DOMAIN, "rows is 59" },
        { "rows-per-unit", "3", CLO_DOMAIN, "rows-per-unit needs unit" },
        { "unit", "age", CLO_DOMAIN, "unit needs rows-per-unit" },
        { "share-norm", "0.2", CLO_ARGUMENT, "share-norm needs norm private" },
        { "data", "nowhere.csv", CLO_IO, "nowhere.csv" },
        { "columns", "age,height", CLO_ARGUMENT, "height" },
        { "delimiter", "ab", CLO_ARGUMENT, "delimiter must be one character" },
        { "mechanism", "kmeens", CLO_ARGUMENT, "there is no method 'kmeens'" },
        { "mechanism", "kmeans/tree", CLO_ARGUMENT, "kmeans/tree was retired in 0.2" },
        { "method", "grid", CLO_ARGUMENT, "name two methods" },
        { "mechanism", "kmeans/aggregate", CLO_ARGUMENT, "idealized" },
        { "dim", "1", CLO_ARGUMENT, "kmeans/lloyd has no parameter dim" },
        { "clusters", "0", CLO_ARGUMENT, "clusters must be between" },
        { "no-ledger", "yes", CLO_ARGUMENT, "no-ledger excludes ledger, dataset and new" },
        { "threads", "0", CLO_ARGUMENT, "threads must be between 1 and 1024" },
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        clo_job *const job = job_at(p, "");
        const clo_release *release = NULL;
        clo_error err;
        assert_ok(clo_job_set(job, faults[i].name, faults[i].value, &err), err);
        assert_fails(clo_job_release(job, &release, &err), faults[i].status, err, faults[i].words);
        assert_null(release);
        assert_null(clo_job_result(job));
        assert_int_equal(charges_at(p), 0);
        clo_job_free(job);
    }
}

/* One rule for every way in: rows of the caller's own are as those of a file. */
static void rows_that_nearly_all_have_gaps_cost_nothing(void **state)
{
    const place *const p = *state;
    static double gappy[100];
    static const struct {
        const char *settings;
        size_t gaps;
        clo_status status;
    } runs[] = { { "", 91, CLO_FORMAT },
                 { "", 100, CLO_FORMAT },
                 { "", 90, CLO_OK },
                 { "yes=yes", 91, CLO_OK },
                 { "text-columns=missing", 91, CLO_OK },
                 { "relation=add-remove", 91, CLO_OK },
                 { "relation=add-remove", 100, CLO_OK } };
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        clo_job *const job = job_with(runs[i].settings);
        clo_table *table = NULL;
        clo_error err;
        for (size_t r = 0; r < 100; r++) gappy[r] = r < runs[i].gaps ? NAN : 0.25;
        assert_ok(clo_table_wrap((clo_matrix){ gappy, 100, 1, 1 }, CLO_MISSING_NULL, &table, &err),
                  err);
        set(job, "no-ledger=yes");
        assert_ok(clo_job_set_table(job, table, &err), err);
        const clo_status status = clo_job_prepare(job, &err);
        assert_int_equal(status, runs[i].status);
        if (status) assert_non_null(strstr(err.message, "more than nine in ten rows"));
        assert_int_equal(charges_at(p), 0);
        clo_job_free(job);
        clo_table_free(table);
    }
}

/* Where the number of rows is a secret no cell ends a run, be there ever so many like it: neither
 * the text of a record nor its gaps, under both relations that hide it, and for persons. */
static void no_cell_ends_a_run_whose_rows_are_secret(void **state)
{
    const place *const p = *state;
    static const struct {
        const char *settings;
        bool secret;
    } runs[] = { { "columns=x", false },
                 { "columns=x relation=add-remove", true },
                 { "columns=x unit=who rows-per-unit=3", true },
                 { "columns=x unit=who rows-per-unit=3 relation=add-remove", true } };
    char file[300];
    snprintf(file, sizeof file, "%s/cells.csv", p->folder);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        for (int how = 0; how < 3; how++) { /* 0: few gaps, 1: nearly all, 2: texts */
            FILE *const out = fopen(file, "w");
            clo_error err;
            assert_non_null(out);
            fputs("who,x\n", out);
            for (int r = 0; r < 100; r++) {
                const bool gap = how == 0 ? r % 9 == 0 : how == 1 && r != 50;
                fprintf(out, "p%d,%s\n", r / 2, gap ? "" : how == 2 && r % 3 ? "word" : "0.25");
            }
            assert_int_equal(fclose(out), 0);
            clo_job *const job = job_with(runs[i].settings);
            set(job, "no-ledger=yes");
            assert_ok(clo_job_set(job, "data", file, &err), err);
            const clo_status status = clo_job_prepare(job, &err);
            if (runs[i].secret || how == 0)
                assert_ok(status, err);
            else
                assert_int_equal(status, CLO_FORMAT);
            clo_job_free(job);
        }
}

/* What only a ledger keeps cannot be asked of a run without one, each thing by itself. */
static void what_a_ledger_keeps_needs_one(void **state)
{
    static const char *const kept[][2] = { { "token", "0123456789abcdef0123456789abcdef" },
                                           { "purpose", "a paper" },
                                           { "dataset", "people" },
                                           { "ledger", "/nowhere/ledger.db" },
                                           { "new", "yes" } };
    (void)state;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        clo_job *const job = job_with("no-ledger=yes");
        clo_error err;
        assert_ok(clo_job_set(job, "data", csv, &err), err);
        assert_ok(clo_job_set(job, kept[i][0], kept[i][1], &err), err);
        assert_fails(clo_job_prepare(job, &err), CLO_ARGUMENT, err, "exclude");
        assert_non_null(strstr(err.message, kept[i][0]));
        clo_job_free(job);
    }
}

/* Two losses add up under one relation alone. */
static void a_subspace_of_another_relation_is_refused(void **state)
{
    static const char *const relations[] = { "replace", "add-remove" };
    const place *const p = *state;
    char file[300], setting[64];
    snprintf(file, sizeof file, "%s/subspace.json", p->folder);
    for (int r = 0; r < 4; r++) {
        const clo_release *release = NULL;
        clo_error err;
        size_t length;
        clo_job *const first = seeded_at(p, "mechanism=subspace/gaussian dim=1");
        assert_ok(clo_job_set(first, "clusters", NULL, &err), err);
        snprintf(setting, sizeof setting, "relation=%s", relations[r / 2]);
        set(first, setting);
        assert_ok(clo_job_release(first, &release, &err), err);
        const char *const json = clo_job_json(first, &length);
        FILE *const out = fopen(file, "w");
        assert_non_null(out);
        assert_int_equal(fwrite(json, 1, length, out), length);
        assert_int_equal(fclose(out), 0);
        clo_job *const second = seeded_at(p, "");
        snprintf(setting, sizeof setting, "relation=%s", relations[r % 2]);
        set(second, setting);
        assert_ok(clo_job_set(second, "project", file, &err), err);
        const clo_status status = clo_job_prepare(second, &err);
        if (r / 2 == r % 2)
            assert_ok(status, err);
        else
            assert_fails(status, CLO_DOMAIN, err, "use the same relation");
        clo_job_free(first);
        clo_job_free(second);
    }
}

static void a_solver_of_the_callers_is_asked_for_before_the_spend(void **state)
{
    const place *const p = *state;
    clo_job *const job =
        job_at(p, "mechanism=subspaces/aggregate accept=idealized dim=1 blocks=3 solver=caller");
    const clo_release *release = NULL;
    clo_error err;
    assert_fails(clo_job_release(job, &release, &err), CLO_ARGUMENT, err,
                 "solver caller needs a function");
    assert_int_equal(charges_at(p), 0);
    clo_job_free(job);
}

static void a_job_that_failed_before_the_spend_may_be_put_right(void **state)
{
    const place *const p = *state;
    clo_job *const straight = seeded_at(p, ""), *const job = seeded_at(p, "rows=59");
    const clo_release *release = NULL;
    clo_error err;
    assert_fails(clo_job_release(job, &release, &err), CLO_DOMAIN, err, "rows is 59");
    assert_ok(clo_job_set(job, "rows", NULL, &err), err);
    assert_ok(clo_job_release(job, &release, &err), err);
    assert_ok(clo_job_release(straight, &release, &err), err);
    assert_same_json(straight, job);
    clo_job_free(job);
    clo_job_free(straight);
}

static bool answer(void *user, const clo_account *account, clo_loss budget)
{
    assert_string_equal(account->dataset, "people.csv");
    assert_close(budget.epsilon, 1, 0);
    return *(bool *)user;
}

static void nothing_is_spent_where_nobody_confirms(void **state)
{
    const place *const p = *state;
    clo_job *const job = job_at(p, "");
    const clo_release *release = NULL;
    clo_error err;
    bool yes = false;
    clo_job_set_confirm(job, answer, &yes);
    assert_fails(clo_job_release(job, &release, &err), CLO_CANCELLED, err, "nothing was spent");
    assert_int_equal(charges_at(p), 0);
    yes = true; /* on second thoughts */
    assert_ok(clo_job_release(job, &release, &err), err);
    assert_int_equal(charges_at(p), 1);
    clo_job_free(job);
}

/* 60 rows at epsilon 0.1 are too few for a radius; at 3 they are enough. */
static void what_the_rows_cannot_tell_is_refused_before_the_spend(void **state)
{
    const place *const p = *state;
    clo_job *const job = job_at(p, "norm=private norm-at-most=100");
    const clo_release *release = NULL;
    const char *advice = NULL;
    clo_error err;
    clo_array norm;
    assert_fails(clo_job_release(job, &release, &err), CLO_ARGUMENT, err,
                 "too few rows to find a radius");
    /* It would take epsilon 22, which protects nobody: that is no advice. */
    assert_int_equal(clo_job_advice(job, &advice), CLO_ADVICE_NONE);
    assert_string_equal(err.advice, "");
    assert_int_equal(charges_at(p), 0);
    clo_job_free(job);
    clo_job *const anyway = job_at(p, "norm=private norm-at-most=100 yes=yes");
    assert_ok(clo_job_release(anyway, &release, &err), err);
    assert_true(clo_release_find(release, "learnt_norm", &norm));
    assert_true(norm.data[0] == 100); /* harmless: the largest */
    clo_job_free(anyway);
    clo_job *const enough = job_at(p, "norm=private norm-at-most=100 epsilon=10 share-norm=0.3");
    assert_ok(clo_job_release(enough, &release, &err), err);
    assert_true(clo_release_find(release, "learnt_norm", &norm));
    assert_true(norm.data[0] > 0.4 && norm.data[0] < 1);
    clo_job_free(enough);
}

static void a_cap_that_does_not_cover_the_run_refuses_it(void **state)
{
    const place *const p = *state;
    clo_ledger *const ledger = open_at(p->ledger);
    clo_job *const job = job_at(p, "dataset=few");
    const clo_release *release = NULL;
    const char *advice = NULL;
    clo_error err;
    assert_ok(clo_job_set(job, "seed", NULL, &err), err);
    assert_ok(clo_ledger_declare(ledger, "few", (clo_loss){ 0.5, 1e-6 }, &err), err);
    clo_ledger_close(ledger);
    assert_fails(clo_job_release(job, &release, &err), CLO_BUDGET, err, NULL);
    assert_int_equal(clo_job_advice(job, &advice), CLO_ADVICE_SET);
    assert_string_equal(advice, "epsilon 0.5");
    assert_int_equal(charges_at(p), 0);
    clo_job_free(job);
}

static bool refuse_and_keep(void *user, const char *why)
{
    snprintf(user, 512, "%s", why);
    return false;
}

/* By public numbers alone: with them nobody has to see the data to know that it cannot work. */
static void what_noise_hides_is_spent_on_a_word_alone(void **state)
{
    const place *const p = *state;
    clo_ledger *const ledger = open_at(p->ledger);
    const clo_release *release = NULL;
    const char *advice = NULL;
    char why[512] = "";
    clo_error err;
    assert_ok(clo_ledger_declare(ledger, "hidden", (clo_loss){ 5, 1e-3 }, &err), err);
    clo_ledger_close(ledger);
    for (int asked = 0; asked < 2; asked++) {
        clo_job *const job = job_at(p, "dataset=hidden");
        clo_job_set_anyway(job, asked ? refuse_and_keep : NULL, why);
        assert_fails(clo_job_release(job, &release, &err), CLO_BUDGET, err,
                     "noise hides 2 clusters");
        assert_non_null(strstr(err.message, "nothing was spent"));
        assert_int_equal(clo_job_advice(job, &advice), CLO_ADVICE_SET);
        assert_string_equal(advice, "yes");
        clo_job_free(job);
    }
    assert_non_null(strstr(why, "that needs"));
    assert_int_equal(charges_at(p), 0);
    clo_job *const job = job_at(p, "dataset=hidden yes=yes");
    clo_job_set_anyway(job, NULL, NULL);
    assert_ok(clo_job_release(job, &release, &err), err);
    assert_int_equal(charges_at(p), 1);
    clo_job_free(job);
}

static void a_seed_is_refused_where_a_cap_is_guarded(void **state)
{
    const place *const p = *state;
    clo_ledger *const ledger = open_at(p->ledger);
    clo_job *const job = seeded_at(p, "");
    clo_job *const late = seeded_at(p, "");
    const clo_release *release = NULL;
    bool found = true;
    clo_error err;
    assert_ok(clo_job_prepare(late, &err), err); /* the cap comes while it waits */
    assert_ok(clo_job_fetch(late, &found, &err), err);
    assert_false(found);
    assert_ok(clo_ledger_declare(ledger, "free", (clo_loss){ 5, 1e-5 }, &err), err);
    clo_ledger_close(ledger);
    assert_fails(clo_job_spend(late, &err), CLO_ARGUMENT, err, "'free' has a cap");
    assert_fails(clo_job_release(job, &release, &err), CLO_ARGUMENT, err, "nothing was spent");
    assert_int_equal(charges_at(p), 0);
    assert_ok(clo_job_set(job, "seed", NULL, &err), err); /* without one it is private */
    assert_ok(clo_job_release(job, &release, &err), err);
    assert_int_equal(charges_at(p), 1);
    clo_job_free(late);
    clo_job_free(job);
}

static bool stop(void *user, double done)
{
    (void)done;
    return --*(int *)user > 0;
}

/* It is asked once in the charge, right before that is made for good. */
static void a_job_that_is_stopped_in_its_charge_has_spent_nothing_and_goes_on(void **state)
{
    const place *const p = *state;
    clo_job *const job = job_at(p, "token=t");
    clo_run_options options = clo_run_options_default();
    const clo_release *release = NULL;
    clo_error err;
    int calls = 1;
    options.progress = stop;
    options.user = &calls;
    assert_ok(clo_job_set_run_options(job, &options, &err), err);
    assert_fails(clo_job_release(job, &release, &err), CLO_CANCELLED, err, "nothing was spent");
    assert_int_equal(charges_at(p), 0);
    calls = 1000;
    assert_ok(clo_job_release(job, &release, &err), err);
    assert_int_equal(charges_at(p), 1);
    clo_job_free(job);
}

static void a_run_that_is_stopped_has_spent_and_is_over(void **state)
{
    const place *const p = *state;
    clo_job *const job = job_at(p, "token=t");
    clo_run_options options = clo_run_options_default();
    const clo_release *release = NULL;
    clo_error err;
    int calls = 2;
    options.progress = stop;
    options.user = &calls;
    assert_ok(clo_job_set_run_options(job, &options, &err), err);
    assert_fails(clo_job_release(job, &release, &err), CLO_CANCELLED, err, "its charge stays");
    assert_int_equal(charges_at(p), 1);
    assert_fails(clo_job_release(job, &release, &err), CLO_ARGUMENT, err, "over");
    assert_null(clo_job_result(job));
    clo_job_free(job);
}

/* ---- settings ---------------------------------------------------------------------------- */

static bool note_threads(void *user, double done)
{
    (void)done;
    *(int *)user = omp_get_max_threads();
    return true;
}

/* Several ranks may share a machine. */
static void a_limit_of_threads_holds_while_files_are_read(void **state)
{
    const place *const p = *state;
    const int before = omp_get_max_threads();
    for (int limit = 1; limit <= 3; limit++) {
        char threads[8];
        int while_read = 0;
        clo_error err;
        clo_job *const job = seeded_at(p, "");
        (void)snprintf(threads, sizeof threads, "%d", limit);
        assert_ok(clo_job_set(job, "threads", threads, &err), err);
        clo_job_set_reading(job, note_threads, &while_read);
        assert_ok(clo_job_prepare(job, &err), err);
        assert_int_equal(while_read, limit);
        assert_int_equal(omp_get_max_threads(), before);
        clo_job_free(job);
    }
}

static void a_failure_names_settings_as_the_caller_spells_them(void **state)
{
    const place *const p = *state;
    clo_job *const job = job_at(p, "unit=age");
    const char *advice = NULL;
    clo_error err;
    assert_fails(clo_job_check(job, &err), CLO_DOMAIN, err, "unit needs rows-per-unit M");
    assert_int_equal(clo_job_advice(job, &advice), CLO_ADVICE_SET);
    assert_string_equal(advice, "rows-per-unit 1");
    clo_job_spell(job, "--");
    assert_fails(clo_job_check(job, &err), CLO_DOMAIN, err, "--unit needs --rows-per-unit M");
    assert_fails(clo_job_set(job, "relation", "swap", &err), CLO_ARGUMENT, err,
                 "--relation must be one of replace|add-remove, not 'swap'");
    assert_fails(clo_job_set(job, "epsilom", "1", &err), CLO_ARGUMENT, err,
                 "there is no setting 'epsilom'");
    assert_int_equal(clo_job_advice(job, &advice), CLO_ADVICE_NONE);
    clo_job_free(job);
}

/* Of a setting with choices each word is taken, and nothing that begins like one or goes on. */
static void a_choice_is_one_of_its_words(void **state)
{
    clo_job *job = NULL;
    clo_error err;
    const clo_setting_info *row;
    size_t words = 0;
    (void)state;
    assert_ok(clo_job_new(&job, &err), err);
    for (size_t i = 0; (row = clo_job_setting(i)); i++) {
        const char *const choices = row->kind == CLO_SETTING_FLAG ? "yes|no" : row->choices;
        for (const char *at = choices; at && *at; at += at[strcspn(at, "|")] == '|') {
            const size_t length = strcspn(at, "|");
            char word[64];
            snprintf(word, sizeof word, "%.*s", (int)length, at);
            assert_ok(clo_job_set(job, row->name, word, &err), err);
            words++;
            for (size_t less = 0; less < length; less++) {
                word[length - 1 - less] = 0;
                assert_fails(clo_job_set(job, row->name, word, &err), CLO_ARGUMENT, err,
                             "must be one of");
            }
            snprintf(word, sizeof word, "%.*s%s", (int)length, at, "s");
            assert_int_equal(clo_job_set(job, row->name, word, &err), CLO_ARGUMENT);
            snprintf(word, sizeof word, "%.*s|", (int)length, at);
            assert_int_equal(clo_job_set(job, row->name, word, &err), CLO_ARGUMENT);
            at += length;
        }
    }
    assert_true(words > 20);
    clo_job_free(job);
}

static void every_setting_is_known_by_its_name(void **state)
{
    clo_job *job = NULL;
    clo_error err;
    size_t count = 0;
    (void)state;
    assert_ok(clo_job_new(&job, &err), err);
    for (const clo_setting_info *row; (row = clo_job_setting(count)); count++) {
        const char *const name = row->name;
        /* and is none of a mechanism's parameters */
        for (size_t m = 0; m < clo_mechanism_count(); m++) {
            size_t params;
            const clo_param *const rows = clo_mechanism_params(clo_mechanism_at(m), &params);
            for (size_t i = 0; i < params; i++) assert_string_not_equal(rows[i].name, name);
        }
        assert_ok(clo_job_set(job, name, NULL, &err), err);
    }
    assert_true(count >= 30);
    clo_job_free(job);
}

static double default_of(const char *name)
{
    const clo_setting_info *row;
    for (size_t i = 0; (row = clo_job_setting(i)); i++)
        if (strcmp(row->name, name) == 0) return strtod(row->preset, NULL);
    return NAN;
}

/* The help shows what a caller in C gets as well. */
static void defaults_of_learning_are_written_once(void **state)
{
    const clo_learning usual = clo_learning_default();
    (void)state;
    assert_true(default_of("norm-quantile") == usual.quantile);
    assert_true(default_of("share-norm") == usual.norm_share);
    assert_true(default_of("share-center") == usual.center_share);
}

static void what_is_said_twice_is_refused(void **state)
{
    const place *const p = *state;
    const clo_domain domain = ball(COLS, 1, CLO_REPLACE);
    clo_job *const job = job_at(p, "");
    clo_error err;
    assert_ok(clo_job_set_domain(job, &domain, &err), err);
    assert_fails(clo_job_check(job, &err), CLO_ARGUMENT, err, "norm and a whole domain");
    assert_ok(clo_job_set(job, "norm", NULL, &err), err);
    assert_ok(clo_job_set_budget(job, (clo_loss){ 1, 0 }, &err), err);
    assert_fails(clo_job_check(job, &err), CLO_ARGUMENT, err, "and a budget");
    clo_job_free(job);
}

/* ---- the plan ---------------------------------------------------------------------------- */

static void a_plan_is_free_and_is_the_one_that_runs(void **state)
{
    const place *const p = *state;
    clo_job *const job = job_at(p, "center=private norm-at-most=4");
    const clo_plan *plan = NULL;
    clo_error err;
    text before = { 0 }, after = { 0 };
    assert_fails(clo_job_plan(job, &plan, &err), CLO_ARGUMENT, err, "give cols D");
    set(job, "cols=2 rows=60");
    assert_ok(clo_job_plan(job, &plan, &err), err);
    assert_ok(clo_plan_json(plan, append_text, &before, &err), err);
    assert_non_null(strstr(before.bytes, "\"schema\": \"cloister.plan/2\""));
    assert_non_null(strstr(before.bytes, "\"clusters\": 2"));
    assert_non_null(strstr(before.bytes, "\"learning\": {"));
    assert_memory_equal(before.bytes + before.length - 3, "\n}\n", 3);
    assert_int_equal(charges_at(p), 0);
    assert_ok(clo_job_prepare(job, &err), err);
    assert_ok(clo_job_plan(job, &plan, &err), err);
    assert_ok(clo_plan_json(plan, append_text, &after, &err), err);
    assert_string_equal(before.bytes, after.bytes);
    /* Composition leaves something, and the mechanism has it. */
    assert_true(clo_plan_price(plan).loss.epsilon > 0.98);
    free(before.bytes);
    free(after.bytes);
    clo_job_free(job);
}

static void the_default_delta_can_be_said(void **state)
{
    (void)state;
    assert_close(clo_default_delta(0), 1e-6, 0);
    assert_close(clo_default_delta(100), 1e-6, 0);
    assert_close(clo_default_delta(1000000), 1e-9, 0);
    assert_close(clo_default_delta(20000), 3.5e-7, 0); /* of 3.5355e-7 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILES(bounds_can_be_the_lines_of_a_file),
        WITH_FILES(one_call_goes_from_a_file_to_a_stored_release),
        WITH_FILES(data_in_memory_and_typed_settings_give_the_same_release),
        WITH_FILES(data_of_another_name_are_noticed),
        WITH_FILES(a_token_fetches_the_same_bytes_for_nothing),
        WITH_FILES(the_command_and_a_job_give_the_same_bytes),
        WITH_FILES(a_step_out_of_order_is_refused_and_changes_nothing),
        WITH_FILES(one_call_takes_the_steps_that_are_left),
        WITH_FILES(a_rehearsal_leads_nowhere),
        WITH_FILES(no_job_makes_a_ledger),
        WITH_FILES(a_closed_ledger_charges_what_was_declared),
        WITH_FILES(without_a_cap_nothing_is_spent_unasked),
        WITH_FILES(what_fails_before_the_spend_costs_nothing),
        WITH_FILES(rows_that_nearly_all_have_gaps_cost_nothing),
        WITH_FILES(no_cell_ends_a_run_whose_rows_are_secret),
        WITH_FILES(what_a_ledger_keeps_needs_one),
        WITH_FILES(a_subspace_of_another_relation_is_refused),
        WITH_FILES(a_solver_of_the_callers_is_asked_for_before_the_spend),
        WITH_FILES(a_job_that_failed_before_the_spend_may_be_put_right),
        WITH_FILES(nothing_is_spent_where_nobody_confirms),
        WITH_FILES(what_the_rows_cannot_tell_is_refused_before_the_spend),
        WITH_FILES(a_cap_that_does_not_cover_the_run_refuses_it),
        WITH_FILES(what_noise_hides_is_spent_on_a_word_alone),
        WITH_FILES(a_seed_is_refused_where_a_cap_is_guarded),
        WITH_FILES(a_job_that_is_stopped_in_its_charge_has_spent_nothing_and_goes_on),
        WITH_FILES(a_run_that_is_stopped_has_spent_and_is_over),
        WITH_FILES(a_limit_of_threads_holds_while_files_are_read),
        WITH_FILES(a_failure_names_settings_as_the_caller_spells_them),
        cmocka_unit_test(every_setting_is_known_by_its_name),
        cmocka_unit_test(a_choice_is_one_of_its_words),
        cmocka_unit_test(defaults_of_learning_are_written_once),
        WITH_FILES(what_is_said_twice_is_refused),
        WITH_FILES(a_plan_is_free_and_is_the_one_that_runs),
        cmocka_unit_test(the_default_delta_can_be_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
