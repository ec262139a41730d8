/* cmd_ledger.c - cloister ledger: what was spent on each data set, and what is left. */
#include "ledger_verbs.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const cli_option rows[] = {
    CLI_OPTION("dataset", 0, "NAME",
               "init, lower, close, expire, group, adopt: the name of the data set; show, history, "
               "report: only this data set"),
    CLI_OPTION(
        "epsilon", 0, "E",
        "init: the most that may ever be spent; lower: the new, smaller cap; adopt: what was "
        "spent elsewhere"),
    CLI_OPTION(
        "delta", 0, "D",
        "init: the delta of the cap, by default 1e-6; lower: the new delta, by default unchanged; "
        "adopt: the delta that was spent elsewhere, by default 0"),
    CLI_OPTION("open", 0, NULL,
               "init: make an open ledger, which also charges data sets that nobody declared"),
    CLI_OPTION("data", 0, "FILE",
               "init: the file of this data set, so that cloister notices it under another name"),
    CLI_OPTION("folder", 0, "FOLDER", "init: the same, for all files in this folder"),
    CLI_CHOICE("rule", "R", "basic|zcdp", NULL,
               "init: how charges with a delta add up.  basic adds epsilons and deltas.  zcdp is "
               "cheaper for many runs, but excludes the methods aggregate, approx, boosted and "
               "exact.  By default the first such charge decides"),
    CLI_OPTION(
        "new", 0, NULL,
        "init: allow a second cap on data that have a cap under another name, or in a ledger "
        "that was here and was moved"),
    CLI_OPTION("note", 0, "TEXT", "the reason, which the ledger keeps"),
    CLI_OPTION("relation", 0, "R",
               "adopt: 'replace' or 'add-remove per person', as 'history' shows it, by default "
               "replace"),
    CLI_OPTION("on", 0, "DAY", "expire: the first day without charges, 2027-01-31, in UTC"),
    CLI_OPTION("in", 0, "GROUP", "group: the declared name that is also charged"),
    CLI_OPTION("from", 0, "COPY",
               "restore: the backup; move: the folder that the other machine made"),
    CLI_OPTION("to", 0, "FILE", "move: the new place on this machine"),
    CLI_OPTION("code", 0, NULL, "move: make a one-time code for a move to this machine"),
    CLI_OPTION("away", 0, "FOLDER",
               "move: a new folder for another machine, with the ledger, its key and its anchor"),
    CLI_OPTION("for", 0, "CODE", "move: the code of the machine that will have the ledger"),
    CLI_OPTION("lost", 0, "NAME=E:D,...",
               "restore: what was spent since the backup, if you know it"),
    CLI_OPTION("dry-run", 0, NULL, "restore: show what would be charged, and change nothing"),
    CLI_OPTION("token", 0, "T", "fetch: the token of the run"),
    CLI_OPTION("output", 'o', "FILE",
               "fetch, report, backup: write to this file, whole or not at all"),
    CLI_OPTION("key", 0, "KEY", "check: the public key, or a file with it, instead of the ledger"),
    CLI_OPTION("pem", 0, NULL, "key: write it as PEM, for OpenSSL"),
    CLI_OPTION("csv", 0, NULL, "history: write CSV, one line per charge"),
    CLI_OPTION("json", 0, NULL, "write JSON"),
    CLI_ROWS_END,
};
static const cli_group ledger_group = { "Options", NULL, rows };

typedef cli_ledger_request request;

/* ---- init ------------------------------------------------------------------ */

/* A folder's whole path, as a run will have it of its file. */
static clo_status find_folder(const char *name, char path[PATH_MAX], cli_error *err)
{
    struct stat facts;
    if (realpath(name, path) && stat(path, &facts) == 0 && S_ISDIR(facts.st_mode)) return CLO_OK;
    return cli_fail(err, CLO_ARGUMENT, "--folder %.200s is not a folder", name);
}

static clo_status declare(request *r, clo_loss cap, cli_error *err)
{
    const char *const file = cli_value(r->args, "data"), *const folder =
                                                             cli_value(r->args, "folder");
    const unsigned manner = (cli_given(r->args, "open") ? CLO_LEDGER_OPEN : CLO_LEDGER_CLOSED) |
                            (unsigned)(cli_given(r->args, "new") ? CLO_LEDGER_SECOND : 0);
    uint8_t digest[CLO_DIGEST_BYTES];
    char path[PATH_MAX];
    clo_status status = CLO_OK;
    const bool new = access(r->path, F_OK) != 0;
    if (file) status = clo_file_digest(file, digest, &err->error);
    if (status == CLO_OK && folder) status = find_folder(folder, path, err);
    if (status == CLO_OK)
        status = clo_ledger_create(r->path, (clo_ledger_manner)manner, &r->ledger, &err->error);
    if (status == CLO_OK)
        status =
            clo_ledger_declare_data(r->ledger, r->dataset, cap, file ? digest : NULL,
                                    folder ? path : NULL, cli_given(r->args, "new"), &err->error);
    /* A failed init leaves nothing. */
    if (status != CLO_OK && new && r->ledger && clo_ledger_discard(r->ledger, NULL) == CLO_OK)
        r->ledger = NULL;
    return status;
}

static clo_status init(request *r, cli_error *err)
{
    clo_ledger_facts facts = { .struct_size = sizeof facts };
    clo_loss cap;
    clo_status status;
    if (!r->dataset || !r->dataset[0])
        return cli_fail(err, CLO_ARGUMENT, "give --dataset NAME: the data that the cap is for");
    if (strchr(r->dataset, '@'))
        return cli_fail(err, CLO_ARGUMENT,
                        "'%.100s' has an '@', and such names are the accounts of a broker's "
                        "analysts: choose a name without it",
                        r->dataset);
    if (!cli_given(r->args, "epsilon"))
        return cli_fail(err, CLO_ARGUMENT,
                        "give --epsilon E: the most that may ever be spent on '%s'", r->dataset);
    if ((status = cli_budget(r->args, &cap, err)) != CLO_OK) return status;
    if (cap.delta < 0) cap.delta = clo_default_delta(0);
    if ((status = declare(r, cap, err)) != CLO_OK) return status;
    const char *const rule = cli_value(r->args, "rule");
    if (rule)
        status =
            clo_ledger_choose_rule(r->ledger, r->dataset, rule, "at its declaration", &err->error);
    if (status == CLO_OK) status = clo_ledger_describe(r->ledger, &facts, &err->error);
    if (status != CLO_OK) return status;
    if (cli_given(r->args, "json")) {
        clo_writer json = cli_json_begin(stdout);
        clo_json_text(&json, "schema", "cloister.ledger-init/1");
        clo_json_text(&json, "ledger", r->path);
        clo_json_text(&json, "dataset", r->dataset);
        cli_json_loss(&json, "cap", cap);
        clo_json_bool(&json, "closed", facts.closed);
        cli_json_end(&json);
        return CLO_OK;
    }
    if (facts.declarations == 1)
        cli_print("%s is %s\n", r->path,
                  facts.closed ? "closed: it refuses runs on data sets that are not declared in it"
                               : "open: it also charges data sets that are not declared, without a "
                                 "cap");
    cli_print("'%s' in %s: at most epsilon %s, delta %s may ever be spent on it\n", r->dataset,
              r->path, cli_number(cap.epsilon).text, cli_number(cap.delta).text);
    if (rule)
        cli_print("charges with a delta: %s\n", strcmp(rule, "zcdp") == 0
                                                    ? "they add up by zCDP"
                                                    : "their epsilons and deltas are added");
    return CLO_OK;
}

/* ---- show ------------------------------------------------------------------ */

static void loss_text(clo_loss loss, char *text, size_t size)
{
    snprintf(text, size, "(%s, %s)", cli_rounded(loss.epsilon, 4).text,
             cli_rounded(loss.delta, 3).text);
}

static bool show_row(void *user, const clo_account *account)
{
    request *const r = user;
    char cap[96] = "none", left[96] = "-", spent[96];
    const bool composes = isfinite(account->composed.epsilon);
    loss_text(composes ? account->composed : account->spent, spent, sizeof spent);
    if (account->capped) {
        loss_text(account->cap, cap, sizeof cap);
        loss_text(account->left, left, sizeof left);
    }
    if (r->seen++ == 0)
        cli_print("%-*s  %-14s  %-16s  %-16s  %7s  %s\n", r->name_width, "data set", "cap", "spent",
                  "left", "charges", "last charge");
    cli_print("%-*s  %-14s  %-16s  %-16s  %7llu  %s\n", r->name_width, account->dataset, cap, spent,
              left, (unsigned long long)account->charges, cli_time(account->last_charge).text);
    r->composes = r->composes || account->composed.epsilon < 0.999 * account->spent.epsilon;
    r->zcdp = r->zcdp || (account->capped && strcmp(account->rule, "zcdp") == 0);
    if (account->lowered) {
        loss_text(account->limit, cap, sizeof cap);
        cli_print("%-*s  lowered to %s\n", r->name_width, "", cap);
    }
    if (account->expires)
        cli_print("%-*s  expires %s\n", r->name_width, "", cli_time(account->expires).text);
    if (account->ended) cli_print("%-*s  closed\n", r->name_width, "");
    return true;
}

static bool show_object(void *user, const clo_account *account)
{
    request *const r = user;
    clo_writer *const json = &r->json;
    clo_json_open(json, NULL, '{');
    clo_json_text(json, "dataset", account->dataset);
    if (account->capped)
        cli_json_loss(json, "cap", account->cap);
    else
        clo_json_text(json, "cap", NULL);
    if (isfinite(account->composed.epsilon))
        cli_json_loss(json, "composed", account->composed);
    else
        clo_json_text(json, "composed", NULL);
    cli_json_loss(json, "plain_sum", account->spent);
    if (account->capped)
        cli_json_loss(json, "left", account->left);
    else
        clo_json_text(json, "left", NULL);
    if (account->capped) clo_json_text(json, "rule", account->rule);
    if (account->lowered) cli_json_loss(json, "lowered_to", account->limit);
    if (account->expires) clo_json_text(json, "expires", cli_time(account->expires).text);
    if (account->ended) clo_json_bool(json, "closed", true);
    clo_json_count(json, "charges", account->charges);
    clo_json_text(json, "created", cli_time(account->created).text);
    clo_json_text(json, "last_charge",
                  account->last_charge ? cli_time(account->last_charge).text : NULL);
    clo_json_close(json, '}');
    r->seen++;
    return true;
}

/* The opening and the end of a list, as JSON or not. */
static void begin_list(request *r, const char *schema, const char *key)
{
    if (!cli_given(r->args, "json")) return;
    r->json = cli_json_begin(stdout);
    clo_json_text(&r->json, "schema", schema);
    clo_json_text(&r->json, "ledger", r->path);
    clo_json_open(&r->json, key, '[');
}

static void end_list(request *r)
{
    if (!cli_given(r->args, "json")) return;
    clo_json_close(&r->json, ']');
    cli_json_end(&r->json);
}

static bool note_account(void *user, const clo_account *account)
{
    request *const r = user;
    const int width = (int)strlen(account->dataset);
    if (width > r->name_width) r->name_width = width;
    r->seen++;
    return true;
}

/* Opens the ledger and looks at its data sets once: a name that is not there is a mistake, not an
 * empty list, and a table wants to know its widest name. */
static clo_status open_for_list(request *r, cli_error *err)
{
    clo_status status = clo_ledger_open_existing(r->path, &r->ledger, &err->error);
    if (status != CLO_OK) return status;
    r->name_width = (int)strlen("data set");
    status = clo_ledger_accounts(r->ledger, r->dataset, note_account, r, &err->error);
    if (status == CLO_OK && r->dataset && r->seen == 0)
        status = cli_fail(err, CLO_ARGUMENT, "the ledger %s knows no data set '%s'", r->path,
                          r->dataset);
    if (status != CLO_OK && r->dataset) cli_hint(err, "cloister ledger show %s", r->path);
    r->seen = 0;
    return status;
}

static clo_status show(request *r, cli_error *err)
{
    const bool json = cli_given(r->args, "json");
    clo_status status = open_for_list(r, err);
    if (status != CLO_OK) return status;
    begin_list(r, "cloister.ledger/2", "datasets");
    status =
        clo_ledger_accounts(r->ledger, r->dataset, json ? show_object : show_row, r, &err->error);
    end_list(r);
    if (status != CLO_OK || json) return status;
    if (r->seen == 0) cli_print("%s: no data sets yet\n", r->path);
    if (r->composes)
        fputs("Several runs cost less together than the sum of their epsilons.\n", stdout);
    if (r->zcdp)
        fputs("Charges add up by zCDP: the methods aggregate, approx, boosted and exact are "
              "refused.\n",
              stdout);
    return status;
}

/* ---- history ---------------------------------------------------------------- */

static bool history_row(void *user, const clo_charge *charge)
{
    request *const r = user;
    char loss[96];
    loss_text(charge->loss, loss, sizeof loss);
    if (r->seen++ == 0)
        cli_print("%6s  %-20s  %-*s  %-18s  %-10s  %s\n", "number", "time", r->name_width,
                  "data set", "mechanism", "relation", "loss");
    cli_print("%6llu  %-20s  %-*s  %-18s  %-10s  %s\n", (unsigned long long)charge->sequence,
              cli_time(charge->time).text, r->name_width, charge->dataset, charge->mechanism,
              charge->relation, loss);
    return true;
}

/* Who made it, where that is known. */
static void put_attribution(clo_writer *json, const clo_charge *charge)
{
    clo_json_text(json, "user", charge->user[0] ? charge->user : NULL);
    clo_json_text(json, "host", charge->host[0] ? charge->host : NULL);
    clo_json_text(json, "purpose", charge->purpose[0] ? charge->purpose : NULL);
    clo_json_text(json, "program", charge->program[0] ? charge->program : NULL);
}

/* A cell of CSV, as RFC 4180 has it.  A text that a spreadsheet would take for a formula gets a
 * quote before it. */
static void put_cell(const char *text, const char *end)
{
    const bool formula = text[0] && strchr("=+-@", text[0]);
    const bool quoted = formula || strpbrk(text, ",\"\r\n") || text[0] == ' ';
    if (quoted) putchar('"');
    if (formula) putchar('\'');
    for (const char *c = text; *c; c++) {
        if (*c == '"') putchar('"');
        putchar(*c);
    }
    if (quoted) putchar('"');
    fputs(end, stdout);
}

static bool history_line(void *user, const clo_charge *charge)
{
    request *const r = user;
    if (r->seen++ == 0)
        cli_print("number,time,dataset,mechanism,relation,epsilon,delta,user,host,purpose,program,"
                  "token,stored\n");
    cli_print("%llu,%s,", (unsigned long long)charge->sequence, cli_time(charge->time).text);
    put_cell(charge->dataset, ",");
    put_cell(charge->mechanism, ",");
    put_cell(charge->relation, ",");
    cli_print("%s,%s,", cli_number(charge->loss.epsilon).text, cli_number(charge->loss.delta).text);
    put_cell(charge->user, ",");
    put_cell(charge->host, ",");
    put_cell(charge->purpose, ",");
    put_cell(charge->program, ",");
    put_cell(charge->token, charge->stored ? ",yes\n" : ",no\n");
    return true;
}

static bool history_object(void *user, const clo_charge *charge)
{
    request *const r = user;
    clo_writer *const json = &r->json;
    clo_json_open(json, NULL, '{');
    clo_json_count(json, "sequence", charge->sequence);
    clo_json_text(json, "time", cli_time(charge->time).text);
    clo_json_text(json, "dataset", charge->dataset);
    clo_json_text(json, "mechanism", charge->mechanism);
    clo_json_text(json, "relation", charge->relation);
    cli_json_loss(json, "loss", charge->loss);
    put_attribution(json, charge);
    clo_json_text(json, "token", charge->token[0] ? charge->token : NULL);
    clo_json_bool(json, "stored", charge->stored > 0);
    clo_json_close(json, '}');
    r->seen++;
    return true;
}

static clo_status history(request *r, cli_error *err)
{
    const bool json = cli_given(r->args, "json"), csv = cli_given(r->args, "csv");
    if (json && csv) return cli_fail(err, CLO_ARGUMENT, "choose --csv or --json, not both");
    clo_status status = open_for_list(r, err);
    if (status != CLO_OK) return status;
    begin_list(r, "cloister.ledger-history/2", "charges");
    status = clo_ledger_history(r->ledger, r->dataset,
                                json  ? history_object
                                : csv ? history_line
                                      : history_row,
                                r, &err->error);
    end_list(r);
    if (status == CLO_OK && !json && !csv && r->seen == 0)
        cli_print("%s: nothing was spent yet\n", r->path);
    return status;
}

/* ---- verify ------------------------------------------------------------------ */

/* What is not wrong and should be known. */
static void add_remarks(const request *r, const clo_ledger_facts *facts)
{
    if (!facts->has_anchor)
        cli_print("%s: it has no anchor yet, so an older copy would not be noticed; the next run "
                  "makes one\n",
                  r->path);
    if (facts->clock_went_back > 0)
        cli_print(
            "%s: the clock went backwards before %llu of the charges: go by their numbers, not "
            "by their times\n",
            r->path, (unsigned long long)facts->clock_went_back);
}

static clo_status verify(request *r, cli_error *err)
{
    clo_ledger_facts facts = { .struct_size = sizeof facts };
    clo_status status = clo_ledger_open_existing(r->path, &r->ledger, &err->error);
    if (status == CLO_OK) status = clo_ledger_verify(r->ledger, &err->error);
    if (status == CLO_OK) status = clo_ledger_describe(r->ledger, &facts, &err->error);
    if (cli_given(r->args, "json")) {
        clo_writer json = cli_json_begin(stdout);
        clo_json_text(&json, "schema", "cloister.ledger-verify/1");
        clo_json_text(&json, "ledger", r->path);
        clo_json_bool(&json, "sound", status == CLO_OK);
        clo_json_text(&json, "problem", status == CLO_OK ? NULL : err->error.message);
        if (status == CLO_OK) {
            clo_json_count(&json, "charges", facts.charges);
            clo_json_bool(&json, "anchored", facts.has_anchor);
            clo_json_count(&json, "clock_went_back", facts.clock_went_back);
        }
        cli_json_end(&json);
    } else if (status == CLO_OK) {
        cli_print("%s: unchanged; %llu charge%s, and every hash is correct\n", r->path,
                  (unsigned long long)facts.charges, facts.charges == 1 ? "" : "s");
        add_remarks(r, &facts);
    }
    return status;
}

/* ---- export ------------------------------------------------------------------ */

static void put_hex(clo_writer *json, const char *key, const uint8_t bytes[32])
{
    char text[65];
    for (size_t i = 0; i < 32; i++) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    clo_json_text(json, key, text);
}

static bool export_declaration(void *user, const clo_declaration *declaration)
{
    clo_writer *const json = &((request *)user)->json;
    clo_json_open(json, NULL, '{');
    clo_json_count(json, "sequence", declaration->sequence);
    clo_json_count(json, "after_charge", declaration->after);
    clo_json_text(json, "time", cli_time(declaration->time).text);
    clo_json_text(json, "dataset", declaration->dataset);
    cli_json_loss(json, "cap", declaration->cap);
    clo_json_count(json, "format", (uint64_t)declaration->format);
    put_hex(json, "hash", declaration->hash);
    clo_json_close(json, '}');
    return true;
}

static void export_units(clo_writer *json, const clo_charge *charge)
{
    clo_json_open(json, "units", '{');
    clo_json_count(json, "epsilon", charge->epsilon);
    clo_json_count(json, "delta", charge->delta);
    clo_json_count(json, "rho", charge->rho);
    clo_json_count(json, "rho_delta", charge->rho_delta);
    clo_json_close(json, '}');
}

static bool export_charge(void *user, const clo_charge *charge)
{
    clo_writer *const json = &((request *)user)->json;
    clo_json_open(json, NULL, '{');
    clo_json_count(json, "sequence", charge->sequence);
    clo_json_text(json, "time", cli_time(charge->time).text);
    clo_json_text(json, "dataset", charge->dataset);
    clo_json_text(json, "mechanism", charge->mechanism);
    clo_json_text(json, "relation", charge->relation);
    cli_json_loss(json, "loss", charge->loss);
    export_units(json, charge);
    clo_json_text(json, "rule", charge->rule);
    clo_json_count(json, "capacity", charge->capacity);
    put_attribution(json, charge);
    if (charge->token[0]) {
        clo_json_text(json, "token", charge->token);
        put_hex(json, "plan", charge->plan);
    } else {
        clo_json_text(json, "token", NULL);
        clo_json_text(json, "plan", NULL);
    }
    clo_json_text(json, "stored", charge->stored ? cli_time(charge->stored_at).text : NULL);
    clo_json_count(json, "stored_bytes", charge->stored);
    clo_json_count(json, "format", (uint64_t)charge->format);
    put_hex(json, "hash", charge->hash);
    clo_json_close(json, '}');
    return true;
}

/* The certificate is the last member, and its signature a line of its own: what is signed is the
 * rest, as of a release (docs/release-format.md). */
static clo_status put_certificate(request *r, cli_error *err)
{
    uint8_t key[CLO_PUBLIC_KEY_BYTES];
    const clo_status status = clo_ledger_public_key(r->ledger, key, &err->error);
    if (status != CLO_OK) return status;
    clo_json_open(&r->json, "certificate", '{');
    put_hex(&r->json, "public_key", key);
    clo_json_text(&r->json, "program", "cloister " CLO_VERSION);
    clo_json_close(&r->json, '}');
    return CLO_OK;
}

static clo_status write_signed(request *r, const cli_bytes *text, cli_error *err)
{
    static const char opening[] = "\"certificate\": {\n";
    uint8_t signature[CLO_SIGNATURE_BYTES];
    const clo_status status =
        clo_ledger_sign(r->ledger, text->data, text->length, signature, &err->error);
    if (status != CLO_OK) return status;
    const char *at = NULL; /* the last one */
    for (const char *from = text->data, *found;
         (found = memmem(from, (size_t)(text->data + text->length - from), opening,
                         sizeof opening - 1));
         from = found + 1)
        at = found + sizeof opening - 1;
    fwrite(text->data, 1, (size_t)(at - text->data), stdout);
    cli_print("    \"signature\": \"");
    for (size_t i = 0; i < sizeof signature; i++) cli_print("%02x", signature[i]);
    cli_print("\",\n");
    fwrite(at, 1, (size_t)(text->data + text->length - at), stdout);
    return cli_flush(stdout, err);
}

static clo_status put_entries(request *r, cli_error *err)
{
    clo_json_open(&r->json, "datasets", '[');
    clo_status status = clo_ledger_accounts(r->ledger, NULL, show_object, r, &err->error);
    clo_json_close(&r->json, ']');
    clo_json_open(&r->json, "declarations", '[');
    if (status == CLO_OK)
        status = clo_ledger_declarations(r->ledger, export_declaration, r, &err->error);
    clo_json_close(&r->json, ']');
    clo_json_open(&r->json, "acts", '[');
    if (status == CLO_OK)
        status = clo_ledger_acts(r->ledger, cli_ledger_put_act, &r->json, &err->error);
    clo_json_close(&r->json, ']');
    clo_json_open(&r->json, "charges", '[');
    if (status == CLO_OK)
        status = clo_ledger_history(r->ledger, NULL, export_charge, r, &err->error);
    clo_json_close(&r->json, ']');
    return status;
}

/* All of the ledger but the stored releases themselves, which their owners have.  Signed where the
 * key is here. */
static clo_status export_all(request *r, cli_error *err)
{
    clo_ledger_facts facts = { .struct_size = sizeof facts };
    cli_bytes text = { NULL, 0, 0 };
    clo_status status = clo_ledger_open_existing(r->path, &r->ledger, &err->error);
    if (status == CLO_OK) status = clo_ledger_describe(r->ledger, &facts, &err->error);
    if (status != CLO_OK) return status;
    r->json = (clo_writer){ .write = cli_bytes_write, .user = &text };
    clo_json_open(&r->json, NULL, '{');
    clo_json_text(&r->json, "schema", "cloister.ledger-export/4");
    clo_json_text(&r->json, "ledger", r->path);
    clo_json_text(&r->json, "identity", facts.identity);
    clo_json_text(&r->json, "key_id", facts.key_id);
    clo_json_count(&r->json, "ledger_schema", (uint64_t)facts.schema);
    clo_json_text(&r->json, "created", cli_time(facts.created).text);
    clo_json_bool(&r->json, "closed", facts.closed);
    status = put_entries(r, err);
    if (status == CLO_OK && facts.has_key) status = put_certificate(r, err);
    cli_json_end(&r->json);
    if (status == CLO_OK && r->json.failed)
        status = cli_fail(err, CLO_MEMORY, "out of memory for the export");
    if (status == CLO_OK && facts.has_key) status = write_signed(r, &text, err);
    if (status == CLO_OK && !facts.has_key) fwrite(text.data, 1, text.length, stdout);
    free(text.data);
    return status == CLO_OK ? cli_flush(stdout, err) : status;
}

/* ---- fetch ------------------------------------------------------------------- */

static clo_status write_stored(const char *bytes, size_t length, clo_file *file, cli_error *err)
{
    clo_write *const to = file ? clo_file_write : cli_stream_write;
    if (!to(file ? (void *)file : stdout, bytes, length))
        return file ? cli_fail(err, CLO_IO, "the release could not be written")
                    : cli_flush(stdout, err);
    return file ? clo_file_commit(file, &err->error) : cli_flush(stdout, err);
}

/* A stored release again, byte for byte. */
static clo_status fetch(request *r, cli_error *err)
{
    const char *const token = cli_value(r->args, "token"), *const output =
                                                               cli_value(r->args, "output");
    clo_file *file = NULL;
    char *bytes = NULL;
    size_t length = 0;
    if (output && cli_same_file(output, r->path))
        return cli_fail(err, CLO_ARGUMENT, "-o %s would overwrite the ledger", output);
    cli_hint(err, "cloister ledger history %s --json", r->path); /* which lists the tokens */
    if (!token || !token[0])
        return cli_fail(err, CLO_ARGUMENT,
                        "give --token T: the token of the run, which 'cloister "
                        "ledger history --json' lists");
    clo_status status = clo_ledger_open_existing(r->path, &r->ledger, &err->error);
    if (status == CLO_OK)
        status = clo_ledger_result(r->ledger, token, &bytes, &length, &err->error);
    if (status != CLO_ARGUMENT) cli_hint(err, "%s", "");
    if (status == CLO_OK && output && strcmp(output, "-") != 0)
        status = clo_file_open(output, &file, &err->error);
    if (status == CLO_OK) status = write_stored(bytes, length, file, err);
    clo_file_close(file);
    clo_ledger_bytes_free(bytes);
    return status;
}

/* ---- report ------------------------------------------------------------------ */

/* The books as a page, for people. */
static clo_status report(request *r, cli_error *err)
{
    const char *const output = cli_value(r->args, "output");
    clo_file *file = NULL;
    if (output && cli_same_file(output, r->path))
        return cli_fail(err, CLO_ARGUMENT, "-o %s would overwrite the ledger", output);
    clo_status status = open_for_list(r, err);
    const bool named = output && strcmp(output, "-") != 0;
    if (status == CLO_OK && named) status = clo_file_open(output, &file, &err->error);
    if (status == CLO_OK)
        status = clo_ledger_html(r->ledger, r->dataset, file ? clo_file_write : cli_stream_write,
                                 file ? (void *)file : stdout, &err->error);
    if (status == CLO_OK)
        status = file ? clo_file_commit(file, &err->error) : cli_flush(stdout, err);
    clo_file_close(file);
    return status;
}

/* ---- the verbs --------------------------------------------------------------- */

#define YOURS    "For everybody"
#define STEWARDS "For a steward (a ledger that others use)"

static const cli_verb verbs[] = {
#define VERB(name, run, group, usage, options, summary, about, examples)                           \
    { #name, group, usage, options, summary, about, examples },
#include "ledger_verbs.def"
#undef VERB
    { NULL, NULL, NULL, NULL, NULL, NULL, NULL },
};

static clo_status (*const runs[])(request *r, cli_error *err) = {
#define VERB(name, run, group, usage, options, summary, about, examples) run,
#include "ledger_verbs.def"
#undef VERB
};
enum { VERB_COUNT = sizeof runs / sizeof *runs };

static clo_status unknown_verb(const char *word, cli_error *err)
{
    const char *names[VERB_COUNT];
    for (size_t i = 0; i < VERB_COUNT; i++) names[i] = verbs[i].name;
    const char *const meant = cli_nearest(word, names, VERB_COUNT);
    cli_hint(err, "cloister ledger --help");
    if (meant)
        return cli_fail(err, CLO_ARGUMENT, "'ledger' has no verb '%s'; did you mean '%s'?", word,
                        meant);
    return cli_fail(err, CLO_ARGUMENT, "'ledger' has no verb '%s'", word);
}

/* "lower or adopt": those that take the option. */
static void say_takers(const char *option, char *text, size_t size)
{
    char names[300] = "";
    for (const cli_verb *verb = verbs; verb->name; verb++)
        if (cli_in_choices(verb->options, option))
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s",
                     names[0] ? "|" : "", verb->name);
    cli_say_choices(names, text, size);
}

static clo_status check_options(const cli_args *args, const cli_verb *verb, cli_error *err)
{
    for (const cli_option *option = rows; option->name; option++) {
        char text[300];
        if (!cli_given(args, option->name) || cli_in_choices(verb->options, option->name)) continue;
        say_takers(option->name, text, sizeof text);
        return cli_fail(err, CLO_ARGUMENT, "'ledger %s' has no option --%s, which belongs to %s",
                        verb->name, option->name, text);
    }
    return CLO_OK;
}

/* Who hears that nothing could be written would do it again, and adopt or lower twice. */
static clo_status say_that_it_is_done(const cli_verb *verb, cli_error *err)
{
    static const char changing[] = "init|lower|close|expire|group|adopt|restore|move|rekey";
    if (!cli_in_choices(changing, verb->name) || cli_flush(stdout, err) == CLO_OK) return CLO_OK;
    const clo_error why = err->error;
    return cli_fail(err, CLO_IO, "%.300s; 'ledger %s' was carried out", why.message, verb->name);
}

extern const cli_command cli_ledger;

static clo_status run(const cli_args *args, cli_error *err)
{
    const char *const word = cli_word(args, 0);
    char own[1024];
    const bool checks = word && strcmp(word, "check") == 0; /* whose first word is a release */
    request r = { .args = args,
                  .path = cli_word(args, checks ? 2 : 1),
                  .dataset = cli_value(args, "dataset") };
    clo_status status = cli_check_words(args, 1, checks ? 3 : 2, "a verb, such as show", err);
    if (status != CLO_OK) return status;
    const cli_verb *const verb = cli_find_verb(&cli_ledger, word);
    if (!verb) return unknown_verb(word, err);
    status = check_options(args, verb, err);
    if (status == CLO_OK && !r.path) {
        status = clo_ledger_default_path(own, sizeof own, &err->error);
        r.path = own;
    }
    if (status == CLO_OK) status = runs[verb - verbs](&r, err);
    clo_ledger_close(r.ledger);
    if (status == CLO_OK) status = say_that_it_is_done(verb, err);
    return status;
}

static const cli_group *const groups[] = { &ledger_group, NULL };

const cli_command cli_ledger = {
    .usage = "VERB [LEDGER] [option ...]",
    .about = "The ledger is a file that records the budget of each data set and what was spent of "
             "it.  Every run is charged before its first query, and a run that does not fit into "
             "the cap is refused.\n\n"
             "LEDGER is the file.  By default it is your own: $XDG_STATE_HOME/cloister/ledger.db "
             "or ~/.local/state/cloister/ledger.db.  'cloister ledger VERB --help' explains a "
             "verb.",
    .examples = "At most epsilon 3 on the patients, ever\n"
                "cloister ledger init --dataset patients.csv --epsilon 3\n"
                "What is left?\n"
                "cloister ledger show\n"
                "Is this what was released?\n"
                "cloister ledger check may.json",
    .verbs = verbs,
    .groups = groups,
    .run = run,
};
