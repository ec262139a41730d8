/*
 * ledger_accounts.c - what was spent on each data set, by whom and what for: a part of a ledger's
 * page and of a release's.  Times, names and losses; a ledger holds no data.
 */
#include "report/page.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_CHARGES = 100, NAME_BYTES = 256, MOST_SETS = 40 };

/* What a page tells of a data set. */
typedef struct account {
    char dataset[NAME_BYTES], label[NAME_BYTES];
    bool capped, lowered, ended;
    clo_loss cap, spent, left, composed, limit;
    uint64_t charges;
    int64_t expires;
} account;

typedef struct charge {
    int64_t time;
    uint64_t sequence;
    char mechanism[64], relation[32], user[64], purpose[NAME_BYTES];
    clo_loss loss;
    double used; /* share of the cap after it, or the sum of epsilons where there is none */
    bool stored;
} charge;

/* Everything of one data set's charges that the page needs. */
typedef struct history {
    account *account;
    charge *charges;
    size_t count, room;
    double epsilon, delta, rho, base; /* running sums, and the epsilons before rhos were added */
    bool by_rho;
    clo_error *err;
    clo_status status;
} history;

typedef struct accounts {
    account all[MOST_SETS];
    size_t count, left_out;
} accounts;

static bool note_account(void *user, const clo_account *a)
{
    accounts *const to = user;
    if (to->count == MOST_SETS) {
        to->left_out++;
        return true;
    }
    account *const one = &to->all[to->count++];
    *one = (account){ .capped = a->capped,
                      .cap = a->cap,
                      .spent = a->spent,
                      .left = a->left,
                      .composed = a->composed,
                      .charges = a->charges,
                      .lowered = a->lowered,
                      .limit = a->limit,
                      .ended = a->ended,
                      .expires = a->expires };
    snprintf(one->dataset, sizeof one->dataset, "%s", a->dataset);
    clo_i_harmless(a->dataset, one->label, sizeof one->label);
    return true;
}

/* ---- how the cap filled ---------------------------------------------------------------------- */

/* As the ledger itself counts (ledger.T2, ledger.T3): epsilons and deltas are added; or, from the
 * charge on that fixed it, rhos, up to the capacity of what was left. */
static double used_after(history *h, const clo_charge *c)
{
    const account *const a = h->account;
    const double rho = ldexp((double)c->rho, -48);
    if (strcmp(c->rule, "zcdp") == 0 && !h->by_rho) {
        h->by_rho = true;
        h->base = h->epsilon;
        h->rho = 0;
    }
    h->epsilon += c->loss.epsilon;
    h->delta += c->loss.delta;
    h->rho += rho;
    if (!a->capped) return h->epsilon;
    if (!h->by_rho)
        return fmax(h->epsilon / a->cap.epsilon,
                    a->cap.delta > 0 ? h->delta / a->cap.delta : (h->delta > 0 ? INFINITY : 0));
    const double before = h->base / a->cap.epsilon;
    const double capacity = ldexp((double)c->capacity, -48);
    return before + (1 - before) * (capacity > 0 ? h->rho / capacity : 1);
}

static bool note_charge(void *user, const clo_charge *c)
{
    history *const h = user;
    if (h->count == h->room) {
        const size_t room = 2 * h->room + 16;
        h->status = clo_i_resize(&h->charges, h->room, room, sizeof *h->charges, h->err);
        if (h->status) return false;
        h->room = room;
    }
    charge *const one = &h->charges[h->count++];
    *one = (charge){ .time = c->time,
                     .sequence = c->sequence,
                     .loss = c->loss,
                     .used = used_after(h, c),
                     .stored = c->stored > 0 };
    clo_i_harmless(c->mechanism, one->mechanism, sizeof one->mechanism);
    clo_i_harmless(c->relation, one->relation, sizeof one->relation);
    clo_i_harmless(c->user, one->user, sizeof one->user);
    clo_i_harmless(c->purpose, one->purpose, sizeof one->purpose);
    return true;
}

/* ---- a data set ------------------------------------------------------------------------------ */

static clo_status draw_budget(clo_writer *w, const history *h, size_t number, clo_error *err)
{
    const account *const a = h->account;
    char name[40], text[200];
    const size_t count = h->count + 1; /* it begins at nothing */
    double *x = NULL;
    CLO_TRY(clo_i_alloc(2 * count, sizeof *x, &x, err));
    x[0] = (double)h->charges[0].time;
    for (size_t i = 1; i < count; i++) {
        x[i] = (double)h->charges[i - 1].time;
        x[count + i] = (a->capped ? 100 : 1) * h->charges[i - 1].used;
    }
    snprintf(name, sizeof name, "budget%zu", number);
    snprintf(text, sizeof text, "Each step is a charge; %s.",
             a->capped ? "the horizontal line is the cap" : "there is no cap");
    const clo_caption caption = { name, "The budget over time", text, false };
    const clo_line_of line = { .x = x, .y = x + count, .count = count };
    const clo_curves curves = { .lines = &line,
                                .count = 1,
                                .x_name = "time (UTC)",
                                .y_name = a->capped ? "used, in % of the cap" : "sum of epsilons",
                                .y_zero = true,
                                .dates = true,
                                .steps = true,
                                .limit = a->capped ? 100 : NAN,
                                .limit_name = "cap",
                                .here = NAN };
    const clo_status status = clo_i_draw_curves(w, &caption, &curves, err);
    clo_i_free(x);
    return status;
}

static void write_charge(clo_writer *w, const history *h, const charge *c)
{
    char text[128];
    snprintf(text, sizeof text, "%llu", (unsigned long long)c->sequence);
    clo_i_table_name(w, text);
    clo_i_table_text(w, clo_i_time(c->time).text);
    snprintf(text, sizeof text, "%s, %s", c->mechanism, c->relation);
    clo_i_table_text(w, text);
    snprintf(text, sizeof text, "%s, %s", clo_i_short(c->loss.epsilon, 6).text,
             clo_i_short(c->loss.delta, 3).text);
    clo_i_table_text(w, text);
    clo_i_table_text(w, c->stored ? "stored" : "none");
    snprintf(text, sizeof text, "%s %%", clo_i_short(100 * c->used, 3).text);
    if (h->account->capped) clo_i_table_text(w, text);
    clo_i_table_text(w, c->user[0] ? c->user : "-");
    clo_i_table_text(w, c->purpose[0] ? c->purpose : "-");
    clo_i_table_end_row(w);
}

static void write_charges(clo_writer *w, const history *h)
{
    static const char *const heads[] = { "no.",    "time (UTC)", "mechanism", "epsilon, delta",
                                         "result", "of the cap", "by",        "purpose" };
    static const char *const uncapped[] = { "no.",    "time (UTC)", "mechanism", "epsilon, delta",
                                            "result", "by",         "purpose" };
    char text[NAME_BYTES + 32];
    const size_t first = h->count > MOST_CHARGES ? h->count - MOST_CHARGES : 0;
    snprintf(text, sizeof text, "Charges to %s", h->account->label);
    clo_i_table_open_words(w, text);
    clo_i_table_heads(w, h->account->capped ? heads : uncapped, h->account->capped ? 8 : 7);
    for (size_t i = first; i < h->count; i++) write_charge(w, h, &h->charges[i]);
    clo_i_table_close(w);
    if (first > 0)
        clo_i_paragraph(w, "The last %d of %zu charges; 'cloister ledger history' lists all.",
                        (int)MOST_CHARGES, h->count);
}

static void write_sums(clo_writer *w, const account *a)
{
    clo_i_facts_open(w);
    if (a->capped)
        clo_i_fact(w, "cap (epsilon, delta)", "%s, %s", clo_i_short(a->cap.epsilon, 6).text,
                   clo_i_short(a->cap.delta, 3).text);
    else
        clo_i_fact(w, "cap", "none");
    if (a->lowered)
        clo_i_fact(w, "lowered by the steward to", "%s, %s", clo_i_short(a->limit.epsilon, 6).text,
                   clo_i_short(a->limit.delta, 3).text);
    if (isfinite(a->composed.epsilon))
        clo_i_fact(w, "spent, all charges together", "%s, %s",
                   clo_i_short(a->composed.epsilon, 4).text,
                   clo_i_short(a->composed.delta, 3).text);
    clo_i_fact(w, "sum of all epsilons and deltas", "%s, %s", clo_i_short(a->spent.epsilon, 4).text,
               clo_i_short(a->spent.delta, 3).text);
    if (a->capped)
        clo_i_fact(w, "left: what one more run could spend", "%s, %s",
                   clo_i_short(a->left.epsilon, 4).text, clo_i_short(a->left.delta, 3).text);
    clo_i_fact(w, "charges", "%llu", (unsigned long long)a->charges);
    if (a->ended)
        clo_i_fact(w, "closed", "no more charges");
    else if (a->expires)
        clo_i_fact(w, "expires (UTC)", "%s", clo_i_time(a->expires).text);
    clo_i_facts_close(w);
}

static clo_status write_account(clo_writer *w, clo_ledger *ledger, account *a, size_t number,
                                clo_error *err)
{
    history h = { .account = a, .err = err };
    clo_status status = clo_ledger_history(ledger, a->dataset, note_charge, &h, err);
    if (!status) status = h.status;
    if (!status) {
        clo_writer_text(w, "<h3>");
        clo_i_html_name(w, a->label);
        clo_writer_text(w, "</h3>\n");
        write_sums(w, a);
        if (h.count) {
            clo_writer_text(w, "<div class=\"chart\">");
            status = draw_budget(w, &h, number, err);
            clo_writer_text(w, "</div>\n");
            write_charges(w, &h);
        }
    }
    clo_i_free(h.charges);
    return status;
}

clo_status clo_i_say_budget(clo_writer *w, clo_ledger *ledger, const char *dataset, clo_error *err)
{
    accounts *all = NULL;
    CLO_TRY(clo_i_alloc(1, sizeof *all, &all, err));
    clo_status status = clo_ledger_accounts(ledger, dataset, note_account, all, err);
    if (!status) {
        clo_i_section_open(w, "What was spent, and what is left");
        clo_i_paragraph(w, "Losses are written epsilon, delta. Many small charges together cost "
                           "less than the sum of their epsilons, because the worst cases of "
                           "independent runs rarely coincide. The cap holds for what they cost "
                           "together. A charge is made before the first query, so a run that "
                           "failed later also counts. With Gaussian noise, twice the epsilon "
                           "takes about four times the share of a cap.");
        if (all->count == 0) clo_i_paragraph(w, "The ledger has no data set yet.");
    }
    for (size_t i = 0; i < all->count && !status; i++)
        status = write_account(w, ledger, &all->all[i], i, err);
    if (!status) {
        if (all->left_out)
            clo_i_paragraph(w, "There are %zu more data sets: 'cloister ledger show' lists them.",
                            all->left_out);
        clo_i_section_close(w);
    }
    clo_i_free(all);
    return status;
}
