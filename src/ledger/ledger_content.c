/*
 * ledger_content.c - whether the same data were charged under another name.
 *
 * A cap is a name's.  Who forgets to say the name charges another account, without a cap or with
 * one of its own, and the data are asked twice for the budget of once.  So a charge keeps a digest
 * of its data, and before the next one the names are compared.  It is a help against a mistake and
 * not a wall: one changed byte is other data.
 *
 * What is kept must tell nothing to who reads the ledger.  It is a keyed hash, and the number of
 * the charge goes into it: not even that two charges were for the same data can be seen without
 * the key (ledger.T12).  To compare, every charge's hash is computed anew.
 */
#include "ledger/ledger_internal.h"
#include <sodium.h>
#include <stdio.h>
#include <string.h>

clo_status clo_i_content_insert(clo_ledger *ledger, const clo_i_head *head,
                                const uint8_t content[CLO_DIGEST_BYTES], clo_error *err)
{
    uint8_t hash[LEDGER_HASH];
    clo_i_chain_content(&ledger->key, head->identity, head->charges, content, hash);
    clo_i_sql sql = clo_i_sql_start(ledger, "INSERT INTO content (sequence, hash) VALUES (?, ?)");
    clo_i_sql_units(&sql, head->charges);
    clo_i_sql_bytes(&sql, hash, LEDGER_HASH);
    clo_i_sql_row(&sql);
    return clo_i_sql_finish(&sql, err);
}

/* The latest other name; "" where there is none, or this name has had the data too. */
static clo_status look(clo_ledger *ledger, const clo_i_head *head, const char *dataset,
                       const uint8_t content[CLO_DIGEST_BYTES], char other[LEDGER_TEXT + 1],
                       clo_error *err)
{
    bool own = false;
    clo_i_sql sql = clo_i_sql_start(
        ledger, "SELECT k.sequence, k.hash, d.name FROM content k JOIN charge c ON c.sequence = "
                "k.sequence JOIN dataset d ON d.id = c.dataset ORDER BY k.sequence DESC");
    while (!own && clo_i_sql_row(&sql)) {
        char name[LEDGER_TEXT + 1];
        uint8_t hash[LEDGER_HASH], stored[LEDGER_HASH];
        clo_i_chain_content(&ledger->key, head->identity, clo_i_sql_get_units(&sql, 0), content,
                            hash);
        clo_i_sql_get_bytes(&sql, 1, stored, LEDGER_HASH);
        if (sodium_memcmp(hash, stored, LEDGER_HASH) != 0) continue;
        clo_i_sql_get_text(&sql, 2, name);
        own = strcmp(name, dataset) == 0;
        if (!own && !other[0]) memcpy(other, name, sizeof name);
    }
    if (own) other[0] = 0;
    return clo_i_sql_finish(&sql, err);
}

clo_status clo_ledger_known_as(clo_ledger *ledger, const char *dataset, const uint8_t *content,
                               char *name, size_t size, clo_error *err)
{
    char other[LEDGER_TEXT + 1] = "";
    clo_i_head head;
    int64_t version = 0;
    CLO_TRY(clo_i_ledger_check(ledger, false, err));
    CLO_TRY(clo_i_ledger_check_text("data set", dataset, err));
    CLO_TRY(clo_i_sql_number(ledger, "PRAGMA user_version", &version, err));
    if (content && ledger->key.known && version >= 3) {
        CLO_TRY(clo_i_ledger_get_head(ledger, &head, err));
        CLO_TRY(look(ledger, &head, dataset, content, other, err));
    }
    snprintf(name, size, "%s", other);
    return CLO_OK;
}
