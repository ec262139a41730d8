/*
 * too_noisy_text.c - the sentence which says that noise hides what a plan looks for, and what would
 * bring it out.  All of it follows from public numbers.
 */
#include "plan/mechanism.h"
#include <cloister/output.h>
#include <stdio.h>
#include <string.h>

/* An epsilon above this protects hardly anybody, so that nobody is told to take it. */
enum { MOST_ADVISED = 10 };

typedef struct number {
    char text[CLO_NUMBER_SIZE];
} number;

static number shown(double value)
{
    number out;
    clo_number_text(value, out.text);
    return out;
}

/* "10 clusters", "2 directions", "3 clusters of 2 directions". */
static void say_subject(const clo_plan *plan, char *text, size_t size)
{
    double clusters = 0, dim = 0;
    const bool k = clo_plan_value_of(plan, "clusters", &clusters, NULL) == CLO_OK;
    const bool q = clo_plan_value_of(plan, "dim", &dim, NULL) == CLO_OK;
    text[0] = 0;
    if (k) snprintf(text, size, "%.0f cluster%s", clusters, clusters == 1 ? "" : "s");
    if (q && dim > 0) {
        const size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%.0f direction%s", k ? " of " : "", dim,
                 dim == 1 ? "" : "s");
    }
}

static void add_need(char *text, size_t size, const char *need)
{
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used ? ", or " : "", need);
}

static void say_needs(const clo_needs *needs, char *text, size_t size)
{
    char part[64];
    text[0] = 0;
    if (needs->epsilon > 0 && needs->epsilon <= MOST_ADVISED) {
        snprintf(part, sizeof part, "epsilon %s", shown(needs->epsilon).text);
        add_need(text, size, part);
    }
    if (needs->rows > 0) {
        snprintf(part, sizeof part, "%s rows", shown(needs->rows).text);
        add_need(text, size, part);
    }
    if (needs->clusters > 0) {
        snprintf(part, sizeof part, "at most %llu cluster%s", (unsigned long long)needs->clusters,
                 needs->clusters == 1 ? "" : "s");
        add_need(text, size, part);
    }
}

bool clo_plan_hidden_text(const clo_plan *plan, char *text, size_t size)
{
    const double rows = (double)plan->domain.rows;
    char subject[96], needs[192] = "";
    clo_needs found;
    if (size) text[0] = 0;
    if (!(rows > 0) || !clo_plan_hidden(plan, rows)) return false;
    say_subject(plan, subject, sizeof subject);
    if (clo_plan_needs_get(plan, rows, 0.999 * clo_plan_hidden_from(plan), &found, sizeof found,
                           NULL) == CLO_OK)
        say_needs(&found, needs, sizeof needs);
    snprintf(text, size, "noise hides %s in %s rows at epsilon %s%s%s", subject, shown(rows).text,
             shown(clo_plan_budget(plan).epsilon).text,
             needs[0] ? ": that needs "
                      : ", and raising only one of epsilon and rows would not "
                        "help",
             needs);
    return true;
}
