/*
 * The matrix of audits, its first half: every correct mechanism passes, and the evidence comes near
 * the claim (audit.T2).
 */
#include "audit_matrix.h"

#ifdef CLO_FAULT_INJECTION

static bool serves(const audited *row, clo_relation relation)
{
    if (!row->evidence.expected) return false;
    return (long_run() && !row->evidence.only) || relation == row->evidence.relation;
}

/* A short run takes a fifth of the usual runs, which is enough to show a sensitivity that is sqrt 2
 * too small.  Noise a twentieth low takes all of them: so do the pairs that are there to see it. */
static uint64_t runs_here(const audited *row)
{
    bool all = long_run();
    for (const caught *c = row->faults; c->fault != CLO_FAULT_NONE; c++)
        all |= c->fault == CLO_FAULT_NOISE_TWENTIETH_LOW;
    return runs_of(row, all ? 1 : 0.2);
}

static void stands(const audited *row, clo_relation relation)
{
    print_message("# %zu %s, %s\n", (size_t)(row - matrix), row->mechanism,
                  relation == CLO_REPLACE ? "replace" : "add-remove");
    const clo_audit_finding finding =
        audit_one(row, relation, row->at.epsilon, 1, CLO_FAULT_NONE, runs_here(row));
    assert_false(finding.refuted);
    if (relation != row->evidence.relation) return; /* how near is known of the other one */
    const double near = long_run() ? row->evidence.long_share : row->evidence.share;
    assert_true(finding.evidence >= finding.claim * near);
}

static void correct_mechanisms_pass_and_the_evidence_comes_near(void **state)
{
    (void)state;
    for (size_t i = 0; i < MATRIX; i++)
        for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++)
            if (row_asked_for(i) && serves(&matrix[i], (clo_relation)relation))
                stands(&matrix[i], (clo_relation)relation);
}

/* At epsilon 1 the worlds are closer, and the margin is a larger share. */
static void a_small_epsilon_is_audited_too(void **state)
{
    (void)state;
    const audited *const row = audited_pair("subspace/gaussian", "across");
    const clo_audit_finding finding =
        audit_one(row, CLO_REPLACE, 1, 1, CLO_FAULT_NONE, runs_here(row));
    assert_false(finding.refuted);
    assert_true(finding.evidence >= finding.claim * (long_run() ? 0.88 : 0.3));
}

static void groups_are_held_to_their_claims(void **state)
{
    (void)state;
    for (unsigned group = 2; group <= 4; group += 2) {
        const audited *const row = audited_pair("subspace/gaussian", "far");
        const clo_audit_finding finding =
            audit_one(row, CLO_REPLACE, epsilon_of(0.5), group, CLO_FAULT_NONE, runs_here(row));
        assert_false(finding.refuted);
        assert_true(finding.evidence > (long_run() ? 0.9 : 0.85) * finding.claim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(correct_mechanisms_pass_and_the_evidence_comes_near),
        cmocka_unit_test(a_small_epsilon_is_audited_too),
        cmocka_unit_test(groups_are_held_to_their_claims),
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
