/*
 * audit_matrix.h - what the two halves of the matrix of audits share: how many runs, at which
 * budget, and one audit (audit.T2).  100,000 runs a world; AUDIT_TRIALS=1e6 (make audit) takes the
 * number that privacy.md's power calculations are for, and holds the evidence to them.
 *
 * Power at mu = 2: 75,000 counted runs leave a margin of .055 or so on either bound together, so
 * that noise 5 % low (mu 2.105) is refuted; a million leave .02 (.98 mu).
 */
#ifndef CLO_TEST_AUDIT_MATRIX_H
#define CLO_TEST_AUDIT_MATRIX_H

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

/* The epsilon at which one Gaussian event of this mu costs exactly that, at delta 1e-6. */
static inline double epsilon_of(double mu)
{
    const clo_event event = { .kind = CLO_EVENT_GAUSSIAN, .parameter = mu, .count = 1 };
    clo_price price;
    clo_error err;
    assert_ok(clo_price_epsilon(&event, 1, 1e-6, &price, &err), err);
    return price.loss.epsilon;
}

/* The pairs in which a person of several rows differs. */
static inline const clo_i_pair *unit_pair(size_t i, char mechanism[128])
{
    const clo_i_pair *const pair = clo_i_pair_at(i);
    snprintf(mechanism, 128, "%s/%s", pair->family, pair->method);
    return pair->per_unit ? pair : NULL;
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

/* A run that solves many blocks, or fits a tensor, costs as much as many others. */
static inline uint64_t trials_of(const char *mechanism, const char *pair)
{
    /* Their events are seldom. */
    const uint64_t fold = strcmp(pair, "swapped") == 0 ? 4 : strcmp(pair, "parts") == 0 ? 2 : 1;
    /* A person's rows show soon, or not at all. */
    const bool slow = strstr(mechanism, "/approx") || strstr(mechanism, "/boosted");
    if (strstr(pair, "person"))
        return trials() / (strstr(mechanism, "/aggregate") ? 100 : slow ? 20 : 10);
    if (strstr(mechanism, "/aggregate")) return trials() / 100;
    if (strcmp(mechanism, "kmeans/sparse") == 0) return trials() / 4;
    if (strcmp(mechanism, "subspace/approx") == 0) return trials() / 10 * fold;
    if (strcmp(mechanism, "subspace/boosted") == 0) return trials() / 20 * fold;
    if (strcmp(mechanism, "kmeans/grid") == 0) return trials() / 5; /* k-means ends each */
    if (strcmp(mechanism, "kmeans/tree") == 0) return trials() / 5;
    if (strstr(mechanism, "/highdim")) return trials() / 3;
    return strstr(mechanism, "/moments") ? trials() / 5 : trials();
}

/* Faults that a fifth of the runs shows as well, in a short run. */
static inline bool is_glaring(clo_planted fault)
{
    return fault == CLO_FAULT_NOISE_HALVED || fault == CLO_FAULT_CLIPPING_MISSING ||
           fault == CLO_FAULT_SPLIT_IGNORED || fault == CLO_FAULT_SEED_REUSED ||
           fault == CLO_FAULT_EMPTY_SKIPPED || fault == CLO_FAULT_COUNT_LEAKED ||
           fault == CLO_FAULT_NOISE_FROM_SIZE || fault == CLO_FAULT_RADIUS_FROM_DATA ||
           fault == CLO_FAULT_FLOOR_MISSING;
}

/* Mechanisms that are audited at a pure epsilon. */
static inline bool is_pure(const char *mechanism, const char *pair)
{
    if (strcmp(mechanism, "kmeans/tree") == 0) return strcmp(pair, "pure") == 0;
    return strcmp(mechanism, "bounds/quantile") == 0 || strcmp(mechanism, "kmeans/grid") == 0 ||
           strcmp(mechanism, "kmeans/variates") == 0;
}

static inline clo_audit_finding audit_one(const char *mechanism, const char *pair,
                                          clo_relation relation, double epsilon, unsigned group,
                                          clo_planted fault)
{
    clo_error err;
    clo_audit_finding finding = { .struct_size = sizeof finding };
    clo_audit_options options = clo_audit_options_default();
    const clo_loss budget = { epsilon, is_pure(mechanism, pair) ? 0 : 1e-6 };
    options.trials = trials_of(mechanism, pair);
    if (is_glaring(fault) && !long_run() && options.trials == trials()) options.trials /= 5;
    options.alpha = stat_alpha(STAT_audit_matrix, 256);
    options.group = group;
    options.pair = pair;
    memcpy(options.seed, stat_seed(), sizeof options.seed);
    clo_i_plant(fault);
    const clo_status status =
        clo_audit(clo_mechanism_find(mechanism), relation, budget, &options, keep, &finding, &err);
    clo_i_plant(CLO_FAULT_NONE);
    assert_ok(status, err);
    return finding;
}

/* What to ask an exponential mechanism for: the quantile's choice, or where one draw of a frame
 * shows most of its range in as many runs as there are. */
static inline double asked_of(const char *mechanism, const char *pair, double choice,
                              double gaussian)
{
    const bool is_draw =
        strcmp(mechanism, "subspace/bingham") == 0 || strcmp(mechanism, "subspaces/gibbs") == 0;
    if (strstr(pair, "person") && strcmp(mechanism, "kmedian/highdim") == 0) return 2;
    if (strstr(pair, "person") && is_draw) return 2; /* and three times that, if forgotten */
    if (strcmp(pair, "pure_person") == 0 && strcmp(mechanism, "kmeans/sparse") == 0) return 1;
    if (strncmp(pair, "pure", 4) == 0) return 2; /* Laplace noise */
    if (is_pure(mechanism, pair)) return choice;
    if (strstr(mechanism, "/aggregate")) return 2;           /* few runs show no large loss */
    if (strcmp(mechanism, "subspace/approx") == 0) return 2; /* a threshold of 15 blocks */
    if (strcmp(mechanism, "subspace/boosted") == 0) return 2;
    if (strcmp(mechanism, "subspace/exact") == 0) return 4; /* what its pair is made for */
    if (strcmp(mechanism, "kmeans/highdim") == 0) return 2; /* a cube of few records */
    return is_draw ? 4 : gaussian;
}

#endif
#endif
