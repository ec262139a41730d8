/* cmd_version.c - cloister version. */
#include "cli.h"

static const cli_option rows[] = {
    CLI_OPTION("json", 0, NULL, "write JSON"),
    CLI_ROWS_END,
};
static const cli_group output_group = { "Output", NULL, rows };

static clo_status run(const cli_args *args, cli_error *err)
{
    const clo_status status = cli_check_words(args, 0, 0, NULL, err);
    if (status != CLO_OK) return status;
    if (!cli_given(args, "json")) {
        printf("cloister %s\n", clo_version());
        return CLO_OK;
    }
    clo_writer json = cli_json_begin(stdout);
    clo_json_text(&json, "schema", "cloister.version/1");
    clo_json_text(&json, "version", clo_version());
    clo_json_count(&json, "mechanisms", clo_mechanism_count());
    clo_json_text(&json, "blas_threading", clo_blas_threading());
    cli_json_end(&json);
    return CLO_OK;
}

static const cli_group *const groups[] = { &output_group, NULL };

const cli_command cli_version = {
    .usage = "[--json]",
    .about = "Prints the version of the command and of the library behind it.",
    .examples = "For a bug report\ncloister version --json",
    .groups = groups,
    .run = run,
};
