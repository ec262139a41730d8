/* shown_release.h - releases with something for every chart, to be shown. */
#ifndef CLO_TEST_SHOWN_RELEASE_H
#define CLO_TEST_SHOWN_RELEASE_H

#include "made_release.h"
#include <cloister/page.h>
#include <stdlib.h>

/* The facts that a run would have filled in. */
static inline void put_facts(clo_release *release)
{
    clo_error err;
    clo_facts *const f = &release->facts;
    char **const texts[] = { &f->version, &f->method,    &f->accounting,
                             &f->sampler, &f->guarantee, &f->statement };
    static const char *const said[] = { "0.1.0",   "lloyd", "basic",
                                        "Laplace", "exact", "Little can be told." };
    for (size_t i = 0; i < 6; i++) assert_ok(clo_i_copy_text(said[i], texts[i], &err), err);
    f->is_private = true;
    f->relation = CLO_REPLACE;
    f->loss = (clo_loss){ 1, 1e-6 };
    f->price.accounting = f->accounting;
    assert_ok(clo_i_alloc(1, sizeof(char *), &f->query_names, &err), err);
    assert_ok(clo_i_alloc(1, sizeof(char *), &f->query_labels, &err), err);
    assert_ok(clo_i_alloc(1, sizeof(clo_event), &f->query_events, &err), err);
    assert_ok(clo_i_alloc(1, sizeof(double), &f->query_noise, &err), err);
    f->query_count = 1;
    assert_ok(clo_i_copy_text("gaussian_sum", &f->query_names[0], &err), err);
    assert_ok(clo_i_copy_text("sums and sizes of the clusters", &f->query_labels[0], &err), err);
    f->query_events[0].kind = CLO_EVENT_PURE;
    f->query_noise[0] = 10;
}

/* Three centres in three columns, chosen by a curve. */
static inline clo_release *shown_centers(void)
{
    static const double centers[9] = { 1, 2, 3, 4, 5, 7, -1, 0, 2 }, weights[3] = { 500, 90, 0 };
    static const double widths[3] = { 0.5, 0.2, 0.1 }, curve[4] = { 1, 0.4, 0.2, 0.1 }, told = 3;
    clo_release *const release = made_release("kmeans", 3, 10, 600);
    put_facts(release);
    put(release, "centers", centers, 2, 3, 3, 0);
    put(release, "sizes", weights, 1, 3, 0, 0);
    put(release, "radii", widths, 1, 3, 0, 0);
    put(release, "curve", curve, 1, 4, 0, 0);
    put(release, "distinct_clusters", &told, 1, 1, 0, 0);
    return release;
}

/* Two lines in three columns, with all that is told of directions and of bounds. */
static inline clo_release *shown_subspaces(void)
{
    static const double bases[6] = { 1, 0, 0, 0, 0.6, 0.8 }, energy[2] = { 900, 5 };
    static const double stands[2] = { 1, 0 }, lower[3] = { -1, 0, 2 }, upper[3] = { 1, 4, 3 };
    clo_release *const release = made_release("subspaces", 3, 10, 0);
    put_facts(release);
    put(release, "bases", bases, 3, 2, 3, 1);
    put(release, "energy", energy, 1, 2, 0, 0);
    put(release, "stands_out", stands, 1, 2, 0, 0);
    put(release, "lower", lower, 1, 3, 0, 0);
    put(release, "upper", upper, 1, 3, 0, 0);
    return release;
}

/* Bytes that grow, and end with 0. */
typedef struct shown_text {
    char *bytes;
    size_t length;
} shown_text;

static inline bool shown_append(void *user, const char *bytes, size_t count)
{
    shown_text *const t = user;
    char *const grown = realloc(t->bytes, t->length + count + 1);
    if (!grown) return false;
    memcpy(grown + t->length, bytes, count);
    t->bytes = grown;
    t->length += count;
    t->bytes[t->length] = 0;
    return true;
}

#endif
