/*
 * fuzz_ask.c - any bytes as one ask of a sum: a worker answers or refuses, and never reads out of
 * bounds.  The first byte picks a line of the plan, whose bytes are put before the rest: they would
 * never be guessed, and a worker compares them with its own.
 */
#include "sum_asks.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* What an encoded ask begins with: magic, number of sums, number and bytes of the line. */
enum { HEAD = 3 * 8 + CLO_LINE_BYTES };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static sum_asks asks;
    uint8_t *valid = NULL;
    size_t length;
    clo_error err;
    if (count < 1) return 0;
    if (!asks.count) sum_asks_open(&asks);
    const size_t line = bytes[0] % asks.count;
    const size_t entries = clo_i_fold_entries(&asks.asks[line], ASK_COLS);
    assert_ok(
        clo_i_ask_encode(&asks.asks[line], line + asks.meter.first, entries, &valid, &length, &err),
        err);
    uint8_t *const told = aligned_alloc(64, (HEAD + count + 63) / 64 * 64);
    assert_non_null(told);
    memcpy(told, valid, HEAD);
    memcpy(told + HEAD, bytes + 1, count - 1);
    memset(asks.meter.asked, 0, sizeof asks.meter.asked);
    const clo_status status =
        clo_i_fold_for_rank_0(&asks.context, asks.data, told, HEAD + count - 1, &err);
    assert_true(status == CLO_OK || status == CLO_FORMAT || status == CLO_INTERNAL);
    free(told);
    clo_i_free(valid);
    return 0;
}
