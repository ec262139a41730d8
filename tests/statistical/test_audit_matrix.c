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

static void correct_mechanisms_pass_and_the_evidence_comes_near(void **state)
{
    (void)state;
    for (size_t i = 0; i < MATRIX; i++)
        for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++) {
            const audited *const row = &matrix[i];
            if (!serves(row, (clo_relation)relation)) continue;
            const clo_audit_finding finding =
                audit_one(row, (clo_relation)relation, row->at.epsilon, 1, CLO_FAULT_NONE);
            assert_false(finding.refuted);
            assert_true(finding.evidence >= finding.claim * (long_run() ? row->evidence.long_share
                                                                        : row->evidence.share));
        }
}

static void every_pair_with_units_is_among_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < MATRIX; i++)
        assert_true(matrix[i].per_unit == 0 || matrix[i].evidence.expected);
}

/* At epsilon 1 the worlds are closer, and the margin is a larger share. */
static void a_small_epsilon_is_audited_too(void **state)
{
    (void)state;
    const clo_audit_finding finding =
        audit_one(audited_pair("subspace/gaussian", "across"), CLO_REPLACE, 1, 1, CLO_FAULT_NONE);
    assert_false(finding.refuted);
    assert_true(finding.evidence >= finding.claim * (long_run() ? 0.88 : 0.7));
}

static void groups_are_held_to_their_claims(void **state)
{
    (void)state;
    for (unsigned group = 2; group <= 4; group += 2) {
        const clo_audit_finding finding =
            audit_one(audited_pair("subspace/gaussian", "diagonal"), CLO_REPLACE, epsilon_of(0.5),
                      group, CLO_FAULT_NONE);
        assert_false(finding.refuted);
        assert_true(finding.evidence > 0.9 * finding.claim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(correct_mechanisms_pass_and_the_evidence_comes_near),
        cmocka_unit_test(every_pair_with_units_is_among_them),
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
