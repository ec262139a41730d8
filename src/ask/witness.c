/* witness.c - watches noise being added and answers being told, in the test build (witness.h). */
#include "ask/witness.h"
#include "ask/fold.h"

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

/* ---- what is drawn from ---------------------------------------------------------------------- */

static clo_witness_ear *listener;
static void *listening;

void clo_i_witness_listen(clo_witness_ear *ear, void *user)
{
    listener = ear;
    listening = user;
}

bool clo_i_witness_exact(const clo_exact *exact, size_t *chosen)
{
    if (!listener) return false;
    const size_t wanted = listener(listening, exact);
    if (chosen) *chosen = wanted;
    return true;
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

static void forget(struct clo_watched *watched)
{
    watched->drawn = watched->noised = watched->told = 0;
    watched->noised_hash = watched->told_hash = 0;
    watched->vast = false;
}

/* An ask that failed has left its noise behind; one that told a part of its answer is at fault. */
void clo_i_witness_charged(clo_meter *meter, const clo_line *line)
{
    if (meter->watched.told)
        breach(line, "asked while an answer was told in part: %zu of %zu numbers",
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

/* Reads the numbers back.  Of a symmetric matrix those on the diagonal count twice, as the others
 * stand twice. */
static void read_back(struct clo_watched *watched, const clo_line *line, const double *values,
                      size_t count, double unit)
{
    const size_t d = line->cols;
    const bool symmetric = line->query->symmetric;
    for (size_t i = 0; i < count; i++) {
        const double number = values[i] * unit;
        const bool twice = symmetric && i / d % d == i % d;
        const uint64_t own = fabs(number) < (double)READABLE ? hash(llround(number)) : 1;
        watched->told_hash += twice ? 2 * own : own;
    }
    if (symmetric) watched->noised_hash *= 2; /* which is told at once */
}

void clo_i_witness_told(clo_meter *meter, const clo_line *line, const double *values, size_t count,
                        double unit)
{
    struct clo_watched *const watched = &meter->watched;
    const clo_numbers wanted = line->query->numbers(line);
    if (wanted.noised == 0) {
        forget(watched);
        return;
    }
    watched->told += count;
    read_back(watched, line, values, count, unit);
    const bool open = wanted.noised == CLO_AS_TOLD;
    const size_t noised = open ? watched->noised : wanted.noised;
    const size_t told = open ? watched->noised : wanted.told;
    if (watched->drawn != noised || watched->noised != noised || watched->told > told)
        breach(line, "%zu numbers are told, and %zu were noised; it should be %zu and %zu",
               watched->told, watched->drawn, told, noised);
    if (watched->told < told) return; /* the rest is to follow */
    if (unit > 0 && !watched->vast && watched->told_hash != watched->noised_hash)
        breach(line, "the numbers that are told are not those that were noised");
    meter->watched.answered[line - meter->lines]++;
    forget(watched);
}

void clo_i_witness_finished(const clo_meter *meter)
{
    for (size_t i = 0; i < meter->count; i++)
        if (meter->lines[i].query->numbers(&meter->lines[i]).noised &&
            meter->watched.answered[i] != meter->asked[i])
            breach(&meter->lines[i], "asked %llu times, and told %llu answers",
                   (unsigned long long)meter->asked[i],
                   (unsigned long long)meter->watched.answered[i]);
}
#else
typedef int clo_i_no_witness; /* a translation unit must not be empty */
#endif
