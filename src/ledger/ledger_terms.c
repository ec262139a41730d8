/*
 * ledger_terms.c - acts that narrow what is admitted (ledger.T15, ledger.T16).
 *
 * A cap is declared once and never grows.  What a steward may want later is less: a lower cap, an
 * end, a day from which on nothing is charged, and that what is charged on one data set counts for
 * a group too, because persons are in several.  Each is an act of the second chain, and nothing
 * takes one back.  They decide, so their hashes are in the sum that the anchor keeps: a copy in
 * which one is missing is noticed as one with another total is (ledger.T9).
 *
 * The detail of such an act is text: a line with a value, and a line with what the steward says.
 */
#include "ledger/ledger_internal.h"
#include <cloister/output.h>
#include <cloister/steward.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ------------------------------------------------------------------ */

void clo_i_effects_clear(clo_i_effects *effects)
{
    clo_i_free(effects->items);
    *effects = (clo_i_effects){ .items = NULL };
}

static clo_status append(clo_i_effects *effects, const clo_i_effect *effect, clo_error *err)
{
    if (effects->count == effects->room) {
        const size_t room = effects->room ? 2 * effects->room : 8;
        clo_i_effect *larger = NULL;
        CLO_TRY(clo_i_alloc(room, sizeof *larger, &larger, err));
        if (effects->count > 0) memcpy(larger, effects->items, effects->count * sizeof *larger);
        clo_i_free(effects->items);
        effects->items = larger;
        effects->room = room;
    }
    effects->items[effects->count++] = *effect;
    return CLO_OK;
}

/* The first line of a detail. */
static bool take_value(const clo_i_act *act, char value[LEDGER_TEXT + 1])
{
    const uint8_t *const end = act->length ? memchr(act->detail, '\n', act->length) : NULL;
    const size_t length = end ? (size_t)(end - act->detail) : act->length;
    if (length > LEDGER_TEXT) return false;
    if (length > 0) memcpy(value, act->detail, length);
    value[length] = 0;
    return true;
}

static clo_status read_acts(clo_ledger *ledger, clo_i_sql *sql,
                            const uint8_t identity[LEDGER_IDENTITY], clo_i_effects *out,
                            uint8_t *sum, clo_error *err)
{
    while (clo_i_sql_row(sql)) {
        uint8_t hash[LEDGER_HASH];
        clo_i_effect effect;
        clo_i_act act;
        clo_i_act_get(sql, &act, hash);
        memcpy(effect.kind, act.kind, sizeof effect.kind);
        memcpy(effect.dataset, act.dataset, sizeof effect.dataset);
        if (!take_value(&act, effect.value)) {
            sql->code = SQLITE_CORRUPT;
            return CLO_OK;
        }
        if (sum) {
            clo_i_chain_effect(&ledger->key, identity, act.sequence, act.kind, act.dataset,
                               effect.value, hash);
            sodium_add(sum, hash, LEDGER_HASH);
        }
        CLO_TRY(append(out, &effect, err));
    }
    return CLO_OK;
}

clo_status clo_i_effects_read(clo_ledger *ledger, const uint8_t identity[LEDGER_IDENTITY],
                              clo_i_effects *out, uint8_t *sum, clo_error *err)
{
    char text[400];
    clo_i_effects_clear(out);
    if (ledger->schema < 4) return CLO_OK;
    snprintf(text, sizeof text,
             "SELECT %s FROM act c LEFT JOIN dataset d ON d.id = c.dataset WHERE c.kind IN "
             "('lower', 'end', 'expire', 'member', 'rule') ORDER BY c.sequence",
             clo_i_act_columns);
    clo_i_sql sql = clo_i_sql_start(ledger, text);
    const clo_status status = read_acts(ledger, &sql, identity, out, sum, err);
    const clo_status finished = clo_i_sql_finish(&sql, status ? NULL : err);
    return status ? status : finished;
}

uint64_t clo_i_terms_count(const clo_i_effects *effects, const char *dataset)
{
    uint64_t count = 0;
    for (size_t i = 0; i < effects->count; i++)
        count += strcmp(effects->items[i].dataset, dataset) == 0;
    return count;
}

static bool scan_loss(const char *text, clo_loss *out)
{
    const char *const blank = clo_i_parse_double(text, &out->epsilon);
    if (!blank || *blank != ' ') return false;
    const char *const end = clo_i_parse_double(blank + 1, &out->delta);
    return end && *end == 0;
}

static bool scan_time(const char *text, int64_t *out)
{
    char *end = NULL;
    *out = strtoll(text, &end, 10);
    return end != text && *end == 0 && *out > 0;
}

/* Of several the narrowest counts; the last loss, since each was lower than the one before. */
clo_status clo_i_terms_of(const clo_ledger *ledger, const clo_i_effects *effects,
                          const char *dataset, clo_i_terms *out, clo_error *err)
{
    clo_i_terms terms = { .ended = false };
    bool right = true;
    for (size_t i = 0; right && i < effects->count; i++) {
        const clo_i_effect *const effect = &effects->items[i];
        int64_t expires = 0;
        if (strcmp(effect->dataset, dataset) != 0) continue;
        if (strcmp(effect->kind, LEDGER_ACT_END) == 0) terms.ended = true;
        if (strcmp(effect->kind, LEDGER_ACT_LOWER) == 0)
            right = terms.lowered = scan_loss(effect->value, &terms.limit);
        if (strcmp(effect->kind, LEDGER_ACT_RULE) == 0)
            right = clo_i_rule_find(effect->value, &terms.rule);
        if (strcmp(effect->kind, LEDGER_ACT_EXPIRE) == 0) {
            right = scan_time(effect->value, &expires);
            if (terms.expires == 0 || expires < terms.expires) terms.expires = expires;
        }
    }
    if (!right)
        return clo_i_fail(err, CLO_LEDGER,
                          "the ledger %s was changed: an entry about the data set %.120s cannot "
                          "be read; keep the file and restore a backup",
                          ledger->shown, dataset);
    *out = terms;
    return CLO_OK;
}

/* ---- deciding: ledger.T15 ------------------------------------------------------- */

clo_status clo_i_terms_apply(const clo_i_terms *terms, clo_i_account *account, clo_error *err)
{
    uint64_t capacity = 0;
    if (!terms->lowered || !account->capped) return CLO_OK;
    account->cap = terms->limit;
    account->cap_epsilon = clo_i_epsilon_units(terms->limit.epsilon, false);
    account->cap_delta = clo_i_delta_units(terms->limit.delta, false);
    if (account->rule != CLO_RULE_ZCDP) return CLO_OK;
    CLO_TRY(clo_i_account_capacity(account, &capacity, err));
    if (capacity < account->capacity) account->capacity = capacity;
    return CLO_OK;
}

/* A clock that was put back does not bring back what has expired. */
clo_status clo_i_terms_now(clo_ledger *ledger, const clo_i_terms *terms, int64_t *now,
                           clo_error *err)
{
    int64_t latest = 0;
    *now = 0;
    if (!terms->expires) return CLO_OK; /* nobody asks */
    *now = ledger->clock();
    CLO_TRY(clo_i_sql_number(ledger,
                             "SELECT max(time) FROM (SELECT time FROM charge UNION ALL SELECT time "
                             "FROM declaration UNION ALL SELECT time FROM act UNION ALL SELECT "
                             "time FROM result)",
                             &latest, err));
    if (latest > *now) *now = latest;
    return CLO_OK;
}

clo_status clo_i_terms_allow(const clo_i_terms *terms, const clo_i_account *before,
                             const clo_i_account *after, int64_t now, clo_error *err)
{
    clo_i_account lowered = *after, now_left = *before;
    char text[4][CLO_NUMBER_SIZE];
    if (terms->ended)
        return clo_i_fail(err, CLO_BUDGET,
                          "the data set %.120s was closed by its steward: no more runs are "
                          "possible",
                          after->name);
    if (terms->expires && now >= terms->expires)
        return clo_i_fail(err, CLO_BUDGET,
                          "the budget of the data set %.120s has expired: no more runs are "
                          "possible",
                          after->name);
    CLO_TRY(clo_i_terms_apply(terms, &lowered, err));
    if (clo_i_account_covered(&lowered)) return CLO_OK;
    clo_number_text(terms->limit.epsilon, text[0]);
    clo_number_text(terms->limit.delta, text[1]);
    CLO_TRY(clo_i_terms_apply(terms, &now_left, err));
    const clo_loss left = clo_i_account_left(&now_left);
    clo_i_left_text(left.epsilon, text[2]);
    clo_i_left_text(left.delta, text[3]);
    return clo_i_fail(
        err, CLO_BUDGET,
        "not enough budget is left on the data set %.120s: its cap was lowered to epsilon %s and "
        "delta %s, of which epsilon %s and delta %s are left",
        after->name, text[0], text[1], text[2], text[3]);
}

/* ---- groups: ledger.T16 ----------------------------------------------------------- */

/* Behind each charge on a member, by the order of its memberships, stand those on its groups. */
clo_status clo_i_terms_verify(clo_ledger *ledger, uint64_t *wrong, clo_error *err)
{
    *wrong = 0;
    if (ledger->schema < 4) return CLO_OK;
    clo_i_sql sql = clo_i_sql_start(
        ledger,
        "SELECT c.sequence FROM act a JOIN charge c ON c.dataset = a.dataset AND c.sequence > "
        "a.after_charge AND c.mechanism <> 'restore' LEFT JOIN charge g ON g.sequence = c.sequence "
        "+ (SELECT count(*) FROM act b WHERE b.kind = 'member' AND b.dataset = a.dataset AND "
        "b.sequence <= a.sequence) LEFT JOIN dataset d ON d.id = g.dataset WHERE a.kind = 'member' "
        "AND (d.name IS NOT CAST(substr(a.detail, 1, instr(a.detail, x'0a') - 1) AS TEXT) OR "
        "g.epsilon IS NOT c.epsilon OR g.delta IS NOT c.delta OR g.rho IS NOT c.rho) ORDER BY "
        "c.sequence LIMIT 1");
    if (clo_i_sql_row(&sql)) *wrong = clo_i_sql_get_units(&sql, 0);
    return clo_i_sql_finish(&sql, err);
}

/* ---- what a steward calls ------------------------------------------------------------ */

static clo_status check_note(const char *note, clo_error *err)
{
    if (!note || !note[0])
        return clo_i_fail(err, CLO_ARGUMENT, "give a note that states the reason");
    return clo_i_ledger_check_text("note", note, err);
}

/* Inserts the act, whose effect the anchor's sum has from then on. */
static clo_status insert_effect(clo_ledger *ledger, clo_i_writing *w, const char *kind,
                                const char *value, const char *note, clo_error *err)
{
    char detail[2 * LEDGER_TEXT + 2];
    uint8_t hash[LEDGER_HASH];
    clo_i_effect effect;
    clo_i_act act = { .dataset_id = w->account.id, .detail = (const uint8_t *)detail };
    act.length = (size_t)snprintf(detail, sizeof detail, "%s\n%s", value, note);
    snprintf(act.kind, sizeof act.kind, "%s", kind);
    memcpy(act.dataset, w->account.name, sizeof act.dataset);
    CLO_TRY(clo_i_act_insert(ledger, &act, &w->head, err));
    clo_i_chain_effect(&ledger->key, w->head.identity, w->head.declarations, kind, act.dataset,
                       value, hash);
    sodium_add(w->sum, hash, LEDGER_HASH);
    snprintf(effect.kind, sizeof effect.kind, "%s", kind);
    snprintf(effect.value, sizeof effect.value, "%s", value);
    memcpy(effect.dataset, act.dataset, sizeof effect.dataset);
    CLO_TRY(append(&w->effects, &effect, err));
    /* Its slot counts the act. */
    return clo_i_write_account(ledger, w, &w->account, err);
}

static clo_status require_cap(const clo_ledger *ledger, const clo_i_writing *w, const char *dataset,
                              clo_error *err)
{
    if (w->found && w->account.capped) return CLO_OK;
    return clo_i_fail(err, CLO_ARGUMENT, "the ledger %s has no cap on a data set '%.120s'",
                      ledger->shown, dataset);
}

typedef clo_status narrow(clo_ledger *ledger, clo_i_writing *w, const void *what, const char *note,
                          clo_error *err);

static clo_status act_on(clo_ledger *ledger, const char *dataset, const char *along, narrow *how,
                         const void *what, const char *note, clo_error *err)
{
    clo_i_writing w;
    CLO_TRY(clo_i_ledger_check(ledger, true, err));
    CLO_TRY(clo_i_ledger_check_text("data set", dataset, err));
    CLO_TRY(check_note(note, err));
    CLO_TRY(clo_i_write_begin(ledger, dataset, along, true, &w, err));
    clo_status status = require_cap(ledger, &w, dataset, err);
    if (!status) status = how(ledger, &w, what, note, err);
    return clo_i_write_end(ledger, &w, status, err);
}

static clo_status lower(clo_ledger *ledger, clo_i_writing *w, const void *what, const char *note,
                        clo_error *err)
{
    const clo_loss limit = *(const clo_loss *)what;
    char value[2 * CLO_NUMBER_SIZE + 2], text[2][CLO_NUMBER_SIZE];
    clo_i_terms terms;
    CLO_TRY(clo_i_terms_of(ledger, &w->effects, w->account.name, &terms, err));
    const clo_loss now = terms.lowered ? terms.limit : w->account.cap;
    if (!(limit.epsilon > 0 && limit.epsilon <= now.epsilon && limit.delta >= 0 &&
          limit.delta <= now.delta))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a cap can only be lowered: give an epsilon above 0 and at most the "
                          "present one, and a delta of at most the present one");
    clo_number_text(limit.epsilon, text[0]);
    clo_number_text(limit.delta, text[1]);
    snprintf(value, sizeof value, "%s %s", text[0], text[1]);
    return insert_effect(ledger, w, LEDGER_ACT_LOWER, value, note, err);
}

clo_status clo_ledger_lower(clo_ledger *ledger, const char *dataset, clo_loss cap, const char *note,
                            clo_error *err)
{
    return act_on(ledger, dataset, NULL, lower, &cap, note, err);
}

static clo_status end(clo_ledger *ledger, clo_i_writing *w, const void *what, const char *note,
                      clo_error *err)
{
    (void)what;
    return insert_effect(ledger, w, LEDGER_ACT_END, "for good", note, err);
}

clo_status clo_ledger_end(clo_ledger *ledger, const char *dataset, const char *note, clo_error *err)
{
    return act_on(ledger, dataset, NULL, end, NULL, note, err);
}

static clo_status expire(clo_ledger *ledger, clo_i_writing *w, const void *what, const char *note,
                         clo_error *err)
{
    const int64_t time = *(const int64_t *)what;
    char value[32];
    if (time <= 0)
        return clo_i_fail(err, CLO_ARGUMENT, "the day on which it ends must be after 1970");
    snprintf(value, sizeof value, "%lld", (long long)time);
    return insert_effect(ledger, w, LEDGER_ACT_EXPIRE, value, note, err);
}

clo_status clo_ledger_expire(clo_ledger *ledger, const char *dataset, int64_t time,
                             const char *note, clo_error *err)
{
    return act_on(ledger, dataset, NULL, expire, &time, note, err);
}

static clo_status choose(clo_ledger *ledger, clo_i_writing *w, const void *what, const char *note,
                         clo_error *err)
{
    const char *const name = what;
    clo_i_rule rule;
    clo_i_terms terms;
    CLO_TRY(clo_i_terms_of(ledger, &w->effects, w->account.name, &terms, err));
    if (!clo_i_rule_find(name, &rule) || rule == CLO_RULE_OPEN)
        return clo_i_fail(err, CLO_ARGUMENT, "a rule is basic or zcdp, not '%.40s'", name);
    if (w->account.rule != CLO_RULE_OPEN || terms.rule != CLO_RULE_OPEN)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the rule of '%.120s' is already decided and cannot change",
                          w->account.name);
    return insert_effect(ledger, w, LEDGER_ACT_RULE, name, note, err);
}

clo_status clo_ledger_choose_rule(clo_ledger *ledger, const char *dataset, const char *rule,
                                  const char *note, clo_error *err)
{
    if (!rule) return clo_i_fail(err, CLO_ARGUMENT, "a rule is basic or zcdp");
    return act_on(ledger, dataset, NULL, choose, rule, note, err);
}

/* A group of groups would have to be charged through all of them: there is none. */
static clo_status check_levels(const clo_i_writing *w, const char *group, clo_error *err)
{
    for (size_t i = 0; i < w->effects.count; i++) {
        const clo_i_effect *const effect = &w->effects.items[i];
        if (strcmp(effect->kind, LEDGER_ACT_MEMBER) != 0) continue;
        if (strcmp(effect->dataset, w->account.name) == 0 && strcmp(effect->value, group) == 0)
            return clo_i_fail(err, CLO_ARGUMENT, "the data set %.100s is in the group %.100s",
                              effect->dataset, group);
        if (strcmp(effect->dataset, group) == 0 || strcmp(effect->value, w->account.name) == 0)
            return clo_i_fail(
                err, CLO_ARGUMENT, "a group holds data sets and no groups: %.100s is %s", group,
                strcmp(effect->dataset, group) == 0 ? "in one itself" : "to hold a group");
    }
    if (strcmp(w->account.name, group) == 0)
        return clo_i_fail(err, CLO_ARGUMENT, "a data set is not in a group of its own");
    return CLO_OK;
}

/* What the member has spent before counts for the group, as one charge. */
static clo_status charge_past(clo_ledger *ledger, clo_i_writing *w, const char *note,
                              clo_error *err)
{
    const clo_i_account *const member = &w->account;
    clo_i_account *const group = &w->groups[w->group_count - 1], after = *group;
    clo_i_entry entry = { .cost = member->spent, .attributed = true };
    if (member->charges == 0) return CLO_OK;
    entry.cost.rho = LEDGER_UNITS_LIMIT; /* many charges, chosen as answers came: added (T4) */
    entry.asked = clo_i_cost_asked(&entry.cost);
    if (group->charges > 0 && strcmp(group->relation, member->relation) != 0)
        return clo_i_fail(
            err, CLO_BUDGET,
            "the group %.80s counts losses under the relation %.40s, and the data set "
            "%.80s has some under %.40s",
            group->name, group->relation, member->name, member->relation);
    CLO_TRY(clo_i_account_settle(&after, &entry.cost, err));
    clo_i_account_add(&after, member->relation, entry.asked, &entry.cost);
    if (!clo_i_account_covered(&after))
        return clo_i_fail(err, CLO_BUDGET,
                          "the cap of the group %.100s does not cover what was spent on %.100s "
                          "before: declare a group with a larger one",
                          group->name, member->name);
    snprintf(entry.mechanism, sizeof entry.mechanism, "group");
    snprintf(entry.relation, sizeof entry.relation, "%s", member->relation);
    snprintf(entry.user, sizeof entry.user, "steward");
    snprintf(entry.host, sizeof entry.host, "-");
    snprintf(entry.purpose, sizeof entry.purpose, "%s", note);
    snprintf(entry.program, sizeof entry.program, "cloister " CLO_VERSION);
    CLO_TRY(clo_i_token_random(entry.token, err));
    CLO_TRY(clo_i_charge_insert(ledger, &entry, &after, &w->head, err));
    return clo_i_write_group(ledger, w, w->group_count - 1, &after, err);
}

static clo_status join(clo_ledger *ledger, clo_i_writing *w, const void *what, const char *note,
                       clo_error *err)
{
    const char *const group = what;
    CLO_TRY(check_levels(w, group, err));
    CLO_TRY(charge_past(ledger, w, note, err));
    return insert_effect(ledger, w, LEDGER_ACT_MEMBER, group, note, err);
}

clo_status clo_ledger_join(clo_ledger *ledger, const char *dataset, const char *group,
                           const char *note, clo_error *err)
{
    CLO_TRY(clo_i_ledger_check_text("group", group, err));
    return act_on(ledger, dataset, group, join, group, note, err);
}

/* ---- what the books say ---------------------------------------------------------------- */

enum { DETAIL = 700 }; /* of what is shown of an act; a longer one is cut */

static clo_status fetch_act(clo_ledger *ledger, uint64_t after, clo_i_act *act,
                            char detail[DETAIL + 1], bool *found, clo_error *err)
{
    uint8_t hash[LEDGER_HASH];
    char text[500];
    snprintf(
        text, sizeof text,
        "SELECT %s FROM act c LEFT JOIN dataset d ON d.id = c.dataset WHERE c.sequence > ? AND "
        "c.kind NOT IN ('result', 'content') ORDER BY c.sequence LIMIT 1",
        clo_i_act_columns);
    clo_i_sql sql = clo_i_sql_start(ledger, text);
    clo_i_sql_units(&sql, after);
    *found = clo_i_sql_row(&sql);
    if (*found) {
        clo_i_act_get(&sql, act, hash);
        const bool bytes = strcmp(act->kind, LEDGER_ACT_KEY) == 0;
        if (bytes)
            sodium_bin2hex(detail, DETAIL + 1, act->detail, act->length < 32 ? act->length : 32);
        else
            snprintf(detail, DETAIL + 1, "%.*s", (int)act->length,
                     act->length ? (const char *)act->detail : "");
    }
    return clo_i_sql_finish(&sql, err);
}

clo_status clo_ledger_acts(clo_ledger *ledger, bool (*visit)(void *user, const clo_act *act),
                           void *user, clo_error *err)
{
    clo_i_act act = { .sequence = 0 };
    char detail[DETAIL + 1];
    bool found = true;
    CLO_TRY(clo_i_ledger_check(ledger, false, err));
    while (found && ledger->schema >= 4) {
        CLO_TRY(fetch_act(ledger, act.sequence, &act, detail, &found, err));
        if (!found) break;
        char *const line = strchr(detail, '\n');
        if (line) *line = 0;
        const clo_act shown = { .struct_size = sizeof shown,
                                .kind = act.kind,
                                .dataset = act.dataset,
                                .value = detail,
                                .note = line ? line + 1 : "",
                                .sequence = act.sequence,
                                .after = act.after,
                                .time = act.time };
        if (!visit(user, &shown)) break;
    }
    return CLO_OK;
}
