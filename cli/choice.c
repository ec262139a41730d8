/* choice.c - the mechanism that a command line asks for: one by name, or, where only the family is
 * named, whichever of its methods promises the least error. */
#include "cli.h"
#include <string.h>

static bool has_parameter(const clo_mechanism *mechanism, const char *name)
{
    size_t count;
    const clo_param *const rows = clo_mechanism_params(mechanism, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].name, name) == 0) return true;
    return false;
}

static void collect_settings(const cli_args *args, cli_choice *out)
{
    const clo_param *all[CLI_MAX_PARAMETERS];
    const size_t count = cli_parameters(cli_args_entry(args)->command, all, CLI_MAX_PARAMETERS);
    for (size_t i = 0; i < count; i++) {
        const char *const value = cli_value(args, all[i]->name);
        if (value) out->settings[out->setting_count++] = (clo_setting){ all[i]->name, value };
    }
}

/* The first method of the family that has all the settings, to check their values before anything
 * is read; or the family's first, whose words about the one it lacks are as good as any. */
static const clo_mechanism *spokesman(const cli_choice *choice, const clo_mechanism *first)
{
    for (size_t i = 0; i < clo_mechanism_count(); i++) {
        const clo_mechanism *const m = clo_mechanism_at(i);
        size_t had = 0;
        if (strcmp(clo_mechanism_family(m), clo_mechanism_family(first)) != 0) continue;
        while (had < choice->setting_count && has_parameter(m, choice->settings[had].name)) had++;
        if (had == choice->setting_count) return m;
    }
    return first;
}

clo_status cli_choice_read(const cli_args *args, const char *name, const char *method,
                           cli_choice *out, cli_error *err)
{
    const clo_mechanism *mechanism = NULL;
    clo_status status = cli_mechanism(name, method, &mechanism, err);
    if (status != CLO_OK) return status;
    *out = (cli_choice){ .family = clo_mechanism_family(mechanism) };
    const bool named = strchr(name, '/') || (method && strcmp(method, "auto") != 0);
    if (!named) {
        collect_settings(args, out);
        mechanism = spokesman(out, mechanism);
    }
    const cli_subject subject = cli_subject_of_mechanism(mechanism);
    out->named = named;
    return cli_params(args, &subject, &out->params, err);
}

clo_status cli_choice_plan(const cli_choice *choice, const clo_domain *domain, clo_loss budget,
                           clo_guarantee accept, clo_plan **out, cli_error *err)
{
    if (choice->named)
        return clo_plan_new(choice->params, domain, budget, accept, out, &err->error);
    return clo_plan_auto(choice->family, choice->settings, choice->setting_count, domain, budget,
                         accept, out, &err->error);
}

void cli_choice_free(cli_choice *choice)
{
    clo_params_free(choice->params);
    choice->params = NULL;
}
