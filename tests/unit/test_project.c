/* Records seen in the coordinates of a released subspace (bound.T4), and what is made there comes
 * back in the data's own columns. */
#include "pipeline.h"
#include "bound/bound.h"
#include "plan/mechanism.h"
#include <string.h>

enum { D = 5, R = 2, ROWS = 400 };

/* Two directions that lie askew, and a point. */
static const double frame[D * R] = { 0.6, 0, 0, 0.8, 0.8, 0, 0, -0.6, 0, 0 };
static const double origin[D] = { 1, 2, 3, 4, 5 };

/* The frame of all tests that do not say otherwise. */
static clo_frame *askew;

static int make_frame(void **state)
{
    const clo_matrix basis = { frame, D, R, R };
    (void)state;
    return clo_frame_new(basis, origin, &askew, NULL);
}

static int free_frame(void **state)
{
    (void)state;
    clo_frame_free(askew);
    return 0;
}

static clo_domain plane(double norm)
{
    clo_domain domain = ball(1, norm, CLO_REPLACE);
    clo_error err;
    assert_ok(clo_domain_project(&domain, askew, &err), err);
    assert_int_equal(domain.cols, R);
    return domain;
}

/* The domain, seen in a released subspace; the frame is the caller's to free. */
static clo_frame *project(clo_domain *domain, const clo_release *subspace)
{
    clo_frame *made = NULL;
    clo_error err;
    assert_ok(clo_frame_of_release(subspace, &made, &err), err);
    assert_ok(clo_domain_project(domain, made, &err), err);
    return made;
}

static void place(double a, double b, double *row)
{
    for (size_t j = 0; j < D; j++) row[j] = origin[j] + a * frame[j * R] + b * frame[j * R + 1];
}

static clo_bounded *bounded_rows(const double *values, size_t rows, const clo_domain *domain)
{
    clo_error err;
    clo_table *table = NULL;
    clo_bounded *data = NULL;
    const clo_matrix view = { values, rows, D, D };
    assert_ok(clo_table_wrap(view, CLO_MISSING_NULL, &table, &err), err);
    assert_ok(clo_bound(table, domain, &data, &err), err);
    clo_table_free(table);
    return data;
}

/* bound.T4 */
static void a_record_becomes_its_coordinates_in_the_frame(void **state)
{
    const double unit = (double)(1 << CLO_GRID_BITS);
    const clo_domain domain = plane(2);
    double values[4 * D], seen[4 * R];
    size_t rows = 0;
    clo_error err;
    (void)state;
    place(1, -0.5, values);
    place(1, -0.5, values + D);
    values[D + 4] += 7; /* across the frame: not seen */
    place(30, 40, values + 2 * D);
    place(1, 1, values + 3 * D);
    values[3 * D + 4] = NAN; /* a missing cell, even where the frame does not look */
    clo_bounded *const data = bounded_rows(values, 4, &domain);
    assert_ok(clo_i_block_load(data, 0, 4, CLO_GRID_BITS, seen, &rows, &err), err);
    assert_int_equal(rows, 3); /* so that it is null (bound.T6) */
    assert_true(fabs(seen[0] / unit - 0.5) < 1e-8 && fabs(seen[1] / unit + 0.25) < 1e-8);
    assert_true(fabs(seen[2] - seen[0]) <= 1 && fabs(seen[3] - seen[1]) <= 1);
    assert_true(fabs(seen[4] / unit - 0.6) < 1e-8 && fabs(seen[5] / unit - 0.8) < 1e-8);
    clo_bounded_free(data);
}

/* bound.T4: what a record becomes does not depend on where it stands, or among which. */
static void a_record_is_the_same_among_others(void **state)
{
    static double values[ROWS * D], all[ROWS * R];
    const clo_domain domain = plane(3);
    double alone[R];
    size_t rows = 0;
    clo_error err;
    (void)state;
    for (size_t i = 0; i < ROWS * D; i++) values[i] = sin((double)(i * i));
    clo_bounded *const data = bounded_rows(values, ROWS, &domain);
    assert_ok(clo_i_block_load(data, 0, ROWS, CLO_GRID_BITS, all, &rows, &err), err);
    for (size_t i = 0; i < ROWS; i += 37) {
        clo_bounded *const one = bounded_rows(values + i * D, 1, &domain);
        assert_ok(clo_i_block_load(one, 0, 1, CLO_GRID_BITS, alone, &rows, &err), err);
        assert_memory_equal(alone, all + i * R, sizeof alone);
        clo_bounded_free(one);
    }
    clo_bounded_free(data);
}

static double off_the_plane(const double *point, const double *from)
{
    double square = 0, along[R] = { 0 };
    for (size_t j = 0; j < D; j++)
        for (size_t i = 0; i < R; i++) along[i] += frame[j * R + i] * (point[j] - from[j]);
    for (size_t j = 0; j < D; j++) {
        double rest = point[j] - from[j];
        for (size_t i = 0; i < R; i++) rest -= frame[j * R + i] * along[i];
        square += rest * rest;
    }
    return sqrt(square);
}

static void results_come_back_in_the_datas_own_columns(void **state)
{
    static double values[ROWS * D];
    static const double zero[D];
    const clo_domain domain = plane(2);
    clo_array centers, bases, offsets, center;
    (void)state;
    for (size_t i = 0; i < ROWS; i++) place(i % 2 ? 1 : -1, 0.5, values + i * D);
    clo_bounded *const data = bounded_rows(values, ROWS, &domain);
    clo_plan *plan = plan_for("kmeans/lloyd", "clusters=2", &domain, 20, 1e-6);
    clo_release *release = run_seeded(plan, data, "1", NULL);
    assert_true(clo_release_find(release, "centers", &centers));
    assert_int_equal(clo_release_cols(release), D);
    assert_int_equal(centers.shape[1], D);
    for (size_t c = 0; c < 2; c++) assert_true(off_the_plane(centers.data + c * D, origin) < 1e-12);
    clo_release_free(release);
    clo_plan_free(plan);
    plan = plan_for("subspaces/sulq", "clusters=2 dim=1", &domain, 20, 1e-6);
    release = run_seeded(plan, data, "1", NULL);
    assert_true(clo_release_find(release, "bases", &bases));
    assert_true(clo_release_find(release, "offsets", &offsets));
    assert_int_equal(bases.shape[1], D);
    for (size_t c = 0; c < 2; c++) {
        assert_true(off_the_plane(bases.data + c * D, zero) < 1e-12);
        assert_memory_equal(offsets.data + c * D, origin, sizeof origin);
    }
    clo_release_free(release);
    clo_plan_free(plan);
    plan = plan_for("subspace/gaussian", "dim=1", &domain, 20, 1e-6);
    release = run_seeded(plan, data, "1", NULL);
    assert_true(clo_release_find(release, "center", &center));
    assert_int_equal(center.dimensions, 1);
    assert_memory_equal(center.data, origin, sizeof origin);
    clo_release_free(release);
    clo_plan_free(plan);
    clo_bounded_free(data);
}

static void a_plan_and_its_data_must_have_the_same_frame(void **state)
{
    const clo_domain domain = plane(2);
    clo_domain other = domain, none = domain;
    clo_frame *through_zero = NULL;
    (void)state;
    assert_int_equal(clo_frame_new((clo_matrix){ frame, D, R, R }, NULL, &through_zero, NULL), 0);
    other.frame = through_zero;
    none.frame = NULL;
    clo_plan *const a = plan_for("kmeans/lloyd", "clusters=2", &domain, 1, 1e-6);
    clo_plan *const b = plan_for("kmeans/lloyd", "clusters=2", &other, 1, 1e-6);
    clo_plan *const c = plan_for("kmeans/lloyd", "clusters=2", &none, 1, 1e-6);
    assert_memory_not_equal(a->id, b->id, sizeof a->id);
    assert_memory_not_equal(a->id, c->id, sizeof a->id);
    assert_memory_not_equal(b->id, c->id, sizeof b->id);
    assert_false(clo_i_domain_equal(&a->domain, &b->domain));
    assert_false(clo_i_domain_equal(&a->domain, &c->domain));
    assert_true(clo_i_domain_equal(&a->domain, &domain));
    clo_frame_free(through_zero);
    clo_plan_free(a);
    clo_plan_free(b);
    clo_plan_free(c);
}

static void a_released_subspace_is_taken_with_its_centre_and_digest(void **state)
{
    static double values[ROWS * D];
    clo_domain first = ball(D, 1, CLO_REPLACE), second = ball(1, 2, CLO_REPLACE);
    clo_release *again = NULL;
    char digest[CLO_DIGEST_SIZE];
    clo_error err;
    (void)state;
    first.center = origin;
    for (size_t i = 0; i < ROWS; i++) place(i % 2 ? 0.9 : -0.9, 0.1, values + i * D);
    clo_bounded *data = bounded_rows(values, ROWS, &first);
    clo_plan *plan = plan_for("subspace/gaussian", "dim=2", &first, 5, 1e-6);
    clo_release *const subspace = run_seeded(plan, data, "1", NULL);
    clo_bounded_free(data);
    clo_plan_free(plan);
    clo_frame *const seen = project(&second, subspace), *none = NULL;
    assert_int_equal(second.cols, 2);
    assert_int_equal(clo_frame_rows(seen), D);
    assert_int_equal(clo_frame_cols(seen), 2);
    assert_int_equal(clo_frame_guarantee(seen), CLO_EXACT);
    assert_memory_equal(clo_frame_origin(seen), origin, sizeof origin);
    assert_ok(clo_release_digest(subspace, digest, &err), err);
    assert_string_equal(clo_frame_digest(seen), digest);
    data = bounded_rows(values, ROWS, &second);
    plan = plan_for("kmeans/lloyd", "clusters=2", &second, 5, 1e-6);
    clo_release *const centers = run_seeded(plan, data, "2", NULL);
    text json = json_of(centers);
    assert_non_null(strstr(json.bytes, digest));
    assert_ok(clo_release_parse(json.bytes, json.length, &again, &err), err);
    text same = json_of(again);
    assert_string_equal(json.bytes, same.bytes);
    assert_int_equal(clo_frame_of_release(centers, &none, &err), CLO_ARGUMENT);
    assert_null(none);
    clo_frame_free(seen);
    free(json.bytes);
    free(same.bytes);
    clo_release_free(again);
    clo_release_free(centers);
    clo_release_free(subspace);
    clo_plan_free(plan);
    clo_bounded_free(data);
}

/* Two losses add up only where they are for the same thing. */
static void what_both_releases_hide_must_be_the_same(void **state)
{
    static const double values[ROWS * D];
    clo_domain first = ball(D, 1, CLO_REPLACE);
    clo_plan *plan = NULL;
    clo_error err;
    (void)state;
    clo_bounded *const data = bounded_rows(values, ROWS, &first);
    clo_plan *const before = plan_for("subspace/gaussian", "dim=2", &first, 5, 1e-6);
    clo_release *const subspace = run_seeded(before, data, "1", NULL);
    clo_params *const params = params_for("kmeans/lloyd", "clusters=2");
    clo_domain domain = ball(1, 2, CLO_ADD_REMOVE);
    clo_frame *seen = NULL;
    assert_ok(clo_frame_of_release(subspace, &seen, &err), err);
    assert_fails(clo_domain_project(&domain, seen, &err), CLO_DOMAIN, err, "relation");
    assert_null(domain.frame);
    assert_int_equal(domain.cols, 1);
    domain = ball(1, 2, CLO_REPLACE);
    domain.unit = "patient";
    assert_fails(clo_domain_project(&domain, seen, &err), CLO_DOMAIN, err, "'patient'");
    domain.unit = NULL;
    assert_ok(clo_domain_project(&domain, seen, &err), err);
    domain.relation = CLO_ADD_REMOVE; /* afterwards it is no better */
    assert_fails(clo_plan_new(params, &domain, (clo_loss){ 1, 1e-6 }, CLO_EXACT, &plan, &err),
                 CLO_DOMAIN, err, "relation");
    domain.relation = CLO_REPLACE;
    domain.unit = "patient";
    assert_fails(clo_plan_new(params, &domain, (clo_loss){ 1, 1e-6 }, CLO_EXACT, &plan, &err),
                 CLO_DOMAIN, err, "same unit");
    domain.unit = NULL;
    domain.frame = askew; /* a frame of one's own is nobody's release */
    domain.relation = CLO_ADD_REMOVE;
    assert_ok(clo_domain_check(&domain, &err), err);
    assert_null(plan);
    clo_frame_free(seen);
    clo_params_free(params);
    clo_release_free(subspace);
    clo_plan_free(before);
    clo_bounded_free(data);
}

/* An exact run in an idealized subspace is exact by itself, and idealized with it. */
static void the_weaker_guarantee_is_that_of_both_together(void **state)
{
    static double values[ROWS * D];
    clo_domain first = ball(D, 1, CLO_REPLACE), second = ball(1, 2, CLO_REPLACE);
    clo_params *const params = params_for("subspace/bingham", "dim=2");
    clo_plan *plan = NULL;
    clo_release *again = NULL;
    clo_error err;
    (void)state;
    for (size_t i = 0; i < ROWS * D; i++) values[i] = sin((double)(i * i)) / D;
    clo_bounded *data = bounded_rows(values, ROWS, &first);
    assert_ok(clo_plan_new(params, &first, (clo_loss){ 5, 1e-6 }, CLO_IDEALIZED, &plan, &err), err);
    clo_release *const subspace = run_seeded(plan, data, "1", NULL);
    assert_int_equal(clo_release_guarantee_together(subspace), CLO_IDEALIZED);
    clo_bounded_free(data);
    clo_plan_free(plan);
    clo_frame *const seen = project(&second, subspace);
    data = bounded_rows(values, ROWS, &second);
    plan = plan_for("kmeans/lloyd", "clusters=2", &second, 5, 1e-6);
    clo_release *const centers = run_seeded(plan, data, "2", NULL);
    assert_int_equal(clo_release_guarantee(centers), CLO_EXACT);
    assert_int_equal(clo_release_guarantee_together(centers), CLO_IDEALIZED);
    text json = json_of(centers);
    assert_non_null(strstr(json.bytes, "\"guarantee_together\": \"idealized\""));
    assert_ok(clo_release_parse(json.bytes, json.length, &again, &err), err);
    assert_int_equal(clo_release_guarantee_together(again), CLO_IDEALIZED);
    free(json.bytes);
    clo_frame_free(seen);
    clo_release_free(again);
    clo_release_free(centers);
    clo_release_free(subspace);
    clo_plan_free(plan);
    clo_bounded_free(data);
    clo_params_free(params);
}

static void refuses_frames_that_are_none(void **state)
{
    const double infinite[D] = { 0, INFINITY };
    double bent[D * R];
    clo_domain domain = plane(2);
    clo_frame *none = NULL;
    clo_error err;
    (void)state;
    assert_ok(clo_domain_check(&domain, &err), err);
    domain.center = origin;
    assert_int_equal(clo_domain_check(&domain, &err), CLO_DOMAIN);
    domain = plane(2);
    domain.cols = R + 1;
    assert_fails(clo_domain_check(&domain, &err), CLO_DOMAIN, err, "as many columns");
    domain = plane(2);
    domain.struct_size = offsetof(clo_domain, frame);
    assert_fails(clo_domain_project(&domain, askew, &err), CLO_ARGUMENT, err, "no place");
    memcpy(bent, frame, sizeof bent);
    bent[0] = 0.7;
    assert_fails(clo_frame_new((clo_matrix){ bent, D, R, R }, NULL, &none, &err), CLO_DOMAIN, err,
                 "orthonormal");
    bent[0] = NAN;
    assert_fails(clo_frame_new((clo_matrix){ bent, D, R, R }, NULL, &none, &err), CLO_DOMAIN, err,
                 "orthonormal");
    assert_fails(clo_frame_new((clo_matrix){ frame, 1, R, R }, NULL, &none, &err), CLO_DOMAIN, err,
                 "1 rows");
    assert_fails(clo_frame_new((clo_matrix){ frame, D, R, R }, infinite, &none, &err), CLO_DOMAIN,
                 err, "entry 2");
    assert_null(none);
}

static void refuses_bounds_of_a_subspace(void **state)
{
    const clo_domain domain = plane(2);
    clo_plan *plan = NULL;
    clo_error err;
    (void)state;
    clo_params *const params = params_for("bounds/quantile", "");
    assert_int_equal(clo_plan_new(params, &domain, (clo_loss){ 1, 0 }, CLO_EXACT, &plan, &err),
                     CLO_UNSUPPORTED);
    assert_null(plan);
    clo_params_free(params);
}

static clo_release *run_secure(const clo_plan *plan, const clo_bounded *data)
{
    clo_error err;
    clo_grant *grant = NULL;
    clo_release *release = NULL;
    clo_rng *rng = NULL;
    assert_ok(clo_rng_new(&rng, &err), err);
    assert_ok(clo_grant_unmetered(plan, &grant, &err), err);
    assert_ok(clo_run(plan, grant, data, rng, NULL, &release, &err), err);
    clo_grant_free(grant);
    clo_rng_free(rng);
    return release;
}

/* However secure the second run is, what it sees of a record depends on the first. */
static void what_comes_of_a_release_that_is_not_private_is_not_either(void **state)
{
    static double values[ROWS * D];
    const clo_domain first = ball(D, 1, CLO_REPLACE);
    (void)state;
    for (size_t i = 0; i < ROWS * D; i++) values[i] = sin((double)(i * i)) / D;
    clo_bounded *const data = bounded_rows(values, ROWS, &first);
    clo_plan *const plan = plan_for("subspace/gaussian", "dim=2", &first, 5, 1e-6);
    for (int seeded_one = 0; seeded_one < 2; seeded_one++) {
        clo_domain domain = ball(1, 2, CLO_REPLACE);
        clo_release *const subspace =
            seeded_one ? run_seeded(plan, data, "1", NULL) : run_secure(plan, data);
        clo_frame *const plane_seen = project(&domain, subspace);
        clo_bounded *const seen = bounded_rows(values, ROWS, &domain);
        clo_plan *const later = plan_for("kmeans/lloyd", "clusters=2", &domain, 5, 1e-6);
        clo_release *const centers = run_secure(later, seen);
        assert_int_equal(clo_release_is_private(centers), !seeded_one);
        assert_int_equal(strstr(clo_release_statement(centers), "Not private") != NULL, seeded_one);
        clo_release_free(centers);
        clo_plan_free(later);
        clo_bounded_free(seen);
        clo_frame_free(plane_seen);
        clo_release_free(subspace);
    }
    clo_plan_free(plan);
    clo_bounded_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_becomes_its_coordinates_in_the_frame),
        cmocka_unit_test(a_record_is_the_same_among_others),
        cmocka_unit_test(results_come_back_in_the_datas_own_columns),
        cmocka_unit_test(a_plan_and_its_data_must_have_the_same_frame),
        cmocka_unit_test(a_released_subspace_is_taken_with_its_centre_and_digest),
        cmocka_unit_test(what_both_releases_hide_must_be_the_same),
        cmocka_unit_test(the_weaker_guarantee_is_that_of_both_together),
        cmocka_unit_test(what_comes_of_a_release_that_is_not_private_is_not_either),
        cmocka_unit_test(refuses_frames_that_are_none),
        cmocka_unit_test(refuses_bounds_of_a_subspace),
    };
    return cmocka_run_group_tests(tests, make_frame, free_frame);
}
