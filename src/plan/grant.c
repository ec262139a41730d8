/* grant.c - from plan to grant: the ledger is charged first, durably (ledger.T7). */
#include "plan/mechanism.h"
#include <cloister/ledger.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static clo_status new_grant(const clo_plan *plan, clo_grant **out, clo_error *err)
{
    clo_grant *grant = NULL;
    CLO_TRY(clo_i_alloc(1, sizeof *grant, &grant, err));
    memcpy(grant->plan_id, plan->id, sizeof grant->plan_id);
    *out = grant;
    return CLO_OK;
}

clo_status clo_grant_unmetered(const clo_plan *plan, clo_grant **out, clo_error *err)
{
    return new_grant(plan, out, err);
}

void clo_grant_free(clo_grant *grant)
{
    clo_i_free(grant);
}

/* The name of the user that this process is, or their number. */
static void name_user(char out[CLO_TOKEN_ROOM])
{
    char room[4096];
    struct passwd entry, *found = NULL;
    const uid_t user = geteuid();
    if (getpwuid_r(user, &entry, room, sizeof room, &found) == 0 && found && found->pw_name[0])
        snprintf(out, CLO_TOKEN_ROOM, "%s", found->pw_name);
    else
        snprintf(out, CLO_TOKEN_ROOM, "%lu", (unsigned long)user);
}

static void name_host(char out[CLO_TOKEN_ROOM])
{
    if (gethostname(out, CLO_TOKEN_ROOM) != 0 || !out[0]) snprintf(out, CLO_TOKEN_ROOM, "unknown");
    out[CLO_TOKEN_ROOM - 1] = 0;
}

/* The texts of a charge that its spending does not have. */
typedef struct wording {
    char user[CLO_TOKEN_ROOM], host[CLO_TOKEN_ROOM];
    char name[128], relation[256];
} wording;

static clo_status make_charge(const clo_spending *spending, wording *words, clo_i_charge *out,
                              clo_error *err)
{
    const clo_plan *const plan = spending->plan;
    clo_event events[CLO_MAX_LINES];
    const clo_guarantee guarantee = clo_plan_guarantee(plan);
    /* Whoever reads the books must see which of the losses hold in a weaker sense. */
    snprintf(words->name, sizeof words->name, guarantee == CLO_EXACT ? "%s/%s" : "%s/%s (%s)",
             plan->mechanism->family, plan->mechanism->method, clo_guarantee_name(guarantee));
    /* Losses per row and per person, or of persons by different columns, do not add up: the ledger
     * tells them apart by this text. */
    snprintf(words->relation, sizeof words->relation, "%s%s%s",
             clo_relation_name(plan->domain.relation), plan->domain.unit ? " per " : "",
             plan->domain.unit ? plan->domain.unit : "");
    name_user(words->user);
    name_host(words->host);
    *out = (clo_i_charge){ .dataset = spending->dataset,
                           .mechanism = words->name,
                           .relation = words->relation,
                           .loss = plan->budget,
                           .price = plan->price.loss,
                           .token = spending->token,
                           .plan = plan->id,
                           .content = spending->content,
                           .user = spending->user ? spending->user : words->user,
                           .host = words->host,
                           .purpose = spending->purpose,
                           .along = spending->along,
                           .go_on = spending->go_on,
                           .go_on_user = spending->go_on_user,
                           .release_bytes = spending->release_bytes,
                           .program = "cloister " CLO_VERSION };
    clo_i_charge charge = *out;
    for (size_t i = 0; i < plan->line_count; i++) events[i] = plan->lines[i].event;
    CLO_TRY(clo_i_events_rho(events, plan->line_count, &charge.rho, &charge.rho_delta, err));
    *out = charge;
    return CLO_OK;
}

static clo_status spend(clo_ledger *ledger, const clo_spending *spending, clo_grant **out,
                        clo_error *err)
{
    wording words;
    clo_i_charge charge;
    clo_grant *grant = NULL;
    CLO_TRY(make_charge(spending, &words, &charge, err));
    /* All that can fail for another reason comes first: what is charged is granted. */
    CLO_TRY(new_grant(spending->plan, &grant, err));
    const clo_status status = clo_i_ledger_charge(ledger, &charge, &grant->receipt, err);
    if (status) {
        clo_grant_free(grant);
        return status;
    }
    grant->metered = true;
    grant->capped = grant->receipt.capped;
    *out = grant;
    return CLO_OK;
}

clo_status clo_ledger_rehearse(clo_ledger *ledger, const clo_spending *given, clo_error *err)
{
    clo_spending spending = clo_spending_default();
    wording words;
    clo_i_charge charge;
    CLO_TRY(clo_i_take_options("clo_spending", given, &spending, sizeof spending, err));
    if (!spending.plan) return clo_i_fail(err, CLO_ARGUMENT, "a spend needs a plan");
    CLO_TRY(make_charge(&spending, &words, &charge, err));
    return clo_i_ledger_rehearse(ledger, &charge, err);
}

const char *clo_grant_token(const clo_grant *grant)
{
    return grant->metered ? grant->receipt.token : NULL;
}

clo_status clo_grant_certificate(const clo_grant *grant, clo_certificate *out, clo_error *err)
{
    if (!grant->metered)
        return clo_i_fail(err, CLO_ARGUMENT, "a run without a ledger cannot be certified");
    const clo_i_receipt *const receipt = &grant->receipt;
    const clo_certificate certificate = { .struct_size = sizeof certificate,
                                          .ledger = receipt->ledger,
                                          .charge = receipt->sequence,
                                          .dataset = receipt->dataset,
                                          .time = receipt->time,
                                          .program = "cloister " CLO_VERSION,
                                          .values = "",
                                          .public_key = "",
                                          .signature = "" };
    CLO_TRY(clo_i_check_result("clo_certificate", out, err));
    clo_i_give_result(out, &certificate, sizeof certificate);
    return CLO_OK;
}

void clo_spending_init(clo_spending *spending, size_t size)
{
    static const clo_spending presets = { .struct_size = sizeof presets };
    clo_i_give_presets(spending, size, &presets, sizeof presets);
}

clo_status clo_ledger_spend_for(clo_ledger *ledger, const clo_spending *given, clo_grant **out,
                                clo_error *err)
{
    clo_spending spending = clo_spending_default();
    CLO_TRY(clo_i_take_options("clo_spending", given, &spending, sizeof spending, err));
    if (!spending.plan) return clo_i_fail(err, CLO_ARGUMENT, "a spend needs a plan");
    return spend(ledger, &spending, out, err);
}

clo_status clo_ledger_spend_content(clo_ledger *ledger, const char *dataset, const clo_plan *plan,
                                    const char *token, const uint8_t *content, clo_grant **out,
                                    clo_error *err)
{
    const clo_spending spending = {
        .dataset = dataset, .plan = plan, .token = token, .content = content
    };
    return spend(ledger, &spending, out, err);
}

clo_status clo_ledger_spend(clo_ledger *ledger, const char *dataset, const clo_plan *plan,
                            clo_grant **out, clo_error *err)
{
    return clo_ledger_spend_content(ledger, dataset, plan, NULL, NULL, out, err);
}

clo_status clo_ledger_spend_token(clo_ledger *ledger, const char *dataset, const clo_plan *plan,
                                  const char *token, clo_grant **out, clo_error *err)
{
    /* "" is refused */
    return clo_ledger_spend_content(ledger, dataset, plan, token ? token : "", NULL, out, err);
}

clo_status clo_ledger_store(clo_ledger *ledger, const clo_grant *grant, const void *bytes,
                            size_t length, clo_error *err)
{
    if (!grant->metered)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a result can only be stored in the ledger that was charged for it");
    return clo_i_ledger_store(ledger, &grant->receipt, bytes, length, err);
}

clo_status clo_ledger_fetch(clo_ledger *ledger, const char *dataset, const clo_plan *plan,
                            const char *token, char **bytes, size_t *length, clo_error *err)
{
    return clo_i_ledger_fetch(ledger, dataset, plan->id, token, NULL, bytes, length, err);
}

clo_status clo_ledger_fetch_for(clo_ledger *ledger, const clo_spending *given, char **bytes,
                                size_t *length, clo_error *err)
{
    clo_spending spending = clo_spending_default();
    CLO_TRY(clo_i_take_options("clo_spending", given, &spending, sizeof spending, err));
    if (!spending.plan) return clo_i_fail(err, CLO_ARGUMENT, "a spend needs a plan");
    return clo_i_ledger_fetch(ledger, spending.dataset, spending.plan->id, spending.token,
                              spending.content, bytes, length, err);
}

void clo_ledger_bytes_free(char *bytes)
{
    clo_i_free(bytes);
}
