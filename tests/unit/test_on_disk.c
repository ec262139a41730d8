/*
 * test_on_disk.c - a file gets its name when it is on the disk, and not before: so that a power cut
 * leaves the old file or the new one, and never an empty one.  Whatever writes in place of another
 * file is run here, and every write, sync and renaming of this process is looked at.
 */
#include "ledger_place.h"
#include <cloister/output.h>
#include <cloister/steward.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>

/* ---- who looks ------------------------------------------------------------------------------- */

enum { MOST = 256 };
static ino_t unsynced[MOST]; /* 0: a free place */
static size_t named_early;
static char early[400];

static ino_t inode_of(int file)
{
    struct stat facts;
    return fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) ? facts.st_ino : 0;
}

static bool is_unsynced(ino_t inode)
{
    for (size_t i = 0; i < MOST; i++)
        if (inode && unsynced[i] == inode) return true;
    return false;
}

static void set(int file, bool dirty)
{
    const ino_t inode = inode_of(file);
    if (!inode || is_unsynced(inode) == dirty) return;
    for (size_t i = 0; i < MOST; i++)
        if (unsynced[i] == (dirty ? 0 : inode)) {
            unsynced[i] = dirty ? inode : 0;
            return;
        }
}

static void judge(const char *path, const char *shown)
{
    struct stat facts;
    if (lstat(path, &facts) != 0) return;
    if (S_ISREG(facts.st_mode) && is_unsynced(facts.st_ino)) {
        named_early++;
        snprintf(early, sizeof early, "%.390s", shown);
    }
    DIR *const folder = S_ISDIR(facts.st_mode) ? opendir(path) : NULL;
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        char inside[600];
        if (entry->d_name[0] == '.') continue;
        snprintf(inside, sizeof inside, "%.300s/%.250s", path, entry->d_name);
        judge(inside, inside);
    }
    if (folder) closedir(folder);
}

ssize_t write(int file, const void *bytes, size_t count)
{
    set(file, true);
    return syscall(SYS_write, file, bytes, count);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off_t at)
{
    set(file, true);
    return syscall(SYS_pwrite64, file, bytes, count, at);
}

int fsync(int file)
{
    set(file, false);
    return (int)syscall(SYS_fsync, file);
}

int fdatasync(int file)
{
    set(file, false);
    return (int)syscall(SYS_fdatasync, file);
}

int rename(const char *from, const char *to)
{
    judge(from, to);
    return (int)syscall(SYS_rename, from, to);
}

int link(const char *from, const char *to)
{
    judge(from, to);
    return (int)syscall(SYS_link, from, to);
}

/* ---- what writes ----------------------------------------------------------------------------- */

static char path[6][400];

static void on_machine(const place *p, int number)
{
    char config[400];
    snprintf(config, sizeof config, "%s/machine%d", p->folder, number);
    setenv("XDG_CONFIG_HOME", config, 1);
}

static void make_ledger(const place *p)
{
    clo_ledger *ledger = NULL;
    clo_error err;
    on_machine(p, 1);
    assert_ok(clo_ledger_create(p->ledger, CLO_LEDGER_CLOSED, &ledger, &err), err);
    assert_ok(clo_ledger_declare(ledger, "d", (clo_loss){ 4, 0 }, &err), err);
    charge_times(ledger, 2);
    clo_ledger_close(ledger);
}

static void write_file(const place *p)
{
    clo_file *file = NULL;
    clo_error err;
    for (int i = 0; i < 2; i++) { /* where there was none, and over the first */
        assert_ok(clo_file_open(path[0], &file, &err), err);
        assert_true(clo_file_write(file, "release", 7));
        assert_ok(clo_file_commit(file, &err), err);
        clo_file_close(file);
    }
    (void)p;
}

static void back_up(const place *p)
{
    clo_ledger *ledger = NULL;
    clo_error err;
    assert_ok(clo_ledger_open(p->ledger, &ledger, &err), err);
    assert_ok(clo_ledger_backup(ledger, path[1], &err), err);
    clo_ledger_close(ledger);
}

static void restore(const place *p)
{
    clo_restoration how = clo_restoration_default();
    clo_error err;
    in_shell(p, "rm '%s/ledger.db'");
    how.backup = path[1];
    how.ledger = p->ledger;
    how.note = "a test";
    assert_ok(clo_ledger_restore(&how, NULL, NULL, &err), err);
}

static void rekey(const place *p)
{
    clo_error err;
    assert_ok(clo_ledger_rekey(p->ledger, "a test", &err), err);
}

static void send(const place *p)
{
    char code[CLO_MOVE_CODE + 1];
    clo_error err;
    on_machine(p, 2);
    assert_ok(clo_ledger_move_code(code, &err), err);
    on_machine(p, 1);
    assert_ok(clo_ledger_send(p->ledger, path[2], code, &err), err);
}

static void receive(const place *p)
{
    clo_error err;
    on_machine(p, 2);
    assert_ok(clo_ledger_receive(path[2], path[3], &err), err);
    (void)p;
}

static void a_file_has_its_name_when_it_is_on_the_disk(void **state)
{
    static const struct {
        const char *name;
        void (*step)(const place *p);
    } steps[] = { { "making a ledger", make_ledger },
                  { "writing a file", write_file },
                  { "a backup", back_up },
                  { "a restoration", restore },
                  { "a new key", rekey },
                  { "sending a ledger", send },
                  { "receiving it", receive } };
    const place *const p = *state;
    for (size_t i = 0; i < 4; i++) snprintf(path[i], sizeof path[i], "%s/%zu", p->folder, i);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        named_early = 0;
        steps[i].step(p);
        if (named_early) fail_msg("%s: %s has its name too early", steps[i].name, early);
    }
}

/* That nothing is missed: one that is written and named at once. */
static void a_file_that_is_named_too_early_is_noticed(void **state)
{
    const place *const p = *state;
    char from[400], to[400];
    snprintf(from, sizeof from, "%s/from", p->folder);
    snprintf(to, sizeof to, "%s/to", p->folder);
    for (int synced = 0; synced < 2; synced++) {
        const int file = open(from, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        assert_int_equal(write(file, "x", 1), 1);
        if (synced) assert_int_equal(fsync(file), 0);
        close(file);
        named_early = 0;
        assert_int_equal(rename(from, to), 0);
        assert_int_equal(named_early, !synced);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(a_file_has_its_name_when_it_is_on_the_disk),
        IN_PLACE(a_file_that_is_named_too_early_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
