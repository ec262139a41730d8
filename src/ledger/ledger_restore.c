/*
 * ledger_restore.c - from a copy back to a ledger, with what was lost charged (ledger.T17).
 *
 * A copy that is put back knows nothing of what was spent since it was made.  The anchor does: how
 * far the ledger had come, and in its slots what had been spent on each data set.  Where both are
 * there and agree, exactly what is missing is charged.  Where they are not - the anchor is lost, a
 * slot does not fit, an act that narrowed something is missing - nobody knows, and all that is left
 * of the cap is charged, unless the steward answers for a number with a note.  Either way an act
 * says for good that there is a gap.
 *
 *   copy     into a draft beside the ledger, checked from its first charge on
 *   lock     the anchor: nobody charges any copy from here on
 *   compare  the copy with the anchor's end and slots
 *   write    the act and the missing charges into the draft
 *   anchor   its end is the draft's from now on, and every other copy is an old one
 *   rename   the draft to its place
 *
 * If the process dies before the anchor, nothing has changed.  If it dies after it, the draft is
 * the ledger that the anchor tells of, and the next call finishes it.
 */
#include "ledger/ledger_internal.h"
#include <cloister/steward.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef unsigned long long number;

#ifdef CLO_FAULT_INJECTION
bool clo_i_restore_forgets;
#else
#define clo_i_restore_forgets false
#endif

typedef struct restoring {
    const clo_restoration *given;
    bool (*visit)(void *user, const clo_restored *restored);
    void *user;
    char draft[PATH_MAX], place[PATH_MAX];
    clo_ledger *ledger; /* the draft */
    clo_i_held held;
    clo_i_writing w;
    bool there, readable; /* the anchor */
    bool behind;          /* the copy lacks something */
    bool known;           /* the slots hold all that was acknowledged */
    bool keeps_draft;     /* it is not of this call, or the anchor tells of it, or soon does */
    clo_i_slot *slots;    /* of all data sets, by their numbers from 1; number 0: none */
    int64_t slot_count;
} restoring;

void clo_restoration_init(clo_restoration *restoration, size_t size)
{
    static const clo_restoration presets = { .struct_size = sizeof presets };
    clo_i_give_presets(restoration, size, &presets, sizeof presets);
}

/* ---- the draft ---------------------------------------------------------------- */

static clo_status check_places(restoring *r, clo_error *err)
{
    const char *const ledger = r->given->ledger;
    char text[128];
    const int length = snprintf(r->draft, sizeof r->draft, "%s.restoring", ledger);
    if (length < 0 || length >= PATH_MAX)
        return clo_i_fail(err, CLO_ARGUMENT, "the path of a ledger is too long");
    const bool there = access(ledger, F_OK) == 0;
    const int number_of = errno;
    if (!there && !clo_i_ledger_is_gone(ledger))
        return clo_i_fail(err, CLO_LEDGER, "cannot check whether there is a file at %.160s: %s",
                          ledger, strerror_r(number_of, text, sizeof text));
    if (!there) CLO_TRY(clo_i_ledger_check_name(ledger, err));
    if (r->given->backup && there)
        return clo_i_fail(err, CLO_LEDGER,
                          "there is a file at %.160s: move it away first, and keep it", ledger);
    if (!r->given->backup && !there)
        return clo_i_fail(err, CLO_LEDGER, "there is no file at %.160s: name a backup", ledger);
    return CLO_OK;
}

static clo_status make_draft(restoring *r, clo_error *err)
{
    clo_ledger *copy = NULL;
    CLO_TRY(clo_i_ledger_open_detached(r->given->backup ? r->given->backup : r->given->ledger, true,
                                       &copy, err));
    clo_status status = clo_i_ledger_verify_file(copy, err);
    if (!status) status = clo_i_ledger_remove_draft(r->draft, err);
    r->keeps_draft = status != CLO_OK;
    if (!status) status = clo_i_ledger_copy(copy, r->draft, err);
    clo_ledger_close(copy);
    if (!status) status = clo_i_ledger_open_detached(r->draft, false, &r->ledger, err);
    return status;
}

/* ---- what the anchor knows ------------------------------------------------------ */

/* A disk that fails is no slot that is lost: it would cost the whole cap. */
static clo_status fail_to_read(const restoring *r, clo_error *err)
{
    char shown[168], text[128];
    const int number_of = errno;
    clo_i_ledger_show_path(shown, r->ledger->anchor.path);
    return clo_i_fail(err, CLO_LEDGER, "the anchor %s cannot be read: %s", shown,
                      strerror_r(number_of, text, sizeof text));
}

/* All slots; whether they are all that was acknowledged, by the count of charges. */
static clo_status read_slots(restoring *r, clo_error *err)
{
    const char *const identity = strrchr(r->ledger->anchor.path, '/') + 1;
    uint64_t counted = 0;
    int64_t rows = 0;
    CLO_TRY(clo_i_sql_number(r->ledger, "SELECT coalesce(max(id), 0) FROM dataset", &rows, err));
    r->slot_count = r->readable ? clo_i_slot_count(r->held.file) : 0;
    if (r->slot_count < 0) return fail_to_read(r, err);
    if (rows > r->slot_count) r->slot_count = rows;
    CLO_TRY(clo_i_alloc((size_t)r->slot_count + 1, sizeof *r->slots, &r->slots, err));
    for (int64_t id = 1; r->readable && id <= r->slot_count; id++) {
        uint64_t acknowledged = 0;
        if (!clo_i_slot_read(&r->ledger->key, identity, r->held.file, id, r->held.note.mark.charges,
                             &r->slots[id], &acknowledged))
            r->slots[id].account.id = 0;
        if (errno) return fail_to_read(r, err);
        counted += acknowledged;
    }
    r->known = r->readable && counted == r->held.note.mark.charges;
    return CLO_OK;
}

static clo_status look_at_anchor(restoring *r, clo_error *err)
{
    CLO_TRY(clo_i_ledger_get_head(r->ledger, &r->w.head, err));
    CLO_TRY(clo_i_anchor_find(r->ledger, &r->w.head, err));
    CLO_TRY(clo_i_anchor_open(r->ledger, &r->held, &r->there, &r->readable, err));
    r->behind = true;
    if (r->readable && r->held.note.mark.charges == LEDGER_MOVED)
        return clo_i_fail(err, CLO_LEDGER,
                          "the ledger was moved to another machine: restore it there");
    if (r->readable)
        CLO_TRY(clo_i_anchor_is_behind(r->ledger, &r->held.note, &r->w.head, &r->behind, err));
    return read_slots(r, err);
}

/* ---- what is charged -------------------------------------------------------------- */

static clo_status charge(restoring *r, clo_i_account *account, const char *relation,
                         clo_i_cost cost, clo_loss asked, clo_error *err)
{
    clo_i_entry entry = { .cost = cost, .asked = asked, .attributed = true };
    if (entry.cost.epsilon == 0) entry.cost.epsilon = 1;
    if (entry.cost.rho == 0) entry.cost.rho = 1;
    if (!(entry.asked.epsilon > 0)) entry.asked.epsilon = 0x1p-48;
    snprintf(entry.mechanism, sizeof entry.mechanism, LEDGER_RESTORED);
    snprintf(entry.relation, sizeof entry.relation, "%s", relation[0] ? relation : "replace");
    snprintf(entry.user, sizeof entry.user, "steward");
    snprintf(entry.host, sizeof entry.host, "-");
    snprintf(entry.purpose, sizeof entry.purpose, "%s", r->given->note);
    snprintf(entry.program, sizeof entry.program, "cloister " CLO_VERSION);
    CLO_TRY(clo_i_token_random(entry.token, err));
    clo_i_account_add(account, entry.relation, entry.asked, &entry.cost);
    return clo_i_charge_insert(r->ledger, &entry, account, &r->w.head, err);
}

static uint64_t more(uint64_t than, uint64_t have)
{
    if (than <= have) return 0;
    return than < LEDGER_UNITS_LIMIT ? than - have : LEDGER_UNITS_LIMIT; /* "at least" */
}

static clo_i_cost missing(const clo_i_cost *was, const clo_i_cost *have)
{
    return (clo_i_cost){ more(was->epsilon, have->epsilon), more(was->delta, have->delta),
                         more(was->rho, have->rho), more(was->rho_delta, have->rho_delta) };
}

static bool is_nothing(const clo_i_cost *cost)
{
    return cost->epsilon == 0 && cost->delta == 0 && cost->rho == 0 && cost->rho_delta == 0;
}

/* One entry that takes the account to the state that the slot tells, under the slot's rule. */
static clo_status charge_up_to(restoring *r, clo_i_account *account, const clo_i_account *was,
                               const clo_i_cost *total, clo_i_rule rule, clo_error *err)
{
    const clo_i_cost cost = missing(total, &account->spent);
    if (is_nothing(&cost)) return CLO_OK;
    /* A copy of another branch may lack a rho alone, which counts under zcdp and nowhere else; and
     * an account that is full takes no unit more. */
    if (rule != CLO_RULE_ZCDP && cost.epsilon == 0 &&
        (cost.delta == 0 || account->spent.epsilon >= account->cap_epsilon))
        return CLO_OK;
    const bool single = was->charges == 1 && account->charges == 0;
    if (rule != account->rule) {
        account->rule = rule;
        account->base_epsilon = rule == CLO_RULE_ZCDP ? account->spent.epsilon : 0;
        account->base_rho = rule == CLO_RULE_ZCDP ? account->spent.rho : 0;
        account->capacity = rule == CLO_RULE_ZCDP ? was->capacity : 0;
    }
    return charge(r, account, was->relation, cost, single ? was->first : clo_i_cost_asked(&cost),
                  err);
}

/* Exactly what the slot has more than the copy.  Where losses count by zcdp since, what was spent
 * before comes first, so that it counts as it did. */
static clo_status charge_known(restoring *r, clo_i_account *account, const clo_i_account *was,
                               clo_error *err)
{
    if (was->rule == CLO_RULE_ZCDP && account->rule == CLO_RULE_OPEN) {
        const clo_i_cost before = { was->base_epsilon, 0, was->base_rho, 0 };
        if (was->base_epsilon > account->spent.epsilon)
            CLO_TRY(charge_up_to(r, account, was, &before, CLO_RULE_OPEN, err));
    }
    return charge_up_to(r, account, was, &was->spent, was->rule, err);
}

static clo_status charge_rest(restoring *r, clo_i_account *account, clo_error *err)
{
    const clo_i_cost rest = clo_i_account_rest(account);
    if (!account->capped || rest.epsilon == 0) return CLO_OK;
    if (account->rule == CLO_RULE_OPEN && rest.delta > 0) account->rule = CLO_RULE_BASIC;
    return charge(r, account, account->relation, rest, clo_i_cost_asked(&rest), err);
}

/* "NAME=E:D,...": what the steward says of this one. */
static bool find_stated(const char *lost, const char *name, clo_loss *out)
{
    const size_t length = strlen(name);
    for (const char *at = lost; at && *at;) {
        const char *const comma = strchr(at, ',');
        if (strncmp(at, name, length) == 0 && at[length] == '=') {
            const char *end = clo_i_parse_double(at + length + 1, &out->epsilon);
            out->delta = 0;
            if (end && *end == ':') end = clo_i_parse_double(end + 1, &out->delta);
            return end && (*end == 0 || *end == ',') && out->epsilon >= 0 && out->delta >= 0 &&
                   out->delta < 1 && out->epsilon < LEDGER_CAP_EPSILON;
        }
        at = comma ? comma + 1 : NULL;
    }
    return false;
}

/* False where the cap does not cover what is stated: then all of it is gone. */
static clo_status charge_stated(restoring *r, clo_i_account *account, clo_loss stated, bool *fits,
                                clo_error *err)
{
    const clo_event pure = { .kind = CLO_EVENT_PURE, .parameter = stated.epsilon, .count = 1 };
    clo_i_cost cost = { .epsilon = clo_i_epsilon_units(stated.epsilon, true),
                        .delta = clo_i_delta_units(stated.delta, true),
                        .rho = LEDGER_UNITS_LIMIT };
    clo_i_account after = *account;
    *fits = true;
    if (!(stated.epsilon > 0)) return CLO_OK;
    if (stated.delta == 0) CLO_TRY(clo_i_events_rho(&pure, 1, &cost.rho, &cost.rho_delta, err));
    CLO_TRY(clo_i_account_settle(&after, &cost, err));
    clo_i_account trial = after;
    clo_i_account_add(&trial, account->charges ? account->relation : "replace", stated, &cost);
    *fits = clo_i_account_covered(&trial);
    if (!*fits) return CLO_OK;
    *account = after;
    return charge(r, account, account->relation, cost, stated, err);
}

/* ---- one data set ------------------------------------------------------------------- */

/* Whether the slot is a later state of the same account. */
static bool is_later(const clo_i_account *was, const clo_i_account *have, bool there)
{
    if (!there) return true;
    return strcmp(was->name, have->name) == 0 &&
           (have->rule == CLO_RULE_OPEN || was->rule == have->rule) &&
           (!have->capped || (was->capped && was->cap.epsilon == have->cap.epsilon &&
                              was->cap.delta == have->cap.delta));
}

static clo_status find_or_make(restoring *r, int64_t id, clo_i_account *account, bool *there,
                               clo_error *err)
{
    char text[1024];
    snprintf(text, sizeof text, "SELECT %s FROM dataset d WHERE d.id = ?",
             clo_i_ledger_account_columns);
    clo_i_sql sql = clo_i_sql_start(r->ledger, text);
    clo_i_sql_integer(&sql, id);
    *there = clo_i_sql_row(&sql);
    if (*there) clo_i_ledger_get_account(&sql, account);
    CLO_TRY(clo_i_sql_finish(&sql, err));
    const clo_i_slot *const slot = &r->slots[id];
    if (*there) return CLO_OK;
    *account = (clo_i_account){ .id = 0 };
    if (!slot->account.id) return CLO_OK;
    CLO_TRY(clo_i_dataset_insert(r->ledger, slot->account.name, account, err));
    return account->id == id ? CLO_OK
                             : clo_i_fail(err, CLO_INTERNAL, "a data set got another number");
}

static clo_status restore_one(restoring *r, int64_t id, clo_error *err)
{
    const clo_i_slot *const slot = &r->slots[id];
    clo_restored told = { .struct_size = sizeof told };
    clo_i_account account;
    clo_loss stated;
    bool there = false, fits = false;
    CLO_TRY(find_or_make(r, id, &account, &there, err));
    if (!account.id) return CLO_OK;
    const clo_i_cost before = account.spent;
    const bool narrowed =
        slot->account.id && slot->terms != clo_i_terms_count(&r->w.effects, account.name);
    if (slot->account.id && slot->account.capped && !account.capped)
        CLO_TRY(clo_i_cap_insert(r->ledger, &account, slot->account.cap, &r->w.head, err));
    if (!r->behind || clo_i_restore_forgets) {
        told.source = CLO_LOST_NOTHING;
    } else if (r->known && slot->account.id && !narrowed &&
               is_later(&slot->account, &account, there)) {
        CLO_TRY(charge_known(r, &account, &slot->account, err));
        told.source = CLO_LOST_KNOWN;
    } else {
        if (find_stated(r->given->lost, account.name, &stated))
            CLO_TRY(charge_stated(r, &account, stated, &fits, err));
        if (!fits) CLO_TRY(charge_rest(r, &account, err));
        told.source = fits ? CLO_LOST_STATED : CLO_LOST_ALL;
    }
    const clo_i_cost charged = missing(&account.spent, &before);
    if (is_nothing(&charged) && told.source == CLO_LOST_KNOWN) told.source = CLO_LOST_NOTHING;
    told.dataset = account.name;
    told.charged = clo_i_cost_asked(&charged);
    if (r->visit) r->visit(r->user, &told);
    return CLO_OK;
}

/* ---- all of it ---------------------------------------------------------------------- */

static clo_status insert_gap(restoring *r, clo_error *err)
{
    char detail[3 * LEDGER_TEXT];
    const clo_i_mark *const mark = &r->held.note.mark;
    int length;
    if (r->readable)
        length = snprintf(detail, sizeof detail, "charge %llu, declaration %llu of %llu, %llu\n%s",
                          (number)r->w.head.charges, (number)r->w.head.declarations,
                          (number)mark->charges, (number)mark->declarations, r->given->note);
    else
        length =
            snprintf(detail, sizeof detail, "charge %llu, declaration %llu of unknown\n%s",
                     (number)r->w.head.charges, (number)r->w.head.declarations, r->given->note);
    const clo_i_act act = { .kind = LEDGER_ACT_GAP,
                            .detail = (const uint8_t *)detail,
                            .length = (size_t)length };
    return clo_i_act_insert(r->ledger, &act, &r->w.head, err);
}

static clo_status write_draft(restoring *r, clo_error *err)
{
    CLO_TRY(clo_i_effects_read(r->ledger, NULL, &r->w.effects, NULL, err));
    CLO_TRY(insert_gap(r, err));
    for (int64_t id = 1; id <= r->slot_count; id++) CLO_TRY(restore_one(r, id, err));
    r->w.collect = true;
    CLO_TRY(clo_i_write_sum(r->ledger, "", &r->w, err));
    if (r->given->rehearsal) return CLO_OK;
    return clo_i_sql_commit(r->ledger, err);
}

static clo_status open_anchor(restoring *r, clo_error *err)
{
    if (r->there) return CLO_OK;
    CLO_TRY(clo_i_anchor_make(r->ledger, &r->w.head, err));
    CLO_TRY(clo_i_anchor_open(r->ledger, &r->held, &r->there, &r->readable, err));
    return CLO_OK;
}

static clo_status write_slots(const restoring *r, clo_error *err)
{
    for (size_t i = 0; i < r->w.slot_count; i++) {
        const clo_i_slot slot = { .account = r->w.slots[i],
                                  .at = r->w.head.charges,
                                  .terms = clo_i_terms_count(&r->w.effects, r->w.slots[i].name) };
        if (!clo_i_slot_write(r->ledger, r->held.file, &slot, true))
            return clo_i_fail(err, CLO_LEDGER,
                              "the anchor of the ledger could not be written: free space on its "
                              "disk and run the restoration again, which finishes it");
    }
    return clo_i_anchor_sync(r->ledger, &r->held, err);
}

/* The slots come last: before the note they say what was spent, for a restoration that begins
 * again, and after it the draft does. */
static clo_status move_anchor(restoring *r, clo_error *err)
{
    clo_i_note note = { .number = r->readable ? r->held.note.number + 1 : 1,
                        .mark = clo_i_mark_of(&r->w.head),
                        .summed = true };
    memcpy(note.sum, r->w.sum, LEDGER_HASH);
    r->keeps_draft = true;
    CLO_TRY(clo_i_anchor_set(r->ledger, &r->held, &note, err));
    return write_slots(r, err);
}

static clo_status put_in_place(restoring *r, clo_error *err)
{
    char text[128];
    clo_ledger_close(r->ledger);
    r->ledger = NULL;
    r->keeps_draft = true;
    if (rename(r->draft, r->given->ledger) != 0)
        return clo_i_fail(err, CLO_LEDGER, "the restored ledger could not be put in its place: %s",
                          strerror_r(errno, text, sizeof text));
    clo_i_ledger_sync_folder_of(r->given->ledger);
    return CLO_OK;
}

static void let_go(restoring *r)
{
    if (r->ledger) clo_i_sql_undo(r->ledger);
    clo_i_anchor_release(&r->held);
    clo_ledger_close(r->ledger);
    clo_i_write_clear(&r->w);
    r->ledger = NULL;
    r->there = r->readable = false;
}

/* Whether the draft that lies there is the ledger that the anchor tells of; then it is locked. */
static bool is_finished(restoring *r)
{
    return !clo_i_ledger_is_gone(r->draft) &&
           clo_i_ledger_open_detached(r->draft, false, &r->ledger, NULL) == CLO_OK &&
           clo_i_ledger_verify_file(r->ledger, NULL) == CLO_OK &&
           clo_i_ledger_get_head(r->ledger, &r->w.head, NULL) == CLO_OK &&
           clo_i_anchor_find(r->ledger, &r->w.head, NULL) == CLO_OK &&
           clo_i_anchor_open(r->ledger, &r->held, &r->there, &r->readable, NULL) == CLO_OK &&
           r->readable && clo_i_anchor_is_at(&r->held, &r->w.head);
}

static clo_status finish_interrupted(restoring *r, bool *done, clo_error *err)
{
    *done = is_finished(r);
    if (!*done) {
        let_go(r);
        return CLO_OK;
    }
    r->keeps_draft = true;
    if (r->given->rehearsal)
        return clo_i_fail(err, CLO_LEDGER,
                          "a restoration of %.160s was interrupted: finish it first, by the "
                          "restoration itself",
                          r->given->ledger);
    CLO_TRY(clo_i_places_refuse_living(r->held.file, r->w.head.identity, &r->held.note.mark,
                                       r->ledger->resolved, err));
    r->w.collect = true;
    CLO_TRY(clo_i_write_sum(r->ledger, "", &r->w, err));
    CLO_TRY(move_anchor(r, err));
    return put_in_place(r, err);
}

static clo_status restore(restoring *r, clo_error *err)
{
    bool done = false;
    CLO_TRY(check_places(r, err));
    CLO_TRY(finish_interrupted(r, &done, err));
    if (done) return CLO_OK;
    CLO_TRY(make_draft(r, err));
    CLO_TRY(clo_i_sql_do(r->ledger, "BEGIN IMMEDIATE", err));
    CLO_TRY(look_at_anchor(r, err));
    if (!r->given->backup && r->readable && !r->behind)
        return clo_i_fail(err, CLO_LEDGER,
                          "the ledger %.160s is not an old copy: there is nothing to restore",
                          r->given->ledger);
    /* Another place for a ledger that goes on at its own is a drill that was not said to be one. */
    if (r->readable && !r->given->rehearsal && r->given->backup)
        CLO_TRY(clo_i_places_refuse_living(r->held.file, r->w.head.identity, &r->held.note.mark,
                                           r->ledger->resolved, err));
    CLO_TRY(write_draft(r, err));
    if (r->given->rehearsal) return CLO_OK;
    CLO_TRY(open_anchor(r, err));
    CLO_TRY(move_anchor(r, err));
    return put_in_place(r, err);
}

clo_status clo_ledger_restore(const clo_restoration *given,
                              bool (*visit)(void *user, const clo_restored *restored), void *user,
                              clo_error *err)
{
    clo_restoration restoration = clo_restoration_default();
    CLO_TRY(clo_i_take_options("clo_restoration", given, &restoration, sizeof restoration, err));
    if (!restoration.ledger || !restoration.ledger[0])
        return clo_i_fail(err, CLO_ARGUMENT, "the path of a ledger is empty");
    if (!restoration.note || !restoration.note[0])
        return clo_i_fail(err, CLO_ARGUMENT, "give a note that states why the ledger is restored");
    CLO_TRY(clo_i_ledger_check_text("note", restoration.note, err));
    restoring r = { .given = &restoration,
                    .visit = visit,
                    .user = user,
                    .held = { .file = -1 },
                    .keeps_draft = true };
    const clo_status status = restore(&r, err);
    let_go(&r);
    clo_i_free(r.slots);
    if (r.draft[0] && !r.keeps_draft) unlink(r.draft);
    return status;
}
