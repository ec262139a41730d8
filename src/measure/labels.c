/*
 * labels.c - how well two clusterings agree: accuracy under the best matching of their labels,
 * normalised mutual information, adjusted Rand index.  All three come from one table of how many
 * rows have each pair of labels, and none depends on what the labels are called.
 */
#include "measure/measure.h"
#include <math.h>

/* rows x cols counts, padded to a square for the matching. */
typedef struct contingency {
    size_t size;           /* the larger number of clusters */
    double *counts;        /* size x size: found x true */
    double *found, *truth; /* size: the sums of its rows and columns */
    double all;
} contingency;

static void count_pairs(contingency *t, const uint32_t *found, size_t found_clusters,
                        const uint32_t *truth, size_t true_clusters, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (found[i] >= found_clusters || truth[i] >= true_clusters) continue;
        t->counts[found[i] * t->size + truth[i]]++;
        t->found[found[i]]++;
        t->truth[truth[i]]++;
        t->all++;
    }
}

static clo_status best_accuracy(const contingency *t, double *accuracy, clo_error *err)
{
    const size_t k = t->size;
    double *cost = NULL, right = 0;
    size_t *partner = NULL;
    clo_status status = clo_i_alloc(k * k, sizeof *cost, &cost, err);
    if (status == CLO_OK) status = clo_i_alloc(k, sizeof *partner, &partner, err);
    if (status == CLO_OK) {
        for (size_t i = 0; i < k * k; i++) cost[i] = -t->counts[i];
        status = clo_i_match(cost, k, partner, err);
    }
    for (size_t i = 0; i < k && status == CLO_OK; i++) right += t->counts[i * k + partner[i]];
    if (status == CLO_OK) *accuracy = right / t->all;
    clo_i_free(cost);
    clo_i_free(partner);
    return status;
}

static double entropy(const double *sums, size_t count, double all)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        if (sums[i] > 0) sum -= sums[i] / all * log(sums[i] / all);
    return sum;
}

/* Two clusterings of one cluster each agree wholly; one of them alone says nothing of the other. */
static double mutual_information(const contingency *t)
{
    const double mean =
        (entropy(t->found, t->size, t->all) + entropy(t->truth, t->size, t->all)) / 2;
    double sum = 0;
    for (size_t i = 0; i < t->size; i++)
        for (size_t j = 0; j < t->size; j++) {
            const double both = t->counts[i * t->size + j];
            if (both > 0) sum += both / t->all * log(both * t->all / (t->found[i] * t->truth[j]));
        }
    return mean > 0 ? fmin(fmax(sum / mean, 0), 1) : 1;
}

static double pairs_in(const double *sums, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += sums[i] * (sums[i] - 1) / 2;
    return sum;
}

static double adjusted_rand(const contingency *t)
{
    const double together = pairs_in(t->counts, t->size * t->size);
    const double found = pairs_in(t->found, t->size), truth = pairs_in(t->truth, t->size);
    const double pairs = t->all * (t->all - 1) / 2;
    if (together == found && together == truth) return 1; /* the same partition */
    const double expected = found * truth / pairs;
    return (together - expected) / ((found + truth) / 2 - expected);
}

clo_status clo_i_label_scores(const uint32_t *found, size_t found_clusters, const uint32_t *truth,
                              size_t true_clusters, size_t count, clo_label_scores *out,
                              clo_error *err)
{
    contingency t = { .size = found_clusters > true_clusters ? found_clusters : true_clusters };
    clo_label_scores scores = { .accuracy = NAN, .nmi = NAN, .ari = NAN };
    size_t cells, all;
    if (t.size < 1) return clo_i_fail(err, CLO_INTERNAL, "labels: there are no clusters");
    if (!clo_i_multiply(t.size, t.size, &cells) || !clo_i_add(cells, 2 * t.size, &all))
        return clo_i_fail(err, CLO_MEMORY, "a size is too large for this machine");
    CLO_TRY(clo_i_alloc(all, sizeof *t.counts, &t.counts, err));
    t.found = t.counts + cells;
    t.truth = t.found + t.size;
    count_pairs(&t, found, found_clusters, truth, true_clusters, count);
    clo_status status = CLO_OK;
    if (t.all > 0) {
        status = best_accuracy(&t, &scores.accuracy, err);
        scores.nmi = mutual_information(&t);
        scores.ari = adjusted_rand(&t);
    }
    scores.counted = (size_t)t.all;
    clo_i_wipe_free(t.counts, all * sizeof *t.counts);
    if (status == CLO_OK) *out = scores;
    return status;
}
