/*
 * quantile: the choice has the law of its scores (quantile.T1, choose.T2), for a radius and for
 * both ends of a column, at so many rows that the widest answer and the right one are nearly as
 * likely.  Power: the laws of the right scores and of those without the lead of the widest differ
 * by more than .2; the radius at 2^16 draws is .013.
 */
#include "asking.h"
#include "query/quantile.h"
#include <math.h>

enum { THRESHOLDS = 5, PAIRS = THRESHOLDS * (THRESHOLDS + 1) / 2, DRAWS = 1 << 16 };

static int64_t drawn[DRAWS];

/* P[chosen <= x] for scores in records, at so many nats a record. */
typedef struct scored {
    double scores[PAIRS];
    size_t count;
    double rate;
} scored;

static long double law(int64_t x, const void *parameters)
{
    const scored *const s = parameters;
    long double below = 0, all = 0;
    for (size_t i = 0; i < s->count; i++) {
        const long double weight = expl((long double)(s->scores[i] * s->rate));
        all += weight;
        if ((int64_t)i <= x) below += weight;
    }
    return below / all;
}

/* Some records at each of a few places, in two columns of which the second is 0. */
typedef struct heap {
    double at;
    size_t rows;
} heap;

typedef struct world {
    clo_bounded *data;
    double values[512];
    size_t rows;
} world;

static void make_world(const heap *heaps, size_t count, world *out)
{
    const clo_domain domain = ball(2, 1, CLO_ADD_REMOVE);
    double records[1024] = { 0 };
    out->rows = 0;
    for (size_t h = 0; h < count; h++)
        for (size_t i = 0; i < heaps[h].rows; i++) {
            out->values[out->rows] = heaps[h].at;
            records[2 * out->rows++] = heaps[h].at;
        }
    out->data = bounded_from(records, out->rows, &domain);
}

static double outside(const world *w, double low, double high)
{
    double out = 0;
    for (size_t i = 0; i < w->rows; i++) out += w->values[i] < low || w->values[i] > high;
    return out;
}

/* The scores as proofs/quantile.md has them, in records, with the planned epsilon and numbers: an
 * interval is charged for what it leaves out too much, and for what the next tighter one would
 * leave out too little. */
static scored expected(const world *w, const double *at, size_t ends, double share, double epsilon)
{
    const double n = (double)w->rows, rate = epsilon / 2, out = (1 - share) * n / (double)ends;
    const double all = ends == 2 ? PAIRS : THRESHOLDS;
    const double t = fmax(out, (log(THRESHOLDS) + 5) / rate), lead = log(all / 1e-6) / rate;
    const double most = fmax(0.5, 0.25 + 1 - share);
    scored s = { .rate = rate };
    for (size_t l = 0; l < (ends == 2 ? THRESHOLDS : 1); l++)
        for (size_t u = l; u < THRESHOLDS; u++) {
            const double low = outside(w, ends == 2 ? at[l] : -INFINITY, INFINITY);
            const double high = outside(w, -INFINITY, at[u]);
            const double next_low = l + 1 < THRESHOLDS ? outside(w, at[l + 1], INFINITY) : 0;
            const double next_high = u ? outside(w, -INFINITY, at[u - 1]) : 0;
            double cost = fmax(0, high - t);
            if (ends == 2) cost = fmax(cost, fmax(low - t, low + high - 2 * t));
            if (ends == 1 && u) cost = fmax(cost, t - next_high);
            if (ends == 2 && u > l) cost = fmax(cost, fmax(t - next_low, t - next_high));
            if (ends == 2 && u > l + 1) cost = fmax(cost, 2 * t - next_low - next_high);
            s.scores[s.count++] = -cost;
        }
    s.scores[THRESHOLDS - 1] = fmax(s.scores[THRESHOLDS - 1], lead + (double)ends * t - most * n);
    return s;
}

static void draw_all(const clo_line *line, clo_rng *rng, const world *w, size_t column,
                     const int64_t *thresholds)
{
    clo_error err;
    asking a;
    start_asking(&a, *line, rng);
    for (size_t i = 0; i < DRAWS; i++) {
        size_t chosen[2] = { 0, 0 };
        assert_ok(clo_i_ask_quantile(&a.context, 0, w->data, column, thresholds, chosen, &err),
                  err);
        drawn[i] = (int64_t)chosen[0];
        if (clo_i_quantile_fields(line).ends == 2) { /* its place among the pairs */
            drawn[i] = 0;
            for (size_t l = 0; l < chosen[0]; l++) drawn[i] += (int64_t)(THRESHOLDS - l);
            drawn[i] += (int64_t)(chosen[1] - chosen[0]);
        }
    }
    stop_asking(&a);
}

typedef struct form {
    size_t ends;
    double share, epsilon, at[THRESHOLDS];
    heap heaps[6];
} form;

static const form forms[] = {
    { 1,
      0.66667,
      0.75,
      { .05, .25, .35, .55, 1 },
      { { .1, 102 }, { .3, 3 }, { .5, 54 }, { .6, 1 } } },
    { 2,
      0.6,
      0.75,
      { -1, -.5, 0, .5, 1 },
      { { -.75, 1 }, { -.5, 54 }, { .25, 49 }, { .5, 27 }, { .6, 33 }, { .75, 3 } } },
};

static void hold_to_law(const form *f, clo_rng *rng, size_t column, double alpha)
{
    const clo_domain domain = ball(2, 1, CLO_ADD_REMOVE);
    const clo_quantile how = { THRESHOLDS, f->ends, f->share };
    int64_t thresholds[THRESHOLDS];
    world w;
    clo_error err;
    clo_line line;
    for (size_t i = 0; i < THRESHOLDS; i++)
        thresholds[i] =
            (int64_t)(column == SIZE_MAX ? ldexp(f->at[i] * f->at[i], 60) : ldexp(f->at[i], 30));
    make_world(f->heaps, 6, &w);
    assert_ok(clo_i_plan_quantile(&domain, &how, f->epsilon, 1, "", &line, &err), err);
    const scored right = expected(&w, f->at, f->ends, f->share, f->epsilon);
    draw_all(&line, rng, &w, column, thresholds);
    assert_true(stat_follows(drawn, DRAWS, law, &right, alpha));
    clo_line fault = line; /* planted: sensitivity taken half as large */
    fault.rate_numerator *= 2;
    draw_all(&fault, rng, &w, column, thresholds);
    assert_false(stat_follows(drawn, DRAWS, law, &right, alpha));
    clo_quantile_fields part =
        clo_i_quantile_fields(&line); /* planted: nothing guards the widest */
    part.lead = 0;
    fault = line;
    clo_i_quantile_set_fields(&fault, part);
    draw_all(&fault, rng, &w, column, thresholds);
    assert_false(stat_follows(drawn, DRAWS, law, &right, alpha));
    clo_bounded_free(w.data);
}

static void the_choice_has_the_law_of_its_scores(void **state)
{
    const double alpha = stat_alpha(STAT_quantile_law, 3);
    clo_rng *const rng = stat_rng();
    (void)state;
    hold_to_law(&forms[0], rng, SIZE_MAX, alpha);
    hold_to_law(&forms[0], rng, 0, alpha);
    hold_to_law(&forms[1], rng, 0, alpha);
    clo_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_choice_has_the_law_of_its_scores) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
