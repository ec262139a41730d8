/*
 * small_runs.h - every mechanism with settings that make a short run of it: the rows of table.def.
 */
#ifndef CLO_TEST_SMALL_RUNS_H
#define CLO_TEST_SMALL_RUNS_H

#include <stddef.h>

typedef struct small_run {
    const char *mechanism, *settings;
} small_run;

static const small_run small_runs[] = {
#define MECHANISM(family, method, small) { #family "/" #method, small },
#include "mechanism/table.def"
#undef MECHANISM
};
enum { SMALL_RUNS = sizeof small_runs / sizeof *small_runs };

#endif
