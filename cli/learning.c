/* learning.c - --norm private, --center private: what a run learns of the domain itself before its
 * mechanism asks, out of the one budget that the user named. */
#include "cli.h"
#include <string.h>

static const cli_option learning_rows[] = {
    CLI_OPTION("norm-at-most", 0, "MAX",
               "with --norm private or --center private: a generous public radius that no record "
               "needs to exceed; too much costs little; column bounds say it too"),
    CLI_OPTION("norm-quantile", 0, "P",
               "the share of the records that a private norm should hold; by default 0.98"),
    CLI_OPTION("share-norm", 0, "S", "of epsilon, for a private norm; by default 0.1"),
    CLI_OPTION("share-center", 0, "S", "of the budget, for a private centre; by default 0.1"),
    CLI_ROWS_END,
};
const cli_group cli_learning_group = { "What the run learns of the data first", learning_rows };

static bool can_learn(const cli_args *args)
{
    const cli_group *const *group = cli_args_entry(args)->command->groups;
    while (*group && *group != &cli_learning_group) group++;
    return *group != NULL;
}

bool cli_asks_private(const cli_args *args, const char *option)
{
    const char *const value = cli_value(args, option);
    return value && strcmp(value, "private") == 0 && can_learn(args);
}

static clo_status read_number(const cli_args *args, const char *option, double *out, cli_error *err)
{
    char what[32];
    const char *const text = cli_value(args, option);
    if (!text) return CLO_OK;
    snprintf(what, sizeof what, "--%s", option);
    return cli_parse_positive(what, text, out, err);
}

/* An option that says something about what is not learnt is a mistake. */
static clo_status refuse_idle(const cli_args *args, const cli_domain_spec *spec, cli_error *err)
{
    static const struct {
        const char *option;
        bool norm, center;
    } rows[] = { { "norm-at-most", true, true },
                 { "norm-quantile", true, false },
                 { "share-norm", true, false },
                 { "share-center", false, true } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (cli_given(args, rows[i].option) && !(rows[i].norm && spec->learning.norm) &&
            !(rows[i].center && spec->learning.center))
            return cli_fail(err, CLO_ARGUMENT, "--%s needs %s", rows[i].option,
                            !rows[i].center ? "--norm private"
                            : !rows[i].norm ? "--center private"
                                            : "--norm private or --center private");
    return CLO_OK;
}

clo_status cli_learning_read(const cli_args *args, cli_domain_spec *spec, cli_error *err)
{
    double most = 0;
    clo_status status;
    spec->learning = clo_learning_default();
    spec->learning.norm = cli_asks_private(args, "norm");
    spec->learning.center = cli_asks_private(args, "center");
    spec->learns = spec->learning.norm || spec->learning.center;
    if ((status = refuse_idle(args, spec, err)) || !spec->learns) return status;
    if ((status = read_number(args, "norm-at-most", &most, err)) ||
        (status = read_number(args, "norm-quantile", &spec->learning.quantile, err)) ||
        (status = read_number(args, "share-norm", &spec->learning.norm_share, err)) ||
        (status = read_number(args, "share-center", &spec->learning.center_share, err)))
        return status;
    if (most > 0) {
        spec->learning.norm_about = spec->norm; /* 0 where that is private, too */
        spec->norm = most;
    }
    if (spec->norm > 0 || spec->bounds) return CLO_OK;
    cli_hint(err, "--norm-at-most 1000, or whatever no record can exceed; too much costs little");
    return cli_fail(err, CLO_DOMAIN,
                    "--norm private needs a public radius to look under: give --norm-at-most MAX, "
                    "or --bounds");
}

clo_status cli_learning_plan(const cli_choice *choice, const cli_domain_spec *spec,
                             const clo_domain *domain, clo_loss budget, clo_guarantee accept,
                             clo_plan **out, cli_error *err)
{
    clo_loss rest = budget;
    clo_plan *plan = NULL;
    clo_status status = CLO_OK;
    if (spec->learns) status = clo_learning_rest(&spec->learning, budget, &rest, &err->error);
    if (status == CLO_OK) status = cli_choice_plan(choice, domain, rest, accept, &plan, err);
    if (status == CLO_OK && spec->learns)
        status = clo_plan_learn(plan, &spec->learning, budget, &err->error);
    if (status == CLO_OK)
        *out = plan;
    else
        clo_plan_free(plan);
    return status;
}
