/*
 * answers.c - the noisy answers that a release holds, and what a release needs to be made into
 * another one with the same answers: they are what it was made from, and cost no more than it did.
 */
#include "release/release.h"
#include <string.h>

static clo_status copy_numbers(const int64_t *from, size_t count, int64_t **to, clo_error *err)
{
    CLO_TRY(clo_i_alloc(count ? count : 1, sizeof **to, to, err));
    if (count) memcpy(*to, from, count * sizeof **to);
    return CLO_OK;
}

static void free_answer(clo_i_kept_answer *answer)
{
    clo_i_free(answer->asked);
    clo_i_free(answer->answered);
}

clo_status clo_i_release_put_answer(clo_release *release, const clo_i_kept_answer *answer,
                                    clo_error *err)
{
    clo_i_kept_answer copy = *answer;
    copy.asked = copy.answered = NULL;
    clo_status status = copy_numbers(answer->asked, answer->asked_count, &copy.asked, err);
    if (!status)
        status = copy_numbers(answer->answered, answer->answered_count, &copy.answered, err);
    if (!status)
        status = clo_i_resize(&release->answers, release->answer_count, release->answer_count + 1,
                              sizeof *release->answers, err);
    if (status)
        free_answer(&copy);
    else
        release->answers[release->answer_count++] = copy;
    return status;
}

void clo_i_release_free_answers(clo_release *release)
{
    for (size_t i = 0; i < release->answer_count; i++) free_answer(&release->answers[i]);
    clo_i_free(release->answers);
}

clo_status clo_i_release_set_parameter(clo_release *release, const char *name, const char *text,
                                       clo_error *err)
{
    clo_facts *const facts = &release->facts;
    for (size_t i = 0; i < facts->parameter_count; i++) {
        char *copy = NULL;
        if (strcmp(facts->parameter_names[i], name) != 0) continue;
        CLO_TRY(clo_i_copy_text(text, &copy, err));
        clo_i_free(facts->parameter_values[i]);
        facts->parameter_values[i] = copy;
    }
    return CLO_OK;
}
