/*
 * ledger_place.h - a folder with a ledger and a configuration of its own for each test.
 */
#ifndef CLO_TEST_LEDGER_PLACE_H
#define CLO_TEST_LEDGER_PLACE_H

#include "check.h"
#include "ledger/ledger_internal.h"
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Forks are slow under AddressSanitizer: fewer of them, where a test has hundreds. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FORKS_ARE_SLOW 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(FORKS_ARE_SLOW)
#define FORKS_ARE_SLOW 1
#endif
#ifndef FORKS_ARE_SLOW
#define FORKS_ARE_SLOW 0
#endif

typedef struct place {
    char folder[256], ledger[300], config[300], key[340];
} place;

static inline int make_place(void **state)
{
    place *const p = calloc(1, sizeof *p);
    const char *const base = getenv("TMPDIR");
    snprintf(p->folder, sizeof p->folder, "%s/cloister-place-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(p->folder)) return -1;
    snprintf(p->ledger, sizeof p->ledger, "%s/ledger.db", p->folder);
    snprintf(p->config, sizeof p->config, "%s/config", p->folder);
    snprintf(p->key, sizeof p->key, "%s/cloister/ledger.key", p->config);
    setenv("XDG_CONFIG_HOME", p->config, 1);
    *state = p;
    return 0;
}

/* Runs a shell command with %s for the folder. */
static inline void in_shell(const place *p, const char *format)
{
    char command[1200], *to = command;
    for (const char *from = format; *from; from++) {
        if (from[0] == '%' && from[1] == 's') {
            to += sprintf(to, "%s", p->folder);
            from++;
        } else {
            *to++ = *from;
        }
    }
    *to = 0;
    assert_int_equal(system(command), 0);
}

static inline int remove_place(void **state)
{
    in_shell(*state, "rm -rf '%s'");
    free(*state);
    return 0;
}

static inline clo_ledger *open_at(const char *path)
{
    clo_ledger *ledger = NULL;
    clo_error err;
    assert_ok(clo_ledger_create(path, CLO_LEDGER_OPEN, &ledger, &err), err);
    return ledger;
}

/* Opening for writing must fail with these words. */
static inline void refuses(const char *path, const char *words)
{
    clo_ledger *ledger = NULL;
    clo_error err;
    assert_fails(clo_ledger_create(path, CLO_LEDGER_OPEN, &ledger, &err), CLO_LEDGER, err, words);
    assert_null(ledger);
}

static inline clo_status try_charge(clo_ledger *ledger, const char *token, const uint8_t *plan,
                                    clo_i_receipt *receipt, clo_error *err)
{
    const clo_i_charge charge = { .dataset = "d",
                                  .mechanism = "kmeans/lloyd",
                                  .relation = "replace",
                                  .loss = { 0.5, 0 },
                                  .rho = UINT64_C(1) << 45,
                                  .token = token,
                                  .plan = plan };
    return clo_i_ledger_charge(ledger, &charge, receipt, err);
}

static inline clo_i_receipt charge_with(clo_ledger *ledger, const char *token, const uint8_t *plan)
{
    clo_i_receipt receipt = { 0 };
    clo_error err;
    assert_ok(try_charge(ledger, token, plan, &receipt, &err), err);
    return receipt;
}

static inline void charge_times(clo_ledger *ledger, int times)
{
    for (int i = 0; i < times; i++) charge_with(ledger, NULL, NULL);
}

static inline uint64_t charges_of(clo_ledger *ledger)
{
    clo_ledger_facts facts = { .struct_size = sizeof facts };
    clo_error err;
    assert_ok(clo_ledger_describe(ledger, &facts, &err), err);
    return facts.charges;
}

static inline void is_sound(clo_ledger *ledger)
{
    clo_error err;
    assert_ok(clo_ledger_verify(ledger, &err), err);
}

/* Changes the file behind the ledger's back. */
static inline void tamper(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_exec(db, "PRAGMA synchronous = OFF", NULL, NULL, NULL);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) fail_msg("%s: %s", sql, message);
    sqlite3_close(db);
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)

#endif
