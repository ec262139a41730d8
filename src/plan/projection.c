/*
 * projection.c - a released subspace as the coordinates of later runs.
 *
 * What is taken from the release is public, so nothing is paid for it again; and what is done with
 * it happens record by record (bound.T4).  The digest ties the later release to this one.
 */
#include "domain/domain.h"
#include <cloister/release.h>
#include <string.h>

static clo_status find_subspace(const clo_release *release, clo_array *basis, clo_array *center,
                                clo_error *err)
{
    const size_t d = clo_release_cols(release);
    if (strcmp(clo_release_family(release), "subspace") != 0)
        return clo_i_fail(err, CLO_ARGUMENT,
                          "a projection needs a release of the family subspace, not of %.60s",
                          clo_release_family(release));
    if (!clo_release_find(release, "basis", basis))
        return clo_i_fail(err, CLO_ARGUMENT, "the release holds no subspace: its run found none");
    if (basis->dimensions != 2 || basis->shape[0] != d || basis->shape[1] > d)
        return clo_i_fail(err, CLO_FORMAT, "the basis of the release does not have its columns");
    if (clo_release_find(release, "center", center) &&
        (center->dimensions != 1 || center->shape[0] != d))
        return clo_i_fail(err, CLO_FORMAT, "the center of the release does not have its columns");
    return CLO_OK;
}

clo_status clo_frame_of_release(const clo_release *subspace, clo_frame **out, clo_error *err)
{
    clo_array basis, center = { .data = NULL };
    clo_frame *frame = NULL;
    clo_status status;
    CLO_TRY(find_subspace(subspace, &basis, &center, err));
    const size_t cols = basis.shape[1];
    const clo_matrix view = { basis.data, basis.shape[0], cols, cols };
    CLO_TRY(clo_frame_new(view, center.data, &frame, err));
    frame->relation = clo_release_relation(subspace);
    frame->guarantee = clo_release_guarantee_together(subspace);
    frame->not_private = !clo_release_is_private(subspace);
    status = clo_release_digest(subspace, frame->digest, err);
    if (!status && clo_release_unit(subspace))
        status = clo_i_copy_text(clo_release_unit(subspace), &frame->unit, err);
    if (status)
        clo_frame_free(frame);
    else
        *out = frame;
    return status;
}
