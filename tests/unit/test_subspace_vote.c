/* A vote among subspaces: where more are right than wrong the answer is near (subspace_boosted.T2),
 * the mean too, and usually nearer (subspace_boosted.T4); otherwise there may be none. */
#include "pipeline.h"
#include "linalg/linalg.h"
#include "mechanism/subspace/subspace_vote.h"
#include "random/random.h"
#include <math.h>

enum { D = 6, K = 2, MOST = 40 };
static const double ALPHA = .05;

typedef struct ballot {
    double bases[MOST][D * K];
    clo_stream *stream;
    clo_rng *rng;
} ballot;

static ballot *open_ballot(const char *seed)
{
    ballot *const b = calloc(1, sizeof *b);
    clo_error err;
    assert_non_null(b);
    b->rng = seeded(seed);
    assert_ok(clo_i_stream_open(b->rng, 0, 0, &b->stream, &err), err);
    return b;
}

static void close_ballot(ballot *b)
{
    clo_i_stream_close(b->stream);
    clo_rng_free(b->rng);
    free(b);
}

/* A plane whose largest angle to that of the first two axes has this sine. */
static void tilt(ballot *b, double sine, double *basis)
{
    double shift[D * K] = { 0 };
    clo_error err;
    for (size_t i = K; i < D; i++)
        for (size_t e = 0; e < K; e++) shift[i * K + e] = clo_i_random_normal(b->stream);
    assert_ok(clo_i_orthonormalize(shift, D, K, &err), err);
    for (size_t i = 0; i < D; i++)
        for (size_t e = 0; e < K; e++)
            basis[i * K + e] = (i == e) * sqrt(1 - sine * sine) + sine * shift[i * K + e];
}

static double off(const double *basis)
{
    double truth[D * K] = { 0 }, sines[K];
    clo_error err;
    for (size_t e = 0; e < K; e++) truth[e * K + e] = 1;
    assert_ok(clo_i_sin_angles(basis, truth, D, K, sines, &err), err);
    return sines[0];
}

static size_t vote(const ballot *b, size_t count, bool mean, double *basis)
{
    clo_workspace *workspace = NULL;
    clo_error err;
    size_t agreeing = 0;
    const clo_vote v = { D, K, count, b->bases[0], ALPHA, mean };
    assert_ok(clo_workspace_new(1 << 16, &workspace, &err), err);
    assert_ok(clo_i_subspace_vote(workspace, &v, basis, &agreeing, &err), err);
    clo_workspace_free(workspace);
    return agreeing;
}

/* Right ones anywhere within alpha; wrong ones all alike, just near enough to agree with some right
 * ones, or far away. */
static void fill(ballot *b, size_t right, size_t wrong, double wrong_sine)
{
    for (size_t i = 0; i < right; i++)
        tilt(b, ALPHA * clo_i_random_unit(b->stream), b->bases[wrong + i]);
    if (wrong > 0) tilt(b, wrong_sine, b->bases[0]);
    for (size_t i = 1; i < wrong; i++) memcpy(b->bases[i], b->bases[0], sizeof b->bases[0]);
}

static void more_right_than_wrong_is_enough(void **state)
{
    static const double sines[] = { 1.5, 2.5, 2.99, 3.5, 10, 20 };
    ballot *const b = open_ballot("vote");
    double basis[D * K];
    (void)state;
    for (size_t wrong = 0; wrong < 8; wrong++)
        for (size_t s = 0; s < 6; s++)
            for (int trial = 0; trial < 20; trial++) {
                fill(b, wrong + 1, wrong, sines[s] * ALPHA);
                assert_true(2 * vote(b, 2 * wrong + 1, false, basis) > 2 * wrong + 1);
                assert_true(off(basis) <= 3 * ALPHA + 1e-12);
                assert_true(2 * vote(b, 2 * wrong + 1, true, basis) > 2 * wrong + 1);
                assert_true(off(basis) <= 7 * ALPHA);
            }
    close_ballot(b);
}

static void the_mean_of_many_is_nearer_than_one(void **state)
{
    ballot *const b = open_ballot("mean");
    double one[D * K], mean[D * K], both[2] = { 0, 0 };
    (void)state;
    for (int trial = 0; trial < 20; trial++) {
        fill(b, 32, 5, 1);
        assert_int_equal(vote(b, 37, false, one), 32);
        assert_int_equal(vote(b, 37, true, mean), 32);
        both[0] += off(one);
        both[1] += off(mean);
    }
    assert_true(both[1] < both[0] / 2);
    close_ballot(b);
}

static void without_a_majority_there_is_none(void **state)
{
    ballot *const b = open_ballot("none");
    double basis[D * K] = { 7 };
    (void)state;
    fill(b, 1, 3, 1);
    tilt(b, .5, b->bases[1]);
    tilt(b, .3, b->bases[2]);
    assert_int_equal(vote(b, 4, true, basis), 1);
    assert_true(basis[0] > 6); /* untouched */
    assert_int_equal(vote(b, 0, true, basis), 0);
    assert_true(basis[0] > 6);
    assert_int_equal(vote(b, 1, true, basis), 1);
    assert_true(off(basis) > .99);
    close_ballot(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_right_than_wrong_is_enough),
        cmocka_unit_test(the_mean_of_many_is_nearer_than_one),
        cmocka_unit_test(without_a_majority_there_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
