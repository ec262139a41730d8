/*
 * cut_density.c - the density of a release, made again from the answers that it holds.
 */
#include "cut/cut.h"
#include <cloister/cut.h>
#include <string.h>

/* ---- the answers ----------------------------------------------------------------------------- */

static clo_density_kept kept_of(const clo_i_kept_answer *a)
{
    clo_density_kept kept = { .kind = a->kind,
                              .groups = a->groups,
                              .noise_count = a->noise_count,
                              .asked = a->asked,
                              .answered = a->answered,
                              .asked_count = a->asked_count,
                              .answered_count = a->answered_count };
    memcpy(kept.noise, a->noise, sizeof kept.noise);
    return kept;
}

static bool fits(const clo_release *release, clo_density_kept *kept)
{
    for (size_t i = 0; i < release->answer_count; i++) {
        kept[i] = kept_of(&release->answers[i]);
        if (release->answers[i].cols != clo_i_facts_coordinates(&release->facts) ||
            !clo_i_density_kept_fits(&kept[i], clo_i_facts_coordinates(&release->facts)))
            return false;
    }
    return true;
}

static bool is_of_density(const clo_facts *facts)
{
    return facts->family && facts->method && strcmp(facts->method, "density") == 0;
}

enum { FEW_COLUMNS = 12 }; /* in more of them the density is made in a frame */

static clo_status say_none(const clo_release *release, clo_error *err)
{
    const clo_facts *const facts = &release->facts;
    clo_array centers;
    if (!is_of_density(facts))
        return clo_i_fail(err, CLO_UNSUPPORTED,
                          "this is a release of %.40s/%.40s, which holds no answers: only releases "
                          "of kmeans/density and kmedian/density can be cut",
                          facts->family ? facts->family : "?", facts->method ? facts->method : "?");
    if (facts->seen_cols)
        return clo_i_fail(err, CLO_UNSUPPORTED,
                          "this release was made along a projection, and holds no answers");
    if (clo_i_facts_coordinates(facts) > FEW_COLUMNS)
        return clo_i_fail(err, CLO_UNSUPPORTED,
                          "a run in %zu columns looks at a few directions of them, and its release "
                          "holds no answers: other numbers of clusters need a new run",
                          clo_i_facts_coordinates(facts));
    if (clo_release_find(release, "centers", &centers) && centers.shape[0] == 1)
        return clo_i_fail(err, CLO_UNSUPPORTED,
                          "this release has one center, because noise hides more: there is nothing "
                          "to cut");
    return clo_i_fail(err, CLO_UNSUPPORTED,
                      "this release was made by cloister %.20s, whose releases hold no answers: "
                      "other numbers of clusters need a new run",
                      facts->version);
}

clo_status clo_i_cut_check(const clo_release *release, clo_error *err)
{
    if (release->certified.seal == CLO_SEAL_BROKEN)
        return clo_i_fail(err, CLO_SIGNATURE, "the release was changed after it was signed");
    return release->answer_count ? CLO_OK : say_none(release, err);
}

/* Cells of several answers overlap, so that together they tell more places than one of them. */
enum { CLUSTERS_A_CELL = 2 };

size_t clo_release_most_clusters(const clo_release *release)
{
    size_t most = 0;
    for (size_t i = 0; i < release->answer_count; i++)
        if (strcmp(release->answers[i].kind, "cells") == 0 && release->answers[i].groups > most)
            most = release->answers[i].groups;
    return CLUSTERS_A_CELL * most;
}

const char *clo_release_cut_from(const clo_release *release)
{
    return release->derived.there ? release->derived.release : NULL;
}

/* ---- the density ----------------------------------------------------------------------------- */

clo_domain clo_i_cut_domain(const clo_release *release)
{
    const clo_facts *const facts = &release->facts;
    clo_domain domain = clo_domain_default();
    clo_array learnt;
    domain.relation = facts->relation;
    domain.cols = clo_i_facts_coordinates(facts);
    domain.schema = facts->schema;
    domain.norm = facts->norm;
    domain.lower = facts->lower;
    domain.upper = facts->upper;
    domain.center = facts->center;
    domain.rows = facts->rows;
    domain.unit = facts->unit;
    if (clo_release_find(release, "learnt_norm", &learnt)) domain.norm = learnt.data[0];
    if (clo_release_find(release, "learnt_center", &learnt) && learnt.shape[0] == facts->cols)
        domain.center = learnt.data;
    return domain;
}

static clo_status rebuild(const clo_release *release, clo_cut_density *out, clo_error *err)
{
    clo_density_kept *kept = NULL;
    clo_status status;
    CLO_TRY(clo_i_alloc(release->answer_count, sizeof *kept, &kept, err));
    if (release->answer_count > CLO_DENSITY_ANSWERS || !fits(release, kept))
        status = clo_i_fail(err, CLO_FORMAT, "the answers of the release do not fit each other");
    else
        status = clo_i_density_rebuild(out->space, out->rng, kept, release->answer_count,
                                       clo_i_facts_coordinates(&release->facts),
                                       (double)release->facts.rows, &out->density, err);
    clo_i_free(kept);
    return status;
}

clo_status clo_i_cut_open(const clo_release *release, clo_cut_density *out, clo_error *err)
{
    uint8_t seed[32];
    memset(out, 0, sizeof *out);
    CLO_TRY(clo_i_cut_check(release, err));
    clo_seed_from_text("cloister cut", seed);
    CLO_TRY(clo_workspace_new(1 << 20, &out->space, err));
    CLO_TRY(clo_rng_new_seeded(seed, &out->rng, err));
    return rebuild(release, out, err);
}

void clo_i_cut_close(clo_cut_density *density)
{
    clo_workspace_free(density->space);
    clo_rng_free(density->rng);
}
