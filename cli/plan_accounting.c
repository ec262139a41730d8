/* plan_accounting.c - plan --accountants: what other ways of adding up would have charged
 * for the same noise.
 *
 * Whoever reads a plan can see what exact accounting is worth, and check a price against the
 * methods of the books.  All of it comes from the list of events, which is public. */
#include "cli.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct meaning {
    const char *accounting, *text;
} meaning;

static const meaning MEANINGS[] = {
    { "basic", "epsilons and deltas of all queries, added up" },
    { "advanced", "the same, by advanced composition" },
    { "renyi", "Renyi divergences, order by order (zCDP)" },
    { "mixed", "Gaussian queries exactly, the others bounded" },
    { "pld", "the distribution of the privacy loss" },
    { "gaussian-exact", "only Gaussian queries, exactly" },
};

static const char *meaning_of(const char *accounting)
{
    for (size_t i = 0; i < sizeof MEANINGS / sizeof *MEANINGS; i++)
        if (!strcmp(MEANINGS[i].accounting, accounting)) return MEANINGS[i].text;
    return "";
}

static clo_event *events_of(const clo_plan *plan, double factor)
{
    const size_t count = clo_plan_line_count(plan);
    clo_event *const events = calloc(count ? count : 1, sizeof *events);
    for (size_t i = 0; events && i < count; i++) {
        events[i] = clo_plan_line_at(plan, i).event;
        events[i].parameter *= factor;
    }
    return events;
}

static double basic_epsilon(const clo_plan *plan, double factor)
{
    clo_comparison basic = { NULL, INFINITY, 0 };
    clo_event *const events = events_of(plan, factor);
    if (events && clo_price_by("basic", events, clo_plan_line_count(plan),
                               clo_plan_budget(plan).delta, &basic, NULL) != CLO_OK)
        basic.epsilon = INFINITY;
    free(events);
    return basic.epsilon;
}

/* How many times the noise naive composition would have needed for the same price. */
static double noise_saved(const clo_plan *plan)
{
    const double target = clo_plan_price(plan).loss.epsilon;
    double low = 0x1p-40, high = 1; /* naive composition affords low, not high */
    if (!(basic_epsilon(plan, 1) > target * (1 + 1e-6)) || basic_epsilon(plan, low) > target)
        return 1;
    while (high > low * 1.0001) {
        const double middle = sqrt(low * high);
        if (basic_epsilon(plan, middle) > target)
            high = middle;
        else
            low = middle;
    }
    return 1 / high;
}

static void say_saving(FILE *out, const clo_plan *plan)
{
    char sentence[300];
    const double saved = noise_saved(plan);
    if (saved > 1.005)
        snprintf(sentence, sizeof sentence,
                 "At the same epsilon, %s, naive composition would need %s times the noise.",
                 cli_rounded(clo_plan_price(plan).loss.epsilon, 4).text,
                 cli_rounded(saved, 3).text);
    else
        snprintf(sentence, sizeof sentence,
                 "Naive composition would need the same noise for this plan.");
    fputs("\n  ", out);
    cli_wrap(out, 2, 2, sentence);
}

clo_status cli_accountants_text(FILE *out, const clo_plan *plan, cli_error *err)
{
    const size_t count = clo_plan_line_count(plan);
    const double delta = clo_plan_budget(plan).delta;
    clo_event *const events = events_of(plan, 1);
    clo_status status = events ? CLO_OK : cli_fail(err, CLO_MEMORY, "out of memory");
    const char *name;
    if (!status)
        fprintf(out, "\n  The same noise, at delta %s, by\n  %-14s  %10s  %s\n",
                cli_rounded(delta, 3).text, "composition", "epsilon", "what it adds up");
    for (size_t i = 0; !status && (name = clo_accounting_name(i)); i++) {
        clo_comparison row;
        status = clo_price_by(name, events, count, delta, &row, &err->error);
        if (status || isinf(row.epsilon)) continue;
        fprintf(out, "  %-14s  %10s  %s", name, cli_rounded(row.epsilon, 5).text, meaning_of(name));
        if (row.lower > 0 && row.lower < row.epsilon * (1 - 1e-9))
            fprintf(out, "; at least %s", cli_rounded(row.lower, 5).text);
        fputc('\n', out);
    }
    free(events);
    if (!status) say_saving(out, plan);
    return status;
}

clo_status cli_accountants_json(clo_writer *json, const clo_plan *plan, cli_error *err)
{
    const size_t count = clo_plan_line_count(plan);
    clo_event *const events = events_of(plan, 1);
    clo_status status = events ? CLO_OK : cli_fail(err, CLO_MEMORY, "out of memory");
    const char *name;
    if (status) return status;
    clo_json_open(json, "compositions", '[');
    for (size_t i = 0; !status && (name = clo_accounting_name(i)); i++) {
        clo_comparison row;
        status = clo_price_by(name, events, count, clo_plan_budget(plan).delta, &row, &err->error);
        if (status || isinf(row.epsilon)) continue;
        clo_json_open(json, NULL, '{');
        clo_json_text(json, "accounting", name);
        clo_json_number(json, "epsilon", row.epsilon);
        clo_json_number(json, "lower", row.lower > 0 ? row.lower : NAN);
        clo_json_text(json, "meaning", meaning_of(name));
        clo_json_close(json, '}');
    }
    clo_json_close(json, ']');
    clo_json_number(json, "naive_noise_ratio", noise_saved(plan));
    free(events);
    return status;
}
