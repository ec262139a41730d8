/*
 * schema_field.c - one column of a schema from JSON: every key is known or refused, and every fact
 * is checked against the type before it is believed.
 */
#include "schema/schema.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- keys ------------------------------------------------------------------------------------ */

static clo_status refuse_strangers(const json_t *object, const char *const *keys, const char *where,
                                   clo_error *err)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        bool known = false;
        for (size_t i = 0; keys[i]; i++) known = known || strcmp(keys[i], key) == 0;
        if (!known)
            return clo_i_fail(err, CLO_FORMAT, "%s: the key \"%.60s\" is unknown to cloister",
                              where, key);
    }
    return CLO_OK;
}

/* NULL where it is not there, or null. */
static const json_t *get(const json_t *object, const char *key)
{
    const json_t *const value = json_object_get(object, key);
    return json_is_null(value) ? NULL : value;
}

static clo_status get_object(const json_t *object, const char *key, const char *const *keys,
                             const char *where, const json_t **out, clo_error *err)
{
    *out = get(object, key);
    if (!*out) return CLO_OK;
    if (!json_is_object(*out))
        return clo_i_fail(err, CLO_FORMAT, "%s: \"%s\" must be an object {...}", where, key);
    return refuse_strangers(*out, keys, where, err);
}

static clo_status get_text(const json_t *object, const char *key, const char *where, char **out,
                           clo_error *err)
{
    const json_t *const value = get(object, key);
    if (!value) return CLO_OK;
    if (!json_is_string(value) || !json_string_value(value)[0])
        return clo_i_fail(err, CLO_FORMAT, "%s: \"%s\" must be a text", where, key);
    if (json_string_length(value) > CLO_SCHEMA_TEXT_BYTES)
        return clo_i_fail(err, CLO_FORMAT, "%s: \"%s\" is longer than %d bytes", where, key,
                          (int)CLO_SCHEMA_TEXT_BYTES);
    return clo_i_copy_text(json_string_value(value), out, err);
}

static clo_status get_number(const json_t *object, const char *key, double least, double most,
                             const char *where, double *out, clo_error *err)
{
    const json_t *const value = get(object, key);
    if (!value) return CLO_OK;
    const double number = json_number_value(value);
    if (!json_is_number(value) || !(number >= least && number <= most))
        return clo_i_fail(err, CLO_FORMAT, "%s: \"%s\" must be a number between %g and %g", where,
                          key, least, most);
    *out = number;
    return CLO_OK;
}

static clo_status get_bool(const json_t *object, const char *key, const char *where, bool *out,
                           clo_error *err)
{
    const json_t *const value = get(object, key);
    if (!value) return CLO_OK;
    if (!json_is_boolean(value))
        return clo_i_fail(err, CLO_FORMAT, "%s: \"%s\" must be true or false", where, key);
    *out = json_is_true(value);
    return CLO_OK;
}

/* One of these words, by its place. */
static clo_status get_word(const json_t *object, const char *key, const char *const *words,
                           const char *where, int *out, clo_error *err)
{
    const json_t *const value = get(object, key);
    char list[160] = "";
    if (!value) return CLO_OK;
    for (int i = 0; words[i]; i++) {
        if (json_is_string(value) && strcmp(words[i], json_string_value(value)) == 0) {
            *out = i;
            return CLO_OK;
        }
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s\"%s\"",
                 i == 0         ? ""
                 : words[i + 1] ? ", "
                                : " or ",
                 words[i]);
    }
    return clo_i_fail(err, CLO_FORMAT, "%s: \"%s\" must be %s", where, key, list);
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* An entry of a list of levels or missing values: a text, a number, or { "value": ..., "label": ...
 * }.
 */
static clo_status entry_text(const json_t *entry, const char *what, const char *where,
                             char text[CLO_SCHEMA_TEXT_BYTES + 1], clo_error *err)
{
    const json_t *const value = json_is_object(entry) ? json_object_get(entry, "value") : entry;
    if (json_is_number(value)) {
        char number[CLO_NUMBER_SIZE];
        clo_number_text(json_number_value(value), number);
        snprintf(text, CLO_SCHEMA_TEXT_BYTES + 1, "%s", number);
        return CLO_OK;
    }
    if (!json_is_string(value))
        return clo_i_fail(err, CLO_FORMAT, "%s: a %s must be a text or a number", where, what);
    if (json_string_length(value) > CLO_SCHEMA_TEXT_BYTES)
        return clo_i_fail(err, CLO_FORMAT, "%s: a %s is longer than %d bytes", where, what,
                          (int)CLO_SCHEMA_TEXT_BYTES);
    snprintf(text, CLO_SCHEMA_TEXT_BYTES + 1, "%s", json_string_value(value));
    return CLO_OK;
}

static clo_status read_list(const json_t *value, const char *key, const char *what,
                            const char *where, clo_i_list *out, clo_error *err)
{
    char text[CLO_SCHEMA_TEXT_BYTES + 1];
    if (!json_is_array(value))
        return clo_i_fail(err, CLO_FORMAT, "%s: \"%s\" must be a list [...]", where, key);
    const size_t count = json_array_size(value);
    if (count > CLO_SCHEMA_MOST_LEVELS)
        return clo_i_fail(err, CLO_FORMAT, "%s: \"%s\" has %zu entries; at most %d are allowed",
                          where, key, count, (int)CLO_SCHEMA_MOST_LEVELS);
    for (size_t i = 0; i < count; i++) {
        CLO_TRY(entry_text(json_array_get(value, i), what, where, text, err));
        CLO_TRY(clo_i_list_add(out, text, err));
    }
    return CLO_OK;
}

static const json_t *entry_value(const json_t *list, size_t i)
{
    const json_t *const entry = json_array_get(list, i);
    return json_is_object(entry) ? json_object_get(entry, "value") : entry;
}

/* ---- levels ---------------------------------------------------------------------------------- */

static bool is_numeric(const clo_i_field *f)
{
    return f->type == CLO_TYPE_NUMBER || f->type == CLO_TYPE_INTEGER;
}

/* Levels of a column of numbers are numbers, of text texts: a cell is compared as what it is. */
static clo_status check_levels(const json_t *list, clo_i_field *f, const char *where,
                               clo_error *err)
{
    const size_t count = json_array_size(list);
    if (f->type == CLO_TYPE_DATE || f->type == CLO_TYPE_DATETIME || f->type == CLO_TYPE_BOOLEAN)
        return clo_i_fail(err, CLO_FORMAT,
                          "%s: a list of levels is for strings, integers and numbers", where);
    if (count < 2)
        return clo_i_fail(err, CLO_FORMAT, "%s: the list of levels has %s: a category needs two",
                          where, count ? "one level" : "no levels");
    if (is_numeric(f)) CLO_TRY(clo_i_alloc(count, sizeof *f->numbers, &f->numbers, err));
    for (size_t i = 0; i < count; i++) {
        const json_t *const value = entry_value(list, i);
        if (is_numeric(f) != json_is_number(value))
            return clo_i_fail(err, CLO_FORMAT,
                              "%s: the levels of a column of the type %s must be %s", where,
                              is_numeric(f) ? "integer or number" : "string",
                              is_numeric(f) ? "numbers" : "texts");
        if (f->numbers) f->numbers[i] = json_number_value(value);
    }
    return CLO_OK;
}

static clo_status read_levels(const json_t *object, const json_t *constraints, clo_i_field *f,
                              const char *where, clo_error *err)
{
    const json_t *const categories = get(object, "categories");
    const json_t *const values = constraints ? get(constraints, "enum") : NULL;
    const json_t *const list = categories ? categories : values;
    if (categories && values)
        return clo_i_fail(err, CLO_FORMAT,
                          "%s: give the levels once, as \"categories\" or as \"enum\"", where);
    if (list) {
        CLO_TRY(
            read_list(list, categories ? "categories" : "enum", "level", where, &f->levels, err));
        CLO_TRY(check_levels(list, f, where, err));
    } else if (f->type == CLO_TYPE_BOOLEAN) {
        CLO_TRY(clo_i_list_add(&f->levels, "false", err));
        CLO_TRY(clo_i_list_add(&f->levels, "true", err));
    }
    f->stated = f->levels.count;
    return CLO_OK;
}

/* A rule's own level, unless the list has one of that name. */
static clo_status add_level(clo_i_field *f, const char *name, size_t *out, clo_error *err)
{
    for (*out = 0; *out < f->levels.count; ++*out)
        if (strcmp(f->levels.texts[*out], name) == 0) return CLO_OK;
    return clo_i_list_add(&f->levels, name, err);
}

static clo_status read_truth(const json_t *object, const char *key, const char *const *usual,
                             const char *where, clo_i_list *out, clo_error *err)
{
    const json_t *const list = get(object, key);
    if (list) return read_list(list, key, "value", where, out, err);
    for (size_t i = 0; usual[i]; i++) CLO_TRY(clo_i_list_add(out, usual[i], err));
    return CLO_OK;
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static clo_status read_bound(const json_t *constraints, const char *key, const clo_i_field *f,
                             const char *where, bool *has, double *out, clo_error *err)
{
    const json_t *const value = constraints ? get(constraints, key) : NULL;
    double number = NAN;
    if (!value) return CLO_OK;
    const bool moment = f->type == CLO_TYPE_DATE || f->type == CLO_TYPE_DATETIME;
    if (!moment && !is_numeric(f))
        return clo_i_fail(err, CLO_FORMAT, "%s: \"%s\" is for numbers and dates", where, key);
    if (!moment && json_is_number(value)) number = json_number_value(value);
    if (f->type == CLO_TYPE_DATE && json_is_string(value))
        number = clo_i_date_cell(json_string_value(value), json_string_length(value), NULL);
    if (f->type == CLO_TYPE_DATETIME && json_is_string(value)) {
        number =
            clo_i_datetime_cell(json_string_value(value), json_string_length(value), NULL, f->zone);
        number = key[1] == 'i' ? floor(number) : ceil(number);
    }
    if (!isfinite(number))
        return clo_i_fail(err, CLO_FORMAT, "%s: \"%s\" must be %s", where, key,
                          f->type == CLO_TYPE_DATE       ? "a date, such as \"2020-12-31\""
                          : f->type == CLO_TYPE_DATETIME ? "a time, such as "
                                                           "\"2020-12-31T23:59:59Z\""
                                                         : "a finite number");
    *has = true;
    *out = number;
    return CLO_OK;
}

static clo_status read_bounds(const json_t *constraints, clo_i_field *f, const char *where,
                              clo_error *err)
{
    CLO_TRY(read_bound(constraints, "minimum", f, where, &f->has_lower, &f->lower, err));
    CLO_TRY(read_bound(constraints, "maximum", f, where, &f->has_upper, &f->upper, err));
    if (!f->has_lower || !f->has_upper || f->lower < f->upper) return CLO_OK;
    return clo_i_fail(err, CLO_FORMAT, "%s: \"minimum\" must be below \"maximum\"", where);
}

/* ---- the extension key ----------------------------------------------------------------------- */

static clo_status read_period(const json_t *own, clo_i_field *f, const char *where, clo_error *err)
{
    const json_t *const value = own ? get(own, "cyclic") : NULL;
    if (!value || json_is_false(value)) return CLO_OK;
    if (f->stated || f->type == CLO_TYPE_STRING || f->type == CLO_TYPE_BOOLEAN)
        return clo_i_fail(err, CLO_FORMAT, "%s: \"cyclic\" is for numbers and dates without levels",
                          where);
    if (json_is_number(value) && json_number_value(value) > 0) {
        f->period = json_number_value(value);
        if (!f->has_lower) f->lower = 0;
        return CLO_OK;
    }
    if (!json_is_true(value))
        return clo_i_fail(err, CLO_FORMAT,
                          "%s: \"cyclic\" must be true, or the length of one turn, such as 24",
                          where);
    if (!f->has_lower || !f->has_upper)
        return clo_i_fail(err, CLO_FORMAT,
                          "%s: \"cyclic\" needs \"minimum\" and \"maximum\", or the length of one "
                          "turn",
                          where);
    f->period = f->upper - f->lower + (f->type == CLO_TYPE_INTEGER);
    return CLO_OK;
}

static const char *const MISSING_WORDS[] = { "ignore", "level", "fill", "drop", NULL };
static const char *const OUTSIDE_WORDS[] = { "clip", "missing", "other", NULL };

static clo_status read_fill(const json_t *own, clo_i_field *f, const char *where, clo_error *err)
{
    const json_t *const value = own ? get(own, "fill") : NULL;
    const bool fills = f->missing == CLO_CELL_FILL;
    f->fill = NAN;
    if (!value && !fills) return CLO_OK;
    if (!value || !fills)
        return clo_i_fail(err, CLO_FORMAT, "%s: %s", where,
                          fills ? "\"missing\": \"fill\" needs a value: add \"fill\""
                                : "\"fill\" needs \"missing\": \"fill\"");
    if (json_is_number(value) && is_numeric(f)) f->fill = json_number_value(value);
    if (json_is_boolean(value) && f->type == CLO_TYPE_BOOLEAN) f->fill = json_is_true(value);
    if (json_is_string(value)) {
        const char *const text = json_string_value(value);
        if (f->type == CLO_TYPE_DATE) f->fill = clo_i_date_cell(text, strlen(text), NULL);
        if (f->type == CLO_TYPE_DATETIME)
            f->fill = clo_i_datetime_cell(text, strlen(text), NULL, f->zone);
        for (size_t i = 0; f->type == CLO_TYPE_STRING && i < f->stated; i++)
            if (strcmp(f->levels.texts[i], text) == 0) f->fill = (double)i;
    }
    for (size_t i = 0; f->numbers && i <= f->stated; i++) { /* a level by its number */
        if (i == f->stated) f->fill = NAN;
        if (i < f->stated && f->numbers[i] == f->fill) {
            f->fill = (double)i;
            break;
        }
    }
    const bool bounded = f->has_lower && f->has_upper && !f->stated && f->period == 0;
    if (isfinite(f->fill) && !(bounded && (f->fill < f->lower || f->fill > f->upper)))
        return CLO_OK;
    return clo_i_fail(err, CLO_FORMAT, "%s: \"fill\" must be a value that the column can have",
                      where);
}

static clo_status read_rules(const json_t *own, clo_i_field *f, const char *where, clo_error *err)
{
    int missing = 0, outside = -1;
    if (own) CLO_TRY(get_word(own, "missing", MISSING_WORDS, where, &missing, err));
    if (own) CLO_TRY(get_word(own, "outside", OUTSIDE_WORDS, where, &outside, err));
    f->missing = (clo_cell_rule)(missing + CLO_CELL_IGNORE);
    const bool plain = f->stated > 0 && !f->ordered;
    if (f->missing == CLO_CELL_LEVEL && !plain)
        return clo_i_fail(err, CLO_FORMAT,
                          "%s: \"missing\": \"level\" is for categories that are not ordered",
                          where);
    if (outside == CLO_OUTSIDE_OTHER && !plain)
        return clo_i_fail(err, CLO_FORMAT,
                          "%s: \"outside\": \"other\" is for categories that are not ordered",
                          where);
    if (outside == CLO_OUTSIDE_CLIP && (f->stated || f->period > 0))
        return clo_i_fail(err, CLO_FORMAT, "%s: \"outside\": \"clip\" is for numbers with bounds",
                          where);
    f->outside = outside >= 0 ? (clo_i_outside)outside
                 : f->stated  ? CLO_OUTSIDE_MISSING
                              : CLO_OUTSIDE_CLIP;
    CLO_TRY(read_fill(own, f, where, err));
    f->other = f->gap = SIZE_MAX;
    if (f->outside == CLO_OUTSIDE_OTHER) CLO_TRY(add_level(f, "other", &f->other, err));
    if (f->missing == CLO_CELL_LEVEL) CLO_TRY(add_level(f, "missing", &f->gap, err));
    return CLO_OK;
}

static clo_status read_zone(const json_t *own, clo_i_field *f, const char *where, clo_error *err)
{
    if (own) CLO_TRY(get_text(own, "timeZone", where, &f->zone_text, err));
    if (!f->zone_text) return CLO_OK;
    f->zone = clo_i_zone_seconds(f->zone_text);
    if (f->type != CLO_TYPE_DATETIME)
        return clo_i_fail(err, CLO_FORMAT, "%s: \"timeZone\" is for the type datetime", where);
    if (isfinite(f->zone)) return CLO_OK;
    return clo_i_fail(err, CLO_FORMAT,
                      "%s: \"timeZone\" must be \"UTC\" or an offset such as \"+01:00\"", where);
}

/* ---- the field ------------------------------------------------------------------------------- */

static clo_status read_type(const json_t *object, clo_i_field *f, const char *where, clo_error *err)
{
    static const char *const types[] = { "number", "integer",  "boolean", "string",
                                         "date",   "datetime", NULL };
    int type = -1;
    CLO_TRY(get_word(object, "type", types, where, &type, err));
    if (type < 0) return clo_i_fail(err, CLO_FORMAT, "%s: \"type\" is missing", where);
    f->type = (clo_i_type)(type + CLO_TYPE_NUMBER);
    CLO_TRY(get_text(object, "format", where, &f->format, err));
    if (!f->format) return CLO_OK;
    if (strcmp(f->format, "default") == 0) {
        clo_i_free(f->format);
        f->format = NULL;
        return CLO_OK;
    }
    if (f->type == CLO_TYPE_STRING) return CLO_OK; /* an address, say: the list decides */
    const bool moment = f->type == CLO_TYPE_DATE || f->type == CLO_TYPE_DATETIME;
    bool known = moment && strchr(f->format, '%');
    for (const char *c = f->format; known && (c = strchr(c, '%')); c += 2)
        known = c[1] && strchr("YymdbBHMSz", c[1]);
    if (known) return CLO_OK;
    return clo_i_fail(err, CLO_FORMAT, "%s: \"format\" must be \"default\"%s", where,
                      moment ? ", or made of %Y %y %m %d %b %B %H %M %S %z" : " for this type");
}

static clo_field_kind kind_of(const clo_i_field *f)
{
    if (f->stated) return f->ordered ? CLO_FIELD_RANK : CLO_FIELD_LEVELS;
    if (f->period > 0) return CLO_FIELD_CYCLIC;
    if (f->type == CLO_TYPE_DATE) return CLO_FIELD_DATE;
    return f->type == CLO_TYPE_DATETIME ? CLO_FIELD_DATETIME : CLO_FIELD_NUMBER;
}

static void settle_kind(clo_i_field *f, bool used)
{
    f->kind = used ? kind_of(f) : CLO_FIELD_UNUSED;
    if (f->kind == CLO_FIELD_RANK) {
        f->lower = 1;
        f->upper = (double)f->levels.count;
    }
    const bool bounded =
        f->kind == CLO_FIELD_NUMBER || f->kind == CLO_FIELD_DATE || f->kind == CLO_FIELD_DATETIME;
    f->open = bounded && (f->type == CLO_TYPE_STRING || !f->has_lower || !f->has_upper);
}

static clo_status read_own(const json_t *own, clo_i_field *f, bool *used, const char *where,
                           clo_error *err)
{
    f->weight = 1;
    if (!own) return CLO_OK;
    CLO_TRY(get_bool(own, "use", where, used, err));
    CLO_TRY(get_number(own, "weight", 1e-3, 1e3, where, &f->weight, err));
    CLO_TRY(get_text(own, "group", where, &f->group, err));
    CLO_TRY(get_text(own, "source", where, &f->source, err));
    return get_text(own, "unit", where, &f->unit, err);
}

static clo_status read_gaps(const json_t *object, const clo_i_list *gaps, clo_i_field *f,
                            const char *where, clo_error *err)
{
    const json_t *const list = get(object, "missingValues");
    f->own_gaps = list != NULL;
    if (list) return read_list(list, "missingValues", "missing value", where, &f->gaps, err);
    for (size_t i = 0; i < gaps->count; i++) CLO_TRY(clo_i_list_add(&f->gaps, gaps->texts[i], err));
    return CLO_OK;
}

clo_status clo_i_field_read(const json_t *object, const char *where, const clo_i_list *gaps,
                            clo_i_field *f, clo_error *err)
{
    static const char *const keys[] = { "name",        "type",          "format",
                                        "title",       "description",   "example",
                                        "rdfType",     "categories",    "categoriesOrdered",
                                        "constraints", "missingValues", "trueValues",
                                        "falseValues", "cloister",      NULL };
    static const char *const bounds[] = {
        "minimum", "maximum", "enum", "required", "unique", NULL
    };
    static const char *const extension[] = { "use",    "weight",   "group",   "source",
                                             "unit",   "outside",  "missing", "fill",
                                             "cyclic", "timeZone", NULL };
    static const char *const yes[] = { "true", "True", "TRUE", "1", NULL };
    static const char *const no[] = { "false", "False", "FALSE", "0", NULL };
    const json_t *constraints, *own;
    bool used = true;
    CLO_TRY(refuse_strangers(object, keys, where, err));
    CLO_TRY(get_object(object, "constraints", bounds, where, &constraints, err));
    CLO_TRY(get_object(object, "cloister", extension, where, &own, err));
    CLO_TRY(read_type(object, f, where, err));
    CLO_TRY(read_zone(own, f, where, err));
    CLO_TRY(read_own(own, f, &used, where, err));
    CLO_TRY(get_bool(object, "categoriesOrdered", where, &f->ordered, err));
    CLO_TRY(read_levels(object, constraints, f, where, err));
    CLO_TRY(read_bounds(constraints, f, where, err));
    CLO_TRY(read_period(own, f, where, err));
    CLO_TRY(read_rules(own, f, where, err));
    CLO_TRY(read_gaps(object, gaps, f, where, err));
    if (f->type == CLO_TYPE_BOOLEAN) {
        CLO_TRY(read_truth(object, "trueValues", yes, where, &f->yes, err));
        CLO_TRY(read_truth(object, "falseValues", no, where, &f->no, err));
    }
    settle_kind(f, used);
    return clo_i_field_index(f, where, err);
}

void clo_i_field_clear(clo_i_field *f)
{
    char *const texts[] = { f->name,   f->source,    f->unit,     f->group,
                            f->format, f->zone_text, f->fill_text };
    void *const arrays[] = { f->numbers, f->by_number, f->gap_numbers, f->texts.table, f->tail };
    clo_i_list *const lists[] = { &f->levels, &f->gaps, &f->yes, &f->no };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) clo_i_free(texts[i]);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) clo_i_free(arrays[i]);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) clo_i_list_clear(lists[i]);
    *f = (clo_i_field){ .name = NULL };
}

static clo_status copy_list(const clo_i_list *from, clo_i_list *to, clo_error *err)
{
    for (size_t i = 0; i < from->count; i++) CLO_TRY(clo_i_list_add(to, from->texts[i], err));
    return CLO_OK;
}

/* Everything that was read; what follows from it is made anew. */
clo_status clo_i_field_copy(const clo_i_field *from, clo_i_field *out, clo_error *err)
{
    char *const texts[] = { from->name,   from->source,    from->unit,     from->group,
                            from->format, from->zone_text, from->fill_text };
    *out = *from;
    char **const places[] = { &out->name,   &out->source,    &out->unit,     &out->group,
                              &out->format, &out->zone_text, &out->fill_text };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) *places[i] = NULL;
    out->levels = out->gaps = out->yes = out->no = (clo_i_list){ .count = 0 };
    out->numbers = out->gap_numbers = out->tail = NULL;
    out->by_number = NULL;
    out->texts = (clo_i_texts){ .count = 0 }; /* what collects, collects for all copies */
    out->gap_count = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (texts[i]) CLO_TRY(clo_i_copy_text(texts[i], places[i], err));
    CLO_TRY(copy_list(&from->levels, &out->levels, err));
    CLO_TRY(copy_list(&from->gaps, &out->gaps, err));
    CLO_TRY(copy_list(&from->yes, &out->yes, err));
    CLO_TRY(copy_list(&from->no, &out->no, err));
    if (!from->numbers) return CLO_OK;
    CLO_TRY(clo_i_alloc(from->stated, sizeof *out->numbers, &out->numbers, err));
    memcpy(out->numbers, from->numbers, from->stated * sizeof *out->numbers);
    return CLO_OK;
}
