/* Runs: grants are good for one run of one plan; threads, blocks and the order of rows do not show
 * in a release, to the last byte; a cancel is obeyed. */
#include "pipeline.h"
#include "base/base.h"
#include "plan/mechanism.h"
#include "domain/domain.h"
#include "release/release.h"
#include <math.h>
#include <unistd.h>

enum { ROWS = 5000, D = 6 };

static const char *const mechanisms[][2] = {
    { "kmeans/lloyd", "clusters=7 rounds=4" },
    { "subspace/gaussian", "dim=3" },
    { "bounds/quantile", "" },
    { "bounds/quantile", "of=columns" },
    { "kmeans/local", "clusters=7 cells=20 reduce=3" },
    { "kmeans/density", "clusters=5 cells=16 points=200 rounds=2" },
};
enum { MECHANISMS = sizeof mechanisms / sizeof *mechanisms };

static void fill(double *values)
{
    for (size_t i = 0; i < (size_t)ROWS * D; i++)
        values[i] =
            sin((double)i * 0.37) * (1 + (double)(i % D)) * 0.3 + ((i / D) % 3 == 0 ? 0.4 : -0.1);
}

static text release_text(const char *const mechanism[2], const double *values, size_t rows,
                         const clo_run_options *options)
{
    const clo_domain domain = ball(D, 1.5, CLO_REPLACE);
    clo_plan *const plan = plan_for(mechanism[0], mechanism[1], &domain, 1, 1e-6);
    clo_bounded *const data = bounded_from(values, rows, &domain);
    clo_release *const release = run_seeded(plan, data, "run", options);
    const text t = json_of(release);
    clo_release_free(release);
    clo_bounded_free(data);
    clo_plan_free(plan);
    return t;
}

static void threads_blocks_and_row_order_do_not_show(void **state)
{
    static double values[ROWS * D], permuted[ROWS * D];
    static const size_t blocks[] = { 0, 1, 17, 4096, (size_t)1 << 61 };
    (void)state;
    fill(values);
    for (size_t i = 0; i < ROWS; i++)
        memcpy(permuted + i * D, values + i * 2477 % ROWS * D, D * sizeof *values);
    for (size_t m = 0; m < MECHANISMS; m++) {
        const text expected = release_text(mechanisms[m], values, ROWS, NULL);
        for (int threads = 1; threads <= 3; threads++)
            for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
                clo_run_options options = clo_run_options_default();
                options.threads = threads;
                options.block_rows = blocks[b];
                const text actual =
                    release_text(mechanisms[m], b % 2 ? permuted : values, ROWS, &options);
                assert_string_equal(actual.bytes, expected.bytes);
                free(actual.bytes);
            }
        free(expected.bytes);
    }
}

static clo_status no_sum(void *user, int64_t *values, size_t count)
{
    (void)user, (void)values, (void)count;
    return CLO_IO;
}

static clo_status no_share(void *user, void *bytes, size_t count)
{
    (void)user, (void)bytes, (void)count;
    return CLO_IO;
}

/* bound.T3 holds a unit to its rows on one rank; on several it would not. */
static void units_over_several_ranks_are_refused(void **state)
{
    static const char csv[] = "who,x\nann,0.5\n";
    const clo_comm first = { 0, 2, no_sum, no_share, NULL };
    char path[] = "/tmp/clo-ranks-XXXXXX";
    clo_read_options read = clo_read_options_default();
    clo_run_options options = clo_run_options_default();
    clo_domain domain = ball(1, 1, CLO_REPLACE);
    clo_table *table = NULL;
    clo_bounded *data = NULL;
    clo_grant *grant = NULL;
    clo_release *release = NULL;
    clo_error err;
    (void)state;
    const int fd = mkstemp(path);
    assert_int_equal(write(fd, csv, sizeof csv - 1), (ssize_t)sizeof csv - 1);
    close(fd);
    read.unit = domain.unit = "who";
    read.format = "csv";
    assert_ok(clo_table_read(path, &read, &table, &err), err);
    unlink(path);
    assert_ok(clo_bound(table, &domain, &data, &err), err);
    clo_plan *const plan = plan_for("subspace/gaussian", "dim=1", &domain, 1, 1e-6);
    clo_rng *const rng = seeded("ranks");
    assert_ok(clo_grant_unmetered(plan, &grant, &err), err);
    options.comm = &first;
    assert_fails(clo_run(plan, grant, data, rng, &options, &release, &err), CLO_UNSUPPORTED, err,
                 "over several parts");
    assert_null(release);
    clo_rng_free(rng);
    clo_grant_free(grant);
    clo_plan_free(plan);
    clo_bounded_free(data);
    clo_table_free(table);
}

static void a_seed_repeats_and_another_does_not(void **state)
{
    static double values[ROWS * D];
    const clo_domain domain = ball(D, 1.5, CLO_REPLACE);
    (void)state;
    fill(values);
    clo_plan *const plan = plan_for("subspace/gaussian", "dim=3", &domain, 1, 1e-6);
    clo_bounded *const data = bounded_from(values, ROWS, &domain);
    clo_release *const a = run_seeded(plan, data, "1", NULL), *const b =
                                                                  run_seeded(plan, data, "2", NULL);
    assert_false(clo_release_is_private(a));
    assert_non_null(strstr(clo_release_statement(a), "not private"));
    const text x = json_of(a), y = json_of(b);
    assert_string_not_equal(x.bytes, y.bytes);
    free(x.bytes);
    free(y.bytes);
    clo_release_free(a);
    clo_release_free(b);
    clo_bounded_free(data);
    clo_plan_free(plan);
}

/* bound.T1 end to end: the far record is the clipped one, byte for byte. */
static void an_extreme_record_is_its_clipped_self(void **state)
{
    static double values[ROWS * D], other[ROWS * D];
    (void)state;
    fill(values);
    for (size_t m = 0; m < MECHANISMS; m++) {
        memcpy(other, values, sizeof values);
        for (size_t j = 0; j < D; j++) values[7 * D + j] = other[7 * D + j] = 0;
        values[7 * D + 2] = 1.5;
        other[7 * D + 2] = 1e6;
        const text expected = release_text(mechanisms[m], values, ROWS, NULL),
                   actual = release_text(mechanisms[m], other, ROWS, NULL);
        assert_string_equal(actual.bytes, expected.bytes);
        free(expected.bytes);
        free(actual.bytes);
    }
}

static void a_grant_is_good_for_one_run_of_its_plan(void **state)
{
    static double values[ROWS * D];
    const clo_domain domain = ball(D, 1, CLO_REPLACE), wider = ball(D, 2, CLO_REPLACE);
    clo_grant *grant = NULL;
    clo_release *release = NULL, *second = NULL;
    clo_error err;
    (void)state;
    fill(values);
    clo_plan *const plan = plan_for("subspace/gaussian", "dim=3", &domain, 1, 1e-6);
    clo_plan *const other = plan_for("subspace/gaussian", "dim=2", &domain, 1, 1e-6);
    clo_bounded *const data = bounded_from(values, ROWS, &domain), *const strange = bounded_from(
                                                                       values, ROWS, &wider);
    clo_rng *const rng = seeded("grant");
    assert_ok(clo_grant_unmetered(plan, &grant, &err), err);
    assert_fails(clo_run(other, grant, data, rng, NULL, &release, &err), CLO_ARGUMENT, err,
                 "another plan");
    assert_fails(clo_run(plan, grant, strange, rng, NULL, &release, &err), CLO_ARGUMENT, err,
                 "another domain");
    assert_null(release);
    assert_ok(clo_run(plan, grant, data, rng, NULL, &release, &err), err);
    assert_fails(clo_run(plan, grant, data, rng, NULL, &second, &err), CLO_ARGUMENT, err,
                 "used up");
    assert_null(second);
    assert_false(clo_release_is_metered(release));
    clo_release_free(release);
    clo_rng_free(rng);
    clo_grant_free(grant);
    clo_bounded_free(data);
    clo_bounded_free(strange);
    clo_plan_free(plan);
    clo_plan_free(other);
}

/* By each byte of what a grant says of its plan. */
static void a_grant_is_good_for_no_plan_that_is_nearly_its_own(void **state)
{
    static double values[ROWS * D];
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_grant *grant = NULL;
    clo_release *release = NULL;
    clo_error err;
    (void)state;
    fill(values);
    clo_plan *const plan = plan_for("subspace/gaussian", "dim=3", &domain, 1, 1e-6);
    clo_bounded *const data = bounded_from(values, ROWS, &domain);
    clo_rng *const rng = seeded("grant");
    assert_ok(clo_grant_unmetered(plan, &grant, &err), err);
    for (size_t b = 0; b < sizeof grant->plan_id; b++) {
        grant->plan_id[b] ^= 1;
        assert_fails(clo_run(plan, grant, data, rng, NULL, &release, &err), CLO_ARGUMENT, err,
                     "another plan");
        grant->plan_id[b] ^= 1;
    }
    assert_ok(clo_run(plan, grant, data, rng, NULL, &release, &err), err);
    clo_release_free(release);
    clo_rng_free(rng);
    clo_grant_free(grant);
    clo_bounded_free(data);
    clo_plan_free(plan);
}

/* ---- what is said ---------------------------------------------------------------------------- */

static const char *trouble; /* what the mechanism says that fails */

static clo_status fail_with_words(const void *plan, const clo_domain *domain,
                                  const clo_bounded *data, clo_context *context, clo_release *out,
                                  clo_error *err)
{
    (void)plan, (void)domain, (void)data, (void)context, (void)out;
    return clo_i_fail(err, CLO_INTERNAL, "%s", trouble);
}

/* meter.T2: a number might be that of the rows, or follow from it. */
static void no_number_is_told_once_the_data_were_asked(void **state)
{
    static const char *const words[] = { "row 7 is odd", "x0", "9", "there is no such thing" };
    static double values[ROWS * D];
    clo_mechanism failing = *clo_mechanism_find("kmeans/lloyd");
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_params *params = NULL;
    clo_plan *plan = NULL;
    clo_error err;
    (void)state;
    fill(values);
    failing.run = fail_with_words;
    assert_ok(clo_params_new(&failing, &params, &err), err);
    assert_ok(clo_params_set_text(params, "clusters", "2", &err), err);
    assert_ok(clo_plan_new(params, &domain, (clo_loss){ 1, 1e-6 }, CLO_EXACT, &plan, &err), err);
    clo_bounded *const data = bounded_from(values, ROWS, &domain);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        clo_grant *grant = NULL;
        clo_release *release = NULL;
        clo_rng *const rng = seeded("words");
        const bool told = !strpbrk(words[i], "0123456789");
        trouble = words[i];
        assert_ok(clo_grant_unmetered(plan, &grant, &err), err);
        assert_fails(clo_run(plan, grant, data, rng, NULL, &release, &err), CLO_INTERNAL, err,
                     told ? words[i] : clo_status_text(CLO_INTERNAL));
        assert_null(strpbrk(err.message, "0123456789"));
        clo_grant_free(grant);
        clo_rng_free(rng);
    }
    clo_bounded_free(data);
    clo_plan_free(plan);
    clo_params_free(params);
}

/* The sentence that people read understates no loss: e^epsilon is rounded up, at its last digit. */
static void the_factor_that_is_said_covers_the_loss(void **state)
{
    static double values[ROWS * D];
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    (void)state;
    fill(values);
    clo_bounded *const data = bounded_from(values, 20, &domain);
    for (double epsilon = 0.01; epsilon < 12; epsilon *= 1.31) {
        clo_grant *grant = NULL;
        clo_release *release = NULL;
        clo_rng *rng = NULL;
        clo_error err;
        clo_plan *const plan = plan_for("subspace/gaussian", "dim=1", &domain, epsilon, 1e-6);
        assert_ok(clo_grant_unmetered(plan, &grant, &err), err);
        assert_ok(clo_rng_new(&rng, &err), err);
        assert_ok(clo_run(plan, grant, data, rng, NULL, &release, &err), err);
        const char *const at = strstr(clo_release_statement(release), "up to a factor of ");
        assert_non_null(at);
        const double factor = strtod(at + strlen("up to a factor of "), NULL);
        assert_true(factor >= exp(epsilon) && factor < exp(epsilon) * 1.0015);
        clo_release_free(release);
        clo_grant_free(grant);
        clo_rng_free(rng);
        clo_plan_free(plan);
    }
    clo_bounded_free(data);
}

static bool stop(void *user, double done)
{
    *(double *)user = done;
    return false;
}

static void same_numbers(const double *told, const double *public, size_t count)
{
    assert_int_equal(told == NULL, public == NULL);
    if (public) assert_memory_equal(told, public, count * sizeof *public);
}

/* What a release says of its data and its cost is what its plan was made for: whom the loss is of,
 * how many rows a person has, the bounds, the guarantee, each query with its noise. */
static void a_release_has_the_facts_of_its_plan(void **state)
{
    static double values[ROWS * D];
    static const double lower[D] = { -1, -2, -3, -4, -5, -6 }, upper[D] = { 1, 2, 3, 4, 5, 6.5 };
    static const double center[D] = { 1, 2, 3, 4, 5, 6 };
    uint64_t units[60];
    (void)state;
    fill(values);
    for (size_t i = 0; i < 60; i++) units[i] = i / 3;
    for (int i = 0; i < 8; i++) {
        const bool unit = i & 1, bounds = i & 2;
        clo_domain domain = ball(D, 1.5, i & 4 ? CLO_REPLACE : CLO_ADD_REMOVE);
        if (unit) domain.unit = "who", domain.rows_per_unit = 3;
        if (bounds)
            domain.lower = lower, domain.upper = upper;
        else
            domain.center = center;
        clo_plan *const plan = plan_for("kmeans/lloyd", "clusters=2 rounds=3", &domain, 0.7, 1e-7);
        clo_bounded *const data = unit ? bounded_from_units(values, units, 60, &domain)
                                       : bounded_from(values, 60, &domain);
        clo_release *const release = run_seeded(plan, data, "facts", NULL);
        const clo_facts *const f = &release->facts;
        assert_true(f->cols == D && f->seen_cols == 0);
        assert_true(f->relation == domain.relation && f->rows == domain.rows);
        assert_int_equal(f->rows_per_unit, domain.rows_per_unit);
        assert_int_equal(f->unit != NULL, unit);
        if (unit) assert_string_equal(clo_release_unit(release), "who");
        assert_true(f->norm == clo_i_domain_radius(&domain));
        same_numbers(f->lower, domain.lower, D);
        same_numbers(f->upper, domain.upper, D);
        same_numbers(f->center, domain.center, D);
        assert_true(f->loss.epsilon == 0.7 && f->loss.delta == 1e-7);
        assert_true(f->price.loss.epsilon == clo_plan_price(plan).loss.epsilon &&
                    f->price.loss.delta == clo_plan_price(plan).loss.delta);
        assert_string_equal(f->guarantee, "exact");
        assert_false(f->is_private || f->metered || f->capped); /* a seed, and no ledger */
        assert_int_equal(f->query_count, plan->line_count);
        for (size_t l = 0; l < plan->line_count; l++) {
            const clo_line *const line = &plan->lines[l];
            assert_string_equal(f->query_labels[l], line->label);
            assert_true(f->query_noise[l] == line->noise && line->noise > 0);
            assert_memory_equal(&f->query_events[l], &line->event, sizeof line->event);
        }
        clo_release_free(release);
        clo_bounded_free(data);
        clo_plan_free(plan);
    }
}

static void a_cancel_is_obeyed(void **state)
{
    static double values[ROWS * D];
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    clo_run_options options = clo_run_options_default();
    clo_grant *grant = NULL;
    clo_release *release = NULL;
    clo_error err;
    double done = -1;
    (void)state;
    fill(values);
    clo_plan *const plan = plan_for("kmeans/lloyd", "clusters=2", &domain, 1, 1e-6);
    clo_bounded *const data = bounded_from(values, ROWS, &domain);
    clo_rng *const rng = seeded("cancel");
    options.progress = stop;
    options.user = &done;
    assert_ok(clo_grant_unmetered(plan, &grant, &err), err);
    assert_fails(clo_run(plan, grant, data, rng, &options, &release, &err), CLO_CANCELLED, err,
                 "stopped");
    assert_null(release);
    assert_true(done >= 0 && done <= 1);
    clo_rng_free(rng);
    clo_grant_free(grant);
    clo_bounded_free(data);
    clo_plan_free(plan);
}

/* A mechanism is total: it answers on no rows at all, on one, on zero records. */
static void few_rows_are_no_reason_to_fail(void **state)
{
    static const double values[3 * D];
    (void)state;
    for (size_t m = 0; m < MECHANISMS; m++)
        for (size_t rows = 0; rows <= 3; rows++)
            free(release_text(mechanisms[m], values, rows, NULL).bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_blocks_and_row_order_do_not_show),
        cmocka_unit_test(units_over_several_ranks_are_refused),
        cmocka_unit_test(a_seed_repeats_and_another_does_not),
        cmocka_unit_test(an_extreme_record_is_its_clipped_self),
        cmocka_unit_test(a_grant_is_good_for_one_run_of_its_plan),
        cmocka_unit_test(a_grant_is_good_for_no_plan_that_is_nearly_its_own),
        cmocka_unit_test(no_number_is_told_once_the_data_were_asked),
        cmocka_unit_test(the_factor_that_is_said_covers_the_loss),
        cmocka_unit_test(a_release_has_the_facts_of_its_plan),
        cmocka_unit_test(a_cancel_is_obeyed),
        cmocka_unit_test(few_rows_are_no_reason_to_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
