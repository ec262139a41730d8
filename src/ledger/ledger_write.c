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
 *   ask the caller      who may have been stopped meanwhile: then nothing is spent
 *   COMMIT              where the disk fails in it, find out whether it was one
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
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

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

/* An account whose slot in the anchor is to be written; the latest state of it. */
static clo_status note_slot(clo_i_writing *w, const clo_i_account *account, clo_error *err)
{
    for (size_t i = 0; i < w->slot_count; i++)
        if (w->slots[i].id == account->id) {
            w->slots[i] = *account;
            return CLO_OK;
        }
    if (w->slot_count == w->slot_room) {
        const size_t room = w->slot_room ? 2 * w->slot_room : 4;
        clo_i_account *larger = NULL;
        CLO_TRY(clo_i_alloc(room, sizeof *larger, &larger, err));
        if (w->slot_count > 0) memcpy(larger, w->slots, w->slot_count * sizeof *larger);
        clo_i_free(w->slots);
        w->slots = larger;
        w->slot_room = room;
    }
    w->slots[w->slot_count++] = *account;
    return CLO_OK;
}

/* The groups of the data set, by name: those that acts say, and the one that is charged along. */
static clo_status name_groups(const char *dataset, const char *along, clo_i_writing *w,
                              clo_error *err)
{
    w->group_count = 0;
    for (size_t i = 0; i <= w->effects.count; i++) {
        const bool last = i == w->effects.count;
        const clo_i_effect *const effect = last ? NULL : &w->effects.items[i];
        if (last && !along) break;
        if (!last &&
            (strcmp(effect->kind, LEDGER_ACT_MEMBER) != 0 || strcmp(effect->dataset, dataset) != 0))
            continue;
        if (w->group_count == LEDGER_GROUPS)
            return clo_i_fail(err, CLO_LEDGER, "the data set %.120s is in more than %d groups",
                              dataset, LEDGER_GROUPS);
        clo_i_account *const group = &w->groups[w->group_count++];
        *group = (clo_i_account){ .id = 0 };
        snprintf(group->name, sizeof group->name, "%s", last ? along : effect->value);
    }
    return CLO_OK;
}

static void take_group(const clo_i_account *account, clo_i_writing *w)
{
    for (size_t i = 0; i < w->group_count; i++)
        if (strcmp(w->groups[i].name, account->name) == 0) w->groups[i] = *account;
}

static clo_status check_groups(const clo_ledger *ledger, const clo_i_writing *w, clo_error *err)
{
    for (size_t i = 0; i < w->group_count; i++)
        if (w->groups[i].id == 0 || !w->groups[i].capped)
            return clo_i_fail(
                err, CLO_ARGUMENT,
                "the ledger %s has no cap for '%.120s', which would also be charged: declare it "
                "first",
                ledger->shown, w->groups[i].name);
    return CLO_OK;
}

/* Every account goes into the sum, and those that are asked for are taken from the same rows.
 * Hashes are added as numbers of 256 bits: by exclusive or, a row that is there twice would not
 * show. */
static clo_status sum_accounts(clo_ledger *ledger, const char *dataset, clo_i_writing *w,
                               clo_error *err)
{
    char text[1024];
    clo_status status = CLO_OK;
    snprintf(text, sizeof text, "SELECT %s FROM dataset d", clo_i_ledger_account_columns);
    w->found = false;
    clo_i_sql sql = clo_i_sql_start(ledger, text);
    while (!status && clo_i_sql_row(&sql)) {
        clo_i_account account;
        uint8_t hash[LEDGER_HASH];
        clo_i_ledger_get_account(&sql, &account);
        clo_i_chain_account(&ledger->key, w->head.identity, &account, hash);
        sodium_add(w->sum, hash, LEDGER_HASH);
        take_group(&account, w);
        if (w->collect) status = note_slot(w, &account, err);
        if (strcmp(account.name, dataset) != 0) continue;
        w->account = account;
        w->found = true;
    }
    const clo_status finished = clo_i_sql_finish(&sql, status ? NULL : err);
    return status ? status : finished;
}

static clo_status sum_all(clo_ledger *ledger, const char *dataset, const char *along,
                          clo_i_writing *w, clo_error *err)
{
    memset(w->sum, 0, LEDGER_HASH);
    CLO_TRY(clo_i_effects_read(ledger, w->head.identity, &w->effects, w->sum, err));
    CLO_TRY(name_groups(dataset, along, w, err));
    CLO_TRY(sum_accounts(ledger, dataset, w, err));
    return sum_policy(ledger, w, err);
}

clo_status clo_i_write_sum(clo_ledger *ledger, const char *dataset, clo_i_writing *w,
                           clo_error *err)
{
    return sum_all(ledger, dataset, NULL, w, err);
}

void clo_i_write_clear(clo_i_writing *w)
{
    clo_i_effects_clear(&w->effects);
    clo_i_free(w->slots);
    w->slots = NULL;
    w->slot_count = w->slot_room = 0;
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

static clo_status check_accounts(clo_ledger *ledger, const char *dataset, const char *along,
                                 bool whole, clo_i_writing *w, clo_error *err)
{
    CLO_TRY(sum_all(ledger, dataset, along, w, err));
    const bool known = are_known(ledger, w);
    if (known && !whole) return check_groups(ledger, w, err);
#ifdef CLO_FAULT_INJECTION
    ledger->verified++;
#endif
    CLO_TRY(clo_i_ledger_verify_entries(ledger, &w->head, err));
    clo_i_sql_forget(ledger); /* what that needed, a charge does not */
    w->collect = !known;      /* somebody died before the anchor knew, or it is new */
    CLO_TRY(sum_all(ledger, dataset, along, w, err));
    return check_groups(ledger, w, err);
}

static clo_status begin(clo_ledger *ledger, const char *dataset, const char *along, bool whole,
                        clo_i_writing *w, clo_error *err)
{
    CLO_TRY(clo_i_ledger_get_head(ledger, &w->head, err));
    w->begun = w->head;
    CLO_TRY(clo_i_anchor_take(ledger, &w->head, &w->held, err));
    return check_accounts(ledger, dataset, along, whole, w, err);
}

clo_status clo_i_write_begin(clo_ledger *ledger, const char *dataset, const char *along, bool whole,
                             clo_i_writing *out, clo_error *err)
{
    *out = (clo_i_writing){ .held = { .file = -1 } };
    /* A planted fault left the one before open. */
    if (clo_i_ledger_planted(ledger, CLO_PLANTED_EARLY_RECEIPT) &&
        !sqlite3_get_autocommit(ledger->db))
        CLO_TRY(clo_i_sql_commit(ledger, err));
    CLO_TRY(clo_i_sql_do(ledger, "BEGIN IMMEDIATE", err));
    const clo_status status = begin(ledger, dataset, along, whole, out, err);
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

/* Out of the sum goes what was, in goes what is. */
static clo_status change(const clo_ledger *ledger, clo_i_writing *w, const clo_i_account *before,
                         const clo_i_account *after, clo_error *err)
{
    uint8_t hash[LEDGER_HASH];
    if (before) {
        clo_i_chain_account(&ledger->key, w->head.identity, before, hash);
        sodium_sub(w->sum, hash, LEDGER_HASH);
    }
    clo_i_chain_account(&ledger->key, w->head.identity, after, hash);
    sodium_add(w->sum, hash, LEDGER_HASH);
    return note_slot(w, after, err);
}

clo_status clo_i_write_account(const clo_ledger *ledger, clo_i_writing *w,
                               const clo_i_account *after, clo_error *err)
{
    CLO_TRY(change(ledger, w, w->found ? &w->account : NULL, after, err));
    w->account = *after;
    w->found = true;
    return CLO_OK;
}

clo_status clo_i_write_group(const clo_ledger *ledger, clo_i_writing *w, size_t i,
                             const clo_i_account *after, clo_error *err)
{
    CLO_TRY(change(ledger, w, &w->groups[i], after, err));
    w->groups[i] = *after;
    return CLO_OK;
}

/* What was spent, beside the anchor's notes: a help for who must bring a ledger back, so that a
 * disk without room for it does not stop a charge (ledger.T17). */
static void write_slots(const clo_ledger *ledger, const clo_i_writing *w)
{
    for (size_t i = 0; i < w->slot_count; i++) {
        const clo_i_slot slot = { .account = w->slots[i],
                                  .at = w->head.charges,
                                  .terms = clo_i_terms_count(&w->effects, w->slots[i].name) };
        (void)!clo_i_slot_write(ledger, w->held.file, &slot, false);
    }
}

/* What is charged must be stored, too.  A disk that is full for good would lose it; what another
 * program takes meanwhile is not foreseen. */
static clo_status check_room(const clo_ledger *ledger, clo_error *err)
{
    static const uint64_t beside = 64 << 10; /* the charge itself, and its journal */
    const uint64_t needed = ledger->charge ? ledger->charge->release_bytes : 0;
    struct statvfs disk;
    struct stat facts;
    struct rlimit most;
    if (needed == 0) return CLO_OK;
    if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur != RLIM_INFINITY &&
        stat(ledger->resolved, &facts) == 0 &&
        (uint64_t)facts.st_size + needed + beside > most.rlim_cur)
        return clo_i_fail(err, CLO_LEDGER,
                          "the limit of a file's size (ulimit -f) leaves the ledger %s too little "
                          "room for a release of up to %llu KiB; nothing was spent",
                          ledger->shown, (unsigned long long)(needed >> 10));
    if (statvfs(ledger->resolved, &disk) != 0 || disk.f_blocks == 0 ||
        needed + beside <= (uint64_t)disk.f_bavail * disk.f_frsize)
        return CLO_OK;
    return clo_i_fail(err, CLO_LEDGER,
                      "the disk of the ledger %s has no room for a release of up to %llu KiB: make "
                      "room and try again; nothing was spent",
                      ledger->shown, (unsigned long long)(needed >> 10));
}

bool clo_i_ledger_wanted(const clo_ledger *ledger)
{
    const clo_i_charge *const charge = ledger->charge;
    return !charge || !charge->go_on || charge->go_on(charge->go_on_user);
}

/* A stop that comes before the COMMIT costs nothing; one that comes later finds a charge. */
static clo_status check_wanted(const clo_ledger *ledger, clo_error *err)
{
    if (clo_i_ledger_wanted(ledger)) return CLO_OK;
    return clo_i_fail(err, CLO_CANCELLED, "stopped before the charge: nothing was spent");
}

static bool is_same(const clo_i_head *a, const clo_i_head *b)
{
    return a->charges == b->charges && a->declarations == b->declarations &&
           memcmp(a->charge_hash, b->charge_hash, LEDGER_HASH) == 0 &&
           memcmp(a->declaration_hash, b->declaration_hash, LEDGER_HASH) == 0;
}

/* What is read next tells what the COMMIT came to: where the journal is there still, SQLite rolls
 * back with it first; where it is gone, the pages were synced before it went, and its folder is
 * synced here (ledger.T7). */
clo_status clo_i_write_settle(clo_ledger *ledger, clo_error *err)
{
    const clo_i_writing *const w = ledger->writing;
    clo_i_head now;
    clo_i_sql_undo(ledger);
    if (is_same(&w->begun, &w->head) || clo_i_ledger_get_head(ledger, &now, NULL))
        return CLO_LEDGER; /* it is open, as err says */
    if (is_same(&now, &w->begun))
        return clo_i_fail(err, CLO_LEDGER,
                          "the disk of the ledger %s failed while it was written, and nothing was "
                          "recorded: check the disk and try again",
                          ledger->shown);
    return is_same(&now, &w->head) && clo_i_ledger_sync_folder_of(ledger->resolved) ? CLO_OK
                                                                                    : CLO_LEDGER;
}

clo_status clo_i_write_end(clo_ledger *ledger, clo_i_writing *w, clo_status so_far, clo_error *err)
{
    clo_status status = so_far;
    if (!status) status = check_room(ledger, err);
    if (!status) status = clo_i_anchor_prepare(ledger, &w->held, err);
    if (!status) status = check_wanted(ledger, err);
    if (!status && clo_i_ledger_planted(ledger, CLO_PLANTED_EARLY_RECEIPT)) {
        clo_i_anchor_release(&w->held);
        clo_i_write_clear(w);
        return CLO_OK;
    }
    ledger->writing = w;
    if (!status) status = clo_i_sql_commit(ledger, err);
    if (!status) write_slots(ledger, w);
    if (!status) status = clo_i_anchor_move(ledger, &w->held, &w->head, w->sum, err);
    ledger->writing = NULL;
    clo_i_sql_undo(ledger);
    clo_i_anchor_release(&w->held);
    clo_i_write_clear(w);
    return status;
}
