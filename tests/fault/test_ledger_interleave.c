/*
 * test_ledger_interleave.c - what may be admitted, whatever happens in whatever order (ledger.T9,
 * ledger.T10).
 *
 * A few processes with open handles charge a ledger and copies of it, side by side; meanwhile files
 * are copied, in place or under another inode, with their journals or without, while others write
 * to them; old ones are put back; processes are killed.  The oracle knows one thing: all receipts
 * for a data set, in whichever file, are no more than its cap, no token has two, and no two are for
 * the same number.  In a third of the interleavings nobody charges a copy or touches the ledger:
 * it must then be usable at the end, to exactly what is left of its cap.
 *
 * Each planted fault must be seen by the same oracle.  With CLOISTER_LONG set in the environment
 * there are more interleavings (make test-long).
 */
#include "ledger_place.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

enum {
    INTERLEAVINGS = FORKS_ARE_SLOW ? 50 : 200,
    LONG_INTERLEAVINGS = 4000,
    STEPS = 60,
    WORKERS = 3,
    HANDLES = 2,
    FILES = 3,
    SAVED = 2,
    DATASETS = 2,
    CAP = 3, /* of each data set, in charges */
    TOKENS = 3,
    OTHERS = 24 /* data sets beside them, so that the tables have more pages than one */
};

/* ---- workers ----------------------------------------------------------------------- */

typedef enum verb { OPEN, CHARGE, VERIFY } verb;

typedef struct order {
    verb what;
    int handle, file, dataset, token; /* token: -1 none */
} order;

typedef struct answer {
    order to;
    clo_status status;
    bool same; /* the receipt is of this ledger, not of one that was begun at an empty file */
    uint64_t sequence;
} answer;

typedef struct worker {
    pid_t process; /* 0: none */
    int orders, answers;
    bool busy;
    int opened[HANDLES]; /* the file of each handle; -1: none */
} worker;

static struct {
    place *place;
    worker workers[WORKERS];
    uint8_t identity[LEDGER_IDENTITY];
    char anchor[PATH_MAX];
    uint64_t random;
    bool honest;  /* nobody charges a copy or writes over the ledger, which is file 0 */
    bool gentle;  /* files are replaced, not written over while others have them open */
    bool patient; /* answers are waited for, however long a slow machine takes */
    clo_i_planted fault;
    int granted[DATASETS], tokens[TOKENS];
    uint64_t sequences[2000];
    int sequence_count;
    bool broken;
} world;

static const char *file_path(int file)
{
    static char paths[FILES][400];
    snprintf(paths[file], sizeof paths[file], "%s/f%d.db", world.place->folder, file);
    return paths[file];
}

static answer carry_out(const order *o, clo_ledger *handles[HANDLES])
{
    static const char *const datasets[] = { "d", "e" }, *const tokens[] = { "t", "u", "v" };
    static const uint8_t plan[LEDGER_PLAN];
    answer a = { .to = *o };
    clo_ledger **const ledger = &handles[o->handle];
    if (o->what == OPEN) {
        clo_ledger_close(*ledger);
        *ledger = NULL;
        a.status = clo_ledger_create(file_path(o->file), CLO_LEDGER_OPEN, ledger, NULL);
        if (a.status) return a;
        (*ledger)->planted = world.fault;
        (*ledger)->patience_ms = 200;
    } else if (*ledger && o->what == VERIFY) {
        a.status = clo_ledger_verify(*ledger, NULL);
    } else if (*ledger) {
        const clo_i_charge charge = { .dataset = datasets[o->dataset],
                                      .mechanism = "kmeans/lloyd",
                                      .relation = "replace",
                                      .loss = { 1, 0 },
                                      .rho = UINT64_C(1) << 47,
                                      .token = o->token < 0 ? NULL : tokens[o->token],
                                      .plan = plan };
        clo_i_receipt receipt;
        a.status = clo_i_ledger_charge(*ledger, &charge, &receipt, NULL);
        if (a.status) return a;
        a.sequence = receipt.sequence;
        a.same = memcmp(receipt.identity, world.identity, LEDGER_IDENTITY) == 0;
    } else {
        a.status = CLO_ARGUMENT;
    }
    return a;
}

static void work(int orders, int answers)
{
    clo_ledger *handles[HANDLES] = { NULL };
    order o;
    while (read(orders, &o, sizeof o) == sizeof o) {
        const answer a = carry_out(&o, handles);
        if (write(answers, &a, sizeof a) != sizeof a) break;
    }
    _exit(0);
}

static void start_worker(worker *w)
{
    int down[2], up[2];
    assert_int_equal(pipe2(down, O_CLOEXEC), 0);
    assert_int_equal(pipe2(up, O_CLOEXEC), 0);
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        /* Of the others' pipes too: they end when the test does. */
        for (int i = 0; i < WORKERS; i++)
            if (world.workers[i].process) close(world.workers[i].orders);
        close(down[1]);
        work(down[0], up[1]);
    }
    close(down[0]);
    close(up[1]);
    *w = (worker){ .process = child, .orders = down[1], .answers = up[0] };
    for (int i = 0; i < HANDLES; i++) w->opened[i] = -1;
}

/* ---- the oracle ----------------------------------------------------------------------- */

static void judge(const answer *a)
{
    if (a->to.what != CHARGE || a->status || !a->same) return;
    for (int i = 0; i < world.sequence_count; i++)
        if (world.sequences[i] == a->sequence) world.broken = true;
    world.sequences[world.sequence_count++ % 2000] = a->sequence;
    if (++world.granted[a->to.dataset] > CAP) world.broken = true;
    if (a->to.token >= 0 && ++world.tokens[a->to.token] > 1) world.broken = true;
}

/* Takes the worker's answer if it comes in time; -1: whenever it comes. */
static void listen_to(worker *w, int milliseconds)
{
    struct pollfd wait = { .fd = w->answers, .events = POLLIN };
    answer a;
    if (!w->busy || poll(&wait, 1, milliseconds) != 1) return;
    if (read(w->answers, &a, sizeof a) != sizeof a) return;
    w->busy = false;
    judge(&a);
    if (a.to.what == OPEN) w->opened[a.to.handle] = a.status ? -1 : a.to.file;
}

/* What it had said before it died counts: somebody has read it. */
static void end_worker(worker *w)
{
    int status;
    if (!w->process) return;
    kill(w->process, SIGKILL);
    assert_int_equal(waitpid(w->process, &status, 0), w->process);
    listen_to(w, 0);
    close(w->orders);
    close(w->answers);
    w->process = 0;
}

/* ---- the steps -------------------------------------------------------------------------- */

static unsigned draw(unsigned below)
{
    world.random ^= world.random << 13;
    world.random ^= world.random >> 7;
    world.random ^= world.random << 17;
    return (unsigned)(world.random >> 33) % below;
}

static void copy_bytes(const char *from, const char *to, int how)
{
    char buffer[4096], draft[500];
    ssize_t count;
    const int in = open(from, O_RDONLY);
    if (in < 0) return;
    snprintf(draft, sizeof draft, "%s.draft", to);
    /* In place, as cp does, or without cutting it first; or under a new inode, as mv does. */
    const int out =
        open(how == 2 ? draft : to, O_WRONLY | O_CREAT | (how == 1 ? 0 : O_TRUNC), 0600);
    assert_true(out >= 0);
    while ((count = read(in, buffer, sizeof buffer)) > 0)
        if (write(out, buffer, (size_t)count) != count) break;
    close(in);
    close(out);
    if (how == 2) assert_int_equal(rename(draft, to), 0);
}

static void copy_ledger(const char *from, const char *to)
{
    char journals[2][500];
    snprintf(journals[0], sizeof journals[0], "%s-journal", from);
    snprintf(journals[1], sizeof journals[1], "%s-journal", to);
    const unsigned journal = draw(4);
    if (journal == 0) unlink(journals[1]);
    copy_bytes(from, to, world.gentle ? 2 : (int)draw(3));
    if (journal == 1) copy_bytes(journals[0], journals[1], 0);
}

static void step_copy(void)
{
    char saved[400];
    snprintf(saved, sizeof saved, "%s/saved%u.db", world.place->folder, draw(SAVED));
    const int from = (int)draw(FILES), to = (int)draw(FILES);
    switch (draw(3)) {
    case 0:
        copy_ledger(file_path(from), saved);
        break;
    case 1:
        if (!(world.honest && to == 0)) copy_ledger(saved, file_path(to));
        break;
    default:
        if (from != to && !(world.honest && to == 0)) copy_ledger(file_path(from), file_path(to));
    }
}

static void step_order(void)
{
    worker *const w = &world.workers[draw(WORKERS)];
    if (w->busy) return;
    order o = { .what = CHARGE,
                .handle = (int)draw(HANDLES),
                .file = (int)draw(FILES),
                .dataset = (int)draw(DATASETS),
                .token = draw(3) ? -1 : (int)draw(TOKENS) };
    if (w->opened[o.handle] < 0 || draw(5) == 0)
        o.what = OPEN;
    else if (draw(12) == 0 || (world.honest && w->opened[o.handle] != 0))
        o.what = VERIFY;
    w->busy = write(w->orders, &o, sizeof o) == sizeof o;
}

static void step_kill(void)
{
    worker *const w = &world.workers[draw(WORKERS)];
    const struct timespec nap = { .tv_nsec = (long)draw(1500) * 1000 };
    if (!w->busy && draw(4)) return; /* it dies while it does something, mostly */
    nanosleep(&nap, NULL);
    end_worker(w);
    start_worker(w);
}

static void step(void)
{
    const unsigned kind = draw(100);
    if (kind < 60)
        step_order();
    else if (kind < 72)
        step_copy();
    else if (kind < 78)
        step_kill();
    else
        for (int i = 0; i < WORKERS; i++)
            listen_to(&world.workers[i], world.patient ? -1 : (int)draw(4));
}

/* ---- an interleaving --------------------------------------------------------------------- */

/* The ledger that all of them begin with, and its anchor, are made once and copied. */
static int make_world(void **state)
{
    clo_i_head head;
    clo_error err;
    if (make_place(state)) return -1;
    world.place = *state;
    clo_ledger *ledger = open_at(file_path(0));
    for (int i = 0; i < OTHERS; i++) {
        char name[LEDGER_TEXT + 1] = "";
        memset(name, 'a' + i, LEDGER_TEXT);
        assert_ok(clo_ledger_declare(ledger, name, (clo_loss){ 1, 0 }, &err), err);
        if (i == 3) assert_ok(clo_ledger_declare(ledger, "d", (clo_loss){ CAP, 0 }, &err), err);
        if (i == 20) assert_ok(clo_ledger_declare(ledger, "e", (clo_loss){ CAP, 0 }, &err), err);
    }
    assert_ok(clo_i_ledger_get_head(ledger, &head, &err), err);
    memcpy(world.identity, head.identity, LEDGER_IDENTITY);
    memcpy(world.anchor, ledger->anchor.path, PATH_MAX);
    clo_ledger_close(ledger);
    in_shell(*state, "cp '%s/f0.db' '%s/first'; cp '%s'/config/cloister/anchors/* '%s/anchor'");
    return 0;
}

static void begin_again(uint64_t seed)
{
    char first[400], anchor[400];
    snprintf(first, sizeof first, "%s/first", world.place->folder);
    snprintf(anchor, sizeof anchor, "%s/anchor", world.place->folder);
    in_shell(world.place, "rm -f '%s'/*.db '%s'/*-journal");
    copy_bytes(first, file_path(0), 0);
    copy_bytes(first, file_path(1), 0);
    copy_bytes(anchor, world.anchor, 0);
    world.random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    world.honest = seed % 3 == 0;
    world.gentle = seed % 2 == 0;
    world.patient = seed / 2 % 2 == 0;
    world.broken = false;
    world.sequence_count = 0;
    memset(world.granted, 0, sizeof world.granted);
    memset(world.tokens, 0, sizeof world.tokens);
}

/* ledger.T9 (a): what is left of the caps is there, all of it and no more. */
static bool can_be_used(void)
{
    clo_ledger *ledger = NULL;
    clo_error err = { 0 };
    bool right = clo_ledger_create(file_path(0), CLO_LEDGER_OPEN, &ledger, &err) == CLO_OK &&
                 clo_ledger_verify(ledger, &err) == CLO_OK;
    for (int d = 0; right && d < DATASETS; d++) {
        clo_i_account account = { .charges = 0 };
        clo_ledger *handles[HANDLES] = { ledger };
        const order o = { .what = CHARGE, .dataset = d, .token = -1 };
        bool found;
        assert_ok(clo_i_ledger_find_account(ledger, d ? "e" : "d", &account, &found, &err), err);
        right = account.charges >= (uint64_t)world.granted[d];
        for (uint64_t n = account.charges; right && n <= CAP; n++)
            right = carry_out(&o, handles).status == (n < CAP ? CLO_OK : CLO_BUDGET);
    }
    if (!right) print_error("shut out: %s\n", err.message);
    clo_ledger_close(ledger);
    return right;
}

/* What a lock would keep others from meanwhile takes a while, so that they come. */
static ssize_t slow_pwrite(int file, const void *bytes, size_t count, off_t at)
{
    const struct timespec nap = { .tv_nsec = 3000000 };
    nanosleep(&nap, NULL);
    return pwrite(file, bytes, count, at);
}

/* True where the oracle is content. */
static bool interleave(uint64_t seed, clo_i_planted fault)
{
    world.fault = fault;
    clo_i_anchor_pwrite = fault == CLO_PLANTED_NO_LOCK ? slow_pwrite : pwrite;
    begin_again(seed);
    for (int i = 0; i < WORKERS; i++) start_worker(&world.workers[i]);
    for (int i = 0; i < STEPS; i++) step();
    for (int i = 0; i < WORKERS; i++) {
        listen_to(&world.workers[i], draw(2) ? 1000 : 0);
        end_worker(&world.workers[i]);
    }
    const bool right = !world.broken;
    return right && (fault || !world.honest || can_be_used());
}

static uint64_t all_granted(void)
{
    uint64_t sum = 0;
    for (int d = 0; d < DATASETS; d++) sum += (uint64_t)world.granted[d];
    return sum;
}

/* ledger.T9, ledger.T10 */
static void admits_one_cap_whatever_happens_in_whatever_order(void **state)
{
    const uint64_t count = getenv("CLOISTER_LONG") ? LONG_INTERLEAVINGS : INTERLEAVINGS;
    const char *const given = getenv("CLOISTER_SEED");
    const uint64_t first = given ? strtoull(given, NULL, 10) : 1;
    uint64_t granted = 0, full = 0;
    for (uint64_t seed = first; seed < first + count; seed++) {
        if (!interleave(seed, CLO_PLANTED_NONE))
            fail_msg("interleaving %d: %d and %d receipts under caps of %d", (int)seed,
                     world.granted[0], world.granted[1], CAP);
        granted += all_granted();
        for (int d = 0; d < DATASETS; d++) full += world.granted[d] == CAP;
    }
    print_message("# %d interleavings: %d receipts, %d caps of %d reached, none passed\n",
                  (int)count, (int)granted, (int)full, (int)(DATASETS * count));
    assert_true(granted > count); /* it is no use if everything is refused */
    assert_true(full > 0);
}

static void is_noticed(clo_i_planted fault, const char *name)
{
    uint64_t seed = 1;
    while (seed <= 1000 && interleave(seed, fault)) seed++;
    print_message("# %s: noticed in interleaving %d\n", name, (int)seed);
    assert_true(seed <= 1000);
}

static void would_notice_an_anchor_that_is_read_at_the_opening_alone(void **state)
{
    is_noticed(CLO_PLANTED_OLD_ANCHOR, "read at the opening alone");
}

static void would_notice_an_anchor_without_its_lock(void **state)
{
    is_noticed(CLO_PLANTED_NO_LOCK, "without its lock");
}

static void would_notice_a_receipt_before_the_anchor_knows(void **state)
{
    is_noticed(CLO_PLANTED_UNMOVED_ANCHOR, "a receipt before the anchor knows");
}

#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, make_world, remove_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_WORLD(admits_one_cap_whatever_happens_in_whatever_order),
        IN_WORLD(would_notice_an_anchor_that_is_read_at_the_opening_alone),
        IN_WORLD(would_notice_an_anchor_without_its_lock),
        IN_WORLD(would_notice_a_receipt_before_the_anchor_knows),
    };
    /* Nothing here is about a disk's cache, and there are many charges. */
    if (access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 0);
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
