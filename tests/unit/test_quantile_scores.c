/*
 * The scores of private bounds: against a search for the nearest data set, over all neighbours, and
 * the law that follows from them (quantile.T1, T2, T3).
 */
#include "pipeline.h"
#include "query/quantile.h"

/* Four thresholds, so that there are pairs two apart beside the widest. */
enum { MOST_K = 4, FEW = 3, MOST_BUCKETS = 2 * MOST_K + 1, MOST_ROWS = 5, MOST_CASES = 2048 };

static clo_line plan_line(size_t thresholds, size_t ends, double share, double epsilon,
                          clo_relation relation)
{
    const clo_domain domain = ball(1, 1, relation);
    const clo_quantile how = { thresholds, ends, share };
    clo_error err;
    clo_line line;
    assert_ok(clo_i_plan_quantile(&domain, &how, epsilon, 1, "", &line, &err), err);
    return line;
}

/* ---- all small data sets ------------------------------------------------------------------- */

typedef struct cases {
    int64_t counts[MOST_CASES][MOST_BUCKETS];
    size_t count, buckets;
} cases;

static void list(cases *all, size_t bucket, int64_t left, const int64_t *sofar)
{
    int64_t next[MOST_BUCKETS];
    memcpy(next, sofar, sizeof next);
    if (bucket + 1 == all->buckets) {
        next[bucket] = left;
        assert_true(all->count < MOST_CASES);
        memcpy(all->counts[all->count++], next, sizeof next);
        return;
    }
    for (int64_t here = 0; here <= left; here++) {
        next[bucket] = here;
        list(all, bucket + 1, left - here, next);
    }
}

/* How many records must be replaced: half of the L1 distance of equal numbers of rows. */
static int64_t replaced(const int64_t *a, const int64_t *b, size_t buckets)
{
    int64_t apart = 0;
    for (size_t e = 0; e < buckets; e++) apart += llabs(a[e] - b[e]);
    return apart / 2;
}

static int64_t rows_of(const int64_t *counts, size_t buckets)
{
    int64_t rows = 0;
    for (size_t e = 0; e < buckets; e++) rows += counts[e];
    return rows;
}

/* Records outside of a threshold as the lower end, and as the upper one, straight from what the
 * buckets mean. */
static int64_t outside(const clo_line *line, const int64_t *counts, size_t threshold, bool upper)
{
    const size_t ends = (size_t)clo_i_quantile_fields(line).ends;
    const size_t last = ends * threshold + (ends == 2 && upper);
    int64_t out = 0;
    for (size_t e = 0; e < clo_i_quantile_buckets(line); e++)
        out += upper ? (e > last ? counts[e] : 0) : (e <= last ? counts[e] : 0);
    return out;
}

/* The tightest bound that leaves out no more than it should: the answer without noise. */
static bool right_answer(const clo_line *line, const int64_t *counts, size_t *chosen)
{
    const clo_quantile_fields p = clo_i_quantile_fields(line);
    const int64_t most = (int64_t)p.floor;
    size_t upper = 0, lower = line->groups - 1;
    while ((int64_t)p.record * outside(line, counts, upper, true) > most) upper++;
    chosen[0] = upper;
    if (p.ends == 1) return true;
    while ((int64_t)p.record * outside(line, counts, lower, false) > most) lower--;
    chosen[0] = lower;
    chosen[1] = upper;
    return lower <= upper;
}

/* 3/2 records may be left out at an end; nothing is ahead. */
static clo_line without_lead(size_t ends)
{
    clo_line line = plan_line(MOST_K, ends, 0.9, 1, CLO_REPLACE);
    clo_quantile_fields part = clo_i_quantile_fields(&line);
    part.record = 2;
    part.floor = 3;
    part.left_out = 0;
    part.lead = 0;
    part.most_out = 1000;
    clo_i_quantile_set_fields(&line, part);
    return line;
}

static bool is_candidate(const clo_line *line, size_t candidate, const size_t *answer)
{
    size_t chosen[2] = { 0, 0 };
    clo_i_quantile_unpack(line, candidate, chosen);
    return chosen[0] == answer[0] &&
           (clo_i_quantile_fields(line).ends == 1 || chosen[1] == answer[1]);
}

/* The distance from a data set to the nearest one whose answer is this candidate. */
static int64_t distance(const clo_line *line, const cases *all, const int64_t *from,
                        size_t candidate)
{
    int64_t nearest = INT64_MAX;
    for (size_t c = 0; c < all->count; c++) {
        size_t answer[2] = { 0, 0 };
        const int64_t far = replaced(from, all->counts[c], all->buckets);
        if (right_answer(line, all->counts[c], answer) && is_candidate(line, candidate, answer) &&
            far < nearest)
            nearest = far;
    }
    return nearest;
}

static void a_score_is_how_far_a_bound_is_from_right(void **state)
{
    (void)state;
    for (size_t ends = 1; ends <= 2; ends++) {
        const clo_line line = without_lead(ends);
        const size_t candidates = clo_i_quantile_candidates(&line);
        static cases all;
        const int64_t none[MOST_BUCKETS] = { 0 };
        int64_t scores[32];
        all.count = 0;
        all.buckets = clo_i_quantile_buckets(&line) - 1; /* none beyond the last */
        list(&all, ends - 1, MOST_ROWS, none);           /* nor, with two ends, before the first */
        for (size_t c = 0; c < all.count; c++) {
            clo_i_quantile_scores(&line, all.counts[c], scores);
            for (size_t i = 0; i + 1 < candidates; i++) {
                if (i == line.groups - 1) continue; /* the widest has its own */
                const int64_t far = distance(&line, &all, all.counts[c], i);
                const int64_t wanted = (-scores[i] + 1) / 2;
                if (far == INT64_MAX) continue;
                assert_true((far == 0) == (scores[i] == 0));
                assert_true(far >= wanted && far - wanted <= (int64_t)ends - 1);
            }
        }
    }
}

/* ---- sensitivity ----------------------------------------------------------------------------- */

static void hold_to_sensitivity(const clo_line *line, const int64_t *counts, const int64_t *other,
                                int64_t *farthest)
{
    int64_t scores[2][32];
    clo_i_quantile_scores(line, counts, scores[0]);
    clo_i_quantile_scores(line, other, scores[1]);
    for (size_t i = 0; i < clo_i_quantile_candidates(line); i++) {
        const int64_t moved = llabs(scores[0][i] - scores[1][i]);
        assert_true(moved <= (int64_t)line->sensitivity);
        if (moved > *farthest) *farthest = moved;
    }
}

static void try_neighbours(const clo_line *line, clo_relation relation, int64_t *farthest)
{
    static cases all;
    const int64_t none[MOST_BUCKETS] = { 0 };
    for (int64_t rows = 1; rows <= MOST_ROWS; rows++) {
        all.count = 0;
        all.buckets = clo_i_quantile_buckets(line);
        list(&all, 0, rows, none);
        for (size_t c = 0; c < all.count; c++)
            for (size_t from = 0; from < all.buckets; from++)
                for (size_t to = 0; to < all.buckets; to++) {
                    int64_t other[MOST_BUCKETS];
                    memcpy(other, all.counts[c], sizeof other);
                    if (other[from] == 0 || (relation == CLO_ADD_REMOVE && to > 0)) continue;
                    other[from]--;
                    other[to] += relation == CLO_REPLACE;
                    hold_to_sensitivity(line, all.counts[c], other, farthest);
                }
    }
}

/* quantile.T1, at floors and leads that a few records cross. */
static void no_neighbour_moves_a_score_further_than_planned(void **state)
{
    const double shares[] = { 0.5, 0.6, 0.75, 0.95, 0.99999 };
    (void)state;
    for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++)
        for (size_t i = 0; i < 2 * sizeof shares / sizeof *shares; i++) {
            const size_t ends = i % 2 + 1;
            clo_line line =
                plan_line(ends == 2 ? 2 : FEW, ends, shares[i / 2], 1, (clo_relation)relation);
            clo_quantile_fields part = clo_i_quantile_fields(&line);
            int64_t farthest = 0;
            for (uint64_t tenths = 0; tenths < 40; tenths += 13) {
                part.floor = part.record * tenths / 10;
                part.lead = part.record * (40 - tenths) / 20;
                clo_i_quantile_set_fields(&line, part);
                try_neighbours(&line, (clo_relation)relation, &farthest);
            }
            assert_int_equal(farthest, line.sensitivity); /* attained */
        }
}

/* ---- the law --------------------------------------------------------------------------------- */

enum { K = 41, PAIRS = K * (K + 1) / 2 };

typedef struct law {
    long double too_much; /* leaves out more than it must not */
    long double beyond;   /* ... than is said beforehand, at a doubt of 0.01 */
    long double widest;
} law;

static law law_of(const clo_line *line, const int64_t *counts)
{
    static int64_t scores[PAIRS + 2 * K];
    const clo_quantile_fields p = clo_i_quantile_fields(line);
    const double rows = (double)rows_of(counts, clo_i_quantile_buckets(line));
    const double said = (double)p.ends * (double)p.left_out / (double)p.record * rows +
                        clo_i_quantile_beyond(line, rows, 0.01);
    const long double rate = (long double)line->rate_numerator / line->rate_denominator;
    long double all = 0;
    law out = { 0, 0, 0 };
    int64_t best = INT64_MIN;
    clo_i_quantile_scores(line, counts, scores);
    for (size_t i = 0; i < clo_i_quantile_candidates(line); i++)
        if (scores[i] > best) best = scores[i];
    for (size_t i = 0; i < clo_i_quantile_candidates(line); i++) {
        size_t chosen[2] = { 0, 0 };
        const long double weight = expl((long double)(scores[i] - best) * rate);
        clo_i_quantile_unpack(line, i, chosen);
        int64_t left = outside(line, counts, chosen[p.ends - 1], true);
        if (p.ends == 2) left += outside(line, counts, chosen[0], false);
        all += weight;
        if ((double)left > rows / 2) out.too_much += weight;
        if ((double)left > said) out.beyond += weight;
        if (i == line->groups - 1) out.widest += weight;
    }
    out.too_much /= all;
    out.beyond /= all;
    out.widest /= all;
    return out;
}

/* All in one bucket, a heap over three, evenly, or mostly at the ends; none in the last bucket,
 * beyond all thresholds, nor in the first where that is before them. */
static void spread(size_t ends, size_t buckets, int64_t rows, int kind, int64_t *counts)
{
    int64_t left = rows;
    memset(counts, 0, buckets * sizeof *counts);
    for (size_t e = ends - 1; e + 1 < buckets && kind; e++) {
        const size_t middle = buckets / 3;
        int64_t here = 0;
        if (kind == 1) here = e + 1 >= middle && e <= middle + 1 ? rows / 3 : 0;
        if (kind == 2) here = rows / (int64_t)buckets;
        if (kind == 3) here = e + 1 == ends || e + 2 == buckets ? rows * 2 / 5 : 0;
        counts[e] = here;
        left -= here;
    }
    counts[buckets / 3] += left;
}

/* How far the right answer is ahead of the widest one, in nats, with so many rows. */
static double ahead_by(const clo_line *line, double rows)
{
    const clo_quantile_fields p = clo_i_quantile_fields(line);
    const double out = fmax((double)p.left_out * rows, (double)p.floor);
    return ((double)p.most_out * rows - (double)p.ends * out - (double)p.lead) *
           (double)line->rate_numerator / (double)line->rate_denominator;
}

/* quantile.T2 and T3: whatever the rows, the epsilon and the data. */
static void no_bound_collapses(void **state)
{
    const double epsilons[] = { 0.001, 0.01, 0.1, 1, 10 };
    int64_t counts[2 * K + 1];
    (void)state;
    for (size_t ends = 1; ends <= 2; ends++)
        for (size_t e = 0; e < sizeof epsilons / sizeof *epsilons; e++)
            for (int kind = 0; kind < 4; kind++)
                for (double rows = 1; rows < 1e7; rows *= 2.5) {
                    const clo_line line = plan_line(K, ends, 0.95, epsilons[e], CLO_REPLACE);
                    spread(ends, clo_i_quantile_buckets(&line), (int64_t)rows, kind, counts);
                    const law l = law_of(&line, counts);
                    assert_true(l.too_much <= 1.000001e-6L);
                    assert_true(l.beyond <= 0.01L);
                    const double ahead = ahead_by(&line, floor(rows));
                    if (ahead < -1) assert_true(l.widest > 0.7L);
                    if (ahead > 5 && kind < 2) assert_true(l.widest < 0.02L);
                }
}

static void the_rows_that_are_needed_are_enough_and_no_fewer_are(void **state)
{
    const double shares[] = { 0.5, 0.75, 0.95, 0.99999 };
    (void)state;
    for (size_t ends = 1; ends <= 2; ends++)
        for (size_t s = 0; s < 4; s++) {
            const clo_line line = plan_line(K, ends, shares[s], 0.3, CLO_ADD_REMOVE);
            const double rows = clo_i_quantile_rows(&line, 3);
            assert_true(ahead_by(&line, rows) >= 3);
            assert_true(ahead_by(&line, rows - 1) < 3);
        }
}

static void a_share_or_a_budget_that_means_nothing_is_refused(void **state)
{
    const clo_domain domain = ball(1, 1, CLO_REPLACE);
    const clo_quantile bad[] = { { 0, 1, 0.9 }, { 3, 3, 0.9 }, { 3, 1, 0.4 }, { 3, 1, 1 } };
    clo_error err;
    clo_line line;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(clo_i_plan_quantile(&domain, &bad[i], 1, 1, "", &line, &err),
                         CLO_ARGUMENT);
    assert_int_equal(
        clo_i_plan_quantile(&domain, &(clo_quantile){ 3, 1, 0.9 }, 0x1p-30, 1, "", &line, &err),
        CLO_OK);
    clo_domain people = domain;
    people.unit = "person";
    people.rows_per_unit = 10000;
    assert_fails(
        clo_i_plan_quantile(&people, &(clo_quantile){ 3, 1, 0.9 }, 0x1p-30, 1, "", &line, &err),
        CLO_BUDGET, err, "raise it");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_score_is_how_far_a_bound_is_from_right),
        cmocka_unit_test(no_neighbour_moves_a_score_further_than_planned),
        cmocka_unit_test(no_bound_collapses),
        cmocka_unit_test(the_rows_that_are_needed_are_enough_and_no_fewer_are),
        cmocka_unit_test(a_share_or_a_budget_that_means_nothing_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
