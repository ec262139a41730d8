/* ledger_steward.c - cloister ledger: what its steward does beside declaring caps. */
#include "ledger_verbs.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef cli_ledger_request request;

static clo_status need(const request *r, const char *option, const char *why, cli_error *err)
{
    const char *const value = cli_value(r->args, option);
    if (value && value[0]) return CLO_OK;
    return cli_fail(err, CLO_ARGUMENT, "give --%s: %s", option, why);
}

/* What every act on one data set wants. */
static clo_status open_for_act(request *r, cli_error *err)
{
    clo_status status = need(r, "dataset", "which data set", err);
    if (status == CLO_OK) status = need(r, "note", "the reason, which the ledger keeps", err);
    if (status == CLO_OK) status = clo_ledger_open(r->path, &r->ledger, &err->error);
    return status;
}

/* ---- the books ------------------------------------------------------------------ */

bool cli_ledger_put_act(void *user, const clo_act *act)
{
    clo_writer *const json = user;
    clo_json_open(json, NULL, '{');
    clo_json_count(json, "sequence", act->sequence);
    clo_json_count(json, "after_charge", act->after);
    clo_json_text(json, "time", cli_time(act->time).text);
    clo_json_text(json, "kind", act->kind);
    clo_json_text(json, "dataset", act->dataset[0] ? act->dataset : NULL);
    clo_json_text(json, "value", act->value[0] ? act->value : NULL);
    clo_json_text(json, "note", act->note[0] ? act->note : NULL);
    clo_json_close(json, '}');
    return true;
}

static bool act_row(void *user, const clo_act *act)
{
    request *const r = user;
    const bool expires = strcmp(act->kind, "expire") == 0;
    if (r->seen++ == 0)
        cli_print("%6s  %-20s  %-7s  %-16s  %s\n", "number", "time", "act", "data set",
                  "what, and why");
    cli_print("%6llu  %-20s  %-7s  %-16s  %.64s%s%s\n", (unsigned long long)act->sequence,
              cli_time(act->time).text, act->kind, act->dataset[0] ? act->dataset : "-",
              expires ? cli_time(strtoll(act->value, NULL, 10)).text : act->value,
              act->note[0] ? ": " : "", act->note);
    return true;
}

clo_status cli_ledger_acts(request *r, cli_error *err)
{
    clo_status status = clo_ledger_open_existing(r->path, &r->ledger, &err->error);
    if (status != CLO_OK) return status;
    if (!cli_given(r->args, "json")) {
        status = clo_ledger_acts(r->ledger, act_row, r, &err->error);
        if (status == CLO_OK && r->seen == 0) cli_print("%s: no acts yet\n", r->path);
        return status;
    }
    r->json = cli_json_begin(stdout);
    clo_json_text(&r->json, "schema", "cloister.ledger-acts/1");
    clo_json_text(&r->json, "ledger", r->path);
    clo_json_open(&r->json, "acts", '[');
    status = clo_ledger_acts(r->ledger, cli_ledger_put_act, &r->json, &err->error);
    clo_json_close(&r->json, ']');
    cli_json_end(&r->json);
    return status;
}

/* ---- narrower ------------------------------------------------------------------- */

static bool take_account(void *user, const clo_account *account)
{
    *(clo_account *)user = *account;
    return false;
}

clo_status cli_ledger_lower(request *r, cli_error *err)
{
    clo_account account = { 0 };
    clo_loss cap;
    clo_status status = open_for_act(r, err);
    if (status == CLO_OK) status = need(r, "epsilon", "the lower cap", err);
    if (status == CLO_OK) status = cli_budget(r->args, &cap, err);
    if (status == CLO_OK)
        status = clo_ledger_accounts(r->ledger, r->dataset, take_account, &account, &err->error);
    if (status != CLO_OK) return status;
    if (cap.delta < 0) cap.delta = account.lowered ? account.limit.delta : account.cap.delta;
    status = clo_ledger_lower(r->ledger, r->dataset, cap, cli_value(r->args, "note"), &err->error);
    if (status == CLO_OK)
        cli_print(
            "'%s' in %s: from now on at most epsilon %s, delta %s, including what was spent\n",
            r->dataset, r->path, cli_number(cap.epsilon).text, cli_number(cap.delta).text);
    return status;
}

clo_status cli_ledger_close(request *r, cli_error *err)
{
    clo_status status = open_for_act(r, err);
    if (status == CLO_OK)
        status = clo_ledger_end(r->ledger, r->dataset, cli_value(r->args, "note"), &err->error);
    if (status == CLO_OK)
        cli_print("'%s' in %s is closed: no more charges on it\n", r->dataset, r->path);
    return status;
}

/* A day, and nothing else, in UTC. */
static clo_status parse_day(const char *text, int64_t *out, cli_error *err)
{
    struct tm day = { 0 };
    char again[16];
    const char *const end = strptime(text, "%Y-%m-%d", &day);
    const time_t seconds = timegm(&day);
    strftime(again, sizeof again, "%Y-%m-%d", &day);
    if (!end || *end || strcmp(again, text) != 0 || seconds <= 0)
        return cli_fail(err, CLO_ARGUMENT, "--on must be a day as 2027-01-31, not '%.40s'", text);
    *out = seconds;
    return CLO_OK;
}

clo_status cli_ledger_expire(request *r, cli_error *err)
{
    int64_t day = 0;
    clo_status status = open_for_act(r, err);
    if (status == CLO_OK) status = need(r, "on", "the first day without charges", err);
    if (status == CLO_OK) status = parse_day(cli_value(r->args, "on"), &day, err);
    if (status == CLO_OK)
        status =
            clo_ledger_expire(r->ledger, r->dataset, day, cli_value(r->args, "note"), &err->error);
    if (status == CLO_OK)
        cli_print("'%s' in %s: nothing is charged on it from %s on\n", r->dataset, r->path,
                  cli_time(day).text);
    return status;
}

clo_status cli_ledger_join(request *r, cli_error *err)
{
    clo_status status = open_for_act(r, err);
    if (status == CLO_OK) status = need(r, "in", "the declared name that is charged along", err);
    if (status == CLO_OK)
        status = clo_ledger_join(r->ledger, r->dataset, cli_value(r->args, "in"),
                                 cli_value(r->args, "note"), &err->error);
    if (status == CLO_OK)
        cli_print("'%s' in %s: every charge on it is also charged to '%s'\n", r->dataset, r->path,
                  cli_value(r->args, "in"));
    return status;
}

clo_status cli_ledger_adopt(request *r, cli_error *err)
{
    const char *const relation = cli_value(r->args, "relation");
    clo_loss spent;
    bool all = false;
    clo_status status = open_for_act(r, err);
    if (status == CLO_OK) status = need(r, "epsilon", "what was spent", err);
    if (status == CLO_OK) status = cli_budget(r->args, &spent, err);
    if (status != CLO_OK) return status;
    if (spent.delta < 0) spent.delta = 0;
    status = clo_ledger_adopt(r->ledger, r->dataset, spent, relation ? relation : "replace",
                              cli_value(r->args, "note"), &all, &err->error);
    if (status != CLO_OK) return status;
    if (all)
        cli_print("'%s' in %s: this is more than was left, so all that was left is charged\n",
                  r->dataset, r->path);
    else
        cli_print("'%s' in %s: epsilon %s, delta %s charged for what was released elsewhere\n",
                  r->dataset, r->path, cli_number(spent.epsilon).text,
                  cli_number(spent.delta).text);
    return CLO_OK;
}

/* ---- copies, places, keys ---------------------------------------------------------- */

clo_status cli_ledger_backup(request *r, cli_error *err)
{
    const char *const output = cli_value(r->args, "output");
    clo_status status = need(r, "output", "the file for the copy", err);
    if (status == CLO_OK) status = clo_ledger_open_existing(r->path, &r->ledger, &err->error);
    if (status == CLO_OK) status = clo_ledger_backup(r->ledger, output, &err->error);
    if (status == CLO_OK)
        cli_print("%s: a complete copy of %s, and every hash is correct\n", output, r->path);
    return status;
}

static bool say_restored(void *user, const clo_restored *restored)
{
    request *const r = user;
    char loss[96];
    snprintf(loss, sizeof loss, "epsilon %s, delta %s",
             cli_rounded(restored->charged.epsilon, 6).text,
             cli_rounded(restored->charged.delta, 6).text);
    r->seen++;
    switch (restored->source) {
    case CLO_LOST_NOTHING:
        cli_print("'%s': nothing was lost\n", restored->dataset);
        break;
    case CLO_LOST_KNOWN:
        cli_print("'%s': %s charged, which was spent since the backup, as the anchor records\n",
                  restored->dataset, loss);
        break;
    case CLO_LOST_STATED:
        cli_print("'%s': %s charged, on your word\n", restored->dataset, loss);
        break;
    case CLO_LOST_ALL:
        cli_print("'%s': nobody knows what was spent since the backup, so all that was left is "
                  "charged\n",
                  restored->dataset);
        break;
    }
    return true;
}

clo_status cli_ledger_restore(request *r, cli_error *err)
{
    clo_restoration restoration = clo_restoration_default();
    clo_status status = need(r, "note", "the reason, which the ledger keeps", err);
    if (status != CLO_OK) return status;
    restoration.ledger = r->path;
    restoration.backup = cli_value(r->args, "from");
    restoration.note = cli_value(r->args, "note");
    restoration.lost = cli_value(r->args, "lost");
    restoration.rehearsal = cli_given(r->args, "dry-run");
    status = clo_ledger_restore(&restoration, say_restored, r, &err->error);
    if (status == CLO_OK)
        cli_print(restoration.rehearsal ? "%s: nothing was changed\n" : "%s is restored\n",
                  r->path);
    return status;
}

static clo_status say_code(cli_error *err)
{
    char code[CLO_MOVE_CODE + 1];
    const clo_status status = clo_ledger_move_code(code, &err->error);
    if (status == CLO_OK) cli_print("%s\n", code);
    return status;
}

static clo_status move_away(const request *r, const char *folder, cli_error *err)
{
    clo_status status = need(
        r, "for", "the code that 'cloister ledger move --code' prints on the new machine", err);
    if (status == CLO_OK)
        status = clo_ledger_send(r->path, folder, cli_value(r->args, "for"), &err->error);
    if (status == CLO_OK)
        cli_print("%s is in %s, for the machine that made the code; the file here takes no more "
                  "charges\n",
                  r->path, folder);
    return status;
}

clo_status cli_ledger_move(request *r, cli_error *err)
{
    const char *const to = cli_value(r->args, "to"), *const away = cli_value(r->args, "away"),
                      *const from = cli_value(r->args, "from");
    const bool code = cli_given(r->args, "code");
    clo_status status = CLO_OK;
    if (!!to + !!away + !!from + code != 1)
        return cli_fail(err, CLO_ARGUMENT,
                        "give one of --to, --code, --away and --from: "
                        "'cloister ledger move --help' explains them");
    if (cli_given(r->args, "for") && !away)
        return cli_fail(err, CLO_ARGUMENT,
                        "--for belongs to --away, on the machine that has the "
                        "ledger now");
    if (code) return say_code(err);
    if (away) return move_away(r, away, err);
    if (to) status = clo_ledger_move(r->path, to, &err->error);
    if (from) status = clo_ledger_receive(from, r->path, &err->error);
    if (status != CLO_OK) return status;
    if (to) cli_print("%s is at %s now\n", r->path, to);
    if (from) cli_print("%s is here; remove %s\n", r->path, from);
    return CLO_OK;
}

clo_status cli_ledger_rekey(request *r, cli_error *err)
{
    clo_status status = need(r, "note", "the reason, which the ledger keeps", err);
    if (status == CLO_OK)
        status = clo_ledger_rekey(r->path, cli_value(r->args, "note"), &err->error);
    if (status == CLO_OK)
        cli_print(
            "%s has a new key; give the new public key ('cloister ledger key') to everyone who "
            "checks releases\n",
            r->path);
    return status;
}
