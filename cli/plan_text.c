/* plan_text.c - a plan for people and for programs.  Everything in it is public. */
#include "cli.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "one of 5000 rows replaced", "a person with at most 3 rows there or not". */
static void say_hidden(FILE *out, const clo_domain *domain)
{
    const bool person = domain->unit != NULL;
    char who[64] = "one row";
    if (person)
        snprintf(who, sizeof who, "one person with at most %llu rows",
                 (unsigned long long)domain->rows_per_unit);
    fprintf(out, "%s: %s %s", clo_relation_name(domain->relation), who,
            domain->relation == CLO_REPLACE ? "replaced by any other" : "added or removed");
}

static void say_domain(FILE *out, const clo_domain *domain, bool learns)
{
    const size_t cols =
        domain->schema ? cli_used_columns(domain->schema) : clo_domain_columns(domain);
    fprintf(out, "%zu column%s", cols, cols == 1 ? "" : "s");
    if (domain->schema)
        fprintf(out, " of the schema %.16s..., in %zu coordinate%s",
                clo_schema_digest(domain->schema), domain->cols, domain->cols == 1 ? "" : "s");
    if (domain->frame)
        fprintf(out, ", in %zu direction%s of the release %.16s", domain->cols,
                domain->cols == 1 ? "" : "s", clo_frame_digest(domain->frame));
    if (domain->lower) fputs(", each within its bounds", out);
    const cli_text norm = cli_number(domain->norm);
    if (domain->norm > 0 && learns)
        fprintf(out, ", norm at most %s", norm.text);
    else if (domain->norm > 0 && !domain->schema)
        fprintf(out, ", records farther than %s from %s are moved to distance %s", norm.text,
                domain->center ? "the center" : "the origin", norm.text);
    if (domain->rows > 0) fprintf(out, ", %llu rows", (unsigned long long)domain->rows);
}

static void say_learning(FILE *out, const clo_learning *learning)
{
    if (!learning) return;
    fprintf(out, "; finds %s%s%s first, with a share of ", learning->norm ? "norm" : "",
            learning->norm && learning->center ? " and " : "", learning->center ? "center" : "");
    fprintf(out, "%s of the epsilon",
            cli_number((learning->norm ? learning->norm_share : 0) +
                       (learning->center ? learning->center_share : 0))
                .text);
}

static const char *parameter_text(const clo_plan *plan, const clo_param *param, size_t i,
                                  char text[64])
{
    const double value = clo_plan_value(plan, i);
    const char *choice = param->choices;
    if (param->type != CLO_PARAM_CHOICE) {
        snprintf(text, 64, "%s", cli_number(value).text);
        return text;
    }
    for (int skip = (int)value; skip > 0; skip--) choice += strcspn(choice, "|") + 1;
    snprintf(text, 64, "%.*s", (int)strcspn(choice, "|"), choice);
    return text;
}

/* Those that are not by default, with what everybody asks for. */
static void say_parameters(FILE *out, const clo_plan *plan)
{
    const char *join = "";
    size_t count;
    char text[64];
    const clo_param *const rows = clo_mechanism_params(clo_plan_mechanism(plan), &count);
    for (size_t i = 0; i < count; i++) {
        const bool asked =
            strcmp(rows[i].name, "clusters") == 0 || strcmp(rows[i].name, "dim") == 0;
        if (!asked && clo_plan_value(plan, i) == rows[i].preset) continue;
        fprintf(out, "%s%s %s", join, rows[i].name, parameter_text(plan, &rows[i], i, text));
        join = ", ";
    }
    if (!join[0]) fputs("all by default", out);
}

static void print_queries(FILE *out, const clo_plan *plan)
{
    const size_t count = clo_plan_line_count(plan);
    int query_width = 5, label_width = 4;
    bool noisy = false;
    for (size_t i = 0; i < count; i++) {
        const clo_plan_line line = clo_plan_line_at(plan, i);
        if ((int)strlen(line.query) > query_width) query_width = (int)strlen(line.query);
        if ((int)strlen(line.label) > label_width) label_width = (int)strlen(line.label);
    }
    fprintf(out, "\n  %-*s  %-*s  %6s  %9s  %6s\n", query_width, "query", label_width, "what",
            "times", "noise", "share");
    for (size_t i = 0; i < count; i++) {
        const clo_plan_line line = clo_plan_line_at(plan, i);
        fprintf(out, "  %-*s  %-*s  %6llu  %9s  %5.0f%%\n", query_width, line.query, label_width,
                line.label, (unsigned long long)line.event.count,
                line.noise > 0 ? cli_rounded(line.noise, 4).text : "-", 100 * line.share);
        noisy = noisy || line.noise > 0;
    }
    if (!noisy) return;
    fputs("  (noise: standard deviation, in the units of the answer", out);
    fputs(clo_plan_learning(plan) ? ", for the largest norm that may be found)\n" : ")\n", out);
}

void cli_told_text(const clo_plan *plan, char *text, size_t size)
{
    clo_outlook seen;
    text[0] = 0;
    if (!clo_plan_outlook_get(plan, &seen, sizeof seen)) return;
    const char *const what = seen.columns ? "private bounds of a column" : "a private radius";
    const cli_text epsilon = cli_rounded(seen.epsilon, 3);
    if (!(seen.rows > 0))
        snprintf(text, size,
                 "At epsilon %s, %s needs %.0f rows; with fewer the widest one is taken.",
                 epsilon.text, what, seen.rows_needed);
    else if (seen.told)
        snprintf(text, size, "%.0f rows are enough for %s at epsilon %s, which needs %.0f.",
                 seen.rows, what, epsilon.text, seen.rows_needed);
    else
        snprintf(text, size,
                 "%.0f rows are too few for %s at epsilon %s, which needs %.0f: the widest one "
                 "would be taken.  Give --%s yourself, or use more rows.",
                 seen.rows, what, epsilon.text, seen.rows_needed, seen.columns ? "bounds" : "norm");
}

static void print_outlook(FILE *out, const clo_plan *plan)
{
    char sentence[600];
    cli_told_text(plan, sentence, sizeof sentence);
    if (!sentence[0]) return;
    fputs("\n  ", out);
    cli_wrap(out, 2, 2, sentence);
}

/* Which caps can count it: one that adds rhos takes no run without them (ledger.T3). */
static void say_composition(FILE *out, const clo_plan *plan)
{
    for (size_t i = 0; i < clo_plan_line_count(plan); i++)
        if (clo_plan_line_at(plan, i).event.kind == CLO_EVENT_APPROXIMATE) {
            fprintf(out, "  note        a data set that counts by zCDP refuses this method\n");
            return;
        }
}

/* Why this method; without its error where noise hides what it looks for. */
static void say_reason(FILE *out, const clo_plan *plan)
{
    const char *const reason = clo_plan_reason(plan);
    char text[512], unused[512];
    if (!reason) return;
    snprintf(text, sizeof text, "%s", reason);
    if (clo_plan_hidden_text(plan, unused, sizeof unused)) text[strcspn(text, ":")] = 0;
    fputs("  chosen      ", out);
    cli_wrap(out, 14, 14, text);
}

bool cli_memory_text(const clo_plan *plan, int threads, char *text, size_t size)
{
    static const double large = 1 << 30;
    const double bytes = (double)clo_plan_workspace(plan, threads);
    if (bytes < large) return false;
    snprintf(text, size, "about %.1f GiB, beside the rows", bytes / large);
    return true;
}

static void say_memory(FILE *out, const clo_plan *plan)
{
    char text[64];
    if (cli_memory_text(plan, 0, text, sizeof text)) fprintf(out, "\n  memory      %s", text);
}

/* Whether the rows are enough for so many levels. */
static void say_schema(FILE *out, const clo_plan *plan)
{
    char text[400];
    if (!clo_plan_schema_text(plan, text, sizeof text)) return;
    strcat(text, ".");
    fputs("\n  ", out);
    cli_wrap(out, 2, 2, text);
}

void cli_plan_text(FILE *out, const clo_job *job, const clo_plan *plan)
{
    const clo_domain *const domain = clo_plan_domain(plan);
    const clo_mechanism *const mechanism = clo_plan_mechanism(plan);
    const clo_loss budget = clo_plan_budget(plan);
    const clo_price price = clo_plan_price(plan);
    char name[128];
    cli_mechanism_name(mechanism, name, sizeof name);
    fprintf(out, "%s%s%s: %s\n\n", cli_style_on(out, CLI_BOLD), name, cli_style_off(out),
            clo_mechanism_summary(mechanism));
    say_reason(out, plan);
    fprintf(out, "  charged     epsilon %s, delta %s\n", cli_number(budget.epsilon).text,
            cli_number(budget.delta).text);
    fprintf(out, "  accounting  %s", price.accounting);
    if (price.loss.epsilon < 0.999 * budget.epsilon)
        fprintf(out, ", which needs only epsilon %s", cli_rounded(price.loss.epsilon, 4).text);
    fputc('\n', out);
    fputs("  parameters  ", out);
    say_parameters(out, plan);
    fputs("\n  hides       ", out);
    say_hidden(out, domain);
    fputs("\n  data        ", out);
    say_domain(out, domain, clo_plan_learning(plan) != NULL);
    say_learning(out, clo_plan_learning(plan));
    say_memory(out, plan);
    fprintf(out, "\n  guarantee   %s, proof in %s\n", clo_guarantee_name(clo_plan_guarantee(plan)),
            clo_mechanism_proof(mechanism));
    say_composition(out, plan);
    print_queries(out, plan);
    print_outlook(out, plan);
    cli_outlook_text(out, job, plan);
    say_schema(out, plan);
}

clo_writer cli_plan_json(FILE *out, const clo_plan *plan)
{
    static const char end[] = "\n}\n";
    cli_bytes bytes = { NULL, 0, 0 };
    if (clo_plan_json(plan, cli_bytes_write, &bytes, NULL) == CLO_OK)
        fwrite(bytes.data, 1, bytes.length - (sizeof end - 1), out);
    free(bytes.data);
    return (clo_writer){ .write = cli_stream_write, .user = out, .depth = 1, .filled = true };
}
