/* clo_release_center_noise: noise over sizes, in the units of each column, where the release tells
 * both; and nothing where it does not. */
#include "made_release.h"
#include <math.h>

static clo_release *of_sums(const char *query, const char *label)
{
    const double centers[] = { 50, 0.5, 20, 0.1 }, weights[] = { 100, 0 };
    const double lower[] = { 0, 0 }, upper[] = { 100, 1 };
    clo_release *const release = made_release("kmeans", 2, sqrt(2), 0);
    clo_facts *const facts = &release->facts;
    clo_error err;
    put(release, "centers", centers, 2, 2, 2, 0);
    put(release, "sizes", weights, 1, 2, 0, 0);
    put_bounds(release, lower, upper);
    assert_ok(clo_i_copy_text("lloyd", &facts->method, &err), err);
    assert_ok(clo_i_alloc(1, sizeof *facts->query_names, &facts->query_names, &err), err);
    assert_ok(clo_i_alloc(1, sizeof *facts->query_labels, &facts->query_labels, &err), err);
    assert_ok(clo_i_alloc(1, sizeof *facts->query_noise, &facts->query_noise, &err), err);
    assert_ok(clo_i_copy_text(query, &facts->query_names[0], &err), err);
    assert_ok(clo_i_copy_text(label, &facts->query_labels[0], &err), err);
    facts->query_noise[0] = 3;
    facts->query_count = 1;
    return release;
}

static const char sums[] = "sums and sizes of the clusters, one query per round";

static void noise_over_sizes_is_in_the_units_of_each_column(void **state)
{
    clo_release *const release = of_sums("gaussian_sum", sums);
    double noise[4];
    (void)state;
    assert_true(clo_release_center_noise(release, NULL));
    assert_true(clo_release_center_noise(release, noise));
    assert_true(fabs(noise[0] - 0.03 * 50) < 1e-15 && fabs(noise[1] - 0.03 * 0.5) < 1e-15);
    assert_true(isinf(noise[2]) && isinf(noise[3]));
    clo_release_free(release);
}

static void tells_nothing(clo_release *release)
{
    double noise[4] = { 7, 7, 7, 7 };
    assert_false(clo_release_center_noise(release, noise));
    assert_true(noise[0] == 7);
    clo_release_free(release);
}

static void releases_that_do_not_tell_say_so(void **state)
{
    clo_release *projected = of_sums("gaussian_sum", sums);
    (void)state;
    tells_nothing(of_sums("histogram", "how many records each cell has"));
    tells_nothing(of_sums("gaussian_sum", "sums and sizes of the cells"));
    projected->facts.seen_cols = 1;
    tells_nothing(projected);
    tells_nothing(made_release("subspace", 2, 1, 0));
    tells_nothing(made_release("kmeans", 2, 1, 0));
}

/* Of a frame and what was seen in it nothing is told; kmeans/tree looks at all columns after it. */
static void sums_in_a_frame_tell_nothing(void **state)
{
    (void)state;
    for (int tree = 0; tree < 2; tree++) {
        clo_release *const release = of_sums("gaussian_gram", "which way the records lie");
        clo_facts *const facts = &release->facts;
        double noise[4] = { 7, 7, 7, 7 };
        clo_error err;
        assert_ok(clo_i_resize(&facts->query_names, 1, 2, sizeof *facts->query_names, &err), err);
        assert_ok(clo_i_resize(&facts->query_labels, 1, 2, sizeof *facts->query_labels, &err), err);
        assert_ok(clo_i_resize(&facts->query_noise, 1, 2, sizeof *facts->query_noise, &err), err);
        assert_ok(clo_i_copy_text("gaussian_sum", &facts->query_names[1], &err), err);
        assert_ok(clo_i_copy_text(sums, &facts->query_labels[1], &err), err);
        facts->query_noise[1] = 3;
        facts->query_count = 2;
        if (tree) {
            clo_i_free(facts->method);
            facts->method = NULL;
            assert_ok(clo_i_copy_text("tree", &facts->method, &err), err);
        }
        assert_int_equal(clo_release_center_noise(release, noise), tree);
        assert_true(tree ? fabs(noise[0] - 0.03 * 50) < 1e-15 : noise[0] == 7);
        clo_release_free(release);
    }
}

/* A cut tells how far noise has moved a centre in all columns together. */
static void noise_of_a_cut_is_its_uncertainty(void **state)
{
    const double doubts[] = { 0.3, 0.02 }, root = sqrt(2);
    clo_release *const release = of_sums("gaussian_sum", sums);
    double noise[4];
    (void)state;
    release->derived.there = true;
    assert_false(clo_release_center_noise(release, noise)); /* it does not tell */
    put(release, "uncertainty", doubts, 1, 2, 0, 0);
    assert_true(clo_release_center_noise(release, noise));
    for (size_t e = 0; e < 4; e++)
        assert_true(fabs(noise[e] - doubts[e / 2] / root * (e % 2 ? 0.5 : 50)) < 1e-12);
    clo_release_free(release);
}

/* How wide a cluster was looked at: twice its spread where noise is next to none, once where it is
 * a third of a width, and never more or less. */
static void a_spread_is_told_by_how_wide_it_was_looked_at(void **state)
{
    static const double known[][2] = { { 0.3, 1 },    { 3, 1 },    { 0.03, 1.3 },
                                       { 3e-3, 1.6 }, { 1e-5, 2 }, { 1e-9, 2 } };
    const double radii[] = { 4, 1 }, sizes[] = { 1000, 10 };
    clo_release *const release =
        of_sums("local_sum", "local sums, squares and sizes of the clusters, one query per round");
    double spreads[2];
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_true(fabs(clo_i_widths_a_spread(known[i][0]) - known[i][1]) < 1e-12);
    assert_false(clo_i_release_spreads(release, spreads));
    put(release, "radii", radii, 1, 2, 0, 0);
    memcpy((double *)(uintptr_t)release->arrays[1].data, sizes, sizeof sizes);
    assert_true(clo_i_release_spreads(release, spreads));
    for (size_t c = 0; c < 2; c++) {
        const double noise = sqrt(2) * 3 / sizes[c];
        const double wide = fmin(fmax(1 + 0.3 * log10(0.3 / noise), 1), 2);
        assert_true(fabs(spreads[c] - radii[c] / sqrt(2) / wide) < 1e-12);
    }
    clo_release_free(release);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_over_sizes_is_in_the_units_of_each_column),
        cmocka_unit_test(releases_that_do_not_tell_say_so),
        cmocka_unit_test(sums_in_a_frame_tell_nothing),
        cmocka_unit_test(noise_of_a_cut_is_its_uncertainty),
        cmocka_unit_test(a_spread_is_told_by_how_wide_it_was_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
