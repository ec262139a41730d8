/*
 * ledger.h (internal) - the charge of a run, its receipt, and the result that is kept under it.
 */
#ifndef CLO_LEDGER_H
#define CLO_LEDGER_H

#include "base/base.h"
#include <cloister/privacy.h>

typedef struct clo_ledger clo_ledger;

/* The largest loss on the ledger's grid that is not above the asked one: what a plan should be
 * calibrated to.  Then ten runs at 0.1 fit under a cap of 1; rounded up, they would not. */
clo_loss clo_i_loss_on_grid(clo_loss asked);

/* All that a charge records; texts are borrowed. */
typedef struct clo_i_charge {
    const char *dataset;
    const char *mechanism; /* "kmeans/lloyd" */
    const char *relation;  /* and unit: "replace", "replace per person"; a cap counts one of them */
    clo_loss loss;         /* as asked for */
    uint64_t rho;          /* clo_i_events_rho; 0: not known */
    uint64_t rho_delta;    /* the delta that goes with it */
    clo_loss price;        /* what the run is proved to cost, rounded up; zeros: not known.  Where
                              it is within clo_i_loss_on_grid(loss), that is what is charged;
                              otherwise the loss is charged rounded up to the grid */
    const char *token;     /* names the run, once and for good; NULL: a random one */
    const uint8_t *plan;   /* 32 bytes: what the token is good for; NULL: zeros */
    const uint8_t
        *content; /* 32 bytes: a digest of the data, kept keyed (ledger.T12); NULL: none */
    const char *user, *host, *purpose, *program; /* who and what for; user NULL: not known */
    const char *along; /* another account, with a cap, that the same loss is charged to; NULL */
    bool (*go_on)(void *user); /* false before the COMMIT: nothing is spent; NULL: nobody asks */
    void *go_on_user;
    uint64_t release_bytes; /* what will be stored for it, at most; 0: not known */
} clo_i_charge;

enum { CLO_TOKEN_ROOM = 201 }; /* bytes of a token, with its end */

typedef struct clo_i_receipt {
    uint64_t sequence;
    char token[CLO_TOKEN_ROOM]; /* the run's name: the caller's, or a random one */
    uint8_t identity[16];       /* of the ledger that gave it */
    uint8_t hash[32];           /* of the charge: a copy may have another one of that number */
    char ledger[33];            /* the identity in hexadecimal */
    char dataset[CLO_TOKEN_ROOM];
    int64_t time;
    bool capped;
} clo_i_receipt;

/* Commits the charge durably, or fails and has charged nothing that was acknowledged. */
CLO_CHECK clo_status clo_i_ledger_charge(clo_ledger *ledger, const clo_i_charge *charge,
                                         clo_i_receipt *out, clo_error *err);
/* Fails as the charge would now, and changes nothing. */
CLO_CHECK clo_status clo_i_ledger_rehearse(clo_ledger *ledger, const clo_i_charge *charge,
                                           clo_error *err);
/* Keeps the result of the receipt's run, durably, once. */
CLO_CHECK clo_status clo_i_ledger_store(clo_ledger *ledger, const clo_i_receipt *receipt,
                                        const void *bytes, size_t length, clo_error *err);
/* The result under the token; NULL where the token is not known.  The caller frees it.  content: a
 * digest of the data that it is asked for; NULL: not known. */
CLO_CHECK clo_status clo_i_ledger_fetch(clo_ledger *ledger, const char *dataset,
                                        const uint8_t plan[32], const char *token,
                                        const uint8_t *content, char **bytes, size_t *length,
                                        clo_error *err);

#endif
