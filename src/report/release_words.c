/* release_words.c - what a release is, in words that who has to answer for it can quote. */
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
    const size_t cols = facts->cols;
    clo_bases bases;
    clo_array array;
    if (clo_i_find_bases(release, &bases))
        snprintf(text, size, "%zu subspace%s of %zu direction%s in %zu column%s", bases.count,
                 plural(bases.count), bases.dim, plural(bases.dim), cols, plural(cols));
    else if (clo_release_find(release, "centers", &array) && array.dimensions == 2)
        snprintf(text, size, "%zu cluster centre%s in %zu column%s", array.shape[0],
                 plural(array.shape[0]), cols, plural(cols));
    else if (clo_release_find(release, "centers_starts", &array))
        snprintf(text, size, "%zu cluster centre%s in %zu columns", array.shape[0] - 1,
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
                        "It holds %s, found by the method %s/%s with the noise of epsilon %s and "
                        "delta %s.",
                        what, facts->family, facts->method, epsilon.text, delta.text);
    } else {
        clo_writer_text(w, "<div class=\"quote lead\">\n");
        clo_i_paragraph(w,
                        "Released: %s, with differential privacy at epsilon %s and delta %s.  What "
                        "this page shows was noised before it left the data; it hides %s.",
                        what, epsilon.text, delta.text, hidden);
        clo_writer_text(w, "</div>\n");
    }
    clo_i_facts_open(w);
    clo_i_fact(w, "epsilon (smaller is more private)", "%s", epsilon.text);
    clo_i_fact(w, "delta", "%s", delta.text);
    if (facts->is_private)
        clo_i_fact(w, "what is hidden", "%s, %s", hidden,
                   facts->relation == CLO_REPLACE ? "whatever it is"
                                                  : "whether it is there or not");
    else
        clo_i_fact(w, "what is hidden", "nothing: it is not private");
    clo_i_fact(w, "method", "%s/%s", facts->family, facts->method);
    clo_i_fact(w, "budget", "%s",
               !facts->metered  ? "not metered by a ledger"
               : !facts->capped ? "metered; no cap was set"
                                : "metered against a cap");
    clo_i_facts_close(w);
}

/* ---- what the guarantee means ---------------------------------------------------------------- */

/* What a guarantee says of the machine. */
static const char *reach_of(clo_guarantee guarantee)
{
    switch (guarantee) {
    case CLO_EXACT:
        return "The guarantee is exact: it is proven for the arithmetic that runs, down to how the "
               "noise is drawn.";
    case CLO_IDEALIZED:
        return "The guarantee is idealized: it is proven for real numbers, and the machine rounds.";
    case CLO_ASYMPTOTIC:
        return "The guarantee is asymptotic: it holds in the limit of a long computation, which "
               "was cut off.";
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
        clo_i_paragraph(w, "None is claimed: this release is not private.");
        clo_i_section_close(w);
        return;
    }
    clo_i_paragraph(w, "%s", facts->statement);
    clo_i_paragraph(
        w,
        "In other words: somebody who knows all of the data but %s, and thinks two "
        "possibilities for it equally likely (%s), may look at this release as long as they "
        "like. They then guess right at most %s times in a hundred; without it, 50 times.",
        hidden,
        facts->relation == CLO_REPLACE ? "that it is one thing or another"
                                       : "that it is there or that it is not",
        clo_i_short(100 * right_guesses(facts->loss), 5).text);
    clo_i_paragraph(w,
                    "This holds whatever else they know, and whatever is computed from the release "
                    "later. It says nothing about what is true of many records at once: that is "
                    "what the release is for.");
    clo_i_paragraph(w, "%s The loss was counted by %s accounting; noise: %s.",
                    reach_of(clo_release_guarantee(release)), facts->accounting, facts->sampler);
    if (facts->seen_cols)
        clo_i_paragraph(w,
                        "The records were looked at in the %zu directions of the release %.16s, "
                        "whose loss is its own and comes on top.",
                        facts->seen_cols, facts->seen_in ? facts->seen_in : "");
    clo_i_section_close(w);
}

/* ---- how sure -------------------------------------------------------------------------------- */

static double asked_clusters(const clo_facts *facts)
{
    for (size_t i = 0; i < facts->parameter_count; i++)
        if (strcmp(facts->parameter_names[i], "clusters") == 0)
            return strtod(facts->parameter_values[i], NULL);
    return 0;
}

void clo_i_say_sureness(clo_writer *w, const clo_release *release)
{
    clo_array told, curve, stands, doubt, centers;
    clo_i_section_open(w, "How sure the numbers are");
    if (clo_release_center_noise(release, NULL))
        clo_i_paragraph(w,
                        "The ± beside a coordinate of a centre is how far the noise of the last "
                        "round moved it: one standard deviation, in the units of the column. Noise "
                        "moves a number by less than that two times in three, and by less than "
                        "twice that 19 times in 20. What earlier rounds left undone comes on top, "
                        "and a centre with few records has the larger ±.");
    else if (clo_release_find(release, "uncertainty", &doubt) && doubt.dimensions == 1)
        clo_i_paragraph(w,
                        "The release tells for each of its %zu parts how far noise may have "
                        "moved it, in the units of the data (below, under uncertainty).",
                        doubt.shape[0]);
    else
        clo_i_paragraph(w, "This method does not tell number by number how far noise moved it; "
                           "the noise of each question that was asked stands below.");
    if (clo_release_find(release, "told_apart", &told) &&
        !clo_release_find(release, "curve", &curve) &&
        told.data[0] < asked_clusters(&release->facts))
        clo_i_paragraph(w,
                        "Of the %.0f clusters asked for, noise lets %.0f be told apart: more "
                        "pieces of the data would hold no more records than noise alone would "
                        "show.%s",
                        asked_clusters(&release->facts), told.data[0],
                        clo_release_find(release, "centers", &centers) &&
                                (double)centers.shape[0] > told.data[0]
                            ? " The smallest of the centres may be such pieces."
                            : "");
    if (clo_release_find(release, "stands_out", &stands))
        clo_i_paragraph(w, "Directions that do not stand out of the noise should not be "
                           "interpreted.");
    if (clo_release_find(release, "weights", &told))
        clo_i_paragraph(
            w, "The released numbers of records are noisy too; they need not be whole, nor "
               "add up to the number of records.");
    clo_i_section_close(w);
}
