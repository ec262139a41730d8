/*
 * ledger_write.c - the transaction of a declaration or a charge.
 *
 * Two locks are taken, in this order, and held to the end: SQLite's, which no two writers of one
 * file share (ledger.T7), and the anchor's, which no two writers of any copies of it share
 * (ledger.T9).  Under both, everything that a decision depends on is read anew; nothing counts that
 * was read when the ledger was opened.
 *
 *   BEGIN IMMEDIATE     the file is this transaction's
 *   lock the anchor     so are all copies of it
 *   compare             the ledger ends where the anchor says, or goes on from there
 *   check the accounts  they are those of that end
 *   ... the caller decides and inserts
 *   write the anchor    with what stands there: a disk that is full or gone is noticed now
 *   COMMIT
 *   write the anchor    with the new end, and sync it; only then is anything acknowledged
 *   let both go
 *
 * Why the accounts are checked: a copy that was made while somebody wrote to the file, or was put
 * back while somebody read it, may end as it should and hold pages from before the end.  A total
 * that lacks the last charge would admit it a second time.  So the anchor also keeps one hash over
 * all accounts.  Where it does not fit, or is not known, or the ledger goes on from the anchor's
 * end (somebody died after a commit), the whole ledger is verified first.
 */
#include "ledger/ledger_internal.h"
#include <sodium.h>
#include <stdio.h>
#include <string.h>

/* That the ledger is closed is as much a part of a decision as the accounts are (ledger.T13); an
 * open one adds nothing, so that what was noted of older ledgers still fits. */
static clo_status sum_policy(clo_ledger *ledger, clo_i_writing *w, clo_error *err)
{
    uint8_t hash[LEDGER_HASH];
    CLO_TRY(clo_i_act_closed(ledger, &w->closed, err));
    if (!w->closed) return CLO_OK;
    clo_i_chain_policy(&ledger->key, w->head.identity, w->closed, hash);
    sodium_add(w->sum, hash, LEDGER_HASH);
    return CLO_OK;
}

/* Every account goes into the sum, and the one that is asked for is taken from the same rows.
 * Hashes are added as numbers of 256 bits: by exclusive or, a row that is there twice would not
 * show. */
static clo_status sum_accounts(clo_ledger *ledger, const char *dataset, clo_i_writing *w,
                               clo_error *err)
{
    char text[1024];
    snprintf(text, sizeof text, "SELECT %s FROM dataset d", clo_i_ledger_account_columns);
    memset(w->sum, 0, LEDGER_HASH);
    w->found = false;
    clo_i_sql sql = clo_i_sql_start(ledger, text);
    while (clo_i_sql_row(&sql)) {
        clo_i_account account;
        uint8_t hash[LEDGER_HASH];
        clo_i_ledger_get_account(&sql, &account);
        clo_i_chain_account(&ledger->key, w->head.identity, &account, hash);
        sodium_add(w->sum, hash, LEDGER_HASH);
        if (strcmp(account.name, dataset) != 0) continue;
        w->account = account;
        w->found = true;
    }
    CLO_TRY(clo_i_sql_finish(&sql, err));
    return sum_policy(ledger, w, err);
}

/* Whether the accounts are those of the anchor's end. */
static bool are_known(const clo_ledger *ledger, const clo_i_writing *w)
{
    const clo_i_note *const note = &w->held.note;
    if (clo_i_ledger_planted(ledger, CLO_PLANTED_OLD_ANCHOR) ||
        clo_i_ledger_planted(ledger, CLO_PLANTED_EARLY_TOTAL) ||
        clo_i_ledger_planted(ledger, CLO_PLANTED_UNCHECKED_TOTALS))
        return true;
    return note->summed && clo_i_anchor_is_at(&w->held, &w->head) &&
           memcmp(note->sum, w->sum, LEDGER_HASH) == 0;
}

static clo_status check_accounts(clo_ledger *ledger, const char *dataset, bool whole,
                                 clo_i_writing *w, clo_error *err)
{
    CLO_TRY(sum_accounts(ledger, dataset, w, err));
    if (are_known(ledger, w) && !whole) return CLO_OK;
#ifdef CLO_FAULT_INJECTION
    ledger->verified++;
#endif
    CLO_TRY(clo_i_ledger_verify_entries(ledger, &w->head, err));
    clo_i_sql_forget(ledger); /* what that needed, a charge does not */
    return sum_accounts(ledger, dataset, w, err);
}

static clo_status begin(clo_ledger *ledger, const char *dataset, bool whole, clo_i_writing *w,
                        clo_error *err)
{
    CLO_TRY(clo_i_ledger_get_head(ledger, &w->head, err));
    CLO_TRY(clo_i_anchor_take(ledger, &w->head, &w->held, err));
    return check_accounts(ledger, dataset, whole, w, err);
}

clo_status clo_i_write_begin(clo_ledger *ledger, const char *dataset, bool whole,
                             clo_i_writing *out, clo_error *err)
{
    *out = (clo_i_writing){ .held = { .file = -1 } };
    /* A planted fault left the one before open. */
    if (clo_i_ledger_planted(ledger, CLO_PLANTED_EARLY_RECEIPT) &&
        !sqlite3_get_autocommit(ledger->db))
        CLO_TRY(clo_i_sql_commit(ledger, err));
    CLO_TRY(clo_i_sql_do(ledger, "BEGIN IMMEDIATE", err));
    const clo_status status = begin(ledger, dataset, whole, out, err);
    return status ? clo_i_write_end(ledger, out, status, NULL) : CLO_OK;
}

clo_status clo_i_ledger_update_head(clo_ledger *ledger, const clo_i_head *head, clo_error *err)
{
    clo_i_sql sql = clo_i_sql_start(ledger, "UPDATE ledger SET charges = ?, charge_hash = ?, "
                                            "declarations = ?, declaration_hash = ?");
    clo_i_sql_units(&sql, head->charges);
    clo_i_sql_bytes(&sql, head->charge_hash, LEDGER_HASH);
    clo_i_sql_units(&sql, head->declarations);
    clo_i_sql_bytes(&sql, head->declaration_hash, LEDGER_HASH);
    clo_i_sql_row(&sql);
    return clo_i_sql_finish(&sql, err);
}

void clo_i_write_account(const clo_ledger *ledger, clo_i_writing *w, const clo_i_account *after)
{
    uint8_t hash[LEDGER_HASH];
    if (w->found) {
        clo_i_chain_account(&ledger->key, w->head.identity, &w->account, hash);
        sodium_sub(w->sum, hash, LEDGER_HASH);
    }
    clo_i_chain_account(&ledger->key, w->head.identity, after, hash);
    sodium_add(w->sum, hash, LEDGER_HASH);
    w->account = *after;
    w->found = true;
}

clo_status clo_i_write_end(clo_ledger *ledger, clo_i_writing *w, clo_status so_far, clo_error *err)
{
    clo_status status = so_far;
    if (!status) status = clo_i_anchor_prepare(ledger, &w->held, err);
    if (!status && clo_i_ledger_planted(ledger, CLO_PLANTED_EARLY_RECEIPT)) {
        clo_i_anchor_release(&w->held);
        return CLO_OK;
    }
    if (!status) status = clo_i_sql_commit(ledger, err);
    if (!status) status = clo_i_anchor_move(ledger, &w->held, &w->head, w->sum, err);
    clo_i_sql_undo(ledger);
    clo_i_anchor_release(&w->held);
    return status;
}
