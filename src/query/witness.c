/* witness.c - watches noise being added and answers being told, in the test build (witness.h). */
#include "query/witness.h"

#ifdef CLO_FAULT_INJECTION
#include "base/planted.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t BLANK = INT64_MIN; /* no draw is as large: samplers.T2, samplers.T4 */
/* A smaller number over a unit, times that unit, is off by less than a half: two roundings. */
static const int64_t READABLE = (int64_t)1 << 51;

static _Noreturn void breach(const clo_slot *slot, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static _Noreturn void breach(const clo_slot *slot, const char *format, ...)
{
    char sentence[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    fprintf(stderr, "witness: %s: %s\n", clo_i_query_name(slot->query), sentence);
    abort();
}

/* ---- while noise is added -------------------------------------------------------------------- */

/* Not by clo_i_alloc: a test may make that fail, and counts its calls. */
static void *room(size_t count, size_t size)
{
    void *const block = calloc(count + 1, size);
    if (!block) abort();
    return block;
}

clo_witness clo_i_witness_begin(const int64_t *numbers, size_t count)
{
    const clo_witness witness = { .count = count,
                                  .before = room(count, sizeof *witness.before),
                                  .drawn = room(count, sizeof *witness.drawn),
                                  .times = room(count, sizeof *witness.times) };
    memcpy(witness.before, numbers, count * sizeof *numbers);
    return witness;
}

void clo_i_witness_blank(int64_t *drawn, size_t count)
{
    for (size_t i = 0; i < count; i++) drawn[i] = BLANK;
}

void clo_i_witness_add(clo_witness *witness, size_t number, int64_t drawn)
{
    if (drawn == BLANK || number >= witness->count) return; /* was not drawn at all */
    witness->drawn[number] = (int64_t)((uint64_t)witness->drawn[number] + (uint64_t)drawn);
    if (witness->times[number] < UINT8_MAX) witness->times[number]++;
}

void clo_i_witness_check(const clo_witness *witness, const clo_context *context,
                         const clo_slot *slot, bool draws, const int64_t *numbers)
{
    for (size_t i = 0; i < witness->count; i++) {
        const uint64_t wanted = (uint64_t)witness->before[i] + (uint64_t)witness->drawn[i];
        if (witness->times[i] != draws)
            breach(slot, "number %zu of %zu was noised %u times, not %d", i + 1, witness->count,
                   witness->times[i], draws);
        if ((uint64_t)numbers[i] != wanted)
            breach(slot, "number %zu of %zu is not its sum and its noise", i + 1, witness->count);
    }
    context->meter->watched.drawn += witness->count;
}

void clo_i_witness_end(clo_witness *witness)
{
    free(witness->before);
    free(witness->drawn);
    free(witness->times);
}

/* ---- planted faults -------------------------------------------------------------------------- */

/* One cluster's numbers, its size last. */
static void plant_group(const clo_slot *slot, size_t count, const int64_t *before,
                        const int64_t *drawn, int64_t *numbers)
{
    const int64_t size = before[count - 1] / (int64_t)slot->count_unit;
    if (clo_i_planted(CLO_FAULT_EMPTY_SKIPPED) && size == 0)
        memcpy(numbers, before, count * sizeof *numbers);
    if (clo_i_planted(CLO_FAULT_NOISE_FROM_SIZE) && size > 1)
        for (size_t j = 0; j + 1 < count; j++)
            numbers[j] = before[j] + (int64_t)((double)drawn[j] / (double)size);
    if (clo_i_planted(CLO_FAULT_COUNT_LEAKED)) numbers[count - 1] = before[count - 1];
}

void clo_i_witness_plant(const clo_witness *witness, const clo_slot *slot, const clo_noise *noise,
                         int64_t *numbers)
{
    for (size_t at = 0; noise->group && at < witness->count; at += noise->group)
        plant_group(slot, noise->group, witness->before + at, witness->drawn + at, numbers + at);
}

/* ---- what is told ---------------------------------------------------------------------------- */

/* How many numbers of a line's answer are noised, and how many are told. */
typedef struct expected {
    size_t noised, told;
} expected;

static const size_t AS_TOLD = SIZE_MAX; /* as many as are told, however many that is */

/* Of answers that are drawn instead, by an exponential mechanism or a threshold, nothing is noised:
 * { 0, 0 }.  A new query does not compile before it has said here what it is. */
static expected expected_of(const clo_slot *slot)
{
    const size_t k = slot->groups, d = slot->cols;
    const size_t small = slot->dim < d - slot->dim ? slot->dim : d - slot->dim;
    switch (slot->query) {
    case CLO_QUERY_gaussian_sum:
    case CLO_QUERY_laplace_sum:
        return (expected){ k * (d + 1), k * (d + 1) };
    case CLO_QUERY_gaussian_step:
        return (expected){ k * (d + 2), k * (d + 2) };
    case CLO_QUERY_sparse_sum: /* over all columns, of which the rule sees fewer */
        return (expected){ AS_TOLD, AS_TOLD };
    case CLO_QUERY_peel:
        return (expected){ k * (slot->rounds + 1), k * (slot->rounds + 1) };
    case CLO_QUERY_gaussian_gram: /* each entry off the diagonal is told twice */
        return (expected){ k * (d * (d + 1) / 2), k * d * d };
    case CLO_QUERY_gaussian_moment:
        return (expected){ clo_i_moment_size(d), clo_i_moment_size(d) };
    case CLO_QUERY_gaussian_moment3:
        return (expected){ clo_i_moment3_size(d), clo_i_moment3_size(d) };
    case CLO_QUERY_count:
        return (expected){ 1, 1 };
    case CLO_QUERY_cell_counts:
        return (expected){ k, k };
    case CLO_QUERY_aggregate: /* a basis of many columns is known by that of its complement */
        return slot->dim ? (expected){ k * d * small, k * d * slot->dim }
                         : (expected){ k * d, k * d };
    case CLO_QUERY_choose:
    case CLO_QUERY_choose_flats:
    case CLO_QUERY_choose_centers:
    case CLO_QUERY_quantile:
    case CLO_QUERY_seed:
    case CLO_QUERY_partition:
    case CLO_QUERY_histogram: /* of many noised sizes, as many as there are cells, one is told */
    case CLO_QUERY_gibbs:
    case CLO_QUERY_gapmax:
    case CLO_QUERY_KINDS:
        break;
    }
    return (expected){ 0, 0 };
}

static void forget(struct clo_watched *watched)
{
    watched->drawn = watched->noised = watched->told = 0;
    watched->noised_hash = watched->told_hash = 0;
    watched->vast = false;
}

/* An ask that failed has left its noise behind; one that told a part of its answer is at fault. */
void clo_i_witness_charged(clo_meter *meter, const clo_slot *slot)
{
    if (meter->watched.told)
        breach(slot, "asked while an answer was told in part: %zu of %zu numbers",
               meter->watched.told, meter->watched.noised);
    forget(&meter->watched);
}

/* Sums of this tell sets of numbers apart, whatever their order (the finalizer of splitmix64). */
static uint64_t hash(int64_t number)
{
    uint64_t x = (uint64_t)number + UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

void clo_i_witness_public(clo_meter *meter, const int64_t *numbers, size_t count)
{
    struct clo_watched *const watched = &meter->watched;
    watched->noised += count;
    for (size_t i = 0; i < count; i++) {
        watched->noised_hash += hash(numbers[i]);
        if (numbers[i] >= READABLE || numbers[i] <= -READABLE) watched->vast = true;
    }
}

/* Reads the numbers back.  Of a Gram matrix those on the diagonal count twice, as the others stand
 * twice. */
static void read_back(struct clo_watched *watched, const clo_slot *slot, const double *values,
                      size_t count, double unit)
{
    const size_t d = slot->cols;
    const bool gram = slot->query == CLO_QUERY_gaussian_gram;
    for (size_t i = 0; i < count; i++) {
        const double number = values[i] * unit;
        const bool twice = gram && i / d % d == i % d;
        const uint64_t own = fabs(number) < (double)READABLE ? hash(llround(number)) : 1;
        watched->told_hash += twice ? 2 * own : own;
    }
    if (gram) watched->noised_hash *= 2; /* which is told at once */
}

void clo_i_witness_told(clo_meter *meter, const clo_slot *slot, const double *values, size_t count,
                        double unit)
{
    struct clo_watched *const watched = &meter->watched;
    const expected wanted = expected_of(slot);
    if (wanted.noised == 0) {
        forget(watched);
        return;
    }
    watched->told += count;
    read_back(watched, slot, values, count, unit);
    const bool open = wanted.noised == AS_TOLD;
    const size_t noised = open ? watched->noised : wanted.noised;
    const size_t told = open ? watched->noised : wanted.told;
    if (watched->drawn != noised || watched->noised != noised || watched->told > told)
        breach(slot, "%zu numbers are told, and %zu were noised; it should be %zu and %zu",
               watched->told, watched->drawn, told, noised);
    if (watched->told < told) return; /* the rest is to follow */
    if (unit > 0 && !watched->vast && watched->told_hash != watched->noised_hash)
        breach(slot, "the numbers that are told are not those that were noised");
    meter->watched.answered[slot - meter->slots]++;
    forget(watched);
}

void clo_i_witness_finished(const clo_meter *meter)
{
    for (size_t i = 0; i < meter->count; i++)
        if (expected_of(&meter->slots[i]).noised && meter->watched.answered[i] != meter->asked[i])
            breach(&meter->slots[i], "asked %llu times, and told %llu answers",
                   (unsigned long long)meter->asked[i],
                   (unsigned long long)meter->watched.answered[i]);
}
#else
typedef int clo_i_no_witness; /* a translation unit must not be empty */
#endif
