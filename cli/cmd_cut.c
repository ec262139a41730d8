/* cmd_cut.c - cloister cut: another number of clusters, read from a release that is there already.
 * It opens no data and no ledger. */
#include "cli.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const cli_option number_rows[] = {
    CLI_OPTION("clusters", 0, "K", "how many clusters, or 'auto'; must be given"),
    CLI_OPTION("clusters-at-most", 0, "K", "with auto: the most to try; by default 20"),
    CLI_OPTION("explain", 0, "SHARE",
               "with auto: the fewest clusters that explain this share of the spread, 0.8 for "
               "example"),
    CLI_OPTION(
        "smallest", 0, "RECORDS",
        "with auto: take fewer clusters until each has this many records, by the noisy sizes"),
    CLI_ROWS_END,
};
static const cli_group number_group = { "Clusters", NULL, number_rows };
static const cli_option output_rows[] = {
    CLI_OPTION("output", 'o', "FILE", "where the release goes, as JSON; by default text to stdout"),
    CLI_OPTION("json", 0, NULL, "JSON to stdout"),
    CLI_OPTION("quiet", 'q', NULL, "say nothing on stderr unless something fails"),
    CLI_ROWS_END,
};
static const cli_group output_group = { "Output", NULL, output_rows };

static clo_status read_number(const cli_args *args, clo_cut_options *o, cli_error *err)
{
    static const char *const of_auto[] = { "clusters-at-most", "explain", "smallest" };
    const char *const clusters = cli_value(args, "clusters");
    uint64_t count = 0;
    if (!clusters) {
        cli_hint(err, "--clusters 5, or --clusters auto");
        return cli_fail(err, CLO_ARGUMENT, "--clusters must be given");
    }
    if (strcmp(clusters, "auto") == 0) return CLO_OK;
    for (size_t i = 0; i < sizeof of_auto / sizeof *of_auto; i++)
        if (cli_given(args, of_auto[i]))
            return cli_fail(err, CLO_ARGUMENT, "--%s belongs to --clusters auto, not to %s of them",
                            of_auto[i], clusters);
    const clo_status status = cli_parse_whole("--clusters", clusters, 1, 1 << 20, &count, err);
    o->clusters = (size_t)count;
    return status;
}

static clo_status read_rule(const cli_args *args, clo_cut_options *o, cli_error *err)
{
    const char *const most = cli_value(args, "clusters-at-most");
    const char *const explain = cli_value(args, "explain");
    const char *const smallest = cli_value(args, "smallest");
    uint64_t count = o->clusters_at_most;
    clo_status status = CLO_OK;
    if (most) status = cli_parse_whole("--clusters-at-most", most, 1, 64, &count, err);
    o->clusters_at_most = (size_t)count;
    if (status == CLO_OK && explain)
        status = cli_parse_real("--explain", explain, &o->explain, err);
    if (status == CLO_OK && smallest)
        status = cli_parse_real("--smallest", smallest, &o->smallest, err);
    if (status == CLO_OK && explain && !(o->explain > 0 && o->explain < 1))
        return cli_fail(err, CLO_ARGUMENT, "--explain must be between 0 and 1, not %s", explain);
    if (status == CLO_OK && smallest && !(o->smallest >= 0))
        return cli_fail(err, CLO_ARGUMENT, "--smallest must be at least 0, not %s", smallest);
    return status;
}

enum { MOST_SHOWN = 8 }; /* columns */

/* How far the centers are off, over all of them, in the units of this column. */
static double error_of(const double *noise, const double *sizes, size_t k, size_t d, size_t j)
{
    double square = 0, all = 0;
    for (size_t c = 0; c < k; c++) {
        square += sizes[c] * noise[c * d + j] * noise[c * d + j];
        all += sizes[c];
    }
    return all > 0 ? sqrt(square / all) : NAN;
}

static void say_error(const clo_release *cut, const clo_array *centers, const double *sizes)
{
    const size_t k = centers->shape[0], d = centers->shape[1];
    double *const noise = cli_alloc(k * d, sizeof *noise);
    char text[800] = "";
    bool same = true;
    if (!clo_release_center_noise(cut, noise)) {
        free(noise);
        return;
    }
    const double first = error_of(noise, sizes, k, d, 0);
    for (size_t j = 1; j < d; j++) same = same && error_of(noise, sizes, k, d, j) == first;
    for (size_t j = 0; !same && j < d && j < MOST_SHOWN; j++) {
        const char *const own = clo_release_column_name(cut, j);
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%.40s%s± %s", j ? ", " : "", own ? own : "",
                 own ? " " : "", cli_rounded(error_of(noise, sizes, k, d, j), 2).text);
    }
    if (same)
        cli_note("  expects centers off by about ± %s in each column", cli_rounded(first, 2).text);
    else
        cli_note("  expects centers off by about %s%s", text, d > MOST_SHOWN ? ", and so on" : "");
    free(noise);
}

static void say_summary(const cli_args *args, const clo_release *cut)
{
    clo_array centers, sizes;
    if (cli_given(args, "quiet") || !clo_release_find(cut, "centers", &centers) ||
        !clo_release_find(cut, "sizes", &sizes))
        return;
    cli_note("%zu cluster%s, read from the answers of the release: no data, no charge",
             centers.shape[0], centers.shape[0] == 1 ? "" : "s");
    say_error(cut, &centers, sizes.data);
}

static clo_status write_out(const cli_args *args, const clo_release *cut, cli_error *err)
{
    const char *const output = cli_value(args, "output");
    clo_file *file = NULL;
    clo_status status = CLO_OK;
    if (!output) {
        const clo_report_format format =
            cli_given(args, "json") ? CLO_JSON : cli_text_format(stdout);
        status = clo_report(cut, format, cli_stream_write, stdout, &err->error);
        return status == CLO_OK ? cli_flush(stdout, err) : status;
    }
    status = clo_file_open(output, &file, &err->error);
    if (status == CLO_OK) status = clo_report(cut, CLO_JSON, clo_file_write, file, &err->error);
    if (status == CLO_OK) status = clo_file_commit(file, &err->error);
    clo_file_close(file);
    return status;
}

static clo_status run(const cli_args *args, cli_error *err)
{
    clo_cut_options options = clo_cut_options_default();
    clo_release *release = NULL, *cut = NULL;
    clo_status status = cli_check_words(args, 1, 1, "a release", err);
    if (status == CLO_OK) status = read_number(args, &options, err);
    if (status == CLO_OK) status = read_rule(args, &options, err);
    if (status == CLO_OK) status = clo_release_read(cli_word(args, 0), &release, &err->error);
    if (status == CLO_OK) status = cli_check_seal(release, cli_word(args, 0), err);
    if (status == CLO_OK) status = clo_release_cut(release, &options, &cut, &err->error);
    if (status == CLO_OK) status = write_out(args, cut, err);
    if (status == CLO_OK) say_summary(args, cut);
    clo_release_free(cut);
    clo_release_free(release);
    return status;
}

static const cli_group *const groups[] = { &number_group, &output_group, NULL };

const cli_command cli_cut = {
    .usage = "RELEASE.json --clusters K|auto [-o FILE] [option ...]",
    .about =
        "Reads another number of clusters from a release of kmeans/density or kmedian/density.  "
        "Such a release holds all noisy answers of its run.  This command computes the centers, "
        "their "
        "sizes and their expected error from these answers only.  It opens no data and no ledger, "
        "and spends no budget: whatever is computed from a release is as private as the "
        "release.\n\n"
        "The result is a release that 'report', 'assign', 'evaluate' and 'generate --from' take. "
        "It names the release that it comes from, and has no signature of its own.  Anyone who has "
        "that release can cut it again and gets the same file.\n\n"
        "--clusters auto chooses the number as 'run' does.  The answers of a run limit the number: "
        "a "
        "release can have at most twice as many clusters as its finest answer has cells.  If you "
        "know the number before the run, give it to 'run': it then spends its last queries on that "
        "many clusters.",
    .examples = "Five clusters instead of those that were released\n"
                "cloister cut out.json --clusters 5 -o five.json\n"
                "As many as explain 80% of the spread\n"
                "cloister cut out.json --clusters auto --explain 0.8",
    .groups = groups,
    .run = run,
};
