/*
 * ledger_rekey.c - a new key for all hashes of a ledger (ledger.T18).
 *
 * For a key that too many have seen, or whose time is up.  A draft is made beside the ledger, in
 * which every hash is computed anew, in order, under a key that was drawn for this ledger alone
 * and is kept in keys/ beside the user's own.  An act, signed with the old key, names the new
 * public one, so that who trusts the old one can go on trusting; releases from before stay signed
 * by the old one.
 *
 * What cannot be computed anew are the keyed digests of data (ledger.T12), since the data are not
 * here: those of charges are taken out, and the same bytes are known again from their next charge
 * on.
 *
 * The anchor changes its key before the draft gets the ledger's name.  If the process dies in
 * between, the draft fits the anchor and the ledger does not; whoever opens the ledger next puts
 * the draft in its place.
 */
#include "ledger/ledger_internal.h"
#include "base/key.h"
#include <cloister/steward.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- the draft: every hash anew ------------------------------------------------------ */

static clo_status set_hash(clo_ledger *ledger, const char *text, const clo_i_key *key,
                           uint64_t sequence, bool keyed, const uint8_t hash[LEDGER_HASH],
                           clo_error *err)
{
    clo_i_sql sql = clo_i_sql_start(ledger, text);
    clo_i_sql_bytes(&sql, hash, LEDGER_HASH);
    clo_i_sql_bytes(&sql, keyed ? key->id : NULL, LEDGER_KEY_ID);
    clo_i_sql_units(&sql, sequence);
    clo_i_sql_row(&sql);
    return clo_i_sql_finish(&sql, err);
}

/* A stored release is tied to the hash of its charge, and an act to the release's. */
static clo_status rehash_result(clo_ledger *ledger, const clo_i_key *key, uint64_t sequence,
                                const uint8_t charge[LEDGER_HASH], clo_error *err)
{
    uint8_t hash[LEDGER_HASH];
    clo_i_sql sql = clo_i_sql_start(ledger, "SELECT time, bytes FROM result WHERE sequence = ?");
    clo_i_sql_units(&sql, sequence);
    const bool found = clo_i_sql_row(&sql);
    if (found) {
        const void *const bytes = sqlite3_column_blob(sql.statement, 1);
        clo_i_chain_result(key, charge, clo_i_sql_get_integer(&sql, 0), bytes ? bytes : "",
                           (size_t)sqlite3_column_bytes(sql.statement, 1), hash);
    }
    CLO_TRY(clo_i_sql_finish(&sql, err));
    if (!found) return CLO_OK;
    sql = clo_i_sql_start(ledger, "UPDATE result SET hash = ? WHERE sequence = ?");
    clo_i_sql_bytes(&sql, hash, LEDGER_HASH);
    clo_i_sql_units(&sql, sequence);
    clo_i_sql_row(&sql);
    CLO_TRY(clo_i_sql_finish(&sql, err));
    sql = clo_i_sql_start(ledger, "UPDATE act SET detail = ? WHERE kind = 'result' AND charge = ?");
    clo_i_sql_bytes(&sql, hash, LEDGER_HASH);
    clo_i_sql_units(&sql, sequence);
    clo_i_sql_row(&sql);
    return clo_i_sql_finish(&sql, err);
}

/* sealed: out, the hash of the last plain one. */
static clo_status rehash_charges(clo_ledger *ledger, const clo_i_key *key, clo_i_head *head,
                                 uint8_t sealed[LEDGER_HASH], clo_error *err)
{
    char text[900];
    uint8_t hash[LEDGER_HASH], old[LEDGER_HASH];
    snprintf(text, sizeof text,
             "SELECT %s FROM charge c JOIN dataset d ON d.id = c.dataset WHERE c.sequence = ?",
             clo_i_ledger_charge_columns(ledger));
    clo_i_chain_start(head->identity, "charge", hash);
    memcpy(sealed, hash, LEDGER_HASH);
    for (uint64_t i = 1; i <= head->charges; i++) {
        clo_i_entry entry = { 0 };
        clo_i_sql sql = clo_i_sql_start(ledger, text);
        clo_i_sql_units(&sql, i);
        if (clo_i_sql_row(&sql)) clo_i_ledger_get_charge(&sql, &entry, old);
        CLO_TRY(clo_i_sql_finish(&sql, err));
        const bool keyed = entry.format != LEDGER_PLAIN;
        if (keyed) memcpy(entry.key_id, key->id, LEDGER_KEY_ID);
        clo_i_chain_charge(key, &entry, hash);
        if (i == head->plain_charges) memcpy(sealed, hash, LEDGER_HASH);
        CLO_TRY(set_hash(ledger, "UPDATE charge SET hash = ?, key_id = ? WHERE sequence = ?", key,
                         i, keyed, hash, err));
        CLO_TRY(rehash_result(ledger, key, i, hash, err));
    }
    memcpy(head->charge_hash, hash, LEDGER_HASH);
    return CLO_OK;
}

static clo_status rehash_act(clo_ledger *ledger, const clo_i_key *key, uint64_t sequence,
                             uint8_t hash[LEDGER_HASH], clo_error *err)
{
    char text[400];
    uint8_t old[LEDGER_HASH];
    clo_i_act act;
    snprintf(text, sizeof text,
             "SELECT %s FROM act c LEFT JOIN dataset d ON d.id = c.dataset WHERE c.sequence = ?",
             clo_i_act_columns);
    clo_i_sql sql = clo_i_sql_start(ledger, text);
    clo_i_sql_units(&sql, sequence);
    if (clo_i_sql_row(&sql)) {
        clo_i_act_get(&sql, &act, old);
        memcpy(act.key_id, key->id, LEDGER_KEY_ID);
        clo_i_chain_act(key, &act, hash);
    }
    CLO_TRY(clo_i_sql_finish(&sql, err));
    return set_hash(ledger, "UPDATE act SET hash = ?, key_id = ? WHERE sequence = ?", key, sequence,
                    true, hash, err);
}

static clo_status rehash_declarations(clo_ledger *ledger, const clo_i_key *key, clo_i_head *head,
                                      uint8_t sealed[LEDGER_HASH], clo_error *err)
{
    char text[400];
    uint8_t hash[LEDGER_HASH], old[LEDGER_HASH];
    snprintf(text, sizeof text,
             "SELECT %s FROM declaration c JOIN dataset d ON d.id = c.dataset WHERE c.sequence = ?",
             clo_i_ledger_declaration_columns);
    clo_i_chain_start(head->identity, "declaration", hash);
    memcpy(sealed, hash, LEDGER_HASH);
    for (uint64_t i = 1; i <= head->declarations; i++) {
        clo_i_declaration entry = { .sequence = 0 };
        clo_i_sql sql = clo_i_sql_start(ledger, text);
        clo_i_sql_units(&sql, i);
        const bool cap = clo_i_sql_row(&sql);
        if (cap) clo_i_ledger_get_declaration(&sql, &entry, old);
        CLO_TRY(clo_i_sql_finish(&sql, err));
        if (!cap) {
            CLO_TRY(rehash_act(ledger, key, i, hash, err));
        } else {
            const bool keyed = entry.format != LEDGER_PLAIN;
            if (keyed) memcpy(entry.key_id, key->id, LEDGER_KEY_ID);
            clo_i_chain_declaration(key, &entry, hash);
            CLO_TRY(set_hash(ledger,
                             "UPDATE declaration SET hash = ?, key_id = ? WHERE sequence = ?", key,
                             i, keyed, hash, err));
        }
        if (i == head->plain_declarations) memcpy(sealed, hash, LEDGER_HASH);
    }
    memcpy(head->declaration_hash, hash, LEDGER_HASH);
    return CLO_OK;
}

static clo_status write_head(clo_ledger *ledger, const clo_i_head *head, clo_error *err)
{
    clo_i_sql sql = clo_i_sql_start(ledger, "UPDATE ledger SET key_id = ?, seal = ?");
    clo_i_sql_bytes(&sql, head->key_id, LEDGER_KEY_ID);
    clo_i_sql_bytes(&sql, head->seal, LEDGER_HASH);
    clo_i_sql_row(&sql);
    CLO_TRY(clo_i_sql_finish(&sql, err));
    return clo_i_ledger_update_head(ledger, head, err);
}

/* The triggers forbid all of this, and come back to the letter. */
static clo_status set_triggers(clo_ledger *ledger, bool there, clo_error *err)
{
    for (size_t i = 0; i < clo_i_ledger_schema_count; i++) {
        const clo_i_schema_object *const object = &clo_i_ledger_schema[i];
        char text[LEDGER_TEXT];
        if (strcmp(object->type, "trigger") != 0) continue;
        snprintf(text, sizeof text, "DROP TRIGGER %s", object->name);
        CLO_TRY(clo_i_sql_do(ledger, there ? object->text : text, err));
    }
    return CLO_OK;
}

/* ---- the act: who trusts the old key may trust the new one --------------------------- */

static clo_status insert_acts(clo_ledger *ledger, const clo_i_key *old, clo_i_head *head,
                              const char *note, clo_error *err)
{
    uint8_t before[CLO_PUBLIC_KEY_BYTES], after[CLO_PUBLIC_KEY_BYTES], secret[64],
        signature[CLO_SIGNATURE_BYTES];
    char text[64 + 2 * CLO_PUBLIC_KEY_BYTES], hex[3][2 * CLO_SIGNATURE_BYTES + 1];
    char detail[2 * LEDGER_TEXT + 400];
    clo_i_sign_keys(&ledger->key, head->identity, after, secret);
    clo_i_wipe(secret, sizeof secret);
    clo_i_sign_keys(old, head->identity, before, secret);
    sodium_bin2hex(hex[0], sizeof hex[0], before, sizeof before);
    sodium_bin2hex(hex[1], sizeof hex[1], after, sizeof after);
    const int length = snprintf(text, sizeof text, "cloister key %s", hex[1]);
    crypto_sign_detached(signature, NULL, (const uint8_t *)text, (unsigned long long)length,
                         secret);
    clo_i_wipe(secret, sizeof secret);
    sodium_bin2hex(hex[2], sizeof hex[2], signature, sizeof signature);
    snprintf(detail, sizeof detail, "%s to %s signed %s\n%s", hex[0], hex[1], hex[2], note);
    const clo_i_act rekey = { .kind = LEDGER_ACT_REKEY,
                              .detail = (const uint8_t *)detail,
                              .length = strlen(detail) };
    CLO_TRY(clo_i_act_insert(ledger, &rekey, head, err));
    const clo_i_act key = { .kind = LEDGER_ACT_KEY, .detail = after, .length = sizeof after };
    return clo_i_act_insert(ledger, &key, head, err);
}

static clo_status rehash(clo_ledger *draft, const clo_i_key *key, const char *note, clo_error *err)
{
    uint8_t charge[LEDGER_HASH], declaration[LEDGER_HASH];
    clo_i_head head;
    clo_i_key old = draft->key;
    CLO_TRY(clo_i_sql_do(draft, "BEGIN IMMEDIATE", err));
    clo_status status = clo_i_ledger_get_head(draft, &head, err);
    if (!status) status = set_triggers(draft, false, err);
    if (!status) status = rehash_charges(draft, key, &head, charge, err);
    if (!status) status = rehash_declarations(draft, key, &head, declaration, err);
    memcpy(head.key_id, key->id, LEDGER_KEY_ID);
    if (!status) clo_i_chain_seal(key, &head, charge, declaration, head.seal);
    if (!status) status = write_head(draft, &head, err);
    if (!status) status = clo_i_sql_do(draft, "DELETE FROM content", err);
    draft->key = *key;
    if (!status) status = insert_acts(draft, &old, &head, note, err);
    if (!status) status = set_triggers(draft, true, err);
    if (!status) status = clo_i_sql_commit(draft, err);
    clo_i_sql_undo(draft);
    clo_i_sql_forget(draft);
    clo_i_wipe(&old, sizeof old);
    return status;
}

/* ---- all of it -------------------------------------------------------------------------- */

static clo_status write_slots(clo_ledger *draft, const clo_i_held *held, const clo_i_writing *w,
                              clo_error *err)
{
    for (size_t i = 0; i < w->slot_count; i++) {
        const clo_i_slot slot = { .account = w->slots[i],
                                  .at = w->head.charges,
                                  .terms = clo_i_terms_count(&w->effects, w->slots[i].name) };
        (void)!clo_i_slot_write(draft, held->file, &slot, true);
    }
    return clo_i_anchor_sync(draft, held, err);
}

/* The anchor under the new key, with the draft's end.  The slots come last, since the old ledger
 * needs its own until then; if they are not reached, the first charge writes them, because the
 * note has no sum. */
static clo_status move_anchor(clo_ledger *draft, const clo_i_held *held, clo_error *err)
{
    clo_i_writing w = { .held = { .file = -1 }, .collect = true };
    clo_i_note note = { .number = held->note.number + 1 };
    clo_status status = clo_i_ledger_get_head(draft, &w.head, err);
    if (!status) status = clo_i_anchor_find(draft, &w.head, err);
    if (!status) status = clo_i_write_sum(draft, "", &w, err);
    note.mark = clo_i_mark_of(&w.head);
    if (!status) status = clo_i_anchor_set(draft, held, &note, err);
    if (!status) status = write_slots(draft, held, &w, err);
    clo_i_write_clear(&w);
    return status;
}

static clo_status put_in_place(const char *draft, const char *path, clo_error *err)
{
    char text[128];
    if (rename(draft, path) != 0)
        return clo_i_fail(err, CLO_LEDGER,
                          "the ledger with its new key could not be put in place: "
                          "%s",
                          strerror_r(errno, text, sizeof text));
    clo_i_ledger_sync_folder_of(path);
    return CLO_OK;
}

static clo_status draw_key(clo_i_key *key, clo_error *err)
{
    uint8_t bytes[LEDGER_KEY];
    if (!clo_i_key_draw(CLO_KEY_LEDGER, bytes, sizeof bytes))
        return clo_i_fail(err, CLO_ENTROPY, "the system gave no random bytes for a key");
    clo_i_key_take(CLO_KEY_LEDGER, bytes, LEDGER_KEY);
    clo_i_key_set(key, bytes);
    clo_i_wipe(bytes, sizeof bytes);
    return clo_i_key_keep(key, err);
}

static clo_status rekey(clo_ledger *ledger, const char *path, const char *draft_path,
                        const char *note, clo_error *err)
{
    clo_i_writing w;
    clo_i_key key = { .known = false };
    clo_ledger *draft = NULL;
    CLO_TRY(clo_i_write_begin(ledger, "", NULL, true, &w, err)); /* nobody charges any copy */
    clo_i_sql_undo(ledger);
    clo_status status = clo_i_ledger_remove_draft(draft_path, err);
    if (!status) status = clo_i_ledger_copy(ledger, draft_path, err);
    if (!status) status = clo_i_ledger_open_detached(draft_path, false, &draft, err);
    if (!status) status = draw_key(&key, err);
    if (!status) status = rehash(draft, &key, note, err);
    if (!status) status = clo_i_ledger_verify_file(draft, err);
    if (!status) status = move_anchor(draft, &w.held, err);
    clo_ledger_close(draft);
    clo_i_wipe(&key, sizeof key);
    if (!status) status = put_in_place(draft_path, path, err);
    clo_i_anchor_release(&w.held);
    clo_i_write_clear(&w);
    return status;
}

/* Whether the draft goes on from the anchor, whose lock is held, under a key that is here. */
static bool fits(clo_ledger *draft, clo_i_held *held)
{
    clo_i_head head;
    bool there = false, readable = false, behind = true;
    return draft->key.known && clo_i_ledger_get_head(draft, &head, NULL) == CLO_OK &&
           clo_i_anchor_find(draft, &head, NULL) == CLO_OK &&
           clo_i_anchor_open(draft, held, &there, &readable, NULL) == CLO_OK && readable &&
           clo_i_anchor_is_behind(draft, &held->note, &head, &behind, NULL) == CLO_OK && !behind;
}

/* The lock keeps out whoever is still at it: after it the draft is in its place, or its maker is
 * dead. */
bool clo_i_rekey_finish(const char *path)
{
    char draft_path[PATH_MAX];
    clo_ledger *draft = NULL;
    clo_i_held held = { .file = -1 };
    if (!path || snprintf(draft_path, sizeof draft_path, "%s.rekeying", path) >= PATH_MAX ||
        access(draft_path, F_OK) != 0 ||
        clo_i_ledger_open_detached(draft_path, true, &draft, NULL) != CLO_OK)
        return false;
    /* It may have died between the two notes. */
    const bool done =
        fits(draft, &held) && clo_i_anchor_set(draft, &held, &held.note, NULL) == CLO_OK &&
        (clo_i_ledger_is_gone(draft_path) || put_in_place(draft_path, path, NULL) == CLO_OK);
    clo_i_anchor_release(&held);
    clo_ledger_close(draft);
    return done;
}

clo_status clo_ledger_rekey(const char *path, const char *note, clo_error *err)
{
    char draft[PATH_MAX];
    clo_ledger *ledger = NULL;
    if (!path || !path[0] || snprintf(draft, sizeof draft, "%s.rekeying", path) >= PATH_MAX)
        return clo_i_fail(err, CLO_ARGUMENT, "the path of a ledger is empty or too long");
    if (!note || !note[0])
        return clo_i_fail(err, CLO_ARGUMENT, "give a note that states why the key is changed");
    CLO_TRY(clo_i_ledger_check_text("note", note, err));
    if (clo_i_rekey_finish(path)) return CLO_OK;
    CLO_TRY(clo_ledger_open(path, &ledger, err));
    const clo_status status = rekey(ledger, path, draft, note, err);
    clo_ledger_close(ledger);
    return status;
}
