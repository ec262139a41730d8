/* parameter_owners.c - what a command's parameters belong to: the mechanisms, one mechanism, or the
 * solvers.  Parser, help, completions and checks ask here, so that they cannot differ. */
#include "cli.h"
#include <string.h>

cli_subject cli_subject_of_mechanism(const clo_mechanism *mechanism)
{
    cli_subject out = { .mechanism = mechanism };
    cli_mechanism_typed(mechanism, out.name, sizeof out.name);
    out.rows = clo_mechanism_params(mechanism, &out.count);
    return out;
}

cli_subject cli_subject_of_solver(const clo_solver *solver)
{
    cli_subject out = { .solver = solver };
    snprintf(out.name, sizeof out.name, "%s", clo_solver_name(solver));
    out.rows = clo_solver_params(solver, &out.count);
    return out;
}

size_t cli_subject_count(const cli_command *command)
{
    if (command->solvers) return clo_solver_count();
    if (!command->mechanism) return 0;
    if (strcmp(command->mechanism, "*") == 0) return clo_mechanism_count();
    return clo_mechanism_find(command->mechanism) ? 1 : 0;
}

cli_subject cli_subject_at(const cli_command *command, size_t i)
{
    if (command->solvers) return cli_subject_of_solver(clo_solver_at(i));
    if (strcmp(command->mechanism, "*") == 0) return cli_subject_of_mechanism(clo_mechanism_at(i));
    return cli_subject_of_mechanism(clo_mechanism_find(command->mechanism));
}

static bool has_parameter(const clo_mechanism *mechanism, const char *name)
{
    size_t count;
    const clo_param *const rows = clo_mechanism_params(mechanism, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].name, name) == 0) return true;
    return false;
}

/* What auto takes for 20,000 records in 10 columns. */
static cli_subject usual_method(const clo_mechanism *first)
{
    static const clo_setting usual[] = { { "clusters", "5" }, { "dim", "2" } };
    const char *const family = clo_mechanism_family(first);
    clo_setting settings[2];
    clo_plan *plan = NULL;
    clo_domain domain = clo_domain_default();
    size_t count = 0;
    domain.cols = 10;
    domain.rows = 20000;
    domain.norm = 1;
    for (size_t i = 0; i < 2; i++)
        if (has_parameter(first, usual[i].name)) settings[count++] = usual[i];
    if (clo_plan_auto(family, settings, count, &domain, (clo_loss){ 1, clo_default_delta(0) },
                      CLO_EXACT, &plan, NULL) != CLO_OK)
        return cli_subject_of_mechanism(first);
    cli_subject out = cli_subject_of_mechanism(clo_plan_mechanism(plan));
    out.usual = true;
    clo_plan_free(plan);
    return out;
}

bool cli_subject_named(const cli_command *command, const char *word, cli_subject *out)
{
    const clo_solver *const solver = command->solvers ? clo_solver_find(word) : NULL;
    const clo_mechanism *const mechanism =
        !command->solvers && command->mechanism ? clo_mechanism_find(word) : NULL;
    if (solver) *out = cli_subject_of_solver(solver);
    if (mechanism)
        *out = strchr(word, '/') ? cli_subject_of_mechanism(mechanism) : usual_method(mechanism);
    return solver || mechanism;
}

clo_status cli_solver(const char *name, const clo_solver **out, cli_error *err)
{
    const char *names[64];
    size_t count = 0;
    if ((*out = clo_solver_find(name))) return CLO_OK;
    for (size_t i = 0; i < clo_solver_count() && i < 64; i++)
        names[count++] = clo_solver_name(clo_solver_at(i));
    const char *const meant = cli_nearest(name, names, count);
    cli_hint(err, "cloister solve --help");
    if (meant)
        return cli_fail(err, CLO_ARGUMENT, "there is no solver '%s'; did you mean '%s'?", name,
                        meant);
    return cli_fail(err, CLO_ARGUMENT, "there is no solver '%s'", name);
}

size_t cli_parameters(const cli_command *command, const clo_param **rows, size_t room)
{
    size_t count = 0;
    for (size_t s = 0; s < cli_subject_count(command); s++) {
        const cli_subject subject = cli_subject_at(command, s);
        for (size_t i = 0; i < subject.count; i++) {
            const char *const name = subject.rows[i].name;
            bool known = false;
            for (size_t j = 0; j < count && !known; j++) known = !strcmp(rows[j]->name, name);
            if (!known && count < room) rows[count++] = &subject.rows[i];
        }
    }
    return count;
}

/* An option may be a parameter of another subject: that is a mistake worth its own words. */
static clo_status refuse_foreign(const cli_args *args, const cli_subject *subject, cli_error *err)
{
    const clo_param *all[CLI_MAX_PARAMETERS];
    const cli_entry *const entry = cli_args_entry(args);
    const size_t all_count = cli_parameters(entry->command, all, CLI_MAX_PARAMETERS);
    for (size_t i = 0; i < all_count; i++) {
        bool known = false;
        for (size_t j = 0; j < subject->count && !known; j++)
            known = !strcmp(subject->rows[j].name, all[i]->name);
        if (known || !cli_given(args, all[i]->name)) continue;
        if (subject->solver)
            cli_hint(err, "cloister help %s %s", entry->name, subject->name);
        else
            cli_hint(err, "cloister methods %s", subject->name);
        return cli_fail(err, CLO_ARGUMENT, "%s has no parameter --%s", subject->name, all[i]->name);
    }
    return CLO_OK;
}

/* A solver's whole number that may be 0 is then found from the data, whatever it is of: `auto` says
 * the same in a word. */
static const char *word_of(const cli_subject *subject, const clo_param *row, const char *value)
{
    const bool open = subject->solver && row->type == CLO_PARAM_INT && !(row->lower > 0);
    return open && value && strcmp(value, "auto") == 0 ? "0" : value;
}

clo_status cli_params(const cli_args *args, const cli_subject *subject, clo_params **out,
                      cli_error *err)
{
    clo_params *params = NULL;
    clo_status status = refuse_foreign(args, subject, err);
    if (status != CLO_OK) return status;
    status = subject->solver ? clo_solver_params_new(subject->solver, &params, &err->error)
                             : clo_params_new(subject->mechanism, &params, &err->error);
    for (size_t i = 0; i < subject->count && status == CLO_OK; i++) {
        const clo_param *const row = &subject->rows[i];
        const char *const value = word_of(subject, row, cli_value(args, row->name));
        if (value) status = clo_params_set_text(params, row->name, value, &err->error);
    }
    if (status != CLO_OK) {
        clo_params_free(params);
        return status;
    }
    *out = params;
    return CLO_OK;
}
