/* cmd_methods.c - cloister methods: what there is, from the rows of the library's table. */
#include "cli.h"
#include <string.h>

static const cli_option method_rows[] = {
    CLI_OPTION("all", 0, NULL, "also list the research methods"),
    CLI_OPTION("json", 0, NULL, "write JSON, with all methods"),
    CLI_ROWS_END,
};
static const cli_group method_group = { "Options", NULL, method_rows };

/* "kmeans" is every method of it, "kmeans/lloyd" that one, NULL all. */
static bool is_asked_for(const clo_mechanism *mechanism, const char *name)
{
    const clo_mechanism *const named = name ? clo_mechanism_find(name) : NULL;
    if (!name || !named || strchr(name, '/')) return !name || named == mechanism;
    return strcmp(clo_mechanism_family(named), clo_mechanism_family(mechanism)) == 0;
}

static void print_one(const clo_mechanism *mechanism)
{
    size_t count;
    char name[128];
    const clo_param *const rows = clo_mechanism_params(mechanism, &count);
    const cli_subject subject = cli_subject_of_mechanism(mechanism);
    cli_mechanism_typed(mechanism, name, sizeof name);
    printf("%s%s%s\n", cli_style_on(stdout, CLI_BOLD), name, cli_style_off(stdout));
    fputs("  ", stdout);
    cli_wrap(stdout, 2, 2, clo_mechanism_summary(mechanism));
    printf("  guarantee: %s; proof: %s\n", clo_guarantee_name(clo_mechanism_guarantee(mechanism)),
           clo_mechanism_proof(mechanism));
    for (size_t i = 0; i < count; i++) {
        char range[300], help[600];
        cli_parameter_range(&rows[i], cli_is_demanded(&subject, &rows[i]), range, sizeof range);
        snprintf(help, sizeof help, "%s (%s)", rows[i].help, range);
        const int written = printf("  --%s", rows[i].name);
        printf("%*s", written < 20 ? 20 - written : 2, "");
        cli_wrap(stdout, written < 20 ? 20 : written + 2, 20, help);
    }
}

static void print_listed(bool research)
{
    for (size_t i = 0; i < clo_mechanism_count(); i++) {
        const clo_mechanism *const mechanism = clo_mechanism_at(i);
        char name[128];
        if (clo_mechanism_is_research(mechanism) != research) continue;
        cli_mechanism_typed(mechanism, name, sizeof name);
        printf("%-28s", name);
        cli_wrap(stdout, 28, 28, clo_mechanism_summary(mechanism));
    }
}

/* Most people need few of them, and a list of all hides those. */
static void print_list(bool all)
{
    print_listed(false);
    if (!all) {
        puts("\nName only a family, such as kmeans, and cloister chooses the method.\n"
             "pca is another name of the family subspace, subspaces of subspace-clusters.\n"
             "'cloister methods --all' also lists the research methods.");
        return;
    }
    puts("\nResearch methods, to compare with");
    print_listed(true);
}

static void param_json(clo_writer *json, const clo_param *param)
{
    static const char *const types[] = { "?", "int", "real", "choice" };
    clo_json_open(json, NULL, '{');
    clo_json_text(json, "name", param->name);
    clo_json_text(json, "type", types[param->type]);
    clo_json_number(json, "lower", param->lower);
    clo_json_number(json, "upper", param->upper);
    clo_json_number(json, "preset", param->preset);
    clo_json_text(json, "choices", param->choices);
    clo_json_text(json, "help", param->help);
    clo_json_close(json, '}');
}

static void print_json(const char *asked)
{
    clo_writer json = cli_json_begin(stdout);
    clo_json_text(&json, "schema", "cloister.methods/1");
    clo_json_open(&json, "methods", '[');
    for (size_t i = 0; i < clo_mechanism_count(); i++) {
        const clo_mechanism *const mechanism = clo_mechanism_at(i);
        size_t count;
        const clo_param *const rows = clo_mechanism_params(mechanism, &count);
        if (!is_asked_for(mechanism, asked)) continue;
        clo_json_open(&json, NULL, '{');
        clo_json_text(&json, "family", clo_mechanism_family(mechanism));
        clo_json_text(&json, "method", clo_mechanism_method(mechanism));
        clo_json_text(&json, "summary", clo_mechanism_summary(mechanism));
        clo_json_text(&json, "guarantee", clo_guarantee_name(clo_mechanism_guarantee(mechanism)));
        clo_json_text(&json, "proof", clo_mechanism_proof(mechanism));
        clo_json_open(&json, "parameters", '[');
        for (size_t j = 0; j < count; j++) param_json(&json, &rows[j]);
        clo_json_close(&json, ']');
        clo_json_close(&json, '}');
    }
    clo_json_close(&json, ']');
    cli_json_end(&json);
}

static clo_status run(const cli_args *args, cli_error *err)
{
    const char *const asked = cli_word(args, 0);
    const clo_mechanism *found = NULL;
    clo_status status = cli_check_words(args, 0, 1, NULL, err);
    if (status == CLO_OK && asked) status = cli_mechanism(asked, NULL, &found, err);
    if (status != CLO_OK) return status;
    if (cli_given(args, "json")) {
        print_json(asked);
        return CLO_OK;
    }
    if (!asked) {
        print_list(cli_given(args, "all"));
        return CLO_OK;
    }
    bool first = true;
    for (size_t i = 0; i < clo_mechanism_count(); i++) {
        if (!is_asked_for(clo_mechanism_at(i), asked)) continue;
        if (!first) putchar('\n');
        first = false;
        print_one(clo_mechanism_at(i));
    }
    return CLO_OK;
}

static const cli_group *const groups[] = { &method_group, NULL };

const cli_command cli_methods = {
    .usage = "[FAMILY[/METHOD]] [--all] [--json]",
    .about = "Lists the methods, or explains one: its parameters, their ranges and defaults, its "
             "guarantee and its proof.",
    .examples = "The methods that people need\ncloister methods\n"
                "All methods of k-means\ncloister methods kmeans",
    .groups = groups,
    .run = run,
};
