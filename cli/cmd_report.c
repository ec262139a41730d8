/* cmd_report.c - cloister report: read a release aloud. */
#include "cli.h"

static const cli_option rows[] = {
    CLI_OPTION("wide", 0, NULL, "show all rows and columns, however many"),
    CLI_OPTION("json", 0, NULL, "write the release again as JSON, in the canonical form"),
    CLI_ROWS_END,
};
static const cli_group output_group = { "Output", rows };

static clo_status run(const cli_args *args, cli_error *err)
{
    clo_release *release = NULL;
    clo_status status = cli_check_words(args, 1, 1, "a release", err);
    if (status == CLO_OK) status = clo_release_read(cli_word(args, 0), &release, &err->error);
    if (status == CLO_OK && clo_release_seal(release) == CLO_SEAL_BROKEN) {
        cli_hint(err, "cloister ledger fetch, which has it as it was");
        status = cli_fail(err, CLO_SIGNATURE,
                          "%.300s was changed after it was signed: what it says is not what was "
                          "released",
                          cli_word(args, 0));
    }
    if (status == CLO_OK)
        status = clo_report(release,
                            cli_given(args, "json")   ? CLO_JSON
                            : cli_given(args, "wide") ? CLO_TEXT_WIDE
                                                      : CLO_TEXT,
                            cli_stream_write, stdout, &err->error);
    clo_release_free(release);
    return status;
}

static const cli_group *const groups[] = { &output_group, NULL };

const cli_command cli_report = {
    .usage = "RELEASE.json [--wide | --json]",
    .about =
        "Says in words what a release holds and what it promises.  A release is public, and so "
        "is its report.  A signed release that was changed since is refused; whose signature it "
        "is, "
        "'cloister ledger check' says.  An array of more than eight columns is shown a column a "
        "line.",
    .examples = "Read a release aloud\ncloister report out.json",
    .groups = groups,
    .run = run,
};
