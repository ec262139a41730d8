/*
 * ledger_read.c - accounts and history.
 *
 * Each row is fetched by a statement of its own, which is over before the caller sees the row: a
 * reader that stops to think - a pager, say - holds no lock, and no charge waits for it.
 */
#include "ledger/ledger_internal.h"
#include <stdio.h>
#include <string.h>

/* ---- rows ------------------------------------------------------------------ */

#define CHARGE_COLUMNS                                                                             \
    "c.sequence, c.time, d.name, c.mechanism, c.relation, c.asked_epsilon, c.asked_delta, "        \
    "c.epsilon, c.delta, c.rho, c.rho_delta, c.rule, c.capacity, c.format, c.hash, c.token, "      \
    "c.plan, c.key_id, "
#define OF_ATTRIBUTION(column) "(SELECT " column " FROM attribution WHERE sequence = c.sequence)"

const char *clo_i_ledger_charge_columns(const clo_ledger *ledger)
{
    if (ledger->schema < 4) return CHARGE_COLUMNS "NULL, NULL, NULL, NULL";
    return CHARGE_COLUMNS OF_ATTRIBUTION("user") ", " OF_ATTRIBUTION("host") ", " OF_ATTRIBUTION(
        "purpose") ", " OF_ATTRIBUTION("program");
}

static void get_rule(clo_i_sql *sql, int column, clo_i_rule *rule)
{
    char name[LEDGER_TEXT + 1];
    clo_i_sql_get_text(sql, column, name);
    if (!clo_i_rule_find(name, rule)) sql->code = SQLITE_CORRUPT;
}

void clo_i_ledger_get_charge(clo_i_sql *sql, clo_i_entry *entry, uint8_t hash[LEDGER_HASH])
{
    *entry = (clo_i_entry){ .sequence = clo_i_sql_get_units(sql, 0),
                            .time = clo_i_sql_get_integer(sql, 1),
                            .asked = { clo_i_sql_get_real(sql, 5), clo_i_sql_get_real(sql, 6) },
                            .cost = { clo_i_sql_get_units(sql, 7), clo_i_sql_get_units(sql, 8),
                                      clo_i_sql_get_units(sql, 9), clo_i_sql_get_units(sql, 10) },
                            .capacity = clo_i_sql_get_units(sql, 12) };
    clo_i_sql_get_text(sql, 2, entry->dataset);
    clo_i_sql_get_text(sql, 3, entry->mechanism);
    clo_i_sql_get_text(sql, 4, entry->relation);
    get_rule(sql, 11, &entry->rule);
    entry->format = clo_i_sql_get_integer(sql, 13);
    clo_i_sql_get_bytes(sql, 14, hash, LEDGER_HASH);
    if (entry->format == LEDGER_PLAIN) return;
    clo_i_sql_get_text(sql, 15, entry->token);
    clo_i_sql_get_bytes(sql, 16, entry->plan, LEDGER_PLAN);
    clo_i_sql_get_bytes(sql, 17, entry->key_id, LEDGER_KEY_ID);
    if (entry->format != LEDGER_KEYED) sql->code = SQLITE_CORRUPT;
    entry->attributed = sqlite3_column_type(sql->statement, 18) != SQLITE_NULL;
    clo_i_sql_get_text(sql, 18, entry->user);
    clo_i_sql_get_text(sql, 19, entry->host);
    clo_i_sql_get_text(sql, 20, entry->purpose);
    clo_i_sql_get_text(sql, 21, entry->program);
}

const char clo_i_ledger_declaration_columns[] =
    "c.sequence, c.after_charge, c.time, d.name, c.epsilon, c.delta, c.epsilon_units, "
    "c.delta_units, c.format, c.hash, c.key_id";

void clo_i_ledger_get_declaration(clo_i_sql *sql, clo_i_declaration *entry,
                                  uint8_t hash[LEDGER_HASH])
{
    *entry = (clo_i_declaration){ .sequence = clo_i_sql_get_units(sql, 0),
                                  .after = clo_i_sql_get_units(sql, 1),
                                  .time = clo_i_sql_get_integer(sql, 2),
                                  .cap = { clo_i_sql_get_real(sql, 4), clo_i_sql_get_real(sql, 5) },
                                  .cap_epsilon = clo_i_sql_get_units(sql, 6),
                                  .cap_delta = clo_i_sql_get_units(sql, 7),
                                  .format = clo_i_sql_get_integer(sql, 8) };
    clo_i_sql_get_text(sql, 3, entry->dataset);
    clo_i_sql_get_bytes(sql, 9, hash, LEDGER_HASH);
    if (entry->format == LEDGER_PLAIN) return;
    clo_i_sql_get_bytes(sql, 10, entry->key_id, LEDGER_KEY_ID);
    if (entry->format != LEDGER_KEYED) sql->code = SQLITE_CORRUPT;
}

const char clo_i_ledger_account_columns[] =
    "d.id, d.name, d.relation, d.cap_epsilon IS NOT NULL, d.cap_epsilon, d.cap_delta, "
    "coalesce(d.cap_epsilon_units, 0), coalesce(d.cap_delta_units, 0), d.rule, d.base_epsilon, "
    "d.base_rho, d.capacity, d.charges, d.epsilon, d.delta, d.rho, d.rho_delta, d.created, "
    "d.last_charge, "
    "(SELECT asked_epsilon FROM charge WHERE dataset = d.id ORDER BY sequence LIMIT 1), "
    "(SELECT asked_delta FROM charge WHERE dataset = d.id ORDER BY sequence LIMIT 1)";

void clo_i_ledger_get_account(clo_i_sql *sql, clo_i_account *account)
{
    *account =
        (clo_i_account){ .id = clo_i_sql_get_integer(sql, 0),
                         .capped = clo_i_sql_get_integer(sql, 3) != 0,
                         .cap = { clo_i_sql_get_real(sql, 4), clo_i_sql_get_real(sql, 5) },
                         .cap_epsilon = clo_i_sql_get_units(sql, 6),
                         .cap_delta = clo_i_sql_get_units(sql, 7),
                         .base_epsilon = clo_i_sql_get_units(sql, 9),
                         .base_rho = clo_i_sql_get_units(sql, 10),
                         .capacity = clo_i_sql_get_units(sql, 11),
                         .charges = clo_i_sql_get_units(sql, 12),
                         .spent = { clo_i_sql_get_units(sql, 13), clo_i_sql_get_units(sql, 14),
                                    clo_i_sql_get_units(sql, 15), clo_i_sql_get_units(sql, 16) },
                         .created = clo_i_sql_get_integer(sql, 17),
                         .last_charge = clo_i_sql_get_integer(sql, 18),
                         .first = { clo_i_sql_get_real(sql, 19), clo_i_sql_get_real(sql, 20) } };
    clo_i_sql_get_text(sql, 1, account->name);
    clo_i_sql_get_text(sql, 2, account->relation);
    get_rule(sql, 8, &account->rule);
}

/* The first account whose name is not below (exact: just is) the given one. */
static clo_status fetch_account(clo_ledger *ledger, const char *condition, const char *name,
                                clo_i_account *account, bool *found, clo_error *err)
{
    char text[1024];
    bool any = false;
    snprintf(text, sizeof text,
             "SELECT %s FROM dataset d WHERE d.name %s ? ORDER BY d.name LIMIT 1",
             clo_i_ledger_account_columns, condition);
    clo_i_sql sql = clo_i_sql_start(ledger, text);
    clo_i_sql_text(&sql, name);
    if (clo_i_sql_row(&sql)) {
        clo_i_ledger_get_account(&sql, account);
        any = true;
    }
    CLO_TRY(clo_i_sql_finish(&sql, err));
    *found = any;
    return CLO_OK;
}

clo_status clo_i_ledger_find_account(clo_ledger *ledger, const char *dataset,
                                     clo_i_account *account, bool *found, clo_error *err)
{
    return fetch_account(ledger, "=", dataset, account, found, err);
}

clo_status clo_i_ledger_get_head(clo_ledger *ledger, clo_i_head *head, clo_error *err)
{
    clo_i_sql sql = clo_i_sql_start(
        ledger, "SELECT identity, created, charges, charge_hash, declarations, declaration_hash, "
                "key_id, plain_charges, plain_declarations, seal FROM ledger");
    if (clo_i_sql_row(&sql)) {
        clo_i_sql_get_bytes(&sql, 0, head->identity, LEDGER_IDENTITY);
        head->created = clo_i_sql_get_integer(&sql, 1);
        head->charges = clo_i_sql_get_units(&sql, 2);
        clo_i_sql_get_bytes(&sql, 3, head->charge_hash, LEDGER_HASH);
        head->declarations = clo_i_sql_get_units(&sql, 4);
        clo_i_sql_get_bytes(&sql, 5, head->declaration_hash, LEDGER_HASH);
        clo_i_sql_get_bytes(&sql, 6, head->key_id, LEDGER_KEY_ID);
        head->plain_charges = clo_i_sql_get_units(&sql, 7);
        head->plain_declarations = clo_i_sql_get_units(&sql, 8);
        clo_i_sql_get_bytes(&sql, 9, head->seal, LEDGER_HASH);
    } else if (sql.code == SQLITE_OK) {
        sql.code = SQLITE_CORRUPT;
    }
    return clo_i_sql_finish(&sql, err);
}

/* ---- accounts -------------------------------------------------------------- */

static clo_status require_account(clo_ledger *ledger, const char *dataset, clo_i_account *account,
                                  clo_error *err)
{
    bool found = false;
    CLO_TRY(clo_i_ledger_check_text("data set", dataset, err));
    CLO_TRY(clo_i_ledger_find_account(ledger, dataset, account, &found, err));
    if (!found)
        return clo_i_fail(err, CLO_ARGUMENT, "the ledger %s knows no data set %.120s",
                          ledger->shown, dataset);
    return CLO_OK;
}

static clo_status show_account(clo_ledger *ledger, const clo_i_effects *effects,
                               const clo_i_account *account, clo_account *out, clo_error *err)
{
    clo_i_account left = *account;
    clo_i_terms terms;
    int64_t now = 0;
    CLO_TRY(clo_i_terms_of(ledger, effects, account->name, &terms, err));
    CLO_TRY(clo_i_terms_apply(&terms, &left, err));
    CLO_TRY(clo_i_terms_now(ledger, &terms, &now, err));
    *out = (clo_account){ .struct_size = sizeof(clo_account),
                          .dataset = account->name,
                          .capped = account->capped,
                          .cap = account->cap,
                          .spent = clo_i_account_spent(account),
                          .left = clo_i_account_left(&left),
                          .charges = account->charges,
                          .created = account->created,
                          .last_charge = account->last_charge,
                          .composed = clo_i_account_composed(account),
                          .rule = clo_i_rule_name(account->rule == CLO_RULE_OPEN ? terms.rule
                                                                                 : account->rule),
                          .lowered = terms.lowered,
                          .limit = terms.limit,
                          .ended = terms.ended,
                          .expires = terms.expires };
    if (terms.ended || (terms.expires && terms.expires <= now)) out->left = (clo_loss){ 0, 0 };
    return CLO_OK;
}

static clo_status visit_accounts(clo_ledger *ledger, const clo_i_effects *effects,
                                 const char *dataset,
                                 bool (*visit)(void *user, const clo_account *account), void *user,
                                 clo_error *err)
{
    clo_i_account account;
    clo_account shown;
    char last[LEDGER_TEXT + 1] = "";
    if (dataset) {
        CLO_TRY(require_account(ledger, dataset, &account, err));
        CLO_TRY(show_account(ledger, effects, &account, &shown, err));
        visit(user, &shown);
        return CLO_OK;
    }
    for (;;) {
        bool found = false;
        CLO_TRY(fetch_account(ledger, ">", last, &account, &found, err));
        if (!found) return CLO_OK;
        memcpy(last, account.name, sizeof last);
        CLO_TRY(show_account(ledger, effects, &account, &shown, err));
        if (!visit(user, &shown)) return CLO_OK;
    }
}

clo_status clo_ledger_accounts(clo_ledger *ledger, const char *dataset,
                               bool (*visit)(void *user, const clo_account *account), void *user,
                               clo_error *err)
{
    clo_i_effects effects = { .items = NULL };
    CLO_TRY(clo_i_ledger_check(ledger, false, err));
    clo_status status = clo_i_effects_read(ledger, NULL, &effects, NULL, err);
    if (!status) status = visit_accounts(ledger, &effects, dataset, visit, user, err);
    clo_i_effects_clear(&effects);
    return status;
}

/* ---- history --------------------------------------------------------------- */

static clo_status fetch_charge(clo_ledger *ledger, int64_t dataset, uint64_t after,
                               clo_i_entry *entry, uint8_t hash[LEDGER_HASH], bool *found,
                               clo_error *err)
{
    char text[900];
    bool any = false;
    snprintf(text, sizeof text,
             "SELECT %s FROM charge c JOIN dataset d ON d.id = c.dataset WHERE %s c.sequence > ? "
             "ORDER BY c.sequence LIMIT 1",
             clo_i_ledger_charge_columns(ledger), dataset ? "c.dataset = ? AND" : "");
    clo_i_sql sql = clo_i_sql_start(ledger, text);
    if (dataset) clo_i_sql_integer(&sql, dataset);
    clo_i_sql_units(&sql, after);
    if (clo_i_sql_row(&sql)) {
        clo_i_ledger_get_charge(&sql, entry, hash);
        any = true;
    }
    CLO_TRY(clo_i_sql_finish(&sql, err));
    *found = any;
    return CLO_OK;
}

static clo_status fetch_result(clo_ledger *ledger, uint64_t sequence, uint64_t *size, int64_t *time,
                               clo_error *err)
{
    *size = 0;
    *time = 0;
    clo_i_sql sql =
        clo_i_sql_start(ledger, "SELECT length(bytes), time FROM result WHERE sequence = ?");
    clo_i_sql_units(&sql, sequence);
    if (clo_i_sql_row(&sql)) {
        *size = clo_i_sql_get_units(&sql, 0);
        *time = clo_i_sql_get_integer(&sql, 1);
    }
    return clo_i_sql_finish(&sql, err);
}

static clo_charge public_charge(const clo_i_entry *entry, const uint8_t hash[LEDGER_HASH])
{
    return (clo_charge){ .struct_size = sizeof(clo_charge),
                         .dataset = entry->dataset,
                         .mechanism = entry->mechanism,
                         .relation = entry->relation,
                         .loss = entry->asked,
                         .sequence = entry->sequence,
                         .time = entry->time,
                         .token = entry->token,
                         .epsilon = entry->cost.epsilon,
                         .delta = entry->cost.delta,
                         .rho = entry->cost.rho,
                         .rho_delta = entry->cost.rho_delta,
                         .rule = clo_i_rule_name(entry->rule),
                         .capacity = entry->capacity,
                         .format = (int)entry->format,
                         .plan = entry->plan,
                         .hash = hash,
                         .user = entry->user,
                         .host = entry->host,
                         .purpose = entry->purpose,
                         .program = entry->program };
}

clo_status clo_ledger_history(clo_ledger *ledger, const char *dataset,
                              bool (*visit)(void *user, const clo_charge *charge), void *user,
                              clo_error *err)
{
    clo_i_account account = { 0 };
    clo_i_entry entry = { 0 };
    uint8_t hash[LEDGER_HASH];
    CLO_TRY(clo_i_ledger_check(ledger, false, err));
    if (dataset) CLO_TRY(require_account(ledger, dataset, &account, err));
    for (;;) {
        bool found = false;
        CLO_TRY(fetch_charge(ledger, account.id, entry.sequence, &entry, hash, &found, err));
        if (!found) return CLO_OK;
        clo_charge shown = public_charge(&entry, hash);
        CLO_TRY(fetch_result(ledger, entry.sequence, &shown.stored, &shown.stored_at, err));
        if (!visit(user, &shown)) return CLO_OK;
    }
}

clo_status clo_ledger_find_charge(clo_ledger *ledger, uint64_t sequence,
                                  bool (*visit)(void *user, const clo_charge *charge), void *user,
                                  clo_error *err)
{
    clo_i_entry entry = { 0 };
    uint8_t hash[LEDGER_HASH];
    bool found = false;
    CLO_TRY(clo_i_ledger_check(ledger, false, err));
    if (sequence > 0) CLO_TRY(fetch_charge(ledger, 0, sequence - 1, &entry, hash, &found, err));
    if (!found || entry.sequence != sequence)
        return clo_i_fail(err, CLO_ARGUMENT, "the ledger %s has no charge %llu", ledger->shown,
                          (unsigned long long)sequence);
    clo_charge shown = public_charge(&entry, hash);
    CLO_TRY(fetch_result(ledger, sequence, &shown.stored, &shown.stored_at, err));
    visit(user, &shown);
    return CLO_OK;
}

clo_status clo_ledger_declarations(clo_ledger *ledger,
                                   bool (*visit)(void *user, const clo_declaration *declaration),
                                   void *user, clo_error *err)
{
    clo_i_declaration entry = { 0 };
    uint8_t hash[LEDGER_HASH];
    char text[400];
    CLO_TRY(clo_i_ledger_check(ledger, false, err));
    snprintf(text, sizeof text,
             "SELECT %s FROM declaration c JOIN dataset d ON d.id = c.dataset WHERE c.sequence > ? "
             "ORDER BY c.sequence LIMIT 1",
             clo_i_ledger_declaration_columns);
    for (;;) {
        clo_i_sql sql = clo_i_sql_start(ledger, text);
        clo_i_sql_units(&sql, entry.sequence);
        const bool found = clo_i_sql_row(&sql);
        if (found) clo_i_ledger_get_declaration(&sql, &entry, hash);
        CLO_TRY(clo_i_sql_finish(&sql, err));
        if (!found) return CLO_OK;
        const clo_declaration shown = { .struct_size = sizeof shown,
                                        .dataset = entry.dataset,
                                        .cap = entry.cap,
                                        .sequence = entry.sequence,
                                        .after = entry.after,
                                        .time = entry.time,
                                        .format = (int)entry.format,
                                        .hash = hash };
        if (!visit(user, &shown)) return CLO_OK;
    }
}

/* ---- facts ------------------------------------------------------------------ */

static void write_hex(char *text, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

clo_status clo_ledger_describe(clo_ledger *ledger, clo_ledger_facts *out, clo_error *err)
{
    clo_ledger_facts facts = { .schema = 0 };
    clo_i_head head;
    int64_t back = 0, schema = 0, caps = 0;
    uint64_t closed = 0;
    CLO_TRY(clo_i_check_result("clo_ledger_facts", out, err));
    CLO_TRY(clo_i_ledger_check(ledger, false, err));
    CLO_TRY(clo_i_ledger_get_head(ledger, &head, err));
    CLO_TRY(clo_i_sql_number(ledger, "PRAGMA user_version", &schema, err));
    facts.schema = (int)schema;
    write_hex(facts.identity, head.identity, LEDGER_IDENTITY);
    write_hex(facts.key_id, head.key_id, LEDGER_KEY_ID);
    facts.has_key = ledger->key.known;
    facts.has_anchor = ledger->key.known && clo_i_anchor_is_there(ledger);
    facts.created = head.created;
    facts.charges = head.charges;
    CLO_TRY(clo_i_sql_number(ledger, "SELECT count(*) FROM declaration", &caps, err));
    facts.declarations = (uint64_t)caps;
    facts.acts = head.declarations - facts.declarations;
    CLO_TRY(clo_i_act_closed(ledger, &closed, err));
    facts.closed = closed > 0;
    CLO_TRY(clo_i_sql_number(ledger, "SELECT coalesce(max(last_charge), 0) FROM dataset",
                             &facts.last_charge, err));
    CLO_TRY(clo_i_sql_number(ledger,
                             "SELECT count(*) FROM charge a JOIN charge b ON b.sequence = "
                             "a.sequence - 1 WHERE a.time < b.time",
                             &back, err));
    facts.clock_went_back = (uint64_t)back;
    clo_i_give_result(out, &facts, sizeof facts);
    return CLO_OK;
}
