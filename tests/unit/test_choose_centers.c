/* choose_centers: with next to no noise the swap and the set that are chosen are those that a
 * search through all of them finds (choose_centers.T2), and several steps of one ask are those of
 * as many asks, each of them charged (choose_centers.T3); no unit changes the losses further than
 * planned (choose_centers.T1). */
#include "pipeline.h"
#include "parallel/parallel.h"
#include "ask/query.h"
#include "query/choose_centers.h"

enum { ROWS = 300, D = 3, POINTS = 9, K = 3, SETS = 5 };

static double records[ROWS * D], points[POINTS * D];

static void fill(unsigned salt)
{
    for (size_t i = 0; i < ROWS * D; i++)
        records[i] = 0.5 * sin(1.7 * (double)(i * i + salt)) + (i / D % 3 == 0 ? 0.1 : -0.05);
    for (size_t i = 0; i < POINTS * D; i++)
        points[i] = 0.55 * cos(2.3 * (double)(i * i + 3 * salt));
}

static double square_to(const double *place, size_t point)
{
    double square = 0;
    for (size_t j = 0; j < D; j++) square += pow(place[j] - points[point * D + j], 2);
    return square;
}

/* Where a record counts: at its nearest candidate where swaps are looked at. */
static const double *place_of(size_t record, bool swaps)
{
    const double *const place = records + record * D;
    size_t nearest = 0;
    for (size_t p = 1; p < POINTS; p++)
        if (square_to(place, p) < square_to(place, nearest)) nearest = p;
    return swaps ? points + nearest * D : place;
}

static double loss_of(const size_t *set, clo_center_loss loss, double reach, bool swaps)
{
    double total = 0;
    for (size_t i = 0; i < ROWS; i++) {
        double nearest = reach * reach;
        for (size_t c = 0; c < K; c++)
            nearest = fmin(nearest, square_to(place_of(i, swaps), set[c]));
        total += loss == CLO_LOSS_SQUARED ? nearest : sqrt(nearest);
    }
    return total;
}

typedef struct asking {
    clo_line line;
    clo_meter meter;
    clo_context context;
} asking;

static void start(asking *a, clo_center_choice how)
{
    const clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    clo_error err;
    *a = (asking){ .meter = { .count = 1 } };
    assert_ok(clo_i_plan_choose_centers(&domain, &how, 1e6, 9, "", &a->line, &err), err);
    a->meter.lines = &a->line;
    a->context = (clo_context){ .rng = seeded("choose"),
                                .comm = clo_i_comm_self(),
                                .threads = 2,
                                .block_rows = 41,
                                .progress_to = 1,
                                .meter = &a->meter };
    assert_ok(clo_workspace_new(1 << 20, &a->context.workspace, &err), err);
}

static void stop(asking *a)
{
    clo_workspace_free(a->context.workspace);
    clo_rng_free(a->context.rng);
}

static double best_by_search(const size_t *set, clo_center_loss loss, double reach)
{
    double best = INFINITY;
    for (size_t place = 0; place < K; place++)
        for (size_t y = 0; y < POINTS; y++) {
            size_t other[K];
            memcpy(other, set, sizeof other);
            other[place] = y;
            best = fmin(best, loss_of(other, loss, reach, true));
        }
    return best;
}

static void the_best_swap_is_found_without_trying_each(void **state)
{
    const clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    clo_error err;
    (void)state;
    for (unsigned salt = 0; salt < 8; salt++) {
        const clo_center_loss loss = salt % 2 ? CLO_LOSS_SQUARED : CLO_LOSS_DISTANCE;
        const double reach = salt % 4 < 2 ? 2 : 0.6;
        const clo_candidates all = { points, POINTS };
        size_t set[K] = { salt % POINTS, salt % POINTS, 4 };
        asking a;
        fill(salt);
        clo_bounded *const data = bounded_from(records, ROWS, &domain);
        start(&a, (clo_center_choice){ POINTS + 1, K, 0, loss, reach });
        for (int step = 0; step < 4; step++) {
            const double best = best_by_search(set, loss, reach);
            assert_ok(clo_i_ask_swaps(&a.context, 0, data, &all, 1, 1, set, &err), err);
            assert_relatively_close(loss_of(set, loss, reach, true), best, 1e-4);
        }
        stop(&a);
        clo_bounded_free(data);
    }
}

/* A ring of as many sets as are kept; a plan's number of steps is not exceeded. */
static void several_steps_of_one_ask_are_charged_and_kept(void **state)
{
    enum { STEPS = 5, KEPT = 3 };
    const clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    const clo_candidates all = { points, POINTS };
    const clo_center_choice how = { POINTS, K, 0, CLO_LOSS_DISTANCE, 2 };
    size_t one[STEPS + 1][K] = { { 2, 2, 2 } }, ring[KEPT * K] = { 2, 2, 2 };
    clo_error err;
    asking a;
    (void)state;
    fill(1);
    clo_bounded *const data = bounded_from(records, ROWS, &domain);
    for (size_t step = 0; step < STEPS; step++) { /* a start each: the meter allows 9 in all */
        memcpy(one[step + 1], one[step], sizeof one[step]);
        start(&a, how);
        assert_ok(clo_i_ask_swaps(&a.context, 0, data, &all, 1, 1, one[step + 1], &err), err);
        stop(&a);
    }
    start(&a, how);
    assert_ok(clo_i_ask_swaps(&a.context, 0, data, &all, STEPS, KEPT, ring, &err), err);
    assert_int_equal(a.meter.asked[0], STEPS);
    for (size_t step = STEPS - KEPT; step < STEPS; step++)
        assert_memory_equal(ring + step % KEPT * K, one[step + 1], sizeof one[step]);
    assert_fails(clo_i_ask_swaps(&a.context, 0, data, &all, 9 - STEPS + 1, 1, ring, &err),
                 CLO_INTERNAL, err, "plan");
    stop(&a);
    clo_bounded_free(data);
}

static void one_centre_is_swapped_too(void **state)
{
    const clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    const clo_candidates all = { points, POINTS };
    clo_error err;
    size_t set[1] = { 0 };
    double best = INFINITY, found = 0;
    asking a;
    (void)state;
    fill(5);
    clo_bounded *const data = bounded_from(records, ROWS, &domain);
    start(&a, (clo_center_choice){ POINTS, 1, 0, CLO_LOSS_SQUARED, 2 });
    assert_ok(clo_i_ask_swaps(&a.context, 0, data, &all, 1, 1, set, &err), err);
    for (size_t y = 0; y < POINTS; y++) {
        const double loss = loss_of((size_t[]){ y, y, y }, CLO_LOSS_SQUARED, 2, true);
        best = fmin(best, loss);
        if (y == set[0]) found = loss;
    }
    assert_relatively_close(found, best, 1e-4);
    stop(&a);
    clo_bounded_free(data);
}

static void the_best_set_is_found(void **state)
{
    const clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    const clo_candidates all = { points, POINTS };
    const size_t sets[SETS * K] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 4, 8, 1, 1, 1 };
    clo_error err;
    (void)state;
    for (unsigned salt = 0; salt < 6; salt++) {
        const clo_center_loss loss = salt % 2 ? CLO_LOSS_SQUARED : CLO_LOSS_DISTANCE;
        size_t best = 0, chosen = 0;
        asking a;
        fill(salt);
        clo_bounded *const data = bounded_from(records, ROWS, &domain);
        for (size_t s = 1; s < SETS; s++)
            if (loss_of(sets + s * K, loss, 2, false) < loss_of(sets + best * K, loss, 2, false))
                best = s;
        start(&a, (clo_center_choice){ POINTS, K, SETS, loss, 2 });
        assert_ok(clo_i_ask_best_set(&a.context, 0, data, &all, sets, &chosen, &err), err);
        assert_int_equal(chosen, best);
        assert_fails(clo_i_ask_swaps(&a.context, 0, data, &all, 1, 1, &chosen, &err), CLO_INTERNAL,
                     err, "not those of the plan");
        stop(&a);
        clo_bounded_free(data);
    }
}

/* choose_centers.T1: the range of the losses, W a record, and half of it under add-remove. */
static void the_planned_sensitivity_is_half_the_range(void **state)
{
    const clo_center_choice how = { POINTS, K, 0, CLO_LOSS_SQUARED, 2 };
    clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    clo_error err;
    clo_line line;
    (void)state;
    assert_ok(clo_i_plan_choose_centers(&domain, &how, 1, 1, "", &line, &err), err);
    assert_int_equal(line.count_unit, 1 << 20);
    assert_int_equal(line.sensitivity, 1 << 19);
    domain.relation = CLO_REPLACE;
    domain.rows_per_unit = 1 << 20;
    domain.unit = "person";
    assert_ok(clo_i_plan_choose_centers(&domain, &how, 1, 1, "", &line, &err), err);
    assert_int_equal(line.count_unit, 1 << 11);
    assert_int_equal(line.sensitivity, UINT64_C(1) << 31);
    assert_int_equal(line.event.kind, CLO_EVENT_EXPONENTIAL);
    assert_fails(clo_i_plan_choose_centers(&domain, &(clo_center_choice){ 0, K, 0, 1, 2 }, 1, 1, "",
                                           &line, &err),
                 CLO_ARGUMENT, err, "candidates");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_swap_is_found_without_trying_each),
        cmocka_unit_test(several_steps_of_one_ask_are_charged_and_kept),
        cmocka_unit_test(one_centre_is_swapped_too),
        cmocka_unit_test(the_best_set_is_found),
        cmocka_unit_test(the_planned_sensitivity_is_half_the_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
