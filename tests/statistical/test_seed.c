/*
 * seed: a cell is drawn in proportion to the squared distances of its records from the seeds and a
 * floor (seed.T1, seed.T2).  Control: a floor 20 % too low.
 */
#include "asking.h"
#include "ask/assign.h"
#include "query/seed.h"

enum { ASKS = 1 << 17, CELLS = 4, ROWS = 4, SEEDS = 2 };

static int64_t drawn[ASKS];

typedef struct weights {
    double of[CELLS], total;
} weights;

static long double law(int64_t x, const void *parameters)
{
    const weights *const w = parameters;
    long double below = 0;
    for (int64_t c = 0; c <= x && c < CELLS; c++) below += w->of[c];
    return below / w->total;
}

static void draw_cells(clo_line line, clo_rng *rng, bool with_seed, size_t count)
{
    const double middles[CELLS] = { -.75, -.25, .25, .75 }, seed = -.5;
    const double rows[ROWS] = { -.8125, -.75, .25, .5 }; /* .5 is as near to .25 as to .75 */
    const bool taken[CELLS] = { false, with_seed, false, false };
    const clo_domain domain = ball(1, 1, CLO_ADD_REMOVE);
    clo_bounded *const data = bounded_from(rows, count, &domain);
    clo_assign cells, seeds;
    clo_error err;
    asking a;
    start_asking(&a, line, rng);
    clo_workspace *const space = a.context.workspace;
    assert_ok(clo_i_assign_centers(space, middles, CELLS, 1, line.bits, &cells, &err), err);
    assert_ok(clo_i_assign_centers(space, &seed, 1, 1, line.bits, &seeds, &err), err);
    for (size_t i = 0; i < ASKS; i++) {
        size_t chosen;
        assert_ok(clo_i_ask_seed(&a.context, 0, data, &cells, with_seed ? &seeds : NULL, taken,
                                 &chosen, &err),
                  err);
        drawn[i] = (int64_t)chosen;
    }
    stop_asking(&a);
    clo_bounded_free(data);
}

static void cells_are_drawn_in_proportion_to_their_weights(void **state)
{
    const double alpha = stat_alpha(STAT_seed_law, 3);
    const clo_domain domain = ball(1, 1, CLO_ADD_REMOVE);
    clo_rng *const rng = stat_rng();
    clo_error err;
    clo_line line;
    (void)state;
    assert_ok(clo_i_plan_seed(&domain, CELLS, SEEDS, 1, 1, "", &line, &err), err);
    const double f = (double)clo_i_seed_fields(&line).floor / (double)line.count_unit;
    const weights first = { { 2 + f, f, 2 + f, f }, 4 + 4 * f };
    draw_cells(line, rng, false, ROWS);
    assert_true(stat_follows(drawn, ASKS, law, &first, alpha));
    /* Squared distances from the seed at -.5; the last one is capped at the squared radius. */
    const double low = .3125 * .3125 + .25 * .25, high = .75 * .75 + 1;
    const weights second = { { low + f, 0, high + f, f }, low + high + 3 * f };
    draw_cells(line, rng, true, ROWS);
    assert_true(stat_follows(drawn, ASKS, law, &second, alpha));
    change_fields(seed, &line, floor = clo_i_seed_fields(&line).floor / 5 * 4);
    draw_cells(line, rng, true, ROWS);
    assert_false(stat_follows(drawn, ASKS, law, &second, alpha));
    /* Weights of 1, where one too many for a cell is most of what another has. */
    const weights even = { { 1, 1, 1, 1 }, 4 };
    change_fields(seed, &line, floor = 1);
    draw_cells(line, rng, false, 0);
    assert_true(stat_follows(drawn, ASKS, law, &even, alpha));
    clo_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_drawn_in_proportion_to_their_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
