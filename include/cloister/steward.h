/*
 * steward.h - what the keeper of a ledger does beside declaring caps: narrow them, charge what was
 * released elsewhere, make copies and bring them back, move, change the key.
 *
 * Each leaves an entry in the ledger's second chain that nobody can take out unseen, with a note
 * that says why.  None of them gives back what was spent (ledger.T15 to ledger.T18).
 */
#ifndef CLOISTER_STEWARD_H
#define CLOISTER_STEWARD_H

#include <cloister/ledger.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- less than was declared -------------------------------------------------- */

/* From here on the cap is this smaller one.  CLO_ARGUMENT where it is larger than the one that
 * holds, or the note is empty.  What was spent stays spent, also above it. */
CLO_API CLO_CHECK clo_status clo_ledger_lower(clo_ledger *ledger, const char *dataset, clo_loss cap,
                                              const char *note, clo_error *err);
/* Nothing more is charged on the data set, for good. */
CLO_API CLO_CHECK clo_status clo_ledger_end(clo_ledger *ledger, const char *dataset,
                                            const char *note, clo_error *err);
/* Nothing more is charged on it from that time on (seconds since 1970, by this machine's clock); of
 * several the earliest counts. */
CLO_API CLO_CHECK clo_status clo_ledger_expire(clo_ledger *ledger, const char *dataset,
                                               int64_t time, const char *note, clo_error *err);
/* How charges with a delta are to count on the data set (ledger.T4): "basic", epsilons and deltas
 * are added; "zcdp", rhos are, which many Gaussian runs share better, and runs that are only
 * approximately so are refused.  Where nobody chooses, the first such charge does.  CLO_ARGUMENT
 * where that is decided. */
CLO_API CLO_CHECK clo_status clo_ledger_choose_rule(clo_ledger *ledger, const char *dataset,
                                                    const char *rule, const char *note,
                                                    clo_error *err);
/* From here on each charge on the data set is charged to the group too, which is a declared name
 * with a cap of its own: for data sets that share persons.  What was spent on the data set before
 * is charged to the group now.  CLO_BUDGET where the group's cap does not cover that; CLO_ARGUMENT
 * where the group is itself in one. */
CLO_API CLO_CHECK clo_status clo_ledger_join(clo_ledger *ledger, const char *dataset,
                                             const char *group, const char *note, clo_error *err);
/* Charges a loss for what was released elsewhere: with another program, ledger or key.  relation as
 * the ledger's charges have it ("replace", "add-remove per person").  Where it is more than is
 * left, all that is left is charged, and *all is true. */
CLO_API CLO_CHECK clo_status clo_ledger_adopt(clo_ledger *ledger, const char *dataset,
                                              clo_loss spent, const char *relation,
                                              const char *note, bool *all, clo_error *err);

/* ---- copies ------------------------------------------------------------------- */

/* A whole copy in a new file, for its owner alone, checked and synced; others may charge meanwhile.
 * CLO_LEDGER where there is a file of that name. */
CLO_API CLO_CHECK clo_status clo_ledger_backup(clo_ledger *ledger, const char *path,
                                               clo_error *err);

/* How a ledger is brought back; from clo_restoration_default.  Texts are borrowed. */
typedef struct clo_restoration {
    size_t struct_size;
    const char *backup; /* the copy; NULL: the ledger's own file is an old copy */
    const char *ledger; /* where it is to be; with a backup, nothing may lie there */
    const char *note;   /* why */
    const char *lost;   /* "NAME=EPSILON:DELTA,...": what the steward answers for where nobody knows
                           what was spent since the copy; NULL: the whole cap is charged there */
    bool rehearsal;     /* says what would be charged, and changes nothing */
} clo_restoration;

/* Nothing but its size is set; see "Structs that may grow" in cloister.h. */
CLO_API void clo_restoration_init(clo_restoration *restoration, size_t size);
static inline clo_restoration clo_restoration_default(void)
{
    clo_restoration restoration;
    clo_restoration_init(&restoration, sizeof restoration);
    return restoration;
}

/* What is known of one data set's lost charges. */
typedef enum clo_loss_source {
    CLO_LOST_NOTHING = 0, /* the copy has all of them */
    CLO_LOST_KNOWN = 1,   /* the anchor knows what they came to */
    CLO_LOST_STATED = 2,  /* the steward answers for it */
    CLO_LOST_ALL = 3      /* nobody knows: all that was left is charged */
} clo_loss_source;

/* What became of one data set. */
typedef struct clo_restored {
    size_t struct_size;  /* the library's */
    const char *dataset; /* valid during the callback */
    clo_loss_source source;
    clo_loss charged; /* as a plain sum */
} clo_restored;

/* Brings a ledger back from a copy: writes an entry that says so for good, and charges what was
 * spent since the copy was made: what the anchor knows of it, and where it does not know, what the
 * steward answers for, or the whole cap.  visit is called for each data set (NULL: nobody is);
 * other copies, and the lost file if it turns up, are old ones from then on.  CLO_LEDGER where the
 * copy is not sound or its key is not here. */
CLO_API CLO_CHECK clo_status clo_ledger_restore(const clo_restoration *restoration,
                                                bool (*visit)(void *user,
                                                              const clo_restored *restored),
                                                void *user, clo_error *err);

/* ---- places and keys ------------------------------------------------------------ */

/* To another path on this machine.  CLO_LEDGER where something lies there. */
CLO_API CLO_CHECK clo_status clo_ledger_move(const char *path, const char *to, clo_error *err);
/* A code for one move to this machine, which the sending machine must be given; its secret half
 * stays in this user's configuration. */
enum { CLO_MOVE_CODE = 72 };
CLO_API CLO_CHECK clo_status clo_ledger_move_code(char code[CLO_MOVE_CODE + 1], clo_error *err);
/* Into a new folder with its anchor and its key, which is sealed for the machine that made the
 * code; what stays here is a copy that is not charged any more.  If the call was interrupted, the
 * same call finishes it.  CLO_ARGUMENT where this is no code. */
CLO_API CLO_CHECK clo_status clo_ledger_send(const char *path, const char *folder, const char *code,
                                             clo_error *err);
/* From such a folder to this path, on the machine that made the code.  CLO_LEDGER on every other
 * one; where this machine knows the ledger already, unless it was sent from here after it was
 * received; and where the folder has no anchor. */
CLO_API CLO_CHECK clo_status clo_ledger_receive(const char *folder, const char *path,
                                                clo_error *err);
/* A new key for all hashes, and with it new signatures from here on; an entry signed with the old
 * key names the new public one.  The key is kept beside the user's own, in keys/. */
CLO_API CLO_CHECK clo_status clo_ledger_rekey(const char *path, const char *note, clo_error *err);

/* ---- the books -------------------------------------------------------------------- */

/* What a steward did. */
typedef struct clo_act {
    size_t struct_size; /* the library's */
    const char *kind;   /* "closed", "lower", "gap", ...; valid during the callback, as all texts */
    const char *dataset; /* "": none */
    const char *value, *note;
    uint64_t sequence; /* among caps and acts */
    uint64_t after;    /* the last charge before it */
    int64_t time;
} clo_act;

/* Calls visit for each act in order, but for stored releases and digests of data; false stops. */
CLO_API CLO_CHECK clo_status clo_ledger_acts(clo_ledger *ledger,
                                             bool (*visit)(void *user, const clo_act *act),
                                             void *user, clo_error *err);

#ifdef __cplusplus
}
#endif
#endif
