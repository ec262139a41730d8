/*
 * ledger_internal.h - what the files of the ledger share and nobody else includes.
 *
 *   ledger_open.c     the file: where it is, who may write it, in which mode
 *   ledger_schema.c   what is in it: the tables, their version, the end of the chain
 *   ledger_migrate.c  from an older version of the tables to this one
 *   ledger_key.c      the key of the hashes, in the user's configuration
 *   ledger_anchor.c   where the ledger and its copies ended last time, kept beside the key
 *   ledger_places.c   where they lie: a new ledger is not begun where another one was
 *   ledger_sql.c      statements, and what SQLite's refusals mean in plain words
 *   ledger_admit.c   may this charge be made?  Plain arithmetic, no SQL: what is proved
 *   ledger_chain.c    the hashes that tie each entry to all before it
 *   ledger_write.c    the transaction of a declaration or a charge, under the anchor's lock
 *   ledger_admin.c      what a steward does beside declaring caps, in the same chain
 *   ledger_terms.c    acts that narrow what is admitted: lower caps, ends, groups
 *   ledger_anchor_entries.c    what was spent on each data set, kept in the anchor against a loss
 *   ledger_backup.c   a whole copy, while others charge
 *   ledger_restore.c  from such a copy back to a ledger, with what was lost charged
 *   ledger_move.c     to another place, or with key and anchor to another machine
 *   ledger_rekey.c    a new key for all hashes
 *   ledger_adopt.c    charges for what was released elsewhere
 *   ledger_names.c    when two names of data sets look alike
 *   ledger_charge.c   the two things that spend: declare and charge
 *   ledger_token.c    a run's result under its token: stored once, given out for nothing
 *   ledger_sign.c     the key that signs releases, made of the key of the hashes
 *   ledger_content.c  whether the same data were charged under another name
 *   ledger_read.c     the things that read: accounts and history
 *   ledger_verify.c   a replay of everything from the first charge on
 */
#ifndef CLO_LEDGER_INTERNAL_H
#define CLO_LEDGER_INTERNAL_H

#include "accounting/accounting.h"
#include "ledger/ledger.h"
#include <cloister/ledger.h>
#include <cloister/output.h>
#include <limits.h>
#include <sqlite3.h>
#include <sys/types.h>

enum {
    LEDGER_APPLICATION = 0x434c4f4c, /* "CLOL", in the header of the file */
    LEDGER_SCHEMA = 4,
    /* How an entry is serialised and hashed: BLAKE2b-256, without a key in schema 1, keyed now. */
    LEDGER_PLAIN = 1,
    LEDGER_KEYED = 2,
    LEDGER_HASH = 32,
    LEDGER_KEY = 32,
    LEDGER_KEY_ID = 16,
    LEDGER_PLAN = 32,
    LEDGER_IDENTITY = 16,
    LEDGER_TEXT = 200,       /* bytes of a name */
    LEDGER_RESULT = 1 << 28, /* bytes of a stored result */
    LEDGER_PATIENCE_MS = 5000,
    LEDGER_GROUPS = 8,     /* that one data set may be in */
    LEDGER_STATEMENTS = 24 /* kept prepared */
};

/* Units are kept in SQLite's signed integers, and sums stop here: "at least so much".  A cap is
 * at most half of it, so that a sum that stopped never fits. */
#define LEDGER_UNITS_LIMIT ((uint64_t)INT64_MAX)
#define LEDGER_CAP_EPSILON 16384.0

/* The key of the hashes.  Unknown: the ledger can be read, but not checked and not written. */
typedef struct clo_i_key {
    bool known;
    uint8_t bytes[LEDGER_KEY];
    uint8_t id[LEDGER_KEY_ID]; /* a hash of it: names the key, and says nothing about it */
} clo_i_key;

/* The key that signs, once it was derived; of one key and one ledger (ledger_sign.c). */
typedef struct clo_i_signer {
    bool known;
    uint8_t key_id[LEDGER_KEY_ID], identity[LEDGER_IDENTITY];
    uint8_t public_key[CLO_PUBLIC_KEY_BYTES], secret[64];
} clo_i_signer;

/* The one row that says where both chains end. */
typedef struct clo_i_head {
    uint8_t identity[LEDGER_IDENTITY];
    int64_t created;
    uint64_t charges, declarations;
    uint8_t charge_hash[LEDGER_HASH], declaration_hash[LEDGER_HASH];
    uint8_t key_id[LEDGER_KEY_ID];
    /* Up to where the entries are of schema 1, hashed without a key; and the keyed hash of it. */
    uint64_t plain_charges, plain_declarations;
    uint8_t seal[LEDGER_HASH];
} clo_i_head;

/* How far a ledger had come. */
typedef struct clo_i_mark {
    uint64_t charges, declarations;
    uint8_t charge_hash[LEDGER_HASH], declaration_hash[LEDGER_HASH];
} clo_i_mark;

/* What the anchor says. */
typedef struct clo_i_note {
    uint64_t number; /* 1, 2, ...: of two notes the larger one counts */
    clo_i_mark mark;
    bool summed;              /* false: nobody has charged since the anchor was made */
    uint8_t sum[LEDGER_HASH]; /* of clo_i_chain_account over all accounts, at that mark */
} clo_i_note;

typedef struct clo_i_anchor {
    char path[PATH_MAX];
    clo_i_mark mark; /* the furthest that this handle knows of */
    uint64_t synced; /* the number of the last note that this handle has put on the disk */
} clo_i_anchor;

/* Faults that the tests of the ledger must catch; built with -Dfault_injection=true alone. */
typedef enum clo_i_planted {
    CLO_PLANTED_NONE,
    CLO_PLANTED_EARLY_RECEIPT,    /* a charge is acknowledged before its commit */
    CLO_PLANTED_EARLY_TOTAL,      /* the total is read before the lock is taken */
    CLO_PLANTED_OLD_ANCHOR,       /* what the anchor said at the opening is all that counts */
    CLO_PLANTED_NO_LOCK,          /* the anchor is read and written without its lock */
    CLO_PLANTED_UNMOVED_ANCHOR,   /* a charge is acknowledged before the anchor knows of it */
    CLO_PLANTED_UNSYNCED_ANCHOR,  /* ... before the anchor's disk does */
    CLO_PLANTED_UNCHECKED_TOTALS, /* the totals of a copy are believed as they stand */
    CLO_PLANTED_COUNT
} clo_i_planted;

struct clo_ledger {
    sqlite3 *db;
    pid_t process; /* SQLite's locks do not survive a fork */
    bool reading;
    bool detached; /* a backup, or a draft: no anchor is asked, and nothing is charged */
    const struct clo_i_writing *writing; /* what the next COMMIT ends; NULL: nothing of ours */
    bool second;                         /* may begin where a ledger was that lies elsewhere now */
    int schema;                          /* of the file; an older one only where it is read */
    int patience_ms;                     /* how long to wait for another process */
    int64_t deadline_ns;
    const clo_i_charge *charge; /* that is under way, and may be stopped; NULL */
    int64_t (*clock)(void);     /* seconds since 1970 */
    clo_i_key key;
    clo_i_signer signer;
    clo_i_anchor anchor;
    struct {
        sqlite3_stmt *statement;
        bool lent;
    } kept[LEDGER_STATEMENTS];
#ifdef CLO_FAULT_INJECTION
    clo_i_planted planted;
    uint64_t verified; /* how many transactions had to verify everything */
#endif
    char resolved[PATH_MAX]; /* where the file really is */
    char shown[168];         /* the path as errors show it: its end, where it is long */
};

static inline bool clo_i_ledger_planted(const clo_ledger *ledger, clo_i_planted fault)
{
#ifdef CLO_FAULT_INJECTION
    return ledger->planted == fault;
#else
    return false;
#endif
}

/* ---- sql ------------------------------------------------------------------ */

/* A statement.  The first thing that goes wrong sticks, and finish says it: the calls between
 * need no checks of their own.  Statements stay prepared in the handle: a charge is a handful of
 * short ones, and parsing them anew took longer than running them. */
typedef struct clo_i_sql {
    clo_ledger *ledger;
    sqlite3_stmt *statement;
    int kept; /* its place in the handle; -1: it is not kept */
    int code;
    int parameters;
} clo_i_sql;

clo_i_sql clo_i_sql_start(clo_ledger *ledger, const char *text);
void clo_i_sql_integer(clo_i_sql *sql, int64_t value);
void clo_i_sql_units(clo_i_sql *sql, uint64_t value);
void clo_i_sql_real(clo_i_sql *sql, double value);
void clo_i_sql_text(clo_i_sql *sql, const char *value);               /* NULL: null */
void clo_i_sql_bytes(clo_i_sql *sql, const uint8_t *value, int size); /* NULL: null */
bool clo_i_sql_row(clo_i_sql *sql); /* one step; true where it gave a row */
/* Gives the statement back.  CLO_OK where everything went well. */
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
/* Frees the statements that were kept. */
void clo_i_sql_forget(clo_ledger *ledger);
/* COMMIT; its error says whether the matter is open. */
CLO_CHECK clo_status clo_i_sql_commit(clo_ledger *ledger, clo_error *err);
/* Rolls back whatever is open; never fails in a way that matters. */
void clo_i_sql_undo(clo_ledger *ledger);
/* The sentence for one of SQLite's codes. */
clo_status clo_i_sql_fail(const clo_ledger *ledger, int code, clo_error *err);
/* Whether the disk has failed under the file, which SQLite takes for damage. */
bool clo_i_sql_disk_failed(const clo_ledger *ledger);
/* A nap while another process has what is wanted, with 0, 1, ... tries before; 0 where the patience
 * is at its end.  SQLite calls it back. */
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
/* The same with a rule that the steward has chosen: where zcdp cannot count the charge it is not
 * covered afterwards. */
CLO_CHECK clo_status clo_i_account_settle_as(clo_i_account *account, clo_i_rule chosen,
                                             const clo_i_cost *cost, clo_error *err);
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
/* A loss at which all charges together are private, and within the cap; infinite where the charges
 * are under several relations (ledger.T11). */
clo_loss clo_i_account_composed(const clo_i_account *account);
clo_loss clo_i_account_left(const clo_i_account *account);
/* For a sentence: at most six digits, and never more than it is. */
void clo_i_left_text(double left, char text[CLO_NUMBER_SIZE]);
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
    int64_t format;
    char token[LEDGER_TEXT + 1]; /* "" in schema 1 */
    uint8_t plan[LEDGER_PLAN];
    uint8_t key_id[LEDGER_KEY_ID];
    bool attributed; /* whether the rest is known, and in the hash; not before schema 4 */
    char user[LEDGER_TEXT + 1], host[LEDGER_TEXT + 1], purpose[LEDGER_TEXT + 1];
    char program[LEDGER_TEXT + 1];
} clo_i_entry;

typedef struct clo_i_declaration {
    uint64_t sequence; /* of its own, 1, 2, … */
    uint64_t after;    /* the last charge, on any data set, before it */
    int64_t time;
    char dataset[LEDGER_TEXT + 1];
    clo_loss cap;
    uint64_t cap_epsilon, cap_delta;
    int64_t format;
    uint8_t key_id[LEDGER_KEY_ID];
} clo_i_declaration;

/* What a steward did beside declaring a cap; texts and detail are borrowed. */
typedef struct clo_i_act {
    uint64_t sequence; /* among those of the declarations */
    uint64_t after;
    int64_t time;
    char kind[LEDGER_TEXT + 1];
    char dataset[LEDGER_TEXT + 1]; /* "": none */
    int64_t dataset_id;            /* for writing; 0: none */
    uint64_t charge;               /* 0: none */
    const uint8_t *detail;
    size_t length;
    uint8_t key_id[LEDGER_KEY_ID];
} clo_i_act;

#define LEDGER_ACT_CLOSED  "closed"
#define LEDGER_ACT_CONTENT "content"
#define LEDGER_ACT_FOLDER  "folder"
#define LEDGER_ACT_KEY     "key"
#define LEDGER_ACT_RESULT  "result"
/* Those that narrow what is admitted (ledger_terms.c); the first line of their detail is a value,
 * the second a note. */
#define LEDGER_ACT_LOWER  "lower"
#define LEDGER_ACT_END    "end"
#define LEDGER_ACT_EXPIRE "expire"
#define LEDGER_ACT_MEMBER "member"
#define LEDGER_ACT_RULE   "rule"
/* Those that tell of the file itself. */
#define LEDGER_ACT_GAP   "gap"
#define LEDGER_ACT_REKEY "rekey"

/* The mechanism of a charge for what a restored ledger had lost. */
#define LEDGER_RESTORED "restore"

void clo_i_chain_start(const uint8_t identity[LEDGER_IDENTITY], const char *chain,
                       uint8_t hash[LEDGER_HASH]);
/* hash: in, that of the entry before; out, that of this one.  A plain entry needs no key. */
void clo_i_chain_charge(const clo_i_key *key, const clo_i_entry *entry, uint8_t hash[LEDGER_HASH]);
void clo_i_chain_declaration(const clo_i_key *key, const clo_i_declaration *entry,
                             uint8_t hash[LEDGER_HASH]);
void clo_i_chain_act(const clo_i_key *key, const clo_i_act *act, uint8_t hash[LEDGER_HASH]);
/* What the ledger's key is for signatures: a seed. */
void clo_i_chain_signing(const clo_i_key *key, const uint8_t identity[LEDGER_IDENTITY],
                         uint8_t seed[LEDGER_HASH]);
/* An act that narrows what is admitted. */
void clo_i_chain_effect(const clo_i_key *key, const uint8_t identity[LEDGER_IDENTITY],
                        uint64_t sequence, const char *kind, const char *dataset, const char *value,
                        uint8_t hash[LEDGER_HASH]);
/* That the ledger was closed by the act of this number. */
void clo_i_chain_policy(const clo_i_key *key, const uint8_t identity[LEDGER_IDENTITY],
                        uint64_t closed, uint8_t hash[LEDGER_HASH]);
/* What says that the head's plain entries were there when the key came, and no more of them. */
void clo_i_chain_seal(const clo_i_key *key, const clo_i_head *head,
                      const uint8_t charge_hash[LEDGER_HASH],
                      const uint8_t declaration_hash[LEDGER_HASH], uint8_t seal[LEDGER_HASH]);
/* Ties a stored result to its charge. */
void clo_i_chain_result(const clo_i_key *key, const uint8_t charge_hash[LEDGER_HASH], int64_t time,
                        const void *bytes, size_t length, uint8_t hash[LEDGER_HASH]);

/* The data of a charge, or of an act, so that only who has the key can compare them (ledger.T12);
 * kind "content" or "declared content" tells their numbers apart. */
void clo_i_chain_content(const clo_i_key *key, const uint8_t identity[LEDGER_IDENTITY],
                         const char *kind, uint64_t sequence,
                         const uint8_t content[CLO_DIGEST_BYTES], uint8_t hash[LEDGER_HASH]);
/* All of an account that a decision depends on. */
void clo_i_chain_account(const clo_i_key *key, const uint8_t identity[LEDGER_IDENTITY],
                         const clo_i_account *account, uint8_t hash[LEDGER_HASH]);

/* ---- key and anchor -------------------------------------------------------- */

/* "$XDG_CONFIG_HOME/cloister/NAME", or in ~/.config. */
CLO_CHECK clo_status clo_i_config_path(const char *name, char path[PATH_MAX], clo_error *err);
/* Reads the user's key; where there is none, makes it (create) or leaves it unknown. */
CLO_CHECK clo_status clo_i_key_load(bool create, clo_i_key *out, clo_error *err);
/* The key with this id: the user's, or one of those that were brought here (keys/ID). */
CLO_CHECK clo_status clo_i_key_find(const uint8_t id[LEDGER_KEY_ID], clo_i_key *out,
                                    clo_error *err);
/* Keeps a key as keys/ID; one that is there stays. */
CLO_CHECK clo_status clo_i_key_keep(const clo_i_key *key, clo_error *err);
/* Writes a new file with it; one that is there stays. */
CLO_CHECK clo_status clo_i_key_put(const char *path, const clo_i_key *key, clo_error *err);
/* Reads a key from a file; it stays unknown where there is none. */
CLO_CHECK clo_status clo_i_key_read(const char *path, clo_i_key *key, clo_error *err);
/* Takes these bytes for the key. */
void clo_i_key_set(clo_i_key *key, const uint8_t bytes[LEDGER_KEY]);
/* For whom a parcel is: the machine that drew this code. */
enum { LEDGER_RECEIVER = 32, LEDGER_SEAL_TAG = 16 };
/* A ledger's key on its way; as it lies in the parcel. */
typedef struct clo_i_sealed_key {
    uint8_t receiver[LEDGER_RECEIVER];
    uint8_t once[32]; /* the public key of whoever sealed it, which no other parcel has */
    uint8_t box[LEDGER_SEAL_TAG + LEDGER_KEY];
} clo_i_sealed_key;
CLO_CHECK clo_status clo_i_code_parse(const char *text, uint8_t receiver[LEDGER_RECEIVER],
                                      clo_error *err);
CLO_CHECK clo_status clo_i_code_seal(const clo_i_key *key, const uint8_t receiver[LEDGER_RECEIVER],
                                     clo_i_sealed_key *sealed, clo_error *err);
/* Only on the machine that drew the code, and until it forgets it. */
CLO_CHECK clo_status clo_i_code_open(const clo_i_sealed_key *sealed, const char *folder,
                                     clo_i_key *key, clo_error *err);
void clo_i_code_forget(const uint8_t receiver[LEDGER_RECEIVER]);
/* Refuses a ledger that was written under another key than the handle's. */
CLO_CHECK clo_status clo_i_key_check(const clo_ledger *ledger, const clo_i_head *head,
                                     clo_error *err);

/* Refuses a ledger that is behind its anchor or beside it; makes the anchor where there is none and
 * the handle is for writing.  For the early word only: what counts is the next two (ledger.T9). */
CLO_CHECK clo_status clo_i_anchor_check(clo_ledger *ledger, clo_error *err);
/* The same for a head that a transaction for reading, still open, has read. */
CLO_CHECK clo_status clo_i_anchor_check_head(clo_ledger *ledger, const clo_i_head *head,
                                             clo_error *err);

/* The anchor with its lock: who has it is the only one, among all processes and all copies of the
 * ledger, to charge it. */
typedef struct clo_i_held {
    int file; /* -1: it is not held */
    clo_i_note note;
} clo_i_held;

/* Waits for the lock, and refuses a head that is behind the anchor or beside it. */
CLO_CHECK clo_status clo_i_anchor_take(clo_ledger *ledger, const clo_i_head *head, clo_i_held *out,
                                       clo_error *err);
bool clo_i_anchor_is_at(const clo_i_held *held, const clo_i_head *head);
/* Before the commit: a disk on which the anchor cannot be written is to be noticed here. */
CLO_CHECK clo_status clo_i_anchor_prepare(clo_ledger *ledger, const clo_i_held *held,
                                          clo_error *err);
/* After the commit: on the anchor's disk when it returns CLO_OK. */
CLO_CHECK clo_status clo_i_anchor_move(clo_ledger *ledger, const clo_i_held *held,
                                       const clo_i_head *head, const uint8_t sum[LEDGER_HASH],
                                       clo_error *err);
void clo_i_anchor_release(clo_i_held *held);

bool clo_i_anchor_is_there(const clo_ledger *ledger);
/* Its place, by the identity, into the handle. */
CLO_CHECK clo_status clo_i_anchor_find(clo_ledger *ledger, const clo_i_head *head, clo_error *err);
/* For who brings a ledger back: the lock and the note alone.  *there: false where there is no
 * anchor, *readable: false where no note fits. */
CLO_CHECK clo_status clo_i_anchor_open(clo_ledger *ledger, clo_i_held *out, bool *there,
                                       bool *readable, clo_error *err);
/* Whether the head goes on from the note's end. */
CLO_CHECK clo_status clo_i_anchor_is_behind(clo_ledger *ledger, const clo_i_note *note,
                                            const clo_i_head *head, bool *behind, clo_error *err);
/* Over both notes, under the lock, synced: whatever went before is another history now. */
CLO_CHECK clo_status clo_i_anchor_set(clo_ledger *ledger, const clo_i_held *held,
                                      const clo_i_note *note, clo_error *err);
CLO_CHECK clo_status clo_i_anchor_sync(clo_ledger *ledger, const clo_i_held *held, clo_error *err);
CLO_CHECK clo_status clo_i_anchor_make(clo_ledger *ledger, const clo_i_head *head, clo_error *err);
clo_i_mark clo_i_mark_of(const clo_i_head *head);
/* The mark of a ledger that was moved to another machine: no copy here goes on from it. */
#define LEDGER_MOVED UINT64_MAX
/* The newer of the notes that fit; false where none does. */
CLO_CHECK bool clo_i_anchor_read(const clo_i_key *key, const char *identity, int file,
                                 clo_i_note *out);

#ifdef CLO_FAULT_INJECTION
/* A fault that the test of histories must notice: a restored ledger is not charged for its gap. */
extern bool clo_i_restore_forgets;
/* How the anchor reaches its disk: a test can make that fail, forget or die. */
extern ssize_t (*clo_i_anchor_pwrite)(int file, const void *bytes, size_t count, off_t at);
extern int (*clo_i_anchor_fdatasync)(int file);
#endif

enum { ANCHOR_RECORD = 512, ANCHOR_PLACES = 2 * ANCHOR_RECORD };
/* Adds this ledger's place to those in the anchor; of too many the oldest go. */
void clo_i_places_note(const clo_ledger *ledger, int file);
/* CLO_LEDGER where the ledger of this identity and end lies at one of the anchor's places, other
 * than `but`, a whole path: it is not lost. */
CLO_CHECK clo_status clo_i_places_refuse_living(int file, const uint8_t identity[LEDGER_IDENTITY],
                                                const clo_i_mark *mark, const char *but,
                                                clo_error *err);
/* Refuses to begin a ledger where another one was: it is lost, or lies elsewhere with its caps;
 * then ledger->second allows it. */
CLO_CHECK clo_status clo_i_places_check(const clo_ledger *ledger,
                                        const uint8_t identity[LEDGER_IDENTITY], clo_error *err);

/* ---- writing ---------------------------------------------------------------- */

/* An act that narrows what is admitted, by the name of its data set. */
typedef struct clo_i_effect {
    char kind[LEDGER_TEXT + 1], dataset[LEDGER_TEXT + 1], value[LEDGER_TEXT + 1];
} clo_i_effect;

typedef struct clo_i_effects {
    clo_i_effect *items; /* in the order of the acts */
    size_t count, room;
} clo_i_effects;

/* What they come to for one data set (ledger.T15). */
typedef struct clo_i_terms {
    bool ended, lowered;
    int64_t expires; /* 0: never */
    clo_loss limit;  /* where lowered */
    clo_i_rule rule; /* that the steward has chosen; CLO_RULE_OPEN: none */
} clo_i_terms;

/* One transaction that adds an entry.  Between begin and end nobody else adds one, to this ledger
 * or to a copy of it. */
typedef struct clo_i_writing {
    clo_i_held held;
    clo_i_head head;       /* the caller moves it on */
    clo_i_head begun;      /* as it was */
    clo_i_account account; /* of the data set */
    bool found;            /* it is there already */
    uint64_t closed;       /* the act that closed the ledger; 0: it is open */
    clo_i_effects effects;
    clo_i_account groups[LEDGER_GROUPS]; /* that the data set is in (ledger.T16) */
    size_t group_count;
    /* Accounts whose slots in the anchor are to be written: those that changed, or all of them. */
    clo_i_account *slots;
    size_t slot_count, slot_room;
    bool collect; /* all */
    uint8_t sum[LEDGER_HASH];
} clo_i_writing;

/* Whether the caller still wants the charge that is under way, if there is one. */
bool clo_i_ledger_wanted(const clo_ledger *ledger);
/* along: an account that is charged along, as a group is; NULL: none.  whole: believes nothing and
 * verifies everything first. */
CLO_CHECK clo_status clo_i_write_begin(clo_ledger *ledger, const char *dataset, const char *along,
                                       bool whole, clo_i_writing *out, clo_error *err);
/* The data set's account, or that of one of its groups, is another one now. */
CLO_CHECK clo_status clo_i_write_account(const clo_ledger *ledger, clo_i_writing *w,
                                         const clo_i_account *after, clo_error *err);
CLO_CHECK clo_status clo_i_write_group(const clo_ledger *ledger, clo_i_writing *w, size_t i,
                                       const clo_i_account *after, clo_error *err);
/* Reads accounts and acts, and what they add up to, in a transaction that is open. */
CLO_CHECK clo_status clo_i_write_sum(clo_ledger *ledger, const char *dataset, clo_i_writing *w,
                                     clo_error *err);
void clo_i_write_clear(clo_i_writing *w);
/* What the COMMIT of ledger->writing came to, in which the disk has failed: CLO_OK where it is
 * there for good; else the reason, or err as it is where it cannot be told. */
CLO_CHECK clo_status clo_i_write_settle(clo_ledger *ledger, clo_error *err);
/* Commits and moves the anchor on where all went well so far, and otherwise takes all back. */
CLO_CHECK clo_status clo_i_write_end(clo_ledger *ledger, clo_i_writing *w, clo_status so_far,
                                     clo_error *err);

/* Checks all but the stored results, in a transaction that is open (ledger.T8). */
CLO_CHECK clo_status clo_i_ledger_verify_entries(clo_ledger *ledger, const clo_i_head *head,
                                                 clo_error *err);
/* All of it but the anchor, in a transaction of its own. */
CLO_CHECK clo_status clo_i_ledger_verify_file(clo_ledger *ledger, clo_error *err);

/* Gives the entry its number, time and hash and inserts it, with the account as it is afterwards,
 * in a transaction that is open. */
CLO_CHECK clo_status clo_i_charge_insert(clo_ledger *ledger, clo_i_entry *entry,
                                         clo_i_account *after, clo_i_head *head, clo_error *err);
/* Declares the cap of an account that has none, in such a transaction. */
CLO_CHECK clo_status clo_i_cap_insert(clo_ledger *ledger, clo_i_account *account, clo_loss cap,
                                      clo_i_head *head, clo_error *err);
CLO_CHECK clo_status clo_i_dataset_insert(clo_ledger *ledger, const char *name,
                                          clo_i_account *account, clo_error *err);
/* A charge of all that is left of the cap, whatever that is; its epsilon is 0 where nothing is. */
clo_i_cost clo_i_account_rest(const clo_i_account *account);
/* Names a run at random. */
CLO_CHECK clo_status clo_i_token_random(char token[LEDGER_TEXT + 1], clo_error *err);
/* The same for an entry that no run made: its account and its relation are the caller's. */
clo_loss clo_i_cost_asked(const clo_i_cost *cost);

/* ---- rows ----------------------------------------------------------------- */

/* Of charge c joined with dataset d; an older file has no room for who made it. */
const char *clo_i_ledger_charge_columns(const clo_ledger *ledger);
void clo_i_ledger_get_charge(clo_i_sql *sql, clo_i_entry *entry, uint8_t hash[LEDGER_HASH]);
extern const char clo_i_ledger_declaration_columns[]; /* of declaration c joined with dataset d */
void clo_i_ledger_get_declaration(clo_i_sql *sql, clo_i_declaration *entry,
                                  uint8_t hash[LEDGER_HASH]);
extern const char clo_i_ledger_account_columns[]; /* of dataset d */
void clo_i_ledger_get_account(clo_i_sql *sql, clo_i_account *account);
/* The named one; *found false where there is none. */
CLO_CHECK clo_status clo_i_ledger_find_account(clo_ledger *ledger, const char *dataset,
                                               clo_i_account *account, bool *found, clo_error *err);
CLO_CHECK clo_status clo_i_ledger_get_head(clo_ledger *ledger, clo_i_head *head, clo_error *err);

CLO_CHECK clo_status clo_i_ledger_update_head(clo_ledger *ledger, const clo_i_head *head,
                                              clo_error *err);

/* ---- acts and names ---------------------------------------------------------- */

extern const char clo_i_act_columns[]; /* of act c joined with dataset d */
/* Its detail is the statement's, until the next row. */
void clo_i_act_get(clo_i_sql *sql, clo_i_act *act, uint8_t hash[LEDGER_HASH]);
bool clo_i_act_is_known(const char *kind);
/* Adds it at the end, in a transaction that is open: numbers, time and hash are given to it, and
 * the head is moved on. */
CLO_CHECK clo_status clo_i_act_insert(clo_ledger *ledger, const clo_i_act *act, clo_i_head *head,
                                      clo_error *err);
/* The number of the act that closed the ledger; 0: it is open. */
CLO_CHECK clo_status clo_i_act_closed(clo_ledger *ledger, uint64_t *sequence, clo_error *err);
/* The sentence for a name that a closed ledger has not. */
clo_status clo_i_closed_refuse(clo_ledger *ledger, const char *dataset, clo_error *err);

/* Refuses a name that a closed ledger does not take. */
CLO_CHECK clo_status clo_i_name_check(const char *name, clo_error *err);
bool clo_i_names_alike(const char *a, const char *b);
/* A data set with another name that looks like this one; "": none. */
CLO_CHECK clo_status clo_i_name_find_alike(clo_ledger *ledger, const char *name,
                                           char out[LEDGER_TEXT + 1], clo_error *err);

/* ---- terms: ledger.T15, ledger.T16 -------------------------------------------- */

/* All acts that narrow, with their hashes added to the sum where one is given. */
CLO_CHECK clo_status clo_i_effects_read(clo_ledger *ledger, const uint8_t identity[LEDGER_IDENTITY],
                                        clo_i_effects *out, uint8_t *sum, clo_error *err);
void clo_i_effects_clear(clo_i_effects *effects);
CLO_CHECK clo_status clo_i_terms_of(const clo_ledger *ledger, const clo_i_effects *effects,
                                    const char *dataset, clo_i_terms *out, clo_error *err);
/* How many acts narrow the data set. */
uint64_t clo_i_terms_count(const clo_i_effects *effects, const char *dataset);
/* The time by which a budget expires: the clock's, or the latest that an entry has. */
CLO_CHECK clo_status clo_i_terms_now(clo_ledger *ledger, const clo_i_terms *terms, int64_t *now,
                                     clo_error *err);
/* Refuses where the terms do not allow what the account has become, or would at this time. */
CLO_CHECK clo_status clo_i_terms_allow(const clo_i_terms *terms, const clo_i_account *before,
                                       const clo_i_account *after, int64_t now, clo_error *err);
/* The account as the terms leave it, for showing what is left. */
CLO_CHECK clo_status clo_i_terms_apply(const clo_i_terms *terms, clo_i_account *account,
                                       clo_error *err);
/* Where an act of a group is not followed by what it asks for. */
CLO_CHECK clo_status clo_i_terms_verify(clo_ledger *ledger, uint64_t *wrong, clo_error *err);

/* ---- slots: what the anchor knows of each data set ------------------------------ */

/* An account as it stood after the charge number `at`. */
typedef struct clo_i_slot {
    clo_i_account account;
    uint64_t at, terms; /* and how many acts narrowed it */
} clo_i_slot;

/* both: nothing of what stood there stays. */
CLO_CHECK bool clo_i_slot_write(const clo_ledger *ledger, int file, const clo_i_slot *slot,
                                bool both);
/* The latest state of the data set that stands in the anchor; false: none.  *acknowledged: how many
 * charges the latest state up to that charge of the ledger has.  errno is 0 unless the disk
 * failed. */
CLO_CHECK bool clo_i_slot_read(const clo_i_key *key, const char *identity, int file, int64_t id,
                               uint64_t upto, clo_i_slot *out, uint64_t *acknowledged);
/* How many data sets may have one; -1 where errno says why nobody can tell. */
int64_t clo_i_slot_count(int file);

/* ---- tokens ---------------------------------------------------------------- */

/* A token's charge, and whether its result is there. */
typedef struct clo_i_token {
    uint64_t sequence;
    char dataset[LEDGER_TEXT + 1];
    uint8_t plan[LEDGER_PLAN];
    bool stored;
} clo_i_token;

CLO_CHECK clo_status clo_i_token_find(clo_ledger *ledger, const char *token, clo_i_token *out,
                                      bool *found, clo_error *err);
/* Refuses a token that belongs to another plan or data set. */
CLO_CHECK clo_status clo_i_token_check(const char *token, const clo_i_token *known,
                                       const char *dataset, const uint8_t plan[LEDGER_PLAN],
                                       clo_error *err);
/* The sentence for a token that cannot be charged a second time. */
clo_status clo_i_token_refuse(const char *token, const clo_i_token *known, clo_error *err);

/* ---- signatures ------------------------------------------------------------- */

/* The key pair of this ledger, which follows from its key (ledger.T14). */
void clo_i_sign_keys(const clo_i_key *key, const uint8_t identity[LEDGER_IDENTITY],
                     uint8_t public_key[CLO_PUBLIC_KEY_BYTES], uint8_t secret[64]);
/* Writes the public key into the ledger where it is not there, in a transaction that is open. */
CLO_CHECK clo_status clo_i_sign_note(clo_ledger *ledger, clo_i_head *head, clo_error *err);

/* ---- content --------------------------------------------------------------- */

/* In the transaction of the charge with this number. */
CLO_CHECK clo_status clo_i_content_insert(clo_ledger *ledger, const clo_i_head *head,
                                          const uint8_t content[CLO_DIGEST_BYTES], clo_error *err);
/* Whether the charge was for other data than these; false where it is not known. */
CLO_CHECK clo_status clo_i_content_differs(clo_ledger *ledger, uint64_t sequence,
                                           const uint8_t content[CLO_DIGEST_BYTES], bool *differs,
                                           clo_error *err);
/* Says in the transaction of a declaration which data it is for; refuses what is another's already,
 * unless second. */
CLO_CHECK clo_status clo_i_content_attach(clo_ledger *ledger, clo_i_head *head,
                                          const clo_i_account *account, const uint8_t *content,
                                          const char *folder, bool second, clo_error *err);

/* ---- file ----------------------------------------------------------------- */

/* Nothing lies there.  False where nobody can look: a disk that fails has lost nothing yet. */
bool clo_i_ledger_is_gone(const char *path);
/* Makes the folders above the path, for the owner alone. */
CLO_CHECK clo_status clo_i_ledger_make_folders(const char *path, clo_error *err);
/* Puts the names in the path's folder on the disk. */
/* Of a ledger that is to be: the names of its journal and its drafts are longer than its own. */
CLO_CHECK clo_status clo_i_ledger_check_name(const char *path, clo_error *err);
bool clo_i_ledger_sync_folder_of(const char *path); /* false: its disk failed */
/* Gives a finished draft its name, unless there is a file of that name; the draft goes. */
CLO_CHECK bool clo_i_ledger_put_in_place(const char *draft, const char *path);
/* Puts the draft of a new key in its place, if the process that made it died before it could
 * (ledger.T18). */
CLO_CHECK bool clo_i_rekey_finish(const char *path);
/* A ledger's file without its anchor: a backup, for reading, or a draft, for writing. */
CLO_CHECK clo_status clo_i_ledger_open_detached(const char *path, bool reading, clo_ledger **out,
                                                clo_error *err);
/* All pages into a new file, for its owner alone, synced. */
CLO_CHECK clo_status clo_i_ledger_copy(clo_ledger *ledger, const char *path, clo_error *err);
/* What an interrupted call has left of that; a file that is something else is refused. */
CLO_CHECK clo_status clo_i_ledger_remove_draft(const char *path, clo_error *err);
/* The end of a path, where it is too long for a message. */
void clo_i_ledger_show_path(char shown[168], const char *path);

/* Refuses a handle that cannot be used for this. */
CLO_CHECK clo_status clo_i_ledger_check(const clo_ledger *ledger, bool writing, clo_error *err);
/* Refuses a text that is not 1 to 200 bytes of UTF-8 without control characters. */
CLO_CHECK clo_status clo_i_ledger_check_text(const char *what, const char *text, clo_error *err);

/* Makes a ledger of an empty file. */
CLO_CHECK clo_status clo_i_ledger_fill_if_empty(clo_ledger *ledger, bool closed, clo_error *err);
/* Brings an older version of the tables up to this one, in one transaction. */
CLO_CHECK clo_status clo_i_ledger_migrate(clo_ledger *ledger, clo_error *err);
CLO_CHECK clo_status clo_i_ledger_insert_head(clo_ledger *ledger, const clo_i_head *head,
                                              const char *written_by, clo_error *err);
/* Refuses what is not a ledger, not of a known version, or does not end as it says. */
CLO_CHECK clo_status clo_i_ledger_check_contents(clo_ledger *ledger, clo_error *err);

/* The schema, object by object, as SQLite keeps it. */
typedef struct clo_i_schema_object {
    int since; /* the version that brought it; 2, if it is older */
    const char *type, *name, *text;
} clo_i_schema_object;
extern const clo_i_schema_object clo_i_ledger_schema[];
extern const size_t clo_i_ledger_schema_count;

#endif
