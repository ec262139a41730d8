/*
 * ledger_anchor.c - where the ledger ended last time, kept outside of it.
 *
 * A chain of hashes shows that nothing in it was changed; it cannot show that it was longer once,
 * nor that a copy of it goes on elsewhere.  The anchor can: a small file beside the key, one for a
 * ledger and all of its copies, since it is named by the identity that they share.  It holds the
 * numbers and hashes of the last charge and the last declaration that were acknowledged in any of
 * them.  A ledger that lacks these, or holds others in their place, is an old copy or another
 * history, and is not charged.
 *
 * The rule is one inequality: a ledger may be ahead of the anchor, never behind (ledger.T9).  So
 * the anchor is read, under its lock, in every transaction that charges; it is written after the
 * commit, never before; and nothing is acknowledged before it is on its disk, because from then on
 * something may be released that an old copy knows nothing of.  Who dies between the two leaves a
 * ledger that is ahead by an entry for which nothing was released.
 *
 * The file is text: two records of 512 bytes, a sector each, and then the places where the ledger
 * and its copies lie (ledger_places.c).  A record is written over the older one, in place, so that
 * a full disk has room for it, and only once the newer one is known to be on the disk.  Each ends
 * with a keyed hash of itself; one that does not fit, because the power went off while it was
 * written, leaves the other one.
 */
#include "ledger/ledger_internal.h"
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { HEX = 2 * LEDGER_HASH };

typedef unsigned long long number; /* for printf */

#ifdef CLO_FAULT_INJECTION
ssize_t (*clo_i_anchor_pwrite)(int file, const void *bytes, size_t count, off_t at) = pwrite;
int (*clo_i_anchor_fdatasync)(int file) = fdatasync;
#else
#define clo_i_anchor_pwrite    pwrite
#define clo_i_anchor_fdatasync fdatasync
#endif

/* ---- records --------------------------------------------------------------- */

static void write_hex(char *text, const uint8_t *bytes, size_t count)
{
    sodium_bin2hex(text, 2 * count + 1, bytes, count);
}

static bool read_hex(const char *text, uint8_t *bytes, size_t count)
{
    size_t length = 0;
    return sodium_hex2bin(bytes, count, text, 2 * count, NULL, &length, NULL) == 0 &&
           length == count;
}

/* Ends the record with the hash of its text, and line ends up to its full size. */
static void seal_record(const clo_i_key *key, char record[ANCHOR_RECORD + 1], int length)
{
    uint8_t hash[LEDGER_HASH];
    char check[HEX + 1];
    crypto_generichash(hash, sizeof hash, (const uint8_t *)record, (size_t)length, key->bytes,
                       LEDGER_KEY);
    write_hex(check, hash, LEDGER_HASH);
    length += snprintf(record + length, (size_t)(ANCHOR_RECORD - length), "check %s\n", check);
    memset(record + length, '\n', (size_t)(ANCHOR_RECORD - length));
    record[ANCHOR_RECORD] = 0;
}

/* The record as it stands in the file; format 1 had no number and no sum. */
static void format_record(const clo_i_key *key, const char *identity, const clo_i_note *note,
                          int format, char record[ANCHOR_RECORD + 1])
{
    const clo_i_mark *const mark = &note->mark;
    char charge[HEX + 1], declaration[HEX + 1], sum[HEX + 1];
    write_hex(charge, mark->charge_hash, LEDGER_HASH);
    write_hex(declaration, mark->declaration_hash, LEDGER_HASH);
    write_hex(sum, note->sum, LEDGER_HASH);
    if (!note->summed) memset(sum, '-', HEX);
    int length =
        snprintf(record, ANCHOR_RECORD, "cloister anchor %d\nledger %s\n", format, identity);
    if (format > 1)
        length += snprintf(record + length, (size_t)(ANCHOR_RECORD - length),
                           "note %020llu\naccounts %s\n", (number)note->number, sum);
    length += snprintf(record + length, (size_t)(ANCHOR_RECORD - length),
                       "charges %020llu %s\ndeclarations %020llu %s\n", (number)mark->charges,
                       charge, (number)mark->declarations, declaration);
    seal_record(key, record, length);
}

static bool scan_mark(const char *text, clo_i_mark *mark)
{
    number charges = 0, declarations = 0;
    char charge[HEX + 1], declaration[HEX + 1];
    if (sscanf(text, "charges %20llu %64[0-9a-f]\ndeclarations %20llu %64[0-9a-f]\n", &charges,
               charge, &declarations, declaration) != 4)
        return false;
    mark->charges = charges;
    mark->declarations = declarations;
    return read_hex(charge, mark->charge_hash, LEDGER_HASH) &&
           read_hex(declaration, mark->declaration_hash, LEDGER_HASH);
}

/* What is read must be what would be written: nothing else is an anchor. */
static bool parse_record(const clo_i_key *key, const char *identity, const char *record,
                         clo_i_note *out)
{
    clo_i_note note = { .number = 0 };
    number given = 0;
    int format = 0, at = -1;
    char sum[HEX + 1] = "", again[ANCHOR_RECORD + 1];
    if (sscanf(record, "cloister anchor %1d\nledger %*32[0-9a-f]\n%n", &format, &at) != 1 || at < 0)
        return false;
    const char *rest = record + at;
    if (format > 1) {
        at = -1;
        if (sscanf(rest, "note %20llu\naccounts %64[0-9a-f-]\n%n", &given, sum, &at) != 2 || at < 0)
            return false;
        rest += at;
        note.summed = sum[0] != '-' && read_hex(sum, note.sum, LEDGER_HASH);
    }
    if (!scan_mark(rest, &note.mark)) return false;
    /* Records of format 1 were numbered by what they told of, and lay where that says. */
    note.number = format > 1 ? given : note.mark.charges + note.mark.declarations;
    format_record(key, identity, &note, format, again);
    if (memcmp(record, again, ANCHOR_RECORD) != 0) return false;
    *out = note;
    return true;
}

/* The number that a record claims for itself; 0 where it claims none. */
static number claimed_number(const char *record)
{
    number given = 0;
    if (sscanf(record, "cloister anchor 2\nledger %*32[0-9a-f]\nnote %20llu\n", &given) != 1)
        return 0;
    return given;
}

/* The newer record that is sound.  Where both claim a number, the one that claims less is looked at
 * only if the other one is not sound. */
static bool read_notes(const clo_i_key *key, const char *identity, int file, clo_i_note *out)
{
    char both[2 * ANCHOR_RECORD + 1] = "", record[ANCHOR_RECORD + 1] = "";
    const ssize_t length = pread(file, both, sizeof both - 1, 0);
    const int number_of = length < 0 ? errno : 0;
    const number claims[2] = { claimed_number(both), claimed_number(both + ANCHOR_RECORD) };
    const int first = claims[1] > claims[0];
    clo_i_note found = { .number = 0 };
    bool any = false;
    for (int i = 0; i < 2; i++) {
        const int at = i ? 1 - first : first;
        clo_i_note note;
        if (length < (at + 1) * (ssize_t)ANCHOR_RECORD) continue;
        memcpy(record, both + at * ANCHOR_RECORD, ANCHOR_RECORD);
        if (!parse_record(key, identity, record, &note)) continue;
        if (!any || note.number > found.number) found = note;
        any = true;
        if (claims[0] && claims[1]) break;
    }
    if (any) *out = found;
    errno = number_of;
    return any;
}

/* Who reads without the lock may see half of a record that is being written, and if it is slow,
 * half of the other one too: it looks again.  errno: 0 where what was read fits nothing. */
bool clo_i_anchor_read(const clo_i_key *key, const char *identity, int file, clo_i_note *out)
{
    int number_of = 0;
    for (int tries = 0; tries < 20; tries++) {
        const struct timespec nap = { .tv_nsec = 1000000 };
        if (read_notes(key, identity, file, out)) return true;
        number_of = errno;
        nanosleep(&nap, NULL);
    }
    errno = number_of;
    return false;
}

clo_i_mark clo_i_mark_of(const clo_i_head *head)
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

static clo_status fail_to_write(const char *path, int number_of, clo_error *err)
{
    char shown[168], text[128];
    clo_i_ledger_show_path(shown, path);
    return clo_i_fail(err, CLO_LEDGER,
                      "the anchor %s, which protects the ledger against old copies, cannot be "
                      "written: %s; nothing was recorded; make its folder writable, or free space "
                      "on its disk",
                      shown, strerror_r(number_of, text, sizeof text));
}

static clo_status fail_to_open(const clo_ledger *ledger, int number_of, clo_error *err)
{
    char shown[168], text[128];
    clo_i_ledger_show_path(shown, ledger->anchor.path);
    return clo_i_fail(err, CLO_LEDGER, "the anchor %s of the ledger %s cannot be opened: %s", shown,
                      ledger->shown, strerror_r(number_of, text, sizeof text));
}

/* number_of: why it could not be read; 0: it was, and does not fit. */
static clo_status fail_to_read(const clo_ledger *ledger, int number_of, clo_error *err)
{
    char shown[168], text[128];
    clo_i_ledger_show_path(shown, ledger->anchor.path);
    if (number_of)
        return clo_i_fail(err, CLO_LEDGER, "the anchor %s of the ledger %s cannot be read: %s",
                          shown, ledger->shown, strerror_r(number_of, text, sizeof text));
    return clo_i_fail(err, CLO_LEDGER,
                      "the anchor %s of the ledger %s is damaged or belongs to another key, so an "
                      "old copy would not be noticed: bring the right anchor back, or run "
                      "cloister ledger restore",
                      shown, ledger->shown);
}

static bool write_first(const clo_ledger *ledger, const clo_i_note *note, int file)
{
    char record[ANCHOR_RECORD + 1];
    format_record(&ledger->key, identity_in(ledger->anchor.path), note, 2, record);
    for (int i = 0; i < 2; i++)
        if (clo_i_anchor_pwrite(file, record, ANCHOR_RECORD, i * ANCHOR_RECORD) != ANCHOR_RECORD)
            return false;
    clo_i_places_note(ledger, file);
    return fsync(file) == 0;
}

/* As the key is made: whole, and once; another process may have been quicker, for this ledger or a
 * copy of it.  What the accounts add up to is left open: the first charge looks for itself. */
clo_status clo_i_anchor_make(clo_ledger *ledger, const clo_i_head *head, clo_error *err)
{
    const char *const path = ledger->anchor.path;
    const clo_i_note note = { .number = 1, .mark = clo_i_mark_of(head) };
    char draft[PATH_MAX + 16];
    CLO_TRY(clo_i_ledger_make_folders(path, err));
    snprintf(draft, sizeof draft, "%.*s.draft-XXXXXX", (int)(identity_in(path) - path), path);
    const int file = mkostemp(draft, O_CLOEXEC);
    if (file < 0) return fail_to_write(path, errno, err);
    bool made = write_first(ledger, &note, file);
    int number_of = errno;
    close(file);
    if (made) {
        made = clo_i_ledger_put_in_place(draft, path);
        number_of = errno;
    } else {
        unlink(draft);
    }
    return made ? CLO_OK : fail_to_write(path, number_of, err);
}

bool clo_i_anchor_is_there(const clo_ledger *ledger)
{
    return ledger->anchor.path[0] && !clo_i_ledger_is_gone(ledger->anchor.path);
}

/* ---- the comparison: ledger.T9 ---------------------------------------------- */

static clo_status behind(const clo_ledger *ledger, const clo_i_mark *mark, const clo_i_head *head,
                         clo_error *err)
{
    if (mark->charges == LEDGER_MOVED)
        return clo_i_fail(err, CLO_LEDGER,
                          "the ledger %s was moved to another machine: the file here is a copy, "
                          "which takes no more charges",
                          ledger->shown);
    return clo_i_fail(err, CLO_LEDGER,
                      "the ledger %s is an older copy: it ends at charge %llu and declaration "
                      "%llu, but there were %llu and %llu; bring the newer file back, or, if it "
                      "is lost, run cloister ledger restore, which charges what is missing",
                      ledger->shown, (number)head->charges, (number)head->declarations,
                      (number)mark->charges, (number)mark->declarations);
}

static clo_status beside(const clo_ledger *ledger, const char *what, uint64_t at, clo_error *err)
{
    return clo_i_fail(err, CLO_LEDGER,
                      "the ledger %s is not the one that was here: its %s %llu differs from that "
                      "in the anchor; bring the right file back",
                      ledger->shown, what, (number)at);
}

/* Whether the entry has this hash; of its chain's last one the head knows it. */
static clo_status same_hash(clo_ledger *ledger, const char *text, uint64_t at, uint64_t last,
                            const uint8_t *last_hash, const uint8_t *hash, bool *same,
                            clo_error *err)
{
    uint8_t there[LEDGER_HASH] = { 0 };
    if (at == last) {
        *same = memcmp(last_hash, hash, LEDGER_HASH) == 0;
        return CLO_OK;
    }
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
                          head->charges, head->charge_hash, mark->charge_hash, &same, err));
    if (!same) return beside(ledger, "charge", mark->charges, err);
    if (mark->declarations > 0)
        CLO_TRY(same_hash(ledger,
                          ledger->schema < 4 ? "SELECT hash FROM declaration WHERE sequence = ?1"
                                             : "SELECT hash FROM declaration WHERE sequence = ?1 "
                                               "UNION ALL SELECT hash FROM act WHERE sequence = ?1",
                          mark->declarations, head->declarations, head->declaration_hash,
                          mark->declaration_hash, &same, err));
    return same ? CLO_OK : beside(ledger, "declaration", mark->declarations, err);
}

/* Compares with what the anchor says and with what this handle has seen itself. */
static clo_status compare_both(clo_ledger *ledger, const clo_i_note *note, const clo_i_head *head,
                               clo_error *err)
{
    char identity[2 * LEDGER_IDENTITY + 1];
    write_hex(identity, head->identity, LEDGER_IDENTITY);
    if (strcmp(identity, identity_in(ledger->anchor.path)) != 0)
        return clo_i_fail(err, CLO_LEDGER,
                          "somebody replaced the ledger %s while it was open: bring the right "
                          "file back",
                          ledger->shown);
    CLO_TRY(compare(ledger, &ledger->anchor.mark, head, err));
    if (clo_i_ledger_planted(ledger, CLO_PLANTED_OLD_ANCHOR)) return CLO_OK;
    return compare(ledger, &note->mark, head, err);
}

/* ---- for reading, without the lock ------------------------------------------- */

/* *there: false where there is no anchor. */
static clo_status look(const clo_ledger *ledger, clo_i_note *note, bool *there, clo_error *err)
{
    const char *const path = ledger->anchor.path;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    *there = file >= 0;
    if (file < 0) return errno == ENOENT ? CLO_OK : fail_to_open(ledger, errno, err);
    const bool right = clo_i_anchor_read(&ledger->key, identity_in(path), file, note);
    const int number_of = errno;
    close(file);
    return right ? CLO_OK : fail_to_read(ledger, number_of, err);
}

/* The reader's lock keeps everybody from committing to this file, and the anchor is moved after
 * the commit: if it is ahead of the head all the same, then because of a copy. */
clo_status clo_i_anchor_check_head(clo_ledger *ledger, const clo_i_head *head, clo_error *err)
{
    clo_i_note note;
    bool there = false;
    if (!ledger->anchor.path[0]) return CLO_OK; /* nor is there a key */
    CLO_TRY(look(ledger, &note, &there, err));
    if (!there) note = (clo_i_note){ .number = 0 };
    return compare_both(ledger, &note, head, err);
}

/* Best effort: who has the lock charges, and need not wait for this. */
static void note_place(const clo_ledger *ledger)
{
    const int file = open(ledger->anchor.path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0) clo_i_places_note(ledger, file);
    if (file >= 0) close(file);
}

/* Who had an anchor has lost it, and with it who could say whether the file is an old copy.  A
 * ledger in which nothing was declared or charged, or nothing since there are anchors, had none. */
static clo_status check_fresh(clo_ledger *ledger, const clo_i_head *head, clo_error *err)
{
    char shown[168];
    int64_t caps = 0;
    CLO_TRY(
        clo_i_sql_number(ledger, "SELECT count(*) FROM declaration WHERE format <> 1", &caps, err));
    if (head->charges == head->plain_charges && caps == 0) return CLO_OK;
    clo_i_ledger_show_path(shown, ledger->anchor.path);
    return clo_i_fail(
        err, CLO_LEDGER,
        "the anchor %s of the ledger %s is missing, so this may be an old copy: bring the anchor "
        "back, or, if it is lost, run cloister ledger restore, which charges what may be missing",
        shown, ledger->shown);
}

clo_status clo_i_anchor_find(clo_ledger *ledger, const clo_i_head *head, clo_error *err)
{
    return anchor_path(head->identity, ledger->anchor.path, err);
}

clo_status clo_i_anchor_check(clo_ledger *ledger, clo_error *err)
{
    clo_i_head head;
    clo_i_note note;
    bool there = false;
    CLO_TRY(clo_i_ledger_get_head(ledger, &head, err)); /* for the identity, which stays */
    CLO_TRY(anchor_path(head.identity, ledger->anchor.path, err));
    /* The anchor first: between the two somebody may charge, and a ledger is never behind. */
    CLO_TRY(look(ledger, &note, &there, err));
    CLO_TRY(clo_i_ledger_get_head(ledger, &head, err));
    if (there) CLO_TRY(compare_both(ledger, &note, &head, err));
    if (!there && !ledger->reading) {
        CLO_TRY(check_fresh(ledger, &head, err));
        CLO_TRY(clo_i_places_check(ledger, head.identity, err));
        CLO_TRY(clo_i_anchor_make(ledger, &head, err));
    }
    if (there && !ledger->reading) note_place(ledger);
    ledger->anchor.mark = clo_i_mark_of(&head);
    return CLO_OK;
}

/* ---- for writing, with the lock ----------------------------------------------- */

/* The anchor may have been removed, and another one made, while this process waited for its lock:
 * then it holds the lock of nothing. */
static bool is_named(int file, const char *path, int *number_of)
{
    struct stat held, named;
    *number_of = 0;
    if (fstat(file, &held) != 0 || lstat(path, &named) != 0) {
        *number_of = errno == ENOENT ? 0 : errno; /* removed: opening it again says so */
        return false;
    }
    return held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

static clo_status fail_to_lock(const clo_ledger *ledger, int number_of, clo_error *err)
{
    char shown[168], text[128];
    if (number_of == EWOULDBLOCK)
        return clo_i_fail(err, CLO_LEDGER,
                          "another process has used the anchor of the ledger %s for more than %g "
                          "seconds, so nothing was recorded: try again later",
                          ledger->shown, ledger->patience_ms / 1000.0);
    clo_i_ledger_show_path(shown, ledger->anchor.path);
    return clo_i_fail(err, CLO_LEDGER,
                      "the anchor %s cannot be locked (%s), so nothing was recorded: set "
                      "XDG_CONFIG_HOME to a folder on a file system with locks",
                      shown, strerror_r(number_of, text, sizeof text));
}

static clo_status fail_to_find(const clo_ledger *ledger, int number_of, clo_error *err)
{
    char shown[168];
    if (number_of != ENOENT) return fail_to_write(ledger->anchor.path, number_of, err);
    clo_i_ledger_show_path(shown, ledger->anchor.path);
    return clo_i_fail(err, CLO_LEDGER,
                      "the anchor %s of the ledger %s was removed while the ledger was open, so "
                      "nothing was recorded: open it again",
                      shown, ledger->shown);
}

/* Opened anew each time: the locks and contents of an old handle may be of a file that is gone. */
static clo_status lock_anchor(clo_ledger *ledger, int *out, clo_error *err)
{
    const char *const path = ledger->anchor.path;
    for (int tries = 0;;) {
        const int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
        if (file < 0) return fail_to_find(ledger, errno, err);
        const bool locked = clo_i_ledger_planted(ledger, CLO_PLANTED_NO_LOCK) ||
                            flock(file, LOCK_EX | LOCK_NB) == 0;
        const int number_of = errno;
        int unseen = 0;
        if (locked && is_named(file, path, &unseen)) {
            *out = file;
            return CLO_OK;
        }
        close(file);
        if (unseen) return fail_to_open(ledger, unseen, err);
        if (locked || number_of == EINTR) continue;
        if (number_of != EWOULDBLOCK || !clo_i_sql_wait(ledger, tries++))
            return fail_to_lock(ledger, number_of, err);
    }
}

clo_status clo_i_anchor_take(clo_ledger *ledger, const clo_i_head *head, clo_i_held *out,
                             clo_error *err)
{
    clo_i_held held = { .file = -1 };
    CLO_TRY(lock_anchor(ledger, &held.file, err));
    clo_status status =
        clo_i_anchor_read(&ledger->key, identity_in(ledger->anchor.path), held.file, &held.note)
            ? compare_both(ledger, &held.note, head, err)
            : fail_to_read(ledger, errno, err);
    if (status)
        clo_i_anchor_release(&held);
    else
        *out = held;
    return status;
}

void clo_i_anchor_release(clo_i_held *held)
{
    if (held->file < 0) return;
    flock(held->file, LOCK_UN); /* also where a child of a fork has it open */
    close(held->file);
    held->file = -1;
}

bool clo_i_anchor_is_at(const clo_i_held *held, const clo_i_head *head)
{
    const clo_i_mark mark = clo_i_mark_of(head), *const there = &held->note.mark;
    return mark.charges == there->charges && mark.declarations == there->declarations &&
           memcmp(mark.charge_hash, there->charge_hash, LEDGER_HASH) == 0 &&
           memcmp(mark.declaration_hash, there->declaration_hash, LEDGER_HASH) == 0;
}

/* Notes have the slots of odd and even numbers in turn. */
static bool write_note(const clo_ledger *ledger, const clo_i_held *held, const clo_i_note *note)
{
    char record[ANCHOR_RECORD + 1];
    format_record(&ledger->key, identity_in(ledger->anchor.path), note, 2, record);
    return clo_i_anchor_pwrite(held->file, record, ANCHOR_RECORD,
                               note->number % 2 * ANCHOR_RECORD) == ANCHOR_RECORD;
}

/* What stands there is written once more, over the older record.  Another process may have died
 * before it had the newer one on the disk; it is put there first, so that at no time both depend on
 * what the disk has not got. */
clo_status clo_i_anchor_prepare(clo_ledger *ledger, const clo_i_held *held, clo_error *err)
{
    clo_i_note again = held->note;
    again.number++;
    const bool right =
        (held->note.number == ledger->anchor.synced || clo_i_anchor_fdatasync(held->file) == 0) &&
        write_note(ledger, held, &again);
    return right ? CLO_OK : fail_to_write(ledger->anchor.path, errno, err);
}

clo_status clo_i_anchor_move(clo_ledger *ledger, const clo_i_held *held, const clo_i_head *head,
                             const uint8_t sum[LEDGER_HASH], clo_error *err)
{
    clo_i_note next = { .number = held->note.number + 1,
                        .mark = clo_i_mark_of(head),
                        .summed = true };
    char shown[168], text[128];
    memcpy(next.sum, sum, LEDGER_HASH);
    ledger->anchor.mark = next.mark;
    if (clo_i_ledger_planted(ledger, CLO_PLANTED_UNMOVED_ANCHOR)) return CLO_OK;
    bool right = false;
    for (int tries = 0; !right && tries < 2; tries++) /* it is committed: one failure is no end */
        right = write_note(ledger, held, &next) &&
                (clo_i_ledger_planted(ledger, CLO_PLANTED_UNSYNCED_ANCHOR) ||
                 clo_i_anchor_fdatasync(held->file) == 0);
    if (right) {
        ledger->anchor.synced = next.number;
        return CLO_OK;
    }
    const int number_of = errno;
    clo_i_ledger_show_path(shown, ledger->anchor.path);
    return clo_i_fail(err, CLO_LEDGER,
                      "the charge was recorded in the ledger %s and counts, but the anchor %s "
                      "could not be written (%s), so the run ended: check the disk of the anchor "
                      "and try again",
                      ledger->shown, shown, strerror_r(number_of, text, sizeof text));
}

/* ---- for who brings a ledger back: ledger.T17 --------------------------------------- */

clo_status clo_i_anchor_open(clo_ledger *ledger, clo_i_held *out, bool *there, bool *readable,
                             clo_error *err)
{
    clo_i_held held = { .file = -1 };
    *there = *readable = false;
    if (!clo_i_anchor_is_there(ledger)) {
        *out = held;
        return CLO_OK;
    }
    CLO_TRY(lock_anchor(ledger, &held.file, err));
    *there = true;
    *readable =
        clo_i_anchor_read(&ledger->key, identity_in(ledger->anchor.path), held.file, &held.note);
    if (!*readable && errno) { /* a disk that fails is no anchor that is lost */
        const clo_status status = fail_to_read(ledger, errno, err);
        clo_i_anchor_release(&held);
        return status;
    }
    *out = held;
    return CLO_OK;
}

clo_status clo_i_anchor_is_behind(clo_ledger *ledger, const clo_i_note *note,
                                  const clo_i_head *head, bool *is_behind, clo_error *err)
{
    clo_error why = { .message = "" };
    const clo_status status = compare(ledger, &note->mark, head, &why);
    *is_behind = status == CLO_LEDGER;
    if (!status || status == CLO_LEDGER) return CLO_OK;
    return clo_i_fail(err, status, "%s", why.message);
}

clo_status clo_i_anchor_sync(clo_ledger *ledger, const clo_i_held *held, clo_error *err)
{
    return clo_i_anchor_fdatasync(held->file) == 0 ? CLO_OK
                                                   : fail_to_write(ledger->anchor.path, errno, err);
}

/* The older record goes first, and not before the newer one is on the disk: at any time a whole one
 * is there, and it is the old end or the new one.  (Under a new key the old one's readers would
 * otherwise fall back to the end before the last.) */
clo_status clo_i_anchor_set(clo_ledger *ledger, const clo_i_held *held, const clo_i_note *note,
                            clo_error *err)
{
    char record[ANCHOR_RECORD + 1];
    format_record(&ledger->key, identity_in(ledger->anchor.path), note, 2, record);
    CLO_TRY(clo_i_anchor_sync(ledger, held, err));
    for (uint64_t i = 1; i <= 2; i++) {
        const off_t at = (off_t)((held->note.number + i) % 2) * ANCHOR_RECORD;
        if (clo_i_anchor_pwrite(held->file, record, ANCHOR_RECORD, at) != ANCHOR_RECORD ||
            clo_i_anchor_fdatasync(held->file) != 0)
            return fail_to_write(ledger->anchor.path, errno, err);
    }
    return CLO_OK;
}
