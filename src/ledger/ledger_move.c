/*
 * ledger_move.c - a ledger at another place.
 *
 * On one machine a move is a renaming, under the anchor's lock; from one file system to another, a
 * copy that is checked before the old file goes.
 *
 * To another machine go three things: the file, its key, sealed for that machine (ledger_code.c),
 * and its anchor (ledger.T18).  Without the anchor nobody receives them, so it is written last:
 *
 *   draft    FOLDER.sending, with the file and the sealed key
 *   mark     the anchor that stays here gets an end that no copy reaches, and is synced
 *   anchor   into the draft
 *   rename   the draft to FOLDER
 *
 * If the process dies before the mark, nothing has changed, and the next call begins again.  If it
 * dies after it, the ledger is charged nowhere until the next call finishes the same draft.  The
 * mark has the key that only this draft was sealed with, so that no other one is finished: one that
 * an earlier call has left, for a folder of another name, may end where the ledger does.
 */
#include "ledger/ledger_internal.h"
#include <cloister/steward.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static clo_status fail_at(const char *what, const char *path, int number, clo_error *err)
{
    char shown[168], text[128];
    clo_i_ledger_show_path(shown, path);
    return clo_i_fail(err, CLO_LEDGER, "%s %s: %s", what, shown,
                      strerror_r(number, text, sizeof text));
}

static clo_status check_new(const char *path, clo_error *err)
{
    if (!path || !path[0] || strlen(path) + 16 >= PATH_MAX)
        return clo_i_fail(err, CLO_ARGUMENT, "the new place of a ledger is empty or too long");
    if (access(path, F_OK) == 0) return fail_at("there is something at", path, EEXIST, err);
    return clo_i_ledger_check_name(path, err);
}

/* ---- on this machine --------------------------------------------------------------- */

static clo_status copy_over(clo_ledger *ledger, const char *to, clo_error *err)
{
    CLO_TRY(clo_ledger_backup(ledger, to, err));
    if (unlink(ledger->resolved) != 0)
        return fail_at("the ledger is copied, but the old file cannot be removed:",
                       ledger->resolved, errno, err);
    return CLO_OK;
}

/* Under both locks, so that no charge goes to a file that is about to have another name. */
static clo_status move_file(clo_ledger *ledger, const char *to, clo_error *err)
{
    clo_i_writing w;
    char from[PATH_MAX];
    memcpy(from, ledger->resolved, sizeof from);
    CLO_TRY(clo_i_write_begin(ledger, "", NULL, true, &w, err));
    clo_i_sql_undo(ledger);
    clo_status status = CLO_OK;
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) != 0)
        status = errno == EXDEV ? copy_over(ledger, to, err)
                                : fail_at("the ledger cannot be moved to", to, errno, err);
    clo_i_anchor_release(&w.held);
    clo_i_write_clear(&w);
    if (status) return status;
    clo_i_ledger_sync_folder_of(from);
    clo_i_ledger_sync_folder_of(to);
    return CLO_OK;
}

clo_status clo_ledger_move(const char *path, const char *to, clo_error *err)
{
    clo_ledger *ledger = NULL;
    CLO_TRY(check_new(to, err));
    CLO_TRY(clo_ledger_open(path, &ledger, err));
    const clo_status status = move_file(ledger, to, err);
    clo_ledger_close(ledger);
    if (status) return status;
    CLO_TRY(clo_ledger_open(to, &ledger, err)); /* which notes its new place */
    clo_ledger_close(ledger);
    return CLO_OK;
}

/* ---- to another machine --------------------------------------------------------------- */

static bool join_path(char out[PATH_MAX], const char *folder, const char *name)
{
    const int length = snprintf(out, PATH_MAX, "%s/%s", folder, name);
    return length > 0 && length < PATH_MAX;
}

/* A file of ours as it is, into a new one. */
static clo_status copy_bytes(int from, const char *path, clo_error *err)
{
    char bytes[8192];
    const int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (to < 0) return fail_at("cannot be written:", path, errno, err);
    off_t at = 0;
    bool right = true;
    for (ssize_t count; right && (count = pread(from, bytes, sizeof bytes, at)) != 0; at += count)
        right = count > 0 && write(to, bytes, (size_t)count) == count;
    right = right && fsync(to) == 0;
    const int number = errno;
    close(to);
    clo_i_wipe(bytes, sizeof bytes);
    return right ? CLO_OK : fail_at("cannot be written:", path, number, err);
}

static clo_status write_sealed(const clo_i_sealed_key *sealed, const char *path, clo_error *err)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return fail_at("cannot be written:", path, errno, err);
    const bool right =
        write(file, sealed, sizeof *sealed) == (ssize_t)sizeof *sealed && fsync(file) == 0;
    const int number = errno;
    close(file);
    return right ? CLO_OK : fail_at("cannot be written:", path, number, err);
}

/* CLO_LEDGER where the folder has none; whether anybody can open it is another question. */
static clo_status read_sealed(const char *folder, clo_i_sealed_key *sealed, clo_error *err)
{
    char path[PATH_MAX];
    if (!join_path(path, folder, "key"))
        return clo_i_fail(err, CLO_ARGUMENT, "the path of the folder is too long");
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return fail_at("there is no key at", path, errno, err);
    const ssize_t count = read(file, sealed, sizeof *sealed);
    const int number = errno;
    close(file);
    if (count < 0) return fail_at("cannot be read:", path, number, err);
    return count == (ssize_t)sizeof *sealed
               ? CLO_OK
               : clo_i_fail(err, CLO_LEDGER,
                            "the key in the folder %.160s is damaged: copy the folder again from "
                            "the machine that made it",
                            folder);
}

/* What is left of a call that was interrupted.  Nothing else is in a draft of ours, and a folder
 * that holds something else stays. */
static clo_status remove_draft(const char *draft, clo_error *err)
{
    static const char *const names[] = { "ledger.db", "ledger.db.draft", "ledger.db.draft-journal",
                                         "key", "anchor" };
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (join_path(path, draft, names[i])) unlink(path);
    if (rmdir(draft) != 0 && errno != ENOENT)
        return fail_at("cannot be removed, and is in the way:", draft, errno, err);
    return CLO_OK;
}

static clo_status fill_draft(clo_ledger *ledger, const char *draft, const clo_i_sealed_key *sealed,
                             clo_error *err)
{
    char file[PATH_MAX], key[PATH_MAX];
    CLO_TRY(remove_draft(draft, err));
    if (mkdir(draft, 0700) != 0) return fail_at("cannot be made:", draft, errno, err);
    if (!join_path(file, draft, "ledger.db") || !join_path(key, draft, "key"))
        return clo_i_fail(err, CLO_ARGUMENT, "the path of the folder is too long");
    CLO_TRY(clo_ledger_backup(ledger, file, err));
    CLO_TRY(write_sealed(sealed, key, err));
    clo_i_ledger_sync_folder_of(key);
    clo_i_ledger_sync_folder_of(draft);
    return CLO_OK;
}

/* Whether the folder is the draft that was whole when the mark was made, or became a parcel. */
static bool is_of_mark(const char *folder, const clo_i_note *gone, clo_i_sealed_key *sealed)
{
    return read_sealed(folder, sealed, NULL) == CLO_OK && gone->summed &&
           memcmp(sealed->once, gone->sum, sizeof sealed->once) == 0;
}

/* The anchor here, slots and all, with the end of the ledger in place of the mark.  What accounts
 * add up to is left open: the first charge there looks for itself. */
static clo_status write_anchor(clo_ledger *ledger, const clo_i_held *held, const clo_i_head *head,
                               const char *path, clo_error *err)
{
    const clo_i_note note = { .number = held->note.number + 1, .mark = clo_i_mark_of(head) };
    unlink(path); /* of a call that was interrupted */
    CLO_TRY(copy_bytes(held->file, path, err));
    clo_i_held copy = { .file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW), .note = held->note };
    if (copy.file < 0) return fail_at("cannot be written:", path, errno, err);
    const clo_status status = clo_i_anchor_set(ledger, &copy, &note, err);
    close(copy.file);
    return status;
}

/* held: with the mark.  Nothing can be charged here, so the parcel may be. */
static clo_status finish_parcel(clo_ledger *ledger, const clo_i_held *held, const clo_i_head *head,
                                const char *draft, const char *folder, clo_error *err)
{
    char path[PATH_MAX];
    if (!join_path(path, draft, "anchor"))
        return clo_i_fail(err, CLO_ARGUMENT, "the path of the folder is too long");
    CLO_TRY(write_anchor(ledger, held, head, path, err));
    clo_i_ledger_sync_folder_of(path);
    if (rename(draft, folder) != 0) return fail_at("cannot be made:", folder, errno, err);
    clo_i_ledger_sync_folder_of(folder);
    return CLO_OK;
}

/* What a call is to make. */
typedef struct parcel {
    char draft[PATH_MAX];
    const char *folder;
    uint8_t receiver[LEDGER_RECEIVER];
} parcel;

static clo_status send(clo_ledger *ledger, const parcel *p, clo_error *err)
{
    clo_i_writing w;
    clo_i_sealed_key sealed;
    CLO_TRY(clo_i_code_seal(&ledger->key, p->receiver, &sealed, err));
    CLO_TRY(clo_i_write_begin(ledger, "", NULL, true, &w, err));
    clo_i_sql_undo(ledger);
    clo_i_note gone = { .number = w.held.note.number + 2, /* see check_gone */
                        .mark = clo_i_mark_of(&w.head),
                        .summed = true };
    gone.mark.charges = gone.mark.declarations = LEDGER_MOVED;
    _Static_assert(sizeof gone.sum == sizeof sealed.once, "no accounts are to be summed");
    memcpy(gone.sum, sealed.once, sizeof gone.sum);
    clo_status status = fill_draft(ledger, p->draft, &sealed, err);
    if (status) (void)!remove_draft(p->draft, NULL);
    if (!status) status = clo_i_anchor_set(ledger, &w.held, &gone, err);
    w.held.note = gone;
    if (!status) status = finish_parcel(ledger, &w.held, &w.head, p->draft, p->folder, err);
    clo_i_anchor_release(&w.held);
    clo_i_write_clear(&w);
    return status;
}

/* held: with the mark.  Only what the interrupted call has begun. */
static clo_status finish_marked(clo_ledger *ledger, const clo_i_held *held, const clo_i_head *head,
                                const parcel *p, clo_error *err)
{
    clo_i_sealed_key sealed;
    const bool whole = is_of_mark(p->folder, &held->note, &sealed); /* only the word was lost */
    if (!whole && !is_of_mark(p->draft, &held->note, &sealed))
        return clo_i_fail(err, CLO_LEDGER,
                          "the ledger %s was moved to another machine; if the move was "
                          "interrupted, run it again with the same folder",
                          ledger->shown);
    if (memcmp(sealed.receiver, p->receiver, LEDGER_RECEIVER) != 0)
        return clo_i_fail(err, CLO_LEDGER,
                          "the ledger %s is being moved with another code: give the code that "
                          "this folder was begun with",
                          ledger->shown);
    return whole ? CLO_OK : finish_parcel(ledger, held, head, p->draft, p->folder, err);
}

/* *gone: the ledger is marked as gone, and the parcel is whole now, or the error says why not. */
static clo_status finish_interrupted(clo_ledger *ledger, const parcel *p, bool *gone,
                                     clo_error *err)
{
    clo_i_head head;
    clo_i_held held = { .file = -1 };
    bool there = false, readable = false;
    CLO_TRY(clo_i_ledger_get_head(ledger, &head, err));
    CLO_TRY(clo_i_anchor_find(ledger, &head, err));
    CLO_TRY(clo_i_anchor_open(ledger, &held, &there, &readable, err));
    *gone = readable && held.note.mark.charges == LEDGER_MOVED;
    const clo_status status = *gone ? finish_marked(ledger, &held, &head, p, err) : CLO_OK;
    clo_i_anchor_release(&held);
    return status;
}

clo_status clo_ledger_send(const char *path, const char *folder, const char *code, clo_error *err)
{
    clo_ledger *ledger = NULL;
    parcel p = { .folder = folder };
    bool gone = false;
    CLO_TRY(clo_i_code_parse(code, p.receiver, err));
    if (!folder || !folder[0] ||
        snprintf(p.draft, sizeof p.draft, "%s.sending", folder) >= PATH_MAX)
        return clo_i_fail(err, CLO_ARGUMENT, "the new place of a ledger is empty or too long");
    CLO_TRY(clo_i_ledger_open_detached(path, true, &ledger, err));
    clo_status status = finish_interrupted(ledger, &p, &gone, err);
    clo_ledger_close(ledger);
    if (status || gone) return status;
    CLO_TRY(check_new(folder, err));
    CLO_TRY(clo_ledger_open(path, &ledger, err));
    status = send(ledger, &p, err);
    clo_ledger_close(ledger);
    return status;
}

/* ---- from another machine ---------------------------------------------------------------- */

/* An anchor of this identity that is here must say that the ledger went away, and the parcel must
 * have been made since: notes are numbered through all machines, and one that was received here
 * before it went away has a smaller number than the mark. */
static clo_status check_gone(clo_ledger *ledger, const clo_i_note *sent, clo_error *err)
{
    clo_i_held held;
    bool there = false, readable = false;
    CLO_TRY(clo_i_anchor_open(ledger, &held, &there, &readable, err));
    clo_i_anchor_release(&held);
    if (!there) return CLO_OK;
    if (!readable || held.note.mark.charges != LEDGER_MOVED)
        return clo_i_fail(err, CLO_LEDGER,
                          "this machine already has the ledger, and takes no second copy; if the "
                          "file here is lost, run cloister ledger restore");
    if (sent->number + 1 >= held.note.number) return CLO_OK;
    return clo_i_fail(err, CLO_LEDGER,
                      "this folder, or a newer one, was already received here, and the ledger was "
                      "moved on: use a folder from the machine that has the ledger now");
}

/* What the folder's anchor says; *file is open. */
static clo_status read_anchor(const clo_ledger *ledger, const char *folder, int *file,
                              clo_i_note *note, clo_error *err)
{
    char from[PATH_MAX];
    if (!join_path(from, folder, "anchor"))
        return clo_i_fail(err, CLO_ARGUMENT, "the path of the folder is too long");
    *file = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (*file < 0 && errno == ENOENT)
        return clo_i_fail(err, CLO_LEDGER,
                          "the folder %.160s is incomplete: it has no anchor; run the move again "
                          "on the machine that made it",
                          folder);
    if (*file < 0) return fail_at("there is no anchor at", from, errno, err);
    const char *const identity = strrchr(ledger->anchor.path, '/') + 1;
    if (clo_i_anchor_read(&ledger->key, identity, *file, note)) return CLO_OK;
    if (errno) return fail_at("cannot be read:", from, errno, err);
    return clo_i_fail(err, CLO_LEDGER, "the anchor %.160s is not this ledger's", from);
}

static clo_status put_anchor(const clo_ledger *ledger, int from, clo_error *err)
{
    char draft[PATH_MAX];
    if (snprintf(draft, sizeof draft, "%s.received", ledger->anchor.path) >= PATH_MAX)
        return clo_i_fail(err, CLO_ARGUMENT, "the path of the anchor is too long");
    unlink(draft);
    CLO_TRY(clo_i_ledger_make_folders(draft, err));
    CLO_TRY(copy_bytes(from, draft, err));
    if (rename(draft, ledger->anchor.path) != 0)
        return fail_at("cannot be written:", ledger->anchor.path, errno, err);
    clo_i_ledger_sync_folder_of(ledger->anchor.path);
    return CLO_OK;
}

/* What lies at the path may be the copy that an interrupted call has put there. */
static clo_status put_file(clo_ledger *ledger, const clo_i_head *head, const char *path,
                           clo_error *err)
{
    clo_ledger *there = NULL;
    clo_i_head other;
    if (access(path, F_OK) != 0) {
        CLO_TRY(clo_i_ledger_make_folders(path, err));
        return clo_ledger_backup(ledger, path, err);
    }
    const bool same = clo_i_ledger_open_detached(path, true, &there, NULL) == CLO_OK &&
                      clo_i_ledger_get_head(there, &other, NULL) == CLO_OK &&
                      memcmp(other.identity, head->identity, LEDGER_IDENTITY) == 0 &&
                      memcmp(other.charge_hash, head->charge_hash, LEDGER_HASH) == 0 &&
                      memcmp(other.declaration_hash, head->declaration_hash, LEDGER_HASH) == 0;
    clo_ledger_close(there);
    return same ? CLO_OK : fail_at("there is something at", path, EEXIST, err);
}

/* The anchor last: before it, the file is one whose anchor is not here. */
static clo_status take_in(const char *folder, const char *file, const char *path, clo_error *err)
{
    clo_ledger *ledger = NULL;
    clo_i_head head;
    clo_i_note sent;
    int anchor = -1;
    CLO_TRY(clo_i_ledger_open_detached(file, true, &ledger, err));
    clo_status status = clo_i_ledger_verify_file(ledger, err);
    if (!status) status = clo_i_ledger_get_head(ledger, &head, err);
    if (!status) status = clo_i_anchor_find(ledger, &head, err);
    if (!status) status = read_anchor(ledger, folder, &anchor, &sent, err);
    if (!status) status = check_gone(ledger, &sent, err);
    if (!status) status = put_file(ledger, &head, path, err);
    if (!status) status = put_anchor(ledger, anchor, err);
    if (anchor >= 0) close(anchor);
    clo_ledger_close(ledger);
    return status;
}

clo_status clo_ledger_receive(const char *folder, const char *path, clo_error *err)
{
    char file[PATH_MAX];
    clo_i_sealed_key sealed;
    clo_i_key key;
    clo_ledger *ledger = NULL;
    if (!path || !path[0] || strlen(path) + 16 >= PATH_MAX)
        return clo_i_fail(err, CLO_ARGUMENT, "the new place of a ledger is empty or too long");
    if (!folder || !join_path(file, folder, "ledger.db"))
        return clo_i_fail(err, CLO_ARGUMENT, "the path of the folder is too long");
    CLO_TRY(clo_i_ledger_check_name(path, err));
    CLO_TRY(read_sealed(folder, &sealed, err));
    CLO_TRY(clo_i_code_open(&sealed, folder, &key, err));
    clo_status status = clo_i_key_keep(&key, err);
    clo_i_wipe(&key, sizeof key);
    if (!status) status = take_in(folder, file, path, err);
    if (!status) clo_i_code_forget(sealed.receiver);
    if (!status) status = clo_ledger_open(path, &ledger, err); /* as a run would */
    clo_ledger_close(ledger);
    return status;
}
