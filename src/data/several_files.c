/*
 * several_files.c - several files as one: their records, one file's after the other's.
 *
 * Every file must have the columns of the first, by name where they have names, since a column that
 * means one thing here and another there would be added up as one.  What is said of all records
 * (which columns are text, how many rows there are, who a person is) is said of all files together,
 * so that it does not matter how records are cut into files.
 */
#include "data/several_files.h"
#include <stdio.h>
#include <string.h>

enum { MATRIX_MOST = 1 << 24, TEXT_MOST = 1 << 24, TEXT_LEAST = 1 << 21 };

/* ---- the recipe ------------------------------------------------------------------------------ */

void clo_i_recipe_release(clo_recipe *recipe)
{
    if (!recipe || atomic_fetch_sub(&recipe->holders, 1) > 1) return;
    for (size_t i = 0; recipe->paths && i < recipe->count; i++) clo_i_free(recipe->paths[i]);
    clo_i_free(recipe->paths);
    clo_i_free((void *)(uintptr_t)recipe->options.format);
    clo_i_free((void *)(uintptr_t)recipe->options.columns);
    clo_i_free((void *)(uintptr_t)recipe->options.unit);
    clo_i_free((void *)(uintptr_t)recipe->options.fill);
    clo_i_free((void *)(uintptr_t)recipe->options.cache);
    clo_schema_free((clo_schema *)(uintptr_t)recipe->options.schema);
    clo_i_wipe_free(recipe, sizeof *recipe);
}

static clo_status copy_option(const char *text, const char **out, clo_error *err)
{
    char *copy = NULL;
    if (text) CLO_TRY(clo_i_copy_text(text, &copy, err));
    *out = copy;
    return CLO_OK;
}

/* A zstd frame asks for a window of its own, which must leave room for the rest. */
static int unpack_log(uint64_t memory)
{
    enum { LEAST_LOG = 20, MOST_LOG = 27 };
    int log = LEAST_LOG;
    if (!memory) return 0;
    while (log < MOST_LOG && memory / 8 >= (uint64_t)2 << log) log++;
    return log;
}

static clo_status fill_recipe(clo_recipe *recipe, const char *const *paths, size_t count,
                              const clo_read_options *options, clo_error *err)
{
    recipe->options = *options;
    recipe->options.format = recipe->options.columns = NULL;
    recipe->options.unit = recipe->options.fill = recipe->options.cache = NULL;
    recipe->options.schema = clo_i_schema_keep(options->schema);
    recipe->options.unit_key = NULL; /* which is the recipe's own by now */
    CLO_TRY(copy_option(options->format, &recipe->options.format, err));
    CLO_TRY(copy_option(options->columns, &recipe->options.columns, err));
    CLO_TRY(copy_option(options->unit, &recipe->options.unit, err));
    CLO_TRY(copy_option(options->fill, &recipe->options.fill, err));
    CLO_TRY(copy_option(options->cache, &recipe->options.cache, err));
    CLO_TRY(clo_i_alloc(count, sizeof *recipe->paths, &recipe->paths, err));
    recipe->count = count;
    for (size_t i = 0; i < count; i++) CLO_TRY(clo_i_copy_text(paths[i], &recipe->paths[i], err));
    return clo_i_unit_key(options->unit_key, recipe->unit_key, err);
}

clo_status clo_i_recipe_new(const char *const *paths, size_t count, const clo_read_options *options,
                            uint64_t memory, clo_recipe **out, clo_error *err)
{
    clo_recipe *recipe = NULL;
    if (count == 0) return clo_i_fail(err, CLO_ARGUMENT, "no file was given");
    for (size_t i = 0; i < count; i++)
        if (!paths[i]) return clo_i_fail(err, CLO_ARGUMENT, "no file was given");
    CLO_TRY(clo_i_alloc(1, sizeof *recipe, &recipe, err));
    recipe->memory = memory;
    recipe->unpack_log = unpack_log(memory);
    atomic_init(&recipe->holders, 1);
    const clo_status status = fill_recipe(recipe, paths, count, options, err);
    if (status)
        clo_i_recipe_release(recipe);
    else
        *out = recipe;
    return status;
}

static size_t between(uint64_t value, size_t least, size_t most)
{
    return value < least ? least : value > most ? most : (size_t)value;
}

clo_i_sink clo_i_recipe_sink(const clo_recipe *recipe)
{
    const uint64_t memory = recipe->memory ? recipe->memory : UINT64_MAX;
    return (clo_i_sink){ .text_bytes = between(memory / 32, TEXT_LEAST, TEXT_MOST),
                         .matrix_bytes = between(memory / 8, 1, MATRIX_MOST),
                         .first = recipe->first,
                         .end = recipe->end,
                         .rows_are_secret = recipe->options.rows_are_secret };
}

/* ---- files that fit together ----------------------------------------------------------------- */

static clo_status unlike(const clo_table *first, const clo_table *other, const char *what,
                         clo_error *err)
{
    return clo_i_fail(err, CLO_FORMAT, "%.160s and %.160s cannot be parts of one table: %s",
                      first->file, other->file, what);
}

static clo_status check_names(const clo_table *first, const clo_table *other, clo_error *err)
{
    char shown[CLO_SHOWN_BYTES], text[CLO_SHOWN_BYTES + 80];
    if (!first->names != !other->names)
        return unlike(first, other, "one has a header and the other has none", err);
    for (size_t j = 0; first->names && j < first->cols; j++) {
        if (strcmp(first->names[j], other->names[j]) == 0) continue;
        clo_i_show_name(first->names[j], shown);
        snprintf(text, sizeof text, "column %zu, '%s', has another name", j + 1, shown);
        return unlike(first, other, text, err);
    }
    return CLO_OK;
}

/* `first` has no rows by now; `other` may have some. */
clo_status clo_i_check_alike(const clo_table *first, const clo_table *other, clo_error *err)
{
    if (first->sparse != other->sparse)
        return unlike(first, other, "one is sparse and the other is not", err);
    if (first->cols != other->cols)
        return unlike(first, other, "they have different numbers of columns", err);
    return check_names(first, other, err);
}

/* ---- one pass -------------------------------------------------------------------------------- */

typedef struct pass {
    const clo_recipe *recipe;
    clo_i_sink *outer;
    clo_table *first; /* what is known of all files so far; NULL: no file is through yet */
    crypto_generichash_state digests;
} pass;

static clo_status show(void *user, clo_table *part, clo_error *err)
{
    const pass *const p = user;
    if (p->first) CLO_TRY(clo_i_check_alike(p->first, part, err));
    return p->outer->take(p->outer->user, part, err);
}

static clo_status add_counts(clo_table *to, const clo_table *from, clo_error *err)
{
    if (!from->tallies) return CLO_OK;
    if (!to->tallies) CLO_TRY(clo_i_alloc(to->cols, sizeof *to->tallies, &to->tallies, err));
    clo_i_tally_add(to->tallies, from->tallies, to->cols);
    to->bad_rows += from->bad_rows;
    return CLO_OK;
}

/* One file is through.  The digest of several is that of their digests. */
static clo_status join(pass *p, clo_table *table, clo_error *err)
{
    if (table->has_digest)
        crypto_generichash_update(&p->digests, table->digest, sizeof table->digest);
    if (!p->first) {
        p->first = table;
        return CLO_OK;
    }
    clo_status status = clo_i_check_alike(p->first, table, err);
    if (!status) status = add_counts(p->first, table, err);
    if (table->packing && strcmp(table->packing, "zstd") == 0) p->first->packing = table->packing;
    p->first->guessed_cols = p->first->guessed_cols || table->guessed_cols;
    clo_table_free(table);
    return status;
}

static clo_status read_all(pass *p, clo_i_pass_hash *pass_hash, clo_error *err)
{
    const clo_recipe *const recipe = p->recipe;
    const double share = 1.0 / (double)recipe->count;
    clo_i_sink inner = *p->outer;
    inner.take = show;
    inner.user = p;
    for (size_t i = 0; i < recipe->count; i++) {
        const clo_i_file_way way = { .sink = &inner,
                                     .unit_key = recipe->unit_key,
                                     .pass_hash = pass_hash,
                                     .progress_from = (double)i * share,
                                     .progress_share = share,
                                     .unpack_log = recipe->unpack_log,
                                     .again = recipe->memory != 0 };
        clo_table *table = NULL;
        CLO_TRY(clo_i_file_read(recipe->paths[i], &recipe->options, &way, &table, err));
        if (pass_hash) clo_i_pass_hash_end_file(pass_hash);
        CLO_TRY(join(p, table, err));
    }
    p->outer->rows = inner.rows;
    return CLO_OK;
}

clo_status clo_i_recipe_pass(const clo_recipe *recipe, clo_i_sink *sink, clo_i_pass_hash *pass_hash,
                             clo_table **out, clo_error *err)
{
    pass p = { .recipe = recipe, .outer = sink };
    crypto_generichash_init(&p.digests, NULL, 0, CLO_DIGEST_BYTES);
    const clo_status status = read_all(&p, pass_hash, err);
    if (!status && p.first->has_digest && recipe->count > 1)
        crypto_generichash_final(&p.digests, p.first->digest, sizeof p.first->digest);
    clo_i_wipe(&p.digests, sizeof p.digests);
    if (status)
        clo_table_free(p.first);
    else
        *out = p.first;
    return status;
}

/* ---- rows that are kept ---------------------------------------------------------------------- */

/* Rows as they lie in a window or in another order become plain doubles of the block's own. */
static clo_status copy_rows(const clo_table *part, clo_i_block *from, clo_i_block *to,
                            clo_error *err)
{
    CLO_TRY(clo_i_alloc(from->rows * part->cols, sizeof *to->values, &to->values, err));
    to->value_count = from->rows * part->cols;
    to->cells = (const uint8_t *)to->values;
    to->rows = from->rows;
    to->room = from->room;
    to->units = from->units;
    from->units = NULL;
    clo_i_table_rows(part, from->first_row, from->rows, to->values);
    return CLO_OK;
}

static clo_status keep(void *user, clo_table *part, clo_error *err)
{
    clo_table *const kept = user;
    kept->cols = part->cols;
    for (size_t i = 0; i < part->block_count; i++) {
        clo_i_block copy = { 0 }, *const block = &part->blocks[i];
        if (block->values) {
            CLO_TRY(clo_i_table_append(kept, block, err));
            continue;
        }
        clo_status status = copy_rows(part, block, &copy, err);
        if (!status) status = clo_i_table_append(kept, &copy, err);
        clo_i_block_clear(&copy);
        CLO_TRY(status);
    }
    return CLO_OK;
}

/* The blocks of `rows` in the table, whose cells are then doubles row by row. */
static void take_blocks(clo_table *table, clo_table *rows)
{
    clo_i_free(table->blocks); /* empty by now */
    table->blocks = rows->blocks;
    table->block_count = rows->block_count;
    table->block_capacity = rows->block_capacity;
    table->rows = rows->rows;
    rows->blocks = NULL;
    rows->block_count = rows->block_capacity = 0;
    table->element = CLO_FLOAT64;
    table->col_step = sizeof(double);
    table->row_step = table->cols * sizeof(double);
    if (!table->file_columns) table->file_columns = table->picked;
    table->picked = NULL;
}

clo_status clo_i_table_settle(clo_table *table, const clo_recipe *recipe, clo_error *err)
{
    char name[200], *copy = NULL;
    if (recipe->count > 1) { /* for messages */
        snprintf(name, sizeof name, "%s (and %zu more)", table->file, recipe->count - 1);
        CLO_TRY(clo_i_copy_text(name, &copy, err));
        clo_i_free(table->file);
        table->file = copy;
    }
    if (table->rows > CLO_MOST_ROWS)
        return clo_i_fail(err, CLO_FORMAT, "%s has more than %zu rows, which is the limit",
                          table->file, CLO_MOST_ROWS);
    if (recipe->options.text != CLO_TEXT_REFUSE) return CLO_OK;
    return clo_i_table_refuse_text(table, NULL, NULL, err);
}

static clo_status read_and_keep(const clo_recipe *recipe, clo_table *rows, clo_table **out,
                                clo_error *err)
{
    clo_i_sink sink = clo_i_recipe_sink(recipe);
    clo_table *table = NULL;
    sink.take = keep;
    sink.user = rows;
    CLO_TRY(clo_i_recipe_pass(recipe, &sink, NULL, &table, err));
    take_blocks(table, rows);
    const clo_status status = clo_i_table_settle(table, recipe, err);
    if (status) {
        clo_table_free(table);
        return status;
    }
    clo_i_table_lock(table);
    clo_i_table_taint(table, recipe->options.rows_are_secret || table->has_unit);
    *out = table;
    return CLO_OK;
}

clo_status clo_table_read_files(const char *const *paths, size_t count,
                                const clo_read_options *given, clo_table **out, clo_error *err)
{
    clo_read_options options;
    clo_recipe *recipe = NULL;
    clo_table *rows = NULL;
    if (count == 1) return clo_table_read(paths[0], given, out, err);
    CLO_TRY(clo_i_read_options_take(given, &options, err));
    CLO_TRY(clo_i_recipe_new(paths, count, &options, 0, &recipe, err));
    clo_status status = clo_i_table_new(&rows, err);
    if (!status) status = read_and_keep(recipe, rows, out, err);
    clo_table_free(rows);
    clo_i_recipe_release(recipe);
    return status;
}
