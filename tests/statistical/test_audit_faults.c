/*
 * The matrix of audits, its second half: every planted fault is caught by the pair that is made for
 * it (audit.T2).
 */
#include "audit_matrix.h"

#ifdef CLO_FAULT_INJECTION

static void catch_one(const audited *row, const caught *wanted, bool seen[CLO_FAULT_COUNT])
{
    print_message("# %s: %s\n", row->mechanism, clo_i_planted_name(wanted->fault));
    const clo_audit_finding finding =
        audit_one(row, wanted->relation, row->at.caught_at, 1, wanted->fault);
    assert_true(finding.refuted);
    seen[wanted->fault] = true;
}

static void every_planted_fault_is_caught(void **state)
{
    bool seen[CLO_FAULT_COUNT] = { false };
    (void)state;
    for (size_t i = 0; i < MATRIX; i++)
        for (const caught *c = matrix[i].faults; c->fault != CLO_FAULT_NONE; c++)
            catch_one(&matrix[i], c, seen);
    seen[CLO_FAULT_UNIT_FORGOTTEN] = true; /* below */
    for (int fault = CLO_FAULT_NONE + 1; fault < CLO_FAULT_COUNT; fault++) assert_true(seen[fault]);
}

/* Of an aggregate, the unit's rows say by how much the noise may follow the data: a matter of a few
 * hundredths of its scale, which no number of runs that there is time for would show. What its line
 * says of them, and what the noise makes of the line, is held by tests/unit/test_plan_sensitivity.c
 * and tests/unit/test_blocks.c. */
static bool is_too_faint(const audited *row)
{
    return strstr(row->mechanism, "/aggregate");
}

static void a_forgotten_unit_is_caught_in_every_mechanism(void **state)
{
    bool seen[CLO_FAULT_COUNT] = { false };
    size_t caught_ones = 0;
    (void)state;
    for (size_t i = 0; i < MATRIX; i++)
        for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++) {
            const caught forgotten = { CLO_FAULT_UNIT_FORGOTTEN, (clo_relation)relation };
            if (matrix[i].per_unit == 0 || is_too_faint(&matrix[i])) continue;
            catch_one(&matrix[i], &forgotten, seen);
            caught_ones++;
        }
    /* One mechanism refuses units, and two are faint. */
    assert_true(caught_ones >= 2 * (clo_mechanism_count() - 3));
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
