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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_over_sizes_is_in_the_units_of_each_column),
        cmocka_unit_test(releases_that_do_not_tell_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
