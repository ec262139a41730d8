/* A release of kmeans/density holds its answers, and other numbers of centres are read from them
 * and from nothing else (kmeans_density.T2): as good as those of a run that was told the number,
 * the same each time, with an error that is about the true one; what cannot be cut is refused. */
#include "found_centers.h"
#include "generate/density_cloud.h"
#include "release/release.h"
#include <cloister/cut.h>
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { D = 4, K = 6, ROWS = 12000 };

static clo_release *run_in(const clo_domain *domain, const char *method, const char *settings,
                           size_t rows, double epsilon, double *truth)
{
    double *const values = scattered_mixture(rows, D, K, 0.05, truth);
    clo_plan *const plan = plan_for(method, settings, domain, epsilon, 1e-6);
    clo_bounded *const data = bounded_from(values, rows, domain);
    clo_release *const release = run_seeded(plan, data, "cut", NULL);
    clo_bounded_free(data);
    clo_plan_free(plan);
    free(values);
    return release;
}

static clo_release *run_of(const char *method, const char *settings, size_t rows, double epsilon,
                           double *truth)
{
    clo_domain domain = ball(D, 1, CLO_ADD_REMOVE);
    domain.rows = rows;
    return run_in(&domain, method, settings, rows, epsilon, truth);
}

static clo_release *cut(const clo_release *from, size_t clusters)
{
    clo_cut_options options = clo_cut_options_default();
    clo_release *out = NULL;
    clo_error err;
    options.clusters = clusters;
    assert_ok(clo_release_cut(from, &options, &out, &err), err);
    return out;
}

static size_t centers_of(const clo_release *release, clo_array *centers)
{
    assert_true(clo_release_find(release, "centers", centers));
    assert_int_equal(centers->shape[1], D);
    return centers->shape[0];
}

/* ---- nothing but the release ----------------------------------------------------------------- */

static void put(FILE *file, const clo_release *release)
{
    const text json = json_of(release);
    assert_int_equal(fwrite(&json.length, sizeof json.length, 1, file), 1);
    assert_int_equal(fwrite(json.bytes, 1, json.length, file), json.length);
    free(json.bytes);
}

static text get(FILE *file)
{
    text json = { 0 };
    assert_int_equal(fread(&json.length, sizeof json.length, 1, file), 1);
    json.bytes = calloc(json.length + 1, 1);
    assert_non_null(json.bytes);
    assert_int_equal(fread(json.bytes, 1, json.length, file), json.length);
    return json;
}

/* A process that has the records makes a release and cuts it. */
static void make_and_cut(FILE *file)
{
    double truth[K * D];
    clo_release *const release = run_of("kmeans/density", "clusters=8", ROWS, 1, truth);
    clo_release *const five = cut(release, 5);
    put(file, release);
    put(file, five);
    clo_release_free(five), clo_release_free(release);
    assert_int_equal(fclose(file), 0);
    _exit(0);
}

/* kmeans_density.T2: this process never had a record, and while it cuts it can open no file, so no
 * data and no ledger.  It makes the same bytes of the text of the release. */
static void a_process_without_the_records_cuts_the_same(void **state)
{
    (void)state;
    FILE *const file = tmpfile();
    assert_non_null(file);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) make_and_cut(file);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    rewind(file);
    const text release = get(file), wanted = get(file);
    assert_int_equal(fclose(file), 0);
    clo_release *read = NULL;
    clo_error err;
    assert_ok(clo_release_parse(release.bytes, release.length, &read, &err), err);
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 0, before.rlim_max }), 0);
    assert_null(fopen("/dev/null", "r"));
    clo_release *const five = cut(read, 5);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    const text made = json_of(five);
    assert_string_equal(made.bytes, wanted.bytes);
    clo_release_free(five), clo_release_free(read);
    free(made.bytes), free(wanted.bytes), free(release.bytes);
}

/* The run was told eight; cut to the true six, it finds them all, and says how near. */
static void another_number_is_read_from_the_answers(void **state)
{
    double truth[K * D];
    clo_array centers, doubts, sizes;
    (void)state;
    clo_release *const release = run_of("kmeans/density", "clusters=8", ROWS, 1, truth);
    clo_release *const six = cut(release, K);
    const double miss = worst_miss(six, truth, NULL, K, D);
    assert_true(miss < 0.02);
    assert_true(clo_release_find(six, "uncertainty", &doubts) && doubts.shape[0] == K);
    assert_true(clo_release_find(six, "sizes", &sizes) && sizes.shape[0] == K);
    double square = 0, all = 0;
    for (size_t c = 0; c < K; c++) {
        square += doubts.data[c] * doubts.data[c] / K;
        all += sizes.data[c];
    }
    assert_true(sqrt(square) < 2 * miss && sqrt(square) > miss / 10);
    assert_true(fabs(all - ROWS) < 0.05 * ROWS);
    assert_int_equal(centers_of(six, &centers), K);
    clo_release_free(six);
    clo_release *const one = cut(release, 1);
    assert_int_equal(centers_of(one, &centers), 1);
    clo_release_free(one);
    clo_release_free(release);
}

/* Also of a file that was read back, and of what was cut before. */
static void the_same_answers_give_the_same_bytes(void **state)
{
    double truth[K * D];
    clo_release *read = NULL;
    clo_error err;
    (void)state;
    clo_release *const release = run_of("kmeans/density", "clusters=8", ROWS, 1, truth);
    const text file = json_of(release);
    assert_ok(clo_release_parse(file.bytes, file.length, &read, &err), err);
    clo_release *const one = cut(release, 5), *const other = cut(read, 5);
    clo_release *const again = cut(one, 5);
    const text a = json_of(one), b = json_of(other), c = json_of(again);
    assert_string_equal(a.bytes, b.bytes);
    assert_string_equal(a.bytes, c.bytes);
    assert_non_null(strstr(a.bytes, "\"how\": \"cut\""));
    char digest[CLO_DIGEST_SIZE];
    assert_ok(clo_release_digest(release, digest, &err), err);
    assert_non_null(strstr(a.bytes, digest));
    free(a.bytes), free(b.bytes), free(c.bytes), free(file.bytes);
    clo_release_free(one), clo_release_free(other), clo_release_free(again);
    clo_release_free(read), clo_release_free(release);
}

static void its_number_can_be_chosen(void **state)
{
    double truth[K * D];
    clo_array centers, curve, elbow, sizes;
    clo_cut_options options = clo_cut_options_default();
    clo_release *out = NULL;
    clo_error err;
    (void)state;
    clo_release *const release = run_of("kmeans/density", "clusters=3", ROWS, 1, truth);
    assert_ok(clo_release_cut(release, &options, &out, &err), err);
    assert_int_equal(centers_of(out, &centers), K);
    assert_true(clo_release_find(out, "curve", &curve) && curve.shape[0] == 23);
    assert_true(clo_release_find(out, "elbow", &elbow) && elbow.data[0] == K);
    clo_release_free(out);
    options.explain = 0.5;
    assert_ok(clo_release_cut(release, &options, &out, &err), err);
    assert_true(centers_of(out, &centers) < K);
    clo_release_free(out);
    options.explain = 0.999;
    options.smallest = 900;
    assert_ok(clo_release_cut(release, &options, &out, &err), err);
    assert_true(clo_release_find(out, "sizes", &sizes));
    for (size_t c = 0; c < sizes.shape[0]; c++) assert_true(sizes.data[c] > 890);
    clo_release_free(out);
    clo_release_free(release);
}

/* In the three ways of a run: its cells are about random points, or follow a Gram matrix. */
static void few_rows_are_cut_too(void **state)
{
    static const size_t rows[] = { 2500, 900 };
    static const double near[] = { 0.08, 0.35 };
    double truth[K * D];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        clo_release *const release = run_of("kmeans/density", "clusters=8", rows[i], 1.5, truth);
        clo_release *const six = cut(release, K);
        assert_true(worst_miss(six, truth, NULL, K, D) < near[i]);
        clo_release_free(six);
        clo_release_free(release);
    }
}

/* A twentieth of the way, in the units of the data, whose norm is not 1 and whose middle is not the
 * origin.  Two streams of one seed draw the same. */
static void a_drawn_record_is_pulled_toward_its_released_center(void **state)
{
    static const double middle[D] = { 0.1, -0.2, 0, 0.3 };
    double truth[K * D];
    clo_domain domain = ball(D, 3, CLO_ADD_REMOVE);
    clo_array centers;
    clo_error err;
    clo_cloud cloud;
    (void)state;
    domain.rows = ROWS;
    domain.center = middle;
    clo_release *const release = run_in(&domain, "kmeans/density", "clusters=6", ROWS, 1, truth);
    assert_int_equal(centers_of(release, &centers), K);
    assert_ok(clo_i_cloud_open(release, &cloud, &err), err);
    clo_rng *const rng = seeded("pulled");
    clo_stream *streams[2];
    for (int i = 0; i < 2; i++) assert_ok(clo_i_stream_open(rng, 1, 0, &streams[i], &err), err);
    for (int i = 0; i < 300; i++) {
        double pulled[D], plain[D], square;
        cloud.clusters = K;
        clo_i_cloud_draw(&cloud, streams[0], pulled);
        cloud.clusters = 0;
        clo_i_cloud_draw(&cloud, streams[1], plain);
        const size_t own = clo_i_density_nearest(plain, centers.data, K, D, &square);
        for (size_t j = 0; j < D; j++) {
            const double to = centers.data[own * D + j];
            assert_true(fabs(pulled[j] - (plain[j] + 0.05 * (to - plain[j]))) < 1e-9);
        }
    }
    for (int i = 0; i < 2; i++) clo_i_stream_close(streams[i]);
    clo_rng_free(rng);
    clo_i_cloud_close(&cloud);
    clo_release_free(release);
}

static void refuse(const clo_release *release, clo_cut_options options, clo_status status,
                   const char *message)
{
    clo_release *out = NULL;
    clo_error err;
    assert_fails(clo_release_cut(release, &options, &out, &err), status, err, message);
    assert_null(out);
}

static clo_cut_options number(size_t clusters)
{
    clo_cut_options options = clo_cut_options_default();
    options.clusters = clusters;
    return options;
}

static void refuses_what_no_answers_tell(void **state)
{
    double truth[K * D];
    clo_cut_options both = number(3), none = number(0);
    (void)state;
    clo_release *const other = run_of("kmeans/lloyd", "clusters=3", ROWS, 1, truth);
    refuse(other, number(3), CLO_UNSUPPORTED,
           "this is a release of kmeans/lloyd, which holds no answers: only releases of "
           "kmeans/density and kmedian/density can be cut");
    assert_int_equal(clo_release_most_clusters(other), 0);
    clo_release_free(other);
    clo_release *const hidden = run_of("kmeans/density", "clusters=3", 40, 0.5, truth);
    refuse(hidden, number(3), CLO_UNSUPPORTED,
           "this release has one center, because noise hides more: there is nothing to cut");
    clo_release_free(hidden);
    clo_release *const release = run_of("kmeans/density", "clusters=3", ROWS, 1, truth);
    assert_int_equal(clo_release_most_clusters(release), 256);
    refuse(release, number(257), CLO_ARGUMENT,
           "clusters must be between 1 and 256, not 257: this release was asked about half as many "
           "cells, and does not show more clusters");
    both.explain = 0.5;
    refuse(release, both, CLO_ARGUMENT,
           "explain chooses the number of clusters, which is given: leave one out");
    none.clusters_at_most = 65;
    refuse(release, none, CLO_ARGUMENT, "clusters_at_most must be between 1 and 64, not 65");
    none.clusters_at_most = 20;
    none.explain = 1;
    refuse(release, none, CLO_ARGUMENT, "explain must be between 0 and 1, not 1");
    clo_release_free(release);
}

static void refuses_answers_that_do_not_fit(void **state)
{
    double truth[K * D];
    (void)state;
    clo_release *const release = run_of("kmeans/density", "clusters=3", 3000, 1, truth);
    clo_i_kept_answer *const last = &release->answers[release->answer_count - 1];
    last->answered_count--;
    refuse(release, number(3), CLO_FORMAT, "the answers of the release do not fit each other");
    last->answered_count++;
    last->asked[D] = 0; /* a width of nothing */
    refuse(release, number(3), CLO_FORMAT, "the answers of the release do not fit each other");
    last->asked[D] = 1 << 20;
    last->asked[0] = INT64_MAX;
    refuse(release, number(3), CLO_FORMAT, "the answers of the release do not fit each other");
    last->asked[0] = 0;
    last->groups = 1 << 20;
    refuse(release, number(3), CLO_FORMAT, "the answers of the release do not fit each other");
    release->certified.seal = CLO_SEAL_BROKEN;
    refuse(release, number(3), CLO_SIGNATURE, "the release was changed after it was signed");
    clo_release_free(release);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* First: a process may fork only before it has threads. */
        cmocka_unit_test(a_process_without_the_records_cuts_the_same),
        cmocka_unit_test(another_number_is_read_from_the_answers),
        cmocka_unit_test(the_same_answers_give_the_same_bytes),
        cmocka_unit_test(its_number_can_be_chosen),
        cmocka_unit_test(few_rows_are_cut_too),
        cmocka_unit_test(a_drawn_record_is_pulled_toward_its_released_center),
        cmocka_unit_test(refuses_what_no_answers_tell),
        cmocka_unit_test(refuses_answers_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
