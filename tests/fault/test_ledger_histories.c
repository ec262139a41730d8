/*
 * test_ledger_histories.c - random histories of charges, copies, losses, restorations, moves and
 * new keys, against an oracle that counts what was really admitted (ledger.T15 to ledger.T18).
 *
 * Two data sets share persons: each has a cap of its own, and both are in a group with less than
 * the sum of their caps.  After every step no data set and no group has more admitted than its cap
 * says. Where the anchor was never lost, nothing is over-charged either: the books say exactly
 * what was admitted.  The planted fault, a restoration that charges nothing, must be noticed.
 *
 * CLOISTER_HISTORIES says how many; the seeds are fixed.
 */
#include "ledger_place.h"
#include <cloister/steward.h>

enum { COPIES = 4, STEPS = 40, SETS = 3 };
static const char *const NAMES[SETS] = { "a", "b", "group" };
static const int CAPS[SETS] = { 6, 6, 9 }; /* in charges of a quarter, or of a small rho */

typedef struct history {
    const place *p;
    uint64_t state;
    char ledger[400], config[400];
    int machine, places, keys;
    int key_at_copy[COPIES];   /* a copy from before a new key tells the anchor nothing */
    int admitted[SETS];        /* what was released, whatever the books say */
    int at_copy[COPIES][SETS]; /* and when that copy was made; -1: there is none */
    bool gaussian, anchor_lost;
    int cap[SETS];
    int narrowed[SETS], narrowed_at_copy[COPIES][SETS]; /* how often its cap was lowered */
    bool unknown[SETS]; /* a restoration could not know what was spent, and charged more */
} history;

static uint64_t draw(history *h, uint64_t below)
{
    h->state = h->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (h->state >> 33) % below;
}

static void shell(const char *format, const char *a, const char *b)
{
    char command[1200];
    snprintf(command, sizeof command, format, a, b);
    assert_int_equal(system(command), 0);
}

static void copy_path(const history *h, int i, char path[500])
{
    snprintf(path, 500, "%s/copy%d.db", h->p->folder, i);
}

static clo_ledger *try_open(const history *h)
{
    clo_ledger *ledger = NULL;
    return clo_ledger_open(h->ledger, &ledger, NULL) == CLO_OK ? ledger : NULL;
}

static void begin(history *h)
{
    clo_ledger *ledger = NULL;
    clo_error err;
    assert_ok(clo_ledger_create(h->ledger, CLO_LEDGER_CLOSED, &ledger, &err), err);
    for (int i = 0; i < SETS; i++) {
        /* A rho of 2^-8 a charge: the cap must be what so many of them come to, and no more. */
        const clo_loss cap =
            h->gaussian ? (clo_loss){ 1 + 0.25 * CAPS[i], 1e-6 } : (clo_loss){ 0.25 * CAPS[i], 0 };
        assert_ok(clo_ledger_declare(ledger, NAMES[i], cap, &err), err);
        h->cap[i] = CAPS[i];
    }
    assert_ok(clo_ledger_join(ledger, "a", "group", "the same persons", &err), err);
    assert_ok(clo_ledger_join(ledger, "b", "group", "the same persons", &err), err);
    clo_ledger_close(ledger);
    for (int i = 0; i < COPIES; i++) h->at_copy[i][0] = -1;
}

static uint64_t rho_of(const history *h)
{
    return h->gaussian ? UINT64_C(1) << 41 : UINT64_C(1) << 45;
}

/* How many charges of this history's kind the declared cap can hold, by the filter of a fresh
 * account: for pure ones the cap itself. */
static int most_of(const history *h, int set)
{
    if (!h->gaussian) return h->cap[set];
    uint64_t capacity = 0;
    clo_i_account account = { .base_epsilon = 0 };
    clo_i_account_cap(&account, (clo_loss){ 1 + 0.25 * CAPS[set], 1e-6 });
    assert_int_equal(clo_i_account_capacity(&account, &capacity, NULL), CLO_OK);
    const int most = (int)(capacity / rho_of(h));
    return most < h->cap[set] || h->cap[set] == CAPS[set] ? most : h->cap[set];
}

static void charge(history *h)
{
    const int set = (int)draw(h, 2);
    const clo_i_charge asked = { .dataset = NAMES[set],
                                 .mechanism = "kmeans/lloyd",
                                 .relation = "replace",
                                 .loss = { 0.25, h->gaussian ? 1e-8 : 0 },
                                 .price = { 0.25, h->gaussian ? 1e-9 : 0 },
                                 .rho = rho_of(h) };
    clo_i_receipt receipt;
    clo_ledger *ledger = try_open(h);
    if (!ledger) return;
    if (clo_i_ledger_charge(ledger, &asked, &receipt, NULL) == CLO_OK) {
        h->admitted[set]++;
        h->admitted[2]++;
    }
    clo_ledger_close(ledger);
}

static void backup(history *h)
{
    const int i = (int)draw(h, COPIES);
    char path[500];
    clo_ledger *ledger = try_open(h);
    copy_path(h, i, path);
    if (!ledger) return;
    unlink(path);
    clo_error err;
    if (draw(h, 2))
        assert_ok(clo_ledger_backup(ledger, path, &err), err);
    else
        shell("cp '%s' '%s'", h->ledger, path);
    clo_ledger_close(ledger);
    memcpy(h->at_copy[i], h->admitted, sizeof h->admitted);
    memcpy(h->narrowed_at_copy[i], h->narrowed, sizeof h->narrowed);
    h->key_at_copy[i] = h->keys;
}

static void lose(history *h)
{
    unlink(h->ledger);
}

static void put_back(history *h) /* as somebody who does not know better */
{
    char path[500];
    const int i = (int)draw(h, COPIES);
    copy_path(h, i, path);
    if (h->at_copy[i][0] >= 0) shell("cp '%s' '%s'", path, h->ledger);
}

static void lose_anchor(history *h)
{
    shell("rm -f '%s'/cloister/anchors/*%s", h->config, "");
    h->anchor_lost = true;
}

static clo_loss_source sources[SETS];

static bool hear(void *user, const clo_restored *restored)
{
    (void)user;
    for (int i = 0; i < SETS; i++)
        if (strcmp(restored->dataset, NAMES[i]) == 0) sources[i] = restored->source;
    return true;
}

static void restore(history *h)
{
    const int i = (int)draw(h, COPIES);
    char path[500], lost[200];
    clo_restoration how = clo_restoration_default();
    copy_path(h, i, path);
    if (h->at_copy[i][0] < 0) return;
    unlink(h->ledger);
    how.backup = path;
    how.ledger = h->ledger;
    how.note = "the disk is gone";
    /* An honest steward, who knows it from elsewhere; of Gaussian charges only their sum. */
    snprintf(lost, sizeof lost, "a=%g:%g,b=%g:%g", 0.25 * (h->admitted[0] - h->at_copy[i][0]),
             h->gaussian ? 1e-8 * (h->admitted[0] - h->at_copy[i][0]) : 0.0,
             0.25 * (h->admitted[1] - h->at_copy[i][1]),
             h->gaussian ? 1e-8 * (h->admitted[1] - h->at_copy[i][1]) : 0.0);
    if (draw(h, 2)) how.lost = lost;
    how.rehearsal = draw(h, 5) == 0;
    const bool rehearsal = how.rehearsal;
    const clo_status status = clo_ledger_restore(&how, hear, NULL, NULL);
    if (status != CLO_OK || rehearsal) return;
    for (int k = 0; k < SETS; k++) {
        /* An act that the copy lacks is lost, and the slot says that there was one. */
        if (!h->anchor_lost && h->key_at_copy[i] == h->keys &&
            h->narrowed_at_copy[i][k] < h->narrowed[k])
            assert_true(sources[k] == CLO_LOST_ALL || sources[k] == CLO_LOST_STATED);
        if (h->anchor_lost || h->key_at_copy[i] != h->keys ||
            h->narrowed_at_copy[i][k] != h->narrowed[k])
            h->unknown[k] = true;
        h->narrowed[k] = h->narrowed_at_copy[i][k];
    }
    h->keys = h->key_at_copy[i];
}

static void move(history *h)
{
    char to[400], folder[500];
    clo_error err;
    clo_ledger *ledger = try_open(h);
    if (!ledger) return;
    clo_ledger_close(ledger);
    snprintf(to, sizeof to, "%s/place%d.db", h->p->folder, ++h->places);
    if (draw(h, 2)) {
        assert_ok(clo_ledger_move(h->ledger, to, &err), err);
        snprintf(h->ledger, sizeof h->ledger, "%s", to);
        return;
    }
    snprintf(folder, sizeof folder, "%s/parcel%d", h->p->folder, h->places);
    char here[sizeof h->config], code[CLO_MOVE_CODE + 1];
    memcpy(here, h->config, sizeof here);
    snprintf(h->config, sizeof h->config, "%s/machine%d", h->p->folder, ++h->machine);
    setenv("XDG_CONFIG_HOME", h->config, 1);
    assert_ok(clo_ledger_move_code(code, &err), err);
    setenv("XDG_CONFIG_HOME", here, 1);
    assert_ok(clo_ledger_send(h->ledger, folder, code, &err), err);
    charge(h); /* here it is not charged any more */
    setenv("XDG_CONFIG_HOME", h->config, 1);
    assert_ok(clo_ledger_receive(folder, to, &err), err);
    snprintf(h->ledger, sizeof h->ledger, "%s", to);
    h->anchor_lost = false;
    ledger = try_open(h);
    assert_non_null(ledger);
    clo_ledger_close(ledger);
}

static void rekey(history *h)
{
    clo_ledger *ledger = try_open(h);
    if (!ledger) return;
    clo_ledger_close(ledger);
    assert_int_equal(clo_ledger_rekey(h->ledger, "a year has gone by", NULL), CLO_OK);
    h->keys = ++h->places;
}

static void lower(history *h)
{
    clo_ledger *ledger = try_open(h);
    clo_error err;
    const int set = (int)draw(h, SETS);
    if (!ledger || h->gaussian || h->cap[set] <= 2) {
        clo_ledger_close(ledger);
        return;
    }
    h->cap[set]--;
    h->narrowed[set]++;
    assert_ok(
        clo_ledger_lower(ledger, NAMES[set], (clo_loss){ 0.25 * h->cap[set], 0 }, "less", &err),
        err);
    if (h->admitted[set] > h->cap[set]) h->cap[set] = CAPS[set]; /* spent before: no promise */
    clo_ledger_close(ledger);
}

/* ---- the oracle ------------------------------------------------------------------- */

static int booked[SETS];

static bool take(void *user, const clo_account *account)
{
    (void)user;
    for (int i = 0; i < SETS; i++)
        if (strcmp(account->dataset, NAMES[i]) == 0)
            booked[i] = (int)(account->spent.epsilon / 0.25 + 0.5);
    return true;
}

/* False where a cap is passed. */
static bool holds(history *h)
{
    for (int i = 0; i < SETS; i++)
        if (h->admitted[i] > most_of(h, i)) return false;
    clo_ledger *ledger = try_open(h);
    clo_error err;
    if (!ledger) return true;
    if (clo_ledger_verify(ledger, &err) != CLO_OK) {
        print_error("%s\n", err.message);
        clo_ledger_close(ledger);
        return false;
    }
    assert_ok(clo_ledger_accounts(ledger, NULL, take, NULL, &err), err);
    clo_ledger_close(ledger);
    for (int i = 0; i < SETS; i++) {
        /* Something is free.  (A cap that is full by its rhos has fewer epsilons than charges.) */
        if (booked[i] < h->admitted[i] && !(h->unknown[i] && h->gaussian)) return false;
        if (!h->unknown[i] && !clo_i_restore_forgets && booked[i] != h->admitted[i]) {
            print_error("%s: %d booked, %d admitted\n", NAMES[i], booked[i], h->admitted[i]);
            return false;
        }
    }
    return true;
}

static bool run(const place *p, uint64_t seed, int *receipts)
{
    static void (*const steps[])(
        history *) = { charge,  charge,  charge,   charge, charge, charge, charge,
                       charge,  charge,  backup,   backup, backup, lose,   restore,
                       restore, restore, put_back, move,   rekey,  lower,  lose_anchor };
    history h = { .p = p, .state = seed * 977 + 1 };
    bool right = true;
    in_shell(p, "rm -rf '%s'; mkdir '%s'");
    h.gaussian = seed % 3 == 0;
    snprintf(h.config, sizeof h.config, "%s/machine0", p->folder);
    snprintf(h.ledger, sizeof h.ledger, "%s/ledger.db", p->folder);
    setenv("XDG_CONFIG_HOME", h.config, 1);
    begin(&h);
    for (int i = 0; right && i < STEPS; i++) {
        const uint64_t which = draw(&h, i < 20 ? 18 : sizeof steps / sizeof *steps);
        steps[which](&h);
        right = holds(&h);
    }
    *receipts += h.admitted[2];
    return right;
}

/* ledger.T15, ledger.T16, ledger.T17, ledger.T18 */
static void admits_no_more_than_the_caps_in_any_history(void **state)
{
    const char *const wanted = getenv("CLOISTER_HISTORIES");
    const int count = wanted ? atoi(wanted) : FORKS_ARE_SLOW ? 10 : 40;
    int receipts = 0;
    for (int i = 1; i <= count; i++)
        if (!run(*state, (uint64_t)i, &receipts)) fail_msg("a cap was passed in history %d", i);
    print_message("# %d histories of %d steps: %d receipts, no cap passed\n", count, STEPS,
                  receipts);
    assert_in_range(receipts, count, 100 * count);
}

static void notices_a_restoration_that_charges_nothing(void **state)
{
    int receipts = 0, i = 1;
    clo_i_restore_forgets = true;
    while (i <= 60 && run(*state, (uint64_t)i, &receipts)) i++;
    clo_i_restore_forgets = false;
    print_message("# restored for nothing: noticed in history %d\n", i);
    assert_in_range(i, 1, 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(admits_no_more_than_the_caps_in_any_history, make_place,
                                        remove_place),
        cmocka_unit_test_setup_teardown(notices_a_restoration_that_charges_nothing, make_place,
                                        remove_place),
    };
    if (access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
