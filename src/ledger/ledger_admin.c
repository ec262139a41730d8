/*
 * ledger_admin.c - what a steward does beside declaring caps.
 *
 * Acts stand in the chain of the declarations, between them and with the same numbers, so that all
 * that is proved of those (ledger.T8, ledger.T9) is true of acts: none can be changed, taken out or
 * forgotten unseen.  What an act means is said by its kind:
 *
 *   closed   only declared data sets are charged in this ledger (ledger.T13)
 *   content  data set, keyed digest: these bytes are that data set's (ledger.T12)
 *   folder   data set, path: whatever lies below it is that data set's
 *   key      the public half of the key that signs (ledger.T14)
 *   result   charge, hash: the release of that charge is stored (ledger.T10)
 *   lower    data set, loss: its cap is this smaller one from here on (ledger.T15)
 *   end      data set: nothing more is charged on it
 *   expire   data set, time: nothing more from that time on
 *   member   data set, group: what is charged on it is charged on the group too (ledger.T16)
 *   rule     data set, rule: how charges with a delta are to count (ledger.T4)
 *   gap      the ledger was brought back from a copy, and entries are lost (ledger.T17)
 *   rekey    public key, signature: all hashes are under a new key from here on (ledger.T18)
 *
 * An older program that meets a kind which it does not know stops: it cannot tell what it would
 * leave out.
 */
#include "ledger/ledger_internal.h"
#include <stdio.h>
#include <string.h>

static const char *const KINDS[] = { LEDGER_ACT_CLOSED, LEDGER_ACT_CONTENT, LEDGER_ACT_FOLDER,
                                     LEDGER_ACT_KEY,    LEDGER_ACT_RESULT,  LEDGER_ACT_LOWER,
                                     LEDGER_ACT_END,    LEDGER_ACT_EXPIRE,  LEDGER_ACT_MEMBER,
                                     LEDGER_ACT_RULE,   LEDGER_ACT_GAP,     LEDGER_ACT_REKEY };

bool clo_i_act_is_known(const char *kind)
{
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        if (strcmp(KINDS[i], kind) == 0) return true;
    return false;
}

const char clo_i_act_columns[] = "c.sequence, c.after_charge, c.time, c.kind, d.name, c.charge, "
                                 "c.detail, c.key_id, c.hash";

void clo_i_act_get(clo_i_sql *sql, clo_i_act *act, uint8_t hash[LEDGER_HASH])
{
    *act = (clo_i_act){ .sequence = clo_i_sql_get_units(sql, 0),
                        .after = clo_i_sql_get_units(sql, 1),
                        .time = clo_i_sql_get_integer(sql, 2),
                        .charge = clo_i_sql_get_units(sql, 5) };
    clo_i_sql_get_text(sql, 3, act->kind);
    clo_i_sql_get_text(sql, 4, act->dataset);
    act->detail = sqlite3_column_blob(sql->statement, 6);
    act->length = (size_t)sqlite3_column_bytes(sql->statement, 6);
    clo_i_sql_get_bytes(sql, 7, act->key_id, LEDGER_KEY_ID);
    clo_i_sql_get_bytes(sql, 8, hash, LEDGER_HASH);
}

static clo_status insert_row(clo_ledger *ledger, const clo_i_act *act, int64_t dataset,
                             const uint8_t hash[LEDGER_HASH], clo_error *err)
{
    clo_i_sql sql = clo_i_sql_start(
        ledger, "INSERT INTO act (sequence, after_charge, time, kind, dataset, charge, detail, "
                "key_id, hash) VALUES (?, ?, ?, ?, nullif(?, 0), nullif(?, 0), ?, ?, ?)");
    clo_i_sql_units(&sql, act->sequence);
    clo_i_sql_units(&sql, act->after);
    clo_i_sql_integer(&sql, act->time);
    clo_i_sql_text(&sql, act->kind);
    clo_i_sql_integer(&sql, dataset);
    clo_i_sql_units(&sql, act->charge);
    clo_i_sql_bytes(&sql, act->detail ? act->detail : (const uint8_t *)"", (int)act->length);
    clo_i_sql_bytes(&sql, act->key_id, LEDGER_KEY_ID);
    clo_i_sql_bytes(&sql, hash, LEDGER_HASH);
    clo_i_sql_row(&sql);
    return clo_i_sql_finish(&sql, err);
}

clo_status clo_i_act_insert(clo_ledger *ledger, const clo_i_act *given, clo_i_head *head,
                            clo_error *err)
{
    clo_i_act act = *given;
    act.sequence = head->declarations + 1;
    act.after = head->charges;
    act.time = ledger->clock();
    memcpy(act.key_id, ledger->key.id, LEDGER_KEY_ID);
    clo_i_chain_act(&ledger->key, &act, head->declaration_hash);
    CLO_TRY(insert_row(ledger, &act, act.dataset_id, head->declaration_hash, err));
    head->declarations++;
    return clo_i_ledger_update_head(ledger, head, err);
}

/* ---- what they say ----------------------------------------------------------- */

clo_status clo_i_act_closed(clo_ledger *ledger, uint64_t *sequence, clo_error *err)
{
    *sequence = 0;
    if (ledger->schema < 4) return CLO_OK;
    clo_i_sql sql = clo_i_sql_start(
        ledger, "SELECT sequence FROM act WHERE kind = ? ORDER BY sequence LIMIT 1");
    clo_i_sql_text(&sql, LEDGER_ACT_CLOSED);
    if (clo_i_sql_row(&sql)) *sequence = clo_i_sql_get_units(&sql, 0);
    return clo_i_sql_finish(&sql, err);
}

/* ---- closed ledgers: ledger.T13 ------------------------------------------------ */

clo_status clo_i_closed_refuse(clo_ledger *ledger, const char *dataset, clo_error *err)
{
    char alike[LEDGER_TEXT + 1], meant[LEDGER_TEXT + 64] = "";
    CLO_TRY(clo_i_name_find_alike(ledger, dataset, alike, err));
    if (alike[0]) snprintf(meant, sizeof meant, "; did you mean '%.100s'?", alike);
    return clo_i_fail(err, CLO_ARGUMENT,
                      "the ledger %s has no data set '%.100s'%s: use a name that it has, or "
                      "declare this one with cloister ledger init",
                      ledger->shown, dataset, meant);
}

clo_status clo_ledger_check_dataset(clo_ledger *ledger, const char *dataset, clo_error *err)
{
    clo_i_account account;
    uint64_t closed = 0;
    bool found = false;
    CLO_TRY(clo_i_ledger_check(ledger, false, err));
    CLO_TRY(clo_i_ledger_check_text("data set", dataset, err));
    CLO_TRY(clo_i_act_closed(ledger, &closed, err));
    if (!closed) return CLO_OK;
    CLO_TRY(clo_i_ledger_find_account(ledger, dataset, &account, &found, err));
    return found && account.capped ? CLO_OK : clo_i_closed_refuse(ledger, dataset, err);
}
