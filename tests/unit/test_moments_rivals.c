/* Of several fits of a tensor, the one whose world would have answered a pass as it was answered: a
 * flat without records is found out, and flats that answers agree with are kept. */
#include "pipeline.h"
#include "mechanism/subspaces/moments_internal.h"

enum { C = 3, Q = 1, K = 2, THIN = K * C * Q, PASSES = 4 };

typedef struct fixture {
    clo_i_moments_plan plan;
    clo_i_moments_rivals rivals;
    clo_i_moments_state state;
    clo_workspace *space;
    clo_rng *rng;
} fixture;

/* A line with the fourth moments of so many records of length 1. */
static void set_line(double *factor, double x, double y, double z, double records)
{
    const double size = sqrt(sqrt(records)) / sqrt(x * x + y * y + z * z);
    factor[0] = size * x;
    factor[1] = size * y;
    factor[2] = size * z;
}

/* The truth: 500 records along each of two axes.  The rival, which the tensor likes a little
 * better: one line between them, and one along the third axis. */
static void set_up(fixture *f)
{
    clo_error err;
    *f = (fixture){ .plan = { .cols = C,
                              .clusters = K,
                              .dim = Q,
                              .rank = Q,
                              .seen = C,
                              .starts = 1,
                              .sharpen = PASSES,
                              .rows = 1000,
                              .share_sharpen = 0.5,
                              .unit = 10,
                              .cross_noise = 60,
                              .square_noise = 60,
                              .size_noise = 30 } };
    clo_i_moments_state *const s = &f->state;
    assert_ok(clo_workspace_new(1 << 16, &f->space, &err), err);
    assert_ok(clo_i_moments_take_rivals(&f->plan, f->space, &f->rivals, &err), err);
    f->rng = seeded("rivals");
    double **const arrays[] = { &s->model.factors, &s->bases,   &s->variance, &s->widths,
                                &s->cross,         &s->squares, &s->sizes,    &s->counts };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        assert_ok(clo_i_take(f->space, (PASSES + 1) * THIN, sizeof(double), arrays[i], &err), err);
    assert_ok(
        clo_i_take(f->space, clo_i_moments_scratch(&f->plan), sizeof(double), &s->scratch, &err),
        err);
    f->rivals.count = 2;
    set_line(f->rivals.models[0].factors, 1, 1, 0, 770);
    set_line(f->rivals.models[0].factors + C, 0, 0, 1, 230);
    set_line(f->rivals.models[1].factors, 1, 0, 0, 500);
    set_line(f->rivals.models[1].factors + C, 0, 1, 0, 500);
    f->rivals.against[1] = 2;
    memcpy(s->model.factors, f->rivals.models[0].factors, THIN * sizeof(double));
    assert_ok(clo_i_moments_bases(&f->plan, 0, &s->model, NULL, s->scratch, s->bases, &err), err);
    clo_i_moments_start_passes(&f->plan, 0, s);
}

static void tear_down(fixture *f)
{
    clo_rng_free(f->rng);
    clo_workspace_free(f->space);
}

static bool changes(fixture *f, uint64_t pass, double first, double second)
{
    bool changed = false;
    clo_error err;
    f->state.sizes[0] = first;
    f->state.sizes[1] = second;
    assert_ok(clo_i_moments_judge(&f->plan, pass, f->rng, &f->rivals, &f->state, &changed, &err),
              err);
    return changed;
}

/* All records are nearest to the line between the axes. */
static void a_flat_without_records_is_found_out(void **state)
{
    fixture f;
    (void)state;
    set_up(&f);
    assert_true(changes(&f, 0, 1000, 0));
    assert_int_equal(f.rivals.chosen, 1);
    assert_int_equal(f.state.first, 1);
    for (size_t l = 0; l < K; l++) {
        assert_true(fabs(f.state.bases[l * C + l]) > 0.999);
        assert_true(f.state.widths[K + l] == CLO_CROSS_WIDEST);
        assert_true(f.state.counts[l] == 0);
    }
    assert_memory_equal(f.state.model.factors, f.rivals.models[1].factors, THIN * sizeof(double));
    tear_down(&f);
}

static void flats_that_the_answers_agree_with_are_kept(void **state)
{
    fixture f;
    (void)state;
    set_up(&f);
    for (uint64_t pass = 0; pass < 2; pass++) {
        for (size_t l = 0; l < K; l++) f.state.widths[pass * K + l] = CLO_CROSS_WIDEST;
        assert_false(changes(&f, pass, 770, 230));
    }
    assert_int_equal(f.rivals.chosen, 0);
    assert_int_equal(f.state.first, 0);
    tear_down(&f);
}

/* Where the noise of the sizes is that of all records, nothing is found out. */
static void noise_does_not_change_flats(void **state)
{
    fixture f;
    (void)state;
    set_up(&f);
    f.plan.size_noise = 1000;
    f.plan.cross_noise = 2000;
    assert_false(changes(&f, 0, 1000, 0));
    tear_down(&f);
}

/* Which passes are asked for their word is a fact of the plan. */
static void the_first_half_of_the_passes_judges(void **state)
{
    fixture f;
    (void)state;
    set_up(&f);
    for (uint64_t pass = 0; pass < PASSES; pass++)
        assert_int_equal(clo_i_moments_judges(&f.plan, pass), pass < PASSES / 2);
    f.plan.rounds = 1;
    assert_false(clo_i_moments_judges(&f.plan, 0));
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flat_without_records_is_found_out),
        cmocka_unit_test(flats_that_the_answers_agree_with_are_kept),
        cmocka_unit_test(noise_does_not_change_flats),
        cmocka_unit_test(the_first_half_of_the_passes_judges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
