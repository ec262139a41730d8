/* clo_generate_from_release: rows with the weights, points, subspaces and energies that a release
 * tells, inside the public domain. */
#include "pipeline.h"
#include "made_release.h"

enum { ROWS = 40000 };
static double records[ROWS * 3];
static uint32_t labels[ROWS];

static void draw(const clo_release *release, double noise)
{
    clo_error err;
    clo_rng *const rng = seeded("from a release");
    assert_ok(clo_generate_from_release(release, ROWS, noise, rng, records, labels, &err), err);
    clo_rng_free(rng);
}

static void centres_get_their_weights_and_the_noise(void **state)
{
    const double centers[] = { 1, 0, -1, 2 }, weights[] = { 300, 100 };
    clo_release *const release = made_release("kmeans", 2, 10, 0);
    double first = 0, mean = 0, square = 0;
    (void)state;
    put(release, "centers", centers, 2, 2, 2, 0);
    put(release, "sizes", weights, 1, 2, 0, 0);
    draw(release, 0);
    for (size_t i = 0; i < ROWS; i++)
        assert_memory_equal(records + 2 * i, centers + 2 * labels[i], 2 * sizeof(double));
    draw(release, 0.5);
    for (size_t i = 0; i < ROWS; i++) {
        if (labels[i] != 0) continue;
        first++;
        mean += records[2 * i] - 1;
        square += (records[2 * i] - 1) * (records[2 * i] - 1);
    }
    assert_true(fabs(first / ROWS - 0.75) < 0.01);
    assert_true(fabs(mean / first) < 0.02);
    assert_true(fabs(sqrt(square / first) - 0.5) < 0.01);
    clo_release_free(release);
}

/* Noise may leave nothing. */
static void clusters_without_any_weight_share_evenly(void **state)
{
    const double centers[] = { 1, 0, -1, 2 }, weights[] = { 0, 0 };
    clo_release *const release = made_release("kmeans", 2, 10, 0);
    double first = 0;
    (void)state;
    put(release, "centers", centers, 2, 2, 2, 0);
    put(release, "sizes", weights, 1, 2, 0, 0);
    draw(release, 0);
    for (size_t i = 0; i < ROWS; i++) first += labels[i] == 0;
    assert_true(fabs(first / ROWS - 0.5) < 0.01);
    clo_release_free(release);
}

/* A linear fit of n public rows: second moments are energies over the cluster's share of n. */
static void subspaces_get_their_energies(void **state)
{
    const double bases[] = { 1, 0, 0, 0, 0.6, 0.8 }, weights[] = { 60, 30 };
    const double energies[] = { 50, 20 }, residuals[] = { 10, 10 };
    double count = 0, along = 0, off = 0;
    clo_release *const release = made_release("subspaces", 3, 100, 180);
    (void)state;
    put(release, "bases", bases, 3, 2, 3, 1);
    put(release, "sizes", weights, 1, 2, 0, 0);
    put(release, "energies", energies, 2, 2, 1, 0);
    put(release, "residuals", residuals, 1, 2, 0, 0);
    draw(release, 0);
    for (size_t i = 0; i < ROWS; i++) {
        const double *const x = records + 3 * i;
        if (labels[i] != 0) continue;
        count++;
        along += x[0] * x[0];
        off += x[1] * x[1] + x[2] * x[2];
        assert_true(fabs(fabs(x[0]) - sqrt(50.0 / 120)) < 1e-9); /* on the ellipsoid */
    }
    assert_true(fabs(count / ROWS - 2.0 / 3) < 0.01);
    assert_true(fabs(along / count - 50.0 / 120) < 1e-9);
    assert_true(fabs(off / count - 10.0 / 120) < 0.003);
    clo_release_free(release);
}

static void without_public_rows_the_norm_sets_the_scale(void **state)
{
    const double basis[] = { 1, 0, 0, 1, 0, 0 }, energy[] = { 3, 1 };
    double square[2] = { 0, 0 };
    clo_release *const release = made_release("subspace", 3, 2, 0);
    (void)state;
    put(release, "basis", basis, 2, 3, 2, 0);
    put(release, "energy", energy, 1, 2, 0, 0);
    draw(release, 0);
    for (size_t i = 0; i < ROWS; i++) {
        const double *const x = records + 3 * i;
        assert_true(x[2] == 0);
        assert_true(x[0] * x[0] + x[1] * x[1] <= 4 * (1 + 1e-12)); /* in the domain */
        for (size_t j = 0; j < 2; j++) square[j] += x[j] * x[j];
    }
    assert_true(square[0] / square[1] > 2 && square[0] / square[1] < 3.2);
    assert_true((square[0] + square[1]) / ROWS > 2.5);
    clo_release_free(release);
}

static void records_stay_within_bounds(void **state)
{
    const double lower[] = { 0, -10 }, upper[] = { 1, 10 }, centers[] = { 0.95, 0 };
    clo_release *const release = made_release("kmeans", 2, sqrt(2), 0);
    (void)state;
    put(release, "centers", centers, 2, 1, 2, 0);
    put_bounds(release, lower, upper);
    draw(release, 5);
    for (size_t i = 0; i < ROWS; i++) {
        assert_true(records[2 * i] >= 0 && records[2 * i] <= 1);
        assert_true(fabs(records[2 * i + 1]) <= 10);
    }
    clo_release_free(release);
}

/* What the whole way gives: a fit, and rows that have its cost again. */
static void a_fit_is_drawn_as_it_was_found(void **state)
{
    clo_error err;
    clo_subspace_model model = clo_subspace_model_default();
    clo_domain domain = ball(3, 1, CLO_REPLACE);
    clo_rng *const rng = seeded("truth");
    clo_array bases;
    (void)state;
    model.rows = ROWS;
    model.cols = 3;
    model.clusters = 2;
    model.dim = 1;
    model.noise = 0.02;
    domain.rows = ROWS;
    assert_ok(clo_generate_subspaces(&model, rng, records, NULL, NULL, &err), err);
    clo_bounded *const data = bounded_from(records, ROWS, &domain);
    clo_plan *const plan = plan_for("subspaces/sulq", "clusters=2 dim=1", &domain, 5, 1e-6);
    clo_release *const release = run_seeded(plan, data, "fit", NULL);
    assert_true(clo_release_find(release, "bases", &bases));
    draw(release, 0);
    double off = 0, whole = 0;
    for (size_t i = 0; i < ROWS; i++) {
        const double *const x = records + 3 * i, *const u = bases.data + 3 * labels[i];
        const double square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
        const double along = x[0] * u[0] + x[1] * u[1] + x[2] * u[2];
        off += square - along * along;
        whole += square;
    }
    assert_true(fabs(whole / ROWS - 1) < 0.05);
    assert_true(off / ROWS < 0.003 && off / ROWS > 0.0002); /* 2 * .02^2 = .0008 */
    clo_release_free(release);
    clo_plan_free(plan);
    clo_bounded_free(data);
    clo_rng_free(rng);
}

static void refuses(clo_release *release, clo_status expected)
{
    clo_error err;
    clo_rng *const rng = seeded("refused");
    assert_int_equal(clo_generate_from_release(release, 5, 0, rng, records, labels, &err),
                     expected);
    clo_rng_free(rng);
    clo_release_free(release);
}

/* A release of subspaces/moments or gibbs: the records of wang2015's model, as long as the norm. */
static void subspaces_without_energies_are_filled_evenly(void **state)
{
    const double basis[6] = { 1, 0, 0, 1, 0, 0 };
    static double rows[500 * 3];
    clo_error err;
    double first = 0;
    (void)state;
    clo_release *const release = made_release("subspaces", 3, 2, 0);
    put(release, "bases", basis, 3, 1, 3, 2);
    clo_rng *const rng = seeded("evenly");
    assert_ok(clo_generate_from_release(release, 500, 0, rng, rows, NULL, &err), err);
    for (size_t i = 0; i < 500; i++) {
        const double *const x = rows + i * 3;
        assert_close(x[0] * x[0] + x[1] * x[1], 4, 1e-9);
        assert_close(x[2], 0, 1e-12);
        first += x[0] * x[0] / 500;
    }
    assert_true(fabs(first - 2) < .3);
    clo_rng_free(rng);
    clo_release_free(release);
}

static void releases_that_do_not_fit_are_refused(void **state)
{
    const double numbers[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, bad[3] = { NAN, 0, 0 };
    clo_release *release;
    (void)state;
    refuses(made_release("bounds", 3, 1, 0), CLO_UNSUPPORTED);
    refuses(made_release("kmeans", 3, 1, 0), CLO_FORMAT);
    put(release = made_release("kmeans", 3, 1, 0), "centers", bad, 2, 1, 3, 0);
    refuses(release, CLO_FORMAT);
    put(release = made_release("kmeans", 2, 1, 0), "centers", numbers, 2, 1, 3, 0);
    refuses(release, CLO_FORMAT);
    put(release = made_release("kmeans", 3, 1, 0), "centers", numbers, 2, 1, 3, 0);
    put(release, "sizes", numbers, 1, 2, 0, 0);
    refuses(release, CLO_FORMAT);
    put(release = made_release("kmeans", 3, 1, 0), "centers", numbers, 2, 1, 3, 0);
    put(release, "sizes", (double[]){ -1 }, 1, 1, 0, 0);
    refuses(release, CLO_FORMAT);
    put(release = made_release("subspaces", 3, 1, 0), "bases", numbers, 3, 1, 3, 1);
    put(release, "energies", numbers, 2, 1, 2, 0);
    refuses(release, CLO_FORMAT);
    put(release = made_release("subspaces", 3, 1, 0), "bases", numbers, 3, 1, 3, 1);
    put(release, "offsets", numbers, 2, 1, 3, 0); /* affine, and no word about how far it reaches */
    refuses(release, CLO_UNSUPPORTED);
    put(release = made_release("subspace", 3, 1, 0), "basis", numbers, 2, 3, 1, 0);
    put(release, "energy", numbers, 1, 2, 0, 0);
    refuses(release, CLO_FORMAT);
}

/* A stated spread is in units of half the width of each column. */
static void centres_get_the_spread_that_is_stated(void **state)
{
    const double centers[] = { 50, 0.5 }, lower[] = { 0, 0 }, upper[] = { 100, 1 };
    clo_release *const release = made_release("kmeans", 2, sqrt(2), 0);
    clo_rng *const rng = seeded("spread");
    clo_draw_options how = clo_draw_options_default();
    double square[2] = { 0, 0 };
    clo_error err;
    (void)state;
    put(release, "centers", centers, 2, 1, 2, 0);
    put_bounds(release, lower, upper);
    assert_int_equal(clo_generate_like(release, ROWS, &how, rng, records, labels, &err),
                     CLO_UNSUPPORTED);
    how.spread = 0.1;
    assert_ok(clo_generate_like(release, ROWS, &how, rng, records, labels, &err), err);
    for (size_t i = 0; i < 2 * ROWS; i++)
        square[i % 2] += (records[i] - centers[i % 2]) * (records[i] - centers[i % 2]);
    assert_true(fabs(sqrt(square[0] / ROWS) - 5) < 0.1);
    assert_true(fabs(sqrt(square[1] / ROWS) - 0.05) < 0.001);
    how.spread = 0;
    assert_ok(clo_generate_like(release, 5, &how, rng, records, labels, &err), err);
    assert_true(records[0] == 50 && records[9] == 0.5);
    how.spread = NAN;
    assert_int_equal(clo_generate_like(release, 5, &how, rng, records, NULL, &err), CLO_ARGUMENT);
    clo_rng_free(rng);
    clo_release_free(release);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(centres_get_their_weights_and_the_noise),
        cmocka_unit_test(centres_get_the_spread_that_is_stated),
        cmocka_unit_test(clusters_without_any_weight_share_evenly),
        cmocka_unit_test(subspaces_get_their_energies),
        cmocka_unit_test(without_public_rows_the_norm_sets_the_scale),
        cmocka_unit_test(records_stay_within_bounds),
        cmocka_unit_test(a_fit_is_drawn_as_it_was_found),
        cmocka_unit_test(subspaces_without_energies_are_filled_evenly),
        cmocka_unit_test(releases_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
