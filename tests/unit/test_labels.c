/*
 * test_labels.c - agreement of labels: accuracy against all permutations, mutual information and
 * Rand index against the numbers that scikit-learn 1.x gives for the same labels.
 */
#include "check.h"
#include "measure/measure.h"
#include <stdlib.h>

static clo_label_scores scores_of(const uint32_t *found, size_t found_clusters,
                                  const uint32_t *truth, size_t true_clusters, size_t count)
{
    clo_label_scores scores;
    clo_error err;
    assert_ok(clo_i_label_scores(found, found_clusters, truth, true_clusters, count, &scores, &err),
              err);
    return scores;
}

static uint64_t next(uint64_t *state) /* xorshift64* */
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545F4914F6CDD1D) >> 33;
}

static void mutual_information_and_rand_index_are_those_of_scikit_learn(void **state)
{
    static const struct {
        size_t count;
        uint32_t truth[10], found[10];
        double nmi, ari;
    } cases[] = {
        { 6, { 0, 0, 1, 1, 2, 2 }, { 0, 0, 1, 2, 2, 2 }, 0.7396673768007592, 0.4444444444444444 },
        { 10,
          { 0, 0, 0, 1, 1, 1, 2, 2, 2, 3 },
          { 1, 1, 0, 0, 0, 2, 2, 2, 2, 2 },
          0.5528040053353553,
          0.25287356321839083 },
        { 4, { 0, 0, 0, 0 }, { 0, 1, 2, 3 }, 0, 0 },
        { 4, { 0, 1, 0, 1 }, { 0, 0, 1, 1 }, 0, -0.5 },
        { 3, { 0, 0, 0 }, { 0, 0, 0 }, 1, 1 },
        { 5, { 1, 0, 1, 0, 2 }, { 0, 1, 0, 1, 2 }, 1, 1 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const clo_label_scores s = scores_of(cases[i].found, 4, cases[i].truth, 4, cases[i].count);
        assert_close(s.nmi, cases[i].nmi, 1e-14);
        assert_close(s.ari, cases[i].ari, 1e-14);
        assert_int_equal(s.counted, cases[i].count);
    }
}

/* The most rows that some renaming of the found labels makes right. */
static size_t best_of_all(const uint32_t *found, const uint32_t *truth, size_t count,
                          uint32_t *name, size_t k, size_t from)
{
    size_t best = 0;
    if (from == k) {
        for (size_t i = 0; i < count; i++) best += name[found[i]] == truth[i];
        return best;
    }
    for (size_t i = from; i < k; i++) {
        const uint32_t a = name[from], b = name[i];
        name[from] = b, name[i] = a;
        const size_t here = best_of_all(found, truth, count, name, k, from + 1);
        best = here > best ? here : best;
        name[from] = a, name[i] = b;
    }
    return best;
}

static void accuracy_is_the_best_of_all_renamings(void **state)
{
    enum { N = 40 };
    uint64_t seed = 5;
    (void)state;
    for (size_t k = 1; k <= 6; k++)
        for (int trial = 0; trial < 30; trial++) {
            uint32_t found[N], truth[N], name[6] = { 0, 1, 2, 3, 4, 5 };
            const size_t true_clusters = 1 + next(&seed) % k; /* fewer, as often as not */
            for (size_t i = 0; i < N; i++) {
                truth[i] = (uint32_t)(next(&seed) % true_clusters);
                found[i] = next(&seed) % 2 ? truth[i] : (uint32_t)(next(&seed) % k);
            }
            const clo_label_scores s = scores_of(found, k, truth, true_clusters, N);
            assert_close(s.accuracy, (double)best_of_all(found, truth, N, name, k, 0) / N, 1e-15);
        }
}

static void scores_do_not_depend_on_what_the_labels_are_called(void **state)
{
    enum { N = 500, K = 7 };
    uint32_t found[N], truth[N], renamed[N];
    uint64_t seed = 9;
    (void)state;
    for (size_t i = 0; i < N; i++) {
        truth[i] = (uint32_t)(next(&seed) % K);
        found[i] = next(&seed) % 3 ? truth[i] : (uint32_t)(next(&seed) % K);
        renamed[i] = (3 * found[i] + 2) % K;
    }
    const clo_label_scores a = scores_of(found, K, truth, K, N);
    const clo_label_scores b = scores_of(renamed, K, truth, K, N);
    const clo_label_scores c = scores_of(truth, K, found, K, N);
    assert_close(b.accuracy, a.accuracy, 0);
    assert_close(b.nmi, a.nmi, 1e-14);
    assert_close(b.ari, a.ari, 1e-14);
    assert_close(c.accuracy, a.accuracy, 0);
    assert_close(c.nmi, a.nmi, 1e-14);
    assert_true(a.accuracy > 0.6 && a.nmi > 0.2 && a.nmi < 0.9 && a.ari > 0.2);
}

static void outliers_and_rows_without_a_label_are_left_out(void **state)
{
    const uint32_t truth[] = { 0, 0, 1, 1, 2, 2, 0, UINT32_MAX };
    const uint32_t found[] = { 1, 1, 0, 0, 0, 1, UINT32_MAX, 0 };
    const clo_label_scores s = scores_of(found, 2, truth, 2, 8);
    (void)state;
    assert_int_equal(s.counted, 4);
    assert_true(s.accuracy == 1 && s.nmi == 1 && s.ari == 1);
    const clo_label_scores none = scores_of(found, 2, truth, 2, 0);
    assert_true(none.counted == 0 && isnan(none.accuracy) && isnan(none.nmi) && isnan(none.ari));
}

/* A thousand clusters, one row in ten wrong. */
static void many_clusters_are_matched_too(void **state)
{
    enum { K = 1000, N = 10 * K };
    uint32_t *found = calloc(N, sizeof *found), *truth = calloc(N, sizeof *truth);
    (void)state;
    assert_true(found && truth);
    for (uint32_t i = 0; i < N; i++) {
        truth[i] = i % K;
        found[i] = i < K ? (i + 1) % K : (7 * (i % K) + 3) % K; /* 7 and 1000 share no divisor */
    }
    assert_true(scores_of(found, K, truth, K, N).accuracy >= 0.9);
    free(found), free(truth);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mutual_information_and_rand_index_are_those_of_scikit_learn),
        cmocka_unit_test(accuracy_is_the_best_of_all_renamings),
        cmocka_unit_test(scores_do_not_depend_on_what_the_labels_are_called),
        cmocka_unit_test(outliers_and_rows_without_a_label_are_left_out),
        cmocka_unit_test(many_clusters_are_matched_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
