/*
 * The division of records into blocks (aggregate.T4, histogram.T2): a unit's rows change as many
 * blocks as there are of them and leave all others as they are, bytes and order, wherever the
 * number of rows is a secret; where it is public the blocks are even.  The noise of an aggregate is
 * for as many changed blocks as the line says (aggregate.T1).
 */
#include "pipeline.h"
#include "query/aggregate.h"
#include "query/queries.h"
#include "ask/blocks.h"
#include "query/histogram.h"
#include "ask/query_steps.h"
#include "parallel/parallel.h"
#include "random/random.h"

enum { D = 2, BLOCKS = 12, OTHERS = 40, MOST_ROWS = OTHERS + 8, SEEDS = 60 };

typedef struct asking {
    clo_line line;
    clo_meter meter;
    clo_context context;
} asking;

static void start(asking *a, clo_line line, const char *seed)
{
    clo_error err;
    *a = (asking){ .line = line };
    a->meter = (clo_meter){ .lines = &a->line, .count = 1 };
    a->context = (clo_context){ .rng = seeded(seed),
                                .comm = clo_i_comm_self(),
                                .threads = 1,
                                .progress_to = 1,
                                .meter = &a->meter };
    assert_ok(clo_workspace_new(1 << 20, &a->context.workspace, &err), err);
}

static void stop(asking *a)
{
    clo_workspace_free(a->context.workspace);
    clo_rng_free(a->context.rng);
}

/* ---- what each block is shown --------------------------------------------------------------- */

/* A block is known by its own randomness, which is the same in both worlds. */
typedef struct shown {
    uint8_t seed[32];
    size_t count;
    double rows[MOST_ROWS * D];
} shown;

typedef struct album {
    shown blocks[BLOCKS];
    size_t count;
} album;

static void take_down(album *all, const clo_block *block)
{
    assert_true(all->count < BLOCKS && block->count <= MOST_ROWS && block->cols == D);
    shown *const s = &all->blocks[all->count++];
    memcpy(s->seed, block->seed, sizeof s->seed);
    s->count = block->count;
    memcpy(s->rows, block->rows, block->count * D * sizeof *s->rows);
}

static clo_status locate(void *user, size_t part, const clo_block *block, int64_t *place,
                         clo_error *err)
{
    (void)part;
    (void)err;
    take_down(user, block);
    place[0] = 0;
    return CLO_OK;
}

static clo_status solve(void *user, const clo_block *block, double *center, clo_error *err)
{
    (void)err;
    take_down(user, block);
    memset(center, 0, D * sizeof *center);
    return CLO_OK;
}

static bool same(const shown *a, const shown *b)
{
    return a->count == b->count && memcmp(a->rows, b->rows, a->count * D * sizeof *a->rows) == 0;
}

static size_t count_different(const album *a, const album *b)
{
    size_t different = 0;
    assert_true(a->count == BLOCKS && b->count == BLOCKS);
    for (size_t i = 0; i < BLOCKS; i++) {
        size_t j = 0;
        while (j < BLOCKS && memcmp(a->blocks[i].seed, b->blocks[j].seed, 32) != 0) j++;
        assert_true(j < BLOCKS);
        different += !same(&a->blocks[i], &b->blocks[j]);
    }
    return different;
}

/* ---- worlds ---------------------------------------------------------------------------------- */

static clo_domain domain_for(clo_relation relation, uint64_t rows, bool unit)
{
    clo_domain domain = ball(D, 1, relation);
    domain.rows_per_unit = rows;
    domain.unit = unit ? "person" : NULL;
    return domain;
}

/* OTHERS people with a row each, and `own` rows of one more, which are of another content in each
 * world. */
static clo_bounded *make_world(const clo_domain *domain, size_t own, int world)
{
    double values[MOST_ROWS * D];
    uint64_t units[MOST_ROWS];
    for (size_t i = 0; i < OTHERS + own; i++) {
        const bool mine = i >= OTHERS;
        values[i * D] = mine ? -0.1 * (double)(i - OTHERS + 1) : 0.01 * (double)(i + 1);
        values[i * D + 1] = mine ? 0.3 * (world + 1) : 0.5;
        units[i] = mine ? OTHERS : i;
    }
    if (!domain->unit) return bounded_from(values, OTHERS + own, domain);
    return bounded_from_units(values, units, OTHERS + own, domain);
}

static clo_line plan_blocks(const clo_domain *domain, bool histogram)
{
    const clo_loss loss = { 8, 0.01 };
    clo_error err;
    clo_line line;
    if (histogram)
        assert_ok(clo_i_plan_histogram(domain, 1, 1, BLOCKS, loss, "", &line, &err), err);
    else
        assert_ok(clo_i_plan_aggregate_centers(domain, 1, BLOCKS, loss, "", &line, &err), err);
    return line;
}

static album show(const clo_domain *domain, const clo_line *line, size_t own, int world,
                  const char *seed)
{
    clo_bounded *const data = make_world(domain, own, world);
    album all = { .count = 0 };
    clo_error err;
    asking a;
    start(&a, *line, seed);
    if (line->query == &clo_i_query_histogram) {
        int64_t place;
        clo_cell cell = { .place = &place };
        assert_ok(clo_i_ask_histogram(&a.context, 0, data, locate, &all, NULL, 0, &cell, &err),
                  err);
    } else {
        double center[D];
        assert_ok(clo_i_ask_aggregate(&a.context, 0, data, solve, &all, center, &err), err);
    }
    stop(&a);
    clo_bounded_free(data);
    return all;
}

/* How many blocks differ where a unit has so many rows in one world and so many in the other. */
static size_t most_different(const clo_domain *domain, bool histogram, size_t own, size_t other)
{
    const clo_line line = plan_blocks(domain, histogram);
    size_t most = 0;
    for (int s = 0; s < SEEDS; s++) {
        char seed[32];
        snprintf(seed, sizeof seed, "blocks %d", s);
        const album first = show(domain, &line, own, 0, seed);
        const album second = show(domain, &line, other, 1, seed);
        const size_t different = count_different(&first, &second);
        if (different > most) most = different;
    }
    return most;
}

static void a_units_rows_change_as_many_blocks_as_there_are_of_them(void **state)
{
    (void)state;
    for (int query = 0; query < 2; query++)
        for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++)
            for (uint64_t rows = 1; rows <= 3; rows++)
                for (size_t left = 0; left <= (relation == CLO_REPLACE ? rows : 0); left++) {
                    const clo_domain domain = domain_for((clo_relation)relation, rows, true);
                    assert_int_equal(most_different(&domain, query, rows, left), rows);
                }
}

static void a_row_changes_one_block(void **state)
{
    const clo_domain replace = domain_for(CLO_REPLACE, 1, false);
    const clo_domain add_remove = domain_for(CLO_ADD_REMOVE, 1, false);
    (void)state;
    for (int query = 0; query < 2; query++) {
        assert_int_equal(most_different(&replace, query, 1, 1), 1);
        assert_int_equal(most_different(&add_remove, query, 1, 0), 1);
    }
}

/* ---- the division itself --------------------------------------------------------------------- */

/* Which block each row is in, and how large the largest and the smallest are. */
static void divide(const clo_domain *domain, size_t own, const char *seed, uint32_t *block_of,
                   size_t *least, size_t *most)
{
    const clo_line line = { .query = &clo_i_query_histogram, .cols = D, .bits = 20 };
    clo_bounded *const data = make_world(domain, own, 0);
    size_t sizes[BLOCKS] = { 0 };
    clo_division d;
    clo_error err;
    asking a;
    start(&a, line, seed);
    assert_ok(clo_i_divide(&a.context, &line, BLOCKS, data, &d, &err), err);
    memcpy(block_of, d.block_of, d.count * sizeof *block_of);
    for (size_t i = 0; i < d.count; i++) sizes[d.block_of[i]]++;
    *least = *most = sizes[0];
    for (size_t b = 1; b < BLOCKS; b++) {
        if (sizes[b] < *least) *least = sizes[b];
        if (sizes[b] > *most) *most = sizes[b];
    }
    stop(&a);
    clo_bounded_free(data);
}

/* Where how many rows there are is a secret, no row's block depends on whether others follow. */
static void a_rows_block_is_its_own_where_the_number_of_rows_is_a_secret(void **state)
{
    (void)state;
    for (int relation = CLO_REPLACE; relation <= CLO_ADD_REMOVE; relation++)
        for (int unit = relation == CLO_REPLACE; unit < 2; unit++) {
            const clo_domain domain = domain_for((clo_relation)relation, unit ? 8 : 1, unit);
            uint32_t block_of[MOST_ROWS], again[MOST_ROWS];
            size_t least, most, uneven = 0;
            for (int s = 0; s < 8; s++) {
                char seed[32];
                snprintf(seed, sizeof seed, "block numbers %d", s);
                divide(&domain, 0, seed, block_of, &least, &most);
                uneven += most > least + 1;
                for (size_t own = 1; own <= 8; own++) {
                    divide(&domain, own, seed, again, &least, &most);
                    assert_memory_equal(block_of, again, OTHERS * sizeof *block_of);
                }
            }
            assert_true(uneven >= 6); /* by chance alone 40 rows hardly ever fall so evenly */
        }
}

static void blocks_are_even_where_the_number_of_rows_is_public(void **state)
{
    const clo_domain domain = domain_for(CLO_REPLACE, 1, false);
    uint32_t block_of[MOST_ROWS];
    size_t least, most;
    (void)state;
    for (size_t own = 0; own <= 8; own++) {
        divide(&domain, own, "even", block_of, &least, &most);
        assert_true(most - least == ((OTHERS + own) % BLOCKS != 0));
    }
}

/* In which block a row is and what its solver may use come from two streams: who knows the seeds
 * that a solver was given knows nothing of the block numbers. */
static void homes_and_seeds_are_of_two_streams(void **state)
{
    const clo_domain domain = domain_for(CLO_ADD_REMOVE, 1, false);
    const clo_line line = plan_blocks(&domain, true);
    uint8_t seeds[BLOCKS * CLO_BLOCK_SEED], wanted[BLOCKS * CLO_BLOCK_SEED];
    uint32_t block_of[MOST_ROWS], expected[MOST_ROWS];
    clo_error err;
    asking a;
    (void)state;
    for (int even = 0; even < 2; even++) {
        clo_stream *first = NULL, *second = NULL;
        start(&a, line, "two streams");
        assert_ok(clo_i_draw_all_block_numbers(&a.context, BLOCKS, MOST_ROWS, even, block_of, &err),
                  err);
        assert_ok(clo_i_draw_seeds(&a.context, BLOCKS, seeds, &err), err);
        assert_ok(clo_i_stream_open(a.context.rng, 0, 0, &first, &err), err);
        assert_ok(clo_i_stream_open(a.context.rng, 1, 0, &second, &err), err);
        clo_i_draw_block_numbers(first, even, BLOCKS, MOST_ROWS, expected);
        for (size_t at = 0; at < sizeof wanted; at += 8) {
            const uint64_t word = clo_i_random_u64(second);
            memcpy(wanted + at, &word, sizeof word);
        }
        assert_memory_equal(block_of, expected, sizeof block_of);
        assert_memory_equal(seeds, wanted, sizeof seeds);
        for (size_t b = 0; b < BLOCKS; b++) /* no two blocks have one, and each has all of it */
            for (size_t at = 0; at < CLO_BLOCK_SEED; at += 8)
                for (size_t other = 0; other < b * CLO_BLOCK_SEED + at; other += 8)
                    assert_memory_not_equal(seeds + b * CLO_BLOCK_SEED + at, seeds + other, 8);
        clo_i_stream_close(first);
        clo_i_stream_close(second);
        stop(&a);
    }
}

/* ---- how much noise for so many blocks ------------------------------------------------------- */

static clo_status at_the_origin(void *user, const clo_block *block, double *center, clo_error *err)
{
    (void)user;
    (void)block;
    (void)err;
    memset(center, 0, D * sizeof *center);
    return CLO_OK;
}

/* aggregate.T1 where all solutions agree: every radius is 0 until more points are asked for than
 * there are, and 2 (the diameter, of one centre) from there on. */
static double bound_of_agreement(double blocks, double changed, double beta)
{
    double step = 0;
    const double first = ceil((blocks + changed) / 2) + 1;
    while (first + (step + 1) * changed <= blocks) step++;
    return fmin(2, 2 * 2 * exp(-beta * step / 2));
}

/* The noise is drawn once more, from the generator's third ask, with the scale that it must have:
 * the same numbers. */
static void the_noise_of_an_aggregate_is_for_all_blocks_that_a_unit_changes(void **state)
{
    enum { MANY = 60 };
    (void)state;
    for (uint64_t changed = 1; changed <= 3; changed++) {
        const clo_domain domain = domain_for(CLO_ADD_REMOVE, changed, true);
        clo_bounded *const data = make_world(&domain, changed, 0);
        double center[D];
        int64_t noise[D];
        clo_error err;
        clo_line line;
        asking a;
        assert_ok(
            clo_i_plan_aggregate_centers(&domain, 1, MANY, (clo_loss){ 8, 1e-6 }, "", &line, &err),
            err);
        assert_int_equal(line.sensitivity, changed);
        change_fields(aggregate, &line,
                      beta = 1); /* three of sixty are few enough to average over */
        change_fields(aggregate, &line, alpha = 200);
        const clo_aggregate_fields how = clo_i_aggregate_fields(&line);
        const double bound = bound_of_agreement(MANY, (double)changed, how.beta);
        const double scale = 0x1p24 + ceil(ldexp(bound / how.alpha, (int)how.grid_bits));
        start(&a, line, "agreement");
        assert_ok(clo_i_ask_aggregate(&a.context, 0, data, at_the_origin, NULL, center, &err), err);
        stop(&a);
        start(&a, line, "agreement");
        (void)clo_i_rng_next_ask(a.context.rng); /* who is in which block */
        (void)clo_i_rng_next_ask(a.context.rng); /* what the solvers may use */
        assert_ok(clo_i_draw_wave(&a.context, clo_i_gaussian_law((uint64_t)scale),
                                  clo_i_noise_ask(&a.context), 0, D, noise, &err),
                  err);
        stop(&a);
        for (size_t j = 0; j < D; j++)
            assert_int_equal(llround(ldexp(center[j], (int)how.grid_bits)), noise[j]);
        clo_bounded_free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_units_rows_change_as_many_blocks_as_there_are_of_them),
        cmocka_unit_test(a_row_changes_one_block),
        cmocka_unit_test(a_rows_block_is_its_own_where_the_number_of_rows_is_a_secret),
        cmocka_unit_test(blocks_are_even_where_the_number_of_rows_is_public),
        cmocka_unit_test(homes_and_seeds_are_of_two_streams),
        cmocka_unit_test(the_noise_of_an_aggregate_is_for_all_blocks_that_a_unit_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
