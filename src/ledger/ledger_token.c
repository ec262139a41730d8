/*
 * ledger_token.c - a run's result under its token.
 *
 *   (none)  ──charge──►  CHARGED  ──store──►  STORED  ──fetch──►  the same bytes, for nothing
 *
 * A result is public once it was released, so that it may be given out again as often as somebody
 * asks; running again would be a second draw for one charge.  A token that was charged and has no
 * result - its process died, or could not store it - therefore stays dead: whether something was
 * seen of its draw, nobody knows (ledger.T10).  Results have a table of their own, which only
 * grows; the charge itself is never touched.
 */
#include "ledger/ledger_internal.h"
#include <string.h>

clo_status clo_i_token_find(clo_ledger *ledger, const char *token, clo_i_token *out, bool *found,
                            clo_error *err)
{
    clo_i_token known = { 0 };
    bool any = false;
    clo_i_sql sql = clo_i_sql_start(
        ledger, "SELECT c.sequence, d.name, c.plan, r.sequence IS NOT NULL FROM charge c "
                "JOIN dataset d ON d.id = c.dataset LEFT JOIN result r ON r.sequence = c.sequence "
                "WHERE c.token = ?");
    clo_i_sql_text(&sql, token);
    if (clo_i_sql_row(&sql)) {
        any = true;
        known.sequence = clo_i_sql_get_units(&sql, 0);
        clo_i_sql_get_text(&sql, 1, known.dataset);
        clo_i_sql_get_bytes(&sql, 2, known.plan, LEDGER_PLAN);
        known.stored = clo_i_sql_get_integer(&sql, 3) != 0;
    }
    CLO_TRY(clo_i_sql_finish(&sql, err));
    if (any) *out = known;
    *found = any;
    return CLO_OK;
}

clo_status clo_i_token_check(const char *token, const clo_i_token *known, const char *dataset,
                             const uint8_t plan[LEDGER_PLAN], clo_error *err)
{
    if (strcmp(known->dataset, dataset) != 0)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the token %.80s belongs to a run on the data set %.120s: use another "
                          "token for this run",
                          token, known->dataset);
    if (memcmp(known->plan, plan, LEDGER_PLAN) != 0)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the token %.80s belongs to a run with other settings (charge %llu): "
                          "repeat that run exactly, or use another token",
                          token, (unsigned long long)known->sequence);
    return CLO_OK;
}

clo_status clo_i_token_refuse(const char *token, const clo_i_token *known, clo_error *err)
{
    if (known->stored)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the token %.80s has a stored release: fetch it, which is free", token);
    return clo_i_fail(err, CLO_LEDGER,
                      "the token %.80s was charged (charge %llu) and has no release, because its "
                      "run died or still runs: the charge stays, and a new run needs another token",
                      token, (unsigned long long)known->sequence);
}

/* ---- store ------------------------------------------------------------------ */

/* The hash of the receipt's charge; CLO_ARGUMENT where this ledger did not give it, or its result
 * is there already. */
static clo_status find_charge(clo_ledger *ledger, const clo_i_receipt *receipt,
                              uint8_t hash[LEDGER_HASH], clo_error *err)
{
    clo_i_head head;
    bool found = false, stored = false;
    CLO_TRY(clo_i_ledger_get_head(ledger, &head, err));
    clo_i_sql sql = clo_i_sql_start(
        ledger, "SELECT c.hash, r.sequence IS NOT NULL FROM charge c LEFT JOIN result r ON "
                "r.sequence = c.sequence WHERE c.sequence = ?");
    clo_i_sql_units(&sql, receipt->sequence);
    if (clo_i_sql_row(&sql)) {
        found = true;
        clo_i_sql_get_bytes(&sql, 0, hash, LEDGER_HASH);
        stored = clo_i_sql_get_integer(&sql, 1) != 0;
    }
    CLO_TRY(clo_i_sql_finish(&sql, err));
    if (!found || memcmp(head.identity, receipt->identity, LEDGER_IDENTITY) != 0 ||
        memcmp(hash, receipt->hash, LEDGER_HASH) != 0)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a result can only be stored in the ledger that was charged for it");
    if (stored)
        return clo_i_fail(err, CLO_ARGUMENT, "the result of charge %llu is stored already",
                          (unsigned long long)receipt->sequence);
    return CLO_OK;
}

static clo_status insert_result(clo_ledger *ledger, uint64_t sequence, int64_t time,
                                const void *bytes, size_t length, const uint8_t hash[LEDGER_HASH],
                                clo_error *err)
{
    clo_i_sql sql = clo_i_sql_start(
        ledger, "INSERT INTO result (sequence, time, bytes, hash) VALUES (?, ?, ?, ?)");
    clo_i_sql_units(&sql, sequence);
    clo_i_sql_integer(&sql, time);
    clo_i_sql_bytes(&sql, bytes, (int)length);
    clo_i_sql_bytes(&sql, hash, LEDGER_HASH);
    clo_i_sql_row(&sql);
    return clo_i_sql_finish(&sql, err);
}

/* The result, and an act that says so: a result that is gone is missed. */
static clo_status record_result(clo_ledger *ledger, const clo_i_receipt *receipt, clo_i_head *head,
                                const void *bytes, size_t length, clo_error *err)
{
    uint8_t charge_hash[LEDGER_HASH], hash[LEDGER_HASH];
    const int64_t now = ledger->clock();
    CLO_TRY(find_charge(ledger, receipt, charge_hash, err));
    clo_i_chain_result(&ledger->key, charge_hash, now, bytes, length, hash);
    CLO_TRY(insert_result(ledger, receipt->sequence, now, bytes, length, hash, err));
    CLO_TRY(clo_i_sign_note(ledger, head, err));
    const clo_i_act act = { .kind = LEDGER_ACT_RESULT,
                            .charge = receipt->sequence,
                            .detail = hash,
                            .length = LEDGER_HASH };
    return clo_i_act_insert(ledger, &act, head, err);
}

clo_status clo_i_ledger_store(clo_ledger *ledger, const clo_i_receipt *receipt, const void *bytes,
                              size_t length, clo_error *err)
{
    clo_i_writing w;
    CLO_TRY(clo_i_ledger_check(ledger, true, err));
    if (!bytes || length == 0 || length > LEDGER_RESULT)
        return clo_i_fail(err, CLO_ARGUMENT, "a result that is stored must have 1 to %d bytes",
                          LEDGER_RESULT);
    CLO_TRY(clo_i_write_begin(ledger, "", NULL, false, &w, err));
    const clo_status status = record_result(ledger, receipt, &w.head, bytes, length, err);
    return clo_i_write_end(ledger, &w, status, err);
}

/* ---- fetch ------------------------------------------------------------------ */

/* A copy of the stored bytes, once their hash fits. */
static clo_status read_result(clo_ledger *ledger, uint64_t sequence, char **bytes, size_t *length,
                              clo_error *err)
{
    uint8_t charge_hash[LEDGER_HASH], stored[LEDGER_HASH], hash[LEDGER_HASH];
    char *copy = NULL;
    size_t size = 0;
    bool same = false;
    clo_status status = CLO_OK;
    clo_i_sql sql = clo_i_sql_start(
        ledger, "SELECT c.hash, r.time, r.hash, r.bytes FROM result r JOIN charge c ON "
                "c.sequence = r.sequence WHERE r.sequence = ?");
    clo_i_sql_units(&sql, sequence);
    if (clo_i_sql_row(&sql)) {
        clo_i_sql_get_bytes(&sql, 0, charge_hash, LEDGER_HASH);
        const int64_t time = clo_i_sql_get_integer(&sql, 1);
        clo_i_sql_get_bytes(&sql, 2, stored, LEDGER_HASH);
        const void *const there = sqlite3_column_blob(sql.statement, 3);
        size = (size_t)sqlite3_column_bytes(sql.statement, 3);
        if (there) {
            clo_i_chain_result(&ledger->key, charge_hash, time, there, size, hash);
            same = memcmp(hash, stored, LEDGER_HASH) == 0;
        }
        if (same && !(status = clo_i_alloc(size + 1, 1, &copy, err))) memcpy(copy, there, size);
    }
    const clo_status finished = clo_i_sql_finish(&sql, status ? NULL : err);
    if (!status) status = finished;
    if (!status && !same)
        status = clo_i_fail(err, CLO_LEDGER,
                            "the stored release of charge %llu in the ledger %s was changed; keep "
                            "the file and restore a backup",
                            (unsigned long long)sequence, ledger->shown);
    if (status) {
        clo_i_free(copy);
        return status;
    }
    *bytes = copy;
    *length = size;
    return CLO_OK;
}

/* Whether an act says so. */
static clo_status was_stored(clo_ledger *ledger, uint64_t sequence, bool *was, clo_error *err)
{
    if (ledger->schema < 4) return CLO_OK;
    clo_i_sql sql = clo_i_sql_start(ledger, "SELECT 1 FROM act WHERE kind = ? AND charge = ?");
    clo_i_sql_text(&sql, LEDGER_ACT_RESULT);
    clo_i_sql_units(&sql, sequence);
    *was = clo_i_sql_row(&sql);
    return clo_i_sql_finish(&sql, err);
}

/* Of a token that was found, and is the caller's. */
static clo_status give_result(clo_ledger *ledger, const char *token, const clo_i_token *known,
                              char **bytes, size_t *length, clo_error *err)
{
    clo_i_head head;
    bool was = false;
    if (!known->stored) CLO_TRY(was_stored(ledger, known->sequence, &was, err));
    if (was)
        return clo_i_fail(err, CLO_LEDGER,
                          "the ledger %s was changed: the result of charge %llu was stored, and "
                          "is gone; keep the file and restore a backup",
                          ledger->shown, (unsigned long long)known->sequence);
    if (!known->stored) return clo_i_token_refuse(token, known, err);
    CLO_TRY(clo_i_ledger_get_head(ledger, &head, err));
    CLO_TRY(clo_i_key_check(ledger, &head, err));
    return read_result(ledger, known->sequence, bytes, length, err);
}

clo_status clo_ledger_result(clo_ledger *ledger, const char *token, char **bytes, size_t *length,
                             clo_error *err)
{
    clo_i_token known;
    bool found = false;
    CLO_TRY(clo_i_ledger_check(ledger, false, err));
    CLO_TRY(clo_i_ledger_check_text("token", token, err));
    CLO_TRY(clo_i_token_find(ledger, token, &known, &found, err));
    if (!found)
        return clo_i_fail(err, CLO_ARGUMENT, "the ledger %s knows no token %.80s", ledger->shown,
                          token);
    return give_result(ledger, token, &known, bytes, length, err);
}

clo_status clo_i_ledger_fetch(clo_ledger *ledger, const char *dataset,
                              const uint8_t plan[LEDGER_PLAN], const char *token,
                              const uint8_t *content, char **bytes, size_t *length, clo_error *err)
{
    bool other = false;
    clo_i_token known;
    bool found = false;
    CLO_TRY(clo_i_ledger_check(ledger, false, err));
    CLO_TRY(clo_i_ledger_check_text("data set", dataset, err));
    CLO_TRY(clo_i_ledger_check_text("token", token, err));
    CLO_TRY(clo_i_token_find(ledger, token, &known, &found, err));
    if (!found) {
        *bytes = NULL;
        *length = 0;
        return CLO_OK;
    }
    CLO_TRY(clo_i_token_check(token, &known, dataset, plan, err));
    if (content) CLO_TRY(clo_i_content_differs(ledger, known.sequence, content, &other, err));
    if (other)
        return clo_i_fail(
            err, CLO_ARGUMENT,
            "the token %.80s belongs to a run on other data (charge %llu), because the data have "
            "changed: use another token, or get its release with cloister ledger fetch",
            token, (unsigned long long)known.sequence);
    return give_result(ledger, token, &known, bytes, length, err);
}
