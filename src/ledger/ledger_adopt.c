/*
 * ledger_adopt.c - a charge for what was released elsewhere: before there was a ledger, with
 * another program, in a ledger whose key is lost.
 *
 * It goes the way of every charge and is counted by the same filter.  What has been released
 * cannot be refused, though: where it is more than the cap leaves, all that is left is charged,
 * and nothing more is admitted.
 */
#include "ledger/ledger_internal.h"
#include <cloister/steward.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define ADOPTED "elsewhere"

static clo_status make_charge(const char *dataset, clo_loss spent, const char *relation,
                              const char *note, clo_i_charge *out, clo_error *err)
{
    *out = (clo_i_charge){ .dataset = dataset,
                           .mechanism = ADOPTED,
                           .relation = relation,
                           .loss = spent,
                           .user = "steward",
                           .host = "-",
                           .purpose = note,
                           .program = "cloister " CLO_VERSION };
    /* Without a delta it is some pure mechanism; with one, nothing is known of its rho. */
    const clo_event pure = { .kind = CLO_EVENT_PURE, .parameter = spent.epsilon, .count = 1 };
    if (spent.delta == 0 && spent.epsilon > 0 && isfinite(spent.epsilon))
        CLO_TRY(clo_i_events_rho(&pure, 1, &out->rho, &out->rho_delta, err));
    return CLO_OK;
}

/* All that is left. */
static clo_status fill(clo_ledger *ledger, clo_i_writing *w, const clo_i_charge *charge,
                       clo_error *err)
{
    const clo_i_account *const account = &w->account;
    clo_i_entry entry = { .cost = clo_i_account_rest(account), .attributed = true };
    clo_i_account after = *account;
    if (entry.cost.epsilon == 0) return CLO_OK;
    if (after.rule == CLO_RULE_OPEN && entry.cost.delta > 0) after.rule = CLO_RULE_BASIC;
    entry.asked = clo_i_cost_asked(&entry.cost);
    snprintf(entry.mechanism, sizeof entry.mechanism, "%s", charge->mechanism);
    snprintf(entry.relation, sizeof entry.relation, "%s",
             account->charges ? account->relation : charge->relation);
    snprintf(entry.user, sizeof entry.user, "steward");
    snprintf(entry.host, sizeof entry.host, "-");
    snprintf(entry.purpose, sizeof entry.purpose, "%s", charge->purpose);
    snprintf(entry.program, sizeof entry.program, "%s", charge->program);
    clo_i_account_add(&after, entry.relation, entry.asked, &entry.cost);
    CLO_TRY(clo_i_token_random(entry.token, err));
    CLO_TRY(clo_i_charge_insert(ledger, &entry, &after, &w->head, err));
    return clo_i_write_account(ledger, w, &after, err);
}

static clo_status fill_all(clo_ledger *ledger, const clo_i_charge *charge, clo_error *err)
{
    clo_i_writing w;
    CLO_TRY(clo_i_write_begin(ledger, charge->dataset, NULL, true, &w, err));
    clo_status status = CLO_OK;
    if (!w.found || !w.account.capped)
        status = clo_i_fail(err, CLO_ARGUMENT, "the ledger %s has no cap on a data set '%.120s'",
                            ledger->shown, charge->dataset);
    if (!status && w.group_count > 0)
        status = clo_i_fail(err, CLO_BUDGET,
                            "what was released elsewhere is more than is left of '%.100s' or of "
                            "its group: close them",
                            charge->dataset);
    if (!status) status = fill(ledger, &w, charge, err);
    return clo_i_write_end(ledger, &w, status, err);
}

clo_status clo_ledger_adopt(clo_ledger *ledger, const char *dataset, clo_loss spent,
                            const char *relation, const char *note, bool *all, clo_error *err)
{
    clo_i_charge charge;
    clo_i_receipt receipt;
    clo_error why;
    CLO_TRY(clo_i_ledger_check(ledger, true, err));
    if (!note || !note[0])
        return clo_i_fail(err, CLO_ARGUMENT,
                          "give a note that states what was released, and where");
    CLO_TRY(clo_i_ledger_check_text("note", note, err));
    CLO_TRY(make_charge(dataset, spent, relation, note, &charge, err));
    *all = false;
    const clo_status status = clo_i_ledger_charge(ledger, &charge, &receipt, &why);
    if (status != CLO_BUDGET) return status ? clo_i_fail(err, status, "%s", why.message) : CLO_OK;
    *all = true;
    return fill_all(ledger, &charge, err);
}
