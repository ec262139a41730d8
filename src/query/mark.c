/*
 * mark.c - by what rows, and persons, are known again in a later pass: number and keyed hash.
 *
 * The hash of all rows is the sum of the rows' own, modulo 2^64: it knows neither their order nor
 * which part holds which, so that engines may deal rows out anew.  Other rows give another sum but
 * for a chance of about 2^-64: SipHash-2-4 under a key that is drawn for the run.  The mark is as
 * secret as the rows, and is only compared.
 */
#include "bound/bound.h"
#include "query/query.h"
#include <sodium.h>
#include <stdatomic.h>

_Static_assert((int)CLO_MARK_KEY_BYTES == (int)crypto_shorthash_KEYBYTES, "a key of SipHash");
_Static_assert(crypto_shorthash_BYTES == sizeof(uint64_t), "a hash of SipHash");

bool clo_i_has_no_rows(const clo_bounded *data)
{
    return clo_i_bounded_slots(data) == 0;
}

static uint64_t hash_block(const double *values, size_t rows, size_t cols, const uint8_t *key)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < rows; i++) {
        uint64_t hash;
        (void)crypto_shorthash((uint8_t *)&hash, (const uint8_t *)(values + i * cols),
                               cols * sizeof *values, key);
        sum += hash;
    }
    return sum;
}

/* Grid integers as doubles: 0 has one form, and the same integer the same bytes. */
clo_status clo_i_mark_rows(const clo_bounded *data, const uint8_t *key, int threads,
                           uint64_t mark[CLO_MARK_NUMBERS], clo_error *err)
{
    const size_t cols = clo_i_bounded_domain(data)->cols, block_rows = clo_i_block_rows(cols, 0);
    const size_t blocks = clo_i_block_count(data, block_rows);
    uint64_t sum = 0;
    _Atomic int failure = CLO_OK;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    {
        double *values = NULL;
        clo_status mine = clo_i_alloc(block_rows * cols, sizeof *values, &values, NULL);
#pragma omp for schedule(static)
        for (size_t b = 0; b < blocks; b++) {
            size_t rows = 0;
            if (!mine)
                mine = clo_i_block_load(data, b, block_rows, CLO_GRID_BITS, values, &rows, NULL);
            if (!mine) sum += hash_block(values, rows, cols, key);
        }
        clo_i_wipe_free(values, values ? block_rows * cols * sizeof *values : 0);
        if (mine) atomic_store(&failure, (int)mine);
    }
    mark[0] = (uint64_t)clo_i_bounded_slots(data);
    mark[1] = sum;
    mark[2] = clo_i_bounded_persons(data).count;
    mark[3] = clo_i_bounded_persons(data).sum;
    if (!atomic_load(&failure)) return CLO_OK;
    return clo_i_fail(err, (clo_status)atomic_load(&failure), "the rows could not be read again");
}
