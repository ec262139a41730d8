/* ledger_charges.h - data sets of a test's ledger: declared, charged, what was spent on them. */
#ifndef CLO_TEST_LEDGER_CHARGES_H
#define CLO_TEST_LEDGER_CHARGES_H

#include "ledger_place.h"

/* Every charge is rehearsed first: that ends as the charge will, and leaves nothing behind. */
static inline clo_status charge_on(clo_ledger *ledger, const char *dataset, double epsilon,
                                   const char *along, clo_error *err)
{
    const clo_i_charge charge = { .dataset = dataset,
                                  .mechanism = "kmeans/lloyd",
                                  .relation = "replace",
                                  .loss = { epsilon, 0 },
                                  .rho = 100,
                                  .along = along };
    const uint64_t charges = charges_of(ledger);
    clo_i_receipt receipt;
    clo_error rehearsed;
    const clo_status expected = clo_i_ledger_rehearse(ledger, &charge, &rehearsed);
    assert_int_equal(charges_of(ledger), charges);
    const clo_status status = clo_i_ledger_charge(ledger, &charge, &receipt, err);
    assert_true((status == CLO_OK) == (expected == CLO_OK));
    if (status == CLO_BUDGET) assert_string_equal(rehearsed.message, err->message);
    return status;
}

static inline void declare(clo_ledger *ledger, const char *dataset, double epsilon)
{
    clo_error err;
    assert_ok(clo_ledger_declare(ledger, dataset, (clo_loss){ epsilon, 0 }, &err), err);
}

/* In units of 2^-48: as nobody rounds what is on the grid. */
static inline uint64_t spent_on(clo_ledger *ledger, const char *dataset)
{
    clo_i_account account;
    bool found = false;
    clo_error err;
    assert_ok(clo_i_ledger_find_account(ledger, dataset, &account, &found, &err), err);
    return found ? account.spent.epsilon : 0;
}

static const uint64_t QUARTER = UINT64_C(1) << 46;

#endif
