/*
 * The matrix of audits, its second half: every planted fault is caught by the pair that is made for
 * it (audit.T2).
 */
#include "audit_matrix.h"

#ifdef CLO_FAULT_INJECTION

/* The least share of the usual runs that could catch it: each stage before it would be for
 * nothing. */
static double first_share(clo_planted fault)
{
    switch (fault) {
    case CLO_FAULT_NOISE_TWENTIETH_LOW:
    case CLO_FAULT_PARTS_SHARED:
        return 1;
    case CLO_FAULT_NOISE_TENTH_LOW:
    case CLO_FAULT_FACTOR_TWO_MISSING:
    case CLO_FAULT_PRINTED_ARGMAX:
        return 0.3;
    default:
        return 0.02;
    }
}

/* In stages: what is no fault would be taken for one with four times the rate of an audit at
 * most. */
static void catch_one(const audited *row, const caught *wanted, bool seen[CLO_FAULT_COUNT])
{
    print_message("# %zu %s: %s\n", (size_t)(row - matrix), row->mechanism,
                  clo_i_planted_name(wanted->fault));
    static const double shares[] = { 0.02, 0.1, 0.3, 1 };
    bool refuted = false;
    uint64_t before = 0;
    for (size_t i = 0; i < 4 && !refuted; i++) {
        const uint64_t runs = runs_of(row, shares[i]);
        if (shares[i] < first_share(wanted->fault) || runs == before) continue;
        refuted =
            audit_one(row, wanted->relation, row->at.caught_at, 1, wanted->fault, runs).refuted;
        before = runs;
    }
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
