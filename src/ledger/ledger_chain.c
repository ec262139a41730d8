/*
 * ledger_chain.c - each entry carries a hash of itself and of the hash before it, so that an
 * entry cannot be changed, taken out or put in without changing every hash after it (ledger.T8).
 *
 * Charges are one chain; declarations of caps and other acts of a steward are the second one.
 * What is hashed is not what SQLite stores but a serialisation of our own - integers in 8 bytes,
 * lowest first, doubles by their bits, texts with their length - so that two different entries
 * never give the same bytes and a ledger can be checked on any machine.
 *
 * The hashes are keyed: who can write the file but does not have the key cannot make an entry
 * that fits.  Entries of schema 1 had no key; the seal, which has one, says how many they are.
 * Accounts are no chain: what they hash to is kept by the anchor, for all of them in one sum.
 */
#include "ledger/ledger_internal.h"
#include <sodium.h>
#include <string.h>

typedef crypto_generichash_state hasher;

static void put_bytes(hasher *h, const void *bytes, size_t size)
{
    crypto_generichash_update(h, bytes, size);
}

static void put_integer(hasher *h, uint64_t value)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(value >> (8 * i));
    put_bytes(h, bytes, sizeof bytes);
}

static void put_double(hasher *h, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_integer(h, bits);
}

static void put_text(hasher *h, const char *text)
{
    put_integer(h, strlen(text));
    put_bytes(h, text, strlen(text));
}

void clo_i_chain_start(const uint8_t identity[LEDGER_IDENTITY], const char *chain,
                       uint8_t hash[LEDGER_HASH])
{
    hasher h;
    crypto_generichash_init(&h, NULL, 0, LEDGER_HASH);
    put_text(&h, chain);
    put_bytes(&h, identity, LEDGER_IDENTITY);
    crypto_generichash_final(&h, hash, LEDGER_HASH);
}

static void start_keyed(hasher *h, const clo_i_key *key)
{
    crypto_generichash_init(h, key->bytes, LEDGER_KEY, LEDGER_HASH);
}

static void start_entry(hasher *h, const clo_i_key *key, int64_t format,
                        const uint8_t before[LEDGER_HASH], const char *kind)
{
    if (format == LEDGER_PLAIN)
        crypto_generichash_init(h, NULL, 0, LEDGER_HASH);
    else
        start_keyed(h, key);
    put_bytes(h, before, LEDGER_HASH);
    put_integer(h, (uint64_t)format);
    put_text(h, kind);
}

void clo_i_chain_charge(const clo_i_key *key, const clo_i_entry *entry, uint8_t hash[LEDGER_HASH])
{
    hasher h;
    start_entry(&h, key, entry->format, hash, entry->attributed ? "attributed charge" : "charge");
    put_integer(&h, entry->sequence);
    put_integer(&h, (uint64_t)entry->time);
    put_text(&h, entry->dataset);
    put_text(&h, entry->mechanism);
    put_text(&h, entry->relation);
    put_double(&h, entry->asked.epsilon);
    put_double(&h, entry->asked.delta);
    put_integer(&h, entry->cost.epsilon);
    put_integer(&h, entry->cost.delta);
    put_integer(&h, entry->cost.rho);
    put_integer(&h, entry->cost.rho_delta);
    put_text(&h, clo_i_rule_name(entry->rule));
    put_integer(&h, entry->capacity);
    if (entry->format != LEDGER_PLAIN) {
        put_text(&h, entry->token);
        put_bytes(&h, entry->plan, LEDGER_PLAN);
        put_bytes(&h, entry->key_id, LEDGER_KEY_ID);
    }
    if (entry->attributed) {
        put_text(&h, entry->user);
        put_text(&h, entry->host);
        put_text(&h, entry->purpose);
        put_text(&h, entry->program);
    }
    crypto_generichash_final(&h, hash, LEDGER_HASH);
}

void clo_i_chain_declaration(const clo_i_key *key, const clo_i_declaration *entry,
                             uint8_t hash[LEDGER_HASH])
{
    hasher h;
    start_entry(&h, key, entry->format, hash, "declaration");
    put_integer(&h, entry->sequence);
    put_integer(&h, entry->after);
    put_integer(&h, (uint64_t)entry->time);
    put_text(&h, entry->dataset);
    put_double(&h, entry->cap.epsilon);
    put_double(&h, entry->cap.delta);
    put_integer(&h, entry->cap_epsilon);
    put_integer(&h, entry->cap_delta);
    if (entry->format != LEDGER_PLAIN) put_bytes(&h, entry->key_id, LEDGER_KEY_ID);
    crypto_generichash_final(&h, hash, LEDGER_HASH);
}

void clo_i_chain_act(const clo_i_key *key, const clo_i_act *act, uint8_t hash[LEDGER_HASH])
{
    hasher h;
    start_entry(&h, key, LEDGER_KEYED, hash, "act");
    put_integer(&h, act->sequence);
    put_integer(&h, act->after);
    put_integer(&h, (uint64_t)act->time);
    put_text(&h, act->kind);
    put_text(&h, act->dataset);
    put_integer(&h, act->charge);
    put_integer(&h, act->length);
    if (act->length > 0) put_bytes(&h, act->detail, act->length);
    put_bytes(&h, act->key_id, LEDGER_KEY_ID);
    crypto_generichash_final(&h, hash, LEDGER_HASH);
}

void clo_i_chain_signing(const clo_i_key *key, const uint8_t identity[LEDGER_IDENTITY],
                         uint8_t seed[LEDGER_HASH])
{
    hasher h;
    start_keyed(&h, key);
    put_text(&h, "signing");
    put_bytes(&h, identity, LEDGER_IDENTITY);
    crypto_generichash_final(&h, seed, LEDGER_HASH);
    clo_i_wipe(&h, sizeof h);
}

void clo_i_chain_effect(const clo_i_key *key, const uint8_t identity[LEDGER_IDENTITY],
                        uint64_t sequence, const char *kind, const char *dataset, const char *value,
                        uint8_t hash[LEDGER_HASH])
{
    hasher h;
    start_keyed(&h, key);
    put_text(&h, "effect");
    put_bytes(&h, identity, LEDGER_IDENTITY);
    put_integer(&h, sequence);
    put_text(&h, kind);
    put_text(&h, dataset);
    put_text(&h, value);
    crypto_generichash_final(&h, hash, LEDGER_HASH);
}

void clo_i_chain_policy(const clo_i_key *key, const uint8_t identity[LEDGER_IDENTITY],
                        uint64_t closed, uint8_t hash[LEDGER_HASH])
{
    hasher h;
    start_keyed(&h, key);
    put_text(&h, "policy");
    put_bytes(&h, identity, LEDGER_IDENTITY);
    put_integer(&h, closed);
    crypto_generichash_final(&h, hash, LEDGER_HASH);
}

void clo_i_chain_seal(const clo_i_key *key, const clo_i_head *head,
                      const uint8_t charge_hash[LEDGER_HASH],
                      const uint8_t declaration_hash[LEDGER_HASH], uint8_t seal[LEDGER_HASH])
{
    hasher h;
    start_keyed(&h, key);
    put_text(&h, "seal");
    put_bytes(&h, head->identity, LEDGER_IDENTITY);
    put_integer(&h, (uint64_t)head->created);
    put_integer(&h, head->plain_charges);
    put_bytes(&h, charge_hash, LEDGER_HASH);
    put_integer(&h, head->plain_declarations);
    put_bytes(&h, declaration_hash, LEDGER_HASH);
    crypto_generichash_final(&h, seal, LEDGER_HASH);
}

void clo_i_chain_result(const clo_i_key *key, const uint8_t charge_hash[LEDGER_HASH], int64_t time,
                        const void *bytes, size_t length, uint8_t hash[LEDGER_HASH])
{
    hasher h;
    start_keyed(&h, key);
    put_text(&h, "result");
    put_bytes(&h, charge_hash, LEDGER_HASH);
    put_integer(&h, (uint64_t)time);
    put_integer(&h, length);
    put_bytes(&h, bytes, length);
    crypto_generichash_final(&h, hash, LEDGER_HASH);
}

void clo_i_chain_content(const clo_i_key *key, const uint8_t identity[LEDGER_IDENTITY],
                         const char *kind, uint64_t sequence,
                         const uint8_t content[CLO_DIGEST_BYTES], uint8_t hash[LEDGER_HASH])
{
    hasher h;
    start_keyed(&h, key);
    put_text(&h, kind);
    put_bytes(&h, identity, LEDGER_IDENTITY);
    put_integer(&h, sequence);
    put_bytes(&h, content, CLO_DIGEST_BYTES);
    crypto_generichash_final(&h, hash, LEDGER_HASH);
}

void clo_i_chain_account(const clo_i_key *key, const uint8_t identity[LEDGER_IDENTITY],
                         const clo_i_account *account, uint8_t hash[LEDGER_HASH])
{
    hasher h;
    start_keyed(&h, key);
    put_text(&h, "account");
    put_bytes(&h, identity, LEDGER_IDENTITY);
    put_integer(&h, (uint64_t)account->id);
    put_text(&h, account->name);
    put_text(&h, account->relation);
    put_integer(&h, account->capped);
    put_double(&h, account->cap.epsilon);
    put_double(&h, account->cap.delta);
    put_integer(&h, account->cap_epsilon);
    put_integer(&h, account->cap_delta);
    put_text(&h, clo_i_rule_name(account->rule));
    put_integer(&h, account->base_epsilon);
    put_integer(&h, account->base_rho);
    put_integer(&h, account->capacity);
    put_double(&h, account->first.epsilon);
    put_double(&h, account->first.delta);
    put_integer(&h, account->charges);
    put_integer(&h, account->spent.epsilon);
    put_integer(&h, account->spent.delta);
    put_integer(&h, account->spent.rho);
    put_integer(&h, account->spent.rho_delta);
    crypto_generichash_final(&h, hash, LEDGER_HASH);
}
