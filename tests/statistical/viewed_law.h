/*
 * viewed_law.h - what the tests of sums share that are taken at the widths of clusters, with
 * squares and sizes beside: the noise has the planned law on every number of the answer, empty
 * clusters included, and the worst neighbours are told apart no better than planned.  A test says
 * of its query what viewed_query has, and runs viewed_tests.
 *
 * Power.  Noise 5 % small moves the normal law by .0124, and the radius at 2^17 samples and 5e-9 is
 * .0086.  At mu = 2 and 20,000 trials a world evidence reaches 1.86 or so, and a sensitivity that
 * was taken half as large shows 3.5 or more.
 */
#ifndef CLO_TEST_VIEWED_LAW_H
#define CLO_TEST_VIEWED_LAW_H

#include "asking.h"

enum { D = 2, K = 2, PER_ASK = K * (D + 2), ASKS = 1 << 14, TRIALS = 20000 };

typedef struct viewed_answer {
    double sums[K * D], squares[K], sizes[K];
} viewed_answer;

typedef struct viewed_query {
    clo_line (*planned)(clo_relation relation, double mu);
    void (*ask)(asking *a, const clo_bounded *data, viewed_answer *out);
    double (*square_unit)(const clo_line *line);
    double far[D], near[D]; /* cut to the width of the first cluster, on two sides of it */
    size_t entry;           /* of the sums, to which far adds 1 and near -1 */
    double reached[2];      /* what they add to its squares */
    double cut[D];          /* adds 1 to that entry, to the squares and to the size */
    stat_test law, privacy, replace;
} viewed_query;

static const viewed_query tested; /* the test's own */

static inline void fill_residuals(clo_line line, clo_rng *rng, int64_t *residuals)
{
    const clo_domain domain = ball(D, 1, CLO_REPLACE);
    const double square_unit = tested.square_unit(&line);
    clo_bounded *const data = bounded_from(tested.cut, 1, &domain);
    viewed_answer out;
    asking a;
    start_asking(&a, line, rng);
    a.context.block_rows = 1;
    for (size_t i = 0, at = 0; i < ASKS; i++) {
        tested.ask(&a, data, &out);
        for (size_t e = 0; e < K * D; e++)
            residuals[at++] = llround(ldexp(out.sums[e] - (e == tested.entry), line.bits));
        for (size_t c = 0; c < K; c++) {
            residuals[at++] = llround((out.squares[c] - (c == 0)) * square_unit);
            residuals[at++] = llround((out.sizes[c] - (c == 0)) * (double)line.count_unit);
        }
    }
    stop_asking(&a);
    clo_bounded_free(data);
}

static inline void the_noise_has_the_planned_law(void **state)
{
    static int64_t residuals[ASKS * PER_ASK];
    (void)state;
    noise_follows(tested.planned(CLO_REPLACE, 0.5), fill_residuals, residuals, ASKS * PER_ASK,
                  stat_rounded_gaussian, stat_alpha(tested.law, 1));
}

/* What the record `far` adds, or moves, in units of the sums: the direction to look into. */
typedef struct filter {
    double sum, square, size;
} filter;

static inline filter filter_of(const clo_line *line, double sum, double square, double size)
{
    const double q = ldexp(tested.square_unit(line), -line->bits);
    return (filter){ sum, square * q * q,
                     size * ldexp((double)line->count_unit, -line->bits) *
                         ldexp((double)line->count_unit, -line->bits) };
}

/* A matched filter, but for a factor that does not matter: the threshold has it too. */
static inline double seen_by(filter f, double sum, double square, double size)
{
    return f.sum * sum + f.square * square + f.size * size;
}

static inline double seen_in(filter f, asking *a, const clo_bounded *data)
{
    viewed_answer out;
    tested.ask(a, data, &out);
    return seen_by(f, out.sums[tested.entry], out.squares[0], out.sizes[0]);
}

/* A record far from its centre, or none. */
static inline double presence(asking *a, const clo_bounded *data)
{
    return seen_in(filter_of(&a->line, 1, tested.reached[0], 1), a, data);
}

static inline void the_worst_neighbours_are_told_apart_as_planned_and_no_better(void **state)
{
    const clo_line line = tested.planned(CLO_ADD_REMOVE, 2);
    const filter f = filter_of(&line, 1, tested.reached[0], 1);
    const neighbours pair = { .cols = D,
                              .left = tested.far,
                              .threshold = seen_by(f, 1, tested.reached[0], 1) / 2,
                              .trials = TRIALS,
                              .least = 0.9 };
    (void)state;
    are_told_apart_as_planned(&pair, line, presence, tested.privacy);
}

static inline filter filter_of_sides(const clo_line *line)
{
    return filter_of(line, 2, tested.reached[0] - tested.reached[1], 0);
}

/* Of two records on two sides: 2 in the sum, and what their squares differ by. */
static inline double side(asking *a, const clo_bounded *data)
{
    return seen_in(filter_of_sides(&a->line), a, data);
}

static inline void a_replaced_record_is_told_apart_as_planned_and_no_better(void **state)
{
    const clo_line line = tested.planned(CLO_REPLACE, 2);
    const filter f = filter_of_sides(&line);
    const double midway = (tested.reached[0] + tested.reached[1]) / 2;
    const neighbours pair = { .cols = D,
                              .left = tested.far,
                              .right = tested.near,
                              .threshold = seen_by(f, 0, midway, 1),
                              .trials = TRIALS,
                              .least = 0.88 };
    (void)state;
    are_told_apart_as_planned(&pair, line, side, tested.replace);
}

static const struct CMUnitTest viewed_tests[] = {
    cmocka_unit_test(the_noise_has_the_planned_law),
    cmocka_unit_test(the_worst_neighbours_are_told_apart_as_planned_and_no_better),
    cmocka_unit_test(a_replaced_record_is_told_apart_as_planned_and_no_better),
};

#endif
