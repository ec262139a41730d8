/*
 * ledger_sql.c - statements whose errors cannot be overlooked, and SQLite's refusals in words.
 *
 * Every statement goes through clo_i_sql: the first error sticks to it, later calls do nothing,
 * and finish - which cannot be forgotten, its result must be used - turns it into one sentence.
 */
#include "ledger/ledger_internal.h"
#include <errno.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A free place in the handle, or -1; *statement is what is kept there for this text, or NULL. */
static int find_kept(const clo_ledger *ledger, const char *text, sqlite3_stmt **statement)
{
    int room = -1;
    *statement = NULL;
    for (int i = 0; i < LEDGER_STATEMENTS; i++) {
        sqlite3_stmt *const kept = ledger->kept[i].statement;
        if (!kept && room < 0) room = i;
        if (!kept || ledger->kept[i].lent || strcmp(sqlite3_sql(kept), text) != 0) continue;
        *statement = kept;
        return i;
    }
    return room;
}

clo_i_sql clo_i_sql_start(clo_ledger *ledger, const char *text)
{
    clo_i_sql sql = { .ledger = ledger };
    sql.kept = find_kept(ledger, text, &sql.statement);
    if (!sql.statement)
        sql.code =
            sqlite3_prepare_v3(ledger->db, text, -1, sql.kept < 0 ? 0 : SQLITE_PREPARE_PERSISTENT,
                               &sql.statement, NULL);
    if (sql.kept >= 0) {
        ledger->kept[sql.kept].statement = sql.statement;
        ledger->kept[sql.kept].lent = sql.statement != NULL;
    }
    return sql;
}

void clo_i_sql_integer(clo_i_sql *sql, int64_t value)
{
    if (sql->code == SQLITE_OK)
        sql->code = sqlite3_bind_int64(sql->statement, ++sql->parameters, value);
}

void clo_i_sql_units(clo_i_sql *sql, uint64_t value)
{
    clo_i_sql_integer(sql, (int64_t)(value < LEDGER_UNITS_LIMIT ? value : LEDGER_UNITS_LIMIT));
}

void clo_i_sql_real(clo_i_sql *sql, double value)
{
    if (sql->code == SQLITE_OK)
        sql->code = sqlite3_bind_double(sql->statement, ++sql->parameters, value);
}

void clo_i_sql_text(clo_i_sql *sql, const char *value)
{
    if (sql->code == SQLITE_OK)
        sql->code =
            sqlite3_bind_text(sql->statement, ++sql->parameters, value, -1, SQLITE_TRANSIENT);
}

void clo_i_sql_bytes(clo_i_sql *sql, const uint8_t *value, int size)
{
    if (sql->code == SQLITE_OK)
        sql->code = sqlite3_bind_blob64(sql->statement, ++sql->parameters, value,
                                        (sqlite3_uint64)size, SQLITE_TRANSIENT);
}

bool clo_i_sql_row(clo_i_sql *sql)
{
    if (sql->code != SQLITE_OK) return false;
    const int code = sqlite3_step(sql->statement);
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) sql->code = code;
    return false;
}

clo_status clo_i_sql_finish(clo_i_sql *sql, clo_error *err)
{
    /* The sentence first: resetting would replace SQLite's own text. */
    const clo_status status =
        sql->code == SQLITE_OK ? CLO_OK : clo_i_sql_fail(sql->ledger, sql->code, err);
    if (sql->kept < 0) {
        sqlite3_finalize(sql->statement);
    } else if (sql->statement) {
        sqlite3_reset(sql->statement);
        sqlite3_clear_bindings(sql->statement);
        sql->ledger->kept[sql->kept].lent = false;
    }
    sql->statement = NULL;
    return status;
}

void clo_i_sql_forget(clo_ledger *ledger)
{
    for (int i = 0; i < LEDGER_STATEMENTS; i++) {
        sqlite3_finalize(ledger->kept[i].statement);
        ledger->kept[i].statement = NULL;
    }
}

clo_status clo_i_sql_commit(clo_ledger *ledger, clo_error *err)
{
    clo_i_sql sql = clo_i_sql_start(ledger, "COMMIT");
    clo_i_sql_row(&sql);
    const int code = sql.code;
    const clo_status status = clo_i_sql_finish(&sql, err);
    /* A reader in the way, or no room: known not to be committed, and the caller rolls back. */
    if (!status || (code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_FULL) return status;
    clo_i_fail(err, CLO_LEDGER,
               "the ledger %s failed while it was written: check the disk, and see with cloister "
               "ledger history whether the charge was recorded, before you try again",
               ledger->shown);
    return ledger->writing ? clo_i_write_settle(ledger, err) : CLO_LEDGER;
}

int64_t clo_i_sql_get_integer(clo_i_sql *sql, int column)
{
    return sqlite3_column_int64(sql->statement, column);
}

uint64_t clo_i_sql_get_units(clo_i_sql *sql, int column)
{
    const int64_t value = sqlite3_column_int64(sql->statement, column);
    if (value < 0) sql->code = SQLITE_CORRUPT;
    return value < 0 ? LEDGER_UNITS_LIMIT : (uint64_t)value;
}

double clo_i_sql_get_real(clo_i_sql *sql, int column)
{
    return sqlite3_column_double(sql->statement, column);
}

void clo_i_sql_get_text(clo_i_sql *sql, int column, char text[LEDGER_TEXT + 1])
{
    const unsigned char *const value = sqlite3_column_text(sql->statement, column);
    const int size = sqlite3_column_bytes(sql->statement, column);
    memset(text, 0, LEDGER_TEXT + 1);
    if (value && size <= LEDGER_TEXT)
        memcpy(text, value, (size_t)size);
    else if (sqlite3_column_type(sql->statement, column) != SQLITE_NULL)
        sql->code = SQLITE_CORRUPT;
}

void clo_i_sql_get_bytes(clo_i_sql *sql, int column, uint8_t *bytes, int size)
{
    const void *const value = sqlite3_column_blob(sql->statement, column);
    memset(bytes, 0, (size_t)size);
    if (value && sqlite3_column_bytes(sql->statement, column) == size)
        memcpy(bytes, value, (size_t)size);
    else
        sql->code = SQLITE_CORRUPT;
}

clo_status clo_i_sql_do(clo_ledger *ledger, const char *text, clo_error *err)
{
    clo_i_sql sql = clo_i_sql_start(ledger, text);
    while (clo_i_sql_row(&sql)) continue;
    return clo_i_sql_finish(&sql, err);
}

clo_status clo_i_sql_number(clo_ledger *ledger, const char *text, int64_t *out, clo_error *err)
{
    int64_t value = -1;
    clo_i_sql sql = clo_i_sql_start(ledger, text);
    if (clo_i_sql_row(&sql)) value = clo_i_sql_get_integer(&sql, 0);
    CLO_TRY(clo_i_sql_finish(&sql, err));
    *out = value;
    return CLO_OK;
}

void clo_i_sql_undo(clo_ledger *ledger)
{
    /* Where this fails too, the journal stays and the next reader rolls back with it. */
    if (!sqlite3_get_autocommit(ledger->db))
        (void)sqlite3_exec(ledger->db, "ROLLBACK", NULL, NULL, NULL);
}

static int64_t now_ns(void)
{
    struct timespec now = { 0 };
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* SQLite's own handler sleeps up to 100 ms a try; where several processes charge in a loop the
 * lock is then nearly always taken by the one that has just let it go.  Short, uneven sleeps give
 * the others a chance. */
int clo_i_sql_wait(void *user, int tries)
{
    clo_ledger *const ledger = user;
    const int64_t now = now_ns();
    if (tries == 0) ledger->deadline_ns = now + ledger->patience_ms * INT64_C(1000000);
    if (now >= ledger->deadline_ns || !clo_i_ledger_wanted(ledger)) return 0;
    const struct timespec nap = { .tv_nsec = 500000 + (now ^ ledger->process * 7919) % 4000000 };
    nanosleep(&nap, NULL);
    return 1;
}

static clo_status fail_to_write(const clo_ledger *ledger, int code, clo_error *err)
{
    switch (code) {
    case SQLITE_READONLY_DBMOVED:
        return clo_i_fail(err, CLO_LEDGER,
                          "the ledger %s was moved or removed while it was open: put it back and "
                          "open it again",
                          ledger->shown);
    case SQLITE_READONLY_DIRECTORY:
    case SQLITE_READONLY_CANTINIT:
        return clo_i_fail(err, CLO_LEDGER,
                          "the folder of the ledger %s cannot be written, and a charge needs a "
                          "journal there: allow it with chmod u+w on the folder, or use another "
                          "ledger",
                          ledger->shown);
    default:
        return clo_i_fail(err, CLO_LEDGER,
                          "the ledger %s cannot be written by this user: allow it with chmod u+w, "
                          "or use another ledger",
                          ledger->shown);
    }
}

/* What the file system has said last. */
static int last_error(const clo_ledger *ledger)
{
    int number = 0;
    (void)sqlite3_file_control(ledger->db, "main", SQLITE_FCNTL_LAST_ERRNO, &number);
    return number;
}

static clo_status fail_to_read(const clo_ledger *ledger, clo_error *err)
{
    const int said = sqlite3_system_errno(ledger->db), number = said ? said : last_error(ledger);
    char text[128];
    return clo_i_fail(err, CLO_LEDGER,
                      "reading or writing the ledger %s failed (%s): check the disk", ledger->shown,
                      number ? strerror_r(number, text, sizeof text) : "no reason given");
}

/* Another process that has one of SQLite's locks on this file, as Linux tells it; 0: not known.  A
 * reader that stays is in the way of every charge, so it should have a name. */
static long find_holder(const clo_ledger *ledger)
{
    enum { FIRST_LOCK = 0x40000000, LINE = 256 };
    struct stat facts;
    char line[LINE];
    long found = 0;
    FILE *const locks = stat(ledger->resolved, &facts) == 0 ? fopen("/proc/locks", "re") : NULL;
    while (locks && !found && fgets(line, sizeof line, locks)) {
        long process = 0;
        unsigned long long inode = 0, first = 0;
        if (sscanf(line, "%*d: POSIX %*s %*s %ld %*x:%*x:%llu %llu", &process, &inode, &first) ==
                3 &&
            inode == facts.st_ino && first >= FIRST_LOCK && process > 0 && process != getpid())
            found = process;
    }
    if (locks) fclose(locks);
    return found;
}

static clo_status fail_to_wait(const clo_ledger *ledger, clo_error *err)
{
    char who[48] = "another process";
    const long holder = find_holder(ledger);
    if (holder) snprintf(who, sizeof who, "another process (%ld)", holder);
    return clo_i_fail(
        err, CLO_LEDGER,
        "%s has used the ledger %s for more than %g seconds, so nothing was done: try "
        "again later",
        who, ledger->shown, ledger->patience_ms / 1000.0);
}

/* SQLite takes a read that failed for damage. */
bool clo_i_sql_disk_failed(const clo_ledger *ledger)
{
    const int number = last_error(ledger);
    return number == EIO || number == ENXIO;
}

clo_status clo_i_sql_fail(const clo_ledger *ledger, int code, clo_error *err)
{
    const int kind = code & 0xff;
    if ((kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB) && clo_i_sql_disk_failed(ledger))
        return fail_to_read(ledger, err);
    switch (kind) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return fail_to_wait(ledger, err);
    case SQLITE_READONLY:
        return fail_to_write(ledger, code, err);
    case SQLITE_FULL:
        return clo_i_fail(err, CLO_LEDGER,
                          "the disk of the ledger %s is full: free some space and try again",
                          ledger->shown);
    case SQLITE_CANTOPEN:
        return clo_i_fail(err, CLO_LEDGER,
                          "the ledger %s, or the journal beside it, cannot be opened: check that "
                          "this user may read and write the file and its folder",
                          ledger->shown);
    case SQLITE_NOTADB:
        return clo_i_fail(err, CLO_LEDGER,
                          "%s is not a ledger: name another file, or, if it was one, restore it "
                          "from a backup",
                          ledger->shown);
    case SQLITE_CORRUPT:
    case SQLITE_CONSTRAINT: /* of our own statements: a row that the schema cannot hold */
    case SQLITE_MISMATCH:
    case SQLITE_ERROR: /* a table or a column is not there */
        return clo_i_fail(err, CLO_LEDGER,
                          "the ledger %s is damaged (%s): keep the file, restore a backup and run "
                          "cloister ledger verify",
                          ledger->shown, sqlite3_errmsg(ledger->db));
    case SQLITE_NOMEM:
        return clo_i_fail(err, CLO_MEMORY, "out of memory while using the ledger %s",
                          ledger->shown);
    case SQLITE_IOERR:
        return fail_to_read(ledger, err);
    default:
        return clo_i_fail(err, CLO_LEDGER, "the ledger %s cannot be used: %s", ledger->shown,
                          sqlite3_errmsg(ledger->db));
    }
}
