/*
 * center_noise.c - how far noise may have moved each released centre, in the units of each column:
 * from what the release itself tells, the noise of its last question and the sizes.  And how far
 * records are from their centres, where the release tells radii.
 */
#include "release/release.h"
#include <math.h>
#include <string.h>

static bool starts_with(const char *text, const char *start)
{
    return text && strncmp(text, start, strlen(start)) == 0;
}

/* Whether the last question was for sums and sizes of the clusters in all columns.  A frame is
 * found by a gaussian_gram, and then only kmeans/tree looked at all columns in the end; releases of
 * it are still read. */
static bool ends_with_sums(const clo_facts *facts)
{
    if (facts->query_count == 0 || facts->seen_cols) return false;
    const size_t last = facts->query_count - 1;
    if (strcmp(facts->query_names[last], "gaussian_sum") != 0 &&
        strcmp(facts->query_names[last], "laplace_sum") != 0)
        return false;
    if (!starts_with(facts->query_labels[last], "sums and sizes of the clusters")) return false;
    for (size_t i = 0; i < last; i++)
        if (strcmp(facts->query_names[i], "gaussian_gram") == 0)
            return facts->method && strcmp(facts->method, "tree") == 0;
    return true;
}

/* Or for local sums: their noise is told in radii, and the release tells each cluster's. */
static bool ends_with_local_sums(const clo_release *release, clo_array *radii)
{
    const clo_facts *const facts = &release->facts;
    if (facts->query_count == 0 || facts->seen_cols) return false;
    const size_t last = facts->query_count - 1;
    return strcmp(facts->query_names[last], "local_sum") == 0 &&
           starts_with(facts->query_labels[last],
                       "local sums, squares and sizes of the clusters") &&
           clo_release_find(release, "radii", radii) && radii->dimensions == 1;
}

/* Centres and sizes that fit each other, and radii that fit both where there are any. */
static bool find_clusters(const clo_release *release, clo_array *centers, clo_array *sizes,
                          const clo_array *radii)
{
    const clo_facts *const facts = &release->facts;
    return facts->family && strcmp(facts->family, "kmeans") == 0 &&
           clo_release_find(release, "centers", centers) && centers->dimensions == 2 &&
           centers->shape[1] == facts->cols && clo_release_find(release, "sizes", sizes) &&
           sizes->dimensions == 1 && sizes->shape[0] == centers->shape[0] &&
           (!radii->data || radii->shape[0] == centers->shape[0]);
}

/* What was cut from a release tells of each centre how far noise may have moved it, in all columns
 * together. */
static bool noise_of_cut(const clo_release *release, double *out)
{
    const clo_facts *const facts = &release->facts;
    clo_array centers, sizes, doubts, none = { .data = NULL };
    if (!find_clusters(release, &centers, &sizes, &none) ||
        !clo_release_find(release, "uncertainty", &doubts) || doubts.dimensions != 1 ||
        doubts.shape[0] != centers.shape[0])
        return false;
    for (size_t e = 0; out && e < centers.shape[0] * facts->cols; e++)
        out[e] = doubts.data[e / facts->cols] / sqrt((double)facts->cols) *
                 clo_i_facts_spread(facts, e % facts->cols);
    return true;
}

bool clo_release_center_noise(const clo_release *release, double *out)
{
    const clo_facts *const facts = &release->facts;
    clo_array centers, sizes, radii = { .data = NULL };
    if (release->derived.there) return noise_of_cut(release, out);
    const bool local = ends_with_local_sums(release, &radii);
    if (!(local || ends_with_sums(facts)) || !find_clusters(release, &centers, &sizes, &radii))
        return false;
    const double noise = facts->query_noise[facts->query_count - 1];
    for (size_t c = 0; out && c < centers.shape[0]; c++)
        for (size_t j = 0; j < facts->cols; j++) {
            const double radius = local ? radii.data[c] : 1;
            const double unit = radius * clo_i_facts_spread(facts, j);
            out[c * facts->cols + j] = sizes.data[c] > 0 ? noise / sizes.data[c] * unit : INFINITY;
        }
    return true;
}

double clo_i_widths_a_spread(double noise)
{
    return fmin(fmax(1 + 0.3 * log10(0.3 / noise), 1), 2);
}

bool clo_i_release_spreads(const clo_release *release, double *out)
{
    const clo_facts *const facts = &release->facts;
    clo_array centers, sizes, radii = { .data = NULL };
    if (!ends_with_local_sums(release, &radii) || !find_clusters(release, &centers, &sizes, &radii))
        return false;
    const double columns = sqrt((double)clo_i_facts_coordinates(facts));
    const double noise = columns * facts->query_noise[facts->query_count - 1];
    for (size_t c = 0; out && c < centers.shape[0]; c++)
        out[c] = fmax(radii.data[c], 0) / columns /
                 clo_i_widths_a_spread(noise / fmax(sizes.data[c], 1));
    return true;
}
