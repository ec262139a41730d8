/*
 * test_secret_sizes.c - what a run asks the system for once its grant is used, and what it says
 * when it is refused: neither tells how many rows there are (meter.T2).
 *
 * Under add-remove the number of rows is a secret.  So every mechanism runs on data sets of
 * different lengths, and the sizes of all allocations from the grant on must be the same ones,
 * each as often.  Where a solver works on blocks of the records they cannot be: those methods are
 * listed below by name, with the reason, as they are in SECURITY.md, and the list is held to be
 * true as well.
 */
#include "watched_sizes.h"
#include "plan/mechanism.h"
#include <cloister/cloister.h>
#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

enum { COLS = 3, MOST_ROWS = 400 };

/* A row more; and so many more that every array which is as long as the data shows, although sizes
 * are rounded up to cache lines. */
static const size_t lengths[] = { 200, 201, MOST_ROWS };
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* ---- runs ----------------------------------------------------------------------------------- */

typedef struct method {
    const char *name;
    const char *settings;
    const char *follows; /* why what it asks for follows the rows; NULL: it does not */
    bool learns;         /* its centre and norm, first */
    bool sparse;         /* from sparse records */
} method;

#define SOLVED "a solver works on random blocks of the records, and asks for what they need"

/* The short run of every mechanism, and other ways of some.  Few rounds and clusters, so that what
 * is made of the noisy answers asks for the same memory whatever they are. */
static const method methods[] = {
#define MECHANISM(family, method, small) { #family "/" #method, small, NULL, false, false },
#include "mechanism/table.def"
#undef MECHANISM
    { "kmeans/lloyd", "clusters=2 rounds=2", NULL, true, false },
    { "kmeans/lloyd", "clusters=2 rounds=2", NULL, true, true },
    { "kmeans/lloyd", "clusters=2 rounds=2", NULL, false, true },
    { "kmeans/sparse", "clusters=2 cells=3 rounds=1 recover=peel", NULL, false, true },
    { "kmeans/sparse", "clusters=2 cells=3 rounds=1", NULL, false, true },
    { "subspace/gaussian", "dim=1", NULL, true, true },
    { "subspaces/gibbs", "clusters=2 dim=1 sweeps=2 flats=affine mode=steps", NULL, false, false },
    { "subspaces/gibbs", "clusters=2 dim=1 sweeps=2 start=kplanes",
      "a solver makes the start of all the records", false, false },
    /* With a solver that asks for nothing, what is left is the division into blocks. */
    { "subspaces/aggregate", "clusters=1 dim=1 blocks=3 solver=caller", NULL, false, false },
    { "bounds/quantile", "of=columns", NULL, false, false },
};
enum { METHODS = sizeof methods / sizeof *methods };

/* Cells that noise empties are let go of: there are so few here that none is. */
static const char *settings_of(const method *m)
{
    return strcmp(m->name, "kmeans/grid") == 0 ? "clusters=2 side=2" : m->settings;
}

/* Why what it asks for follows the rows; NULL: it must not. */
static const char *reason(const method *m)
{
    static const char *const solved[] = { "kmeans/aggregate", "subspaces/aggregate",
                                          "subspace/approx", "subspace/boosted" };
    for (size_t i = 0; i < sizeof solved / sizeof *solved; i++)
        if (strcmp(m->name, solved[i]) == 0 && !strstr(m->settings, "solver=caller")) return SOLVED;
    return m->follows;
}

static char sparse_file[64];

/* Under add-remove there are so many rows or others; under replace always MOST_ROWS, all but so
 * many of them null. */
static clo_relation relation = CLO_ADD_REMOVE;

static size_t whole(size_t rows)
{
    return relation == CLO_REPLACE ? MOST_ROWS : rows;
}

static clo_domain hidden_rows(void)
{
    clo_domain domain = clo_domain_default();
    domain.relation = relation;
    domain.cols = COLS;
    domain.norm = 1;
    return domain;
}

/* Records in a few places, so that the answers to queries are much alike for all lengths. */
static double value_at(size_t i, size_t j)
{
    return 0.1 * (double)((i * 7 + j * 3) % 5) - 0.2;
}

static clo_bounded *dense_data(size_t rows)
{
    static double values[MOST_ROWS * COLS];
    const clo_domain domain = hidden_rows();
    const clo_matrix matrix = { values, whole(rows), COLS, COLS };
    clo_table *table = NULL;
    clo_bounded *data = NULL;
    clo_error err = { 0 };
    for (size_t i = 0; i < whole(rows); i++)
        for (size_t j = 0; j < COLS; j++) values[i * COLS + j] = i < rows ? value_at(i, j) : NAN;
    assert_ok(clo_table_wrap(matrix, CLO_MISSING_NULL, &table, &err), err);
    assert_ok(clo_bound(table, &domain, &data, &err), err);
    clo_table_free(table);
    return data;
}

static clo_bounded *sparse_data(size_t rows)
{
    const clo_domain domain = hidden_rows();
    clo_read_options options = clo_read_options_default();
    clo_table *table = NULL;
    clo_bounded *data = NULL;
    clo_error err = { 0 };
    FILE *const file = fopen(sparse_file, "w");
    assert_non_null(file);
    for (size_t i = rows; i < whole(rows); i++) fprintf(file, "1 1:nan\n");
    for (size_t i = 0; i < rows; i++) {
        fprintf(file, "1");
        for (size_t j = i % 2; j < COLS; j++) fprintf(file, " %zu:%.2f", j + 1, value_at(i, j));
        fprintf(file, "\n");
    }
    assert_int_equal(fclose(file), 0);
    options.format = "libsvm";
    options.cols = COLS;
    assert_ok(clo_table_read(sparse_file, &options, &table, &err), err);
    assert_ok(clo_bound(table, &domain, &data, &err), err);
    clo_table_free(table);
    return data;
}

static clo_plan *plan_of(const method *m)
{
    const clo_mechanism *const mechanism = clo_mechanism_find(m->name);
    const clo_domain domain = hidden_rows();
    const clo_loss budget = { 4, 1e-6 };
    clo_loss rest = budget;
    clo_learning learning = clo_learning_default();
    clo_params *params = NULL;
    clo_plan *plan = NULL;
    clo_error err = { 0 };
    char copy[96], *words = copy, *word;
    assert_non_null(mechanism);
    learning.norm = learning.center = true;
    assert_ok(clo_params_new(mechanism, &params, &err), err);
    snprintf(copy, sizeof copy, "%s", settings_of(m));
    while ((word = strtok_r(words, " ", &words))) {
        char *const equals = strchr(word, '=');
        *equals = 0;
        assert_ok(clo_params_set_text(params, word, equals + 1, &err), err);
    }
    if (m->learns) assert_ok(clo_learning_rest(&learning, budget, &rest, &err), err);
    assert_ok(clo_plan_new(params, &domain, rest, clo_mechanism_guarantee(mechanism), &plan, &err),
              err);
    if (m->learns) assert_ok(clo_plan_learn(plan, &learning, budget, &err), err);
    clo_params_free(params);
    return plan;
}

/* All that a run needs but its memory.  Plans take long to price, and are made once. */
typedef struct prepared {
    const clo_plan *plan;
    clo_bounded *data;
    clo_grant *grant;
    clo_rng *rng;
    clo_run_options options;
} prepared;

static clo_status solve_by_heart(void *user, const clo_block *block, double *bases, clo_error *err)
{
    (void)user;
    (void)err;
    for (size_t j = 0; j < block->cols; j++) bases[j] = j == 0;
    return CLO_OK;
}

static prepared prepare(const method *m, const clo_plan *plan, size_t rows)
{
    prepared p = { .plan = plan,
                   .data = m->sparse ? sparse_data(rows) : dense_data(rows),
                   .options = clo_run_options_default() };
    uint8_t seed[32];
    clo_error err = { 0 };
    p.options.threads = 1; /* which of several threads gets to start its work is chance */
    p.options.solve_block = solve_by_heart;
    clo_seed_from_text("sizes", seed);
    assert_ok(clo_rng_new_seeded(seed, &p.rng, &err), err);
    assert_ok(clo_grant_unmetered(p.plan, &p.grant, &err), err);
    return p;
}

static void let_go(prepared *p)
{
    clo_workspace_free(p->options.workspace);
    clo_rng_free(p->rng);
    clo_grant_free(p->grant);
    clo_bounded_free(p->data);
}

static clo_status run(prepared *p, clo_error *err)
{
    clo_release *release = NULL;
    const clo_status status =
        clo_run(p->plan, p->grant, p->data, p->rng, &p->options, &release, err);
    clo_release_free(release);
    return status;
}

/* Where the memory of a run comes from. */
typedef enum origin { BEFORE_THE_CHARGE, TOO_SMALL, LEFT_TO_THE_RUN, ORIGINS } origin;

static void take_workspace(prepared *p, origin from)
{
    clo_error err = { 0 };
    if (from == BEFORE_THE_CHARGE)
        assert_ok(clo_workspace_for_run(p->plan, p->data, &p->options, &p->options.workspace, &err),
                  err);
    if (from == TOO_SMALL) assert_ok(clo_workspace_new(1, &p->options.workspace, &err), err);
}

static void sizes_after_the_grant(const method *m, const clo_plan *plan, size_t rows, origin from,
                                  sizes *out)
{
    prepared p = prepare(m, plan, rows);
    clo_error err = { 0 };
    take_workspace(&p, from);
    watch_into(out, &p.grant->used); /* before, nothing is spent, and nobody is told anything */
    const clo_status status = run(&p, &err);
    stop_watching();
    assert_ok(status, err);
    let_go(&p);
}

/* ---- the tests ------------------------------------------------------------------------------ */

static bool follows_the_rows(const method *m, const clo_plan *plan, origin from)
{
    static sizes found[LENGTHS];
    bool same = true;
    for (size_t l = 0; l < LENGTHS; l++) {
        sizes_after_the_grant(m, plan, lengths[l], from, &found[l]);
        same = same && same_sizes(&found[0], &found[l]);
    }
    return !same;
}

static void look_at_all_methods(void)
{
    size_t wrong = 0;
    for (size_t i = 0; i < METHODS; i++) {
        const method *const m = &methods[i];
        clo_plan *const plan = plan_of(m);
        for (int from = 0; from < ORIGINS; from++) {
            if (follows_the_rows(m, plan, (origin)from) == (reason(m) != NULL)) continue;
            print_error("%s %s, workspace %d: %s\n", m->name, m->settings, from,
                        reason(m) ? "does not follow the rows, but is listed" : "follows the rows");
            wrong++;
        }
        clo_plan_free(plan);
    }
    assert_int_equal(wrong, 0);
}

/* meter.T2 */
static void no_allocation_after_the_grant_follows_the_number_of_rows(void **state)
{
    (void)state;
    look_at_all_methods();
}

/* bound.T6: under replace the number of rows is public, and that of records that count is not. */
static void nor_how_many_of_a_public_number_of_rows_are_null(void **state)
{
    (void)state;
    relation = CLO_REPLACE;
    look_at_all_methods();
    relation = CLO_ADD_REMOVE;
}

/* The control: what a run asks for before its grant is used, it could ask for afterwards. */
static void memory_that_follows_the_rows_is_noticed(void **state)
{
    static sizes found[2];
    const method gibbs = { "subspaces/gibbs", "clusters=2 dim=1 sweeps=2", NULL, false, false };
    clo_plan *const plan = plan_of(&gibbs);
    (void)state;
    for (size_t l = 0; l < 2; l++) {
        prepared p = prepare(&gibbs, plan, lengths[l]);
        watch_into(&found[l], NULL);
        take_workspace(&p, BEFORE_THE_CHARGE);
        stop_watching();
        let_go(&p);
    }
    clo_plan_free(plan);
    assert_false(same_sizes(&found[0], &found[1]));
}

/* Before the grant is used a lack of memory leaves it as it was, and afterwards it does not; either
 * way no number is told. */
static bool fails_in_words(const method *m, const clo_plan *plan, uint64_t n, bool *used)
{
    prepared p = prepare(m, plan, lengths[0]);
    clo_error err = { 0 };
    clo_i_fail_allocation(n);
    const clo_status status = run(&p, &err);
    clo_i_fail_allocation(0);
    *used = p.grant->used;
    if (status) {
        assert_int_equal(status, CLO_MEMORY);
        assert_true(strlen(err.message) > 0);
        for (const char *c = err.message; *c; c++) assert_false(isdigit((unsigned char)*c));
    }
    let_go(&p);
    return status != CLO_OK;
}

static void a_lack_of_memory_is_told_without_a_number(void **state)
{
    (void)state;
    for (size_t i = 0; i < METHODS; i++) {
        clo_plan *const plan = plan_of(&methods[i]);
        bool used = false;
        assert_true(fails_in_words(&methods[i], plan, 1, &used));
        assert_false(used);
        /* Of the first allocations each is made to fail, of later ones ever fewer. */
        for (uint64_t n = 2; fails_in_words(&methods[i], plan, n, &used); n += 1 + n / 8)
            assert_true(n < 1 << 20);
        assert_true(used);
        clo_plan_free(plan);
    }
}

/* A message with a number, whoever wrote it: that of the rows, say. */
static clo_status fail_to_sum(void *user, int64_t *values, size_t count)
{
    (void)user;
    (void)values;
    (void)count;
    return CLO_IO;
}

static clo_status share_nothing(void *user, void *bytes, size_t count)
{
    (void)user;
    (void)bytes;
    (void)count;
    return CLO_OK;
}

static void a_number_in_a_message_does_not_leave_a_run(void **state)
{
    const clo_comm broken = { 7, 3, fail_to_sum, share_nothing, NULL }; /* "rank 7 of 3 ..." */
    const clo_comm silent = { 0, 3, fail_to_sum, share_nothing, NULL };
    const method lloyd = { "kmeans/lloyd", "clusters=2 rounds=2", NULL, false, false };
    clo_error err = { 0 };
    clo_plan *const plan = plan_of(&lloyd);
    (void)state;
    prepared p = prepare(&lloyd, plan, lengths[0]);
    p.options.comm = &broken;
    assert_int_equal(run(&p, &err), CLO_ARGUMENT);
    assert_true(p.grant->used);
    assert_string_equal(err.message, clo_status_text(CLO_ARGUMENT));
    let_go(&p);
    p = prepare(&lloyd, plan, lengths[0]);
    p.options.comm = &silent; /* words alone go through */
    assert_fails(run(&p, &err), CLO_IO, err, "could not add its sums");
    let_go(&p);
    clo_plan_free(plan);
}

static int make_name(void **state)
{
    (void)state;
    strcpy(sparse_file, "/tmp/cloister-sizes-XXXXXX");
    const int file = mkstemp(sparse_file);
    return file < 0 ? -1 : close(file);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(sparse_file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_allocation_after_the_grant_follows_the_number_of_rows),
        cmocka_unit_test(nor_how_many_of_a_public_number_of_rows_are_null),
        cmocka_unit_test(memory_that_follows_the_rows_is_noticed),
        cmocka_unit_test(a_lack_of_memory_is_told_without_a_number),
        cmocka_unit_test(a_number_in_a_message_does_not_leave_a_run),
    };
    return cmocka_run_group_tests(tests, make_name, remove_file);
}
