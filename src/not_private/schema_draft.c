/*
 * schema_draft.c - a first schema for a file, and what of a file does not fit one: for the
 * operator.
 *
 * A draft tells names and types, and leaves null where only the owner can state a public fact.  A
 * type is found by reading the file as if each column had it: as dates, as times, as truth values.
 */
#include <cloister/inspect.h>
#include "data/data.h"
#include "schema/schema.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { BLOCK_CELLS = 1 << 16 };

/* ---- one reading of the file ----------------------------------------------------------------- */

typedef struct tally {
    uint64_t said, whole; /* cells that mean something; whole numbers among them */
    double least, most;
} tally;

typedef struct draft {
    const char *path;
    clo_read_options options;
    const clo_inspection *found;
    size_t cols;
    uint64_t *empty; /* cells of each column that say nothing */
} draft;

static const char *name_of(const draft *d, size_t j)
{
    clo_column column = { .struct_size = sizeof column };
    clo_inspection_column(d->found, j, &column);
    return column.name ? column.name : "";
}

static clo_column_kind kind_of(const draft *d, size_t j)
{
    clo_column column = { .struct_size = sizeof column };
    clo_inspection_column(d->found, j, &column);
    return column.kind;
}

/* A schema in which every column has this type. */
static clo_status schema_of_type(const draft *d, const char *type, clo_schema **out, clo_error *err)
{
    static const char *const gaps[] = { "",    "NA",   "N/A",  "na",   "n/a",  "NaN",
                                        "nan", "NULL", "null", "None", "none", "?" };
    json_t *const root = json_object(), *const fields = json_array(), *const missing = json_array();
    const bool levels = strcmp(type, "string") == 0, truth = strcmp(type, "boolean") == 0;
    const char *const low = strcmp(type, "date") ? "0001-01-01T00:00:00Z" : "0001-01-01";
    const char *const high = strcmp(type, "date") ? "9999-12-31T00:00:00Z" : "9999-12-31";
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++)
        json_array_append_new(missing, json_string(gaps[i]));
    for (size_t j = 0; j < d->cols; j++) {
        json_t *const field = json_pack("{s:s, s:s}", "name", name_of(d, j), "type", type);
        if (levels)
            json_object_set_new(field, "categories", json_pack("[s, s]", "\x01", "\x02"));
        else if (!truth)
            json_object_set_new(field, "constraints",
                                json_pack("{s:s, s:s}", "minimum", low, "maximum", high));
        json_array_append_new(fields, field);
    }
    json_object_set_new(root, "fields", fields);
    json_object_set_new(root, "missingValues", missing);
    const clo_status status = clo_i_schema_of_json(root, d->path, NULL, out, err);
    json_decref(root);
    return status;
}

/* coded: under a schema, where one number stands for a text that is in no list. */
static void add_row(tally *counts, const double *row, size_t cols, bool coded)
{
    for (size_t j = 0; j < cols; j++) {
        if (!isfinite(row[j]) || (coded && row[j] == CLO_OUTSIDE)) continue;
        tally *const c = &counts[j];
        c->least = c->said ? fmin(c->least, row[j]) : row[j];
        c->most = c->said ? fmax(c->most, row[j]) : row[j];
        c->said++;
        c->whole += row[j] == floor(row[j]) && fabs(row[j]) < 1e15;
    }
}

static clo_status count_cells(const clo_table *table, tally *counts, clo_error *err)
{
    const bool levels = clo_table_schema(table) &&
                        clo_i_schema_used(clo_table_schema(table), 0)->kind == CLO_FIELD_LEVELS;
    const size_t rows = clo_table_rows(table), cols = clo_table_cols(table);
    const size_t block = cols < BLOCK_CELLS ? BLOCK_CELLS / cols : 1;
    double *cells = NULL;
    CLO_TRY(clo_i_alloc(block * cols, sizeof *cells, &cells, err));
    for (size_t first = 0; first < rows; first += block) {
        const size_t here = rows - first < block ? rows - first : block;
        clo_i_table_rows(table, first, here, cells);
        for (size_t i = 0; i < here; i++) add_row(counts, cells + i * cols, cols, levels);
    }
    clo_i_wipe_free(cells, block * cols * sizeof *cells);
    return CLO_OK;
}

static clo_status read_as(const draft *d, const char *type, clo_i_list *levels, tally *counts,
                          clo_error *err)
{
    clo_read_options options = d->options;
    clo_schema *schema = NULL;
    clo_table *table = NULL;
    if (type) CLO_TRY(schema_of_type(d, type, &schema, err));
    for (size_t j = 0; levels && j < d->cols; j++) schema->fields[j].collects = &levels[j];
    options.schema = schema;
    options.text = CLO_TEXT_MISSING;
    options.missing = CLO_MISSING_NULL;
    options.columns = options.fill = options.unit = NULL;
    clo_status status = clo_table_read(d->path, &options, &table, err);
    if (!status) status = count_cells(table, counts, err);
    clo_table_free(table);
    clo_schema_free(schema);
    return status;
}

/* ---- what a column is ------------------------------------------------------------------------ */

typedef struct judged {
    const char *type;
    const tally *counts; /* as that type */
    const clo_i_list *levels;
    bool key, cyclic;
} judged;

static bool sounds_like_key(const char *name)
{
    static const char *const words[] = { "",         "id",  "uid",        "uuid", "key",
                                         "rownames", "row", "unnamed: 0", "pid" };
    const size_t length = strlen(name);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(name, words[i]) == 0) return true;
    return length > 2 && strcasecmp(name + length - 2, "id") == 0 &&
           strchr("_-. ", name[length - 3]);
}

static bool sounds_cyclic(const char *name)
{
    static const char *const words[] = { "month", "hour",    "weekday",  "dayofweek",
                                         "angle", "bearing", "direction" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(name, words[i]) == 0) return true;
    return false;
}

static bool all_are(const tally *c, const draft *d, size_t j)
{
    const uint64_t said = clo_inspection_rows(d->found) - d->empty[j];
    return said > 0 && c->said == said;
}

static judged judge(const draft *d, size_t j, const tally *numbers, const tally *dates,
                    const tally *times, const tally *truths, const clo_i_list *levels)
{
    const char *const name = name_of(d, j);
    judged c = { .type = "string", .levels = levels ? &levels[j] : NULL };
    const bool is_number = kind_of(d, j) == CLO_COLUMN_NUMBERS;
    c.key = sounds_like_key(name);
    c.cyclic = is_number && sounds_cyclic(name);
    if (is_number) {
        c.type = numbers[j].whole == numbers[j].said ? "integer" : "number";
        c.counts = &numbers[j];
    } else if (all_are(&dates[j], d, j)) {
        c.type = "date";
        c.counts = &dates[j];
    } else if (all_are(&times[j], d, j)) {
        c.type = "datetime";
        c.counts = &times[j];
    } else if (all_are(&truths[j], d, j)) {
        c.type = "boolean";
    }
    return c;
}

/* ---- writing it ------------------------------------------------------------------------------ */

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static json_t *bound_of(const judged *c, bool upper)
{
    const double value = upper ? c->counts->most : c->counts->least;
    char text[40];
    if (c->counts->said == 0) return json_null();
    if (strcmp(c->type, "integer") == 0) return json_integer((json_int_t)value);
    if (strcmp(c->type, "number") == 0) return json_real(value);
    if (strcmp(c->type, "date") == 0)
        clo_i_date_text(value, text);
    else
        clo_i_datetime_text(upper ? ceil(value) : floor(value), text);
    return json_string(text);
}

static json_t *levels_of(const judged *c)
{
    json_t *const list = json_array();
    qsort(c->levels->texts, c->levels->count, sizeof *c->levels->texts, by_bytes);
    for (size_t i = 0; i < c->levels->count; i++)
        json_array_append_new(list, json_string(c->levels->texts[i]));
    return list;
}

static json_t *field_of(const draft *d, size_t j, const judged *c, bool from_data)
{
    json_t *const field = json_pack("{s:s, s:s}", "name", name_of(d, j), "type", c->type);
    json_t *const own = json_object();
    const bool text = strcmp(c->type, "string") == 0, truth = strcmp(c->type, "boolean") == 0;
    const size_t levels = text && c->levels ? c->levels->count : 0;
    const bool lists = levels >= 2 && levels < CLO_SCHEMA_MOST_COLLECTED;
    const bool used = !c->key && (!from_data || !text || lists);
    if (!used)
        json_object_set_new(own, "use", json_false());
    else if (text)
        json_object_set_new(field, "categories", from_data ? levels_of(c) : json_null());
    else if (!truth)
        json_object_set_new(field, "constraints",
                            json_pack("{s:o, s:o}", "minimum",
                                      from_data ? bound_of(c, false) : json_null(), "maximum",
                                      from_data ? bound_of(c, true) : json_null()));
    if (used && c->cyclic) json_object_set_new(own, "cyclic", json_true());
    if (used && !truth)
        json_object_set_new(own, "source", from_data ? json_string("the data") : json_null());
    if (json_object_size(own)) json_object_set(field, "cloister", own);
    json_decref(own);
    return field;
}

static int put(const char *bytes, size_t size, void *user)
{
    clo_writer *const writer = user;
    writer->failed = writer->failed || !writer->write(writer->user, bytes, size);
    return writer->failed ? -1 : 0;
}

static clo_status write_draft(const draft *d, bool from_data, const tally *counts,
                              const clo_i_list *levels, clo_writer *writer, clo_error *err)
{
    const size_t cols = d->cols;
    json_t *const fields = json_array(), *const root = json_object();
    for (size_t j = 0; j < cols; j++) {
        const judged c = judge(d, j, counts, counts + cols, counts + 2 * cols, counts + 3 * cols,
                               from_data ? levels : NULL);
        json_array_append_new(fields, field_of(d, j, &c, from_data));
    }
    json_object_set_new(root, "$schema",
                        json_string("https://datapackage.org/profiles/2.0/tableschema.json"));
    json_object_set_new(root, "fields", fields);
    json_object_set_new(root, "missingValues", json_pack("[s, s]", "", "NA"));
    const int failed = json_dump_callback(root, put, writer, JSON_INDENT(1));
    json_decref(root);
    if (!failed) clo_writer_text(writer, "\n");
    return failed ? clo_i_fail(err, CLO_IO, "the schema could not be written") : CLO_OK;
}

static clo_status make(draft *d, bool from_data, clo_writer *writer, clo_error *err)
{
    static const char *const types[] = { NULL, "date", "datetime", "boolean" };
    tally *counts = NULL;
    clo_i_list *levels = NULL;
    clo_status status = clo_i_alloc(5 * d->cols, sizeof *counts, &counts, err);
    if (!status) status = clo_i_alloc(d->cols, sizeof *levels, &levels, err);
    for (size_t t = 0; t < 4 && !status; t++)
        status = read_as(d, types[t], NULL, counts + t * d->cols, err);
    if (!status && from_data) status = read_as(d, "string", levels, counts + 4 * d->cols, err);
    if (!status) status = write_draft(d, from_data, counts, levels, writer, err);
    for (size_t j = 0; levels && j < d->cols; j++) clo_i_list_clear(&levels[j]);
    clo_i_free(levels);
    clo_i_wipe_free(counts, counts ? 5 * d->cols * sizeof *counts : 0);
    return status;
}

/* A column without a name cannot be told apart in a schema. */
static clo_status check_names(const draft *d, clo_error *err)
{
    if (strcmp(clo_inspection_format(d->found), "csv") != 0 || !clo_inspection_has_header(d->found))
        return clo_i_fail(err, CLO_UNSUPPORTED,
                          "a schema is drafted from a CSV file whose first line names its columns");
    for (size_t j = 0; j < d->cols; j++)
        if (!name_of(d, j)[0])
            return clo_i_fail(err, CLO_UNSUPPORTED,
                              "column %zu has no name: give it one in the first line", j + 1);
    return CLO_OK;
}

static void count_empty(draft *d)
{
    clo_column column = { .struct_size = sizeof column };
    for (size_t j = 0; j < d->cols; j++) {
        clo_inspection_column(d->found, j, &column);
        d->empty[j] = column.missing;
    }
}

clo_status clo_schema_draft(const char *path, const clo_read_options *given, bool from_data,
                            clo_write *write, void *user, clo_error *err)
{
    clo_writer writer = { .write = write, .user = user };
    draft d = { .path = path, .options = clo_read_options_default() };
    clo_inspection *found = NULL;
    if (!path || !write)
        return clo_i_fail(err, CLO_ARGUMENT, "a file and where to write must be given");
    if (strcmp(path, "-") == 0)
        return clo_i_fail(err, CLO_UNSUPPORTED,
                          "a draft reads its file several times: save the data as a file");
    CLO_TRY(clo_i_take_options("clo_read_options", given, &d.options, sizeof d.options, err));
    d.options.text = CLO_TEXT_MISSING;
    CLO_TRY(clo_inspect(path, &d.options, &found, err));
    d.found = found;
    d.cols = clo_inspection_cols(found);
    clo_status status = check_names(&d, err);
    if (!status) status = clo_i_alloc(d.cols, sizeof *d.empty, &d.empty, err);
    if (!status) count_empty(&d);
    if (!status) status = make(&d, from_data, &writer, err);
    clo_i_wipe_free(d.empty, d.empty ? d.cols * sizeof *d.empty : 0);
    clo_inspection_free(found);
    return status;
}

/* ---- what does not fit ----------------------------------------------------------------------- */

static void add_fit(const clo_schema *schema, const double *row, uint64_t *missing,
                    uint64_t *outside)
{
    for (size_t j = 0; j < clo_i_schema_cells(schema); j++) {
        const clo_i_field *const f = clo_i_schema_used(schema, j);
        missing[j] += clo_i_field_lacks(f, row[j]);
        outside[j] += clo_i_field_excludes(f, row[j]);
    }
}

static clo_status fit(const clo_table *table, uint64_t *missing, uint64_t *outside, clo_error *err)
{
    const size_t rows = clo_table_rows(table), cols = clo_table_cols(table);
    const size_t block = cols < BLOCK_CELLS ? BLOCK_CELLS / cols : 1;
    double *cells = NULL;
    CLO_TRY(clo_i_alloc(block * cols, sizeof *cells, &cells, err));
    for (size_t first = 0; first < rows; first += block) {
        const size_t here = rows - first < block ? rows - first : block;
        clo_i_table_rows(table, first, here, cells);
        for (size_t i = 0; i < here; i++)
            add_fit(clo_table_schema(table), cells + i * cols, missing, outside);
    }
    clo_i_wipe_free(cells, block * cols * sizeof *cells);
    return CLO_OK;
}

static void tell(const clo_schema *schema, const clo_table *table, const uint64_t *missing,
                 const uint64_t *outside, clo_column_fit *fits)
{
    for (size_t j = 0; j < clo_i_schema_cells(schema); j++) {
        const clo_i_field *const f = clo_i_schema_used(schema, j);
        const uint64_t empty = clo_i_table_empty_cells(table, j);
        /* What is missing and not empty was text that meant nothing. */
        const uint64_t unread = missing[j] > empty ? missing[j] - empty : 0;
        const clo_column_fit told = {
            .name = f->name, .missing = missing[j] - unread, .outside = outside[j], .unread = unread
        };
        clo_i_give_result(&fits[j], &told, sizeof told);
    }
}

clo_status clo_schema_try(const clo_schema *schema, const char *path, const clo_read_options *given,
                          clo_column_fit *fits, size_t count, uint64_t *rows, clo_error *err)
{
    clo_read_options options = clo_read_options_default();
    clo_table *table = NULL;
    uint64_t *counts = NULL;
    if (!schema || !fits || !rows || count != clo_i_schema_cells(schema))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a schema, and a place for each column that it uses, must be given");
    CLO_TRY(clo_i_take_options("clo_read_options", given, &options, sizeof options, err));
    for (size_t j = 0; j < count; j++) CLO_TRY(clo_i_check_result("clo_column_fit", &fits[j], err));
    options.schema = schema;
    options.columns = NULL;
    options.text = CLO_TEXT_MISSING;
    CLO_TRY(clo_table_read(path, &options, &table, err));
    clo_status status = clo_i_alloc(2 * count, sizeof *counts, &counts, err);
    if (!status) status = fit(table, counts, counts + count, err);
    if (!status) tell(schema, table, counts, counts + count, fits);
    if (!status) *rows = clo_table_rows(table);
    clo_i_wipe_free(counts, counts ? 2 * count * sizeof *counts : 0);
    clo_table_free(table);
    return status;
}
