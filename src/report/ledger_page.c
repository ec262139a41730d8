/* ledger_page.c - the page of a ledger, for an auditor. */
#include "report/page.h"
#include <cloister/steward.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ACTS = 100 };

/* ---- the books themselves -------------------------------------------------------------------- */

static void write_facts(clo_writer *w, const clo_ledger_facts *facts, bool sound,
                        const char *problem)
{
    clo_i_section_open(w, "Was the ledger changed?");
    if (sound)
        clo_i_paragraph(w, "Every hash is correct from the first charge on, and this machine "
                           "knows no newer copy of this ledger.");
    else
        clo_i_paragraph(w, "The ledger was not verified: %s.", problem);
    if (!facts->has_anchor)
        clo_i_paragraph(w, "There is no anchor here, so an older copy would not be noticed.");
    if (facts->clock_went_back)
        clo_i_paragraph(w,
                        "The clock went backwards before %llu of the charges: go by their "
                        "numbers, not by their times.",
                        (unsigned long long)facts->clock_went_back);
    clo_i_facts_open(w);
    clo_i_fact(w, "ledger", "%s", facts->identity);
    clo_i_fact(w, "key of its hashes", "%s", facts->key_id);
    clo_i_fact(w, "charges", "%llu", (unsigned long long)facts->charges);
    clo_i_fact(w, "caps declared", "%llu", (unsigned long long)facts->declarations);
    clo_i_fact(w, "created (UTC)", "%s", clo_i_time(facts->created).text);
    clo_i_facts_close(w);
    clo_i_section_close(w);
}

/* ---- what its steward did -------------------------------------------------------------------- */

/* What is known of the acts while they are read. */
typedef struct acts {
    clo_writer *w;
    const char *dataset; /* NULL: of all */
    size_t seen;
} acts;

static const char *in_words(const char *kind)
{
    static const char *const words[][2] = {
        { "closed", "closed to undeclared names" },
        { "key", "public key that signs" },
        { "folder", "data that the name stands for" },
        { "lower", "cap lowered" },
        { "end", "data set closed" },
        { "expire", "end set" },
        { "member", "also charged to" },
        { "rule", "rule for adding up charges" },
        { "gap", "restored from a copy" },
        { "rekey", "new key of the hashes" },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(kind, words[i][0]) == 0) return words[i][1];
    return kind;
}

/* A time to read, and of a key as much as tells it from others: 'ledger key' prints it whole. */
static void say_value(const clo_act *act, char *text, size_t size)
{
    if (strcmp(act->kind, "expire") == 0)
        snprintf(text, size, "%s", clo_i_time(strtoll(act->value, NULL, 10)).text);
    else if (strcmp(act->kind, "key") == 0 || strcmp(act->kind, "rekey") == 0)
        snprintf(text, size, "begins with %.16s", act->value);
    else
        clo_i_harmless(act->value, text, size);
}

static bool write_act(void *user, const clo_act *act)
{
    static const char *const heads[] = { "no.", "time (UTC)", "act", "data set", "what", "why" };
    acts *const a = user;
    char text[400];
    if (a->dataset && act->dataset[0] && strcmp(a->dataset, act->dataset) != 0) return true;
    if (a->seen++ == 0) {
        clo_i_table_open_words(a->w, "What the steward did");
        clo_i_table_heads(a->w, heads, 6);
    }
    if (a->seen > MOST_ACTS) return true;
    snprintf(text, sizeof text, "%llu", (unsigned long long)act->sequence);
    clo_i_table_name(a->w, text);
    clo_i_table_text(a->w, clo_i_time(act->time).text);
    clo_i_table_text(a->w, in_words(act->kind));
    clo_i_harmless(act->dataset, text, sizeof text);
    clo_i_table_text(a->w, text[0] ? text : "-");
    say_value(act, text, sizeof text);
    clo_i_table_text(a->w, text[0] ? text : "-");
    clo_i_harmless(act->note, text, sizeof text);
    clo_i_table_text(a->w, text[0] ? text : "-");
    clo_i_table_end_row(a->w);
    return true;
}

static clo_status write_acts(clo_writer *w, clo_ledger *ledger, const char *dataset, clo_error *err)
{
    acts a = { .w = w, .dataset = dataset };
    clo_i_section_open(w, "What the steward did");
    CLO_TRY(clo_ledger_acts(ledger, write_act, &a, err));
    if (a.seen) clo_i_table_close(w);
    if (a.seen == 0) clo_i_paragraph(w, "Only declarations of caps.");
    if (a.seen > MOST_ACTS)
        clo_i_paragraph(w, "The first %d of %zu acts; 'cloister ledger acts' lists all.",
                        (int)MOST_ACTS, a.seen);
    clo_i_section_close(w);
    return CLO_OK;
}

/* ---- the page -------------------------------------------------------------------------------- */

clo_status clo_ledger_html(clo_ledger *ledger, const char *dataset, clo_write *write, void *user,
                           clo_error *err)
{
    clo_writer writer = { .write = write, .user = user };
    clo_ledger_facts facts = { .struct_size = sizeof facts };
    clo_error found = { .status = CLO_OK };
    CLO_TRY(clo_ledger_describe(ledger, &facts, err));
    const bool sound = clo_ledger_verify(ledger, &found) == CLO_OK;
    clo_i_page_open(&writer, "Privacy ledger", false);
    clo_writer_text(&writer, "<p class=\"lead\">What was spent on each data set, when, and what "
                             "is left. A ledger holds times, names and losses, but no data.</p>\n");
    if (!sound) {
        clo_writer_text(&writer, "<div class=\"alarm\"><p><strong>Not verified.</strong> ");
        clo_i_escape(&writer, found.message, 1000);
        clo_writer_text(&writer, "</p></div>\n");
    }
    CLO_TRY(clo_i_say_budget(&writer, ledger, dataset, err));
    CLO_TRY(write_acts(&writer, ledger, dataset, err));
    write_facts(&writer, &facts, sound, found.message);
    clo_i_page_close(&writer, "Made by cloister from the ledger itself.", false);
    if (writer.failed) return clo_i_fail(err, CLO_IO, "the page could not be written");
    return CLO_OK;
}
