/*
 * ledger_open.c - the ledger's file: where it is, who may write it, and in which mode.
 *
 * A ledger that forgets a charge, or that somebody else can rewrite, is worse than none, because
 * it is believed.  So nothing is taken on trust here: the file must be a plain file with one name
 * that only its owner can write, the settings that make a commit durable are read back after they
 * were set, and whatever is not exactly a ledger of a known version is refused.
 *
 * journal_mode=DELETE with synchronous=EXTRA is the one mode that survives a power cut without
 * losing an acknowledged commit and is not touched by the WAL reset defect of SQLite before 3.51.3;
 * EXTRA also syncs the folder after the journal is deleted, which is the commit itself.
 *
 * SQLITE_OPEN_NOFOLLOW refuses a symbolic link anywhere in the path, also an honest one above the
 * folder.  The path is therefore resolved first and the result opened with NOFOLLOW: links work,
 * all of a file's names share one journal, and a link that appears in between is refused.
 */
#include "ledger/ledger_internal.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- the file -------------------------------------------------------------- */

/* A message holds about 500 bytes and a path can have 4096: its end is what tells. */
void clo_i_ledger_show_path(char shown[168], const char *path)
{
    const size_t length = strlen(path);
    if (length < 160)
        memcpy(shown, path, length + 1);
    else
        snprintf(shown, 168, "...%s", path + (length - 160));
}

static clo_status fail_to_create(const char *what, const char *path, int number, clo_error *err)
{
    char shown[168], text[128];
    clo_i_ledger_show_path(shown, path);
    switch (number) {
    case EACCES:
    case EPERM:
        return clo_i_fail(err, CLO_LEDGER,
                          "the %s %s cannot be created: its folder cannot be written by this user; "
                          "name another place or allow it with chmod u+w",
                          what, shown);
    case EROFS:
        return clo_i_fail(err, CLO_LEDGER,
                          "the %s %s cannot be created: the disk is read-only; name another place",
                          what, shown);
    case ENOSPC:
    case EDQUOT:
        return clo_i_fail(err, CLO_LEDGER,
                          "the %s %s cannot be created: the disk is full; make room or name "
                          "another place",
                          what, shown);
    default:
        return clo_i_fail(err, CLO_LEDGER, "the %s %s cannot be created: %s; name another place",
                          what, shown, strerror_r(number, text, sizeof text));
    }
}

static void folder_of(const char *path, char folder[PATH_MAX])
{
    const char *const slash = strrchr(path, '/');
    if (!slash)
        memcpy(folder, ".", 2);
    else if (slash == path)
        memcpy(folder, "/", 2);
    else {
        memcpy(folder, path, (size_t)(slash - path));
        folder[slash - path] = 0;
    }
}

/* A new name survives a power cut only once the folder that holds it is on the disk. */
bool clo_i_ledger_sync_folder_of(const char *path)
{
    char folder[PATH_MAX];
    folder_of(path, folder);
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return true; /* one may be allowed to write a folder and not to read it */
    const bool synced = fsync(fd) == 0;
    close(fd);
    return synced;
}

/* What another process was quicker to make, and has perhaps used, is never replaced.  Some file
 * systems have no links. */
bool clo_i_ledger_put_in_place(const char *draft, const char *path)
{
    const bool linked = link(draft, path) == 0 || errno == EEXIST;
    const bool done =
        linked ||
        ((errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS) &&
         (renameat2(AT_FDCWD, draft, AT_FDCWD, path, RENAME_NOREPLACE) == 0 || errno == EEXIST));
    const int number = errno;
    unlink(draft);
    clo_i_ledger_sync_folder_of(path);
    errno = number;
    return done;
}

clo_status clo_i_ledger_check_name(const char *path, clo_error *err)
{
    enum { MOST = 230 }; /* and ".restoring-journal" are below NAME_MAX */
    const char *const slash = strrchr(path, '/');
    if (strlen(slash ? slash + 1 : path) <= MOST) return CLO_OK;
    return clo_i_fail(err, CLO_ARGUMENT,
                      "the name of a ledger must have at most %d bytes: its journal lies beside it "
                      "under a longer one",
                      MOST);
}

bool clo_i_ledger_is_gone(const char *path)
{
    return access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

clo_status clo_i_ledger_make_folders(const char *path, clo_error *err)
{
    char folder[PATH_MAX];
    folder_of(path, folder);
    for (char *end = folder + 1;; end++) {
        const char kept = *end;
        if (kept != '/' && kept != 0) continue;
        *end = 0;
        const int number = mkdir(folder, 0700) == 0 ? 0 : errno;
        if (number == 0)
            clo_i_ledger_sync_folder_of(folder);
        else if (number != EEXIST && access(folder, F_OK) != 0)
            return fail_to_create("folder", folder, number, err);
        *end = kept;
        if (!kept) return CLO_OK;
    }
}

/* Makes the empty file with its final permissions.  Where it exists it is left alone, and above
 * all not opened: closing it again would drop the locks that this process holds on it. */
static clo_status make_file(const char *path, clo_error *err)
{
    if (access(path, F_OK) == 0) return CLO_OK;
    CLO_TRY(clo_i_ledger_make_folders(path, err));
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return errno == EEXIST ? CLO_OK : fail_to_create("ledger", path, errno, err);
    close(fd);
    clo_i_ledger_sync_folder_of(path);
    return CLO_OK;
}

static clo_status check_folder(const clo_ledger *ledger, const char *path, const struct stat *file,
                               clo_error *err)
{
    char folder[PATH_MAX], journal[PATH_MAX + 16], shown[168];
    struct stat st;
    folder_of(path, folder);
    clo_i_ledger_show_path(shown, folder);
    if (stat(folder, &st) != 0)
        return clo_i_fail(err, CLO_LEDGER, "the folder of the ledger %s cannot be read",
                          ledger->shown);
    if ((st.st_mode & S_IWOTH) && !(st.st_mode & S_ISVTX))
        return clo_i_fail(err, CLO_LEDGER,
                          "everybody can write the folder of the ledger %s, and could replace it: "
                          "run chmod o-w '%s'",
                          ledger->shown, shown);
    /* SQLite would replay a stranger's journal into the ledger. */
    snprintf(journal, sizeof journal, "%s-journal", path);
    if (lstat(journal, &st) == 0 &&
        (!S_ISREG(st.st_mode) || (st.st_uid != file->st_uid && st.st_uid != 0)))
        return clo_i_fail(err, CLO_LEDGER,
                          "beside the ledger %s is a journal that belongs to another user: find "
                          "out who put it there before you remove it",
                          ledger->shown);
    return CLO_OK;
}

static clo_status check_file(const clo_ledger *ledger, const char *path, clo_error *err)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return clo_i_fail(err, CLO_LEDGER, "the ledger %s cannot be read", ledger->shown);
    if (!S_ISREG(st.st_mode))
        return clo_i_fail(err, CLO_LEDGER,
                          "%s is not an ordinary file, so it cannot be a ledger: choose another "
                          "file",
                          ledger->shown);
    if (st.st_mode & (S_IWGRP | S_IWOTH))
        return clo_i_fail(err, CLO_LEDGER,
                          "other users can write the ledger %s: run chmod go-w '%s', then "
                          "cloister ledger verify",
                          ledger->shown, ledger->shown);
    if (st.st_nlink > 1)
        return clo_i_fail(err, CLO_LEDGER,
                          "the ledger %s has a second name (a hard link): remove that name",
                          ledger->shown);
    return check_folder(ledger, path, &st, err);
}

static clo_status find_file(clo_ledger *ledger, const char *path, char resolved[PATH_MAX],
                            clo_error *err)
{
    if (!realpath(path, resolved)) {
        const int number = errno;
        char text[128];
        if (number == ENOENT || number == ENOTDIR)
            return clo_i_fail(err, CLO_LEDGER,
                              "there is no ledger at %s: make one with cloister ledger init",
                              ledger->shown);
        return clo_i_fail(err, CLO_LEDGER, "the ledger %s cannot be found: %s", ledger->shown,
                          strerror_r(number, text, sizeof text));
    }
    return check_file(ledger, resolved, err);
}

/* ---- settings -------------------------------------------------------------- */

static clo_status demand_number(clo_ledger *ledger, const char *set, const char *get,
                                int64_t wanted, clo_error *err)
{
    int64_t value = 0;
    CLO_TRY(clo_i_sql_do(ledger, set, err));
    CLO_TRY(clo_i_sql_number(ledger, get, &value, err));
    if (value != wanted)
        return clo_i_fail(err, CLO_LEDGER,
                          "the ledger %s cannot be used safely with this build of SQLite (it "
                          "ignores \"%s\"): install an ordinary one",
                          ledger->shown, set);
    return CLO_OK;
}

static clo_status demand_journal(clo_ledger *ledger, clo_error *err)
{
    char mode[LEDGER_TEXT + 1] = "";
    clo_i_sql sql = clo_i_sql_start(ledger, "PRAGMA main.journal_mode = DELETE");
    if (clo_i_sql_row(&sql)) clo_i_sql_get_text(&sql, 0, mode);
    CLO_TRY(clo_i_sql_finish(&sql, err));
    if (strcmp(mode, "delete") != 0)
        return clo_i_fail(err, CLO_LEDGER,
                          "the ledger %s cannot be used safely: its journal mode is %s and could "
                          "not be set to delete",
                          ledger->shown, mode);
    return CLO_OK;
}

static clo_status demand_settings(clo_ledger *ledger, clo_error *err)
{
    CLO_TRY(demand_journal(ledger, err));
    CLO_TRY(demand_number(ledger, "PRAGMA main.synchronous = EXTRA", "PRAGMA main.synchronous", 3,
                          err));
    CLO_TRY(demand_number(ledger, "PRAGMA foreign_keys = ON", "PRAGMA foreign_keys", 1, err));
    CLO_TRY(demand_number(ledger, "PRAGMA trusted_schema = OFF", "PRAGMA trusted_schema", 0, err));
    CLO_TRY(demand_number(ledger, "PRAGMA cell_size_check = ON", "PRAGMA cell_size_check", 1, err));
    return CLO_OK;
}

static clo_status connect_file(clo_ledger *ledger, const char *path, clo_error *err)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_FULLMUTEX;
    const int code = sqlite3_open_v2(path, &ledger->db, flags, NULL);
    if (!ledger->db) return clo_i_fail(err, CLO_MEMORY, "out of memory while opening a ledger");
    sqlite3_extended_result_codes(ledger->db, 1);
    if (code != SQLITE_OK) return clo_i_sql_fail(ledger, code, err);
    sqlite3_busy_handler(ledger->db, clo_i_sql_wait, ledger);
    sqlite3_db_config(ledger->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    if (!ledger->reading && sqlite3_db_readonly(ledger->db, "main") == 1)
        return clo_i_sql_fail(ledger, SQLITE_READONLY, err);
    return demand_settings(ledger, err);
}

/* ---- opening and closing --------------------------------------------------- */

static int64_t now(void)
{
    return (int64_t)time(NULL);
}

/* A file that could not become a ledger is not left behind. */
static void remove_if_empty(const char *path)
{
    struct stat facts;
    if (lstat(path, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size == 0) unlink(path);
}

clo_status clo_ledger_discard(clo_ledger *ledger, clo_error *err)
{
    clo_i_head head;
    int64_t caps = 0;
    CLO_TRY(clo_i_ledger_check(ledger, true, err));
    CLO_TRY(clo_i_ledger_get_head(ledger, &head, err));
    CLO_TRY(clo_i_sql_number(ledger, "SELECT count(*) FROM declaration", &caps, err));
    if (head.charges > 0 || caps > 0)
        return clo_i_fail(err, CLO_LEDGER, "the ledger %s has been used, so it cannot be discarded",
                          ledger->shown);
    unlink(ledger->resolved);
    if (ledger->anchor.path[0]) unlink(ledger->anchor.path);
    clo_ledger_close(ledger);
    return CLO_OK;
}

typedef enum opening { READ, WRITE, MAKE_CLOSED, MAKE_OPEN, READ_BACKUP, WRITE_DRAFT } opening;
enum { SECOND = 64 }; /* with one of them */

static clo_status open_ledger(const char *path, unsigned given, clo_ledger **out, clo_error *err)
{
    const opening how = (opening)(given & ~(unsigned)SECOND);
    const bool reading = how == READ || how == READ_BACKUP,
               making = how == MAKE_CLOSED || how == MAKE_OPEN;
    clo_ledger *ledger = NULL;
    clo_status status;
    if (!path || !path[0]) return clo_i_fail(err, CLO_ARGUMENT, "the path of a ledger is empty");
    if (strlen(path) >= PATH_MAX)
        return clo_i_fail(err, CLO_ARGUMENT, "the path of a ledger must be shorter than %d bytes",
                          PATH_MAX);
    CLO_TRY(clo_i_alloc(1, sizeof *ledger, &ledger, err));
    clo_i_guard(&ledger->key, sizeof ledger->key);
    clo_i_guard(&ledger->signer, sizeof ledger->signer);
    ledger->process = getpid();
    ledger->reading = reading;
    ledger->second = (given & SECOND) != 0;
    ledger->detached = how == READ_BACKUP || how == WRITE_DRAFT;
    ledger->patience_ms = LEDGER_PATIENCE_MS;
    ledger->clock = now;
    ledger->anchor.synced = UINT64_MAX; /* none yet */
    clo_i_ledger_show_path(ledger->shown, path);

    const bool made = making && access(path, F_OK) != 0;
    if (made && (status = clo_i_ledger_check_name(path, err))) goto done;
    if (making && (status = make_file(path, err))) goto done;
    if ((status = find_file(ledger, path, ledger->resolved, err))) goto done;
    if ((status = connect_file(ledger, ledger->resolved, err))) goto done;
    if (making && (status = clo_i_ledger_fill_if_empty(ledger, how == MAKE_CLOSED, err))) goto done;
    if ((status = clo_i_ledger_check_contents(ledger, err))) goto done;
    /* Not before: the contents may first have been brought up to this version. */
    if (reading)
        status = demand_number(ledger, "PRAGMA query_only = ON", "PRAGMA query_only", 1, err);
    clo_i_sql_forget(ledger); /* what opening needed, nobody needs again */
done:
    if (status) {
        clo_ledger_close(ledger);
        if (made) remove_if_empty(path);
    } else {
        *out = ledger;
    }
    return status;
}

/* A ledger that does not fit may be one whose new key is waiting beside it. */
static clo_status open_or_finish(const char *path, unsigned how, clo_ledger **out, clo_error *err)
{
    clo_error why;
    const clo_status status = open_ledger(path, how, out, &why);
    if (!status) return CLO_OK;
    if (status == CLO_LEDGER && clo_i_rekey_finish(path)) return open_ledger(path, how, out, err);
    return clo_i_fail(err, status, "%s", why.message);
}

clo_status clo_ledger_create(const char *path, clo_ledger_manner manner, clo_ledger **out,
                             clo_error *err)
{
    const unsigned second = (unsigned)manner & CLO_LEDGER_SECOND, kind = (unsigned)manner ^ second;
    if (kind != CLO_LEDGER_CLOSED && kind != CLO_LEDGER_OPEN)
        return clo_i_fail(err, CLO_ARGUMENT, "a ledger is made closed or open, not %d",
                          (int)manner);
    return open_or_finish(
        path, (kind == CLO_LEDGER_CLOSED ? MAKE_CLOSED : MAKE_OPEN) | (second ? SECOND : 0), out,
        err);
}

clo_status clo_ledger_open(const char *path, clo_ledger **out, clo_error *err)
{
    return open_or_finish(path, WRITE, out, err);
}

clo_status clo_ledger_open_existing(const char *path, clo_ledger **out, clo_error *err)
{
    return open_or_finish(path, READ, out, err);
}

clo_status clo_i_ledger_open_detached(const char *path, bool reading, clo_ledger **out,
                                      clo_error *err)
{
    return open_ledger(path, reading ? READ_BACKUP : WRITE_DRAFT, out, err);
}

void clo_ledger_close(clo_ledger *ledger)
{
    if (!ledger) return;
    /* After a fork the connection belongs to the parent: closing it would drop its locks. */
    if (ledger->process == getpid()) {
        clo_i_sql_forget(ledger);
        sqlite3_close_v2(ledger->db);
    }
    (void)!sodium_munlock(&ledger->key, sizeof ledger->key); /* and wipes it */
    (void)!sodium_munlock(&ledger->signer, sizeof ledger->signer);
    clo_i_wipe_free(ledger, sizeof *ledger);
}

clo_status clo_ledger_default_path(char *path, size_t size, clo_error *err)
{
    const char *const state = getenv("XDG_STATE_HOME");
    const char *const home = getenv("HOME");
    const bool named = state && state[0] == '/'; /* relative ones are to be ignored */
    char whole[PATH_MAX];
    if (!named && !(home && home[0] == '/'))
        return clo_i_fail(err, CLO_LEDGER,
                          "there is no folder for the ledger: set HOME or XDG_STATE_HOME, or name "
                          "the ledger");
    const int length = snprintf(whole, sizeof whole, "%s%s/cloister/ledger.db",
                                named ? state : home, named ? "" : "/.local/state");
    if (length < 0 || (size_t)length >= sizeof whole || (size_t)length >= size)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the path of the user's ledger does not fit in %zu bytes", size);
    memcpy(path, whole, (size_t)length + 1);
    return CLO_OK;
}

clo_status clo_i_ledger_check(const clo_ledger *ledger, bool writing, clo_error *err)
{
    if (!ledger) return clo_i_fail(err, CLO_ARGUMENT, "no ledger was given");
    if (ledger->process != getpid())
        return clo_i_fail(err, CLO_LEDGER,
                          "the ledger %s was opened before a fork: open it again in this process",
                          ledger->shown);
    if (writing && ledger->reading)
        return clo_i_fail(err, CLO_LEDGER,
                          "the ledger %s was opened for reading: open it with clo_ledger_open",
                          ledger->shown);
    return CLO_OK;
}

/* The bytes of the UTF-8 character at s, or 0 where there is none: too long forms, surrogates,
 * what lies beyond U+10FFFF and control characters are none. */
static size_t character_length(const unsigned char *s)
{
    if (s[0] < 0x80) return s[0] < 0x20 || s[0] == 0x7f ? 0 : 1;
    const size_t length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    static const uint32_t lowest[] = { 0, 0, 0xa0, 0x800, 0x10000 };
    uint32_t value = s[0] & (0xffu >> (length + 1));
    if (s[0] < 0xc2 || s[0] > 0xf4) return 0;
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80) return 0; /* also where the text ends */
        value = value << 6 | (s[i] & 0x3f);
    }
    if (value < lowest[length] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) return 0;
    return length;
}

clo_status clo_i_ledger_check_text(const char *what, const char *text, clo_error *err)
{
    if (!text || !text[0] || strnlen(text, LEDGER_TEXT + 1) > LEDGER_TEXT)
        return clo_i_fail(err, CLO_ARGUMENT, "the name of a %s must have 1 to %d bytes", what,
                          LEDGER_TEXT);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        const size_t length = character_length(s);
        if (length == 0)
            return clo_i_fail(err, CLO_ARGUMENT,
                              "the name of a %s must be UTF-8 without control characters", what);
        s += length;
    }
    return CLO_OK;
}
