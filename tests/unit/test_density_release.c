/*
 * test_density_release.c - a release of a density holds every answer of its run as it was told, in
 * whole steps of its own noise, with the noise that its plan says; and what it tells of its
 * clusters follows from the last of them (kmeans_density.T2).
 */
#include "found_centers.h"
#include "mechanism/common/density_run.h"
#include "plan/mechanism.h"
#include "query/local_gram.h"
#include "query/local_sum.h"
#include "query/look.h"
#include "release/release.h"
#include <math.h>

enum { D = 3, K = 4, MOST_TOLD = 128 };

/* ---- what is told ---------------------------------------------------------------------------- */

typedef struct told {
    char query[32];
    double *values;
    size_t count;
} told;

typedef struct listening {
    told each[MOST_TOLD];
    size_t count, at;
} listening;

static void hear(void *user, const char *query, const double *values, size_t count)
{
    listening *const l = user;
    assert_true(l->count < MOST_TOLD);
    told *const t = &l->each[l->count++];
    snprintf(t->query, sizeof t->query, "%s", query);
    t->count = count;
    t->values = malloc(count * sizeof *values);
    memcpy(t->values, values, count * sizeof *values);
}

static void forget(listening *l)
{
    for (size_t i = 0; i < l->count; i++) free(l->each[i].values);
}

static const told *next(listening *l, const char *query)
{
    if (l->at >= l->count || strcmp(l->each[l->at].query, query) != 0)
        fail_msg("answer %zu of the run is not one of %s", l->at, query);
    return &l->each[l->at++];
}

/* To the nearest step, of 1024 a deviation. */
static void is_kept(int64_t kept, double noise, double value)
{
    assert_true(fabs((double)kept / 1024 - value / noise) <= 0.5 / 1024 + 1e-9);
}

static void is_noise(const clo_i_kept_answer *a, size_t which, double noise)
{
    assert_true(which < a->noise_count);
    assert_true(fabs(a->noise[which] / noise - 1) < 1e-12);
}

/* ---- one answer ------------------------------------------------------------------------------ */

static void hold_sum(const clo_i_kept_answer *a, const clo_line *line, listening *l)
{
    const told *const t = next(l, "look");
    const double noise = clo_i_look_deviation(line);
    assert_true(t->count == D && a->answered_count == D && a->asked_count == D + 1);
    assert_int_equal(a->noise_count, 1);
    is_noise(a, 0, noise);
    for (size_t j = 0; j < D; j++) is_kept(a->answered[j], noise, t->values[j]);
}

static void hold_shells(const clo_i_kept_answer *a, const clo_line *line, listening *l)
{
    const told *const t = next(l, "look");
    const double noise = clo_i_look_shell_deviation(line);
    assert_true(t->count == CLO_LOOK_SHELLS && a->groups == CLO_LOOK_SHELLS);
    is_noise(a, 0, noise);
    for (size_t j = 0; j < t->count; j++) is_kept(a->answered[j], noise, t->values[j]);
}

static void hold_gram(const clo_i_kept_answer *a, const clo_line *line, listening *l)
{
    const told *const t = next(l, "local_gram");
    const double noise = clo_i_local_gram_deviation(line);
    size_t at = 0;
    assert_int_equal(t->count, D * D);
    assert_int_equal(a->answered_count, D * (D + 1) / 2);
    is_noise(a, 0, noise);
    for (size_t i = 0; i < D; i++)
        for (size_t j = i; j < D; j++)
            is_kept(a->answered[at++], noise, t->values[i * D + j] * (i == j ? 1 : sqrt(2)));
}

static void hold_cells(const clo_i_kept_answer *a, const clo_line *line, listening *l)
{
    size_t farther = 0;
    const told *const sums = next(l, "local_sum"), *const squares = next(l, "local_sum");
    const told *const sizes = next(l, "local_sum");
    const double noises[] = { clo_i_local_deviation(line), clo_i_local_square_deviation(line),
                              clo_i_local_size_deviation(line) };
    assert_true(sums->count == D * sizes->count && squares->count == sizes->count);
    assert_true(a->groups <= sizes->count && a->noise_count == 3);
    assert_int_equal(a->asked_count, a->groups * (D + 2));
    for (size_t i = 0; i < 3; i++) is_noise(a, i, noises[i]);
    for (size_t c = 0; c < a->groups; c++) {
        const int64_t *const own = a->answered + c * (D + 2), *const at = a->asked + c * (D + 2);
        const double wide = (double)at[D], reach = (double)at[D + 1];
        for (size_t j = 0; j < D; j++) is_kept(own[j], noises[0], sums->values[c * D + j]);
        is_kept(own[D], noises[1], squares->values[c]);
        is_kept(own[D + 1], noises[2], sizes->values[c]);
        assert_true(wide >= 1 && reach >= 1);
        farther += reach > 1.2 * wide; /* squares are cut farther out than sums */
    }
    assert_true(farther > 0);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static size_t line_of(const clo_plan *plan, const char *kind, size_t passed)
{
    const bool gram = plan->line_count == 4;
    if (strcmp(kind, "cells") != 0) return strcmp(kind, "gram") == 0;
    return passed < plan->lines[1 + gram].event.count ? 1 + gram : 2 + gram;
}

static void hold_all(const char *method, size_t rows)
{
    double truth[K * D];
    clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    double *const values = scattered_mixture(rows, D, K, 0.03, truth);
    clo_run_options options = clo_run_options_default();
    static listening l;
    size_t passed = 0, looks = 0;
    domain.rows = rows;
    l = (listening){ .count = 0 };
    clo_plan *const plan = plan_for(method, "clusters=4", &domain, 1, 1e-6);
    clo_bounded *const data = bounded_from(values, rows, &domain);
    options.answer = hear;
    options.user = &l;
    clo_release *const release = run_seeded(plan, data, "told", &options);
    const clo_i_kept_answer *last = NULL;
    for (size_t i = 0; i < release->answer_count; i++) {
        const clo_i_kept_answer *const a = &release->answers[i];
        const clo_line *const line = &plan->lines[line_of(plan, a->kind, passed)];
        assert_int_equal(a->cols, D);
        if (strcmp(a->kind, "sum") == 0) {
            hold_sum(a, line, &l);
            looks++;
            if (looks == 1) /* about the origin, as wide as the ball */
                for (size_t j = 0; j <= D; j++) assert_int_equal(a->asked[j], j < D ? 0 : 1 << 20);
        } else if (strcmp(a->kind, "shells") == 0) {
            hold_shells(a, line, &l);
            assert_memory_equal(a->asked, a[-1].asked, (D + 1) * sizeof *a->asked);
        } else if (strcmp(a->kind, "gram") == 0) {
            hold_gram(a, line, &l);
        } else {
            assert_string_equal(a->kind, "cells");
            hold_cells(a, line, &l);
            passed++;
            last = a;
        }
    }
    assert_int_equal(l.at, l.count); /* none is left out */
    assert_int_equal(looks, 3);
    assert_int_equal(passed, plan->lines[plan->line_count - 2].event.count +
                                 plan->lines[plan->line_count - 1].event.count);
    clo_array radii; /* as the clusters were looked at last */
    assert_true(clo_release_find(release, "radii", &radii));
    for (size_t c = 0; c < radii.shape[0]; c++)
        assert_true(fabs(ldexp((double)last->asked[c * (D + 2) + D], -20) / radii.data[c] - 1) <
                    0.01);
    forget(&l);
    clo_release_free(release);
    clo_bounded_free(data);
    clo_plan_free(plan);
    free(values);
}

static void a_release_holds_every_answer_as_it_was_told(void **state)
{
    (void)state;
    hold_all("kmeans/density", 6000); /* cells about random points */
    hold_all("kmeans/density", 500);  /* of a Gram matrix, in two passes or one */
    hold_all("kmeans/density", 300);
    hold_all("kmedian/density", 6000);
}

/* ---- what is said of the clusters ------------------------------------------------------------ */

/* Two deviations of the noise of the last ask, and not one, make a cluster that is told apart. */
static void clusters_within_the_noise_are_not_told_apart(void **state)
{
    static const double sizes_in_noise[K] = { 40, 2.01, 1.99, 0.5 };
    clo_domain domain = ball(D, 5, CLO_ADD_REMOVE);
    double places[K * D], sizes[K], squares[K] = { 0 }, widths[K], reaches[K];
    clo_release *release = NULL;
    clo_array apart, radii;
    clo_line line;
    clo_error err;
    (void)state;
    assert_ok(clo_i_plan_local_sum(&domain, K, CLO_EVENT_GAUSSIAN, 0.5, 1, "", &line, &err), err);
    for (size_t c = 0; c < K; c++) {
        sizes[c] = sizes_in_noise[c] * clo_i_local_size_deviation(&line);
        assert_int_equal(clo_i_local_stands_out(&line, sizes[c]), sizes_in_noise[c] > 2);
        widths[c] = 0.1 * (double)(c + 1);
        reaches[c] = 3 * widths[c];
        for (size_t j = 0; j < D; j++) places[c * D + j] = 0.1 * (double)c;
    }
    clo_density_groups groups = { .used = K,
                                  .places = places,
                                  .sizes = sizes,
                                  .squares = squares,
                                  .widths = widths,
                                  .reaches = reaches };
    assert_ok(clo_i_release_new(&release, &err), err);
    assert_ok(clo_i_density_release(&domain, &line, &groups, release, &err), err);
    assert_true(clo_release_find(release, "distinct_clusters", &apart));
    assert_true(apart.data[0] == 2);
    assert_true(clo_release_find(release, "radii", &radii));
    for (size_t c = 0; c < K; c++) /* in the units of the norm */
        assert_true(fabs(radii.data[c] - 5 * 0.1 * (double)(c + 1)) < 1e-3);
    clo_release_free(release);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_release_holds_every_answer_as_it_was_told),
        cmocka_unit_test(clusters_within_the_noise_are_not_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
