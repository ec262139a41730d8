/*
 * test_job_ranks.c - a job that several ranks do together: one charge, one release, one end for
 * all of them (fold.T3).  The ranks are threads (meeting.h); tests/cli/ranks.py has the same with
 * MPI.
 */
#include "ledger_place.h"
#include "job_settings.h"
#include "meeting.h"
#include "pipeline.h"

enum { ROWS = 501, COLS = 2 };
static char csv[300];

static int make_files(void **state)
{
    clo_ledger *ledger = NULL;
    if (make_place(state)) return -1;
    const place *const p = *state;
    if (clo_ledger_create(p->ledger, CLO_LEDGER_OPEN, &ledger, NULL)) return -1;
    if (clo_ledger_declare(ledger, "people", (clo_loss){ 10, 0.1 }, NULL)) return -1;
    clo_ledger_close(ledger);
    snprintf(csv, sizeof csv, "%s/people.csv", p->folder);
    FILE *const out = fopen(csv, "w");
    if (!out) return -1;
    fprintf(out, "age,income\n");
    for (int i = 0; i < ROWS; i++) fprintf(out, "%.3f,%.3f\n", (i % 7 - 3) / 8., (i % 5 - 2) / 4.);
    return fclose(out);
}

static uint64_t charges_at(const place *p)
{
    clo_ledger *const ledger = open_at(p->ledger);
    clo_ledger_facts facts = { .struct_size = sizeof facts };
    clo_error err;
    assert_ok(clo_ledger_describe(ledger, &facts, &err), err);
    clo_ledger_close(ledger);
    return facts.charges;
}

/* ---- ranks ------------------------------------------------------------------------------- */

typedef struct rank {
    seat seat;
    clo_job *job;
    clo_status status;
    clo_error err;
    const clo_release *release;
} rank;

static void *be_a_rank(void *user)
{
    rank *const self = user;
    self->status = clo_job_release(self->job, &self->release, &self->err);
    leave_meeting(&self->seat);
    return NULL;
}

/* Rank r has the settings `each[r]` beside those of all. */
static void run_ranks(rank *ranks, int size, meeting *m, const char *settings,
                      const char *const *each)
{
    pthread_t tasks[MOST_RANKS];
    open_meeting(m, size);
    for (int r = 0; r < size; r++) {
        clo_run_options options = clo_run_options_default();
        ranks[r] = (rank){ .status = CLO_INTERNAL };
        take_seat(&ranks[r].seat, m, r);
        assert_ok(clo_job_new(&ranks[r].job, &ranks[r].err), ranks[r].err);
        set(ranks[r].job, "mechanism=kmeans/lloyd clusters=2 epsilon=1 norm=1 threads=1");
        assert_ok(clo_job_set(ranks[r].job, "data", csv, &ranks[r].err), ranks[r].err);
        set(ranks[r].job, settings);
        if (each) set(ranks[r].job, each[r]);
        options.comm = &ranks[r].seat.comm;
        assert_ok(clo_job_set_run_options(ranks[r].job, &options, &ranks[r].err), ranks[r].err);
    }
    for (int r = 0; r < size; r++)
        assert_int_equal(pthread_create(&tasks[r], NULL, be_a_rank, &ranks[r]), 0);
    for (int r = 0; r < size; r++) assert_int_equal(pthread_join(tasks[r], NULL), 0);
    close_meeting(m);
}

static void free_ranks(rank *ranks, int size)
{
    for (int r = 0; r < size; r++) clo_job_free(ranks[r].job);
}

/* ---- tests ------------------------------------------------------------------------------- */

static void assert_same_release(const char *settings, int size)
{
    rank ranks[MOST_RANKS], alone;
    size_t length[2];
    meeting m = { .size = 0 };
    run_ranks(&alone, 1, &m, settings, NULL);
    run_ranks(ranks, size, &m, settings, NULL);
    assert_ok(alone.status, alone.err);
    for (int r = 0; r < size; r++) assert_ok(ranks[r].status, ranks[r].err);
    const char *const one = clo_job_json(alone.job, &length[0]);
    const char *const many = clo_job_json(ranks[0].job, &length[1]);
    assert_int_equal(length[0], length[1]);
    assert_memory_equal(one, many, length[0]);
    for (int r = 1; r < size; r++) {
        assert_null(ranks[r].release);
        assert_null(clo_job_json(ranks[r].job, NULL));
    }
    free_ranks(&alone, 1);
    free_ranks(ranks, size);
}

static void ranks_give_the_release_of_one_job(void **state)
{
    static const char *const others[] = {
        "header=yes",     "relation=add-remove",
        "center=private", "relation=add-remove rows=400",
        "memory=64M",     "memory=64M relation=add-remove center=private"
    };
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        for (int size = 2; size <= 3; size++) {
            char settings[200];
            snprintf(settings, sizeof settings, "no-ledger=yes seed=s %s", others[i]);
            assert_same_release(settings, size);
        }
}

static void rank_0_alone_charges(void **state)
{
    const place *const p = *state;
    char first[400];
    /* The others need no ledger: the one that they name is not there. */
    const char *const each[] = { first, "ledger=/nowhere/at.all", "ledger=/nowhere/at.all" };
    rank ranks[MOST_RANKS];
    meeting m = { .size = 0 };
    snprintf(first, sizeof first, "ledger=%s", p->ledger);
    run_ranks(ranks, 3, &m, "dataset=people", each);
    for (int r = 0; r < 3; r++) assert_ok(ranks[r].status, ranks[r].err);
    assert_true(clo_release_is_metered(ranks[0].release));
    assert_int_equal(charges_at(p), 1);
    free_ranks(ranks, 3);
}

/* What one rank cannot do, none does; and everybody hears why. */
static void the_failure_of_one_is_that_of_all_and_costs_nothing(void **state)
{
    static const struct {
        const char *of_rank_1;
        clo_status status;
        const char *words;
    } faults[] = {
        { "clusters=none", CLO_ARGUMENT, "rank 1: clusters must be a number" },
        { "data=/nowhere/at.all", CLO_IO, "rank 1: /nowhere/at.all cannot be read" },
        { "clusters=3", CLO_ARGUMENT, "rank 1: this rank and rank 0 have different plans" },
        { "columns=income,age", CLO_ARGUMENT, "different plans or columns" },
        { "columns=age", CLO_ARGUMENT, "different plans or columns" },
    };
    const place *const p = *state;
    char books[400];
    snprintf(books, sizeof books, "dataset=people ledger=%s", p->ledger);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const char *const each[] = { "header=yes", faults[i].of_rank_1, "header=yes" };
        rank ranks[MOST_RANKS];
        meeting m = { .size = 0 };
        run_ranks(ranks, 3, &m, books, each);
        assert_fails(ranks[0].status, faults[i].status, ranks[0].err, faults[i].words);
        assert_fails(ranks[2].status, faults[i].status, ranks[2].err, faults[i].words);
        assert_int_equal(ranks[1].status, faults[i].status);
        free_ranks(ranks, 3);
    }
    assert_int_equal(charges_at(p), 0);
}

/* Each name of each column, in each of its letters. */
static void columns_of_other_names_are_another_question(void **state)
{
    static const char names[] = "age,income\n";
    const place *const p = *state;
    char other[300], books[400], settings[400];
    snprintf(other, sizeof other, "%s/other.csv", p->folder);
    snprintf(books, sizeof books, "dataset=people header=yes ledger=%s", p->ledger);
    snprintf(settings, sizeof settings, "data=%s", other);
    for (size_t i = 0; i < strlen("age,income"); i++) {
        const char *const each[] = { "header=yes", settings };
        rank ranks[MOST_RANKS];
        meeting m = { .size = 0 };
        if (names[i] == ',') continue;
        FILE *const out = fopen(other, "w");
        assert_non_null(out);
        for (size_t k = 0; names[k]; k++) fputc(k == i ? 'z' : names[k], out);
        for (int r = 0; r < ROWS; r++) fprintf(out, "0.125,-0.25\n");
        assert_int_equal(fclose(out), 0);
        run_ranks(ranks, 2, &m, books, each);
        assert_fails(ranks[0].status, CLO_ARGUMENT, ranks[0].err, "different plans or columns");
        free_ranks(ranks, 2);
    }
    assert_int_equal(charges_at(p), 0);
}

static void a_plan_that_cannot_be_spread_costs_nothing(void **state)
{
    static const char *const refused[][2] = {
        { "mechanism=subspaces/gibbs accept=asymptotic dim=1",
          "(query gibbs) needs all rows in one process: run on one rank, or choose a method that "
          "needs only sums or blocks: subspaces/moments" },
        { "mechanism=kmeans/aggregate accept=idealized memory=64M", "without a limit of memory" },
        { "mechanism=kmeans/aggregate accept=idealized unit=age rows-per-unit=3",
          "which several ranks cannot form with persons: run on one rank, or choose a method that "
          "needs only sums: kmeans/" },
        { "data=-", "standard input" },
    };
    const place *const p = *state;
    char settings[500];
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        rank ranks[MOST_RANKS];
        meeting m = { .size = 0 };
        snprintf(settings, sizeof settings, "dataset=people ledger=%s %s", p->ledger,
                 refused[i][0]);
        run_ranks(ranks, 2, &m, settings, NULL);
        for (int r = 0; r < 2; r++)
            assert_fails(ranks[r].status, CLO_UNSUPPORTED, ranks[r].err, refused[i][1]);
        free_ranks(ranks, 2);
    }
    assert_int_equal(charges_at(p), 0);
}

/* ---- persons (fold.T5) ------------------------------------------------------------------- */

/* Twenty persons with 25 rows each: all of a person's rows are in one of three files, unless one
 * is astray. */
static void write_persons(const char *folder, bool astray)
{
    char path[400];
    FILE *files[4];
    for (int f = 0; f < 4; f++) {
        snprintf(path, sizeof path, f < 3 ? "%s/visits-%d.csv" : "%s/visits.csv", folder, f);
        files[f] = fopen(path, "w");
        assert_non_null(files[f]);
        fprintf(files[f], "who,age,income\n");
    }
    for (int i = 0; i < 500; i++) {
        const int who = i % 20, home = astray && i == 499 ? (who + 1) % 3 : who % 3;
        for (int f = 0; f < 4; f++)
            if (f == 3 || f == home)
                fprintf(files[f], "p%d,%.3f,%.3f\n", who, (i % 7 - 3) / 8., (i % 11 - 5) / 9.);
    }
    for (int f = 0; f < 4; f++) assert_int_equal(fclose(files[f]), 0);
}

static const char PERSONS[] = "unit=who rows-per-unit=3 data=%s/%s %s";

static text run_persons(const place *p, int size, const char *file, const char *more,
                        clo_status expected, const char *words)
{
    char settings[900];
    rank ranks[MOST_RANKS];
    meeting m = { .size = 0 };
    text json = { .bytes = NULL };
    snprintf(settings, sizeof settings, PERSONS, p->folder, file, more);
    run_ranks(ranks, size, &m, settings, NULL);
    for (int r = 0; r < size; r++) {
        if (expected)
            assert_fails(ranks[r].status, expected, ranks[r].err, words);
        else
            assert_ok(ranks[r].status, ranks[r].err);
    }
    if (!expected) {
        const char *const bytes = clo_job_json(ranks[0].job, &json.length);
        json.bytes = strdup(bytes);
    }
    free_ranks(ranks, size);
    return json;
}

static void persons_on_several_ranks_are_those_of_one(void **state)
{
    static const char SEEDED[] = "no-ledger=yes seed=s";
    const place *const p = *state;
    write_persons(p->folder, false);
    const text alone = run_persons(p, 1, "visits.csv", SEEDED, CLO_OK, NULL);
    for (int size = 2; size <= 3; size++) {
        const char *const files[] = { "visits.csv", "visits-{rank}.csv" };
        for (int own = 0; own < (size == 3 ? 2 : 1); own++) {
            const text made = run_persons(p, size, files[own], SEEDED, CLO_OK, NULL);
            assert_string_equal(made.bytes, alone.bytes);
            free(made.bytes);
        }
        /* Rows that are not held: flow.T3. */
        const text flowing =
            run_persons(p, size, "visits.csv", "no-ledger=yes seed=s memory=64M", CLO_OK, NULL);
        assert_string_equal(flowing.bytes, alone.bytes);
        free(flowing.bytes);
    }
    (void)run_persons(p, 3, "visits-{rank}.csv", "no-ledger=yes seed=s memory=64M", CLO_UNSUPPORTED,
                      "need one file that all ranks read");
    free(alone.bytes);
}

static void a_person_on_two_ranks_is_refused_and_costs_nothing(void **state)
{
    const place *const p = *state;
    char books[400];
    snprintf(books, sizeof books, "dataset=people ledger=%s", p->ledger);
    write_persons(p->folder, true);
    (void)run_persons(p, 3, "visits-{rank}.csv", books, CLO_DOMAIN, "rows in two parts");
    assert_int_equal(charges_at(p), 0);
}

/* Whole families are chosen from among their sums. */
/* Each row of it with a method, on 2 and 3 ranks. */
static void ranks_give_the_blocks_of_one_job(void **state)
{
    static const char *const methods[] = {
        "mechanism=kmeans/aggregate accept=idealized blocks=20",
        "mechanism=subspaces/aggregate accept=idealized dim=1 clusters=1 relation=add-remove",
        "mechanism=kmeans/aggregate accept=idealized center=private relation=add-remove",
    };
    (void)state;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        for (int size = 2; size <= 3; size++) {
            char settings[200];
            snprintf(settings, sizeof settings, "no-ledger=yes seed=s epsilon=9 %s", methods[i]);
            assert_same_release(settings, size);
        }
}

/* Ranks may choose what asks in blocks; workers and rows that are not held may not. */
static void the_choice_is_among_what_can_be_spread(void **state)
{
    const clo_domain domain = ball(COLS, 1, CLO_REPLACE);
    const clo_setting two = { "clusters", "2" };
    clo_plan *plan = NULL;
    clo_error err;
    (void)state;
    assert_ok(clo_plan_auto_among(CLO_READING_SUM, "kmeans", &two, 1, &domain,
                                  (clo_loss){ 1, 1e-6 }, CLO_EXACT, &plan, &err),
              err);
    assert_int_equal(clo_plan_reading(plan), CLO_READING_SUM);
    clo_plan_free(plan);
    const clo_setting only_blocks[] = { two, { "blocks", "8" } }; /* of aggregate alone */
    plan = NULL;
    assert_fails(clo_plan_auto_among(CLO_READING_SUM, "kmeans", only_blocks, 2, &domain,
                                     (clo_loss){ 1, 1e-6 }, CLO_IDEALIZED, &plan, &err),
                 CLO_UNSUPPORTED, err, "with sums only");
    assert_null(plan);
    assert_ok(clo_plan_auto_among(CLO_READING_BLOCKS, "kmeans", only_blocks, 2, &domain,
                                  (clo_loss){ 1, 1e-6 }, CLO_IDEALIZED, &plan, &err),
              err);
    assert_int_equal(clo_plan_reading(plan), CLO_READING_BLOCKS);
    clo_plan_free(plan);
    assert_same_release("no-ledger=yes seed=s mechanism=kmeans accept=idealized blocks=8", 2);
    const clo_setting only_whole[] = { two, { "sweeps", "2" } }; /* of gibbs alone */
    plan = NULL;
    assert_fails(clo_plan_auto_among(CLO_READING_BLOCKS, "subspaces", only_whole, 2, &domain,
                                     (clo_loss){ 1, 1e-6 }, CLO_ASYMPTOTIC, &plan, &err),
                 CLO_UNSUPPORTED, err, "can run on several ranks (subspaces/gibbs needs all");
    assert_null(plan);
}

/* What rank 0 shares are asks, facts and the digest of its plan. */
static uint8_t key[32];
static int heard, leaked;

static void listen_for_the_seed(const void *bytes, size_t count)
{
    heard++;
    leaked += memmem(bytes, count, key, 8) != NULL || memmem(bytes, count, "our-seed", 8) != NULL;
}

static void the_seed_never_leaves_rank_0(void **state)
{
    rank ranks[MOST_RANKS];
    meeting m = { .overhear = listen_for_the_seed };
    (void)state;
    clo_seed_from_text("our-seed", key);
    run_ranks(ranks, 2, &m, "no-ledger=yes seed=our-seed", NULL);
    for (int r = 0; r < 2; r++) assert_ok(ranks[r].status, ranks[r].err);
    free_ranks(ranks, 2);
    assert_true(heard > 3);
    assert_int_equal(leaked, 0);
}

#define WITH_FILES(test) cmocka_unit_test_setup_teardown(test, make_files, remove_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILES(ranks_give_the_release_of_one_job),
        WITH_FILES(rank_0_alone_charges),
        WITH_FILES(the_failure_of_one_is_that_of_all_and_costs_nothing),
        WITH_FILES(columns_of_other_names_are_another_question),
        WITH_FILES(a_plan_that_cannot_be_spread_costs_nothing),
        WITH_FILES(persons_on_several_ranks_are_those_of_one),
        WITH_FILES(a_person_on_two_ranks_is_refused_and_costs_nothing),
        WITH_FILES(ranks_give_the_blocks_of_one_job),
        WITH_FILES(the_choice_is_among_what_can_be_spread),
        WITH_FILES(the_seed_never_leaves_rank_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
