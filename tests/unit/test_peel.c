/*
 * test_peel.c - each column of a cluster is chosen once, with the value that stands in it; the
 * count comes last, with noise of its own (peel.T1).
 */
#include "pipeline.h"
#include "ask/query_steps.h"
#include "query/peel.h"
#include "parallel/parallel.h"
#include <math.h>

enum { COLS = 9, ROWS = 64, SEEDS = 20 };

typedef struct asking {
    clo_line line;
    clo_meter meter;
    clo_context context;
} asking;

static void start(asking *a, size_t rounds, double epsilon, const char *seed)
{
    const clo_domain domain = ball(COLS, 1, CLO_ADD_REMOVE);
    clo_error err;
    assert_ok(clo_i_plan_peel(&domain, COLS, 1, COLS, rounds, epsilon, "", &a->line, &err), err);
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

/* Columns of sums that are all different, and not in the order of the columns. */
static clo_bounded *make_rows(double sums[COLS])
{
    static double values[ROWS * COLS];
    const clo_domain domain = ball(COLS, 1, CLO_ADD_REMOVE);
    for (size_t j = 0; j < COLS; j++) sums[j] = 0;
    for (size_t e = 0; e < ROWS * COLS; e++) {
        values[e] = (e % COLS % 2 ? -1 : 1) * ldexp((double)(e % COLS * 4 % COLS + 1), -7);
        sums[e % COLS] += values[e];
    }
    return bounded_from(values, ROWS, &domain);
}

/* With as many rounds as columns all are chosen, at any budget: so none twice. */
static void no_column_is_chosen_twice(void **state)
{
    const clo_assign one = { .kind = CLO_ASSIGN_ONE, .clusters = 1, .cols = COLS };
    double sums[COLS], values[COLS], count;
    clo_bounded *const data = make_rows(sums);
    (void)state;
    for (size_t rounds = 1; rounds <= COLS; rounds++)
        for (int s = 0; s < SEEDS; s++) {
            bool chosen[COLS] = { false };
            size_t columns[COLS];
            char seed[32];
            clo_error err;
            asking a;
            snprintf(seed, sizeof seed, "peel %d", s);
            start(&a, rounds, s % 2 ? 1e5 : 1, seed);
            assert_ok(clo_i_ask_peel(&a.context, 0, data, &one, columns, values, &count, &err),
                      err);
            for (size_t t = 0; t < rounds; t++) {
                assert_true(columns[t] < COLS);
                if (chosen[columns[t]]) fail_msg("column %zu is chosen twice", columns[t]);
                chosen[columns[t]] = true;
                if (s % 2) assert_close(values[t], sums[columns[t]], 0.01);
            }
            if (s % 2) assert_close(count, ROWS, 0.01);
            stop(&a);
        }
    clo_bounded_free(data);
}

/* At a budget that leaves little noise the order is that of the magnitudes: a score is a column's
 * sum, and no other's. */
static void the_largest_of_those_left_is_chosen(void **state)
{
    const clo_assign one = { .kind = CLO_ASSIGN_ONE, .clusters = 1, .cols = COLS };
    double sums[COLS], values[COLS], count;
    size_t columns[COLS];
    clo_bounded *const data = make_rows(sums);
    clo_error err;
    asking a;
    (void)state;
    start(&a, COLS, 1e6, "order");
    assert_ok(clo_i_ask_peel(&a.context, 0, data, &one, columns, values, &count, &err), err);
    for (size_t t = 0; t + 1 < COLS; t++)
        assert_true(fabs(sums[columns[t]]) > fabs(sums[columns[t + 1]]));
    stop(&a);
    clo_bounded_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_column_is_chosen_twice),
        cmocka_unit_test(the_largest_of_those_left_is_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
