/*
 * test_block_bits.c - what is made of a block of records is a function of its bytes, to the last
 * bit: not of where the block lies, of what was in memory before, or of the thread (histogram.T2,
 * aggregate.T4).  BLAS may add in another order what lies askew, and a LAPACK that read what nobody
 * wrote would give what some earlier call left there.
 */
#include "pipeline.h"
#include "base/base.h"
#include "linalg/linalg.h"
#include "mechanism/subspace_cells.h"
#include <math.h>
#include <omp.h>
#include <stdlib.h>

enum { HISTORIES = 60, HELD = 32, MOST_BASIS = 64 * 4 };

static uint64_t state_of_chance = 1;

static size_t chance(size_t below)
{
    state_of_chance = state_of_chance * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (size_t)(state_of_chance >> 33) % below;
}

/* ---- histories ------------------------------------------------------------------------------ */

/* What a process may have done before: memory of all sizes taken, filled with what is no number and
 * given back, some of it kept, so that what comes next lies elsewhere. */
typedef struct history {
    void *held[HELD];
} history;

static void live_through(history *h)
{
    for (size_t i = 0; i < HELD; i++) {
        const size_t bytes = 8 + chance(i % 4 == 0 ? 1 << 18 : 1 << 10);
        free(h->held[i]);
        h->held[i] = malloc(bytes);
        assert_non_null(h->held[i]);
        memset(h->held[i], 0xff, bytes); /* NaN, if it were read */
        if (chance(3) == 0) {
            free(h->held[i]);
            h->held[i] = NULL;
        }
    }
}

static void forget(history *h)
{
    for (size_t i = 0; i < HELD; i++) free(h->held[i]);
}

/* Leaves numbers of another problem, some of them none, in the buffers that BLAS keeps. */
static void dirty_the_buffers(void)
{
    enum { N = 48 };
    static double a[N * N], gram[N * N], values[N], left[N * N];
    for (size_t i = 0; i < (size_t)N * N; i++)
        a[i] = chance(50) == 0 ? INFINITY : (double)chance(9);
    clo_i_gram_add(a, N, N, gram);
    for (size_t i = 0; i < (size_t)N * N; i++) a[i] = (double)chance(1000) * 1e-3;
    assert_int_equal(clo_i_thin_svd(a, N / 2, N, values, left, NULL), CLO_OK);
}

/* ---- a block's subspace --------------------------------------------------------------------- */

/* What is made of a block, cols x count with a record a column, and where it is put. */
typedef void making(const double *block, size_t cols, size_t count, double *out);

/* As subspace_cells.c does: a copy of its own, aligned as any other. */
static void top_directions(const double *block, size_t cols, size_t count, double *out)
{
    double *copy = NULL;
    assert_int_equal(clo_i_alloc(cols * count, sizeof *copy, &copy, NULL), CLO_OK);
    memcpy(copy, block, cols * count * sizeof *copy);
    assert_int_equal(clo_i_top_directions(copy, cols, count, 2, out, NULL), CLO_OK);
    clo_i_free(copy);
}

/* The control: a sum that begins where a cache line does, as some kernels do. */
static void peeled_sum(const double *block, size_t cols, size_t count, double *out)
{
    const size_t all = cols * count, before = (64 - (uintptr_t)block % 64) % 64 / sizeof *block;
    double lanes[8] = { 0 }, sum = 0;
    for (size_t i = 0; i < before && i < all; i++) sum += block[i];
    for (size_t i = before; i < all; i++) lanes[(i - before) % 8] += block[i];
    for (size_t l = 0; l < 8; l++) sum += lanes[l];
    *out = sum;
}

/* Deep in the stack or not. */
static __attribute__((noinline)) void make_at(size_t depth, making *make, const double *block,
                                              size_t cols, size_t count, double *out)
{
    volatile char frame[72];
    frame[depth % sizeof frame] = (char)depth;
    if (depth > 0)
        make_at(depth - 1, make, block, cols, count, out);
    else
        make(block, cols, count, out);
    frame[0] = 0;
}

/* The block at some place in memory, after some history, on some thread: does it come out as it
 * first did? */
static bool is_always_the_same(making *make, size_t cols, size_t count, size_t numbers)
{
    const size_t cells = cols * count;
    double first[MOST_BASIS] = { 0 };
    history past = { { NULL } };
    double *const room = malloc((cells + 16) * sizeof *room), *const block = malloc(cells * 8);
    bool same = true;
    assert_true(room && block && numbers <= MOST_BASIS);
    for (size_t i = 0; i < cells; i++) block[i] = sin((double)i * 12.9898) * (1 + (double)(i % 7));
    make(block, cols, count, first);
    for (size_t h = 0; h < HISTORIES; h++) {
        double found[3][MOST_BASIS] = { { 0 } };
        double *const placed = room + chance(16);
        const size_t depth = chance(20);
        live_through(&past);
        dirty_the_buffers();
        memcpy(placed, block, cells * sizeof *block);
#pragma omp parallel for num_threads(3) schedule(static, 1)
        for (size_t t = 0; t < 1 + h % 3; t++) make_at(depth, make, placed, cols, count, found[t]);
        for (size_t t = 0; t < 1 + h % 3; t++)
            same = same && memcmp(found[t], first, numbers * sizeof *first) == 0;
    }
    forget(&past);
    free(block);
    free(room);
    return same;
}

/* histogram.T2 */
static void a_blocks_subspace_does_not_depend_on_what_came_before(void **state)
{
    static const size_t shapes[][2] = { { 3, 5 },   { 5, 3 },  { 7, 40 },  { 16, 100 },
                                        { 33, 20 }, { 64, 9 }, { 64, 300 } };
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        assert_true(
            is_always_the_same(top_directions, shapes[i][0], shapes[i][1], 2 * shapes[i][0]));
}

static void a_sum_that_looks_at_its_address_is_noticed(void **state)
{
    (void)state;
    assert_false(is_always_the_same(peeled_sum, 7, 40, 1));
}

/* The whole way, from the records to the cells that are told of. */
static void a_histogram_of_blocks_does_not_depend_on_what_came_before(void **state)
{
    enum { ROWS = 300, COLS = 5 };
    static double values[ROWS * COLS];
    const clo_domain domain = ball(COLS, 2, CLO_ADD_REMOVE);
    history past = { { NULL } };
    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLS; j++)
            values[i * COLS + j] =
                sin((double)i) * (double)(j + 1) * 0.2 + 1e-6 * sin((double)(i * j));
    clo_plan *const plan =
        plan_for("subspace/approx", "dim=1 gamma=0.01 blocks=40", &domain, 2, 1e-6);
    clo_bounded *const data = bounded_from(values, ROWS, &domain);
    text first = { 0 };
    for (size_t h = 0; h < 30; h++) {
        clo_run_options options = clo_run_options_default();
        options.threads = 1 + (int)(h % 3);
        clo_release *const release = run_seeded(plan, data, "bits", &options);
        text told = json_of(release);
        if (h == 0) {
            assert_non_null(strstr(told.bytes, "basis")); /* a cell is found, so that it shows */
            first = told;
        } else {
            assert_string_equal(told.bytes, first.bytes);
            free(told.bytes);
        }
        clo_release_free(release);
        live_through(&past);
        dirty_the_buffers();
    }
    free(first.bytes);
    forget(&past);
    clo_bounded_free(data);
    clo_plan_free(plan);
}

/* ---- blocks of sample and aggregate --------------------------------------------------------- */

/* What a solver of the caller's is shown. */
typedef struct seen {
    size_t blocks, askew, different;
    double sums[64]; /* by the number of records: 0 until one is seen */
} seen;

static clo_status look(void *user, const clo_block *block, double *bases, clo_error *err)
{
    seen *const s = user;
    double sum = 0;
    (void)err;
    if (block->count > 0) peeled_sum(block->rows, block->cols, block->count, &sum);
#pragma omp critical
    {
        double *const known = &s->sums[block->count < 64 ? block->count : 63];
        s->blocks++;
        s->askew += (uintptr_t)block->rows % 64 != 0;
        s->different += *known != 0 && *known != sum;
        *known = sum;
    }
    for (size_t j = 0; j < block->cols; j++) bases[j] = j == 0;
    return CLO_OK;
}

/* aggregate.T4: all records are the same, so that blocks with equally many are, too. */
static void equal_blocks_look_equal_to_any_solver(void **state)
{
    enum { ROWS = 200, COLS = 5, BLOCKS = 16 };
    static double values[ROWS * COLS];
    seen s = { 0 };
    clo_error err;
    (void)state;
    for (size_t i = 0; i < (size_t)ROWS * COLS; i++) values[i] = 0.1 + 0.17 * (double)(i % COLS);
    for (int relation = 0; relation < 2; relation++) {
        const clo_domain domain = ball(COLS, 3, relation ? CLO_ADD_REMOVE : CLO_REPLACE);
        clo_params *const params =
            params_for("subspaces/aggregate", "clusters=1 dim=1 blocks=16 solver=caller");
        clo_bounded *const data = bounded_from(values, ROWS, &domain);
        clo_run_options options = clo_run_options_default();
        clo_plan *plan = NULL;
        assert_ok(clo_plan_new(params, &domain, (clo_loss){ 1, 1e-6 }, CLO_IDEALIZED, &plan, &err),
                  err);
        options.threads = 2;
        options.solve_block = look;
        options.solve_user = &s;
        clo_release_free(run_seeded(plan, data, "blocks", &options));
        clo_plan_free(plan);
        clo_params_free(params);
        clo_bounded_free(data);
    }
    assert_int_equal(s.blocks, 2 * BLOCKS);
    assert_int_equal(s.askew, 0);
    assert_int_equal(s.different, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_blocks_subspace_does_not_depend_on_what_came_before),
        cmocka_unit_test(a_sum_that_looks_at_its_address_is_noticed),
        cmocka_unit_test(a_histogram_of_blocks_does_not_depend_on_what_came_before),
        cmocka_unit_test(equal_blocks_look_equal_to_any_solver),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
