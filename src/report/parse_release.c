/*
 * parse_release.c - a release read back from JSON.  The file may come from anywhere: each member is
 * checked for its type and its size before it is believed.
 */
#include "base/text_file.h"
#include "report/report.h"
#include <cloister/output.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_BYTES = 1 << 30 };

static clo_status bad(clo_error *err, const char *what)
{
    return clo_i_fail(err, CLO_FORMAT, "this is not a cloister release: %s", what);
}

static clo_status get_text(const json_t *object, const char *key, char **out, clo_error *err)
{
    char message[96];
    const char *const text = json_string_value(json_object_get(object, key));
    if (text) return clo_i_copy_text(text, out, err);
    snprintf(message, sizeof message, "\"%s\" is missing or not a text", key);
    return bad(err, message);
}

static clo_status get_number(const json_t *object, const char *key, double *out, clo_error *err)
{
    char message[96];
    const json_t *const value = json_object_get(object, key);
    if (json_is_number(value)) {
        *out = json_number_value(value);
        return CLO_OK;
    }
    snprintf(message, sizeof message, "\"%s\" is missing or not a number", key);
    return bad(err, message);
}

static clo_status get_count(const json_t *object, const char *key, uint64_t *out, clo_error *err)
{
    char message[96];
    const json_t *const value = json_object_get(object, key);
    if (json_is_integer(value) && json_integer_value(value) >= 0) {
        *out = (uint64_t)json_integer_value(value);
        return CLO_OK;
    }
    snprintf(message, sizeof message, "\"%s\" is missing or not a whole number", key);
    return bad(err, message);
}

static clo_status get_bool(const json_t *object, const char *key, bool *out, clo_error *err)
{
    char message[96];
    const json_t *const value = json_object_get(object, key);
    if (json_is_boolean(value)) {
        *out = json_is_true(value);
        return CLO_OK;
    }
    snprintf(message, sizeof message, "\"%s\" is missing or neither true nor false", key);
    return bad(err, message);
}

/* A list of `count` numbers, or nothing where the key is absent. */
static clo_status get_numbers(const json_t *object, const char *key, size_t count, double **out,
                              clo_error *err)
{
    const json_t *const list = json_object_get(object, key);
    double *numbers = NULL;
    if (!list) return CLO_OK;
    if (!json_is_array(list) || json_array_size(list) != count)
        return bad(err, "a list of the domain has the wrong length");
    CLO_TRY(clo_i_alloc(count, sizeof *numbers, &numbers, err));
    for (size_t i = 0; i < count; i++) {
        const json_t *const item = json_array_get(list, i);
        if (!json_is_number(item)) {
            clo_i_free(numbers);
            return bad(err, "a list of the domain holds something that is not a number");
        }
        numbers[i] = json_number_value(item);
    }
    *out = numbers;
    return CLO_OK;
}

/* A parameter's value goes back to the text it was written as. */
static clo_status get_parameter(const json_t *value, char **out, clo_error *err)
{
    char text[160], number[32];
    if (json_is_number(value)) {
        clo_number_text(json_number_value(value), number);
        return clo_i_copy_text(number, out, err);
    }
    const char *const word = json_string_value(value);
    if (!word || strlen(word) > 100 || strpbrk(word, "\"\\\n"))
        return bad(err, "a parameter is neither a number nor a word");
    snprintf(text, sizeof text, "\"%s\"", word);
    return clo_i_copy_text(text, out, err);
}

static clo_status parse_parameters(json_t *object, clo_facts *facts, clo_error *err)
{
    const char *name;
    json_t *value;
    size_t i = 0;
    if (!json_is_object(object)) return bad(err, "\"parameters\" is missing");
    const size_t count = json_object_size(object);
    CLO_TRY(clo_i_alloc(count, sizeof(char *), &facts->parameter_names, err));
    facts->parameter_count = count;
    CLO_TRY(clo_i_alloc(count, sizeof(char *), &facts->parameter_values, err));
    json_object_foreach(object, name, value)
    {
        CLO_TRY(clo_i_copy_text(name, &facts->parameter_names[i], err));
        CLO_TRY(get_parameter(value, &facts->parameter_values[i], err));
        i++;
    }
    return CLO_OK;
}

/* The subspace that records were projected on, where there was one. */
static clo_status parse_projection(const json_t *object, clo_facts *facts, clo_error *err)
{
    uint64_t dim = 0;
    if (!object) return CLO_OK;
    CLO_TRY(get_count(object, "dim", &dim, err));
    if (dim < 1 || dim > facts->cols)
        return bad(err, "the \"dim\" of a projection is out of range");
    CLO_TRY(get_text(object, "release", &facts->seen_in, err));
    if (json_object_get(object, "guarantee"))
        CLO_TRY(get_text(object, "guarantee", &facts->seen_guarantee, err));
    facts->seen_cols = (size_t)dim;
    return CLO_OK;
}

static bool is_scaled(const json_t *object)
{
    return json_object_get(object, "lower") || json_object_get(object, "schema");
}

static clo_status parse_schema(const json_t *object, clo_facts *facts, clo_error *err)
{
    const json_t *const schema = json_object_get(object, "schema");
    const char *const digest = json_string_value(json_object_get(object, "schema_digest"));
    if (!schema) return CLO_OK;
    if (!digest || strlen(digest) != CLO_DIGEST_SIZE - 1)
        return bad(err, "\"schema_digest\" is missing or no digest");
    CLO_TRY(clo_i_schema_of_json(schema, "the release", digest, &facts->schema, err));
    CLO_TRY(clo_i_schema_check_stated(facts->schema, "the release", err));
    if (clo_schema_outputs(facts->schema) == facts->cols) return CLO_OK;
    return bad(err, "\"schema\" is of other columns");
}

static clo_status check_length_unit(const json_t *object, clo_error *err)
{
    const char *const unit = json_string_value(json_object_get(object, "length_unit"));
    if (unit && strcmp(unit, clo_i_length_unit(is_scaled(object))) == 0) return CLO_OK;
    return bad(err, "\"length_unit\" is neither column nor, with bounds, half-width");
}

static clo_status parse_domain(const json_t *object, bool first, clo_facts *facts, clo_error *err)
{
    const bool scaled = !first && is_scaled(object);
    uint64_t cols = 0;
    CLO_TRY(get_count(object, "cols", &cols, err));
    if (cols < 1 || cols > 1 << 20) return bad(err, "\"cols\" is out of range");
    facts->cols = (size_t)cols;
    CLO_TRY(get_number(object, scaled ? "norm_scaled" : "norm", &facts->norm, err));
    if (!first) CLO_TRY(check_length_unit(object, err));
    if (json_object_get(object, "rows")) CLO_TRY(get_count(object, "rows", &facts->rows, err));
    CLO_TRY(get_numbers(object, "lower", facts->cols, &facts->lower, err));
    CLO_TRY(get_numbers(object, "upper", facts->cols, &facts->upper, err));
    CLO_TRY(get_numbers(object, "center", facts->cols, &facts->center, err));
    CLO_TRY(parse_schema(object, facts, err));
    CLO_TRY(parse_projection(json_object_get(object, "projection"), facts, err));
    const json_t *const names = json_object_get(object, "columns");
    if (!names) return CLO_OK;
    if (json_array_size(names) != facts->cols) return bad(err, "\"columns\" has the wrong length");
    CLO_TRY(clo_i_alloc(facts->cols, sizeof(char *), &facts->column_names, err));
    for (size_t i = 0; i < facts->cols; i++) {
        const char *const name = json_string_value(json_array_get(names, i));
        if (!name) return bad(err, "a column's name is not a text");
        CLO_TRY(clo_i_copy_text(name, &facts->column_names[i], err));
    }
    return CLO_OK;
}

/* How many rows one unit has; one, where that goes without saying. */
static clo_status get_rows_per_unit(const json_t *object, bool first, uint64_t *out, clo_error *err)
{
    *out = 1;
    if (!first && !json_object_get(object, "unit") && !json_object_get(object, "rows_per_unit"))
        return CLO_OK;
    return get_count(object, "rows_per_unit", out, err);
}

static clo_status parse_privacy(const json_t *object, bool first, clo_facts *facts, clo_error *err)
{
    const char *const relation = json_string_value(json_object_get(object, "relation"));
    CLO_TRY(get_number(object, "epsilon", &facts->loss.epsilon, err));
    CLO_TRY(get_number(object, "delta", &facts->loss.delta, err));
    if (json_object_get(object, "unit")) CLO_TRY(get_text(object, "unit", &facts->unit, err));
    CLO_TRY(get_rows_per_unit(object, first, &facts->rows_per_unit, err));
    CLO_TRY(get_text(object, "accounting", &facts->accounting, err));
    CLO_TRY(get_number(object, first ? "price" : "epsilon_used", &facts->price.loss.epsilon, err));
    CLO_TRY(get_text(object, "guarantee", &facts->guarantee, err));
    CLO_TRY(get_text(object, "sampler", &facts->sampler, err));
    CLO_TRY(get_bool(object, "private", &facts->is_private, err));
    CLO_TRY(get_bool(object, first ? "metered" : "charged_to_ledger", &facts->metered, err));
    CLO_TRY(get_bool(object, first ? "capped" : "budget_limited", &facts->capped, err));
    CLO_TRY(get_text(object, "statement", &facts->statement, err));
    facts->price.loss.delta = facts->loss.delta;
    facts->price.accounting = facts->accounting;
    if (!relation) return bad(err, "\"relation\" is missing");
    if (strcmp(relation, clo_relation_name(CLO_REPLACE)) == 0)
        facts->relation = CLO_REPLACE;
    else if (strcmp(relation, clo_relation_name(CLO_ADD_REMOVE)) == 0)
        facts->relation = CLO_ADD_REMOVE;
    else
        return bad(err, "\"relation\" is neither replace nor add-remove");
    return CLO_OK;
}

static clo_status parse_event(const json_t *object, bool first, clo_event *event, clo_error *err)
{
    const char *const kind =
        json_string_value(json_object_get(object, first ? "event" : "loss_kind"));
    for (int i = 1; kind && clo_event_name((clo_event_kind)i); i++)
        if (strcmp(kind, clo_event_name((clo_event_kind)i)) == 0) event->kind = (clo_event_kind)i;
    if (!event->kind) return bad(err, "a query's loss is of no known kind");
    CLO_TRY(get_number(object, first ? "parameter" : clo_i_event_parameter(event->kind),
                       &event->parameter, err));
    if (first || event->kind == CLO_EVENT_APPROXIMATE)
        CLO_TRY(get_number(object, "delta", &event->delta, err));
    return get_count(object, "count", &event->count, err);
}

static clo_status parse_queries(const json_t *list, bool first, clo_facts *facts, clo_error *err)
{
    if (!json_is_array(list)) return bad(err, "\"queries\" is missing");
    const size_t count = json_array_size(list);
    CLO_TRY(clo_i_alloc(count, sizeof(char *), &facts->query_names, err));
    facts->query_count = count;
    CLO_TRY(clo_i_alloc(count, sizeof(char *), &facts->query_labels, err));
    CLO_TRY(clo_i_alloc(count, sizeof(clo_event), &facts->query_events, err));
    CLO_TRY(clo_i_alloc(count, sizeof(double), &facts->query_noise, err));
    for (size_t i = 0; i < count; i++) {
        const json_t *const query = json_array_get(list, i);
        CLO_TRY(get_text(query, "query", &facts->query_names[i], err));
        CLO_TRY(get_text(query, "label", &facts->query_labels[i], err));
        CLO_TRY(parse_event(query, first, &facts->query_events[i], err));
        CLO_TRY(get_number(query, "noise", &facts->query_noise[i], err));
    }
    return CLO_OK;
}

/* ---- the arrays ------------------------------------------------------------------------------ */

/* The shape along the first elements; each list is then held to it while it is read. */
static clo_status find_shape(const json_t *value, size_t *shape, size_t *dimensions, clo_error *err)
{
    *dimensions = 0;
    while (json_is_array(value)) {
        if (*dimensions == CLO_MAX_DIMENSIONS || json_array_size(value) == 0)
            return bad(err, "an array is empty or has too many dimensions");
        shape[(*dimensions)++] = json_array_size(value);
        value = json_array_get(value, 0);
    }
    return *dimensions ? CLO_OK : bad(err, "a value is not an array");
}

static clo_status read_numbers(const json_t *value, const size_t *shape, size_t dimensions,
                               double **at, const double *end, clo_error *err)
{
    if (dimensions == 0) {
        if (!json_is_number(value) && !json_is_null(value))
            return bad(err, "an array holds something that is not a number");
        if (*at == end) return bad(err, "an array is not rectangular");
        *(*at)++ = json_is_null(value) ? NAN : json_number_value(value);
        return CLO_OK;
    }
    if (!json_is_array(value) || json_array_size(value) != shape[0])
        return bad(err, "an array is not rectangular");
    for (size_t i = 0; i < shape[0]; i++)
        CLO_TRY(read_numbers(json_array_get(value, i), shape + 1, dimensions - 1, at, end, err));
    return CLO_OK;
}

static clo_status parse_array(const char *name, const json_t *value, clo_release *release,
                              clo_error *err)
{
    size_t shape[CLO_MAX_DIMENSIONS], dimensions, count = 1;
    double *numbers = NULL;
    CLO_TRY(find_shape(value, shape, &dimensions, err));
    for (size_t i = 0; i < dimensions; i++)
        if (!clo_i_multiply(count, shape[i], &count) || count > MOST_BYTES / sizeof *numbers)
            return bad(err, "an array is too large");
    CLO_TRY(clo_i_alloc(count, sizeof *numbers, &numbers, err));
    double *at = numbers;
    clo_status status = read_numbers(value, shape, dimensions, &at, numbers + count, err);
    if (!status)
        status = clo_i_release_put(release, clo_i_name_from_schema(release->schema, name), numbers,
                                   dimensions, shape, err);
    clo_i_free(numbers);
    return status;
}

static clo_status copy_member(const json_t *object, const char *key, char *to, size_t room,
                              clo_error *err)
{
    char message[96];
    const char *const text = json_string_value(json_object_get(object, key));
    snprintf(message, sizeof message, "\"%s\" of the certificate is missing or too long", key);
    if (!text || strlen(text) >= room) return bad(err, message);
    memcpy(to, text, strlen(text) + 1);
    return CLO_OK;
}

static clo_status parse_certificate(const json_t *object, clo_i_certified *c, clo_error *err)
{
    char time[32];
    if (!object) return CLO_OK;
    c->there = true;
    if (json_object_get(object, "signature"))
        CLO_TRY(copy_member(object, "signature", c->signature, sizeof c->signature, err));
    CLO_TRY(copy_member(object, "ledger", c->ledger, sizeof c->ledger, err));
    CLO_TRY(get_count(object, "charge", &c->charge, err));
    CLO_TRY(copy_member(object, "dataset", c->dataset, sizeof c->dataset, err));
    CLO_TRY(copy_member(object, "time", time, sizeof time, err));
    CLO_TRY(copy_member(object, "program", c->program, sizeof c->program, err));
    CLO_TRY(copy_member(object, "values", c->values, sizeof c->values, err));
    CLO_TRY(copy_member(object, "public_key", c->public_key, sizeof c->public_key, err));
    if (!clo_i_certificate_time(time, &c->time)) return bad(err, "its \"time\" is not a time");
    return CLO_OK;
}

static clo_status parse_release(const json_t *root, clo_release *release, clo_error *err)
{
    clo_facts *const facts = &release->facts;
    const char *const schema = json_string_value(json_object_get(root, "schema"));
    const char *name;
    json_t *value;
    if (!schema || strncmp(schema, "cloister.release/", 17) != 0)
        return bad(err, "\"schema\" does not say cloister.release");
    const bool first = strcmp(schema, "cloister.release/1") == 0;
    if (!first && strcmp(schema, "cloister.release/2") != 0)
        return clo_i_fail(
            err, CLO_FORMAT,
            "the release was written by a newer version of cloister: update this one");
    release->schema = first ? CLO_SCHEMA_FIRST : CLO_SCHEMA;
    CLO_TRY(get_text(root, "version", &facts->version, err));
    CLO_TRY(get_text(root, "family", &facts->family, err));
    CLO_TRY(get_text(root, "method", &facts->method, err));
    CLO_TRY(parse_parameters(json_object_get(root, "parameters"), facts, err));
    CLO_TRY(parse_domain(json_object_get(root, "domain"), first, facts, err));
    CLO_TRY(parse_privacy(json_object_get(root, "privacy"), first, facts, err));
    CLO_TRY(parse_queries(json_object_get(root, "queries"), first, facts, err));
    json_t *const values = json_object_get(root, "values");
    if (!json_is_object(values)) return bad(err, "\"values\" is missing");
    json_object_foreach(values, name, value) CLO_TRY(parse_array(name, value, release, err));
    CLO_TRY(clo_i_derived_read(json_object_get(root, "derived"), &release->derived, err));
    CLO_TRY(clo_i_answers_read(json_object_get(root, "answers"), release, err));
    return parse_certificate(json_object_get(root, "certificate"), &release->certified, err);
}

clo_status clo_release_parse(const char *json, size_t length, clo_release **out, clo_error *err)
{
    clo_release *release = NULL;
    json_t *root = NULL;
    CLO_TRY(clo_i_parse_json(json, length, &root, err));
    clo_status status = clo_i_release_new(&release, err);
    if (!status) status = parse_release(root, release, err);
    json_decref(root);
    if (!status) status = clo_i_certificate_check(release, json, length, err);
    if (status)
        clo_release_free(release);
    else
        *out = release;
    return status;
}

clo_status clo_release_read(const char *path, clo_release **out, clo_error *err)
{
    char *bytes = NULL;
    size_t length = 0;
    clo_error detail = { .status = CLO_OK };
    CLO_TRY(clo_i_read_whole(path, MOST_BYTES, "a release", &bytes, &length, err));
    const clo_status status = clo_release_parse(bytes, length, out, &detail);
    clo_i_free(bytes);
    if (status) return clo_i_fail(err, status, "%.200s: %.280s", path, detail.message);
    return CLO_OK;
}
