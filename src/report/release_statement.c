/* release_statement.c - what a release is, in words that who has to answer for it can quote. */
#include "report/bases.h"
#include "report/page.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what was released ----------------------------------------------------------------------- */

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

void clo_i_released_text(const clo_release *release, char *text, size_t size)
{
    const clo_facts *const facts = &release->facts;
    const size_t cols = facts->schema ? clo_i_schema_cells(facts->schema) : facts->cols;
    clo_bases bases;
    clo_array array;
    if (clo_i_find_bases(release, &bases))
        snprintf(text, size, "%zu subspace%s of %zu direction%s in %zu column%s", bases.count,
                 plural(bases.count), bases.dim, plural(bases.dim), cols, plural(cols));
    else if (clo_release_find(release, "centers", &array) && array.dimensions == 2)
        snprintf(text, size, "%zu cluster center%s in %zu column%s", array.shape[0],
                 plural(array.shape[0]), cols, plural(cols));
    else if (clo_release_find(release, "centers_starts", &array))
        snprintf(text, size, "%zu cluster center%s in %zu columns", array.shape[0] - 1,
                 plural(array.shape[0] - 1), cols);
    else if (clo_release_find(release, "lower", &array))
        snprintf(text, size, "bounds of %zu column%s", cols, plural(cols));
    else if (clo_release_find(release, "radius", &array))
        snprintf(text, size, "a radius that holds most records, in %zu column%s", cols,
                 plural(cols));
    else
        snprintf(text, size, "a release about %zu column%s", cols, plural(cols));
}

/* "one record", "all records of one patient". */
static void hidden_text(const clo_facts *facts, char *text, size_t size)
{
    char unit[120];
    if (!facts->unit) {
        snprintf(text, size, "one record");
        return;
    }
    clo_i_harmless(facts->unit, unit, sizeof unit);
    snprintf(text, size, "all records of one %s", unit);
}

static void say_not_private(clo_writer *w, const clo_facts *facts)
{
    clo_writer_text(w, "<div class=\"alarm\"><p><strong>Not private.</strong> ");
    clo_i_escape(w, facts->statement ? facts->statement : "", 1000);
    clo_writer_text(w, " Do not publish it as a private release.</p></div>\n");
}

void clo_i_say_released(clo_writer *w, const clo_release *release)
{
    const clo_facts *const facts = &release->facts;
    const clo_number epsilon = clo_i_short(facts->loss.epsilon, 6);
    const clo_number delta = clo_i_short(facts->loss.delta, 6);
    char what[200], hidden[200];
    clo_i_released_text(release, what, sizeof what);
    hidden_text(facts, hidden, sizeof hidden);
    if (!facts->is_private) {
        say_not_private(w, facts);
        clo_i_paragraph(w,
                        "It has %s, found by the method %s/%s with the noise of epsilon %s and "
                        "delta %s.",
                        what, facts->family, facts->method, epsilon.text, delta.text);
    } else {
        clo_writer_text(w, "<div class=\"quote lead\">\n");
        clo_i_paragraph(w,
                        "Released: %s, with differential privacy at epsilon %s and delta %s.  "
                        "Noise was added before anything was released; it hides %s.",
                        what, epsilon.text, delta.text, hidden);
        clo_writer_text(w, "</div>\n");
    }
    if (release->derived.there)
        clo_i_paragraph(w,
                        "It was cut from the release %.16s…, from its noisy answers and from "
                        "nothing else. That cost no further budget: the epsilon below is that "
                        "release's.",
                        release->derived.release);
    clo_i_facts_open(w);
    clo_i_fact(w, "epsilon (smaller is more private)", "%s", epsilon.text);
    clo_i_fact(w, "delta", "%s", delta.text);
    if (facts->is_private)
        clo_i_fact(w, "what is hidden", "%s, %s", hidden,
                   facts->relation == CLO_REPLACE ? "its values" : "whether it is there");
    else
        clo_i_fact(w, "what is hidden", "nothing");
    clo_i_fact(w, "method", "%s/%s", facts->family, facts->method);
    clo_i_fact(w, "budget", "%s",
               !facts->metered  ? "not charged to a ledger"
               : !facts->capped ? "charged to a ledger, without a cap"
                                : "charged to a ledger with a cap");
    clo_i_facts_close(w);
}

/* ---- what the guarantee means ---------------------------------------------------------------- */

/* What a guarantee says of the machine. */
static const char *reach_of(clo_guarantee guarantee)
{
    switch (guarantee) {
    case CLO_EXACT:
        return "The guarantee is exact: the proof covers the integers and the noise that the "
               "program computes with.";
    case CLO_IDEALIZED:
        return "The guarantee is idealized: the proof is about real numbers, but the computer "
               "rounds.";
    case CLO_ASYMPTOTIC:
        return "The guarantee is asymptotic: it holds in the limit of an endless computation, "
               "which was stopped.";
    default:
        return "This page does not know what the release says of its guarantee.";
    }
}

/* An even guess between two worlds is right with probability (e^epsilon + delta) / (1 + e^epsilon)
 * at most, whatever is looked at. */
static double right_guesses(clo_loss loss)
{
    const double share = loss.epsilon < 700 ? 1 / (1 + exp(-loss.epsilon)) : 1;
    const double right = fmin(share + loss.delta * (1 - share), 1);
    const double digits = right > 0.995 ? 1e4 : 1e3; /* rounded up, and not to all of them */
    return ceil(digits * right) / digits;
}

void clo_i_say_guarantee(clo_writer *w, const clo_release *release)
{
    const clo_facts *const facts = &release->facts;
    char hidden[200];
    hidden_text(facts, hidden, sizeof hidden);
    clo_i_section_open(w, "What the guarantee means");
    if (!facts->is_private) {
        clo_i_paragraph(w, "There is no guarantee: this release is not private.");
        clo_i_section_close(w);
        return;
    }
    clo_i_paragraph(w, "%s", facts->statement);
    clo_i_paragraph(
        w,
        "In other words: somebody knows all of the data except %s, and two possibilities for it "
        "seem equally likely (%s). With this release, they guess right at most %s times in a "
        "hundred; without it, 50 times.",
        hidden,
        facts->relation == CLO_REPLACE ? "one value or another" : "it is there or it is not",
        clo_i_short(100 * right_guesses(facts->loss), 5).text);
    clo_i_paragraph(w,
                    "This holds whatever else they know, and whatever anyone computes from the "
                    "release later. Facts about many records at once are not hidden: the release "
                    "is meant to show them.");
    clo_i_paragraph(w, "%s The losses of the queries were added up by %s accounting; noise: %s.",
                    reach_of(clo_release_guarantee(release)), facts->accounting, facts->sampler);
    if (facts->seen_cols)
        clo_i_paragraph(w,
                        "The run used the %zu directions of the release %.16s, which has its own "
                        "epsilon in addition.",
                        facts->seen_cols, facts->seen_in ? facts->seen_in : "");
    clo_i_section_close(w);
}

/* ---- how sure -------------------------------------------------------------------------------- */

/* How many clusters stand out, where that is not all that were asked for. */
static void say_distinct(clo_writer *w, const clo_release *release)
{
    clo_array distinct, curve, centers;
    const double asked = clo_i_facts_parameter(&release->facts, "clusters");
    if (!clo_release_find(release, "distinct_clusters", &distinct) ||
        clo_release_find(release, "curve", &curve) || !(distinct.data[0] < asked))
        return;
    const bool more = clo_release_find(release, "centers", &centers) &&
                      (double)centers.shape[0] > distinct.data[0];
    clo_i_paragraph(w,
                    "%.0f of %.0f clusters stand out from the noise. The others would have no more "
                    "records than noise alone can show.%s",
                    distinct.data[0], asked, more ? " The smallest centers may be noise." : "");
}

void clo_i_say_sureness(clo_writer *w, const clo_release *release)
{
    clo_array sizes, stands, doubt;
    clo_i_section_open(w, "How sure the numbers are");
    if (release->derived.there && clo_release_center_noise(release, NULL))
        clo_i_paragraph(w, "The ± beside a coordinate of a center is how far noise may have moved "
                           "it: one standard deviation, in the units of the column. The answers of "
                           "the release were noised once more, by as much, and the centers read "
                           "again.");
    else if (clo_release_center_noise(release, NULL))
        clo_i_paragraph(w,
                        "The number after ± is the standard deviation of the noise of the last "
                        "round, in the units of the column. Noise moves a number by less than "
                        "that in two of three cases, and by less than twice that in 19 of 20 "
                        "cases. Earlier rounds may have added more. A center with few records has "
                        "a larger ±.");
    else if (clo_release_find(release, "uncertainty", &doubt) && doubt.dimensions == 1)
        clo_i_paragraph(w,
                        "The release states for each of its %zu clusters how far noise may have "
                        "moved it, in the units of the data (see 'uncertainty' below).",
                        doubt.shape[0]);
    else
        clo_i_paragraph(w, "This method does not state the error of each number. The table below "
                           "has the noise of each query.");
    say_distinct(w, release);
    if (clo_release_find(release, "stands_out", &stands))
        clo_i_paragraph(w, "Directions that do not stand out from the noise may be only noise.");
    if (clo_release_find(release, "sizes", &sizes))
        clo_i_paragraph(
            w, "The numbers of records are also noisy. They need not be whole numbers, and need "
               "not add up to the number of records.");
    clo_i_section_close(w);
}
