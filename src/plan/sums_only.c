/*
 * sums_only.c - which methods of a family ask for sums alone, so that they also run where the rows
 * are not in one memory.  A public fact, found out by making their plans.
 */
#include "plan/mechanism.h"
#include <stdio.h>
#include <string.h>

/* With its own presets, and the number of clusters or dimensions that the other plan has. */
static bool is_of_sums(const clo_mechanism *mechanism, const clo_plan *like)
{
    clo_params *params = NULL;
    clo_plan *plan = NULL;
    bool sums = false;
    if (clo_params_new(mechanism, &params, NULL)) return false;
    for (size_t i = 0; i < like->mechanism->param_count; i++) {
        char text[CLO_VALUE_SIZE];
        const clo_param *const row = &like->mechanism->params[i];
        if (strcmp(row->name, "clusters") != 0 && strcmp(row->name, "dim") != 0) continue;
        clo_i_param_word(row, like->values[i], text);
        (void)!clo_params_set_text(params, row->name, text, NULL);
    }
    if (!clo_plan_new(params, &like->domain, like->budget, CLO_EXACT, &plan, NULL))
        sums = clo_plan_reading(plan) == CLO_READING_SUM;
    clo_plan_free(plan);
    clo_params_free(params);
    return sums;
}

void clo_i_name_sums(const clo_plan *plan, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < clo_mechanism_count(); i++) {
        const clo_mechanism *const m = clo_mechanism_at(i);
        if (strcmp(m->family, plan->mechanism->family) != 0 || !is_of_sums(m, plan)) continue;
        const int more =
            snprintf(text + used, size - used, "%s%s/%s", used ? ", " : "", m->family, m->method);
        if (more < 0 || (size_t)more >= size - used) {
            text[used] = 0;
            return;
        }
        used += (size_t)more;
    }
}
