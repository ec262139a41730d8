/*
 * plan_page.c - a plan as a page: what a run would ask, cost and deliver, before it costs anything.
 * All of it follows from public numbers, through the public functions of a plan.
 */
#include "report/page.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { POINTS = 9, MOST_COLUMNS = 40, MOST_ADVISED = 10 /* epsilon: too_noisy_text.c */ };
static const double TYPICAL_ROWS = 10000; /* where their number is not public */

/* Errors over one variable. */
typedef struct curve {
    double x[POINTS], error[POINTS], hidden[POINTS];
    size_t known;
} curve;

static double rows_of(const clo_plan *plan)
{
    const double rows = (double)clo_plan_domain(plan)->rows;
    return rows > 0 ? rows : TYPICAL_ROWS;
}

static bool predict(const clo_plan *plan, double rows, double *error, const char **meaning)
{
    return clo_plan_predict(plan, rows, error, meaning, NULL) == CLO_OK;
}

/* ---- the same plan with another epsilon ------------------------------------------------------ */

static clo_status copy_values(const clo_plan *plan, clo_params *params, clo_error *err)
{
    size_t count;
    const clo_param *const rows = clo_mechanism_params(clo_plan_mechanism(plan), &count);
    for (size_t i = 0; i < count; i++)
        CLO_TRY(clo_params_set(params, rows[i].name, clo_plan_value(plan, i), err));
    return CLO_OK;
}

/* Its own part of the budget, where something is learnt first. */
static clo_status other_plan(const clo_plan *plan, double epsilon, clo_plan **out, clo_error *err)
{
    const clo_learning *const learning = clo_plan_learning(plan);
    clo_loss loss = { epsilon, clo_plan_budget(plan).delta };
    clo_params *params = NULL;
    if (learning) CLO_TRY(clo_learning_rest(learning, loss, &loss, err));
    CLO_TRY(clo_params_new(clo_plan_mechanism(plan), &params, err));
    clo_status status = copy_values(plan, params, err);
    if (!status)
        status =
            clo_plan_new(params, clo_plan_domain(plan), loss, clo_plan_guarantee(plan), out, err);
    clo_params_free(params);
    return status;
}

static void note(curve *c, size_t i, const clo_plan *plan, double rows)
{
    const char *meaning;
    double error;
    c->error[i] = c->hidden[i] = NAN;
    if (!plan || !predict(plan, rows, &error, &meaning)) return;
    *(clo_plan_hidden(plan, rows) ? &c->hidden[i] : &c->error[i]) = error;
    c->known++;
}

static void over_epsilon(const clo_plan *plan, curve *c)
{
    static const double times[POINTS] = { 0.1, 0.2, 0.35, 0.6, 1, 1.7, 3, 5, 10 };
    for (size_t i = 0; i < POINTS; i++) {
        clo_plan *other = NULL;
        c->x[i] = clo_plan_budget(plan).epsilon * times[i];
        const bool made = other_plan(plan, c->x[i], &other, NULL) == CLO_OK;
        note(c, i, made ? other : NULL, rows_of(plan));
        clo_plan_free(other);
    }
}

static void over_rows(const clo_plan *plan, curve *c)
{
    static const double times[POINTS] = { 0.1, 0.2, 0.35, 0.6, 1, 1.7, 3, 5, 10 };
    for (size_t i = 0; i < POINTS; i++) {
        c->x[i] = fmax(1, round(rows_of(plan) * times[i]));
        note(c, i, plan, c->x[i]);
    }
}

/* ---- a curve and its table ------------------------------------------------------------------- */

static clo_status write_curve(clo_writer *w, const char *name, const char *title, const char *text,
                              const char *x_name, const curve *c, double here, clo_error *err)
{
    const char *const heads[] = { x_name, "expected error", "noise hides the result" };
    const clo_caption caption = { name, title, text, false };
    const clo_line_of lines[2] = { { c->x, c->error, POINTS, "expected error", false, NULL },
                                   { c->x, c->hidden, POINTS, "noise hides the result", false,
                                     NULL } };
    const clo_curves curves = { .lines = lines,
                                .count = 2,
                                .x_name = x_name,
                                .y_name = "expected error",
                                .x_log = true,
                                .y_log = true,
                                .limit = NAN,
                                .here = here,
                                .here_name = "this plan" };
    char about[64];
    clo_i_figure_open(w, title, text, false);
    CLO_TRY(clo_i_draw_curves(w, &caption, &curves, err));
    clo_i_figure_table(w);
    snprintf(about, sizeof about, "Error over %s", x_name);
    clo_i_table_open_words(w, about);
    clo_i_table_heads(w, heads, 3);
    for (size_t i = 0; i < POINTS; i++) {
        const bool hidden = !isnan(c->hidden[i]);
        clo_i_table_name(w, clo_i_short(c->x[i], 4).text);
        if (isnan(c->error[i]) && !hidden)
            clo_i_table_text(w, "cannot be planned");
        else
            clo_i_table_number(w, hidden ? c->hidden[i] : c->error[i], 3, NAN);
        clo_i_table_text(w, isnan(c->error[i]) && !hidden ? "" : hidden ? "yes" : "no");
        clo_i_table_end_row(w);
    }
    clo_i_table_close(w);
    clo_i_figure_close(w);
    return CLO_OK;
}

/* ---- what to expect -------------------------------------------------------------------------- */

static clo_status say_columns(clo_writer *w, const clo_plan *plan, clo_error *err)
{
    static const char *const heads[] = { "column", "lower", "upper", "a center is off by about" };
    const clo_domain *const domain = clo_plan_domain(plan);
    double *errors = NULL;
    char name[40];
    CLO_TRY(clo_i_alloc(clo_domain_columns(domain), sizeof *errors, &errors, err));
    if (domain->lower && domain->rows &&
        clo_plan_predict_columns(plan, (double)domain->rows, errors, NULL) == CLO_OK) {
        clo_i_table_open(w, "In the units of each column (one standard deviation)");
        clo_i_table_heads(w, heads, 4);
        for (size_t j = 0; j < domain->cols && j < MOST_COLUMNS; j++) {
            snprintf(name, sizeof name, "column %zu", j + 1);
            clo_i_table_name(w, name);
            clo_i_table_number(w, domain->lower[j], 6, NAN);
            clo_i_table_number(w, domain->upper[j], 6, NAN);
            clo_i_table_number(w, errors[j], 2, NAN);
            clo_i_table_end_row(w);
        }
        clo_i_table_close(w);
        if (domain->cols > MOST_COLUMNS)
            clo_i_paragraph(w, "The first %d of %zu columns.", (int)MOST_COLUMNS, domain->cols);
    }
    clo_i_free(errors);
    return CLO_OK;
}

static void add_need(char *text, size_t size, const char *what, const char *number)
{
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s %s", used ? ", or " : "", what, number);
}

static void say_hidden(clo_writer *w, const clo_plan *plan, double rows)
{
    clo_needs needs = { .epsilon = 0 };
    char enough[300] = "";
    if (!clo_plan_hidden(plan, rows)) return;
    clo_writer_text(w, "<div class=\"alarm\"><p><strong>Noise hides the result.</strong> Such a "
                       "run would waste its budget.</p>");
    if (clo_plan_needs_get(plan, rows, 0.999 * clo_plan_hidden_from(plan), &needs, sizeof needs,
                           NULL) == CLO_OK) {
        const double clusters = (double)needs.clusters;
        if (needs.epsilon > 0 && needs.epsilon <= MOST_ADVISED)
            add_need(enough, sizeof enough, "an epsilon of", clo_i_short(needs.epsilon, 3).text);
        if (needs.rows > 0)
            add_need(enough, sizeof enough, "a number of rows of", clo_i_short(needs.rows, 3).text);
        if (clusters > 0)
            add_need(enough, sizeof enough, "a number of clusters of at most",
                     clo_i_short(clusters, 9).text);
    }
    if (enough[0]) clo_i_paragraph(w, "It would need %s.", enough);
    clo_writer_text(w, "</div>\n");
}

static clo_status say_expectations(clo_writer *w, const clo_plan *plan, clo_error *err)
{
    const double rows = rows_of(plan);
    const bool public = clo_plan_domain(plan)->rows > 0;
    const char *meaning = NULL;
    double error;
    curve c;
    clo_i_section_open(w, "Expected error");
    if (!predict(plan, rows, &error, &meaning)) {
        clo_i_paragraph(w, "The error of this method cannot be predicted.");
        clo_i_section_close(w);
        return CLO_OK;
    }
    clo_i_paragraph(w, "With %s rows%s, expect an error of about %s: %s.",
                    clo_i_short(rows, 9).text, public ? "" : " (secret)",
                    clo_i_short(error, 3).text, meaning);
    if (public) say_hidden(w, plan, rows);
    c = (curve){ .known = 0 };
    over_epsilon(plan, &c);
    if (c.known > 1)
        CLO_TRY(write_curve(w, "epsilon", "The error for other epsilons",
                            "The same plan with other epsilons: a smaller one is more private, a "
                            "larger one more accurate.",
                            "epsilon", &c, clo_plan_budget(plan).epsilon, err));
    c = (curve){ .known = 0 };
    over_rows(plan, &c);
    if (c.known > 1)
        CLO_TRY(write_curve(w, "rows", "The error for other numbers of rows",
                            "The same plan with more or fewer rows: the noise stays the same.",
                            "rows", &c, rows, err));
    CLO_TRY(say_columns(w, plan, err));
    clo_i_section_close(w);
    return CLO_OK;
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void say_plan(clo_writer *w, const clo_plan *plan)
{
    const clo_domain *const domain = clo_plan_domain(plan);
    const clo_loss budget = clo_plan_budget(plan);
    const clo_price price = clo_plan_price(plan);
    clo_writer_text(w, "<div class=\"quote lead\">\n");
    clo_i_paragraph(
        w,
        "A run of this plan costs epsilon %s and delta %s, whatever the data are. To make this "
        "page, nothing was spent and no data were read.",
        clo_i_short(budget.epsilon, 6).text, clo_i_short(budget.delta, 6).text);
    clo_writer_text(w, "</div>\n");
    clo_i_facts_open(w);
    clo_i_fact(w, "what is hidden", "%s %s", domain->unit ? "all rows of one person," : "one row,",
               domain->relation == CLO_REPLACE ? "its values" : "whether it is there");
    clo_i_fact(w, "columns", "%zu", clo_domain_columns(domain));
    if (domain->rows) clo_i_fact(w, "rows (public)", "%llu", (unsigned long long)domain->rows);
    clo_i_fact(w, "guarantee", "%s, proof in %s", clo_guarantee_name(clo_plan_guarantee(plan)),
               clo_mechanism_proof(clo_plan_mechanism(plan)));
    clo_i_fact(w, "accounting", "%s, which needs epsilon %s", price.accounting,
               clo_i_short(price.loss.epsilon, 4).text);
    clo_i_facts_close(w);
    if (clo_plan_reason(plan)) clo_i_paragraph(w, "Why this method: %s.", clo_plan_reason(plan));
}

static void say_lines(clo_writer *w, const clo_plan *plan)
{
    static const char *const heads[] = { "question", "query", "times", "noise", "share of cost" };
    char text[48];
    clo_i_section_open(w, "The queries");
    clo_i_table_open_words(w, "Queries (noise: standard deviation of each answer)");
    clo_i_table_heads(w, heads, 5);
    for (size_t i = 0; i < clo_plan_line_count(plan); i++) {
        const clo_plan_line line = clo_plan_line_at(plan, i);
        clo_i_table_label(w, line.label);
        clo_i_table_text(w, line.query);
        clo_i_table_number(w, (double)line.event.count, 15, NAN);
        clo_i_table_text(w, line.noise > 0 ? clo_i_short(line.noise, 4).text : "");
        snprintf(text, sizeof text, "%.0f %%", 100 * line.share);
        clo_i_table_text(w, text);
        clo_i_table_end_row(w);
    }
    clo_i_table_close(w);
    clo_i_section_close(w);
}

static void say_parameters(clo_writer *w, const clo_plan *plan)
{
    static const char *const heads[] = { "parameter", "value", "what it is" };
    size_t count;
    char text[CLO_VALUE_SIZE];
    const clo_param *const rows = clo_mechanism_params(clo_plan_mechanism(plan), &count);
    clo_i_section_open(w, "Parameters");
    clo_i_table_open_words(w, "Parameters of the method");
    clo_i_table_heads(w, heads, 3);
    for (size_t i = 0; i < count; i++) {
        clo_i_table_name(w, rows[i].name);
        text[0] = 0;
        if (clo_plan_value_text(plan, rows[i].name, text, NULL)) text[0] = 0;
        clo_i_table_text(w, text);
        clo_i_table_text(w, rows[i].help);
        clo_i_table_end_row(w);
    }
    clo_i_table_close(w);
    clo_i_section_close(w);
}

clo_status clo_plan_html(const clo_plan *plan, clo_write *write, void *user, clo_error *err)
{
    const clo_mechanism *const mechanism = clo_plan_mechanism(plan);
    clo_writer writer = { .write = write, .user = user };
    char title[400];
    snprintf(title, sizeof title, "Plan of %s/%s: %s", clo_mechanism_family(mechanism),
             clo_mechanism_method(mechanism), clo_mechanism_summary(mechanism));
    clo_i_page_open(&writer, title, false);
    say_plan(&writer, plan);
    CLO_TRY(say_expectations(&writer, plan, err));
    say_lines(&writer, plan);
    say_parameters(&writer, plan);
    clo_i_page_close(&writer, "Made by cloister from public numbers only.", false);
    if (writer.failed) return clo_i_fail(err, CLO_IO, "the page could not be written");
    return CLO_OK;
}
