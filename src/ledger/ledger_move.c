/*
 * ledger_move.c - a ledger at another place.
 *
 * On one machine a move is a renaming, under the anchor's lock; from one file system to another, a
 * copy that is checked before the old file goes.
 *
 * To another machine go three things: the file, its key and its anchor.  They are written to a new
 * folder, and the anchor that stays here is set to an end that no copy reaches, before anybody is
 * told that the folder is whole: from then on the ledger is charged there or nowhere (ledger.T18).
 * That the folder arrives once, and is not unpacked on two machines, nobody but the steward can see
 * to.
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
    return CLO_OK;
}

/* ---- on this machine --------------------------------------------------------------- */

static clo_status copy_over(clo_ledger *ledger, const char *to, clo_error *err)
{
    CLO_TRY(clo_ledger_backup(ledger, to, err));
    if (unlink(ledger->resolved) != 0)
        return fail_at("the ledger is copied, and the old file cannot be removed:",
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

static clo_status write_key(const clo_i_key *key, const char *path, clo_error *err)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return fail_at("cannot be written:", path, errno, err);
    const bool right = clo_i_key_write(file, key);
    const int number = errno;
    close(file);
    return right ? CLO_OK : fail_at("cannot be written:", path, number, err);
}

static clo_status fill_folder(clo_ledger *ledger, const clo_i_held *held, const char *folder,
                              clo_error *err)
{
    char path[PATH_MAX];
    if (!join_path(path, folder, "ledger.db"))
        return clo_i_fail(err, CLO_ARGUMENT, "the path of the folder is too long");
    CLO_TRY(clo_ledger_backup(ledger, path, err));
    if (join_path(path, folder, "ledger.key")) CLO_TRY(write_key(&ledger->key, path, err));
    if (join_path(path, folder, "anchor")) CLO_TRY(copy_bytes(held->file, path, err));
    clo_i_ledger_sync_folder_of(path);
    return CLO_OK;
}

static clo_status send(clo_ledger *ledger, const char *folder, clo_error *err)
{
    clo_i_writing w;
    CLO_TRY(clo_i_write_begin(ledger, "", NULL, true, &w, err));
    clo_i_sql_undo(ledger);
    /* What somebody died over counts: the anchor that travels must know of it. */
    clo_i_note note = w.held.note, gone = { .number = note.number + 2, .summed = false };
    note.number++;
    note.mark = clo_i_mark_of(&w.head);
    note.summed = true;
    memcpy(note.sum, w.sum, LEDGER_HASH);
    gone.mark.charges = gone.mark.declarations = LEDGER_MOVED;
    clo_status status = clo_i_anchor_set(ledger, &w.held, &note, err);
    if (!status) status = fill_folder(ledger, &w.held, folder, err);
    if (!status) status = clo_i_anchor_set(ledger, &w.held, &gone, err);
    clo_i_anchor_release(&w.held);
    clo_i_write_clear(&w);
    return status;
}

clo_status clo_ledger_send(const char *path, const char *folder, clo_error *err)
{
    clo_ledger *ledger = NULL;
    CLO_TRY(check_new(folder, err));
    CLO_TRY(clo_ledger_open(path, &ledger, err));
    clo_status status = CLO_OK;
    if (mkdir(folder, 0700) != 0) status = fail_at("cannot be made:", folder, errno, err);
    if (!status) status = send(ledger, folder, err);
    clo_ledger_close(ledger);
    return status;
}

/* ---- from another machine ---------------------------------------------------------------- */

/* An anchor of this identity that is here must say that the ledger went away. */
static clo_status check_gone(clo_ledger *ledger, clo_error *err)
{
    clo_i_held held;
    bool there = false, readable = false;
    CLO_TRY(clo_i_anchor_open(ledger, &held, &there, &readable, err));
    clo_i_anchor_release(&held);
    if (!there || (readable && held.note.mark.charges == LEDGER_MOVED)) return CLO_OK;
    return clo_i_fail(err, CLO_LEDGER,
                      "this machine knows the ledger already: a second copy of it is not received; "
                      "if the file here is lost, run cloister ledger restore");
}

static clo_status put_anchor(clo_ledger *ledger, const char *folder, clo_error *err)
{
    char from[PATH_MAX], draft[PATH_MAX];
    if (!join_path(from, folder, "anchor") ||
        snprintf(draft, sizeof draft, "%s", ledger->anchor.path) < 0 ||
        strlen(draft) + 10 >= sizeof draft)
        return clo_i_fail(err, CLO_ARGUMENT, "the path of the folder is too long");
    strcat(draft, ".received");
    unlink(draft);
    CLO_TRY(clo_i_ledger_make_folders(draft, err));
    const int file = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return fail_at("there is no anchor at", from, errno, err);
    clo_i_note note;
    const char *const identity = strrchr(ledger->anchor.path, '/') + 1;
    clo_status status =
        clo_i_anchor_read(&ledger->key, identity, file, &note)
            ? copy_bytes(file, draft, err)
            : clo_i_fail(err, CLO_LEDGER, "the anchor %.160s is not this ledger's", from);
    close(file);
    if (!status && rename(draft, ledger->anchor.path) != 0)
        status = fail_at("cannot be written:", ledger->anchor.path, errno, err);
    if (!status) clo_i_ledger_sync_folder_of(ledger->anchor.path);
    return status;
}

/* The anchor last: before it, the file is one whose anchor is not here. */
static clo_status take_in(const char *folder, const char *file, const char *path, clo_error *err)
{
    clo_ledger *ledger = NULL;
    clo_i_head head;
    CLO_TRY(clo_i_ledger_open_detached(file, true, &ledger, err));
    clo_status status = clo_i_ledger_verify_file(ledger, err);
    if (!status) status = clo_i_ledger_get_head(ledger, &head, err);
    if (!status) status = clo_i_anchor_find(ledger, &head, err);
    if (!status) status = check_gone(ledger, err);
    if (!status) status = clo_i_ledger_make_folders(path, err);
    if (!status) status = clo_ledger_backup(ledger, path, err);
    if (!status) status = put_anchor(ledger, folder, err);
    clo_ledger_close(ledger);
    return status;
}

clo_status clo_ledger_receive(const char *folder, const char *path, clo_error *err)
{
    char file[PATH_MAX], key_file[PATH_MAX];
    clo_i_key key = { .known = false };
    clo_ledger *ledger = NULL;
    CLO_TRY(check_new(path, err));
    if (!folder || !join_path(file, folder, "ledger.db") ||
        !join_path(key_file, folder, "ledger.key"))
        return clo_i_fail(err, CLO_ARGUMENT, "the path of the folder is too long");
    CLO_TRY(clo_i_key_read(key_file, &key, err));
    clo_status status = key.known
                            ? clo_i_key_keep(&key, err)
                            : clo_i_fail(err, CLO_LEDGER, "there is no key at %.160s", key_file);
    clo_i_wipe(&key, sizeof key);
    if (!status) status = take_in(folder, file, path, err);
    if (!status) status = clo_ledger_open(path, &ledger, err); /* as a run would */
    clo_ledger_close(ledger);
    return status;
}
