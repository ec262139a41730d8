/*
 * schema_object.c - a schema as an object: its coordinates, outputs, radius and digests, and the
 * part of it that a table has.  It is never changed once it is made, so that many may hold it.
 */
#include "schema/schema.h"
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

clo_schema *clo_i_schema_keep(const clo_schema *schema)
{
    clo_schema *const own = (clo_schema *)(uintptr_t)schema;
    if (own) atomic_fetch_add(&own->holders, 1);
    return own;
}

void clo_schema_free(clo_schema *schema)
{
    if (!schema || atomic_fetch_sub(&schema->holders, 1) > 1) return;
    for (size_t i = 0; schema->fields && i < schema->count; i++)
        clo_i_field_clear(&schema->fields[i]);
    clo_i_free(schema->fields);
    clo_i_list_clear(&schema->gaps);
    clo_i_free(schema->person);
    clo_i_free(schema->relation);
    for (size_t i = 0; schema->output_names && i < schema->outputs; i++)
        clo_i_free(schema->output_names[i]);
    clo_i_free(schema->output_names);
    clo_i_free(schema->used);
    clo_i_free(schema);
}

/* ---- coordinates ----------------------------------------------------------------------------- */

/* Columns that say the same thing share one weight: their squares add up to one column's. */
static double weight_of(const clo_schema *schema, const clo_i_field *f)
{
    size_t alike = 0;
    for (size_t i = 0; f->group && i < schema->count; i++) {
        const clo_i_field *const other = &schema->fields[i];
        alike +=
            other->kind != CLO_FIELD_UNUSED && other->group && strcmp(other->group, f->group) == 0;
    }
    return alike > 1 ? f->weight / sqrt((double)alike) : f->weight;
}

static clo_status settle_levels(clo_i_field *f, double weight, clo_error *err)
{
    const size_t m = f->levels.count;
    f->coords = m - 1;
    f->outputs = m;
    f->unit_length = weight * sqrt(CLO_SCHEMA_LEVEL_SQUARE);
    CLO_TRY(clo_i_alloc(m - 1, sizeof *f->tail, &f->tail, err));
    for (size_t i = 1; i < m; i++)
        f->tail[i - 1] = f->unit_length / sqrt((double)i * (double)(i + 1));
    return CLO_OK;
}

/* Its coordinates, and the square of the longest record in them. */
static clo_status settle_field(const clo_schema *schema, clo_i_field *f, double *square,
                               clo_error *err)
{
    const double weight = weight_of(schema, f);
    *square = 0;
    if (f->kind == CLO_FIELD_UNUSED || f->open) return CLO_OK;
    f->unit_length = weight;
    *square = weight * weight;
    f->coords = f->outputs = 1;
    f->half = f->upper / 2 - f->lower / 2;
    f->middle = f->lower / 2 + f->upper / 2;
    if (f->kind == CLO_FIELD_CYCLIC) {
        f->coords = f->outputs = 2;
        f->half = 1;
        f->middle = 0;
    }
    if (f->kind != CLO_FIELD_LEVELS) return CLO_OK;
    CLO_TRY(settle_levels(f, weight, err));
    *square = f->unit_length * f->unit_length * (1 - 1 / (double)f->levels.count);
    return CLO_OK;
}

static clo_status name_outputs(clo_schema *schema, const clo_i_field *f, clo_error *err)
{
    char name[2 * CLO_SCHEMA_TEXT_BYTES + 16];
    static const char *const sides[] = { "cos", "sin" };
    for (size_t i = 0; i < f->outputs; i++) {
        const char *const part = f->kind == CLO_FIELD_LEVELS   ? f->levels.texts[i]
                                 : f->kind == CLO_FIELD_CYCLIC ? sides[i]
                                                               : "";
        snprintf(name, sizeof name, "%s%s%s", f->name, part[0] ? "=" : "", part);
        CLO_TRY(clo_i_copy_text(name, &schema->output_names[f->output + i], err));
    }
    return CLO_OK;
}

static bool feed(void *state, const char *bytes, size_t count)
{
    return crypto_generichash_update(state, (const unsigned char *)bytes, count) == 0;
}

static void digest(const clo_schema *schema, char text[65])
{
    crypto_generichash_state state;
    unsigned char hash[32];
    clo_writer writer = { .write = feed, .user = &state };
    (void)crypto_generichash_init(&state, NULL, 0, sizeof hash);
    clo_i_schema_json(schema, &writer, NULL);
    (void)crypto_generichash_final(&state, hash, sizeof hash);
    (void)sodium_bin2hex(text, 65, hash, sizeof hash);
}

clo_status clo_i_schema_settle(clo_schema *schema, const char *whole, clo_error *err)
{
    double all = 0, square;
    CLO_TRY(clo_i_alloc(schema->count, sizeof *schema->used, &schema->used, err));
    for (size_t i = 0; i < schema->count; i++) {
        clo_i_field *const f = &schema->fields[i];
        CLO_TRY(settle_field(schema, f, &square, err));
        f->coord = schema->coords;
        f->output = schema->outputs;
        all += square;
        schema->coords += f->coords;
        schema->outputs += f->outputs;
        schema->drops = schema->drops || f->missing == CLO_CELL_DROP;
        if (f->kind != CLO_FIELD_UNUSED) schema->used[schema->used_count++] = (uint32_t)i;
        if (schema->coords > CLO_SCHEMA_MOST_COORDS)
            return clo_i_fail(
                err, CLO_FORMAT,
                "the levels of the schema are more than %d in all: leave columns out, "
                "or group their levels",
                (int)CLO_SCHEMA_MOST_COORDS);
    }
    /* So that no rounding of a record's length moves one that is as long as the schema allows. */
    schema->radius = sqrt(all) * (1 + 1e-12);
    CLO_TRY(clo_i_alloc(schema->outputs, sizeof(char *), &schema->output_names, err));
    for (size_t j = 0; j < schema->used_count; j++)
        CLO_TRY(name_outputs(schema, clo_i_schema_used(schema, j), err));
    digest(schema, schema->own);
    snprintf(schema->digest, sizeof schema->digest, "%s", whole ? whole : schema->own);
    return CLO_OK;
}

/* ---- a part of it ---------------------------------------------------------------------------- */

static const clo_i_field *find(const clo_schema *schema, const char *name)
{
    for (size_t i = 0; i < schema->count; i++)
        if (strcmp(schema->fields[i].name, name) == 0) return &schema->fields[i];
    return NULL;
}

static clo_status take_field(const clo_schema *schema, const char *name, const clo_i_field **out,
                             clo_error *err)
{
    *out = find(schema, name);
    if (!*out)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the schema has no column '%.60s': leave it out, or add it to the schema",
                          name);
    if ((*out)->kind != CLO_FIELD_UNUSED) return CLO_OK;
    return clo_i_fail(err, CLO_ARGUMENT,
                      "the schema says that the column '%.60s' is not used: leave it out", name);
}

static clo_status copy_facts(const clo_schema *from, clo_schema *to, clo_error *err)
{
    to->rows = from->rows;
    to->rows_per_person = from->rows_per_person;
    to->own_gaps = from->own_gaps;
    if (from->person) CLO_TRY(clo_i_copy_text(from->person, &to->person, err));
    if (from->relation) CLO_TRY(clo_i_copy_text(from->relation, &to->relation, err));
    for (size_t i = 0; i < from->gaps.count; i++)
        CLO_TRY(clo_i_list_add(&to->gaps, from->gaps.texts[i], err));
    return CLO_OK;
}

static clo_status select_fields(const clo_schema *from, const char *const *names, size_t count,
                                clo_schema *to, clo_error *err)
{
    CLO_TRY(copy_facts(from, to, err));
    CLO_TRY(clo_i_alloc(count, sizeof *to->fields, &to->fields, err));
    for (size_t j = 0; j < count; j++) {
        const clo_i_field *f = names ? NULL : clo_i_schema_used(from, j);
        if (names) CLO_TRY(take_field(from, names[j], &f, err));
        if (f->open)
            return clo_i_fail(err, CLO_FORMAT, "the schema does not state all of '%.60s'", f->name);
        to->count++;
        CLO_TRY(clo_i_field_copy(f, &to->fields[j], err));
        CLO_TRY(clo_i_field_index(&to->fields[j], f->name, err));
    }
    return clo_i_schema_settle(to, from->digest, err);
}

clo_status clo_schema_select(const clo_schema *schema, const char *const *names, size_t count,
                             clo_schema **out, clo_error *err)
{
    clo_schema *part = NULL;
    if (count == 0)
        return clo_i_fail(err, CLO_ARGUMENT, "the schema uses no column that the data have");
    if (!names && count != schema->used_count)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the schema uses %zu columns, but the data have %zu, without names to "
                          "find them by",
                          schema->used_count, count);
    CLO_TRY(clo_i_alloc(1, sizeof *part, &part, err));
    atomic_init(&part->holders, 1);
    part->selected = true;
    const clo_status status = select_fields(schema, names, count, part, err);
    if (status)
        clo_schema_free(part);
    else
        *out = part;
    return status;
}

/* ---- what it says ---------------------------------------------------------------------------- */

size_t clo_schema_field_count(const clo_schema *schema)
{
    return schema->count;
}

static const char *type_name(clo_i_type type)
{
    static const char *const names[] = { "?",      "number", "integer", "boolean",
                                         "string", "date",   "datetime" };
    return names[type];
}

bool clo_schema_field(const clo_schema *schema, size_t i, clo_field *out)
{
    if (i >= schema->count || clo_i_check_result("clo_field", out, NULL)) return false;
    const clo_i_field *const f = &schema->fields[i];
    const clo_field field = { .name = f->name,
                              .type = type_name(f->type),
                              .kind = f->kind,
                              .lower = f->lower,
                              .upper = f->upper,
                              .weight = f->weight,
                              .period = f->period,
                              .missing = f->missing,
                              .source = f->source,
                              .unit = f->unit,
                              .group = f->group,
                              .levels = f->levels.count };
    clo_i_give_result(out, &field, sizeof field);
    return true;
}

const char *clo_schema_level(const clo_schema *schema, size_t i, size_t l)
{
    return i < schema->count && l < schema->fields[i].levels.count
               ? schema->fields[i].levels.texts[l]
               : NULL;
}

const char *clo_schema_digest(const clo_schema *schema)
{
    return schema->digest;
}

size_t clo_schema_coordinates(const clo_schema *schema)
{
    return schema->coords;
}

size_t clo_schema_outputs(const clo_schema *schema)
{
    return schema->outputs;
}

const char *clo_schema_output_name(const clo_schema *schema, size_t output)
{
    return output < schema->outputs ? schema->output_names[output] : NULL;
}

double clo_schema_radius(const clo_schema *schema)
{
    return schema->radius;
}

const char *clo_schema_person(const clo_schema *schema)
{
    return schema->person;
}

uint64_t clo_schema_rows_per_person(const clo_schema *schema)
{
    return schema->rows_per_person;
}

uint64_t clo_schema_rows(const clo_schema *schema)
{
    return schema->rows;
}

const char *clo_schema_relation(const clo_schema *schema)
{
    return schema->relation;
}

bool clo_schema_is_from_data(const clo_schema *schema)
{
    for (size_t i = 0; i < schema->count; i++) {
        const clo_i_field *const f = &schema->fields[i];
        if (f->kind != CLO_FIELD_UNUSED && f->source && strcmp(f->source, "the data") == 0)
            return true;
    }
    return false;
}
