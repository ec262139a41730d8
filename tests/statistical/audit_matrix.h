/*
 * audit_matrix.h - what the two halves of the matrix of audits share: how many runs, at which
 * budget, and one audit (audit.T2).  The usual runs of a pair are 100,000 a world times its column
 * `runs`.  In a test run the matrix takes a fifth of them, and a fault is caught with as few as
 * will do; AUDIT_TRIALS=1e6 (make audit) takes the number that privacy.md's power calculations are
 * for, and holds the evidence to them.  That takes hours: AUDIT_ROWS=10-19 takes these rows of
 * audit/pairs.def alone, counted from 0, so that parts can be run one after the other, or beside
 * each other.
 *
 * Power at mu = 2: 75,000 counted runs leave a margin of .055 or so on either bound together, so
 * that noise 5 % low (mu 2.105) is refuted; a million leave .02 (.98 mu).
 */
#ifndef CLO_TEST_AUDIT_MATRIX_H
#define CLO_TEST_AUDIT_MATRIX_H

#include <limits.h>
#include "pipeline.h"
#include "statistical.h"
#include "audit/audit_internal.h"
#include "base/planted.h"

#ifdef CLO_FAULT_INJECTION

static inline uint64_t trials(void)
{
    const char *const asked = getenv("AUDIT_TRIALS");
    return asked ? (uint64_t)strtod(asked, NULL) : 100000;
}

static inline bool long_run(void)
{
    return trials() >= 1000000;
}

/* The rows that are asked for, from first to last: "10-19", "10-", or all. */
static inline bool row_asked_for(size_t row)
{
    const char *const asked = getenv("AUDIT_ROWS");
    if (!asked) return true;
    char *rest;
    const unsigned long first = strtoul(asked, &rest, 10);
    const unsigned long last = *rest == '-' && rest[1] ? strtoul(rest + 1, NULL, 10) : ULONG_MAX;
    return row >= first && row <= (*rest == '-' ? last : first);
}

/* The epsilon at which one Gaussian event of this mu costs exactly that, at delta 1e-6. */
static inline double epsilon_of(double mu)
{
    const clo_event event = { .kind = CLO_EVENT_GAUSSIAN, .parameter = mu, .count = 1 };
    clo_price price;
    clo_error err;
    assert_ok(clo_price_epsilon(&event, 1, 1e-6, &price, &err), err);
    return price.loss.epsilon;
}

static inline bool keep(void *user, const clo_audit_finding *finding)
{
    *(clo_audit_finding *)user = *finding;
    print_message("#   %-9s group %u: claim %.4f, evidence %.4f (%.3f), %llu runs, %.1f s\n",
                  finding->pair, finding->group, finding->claim, finding->evidence,
                  finding->evidence / finding->claim, (unsigned long long)finding->trials,
                  finding->seconds);
    return true;
}

/* ---- the last columns of audit/pairs.def ------------------------------------------------ */

/* Noise at a Gaussian mu of 2, or at an epsilon where it is of another kind: PURE without a delta,
 * CHOICE the same, at 2 where the evidence is looked at and at 1 where a fault is to be caught. */
typedef struct budget {
    double epsilon; /* 0: that of mu 2 */
    double caught_at;
    bool pure;
} budget;

/* A fault, and the relation under which the pair catches it. */
typedef struct caught {
    clo_planted fault;
    clo_relation relation;
} caught;

enum { MOST_FAULTS = 8 };
typedef struct audited {
    const char *mechanism, *pair;
    double runs; /* as a share of the usual ones: one that solves many blocks, or fits a tensor,
                    costs as much as many others; a seldom event wants more */
    budget at;
    struct {
        bool expected;            /* or the pair is there for its faults and for people */
        clo_relation relation;    /* of a short run; a long one takes both */
        bool only;                /* the worlds can be made under that relation alone */
        double share, long_share; /* how near it must come, as a share of the claim: with a fifth
                                     of the usual runs, and with ten times the usual ones */
    } evidence;
    caught faults[MOST_FAULTS]; /* the rest are CLO_FAULT_NONE */
} audited;

static const audited matrix[] = {
#define MU_2                                                                                       \
    {                                                                                              \
        0, 0, false                                                                                \
    }
#define EPSILON(epsilon)                                                                           \
    {                                                                                              \
        epsilon, epsilon, false                                                                    \
    }
#define PURE(epsilon)                                                                              \
    {                                                                                              \
        epsilon, epsilon, true                                                                     \
    }
#define CHOICE                                                                                     \
    {                                                                                              \
        2, 1, true                                                                                 \
    }
#define EVIDENCE(relation, share, long_share)                                                      \
    {                                                                                              \
        true, relation, share, long_share                                                          \
    }
#define REPLACE      CLO_REPLACE, false
#define ADD_REMOVE   CLO_ADD_REMOVE, false
#define REPLACE_ONLY CLO_REPLACE, true
#define NO_EVIDENCE                                                                                \
    {                                                                                              \
        false, CLO_REPLACE, false, 0, 0                                                            \
    }
#define UNDER_REPLACE(fault)    { CLO_FAULT_##fault, CLO_REPLACE },
#define UNDER_ADD_REMOVE(fault) { CLO_FAULT_##fault, CLO_ADD_REMOVE },
#define NOTHING                 { CLO_FAULT_NONE, CLO_REPLACE },
#define PAIR(family, method, name, settings, cols, categorical, twice, rows, what, runs, budget,   \
             evidence, catches)                                                                    \
    { #family "/" #method, #name, runs, budget, evidence, { catches } },
#define UNIT_PAIR(family, method, name, settings, cols, categorical, per_unit, rows, what, runs,   \
                  budget, evidence, catches)                                                       \
    { #family "/" #method, #name, runs, budget, evidence, { catches } },
#define NO_UNIT_PAIR(family, method, why)
#define RETIRED_PAIR(family, method, name)
#include "audit/pairs.def"
#undef RETIRED_PAIR
#undef NO_UNIT_PAIR
#undef UNIT_PAIR
#undef PAIR
};
enum { MATRIX = sizeof matrix / sizeof *matrix, FEWEST_RUNS = 200 };

/* How many runs a world are this share of the row's usual ones. */
static inline uint64_t runs_of(const audited *row, double share)
{
    const uint64_t runs = (uint64_t)((double)trials() * row->runs * share);
    return runs < FEWEST_RUNS ? FEWEST_RUNS : runs;
}

static inline clo_audit_finding audit_one(const audited *row, clo_relation relation, double epsilon,
                                          unsigned group, clo_planted fault, uint64_t runs)
{
    clo_error err;
    clo_audit_finding finding = { .struct_size = sizeof finding };
    clo_audit_options options = clo_audit_options_default();
    const clo_loss loss = { epsilon > 0 ? epsilon : epsilon_of(2), row->at.pure ? 0 : 1e-6 };
    options.trials = runs;
    options.threads = long_run() ? 0 : 1; /* in a test run another test has the other core */
    options.alpha = stat_alpha(STAT_audit_matrix, 256);
    options.group = group;
    options.pair = row->pair;
    memcpy(options.seed, stat_seed(), sizeof options.seed);
    clo_i_plant(fault);
    const clo_status status = clo_audit(clo_mechanism_find(row->mechanism), relation, loss,
                                        &options, keep, &finding, &err);
    clo_i_plant(CLO_FAULT_NONE);
    assert_ok(status, err);
    return finding;
}

static inline const audited *audited_pair(const char *mechanism, const char *pair)
{
    for (size_t i = 0; i < MATRIX; i++)
        if (strcmp(matrix[i].mechanism, mechanism) == 0 && strcmp(matrix[i].pair, pair) == 0)
            return &matrix[i];
    fail_msg("%s has no pair %s", mechanism, pair);
    return NULL;
}

#endif
#endif
