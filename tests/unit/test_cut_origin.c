/*
 * test_cut_origin.c - what is cut from a release is about the same data in the same units, says
 * which release, ledger and charge it comes from, signs for nothing, and tells its numbers with the
 * digits that noise leaves, within what is publicly known (kmeans_density.T2, public_fit.T1 to T3).
 */
#include "pipeline.h"
#include "domain/domain.h"
#include "release/public_fit.h"
#include "release/release.h"
#include <cloister/cut.h>
#include <math.h>

enum { D = 3, K = 4, ROWS = 3000, CUT = 3 };

/* A run about K heaps in the unit ball, once. */
static text file;

static int run_once(void **state)
{
    static double values[ROWS * D];
    const clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    clo_plan *const plan = plan_for("kmeans/density", "clusters=4", &domain, 2, 1e-6);
    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < D; j++)
            values[i * D + j] = (i % K == j ? 0.7 : -0.25) + 0.05 * sin((double)(i * D + j) * 1.3);
    clo_bounded *const data = bounded_from(values, ROWS, &domain);
    clo_release *const release = run_seeded(plan, data, "origin", NULL);
    assert_true(release->answer_count > 3);
    file = json_of(release);
    clo_release_free(release);
    clo_bounded_free(data);
    clo_plan_free(plan);
    return 0;
}

static int forget(void **state)
{
    (void)state;
    free(file.bytes);
    return 0;
}

static clo_release *origin(void)
{
    clo_release *release = NULL;
    clo_error err;
    assert_ok(clo_release_parse(file.bytes, file.length, &release, &err), err);
    return release;
}

static clo_release *cut(const clo_release *from)
{
    clo_cut_options options = clo_cut_options_default();
    clo_release *out = NULL;
    clo_error err;
    options.clusters = CUT;
    assert_ok(clo_release_cut(from, &options, &out, &err), err);
    return out;
}

static clo_array found(const clo_release *release, const char *name)
{
    clo_array array;
    if (!clo_release_find(release, name, &array)) fail_msg("there is no %s", name);
    return array;
}

/* ---- the units of the data ------------------------------------------------------------------- */

/* Centres of the other one are `middle + unit * those of the ball`, but for digits that noise has
 * hidden; and their uncertainty is in balls of that radius. */
static void is_moved(const clo_release *ball, const clo_release *other, const double *middle,
                     const double *unit, double radius)
{
    const clo_array here = found(ball, "centers"), there = found(other, "centers");
    const clo_array doubt = found(ball, "uncertainty"), doubts = found(other, "uncertainty");
    assert_int_equal(there.shape[0], CUT);
    for (size_t e = 0; e < CUT * D; e++) {
        const double wanted = middle[e % D] + unit[e % D] * here.data[e];
        const double digits = unit[e % D] * doubt.data[e / D] / 20;
        assert_true(fabs(there.data[e] - wanted) <= digits);
    }
    for (size_t c = 0; c < CUT; c++)
        assert_true(fabs(doubts.data[c] / (radius * doubt.data[c]) - 1) < 0.02);
}

/* The answers are about the ball; what it is of the data stands among the facts, or was learnt. */
static void a_cut_is_in_the_units_of_its_release(void **state)
{
    static const double center[D] = { 5, -3, 40 }, none[D] = { 0 }, ones[D] = { 1, 1, 1 };
    static const double lower[D] = { -1, 0, 10 }, upper[D] = { 3, 10, 11 };
    const double wide[D] = { 7, 7, 7 };
    clo_release *const plain = origin(), *const in_ball = cut(plain);
    clo_error err;
    (void)state;
    is_moved(in_ball, in_ball, none, ones, 1);
    for (int learnt = 0; learnt < 2; learnt++) {
        clo_release *const moved = origin();
        if (learnt) {
            const double radius = 7;
            assert_ok(clo_i_release_put(moved, "learnt_norm", &radius, 1, (size_t[]){ 1 }, &err),
                      err);
            assert_ok(clo_i_release_put(moved, "learnt_center", center, 1, (size_t[]){ D }, &err),
                      err);
        } else {
            moved->facts.norm = 7;
            assert_ok(clo_i_alloc(D, sizeof(double), &moved->facts.center, &err), err);
            memcpy(moved->facts.center, center, sizeof center);
        }
        clo_release *const other = cut(moved);
        is_moved(in_ball, other, center, wide, 7);
        if (learnt) { /* without these nobody could cut again */
            assert_true(found(other, "learnt_norm").data[0] == 7);
            assert_memory_equal(found(other, "learnt_center").data, center, sizeof center);
        }
        clo_release_free(other);
        clo_release_free(moved);
    }
    clo_release *const bounded = origin();
    double middle[D], unit[D];
    bounded->facts.norm = 0.9;
    for (size_t j = 0; j < D; j++) {
        middle[j] = (lower[j] + upper[j]) / 2;
        unit[j] = 0.9 * (upper[j] - lower[j]) / 2;
    }
    assert_ok(clo_i_alloc(D, sizeof(double), &bounded->facts.lower, &err), err);
    assert_ok(clo_i_alloc(D, sizeof(double), &bounded->facts.upper, &err), err);
    memcpy(bounded->facts.lower, lower, sizeof lower);
    memcpy(bounded->facts.upper, upper, sizeof upper);
    clo_release *const other = cut(bounded);
    is_moved(in_ball, other, middle, unit, 0.9);
    clo_release_free(other);
    clo_release_free(bounded);
    clo_release_free(in_ball);
    clo_release_free(plain);
}

/* ---- what is publicly known ------------------------------------------------------------------ */

static void a_cut_stays_within_bounds_and_rows(void **state)
{
    static const double lower[D] = { -1, -1, -1 }, upper[D] = { 1, 1, 1 };
    clo_release *const from = origin();
    clo_error err;
    size_t at_the_edge = 0;
    double all = 0;
    (void)state;
    from->facts.relation = CLO_REPLACE;
    from->facts.rows = ROWS / 2; /* of which there seem to be twice as many */
    from->facts.norm = 2;        /* centres at 1.4 half widths */
    assert_ok(clo_i_alloc(D, sizeof(double), &from->facts.lower, &err), err);
    assert_ok(clo_i_alloc(D, sizeof(double), &from->facts.upper, &err), err);
    memcpy(from->facts.lower, lower, sizeof lower);
    memcpy(from->facts.upper, upper, sizeof upper);
    clo_release *const out = cut(from);
    const clo_array centers = found(out, "centers"), sizes = found(out, "sizes");
    for (size_t e = 0; e < CUT * D; e++) {
        assert_true(centers.data[e] >= -1 && centers.data[e] <= 1);
        at_the_edge += centers.data[e] > 0.99;
    }
    assert_true(at_the_edge >= 1);
    for (size_t c = 0; c < CUT; c++) all += sizes.data[c];
    assert_true(all <= ROWS / 2 + 0.01);
    clo_release_free(out);
    clo_release_free(from);
}

/* Every number has the digits of its noise, and no more: cut again it is the same. */
static void a_cut_has_the_digits_that_noise_leaves(void **state)
{
    clo_release *const from = origin(), *const out = cut(from);
    const clo_i_kept_answer *const last = &from->answers[from->answer_count - 1];
    const clo_array centers = found(out, "centers"), sizes = found(out, "sizes");
    const clo_array doubts = found(out, "uncertainty");
    (void)state;
    assert_string_equal(last->kind, "cells");
    assert_true(last->noise[2] < last->noise[1] / 1.05 || last->noise[2] > last->noise[1] * 1.05);
    for (size_t c = 0; c < CUT; c++) {
        const double each = doubts.data[c] / sqrt(D), size = sizes.data[c];
        assert_true(size > 0 && clo_i_cut_digits(size, last->noise[2], 0) == size);
        assert_true(clo_i_cut_digits(doubts.data[c], doubts.data[c], 0) == doubts.data[c]);
        for (size_t j = 0; j < D; j++) {
            const double x = centers.data[c * D + j];
            assert_true(x == clo_i_cut_digits(x, each * 1.01, 0) ||
                        x == clo_i_cut_digits(x, each * 0.99, 0));
        }
    }
    /* With so much noise that it shows: sizes by the noise of sizes, not by that of squares. */
    clo_release *const noisy = origin();
    clo_i_kept_answer *const answer = &noisy->answers[noisy->answer_count - 1];
    answer->noise[2] = 300;
    answer->noise[1] = 1e-3;
    clo_release *const coarse = cut(noisy);
    const clo_array whole = found(coarse, "sizes");
    for (size_t c = 0; c < CUT; c++)
        assert_true(whole.data[c] == round(whole.data[c])); /* two digits below hundreds */
    clo_release_free(coarse);
    clo_release_free(noisy);
    clo_release_free(out);
    clo_release_free(from);
}

/* ---- where it comes from --------------------------------------------------------------------- */

static void a_cut_names_the_release_ledger_and_charge_that_paid(void **state)
{
    clo_release *const from = origin();
    char digest[CLO_DIGEST_SIZE];
    clo_error err;
    clo_certificate certificate = { .struct_size = sizeof certificate };
    (void)state;
    from->facts.metered = from->facts.is_private = true;
    from->certified = (clo_i_certified){ .there = true,
                                         .ledger = "00112233445566778899aabbccddeeff",
                                         .charge = 41,
                                         .dataset = "people",
                                         .program = "cloister",
                                         .seal = CLO_SEAL_WHOLE };
    memset(from->certified.values, '1', CLO_DIGEST_SIZE - 1);
    memset(from->certified.public_key, '2', sizeof from->certified.public_key - 1);
    assert_ok(clo_release_digest(from, digest, &err), err);
    clo_release *const one = cut(from), *const two = cut(one);
    const clo_release *const both[] = { one, two };
    for (size_t i = 0; i < 2; i++) { /* what is cut from a cut has the same origin */
        const clo_i_derived *const d = &both[i]->derived;
        assert_true(d->there);
        assert_string_equal(d->how, "cut");
        assert_string_equal(d->release, digest);
        assert_string_equal(d->ledger, from->certified.ledger);
        assert_int_equal(d->charge, 41);
        assert_string_equal(clo_release_cut_from(both[i]), digest);
        assert_false(clo_release_certificate(both[i], &certificate));
        assert_int_equal(clo_release_seal(both[i]), CLO_SEAL_NONE);
        const char *const statement = clo_release_statement(both[i]);
        char said[17];
        memcpy(said, digest, 16), said[16] = 0;
        assert_non_null(strstr(statement, said));
        assert_non_null(strstr(statement, from->facts.statement)); /* what both cost */
        assert_int_equal(both[i]->facts.query_count, from->facts.query_count);
        assert_true(clo_release_loss(both[i]).epsilon == clo_release_loss(from).epsilon);
    }
    clo_release_free(one);
    clo_release_free(two);
    clo_release_free(from);
}

static const char *parameter(const clo_release *release, const char *name)
{
    for (size_t i = 0; i < release->facts.parameter_count; i++)
        if (strcmp(release->facts.parameter_names[i], name) == 0)
            return release->facts.parameter_values[i];
    fail_msg("there is no parameter %s", name);
    return NULL;
}

static void a_cut_says_what_was_asked_for(void **state)
{
    clo_cut_options options = clo_cut_options_default();
    clo_release *const from = origin(), *const three = cut(from);
    clo_release *chosen = NULL;
    clo_error err;
    (void)state;
    assert_string_equal(parameter(three, "clusters"), "3");
    assert_string_equal(parameter(three, "choose"), "\"given\"");
    options.clusters_at_most = 6;
    options.explain = 0.25;
    options.smallest = 10;
    assert_ok(clo_release_cut(from, &options, &chosen, &err), err);
    assert_string_equal(parameter(chosen, "clusters"), "6");
    assert_string_equal(parameter(chosen, "choose"), "\"elbow\"");
    assert_string_equal(parameter(chosen, "explain"), "0.25");
    assert_string_equal(parameter(chosen, "smallest"), "10");
    clo_release_free(chosen);
    clo_release_free(three);
    clo_release_free(from);
}

/* ---- what is no release of its answers ------------------------------------------------------- */

static void refuse(const clo_release *release, const char *message)
{
    clo_cut_options options = clo_cut_options_default();
    clo_release *out = NULL;
    clo_error err;
    options.clusters = CUT;
    if (clo_release_cut(release, &options, &out, &err) == CLO_OK)
        fail_msg("it is cut, and not refused: %s", message);
    if (!strstr(err.message, message)) fail_msg("%s", err.message);
}

static void answers_that_do_not_fit_are_not_cut(void **state)
{
    static const char fit[] = "do not fit each other";
    (void)state;
    for (int what = 0; what < 8; what++) {
        clo_release *const release = origin();
        clo_i_kept_answer *const a = &release->answers[release->answer_count - 1];
        assert_string_equal(a->kind, "cells");
        const size_t each = D + 2, place = a->groups - 1;
        if (what == 0) a->cols++;
        if (what == 1) a->asked[place * each + D] = 0;     /* a width */
        if (what == 2) a->asked[place * each + D + 1] = 0; /* a reach, of the last place */
        if (what == 3) a->noise_count = 1;
        if (what == 4) a->noise[a->noise_count - 1] = 0;
        if (what == 5) a->asked[place * each] = INT64_C(1) << 40;
        if (what == 6) a->answered[a->answered_count - 1] = INT64_C(1) << 60;
        if (what == 7) release->certified.seal = CLO_SEAL_BROKEN;
        refuse(release, what == 7 ? "was changed after it was signed" : fit);
        clo_release_free(release);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cut_is_in_the_units_of_its_release),
        cmocka_unit_test(a_cut_stays_within_bounds_and_rows),
        cmocka_unit_test(a_cut_has_the_digits_that_noise_leaves),
        cmocka_unit_test(a_cut_names_the_release_ledger_and_charge_that_paid),
        cmocka_unit_test(a_cut_says_what_was_asked_for),
        cmocka_unit_test(answers_that_do_not_fit_are_not_cut),
    };
    return cmocka_run_group_tests(tests, run_once, forget);
}
