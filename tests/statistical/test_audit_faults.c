/*
 * The matrix of audits, its second half: every planted fault is caught by the pair that is made for
 * it (audit.T2).
 */
#include "audit_matrix.h"

#ifdef CLO_FAULT_INJECTION

static const struct {
    clo_planted fault;
    const char *mechanism, *pair;
    clo_relation relation;
} faults[] = {
    { CLO_FAULT_NOISE_HALVED, "kmeans/lloyd", "sums", CLO_REPLACE },
    { CLO_FAULT_NOISE_HALVED, "subspace/gaussian", "diagonal", CLO_ADD_REMOVE },
    { CLO_FAULT_NOISE_TENTH_LOW, "kmeans/lloyd", "far", CLO_ADD_REMOVE },
    { CLO_FAULT_NOISE_TENTH_LOW, "subspace/gaussian", "across", CLO_REPLACE },
    { CLO_FAULT_NOISE_TWENTIETH_LOW, "subspace/gaussian", "diagonal", CLO_REPLACE },
    { CLO_FAULT_NOISE_TWENTIETH_LOW, "kmeans/lloyd", "sums", CLO_ADD_REMOVE },
    { CLO_FAULT_SENSITIVITY_ROOT_TWO, "subspace/gaussian", "across", CLO_REPLACE },
    { CLO_FAULT_CLIPPING_MISSING, "kmeans/lloyd", "far", CLO_REPLACE },
    { CLO_FAULT_CLIPPING_MISSING, "subspace/gaussian", "far", CLO_REPLACE },
    { CLO_FAULT_NOISE_TENTH_LOW, "subspaces/sulq", "rounds", CLO_ADD_REMOVE },
    { CLO_FAULT_SENSITIVITY_ROOT_TWO, "subspaces/sulq", "affine", CLO_REPLACE },
    { CLO_FAULT_CLIPPING_MISSING, "subspaces/sulq", "far", CLO_REPLACE },
    { CLO_FAULT_SYMMETRIC_TWICE, "subspaces/sulq", "rounds", CLO_REPLACE },
    { CLO_FAULT_SPLIT_IGNORED, "kmeans/lloyd", "sums", CLO_REPLACE },
    { CLO_FAULT_SEED_REUSED, "kmeans/lloyd", "again", CLO_REPLACE },
    { CLO_FAULT_SEED_REUSED, "subspace/gaussian", "again", CLO_ADD_REMOVE },
    { CLO_FAULT_EMPTY_SKIPPED, "kmeans/lloyd", "empty", CLO_REPLACE },
    { CLO_FAULT_NOISE_TENTH_LOW, "subspaces/moments", "slanted", CLO_ADD_REMOVE },
    { CLO_FAULT_SENSITIVITY_ROOT_TWO, "subspaces/moments", "lens", CLO_REPLACE },
    { CLO_FAULT_CLIPPING_MISSING, "subspaces/moments", "far", CLO_REPLACE },
    { CLO_FAULT_SEED_REUSED, "subspaces/moments", "again", CLO_REPLACE },
    { CLO_FAULT_SYMMETRIC_TWICE, "subspaces/moments", "across", CLO_REPLACE },
    { CLO_FAULT_NOISE_HALVED, "kmeans/moments", "third", CLO_ADD_REMOVE },
    { CLO_FAULT_SENSITIVITY_ROOT_TWO, "kmeans/moments", "third", CLO_REPLACE },
    { CLO_FAULT_CLIPPING_MISSING, "kmeans/moments", "far", CLO_REPLACE },
    { CLO_FAULT_SEED_REUSED, "kmeans/moments", "again", CLO_REPLACE },
    { CLO_FAULT_SPLIT_IGNORED, "kmeans/moments", "rounds", CLO_REPLACE },
    { CLO_FAULT_FACTOR_TWO_MISSING, "bounds/quantile", "choice", CLO_REPLACE },
    { CLO_FAULT_FACTOR_TWO_MISSING, "bounds/quantile", "choice", CLO_ADD_REMOVE },
    { CLO_FAULT_FACTOR_TWO_MISSING, "subspaces/gibbs", "frame", CLO_REPLACE },
    { CLO_FAULT_CLIPPING_MISSING, "subspaces/gibbs", "far", CLO_REPLACE },
    { CLO_FAULT_COUNT_LEAKED, "kmeans/lloyd", "sums", CLO_ADD_REMOVE },
    { CLO_FAULT_SYMMETRIC_TWICE, "subspace/gaussian", "across", CLO_REPLACE },
    { CLO_FAULT_LOCAL_NOISE, "subspaces/aggregate", "split", CLO_REPLACE },
    { CLO_FAULT_FACTOR_TWO_MISSING, "subspace/bingham", "matrix", CLO_REPLACE },
    { CLO_FAULT_CLIPPING_MISSING, "subspace/bingham", "far", CLO_REPLACE },
    { CLO_FAULT_SENSITIVITY_ROOT_TWO, "subspace/gaussian", "lens", CLO_REPLACE },
    { CLO_FAULT_HISTOGRAM_LAX, "subspace/approx", "alone", CLO_REPLACE },
    { CLO_FAULT_HISTOGRAM_LAX, "subspace/boosted", "alone", CLO_REPLACE },
    { CLO_FAULT_PARTS_SHARED, "subspace/boosted", "parts", CLO_REPLACE },
    { CLO_FAULT_NOISE_HALVED, "kmeans/lloyd", "reduced", CLO_REPLACE },
    { CLO_FAULT_SENSITIVITY_ROOT_TWO, "kmeans/sparse", "recovery", CLO_ADD_REMOVE },
    { CLO_FAULT_EMPTY_SKIPPED, "kmeans/sparse", "empty", CLO_REPLACE },
    { CLO_FAULT_COUNT_LEAKED, "kmeans/sparse", "recovery", CLO_ADD_REMOVE },
    { CLO_FAULT_NOISE_HALVED, "kmeans/lloyd", "pure", CLO_ADD_REMOVE },
    { CLO_FAULT_EMPTY_SKIPPED, "kmeans/lloyd", "pure_empty", CLO_REPLACE },
    { CLO_FAULT_NOISE_FROM_SIZE, "kmeans/lloyd", "pure_size", CLO_ADD_REMOVE },
    { CLO_FAULT_RADIUS_FROM_DATA, "kmeans/lloyd", "longest", CLO_REPLACE },
    { CLO_FAULT_EMPTY_SKIPPED, "kmeans/grid", "empty", CLO_REPLACE },
    { CLO_FAULT_NOISE_HALVED, "kmeans/grid", "counts", CLO_REPLACE },
    { CLO_FAULT_LOCAL_NOISE, "kmeans/aggregate", "split", CLO_REPLACE },
    { CLO_FAULT_FLOOR_MISSING, "kmeans/variates", "seed", CLO_REPLACE },
    { CLO_FAULT_NOISE_HALVED, "kmeans/tree", "cells", CLO_ADD_REMOVE },
    { CLO_FAULT_EMPTY_SKIPPED, "kmeans/tree", "empty", CLO_REPLACE },
    { CLO_FAULT_EMPTY_CUBES_SKIPPED, "kmeans/highdim", "cubes", CLO_ADD_REMOVE },
    { CLO_FAULT_PRINTED_ARGMAX, "subspace/exact", "edge", CLO_REPLACE },
    { CLO_FAULT_PRINTED_ARGMAX, "subspace/exact", "own", CLO_ADD_REMOVE },
};

static void every_planted_fault_is_caught(void **state)
{
    const double epsilon = epsilon_of(2);
    bool caught[CLO_FAULT_COUNT] = { false };
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const double asked = asked_of(faults[i].mechanism, faults[i].pair, 1, epsilon);
        print_message("# %s: %s\n", faults[i].mechanism, clo_i_planted_name(faults[i].fault));
        const clo_audit_finding finding = audit_one(faults[i].mechanism, faults[i].pair,
                                                    faults[i].relation, asked, 1, faults[i].fault);
        assert_true(finding.refuted);
        caught[faults[i].fault] = true;
    }
    caught[CLO_FAULT_UNIT_FORGOTTEN] = true; /* below */
    for (int fault = CLO_FAULT_NONE + 1; fault < CLO_FAULT_COUNT; fault++)
        assert_true(caught[fault]);
}

/* Of an aggregate, the unit's rows say by how much the noise may follow the data: a matter of a few
 * hundredths of its scale, which no number of runs that there is time for would show. What its line
 * says of them, and what the noise makes of the line, is held by tests/unit/test_plan_sensitivity.c
 * and tests/unit/test_blocks.c. */
static bool is_too_faint(const clo_i_pair *pair)
{
    return strcmp(pair->method, "aggregate") == 0;
}

static void a_forgotten_unit_is_caught_in_every_mechanism(void **state)
{
    const double epsilon = epsilon_of(2);
    char mechanism[128];
    size_t seen = 0;
    (void)state;
    for (size_t i = 0; i < clo_i_pair_count(); i++)
        for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++) {
            const clo_i_pair *const pair = unit_pair(i, mechanism);
            if (!pair || is_too_faint(pair)) continue;
            const double asked = asked_of(mechanism, pair->name, 1, epsilon);
            print_message("# %s: %s\n", mechanism, clo_i_planted_name(CLO_FAULT_UNIT_FORGOTTEN));
            const clo_audit_finding finding = audit_one(
                mechanism, pair->name, (clo_relation)relation, asked, 1, CLO_FAULT_UNIT_FORGOTTEN);
            assert_true(finding.refuted);
            seen++;
        }
    assert_true(seen >= 2 * (clo_mechanism_count() - 3)); /* one refuses units, two are faint */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_planted_fault_is_caught),
        cmocka_unit_test(a_forgotten_unit_is_caught_in_every_mechanism),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else /* without the planted faults there is nothing to catch */

int main(void)
{
    puts("1..0 # SKIP the planted faults are not in this build");
    return 0;
}

#endif
