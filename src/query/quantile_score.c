/*
 * quantile_score.c - how good each bound is (quantile.T1), and what that says beforehand.
 *
 * The score of a bound is minus the number of records that would have to change for it to be the
 * tightest one that leaves out no more than it should: inverse sensitivity.  The widest bound alone
 * has a second score beside that, by how few the records are.  Where the rows cannot tell the right
 * bound from one that holds less than half of them, it is ahead of all: the failure is a bound that
 * is too wide, and never one that clips everything (quantile.T2).
 *
 * All numbers are integers, in units of 1/record of a record.
 */
#include "base/planted.h"
#include "query/quantile.h"
#include <math.h>

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

size_t clo_i_quantile_candidates(const clo_line *line)
{
    const size_t k = line->groups;
    return clo_i_quantile_fields(line).ends == 2 ? k * (k + 1) / 2 : k;
}

size_t clo_i_quantile_buckets(const clo_line *line)
{
    return line->groups * (size_t)clo_i_quantile_fields(line).ends + 1;
}

/* Pairs (lower, upper) are in the order (0,0) (0,1) … (0,k-1) (1,1) …: the widest is k - 1. */
void clo_i_quantile_unpack(const clo_line *line, size_t candidate, size_t *chosen)
{
    size_t lower = 0, left = candidate;
    if (clo_i_quantile_fields(line).ends == 1) {
        chosen[0] = candidate;
        return;
    }
    while (left >= line->groups - lower) left -= line->groups - lower++;
    chosen[0] = lower;
    chosen[1] = lower + left;
}

/* What an ask is judged by. */
typedef struct target {
    clo_quantile_fields fields;
    int64_t rows;
    int64_t out; /* what an end should leave out, in units */
} target;

static target target_of(const clo_line *line, const int64_t *counts)
{
    target t = { .fields = clo_i_quantile_fields(line) };
    for (size_t e = 0; e < clo_i_quantile_buckets(line); e++) t.rows += counts[e];
    t.out = larger((int64_t)t.fields.left_out * t.rows, (int64_t)t.fields.floor);
    return t;
}

/* How far the widest bound is ahead of what leaves out too much: below 0 with many rows. */
static int64_t widest_score(const target *t)
{
    return (int64_t)t->fields.ends * t->out + (int64_t)t->fields.lead -
           (int64_t)t->fields.most_out * t->rows;
}

static void score_one_end(const clo_line *line, const target *t, const int64_t *counts,
                          int64_t *scores)
{
    int64_t outside = t->rows, tighter = 0;
    for (size_t i = 0; i < line->groups; i++) {
        outside -= counts[i];
        const int64_t out = (int64_t)t->fields.record * outside;
        const int64_t too_wide = i ? t->out - tighter : 0;
        scores[i] = -larger(0, larger(out - t->out, too_wide));
        tighter = out;
    }
}

/* counts of a pair's thresholds: 2i and 2i + 1 are what lies below the i-th, and at it (and above
 * the one before).  below and above: records, in units, outside of each threshold as an end. */
static int64_t score_pair(const target *t, const int64_t *below, const int64_t *above, size_t l,
                          size_t u)
{
    const int64_t tight =
        larger(larger(below[l] - t->out, above[u] - t->out), below[l] + above[u] - 2 * t->out);
    int64_t wide = 0;
    if (u > l) wide = larger(t->out - below[l + 1], t->out - above[u - 1]);
    if (u > l + 1) wide = larger(wide, 2 * t->out - below[l + 1] - above[u - 1]);
    return -larger(0, larger(tight, wide));
}

static void score_pairs(const clo_line *line, const target *t, const int64_t *counts,
                        int64_t *scores)
{
    /* The scores' own room holds what they are made of until the last rows of pairs. */
    const size_t k = line->groups;
    int64_t *const below = scores + clo_i_quantile_candidates(line), *const above = below + k;
    int64_t seen = 0;
    for (size_t i = 0; i < k; i++) {
        seen += counts[2 * i];
        below[i] = (int64_t)t->fields.record * seen;
        seen += counts[2 * i + 1];
        above[i] = (int64_t)t->fields.record * (t->rows - seen);
    }
    for (size_t l = 0; l < k; l++)
        for (size_t u = l; u < k; u++) *scores++ = score_pair(t, below, above, l, u);
}

void clo_i_quantile_scores(const clo_line *line, const int64_t *counts, int64_t *scores)
{
    const target t = target_of(line, counts);
    const size_t widest = line->groups - 1;
    const int64_t fallback = widest_score(&t);
    if (t.fields.ends == 1)
        score_one_end(line, &t, counts, scores);
    else
        score_pairs(line, &t, counts, scores);
    scores[widest] = larger(scores[widest], fallback);
    /* Planted: "too few rows, so the widest", without a draw. */
    if (clo_i_planted(CLO_FAULT_FALLBACK_CERTAIN) && fallback > 0)
        scores[widest] = (int64_t)1 << 60;
}

/* ---- beforehand --------------------------------------------------------------------------- */

static double rate_of(const clo_line *line)
{
    return (double)line->rate_numerator / (double)line->rate_denominator;
}

double clo_i_quantile_rows(const clo_line *line, double nats)
{
    const clo_quantile_fields p = clo_i_quantile_fields(line);
    const double ahead = (double)p.lead + nats / rate_of(line);
    const double all = (double)p.ends * (double)p.left_out;
    const double few = (ahead + (double)p.ends * (double)p.floor) / (double)p.most_out;
    return ceil(fmax(few, ahead / ((double)p.most_out - all)));
}

double clo_i_quantile_beyond(const clo_line *line, double rows, double doubt)
{
    const clo_quantile_fields p = clo_i_quantile_fields(line);
    const double chances = (double)clo_i_quantile_candidates(line) * (double)line->event.count;
    const double noise = log(chances / doubt) / rate_of(line);
    const double more = fmax(0, (double)p.floor - (double)p.left_out * rows);
    return ((double)p.ends * more + noise) / (double)p.record;
}
