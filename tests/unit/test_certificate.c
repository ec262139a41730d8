/*
 * test_certificate.c - ledger.T14: a release says which charge it is, and a changed byte is seen by
 * who has the public key alone.
 */
#include "ledger_place.h"
#include "pipeline.h"
#include <sodium.h>

typedef struct signed_release {
    clo_ledger *ledger;
    clo_job *job;
    const clo_release *release;
    const char *json;
    size_t length;
} signed_release;

static double records[40];

/* Twenty rows, which noise hides. */
static bool try_anyway(void *user, const char *why)
{
    (void)user;
    return why[0] != 0;
}

static clo_job *make_job(const place *p, const clo_table *table, const char *epsilon)
{
    const clo_setting settings[] = {
        { "mechanism", "kmeans/lloyd" }, { "clusters", "2" },
        { "epsilon", epsilon },          { "norm", "1" },
        { "ledger", p->ledger },         { "dataset", "people" },
    };
    clo_job *job = NULL;
    clo_error err;
    assert_ok(clo_job_new(&job, &err), err);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        assert_ok(clo_job_set(job, settings[i].name, settings[i].value, &err), err);
    assert_ok(clo_job_set_table(job, table, &err), err);
    clo_job_set_anyway(job, try_anyway, NULL);
    return job;
}

static signed_release make_signed(const place *p, const char *epsilon)
{
    signed_release s = { .ledger = NULL };
    clo_table *table = NULL;
    clo_error err;
    for (size_t i = 0; i < 40; i++) records[i] = i % 4 < 2 ? 0.3 : -0.3;
    const clo_matrix rows = { records, 20, 2, 2 };
    assert_ok(clo_ledger_create(p->ledger, CLO_LEDGER_CLOSED, &s.ledger, &err), err);
    (void)!clo_ledger_declare(s.ledger, "people", (clo_loss){ 9, 1e-3 }, NULL);
    assert_ok(clo_table_wrap(rows, CLO_MISSING_NULL, &table, &err), err);
    s.job = make_job(p, table, epsilon);
    assert_ok(clo_job_release(s.job, &s.release, &err), err);
    assert_null(clo_job_trouble(s.job));
    s.json = clo_job_json(s.job, &s.length);
    clo_table_free(table);
    return s;
}

static void drop(signed_release *s)
{
    clo_job_free(s->job);
    clo_ledger_close(s->ledger);
}

static clo_release *parse(const char *json, size_t length)
{
    clo_release *release = NULL;
    clo_error err;
    assert_ok(clo_release_parse(json, length, &release, &err), err);
    return release;
}

static void a_release_says_which_charge_it_is(void **state)
{
    signed_release s = make_signed(*state, "1");
    clo_certificate c = { .struct_size = sizeof c };
    clo_ledger_facts facts = { .struct_size = sizeof facts };
    char values[CLO_DIGEST_SIZE];
    clo_error err;
    assert_true(clo_release_certificate(s.release, &c));
    assert_ok(clo_ledger_describe(s.ledger, &facts, &err), err);
    assert_string_equal(c.ledger, facts.identity);
    assert_int_equal(c.charge, 1);
    assert_string_equal(c.dataset, "people");
    assert_int_equal(c.time, facts.last_charge);
    assert_non_null(strstr(c.program, "cloister "));
    assert_ok(clo_release_values_digest(s.release, values, &err), err);
    assert_string_equal(c.values, values);
    assert_int_equal(clo_release_seal(s.release), CLO_SEAL_WHOLE);
    assert_ok(clo_ledger_check(s.ledger, s.release, &err), err);
    is_sound(s.ledger);
    drop(&s);
}

/* As an auditor would, by a program of their own: the bytes without the line, and libsodium. */
static void anybody_can_check_it_with_the_public_key(void **state)
{
    signed_release s = make_signed(*state, "1");
    uint8_t key[32], signature[64];
    clo_error err;
    char *const copy = malloc(s.length + 1);
    memcpy(copy, s.json, s.length);
    copy[s.length] = 0;
    char *const line = strstr(copy, "    \"signature\": \"");
    char *const next = strchr(line, '\n') + 1;
    assert_ok(clo_ledger_public_key(s.ledger, key, &err), err);
    assert_int_equal(sodium_hex2bin(signature, 64, line + 18, 128, NULL, NULL, NULL), 0);
    memmove(line, next, strlen(next) + 1);
    assert_int_equal(
        crypto_sign_verify_detached(signature, (const uint8_t *)copy, strlen(copy), key), 0);
    free(copy);
    drop(&s);
}

static void the_bytes_read_back_are_the_same_and_whole(void **state)
{
    signed_release s = make_signed(*state, "1");
    clo_release *const again = parse(s.json, s.length);
    char one[CLO_DIGEST_SIZE], other[CLO_DIGEST_SIZE];
    clo_error err;
    assert_int_equal(clo_release_seal(again), CLO_SEAL_WHOLE);
    assert_ok(clo_release_digest(s.release, one, &err), err);
    assert_ok(clo_release_digest(again, other, &err), err);
    assert_string_equal(one, other);
    clo_release_free(again);
    drop(&s);
}

/* Whatever single byte is changed, the file is no release any more or its seal is broken. */
static void every_changed_byte_is_seen(void **state)
{
    signed_release s = make_signed(*state, "1");
    char *const copy = malloc(s.length);
    for (size_t i = 0; i < s.length; i++) {
        clo_release *release = NULL;
        memcpy(copy, s.json, s.length);
        copy[i] = (char)(copy[i] == '7' ? '3' : copy[i] == ' ' ? '\t' : copy[i] ^ 1);
        if (clo_release_parse(copy, s.length, &release, NULL)) continue;
        if (clo_release_seal(release) == CLO_SEAL_WHOLE) fail_msg("byte %zu", i);
        clo_release_free(release);
    }
    free(copy);
    drop(&s);
}

static char *with(const signed_release *s, const char *from, const char *to, size_t *length)
{
    char *const copy = malloc(s->length + strlen(to) + 1);
    const char *const at = memmem(s->json, s->length, from, strlen(from));
    assert_non_null(at);
    const size_t before = (size_t)(at - s->json), rest = s->length - before - strlen(from);
    memcpy(copy, s->json, before);
    memcpy(copy + before, to, strlen(to));
    memcpy(copy + before + strlen(to), at + strlen(from), rest);
    *length = before + strlen(to) + rest;
    return copy;
}

/* What was added, too: a member that nobody reads, a second line like the signature's. */
static void additions_are_seen(void **state)
{
    signed_release s = make_signed(*state, "1");
    static const char *const more[] = { "{\n  \"note\": \"epsilon 0.01\",\n  \"schema\"",
                                        "{\n  \"x\": {\n    \"signature\": \"\"},\n  \"schema\"",
                                        "{\n\n  \"schema\"" };
    clo_error err;
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        size_t length;
        char *const json = with(&s, "{\n  \"schema\"", more[i], &length);
        clo_release *const release = parse(json, length);
        assert_int_equal(clo_release_seal(release), CLO_SEAL_BROKEN);
        assert_fails(clo_ledger_check(s.ledger, release, &err), CLO_SIGNATURE, err, "was changed");
        clo_release_free(release);
        free(json);
    }
    drop(&s);
}

/* Whole by a key of the forger's own is not whole by the ledger's. */
static void another_key_is_another_signer(void **state)
{
    const place *const p = *state;
    signed_release s = make_signed(p, "1");
    uint8_t key[32];
    clo_error err;
    place other = *p;
    snprintf(other.ledger, sizeof other.ledger, "%s/forged.db", p->folder);
    signed_release forged = make_signed(&other, "0.5");
    assert_ok(clo_ledger_public_key(s.ledger, key, &err), err);
    assert_ok(clo_release_check(s.release, key, &err), err);
    assert_fails(clo_release_check(forged.release, key, &err), CLO_SIGNATURE, err, "another key");
    assert_fails(clo_ledger_check(s.ledger, forged.release, &err), CLO_SIGNATURE, err,
                 "and this one is");
    drop(&s);
    drop(&forged);
}

/* The ledger's own signature under another charge's number does not pass either. */
static void a_release_of_another_charge_is_not_this_one(void **state)
{
    signed_release first = make_signed(*state, "1"), second = make_signed(*state, "0.5");
    clo_certificate c = { .struct_size = sizeof c };
    clo_error err;
    assert_true(clo_release_certificate(second.release, &c) && c.charge == 2);
    c.charge = 1;
    c.signature = "";
    clo_release *const moved = parse(second.json, second.length);
    assert_ok(clo_release_certify(moved, &c, &err), err);
    assert_fails(clo_ledger_check(first.ledger, moved, &err), CLO_SIGNATURE, err, "not signed");
    /* Even signed with the key: the books say otherwise. */
    uint8_t signature[64];
    char digits[129];
    clo_i_growing json = { NULL, 0, 0 };
    assert_ok(clo_report(moved, CLO_JSON, clo_i_growing_write, &json, &err), err);
    assert_ok(clo_ledger_sign(first.ledger, json.bytes, json.length, signature, &err), err);
    sodium_bin2hex(digits, sizeof digits, signature, sizeof signature);
    c.signature = digits;
    assert_ok(clo_release_certify(moved, &c, &err), err);
    assert_fails(clo_ledger_check(first.ledger, moved, &err), CLO_SIGNATURE, err, "another loss");
    c.signature = "00";
    assert_fails(clo_release_certify(moved, &c, &err), CLO_SIGNATURE, err, "does not fit");
    clo_i_free(json.bytes);
    clo_release_free(moved);
    drop(&first);
    drop(&second);
}

static void the_public_key_needs_no_secret(void **state)
{
    const place *const p = *state;
    signed_release s = make_signed(p, "1");
    uint8_t key[32], without[32], signature[64];
    clo_ledger *reader = NULL;
    clo_error err;
    assert_ok(clo_ledger_public_key(s.ledger, key, &err), err);
    in_shell(p, "mv '%s/config/cloister/ledger.key' '%s/key'");
    assert_ok(clo_ledger_open_existing(p->ledger, &reader, &err), err);
    assert_ok(clo_ledger_public_key(reader, without, &err), err);
    assert_memory_equal(key, without, sizeof key);
    assert_ok(clo_ledger_check(reader, s.release, &err), err);
    assert_fails(clo_ledger_sign(reader, "x", 1, signature, &err), CLO_LEDGER, err, "the key");
    clo_ledger_close(reader);
    in_shell(p, "mv '%s/key' '%s/config/cloister/ledger.key'");
    drop(&s);
}

static void a_stored_release_that_is_gone_is_missed(void **state)
{
    const place *const p = *state;
    signed_release s = make_signed(p, "1");
    clo_ledger *ledger = NULL;
    clo_error err;
    char token[CLO_TOKEN_ROOM], *bytes = NULL;
    size_t length = 0;
    snprintf(token, sizeof token, "%s", clo_job_token(s.job));
    drop(&s);
    tamper(p->ledger, "DROP TRIGGER result_is_not_deleted; DELETE FROM result; "
                      "CREATE TRIGGER result_is_not_deleted BEFORE DELETE ON result BEGIN\n"
                      "  SELECT RAISE(ABORT, 'a stored result cannot be deleted');\n"
                      "END");
    assert_ok(clo_ledger_open(p->ledger, &ledger, &err), err);
    assert_fails(clo_ledger_verify(ledger, &err), CLO_LEDGER, err,
                 "the result of charge 1 was stored, and is gone");
    assert_fails(clo_ledger_result(ledger, token, &bytes, &length, &err), CLO_LEDGER, err,
                 "was stored, and is gone");
    clo_ledger_close(ledger);
}

static void an_unmetered_release_has_none(void **state)
{
    clo_grant *grant = NULL;
    const place *const p = *state;
    signed_release s = make_signed(p, "1");
    const clo_plan *plan = NULL;
    clo_certificate c = { .struct_size = sizeof c };
    clo_error err;
    assert_ok(clo_job_plan(s.job, &plan, &err), err);
    assert_ok(clo_grant_unmetered(plan, &grant, &err), err);
    assert_fails(clo_grant_certificate(grant, &c, &err), CLO_ARGUMENT, err, "not metered");
    clo_grant_free(grant);
    drop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(a_release_says_which_charge_it_is),
        IN_PLACE(anybody_can_check_it_with_the_public_key),
        IN_PLACE(the_bytes_read_back_are_the_same_and_whole),
        IN_PLACE(every_changed_byte_is_seen),
        IN_PLACE(additions_are_seen),
        IN_PLACE(another_key_is_another_signer),
        IN_PLACE(a_release_of_another_charge_is_not_this_one),
        IN_PLACE(the_public_key_needs_no_secret),
        IN_PLACE(a_stored_release_that_is_gone_is_missed),
        IN_PLACE(an_unmetered_release_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
