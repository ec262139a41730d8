/*
 * json_report.c - a release as JSON: a versioned schema, keys in a fixed order, numbers in the
 * shortest form that reads back as the same double, so that equal releases are equal bytes.
 */
#include "report/report.h"
#include <stdio.h>
#include <string.h>

/* ---- the writer ------------------------------------------------------------------------ */

void clo_i_write_text(clo_writer *writer, const char *text)
{
    if (!writer->failed && !writer->write(writer->user, text, strlen(text))) writer->failed = true;
}

void clo_i_write_format(clo_writer *writer, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    clo_i_write_text(writer, text);
}

void clo_i_write_double(clo_writer *writer, double value)
{
    char text[32];
    clo_i_format_double(value + 0.0, text); /* 0, and not -0, which not every reader keeps */
    clo_i_write_text(writer, text);
}

/* Column names and labels are the only texts from outside: escaped byte by byte. */
static void write_string(clo_writer *w, const char *text)
{
    clo_i_write_text(w, "\"");
    for (const char *c = text; *c; c++) {
        const unsigned char byte = (unsigned char)*c;
        if (byte == '"' || byte == '\\')
            clo_i_write_format(w, "\\%c", byte);
        else if (byte < 0x20)
            clo_i_write_format(w, "\\u%04x", byte);
        else
            clo_i_write_format(w, "%c", byte);
    }
    clo_i_write_text(w, "\"");
}

static void new_line(clo_writer *w)
{
    clo_i_write_text(w, "\n");
    for (int i = 0; i < w->depth; i++) clo_i_write_text(w, "  ");
}

/* Starts a member: the comma belongs to the one before. */
static void key(clo_writer *w, bool first, const char *name)
{
    if (!first) clo_i_write_text(w, ",");
    new_line(w);
    write_string(w, name);
    clo_i_write_text(w, ": ");
}

static void open_object(clo_writer *w, bool first, const char *name)
{
    key(w, first, name);
    clo_i_write_text(w, "{");
    w->depth++;
}

static void close_object(clo_writer *w)
{
    w->depth--;
    new_line(w);
    clo_i_write_text(w, "}");
}

static void text_member(clo_writer *w, bool first, const char *name, const char *value)
{
    key(w, first, name);
    write_string(w, value);
}

static void number_member(clo_writer *w, bool first, const char *name, double value)
{
    key(w, first, name);
    clo_i_write_double(w, value);
}

static void count_member(clo_writer *w, bool first, const char *name, uint64_t value)
{
    key(w, first, name);
    clo_i_write_format(w, "%llu", (unsigned long long)value);
}

static void bool_member(clo_writer *w, bool first, const char *name, bool value)
{
    key(w, first, name);
    clo_i_write_text(w, value ? "true" : "false");
}

/* ---- the release ----------------------------------------------------------------------- */

/* Nested lists by shape; the last dimension stands on one line. */
static const double *write_array(clo_writer *w, const double *data, size_t dimensions,
                                 const size_t *shape)
{
    clo_i_write_text(w, "[");
    w->depth++;
    for (size_t i = 0; i < shape[0]; i++) {
        if (dimensions > 1) {
            clo_i_write_text(w, i ? "," : "");
            new_line(w);
            data = write_array(w, data, dimensions - 1, shape + 1);
        } else {
            clo_i_write_text(w, i ? ", " : "");
            clo_i_write_double(w, *data++);
        }
    }
    w->depth--;
    if (dimensions > 1) new_line(w);
    clo_i_write_text(w, "]");
    return data;
}

static void array_member(clo_writer *w, bool first, const char *name, const double *data,
                         size_t count)
{
    if (!data) return;
    key(w, first, name);
    write_array(w, data, 1, &count);
}

static void write_domain(clo_writer *w, const clo_facts *facts)
{
    open_object(w, false, "domain");
    count_member(w, true, "cols", facts->cols);
    if (facts->column_names) {
        key(w, false, "columns");
        clo_i_write_text(w, "[");
        for (size_t i = 0; i < facts->cols; i++) {
            if (i) clo_i_write_text(w, ", ");
            write_string(w, facts->column_names[i]);
        }
        clo_i_write_text(w, "]");
    }
    number_member(w, false, "norm", facts->norm);
    array_member(w, false, "lower", facts->lower, facts->cols);
    array_member(w, false, "upper", facts->upper, facts->cols);
    array_member(w, false, "center", facts->center, facts->cols);
    if (facts->rows) count_member(w, false, "rows", facts->rows);
    if (facts->seen_cols) {
        open_object(w, false, "projection");
        count_member(w, true, "dim", facts->seen_cols);
        text_member(w, false, "release", facts->seen_in);
        if (facts->seen_guarantee) {
            const clo_guarantee together = clo_i_facts_guarantee_together(facts);
            text_member(w, false, "guarantee", facts->seen_guarantee);
            text_member(w, false, "guarantee_together", clo_guarantee_name(together));
        }
        close_object(w);
    }
    close_object(w);
}

static void write_privacy(clo_writer *w, const clo_facts *facts)
{
    open_object(w, false, "privacy");
    number_member(w, true, "epsilon", facts->loss.epsilon);
    number_member(w, false, "delta", facts->loss.delta);
    text_member(w, false, "relation", clo_relation_name(facts->relation));
    if (facts->unit) text_member(w, false, "unit", facts->unit);
    count_member(w, false, "rows_per_unit", facts->rows_per_unit);
    text_member(w, false, "accounting", facts->accounting);
    number_member(w, false, "price", facts->price.loss.epsilon);
    text_member(w, false, "guarantee", facts->guarantee);
    text_member(w, false, "sampler", facts->sampler);
    bool_member(w, false, "private", facts->is_private);
    bool_member(w, false, "metered", facts->metered);
    bool_member(w, false, "capped", facts->capped);
    text_member(w, false, "statement", facts->statement);
    close_object(w);
}

static void write_queries(clo_writer *w, const clo_facts *facts)
{
    key(w, false, "queries");
    clo_i_write_text(w, "[");
    w->depth++;
    for (size_t i = 0; i < facts->query_count; i++) {
        const clo_event *const event = &facts->query_events[i];
        if (i) clo_i_write_text(w, ",");
        new_line(w);
        clo_i_write_text(w, "{");
        w->depth++;
        text_member(w, true, "query", facts->query_names[i]);
        text_member(w, false, "label", facts->query_labels[i]);
        text_member(w, false, "event", clo_event_name(event->kind));
        number_member(w, false, "parameter", event->parameter);
        number_member(w, false, "delta", event->delta);
        count_member(w, false, "count", event->count);
        number_member(w, false, "noise", facts->query_noise[i]);
        close_object(w);
    }
    w->depth--;
    new_line(w);
    clo_i_write_text(w, "]");
}

void clo_i_report_json(const clo_release *release, clo_writer *w)
{
    const clo_facts *const facts = &release->facts;
    clo_i_write_text(w, "{");
    w->depth = 1;
    text_member(w, true, "schema", "cloister.release/1");
    text_member(w, false, "version", facts->version);
    text_member(w, false, "family", facts->family);
    text_member(w, false, "method", facts->method);
    open_object(w, false, "parameters");
    for (size_t i = 0; i < facts->parameter_count; i++) {
        key(w, i == 0, facts->parameter_names[i]);
        clo_i_write_text(w, facts->parameter_values[i]);
    }
    close_object(w);
    write_domain(w, facts);
    write_privacy(w, facts);
    write_queries(w, facts);
    open_object(w, false, "values");
    for (size_t i = 0; i < release->count; i++) {
        const clo_array *const array = &release->arrays[i];
        key(w, i == 0, array->name);
        write_array(w, array->data, array->dimensions, array->shape);
    }
    close_object(w);
    close_object(w);
    clo_i_write_text(w, "\n");
}

clo_status clo_report(const clo_release *release, clo_report_format format, clo_write *write,
                      void *user, clo_error *err)
{
    clo_writer writer = { .write = write, .user = user };
    switch (format) {
    case CLO_TEXT:
        clo_i_report_text(release, &writer);
        break;
    case CLO_JSON:
        clo_i_report_json(release, &writer);
        break;
    default:
        return clo_i_fail(err, CLO_ARGUMENT, "the report format must be text or JSON");
    }
    if (writer.failed) return clo_i_fail(err, CLO_IO, "the report could not be written");
    return CLO_OK;
}
