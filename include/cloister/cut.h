/*
 * cut.h - other numbers of clusters from a release that is there already, for nothing: a release of
 * kmeans/density or kmedian/density holds all noisy answers that it was made from, and any number
 * of centres can be read from them.  No data, no ledger, no charge (proofs/kmeans_density.md, T2).
 */
#ifndef CLOISTER_CUT_H
#define CLOISTER_CUT_H

#include <cloister/release.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is wanted; from clo_cut_options_default. */
typedef struct clo_cut_options {
    size_t struct_size;
    size_t clusters;         /* how many; 0 (preset): as many as the answers tell */
    size_t clusters_at_most; /* then the most to try; preset 20 */
    double explain;          /* then the share of the spread that the number explains, below 1; 0
                                (preset): the bend of a curve */
    double smallest;         /* then the records that the smallest cluster has at least; preset 0 */
} clo_cut_options;

/* The presets; see "Structs that may grow" in cloister.h. */
CLO_API void clo_cut_options_init(clo_cut_options *options, size_t size);
static inline clo_cut_options clo_cut_options_default(void)
{
    clo_cut_options options;
    clo_cut_options_init(&options, sizeof options);
    return options;
}

/* The most clusters that can be read from the release: twice the cells of its finest answer; 0: it
 * holds no answers. */
CLO_API size_t clo_release_most_clusters(const clo_release *release);

/* The digest of the release that this one was cut from (clo_release_digest); NULL: it is a run's
 * own. */
CLO_API const char *clo_release_cut_from(const clo_release *release);

/* A release of that many centres, made from the answers of another one and from nothing else; the
 * same release and options give the same bytes.  It says which release it was made from, has its
 * answers and facts, and no certificate of its own: the one that it names has.  options: NULL for
 * the presets.  To be freed.  CLO_UNSUPPORTED where the release holds no answers, CLO_ARGUMENT for
 * a number that is out of range, CLO_SIGNATURE where it was changed after it was signed,
 * CLO_FORMAT where its answers do not fit each other. */
CLO_API CLO_CHECK clo_status clo_release_cut(const clo_release *release,
                                             const clo_cut_options *options, clo_release **out,
                                             clo_error *err);

#ifdef __cplusplus
}
#endif
#endif
