/* cmd_generate.c - cloister generate: synthetic data with a known truth, for trying things out; or,
 * with a release in place of a model, private synthetic data.  The options become settings here;
 * generate_models.c and generate_release.c make the data of them and write them. */
#include "cli_generate.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const cli_option model_rows[] = {
    CLI_OPTION("rows", 0, "N", "how many rows"),
    CLI_OPTION("cols", 0, "D", "how many columns"),
    CLI_OPTION("clusters", 0, "K", "how many subspaces or centers"),
    CLI_OPTION("dim", 0, "Q",
               "subspaces: the dimension of each, or a list with one number per subspace: 3,2,1"),
    CLI_OPTION("noise", 0, "S",
               "standard deviation of each coordinate around its subspace or center"),
    CLI_CHOICE(
        "noise-of", "WHAT", "coordinate|record", "coordinate",
        "subspaces: what --noise is the deviation of: each coordinate, or the whole record; that "
        "of a coordinate is then smaller by the square root of --cols"),
    CLI_OPTION("spread", 0, "R",
               "mixture: the radius of the ball with the centers; subspaces: the distance of each "
               "from the origin (above 0: affine); with --from: the standard deviation of the "
               "rows around their center, with bounds in units of half their width"),
    CLI_OPTION("inner", 0, "R", "mixture: no center is nearer to the origin than this"),
    CLI_OPTION("decay", 0, "F",
               "subspaces: each direction has this share of the spread of the direction before it "
               "(1: equal)"),
    CLI_OPTION("shortest", 0, "F",
               "subspaces: the lengths of the rows are drawn uniformly between this and 1"),
    CLI_OPTION("shares", 0, "LIST",
               "the proportions of the clusters: 6,3,2, or 1/l for 1, 1/2, 1/3, ...; by default "
               "equal"),
    CLI_OPTION("outliers", 0, "F",
               "the share of rows that are in no cluster; their label is the number of clusters"),
    CLI_OPTION("entries", 0, "S", "sparse: how many entries of a center are not zero"),
    CLI_OPTION("stray", 0, "S", "sparse: how many further entries of a row hold only noise"),
    CLI_OPTION("from", 0, "FILE",
               "with a model: the truth from an earlier --truth; without a model: a release to "
               "make rows from"),
    CLI_OPTION("seed", 0, "TEXT", "the same text makes the same data"),
    CLI_ROWS_END,
};
static const cli_group model_group = { "Model", NULL, model_rows };
static const cli_option file_rows[] = {
    CLI_OPTION("output", 'o', "FILE",
               "write the rows to this file, as CSV or, by the end of its name, as .npy or .svm "
               "(LIBSVM, for sparse rows); by default CSV to standard output"),
    CLI_OPTION(
        "truth", 0, "FILE",
        "write the truth to this file: one center per row, or the bases one below the other"),
    CLI_OPTION("offsets", 0, "FILE", "subspaces: write a point of each to this file, one per row"),
    CLI_OPTION("labels", 0, "FILE", "write the cluster of each row to this file, counted from 0"),
    CLI_ROWS_END,
};
static const cli_group file_group = { "Files", NULL, file_rows };

/* ---- models --------------------------------------------------------------------------------- */

static const char *const model_names[] = { "subspaces", "mixture", "sparse" };
static const char *const model_words[] = { "subspaces", "a mixture", "a sparse mixture" };
enum { MODELS = 3 };

/* The options that not every model has; the letter of each model that does. */
static const struct {
    const char *option, *models;
} owners[] = {
    { "dim", "s" },      { "noise-of", "s" }, { "decay", "s" },
    { "shortest", "s" }, { "inner", "m" },    { "entries", "p" },
    { "stray", "p" },    { "from", "sm" },    { "offsets", "s" },
};

static clo_status refuse_strangers(const cli_args *args, cli_model model, cli_error *err)
{
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++) {
        const char *const models = owners[i].models;
        if (!cli_given(args, owners[i].option) || strchr(models, "smp"[model])) continue;
        const char *const owner = models[1]          ? "subspaces and to a mixture"
                                  : models[0] == 's' ? model_words[0]
                                  : models[0] == 'm' ? model_words[1]
                                                     : model_words[2];
        return cli_fail(err, CLO_ARGUMENT, "--%s belongs to %s, not to %s", owners[i].option, owner,
                        model_words[model]);
    }
    return CLO_OK;
}

static clo_status find_model(const char *name, cli_model *out, cli_error *err)
{
    for (size_t i = 0; i < MODELS; i++)
        if (strcmp(name, model_names[i]) == 0) {
            *out = (cli_model)i;
            return CLO_OK;
        }
    const char *const meant = cli_nearest(name, model_names, MODELS);
    cli_hint(err, "cloister generate --help");
    if (meant)
        return cli_fail(err, CLO_ARGUMENT, "there is no model '%s'; did you mean '%s'?", name,
                        meant);
    return cli_fail(err, CLO_ARGUMENT, "the model must be subspaces, mixture or sparse, not '%s'",
                    name);
}

/* ---- options ---------------------------------------------------------------- */

static clo_status read_size(const cli_args *args, const char *name, uint64_t lower, uint64_t upper,
                            size_t *out, cli_error *err)
{
    const char *const text = cli_value(args, name);
    char option[32];
    uint64_t value;
    if (!text) return CLO_OK;
    snprintf(option, sizeof option, "--%s", name);
    const clo_status status = cli_parse_whole(option, text, lower, upper, &value, err);
    if (status == CLO_OK) *out = (size_t)value;
    return status;
}

/* A number from 0 to most, 0: to any. */
static clo_status read_real(const cli_args *args, const char *name, double most, double *out,
                            cli_error *err)
{
    const char *const text = cli_value(args, name);
    double value;
    if (!text) return CLO_OK;
    if (!cli_scan_real(text, strlen(text), &value) || value < 0 || (most > 0 && value > most)) {
        if (most > 0)
            return cli_fail(err, CLO_ARGUMENT, "--%s must be a number between 0 and %s, not '%s'",
                            name, cli_number(most).text, text);
        return cli_fail(err, CLO_ARGUMENT, "--%s must be a number of at least 0, not '%s'", name,
                        text);
    }
    *out = value;
    return CLO_OK;
}

/* "3", or "3,2,1": then there are as many clusters. */
static clo_status read_dims(const cli_args *args, cli_settings *s, cli_error *err)
{
    const char *const text = cli_value(args, "dim");
    double *numbers = NULL;
    size_t count = 0;
    if (!text || !strchr(text, ',')) return read_size(args, "dim", 1, 1 << 20, &s->dim, err);
    clo_status status = cli_parse_list("--dim", text, &numbers, &count, err);
    if (status != CLO_OK) return status;
    if (cli_given(args, "clusters") && count != s->clusters)
        status = cli_fail(err, CLO_ARGUMENT,
                          "--dim must be one number, or one for each of the %zu clusters, not %zu",
                          s->clusters, count);
    s->dims = cli_alloc(count, sizeof *s->dims);
    s->clusters = count;
    s->dim = 0;
    for (size_t i = 0; i < count && status == CLO_OK; i++) {
        if (!(numbers[i] >= 1 && numbers[i] <= 1 << 20) || numbers[i] != floor(numbers[i]))
            status = cli_fail(err, CLO_ARGUMENT,
                              "entry %zu of --dim must be a whole number of at least 1, not %s",
                              i + 1, cli_number(numbers[i]).text);
        else
            s->dims[i] = (size_t)numbers[i];
        if (s->dims[i] > s->dim) s->dim = s->dims[i];
    }
    free(numbers);
    return status;
}

static clo_status read_shares(const cli_args *args, cli_settings *s, cli_error *err)
{
    const char *const text = cli_value(args, "shares");
    size_t count = 0;
    if (!text) return CLO_OK;
    if (strcmp(text, "1/l") == 0) {
        s->shares = cli_alloc(s->clusters, sizeof *s->shares);
        for (size_t i = 0; i < s->clusters; i++) s->shares[i] = 1 / (double)(i + 1);
        return CLO_OK;
    }
    const clo_status status = cli_parse_list("--shares", text, &s->shares, &count, err);
    if (status != CLO_OK) return status;
    if (count != s->clusters)
        return cli_fail(err, CLO_ARGUMENT,
                        "--shares must be 1/l, or one number for each of the %zu clusters, not %zu",
                        s->clusters, count);
    return CLO_OK;
}

static clo_status read_settings(const cli_args *args, cli_settings *s, cli_error *err)
{
    const char *const noise_of = cli_value(args, "noise-of");
    const char *const spread = cli_value(args, "spread");
    clo_status status;
    if ((status = read_size(args, "rows", 1, UINT64_C(1) << 31, &s->rows, err)) ||
        (status = read_size(args, "cols", 1, s->model == CLI_SPARSE ? 1 << 24 : 1 << 20, &s->cols,
                            err)) ||
        (status = read_size(args, "clusters", 1, 1 << 20, &s->clusters, err)) ||
        (status = read_dims(args, s, err)) ||
        (status = read_size(args, "entries", 1, 4096, &s->entries, err)) ||
        (status = read_size(args, "stray", 0, 4096, &s->stray, err)) ||
        (status = read_real(args, "noise", 0, &s->noise, err)) ||
        (status = read_real(args, "inner", 0, &s->inner, err)) ||
        (status = read_real(args, "decay", 1, &s->decay, err)) ||
        (status = read_real(args, "shortest", 1, &s->shortest, err)) ||
        (status = read_real(args, "outliers", 1, &s->outliers, err)))
        return status;
    if (spread && s->model == CLI_SUBSPACES)
        status = read_real(args, "spread", 0, &s->spread, err);
    else if (spread)
        status = cli_parse_positive("--spread", spread, &s->spread, err);
    s->noise_whole = noise_of && strcmp(noise_of, "record") == 0;
    return status;
}

static clo_status new_rng(const cli_args *args, clo_rng **out, cli_error *err)
{
    const char *const text = cli_value(args, "seed");
    uint8_t seed[32];
    if (!text) return clo_rng_new(out, &err->error);
    clo_seed_from_text(text, seed);
    return clo_rng_new_seeded(seed, out, &err->error);
}

static clo_status run_model(const cli_args *args, clo_rng *rng, cli_error *err)
{
    cli_settings s = { .rows = 0 };
    cli_model model = CLI_SUBSPACES;
    clo_status status = cli_check_words(args, 1, 1, "a model: subspaces, mixture or sparse", err);
    if (status == CLO_OK) status = find_model(cli_word(args, 0), &model, err);
    if (status == CLO_OK) status = refuse_strangers(args, model, err);
    if (status == CLO_OK) {
        s = cli_settings_default(model);
        status = read_settings(args, &s, err);
    }
    if (status == CLO_OK) status = cli_settings_take_truth(args, &s, err);
    if (status == CLO_OK) status = read_shares(args, &s, err);
    if (status == CLO_OK) status = cli_generate_and_write(args, &s, rng, err);
    clo_matrix_free(s.from);
    free(s.shares);
    free(s.dims);
    return status;
}

static clo_status run_release(const cli_args *args, clo_rng *rng, cli_error *err)
{
    cli_settings s = { .spread = -1 };
    clo_status status = read_size(args, "rows", 1, UINT64_C(1) << 31, &s.rows, err);
    if (status == CLO_OK) status = read_real(args, "noise", 0, &s.noise, err);
    if (status == CLO_OK) status = read_real(args, "spread", 0, &s.spread, err);
    if (status == CLO_OK) status = cli_generate_from_release(args, &s, rng, err);
    return status;
}

static clo_status run(const cli_args *args, cli_error *err)
{
    clo_rng *rng = NULL;
    clo_status status = new_rng(args, &rng, err);
    if (status == CLO_OK)
        status = cli_word_count(args) == 0 && cli_given(args, "from") ? run_release(args, rng, err)
                                                                      : run_model(args, rng, err);
    clo_rng_free(rng);
    return status;
}

static void remarks(FILE *out)
{
    const clo_mixture_model m = clo_mixture_model_default();
    const clo_subspace_model s = clo_subspace_model_default();
    const clo_sparse_model p = clo_sparse_model_default();
    char text[600];
    snprintf(
        text, sizeof text,
        "Defaults.  A mixture has %zu rows, %zu columns, %zu clusters, noise %s and spread %s.  "
        "Subspaces have %zu rows, %zu columns, %zu clusters of dimension %zu and noise %s.  A "
        "sparse mixture has %zu rows, %zu columns, %zu clusters, %zu entries, noise %s and spread "
        "%s.",
        m.rows, m.cols, m.clusters, cli_number(m.noise).text, cli_number(m.spread).text, s.rows,
        s.cols, s.clusters, s.dim, cli_number(s.noise).text, p.rows, p.cols, p.clusters, p.entries,
        cli_number(p.noise).text, cli_number(p.spread).text);
    fputc('\n', out);
    cli_wrap(out, 0, 0, text);
}

static const cli_group *const groups[] = { &model_group, &file_group, NULL };

const cli_command cli_generate = {
    .usage = "(subspaces|mixture|sparse | --from RELEASE.json) [--rows N] [option ...]",
    .about =
        "Makes data whose truth is known.  'mixture' draws records around random centers in a "
        "ball.  'subspaces' draws vectors of length 1 in random subspaces and adds noise.  "
        "'sparse' draws records with few entries in very many columns, in the LIBSVM format.\n\n"
        "With --from RELEASE.json and without a model it makes private synthetic data: rows with "
        "the sizes, centers, subspaces and energies of the release.  It uses nothing else, so "
        "they are as private as the release, however many you make.\n\n"
        "Rows around a center need a spread.  It is taken from the release, if the release is from "
        "kmeans/density or kmeans/local; with strong noise it is too large.  For other releases of "
        "centers, give a spread that does not come from the data: --spread, or --noise in the "
        "units of the "
        "data.  With --spread 0 the rows are copies of the centers.",
    .examples =
        "A sample with three clusters, and its true centers\n"
        "cloister generate mixture --rows 5000 --cols 4 --clusters 3 --seed demo -o sample.csv "
        "--truth truth.npy\n"
        "One plane in ten dimensions\n"
        "cloister generate subspaces --rows 2000 --cols 10 --clusters 1 --dim 2 -o plane.npy\n"
        "Five uneven subspaces, the first the largest, and a few outliers\n"
        "cloister generate subspaces --rows 20000 --cols 16 --clusters 5 --dim 3 --shares 1/l "
        "--decay 0.5 --outliers 0.02 -o hard.npy --truth bases.npy --labels labels.csv\n"
        "Many columns, few entries\n"
        "cloister generate sparse --rows 50000 --cols 100000 --entries 20 -o words.svm\n"
        "Rows that look like the private ones, for anyone to see\n"
        "cloister generate --from out.json --rows 5000 --spread 0.1 -o synthetic.csv",
    .groups = groups,
    .run = run,
    .remarks = remarks,
};
