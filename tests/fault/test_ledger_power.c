/*
 * test_ledger_power.c - the power goes off after the n-th write, sync or deletion of a charge.
 *
 * A layer below SQLite keeps files in memory as a disk and its cache would: a write is volatile
 * until its file is synced, and a name that was made or deleted is volatile until its folder is.
 * When the power goes off, what was synced stays; of the rest nothing stays, or all of it, or any
 * part of it, sector by sector and name by name.  The anchor's writes and syncs go through the same
 * disk.  Whatever n and whatever stays: a charge that was acknowledged is there afterwards, a copy
 * of the ledger from before it is refused, and the ledger is sound and can be charged (ledger.T7,
 * ledger.T9, ledger.T10).
 *
 * Deleting the journal is the commit.  Who does not sync the folder after it (synchronous=FULL, the
 * usual setting, and NORMAL) may find the journal there again and roll an acknowledged charge back;
 * and who acknowledges before the commit has promised what is not there; who acknowledges before
 * the anchor is synced lets an old copy in.  The same sweep must catch each of them.
 */
#include "ledger/ledger_internal.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* ---- a disk with a cache ---------------------------------------------------------- */

enum { NODES = 64, NAMES = 4, SECTOR = 512, DISK = 1 << 17 };

typedef struct change {
    int64_t at; /* a write here, or (size < 0) a truncation to here */
    int size;
    uint8_t *bytes;
    struct change *next;
} change;

/* What a file holds now, what of it is on the disk, and what lies between. */
typedef struct node {
    uint8_t *now, *synced;
    int64_t now_size, synced_size;
    change *changes, **last;
} node;

static struct {
    node nodes[NODES];
    int count;
    struct {
        char name[320];
        int now, synced; /* the node of that name; -1: there is none */
    } names[NAMES];
    int anchor; /* its node; it has a real file too, which holds what the cache holds */
    uint64_t operations, off_after; /* 0: the power stays on */
    bool off;
} disk;

/* One more operation; false where there is no power for it any more. */
static bool powered(void)
{
    if (disk.off) return false;
    disk.operations++;
    return true;
}

static void perhaps_off(void)
{
    if (disk.off_after && disk.operations >= disk.off_after) disk.off = true;
}

static int new_node(void)
{
    assert_true(disk.count < NODES);
    node *const n = &disk.nodes[disk.count];
    *n = (node){ .now = calloc(1, DISK), .synced = calloc(1, DISK) };
    n->last = &n->changes;
    return disk.count++;
}

/* With `sectors` all of them stay, or none, or some; a torn one is half of what it was. */
static void apply(uint8_t *bytes, int64_t *size, const change *c, uint64_t sectors, int torn)
{
    if (c->size < 0) {
        if (!(sectors & 1)) return;
        if (c->at < *size) memset(bytes + c->at, 0, (size_t)(*size - c->at));
        *size = c->at;
        return;
    }
    for (int i = 0; i < c->size - torn; i++) {
        if (!(sectors >> (((c->at + i) / SECTOR) % 64) & 1)) continue;
        bytes[c->at + i] = c->bytes[i];
        if (c->at + i + 1 > *size) *size = c->at + i + 1;
    }
}

static void forget_changes(node *n)
{
    for (change *c = n->changes, *next; c; c = next) {
        next = c->next;
        free(c->bytes);
        free(c);
    }
    n->changes = NULL;
    n->last = &n->changes;
}

static void note_change(node *n, int64_t at, int size, const void *bytes)
{
    change *const c = calloc(1, sizeof *c);
    assert_true(at + (size > 0 ? size : 0) <= DISK);
    *c = (change){ .at = at, .size = size };
    if (size > 0) memcpy(c->bytes = malloc((size_t)size), bytes, (size_t)size);
    *n->last = c;
    n->last = &c->next;
    apply(n->now, &n->now_size, c, ~UINT64_C(0), 0);
}

static void sync_node(node *n)
{
    memcpy(n->synced, n->now, DISK);
    n->synced_size = n->now_size;
    forget_changes(n);
}

static void sync_names(void)
{
    for (int i = 0; i < NAMES; i++) disk.names[i].synced = disk.names[i].now;
}

static int find_name(const char *name, bool make)
{
    for (int i = 0; i < NAMES; i++) {
        if (strcmp(disk.names[i].name, name) == 0) return i;
        if (disk.names[i].name[0] || !make) continue;
        snprintf(disk.names[i].name, sizeof disk.names[i].name, "%s", name);
        disk.names[i].now = disk.names[i].synced = -1;
        return i;
    }
    return -1;
}

static void clear_disk(void)
{
    for (int i = 0; i < disk.count; i++) {
        forget_changes(&disk.nodes[i]);
        free(disk.nodes[i].now);
        free(disk.nodes[i].synced);
    }
    memset(&disk, 0, sizeof disk);
    disk.anchor = -1;
}

/* What stays of what was not synced. */
typedef enum staying { NOTHING, EVERYTHING, NAMES_ALONE, CONTENTS_ALONE, ANY_PART } staying;

static uint64_t some_bits(uint64_t *state) /* xorshift */
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* The power comes back. */
static void come_back(staying what, uint64_t seed)
{
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (int i = 0; i < disk.count; i++) {
        node *const n = &disk.nodes[i];
        for (const change *c = n->changes; c; c = c->next) {
            const uint64_t bits = what == EVERYTHING || what == CONTENTS_ALONE ? ~UINT64_C(0)
                                  : what == ANY_PART                           ? some_bits(&state)
                                                                               : 0;
            /* SQLite takes a sector to be whole; the anchor's records need not be. */
            const int torn =
                i == disk.anchor && what == ANY_PART ? (int)((bits >> 32) % SECTOR) : 0;
            apply(n->synced, &n->synced_size, c, bits, torn);
        }
        forget_changes(n);
        memcpy(n->now, n->synced, DISK);
        n->now_size = n->synced_size;
    }
    for (int i = 0; i < NAMES; i++) {
        const bool stays = what == EVERYTHING || what == NAMES_ALONE ||
                           (what == ANY_PART && some_bits(&state) >> 32 & 1);
        if (stays) disk.names[i].synced = disk.names[i].now;
        disk.names[i].now = disk.names[i].synced;
    }
    disk.off = false;
    disk.off_after = disk.operations = 0;
}

/* ---- as SQLite sees it -------------------------------------------------------------- */

typedef struct disk_file {
    sqlite3_file base;
    int node;
    bool sync_folder; /* a new journal: its name is synced with its first sync, as on Unix */
} disk_file;

static sqlite3_vfs *real_vfs;
static sqlite3_vfs disk_vfs;

static node *node_of(sqlite3_file *f)
{
    return &disk.nodes[((disk_file *)f)->node];
}

static int f_close(sqlite3_file *f)
{
    return SQLITE_OK;
}
static int f_read(sqlite3_file *f, void *to, int count, sqlite3_int64 at)
{
    const node *const n = node_of(f);
    const int64_t there = n->now_size - at < count ? n->now_size - at : count;
    if (disk.off) return SQLITE_IOERR_READ;
    memset(to, 0, (size_t)count);
    if (there > 0) memcpy(to, n->now + at, (size_t)there);
    return there < count ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
}
static int f_write(sqlite3_file *f, const void *from, int count, sqlite3_int64 at)
{
    if (!powered()) return SQLITE_IOERR_WRITE;
    note_change(node_of(f), at, count, from);
    perhaps_off();
    return SQLITE_OK;
}
static int f_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    if (!powered()) return SQLITE_IOERR_TRUNCATE;
    note_change(node_of(f), size, -1, NULL);
    perhaps_off();
    return SQLITE_OK;
}
static int f_sync(sqlite3_file *f, int flags)
{
    if (!powered()) return SQLITE_IOERR_FSYNC;
    sync_node(node_of(f));
    perhaps_off();
    if (!((disk_file *)f)->sync_folder) return SQLITE_OK;
    if (!powered()) return SQLITE_IOERR_DIR_FSYNC;
    sync_names();
    ((disk_file *)f)->sync_folder = false;
    perhaps_off();
    return SQLITE_OK;
}
static int f_size(sqlite3_file *f, sqlite3_int64 *size)
{
    *size = node_of(f)->now_size;
    return disk.off ? SQLITE_IOERR_FSTAT : SQLITE_OK;
}
static int f_lock(sqlite3_file *f, int level)
{
    return disk.off ? SQLITE_IOERR_LOCK : SQLITE_OK; /* there is one process */
}
static int f_reserved(sqlite3_file *f, int *out)
{
    *out = 0;
    return SQLITE_OK;
}
static int f_control(sqlite3_file *f, int what, void *value)
{
    return SQLITE_NOTFOUND;
}
static int f_sector(sqlite3_file *f)
{
    return SECTOR;
}
static int f_device(sqlite3_file *f)
{
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE; /* as on Unix */
}

static const sqlite3_io_methods disk_methods = {
    .iVersion = 1,
    .xClose = f_close,
    .xRead = f_read,
    .xWrite = f_write,
    .xTruncate = f_truncate,
    .xSync = f_sync,
    .xFileSize = f_size,
    .xLock = f_lock,
    .xUnlock = f_lock,
    .xCheckReservedLock = f_reserved,
    .xFileControl = f_control,
    .xSectorSize = f_sector,
    .xDeviceCharacteristics = f_device,
};

static int v_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out)
{
    disk_file *const file = (disk_file *)f;
    file->base.pMethods = NULL;
    if (!name || disk.off) return SQLITE_CANTOPEN;
    const int i = find_name(name, true);
    const bool is_new = disk.names[i].now < 0;
    /* The ledger made the file itself, and synced its name. */
    if (is_new && !(flags & (SQLITE_OPEN_CREATE | SQLITE_OPEN_MAIN_DB))) return SQLITE_CANTOPEN;
    if (is_new) disk.names[i].now = new_node();
    if (is_new && flags & SQLITE_OPEN_MAIN_DB) disk.names[i].synced = disk.names[i].now;
    *file = (disk_file){ .base = { &disk_methods },
                         .node = disk.names[i].now,
                         .sync_folder = is_new && flags & SQLITE_OPEN_MAIN_JOURNAL };
    if (out) *out = flags;
    return SQLITE_OK;
}

static int v_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    const int i = find_name(name, false);
    if (i < 0 || disk.names[i].now < 0) return SQLITE_IOERR_DELETE_NOENT;
    if (!powered()) return SQLITE_IOERR_DELETE;
    disk.names[i].now = -1;
    perhaps_off();
    if (!sync) return SQLITE_OK; /* FULL and NORMAL stop here */
    if (!powered()) return SQLITE_IOERR_DIR_FSYNC;
    sync_names();
    perhaps_off();
    return SQLITE_OK;
}

static int v_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
    const int i = find_name(name, false);
    *out = i >= 0 && disk.names[i].now >= 0 &&
           (flags != SQLITE_ACCESS_EXISTS || disk.nodes[disk.names[i].now].now_size > 0);
    return disk.off ? SQLITE_IOERR_ACCESS : SQLITE_OK;
}

static ssize_t anchor_pwrite(int file, const void *bytes, size_t count, off_t at)
{
    errno = EIO;
    if (!powered()) return -1;
    if (disk.anchor >= 0) note_change(&disk.nodes[disk.anchor], at, (int)count, bytes);
    perhaps_off();
    return pwrite(file, bytes, count, at);
}

static int anchor_fdatasync(int file)
{
    errno = EIO;
    if (!powered()) return -1;
    if (disk.anchor >= 0) sync_node(&disk.nodes[disk.anchor]);
    perhaps_off();
    return 0;
}

static int put_layer(void **state)
{
    clo_i_anchor_pwrite = anchor_pwrite;
    clo_i_anchor_fdatasync = anchor_fdatasync;
    disk.anchor = -1;
    real_vfs = sqlite3_vfs_find(NULL);
    disk_vfs = *real_vfs;
    disk_vfs.zName = "disk";
    disk_vfs.szOsFile = (int)sizeof(disk_file);
    disk_vfs.xOpen = v_open;
    disk_vfs.xDelete = v_delete;
    disk_vfs.xAccess = v_access;
    return sqlite3_vfs_register(&disk_vfs, 1);
}

static int take_layer(void **state)
{
    sqlite3_vfs_register(real_vfs, 1);
    return sqlite3_vfs_unregister(&disk_vfs);
}

/* ---- a ledger on it ------------------------------------------------------------------ */

static char folder[256], path[300];
static struct {
    uint8_t bytes[DISK];
    int64_t size;
    char anchor_path[PATH_MAX];
    char anchor[2048];
    ssize_t anchor_size;
} kept; /* the ledger that every trial begins with */

/* How the code under test is to be wrong. */
typedef enum wrong { RIGHT, NORMAL, FULL, EARLY, UNSYNCED } wrong;

static clo_ledger *open_with(wrong how)
{
    clo_ledger *ledger = NULL;
    clo_error err = { 0 };
    if (clo_ledger_create(path, CLO_LEDGER_OPEN, &ledger, &err)) fail_msg("%s", err.message);
    if (how == NORMAL)
        assert_int_equal(clo_i_sql_do(ledger, "PRAGMA synchronous = NORMAL", NULL), CLO_OK);
    if (how == FULL)
        assert_int_equal(clo_i_sql_do(ledger, "PRAGMA synchronous = FULL", NULL), CLO_OK);
    if (how == EARLY) ledger->planted = CLO_PLANTED_EARLY_RECEIPT;
    if (how == UNSYNCED) ledger->planted = CLO_PLANTED_UNSYNCED_ANCHOR;
    return ledger;
}

static clo_status charge_one(clo_ledger *ledger, const char *token, clo_i_receipt *receipt)
{
    const clo_i_charge charge = { .dataset = "d",
                                  .mechanism = "kmeans/lloyd",
                                  .relation = "replace",
                                  .loss = { 1, 0 },
                                  .rho = UINT64_C(1) << 47,
                                  .token = token };
    return clo_i_ledger_charge(ledger, &charge, receipt, NULL);
}

static void keep_anchor(void)
{
    const int f = open(kept.anchor_path, O_RDONLY);
    kept.anchor_size = read(f, kept.anchor, sizeof kept.anchor);
    close(f);
    assert_true(kept.anchor_size > 1024);
}

static void put_anchor(const void *bytes, int64_t size)
{
    const int f = open(kept.anchor_path, O_WRONLY | O_TRUNC);
    assert_int_equal(write(f, bytes, (size_t)size), size);
    close(f);
}

enum { BEFORE = 2 }; /* charges that the ledger begins with */

static int make_place(void **state)
{
    const char *base = getenv("TMPDIR");
    clo_i_receipt receipt;
    if (!base && access("/dev/shm", W_OK) == 0) base = "/dev/shm"; /* the disk is made up anyway */
    snprintf(folder, sizeof folder, "%s/cloister-power-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/ledger.db", folder);
    setenv("XDG_CONFIG_HOME", folder, 1);
    clo_ledger *ledger = open_with(RIGHT);
    for (int i = 0; i < BEFORE; i++)
        if (charge_one(ledger, NULL, &receipt)) return -1;
    memcpy(kept.anchor_path, ledger->anchor.path, PATH_MAX);
    clo_ledger_close(ledger);
    const node *const n = &disk.nodes[disk.names[find_name(path, false)].now];
    memcpy(kept.bytes, n->now, DISK);
    kept.size = n->now_size;
    keep_anchor();
    return 0;
}

static int remove_place(void **state)
{
    char command[400];
    clear_disk();
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static void fill_node(node *n, const void *bytes, int64_t size)
{
    memset(n->now, 0, DISK);
    memcpy(n->now, bytes, (size_t)size);
    n->now_size = size;
    sync_node(n);
}

/* The disk and the anchor as they were at first. */
static void begin_again(void)
{
    clear_disk();
    const int i = find_name(path, true);
    fill_node(&disk.nodes[disk.names[i].now = new_node()], kept.bytes, kept.size);
    sync_names();
    fill_node(&disk.nodes[disk.anchor = new_node()], kept.anchor, kept.anchor_size);
    put_anchor(kept.anchor, kept.anchor_size);
}

/* The power comes back, and with it what stayed of the anchor. */
static void go_on(staying what, uint64_t seed)
{
    come_back(what, seed);
    put_anchor(disk.nodes[disk.anchor].now, disk.nodes[disk.anchor].now_size);
}

/* ---- the sweep ------------------------------------------------------------------------ */

typedef struct trial {
    wrong how;
    uint64_t off_after;
    staying what;
    uint64_t seed;
    bool anchor_stays; /* or it is as it was at first: nothing is noticed then, nobody shut out */
} trial;

/* How many charges the ledger holds; -1 where it is refused or not sound. */
static int64_t recorded(void)
{
    clo_ledger *ledger = NULL;
    clo_i_account account = { 0 };
    clo_error err = { 0 };
    bool found = false;
    const bool right = !clo_ledger_create(path, CLO_LEDGER_OPEN, &ledger, &err) &&
                       !clo_ledger_verify(ledger, &err) &&
                       !clo_i_ledger_find_account(ledger, "d", &account, &found, &err);
    clo_ledger_close(ledger);
    return right ? (int64_t)account.charges : -1;
}

/* The ledger as it was at first, put back. */
static bool refuses_the_old_copy(void)
{
    clo_ledger *ledger = NULL;
    const int i = find_name(path, false);
    fill_node(&disk.nodes[disk.names[i].now], kept.bytes, kept.size);
    const clo_status status = clo_ledger_create(path, CLO_LEDGER_OPEN, &ledger, NULL);
    clo_ledger_close(ledger);
    return status == CLO_LEDGER;
}

/* Two charges with the power going off somewhere in them.  True where everything that was
 * acknowledged is there afterwards, and at most the one that was under way besides; where the next
 * charge goes through; and where the copy from before is refused, if anything was acknowledged. */
static bool keeps_its_word(const trial *t, bool *reached)
{
    int64_t acknowledged = BEFORE;
    clo_i_receipt receipt;
    begin_again();
    clo_ledger *ledger = open_with(t->how);
    disk.operations = 0;
    disk.off_after = t->off_after;
    for (int i = 0; i < 2 && !disk.off; i++) acknowledged += !charge_one(ledger, NULL, &receipt);
    *reached = disk.off;
    disk.off = true; /* nobody has time to tidy up */
    clo_ledger_close(ledger);
    go_on(t->what, t->seed);
    if (!t->anchor_stays) put_anchor(kept.anchor, kept.anchor_size);
    const int64_t there = recorded();
    if (there != acknowledged && there != acknowledged + 1) return false;
    if (!t->anchor_stays) return true;
    if (acknowledged > BEFORE) return refuses_the_old_copy();
    ledger = open_with(RIGHT);
    const clo_status status = charge_one(ledger, NULL, &receipt);
    clo_ledger_close(ledger);
    return !status;
}

static const struct {
    staying what;
    int times;
} stays[] = {
    { NOTHING, 1 }, { EVERYTHING, 1 }, { NAMES_ALONE, 1 }, { CONTENTS_ALONE, 1 }, { ANY_PART, 8 }
};

/* Every n, and everything that may stay; how many trials, and in how many the word was broken.  A
 * planted fault shows itself in a part of them. */
static void sweep(wrong how, uint64_t *trials, uint64_t *broken)
{
    bool reached = true;
    *trials = *broken = 0;
    for (uint64_t n = 1; reached; n++) {
        assert_in_range(n, 1, 400);
        for (size_t i = 0; i < sizeof stays / sizeof *stays; i++)
            for (int seed = 0; seed < (how == RIGHT ? stays[i].times : 1); seed++)
                for (int anchor = how != RIGHT; anchor < 2; anchor++) {
                    const trial t = { .how = how,
                                      .off_after = n,
                                      .what = stays[i].what,
                                      .seed = n * 100 + (uint64_t)seed,
                                      .anchor_stays = anchor };
                    const bool right = keeps_its_word(&t, &reached);
                    *broken += !right;
                    ++*trials;
                    if (!right && how == RIGHT)
                        fail_msg("off after operation %d, staying %d, seed %d, anchor %d: %d",
                                 (int)n, (int)t.what, (int)t.seed, anchor, (int)recorded());
                }
    }
}

/* ledger.T7, ledger.T9 */
static void loses_no_acknowledged_charge_when_the_power_goes_off(void **state)
{
    uint64_t trials = 0, broken = 0;
    sweep(RIGHT, &trials, &broken);
    assert_true(trials > 500);
    assert_int_equal(broken, 0);
    print_message("# %d power cuts, %d acknowledged charges lost\n", (int)trials, (int)broken);
}

static void catches(wrong how, const char *name)
{
    uint64_t trials = 0, broken = 0;
    sweep(how, &trials, &broken);
    print_message("# %s: %d of %d power cuts broke its word\n", name, (int)broken, (int)trials);
    assert_true(broken > 0);
}

/* The planted faults of ledger.T7. */
static void would_notice_synchronous_normal(void **state)
{
    catches(NORMAL, "synchronous=NORMAL");
}

static void would_notice_synchronous_full(void **state)
{
    catches(FULL, "synchronous=FULL");
}

static void would_notice_a_receipt_before_the_commit(void **state)
{
    catches(EARLY, "a receipt before the commit");
}

/* The planted fault of ledger.T9. */
static void would_notice_a_receipt_before_the_anchor_is_synced(void **state)
{
    catches(UNSYNCED, "an anchor that is not synced");
}

/* ledger.T7: the power may go off again while the first cut is being repaired. */
static void survives_a_second_cut_while_it_recovers(void **state)
{
    clo_i_receipt receipt;
    bool reached = true;
    for (uint64_t n = 1; reached; n++)
        for (uint64_t m = 1; m <= 8; m++) {
            begin_again();
            clo_ledger *ledger = open_with(RIGHT);
            disk.operations = 0;
            disk.off_after = n;
            const int64_t acknowledged = BEFORE + !charge_one(ledger, NULL, &receipt);
            reached = disk.off;
            disk.off = true;
            clo_ledger_close(ledger);
            go_on(m % 2 ? CONTENTS_ALONE : ANY_PART, n);
            disk.off_after = m;
            ledger = NULL;
            (void)!clo_ledger_create(path, CLO_LEDGER_OPEN, &ledger, NULL);
            disk.off = true;
            clo_ledger_close(ledger);
            go_on(m % 3 ? NOTHING : ANY_PART, m);
            const int64_t there = recorded();
            assert_true(there == acknowledged || there == acknowledged + 1);
        }
}

/* ledger.T9: a process dies before it has synced the anchor, and while the next one charges the
 * power goes off: the records must not both hang on what the disk has not got. */
static void survives_a_cut_after_a_kill(void **state)
{
    clo_i_receipt receipt;
    bool reached = true;
    for (uint64_t n = 1; reached; n++)
        for (uint64_t seed = 0; seed < 12; seed++) {
            begin_again();
            clo_ledger *ledger = open_with(UNSYNCED);
            assert_int_equal(charge_one(ledger, NULL, &receipt), CLO_OK); /* nobody hears of it */
            clo_ledger_close(ledger);
            ledger = open_with(RIGHT);
            disk.operations = 0;
            disk.off_after = n;
            const int64_t acknowledged = BEFORE + 1 + !charge_one(ledger, NULL, &receipt);
            reached = disk.off;
            disk.off = true;
            clo_ledger_close(ledger);
            go_on(ANY_PART, 100 * n + seed);
            const int64_t there = recorded();
            assert_true(there == acknowledged || there == acknowledged + 1);
        }
}

/* ledger.T10: a result is there whole, or its token is dead; and nothing else. */
static void stores_a_result_whole_or_not_at_all(void **state)
{
    static const char result[] = "{ \"centers\": [[0.5, 0.25]] }";
    static const uint8_t plan[LEDGER_PLAN];
    bool reached = true;
    for (uint64_t n = 1; reached; n++)
        for (uint64_t seed = 0; seed < 8; seed++) {
            clo_i_receipt receipt;
            clo_error err = { 0 };
            char *bytes = NULL;
            size_t length = 0;
            begin_again();
            clo_ledger *ledger = open_with(RIGHT);
            assert_int_equal(charge_one(ledger, "t", &receipt), CLO_OK);
            disk.operations = 0;
            disk.off_after = n;
            const bool stored = !clo_i_ledger_store(ledger, &receipt, result, sizeof result, NULL);
            reached = disk.off;
            disk.off = true;
            clo_ledger_close(ledger);
            go_on(seed < 4 ? (staying)seed : ANY_PART, n * 10 + seed);
            ledger = open_with(RIGHT);
            assert_int_equal(clo_ledger_verify(ledger, NULL), CLO_OK);
            const clo_status status =
                clo_i_ledger_fetch(ledger, "d", plan, "t", NULL, &bytes, &length, &err);
            if (stored) assert_int_equal(status, CLO_OK);
            if (status) {
                assert_int_equal(status, CLO_LEDGER);
                assert_non_null(strstr(err.message, "has no release"));
                assert_int_equal(charge_one(ledger, "t", &receipt), CLO_LEDGER);
            } else {
                assert_int_equal(length, sizeof result);
                assert_memory_equal(bytes, result, sizeof result);
            }
            clo_i_free(bytes);
            clo_ledger_close(ledger);
        }
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(loses_no_acknowledged_charge_when_the_power_goes_off),
        IN_PLACE(would_notice_synchronous_normal),
        IN_PLACE(would_notice_synchronous_full),
        IN_PLACE(would_notice_a_receipt_before_the_commit),
        IN_PLACE(would_notice_a_receipt_before_the_anchor_is_synced),
        IN_PLACE(survives_a_second_cut_while_it_recovers),
        IN_PLACE(survives_a_cut_after_a_kill),
        IN_PLACE(stores_a_result_whole_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, put_layer, take_layer);
}
