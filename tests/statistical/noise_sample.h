/*
 * noise_sample.h - what a noisy query added to the truth, many numbers in many asks, and the checks
 * that every one of them is a draw of its own (answer.T1).
 *
 * A value is a residual over its planned scale: standard normal, or of the unit Laplace law, up to
 * the grain of the integers, which is far below what any check here can see.  A right sample fails
 * with probability alpha at most, split evenly among the families of checks and within a family
 * among its comparisons:
 *
 *   laws       the law, and the scale, in each chunk, cluster and class of numbers
 *   places     the scale of each number over the asks, the law of each ask over its numbers
 *   bare       residuals of exactly zero
 *   copies     equal magnitudes anywhere, also where classes of other scales share a draw
 *   lags       signs and magnitudes of numbers any distance apart in the answer
 *   asks       the same of any two asks
 *   parts      the same of any two clusters and classes, number by number
 *   totals     sums over chunks and clusters (normal laws only)
 */
#ifndef CLO_TEST_NOISE_SAMPLE_H
#define CLO_TEST_NOISE_SAMPLE_H

#include "check.h"
#include "statistical.h"
#include <stdlib.h>

enum { SAMPLE_FAMILIES = 8 };

typedef struct noise_sample {
    size_t asks, numbers;
    double *values;             /* asks x numbers */
    bool laplace;               /* or normal */
    double grain;               /* of the values, the largest; 0: too coarse to tell copies */
    const uint8_t *class_of;    /* numbers: of which law */
    const uint16_t *cluster_of; /* numbers */
} noise_sample;

static inline size_t sample_size(const noise_sample *s)
{
    return s->asks * s->numbers;
}

/* Says what is wrong, and is false. */
static inline bool sample_says(const char *family, const char *what, size_t which)
{
    print_message("#   %s: %s %zu\n", family, what, which);
    return false;
}

/* ---- laws ---------------------------------------------------------------------------------- */

static inline double sample_law(bool laplace, double x)
{
    if (!laplace) return 0.5 * erfc(-x * 0.70710678118654752440);
    return x < 0 ? 0.5 * exp(x) : 1 - 0.5 * exp(-x);
}

/* What a part of the numbers tells of its law: how many lie below which share of it, and how large
 * they are together. */
enum { SAMPLE_STEPS = 4096 };
typedef struct sample_tally {
    size_t count, below[SAMPLE_STEPS];
    double power;
} sample_tally;

static inline void sample_tell(sample_tally *t, bool laplace, double value, double share)
{
    const double step = share * SAMPLE_STEPS;
    t->count++;
    t->below[step < SAMPLE_STEPS ? (size_t)step : SAMPLE_STEPS - 1]++;
    t->power += laplace ? fabs(value) : value * value / 2;
}

/* The law by Dvoretzky, Kiefer and Wolfowitz, at so many places of it, and the scale by its Gamma
 * law. */
static inline bool sample_follows(const sample_tally *t, bool laplace, double alpha)
{
    const double n = (double)t->count;
    const double radius = stat_radius(t->count, alpha / 2) + 1e-6; /* for the grain */
    size_t below = 0;
    if (!stat_is_gamma(t->power, laplace ? n : n / 2, alpha / 2)) return false;
    for (size_t i = 0; i < SAMPLE_STEPS; i++) {
        below += t->below[i];
        if (fabs((double)below / n - (double)(i + 1) / SAMPLE_STEPS) > radius) return false;
    }
    return true;
}

/* Of all values, to be freed. */
static inline double *sample_shares(const noise_sample *s)
{
    double *const shares = calloc(sample_size(s), sizeof *shares);
    for (size_t i = 0; i < sample_size(s); i++) shares[i] = sample_law(s->laplace, s->values[i]);
    return shares;
}

/* Ways to part the numbers of an answer. */
typedef enum sample_parting {
    BY_NOTHING,
    BY_CHUNK,       /* as noise is drawn, where there is one class */
    BY_SMALL_CHUNK, /* and as it might be */
    BY_ODD_CHUNK,
    BY_CLASS,
    BY_CLUSTER,
    BY_CLUSTER_AND_CLASS,
    BY_CHUNK_OF_CLASS, /* as noise is drawn, where there are several */
    SAMPLE_PARTINGS
} sample_parting;

static inline size_t sample_part(const noise_sample *s, sample_parting parting, size_t number,
                                 size_t before_in_class)
{
    switch (parting) {
    case BY_CHUNK:
        return number / 4096;
    case BY_SMALL_CHUNK:
        return number / 1024;
    case BY_ODD_CHUNK:
        return number / 1000;
    case BY_CLASS:
        return s->class_of[number];
    case BY_CLUSTER:
        return s->cluster_of[number];
    case BY_CLUSTER_AND_CLASS:
        return (size_t)s->cluster_of[number] * 8 + s->class_of[number];
    case BY_CHUNK_OF_CLASS:
        return before_in_class / 4096 * 8 + s->class_of[number];
    case BY_NOTHING:
    case SAMPLE_PARTINGS:
        break;
    }
    return 0;
}

/* part_of: numbers.  How many parts there may be. */
static inline size_t sample_parts(const noise_sample *s, sample_parting parting, size_t *part_of)
{
    size_t seen[256] = { 0 }, most = 0;
    for (size_t i = 0; i < s->numbers; i++) {
        part_of[i] = sample_part(s, parting, i, seen[s->class_of[i]]++);
        most = part_of[i] > most ? part_of[i] : most;
    }
    return most + 1;
}

static inline bool sample_part_follows(const noise_sample *s, const double *shares,
                                       const size_t *part_of, size_t part, double alpha)
{
    static sample_tally t;
    t = (sample_tally){ .count = 0 };
    for (size_t i = 0; i < s->numbers; i++)
        for (size_t at = i; part_of[i] == part && at < sample_size(s); at += s->numbers)
            sample_tell(&t, s->laplace, s->values[at], shares[at]);
    return t.count == 0 || sample_follows(&t, s->laplace, alpha);
}

static inline bool sample_laws(const noise_sample *s, double alpha)
{
    size_t *const part_of = calloc(s->numbers, sizeof *part_of);
    double *const shares = sample_shares(s);
    bool right = true;
    for (int parting = 0; parting < SAMPLE_PARTINGS && right; parting++) {
        const size_t parts = sample_parts(s, (sample_parting)parting, part_of);
        for (size_t p = 0; p < parts && right; p++)
            if (!sample_part_follows(s, shares, part_of, p,
                                     alpha / SAMPLE_PARTINGS / (double)parts))
                right = sample_says("laws", "parting and part", 100000 * (size_t)parting + p);
    }
    free(shares);
    free(part_of);
    return right;
}

static inline bool sample_places(const noise_sample *s, double alpha)
{
    static sample_tally t;
    double *const shares = sample_shares(s);
    bool right = true;
    for (size_t i = 0; i < s->numbers && right; i++) {
        double power = 0;
        for (size_t a = 0; a < s->asks; a++) {
            const double value = s->values[a * s->numbers + i];
            power += s->laplace ? fabs(value) : value * value / 2;
        }
        const double shape = s->laplace ? (double)s->asks : (double)s->asks / 2;
        if (!stat_is_gamma(power, shape, alpha / 2 / (double)s->numbers))
            right = sample_says("places", "number", i);
    }
    for (size_t a = 0; a < s->asks && right; a++) {
        t = (sample_tally){ .count = 0 };
        for (size_t i = a * s->numbers; i < (a + 1) * s->numbers; i++)
            sample_tell(&t, s->laplace, s->values[i], shares[i]);
        if (!sample_follows(&t, s->laplace, alpha / 2 / (double)s->asks))
            right = sample_says("places", "ask", a);
    }
    free(shares);
    return right;
}

/* Not among the families: for a sample of few numbers in a thousand asks, the law and the scale of
 * each number by itself.  In so many, one number with noise smaller by the root of two is seen. */
static inline bool sample_each(const noise_sample *s, double alpha)
{
    static sample_tally t;
    for (size_t i = 0; i < s->numbers; i++) {
        t = (sample_tally){ .count = 0 };
        for (size_t at = i; at < sample_size(s); at += s->numbers)
            sample_tell(&t, s->laplace, s->values[at], sample_law(s->laplace, s->values[at]));
        if (!sample_follows(&t, s->laplace, alpha / (double)s->numbers))
            return sample_says("each", "number", i);
    }
    return true;
}

/* ---- bare and copied ------------------------------------------------------------------------ */

/* The least t with mean^t / t! <= alpha: t independent rare events of this mean number are
 * rarer. */
static inline size_t sample_most(double mean, double alpha)
{
    size_t t = 1;
    while ((double)t * log(mean) - lgamma((double)t + 1) > log(alpha)) t++;
    return t;
}

static inline bool sample_bare(const noise_sample *s, double alpha)
{
    const double density = s->laplace ? 0.5 : 0.39894228040143268;
    size_t zeros = 0;
    if (s->grain == 0) return true;
    for (size_t i = 0; i < sample_size(s); i++) zeros += s->values[i] == 0;
    const double mean = (double)sample_size(s) * density * s->grain;
    return zeros < sample_most(mean, alpha) || sample_says("bare", "numbers without noise:", zeros);
}

static inline int sample_order(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Neighbours in order that are nearer than two grains.  That t of them are means that the edges
 * of a forest with t edges all join such neighbours: at most (pairs * chance)^t / t! are
 * expected. */
static inline bool sample_copies(const noise_sample *s, double alpha)
{
    const double density = s->laplace ? 1 : 0.79788456080286536; /* of a magnitude, at most */
    const double n = (double)sample_size(s), near = 2 * s->grain;
    size_t found = 0;
    if (s->grain == 0) return true;
    double *const values = calloc(sample_size(s), sizeof *values);
    for (size_t i = 0; i < sample_size(s); i++) values[i] = fabs(s->values[i]);
    qsort(values, sample_size(s), sizeof *values, sample_order);
    for (size_t i = 1; i < sample_size(s); i++) found += values[i] - values[i - 1] <= near;
    free(values);
    const double mean = n * (n - 1) / 2 * 2 * near * density;
    return found < sample_most(mean, alpha) || sample_says("copies", "equal magnitudes:", found);
}

/* ---- related -------------------------------------------------------------------------------- */

/* Two fair bits of a value: its sign, and whether its magnitude is above the median. */
enum { SAMPLE_BITS = 2 };

static inline bool sample_bit(const noise_sample *s, int which, size_t ask, size_t number)
{
    const double value = s->values[ask * s->numbers + number];
    const double median = s->laplace ? 0.69314718055994531 : 0.67448975019608174;
    return which ? fabs(value) > median : value > 0;
}

/* All of them, 64 in a word, each ask from a word of its own on, with a word of zeros behind it. */
static inline uint64_t *sample_bits(const noise_sample *s, int which, size_t *words)
{
    *words = s->numbers / 64 + 2;
    uint64_t *const bits = calloc(s->asks * *words, sizeof *bits);
    for (size_t a = 0; a < s->asks; a++)
        for (size_t i = 0; i < s->numbers; i++)
            bits[a * *words + i / 64] |= (uint64_t)sample_bit(s, which, a, i) << i % 64;
    return bits;
}

/* In how many of the first `count` places two rows of bits differ, the second from place `lag`
 * on. */
static inline uint64_t sample_differ(const uint64_t *first, const uint64_t *second, size_t lag,
                                     size_t count)
{
    const size_t skip = lag / 64, shift = lag % 64;
    uint64_t differ = 0;
    for (size_t i = 0; i < count; i += 64) {
        const uint64_t *const at = second + i / 64 + skip;
        const uint64_t moved = shift ? at[0] >> shift | at[1] << (64 - shift) : at[0];
        const uint64_t mask = count - i < 64 ? ((uint64_t)1 << (count - i)) - 1 : ~(uint64_t)0;
        differ += (uint64_t)__builtin_popcountll((first[i / 64] ^ moved) & mask);
    }
    return differ;
}

/* For one lag the products of signs are independent: numbers a lag apart form paths. */
static inline bool sample_lags(const noise_sample *s, double alpha)
{
    const double share = alpha / SAMPLE_BITS / (double)s->numbers;
    bool right = true;
    for (int which = 0; which < SAMPLE_BITS; which++) {
        size_t words;
        uint64_t *const bits = sample_bits(s, which, &words);
        for (size_t lag = 1; lag < s->numbers && right; lag++) {
            uint64_t differ = 0;
            for (size_t a = 0; a < s->asks; a++)
                differ += sample_differ(bits + a * words, bits + a * words, lag, s->numbers - lag);
            if (!stat_is_fair(differ, s->asks * (s->numbers - lag), share))
                right = sample_says("lags", which ? "magnitudes at" : "signs at", lag);
        }
        free(bits);
    }
    return right;
}

static inline bool sample_asks(const noise_sample *s, double alpha)
{
    const double share = alpha / SAMPLE_BITS / (double)(s->asks * s->asks);
    bool right = true;
    for (int which = 0; which < SAMPLE_BITS; which++) {
        size_t words;
        uint64_t *const bits = sample_bits(s, which, &words);
        for (size_t a = 0; a < s->asks && right; a++)
            for (size_t b = a + 1; b < s->asks && right; b++) {
                const uint64_t differ =
                    sample_differ(bits + a * words, bits + b * words, 0, s->numbers);
                if (!stat_is_fair(differ, s->numbers, share))
                    right = sample_says("asks", which ? "magnitudes, ask" : "signs, ask", a);
            }
        free(bits);
    }
    return right;
}

/* The i-th of each part with the i-th of each other, over and over where one is shorter. */
static inline bool sample_pair(const noise_sample *s, const size_t *first, size_t firsts,
                               const size_t *second, size_t seconds, double alpha)
{
    const size_t count = firsts > seconds ? firsts : seconds;
    for (int which = 0; which < SAMPLE_BITS; which++) {
        uint64_t differ = 0;
        for (size_t a = 0; a < s->asks; a++)
            for (size_t i = 0; i < count; i++)
                differ += sample_bit(s, which, a, first[i % firsts]) !=
                          sample_bit(s, which, a, second[i % seconds]);
        /* Where the shorter goes round, its partners' bits are still independent of one another. */
        if (!stat_is_fair(differ, s->asks * count, alpha / SAMPLE_BITS)) return false;
    }
    return true;
}

static inline bool sample_related(const noise_sample *s, double alpha)
{
    static const sample_parting partings[] = { BY_CLUSTER, BY_CLASS, BY_CLUSTER_AND_CLASS };
    enum { PARTINGS = sizeof partings / sizeof *partings, MOST = 64 };
    size_t *const part_of = calloc(s->numbers, sizeof *part_of);
    size_t *const members = calloc(MOST * s->numbers, sizeof *members);
    bool right = true;
    for (size_t p = 0; p < PARTINGS && right; p++) {
        const size_t parts = sample_parts(s, partings[p], part_of);
        size_t counts[MOST] = { 0 };
        if (parts > MOST) continue; /* many small ones: lags and asks see them */
        for (size_t i = 0; i < s->numbers; i++)
            members[part_of[i] * s->numbers + counts[part_of[i]]++] = i;
        const double share = alpha / PARTINGS / (double)(parts * parts);
        for (size_t a = 0; a < parts && right; a++)
            for (size_t b = a + 1; b < parts && right; b++)
                if (counts[a] && counts[b] &&
                    !sample_pair(s, members + a * s->numbers, counts[a], members + b * s->numbers,
                                 counts[b], share))
                    right = sample_says("parts", "parting, part, part",
                                        10000 * (size_t)partings[p] + 100 * a + b);
    }
    free(members);
    free(part_of);
    return right;
}

/* ---- totals --------------------------------------------------------------------------------- */

/* powers: parts.  The sum over a part, over the root of its size, is normal again in each ask. */
static inline void sample_powers(const noise_sample *s, const size_t *part_of, size_t parts,
                                 double *powers)
{
    double *const sums = calloc(2 * parts, sizeof *sums), *const counts = sums + parts;
    for (size_t i = 0; i < s->numbers; i++) counts[part_of[i]]++;
    for (size_t a = 0; a < s->asks; a++) {
        memset(sums, 0, parts * sizeof *sums);
        for (size_t i = 0; i < s->numbers; i++) sums[part_of[i]] += s->values[a * s->numbers + i];
        for (size_t p = 0; p < parts; p++)
            powers[p] += counts[p] > 0 ? sums[p] * sums[p] / (2 * counts[p]) : NAN;
    }
    free(sums);
}

static inline bool sample_totals(const noise_sample *s, double alpha)
{
    size_t *const part_of = calloc(s->numbers, sizeof *part_of);
    bool right = true;
    for (int parting = 0; parting < SAMPLE_PARTINGS && !s->laplace; parting++) {
        const size_t parts = sample_parts(s, (sample_parting)parting, part_of);
        const double share = alpha / SAMPLE_PARTINGS / (double)parts;
        double *const powers = calloc(parts, sizeof *powers);
        sample_powers(s, part_of, parts, powers);
        for (size_t p = 0; p < parts && right; p++)
            if (!isnan(powers[p]) && !stat_is_gamma(powers[p], (double)s->asks / 2, share))
                right = sample_says("totals", "parting and part", 100000 * (size_t)parting + p);
        free(powers);
    }
    free(part_of);
    return right;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static inline bool sample_is_right(const noise_sample *s, double alpha)
{
    static bool (*const families[SAMPLE_FAMILIES])(const noise_sample *, double) = {
        sample_laws, sample_places, sample_bare,    sample_copies,
        sample_lags, sample_asks,   sample_related, sample_totals
    };
    for (size_t f = 0; f < SAMPLE_FAMILIES; f++)
        if (!families[f](s, alpha / SAMPLE_FAMILIES)) return false;
    return true;
}

#endif
