/*
 * row_hash.c - by what rows, and persons, are known again in a later pass: number and keyed hash.
 *
 * The hash of all rows is the sum of the rows' own, modulo 2^64: it knows neither their order nor
 * which part holds which, so that engines may deal rows out anew.  Other rows give another sum but
 * for a chance of about 2^-64: SipHash-2-4 under a key that is drawn for the run.  The hash is as
 * secret as the rows, and is only compared.
 */
#include "bound/bound.h"
#include "ask/blocks.h"
#include "ask/query.h"
#include <sodium.h>
#include <stdatomic.h>

_Static_assert((int)CLO_ROW_HASH_KEY_BYTES == (int)crypto_shorthash_KEYBYTES, "a key of SipHash");
_Static_assert(crypto_shorthash_BYTES == sizeof(uint64_t), "a hash of SipHash");

size_t clo_i_row_slots(const clo_bounded *data)
{
    return clo_i_bounded_slots(data);
}

bool clo_i_has_no_rows(const clo_bounded *data)
{
    return clo_i_row_slots(data) == 0;
}

/* Into which sum the hash of each row goes; block numbers NULL: all into the one there is. */
typedef struct sums {
    const uint32_t *block_of;
    size_t first, count, groups;
    uint64_t *totals;
} sums;

static void hash_block(const sums *s, size_t at, const double *values, size_t rows, size_t cols,
                       const uint8_t *key, uint64_t *here)
{
    for (size_t i = 0; i < rows; i++) {
        const size_t group = s->block_of ? s->block_of[at + i] % s->groups : 0;
        uint64_t hash;
        if (group < s->first || group - s->first >= s->count) continue;
        (void)crypto_shorthash((uint8_t *)&hash, (const uint8_t *)(values + i * cols),
                               cols * sizeof *values, key);
        here[group - s->first] += hash;
    }
}

/* Grid integers as doubles: 0 has one form, and the same integer the same bytes. */
static clo_status hash_rows(const clo_bounded *data, const uint8_t *key, int threads, const sums *s,
                            clo_error *err)
{
    const size_t cols = clo_i_bounded_domain(data)->cols, block_rows = clo_i_block_rows(cols, 0);
    const size_t blocks = clo_i_block_count(data, block_rows);
    _Atomic int failure = CLO_OK;
#pragma omp parallel num_threads(threads)
    {
        double *values = NULL;
        uint64_t *here = NULL;
        clo_status mine = clo_i_alloc(block_rows * cols, sizeof *values, &values, NULL);
        if (!mine) mine = clo_i_alloc(s->count, sizeof *here, &here, NULL);
#pragma omp for schedule(static)
        for (size_t b = 0; b < blocks; b++) {
            size_t rows = 0;
            if (!mine)
                mine = clo_i_block_load(data, b, block_rows, CLO_GRID_BITS, values, &rows, NULL);
            if (!mine) hash_block(s, b * block_rows, values, rows, cols, key, here);
        }
        for (size_t i = 0; i < s->count && !mine; i++)
#pragma omp atomic
            s->totals[i] += here[i];
        clo_i_wipe_free(here, here ? s->count * sizeof *here : 0);
        clo_i_wipe_free(values, values ? block_rows * cols * sizeof *values : 0);
        if (mine) atomic_store(&failure, (int)mine);
    }
    if (!atomic_load(&failure)) return CLO_OK;
    return clo_i_fail(err, (clo_status)atomic_load(&failure), "the rows could not be read again");
}

clo_status clo_i_hash_rows(const clo_bounded *data, const uint8_t *key, int threads,
                           uint64_t row_hash[CLO_ROW_HASH_NUMBERS], clo_error *err)
{
    uint64_t sum = 0;
    const sums all = { .count = 1, .groups = 1, .totals = &sum };
    CLO_TRY(hash_rows(data, key, threads, &all, err));
    row_hash[0] = (uint64_t)clo_i_bounded_slots(data);
    row_hash[1] = sum;
    row_hash[2] = clo_i_bounded_persons(data).count;
    row_hash[3] = clo_i_bounded_persons(data).sum;
    return CLO_OK;
}

/* Persons are counted once a part: with its first group. */
clo_status clo_i_hash_groups(const clo_bounded *rows, const clo_dealing *how,
                             const uint32_t *block_of, int threads, clo_row_hash *hashes,
                             clo_error *err)
{
    uint64_t *totals = NULL;
    CLO_TRY(clo_i_alloc(how->count, sizeof *totals, &totals, err));
    const sums each = { .block_of = block_of,
                        .first = how->first,
                        .count = how->count,
                        .groups = how->groups,
                        .totals = totals };
    const clo_status status = hash_rows(rows, how->row_hash_key, threads, &each, err);
    for (size_t i = 0; i < how->count; i++) {
        const bool first = how->first + i == 0;
        hashes[i].numbers[1] = totals[i];
        hashes[i].numbers[2] = first ? clo_i_bounded_persons(rows).count : 0;
        hashes[i].numbers[3] = first ? clo_i_bounded_persons(rows).sum : 0;
    }
    clo_i_wipe_free(totals, how->count * sizeof *totals);
    return status;
}
