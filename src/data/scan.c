/*
 * scan.c - a table that holds no rows: its files are read through once, to be checked and counted,
 * and again whenever somebody wants to see the rows.
 *
 * What is not held can change under the reader.  Every pass takes the pass hash of all bytes that
 * it read, before they are parsed and from the same memory, under a key that nobody else knows; a
 * pass whose pass hash is not the first one's has failed, and with it whatever was made of its rows
 * (flow.T2).  From the first pass on nothing is said about what is wrong with a file: it was sound
 * then, so that it was changed since, and how might depend on its records.
 */
#include "data/several_files.h"
#include "base/key.h"
#include <string.h>
#ifdef CLO_TAINT
#include <valgrind/memcheck.h>
#endif

static const uint64_t LEAST_MEMORY = (uint64_t)1 << 25;

static clo_status changed(clo_error *err)
{
    return clo_i_fail(err, CLO_IO, "the data were changed while they were read");
}

/* ---- the first pass -------------------------------------------------------------------------- */

typedef struct census {
    bool fills;    /* a missing cell makes no null record */
    uint64_t null; /* records that count for nothing (bound.T6) */
} census;

static clo_status count_part(void *user, clo_table *part, clo_error *err)
{
    census *const c = user;
    uint64_t null = 0;
    const bool text = part->blocks[0].values && !part->sparse; /* whose cells were looked at */
    if (c->fills || (text && !part->tallies && !part->schema)) return CLO_OK;
    CLO_TRY(clo_i_count_gaps(part, &null, err));
    c->null += null;
    return CLO_OK;
}

/* A pass in which null records are counted, and whose pass hash all others must have.  rows_later:
 * the rows are looked at later, when some of them are kept; only text and what is compressed is
 * read through to know how many there are. */
static clo_status count_rows(clo_recipe *recipe, bool rows_later, uint64_t *rows, uint64_t *null,
                             clo_table **out, clo_error *err)
{
    census c = { .fills = recipe->options.missing == CLO_MISSING_FILL };
    clo_i_sink sink = clo_i_recipe_sink(recipe);
    clo_i_pass_hash pass_hash;
    sink.take = count_part;
    sink.user = &c;
    sink.anonymous = true;
    if (rows_later) {
        sink.first = UINT64_MAX - 1; /* beyond them all: none is shown */
        sink.end = UINT64_MAX;
    }
    CLO_TRY(clo_i_pass_hash_draw_key(&recipe->key, err));
    clo_i_key_take(CLO_KEY_PASS_HASH, &recipe->key, sizeof recipe->key);
    clo_i_pass_hash_begin(&pass_hash, &recipe->key);
    const clo_status status = clo_i_recipe_pass(recipe, &sink, &pass_hash, out, err);
    clo_i_pass_hash_end(&pass_hash, recipe->pass_hash);
    *rows = sink.rows;
    *null = c.null;
    return status;
}

static void set_null_rows(clo_table *table, uint64_t null)
{
    table->null_rows = (size_t)null;
#ifdef CLO_TAINT
    (void)VALGRIND_MAKE_MEM_UNDEFINED(&table->null_rows, sizeof table->null_rows);
#endif
}

static clo_status scan(clo_recipe *recipe, clo_table **out, clo_error *err)
{
    const bool rows_later = recipe->options.rows_later && !recipe->options.unit;
    clo_table *table = NULL;
    uint64_t rows = 0, null = 0;
    CLO_TRY(count_rows(recipe, rows_later, &rows, &null, &table, err));
    recipe->cols = table->cols;
    recipe->sparse = table->sparse;
    recipe->zstd = table->packing && strcmp(table->packing, "zstd") == 0;
    recipe->rows = table->rows = (size_t)rows;
    const clo_status status = clo_i_table_settle(table, recipe, err);
    if (status) {
        clo_table_free(table);
        return status;
    }
    recipe->rows_later = rows_later;
    if (!rows_later)
        recipe->options.progress = NULL; /* the caller's, who has heard of it all by now */
    recipe->options.digest = false;
    table->recipe = recipe;
    set_null_rows(table, null);
    clo_i_table_taint(table, recipe->options.rows_are_secret || table->has_unit);
    *out = table;
    return CLO_OK;
}

/* Rows of its own: their bytes and their null records are counted anew, in a pass over them.  Only
 * an array that is not compressed is read from where they begin; of all else it is what is read
 * that counts, and the pass hash is of all of it. */
static clo_status count_kept(clo_recipe *recipe, uint64_t *null, clo_error *err)
{
    clo_table *table = NULL;
    uint64_t rows = 0;
    CLO_TRY(count_rows(recipe, false, &rows, null, &table, err));
    const bool same =
        table->cols == recipe->cols && table->sparse == recipe->sparse && rows == recipe->rows;
    clo_table_free(table);
    recipe->options.progress = NULL;
    return same ? CLO_OK : changed(err);
}

clo_status clo_i_scan_keep(clo_table *table, size_t first, size_t count, clo_error *err)
{
    clo_recipe *const recipe = table->recipe;
    const uint64_t begin = recipe->first + first;
    uint64_t null = 0;
    if (atomic_load(&recipe->holders) > 1)
        return clo_i_fail(err, CLO_ARGUMENT, "rows of a scan are kept before it is bounded");
    if (count == table->rows && !recipe->rows_later) return CLO_OK;
    recipe->first = count ? begin : recipe->rows;
    recipe->end = count ? begin + count : recipe->rows + 1; /* beyond them all: none */
    CLO_TRY(count_kept(recipe, &null, err));
    recipe->rows_later = false;
    table->rows = count;
    set_null_rows(table, null);
    return CLO_OK;
}

clo_status clo_i_table_refuse_unkept(const clo_table *table, clo_error *err)
{
    if (!table->recipe->rows_later) return CLO_OK;
    return clo_i_fail(err, CLO_ARGUMENT,
                      "no row of the table was looked at yet: choose the rows to keep first "
                      "(clo_table_keep)");
}

clo_status clo_table_scan(const char *const *paths, size_t count, const clo_read_options *given,
                          uint64_t memory, clo_table **out, clo_error *err)
{
    clo_read_options options;
    clo_recipe *recipe = NULL;
    CLO_TRY(clo_i_read_options_take(given, &options, err));
    if (memory < LEAST_MEMORY)
        return clo_i_fail(err, CLO_ARGUMENT, "memory must be at least %llu MiB",
                          (unsigned long long)(LEAST_MEMORY >> 20));
    if (options.text == CLO_TEXT_LATER)
        return clo_i_fail(err, CLO_ARGUMENT, "a scan is for a run, not for comparing");
    CLO_TRY(clo_i_recipe_new(paths, count, &options, memory, &recipe, err));
    const clo_status status = scan(recipe, out, err);
    if (status) clo_i_recipe_release(recipe);
    return status;
}

/* ---- every other pass ------------------------------------------------------------------------ */

typedef struct reading {
    const clo_recipe *recipe;
    clo_i_take_part *take;
    void *user;
    bool persons;
    clo_status taken; /* a failure of whoever takes the rows, which is not one of the files */
} reading;

static clo_status take_again(void *user, clo_table *part, clo_error *err)
{
    reading *const r = user;
    if (part->cols != r->recipe->cols || part->sparse != r->recipe->sparse) return changed(err);
    if (r->persons) clo_i_units_of_others(part, r->recipe->person_part, r->recipe->person_parts);
    r->taken = r->take(r->user, part, err);
    return r->taken;
}

/* What went wrong in a pass, without a word that might follow from the records. */
static clo_status explain(clo_status status, clo_error *err)
{
    if (status == CLO_MEMORY)
        return clo_i_fail(err, status, "out of memory while the data were read again");
    if (status == CLO_IO) return clo_i_fail(err, status, "the data can no longer be read");
    if (status == CLO_ENTROPY || status == CLO_INTERNAL)
        return clo_i_fail(err, status, "the data could not be read again");
    return changed(err);
}

clo_status clo_i_recipe_read(const clo_recipe *recipe, bool persons, clo_i_take_part *take,
                             void *user, clo_error *err)
{
    reading r = { .recipe = recipe, .take = take, .user = user, .persons = persons };
    clo_i_sink sink = clo_i_recipe_sink(recipe);
    clo_i_pass_hash pass_hash;
    uint8_t found[CLO_PASS_HASH_BYTES];
    clo_table *table = NULL;
    clo_error why;
    sink.take = take_again;
    sink.user = &r;
    sink.marks = true;
    sink.anonymous = !persons;
    clo_i_key_know(&recipe->key, sizeof recipe->key);
    clo_i_pass_hash_begin(&pass_hash, &recipe->key);
    const clo_status status = clo_i_recipe_pass(recipe, &sink, &pass_hash, &table, &why);
    clo_i_pass_hash_end(&pass_hash, found);
    clo_table_free(table);
    if (r.taken) return clo_i_fail(err, r.taken, "%s", why.message);
    if (status) return explain(status, err);
    const bool same =
        sink.rows == recipe->rows && sodium_memcmp(found, recipe->pass_hash, sizeof found) == 0;
    return same ? CLO_OK : changed(err);
}

/* ---- what others see of it ------------------------------------------------------------------- */

bool clo_i_table_is_scan(const clo_table *table)
{
    return table->recipe != NULL;
}

clo_status clo_i_table_refuse_scan(const clo_table *table, clo_error *err)
{
    if (!table->recipe) return CLO_OK;
    return clo_i_fail(err, CLO_ARGUMENT,
                      "the table holds no rows (clo_table_scan): it is for a run alone");
}

size_t clo_i_table_null_rows(const clo_table *table)
{
    return table->null_rows;
}

clo_recipe *clo_i_table_recipe(const clo_table *table)
{
    atomic_fetch_add(&table->recipe->holders, 1);
    return table->recipe;
}

uint64_t clo_i_recipe_memory(const clo_recipe *recipe)
{
    return recipe->memory;
}

const char *clo_i_recipe_cache(const clo_recipe *recipe)
{
    return recipe->options.cache;
}

/* A window of text becomes cells of eight bytes, at least a byte of text each, and with persons a
 * hash a row, which has a cell more.  What is compressed has a window of its own. */
size_t clo_i_recipe_room(const clo_recipe *recipe, bool persons)
{
    enum { CELL_BYTES = 8 };
    const clo_i_sink sink = clo_i_recipe_sink(recipe);
    const size_t row = CELL_BYTES * recipe->cols + CLO_UNIT_BYTES, cells = recipe->cols + 1;
    const size_t rows =
        persons ? sink.text_bytes / cells * row + row : CELL_BYTES * sink.text_bytes;
    return clo_i_sink_window(&sink) + rows + (recipe->zstd ? (size_t)1 << recipe->unpack_log : 0);
}
