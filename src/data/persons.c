/*
 * persons.c - which persons a table has rows of, as hashes under a key that several parts share,
 * and whether two parts have the same one (fold.T5).
 */
#include "data/several_files.h"
#include <cloister/persons.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)CLO_PERSON_BYTES == (int)CLO_UNIT_BYTES, "a person is a unit");

static int by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, CLO_PERSON_BYTES);
}

static bool is_nobody(const uint8_t *hash)
{
    return sodium_is_zero(hash, CLO_PERSON_BYTES);
}

static clo_status refuse_without_units(const clo_table *table, clo_error *err)
{
    if (table->has_unit) return CLO_OK;
    return clo_i_fail(err, CLO_ARGUMENT, "the table has no column that names persons");
}

/* Sorted, each once, nobody left out; how many there are then. */
static size_t make_a_set(uint8_t *hashes, size_t count)
{
    size_t kept = 0;
    if (count > 0) qsort(hashes, count, CLO_PERSON_BYTES, by_bytes);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *const hash = hashes + i * CLO_PERSON_BYTES;
        uint8_t *const next = hashes + kept * CLO_PERSON_BYTES;
        if (is_nobody(hash)) continue;
        if (kept > 0 && by_bytes(hash, next - CLO_PERSON_BYTES) == 0) continue;
        memmove(next, hash, CLO_PERSON_BYTES);
        kept++;
    }
    return kept;
}

clo_status clo_table_persons(const clo_table *table, uint8_t **out, size_t *count, clo_error *err)
{
    uint8_t *hashes = NULL;
    CLO_TRY(clo_i_table_refuse_scan(table, err));
    CLO_TRY(refuse_without_units(table, err));
    CLO_TRY(clo_i_alloc(table->rows, CLO_PERSON_BYTES, &hashes, err));
    for (size_t b = 0; b < table->block_count; b++) {
        const clo_i_block *const block = &table->blocks[b];
        if (block->rows)
            memcpy(hashes + block->first_row * CLO_PERSON_BYTES, block->units,
                   block->rows * CLO_PERSON_BYTES);
    }
    const size_t kept = make_a_set(hashes, table->rows);
    clo_i_wipe(hashes + kept * CLO_PERSON_BYTES, (table->rows - kept) * CLO_PERSON_BYTES);
    *out = hashes;
    *count = kept;
    return CLO_OK;
}

void clo_persons_free(uint8_t *hashes, size_t count)
{
    clo_i_wipe_free(hashes, hashes ? count * CLO_PERSON_BYTES : 0);
}

clo_status clo_persons_compare(uint8_t *hashes, size_t count, clo_persons *out, clo_error *err)
{
    clo_persons all = { 0, 0 };
    const uint8_t *last = NULL;
    if (count > 0) qsort(hashes, count, CLO_PERSON_BYTES, by_bytes);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *const hash = hashes + i * CLO_PERSON_BYTES;
        uint64_t word;
        if (is_nobody(hash)) continue;
        if (last && by_bytes(hash, last) == 0)
            return clo_i_fail(err, CLO_DOMAIN,
                              "a person has rows in two parts: put all rows of a person into one "
                              "part; nothing was spent");
        memcpy(&word, hash, sizeof word);
        all.count++;
        all.sum += word;
        last = hash;
    }
    *out = all;
    return CLO_OK;
}

void clo_i_units_of_others(clo_table *table, size_t part, size_t parts)
{
    for (size_t b = 0; parts && b < table->block_count; b++)
        for (size_t i = 0; i < table->blocks[b].rows; i++) {
            uint8_t *const hash = table->blocks[b].units + i * CLO_UNIT_BYTES;
            uint64_t word;
            memcpy(&word, hash, sizeof word);
            if (word % parts != part) memset(hash, 0, CLO_UNIT_BYTES);
        }
}

clo_status clo_table_keep_persons(clo_table *table, size_t part, size_t parts, clo_error *err)
{
    CLO_TRY(refuse_without_units(table, err));
    if (parts == 0 || part >= parts)
        return clo_i_fail(err, CLO_ARGUMENT, "there are %zu parts, and part %zu is none of them",
                          parts, part);
    if (!table->recipe) {
        clo_i_units_of_others(table, part, parts);
        return CLO_OK;
    }
    if (atomic_load(&table->recipe->holders) > 1 || table->recipe->person_parts)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "persons of a scan are kept once, before it is bounded");
    table->recipe->person_part = part;
    table->recipe->person_parts = parts;
    return CLO_OK;
}
