/* histogram: the threshold is the least that histogram.T1 allows, cells are told apart exactly, and
 * every list of blocks has an answer (histogram.T2); parts do not mix (histogram.T3). */
#include "pipeline.h"
#include "parallel/parallel.h"
#include "ask/query.h"
#include "query/histogram.h"
#include <math.h>

enum { BLOCKS = 40, WIDTH = 3 };

/* The most that the sum over vanishing cells, n blocks in all with each cell at most `largest`,
 * adds to delta: by trying all ways to divide them. */
static long double worst_split(unsigned n, unsigned largest, long double rate, long double tau)
{
    long double worst = 0;
    for (unsigned size = 1; size <= largest && size <= n; size++) {
        const long double told = expl(-rate * (tau - size)) / (1 + expl(-rate));
        worst = fmaxl(worst, told + worst_split(n - size, size, rate, tau));
    }
    return worst;
}

static void the_threshold_is_the_least_that_is_proved(void **state)
{
    static const double epsilons[] = { .01, .1, 1, 3, 20 }, deltas[] = { 1e-12, 1e-6, 1e-3, .4 };
    clo_error err;
    clo_line line;
    (void)state;
    for (uint64_t units = 1; units <= 7; units++)
        for (size_t e = 0; e < 5; e++)
            for (size_t i = 0; i < 4; i++) {
                clo_domain domain = ball(2, 1, units % 2 ? CLO_REPLACE : CLO_ADD_REMOVE);
                domain.rows_per_unit = units;
                const clo_loss loss = { epsilons[e], deltas[i] };
                assert_ok(clo_i_plan_histogram(&domain, 1, 1, 9, loss, "", &line, &err), err);
                const long double rate =
                    (long double)line.rate_numerator / (long double)line.rate_denominator;
                const long double spared = fminl(deltas[i], -expm1l(-rate));
                const long double tau = (long double)clo_i_histogram_fields(&line).threshold;
                assert_true(line.event.parameter <= epsilons[e]);
                assert_close((double)(2 * rate * (long double)units), epsilons[e], 1e-8);
                assert_true(clo_i_histogram_fields(&line).threshold > units);
                assert_true(worst_split((unsigned)units, (unsigned)units, rate, tau) <= spared);
                assert_true(worst_split((unsigned)units, (unsigned)units, rate, tau - 1) >
                            spared * (1 - 1e-6L));
            }
}

/* errata of singhal2021: 27.2 with continuous noise. */
static void the_usual_threshold_is_known(void **state)
{
    const clo_domain domain = ball(2, 1, CLO_REPLACE);
    clo_error err;
    clo_line line;
    (void)state;
    assert_ok(clo_i_plan_histogram(&domain, 1, 1, 9, (clo_loss){ 1, 1e-6 }, "", &line, &err), err);
    assert_int_equal(clo_i_histogram_fields(&line).threshold, 28);
    assert_fails(clo_i_plan_histogram(&domain, 1, 1, 9, (clo_loss){ 1, 0 }, "", &line, &err),
                 CLO_BUDGET, err, "delta above 0");
    assert_fails(clo_i_plan_histogram(&domain, 1, 1, 0, (clo_loss){ 1, 1e-6 }, "", &line, &err),
                 CLO_ARGUMENT, err, "blocks must be between");
}

/* Counts and thresholds are exact as doubles up to 2^53; from there on there is no plan.  The
 * threshold falls by a twentieth of a thousandth from one epsilon of the grid to the next here. */
static void no_threshold_lies_beyond_what_doubles_count(void **state)
{
    clo_domain domain = ball(2, 1, CLO_REPLACE);
    const double delta = 1e-6;
    uint64_t refused = 1, planned = 1 << 20;
    clo_error err;
    clo_line line;
    (void)state;
    domain.rows_per_unit = (uint64_t)1 << 31;
    while (planned - refused > 1) {
        const uint64_t middle = (planned + refused) / 2;
        const clo_loss loss = { ldexp((double)middle, -30), delta };
        if (clo_i_plan_histogram(&domain, 1, 1, 9, loss, "", &line, &err))
            refused = middle;
        else
            planned = middle;
    }
    const long double units = (long double)domain.rows_per_unit;
    long double tau[2]; /* histogram.T1, where a unit's cells are all new */
    for (int i = 0; i < 2; i++) {
        const long double rate = (i ? planned : refused) / (2 * units * (1 << 30));
        const long double spared = fminl(delta, -expm1l(-rate));
        tau[i] = (rate + logl(units) - logl(spared) - log1pl(expl(-rate))) / rate;
    }
    assert_true(tau[0] > 0x1p53L * (1 - 1e-9L) && tau[1] <= 0x1p53L);
    assert_true(tau[0] < tau[1] * 1.001L);
}

static clo_status name_cell(void *user, size_t part, const clo_block *block, int64_t *place,
                            clo_error *err)
{
    (void)user;
    (void)part;
    (void)err;
    if (block->count == 0) return CLO_FORMAT;
    place[0] = INT64_MIN;
    place[1] = INT64_MAX;
    place[2] = (int64_t)nearbyint(block->rows[0] * 4);
    return CLO_OK;
}

static const char *seed = "cells";

static clo_cell ask(const double *rows, size_t count, double epsilon, int64_t *place)
{
    const clo_domain domain = ball(1, 1, CLO_REPLACE);
    clo_cell cell = { .place = place };
    clo_error err;
    clo_line line;
    clo_meter meter = { .lines = &line, .count = 1 };
    clo_rng *const rng = seeded(seed);
    clo_context context = {
        .rng = rng, .comm = clo_i_comm_self(), .threads = 2, .progress_to = 1, .meter = &meter
    };
    clo_bounded *const data = bounded_from(rows, count, &domain);
    assert_ok(clo_i_plan_histogram(&domain, WIDTH, 1, BLOCKS, (clo_loss){ epsilon, 1e-6 }, "",
                                   &line, &err),
              err);
    assert_ok(clo_workspace_new(1 << 16, &context.workspace, &err), err);
    assert_ok(clo_i_ask_histogram(&context, 0, data, name_cell, NULL, NULL, 0, &cell, &err), err);
    assert_int_equal(clo_i_ask_histogram(&context, 0, data, name_cell, NULL, NULL, 0, &cell, &err),
                     CLO_INTERNAL); /* once is what was planned */
    clo_workspace_free(context.workspace);
    clo_bounded_free(data);
    clo_rng_free(rng);
    return cell;
}

/* histogram.T2: 40 blocks of one row each. */
static void the_largest_cell_is_found_among_its_like(void **state)
{
    double rows[BLOCKS];
    int64_t place[WIDTH];
    (void)state;
    for (size_t i = 0; i < BLOCKS; i++) rows[i] = i % 5 < 3 ? .5 : i % 5 == 3 ? .25 : -1;
    const clo_cell cell = ask(rows, BLOCKS, 100, place);
    assert_true(cell.found);
    assert_int_equal(cell.size, 24);
    assert_true(place[0] == INT64_MIN && place[1] == INT64_MAX && place[2] == 2);
}

/* Of five cells the largest is told, in whatever place it stands: never its size as it is. */
static void each_cell_has_noise_of_its_own(void **state)
{
    enum { CELLS = 5 };
    static const char *const seeds[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j",
                                         "k", "l", "m", "n", "o", "p", "q", "r", "s", "t" };
    (void)state;
    for (size_t large = 0; large < CELLS; large++) {
        double rows[BLOCKS];
        int64_t place[WIDTH];
        int changed = 0;
        for (size_t i = 0; i < BLOCKS; i++) rows[i] = (double)(i < CELLS ? i : large) / 2 - 1;
        for (size_t s = 0; s < sizeof seeds / sizeof *seeds; s++) {
            seed = seeds[s];
            const clo_cell cell = ask(rows, BLOCKS, 2, place);
            assert_true(cell.found);
            assert_int_equal(place[2], 2 * (int)large - 4);
            changed += cell.size != BLOCKS - CELLS + 1;
        }
        assert_true(changed > 4);
    }
    seed = "cells";
}

static void without_agreement_no_cell_is_found(void **state)
{
    double rows[BLOCKS];
    int64_t place[WIDTH] = { 7, 7, 7 };
    (void)state;
    for (size_t i = 0; i < BLOCKS; i++) rows[i] = i % 2 ? .5 : -.5;
    const clo_cell few = ask(rows, BLOCKS, .5, place);
    assert_false(few.found);
    assert_true(few.size == 0 && place[0] == 0 && place[1] == 0 && place[2] == 0);
    assert_false(ask(rows, 0, 1, place).found);
    assert_false(ask(rows, 1, 1, place).found);
}

enum { PARTS = 4 };

/* A row says its own number; each is seen once, and the cell names the part. */
static clo_status note_rows(void *user, size_t part, const clo_block *block, int64_t *place,
                            clo_error *err)
{
    int *const seen = user;
    (void)err;
    for (size_t i = 0; i < block->count; i++)
        seen[(size_t)nearbyint(block->rows[i] * 2 * PARTS * BLOCKS)]++;
    place[0] = (int64_t)part;
    return CLO_OK;
}

/* histogram.T3: no row is in two parts, and each part has an answer of its own. */
static void parts_are_disjoint_and_answer_by_themselves(void **state)
{
    const clo_domain domain = ball(1, 1, CLO_REPLACE);
    double rows[2 * PARTS * BLOCKS];
    int seen[2 * PARTS * BLOCKS] = { 0 };
    int64_t places[PARTS];
    clo_cell cells[PARTS];
    clo_error err;
    clo_line line, one;
    clo_meter meter = { .lines = &line, .count = 1 };
    clo_rng *const rng = seeded("parts");
    clo_context context = {
        .rng = rng, .comm = clo_i_comm_self(), .threads = 1, .progress_to = 1, .meter = &meter
    };
    const clo_loss loss = { 5, 1e-6 };
    (void)state;
    for (size_t i = 0; i < 2 * PARTS * BLOCKS; i++) rows[i] = (double)i / (2 * PARTS * BLOCKS);
    for (size_t p = 0; p < PARTS; p++) cells[p] = (clo_cell){ .place = places + p };
    clo_bounded *const data = bounded_from(rows, 2 * PARTS * BLOCKS, &domain);
    assert_ok(clo_i_plan_histogram(&domain, 1, PARTS, BLOCKS, loss, "", &line, &err), err);
    assert_ok(clo_i_plan_histogram(&domain, 1, 1, BLOCKS, loss, "", &one, &err), err);
    assert_true(clo_i_histogram_fields(&line).threshold == clo_i_histogram_fields(&one).threshold &&
                line.rate_numerator == one.rate_numerator);
    assert_ok(clo_workspace_new(1 << 16, &context.workspace, &err), err);
    assert_ok(clo_i_ask_histogram(&context, 0, data, note_rows, seen, NULL, 0, cells, &err), err);
    for (size_t i = 0; i < 2 * PARTS * BLOCKS; i++) assert_int_equal(seen[i], 1);
    for (size_t p = 0; p < PARTS; p++)
        assert_true(cells[p].found && places[p] == (int64_t)p && llabs(cells[p].size - BLOCKS) < 9);
    assert_fails(clo_i_plan_histogram(&domain, 1, 70000, 1, loss, "", &line, &err), CLO_ARGUMENT,
                 err, "parts of 1 blocks must be between 1 and 65536, not 70000");
    clo_workspace_free(context.workspace);
    clo_bounded_free(data);
    clo_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_threshold_is_the_least_that_is_proved),
        cmocka_unit_test(the_usual_threshold_is_known),
        cmocka_unit_test(no_threshold_lies_beyond_what_doubles_count),
        cmocka_unit_test(the_largest_cell_is_found_among_its_like),
        cmocka_unit_test(each_cell_has_noise_of_its_own),
        cmocka_unit_test(without_agreement_no_cell_is_found),
        cmocka_unit_test(parts_are_disjoint_and_answer_by_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
