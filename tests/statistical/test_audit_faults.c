/*
 * The matrix of audits, its second half: every planted fault is caught by the pair that is made for
 * it (audit.T2).
 */
#include "audit_matrix.h"

#ifdef CLO_FAULT_INJECTION

static void catch_one(const audited *row, const caught *wanted, bool seen[CLO_FAULT_COUNT])
{
    print_message("# %zu %s: %s\n", (size_t)(row - matrix), row->mechanism,
                  clo_i_planted_name(wanted->fault));
    static const double shares[] = { 0.1, 0.3, 1 };
    bool refuted = false;
    for (size_t i = 0; i < 3 && !refuted; i++)
        refuted = audit_one(row, wanted->relation, row->at.caught_at, 1, wanted->fault, shares[i])
                      .refuted;
    assert_true(refuted);
    seen[wanted->fault] = true;
}

static void every_planted_fault_is_caught(void **state)
{
    bool seen[CLO_FAULT_COUNT] = { false };
    (void)state;
    for (size_t i = 0; i < MATRIX; i++)
        for (const caught *c = matrix[i].faults; c->fault != CLO_FAULT_NONE; c++)
            if (row_asked_for(i)) catch_one(&matrix[i], c, seen);
    if (getenv("AUDIT_ROWS")) return;
    for (int fault = CLO_FAULT_NONE + 1; fault < CLO_FAULT_COUNT; fault++) assert_true(seen[fault]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_planted_fault_is_caught),
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
