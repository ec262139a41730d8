/* density_release.c - the answers of a run in its release, as its density was told them. */
#include "mechanism/common/density_run.h"
#include <string.h>

static clo_status release_answer(const clo_density *density, size_t a, clo_release *out,
                                 clo_error *err)
{
    const clo_density_kept kept = clo_i_density_kept(density, a);
    clo_i_kept_answer answer = { .cols = density->cols,
                                 .groups = kept.groups,
                                 .noise_count = kept.noise_count,
                                 .asked_count = kept.asked_count,
                                 .answered_count = kept.answered_count };
    memcpy(answer.kind, kept.kind, strlen(kept.kind) + 1);
    memcpy(answer.noise, kept.noise, sizeof answer.noise);
    clo_status status = clo_i_alloc(kept.asked_count, sizeof(int64_t), &answer.asked, err);
    if (!status) status = clo_i_alloc(kept.answered_count, sizeof(int64_t), &answer.answered, err);
    if (!status) {
        clo_i_density_keep(density, a, answer.asked, answer.answered);
        status = clo_i_release_put_answer(out, &answer, err);
    }
    clo_i_free(answer.asked);
    clo_i_free(answer.answered);
    return status;
}

clo_status clo_i_density_release_answers(const clo_density *density, clo_release *out,
                                         clo_error *err)
{
    for (size_t a = 0; a < density->answered; a++) CLO_TRY(release_answer(density, a, out, err));
    return CLO_OK;
}
