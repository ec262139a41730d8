/*
 * ledger_sign.c - the key that signs releases and exports (ledger.T14).
 *
 * Its seed is a keyed hash of the ledger's identity: who has the key of the ledger has it, nobody
 * else does, each ledger has its own, and there is no second secret to guard, back up and lose.
 * The public half stands in the ledger, as an act, from the first stored release on, so that it can
 * be read without the key.
 */
#include "ledger/ledger_internal.h"
#include <sodium.h>
#include <string.h>

_Static_assert(CLO_PUBLIC_KEY_BYTES == crypto_sign_PUBLICKEYBYTES, "of Ed25519");
_Static_assert(CLO_SIGNATURE_BYTES == crypto_sign_BYTES, "of Ed25519");

void clo_i_sign_keys(const clo_i_key *key, const uint8_t identity[LEDGER_IDENTITY],
                     uint8_t public_key[CLO_PUBLIC_KEY_BYTES], uint8_t secret[64])
{
    uint8_t seed[LEDGER_HASH];
    _Static_assert(LEDGER_HASH == crypto_sign_SEEDBYTES, "a hash is a seed");
    clo_i_chain_signing(key, identity, seed);
    crypto_sign_seed_keypair(public_key, secret, seed);
    clo_i_wipe(seed, sizeof seed);
}

/* Derived once for a handle: that takes as long as a signature. */
static const clo_i_signer *signer_of(clo_ledger *ledger, const uint8_t identity[LEDGER_IDENTITY])
{
    clo_i_signer *const s = &ledger->signer;
    if (s->known && memcmp(s->key_id, ledger->key.id, LEDGER_KEY_ID) == 0 &&
        memcmp(s->identity, identity, LEDGER_IDENTITY) == 0)
        return s;
    clo_i_sign_keys(&ledger->key, identity, s->public_key, s->secret);
    memcpy(s->key_id, ledger->key.id, LEDGER_KEY_ID);
    memcpy(s->identity, identity, LEDGER_IDENTITY);
    s->known = true;
    return s;
}

/* The public key as the ledger says it; false where it says none. */
static clo_status find_key(clo_ledger *ledger, uint8_t out[CLO_PUBLIC_KEY_BYTES], bool *found,
                           clo_error *err)
{
    *found = false;
    if (ledger->schema < 4) return CLO_OK;
    clo_i_sql sql = clo_i_sql_start(
        ledger, "SELECT detail FROM act WHERE kind = ? ORDER BY sequence DESC LIMIT 1");
    clo_i_sql_text(&sql, LEDGER_ACT_KEY);
    *found = clo_i_sql_row(&sql);
    if (*found) clo_i_sql_get_bytes(&sql, 0, out, CLO_PUBLIC_KEY_BYTES);
    return clo_i_sql_finish(&sql, err);
}

clo_status clo_i_sign_note(clo_ledger *ledger, clo_i_head *head, clo_error *err)
{
    uint8_t there[CLO_PUBLIC_KEY_BYTES];
    bool found = false;
    CLO_TRY(find_key(ledger, there, &found, err));
    if (found) return CLO_OK;
    const clo_i_signer *const signer = signer_of(ledger, head->identity);
    const clo_i_act act = { .kind = LEDGER_ACT_KEY,
                            .detail = signer->public_key,
                            .length = sizeof signer->public_key };
    return clo_i_act_insert(ledger, &act, head, err);
}

clo_status clo_ledger_public_key(clo_ledger *ledger, uint8_t out[CLO_PUBLIC_KEY_BYTES],
                                 clo_error *err)
{
    clo_i_head head;
    bool found = false;
    CLO_TRY(clo_i_ledger_check(ledger, false, err));
    CLO_TRY(clo_i_ledger_get_head(ledger, &head, err));
    if (ledger->key.known) { /* which nobody can have changed */
        memcpy(out, signer_of(ledger, head.identity)->public_key, CLO_PUBLIC_KEY_BYTES);
        return CLO_OK;
    }
    CLO_TRY(find_key(ledger, out, &found, err));
    if (found) return CLO_OK;
    return clo_i_fail(err, CLO_LEDGER,
                      "the ledger %s has signed nothing yet, and its key is not here: ask its "
                      "steward for the public key",
                      ledger->shown);
}

clo_status clo_ledger_sign(clo_ledger *ledger, const void *bytes, size_t length,
                           uint8_t signature[CLO_SIGNATURE_BYTES], clo_error *err)
{
    clo_i_head head;
    CLO_TRY(clo_i_ledger_check(ledger, false, err));
    CLO_TRY(clo_i_ledger_get_head(ledger, &head, err));
    CLO_TRY(clo_i_key_check(ledger, &head, err));
    crypto_sign_detached(signature, NULL, bytes, length, signer_of(ledger, head.identity)->secret);
    return CLO_OK;
}
