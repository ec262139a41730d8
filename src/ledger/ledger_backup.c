/*
 * ledger_backup.c - a whole copy of a ledger while others charge it.
 *
 * cp would do where nobody writes meanwhile; SQLite's own copying takes the lock of a reader, so
 * that the copy is of one moment, and knows about journals.  The copy is checked from its first
 * charge on before it gets its name: a backup that cannot be read is found out on the day it was
 * made.
 */
#include "ledger/ledger_internal.h"
#include <cloister/steward.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static clo_status copy_pages(clo_ledger *ledger, const char *path, clo_error *err)
{
    sqlite3 *to = NULL;
    int code = sqlite3_open_v2(path, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW, NULL);
    sqlite3_backup *backup = NULL;
    if (code == SQLITE_OK) code = sqlite3_exec(to, "PRAGMA synchronous = EXTRA", NULL, NULL, NULL);
    if (code == SQLITE_OK) {
        backup = sqlite3_backup_init(to, "main", ledger->db, "main");
        code = backup ? sqlite3_backup_step(backup, -1) : sqlite3_errcode(to);
        for (int tries = 0;
             (code == SQLITE_BUSY || code == SQLITE_LOCKED) && clo_i_sql_wait(ledger, tries);
             tries++)
            code = sqlite3_backup_step(backup, -1);
        if (backup) (void)sqlite3_backup_finish(backup);
        if (code == SQLITE_DONE) code = SQLITE_OK;
    }
    sqlite3_close(to);
    return code == SQLITE_OK ? CLO_OK : clo_i_sql_fail(ledger, code, err);
}

static clo_status fail_to_write(const char *path, int number, clo_error *err)
{
    char shown[168], text[128];
    clo_i_ledger_show_path(shown, path);
    return clo_i_fail(err, CLO_LEDGER, "%s cannot be written: %s", shown,
                      strerror_r(number, text, sizeof text));
}

/* A copy that was begun has SQLite's first words, or none as yet; any other file is somebody's. */
clo_status clo_i_ledger_remove_draft(const char *path, clo_error *err)
{
    static const char none[16], words[16] = "SQLite format 3";
    char first[16] = "";
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0 && errno == ENOENT) return CLO_OK;
    const ssize_t count = file < 0 ? -1 : read(file, first, sizeof first);
    const int number = errno;
    if (file >= 0) close(file);
    if (count < 0) return fail_to_write(path, number, err);
    if (memcmp(first, words, sizeof words) != 0 && memcmp(first, none, sizeof none) != 0)
        return fail_to_write(path, EEXIST, err);
    return unlink(path) == 0 ? CLO_OK : fail_to_write(path, errno, err);
}

clo_status clo_i_ledger_copy(clo_ledger *ledger, const char *path, clo_error *err)
{
    const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return fail_to_write(path, errno, err);
    close(file);
    const clo_status status = copy_pages(ledger, path, err);
    if (status) unlink(path);
    return status;
}

static clo_status verify_copy(const char *path, clo_error *err)
{
    clo_ledger *copy = NULL;
    CLO_TRY(clo_i_ledger_open_detached(path, true, &copy, err));
    const clo_status status = clo_i_ledger_verify_file(copy, err);
    clo_ledger_close(copy);
    return status;
}

clo_status clo_ledger_backup(clo_ledger *ledger, const char *path, clo_error *err)
{
    char draft[PATH_MAX];
    CLO_TRY(clo_i_ledger_check(ledger, false, err));
    if (!path || !path[0] || strlen(path) + 16 >= PATH_MAX)
        return clo_i_fail(err, CLO_ARGUMENT, "the path of a backup is empty or too long");
    if (access(path, F_OK) == 0) return fail_to_write(path, EEXIST, err);
    snprintf(draft, sizeof draft, "%s.draft", path);
    CLO_TRY(clo_i_ledger_remove_draft(draft, err));
    CLO_TRY(clo_i_ledger_copy(ledger, draft, err));
    const clo_status status = verify_copy(draft, err);
    if (status) {
        unlink(draft);
        return status;
    }
    if (rename(draft, path) != 0) {
        const int number = errno;
        unlink(draft);
        return fail_to_write(path, number, err);
    }
    clo_i_ledger_sync_folder_of(path);
    return CLO_OK;
}
