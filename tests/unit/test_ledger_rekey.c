/*
 * test_ledger_rekey.c - a new key for a ledger (ledger.T18): it is kept, all that was there is
 * under it and nothing more under the old one, and who trusts the old one can tell that it names
 * the new one.  That it is killed anywhere is fault_ledger_points.
 */
#include "ledger_place.h"
#include <cloister/steward.h>
#include <sodium.h>

typedef struct known {
    uint8_t public_key[CLO_PUBLIC_KEY_BYTES];
    clo_i_head head;
} known;

static known look_at(const place *p)
{
    known k;
    clo_error err;
    clo_ledger *const ledger = open_at(p->ledger);
    is_sound(ledger);
    assert_ok(clo_ledger_public_key(ledger, k.public_key, &err), err);
    assert_ok(clo_i_ledger_get_head(ledger, &k.head, &err), err);
    clo_ledger_close(ledger);
    return k;
}

static clo_i_receipt charge_content(clo_ledger *ledger, const char *dataset, const uint8_t *content)
{
    const clo_i_charge charge = { .dataset = dataset,
                                  .mechanism = "kmeans/lloyd",
                                  .relation = "replace",
                                  .loss = { 0.25, 0 },
                                  .rho = 100,
                                  .token = "t",
                                  .content = content };
    clo_i_receipt receipt;
    clo_error err;
    assert_ok(clo_i_ledger_charge(ledger, &charge, &receipt, &err), err);
    return receipt;
}

static const uint8_t content[CLO_DIGEST_BYTES] = { 1, 2, 3 };

static void begin(const place *p)
{
    clo_error err;
    clo_ledger *const ledger = open_at(p->ledger);
    assert_ok(clo_ledger_declare(ledger, "d", (clo_loss){ 4, 0 }, &err), err);
    charge_times(ledger, 2);
    const clo_i_receipt receipt = charge_content(ledger, "d", content);
    assert_ok(clo_i_ledger_store(ledger, &receipt, "result", 6, &err), err);
    clo_ledger_close(ledger);
}

static void rekey(const place *p)
{
    clo_error err;
    assert_ok(clo_ledger_rekey(p->ledger, "too many have seen it", &err), err);
}

static void all_that_was_there_is_under_the_new_key(void **state)
{
    const place *const p = *state;
    char *bytes = NULL;
    size_t length = 0;
    clo_error err;
    begin(p);
    const known before = look_at(p);
    rekey(p);
    const known after = look_at(p); /* by another handle: the key was kept */
    assert_memory_not_equal(after.head.key_id, before.head.key_id, LEDGER_KEY_ID);
    assert_memory_not_equal(after.public_key, before.public_key, CLO_PUBLIC_KEY_BYTES);
    assert_memory_equal(after.head.identity, before.head.identity, LEDGER_IDENTITY);
    assert_true(after.head.charges == before.head.charges);
    clo_ledger *const ledger = open_at(p->ledger);
    assert_memory_equal(ledger->key.id, after.head.key_id, LEDGER_KEY_ID);
    charge_times(ledger, 1);
    assert_ok(clo_ledger_result(ledger, "t", &bytes, &length, &err), err);
    assert_true(length == 6 && memcmp(bytes, "result", 6) == 0);
    clo_i_free(bytes);
    clo_ledger_close(ledger);
}

static void no_digest_under_the_old_key_stays(void **state)
{
    const place *const p = *state;
    char name[100];
    int64_t rows = -1;
    clo_error err;
    begin(p);
    clo_ledger *ledger = open_at(p->ledger);
    assert_ok(clo_ledger_known_as(ledger, "e", content, name, sizeof name, &err), err);
    assert_string_equal(name, "d");
    clo_ledger_close(ledger);
    rekey(p);
    ledger = open_at(p->ledger);
    assert_ok(clo_i_sql_number(ledger, "SELECT count(*) FROM content", &rows, &err), err);
    assert_int_equal(rows, 0);
    clo_ledger_close(ledger);
}

typedef struct signed_key {
    char before[2 * CLO_PUBLIC_KEY_BYTES + 1], after[2 * CLO_PUBLIC_KEY_BYTES + 1];
    char signature[2 * CLO_SIGNATURE_BYTES + 1];
    int count;
} signed_key;

static bool take(void *user, const clo_act *act)
{
    signed_key *const s = user;
    if (strcmp(act->kind, "rekey") != 0) return true;
    s->count++;
    assert_int_equal(sscanf(act->value, "%64[0-9a-f] to %64[0-9a-f] signed %128[0-9a-f]", s->before,
                            s->after, s->signature),
                     3);
    return true;
}

static void the_old_key_signs_the_new_one(void **state)
{
    const place *const p = *state;
    signed_key s = { .count = 0 };
    uint8_t signature[CLO_SIGNATURE_BYTES], key[CLO_PUBLIC_KEY_BYTES];
    char text[200];
    clo_error err;
    begin(p);
    const known before = look_at(p);
    rekey(p);
    const known after = look_at(p);
    clo_ledger *const ledger = open_at(p->ledger);
    assert_ok(clo_ledger_acts(ledger, take, &s, &err), err);
    clo_ledger_close(ledger);
    assert_int_equal(s.count, 1);
    assert_int_equal(sodium_hex2bin(key, sizeof key, s.before, 64, NULL, NULL, NULL), 0);
    assert_memory_equal(key, before.public_key, sizeof key);
    assert_int_equal(sodium_hex2bin(key, sizeof key, s.after, 64, NULL, NULL, NULL), 0);
    assert_memory_equal(key, after.public_key, sizeof key);
    snprintf(text, sizeof text, "cloister key %s", s.after);
    assert_int_equal(
        sodium_hex2bin(signature, sizeof signature, s.signature, 128, NULL, NULL, NULL), 0);
    assert_int_equal(crypto_sign_verify_detached(signature, (const uint8_t *)text, strlen(text),
                                                 before.public_key),
                     0);
}

/* What signs is made once for a handle, and for the key that the handle has. */
static void a_signer_is_of_one_key(void **state)
{
    const place *const p = *state;
    uint8_t one[CLO_PUBLIC_KEY_BYTES], other[CLO_PUBLIC_KEY_BYTES], bytes[LEDGER_KEY] = { 7 };
    clo_error err;
    begin(p);
    clo_ledger *const ledger = open_at(p->ledger);
    assert_ok(clo_ledger_public_key(ledger, one, &err), err);
    clo_i_key_set(&ledger->key, bytes);
    assert_ok(clo_ledger_public_key(ledger, other, &err), err);
    assert_memory_not_equal(one, other, sizeof one);
    clo_ledger_close(ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(all_that_was_there_is_under_the_new_key),
        IN_PLACE(no_digest_under_the_old_key_stays),
        IN_PLACE(the_old_key_signs_the_new_one),
        IN_PLACE(a_signer_is_of_one_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
