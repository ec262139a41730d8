/*
 * ledger_verify.c - is the ledger what its charges say?
 *
 * Nothing that is stored is believed: every hash is computed again from the first charge on, and
 * every account is replayed through the same filter that admitted its charges.  The answer names
 * the charge where the first thing does not fit (ledger.T8).
 */
#include "ledger/ledger_internal.h"
#include <stdio.h>
#include <string.h>

typedef unsigned long long number; /* for printf */

/* Also where an inner failure has said why: what comes first counts. */
static clo_status unsound(const clo_ledger *ledger, clo_error *err, const char *what, uint64_t at,
                          const char *why)
{
    return clo_i_fail(err, CLO_LEDGER,
                      "the ledger %s was changed: %s %llu %s; keep the file and restore a backup",
                      ledger->shown, what, (number)at, why);
}

/* As statements: what a table-valued pragma makes of its argument differs between versions. */
static clo_status check_pages(clo_ledger *ledger, clo_error *err)
{
    char answer[51] = "";
    bool dangling = false;
    clo_i_sql sql = clo_i_sql_start(ledger, "PRAGMA main.integrity_check(1)");
    if (clo_i_sql_row(&sql)) {
        const unsigned char *const text = sqlite3_column_text(sql.statement, 0);
        snprintf(answer, sizeof answer, "%s", text ? (const char *)text : "no answer");
    }
    CLO_TRY(clo_i_sql_finish(&sql, err));
    if (strcmp(answer, "ok") != 0 && clo_i_sql_disk_failed(ledger))
        return clo_i_sql_fail(ledger, SQLITE_IOERR, err);
    if (strcmp(answer, "ok") != 0)
        return clo_i_fail(err, CLO_LEDGER,
                          "the ledger %s is damaged (%s): keep the file and restore a backup",
                          ledger->shown, answer);
    sql = clo_i_sql_start(ledger, "PRAGMA main.foreign_key_check");
    dangling = clo_i_sql_row(&sql);
    CLO_TRY(clo_i_sql_finish(&sql, err));
    if (dangling)
        return clo_i_fail(
            err, CLO_LEDGER,
            "the ledger %s was changed: an entry names a data set that is not there; keep the "
            "file and restore a backup",
            ledger->shown);
    return CLO_OK;
}

/* ---- the chains ------------------------------------------------------------ */

/* Plain entries come first, as many as the seal says, and keyed ones after them: otherwise
 * somebody without the key could write plain ones. */
static const char *wrong_format(int64_t format, const uint8_t key_id[LEDGER_KEY_ID],
                                uint64_t sequence, uint64_t plain, const clo_i_head *head)
{
    if (format != (sequence <= plain ? LEDGER_PLAIN : LEDGER_KEYED))
        return "has a hash of the wrong kind";
    if (format == LEDGER_KEYED && memcmp(key_id, head->key_id, LEDGER_KEY_ID) != 0)
        return "was made with another key";
    return NULL;
}

/* sealed: out, the hash of the last plain entry. */
static clo_status check_charges(clo_ledger *ledger, const clo_i_head *head,
                                uint8_t sealed[LEDGER_HASH], clo_error *err)
{
    uint8_t hash[LEDGER_HASH], stored[LEDGER_HASH];
    clo_i_entry entry;
    uint64_t count = 0;
    const char *wrong = NULL;
    char text[900];
    snprintf(text, sizeof text,
             "SELECT %s FROM charge c LEFT JOIN dataset d ON d.id = c.dataset ORDER BY c.sequence",
             clo_i_ledger_charge_columns(ledger));
    clo_i_chain_start(head->identity, "charge", hash);
    memcpy(sealed, hash, LEDGER_HASH);
    clo_i_sql sql = clo_i_sql_start(ledger, text);
    while (!wrong && clo_i_sql_row(&sql)) {
        clo_i_ledger_get_charge(&sql, &entry, stored);
        clo_i_chain_charge(&ledger->key, &entry, hash);
        count++;
        if (count == head->plain_charges) memcpy(sealed, hash, LEDGER_HASH);
        if (entry.sequence != count)
            wrong = "is missing";
        else if (memcmp(hash, stored, LEDGER_HASH) != 0)
            wrong = "was changed: its hash is wrong";
        else
            wrong = wrong_format(entry.format, entry.key_id, count, head->plain_charges, head);
    }
    const clo_status status = clo_i_sql_finish(&sql, err);
    if (wrong || (status && count)) /* a row that cannot even be read was changed too */
        return unsound(ledger, err, "charge", count, wrong ? wrong : "cannot be read");
    if (status) return status;
    if (count != head->charges)
        return unsound(ledger, err, "charge", count < head->charges ? count + 1 : count,
                       count < head->charges ? "is missing" : "is beyond the recorded end");
    if (memcmp(hash, head->charge_hash, LEDGER_HASH) != 0)
        return unsound(ledger, err, "charge", count, "is not the recorded end of the chain");
    return CLO_OK;
}

static clo_i_sql start_declarations(clo_ledger *ledger, const char *rest)
{
    char text[400];
    snprintf(text, sizeof text,
             "SELECT %s FROM declaration c LEFT JOIN dataset d ON d.id = c.dataset %s",
             clo_i_ledger_declaration_columns, rest);
    return clo_i_sql_start(ledger, text);
}

/* Rows of the two tables that share a chain, each in its order. */
typedef struct rows {
    clo_i_sql sql;
    bool there;        /* a row that was not taken yet */
    uint64_t sequence; /* its number */
} rows;

static void step(rows *r)
{
    r->there = clo_i_sql_row(&r->sql);
    r->sequence = r->there ? clo_i_sql_get_units(&r->sql, 0) : UINT64_MAX;
}

/* Where the act does not fit, or is none that this program knows. */
static const char *check_act(clo_ledger *ledger, rows *acts, const clo_i_head *head,
                             uint8_t hash[LEDGER_HASH])
{
    uint8_t stored[LEDGER_HASH];
    clo_i_act act;
    clo_i_act_get(&acts->sql, &act, stored);
    clo_i_chain_act(&ledger->key, &act, hash);
    if (memcmp(hash, stored, LEDGER_HASH) != 0) return "was changed: its hash is wrong";
    if (!clo_i_act_is_known(act.kind)) return "is of a kind that only a newer cloister knows";
    return wrong_format(LEDGER_KEYED, act.key_id, act.sequence, head->plain_declarations, head);
}

static const char *check_declaration(clo_ledger *ledger, rows *caps, const clo_i_head *head,
                                     uint8_t hash[LEDGER_HASH])
{
    uint8_t stored[LEDGER_HASH];
    clo_i_declaration entry;
    clo_i_ledger_get_declaration(&caps->sql, &entry, stored);
    clo_i_chain_declaration(&ledger->key, &entry, hash);
    if (memcmp(hash, stored, LEDGER_HASH) != 0) return "was changed: its hash is wrong";
    return wrong_format(entry.format, entry.key_id, entry.sequence, head->plain_declarations, head);
}

static rows start_acts(clo_ledger *ledger)
{
    char text[400];
    rows acts = { .sequence = UINT64_MAX };
    snprintf(text, sizeof text,
             "SELECT %s FROM act c LEFT JOIN dataset d ON d.id = c.dataset ORDER BY c.sequence",
             clo_i_act_columns);
    if (ledger->schema < 4)
        acts.sql = clo_i_sql_start(ledger, "SELECT 0 WHERE 0"); /* there is no such table */
    else
        acts.sql = clo_i_sql_start(ledger, text);
    step(&acts);
    return acts;
}

/* Caps and other acts, by their numbers. */
static clo_status check_declarations(clo_ledger *ledger, const clo_i_head *head,
                                     uint8_t sealed[LEDGER_HASH], clo_error *err)
{
    uint8_t hash[LEDGER_HASH];
    uint64_t count = 0;
    const char *wrong = NULL;
    clo_i_chain_start(head->identity, "declaration", hash);
    memcpy(sealed, hash, LEDGER_HASH);
    rows caps = { .sql = start_declarations(ledger, "ORDER BY c.sequence") };
    step(&caps);
    rows acts = start_acts(ledger);
    while (!wrong && (caps.there || acts.there)) {
        const bool is_act = acts.sequence < caps.sequence;
        rows *const next = is_act ? &acts : &caps;
        count++;
        if (next->sequence != count)
            wrong = "is missing";
        else
            wrong = (is_act ? check_act : check_declaration)(ledger, next, head, hash);
        if (count == head->plain_declarations) memcpy(sealed, hash, LEDGER_HASH);
        step(next);
    }
    const clo_status first = clo_i_sql_finish(&caps.sql, err);
    const clo_status status = clo_i_sql_finish(&acts.sql, first ? NULL : err);
    if (wrong || ((first || status) && count))
        return unsound(ledger, err, "declaration", count, wrong ? wrong : "cannot be read");
    if (first || status) return first ? first : status;
    if (count != head->declarations || memcmp(hash, head->declaration_hash, LEDGER_HASH) != 0)
        return unsound(ledger, err, "declaration", count, "is not the recorded end of the chain");
    return CLO_OK;
}

static clo_status check_chains(clo_ledger *ledger, const clo_i_head *head, clo_error *err)
{
    uint8_t charge[LEDGER_HASH], declaration[LEDGER_HASH], seal[LEDGER_HASH];
    CLO_TRY(check_charges(ledger, head, charge, err));
    CLO_TRY(check_declarations(ledger, head, declaration, err));
    clo_i_chain_seal(&ledger->key, head, charge, declaration, seal);
    if (memcmp(seal, head->seal, LEDGER_HASH) != 0)
        return clo_i_fail(err, CLO_LEDGER,
                          "the ledger %s was changed: the seal at its beginning does not fit; "
                          "keep the file and restore a backup",
                          ledger->shown);
    return CLO_OK;
}

static clo_status check_results(clo_ledger *ledger, clo_error *err)
{
    uint8_t charge[LEDGER_HASH], stored[LEDGER_HASH], hash[LEDGER_HASH];
    uint64_t at = 0;
    bool same = true;
    clo_i_sql sql = clo_i_sql_start(
        ledger, "SELECT r.sequence, c.hash, r.time, r.hash, r.bytes FROM result r JOIN charge c ON "
                "c.sequence = r.sequence ORDER BY r.sequence");
    while (same && clo_i_sql_row(&sql)) {
        at = clo_i_sql_get_units(&sql, 0);
        clo_i_sql_get_bytes(&sql, 1, charge, LEDGER_HASH);
        const int64_t time = clo_i_sql_get_integer(&sql, 2);
        clo_i_sql_get_bytes(&sql, 3, stored, LEDGER_HASH);
        const void *const bytes = sqlite3_column_blob(sql.statement, 4);
        clo_i_chain_result(&ledger->key, charge, time, bytes ? bytes : "",
                           (size_t)sqlite3_column_bytes(sql.statement, 4), hash);
        same = memcmp(hash, stored, LEDGER_HASH) == 0;
    }
    CLO_TRY(clo_i_sql_finish(&sql, err));
    return same ? CLO_OK
                : unsound(ledger, err, "the stored result of charge", at,
                          "was changed: its hash is wrong");
}

/* Every act that says that a result was stored has it; those from before schema 4 have no act. */
static clo_status check_stored(clo_ledger *ledger, clo_error *err)
{
    uint64_t gone = 0;
    if (ledger->schema < 4) return CLO_OK;
    clo_i_sql sql = clo_i_sql_start(
        ledger, "SELECT a.charge FROM act a LEFT JOIN result r ON r.sequence = a.charge WHERE "
                "a.kind = ? AND r.hash IS NOT a.detail ORDER BY a.sequence LIMIT 1");
    clo_i_sql_text(&sql, LEDGER_ACT_RESULT);
    const bool any = clo_i_sql_row(&sql);
    if (any) gone = clo_i_sql_get_units(&sql, 0);
    CLO_TRY(clo_i_sql_finish(&sql, err));
    return any ? unsound(ledger, err, "the result of charge", gone, "was stored, and is gone")
               : CLO_OK;
}

/* ---- the replay ------------------------------------------------------------ */

/* A later cloister may know a larger capacity than the one that was recorded, and would have
 * chosen otherwise: what was recorded is right as long as it was allowed (ledger.T4). */
static clo_status fix_recorded(clo_i_account *account, clo_i_rule rule, uint64_t capacity,
                               bool *allowed, clo_error *err)
{
    uint64_t most = 0;
    account->rule = rule;
    account->capacity = capacity;
    if (rule == CLO_RULE_ZCDP)
        CLO_TRY(clo_i_account_capacity(account, &most, err));
    else
        account->base_epsilon = account->base_rho = 0;
    *allowed = rule != CLO_RULE_OPEN && capacity <= most;
    return CLO_OK;
}

static clo_status replay_declaration(clo_ledger *ledger, clo_i_account *account,
                                     const clo_i_declaration *entry, clo_error *err)
{
    clo_i_account_cap(account, entry->cap);
    if (account->cap_epsilon != entry->cap_epsilon || account->cap_delta != entry->cap_delta ||
        !clo_i_account_covered(account))
        return unsound(ledger, err, "declaration", entry->sequence,
                       "does not cover the charges before it");
    return CLO_OK;
}

static clo_status replay_charge(clo_ledger *ledger, clo_i_account *account,
                                const clo_i_entry *entry, clo_error *err)
{
    bool allowed = entry->rule == account->rule && entry->capacity == account->capacity;
    if (account->capped && account->rule == CLO_RULE_OPEN && entry->cost.delta > 0) {
        account->base_epsilon = account->spent.epsilon;
        account->base_rho = account->spent.rho;
        CLO_TRY(fix_recorded(account, entry->rule, entry->capacity, &allowed, err));
    }
    clo_i_account_add(account, entry->relation, entry->asked, &entry->cost);
    account->last_charge = entry->time;
    if (!allowed) return unsound(ledger, err, "charge", entry->sequence, "is under a wrong rule");
    if (!clo_i_account_covered(account))
        return unsound(ledger, err, "charge", entry->sequence,
                       "is more than the cap on its data set allows");
    return CLO_OK;
}

static bool same_account(const clo_i_account *a, const clo_i_account *b)
{
    return a->capped == b->capped && a->cap.epsilon == b->cap.epsilon &&
           a->cap.delta == b->cap.delta && a->cap_epsilon == b->cap_epsilon &&
           a->cap_delta == b->cap_delta && a->rule == b->rule &&
           a->base_epsilon == b->base_epsilon && a->base_rho == b->base_rho &&
           a->capacity == b->capacity && a->charges == b->charges &&
           a->spent.epsilon == b->spent.epsilon && a->spent.delta == b->spent.delta &&
           a->spent.rho == b->spent.rho && a->spent.rho_delta == b->spent.rho_delta &&
           a->last_charge == b->last_charge && strcmp(a->relation, b->relation) == 0;
}

/* The declaration of the data set; *found false where it has none. */
static clo_status find_declaration(clo_ledger *ledger, int64_t dataset, clo_i_declaration *entry,
                                   bool *found, clo_error *err)
{
    uint8_t hash[LEDGER_HASH];
    clo_i_sql sql = start_declarations(ledger, "WHERE c.dataset = ?");
    clo_i_sql_integer(&sql, dataset);
    *found = clo_i_sql_row(&sql);
    if (*found) clo_i_ledger_get_declaration(&sql, entry, hash);
    return clo_i_sql_finish(&sql, err);
}

static clo_status replay(clo_ledger *ledger, const clo_i_account *stored, clo_error *err)
{
    clo_i_account account = { 0 };
    clo_i_declaration declaration;
    clo_i_entry entry = { 0 };
    uint8_t hash[LEDGER_HASH];
    bool declared = false;
    clo_status status = CLO_OK;
    char text[900];
    CLO_TRY(find_declaration(ledger, stored->id, &declaration, &declared, err));
    snprintf(text, sizeof text,
             "SELECT %s FROM charge c JOIN dataset d ON d.id = c.dataset WHERE c.dataset = ? "
             "ORDER BY c.sequence",
             clo_i_ledger_charge_columns(ledger));
    clo_i_sql sql = clo_i_sql_start(ledger, text);
    clo_i_sql_integer(&sql, stored->id);
    while (!status && clo_i_sql_row(&sql)) {
        clo_i_ledger_get_charge(&sql, &entry, hash);
        if (declared && !account.capped && declaration.after < entry.sequence)
            status = replay_declaration(ledger, &account, &declaration, err);
        if (!status) status = replay_charge(ledger, &account, &entry, err);
    }
    const clo_status finished = clo_i_sql_finish(&sql, status ? NULL : err);
    if (!status) status = finished;
    if (!status && declared && !account.capped)
        status = replay_declaration(ledger, &account, &declaration, err);
    if (!status && !same_account(&account, stored))
        return clo_i_fail(
            err, CLO_LEDGER,
            "the ledger %s was changed: the totals or the cap of the data set %.120s are not what "
            "its entries up to charge %llu say; keep the file and restore a backup",
            ledger->shown, stored->name, (number)entry.sequence);
    return status;
}

static clo_status check_accounts(clo_ledger *ledger, clo_error *err)
{
    clo_status status = CLO_OK;
    char text[1024];
    snprintf(text, sizeof text, "SELECT %s FROM dataset d ORDER BY d.id",
             clo_i_ledger_account_columns);
    clo_i_sql sql = clo_i_sql_start(ledger, text);
    while (!status && clo_i_sql_row(&sql)) {
        clo_i_account stored;
        clo_i_ledger_get_account(&sql, &stored);
        status = replay(ledger, &stored, err);
    }
    const clo_status finished = clo_i_sql_finish(&sql, status ? NULL : err);
    return status ? status : finished;
}

/* ledger.T16 */
static clo_status check_members(clo_ledger *ledger, clo_error *err)
{
    uint64_t wrong = 0;
    CLO_TRY(clo_i_terms_verify(ledger, &wrong, err));
    return wrong ? unsound(ledger, err, "charge", wrong, "was not charged to its group") : CLO_OK;
}

/* ---- the schema ------------------------------------------------------------ */

static clo_status check_object(clo_ledger *ledger, const clo_i_schema_object *object,
                               clo_error *err)
{
    bool same = false;
    clo_i_sql sql = clo_i_sql_start(
        ledger, "SELECT 1 FROM sqlite_schema WHERE type = ? AND name = ? AND sql = ?");
    clo_i_sql_text(&sql, object->type);
    clo_i_sql_text(&sql, object->name);
    clo_i_sql_text(&sql, object->text);
    same = clo_i_sql_row(&sql);
    CLO_TRY(clo_i_sql_finish(&sql, err));
    if (!same)
        return clo_i_fail(err, CLO_LEDGER,
                          "the ledger %s was changed: its %s %s was changed or removed; keep the "
                          "file and restore a backup",
                          ledger->shown, object->type, object->name);
    return CLO_OK;
}

static clo_status check_schema(clo_ledger *ledger, clo_error *err)
{
    int64_t objects = 0, version = 0, wanted = 0;
    CLO_TRY(clo_i_sql_number(ledger, "PRAGMA user_version", &version, err));
    for (size_t i = 0; i < clo_i_ledger_schema_count; i++) {
        if (clo_i_ledger_schema[i].since > version) continue;
        CLO_TRY(check_object(ledger, &clo_i_ledger_schema[i], err));
        wanted++;
    }
    clo_i_sql sql = clo_i_sql_start(
        ledger, "SELECT count(*) FROM sqlite_schema WHERE substr(name, 1, 7) <> 'sqlite_'");
    if (clo_i_sql_row(&sql)) objects = clo_i_sql_get_integer(&sql, 0);
    CLO_TRY(clo_i_sql_finish(&sql, err));
    if (objects != wanted)
        return clo_i_fail(err, CLO_LEDGER,
                          "the ledger %s was changed: it holds tables or triggers that are not a "
                          "ledger's; keep the file and restore a backup",
                          ledger->shown);
    return CLO_OK;
}

clo_status clo_i_ledger_verify_entries(clo_ledger *ledger, const clo_i_head *head, clo_error *err)
{
    CLO_TRY(check_pages(ledger, err));
    CLO_TRY(clo_i_key_check(ledger, head, err));
    CLO_TRY(check_chains(ledger, head, err));
    CLO_TRY(check_accounts(ledger, err));
    CLO_TRY(check_members(ledger, err));
    return check_schema(ledger, err);
}

/* All but the anchor. */
static clo_status verify_all(clo_ledger *ledger, const clo_i_head *head, clo_error *err)
{
    CLO_TRY(clo_i_ledger_verify_entries(ledger, head, err));
    CLO_TRY(check_results(ledger, err));
    return check_stored(ledger, err);
}

clo_status clo_i_ledger_verify_file(clo_ledger *ledger, clo_error *err)
{
    clo_i_head head;
    CLO_TRY(clo_i_sql_do(ledger, "BEGIN", err));
    clo_status status = clo_i_ledger_get_head(ledger, &head, err);
    if (!status) status = verify_all(ledger, &head, err);
    clo_i_sql_undo(ledger);
    return status;
}

clo_status clo_ledger_verify(clo_ledger *ledger, clo_error *err)
{
    clo_i_head head;
    clo_status status;
    CLO_TRY(clo_i_ledger_check(ledger, false, err));
    /* One transaction, so that all of it is of one moment. */
    CLO_TRY(clo_i_sql_do(ledger, "BEGIN", err));
    if ((status = clo_i_ledger_get_head(ledger, &head, err))) goto done;
    if ((status = verify_all(ledger, &head, err))) goto done;
    status = clo_i_anchor_check_head(ledger, &head, err); /* as it is now: ledger.T9 */
done:
    clo_i_sql_undo(ledger);
    return status;
}
