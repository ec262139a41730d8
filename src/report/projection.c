/*
 * projection.c - a released subspace as the coordinates of later runs.
 *
 * What is taken from the release is public, so nothing is paid for it again; and what is done with
 * it happens record by record (bound.T4).  The digest ties the later release to this one.
 */
#include "report/report.h"
#include <sodium.h>
#include <string.h>

static bool absorb(void *user, const char *bytes, size_t count)
{
    return crypto_generichash_update(user, (const uint8_t *)bytes, count) == 0;
}

clo_status clo_release_digest(const clo_release *release, char text[CLO_DIGEST_SIZE],
                              clo_error *err)
{
    crypto_generichash_state state;
    uint8_t hash[(CLO_DIGEST_SIZE - 1) / 2];
    crypto_generichash_init(&state, NULL, 0, sizeof hash);
    CLO_TRY(clo_report(release, CLO_JSON, absorb, &state, err));
    crypto_generichash_final(&state, hash, sizeof hash);
    sodium_bin2hex(text, CLO_DIGEST_SIZE, hash, sizeof hash);
    return CLO_OK;
}

clo_status clo_domain_project(clo_domain *domain, const clo_release *subspace, clo_error *err)
{
    const size_t d = clo_release_cols(subspace);
    clo_array basis, center = { .data = NULL };
    clo_domain seen = *domain;
    if (domain->struct_size < sizeof *domain)
        return clo_i_fail(err, CLO_DOMAIN, "the domain must start from clo_domain_default()");
    if (strcmp(clo_release_family(subspace), "subspace") != 0)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a release of the family subspace is wanted to project on, not of %.60s",
                          clo_release_family(subspace));
    if (!clo_release_find(subspace, "basis", &basis))
        return clo_i_fail(err, CLO_ARGUMENT,
                          "the release holds no subspace to project on: it answered that it found "
                          "none");
    if (basis.dimensions != 2 || basis.shape[0] != d || basis.shape[1] > d)
        return clo_i_fail(err, CLO_FORMAT, "the basis of the release does not have its columns");
    if (clo_release_find(subspace, "center", &center) &&
        (center.dimensions != 1 || center.shape[0] != d))
        return clo_i_fail(err, CLO_FORMAT, "the centre of the release does not have its columns");
    CLO_TRY(clo_release_digest(subspace, seen.frame_digest, err));
    seen.cols = basis.shape[1];
    seen.frame = basis.data;
    seen.frame_rows = d;
    seen.origin = center.data;
    seen.frame_relation = clo_release_relation(subspace);
    seen.frame_unit = clo_release_unit(subspace);
    seen.frame_guarantee = clo_release_guarantee_together(subspace);
    seen.frame_not_private = !clo_release_is_private(subspace);
    if (seen.norm > 0) CLO_TRY(clo_domain_check(&seen, err));
    *domain = seen;
    return CLO_OK;
}
