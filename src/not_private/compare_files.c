/*
 * compare_files.c - in how many records two files differ, whatever their order: whether they are
 * neighbours.  Plain counts, for whoever has both files.
 *
 * Every row becomes two hashes, of its person and of all that stands in it.  Sorted by both, equal
 * rows lie together, and so do the rows of a person.
 */
#include <cloister/inspect.h>
#include "data/data.h"
#include "base/key.h"
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
    uint8_t unit[CLO_UNIT_BYTES]; /* zero without units, and where a row names nobody */
    uint8_t row[CLO_UNIT_BYTES];
    uint8_t file; /* 0 or 1 */
} entry;

static int by_hashes(const void *a, const void *b)
{
    const entry *const x = a, *const y = b;
    const int units = memcmp(x->unit, y->unit, CLO_UNIT_BYTES);
    return units ? units : memcmp(x->row, y->row, CLO_UNIT_BYTES);
}

static clo_status hash_rows(clo_table *const tables[2], entry *entries, clo_error *err)
{
    const size_t cols = clo_table_cols(tables[0]);
    uint8_t key[CLO_ROW_KEY_BYTES];
    double *room = NULL;
    CLO_TRY(clo_i_alloc(cols, sizeof *room, &room, err));
    if (!clo_i_key_draw(CLO_KEY_ROWS, key, sizeof key)) {
        clo_i_wipe_free(room, cols * sizeof *room);
        return clo_i_fail(err, CLO_ENTROPY, "the operating system provides no secure randomness");
    }
    clo_i_key_take(CLO_KEY_ROWS, key, sizeof key);
    for (uint8_t file = 0; file < 2; file++)
        for (size_t row = 0; row < clo_table_rows(tables[file]); row++, entries++) {
            const uint8_t *const unit = clo_i_table_unit(tables[file], row);
            if (unit) memcpy(entries->unit, unit, CLO_UNIT_BYTES);
            clo_i_table_hash_row(tables[file], row, key, room, entries->row);
            entries->file = file;
        }
    clo_i_wipe_free(room, cols * sizeof *room);
    return CLO_OK;
}

/* Rows of one person, or of nobody: how many there are in each file, and how many of them the other
 * one has not. */
typedef struct tally {
    uint64_t rows[2], only[2];
} tally;

static tally tally_rows(const entry *entries, size_t count)
{
    tally all = { { 0 }, { 0 } };
    for (size_t i = 0, next; i < count; i = next) {
        uint64_t here[2] = { 0, 0 };
        for (next = i; next < count && by_hashes(&entries[i], &entries[next]) == 0; next++)
            here[entries[next].file]++;
        for (int f = 0; f < 2; f++) {
            all.rows[f] += here[f];
            all.only[f] += here[f] > here[1 - f] ? here[f] - here[1 - f] : 0;
        }
    }
    return all;
}

static void count_person(const tally *rows, clo_difference *found)
{
    if (rows->only[0] == 0 && rows->only[1] == 0) return;
    if (rows->rows[0] && rows->rows[1])
        found->changed++;
    else
        found->only[rows->rows[0] ? 0 : 1]++;
}

static void compare(const entry *entries, size_t count, bool units, clo_difference *found)
{
    static const uint8_t nobody[CLO_UNIT_BYTES];
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i;
             next < count && !memcmp(entries[i].unit, entries[next].unit, CLO_UNIT_BYTES);)
            next++;
        const tally rows = tally_rows(entries + i, next - i);
        const bool person = units && memcmp(entries[i].unit, nobody, CLO_UNIT_BYTES) != 0;
        for (int f = 0; f < 2; f++) {
            found->rows[f] += rows.rows[f];
            if (!person) found->only[f] += rows.only[f]; /* each is a record of its own */
        }
        if (person) count_person(&rows, found);
    }
}

clo_status clo_files_compare(const char *first, const char *second, const clo_read_options *options,
                             clo_difference *out, clo_error *err)
{
    const char *const paths[2] = { first, second };
    clo_table *tables[2] = { NULL, NULL };
    clo_difference found = { .struct_size = sizeof found };
    entry *entries = NULL;
    CLO_TRY(clo_i_check_result("clo_difference", out, err));
    CLO_TRY(clo_i_read_pair(paths, options, tables, err));
    const size_t count = clo_table_rows(tables[0]) + clo_table_rows(tables[1]);
    clo_status status = clo_i_alloc(count + 1, sizeof *entries, &entries, err);
    if (status == CLO_OK) status = hash_rows(tables, entries, err);
    if (status == CLO_OK) {
        qsort(entries, count, sizeof *entries, by_hashes);
        compare(entries, count, clo_table_has_unit(tables[0]), &found);
        clo_i_give_result(out, &found, sizeof found);
    }
    clo_i_wipe_free(entries, entries ? (count + 1) * sizeof *entries : 0);
    clo_table_free(tables[0]);
    clo_table_free(tables[1]);
    return status;
}
