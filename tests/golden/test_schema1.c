/*
 * test_schema1.c - releases of the first schema, kept as the last cloister of that schema wrote
 * them (schema1/), are read under the names of today and written back to the same bytes, so that
 * their digests and signatures hold.
 */
#include "golden_table.h"
#include "release/release.h"
#include <sodium.h>

static const char *const kept[] = { "auto",    "bounds",   "exact",    "kmeans",
                                    "persons", "subspace", "subspaces" };
enum { KEPT = sizeof kept / sizeof *kept, MOST = 1 << 16 };

typedef struct text {
    char bytes[MOST];
    size_t length;
} text;

static bool append(void *user, const char *bytes, size_t count)
{
    text *const t = user;
    assert_true(t->length + count < MOST);
    memcpy(t->bytes + t->length, bytes, count);
    t->length += count;
    return true;
}

static void load(const char *name, text *out)
{
    char path[64];
    snprintf(path, sizeof path, "schema1/%s", name);
    FILE *const file = open_table(path);
    out->length = fread(out->bytes, 1, MOST - 1, file);
    out->bytes[out->length] = 0;
    fclose(file);
}

static clo_release *parse(const text *json)
{
    clo_release *release = NULL;
    clo_error err;
    assert_ok(clo_release_parse(json->bytes, json->length, &release, &err), err);
    return release;
}

static clo_release *release_of(const char *name, text *json)
{
    char file[32];
    snprintf(file, sizeof file, "%s.json", name);
    load(file, json);
    return parse(json);
}

static void each_is_written_back_to_its_own_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < KEPT; i++) {
        static text before, after;
        uint8_t hash[32];
        char wanted[CLO_DIGEST_SIZE], digest[CLO_DIGEST_SIZE];
        clo_error err;
        clo_release *const release = release_of(kept[i], &before);
        after.length = 0;
        assert_ok(clo_report(release, CLO_JSON, append, &after, &err), err);
        assert_int_equal(after.length, before.length);
        assert_memory_equal(after.bytes, before.bytes, before.length);
        crypto_generichash(hash, sizeof hash, (const uint8_t *)before.bytes, before.length, NULL,
                           0);
        sodium_bin2hex(wanted, sizeof wanted, hash, sizeof hash);
        assert_ok(clo_release_digest(release, digest, &err), err);
        assert_string_equal(digest, wanted);
        clo_release_free(release);
    }
}

static void arrays_have_their_names_of_today_and_are_found_by_both(void **state)
{
    static const char *const names[][2] = { { "weights", "sizes" },
                                            { "widths", "radii" },
                                            { "told_apart", "distinct_clusters" } };
    static text json;
    clo_release *const release = release_of("kmeans", &json);
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        clo_array old, now;
        assert_true(clo_release_find(release, names[i][0], &old));
        assert_true(clo_release_find(release, names[i][1], &now));
        assert_ptr_equal(old.data, now.data);
        assert_string_equal(now.name, names[i][1]);
    }
    assert_int_equal(clo_release_count(release), 4);
    assert_string_equal(clo_release_at(release, 1).name, "sizes");
    clo_release_free(release);
}

static void what_was_said_of_privacy_is_still_said(void **state)
{
    static text json;
    clo_release *release = release_of("kmeans", &json);
    (void)state;
    assert_true(clo_release_is_private(release) && clo_release_is_metered(release));
    assert_true(release->facts.capped && release->facts.rows_per_unit == 1);
    assert_true(release->facts.price.loss.epsilon == 0.9999999100531731);
    assert_true(release->facts.norm == 1.4142135623730951);
    assert_true(release->facts.query_events[2].kind == CLO_EVENT_GAUSSIAN);
    assert_true(release->facts.query_events[2].parameter == 0.1289984494728847);
    clo_release_free(release);
    release = release_of("persons", &json);
    assert_string_equal(clo_release_unit(release), "who");
    assert_int_equal(release->facts.rows_per_unit, 4);
    clo_release_free(release);
}

static void a_signature_of_then_holds_and_notices_a_change(void **state)
{
    static text json, word;
    uint8_t key[CLO_PUBLIC_KEY_BYTES];
    clo_error err;
    clo_release *release = release_of("kmeans", &json);
    (void)state;
    load("steward.pub", &word);
    assert_int_equal(sodium_hex2bin(key, sizeof key, word.bytes, 64, NULL, NULL, NULL), 0);
    assert_int_equal(clo_release_seal(release), CLO_SEAL_WHOLE);
    assert_ok(clo_release_check(release, key, &err), err);
    clo_release_free(release);
    char *const size = strstr(json.bytes, "1052.5");
    size[0] = '2';
    release = parse(&json);
    assert_int_equal(clo_release_seal(release), CLO_SEAL_BROKEN);
    assert_fails(clo_release_check(release, key, &err), CLO_SIGNATURE, err, "changed");
    clo_release_free(release);
}

static void the_text_has_the_names_of_today(void **state)
{
    static text json, page;
    clo_error err;
    (void)state;
    for (size_t i = 0; i < KEPT; i++) {
        clo_release *const release = release_of(kept[i], &json);
        page.length = 0;
        assert_ok(clo_report(release, CLO_TEXT, append, &page, &err), err);
        page.bytes[page.length] = 0;
        assert_null(strstr(page.bytes, "weights"));
        assert_int_equal(strstr(page.bytes, "\nsizes (") != NULL,
                         clo_release_find(release, "sizes", &(clo_array){ 0 }));
        clo_release_free(release);
    }
}

static void two_releases_of_two_schemas_differ_in_their_names_alone(void **state)
{
    static text json, now;
    char old_digest[CLO_DIGEST_SIZE], digest[CLO_DIGEST_SIZE];
    clo_error err;
    clo_release *release = release_of("auto", &json);
    (void)state;
    assert_ok(clo_release_values_digest(release, old_digest, &err), err);
    release->schema = CLO_SCHEMA;
    now.length = 0;
    assert_ok(clo_report(release, CLO_JSON, append, &now, &err), err);
    now.bytes[now.length] = 0;
    assert_non_null(strstr(now.bytes, "\"schema\": \"cloister.release/2\""));
    static const char *const gone[] = { "\"weights\"", "\"widths\"", "\"told_apart\"",
                                        "\"price\"",   "\"event\"",  "\"parameter\"",
                                        "\"metered\"", "\"capped\"", "rows_per_unit" };
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) assert_null(strstr(now.bytes, gone[i]));
    clo_release_free(release);
    release = parse(&now);
    assert_ok(clo_release_values_digest(release, digest, &err), err);
    assert_string_not_equal(digest, old_digest); /* the names are in it */
    assert_true(release->facts.price.loss.epsilon == 1.99999964979679);
    clo_release_free(release);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_written_back_to_its_own_bytes),
        cmocka_unit_test(arrays_have_their_names_of_today_and_are_found_by_both),
        cmocka_unit_test(what_was_said_of_privacy_is_still_said),
        cmocka_unit_test(a_signature_of_then_holds_and_notices_a_change),
        cmocka_unit_test(the_text_has_the_names_of_today),
        cmocka_unit_test(two_releases_of_two_schemas_differ_in_their_names_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
