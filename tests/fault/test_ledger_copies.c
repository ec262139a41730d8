/*
 * test_ledger_copies.c - a ledger and all copies of it give one cap together (ledger.T9) and one
 * draw a token (ledger.T10).
 *
 * Copies beside it and in its place, old files put back under open handles, copies that were torn
 * because somebody wrote meanwhile, processes that die at every point of a charge, anchors on disks
 * that are full, read-only or gone.  In each of them two things are asked: is more admitted than
 * the cap allows, and can the ledger that nobody touched still be used?  The last tests plant the
 * faults that the proof excludes, and must see them.
 */
#include "ledger_place.h"
#include "vfs_layer.h"
#include <cloister/steward.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>

static const uint8_t plan[LEDGER_PLAN] = { 1 };

/* A ledger of that name with room for one charge, which is 0.5. */
static clo_ledger *begin_with_room(const place *p, const char *name, char path[400])
{
    clo_error err;
    snprintf(path, 400, "%s/%s", p->folder, name);
    clo_ledger *ledger = open_at(path);
    assert_ok(clo_ledger_declare(ledger, "d", (clo_loss){ 1, 0 }, &err), err);
    charge_times(ledger, 1);
    return ledger;
}

static void copy_file(const char *from, const char *to)
{
    char command[900];
    snprintf(command, sizeof command, "cp '%s' '%s'", from, to);
    assert_int_equal(system(command), 0);
}

static clo_status charge_quietly(clo_ledger *ledger)
{
    clo_i_receipt receipt;
    return try_charge(ledger, NULL, NULL, &receipt, NULL);
}

/* ---- open handles ---------------------------------------------------------------- */

/* ledger.T9: both were opened while there was room. */
static void admits_one_of_two_copies_that_are_open(void **state)
{
    const place *p = *state;
    for (int order = 0; order < 2; order++) {
        char path[400], copy[420];
        clo_i_receipt receipt;
        clo_error err;
        clo_ledger *first = begin_with_room(p, order ? "a.db" : "b.db", path);
        snprintf(copy, sizeof copy, "%s.copy", path);
        copy_file(path, copy);
        clo_ledger *second = open_at(copy);
        clo_ledger *const winner = order ? first : second, *const loser = order ? second : first;
        charge_times(winner, 1);
        assert_fails(try_charge(loser, NULL, NULL, &receipt, &err), CLO_LEDGER, err, "older copy");
        assert_fails(clo_ledger_declare(loser, "e", (clo_loss){ 1, 0 }, &err), CLO_LEDGER, err,
                     "older copy");
        assert_fails(clo_ledger_verify(loser, &err), CLO_LEDGER, err, "older copy");
        assert_fails(try_charge(winner, NULL, NULL, &receipt, &err), CLO_BUDGET, err, NULL);
        is_sound(winner);
        clo_ledger_close(first);
        clo_ledger_close(second);
    }
}

/* ledger.T9: with the same file, and with another one under its name. */
static void refuses_a_file_put_back_under_an_open_handle(void **state)
{
    const place *p = *state;
    for (int renamed = 0; renamed < 2; renamed++) {
        char path[400], old[420];
        clo_i_receipt receipt;
        clo_error err;
        clo_ledger *ledger = begin_with_room(p, renamed ? "r.db" : "i.db", path);
        snprintf(old, sizeof old, "%s.old", path);
        copy_file(path, old);
        clo_ledger *other = open_at(path);
        charge_times(other, 1);
        clo_ledger_close(other);
        if (renamed)
            assert_int_equal(rename(old, path), 0);
        else
            copy_file(old, path);
        assert_fails(try_charge(ledger, NULL, NULL, &receipt, &err),
                     renamed ? CLO_BUDGET : CLO_LEDGER, err, renamed ? NULL : "older copy");
        clo_ledger_close(ledger);
        refuses(path, "older copy");
    }
}

/* ledger.T10 */
static void charges_a_token_once_over_all_copies(void **state)
{
    const place *p = *state;
    char path[400], copy[420];
    clo_i_receipt receipt;
    clo_error err;
    char *bytes = NULL;
    size_t length = 0;
    clo_ledger *first = begin_with_room(p, "t.db", path);
    snprintf(copy, sizeof copy, "%s.copy", path);
    copy_file(path, copy);
    clo_ledger *second = open_at(copy);
    receipt = charge_with(first, "t", plan);
    assert_ok(clo_i_ledger_fetch(second, "d", plan, "t", NULL, &bytes, &length, &err), err);
    assert_null(bytes); /* the copy does not know it ... */
    assert_fails(try_charge(second, "t", plan, &receipt, &err), CLO_LEDGER, err, "older copy");
    clo_ledger_close(second);
    copy_file(path, copy); /* ... and a newer one knows that it is used up */
    second = open_at(copy);
    assert_fails(try_charge(second, "t", plan, &receipt, &err), CLO_LEDGER, err, "has no release");
    clo_ledger_close(first);
    clo_ledger_close(second);
}

/* ledger.T10: by its number alone, the result would be another charge's. */
static void stores_a_result_with_its_own_charge_only(void **state)
{
    const place *p = *state;
    char path[400], copy[420];
    clo_error err;
    clo_ledger *first = begin_with_room(p, "s.db", path);
    snprintf(copy, sizeof copy, "%s.copy", path);
    copy_file(path, copy);
    const clo_i_receipt receipt = charge_with(first, "t", plan);
    /* What came after is lost, says the steward. */
    clo_restoration restoration = clo_restoration_default();
    restoration.ledger = copy;
    restoration.note = "the disk is gone";
    assert_ok(clo_ledger_restore(&restoration, NULL, NULL, &err), err);
    clo_ledger *second = open_at(copy);
    assert_fails(clo_i_ledger_store(second, &receipt, "bytes", 5, &err), CLO_ARGUMENT, err,
                 "in the ledger that was charged for it");
    /* Storing is an entry too (ledger.T14): the file that the user has given up takes none. */
    assert_fails(clo_i_ledger_store(first, &receipt, "bytes", 5, &err), CLO_LEDGER, err,
                 "is an older copy");
    clo_ledger_close(first);
    clo_ledger_close(second);
}

/* ledger.T9: nothing is believed of an anchor that is not the one by that name. */
static void refuses_to_charge_without_its_anchor(void **state)
{
    const place *p = *state;
    char path[400], other[400];
    clo_i_receipt receipt;
    clo_error err;
    clo_ledger *ledger = begin_with_room(p, "n.db", path);
    in_shell(p, "mv '%s/config/cloister/anchors' '%s/kept'; mkdir '%s/config/cloister/anchors'");
    assert_fails(try_charge(ledger, NULL, NULL, &receipt, &err), CLO_LEDGER, err,
                 "was removed while the ledger was open, so nothing was recorded: open it again");
    in_shell(p, "rmdir '%s/config/cloister/anchors'; mv '%s/kept' '%s/config/cloister/anchors'");
    clo_ledger *second = begin_with_room(p, "o.db", other);
    charge_times(second, 1); /* SQLite tells changed files by how often they were written */
    clo_ledger_close(second);
    in_shell(p, "cat '%s/o.db' > '%s/n.db'"); /* another ledger altogether, under the open handle */
    assert_fails(try_charge(ledger, NULL, NULL, &receipt, &err), CLO_LEDGER, err,
                 "somebody replaced");
    clo_ledger_close(ledger);
}

/* That it reads everything again must not mean that it verifies everything again. */
static void verifies_only_what_it_does_not_know(void **state)
{
    const place *p = *state;
    char path[400];
    clo_ledger *first = begin_with_room(p, "v.db", path);
    clo_error err;
    assert_int_equal(first->verified, 1); /* the anchor was new */
    assert_ok(clo_ledger_claim(first, "d", "/somewhere", &err), err);
    clo_ledger *second = open_at(path);
    for (int i = 0; i < 5; i++) {
        assert_ok(clo_ledger_declare(i % 2 ? first : second,
                                     (const char *[]){ "1", "2", "3", "4", "5" }[i],
                                     (clo_loss){ 1, 1e-6 }, &err),
                  err);
        assert_int_equal(charge_quietly(i % 2 ? second : first), i ? CLO_BUDGET : CLO_OK);
    }
    assert_int_equal(first->verified + second->verified, 1);
    const clo_i_charge gaussian = { .dataset = "1",
                                    .mechanism = "kmeans/lloyd",
                                    .relation = "replace",
                                    .loss = { 0.25, 1e-7 },
                                    .rho = UINT64_C(1) << 38 };
    clo_i_receipt receipt;
    for (int i = 0; i < 3; i++)
        assert_ok(clo_i_ledger_charge(i % 2 ? first : second, &gaussian, &receipt, &err), err);
    assert_int_equal(first->verified + second->verified, 1);
    clo_ledger_close(first);
    clo_ledger_close(second);
}

/* ---- dying ------------------------------------------------------------------------- */

static uint64_t operations, dying; /* at the n-th; 0: never */
static bool before_it;             /* or after it */

static void die(void)
{
    kill(getpid(), SIGKILL);
}

static bool count_before(void)
{
    if (++operations == dying && before_it) die();
    return false;
}

static void count_after(void)
{
    if (operations == dying && !before_it) die();
}

static ssize_t dying_pwrite(int file, const void *bytes, size_t count, off_t at)
{
    count_before();
    const ssize_t done = pwrite(file, bytes, count, at);
    count_after();
    return done;
}

static int dying_fdatasync(int file)
{
    count_before();
    const int code = fdatasync(file);
    count_after();
    return code;
}

static int begin_dying(void **state)
{
    layer_before = count_before;
    layer_after = count_after;
    clo_i_anchor_pwrite = dying_pwrite;
    clo_i_anchor_fdatasync = dying_fdatasync;
    return make_place(state);
}

static int end_dying(void **state)
{
    layer_before = NULL;
    layer_after = NULL;
    clo_i_anchor_pwrite = pwrite;
    clo_i_anchor_fdatasync = fdatasync;
    return remove_place(state);
}

typedef struct death {
    uint64_t at;
    bool before, open;   /* open: the others have opened their files before */
    bool copy_first;     /* who charges first afterwards */
    clo_i_planted fault; /* of all of them */
} death;

/* In a child, which dies: charges, and says so only once it has the receipt. */
static void charge_and_die(const char *path, const death *d, int told)
{
    clo_ledger *ledger = open_at(path);
    ledger->planted = d->fault;
    operations = 0;
    before_it = d->before;
    dying = d->at;
    if (charge_quietly(ledger) == CLO_OK && write(told, "c", 1) != 1) _exit(3);
    const uint64_t reached = operations;
    clo_ledger_close(ledger);
    _exit(reached < d->at ? 1 : 0);
}

/* How many charges were acknowledged; *over: the point lies beyond the end. */
static int charges_of_the_dead(const char *path, const death *d, bool *over)
{
    int ends[2], status = 0;
    char byte;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) charge_and_die(path, d, ends[1]);
    close(ends[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    const int acknowledged = read(ends[0], &byte, 1) == 1;
    close(ends[0]);
    *over = WIFEXITED(status) && WEXITSTATUS(status) == 1;
    assert_true(*over || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
    return acknowledged;
}

static clo_ledger *try_open(const char *path, const death *d)
{
    clo_ledger *ledger = NULL;
    if (clo_ledger_create(path, CLO_LEDGER_OPEN, &ledger, NULL) == CLO_OK)
        ledger->planted = d->fault;
    return ledger;
}

/* One process dies in its charge; then the ledger and the copy from before are charged.  How much
 * was admitted in all, which must be 1; -1 where the ledger itself was shut out. */
static int admitted_around(const place *p, const death *d, bool *over)
{
    static int count;
    char name[40], path[400], copy[420];
    clo_ledger *ledgers[2] = { NULL, NULL };
    clo_status status[2] = { CLO_LEDGER, CLO_LEDGER };
    snprintf(name, sizeof name, "k%d.db", count++);
    clo_ledger_close(begin_with_room(p, name, path));
    snprintf(copy, sizeof copy, "%s.copy", path);
    copy_file(path, copy);
    for (int i = 0; i < 2 && d->open; i++) ledgers[i] = try_open(i ? copy : path, d);
    int admitted = charges_of_the_dead(path, d, over);
    for (int n = 0; n < 2; n++) {
        const int i = n ^ d->copy_first;
        if (!d->open) ledgers[i] = try_open(i ? copy : path, d);
        if (ledgers[i]) status[i] = charge_quietly(ledgers[i]);
        admitted += status[i] == CLO_OK;
    }
    for (int i = 0; i < 2; i++) clo_ledger_close(ledgers[i]);
    const bool shut_out = !d->copy_first && status[0] != CLO_OK && status[0] != CLO_BUDGET;
    return shut_out ? -1 : admitted;
}

/* Every point of a charge, before it and after it, and whoever comes next.  True where all went
 * well.  (Before a point is after the one before it: half of them will do where forks are slow.) */
static bool survives_every_death(const place *p, clo_i_planted fault, uint64_t *points)
{
    for (int way = 0; way < 8; way++) {
        if (FORKS_ARE_SLOW && way & 1) continue;
        death d = { .before = way & 1, .open = way & 2, .copy_first = way & 4, .fault = fault };
        bool over = false;
        for (d.at = 1; !over; d.at++) {
            const int admitted = admitted_around(p, &d, &over);
            /* 0: it is in the ledger, and the one whose charge it was has died. */
            if (admitted != 0 && admitted != 1) return false;
            if (over && admitted != 1) return false;
            assert_in_range(d.at, 1, 100);
        }
        *points = d.at - 2;
    }
    return true;
}

/* ledger.T9 */
static void keeps_one_cap_whoever_dies_and_wherever(void **state)
{
    uint64_t points = 0;
    assert_true(survives_every_death(*state, CLO_PLANTED_NONE, &points));
    print_message("# a charge has %d points to die at\n", (int)points);
    assert_in_range(points, 10, 60);
}

/* ---- torn copies ---------------------------------------------------------------------- */

enum { PAGE = 4096, MOST_PAGES = 64 };

typedef struct image {
    uint8_t bytes[MOST_PAGES * PAGE];
    size_t size;
} image;

static void read_image(const char *path, image *out)
{
    FILE *const f = fopen(path, "rb");
    assert_non_null(f);
    memset(out, 0, sizeof *out);
    out->size = fread(out->bytes, 1, sizeof out->bytes, f);
    assert_true(out->size > 0 && out->size < sizeof out->bytes && out->size % PAGE == 0);
    fclose(f);
}

/* The same file keeps its handles; that is what cp does, too. */
static void write_image(const char *path, const image *from)
{
    FILE *const f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fwrite(from->bytes, 1, from->size, f), from->size);
    fclose(f);
}

/* The pages of the set are as they were before the last charge, the others as they are now. */
static void mix(const image *before, const image *now, unsigned set, image *out)
{
    int differing = 0;
    *out = *now;
    for (size_t at = 0; at < now->size; at += PAGE)
        if (memcmp(before->bytes + at, now->bytes + at, PAGE) != 0 && (set >> differing++ & 1))
            memcpy(out->bytes + at, before->bytes + at, PAGE);
}

static int differing_pages(const image *before, const image *now)
{
    int differing = 0;
    for (size_t at = 0; at < now->size; at += PAGE)
        differing += memcmp(before->bytes + at, now->bytes + at, PAGE) != 0;
    return differing;
}

/* The cap is reached.  How many mixtures of the pages from before the last charge and after it
 * admit one more, to a handle that is opened then or to one that was open all the time. */
static int admitted_by_torn_copies(const place *p, clo_i_planted fault, int *mixtures)
{
    static image before, now, torn;
    char path[400];
    int admitted = 0;
    clo_ledger *ledger = begin_with_room(p, "torn.db", path);
    ledger->planted = fault;
    read_image(path, &before);
    charge_times(ledger, 1);
    read_image(path, &now);
    assert_int_equal(before.size, now.size);
    const int differing = differing_pages(&before, &now);
    assert_in_range(differing, 4, 10);
    *mixtures = 1 << differing;
    for (unsigned set = 0; set < 1u << differing; set++) {
        clo_ledger *fresh = NULL;
        mix(&before, &now, set, &torn);
        write_image(path, &torn);
        admitted += charge_quietly(ledger) == CLO_OK;
        write_image(path,
                    &torn); /* a handle that was refused may have put pages of its own there */
        if (clo_ledger_create(path, CLO_LEDGER_OPEN, &fresh, NULL) == CLO_OK) {
            fresh->planted = fault;
            admitted += charge_quietly(fresh) == CLO_OK;
        }
        clo_ledger_close(fresh);
        if (admitted && fault) break; /* that will do */
    }
    clo_ledger_close(ledger);
    return admitted;
}

/* ledger.T9: a copy that was made while somebody wrote ends as it should and has old totals. */
static void believes_no_torn_copy(void **state)
{
    int mixtures = 0;
    assert_int_equal(admitted_by_torn_copies(*state, CLO_PLANTED_NONE, &mixtures), 0);
    print_message("# %d mixtures of old and new pages\n", mixtures);
}

/* ---- disks that are full, read-only or gone --------------------------------------------- */

static int fill_up(const char *folder)
{
    char path[400], block[512] = "";
    snprintf(path, sizeof path, "%s/filling", folder);
    const int file = open(path, O_WRONLY | O_CREAT, 0600);
    while (write(file, block, sizeof block) > 0) continue;
    const int number = errno;
    close(file);
    return number;
}

/* The first of the checks that does not hold; 0: all do. */
static int misbehaves_on_a_small_disk(const place *p)
{
    char path[400], copy[420], other[400];
    clo_ledger *ledger = begin_with_room(p, "full.db", path), *second = NULL;
    clo_error err = { 0 };
    clo_i_receipt receipt;
    snprintf(copy, sizeof copy, "%s.copy", path);
    snprintf(other, sizeof other, "%s/other.db", p->folder);
    copy_file(path, copy);
    if (mount(NULL, p->config, NULL, MS_REMOUNT | MS_RDONLY, NULL) != 0) return 1;
    if (try_charge(ledger, NULL, NULL, &receipt, &err) != CLO_LEDGER) return 2;
    if (!strstr(err.message, "nothing was recorded") || charges_of(ledger) != 1) return 3;
    if (clo_ledger_verify(ledger, &err)) return 4; /* reading needs no more than reading */
    if (mount(NULL, p->config, NULL, MS_REMOUNT, "size=64k") != 0) return 5;
    if (fill_up(p->config) != ENOSPC) return 6;
    /* In place there is room; for a new anchor there is none. */
    if (try_charge(ledger, NULL, NULL, &receipt, &err)) return 7;
    if (clo_ledger_create(copy, CLO_LEDGER_OPEN, &second, &err) != CLO_LEDGER) return 8;
    if (!strstr(err.message, "older copy")) return 9;
    if (clo_ledger_create(other, CLO_LEDGER_OPEN, &second, &err) != CLO_LEDGER) return 10;
    if (!strstr(err.message, "free space")) return 11;
    clo_ledger_close(ledger);
    return 0;
}

/* ledger.T9.  On a file system of a few pages; where nobody may mount one, the io suite has the
 * same with calls that fail. */
static void charges_on_a_full_disk_and_not_on_a_read_only_one(void **state)
{
    const place *p = *state;
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        if (unshare(CLONE_NEWNS) != 0 || mkdir(p->config, 0700) != 0 ||
            mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
            mount("none", p->config, "tmpfs", 0, "size=64k") != 0)
            _exit(77);
        _exit(misbehaves_on_a_small_disk(p));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int failing_after; /* so many calls go well */

static ssize_t failing_pwrite(int file, const void *bytes, size_t count, off_t at)
{
    errno = ENOSPC;
    return failing_after-- > 0 ? pwrite(file, bytes, count, at) : -1;
}

static int failing_fdatasync(int file)
{
    errno = EIO;
    return failing_after-- > 0 ? fdatasync(file) : -1;
}

/* ledger.T9: wherever the anchor's disk fails for good, two copies do not admit two charges, and
 * the ledger goes on when there is room again. */
static void admits_nothing_that_the_anchor_cannot_learn(void **state)
{
    const place *p = *state;
    bool granted = false;
    for (int n = 0; !granted; n++) {
        char name[40], path[400], copy[420];
        clo_error err = { 0 };
        clo_i_receipt receipt;
        snprintf(name, sizeof name, "f%d.db", n);
        clo_ledger *ledger = begin_with_room(p, name, path);
        snprintf(copy, sizeof copy, "%s.copy", path);
        copy_file(path, copy);
        clo_ledger *second = open_at(copy);
        clo_i_anchor_pwrite = failing_pwrite;
        clo_i_anchor_fdatasync = failing_fdatasync;
        failing_after = n;
        granted = try_charge(ledger, NULL, NULL, &receipt, &err) == CLO_OK;
        assert_int_equal(charge_quietly(second), CLO_LEDGER);
        clo_i_anchor_pwrite = pwrite;
        clo_i_anchor_fdatasync = fdatasync;
        if (!granted) {
            const bool recorded = strstr(err.message, "charge was recorded") != NULL;
            assert_true(recorded || strstr(err.message, "nothing was recorded"));
            assert_int_equal(charges_of(ledger), 1 + recorded);
            assert_int_equal(charge_quietly(ledger), recorded ? CLO_BUDGET : CLO_OK);
        }
        assert_in_range(n, 0, 10);
        clo_ledger_close(ledger);
        clo_ledger_close(second);
    }
}

/* ---- planted faults ---------------------------------------------------------------------- */

static void would_notice_an_anchor_that_is_read_at_the_opening_alone(void **state)
{
    uint64_t points;
    assert_false(survives_every_death(*state, CLO_PLANTED_OLD_ANCHOR, &points));
}

static void would_notice_a_receipt_before_the_anchor_knows(void **state)
{
    uint64_t points;
    assert_false(survives_every_death(*state, CLO_PLANTED_UNMOVED_ANCHOR, &points));
}

static void would_notice_that_torn_totals_are_believed(void **state)
{
    int mixtures;
    assert_true(admitted_by_torn_copies(*state, CLO_PLANTED_UNCHECKED_TOTALS, &mixtures) > 0);
}

#define DYING(test) cmocka_unit_test_setup_teardown(test, begin_dying, end_dying)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(admits_one_of_two_copies_that_are_open),
        IN_PLACE(refuses_a_file_put_back_under_an_open_handle),
        IN_PLACE(charges_a_token_once_over_all_copies),
        IN_PLACE(stores_a_result_with_its_own_charge_only),
        IN_PLACE(refuses_to_charge_without_its_anchor),
        IN_PLACE(verifies_only_what_it_does_not_know),
        DYING(keeps_one_cap_whoever_dies_and_wherever),
        IN_PLACE(believes_no_torn_copy),
        IN_PLACE(charges_on_a_full_disk_and_not_on_a_read_only_one),
        IN_PLACE(admits_nothing_that_the_anchor_cannot_learn),
        DYING(would_notice_an_anchor_that_is_read_at_the_opening_alone),
        DYING(would_notice_a_receipt_before_the_anchor_knows),
        IN_PLACE(would_notice_that_torn_totals_are_believed),
    };
    /* Nothing here is about a disk's cache, and there are many charges. */
    if (access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 0);
    return cmocka_run_group_tests(tests, put_layer, take_layer);
}
