/*
 * ledger_chain.c - each entry carries a hash of itself and of the hash before it, so that an
 * entry cannot be changed, taken out or put in without changing every hash after it (ledger.T8).
 *
 * Charges and declarations of caps are two chains.  What is hashed is not what SQLite stores but
 * a serialisation of our own - integers in 8 bytes, lowest first, doubles by their bits, texts
 * with their length - so that two different entries never give the same bytes and a ledger can be
 * checked on any machine.
 */
#include "privacy/ledger_internal.h"
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

static void start_entry(hasher *h, const uint8_t before[LEDGER_HASH], const char *kind)
{
    crypto_generichash_init(h, NULL, 0, LEDGER_HASH);
    put_bytes(h, before, LEDGER_HASH);
    put_integer(h, LEDGER_FORMAT);
    put_text(h, kind);
}

void clo_i_chain_charge(const clo_i_entry *entry, uint8_t hash[LEDGER_HASH])
{
    hasher h;
    start_entry(&h, hash, "charge");
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
    crypto_generichash_final(&h, hash, LEDGER_HASH);
}

void clo_i_chain_declaration(const clo_i_declaration *entry, uint8_t hash[LEDGER_HASH])
{
    hasher h;
    start_entry(&h, hash, "declaration");
    put_integer(&h, entry->sequence);
    put_integer(&h, entry->after);
    put_integer(&h, (uint64_t)entry->time);
    put_text(&h, entry->dataset);
    put_double(&h, entry->cap.epsilon);
    put_double(&h, entry->cap.delta);
    put_integer(&h, entry->cap_epsilon);
    put_integer(&h, entry->cap_delta);
    crypto_generichash_final(&h, hash, LEDGER_HASH);
}
