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

/* The pairs that show nearly all of the claim are there to see noise that is 5 % low: they take all
 * of their runs. */
static bool is_sharp(const audited *row)
{
    return row->evidence.share >= 0.95;
}

static bool stands(const audited *row, clo_relation relation, double share)
{
    print_message("# %zu %s, %s\n", (size_t)(row - matrix), row->mechanism,
                  relation == CLO_REPLACE ? "replace" : "add-remove");
    const clo_audit_finding finding =
        audit_one(row, relation, row->at.epsilon, 1, CLO_FAULT_NONE, share);
    assert_false(finding.refuted);
    if (relation != row->evidence.relation) return true; /* how near is known of the other one */
    const double near = long_run() ? row->evidence.long_share : row->evidence.share;
    return finding.evidence >= finding.claim * near;
}

static void correct_mechanisms_pass_and_the_evidence_comes_near(void **state)
{
    (void)state;
    for (size_t i = 0; i < MATRIX; i++)
        for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++) {
            const audited *const row = &matrix[i];
            if (!row_asked_for(i) || !serves(row, (clo_relation)relation)) continue;
            const bool few = !long_run() && !is_sharp(row) && row->runs > 0.05;
            static const double shares[] = { 0.1, 0.3, 1 };
            bool shown = false;
            for (size_t j = few ? 0 : 2; j < 3 && !shown; j++)
                shown = stands(row, (clo_relation)relation, shares[j]);
            assert_true(shown);
        }
}

/* At epsilon 1 the worlds are closer, and the margin is a larger share. */
static void a_small_epsilon_is_audited_too(void **state)
{
    (void)state;
    const clo_audit_finding finding = audit_one(audited_pair("subspace/gaussian", "across"),
                                                CLO_REPLACE, 1, 1, CLO_FAULT_NONE, 1);
    assert_false(finding.refuted);
    assert_true(finding.evidence >= finding.claim * (long_run() ? 0.88 : 0.6));
}

static void groups_are_held_to_their_claims(void **state)
{
    (void)state;
    for (unsigned group = 2; group <= 4; group += 2) {
        const clo_audit_finding finding =
            audit_one(audited_pair("subspace/gaussian", "diagonal"), CLO_REPLACE, epsilon_of(0.5),
                      group, CLO_FAULT_NONE, 1);
        assert_false(finding.refuted);
        assert_true(finding.evidence > 0.9 * finding.claim);
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
