/*
 * ledger_anchor.c - where the ledger ended last time, kept outside of it.
 *
 * A chain of hashes shows that nothing in it was changed; it cannot show that it was longer once.
 * The anchor can: a small file beside the key, one a ledger, named by the ledger's identity, with
 * the numbers and hashes of the last charge and the last declaration that somebody saw.  A ledger
 * that ends before that, or holds something else there, is an old copy or another history.
 *
 * The rule is one inequality: the ledger may be ahead of its anchor, never behind (ledger.T9).  So
 * the anchor is written after a commit, never before; and since it may lag, it need not be synced
 * with every charge, which would cost a third of the speed: it is synced when the handle is
 * closed.  A crash in between makes the anchor older, which takes away some of what it can notice
 * and nothing of what the user can do.
 *
 * The file is text: two records of 512 bytes, a sector each, written in turn, and then the path
 * of the ledger.  Each record ends with a keyed hash of itself; one that does not fit, because
 * the power went off while it was written, leaves the other one.
 */
#include "ledger/ledger_internal.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RECORD = 512, PATH_AT = 2 * RECORD };

typedef unsigned long long number; /* for printf */

/* ---- records --------------------------------------------------------------- */

static void write_hex(char *text, const uint8_t *bytes, size_t count)
{
    sodium_bin2hex(text, 2 * count + 1, bytes, count);
}

/* The record as it stands in the file, line ends up to its full size. */
static void format_record(const clo_i_key *key, const char *identity, const clo_i_mark *mark,
                          char record[RECORD + 1])
{
    char charge[2 * LEDGER_HASH + 1], declaration[2 * LEDGER_HASH + 1], check[2 * LEDGER_HASH + 1];
    uint8_t hash[LEDGER_HASH];
    write_hex(charge, mark->charge_hash, LEDGER_HASH);
    write_hex(declaration, mark->declaration_hash, LEDGER_HASH);
    memset(record, '\n', RECORD);
    record[RECORD] = 0;
    int length =
        snprintf(record, RECORD,
                 "cloister anchor 1\nledger %s\ncharges %020llu %s\n"
                 "declarations %020llu %s\n",
                 identity, (number)mark->charges, charge, (number)mark->declarations, declaration);
    crypto_generichash(hash, sizeof hash, (const uint8_t *)record, (size_t)length, key->bytes,
                       LEDGER_KEY);
    write_hex(check, hash, LEDGER_HASH);
    length += snprintf(record + length, (size_t)(RECORD - length), "check %s\n", check);
    record[length] = '\n'; /* where snprintf put its 0 */
}

static bool read_hex(const char *text, uint8_t *bytes, size_t count)
{
    size_t length = 0;
    return sodium_hex2bin(bytes, count, text, 2 * count, NULL, &length, NULL) == 0 &&
           length == count;
}

/* What is read must be what would be written: nothing else is an anchor. */
static bool parse_record(const clo_i_key *key, const char *identity, const char *record,
                         clo_i_mark *out)
{
    number charges = 0, declarations = 0;
    char charge[2 * LEDGER_HASH + 1], declaration[2 * LEDGER_HASH + 1], again[RECORD + 1];
    clo_i_mark mark;
    if (sscanf(record,
               "cloister anchor 1\nledger %*32[0-9a-f]\ncharges %20llu %64[0-9a-f]\n"
               "declarations %20llu %64[0-9a-f]\n",
               &charges, charge, &declarations, declaration) != 4)
        return false;
    mark.charges = charges;
    mark.declarations = declarations;
    if (!read_hex(charge, mark.charge_hash, LEDGER_HASH) ||
        !read_hex(declaration, mark.declaration_hash, LEDGER_HASH))
        return false;
    format_record(key, identity, &mark, again);
    if (memcmp(record, again, RECORD) != 0) return false;
    *out = mark;
    return true;
}

static uint64_t age(const clo_i_mark *mark)
{
    return mark->charges + mark->declarations; /* neither ever falls */
}

/* The later of the records that fit; false where none does. */
static bool read_mark(const clo_i_key *key, const char *identity, int file, clo_i_mark *out)
{
    bool any = false;
    for (int i = 0; i < 2; i++) {
        char record[RECORD + 1] = "";
        clo_i_mark mark;
        if (pread(file, record, RECORD, i * RECORD) != RECORD) continue;
        if (!parse_record(key, identity, record, &mark)) continue;
        if (!any || age(&mark) > age(out)) *out = mark;
        any = true;
    }
    return any;
}

static clo_i_mark mark_of(const clo_i_head *head)
{
    clo_i_mark mark = { .charges = head->charges, .declarations = head->declarations };
    memcpy(mark.charge_hash, head->charge_hash, LEDGER_HASH);
    memcpy(mark.declaration_hash, head->declaration_hash, LEDGER_HASH);
    return mark;
}

/* ---- the file -------------------------------------------------------------- */

static clo_status anchor_path(const uint8_t identity[LEDGER_IDENTITY], char path[PATH_MAX],
                              clo_error *err)
{
    char name[64] = "anchors/";
    write_hex(name + strlen(name), identity, LEDGER_IDENTITY);
    return clo_i_config_path(name, path, err);
}

/* The identity as the file's name has it. */
static const char *identity_in(const char *path)
{
    return strrchr(path, '/') + 1;
}

static clo_status fail_to_make(const char *path, int number_of, clo_error *err)
{
    char shown[168], text[128];
    clo_i_ledger_show_path(shown, path);
    return clo_i_fail(err, CLO_LEDGER,
                      "the anchor %s, which tells the ledger from an old copy of it, cannot be "
                      "written: %s; make its folder writable, or make room",
                      shown, strerror_r(number_of, text, sizeof text));
}

static bool write_all(const clo_ledger *ledger, const char *identity, const clo_i_mark *mark,
                      int file)
{
    char record[RECORD + 1];
    const size_t length = strlen(ledger->resolved);
    format_record(&ledger->key, identity, mark, record);
    return write(file, record, RECORD) == RECORD && write(file, record, RECORD) == RECORD &&
           write(file, ledger->resolved, length) == (ssize_t)length && fsync(file) == 0;
}

/* As the key is made: whole, and once. */
static clo_status make_anchor(clo_ledger *ledger, const clo_i_head *head, clo_error *err)
{
    clo_i_anchor *const anchor = &ledger->anchor;
    const clo_i_mark mark = mark_of(head);
    char draft[PATH_MAX + 16];
    CLO_TRY(clo_i_ledger_make_folders(anchor->path, err));
    const int stem = (int)(identity_in(anchor->path) - anchor->path);
    snprintf(draft, sizeof draft, "%.*s.draft-XXXXXX", stem, anchor->path);
    const int file = mkostemp(draft, O_CLOEXEC);
    if (file < 0) return fail_to_make(anchor->path, errno, err);
    bool made = write_all(ledger, identity_in(anchor->path), &mark, file);
    int number_of = errno;
    close(file);
    if (made) {
        made = clo_i_ledger_put_in_place(draft, anchor->path);
        number_of = errno;
    } else {
        unlink(draft);
    }
    if (!made) return fail_to_make(anchor->path, number_of, err);
    anchor->file = open(anchor->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    return anchor->file < 0 ? fail_to_make(anchor->path, errno, err) : CLO_OK;
}

static void read_place(int file, char place[PATH_MAX])
{
    const ssize_t count = pread(file, place, PATH_MAX - 1, PATH_AT);
    place[count > 0 ? count : 0] = 0;
}

/* A ledger may be moved; the anchor then learns where it is. */
static void note_place(const clo_ledger *ledger)
{
    char place[PATH_MAX];
    const size_t length = strlen(ledger->resolved);
    read_place(ledger->anchor.file, place);
    if (strcmp(place, ledger->resolved) == 0) return;
    if (pwrite(ledger->anchor.file, ledger->resolved, length, PATH_AT) == (ssize_t)length &&
        ftruncate(ledger->anchor.file, PATH_AT + (off_t)length) == 0)
        (void)fdatasync(ledger->anchor.file);
}

/* The records are checked under the lock, so that of two processes the later charge stays.  Who
 * finds it taken leaves the anchor to the next one: it may lag, and a process that was stopped
 * with the lock in its hand must not stop the others. */
static void write_mark(clo_ledger *ledger)
{
    clo_i_anchor *const anchor = &ledger->anchor;
    const char *const identity = identity_in(anchor->path);
    char record[RECORD + 1];
    clo_i_mark there = { .charges = 0 };
    if (anchor->file < 0 || flock(anchor->file, LOCK_EX | LOCK_NB) != 0) return;
    if (!read_mark(&ledger->key, identity, anchor->file, &there) ||
        age(&there) < age(&anchor->mark)) {
        format_record(&ledger->key, identity, &anchor->mark, record);
        const off_t at = age(&anchor->mark) % 2 ? RECORD : 0;
        anchor->unsynced |= pwrite(anchor->file, record, RECORD, at) == RECORD;
    }
    flock(anchor->file, LOCK_UN);
}

void clo_i_anchor_advance(clo_ledger *ledger, const clo_i_head *head)
{
    const clo_i_mark mark = mark_of(head);
    if (age(&mark) > age(&ledger->anchor.mark)) ledger->anchor.mark = mark;
    write_mark(ledger);
}

void clo_i_anchor_close(clo_ledger *ledger)
{
    clo_i_anchor *const anchor = &ledger->anchor;
    if (anchor->file < 0) return;
    if (anchor->unsynced) (void)fdatasync(anchor->file);
    close(anchor->file);
    anchor->file = -1;
}

bool clo_i_anchor_is_there(const clo_ledger *ledger)
{
    return ledger->anchor.path[0] && access(ledger->anchor.path, F_OK) == 0;
}

/* ---- the checks: ledger.T9 -------------------------------------------------- */

static clo_status behind(const clo_ledger *ledger, const clo_i_mark *mark, const clo_i_head *head,
                         clo_error *err)
{
    char shown[168];
    clo_i_ledger_show_path(shown, ledger->anchor.path);
    return clo_i_fail(err, CLO_LEDGER,
                      "the ledger %s is an older copy or was cut short: it ends at charge %llu and "
                      "declaration %llu, and there were %llu and %llu; bring the newer file back, "
                      "or, if it is lost, accept that with rm '%s'",
                      ledger->shown, (number)head->charges, (number)head->declarations,
                      (number)mark->charges, (number)mark->declarations, shown);
}

static clo_status beside(const clo_ledger *ledger, const char *what, uint64_t at, clo_error *err)
{
    return clo_i_fail(err, CLO_LEDGER,
                      "the ledger %s is not the one that was here: its %s %llu is another one than "
                      "the anchor remembers; bring the right file back",
                      ledger->shown, what, (number)at);
}

/* The hash of an entry, of which the head knows only the last; false where there is none. */
static clo_status same_hash(clo_ledger *ledger, const char *text, uint64_t at, const uint8_t *hash,
                            bool *same, clo_error *err)
{
    uint8_t there[LEDGER_HASH] = { 0 };
    clo_i_sql sql = clo_i_sql_start(ledger, text);
    clo_i_sql_units(&sql, at);
    if (clo_i_sql_row(&sql)) clo_i_sql_get_bytes(&sql, 0, there, LEDGER_HASH);
    CLO_TRY(clo_i_sql_finish(&sql, err));
    *same = memcmp(there, hash, LEDGER_HASH) == 0;
    return CLO_OK;
}

static clo_status compare(clo_ledger *ledger, const clo_i_mark *mark, const clo_i_head *head,
                          clo_error *err)
{
    bool same = true;
    if (head->charges < mark->charges || head->declarations < mark->declarations)
        return behind(ledger, mark, head, err);
    if (mark->charges > 0)
        CLO_TRY(same_hash(ledger, "SELECT hash FROM charge WHERE sequence = ?", mark->charges,
                          mark->charge_hash, &same, err));
    if (!same) return beside(ledger, "charge", mark->charges, err);
    if (mark->declarations > 0)
        CLO_TRY(same_hash(ledger, "SELECT hash FROM declaration WHERE sequence = ?",
                          mark->declarations, mark->declaration_hash, &same, err));
    return same ? CLO_OK : beside(ledger, "declaration", mark->declarations, err);
}

/* Opens the anchor and reads it; nothing is open where there is none. */
static clo_status open_anchor(clo_ledger *ledger, const clo_i_head *head, clo_error *err)
{
    clo_i_anchor *const anchor = &ledger->anchor;
    char shown[168], text[128];
    CLO_TRY(anchor_path(head->identity, anchor->path, err));
    anchor->file =
        open(anchor->path, (ledger->reading ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NOFOLLOW);
    if (anchor->file < 0 && errno == ENOENT) return CLO_OK;
    clo_i_ledger_show_path(shown, anchor->path);
    if (anchor->file < 0)
        return clo_i_fail(err, CLO_LEDGER, "the anchor %s of the ledger %s cannot be opened: %s",
                          shown, ledger->shown, strerror_r(errno, text, sizeof text));
    if (!read_mark(&ledger->key, identity_in(anchor->path), anchor->file, &anchor->mark))
        return clo_i_fail(err, CLO_LEDGER,
                          "the anchor %s of the ledger %s is damaged, so an old copy could not be "
                          "told: look at the ledger's history, and, if it is whole, rm '%s'",
                          shown, ledger->shown, shown);
    return CLO_OK;
}

clo_status clo_i_anchor_check_head(const clo_ledger *ledger, const clo_i_head *head, clo_error *err)
{
    const clo_i_mark *const mark = &ledger->anchor.mark;
    if (head->charges < mark->charges || head->declarations < mark->declarations)
        return behind(ledger, mark, head, err);
    if (head->charges == mark->charges && mark->charges > 0 &&
        memcmp(head->charge_hash, mark->charge_hash, LEDGER_HASH) != 0)
        return beside(ledger, "charge", mark->charges, err);
    return CLO_OK;
}

clo_status clo_i_anchor_check(clo_ledger *ledger, clo_error *err)
{
    clo_i_head head;
    CLO_TRY(clo_i_ledger_get_head(ledger, &head, err)); /* for the identity, which stays */
    /* The anchor first: between the two somebody may charge, and a ledger is never behind. */
    CLO_TRY(open_anchor(ledger, &head, err));
    CLO_TRY(clo_i_ledger_get_head(ledger, &head, err));
    if (ledger->anchor.file >= 0) {
        CLO_TRY(compare(ledger, &ledger->anchor.mark, &head, err));
        if (ledger->reading) return CLO_OK;
        note_place(ledger);
        clo_i_anchor_advance(ledger, &head);
        return CLO_OK;
    }
    if (ledger->reading) return CLO_OK;
    CLO_TRY(clo_i_anchor_check_place(ledger, head.identity, err));
    CLO_TRY(make_anchor(ledger, &head, err));
    ledger->anchor.mark = mark_of(&head);
    return CLO_OK;
}

/* ---- a ledger that is gone --------------------------------------------------- */

/* Whether the anchor of that name stands for another ledger, with a past, at this place. */
static bool is_of_another(const clo_ledger *ledger, const char *folder, const char *name,
                          const char *identity, clo_i_mark *mark)
{
    char path[PATH_MAX + 64], place[PATH_MAX];
    if (strlen(name) != 2 * LEDGER_IDENTITY || strcmp(name, identity) == 0) return false;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return false;
    read_place(file, place);
    const bool other = strcmp(place, ledger->resolved) == 0 &&
                       read_mark(&ledger->key, name, file, mark) && age(mark) > 0;
    close(file);
    return other;
}

clo_status clo_i_anchor_check_place(const clo_ledger *ledger,
                                    const uint8_t identity[LEDGER_IDENTITY], clo_error *err)
{
    char folder[PATH_MAX], shown[168], own[2 * LEDGER_IDENTITY + 1] = "", gone[64] = "";
    clo_i_mark mark = { .charges = 0 };
    CLO_TRY(clo_i_config_path("anchors", folder, err));
    if (identity) write_hex(own, identity, LEDGER_IDENTITY);
    DIR *const names = opendir(folder);
    if (!names) return CLO_OK; /* there never was a ledger */
    for (const struct dirent *entry; !gone[0] && (entry = readdir(names));)
        if (is_of_another(ledger, folder, entry->d_name, own, &mark))
            snprintf(gone, sizeof gone, "%.40s", entry->d_name);
    closedir(names);
    if (!gone[0]) return CLO_OK;
    clo_i_ledger_show_path(shown, folder);
    return clo_i_fail(
        err, CLO_LEDGER,
        "at %s there was a ledger that ended at charge %llu and declaration %llu, and "
        "it is gone: bring it back, or name another file, or, if it is lost, accept that with rm "
        "'%s/%s'",
        ledger->shown, (number)mark.charges, (number)mark.declarations, shown, gone);
}
