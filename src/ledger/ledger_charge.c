/*
 * ledger_charge.c - the two things that spend: a declaration of a cap, and a charge.
 *
 * Both read, decide and write inside one transaction (ledger_write.c): no second writer, of this
 * file or of a copy of it, can come between the total that was read and the charge that it admitted
 * (ledger.T7, ledger.T9).  A charge is acknowledged only where the COMMIT said OK and the anchor
 * knows of it.  Where the COMMIT leaves the matter open - the disk failed while the journal was
 * being deleted - nothing is acknowledged and nothing is taken back: the charge counts as spent if
 * the next reader finds it, and no run follows from it.
 */
#include "ledger/ledger_internal.h"
#include "base/key.h"
#include <cloister/output.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void copy_name(char to[LEDGER_TEXT + 1], const char *from)
{
    memcpy(to, from, strlen(from) + 1); /* its length was checked */
}

clo_status clo_i_dataset_insert(clo_ledger *ledger, const char *name, clo_i_account *account,
                                clo_error *err)
{
    *account = (clo_i_account){ .created = ledger->clock() };
    copy_name(account->name, name);
    clo_i_sql sql = clo_i_sql_start(
        ledger, "INSERT INTO dataset (name, created, rule, base_epsilon, base_rho, capacity, "
                "relation, charges, epsilon, delta, rho, rho_delta, last_charge) "
                "VALUES (?, ?, 'open', 0, 0, 0, '', 0, 0, 0, 0, 0, 0)");
    clo_i_sql_text(&sql, name);
    clo_i_sql_integer(&sql, account->created);
    clo_i_sql_row(&sql);
    CLO_TRY(clo_i_sql_finish(&sql, err));
    account->id = sqlite3_last_insert_rowid(ledger->db);
    return CLO_OK;
}

/* The account as the transaction has read and checked it, or a new one. */
static clo_status find_or_insert(clo_ledger *ledger, const char *name, const clo_i_writing *w,
                                 clo_i_account *account, clo_error *err)
{
    if (!w->found) return clo_i_dataset_insert(ledger, name, account, err);
    *account = w->account;
    return CLO_OK;
}

static clo_status update_totals(clo_ledger *ledger, const clo_i_account *account, clo_error *err)
{
    clo_i_sql sql = clo_i_sql_start(
        ledger, "UPDATE dataset SET rule = ?, base_epsilon = ?, base_rho = ?, capacity = ?, "
                "relation = ?, charges = ?, epsilon = ?, delta = ?, rho = ?, rho_delta = ?, "
                "last_charge = ? WHERE id = ?");
    clo_i_sql_text(&sql, clo_i_rule_name(account->rule));
    clo_i_sql_units(&sql, account->base_epsilon);
    clo_i_sql_units(&sql, account->base_rho);
    clo_i_sql_units(&sql, account->capacity);
    clo_i_sql_text(&sql, account->relation);
    clo_i_sql_units(&sql, account->charges);
    clo_i_sql_units(&sql, account->spent.epsilon);
    clo_i_sql_units(&sql, account->spent.delta);
    clo_i_sql_units(&sql, account->spent.rho);
    clo_i_sql_units(&sql, account->spent.rho_delta);
    clo_i_sql_integer(&sql, account->last_charge);
    clo_i_sql_integer(&sql, account->id);
    clo_i_sql_row(&sql);
    return clo_i_sql_finish(&sql, err);
}

/* ---- charge ---------------------------------------------------------------- */

static clo_status check_charge(const clo_i_charge *charge, clo_error *err)
{
    CLO_TRY(clo_i_ledger_check_text("data set", charge->dataset, err));
    CLO_TRY(clo_i_ledger_check_text("mechanism", charge->mechanism, err));
    CLO_TRY(clo_i_ledger_check_text("relation", charge->relation, err));
    if (!isfinite(charge->loss.epsilon) || !(charge->loss.epsilon > 0))
        return clo_i_fail(err, CLO_ARGUMENT, "the epsilon of a charge must be above 0 and finite");
    if (!(charge->loss.delta >= 0 && charge->loss.delta < 1))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the delta of a charge must be at least 0 and below 1");
    if (charge->token) CLO_TRY(clo_i_ledger_check_text("token", charge->token, err));
    if (charge->along) CLO_TRY(clo_i_ledger_check_text("data set", charge->along, err));
    const char *const texts[] = { charge->user, charge->host, charge->program };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i]) CLO_TRY(clo_i_ledger_check_text("user, host or program", texts[i], err));
    if (charge->purpose && charge->purpose[0])
        CLO_TRY(clo_i_ledger_check_text("purpose", charge->purpose, err));
    if (charge->rho_delta > 0 && clo_i_cost_of(charge).delta == 0)
        return clo_i_fail(err, CLO_INTERNAL, "a charge without a delta has one in its rho");
    return CLO_OK;
}

static clo_status refuse_relation(const clo_i_account *account, const char *relation,
                                  clo_error *err)
{
    return clo_i_fail(err, CLO_BUDGET,
                      "the data set %.120s counts losses under the relation %.40s, and this run "
                      "is under %.40s: use %.40s",
                      account->name, account->relation, relation, account->relation);
}

/* after: the account as it would be. */
static clo_status refuse(const clo_i_account *before, const clo_i_account *after,
                         const clo_i_charge *charge, clo_error *err)
{
    const clo_loss left = clo_i_account_left(before), asked = charge->loss;
    const bool of_delta = asked.epsilon <= left.epsilon && asked.delta > left.delta;
    char needed[32], rest[32];
    if (after->rule == CLO_RULE_ZCDP && clo_i_cost_of(charge).rho_delta > 0)
        return clo_i_fail(
            err, CLO_BUDGET,
            "the data set '%.120s' counts its charges by zCDP, which this method does "
            "not have: choose another method",
            before->name);
    if (left.epsilon <= 0)
        return clo_i_fail(err, CLO_BUDGET, "no budget is left on '%.120s'; nothing was spent",
                          before->name);
    clo_number_text(of_delta ? asked.delta : asked.epsilon, needed);
    clo_i_left_text(of_delta ? left.delta : left.epsilon, rest);
    return clo_i_fail(err, CLO_BUDGET,
                      "not enough budget is left on '%.120s': this run needs %s %s, and "
                      "at most %s is left%s; nothing was spent",
                      before->name, of_delta ? "delta" : "epsilon", needed, rest,
                      after->rule == CLO_RULE_ZCDP ? " for a run with Gaussian noise" : "");
}

/* The account after the charge, or CLO_BUDGET. */
static clo_status admit_charge(clo_ledger *ledger, const clo_i_account *before,
                               const clo_i_terms *terms, const clo_i_charge *charge,
                               clo_i_account *after, clo_error *err)
{
    const clo_i_cost cost_of = clo_i_cost_of(charge), *const cost = &cost_of;
    int64_t now = 0;
    *after = *before;
    if (before->capped && before->charges > 0 && strcmp(before->relation, charge->relation) != 0)
        return refuse_relation(before, charge->relation, err);
    CLO_TRY(clo_i_account_settle_as(after, terms->rule, cost, err));
    clo_i_account_add(after, charge->relation, charge->loss, cost);
    /* No single release may promise less than the cap does, whatever the sums say. */
    const bool larger = before->capped && (charge->loss.epsilon > before->cap.epsilon ||
                                           charge->loss.delta > before->cap.delta);
    if (larger || !clo_i_account_covered(after)) return refuse(before, after, charge, err);
    CLO_TRY(clo_i_terms_now(ledger, terms, &now, err));
    return clo_i_terms_allow(terms, before, after, now, err); /* ledger.T15 */
}

static clo_status insert_charge(clo_ledger *ledger, int64_t dataset, const clo_i_entry *entry,
                                const uint8_t hash[LEDGER_HASH], clo_error *err)
{
    clo_i_sql sql = clo_i_sql_start(
        ledger, "INSERT INTO charge (sequence, dataset, time, mechanism, relation, asked_epsilon, "
                "asked_delta, epsilon, delta, rho, rho_delta, rule, capacity, token, plan, key_id, "
                "format, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    clo_i_sql_units(&sql, entry->sequence);
    clo_i_sql_integer(&sql, dataset);
    clo_i_sql_integer(&sql, entry->time);
    clo_i_sql_text(&sql, entry->mechanism);
    clo_i_sql_text(&sql, entry->relation);
    clo_i_sql_real(&sql, entry->asked.epsilon);
    clo_i_sql_real(&sql, entry->asked.delta);
    clo_i_sql_units(&sql, entry->cost.epsilon);
    clo_i_sql_units(&sql, entry->cost.delta);
    clo_i_sql_units(&sql, entry->cost.rho);
    clo_i_sql_units(&sql, entry->cost.rho_delta);
    clo_i_sql_text(&sql, clo_i_rule_name(entry->rule));
    clo_i_sql_units(&sql, entry->capacity);
    clo_i_sql_text(&sql, entry->token);
    clo_i_sql_bytes(&sql, entry->plan, LEDGER_PLAN);
    clo_i_sql_bytes(&sql, entry->key_id, LEDGER_KEY_ID);
    clo_i_sql_integer(&sql, entry->format);
    clo_i_sql_bytes(&sql, hash, LEDGER_HASH);
    clo_i_sql_row(&sql);
    return clo_i_sql_finish(&sql, err);
}

static clo_status insert_attribution(clo_ledger *ledger, const clo_i_entry *entry, clo_error *err)
{
    if (!entry->attributed) return CLO_OK;
    clo_i_sql sql = clo_i_sql_start(ledger, "INSERT INTO attribution (sequence, user, host, "
                                            "purpose, program) VALUES (?, ?, ?, ?, ?)");
    clo_i_sql_units(&sql, entry->sequence);
    clo_i_sql_text(&sql, entry->user);
    clo_i_sql_text(&sql, entry->host);
    clo_i_sql_text(&sql, entry->purpose);
    clo_i_sql_text(&sql, entry->program);
    clo_i_sql_row(&sql);
    return clo_i_sql_finish(&sql, err);
}

static void attribute(const clo_i_charge *charge, clo_i_entry *entry)
{
    entry->attributed = charge->user != NULL;
    if (!entry->attributed) return;
    copy_name(entry->user, charge->user);
    copy_name(entry->host, charge->host ? charge->host : "");
    copy_name(entry->purpose, charge->purpose ? charge->purpose : "");
    copy_name(entry->program, charge->program ? charge->program : "");
}

clo_status clo_i_token_random(char token[LEDGER_TEXT + 1], clo_error *err)
{
    uint8_t random[16];
    if (!clo_i_key_draw(CLO_KEY_TOKEN, random, sizeof random))
        return clo_i_fail(err, CLO_ENTROPY, "the system gave no random bytes for a token");
    clo_i_key_take(CLO_KEY_TOKEN, random, 16);
    for (size_t i = 0; i < sizeof random; i++) snprintf(token + 2 * i, 3, "%02x", random[i]);
    return CLO_OK;
}

/* The charge's token, or 16 random bytes in hexadecimal: every run has a name that no other run
 * has, and its result can be asked for again by it. */
static clo_status name_run(clo_ledger *ledger, const clo_i_charge *charge,
                           char token[LEDGER_TEXT + 1], clo_error *err)
{
    clo_i_token known;
    bool found = false;
    if (!charge->token) return clo_i_token_random(token, err);
    copy_name(token, charge->token);
    CLO_TRY(clo_i_token_find(ledger, token, &known, &found, err));
    if (!found) return CLO_OK;
    static const uint8_t none[LEDGER_PLAN];
    CLO_TRY(
        clo_i_token_check(token, &known, charge->dataset, charge->plan ? charge->plan : none, err));
    return clo_i_token_refuse(token, &known, err);
}

clo_status clo_i_charge_insert(clo_ledger *ledger, clo_i_entry *entry, clo_i_account *after,
                               clo_i_head *head, clo_error *err)
{
    entry->sequence = ++head->charges;
    entry->time = ledger->clock(); /* it may go backwards; the sequence says which came first */
    entry->rule = after->rule;
    entry->capacity = after->capacity;
    entry->format = LEDGER_KEYED;
    copy_name(entry->dataset, after->name);
    memcpy(entry->key_id, ledger->key.id, LEDGER_KEY_ID);
    clo_i_chain_charge(&ledger->key, entry, head->charge_hash);
    after->last_charge = entry->time;
    CLO_TRY(insert_charge(ledger, after->id, entry, head->charge_hash, err));
    CLO_TRY(insert_attribution(ledger, entry, err));
    CLO_TRY(update_totals(ledger, after, err));
    return clo_i_ledger_update_head(ledger, head, err);
}

/* What the charge says of its entry; the rest follows from the account. */
static void make_entry(const clo_i_charge *charge, clo_i_entry *entry)
{
    entry->asked = charge->loss;
    entry->cost = clo_i_cost_of(charge);
    copy_name(entry->mechanism, charge->mechanism);
    copy_name(entry->relation, charge->relation);
    if (charge->plan) memcpy(entry->plan, charge->plan, LEDGER_PLAN);
    attribute(charge, entry);
}

/* The same loss on each group that the data set is in, right behind it (ledger.T16).  The entries
 * have tokens of their own, since one token is one run. */
static clo_status charge_groups(clo_ledger *ledger, const clo_i_charge *charge, clo_i_writing *w,
                                clo_error *err)
{
    for (size_t i = 0; i < w->group_count; i++) {
        clo_i_entry entry = { 0 };
        clo_i_account after;
        clo_i_terms terms;
        CLO_TRY(clo_i_terms_of(ledger, &w->effects, w->groups[i].name, &terms, err));
        CLO_TRY(admit_charge(ledger, &w->groups[i], &terms, charge, &after, err));
        make_entry(charge, &entry);
        CLO_TRY(clo_i_token_random(entry.token, err));
        CLO_TRY(clo_i_charge_insert(ledger, &entry, &after, &w->head, err));
        CLO_TRY(clo_i_write_group(ledger, w, i, &after, err));
    }
    return CLO_OK;
}

static void give_receipt(const clo_i_entry *entry, const clo_i_account *after,
                         const clo_i_head *head, clo_i_receipt *receipt)
{
    *receipt = (clo_i_receipt){ .sequence = entry->sequence,
                                .capped = after->capped,
                                .time = entry->time };
    sodium_bin2hex(receipt->ledger, sizeof receipt->ledger, head->identity, LEDGER_IDENTITY);
    copy_name(receipt->dataset, entry->dataset);
    _Static_assert(sizeof receipt->token == sizeof entry->token, "a token has one size");
    memcpy(receipt->token, entry->token, sizeof receipt->token);
    memcpy(receipt->identity, head->identity, LEDGER_IDENTITY);
    memcpy(receipt->hash, head->charge_hash, LEDGER_HASH);
}

static clo_status record_charge(clo_ledger *ledger, const clo_i_charge *charge, clo_i_writing *w,
                                clo_i_receipt *receipt, clo_error *err)
{
    clo_i_head *const head = &w->head;
    clo_i_account account, after;
    clo_i_terms terms;
    clo_i_entry entry = { 0 };
    CLO_TRY(name_run(ledger, charge, entry.token, err));
    if (w->closed && !(w->found && w->account.capped)) /* ledger.T13 */
        return clo_i_closed_refuse(ledger, charge->dataset, err);
    CLO_TRY(find_or_insert(ledger, charge->dataset, w, &account, err));
    CLO_TRY(clo_i_terms_of(ledger, &w->effects, charge->dataset, &terms, err));
    CLO_TRY(admit_charge(ledger, &account, &terms, charge, &after, err));
    make_entry(charge, &entry);
    CLO_TRY(clo_i_charge_insert(ledger, &entry, &after, head, err));
    if (charge->content) CLO_TRY(clo_i_content_insert(ledger, head, charge->content, err));
    CLO_TRY(clo_i_write_account(ledger, w, &after, err));
    give_receipt(&entry, &after, head, receipt);
    return charge_groups(ledger, charge, w, err);
}

/* The total as it was before the locks: a fault that ledger.T7 excludes and a test must notice. */
static clo_status read_early(clo_ledger *ledger, const char *dataset, clo_i_writing *early,
                             clo_error *err)
{
    early->found = false;
    if (!clo_i_ledger_planted(ledger, CLO_PLANTED_EARLY_TOTAL)) return CLO_OK;
    return clo_i_ledger_find_account(ledger, dataset, &early->account, &early->found, err);
}

static clo_status charge_once(clo_ledger *ledger, const clo_i_charge *charge, clo_i_receipt *out,
                              clo_error *err)
{
    clo_i_receipt receipt;
    clo_i_writing w, early;
    CLO_TRY(read_early(ledger, charge->dataset, &early, err));
    /* That a token was never used can only be seen from all charges (ledger.T10); a random one
     * never was. */
    CLO_TRY(
        clo_i_write_begin(ledger, charge->dataset, charge->along, charge->token != NULL, &w, err));
    if (early.found) w.account = early.account;
    const clo_status status = record_charge(ledger, charge, &w, &receipt, err);
    CLO_TRY(clo_i_write_end(ledger, &w, status, err));
    *out = receipt;
    return CLO_OK;
}

clo_status clo_i_ledger_charge(clo_ledger *ledger, const clo_i_charge *charge, clo_i_receipt *out,
                               clo_error *err)
{
    CLO_TRY(clo_i_ledger_check(ledger, true, err));
    CLO_TRY(check_charge(charge, err));
    ledger->charge = charge;
    const clo_status status = charge_once(ledger, charge, out, err);
    ledger->charge = NULL;
    return status;
}

/* ---- rehearse --------------------------------------------------------------- */

static clo_status find_capped(clo_ledger *ledger, const char *name, clo_i_account *account,
                              bool *found, clo_error *err)
{
    *account = (clo_i_account){ .id = 0 };
    return clo_i_ledger_find_account(ledger, name, account, found, err);
}

/* Whether one account would take it: the data set's, a group's, or that which is charged along. */
static clo_status try_account(clo_ledger *ledger, const clo_i_effects *effects, const char *name,
                              const clo_i_charge *charge, bool needs_cap, clo_error *err)
{
    clo_i_account account, after;
    clo_i_terms terms;
    bool found = false;
    CLO_TRY(find_capped(ledger, name, &account, &found, err));
    if (needs_cap && !(found && account.capped)) return clo_i_closed_refuse(ledger, name, err);
    CLO_TRY(clo_i_terms_of(ledger, effects, name, &terms, err));
    return admit_charge(ledger, &account, &terms, charge, &after, err);
}

static clo_status try_all(clo_ledger *ledger, const clo_i_charge *charge, clo_i_effects *effects,
                          clo_error *err)
{
    uint64_t closed = 0;
    CLO_TRY(clo_i_act_closed(ledger, &closed, err));
    CLO_TRY(clo_i_effects_read(ledger, NULL, effects, NULL, err));
    CLO_TRY(try_account(ledger, effects, charge->dataset, charge, closed > 0, err));
    for (size_t i = 0; i < effects->count; i++)
        if (strcmp(effects->items[i].kind, LEDGER_ACT_MEMBER) == 0 &&
            strcmp(effects->items[i].dataset, charge->dataset) == 0)
            CLO_TRY(try_account(ledger, effects, effects->items[i].value, charge, true, err));
    return charge->along ? try_account(ledger, effects, charge->along, charge, true, err) : CLO_OK;
}

clo_status clo_i_ledger_rehearse(clo_ledger *ledger, const clo_i_charge *charge, clo_error *err)
{
    clo_i_effects effects = { .items = NULL };
    CLO_TRY(clo_i_ledger_check(ledger, false, err));
    CLO_TRY(check_charge(charge, err));
    CLO_TRY(clo_i_sql_do(ledger, "BEGIN", err));
    const clo_status status = try_all(ledger, charge, &effects, err);
    clo_i_sql_undo(ledger);
    clo_i_effects_clear(&effects);
    return status;
}

/* ---- declare --------------------------------------------------------------- */

static clo_status check_cap(clo_loss cap, clo_error *err)
{
    if (!(cap.epsilon > 0 && cap.epsilon <= LEDGER_CAP_EPSILON) ||
        clo_i_epsilon_units(cap.epsilon, false) == 0)
        return clo_i_fail(err, CLO_ARGUMENT, "the epsilon of a cap must be above 0 and at most %g",
                          LEDGER_CAP_EPSILON);
    if (!(cap.delta >= 0 && cap.delta < 1))
        return clo_i_fail(err, CLO_ARGUMENT, "the delta of a cap must be at least 0 and below 1");
    return CLO_OK;
}

static clo_status update_cap(clo_ledger *ledger, const clo_i_account *account, clo_error *err)
{
    clo_i_sql sql = clo_i_sql_start(
        ledger, "UPDATE dataset SET cap_epsilon = ?, cap_delta = ?, cap_epsilon_units = ?, "
                "cap_delta_units = ?, rule = ? WHERE id = ?");
    clo_i_sql_real(&sql, account->cap.epsilon);
    clo_i_sql_real(&sql, account->cap.delta);
    clo_i_sql_units(&sql, account->cap_epsilon);
    clo_i_sql_units(&sql, account->cap_delta);
    clo_i_sql_text(&sql, clo_i_rule_name(account->rule));
    clo_i_sql_integer(&sql, account->id);
    clo_i_sql_row(&sql);
    return clo_i_sql_finish(&sql, err);
}

static clo_status insert_declaration(clo_ledger *ledger, int64_t dataset,
                                     const clo_i_declaration *entry,
                                     const uint8_t hash[LEDGER_HASH], clo_error *err)
{
    clo_i_sql sql = clo_i_sql_start(
        ledger, "INSERT INTO declaration (sequence, after_charge, dataset, time, epsilon, delta, "
                "epsilon_units, delta_units, key_id, format, hash) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    clo_i_sql_units(&sql, entry->sequence);
    clo_i_sql_units(&sql, entry->after);
    clo_i_sql_integer(&sql, dataset);
    clo_i_sql_integer(&sql, entry->time);
    clo_i_sql_real(&sql, entry->cap.epsilon);
    clo_i_sql_real(&sql, entry->cap.delta);
    clo_i_sql_units(&sql, entry->cap_epsilon);
    clo_i_sql_units(&sql, entry->cap_delta);
    clo_i_sql_bytes(&sql, entry->key_id, LEDGER_KEY_ID);
    clo_i_sql_integer(&sql, entry->format);
    clo_i_sql_bytes(&sql, hash, LEDGER_HASH);
    clo_i_sql_row(&sql);
    return clo_i_sql_finish(&sql, err);
}

static clo_status refuse_cap(const clo_i_account *account, clo_error *err)
{
    const clo_loss spent = clo_i_account_spent(account);
    char text[2][32];
    clo_number_text(spent.epsilon, text[0]);
    clo_number_text(spent.delta, text[1]);
    if (strcmp(account->relation, "mixed") == 0)
        return clo_i_fail(err, CLO_BUDGET,
                          "the data set %.120s has charges under two relations, which cannot be "
                          "added: declare it under another name",
                          account->name);
    return clo_i_fail(
        err, CLO_BUDGET,
        "epsilon %s and delta %s were already spent on the data set %.120s, which is more than "
        "this cap: declare a larger one",
        text[0], text[1], account->name);
}

/* ledger.T13: what looks like another name is a second cap on what people take for one. */
static clo_status check_name(clo_ledger *ledger, const char *dataset, clo_error *err)
{
    char alike[LEDGER_TEXT + 1];
    CLO_TRY(clo_i_name_check(dataset, err));
    CLO_TRY(clo_i_name_find_alike(ledger, dataset, alike, err));
    if (!alike[0]) return CLO_OK;
    return clo_i_fail(err, CLO_ARGUMENT,
                      "the ledger %s has a data set '%.100s', and '%.100s' looks the same: choose "
                      "a name that looks different",
                      ledger->shown, alike, dataset);
}

clo_status clo_i_cap_insert(clo_ledger *ledger, clo_i_account *account, clo_loss cap,
                            clo_i_head *head, clo_error *err)
{
    clo_i_account_cap(account, cap);
    if (!clo_i_account_covered(account)) return refuse_cap(account, err);
    clo_i_declaration entry = { .sequence = ++head->declarations,
                                .after = head->charges,
                                .time = ledger->clock(),
                                .cap = cap,
                                .cap_epsilon = account->cap_epsilon,
                                .cap_delta = account->cap_delta,
                                .format = LEDGER_KEYED };
    copy_name(entry.dataset, account->name);
    memcpy(entry.key_id, ledger->key.id, LEDGER_KEY_ID);
    clo_i_chain_declaration(&ledger->key, &entry, head->declaration_hash);
    CLO_TRY(insert_declaration(ledger, account->id, &entry, head->declaration_hash, err));
    CLO_TRY(update_cap(ledger, account, err));
    return clo_i_ledger_update_head(ledger, head, err);
}

static clo_status record_declaration(clo_ledger *ledger, const char *dataset, clo_loss cap,
                                     clo_i_writing *w, clo_i_account *declared, clo_error *err)
{
    clo_i_account account;
    if (w->closed && !w->found) CLO_TRY(check_name(ledger, dataset, err));
    CLO_TRY(find_or_insert(ledger, dataset, w, &account, err));
    if (account.capped)
        return clo_i_fail(err, CLO_LEDGER,
                          "the data set '%.120s' already has a cap, which cannot be raised: "
                          "'cloister ledger lower' can lower it",
                          dataset);
    CLO_TRY(clo_i_cap_insert(ledger, &account, cap, &w->head, err));
    CLO_TRY(clo_i_write_account(ledger, w, &account, err));
    *declared = account;
    return CLO_OK;
}

clo_status clo_ledger_declare(clo_ledger *ledger, const char *dataset, clo_loss cap, clo_error *err)
{
    return clo_ledger_declare_data(ledger, dataset, cap, NULL, NULL, false, err);
}

clo_status clo_ledger_declare_data(clo_ledger *ledger, const char *dataset, clo_loss cap,
                                   const uint8_t *content, const char *folder, bool second,
                                   clo_error *err)
{
    clo_i_writing w;
    clo_i_account account;
    CLO_TRY(clo_i_ledger_check(ledger, true, err));
    CLO_TRY(clo_i_ledger_check_text("data set", dataset, err));
    CLO_TRY(check_cap(cap, err));
    CLO_TRY(clo_i_write_begin(ledger, dataset, NULL, false, &w, err));
    clo_status status = record_declaration(ledger, dataset, cap, &w, &account, err);
    if (!status)
        status = clo_i_content_attach(ledger, &w.head, &account, content, folder, second, err);
    return clo_i_write_end(ledger, &w, status, err);
}

/* ---- claim ------------------------------------------------------------------ */

/* Where the data set is known to lie; *same also where nothing is known of it. */
static clo_status check_origin(clo_ledger *ledger, int64_t dataset, const char *origin, bool *known,
                               char shown[168], bool *same, clo_error *err)
{
    *known = false;
    *same = true;
    clo_i_sql sql = clo_i_sql_start(ledger, "SELECT path FROM origin WHERE dataset = ?");
    clo_i_sql_integer(&sql, dataset);
    if (clo_i_sql_row(&sql)) {
        const char *const path = (const char *)sqlite3_column_text(sql.statement, 0);
        *known = true;
        *same = path && strcmp(path, origin) == 0;
        clo_i_ledger_show_path(shown, path ? path : "");
    }
    return clo_i_sql_finish(&sql, err);
}

static clo_status insert_origin(clo_ledger *ledger, int64_t dataset, const char *origin,
                                clo_error *err)
{
    clo_i_sql sql =
        clo_i_sql_start(ledger, "INSERT OR IGNORE INTO origin (dataset, path) VALUES (?, ?)");
    clo_i_sql_integer(&sql, dataset);
    clo_i_sql_text(&sql, origin);
    clo_i_sql_row(&sql);
    return clo_i_sql_finish(&sql, err);
}

clo_status clo_ledger_claim(clo_ledger *ledger, const char *dataset, const char *origin,
                            clo_error *err)
{
    clo_i_account account;
    char shown[168];
    bool found = false, known = false, same = false;
    CLO_TRY(clo_i_ledger_check(ledger, true, err));
    CLO_TRY(clo_i_ledger_check_text("data set", dataset, err));
    if (!origin || !origin[0])
        return clo_i_fail(err, CLO_ARGUMENT, "the origin of a data set must not be empty");
    CLO_TRY(clo_i_ledger_find_account(ledger, dataset, &account, &found, err));
    if (!found) return CLO_OK;
    CLO_TRY(check_origin(ledger, account.id, origin, &known, shown, &same, err));
    if (!same)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the ledger %s has another file under the name %.100s, %s: give this one "
                          "another name, or, if both are the same data, that name",
                          ledger->shown, dataset, shown);
    return known ? CLO_OK : insert_origin(ledger, account.id, origin, err);
}
