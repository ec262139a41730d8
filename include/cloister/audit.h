/*
 * audit.h - try to refute a privacy claim: run the real thing many times on two neighbouring data
 * sets, find an event that tells them apart, and say how large a loss the evidence supports.
 *
 * An audit can refute a claim, with a stated chance of being wrong; it cannot prove one.
 */
#ifndef CLOISTER_AUDIT_H
#define CLOISTER_AUDIT_H

#include <cloister/mechanism.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How to audit; from clo_audit_options_default. */
typedef struct clo_audit_options {
    size_t struct_size;
    uint64_t trials;  /* runs in each of the two worlds, of each pair */
    double seconds;   /* stop a pair after so long, with what there is; 0: no limit */
    double alpha;     /* chance that a true claim is refuted, over the whole audit */
    unsigned group;   /* records that change together: 1, 2 or 4; 0: each of them */
    int threads;      /* 0: as OpenMP says */
    uint8_t seed[32]; /* the same audit for the same seed, on any number of threads */
    bool (*progress)(void *user, double done); /* false stops the audit; may be NULL */
    void *user;
    const char *pair; /* only the pair of this name; NULL: each of the mechanism's */
} clo_audit_options;

/* The presets; see "Structs that may grow" in cloister.h. */
CLO_API void clo_audit_options_init(clo_audit_options *options, size_t size);
static inline clo_audit_options clo_audit_options_default(void)
{
    clo_audit_options options;
    clo_audit_options_init(&options, sizeof options);
    return options;
}

/* What a claim is counted in. */
typedef enum clo_audit_unit {
    CLO_AUDIT_MU = 1,     /* mu of Gaussian privacy: Phi^-1(P) - Phi^-1(Q) <= mu for every event */
    CLO_AUDIT_EPSILON = 2 /* P <= e^epsilon Q + delta for every event */
} clo_audit_unit;

/* What came of one pair of worlds.  Where the library is to fill it, the caller sets struct_size to
 * sizeof(clo_audit_finding), and no more is written; in a callback it is the library's. */
typedef struct clo_audit_finding {
    size_t struct_size;
    const char *pair; /* "gram-diagonal" */
    const char *what; /* in words */
    unsigned group;   /* how many records differ */
    clo_audit_unit unit;
    double claim;      /* what the plan says, for that many records */
    double delta;      /* of an epsilon claim */
    double evidence;   /* the loss that the evidence supports; never below 0 */
    double confidence; /* 1 - alpha, which is shared out among the pairs of a clo_audit */
    bool refuted;      /* evidence > claim */
    uint64_t trials;   /* in each world */
    double seconds;
} clo_audit_finding;

/* Audits a mechanism: its own pairs, at this budget, under this relation, with its answers as they
 * were noised (not only what was made of them).  Calls visit for each pair and group; false stops,
 * which is no failure.  CLO_ARGUMENT where there is no such pair, CLO_CANCELLED where progress
 * stopped it.  options may be NULL. */
CLO_API CLO_CHECK clo_status clo_audit(const clo_mechanism *mechanism, clo_relation relation,
                                       clo_loss budget, const clo_audit_options *options,
                                       bool (*visit)(void *user, const clo_audit_finding *finding),
                                       void *user, clo_error *err);

/* Anything else that answers with numbers: a foreign program, say. */
typedef struct clo_audit_subject {
    size_t struct_size;
    const char *pair, *what;
    size_t outputs;   /* numbers in an answer, at most 512 */
    bool categorical; /* one number that names one of few outcomes */
    bool parallel;    /* draw may be called from several threads at once */
    clo_audit_unit unit;
    double claim, delta;
    /* Runs it once: world 0 or 1, and the number of the run in that world.  The answer goes to
     * outputs.  Its failure ends the audit and is told as it is. */
    clo_status (*draw)(void *user, int world, uint64_t trial, double *outputs, clo_error *err);
    void *user;
} clo_audit_subject;

/* Nothing but its size is set; see "Structs that may grow" in cloister.h. */
CLO_API void clo_audit_subject_init(clo_audit_subject *subject, size_t size);
static inline clo_audit_subject clo_audit_subject_default(void)
{
    clo_audit_subject subject;
    clo_audit_subject_init(&subject, sizeof subject);
    return subject;
}

/* One pair; of the options group, seed and pair have no meaning here.  The texts of the finding are
 * the subject's. */
CLO_API CLO_CHECK clo_status clo_audit_subject_run(const clo_audit_subject *subject,
                                                   const clo_audit_options *options,
                                                   clo_audit_finding *out, clo_error *err);

#ifdef __cplusplus
}
#endif
#endif
