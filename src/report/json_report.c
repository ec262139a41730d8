/*
 * json_report.c - a release as JSON: a versioned schema, keys in a fixed order, numbers in the
 * shortest form that reads back as the same double, so that equal releases are equal bytes.  What
 * each member is: docs/release-format.md.
 */
#include "report/report.h"

/* ---- the release ----------------------------------------------------------------------------- */

/* Nested lists by shape; the last dimension stands on one line. */
static const double *write_array(clo_writer *w, const double *data, size_t dimensions,
                                 const size_t *shape)
{
    clo_writer_text(w, "[");
    w->depth++;
    for (size_t i = 0; i < shape[0]; i++) {
        if (dimensions > 1) {
            clo_writer_text(w, i ? "," : "");
            clo_json_line(w);
            data = write_array(w, data, dimensions - 1, shape + 1);
        } else {
            clo_writer_text(w, i ? ", " : "");
            clo_writer_number(w, *data++);
        }
    }
    w->depth--;
    if (dimensions > 1) clo_json_line(w);
    clo_writer_text(w, "]");
    return data;
}

void clo_i_json_numbers(clo_writer *w, const char *key, const double *data, size_t count)
{
    if (!data) return;
    clo_json_key(w, key);
    write_array(w, data, 1, &count);
}

const char *clo_i_length_unit(bool scaled)
{
    return scaled ? "half-width" : "column";
}

static void write_domain(clo_writer *w, const clo_facts *facts, bool first)
{
    const bool scaled = clo_i_facts_are_scaled(facts);
    clo_json_open(w, "domain", '{');
    clo_json_count(w, "cols", facts->cols);
    if (facts->column_names) {
        clo_json_key(w, "columns");
        clo_writer_text(w, "[");
        for (size_t i = 0; i < facts->cols; i++) {
            if (i) clo_writer_text(w, ", ");
            clo_json_string(w, facts->column_names[i]);
        }
        clo_writer_text(w, "]");
    }
    clo_json_number(w, scaled && !first ? "norm_scaled" : "norm", facts->norm);
    if (!first) clo_json_text(w, "length_unit", clo_i_length_unit(scaled));
    clo_i_json_numbers(w, "lower", facts->lower, facts->cols);
    clo_i_json_numbers(w, "upper", facts->upper, facts->cols);
    clo_i_json_numbers(w, "center", facts->center, facts->cols);
    if (facts->rows) clo_json_count(w, "rows", facts->rows);
    if (facts->schema) {
        clo_json_text(w, "schema_digest", clo_schema_digest(facts->schema));
        clo_i_schema_json(facts->schema, w, "schema");
    }
    if (facts->seen_cols) {
        clo_json_open(w, "projection", '{');
        clo_json_count(w, "dim", facts->seen_cols);
        clo_json_text(w, "release", facts->seen_in);
        if (facts->seen_guarantee) {
            const clo_guarantee together = clo_i_facts_guarantee_together(facts);
            clo_json_text(w, "guarantee", facts->seen_guarantee);
            clo_json_text(w, "guarantee_together", clo_guarantee_name(together));
        }
        clo_json_close(w, '}');
    }
    clo_json_close(w, '}');
}

static void write_privacy(clo_writer *w, const clo_facts *facts, bool first)
{
    clo_json_open(w, "privacy", '{');
    clo_json_number(w, "epsilon", facts->loss.epsilon);
    clo_json_number(w, "delta", facts->loss.delta);
    clo_json_text(w, "relation", clo_relation_name(facts->relation));
    if (facts->unit) clo_json_text(w, "unit", facts->unit);
    if (first || facts->unit || facts->rows_per_unit > 1)
        clo_json_count(w, "rows_per_unit", facts->rows_per_unit);
    clo_json_text(w, "accounting", facts->accounting);
    clo_json_number(w, first ? "price" : "epsilon_used", facts->price.loss.epsilon);
    clo_json_text(w, "guarantee", facts->guarantee);
    clo_json_text(w, "sampler", facts->sampler);
    clo_json_bool(w, "private", facts->is_private);
    clo_json_bool(w, first ? "metered" : "charged_to_ledger", facts->metered);
    clo_json_bool(w, first ? "capped" : "budget_limited", facts->capped);
    clo_json_text(w, "statement", facts->statement);
    clo_json_close(w, '}');
}

const char *clo_i_event_parameter(clo_event_kind kind)
{
    return kind == CLO_EVENT_GAUSSIAN ? "mu" : "epsilon";
}

void clo_i_event_json(const clo_event *event, clo_writer *w)
{
    clo_json_text(w, "loss_kind", clo_event_name(event->kind));
    clo_json_number(w, clo_i_event_parameter(event->kind), event->parameter);
    if (event->kind == CLO_EVENT_APPROXIMATE) clo_json_number(w, "delta", event->delta);
    clo_json_count(w, "count", event->count);
}

/* As it was in the first schema. */
static void write_first_event(clo_writer *w, const clo_event *event)
{
    clo_json_text(w, "event", clo_event_name(event->kind));
    clo_json_number(w, "parameter", event->parameter);
    clo_json_number(w, "delta", event->delta);
    clo_json_count(w, "count", event->count);
}

static void write_queries(clo_writer *w, const clo_facts *facts, bool first)
{
    clo_json_open(w, "queries", '[');
    for (size_t i = 0; i < facts->query_count; i++) {
        clo_json_open(w, NULL, '{');
        clo_json_text(w, "query", facts->query_names[i]);
        clo_json_text(w, "label", facts->query_labels[i]);
        if (first)
            write_first_event(w, &facts->query_events[i]);
        else
            clo_i_event_json(&facts->query_events[i], w);
        clo_json_number(w, "noise", facts->query_noise[i]);
        clo_json_close(w, '}');
    }
    clo_json_close(w, ']');
}

static void write_release(const clo_release *release, clo_writer *w)
{
    const clo_facts *const facts = &release->facts;
    const bool first = release->schema == CLO_SCHEMA_FIRST;
    clo_json_open(w, NULL, '{');
    clo_json_text(w, "schema", first ? "cloister.release/1" : "cloister.release/2");
    clo_json_text(w, "version", facts->version);
    clo_json_text(w, "family", facts->family);
    clo_json_text(w, "method", facts->method);
    clo_json_open(w, "parameters", '{');
    for (size_t i = 0; i < facts->parameter_count; i++) {
        clo_json_key(w, facts->parameter_names[i]);
        clo_writer_text(w, facts->parameter_values[i]);
    }
    clo_json_close(w, '}');
    write_domain(w, facts, first);
    write_privacy(w, facts, first);
    write_queries(w, facts, first);
    clo_i_derived_json(release, w);
    clo_json_open(w, "values", '{');
    for (size_t i = 0; i < release->count; i++) {
        const clo_array *const array = &release->arrays[i];
        clo_json_key(w, clo_i_name_in_schema(release->schema, array->name));
        write_array(w, array->data, array->dimensions, array->shape);
    }
    clo_json_close(w, '}');
    clo_i_answers_json(release, w);
    clo_i_certificate_json(release, w);
    clo_json_close(w, '}');
    clo_writer_text(w, "\n");
}

clo_status clo_report(const clo_release *release, clo_report_format format, clo_write *write,
                      void *user, clo_error *err)
{
    clo_writer writer = { .write = write, .user = user };
    switch (format) {
    case CLO_TEXT:
    case CLO_TEXT_WIDE:
        CLO_TRY(clo_i_report_text(release, format == CLO_TEXT_WIDE, NULL, &writer, err));
        break;
    case CLO_TEXT_BARS:
    case CLO_TEXT_BARS_ASCII:
        CLO_TRY(clo_i_report_text(release, false,
                                  !clo_i_has_bars(release)  ? NULL
                                  : format == CLO_TEXT_BARS ? clo_i_bars_unicode
                                                            : clo_i_bars_ascii,
                                  &writer, err));
        break;
    case CLO_JSON:
        write_release(release, &writer);
        break;
    default:
        return clo_i_fail(err, CLO_ARGUMENT, "the report format must be text or JSON");
    }
    if (writer.failed) return clo_i_fail(err, CLO_IO, "the report could not be written");
    return CLO_OK;
}
