/*
 * schema_read.c - a schema from a file: Table Schema JSON with one key of our own.  The file is the
 * owner's, and what is wrong with it is said in one sentence, before any data are read.
 */
#include "schema/schema.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const KEYS[] = { "fields",      "$schema",       "name",       "title",
                                    "description", "fieldsMatch",   "primaryKey", "uniqueKeys",
                                    "foreignKeys", "missingValues", "cloister",   NULL };
static const char *const OWN_KEYS[] = { "person", "rowsPerPerson", "rows", "relation", NULL };

static clo_status check_keys(const json_t *object, const char *const *keys, const char *name,
                             clo_error *err)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        bool known = false;
        for (size_t i = 0; keys[i]; i++) known = known || strcmp(keys[i], key) == 0;
        if (!known)
            return clo_i_fail(err, CLO_FORMAT, "%s: the key \"%.60s\" is unknown to cloister", name,
                              key);
    }
    return CLO_OK;
}

/* ---- what is said of the whole table --------------------------------------------------------- */

static clo_status read_gaps(const json_t *root, const char *name, clo_schema *schema,
                            clo_error *err)
{
    const json_t *const list = json_object_get(root, "missingValues");
    if (!list || json_is_null(list)) return clo_i_list_add(&schema->gaps, "", err);
    schema->own_gaps = true;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *const entry = json_array_get(list, i);
        const json_t *const value = json_is_object(entry) ? json_object_get(entry, "value") : entry;
        if (!json_is_string(value) || json_string_length(value) > CLO_SCHEMA_TEXT_BYTES)
            return clo_i_fail(err, CLO_FORMAT,
                              "%s: \"missingValues\" must be a list of texts of at most %d bytes",
                              name, (int)CLO_SCHEMA_TEXT_BYTES);
        CLO_TRY(clo_i_list_add(&schema->gaps, json_string_value(value), err));
    }
    if (json_is_array(list)) return CLO_OK;
    return clo_i_fail(err, CLO_FORMAT, "%s: \"missingValues\" must be a list [...]", name);
}

static clo_status get_count(const json_t *object, const char *key, const char *name, uint64_t *out,
                            clo_error *err)
{
    const json_t *const value = json_object_get(object, key);
    if (!value || json_is_null(value)) return CLO_OK;
    if (!json_is_integer(value) || json_integer_value(value) < 1)
        return clo_i_fail(err, CLO_FORMAT, "%s: \"%s\" must be a whole number of at least 1", name,
                          key);
    *out = (uint64_t)json_integer_value(value);
    return CLO_OK;
}

static clo_status get_text(const json_t *object, const char *key, const char *name, char **out,
                           clo_error *err)
{
    const json_t *const value = json_object_get(object, key);
    if (!value || json_is_null(value)) return CLO_OK;
    if (!json_is_string(value) || !json_string_value(value)[0] ||
        json_string_length(value) > CLO_SCHEMA_TEXT_BYTES)
        return clo_i_fail(err, CLO_FORMAT, "%s: \"%s\" must be a text of at most %d bytes", name,
                          key, (int)CLO_SCHEMA_TEXT_BYTES);
    return clo_i_copy_text(json_string_value(value), out, err);
}

static clo_status read_own(const json_t *root, const char *name, clo_schema *schema, clo_error *err)
{
    const json_t *const own = json_object_get(root, "cloister");
    if (!own || json_is_null(own)) return CLO_OK;
    if (!json_is_object(own))
        return clo_i_fail(err, CLO_FORMAT, "%s: \"cloister\" must be an object {...}", name);
    CLO_TRY(check_keys(own, OWN_KEYS, name, err));
    CLO_TRY(get_text(own, "person", name, &schema->person, err));
    CLO_TRY(get_text(own, "relation", name, &schema->relation, err));
    CLO_TRY(get_count(own, "rowsPerPerson", name, &schema->rows_per_person, err));
    CLO_TRY(get_count(own, "rows", name, &schema->rows, err));
    if (schema->rows_per_person && !schema->person)
        return clo_i_fail(err, CLO_FORMAT, "%s: \"rowsPerPerson\" needs \"person\"", name);
    if (!schema->relation || strcmp(schema->relation, "replace") == 0 ||
        strcmp(schema->relation, "add-remove") == 0)
        return CLO_OK;
    return clo_i_fail(err, CLO_FORMAT, "%s: \"relation\" must be \"replace\" or \"add-remove\"",
                      name);
}

/* ---- fields ---------------------------------------------------------------------------------- */

static bool is_in_key(const json_t *root, const char *name)
{
    const json_t *const key = json_object_get(root, "primaryKey");
    if (json_is_string(key)) return strcmp(json_string_value(key), name) == 0;
    for (size_t i = 0; i < json_array_size(key); i++) {
        const char *const part = json_string_value(json_array_get(key, i));
        if (part && strcmp(part, name) == 0) return true;
    }
    return false;
}

/* Whether a field says itself that it is used. */
static bool says_use(const json_t *object)
{
    return json_is_true(json_object_get(json_object_get(object, "cloister"), "use"));
}

static clo_status read_name(const json_t *object, size_t number, const char *name, clo_i_field *f,
                            clo_error *err)
{
    const json_t *const value = json_object_get(object, "name");
    if (!json_is_object(object))
        return clo_i_fail(err, CLO_FORMAT, "%s: field %zu must be an object {...}", name,
                          number + 1);
    if (!json_is_string(value) || !json_string_value(value)[0])
        return clo_i_fail(err, CLO_FORMAT, "%s: field %zu has no \"name\"", name, number + 1);
    if (json_string_length(value) > CLO_SCHEMA_TEXT_BYTES)
        return clo_i_fail(err, CLO_FORMAT, "%s: the name of field %zu is longer than %d bytes",
                          name, number + 1, (int)CLO_SCHEMA_TEXT_BYTES);
    return clo_i_copy_text(json_string_value(value), &f->name, err);
}

static clo_status read_field(const json_t *root, const json_t *object, size_t number,
                             const char *name, clo_schema *schema, clo_error *err)
{
    clo_i_field *const f = &schema->fields[number];
    char where[256];
    CLO_TRY(read_name(object, number, name, f, err));
    snprintf(where, sizeof where, "%.120s, field '%.60s'", name, f->name);
    CLO_TRY(clo_i_field_read(object, where, &schema->gaps, f, err));
    const bool key = is_in_key(root, f->name) && !says_use(object);
    if (!key && !(schema->person && strcmp(schema->person, f->name) == 0)) return CLO_OK;
    f->kind = CLO_FIELD_UNUSED;
    f->open = false;
    return CLO_OK;
}

static int by_name(const void *a, const void *b)
{
    const clo_i_field *const *const x = a, *const *const y = b;
    return strcmp((*x)->name, (*y)->name);
}

static clo_status check_names(const clo_schema *schema, const char *name, clo_error *err)
{
    const clo_i_field **order = NULL;
    CLO_TRY(clo_i_alloc(schema->count, sizeof *order, &order, err));
    for (size_t i = 0; i < schema->count; i++) order[i] = &schema->fields[i];
    qsort(order, schema->count, sizeof *order, by_name);
    clo_status status = CLO_OK;
    for (size_t i = 1; i < schema->count && !status; i++)
        if (by_name(&order[i - 1], &order[i]) == 0)
            status = clo_i_fail(err, CLO_FORMAT, "%s: the field '%.60s' is there twice", name,
                                order[i]->name);
    clo_i_free(order);
    return status;
}

static clo_status check_person(const clo_schema *schema, const char *name, clo_error *err)
{
    for (size_t i = 0; schema->person && i < schema->count; i++)
        if (strcmp(schema->fields[i].name, schema->person) == 0) return CLO_OK;
    if (!schema->person) return CLO_OK;
    return clo_i_fail(err, CLO_FORMAT, "%s: \"person\" is '%.60s', which is no field", name,
                      schema->person);
}

static clo_status read_fields(const json_t *root, const char *name, const char *whole,
                              clo_schema *schema, clo_error *err)
{
    const json_t *const list = json_object_get(root, "fields");
    const size_t count = json_array_size(list);
    if (count == 0)
        return clo_i_fail(err, CLO_FORMAT, "%s: \"fields\" must be a list of columns", name);
    if (count > CLO_SCHEMA_MOST_FIELDS)
        return clo_i_fail(err, CLO_FORMAT, "%s: more than %d fields", name,
                          (int)CLO_SCHEMA_MOST_FIELDS);
    CLO_TRY(clo_i_alloc(count, sizeof *schema->fields, &schema->fields, err));
    for (size_t i = 0; i < count; i++) {
        schema->count = i + 1;
        CLO_TRY(read_field(root, json_array_get(list, i), i, name, schema, err));
    }
    CLO_TRY(check_names(schema, name, err));
    if (!whole) CLO_TRY(check_person(schema, name, err));
    return clo_i_schema_settle(schema, whole, err);
}

clo_status clo_i_schema_of_json(const json_t *root, const char *name, const char *whole,
                                clo_schema **out, clo_error *err)
{
    clo_schema *schema = NULL;
    if (!json_is_object(root))
        return clo_i_fail(err, CLO_FORMAT, "%s is no Table Schema: it must be an object {...}",
                          name);
    CLO_TRY(check_keys(root, KEYS, name, err));
    CLO_TRY(clo_i_alloc(1, sizeof *schema, &schema, err));
    atomic_init(&schema->holders, 1);
    schema->selected = whole != NULL;
    clo_status status = read_gaps(root, name, schema, err);
    if (!status) status = read_own(root, name, schema, err);
    if (!status) status = read_fields(root, name, whole, schema, err);
    if (status)
        clo_schema_free(schema);
    else
        *out = schema;
    return status;
}

/* ---- files ----------------------------------------------------------------------------------- */

static clo_status read_file(const char *path, char **text, size_t *length, clo_error *err)
{
    const bool standard = strcmp(path, "-") == 0;
    FILE *const in = standard ? stdin : fopen(path, "rb");
    if (!in)
        return clo_i_fail(err, errno == ENOENT ? CLO_ARGUMENT : CLO_IO,
                          "the schema '%.200s' cannot be read: %s", path, strerror(errno));
    clo_status status = clo_i_alloc(CLO_SCHEMA_FILE_BYTES + 1, 1, text, err);
    *length = status ? 0 : fread(*text, 1, CLO_SCHEMA_FILE_BYTES + 1, in);
    if (!status && ferror(in))
        status = clo_i_fail(err, CLO_IO, "the schema '%.200s' cannot be read", path);
    if (!status && *length > CLO_SCHEMA_FILE_BYTES)
        status = clo_i_fail(err, CLO_FORMAT, "the schema '%.200s' is larger than %d MiB", path,
                            (int)(CLO_SCHEMA_FILE_BYTES >> 20));
    if (!standard) (void)fclose(in);
    return status;
}

static clo_status parse(const char *text, size_t length, const char *name, clo_schema **out,
                        clo_error *err)
{
    json_error_t what;
    json_t *const root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &what);
    if (!root)
        return clo_i_fail(err, CLO_FORMAT, "%s, line %d: this is not JSON: %.120s", name, what.line,
                          what.text);
    const clo_status status = clo_i_schema_of_json(root, name, NULL, out, err);
    json_decref(root);
    return status;
}

clo_status clo_i_schema_read_draft(const char *path, clo_schema **out, clo_error *err)
{
    char *text = NULL;
    size_t length = 0;
    if (!path) return clo_i_fail(err, CLO_ARGUMENT, "no schema was given");
    if (path[0] == '{') return parse(path, strlen(path), "the schema", out, err);
    clo_status status = read_file(path, &text, &length, err);
    if (!status) status = parse(text, length, path, out, err);
    clo_i_free(text);
    return status;
}

clo_status clo_i_schema_check_stated(const clo_schema *schema, const char *name, clo_error *err)
{
    for (size_t i = 0; i < schema->count; i++) {
        const clo_i_field *const f = &schema->fields[i];
        if (!f->open) continue;
        if (f->type == CLO_TYPE_STRING)
            return clo_i_fail(err, CLO_FORMAT,
                              "%s, field '%.60s': a run needs the list of its levels: state "
                              "\"categories\", or leave the column out (\"cloister\": {\"use\": "
                              "false})",
                              name, f->name);
        return clo_i_fail(
            err, CLO_FORMAT,
            "%s, field '%.60s': a run needs its bounds: state \"minimum\" and "
            "\"maximum\" from public knowledge, or leave the column out (\"cloister\": "
            "{\"use\": false})",
            name, f->name);
    }
    if (schema->used_count) return CLO_OK;
    return clo_i_fail(err, CLO_FORMAT, "%s: no field is used", name);
}

clo_status clo_schema_read(const char *path, clo_schema **out, clo_error *err)
{
    clo_schema *schema = NULL;
    CLO_TRY(clo_i_schema_read_draft(path, &schema, err));
    const clo_status status =
        clo_i_schema_check_stated(schema, path[0] == '{' ? "the schema" : path, err);
    if (status)
        clo_schema_free(schema);
    else
        *out = schema;
    return status;
}
