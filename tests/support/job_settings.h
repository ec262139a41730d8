/* job_settings.h - several settings of a job in one text. */
#ifndef CLO_TEST_JOB_SETTINGS_H
#define CLO_TEST_JOB_SETTINGS_H

#include "check.h"
#include <cloister/job.h>
#include <stdio.h>
#include <string.h>

/* "norm=1 clusters=2" */
static inline void set(clo_job *job, const char *settings)
{
    clo_error err;
    char copy[600], *rest = copy, *word;
    snprintf(copy, sizeof copy, "%s", settings);
    while ((word = strtok_r(rest, " ", &rest))) {
        char *const equals = strchr(word, '=');
        *equals = 0;
        assert_ok(clo_job_set(job, word, equals + 1, &err), err);
    }
}

#endif
