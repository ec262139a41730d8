/* Releases: written, read back, written again to the same bytes; broken ones refused. */
#include "pipeline.h"
#include "release/release.h"
#include <jansson.h>

enum { ROWS = 500, D = 3 };

static clo_release *some_release(const char *mechanism, const char *settings, bool bounds)
{
    static const double lower[D] = { -1, -2, -3 }, upper[D] = { 1, 2.5, 3 };
    static double values[ROWS * D];
    clo_domain domain = ball(D, bounds ? 0 : 1, CLO_ADD_REMOVE);
    for (size_t i = 0; i < (size_t)ROWS * D; i++) values[i] = sin((double)i);
    domain.lower = bounds ? lower : NULL;
    domain.upper = bounds ? upper : NULL;
    domain.rows = 512;
    clo_plan *const plan = plan_for(mechanism, settings, &domain, 1.5, 1e-7);
    clo_bounded *const data = bounded_from(values, ROWS, &domain);
    clo_release *const release = run_seeded(plan, data, "release", NULL);
    clo_bounded_free(data);
    clo_plan_free(plan);
    return release;
}

static void a_release_reads_back_to_the_same_bytes(void **state)
{
    static const char *const names[D] = { "age", "a \"quoted\" name", "größe\\" };
    static const char *const cases[][2] = { { "kmeans/lloyd", "clusters=4" },
                                            { "subspace/gaussian", "dim=2" },
                                            { "bounds/quantile", "of=norm" } };
    clo_error err;
    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (int bounds = 0; bounds < (i == 2 ? 1 : 2); bounds++) {
            clo_release *const release = some_release(cases[i][0], cases[i][1], bounds);
            clo_release *back = NULL;
            if (bounds) assert_ok(clo_release_name_columns(release, names, D, &err), err);
            const text once = json_of(release);
            assert_ok(clo_release_parse(once.bytes, once.length, &back, &err), err);
            const text twice = json_of(back);
            assert_string_equal(twice.bytes, once.bytes);
            assert_int_equal(clo_release_count(back), clo_release_count(release));
            assert_string_equal(clo_release_statement(back), clo_release_statement(release));
            assert_true(clo_release_loss(back).epsilon == 1.5);
            free(once.bytes);
            free(twice.bytes);
            clo_release_free(back);
            clo_release_free(release);
        }
}

/* What a loss is of, by its kind: all numbers of it, and the rows of a unit, also where that is one
 * row. */
static void every_kind_of_loss_reads_back_as_it_was(void **state)
{
    clo_release *const release = some_release("kmeans/lloyd", "clusters=4", false);
    clo_event *const event = &release->facts.query_events[0];
    clo_error err;
    (void)state;
    assert_ok(clo_i_copy_text("person", &release->facts.unit, &err), err);
    for (int kind = 1; clo_event_name((clo_event_kind)kind); kind++)
        for (uint64_t rows = 1; rows <= 3; rows += 2) {
            clo_release *back = NULL;
            const bool approximate = kind == CLO_EVENT_APPROXIMATE;
            *event = (clo_event){ .kind = (clo_event_kind)kind,
                                  .parameter = 0.375,
                                  .delta = approximate ? 0x1p-30 : 0,
                                  .count = 5 };
            release->facts.rows_per_unit = rows;
            const text t = json_of(release);
            assert_non_null(strstr(t.bytes, "\"rows_per_unit\""));
            assert_ok(clo_release_parse(t.bytes, t.length, &back, &err), err);
            const clo_event *const read = &back->facts.query_events[0];
            assert_int_equal(read->kind, event->kind);
            assert_true(read->parameter == event->parameter && read->delta == event->delta);
            assert_int_equal(read->count, event->count);
            assert_int_equal(back->facts.rows_per_unit, rows);
            assert_string_equal(back->facts.unit, "person");
            free(t.bytes);
            clo_release_free(back);
        }
    clo_release_free(release);
}

/* The keys that others rely on, checked with a parser that is not ours. */
static void the_schema_holds_what_it_promises(void **state)
{
    (void)state;
    clo_release *const release = some_release("kmeans/lloyd", "clusters=4 rounds=2", false);
    const text t = json_of(release);
    json_t *const root = json_loads(t.bytes, 0, NULL);
    assert_non_null(root);
    const json_t *const privacy = json_object_get(root, "privacy");
    assert_string_equal(json_string_value(json_object_get(root, "schema")), "cloister.release/2");
    assert_string_equal(json_string_value(json_object_get(root, "family")), "kmeans");
    assert_string_equal(json_string_value(json_object_get(privacy, "relation")), "add-remove");
    assert_string_equal(json_string_value(json_object_get(privacy, "guarantee")), "exact");
    assert_true(json_number_value(json_object_get(privacy, "epsilon")) == 1.5);
    assert_true(json_number_value(json_object_get(privacy, "epsilon_used")) <= 1.5);
    assert_true(json_is_false(json_object_get(privacy, "private")));
    assert_true(json_is_false(json_object_get(privacy, "charged_to_ledger")));
    assert_true(json_number_value(json_object_get(json_object_get(root, "parameters"), "rounds")) ==
                2);
    assert_int_equal(json_array_size(json_object_get(json_object_get(root, "values"), "centers")),
                     4);
    assert_true(json_number_value(json_object_get(json_object_get(root, "domain"), "rows")) == 512);
    json_decref(root);
    free(t.bytes);
    clo_release_free(release);
}

static void a_broken_release_is_refused_with_a_sentence(void **state)
{
    clo_error err;
    clo_release *back = NULL;
    (void)state;
    assert_fails(clo_release_parse("", 0, &back, &err), CLO_FORMAT, err, "not JSON");
    assert_fails(clo_release_parse("{}", 2, &back, &err), CLO_FORMAT, err, "schema");
    assert_fails(clo_release_parse("[1]", 3, &back, &err), CLO_FORMAT, err, "schema");
    assert_fails(clo_release_parse("{\"schema\":\"cloister.release/3\"}", 31, &back, &err),
                 CLO_FORMAT, err, "newer version of cloister");
    assert_fails(clo_release_read("/nonexistent/release.json", &back, &err), CLO_IO, err,
                 "/nonexistent/release.json");
    assert_null(back);
}

/* Each byte of a good release, damaged in turn: refused or read, never a crash or a leak. */
static void no_damaged_byte_does_harm(void **state)
{
    clo_error err;
    size_t refused = 0;
    (void)state;
    clo_release *const release = some_release("subspace/gaussian", "dim=2", true);
    const text t = json_of(release);
    for (size_t i = 0; i < t.length; i++) {
        const char before = t.bytes[i];
        clo_release *back = NULL;
        t.bytes[i] = (char)(before == '[' ? '{' : before ^ 1);
        if (clo_release_parse(t.bytes, t.length, &back, &err)) {
            refused++;
            assert_null(back);
        }
        clo_release_free(back);
        t.bytes[i] = before;
    }
    assert_true(refused > 100);
    free(t.bytes);
    clo_release_free(release);
}

static bool refuse_to_write(void *user, const char *bytes, size_t count)
{
    (void)bytes, (void)count;
    return --*(int *)user > 0;
}

static void a_failed_write_is_said(void **state)
{
    clo_error err;
    (void)state;
    clo_release *const release = some_release("subspace/gaussian", "dim=2", false);
    for (int left = 1; left < 50; left += 7) {
        int count = left;
        assert_fails(clo_report(release, CLO_JSON, refuse_to_write, &count, &err), CLO_IO, err,
                     "could not be written");
    }
    clo_release_free(release);
}

static void the_text_says_what_it_cost_and_what_came_out(void **state)
{
    clo_error err;
    text t = { 0 };
    (void)state;
    clo_release *const release = some_release("kmeans/lloyd", "clusters=4", false);
    assert_ok(clo_report(release, CLO_TEXT, append_text, &t, &err), err);
    assert_non_null(strstr(t.bytes, "kmeans/lloyd with clusters 4"));
    assert_non_null(strstr(t.bytes, "epsilon 1.5, delta 1e-7, add or remove one record"));
    assert_non_null(strstr(t.bytes, "NOT PRIVATE"));
    assert_non_null(strstr(t.bytes, "not charged to a ledger"));
    assert_non_null(strstr(t.bytes, "centers (4 x 3)"));
    free(t.bytes);
    clo_release_free(release);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_release_reads_back_to_the_same_bytes),
        cmocka_unit_test(every_kind_of_loss_reads_back_as_it_was),
        cmocka_unit_test(the_schema_holds_what_it_promises),
        cmocka_unit_test(a_broken_release_is_refused_with_a_sentence),
        cmocka_unit_test(no_damaged_byte_does_harm),
        cmocka_unit_test(a_failed_write_is_said),
        cmocka_unit_test(the_text_says_what_it_cost_and_what_came_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
