/*
 * ledger_anchor_entries.c - what the anchor knows of each data set, so that a file that is lost can
 * be brought back without spending anything twice (ledger.T17).
 *
 * Behind the places, the anchor has two slots a data set, by the number of its row: an account as
 * it stood after one charge, the number of that charge, and a keyed hash.  An account that has n
 * charges is written to the slot of n's parity, so that the state before stays until the new one
 * is on the disk.  They are written between the commit and the note, and the sync of the note is
 * theirs, too: a charge that was acknowledged is in its slot.
 *
 * Slots decide nothing while the ledger is there.
 */
#include "ledger/ledger_internal.h"
#include <cloister/output.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SLOT = 1024, SLOTS_AT = 32768, HEX = 2 * LEDGER_HASH, SLOT_LIMIT = 1 << 20 };
_Static_assert(SLOTS_AT > ANCHOR_PLACES + 4 * PATH_MAX, "places end before the slots");

#ifndef CLO_FAULT_INJECTION
#define clo_i_anchor_pwrite pwrite
#endif

typedef unsigned long long number;

static off_t place_of(int64_t id, uint64_t parity)
{
    return SLOTS_AT + ((off_t)(id - 1) * 2 + (off_t)(parity % 2)) * SLOT;
}

/* Lines of text, as the anchor's notes are; names come last and have their lengths. */
static int format_slot(const char *identity, const clo_i_slot *slot, char text[SLOT])
{
    const clo_i_account *const a = &slot->account;
    char cap[2][CLO_NUMBER_SIZE], first[2][CLO_NUMBER_SIZE];
    clo_number_text(a->cap.epsilon, cap[0]);
    clo_number_text(a->cap.delta, cap[1]);
    clo_number_text(a->first.epsilon, first[0]);
    clo_number_text(a->first.delta, first[1]);
    return snprintf(text, SLOT,
                    "cloister account 1\n%s\n%lld %llu %llu %d %d %s %s %s %s\n"
                    "%llu %llu %llu %llu %llu %llu %llu %llu %zu %zu\n%s\n%s\n",
                    identity, (long long)a->id, (number)slot->at, (number)slot->terms, a->capped,
                    (int)a->rule, cap[0], cap[1], first[0], first[1], (number)a->base_epsilon,
                    (number)a->base_rho, (number)a->capacity, (number)a->charges,
                    (number)a->spent.epsilon, (number)a->spent.delta, (number)a->spent.rho,
                    (number)a->spent.rho_delta, strlen(a->relation), strlen(a->name), a->relation,
                    a->name);
}

static bool seal(const clo_i_key *key, char text[SLOT], int length)
{
    uint8_t hash[LEDGER_HASH];
    if (length < 0 || length + HEX + 2 > SLOT) return false;
    crypto_generichash(hash, sizeof hash, (const uint8_t *)text, (size_t)length, key->bytes,
                       LEDGER_KEY);
    sodium_bin2hex(text + length, HEX + 1, hash, sizeof hash);
    memset(text + length + HEX, '\n', (size_t)(SLOT - length - HEX));
    return true;
}

bool clo_i_slot_write(const clo_ledger *ledger, int file, const clo_i_slot *slot, bool both)
{
    const char *const identity = strrchr(ledger->anchor.path, '/') + 1;
    char text[SLOT];
    const int64_t id = slot->account.id;
    if (id < 1 || id > SLOT_LIMIT) return false;
    if (!seal(&ledger->key, text, format_slot(identity, slot, text))) return false;
    for (uint64_t i = 0; i < (both ? 2 : 1); i++)
        if (clo_i_anchor_pwrite(file, text, SLOT, place_of(id, slot->account.charges + i)) != SLOT)
            return false;
    return true;
}

static bool take_text(const char **at, size_t length, char out[LEDGER_TEXT + 1])
{
    if (length > LEDGER_TEXT || strnlen(*at, length + 1) <= length || (*at)[length] != '\n')
        return false;
    memcpy(out, *at, length);
    out[length] = 0;
    *at += length + 1;
    return true;
}

/* What is read must be what would be written. */
static bool parse_slot(const clo_i_key *key, const char *identity, const char text[SLOT + 1],
                       clo_i_slot *out)
{
    clo_i_slot slot = { .at = 0 };
    clo_i_account *const a = &slot.account;
    number n[11];
    long long id = 0;
    int capped = 0, rule = 0, end = -1;
    size_t relation = 0, name = 0;
    char again[SLOT], cap[2][32], first[2][32];
    if (sscanf(text,
               "cloister account 1\n%*32[0-9a-f]\n%lld %llu %llu %d %d %31s %31s %31s %31s\n"
               "%llu %llu %llu %llu %llu %llu %llu %llu %zu %zu%n",
               &id, &n[0], &n[1], &capped, &rule, cap[0], cap[1], first[0], first[1], &n[2], &n[3],
               &n[4], &n[5], &n[6], &n[7], &n[8], &n[9], &relation, &name, &end) != 19 ||
        end < 0 || rule < 0 || rule > 2 || text[end] != '\n')
        return false;
    *a = (clo_i_account){ .id = id,
                          .capped = capped != 0,
                          .rule = (clo_i_rule)rule,
                          .base_epsilon = n[2],
                          .base_rho = n[3],
                          .capacity = n[4],
                          .charges = n[5],
                          .spent = { n[6], n[7], n[8], n[9] } };
    slot.at = n[0];
    slot.terms = n[1];
    const char *rest = text + end + 1;
    if (!take_text(&rest, relation, a->relation) || !take_text(&rest, name, a->name)) return false;
    if (!clo_i_parse_double(cap[0], &a->cap.epsilon) ||
        !clo_i_parse_double(cap[1], &a->cap.delta) ||
        !clo_i_parse_double(first[0], &a->first.epsilon) ||
        !clo_i_parse_double(first[1], &a->first.delta))
        return false;
    if (a->capped) {
        a->cap_epsilon = clo_i_epsilon_units(a->cap.epsilon, false);
        a->cap_delta = clo_i_delta_units(a->cap.delta, false);
    }
    if (!seal(key, again, format_slot(identity, &slot, again)) || memcmp(text, again, SLOT) != 0)
        return false;
    *out = slot;
    return true;
}

bool clo_i_slot_read(const clo_i_key *key, const char *identity, int file, int64_t id,
                     uint64_t upto, clo_i_slot *out, uint64_t *acknowledged)
{
    bool any = false;
    int number_of = 0;
    *acknowledged = 0;
    for (uint64_t parity = 0; parity < 2; parity++) {
        char text[SLOT + 1] = "";
        clo_i_slot slot;
        const ssize_t got = pread(file, text, SLOT, place_of(id, parity));
        if (got < 0) number_of = errno;
        if (got != SLOT) continue;
        if (!parse_slot(key, identity, text, &slot) || slot.account.id != id) continue;
        if (slot.at <= upto && slot.account.charges > *acknowledged)
            *acknowledged = slot.account.charges;
        if (!any || slot.account.charges > out->account.charges ||
            (slot.account.charges == out->account.charges && slot.terms > out->terms))
            *out = slot;
        any = true;
    }
    errno = number_of;
    return any;
}

int64_t clo_i_slot_count(int file)
{
    struct stat facts;
    if (fstat(file, &facts) != 0) return -1;
    if (facts.st_size <= SLOTS_AT) return 0;
    return (facts.st_size - SLOTS_AT + 2 * SLOT - 1) / (2 * SLOT);
}
