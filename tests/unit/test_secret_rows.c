/*
 * How many rows there are is a secret under add-remove, and where units may have fewer rows or
 * more (bound.T3): no plan, no domain and no release holds the number, for any mechanism, and
 * nothing is refused for it.  Runs that learn their domain first are no exception (learn.T1).
 */
#include "every_mechanism.h"
#include "bytes_file.h"
#include "bound/bound.h"
#include "plan/mechanism.h"
#include "query/gibbs.h"
#include "query/queries.h"

/* A prime of rows, two of a unit: 505 units.  Neither number is anybody's parameter. */
enum { ROWS = 1009, UNITS = 505, DECLARED = 5000 };
static const clo_loss budget = { 1, 1e-6 };

/* --- the domains in which the number is a secret ---------------------------------------------- */

enum { SECRETS = 3 };

/* false: this mechanism takes no such domain. */
static bool secret_domain(const clo_mechanism *mechanism, int which, clo_domain *out)
{
    static const struct {
        clo_relation relation;
        const char *unit;
    } secrets[SECRETS] = { { CLO_ADD_REMOVE, NULL },
                           { CLO_ADD_REMOVE, "person" },
                           { CLO_REPLACE, "person" } };
    if (secrets[which].unit && !takes_units(mechanism)) return false;
    *out = domain_of(mechanism, secrets[which].relation, secrets[which].unit,
                     secrets[which].unit ? 2 : 1);
    return true;
}

/* `rows` rows, those after `full` of them of zeros. */
static clo_bounded *make_data(const clo_domain *domain, size_t rows, size_t full)
{
    static double values[(ROWS + 8) * CLO_AUDIT_COLS];
    static uint64_t units[ROWS + 8];
    assert_true(rows <= ROWS + 8);
    for (size_t i = 0; i < rows; i++) units[i] = i / 2;
    for (size_t i = 0; i < rows * domain->cols; i++)
        values[i] = i < full * domain->cols ? 0.3 * sin((double)(i + 1)) : 0;
    return domain->unit ? bounded_from_units(values, units, rows, domain)
                        : bounded_from(values, rows, domain);
}

/* ---- looking for a number -------------------------------------------------------------------- */

/* Whether one of the numbers that stand in the text is this one. */
static bool holds_number(const char *text_of_it, double number)
{
    for (const char *at = text_of_it; *at;) {
        char *end;
        const double value = strtod(at, &end);
        const bool inside = at > text_of_it && (at[-1] == '.' || (at[-1] >= '0' && at[-1] <= '9'));
        if (end > at && !inside && value == number) return true;
        at = end > at ? end : at + 1;
    }
    return false;
}

static void the_search_for_a_number_finds_it(void **state)
{
    (void)state;
    assert_true(holds_number("{\"rows\": 1009}", 1009));
    assert_true(holds_number("of 1009 rows", 1009));
    assert_true(holds_number("[3, 1.009e3]", 1009));
    assert_false(holds_number("[1009.5, 11009, 0.1009]", 1009));
}

static void says_nothing_of_the_rows(const clo_release *release)
{
    clo_error err;
    for (int format = CLO_TEXT; format <= CLO_JSON; format++) {
        text said = { 0 };
        assert_ok(clo_report(release, (clo_report_format)format, append_text, &said, &err), err);
        assert_false(holds_number(said.bytes, ROWS));
        assert_false(holds_number(said.bytes, UNITS));
        free(said.bytes);
    }
}

/* ---- every mechanism ------------------------------------------------------------------------- */

static void no_release_holds_the_number_of_rows(void **state)
{
    (void)state;
    for (size_t m = 0; m < clo_mechanism_count(); m++)
        for (int which = 0; which < SECRETS; which++) {
            const clo_mechanism *const mechanism = clo_mechanism_at(m);
            clo_domain domain;
            if (!secret_domain(mechanism, which, &domain)) continue;
            for (uint64_t declared = 0; declared <= DECLARED; declared += DECLARED) {
                domain.rows = declared; /* which need not be what there are: nothing is refused */
                clo_bounded *const data = make_data(&domain, ROWS, ROWS);
                clo_plan *const plan = plan_of(mechanism, &domain, budget);
                clo_release *const release = run_seeded(plan, data, "rows", NULL);
                assert_int_equal(clo_release_rows(release), declared);
                says_nothing_of_the_rows(release);
                clo_release_free(release);
                clo_plan_free(plan);
                clo_bounded_free(data);
            }
        }
}

/* Made from the domain that the data were bounded to, whatever their number. */
static void plans_of_data_that_differ_in_their_number_are_one_plan(void **state)
{
    static const size_t counts[] = { ROWS, ROWS + 1, 0 };
    (void)state;
    for (size_t m = 0; m < clo_mechanism_count(); m++)
        for (int which = 0; which < SECRETS; which++) {
            const clo_mechanism *const mechanism = clo_mechanism_at(m);
            clo_domain domain;
            uint8_t first[32];
            if (!secret_domain(mechanism, which, &domain)) continue;
            for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
                clo_bounded *const data = make_data(&domain, counts[i], counts[i]);
                assert_int_equal(clo_i_bounded_rows(data), counts[i]);
                assert_true(clo_i_domain_equal(clo_i_bounded_domain(data), &domain));
                clo_plan *const plan = plan_of(mechanism, clo_i_bounded_domain(data), budget);
                clo_error err;
                assert_ok(clo_plan_check_data(plan, data, &err), err);
                if (i == 0) memcpy(first, plan->id, sizeof first);
                assert_memory_equal(plan->id, first, sizeof first);
                clo_plan_free(plan);
                clo_bounded_free(data);
            }
        }
}

/* Whether the plan asks only what a row of zeros adds nothing to. */
static bool counts_no_rows(const clo_plan *plan)
{
    for (size_t i = 0; i < plan->line_count; i++) {
        const clo_query *const query = plan->lines[i].query;
        if (plan->lines[i].lens ||
            (query != &clo_i_query_gaussian_gram && query != &clo_i_query_gaussian_moment))
            return false;
    }
    return true;
}

/* A row of zeros is there to be counted and for nothing else: where no query counts, the release is
 * the same to the byte, and so nothing outside of the queries has counted. */
static void rows_of_zeros_show_only_where_rows_are_counted(void **state)
{
    size_t seen = 0;
    (void)state;
    for (size_t i = 0; i < clo_i_pair_count(); i++) {
        const clo_i_pair *const pair = clo_i_pair_at(i);
        char name[128];
        clo_error err;
        clo_plan *plan = NULL;
        text said[2];
        snprintf(name, sizeof name, "%s/%s", pair->family, pair->method);
        const clo_domain domain = ball(pair->cols, 1, CLO_ADD_REMOVE);
        clo_params *const params = params_for(name, clo_i_pair_parameters(pair));
        assert_ok(clo_plan_new(params, &domain, budget,
                               clo_mechanism_guarantee(clo_mechanism_find(name)), &plan, &err),
                  err);
        clo_params_free(params);
        if (counts_no_rows(plan)) {
            for (size_t more = 0; more < 2; more++) {
                clo_bounded *const data = make_data(&domain, 100 + more, 100);
                clo_release *const release = run_seeded(plan, data, "zeros", NULL);
                said[more] = json_of(release);
                clo_release_free(release);
                clo_bounded_free(data);
            }
            assert_string_equal(said[0].bytes, said[1].bytes);
            free(said[0].bytes);
            free(said[1].bytes);
            seen++;
        }
        clo_plan_free(plan);
    }
    assert_true(seen >= 8);
}

/* Labels are as many as there are rows: they can be released where that is public, and are refused
 * elsewhere whatever number is declared. */
static void labels_are_refused_where_the_number_of_rows_is_a_secret(void **state)
{
    const clo_mechanism *const mechanism = clo_mechanism_find("subspaces/gibbs");
    const clo_gibbs how = { .clusters = 1, .dim = 1, .sweeps = 1, .steps = true, .labels = true };
    clo_domain domain;
    clo_error err;
    clo_line line;
    (void)state;
    for (int which = 0; which < SECRETS; which++)
        for (uint64_t declared = 0; declared <= ROWS; declared += ROWS) {
            assert_true(secret_domain(mechanism, which, &domain));
            domain.rows = declared;
            assert_fails(clo_i_plan_gibbs(&domain, &how, 1, 2, "", &line, &err), CLO_ARGUMENT, err,
                         "labels");
        }
    domain = domain_of(mechanism, CLO_REPLACE, NULL, 1);
    domain.rows = ROWS;
    assert_ok(clo_i_plan_gibbs(&domain, &how, 1, 2, "", &line, &err), err);
}

/* ---- runs that learn first ----------------------------------------------------------------- */

static clo_plan *learning_plan(const clo_mechanism *mechanism, const clo_domain *domain,
                               bool centered)
{
    clo_learning learning = clo_learning_default();
    clo_plan *plan = NULL;
    clo_loss rest;
    clo_error err;
    learning.norm = true;
    learning.center = centered;
    assert_ok(clo_learning_rest(&learning, budget, &rest, &err), err);
    if (try_plan_of(mechanism, domain, rest, &plan, &err)) return NULL;
    if (clo_plan_learn(plan, &learning, budget, &err)) {
        clo_plan_free(plan);
        return NULL;
    }
    return plan;
}

static void no_release_of_a_run_that_learns_holds_the_number_of_rows(void **state)
{
    size_t learnt = 0;
    (void)state;
    for (size_t m = 0; m < clo_mechanism_count(); m++)
        for (int which = 0; which < SECRETS; which++)
            for (int centered = 0; centered < 2; centered++) {
                const clo_mechanism *const mechanism = clo_mechanism_at(m);
                clo_domain domain;
                if (!secret_domain(mechanism, which, &domain)) continue;
                clo_plan *const plan = learning_plan(mechanism, &domain, centered);
                if (!plan) continue;
                clo_bounded *const data = make_data(&domain, ROWS, ROWS);
                clo_release *const release = run_seeded(plan, data, "learnt", NULL);
                assert_int_equal(clo_release_rows(release), 0);
                says_nothing_of_the_rows(release);
                learnt++;
                clo_release_free(release);
                clo_bounded_free(data);
                clo_plan_free(plan);
            }
    assert_true(learnt >= 30);
}

/* Sparse rows are written out about a learnt centre, and too many of them are refused: by a number
 * that is public, or not at all. */
static void how_many_sparse_rows_there_are_decides_nothing(void **state)
{
    enum { WIDE = 1 << 16, MANY = (1 << 28) / WIDE + 1 };
    static char rows[MANY * 8];
    const clo_mechanism *const mechanism = clo_mechanism_find("kmeans/lloyd");
    (void)state;
    for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++)
        for (size_t count = 1; count <= MANY; count += MANY - 1) {
            clo_read_options options = clo_read_options_default();
            clo_domain domain = ball(WIDE, 1, (clo_relation)relation);
            clo_table *table = NULL;
            clo_bounded *data = NULL;
            clo_error err;
            size_t used = 0;
            for (size_t i = 0; i < count; i++)
                used += (size_t)snprintf(rows + used, sizeof rows - used, "1 2:.1\n");
            const bytes_file file = bytes_file_open(rows, used);
            options.format = "libsvm";
            options.cols = WIDE;
            assert_ok(clo_table_read(file.path, &options, &table, &err), err);
            bytes_file_close(file);
            assert_ok(clo_bound(table, &domain, &data, &err), err);
            clo_plan *const plan = learning_plan(mechanism, &domain, true);
            assert_non_null(plan);
            const clo_status status = clo_plan_check_data(plan, data, &err);
            if (relation == CLO_REPLACE && count == MANY)
                assert_fails(status, CLO_UNSUPPORTED, err, "sparse rows");
            else
                assert_ok(status, err);
            clo_plan_free(plan);
            clo_bounded_free(data);
            clo_table_free(table);
        }
}

/* A caller who reads a file without saying that its rows are a secret, and bounds the table to a
 * domain where they are: how many columns there are was told by a record. */
static void columns_that_a_record_has_told_are_no_public_fact(void **state)
{
    static const char bare[] = "0.1,0.2,7\n0.3,0.4,8\n", named[] = "x,y,who\n0.1,0.2,7\n";
    (void)state;
    for (int i = 0; i < 8; i++) {
        const bool unit = i & 1, header = i & 4;
        const clo_relation relation = i & 2 ? CLO_ADD_REMOVE : CLO_REPLACE;
        const char *const text_of_it = header ? named : bare;
        const bytes_file file = bytes_file_open(text_of_it, strlen(text_of_it));
        clo_read_options options = clo_read_options_default();
        clo_domain domain = ball(unit ? 2 : 3, 1, relation);
        clo_table *table = NULL;
        clo_bounded *data = NULL;
        clo_error err;
        if (unit) options.unit = header ? "who" : "3";
        if (unit) domain.unit = "person";
        assert_ok(clo_table_read(file.path, &options, &table, &err), err);
        const clo_status status = clo_bound(table, &domain, &data, &err);
        if (!header && (unit || relation == CLO_ADD_REMOVE))
            assert_fails(status, CLO_DOMAIN, err, "was read from the first record");
        else
            assert_ok(status, err);
        clo_bounded_free(data);
        clo_table_free(table);
        bytes_file_close(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_search_for_a_number_finds_it),
        cmocka_unit_test(no_release_holds_the_number_of_rows),
        cmocka_unit_test(plans_of_data_that_differ_in_their_number_are_one_plan),
        cmocka_unit_test(rows_of_zeros_show_only_where_rows_are_counted),
        cmocka_unit_test(labels_are_refused_where_the_number_of_rows_is_a_secret),
        cmocka_unit_test(no_release_of_a_run_that_learns_holds_the_number_of_rows),
        cmocka_unit_test(how_many_sparse_rows_there_are_decides_nothing),
        cmocka_unit_test(columns_that_a_record_has_told_are_no_public_fact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
