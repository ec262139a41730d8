/* release.c - what is public: named arrays, and the facts about where they come from. */
#include "release/release.h"
#include <stdlib.h>
#include <string.h>

clo_status clo_i_release_new(clo_release **out, clo_error *err)
{
    CLO_TRY(clo_i_alloc(1, sizeof **out, out, err));
    (*out)->schema = CLO_SCHEMA;
    return CLO_OK;
}

static void free_texts(char **texts, size_t count)
{
    for (size_t i = 0; texts && i < count; i++) clo_i_free(texts[i]);
    clo_i_free(texts);
}

static void free_facts(clo_facts *facts)
{
    char *const texts[] = { facts->version,       facts->family,  facts->method,
                            facts->accounting,    facts->sampler, facts->guarantee,
                            facts->statement,     facts->unit,    facts->seen_in,
                            facts->seen_guarantee };
    double *const numbers[] = { facts->lower, facts->upper, facts->center, facts->query_noise };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) clo_i_free(texts[i]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) clo_i_free(numbers[i]);
    clo_schema_free(facts->schema);
    free_texts(facts->parameter_names, facts->parameter_count);
    free_texts(facts->parameter_values, facts->parameter_count);
    free_texts(facts->column_names, facts->cols);
    free_texts(facts->query_names, facts->query_count);
    free_texts(facts->query_labels, facts->query_count);
    clo_i_free(facts->query_events);
}

static void free_array(clo_array *array)
{
    clo_i_free((void *)(uintptr_t)array->name);
    clo_i_free((void *)(uintptr_t)array->data);
}

void clo_i_release_drop_arrays(clo_release *release)
{
    for (size_t i = 0; i < release->count; i++) free_array(&release->arrays[i]);
    clo_i_free(release->arrays);
    release->arrays = NULL;
    release->count = 0;
}

void clo_release_free(clo_release *release)
{
    if (!release) return;
    free_facts(&release->facts);
    clo_i_release_drop_arrays(release);
    clo_i_release_free_answers(release);
    clo_i_free(release);
}

clo_status clo_i_release_put(clo_release *release, const char *name, const double *data,
                             size_t dimensions, const size_t *shape, clo_error *err)
{
    clo_array array = { .dimensions = dimensions };
    double *copy = NULL;
    char *own_name = NULL;
    size_t count = 1;
    clo_status status;
    for (size_t i = 0; i < dimensions; i++) {
        array.shape[i] = shape[i];
        if (!clo_i_multiply(count, shape[i], &count))
            return clo_i_fail(err, CLO_MEMORY, "an array is too large for this machine");
    }
    if ((status = clo_i_alloc(count, sizeof *copy, &copy, err)) ||
        (status = clo_i_copy_text(name, &own_name, err)) ||
        (status = clo_i_resize(&release->arrays, release->count, release->count + 1,
                               sizeof *release->arrays, err))) {
        clo_i_free(copy);
        clo_i_free(own_name);
        return status;
    }
    memcpy(copy, data, count * sizeof *copy);
    array.name = own_name;
    array.data = copy;
    release->arrays[release->count++] = array;
    return CLO_OK;
}

size_t clo_release_count(const clo_release *release)
{
    return release->count;
}

clo_array clo_release_at(const clo_release *release, size_t i)
{
    return i < release->count ? release->arrays[i] : (clo_array){ .name = "" };
}

bool clo_release_find(const clo_release *release, const char *asked, clo_array *out)
{
    const char *const name = clo_i_name_from_schema(CLO_SCHEMA_FIRST, asked);
    for (size_t i = 0; i < release->count; i++)
        if (strcmp(release->arrays[i].name, name) == 0) {
            *out = release->arrays[i];
            return true;
        }
    return false;
}

size_t clo_release_cols(const clo_release *release)
{
    return release->facts.cols;
}

uint64_t clo_release_rows(const clo_release *release)
{
    return release->facts.rows;
}

const char *clo_release_column_name(const clo_release *release, size_t column)
{
    const clo_facts *const facts = &release->facts;
    return facts->column_names && column < facts->cols ? facts->column_names[column] : NULL;
}

const char *clo_release_family(const clo_release *release)
{
    return release->facts.family;
}

const char *clo_release_method(const clo_release *release)
{
    return release->facts.method;
}

clo_loss clo_release_loss(const clo_release *release)
{
    return release->facts.loss;
}

clo_relation clo_release_relation(const clo_release *release)
{
    return release->facts.relation;
}

const char *clo_release_unit(const clo_release *release)
{
    return release->facts.unit;
}

static clo_guarantee guarantee_named(const char *name)
{
    for (int g = CLO_EXACT; name && g <= CLO_ASYMPTOTIC; g++)
        if (strcmp(clo_guarantee_name((clo_guarantee)g), name) == 0) return (clo_guarantee)g;
    return (clo_guarantee)0;
}

clo_guarantee clo_release_guarantee(const clo_release *release)
{
    return guarantee_named(release->facts.guarantee);
}

clo_guarantee clo_i_facts_guarantee_together(const clo_facts *facts)
{
    const clo_guarantee own = guarantee_named(facts->guarantee);
    const clo_guarantee first = guarantee_named(facts->seen_guarantee);
    return first > own ? first : own;
}

double clo_i_facts_parameter(const clo_facts *facts, const char *name)
{
    for (size_t i = 0; i < facts->parameter_count; i++)
        if (strcmp(facts->parameter_names[i], name) == 0)
            return strtod(facts->parameter_values[i], NULL);
    return 0;
}

double clo_i_facts_unit(const clo_facts *facts, size_t j)
{
    if (facts->schema) return clo_i_schema_unit(facts->schema, j);
    return facts->lower && facts->upper ? facts->upper[j] / 2 - facts->lower[j] / 2 : 1;
}

double clo_i_facts_spread(const clo_facts *facts, size_t j)
{
    return facts->schema ? clo_i_schema_spread(facts->schema, j) : clo_i_facts_unit(facts, j);
}

double clo_i_facts_middle(const clo_facts *facts, size_t j)
{
    if (facts->schema) return clo_i_schema_middle(facts->schema, j);
    if (facts->lower) return facts->lower[j] / 2 + facts->upper[j] / 2;
    return facts->center ? facts->center[j] : 0;
}

size_t clo_i_facts_coordinates(const clo_facts *facts)
{
    return facts->schema ? clo_schema_coordinates(facts->schema) : facts->cols;
}

bool clo_i_facts_are_scaled(const clo_facts *facts)
{
    return facts->lower || facts->schema;
}

const clo_schema *clo_release_schema(const clo_release *release)
{
    return release->facts.schema;
}

clo_guarantee clo_release_guarantee_together(const clo_release *release)
{
    return clo_i_facts_guarantee_together(&release->facts);
}

bool clo_release_is_private(const clo_release *release)
{
    return release->facts.is_private;
}

bool clo_release_is_metered(const clo_release *release)
{
    return release->facts.metered;
}

const char *clo_release_statement(const clo_release *release)
{
    return release->facts.statement;
}

clo_status clo_release_name_columns(clo_release *release, const char *const *names, size_t count,
                                    clo_error *err)
{
    char **copies = NULL;
    if (count != release->facts.cols)
        return clo_i_fail(err, CLO_ARGUMENT, "the release has %zu columns, not %zu",
                          release->facts.cols, count);
    CLO_TRY(clo_i_alloc(count, sizeof *copies, &copies, err));
    for (size_t i = 0; i < count; i++) {
        const clo_status status = clo_i_copy_text(names[i], &copies[i], err);
        if (status) {
            free_texts(copies, count);
            return status;
        }
    }
    free_texts(release->facts.column_names, count);
    release->facts.column_names = copies;
    return CLO_OK;
}
