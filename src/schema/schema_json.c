/*
 * schema_json.c - the canonical form of a schema: every fact that a run uses or an owner has
 * stated, each in one way only and in a fixed order, so that two files that say the same have one
 * digest. Titles and descriptions are for people, and are left out.  A release holds this form.
 */
#include "schema/schema.h"
#include <math.h>
#include <string.h>

static void write_list(clo_writer *w, const char *key, const clo_i_list *list, size_t count,
                       const double *numbers)
{
    clo_json_key(w, key);
    clo_writer_text(w, "[");
    for (size_t i = 0; i < count; i++) {
        if (i) clo_writer_text(w, ", ");
        if (numbers)
            clo_writer_number(w, numbers[i]);
        else
            clo_json_string(w, list->texts[i]);
    }
    clo_writer_text(w, "]");
}

static void write_value(clo_writer *w, const char *key, const clo_i_field *f, double value)
{
    char text[40];
    if (f->type == CLO_TYPE_DATE) {
        clo_i_date_text(value, text);
        clo_json_text(w, key, text);
    } else if (f->type == CLO_TYPE_DATETIME) {
        clo_i_datetime_text(value, text);
        clo_json_text(w, key, text);
    } else {
        clo_json_number(w, key, value);
    }
}

static void write_bounds(clo_writer *w, const clo_i_field *f)
{
    if (!f->has_lower && !f->has_upper) return;
    clo_json_open(w, "constraints", '{');
    if (f->has_lower) write_value(w, "minimum", f, f->lower);
    if (f->has_upper) write_value(w, "maximum", f, f->upper);
    clo_json_close(w, '}');
}

static void write_fill(clo_writer *w, const clo_i_field *f)
{
    const size_t level = isfinite(f->fill) ? (size_t)fmax(f->fill, 0) : 0;
    if (f->missing != CLO_CELL_FILL) return;
    if (f->type == CLO_TYPE_BOOLEAN)
        clo_json_bool(w, "fill", f->fill > 0);
    else if (f->numbers)
        clo_json_number(w, "fill", f->numbers[level]);
    else if (f->stated)
        clo_json_text(w, "fill", f->levels.texts[level]);
    else
        write_value(w, "fill", f, f->fill);
}

static void write_own(clo_writer *w, const clo_i_field *f)
{
    static const char *const missing[] = { "", "ignore", "level", "fill", "drop" };
    static const char *const outside[] = { "clip", "missing", "other" };
    clo_json_open(w, "cloister", '{');
    if (f->kind == CLO_FIELD_UNUSED) clo_json_bool(w, "use", false);
    if (f->weight != 1) clo_json_number(w, "weight", f->weight);
    if (f->group) clo_json_text(w, "group", f->group);
    if (f->source) clo_json_text(w, "source", f->source);
    if (f->unit) clo_json_text(w, "unit", f->unit);
    if (f->period > 0) clo_json_number(w, "cyclic", f->period);
    if (f->zone_text) clo_json_text(w, "timeZone", f->zone_text);
    clo_json_text(w, "missing", missing[f->missing]);
    write_fill(w, f);
    if (!(f->period > 0)) clo_json_text(w, "outside", outside[f->outside]);
    clo_json_close(w, '}');
}

static void write_field(clo_writer *w, const clo_i_field *f)
{
    static const char *const types[] = { "?",      "number", "integer", "boolean",
                                         "string", "date",   "datetime" };
    clo_json_open(w, NULL, '{');
    clo_json_text(w, "name", f->name);
    clo_json_text(w, "type", types[f->type]);
    if (f->format) clo_json_text(w, "format", f->format);
    if (f->stated && f->type != CLO_TYPE_BOOLEAN)
        write_list(w, "categories", &f->levels, f->stated, f->numbers);
    if (f->ordered) clo_json_bool(w, "categoriesOrdered", true);
    write_bounds(w, f);
    if (f->own_gaps) write_list(w, "missingValues", &f->gaps, f->gaps.count, NULL);
    if (f->yes.count) write_list(w, "trueValues", &f->yes, f->yes.count, NULL);
    if (f->no.count) write_list(w, "falseValues", &f->no, f->no.count, NULL);
    write_own(w, f);
    clo_json_close(w, '}');
}

void clo_i_schema_json(const clo_schema *schema, clo_writer *w, const char *key)
{
    clo_json_open(w, key, '{');
    clo_json_open(w, "fields", '[');
    for (size_t i = 0; i < schema->count; i++) write_field(w, &schema->fields[i]);
    clo_json_close(w, ']');
    write_list(w, "missingValues", &schema->gaps, schema->gaps.count, NULL);
    if (schema->person || schema->rows || schema->relation) {
        clo_json_open(w, "cloister", '{');
        if (schema->person) clo_json_text(w, "person", schema->person);
        if (schema->rows_per_person) clo_json_count(w, "rowsPerPerson", schema->rows_per_person);
        if (schema->rows) clo_json_count(w, "rows", schema->rows);
        if (schema->relation) clo_json_text(w, "relation", schema->relation);
        clo_json_close(w, '}');
    }
    clo_json_close(w, '}');
}

clo_status clo_schema_write(const clo_schema *schema, clo_write *write, void *user, clo_error *err)
{
    clo_writer writer = { .write = write, .user = user };
    clo_i_schema_json(schema, &writer, NULL);
    clo_writer_text(&writer, "\n");
    if (writer.failed) return clo_i_fail(err, CLO_IO, "the schema could not be written");
    return CLO_OK;
}
