/*
 * test_ledger_points.c - what a steward does, stopped at each of its system calls.
 *
 * A verb runs in a child that is traced.  At the n-th system call the child is killed, gets a
 * signal, or is told an error in place of the call.  Then everybody spends what they can: with the
 * ledger, with the parcel on another machine, with every draft and copy that lies about, with a
 * backup that is restored; once right away, and once after the same verb was called again.  All
 * releases together must be within the cap; the ledger must verify, or do so after the verb was
 * called again; and nothing of the cap may be lost by that (ledger.T9, ledger.T17, ledger.T18).
 *
 * By default the calls that change a file are the points, which gives every state that a kill can
 * leave, and every second of them for errors; with CLOISTER_LONG=n set every n-th of all calls, and
 * all faults.
 */
#include "ledger_place.h"
#include <cloister/steward.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum { MACHINES = 3, CAP = 6, BEFORE = 3, LEFT = CAP - BEFORE, PATHS = 600, SECONDS = 10 };

static char base[200], world[260], saved[260], stopped[260];

/* Which of all calls are points; 0: only those that change a file are. */
static long long_step(void)
{
    const char *const wanted = getenv("CLOISTER_LONG");
    return !wanted ? 0 : atol(wanted) > 0 ? atol(wanted) : 1;
}

static const char *at(const char *name)
{
    static char paths[8][PATHS];
    static int next;
    char *const path = paths[next++ % 8];
    snprintf(path, PATHS, "%s/%s", world, name);
    return path;
}

static void on_machine(int number)
{
    char name[20];
    snprintf(name, sizeof name, "machine%d", number);
    setenv("XDG_CONFIG_HOME", at(name), 1);
}

/* ---- folders ------------------------------------------------------------------------- */

static void remove_all(const char *path)
{
    DIR *const names = opendir(path);
    if (!names) {
        unlink(path);
        return;
    }
    for (const struct dirent *entry; (entry = readdir(names));) {
        char below[2 * PATHS];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
        if (entry->d_type == DT_DIR)
            remove_all(below);
        else
            unlink(below);
    }
    closedir(names);
    rmdir(path);
}

static void copy_file(const char *from, const char *to)
{
    static char bytes[1 << 20];
    const int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(in >= 0 && out >= 0);
    for (ssize_t count; (count = read(in, bytes, sizeof bytes)) > 0;)
        assert_int_equal(write(out, bytes, (size_t)count), count);
    close(in);
    close(out);
}

static void copy_all(const char *from, const char *to)
{
    DIR *const names = opendir(from);
    assert_non_null(names);
    remove_all(to);
    assert_int_equal(mkdir(to, 0700), 0);
    for (const struct dirent *entry; (entry = readdir(names));) {
        char source[2 * PATHS], target[2 * PATHS];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        snprintf(source, sizeof source, "%s/%s", from, entry->d_name);
        snprintf(target, sizeof target, "%s/%s", to, entry->d_name);
        if (entry->d_type == DT_DIR)
            copy_all(source, target);
        else
            copy_file(source, target);
    }
    closedir(names);
}

/* ---- the ledger ---------------------------------------------------------------------- */

static clo_status charge_as(clo_ledger *ledger, clo_error *err)
{
    const clo_i_charge asked = { .dataset = "a",
                                 .mechanism = "kmeans/lloyd",
                                 .relation = "replace",
                                 .loss = { 0.25, 0 },
                                 .rho = UINT64_C(1) << 45 };
    clo_i_receipt receipt;
    return clo_i_ledger_charge(ledger, &asked, &receipt, err);
}

static clo_status charge(clo_ledger *ledger)
{
    return charge_as(ledger, NULL);
}

/* How many releases whoever has this file and this configuration gets. */
static int spend(const char *path, int machine)
{
    clo_ledger *ledger = NULL;
    int count = 0;
    on_machine(machine);
    if (access(path, F_OK) != 0 || clo_ledger_open(path, &ledger, NULL) != CLO_OK) return 0;
    while (count <= CAP && charge(ledger) == CLO_OK) count++;
    clo_ledger_close(ledger);
    return count;
}

static bool verifies(const char *path, int machine)
{
    clo_ledger *ledger = NULL;
    on_machine(machine);
    if (access(path, F_OK) != 0 || clo_ledger_open_existing(path, &ledger, NULL) != CLO_OK)
        return false;
    const bool sound = ledger->key.known && clo_ledger_verify(ledger, NULL) == CLO_OK;
    clo_ledger_close(ledger);
    return sound;
}

/* Of each machine the code that it made last, for the ledger that comes next. */
static char codes[MACHINES][CLO_MOVE_CODE + 1];

static const char *make_code(int machine)
{
    clo_error err;
    on_machine(machine);
    assert_ok(clo_ledger_move_code(codes[machine], &err), err);
    on_machine(0);
    return codes[machine];
}

/* Of the releases, one was before the one backup, and the last one after the other. */
static void make_ledger(void)
{
    clo_ledger *ledger = NULL;
    clo_error err;
    assert_ok(clo_ledger_create(at("ledger.db"), CLO_LEDGER_CLOSED, &ledger, &err), err);
    assert_ok(clo_ledger_declare(ledger, "group", (clo_loss){ 2, 0 }, &err), err);
    assert_ok(clo_ledger_declare(ledger, "a", (clo_loss){ 0.25 * CAP, 0 }, &err), err);
    assert_int_equal(charge(ledger), CLO_OK);
    assert_ok(clo_ledger_backup(ledger, at("old.db"), &err), err);
    for (int i = 1; i < BEFORE; i++) {
        if (i == BEFORE - 1) assert_ok(clo_ledger_backup(ledger, at("late.db"), &err), err);
        assert_int_equal(charge(ledger), CLO_OK);
    }
    clo_ledger_close(ledger);
    for (int machine = 1; machine < MACHINES; machine++) make_code(machine);
}

/* ---- the verbs ------------------------------------------------------------------------ */

static clo_status with_ledger(clo_status (*what)(clo_ledger *ledger))
{
    clo_ledger *ledger = NULL;
    clo_status status = clo_ledger_open(at("ledger.db"), &ledger, NULL);
    if (!status) status = what(ledger);
    clo_ledger_close(ledger);
    return status;
}

static clo_status draw_code(void)
{
    char code[CLO_MOVE_CODE + 1];
    return clo_ledger_move_code(code, NULL);
}

static clo_status move_away(void)
{
    return clo_ledger_send(at("ledger.db"), at("parcel"), codes[1], NULL);
}

static clo_status move_here(void)
{
    return clo_ledger_move(at("ledger.db"), at("moved.db"), NULL);
}

/* As if the new place were on another disk. */
static bool on_another_disk;

int __real_renameat2(int from, const char *old, int to, const char *name, unsigned flags);
int __wrap_renameat2(int from, const char *old, int to, const char *name, unsigned flags);
int __wrap_renameat2(int from, const char *old, int to, const char *name, unsigned flags)
{
    if (!on_another_disk) return __real_renameat2(from, old, to, name, flags);
    errno = EXDEV;
    return -1;
}

static clo_status move_over(void)
{
    on_another_disk = true;
    const clo_status status = move_here();
    on_another_disk = false;
    return status;
}

static clo_status receive(void)
{
    on_machine(1);
    const clo_status status = clo_ledger_receive(at("parcel"), at("received.db"), NULL);
    on_machine(0);
    return status;
}

static clo_status restore_from(const char *backup, const char *to)
{
    clo_restoration how = clo_restoration_default();
    how.backup = backup;
    how.ledger = to;
    how.note = "the disk is gone";
    return clo_ledger_restore(&how, NULL, NULL, NULL);
}

static clo_status restore(void)
{
    return restore_from(at("old.db"), at("ledger.db"));
}

static clo_status rekey(void)
{
    return clo_ledger_rekey(at("ledger.db"), "a year has gone by", NULL);
}

static clo_status do_adopt(clo_ledger *ledger)
{
    bool all;
    return clo_ledger_adopt(ledger, "a", (clo_loss){ 0.25, 0 }, "replace", "by hand", &all, NULL);
}

static clo_status do_lower(clo_ledger *ledger)
{
    return clo_ledger_lower(ledger, "a", (clo_loss){ 0.25 * (BEFORE + 1), 0 }, "less", NULL);
}

static clo_status do_join(clo_ledger *ledger)
{
    return clo_ledger_join(ledger, "a", "group", "the same persons", NULL);
}

static clo_status do_end(clo_ledger *ledger)
{
    return clo_ledger_end(ledger, "a", "no more", NULL);
}

static clo_status do_expire(clo_ledger *ledger)
{
    return clo_ledger_expire(ledger, "a", 1000000000, "past", NULL);
}

static clo_status do_backup(clo_ledger *ledger)
{
    if (access(at("night.db"), F_OK) == 0) return CLO_OK; /* made, and only the word was lost */
    return clo_ledger_backup(ledger, at("night.db"), NULL);
}

static clo_status make_old(clo_ledger *ledger)
{
    return clo_ledger_backup(ledger, at("old.db"), NULL);
}

static clo_status adopt(void)
{
    return with_ledger(do_adopt);
}

static clo_status lower(void)
{
    return with_ledger(do_lower);
}

static clo_status join(void)
{
    return with_ledger(do_join);
}

static clo_status end(void)
{
    return with_ledger(do_end);
}

static clo_status expire(void)
{
    return with_ledger(do_expire);
}

static clo_status backup(void)
{
    return with_ledger(do_backup);
}

/* A second data set in the ledger, and a ledger of its own where there is none. */
static clo_status init(void)
{
    clo_ledger *ledger = NULL;
    clo_status status = clo_ledger_create(at("ledger.db"), CLO_LEDGER_CLOSED, &ledger, NULL);
    if (!status) status = clo_ledger_declare(ledger, "a", (clo_loss){ 0.25 * CAP, 0 }, NULL);
    clo_ledger_close(ledger);
    return status;
}

static void nothing(void)
{
}

static void lose_ledger(void)
{
    unlink(at("ledger.db"));
}

static void send_parcel(void)
{
    assert_int_equal(move_away(), CLO_OK);
}

static void no_ledger(void)
{
    remove_all(world);
    assert_int_equal(mkdir(world, 0700), 0);
}

/* An older ledger, as an older program left it: without the tables of schema 4, and open. */
static void make_older(void)
{
    no_ledger();
    clo_ledger *ledger = NULL;
    clo_error err;
    assert_ok(clo_ledger_create(at("ledger.db"), CLO_LEDGER_OPEN, &ledger, &err), err);
    assert_ok(clo_ledger_declare(ledger, "a", (clo_loss){ 0.25 * CAP, 0 }, &err), err);
    for (int i = 0; i < BEFORE; i++) assert_int_equal(charge(ledger), CLO_OK);
    assert_ok(clo_i_sql_do(ledger, "PRAGMA writable_schema = OFF", &err), err);
    for (size_t i = clo_i_ledger_schema_count; i-- > 0;) {
        const clo_i_schema_object *const o = &clo_i_ledger_schema[i];
        char text[200];
        if (o->since < 4 || strcmp(o->type, "table") == 0) continue;
        snprintf(text, sizeof text, "DROP %s %s", o->type, o->name);
        assert_ok(clo_i_sql_do(ledger, text, &err), err);
    }
    clo_i_sql_forget(ledger);
    assert_ok(clo_i_sql_do(ledger, "DROP TABLE act", &err), err);
    assert_ok(clo_i_sql_do(ledger, "DROP TABLE attribution", &err), err);
    assert_ok(clo_i_sql_do(ledger, "PRAGMA user_version = 3", &err), err);
    clo_ledger_close(ledger);
}

static clo_status do_nothing(clo_ledger *ledger)
{
    return ledger ? CLO_OK : CLO_INTERNAL;
}

static clo_status migrate(void)
{
    return with_ledger(do_nothing);
}

typedef struct verb {
    const char *name;
    void (*prepare)(void);
    clo_status (*call)(void);
    const char *place; /* where the ledger is afterwards; NULL: on another machine */
    int left;          /* how many releases there are afterwards; of a kill before it, as many */
    int released;      /* before it */
    bool by_itself;    /* verifies without a second call */
    bool errors;       /* is told errors, too, where not all faults are tried */
} verb;

static const verb verbs[] = {
    { "move --code", nothing, draw_code, "ledger.db", LEFT, BEFORE, true, true },
    { "move --away", nothing, move_away, NULL, LEFT, BEFORE, false, true },
    { "move --from", send_parcel, receive, NULL, LEFT, BEFORE, false, true },
    { "move --to", nothing, move_here, "moved.db", LEFT, BEFORE, false, true },
    { "move --to, over disks", nothing, move_over, "moved.db", LEFT, BEFORE, false, true },
    { "restore", lose_ledger, restore, "ledger.db", LEFT, BEFORE, false, true },
    { "rekey", nothing, rekey, "ledger.db", LEFT, BEFORE, true, true },
    { "adopt", nothing, adopt, "ledger.db", LEFT - 1, BEFORE, true, true },
    { "lower", nothing, lower, "ledger.db", 1, BEFORE, true, true },
    { "group", nothing, join, "ledger.db", LEFT, BEFORE, true, false },
    { "close", nothing, end, "ledger.db", 0, BEFORE, true, false },
    { "expire", nothing, expire, "ledger.db", 0, BEFORE, true, false },
    { "backup", nothing, backup, "ledger.db", LEFT, BEFORE, true, true },
    { "init", no_ledger, init, "ledger.db", CAP, 0, false, false },
    { "migrate", make_older, migrate, "ledger.db", LEFT, BEFORE, true, false },
};

/* ---- one system call ------------------------------------------------------------------- */

typedef struct fault {
    const char *name;
    int signal, error;
    bool lasts; /* the same call on the same file fails from then on */
} fault;

static const fault faults[] = { { "SIGKILL", SIGKILL, 0, false }, { "SIGINT", SIGINT, 0, false },
                                { "SIGTERM", SIGTERM, 0, false }, { "EIO", 0, EIO, false },
                                { "ENOSPC", 0, ENOSPC, false },   { "ENOMEM", 0, ENOMEM, false } };

static bool changes_a_file(const struct __ptrace_syscall_info *info, bool syncs)
{
    switch (info->entry.nr) {
    case SYS_openat:
        return (info->entry.args[2] & O_CREAT) != 0;
    case SYS_fsync:
    case SYS_fdatasync:
        return syncs;
    case SYS_write:
    case SYS_pwrite64:
    case SYS_ftruncate:
    case SYS_renameat2:
    case SYS_linkat:
    case SYS_unlinkat:
    case SYS_mkdirat:
    case SYS_fchmod:
#ifdef SYS_rename
    case SYS_rename:
    case SYS_link:
    case SYS_unlink:
    case SYS_mkdir:
    case SYS_rmdir:
    case SYS_open:
#endif
        return true;
    default:
        return false;
    }
}

/* The call is left out, and gives -number; true where this machine can do that. */
static bool tell_error(pid_t child, int number)
{
#ifdef __x86_64__
    enum { ORIG_RAX_AT = 15 * 8, RAX_AT = 10 * 8 };
    int status;
    ptrace(PTRACE_POKEUSER, child, (void *)ORIG_RAX_AT, (void *)-1L);
    ptrace(PTRACE_SYSCALL, child, NULL, NULL);
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return false;
    ptrace(PTRACE_POKEUSER, child, (void *)RAX_AT, (void *)(long)-number);
    return true;
#else
    (void)child;
    (void)number;
    return false;
#endif
}

typedef struct run {
    long points; /* that were seen */
    bool struck;
    long call, file; /* the one that was struck, and its first argument */
    int status;      /* of waitpid */
} run;

/* The child after its n-th point, which is struck.  n = 0: none is, and they are counted. */
static run trace(const verb *v, const fault *f, long n, bool all)
{
    run r = { .points = 0 };
    struct timespec start, now;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        _exit(v->call());
    }
    assert_int_equal(waitpid(child, &r.status, 0), child);
    assert_true(WIFSTOPPED(r.status));
    ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (long pass = 0;;) {
        struct __ptrace_syscall_info info;
        if (ptrace(PTRACE_SYSCALL, child, NULL, (void *)pass) != 0 && errno != ESRCH)
            fail_msg("no process can be traced here"); /* ESRCH: it is dead */
        pass = 0;
        assert_int_equal(waitpid(child, &r.status, 0), child);
        if (!WIFSTOPPED(r.status)) return r;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec - start.tv_sec > SECONDS) {
            kill(child, SIGKILL);
            waitpid(child, &r.status, 0);
            fail_msg("%s: %s at point %ld: hangs in %ld", v->name, f->name, n, r.call);
        }
        if (WSTOPSIG(r.status) != (SIGTRAP | 0x80)) {
            pass = WSTOPSIG(r.status);
            continue;
        }
        ptrace(PTRACE_GET_SYSCALL_INFO, child, (void *)sizeof info, &info);
        if (info.op != PTRACE_SYSCALL_INFO_ENTRY) continue;
        const bool last = info.entry.nr == SYS_exit_group;
        if (!all && !last && !changes_a_file(&info, f->error != 0)) continue;
        /* brk tells no error: it gives the end that there is. */
        if (f->error && (last || info.entry.nr == SYS_brk)) continue;
        const bool again = f->lasts && r.struck && r.call == (long)info.entry.nr &&
                           r.file == (long)info.entry.args[0];
        if (++r.points != n && !again) continue;
        r.struck = true;
        r.file = (long)info.entry.args[0];
        r.call = (long)info.entry.nr;
        if (f->signal)
            kill(child, f->signal);
        else
            assert_true(tell_error(child, f->error));
    }
}

/* ---- what can be spent afterwards -------------------------------------------------------- */

/* Everywhere, with whatever lies about; the backup last or first. */
static int spend_everywhere(bool backup_first)
{
    int count = 0;
    const char *const files[] = {
        "ledger.db",           "moved.db",       "night.db",         "ledger.db.rekeying",
        "ledger.db.restoring", "moved.db.draft", "parcel/ledger.db", "parcel.sending/ledger.db",
        "night.db.draft"
    };
    if (backup_first) count += spend(at("late.db"), 0) + spend(at("old.db"), 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) count += spend(at(files[i]), 0);
    on_machine(1);
    const char *const parcel = at(access(at("parcel"), F_OK) == 0 ? "parcel" : "parcel.sending");
    (void)!clo_ledger_receive(parcel, at("received.db"), NULL);
    count += spend(at("received.db"), 1);
    on_machine(0);
    unlink(at("ledger.db"));
    unlink(at("moved.db"));
    if (restore_from(at("old.db"), at("again.db")) == CLO_OK) count += spend(at("again.db"), 0);
    return count + spend(at("late.db"), 0) + spend(at("old.db"), 0);
}

static void check_spending(const verb *v, const fault *f, long n, const char *when, int count)
{
    if (v->released + count > CAP)
        fail_msg("%s: %s at point %ld, %s: %d releases, and the cap is %d", v->name, f->name, n,
                 when, v->released + count, CAP);
}

/* The verb again; then the ledger is where it should be, with what should be left of it. */
static void check_second(const verb *v, const fault *f, long n)
{
    on_machine(0);
    const bool here = v->place != NULL;
    const char *const where = at(here ? v->place : "received.db");
    const bool sound =
        verifies(where, here ? 0 : 1) || (v->call != receive && verifies(at("ledger.db"), 0));
    on_machine(0);
    if (v->by_itself && !sound)
        fail_msg("%s: %s at point %ld: does not verify by itself", v->name, f->name, n);
    const clo_status status = v->call();
    if (status && !sound)
        fail_msg("%s: %s at point %ld: neither sound nor finished by a second call (%d)", v->name,
                 f->name, n, (int)status);
    int count = 0;
    if (!here) {
        if (v->call != receive) (void)!receive();
        count = spend(at("received.db"), 1);
    } else {
        count = spend(at(v->place), 0);
        count += strcmp(v->place, "ledger.db") ? spend(at("ledger.db"), 0) : 0;
    }
    if (v->call == adopt ? count > v->left : count != v->left)
        fail_msg("%s: %s at point %ld: %d releases are left after a second call, not %d", v->name,
                 f->name, n, count, v->left);
    check_spending(v, f, n, "after a second call", count + spend_everywhere(false));
}

static void check_point(const verb *v, const fault *f, long n)
{
    copy_all(world, stopped);
    check_spending(v, f, n, "right away", spend_everywhere(false));
    copy_all(stopped, world);
    check_spending(v, f, n, "the backup first", spend_everywhere(true));
    copy_all(stopped, world);
    check_second(v, f, n);
}

/* rotate: another error at each point, in place of all errors at all points. */
static long sweep(const verb *v, const fault *f, bool rotate)
{
    const bool all = long_step() > 0;
    const long step = all ? long_step() : rotate ? 2 : 1;
    long count = 0;
    for (long n = 1;; n += step) {
        if (rotate) f = &faults[3 + n / step % 3];
        copy_all(saved, world);
        on_machine(0);
        const run r = trace(v, f, n, all);
        if (!r.struck) return count;
        if (WIFSIGNALED(r.status) && WTERMSIG(r.status) != f->signal)
            fail_msg("%s: %s at point %ld: crashed", v->name, f->name, n);
        check_point(v, f, n);
        count++;
    }
}

static void prepare(const verb *v)
{
    remove_all(world);
    assert_int_equal(mkdir(world, 0700), 0);
    on_machine(0);
    make_ledger();
    v->prepare();
    copy_all(world, saved);
}

/* CLOISTER_VERB="move --away" and CLOISTER_FAULT=EIO make a long sweep shorter. */
static bool is_wanted(const char *kind, const char *name)
{
    const char *const only = getenv(kind);
    return !only || strcmp(only, name) == 0;
}

/* How many points there are in all, for the kill and for each other fault. */
static long count_calls(const verb *v)
{
    copy_all(saved, world);
    on_machine(0);
    return trace(v, &faults[0], 0, true).points;
}

static void sweep_all(bool errors)
{
    long total = 0, calls = 0;
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        const verb *const v = &verbs[i];
        if (!is_wanted("CLOISTER_VERB", v->name) || (errors && !v->errors && !long_step()))
            continue;
        prepare(v);
        calls += count_calls(v);
        const size_t last = sizeof faults / sizeof *faults - 1;
        const bool one = errors && !long_step(); /* a signal leaves what a kill does */
        for (size_t k = !errors ? 0 : one ? last : 1; k <= (errors ? last : 0); k++) {
            if (!is_wanted("CLOISTER_FAULT", faults[k].name)) continue;
            const long count = sweep(v, &faults[k], one);
            print_message("# %s, %s: %ld points\n", v->name, one ? "errors" : faults[k].name,
                          count);
            assert_true(count > 0);
            total += count;
        }
    }
    print_message("# %ld points of %ld calls\n", total, calls);
}

/* ledger.T9, ledger.T17, ledger.T18 */
static void keeps_one_cap_when_a_steward_is_killed_anywhere(void **state)
{
    sweep_all(false);
}

/* ledger.T9, ledger.T17, ledger.T18 */
static void keeps_one_cap_when_any_call_of_a_steward_fails(void **state)
{
    sweep_all(true);
}

/* ---- more than one thing goes wrong ------------------------------------------------------- */

/* What finishes a verb that was killed is killed, too; long: at several points of it each. */
static void keeps_one_cap_when_what_finishes_a_verb_is_killed_too(void **state)
{
    const long pairs = long_step() > 0 ? 5 : 1;
    long total = 0;
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        const verb *const v = &verbs[i];
        if (!is_wanted("CLOISTER_VERB", v->name) || !v->errors) continue;
        prepare(v);
        copy_all(saved, world);
        on_machine(0);
        const long points = trace(v, &faults[0], 0, false).points;
        for (long n = 1; n <= points; n++)
            for (long pair = 0; pair < pairs; pair++) {
                copy_all(saved, world);
                on_machine(0);
                if (!trace(v, &faults[0], n, false).struck) break;
                on_machine(0);
                (void)trace(v, &faults[0], 1 + (7 * n + 3 * pair) % points, false);
                check_point(v, &faults[0], n);
                total++;
            }
    }
    print_message("# %ld pairs of kills\n", total);
    assert_true(total > 0 || getenv("CLOISTER_VERB"));
}

/* After the kill another verb is called, and then the same once more. */
static void keeps_one_cap_when_another_verb_comes_after_a_kill(void **state)
{
    enum { VERBS = sizeof verbs / sizeof *verbs };
    long total = 0;
    for (size_t i = 0; i < VERBS; i++) {
        const verb *const v = &verbs[i];
        if (!is_wanted("CLOISTER_VERB", v->name)) continue;
        prepare(v);
        for (long n = 1;; n++) {
            const verb *const other = &verbs[(i + 1 + (size_t)n * 4) % VERBS];
            char when[60];
            copy_all(saved, world);
            on_machine(0);
            if (!trace(v, &faults[0], n, false).struck) break;
            on_machine(0);
            if (other->call != init) (void)!other->call();
            on_machine(0);
            copy_all(world, stopped);
            snprintf(when, sizeof when, "and after %s", other->name);
            check_spending(v, &faults[0], n, when, spend_everywhere(n % 2 != 0));
            copy_all(stopped, world);
            on_machine(0);
            total++;
            if (v->call == init) continue; /* where none is left, it makes one more */
            (void)!v->call();
            on_machine(0);
            check_spending(v, &faults[0], n, when, spend_everywhere(n % 2 == 0));
        }
    }
    print_message("# %ld kills with another verb after them\n", total);
    assert_true(total > 0 || getenv("CLOISTER_VERB"));
}

/* ---- what is said of a disk that fails ---------------------------------------------------- */

static clo_error *told; /* shared with the child */

static clo_status look(void)
{
    clo_ledger *ledger = NULL;
    clo_status status = clo_ledger_open_existing(at("ledger.db"), &ledger, told);
    if (!status) status = clo_ledger_verify(ledger, told);
    clo_ledger_close(ledger);
    return status;
}

static clo_status look_and_charge(void)
{
    clo_ledger *ledger = NULL;
    clo_status status = clo_ledger_open(at("ledger.db"), &ledger, told);
    if (!status) status = charge_as(ledger, told);
    clo_ledger_close(ledger);
    return status;
}

static clo_status look_and_restore(void)
{
    clo_restoration how = clo_restoration_default();
    how.backup = at("old.db");
    how.ledger = at("again.db");
    how.note = "the disk is gone";
    return clo_ledger_restore(&how, NULL, NULL, told);
}

/* A disk that fails is neither damage nor another key, and nobody is sent to restore a backup. */
static void names_no_wrong_cause_where_a_disk_fails(void **state)
{
    static const char *const wrong[] = { "damaged",      "another key", "older copy",
                                         "run cloister", "hexadecimal", "ordinary file",
                                         "was changed",  "not at" };
    static const verb looks[] = { { .name = "verify", .call = look },
                                  { .name = "charge", .call = look_and_charge },
                                  { .name = "restore", .call = look_and_restore } };
    static const fault failing[] = { { .name = "EIO from then on", .error = EIO, .lasts = true },
                                     { .name = "EIO once", .error = EIO } };
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(told, MAP_FAILED);
    const size_t count = sizeof looks / sizeof *looks;
    for (size_t i = 0; i < 2 * (count + 1); i++) { /* the last of them with both faults */
        const verb *const v = &looks[i / 2 < count ? i / 2 : count - 1];
        const fault *const f = &failing[i / 2 < count ? 0 : 1];
        prepare(&verbs[0]);
        if (i % 2) assert_int_equal(rekey(), CLO_OK); /* with a key in keys/ */
        if (i % 2) unlink(at("old.db"));
        if (i % 2) assert_int_equal(with_ledger(make_old), CLO_OK);
        if (v->call == look_and_restore) unlink(at("ledger.db"));
        copy_all(world, saved);
        for (long n = 1;; n++) {
            copy_all(saved, world);
            on_machine(0);
            told->message[0] = 0;
            const run r = trace(v, f, n, true);
            if (!r.struck) break;
            if (!WIFEXITED(r.status))
                fail_msg("%s, point %ld, call %ld: ends with %x", v->name, n, r.call, r.status);
            if (WEXITSTATUS(r.status) == CLO_OK) {
                if (v->call == look_and_restore && spend(at("again.db"), 0) != LEFT)
                    fail_msg("%s, point %ld, call %ld: more is charged than was", v->name, n,
                             r.call);
                continue;
            }
            for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
                if (strstr(told->message, wrong[k]))
                    fail_msg("%s, point %ld, call %ld: %s", v->name, n, r.call, told->message);
        }
    }
    munmap(told, sizeof *told);
}

static const char *codes_folder(void)
{
    static char path[PATHS];
    snprintf(path, sizeof path, "%s/cloister/codes", getenv("XDG_CONFIG_HOME"));
    return path;
}

static void keep_codes(void)
{
    copy_all(codes_folder(), at("kept codes"));
}

/* As if the machine had died before it forgot one. */
static void bring_codes_back(void)
{
    copy_all(at("kept codes"), codes_folder());
}

/* ledger.T18: there and on, and the first parcel once more; and back, which is allowed.  A code
 * that is left does not help. */
static void does_not_receive_a_parcel_twice(void **state)
{
    static const struct {
        int from, to;
        const char *file, *parcel, *received;
    } moves[] = { { 0, 1, "ledger.db", "first", "one.db" },
                  { 1, 2, "one.db", "second", "two.db" },
                  { 2, 1, "two.db", "third", "back.db" } };
    clo_error err;
    prepare(&verbs[0]);
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        const char *const code = make_code(moves[i].to);
        on_machine(moves[i].from);
        assert_ok(clo_ledger_send(at(moves[i].file), at(moves[i].parcel), code, &err), err);
        on_machine(moves[i].to);
        keep_codes();
        assert_ok(clo_ledger_receive(at(moves[i].parcel), at(moves[i].received), &err), err);
        assert_fails(clo_ledger_receive(at(moves[i].parcel), at("twice.db"), &err), CLO_LEDGER, err,
                     "already unpacked");
        bring_codes_back();
        assert_fails(clo_ledger_receive(at(moves[i].parcel), at("twice.db"), &err), CLO_LEDGER, err,
                     "already has the ledger");
        if (i != 1) continue;
        on_machine(1);
        assert_fails(clo_ledger_receive(at("first"), at("twice.db"), &err), CLO_LEDGER, err,
                     "was moved on");
    }
    assert_int_equal(spend(at("back.db"), 1), LEFT);
}

/* ledger.T18: the mark does not mean an older draft, of a call that died before the mark. */
static void finishes_no_other_parcel(void **state)
{
    clo_error err;
    prepare(&verbs[0]);
    assert_int_equal(mkdir(at("other.sending"), 0700), 0);
    copy_file(at("late.db"), at("other.sending/ledger.db"));
    send_parcel();
    assert_fails(clo_ledger_send(at("ledger.db"), at("other"), codes[1], &err), CLO_LEDGER, err,
                 "with the same folder");
    assert_int_not_equal(access(at("other"), F_OK), 0);
    assert_int_equal(move_away(), CLO_OK); /* and the same once more only says so */
}

static clo_status send_other(void)
{
    return clo_ledger_send(at("ledger.db"), at("other"), codes[2], NULL);
}

/* What another machine can spend with this parcel. */
static int spend_parcel(const char *parcel, const char *file, int machine)
{
    on_machine(machine);
    (void)!clo_ledger_receive(at(parcel), at(file), NULL);
    const int count = spend(at(file), machine);
    on_machine(0);
    return count;
}

/* ledger.T18: a call that died may have left a draft for a folder of another name, which ends as
 * the ledger does; of both, one becomes a parcel. */
static void makes_one_parcel_whatever_an_earlier_call_left(void **state)
{
    const verb earlier = { .name = "move --away to another folder", .call = send_other };
    prepare(&verbs[0]);
    for (long n = 1;; n++) {
        copy_all(saved, world);
        on_machine(0);
        if (!trace(&earlier, &faults[0], n, false).struck) break;
        (void)!move_away();
        (void)!send_other();
        (void)!move_away();
        const int count = spend_parcel("parcel", "one.db", 1) + spend_parcel("other", "two.db", 2);
        if (count != LEFT)
            fail_msg("point %ld: two machines have %d releases, not %d", n, count, LEFT);
    }
}

/* ledger.T18: a parcel is copied and unpacked on every machine, wherever the one that it is for was
 * killed: only that one has the ledger then. */
static void unpacks_a_parcel_on_one_machine_only(void **state)
{
    const verb *const from = &verbs[2];
    assert_ptr_equal(from->call, receive);
    prepare(from);
    for (long n = 1;; n++) {
        copy_all(saved, world);
        on_machine(0);
        const bool struck = trace(from, &faults[0], n, false).struck;
        copy_all(at("parcel"), at("copy"));
        const int other = spend_parcel("copy", "two.db", 2),
                  home = spend_parcel("copy", "home.db", 0);
        const int right = spend_parcel("parcel", "received.db", 1);
        if (other || home || right != LEFT)
            fail_msg("point %ld: %d, %d and %d releases", n, home, right, other);
        if (!struck) break;
    }
}

/* ledger.T18: a call that died is finished for the machine that it was begun for. */
static void sends_to_no_second_machine(void **state)
{
    const verb *const away = &verbs[1];
    assert_ptr_equal(away->call, move_away);
    prepare(away);
    bool refused = false;
    for (long n = 1;; n++) {
        clo_error err;
        copy_all(saved, world);
        on_machine(0);
        const bool struck = trace(away, &faults[0], n, false).struck;
        const clo_status status = clo_ledger_send(at("ledger.db"), at("parcel"), codes[2], &err);
        refused = refused || (status && strstr(err.message, "with another code"));
        copy_all(world, stopped);
        if (spend_parcel("parcel", "two.db", 2) != (status ? 0 : LEFT))
            fail_msg("point %ld: %d, and the second machine has another ledger", n, (int)status);
        copy_all(stopped, world);
        (void)!move_away();
        const int count = spend_parcel("parcel", "two.db", 2) + spend_parcel("parcel", "one.db", 1);
        if (count != LEFT) fail_msg("point %ld: two machines have %d releases", n, count);
        if (!struck) break;
    }
    assert_true(refused);
}

/* What is sealed for a code that nobody made can never be unpacked. */
static void refuses_a_mistyped_code(void **state)
{
    clo_error err;
    char code[CLO_MOVE_CODE + 2];
    prepare(&verbs[0]);
    for (int i = 0; i < CLO_MOVE_CODE; i++) {
        snprintf(code, sizeof code, "%s", codes[1]);
        code[i] = code[i] == '7' ? '8' : '7';
        assert_fails(clo_ledger_send(at("ledger.db"), at("parcel"), code, &err), CLO_ARGUMENT, err,
                     "a digit is wrong");
    }
    snprintf(code, sizeof code, "%s0", codes[1]);
    const char *const others[] = { code, "", NULL };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_fails(clo_ledger_send(at("ledger.db"), at("parcel"), others[i], &err), CLO_ARGUMENT,
                     err, "not a code");
    assert_int_equal(spend(at("ledger.db"), 0), LEFT);
}

/* ledger.T18: a parcel without its anchor is is incomplete, and says so. */
static void receives_no_parcel_without_an_anchor(void **state)
{
    clo_error err;
    prepare(&verbs[0]);
    send_parcel();
    unlink(at("parcel/anchor"));
    on_machine(1);
    assert_fails(clo_ledger_receive(at("parcel"), at("received.db"), &err), CLO_LEDGER, err,
                 "is incomplete");
    assert_int_not_equal(access(at("received.db"), F_OK), 0);
}

static int make_world(void **state)
{
    const char *const folder = getenv("TMPDIR");
    snprintf(base, sizeof base, "%s/cloister-points-XXXXXX", folder ? folder : "/tmp");
    if (!mkdtemp(base)) return -1;
    snprintf(world, sizeof world, "%s/world", base);
    snprintf(saved, sizeof saved, "%s/saved", base);
    snprintf(stopped, sizeof stopped, "%s/stopped", base);
    return 0;
}

static int remove_world(void **state)
{
    remove_all(base);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_one_cap_when_a_steward_is_killed_anywhere),
        cmocka_unit_test(keeps_one_cap_when_any_call_of_a_steward_fails),
        cmocka_unit_test(keeps_one_cap_when_what_finishes_a_verb_is_killed_too),
        cmocka_unit_test(keeps_one_cap_when_another_verb_comes_after_a_kill),
        cmocka_unit_test(names_no_wrong_cause_where_a_disk_fails),
        cmocka_unit_test(does_not_receive_a_parcel_twice),
        cmocka_unit_test(finishes_no_other_parcel),
        cmocka_unit_test(makes_one_parcel_whatever_an_earlier_call_left),
        cmocka_unit_test(unpacks_a_parcel_on_one_machine_only),
        cmocka_unit_test(sends_to_no_second_machine),
        cmocka_unit_test(refuses_a_mistyped_code),
        cmocka_unit_test(receives_no_parcel_without_an_anchor),
    };
    if (access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 1);
    return cmocka_run_group_tests(tests, make_world, remove_world);
}
