/* cmd_draw.c - cloister draw: curves with their standard errors, out of a JSON file, as SVG. */
#include "cli.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const cli_option draw_rows[] = {
    CLI_OPTION("panel", 0, "NAME", "which panel of the file; by default the first"),
    CLI_OPTION(
        "output", 'o', "FILE",
        "write the picture to this file, whole or not at all; by default to standard output"),
    CLI_ROWS_END,
};
static const cli_group draw_group = { "Picture", NULL, draw_rows };

static clo_status read_file(const char *path, cli_bytes *out, cli_error *err)
{
    char block[1 << 14];
    size_t got;
    FILE *const file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (!file) return cli_fail(err, CLO_IO, "%s cannot be read: %s", path, strerror(errno));
    while ((got = fread(block, 1, sizeof block, file)) > 0) cli_bytes_write(out, block, got);
    const bool failed = ferror(file);
    if (file != stdin) fclose(file);
    return failed ? cli_fail(err, CLO_IO, "%s cannot be read", path) : CLO_OK;
}

static clo_status draw(const cli_args *args, const cli_bytes *json, cli_error *err)
{
    const char *const output = cli_value(args, "output"), *const panel = cli_value(args, "panel");
    clo_file *file = NULL;
    if (!output || strcmp(output, "-") == 0)
        return clo_curves_svg(json->data, json->length, panel, cli_stream_write, stdout,
                              &err->error);
    if (cli_same_file(output, cli_word(args, 0)))
        return cli_fail(err, CLO_ARGUMENT, "-o %s would overwrite the curves", output);
    clo_status status = clo_file_open(output, &file, &err->error);
    if (status == CLO_OK)
        status = clo_curves_svg(json->data, json->length, panel, clo_file_write, file, &err->error);
    if (status == CLO_OK) status = clo_file_commit(file, &err->error);
    clo_file_close(file);
    return status;
}

static clo_status run(const cli_args *args, cli_error *err)
{
    cli_bytes json = { NULL, 0, 0 };
    clo_status status = cli_check_words(args, 1, 1, "a file of curves", err);
    if (status == CLO_OK) status = read_file(cli_word(args, 0), &json, err);
    if (status == CLO_OK && !json.length)
        status = cli_fail(err, CLO_FORMAT, "%s is empty", cli_word(args, 0));
    if (status == CLO_OK) status = draw(args, &json, err);
    if (status == CLO_OK) status = cli_flush(stdout, err);
    free(json.data);
    return status;
}

static const cli_group *const groups[] = { &draw_group, NULL };

const cli_command cli_draw = {
    .usage = "CURVES.json [--panel NAME] [-o FILE.svg]",
    .about = "Draws curves with a bar for the standard error of each point, as an SVG picture "
             "without scripts.  It is for results of experiments, and shows what is in the file, "
             "private or not.\n\n"
             "The file is JSON.  \"schema\" is \"cloister.curves/1\", and \"panels\" is a list of "
             "objects.  Each has \"name\", \"title\", \"x\" and \"y\" (with \"name\", and \"log\" "
             "true or false) and \"curves\".  A curve has \"name\", the lists \"x\" and \"y\", "
             "and perhaps \"error\".  Other members are ignored; null is a gap.",
    .examples = "The first panel\ncloister draw curves.json -o curves.svg\n"
                "Another one\ncloister draw curves.json --panel cost -o cost.svg",
    .groups = groups,
    .run = run,
};
