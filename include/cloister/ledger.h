/*
 * ledger.h - step four: spend.  A durable record of what was spent on each data
 * set.  A grant is what comes out of it, good for one run.
 */
#ifndef CLOISTER_LEDGER_H
#define CLOISTER_LEDGER_H

#include <cloister/mechanism.h>
#include <cloister/release.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clo_ledger clo_ledger; /* an open ledger */
typedef struct clo_grant clo_grant;   /* a budget that is spent, for one run of one plan */

/* What a ledger does with a data set that was not declared in it. */
typedef enum clo_ledger_manner {
    CLO_LEDGER_CLOSED = 1, /* it is not charged, and names that look alike are not declared */
    CLO_LEDGER_OPEN = 2,   /* it is charged, without a cap */
    /* And with either of them: also where there was a ledger that was moved, which has its caps. */
    CLO_LEDGER_SECOND = 4
} clo_ledger_manner;

/* Makes a ledger, and its folder; where there is one already it is opened, and stays what it is.
 * Fails as clo_ledger_open does, and where the file cannot be made. */
CLO_API CLO_CHECK clo_status clo_ledger_create(const char *path, clo_ledger_manner manner,
                                               clo_ledger **out, clo_error *err);
/* Opens a ledger that exists, for charges; who makes one says so.  The key of its hashes is
 * $XDG_CONFIG_HOME/cloister/ledger.key or ~/.config/cloister/ledger.key, made on first use; beside
 * it lies an anchor for each ledger and its copies, by which an old one is told from the ledger
 * itself, now and again in each charge.  A file of an older version is brought up to date.
 * CLO_LEDGER where the file, the key or the anchor cannot be trusted, with what to do about it. */
CLO_API CLO_CHECK clo_status clo_ledger_open(const char *path, clo_ledger **out, clo_error *err);
/* Opens a ledger that exists, for reading; that works without the key. */
CLO_API CLO_CHECK clo_status clo_ledger_open_existing(const char *path, clo_ledger **out,
                                                      clo_error *err);
/* The user's own: $XDG_STATE_HOME/cloister/ledger.db or ~/.local/state/cloister/ledger.db. */
CLO_API CLO_CHECK clo_status clo_ledger_default_path(char *path, size_t size, clo_error *err);
CLO_API void clo_ledger_close(clo_ledger *ledger);
/* Closes a ledger that was made and never used, and removes its file: for a caller whose first
 * declaration failed.  CLO_LEDGER, and it stays open, where a cap or a charge is in it. */
CLO_API CLO_CHECK clo_status clo_ledger_discard(clo_ledger *ledger, clo_error *err);

/* Names a data set and caps what may ever be spent on it.  CLO_LEDGER where the name is declared
 * already: a cap cannot be changed.  CLO_BUDGET where more was spent on it before. */
CLO_API CLO_CHECK clo_status clo_ledger_declare(clo_ledger *ledger, const char *dataset,
                                                clo_loss cap, clo_error *err);
/* The same, and says which data they are, so that they are noticed under another name: by a digest
 * of their bytes (clo_file_digest; kept keyed, ledger.T12), by the folder that they lie in (a whole
 * path, without links), or by both; NULL: not known.  CLO_ARGUMENT where another data set was
 * declared or charged with these data, unless `second` says that two caps are meant. */
CLO_API CLO_CHECK clo_status clo_ledger_declare_data(clo_ledger *ledger, const char *dataset,
                                                     clo_loss cap, const uint8_t *content,
                                                     const char *folder, bool second,
                                                     clo_error *err);
/* CLO_ARGUMENT where a charge on this data set would be refused for its name: the ledger is closed
 * and has none of that name. */
CLO_API CLO_CHECK clo_status clo_ledger_check_dataset(clo_ledger *ledger, const char *dataset,
                                                      clo_error *err);

/* Records the plan's budget against the named data set, durably, and then gives the
 * grant: a run that dies half way has still spent it.  In an open ledger a data set that was not
 * declared is recorded without a cap; a closed one refuses it with CLO_ARGUMENT.  CLO_BUDGET where
 * the cap does not cover it: nothing is spent.
 * CLO_LEDGER also where a copy of the ledger was charged meanwhile: all of them share the caps. */
CLO_API CLO_CHECK clo_status clo_ledger_spend(clo_ledger *ledger, const char *dataset,
                                              const clo_plan *plan, clo_grant **out,
                                              clo_error *err);

/* The same for a run that the caller names.  A token (1 to 200 bytes of UTF-8) is good for one run:
 * it is charged once, its result is stored once (clo_ledger_store), and from then on
 * clo_ledger_fetch gives the same bytes, any number of times, for nothing.  CLO_ARGUMENT where the
 * token belongs to another plan or data set, or its result is there to be fetched; CLO_LEDGER where
 * it was charged and has no result: such a token is dead, since running again would be a second
 * draw for one charge.  clo_ledger_spend names the run at random. */
CLO_API CLO_CHECK clo_status clo_ledger_spend_token(clo_ledger *ledger, const char *dataset,
                                                    const clo_plan *plan, const char *token,
                                                    clo_grant **out, clo_error *err);
/* The same for data whose digest is known (clo_table_digest); token NULL: a random one, content
 * NULL: not known.  The ledger keeps it so that only the key's owner can compare it with another
 * (ledger.T12), for clo_ledger_known_as. */
CLO_API CLO_CHECK clo_status clo_ledger_spend_content(clo_ledger *ledger, const char *dataset,
                                                      const clo_plan *plan, const char *token,
                                                      const uint8_t *content, clo_grant **out,
                                                      clo_error *err);
/* All that can be said of a spend; from clo_spending_default.  Texts are borrowed. */
typedef struct clo_spending {
    size_t struct_size;
    const char *dataset;
    const clo_plan *plan;
    const char *token;      /* NULL: a random one */
    const uint8_t *content; /* NULL: not known */
    const char *purpose;    /* what the release is for, up to 200 bytes; NULL: not said */
    const char *user;       /* who asks, for a program that asks for others; NULL: its own user */
    const char *along;      /* a declared name whose cap must cover the same loss too, in the same
                               charge: what one analyst may spend, say; NULL: none */
    /* Asked last before the charge is made durable, and while the ledger is waited for: false takes
     * it back with CLO_CANCELLED, and nothing is spent.  NULL: nobody asks. */
    bool (*go_on)(void *user);
    void *go_on_user;
    /* What the release will take at most, as it is stored: where the ledger's disk has less,
     * nothing is spent, CLO_LEDGER.  0: not known. */
    uint64_t release_bytes;
} clo_spending;

/* Nothing but its size is set; see "Structs that may grow" in cloister.h. */
CLO_API void clo_spending_init(clo_spending *spending, size_t size);
static inline clo_spending clo_spending_default(void)
{
    clo_spending spending;
    clo_spending_init(&spending, sizeof spending);
    return spending;
}
/* clo_ledger_spend_content with all of it.  The charge also records the host, and the program's
 * name and version. */
CLO_API CLO_CHECK clo_status clo_ledger_spend_for(clo_ledger *ledger, const clo_spending *spending,
                                                  clo_grant **out, clo_error *err);
/* Fails as clo_ledger_spend_for would now for the data set's name and its caps, and changes
 * nothing. */
CLO_API CLO_CHECK clo_status clo_ledger_rehearse(clo_ledger *ledger, const clo_spending *spending,
                                                 clo_error *err);
/* The other name under which data with this digest were declared or charged last, and never under
 * this one: two names have two caps, and somebody may have forgotten which one is meant.
 * Into the caller's text of `size` bytes, 201 are enough; "" where there is none, or the key is not
 * here. */
CLO_API CLO_CHECK clo_status clo_ledger_known_as(clo_ledger *ledger, const char *dataset,
                                                 const uint8_t *content, char *name, size_t size,
                                                 clo_error *err);
/* The other data set in whose declared folder a file lies, by its whole path; "" as above. */
CLO_API CLO_CHECK clo_status clo_ledger_known_at(clo_ledger *ledger, const char *dataset,
                                                 const char *path, char *name, size_t size,
                                                 clo_error *err);
/* Keeps the result of the grant's run, durably; at most 256 MiB.  CLO_ARGUMENT where it was stored
 * before, or another ledger gave the grant. */
CLO_API CLO_CHECK clo_status clo_ledger_store(clo_ledger *ledger, const clo_grant *grant,
                                              const void *bytes, size_t length, clo_error *err);
/* The stored result, which the caller gives back to clo_ledger_bytes_free; *bytes NULL where the
 * token is not known.  CLO_ARGUMENT where it belongs to another plan or data set, CLO_LEDGER where
 * it has no result or the stored bytes were changed. */
CLO_API CLO_CHECK clo_status clo_ledger_fetch(clo_ledger *ledger, const char *dataset,
                                              const clo_plan *plan, const char *token, char **bytes,
                                              size_t *length, clo_error *err);
/* The same for a spend; CLO_ARGUMENT also where the token's run was on other data than `content`
 * says: who repeats a run on data that were changed means another run. */
CLO_API CLO_CHECK clo_status clo_ledger_fetch_for(clo_ledger *ledger, const clo_spending *spending,
                                                  char **bytes, size_t *length, clo_error *err);
/* The same by the token alone, for whoever has lost a release: CLO_ARGUMENT where the ledger does
 * not know it.  Nothing is charged; the key is needed, since it shows that nobody has changed the
 * bytes. */
CLO_API CLO_CHECK clo_status clo_ledger_result(clo_ledger *ledger, const char *token, char **bytes,
                                               size_t *length, clo_error *err);
CLO_API void clo_ledger_bytes_free(char *bytes);

/* For a caller that takes a data set's name from a file's: notes where a data set lies that was
 * declared or charged, and fails with CLO_ARGUMENT where it is known to lie elsewhere: two files of
 * one name are two data sets.  Of a data set that the ledger does not know nothing is noted. */
CLO_API CLO_CHECK clo_status clo_ledger_claim(clo_ledger *ledger, const char *dataset,
                                              const char *origin, clo_error *err);
/* For a caller that accounts elsewhere; the release says "not metered". */
CLO_API CLO_CHECK clo_status clo_grant_unmetered(const clo_plan *plan, clo_grant **out,
                                                 clo_error *err);
CLO_API void clo_grant_free(clo_grant *grant);
/* The run's name in the ledger that was charged, a random one where the caller gave none; NULL of a
 * grant that is not metered.  The grant's. */
CLO_API const char *clo_grant_token(const clo_grant *grant);

/* What the ledger shows of a data set. */
typedef struct clo_account {
    size_t struct_size;  /* the library's: fields beyond it are not there */
    const char *dataset; /* valid during the callback */
    bool capped;
    clo_loss cap;
    clo_loss spent; /* the plain sums of the charges' epsilons and deltas: where losses compose by
                        zCDP, more than they come to, and it may be more than the cap */
    clo_loss left;  /* what a run could still ask: where losses are added, the rest of both; where
                        they compose by zCDP, an epsilon at the cap's delta; 0 without a cap */
    uint64_t charges;
    int64_t created;     /* seconds since 1970 */
    int64_t last_charge; /* 0: none */
    clo_loss composed;   /* what the charges, as they stand, come to together: never above the cap;
                            an infinite epsilon where they are under more than one relation */
    const char *rule;    /* how charges with a delta count (ledger.T4): "basic", their losses are
                            added; "zcdp", their rhos are; "open", the first of them decides */
    bool lowered;        /* the cap was lowered to `limit`, which `left` goes by */
    clo_loss limit;
    bool ended;      /* nothing more is charged */
    int64_t expires; /* nor from this time on; 0: never */
} clo_account;

/* Calls visit for each data set, by name, or for the named one alone (CLO_ARGUMENT where there is
 * none of that name); false stops. */
CLO_API CLO_CHECK clo_status clo_ledger_accounts(clo_ledger *ledger, const char *dataset,
                                                 bool (*visit)(void *user,
                                                               const clo_account *account),
                                                 void *user, clo_error *err);

/* A cap, as it was declared. */
typedef struct clo_declaration {
    size_t struct_size;  /* the library's */
    const char *dataset; /* valid during the callback */
    clo_loss cap;
    uint64_t sequence;   /* among caps and other acts: 1, 2, ... */
    uint64_t after;      /* the last charge before it */
    int64_t time;        /* seconds since 1970 */
    int format;          /* of the hash: 1 plain, 2 keyed */
    const uint8_t *hash; /* 32 bytes */
} clo_declaration;

/* Calls visit for each cap in the order of their declarations; false stops. */
CLO_API CLO_CHECK clo_status clo_ledger_declarations(
    clo_ledger *ledger, bool (*visit)(void *user, const clo_declaration *declaration), void *user,
    clo_error *err);

/* One charge of the history. */
typedef struct clo_charge {
    size_t struct_size;  /* the library's */
    const char *dataset; /* valid during the callback, as all pointers here */
    const char *mechanism;
    const char *relation;
    clo_loss loss; /* as asked for */
    uint64_t sequence;
    int64_t time;                            /* seconds since 1970 */
    const char *token;                       /* "" for a charge of schema 1, which had none */
    uint64_t stored;                         /* bytes of the stored result; 0: none */
    int64_t stored_at;                       /* seconds since 1970 */
    uint64_t epsilon, delta, rho, rho_delta; /* as counted, in 2^-48, 2^-62, 2^-48, 2^-62 */
    const char *rule;    /* "open", "basic", "zcdp": how the account counts from here on */
    uint64_t capacity;   /* of zcdp, in 2^-48 */
    int format;          /* of the hash: 1 plain, 2 keyed */
    const uint8_t *plan; /* 32 bytes: the plan's identity */
    const uint8_t *hash; /* 32 bytes */
    const char *user, *host, *purpose, *program; /* who made it; "" before schema 4, or not said */
} clo_charge;

/* Calls visit for each charge in order, of all data sets (NULL) or of the named one (CLO_ARGUMENT
 * where there is none of that name); false stops. */
CLO_API CLO_CHECK clo_status clo_ledger_history(clo_ledger *ledger, const char *dataset,
                                                bool (*visit)(void *user, const clo_charge *charge),
                                                void *user, clo_error *err);

/* Calls visit for the charge of that number; CLO_ARGUMENT where there is none. */
CLO_API CLO_CHECK clo_status clo_ledger_find_charge(clo_ledger *ledger, uint64_t sequence,
                                                    bool (*visit)(void *user,
                                                                  const clo_charge *charge),
                                                    void *user, clo_error *err);

/* ---- signatures: Ed25519 (ledger.T14; docs/release-format.md) ------------------ */

/* The public half of the key that signs for this ledger.  It follows from the ledger's key; who has
 * not that one reads it from the ledger, where it stands once something was signed (CLO_LEDGER
 * before), and should have it from somebody they trust. */
CLO_API CLO_CHECK clo_status clo_ledger_public_key(clo_ledger *ledger,
                                                   uint8_t out[CLO_PUBLIC_KEY_BYTES],
                                                   clo_error *err);
/* Signs these bytes; CLO_LEDGER where the ledger's key is not here. */
CLO_API CLO_CHECK clo_status clo_ledger_sign(clo_ledger *ledger, const void *bytes, size_t length,
                                             uint8_t signature[CLO_SIGNATURE_BYTES],
                                             clo_error *err);
/* Writes into the release of the grant's run what it was charged as, and signs all of it; a job
 * does so before it stores the release.  CLO_ARGUMENT where the grant is not metered. */
CLO_API CLO_CHECK clo_status clo_ledger_certify(clo_ledger *ledger, const clo_grant *grant,
                                                clo_release *release, clo_error *err);
/* Whether the release is this ledger's: signed by it, unchanged, and of a charge that it has, of
 * the same loss, mechanism and data set.  CLO_SIGNATURE where not, with why. */
CLO_API CLO_CHECK clo_status clo_ledger_check(clo_ledger *ledger, const clo_release *release,
                                              clo_error *err);
/* The certificate of the grant's charge, as it goes into the release; texts are the grant's, and
 * values, public_key and signature "". */
CLO_API CLO_CHECK clo_status clo_grant_certificate(const clo_grant *grant, clo_certificate *out,
                                                   clo_error *err);

/* The ledger as a whole.  The caller sets struct_size to sizeof(clo_ledger_facts), and no more than
 * that is written. */
typedef struct clo_ledger_facts {
    size_t struct_size;
    char identity[33]; /* random, in hexadecimal, as key_id */
    char key_id[33];   /* of the key that its hashes were made with */
    int schema;
    bool has_key;    /* that key is here: the hashes can be checked, and the ledger written */
    bool has_anchor; /* an old copy of this ledger would be noticed */
    int64_t created, last_charge; /* seconds since 1970; 0: none */
    uint64_t charges, declarations;
    uint64_t clock_went_back; /* charges with an earlier time than the one before them */
    bool closed;              /* only declared data sets are charged */
    uint64_t acts;            /* what stewards did beside declaring caps */
} clo_ledger_facts;

/* Fails as reading the ledger does. */
CLO_API CLO_CHECK clo_status clo_ledger_describe(clo_ledger *ledger, clo_ledger_facts *out,
                                                 clo_error *err);
/* Checks pages, schema, totals, stored results and the chain of keyed hashes from the first charge
 * on, and that no copy of the ledger has gone on without it.  CLO_LEDGER where something does not
 * fit, with what and where, or where the key that is needed is not here. */
CLO_API CLO_CHECK clo_status clo_ledger_verify(clo_ledger *ledger, clo_error *err);

#ifdef __cplusplus
}
#endif
#endif
