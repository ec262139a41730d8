/*
 * test_certificate.c - ledger.T14: a release says which charge it is, and a changed byte is seen by
 * who has the public key alone.
 */
#include "ledger_place.h"
#include "made_release.h"
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

static bool is_seen(const signed_release *s, const char *json)
{
    clo_release *release = NULL;
    if (clo_release_parse(json, s->length, &release, NULL)) return true;
    const bool seen = clo_release_seal(release) != CLO_SEAL_WHOLE;
    clo_release_free(release);
    return seen;
}

/* Whatever single byte is changed, the file is no release any more or its seal is broken; a capital
 * is another byte, also in a number. */
static void every_changed_byte_is_seen(void **state)
{
    signed_release s = make_signed(*state, "1");
    char *const copy = malloc(s.length);
    memcpy(copy, s.json, s.length);
    for (size_t i = 0; i < s.length; i++) {
        const char to[] = { copy[i] == '7'   ? '3'
                            : copy[i] == ' ' ? '\t'
                                             : (char)(copy[i] ^ 1),
                            (char)(copy[i] ^ 0x20) };
        for (size_t k = 0; k < sizeof to; k++) {
            copy[i] = to[k];
            if (!is_seen(&s, copy)) fail_msg("byte %zu, as '%c'", i, to[k]);
            copy[i] = s.json[i];
        }
    }
    free(copy);
    drop(&s);
}

/* The line of the signature is the one that the signature does not cover: each of its bytes, as
 * each other byte, in a release and in what is no release (an export). */
static void every_change_of_the_signature_is_seen(void **state)
{
    signed_release s = make_signed(*state, "1");
    uint8_t key[32];
    clo_error err;
    char *const copy = malloc(s.length);
    memcpy(copy, s.json, s.length);
    const char *const line = memmem(s.json, s.length, "    \"signature\": \"", 18);
    const size_t from = (size_t)(line - s.json), to = from + 18 + 128 + 3;
    assert_ok(clo_ledger_public_key(s.ledger, key, &err), err);
    assert_ok(clo_signed_check(copy, s.length, key, &err), err);
    for (size_t i = from; i < to; i++) {
        for (int byte = 0; byte < 256; byte++) {
            copy[i] = (char)byte;
            if (copy[i] == s.json[i]) continue;
            if (clo_signed_check(copy, s.length, key, NULL) == CLO_OK || !is_seen(&s, copy))
                fail_msg("byte %zu of the line, as %d", i - from, byte);
        }
        copy[i] = s.json[i];
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

/* Signed with the key, and all the same not the values that it says: a certificate is of both. */
static void signed_values_must_be_those_of_the_release(void **state)
{
    static const char begins[] = "    \"signature\": \"";
    enum { BEGINS = sizeof begins - 1, LINE = BEGINS + 128 + 3 };
    signed_release s = make_signed(*state, "1");
    char *const copy = malloc(s.length), *const bare = malloc(s.length);
    memcpy(copy, s.json, s.length);
    const size_t at = (size_t)((char *)memmem(copy, s.length, begins, BEGINS) - copy);
    char *const digit = (char *)memmem(copy, s.length, "\"values\": \"", 11) + 11;
    for (int wrong = 0; wrong < 2; wrong++) {
        uint8_t signature[64];
        char digits[129];
        clo_error err;
        if (wrong) *digit = *digit == '0' ? '1' : '0';
        memcpy(bare, copy, at);
        memcpy(bare + at, copy + at + LINE, s.length - at - LINE);
        assert_ok(clo_ledger_sign(s.ledger, bare, s.length - LINE, signature, &err), err);
        sodium_bin2hex(digits, sizeof digits, signature, sizeof signature);
        memcpy(copy + at + BEGINS, digits, 128);
        clo_release *const release = parse(copy, s.length);
        assert_int_equal(clo_release_seal(release), wrong ? CLO_SEAL_BROKEN : CLO_SEAL_WHOLE);
        clo_release_free(release);
    }
    free(bare);
    free(copy);
    drop(&s);
}

/* ---- the values ----------------------------------------------------------------------------- */

enum { CELLS = 6 };

typedef struct made_values {
    const char *names[2];
    double cells[2][CELLS];
    size_t shape[2][2], arrays;
} made_values;

static void digest_of(const made_values *v, char digest[CLO_DIGEST_SIZE])
{
    clo_release *const release = made_release("kmeans", 2, 1, 20);
    clo_error err;
    for (size_t i = 0; i < v->arrays; i++)
        put(release, v->names[i], v->cells[i], v->shape[i][1] ? 2 : 1, v->shape[i][0],
            v->shape[i][1], 0);
    assert_ok(clo_release_values_digest(release, digest, &err), err);
    clo_release_free(release);
}

static void is_another(const made_values *v, const char *expected, const char *what)
{
    char digest[CLO_DIGEST_SIZE];
    digest_of(v, digest);
    if (strcmp(digest, expected) == 0) fail_msg("the digest is the same: %s", what);
}

/* Every number, name and shape, and their order. */
static void the_digest_of_values_is_of_all_of_them(void **state)
{
    const made_values whole = { .names = { "centers", "sizes" },
                                .cells = { { 1, 2, 3, 4, 5, 6 }, { 7, 8, 9, 10, 11, 12 } },
                                .shape = { { 2, 3 }, { 6, 0 } },
                                .arrays = 2 };
    char expected[CLO_DIGEST_SIZE];
    made_values v;
    (void)state;
    digest_of(&whole, expected);
    for (size_t i = 0; i < 2 * CELLS; i++) {
        v = whole;
        v.cells[i / CELLS][i % CELLS] += 0x1p-40;
        is_another(&v, expected, "a number is another one");
        v.cells[i / CELLS][i % CELLS] = NAN;
        is_another(&v, expected, "a number is missing");
    }
    v = whole;
    v.shape[0][0] = 3, v.shape[0][1] = 2;
    is_another(&v, expected, "rows and columns");
    v = whole;
    v.shape[0][0] = 6, v.shape[0][1] = 0;
    is_another(&v, expected, "one dimension");
    v = whole;
    v.names[1] = "sizez";
    is_another(&v, expected, "a name");
    v = (made_values){ .names = { "sizes", "centers" },
                       .shape = { { 6, 0 }, { 2, 3 } },
                       .arrays = 2 };
    memcpy(v.cells[0], whole.cells[1], sizeof v.cells[0]);
    memcpy(v.cells[1], whole.cells[0], sizeof v.cells[1]);
    is_another(&v, expected, "their order");
    v = whole;
    v.arrays = 1;
    is_another(&v, expected, "the last array");
}

static void add_word(crypto_generichash_state *state, uint64_t value)
{
    const uint64_t word = htole64(value);
    crypto_generichash_update(state, (const uint8_t *)&word, sizeof word);
}

/* docs/release-format.md, word by word. */
static void digest_by_hand(const made_values *v, const char *const names[2], size_t bytes,
                           char digest[CLO_DIGEST_SIZE])
{
    crypto_generichash_state state;
    uint8_t hash[32];
    crypto_generichash_init(&state, NULL, 0, bytes);
    add_word(&state, v->arrays);
    for (size_t i = 0; i < v->arrays; i++) {
        const size_t dimensions = v->shape[i][1] ? 2 : 1;
        add_word(&state, strlen(names[i]));
        crypto_generichash_update(&state, (const uint8_t *)names[i], strlen(names[i]));
        add_word(&state, dimensions);
        for (size_t j = 0; j < dimensions; j++) add_word(&state, v->shape[i][j]);
        for (size_t j = 0; j < CELLS; j++) {
            uint64_t bits;
            memcpy(&bits, &v->cells[i][j], sizeof bits);
            add_word(&state, bits);
        }
    }
    crypto_generichash_final(&state, hash, bytes);
    sodium_bin2hex(digest, CLO_DIGEST_SIZE, hash, bytes);
}

/* A release of the first schema was signed with its arrays' names of then. */
static void the_digest_of_values_is_under_the_names_of_the_schema(void **state)
{
    static const char *const names[][2] = { { "sizes", "radii" }, { "weights", "widths" } };
    const made_values v = { .names = { "sizes", "radii" },
                            .cells = { { 1, 2, 3, 4, 5, 6 }, { 7, 8, 9, 10, 11, 12.5 } },
                            .shape = { { 6, 0 }, { 2, 3 } },
                            .arrays = 2 };
    const int schemas[] = { CLO_SCHEMA, CLO_SCHEMA_FIRST };
    (void)state;
    for (size_t s = 0; s < 2; s++) {
        char digest[CLO_DIGEST_SIZE], wanted[CLO_DIGEST_SIZE];
        clo_release *const release = made_release("kmeans", 2, 1, 20);
        clo_error err;
        release->schema = schemas[s];
        for (size_t i = 0; i < v.arrays; i++)
            put(release, v.names[i], v.cells[i], v.shape[i][1] ? 2 : 1, v.shape[i][0],
                v.shape[i][1], 0);
        assert_ok(clo_release_values_digest(release, digest, &err), err);
        digest_by_hand(&v, names[s], (CLO_DIGEST_SIZE - 1) / 2, wanted);
        assert_string_equal(digest, wanted);
        clo_release_free(release);
    }
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
    for (size_t b = 0; b < sizeof key; b++) { /* nor is a key of the same beginning, or end */
        key[b] ^= 1;
        assert_fails(clo_release_check(s.release, key, &err), CLO_SIGNATURE, err,
                     "signed with the key");
        key[b] ^= 1;
    }
    assert_fails(clo_release_check(forged.release, key, &err), CLO_SIGNATURE, err,
                 "signed with the key");
    assert_fails(clo_ledger_check(s.ledger, forged.release, &err), CLO_SIGNATURE, err,
                 "and this ledger is");
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
    assert_fails(clo_ledger_check(first.ledger, moved, &err), CLO_SIGNATURE, err,
                 "the loss differs");
    c.signature = "00";
    assert_fails(clo_release_certify(moved, &c, &err), CLO_SIGNATURE, err, "does not fit");
    clo_i_free(json.bytes);
    clo_release_free(moved);
    drop(&first);
    drop(&second);
}

/* Signed with the ledger's key, and all the same not what was charged: in one part of it. */
static void a_release_is_compared_with_its_charge_in_every_part(void **state)
{
    static const char *const parts[] = { "loss",      "loss",     "the mechanism differs",
                                         "mechanism", "data set", "time" };
    signed_release s = make_signed(*state, "1");
    clo_error err;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        clo_release *const other = parse(s.json, s.length);
        clo_certificate c = { .struct_size = sizeof c };
        clo_i_growing json = { NULL, 0, 0 };
        uint8_t signature[64];
        char digits[129];
        assert_true(clo_release_certificate(other, &c));
        c.signature = "";
        if (i == 0) other->facts.loss.epsilon = nextafter(1, 0);
        if (i == 1) other->facts.loss.delta = nextafter(other->facts.loss.delta, 0);
        if (i == 2) other->facts.method[0] = 'L';
        if (i == 3) other->facts.method[3] = 0;
        if (i == 4) c.dataset = "peopl";
        if (i == 5) c.time++;
        assert_ok(clo_release_certify(other, &c, &err), err);
        assert_ok(clo_report(other, CLO_JSON, clo_i_growing_write, &json, &err), err);
        assert_ok(clo_ledger_sign(s.ledger, json.bytes, json.length, signature, &err), err);
        sodium_bin2hex(digits, sizeof digits, signature, sizeof signature);
        c.signature = digits;
        assert_ok(clo_release_certify(other, &c, &err), err);
        assert_fails(clo_ledger_check(s.ledger, other, &err), CLO_SIGNATURE, err, parts[i]);
        clo_i_free(json.bytes);
        clo_release_free(other);
    }
    drop(&s);
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
    assert_fails(clo_grant_certificate(grant, &c, &err), CLO_ARGUMENT, err, "without a ledger");
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
        IN_PLACE(every_change_of_the_signature_is_seen),
        IN_PLACE(additions_are_seen),
        IN_PLACE(another_key_is_another_signer),
        IN_PLACE(a_release_of_another_charge_is_not_this_one),
        IN_PLACE(a_release_is_compared_with_its_charge_in_every_part),
        IN_PLACE(signed_values_must_be_those_of_the_release),
        cmocka_unit_test(the_digest_of_values_is_of_all_of_them),
        cmocka_unit_test(the_digest_of_values_is_under_the_names_of_the_schema),
        IN_PLACE(the_public_key_needs_no_secret),
        IN_PLACE(a_stored_release_that_is_gone_is_missed),
        IN_PLACE(an_unmetered_release_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
