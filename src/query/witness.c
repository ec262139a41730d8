/* witness.c - watches noise being added and answers being told, in the test build (witness.h). */
#include "query/witness.h"
#include "query/fold.h"

#ifdef CLO_FAULT_INJECTION
#include "base/planted.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t BLANK = INT64_MIN; /* no draw is as large: samplers.T2, samplers.T4 */

static _Noreturn void breach(const clo_line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static _Noreturn void breach(const clo_line *line, const char *format, ...)
{
    char sentence[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    fprintf(stderr, "witness: %s: %s\n", clo_i_query_name(line->query), sentence);
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
                         const clo_line *line, const int64_t *numbers)
{
    for (size_t i = 0; i < witness->count; i++) {
        const uint64_t wanted = (uint64_t)witness->before[i] + (uint64_t)witness->drawn[i];
        if (witness->times[i] != 1)
            breach(line, "number %zu of %zu was noised %u times, not 1", i + 1, witness->count,
                   witness->times[i]);
        if ((uint64_t)numbers[i] != wanted)
            breach(line, "number %zu of %zu is not its sum and its noise", i + 1, witness->count);
    }
    context->meter->noised += witness->count;
}

void clo_i_witness_end(clo_witness *witness)
{
    free(witness->before);
    free(witness->drawn);
    free(witness->times);
}

/* ---- planted faults -------------------------------------------------------------------------- */

/* One cluster's numbers, its size last. */
static void plant_group(const clo_line *line, size_t count, const int64_t *before,
                        const int64_t *drawn, int64_t *numbers)
{
    const int64_t size = before[count - 1] / (int64_t)line->count_unit;
    if (clo_i_planted(CLO_FAULT_EMPTY_SKIPPED) && size == 0)
        memcpy(numbers, before, count * sizeof *numbers);
    if (clo_i_planted(CLO_FAULT_NOISE_FROM_SIZE) && size > 1)
        for (size_t j = 0; j + 1 < count; j++)
            numbers[j] = before[j] + (int64_t)((double)drawn[j] / (double)size);
    if (clo_i_planted(CLO_FAULT_COUNT_LEAKED)) numbers[count - 1] = before[count - 1];
}

void clo_i_witness_plant(const clo_witness *witness, const clo_line *line, const clo_noise *noise,
                         int64_t *numbers)
{
    for (size_t at = 0; noise->group && at < witness->count; at += noise->group)
        plant_group(line, noise->group, witness->before + at, witness->drawn + at, numbers + at);
}

/* ---- what is told ---------------------------------------------------------------------------- */

/* An ask that failed has left its noise behind; one that told a part of its answer is at fault. */
void clo_i_witness_charged(clo_meter *meter, const clo_line *line)
{
    if (meter->told)
        breach(line, "asked while an answer was told in part: %zu of %zu numbers", meter->told,
               meter->noised);
    meter->noised = 0;
}

void clo_i_witness_told(clo_meter *meter, const clo_line *line, size_t count)
{
    const clo_numbers wanted = line->query->numbers(line);
    if (wanted.noised == 0) {
        meter->noised = 0;
        return;
    }
    meter->told += count;
    const bool open = wanted.noised == CLO_AS_TOLD;
    const size_t noised = open ? meter->noised : wanted.noised;
    const size_t told = open ? meter->noised : wanted.told;
    if (meter->noised != noised || meter->told > told)
        breach(line, "%zu numbers are told, and %zu were noised; it should be %zu and %zu",
               meter->told, meter->noised, told, noised);
    if (meter->told < told) return; /* the rest is to follow */
    meter->answered[line - meter->lines]++;
    meter->noised = meter->told = 0;
}

void clo_i_witness_finished(const clo_meter *meter)
{
    for (size_t i = 0; i < meter->count; i++)
        if (meter->lines[i].query->numbers(&meter->lines[i]).noised &&
            meter->answered[i] != meter->asked[i])
            breach(&meter->lines[i], "asked %llu times, and told %llu answers",
                   (unsigned long long)meter->asked[i], (unsigned long long)meter->answered[i]);
}
#else
typedef int clo_i_no_witness; /* a translation unit must not be empty */
#endif
