/*
 * histogram: sizes carry discrete Laplace noise of the planned rate, and a cell that one record
 * makes is told of with probability delta and no more (histogram.T1).  Controls: a rate 20 %
 * too sharp, and the threshold at a tenth.
 */
#include "asking.h"
#include "query/histogram.h"

enum { ASKS = 1 << 16, BLOCKS = 6 };

static int64_t sizes[ASKS];

static clo_status sign_of_the_first(void *user, size_t part, const clo_block *block, int64_t *place,
                                    clo_error *err)
{
    (void)user;
    (void)part;
    (void)err;
    if (block->count < 1 || !(fabs(block->rows[0]) > 0)) return CLO_FORMAT;
    place[0] = block->rows[0] > 0 ? 1 : -1;
    return CLO_OK;
}

typedef struct planned {
    double rate;
    int64_t size, threshold;
} planned;

/* P[size + DLap <= x], all below the threshold told as 0. */
static long double law(int64_t x, const void *parameters)
{
    const planned *const p = parameters;
    const int64_t y = (x < p->threshold ? p->threshold - 1 : x) - p->size;
    const long double both = 1 + expl(-(long double)p->rate);
    if (x < 0) return 0;
    return y < 0 ? expl(p->rate * (long double)y) / both
                 : 1 - expl(-(long double)p->rate * (long double)(y + 1)) / both;
}

static uint64_t draw_sizes(clo_line line, clo_rng *rng, size_t agreeing)
{
    double rows[BLOCKS] = { 0 };
    const clo_domain domain = ball(1, 1, CLO_REPLACE);
    clo_error err;
    uint64_t found = 0;
    asking a;
    for (size_t i = 0; i < agreeing; i++) rows[i] = 1;
    clo_bounded *const data = bounded_from(rows, BLOCKS, &domain);
    start_asking(&a, line, rng);
    for (size_t i = 0; i < ASKS; i++) {
        int64_t place;
        clo_cell cell = { .place = &place };
        assert_ok(
            clo_i_ask_histogram(&a.context, 0, data, sign_of_the_first, NULL, NULL, 0, &cell, &err),
            err);
        assert_int_equal(place, cell.found);
        sizes[i] = cell.size;
        found += cell.found;
    }
    stop_asking(&a);
    clo_bounded_free(data);
    return found;
}

static void sizes_have_their_law(void **state)
{
    const double alpha = stat_alpha(STAT_histogram_law, 2);
    const clo_domain domain = ball(1, 1, CLO_REPLACE);
    clo_rng *const rng = stat_rng();
    clo_error err;
    clo_line line;
    (void)state;
    assert_ok(
        clo_i_plan_histogram(&domain, 1, 1, BLOCKS, (clo_loss){ 1, .05 }, "sizes", &line, &err),
        err);
    const planned plan = { .5, BLOCKS, (int64_t)clo_i_histogram_fields(&line).threshold };
    draw_sizes(line, rng, BLOCKS);
    assert_true(stat_follows(sizes, ASKS, law, &plan, alpha));
    clo_line fault = line;
    fault.rate_numerator = line.rate_numerator / 5 * 6; /* planted: 20 % too sharp */
    draw_sizes(fault, rng, BLOCKS);
    assert_false(stat_follows(sizes, ASKS, law, &plan, alpha));
    clo_rng_free(rng);
}

/* histogram.T1: what the pair with one cell more shows. */
static void a_cell_of_one_block_is_told_of_as_seldom_as_delta(void **state)
{
    const double alpha = stat_alpha(STAT_histogram_law, 2), delta = .02;
    const clo_domain domain = ball(1, 1, CLO_REPLACE);
    clo_rng *const rng = stat_rng();
    clo_error err;
    clo_line line;
    (void)state;
    assert_ok(
        clo_i_plan_histogram(&domain, 1, 1, BLOCKS, (clo_loss){ 1, delta }, "alone", &line, &err),
        err);
    const planned plan = { .5, 1, (int64_t)clo_i_histogram_fields(&line).threshold };
    const double told = 1 - (double)law(0, &plan);
    assert_true(told <= delta && told > delta * exp(-.5) * .999);
    assert_true(stat_is_probable(draw_sizes(line, rng, 1), ASKS, told, alpha));
    clo_line fault = line;
    change_fields(histogram, &fault, threshold /= 10);
    assert_true(stat_lower_bound(draw_sizes(fault, rng, 1), ASKS, alpha) > delta);
    clo_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_have_their_law),
        cmocka_unit_test(a_cell_of_one_block_is_told_of_as_seldom_as_delta),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
