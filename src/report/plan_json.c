/*
 * plan_json.c - a plan as JSON.  Everything in it is public: it sees a plan as any caller does, and
 * a plan has never seen data.
 */
#include "report/report.h"
#include <cloister/mechanism.h>
#include <math.h>

static void write_parameters(clo_writer *w, const clo_plan *plan)
{
    size_t count;
    const clo_param *const rows = clo_mechanism_params(clo_plan_mechanism(plan), &count);
    clo_json_open(w, "parameters", '{');
    for (size_t i = 0; i < count; i++) {
        char text[64];
        clo_i_param_text(&rows[i], clo_plan_value(plan, i), text, sizeof text);
        clo_json_key(w, rows[i].name);
        clo_writer_text(w, text);
    }
    clo_json_close(w, '}');
}

static void write_loss(clo_writer *w, const char *key, clo_loss loss)
{
    clo_json_open(w, key, '{');
    clo_json_number(w, "epsilon", loss.epsilon);
    clo_json_number(w, "delta", loss.delta);
    clo_json_close(w, '}');
}

static void write_numbers(clo_writer *w, const char *key, const double *values, size_t count)
{
    if (!values) return;
    clo_json_open(w, key, '[');
    for (size_t i = 0; i < count; i++) clo_json_number(w, NULL, values[i]);
    clo_json_close(w, ']');
}

static void write_domain(clo_writer *w, const clo_domain *domain)
{
    clo_json_open(w, "domain", '{');
    clo_json_text(w, "relation", clo_relation_name(domain->relation));
    clo_json_count(w, "cols", clo_domain_columns(domain));
    const bool scaled = domain->lower || domain->schema;
    clo_json_number(w, scaled ? "norm_scaled" : "norm", domain->norm > 0 ? domain->norm : NAN);
    clo_json_text(w, "length_unit", clo_i_length_unit(scaled));
    write_numbers(w, "lower", domain->lower, domain->cols);
    write_numbers(w, "upper", domain->upper, domain->cols);
    write_numbers(w, "center", domain->center, domain->cols);
    clo_json_number(w, "rows", domain->rows > 0 ? (double)domain->rows : NAN);
    if (domain->unit || domain->rows_per_unit > 1)
        clo_json_count(w, "rows_per_unit", domain->rows_per_unit);
    if (domain->schema) {
        clo_json_text(w, "schema_digest", clo_schema_digest(domain->schema));
        clo_json_count(w, "coordinates", domain->cols);
    }
    if (domain->frame) {
        const clo_guarantee guarantee = clo_frame_guarantee(domain->frame);
        clo_json_open(w, "projection", '{');
        clo_json_count(w, "dim", domain->cols);
        clo_json_text(w, "release", clo_frame_digest(domain->frame));
        if (guarantee) clo_json_text(w, "guarantee", clo_guarantee_name(guarantee));
        clo_json_close(w, '}');
    }
    clo_json_close(w, '}');
}

static void write_learning(clo_writer *w, const clo_learning *learning)
{
    if (!learning) return;
    clo_json_open(w, "learning", '{');
    clo_json_bool(w, "norm", learning->norm);
    clo_json_bool(w, "center", learning->center);
    clo_json_number(w, "share_norm", learning->norm ? learning->norm_share : 0);
    clo_json_number(w, "share_center", learning->center ? learning->center_share : 0);
    clo_json_number(w, "quantile", learning->norm ? learning->quantile : NAN);
    clo_json_close(w, '}');
}

static void write_outlook(clo_writer *w, const clo_plan *plan)
{
    clo_outlook seen;
    if (!clo_plan_outlook_get(plan, &seen, sizeof seen)) return;
    clo_json_open(w, "outlook", '{');
    clo_json_number(w, "epsilon", seen.epsilon);
    clo_json_number(w, "rows_needed", seen.rows_needed);
    if (seen.rows > 0) clo_json_bool(w, "told", seen.told);
    clo_json_number(w, "confidence", seen.confidence);
    clo_json_number(w, "share_out", seen.share_out);
    clo_json_number(w, "rows_out", seen.rows_out);
    clo_json_close(w, '}');
}

static void write_lines(clo_writer *w, const clo_plan *plan)
{
    clo_json_open(w, "queries", '[');
    for (size_t i = 0; i < clo_plan_line_count(plan); i++) {
        const clo_plan_line line = clo_plan_line_at(plan, i);
        clo_json_open(w, NULL, '{');
        clo_json_text(w, "query", line.query);
        clo_json_text(w, "label", line.label);
        clo_i_event_json(&line.event, w);
        clo_json_number(w, "noise", line.noise);
        clo_json_number(w, "share", line.share);
        clo_json_close(w, '}');
    }
    clo_json_close(w, ']');
}

/* What there is to say of the error, before a word of it is written: it takes memory. */
typedef struct prediction {
    double rows, error, least, most;
    const char *meaning; /* NULL: there is none */
    double *columns;     /* NULL: it is none of points */
    bool hidden;
    clo_needs needs; /* where it is hidden */
} prediction;

static clo_status look_ahead(const clo_plan *plan, prediction *out, clo_error *err)
{
    const clo_domain *const domain = clo_plan_domain(plan);
    out->rows = (double)domain->rows;
    if (!(out->rows > 0) || clo_plan_predict(plan, out->rows, &out->error, &out->meaning, NULL))
        return CLO_OK;
    if (clo_plan_predict_range(plan, out->rows, &out->least, &out->most, NULL))
        out->least = out->most = out->error;
    CLO_TRY(clo_i_alloc(clo_domain_columns(domain), sizeof *out->columns, &out->columns, err));
    if (clo_plan_predict_columns(plan, out->rows, out->columns, NULL)) {
        clo_i_free(out->columns);
        out->columns = NULL;
    }
    out->hidden = clo_plan_hidden(plan, out->rows);
    if (!out->hidden) return CLO_OK;
    return clo_plan_needs_get(plan, out->rows, 0.999 * clo_plan_hidden_from(plan), &out->needs,
                              sizeof out->needs, err);
}

static void write_needs(clo_writer *w, const clo_needs *needs)
{
    clo_json_open(w, "needs", '{');
    if (needs->epsilon > 0) clo_json_number(w, "epsilon", needs->epsilon);
    if (needs->rows > 0) clo_json_number(w, "rows", needs->rows);
    if (needs->clusters > 0) clo_json_count(w, "clusters", needs->clusters);
    clo_json_close(w, '}');
}

static void write_prediction(clo_writer *w, const clo_plan *plan, const prediction *p)
{
    if (!p->meaning) return;
    clo_json_open(w, "prediction", '{');
    clo_json_number(w, "rows", p->rows);
    clo_json_number(w, "error", p->error);
    if (p->least < p->most) clo_json_number(w, "least", p->least);
    if (p->least < p->most) clo_json_number(w, "most", p->most);
    clo_json_text(w, "meaning", p->meaning);
    write_numbers(w, "columns", p->columns, clo_domain_columns(clo_plan_domain(plan)));
    if (clo_plan_domain(plan)->schema) clo_json_number(w, "feed", clo_plan_feed(plan, p->rows));
    clo_json_bool(w, "hidden", p->hidden);
    if (p->hidden) write_needs(w, &p->needs);
    clo_json_close(w, '}');
}

static void write_plan(clo_writer *w, const clo_plan *plan, const prediction *p)
{
    const clo_mechanism *const mechanism = clo_plan_mechanism(plan);
    const clo_price price = clo_plan_price(plan);
    clo_json_open(w, NULL, '{');
    clo_json_text(w, "schema", "cloister.plan/2");
    clo_json_text(w, "family", clo_mechanism_family(mechanism));
    clo_json_text(w, "method", clo_mechanism_method(mechanism));
    if (clo_plan_reason(plan)) clo_json_text(w, "reason", clo_plan_reason(plan));
    clo_json_text(w, "guarantee", clo_guarantee_name(clo_plan_guarantee(plan)));
    write_parameters(w, plan);
    write_loss(w, "budget", clo_plan_budget(plan));
    write_loss(w, "used", price.loss);
    clo_json_text(w, "accounting", price.accounting);
    write_domain(w, clo_plan_domain(plan));
    write_learning(w, clo_plan_learning(plan));
    write_lines(w, plan);
    write_outlook(w, plan);
    write_prediction(w, plan, p);
    clo_json_close(w, '}');
    clo_writer_text(w, "\n");
}

clo_status clo_plan_json(const clo_plan *plan, clo_write *write, void *user, clo_error *err)
{
    clo_writer writer = { .write = write, .user = user };
    prediction ahead = { .meaning = NULL };
    const clo_status status = look_ahead(plan, &ahead, err);
    if (!status) write_plan(&writer, plan, &ahead);
    clo_i_free(ahead.columns);
    if (status) return status;
    if (writer.failed) return clo_i_fail(err, CLO_IO, "the plan could not be written");
    return CLO_OK;
}
