/*
 * ledger_internal.h - what the files of the ledger share and nobody else includes.
 *
 *   ledger_open.c     the file: where it is, who may write it, in which mode
 *   ledger_schema.c   what is in it: the tables, their version, the end of the chain
 *   ledger_sql.c      statements, and what SQLite's refusals mean in plain words
 *   ledger_filter.c   may this charge be made?  Plain arithmetic, no SQL: what proofs/ledger.md
 * proves
 *   ledger_chain.c    the hashes that tie each entry to all before it
 *   ledger_charge.c   the two things that write: declare and charge
 *   ledger_read.c     the things that read: accounts and history
 *   ledger_verify.c   a replay of everything from the first charge on
 */
#ifndef CLO_LEDGER_INTERNAL_H
#define CLO_LEDGER_INTERNAL_H

#include "privacy/privacy.h"
#include <cloister/ledger.h>
#include <sqlite3.h>
#include <sys/types.h>

enum {
    LEDGER_APPLICATION = 0x434c4f4c, /* "CLOL", in the header of the file */
    LEDGER_SCHEMA = 1,
    LEDGER_FORMAT = 1, /* how an entry is serialised and hashed; 1: BLAKE2b-256 without a key */
    LEDGER_HASH = 32,
    LEDGER_IDENTITY = 16,
    LEDGER_TEXT = 200, /* bytes of a name */
    LEDGER_PATIENCE_MS = 5000
};

/* Units are kept in SQLite's signed integers, and sums stop here: "at least so much".  A cap is
 * at most half of it, so that a sum that stopped never fits. */
#define LEDGER_UNITS_LIMIT ((uint64_t)INT64_MAX)
#define LEDGER_CAP_EPSILON 16384.0

struct clo_ledger {
    sqlite3 *db;
    pid_t process; /* SQLite's locks do not survive a fork */
    bool reading;
    int patience_ms; /* how long to wait for another process */
    int64_t deadline_ns;
    char shown[168]; /* the path as errors show it: its end, where it is long */
};

/* ---- sql ------------------------------------------------------------------ */

/* A statement.  The first thing that goes wrong sticks, and finish says it: the calls between
 * need no checks of their own. */
typedef struct clo_i_sql {
    clo_ledger *ledger;
    sqlite3_stmt *statement;
    int code;
    int parameters;
} clo_i_sql;

clo_i_sql clo_i_sql_start(clo_ledger *ledger, const char *text);
void clo_i_sql_integer(clo_i_sql *sql, int64_t value);
void clo_i_sql_units(clo_i_sql *sql, uint64_t value);
void clo_i_sql_real(clo_i_sql *sql, double value);
void clo_i_sql_text(clo_i_sql *sql, const char *value); /* NULL: null */
void clo_i_sql_bytes(clo_i_sql *sql, const uint8_t *value, int size);
bool clo_i_sql_row(clo_i_sql *sql); /* one step; true where it gave a row */
/* Frees the statement.  CLO_OK where everything went well. */
CLO_CHECK clo_status clo_i_sql_finish(clo_i_sql *sql, clo_error *err);
/* Columns of the row; one that cannot be what it should be counts as damage. */
int64_t clo_i_sql_get_integer(clo_i_sql *sql, int column);
uint64_t clo_i_sql_get_units(clo_i_sql *sql, int column);
double clo_i_sql_get_real(clo_i_sql *sql, int column);
void clo_i_sql_get_text(clo_i_sql *sql, int column, char text[LEDGER_TEXT + 1]);
void clo_i_sql_get_bytes(clo_i_sql *sql, int column, uint8_t *bytes, int size);

/* A statement without parameters and rows. */
CLO_CHECK clo_status clo_i_sql_do(clo_ledger *ledger, const char *text, clo_error *err);
/* One number out of a statement without parameters; -1 where it gives no row. */
CLO_CHECK clo_status clo_i_sql_number(clo_ledger *ledger, const char *text, int64_t *out,
                                      clo_error *err);
/* Rolls back whatever is open; never fails in a way that matters. */
void clo_i_sql_undo(clo_ledger *ledger);
/* The sentence for one of SQLite's codes. */
clo_status clo_i_sql_fail(const clo_ledger *ledger, int code, clo_error *err);
/* Waits for other processes until the deadline; SQLite calls it back. */
int clo_i_sql_wait(void *ledger, int tries);

/* ---- filter --------------------------------------------------------------- */

/* How the charges on a data set are counted against its cap (ledger.T4). */
typedef enum clo_i_rule {
    CLO_RULE_OPEN = 0,  /* none with a delta yet: epsilons are added */
    CLO_RULE_BASIC = 1, /* epsilons and deltas are added, for good */
    CLO_RULE_ZCDP = 2   /* from the charge that fixed the rule on, rhos are added, for good */
} clo_i_rule;

const char *clo_i_rule_name(clo_i_rule rule);
bool clo_i_rule_find(const char *name, clo_i_rule *out);

typedef struct clo_i_cost {
    uint64_t epsilon, delta, rho, rho_delta; /* 2^-48, 2^-62, 2^-48, 2^-62 */
} clo_i_cost;

/* A data set's row: all that a decision needs. */
typedef struct clo_i_account {
    int64_t id;
    char name[LEDGER_TEXT + 1];
    char relation[LEDGER_TEXT + 1]; /* of its charges; "" none yet, "mixed" more than one */
    bool capped;
    clo_loss cap;                    /* as declared */
    uint64_t cap_epsilon, cap_delta; /* in units, rounded down */
    clo_i_rule rule;
    uint64_t base_epsilon, base_rho; /* of CLO_RULE_ZCDP: what was spent before it was fixed */
    uint64_t capacity;               /* and how much rho may be spent since then */
    clo_loss first;                  /* as asked for by the first charge */
    uint64_t charges;
    clo_i_cost spent;
    int64_t created, last_charge;
} clo_i_account;

clo_i_cost clo_i_cost_of(const clo_i_charge *charge);
/* The rule that the charge falls under, and with it the base and the capacity: fixes it in the
 * account where the charge is the first one with a delta under a cap. */
CLO_CHECK clo_status clo_i_account_settle(clo_i_account *account, const clo_i_cost *cost,
                                          clo_error *err);
/* The most rho that the rest of the cap allows, as the account stands. */
CLO_CHECK clo_status clo_i_account_capacity(const clo_i_account *account, uint64_t *rho,
                                            clo_error *err);
void clo_i_account_add(clo_i_account *account, const char *relation, clo_loss asked,
                       const clo_i_cost *cost);
/* Whether what is in the account is covered by its cap, under its rule. */
bool clo_i_account_covered(const clo_i_account *account);
/* For people: the sums as the shortest decimals that they can be told from their rounding by, and
 * what a run could still ask for. */
clo_loss clo_i_account_spent(const clo_i_account *account);
clo_loss clo_i_account_left(const clo_i_account *account);
/* Puts a cap on it; whether it covers what was spent before is for the caller to ask. */
void clo_i_account_cap(clo_i_account *account, clo_loss cap);

/* ---- chain ---------------------------------------------------------------- */

typedef struct clo_i_entry {
    uint64_t sequence;
    int64_t time;
    char dataset[LEDGER_TEXT + 1];
    char mechanism[LEDGER_TEXT + 1];
    char relation[LEDGER_TEXT + 1];
    clo_loss asked;
    clo_i_cost cost;
    clo_i_rule rule; /* in force from this charge on */
    uint64_t capacity;
} clo_i_entry;

typedef struct clo_i_declaration {
    uint64_t sequence; /* of its own, 1, 2, … */
    uint64_t after;    /* the last charge, on any data set, before it */
    int64_t time;
    char dataset[LEDGER_TEXT + 1];
    clo_loss cap;
    uint64_t cap_epsilon, cap_delta;
} clo_i_declaration;

/* The one row that says where both chains end. */
typedef struct clo_i_head {
    uint8_t identity[LEDGER_IDENTITY];
    int64_t created;
    uint64_t charges, declarations;
    uint8_t charge_hash[LEDGER_HASH], declaration_hash[LEDGER_HASH];
} clo_i_head;

void clo_i_chain_start(const uint8_t identity[LEDGER_IDENTITY], const char *chain,
                       uint8_t hash[LEDGER_HASH]);
/* hash: in, that of the entry before; out, that of this one. */
void clo_i_chain_charge(const clo_i_entry *entry, uint8_t hash[LEDGER_HASH]);
void clo_i_chain_declaration(const clo_i_declaration *entry, uint8_t hash[LEDGER_HASH]);

/* ---- rows ----------------------------------------------------------------- */

extern const char clo_i_ledger_charge_columns[]; /* of charge c joined with dataset d */
void clo_i_ledger_get_charge(clo_i_sql *sql, clo_i_entry *entry, uint8_t hash[LEDGER_HASH]);
extern const char clo_i_ledger_account_columns[]; /* of dataset d */
void clo_i_ledger_get_account(clo_i_sql *sql, clo_i_account *account);
/* The named one; *found false where there is none. */
CLO_CHECK clo_status clo_i_ledger_find_account(clo_ledger *ledger, const char *dataset,
                                               clo_i_account *account, bool *found, clo_error *err);
CLO_CHECK clo_status clo_i_ledger_get_head(clo_ledger *ledger, clo_i_head *head, clo_error *err);

/* ---- file ----------------------------------------------------------------- */

/* Refuses a handle that cannot be used for this. */
CLO_CHECK clo_status clo_i_ledger_check(const clo_ledger *ledger, bool writing, clo_error *err);
/* Refuses a text that is not 1 to 200 bytes of UTF-8 without control characters. */
CLO_CHECK clo_status clo_i_ledger_check_text(const char *what, const char *text, clo_error *err);

/* Makes a ledger of an empty file. */
CLO_CHECK clo_status clo_i_ledger_fill_if_empty(clo_ledger *ledger, clo_error *err);
/* Refuses what is not a ledger, not of a known version, or does not end as it says. */
CLO_CHECK clo_status clo_i_ledger_check_contents(clo_ledger *ledger, clo_error *err);

/* The schema, object by object, as SQLite keeps it. */
typedef struct clo_i_schema_object {
    const char *type, *name, *text;
} clo_i_schema_object;
extern const clo_i_schema_object clo_i_ledger_schema[];
extern const size_t clo_i_ledger_schema_count;

#endif
